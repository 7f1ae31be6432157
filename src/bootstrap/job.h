/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job: the processes that a launcher started together, and a root info for all of them.
 *
 * A job is read from the environment: each launcher tells its processes their number, and something
 * that only they have in common. The latter is hashed to the job's id, so it may be a secret and is
 * never shown.
 */
#ifndef HC_BOOTSTRAP_JOB_H
#define HC_BOOTSTRAP_JOB_H

#include <stdint.h>

#include "hccl/hccl_types.h"

#define JOB_ID_LEN 33u /* 32 hexadecimal digits */
#define JOB_PROCESSES_MOST 65536u
#define JOB_RANKS_PER_PROCESS_MOST 4096u

enum job_launcher {
    JOB_NONE,
    JOB_HCOMM_RUN,
    JOB_OPEN_MPI,
    JOB_MPICH,
    JOB_SLURM,
    JOB_TORCHRUN,
};

struct job {
    enum job_launcher launcher;
    uint32_t process, processes;
    uint32_t local_process, local_processes; /* of this host */
    uint32_t ranks_per_process;
    char id[JOB_ID_LEN]; /* equal in all processes of the job, and in no other */
};

/* HCCL_E_PARA (logged): a variable is missing, no number or out of range. */
HcclResult job_read(struct job *job);

const char *job_launcher_name(enum job_launcher launcher);

/* HcommJobGetRootInfo. All its errors are logged. */
HcclResult job_root_info(HcclRootInfo *info);

#endif
