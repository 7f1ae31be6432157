/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a communicator of some ranks of another: names, settings, lifetimes, what is refused. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/comm_table_test.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res.h"

#define NO_MEMBER 0xFFFFFFFFu

static HcclComm comms[MOST];

static void
open_parent(uint32_t num)
{
    int32_t devices[MOST];

    setenv("HCCL_BUFFSIZE", "1", 1);
    for (uint32_t i = 0; i < num; i++) {
        devices[i] = (int32_t)i;
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
    }
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(num, devices, comms));
}

static void
close_parent(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    reset_devices(num);
}

/* As rank `own` of ranks[0..num) with settings that say nothing. */
static HcclResult
make_part(HcclComm parent, uint32_t num, const uint32_t *ranks, uint64_t id, uint32_t own,
          HcclComm *sub)
{
    uint32_t list[MOST + 1];
    HcclCommConfig config;

    HcclCommConfigInit(&config);
    memcpy(list, ranks, num * sizeof *list);
    return HcclCreateSubCommConfig(&parent, num, list, id, own, &config, sub);
}

TEST(members_know_their_place_and_others_get_nothing)
{
    const uint32_t ranks[] = {1, 3};
    char name[COMM_NAME_MAX_LENGTH], parent_name[COMM_NAME_MAX_LENGTH], expected[256];
    HcclComm subs[2] = {NULL, NULL}, none = NULL, found = NULL;
    HcclCommConfig config;

    open_parent(4);
    HcclCommConfigInit(&config);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(comms[0], parent_name));
    snprintf(expected, sizeof expected, "%s_sub_5", parent_name);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t rank = 9, num = 9;

        EXPECT_EQ(HCCL_SUCCESS, make_part(comms[ranks[i]], 2, ranks, 5, i, &subs[i]));
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRankId(subs[i], &rank));
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRankSize(subs[i], &num));
        EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(subs[i], name));
        EXPECT_EQ(i, rank);
        EXPECT_EQ(2, num);
        EXPECT_STREQ(expected, name);
    }
    for (uint32_t i = 0; i < 4; i += 2)
        EXPECT_EQ(HCCL_SUCCESS,
                  HcclCreateSubCommConfig(&comms[i], 0, NULL, NO_MEMBER, 0, &config, &none));
    EXPECT_EQ(HCCL_SUCCESS, HcclCreateSubCommConfig(&comms[0], 7, NULL, NO_MEMBER, 7, NULL, NULL));
    EXPECT_NULL(none);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(3));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetHandleWithName(expected, &found));
    EXPECT_TRUE(found == subs[1]);
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(subs[i]));
    test_expect_error("there is no communicator named");
    EXPECT_EQ(HCCL_E_PARA, HcclCommGetHandleWithName(expected, &found));
    close_parent(4);
}

TEST(a_part_has_settings_of_its_own)
{
    uint32_t ranks[] = {0, 1};
    uint64_t size = 0;
    void *addr = NULL;
    char name[COMM_NAME_MAX_LENGTH];
    HcclCommConfig config;
    HcclComm sub = NULL;

    open_parent(2);
    HcclCommConfigInit(&config);
    config.hcclBufferSize = 3;
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "rows");
    EXPECT_EQ(HCCL_SUCCESS, HcclCreateSubCommConfig(&comms[0], 2, ranks, 7, 0, &config, &sub));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(sub, &addr, &size));
    EXPECT_EQ(6u << 20, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[0], &addr, &size));
    EXPECT_EQ(2u << 20, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(sub, name));
    EXPECT_STREQ("rows", name);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
    close_parent(2);
}

TEST(names_are_unique_on_a_device)
{
    uint32_t ranks[] = {0, 1};
    HcclComm sub = NULL, other = NULL, again = NULL;
    HcclCommConfig config;

    open_parent(2);
    HcclCommConfigInit(&config);
    EXPECT_EQ(HCCL_SUCCESS, make_part(comms[0], 2, ranks, 1, 0, &sub));
    EXPECT_EQ(HCCL_SUCCESS, make_part(comms[0], 2, ranks, 2, 0, &other)); /* the same members */
    test_expect_error("choose another hcclCommName");
    EXPECT_EQ(HCCL_E_PARA, make_part(comms[0], 2, ranks, 1, 0, &again));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(comms[0], config.hcclCommName));
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, ranks, 3, 0, &config, &again));
    EXPECT_NULL(again);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
    EXPECT_EQ(HCCL_SUCCESS, make_part(comms[0], 2, ranks, 1, 0, &sub)); /* free again */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(other));
    close_parent(2);
}

