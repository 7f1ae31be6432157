/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/memcpy.h"

#include <stdatomic.h>

#include "base/knobs.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

/* Where an address counts as being. Registered host memory is both. */
#define ON_HOST 1u
#define ON_DEVICE 2u

static unsigned
side_of(const struct rt_range *range)
{
    if (range->place == RT_PLACE_DEVICE)
        return ON_DEVICE;
    return range->mapped_host ? ON_HOST | ON_DEVICE : ON_HOST;
}

struct kind {
    const char *words;
    const char *name;
    unsigned src, dst;
};

static const struct kind kinds[] = {
    [ACL_MEMCPY_HOST_TO_HOST] = {"host-to-host", "ACL_MEMCPY_HOST_TO_HOST", ON_HOST, ON_HOST},
    [ACL_MEMCPY_HOST_TO_DEVICE] = {"host-to-device", "ACL_MEMCPY_HOST_TO_DEVICE", ON_HOST,
                                   ON_DEVICE},
    [ACL_MEMCPY_DEVICE_TO_HOST] = {"device-to-host", "ACL_MEMCPY_DEVICE_TO_HOST", ON_DEVICE,
                                   ON_HOST},
    [ACL_MEMCPY_DEVICE_TO_DEVICE] = {"device-to-device", "ACL_MEMCPY_DEVICE_TO_DEVICE", ON_DEVICE,
                                     ON_DEVICE},
    [ACL_MEMCPY_DEFAULT] = {"default", "ACL_MEMCPY_DEFAULT", ON_HOST | ON_DEVICE,
                            ON_HOST | ON_DEVICE},
    [ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE] = {"host-to-buffer-to-device",
                                          "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE", ON_HOST, ON_DEVICE},
};

aclError
rt_copy_kind(aclrtMemcpyKind kind, const char *function)
{
    if ((uint32_t)kind < sizeof kinds / sizeof kinds[0])
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_INVALID_PARAM,
                   "%s: kind is %d; pass one of ACL_MEMCPY_HOST_TO_HOST (0) to "
                   "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE (5)",
                   function, (int)kind);
}

/* The knob, looked up once. */
static bool
kind_is_checked(void)
{
    static atomic_int choice = -1; /* 0: checked; the same whoever reads it first */
    int now = atomic_load_explicit(&choice, memory_order_relaxed);

    if (now < 0) {
        (void)hc_knob_enum(KNOB_MEMCPY_KIND,
                           &now); /* an invalid value is logged, the default counts */
        atomic_store_explicit(&choice, now, memory_order_relaxed);
    }
    return now == 0;
}

/* The kind that these addresses would be. */
static const struct kind *
kind_of(unsigned src, unsigned dst)
{
    if ((src & ON_HOST) != 0)
        return &kinds[(dst & ON_HOST) != 0 ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE];
    return &kinds[(dst & ON_HOST) != 0 ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE];
}

static aclError
check_kind(const struct rt_copy *copy)
{
    const struct kind *kind = &kinds[copy->kind];
    unsigned src = side_of(&copy->src_range), dst = side_of(&copy->dst_range);
    bool src_fits = (src & kind->src) != 0;
    char text[64];

    if (src_fits && (dst & kind->dst) != 0)
        return ACL_SUCCESS;
    rt_mem_describe(src_fits ? &copy->dst_range : &copy->src_range, text, sizeof text);
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "%s: kind is %s, but the %s %p is %s; pass %s, or set "
                   "HCOMM_MEMCPY_KIND=advisory",
                   copy->function, kind->words, src_fits ? "destination" : "source",
                   src_fits ? copy->dst : copy->src, text, kind_of(src, dst)->name);
}

aclError
rt_copy_check(struct rt_copy *copy)
{
    aclError rc = rt_mem_check(copy->dst, copy->dst_span, copy->function, "the destination",
                               &copy->dst_range);

    if (rc == ACL_SUCCESS)
        rc =
            rt_mem_check(copy->src, copy->src_span, copy->function, "the source", &copy->src_range);
    if (rc == ACL_SUCCESS && kind_is_checked())
        rc = check_kind(copy);
    return rc;
}

aclError
rt_copy_mode(const struct rt_copy *copy, bool *at_once)
{
    if (((side_of(&copy->src_range) | side_of(&copy->dst_range)) & ON_DEVICE) == 0)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "%s: %p and %p are both host memory, which a "
                       "stream does not copy: use memcpy or aclrtMemcpy",
                       copy->function, copy->src, copy->dst);
    *at_once =
        copy->src_range.place == RT_PLACE_PAGEABLE || copy->dst_range.place == RT_PLACE_PAGEABLE;
    return ACL_SUCCESS;
}
