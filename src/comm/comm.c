/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_object.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/log.h"
#include "base/process.h"
#include "bootstrap/bootstrap.h"
#include "comm/claim.h"
#include "hccl/hccl_types.h"
#include "primitive/primitive.h"

static void comm_fini(void *obj);

static struct hc_table comm_table = HC_TABLE("communicator", HC_KIND_COMM, comm_fini);

HcclResult
comm_unsupported(const char *function)
{
    LOG_ERROR(COMM, "%s is not supported by this release", function);
    return HCCL_E_NOT_SUPPORT;
}

HcclResult
comm_need(const void *ptr, const char *function, const char *what)
{
    if (ptr != NULL)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: %s is NULL", function, what);
    return HCCL_E_PTR;
}

HcclResult
comm_hold(HcclComm handle, struct comm **comm)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;

    if (!rt_enter())
        return HCCL_E_INTERNAL;
    if (handle == NULL) {
        LOG_ERROR(COMM, "communicator is NULL: pass one from HcclCommInit...");
        return HCCL_E_PTR;
    }
    *comm = hc_handle_hold(&comm_table, number);
    if (*comm == NULL) {
        LOG_ERROR(COMM, "communicator 0x%llx is not a live one: it is %s",
                  (unsigned long long)number, hc_handle_guess(&comm_table, number));
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

struct comm *
comm_hold_peer(const struct comm *comm, uint32_t rank)
{
    HcclComm handle = registry_peer(comm, rank);

    return handle == NULL ? NULL : hc_handle_hold(&comm_table, (uint64_t)(uintptr_t)handle);
}

bool
comm_peer_left(const struct comm *comm, uint32_t rank)
{
    return atomic_load(&comm->world->came[rank]) && registry_peer(comm, rank) == NULL;
}

uint32_t
comm_number(const struct comm *comm, uint32_t rank)
{
    return comm->world->number == NULL ? rank : comm->world->number[rank];
}

void *
comm_enter_guest(HcclComm handle)
{
    struct comm *comm;
    void *guest;

    if (hc_in_forked_child())
        return NULL;
    comm = hc_handle_enter(&comm_table, (uint64_t)(uintptr_t)handle);
    if (comm == NULL)
        return NULL;
    guest = atomic_load_explicit(&comm->guest.own, memory_order_acquire);
    if (atomic_load_explicit(&comm->suspended, memory_order_relaxed))
        guest = NULL;
    if (guest == NULL)
        hc_handle_leave();
    return guest;
}

void
comm_leave_guest(void)
{
    hc_handle_leave();
}

void
comm_hold_more(struct comm *comm)
{
    hc_handle_hold_more(&comm_table, (uint64_t)(uintptr_t)comm->handle);
}

void
comm_release(struct comm *comm)
{
    hc_handle_release(&comm_table, (uint64_t)(uintptr_t)comm->handle);
}

const char *
comm_name(const struct comm *comm)
{
    return comm->name;
}

uint32_t
comm_rank(const struct comm *comm)
{
    return comm->rank;
}

uint32_t
comm_rank_num(const struct comm *comm)
{
    return comm->world->n_ranks;
}

HcclComm
comm_handle(const struct comm *comm)
{
    return comm->handle;
}

int32_t
comm_device(const struct comm *comm)
{
    return comm->device;
}

int64_t
comm_exec_timeout_s(const struct comm *comm)
{
    return comm->config.hcclExecTimeOut;
}

void
comm_attach(struct comm *comm, void *own, void (*fini)(void *own))
{
    comm->attached_fini = fini;
    atomic_store_explicit(&comm->attached, own, memory_order_release);
}

void *
comm_attached(const struct comm *comm)
{
    return atomic_load_explicit(&comm->attached, memory_order_acquire);
}

const char *
comm_algo(const struct comm *comm)
{
    return comm->config.hcclAlgo;
}

int32_t
comm_deterministic(const struct comm *comm)
{
    return config_deterministic(&comm->config);
}

HcclOpExpansionMode
comm_op_expansion(const struct comm *comm)
{
    return comm->config.hcclOpExpansionMode == CONFIG_EXPANSION_HOST
               ? HCCL_OP_EXPANSION_MODE_HOST_TS
               : HCCL_OP_EXPANSION_MODE_AI_CPU;
}

const HcclCommConfig *
comm_config(const struct comm *comm)
{
    return &comm->config;
}

const struct comm_fact *
comm_fact(const struct comm *comm, uint32_t rank)
{
    return &comm->world->facts[rank];
}

bool
comm_rank_is_here(const struct comm *comm, uint32_t rank)
{
    return comm->world->facts[rank].process == hc_process_id();
}

HcclResult
comm_check_running(const struct comm *comm, const char *function)
{
    if (!atomic_load_explicit(&comm->suspended, memory_order_relaxed))
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: rank %u of %s is suspended: call HcclCommResume first", function,
              comm->rank, comm->name);
    return HCCL_E_SUSPENDING;
}

