/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_layers: the network layers between the ranks of a communicator, and who is in which
 * instance of each.
 *
 * Layer 0 is the server in any case: ranks of one host (or of one server of the rank table) whose
 * devices have places in one block of 64. The others follow from the SoC:
 *
 * A2   1: all ranks, when there are several servers.
 * A3   1: the super pod, when there are several servers; 2: all, when there are several pods.
 * 950  what a rank table of version 2 lists, and one layer of all ranks more where those leave two
 *      ranks without a link: peers that nothing links can do nothing on any machine. Without such a
 *      table 1: the pod; 2: all ranks.
 *
 * A rank's pod is its server's, so that pods hold whole servers; where nobody tells of pods, there
 * is one.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fnv.h"
#include "comm/world.h"
#include "runtime/runtime.h"

bool
world_together(const struct world_layer *layer, uint32_t a, uint32_t b)
{
    return layer->inst[a] != WORLD_NONE && layer->inst[a] == layer->inst[b];
}

void
world_layers_fini(struct comm_world *world)
{
    for (uint32_t i = 0; i < WORLD_LAYERS; i++)
        hc_free(world->layers[i].inst);
}

/* ---- From keys to numbers ---- */

struct keyed {
    uint64_t key; /* equal in one instance; 0: in none */
    uint32_t rank;
};

static int
by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The first rank of each rank's instance, then, in rank order, the instance's number. */
static void
number_insts(const struct comm_world *world, struct keyed *keyed, struct world_layer *layer)
{
    uint32_t first = 0;

    qsort(keyed, world->n_ranks, sizeof *keyed, by_key);
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        if (i == 0 || keyed[i].key != keyed[i - 1].key)
            first = keyed[i].rank;
        layer->inst[keyed[i].rank] = keyed[i].key == 0 ? WORLD_NONE : first;
    }
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        if (layer->inst[i] != WORLD_NONE)
            layer->inst[i] = layer->inst[i] == i ? layer->n_insts++ : layer->inst[layer->inst[i]];
    }
}

/* Says in keyed[i].key which instance rank i is in. */
typedef void (*keys_fn)(const struct comm_world *world, uint32_t number, struct keyed *keyed);

static HcclResult
add_layer(struct comm_world *world, uint32_t number, keys_fn keys)
{
    struct world_layer *layer = &world->layers[world->n_layers];
    struct keyed *keyed = hc_calloc(world->n_ranks, sizeof *keyed);

    layer->number = number;
    layer->inst = hc_calloc(world->n_ranks, sizeof *layer->inst);
    if (keyed == NULL || layer->inst == NULL) {
        hc_free(keyed);
        return HCCL_E_MEMORY;
    }
    keys(world, number, keyed);
    for (uint32_t i = 0; i < world->n_ranks; i++)
        keyed[i].rank = i;
    number_insts(world, keyed, layer);
    hc_free(keyed);
    world->n_layers++;
    return HCCL_SUCCESS;
}

/* ---- Keys ---- */

static void
keys_server(const struct comm_world *world, uint32_t number, struct keyed *keyed)
{
    (void)number;
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        const struct comm_fact *fact = &world->facts[i];
        uint32_t block = fact->place / WORLD_SERVER_DEVICES;
        uint64_t key = hc_fnv(HC_FNV_START, &fact->host, sizeof fact->host);

        keyed[i].key = hc_fnv(key, &block, sizeof block) | 1;
    }
}

static void
keys_all(const struct comm_world *world, uint32_t number, struct keyed *keyed)
{
    (void)number;
    for (uint32_t i = 0; i < world->n_ranks; i++)
        keyed[i].key = 1;
}

static void
keys_net(const struct comm_world *world, uint32_t number, struct keyed *keyed)
{
    for (uint32_t i = 0; i < world->n_ranks; i++)
        keyed[i].key = world->facts[i].nets[number];
}

/* What the first rank of the server says. First the keys of servers by their numbers, then, from
 * the end, those of ranks in the same array: a server's number is never above its ranks'. */
static void
keys_pod(const struct comm_world *world, uint32_t number, struct keyed *keyed)
{
    const uint32_t *server = world->layers[0].inst;
    uint32_t count = 0;

    for (uint32_t i = 0; i < world->n_ranks; i++) {
        uint64_t key = world->facts[i].nets[number];

        if (server[i] == count)
            keyed[count++].key = key != 0 ? key : UINT64_MAX; /* of which nobody tells */
    }
    for (uint32_t i = world->n_ranks; i-- > 0;)
        keyed[i].key = keyed[server[i]].key;
}

/* ---- Which layers there are ---- */

/* Some rank lists the layer. */
static bool
net_listed(const struct comm_world *world, uint32_t number)
{
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        if (world->facts[i].nets[number] != 0)
            return true;
    }
    return false;
}

/* All ranks are in one server, in one row or in one column of it: each has a link to each. */
static bool
one_line(const struct comm_world *world)
{
    uint32_t place = world->facts[0].place;
    bool row = true, column = true;

    for (uint32_t i = 1; i < world->n_ranks; i++) {
        row = row && world->facts[i].place / WORLD_ROW == place / WORLD_ROW;
        column = column && world->facts[i].place % WORLD_ROW == place % WORLD_ROW;
    }
    return world->layers[0].n_insts == 1 && (row || column);
}

/* All ranks are in one instance. */
static bool
joins_all(const struct comm_world *world, const struct world_layer *layer)
{
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        if (layer->inst[i] != 0)
            return false;
    }
    return true;
}

static HcclResult
add_told(struct comm_world *world)
{
    bool joined = one_line(world);
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 1; i < COMM_NETS && rc == HCCL_SUCCESS; i++) {
        if (!net_listed(world, i))
            continue;
        rc = add_layer(world, i, keys_net);
        joined =
            joined || (rc == HCCL_SUCCESS && joins_all(world, &world->layers[world->n_layers - 1]));
    }
    if (rc == HCCL_SUCCESS && !joined)
        rc = add_layer(world, world->layers[world->n_layers - 1].number + 1, keys_all);
    return rc;
}

static HcclResult
add_layers(struct comm_world *world)
{
    enum rt_soc soc = rt_soc();
    HcclResult rc = add_layer(world, 0, keys_server);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (soc == RT_SOC_950 && world->facts[0].nets_told)
        return add_told(world);
    if (soc != RT_SOC_950 && world->layers[0].n_insts == 1)
        return HCCL_SUCCESS;
    rc = add_layer(world, 1, soc == RT_SOC_A2 ? keys_all : keys_pod);
    if (rc == HCCL_SUCCESS && (soc == RT_SOC_950 || world->layers[1].n_insts > 1))
        rc = add_layer(world, 2, keys_all);
    return rc;
}

HcclResult
world_layers_init(struct comm_world *world)
{
    HcclResult rc = add_layers(world);
    bool pods = rc == HCCL_SUCCESS && world->n_layers > 1 && world->layers[1].number == 1;

    for (uint32_t i = 0; i < world->n_ranks && rc == HCCL_SUCCESS && world->number == NULL; i++) {
        world->site[i] = world->layers[0].inst[i];
        world->pod[i] =
            pods && world->layers[1].inst[i] != WORLD_NONE ? world->layers[1].inst[i] : 0;
    }
    return rc;
}
