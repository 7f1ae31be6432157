/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/rank_graph.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define ROW 8u             /* devices of a 950 row */
#define SERVER_DEVICES 64u /* of a 950 server */
#define COLUMN_BASE 8u     /* instance numbers */
#define WHOLE 16u

static uint32_t
place(const struct comm *comm, uint32_t rank)
{
    return (uint32_t)comm->world->facts[rank].device % SERVER_DEVICES;
}

static uint32_t
row_of(const struct comm *comm, uint32_t rank)
{
    return place(comm, rank) / ROW;
}

static uint32_t
column_of(const struct comm *comm, uint32_t rank)
{
    return COLUMN_BASE + place(comm, rank) % ROW;
}

static bool
same_server(const struct comm *comm, uint32_t a, uint32_t b)
{
    return comm->world->server[a] == comm->world->server[b];
}

/* ---- The questions: G1 ---- */

/* `rank` is in this rank's instance of the layer. */
static bool
layer_has(const struct comm *comm, uint32_t layer, uint32_t rank)
{
    return layer > 0 || same_server(comm, comm->rank, rank);
}

/* `rank` is in this rank's topology instance `inst` of the layer. */
static bool
inst_has(const struct comm *comm, uint32_t layer, uint32_t inst, uint32_t rank)
{
    if (!layer_has(comm, layer, rank))
        return false;
    if (rt_soc() != RT_SOC_950 || layer > 0 || inst == WHOLE)
        return true;
    return inst < COLUMN_BASE ? row_of(comm, rank) == inst : column_of(comm, rank) == inst;
}

/* The plane that joins two ranks in a layer, or PLANES. */
static enum graph_plane
link_plane(const struct comm *comm, uint32_t layer, uint32_t a, uint32_t b)
{
    if (layer == 1)
        return PLANE_POD;
    if (layer == 2)
        return PLANE_ALL;
    if (!same_server(comm, a, b))
        return PLANES;
    if (rt_soc() != RT_SOC_950)
        return PLANE_SERVER;
    if (row_of(comm, a) == row_of(comm, b))
        return PLANE_ROW;
    return column_of(comm, a) == column_of(comm, b) ? PLANE_COLUMN : PLANES;
}

CommTopo
graph_inst_topo(const struct comm *comm, uint32_t layer, uint32_t inst)
{
    if (rt_soc() != RT_SOC_950)
        return graph_layer_topo(comm, layer);
    return layer == 0 && inst != WHOLE ? COMM_TOPO_1DMESH : COMM_TOPO_CLOS;
}

CommTopo
graph_layer_topo(const struct comm *comm, uint32_t layer)
{
    (void)comm;
    if (layer > 0)
        return COMM_TOPO_CLOS;
    switch (rt_soc()) {
    case RT_SOC_A3:
        return COMM_TOPO_910_93;
    case RT_SOC_950:
        return COMM_TOPO_CUSTOM;
    default:
        return COMM_TOPO_1DMESH;
    }
}

/* ---- The graph ---- */

void
graph_destroy(struct comm_graph *graph)
{
    if (graph == NULL)
        return;
    for (uint32_t i = 0; i < GRAPH_LAYERS; i++) {
        hc_free(graph->ranks[i]);
        hc_free(graph->sizes[i]);
    }
    hc_free(graph->inst_ranks);
    hc_free(graph);
}

static HcclResult
fill_layer(const struct comm *comm, struct comm_graph *graph, uint32_t layer)
{
    uint32_t n_ranks = comm->world->n_ranks;
    uint32_t parts = layer == 0 ? comm->world->n_servers : 1;

    graph->ranks[layer] = hc_calloc(n_ranks, sizeof(uint32_t));
    graph->sizes[layer] = hc_calloc(parts, sizeof(uint32_t));
    if (graph->ranks[layer] == NULL || graph->sizes[layer] == NULL)
        return HCCL_E_MEMORY;
    graph->size_num[layer] = parts;
    for (uint32_t i = 0; i < n_ranks; i++) {
        graph->sizes[layer][layer == 0 ? comm->world->server[i] : 0]++;
        if (layer_has(comm, layer, i))
            graph->ranks[layer][graph->rank_num[layer]++] = i;
    }
    return HCCL_SUCCESS;
}

/* How many ranks are in an instance. */
static uint32_t
inst_size(const struct comm *comm, uint32_t layer, uint32_t inst)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < comm->world->n_ranks; i++)
        count += inst_has(comm, layer, inst, i);
    return count;
}

