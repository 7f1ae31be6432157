/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/rank_graph.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define COLUMN_BASE 8u /* instance numbers */
#define WHOLE 16u

/* Each end of a link has an address in a plane: what joins the devices of a row, of a column, of a
 * server, and of each higher layer. */
#define PLANE_ROW 0u
#define PLANE_COLUMN 1u
#define PLANE_LAYER 2u /* and the layer's number */
#define PLANE_NONE UINT32_MAX

static uint32_t
place_of(const struct comm *comm, uint32_t rank)
{
    return comm->world->facts[rank].place % WORLD_SERVER_DEVICES;
}

static uint32_t
row_of(const struct comm *comm, uint32_t rank)
{
    return place_of(comm, rank) / WORLD_ROW;
}

static uint32_t
column_of(const struct comm *comm, uint32_t rank)
{
    return COLUMN_BASE + place_of(comm, rank) % WORLD_ROW;
}

static const struct world_layer *
servers_of(const struct comm *comm)
{
    return &comm->world->layers[0];
}

/* ---- The questions: G1 ---- */

/* The layer is wired in rows and columns. */
static bool
in_rows(const struct world_layer *net)
{
    return net->number == 0 && rt_soc() == RT_SOC_950;
}

/* What of the wiring of a 950 server the communicator uses around a rank. */
struct wiring {
    bool row, column; /* another rank is in the rank's */
    bool whole;       /* neither one row nor one column holds all ranks of the server */
};

static struct wiring
wiring_of(const struct comm *comm, uint32_t rank)
{
    bool rows = false, columns = false;
    struct wiring wiring = {0};

    for (uint32_t i = 0; i < comm->world->n_ranks; i++) {
        if (i == rank || !world_together(servers_of(comm), rank, i))
            continue;
        if (row_of(comm, i) == row_of(comm, rank))
            wiring.row = true;
        else
            rows = true;
        if (column_of(comm, i) == column_of(comm, rank))
            wiring.column = true;
        else
            columns = true;
    }
    wiring.whole = rows && columns;
    return wiring;
}

/* The topology instances of a rank of the layer; how many. One that has nobody else is none, unless
 * there is nothing else. */
static uint32_t
insts_of(const struct comm *comm, const struct world_layer *net, uint32_t rank,
         uint32_t insts[GRAPH_INSTS])
{
    struct wiring wiring;
    uint32_t num = 0;

    insts[0] = 0;
    if (!in_rows(net))
        return 1;
    wiring = wiring_of(comm, rank);
    if (wiring.row || (!wiring.column && !wiring.whole))
        insts[num++] = row_of(comm, rank);
    if (wiring.column)
        insts[num++] = column_of(comm, rank);
    if (wiring.whole)
        insts[num++] = WHOLE;
    return num;
}

/* `other` is in topology instance `inst` of `rank`. */
static bool
inst_has(const struct comm *comm, const struct world_layer *net, uint32_t inst, uint32_t rank,
         uint32_t other)
{
    if (!world_together(net, rank, other))
        return false;
    if (!in_rows(net) || inst == WHOLE)
        return true;
    return inst < COLUMN_BASE ? row_of(comm, other) == inst : column_of(comm, other) == inst;
}

/* The plane that joins two ranks in a layer, or PLANE_NONE. */
static uint32_t
link_plane(const struct comm *comm, const struct world_layer *net, uint32_t a, uint32_t b)
{
    if (!world_together(net, a, b))
        return PLANE_NONE;
    if (!in_rows(net))
        return PLANE_LAYER + net->number;
    if (row_of(comm, a) == row_of(comm, b))
        return PLANE_ROW;
    return column_of(comm, a) == column_of(comm, b) ? PLANE_COLUMN : PLANE_NONE;
}

/* The plane that an endpoint in a topology instance is in. */
static uint32_t
inst_plane(const struct world_layer *net, uint32_t inst)
{
    if (!in_rows(net) || inst == WHOLE)
        return PLANE_LAYER + net->number;
    return inst < COLUMN_BASE ? PLANE_ROW : PLANE_COLUMN;
}

CommTopo
graph_inst_topo(const struct graph_layer *layer, uint32_t inst)
{
    if (!in_rows(layer->net))
        return graph_layer_topo(layer);
    return inst == WHOLE ? COMM_TOPO_CLOS : COMM_TOPO_1DMESH;
}

