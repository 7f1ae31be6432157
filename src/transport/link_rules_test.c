/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that break the rules once they are in, or do not read what they are sent. */
#include <dirent.h>
#include <signal.h>

#include "transport/link_private.h"
#include "transport/link_test.h"

struct shared {
    struct tp_address address;
    atomic_int turn;
    pid_t pid;
};

/* The peer that the others mistreat. */
static void
listens(struct shared *shared)
{
    test_host();
    shared->pid = getpid();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address));
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2);
}

static void
breaks_rules(int rank, void *arg)
{
    static const uint32_t types[] = {LINK_MSG_UP, LINK_MSG_FILE_WANT, 0, 99, LINK_MSG_FILE};
    struct shared *shared = arg;

    if (rank == 0) {
        test_expect_error("broke the protocol");
        test_host();
        EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address));
        atomic_store(&shared->turn, 1);
        procs_await(&shared->turn, 1 + (int)(sizeof types / sizeof types[0]));
        return;
    }
    test_host();
    procs_await(&shared->turn, 1);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct shm_link *link = test_link(&shared->address); /* a new one each time */
        char text[LINE_LEN];

        EXPECT_EQ(HCCL_SUCCESS, link_put(link, types[i], "abc", 3, 2));
        (void)test_await_end(link, text, sizeof text);
        link_release(link);
        atomic_fetch_add(&shared->turn, 1);
    }
}

TEST(a_peer_that_breaks_the_protocol_is_dropped_and_may_come_again)
{
    struct procs procs;

    procs_start(&procs, 2, breaks_rules, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* All threads of the process stand. */
static bool
stands(pid_t pid)
{
    char path[64], state = 'T';
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    EXPECT_NOT_NULL(dir);
    for (struct dirent *at = readdir(dir); at != NULL && state == 'T'; at = readdir(dir)) {
        FILE *file;

        if (at->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", pid, at->d_name);
        file = fopen(path, "r");
        EXPECT_NOT_NULL(file);
        EXPECT_EQ(1, fscanf(file, "%*d (%*[^)]) %c", &state));
        fclose(file);
    }
    closedir(dir);
    return state == 'T';
}

static void
stop(pid_t pid)
{
    EXPECT_EQ(0, kill(pid, SIGSTOP));
    for (int i = 0; i < WAIT_MS && !stands(pid); i++)
        usleep(1000);
    EXPECT_TRUE(stands(pid));
}

/* `fd`: what is passed with each message. `resumes`: it runs again as soon as one is refused. */
static void
stop_it(struct shared *shared, int fd, bool resumes)
{
    struct shm_link *link;
    char text[LINE_LEN];
    void *addr = NULL;
    HcclResult rc = HCCL_SUCCESS;
    int fds = test_open_fds();

    test_host();
    procs_await(&shared->turn, 1);
    link = test_link(&shared->address);
    stop(shared->pid);
    test_expect_error("does not answer: is it stopped?");
    test_expect_error("a message to it is lost");
    EXPECT_EQ(HCCL_E_PARA, link_map(link, &(struct tp_place){.file = 9}, 1, &addr));
    for (uint32_t i = 0; i < 2 * LINK_QUEUE_MOST && rc == HCCL_SUCCESS; i++)
        rc = link_send(link, LINK_MSG_CONN, "x", 1, fd); /* never blocks */
    EXPECT_EQ(HCCL_E_REMOTE, rc);
    if (resumes)
        EXPECT_EQ(0, kill(shared->pid, SIGCONT));
    EXPECT_TRUE(test_open_fds() < fds + 8 + (int)LINK_QUEUE_FDS);
    EXPECT_EQ(LINK_REFUSED, test_await_end(link, text, sizeof text));
    link_release(link);
    EXPECT_EQ(0, kill(shared->pid, SIGCONT));
    atomic_store(&shared->turn, 2);
}

static void
stops(int rank, void *shared)
{
    if (rank == 0)
        listens(shared);
    else
        stop_it(shared, -1, false);
}

static void
stops_with_fds(int rank, void *shared)
{
    if (rank == 0)
        listens(shared);
    else
        stop_it(shared, 2, false);
}

static void
resumes(int rank, void *shared)
{
    if (rank == 0)
        listens(shared);
    else
        stop_it(shared, 2, true);
}

TEST(a_peer_that_is_stopped_costs_no_more_than_a_queue)
{
    struct procs procs;

    procs_start(&procs, 2, stops, sizeof(struct shared));
    procs_expect_success(&procs);
    procs_start(&procs, 2, stops_with_fds, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(no_message_is_lost_without_the_link)
{
    struct procs procs;

    procs_start(&procs, 2, resumes, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
stops_awhile(int rank, void *arg)
{
    struct shared *shared = arg;
    struct shm_link *link;

    if (rank == 0) {
        listens(shared);
        procs_await(&shared->turn, 3);
        return;
    }
    test_host();
    procs_await(&shared->turn, 1);
    link = test_link(&shared->address);
    stop(shared->pid);
    for (int i = 0; i < 5000; i++) /* more than a socket takes */
        EXPECT_EQ(HCCL_SUCCESS, link_put(link, LINK_MSG_KNOCK, NULL, 0, -1));
    EXPECT_EQ(0, kill(shared->pid, SIGCONT));
    for (int i = 0; i < WAIT_MS; i++) {
        if (atomic_load(&link_segment(link)->heard[link->peer_heard]) == 5000)
            break;
        usleep(1000);
    }
    EXPECT_EQ(5000, atomic_load(&link_segment(link)->heard[link->peer_heard]));
    link_release(link);
    atomic_store(&shared->turn, 3);
}

TEST(what_a_full_socket_does_not_take_waits_for_it)
{
    struct procs procs;

    procs_start(&procs, 2, stops_awhile, sizeof(struct shared));
    procs_expect_success(&procs);
}
