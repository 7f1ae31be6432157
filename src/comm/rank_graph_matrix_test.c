/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queries of the rank graph against each other: every SoC name, 1 to 16 devices a server, 1 to
 * 3 servers, from rank tables. All ranks live in this process, so the devices of the servers have
 * different numbers; a pod has two servers. What one answer says, the others must say too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_extra.h"
#include "tests/support/test.h"

#define PER_MOST 16u
#define SERVERS_MOST 3u
#define RANKS_MOST (PER_MOST * SERVERS_MOST)
#define LAYERS_MOST 3u
#define INSTS_MOST 3u
#define ENDPOINTS_MOST 4u
#define POD_SERVERS 2u

enum family { A2, A3, A5 };

struct list {
    uint32_t at[RANKS_MOST], num;
};

static HcclComm comms[RANKS_MOST];
static uint32_t n_ranks;

/* ---- Tables ---- */

static char text[1 << 16];
static size_t used;

static void
add(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    used += (size_t)vsnprintf(text + used, sizeof text - used, fmt, args);
    va_end(args);
    EXPECT_TRUE(used < sizeof text);
}

/* Version 1.0, or 1.2 with super pods. */
static void
write_v1(const char *version, uint32_t per, uint32_t servers)
{
    used = 0;
    add("{\"version\":\"%s\",\"status\":\"completed\",\"server_count\":\"%u\",\"server_list\":[",
        version, servers);
    for (uint32_t i = 0; i < per * servers; i++) {
        if (i % per == 0)
            add("%s{\"server_id\":\"s%u\",\"device\":[", i == 0 ? "" : "]},", i / per);
        add("%s{\"device_id\":\"%u\",\"device_ip\":\"223.0.0.%u\",\"rank_id\":\"%u\"}",
            i % per == 0 ? "" : ",", i, i + 1, i);
    }
    add("]}]");
    if (version[2] == '2') {
        add(",\"super_pod_list\":[");
        for (uint32_t i = 0; i < servers; i++) {
            if (i % POD_SERVERS == 0)
                add("%s{\"super_pod_id\":\"p%u\",\"server_list\":[", i == 0 ? "" : "]},",
                    i / POD_SERVERS);
            add("%s{\"server_id\":\"s%u\"}", i % POD_SERVERS == 0 ? "" : ",", i);
        }
        add("]}]");
    }
    add("}");
}

static void
add_level(uint32_t layer, const char *name, uint32_t instance)
{
    add("%s{\"net_layer\":%u,\"net_instance_id\":\"%s%u\",\"net_type\":\"%s\","
        "\"rank_addr_list\":[]}",
        layer == 0 ? "" : ",", layer, name, instance, layer == 0 ? "TOPO_FILE_DESC" : "CLOS");
}

static void
write_v2(uint32_t per, uint32_t servers)
{
    used = 0;
    add("{\"version\":\"2.0\",\"rank_count\":%u,\"rank_list\":[", per * servers);
    for (uint32_t i = 0; i < per * servers; i++) {
        add("%s{\"rank_id\":%u,\"local_id\":%u,\"device_id\":%u,\"level_list\":[",
            i == 0 ? "" : ",", i, i % per, i);
        add_level(0, "server", i / per);
        add_level(1, "pod", i / per / POD_SERVERS);
        add_level(2, "all", 0);
        add("]}");
    }
    add("]}");
}

/* All ranks of the table. */
static void
open_all(uint32_t num)
{
    HcclCommConfig config;

    HcclCommConfigInit(&config);
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "matrix");
    n_ranks = num;
    for (uint32_t i = 0; i < num; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfoMemConfig(text, i, &config, &comms[i]));
    }
}

static void
close_all(void)
{
    for (uint32_t i = 0; i < n_ranks; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
}

/* ---- Queries, copied ---- */

typedef HcclResult (*list_query)(HcclComm comm, uint32_t layer, uint32_t **list, uint32_t *num);

static struct list
ask(list_query query, uint32_t rank, uint32_t layer)
{
    struct list list = {.num = RANKS_MOST + 1};
    uint32_t *at = NULL;

    EXPECT_EQ(HCCL_SUCCESS, query(comms[rank], layer, &at, &list.num));
    EXPECT_TRUE(list.num <= RANKS_MOST);
    memcpy(list.at, at, list.num * sizeof *at);
    return list;
}

static struct list
ask_inst(uint32_t rank, uint32_t layer, uint32_t inst)
{
    struct list list = {.num = RANKS_MOST + 1};
    uint32_t *at = NULL;

    EXPECT_EQ(HCCL_SUCCESS,
              HcclRankGraphGetRanksByTopoInst(comms[rank], layer, inst, &at, &list.num));
    EXPECT_TRUE(list.num <= RANKS_MOST);
    memcpy(list.at, at, list.num * sizeof *at);
    return list;
}

/* As `rank` says; false: there is none. */
static bool
ask_link(uint32_t rank, uint32_t layer, uint32_t src, uint32_t dst, CommLink *link)
{
    CommLink *links = NULL;
    uint32_t num = 99;

    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[rank], layer, src, dst, &links, &num));
    EXPECT_TRUE(num <= 1);
    if (num == 1)
        *link = links[0];
    return num == 1;
}

