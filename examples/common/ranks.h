/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ranks: what every example does before its own work. Each process of the job runs its share of the
 * ranks, on a thread, a device and a communicator each; `hcomm run`, mpirun and others start the
 * processes (docs/launching.md).
 */
#ifndef RANKS_H
#define RANKS_H

#include <stdint.h>

#include <hccl/hccl_types.h>
#include <hcomm/hcomm_job.h>

typedef struct {
    uint32_t rank, rankSize;
    HcclComm comm;
} Rank;

/* Calls `run` for each rank of this process, and returns when all of them have returned. */
void RunRanks(const HcommJobInfo *job, void (*run)(const Rank *me));

/* End this process when a call fails: the library has logged why. The other ranks get an error from
 * whatever they wait for, which names this one; `hcomm run` and mpirun end them. */
void Must(int code, const char *call);
#define MUST(call) Must((int)(call), #call)

/* Refuse what all ranks have been told: the one that shall speak says why, in one line; all
 * processes end with status 2. */
void Refuse(int speak, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* The number after option `name`; refuses what is no number from `least` to `most`. */
uint64_t NumberOf(int speak, const char *name, const char *text, uint64_t least, uint64_t most);

/* Pinned host memory, as transfers like it: reached by other processes without a copy in between.
 */
float *PinnedFloats(uint64_t count);

/* A clock that never goes back. */
double Seconds(void);

#endif
