/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "resource/channel.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/process.h"
#include "tests/support/test.h"

static struct res_channel_desc
end_of(int side)
{
    return (struct res_channel_desc){.key = "k",
                                     .side = side,
                                     .address = {.process = hc_process_id()},
                                     .engine = COMM_ENGINE_AICPU_TS,
                                     .protocol = COMM_PROTOCOL_HCCS,
                                     .notify_num = 2,
                                     .group = "g",
                                     .rank = side == 0 ? 3 : 5,
                                     .peer = side == 0 ? 5 : 3,
                                     .device = side};
}

static void
start(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
}

static void
stop(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

static void
create_pair(const struct res_channel_desc *a, const struct res_channel_desc *b, ChannelHandle *pair)
{
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(a, &pair[0]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(b, &pair[1]));
}

static void
destroy_pair(const ChannelHandle *pair)
{
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1]));
}

static struct res_channel *
hold(ChannelHandle handle)
{
    struct res_channel *channel = NULL;

    EXPECT_EQ(HCCL_SUCCESS, res_channel_hold(handle, &channel));
    return channel;
}

static HcclResult
reach(struct res_channel *channel, const void *addr, uint64_t len)
{
    struct res_right right;

    return res_channel_reach(channel, addr, len, &right);
}

TEST(status_goes_from_connecting_to_ready)
{
    struct res_channel_desc a = end_of(0), b = end_of(1);
    ChannelHandle pair[2];
    int32_t status = 9;

    start();
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&a, &pair[0]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_status(pair[0], &status));
    EXPECT_EQ(1, status);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&b, &pair[1]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_status(pair[0], &status));
    EXPECT_EQ(0, status);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_status(pair[1], &status));
    EXPECT_EQ(0, status);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(pair, 2, 0));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(pair, 2, -1));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(NULL, 0, -1));
    destroy_pair(pair);
    stop();
}

TEST(each_end_sees_the_regions_and_the_info_of_the_other)
{
    static char memory[64];
    struct res_region regions[2] = {
        {.mem = {.type = COMM_MEM_TYPE_DEVICE, .addr = memory, .size = 16}, .tag = "first"},
        {.mem = {.type = COMM_MEM_TYPE_HOST, .addr = memory + 32, .size = 32}}};
    struct res_channel_desc a = end_of(0), b = end_of(1);
    const struct res_region *seen;
    struct res_channel *channel;
    ChannelHandle pair[2];
    const void *info;
    uint32_t num, len;

    start();
    b.regions = regions;
    b.region_num = 2;
    b.info = "info";
    b.info_len = 4;
    create_pair(&a, &b, pair);
    channel = hold(pair[0]);
    res_channel_take_info(channel, &info, &len);
    EXPECT_EQ(0, len); /* not connected yet */
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(pair, 2, 1000));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_remote(channel, &seen, &num));
    EXPECT_EQ(2, num);
    EXPECT_STREQ("first", seen[0].tag);
    EXPECT_TRUE(seen[0].mem.addr == memory);
    EXPECT_EQ(16, seen[0].mem.size);
    EXPECT_EQ(COMM_MEM_TYPE_HOST, seen[1].mem.type);
    EXPECT_STREQ("", seen[1].tag);
    res_channel_take_info(channel, &info, &len);
    EXPECT_EQ(4, len);
    EXPECT_MEMEQ("info", info, 4);
    res_channel_take_info(channel, &info, &len);
    EXPECT_EQ(0, len); /* once */
    EXPECT_EQ(5, res_channel_peer(channel));
    EXPECT_EQ(COMM_PROTOCOL_HCCS, res_channel_protocol(channel));
    res_channel_release(channel);
    channel = hold(pair[1]);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_remote(channel, &seen, &num));
    EXPECT_EQ(0, num);
    res_channel_release(channel);
    destroy_pair(pair);
    stop();
}

