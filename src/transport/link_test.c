/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that come up, and what they carry. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "transport/link_test.h"

#define PATTERN 0x5A
#define GIB (1ull << 30)

struct pair {
    struct tp_address address[2];
    atomic_int turn;
    pid_t pid[2];
    atomic_int ready;
};

/* The side that is dialled: listens, and stays until turn 2. */
static void
listens(struct pair *pair)
{
    test_host();
    pair->pid[0] = getpid();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&pair->address[0]));
    atomic_store(&pair->turn, 1);
    procs_await(&pair->turn, 2);
}

static void
run(void (*child)(int rank, void *shared))
{
    struct procs procs;

    procs_start(&procs, 2, child, sizeof(struct pair));
    procs_expect_success(&procs);
}

static void
maps(int rank, void *shared)
{
    struct pair *pair = shared;
    struct tp_place place = {.file = 1, .offset = 4096};
    struct shm_link *link;
    uint8_t *memory;
    void *addr = NULL, *again = NULL;

    if (rank == 0) {
        memory = test_add_file(1, 3u << 20, F_SEAL_SHRINK);
        memset(memory + 4096, PATTERN, 4096);
        listens(pair);
        EXPECT_EQ(7, memory[4096]);
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    link = test_link(&pair->address[0]);
    EXPECT_EQ(pair->address[0].process, link_process(link));
    EXPECT_EQ(pair->pid[0], link_pid(link));
    EXPECT_EQ(SEGMENT_MAGIC, link_segment(link)->magic);
    EXPECT_EQ(pair->address[0].process, link_segment(link)->process);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &place, 4096, &addr));
    EXPECT_EQ(PATTERN, *(uint8_t *)addr);
    EXPECT_EQ(PATTERN, ((uint8_t *)addr)[4095]);
    *(uint8_t *)addr = 7;
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &place, 1, &again));
    EXPECT_TRUE(addr == again);
    link_release(link);
    atomic_store(&pair->turn, 2);
}

TEST(a_link_maps_the_files_of_the_other_process)
{
    run(maps);
}

static void
both_ways(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link, *same = NULL;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&pair->address[rank]));
    atomic_fetch_add(&pair->ready, 1);
    procs_await(&pair->ready, 2);
    if (rank == 0)
        procs_await(&pair->turn, 1);
    link = test_link(&pair->address[1 - rank]);
    atomic_store(&pair->turn, 1);
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&pair->address[1 - rank], &same));
    EXPECT_TRUE(same == link);
    link_release(same);
    if (hc_bell_ring(&link_segment(link)->bell, 5))
        link_knock(link);
    test_await_wakes(1);
    EXPECT_EQ(5, atomic_load(&test_host_state.waiter));
    link_release(link);
    atomic_fetch_add(&pair->ready, 1);
    procs_await(&pair->ready, 4);
}

TEST(the_link_that_one_dialled_is_the_others_too)
{
    run(both_ways);
}

/* A window of file 7 goes with its last use, here that of `later`. */
static void
give_back(struct shm_link *link)
{
    const struct tp_place place = {.file = 7, .offset = 4096};
    void *addr = NULL, *again = NULL;
    int fds = test_open_fds();

    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &place, 4096, &addr));
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &place, 1, &again));
    EXPECT_TRUE(addr == again);
    link_unmap(link, addr);
    link_unmap(link, addr);
    EXPECT_EQ(PATTERN, ((uint8_t *)addr)[4095]);
    link_unmap(link, (uint8_t *)addr + 4095);
    EXPECT_EQ(-1, msync(addr, 4096, MS_ASYNC)); /* nothing is there */
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(HCCL_SUCCESS, link_map(link, &place, 4096, &addr));
        EXPECT_EQ(PATTERN, ((uint8_t *)addr)[4095]);
        link_unmap(link, addr);
    }
    EXPECT_TRUE(test_open_fds() <= fds + 1);
}

