/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world: the facts of all ranks of a communicator. The ranks of one process share one, found by
 * its id: a thousand ranks with a thousand facts each would be a hundred megabytes.
 *
 * A part of a communicator (sub_comm.c) has a world of its own, made of its parent's.
 */
#ifndef HC_COMM_WORLD_H
#define HC_COMM_WORLD_H

#include <stdatomic.h>

#include "base/list.h"
#include "bootstrap/bootstrap.h"
#include "comm/comm.h"

#define WORLD_ID_LEN 64u
#define WORLD_LAYERS (COMM_NETS + 1)
#define WORLD_NONE UINT32_MAX

/* A network layer. Instances are numbered in the order of their first ranks. */
struct world_layer {
    uint32_t number; /* as programs know it */
    uint32_t *inst; /* [n_ranks]: instance of each rank; WORLD_NONE: the rank is not in the layer */
    uint32_t n_insts;
};

/* Set once, except `in_all` and `refs`, which are under world.c's lock, and `came`. */
struct comm_world {
    struct hc_list in_all;
    uint32_t refs;
    char id[WORLD_ID_LEN];
    char meet[WORLD_ID_LEN]; /* what its ranks find each other by; as `id`, unless it is a part */
    uint32_t n_ranks;
    struct comm_fact *facts;                 /* [n_ranks] */
    struct world_layer layers[WORLD_LAYERS]; /* [n_layers], ascending; the first: servers */
    uint32_t n_layers;
    /* [n_ranks] each: number of the rank's server and super pod; of a part as its parent counts. */
    uint32_t *site, *pod;
    uint32_t *number;  /* [n_ranks]: the rank in the parent; NULL: it is no part */
    atomic_bool *came; /* [n_ranks]: the rank has been in this process */
    bool beyond;       /* some rank lives in another process */
    bool claimed;      /* ranks hold their places by claims */
};

/* The device's id on the machine, which tables name it by; -1: `device` is none. */
int32_t world_physical(int32_t device);

/* What this rank tells of itself; peers can reach the process from now on. HCCL_E_SYSCALL,
 * HCCL_E_MEMORY (logged). */
HcclResult world_fact(struct comm_fact *fact, int32_t device);

/* Held. HCCL_E_PARA (logged): the table makes no sense, or two ranks share a device. */
HcclResult world_from_table(const struct bs_table *table, struct comm_world **world);

/* As world_from_table, where somebody knows the facts: those of other processes may leave out
 * address, process and pid (0). `id` is the same at all ranks and no other communicator's. Held. */
HcclResult world_from_facts(const struct comm_fact *facts, uint32_t n_ranks, const char *id,
                            struct comm_world **world);

/* A world of ranks[0..num) of `parent`, which are there and ascend. Same `id`: same ranks, same
 * parent. Held. */
HcclResult world_of_part(const struct comm_world *parent, const uint32_t *ranks, uint32_t num,
                         const char *id, const char *meet, struct comm_world **world);

/* All ranks in this process, rank i on devices[i]. Held. */
HcclResult world_from_devices(const int32_t *devices, uint32_t num, struct comm_world **world);

/* ---- world_layers.c ---- */

#define WORLD_ROW 8u             /* devices of a 950 row */
#define WORLD_SERVER_DEVICES 64u /* of a 950 server: more in one place count as further servers */

/* Fills in the layers from the facts, and, unless it is a part, `site` and `pod` from those.
 * HCCL_E_MEMORY. */
HcclResult world_layers_init(struct comm_world *world);
void world_layers_fini(struct comm_world *world);

/* Two ranks are in one instance of the layer. */
bool world_together(const struct world_layer *layer, uint32_t a, uint32_t b);

/* ---- */

void world_hold(struct comm_world *world);
void world_release(struct comm_world *world); /* NULL is fine */

#endif
