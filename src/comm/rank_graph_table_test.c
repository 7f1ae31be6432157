/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rank graph makes of what rank tables say. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_rank_graph.h"
#include "hcomm/hcomm_extra.h"
#include "tests/support/test.h"

static HcclComm
open_rank(const char *soc, const char *table, uint32_t rank, int32_t device)
{
    HcclCommConfig config;
    HcclComm comm = NULL;

    setenv("HCOMM_SOC_NAME", soc, 1);
    HcclCommConfigInit(&config);
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "graph");
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(device));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfoMemConfig(table, rank, &config, &comm));
    return comm;
}

static void
close_rank(HcclComm comm, int32_t device)
{
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(device));
}

typedef HcclResult (*list_query)(HcclComm comm, uint32_t layer, uint32_t **list, uint32_t *num);

static HcclResult
layers_query(HcclComm comm, uint32_t layer, uint32_t **list, uint32_t *num)
{
    (void)layer;
    return HcclRankGraphGetLayers(comm, list, num);
}

/* `expected`: digits, one for each element. */
static void
expect_list(const char *expected, list_query query, HcclComm comm, uint32_t layer)
{
    uint32_t *list = NULL, num = 0;
    char told[64] = "";

    EXPECT_EQ(HCCL_SUCCESS, query(comm, layer, &list, &num));
    EXPECT_TRUE(num < sizeof told);
    for (uint32_t i = 0; i < num; i++)
        told[i] = (char)('0' + list[i]);
    EXPECT_STREQ(expected, told);
}

static CommLink
link_of(HcclComm comm, uint32_t layer, uint32_t src, uint32_t dst)
{
    CommLink *links = NULL;
    uint32_t num = 0;

    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comm, layer, src, dst, &links, &num));
    EXPECT_EQ(1, num);
    return links[0];
}

/* ---- Version 2.0 ---- */

#define LEVEL(layer, name, type)                                                                   \
    "{\"net_layer\":" #layer ",\"net_instance_id\":\"" name "\",\"net_type\":\"" type "\","        \
    "\"rank_addr_list\":[{\"addr_type\":\"IPV4\",\"addr\":\"223.0.0.1\",\"ports\":[\"0/0\"]}]}"
#define SERVER(name) LEVEL(0, name, "TOPO_FILE_DESC")
#define RANK(rank, local, device, levels)                                                          \
    "{\"rank_id\":" #rank ",\"local_id\":" #local ",\"device_id\":" #device                        \
    ",\"level_list\":[" levels "]}"
#define TABLE(num, ranks) "{\"version\":\"2.0\",\"rank_count\":" #num ",\"rank_list\":[" ranks "]}"

TEST(layers_of_a_950_are_those_of_its_table)
{
    static const char table[] = TABLE(
        3,
        RANK(0, 0, 0, SERVER("a") "," LEVEL(3, "x", "CLOS") "," LEVEL(5, "y", "CLOS")) "," RANK(
            1, 1, 1,
            SERVER("a") "," LEVEL(
                5, "y", "TOPO_FILE_DESC")) "," RANK(2, 0, 2,
                                                    SERVER("b") "," LEVEL(3, "x", "CLOS") "," LEVEL(
                                                        5, "y", "CLOS")));
    HcclComm comm = open_rank("Ascend950PR_9599", table, 0, 0);
    CommTopo topo = COMM_TOPO_RESERVED;
    CommLink *links;
    uint32_t num = 99;

    expect_list("035", layers_query, comm, 0);
    expect_list("01", HcclRankGraphGetRanksByLayer, comm, 0);
    expect_list("21", HcclRankGraphGetInstSizeListByLayer, comm, 0);
    expect_list("02", HcclRankGraphGetRanksByLayer, comm, 3);
    expect_list("2", HcclRankGraphGetInstSizeListByLayer, comm, 3);
    expect_list("012", HcclRankGraphGetRanksByLayer, comm, 5);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comm, 5, &topo));
    EXPECT_EQ(COMM_TOPO_CLOS, topo);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comm, 3, 0, 1, &links, &num));
    EXPECT_EQ(0, num);
    EXPECT_EQ(COMM_PROTOCOL_UB_CTP, link_of(comm, 3, 0, 2).linkAttr.linkProtocol);
    test_expect_error("there is no network layer 1: rank 0 of graph has 0, 3, 5");
    EXPECT_EQ(HCCL_E_PARA, HcclRankGraphGetTopoTypeByLayer(comm, 1, &topo));
    close_rank(comm, 0);

    comm = open_rank("Ascend950PR_9599", table, 1, 1);
    expect_list("05", layers_query, comm, 0);
    test_expect_error("this rank is not in network layer 3: rank 1 of graph has 0, 5");
    EXPECT_EQ(HCCL_E_PTR, HcclRankGraphGetTopoTypeByLayer(comm, 3, &topo));
    close_rank(comm, 1);
}

