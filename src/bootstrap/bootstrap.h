/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bootstrap: how the ranks of a communicator find each other.
 *
 * The root listens on a TCP port and puts address, port and a random 128-bit secret into the root
 * info. Every rank (the root's own too) joins with a blob of facts; when all `n_ranks` are there,
 * each gets everybody's blob. A joiner proves with a keyed BLAKE2b challenge that it knows the
 * secret; anyone else is dropped, logged once, counted, and cannot delay the others.
 */
#ifndef HC_BOOTSTRAP_BOOTSTRAP_H
#define HC_BOOTSTRAP_BOOTSTRAP_H

#include <stdint.h>

#include "bootstrap/job.h"
#include "hccl/hccl_types.h"

#define BS_BLOB_MAX 4096u

/* Starts listening for one communicator; fills the opaque info. Ends by itself when the
 * communicator is complete, failed, or was not joined in time. */
HcclResult bs_root_create(HcclRootInfo *info);

struct bs_table {
    uint32_t n_ranks;
    char id[64]; /* unique name of the communicator, printable; equal on all ranks */
    struct bs_entry {
        uint8_t *blob; /* [len], owned by the table */
        uint32_t len;
    } * entries; /* [n_ranks] */
};

struct bs_join {
    const HcclRootInfo *info;
    uint32_t n_ranks;
    uint32_t rank;
    const void *blob; /* in, [blob_len], at most BS_BLOB_MAX bytes */
    uint32_t blob_len;
    int64_t timeout_ms; /* < 0: HCCL_CONNECT_TIMEOUT + 20 s */
};

/*
 * Blocks until all ranks have joined. HCCL_E_PARA: not a root info, rank out of range, ranks
 * disagree (the message says who and what); HCCL_E_TIMEOUT: names the ranks that are missing and
 * how long they were waited for; HCCL_E_TCP_CONNECT, HCCL_E_REMOTE. All logged.
 */
HcclResult bs_join(const struct bs_join *join, struct bs_table **table);

/* NULL is fine. Ranks of one process share a table: it goes with the last destroy. */
void bs_table_destroy(struct bs_table *table);

/* How long ranks wait for each other. HCCL_E_PARA (logged): the environment says nonsense. */
HcclResult bs_connect_timeout(int64_t *timeout_ms);

#endif
