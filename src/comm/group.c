/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/group.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"

struct group_job {
    struct hc_list in_group;
    aclrtContext context;
    bool init; /* else destroy `handle` */
    HcclComm handle;
    HcclComm *out;
    uint32_t n_ranks, rank;
    HcclRootInfo info;
    bool has_config;
    HcclCommConfig config;
    HcclResult rc;
    char *message; /* its thread's errors, for the thread that ends the group */
    pthread_t thread;
    bool started;
};

static _Thread_local uint32_t depth;
static _Thread_local struct hc_list jobs;                /* initialised at the first start */
static _Thread_local HcclResult (*operations_end)(void); /* NULL: the group has no operations */

bool
group_open(void)
{
    return depth > 0;
}

void
group_start(void)
{
    if (depth++ == 0)
        hc_list_init(&jobs);
}

/* HCCL_E_NOT_SUPPORT, after one message. */
static HcclResult
mixed(const char *function)
{
    LOG_ERROR(COMM,
              "%s: a group holds inits and destroys of communicators, or operations, not both: end "
              "this group first",
              function);
    return HCCL_E_NOT_SUPPORT;
}

bool
comm_group_open(void)
{
    return group_open();
}

HcclResult
comm_group_join(const char *function, HcclResult (*end)(void))
{
    if (!hc_list_empty(&jobs))
        return mixed(function);
    if (operations_end != NULL && operations_end != end) {
        LOG_ERROR(
            COMM,
            "%s: a group holds collectives, or sends and receives, or kernels of operators, not "
            "both: end this group first",
            function);
        return HCCL_E_NOT_SUPPORT;
    }
    operations_end = end;
    return HCCL_SUCCESS;
}

static HcclResult
job_new(struct group_job **out)
{
    struct group_job *job;

    if (operations_end != NULL)
        return mixed("HcclGroupStart");
    job = hc_zalloc(sizeof *job);
    if (job == NULL)
        return HCCL_E_MEMORY;
    if (rt_device_if_any() >= 0) /* a destroy needs none */
        (void)aclrtGetCurrentContext(&job->context);
    *out = job;
    return HCCL_SUCCESS;
}

HcclResult
group_add_init(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank,
               const HcclCommConfig *config, HcclComm *comm)
{
    struct group_job *job;
    int32_t device;
    HcclResult rc = rt_result(rt_current_device(&device));

    if (rc == HCCL_SUCCESS)
        rc = job_new(&job);
    if (rc != HCCL_SUCCESS)
        return rc;
    job->init = true;
    job->n_ranks = n_ranks;
    job->rank = rank;
    job->info = *info;
    job->has_config = config != NULL;
    if (config != NULL) /* a caller of another version may have a shorter one: see config.c */
        job->rc = config_copy(&job->config, config);
    job->out = comm;
    rc = job->rc;
    if (rc != HCCL_SUCCESS) {
        hc_free(job);
        return rc;
    }
    hc_list_push_back(&jobs, &job->in_group);
    return HCCL_SUCCESS;
}

HcclResult
group_add_destroy(HcclComm comm)
{
    struct group_job *job;
    HcclResult rc = job_new(&job);

    if (rc != HCCL_SUCCESS)
        return rc;
    job->handle = comm;
    hc_list_push_back(&jobs, &job->in_group);
    return HCCL_SUCCESS;
}

static void *
job_main(void *arg)
{
    struct group_job *job = arg;
    const char *errors;

    if (job->context != NULL)
        (void)aclrtSetCurrentContext(job->context);
    if (job->init)
        job->rc = comm_join(job->n_ranks, &job->info, job->rank,
                            job->has_config ? &job->config : NULL, &job->handle);
    else
        job->rc = comm_destroy(job->handle);
    errors = job->rc == HCCL_SUCCESS ? NULL : hc_errmsg_take();
    if (errors != NULL)
        job->message = hc_strdup(errors);
    return NULL;
}

static void
job_start(struct group_job *job)
{
    int error = pthread_create(&job->thread, NULL, job_main, job);

    job->started = error == 0;
    if (job->started)
        return;
    LOG_ERROR(COMM, "HcclGroupEnd cannot start a thread: %s", strerror(error));
    job->rc = HCCL_E_SYSCALL;
}

/* Waits for the job, hands its outcome out and frees it. */
static HcclResult
job_finish(struct group_job *job)
{
    HcclResult rc;

    if (job->started)
        pthread_join(job->thread, NULL);
    rc = job->rc;
    if (rc == HCCL_SUCCESS && job->init)
        *job->out = job->handle;
    if (job->message != NULL) {
        job->message[strcspn(job->message, "\n")] = '\0'; /* the newest says it */
        hc_errmsg_add(job->message);
    }
    hc_free(job->message);
    hc_free(job);
    return rc;
}

HcclResult
group_end(void)
{
    HcclResult (*end)(void) = operations_end;
    HcclResult rc = HCCL_SUCCESS;
    struct hc_list *node;

    if (depth == 0) {
        LOG_ERROR(COMM, "HcclGroupEnd without HcclGroupStart on this thread");
        return HCCL_E_NOT_SUPPORT;
    }
    if (--depth > 0)
        return HCCL_SUCCESS;
    operations_end = NULL;
    if (end != NULL)
        return end(); /* and there are no jobs */
    rt_block_begin(); /* pthread_join */
    HC_LIST_EACH (at, &jobs)
        job_start(HC_CONTAINER(at, struct group_job, in_group));
    while ((node = hc_list_pop_front(&jobs)) != NULL) {
        HcclResult one = job_finish(HC_CONTAINER(node, struct group_job, in_group));

        if (rc == HCCL_SUCCESS)
            rc = one;
    }
    rt_block_end();
    return rc;
}
