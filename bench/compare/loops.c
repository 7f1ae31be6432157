/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: the loops. One JSON object a line, from rank 0. */
#include "loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define PAGE 4096u
#define HEAD_START_NS 1000u /* of the receiver of a fresh message */
#define PUTS 1000u          /* per flush */
#define QUEUED 100u         /* round trips per synchronize */
#define FRESH_SEED 1000u
#define FLAG_ROUNDS 200u

/* How often: `rounds` operations make a sample of a static row, fresh ones are single messages. */
static const struct plan {
    size_t len;
    unsigned samples, rounds, fresh;
} plans[] = {
    {8, 60, 100, 400},    {4 * KIB, 60, 60, 400}, {64 * KIB, 60, 10, 200}, {256 * KIB, 60, 4, 120},
    {1 * MIB, 60, 1, 80}, {4 * MIB, 40, 1, 40},   {16 * MIB, 24, 1, 20},
};
#define PLANS (sizeof plans / sizeof plans[0])
#define LARGE 2u /* from here on windows are measured */

static const char *const memory_names[] = {"device", "pinned", "library", "malloc"};

static unsigned
fewer(const struct pair *pair, unsigned count)
{
    return !pair->quick ? count : count / 8 > 5 ? count / 8 : 5;
}

/* ---- rows ---- */

static double
pair_flag_check(const struct pair *pair)
{
    return flag_check(&pair->shared->ball[pair->rank].value,
                      &pair->shared->ball[1 - pair->rank].value, pair->rank == 0);
}

/* Samples are in ns. Both ranks call it at the end of what they have measured. */
static void
row(struct pair *pair, const char *name, size_t bytes, const char *pattern, const char *memory,
    double *samples, unsigned count)
{
    struct result result = {.row = name,
                            .bytes = bytes,
                            .pattern = pattern,
                            .memory = memory,
                            .ranks = 2,
                            .flag_before = pair->flag_ns};

    meet(pair); /* libraries have nothing left to push out */
    pair->flag_ns = result.flag_after = pair_flag_check(pair);
    if (pair->rank == 0)
        result_print(&result, samples, count);
}

/* ---- memory and what is in it ---- */

static void *
mem_alloc(const struct pair *pair, enum memory memory, size_t len)
{
    void *addr = NULL;

    if (memory == MEMORY_MALLOC) {
        if (posix_memalign(&addr, PAGE, len) != 0)
            fail("no memory");
    } else {
        addr = pair->lib->alloc(memory, len);
    }
    memset(addr, 0, len); /* the pages are there */
    return addr;
}

static void
mem_free(const struct pair *pair, enum memory memory, void *addr)
{
    if (memory == MEMORY_MALLOC)
        free(addr);
    else
        pair->lib->release(memory, addr);
}

static void
words_fill(void *buf, size_t len, uint64_t seed)
{
    uint64_t *words = buf;

    for (size_t i = 0; i < len / sizeof *words; i++)
        words[i] = seed + i;
}

/* Reads all of it. */
static void
words_check(const struct pair *pair, const void *buf, size_t len, uint64_t seed, const char *row_of)
{
    const uint64_t *words = buf;
    uint64_t wrong = 0;

    for (size_t i = 0; i < len / sizeof *words; i++)
        wrong |= words[i] ^ (seed + i);
    if (wrong != 0)
        fail("%s: rank %d: wrong data in row %s of %zu bytes", pair->lib->name, pair->rank, row_of,
             len);
}

/* ---- send and receive ---- */

static void
ping_pong(const struct pair *pair, const void *src, void *dst, size_t len, unsigned rounds)
{
    const struct lib *lib = pair->lib;

    for (unsigned i = 0; i < rounds; i++) {
        if (pair->rank == 0) {
            lib->send(src, len);
            lib->recv(dst, len);
        } else {
            lib->recv(dst, len);
            lib->send(src, len);
        }
    }
}

static void
send_static(struct pair *pair, const struct plan *plan, enum memory memory, void *src, void *dst)
{
    unsigned samples = fewer(pair, plan->samples);
    double took[SAMPLES_MOST];

    words_fill(src, plan->len, 1 + (uint64_t)pair->rank);
    memset(dst, 0, plan->len);
    meet(pair);
    ping_pong(pair, src, dst, plan->len, plan->rounds * (samples / 8 + 3));
    for (unsigned i = 0; i < samples; i++) {
        uint64_t start = now_ns();

        ping_pong(pair, src, dst, plan->len, plan->rounds);
        took[i] = (double)(now_ns() - start) / (2.0 * plan->rounds);
    }
    words_check(pair, dst, plan->len, 2 - (uint64_t)pair->rank, "send static");
    row(pair, "send", plan->len, "static", memory_names[memory], took, samples);
}

/* One message; stamps by whoever has them. */
static void
fresh_message(struct pair *pair, int from, size_t len, void *src, void *dst, uint64_t seed,
              struct stamp *stamp)
{
    const struct lib *lib = pair->lib;

