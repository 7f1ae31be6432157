/* SPDX-License-Identifier: BSD-3-Clause */
/* Each fault of a rank table is told with file, line and field. */
#include "comm/rank_table_test.h"

struct change {
    const char *from, *to;
    const char *message; /* whole */
};

static void
expect_fault(const char *text, const char *message)
{
    struct rank_table *table = NULL;
    const char *said;

    EXPECT_EQ(HCCL_E_INTERNAL, parse(text, &table));
    EXPECT_NULL(table);
    said = hc_errmsg_take();
    EXPECT_NOT_NULL(said);
    EXPECT_CONTAINS(message, said);
    EXPECT_NULL(strstr(said, "EI00") == NULL ? "no code" : NULL);
    EXPECT_TRUE(strchr(said, '\n') == NULL || strchr(said, '\n')[1] == '\0'); /* said once */
}

static void
expect_faults(const char *good, const struct change *changes, size_t num)
{
    test_expect_error(": t.json:");
    for (size_t i = 0; i < num; i++)
        expect_fault(changed(good, changes[i].from, changes[i].to), changes[i].message);
}

#define EXPECT_FAULTS(good_, changes_)                                                             \
    expect_faults(good_, changes_, sizeof changes_ / sizeof changes_[0])

TEST(what_is_no_json_object_is_told_with_its_line)
{
    test_expect_error("EI0004: t.json:");
    test_expect_error("EI0014: t.json:1: ");
    expect_fault("", "EI0004: t.json:1: the rank table is no JSON");
    expect_fault("{\n\"version\": \"1.0\",\n]", "EI0004: t.json:3: ");
    expect_fault("{\n\"version\": \"1.0\",\n\"version\": \"1.0\"}", "EI0004: t.json:3: ");
    expect_fault("{\"version\": \"\\u0000\"}", "EI0004: t.json:1: ");
    expect_fault("{} {}", "EI0004: t.json:1: ");
    expect_fault("{\"a\": 99999999999999999999}", "EI0004: t.json:1: ");
    expect_fault("[1]", "EI0014: t.json:1: an array, but an object {...} is due here");
}

TEST(version_and_status_are_checked_first)
{
    static const struct change changes[] = {
        {" \"version\": \"1.0\",\n", "", "EI0017: t.json:1: version: is missing"},
        {"\"1.0\"", "1.0", "EI0014: t.json:2: version: 1, but a string is due here"},
        {"\"1.0\"", "\"3.1\\n\"",
         "t.json:2: version: \"3.1?\" is not known: write \"1.0\", \"1.2\" or \"2.0\""},
        {" \"status\": \"completed\",\n", "", "EI0017: t.json:1: status: is missing"},
        {"completed", "initializing",
         "EI0014: t.json:3: status: \"initializing\": the table is not ready yet: wait until it "
         "says \"completed\""},
        {"completed", "done",
         "t.json:3: status: \"done\" is neither \"completed\" nor \"initializing\""},
    };

    EXPECT_FAULTS(version_1_0, changes);
    expect_fault(changed(version_2_0, "\"rank_count\"", "\"status\": \"initializing\", \"x\""),
                 "t.json:3: status: \"initializing\": the table is not ready yet");
}

