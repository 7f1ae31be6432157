/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm: the door of the communicator. Who the ranks are, what they own together, what wires them.
 */
#ifndef HC_COMM_COMM_H
#define HC_COMM_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "hccl/hccl_types.h"

struct comm;

/* What every rank knows of every other. Travels as it is: all ranks run the same library version,
 * which bootstrap checks. */
struct comm_fact {
    uint64_t process; /* bs_process_id() */
    uint64_t host;    /* equal on one host, and only there */
    uint32_t pid;
    int32_t device;          /* of that process */
    uint32_t soc_generation; /* enum rt_soc */
    char soc[32];
    char host_name[64];
};

/* HCCL_E_NOT_SUPPORT, after one message that names `function`. */
HcclResult comm_unsupported(const char *function);

/* HCCL_E_PTR, after one message, when `ptr` is NULL. */
HcclResult comm_need(const void *ptr, const char *function, const char *what);

/* The communicator behind a handle, held. HCCL_E_PTR (logged): NULL; HCCL_E_PARA (logged): not a
 * live communicator; HCCL_E_INTERNAL (logged): a forked child. */
HcclResult comm_hold(HcclComm handle, struct comm **comm);
void comm_release(struct comm *comm);

const char *comm_name(const struct comm *comm);
uint32_t comm_rank(const struct comm *comm);
uint32_t comm_rank_num(const struct comm *comm);
int32_t comm_device(const struct comm *comm);
const struct comm_fact *comm_fact(const struct comm *comm, uint32_t rank);

/* Rank `rank` lives in this process. */
bool comm_rank_is_here(const struct comm *comm, uint32_t rank);

/* HCCL_E_PARA (logged) when there is no such rank. */
HcclResult comm_rank_check(const struct comm *comm, uint32_t rank, const char *function);

/* The communicator's buffer, made at first need. HCCL_E_OOM (logged). */
HcclResult comm_buffer(struct comm *comm, void **addr, uint64_t *size);

#endif