TEST(only_what_the_peer_offers_is_in_reach)
{
    char *base = (char *)(uintptr_t)0x10000;
    struct res_region region = {.mem = {.type = COMM_MEM_TYPE_HOST, .addr = base, .size = 100},
                                .tag = "buf"};
    struct res_channel_desc a = end_of(0), b = end_of(1);
    struct res_channel *channel;
    ChannelHandle pair[2];

    start();
    b.regions = &region;
    b.region_num = 1;
    create_pair(&a, &b, pair);
    channel = hold(pair[0]);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_ready(channel));
    EXPECT_EQ(HCCL_SUCCESS, reach(channel, base, 100));
    EXPECT_EQ(HCCL_SUCCESS, reach(channel, base + 99, 1));
    EXPECT_EQ(HCCL_SUCCESS, reach(channel, base + 100, 0));
    test_expect_error(
        "101 bytes at 0x10000 are not inside one of the 1 regions that rank 5 offers; the "
        "nearest has 100 bytes at 0x10000 (tag \"buf\")");
    EXPECT_EQ(HCCL_E_PARA, reach(channel, base, 101));
    test_expect_error("1 bytes at 0xffff ");
    EXPECT_EQ(HCCL_E_PARA, reach(channel, base - 1, 1));
    test_expect_error("18446744073709551615 bytes at 0x10001 ");
    EXPECT_EQ(HCCL_E_PARA, reach(channel, base + 1, UINT64_MAX));
    res_channel_release(channel);
    channel = hold(pair[1]);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_ready(channel));
    test_expect_error("rank 3 offers no memory on this channel");
    EXPECT_EQ(HCCL_E_PARA, reach(channel, base, 1));
    res_channel_release(channel);
    destroy_pair(pair);
    stop();
}

TEST(the_two_ends_may_have_different_numbers_of_notifies)
{
    struct res_channel_desc a = end_of(0), b = end_of(1);
    struct res_channel *channel;
    ChannelHandle pair[2];

    start();
    a.notify_num = 0;
    b.notify_num = 3;
    create_pair(&a, &b, pair);
    channel = hold(pair[0]);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_ready(channel));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_peer_notify(channel, 2));
    test_expect_error(
        "notify 3 does not exist: the other end of the channel of rank 3 of g to rank 5 "
        "has 3");
    EXPECT_EQ(HCCL_E_PARA, res_channel_peer_notify(channel, 3));
    test_expect_error(
        "notify 0 does not exist: this end of the channel of rank 3 of g to rank 5 has 0");
    EXPECT_NULL(res_channel_notify(channel, 0));
    res_channel_release(channel);
    destroy_pair(pair);
    stop();
}

TEST(a_protocol_mismatch_fails_both_ends_and_names_both)
{
    struct res_channel_desc a = end_of(0), b = end_of(1);
    struct res_channel *channel;
    ChannelHandle pair[2];
    int32_t status;

    start();
    b.protocol = COMM_PROTOCOL_ROCE;
    create_pair(&a, &b, pair);
    test_expect_error("protocol HCCS at this end, RoCE at the other");
    EXPECT_EQ(HCCL_E_PARA, res_channel_wait(pair, 1, 1000));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_status(pair[0], &status));
    EXPECT_EQ(2, status);
    test_expect_error("protocol RoCE at this end, HCCS at the other");
    EXPECT_EQ(HCCL_SUCCESS, res_channel_status(pair[1], &status));
    EXPECT_EQ(2, status);
    channel = hold(pair[0]);
    test_expect_error("failed to connect");
    EXPECT_EQ(HCCL_E_UNAVAIL, res_channel_ready(channel));
    res_channel_release(channel);
    destroy_pair(pair);
    stop();
}

TEST(a_timeout_names_who_is_missing)
{
    ChannelHandle handles[12];
    struct res_channel *channel;
    char key[16];

    start();
    for (uint32_t i = 0; i < 12; i++) {
        struct res_channel_desc desc = end_of(0);

        snprintf(key, sizeof key, "k%u", i);
        desc.key = key;
        desc.peer = 10 + i;
        EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&desc, &handles[i]));
    }
    test_expect_error("rank 3 of g waited 0.03 s for rank 10, rank 11, rank 12, rank 13, rank 14, "
                      "rank 15, rank 16, rank 17 and 4 more to create the other end");
    EXPECT_EQ(HCCL_E_TIMEOUT, res_channel_wait(handles, 12, 30));
    channel = hold(handles[0]);
    test_expect_error("is not connected yet");
    EXPECT_EQ(HCCL_E_AGAIN, res_channel_ready(channel));
    res_channel_release(channel);
    for (int i = 0; i < 12; i++)
        EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(handles[i]));
    stop();
}