/* A row or column of one is none, unless there is nothing else. */
static void
fill_insts(const struct comm *comm, struct comm_graph *graph, uint32_t layer)
{
    uint32_t row = row_of(comm, comm->rank), column = column_of(comm, comm->rank);
    bool has_column, has_row;

    if (rt_soc() != RT_SOC_950 || layer > 0) {
        graph->inst_num[layer] = 1; /* number 0 */
        return;
    }
    has_column = inst_size(comm, layer, column) > 1;
    has_row = inst_size(comm, layer, row) > 1 || !has_column;
    if (has_row)
        graph->insts[layer][graph->inst_num[layer]++] = row;
    if (has_column)
        graph->insts[layer][graph->inst_num[layer]++] = column;
    if (has_row && has_column)
        graph->insts[layer][graph->inst_num[layer]++] = WHOLE;
}

static HcclResult
graph_new(const struct comm *comm, struct comm_graph **out)
{
    struct comm_graph *graph = hc_zalloc(sizeof *graph);
    HcclResult rc = HCCL_SUCCESS;

    if (graph == NULL)
        return HCCL_E_MEMORY;
    graph->layer_num = rt_soc() == RT_SOC_950 ? 3 : comm->world->n_servers > 1 ? 2 : 1;
    graph->inst_ranks = hc_calloc(comm->world->n_ranks, sizeof(uint32_t));
    if (graph->inst_ranks == NULL)
        rc = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < graph->layer_num && rc == HCCL_SUCCESS; i++) {
        graph->layers[i] = i;
        rc = fill_layer(comm, graph, i);
        fill_insts(comm, graph, i);
    }
    if (rc != HCCL_SUCCESS) {
        graph_destroy(graph);
        return rc;
    }
    *out = graph;
    return HCCL_SUCCESS;
}

HcclResult
graph_get(struct comm *comm, const struct comm_graph **graph)
{
    HcclResult rc = HCCL_SUCCESS;

    pthread_mutex_lock(&comm->lock);
    if (comm->graph == NULL)
        rc = graph_new(comm, &comm->graph);
    *graph = comm->graph;
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

HcclResult
graph_check_layer(struct comm *comm, uint32_t layer, const char *function)
{
    const struct comm_graph *graph;
    HcclResult rc = graph_get(comm, &graph);

    if (rc != HCCL_SUCCESS || layer < graph->layer_num)
        return rc;
    LOG_ERROR(COMM, "%s: there is no network layer %u: %s has layers 0 to %u", function, layer,
              comm->name, graph->layer_num - 1);
    return HCCL_E_PARA;
}

HcclResult
graph_check_inst(struct comm *comm, uint32_t layer, uint32_t inst, const char *function)
{
    const struct comm_graph *graph;
    HcclResult rc = graph_check_layer(comm, layer, function);

    if (rc == HCCL_SUCCESS)
        rc = graph_get(comm, &graph);
    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < graph->inst_num[layer]; i++) {
        if (graph->insts[layer][i] == inst)
            return HCCL_SUCCESS;
    }
    LOG_ERROR(COMM,
              "%s: rank %u has no topology instance %u in layer %u: take one from "
              "HcclRankGraphGetTopoInstsByLayer",
              function, comm->rank, inst, layer);
    return HCCL_E_PARA;
}

HcclResult
graph_inst_ranks(struct comm *comm, uint32_t layer, uint32_t inst, uint32_t **ranks, uint32_t *num)
{
    const struct comm_graph *graph;
    HcclResult rc = graph_get(comm, &graph);
    uint32_t count = 0;

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&comm->lock);
    for (uint32_t i = 0; i < comm->world->n_ranks; i++) {
        if (inst_has(comm, layer, inst, i))
            graph->inst_ranks[count++] = i;
    }
    pthread_mutex_unlock(&comm->lock);
    *ranks = graph->inst_ranks;
    *num = count;
    return HCCL_SUCCESS;
}

/* ---- Endpoints and links ---- */

static CommProtocol
plane_protocol(enum graph_plane plane)
{
    if (rt_soc() == RT_SOC_950)
        return COMM_PROTOCOL_UB_CTP;
    return rt_soc() == RT_SOC_A2 && plane != PLANE_SERVER ? COMM_PROTOCOL_ROCE : COMM_PROTOCOL_HCCS;
}

