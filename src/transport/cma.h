/* SPDX-License-Identifier: BSD-3-Clause */
/* cma: moves bytes to and from memory of another process by process_vm_readv and process_vm_writev
 * ("cross memory attach"). Design: cma.c. */
#ifndef HC_TRANSPORT_CMA_H
#define HC_TRANSPORT_CMA_H

#include "transport/bounce.h"

/* How a process is known again: a random number in its memory. */
struct cma_cookie {
    uint64_t addr, value;
};

/* This process'; false (logged at INFO, once): there is none. */
bool cma_own_cookie(struct cma_cookie *cookie);

/* 0, or why this process may not even reach itself: the calls are forbidden to it. */
int cma_probe(void);

/*
 * Moves; *moved: how many bytes came over. *error is 0, or why it is not possible: with
 * HCCL_E_NOT_SUPPORT (not logged), and the rest can go another way. Else as foreign_write.
 */
HcclResult cma_move(const struct foreign_move *move, const struct cma_cookie *cookie,
                    uint64_t *moved, int *error);

#endif
