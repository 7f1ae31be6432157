/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/log.h"
#include "base/process.h"
#include "comm/claim.h"
#include "comm/comm_object.h"

/* The device of this process with that physical id; -1: it has none. */
static int32_t
device_of(uint32_t physical)
{
    uint32_t count = rt_device_count();

    if (physical < count && world_physical((int32_t)physical) == (int32_t)physical)
        return (int32_t)physical;
    for (uint32_t i = 0; i < count; i++) {
        if (world_physical((int32_t)i) == (int32_t)physical)
            return (int32_t)i;
    }
    return -1;
}

/* The table's device of `rank` is the calling thread's. */
static HcclResult
check_device(const struct rank_table *table, uint32_t rank, int32_t current)
{
    uint32_t physical = table->ranks[rank].device;
    int32_t device = device_of(physical);

    if (device == current)
        return HCCL_SUCCESS;
    if (device < 0)
        return rank_table_fail_device(
            table, rank,
            "%u: this process is rank %u and has no such device, only %u: "
            "correct the table, or see HCOMM_DEVICE_COUNT and ASCEND_RT_VISIBLE_DEVICES",
            physical, rank, rt_device_count());
    LOG_ERROR(COMM,
              "%s puts rank %u on device %d, but device %d is current on this thread: call "
              "aclrtSetDevice(%d) before",
              table->name, rank, device, current, device);
    return HCCL_E_PARA;
}

/* T1 */
static HcclResult
fill_facts(const struct rank_table *table, int32_t device, struct comm_fact *facts)
{
    struct comm_fact own;
    HcclResult rc = world_fact(&own, device);

    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < table->n_ranks; i++) {
        const struct rank_place *place = &table->ranks[i];
        int32_t here = device_of(place->device);

        facts[i] = own;
        if (table->n_ranks > 1) {
            memset(&facts[i].address, 0, sizeof facts[i].address);
            facts[i].process = 0;
            facts[i].pid = 0;
        }
        facts[i].physical = place->device;
        facts[i].place = place->place;
        facts[i].super_device = place->super_device;
        facts[i].nets_told = table->version[0] == '2';
        memcpy(facts[i].nets, place->nets, sizeof facts[i].nets);
        facts[i].host = hc_fnv(HC_FNV_START, place->server_name, strlen(place->server_name));
        facts[i].device = here >= 0 ? here : (int32_t)place->device;
        snprintf(facts[i].host_name, sizeof facts[i].host_name, "%.63s", place->server_name);
    }
    return HCCL_SUCCESS;
}

static HcclResult
make_world(const struct rank_table *table, const char *name, int32_t device,
           struct comm_world **world)
{
    const char *job = getenv("HCOMM_JOB_ID");
    const char *const salts[] = {name, job == NULL ? "" : job, NULL};
    char digest[RANK_TABLE_DIGEST_LEN], id[64];
    struct comm_fact *facts;
    HcclResult rc = rank_table_digest(table, salts, digest);

    if (rc != HCCL_SUCCESS)
        return rc;
    facts = hc_calloc(table->n_ranks, sizeof *facts);
    if (facts == NULL)
        return HCCL_E_MEMORY;
    rc = fill_facts(table, device, facts);
    snprintf(id, sizeof id, "table_%s", digest);
    if (rc == HCCL_SUCCESS)
        rc = world_from_facts(facts, table->n_ranks, id, world);
    hc_free(facts);
    return rc;
}

/* The name is free on the device. */
static HcclResult
check_name(const char *name, bool given, int32_t device)
{
    HcclResult rc = registry_check(name, device);

    return rc == HCCL_E_PARA && !given ? HCCL_E_UNAVAIL : rc;
}

HcclResult
comm_from_table(const struct rank_table *table, uint32_t rank, const HcclCommConfig *config,
                HcclComm *handle)
{
    struct comm_desc desc = {.rank = rank, .name = WORLD_GROUP};
    struct comm_world *world = NULL;
    struct claim *claim = NULL;
    HcclCommConfig full;
    int32_t device = -1;
    HcclResult rc;

    if (rank >= table->n_ranks) {
        LOG_ERROR(COMM, "rank %u is not in %s, which lists ranks 0 to %u", rank, table->name,
                  table->n_ranks - 1);
        return HCCL_E_PARA;
    }
    rc = rt_result(rt_current_device(&device));
    if (rc == HCCL_SUCCESS)
        rc = config_load(&full, config);
    if (rc == HCCL_SUCCESS)
        rc = check_device(table, rank, device);
    if (rc != HCCL_SUCCESS)
        return rc;
    desc.config = &full;
    if (full.hcclCommName[0] != '\0')
        desc.name = full.hcclCommName;
    rc = check_name(desc.name, desc.name == full.hcclCommName, device);
    if (rc == HCCL_SUCCESS)
        rc = make_world(table, desc.name, device, &world);
    if (rc == HCCL_SUCCESS)
        rc = claim_create(world->id, rank, table->name, &claim);
    if (rc == HCCL_SUCCESS) {
        desc.world = world;
        desc.claim = claim;
        rc = comm_create(&desc, handle);
    }
    if (rc != HCCL_SUCCESS)
        claim_destroy(claim);
    world_release(world);
    return rc;
}