/* Addresses follow from where the device is; nothing listens there. UB:
 * "fd00::UB:plane:server:device"; RoCE: in 198.18.0.0/15, which is set aside for tests; HCCS: the
 * device's number. */
static void
plane_address(const struct comm *comm, uint32_t rank, enum graph_plane plane, CommAddr *addr)
{
    uint32_t server = comm->world->server[rank];
    uint32_t device = (uint32_t)comm->world->facts[rank].device;

    memset(addr->raws, 0, sizeof addr->raws);
    switch (plane_protocol(plane)) {
    case COMM_PROTOCOL_UB_CTP:
        addr->type = COMM_ADDR_TYPE_EID;
        addr->eid[0] = 0xfd;
        addr->eid[5] = (uint8_t)(1 + plane);
        for (int i = 0; i < 4; i++) {
            addr->eid[8 + i] = (uint8_t)(server >> (24 - 8 * i));
            addr->eid[12 + i] = (uint8_t)(device >> (24 - 8 * i));
        }
        break;
    case COMM_PROTOCOL_ROCE:
        addr->type = COMM_ADDR_TYPE_IP_V4;
        addr->addr.s_addr = htonl(0xC6120000u + ((server * SERVER_DEVICES + device) & 0x1FFFFu));
        break;
    default:
        addr->type = COMM_ADDR_TYPE_ID;
        addr->id = device;
        break;
    }
}

static void
make_endpoint(const struct comm *comm, uint32_t rank, enum graph_plane plane,
              EndpointDesc *endpoint)
{
    (void)EndpointDescInit(endpoint, 1); /* cannot fail on one good pointer */
    endpoint->protocol = plane_protocol(plane);
    plane_address(comm, rank, plane, &endpoint->commAddr);
    endpoint->loc.locType = ENDPOINT_LOC_TYPE_DEVICE;
    endpoint->loc.device.devPhyId = (uint32_t)comm->world->facts[rank].device;
    endpoint->loc.device.superDevId = (uint32_t)comm->world->facts[rank].device;
    endpoint->loc.device.serverIdx = comm->world->server[rank];
    endpoint->loc.device.superPodIdx = 0;
}

HcclResult
graph_links(struct comm *comm, uint32_t layer, uint32_t src, uint32_t dst, CommLink **links,
            uint32_t *num)
{
    enum graph_plane plane = link_plane(comm, layer, src, dst);
    const struct comm_graph *graph;
    HcclResult rc = graph_get(comm, &graph);
    CommLink link;

    if (rc != HCCL_SUCCESS)
        return rc;
    if (plane != PLANES) {
        (void)CommLinkInit(&link, 1);
        make_endpoint(comm, src, plane, &link.srcEndpointDesc);
        make_endpoint(comm, dst, plane, &link.dstEndpointDesc);
        link.linkAttr.linkProtocol = plane_protocol(plane);
        link.linkAttr.hop = 1;
        pthread_mutex_lock(&comm->lock);
        comm->graph->link = link;
        pthread_mutex_unlock(&comm->lock);
    }
    *links = &comm->graph->link;
    *num = plane != PLANES;
    return HCCL_SUCCESS;
}

static enum graph_plane
inst_plane(uint32_t layer, uint32_t inst)
{
    if (layer > 0)
        return layer == 1 ? PLANE_POD : PLANE_ALL;
    if (rt_soc() != RT_SOC_950 || inst == WHOLE)
        return PLANE_SERVER;
    return inst < COLUMN_BASE ? PLANE_ROW : PLANE_COLUMN;
}

void
graph_endpoint(const struct comm *comm, uint32_t layer, uint32_t inst, EndpointDesc *endpoint)
{
    make_endpoint(comm, comm->rank, inst_plane(layer, inst), endpoint);
}

int
graph_find_endpoint(const struct comm *comm, uint32_t rank, const EndpointDesc *endpoint)
{
    for (int plane = 0; plane < PLANES; plane++) {
        EndpointDesc own;

        make_endpoint(comm, rank, (enum graph_plane)plane, &own);
        if (own.protocol == endpoint->protocol && own.commAddr.type == endpoint->commAddr.type &&
            memcmp(own.commAddr.raws, endpoint->commAddr.raws, COMM_ADDR_EID_LEN) == 0)
            return plane;
    }
    return -1;
}
