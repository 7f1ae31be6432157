/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "comm/world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/fnv.h"
#include "base/log.h"
#include "base/process.h"
#include "resource/resource.h"
#include "runtime/runtime.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hc_list worlds = {&worlds, &worlds}; /* under `lock` */

/* Host names may be equal in containers, boot ids on one machine are: together they tell hosts
 * apart as users see them. */
static uint64_t
host_hash(const char *host_name)
{
    uint64_t sum = hc_fnv(HC_FNV_START, host_name, strlen(host_name));
    char boot[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len;

    if (fd < 0)
        return sum;
    len = read(fd, boot, sizeof boot);
    close(fd);
    return len > 0 ? hc_fnv(sum, boot, (size_t)len) : sum;
}

int32_t
world_physical(int32_t device)
{
    int32_t physical = -1;

    if (aclrtGetPhyDevIdByUserDevId(device, &physical) != ACL_SUCCESS)
        return -1;
    return physical;
}

/* All but how to reach the process, which ranks of one process need not know. */
static void
own_fact(struct comm_fact *fact, int32_t device)
{
    memset(fact, 0, sizeof *fact);
    fact->process = fact->address.process = hc_process_id();
    fact->pid = (uint32_t)getpid();
    fact->device = device;
    fact->physical = fact->place = (uint32_t)world_physical(device);
    fact->super_device = COMM_NOT_TOLD;
    fact->soc_generation = (uint32_t)rt_soc();
    snprintf(fact->soc, sizeof fact->soc, "%s", rt_soc_name());
    if (gethostname(fact->host_name, sizeof fact->host_name - 1) != 0)
        snprintf(fact->host_name, sizeof fact->host_name, "unknown");
    fact->host = host_hash(fact->host_name);
}

HcclResult
world_fact(struct comm_fact *fact, int32_t device)
{
    own_fact(fact, device);
    return res_listen(&fact->address);
}

static void
world_destroy(struct comm_world *world)
{
    if (world == NULL)
        return;
    world_layers_fini(world);
    hc_free(world->facts);
    hc_free(world->site);
    hc_free(world->pod);
    hc_free(world->number);
    hc_free(world->came);
    hc_free(world);
}

void
world_hold(struct comm_world *world)
{
    pthread_mutex_lock(&lock);
    world->refs++;
    pthread_mutex_unlock(&lock);
}

void
world_release(struct comm_world *world)
{
    bool last;

    if (world == NULL)
        return;
    pthread_mutex_lock(&lock);
    last = --world->refs == 0;
    if (last)
        hc_list_remove(&world->in_all);
    pthread_mutex_unlock(&lock);
    if (last)
        world_destroy(world);
}

static HcclResult
world_new(uint32_t n_ranks, const char *id, struct comm_world **out)
{
    struct comm_world *world = hc_zalloc(sizeof *world);

    if (world == NULL)
        return HCCL_E_MEMORY;
    world->refs = 1;
    world->n_ranks = n_ranks;
    snprintf(world->id, sizeof world->id, "%s", id);
    snprintf(world->meet, sizeof world->meet, "%s", id);
    world->facts = hc_calloc(n_ranks, sizeof *world->facts);
    world->site = hc_calloc(n_ranks, sizeof *world->site);
    world->pod = hc_calloc(n_ranks, sizeof *world->pod);
    world->came = hc_calloc(n_ranks, sizeof *world->came);
    if (world->facts == NULL || world->site == NULL || world->pod == NULL || world->came == NULL) {
        world_destroy(world);
        return HCCL_E_MEMORY;
    }
    *out = world;
    return HCCL_SUCCESS;
}

static int
by_place(const void *a, const void *b, void *arg)
{
    const struct comm_world *world = arg;
    const struct comm_fact *x = &world->facts[*(const uint32_t *)a];
    const struct comm_fact *y = &world->facts[*(const uint32_t *)b];

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

/* HCCL_E_PARA (logged): two ranks of one process share a device. */
static HcclResult
check_places(struct comm_world *world)
{
    uint32_t *order = hc_calloc(world->n_ranks, sizeof *order);
    HcclResult rc = HCCL_SUCCESS;

    if (order == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < world->n_ranks; i++)
        order[i] = i;
    qsort_r(order, world->n_ranks, sizeof *order, by_place, world);
    for (uint32_t i = 1; i < world->n_ranks && rc == HCCL_SUCCESS; i++) {
        const struct comm_fact *fact = &world->facts[order[i]];

        if (fact->process == 0 || by_place(&order[i - 1], &order[i], world) != 0)
            continue; /* what nobody told cannot be compared */
        LOG_ERROR(COMM,
                  "ranks %u and %u both use device %d of process %u: give each rank of a "
                  "process its own device with aclrtSetDevice",
                  order[i - 1], order[i], fact->device, fact->pid);
        rc = HCCL_E_PARA;
    }
    hc_free(order);
    return rc;
}

/* The world of that id, one hold more; NULL: none. Under the lock. */
static struct comm_world *
find_locked(const char *id)
{
    HC_LIST_EACH (node, &worlds) {
        struct comm_world *world = HC_CONTAINER(node, struct comm_world, in_all);

        if (strcmp(world->id, id) == 0) {
            world->refs++;
            return world;
        }
    }
    return NULL;
}

static struct comm_world *
world_find(const char *id)
{
    struct comm_world *there;

    pthread_mutex_lock(&lock);
    there = find_locked(id);
    pthread_mutex_unlock(&lock);
    return there;
}

/* Puts `world` among the others, or takes the one that is there in its place. */
static struct comm_world *
world_share(struct comm_world *world)
{
    struct comm_world *there;

    pthread_mutex_lock(&lock);
    there = find_locked(world->id);
    if (there == NULL)
        hc_list_push_back(&worlds, &world->in_all);
    pthread_mutex_unlock(&lock);
    if (there == NULL)
        return world;
    world_destroy(world);
    return there;
}

static HcclResult
world_finish(struct comm_world *world, struct comm_world **out)
{
    HcclResult rc = check_places(world);

    if (rc == HCCL_SUCCESS)
        rc = world_layers_init(world);
    if (rc != HCCL_SUCCESS) {
        world_destroy(world);
        return rc;
    }
    for (uint32_t i = 0; i < world->n_ranks && !world->beyond; i++)
        world->beyond = world->facts[i].process != hc_process_id();
    *out = world_share(world);
    return HCCL_SUCCESS;
}

HcclResult
world_from_table(const struct bs_table *table, struct comm_world **out)
{
    struct comm_world *world = world_find(table->id);
    HcclResult rc;

    if (world != NULL) {
        *out = world;
        return HCCL_SUCCESS;
    }
    rc = world_new(table->n_ranks, table->id, &world);
    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < table->n_ranks; i++) {
        struct comm_fact *fact = &world->facts[i];

        if (table->entries[i].len != sizeof *fact) {
            LOG_ERROR(COMM,
                      "rank %u told %u bytes of facts, %zu are expected: run the same library "
                      "everywhere",
                      i, table->entries[i].len, sizeof *fact);
            world_destroy(world);
            return HCCL_E_PARA;
        }
        memcpy(fact, table->entries[i].blob, sizeof *fact);
        fact->soc[sizeof fact->soc - 1] = '\0';
        fact->host_name[sizeof fact->host_name - 1] = '\0';
    }
    return world_finish(world, out);
}

HcclResult
world_from_facts(const struct comm_fact *facts, uint32_t n_ranks, const char *id,
                 struct comm_world **out)
{
    struct comm_world *world = world_find(id);
    HcclResult rc;

    if (world != NULL) {
        *out = world;
        return HCCL_SUCCESS;
    }
    rc = world_new(n_ranks, id, &world);
    if (rc != HCCL_SUCCESS)
        return rc;
    memcpy(world->facts, facts, n_ranks * sizeof *facts);
    world->claimed = true;
    return world_finish(world, out);
}

HcclResult
world_of_part(const struct comm_world *parent, const uint32_t *ranks, uint32_t num, const char *id,
              const char *meet, struct comm_world **out)
{
    struct comm_world *world = world_find(id);
    HcclResult rc;

    if (world != NULL) {
        *out = world;
        return HCCL_SUCCESS;
    }
    rc = world_new(num, id, &world);
    if (rc != HCCL_SUCCESS)
        return rc;
    snprintf(world->meet, sizeof world->meet, "%s", meet);
    world->claimed = parent->claimed;
    world->number = hc_calloc(num, sizeof *world->number);
    if (world->number == NULL) {
        world_destroy(world);
        return HCCL_E_MEMORY;
    }
    for (uint32_t i = 0; i < num; i++) {
        world->facts[i] = parent->facts[ranks[i]];
        world->site[i] = parent->site[ranks[i]];
        world->pod[i] = parent->pod[ranks[i]];
        world->number[i] = ranks[i];
    }
    return world_finish(world, out);
}

HcclResult
world_from_devices(const int32_t *devices, uint32_t num, struct comm_world **out)
{
    static _Atomic uint32_t count;
    struct comm_world *world;
    char id[64];
    HcclResult rc;

    snprintf(id, sizeof id, "all_%d_%08" PRIx32 "_%u", (int)getpid(), (uint32_t)hc_process_id(),
             atomic_fetch_add(&count, 1));
    rc = world_new(num, id, &world);
    if (rc != HCCL_SUCCESS)
        return rc;
    own_fact(&world->facts[0], devices[0]);
    for (uint32_t i = 1; i < num; i++) {
        world->facts[i] = world->facts[0];
        world->facts[i].device = devices[i];
        world->facts[i].physical = (uint32_t)world_physical(devices[i]);
        world->facts[i].place = world->facts[i].physical;
    }
    return world_finish(world, out);
}
