/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sample: the frame of every sample here. It makes the ranks, calls the sample's function on each,
 * and prints what they put out.
 *
 * Started alone, a sample runs a rank for each device, on threads of one process. Started several
 * times, by `hcomm run`, mpirun or another launcher, each process runs its share of the ranks.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <acl/acl.h>
#include <hccl/hccl.h>

#include "ranks.h"

/* The whole of a sample: returns what main() is to return. `run` is called once for each rank, on a
 * thread of its own whose device is set; `stream` is one of that device. */
int RunSample(void (*run)(const Rank *me, aclrtStream stream));

/* Puts out `rankId: R, output: [ ... ]`; the ranks of a process come in their order. */
void Output(const Rank *me, const float *values, uint64_t count);

/* Ends the process with status 1 if a value is not what it must be. */
void Expect(const Rank *me, float value, float expected);

/* What rank `rank` has in the samples with parts of different sizes: even ranks have two elements,
 * or one if there is nobody after them, odd ranks have none. So all ranks together have rankSize
 * elements, and the part of an even rank begins at element `rank`. */
uint64_t PartOf(uint32_t rank, uint32_t rankSize);

#endif
