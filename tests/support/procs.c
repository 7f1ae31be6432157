/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "tests/support/procs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

void *
procs_prepare(struct procs *procs, size_t shared_len)
{
    *procs = (struct procs){.shared_len = shared_len == 0 ? 1 : shared_len};
    procs->shared =
        mmap(NULL, procs->shared_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(procs->shared != MAP_FAILED);
    return procs->shared;
}

void
procs_fork(struct procs *procs, int num, void (*fn)(int rank, void *shared))
{
    pid_t parent = getpid();

    EXPECT_TRUE(num <= PROCS_MOST);
    fflush(NULL);
    for (procs->num = 0; procs->num < num; procs->num++) {
        pid_t pid = fork();

        EXPECT_TRUE(pid >= 0);
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(1);
            test_run_child(fn, procs->num, procs->shared);
        }
        procs->pid[procs->num] = pid;
    }
}

void
procs_start(struct procs *procs, int num, void (*fn)(int rank, void *shared), size_t shared_len)
{
    (void)procs_prepare(procs, shared_len);
    procs_fork(procs, num, fn);
}

int
procs_wait(struct procs *procs, int rank)
{
    int status = 0;

    while (waitpid(procs->pid[rank], &status, 0) < 0)
        EXPECT_EQ(EINTR, errno);
    procs->pid[rank] = 0;
    return status;
}

void
procs_kill(struct procs *procs, int rank)
{
    (void)kill(procs->pid[rank], SIGKILL);
    (void)procs_wait(procs, rank);
}

void
procs_expect_success(struct procs *procs)
{
    int failed = 0;

    for (int i = 0; i < procs->num; i++) {
        int status = procs->pid[i] == 0 ? 0 : procs_wait(procs, i);

        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        failed++;
        if (WIFSIGNALED(status))
            print_error("process %d: %s\n", i, strsignal(WTERMSIG(status)));
        else
            print_error("process %d: exit status %d\n", i, WEXITSTATUS(status));
    }
    EXPECT_EQ(0, munmap(procs->shared, procs->shared_len));
    EXPECT_EQ(0, failed);
}

void
procs_await(const atomic_int *turn, int value)
{
    for (int i = 0; i < 60000 && atomic_load(turn) < value; i++)
        usleep(1000);
    EXPECT_TRUE(atomic_load(turn) >= value);
}