    if (pair->rank == from) {
        uint64_t start;

        words_fill(src, len, seed);
        meet(pair);
        for (start = now_ns(); now_ns() - start < HEAD_START_NS;)
            ;
        start = now_ns();
        lib->send(src, len);
        stamp->start = start;
    } else {
        meet(pair);
        lib->recv(dst, len);
        stamp->end = now_ns();
        words_check(pair, dst, len, seed, "send fresh");
    }
}

static void
send_fresh(struct pair *pair, const struct plan *plan, enum memory memory, void *src, void *dst)
{
    unsigned samples = fewer(pair, plan->fresh), warm = samples / 8 + 3;
    struct stamp *own = pair->shared->stamps[pair->rank];
    const struct stamp *other = pair->shared->stamps[1 - pair->rank];
    double took[SAMPLES_MOST];

    for (unsigned i = 0; i < warm + samples; i++) {
        struct stamp stamp = {0};

        for (int from = 0; from < 2; from++)
            fresh_message(pair, from, plan->len, src, dst, FRESH_SEED * i + (uint64_t)from, &stamp);
        if (i >= warm)
            own[i - warm] = stamp;
    }
    meet(pair);
    for (unsigned i = 0; i < samples; i++) {
        uint64_t there = other[i].end - own[i].start, back = own[i].end - other[i].start;

        took[i] = (double)(int64_t)(there + back) / 2;
    }
    row(pair, "send", plan->len, "fresh", memory_names[memory], took, samples);
    meet(pair); /* the stamps have been read */
}

static void
send_rows(struct pair *pair, enum memory memory)
{
    for (size_t i = 0; i < PLANS; i++) {
        void *src = mem_alloc(pair, memory, plans[i].len);
        void *dst = mem_alloc(pair, memory, plans[i].len);

        send_static(pair, &plans[i], memory, src, dst);
        send_fresh(pair, &plans[i], memory, src, dst);
        meet(pair);
        mem_free(pair, memory, src);
        mem_free(pair, memory, dst);
    }
}

static void
queue_row(struct pair *pair, enum memory memory)
{
    unsigned samples = fewer(pair, 60), warm = samples / 8 + 3;
    size_t len = sizeof(uint64_t);
    void *src = mem_alloc(pair, memory, len), *dst = mem_alloc(pair, memory, len);
    double took[SAMPLES_MOST];

    words_fill(src, len, 1 + (uint64_t)pair->rank);
    for (unsigned i = 0; i < warm + samples; i++) {
        uint64_t start;

        meet(pair);
        start = now_ns();
        pair->lib->queue(src, dst, len, QUEUED);
        if (i >= warm)
            took[i - warm] = (double)(now_ns() - start) / (2.0 * QUEUED);
    }
    words_check(pair, dst, len, 2 - (uint64_t)pair->rank, "queued");
    row(pair, "queued", len, "static", memory_names[memory], took, samples);
    meet(pair);
    mem_free(pair, memory, src);
    mem_free(pair, memory, dst);
}

/* ---- windows: rank 0 works, rank 1 waits in meet() ---- */

static void
put_rate_row(struct pair *pair, enum memory memory, void *window)
{
    unsigned samples = fewer(pair, 60), warm = samples / 8 + 3;
    size_t len = sizeof(uint64_t);
    uint64_t *src = mem_alloc(pair, memory, len);
    double took[SAMPLES_MOST];

    *src = FRESH_SEED;
    memset(window, 0, len);
    meet(pair);
    for (unsigned i = 0; pair->rank == 0 && i < warm + samples; i++) {
        uint64_t start = now_ns();

        for (unsigned j = 0; j < PUTS; j++)
            pair->lib->put(src, len);
        pair->lib->flush();
        if (i >= warm)
            took[i - warm] = (double)(now_ns() - start) / PUTS;
    }
    meet(pair);
    pair->lib->flush();
    if (pair->rank == 1)
        words_check(pair, window, len, FRESH_SEED, "put rate");
    row(pair, "put_rate", len, "static", memory_names[memory], took, samples);
    meet(pair);
    mem_free(pair, memory, src);
}

enum what { PUT, GET, MEMCPY, WHATS };

/* What rank 0 does for one row; ns for each sample. */
static void
move_samples(const struct pair *pair, enum what what, const struct plan *plan, void *dst,
             const void *src, double *took, unsigned warm, unsigned samples)
{
    const struct lib *lib = pair->lib;

    for (unsigned i = 0; i < warm + samples; i++) {
        uint64_t start = now_ns();

        for (unsigned j = 0; j < plan->rounds; j++) {
            if (what == PUT) {
                lib->put(src, plan->len);
                lib->flush();
            } else if (what == GET) {
                lib->get(dst, plan->len);
            } else {
                memcpy(dst, src, plan->len);
                __asm__ volatile("" ::"r"(dst), "r"(src) : "memory"); /* each time */
            }
        }
        if (i >= warm)
            took[i - warm] = (double)(now_ns() - start) / plan->rounds;
    }
}

