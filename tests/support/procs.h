/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procs: tests with several processes. Fork them before the test process makes its first call into
 * the library: a forked child of a user of the library may not call in.
 *
 *     static void
 *     child(int rank, void *shared)    runs in its own process; expectations work there too
 *
 *     struct procs procs;
 *     procs_start(&procs, 2, child, sizeof(struct shared));
 *     procs_expect_success(&procs);
 *
 * `shared` is zeroed memory that all of them and the test itself see: for root infos, flags, turns.
 * A child that fails an expectation ends with status 1. Whatever becomes of the test, its children
 * die with it.
 */
#ifndef HC_TEST_SUPPORT_PROCS_H
#define HC_TEST_SUPPORT_PROCS_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCS_MOST 256

struct procs {
    int num;
    pid_t pid[PROCS_MOST]; /* 0: has been waited for */
    void *shared;
    size_t shared_len;
};

void procs_start(struct procs *procs, int num, void (*fn)(int rank, void *shared),
                 size_t shared_len);

/* As procs_start with the rest of `shared` prepared first: allocate, fill in, then fork. */
void *procs_prepare(struct procs *procs, size_t shared_len);
void procs_fork(struct procs *procs, int num, void (*fn)(int rank, void *shared));

/* Waits for one; its status as waitpid tells. */
int procs_wait(struct procs *procs, int rank);

/* SIGKILL, and waits for it. */
void procs_kill(struct procs *procs, int rank);

/* Waits for all that are left: each must have ended with 0. Frees `shared`. */
void procs_expect_success(struct procs *procs);

/* Children wait until `value` is there; about 1 ms apart. Fails after 60 s. */
void procs_await(const atomic_int *turn, int value);

#endif
