/* SPDX-License-Identifier: BSD-3-Clause */
/* path: which way foreign memory is reached. Design: path.c. */
#ifndef HC_TRANSPORT_PATH_H
#define HC_TRANSPORT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "hccl/hccl_types.h"

enum path {
    PATH_BOUNCE,
    PATH_CMA,
    PATH_UNDECIDED, /* both may be used, measure */
};

/* Reads HCOMM_FOREIGN, and tries whether cma works at all. HCCL_E_PARA (logged): the knob holds
 * something else. Before any other call here; again is cheap. */
HcclResult path_init(void);

/* The way for a transfer of `len` bytes, as far as this process is concerned. UNDECIDED: take
 * path_next() for each part of it of PATH_SAMPLE_LEN bytes, and tell path_measured(). */
enum path path_for(uint64_t len);

#define PATH_SAMPLE_LEN ((uint64_t)2 << 20)
enum path path_next(void);
void path_measured(enum path path, uint64_t len, uint64_t ns);

/* Why cma is forbidden to this process; 0: it is not. */
int path_forbidden(void);

/* cma is the only way the user allows. */
bool path_is_pinned_to_cma(void);

/* A peer cannot be reached by cma: says so once. */
void path_no_cma(int error);

#endif
