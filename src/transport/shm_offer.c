/* SPDX-License-Identifier: BSD-3-Clause */
/* Offers that wait for their peer. What a link can keep here is bounded. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "transport/shm_meet.h"

#define OFFERS_MOST 65536u
#define BYTES_MOST (128ull << 20)

/* How much a link keeps here; exists as long as it keeps something. */
struct keeper {
    struct keeper *next;
    struct shm_link *link;
    uint32_t offers;
    uint64_t bytes;
    bool warned;
};

/* In the order they came; a head that was never used is zeroed. */
static struct hc_list buckets[KEY_BUCKETS];
static struct keeper *keepers;

static struct hc_list *
bucket_of(const uint8_t *key)
{
    struct hc_list *bucket = &buckets[key_bucket(key)];

    if (bucket->next == NULL)
        hc_list_init(bucket);
    return bucket;
}

static struct keeper **
keeper_at(const struct shm_link *link)
{
    struct keeper **at = &keepers;

    while (*at != NULL && (*at)->link != link)
        at = &(*at)->next;
    return at;
}

/* Made if it is not there; NULL: no memory (logged). */
static struct keeper *
keeper_of(struct shm_link *link)
{
    struct keeper **at = keeper_at(link);

    if (*at == NULL && (*at = hc_zalloc(sizeof **at)) != NULL)
        (*at)->link = link;
    return *at;
}

static void
keeper_less(const struct shm_link *link, uint64_t bytes)
{
    struct keeper **at = keeper_at(link), *keeper = *at;

    keeper->bytes -= bytes;
    if (--keeper->offers > 0)
        return;
    *at = keeper->next;
    hc_free(keeper);
}

/* One more of `bytes` fits; the first always does. */
static bool
keeper_has_room(struct keeper *keeper, uint64_t bytes)
{
    if (keeper->offers == 0 ||
        (keeper->offers < OFFERS_MOST && keeper->bytes + bytes <= BYTES_MOST))
        return true;
    if (!keeper->warned)
        LOG_WARN(SHM, "process %d offers too many connections at once (%u, %llu MiB): refused",
                 (int)link_pid(keeper->link), keeper->offers,
                 (unsigned long long)(keeper->bytes >> 20));
    keeper->warned = true;
    return false;
}

bool
offer_keep(struct shm_link *link, const uint8_t *key, const struct shm_end_id *id,
           struct shm_told *told)
{
    struct offer *offer = hc_zalloc(sizeof *offer);
    struct keeper *keeper = offer == NULL ? NULL : keeper_of(link);

    if (keeper == NULL || !keeper_has_room(keeper, told_len(told))) {
        hc_free(offer);
        return false;
    }
    keeper->offers++;
    keeper->bytes += told_len(told);
    offer->link = link;
    memcpy(offer->key, key, SHM_KEY_LEN);
    offer->id = *id;
    offer->told = *told;
    told->bytes = NULL;
    hc_list_push_back(bucket_of(key), &offer->in_bucket);
    return true;
}

void
offer_drop(struct offer *offer)
{
    keeper_less(offer->link, told_len(&offer->told));
    hc_list_remove(&offer->in_bucket);
    told_free(&offer->told);
    hc_free(offer);
}

/* Its end has not closed. */
static bool
stands(const struct offer *offer)
{
    uint32_t state = atomic_load(&link_segment(offer->link)->slots[offer->id.slot].state);

    return state == id_state(&offer->id, SLOT_OPEN) || state == id_state(&offer->id, SLOT_ABORTED);
}

struct offer *
offer_first(const struct shm_link *link, const uint8_t *key)
{
    HC_LIST_EACH_SAFE (node, bucket_of(key)) {
        struct offer *offer = HC_CONTAINER(node, struct offer, in_bucket);

        if (offer->link != link || !key_same(offer->key, key))
            continue;
        if (stands(offer))
            return offer;
        offer_drop(offer);
    }
    return NULL;
}

void
offer_withdraw(const struct shm_link *link, const uint8_t *key, const struct shm_end_id *id)
{
    HC_LIST_EACH (node, bucket_of(key)) {
        struct offer *offer = HC_CONTAINER(node, struct offer, in_bucket);

        if (offer->link == link && id_same(&offer->id, id)) {
            offer_drop(offer);
            return;
        }
    }
}

void
offers_drop_all(const struct shm_link *link)
{
    for (uint32_t i = 0; i < KEY_BUCKETS && *keeper_at(link) != NULL; i++) {
        if (buckets[i].next == NULL)
            continue;
        HC_LIST_EACH_SAFE (node, &buckets[i]) {
            struct offer *offer = HC_CONTAINER(node, struct offer, in_bucket);

            if (offer->link == link)
                offer_drop(offer);
        }
    }
}