/* Layer 0 alone, and another that joins only some: a layer more. In one row there is no need. */
TEST(a_950_has_one_layer_more_where_its_table_leaves_ranks_without_a_link)
{
    HcclComm comm =
        open_rank("Ascend950PR_9599",
                  TABLE(2, RANK(0, 0, 0, SERVER("a")) "," RANK(1, 1, 1, SERVER("a"))), 1, 1);

    expect_list("0", layers_query, comm, 0);
    close_rank(comm, 1);

    comm = open_rank("Ascend950PR_9599",
                     TABLE(2, RANK(0, 0, 0, SERVER("a")) "," RANK(1, 9, 1, SERVER("a"))), 0, 0);
    expect_list("01", layers_query, comm, 0);
    expect_list("01", HcclRankGraphGetRanksByLayer, comm, 0);
    (void)link_of(comm, 1, 0, 1);
    close_rank(comm, 0);

    comm = open_rank("Ascend950PR_9599",
                     TABLE(2, RANK(0, 0, 0, SERVER("a") "," LEVEL(3, "x", "CLOS")) "," RANK(
                                  1, 0, 1, SERVER("b") "," LEVEL(3, "z", "CLOS"))),
                     0, 0);
    expect_list("034", layers_query, comm, 0);
    expect_list("0", HcclRankGraphGetRanksByLayer, comm, 3);
    expect_list("11", HcclRankGraphGetInstSizeListByLayer, comm, 3);
    expect_list("01", HcclRankGraphGetRanksByLayer, comm, 4);
    (void)link_of(comm, 4, 1, 0);
    close_rank(comm, 0);
}

TEST(older_families_take_servers_and_pods_from_version_2)
{
    static const char table[] =
        TABLE(3, RANK(0, 0, 0, SERVER("a") "," LEVEL(1, "p", "CLOS")) "," RANK(
                     1, 0, 1, SERVER("b") "," LEVEL(1, "p", "CLOS")) "," RANK(2, 0, 2,
                                                                              SERVER("c") "," LEVEL(
                                                                                  1, "q", "CLOS")));
    HcclComm comm = open_rank("Ascend910_9391", table, 1, 1);

    expect_list("012", layers_query, comm, 0);
    expect_list("1", HcclRankGraphGetRanksByLayer, comm, 0);
    expect_list("01", HcclRankGraphGetRanksByLayer, comm, 1);
    expect_list("21", HcclRankGraphGetInstSizeListByLayer, comm, 1);
    expect_list("012", HcclRankGraphGetRanksByLayer, comm, 2);
    EXPECT_EQ(COMM_PROTOCOL_HCCS, link_of(comm, 1, 0, 1).linkAttr.linkProtocol);
    EXPECT_EQ(COMM_PROTOCOL_ROCE, link_of(comm, 2, 0, 2).linkAttr.linkProtocol);
    close_rank(comm, 1);
}

/* ---- Versions 1 ---- */

/* Two processes would have one device 0 each; here the ranks take turns. */
TEST(servers_may_number_their_devices_alike)
{
    static const char table[] =
        "{\"version\":\"1.0\",\"status\":\"completed\",\"server_count\":\"2\",\"server_list\":["
        "{\"server_id\":\"s0\",\"device\":["
        "{\"device_id\":\"0\",\"device_ip\":\"223.0.0.1\",\"rank_id\":\"0\"},"
        "{\"device_id\":\"1\",\"device_ip\":\"223.0.0.2\",\"rank_id\":\"1\"}]},"
        "{\"server_id\":\"s1\",\"device\":["
        "{\"device_id\":\"0\",\"device_ip\":\"223.0.0.3\",\"rank_id\":\"2\"},"
        "{\"device_id\":\"1\",\"device_ip\":\"223.0.0.4\",\"rank_id\":\"3\"}]}]}";

    for (uint32_t rank = 0; rank < 4; rank++) {
        HcclComm comm = open_rank("Ascend910B3", table, rank, (int32_t)rank % 2);
        CommLink link = link_of(comm, 1, 0, 2);

        expect_list("01", layers_query, comm, 0);
        expect_list(rank < 2 ? "01" : "23", HcclRankGraphGetRanksByLayer, comm, 0);
        EXPECT_EQ(COMM_PROTOCOL_ROCE, link.linkAttr.linkProtocol);
        EXPECT_EQ(0, link.srcEndpointDesc.loc.device.devPhyId);
        EXPECT_EQ(0, link.dstEndpointDesc.loc.device.devPhyId);
        EXPECT_EQ(0, link.srcEndpointDesc.loc.device.serverIdx);
        EXPECT_EQ(1, link.dstEndpointDesc.loc.device.serverIdx);
        EXPECT_NE(link.srcEndpointDesc.commAddr.addr.s_addr,
                  link.dstEndpointDesc.commAddr.addr.s_addr);
        close_rank(comm, (int32_t)rank % 2);
    }
}

