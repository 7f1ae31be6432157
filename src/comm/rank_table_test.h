/* SPDX-License-Identifier: BSD-3-Clause */
/* Good rank tables, to be changed by tests. */
#ifndef HC_COMM_RANK_TABLE_TEST_H
#define HC_COMM_RANK_TABLE_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/rank_table.h"
#include "tests/support/test.h"

/* Two servers with two devices each; the line numbers below count from the opening brace. */
static const char version_1_0[] = "{\n"
                                  " \"version\": \"1.0\",\n"
                                  " \"status\": \"completed\",\n"
                                  " \"server_count\": \"2\",\n"
                                  " \"server_list\": [\n"
                                  "  {\"server_id\": \"s0\",\n"
                                  "   \"host_ip\": \"192.0.2.1\",\n"
                                  "   \"device\": [\n"
                                  "    {\"device_id\": \"0\",\n"
                                  "     \"device_ip\": \"192.0.2.10\",\n"
                                  "     \"device_port\": \"16666\",\n"
                                  "     \"host_port\": \"60010\",\n"
                                  "     \"rank_id\": \"0\"},\n"
                                  "    {\"device_id\": \"1\",\n"
                                  "     \"device_ip\": \"2001:db8::11\",\n"
                                  "     \"host_port\": \"60011\",\n"
                                  "     \"rank_id\": \"1\"}]},\n"
                                  "  {\"server_id\": \"s1\",\n"
                                  "   \"device\": [\n"
                                  "    {\"device_id\": \"0\", \"device_ip\": \"192.0.2.20\",\n"
                                  "     \"rank_id\": \"2\"},\n"
                                  "    {\"device_id\": \"1\", \"device_ip\": \"192.0.2.21\",\n"
                                  "     \"rank_id\": \"3\"}]}]}\n";

static const char version_1_2[] =
    "{\n"
    " \"version\": \"1.2\",\n"
    " \"status\": \"completed\",\n"
    " \"server_list\": [\n"
    "  {\"server_id\": \"s0\", \"device\": [\n"
    "    {\"device_id\": \"0\", \"super_device_id\": \"0\",\n"
    "     \"device_ip\": \"192.0.2.10\", \"device_port\": \"16666\",\n"
    "     \"backup_device_ip\": \"192.0.2.20\",\n"
    "     \"backup_device_port\": \"16667\", \"rank_id\": \"0\"}]},\n"
    "  {\"server_id\": \"s1\", \"device\": [\n"
    "    {\"device_id\": \"0\", \"super_device_id\": \"1\",\n"
    "     \"device_ip\": \"192.0.2.20\", \"device_port\": \"16666\",\n"
    "     \"rank_id\": \"1\"}]},\n"
    "  {\"server_id\": \"s2\", \"device\": [\n"
    "    {\"device_id\": \"0\", \"super_device_id\": \"0\",\n"
    "     \"device_ip\": \"192.0.2.30\",\n"
    "     \"rank_id\": \"2\"}]}],\n"
    " \"super_pod_list\": [\n"
    "  {\"super_pod_id\": \"p0\",\n"
    "   \"server_list\": [{\"server_id\": \"s0\"},\n"
    "    {\"server_id\": \"s1\"}]},\n"
    "  {\"super_pod_id\": \"p1\",\n"
    "   \"server_list\": [{\"server_id\": \"s2\"}]}]}\n";

static const char version_2_0[] =
    "{\n"
    " \"version\": \"2.0\",\n"
    " \"rank_count\": 2,\n"
    " \"rank_list\": [\n"
    "  {\"rank_id\": 0,\n"
    "   \"local_id\": 0,\n"
    "   \"device_id\": 0,\n"
    "   \"device_port\": 16666,\n"
    "   \"level_list\": [\n"
    "    {\"net_layer\": 0,\n"
    "     \"net_instance_id\": \"pod0\",\n"
    "     \"net_type\": \"TOPO_FILE_DESC\",\n"
    "     \"rank_addr_list\": [\n"
    "      {\"addr_type\": \"EID\",\n"
    "       \"addr\": \"000000000000002000100000dfdf1234\",\n"
    "       \"ports\": [\"0/0\",\n"
    "                 \"0/1\"]},\n"
    "      {\"addr_type\": \"IPV6\",\n"
    "       \"addr\": \"2001:db8::1\",\n"
    "       \"ports\": [\"d2h\"],\n"
    "       \"plane_id\": \"1\"}]},\n"
    "    {\"net_layer\": 3,\n"
    "     \"net_instance_id\": \"all\",\n"
    "     \"net_type\": \"CLOS\",\n"
    "     \"rank_addr_list\": [\n"
    "      {\"addr_type\": \"IPV4\",\n"
    "       \"addr\": \"192.0.2.10\",\n"
    "       \"ports\": [\"0/0\"]}]}]},\n"
    "  {\"rank_id\": 1,\n"
    "   \"local_id\": 1,\n"
    "   \"device_id\": 1,\n"
    "   \"level_list\": [\n"
    "    {\"net_layer\": 0, \"net_instance_id\": \"pod0\", \"net_type\": \"TOPO_FILE_DESC\",\n"
    "     \"rank_addr_list\": [{\"addr_type\": \"IPV4\", \"addr\": \"192.0.2.11\",\n"
    "       \"ports\": [\"0/0\"]}]}]}]}\n";

/* `text` with the first `from` replaced. Valid until the next call. */
static inline const char *
changed(const char *text, const char *from, const char *to)
{
    static char into[8192];
    const char *at = strstr(text, from);

    EXPECT_NOT_NULL(at);
    snprintf(into, sizeof into, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return into;
}

static inline HcclResult
parse(const char *text, struct rank_table **table)
{
    return rank_table_parse(text, strlen(text), "t.json", table);
}

static inline void
expect_good(const char *text, uint32_t n_ranks)
{
    struct rank_table *table = NULL;

    EXPECT_EQ(HCCL_SUCCESS, parse(text, &table));
    EXPECT_EQ(n_ranks, table->n_ranks);
    for (uint32_t i = 0; i < n_ranks; i++)
        EXPECT_TRUE(table->ranks[i].listed);
    rank_table_destroy(table);
}

#endif
