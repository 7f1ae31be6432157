/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run: what the files of `hcomm run` share. cmd_run.c understands the arguments, run_job.c watches
 * over the processes, run_spawn.c starts them, run_output.c carries what they print.
 */
#ifndef HC_TOOLS_RUN_H
#define HC_TOOLS_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RUN_NOT_EXECUTABLE 126
#define RUN_NOT_FOUND 127
#define RUN_TIMED_OUT 124

struct run_options {
    uint32_t ranks, per_process;
    uint32_t timeout_s; /* 0: none */
    bool prefix;
    char **program; /* ends with NULL */
};

/* Runs the job; the exit status of hcomm. */
int run_job(const struct run_options *options);

/* ---- run_spawn.c ---- */

struct run_process {
    pid_t pid;  /* and number of its process group; 0: was not started */
    bool ended; /* what follows is valid. It is not reaped before all is over: until then its group
                   has its number to itself */
    bool by_signal;
    int status; /* exit status, or the signal */
};

struct run_spawner {
    const struct run_options *options;
    uint32_t processes;
    char id[33];   /* of the job: 32 random hexadecimal digits */
    sigset_t mask; /* of the caller's signals, for the processes */
    pid_t guard;
    int guard_fd; /* processes tell the guard their number, -1: there is no guard */
    int null_fd;
    uint64_t limit; /* of descriptors, for the processes */
};

/* Raises the limit of descriptors, makes the id, starts the guard: a process that kills the job
 * when this one is gone. 0, or the exit status for hcomm (said). */
int spawner_init(struct run_spawner *spawner, const struct run_options *options);

/* Starts process `number` with its standard output and error in pipes; *fds are our ends.
 * `stdin_fd`: what it reads. 0, or the exit status for hcomm (said). */
int spawn(struct run_spawner *spawner, uint32_t number, int stdin_fd, struct run_process *process,
          int fds[2]);

/* The job is over: the guard may go. */
void spawner_fini(struct run_spawner *spawner);

/* ---- run_output.c ---- */

/* Where what a process prints comes from, and goes to. */
struct run_pipe {
    int fd; /* -1: at its end */
    int to; /* 1 or 2 */
    char prefix[32];
    char *line; /* [len] of [room]: begun, not yet ended */
    size_t len, room;
};

struct run_chunk;
struct run_output {
    struct run_chunk *first, *last; /* to be written, in this order */
    size_t queued;
    bool closed[3];  /* by target: nobody reads it any more */
    int write_error; /* of a target; 0: none */
};

/* false: it is so full that reading must wait until it has been emptied. */
bool output_has_room(const struct run_output *output);

/* Reads once. Whole lines go to the queue; at the end of the pipe, the rest too. false: no memory
 * (said). */
bool output_read(struct run_output *output, struct run_pipe *pipe);

/* A line of our own, behind all others. */
bool output_say(struct run_output *output, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The descriptor that the queue waits for; -1: it is empty. */
int output_target(const struct run_output *output);

/* Writes what goes without waiting. */
void output_write(struct run_output *output);

void output_fini(struct run_output *output);
void pipe_close(struct run_pipe *pipe);

#endif