TEST(a_name_that_grows_too_long_is_refused_and_can_be_given)
{
    const uint32_t ranks[] = {0};
    uint32_t own[] = {0};
    HcclCommConfig config;
    HcclComm parent, sub = NULL;

    HcclCommConfigInit(&config);
    memset(config.hcclCommName, 'n', 125);
    config.hcclCommName[125] = '\0';
    parent = init_one(&config);
    test_expect_error("has more than 127 characters: set config.hcclCommName");
    EXPECT_EQ(HCCL_E_PARA, make_part(parent, 1, ranks, 1, 0, &sub));
    EXPECT_NULL(sub);
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "short");
    EXPECT_EQ(HCCL_SUCCESS, HcclCreateSubCommConfig(&parent, 1, own, 1, 0, &config, &sub));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(parent));
    reset_devices(1);
}

TEST(arguments_are_checked)
{
    uint32_t ranks[] = {0, 1}, down[] = {1, 0}, twice[] = {0, 0}, beyond[] = {0, 2},
             many[] = {0, 1, 2};
    HcclComm sub = NULL, null = NULL;
    HcclCommConfig config, raw;

    open_parent(2);
    HcclCommConfigInit(&config);
    memset(&raw, 0, sizeof raw);
    test_expect_error("comm is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCreateSubCommConfig(NULL, 2, ranks, 1, 0, &config, &sub));
    test_expect_error("communicator is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCreateSubCommConfig(&null, 2, ranks, 1, 0, &config, &sub));
    test_expect_error("config is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCreateSubCommConfig(&comms[0], 2, ranks, 1, 0, NULL, &sub));
    test_expect_error("subComm is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCreateSubCommConfig(&comms[0], 2, ranks, 1, 0, &config, NULL));
    test_expect_error("rankIds is NULL and subCommId is 0x1");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, NULL, 1, 0, &config, &sub));
    test_expect_error("rankIds is a list and subCommId is 0xffffffff");
    EXPECT_EQ(HCCL_E_PARA,
              HcclCreateSubCommConfig(&comms[0], 2, ranks, NO_MEMBER, 0, &config, &sub));
    test_expect_error("rankNum is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 0, ranks, 1, 0, &config, &sub));
    test_expect_error("rankNum is 3");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 3, many, 1, 0, &config, &sub));
    test_expect_error("rankIds[1] is 2");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, beyond, 1, 0, &config, &sub));
    test_expect_error("rankIds[1] is 0 and follows 1: list each member once, in ascending order");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, down, 1, 1, &config, &sub));
    test_expect_error("rankIds[1] is 0 and follows 0");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, twice, 1, 0, &config, &sub));
    test_expect_error("subCommRankId is 2");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, ranks, 1, 2, &config, &sub));
    test_expect_error("but this is rank 0 of");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, ranks, 1, 1, &config, &sub));
    test_expect_error("config is not initialised");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, ranks, 1, 0, &raw, &sub));
    config.hcclBufferSize = 0;
    test_expect_error("hcclBufferSize is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[0], 2, ranks, 1, 0, &config, &sub));
    EXPECT_NULL(sub);
    close_parent(2);
}

TEST(a_part_has_no_parts)
{
    const uint32_t ranks[] = {0, 1}, own[] = {0};
    HcclComm sub = NULL, deeper = NULL;

    open_parent(2);
    EXPECT_EQ(HCCL_SUCCESS, make_part(comms[0], 2, ranks, 1, 0, &sub));
    test_expect_error("is a part of a communicator itself");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, make_part(sub, 1, own, 2, 0, &deeper));
    EXPECT_NULL(deeper);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
    test_expect_error("is not a live one");
    EXPECT_EQ(HCCL_E_PARA, make_part(sub, 1, own, 2, 0, &deeper));
    close_parent(2);
}

TEST(a_part_outlives_its_parent)
{
    const uint32_t ranks[] = {0, 1};
    HcclResult error = HCCL_E_INTERNAL;
    HcclComm subs[2] = {NULL, NULL};
    uint32_t num = 0;

    open_parent(2);
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, make_part(comms[i], 2, ranks, 1, i, &subs[i]));
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRankSize(subs[i], &num));
        EXPECT_EQ(2, num);
        EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(subs[i], &error));
        EXPECT_EQ(HCCL_SUCCESS, error);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(subs[i]));
    }
    reset_devices(2);
}

