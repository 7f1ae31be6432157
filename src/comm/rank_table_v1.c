/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_table_v1: versions 1.0 (servers) and 1.2 (super pods). Servers list devices, a device has a
 * rank; every value is a string.
 *
 * Two looks: first the servers, so that the number of ranks is known, then their devices.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/rank_table_v1.h"

#define DEVICE_MOST 4095u
#define KEY_LEN 64u

struct table_node
v1_server_node(const struct v1 *v1, struct v1_frame *frame, uint32_t server)
{
    frame->server_list = (struct json_path){.key = "server_list"};
    frame->server = (struct json_path){.up = &frame->server_list, .index = server};
    return (struct table_node){
        .table = v1->table, .json = json_array_get(v1->servers, server), .path = &frame->server};
}

struct table_node
v1_device_node(const struct v1 *v1, struct v1_frame *frame, uint32_t server, uint32_t device)
{
    struct table_node node = v1_server_node(v1, frame, server);

    frame->device_list = (struct json_path){.up = &frame->server, .key = "device"};
    frame->device = (struct json_path){.up = &frame->device_list, .index = device};
    node.json = json_array_get(json_object_get(node.json, "device"), device);
    node.path = &frame->device;
    return node;
}

unsigned
v1_listed_line(const struct v1 *v1, int64_t listed, const char *key)
{
    const struct rank_place *place = &v1->listed[listed];
    struct v1_frame frame;
    struct table_node node = v1_device_node(v1, &frame, place->outer, place->inner);

    return table_line(&node, key);
}

/* ---- First look: the servers ---- */

static HcclResult
take_server(struct v1 *v1, uint32_t server, uint64_t *ranks)
{
    struct v1_frame frame;
    struct table_node node = v1_server_node(v1, &frame, server);
    const char *name, *host_ip;
    const json_t *devices;
    char ip[TABLE_IP_LEN];
    int64_t before = -1;
    HcclResult rc = table_need_object(&node);

    if (rc == HCCL_SUCCESS)
        rc = table_text(&node, "server_id", TABLE_REQUIRED, 1, V1_NAME_MOST, &name);
    if (rc == HCCL_SUCCESS)
        rc = table_once(v1->names, name, server, &before);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (before >= 0) {
        struct v1_frame first;
        struct table_node other = v1_server_node(v1, &first, (uint32_t)before);

        return table_fail(&node, "server_id", TABLE_WRONG,
                          "\"%s\" is used twice, first in line %u: give each server its own", name,
                          table_line(&other, "server_id"));
    }
    rc = table_text(&node, "host_ip", TABLE_OPTIONAL, 0, SIZE_MAX, &host_ip);
    if (rc == HCCL_SUCCESS && host_ip != NULL && host_ip[0] != '\0')
        rc = table_ip(&node, "host_ip", host_ip, true, false, ip);
    if (rc == HCCL_SUCCESS)
        rc = table_array(&node, "device", 1, RANK_TABLE_RANKS_MOST, &devices);
    if (rc == HCCL_SUCCESS)
        *ranks += json_array_size(devices);
    return rc;
}

static HcclResult
take_servers(struct v1 *v1)
{
    bool plain = strcmp(v1->table->version, "1.0") == 0;
    uint32_t told = V1_NONE;
    uint64_t ranks = 0;
    HcclResult rc = table_array(&v1->root, "server_list", 1, RANK_TABLE_RANKS_MOST, &v1->servers);

    if (rc == HCCL_SUCCESS)
        rc = table_number(&v1->root, "server_count", plain ? TABLE_REQUIRED : TABLE_OPTIONAL, 1,
                          RANK_TABLE_RANKS_MOST, &told);
    if (rc != HCCL_SUCCESS)
        return rc;
    v1->server_num = (uint32_t)json_array_size(v1->servers);
    if (told != V1_NONE && told != v1->server_num)
        return table_fail(&v1->root, "server_count", TABLE_WRONG,
                          "says %u, but server_list lists %u", told, v1->server_num);
    for (uint32_t i = 0; i < v1->server_num && rc == HCCL_SUCCESS; i++)
        rc = take_server(v1, i, &ranks);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (ranks > RANK_TABLE_RANKS_MOST)
        return table_fail(&v1->root, "server_list", TABLE_WRONG,
                          "lists %" PRIu64 " devices, at most %u go", ranks, RANK_TABLE_RANKS_MOST);
    v1->table->n_ranks = (uint32_t)ranks;
    return HCCL_SUCCESS;
}

