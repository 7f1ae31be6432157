/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of random operations: kind, type, reduction, size, root, place, stream, on the world
 * and on random parts of it, some at a time without waiting, each checked.
 *
 * HCOMM_TEST_SEED repeats a run; the seed of a run is in its first line.
 */
#include "tests/coll.h"

#define PARTS 10 /* the world and nine parts */
#define STREAMS 3u
#define AT_ONCE 24u
#define OPERATIONS (SIDES_SLOW ? 1000u : 10000u)

static uint64_t seed;
static uint32_t operations;

/* One communicator, as this rank sees it. */
struct part {
    struct coll_rank me;
    uint32_t ranks[COLL_MOST]; /* in the world, ascending */
    uint32_t num;
    bool member;
};

static void
choose_members(struct part *part, uint32_t nth, const struct coll_rank *world)
{
    uint64_t mask = coll_hash(seed, nth, 1);

    for (uint32_t rank = 0; rank < world->num; rank++) {
        if (nth > 0 && (mask >> rank) % 2 == 0 && rank != nth % world->num)
            continue; /* at least one is in it */
        if (rank == world->rank) {
            part->member = true;
            part->me.rank = part->num;
        }
        part->ranks[part->num++] = rank;
    }
    part->me.num = part->num;
}

static void
make_parts(struct coll_rank *world, struct part *parts)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        struct part *part = &parts[i];
        HcclCommConfig config;

        *part = (struct part){.me = *world};
        choose_members(part, i, world);
        if (i == 0)
            continue;
        part->me.comm = NULL;
        HcclCommConfigInit(&config);
        if (i % 2 == 0)
            coll_small_buffer(&config);
        if (part->member)
            OK(HcclCreateSubCommConfig(&world->comm, part->num, part->ranks, i, part->me.rank,
                                       &config, &part->me.comm));
        else
            OK(HcclCreateSubCommConfig(&world->comm, 0, NULL, 0xFFFFFFFF, 0, &config,
                                       &part->me.comm));
    }
}

static uint64_t
random_count(uint64_t hash)
{
    switch (hash % 32) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return mixed(hash) % 60000;
    case 3:
    case 4:
    case 5:
        return mixed(hash) % 5000;
    default:
        return mixed(hash) % 200;
    }
}

static struct coll
random_operation(uint64_t nth, uint32_t ranks)
{
    uint64_t hash = coll_hash(seed, nth, 2), more = mixed(hash), size;
    struct coll c = {.kind = (enum coll_kind)(hash % COLL_KINDS),
                     .op = (HcclReduceOp)((hash >> 8) % 4),
                     .count = random_count(hash >> 16),
                     .root = (uint32_t)((hash >> 32) % ranks),
                     .seed = nth};

    do {
        more = mixed(more + 1);
        c.type = (HcclDataType)(more % COLL_TYPES);
    } while (!coll_exists(c.kind, (int)c.type));
    size = coll_types[c.type].size;
    c.in_place = coll_may_be_in_place(c.kind) && (more >> 8) % 4 == 0;
    c.shift = (uint32_t)((more >> 16) % 4 == 0 ? (more >> 24) % 8 * size : 0);
    return c;
}

/* Operations in flight, in the order of the calls. */
struct flight {
    struct coll_call calls[AT_ONCE];
    struct part *parts[AT_ONCE];
    uint32_t num;
};

static void
land(struct coll_rank *world, struct flight *flight, const aclrtStream *streams)
{
    for (uint32_t i = 0; i < STREAMS && flight->num > 0; i++)
        coll_must_end(&flight->parts[0]->me, &flight->calls[0].c, streams[i]);
    for (uint32_t i = 0; i < flight->num; i++) {
        coll_check(&flight->parts[i]->me, &flight->calls[i]);
        coll_drop(&flight->calls[i]);
    }
    flight->num = 0;
    world->used = 0;
}

static void
many(struct coll_rank *world)
{
    aclrtStream streams[STREAMS] = {NULL};
    struct flight *flight = calloc(1, sizeof *flight);
    struct part *parts = calloc(PARTS, sizeof *parts);

    MUST(flight != NULL && parts != NULL);
    if (world->stream == INLINE) {
        for (uint32_t i = 0; i < STREAMS; i++)
            streams[i] = INLINE;
    }
    for (uint32_t i = 1; i < STREAMS && world->stream != INLINE; i++)
        OK(aclrtCreateStream(&streams[i])); /* the first is the default one */
    make_parts(world, parts);
    for (uint64_t nth = 0; nth < operations; nth++) {
        struct part *part = &parts[coll_hash(seed, nth, 3) % PARTS];
        uint64_t own = coll_hash(seed, nth, 4 + world->rank); /* what ranks need not agree on */
        struct coll c = random_operation(nth, part->num);

        if (own % 512 == 0)
            usleep((useconds_t)(own >> 32) % 1000);
        if (part->member) {
            part->me.used = world->used;
            coll_prepare(&part->me, &c, &flight->calls[flight->num]);
            world->used = part->me.used;
            coll_must_call(&part->me, &flight->calls[flight->num], streams[(own >> 16) % STREAMS]);
            flight->parts[flight->num++] = part;
        }
        if (flight->num == AT_ONCE || own % 32 == 1)
            land(world, flight, streams);
    }
    land(world, flight, streams);
    for (uint32_t i = 1; i < PARTS; i++) {
        if (parts[i].me.comm != NULL)
            OK(HcclCommDestroy(parts[i].me.comm));
    }
    for (uint32_t i = 1; i < STREAMS && world->stream != INLINE; i++)
        OK(aclrtDestroyStream(streams[i]));
    free(parts);
    free(flight);
}

static void
choose_seed(uint32_t num)
{
    const char *given = getenv("HCOMM_TEST_SEED");

    seed = given == NULL ? side_now_ms() : strtoull(given, NULL, 0);
    operations = num;
    printf("HCOMM_TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_time_limit(240);
}

TEST(random_operations_between_threads)
{
    choose_seed(OPERATIONS);
    coll_threads(6, many);
}

TEST(random_operations_on_calling_threads)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    choose_seed(OPERATIONS / 10);
    coll_threads(4, many);
}

static void
process(int rank, void *shared)
{
    static struct coll_team team;

    test_time_limit(240);
    team = (struct coll_team){
        .shared = shared, .num = 4, .first = (uint32_t)rank, .here = 1, .body = many};
    coll_team_run(&team);
}

TEST(random_operations_between_processes)
{
    struct procs procs;

    choose_seed(OPERATIONS / 5);
    procs_start(&procs, 4, process, sizeof(struct coll_shared));
    procs_expect_success(&procs);
}
