/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_rank_graph.h"
#include "tests/support/test.h"

#define MOST 64

static HcclComm comms[MOST];

static void
init(const char *soc, uint32_t num, int32_t first, int32_t step)
{
    int32_t devices[MOST];

    setenv("HCOMM_SOC_NAME", soc, 1);
    setenv("HCOMM_DEVICE_COUNT", "64", 1);
    for (uint32_t i = 0; i < num; i++)
        devices[i] = first + (int32_t)i * step;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(num, devices, comms));
}

static void
end(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
}

/* Everything that must hold between the answers, on any SoC. */
static void
expect_coherent(HcclComm comm, uint32_t self, uint32_t n_ranks)
{
    uint32_t *layers, layer_num, *ranks, rank_num, only, *sizes, size_num, *insts, inst_num;

    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLayers(comm, &layers, &layer_num));
    for (uint32_t l = 0; l < layer_num; l++) {
        uint32_t layer = layers[l], total = 0, linked = 0;
        CommTopo topo;

        EXPECT_TRUE(l == 0 || layers[l - 1] < layer);
        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByLayer(comm, layer, &ranks, &rank_num));
        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRankSizeByLayer(comm, layer, &only));
        EXPECT_EQ(rank_num, only);
        EXPECT_EQ(HCCL_SUCCESS,
                  HcclRankGraphGetInstSizeListByLayer(comm, layer, &sizes, &size_num));
        for (uint32_t i = 0; i < size_num; i++)
            total += sizes[i];
        EXPECT_EQ(n_ranks, total);
        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comm, layer, &topo));
        for (uint32_t i = 0; i < rank_num; i++) {
            CommLink *links;
            uint32_t link_num, value = 99;

            if (ranks[i] == self)
                continue;
            EXPECT_EQ(HCCL_SUCCESS,
                      HcclRankGraphGetLinks(comm, layer, self, ranks[i], &links, &link_num));
            if (link_num == 0)
                continue;
            linked++;
            EXPECT_EQ(links->srcEndpointDesc.protocol, links->linkAttr.linkProtocol);
            EXPECT_EQ(HCCL_SUCCESS,
                      HcclRankGraphGetEndpointInfo(comm, ranks[i], &links->dstEndpointDesc,
                                                   ENDPOINT_ATTR_BW_COEFF, 4, &value));
            EXPECT_EQ(1, value);
        }
        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoInstsByLayer(comm, layer, &insts, &inst_num));
        EXPECT_TRUE(inst_num >= 1);
        for (uint32_t i = 0; i < inst_num; i++) {
            EndpointDesc endpoint;
            uint32_t num = 0, value = 99, *members, member_num;
            bool has_self = false;

            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoType(comm, layer, insts[i], &topo));
            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetEndpointNum(comm, layer, insts[i], &num));
            EXPECT_EQ(1, num);
            EXPECT_EQ(HCCL_SUCCESS,
                      HcclRankGraphGetEndpointDesc(comm, layer, insts[i], &num, &endpoint));
            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetEndpointInfo(
                                        comm, self, &endpoint, ENDPOINT_ATTR_LOCATION, 4, &value));
            EXPECT_EQ(ENDPOINT_LOC_TYPE_DEVICE, value);
            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByTopoInst(comm, layer, insts[i], &members,
                                                                    &member_num));
            for (uint32_t m = 0; m < member_num; m++) {
                CommLink *links;
                uint32_t link_num = 0;

                if (members[m] == self) {
                    has_self = true;
                    continue;
                }
                EXPECT_EQ(HCCL_SUCCESS,
                          HcclRankGraphGetLinks(comm, layer, self, members[m], &links, &link_num));
                if (topo == COMM_TOPO_1DMESH)
                    EXPECT_EQ(1, link_num); /* a mesh has a link between any two */
            }
            EXPECT_TRUE(has_self);
        }
        EXPECT_TRUE(n_ranks == 1 || linked > 0);
    }
}

static void
expect_all_coherent(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        expect_coherent(comms[i], i, num);
}

