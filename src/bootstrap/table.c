/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table: everybody's blobs, as they travel. One block of bytes, entries point into it, and the
 * ranks of one process share it.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "bootstrap/session.h"

#define FIXED_LEN (4u + ID_LEN)

struct table_box {
    struct bs_table table;
    uint8_t *bytes; /* [len], hc_ */
    uint32_t len;
    _Atomic uint32_t refs;
};

static struct table_box *
box_of(const struct bs_table *table)
{
    return HC_CONTAINER((struct bs_table *)table, struct table_box, table);
}

/* Points the entries into the bytes; false: they do not add up. */
static bool
index_bytes(struct table_box *box)
{
    uint32_t at = FIXED_LEN;

    for (uint32_t i = 0; i < box->table.n_ranks; i++) {
        struct bs_entry *entry = &box->table.entries[i];

        if (box->len - at < 4)
            return false;
        entry->len = wire_get32(box->bytes + at);
        at += 4;
        if (entry->len > BS_BLOB_MAX || entry->len > box->len - at)
            return false;
        entry->blob = box->bytes + at;
        at += entry->len;
    }
    return at == box->len;
}

struct bs_table *
table_from_bytes(uint8_t *bytes, uint32_t len, uint32_t n_ranks)
{
    struct table_box *box = NULL;

    if (len < FIXED_LEN || wire_get32(bytes) != n_ranks || bytes[4 + ID_LEN - 1] != 0)
        goto fail;
    box = hc_zalloc(sizeof *box);
    if (box == NULL)
        goto fail;
    box->bytes = bytes;
    box->len = len;
    atomic_store(&box->refs, 1);
    box->table.n_ranks = n_ranks;
    memcpy(box->table.id, bytes + 4, ID_LEN);
    box->table.entries = hc_calloc(n_ranks, sizeof *box->table.entries);
    if (box->table.entries != NULL && index_bytes(box))
        return &box->table;
    bs_table_destroy(&box->table);
    return NULL;

fail:
    hc_free(bytes);
    return NULL;
}

struct bs_table *
table_from_members(const struct session_member *members, uint32_t n_ranks, const char *id)
{
    uint64_t len = FIXED_LEN;
    uint8_t *bytes;
    uint32_t at = FIXED_LEN;

    for (uint32_t i = 0; i < n_ranks; i++)
        len += 4u + members[i].len; /* at most 65536 * 4100: no overflow */
    bytes = hc_zalloc(len);
    if (bytes == NULL)
        return NULL;
    wire_put32(bytes, n_ranks);
    memcpy(bytes + 4, id, ID_LEN);
    for (uint32_t i = 0; i < n_ranks; i++) {
        wire_put32(bytes + at, members[i].len);
        if (members[i].len > 0)
            memcpy(bytes + at + 4, members[i].blob, members[i].len);
        at += 4 + members[i].len;
    }
    return table_from_bytes(bytes, (uint32_t)len, n_ranks);
}

const uint8_t *
table_bytes(const struct bs_table *table, uint32_t *len)
{
    *len = box_of(table)->len;
    return box_of(table)->bytes;
}

void
table_hold(struct bs_table *table)
{
    atomic_fetch_add_explicit(&box_of(table)->refs, 1, memory_order_relaxed);
}

void
bs_table_destroy(struct bs_table *table)
{
    struct table_box *box;

    if (table == NULL)
        return;
    box = box_of(table);
    if (atomic_fetch_sub_explicit(&box->refs, 1, memory_order_acq_rel) != 1)
        return;
    hc_free(table->entries);
    hc_free(box->bytes);
    hc_free(box);
}
