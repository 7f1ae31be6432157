/* SPDX-License-Identifier: BSD-3-Clause */
/* What users of such libraries report, as tests: orders, rings, signals, memory that comes back. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/ranks.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 300
#define REGIONS 500
#else
#define ROUNDS 10000
#define REGIONS 10000
#endif

/* ---- a ring of sixteen ---- */

#define RING 16u

static struct rank ring[RING];
static struct link to_next[RING], to_previous[RING];

/* One step of a rank: give the own number of the round to the next, take the previous one's. */
static void
queue_step(uint32_t at, uint64_t round)
{
    struct rank *rank = &ring[at];
    uint64_t *out = (uint64_t *)(void *)rank->buf, *in = out + 8;

    EXPECT_EQ(0, HcommLocalReduceOnThread(rank->thread, out, out + 16, 1, HCOMM_DATA_TYPE_UINT64,
                                          HCOMM_REDUCE_SUM));
    EXPECT_EQ(0, HcommWriteWithNotifyOnThread(rank->thread, to_next[at].channel,
                                              to_next[at].peer_buf + 64, out, 8, 0));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank->thread, to_previous[at].channel, 0, 60));
    if (round % 2 == 0) /* half of the time: what came must be what the round says */
        EXPECT_EQ(0, HcommLocalReduceOnThread(rank->thread, out + 24, in, 1, HCOMM_DATA_TYPE_UINT64,
                                              HCOMM_REDUCE_SUM));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(rank->thread, to_previous[at].channel, 1));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank->thread, to_next[at].channel, 1, 60));
}

TEST(a_ring_of_sixteen_ends_with_the_right_data)
{
    test_time_limit(120);
    setenv("HCOMM_DEVICE_COUNT", "16", 1);
    ranks_open(ring, RING, COMM_ENGINE_AICPU_TS);
    for (uint32_t i = 0; i < RING; i++) {
        uint32_t next = (i + 1) % RING;

        link_ranks(&ring[i], &ring[next], COMM_ENGINE_AICPU_TS, &to_next[i], &to_previous[next]);
        memset(ring[i].buf, 0, 256);
        *(uint64_t *)(void *)(ring[i].buf + 128) = i + 1; /* each round adds it */
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < RING; i++)
            queue_step(i, round);
        if (round % 100 == 0)
            EXPECT_EQ(0, aclrtSynchronizeStream(ring[round % RING].stream));
    }
    for (uint32_t i = 0; i < RING; i++) {
        uint64_t step = (i + RING - 1) % RING + 1, half = ROUNDS / 2;

        EXPECT_EQ(0, aclrtSynchronizeStream(ring[i].stream));
        EXPECT_EQ(step * ROUNDS, *(uint64_t *)(void *)(ring[i].buf + 64));
        EXPECT_EQ(step * half * (half + 1), *(uint64_t *)(void *)(ring[i].buf + 192));
    }
    ranks_close(ring, RING);
}

/* ---- five messages on one stream, taken by two ---- */

TEST(messages_of_one_stream_are_taken_in_order_by_two)
{
    struct rank ranks[2];
    struct link links[2];
    ThreadHandle takers[2];
    aclrtStream streams[2];

    ranks_open(ranks, 2, COMM_ENGINE_CPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_CPU_TS, &links[0], &links[1]);
    EXPECT_EQ(0, HcclThreadAcquire(ranks[1].comm, COMM_ENGINE_CPU_TS, 2, 1, takers));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcclThreadResGetInfo(ranks[1].comm, takers[i], THREAD_RES_TYPE_STREAM,
                                          sizeof streams[i], (void **)&streams[i]));
    for (int i = 0; i < 5; i++) {
        ThreadHandle taker = takers[i % 2], other = takers[(i + 1) % 2];
        char *place = ranks[1].buf + 4096 + 8 * i;

        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(taker, links[1].channel, 0, 30));
        EXPECT_EQ(0, HcommLocalCopyOnThread(taker, place, ranks[1].buf, 8));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(taker, links[1].channel, 1));
        EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(taker, other, 0)); /* the other's turn */
        EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(other, 0, 30));
    }
    for (uint64_t i = 0; i < 5; i++) {
        ((uint64_t *)(void *)ranks[0].buf)[i] = 100 + i;
        EXPECT_EQ(0, HcommWriteWithNotifyOnThread(ranks[0].thread, links[0].channel,
                                                  links[0].peer_buf, ranks[0].buf + 8 * i, 8, 0));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, links[0].channel, 1, 30));
    }
    EXPECT_EQ(0, aclrtSynchronizeStream(ranks[0].stream));
    EXPECT_EQ(0, aclrtSynchronizeStream(streams[0]));
    EXPECT_EQ(0, aclrtSynchronizeStream(streams[1]));
    for (uint64_t i = 0; i < 5; i++)
        EXPECT_EQ(100 + i, ((uint64_t *)(void *)(ranks[1].buf + 4096))[i]);
    ranks_close(ranks, 2);
}

