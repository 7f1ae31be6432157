/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_table_v2: version 2.0. Ranks list the network layers they are in; ranks of one instance of
 * layer 0 share a server. Numbers are JSON numbers.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fnv.h"
#include "comm/rank_table_value.h"

#define DEVICE_MOST 64u
#define LAYER_MOST (COMM_NETS - 1)
#define LEVELS_MOST 8u
#define INSTANCE_LEN_MOST 1024u
#define ADDRESSES_MOST 24u
#define ADDRESS_LEN_MOST 256u
#define PORTS_MOST 16u
#define PORT_LEN_MOST 32u
#define PORT_MOST 65535u
#define EID_LEN 32u
#define KEY_LEN 64u

/* What the checks remember. */
struct v2 {
    struct rank_table *table;
    struct table_node root;
    const json_t *list; /* rank_list */
    json_t *servers;    /* instance of layer 0 -> number */
    json_t *ids;        /* rank_id -> place in the list */
    json_t *devices;    /* "server/device" and "server/device/port" -> place in the list */
    json_t *locals;     /* "server/local_id" -> device */
};

/* Line of a field of entry `at` of the list. */
static unsigned
entry_line(const struct v2 *v2, int64_t at, const char *key)
{
    const struct json_path list = {.key = "rank_list"};
    const struct json_path item = {.up = &list, .index = (size_t)at};
    const struct table_node node = {.table = v2->table, .path = &item};

    return table_line(&node, key);
}

/* ---- Addresses ---- */

/* "die/port", both numbers, or "d2h" for a NIC of the host. */
static bool
port_good(const char *text)
{
    size_t die = strspn(text, "0123456789"), port;

    if (strcmp(text, "d2h") == 0)
        return true;
    if (die == 0 || text[die] != '/')
        return false;
    port = strspn(text + die + 1, "0123456789");
    return port > 0 && text[die + 1 + port] == '\0' && strlen(text) <= PORT_LEN_MOST;
}

/* `taken`: the ports of the layer's addresses so far. */
static HcclResult
check_ports(const struct table_node *address, uint32_t number, json_t *taken)
{
    const struct json_path list = {.up = address->path, .key = "ports"};
    const json_t *ports = NULL;
    char shown[TABLE_SHOW_LEN];
    HcclResult rc = table_array(address, "ports", 0, PORTS_MOST, &ports);

    for (size_t i = 0; i < json_array_size(ports) && rc == HCCL_SUCCESS; i++) {
        const struct json_path item = {.up = &list, .index = i};
        const struct table_node node = {
            .table = address->table, .json = json_array_get(ports, i), .path = &item};
        const char *text = json_string_value(node.json);
        int64_t before = -1;

        if (text == NULL || !port_good(text)) {
            table_show(shown, node.json);
            return table_fail(&node, NULL, TABLE_WRONG,
                              "%s is no port: write \"die/port\", as \"0/3\", or \"d2h\"", shown);
        }
        if (strcmp(text, "d2h") != 0)
            rc = table_once(taken, text, number, &before);
        if (rc == HCCL_SUCCESS && before >= 0)
            rc = table_fail(&node, NULL, TABLE_WRONG,
                            "\"%s\" has an address in this layer already: a port has one", text);
    }
    return rc;
}

static HcclResult
check_eid(const struct table_node *node, const char *addr)
{
    char shown[TABLE_SHOW_LEN];

    if (strspn(addr, "0123456789abcdefABCDEF") == EID_LEN && addr[EID_LEN] == '\0')
        return HCCL_SUCCESS;
    table_show(shown, json_object_get(node->json, "addr"));
    return table_fail(node, "addr", TABLE_WRONG, "%s is no EID: write 32 hexadecimal digits",
                      shown);
}

static HcclResult
check_address(const struct table_node *node, uint32_t number, json_t *taken)
{
    const char *type = NULL, *addr = NULL, *plane;
    char ip[TABLE_IP_LEN], shown[TABLE_SHOW_LEN];
    HcclResult rc = table_need_object(node);

    if (rc == HCCL_SUCCESS)
        rc = table_text(node, "addr_type", TABLE_REQUIRED, 0, SIZE_MAX, &type);
    if (rc == HCCL_SUCCESS)
        rc = table_text(node, "addr", TABLE_REQUIRED, 1, ADDRESS_LEN_MOST, &addr);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (strcmp(type, "EID") == 0) {
        rc = check_eid(node, addr);
    } else if (strcmp(type, "IPV4") == 0 || strcmp(type, "IPV6") == 0) {
        rc = table_ip(node, "addr", addr, type[3] == '4', type[3] == '6', ip);
    } else {
        table_show(shown, json_object_get(node->json, "addr_type"));
        rc = table_fail(node, "addr_type", TABLE_WRONG,
                        "%s is not known: write \"EID\", \"IPV4\" or \"IPV6\"", shown);
    }
    if (rc == HCCL_SUCCESS)
        rc = check_ports(node, number, taken);
    if (rc == HCCL_SUCCESS)
        rc = table_text(node, "plane_id", TABLE_OPTIONAL, 0, SIZE_MAX, &plane);
    return rc;
}