static void
later(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link;
    uint8_t *memory;
    void *addr = NULL;

    if (rank == 0) {
        listens(pair);
        memory = test_add_file(7, 8192, F_SEAL_SHRINK);
        memory[8191] = PATTERN;
        (void)test_add_file(8, 8192, 0); /* it could shrink */
        atomic_store(&pair->turn, 3);
        procs_await(&pair->turn, 4);
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    link = test_link(&pair->address[0]);
    atomic_store(&pair->turn, 2);
    procs_await(&pair->turn, 3);
    EXPECT_EQ(HCCL_SUCCESS,
              link_map(link, &(struct tp_place){.file = 7, .offset = 8191}, 1, &addr));
    EXPECT_EQ(PATTERN, *(uint8_t *)addr);
    give_back(link);
    test_expect_error("8193 bytes at 0 of file 7");
    test_expect_error("file 8 of process");
    test_expect_error("file 9 of process");
    test_expect_error("there is no such place");
    EXPECT_EQ(HCCL_E_PARA, link_map(link, &(struct tp_place){.file = 7}, 8193, &addr));
    EXPECT_EQ(HCCL_E_PARA, link_map(link, &(struct tp_place){.file = 8}, 1, &addr));
    EXPECT_EQ(HCCL_E_PARA, link_map(link, &(struct tp_place){.file = 9}, 1, &addr));
    EXPECT_EQ(HCCL_E_PARA,
              link_map(link, &(struct tp_place){.file = 7, .offset = UINT64_MAX}, 2, &addr));
    EXPECT_EQ(HCCL_E_PARA, link_map(link, &(struct tp_place){.file = 0}, 1, &addr));
    link_release(link);
    atomic_store(&pair->turn, 4);
}

TEST(files_made_later_are_passed_when_asked_for)
{
    run(later);
}

static void
windows(int rank, void *shared)
{
    struct pair *pair = shared;
    struct tp_place low = {.file = 1, .offset = GIB - 4096}, high = {.file = 1, .offset = GIB};
    struct shm_link *link;
    void *addr = NULL, *first = NULL, *again = NULL;
    uint8_t *memory;

    if (rank == 0) {
        memory = test_add_file(1, 3 * GIB + 4096, F_SEAL_SHRINK);
        memset(memory + GIB - 1, PATTERN, 2);
        memory[3 * GIB + 4095] = PATTERN;
        listens(pair);
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    link = test_link(&pair->address[0]);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &low, 4096, &first));
    EXPECT_EQ(PATTERN, ((uint8_t *)first)[4095]);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &high, 1, &addr));
    EXPECT_EQ(PATTERN, *(uint8_t *)addr);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &low, 8192, &addr)); /* over the border, in one piece */
    EXPECT_EQ(PATTERN, ((uint8_t *)addr)[4095]);
    EXPECT_EQ(PATTERN, ((uint8_t *)addr)[4096]);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &low, 4096, &again));
    EXPECT_TRUE(first == again);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &(struct tp_place){1, 3 * GIB + 4095}, 1, &addr));
    EXPECT_EQ(PATTERN, *(uint8_t *)addr);
    link_release(link);
    atomic_store(&pair->turn, 2);
}

TEST(a_region_over_the_border_of_a_window_is_in_one_piece)
{
    run(windows);
}

static void
many_knocks(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&pair->address[rank]));
    atomic_fetch_add(&pair->ready, 1);
    procs_await(&pair->ready, 2);
    link = test_link(&pair->address[1 - rank]);
    for (int i = 1; i <= 4000; i++) { /* each rings in turn: none may be lost */
        if (i % 2 == rank) {
            if (hc_bell_ring(&link_segment(link)->bell, (uint32_t)i))
                link_knock(link);
            continue;
        }
        test_await_wakes((i + 1) / 2);
        EXPECT_EQ(i, atomic_load(&test_host_state.waiter));
    }
    for (int i = 0; i < 100000; i++)
        link_knock(link); /* at most one is on its way */
    link_release(link);
    atomic_fetch_add(&pair->ready, 1);
    procs_await(&pair->ready, 4);
}

TEST(no_knock_is_lost_and_many_are_one)
{
    run(many_knocks);
}

static void
dials_back(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&pair->address[rank]));
    atomic_fetch_add(&pair->ready, 1);
    while (atomic_load(&pair->ready) < 2)
        ; /* both at once */
    link = test_link(&pair->address[1 - rank]);
    if (hc_bell_ring(&link_segment(link)->bell, 9))
        link_knock(link);
    test_await_wakes(1);
    EXPECT_EQ(LINK_UP, link_state(link));
    link_release(link);
    atomic_fetch_add(&pair->ready, 1);
    procs_await(&pair->ready, 4);
}

TEST(two_that_dial_each_other_at_once_have_one_link)
{
    test_time_limit(120);
    for (int round = 0; round < ROUNDS(200); round++)
        run(dials_back);
}

#define CROWD 16

struct crowd {
    struct tp_address address[CROWD];
    atomic_int ready;
};

static void
all_dial(int rank, void *shared)
{
    struct crowd *crowd = shared;
    struct shm_link *link[CROWD] = {0};

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&crowd->address[rank]));
    atomic_fetch_add(&crowd->ready, 1);
    procs_await(&crowd->ready, CROWD);
    for (int i = 0; i < CROWD; i++) {
        if (i != rank)
            EXPECT_EQ(HCCL_SUCCESS, link_hold(&crowd->address[i], &link[i]));
    }
    for (int i = 0; i < CROWD; i++) {
        if (i == rank)
            continue;
        EXPECT_EQ(HCCL_SUCCESS, link_wait(link[i], WAIT_MS));
        EXPECT_EQ(LINK_UP, link_state(link[i]));
        (void)hc_bell_ring(&link_segment(link[i])->bell, 1000 + (uint32_t)rank);
        link_knock(link[i]);
    }
    test_await_wakes(CROWD - 1);
    for (int i = 0; i < CROWD; i++)
        link_release(link[i]);
    atomic_fetch_add(&crowd->ready, 1);
    procs_await(&crowd->ready, 2 * CROWD);
}

