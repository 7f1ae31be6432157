/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/support/test.h"

static sigset_t seen;
static _Atomic int done;

static void *
look(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, &seen);
    atomic_store((_Atomic int *)arg, 1);
    return NULL;
}

TEST(the_librarys_threads_leave_signals_to_the_program_and_keep_faults)
{
    sigset_t mine;

    EXPECT_EQ(0, hc_thread_start(look, &done));
    while (!atomic_load(&done))
        usleep(100);
    EXPECT_EQ(1, sigismember(&seen, SIGALRM));
    EXPECT_EQ(1, sigismember(&seen, SIGINT));
    EXPECT_EQ(0, sigismember(&seen, SIGSEGV));
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    EXPECT_EQ(0, sigismember(&mine, SIGALRM));
}
