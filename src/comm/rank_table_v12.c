/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_table_v12: what version 1.2 adds to 1.0: super pods, and backup addresses. */
#include "base/alloc.h"
#include "comm/rank_table_v1.h"

/* The backup port of a NIC is not its main port. */
static HcclResult
check_backup(const struct v1 *v1, uint32_t at)
{
    struct v1_frame frame;
    struct table_node node = v1_device_node(v1, &frame, v1->listed[at].outer, v1->listed[at].inner);
    const json_t *owner;
    const char *given;
    char ip[TABLE_IP_LEN];
    uint32_t port = 0;
    HcclResult rc = table_text(&node, "backup_device_ip", TABLE_OPTIONAL, 0, SIZE_MAX, &given);

    if (rc == HCCL_SUCCESS)
        rc = table_number(&node, "backup_device_port", TABLE_OPTIONAL, 1, V1_PORT_MOST, &port);
    if (rc != HCCL_SUCCESS || given == NULL || given[0] == '\0')
        return rc;
    rc = table_ip(&node, "backup_device_ip", given, true, true, ip);
    owner = rc == HCCL_SUCCESS ? json_object_get(v1->addresses, ip) : NULL;
    if (owner == NULL || port == 0 || v1->listed[json_integer_value(owner)].port != port)
        return rc;
    return table_fail(&node, "backup_device_port", TABLE_WRONG,
                      "\"%u\" is also the device_port of that address, in line %u: choose another",
                      port, v1_listed_line(v1, json_integer_value(owner), "device_port"));
}

static HcclResult
take_pod_server(struct v1 *v1, uint32_t pod, const struct table_node *node)
{
    const json_t *number;
    const char *name;
    HcclResult rc = table_need_object(node);
    uint32_t server;

    if (rc == HCCL_SUCCESS)
        rc = table_text(node, "server_id", TABLE_REQUIRED, 1, V1_NAME_MOST, &name);
    if (rc != HCCL_SUCCESS)
        return rc;
    number = json_object_get(v1->names, name);
    if (number == NULL)
        return table_fail(node, "server_id", TABLE_WRONG, "\"%s\" is not in server_list", name);
    server = (uint32_t)json_integer_value(number);
    if (v1->pods[server] != V1_NONE)
        return table_fail(node, "server_id", TABLE_WRONG,
                          "\"%s\" is listed in two super pods, or twice in one", name);
    v1->pods[server] = pod;
    return HCCL_SUCCESS;
}

static HcclResult
take_pod(struct v1 *v1, json_t *ids, uint32_t pod, const struct table_node *node)
{
    const struct json_path list = {.up = node->path, .key = "server_list"};
    const json_t *servers = NULL;
    const char *id;
    int64_t before = -1;
    HcclResult rc = table_need_object(node);

    if (rc == HCCL_SUCCESS)
        rc = table_text(node, "super_pod_id", TABLE_REQUIRED, 1, V1_NAME_MOST * 2, &id);
    if (rc == HCCL_SUCCESS)
        rc = table_once(ids, id, pod, &before);
    if (rc == HCCL_SUCCESS && before >= 0)
        rc = table_fail(node, "super_pod_id", TABLE_WRONG,
                        "\"%s\" is used twice: give each super pod its own", id);
    if (rc == HCCL_SUCCESS)
        rc = table_array(node, "server_list", 1, RANK_TABLE_RANKS_MOST, &servers);
    for (size_t i = 0; i < json_array_size(servers) && rc == HCCL_SUCCESS; i++) {
        const struct json_path item = {.up = &list, .index = i};
        const struct table_node server = {
            .table = v1->table, .json = json_array_get(servers, i), .path = &item};

        rc = take_pod_server(v1, pod, &server);
    }
    return rc;
}

/* Every server is in a super pod, and those of one follow each other. */
static HcclResult
check_pods(const struct v1 *v1, uint32_t pod_num)
{
    uint32_t *last = hc_calloc(pod_num, sizeof *last); /* 1 + the last server of each */
    HcclResult rc = HCCL_SUCCESS;

    if (last == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < v1->server_num && rc == HCCL_SUCCESS; i++) {
        uint32_t pod = v1->pods[i];
        struct v1_frame frame;
        struct table_node node = v1_server_node(v1, &frame, i);

        if (pod == V1_NONE) {
            rc = table_fail(&node, "server_id", TABLE_WRONG,
                            "this server is in no super pod of "
                            "super_pod_list");
            break;
        }
        if (last[pod] != 0 && last[pod] != i)
            rc = table_fail(&node, "server_id", TABLE_WRONG,
                            "servers of one super pod must be listed together, but the server "
                            "before is of another");
        last[pod] = i + 1;
    }
    hc_free(last);
    return rc;
}

static HcclResult
take_pods(struct v1 *v1)
{
    const struct json_path list = {.key = "super_pod_list"};
    const json_t *pods = NULL;
    json_t *ids = NULL;
    HcclResult rc;

    if (!v1->super && json_object_get(v1->root.json, "super_pod_list") == NULL)
        return HCCL_SUCCESS; /* as in version 1.0 */
    rc = table_array(&v1->root, "super_pod_list", 1, v1->server_num, &pods);
    if (rc == HCCL_SUCCESS)
        rc = table_map(&ids);
    v1->pods = rc == HCCL_SUCCESS ? hc_calloc(v1->server_num, sizeof *v1->pods) : NULL;
    if (rc == HCCL_SUCCESS && v1->pods == NULL)
        rc = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < v1->server_num && rc == HCCL_SUCCESS; i++)
        v1->pods[i] = V1_NONE;
    for (size_t i = 0; i < json_array_size(pods) && rc == HCCL_SUCCESS; i++) {
        const struct json_path item = {.up = &list, .index = i};
        const struct table_node node = {
            .table = v1->table, .json = json_array_get(pods, i), .path = &item};

        rc = take_pod(v1, ids, (uint32_t)i, &node);
    }
    if (rc == HCCL_SUCCESS)
        rc = check_pods(v1, (uint32_t)json_array_size(pods));
    for (uint32_t i = 0; i < v1->table->n_ranks && rc == HCCL_SUCCESS; i++)
        v1->table->ranks[i].nets[1] = 1 + (uint64_t)v1->pods[v1->table->ranks[i].server];
    hc_free(v1->pods);
    json_decref(ids);
    return rc;
}

HcclResult
v1_check_super_pods(struct v1 *v1)
{
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 0; i < v1->table->n_ranks && rc == HCCL_SUCCESS; i++)
        rc = check_backup(v1, i);
    return rc == HCCL_SUCCESS ? take_pods(v1) : rc;
}
