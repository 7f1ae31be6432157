/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world: the facts of all ranks of a communicator. The ranks of one process share one, found by
 * its id: a thousand ranks with a thousand facts each would be a hundred megabytes.
 */
#ifndef HC_COMM_WORLD_H
#define HC_COMM_WORLD_H

#include "base/list.h"
#include "bootstrap/bootstrap.h"
#include "comm/comm.h"

/* Set once, except `in_all` and `refs`, which are under world.c's lock. */
struct comm_world {
    struct hc_list in_all;
    uint32_t refs;
    char id[64];
    uint32_t n_ranks;
    struct comm_fact *facts; /* [n_ranks] */
    uint32_t *server;        /* [n_ranks]: number of the rank's server, counted in rank order */
    uint32_t n_servers;
    bool beyond; /* some rank lives in another process */
};

/* What this rank tells of itself. */
void world_fact(struct comm_fact *fact, int32_t device);

/* Held. HCCL_E_PARA (logged): the table makes no sense, or two ranks share a device. */
HcclResult world_from_table(const struct bs_table *table, struct comm_world **world);

/* All ranks in this process, rank i on devices[i]. Held. */
HcclResult world_from_devices(const int32_t *devices, uint32_t num, struct comm_world **world);

void world_hold(struct comm_world *world);
void world_release(struct comm_world *world); /* NULL is fine */

#endif
