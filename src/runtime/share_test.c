/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that crosses processes: each test forks its importer before it uses the library itself,
 * because a forked child of a process that has used it may not. */
#define _GNU_SOURCE
#include "runtime/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/support/test.h"

#define HUGE (2ull << 20)

union message {
    uint64_t number;
    aclrtMemFabricHandle fabric;
    char key[RT_SHARE_TEXT];
};

/* The other process and the line to it. */
static pid_t child;
static int line;

/* true in the importer. */
static bool
forked(void)
{
    int ends[2];

    EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
    child = fork();
    EXPECT_TRUE(child >= 0);
    line = ends[child == 0 ? 1 : 0];
    close(ends[child == 0 ? 0 : 1]);
    return child == 0;
}

static void
tell(const union message *message)
{
    EXPECT_EQ(sizeof *message, send(line, message, sizeof *message, 0));
}

static union message
hear(void)
{
    union message message;

    EXPECT_EQ(sizeof message, recv(line, &message, sizeof message, 0));
    return message;
}

/* For the importer: its checks are its exit status, its lines are not the test's. */
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "importer: %s\n", #what);                                              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void
expect_importer_ended_well(void)
{
    int status = -1;

    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    close(line);
}

static aclrtDrvMemHandle
mapped(char **base)
{
    aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE};
    aclrtDrvMemHandle handle = NULL;

    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = 2;
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtReserveMemAddress((void **)base, HUGE, 0, NULL, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(*base, HUGE, 0, handle, 0));
    return handle;
}

static void
import_and_write(bool fabric)
{
    union message message = hear();
    aclrtMemSharedHandleType type =
        fabric ? ACL_MEM_SHARE_HANDLE_TYPE_FABRIC : ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
    aclrtDrvMemHandle handle = NULL;
    aclrtPhysicalMemProp prop;
    union message token;
    void *base = NULL;

    CHECK(aclrtSetDevice(1) == ACL_SUCCESS);
    CHECK(aclrtMemImportFromShareableHandleV2(&message, type, 0, &handle) == ACL_SUCCESS);
    CHECK(aclrtMemGetAllocationPropertiesFromHandle(handle, &prop) == ACL_SUCCESS);
    CHECK(prop.location.id == 1);
    CHECK(aclrtReserveMemAddress(&base, HUGE, 0, NULL, 0) == ACL_SUCCESS);
    CHECK(aclrtMapMem(base, HUGE, 0, handle, 0) == ACL_SUCCESS);
    CHECK(*(char *)base == 17);
    ((char *)base)[HUGE - 1] = 71;
    CHECK(aclrtMemExportToShareableHandleV2(handle, 1, type, &token) == ACL_ERROR_RT_PARAM_INVALID);
    message.fabric.data[fabric ? 17 : 1] ^= 1; /* inside the random part */
    CHECK(aclrtMemImportFromShareableHandleV2(&message, type, 0, &handle) ==
          ACL_ERROR_RT_PARAM_INVALID);
    tell(&message);
    _exit(0);
}

static void
export_to_importer(bool fabric)
{
    aclrtMemSharedHandleType type =
        fabric ? ACL_MEM_SHARE_HANDLE_TYPE_FABRIC : ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
    union message message = {0}, again;
    aclrtDrvMemHandle handle, own = NULL;
    char *base = NULL;
    int fds;

    if (forked())
        import_and_write(fabric);
    handle = mapped(&base);
    fds = test_open_fds();
    base[0] = 17;
    EXPECT_EQ(ACL_SUCCESS, aclrtMemExportToShareableHandleV2(handle, 1, type, &message));
    test_expect_error("is exported already");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemExportToShareableHandleV2(handle, 1, type, &again));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("by the process that exported it");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtMemImportFromShareableHandleV2(&message, type, 0, &own));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    tell(&message);
    (void)hear();
    EXPECT_EQ(71, base[HUGE - 1]);
    expect_importer_ended_well();
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
    EXPECT_TRUE(test_open_fds() < fds);
}

TEST_WITH(physical_memory_crosses_processes_by_number, TEST_KEEPS_MEMORY)
{
    export_to_importer(false);
}