TEST(faults_of_version_1_servers_are_told_with_line_and_field)
{
    static const struct change changes[] = {
        {" \"server_count\": \"2\",\n", "", "EI0017: t.json:1: server_count: is missing"},
        {"_count\": \"2\"", "_count\": 2",
         "t.json:4: server_count: 2, but version 1.0 wants a string (all its values are in "
         "quotes) here"},
        {"_count\": \"2\"", "_count\": \"3\"",
         "t.json:4: server_count: says 3, but server_list lists 2"},
        {"_count\": \"2\"", "_count\": \"0\"",
         "t.json:4: server_count: \"0\" is no number from 1 "},
        {"_count\": \"2\"", "_count\": \"two\"", "server_count: \"two\" is no number from 1 "},
        {"_count\": \"2\"", "_count\": \"-2\"", "server_count: \"-2\" is no number from 1 "},
        {"_count\": \"2\"", "_count\": \"99999999999999\"", "is no number from 1 to 65536"},
        {"server_list", "servers", "EI0017: t.json:1: server_list: is missing"},
        {"\"server_list\": [", "\"server_list\": [], \"x\": [",
         "t.json:5: server_list: is empty: list at least one"},
        {"\"server_list\": [", "\"server_list\": {}, \"x\": [",
         "t.json:5: server_list: an object, but version 1.0 wants an array [...] here"},
        {"\"server_list\": [\n", "\"server_list\": [7,\n",
         "t.json:4: server_count: says 2, but server_list lists 3"},
        {"{\"server_id\": \"s1\",", "7, {\"server_id\": \"s1\",",
         "t.json:4: server_count: says 2, but server_list lists 3"},
        {"\"server_id\": \"s0\",", "\"id\": \"s0\",",
         "EI0017: t.json:6: server_list[0].server_id: is missing"},
        {"\"server_id\": \"s0\"", "\"server_id\": \"\"",
         "t.json:6: server_list[0].server_id: has 0 characters: make it 1 to 64"},
        {"\"s1\"", "\"s0\"",
         "t.json:18: server_list[1].server_id: \"s0\" is used twice, first in line 6: give each "
         "server its own"},
        {"192.0.2.1\"", "192.0.2.256\"",
         "t.json:7: server_list[0].host_ip: \"192.0.2.256\" is no IPv4 address"},
        {"192.0.2.1\"", "::1\"", "t.json:7: server_list[0].host_ip: \"::1\" is no IPv4 address"},
        {"\"device\": [", "\"devices\": [", "EI0017: t.json:6: server_list[0].device: is missing"},
        {"\"device\": [", "\"device\": [], \"x\": [", "t.json:8: server_list[0].device: is empty"},
        {"\"device\": [", "\"device\": [null, ",
         "t.json:8: server_list[0].device[0]: null, but an object {...} is due here"},
    };

    EXPECT_FAULTS(version_1_0, changes);
}

TEST(faults_of_version_1_devices_are_told_with_line_and_field)
{
    static const struct change changes[] = {
        {"{\"device_id\": \"0\",", "{",
         "EI0017: t.json:9: server_list[0].device[0].device_id: is "},
        {"\"device_id\": \"0\"", "\"device_id\": 0",
         "t.json:9: server_list[0].device[0].device_id: 0, but version 1.0 wants a string"},
        {"\"device_id\": \"0\"", "\"device_id\": \"npu\"",
         "server_list[0].device[0].device_id: \"npu\" is no number from 0 to 4095"},
        {"\"device_id\": \"0\"", "\"device_id\": \"4096\"", "\"4096\" is no number from 0 to 4095"},
        {"\"device_id\": \"1\"", "\"device_id\": \"0\"",
         "t.json:14: server_list[0].device[1].device_id: \"0\" is listed twice for this server, "
         "first in line 9: give each rank its own device, or each a device_port of its own when "
         "they share one"},
        {"\"device_ip\": \"192.0.2.10\",\n", "\n",
         "EI0017: t.json:9: server_list[0].device[0].device_ip: is missing: with several servers "
         "each device needs its address"},
        {"192.0.2.10", "host",
         "t.json:10: server_list[0].device[0].device_ip: \"host\" is no IPv4 "
         "or IPv6 address"},
        {"2001:db8::11", "2001:db8:::11", "t.json:15: server_list[0].device[1].device_ip: "},
        {"192.0.2.20", "2001:DB8:0::11",
         "t.json:20: server_list[1].device[0].device_ip: \"2001:DB8:0::11\" is used twice, first "
         "in line 15: each device has its own"},
        {"16666", "0",
         "t.json:11: server_list[0].device[0].device_port: \"0\" is no number from 1 "
         "to 65535"},
        {"16666", "65536", "device_port: \"65536\" is no number from 1 to 65535"},
        {"60011", "60010",
         "t.json:16: server_list[0].device[1].host_port: \"60010\" is used twice on this server, "
         "first in line 12: give each device its own"},
        {"60011", "1e3", "t.json:16: server_list[0].device[1].host_port: \"1e3\" is no number"},
        {"\"60010\",\n     \"rank_id\": \"0\"", "\"60010\"",
         "EI0017: t.json:9: server_list[0].device[0].rank_id: is missing"},
        {"\"rank_id\": \"1\"", "\"rank_id\": 1",
         "t.json:17: server_list[0].device[1].rank_id: 1, but version 1.0 wants a string"},
        {"\"rank_id\": \"3\"", "\"rank_id\": \"1\"",
         "t.json:23: server_list[1].device[1].rank_id: \"1\" is used twice, first in line 17: give "
         "each device its own"},
        {"\"rank_id\": \"3\"", "\"rank_id\": \"4\"",
         "t.json:23: server_list[1].device[1].rank_id: \"4\" is out of range: the table lists 4 "
         "devices, so number them from 0 to 3"},
        {"\"rank_id\": \"3\"", "\"rank_id\": \"\"", "rank_id: \"\" is no number from 0 to 65535"},
        {"\"rank_id\": \"3\"", "\"rank_id\": {}", "rank_id: an object, but version 1.0 wants a "},
    };

    EXPECT_FAULTS(version_1_0, changes);
}