/* Put, get, and one memcpy of that size between private buffers. */
static void
move_rows(struct pair *pair, const struct plan *plan, enum memory memory, void *window)
{
    static const char *const names[WHATS] = {"put", "get", "memcpy"};
    unsigned samples = fewer(pair, plan->samples), warm = samples / 8 + 3;
    void *src[WHATS], *dst[WHATS];
    uint64_t seed = FRESH_SEED + plan->len;
    double took[SAMPLES_MOST];

    memset(window, 0, plan->len);
    for (enum what what = 0; what < WHATS; what++) {
        enum memory kind = what == MEMCPY ? MEMORY_MALLOC : memory;

        src[what] = mem_alloc(pair, kind, plan->len);
        dst[what] = mem_alloc(pair, kind, plan->len);
        words_fill(src[what], plan->len, seed);
        meet(pair);
        if (pair->rank == 0)
            move_samples(pair, what, plan, dst[what], src[what], took, warm, samples);
        row(pair, names[what], plan->len, "static", memory_names[kind], took, samples);
        pair->lib->flush();
        if (pair->rank == 0 && what != PUT)
            words_check(pair, dst[what], plan->len, seed, names[what]);
        if (pair->rank == 1 && what == PUT)
            words_check(pair, window, plan->len, seed, names[what]);
    }
    meet(pair);
    for (enum what what = 0; what < WHATS; what++) {
        enum memory kind = what == MEMCPY ? MEMORY_MALLOC : memory;

        mem_free(pair, kind, src[what]);
        mem_free(pair, kind, dst[what]);
    }
}

static void
floats_check(const struct pair *pair, const float *values, size_t count, float want)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] != want)
            fail("%s: rank %d: accumulated %g, and %g is right", pair->lib->name, pair->rank,
                 (double)values[i], (double)want);
    }
}

/* Accumulate of 1 MiB, and one add of that size between private buffers. */
static void
accumulate_rows(struct pair *pair, enum memory memory, float *window)
{
    unsigned samples = fewer(pair, 60), warm = samples / 8 + 3;
    size_t len = 1 * MIB, count = len / sizeof(float);
    float *src = mem_alloc(pair, memory, len), *from = mem_alloc(pair, MEMORY_MALLOC, len);
    float *to = mem_alloc(pair, MEMORY_MALLOC, len);
    double took[SAMPLES_MOST];

    for (size_t i = 0; i < count; i++)
        from[i] = src[i] = 1;
    memset(window, 0, len);
    for (int add = 0; add < 2; add++) {
        meet(pair);
        for (unsigned i = 0; pair->rank == 0 && i < warm + samples; i++) {
            uint64_t start = now_ns();

            if (add) {
                limit_add(to, from, count);
            } else {
                pair->lib->accumulate(src, count);
                pair->lib->flush();
            }
            if (i >= warm)
                took[i - warm] = (double)(now_ns() - start);
        }
        row(pair, add ? "add" : "accumulate", len, "static",
            memory_names[add ? MEMORY_MALLOC : memory], took, samples);
    }
    pair->lib->flush();
    floats_check(pair, pair->rank == 0 ? to : window, count, (float)(warm + samples));
    meet(pair);
    mem_free(pair, memory, src);
    mem_free(pair, MEMORY_MALLOC, from);
    mem_free(pair, MEMORY_MALLOC, to);
}

static void
window_rows(struct pair *pair, enum memory memory)
{
    void *window = pair->lib->window_open(plans[PLANS - 1].len);

    memset(window, 0, plans[PLANS - 1].len);
    put_rate_row(pair, memory, window);
    for (size_t i = LARGE; i < PLANS; i++)
        move_rows(pair, &plans[i], memory, window);
    if (pair->lib->accumulate != NULL)
        accumulate_rows(pair, memory, window);
    meet(pair);
    pair->lib->window_close();
}

/* ---- the rest ---- */

static void
flag_row(struct pair *pair)
{
    unsigned samples = fewer(pair, 60);
    double took[SAMPLES_MOST];

    meet(pair);
    pair->flag_ns = pair_flag_check(pair);
    for (unsigned i = 0; i < samples; i++)
        took[i] =
            flag_time(&pair->shared->ball[pair->rank].value,
                      &pair->shared->ball[1 - pair->rank].value, pair->rank == 0, FLAG_ROUNDS);
    row(pair, "flag", sizeof(uint32_t), "static", "shared", took, samples);
}

void
loops_main(struct pair *pair, int argc, char **argv)
{
    const struct lib *lib = pair->lib;
    char about[512] = "";

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") != 0)
            fail("unknown argument %s; the only one is --quick", argv[i]);
        pair->quick = true;
    }
    lib->describe(about, sizeof about);
    if (pair->rank == 0)
        printf("{\"about\":\"%s\"}\n", about);
    flag_row(pair);
    for (const enum memory *memory = lib->memories; *memory != MEMORY_KINDS; memory++)
        send_rows(pair, *memory);
    if (lib->queue != NULL)
        queue_row(pair, lib->memories[0]);
    window_rows(pair, lib->memories[0]);
    meet(pair);
}
