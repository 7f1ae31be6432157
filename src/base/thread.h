/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread: how the library starts its own threads: detached, and with signals blocked, so that
 * the program's handlers run on the program's threads. Faults stay: they belong to the thread that
 * makes them, and a kernel's crash must reach the program's handler (or the sanitizer's).
 */
#ifndef HC_BASE_THREAD_H
#define HC_BASE_THREAD_H

/* 0, or the error number of pthread_create (not logged: callers say what will be missing). */
int hc_thread_start(void *(*fn)(void *arg), void *arg);

/* Around what must not end half-way: a program may cancel its threads (pthread_cancel), and many
 * system calls are places where that takes effect, also while a lock is held. */
int hc_cancel_off(void);
void hc_cancel_restore(int state);

#endif
