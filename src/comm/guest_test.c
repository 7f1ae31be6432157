/* SPDX-License-Identifier: BSD-3-Clause */
/* What a layer above keeps with a communicator: when it is made, told and ended, whoever races. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"
#include "comm/comm_object.h"
#include "comm/comm_table_test.h"
#include "hccl/hccl_comm.h"
#include "tests/support/procs.h"

struct mine {
    struct comm *comm;
    atomic_bool busy;
    atomic_int cut, failed;
    char why[COMM_WHY_LEN]; /* set by failed() */
};

static atomic_int made, ended, cuts, failures; /* of all guests */
static void (*in_make)(struct comm *comm);     /* runs in make() */

static HcclResult
guest_make(struct comm *comm, void **guest)
{
    struct mine *mine = hc_zalloc(sizeof *mine);

    if (mine == NULL)
        return HCCL_E_MEMORY;
    mine->comm = comm;
    if (in_make != NULL)
        in_make(comm);
    atomic_fetch_add(&made, 1);
    *guest = mine;
    return HCCL_SUCCESS;
}

static bool
guest_is_idle(void *guest)
{
    return !atomic_load(&((struct mine *)guest)->busy);
}

static void
guest_is_cut(void *guest)
{
    atomic_fetch_add(&((struct mine *)guest)->cut, 1);
    atomic_fetch_add(&cuts, 1);
}

static void
guest_has_failed(void *guest, const char *why)
{
    struct mine *mine = guest;

    snprintf(mine->why, sizeof mine->why, "%s", why);
    atomic_fetch_add(&mine->failed, 1);
    atomic_fetch_add(&failures, 1);
}

static void
guest_ends(void *guest)
{
    atomic_fetch_add(&ended, 1);
    hc_free(guest);
}

static const struct comm_guest_ops ops = {.make = guest_make,
                                          .idle = guest_is_idle,
                                          .cut = guest_is_cut,
                                          .failed = guest_has_failed,
                                          .fini = guest_ends};

static struct comm *
hold(HcclComm handle)
{
    struct comm *comm = NULL;

    EXPECT_EQ(HCCL_SUCCESS, comm_hold(handle, &comm));
    return comm;
}

static struct mine *
guest_of(struct comm *comm)
{
    void *guest = NULL;

    EXPECT_EQ(HCCL_SUCCESS, comm_guest(comm, &ops, &guest));
    EXPECT_TRUE(((struct mine *)guest)->comm == comm);
    return guest;
}

/* ---- life ---- */

TEST(a_guest_is_made_at_first_need_and_ends_with_the_last_hold)
{
    HcclComm handle = init_one(NULL);
    struct comm *comm = hold(handle);
    struct mine *mine;

    EXPECT_EQ(0, atomic_load(&made));
    mine = guest_of(comm);
    EXPECT_TRUE(guest_of(comm) == mine);
    EXPECT_EQ(1, atomic_load(&made));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    EXPECT_EQ(1, atomic_load(&mine->cut));
    EXPECT_EQ(0, atomic_load(&ended));
    EXPECT_TRUE(guest_of(comm) == mine); /* which fails new calls by itself */
    comm_release(comm);
    EXPECT_EQ(1, atomic_load(&ended));
    EXPECT_EQ(0, atomic_load(&failures));
    reset_devices(1);
}

TEST(a_communicator_without_a_guest_is_as_before)
{
    HcclComm handle = init_one(NULL);
    struct comm *comm = hold(handle);
    void *guest = NULL;

    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    test_expect_error("is being destroyed");
    EXPECT_EQ(HCCL_E_UNAVAIL, comm_guest(comm, &ops, &guest));
    EXPECT_NULL(guest);
    comm_release(comm);
    EXPECT_EQ(0, atomic_load(&made) + atomic_load(&ended));
    reset_devices(1);
}