TEST(ranks_of_a_server_follow_each_other)
{
    static char text[4096];

    snprintf(text, sizeof text, "%s",
             changed(version_1_0, "\"rank_id\": \"1\"", "\"rank_id\": \"9\""));
    snprintf(text, sizeof text, "%s", changed(text, "\"rank_id\": \"2\"", "\"rank_id\": \"1\""));
    snprintf(text, sizeof text, "%s", changed(text, "\"rank_id\": \"9\"", "\"rank_id\": \"2\""));
    test_expect_error("t.json:17");
    expect_fault(text, "t.json:17: server_list[0].device[1].rank_id: \"2\": ranks of server \"s0\" "
                       "must follow each other, but rank 1 is of server \"s1\"");
}

TEST(faults_of_version_1_2_are_told_with_line_and_field)
{
    static const struct change changes[] = {
        {"super_device_id\": \"1\"", "super_device_id\": \"x\"",
         "t.json:11: server_list[1].device[0].super_device_id: \"x\" is no number"},
        {"backup_device_ip\": \"192.0.2.20\"", "backup_device_ip\": \"no\"",
         "t.json:8: server_list[0].device[0].backup_device_ip: \"no\" is no IPv4 or IPv6 address"},
        {"16667", "16666",
         "t.json:9: server_list[0].device[0].backup_device_port: \"16666\" is also the device_port "
         "of that address, in line 12: choose another"},
        {"16667", "70000",
         "t.json:9: server_list[0].device[0].backup_device_port: \"70000\" is no "},
        {"super_pod_list", "pods", "EI0017: t.json:1: super_pod_list: is missing"},
        {"\"super_pod_list\": [", "\"super_pod_list\": [], \"x\": [",
         "t.json:18: super_pod_list: is empty"},
        {"\"super_pod_id\": \"p0\",", "",
         "EI0017: t.json:19: super_pod_list[0].super_pod_id: is missing"},
        {"\"p1\"", "\"p0\"",
         "t.json:22: super_pod_list[1].super_pod_id: \"p0\" is used twice: give each super pod its "
         "own"},
        {"[{\"server_id\": \"s2\"}]", "[]",
         "t.json:23: super_pod_list[1].server_list: is empty: list at least one"},
        {"[{\"server_id\": \"s2\"}]", "[\"s2\"]",
         "t.json:23: super_pod_list[1].server_list[0]: \"s2\", but an object {...} is due here"},
        {"[{\"server_id\": \"s2\"}]", "[{\"server_id\": \"s9\"}]",
         "t.json:23: super_pod_list[1].server_list[0].server_id: \"s9\" is not in server_list"},
        {"[{\"server_id\": \"s2\"}]", "[{\"server_id\": \"s1\"}]",
         "t.json:23: super_pod_list[1].server_list[0].server_id: \"s1\" is listed in two super "
         "pods, or twice in one"},
        {",\n    {\"server_id\": \"s1\"}]}", "]}",
         "t.json:10: server_list[1].server_id: this server is in no super pod of super_pod_list"},
    };

    EXPECT_FAULTS(version_1_2, changes);
}

TEST(servers_of_a_super_pod_are_listed_together)
{
    static char text[4096];

    snprintf(text, sizeof text, "%s",
             changed(version_1_2, "    {\"server_id\": \"s1\"}]", "    {\"server_id\": \"s9\"}]"));
    snprintf(text, sizeof text, "%s",
             changed(text, "[{\"server_id\": \"s2\"}]", "[{\"server_id\": \"s1\"}]"));
    snprintf(text, sizeof text, "%s", changed(text, "\"s9\"", "\"s2\""));
    test_expect_error("t.json:14");
    expect_fault(text, "t.json:14: server_list[2].server_id: servers of one super pod must be "
                       "listed together, but the server before is of another");
}

