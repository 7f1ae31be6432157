/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects after their end, devices that are full, threads without a device, and many lives. */
#define _GNU_SOURCE
#include <dirent.h>
#include <unistd.h>

#include "tests/support/ranks.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIVES 300
#define SLACK_KIB (256l << 10) /* sanitizers keep freed memory back */
#else
#define LIVES 10000
#define SLACK_KIB 4096l
#endif

/* ---- after the end ---- */

TEST(memory_is_freed_once)
{
    void *device = NULL, *host = NULL;

    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(0, aclrtMallocHost(&host, 100));
    EXPECT_EQ(0, aclrtFree(device));
    EXPECT_EQ(0, aclrtFreeHost(host));
    test_expect_error("aclrtFree: no allocation is at");
    EXPECT_NE(0, aclrtFree(device));
    test_expect_error("aclrtFreeHost: no allocation is at");
    EXPECT_NE(0, aclrtFreeHost(host));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

TEST(freed_memory_is_not_copied)
{
    char *block = NULL, byte = 0;

    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtMalloc((void **)&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(0, aclrtFree(block));
    test_expect_error("freed already, or past its end?");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(&byte, 1, block + 10, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

TEST(a_kind_of_copy_that_the_addresses_contradict_is_refused)
{
    void *device = NULL;
    char host[8];

    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtMalloc(&device, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    test_expect_error("pass ACL_MEMCPY_HOST_TO_DEVICE");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(device, 8, host, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    test_expect_error("kind is 77");
    EXPECT_NE(0, aclrtMemcpy(device, 8, host, 8, (aclrtMemcpyKind)77));
    EXPECT_EQ(0, aclrtFree(device));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

TEST(a_destroyed_stream_event_or_notify_is_known_as_destroyed)
{
    aclrtStream stream, other;
    aclrtEvent event;
    aclrtNotify notify;
    uint32_t id;

    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&other));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, aclrtCreateEvent(&event));
    EXPECT_EQ(0, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtDestroyEvent(event));
    EXPECT_EQ(0, aclrtDestroyNotify(notify));
    test_expect_error("not a live stream: it is already destroyed");
    EXPECT_NE(0, aclrtSynchronizeStream(stream));
    EXPECT_NE(0, aclrtDestroyStream(stream));
    test_expect_error("not a live event");
    EXPECT_NE(0, aclrtRecordEvent(event, stream));
    EXPECT_NE(0, aclrtRecordEvent(event, other));
    EXPECT_NE(0, aclrtDestroyEvent(event));
    test_expect_error("not a live notify");
    EXPECT_NE(0, aclrtRecordNotify(notify, other));
    EXPECT_NE(0, aclrtGetNotifyId(notify, &id));
    EXPECT_NE(0, aclrtDestroyNotify(notify));
    EXPECT_EQ(0, aclrtDestroyStream(other));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

/* A handle of one kind is not taken for another. */
TEST(handles_are_not_confused)
{
    struct rank rank[1];
    aclrtEvent event;

    ranks_open(rank, 1, COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, aclrtCreateEvent(&event));
    test_allow_errors();
    EXPECT_NE(0, aclrtSynchronizeStream(event));
    EXPECT_NE(0, aclrtSynchronizeStream(rank->comm));
    EXPECT_NE(0, HcclCommDestroy(event));
    EXPECT_NE(0, HcommLocalCopyOnThread((ThreadHandle)(uintptr_t)rank->comm, rank->buf,
                                        rank->buf + 8, 8));
    EXPECT_NE(0, HcommWriteNbi(rank->thread, rank->buf, rank->buf + 8, 8));
    EXPECT_EQ(0, aclrtDestroyEvent(event));
    ranks_close(rank, 1);
}

TEST(threads_and_channels_end_with_their_communicator)
{
    struct rank ranks[2];
    struct link links[2];
    uint32_t number;
    void *buffer = NULL;
    uint64_t size = 0;

    ranks_open(ranks, 2, COMM_ENGINE_CPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_CPU_TS, &links[0], &links[1]);
    ranks_close(ranks, 2);
    EXPECT_EQ(0, aclrtSetDevice(0));
    test_expect_error("communicator");
    EXPECT_NE(0, HcclCommDestroy(ranks[0].comm));
    EXPECT_NE(0, HcclGetRankId(ranks[0].comm, &number));
    EXPECT_NE(0, HcclGetHcclBuffer(ranks[0].comm, &buffer, &size));
    EXPECT_NULL(buffer);
    test_expect_error("not a live thread: it is already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommThreadNotifyWaitOnThread(ranks[0].thread, 0, 1));
    test_expect_error("not a live channel: it is already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommChannelFence(links[0].channel));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

TEST(what_leaves_its_memory_is_refused_with_both_sizes)
{
    struct rank ranks[2];
    struct link links[2];
    char *big = NULL;
    uint64_t len;

    setenv("HCCL_BUFFSIZE", "1", 1);
    ranks_open(ranks, 2, COMM_ENGINE_AICPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_AICPU_TS, &links[0], &links[1]);
    len = ranks[0].size + 4096;
    EXPECT_EQ(0, aclrtMalloc((void **)&big, len, ACL_MEM_MALLOC_HUGE_FIRST));
    test_expect_error("has 2097152 bytes to the end of its allocation");
    test_expect_error("but 2101248 bytes are asked");
    test_expect_error("2101248 bytes at"); /* the peer's region: the nearest is named */
    EXPECT_EQ(HCCL_E_PARA, HcommLocalCopyOnThread(ranks[0].thread, ranks[0].buf, big, len));
    EXPECT_EQ(HCCL_E_PARA, HcommLocalCopyOnThread(ranks[0].thread, big, ranks[0].buf, len));
    EXPECT_EQ(HCCL_E_PARA, HcommLocalReduceOnThread(ranks[0].thread, ranks[0].buf, big, len / 4,
                                                    HCOMM_DATA_TYPE_FP32, HCOMM_REDUCE_SUM));
    EXPECT_EQ(HCCL_E_PARA,
              HcommWriteOnThread(ranks[0].thread, links[0].channel, links[0].peer_buf, big, len));
    test_expect_error("but 2097152 bytes are asked");
    EXPECT_EQ(HCCL_E_PARA, HcommReadOnThread(ranks[0].thread, links[0].channel, ranks[0].buf + 8,
                                             links[0].peer_buf, ranks[0].size));
    EXPECT_EQ(0, aclrtSynchronizeStream(ranks[0].stream));
    EXPECT_EQ(0, aclrtFree(big));
    ranks_close(ranks, 2);
}

/* ---- a full device ---- */

TEST(a_full_device_says_what_was_asked_and_what_is_left)
{
    int32_t device = 0;
    HcclComm comm = NULL;
    void *block = NULL, *buffer = NULL;
    uint64_t size = 0;

    setenv("HCOMM_DEVICE_MEMORY", "16", 1);
    EXPECT_EQ(0, aclrtSetDevice(0));
    test_expect_error("33554432 bytes");
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtMalloc(&block, 32u << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_NULL(block);
    EXPECT_EQ(0, HcclCommInitAll(1, &device, &comm));
    test_expect_error("419430400 bytes");
    EXPECT_EQ(HCCL_E_OOM, HcclGetHcclBuffer(comm, &buffer, &size)); /* 400 MiB by default */
    EXPECT_NULL(buffer);
    EXPECT_EQ(0, aclrtMalloc(&block, 1u << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(0, aclrtFree(block));
    EXPECT_EQ(0, HcclCommDestroy(comm));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

/* ---- threads and devices ---- */

TEST(a_thread_that_never_set_a_device_is_told_by_every_layer)
{
    aclrtStream stream = NULL;
    void *block = NULL;
    ThreadHandle thread = 0;
    const uint32_t notifies = 1;
    HcclRootInfo info;
    HcclComm comm = NULL;

    memset(&info, 0, sizeof info);
    test_expect_error("aclrtSetDevice");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
    EXPECT_NE(0, HcommThreadAlloc(COMM_ENGINE_CPU_TS, 1, &notifies, &thread));
    EXPECT_NE(0, HcommAcquireComm("x"));
    EXPECT_NE(0, HcclCommInitRootInfo(1, &info, 0, &comm));
    EXPECT_NULL(block);
    EXPECT_NULL(stream);
    EXPECT_NULL(comm);
    EXPECT_EQ(0, thread);
}

TEST(devices_can_be_reset_and_used_again_after_finalize)
{
    void *block = NULL;

    EXPECT_EQ(0, aclInit(NULL));
    EXPECT_EQ(0, aclrtSetDevice(3));
    EXPECT_EQ(0, aclFinalize());
    EXPECT_EQ(0, aclrtResetDevice(3));
    EXPECT_EQ(0, aclInit(NULL));
    EXPECT_EQ(0, aclrtSetDevice(3));
    EXPECT_EQ(0, aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(0, aclrtFree(block));
    EXPECT_EQ(0, aclrtResetDevice(3));
    EXPECT_EQ(0, aclFinalize());
}

/* ---- many lives ---- */

struct footprint {
    long resident_kib;
    int fds, threads;
};

static struct footprint
footprint(void)
{
    struct footprint now = {.fds = test_open_fds()};
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    DIR *tasks = opendir("/proc/self/task");

    EXPECT_NOT_NULL(file);
    EXPECT_NOT_NULL(tasks);
    EXPECT_EQ(2, fscanf(file, "%ld %ld", &size, &resident));
    fclose(file);
    while (readdir(tasks) != NULL)
        now.threads++;
    closedir(tasks);
    now.resident_kib = resident * (sysconf(_SC_PAGESIZE) / 1024);
    return now;
}

static void
expect_flat(const struct footprint *before, long lives)
{
    struct footprint after = footprint();

    printf("resident %ld -> %ld KiB, descriptors %d -> %d, threads %d -> %d in %ld lives\n",
           before->resident_kib, after.resident_kib, before->fds, after.fds, before->threads,
           after.threads, lives);
    EXPECT_TRUE(after.resident_kib < before->resident_kib + SLACK_KIB);
    EXPECT_TRUE(after.fds <= before->fds);
    EXPECT_TRUE(after.threads <= before->threads + 1);
}

static void
live_once(void)
{
    struct rank ranks[2];
    struct link links[2];
    aclrtStream stream;

    ranks_open(ranks, 2, COMM_ENGINE_AICPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_AICPU_TS, &links[0], &links[1]);
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[0].thread, links[0].channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[1].thread, links[1].channel, 0, 30));
    sync_two(&ranks[0], &ranks[1]);
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    ranks_close(ranks, 2);
}

TEST(many_lives_of_communicator_channel_and_stream_stay_flat)
{
    struct footprint before;

    test_time_limit(300);
    setenv("HCCL_BUFFSIZE", "1", 1);
    for (int i = 0; i < LIVES / 10; i++)
        live_once();
    before = footprint();
    for (int i = 0; i < LIVES; i++)
        live_once();
    expect_flat(&before, LIVES);
}
