/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_table_v1: what rank_table_v1.c and rank_table_v12.c share.
 */
#ifndef HC_COMM_RANK_TABLE_V1_H
#define HC_COMM_RANK_TABLE_V1_H

#include "comm/rank_table_value.h"

#define V1_PORT_MOST 65535u
#define V1_NAME_MOST 64u
#define V1_NONE UINT32_MAX

/* What the checks remember. `listed` numbers devices in the order of the file. */
struct v1 {
    struct rank_table *table;
    struct table_node root;
    const json_t *servers; /* server_list */
    uint32_t server_num;
    struct rank_place *listed; /* [table->n_ranks] */
    json_t *names;             /* server_id -> number */
    json_t *addresses;         /* device_ip -> listed */
    json_t *devices;           /* "server/device" and "server/device/port" -> listed */
    json_t *host_ports;        /* "server/port" -> listed */
    uint32_t *pods;            /* [server_num]: super pod of each, or V1_NONE */
    bool super;                /* some device has a super_device_id */
};

/* A device of the list, as a node; the paths it points to live in `frame`. */
struct v1_frame {
    struct json_path server_list, server, device_list, device;
};

struct table_node v1_server_node(const struct v1 *v1, struct v1_frame *frame, uint32_t server);
struct table_node v1_device_node(const struct v1 *v1, struct v1_frame *frame, uint32_t server,
                                 uint32_t device);

/* Line of a field of the device that was listed as number `listed`. */
unsigned v1_listed_line(const struct v1 *v1, int64_t listed, const char *key);

/* What version 1.2 adds, after all the rest. */
HcclResult v1_check_super_pods(struct v1 *v1);

#endif