TEST(faults_of_version_2_ranks_are_told_with_line_and_field)
{
    static const struct change changes[] = {
        {" \"rank_count\": 2,\n", "", "EI0017: t.json:1: rank_count: is missing"},
        {"\"rank_count\": 2", "\"rank_count\": \"2\"",
         "t.json:3: rank_count: \"2\", but version 2.0 wants a number without quotes here"},
        {"\"rank_count\": 2", "\"rank_count\": 2.5",
         "t.json:3: rank_count: 2.5 is no number from 1 to 65536"},
        {"\"rank_count\": 2", "\"rank_count\": 65537", "65537 is no number from 1 to 65536"},
        {"\"rank_count\": 2", "\"rank_count\": 0", "0 is no number from 1 to 65536"},
        {"\"rank_count\": 2", "\"rank_count\": -1", "-1 is no number from 1 to 65536"},
        {"\"rank_count\": 2", "\"rank_count\": 3",
         "t.json:3: rank_count: says 3, but rank_list lists 2"},
        {"\"rank_list\"", "\"ranks\"", "EI0017: t.json:1: rank_list: is missing"},
        {"\"rank_list\": [", "\"rank_list\": [], \"x\": [", "t.json:4: rank_list: is empty"},
        {"{\"rank_id\": 0,", "{", "EI0017: t.json:5: rank_list[0].rank_id: is missing"},
        {"\"rank_id\": 0", "\"rank_id\": \"0\"",
         "t.json:5: rank_list[0].rank_id: \"0\", but version 2.0 wants a number without quotes"},
        {"\"rank_id\": 1", "\"rank_id\": 0",
         "t.json:29: rank_list[1].rank_id: 0 is used twice, first in line 5: give each rank its "
         "own"},
        {"\"rank_id\": 1", "\"rank_id\": 2",
         "t.json:29: rank_list[1].rank_id: 2 is out of range: the table lists 2 ranks, so number "
         "them from 0 to 1"},
        {"   \"local_id\": 0,\n", "", "EI0017: t.json:5: rank_list[0].local_id: is missing"},
        {"\"local_id\": 0", "\"local_id\": 65",
         "t.json:6: rank_list[0].local_id: 65 is no number from 0 to 64"},
        {"\"local_id\": 1", "\"local_id\": 0",
         "t.json:30: rank_list[1].local_id: 0 is device 0 of server \"pod0\" already: give each "
         "device its own"},
        {"   \"device_id\": 0,\n", "", "EI0017: t.json:5: rank_list[0].device_id: is missing"},
        {"\"device_id\": 1", "\"device_id\": true",
         "t.json:31: rank_list[1].device_id: true, but version 2.0 wants a number"},
        {"\"device_id\": 1", "\"device_id\": 65", "device_id: 65 is no number from 0 to 64"},
        {"\"device_id\": 1", "\"device_id\": 0",
         "t.json:31: rank_list[1].device_id: 0 is listed twice for server \"pod0\", first in line "
         "7: "},
        {"16666", "65536", "t.json:8: rank_list[0].device_port: 65536 is no number from 1 to "},
        {"\"device_id\": 1,", "\"device_id\": 1, \"host_port\": 0,",
         "t.json:31: rank_list[1].host_port: 0 is no number from 1 to 65535"},
    };

    EXPECT_FAULTS(version_2_0, changes);
}

