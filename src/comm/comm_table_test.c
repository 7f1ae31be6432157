/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators from rank tables: what is made, and what is refused. */
#include "base/alloc.h"
#include "comm/comm_object.h"
#include "comm/comm_table_test.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_extra.h"

static void
named(HcclCommConfig *config, const char *name)
{
    HcclCommConfigInit(config);
    snprintf(config->hcclCommName, sizeof config->hcclCommName, "%s", name);
}

/* ---- What is made ---- */

TEST(a_table_makes_a_communicator_at_once)
{
    char name[COMM_NAME_MAX_LENGTH];
    HcclComm comm = NULL;
    uint32_t value = 99;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(table_file(1, 4), 1, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRankSize(comm, &value));
    EXPECT_EQ(4, value);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRankId(comm, &value));
    EXPECT_EQ(1, value);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(comm, name));
    EXPECT_STREQ("hccl_world_group", name);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

TEST(settings_count_and_name_the_communicator)
{
    char name[COMM_NAME_MAX_LENGTH];
    HcclCommConfig config;
    HcclComm comm = NULL;
    void *addr;
    uint64_t size = 0;

    named(&config, "mine");
    config.hcclBufferSize = 3;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfoConfig(table_file(1, 2), 0, &config, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(comm, name));
    EXPECT_STREQ("mine", name);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comm, &addr, &size));
    EXPECT_EQ(6 << 20, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

TEST(the_rank_graph_has_the_servers_of_the_table)
{
    uint32_t *sizes, *ranks, num = 0;
    HcclComm comm = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(2));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(table_file(2, 2), 2, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetInstSizeListByLayer(comm, 0, &sizes, &num));
    EXPECT_EQ(2, num);
    EXPECT_EQ(2, sizes[0]);
    EXPECT_EQ(2, sizes[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByLayer(comm, 0, &ranks, &num));
    EXPECT_EQ(2, num);
    EXPECT_EQ(2, ranks[0]);
    EXPECT_EQ(3, ranks[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

static const char version_2[] =
    "{\"version\":\"2.0\",\"rank_count\":2,\"rank_list\":["
    "{\"rank_id\":1,\"local_id\":0,\"device_id\":0,\"level_list\":[{\"net_layer\":0,"
    "\"net_instance_id\":\"a\",\"net_type\":\"TOPO_FILE_DESC\",\"rank_addr_list\":[]}]},"
    "{\"rank_id\":0,\"local_id\":1,\"device_id\":1,\"level_list\":[{\"net_layer\":0,"
    "\"net_instance_id\":\"b\",\"net_type\":\"TOPO_FILE_DESC\",\"rank_addr_list\":[]}]}]}";

TEST(version_2_makes_one_too)
{
    uint32_t *ranks, num = 0;
    HcclComm comm = NULL;

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9579", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(write_file(version_2), 1, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclRankGraphGetRanksByLayer(comm, 0, &ranks, &num));
    EXPECT_EQ(1, num);
    EXPECT_EQ(1, ranks[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

static void *
member_main(void *arg)
{
    struct member *member = arg;

    if (aclrtSetDevice((int32_t)member->rank) != ACL_SUCCESS)
        return NULL;
    member->rc = HcclCommInitClusterInfo(member->path, member->rank, &member->comm);
    return NULL;
}

TEST(ranks_of_one_process_make_theirs_side_by_side)
{
    struct member members[MOST];
    const char *path = table_file(1, MOST);
    struct comm *first, *other;

    for (uint32_t i = 0; i < MOST; i++) {
        members[i] = (struct member){.path = path, .rank = i, .rc = HCCL_E_INTERNAL};
        EXPECT_EQ(0, pthread_create(&members[i].thread, NULL, member_main, &members[i]));
    }
    for (uint32_t i = 0; i < MOST; i++) {
        EXPECT_EQ(0, pthread_join(members[i].thread, NULL));
        EXPECT_EQ(HCCL_SUCCESS, members[i].rc);
    }
    EXPECT_EQ(HCCL_SUCCESS, comm_hold(members[0].comm, &first));
    EXPECT_EQ(HCCL_SUCCESS, comm_hold(members[3].comm, &other));
    EXPECT_TRUE(first->world == other->world); /* one copy of the facts */
    comm_release(first);
    comm_release(other);
    for (uint32_t i = 0; i < MOST; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(members[i].comm));
    reset_devices(MOST);
}

/* Equal tables, names and jobs make one world; what differs in one of them makes another. */
TEST(who_meets_is_decided_by_content_name_and_job)
{
    char text[4096], spaced[4200], ids[4][64];
    HcclCommConfig config;

    table_text(text, sizeof text, 1, 2);
    snprintf(spaced, sizeof spaced, "\n \n%s", text);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < 4; i++) {
        HcclComm handle = NULL;
        struct comm *comm;

        named(&config, i == 2 ? "other" : "group");
        if (i == 3)
            setenv("HCOMM_JOB_ID", "job", 1);
        EXPECT_EQ(HCCL_SUCCESS,
                  HcclCommInitClusterInfoMemConfig(i == 1 ? spaced : text, 0, &config, &handle));
        EXPECT_EQ(HCCL_SUCCESS, comm_hold(handle, &comm));
        memcpy(ids[i], comm->world->id, sizeof ids[i]);
        comm_release(comm);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    }
    EXPECT_STREQ(ids[0], ids[1]);
    assert_string_not_equal(ids[0], ids[2]);
    assert_string_not_equal(ids[0], ids[3]);
    end_device();
}

TEST(a_device_has_several_that_are_made_from_texts)
{
    char text[4096];
    HcclComm comms[8];

    table_text(text, sizeof text, 1, 2);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < 8; i++) {
        HcclCommConfig config;
        char name[32];

        snprintf(name, sizeof name, "link %d", i);
        named(&config, name);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfoMemConfig(text, 0, &config, &comms[i]));
    }
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    end_device();
}

TEST(tables_name_devices_by_what_the_machine_calls_them)
{
    HcclComm comm = NULL;

    setenv("ASCEND_RT_VISIBLE_DEVICES", "2,3", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    test_expect_error("puts rank 2 on device 0, but device 1 is current on this thread: call "
                      "aclrtSetDevice(0) before");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfo(table_file(1, 4), 2, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(table_file(1, 4), 3, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

TEST(in_a_group_it_is_made_at_once)
{
    const char *path = table_file(1, 2);
    HcclComm comms[2] = {NULL, NULL};

    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(path, i, &comms[i]));
    }
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    reset_devices(2);
}

/* ---- What is refused ---- */

TEST(a_second_world_group_of_a_device_is_unavailable)
{
    HcclComm comm = NULL, second = NULL;
    HcclCommConfig config;
    const char *path = table_file(1, 2);

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(path, 0, &comm));
    test_expect_error("device 0 has a communicator named \"hccl_world_group\" already");
    EXPECT_EQ(HCCL_E_UNAVAIL, HcclCommInitClusterInfo(path, 0, &second));
    named(&config, "hccl_world_group");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfoConfig(path, 0, &config, &second));
    EXPECT_NULL(second);
    named(&config, "another");
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfoConfig(path, 0, &config, &second));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(second));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(path, 0, &comm)); /* it is free again */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

TEST(a_rank_that_is_not_in_the_table_is_refused)
{
    HcclComm comm = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("rank 2 is not in ");
    test_expect_error("table.json, which lists ranks 0 to 1");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfo(table_file(1, 2), 2, &comm));
    EXPECT_NULL(comm);
    end_device();
}

TEST(another_device_than_the_tables_is_refused)
{
    HcclComm comm = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("table.json puts rank 1 on device 1, but device 0 is current on this thread: "
                      "call aclrtSetDevice(1) before");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfo(table_file(1, 2), 1, &comm));
    EXPECT_NULL(comm);
    end_device();
}

