/* SPDX-License-Identifier: BSD-3-Clause */
/* Point to point between processes, and what surrounds them: signals, children, memory, knobs. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/support/two_sided.h"

/* ---- signals ---- */

static atomic_int alarms;

static void
on_alarm(int signal)
{
    (void)signal;
    atomic_fetch_add(&alarms, 1);
}

static void
under_alarms(struct side *side)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    struct itimerval every = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    uint8_t *memory = malloc(1000000);
    aclrtStream stream;

    OK(sigaction(SIGALRM, &action, NULL));
    OK(setitimer(ITIMER_REAL, &every, NULL));
    OK(aclrtCreateStream(&stream));
    for (uint64_t i = 0; i < 300 || atomic_load(&alarms) < 50; i++) {
        static const uint64_t lens[] = {8, 8192, 1000000, 100000, 0};
        uint64_t len = lens[i % 5];
        aclrtStream how = i % 3 == 0 ? stream : INLINE;
        uint8_t more = 1;

        if (side->rank == 0) {
            fill(memory, len, i);
            OK(settle(how, HcommSend(memory, len, BYTES, 1, 1, side->comm, how)));
            OK(recv_from(side, &more, 1, 1, 2));
        } else {
            OK(settle(how, HcommRecv(memory, len, BYTES, 0, 1, NULL, side->comm, how)));
            MUST(is_filled(memory, len, i));
            more = i + 1 < 300 || atomic_load(&alarms) < 50;
            usleep(i % 10 == 0 ? 3000 : 0); /* so that the other one sleeps too */
            OK(send_to(side, &more, 1, 0, 2));
        }
        if (more == 0)
            break;
    }
    every = (struct itimerval){0};
    OK(setitimer(ITIMER_REAL, &every, NULL));
    OK(aclrtDestroyStream(stream));
    free(memory);
}

TEST(alarms_a_thousand_times_a_second_disturb_no_message)
{
    sides_in_processes(2, under_alarms);
}

/* ---- children ---- */

static void
with_children(struct side *side)
{
    uint8_t *memory = malloc(300000);

    test_allow_errors(); /* of the child */
    for (uint64_t i = 0; i < 6; i++) {
        pid_t child;
        int status = 0;

        if (side->rank == 0) {
            fill(memory, 300000, i);
            OK(send_to(side, memory, 300000, 1, 1));
            OK(send_to(side, memory, 100, 1, 1));
        } else {
            OK(recv_from(side, memory, 300000, 0, 1));
            MUST(is_filled(memory, 300000, i));
            OK(recv_from(side, memory, 100, 0, 1));
        }
        if (i % 2 == 0) {
            OK(system("true"));
            continue;
        }
        child = fork();
        if (child == 0) { /* it gets an error, and harms nobody */
            uint32_t found;
            bool good = send_to(side, memory, 100, 1 - side->rank, 1) == HCCL_E_INTERNAL &&
                        send_to(side, memory, 300000, 1 - side->rank, 1) == HCCL_E_INTERNAL &&
                        recv_from(side, memory, 100, 1 - side->rank, 1) == HCCL_E_INTERNAL &&
                        HcommProbe(1 - side->rank, 1, side->comm, &found, NULL) == HCCL_E_INTERNAL;

            _exit(good ? 0 : 1);
        }
        MUST_EQ(child, waitpid(child, &status, 0));
        MUST_EQ(0, status);
    }
    handshake(side, 1 - side->rank);
    free(memory);
}

TEST(children_between_messages_do_no_harm)
{
    sides_in_processes(2, with_children);
}

/* ---- a slow receiver ---- */