TEST(a2_has_one_layer_of_hccs)
{
    HcclHeterogMode mode = HCCL_HETEROG_MODE_INVALID;
    uint32_t *layers, num = 0;
    CommLink *links;
    CommTopo topo;

    init("Ascend910B3", 8, 0, 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLayers(comms[3], &layers, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(0, layers[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comms[3], 0, &topo));
    EXPECT_EQ(COMM_TOPO_1DMESH, topo);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[3], 0, 3, 5, &links, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(COMM_PROTOCOL_HCCS, links[0].linkAttr.linkProtocol);
    EXPECT_EQ(1, links[0].linkAttr.hop);
    EXPECT_EQ(3, links[0].srcEndpointDesc.loc.device.devPhyId);
    EXPECT_EQ(5, links[0].dstEndpointDesc.loc.device.devPhyId);
    EXPECT_EQ(ENDPOINT_LOC_TYPE_DEVICE, links[0].dstEndpointDesc.loc.locType);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHeterogMode(comms[3], &mode));
    EXPECT_EQ(HCCL_HETEROG_MODE_HOMOGENEOUS, mode);
    expect_all_coherent(8);
    end(8);
}

TEST(a3_names_its_own_topology)
{
    CommTopo topo;

    init("Ascend910_9391", 4, 2, 3);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comms[0], 0, &topo));
    EXPECT_EQ(COMM_TOPO_910_93, topo);
    expect_all_coherent(4);
    end(4);
}

TEST(eight_devices_of_a_950_are_one_row)
{
    uint32_t *layers, *insts, *ranks, num = 0;
    CommLink *links;
    CommTopo topo;

    init("Ascend950PR_9599", 8, 0, 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLayers(comms[0], &layers, &num));
    EXPECT_EQ(3, num);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comms[0], 0, &topo));
    EXPECT_EQ(COMM_TOPO_CUSTOM, topo);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comms[0], 1, &topo));
    EXPECT_EQ(COMM_TOPO_CLOS, topo);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoInstsByLayer(comms[0], 0, &insts, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(0, insts[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoType(comms[0], 0, 0, &topo));
    EXPECT_EQ(COMM_TOPO_1DMESH, topo);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByTopoInst(comms[0], 0, 0, &ranks, &num));
    EXPECT_EQ(8, num);
    for (uint32_t layer = 0; layer < 3; layer++) {
        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[0], layer, 0, 7, &links, &num));
        EXPECT_EQ(1, num);
        EXPECT_EQ(COMM_PROTOCOL_UB_CTP, links->linkAttr.linkProtocol);
        EXPECT_EQ(COMM_ADDR_TYPE_EID, links->srcEndpointDesc.commAddr.type);
    }
    expect_all_coherent(8);
    end(8);
}

TEST(a_950_of_64_devices_has_rows_and_columns)
{
    uint32_t *insts, *ranks, num = 0;
    CommLink *links;
    CommTopo topo;

    init("Ascend950PR_9599", 64, 0, 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoInstsByLayer(comms[19], 0, &insts, &num));
    EXPECT_EQ(3, num); /* device 19: row 2, column 3 */
    EXPECT_EQ(2, insts[0]);
    EXPECT_EQ(11, insts[1]);
    EXPECT_EQ(16, insts[2]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByTopoInst(comms[19], 0, 2, &ranks, &num));
    EXPECT_EQ(8, num);
    EXPECT_EQ(16, ranks[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByTopoInst(comms[19], 0, 11, &ranks, &num));
    EXPECT_EQ(8, num);
    EXPECT_EQ(3, ranks[0]);
    EXPECT_EQ(11, ranks[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByTopoInst(comms[19], 0, 16, &ranks, &num));
    EXPECT_EQ(64, num);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoType(comms[19], 0, 16, &topo));
    EXPECT_EQ(COMM_TOPO_CLOS, topo);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[19], 0, 19, 20, &links, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[19], 0, 19, 27, &links, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[19], 0, 19, 28, &links, &num));
    EXPECT_EQ(0, num); /* neither row nor column: layer 1 */
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[19], 1, 19, 28, &links, &num));
    EXPECT_EQ(1, num);
    test_expect_error("no topology instance 3 in layer 0");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetTopoType(comms[19], 0, 3, &topo));
    expect_coherent(comms[19], 19, 64);
    expect_coherent(comms[0], 0, 64);
    end(64);
}

