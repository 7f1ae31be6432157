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

#endif
