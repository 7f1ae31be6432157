/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_graph: the wiring between ranks, as the named SoC would have it (inside this layer only).
 *
 * A2, A3   layer 0: the server, HCCS between any two devices. Layer 1, when there are several
 *          servers: all ranks, RoCE (A2) or HCCS (A3). Each layer is one instance, number 0.
 * 950      layer 0: the server of up to 64 devices in rows of 8: UB_CTP between devices of one row
 *          or one column. Instances: the row (its number), the column (8 + its number), and 16 for
 *          the whole when this rank has both. Layers 1 and 2: all ranks, UB_CTP, instance 0.
 *
 * G1  All answers come from four questions below (layer_has, inst_has, link_plane, inst_topo), so
 *     that they cannot contradict each other: libraries choose algorithms by them.
 * G2  Arrays handed out live with the communicator. Those of graph_ranks and graph_sizes never
 *     change; those of graph_inst_ranks and graph_links are overwritten by the next call.
 */
#ifndef HC_COMM_RANK_GRAPH_H
#define HC_COMM_RANK_GRAPH_H

#include "comm/comm_object.h"
#include "hccl/hccl_rank_graph.h"

#define GRAPH_LAYERS 3u
#define GRAPH_INSTS 3u /* of a rank in a layer, at most */

/* Each end of a link has an address in a plane: what joins the devices of a row, of a column... */
enum graph_plane { PLANE_ROW, PLANE_COLUMN, PLANE_SERVER, PLANE_POD, PLANE_ALL, PLANES };

struct comm_graph {
    uint32_t layers[GRAPH_LAYERS];
    uint32_t layer_num;
    uint32_t *ranks[GRAPH_LAYERS]; /* [rank_num[i]]: of this rank's instance of the layer */
    uint32_t rank_num[GRAPH_LAYERS];
    uint32_t *sizes[GRAPH_LAYERS]; /* [size_num[i]]: of every instance of the layer */
    uint32_t size_num[GRAPH_LAYERS];
    uint32_t insts[GRAPH_LAYERS][GRAPH_INSTS];
    uint32_t inst_num[GRAPH_LAYERS];
    uint32_t *inst_ranks; /* [n_ranks]: G2; written under the communicator's lock */
    CommLink link;        /* G2; the same */
};

/* The communicator's graph, made at first need. HCCL_E_MEMORY. */
HcclResult graph_get(struct comm *comm, const struct comm_graph **graph);

/* HCCL_E_PARA (logged): there is no such layer, or no such instance of it for this rank. */
HcclResult graph_check_layer(struct comm *comm, uint32_t layer, const char *function);
HcclResult graph_check_inst(struct comm *comm, uint32_t layer, uint32_t inst, const char *function);

CommTopo graph_layer_topo(const struct comm *comm, uint32_t layer);
CommTopo graph_inst_topo(const struct comm *comm, uint32_t layer, uint32_t inst);

/* Members of this rank's instance; *num of them in *ranks. */
HcclResult graph_inst_ranks(struct comm *comm, uint32_t layer, uint32_t inst, uint32_t **ranks,
                            uint32_t *num);

/* The link of two ranks in a layer, or *num 0. */
HcclResult graph_links(struct comm *comm, uint32_t layer, uint32_t src, uint32_t dst,
                       CommLink **links, uint32_t *num);

/* This rank's endpoint in an instance. */
void graph_endpoint(const struct comm *comm, uint32_t layer, uint32_t inst, EndpointDesc *endpoint);

/* Which plane of `rank` has that endpoint's protocol and address; -1: none. */
int graph_find_endpoint(const struct comm *comm, uint32_t rank, const EndpointDesc *endpoint);

#endif
