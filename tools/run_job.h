/* SPDX-License-Identifier: BSD-3-Clause */
/* run_job: a job that runs; for run_job.c and what is split off from it. */
#ifndef HC_TOOLS_RUN_JOB_H
#define HC_TOOLS_RUN_JOB_H

#include <poll.h>

#include "tools/run.h"

/* ---- run_typed.c: what is typed ---- */

/* A terminal cannot be given to process 0, which is no part of its foreground: what is typed is
 * carried through a pipe. */
struct run_typed {
    int fd; /* our end; -1: standard input is no terminal of ours, or at its end */
    char bytes[4096];
    size_t len;
    uint64_t again_ns; /* the terminal is another job's: when to look at it again */
};

/* *fd: what process 0 reads; to be closed after it was started, if typed->fd is there. 0, or the
 * exit status for hcomm (said). */
int typed_init(struct run_typed *typed, int null_fd, int *fd);
void typed_fini(struct run_typed *typed);

/* What to poll for reading and for writing; -1: nothing. */
int typed_source(const struct run_typed *typed);
int typed_target(const struct run_typed *typed);

void typed_read(struct run_typed *typed);
void typed_pass(struct run_typed *typed);

enum run_stage { RUNNING, TOLD, TERMINATED, KILLED };
enum run_cause { NOTHING_YET, PROCESS_FAILED, TIME_IS_UP, INTERRUPTED, NO_MEMORY };

struct run {
    const struct run_options *options;
    struct run_spawner spawner;
    struct run_output output;
    uint32_t num;                  /* of processes */
    struct run_process *processes; /* [num] */
    struct run_pipe *pipes;        /* [2 * num] */
    struct pollfd *polls;          /* [2 * num + POLLS_OF_OURS] */
    uint32_t alive;
    int signal_fd;
    enum run_stage stage;
    uint64_t stage_ends_ns; /* J1 of run_job.c */
    uint64_t time_up_ns;
    bool told;           /* a signal that usually ends programs was passed on */
    uint32_t interrupts; /* SIGINT */

    enum run_cause cause; /* why it ended; the first counts */
    uint32_t culprit;     /* PROCESS_FAILED: number of the process */
    uint32_t ended_num;   /* how many others were running then */

    struct run_typed typed;
};

/* ---- run_report.c ---- */

/* "one3", or "many4-7" when a process has several ranks. */
void run_name_ranks(char *text, size_t len, const struct run *run, uint32_t process,
                    const char *one, const char *many);

/* Says how the job ended, behind all output; the exit status. */
int run_sum_up(struct run *run);

#endif
