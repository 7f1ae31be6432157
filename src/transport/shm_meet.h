/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_meet: what the files of meeting and parting share. The lock of shm_meet.c protects all. */
#ifndef HC_TRANSPORT_SHM_MEET_H
#define HC_TRANSPORT_SHM_MEET_H

#include <string.h>

#include "transport/shm.h"

#define KEY_BUCKETS 4096u

static inline uint32_t
key_bucket(const uint8_t *key)
{
    uint32_t hash;

    memcpy(&hash, key, sizeof hash);
    return hash % KEY_BUCKETS;
}

static inline bool
key_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, SHM_KEY_LEN) == 0;
}

static inline bool
id_same(const struct shm_end_id *a, const struct shm_end_id *b)
{
    return a->slot == b->slot && a->generation == b->generation;
}

/* What the slot of an end says while it is in `state`. */
static inline uint32_t
id_state(const struct shm_end_id *id, enum slot_state state)
{
    return (id->generation << 8) | (uint32_t)state;
}

/* ---- shm_offer.c: ends of side 1 in other processes that wait here for one of their key ---- */

struct offer {
    struct hc_list in_bucket;
    struct shm_link *link; /* not held: dropped with it */
    uint8_t key[SHM_KEY_LEN];
    struct shm_end_id id;
    struct shm_told told;
};

/* Takes told->bytes. false (logged): no memory, or the link keeps too much already. */
bool offer_keep(struct shm_link *link, const uint8_t *key, const struct shm_end_id *id,
                struct shm_told *told);

/* The oldest of `link` and `key` whose end has not closed; NULL: none. */
struct offer *offer_first(const struct shm_link *link, const uint8_t *key);

void offer_drop(struct offer *offer);

/* That of the end `id`, if there is one. */
void offer_withdraw(const struct shm_link *link, const uint8_t *key, const struct shm_end_id *id);

void offers_drop_all(const struct shm_link *link);

/* ---- shm_end.c ---- */

/* The end, unless there was one before. */
void end_set(struct shm_conn *conn, enum tp_end end);

/* As the peer's slot or the end of the link say. */
void end_look(struct shm_conn *conn);

/* A text of the peer, [len] or up to a 0, made fit to print. `to` is [SEGMENT_WHY]. */
void end_text(char *to, const char *from, size_t len);

/* There never was a link: HCCL_E_TCP_CONNECT (a refusal is logged, once); or HCCL_E_REMOTE. */
HcclResult end_no_link(struct shm_conn *conn);

#endif
