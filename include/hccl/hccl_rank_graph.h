/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_rank_graph: which ranks there are, how they are grouped, what links them.
 *
 * Layers are networks: 0 is inside a server, higher ones reach further. A layer has one or more
 * instances; the queries look at the instance the calling rank is in. All calls are local.
 * Arrays that a query returns belong to the library and last until the next query of the same kind
 * on the same communicator: copy at once.
 *
 * Common results, not repeated below: HCCL_E_PTR for a NULL, or for a layer in which this rank has
 * no instance; HCCL_E_PARA for no such communicator, layer, instance or rank.
 *
 * Source: spec, control plane, section 15; spec, types, sections 3.5, 5.7 and 7.
 */
#ifndef HCCL_RANK_GRAPH_H
#define HCCL_RANK_GRAPH_H

#include <arpa/inet.h>

#include "securec.h"

#include "hccl_res.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const uint32_t COMM_LINK_MAGIC_WORD = 0x0f0e0f0f;
static const uint32_t COMM_LINK_VERSION = 1;
#else
enum { COMM_LINK_MAGIC_WORD = 0x0f0e0f0f, COMM_LINK_VERSION = 1 };
#endif

/* What HcclRankGraphGetEndpointInfo can tell; each is a uint32_t. */
typedef enum {
    ENDPOINT_ATTR_INVALID = -1,
    ENDPOINT_ATTR_BW_COEFF = 0, /* physical ports behind the endpoint */
    ENDPOINT_ATTR_DIE_ID = 1,
    ENDPOINT_ATTR_LOCATION = 2
} EndpointAttr;

typedef uint32_t EndpointAttrBwCoeff;
typedef uint32_t EndpointAttrDieId;
typedef uint32_t EndpointAttrLocation;

/* Shape of a layer or of a part of it. */
typedef enum {
    COMM_TOPO_RESERVED = -1,
    COMM_TOPO_CLOS = 0,
    COMM_TOPO_1DMESH = 1,
    COMM_TOPO_910_93 = 2,
    COMM_TOPO_310P = 3,
    COMM_TOPO_A2AXSERVER = 4,
    COMM_TOPO_CUSTOM = 5
} CommTopo;

typedef enum {
    HCCL_HETEROG_MODE_INVALID = -1,
    HCCL_HETEROG_MODE_HOMOGENEOUS = 0,
    HCCL_HETEROG_MODE_MIX_A2_A3 = 1
} HcclHeterogMode;

/* One link between two ranks. */
typedef struct {
    CommAbiHeader header;
    EndpointDesc srcEndpointDesc;
    EndpointDesc dstEndpointDesc;
    union {
        uint8_t raws[128];
        __extension__ struct {
            CommProtocol linkProtocol;
            uint8_t hop;
        };
    } linkAttr;
} CommLink;

/**
 * Make `linkNum` records ready: all bytes ones, header filled, endpoints empty, protocol
 * "reserved", one hop.
 *
 * @param commLink  out  [linkNum] records of the caller; may be NULL if linkNum is 0
 * @param linkNum        records
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: commLink is NULL and linkNum > 0; HCCL_E_INTERNAL: a fill
 *         failed.
 * Threads: safe for different records.
 * Source:  spec, types, section 7.
 */
static inline HcclResult
CommLinkInit(CommLink *commLink, uint32_t linkNum)
{
    if (commLink == NULL && linkNum > 0)
        return HCCL_E_PTR;
    for (uint32_t i = 0; i < linkNum; i++) {
        CommLink *link = &commLink[i];

        if (memset_s(link, sizeof(*link), 0xFF, sizeof(*link)) != EOK)
            return HCCL_E_INTERNAL;
        link->header.version = COMM_LINK_VERSION;
        link->header.magicWord = COMM_LINK_MAGIC_WORD;
        link->header.size = (uint32_t)sizeof(*link);
        link->header.reserved = 0;
        if (EndpointDescInit(&link->srcEndpointDesc, 1) != 0 ||
            EndpointDescInit(&link->dstEndpointDesc, 1) != 0)
            return HCCL_E_INTERNAL;
        link->linkAttr.linkProtocol = COMM_PROTOCOL_RESERVED;
        link->linkAttr.hop = 1;
    }
    return HCCL_SUCCESS;
}

