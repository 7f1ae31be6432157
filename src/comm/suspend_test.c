/* SPDX-License-Identifier: BSD-3-Clause */
/* Suspending and resuming; what callbacks learn of it; network cards that are not switched. */
#include <stdio.h>
#include <string.h>

#include "comm/comm_object.h"
#include "comm/comm_test.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_one_sided_services.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_p2p.h"

static HcclComm comms[2];
static char name[COMM_NAME_MAX_LENGTH];

static void
start(void)
{
    int32_t devices[] = {0, 1};

    setenv("HCCL_BUFFSIZE", "1", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(comms[0], name));
}

static void
stop(void)
{
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    reset_devices(2);
}

static void
expect_status(HcclCommStatus expected)
{
    HcclCommStatus status = HCCL_COMM_STATUS_RESERVED;

    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetStatus(name, &status));
    EXPECT_EQ(expected, status);
}

static HcclResult
send_byte(uint32_t tag)
{
    static const uint8_t byte = 7;

    return HcommSend(&byte, 1, HCCL_DATA_TYPE_UINT8, 1, tag, comms[0], HCOMM_STREAM_INLINE);
}

static void
receive_byte(uint32_t tag)
{
    uint8_t byte = 0;

    EXPECT_EQ(HCCL_SUCCESS, HcommRecv(&byte, 1, HCCL_DATA_TYPE_UINT8, 0, tag, NULL, comms[1],
                                      HCOMM_STREAM_INLINE));
    EXPECT_EQ(7, byte);
}

TEST(operations_of_a_suspended_communicator_fail_until_it_is_resumed)
{
    HcommBatchItem item = {.kind = HCOMM_BATCH_SEND, .type = HCCL_DATA_TYPE_UINT8};
    HcclOneSideOpDesc desc = {.count = 0};
    uint32_t found = 0, rank = 0;
    HcclChannelDesc channel;
    ChannelHandle handle = 0;
    HcommWindow window;
    void *ctx = NULL;

    start();
    EXPECT_EQ(HCCL_SUCCESS, send_byte(1)); /* the short way is ready */
    receive_byte(1);
    expect_status(HCCL_COMM_STATUS_READY);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[0]));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[0]));
    EXPECT_EQ(1, test_logged("suspended already"));
    expect_status(HCCL_COMM_STATUS_SUSPENDING);
    test_expect_error("HcommSend: rank 0 of");
    EXPECT_EQ(HCCL_E_SUSPENDING, send_byte(2));
    test_expect_error("HcommBatch: rank 0 of");
    EXPECT_EQ(HCCL_E_SUSPENDING, HcommBatch(&item, 1, comms[0], HCOMM_STREAM_INLINE));
    test_expect_error("is suspended: call HcclCommResume first");
    EXPECT_EQ(HCCL_E_SUSPENDING, HcommProbe(1, 1, comms[0], &found, NULL));
    EXPECT_EQ(HCCL_E_SUSPENDING, HcommWindowCreate(comms[0], NULL, 0, 0, &window));
    EXPECT_EQ(HCCL_E_SUSPENDING, HcclBatchPut(comms[0], 1, &desc, 1, NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelDescInit(&channel, 1));
    channel.remoteRank = 1;
    channel.channelProtocol = COMM_PROTOCOL_HCCS;
    EXPECT_EQ(HCCL_E_SUSPENDING,
              HcclChannelAcquire(comms[0], COMM_ENGINE_CPU_TS, &channel, 1, &handle));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRankId(comms[0], &rank)); /* what asks no peer goes on */
    EXPECT_EQ(HCCL_SUCCESS, HcclEngineCtxCreate(comms[0], "t", COMM_ENGINE_CPU_TS, 8, &ctx));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommResume(comms[0]));
    expect_status(HCCL_COMM_STATUS_READY);
    EXPECT_EQ(HCCL_SUCCESS, send_byte(3));
    receive_byte(3);
    stop();
}

TEST(a_suspended_communicator_can_be_destroyed)
{
    start();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[1]));
    stop();
}

TEST(one_that_failed_is_invalid_and_cannot_be_resumed)
{
    struct comm *comm;

    start();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[0]));
    EXPECT_EQ(HCCL_SUCCESS, comm_hold(comms[0], &comm));
    rt_fate_break(comm_fate(comm), "rank 1 died");
    comm_release(comm);
    expect_status(HCCL_COMM_STATUS_INVALID);
    test_expect_error("HcclCommResume: rank 0 of");
    test_expect_error("rank 1 died: destroy it");
    EXPECT_EQ(HCCL_E_REMOTE, HcclCommResume(comms[0]));
    stop();
}