CommTopo
graph_layer_topo(const struct graph_layer *layer)
{
    if (layer->net->number > 0)
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
    for (uint32_t i = 0; i < WORLD_LAYERS; i++) {
        hc_free(graph->layers[i].ranks);
        hc_free(graph->layers[i].sizes);
    }
    hc_free(graph->inst_ranks);
    hc_free(graph);
}

static HcclResult
fill_layer(const struct comm *comm, struct graph_layer *layer, const struct world_layer *net)
{
    uint32_t n_ranks = comm->world->n_ranks;

    layer->net = net;
    layer->ranks = hc_calloc(n_ranks, sizeof(uint32_t));
    layer->sizes = hc_calloc(net->n_insts, sizeof(uint32_t));
    if (layer->ranks == NULL || layer->sizes == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < n_ranks; i++) {
        if (net->inst[i] != WORLD_NONE)
            layer->sizes[net->inst[i]]++;
        if (world_together(net, comm->rank, i))
            layer->ranks[layer->rank_num++] = i;
    }
    layer->inst_num = insts_of(comm, net, comm->rank, layer->insts);
    return HCCL_SUCCESS;
}

static HcclResult
graph_new(const struct comm *comm, struct comm_graph **out)
{
    struct comm_graph *graph = hc_zalloc(sizeof *graph);
    const struct comm_world *world = comm->world;
    HcclResult rc = HCCL_SUCCESS;

    if (graph == NULL)
        return HCCL_E_MEMORY;
    graph->inst_ranks = hc_calloc(world->n_ranks, sizeof(uint32_t));
    if (graph->inst_ranks == NULL)
        rc = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < world->n_layers && rc == HCCL_SUCCESS; i++) {
        if (world->layers[i].inst[comm->rank] == WORLD_NONE)
            continue;
        graph->numbers[graph->layer_num] = world->layers[i].number;
        rc = fill_layer(comm, &graph->layers[graph->layer_num++], &world->layers[i]);
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

/* Says which layers this rank has. */
static HcclResult
fail_layer(const struct comm *comm, const struct comm_graph *graph, uint32_t number,
           const char *function)
{
    const struct comm_world *world = comm->world;
    char list[8 * WORLD_LAYERS] = "";
    bool exists = false;

    for (uint32_t i = 0; i < graph->layer_num; i++) {
        size_t used = strlen(list);

        snprintf(list + used, sizeof list - used, "%s%u", i > 0 ? ", " : "", graph->numbers[i]);
    }
    for (uint32_t i = 0; i < world->n_layers; i++)
        exists = exists || world->layers[i].number == number;
    LOG_ERROR(COMM, "%s: %s network layer %u: rank %u of %s has %s", function,
              exists ? "this rank is not in" : "there is no", number, comm->rank, comm->name, list);
    return exists ? HCCL_E_PTR : HCCL_E_PARA;
}

HcclResult
graph_find_layer(struct comm *comm, uint32_t number, const char *function,
                 const struct graph_layer **layer)
{
    const struct comm_graph *graph;
    HcclResult rc = graph_get(comm, &graph);

    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < graph->layer_num; i++) {
        if (graph->numbers[i] == number) {
            *layer = &graph->layers[i];
            return HCCL_SUCCESS;
        }
    }
    return fail_layer(comm, graph, number, function);
}

HcclResult
graph_check_inst(const struct comm *comm, const struct graph_layer *layer, uint32_t inst,
                 const char *function)
{
    for (uint32_t i = 0; i < layer->inst_num; i++) {
        if (layer->insts[i] == inst)
            return HCCL_SUCCESS;
    }
    LOG_ERROR(COMM,
              "%s: rank %u has no topology instance %u in layer %u: take one from "
              "HcclRankGraphGetTopoInstsByLayer",
              function, comm->rank, inst, layer->net->number);
    return HCCL_E_PARA;
}

void
graph_inst_ranks(struct comm *comm, const struct graph_layer *layer, uint32_t inst,
                 uint32_t **ranks, uint32_t *num)
{
    uint32_t count = 0;

    pthread_mutex_lock(&comm->lock);
    for (uint32_t i = 0; i < comm->world->n_ranks; i++) {
        if (inst_has(comm, layer->net, inst, comm->rank, i))
            comm->graph->inst_ranks[count++] = i;
    }
    *ranks = comm->graph->inst_ranks;
    pthread_mutex_unlock(&comm->lock);
    *num = count;
}

/* ---- Endpoints and links ---- */