TEST_WITH(physical_memory_crosses_processes_by_fabric_handle, TEST_KEEPS_MEMORY)
{
    export_to_importer(true);
}

static void
import_twice(void)
{
    union message message = hear();
    aclrtDrvMemHandle handle = NULL;

    CHECK(aclrtMemImportFromShareableHandle(message.number, 0, &handle) ==
          ACL_ERROR_RT_NO_PERMISSION);
    tell(&message);
    message = hear();
    CHECK(aclrtMemImportFromShareableHandle(message.number, 0, &handle) == ACL_SUCCESS);
    CHECK(aclrtFreePhysical(handle) == ACL_SUCCESS);
    tell(&message);
    message = hear(); /* the exporter has freed it */
    CHECK(aclrtMemImportFromShareableHandle(message.number, 0, &handle) ==
          ACL_ERROR_RT_PARAM_INVALID);
    _exit(0);
}

TEST_WITH(only_processes_on_the_list_import, TEST_KEEPS_MEMORY)
{
    union message message = {0};
    aclrtDrvMemHandle handle;
    int32_t pids[300] = {0};
    char *base = NULL;

    if (forked())
        import_twice();
    handle = mapped(&base);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0,
                                                           &message.number));
    tell(&message);
    (void)hear();
    pids[0] = child;
    EXPECT_EQ(ACL_SUCCESS, aclrtMemSetPidToShareableHandle(message.number, pids, 1));
    test_expect_error("more than the 1 already allowed");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemSetPidToShareableHandle(message.number, pids, 300));
    test_expect_error("exports nothing under that token");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemSetPidToShareableHandle(message.number ^ 1, pids, 1));
    tell(&message);
    (void)hear();
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
    tell(&message);
    expect_importer_ended_well();
}

