/* SPDX-License-Identifier: BSD-3-Clause */
/* How links end: death at any moment, goodbyes, forks; and what is left of them. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "transport/link_test.h"

#define KILLS 50
#define PEERS 200

struct shared {
    struct tp_address address;
    atomic_int turn;
    pid_t pid, forked;
};

/* The process that ends in some way: has a link, which rank 1 dialled. */
static void
listens(struct shared *shared)
{
    test_host();
    (void)test_add_file(1, 1u << 20, F_SEAL_SHRINK);
    shared->pid = getpid();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address));
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2);
}

static _Noreturn void
linger(void)
{
    for (;;)
        pause();
}

/* Rank 1 of several: links, then sees rank 0 end; nothing of it is left. */
static void
sees_end(struct shared *shared, enum link_end end)
{
    struct tp_address own;
    struct shm_link *link, *again = NULL;
    char text[LINE_LEN], want[LINE_LEN];
    void *addr = NULL;
    int fds;

    test_host();
    procs_await(&shared->turn, 1);
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    fds = test_open_fds();
    link = test_link(&shared->address);
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &(struct tp_place){.file = 1}, 4096, &addr));
    atomic_store(&shared->turn, 2);
    EXPECT_EQ(end, test_await_end(link, text, sizeof text));
    snprintf(want, sizeof want, "process %d", shared->pid);
    EXPECT_STREQ(want, text);
    EXPECT_EQ(fds, test_open_fds());
    test_await_wakes(1);        /* all that wait look (B2) */
    *(volatile char *)addr = 1; /* still mapped, until the last hold is given back */
    EXPECT_EQ(HCCL_SUCCESS, link_map(link, &(struct tp_place){.file = 1}, 4096, &addr));
    EXPECT_EQ(HCCL_E_REMOTE, link_map(link, &(struct tp_place){.file = 2}, 4096, &addr));
    EXPECT_EQ(HCCL_E_REMOTE, link_send(link, LINK_MSG_CONN, "x", 1, -1));
    link_knock(link);
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&shared->address, &again));
    EXPECT_TRUE(again != link);
    EXPECT_EQ(HCCL_SUCCESS, link_wait(again, WAIT_MS));
    EXPECT_EQ(LINK_GONE, link_state(again));
    EXPECT_EQ(LINK_ABSENT, link_ending(again, text, sizeof text));
    link_release(again);
    link_release(link);
}

static void
leaves(int rank, void *shared)
{
    if (rank == 0)
        listens(shared);
    else
        sees_end(shared, LINK_LEFT);
}

