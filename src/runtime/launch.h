/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch: kernels and host functions as tasks of a stream (inside this layer only).
 *
 * The task, run by the scheduler, must not block, and a kernel may: so the task hands the launch
 * to an AICPU thread as a job, parks, and is woken when the job has ended. A kernel cannot be
 * killed: when its time is over the task fails and the job goes on, with a launch that is
 * its own by then. A kernel of the library's own, which hardly ever blocks, is called by whoever
 * runs the task; only if it would have to block it becomes a job.
 *
 * I1  `refs` counts the task (from push to drop) and the job (from submit to its end).
 * I2  The job alone writes the outcome, then gives its reference back (release): a submitted task
 *     that sees its own reference alone (acquire) may read it. So the task's is the last one, and
 *     who waited for the stream finds the code released. The wake follows: no park misses it.
 */
#ifndef HC_RUNTIME_LAUNCH_H
#define HC_RUNTIME_LAUNCH_H

#include <stdatomic.h>

#include "runtime/kernel.h"
#include "runtime/runtime.h"

/* What runs, and how. */
struct rt_launch_spec {
    struct rt_function *function; /* a kernel; or NULL and: */
    void (*host_fn)(void *arg);   /* a host function; or NULL and: */
    rt_own_kernel kernel;         /* one of the library's own, of one block */
    const char *name;             /* its; stays */
    void *arg;                    /* of host_fn; of a kernel whose arguments stay where they are */
    const void *args;             /* kernels: copied, unless NULL */
    size_t args_len;
    uint32_t patch_num;  /* of rt_launch_patch that may follow */
    uint32_t block_num;  /* times that the kernel runs */
    uint64_t timeout_ms; /* 0: none */
};

/* A launch that was made but not queued yet: the copy of the arguments can be patched. */
struct rt_launch;

/* ACL_ERROR_RT_MEMORY_ALLOCATION. It holds the function. */
aclError rt_launch_new(const struct rt_launch_spec *spec, struct rt_launch **launch);

/* Puts the address of byte `data` of the copied arguments at byte `at` of them; in every copy that
 * a captured launch makes of them, its own. */
void rt_launch_patch(struct rt_launch *launch, uint64_t at, uint64_t data);

/* Queues it; the launch is the stream's from here on, whatever is returned. */
aclError rt_launch_push(struct rt_launch *launch, struct rt_stream *stream);

/* Before a wait for the stream. ACL_ERROR_RT_FEATURE_NOT_SUPPORT (logged): the calling thread runs
 * a kernel or host function of that very stream, and would wait for its own end. */
aclError rt_launch_check_outside(const struct rt_stream *stream);

#endif
