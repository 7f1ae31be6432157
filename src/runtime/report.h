/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report: callbacks that a thread of the program runs, in aclrtProcessReport (inside this layer
 * only).
 *
 * A stream is subscribed to a thread, and a thread to any number of streams. When a callback's
 * turn comes in its stream, it is put into the queue of the thread; a blocking one keeps the
 * stream parked until the thread has run it.
 *
 * I1  Subscriptions and queued reports are under one lock, taken before no other.
 * I2  A report has two owners, the task and the queue; `refs` counts them.
 * I3  Whoever ends a subscription finishes what is queued for that stream, so that no stream
 *     waits for a thread that has gone.
 */
#ifndef HC_RUNTIME_REPORT_H
#define HC_RUNTIME_REPORT_H

#include "runtime/runtime.h"

/* ACL_ERROR_RT_STREAM_SUBSCRIBE (logged): another thread has it. */
aclError rt_report_subscribe(uint64_t thread, uint32_t stream);

/* ACL_ERROR_RT_THREAD_SUBSCRIBE (logged): they do not belong together. */
aclError rt_report_unsubscribe(uint64_t thread, uint32_t stream);

/* ACL_ERROR_RT_STREAM_NO_CB_REG (logged): nobody is subscribed. */
aclError rt_report_push(struct rt_stream *stream, void (*fn)(void *arg), void *arg, bool block);

/* Waits for one report of the calling thread and runs it. timeout_ms < 0: for ever.
 * ACL_ERROR_RT_REPORT_TIMEOUT (not logged); ACL_ERROR_RT_THREAD_SUBSCRIBE (logged). */
aclError rt_report_process(int64_t timeout_ms);

#endif
