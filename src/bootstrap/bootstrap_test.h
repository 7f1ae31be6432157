/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of this layer share: ranks on threads, and in child processes. */
#ifndef HC_BOOTSTRAP_BOOTSTRAP_TEST_H
#define HC_BOOTSTRAP_BOOTSTRAP_TEST_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bootstrap/bootstrap.h"
#include "tests/support/test.h"

#define MOST_RANKS 64

struct rank {
    const HcclRootInfo *info;
    uint32_t n_ranks, rank;
    int64_t timeout_ms;
    HcclResult rc;
    pthread_t thread;
};

/* Joins with a blob that names the rank, and looks at everybody's. */
static inline HcclResult
join_and_check(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank, int64_t timeout_ms)
{
    char blob[32];
    struct bs_join join = {
        .info = info, .n_ranks = n_ranks, .rank = rank, .blob = blob, .timeout_ms = timeout_ms};
    struct bs_table *table = NULL;
    HcclResult rc;

    join.blob_len = (uint32_t)snprintf(blob, sizeof blob, "i am rank %u", rank);
    rc = bs_join(&join, &table);
    if (rc != HCCL_SUCCESS) {
        if (table != NULL)
            abort();
        return rc;
    }
    for (uint32_t i = 0; i < n_ranks; i++) {
        uint32_t len = (uint32_t)snprintf(blob, sizeof blob, "i am rank %u", i);

        if (table->n_ranks != n_ranks || table->entries[i].len != len ||
            memcmp(table->entries[i].blob, blob, len) != 0)
            rc = HCCL_E_INTERNAL;
    }
    bs_table_destroy(table);
    return rc;
}

static inline void *
rank_main(void *arg)
{
    struct rank *rank = arg;

    rank->rc = join_and_check(rank->info, rank->n_ranks, rank->rank, rank->timeout_ms);
    return NULL;
}

static inline void
start_ranks(struct rank *ranks, uint32_t num, uint32_t n_ranks, const HcclRootInfo *info)
{
    for (uint32_t i = 0; i < num; i++) {
        ranks[i] = (struct rank){.info = info, .n_ranks = n_ranks, .rank = i, .timeout_ms = 20000};
        EXPECT_EQ(0, pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]));
    }
}

static inline void
end_ranks(struct rank *ranks, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        pthread_join(ranks[i].thread, NULL);
}

/* Threads of this process. */
static inline int
threads(void)
{
    char line[256];
    int num = -1;
    FILE *status = fopen("/proc/self/status", "r");

    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "Threads: %d", &num) == 1)
            break;
    }
    if (status != NULL)
        fclose(status);
    return num;
}

#ifdef __SANITIZE_THREAD__
#define SANITIZER_THREADS 1 /* it starts one in a forked child with the first thread */
#else
#define SANITIZER_THREADS 0
#endif

/* The server's thread is gone. */
static inline void
expect_no_server(int before)
{
    for (int i = 0; i < 200 && threads() > before; i++) /* its stack goes a moment later */
        usleep(10000);
    EXPECT_TRUE(threads() <= before + SANITIZER_THREADS);
}

/* Children that join as ranks 1 to num; they are forked before this process has threads. */
struct children {
    int pipes[MOST_RANKS];
    pid_t pids[MOST_RANKS];
    uint32_t num;
};

typedef int (*child_fn)(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank);

static inline int
child_joins(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    return (int)join_and_check(info, n_ranks, rank, 10000);
}

static inline void
fork_children(struct children *children, uint32_t num, child_fn fn)
{
    children->num = num;
    for (uint32_t i = 0; i < num; i++) {
        int ends[2];

        EXPECT_EQ(0, pipe(ends));
        children->pids[i] = fork();
        if (children->pids[i] == 0) {
            HcclRootInfo info;

            if (read(ends[0], &info, sizeof info) != (ssize_t)sizeof info)
                _exit(99);
            _exit(fn(&info, num + 1, i + 1));
        }
        close(ends[0]);
        children->pipes[i] = ends[1];
    }
}

static inline void
send_info(struct children *children, const HcclRootInfo *info)
{
    for (uint32_t i = 0; i < children->num; i++) {
        if (children->pipes[i] < 0)
            continue;
        EXPECT_EQ(sizeof *info, write(children->pipes[i], info, sizeof *info));
        close(children->pipes[i]);
        children->pipes[i] = -1;
    }
}

static inline int
wait_child(struct children *children, uint32_t i)
{
    int status = 0;

    while (waitpid(children->pids[i], &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Lets this process open `more` descriptors. */
static inline void
leave_descriptors(rlim_t more)
{
    struct rlimit limit;
    int probe = dup(0);

    EXPECT_TRUE(probe >= 0);
    close(probe);
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = (rlim_t)probe + more;
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
}

#endif
