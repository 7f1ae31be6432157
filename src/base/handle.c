/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/handle.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/log.h"

#define MARK 0x48ull
#define GEN_BITS 20
#define GEN_MASK ((1ull << GEN_BITS) - 1)
#define REFS_MASK 0x7FFFFFFFull
#define OPEN_BIT (1ull << 31)
#define WORD(gen, low) (((uint64_t)(gen) << 32) | (low))
#define WORD_GEN(word) (((word) >> 32) & GEN_MASK)

static uint64_t
make_handle(const struct hc_table *table, uint64_t gen, uint32_t index)
{
    return (MARK << 56) | ((uint64_t)table->kind << 48) | (gen << 28) | index;
}

static struct hc_slot *
slot_at(struct hc_table *table, uint32_t index)
{
    struct hc_slot *chunk;

    if (index >= atomic_load_explicit(&table->used, memory_order_acquire))
        return NULL;
    chunk = atomic_load_explicit(&table->chunks[index / HC_HANDLE_CHUNK], memory_order_acquire);
    return &chunk[index % HC_HANDLE_CHUNK];
}

/* A slot that nobody uses, under the lock; NULL when there is no memory. */
static struct hc_slot *
slot_take(struct hc_table *table, uint32_t *index)
{
    uint32_t used = atomic_load_explicit(&table->used, memory_order_relaxed);
    struct hc_slot *slot;

    if (table->first_free != 0) {
        *index = table->first_free - 1;
        slot = slot_at(table, *index);
        table->first_free = slot->next_free;
        return slot;
    }
    if (used == HC_HANDLE_CHUNK * HC_HANDLE_CHUNKS) {
        LOG_ERROR(BASE, "too many objects: %u %ss are open", used, table->noun);
        return NULL;
    }
    if (used % HC_HANDLE_CHUNK == 0 &&
        atomic_load(&table->chunks[used / HC_HANDLE_CHUNK]) == NULL) {
        struct hc_slot *chunk = hc_calloc(HC_HANDLE_CHUNK, sizeof *chunk);

        if (chunk == NULL)
            return NULL;
        hc_keep(chunk); /* I4 */
        atomic_store_explicit(&table->chunks[used / HC_HANDLE_CHUNK], chunk, memory_order_release);
    }
    atomic_store_explicit(&table->used, used + 1, memory_order_release);
    *index = used;
    return slot_at(table, used);
}

/* Adds a hold if the slot is open and, unless `any`, of generation `gen`. */
static void *
slot_hold(struct hc_slot *slot, uint64_t gen, bool any)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

    do {
        if ((word & OPEN_BIT) == 0 || (!any && WORD_GEN(word) != gen))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&slot->word, &word, word + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return atomic_load_explicit(&slot->obj, memory_order_relaxed);
}

static struct hc_slot *
slot_of(struct hc_table *table, uint64_t handle)
{
    if ((handle >> 48) != ((MARK << 8) | table->kind))
        return NULL;
    return slot_at(table, hc_handle_index(handle));
}

uint64_t
hc_handle_reserve(struct hc_table *table)
{
    struct hc_slot *slot;
    uint32_t index = 0;

    pthread_mutex_lock(&table->lock);
    slot = slot_take(table, &index);
    if (slot != NULL)
        table->live++;
    pthread_mutex_unlock(&table->lock);
    if (slot == NULL)
        return 0;
    return make_handle(table, (WORD_GEN(atomic_load(&slot->word)) + 1) & GEN_MASK, index);
}

void
hc_handle_publish(struct hc_table *table, uint64_t handle, void *obj)
{
    struct hc_slot *slot = slot_of(table, handle);

    atomic_store_explicit(&slot->obj, obj, memory_order_relaxed);
    atomic_store_explicit(&slot->word, WORD((handle >> 28) & GEN_MASK, OPEN_BIT),
                          memory_order_release);
}

/* Back among the free slots. */
static void
slot_free(struct hc_table *table, struct hc_slot *slot, uint32_t index)
{
    pthread_mutex_lock(&table->lock);
    slot->next_free = table->first_free;
    table->first_free = index + 1;
    table->live--;
    pthread_mutex_unlock(&table->lock);
}

void
hc_handle_unreserve(struct hc_table *table, uint64_t handle)
{
    slot_free(table, slot_of(table, handle), hc_handle_index(handle));
}

uint64_t
hc_handle_open(struct hc_table *table, void *obj)
{
    uint64_t handle = hc_handle_reserve(table);

    if (handle != 0)
        hc_handle_publish(table, handle, obj);
    return handle;
}

void *
hc_handle_hold(struct hc_table *table, uint64_t handle)
{
    struct hc_slot *slot = slot_of(table, handle);

    return slot == NULL ? NULL : slot_hold(slot, (handle >> 28) & GEN_MASK, false);
}

void *
hc_handle_hold_index(struct hc_table *table, uint32_t index)
{
    struct hc_slot *slot = slot_at(table, index);

    return slot == NULL ? NULL : slot_hold(slot, 0, true);
}

void
hc_handle_hold_more(struct hc_table *table, uint64_t handle)
{
    atomic_fetch_add_explicit(&slot_of(table, handle)->word, 1, memory_order_relaxed);
}

/* The slot is neither open nor held: end its object, then let the slot be taken again. */
static void
slot_end(struct hc_table *table, struct hc_slot *slot, uint32_t index)
{
    table->fini(atomic_load_explicit(&slot->obj, memory_order_relaxed));
    slot_free(table, slot, index);
}

void
hc_handle_release(struct hc_table *table, uint64_t handle)
{
    struct hc_slot *slot = slot_of(table, handle);
    uint64_t before = atomic_fetch_sub_explicit(&slot->word, 1, memory_order_acq_rel);

    if ((before & (OPEN_BIT | REFS_MASK)) == 1)
        slot_end(table, slot, hc_handle_index(handle));
}

bool
hc_handle_close(struct hc_table *table, uint64_t handle)
{
    struct hc_slot *slot = slot_of(table, handle);
    uint64_t word;

    if (slot == NULL)
        return false;
    word = atomic_load(&slot->word);
    do {
        if ((word & OPEN_BIT) == 0 || WORD_GEN(word) != ((handle >> 28) & GEN_MASK))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&slot->word, &word, word & ~OPEN_BIT,
                                                    memory_order_acq_rel, memory_order_relaxed));
    if ((word & REFS_MASK) == 0)
        slot_end(table, slot, hc_handle_index(handle));
    return true;
}

uint32_t
hc_handle_live(struct hc_table *table)
{
    uint32_t live;

    pthread_mutex_lock(&table->lock);
    live = table->live;
    pthread_mutex_unlock(&table->lock);
    return live;
}

const char *
hc_handle_guess(struct hc_table *table, uint64_t handle)
{
    if (handle == 0)
        return "NULL";
    if ((handle >> 56) != MARK)
        return "no handle at all (uninitialised?)";
    if (slot_of(table, handle) == NULL)
        return "a handle of another kind";
    return "already destroyed";
}
