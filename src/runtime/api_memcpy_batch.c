/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtMemcpyBatch*: many copies between host and device in one call, all in one direction. */
#include "acl/acl_rt.h"
#include "copy/copy.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/memcpy.h"
#include "runtime/stream.h"

struct batch {
    const char *function;
    void **dsts, **srcs;
    size_t *dest_maxs, *sizes;
    size_t num;
    aclrtMemcpyBatchAttr *attrs;
    size_t *firsts; /* index of the first copy that attrs[k] describes */
    size_t attr_num;
};

static aclError
check_lists(const struct batch *batch)
{
    const char *missing = batch->dsts == NULL        ? "dsts is NULL"
                          : batch->dest_maxs == NULL ? "destMaxs is NULL"
                          : batch->srcs == NULL      ? "srcs is NULL"
                          : batch->sizes == NULL     ? "sizes is NULL"
                          : batch->attrs == NULL     ? "attrs is NULL"
                          : batch->firsts == NULL    ? "attrsIndexes is NULL"
                          : batch->num == 0          ? "numBatches is 0"
                          : batch->attr_num == 0     ? "numAttrs is 0"
                                                     : NULL;

    if (missing != NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", batch->function, missing);
    if (batch->attr_num > batch->num)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu attributes for %zu copies",
                       batch->function, batch->attr_num, batch->num);
    for (size_t i = 0; i < batch->num; i++) {
        if (batch->dsts[i] == NULL || batch->srcs[i] == NULL)
            return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s[%zu] is NULL", batch->function,
                           batch->dsts[i] == NULL ? "dsts" : "srcs", i);
        if (batch->sizes[i] > batch->dest_maxs[i])
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%s: sizes[%zu] is %zu, but destMaxs only %zu", batch->function, i,
                           batch->sizes[i], batch->dest_maxs[i]);
    }
    return ACL_SUCCESS;
}

/* The direction an attribute asks for; ACL_MEMCPY_DEFAULT: it is neither. */
static aclrtMemcpyKind
direction_of(const aclrtMemcpyBatchAttr *attr)
{
    bool from_device = attr->srcLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    bool to_device = attr->dstLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;

    if (from_device == to_device)
        return ACL_MEMCPY_DEFAULT;
    return to_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
}

static aclError
check_attrs(const struct batch *batch, aclrtMemcpyKind *kind, size_t *fail)
{
    *kind = direction_of(&batch->attrs[0]);
    for (size_t k = 0; k < batch->attr_num; k++) {
        aclrtMemcpyKind own = direction_of(&batch->attrs[k]);

        if (k == 0 ? batch->firsts[0] != 0
                   : batch->firsts[k] <= batch->firsts[k - 1] || batch->firsts[k] >= batch->num) {
            *fail = k;
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%s: attrsIndexes[%zu] is %zu; they must start "
                           "with 0, grow, and stay below %zu",
                           batch->function, k, batch->firsts[k], batch->num);
        }
        if (own == ACL_MEMCPY_DEFAULT || own != *kind) {
            *fail = k;
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: attrs[%zu] %s", batch->function, k,
                           own == ACL_MEMCPY_DEFAULT ? "is not between host and device"
                                                     : "goes the other way than those before it");
        }
    }
    return ACL_SUCCESS;
}

static void
copy_of(const struct batch *batch, size_t i, aclrtMemcpyKind kind, struct rt_copy *copy)
{
    *copy = (struct rt_copy){.function = batch->function,
                             .dst = batch->dsts[i],
                             .src = batch->srcs[i],
                             .dst_span = batch->sizes[i],
                             .src_span = batch->sizes[i],
                             .kind = kind};
}

