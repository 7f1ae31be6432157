/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/handle.h"
#include "comm/comm.h"
#include "comm/comm_test.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_diag.h"
#include "hccl/hccl_res_expt.h"
#include "hccl/hcom.h"
#include "tests/support/test.h"

#define RANKS 8

struct rank {
    const HcclRootInfo *info;
    uint32_t n_ranks, rank;
    const HcclCommConfig *config;
    HcclComm comm;
    HcclResult rc;
    pthread_t thread;
};

static void *
rank_main(void *arg)
{
    struct rank *rank = arg;

    if (aclrtSetDevice((int32_t)rank->rank) != ACL_SUCCESS)
        abort();
    if (rank->config == NULL)
        rank->rc = HcclCommInitRootInfo(rank->n_ranks, rank->info, rank->rank, &rank->comm);
    else
        rank->rc = HcclCommInitRootInfoConfig(rank->n_ranks, rank->info, rank->rank, rank->config,
                                              &rank->comm);
    return NULL;
}

/* `n_ranks` ranks on as many threads and devices. */
static void
init_ranks(struct rank *ranks, uint32_t n_ranks, const HcclCommConfig *config)
{
    HcclRootInfo info;

    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    for (uint32_t i = 0; i < n_ranks; i++) {
        ranks[i] = (struct rank){.info = &info, .n_ranks = n_ranks, .rank = i, .config = config};
        EXPECT_EQ(0, pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]));
    }
    for (uint32_t i = 0; i < n_ranks; i++)
        pthread_join(ranks[i].thread, NULL);
}

/* ---- Ways to a communicator ---- */

TEST(eight_ranks_init_on_eight_threads)
{
    struct rank ranks[RANKS];
    char names[2][COMM_NAME_MAX_LENGTH];

    init_ranks(ranks, RANKS, NULL);
    for (uint32_t i = 0; i < RANKS; i++) {
        uint32_t size = 0, rank = 99;

        EXPECT_EQ(HCCL_SUCCESS, ranks[i].rc);
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRankSize(ranks[i].comm, &size));
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRankId(ranks[i].comm, &rank));
        EXPECT_EQ(RANKS, size);
        EXPECT_EQ(i, rank);
        EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(ranks[i].comm, names[i > 0]));
        if (i > 0)
            EXPECT_STREQ(names[0], names[1]);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(ranks[i].comm));
    reset_devices(RANKS);
}

TEST(init_all_makes_one_rank_for_each_device)
{
    int32_t devices[3] = {5, 0, 2};
    HcclComm comms[3];

    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(3, devices, comms));
    for (uint32_t i = 0; i < 3; i++) {
        struct comm *comm;
        uint32_t rank = 99;

        EXPECT_EQ(HCCL_SUCCESS, HcclGetRankId(comms[i], &rank));
        EXPECT_EQ(i, rank);
        EXPECT_EQ(HCCL_SUCCESS, comm_hold(comms[i], &comm));
        EXPECT_EQ(devices[i], comm_device(comm));
        for (uint32_t j = 0; j < 3; j++)
            EXPECT_EQ(devices[j], comm_fact(comm, j)->device);
        comm_release(comm);
    }
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
}

TEST(init_all_refuses_devices_that_are_not_there_or_come_twice)
{
    int32_t devices[9] = {0, 1, 1, 3, 4, 5, 6, 7, 8};
    HcclComm comms[9] = {NULL};

    test_expect_error("ndev is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitAll(0, devices, comms));
    test_expect_error("device 1 is listed twice");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitAll(3, devices, comms));
    test_expect_error("device 8 does not exist");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitAll(2, &devices[7], comms));
    test_expect_error("ndev is 9");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitAll(9, devices, comms));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitAll(1, NULL, comms));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitAll(1, devices, NULL));
    EXPECT_NULL(comms[0]);
}

TEST(a_thousand_devices_init_in_well_under_a_second)
{
    static int32_t devices[1024];
    static HcclComm comms[1024];
    uint64_t start_ns;

    setenv("HCOMM_DEVICE_COUNT", "1024", 1);
    for (int i = 0; i < 1024; i++)
        devices[i] = i;
    start_ns = hc_now_ns();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(1024, devices, comms));
    print_message("1,024 communicators: %.1f ms\n", (double)(hc_now_ns() - start_ns) / 1e6);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_TRUE(hc_now_ns() - start_ns < 1000000000u);
#endif
    for (int i = 0; i < 1024; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
}

TEST(a_group_inits_and_destroys_several_devices_from_one_thread)
{
    HcclComm comms[RANKS] = {NULL};
    HcclRootInfo info;
    bool open = true;

    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStatusGet(&open));
    EXPECT_FALSE(open);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStatusGet(&open));
    EXPECT_TRUE(open);
    for (int32_t i = 0; i < RANKS; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(i));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfo(RANKS, &info, (uint32_t)i, &comms[i]));
    }
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    EXPECT_NULL(comms[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    for (int32_t i = 0; i < RANKS; i++) {
        struct comm *comm;

        EXPECT_EQ(HCCL_SUCCESS, comm_hold(comms[i], &comm));
        EXPECT_EQ(i, comm_device(comm));
        comm_release(comm);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    }
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    test_expect_error("HcclGroupEnd without HcclGroupStart");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclGroupEnd());
    reset_devices(RANKS);
}

