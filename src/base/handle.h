/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle: numbers that stand for objects, and can be checked.
 *
 * A handle is 64 bits: mark (8) | kind (8) | generation (20) | index (28). The mark makes it
 * unlike any user-space address, the kind unlike a handle of another table, the generation
 * unlike an earlier owner of the same slot. So a stale, foreign or uninitialised handle is found
 * out by hold() and never dereferenced.
 *
 * I1  An object stays alive while it is open or somebody holds it; the last of both runs fini().
 * I2  After close() no hold() of that handle succeeds; close() of a closed handle fails.
 * I3  A slot's word has one atomic: [generation:20 | open:1 | refs:31]; all changes are CAS or
 *     adds on it. hold() acquires, release() releases, so fini() sees all that holders wrote.
 * I4  Slots are never freed, so reading one by index is always safe.
 */
#ifndef HC_BASE_HANDLE_H
#define HC_BASE_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HC_HANDLE_CHUNK 256u    /* slots allocated at a time */
#define HC_HANDLE_CHUNKS 16384u /* so at most 4 Mi objects of a kind */

struct hc_slot {
    _Atomic uint64_t word; /* I3 */
    _Atomic(void *) obj;   /* set before the slot opens, read under a hold */
    uint32_t next_free;    /* under the table's lock */
};

struct hc_table {
    const char *noun;        /* "stream": for messages */
    uint8_t kind;            /* unlike any other table's: see enum hc_kind */
    void (*fini)(void *obj); /* ends the object; runs once, on the thread that let go last */
    _Atomic(struct hc_slot *) chunks[HC_HANDLE_CHUNKS];
    _Atomic uint32_t used; /* slots ever opened: indexes below it exist */
    uint32_t first_free;   /* index + 1; under `lock` */
    uint32_t live;         /* open or held; under `lock` */
    pthread_mutex_t lock;
};

enum hc_kind {
    HC_KIND_STREAM = 1,
    HC_KIND_CONTEXT,
    HC_KIND_EVENT,
    HC_KIND_NOTIFY,
    HC_KIND_BINARY,
    HC_KIND_FUNCTION,
    HC_KIND_ARGS,
    HC_KIND_PHYSICAL,
    HC_KIND_COMM,
    HC_KIND_THREAD,
    HC_KIND_CHANNEL,
    HC_KIND_ENDPOINT,
    HC_KIND_MEMORY,
    HC_KIND_CONFIG,
    HC_KIND_CHANNEL_CONFIG,
    HC_KIND_WINDOW,
    HC_KIND_GLOBAL_MEMORY,
    HC_KIND_SYM_WIN,
    HC_KIND_GRAPH,
};

#define HC_TABLE(noun_, kind_, fini_)                                                              \
    {                                                                                              \
        .noun = noun_, .kind = kind_, .fini = fini_, .lock = PTHREAD_MUTEX_INITIALIZER             \
    }

/* New handle for `obj`; 0 when there is no memory (logged). The handle itself is not a hold. */
uint64_t hc_handle_open(struct hc_table *table, void *obj);

/* The two halves of open, for an object that must know its handle before anybody can find it. A
 * reserved handle that is not published is given back with hc_handle_unreserve. */
uint64_t hc_handle_reserve(struct hc_table *table);
void hc_handle_publish(struct hc_table *table, uint64_t handle, void *obj);
void hc_handle_unreserve(struct hc_table *table, uint64_t handle);

/* The object, held; NULL when `handle` is no open handle of this table. Not logged. */
void *hc_handle_hold(struct hc_table *table, uint64_t handle);

/* The open object at `index` (handle's low bits), held, whatever its generation; or NULL. */
void *hc_handle_hold_index(struct hc_table *table, uint32_t index);

/* One more hold for somebody who has one. */
void hc_handle_hold_more(struct hc_table *table, uint64_t handle);

/* Gives a hold back; may run fini(). */
void hc_handle_release(struct hc_table *table, uint64_t handle);

/* Closes: false when it was not open (then nothing changed). May run fini(). */
bool hc_handle_close(struct hc_table *table, uint64_t handle);

/* Objects that are open or held. */
uint32_t hc_handle_live(struct hc_table *table);

static inline uint32_t
hc_handle_index(uint64_t handle)
{
    return (uint32_t)(handle & 0xFFFFFFFu);
}

/* What `handle` looks like, for messages: "a destroyed stream", "a channel", "no handle at all". */
const char *hc_handle_guess(struct hc_table *table, uint64_t handle);

#endif
