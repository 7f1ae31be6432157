/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to go from one rank process to another, beside what two processes can do without a
 * library.
 *
 * process_bench [--json] [--quick] [copy] [notify] [foreign] [crowd]: these parts, or all.
 */
#include "bench/process_bench.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

#define NOTIFIES 2u
#define SPINS 20000u /* then give way: there may be fewer processors than processes */

void
check(int code, const char *what)
{
    if (code == 0)
        return;
    fprintf(stderr, "bench: %s returned %d\n", what, code);
    exit(1);
}

/* ---- ranks ---- */

void
rank_open(struct rank *rank, struct world *world, uint32_t number)
{
    *rank = (struct rank){.world = world, .number = number};
    check(aclInit(NULL), "aclInit");
    check(aclrtSetDevice((int32_t)number), "aclrtSetDevice");
    if (number == 0) {
        check(HcclGetRootInfo(&world->info), "HcclGetRootInfo");
        atomic_store(&world->info_made, 1);
    }
    while (atomic_load(&world->info_made) == 0)
        usleep(100);
    check(HcclCommInitRootInfo(world->num, &world->info, number, &rank->comm),
          "HcclCommInitRootInfo");
    check(HcclGetHcclBuffer(rank->comm, (void **)&rank->buf, &rank->size), "HcclGetHcclBuffer");
    check(HcclThreadAcquire(rank->comm, COMM_ENGINE_CPU_TS, 1, NOTIFIES, &rank->thread),
          "HcclThreadAcquire");
    check(HcclThreadResGetInfo(rank->comm, rank->thread, THREAD_RES_TYPE_STREAM,
                               sizeof rank->stream, (void **)&rank->stream),
          "HcclThreadResGetInfo");
}

void
rank_close(struct rank *rank)
{
    pthread_barrier_wait(&rank->world->barrier);
    check(HcclCommDestroy(rank->comm), "HcclCommDestroy");
    check(aclrtResetDeviceForce((int32_t)rank->number), "aclrtResetDeviceForce");
    check(aclFinalize(), "aclFinalize");
}

void
rank_ways(struct rank *rank, CommEngine engine, const uint32_t *peers, uint32_t num,
          HcclMemHandle *mem, struct way *ways)
{
    HcclChannelDesc *descs = calloc(num, sizeof *descs);
    ChannelHandle *channels = calloc(num, sizeof *channels);
    uint64_t size;

    if (descs == NULL || channels == NULL)
        exit(1);
    check(HcclChannelDescInit(descs, num), "HcclChannelDescInit");
    for (uint32_t i = 0; i < num; i++) {
        descs[i].remoteRank = peers[i];
        descs[i].channelProtocol =
            engine == COMM_ENGINE_CPU ? COMM_PROTOCOL_ROCE : COMM_PROTOCOL_HCCS;
        descs[i].notifyNum = NOTIFIES;
        descs[i].memHandles = mem;
        descs[i].memHandleNum = mem == NULL ? 0 : 1;
    }
    check(HcclChannelAcquire(rank->comm, engine, descs, num, channels), "HcclChannelAcquire");
    for (uint32_t i = 0; i < num; i++) {
        ways[i].channel = channels[i];
        check(HcclChannelGetHcclBuffer(rank->comm, channels[i], (void **)&ways[i].peer_buf, &size),
              "HcclChannelGetHcclBuffer");
    }
    free(descs);
    free(channels);
}

/* ---- a pair in step ---- */

static void
spin_until(const atomic_uint *word, unsigned value)
{
    for (unsigned spins = 0; atomic_load_explicit(word, memory_order_acquire) != value; spins++) {
        if (spins >= SPINS)
            sched_yield();
    }
}

static void
pair_start(struct world *world, enum ask ask, uint64_t len)
{
    world->ask = ask;
    world->len = len;
    atomic_fetch_add(&world->asked, 1);
}

static void
pair_finish(struct world *world)
{
    spin_until(&world->done, atomic_load(&world->asked));
}

void
pair_ask(struct world *world, enum ask ask, uint64_t offset, uint64_t len)
{
    world->offset = offset;
    pair_start(world, ask, len);
    pair_finish(world);
}

void
pair_echo_start(struct world *world, int echo, uint64_t rounds)
{
    world->echo = echo;
    pair_start(world, ASK_ECHO, rounds);
}

void
pair_echo_finish(struct world *world)
{
    pair_finish(world);
}

void
pair_serve(struct rank *rank, void (*echo)(void *arg, int which, uint64_t rounds), void *arg)
{
    struct world *world = rank->world;
    enum ask ask;

    do {
        spin_until(&world->asked, atomic_load(&world->done) + 1);
        ask = world->ask;
        if (ask == ASK_FILL)
            touch_fill(rank->buf + world->offset, world->len);
        else if (ask == ASK_READ)
            touch_read(rank->buf + world->offset, world->len);
        else if (ask == ASK_ECHO)
            echo(arg, world->echo, world->len);
        atomic_fetch_add(&world->done, 1);
    } while (ask != ASK_END);
}