TEST(devices_of_one_column_have_no_row)
{
    uint32_t *insts, num = 0;

    init("Ascend950PR_9599", 4, 5, 8);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoInstsByLayer(comms[1], 0, &insts, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(13, insts[0]);
    expect_all_coherent(4);
    end(4);
    init("Ascend950PR_9599", 1, 5, 8);
    expect_all_coherent(1);
    end(1);
}

TEST(queries_refuse_what_is_not_there)
{
    uint32_t *list, num = 0, value;
    EndpointDesc endpoint;
    CommLink *links;

    init("Ascend950PR_9599", 2, 0, 1);
    test_expect_error("no network layer 3");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetRanksByLayer(comms[0], 3, &list, &num));
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetLinks(comms[0], 3, 0, 1, &links, &num));
    test_expect_error("no link to itself");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetLinks(comms[0], 0, 1, 1, &links, &num));
    test_expect_error("rank 2 is out of range");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetLinks(comms[0], 0, 0, 2, &links, &num));
    test_expect_error("NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclRankGraphGetLayers(comms[0], NULL, &num));
    EXPECT_EQ(HCCL_E_PTR, HcclRankGraphGetLayers(NULL, &list, &num));
    EXPECT_EQ(HCCL_E_PTR, HcclRankGraphGetEndpointInfo(comms[0], 0, NULL, 0, 4, &value));
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[0], 0, 0, 1, &links, &num));
    test_expect_error("infoLen is 8");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetEndpointInfo(comms[0], 0, &links->srcEndpointDesc,
                                                        ENDPOINT_ATTR_DIE_ID, 8, &value));
    test_expect_error("has no such endpoint");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcclRankGraphGetEndpointInfo(comms[0], 1, &links->srcEndpointDesc,
                                                             ENDPOINT_ATTR_DIE_ID, 4, &value));
    test_expect_error("no endpoint attribute");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetEndpointInfo(comms[0], 0, &links->srcEndpointDesc,
                                                        (EndpointAttr)9, 4, &value));
    num = 0;
    test_expect_error("room for 0 endpoints");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetEndpointDesc(comms[0], 0, 0, &num, &endpoint));
    end(2);
}

/* Each query, of a layer and a topology instance. */
static void
expect_refused(HcclComm comm, uint32_t layer, uint32_t inst)
{
    uint32_t *list, num = 4;
    EndpointDesc endpoints[4];
    CommTopo topo;

    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetTopoType(comm, layer, inst, &topo));
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetRanksByTopoInst(comm, layer, inst, &list, &num));
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetEndpointNum(comm, layer, inst, &num));
    num = 4;
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetEndpointDesc(comm, layer, inst, &num, endpoints));
    EXPECT_EQ(4, num);
}

TEST(every_query_refuses_layers_and_instances_that_are_not_there)
{
    const uint32_t layers[] = {1, 2, 3, UINT32_MAX}, insts[] = {1, 8, 16, UINT32_MAX};
    uint32_t *list, num = 0;
    CommLink *links;
    CommTopo topo;

    init("Ascend910B3", 2, 0, 1);
    test_expect_error("there is no network layer");
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetRanksByLayer(comms[0], layers[i], &list, &num));
        EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetRankSizeByLayer(comms[0], layers[i], &num));
        EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetTopoTypeByLayer(comms[0], layers[i], &topo));
        EXPECT_EQ(HCCL_E_PARA,
                  HcclRankGraphGetInstSizeListByLayer(comms[0], layers[i], &list, &num));
        EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetLinks(comms[0], layers[i], 0, 1, &links, &num));
        EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetTopoInstsByLayer(comms[0], layers[i], &list, &num));
        expect_refused(comms[0], layers[i], 0);
    }
    test_expect_error("has no topology instance");
    for (int i = 0; i < 4; i++)
        expect_refused(comms[0], 0, insts[i]);
    test_expect_error("rank 4294967295 is out of range");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetLinks(comms[0], 0, UINT32_MAX, 0, &links, &num));
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetLinks(comms[0], 0, 0, UINT32_MAX, &links, &num));
    end(2);
}

TEST(the_graph_survives_every_failed_allocation)
{
    bool failed = true;

    test_expect_error("out of host memory");
    for (long nth = 0; failed; nth++) {
        uint32_t *layers, num = 0;
        HcclResult rc;

        init("Ascend950PR_9599", 4, 0, 1);
        hc_alloc_fail_nth(nth);
        rc = HcclRankGraphGetLayers(comms[0], &layers, &num);
        failed = hc_alloc_failed() != 0;
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(failed ? HCCL_E_MEMORY : HCCL_SUCCESS, rc);
        end(4);
    }
}
