/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>

#define STACK_LEAST ((size_t)1 << 20) /* kernels run on our threads, and need some */

int
hc_thread_start(void *(*fn)(void *arg), void *arg)
{
    static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                 SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t blocked, old;
    pthread_attr_t attr;
    pthread_t thread;
    size_t stack;
    int error;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &old); /* the new thread inherits the mask */
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_attr_getstacksize(&attr, &stack) == 0 && stack < STACK_LEAST)
        (void)pthread_attr_setstacksize(&attr, STACK_LEAST); /* a small `ulimit -s` */
    error = pthread_create(&thread, &attr, fn, arg);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

int
hc_cancel_off(void)
{
    int state = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

void
hc_cancel_restore(int state)
{
    (void)pthread_setcancelstate(state, NULL);
}
