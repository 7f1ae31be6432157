/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtMemcpy, aclrtMemset and their 2d and asynchronous forms. */
#include "acl/acl_rt.h"
#include "copy/copy.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/memcpy.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

/* ---- plain copies ---- */

/* What needs no context, in the order that programs rely on. */
static aclError
check_arguments(const struct rt_copy *copy, size_t dest_max)
{
    aclError rc;

    if (copy->dst == NULL || copy->src == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", copy->function,
                       copy->dst == NULL ? "dst" : "src");
    rc = rt_copy_kind(copy->kind, copy->function);
    if (rc != ACL_SUCCESS)
        return rc;
    if (copy->dst_span > dest_max) /* also when dest_max is 0: there is something to copy */
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: count is %llu, but destMax only %zu",
                       copy->function, (unsigned long long)copy->dst_span, dest_max);
    return ACL_SUCCESS;
}

aclError
aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    struct rt_copy copy = {.function = "aclrtMemcpy",
                           .dst = dst,
                           .src = src,
                           .dst_span = count,
                           .src_span = count,
                           .kind = kind};
    int32_t device;
    aclError rc;

    if (count == 0)
        return ACL_SUCCESS;
    rc = check_arguments(&copy, destMax);
    if (rc != ACL_SUCCESS)
        return rc;
    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = rt_capture_check_unsafe("aclrtMemcpy");
    if (rc == ACL_SUCCESS)
        rc = rt_copy_check(&copy);
    if (rc == ACL_SUCCESS)
        copy_bytes(dst, src, count);
    return rc;
}

/* Queues `copy` or does it at once, whatever its ends ask for. */
static aclError
copy_on_stream(struct rt_copy *copy, struct rt_stream *stream)
{
    struct rt_task task;
    bool at_once;
    aclError rc = rt_copy_check(copy);

    if (rc == ACL_SUCCESS)
        rc = rt_copy_mode(copy, &at_once);
    if (rc != ACL_SUCCESS)
        return rc;
    if (copy->kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
        return rt_push_snapshot(stream, copy->dst, copy->src, copy->dst_span);
    if (!at_once) {
        rt_task_copy(&task, copy->dst, copy->src, copy->dst_span);
        return rt_stream_push(stream, &task);
    }
    rc = rt_capture_check_block(stream, copy->function);
    if (rc == ACL_SUCCESS)
        rc = rt_stream_sync(stream, -1);
    if (rc == ACL_SUCCESS)
        copy_bytes(copy->dst, copy->src, copy->dst_span);
    return rc;
}

aclError
aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                 aclrtStream stream)
{
    struct rt_copy copy = {.function = "aclrtMemcpyAsync",
                           .dst = dst,
                           .src = src,
                           .dst_span = count,
                           .src_span = count,
                           .kind = kind};
    struct rt_stream *held;
    aclError rc;

    if (count == 0)
        return ACL_SUCCESS;
    rc = check_arguments(&copy, destMax);
    if (rc != ACL_SUCCESS)
        return rc;
    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = copy_on_stream(&copy, held);
    rt_stream_release(held);
    return rc;
}

/* ---- rows ---- */

struct rows {
    struct rt_copy copy;
    uint64_t dst_pitch, src_pitch, width, height;
};

static aclError
check_rows(struct rows *rows)
{
    uint64_t dst_len, src_len;
    aclError rc;

    if (rows->copy.dst == NULL || rows->copy.src == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", rows->copy.function,
                       rows->copy.dst == NULL ? "dst" : "src");
    rc = rt_copy_kind(rows->copy.kind, rows->copy.function);
    if (rc != ACL_SUCCESS)
        return rc;
    if (rows->width > rows->dst_pitch || rows->width > rows->src_pitch)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: a row of %llu bytes is wider than dpitch %llu or "
                       "spitch %llu",
                       rows->copy.function, (unsigned long long)rows->width,
                       (unsigned long long)rows->dst_pitch, (unsigned long long)rows->src_pitch);
    if (__builtin_mul_overflow(rows->dst_pitch, rows->height, &dst_len) ||
        __builtin_mul_overflow(rows->src_pitch, rows->height, &src_len))
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %llu rows are more than there is memory",
                       rows->copy.function, (unsigned long long)rows->height);
    rows->copy.dst_span = dst_len - rows->dst_pitch + rows->width; /* the last row may end early */
    rows->copy.src_span = src_len - rows->src_pitch + rows->width;
    return ACL_SUCCESS;
}

