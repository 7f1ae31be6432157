/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels for those who do not wait: a step at a time, told when one is worth it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "base/process.h"
#include "resource/resource.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

struct end {
    ChannelHandle handle;
    atomic_int events;
    atomic_bool gone; /* no event may come from here on */
    bool late;        /* one did */
};

static void
on_event(void *arg)
{
    struct end *end = arg;

    if (atomic_load(&end->gone))
        end->late = true;
    atomic_fetch_add(&end->events, 1);
    rt_waiters_poke();
}

static HcclResult
create(struct end *end, int side, const struct tp_address *peer, struct rt_fate *fate)
{
    struct res_channel_desc desc = {.key = "k",
                                    .side = side,
                                    .address = *peer,
                                    .fate = fate,
                                    .engine = COMM_ENGINE_CPU,
                                    .protocol = COMM_PROTOCOL_HCCS,
                                    .group = "g",
                                    .rank = (uint32_t)side,
                                    .peer = 1 - (uint32_t)side,
                                    .on_event = on_event,
                                    .event_arg = end};

    *end = (struct end){0};
    return res_channel_create(&desc, &end->handle);
}

static void
destroy(struct end *end)
{
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(end->handle));
    atomic_store(&end->gone, true);
}

/* As its owner should: a step when it is told that one is worth it. */
static HcclResult
settle(struct end *end)
{
    HcclResult rc;

    do {
        int seen = atomic_load(&end->events);

        rc = res_channel_try(end->handle);
        for (int i = 0; rc == HCCL_E_AGAIN && atomic_load(&end->events) == seen; i++) {
            EXPECT_TRUE(i < 300000); /* the event has not come */
            usleep(i < 1000 ? 0 : 100);
        }
    } while (rc == HCCL_E_AGAIN);
    return rc;
}

/* *why [256]: what it says. */
static bool
has_ended(struct end *end, char *why)
{
    struct res_channel *channel;
    bool ended;

    EXPECT_EQ(HCCL_SUCCESS, res_channel_hold(end->handle, &channel));
    ended = res_channel_ended(channel, why, 256);
    res_channel_release(channel);
    return ended;
}

static void
await_end(struct end *end, int before, char *why)
{
    for (int i = 0; atomic_load(&end->events) == before; i++) {
        EXPECT_TRUE(i < 300000);
        usleep(i < 1000 ? 0 : 100);
    }
    EXPECT_TRUE(has_ended(end, why));
}

static struct tp_address
here(void)
{
    return (struct tp_address){.process = hc_process_id()};
}

static void
pair_open(struct end ends[2], struct rt_fate *fate)
{
    struct tp_address address = here();

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, create(&ends[i], i, &address, fate));
}

static void
pair_close(struct end ends[2])
{
    destroy(&ends[0]);
    destroy(&ends[1]);
    EXPECT_FALSE(ends[0].late);
    EXPECT_FALSE(ends[1].late);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(a_try_succeeds_when_both_ends_are_connected)
{
    struct end ends[2];
    int seen;

    pair_open(ends, NULL);
    EXPECT_TRUE(atomic_load(&ends[0].events) > 0); /* the other end has come */
    seen = atomic_load(&ends[1].events);
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(ends[0].handle)); /* the other end has not looked */
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(ends[0].handle));
    EXPECT_TRUE(atomic_load(&ends[1].events) > seen);
    seen = atomic_load(&ends[0].events);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[1].handle));
    EXPECT_TRUE(atomic_load(&ends[0].events) > seen);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[0].handle));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[0].handle));
    pair_close(ends);
}

TEST(an_end_is_an_event_and_breaks_nothing)
{
    struct rt_fate *fate = rt_fate_create(NULL, NULL);
    char why[256] = "";
    struct end ends[2];
    int seen;

    pair_open(ends, fate);
    EXPECT_FALSE(has_ended(&ends[0], why));
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(ends[0].handle));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[1].handle));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[0].handle));
    EXPECT_FALSE(has_ended(&ends[0], why));
    seen = atomic_load(&ends[0].events);
    destroy(&ends[1]);
    await_end(&ends[0], seen, why);
    EXPECT_STREQ("rank 1 destroyed its end of the channel", why);
    EXPECT_FALSE(rt_fate_broken(fate, why, sizeof why));
    destroy(&ends[0]);
    EXPECT_FALSE(ends[0].late);
    EXPECT_FALSE(ends[1].late);
    EXPECT_FALSE(rt_fate_broken(fate, why, sizeof why));
    rt_fate_release(fate);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(the_reason_of_an_abort_is_told_at_both_ends)
{
    char why[256] = "";
    struct end ends[2];
    int seen;

    pair_open(ends, NULL);
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(ends[0].handle));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[1].handle));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[0].handle));
    seen = atomic_load(&ends[0].events);
    res_channel_abort(ends[1].handle, "no more");
    await_end(&ends[0], seen, why);
    EXPECT_STREQ("rank 1 gave up: no more", why);
    EXPECT_TRUE(has_ended(&ends[1], why));
    EXPECT_STREQ("no more", why);
    pair_close(ends);
}