static long
resident_mib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    MUST(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

/* The sender is far ahead of a receiver that looks now and then (which is when a rank takes what
 * came): it waits, and neither side's memory grows beyond the limit. */
static void
far_ahead(struct side *side, uint64_t num, uint64_t len)
{
    uint8_t *memory = calloc(1, len);
    uint64_t count = 0;
    long before;
    uint32_t found = 0;

    handshake(side, 1 - side->rank);
    before = resident_mib();
    if (side->rank == 0) {
        for (uint64_t i = 0; i < num; i++) {
            memcpy(memory, &i, 8);
            OK(send_to(side, memory, len, 1, 1));
            atomic_store(&side->shared->words[0], i + 1);
        }
        MUST(SIDES_SLOW || resident_mib() < before + 24);
    } else {
        while (count < num && found < 400) { /* it only looks, until nothing moves any more */
            uint64_t sent = atomic_load(&side->shared->words[0]);
            uint32_t there;

            OK(HcommProbe(0, 2, side->comm, &there, NULL));
            usleep(1000);
            found = atomic_load(&side->shared->words[0]) == sent ? found + 1 : 0;
        }
        MUST(atomic_load(&side->shared->words[0]) < num); /* it waits */
        MUST(SIDES_SLOW || resident_mib() < before + 24);
        for (; count < num; count++) {
            uint64_t value = 0;

            OK(recv_from(side, memory, len, 0, 1));
            memcpy(&value, memory, 8);
            MUST_EQ(count, value);
        }
        MUST(SIDES_SLOW || resident_mib() < before + 24);
    }
    free(memory);
}

static void
many_small(struct side *side)
{
    far_ahead(side, SIDES_SLOW ? 100000 : 1000000, 8);
}

static void
many_eager(struct side *side)
{
    far_ahead(side, SIDES_SLOW ? 2000 : 50000, 8192);
}

TEST(a_million_small_messages_wait_for_a_slow_receiver)
{
    setenv("HCOMM_P2P_UNEXPECTED", "4", 1);
    sides_in_processes(2, many_small);
}

TEST(eager_messages_wait_for_a_slow_receiver)
{
    setenv("HCOMM_P2P_UNEXPECTED", "4", 1);
    sides_in_processes(2, many_eager);
}

/* ---- waiting costs nothing ---- */

static void
idle(struct side *side)
{
    struct rusage before, after;
    uint8_t byte = 0;
    double used;

    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        (void)getrusage(RUSAGE_SELF, &before);
        OK(recv_from(side, &byte, 1, 1, 1));
        (void)getrusage(RUSAGE_SELF, &after);
        used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
               (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
               (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6 +
               (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
        printf("waiting for 2 s took %.3f s of a processor\n", used);
        MUST(used < 1.0); /* spinning took 2 */
    } else {
        sleep(2);
        OK(send_to(side, &byte, 1, 0, 1));
    }
}

TEST(who_waits_uses_no_processor)
{
    sides_in_processes(2, idle);
}

/* ---- knobs at their ends ---- */

static void
some_of_all(struct side *side)
{
    static const uint64_t lens[] = {0,     1,     40,     41,      64,      1000,   8192,
                                    16384, 16385, 262144, 1000003, 1048576, 5000000};
    uint8_t *out = malloc(5000000), *in = malloc(5000000);

    for (uint64_t i = 0; i < 13 * 8; i++) {
        uint64_t len = lens[i % 13];

        if (side->rank == i % 2) {
            fill(out, len, i);
            OK(send_to(side, out, len, 1 - side->rank, 1));
        } else {
            OK(recv_from(side, in, len, 1 - side->rank, 1));
            MUST(is_filled(in, len, i));
        }
        OK(HcommSendRecv(out, len, BYTES, 1 - side->rank, 2, in, 5000000, BYTES, 1 - side->rank, 2,
                         NULL, side->comm, INLINE));
    }
    for (uint64_t i = 0; i < 600; i++) { /* ahead of the receiver */
        uint64_t len = i % 50 == 0 ? 30000 : 100;

        if (side->rank == 0) {
            fill(out, len, i);
            OK(send_to(side, out, len, 1, 1));
        } else {
            OK(recv_from(side, in, len, 0, 1));
            MUST(is_filled(in, len, i));
        }
    }
    free(out);
    free(in);
}

static void
with_knobs(const char *ring, const char *eager, const char *unexpected)
{
    setenv("HCOMM_P2P_RING", ring, 1);
    setenv("HCOMM_P2P_EAGER", eager, 1);
    setenv("HCOMM_P2P_UNEXPECTED", unexpected, 1);
}

TEST(the_smallest_ring_does)
{
    with_knobs("64", "16777216", "1");
    sides_in_processes(2, some_of_all);
}

TEST(the_largest_ring_does)
{
    with_knobs("65536", "16777216", "64");
    sides_in_processes(2, some_of_all);
}

TEST(nearly_nothing_eager_does)
{
    with_knobs("64", "40", "1");
    sides_in_processes(2, some_of_all);
    sides_in_threads(2, some_of_all);
}

static void
unlike_process(int rank, void *shared)
{
    struct side side = {.shared = shared};

    if (rank == 0)
        with_knobs("65536", "16777216", "64");
    else
        with_knobs("64", "40", "1");
    OK(aclrtSetDevice(0));
    OK(side_join(&side, 2, (uint32_t)rank, 1));
    some_of_all(&side);
    OK(HcclCommDestroy(side.comm));
    OK(aclrtResetDeviceForce(0));
}

TEST(ranks_may_have_unlike_knobs)
{
    struct procs procs;

    procs_start(&procs, 2, unlike_process, sizeof(struct sides));
    procs_expect_success(&procs);
}

TEST(whoever_sleeps_at_once_is_woken)
{
    setenv("HCOMM_SPIN", "0", 1);
    sides_in_processes(2, some_of_all);
    sides_in_threads(2, some_of_all);
}

/* ---- huge ---- */

static bool
memory_is_short(uint64_t gib)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    if (!SIDES_SLOW && kib >> 20 >= gib)
        return false;
    printf("skipped: needs %llu GiB of free memory, and no sanitizer\n", (unsigned long long)gib);
    return true;
}

/* A word each MiB says where it belongs: the sender's memory stays sparse. */
static void
huge(struct side *side, uint8_t *memory, HcclDataType type, uint64_t count, uint64_t seed)
{
    uint64_t len = type == HCCL_DATA_TYPE_INT64 ? count * 8 : count;
    HcommRecvInfo info;

    for (uint64_t at = 0; at + 9 <= len && side->rank == 0; at += 1u << 20) {
        uint64_t word = at + seed;

        memcpy(memory + at, &word, 8);
    }
    memory[len] = 0x11;
    if (side->rank == 0) {
        memory[len - 1] = (uint8_t)seed;
        OK(HcommSend(memory, count, type, 1, 1, side->comm, INLINE));
        return;
    }
    OK(HcommRecv(memory, count, type, 0, 1, &info, side->comm, INLINE));
    MUST_EQ(count, info.count);
    MUST_EQ(len, info.bytes);
    for (uint64_t at = 0; at + 9 <= len; at += 1u << 20) {
        uint64_t word = at + seed;

        MUST(memcmp(memory + at, &word, 8) == 0);
    }
    MUST_EQ(seed, memory[len - 1]);
    MUST_EQ(0x11, memory[len]);
}

static void
huge_ones(struct side *side)
{
    enum memory kind = side->rank == 0 ? PLAIN : DEVICE;
    uint8_t *memory = memory_get(kind, (1ull << 32) + 8);

    huge(side, memory, HCCL_DATA_TYPE_INT8, (1ull << 32) + 1, 1);
    huge(side, memory, HCCL_DATA_TYPE_INT8, (1ull << 31) + 1, 2);
    huge(side, memory, HCCL_DATA_TYPE_INT64, 1ull << 28, 3);
    huge(side, memory, HCCL_DATA_TYPE_UINT8, (1ull << 31) - 1, 4);
    memory_put(kind, memory);
}

TEST(two_gib_four_gib_and_a_byte_arrive)
{
    test_time_limit(180);
    if (!memory_is_short(12))
        sides_in_processes(2, huge_ones);
}