HcclResult
comm_rank_check(const struct comm *comm, uint32_t rank, const char *function)
{
    if (rank < comm->world->n_ranks)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: rank %u is out of range: %s has ranks 0 to %u", function, rank, comm->name,
              comm->world->n_ranks - 1);
    return HCCL_E_PARA;
}

/* Its fate has broken: O4. */
static void
comm_failed(void *arg, const char *why)
{
    struct comm *comm = arg;

    LOG_WARN(COMM, "%s: rank %u cannot go on: %s", comm->name, comm->rank, why);
    channels_abort(comm, why);
    guest_failed(comm, why);
}

/* Ends a whole or half-made communicator: O1. */
static void
comm_fini(void *obj)
{
    struct comm *comm = obj;

    if (comm->fate != NULL)
        rt_fate_disown(comm->fate);
    registry_remove(comm);
    if (comm->locked_name)
        prim_comm_remove(comm->device, comm->name);
    threads_fini(comm);
    if (comm_attached(comm) != NULL)
        comm->attached_fini(comm_attached(comm));
    guest_fini(comm);
    channels_fini(comm);
    rt_kernels_close(comm->kernels);
    res_ctx_set_destroy(comm->contexts);
    memory_fini(comm);
    ranges_fini(comm);
    exchange_fini(comm);
    graph_destroy(comm->graph);
    sub_comm_forget(comm->parts);
    if (comm->outside)
        rt_outside_add(-1);
    rt_fate_release(comm->fate);
    world_release(comm->world);
    pthread_mutex_destroy(&comm->acquiring);
    pthread_mutex_destroy(&comm->lock);
    hc_free(comm->terms);
    hc_free(comm);
}

static struct comm *
comm_new(const struct comm_desc *desc)
{
    struct comm *comm = hc_zalloc(sizeof *comm);
    const char *name = desc->name;

    if (comm == NULL)
        return NULL;
    comm->world = desc->world;
    world_hold(comm->world);
    comm->rank = desc->rank;
    comm->device = desc->world->facts[desc->rank].device;
    comm->config = *desc->config;
    if (name == NULL)
        name = comm->config.hcclCommName[0] != '\0' ? comm->config.hcclCommName : comm->world->id;
    snprintf(comm->name, sizeof comm->name, "%s", name);
    pthread_mutex_init(&comm->acquiring, NULL);
    pthread_mutex_init(&comm->lock, NULL);
    guest_init(comm);
    hc_list_init(&comm->memories);
    hc_list_init(&comm->workspaces);
    hc_list_init(&comm->wraps);
    hc_list_init(&comm->channels);
    hc_list_init(&comm->connecting);
    hc_list_init(&comm->infos);
    hc_list_init(&comm->tasks);
    return comm;
}

HcclResult
comm_create(const struct comm_desc *desc, HcclComm *handle)
{
    struct comm *comm = comm_new(desc);
    uint64_t number;
    HcclResult rc;

    if (comm == NULL)
        return HCCL_E_MEMORY;
    if (desc->terms != NULL)
        comm->terms = hc_strdup(desc->terms);
    rc = desc->terms == NULL || comm->terms != NULL ? HCCL_SUCCESS : HCCL_E_MEMORY;
    if (rc == HCCL_SUCCESS)
        rc = registry_add(comm);
    if (rc == HCCL_SUCCESS) {
        comm->fate = rt_fate_create(comm_failed, comm);
        rc = comm->fate == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    }
    if (rc == HCCL_SUCCESS)
        rc = res_ctx_set_create(comm->device, &comm->contexts);
    if (rc == HCCL_SUCCESS)
        rc = prim_comm_add(comm->device, comm->name);
    if (rc != HCCL_SUCCESS)
        goto fail;
    comm->locked_name = true;
    if (comm->world->beyond) {
        rt_outside_add(1);
        comm->outside = true;
    }
    number = hc_handle_reserve(&comm_table);
    if (number == 0) {
        rc = HCCL_E_MEMORY;
        goto fail;
    }
    comm->handle = (HcclComm)(uintptr_t)number;
    comm->claim = desc->claim; /* nothing fails from here on */
    hc_handle_publish(&comm_table, number, comm);
    registry_publish(comm);
    atomic_store(&comm->world->came[comm->rank], true); /* where it can be found already */
    LOG_INFO(COMM, "%s: rank %u of %u on device %d", comm->name, comm->rank, comm->world->n_ranks,
             comm->device);
    *handle = comm->handle;
    return HCCL_SUCCESS;

fail:
    comm_fini(comm);
    return rc;
}

static HcclResult
join_ranks(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank, int32_t device,
           struct comm_world **world)
{
    struct comm_fact fact;
    struct bs_join join = {.info = info,
                           .n_ranks = n_ranks,
                           .rank = rank,
                           .blob = &fact,
                           .blob_len = sizeof fact,
                           .timeout_ms = -1};
    struct bs_table *table = NULL;
    HcclResult rc;

    rc = world_fact(&fact, device);
    if (rc != HCCL_SUCCESS)
        return rc;
    rt_block_begin();
    rc = bs_join(&join, &table);
    rt_block_end();
    if (rc == HCCL_SUCCESS)
        rc = world_from_table(table, world);
    bs_table_destroy(table);
    return rc;
}