/* ---- memory that is unregistered, freed, and mapped again ---- */

static EndpointHandle
open_endpoint(const char *address)
{
    EndpointHandle endpoint = NULL;
    EndpointDesc desc;

    EXPECT_EQ(0, EndpointDescInit(&desc, 1));
    desc.protocol = COMM_PROTOCOL_ROCE;
    desc.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    desc.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    EXPECT_EQ(1, inet_pton(AF_INET, address, &desc.commAddr.addr));
    EXPECT_EQ(0, HcommEndpointCreate(&desc, &endpoint));
    return endpoint;
}

/* Memory at a fixed place, so that the second life has the address of the first. */
static char *
map_at(void *place, int value)
{
    char *at = mmap(place, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | (place == NULL ? 0 : MAP_FIXED), -1, 0);

    EXPECT_TRUE(at != MAP_FAILED);
    memset(at, value, 4096);
    return at;
}

static ChannelHandle
start_channel(EndpointHandle endpoint, const char *peer)
{
    ChannelHandle channel = 0;
    HcommChannelDesc desc;

    EXPECT_EQ(0, HcommChannelDescInit(&desc, 1));
    desc.remoteEndpoint.protocol = COMM_PROTOCOL_ROCE;
    desc.remoteEndpoint.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    desc.remoteEndpoint.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    EXPECT_EQ(1, inet_pton(AF_INET, peer, &desc.remoteEndpoint.commAddr.addr));
    desc.notifyNum = 1;
    desc.exchangeAllMems = true;
    EXPECT_EQ(0, HcommChannelCreate(endpoint, COMM_ENGINE_CPU, &desc, 1, &channel));
    return channel;
}

static void
wait_ready(const ChannelHandle *channels)
{
    int32_t status[2] = {1, 1};

    for (int tries = 0; tries < 10000 && (status[0] != 0 || status[1] != 0); tries++) {
        usleep(1000);
        (void)HcommChannelGetStatus(channels, 2, status);
    }
    EXPECT_EQ(0, status[0]);
    EXPECT_EQ(0, status[1]);
}

TEST(a_peer_reads_what_is_registered_now_and_not_what_was)
{
    EndpointHandle owner, reader;
    char *place = map_at(NULL, 1), copy = 0;
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = place, .size = 4096};
    HcommMemHandle handle = NULL;
    ChannelHandle channels[2];

    EXPECT_EQ(0, aclrtSetDevice(0));
    owner = open_endpoint("127.0.0.1");
    reader = open_endpoint("127.0.0.2");
    EXPECT_EQ(0, HcommMemReg(owner, "first", &mem, &handle));
    channels[0] = start_channel(owner, "127.0.0.2");
    channels[1] = start_channel(reader, "127.0.0.1");
    wait_ready(channels);
    EXPECT_EQ(0, HcommReadNbi(channels[1], &copy, place + 100, 1));
    EXPECT_EQ(0, HcommChannelFence(channels[1]));
    EXPECT_EQ(1, copy);

    EXPECT_EQ(0, HcommMemUnreg(owner, handle)); /* while the channel is still there */
    (void)map_at(place, 2);
    copy = 0;
    test_expect_error("has been unregistered");
    EXPECT_NE(0, HcommReadNbi(channels[1], &copy, place + 100, 1));
    EXPECT_EQ(0, copy);
    EXPECT_EQ(0, HcommChannelDestroy(channels, 2));

    EXPECT_EQ(0, HcommMemReg(owner, "second", &mem, &handle));
    channels[0] = start_channel(owner, "127.0.0.2");
    channels[1] = start_channel(reader, "127.0.0.1");
    wait_ready(channels);
    EXPECT_EQ(0, HcommReadNbi(channels[1], &copy, place + 100, 1));
    EXPECT_EQ(0, HcommChannelFence(channels[1]));
    EXPECT_EQ(2, copy);
    EXPECT_EQ(0, HcommChannelDestroy(channels, 2));
    EXPECT_EQ(0, HcommMemUnreg(owner, handle));
    EXPECT_EQ(0, HcommEndpointDestroy(owner));
    EXPECT_EQ(0, HcommEndpointDestroy(reader));
    munmap(place, 4096);
    EXPECT_EQ(0, aclrtResetDevice(0));
}

