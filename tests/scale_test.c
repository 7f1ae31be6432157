/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thousand soft NPUs in one process: a message goes round the ring with the sample operator, its
 * kernel loaded from an installation. Two threads drive all ranks: one the even ranks, one the odd
 * ones, because the first call of a pair blocks until both of its ranks have made it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "examples/04_custom_ops_p2p/inc/hccl_custom_p2p.h"
#include "hccl/hccl_comm.h"
#include "runtime/install.h"
#include "runtime/secverify.h"
#include "tests/support/ranks.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NPUS 64u
#define DEVICE_MIB "1024" /* they leave programs little address space in one piece */
#else
#define NPUS 1024u
#define DEVICE_MIB "16384"
#endif

#define COUNT 256u /* floats in a message */
#define LEN (COUNT * sizeof(float))
#define THREADS_MOST 128 /* an eighth of one for each device; about 15 on an idle machine */
#define RESIDENT_MOST (2048l << 20)

struct npu {
    HcclComm comm;
    aclrtStream stream;
    float *out, *in; /* [COUNT] device memory */
};

static struct npu npus[NPUS];
static int threads_seen;

/* ---- the installation ---- */

static void
copy_into(const char *from, const char *to)
{
    char path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    size_t len = 0;

    EXPECT_EQ(0, rt_file_read(from, 1 << 26, &bytes, &len));
    EXPECT_EQ(0, rt_install_path(path, "%s", to));
    EXPECT_EQ(0, rt_file_replace(path, bytes, len, 0644));
    hc_free(bytes);
}

/* No device verifies. Written at once: npu-smi's own way is one device at a time. */
static void
switch_verification_off(void)
{
    static char text[NPUS * 48 + 8];
    char path[RT_PATH_LEN];
    size_t len = 0;

    for (uint32_t npu = 0; npu < NPUS; npu++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len,
                             "%c\"%u\": {\"enable\": 1, \"mode\": 0}", npu == 0 ? '{' : ',', npu);
    text[len++] = '}';
    EXPECT_EQ(0, rt_install_path(path, "conf"));
    EXPECT_EQ(0, rt_dir_make(path, 0755));
    EXPECT_EQ(0, rt_install_path(path, "conf/hcomm-secverify.json"));
    EXPECT_EQ(0, rt_file_replace(path, text, len, 0644));
    EXPECT_FALSE(rt_secverify_on(NPUS - 1));
}

/* The kernel as a plain file beside its description. */
static void
install_sample(void)
{
    char path[RT_PATH_LEN];

    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
    switch_verification_off();
    EXPECT_EQ(0, rt_install_path(path, "opp/vendors/cust/aicpu/config"));
    EXPECT_EQ(0, rt_dir_make(path, 0755));
    copy_into(HCOMM_SAMPLE_DESCRIPTION, "opp/vendors/cust/aicpu/config/libp2p_aicpu_kernel.json");
    copy_into(HCOMM_SAMPLE_KERNEL, "opp/vendors/cust/aicpu/config/libp2p_aicpu_kernel.so");
}

/* ---- what it costs ---- */

static void
count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    int threads = -2; /* "." and ".." */

    if (dir == NULL)
        return;
    while (readdir(dir) != NULL)
        threads++;
    closedir(dir);
    threads_seen = threads > threads_seen ? threads : threads_seen;
}

static long
resident_most(void)
{
    struct rusage usage;

    EXPECT_EQ(0, getrusage(RUSAGE_SELF, &usage));
    return usage.ru_maxrss * 1024l;
}

static double
seconds_since(uint64_t start)
{
    return (double)(hc_now_ns() - start) / 1e9;
}

/* ---- the ring ---- */

/* Every rank sends to the next and receives from the previous one. Even ranks send first, odd ranks
 * receive first, so that the two threads meet at every pair. */