static HcclResult
check_addresses(const struct table_node *level)
{
    const struct json_path list = {.up = level->path, .key = "rank_addr_list"};
    const json_t *addresses = NULL;
    json_t *taken = NULL;
    HcclResult rc = table_array(level, "rank_addr_list", 0, ADDRESSES_MOST, &addresses);

    if (rc == HCCL_SUCCESS)
        rc = table_map(&taken);
    for (size_t i = 0; i < json_array_size(addresses) && rc == HCCL_SUCCESS; i++) {
        const struct json_path item = {.up = &list, .index = i};
        const struct table_node node = {
            .table = level->table, .json = json_array_get(addresses, i), .path = &item};

        rc = check_address(&node, (uint32_t)i, taken);
    }
    json_decref(taken);
    return rc;
}

/* ---- Levels ---- */

static HcclResult
check_net_type(const struct table_node *level, uint32_t layer)
{
    char shown[TABLE_SHOW_LEN];
    const char *type;
    HcclResult rc = table_text(level, "net_type", TABLE_REQUIRED, 0, SIZE_MAX, &type);

    if (rc != HCCL_SUCCESS || strcmp(type, "TOPO_FILE_DESC") == 0 ||
        (layer > 0 && strcmp(type, "CLOS") == 0))
        return rc;
    table_show(shown, json_object_get(level->json, "net_type"));
    return table_fail(level, "net_type", TABLE_WRONG, "%s does not go in layer %u: write %s", shown,
                      layer, layer == 0 ? "\"TOPO_FILE_DESC\"" : "\"CLOS\" or \"TOPO_FILE_DESC\"");
}

/* `next`: least number that the layer may have; the first must be 0, and names the server. */
static HcclResult
check_level(const struct table_node *level, uint32_t *next, struct rank_place *place)
{
    const char *instance = NULL;
    uint32_t layer = 0;
    HcclResult rc = table_need_object(level);

    if (rc == HCCL_SUCCESS)
        rc = table_number(level, "net_layer", TABLE_REQUIRED, 0, LAYER_MOST, &layer);
    if (rc == HCCL_SUCCESS && *next == 0 && layer != 0)
        rc = table_fail(level, "net_layer", TABLE_WRONG,
                        "%u: the first level must be layer 0, which tells the server", layer);
    if (rc == HCCL_SUCCESS && layer < *next)
        rc = table_fail(level, "net_layer", TABLE_WRONG,
                        "%u does not ascend: the level before is layer %u", layer, *next - 1);
    if (rc == HCCL_SUCCESS)
        rc = table_text(level, "net_instance_id", TABLE_REQUIRED, 1, INSTANCE_LEN_MOST, &instance);
    if (rc == HCCL_SUCCESS)
        rc = check_net_type(level, layer);
    if (rc == HCCL_SUCCESS)
        rc = check_addresses(level);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (layer == 0)
        place->server_name = instance;
    place->nets[layer] = hc_fnv(HC_FNV_START, instance, strlen(instance)) | 1; /* 0 is none */
    *next = layer + 1;
    return HCCL_SUCCESS;
}

static HcclResult
check_levels(const struct table_node *rank, struct rank_place *place)
{
    const struct json_path list = {.up = rank->path, .key = "level_list"};
    const json_t *levels = NULL;
    uint32_t next = 0;
    HcclResult rc = table_array(rank, "level_list", 1, LEVELS_MOST, &levels);

    for (size_t i = 0; i < json_array_size(levels) && rc == HCCL_SUCCESS; i++) {
        const struct json_path item = {.up = &list, .index = i};
        const struct table_node node = {
            .table = rank->table, .json = json_array_get(levels, i), .path = &item};

        rc = check_level(&node, &next, place);
    }
    return rc;
}

/* ---- Ranks ---- */

static HcclResult
number_server(struct v2 *v2, struct rank_place *place)
{
    int64_t before = -1, number = (int64_t)json_object_size(v2->servers);
    HcclResult rc = table_once(v2->servers, place->server_name, number, &before);

    place->server = (uint32_t)(before >= 0 ? before : number);
    return rc;
}

/* The same device again is fine when each of its ranks has a port of its own. */
static HcclResult
check_device(struct v2 *v2, const struct table_node *node, const struct rank_place *place)
{
    int64_t before = -1, same = -1;
    uint32_t first_port;
    char key[KEY_LEN];
    HcclResult rc;

    snprintf(key, sizeof key, "%u/%u", place->server, place->device);
    rc = table_once(v2->devices, key, place->outer, &before);
    if (rc != HCCL_SUCCESS)
        return rc;
    snprintf(key, sizeof key, "%u/%u/%u", place->server, place->device, place->port);
    rc = table_once(v2->devices, key, place->outer, &same);
    if (rc != HCCL_SUCCESS || before < 0)
        return rc;
    first_port = (uint32_t)json_integer_value(
        json_object_get(json_array_get(v2->list, (size_t)before), "device_port"));
    if (same < 0 && place->port != 0 && first_port != 0)
        return HCCL_SUCCESS;
    return table_fail(node, "device_id", TABLE_WRONG,
                      "%u is listed twice for server \"%.64s\", first in line %u: give each rank "
                      "its own device, or each a device_port of its own when they share one",
                      place->device, place->server_name,
                      entry_line(v2, same < 0 ? before : same, "device_id"));
}

