/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job: one row for each launcher: the variables that it sets, how to see that it did, and what all
 * processes of a job have in common. Rows are tried in order; the first that is there counts, so
 * that a launcher inside another's allocation wins.
 *
 * What a launcher tells must be complete and make sense, or the program is told: a job of one that
 * should have been eight computes nonsense in silence.
 */
#define _GNU_SOURCE
#include "bootstrap/job.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "bootstrap/job_env.h"

#define SLURM_STEPS_MOST 4294967000u /* greater step numbers are no step of srun's */
#define COMMON_LEN 512u

struct launcher {
    enum job_launcher which;
    const char *name;
    bool (*is_here)(void);
    const char *process, *processes, *local_process;
    const char *local_processes; /* NULL: see slurm_local_processes */
    /* What the processes have in common, as text; false: it cannot be told. */
    bool (*common)(char text[COMMON_LEN]);
};

static bool
hcomm_is_here(void)
{
    return job_env_has("HCOMM_JOB_PROCESS");
}

static bool
open_mpi_is_here(void)
{
    return job_env_has("OMPI_COMM_WORLD_RANK");
}

/* Slurm speaks PMI too, but then says nothing about the host's processes in MPICH's way. */
static bool
mpich_is_here(void)
{
    return job_env_has("PMI_RANK") && job_env_has("MPI_LOCALRANKID");
}

/* A step of srun's. The shell of salloc has no step; batch scripts and interactive steps have
 * none, or a reserved number. */
static bool
slurm_is_here(void)
{
    unsigned long long step;
    char *end;

    if (!job_env_has("SLURM_PROCID") || !job_env_has("SLURM_STEP_ID"))
        return false;
    step = strtoull(job_env_text("SLURM_STEP_ID"), &end, 10);
    return *end == '\0' && step < SLURM_STEPS_MOST;
}

static bool
torchrun_is_here(void)
{
    return job_env_has("TORCHELASTIC_RUN_ID") && job_env_has("RANK");
}

static bool
hcomm_common(char text[COMMON_LEN])
{
    (void)text;
    return false; /* HCOMM_JOB_ID, which comes before any of these */
}

/* The number of an Open MPI job is made from a process number, so it may come again; what its
 * transports are seeded with is random, where there is one. */
static bool
open_mpi_common(char text[COMMON_LEN])
{
    const char *name = job_env_has("PMIX_NAMESPACE") ? "PMIX_NAMESPACE" : "OMPI_MCA_ess_base_jobid";

    snprintf(text, COMMON_LEN, "%.200s %.200s", job_env_text(name),
             job_env_text("OMPI_MCA_orte_precondition_transports"));
    return job_env_has(name);
}

/* Hydra gives its processes nothing in common but the proxy that started them. */
static bool
mpich_common(char text[COMMON_LEN])
{
    static const char *const of_this_rank[] = {"PMI_RANK", "PMI_FD", "MPI_LOCALRANKID", NULL};
    uint64_t began = 0;
    pid_t proxy = job_starter(of_this_rank, &began);

    snprintf(text, COMMON_LEN, "%d %llu", (int)proxy, (unsigned long long)began);
    return proxy > 0;
}

static bool
slurm_common(char text[COMMON_LEN])
{
    snprintf(text, COMMON_LEN, "%.200s.%.200s", job_env_text("SLURM_JOB_ID"),
             job_env_text("SLURM_STEP_ID"));
    return job_env_has("SLURM_JOB_ID");
}

/* The run is called "none" unless it was given a name; the port is the job's own while it lives.
 * Workers that were restarted must not meet those that they replace. */
static bool
torchrun_common(char text[COMMON_LEN])
{
    snprintf(text, COMMON_LEN, "%.200s %.100s %.100s", job_env_text("TORCHELASTIC_RUN_ID"),
             job_env_text("MASTER_PORT"), job_env_text("TORCHELASTIC_RESTART_COUNT"));
    return job_env_has("MASTER_PORT");
}

