/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Few communicators, few lockers: one list and one mutex for all, a condition variable for each.
 *
 * I1  All fields are under `registry.lock`. A condition variable is waited on with it.
 * I2  An entry is freed by whoever brings `added` and `waiters` both to zero, after taking it out
 * of the list; a waiter that finds `added` zero gives up.
 */
#define _GNU_SOURCE
#include "primitive/comm_lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/knobs.h"
#include "base/list.h"
#include "base/log.h"
#include "base/thread.h"
#include "runtime/runtime.h"

struct entry {
    struct hc_list in_registry;
    int32_t device;
    char *name;
    uint32_t added; /* times added and not removed */
    uint32_t waiters;
    int owner;            /* thread id of the holder; 0: free */
    uint64_t owned_since; /* ns */
    pthread_cond_t freed; /* CLOCK_MONOTONIC */
};

static struct {
    pthread_mutex_t lock; /* no other is taken under it */
    struct hc_list entries;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .entries = {&registry.entries, &registry.entries}};

static int
own_id(void)
{
    static _Thread_local int id;

    if (id == 0)
        id = (int)syscall(SYS_gettid);
    return id;
}

/* Under the lock. */
static struct entry *
find(int32_t device, const char *name)
{
    HC_LIST_EACH (node, &registry.entries) {
        struct entry *entry = HC_CONTAINER(node, struct entry, in_registry);

        if (entry->device == device && strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

static void
entry_destroy(struct entry *entry)
{
    if (entry == NULL)
        return;
    pthread_cond_destroy(&entry->freed);
    hc_free(entry->name);
    hc_free(entry);
}

static struct entry *
entry_create(int32_t device, const char *name)
{
    struct entry *entry = hc_zalloc(sizeof *entry);
    pthread_condattr_t attr;

    if (entry == NULL)
        return NULL;
    entry->device = device;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&entry->freed, &attr);
    pthread_condattr_destroy(&attr);
    entry->name = hc_strdup(name);
    if (entry->name != NULL)
        return entry;
    entry_destroy(entry);
    return NULL;
}

/* Locks this thread took and did not give back itself; only the thread's own. Another thread may
 * have given one back for it: then this is too high, and release_left looks for nothing. */
static _Thread_local uint32_t taken;

/* The kernel that ran on this thread has returned: no lock may be left. Costs nothing if it took
 * none or gave them back. */
static bool
release_left(char *text, size_t len)
{
    bool left = false;

    if (taken == 0)
        return false;
    taken = 0;
    pthread_mutex_lock(&registry.lock);
    HC_LIST_EACH (node, &registry.entries) {
        struct entry *entry = HC_CONTAINER(node, struct entry, in_registry);

        if (entry->owner != own_id())
            continue;
        left = true;
        snprintf(text, len, "without HcommReleaseComm(\"%.100s\"): release it on every way out",
                 entry->name);
        entry->owner = 0;
        pthread_cond_signal(&entry->freed);
    }
    pthread_mutex_unlock(&registry.lock);
    return left;
}

HcclResult
prim_comm_add(int32_t device, const char *name)
{
    struct entry *fresh = entry_create(device, name), *there;

    if (fresh == NULL)
        return HCCL_E_MEMORY;
    rt_set_kernel_end_hook(release_left);
    pthread_mutex_lock(&registry.lock);
    there = find(device, name);
    if (there == NULL) {
        there = fresh;
        fresh = NULL;
        hc_list_push_back(&registry.entries, &there->in_registry);
    }
    there->added++;
    pthread_mutex_unlock(&registry.lock);
    entry_destroy(fresh);
    return HCCL_SUCCESS;
}

void
prim_comm_remove(int32_t device, const char *name)
{
    struct entry *entry, *last = NULL;

    pthread_mutex_lock(&registry.lock);
    entry = find(device, name);
    if (entry != NULL && --entry->added == 0) {
        hc_list_remove(&entry->in_registry);
        pthread_cond_broadcast(&entry->freed);
        last = entry->waiters == 0 ? entry : NULL; /* I2 */
    }
    pthread_mutex_unlock(&registry.lock);
    entry_destroy(last);
}

static HcclResult
unknown(int32_t device, const char *name)
{
    LOG_ERROR(PRIM,
              "HcommAcquireComm: device %d has no communicator \"%.128s\": give the name that "
              "HcclGetCommName told",
              device, name);
    return HCCL_E_PTR;
}

HcclResult
prim_comm_find(int32_t device, const char *name)
{
    bool there;

    pthread_mutex_lock(&registry.lock);
    there = find(device, name) != NULL;
    pthread_mutex_unlock(&registry.lock);
    return there ? HCCL_SUCCESS : unknown(device, name);
}

/* Sleeps until the lock is free, the communicator gone, or `deadline_ns`. Under the lock. */
static void
sleep_until(struct entry *entry, uint64_t deadline_ns)
{
    struct timespec at = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                          .tv_nsec = (long)(deadline_ns % 1000000000u)};
    int cancel = hc_cancel_off(); /* it would leave the lock taken */
    int rc = 0;

    while (entry->owner != 0 && entry->added > 0 && rc != ETIMEDOUT)
        rc = deadline_ns == HC_FOREVER ? pthread_cond_wait(&entry->freed, &registry.lock)
                                       : pthread_cond_timedwait(&entry->freed, &registry.lock, &at);
    hc_cancel_restore(cancel);
}

/* The lock is taken: wait for it, and say once who holds it for long. Under the lock, which is let
 * go meanwhile. */
static void
wait_for_owner(struct entry *entry)
{
    int64_t warn_s;

    (void)hc_knob_int(KNOB_STALL_WARN_S, &warn_s);
    entry->waiters++;
    sleep_until(entry, hc_deadline_ms(warn_s == 0 ? -1 : warn_s * 1000));
    if (entry->owner != 0 && entry->added > 0) {
        int owner = entry->owner;
        uint64_t held_s = (hc_now_ns() - entry->owned_since) / 1000000000u;

        pthread_mutex_unlock(&registry.lock); /* nothing slow under it; `waiters` keeps the entry */
        LOG_WARN(PRIM,
                 "a kernel on device %d has waited %lld s for communicator \"%.128s\", which "
                 "thread %d took %llu s ago: does every path of its kernel call "
                 "HcommReleaseComm?",
                 entry->device, (long long)warn_s, entry->name, owner, (unsigned long long)held_s);
        pthread_mutex_lock(&registry.lock);
        sleep_until(entry, HC_FOREVER);
    }
    entry->waiters--;
}

static void
take(struct entry *entry)
{
    entry->owner = own_id();
    taken++;
    entry->owned_since = hc_now_ns();
}

HcclResult
prim_comm_lock(int32_t device, const char *name)
{
    struct entry *entry, *last = NULL;
    HcclResult rc = HCCL_SUCCESS;

    pthread_mutex_lock(&registry.lock);
    entry = find(device, name);
    if (entry == NULL) {
        pthread_mutex_unlock(&registry.lock);
        return unknown(device, name);
    }
    if (entry->owner == own_id())
        rc = HCCL_E_PARA;
    else if (entry->owner != 0)
        wait_for_owner(entry);
    if (entry->added == 0) {
        rc = HCCL_E_UNAVAIL;
        last = entry->waiters == 0 ? entry : NULL; /* I2 */
    } else if (rc == HCCL_SUCCESS) {
        take(entry);
    }
    pthread_mutex_unlock(&registry.lock);
    entry_destroy(last);
    if (rc == HCCL_E_PARA)
        LOG_ERROR(PRIM,
                  "HcommAcquireComm(\"%.128s\"): this thread holds it already and would wait for "
                  "itself: release it first, also when a kernel ends early",
                  name);
    if (rc == HCCL_E_UNAVAIL)
        LOG_ERROR(PRIM,
                  "HcommAcquireComm(\"%.128s\"): the communicator was destroyed while it was "
                  "waited for",
                  name);
    return rc;
}

HcclResult
prim_comm_try_lock(int32_t device, const char *name)
{
    struct entry *entry;
    HcclResult rc = HCCL_E_AGAIN;

    pthread_mutex_lock(&registry.lock);
    entry = find(device, name);
    if (entry != NULL && entry->owner == 0 && entry->waiters == 0) {
        take(entry);
        rc = HCCL_SUCCESS;
    }
    pthread_mutex_unlock(&registry.lock);
    return entry == NULL ? unknown(device, name) : rc;
}

void
prim_comm_unlock(int32_t device, const char *name)
{
    struct entry *entry;

    pthread_mutex_lock(&registry.lock);
    entry = find(device, name);
    if (entry != NULL && entry->owner != 0) {
        taken -= entry->owner == own_id() && taken > 0;
        entry->owner = 0;
        pthread_cond_signal(&entry->freed);
    }
    pthread_mutex_unlock(&registry.lock);
}