TEST(a_guest_that_cannot_be_made_is_tried_again)
{
    HcclComm handle = init_one(NULL);
    struct comm *comm = hold(handle);
    void *guest = NULL;

    test_expect_error("out of host memory");
    hc_alloc_fail_nth(0);
    EXPECT_EQ(HCCL_E_MEMORY, comm_guest(comm, &ops, &guest));
    hc_alloc_fail_nth(-1);
    EXPECT_NULL(guest);
    (void)guest_of(comm);
    comm_release(comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    EXPECT_EQ(1, atomic_load(&ended));
    reset_devices(1);
}

TEST(destroy_refuses_while_the_guest_is_busy)
{
    HcclComm handle = init_one(NULL);
    struct comm *comm = hold(handle);
    struct mine *mine = guest_of(comm);

    atomic_store(&mine->busy, true);
    comm_release(comm);
    test_expect_error("still has tasks under way, or windows");
    EXPECT_EQ(HCCL_E_AGAIN, HcclCommDestroy(handle));
    EXPECT_EQ(0, atomic_load(&mine->cut));
    atomic_store(&mine->busy, false);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    EXPECT_EQ(1, atomic_load(&cuts));
    EXPECT_EQ(1, atomic_load(&ended));
    reset_devices(1);
}

/* ---- who comes at the same time ---- */

static void *
get_guest(void *arg)
{
    void *guest = NULL;

    return comm_guest(arg, &ops, &guest) == HCCL_SUCCESS ? guest : NULL;
}

static void
dawdle(struct comm *comm)
{
    (void)comm;
    usleep(2000);
}

TEST(many_threads_get_one_guest)
{
    HcclComm handle = init_one(NULL);
    struct comm *comm = hold(handle);
    pthread_t threads[8];
    void *guest[8];

    in_make = dawdle;
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, get_guest, comm));
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(0, pthread_join(threads[i], &guest[i]));
    EXPECT_EQ(1, atomic_load(&made));
    for (int i = 0; i < 8; i++)
        EXPECT_TRUE(guest[i] != NULL && guest[i] == guest[0]);
    comm_release(comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    reset_devices(1);
}

static void
destroy_meanwhile(struct comm *comm)
{
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm->handle));
}

TEST(what_is_made_while_the_communicator_is_destroyed_is_cut)
{
    struct comm *comm = hold(init_one(NULL));
    struct mine *mine;

    in_make = destroy_meanwhile;
    mine = guest_of(comm);
    EXPECT_EQ(1, atomic_load(&mine->cut));
    EXPECT_EQ(0, atomic_load(&mine->failed));
    comm_release(comm);
    EXPECT_EQ(1, atomic_load(&ended));
    reset_devices(1);
}

static void
break_meanwhile(struct comm *comm)
{
    rt_fate_break(comm_fate(comm), "rank 7 died");
}

TEST(a_guest_learns_that_the_communicator_has_failed_whenever_that_was)
{
    for (int when = 0; when < 3; when++) {
        HcclComm handle = init_one(NULL);
        struct comm *comm = hold(handle);
        struct mine *mine;

        in_make = when == 1 ? break_meanwhile : NULL;
        if (when == 0)
            break_meanwhile(comm);
        mine = guest_of(comm);
        if (when == 2) {
            EXPECT_EQ(0, atomic_load(&mine->failed));
            break_meanwhile(comm);
        }
        EXPECT_EQ(1, atomic_load(&mine->failed));
        EXPECT_STREQ("rank 7 died", mine->why);
        EXPECT_EQ(0, atomic_load(&mine->cut));
        comm_release(comm);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
        reset_devices(1);
    }
    EXPECT_EQ(3, test_logged("cannot go on: rank 7 died"));
    EXPECT_EQ(3, atomic_load(&ended));
}

static atomic_int gate; /* threads that are here */

static void
line_up(void)
{
    atomic_fetch_add(&gate, 1);
    while (atomic_load(&gate) < 3)
        sched_yield();
}

static void *
line_up_and_get(void *arg)
{
    line_up();
    return get_guest(arg);
}

static void *
line_up_and_break(void *arg)
{
    line_up();
    break_meanwhile(arg);
    return NULL;
}

TEST(make_break_and_destroy_may_come_at_once)
{
    int got = 0;

    test_allow_errors();
    for (int round = 0; round < 100; round++) {
        HcclComm handle = init_one(NULL);
        struct comm *comm = hold(handle);
        void *guest = NULL;
        pthread_t maker, breaker;

        atomic_store(&gate, 0);
        EXPECT_EQ(0, pthread_create(&maker, NULL, line_up_and_get, comm));
        EXPECT_EQ(0, pthread_create(&breaker, NULL, line_up_and_break, comm));
        line_up();
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
        EXPECT_EQ(0, pthread_join(maker, &guest));
        EXPECT_EQ(0, pthread_join(breaker, NULL));
        got += guest != NULL;
        EXPECT_EQ(got, atomic_load(&made));
        EXPECT_EQ(got, atomic_load(&cuts));
        EXPECT_EQ(got, atomic_load(&failures));
        EXPECT_EQ(got - (guest != NULL), atomic_load(&ended));
        comm_release(comm);
        EXPECT_EQ(got, atomic_load(&ended));
        reset_devices(1);
    }
}