/* ---- signals ---- */

static atomic_int ticks;

static void
on_tick(int number)
{
    (void)number;
    atomic_fetch_add(&ticks, 1);
}

/* SIGALRM a thousand times a second, and no system call is restarted. (The test's own time limit
 * uses it too: it is given up.) */
static void
start_ticking(void)
{
    const struct itimerval every_ms = {{0, 1000}, {0, 1000}};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    EXPECT_EQ(0, sigaction(SIGALRM, &action, NULL));
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &every_ms, NULL));
}

TEST(signals_interrupt_neither_init_nor_transfers)
{
    struct rank ranks[2];
    struct link links[2];
    const uint64_t len = 8u << 20;
    uint64_t deadline = hc_deadline_ms(2000);

    start_ticking();
    while (hc_now_ns() < deadline) {
        ranks_open(ranks, 2, COMM_ENGINE_AICPU_TS);
        link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_AICPU_TS, &links[0], &links[1]);
        for (int i = 1; i <= 5; i++) {
            memset(ranks[0].buf, i, len);
            EXPECT_EQ(0, HcommWriteWithNotifyOnThread(ranks[0].thread, links[0].channel,
                                                      links[0].peer_buf, ranks[0].buf, len, 0));
            EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[1].thread, links[1].channel, 0, 30));
            sync_two(&ranks[0], &ranks[1]);
            EXPECT_MEMEQ(ranks[0].buf, ranks[1].buf, len);
        }
        ranks_close(ranks, 2);
    }
    setitimer(ITIMER_REAL, &(const struct itimerval){{0, 0}, {0, 0}}, NULL);
    EXPECT_TRUE(atomic_load(&ticks) > 100);
}

/* ---- ten thousand registrations ---- */

static uint64_t
register_round(EndpointHandle endpoint, char *memory, HcommMemHandle *handles)
{
    uint64_t start = hc_now_ns();

    for (int i = 0; i < REGIONS; i++) {
        const CommMem mem = {
            .type = COMM_MEM_TYPE_HOST, .addr = memory + 200000 * (uint64_t)i, .size = 200000};

        EXPECT_EQ(0, HcommMemReg(endpoint, "many", &mem, &handles[i]));
    }
    for (int i = 0; i < REGIONS; i++)
        EXPECT_EQ(0, HcommMemUnreg(endpoint, handles[i]));
    return hc_now_ns() - start;
}

TEST(ten_thousand_registrations_take_the_same_time_every_round)
{
    static HcommMemHandle handles[REGIONS];
    EndpointHandle endpoint;
    char *memory = mmap(NULL, 200000ull * REGIONS, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t early = UINT64_MAX, late = UINT64_MAX;

    EXPECT_TRUE(memory != MAP_FAILED);
    EXPECT_EQ(0, aclrtSetDevice(0));
    endpoint = open_endpoint("127.0.0.1");
    for (int round = 0; round < 100; round++) {
        uint64_t took = register_round(endpoint, memory, handles);

        if (round < 10)
            early = took < early ? took : early;
        if (round >= 90)
            late = took < late ? took : late;
    }
    printf("best of the first ten rounds %lu us, of the last ten %lu us\n",
           (unsigned long)(early / 1000), (unsigned long)(late / 1000));
    EXPECT_TRUE(late < 3 * early);
    munmap(memory, 200000ull * REGIONS);
    EXPECT_EQ(0, HcommEndpointDestroy(endpoint));
    EXPECT_EQ(0, aclrtResetDevice(0));
}