TEST(a_group_returns_the_first_failure_and_its_message)
{
    HcclRootInfo info;
    HcclComm comm = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    memset(&info, 1, sizeof info);
    test_expect_error("not a root info");
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfo(1, &info, 0, &comm));
    EXPECT_EQ(HCCL_E_PARA, HcclGroupEnd());
    EXPECT_NULL(comm);
    EXPECT_CONTAINS("not a root info", aclGetRecentErrMsg());
    reset_devices(1);
}

TEST(bad_arguments_of_init_are_refused)
{
    HcclRootInfo info;
    HcclComm comm = NULL;

    memset(&info, 0, sizeof info);
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclGetRootInfo(NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitRootInfo(1, NULL, 0, &comm));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitRootInfo(1, &info, 0, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitRootInfoConfig(1, &info, 0, NULL, &comm));
    test_expect_error("count from 0");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitRootInfo(0, &info, 0, &comm));
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitRootInfo(4, &info, 4, &comm));
    test_allow_errors(); /* the runtime's: no device is set */
    EXPECT_NE(HCCL_SUCCESS, HcclCommInitRootInfo(1, &info, 0, &comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("not a root info");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitRootInfo(1, &info, 0, &comm));
    EXPECT_NULL(comm);
    reset_devices(1);
}

/* Two ranks on one device of one process would share everything: both are told. */
static void *
rank_on_device_0(void *arg)
{
    struct rank *rank = arg;

    if (aclrtSetDevice(0) != ACL_SUCCESS)
        abort();
    rank->rc = HcclCommInitRootInfo(rank->n_ranks, rank->info, rank->rank, &rank->comm);
    return NULL;
}

TEST(two_ranks_of_a_process_may_not_share_a_device)
{
    struct rank ranks[2];
    HcclRootInfo info;

    test_expect_error("ranks 0 and 1 both use device 0");
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    for (uint32_t i = 0; i < 2; i++) {
        ranks[i] = (struct rank){.info = &info, .n_ranks = 2, .rank = i};
        EXPECT_EQ(0, pthread_create(&ranks[i].thread, NULL, rank_on_device_0, &ranks[i]));
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(ranks[i].thread, NULL);
        EXPECT_EQ(HCCL_E_PARA, ranks[i].rc);
    }
    reset_devices(1);
}

TEST(garbage_handles_are_refused)
{
    static const uint64_t garbage[] = {1, 0xdeadbeef, 0x4800000000000000ull, 0x7fffffffffffull,
                                       UINT64_MAX};
    HcclComm comm = init_one(NULL);
    uint32_t size = 7;
    char name[COMM_NAME_MAX_LENGTH];

    test_expect_error("not a live one");
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        HcclComm bad = (HcclComm)(uintptr_t)garbage[i];

        EXPECT_EQ(HCCL_E_PARA, HcclGetRankSize(bad, &size));
        EXPECT_EQ(HCCL_E_PARA, HcclGetCommName(bad, name));
        EXPECT_EQ(HCCL_E_PARA, HcclCommDestroy(bad));
    }
    test_expect_error("NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclGetRankSize(NULL, &size));
    EXPECT_EQ(HCCL_E_PTR, HcclGetRankSize(comm, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclGetRankId(comm, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclGetCommName(comm, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclGetCommAsyncError(comm, NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(HCCL_E_PARA, HcclCommDestroy(comm));
    EXPECT_EQ(HCCL_E_PARA, HcclGetRankSize(comm, &size));
    EXPECT_EQ(7, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(NULL));
    reset_devices(1);
}

TEST(a_thousand_lives_stay_flat)
{
    for (int i = 0; i < 1000; i++) {
        int32_t devices[2] = {0, 1};
        HcclComm comms[2];
        long live = hc_alloc_live();

        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0]));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
        if (i > 0)
            EXPECT_EQ(live, hc_alloc_live());
    }
}

/* ---- Names ---- */

TEST(names_are_found_on_the_own_device_first)
{
    HcclCommConfig config;
    HcclComm found = NULL;
    struct rank ranks[2];

    HcclCommConfigInit(&config);
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "mine");
    init_ranks(ranks, 2, &config);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetHandleWithName("mine", &found)); /* no device: any */
    EXPECT_NOT_NULL(found);
    for (int32_t i = 0; i < 2; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(i));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommGetHandleWithName("mine", &found));
        EXPECT_TRUE(found == ranks[i].comm);
        EXPECT_EQ(HCCL_SUCCESS, HcomGetCommHandleByGroup("mine", &found));
        EXPECT_TRUE(found == ranks[i].comm);
    }
    HcclCommStatus status = HCCL_COMM_STATUS_INVALID;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetStatus("mine", &status));
    EXPECT_EQ(HCCL_COMM_STATUS_READY, status);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(ranks[1].comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetHandleWithName("mine", &found)); /* device 1 has none now */
    EXPECT_TRUE(found == ranks[0].comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(ranks[0].comm));
    test_expect_error("no communicator named \"mine\"");
    EXPECT_EQ(HCCL_E_PARA, HcclCommGetHandleWithName("mine", &found));
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcomGetCommHandleByGroup("mine", &found));
    EXPECT_EQ(HCCL_E_PTR, HcclCommGetStatus("mine", &status));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCommGetHandleWithName(NULL, &found));
    EXPECT_EQ(HCCL_E_PTR, HcomGetCommHandleByGroup("mine", NULL));
    reset_devices(2);
}

