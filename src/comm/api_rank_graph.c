/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "comm/rank_graph.h"

/* What every query starts with: outputs there, communicator live, layer exists. */
static HcclResult
begin(HcclComm handle, const void *out, const void *out_num, uint32_t number, const char *function,
      struct comm **comm, const struct graph_layer **layer)
{
    HcclResult rc = comm_need(out, function, "an output");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(out_num, function, "an output");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_find_layer(*comm, number, function, layer);
    if (rc != HCCL_SUCCESS)
        comm_release(*comm);
    return rc;
}

/* As begin(), and this rank has the topology instance. */
static HcclResult
begin_inst(HcclComm handle, const void *out, const void *out_num, uint32_t number, uint32_t inst,
           const char *function, struct comm **comm, const struct graph_layer **layer)
{
    HcclResult rc = begin(handle, out, out_num, number, function, comm, layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_check_inst(*comm, *layer, inst, function);
    if (rc != HCCL_SUCCESS)
        comm_release(*comm);
    return rc;
}

HcclResult
HcclRankGraphGetLayers(HcclComm handle, uint32_t **numbers, uint32_t *num)
{
    const struct comm_graph *graph = NULL;
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc = begin(handle, numbers, num, 0, "HcclRankGraphGetLayers", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_get(comm, &graph);
    if (rc == HCCL_SUCCESS) {
        *numbers = (uint32_t *)graph->numbers;
        *num = graph->layer_num;
    }
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetRanksByLayer(HcclComm handle, uint32_t number, uint32_t **ranks, uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin(handle, ranks, num, number, "HcclRankGraphGetRanksByLayer", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *ranks = layer->ranks;
    *num = layer->rank_num;
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetRankSizeByLayer(HcclComm handle, uint32_t number, uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin(handle, num, num, number, "HcclRankGraphGetRankSizeByLayer", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *num = layer->rank_num;
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetTopoTypeByLayer(HcclComm handle, uint32_t number, CommTopo *topo)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin(handle, topo, topo, number, "HcclRankGraphGetTopoTypeByLayer", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *topo = graph_layer_topo(layer);
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetInstSizeListByLayer(HcclComm handle, uint32_t number, uint32_t **sizes,
                                    uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin(handle, sizes, num, number, "HcclRankGraphGetInstSizeListByLayer", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *sizes = layer->sizes;
    *num = layer->net->n_insts;
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetLinks(HcclComm handle, uint32_t number, uint32_t src, uint32_t dst,
                      CommLink **links, uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc = begin(handle, links, num, number, "HcclRankGraphGetLinks", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_rank_check(comm, src, "HcclRankGraphGetLinks");
    if (rc == HCCL_SUCCESS)
        rc = comm_rank_check(comm, dst, "HcclRankGraphGetLinks");
    if (rc == HCCL_SUCCESS && src == dst) {
        LOG_ERROR(COMM, "HcclRankGraphGetLinks: rank %u has no link to itself", src);
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        graph_links(comm, layer, src, dst, links, num);
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetTopoInstsByLayer(HcclComm handle, uint32_t number, uint32_t **insts, uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin(handle, insts, num, number, "HcclRankGraphGetTopoInstsByLayer", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *insts = (uint32_t *)layer->insts;
    *num = layer->inst_num;
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetTopoType(HcclComm handle, uint32_t number, uint32_t inst, CommTopo *topo)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin_inst(handle, topo, topo, number, inst, "HcclRankGraphGetTopoType", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *topo = graph_inst_topo(layer, inst);
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetRanksByTopoInst(HcclComm handle, uint32_t number, uint32_t inst, uint32_t **ranks,
                                uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc = begin_inst(handle, ranks, num, number, inst, "HcclRankGraphGetRanksByTopoInst",
                               &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    graph_inst_ranks(comm, layer, inst, ranks, num);
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclGetHeterogMode(HcclComm handle, HcclHeterogMode *mode)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc = begin(handle, mode, mode, 0, "HcclGetHeterogMode", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *mode = HCCL_HETEROG_MODE_HOMOGENEOUS;
    for (uint32_t i = 1; i < comm_rank_num(comm); i++) {
        if (comm_fact(comm, i)->soc_generation != comm_fact(comm, 0)->soc_generation)
            *mode = HCCL_HETEROG_MODE_MIX_A2_A3;
    }
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetEndpointNum(HcclComm handle, uint32_t number, uint32_t inst, uint32_t *num)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc =
        begin_inst(handle, num, num, number, inst, "HcclRankGraphGetEndpointNum", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    *num = 1;
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetEndpointDesc(HcclComm handle, uint32_t number, uint32_t inst, uint32_t *num,
                             EndpointDesc *endpoints)
{
    const struct graph_layer *layer;
    struct comm *comm;
    HcclResult rc = begin_inst(handle, num, endpoints, number, inst, "HcclRankGraphGetEndpointDesc",
                               &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (*num < 1) {
        LOG_ERROR(COMM, "HcclRankGraphGetEndpointDesc: there is room for 0 endpoints, 1 is needed");
        rc = HCCL_E_PARA;
    } else {
        graph_endpoint(comm, layer, inst, &endpoints[0]);
        *num = 1;
    }
    comm_release(comm);
    return rc;
}

/* `rank` has the endpoint: one attribute of it. */
static HcclResult
tell_attribute(uint32_t die, EndpointAttr attribute, uint32_t *value)
{
    switch (attribute) {
    case ENDPOINT_ATTR_BW_COEFF:
        *value = 1;
        return HCCL_SUCCESS;
    case ENDPOINT_ATTR_DIE_ID:
        *value = die;
        return HCCL_SUCCESS;
    case ENDPOINT_ATTR_LOCATION:
        *value = ENDPOINT_LOC_TYPE_DEVICE;
        return HCCL_SUCCESS;
    default:
        LOG_ERROR(COMM, "HcclRankGraphGetEndpointInfo: %d is no endpoint attribute",
                  (int)attribute);
        return HCCL_E_PARA;
    }
}

HcclResult
HcclRankGraphGetEndpointInfo(HcclComm handle, uint32_t rank, const EndpointDesc *endpoint,
                             EndpointAttr attribute, uint32_t len, void *info)
{
    const struct graph_layer *layer;
    struct comm *comm;
    uint32_t die = 0;
    HcclResult rc = begin(handle, endpoint, info, 0, "HcclRankGraphGetEndpointInfo", &comm, &layer);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_rank_check(comm, rank, "HcclRankGraphGetEndpointInfo");
    if (rc == HCCL_SUCCESS && len != sizeof(uint32_t)) {
        LOG_ERROR(COMM, "HcclRankGraphGetEndpointInfo: infoLen is %u, each attribute has 4 bytes",
                  len);
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS) {
        if (graph_find_endpoint(comm, rank, endpoint, &die)) {
            rc = tell_attribute(die, attribute, info);
        } else {
            LOG_ERROR(COMM, "HcclRankGraphGetEndpointInfo: rank %u has no such endpoint", rank);
            rc = HCCL_E_NOT_FOUND;
        }
    }
    comm_release(comm);
    return rc;
}
