/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank tables, and the search for lines in texts that may be no JSON. */
#include "comm/rank_table.h"

#include "comm/json_line.h"
#include "tests/fuzz/fuzz.h"

static const char *const texts[] = {
    "{\"version\":\"1.0\",\"status\":\"completed\",\"server_count\":\"2\",\"server_list\":["
    "{\"server_id\":\"s0\",\"host_ip\":\"192.0.2.1\",\"device\":["
    "{\"device_id\":\"0\",\"device_ip\":\"192.0.2.10\",\"device_port\":\"16666\",\"rank_id\":\"0\"}"
    ","
    "{\"device_id\":\"1\",\"device_ip\":\"2001:db8::1\",\"host_port\":\"1\",\"rank_id\":\"1\"}]},"
    "{\"server_id\":\"s1\",\"device\":["
    "{\"device_id\":\"0\",\"device_ip\":\"192.0.2.20\",\"rank_id\":\"2\"}]}]}",
    "{\"version\":\"1.2\",\"status\":\"completed\",\"server_list\":[{\"server_id\":\"s0\","
    "\"device\":[{\"device_id\":\"0\",\"super_device_id\":\"0\",\"device_ip\":\"192.0.2.10\","
    "\"backup_device_ip\":\"192.0.2.10\",\"backup_device_port\":\"5\",\"rank_id\":\"0\"}]}],"
    "\"super_pod_list\":[{\"super_pod_id\":\"p\",\"server_list\":[{\"server_id\":\"s0\"}]}]}",
    "{\"version\":\"2.0\",\"rank_count\":2,\"rank_list\":[{\"rank_id\":0,\"local_id\":0,"
    "\"device_id\":0,\"level_list\":[{\"net_layer\":0,\"net_instance_id\":\"a\",\"net_type\":"
    "\"TOPO_FILE_DESC\",\"rank_addr_list\":[{\"addr_type\":\"EID\",\"addr\":"
    "\"000000000000002000100000dfdf1234\",\"ports\":[\"0/0\",\"d2h\"],\"plane_id\":\"0\"}]}]},"
    "{\"rank_id\":1,\"local_id\":1,\"device_id\":1,\"level_list\":[{\"net_layer\":0,"
    "\"net_instance_id\":\"a\",\"net_type\":\"TOPO_FILE_DESC\",\"rank_addr_list\":[]}]}]}",
};

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    return fuzz_seed_text(texts, sizeof texts / sizeof texts[0], n, into, room);
}

static void
look_up(const char *text, size_t len)
{
    const struct json_path list = {.key = "server_list"}, server = {.up = &list, .index = 1};
    const struct json_path devices = {.up = &server, .key = "device"};
    const struct json_path device = {.up = &devices, .index = 0};
    const struct json_path key = {.up = &device, .key = "rank_id"};

    (void)json_line(text, len, &key);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *const salts[] = {"name", NULL};
    char digest[RANK_TABLE_DIGEST_LEN];
    struct rank_table *table = NULL;

    look_up((const char *)bytes, len);
    if (rank_table_parse((const char *)bytes, len, "table.json", &table) != HCCL_SUCCESS)
        return 0;
    (void)rank_table_digest(table, salts, digest);
    for (uint32_t i = 0; i < table->n_ranks; i++)
        fuzz_read(table->ranks[i].server_name, 1);
    rank_table_destroy(table);
    return 0;
}
