/* SPDX-License-Identifier: BSD-3-Clause */
/* parts: which bytes of a buffer belong to which rank. */
#include "coll/coll.h"

struct coll_part
part_of(const struct coll_op *op, uint64_t total, uint32_t num, uint32_t i)
{
    uint64_t line = COLL_LINE / op->size; /* elements of a line; a size divides it */
    uint64_t each = (total + num - 1) / num, from, to;

    if (each > line)
        each = (each + line - 1) / line * line;
    from = least_u64(total, each * i);
    to = least_u64(total, from + each);
    return (struct coll_part){.at = from * op->size, .len = (to - from) * op->size};
}

static struct coll_part
part_in(const struct coll_op *op, const uint64_t *counts, const uint64_t *displs, uint32_t i)
{
    if (counts == NULL)
        return (struct coll_part){.at = op->count * i * op->size, .len = op->count * op->size};
    return (struct coll_part){.at = displs[i] * op->size, .len = counts[i] * op->size};
}

struct coll_part
part_sent(const struct coll_op *op, uint32_t i)
{
    return part_in(op, op->send_counts, op->send_displs, i);
}

struct coll_part
part_received(const struct coll_op *op, uint32_t i)
{
    return part_in(op, op->recv_counts, op->recv_displs, i);
}

struct coll_part
part_slice(struct coll_part part, uint64_t from, uint64_t most)
{
    uint64_t left = part.len > from ? part.len - from : 0;

    return (struct coll_part){.at = part.at + from, .len = least_u64(left, most)};
}