static bool
has(const struct list *list, uint32_t value)
{
    for (uint32_t i = 0; i < list->num; i++) {
        if (list->at[i] == value)
            return true;
    }
    return false;
}

static bool
equal(const struct list *a, const struct list *b)
{
    return a->num == b->num && memcmp(a->at, b->at, a->num * sizeof a->at[0]) == 0;
}

static void
expect_ascending(const struct list *list)
{
    for (uint32_t i = 1; i < list->num; i++)
        EXPECT_TRUE(list->at[i - 1] < list->at[i]);
}

/* ---- Claims ---- */

/* What each rank says of the layer that is looked at: asked once, compared often. */
static struct view {
    struct list ranks, sizes, insts;
    struct {
        struct list ranks;
        EndpointDesc endpoints[ENDPOINTS_MOST];
        uint32_t endpoint_num;
    } inst[INSTS_MOST];
} views[RANKS_MOST];

static bool linked[RANKS_MOST][RANKS_MOST]; /* in some layer */

static void
look(uint32_t layer)
{
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        struct view *view = &views[rank];

        view->ranks = ask(HcclRankGraphGetRanksByLayer, rank, layer);
        view->sizes = ask(HcclRankGraphGetInstSizeListByLayer, rank, layer);
        view->insts = ask(HcclRankGraphGetTopoInstsByLayer, rank, layer);
        EXPECT_TRUE(view->insts.num >= 1 && view->insts.num <= INSTS_MOST);
        for (uint32_t i = 0; i < view->insts.num; i++) {
            uint32_t inst = view->insts.at[i], num = 0;

            view->inst[i].ranks = ask_inst(rank, layer, inst);
            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetEndpointNum(comms[rank], layer, inst, &num));
            EXPECT_TRUE(num >= 1 && num <= ENDPOINTS_MOST);
            view->inst[i].endpoint_num = num;
            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetEndpointDesc(comms[rank], layer, inst, &num,
                                                                 view->inst[i].endpoints));
            EXPECT_EQ(view->inst[i].endpoint_num, num);
        }
    }
}

/* Ranks of an instance all say the same ranks; sizes are those of the instances, in rank order. */
static void
check_members(uint32_t layer)
{
    uint32_t next = 0, total = 0;

    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const struct list *ranks = &views[rank].ranks;
        uint32_t num = 0;

        EXPECT_TRUE(equal(&views[0].sizes, &views[rank].sizes));
        EXPECT_TRUE(has(ranks, rank));
        expect_ascending(ranks);
        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRankSizeByLayer(comms[rank], layer, &num));
        EXPECT_EQ(ranks->num, num);
        for (uint32_t i = 0; i < ranks->num; i++)
            EXPECT_TRUE(equal(ranks, &views[ranks->at[i]].ranks));
        if (ranks->at[0] == rank) {
            EXPECT_TRUE(next < views[0].sizes.num);
            EXPECT_EQ(ranks->num, views[0].sizes.at[next++]);
        }
    }
    EXPECT_EQ(views[0].sizes.num, next);
    for (uint32_t i = 0; i < next; i++)
        total += views[0].sizes.at[i];
    EXPECT_EQ(n_ranks, total);
}