TEST(a_crowd_that_dials_at_once_has_one_link_each)
{
    struct procs procs;

    procs_start(&procs, CROWD, all_dial, sizeof(struct crowd));
    procs_expect_success(&procs);
}

/* ---- odd circumstances ---- */

static void
no_memory(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link = NULL;
    struct tp_address own;
    HcclResult rc;
    long nth = 0, live;

    if (rank == 0) {
        listens(pair);
        return;
    }
    test_host();
    test_expect_error("out of host memory");
    procs_await(&pair->turn, 1);
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    live = hc_alloc_live();
    do {
        hc_alloc_fail_nth(nth++);
        rc = link_hold(&pair->address[0], &link);
        if (rc != HCCL_SUCCESS) {
            EXPECT_EQ(HCCL_E_MEMORY, rc);
            EXPECT_NULL(link);
            EXPECT_EQ(live, hc_alloc_live());
        }
    } while (rc != HCCL_SUCCESS);
    hc_alloc_fail_nth(-1);
    EXPECT_TRUE(nth > 1);
    EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
    EXPECT_EQ(LINK_UP, link_state(link));
    link_release(link);
    atomic_store(&pair->turn, 2);
}

TEST(hold_survives_every_failed_allocation)
{
    run(no_memory);
}

static void
no_descriptors(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link = NULL;
    struct tp_address own;
    struct rlimit limit, low;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    low = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    if (rank == 0) {
        EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
        listens(pair);
        EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
        procs_await(&pair->turn, 3);
        EXPECT_TRUE(test_logged("ulimit -n") > 0);
        return;
    }
    procs_await(&pair->turn, 1);
    test_expect_error("ulimit -n");
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
    EXPECT_EQ(HCCL_E_SYSCALL, link_hold(&pair->address[0], &link));
    EXPECT_NULL(link);
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&pair->address[0], &link));
    EXPECT_EQ(HCCL_E_TIMEOUT, link_wait(link, 300)); /* the other one cannot take it in */
    atomic_store(&pair->turn, 2);
    EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
    EXPECT_EQ(LINK_UP, link_state(link));
    link_release(link);
    atomic_store(&pair->turn, 3);
}

TEST(out_of_descriptors_is_named_and_passes)
{
    run(no_descriptors);
}

static void
no_room_for_files(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link = NULL;
    struct rlimit limit, low;
    struct tp_address own;
    char text[LINE_LEN];
    int next;

    test_host();
    if (rank == 0) {
        listens(pair);
        return;
    }
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    procs_await(&pair->turn, 1);
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    low = (struct rlimit){.rlim_cur = (rlim_t)next + 1, .rlim_max = limit.rlim_max};
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low)); /* for the socket, not for what comes over it */
    test_expect_error("ulimit -n");
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&pair->address[0], &link));
    EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    EXPECT_EQ(LINK_GONE, link_state(link));
    EXPECT_EQ(LINK_REFUSED, link_ending(link, text, sizeof text));
    link_release(link);
    link_release(test_link(&pair->address[0])); /* there is room now */
    atomic_store(&pair->turn, 2);
}

TEST(a_link_without_room_for_its_files_is_refused_and_says_why)
{
    run(no_room_for_files);
}

static void
on_alarm(int signal)
{
    (void)signal;
}

static void
interrupted(int rank, void *shared)
{
    const struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm};
    struct pair *pair = shared;
    struct shm_link *link;
    void *addr = NULL;

    EXPECT_EQ(0, sigaction(SIGALRM, &action, NULL));
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &every_ms, NULL));
    (void)test_add_file(1 + (uint64_t)rank * 2, 8192, F_SEAL_SHRINK);
    (void)test_add_file(5, 8192, F_SEAL_SHRINK);
    if (rank == 0) {
        listens(pair);
    } else {
        test_host();
        procs_await(&pair->turn, 1);
        link = test_link(&pair->address[0]);
        for (int i = 0; i < 200; i++) {
            EXPECT_EQ(HCCL_SUCCESS, link_map(link, &(struct tp_place){.file = 5}, 8192, &addr));
            if (hc_bell_ring(&link_segment(link)->bell, 5))
                link_knock(link);
            usleep(1000);
        }
        link_release(link);
        atomic_store(&pair->turn, 2);
    }
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
}

TEST(a_storm_of_signals_disturbs_nothing)
{
    run(interrupted);
}