TEST(faults_of_version_2_levels_are_told_with_line_and_field)
{
    static const struct change changes[] = {
        {"\"level_list\": [\n", "\"x\": [\n",
         "EI0017: t.json:5: rank_list[0].level_list: is missing"},
        {"\"level_list\": [\n", "\"level_list\": [], \"x\": [\n",
         "t.json:9: rank_list[0].level_list: is empty"},
        {"\"level_list\": [\n", "\"level_list\": [0,0,0,0,0,0,0,\n",
         "t.json:9: rank_list[0].level_list: lists 9, at most 8 go"},
        {"{\"net_layer\": 0,\n", "{\"net_layer\": 1,\n",
         "t.json:10: rank_list[0].level_list[0].net_layer: 1: the first level must be layer 0, "
         "which tells the server"},
        {"\"net_layer\": 3", "\"net_layer\": 0",
         "t.json:22: rank_list[0].level_list[1].net_layer: 0 does not ascend: the level before is "
         "layer 0"},
        {"\"net_layer\": 3", "\"net_layer\": 8", "net_layer: 8 is no number from 0 to 7"},
        {"     \"net_instance_id\": \"pod0\",\n", "",
         "EI0017: t.json:10: rank_list[0].level_list[0].net_instance_id: is missing"},
        {"\"net_instance_id\": \"all\"", "\"net_instance_id\": 7",
         "t.json:23: rank_list[0].level_list[1].net_instance_id: 7, but version 2.0 wants a string "
         "here"},
        {"\"TOPO_FILE_DESC\"", "\"CLOS\"",
         "t.json:12: rank_list[0].level_list[0].net_type: \"CLOS\" does not go in layer 0: write "
         "\"TOPO_FILE_DESC\""},
        {"\"CLOS\"", "\"MESH\"",
         "t.json:24: rank_list[0].level_list[1].net_type: \"MESH\" does not go in layer 3: write "
         "\"CLOS\" or \"TOPO_FILE_DESC\""},
        {"rank_addr_list", "addresses",
         "EI0017: t.json:10: rank_list[0].level_list[0].rank_addr_list: is missing"},
        {"\"EID\"", "\"MAC\"",
         "t.json:14: rank_list[0].level_list[0].rank_addr_list[0].addr_type: \"MAC\" is not known: "
         "write \"EID\", \"IPV4\" or \"IPV6\""},
        {"dfdf1234", "dfdf123",
         "t.json:15: rank_list[0].level_list[0].rank_addr_list[0].addr: "
         "\"000000000000002000100000dfdf123\" is no EID: write 32 hexadecimal digits"},
        {"2001:db8::1\"", "192.0.2.1\"",
         "t.json:19: rank_list[0].level_list[0].rank_addr_list[1].addr: \"192.0.2.1\" is no IPv6 "
         "address"},
        {"192.0.2.10", "192.0.2",
         "t.json:27: rank_list[0].level_list[1].rank_addr_list[0].addr: \"192.0.2\" is no IPv4 "},
        {"\"0/1\"", "\"0-1\"",
         "t.json:17: rank_list[0].level_list[0].rank_addr_list[0].ports[1]: \"0-1\" is no port: "
         "write \"die/port\", as \"0/3\", or \"d2h\""},
        {"\"0/1\"", "\"0/\"", "ports[1]: \"0/\" is no port"},
        {"\"0/1\"", "\"0/111111111111111111111111111111111\"", "is no port"},
        {"\"0/1\"", "3", "t.json:17: rank_list[0].level_list[0].rank_addr_list[0].ports[1]: 3 is "},
        {"\"d2h\"", "\"0/1\"",
         "t.json:20: rank_list[0].level_list[0].rank_addr_list[1].ports[0]: \"0/1\" has an address "
         "in this layer already: a port has one"},
        {"\"ports\": [\"d2h\"],", "",
         "EI0017: t.json:18: rank_list[0].level_list[0].rank_addr_list[1].ports: is missing"},
        {"\"plane_id\": \"1\"", "\"plane_id\": 1",
         "t.json:21: rank_list[0].level_list[0].rank_addr_list[1].plane_id: 1, but version 2.0 "
         "wants a string"},
    };

    EXPECT_FAULTS(version_2_0, changes);
}

TEST(long_values_are_told_in_part_and_too_long_ones_refused)
{
    static char text[8192];
    char name[1100];

    memset(name, 'x', sizeof name);
    name[1025] = '\0';
    snprintf(text, sizeof text, "%s",
             changed(version_2_0, "\"net_instance_id\": \"all\"", "\"net_instance_id\": \"@\""));
    test_expect_error("t.json:");
    expect_fault(changed(text, "@", name),
                 "t.json:23: rank_list[0].level_list[1].net_instance_id: has 1025 characters: make "
                 "it 1 to 1024");
    name[1024] = '\0';
    expect_good(changed(text, "@", name), 2);
    memset(name, '2', 300);
    name[300] = '\0';
    expect_fault(changed(version_2_0, "192.0.2.10", name), "has 300 characters: make it 1 to 256");
    memset(name, 's', 100);
    name[64] = '\0';
    expect_good(changed(version_1_0, "s1", name), 4);
    name[64] = 's';
    name[65] = '\0';
    expect_fault(changed(version_1_0, "s1", name),
                 "t.json:18: server_list[1].server_id: has 65 characters: make it 1 to 64");
    memcpy(name, "\xC3\xA4\n\xC3\xA4", 5);
    name[65] = 's';
    expect_fault(changed(version_1_0, "completed",
                         "\\u00e4\\nsssssssssssssssssssssssssssssssssssss"
                         "ssssssssssssssssssssssssssssssss"),
                 "t.json:3: status: \"\xC3\xA4?sssssssssssssssssssssssssssssssssssssssssssssssssss"
                 "ssssss...\" is neither");
}