static const char super_pods[] =
    "{\"version\":\"1.2\",\"status\":\"completed\",\"server_list\":["
    "{\"server_id\":\"s0\",\"device\":[{\"device_id\":\"0\",\"super_device_id\":\"20\","
    "\"device_ip\":\"223.0.0.1\",\"rank_id\":\"0\"}]},"
    "{\"server_id\":\"s1\",\"device\":[{\"device_id\":\"1\",\"super_device_id\":\"21\","
    "\"device_ip\":\"223.0.0.2\",\"rank_id\":\"1\"}]},"
    "{\"server_id\":\"s2\",\"device\":[{\"device_id\":\"2\",\"super_device_id\":\"20\","
    "\"device_ip\":\"223.0.0.3\",\"rank_id\":\"2\"}]}],"
    "\"super_pod_list\":["
    "{\"super_pod_id\":\"p0\",\"server_list\":[{\"server_id\":\"s0\"},{\"server_id\":\"s1\"}]},"
    "{\"super_pod_id\":\"p1\",\"server_list\":[{\"server_id\":\"s2\"}]}]}";

TEST(an_a3_has_the_super_pods_of_version_1_2)
{
    HcclComm comm = open_rank("Ascend910_9391", super_pods, 1, 1);
    CommLink link = link_of(comm, 2, 1, 2);

    expect_list("012", layers_query, comm, 0);
    expect_list("01", HcclRankGraphGetRanksByLayer, comm, 1);
    expect_list("21", HcclRankGraphGetInstSizeListByLayer, comm, 1);
    EXPECT_EQ(COMM_PROTOCOL_HCCS, link_of(comm, 1, 0, 1).linkAttr.linkProtocol);
    EXPECT_EQ(COMM_PROTOCOL_ROCE, link.linkAttr.linkProtocol);
    EXPECT_EQ(21, link.srcEndpointDesc.loc.device.superDevId);
    EXPECT_EQ(0, link.srcEndpointDesc.loc.device.superPodIdx);
    EXPECT_EQ(20, link.dstEndpointDesc.loc.device.superDevId);
    EXPECT_EQ(1, link.dstEndpointDesc.loc.device.superPodIdx);
    EXPECT_EQ(2, link.dstEndpointDesc.loc.device.serverIdx);
    close_rank(comm, 1);
}

/* Endpoints of a device are the same in both; ranks and layers are counted anew. */
TEST(a_part_has_the_servers_and_pods_of_its_parent)
{
    HcclComm comm = open_rank("Ascend910_9391", super_pods, 1, 1), part = NULL;
    uint32_t ranks[] = {1, 2};
    CommLink link = link_of(comm, 2, 1, 2), same;
    HcclCommConfig config;

    HcclCommConfigInit(&config);
    EXPECT_EQ(HCCL_SUCCESS, HcclCreateSubCommConfig(&comm, 2, ranks, 7, 0, &config, &part));
    expect_list("012", layers_query, part, 0);
    expect_list("0", HcclRankGraphGetRanksByLayer, part, 1);
    expect_list("11", HcclRankGraphGetInstSizeListByLayer, part, 1);
    expect_list("01", HcclRankGraphGetRanksByLayer, part, 2);
    same = link_of(part, 2, 0, 1);
    EXPECT_MEMEQ(&link, &same, sizeof link);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(part));
    close_rank(comm, 1);
}

TEST(an_a2_knows_no_super_pods)
{
    HcclComm comm = open_rank("Ascend910B3", super_pods, 0, 0);

    expect_list("01", layers_query, comm, 0);
    expect_list("012", HcclRankGraphGetRanksByLayer, comm, 1);
    close_rank(comm, 0);
}