TEST(a_device_this_process_lacks_is_told_with_its_line)
{
    HcclComm comm = NULL;

    setenv("HCOMM_DEVICE_COUNT", "2", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("EI0014: ");
    test_expect_error("table.json:5: server_list[0].device[2].device_id: 2: this process is rank 2 "
                      "and has no such device, only 2: correct the table, or see "
                      "HCOMM_DEVICE_COUNT");
    EXPECT_EQ(HCCL_E_INTERNAL, HcclCommInitClusterInfo(table_file(1, 4), 2, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(table_file(1, 4), 0, &comm)); /* others may */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    test_expect_error("rankTableString:1: rank_list[0].device_id: 5: this process is rank 1 and");
    char text[1024];
    HcclCommConfig config;
    snprintf(text, sizeof text, "%s", version_2);
    *strstr(text, "\"device_id\":0") = '"';
    strstr(text, "\"device_id\":0")[12] = '5';
    named(&config, "x");
    EXPECT_EQ(HCCL_E_INTERNAL, HcclCommInitClusterInfoMemConfig(text, 1, &config, &comm));
    end_device();
}

TEST(a_thread_without_a_device_is_refused)
{
    HcclComm comm = NULL;

    test_allow_errors();
    EXPECT_NE(HCCL_SUCCESS, HcclCommInitClusterInfo(table_file(1, 2), 0, &comm));
    EXPECT_NULL(comm);
}

TEST(arguments_are_checked)
{
    HcclCommConfig config, raw = {.hcclCommName = "x"};
    HcclComm comm = NULL;
    char text[4096];

    table_text(text, sizeof text, 1, 2);
    HcclCommConfigInit(&config);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("is NULL");
    test_expect_error("config.hcclCommName is empty");
    test_expect_error("is not initialised");
    test_expect_error("EI0004: rankTableString:1: the rank table is no JSON");
    test_expect_error("EI0004: cannot read the rank table /nonexistent/table.json");
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitClusterInfo(NULL, 0, &comm));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitClusterInfo("x", 0, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitClusterInfoConfig("x", 0, NULL, &comm));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitClusterInfoMemConfig(NULL, 0, &config, &comm));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitClusterInfoMemConfig(text, 0, NULL, &comm));
    EXPECT_EQ(HCCL_E_PTR, HcclCommInitClusterInfoMemConfig(text, 0, &config, NULL));
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfoMemConfig(text, 0, &config, &comm));
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfoMemConfig(text, 0, &raw, &comm));
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfoConfig(table_file(1, 2), 0, &raw, &comm));
    named(&config, "x");
    EXPECT_EQ(HCCL_E_INTERNAL, HcclCommInitClusterInfoMemConfig("", 0, &config, &comm));
    EXPECT_EQ(HCCL_E_INTERNAL, HcclCommInitClusterInfo("/nonexistent/table.json", 0, &comm));
    EXPECT_NULL(comm);
    end_device();
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    const char *path = table_file(2, 2);
    bool failed = true;
    HcclComm comm = NULL;
    long live;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(path, 0, &comm)); /* what is made once */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    live = hc_alloc_live();
    test_expect_error("out of host memory");
    for (long nth = 0; failed; nth++) {
        HcclResult rc;

        comm = NULL;
        hc_alloc_fail_nth(nth);
        rc = HcclCommInitClusterInfo(path, 0, &comm);
        failed = hc_alloc_failed() != 0;
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(failed ? HCCL_E_MEMORY : HCCL_SUCCESS, rc);
        if (comm != NULL)
            EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
        EXPECT_EQ(live, hc_alloc_live());
    }
    end_device();
}
