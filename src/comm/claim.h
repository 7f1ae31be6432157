/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * claim: one process is one rank of a rank table (inside this layer only).
 *
 * With a table nobody negotiates, so two processes that were given the same rank would meet peers
 * in each other's place. While a communicator from a table lives, its process therefore holds an
 * abstract socket named after table and rank: a second one is told who has it. The name ends with
 * the process, however that ends. Only processes of one user and network namespace see each other.
 */
#ifndef HC_COMM_CLAIM_H
#define HC_COMM_CLAIM_H

#include <stdint.h>

#include "hccl/hccl_types.h"

struct claim;

/* HCCL_E_PARA (logged): another process is that rank. HCCL_E_SYSCALL, HCCL_E_MEMORY (logged).
 * `table` is for messages. */
HcclResult claim_create(const char *world_id, uint32_t rank, const char *table,
                        struct claim **claim);
void claim_destroy(struct claim *claim); /* NULL is fine */

#endif
