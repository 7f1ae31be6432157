/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernels: an installation with the test kernels of tests/kernels in it, and short forms of the
 * calls that load and launch them.
 */
#ifndef HC_TEST_SUPPORT_KERNELS_H
#define HC_TEST_SUPPORT_KERNELS_H

#include <stdlib.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "runtime/install.h"
#include "runtime/secverify.h"
#include "tests/support/test.h"

/* One member of a description file. */
#define ENTRY(key, so, symbol)                                                                     \
    "\"" key "\": {\"opInfo\": {\"opKernelLib\": \"AICPUKernel\", \"kernelSo\": \"" so             \
    "\", \"functionName\": \"" symbol "\"}}"
#define STATEFUL(name) ENTRY(name, "stateful_kernel.so", name)

/* The address sanitizer puts variables of its own into every library. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* clang-format off */
static const char good_json[] =
    "{" STATEFUL("CountCalls") ","
    STATEFUL("ReturnSeven") ","
    STATEFUL("SleepThenSet") ","
    STATEFUL("Echo") ","
    STATEFUL("FollowPointer") ","
    STATEFUL("RunCpuKernelWithBlockDim") ","
    STATEFUL("LeaveBatchOpen") ","
    ENTRY("WriteAnswer", "stateless_kernel.so", "WriteAnswer") "}";
/* clang-format on */

static inline void
write_text(const char *name, const char *text)
{
    char path[RT_PATH_LEN];

    EXPECT_EQ(0, rt_install_path(path, "%s", name));
    EXPECT_EQ(0, rt_file_replace(path, text, strlen(text), 0644));
}

static inline void
copy_library(const char *from, const char *to)
{
    char path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    size_t len = 0;

    EXPECT_EQ(0, rt_path_join(path, HCOMM_TEST_KERNELS, from));
    EXPECT_EQ(0, rt_file_read(path, 1 << 26, &bytes, &len));
    EXPECT_EQ(0, rt_install_path(path, "%s", to));
    EXPECT_EQ(0, rt_file_replace(path, bytes, len, 0644));
    hc_free(bytes);
}

/* An installation that does not verify, with both libraries beside the description k.json. */
static inline void
install(void)
{
    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
    for (int32_t npu = 0; npu < 8; npu++)
        EXPECT_EQ(0, rt_secverify_set(npu, &(struct rt_secverify){.enable = 1, .mode = 0}));
    copy_library("stateful_kernel.so", "stateful_kernel.so");
    copy_library("stateless_kernel.so", "stateless_kernel.so");
    write_text("k.json", good_json);
}

static inline aclError
load_as(const char *name, int32_t mode, aclrtBinHandle *binary)
{
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE,
                                    .value.cpuKernelMode = mode};
    aclrtBinaryLoadOptions options = {.options = &option, .numOpt = 1};
    char path[RT_PATH_LEN];

    EXPECT_EQ(0, rt_install_path(path, "%s", name));
    return aclrtBinaryLoadFromFile(path, &options, binary);
}

static inline aclrtBinHandle
load(void)
{
    aclrtBinHandle binary = NULL;

    EXPECT_EQ(0, load_as("k.json", 0, &binary));
    return binary;
}

static inline aclrtFuncHandle
get(aclrtBinHandle binary, const char *name)
{
    aclrtFuncHandle function = NULL;

    EXPECT_EQ(0, aclrtBinaryGetFunction(binary, name, &function));
    return function;
}

static inline aclError
launch(aclrtFuncHandle function, aclrtStream stream, const void *args, size_t len)
{
    return aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, (void *)(uintptr_t)args, len,
                                         NULL, 0);
}

/* Runs CountCalls on `device` and tells what it counted. */
static inline uint32_t
count_on(int32_t device, aclrtBinHandle binary)
{
    uint32_t value = 0, *out = &value;
    aclrtStream stream;

    EXPECT_EQ(0, aclrtSetDevice(device));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, launch(get(binary, "CountCalls"), stream, &out, sizeof out));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    return value;
}

/* Launches "WriteAnswer" of the binary and returns what the stream says. */
static inline aclError
run_answer(aclrtBinHandle binary, uint32_t *value)
{
    aclrtStream stream;
    aclError rc;

    *value = 0;
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, launch(get(binary, "WriteAnswer"), stream, &value, sizeof value));
    rc = aclrtSynchronizeStream(stream);
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    return rc;
}

#endif