/* A place in the server has one device. */
static HcclResult
check_local(struct v2 *v2, const struct table_node *node, const struct rank_place *place)
{
    int64_t before = -1;
    char key[KEY_LEN];
    HcclResult rc;

    snprintf(key, sizeof key, "%u/%u", place->server, place->place);
    rc = table_once(v2->locals, key, place->device, &before);
    if (rc != HCCL_SUCCESS || before < 0 || before == place->device)
        return rc;
    return table_fail(node, "local_id", TABLE_WRONG,
                      "%u is device %lld of server \"%.64s\" already: give each device its own",
                      place->place, (long long)before, place->server_name);
}

static HcclResult
check_id(struct v2 *v2, const struct table_node *node, uint32_t rank, uint32_t at)
{
    int64_t before = -1;
    char key[KEY_LEN];
    HcclResult rc;

    if (rank >= v2->table->n_ranks)
        return table_fail(node, "rank_id", TABLE_WRONG,
                          "%u is out of range: the table lists %u ranks, so number them from 0 to "
                          "%u",
                          rank, v2->table->n_ranks, v2->table->n_ranks - 1);
    snprintf(key, sizeof key, "%u", rank);
    rc = table_once(v2->ids, key, at, &before);
    if (rc != HCCL_SUCCESS || before < 0)
        return rc;
    return table_fail(node, "rank_id", TABLE_WRONG,
                      "%u is used twice, first in line %u: give each rank its own", rank,
                      entry_line(v2, before, "rank_id"));
}

static HcclResult
take_rank(struct v2 *v2, uint32_t at)
{
    const struct json_path list = {.key = "rank_list"};
    const struct json_path item = {.up = &list, .index = at};
    const struct table_node node = {
        .table = v2->table, .json = json_array_get(v2->list, at), .path = &item};
    struct rank_place place = {.outer = at, .listed = true, .super_device = COMM_NOT_TOLD};
    uint32_t rank = 0, host_port = 0;
    HcclResult rc = table_need_object(&node);

    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "rank_id", TABLE_REQUIRED, 0, RANK_TABLE_RANKS_MOST - 1, &rank);
    if (rc == HCCL_SUCCESS)
        rc = check_id(v2, &node, rank, at);
    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "local_id", TABLE_REQUIRED, 0, DEVICE_MOST, &place.place);
    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "device_id", TABLE_REQUIRED, 0, DEVICE_MOST, &place.device);
    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "device_port", TABLE_OPTIONAL, 1, PORT_MOST, &place.port);
    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "host_port", TABLE_OPTIONAL, 1, PORT_MOST, &host_port);
    if (rc == HCCL_SUCCESS)
        rc = check_levels(&node, &place);
    if (rc == HCCL_SUCCESS)
        rc = number_server(v2, &place);
    if (rc == HCCL_SUCCESS)
        rc = check_device(v2, &node, &place);
    if (rc == HCCL_SUCCESS)
        rc = check_local(v2, &node, &place);
    if (rc == HCCL_SUCCESS)
        v2->table->ranks[rank] = place;
    return rc;
}

static HcclResult
load(struct v2 *v2)
{
    json_t **const maps[] = {&v2->servers, &v2->ids, &v2->devices, &v2->locals};
    struct rank_table *table = v2->table;
    uint32_t told = 0;
    HcclResult rc = HCCL_SUCCESS;

    for (size_t i = 0; i < sizeof maps / sizeof maps[0] && rc == HCCL_SUCCESS; i++)
        rc = table_map(maps[i]);
    if (rc == HCCL_SUCCESS)
        rc = table_number(&v2->root, "rank_count", TABLE_REQUIRED, 1, RANK_TABLE_RANKS_MOST, &told);
    if (rc == HCCL_SUCCESS)
        rc = table_array(&v2->root, "rank_list", 1, RANK_TABLE_RANKS_MOST, &v2->list);
    if (rc != HCCL_SUCCESS)
        return rc;
    table->n_ranks = (uint32_t)json_array_size(v2->list);
    if (told != table->n_ranks)
        return table_fail(&v2->root, "rank_count", TABLE_WRONG, "says %u, but rank_list lists %u",
                          told, table->n_ranks);
    table->ranks = hc_calloc(table->n_ranks, sizeof *table->ranks);
    if (table->ranks == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < table->n_ranks && rc == HCCL_SUCCESS; i++)
        rc = take_rank(v2, i);
    return rc;
}

HcclResult
rank_table_load_v2(struct rank_table *table)
{
    struct v2 v2 = {.table = table, .root = {.table = table, .json = table->root}};
    HcclResult rc = load(&v2);

    json_decref(v2.servers);
    json_decref(v2.ids);
    json_decref(v2.devices);
    json_decref(v2.locals);
    return rc;
}