/* The shape of an instance fits the layer's; a rank has links to all in a mesh and in a network. */
static void
check_shape(uint32_t rank, uint32_t layer, uint32_t inst, const struct list *members)
{
    CommTopo of_layer = COMM_TOPO_RESERVED, of_inst = COMM_TOPO_RESERVED;
    CommLink link;

    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comms[rank], layer, &of_layer));
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoType(comms[rank], layer, inst, &of_inst));
    if (of_layer == COMM_TOPO_CUSTOM) /* which means: see the instances */
        EXPECT_TRUE(of_inst == COMM_TOPO_1DMESH || of_inst == COMM_TOPO_CLOS);
    else
        EXPECT_EQ(of_layer, of_inst);
    if (of_layer == COMM_TOPO_CUSTOM && of_inst == COMM_TOPO_CLOS)
        return; /* the whole of a 950 server: links are those of its rows and columns */
    for (uint32_t i = 0; i < members->num; i++) {
        if (members->at[i] != rank)
            EXPECT_TRUE(ask_link(rank, layer, rank, members->at[i], &link));
    }
}

static void
check_endpoint(uint32_t rank, const EndpointDesc *endpoint)
{
    HcclComm asked = comms[n_ranks - 1];
    EndpointAttrBwCoeff ports = 0;
    EndpointAttrDieId die = 99;
    EndpointAttrLocation where = 99;

    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetEndpointInfo(asked, rank, endpoint,
                                                         ENDPOINT_ATTR_BW_COEFF, 4, &ports));
    EXPECT_EQ(1, ports);
    EXPECT_EQ(HCCL_SUCCESS,
              HcclRankGraphGetEndpointInfo(asked, rank, endpoint, ENDPOINT_ATTR_DIE_ID, 4, &die));
    EXPECT_TRUE(die <= 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetEndpointInfo(asked, rank, endpoint,
                                                         ENDPOINT_ATTR_LOCATION, 4, &where));
    EXPECT_EQ(endpoint->loc.locType, where);
}

/* The place of `inst` among the rank's instances. */
static uint32_t
place_of(const struct view *view, uint32_t inst)
{
    uint32_t place = 0;

    while (place < view->insts.num && view->insts.at[place] != inst)
        place++;
    EXPECT_TRUE(place < view->insts.num);
    return place;
}

/* A rank's instances are the layer's ranks together, and their other members have them too. */
static void
check_insts(uint32_t layer)
{
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const struct view *view = &views[rank];
        struct list all = {0};

        expect_ascending(&view->insts);
        for (uint32_t i = 0; i < view->insts.num; i++) {
            const struct list *members = &view->inst[i].ranks;

            EXPECT_TRUE(has(members, rank));
            expect_ascending(members);
            EXPECT_TRUE(members->num > 1 || view->ranks.num == 1); /* one alone is no part */
            check_shape(rank, layer, view->insts.at[i], members);
            for (uint32_t j = 0; j < view->inst[i].endpoint_num; j++)
                check_endpoint(rank, &view->inst[i].endpoints[j]);
            for (uint32_t j = 0; j < members->num; j++) {
                const struct view *other = &views[members->at[j]];

                EXPECT_TRUE(equal(members, &other->inst[place_of(other, view->insts.at[i])].ranks));
                EXPECT_TRUE(has(&view->ranks, members->at[j]));
                if (!has(&all, members->at[j]))
                    all.at[all.num++] = members->at[j];
            }
        }
        EXPECT_EQ(view->ranks.num, all.num);
    }
}

/* `rank` has the endpoint in an instance that `peer` is in too. */
static bool
in_common(uint32_t rank, uint32_t peer, const EndpointDesc *endpoint)
{
    const struct view *view = &views[rank];

    for (uint32_t i = 0; i < view->insts.num; i++) {
        for (uint32_t j = 0; j < view->inst[i].endpoint_num; j++) {
            if (memcmp(&view->inst[i].endpoints[j], endpoint, sizeof *endpoint) == 0 &&
                has(&view->inst[i].ranks, peer))
                return true;
        }
    }
    return false;
}

static void
check_link(uint32_t layer, const CommLink *link, uint32_t src, uint32_t dst)
{
    CommLink back, told;

    EXPECT_EQ(COMM_LINK_MAGIC_WORD, link->header.magicWord);
    EXPECT_EQ(sizeof *link, link->header.size);
    EXPECT_EQ(1, link->linkAttr.hop);
    EXPECT_EQ(link->linkAttr.linkProtocol, link->srcEndpointDesc.protocol);
    EXPECT_EQ(link->linkAttr.linkProtocol, link->dstEndpointDesc.protocol);
    EXPECT_NE(0, memcmp(&link->srcEndpointDesc.commAddr, &link->dstEndpointDesc.commAddr,
                        sizeof(CommAddr)));
    EXPECT_TRUE(has(&views[src].ranks, dst));
    EXPECT_TRUE(in_common(src, dst, &link->srcEndpointDesc));
    EXPECT_TRUE(in_common(dst, src, &link->dstEndpointDesc));
    EXPECT_TRUE(ask_link(dst, layer, dst, src, &back));
    EXPECT_MEMEQ(&link->srcEndpointDesc, &back.dstEndpointDesc, sizeof(EndpointDesc));
    EXPECT_MEMEQ(&link->dstEndpointDesc, &back.srcEndpointDesc, sizeof(EndpointDesc));
    EXPECT_TRUE(ask_link(n_ranks - 1, layer, src, dst, &told)); /* somebody else says the same */
    EXPECT_MEMEQ(link, &told, sizeof told);
}

