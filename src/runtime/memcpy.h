/* SPDX-License-Identifier: BSD-3-Clause */
/* memcpy: what all copy calls check, and how one is queued (inside this layer only). */
#ifndef HC_RUNTIME_MEMCPY_H
#define HC_RUNTIME_MEMCPY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

/* One copy as the caller asked for it. */
struct rt_copy {
    const char *function; /* for messages */
    void *dst;
    const void *src;
    uint64_t dst_span, src_span; /* bytes from the first to the last one touched */
    aclrtMemcpyKind kind;
    struct rt_range dst_range, src_range; /* set by rt_copy_check */
};

/* Is `kind` one that copies take? ACL_ERROR_INVALID_PARAM (logged). */
aclError rt_copy_kind(aclrtMemcpyKind kind, const char *function);

/* Both ends stay inside their allocations, and (knob MEMCPY_KIND) the kind is what the addresses
 * say. ACL_ERROR_RT_PARAM_INVALID (logged). */
aclError rt_copy_check(struct rt_copy *copy);

/* How a checked copy is done on a stream: queued, or (an end is pageable host memory) at once after
 * the stream is drained. ACL_ERROR_RT_FEATURE_NOT_SUPPORT (logged): from host to host. */
aclError rt_copy_mode(const struct rt_copy *copy, bool *at_once);

/* Queues a copy whose source may be reused at once. */
aclError rt_push_snapshot(struct rt_stream *stream, void *dst, const void *src, uint64_t len);

#endif