/* All is checked before anything is copied. `*at_once`: some end is pageable host memory. */
static aclError
check_batch(const struct batch *batch, size_t *fail, bool *at_once)
{
    aclrtMemcpyKind kind;
    aclError rc = check_attrs(batch, &kind, fail);

    *at_once = false;
    for (size_t i = 0; i < batch->num && rc == ACL_SUCCESS; i++) {
        struct rt_copy copy;
        bool pageable = false;

        copy_of(batch, i, kind, &copy);
        rc = rt_copy_check(&copy);
        if (rc == ACL_SUCCESS && copy.src_range.place == copy.dst_range.place &&
            copy.src_range.place == RT_PLACE_DEVICE)
            rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: copy %zu is from device to device",
                         batch->function, i);
        if (rc == ACL_SUCCESS && rt_copy_mode(&copy, &pageable) != ACL_SUCCESS)
            rc = ACL_ERROR_RT_PARAM_INVALID; /* host to host, as rt_copy_mode has said */
        if (rc != ACL_SUCCESS)
            *fail = i;
        *at_once = *at_once || pageable;
    }
    return rc;
}

static aclError
batch_now(const struct batch *batch, size_t *fail)
{
    bool at_once;
    int32_t device;
    aclError rc = check_lists(batch);

    if (rc == ACL_SUCCESS && !rt_enter())
        return RT_NOT_HERE;
    if (rc == ACL_SUCCESS)
        rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = rt_capture_check_unsafe(batch->function);
    if (rc == ACL_SUCCESS)
        rc = check_batch(batch, fail, &at_once);
    for (size_t i = 0; i < batch->num && rc == ACL_SUCCESS; i++)
        copy_bytes(batch->dsts[i], batch->srcs[i], batch->sizes[i]);
    return rc;
}

static aclError
batch_on_stream(const struct batch *batch, size_t *fail, struct rt_stream *stream)
{
    bool at_once;
    aclError rc = check_batch(batch, fail, &at_once);

    if (rc == ACL_SUCCESS && at_once)
        rc = rt_capture_check_block(stream, batch->function);
    if (rc == ACL_SUCCESS && at_once)
        rc = rt_stream_sync(stream, -1);
    for (size_t i = 0; i < batch->num && rc == ACL_SUCCESS; i++) {
        struct rt_task task;

        if (at_once) {
            copy_bytes(batch->dsts[i], batch->srcs[i], batch->sizes[i]);
        } else {
            rt_task_copy(&task, batch->dsts[i], batch->srcs[i], batch->sizes[i]);
            rc = rt_stream_push(stream, &task);
        }
    }
    return rc;
}

static aclError
batch_later(const struct batch *batch, size_t *fail, aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc = check_lists(batch);

    if (rc == ACL_SUCCESS && !rt_enter())
        return RT_NOT_HERE;
    if (rc == ACL_SUCCESS)
        rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = batch_on_stream(batch, fail, held);
    rt_stream_release(held);
    return rc;
}

aclError
aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                 size_t *failIndex)
{
    struct batch batch = {"aclrtMemcpyBatch", dsts,  srcs,         destMaxs, sizes,
                          numBatches,         attrs, attrsIndexes, numAttrs};
    size_t fail = SIZE_MAX;
    aclError rc = batch_now(&batch, &fail);

    if (failIndex != NULL)
        *failIndex = fail;
    return rc;
}

aclError
aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                   aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs)
{
    return aclrtMemcpyBatch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs,
                            NULL);
}

aclError
aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                      aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
                      size_t *failIndex, aclrtStream stream)
{
    struct batch batch = {"aclrtMemcpyBatchAsync",
                          dsts,
                          srcs,
                          destMaxs,
                          sizes,
                          numBatches,
                          attrs,
                          attrsIndexes,
                          numAttrs};
    size_t fail = SIZE_MAX;
    aclError rc = batch_later(&batch, &fail, stream);

    if (failIndex != NULL)
        *failIndex = fail;
    return rc;
}

aclError
aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                        size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                        size_t numAttrs, aclrtStream stream)
{
    return aclrtMemcpyBatchAsync(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes,
                                 numAttrs, NULL, stream);
}