/* ---- Second look: the devices ---- */

/* The same device again is fine when each of its ranks has a port of its own. */
static HcclResult
check_device(struct v1 *v1, const struct table_node *node, uint32_t at)
{
    const struct rank_place *place = &v1->listed[at];
    int64_t before = -1, same = -1;
    char key[KEY_LEN];
    HcclResult rc;

    snprintf(key, sizeof key, "%u/%u", place->server, place->device);
    rc = table_once(v1->devices, key, at, &before);
    if (rc != HCCL_SUCCESS)
        return rc;
    snprintf(key, sizeof key, "%u/%u/%u", place->server, place->device, place->port);
    rc = table_once(v1->devices, key, at, &same);
    if (rc != HCCL_SUCCESS || before < 0)
        return rc;
    if (same < 0 && place->port != 0 && v1->listed[before].port != 0)
        return HCCL_SUCCESS;
    return table_fail(
        node, "device_id", TABLE_WRONG,
        "\"%u\" is listed twice for this server, first in line %u: give each rank its "
        "own device, or each a device_port of its own when they share one",
        place->device, v1_listed_line(v1, same < 0 ? before : same, "device_id"));
}

static HcclResult
check_address(struct v1 *v1, const struct table_node *node, uint32_t at)
{
    const struct rank_place *place = &v1->listed[at], *other;
    const char *given;
    char ip[TABLE_IP_LEN];
    int64_t before = -1;
    HcclResult rc = table_text(node, "device_ip", TABLE_OPTIONAL, 0, SIZE_MAX, &given);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (given == NULL || given[0] == '\0') {
        if (v1->server_num == 1)
            return HCCL_SUCCESS;
        return table_fail(node, "device_ip", TABLE_MISSING,
                          "is missing: with several servers each device needs its address");
    }
    rc = table_ip(node, "device_ip", given, true, true, ip);
    if (rc == HCCL_SUCCESS)
        rc = table_once(v1->addresses, ip, at, &before);
    if (rc != HCCL_SUCCESS || before < 0)
        return rc;
    other = &v1->listed[before];
    if (other->server == place->server && other->device == place->device)
        return HCCL_SUCCESS; /* ranks that share a device */
    return table_fail(node, "device_ip", TABLE_WRONG,
                      "\"%s\" is used twice, first in line %u: each device has its own", given,
                      v1_listed_line(v1, before, "device_ip"));
}

static HcclResult
check_host_port(struct v1 *v1, const struct table_node *node, uint32_t at)
{
    uint32_t port = 0;
    int64_t before = -1;
    char key[KEY_LEN];
    HcclResult rc = table_number(node, "host_port", TABLE_OPTIONAL, 1, V1_PORT_MOST, &port);

    if (rc != HCCL_SUCCESS || port == 0)
        return rc;
    snprintf(key, sizeof key, "%u/%u", v1->listed[at].server, port);
    rc = table_once(v1->host_ports, key, at, &before);
    if (rc != HCCL_SUCCESS || before < 0)
        return rc;
    return table_fail(node, "host_port", TABLE_WRONG,
                      "\"%u\" is used twice on this server, first in line %u: give each device its "
                      "own",
                      port, v1_listed_line(v1, before, "host_port"));
}

/* Puts the device where its rank id says. */
static HcclResult
take_rank(struct v1 *v1, const struct table_node *node, uint32_t at)
{
    struct rank_table *table = v1->table;
    uint32_t rank = 0;
    HcclResult rc =
        table_number(node, "rank_id", TABLE_REQUIRED, 0, RANK_TABLE_RANKS_MOST - 1, &rank);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (rank >= table->n_ranks)
        return table_fail(node, "rank_id", TABLE_WRONG,
                          "\"%u\" is out of range: the table lists %u devices, so number them from "
                          "0 to %u",
                          rank, table->n_ranks, table->n_ranks - 1);
    if (table->ranks[rank].listed) {
        struct v1_frame frame;
        struct table_node other =
            v1_device_node(v1, &frame, table->ranks[rank].outer, table->ranks[rank].inner);

        return table_fail(node, "rank_id", TABLE_WRONG,
                          "\"%u\" is used twice, first in line %u: give each device its own", rank,
                          table_line(&other, "rank_id"));
    }
    v1->listed[at].listed = true;
    table->ranks[rank] = v1->listed[at];
    return HCCL_SUCCESS;
}