static CommProtocol
plane_protocol(uint32_t plane)
{
    switch (rt_soc()) {
    case RT_SOC_950:
        return COMM_PROTOCOL_UB_CTP;
    case RT_SOC_A3:
        return plane <= PLANE_LAYER + 1 ? COMM_PROTOCOL_HCCS : COMM_PROTOCOL_ROCE;
    default:
        return plane <= PLANE_LAYER ? COMM_PROTOCOL_HCCS : COMM_PROTOCOL_ROCE;
    }
}

/* Where a device is among all of the communicator, or of what it is a part of. */
static uint32_t
number_of(const struct comm *comm, uint32_t rank)
{
    return comm->world->site[rank] * WORLD_SERVER_DEVICES + place_of(comm, rank);
}

/* Addresses follow from where the device is; nothing listens there. UB:
 * "fd00::UB:plane:server:device"; RoCE: in 198.18.0.0/15, which is set aside for tests; HCCS: the
 * device's number. */
static void
plane_address(const struct comm *comm, uint32_t rank, uint32_t plane, CommAddr *addr)
{
    uint32_t server = comm->world->site[rank];

    memset(addr->raws, 0, sizeof addr->raws);
    switch (plane_protocol(plane)) {
    case COMM_PROTOCOL_UB_CTP:
        addr->type = COMM_ADDR_TYPE_EID;
        addr->eid[0] = 0xfd;
        addr->eid[5] = (uint8_t)(1 + plane);
        for (int i = 0; i < 4; i++)
            addr->eid[8 + i] = (uint8_t)(server >> (24 - 8 * i));
        addr->eid[15] = (uint8_t)place_of(comm, rank);
        break;
    case COMM_PROTOCOL_ROCE:
        addr->type = COMM_ADDR_TYPE_IP_V4;
        addr->addr.s_addr = htonl(0xC6120000u + (number_of(comm, rank) & 0x1FFFFu));
        break;
    default:
        addr->type = COMM_ADDR_TYPE_ID;
        addr->id = number_of(comm, rank);
        break;
    }
}

static void
make_endpoint(const struct comm *comm, uint32_t rank, uint32_t plane, EndpointDesc *endpoint)
{
    const struct comm_fact *fact = comm_fact(comm, rank);

    (void)EndpointDescInit(endpoint, 1); /* cannot fail on one good pointer */
    endpoint->protocol = plane_protocol(plane);
    plane_address(comm, rank, plane, &endpoint->commAddr);
    endpoint->loc.locType = ENDPOINT_LOC_TYPE_DEVICE;
    endpoint->loc.device.devPhyId = fact->physical;
    endpoint->loc.device.superDevId =
        fact->super_device != COMM_NOT_TOLD ? fact->super_device : number_of(comm, rank);
    endpoint->loc.device.serverIdx = comm->world->site[rank];
    endpoint->loc.device.superPodIdx = comm->world->pod[rank];
}

void
graph_links(struct comm *comm, const struct graph_layer *layer, uint32_t src, uint32_t dst,
            CommLink **links, uint32_t *num)
{
    uint32_t plane = link_plane(comm, layer->net, src, dst);
    CommLink link;

    if (plane != PLANE_NONE) {
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
    *num = plane != PLANE_NONE;
}

void
graph_endpoint(const struct comm *comm, const struct graph_layer *layer, uint32_t inst,
               EndpointDesc *endpoint)
{
    make_endpoint(comm, comm->rank, inst_plane(layer->net, inst), endpoint);
}

static bool
same_endpoint(const EndpointDesc *a, const EndpointDesc *b)
{
    return a->protocol == b->protocol && a->commAddr.type == b->commAddr.type &&
           memcmp(a->commAddr.raws, b->commAddr.raws, COMM_ADDR_EID_LEN) == 0;
}

bool
graph_find_endpoint(const struct comm *comm, uint32_t rank, const EndpointDesc *endpoint,
                    uint32_t *die)
{
    for (uint32_t i = 0; i < comm->world->n_layers; i++) {
        const struct world_layer *net = &comm->world->layers[i];
        uint32_t insts[GRAPH_INSTS], num = 0;

        if (net->inst[rank] != WORLD_NONE)
            num = insts_of(comm, net, rank, insts);
        for (uint32_t j = 0; j < num; j++) {
            uint32_t plane = inst_plane(net, insts[j]);
            EndpointDesc own;

            make_endpoint(comm, rank, plane, &own);
            if (!same_endpoint(&own, endpoint))
                continue;
            *die = plane == PLANE_COLUMN; /* rows are wired to one die, columns to the other */
            return true;
        }
    }
    return false;
}
