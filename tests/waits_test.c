/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits that nobody ends: each ends in its time or, when that is provably for ever, at once, and
 * the message says who waited for what and for whom.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "tests/support/ranks.h"

static struct rank ranks[2];
static struct link links[2];

static void
open_pair(CommEngine engine)
{
    ranks_open(ranks, 2, engine);
    link_ranks(&ranks[0], &ranks[1], engine, &links[0], &links[1]);
}

/* A timeout of `seconds` that was set at `start` has been honoured within a tenth. */
static void
expect_took(uint64_t start, double seconds)
{
    double took = (double)(hc_now_ns() - start) / 1e9;

    printf("%.3f s\n", took);
    EXPECT_TRUE(took >= seconds * 0.99);
    EXPECT_TRUE(took <= seconds * 1.1);
}

/* ---- time ---- */

TEST(a_wait_of_one_second_ends_after_one_second_and_names_the_recorder)
{
    uint64_t start;

    setenv("HCOMM_DEADLOCK", "off", 1); /* else it would not wait at all */
    open_pair(COMM_ENGINE_AICPU_TS);
    start = hc_now_ns();
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 2, 1));
    test_expect_error("notify 2 of the channel of rank 0");
    test_expect_error("rank 1");
    EXPECT_NE(0, aclrtSynchronizeStream(ranks[0].stream));
    expect_took(start, 1);
    ranks_close(ranks, 2);
}

TEST(a_thread_notify_ends_after_its_time_and_is_named)
{
    uint64_t start;

    setenv("HCOMM_DEADLOCK", "off", 1);
    open_pair(COMM_ENGINE_CPU_TS);
    start = hc_now_ns();
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(ranks[1].thread, 3, 1));
    test_expect_error("notify 3");
    test_expect_error("a thread of rank 1");
    EXPECT_NE(0, aclrtSynchronizeStream(ranks[1].stream));
    expect_took(start, 1);
    ranks_close(ranks, 2);
}

TEST(an_immediate_wait_ends_after_its_time)
{
    uint64_t start;

    open_pair(COMM_ENGINE_CPU);
    start = hc_now_ns();
    test_expect_error("rank 0");
    EXPECT_EQ(HCCL_E_TIMEOUT, HcommChannelNotifyWait(links[1].channel, 0, 1));
    expect_took(start, 1);
    ranks_close(ranks, 2);
}

TEST(synchronizing_ends_after_its_time_and_the_work_goes_on)
{
    uint64_t start;

    setenv("HCOMM_DEADLOCK", "off", 1);
    open_pair(COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 0, 0));
    start = hc_now_ns();
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
              aclrtSynchronizeStreamWithTimeout(ranks[0].stream, 1000));
    expect_took(start, 1);
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[1].thread, links[1].channel, 0));
    sync_two(&ranks[0], &ranks[1]);
    ranks_close(ranks, 2);
}

TEST(acquiring_a_channel_alone_ends_after_its_time_and_names_the_peer)
{
    struct link link;
    struct linking alone = {
        .rank = &ranks[0], .peer = 1, .engine = COMM_ENGINE_CPU_TS, .link = &link};
    uint64_t start;

    setenv("HCOMM_CONNECT_TIMEOUT", "1000", 1);
    ranks_open(ranks, 2, COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, aclrtSetDevice(0));
    start = hc_now_ns();
    test_expect_error("rank 1");
    link_main(&alone);
    EXPECT_EQ(HCCL_E_TIMEOUT, alone.rc);
    expect_took(start, 1);
    ranks_close(ranks, 2);
}

/* A default that is set counts, and only for the calls that have none of their own. */
TEST(the_default_time_is_honoured)
{
    uint64_t start;

    setenv("HCOMM_DEADLOCK", "off", 1);
    open_pair(COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, HcommSetNotifyWaitTimeOut(1.0f));
    start = hc_now_ns();
    EXPECT_EQ(
        0, HcommChannelNotifyWaitOnThreadWithDefaultTimeout(ranks[0].thread, links[0].channel, 1));
    test_expect_error("notify 1 of the channel of rank 0");
    EXPECT_NE(0, aclrtSynchronizeStream(ranks[0].stream));
    expect_took(start, 1);
    ranks_close(ranks, 2);
}

/* ---- deadlocks ---- */

#ifndef __SANITIZE_THREAD__ /* its own background thread only naps, so nothing can be proven */

static const char *
name_of(const struct rank *rank)
{
    static char name[COMM_NAME_MAX_LENGTH];

    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(rank->comm, name));
    return name;
}

/* At once, though the wait would be for ever. */
static void
expect_verdict(struct rank *rank)
{
    uint64_t start = hc_now_ns();
    const char *text;

    EXPECT_NE(0, aclrtSynchronizeStream(rank->stream));
    EXPECT_TRUE(hc_now_ns() - start < 2000000000u);
    text = aclGetRecentErrMsg();
    EXPECT_CONTAINS(name_of(rank), text); /* which rank of which communicator */
    EXPECT_CONTAINS("stream", text);
    EXPECT_CONTAINS("notify", text);
}

