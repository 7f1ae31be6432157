/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_table_value: takes checked values out of a rank table; each fault is told with file, line
 * and field (inside rank_table*.c only).
 */
#ifndef HC_COMM_RANK_TABLE_VALUE_H
#define HC_COMM_RANK_TABLE_VALUE_H

#include <stdbool.h>

#include "comm/json_line.h"
#include "comm/rank_table.h"

/* A value of the table and the way to it. */
struct table_node {
    const struct rank_table *table;
    const json_t *json;
    const struct json_path *path; /* NULL: the root */
};

/* Report codes of the interface. */
#define TABLE_UNREADABLE "EI0004"
#define TABLE_WRONG "EI0014"
#define TABLE_MISSING "EI0017"

/* "EI0014: FILE:LINE: FIELD: ..." about the member `key` of `node`, or about `node` itself when
 * `key` is NULL. HCCL_E_INTERNAL. */
HcclResult table_fail(const struct table_node *node, const char *key, const char *code,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The value of a member as people know it, in quotes if it is text: for messages. */
#define TABLE_SHOW_LEN 80u
void table_show(char text[TABLE_SHOW_LEN], const json_t *json);

/* For messages. */
unsigned table_line(const struct table_node *node, const char *key);

/* HCCL_E_INTERNAL (logged): `node` is no object. */
HcclResult table_need_object(const struct table_node *node);

enum table_need { TABLE_OPTIONAL, TABLE_REQUIRED };

/* A string of `least` to `most` characters; *text NULL: not there. */
HcclResult table_text(const struct table_node *node, const char *key, enum table_need need,
                      size_t least, size_t most, const char **text);

/* A number from `least` to `most`: digits in a string in version 1, a JSON number in version 2.
 * *value stays when it is not there. */
HcclResult table_number(const struct table_node *node, const char *key, enum table_need need,
                        uint64_t least, uint64_t most, uint32_t *value);

/* An array of `least` to `most` elements. */
HcclResult table_array(const struct table_node *node, const char *key, size_t least, size_t most,
                       const json_t **array);

/* An address, IPv4 if `four`, IPv6 if `six`; `text` [TABLE_IP_LEN] is the one way to write it. */
#define TABLE_IP_LEN 46u
HcclResult table_ip(const struct table_node *node, const char *key, const char *given, bool four,
                    bool six, char text[TABLE_IP_LEN]);

/* Remembers `value` under `key` in `map`, a JSON object; *before: what was there, or -1 and now it
 * is. HCCL_E_MEMORY (logged). */
HcclResult table_once(json_t *map, const char *key, int64_t value, int64_t *before);

/* The map `map` is there. HCCL_E_MEMORY (logged). */
HcclResult table_map(json_t **map);

#endif