/* Links are within an instance of the layer and have two ends. */
static void
check_links(uint32_t layer)
{
    for (uint32_t src = 0; src < n_ranks; src++) {
        for (uint32_t dst = 0; dst < n_ranks; dst++) {
            CommLink link;

            if (src == dst || !ask_link(src, layer, src, dst, &link))
                continue;
            check_link(layer, &link, src, dst);
            linked[src][dst] = true;
        }
    }
}

static void
check_all_linked(void)
{
    for (uint32_t src = 0; src < n_ranks; src++) {
        for (uint32_t dst = 0; dst < n_ranks; dst++)
            EXPECT_TRUE(src == dst || linked[src][dst]);
    }
}

/* ---- What the families have ---- */

static void
check_family(enum family family, uint32_t servers)
{
    static const CommTopo servers_topo[] = {COMM_TOPO_1DMESH, COMM_TOPO_910_93, COMM_TOPO_CUSTOM};
    static const CommProtocol protocols[][LAYERS_MOST] = {
        {COMM_PROTOCOL_HCCS, COMM_PROTOCOL_ROCE, COMM_PROTOCOL_RESERVED},
        {COMM_PROTOCOL_HCCS, COMM_PROTOCOL_HCCS, COMM_PROTOCOL_ROCE},
        {COMM_PROTOCOL_UB_CTP, COMM_PROTOCOL_UB_CTP, COMM_PROTOCOL_UB_CTP}};
    uint32_t expected = family == A5 ? 3 : family == A2 && servers > 2 ? 2 : servers;

    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        HcclHeterogMode mode = HCCL_HETEROG_MODE_INVALID;
        struct list layers = {0};
        uint32_t *at = NULL;

        EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLayers(comms[rank], &at, &layers.num));
        EXPECT_EQ(expected, layers.num);
        for (uint32_t i = 0; i < layers.num; i++) {
            uint32_t peer = rank == 0 ? 1 : rank - 1;
            CommTopo topo = COMM_TOPO_RESERVED;
            CommLink link;

            EXPECT_EQ(i, at[i]);
            EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetTopoTypeByLayer(comms[rank], i, &topo));
            EXPECT_EQ(i == 0 ? servers_topo[family] : COMM_TOPO_CLOS, topo);
            if (n_ranks > 1 && ask_link(rank, i, rank, peer, &link))
                EXPECT_EQ(protocols[family][i], link.linkAttr.linkProtocol);
        }
        EXPECT_EQ(HCCL_SUCCESS, HcclGetHeterogMode(comms[rank], &mode));
        EXPECT_EQ(HCCL_HETEROG_MODE_HOMOGENEOUS, mode);
    }
}

/* A server of a 950 is rows of 8 by the table's local ids, which start at 0 on each server. */
static void
check_rows(uint32_t per)
{
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        struct list insts = ask(HcclRankGraphGetTopoInstsByLayer, rank, 0), expected = {0};
        uint32_t place = rank % per;

        if (place < 8 || per > 9)
            expected.at[expected.num++] = place / 8;
        if (place >= 8 || place + 8 < per)
            expected.at[expected.num++] = 8 + place % 8;
        if (per > 8)
            expected.at[expected.num++] = 16;
        EXPECT_TRUE(equal(&expected, &insts));
    }
}

/* ---- Channels ---- */

struct end {
    uint32_t rank, peer, layer;
    HcclResult rc;
    ChannelHandle channel;
    pthread_t thread;
};