static void *
create_later(void *out)
{
    struct res_channel_desc b = end_of(1);

    usleep(50000);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&b, out));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(out, 1, 10000));
    return NULL;
}

static void *
wait_too(void *handle)
{
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(handle, 1, 10000));
    return NULL;
}

/* Two threads wait for one channel: whoever sees the change first, both go on. */
TEST(waiters_sleep_until_the_peer_comes)
{
    struct res_channel_desc a = end_of(0);
    pthread_t later, other;
    ChannelHandle pair[2];
    uint64_t began;

    start();
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&a, &pair[0]));
    EXPECT_EQ(0, pthread_create(&later, NULL, create_later, &pair[1]));
    EXPECT_EQ(0, pthread_create(&other, NULL, wait_too, &pair[0]));
    began = hc_now_ns();
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(pair, 1, 10000));
    pthread_join(later, NULL);
    pthread_join(other, NULL);
    EXPECT_TRUE(hc_now_ns() - began < 5000000000u);
    destroy_pair(pair);
    stop();
}

TEST(a_wait_fails_when_the_peer_gives_up)
{
    struct res_channel_desc a = end_of(0), b = end_of(1);
    ChannelHandle pair[2];

    start();
    create_pair(&a, &b, pair);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1]));
    test_expect_error("cannot connect: rank 5 destroyed its end of the channel");
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_wait(pair, 1, -1));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0]));
    stop();
}

/* ---- the end of a connection ---- */

struct broken {
    int times;
    char why[256];
};

static void
on_break(void *arg, const char *why)
{
    struct broken *broken = arg;

    broken->times++;
    snprintf(broken->why, sizeof broken->why, "%s", why);
}

/* A pair of which the first end has a fate. */
static struct rt_fate *
create_fated(struct broken *broken, ChannelHandle *pair)
{
    struct res_channel_desc a = end_of(0), b = end_of(1);
    struct rt_fate *fate = rt_fate_create(on_break, broken);

    EXPECT_NOT_NULL(fate);
    a.fate = fate;
    create_pair(&a, &b, pair);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(pair, 2, 1000));
    return fate;
}

static void
drop_fate(struct rt_fate *fate)
{
    rt_fate_disown(fate);
    rt_fate_release(fate);
}

TEST(a_wait_for_an_end_that_was_destroyed_fails_once_its_records_are_used_up)
{
    struct broken broken = {0};
    struct res_channel *channel, *peer;
    ChannelHandle pair[2];
    struct rt_fate *fate;

    start();
    fate = create_fated(&broken, pair);
    channel = hold(pair[0]);
    peer = hold(pair[1]);
    EXPECT_EQ(HCCL_SUCCESS, peer->conn->ops->notify(peer->conn, 1));
    res_channel_release(peer);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1]));
    EXPECT_EQ(0, broken.times); /* nobody has waited in vain */
    EXPECT_EQ(HCCL_SUCCESS, res_channel_await(channel, 1, 5));
    test_expect_error("will not be recorded: rank 5 destroyed its end of the channel");
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_await(channel, 1, 5));
    EXPECT_EQ(1, broken.times);
    EXPECT_STREQ("rank 5 destroyed its end of the channel", broken.why);
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_await(channel, 0, 5));
    EXPECT_EQ(1, broken.times);
    res_channel_release(channel);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0]));
    drop_fate(fate);
    stop();
}

static void *
await_in_vain(void *arg)
{
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_await(arg, 0, 30));
    return NULL;
}

TEST(an_end_that_is_destroyed_wakes_who_waits_for_it)
{
    struct broken broken = {0};
    struct res_channel *channel;
    ChannelHandle pair[2];
    struct rt_fate *fate;
    pthread_t waiter;

    start();
    fate = create_fated(&broken, pair);
    channel = hold(pair[0]);
    test_expect_error("rank 5 destroyed its end of the channel");
    EXPECT_EQ(0, pthread_create(&waiter, NULL, await_in_vain, channel));
    usleep(50000);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1]));
    EXPECT_EQ(0, pthread_join(waiter, NULL));
    res_channel_release(channel);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0]));
    drop_fate(fate);
    stop();
}