/* ---- channels ---- */

static void
on_event(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static HcclResult
link_up(struct comm *comm, uint32_t peer, const char *purpose, atomic_int *events,
        ChannelHandle *channel)
{
    struct res_region region = {.mem = {.type = COMM_MEM_TYPE_DEVICE}, .tag = "bell"};
    HcclResult rc = comm_buffer(comm, &region.mem.addr, &region.mem.size);

    if (rc == HCCL_SUCCESS)
        rc = comm_connect(comm, peer, purpose, &region, 1, on_event, events, channel);
    return rc;
}

static HcclResult
settle(ChannelHandle channel, atomic_int *events)
{
    HcclResult rc;

    do {
        int seen = atomic_load(events);

        rc = res_channel_try(channel);
        for (int i = 0; rc == HCCL_E_AGAIN && atomic_load(events) == seen; i++) {
            EXPECT_TRUE(i < 300000);
            usleep(i < 1000 ? 0 : 100);
        }
    } while (rc == HCCL_E_AGAIN);
    return rc;
}

static void
expect_region(ChannelHandle channel)
{
    const struct res_region *regions;
    struct res_channel *held;
    uint32_t num = 0;

    EXPECT_EQ(HCCL_SUCCESS, res_channel_hold(channel, &held));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_remote(held, &regions, &num));
    EXPECT_EQ(1, num);
    EXPECT_STREQ("bell", regions[0].tag);
    EXPECT_TRUE(regions[0].mem.size > 0);
    res_channel_release(held);
}

static HcclResult
async_error(HcclComm handle)
{
    HcclResult error = HCCL_E_INTERNAL;

    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(handle, &error));
    return error;
}

static void
init_two(HcclComm handles[2], struct comm *comms[2])
{
    int32_t devices[2] = {0, 1};

    setenv("HCCL_BUFFSIZE", "1", 0);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, handles));
    for (int i = 0; i < 2; i++)
        comms[i] = hold(handles[i]);
}

static void
end_two(HcclComm handles[2], struct comm *comms[2])
{
    for (int i = 0; i < 2; i++) {
        comm_release(comms[i]);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handles[i]));
    }
    reset_devices(2);
}

TEST(ranks_of_one_process_connect_for_each_purpose)
{
    ChannelHandle first[2], second[2];
    atomic_int events[4] = {0};
    struct comm *comms[2];
    HcclComm handles[2];

    init_two(handles, comms);
    EXPECT_EQ(HCCL_SUCCESS, link_up(comms[0], 1, "first", &events[0], &first[0]));
    EXPECT_EQ(HCCL_SUCCESS, link_up(comms[0], 1, "second", &events[1], &second[0]));
    EXPECT_EQ(HCCL_SUCCESS, link_up(comms[1], 0, "second", &events[3], &second[1]));
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(second[0])); /* the other has not looked */
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(second[1]));
    EXPECT_EQ(HCCL_SUCCESS, settle(second[0], &events[1]));
    expect_region(second[0]);
    expect_region(second[1]);
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(first[0])); /* nobody came for this */
    EXPECT_EQ(0, atomic_load(&events[0]));
    EXPECT_EQ(HCCL_SUCCESS, link_up(comms[1], 0, "first", &events[2], &first[1]));
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(first[0]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(first[1]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(first[0]));
    EXPECT_EQ(HCCL_SUCCESS, async_error(handles[0]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(second[1]));
    EXPECT_EQ(HCCL_E_REMOTE, async_error(handles[0]));
    EXPECT_EQ(HCCL_SUCCESS, async_error(handles[1])); /* its own end is none of the peer's */
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(second[0]));
    EXPECT_EQ(HCCL_SUCCESS, async_error(handles[0]));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(first[i]));
    end_two(handles, comms);
}

