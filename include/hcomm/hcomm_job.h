/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_job: who else was started together with this process, and a root info that all of them
 * share, without MPI. Works under `hcomm run`, Open MPI, MPICH (Hydra), Slurm, torchrun, and with
 * variables set by hand: see docs/launching.md. This header is ours.
 *
 *     HcommJobInfo job;
 *     HcclRootInfo rootInfo;
 *
 *     HcommJobGetInfo(&job);
 *     HcommJobGetRootInfo(&rootInfo);
 *     for each i below job.ranksPerProcess, on a thread of its own:
 *         HcclCommInitRootInfo(job.rankSize, &rootInfo, job.firstRank + i, &comm);
 */
#ifndef HCOMM_JOB_H
#define HCOMM_JOB_H

#include <stdint.h>

#include "../hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** What HcommJobGetInfo tells. Process numbers and ranks count from 0. */
typedef struct {
    const char *launcher;     /* "hcomm run", "Open MPI", "MPICH", "Slurm", "torchrun"; "none": this
                                 process was started alone. Never freed */
    uint32_t process;         /* number of this process */
    uint32_t processes;       /* how many there are; at least 1 */
    uint32_t localProcess;    /* number of this process among those of this host */
    uint32_t localProcesses;  /* how many of them are on this host */
    uint32_t ranksPerProcess; /* ranks that each process is to run; 1 unless the job was told
                                 otherwise (HCOMM_JOB_RANKS_PER_PROCESS) */
    uint32_t firstRank;       /* process * ranksPerProcess */
    uint32_t rankSize;        /* processes * ranksPerProcess */
} HcommJobInfo;

/**
 * Tell how this process was started, from its environment.
 *
 * Reads the environment at each call and keeps nothing.
 *
 * @param info  out
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: info is NULL; HCCL_E_PARA: a variable of the launcher is
 *         missing, no number or out of range (the message names it); HCCL_E_INTERNAL: called in a
 *         forked child.
 * Threads: any, as long as none changes the environment.
 * Source:  ours.
 */
HcclResult HcommJobGetInfo(HcommJobInfo *info);

/**
 * Get a root info that is the same in every process of the job.
 *
 * Process 0 makes it, as HcclGetRootInfo does, and offers it to the others, which wait for it as
 * long as ranks wait for each other (HCCL_CONNECT_TIMEOUT). The n-th successful call of each
 * process gives the n-th root info, so every process must call equally often: once for each
 * communicator. All processes must be on one host, in one network namespace, and of one user.
 *
 * @param info  out  to be handed to HcclCommInitRootInfo by every rank of this process
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: info is NULL; HCCL_E_PARA: as HcommJobGetInfo; HCCL_E_TIMEOUT:
 *         process 0 did not offer it in time; HCCL_E_REMOTE: process 0 has ended;
 * HCCL_E_TCP_CONNECT: the meeting place is taken by somebody else; HCCL_E_SYSCALL, HCCL_E_MEMORY;
 * what HcclGetRootInfo returns; HCCL_E_INTERNAL: called in a forked child. Threads: any; calls of
 * one process go one after the other. Source:  ours.
 */
HcclResult HcommJobGetRootInfo(HcclRootInfo *info);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
