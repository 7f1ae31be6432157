/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork: a forked child has none of the library's threads and shares its memory, so it may not
 * call in. Every public entry that keeps state asks hc_forked() first.
 */
#ifndef HC_BASE_FORK_H
#define HC_BASE_FORK_H

#include <stdbool.h>

/* true, after one logged line, in a child forked from a process that had used the library. */
bool hc_forked(void);

/* The same, and nothing said: for what ends things. */
bool hc_in_forked_child(void);

/* Called once when the library starts keeping state (first device, first communicator). */
void hc_fork_watch(void);

#endif