static const struct launcher launchers[] = {
    {JOB_HCOMM_RUN, "hcomm run", hcomm_is_here, "HCOMM_JOB_PROCESS", "HCOMM_JOB_PROCESSES",
     "HCOMM_JOB_LOCAL_PROCESS", "HCOMM_JOB_LOCAL_PROCESSES", hcomm_common},
    {JOB_OPEN_MPI, "Open MPI", open_mpi_is_here, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", open_mpi_common},
    {JOB_MPICH, "MPICH", mpich_is_here, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS", mpich_common},
    {JOB_SLURM, "Slurm", slurm_is_here, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL,
     slurm_common},
    {JOB_TORCHRUN, "torchrun", torchrun_is_here, "RANK", "WORLD_SIZE", "LOCAL_RANK",
     "LOCAL_WORLD_SIZE", torchrun_common},
};

#define LAUNCHER_NUM (sizeof launchers / sizeof launchers[0])

static const struct launcher *
find_launcher(void)
{
    for (size_t i = 0; i < LAUNCHER_NUM; i++) {
        if (launchers[i].is_here())
            return &launchers[i];
    }
    return NULL;
}

const char *
job_launcher_name(enum job_launcher launcher)
{
    for (size_t i = 0; i < LAUNCHER_NUM; i++) {
        if (launchers[i].which == launcher)
            return launchers[i].name;
    }
    return "none";
}

/* Slurm lists the tasks of all nodes, as "2(x3),1": this node's entry. */
static HcclResult
slurm_local_processes(struct job *job)
{
    const char *name = job_env_has("SLURM_STEP_TASKS_PER_NODE") ? "SLURM_STEP_TASKS_PER_NODE"
                                                                : "SLURM_TASKS_PER_NODE";
    const char *at = job_env_text(name);
    uint32_t node = 0;
    HcclResult rc = job_env_number("SLURM_NODEID", 0, JOB_PROCESSES_MOST, &node);

    if (rc != HCCL_SUCCESS)
        return rc;
    while (*at >= '0' && *at <= '9') {
        char *end;
        unsigned long long tasks = strtoull(at, &end, 10), times = 1;

        if (end[0] == '(' && end[1] == 'x' && end[2] >= '0' && end[2] <= '9') {
            times = strtoull(end + 2, &end, 10);
            if (*end++ != ')')
                break;
        }
        if (node < times && tasks > 0 && tasks <= JOB_PROCESSES_MOST) {
            job->local_processes = (uint32_t)tasks;
            return HCCL_SUCCESS;
        }
        if (*end != ',' || node < times)
            break;
        node -= (uint32_t)times;
        at = end + 1;
    }
    LOG_ERROR(JOB,
              "%s is \"%.64s\": it must list the tasks of each node, as 2(x3),1, for node "
              "%s too",
              name, job_env_text(name), job_env_text("SLURM_NODEID"));
    return HCCL_E_PARA;
}

/* Inside a job a step of Slurm's may be smaller than the job. */
static const char *
processes_name(const struct launcher *launcher)
{
    if (launcher->which == JOB_SLURM && job_env_has("SLURM_STEP_NUM_TASKS"))
        return "SLURM_STEP_NUM_TASKS";
    return launcher->processes;
}

/* A process that is not among as many as there are. */
static HcclResult
check_order(const char *number_name, uint32_t number, const char *count_name, uint32_t count)
{
    if (number < count)
        return HCCL_SUCCESS;
    LOG_ERROR(JOB, "%s is %u, but %s is %u: numbers count from 0 and are smaller", number_name,
              number, count_name, count);
    return HCCL_E_PARA;
}

static HcclResult
read_numbers(struct job *job, const struct launcher *launcher)
{
    const char *locals = launcher->local_processes, *all = processes_name(launcher);
    HcclResult rc;

    rc = job_env_number(all, 1, JOB_PROCESSES_MOST, &job->processes);
    if (rc == HCCL_SUCCESS)
        rc = job_env_number(launcher->process, 0, JOB_PROCESSES_MOST - 1, &job->process);
    if (rc == HCCL_SUCCESS)
        rc = check_order(launcher->process, job->process, all, job->processes);
    if (rc == HCCL_SUCCESS && locals != NULL)
        rc = job_env_number(locals, 1, JOB_PROCESSES_MOST, &job->local_processes);
    if (rc == HCCL_SUCCESS && locals == NULL)
        rc = slurm_local_processes(job);
    if (rc == HCCL_SUCCESS)
        rc =
            job_env_number(launcher->local_process, 0, JOB_PROCESSES_MOST - 1, &job->local_process);
    if (rc == HCCL_SUCCESS)
        rc = check_order(launcher->local_process, job->local_process,
                         locals == NULL ? "the number of tasks of this node" : locals,
                         job->local_processes);
    if (rc == HCCL_SUCCESS && job->local_processes > job->processes) {
        LOG_ERROR(JOB, "%s is %u, but %s is %u: there cannot be more on this host than there are",
                  locals == NULL ? "the number of tasks of this node" : locals,
                  job->local_processes, all, job->processes);
        rc = HCCL_E_PARA;
    }
    return rc;
}

static void
make_id(struct job *job, const char *launcher, const char *common)
{
    char text[COMMON_LEN + 64];
    uint8_t hash[(JOB_ID_LEN - 1) / 2];
    int len = snprintf(text, sizeof text, "%s\n%s", launcher, common);

    (void)!sodium_init(); /* again does nothing; without it the hash is the same, but slower */
    (void)crypto_generichash(hash, sizeof hash, (const uint8_t *)text, (size_t)len, NULL, 0);
    (void)sodium_bin2hex(job->id, sizeof job->id, hash, sizeof hash);
}

static HcclResult
read_id(struct job *job, const struct launcher *launcher)
{
    const char *chosen = job_env_text("HCOMM_JOB_ID");
    char common[COMMON_LEN];

    if (strlen(chosen) >= COMMON_LEN) {
        LOG_ERROR(JOB, "HCOMM_JOB_ID has %zu characters, at most %u go", strlen(chosen),
                  COMMON_LEN - 1);
        return HCCL_E_PARA;
    }
    if (chosen[0] != '\0') {
        make_id(job, "chosen", chosen);
        return HCCL_SUCCESS;
    }
    if (launcher != NULL && launcher->common(common)) {
        make_id(job, launcher->name, common);
        return HCCL_SUCCESS;
    }
    if (job->processes > 1) {
        LOG_ERROR(JOB,
                  "HCOMM_JOB_ID is not set, and %s does not tell this job from others: set it "
                  "to a text that is the same in all %u processes and nowhere else",
                  job_launcher_name(job->launcher), job->processes);
        return HCCL_E_PARA;
    }
    snprintf(common, sizeof common, "%d", (int)getpid()); /* nobody will look for it */
    make_id(job, "alone", common);
    return HCCL_SUCCESS;
}

static HcclResult
read_ranks_per_process(struct job *job)
{
    const char *name = "HCOMM_JOB_RANKS_PER_PROCESS";
    uint32_t most = JOB_RANKS_PER_PROCESS_MOST;

    if (!job_env_has(name))
        return HCCL_SUCCESS;
    if (most > JOB_PROCESSES_MOST / job->processes)
        most = JOB_PROCESSES_MOST / job->processes;
    return job_env_number(name, 1, most, &job->ranks_per_process);
}

HcclResult
job_read(struct job *out)
{
    const struct launcher *launcher = find_launcher();
    struct job job = {.processes = 1, .local_processes = 1, .ranks_per_process = 1};
    HcclResult rc = HCCL_SUCCESS;

    if (launcher != NULL) {
        job.launcher = launcher->which;
        rc = read_numbers(&job, launcher);
    }
    if (rc == HCCL_SUCCESS)
        rc = read_ranks_per_process(&job);
    if (rc == HCCL_SUCCESS)
        rc = read_id(&job, launcher);
    if (rc == HCCL_SUCCESS)
        *out = job;
    return rc;
}