/* ---- Callbacks ---- */

static struct {
    int phases[16], num;
    HcclCommStatus status[16]; /* at that time */
    int refuse;                /* this phase, with HCCL_E_AGAIN */
    HcclComm comm;             /* of the last call */
} heard;

static HcclResult
listen_to(HcclComm comm, HcclCommStatePhase phase, void *arg)
{
    EXPECT_TRUE(arg == &heard);
    heard.comm = comm;
    if (phase == HCCL_COMM_STATE_PHASE_RESUME_PRE || phase == HCCL_COMM_STATE_PHASE_RESUME_POST)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommGetStatus(name, &heard.status[heard.num]));
    heard.phases[heard.num++] = (int)phase;
    return (int)phase == heard.refuse ? HCCL_E_AGAIN : HCCL_SUCCESS;
}

TEST(callbacks_hear_of_a_resume_before_and_after)
{
    start();
    heard.refuse = -1;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommRegCommStateCallback("test", listen_to, &heard));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[0]));
    EXPECT_EQ(0, heard.num);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommResume(comms[0]));
    EXPECT_EQ(2, heard.num);
    EXPECT_EQ(HCCL_COMM_STATE_PHASE_RESUME_PRE, heard.phases[0]);
    EXPECT_EQ(HCCL_COMM_STATUS_SUSPENDING, heard.status[0]);
    EXPECT_EQ(HCCL_COMM_STATE_PHASE_RESUME_POST, heard.phases[1]);
    EXPECT_EQ(HCCL_COMM_STATUS_READY, heard.status[1]);
    EXPECT_TRUE(heard.comm == comms[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommResume(comms[1])); /* it was not suspended */
    EXPECT_EQ(4, heard.num);
    heard.num = 0;
    stop();
    EXPECT_EQ(4, heard.num); /* two ranks, before and after their end */
}

TEST(what_a_callback_answers_is_what_resume_answers)
{
    start();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommRegCommStateCallback("test", listen_to, &heard));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[0]));
    test_expect_error("callback \"test\" answered 20");
    heard.refuse = HCCL_COMM_STATE_PHASE_RESUME_PRE;
    EXPECT_EQ(HCCL_E_AGAIN, HcclCommResume(comms[0]));
    expect_status(HCCL_COMM_STATUS_SUSPENDING);
    EXPECT_EQ(1, heard.num);
    heard.refuse = HCCL_COMM_STATE_PHASE_RESUME_POST;
    EXPECT_EQ(HCCL_E_AGAIN, HcclCommResume(comms[0]));
    expect_status(HCCL_COMM_STATUS_READY);
    heard.refuse = -1;
    stop();
}

/* ---- Network cards ---- */

TEST(no_card_is_switched_and_arguments_are_checked)
{
    uint32_t ranks[] = {0, 1}, twice[] = {1, 1}, beyond[] = {2};
    bool backup[] = {true, false, true};

    start();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommWorkingDevNicSet(comms[0], ranks, backup, 2));
    EXPECT_EQ(1, test_logged("nothing was switched"));
    test_expect_error("ranks is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCommWorkingDevNicSet(comms[0], NULL, backup, 2));
    test_expect_error("useBackup is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCommWorkingDevNicSet(comms[0], ranks, NULL, 2));
    test_expect_error("nRanks is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclCommWorkingDevNicSet(comms[0], ranks, backup, 0));
    test_expect_error("nRanks is 3");
    EXPECT_EQ(HCCL_E_PARA, HcclCommWorkingDevNicSet(comms[0], ranks, backup, 3));
    test_expect_error("rank 1 is listed twice");
    EXPECT_EQ(HCCL_E_PARA, HcclCommWorkingDevNicSet(comms[0], twice, backup, 2));
    test_expect_error("rank 2 is out of range");
    EXPECT_EQ(HCCL_E_PARA, HcclCommWorkingDevNicSet(comms[0], beyond, backup, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comms[0]));
    test_expect_error("is suspended");
    EXPECT_EQ(HCCL_E_SUSPENDING, HcclCommWorkingDevNicSet(comms[0], ranks, backup, 2));
    stop();
}