TEST(receiving_with_no_sender_is_a_deadlock_that_names_the_sender)
{
    char *to;

    open_pair(COMM_ENGINE_AICPU_TS);
    EXPECT_EQ(0, aclrtMalloc((void **)&to, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 0, 1800));
    EXPECT_EQ(0, HcommReadOnThread(ranks[0].thread, links[0].channel, to, links[0].peer_buf, 64));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[0].thread, links[0].channel, 1));
    test_expect_error("rank 1"); /* who should have recorded it */
    expect_verdict(&ranks[0]);
    EXPECT_EQ(0, aclrtFree(to));
    ranks_close(ranks, 2);
}

TEST(two_streams_that_wait_for_each_other_are_both_named)
{
    open_pair(COMM_ENGINE_CPU_TS);
    for (int i = 0; i < 2;
         i++) { /* each waits for the other's record, which comes after its wait */
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[i].thread, links[i].channel, 0, 1800));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[i].thread, links[i].channel, 0));
    }
    test_expect_error("rank 0");
    test_expect_error("rank 1");
    expect_verdict(&ranks[0]);
    EXPECT_NE(0, aclrtSynchronizeStream(ranks[1].stream));
    ranks_close(ranks, 2);
}

TEST(two_threads_of_a_rank_that_wait_for_each_other_are_a_deadlock)
{
    ThreadHandle threads[2];

    open_pair(COMM_ENGINE_AICPU_TS);
    EXPECT_EQ(0, HcclThreadAcquire(ranks[0].comm, COMM_ENGINE_AICPU_TS, 2, 1, threads));
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(threads[i], 0, 0));
        EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(threads[i], threads[1 - i], 0));
    }
    test_expect_error("deadlock");
    expect_verdict(&ranks[0]);
    ranks_close(ranks, 2);
}

/* The pair works again after it has been told. */
TEST(a_pair_goes_on_after_a_deadlock)
{
    open_pair(COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 0, 0));
    test_expect_error("deadlock");
    EXPECT_NE(0, aclrtSynchronizeStream(ranks[0].stream));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[1].thread, links[1].channel, 1));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 1, 30));
    sync_two(&ranks[0], &ranks[1]);
    ranks_close(ranks, 2);
}

#endif

/* ---- wrong indexes and records too many ---- */

TEST(an_index_that_is_not_there_is_refused_with_what_is)
{
    ThreadHandle thread;

    open_pair(COMM_ENGINE_CPU_TS);
    thread = ranks[0].thread;
    test_expect_error("4"); /* the index, and how many there are */
    EXPECT_NE(0, HcommThreadNotifyWaitOnThread(thread, RANKS_NOTIFIES, 1));
    EXPECT_NE(0, HcommThreadNotifyRecordOnThread(thread, ranks[0].thread, UINT32_MAX));
    EXPECT_NE(0, HcommChannelNotifyWaitOnThread(thread, links[0].channel, RANKS_NOTIFIES, 1));
    EXPECT_NE(0, HcommChannelNotifyRecordOnThread(thread, links[0].channel, RANKS_NOTIFIES));
    EXPECT_NE(0, HcommWriteWithNotifyOnThread(thread, links[0].channel, links[0].peer_buf,
                                              ranks[0].buf, 8, UINT32_MAX));
    test_expect_error("no notify with id");
    EXPECT_NE(0, HcommAclrtNotifyWaitOnThread(thread, 1u << 30, 1));
    EXPECT_EQ(0, aclrtSynchronizeStream(ranks[0].stream));
    ranks_close(ranks, 2);
}

TEST(a_second_record_is_counted_and_remarked_upon)
{
    open_pair(COMM_ENGINE_AICPU_TS);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[1].thread, links[1].channel, 3));
    EXPECT_EQ(0, aclrtSynchronizeStream(ranks[1].stream));
    EXPECT_EQ(1, test_logged("notify 3 of the channel of rank 0"));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 3, 30));
    EXPECT_EQ(0, aclrtSynchronizeStream(ranks[0].stream));
    ranks_close(ranks, 2);
}

#ifndef __SANITIZE_THREAD__
/* As on the hardware: the second record is lost, so the second wait is one for ever. */
TEST(in_strict_mode_the_second_wait_is_a_deadlock)
{
    setenv("HCOMM_NOTIFY_MODE", "strict", 1);
    open_pair(COMM_ENGINE_AICPU_TS);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[1].thread, links[1].channel, 3));
    EXPECT_EQ(0, aclrtSynchronizeStream(ranks[1].stream));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 3, 0));
    test_expect_error("rank 1");
    expect_verdict(&ranks[0]);
    ranks_close(ranks, 2);
}
#endif
