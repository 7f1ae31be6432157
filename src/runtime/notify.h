/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify: a semaphore that a stream or a thread can wait for (inside this layer only).
 *
 * The word (base/word.h) lies in the device's shared memory, where peers of other processes post
 * too. It counts the records and names the waiter; how many records have been taken is known here
 * alone. notify.c is the notify and its records, notify_wait.c the waits.
 *
 * I1  A stream is the waiter only while its head task is the wait; drop() takes it away. Threads
 *     share one registration, HC_WORD_HOST; the last of `hosts` takes it away, then looks whether
 *     another has come, who may have believed in it, and pokes that one.
 * I2  A record clears the waiter it wakes (W2); the waiter takes a record or registers anew. It
 *     registers only while nothing is left to take (W1).
 * I3  A record releases, the wait that takes it acquires: what was written before is visible after.
 * I4  Record and take are seq_cst, for those who wait without registering: they say that they
 *     wait, then try to take; the recorder records, then asks who waits.
 * I5  Who breaks a notify, or its fate, publishes that before it looks for the waiter; a waiter
 *     registers before it looks whether all is whole (seq_cst). So nobody stays behind.
 * I6  A waiter looks whether all is whole, then whether there is something to take, and fails only
 *     after both. So records made before the break are still delivered.
 */
#ifndef HC_RUNTIME_NOTIFY_H
#define HC_RUNTIME_NOTIFY_H

#include "base/list.h"
#include "base/word.h"
#include "runtime/runtime.h"

#define RT_DEVICES_MOST 4096u /* as the knob DEVICE_COUNT allows */

struct rt_notify {
    uint64_t handle;
    int32_t device;
    uint32_t id;
    _Atomic uint64_t *word;       /* in the device's arena */
    _Atomic uint32_t taken;       /* of what was posted; `posted` minus this can be taken */
    _Atomic uint32_t hosts;       /* I1: threads in rt_notify_await that may have registered */
    bool strict;                  /* a take takes all there is */
    bool queues, remote;          /* origin */
    atomic_bool twice_said;       /* the double record has been reported */
    _Atomic(const char *) broken; /* why nobody records it any more; NULL: it is whole. Set once */
    char *what, *expect;          /* origin; expect may be NULL */
    struct rt_fate *fate;         /* held; NULL: none */
    struct hc_list in_fate;       /* under the fate's lock */
};

int32_t rt_notify_device(const struct rt_notify *notify);
uint64_t rt_notify_handle(const struct rt_notify *notify);

/* Held; NULL: not a live notify. */
struct rt_notify *rt_notify_hold_handle(uint64_t handle);

/* One hold more for somebody who has one, and back; for tasks. */
void rt_notify_hold_more(struct rt_notify *notify);
void rt_notify_task_drop(struct rt_task *task, bool ran);

/* clone() of records and waits. ACL_ERROR_RT_INVALID_HANDLE (logged): the notify is destroyed. */
aclError rt_notify_task_clone(const struct rt_task *task, struct rt_task *copy);

/* Takes the waiter off the word, for whoever breaks something; then wakes it (W2). 0: nobody. */
uint32_t rt_notify_pull_waiter(struct rt_notify *notify);

/* Its text, if rt_notify_break gave one that is not a constant, is freed. */
void rt_notify_mend(struct rt_notify *notify);

#endif
