/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base: the short integer names that the one-sided and diagnostic interfaces use.
 *
 * Nothing of the one-sided services comes with it: programs that include only this header define
 * those types themselves. In C++ it brings std::string and size_t, which programs take from it.
 *
 * Source: spec, types, sections 1.2, 1.4 and 2.
 */
#ifndef HCCL_BASE_H
#define HCCL_BASE_H

#ifdef __cplusplus
#include <string>
#endif

#include "hccl_types.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64; /* not uint64_t: the size is the same, the type is not */
typedef signed char s8;
typedef signed short s16;
typedef signed int s32;
typedef signed long long s64;

typedef void *rtStream_t; /* the same value as an aclrtStream */

#endif