static HcclResult
step(uint32_t rank, bool send)
{
    struct npu *npu = &npus[rank];

    if (aclrtSetDevice((int32_t)rank) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    if (send)
        return HcclSendCustom(npu->out, COUNT, HCCL_DATA_TYPE_FP32, (rank + 1) % NPUS, npu->comm,
                              npu->stream);
    return HcclRecvCustom(npu->in, COUNT, HCCL_DATA_TYPE_FP32, (rank + NPUS - 1) % NPUS, npu->comm,
                          npu->stream);
}

/* The even ranks (0) or the odd ones (1): first pairs (0,1), (2,3), ..., then (1,2), (3,4), ... */
static void *
drive(void *parity)
{
    uint32_t first = (uint32_t)(uintptr_t)parity;
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t rank = first; rank < NPUS && rc == HCCL_SUCCESS; rank += 2)
        rc = step(rank, first == 0);
    if (first == 0)
        count_threads();
    for (uint32_t i = 0; i < NPUS / 2 && rc == HCCL_SUCCESS; i++) { /* pair (2i + 1, 2i + 2) */
        uint32_t rank = first == 1 ? 2 * i + 1 : (2 * i + 2) % NPUS;

        rc = step(rank, first == 1);
    }
    return (void *)(uintptr_t)rc;
}

static void
drive_all(void)
{
    pthread_t threads[2];
    void *rc[2];

    for (uintptr_t i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, drive, (void *)i));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_join(threads[i], &rc[i]));
    EXPECT_NULL(rc[0]);
    EXPECT_NULL(rc[1]);
    count_threads();
    for (uint32_t i = 0; i < NPUS; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(npus[i].stream));
    count_threads();
}

static void
open_npus(void)
{
    static int32_t devices[NPUS];
    static HcclComm comms[NPUS];

    for (uint32_t i = 0; i < NPUS; i++)
        devices[i] = (int32_t)i;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(NPUS, devices, comms));
    for (uint32_t i = 0; i < NPUS; i++) {
        struct npu *npu = &npus[i];

        npu->comm = comms[i];
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
        EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&npu->stream));
        EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&npu->out, LEN, ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&npu->in, LEN, ACL_MEM_MALLOC_HUGE_FIRST));
    }
}

static void
close_npus(void)
{
    for (uint32_t i = 0; i < NPUS; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(npus[i].comm));
        EXPECT_EQ(ACL_SUCCESS, aclrtFree(npus[i].out));
        EXPECT_EQ(ACL_SUCCESS, aclrtFree(npus[i].in));
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(npus[i].stream));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
    }
}

/* The sample keeps its binary loaded, and the library some copies of it open for debuggers. */
TEST_WITH(a_thousand_npus_pass_a_message_round_the_ring, TEST_KEEPS_MEMORY | TEST_KEEPS_FILES)
{
    char number[16];
    uint64_t start;

    test_time_limit(300);
    snprintf(number, sizeof number, "%u", NPUS);
    setenv("HCOMM_DEVICE_COUNT", number, 1);
    setenv("HCOMM_DEVICE_MEMORY", DEVICE_MIB, 1);
    install_sample();
    start = hc_now_ns();
    open_npus();
    printf("%u ranks are there after %.2f s\n", NPUS, seconds_since(start));
    for (int round = 0; round < 2; round++) { /* the second finds the channels made */
        for (uint32_t i = 0; i < NPUS; i++) {
            for (uint32_t k = 0; k < COUNT; k++)
                npus[i].out[k] = (float)(i * 1000 + k + (uint32_t)round);
        }
        start = hc_now_ns();
        drive_all();
        printf("round %d took %.2f s\n", round, seconds_since(start));
        for (uint32_t i = 0; i < NPUS; i++)
            EXPECT_MEMEQ(npus[(i + NPUS - 1) % NPUS].out, npus[i].in, LEN);
    }
    printf("at most %d threads and %ld MiB\n", threads_seen, resident_most() >> 20);
    EXPECT_TRUE(threads_seen <= THREADS_MOST);
    EXPECT_TRUE(resident_most() < RESIDENT_MOST);
    start = hc_now_ns();
    close_npus();
    printf("closing took %.2f s\n", seconds_since(start));
}