TEST(a_process_that_ends_in_order_says_so)
{
    struct procs procs;

    procs_start(&procs, 2, leaves, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
dies(int rank, void *shared)
{
    if (rank == 1) {
        sees_end(shared, LINK_DIED);
        return;
    }
    listens(shared);
    raise(SIGKILL);
}

TEST(a_process_that_is_killed_is_missed_at_once)
{
    struct procs procs;

    procs_start(&procs, 2, dies, sizeof(struct shared));
    EXPECT_TRUE(WIFSIGNALED(procs_wait(&procs, 0)));
    procs_expect_success(&procs);
}

/* ---- forks ---- */

static void
dies_with_child(int rank, void *arg)
{
    struct shared *shared = arg;
    pid_t child;

    if (rank == 1) {
        sees_end(shared, LINK_DIED);
        return;
    }
    listens(shared);
    child = fork();
    if (child == 0)
        linger(); /* has copies of all that its parent had */
    shared->forked = child;
    raise(SIGKILL);
}

TEST(a_forked_child_does_not_keep_the_links_of_a_dead_process)
{
    struct procs procs;
    struct shared *shared;

    procs_start(&procs, 2, dies_with_child, sizeof(struct shared));
    shared = procs.shared;
    EXPECT_TRUE(WIFSIGNALED(procs_wait(&procs, 0)));
    EXPECT_EQ(0, procs_wait(&procs, 1));
    EXPECT_TRUE(shared->forked > 0);
    EXPECT_EQ(0, kill(shared->forked, SIGKILL)); /* it is still there */
    procs_expect_success(&procs);
}

static void
dies_with_program(int rank, void *arg)
{
    struct shared *shared = arg;
    pid_t child;

    if (rank == 1) {
        sees_end(shared, LINK_DIED);
        return;
    }
    listens(shared);
    child = fork();
    if (child == 0)
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    shared->forked = child;
    raise(SIGKILL);
}

TEST(a_program_that_was_started_does_not_keep_them_either)
{
    struct procs procs;
    struct shared *shared;

    procs_start(&procs, 2, dies_with_program, sizeof(struct shared));
    shared = procs.shared;
    EXPECT_TRUE(WIFSIGNALED(procs_wait(&procs, 0)));
    EXPECT_EQ(0, procs_wait(&procs, 1));
    EXPECT_TRUE(shared->forked > 0);
    EXPECT_EQ(0, kill(shared->forked, SIGKILL));
    procs_expect_success(&procs);
}

/* Children that fork while links are made and used, and end in every way. */
static void
forks_on(int rank, void *arg)
{
    struct shared *shared = arg;
    struct shm_link *link;
    int status;

    if (rank == 0) {
        listens(shared);
        return;
    }
    test_host();
    procs_await(&shared->turn, 1);
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();

        EXPECT_TRUE(child >= 0);
        if (child == 0 && i % 2 == 0)
            exit(i % 4 == 0 ? 0 : 3); /* exit handlers say no goodbye for the parent */
        if (child == 0)
            _exit(0);
        link = test_link(&shared->address);
        EXPECT_EQ(child, waitpid(child, &status, 0));
        EXPECT_EQ(LINK_UP, link_state(link));
        if (hc_bell_ring(&link_segment(link)->bell, 3))
            link_knock(link);
        link_release(link);
    }
    EXPECT_EQ(0, system("true"));
    EXPECT_EQ(LINK_UP, link_state(link = test_link(&shared->address)));
    link_release(link);
    atomic_store(&shared->turn, 2);
}

TEST(forks_leave_links_alone)
{
    struct procs procs;

    procs_start(&procs, 2, forks_on, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- killed while it shakes hands ---- */

/* A few microseconds of work, differing from round to round. */
static void
pass_time(unsigned round)
{
    usleep((round * 7919u) % 3000u);
}

/* Stays; many come and are killed; in the end one comes through. */
static void
endures(struct shared *shared)
{
    struct tp_address own;
    int fds;
    long live;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    (void)test_add_file(1, 1u << 20, F_SEAL_SHRINK);
    fds = test_open_fds();
    live = hc_alloc_live();
    shared->address = own;
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2);
    for (int i = 0; i < WAIT_MS && (test_open_fds() > fds || hc_alloc_live() > live); i++)
        usleep(1000);
    EXPECT_EQ(fds, test_open_fds());
    EXPECT_EQ(live, hc_alloc_live());
    atomic_store(&shared->turn, 3);
    procs_await(&shared->turn, 4);
}

static void
dials(struct shared *shared)
{
    test_host();
    (void)test_add_file(1, 1u << 20, F_SEAL_SHRINK);
    procs_await(&shared->turn, 1);
    (void)test_link(&shared->address);
    linger();
}

static void
dials_to_die(int rank, void *shared)
{
    if (rank == 0)
        endures(shared);
    else
        dials(shared);
}

static void
comes_through(int rank, void *arg)
{
    struct shared *shared = *(struct shared **)arg;

    (void)rank;
    test_host();
    link_release(test_link(&shared->address));
    atomic_store(&shared->turn, 4);
}

TEST(diallers_that_are_killed_leave_nothing_behind)
{
    struct procs procs, last;
    struct shared *shared;
    struct shared **at;

    test_time_limit(120);
    procs_start(&procs, 1 + KILLS, dials_to_die, sizeof(struct shared));
    shared = procs.shared;
    procs_await(&shared->turn, 1);
    for (int i = 1; i <= KILLS; i++) {
        pass_time((unsigned)i);
        procs_kill(&procs, i);
    }
    atomic_store(&shared->turn, 2);
    procs_await(&shared->turn, 3);
    at = procs_prepare(&last, sizeof(struct shared *));
    *at = shared;
    procs_fork(&last, 1, comes_through);
    procs_expect_success(&last);
    procs_expect_success(&procs);
}

struct dialled {
    struct tp_address address[KILLS];
    atomic_int ready[KILLS];
    atomic_int ended;
};

/* Rank 0 dials all the others, which are killed at about that time. */
static void
dialled_to_die(int rank, void *arg)
{
    struct dialled *shared = arg;
    struct tp_address own;
    int fds;

    test_host();
    if (rank > 0) {
        (void)test_add_file(1, 1u << 20, F_SEAL_SHRINK);
        EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address[rank - 1]));
        atomic_store(&shared->ready[rank - 1], 1);
        linger();
    }
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    fds = test_open_fds();
    for (int i = 0; i < KILLS; i++) {
        struct shm_link *link = NULL;
        char text[LINE_LEN];

        procs_await(&shared->ready[i], 1);
        atomic_store(&shared->ready[i], 2);
        EXPECT_EQ(HCCL_SUCCESS, link_hold(&shared->address[i], &link));
        EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
        EXPECT_NE(LINK_CONNECTING, link_state(link));
        EXPECT_NE(LINK_REFUSED, test_await_end(link, text, sizeof text));
        link_release(link);
        atomic_store(&shared->ended, i + 1);
    }
    EXPECT_EQ(fds, test_open_fds());
}

TEST(who_dials_a_process_that_is_killed_learns_it)
{
    struct procs procs;
    struct dialled *shared;

    test_time_limit(120);
    procs_start(&procs, 1 + KILLS, dialled_to_die, sizeof(struct dialled));
    shared = procs.shared;
    for (int i = 0; i < KILLS; i++) {
        procs_await(&shared->ready[i], 2);
        usleep((unsigned)i * 40);
        procs_kill(&procs, 1 + i);
        procs_await(&shared->ended, i + 1);
    }
    procs_expect_success(&procs);
}

static void
comes_and_goes(int rank, void *arg)
{
    struct shared *shared = arg;

    if (rank == 0) {
        endures(shared);
        return;
    }
    test_host();
    procs_await(&shared->turn, 1);
    link_release(test_link(&shared->address));
}

TEST(two_hundred_links_come_and_go_and_leave_nothing)
{
    struct procs procs;
    struct shared *shared;

    test_time_limit(120);
    procs_start(&procs, 1 + PEERS, comes_and_goes, sizeof(struct shared));
    shared = procs.shared;
    for (int i = 1; i <= PEERS; i++)
        EXPECT_EQ(0, procs_wait(&procs, i));
    atomic_store(&shared->turn, 2);
    procs_await(&shared->turn, 3);
    atomic_store(&shared->turn, 4);
    procs_expect_success(&procs);
}
