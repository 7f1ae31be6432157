/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport between two processes of one host; shm.h explains. */
#define _GNU_SOURCE
#include "transport/shm.h"

#include <sched.h>
#include <sodium.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "transport/foreign.h"
#include "transport/sock.h"

#define SPINS 64
#define NAP_LEAST_NS 20000l
#define NAP_MOST_NS 1000000l
#define PEER_PATIENCE_MS 10000

/* What map() gave, and must be given back. */
struct shm_map {
    struct shm_map *next;
    void *local;
};

static struct shm_conn *
shm_of(struct tp_conn *base)
{
    return (struct shm_conn *)base;
}

/* ---- open ---- */

static HcclResult
shm_open_end(struct tp_conn *base, const struct tp_open *args)
{
    struct shm_conn *conn = shm_of(base);
    struct shm_segment *segment;
    HcclResult rc;
    int fd;

    pthread_mutex_init(&conn->map_lock, NULL);
    conn->side = args->side;
    conn->on_change = args->on_change;
    conn->arg = args->arg;
    (void)crypto_generichash(conn->key, sizeof conn->key, (const uint8_t *)args->key,
                             strlen(args->key), NULL, 0);
    rc = told_make(args, &conn->told);
    if (rc == HCCL_SUCCESS)
        rc = segment_own(&segment, &fd);
    if (rc == HCCL_SUCCESS)
        rc = link_hold(&args->peer, &conn->link);
    if (rc != HCCL_SUCCESS)
        return rc;
    conn->id.slot = segment_slot_take(&conn->id.generation);
    if (conn->id.slot == UINT32_MAX)
        return HCCL_E_MEMORY;
    conn->own = &segment->slots[conn->id.slot];
    meet_open(conn);
    return HCCL_SUCCESS;
}

/* ---- poll ---- */

static void
unmap_words(struct shm_conn *conn, _Atomic uint64_t **words, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        link_unmap(conn->link, (void *)words[i]);
    hc_free(words);
}

static HcclResult
map_words(struct shm_conn *conn)
{
    uint32_t num = conn->heard.word_num;
    _Atomic uint64_t **words = hc_calloc(num, sizeof *words);

    if (words == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < num; i++) {
        const struct tp_place *place = told_place(&conn->heard, i);
        HcclResult rc = HCCL_E_PARA;
        void *word = NULL;

        if (place->file != 0 && place->offset % sizeof **words == 0)
            rc = link_map(conn->link, place, sizeof **words, &word);
        else
            LOG_ERROR(SHM, "process %d: its notify %u is not in memory that it shares",
                      (int)link_pid(conn->link), i);
        if (rc != HCCL_SUCCESS) {
            unmap_words(conn, words, i);
            return rc;
        }
        words[i] = word;
    }
    conn->peer_words = words;
    conn->peer_word_num = num;
    return HCCL_SUCCESS;
}

/* The ends have met: from now on transfers can run. Here and not where the message came in, because
 * link_map() may wait for another message. */
static HcclResult
make_ready(struct shm_conn *conn)
{
    HcclResult rc = HCCL_SUCCESS;
    int cancel = hc_cancel_off();

    pthread_mutex_lock(&conn->map_lock);
    if (atomic_load_explicit(&conn->peer, memory_order_relaxed) == NULL) {
        rc = map_words(conn);
        if (rc == HCCL_SUCCESS) {
            conn->peer_open = (conn->peer_id.generation << 8) | SLOT_OPEN; /* C4 */
            atomic_store_explicit(&conn->peer, &conn->peer_segment->slots[conn->peer_id.slot],
                                  memory_order_release); /* C3 */
        }
    }
    pthread_mutex_unlock(&conn->map_lock);
    hc_cancel_restore(cancel);
    return rc;
}

static HcclResult
shm_poll(struct tp_conn *base)
{
    struct shm_conn *conn = shm_of(base);
    struct shm_slot *peer = atomic_load_explicit(&conn->peer, memory_order_acquire);
    HcclResult rc;

    if (peer != NULL)
        return shm_stands(conn, peer) ? HCCL_SUCCESS : HCCL_E_REMOTE;
    rc = meet_poll(conn);
    return rc == HCCL_SUCCESS ? make_ready(conn) : rc;
}

static const void *
shm_peer_hello(struct tp_conn *base, uint32_t *len)
{
    struct shm_conn *conn = shm_of(base);

    *len = conn->heard.hello_len;
    return told_hello(&conn->heard);
}

static bool
shm_settled(struct tp_conn *base)
{
    struct shm_conn *conn = shm_of(base);

    if (!atomic_load(&conn->settled))
        meet_settle(conn);
    return atomic_load(&conn->peer_settled) || atomic_load(&conn->ended);
}

/* ---- the peer's memory ---- */

static HcclResult
shm_map(struct tp_conn *base, const struct tp_region *region, void **local)
{
    struct shm_conn *conn = shm_of(base);
    struct shm_map *map = hc_zalloc(sizeof *map);
    struct shm_slot *peer = atomic_load_explicit(&conn->peer, memory_order_acquire);
    HcclResult rc = HCCL_E_REMOTE;
    int cancel = hc_cancel_off();

    pthread_mutex_lock(&conn->map_lock);
    if (map == NULL)
        rc = HCCL_E_MEMORY;
    else if (peer != NULL && shm_stands(conn, peer))
        rc = region_map(conn->link, region, &map->local);
    if (rc == HCCL_SUCCESS) {
        *local = map->local;
        map->next = conn->maps;
        conn->maps = map;
        map = NULL;
    }
    pthread_mutex_unlock(&conn->map_lock);
    hc_cancel_restore(cancel);
    hc_free(map);
    return rc;
}