static HcclResult
take_device(struct v1 *v1, uint32_t at, uint32_t server, uint32_t device)
{
    struct rank_place *place = &v1->listed[at];
    struct v1_frame frame;
    struct table_node node = v1_device_node(v1, &frame, server, device);
    HcclResult rc = table_need_object(&node);

    *place = (struct rank_place){
        .server = server, .outer = server, .inner = device, .super_device = COMM_NOT_TOLD};
    place->server_name =
        json_string_value(json_object_get(json_array_get(v1->servers, server), "server_id"));
    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "device_id", TABLE_REQUIRED, 0, DEVICE_MOST, &place->device);
    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "device_port", TABLE_OPTIONAL, 1, V1_PORT_MOST, &place->port);
    if (rc == HCCL_SUCCESS)
        rc = check_device(v1, &node, at);
    place->place = place->device;
    if (rc == HCCL_SUCCESS)
        rc = check_address(v1, &node, at);
    if (rc == HCCL_SUCCESS)
        rc = check_host_port(v1, &node, at);
    if (rc == HCCL_SUCCESS && strcmp(v1->table->version, "1.2") == 0)
        rc = table_number(&node, "super_device_id", TABLE_OPTIONAL, 0, COMM_NOT_TOLD - 1,
                          &place->super_device);
    if (rc == HCCL_SUCCESS)
        rc = take_rank(v1, &node, at);
    v1->super = v1->super || place->super_device != COMM_NOT_TOLD;
    return rc;
}

static HcclResult
take_devices(struct v1 *v1)
{
    HcclResult rc = HCCL_SUCCESS;
    uint32_t at = 0;

    for (uint32_t i = 0; i < v1->server_num; i++) {
        const json_t *devices = json_object_get(json_array_get(v1->servers, i), "device");

        for (uint32_t j = 0; j < json_array_size(devices) && rc == HCCL_SUCCESS; j++)
            rc = take_device(v1, at++, i, j);
    }
    return rc;
}

/* The ranks of a server follow each other. */
static HcclResult
check_order(const struct v1 *v1)
{
    const struct rank_place *ranks = v1->table->ranks;
    uint32_t *last = hc_calloc(v1->server_num, sizeof *last); /* 1 + the last rank of each */
    HcclResult rc = HCCL_SUCCESS;

    if (last == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < v1->table->n_ranks && rc == HCCL_SUCCESS; i++) {
        uint32_t server = ranks[i].server;

        if (last[server] != 0 && last[server] != i) {
            struct v1_frame frame;
            struct table_node node = v1_device_node(v1, &frame, ranks[i].outer, ranks[i].inner);

            rc = table_fail(&node, "rank_id", TABLE_WRONG,
                            "\"%u\": ranks of server \"%s\" must follow each other, but rank %u "
                            "is of server \"%s\"",
                            i, ranks[i].server_name, i - 1, ranks[i - 1].server_name);
        }
        last[server] = i + 1;
    }
    hc_free(last);
    return rc;
}

static HcclResult
make_maps(struct v1 *v1)
{
    json_t **const maps[] = {&v1->names, &v1->addresses, &v1->devices, &v1->host_ports};
    HcclResult rc = HCCL_SUCCESS;

    for (size_t i = 0; i < sizeof maps / sizeof maps[0] && rc == HCCL_SUCCESS; i++)
        rc = table_map(maps[i]);
    return rc;
}

static HcclResult
load(struct v1 *v1)
{
    struct rank_table *table = v1->table;
    HcclResult rc = make_maps(v1);

    if (rc == HCCL_SUCCESS)
        rc = take_servers(v1);
    if (rc != HCCL_SUCCESS)
        return rc;
    table->ranks = hc_calloc(table->n_ranks, sizeof *table->ranks);
    v1->listed = hc_calloc(table->n_ranks, sizeof *v1->listed);
    if (table->ranks == NULL || v1->listed == NULL)
        return HCCL_E_MEMORY;
    rc = take_devices(v1);
    if (rc == HCCL_SUCCESS)
        rc = check_order(v1);
    if (rc == HCCL_SUCCESS && strcmp(table->version, "1.2") == 0)
        rc = v1_check_super_pods(v1);
    return rc;
}

HcclResult
rank_table_load_v1(struct rank_table *table)
{
    struct v1 v1 = {.table = table, .root = {.table = table, .json = table->root}};
    HcclResult rc = load(&v1);

    hc_free(v1.listed);
    json_decref(v1.names);
    json_decref(v1.addresses);
    json_decref(v1.devices);
    json_decref(v1.host_ports);
    return rc;
}
