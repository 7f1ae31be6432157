/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce: typed element-wise reductions. Pure functions; no state, no allocation.
 */
#ifndef HC_REDUCE_REDUCE_H
#define HC_REDUCE_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of HcommDataType / HcclDataType and HcommReduceOp / HcclReduceOp: they agree. */

/* Bytes of one element; 0: no such type. */
uint32_t reduce_type_size(int type);

/* "fp16", "sum": for messages; never NULL. */
const char *reduce_type_name(int type);
const char *reduce_op_name(int op);

/* Whether `op` exists for `type`. */
bool reduce_supported(int type, int op);

/*
 * dst[i] = dst[i] op src[i] for i < count. 16- and 8-bit floats are computed in fp32 and rounded
 * to nearest even once. Integers wrap. NaN wins in max and min. dst and src are the same or do not
 * overlap; any alignment. Requires reduce_supported(type, op).
 */
void reduce_apply(void *dst, const void *src, uint64_t count, int type, int op);

#endif