static void *
dst_row(const struct rows *rows, uint64_t row)
{
    return (char *)rows->copy.dst + row * rows->dst_pitch;
}

static const void *
src_row(const struct rows *rows, uint64_t row)
{
    return (const char *)rows->copy.src + row * rows->src_pitch;
}

static void
copy_rows(const struct rows *rows)
{
    for (uint64_t row = 0; row < rows->height; row++)
        copy_bytes(dst_row(rows, row), src_row(rows, row), rows->width);
}

aclError
aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
              aclrtMemcpyKind kind)
{
    struct rows rows = {.copy = {.function = "aclrtMemcpy2d", .dst = dst, .src = src, .kind = kind},
                        .dst_pitch = dpitch,
                        .src_pitch = spitch,
                        .width = width,
                        .height = height};
    int32_t device;
    aclError rc;

    if (width == 0 || height == 0)
        return ACL_SUCCESS;
    rc = check_rows(&rows);
    if (rc != ACL_SUCCESS)
        return rc;
    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = rt_capture_check_unsafe("aclrtMemcpy2d");
    if (rc == ACL_SUCCESS)
        rc = rt_copy_check(&rows.copy);
    if (rc == ACL_SUCCESS)
        copy_rows(&rows);
    return rc;
}

/* One task a row: each is an ordinary copy, and the last one ends the whole. */
static aclError
rows_on_stream(struct rows *rows, struct rt_stream *stream)
{
    bool at_once;
    aclError rc = rt_copy_check(&rows->copy);

    if (rc == ACL_SUCCESS)
        rc = rt_copy_mode(&rows->copy, &at_once);
    if (rc != ACL_SUCCESS)
        return rc;
    if (at_once && rows->copy.kind != ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
        rc = rt_capture_check_block(stream, rows->copy.function);
        if (rc == ACL_SUCCESS)
            rc = rt_stream_sync(stream, -1);
        if (rc == ACL_SUCCESS)
            copy_rows(rows);
        return rc;
    }
    for (uint64_t row = 0; row < rows->height && rc == ACL_SUCCESS; row++) {
        struct rt_task task;

        if (rows->copy.kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
            rc = rt_push_snapshot(stream, dst_row(rows, row), src_row(rows, row), rows->width);
        } else {
            rt_task_copy(&task, dst_row(rows, row), src_row(rows, row), rows->width);
            rc = rt_stream_push(stream, &task);
        }
    }
    return rc;
}

aclError
aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                   size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    struct rows rows = {
        .copy = {.function = "aclrtMemcpy2dAsync", .dst = dst, .src = src, .kind = kind},
        .dst_pitch = dpitch,
        .src_pitch = spitch,
        .width = width,
        .height = height};
    struct rt_stream *held;
    aclError rc;

    if (width == 0 || height == 0)
        return ACL_SUCCESS;
    rc = check_rows(&rows);
    if (rc != ACL_SUCCESS)
        return rc;
    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rows_on_stream(&rows, held);
    rt_stream_release(held);
    return rc;
}

/* ---- set ---- */

static aclError
check_set(const void *ptr, size_t max, size_t count, const char *function)
{
    if (ptr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: devPtr is NULL", function);
    if (count > max)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: count is %zu, but maxCount only %zu",
                       function, count, max);
    return rt_enter() ? ACL_SUCCESS : RT_NOT_HERE;
}

aclError
aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    struct rt_range range;
    int32_t device;
    aclError rc;

    if (count == 0)
        return ACL_SUCCESS;
    rc = check_set(devPtr, maxCount, count, "aclrtMemset");
    if (rc == ACL_SUCCESS)
        rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = rt_capture_check_unsafe("aclrtMemset");
    if (rc == ACL_SUCCESS)
        rc = rt_mem_check(devPtr, count, "aclrtMemset", "devPtr", &range);
    if (rc == ACL_SUCCESS)
        copy_fill(devPtr, value, count);
    return rc;
}

aclError
aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    struct rt_stream *held;
    struct rt_range range;
    struct rt_task task;
    aclError rc;

    if (count == 0)
        return ACL_SUCCESS;
    rc = check_set(devPtr, maxCount, count, "aclrtMemsetAsync");
    if (rc == ACL_SUCCESS)
        rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_mem_check(devPtr, count, "aclrtMemsetAsync", "devPtr", &range);
    if (rc == ACL_SUCCESS) {
        rt_task_set(&task, devPtr, value, count);
        rc = rt_stream_push(held, &task);
    }
    rt_stream_release(held);
    return rc;
}