TEST(a_thousand_times_leave_nothing)
{
    const uint32_t ranks[] = {0, 1};
    HcclComm sub = NULL;
    long live = 0;
    int fds = 0;

    open_parent(2);
    for (uint32_t i = 0; i < 1000; i++) {
        EXPECT_EQ(HCCL_SUCCESS, make_part(comms[0], 2, ranks, 1, 0, &sub));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
        if (i == 0) {
            live = hc_alloc_live();
            fds = test_open_fds();
        }
    }
    EXPECT_EQ(live, hc_alloc_live());
    EXPECT_EQ(fds, test_open_fds());
    for (uint32_t i = 0; i < 1000; i++) { /* many ids: a few bytes each, in one block */
        EXPECT_EQ(HCCL_SUCCESS, make_part(comms[1], 2, ranks, i, 1, &sub));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
    }
    EXPECT_EQ(live + 2, hc_alloc_live());
    EXPECT_EQ(fds, test_open_fds());
    close_parent(2);
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    const uint32_t ranks[] = {0, 1};
    HcclResult rc;
    long nth = 0;

    test_allow_errors();
    open_parent(2);
    do {
        HcclComm sub = NULL;
        long live = hc_alloc_live();

        hc_alloc_fail_nth(nth++);
        rc = make_part(comms[0], 2, ranks, 1, 0, &sub);
        if (!hc_alloc_failed()) {
            EXPECT_EQ(HCCL_SUCCESS, rc);
            EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(sub));
            break;
        }
        hc_alloc_fail_nth(-1);
        EXPECT_NE(HCCL_SUCCESS, rc);
        EXPECT_NULL(sub);
        EXPECT_TRUE(hc_alloc_live() <= live + 2); /* what the parent notes stays */
    } while (nth < 1000);
    hc_alloc_fail_nth(-1);
    EXPECT_TRUE(nth > 5);
    close_parent(2);
}

/* ---- From a rank table ---- */

static void
open_table(uint32_t servers, uint32_t per)
{
    const char *path = table_file(servers, per);

    for (uint32_t i = 0; i < servers * per; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(path, i, &comms[i]));
    }
}

TEST(the_rank_graph_is_that_of_the_members)
{
    const uint32_t ranks[] = {1, 2, 3};
    uint32_t *sizes = NULL, *members = NULL, num = 0;
    CommLink *links = NULL, whole;
    HcclComm subs[3];

    open_table(2, 2);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ(HCCL_SUCCESS, make_part(comms[ranks[i]], 3, ranks, 4, i, &subs[i]));
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetInstSizeListByLayer(subs[2], 0, &sizes, &num));
    EXPECT_EQ(2, num);
    EXPECT_EQ(1, sizes[0]);
    EXPECT_EQ(2, sizes[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByLayer(subs[2], 0, &members, &num));
    EXPECT_EQ(2, num);
    EXPECT_EQ(1, members[0]);
    EXPECT_EQ(2, members[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByLayer(subs[0], 0, &members, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(0, members[0]);
    /* The same two devices have the same addresses, whichever communicator tells. */
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(comms[3], 0, 3, 2, &links, &num));
    EXPECT_EQ(1, num);
    whole = links[0];
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetLinks(subs[2], 0, 2, 1, &links, &num));
    EXPECT_EQ(1, num);
    EXPECT_MEMEQ(&whole.dstEndpointDesc, &links[0].dstEndpointDesc, sizeof whole.dstEndpointDesc);
    EXPECT_EQ(1, links[0].dstEndpointDesc.loc.device.serverIdx);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(subs[i]));
    close_parent(4);
}

TEST(a_table_may_be_used_again_while_a_part_of_its_first_communicator_lives)
{
    const uint32_t ranks[] = {0, 1};
    HcclComm old = NULL, young = NULL;
    HcclCommConfig config;
    uint32_t list[] = {0, 1};

    open_table(1, 2);
    EXPECT_EQ(HCCL_SUCCESS, make_part(comms[0], 2, ranks, 1, 0, &old));
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    open_table(1, 2);
    test_expect_error("choose another hcclCommName");
    EXPECT_EQ(HCCL_E_PARA, make_part(comms[0], 2, ranks, 1, 0, &young));
    HcclCommConfigInit(&config);
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "young");
    EXPECT_EQ(HCCL_SUCCESS, HcclCreateSubCommConfig(&comms[0], 2, list, 1, 0, &config, &young));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(old));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(young));
    close_parent(2);
}