static void
import_by_key(void)
{
    union message message = hear();
    void *ptr = NULL, *again = NULL;
    aclrtPtrAttributes attributes;
    char word[8] = "hello";

    CHECK(aclrtIpcMemImportByKey(&ptr, message.key, 0) == ACL_ERROR_RT_CONTEXT_NULL);
    CHECK(aclrtSetDevice(3) == ACL_SUCCESS);
    CHECK(aclrtIpcMemImportByKey(&ptr, message.key, 1) == ACL_SUCCESS);
    CHECK(aclrtIpcMemImportByKey(&again, message.key, 0) == ACL_SUCCESS && again == ptr);
    CHECK(aclrtPointerGetAttributes(ptr, &attributes) == ACL_SUCCESS);
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 3);
    CHECK(aclrtMemcpy(ptr, 5000, word, 8, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    CHECK(aclrtMemset(ptr, 5001, 0, 5001) == ACL_ERROR_RT_PARAM_INVALID); /* past its end */
    CHECK(aclrtIpcMemClose(message.key) == ACL_SUCCESS);
    CHECK(aclrtIpcMemClose(message.key) == ACL_SUCCESS);
    CHECK(aclrtIpcMemClose(message.key) == ACL_ERROR_RT_PARAM_INVALID);
    tell(&message);
    _exit(0);
}

TEST_WITH(device_memory_crosses_processes_by_key, TEST_KEEPS_MEMORY)
{
    union message message = {0};
    char *ptr = NULL, *front = NULL;

    if (forked())
        import_by_key();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&front, 700, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&ptr, 6000, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemGetExportKey(ptr, 5000, message.key, 65, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemSetImportPid(message.key, &child, 1));
    tell(&message);
    (void)hear();
    EXPECT_STREQ("hello", ptr);
    expect_importer_ended_well();
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemClose(message.key));
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(message.key));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(ptr, 5000, message.key, 64, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(ptr, 7000, message.key, 65, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(&ptr, 8, message.key, 65, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtIpcMemGetExportKey(NULL, 8, message.key, 65, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(ptr));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(front));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_WITH(exporting_and_importing_survive_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    char key[RT_SHARE_TEXT] = "";
    void *ptr = NULL, *here = NULL;
    long live;
    int fds;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc(&ptr, 6000, ACL_MEM_MALLOC_HUGE_FIRST));
    live = hc_alloc_live();
    fds = test_open_fds();
    test_expect_error("out of host memory");
    hc_alloc_fail_nth(0);
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtIpcMemGetExportKey(ptr, 10, key, 65, 1));
    EXPECT_EQ(live, hc_alloc_live());
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemGetExportKey(ptr, 10, key, 65, 1));
    hc_alloc_fail_nth(0);
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtIpcMemImportByKey(&here, key, 0));
    EXPECT_NULL(here);
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemImportByKey(&here, key, 0));
    *(char *)ptr = 5;
    EXPECT_EQ(5, *(char *)here);
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemClose(key)); /* the import first */
    EXPECT_EQ(ACL_SUCCESS, aclrtIpcMemClose(key));
    EXPECT_EQ(live, hc_alloc_live());
    EXPECT_EQ(fds, test_open_fds());
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(ptr));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_WITH(garbage_tokens_open_nothing, TEST_KEEPS_MEMORY)
{
    static const char *const keys[] = {"",
                                       "x",
                                       "hcomm-ipc-",
                                       "hcomm-ipc-00000001-00000000-0",
                                       "hcomm-ipc-00000001-00000000-0000000000000000",
                                       "hcomm-ipc-00000000-00000000-0000000000000001"};
    aclrtDrvMemHandle handle = NULL;
    union message message = {0};
    void *ptr = NULL;

    test_allow_errors();
    srand(3);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < 3000; i++) {
        for (size_t b = 0; b < sizeof message; b++)
            message.fabric.data[b] = (uint8_t)rand();
        EXPECT_NE(ACL_SUCCESS, aclrtMemImportFromShareableHandle(message.number, 0, &handle));
        EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
                  aclrtMemImportFromShareableHandleV2(&message, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0,
                                                      &handle));
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&ptr, keys[i], 0));
        EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(keys[i]));
    }
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtIpcMemImportByKey(&ptr, NULL, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&ptr, keys[0], 2));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtIpcMemSetAttr(keys[0], 0, 0));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtIpcMemImportPidInterServer(keys[0], NULL, 0));
    EXPECT_NULL(handle);
    EXPECT_NULL(ptr);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(tokens_survive_their_forms)
{
    struct rt_share_token token = {.pid = 4194303, .fd = 262143, .secret = 0x123456789ABCDEFull};
    struct rt_share_token back;
    aclrtMemFabricHandle fabric;
    char text[RT_SHARE_TEXT];
    uint64_t number = 0;

    EXPECT_TRUE(rt_token_to_number(&token, &number));
    EXPECT_TRUE(rt_token_from_number(number, &back));
    EXPECT_EQ(token.pid, back.pid);
    EXPECT_EQ(token.fd, back.fd);
    EXPECT_EQ(0xABCDEF, back.secret);
    rt_token_to_fabric(&token, &fabric);
    EXPECT_TRUE(rt_token_from_fabric(&fabric, &back));
    EXPECT_EQ(token.secret, back.secret);
    rt_token_to_text(&token, text);
    EXPECT_TRUE(rt_token_from_text(text, &back));
    EXPECT_EQ(token.secret, back.secret);
    EXPECT_EQ(token.fd, back.fd);
    token.fd = 262144;
    EXPECT_FALSE(rt_token_to_number(&token, &number));
}

TEST_WITH(peer_access_is_remembered_one_way, TEST_KEEPS_MEMORY)
{
    int32_t can = 0, status = 9;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(1, can);
    EXPECT_EQ(ACL_SUCCESS, aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT_EQ(0, status);
    EXPECT_EQ(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT_EQ(1, status);
    EXPECT_EQ(ACL_SUCCESS, aclrtDevicePeerAccessStatus(1, 0, &status));
    EXPECT_EQ(0, status);
    EXPECT_EQ(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT_EQ(0, status);
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(1, 1));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceEnablePeerAccess(8, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(&can, 2, 2));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(NULL, 2, 3));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, -1, 3));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceEnablePeerAccess(1, 0));
}
