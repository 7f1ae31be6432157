/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_graph: the wiring between ranks, as the named SoC would have it (inside this layer only).
 * Which layers there are and who is in them: world_layers.c.
 *
 * A2, A3   In a layer any two ranks of an instance have a link. Inside a server, and inside a super
 *          pod of an A3, it is HCCS, further it is RoCE. An instance is one topology instance, 0.
 * 950      All links are UB_CTP. Layer 0 is a server of up to 64 devices in rows of 8, with links
 *          between devices of one row or one column. Topology instances: the row (its number), the
 *          column (8 + its number), each if it has two ranks, and 16 for the server when it has
 *          several rows and several columns. Higher layers are as those of the others.
 *
 * G1  All answers come from the questions below (world_together, wiring_of, insts_of, inst_has,
 *     link_plane), so that they cannot contradict each other: libraries choose algorithms by them.
 * G2  Arrays handed out live with the communicator. Those of struct graph_layer never change; those
 *     of graph_inst_ranks and graph_links are overwritten by the next call.
 * G3  Any two ranks have a link in some layer.
 */
#ifndef HC_COMM_RANK_GRAPH_H
#define HC_COMM_RANK_GRAPH_H

#include "comm/comm_object.h"
#include "hccl/hccl_rank_graph.h"

#define GRAPH_INSTS 3u /* of a rank in a layer, at most */

/* A layer as one rank sees it. */
struct graph_layer {
    const struct world_layer *net;
    uint32_t *ranks; /* [rank_num]: of this rank's instance */
    uint32_t rank_num;
    uint32_t *sizes; /* [net->n_insts]: ranks of every instance */
    uint32_t insts[GRAPH_INSTS];
    uint32_t inst_num;
};

struct comm_graph {
    uint32_t numbers[WORLD_LAYERS]; /* [layer_num], ascending: of the layers this rank is in */
    struct graph_layer layers[WORLD_LAYERS]; /* [layer_num] */
    uint32_t layer_num;
    uint32_t *inst_ranks; /* [n_ranks]: G2; written under the communicator's lock */
    CommLink link;        /* G2; the same */
};

/* The communicator's graph, made at first need. HCCL_E_MEMORY. */
HcclResult graph_get(struct comm *comm, const struct comm_graph **graph);

/* Layer `number`. HCCL_E_PARA (logged): there is none; HCCL_E_PTR (logged): this rank is not in it.
 */
HcclResult graph_find_layer(struct comm *comm, uint32_t number, const char *function,
                            const struct graph_layer **layer);

/* HCCL_E_PARA (logged): this rank has no such topology instance in the layer. */
HcclResult graph_check_inst(const struct comm *comm, const struct graph_layer *layer, uint32_t inst,
                            const char *function);

CommTopo graph_layer_topo(const struct graph_layer *layer);
CommTopo graph_inst_topo(const struct graph_layer *layer, uint32_t inst);

/* Members of this rank's instance; *num of them in *ranks. */
void graph_inst_ranks(struct comm *comm, const struct graph_layer *layer, uint32_t inst,
                      uint32_t **ranks, uint32_t *num);

/* The link of two ranks in a layer, or *num 0. */
void graph_links(struct comm *comm, const struct graph_layer *layer, uint32_t src, uint32_t dst,
                 CommLink **links, uint32_t *num);

/* This rank's endpoint in a topology instance. */
void graph_endpoint(const struct comm *comm, const struct graph_layer *layer, uint32_t inst,
                    EndpointDesc *endpoint);

/* `rank` has an endpoint with that protocol and address, on that die; false: it has not. */
bool graph_find_endpoint(const struct comm *comm, uint32_t rank, const EndpointDesc *endpoint,
                         uint32_t *die);

#endif