void
touch_fill(void *at, uint64_t len)
{
    static uint64_t seed;
    volatile uint64_t *words = at;

    seed++;
    for (uint64_t i = 0; i < len / sizeof *words; i++)
        words[i] = seed + i;
}

void
touch_read(const void *at, uint64_t len)
{
    const volatile uint64_t *words = at;

    for (uint64_t i = 0; i < len / sizeof *words; i++)
        (void)words[i];
}

const char *
size_name(uint64_t len)
{
    static char name[32];

    if (len >= 1u << 20)
        snprintf(name, sizeof name, "%llu MiB", (unsigned long long)(len >> 20));
    else
        snprintf(name, sizeof name, "%llu KiB", (unsigned long long)(len >> 10));
    return name;
}

void
world_row(struct world *world, const char *name, const char *unit, const double *samples,
          size_t count, double limit)
{
    struct row *row = &world->rows[world->row_num];

    if (world->row_num == ROWS_MOST || count > SAMPLES_MOST) {
        fprintf(stderr, "bench: too many rows or samples at \"%s\"\n", name);
        exit(1);
    }
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    memcpy(row->samples, samples, count * sizeof *samples);
    row->count = count;
    row->limit = limit;
    world->row_num++;
}

/* ---- processes ---- */

static struct world *
world_make(uint32_t num)
{
    struct world *world =
        mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attr;

    if (world == MAP_FAILED)
        check(1, "mmap");
    world->num = num;
    check(pthread_barrierattr_init(&attr), "pthread_barrierattr_init");
    check(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), "setpshared");
    check(pthread_barrier_init(&world->barrier, &attr, num), "pthread_barrier_init");
    pthread_barrierattr_destroy(&attr);
    return world;
}

static pid_t
fork_rank(struct world *world, uint32_t rank, void (*part)(struct world *world, uint32_t rank))
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        check(1, "fork");
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (world->num == 2)
        bench_pin((int)rank);
    part(world, rank);
    exit(0);
}

void
run_ranks(uint32_t num, void (*part)(struct world *world, uint32_t rank))
{
    struct world *world = world_make(num);
    pid_t *pids = calloc(num, sizeof *pids);

    if (pids == NULL)
        exit(1);
    for (uint32_t i = 0; i < num; i++)
        pids[i] = fork_rank(world, i, part);
    for (uint32_t left = num; left > 0; left--) {
        int status;
        pid_t ended = wait(&status);

        if (status != 0) {
            fprintf(stderr, "bench: a rank has failed (status %d)\n", status);
            for (uint32_t i = 0; i < num; i++) {
                if (pids[i] != ended && pids[i] != 0)
                    kill(pids[i], SIGKILL);
            }
            exit(1);
        }
        for (uint32_t i = 0; i < num; i++) {
            if (pids[i] == ended)
                pids[i] = 0;
        }
    }
    for (uint32_t i = 0; i < world->row_num; i++) {
        struct row *row = &world->rows[i];

        if (row->limit > 0)
            bench_row_against(row->name, row->unit, row->samples, row->count, row->limit);
        else
            bench_row(row->name, row->unit, row->samples, row->count);
    }
    free(pids);
    munmap(world, sizeof *world);
}

static void
run_foreign(void)
{
    static const char *const paths[] = {"bounce", "cma"};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        setenv("HCOMM_FOREIGN", paths[i], 1);
        run_ranks(2, foreign_part);
    }
    unsetenv("HCOMM_FOREIGN");
}

static void
run_crowds(void)
{
    setenv("HCCL_BUFFSIZE", "1", 1);
    for (uint32_t num = 8; num <= (bench_quick() ? 8u : 64u); num *= 2)
        run_ranks(num, crowd_part);
}

/* Whether `part` was named among the arguments, or none was. */
static bool
wanted(int argc, char **argv, const char *part)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], part) == 0)
            return true;
        any = any || argv[i][0] != '-';
    }
    return !any;
}

int
main(int argc, char **argv)
{
    setenv("HCCL_IF_IP", "127.0.0.1", 0);
    setenv("HCOMM_DEVICE_COUNT", "64", 1);
    setenv("HCOMM_DEVICE_MEMORY", "1024", 1); /* addresses are short under sanitizers */
    setenv("HCCL_BUFFSIZE", "64", 1); /* twice 64 MiB: a half to send from, one to receive in */
    bench_begin(argc, argv);
    if (wanted(argc, argv, "copy"))
        run_ranks(2, copy_part);
    if (wanted(argc, argv, "notify"))
        run_ranks(2, notify_part);
    if (wanted(argc, argv, "foreign"))
        run_foreign();
    if (wanted(argc, argv, "crowd"))
        run_crowds();
    bench_end();
    return 0;
}