/* Over the link the graph gives. */
static void *
end_main(void *arg)
{
    struct end *end = arg;
    HcclChannelDesc desc;
    CommLink *links = NULL;
    uint32_t num = 0;

    if (aclrtSetDevice((int32_t)end->rank) != ACL_SUCCESS)
        return NULL;
    if (HcclChannelDescInit(&desc, 1) != HCCL_SUCCESS)
        return NULL;
    end->rc =
        HcclRankGraphGetLinks(comms[end->rank], end->layer, end->rank, end->peer, &links, &num);
    if (end->rc != HCCL_SUCCESS || num == 0)
        return NULL;
    desc.remoteRank = end->peer;
    desc.channelProtocol = links->linkAttr.linkProtocol;
    desc.localEndpoint = links->srcEndpointDesc;
    desc.remoteEndpoint = links->dstEndpointDesc;
    desc.notifyNum = 1;
    end->rc = HcclChannelAcquire(comms[end->rank], COMM_ENGINE_AICPU_TS, &desc, 1, &end->channel);
    return NULL;
}

static void
expect_channel(uint32_t layer, uint32_t a, uint32_t b)
{
    struct end ends[2] = {{.rank = a, .peer = b}, {.rank = b, .peer = a}};

    for (int i = 0; i < 2; i++) {
        ends[i].layer = layer;
        ends[i].rc = HCCL_E_INTERNAL;
        EXPECT_EQ(0, pthread_create(&ends[i].thread, NULL, end_main, &ends[i]));
    }
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_join(ends[i].thread, NULL));
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(HCCL_SUCCESS, ends[i].rc);
        EXPECT_NE(0, ends[i].channel);
    }
}

/* In every layer, from the first rank to the last one it has a link to. */
static void
check_channels(const struct list *layers)
{
    for (uint32_t i = 0; i < layers->num; i++) {
        CommLink link;

        for (uint32_t peer = n_ranks; peer-- > 1;) {
            if (!ask_link(0, layers->at[i], 0, peer, &link))
                continue;
            expect_channel(layers->at[i], 0, peer);
            break;
        }
    }
}

/* ---- The matrix ---- */

static void
check_all(enum family family, uint32_t servers, bool channels)
{
    struct list layers = {0};
    uint32_t *at = NULL;

    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLayers(comms[0], &at, &layers.num));
    EXPECT_TRUE(layers.num >= 1 && layers.num <= LAYERS_MOST);
    memcpy(layers.at, at, layers.num * sizeof *at);
    expect_ascending(&layers);
    check_family(family, servers);
    memset(linked, 0, sizeof linked);
    for (uint32_t i = 0; i < layers.num; i++) {
        look(layers.at[i]);
        check_members(layers.at[i]);
        check_insts(layers.at[i]);
        check_links(layers.at[i]);
    }
    check_all_linked();
    if (channels)
        check_channels(&layers);
}

static void
check_matrix(const char *soc, enum family family)
{
    static const char *const versions[] = {"1.0", "1.2", "1.0"};
    char count[16];

    snprintf(count, sizeof count, "%u", RANKS_MOST);
    setenv("HCOMM_SOC_NAME", soc, 1);
    setenv("HCOMM_DEVICE_COUNT", count, 1);
    setenv("HCCL_BUFFSIZE", "1", 1);
    test_time_limit(240);
    for (uint32_t servers = 1; servers <= SERVERS_MOST; servers++) {
        for (uint32_t per = 1; per <= PER_MOST; per++) {
            bool old = family != A5 && per % 2 == 0; /* each of the two versions half the times */

            if (old)
                write_v1(versions[family], per, servers);
            else
                write_v2(per, servers);
            open_all(per * servers);
            check_all(family, servers, per == 2 || per == 9);
            if (family == A5)
                check_rows(per);
            close_all();
        }
    }
    for (uint32_t i = 0; i < RANKS_MOST; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
}

#define MATRIX(soc, family)                                                                        \
    TEST(the_queries_agree_on_##soc)                                                               \
    {                                                                                              \
        check_matrix("Ascend" #soc, family);                                                       \
    }

MATRIX(910B1, A2)
MATRIX(910B2, A2)
MATRIX(910B2C, A2)
MATRIX(910B3, A2)
MATRIX(910B4, A2)
MATRIX(910_9362, A3)
MATRIX(910_9363, A3)
MATRIX(910_9372, A3)
MATRIX(910_9381, A3)
MATRIX(910_9382, A3)
MATRIX(910_9391, A3)
MATRIX(910_9392, A3)
MATRIX(950PR_9579, A5)
MATRIX(950PR_9599, A5)
MATRIX(950, A5)

/* A name that is no identifier. */
TEST(the_queries_agree_on_910B4_1)
{
    check_matrix("Ascend910B4-1", A2);
}
