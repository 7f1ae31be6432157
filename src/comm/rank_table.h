/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_table: the ranks of a communicator as a JSON file tells them, versions 1.0, 1.2 and 2.0
 * (inside this layer only). docs/rank-tables.md has the formats.
 *
 * A table is checked as a whole before anything is made of it, the same on every rank. Whoever
 * finds a fault names file, line and field; all of them are HCCL_E_INTERNAL, as the original has
 * it.
 */
#ifndef HC_COMM_RANK_TABLE_H
#define HC_COMM_RANK_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/comm.h"

#define RANK_TABLE_RANKS_MOST 65536u
#define RANK_TABLE_LEN_MOST (1ull << 30)
#define RANK_TABLE_PATH_MOST 4096u /* with its NUL */

/* One rank, and where the file lists it. */
struct rank_place {
    uint32_t server;          /* number, in the order of the file */
    uint32_t device;          /* physical id on the server */
    uint32_t place;           /* in the server: local_id, or as `device` */
    uint32_t super_device;    /* id in the super pod; COMM_NOT_TOLD */
    uint64_t nets[COMM_NETS]; /* instance of each network layer, as in struct comm_fact */
    const char *server_name;
    uint32_t outer, inner; /* server_list[outer].device[inner], or rank_list[outer] */
    uint32_t port;         /* of the device; 0: not told */
    bool listed;
};

/* Set once. */
struct rank_table {
    char *name; /* for messages */
    char *text; /* [len], and a NUL */
    size_t len;
    json_t *root;
    const char *version; /* in `root`, as all names are */
    uint32_t n_ranks;
    struct rank_place *ranks; /* [n_ranks], by rank id */
};

/* HCCL_E_PARA (logged): the path is empty or too long. HCCL_E_INTERNAL (logged): the file cannot be
 * read, or is no good table. HCCL_E_MEMORY. */
HcclResult rank_table_read(const char *path, struct rank_table **table);

/* From a text that is called `name` in messages. */
HcclResult rank_table_parse(const char *text, size_t len, const char *name,
                            struct rank_table **table);

void rank_table_destroy(struct rank_table *table); /* NULL is fine */

/* `text` [RANK_TABLE_DIGEST_LEN]: equal for tables of equal content, however spaced, and
 * equal `salts` (a list that ends with NULL). HCCL_E_MEMORY (logged). */
#define RANK_TABLE_DIGEST_LEN 33u
HcclResult rank_table_digest(const struct rank_table *table, const char *const salts[], char *text);

/* HCCL_E_INTERNAL, after a message that names where the table tells the device of `rank`. */
HcclResult rank_table_fail_device(const struct rank_table *table, uint32_t rank, const char *fmt,
                                  ...) __attribute__((format(printf, 3, 4)));

/* ---- rank_table_v1.c, rank_table_v2.c: fill in n_ranks and ranks ---- */

HcclResult rank_table_load_v1(struct rank_table *table);
HcclResult rank_table_load_v2(struct rank_table *table);

#endif
