/* SPDX-License-Identifier: BSD-3-Clause */
/* process: what tells this process from every other, on any host, where a pid cannot. */
#ifndef HC_BASE_PROCESS_H
#define HC_BASE_PROCESS_H

#include <stdint.h>

/* A random number, the same at every call, never 0. */
uint64_t hc_process_id(void);

#endif
