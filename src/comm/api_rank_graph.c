/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "comm/rank_graph.h"

/* What every query starts with: outputs there, communicator live, layer exists. */
static HcclResult
begin(HcclComm handle, const void *out, const void *out_num, uint32_t layer, const char *function,
      struct comm **comm)
{
    HcclResult rc = comm_need(out, function, "an output");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(out_num, function, "an output");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_check_layer(*comm, layer, function);
    if (rc != HCCL_SUCCESS)
        comm_release(*comm);
    return rc;
}

HcclResult
HcclRankGraphGetLayers(HcclComm handle, uint32_t **layers, uint32_t *num)
{
    const struct comm_graph *graph = NULL;
    struct comm *comm;
    HcclResult rc = begin(handle, layers, num, 0, "HcclRankGraphGetLayers", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_get(comm, &graph);
    if (rc == HCCL_SUCCESS) {
        *layers = (uint32_t *)graph->layers;
        *num = graph->layer_num;
    }
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetRanksByLayer(HcclComm handle, uint32_t layer, uint32_t **ranks, uint32_t *num)
{
    const struct comm_graph *graph = NULL;
    struct comm *comm;
    HcclResult rc = begin(handle, ranks, num, layer, "HcclRankGraphGetRanksByLayer", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_get(comm, &graph);
    if (rc == HCCL_SUCCESS) {
        *ranks = graph->ranks[layer];
        *num = graph->rank_num[layer];
    }
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetRankSizeByLayer(HcclComm handle, uint32_t layer, uint32_t *num)
{
    const struct comm_graph *graph = NULL;
    struct comm *comm;
    HcclResult rc = begin(handle, num, num, layer, "HcclRankGraphGetRankSizeByLayer", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_get(comm, &graph);
    if (rc == HCCL_SUCCESS)
        *num = graph->rank_num[layer];
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetTopoTypeByLayer(HcclComm handle, uint32_t layer, CommTopo *topo)
{
    struct comm *comm;
    HcclResult rc = begin(handle, topo, topo, layer, "HcclRankGraphGetTopoTypeByLayer", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    *topo = graph_layer_topo(comm, layer);
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclRankGraphGetInstSizeListByLayer(HcclComm handle, uint32_t layer, uint32_t **sizes,
                                    uint32_t *num)
{
    const struct comm_graph *graph = NULL;
    struct comm *comm;
    HcclResult rc = begin(handle, sizes, num, layer, "HcclRankGraphGetInstSizeListByLayer", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_get(comm, &graph);
    if (rc == HCCL_SUCCESS) {
        *sizes = graph->sizes[layer];
        *num = graph->size_num[layer];
    }
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetLinks(HcclComm handle, uint32_t layer, uint32_t src, uint32_t dst, CommLink **links,
                      uint32_t *num)
{
    struct comm *comm;
    HcclResult rc = begin(handle, links, num, layer, "HcclRankGraphGetLinks", &comm);

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
        rc = graph_links(comm, layer, src, dst, links, num);
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetTopoInstsByLayer(HcclComm handle, uint32_t layer, uint32_t **insts, uint32_t *num)
{
    const struct comm_graph *graph = NULL;
    struct comm *comm;
    HcclResult rc = begin(handle, insts, num, layer, "HcclRankGraphGetTopoInstsByLayer", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_get(comm, &graph);
    if (rc == HCCL_SUCCESS) {
        *insts = (uint32_t *)graph->insts[layer];
        *num = graph->inst_num[layer];
    }
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetTopoType(HcclComm handle, uint32_t layer, uint32_t inst, CommTopo *topo)
{
    struct comm *comm;
    HcclResult rc = begin(handle, topo, topo, layer, "HcclRankGraphGetTopoType", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_check_inst(comm, layer, inst, "HcclRankGraphGetTopoType");
    if (rc == HCCL_SUCCESS)
        *topo = graph_inst_topo(comm, layer, inst);
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetRanksByTopoInst(HcclComm handle, uint32_t layer, uint32_t inst, uint32_t **ranks,
                                uint32_t *num)
{
    struct comm *comm;
    HcclResult rc = begin(handle, ranks, num, layer, "HcclRankGraphGetRanksByTopoInst", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_check_inst(comm, layer, inst, "HcclRankGraphGetRanksByTopoInst");
    if (rc == HCCL_SUCCESS)
        rc = graph_inst_ranks(comm, layer, inst, ranks, num);
    comm_release(comm);
    return rc;
}

HcclResult
HcclGetHeterogMode(HcclComm handle, HcclHeterogMode *mode)
{
    struct comm *comm;
    HcclResult rc = begin(handle, mode, mode, 0, "HcclGetHeterogMode", &comm);

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
HcclRankGraphGetEndpointNum(HcclComm handle, uint32_t layer, uint32_t inst, uint32_t *num)
{
    struct comm *comm;
    HcclResult rc = begin(handle, num, num, layer, "HcclRankGraphGetEndpointNum", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_check_inst(comm, layer, inst, "HcclRankGraphGetEndpointNum");
    if (rc == HCCL_SUCCESS)
        *num = 1;
    comm_release(comm);
    return rc;
}

HcclResult
HcclRankGraphGetEndpointDesc(HcclComm handle, uint32_t layer, uint32_t inst, uint32_t *num,
                             EndpointDesc *endpoints)
{
    struct comm *comm;
    HcclResult rc = begin(handle, num, endpoints, layer, "HcclRankGraphGetEndpointDesc", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = graph_check_inst(comm, layer, inst, "HcclRankGraphGetEndpointDesc");
    if (rc == HCCL_SUCCESS && *num < 1) {
        LOG_ERROR(COMM, "HcclRankGraphGetEndpointDesc: there is room for 0 endpoints, 1 is needed");
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS) {
        graph_endpoint(comm, layer, inst, &endpoints[0]);
        *num = 1;
    }
    comm_release(comm);
    return rc;
}

/* `rank` has the endpoint: one attribute of it. */
static HcclResult
tell_attribute(int plane, EndpointAttr attribute, uint32_t *value)
{
    switch (attribute) {
    case ENDPOINT_ATTR_BW_COEFF:
        *value = 1;
        return HCCL_SUCCESS;
    case ENDPOINT_ATTR_DIE_ID:
        *value = plane == PLANE_COLUMN; /* rows are wired to one die, columns to the other */
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
    struct comm *comm;
    int plane;
    HcclResult rc = begin(handle, endpoint, info, 0, "HcclRankGraphGetEndpointInfo", &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_rank_check(comm, rank, "HcclRankGraphGetEndpointInfo");
    if (rc == HCCL_SUCCESS && len != sizeof(uint32_t)) {
        LOG_ERROR(COMM, "HcclRankGraphGetEndpointInfo: infoLen is %u, each attribute has 4 bytes",
                  len);
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS) {
        plane = graph_find_endpoint(comm, rank, endpoint);
        if (plane >= 0) {
            rc = tell_attribute(plane, attribute, info);
        } else {
            LOG_ERROR(COMM, "HcclRankGraphGetEndpointInfo: rank %u has no such endpoint", rank);
            rc = HCCL_E_NOT_FOUND;
        }
    }
    comm_release(comm);
    return rc;
}