/**
 * The layers there are, ascending.
 *
 * @param comm         in   communicator
 * @param netLayers    out  [netLayerNum] layer numbers; the library's, see the top
 * @param netLayerNum  out  how many
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetLayers(HcclComm comm, uint32_t **netLayers, uint32_t *netLayerNum);

/**
 * The ranks that this rank reaches in a layer, itself included, ascending. Example: 4 servers of 8,
 * rank 9: layer 0 gives 8 to 15, layer 1 gives 0 to 31.
 *
 * @param comm      in   communicator
 * @param netLayer       layer
 * @param ranks     out  [rankNum] ranks; the library's, see the top
 * @param rankNum   out  how many
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetRanksByLayer(HcclComm comm, uint32_t netLayer, uint32_t **ranks,
                                        uint32_t *rankNum);

/**
 * How many ranks HcclRankGraphGetRanksByLayer gives.
 *
 * @param comm      in   communicator
 * @param netLayer       layer
 * @param rankNum   out  how many
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetRankSizeByLayer(HcclComm comm, uint32_t netLayer, uint32_t *rankNum);

/**
 * The shape of a layer.
 *
 * @param comm      in   communicator
 * @param netLayer       layer
 * @param topoType  out  shape
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetTopoTypeByLayer(HcclComm comm, uint32_t netLayer, CommTopo *topoType);

/**
 * The number of ranks in every instance of a layer. Example: 4 servers of 8: layer 0 gives 8, 8, 8,
 * 8; layer 1 gives 32.
 *
 * @param comm          in   communicator
 * @param netLayer           layer
 * @param instSizeList  out  [listSize] ranks of each; the library's, see the top
 * @param listSize      out  instances
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetInstSizeListByLayer(HcclComm comm, uint32_t netLayer,
                                               uint32_t **instSizeList, uint32_t *listSize);

/**
 * The links between two ranks in a layer, with both endpoints, protocol and hops; what a channel
 * description wants.
 *
 * @param comm      in   communicator
 * @param netLayer       layer
 * @param srcRank        one end
 * @param dstRank        another rank
 * @param links     out  [linkNum] links; the library's, see the top
 * @param linkNum   out  how many; 0 with success if there is none
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA also for srcRank == dstRank; or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetLinks(HcclComm comm, uint32_t netLayer, uint32_t srcRank,
                                 uint32_t dstRank, CommLink **links, uint32_t *linkNum);

/**
 * The topology instances this rank is in, inside a layer: for example its row and its column.
 *
 * @param comm         in   communicator
 * @param netLayer          layer
 * @param topoInsts    out  [topoInstNum] ids; the library's, see the top
 * @param topoInstNum  out  how many
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetTopoInstsByLayer(HcclComm comm, uint32_t netLayer, uint32_t **topoInsts,
                                            uint32_t *topoInstNum);

/**
 * The shape of one topology instance.
 *
 * @param comm        in   communicator
 * @param netLayer         layer
 * @param topoInstId       from HcclRankGraphGetTopoInstsByLayer
 * @param topoType    out  shape
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetTopoType(HcclComm comm, uint32_t netLayer, uint32_t topoInstId,
                                    CommTopo *topoType);

/**
 * The ranks of one topology instance.
 *
 * @param comm        in   communicator
 * @param netLayer         layer
 * @param topoInstId       from HcclRankGraphGetTopoInstsByLayer
 * @param ranks       out  [rankNum] ranks; the library's, see the top
 * @param rankNum     out  how many
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetRanksByTopoInst(HcclComm comm, uint32_t netLayer, uint32_t topoInstId,
                                           uint32_t **ranks, uint32_t *rankNum);

/**
 * Whether the communicator mixes kinds of chips.
 *
 * @param comm  in   communicator
 * @param mode  out  answer
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclGetHeterogMode(HcclComm comm, HcclHeterogMode *mode);

/**
 * How many endpoints this rank has in a topology instance.
 *
 * @param comm        in   communicator
 * @param layer            layer
 * @param topoInstId       from HcclRankGraphGetTopoInstsByLayer
 * @param num         out  how many
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetEndpointNum(HcclComm comm, uint32_t layer, uint32_t topoInstId,
                                       uint32_t *num);

/**
 * Describe the endpoints this rank has in a topology instance.
 *
 * @param comm          in       communicator
 * @param layer                  layer
 * @param topoInstId             from HcclRankGraphGetTopoInstsByLayer
 * @param descNum       in, out  room; then endpoints filled in
 * @param endpointDesc  out      [descNum] descriptions of the caller
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA also when there is not enough room; or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetEndpointDesc(HcclComm comm, uint32_t layer, uint32_t topoInstId,
                                        uint32_t *descNum, EndpointDesc *endpointDesc);

/**
 * An attribute of an endpoint.
 *
 * @param comm          in   communicator
 * @param rankId             rank that has the endpoint
 * @param endpointDesc  in   the endpoint
 * @param endpointAttr       what is asked
 * @param infoLen            bytes at `info`: 4
 * @param info          out  a uint32_t
 *
 * @return HCCL_SUCCESS; HCCL_E_NOT_FOUND: the rank has no such endpoint; HCCL_E_PARA also for
 *         infoLen, and when several match; or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 15.
 */
HcclResult HcclRankGraphGetEndpointInfo(HcclComm comm, uint32_t rankId,
                                        const EndpointDesc *endpointDesc, EndpointAttr endpointAttr,
                                        uint32_t infoLen, void *info);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