HcclResult
comm_join(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank, const HcclCommConfig *config,
          HcclComm *handle)
{
    struct comm_world *world = NULL;
    struct comm_desc desc = {.rank = rank};
    HcclCommConfig full;
    int32_t device = 0;
    HcclResult rc = rt_result(rt_current_device(&device));

    if (rc == HCCL_SUCCESS)
        rc = config_load(&full, config);
    if (rc == HCCL_SUCCESS && full.hcclCommName[0] != '\0')
        rc = registry_check(full.hcclCommName,
                            device); /* now, not when the peers think all is well */
    if (rc == HCCL_SUCCESS)
        rc = join_ranks(n_ranks, info, rank, device, &world);
    if (rc == HCCL_SUCCESS) {
        desc.world = world;
        desc.config = &full;
        rc = comm_create(&desc, handle);
    }
    world_release(world);
    return rc;
}

HcclResult
comm_create_all(const int32_t *devices, uint32_t num, HcclComm *handles)
{
    HcclComm *made = hc_calloc(num, sizeof *made);
    struct comm_world *world = NULL;
    struct comm_desc desc = {.rank = 0};
    HcclCommConfig full;
    uint32_t count = 0;
    HcclResult rc;

    if (made == NULL)
        return HCCL_E_MEMORY;
    rc = config_load(&full, NULL);
    if (rc == HCCL_SUCCESS)
        rc = world_from_devices(devices, num, &world);
    desc.world = world;
    desc.config = &full;
    while (rc == HCCL_SUCCESS && count < num) {
        desc.rank = count;
        rc = comm_create(&desc, &made[count]);
        count += rc == HCCL_SUCCESS;
    }
    if (rc == HCCL_SUCCESS) {
        memcpy(handles, made, num * sizeof *made);
    } else {
        while (count > 0)
            (void)comm_destroy(made[--count]);
    }
    world_release(world);
    hc_free(made);
    return rc;
}

/* A stream that was synchronised has seen the last notify of a device thread; the task that
 * recorded it may take a moment more to end. */
static HcclResult
check_idle(struct comm *comm)
{
    uint64_t deadline = hc_deadline_ms(1000);

    while (!threads_idle(comm) || !guest_idle(comm)) {
        if (hc_now_ns() >= deadline) {
            LOG_ERROR(COMM,
                      "%s: rank %u still has tasks under way, or windows: synchronise its "
                      "streams and destroy its windows, then destroy it",
                      comm->name, comm->rank);
            return HCCL_E_AGAIN;
        }
        usleep(100);
    }
    return HCCL_SUCCESS;
}

/* Nobody finds the communicator any more; what waits for peers returns. */
static HcclResult
comm_shut(struct comm *comm)
{
    if (atomic_exchange(&comm->closing, true)) {
        LOG_ERROR(COMM, "%s: rank %u is being destroyed already", comm->name, comm->rank);
        return HCCL_E_PARA;
    }
    channels_cut(comm);
    guest_cut(comm);
    registry_remove(comm);
    claim_destroy(comm->claim);
    comm->claim = NULL;
    prim_comm_remove(comm->device, comm->name);
    comm->locked_name = false;
    (void)hc_handle_close_guarded(&comm_table, (uint64_t)(uintptr_t)comm->handle);
    return HCCL_SUCCESS;
}

HcclResult
comm_destroy(HcclComm handle)
{
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_idle(comm); /* before the callbacks: who is told to try again is told nothing else */
    if (rc == HCCL_SUCCESS)
        rc = callbacks_run(handle, HCCL_COMM_STATE_PHASE_DESTROY_PRE);
    if (rc == HCCL_SUCCESS)
        rc = comm_shut(comm);
    comm_release(comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    return callbacks_run(handle, HCCL_COMM_STATE_PHASE_DESTROY_POST);
}

HcclResult
comm_suspend(HcclComm handle)
{
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (atomic_exchange(&comm->suspended, true))
        LOG_WARN(COMM, "%s: rank %u is suspended already", comm->name, comm->rank);
    comm_release(comm);
    return HCCL_SUCCESS;
}

/* What the tasks that were stopped have left behind stays: ranks come back one after the other, and
 * to forget records here would be to lose those of peers that came back before. */
HcclResult
comm_resume(HcclComm handle)
{
    char why[COMM_WHY_LEN];
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (rt_fate_broken(comm->fate, why, sizeof why)) {
        LOG_ERROR(COMM,
                  "HcclCommResume: rank %u of %s cannot go on: %s: destroy it, and make one of "
                  "the ranks that are left",
                  comm->rank, comm->name, why);
        rc = HCCL_E_REMOTE;
    }
    if (rc == HCCL_SUCCESS)
        rc = callbacks_run(handle, HCCL_COMM_STATE_PHASE_RESUME_PRE);
    if (rc == HCCL_SUCCESS) {
        atomic_store(&comm->suspended, false);
        rc = callbacks_run(handle, HCCL_COMM_STATE_PHASE_RESUME_POST);
    }
    comm_release(comm);
    return rc;
}