TEST(channels_that_come_and_go_leave_nothing_behind)
{
    ChannelHandle kept[2], pair[2];
    atomic_int events = 0;
    struct comm *comms[2];
    HcclComm handles[2];
    long live = 0;

    init_two(handles, comms);
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, link_up(comms[i], 1 - i, "kept", &events, &kept[i]));
    for (int round = 0; round < 200; round++) {
        if (round == 10)
            live = hc_alloc_live();
        for (uint32_t i = 0; i < 2; i++)
            EXPECT_EQ(HCCL_SUCCESS, link_up(comms[i], 1 - i, "k", &events, &pair[i]));
        EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(pair[0]));
        EXPECT_EQ(HCCL_SUCCESS, res_channel_try(pair[1]));
        for (uint32_t i = 0; i < 2; i++)
            EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[i]));
    }
    EXPECT_TRUE(hc_alloc_live() <= live + 4);
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(kept[0]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(kept[1]));
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(kept[i]));
    end_two(handles, comms);
}

TEST(connecting_for_a_guest_survives_every_failed_allocation)
{
    atomic_int events = 0;
    struct comm *comms[2];
    HcclComm handles[2];
    HcclResult rc;
    long nth = 0, live;

    init_two(handles, comms);
    (void)guest_of(comms[0]);
    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, comm_buffer(comms[0], &(void *){NULL}, &(uint64_t){0}));
    live = hc_alloc_live();
    do {
        ChannelHandle channel = 77;

        hc_alloc_fail_nth(nth++);
        rc = link_up(comms[0], 1, "k", &events, &channel);
        hc_alloc_fail_nth(-1);
        if (rc == HCCL_SUCCESS) {
            EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(channel));
        } else {
            EXPECT_EQ(HCCL_E_MEMORY, rc);
            EXPECT_EQ(77, channel);
            EXPECT_TRUE(hc_alloc_live() <= live + 1); /* room for handles */
        }
    } while (rc != HCCL_SUCCESS);
    EXPECT_TRUE(nth > 3);
    end_two(handles, comms);
}

/* ---- processes ---- */

struct shared {
    HcclRootInfo info;
    char path[256]; /* of a rank table; "": none */
    atomic_int made, linked, told;
    bool dies;
};

static void
join(int rank, struct shared *shared, HcclComm *handle)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(shared->path[0] == '\0' ? 0 : rank));
    if (shared->path[0] != '\0') {
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(shared->path, (uint32_t)rank, handle));
        return;
    }
    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&shared->info));
        atomic_store(&shared->made, 1);
    }
    procs_await(&shared->made, 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfo(2, &shared->info, (uint32_t)rank, handle));
}

static void
link_in_process(int rank, void *arg)
{
    struct shared *shared = arg;
    atomic_int events = 0;
    ChannelHandle channel;
    struct comm *comm;
    HcclComm handle;

    setenv("HCCL_BUFFSIZE", "1", 0);
    join(rank, shared, &handle);
    comm = hold(handle);
    EXPECT_EQ(HCCL_SUCCESS, link_up(comm, 1 - (uint32_t)rank, "k", &events, &channel));
    EXPECT_EQ(HCCL_SUCCESS, settle(channel, &events));
    expect_region(channel);
    EXPECT_EQ(HCCL_SUCCESS, async_error(handle));
    atomic_fetch_add(&shared->linked, 1);
    if (shared->dies && rank == 1)
        pause();
    procs_await(&shared->linked, 2);
    for (int i = 0; shared->dies && async_error(handle) == HCCL_SUCCESS; i++) {
        EXPECT_TRUE(i < 30000);
        usleep(1000);
    }
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(channel));
    comm_release(comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    end_device();
}

static void
run(bool table, bool dies)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    shared->dies = dies;
    if (table)
        snprintf(shared->path, sizeof shared->path, "%s", table_file(1, 2));
    procs_fork(&procs, 2, link_in_process);
    procs_await(&shared->linked, 2);
    if (dies)
        procs_kill(&procs, 1);
    procs_expect_success(&procs);
}

TEST(ranks_in_processes_connect_for_a_guest)
{
    run(false, false);
}

TEST(ranks_of_a_table_connect_for_a_guest)
{
    run(true, false);
}

TEST(the_death_of_a_guests_peer_is_an_asynchronous_error)
{
    run(false, true);
    run(true, true);
}