TEST(a_name_serves_once_on_a_device)
{
    HcclCommConfig config;
    HcclComm comm;

    HcclCommConfigInit(&config);
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "twice");
    comm = init_one(&config);
    test_expect_error("named \"twice\" already");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(HCCL_SUCCESS, try_config(&config));
    reset_devices(1);
}

TEST(error_strings_are_never_null)
{
    for (int code = -2; code < 1050; code++)
        EXPECT_TRUE(HcclGetErrorString((HcclResult)code)[0] != '\0');
    EXPECT_STREQ("no error", HcclGetErrorString(HCCL_SUCCESS));
    EXPECT_STREQ("timeout", HcclGetErrorString(HCCL_E_TIMEOUT));
    EXPECT_EQ(10, HcclGetCommConfigCapability());
}

/* ---- Callbacks ---- */

static int calls[4];

static HcclResult
count_call(HcclComm comm, HcclCommStatePhase phase, void *arg)
{
    (void)comm;
    calls[phase]++;
    return arg == NULL ? HCCL_SUCCESS : *(HcclResult *)arg;
}

TEST(state_callbacks_see_destroy_and_can_refuse_it)
{
    static HcclResult answer = HCCL_E_AGAIN;
    char name[200];
    HcclComm comm = init_one(NULL);

    test_expect_error("regName has 1 to 159");
    EXPECT_EQ(HCCL_E_PARA, HcclCommRegCommStateCallback("", count_call, NULL));
    memset(name, 'x', sizeof name);
    name[160] = '\0';
    EXPECT_EQ(HCCL_E_PARA, HcclCommRegCommStateCallback(name, count_call, NULL));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCommRegCommStateCallback(NULL, count_call, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclCommRegCommStateCallback("a", NULL, NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommRegCommStateCallback("a", count_call, &answer));
    test_expect_error("callback \"a\" answered 20");
    EXPECT_EQ(HCCL_E_AGAIN, HcclCommDestroy(comm));
    EXPECT_EQ(1, calls[HCCL_COMM_STATE_PHASE_DESTROY_PRE]);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommRegCommStateCallback("a", count_call, NULL)); /* replaces */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(2, calls[HCCL_COMM_STATE_PHASE_DESTROY_PRE]);
    EXPECT_EQ(1, calls[HCCL_COMM_STATE_PHASE_DESTROY_POST]);
    reset_devices(1);
}

/* ---- Diagnostics ---- */

TEST(diagnostics_are_accepted)
{
    HcclComm comm = init_one(NULL);
    struct HcclDfxOpInfo info;
    uint64_t begin = HcommGetProfilingSysCycleTime();

    memset(&info, 0, sizeof info);
    EXPECT_EQ(HCCL_SUCCESS, HcclDfxRegOpInfoByCommId((char *)"any", &info));
    EXPECT_TRUE(info.beginTime >= begin);
    EXPECT_EQ(HCCL_SUCCESS, HcclProfilingReportOp(comm, begin));
    EXPECT_EQ(HCCL_SUCCESS, HcclReportAicpuKernel(comm, begin, (char *)"kernel"));
    EXPECT_EQ(HCCL_SUCCESS, HcclReportAivKernel(comm, begin));
    test_expect_error("NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclDfxRegOpInfoByCommId((char *)"any", NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclProfilingReportOp(NULL, begin));
    EXPECT_EQ(HCCL_E_PTR, HcclReportAicpuKernel(comm, begin, NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    reset_devices(1);
}

/* ---- Memory runs out ---- */

TEST(init_survives_every_failed_allocation)
{
    int32_t devices[2] = {0, 1};
    HcclComm comms[2];
    bool failed = true;

    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms)); /* what stays is there now */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0]));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
    test_expect_error("out of host memory");
    test_allow_errors();
    for (long nth = 0; failed; nth++) {
        long live = hc_alloc_live();
        HcclResult rc;

        comms[0] = NULL;
        hc_alloc_fail_nth(nth);
        rc = HcclCommInitAll(2, devices, comms);
        failed = hc_alloc_failed() != 0;
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(failed ? HCCL_E_MEMORY : HCCL_SUCCESS, rc);
        if (failed) {
            EXPECT_NULL(comms[0]);
            EXPECT_EQ(live, hc_alloc_live());
        }
    }
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0]));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
}