TEST(an_abort_before_the_connection_is_a_failure_with_a_reason)
{
    char why[256] = "";
    struct end ends[2];
    int seen;

    pair_open(ends, NULL);
    seen = atomic_load(&ends[0].events);
    test_expect_error("cannot connect: rank 1 gave up: no more");
    res_channel_abort(ends[1].handle, "no more");
    EXPECT_TRUE(atomic_load(&ends[0].events) > seen);
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_try(ends[0].handle));
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_try(ends[0].handle));
    EXPECT_EQ(1, test_logged("cannot connect")); /* once */
    EXPECT_TRUE(has_ended(&ends[0], why));
    EXPECT_STREQ("rank 1 gave up: no more", why);
    EXPECT_EQ(HCCL_E_UNAVAIL, res_channel_try(ends[1].handle));
    EXPECT_TRUE(has_ended(&ends[1], why));
    EXPECT_STREQ("no more", why);
    pair_close(ends);
}

TEST(a_try_of_no_channel_is_an_error)
{
    struct tp_address address = here();
    struct end end;

    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_E_PTR, res_channel_try(0));
    EXPECT_EQ(HCCL_SUCCESS, create(&end, 0, &address, NULL));
    EXPECT_TRUE(res_channel_is_live(end.handle));
    destroy(&end);
    EXPECT_FALSE(res_channel_is_live(end.handle));
    EXPECT_FALSE(res_channel_is_live(0));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_channel_try(end.handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* ---- while somebody destroys it ---- */

static void *
use(void *arg)
{
    struct res_channel *channel = arg; /* held */
    char why[256];

    while (!res_channel_ended(channel, why, sizeof why))
        sched_yield();
    res_channel_lost(channel, why, sizeof why);
    res_channel_release(channel);
    return NULL;
}

/* Another thread finds out that it has ended, at the same time. */
TEST(no_event_comes_after_destroy)
{
    for (int round = 0; round < 200; round++) {
        struct res_channel *channel;
        struct end ends[2];
        pthread_t thread;

        pair_open(ends, NULL);
        EXPECT_EQ(HCCL_E_AGAIN, res_channel_try(ends[0].handle));
        EXPECT_EQ(HCCL_SUCCESS, res_channel_try(ends[1].handle));
        EXPECT_EQ(HCCL_SUCCESS, res_channel_hold(ends[0].handle, &channel));
        EXPECT_EQ(0, pthread_create(&thread, NULL, use, channel));
        destroy(&ends[round % 2]);
        destroy(&ends[1 - round % 2]);
        EXPECT_EQ(0, pthread_join(thread, NULL));
        EXPECT_FALSE(ends[0].late);
        EXPECT_FALSE(ends[1].late);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* ---- processes ---- */

struct common {
    atomic_int turn;
    struct tp_address address[2];
};

/* `known`: where the peer is. */
static void
open_here(int rank, struct common *common, bool known, struct end *end)
{
    struct tp_address nobody = {0};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, res_listen(&common->address[rank]));
    atomic_fetch_add(&common->turn, 1);
    procs_await(&common->turn, 2);
    EXPECT_EQ(HCCL_SUCCESS, create(end, rank, known ? &common->address[1 - rank] : &nobody, NULL));
}

static void
meet_and_part(int rank, void *shared, bool known)
{
    char why[256] = "";
    struct end end;

    open_here(rank, shared, known, &end);
    EXPECT_EQ(HCCL_SUCCESS, settle(&end));
    if (rank == 0) { /* at once: the other end is connected too */
        destroy(&end);
    } else {
        EXPECT_EQ(HCCL_SUCCESS, res_channel_try(end.handle));
        for (int i = 0; !has_ended(&end, why); i++) {
            EXPECT_TRUE(i < 300000);
            usleep(100);
        }
        EXPECT_STREQ("rank 0 destroyed its end of the channel", why);
        destroy(&end);
    }
    EXPECT_FALSE(end.late);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

static void
meet_at_an_address(int rank, void *shared)
{
    meet_and_part(rank, shared, true);
}

static void
meet_in_the_lobby(int rank, void *shared)
{
    meet_and_part(rank, shared, false);
}

static void
run(void (*fn)(int rank, void *shared))
{
    struct procs procs;

    procs_start(&procs, 2, fn, sizeof(struct common));
    procs_expect_success(&procs);
}

TEST(an_end_may_go_as_soon_as_its_try_succeeds)
{
    run(meet_at_an_address);
}

TEST(ends_that_meet_in_the_lobby_are_told_as_well)
{
    run(meet_in_the_lobby);
}

static void
be_killed_or_told(int rank, void *shared)
{
    struct common *common = shared;
    char why[256] = "";
    struct end end;
    int seen;

    open_here(rank, common, true, &end);
    EXPECT_EQ(HCCL_SUCCESS, settle(&end));
    seen = atomic_load(&end.events);
    atomic_fetch_add(&common->turn, 1);
    if (rank == 1)
        pause();
    await_end(&end, seen, why);
    EXPECT_CONTAINS("rank 1 died (process ", why);
    destroy(&end);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(the_death_of_the_peer_is_an_event)
{
    struct procs procs;
    struct common *common;

    procs_start(&procs, 2, be_killed_or_told, sizeof(struct common));
    common = procs.shared;
    procs_await(&common->turn, 4);
    procs_kill(&procs, 1);
    procs_expect_success(&procs);
}