/* What is mapped is the link's, which is held until fini(): so an end that comes meanwhile does no
 * harm, and neither does one before shm_unreach(). */
static HcclResult
shm_reach(struct tp_conn *base, const struct tp_region *region, void **local)
{
    struct shm_conn *conn = shm_of(base);
    struct shm_slot *peer = atomic_load_explicit(&conn->peer, memory_order_acquire);
    HcclResult rc;

    if (peer == NULL || !shm_stands(conn, peer))
        return HCCL_E_REMOTE;
    rc = region_check(conn->link, region);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (region->place.file == 0)
        return HCCL_E_NOT_SUPPORT;
    return link_map(conn->link, &region->place, region->len, local);
}

static void
shm_unreach(struct tp_conn *base, const struct tp_region *region, void *local)
{
    (void)region;
    link_unmap(shm_of(base)->link, local);
}

static bool
shm_leased(struct tp_conn *base, uint64_t lease)
{
    return segment_leased(shm_of(base)->peer_segment, lease);
}

/* ---- the end ---- */

/* Shortly at first, then longer. */
static void
nap(unsigned round)
{
    struct timespec ts = {0};

    if (round < SPINS) {
        sched_yield();
        return;
    }
    round -= SPINS;
    ts.tv_nsec = round > 5 ? NAP_MOST_NS : NAP_LEAST_NS << round;
    (void)nanosleep(&ts, NULL);
}

bool
shm_peer_counts(struct shm_conn *conn, const struct shm_end_id *id, const _Atomic uint32_t *count)
{
    struct shm_slot *peer = &link_segment(conn->link)->slots[id->slot];

    if (atomic_load(count) == 0)
        return false;
    if (atomic_load(&peer->state) >> 8 != id->generation)
        return false; /* C4: its end has gone */
    return link_state(conn->link) != LINK_GONE ||
           sock_process_lives(link_pid(conn->link), 0); /* C5 */
}

/* C1 and C2: until the peer's end has left its calls, or cannot be in any. */
static void
wait_for_peer(struct shm_conn *conn, const struct shm_end_id *id)
{
    const _Atomic uint32_t *inside = &link_segment(conn->link)->slots[id->slot].inside;
    uint64_t deadline = hc_deadline_ms(PEER_PATIENCE_MS);

    for (unsigned round = 0; shm_peer_counts(conn, id, inside); round++) {
        if (hc_now_ns() >= deadline) {
            LOG_WARN(SHM,
                     "process %d has been in a transfer for %d s while its connection was closed: "
                     "it may be stopped; its bytes may still come",
                     (int)link_pid(conn->link), PEER_PATIENCE_MS / 1000);
            return;
        }
        nap(round);
    }
}

static void
shm_close(struct tp_conn *base)
{
    struct shm_conn *conn = shm_of(base);
    struct shm_end_id peer;
    int cancel;

    if (conn->own == NULL)
        return;
    cancel = hc_cancel_off();
    peer = meet_close(conn);
    for (unsigned round = 0; atomic_load(&conn->own->inside) != 0; round++)
        nap(round);
    pthread_mutex_lock(&conn->map_lock); /* map() and poll() are out too */
    pthread_mutex_unlock(&conn->map_lock);
    if (peer.slot != SHM_NO_SLOT)
        wait_for_peer(conn, &peer);
    meet_left(conn);
    hc_cancel_restore(cancel);
}

static void
shm_abort(struct tp_conn *base, const char *why)
{
    if (shm_of(base)->own != NULL)
        meet_abort(shm_of(base), why);
}

static enum tp_end
shm_ending(struct tp_conn *base, char *text, size_t len)
{
    return meet_ending(shm_of(base), text, len);
}

static void
shm_fini(struct tp_conn *base)
{
    struct shm_conn *conn = shm_of(base);
    struct shm_map *map;

    while ((map = conn->maps) != NULL) {
        conn->maps = map->next;
        region_unmap(conn->link, map->local);
        hc_free(map);
    }
    if (conn->peer_words != NULL)
        unmap_words(conn, conn->peer_words, conn->peer_word_num);
    conn->peer_words = NULL;
    if (conn->own != NULL)
        segment_slot_give(conn->id.slot);
    conn->own = NULL;
    link_release(conn->link);
    conn->link = NULL;
    told_free(&conn->heard);
    told_free(&conn->told);
    if (conn->on_change != NULL) /* open() was called */
        pthread_mutex_destroy(&conn->map_lock);
}

const struct tp_ops tp_shm_ops = {
    .name = "shm",
    .conn_size = sizeof(struct shm_conn),
    .maps = true,
    .open = shm_open_end,
    .poll = shm_poll,
    .peer_hello = shm_peer_hello,
    .settled = shm_settled,
    .map = shm_map,
    .reach = shm_reach,
    .unreach = shm_unreach,
    .leased = shm_leased,
    .close = shm_close,
    .abort = shm_abort,
    .ending = shm_ending,
    .fini = shm_fini,
    .write = shm_write,
    .read = shm_read,
    .write_reduce = shm_write_reduce,
    .read_reduce = shm_read_reduce,
    .notify = shm_notify,
    .wake = shm_wake,
    .flush = shm_flush,
};