TEST(an_end_that_gives_up_tells_the_other_why)
{
    struct broken broken = {0};
    struct res_channel *channel;
    char why[256];
    ChannelHandle pair[2];
    struct rt_fate *fate;

    start();
    fate = create_fated(&broken, pair);
    channel = hold(pair[0]);
    EXPECT_FALSE(res_channel_peer_gone(pair[0], why, sizeof why));
    res_channel_abort(pair[1], "rank 7 gave up: rank 9 died\n");
    EXPECT_TRUE(res_channel_peer_gone(pair[0], why, sizeof why));
    EXPECT_STREQ("rank 5 gave up: rank 9 died?",
                 why); /* on one line, the way in between left out */
    test_expect_error("rank 9 died?");
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_await(channel, 0, 5));
    EXPECT_STREQ(why, broken.why);
    res_channel_abort(pair[1], "again");
    res_channel_release(channel);
    channel = hold(pair[1]);
    test_expect_error("will not be recorded: rank 7 gave up: rank 9 died");
    EXPECT_EQ(HCCL_E_REMOTE, res_channel_await(channel, 0, 5));
    res_channel_release(channel);
    destroy_pair(pair);
    res_channel_abort(pair[1], "nobody is there");
    drop_fate(fate);
    stop();
}

TEST(an_abort_ends_a_wait_for_the_connection)
{
    struct res_channel_desc a = end_of(0);
    ChannelHandle handle;

    start();
    a.address.process = 0; /* in the lobby */
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&a, &handle));
    res_channel_abort(handle, "it is no use");
    EXPECT_EQ(HCCL_E_UNAVAIL, res_channel_wait(&handle, 1, 60000));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(handle));
    stop();
}

TEST(a_transfer_that_finds_the_end_breaks_the_fate)
{
    struct broken broken = {0};
    struct res_channel *channel;
    char why[256];
    ChannelHandle pair[2];
    struct rt_fate *fate;

    start();
    fate = create_fated(&broken, pair);
    channel = hold(pair[0]);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1]));
    res_channel_lost(channel, why, sizeof why);
    EXPECT_STREQ("rank 5 destroyed its end of the channel", why);
    EXPECT_EQ(1, broken.times);
    res_channel_release(channel);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0]));
    drop_fate(fate);
    stop();
}

/* ---- handles ---- */

TEST(a_handle_that_is_no_channel_is_found_out)
{
    struct res_channel_desc a = end_of(0);
    ChannelHandle handle, bad[2];
    int32_t status;

    start();
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&a, &handle));
    bad[0] = handle;
    bad[1] = 0x1234;
    test_expect_error("no handle at all");
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_channel_wait(bad, 2, 10));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(handle));
    test_expect_error("already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_channel_destroy(handle));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_channel_status(handle, &status));
    test_expect_error("channel handle is 0");
    EXPECT_EQ(HCCL_E_PTR, res_channel_destroy(0));
    stop();
}

TEST(channel_create_survives_every_failed_allocation)
{
    struct res_region region = {.mem = {.type = COMM_MEM_TYPE_HOST, .addr = &region, .size = 8}};
    struct res_channel_desc a = end_of(0);
    long nth = 0, live;
    HcclResult rc;

    start();
    test_allow_errors();
    a.regions = &region;
    a.region_num = 1;
    live = hc_alloc_live();
    do {
        ChannelHandle handle = 0;

        hc_alloc_fail_nth(nth++);
        rc = res_channel_create(&a, &handle);
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(rc == HCCL_SUCCESS, handle != 0);
        if (rc == HCCL_SUCCESS)
            EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(handle));
        EXPECT_EQ(live, hc_alloc_live());
    } while (rc != HCCL_SUCCESS && nth < 100);
    EXPECT_EQ(HCCL_SUCCESS, rc);
    EXPECT_TRUE(nth > 10);
    stop();
}

/* ---- terms ---- */

/* Both ends, with these terms; what is logged must contain `said` if they differ. */
static void
meet_on(const char *own, const char *theirs, const char *said)
{
    struct res_channel_desc a = end_of(0), b = end_of(1);
    ChannelHandle pair[2];

    a.terms = own;
    b.terms = theirs;
    if (said != NULL)
        test_expect_error(said);
    create_pair(&a, &b, pair);
    if (said == NULL) {
        EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(pair, 2, 10000));
    } else {
        EXPECT_EQ(HCCL_E_PARA, res_channel_wait(&pair[0], 1, 10000));
        EXPECT_EQ(HCCL_E_REMOTE, res_channel_wait(&pair[1], 1, 10000));
    }
    destroy_pair(pair);
}

