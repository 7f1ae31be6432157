/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/op_group.h"

#include "base/alloc.h"

/* What becomes one call. */
struct part {
    struct part *next;
    HcclComm comm;
    aclrtStream stream;
    struct p2p_op *ops; /* [room], `num` are there */
    uint32_t num, room;
};

static _Thread_local struct part *parts; /* in the order in which they began */

static HcclResult
part_end(struct part *part)
{
    struct p2p *p2p;
    HcclResult rc = p2p_hold_running("HcclGroupEnd", part->comm, &p2p);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = call_queue(p2p, "HcclGroupEnd", part->ops, part->num, part->stream);
    p2p_release(p2p);
    return rc;
}

static HcclResult
group_end_all(void)
{
    HcclResult rc = HCCL_SUCCESS, one;
    struct part *part;

    while ((part = parts) != NULL) {
        parts = part->next;
        one = part_end(part);
        rc = rc == HCCL_SUCCESS ? one : rc;
        hc_free(part->ops);
        hc_free(part);
    }
    return rc;
}

static struct part *
part_get(HcclComm comm, aclrtStream stream)
{
    struct part **at = &parts;

    while (*at != NULL && ((*at)->comm != comm || (*at)->stream != stream))
        at = &(*at)->next;
    if (*at != NULL)
        return *at;
    *at = hc_zalloc(sizeof **at);
    if (*at != NULL) {
        (*at)->comm = comm;
        (*at)->stream = stream;
    }
    return *at;
}

static HcclResult
part_add(struct part *part, const struct p2p_op *op)
{
    if (part == NULL)
        return HCCL_E_MEMORY;
    if (part->num == part->room) {
        uint32_t room = part->room == 0 ? 8 : part->room * 2;
        struct p2p_op *ops = hc_realloc(part->ops, room * sizeof *ops);

        if (ops == NULL)
            return HCCL_E_MEMORY;
        part->ops = ops;
        part->room = room;
    }
    part->ops[part->num++] = *op;
    return HCCL_SUCCESS;
}

HcclResult
op_group_add(const char *function, HcclComm comm, aclrtStream handle, const struct p2p_op *op)
{
    struct rt_stream *stream;
    HcclResult rc = comm_group_join(function, group_end_all);

    if (rc == HCCL_SUCCESS)
        rc = p2p_stream_hold(handle, &stream);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = part_add(part_get(comm, rt_stream_handle(stream)), op); /* not NULL: as it is now */
    rt_stream_release(stream);
    return rc;
}