TEST(ends_with_equal_terms_connect)
{
    start();
    meet_on("Ann\ncolour red\nsize 5", "Bob\ncolour red\nsize 5", NULL);
    meet_on("", NULL, NULL);
    meet_on("Ann", NULL, NULL);
    stop();
}

TEST(ends_with_different_terms_say_what_differs)
{
    start();
    test_expect_error("rank 3 gave up: Ann says");
    meet_on("Ann\ncolour red\nsize 5", "Bob\ncolour red\nsize 6",
            "Ann says \"size 5\", Bob says \"size 6\"");
    meet_on("Ann\ncolour red", NULL, "Ann says \"colour red\", rank 5 says \"\"");
    meet_on(NULL, "Bob\na", "rank 3 of g says \"\", Bob says \"a\"");
    meet_on("Ann\na", "Bob\na\nb", "Ann says \"\", Bob says \"b\"");
    meet_on("Ann\na", "Bob\na\n", "Ann says \"\", Bob says \"\"");
    meet_on("Ann\na", "Bob\na\33[31m", "Bob says \"a?[31m\"");
    stop();
}

/* ---- what is told ---- */

TEST(what_is_told_is_read_back)
{
    struct res_region regions[2] = {
        {.mem = {.type = COMM_MEM_TYPE_HOST, .addr = (void *)8, .size = 16}, .tag = "t"},
        {.mem = {.type = COMM_MEM_TYPE_DEVICE, .addr = NULL, .size = UINT64_MAX}}};
    struct res_hello hello = {.engine = COMM_ENGINE_CPU,
                              .protocol = COMM_PROTOCOL_UBOE,
                              .notify_num = 9,
                              .regions = regions,
                              .region_num = 2,
                              .info = "xyz",
                              .info_len = 3,
                              .terms = "one\ntwo"};
    struct res_hello back;
    void *text = NULL;
    uint32_t len;

    EXPECT_EQ(HCCL_SUCCESS, res_hello_write(&hello, &text, &len));
    EXPECT_EQ(HCCL_SUCCESS, res_hello_parse(text, len, "rank 1", &back));
    EXPECT_EQ(COMM_PROTOCOL_UBOE, back.protocol);
    EXPECT_EQ(9, back.notify_num);
    EXPECT_EQ(2, back.region_num);
    EXPECT_MEMEQ(regions[0].tag, back.regions[0].tag, sizeof regions[0].tag);
    EXPECT_EQ(UINT64_MAX, back.regions[1].mem.size);
    EXPECT_EQ(3, back.info_len);
    EXPECT_MEMEQ("xyz", back.info, 3);
    EXPECT_STREQ("one\ntwo", back.terms);
    res_hello_fini(&back);
    hc_free(text);
}

/* Cut anywhere or changed anywhere, it is refused or harmless; the sanitizers watch. */
TEST(a_malformed_description_is_refused)
{
    struct res_region region = {.mem = {.type = COMM_MEM_TYPE_HOST, .addr = (void *)8, .size = 16},
                                .tag = "tag"};
    struct res_hello hello = {
        .regions = &region, .region_num = 1, .info = "xyz", .info_len = 3, .terms = "abc"};
    void *text = NULL;
    uint32_t len;

    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, res_hello_write(&hello, &text, &len));
    for (uint32_t cut = 0; cut < len; cut++) {
        struct res_hello back;
        uint8_t *part = hc_zalloc(cut);

        memcpy(part, text, cut);
        EXPECT_EQ(HCCL_E_INTERNAL, res_hello_parse(part, cut, "rank 1", &back));
        hc_free(part);
    }
    for (uint32_t at = 0; at < len; at++) {
        struct res_hello back;
        uint8_t *bytes = text;

        for (int bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1 << bit);
            if (res_hello_parse(text, len, "rank 1", &back) == HCCL_SUCCESS)
                res_hello_fini(&back);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
    }
    hc_free(text);
}
