/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll: collective operations as data, and a plain reference for each.
 *
 *     struct coll c = {.kind = ALL_REDUCE, .type = HCCL_DATA_TYPE_FP32, .count = 1025};
 *     coll_run(me, &c);    every rank: fills its buffers, calls, waits, compares
 *
 * What a rank sends is a function of (seed, rank, index), so that every rank can say alone what it
 * must receive: coll_expect() cuts the result into segments, each of which is a piece of one rank's
 * input or the reduction of a piece of all ranks' inputs. Inputs repeat after PERIOD elements, a
 * prime, so that long results are compared at the speed of memcmp.
 *
 * Operations that move data get random bits whatever the type is; those that reduce get numbers on
 * which every partial result, in any order, is exact in the type. Integers are random: they wrap.
 *
 * Beside the result these must be as they were: what is sent (unless in place), the gaps between
 * the parts of a result, a line before and after each buffer.
 */
#ifndef HC_TESTS_COLL_H
#define HC_TESTS_COLL_H

#include <math.h>

#include "hccl/hccl.h"
#include "tests/support/two_sided.h"

#define COLL_MOST 64u /* ranks */
#define PERIOD 1021u
#define COLL_LINE 64u
#define UNTOUCHED 0xA5

#define INT8 HCCL_DATA_TYPE_INT8
#define INT16 HCCL_DATA_TYPE_INT16
#define INT32 HCCL_DATA_TYPE_INT32
#define INT64 HCCL_DATA_TYPE_INT64
#define FP16 HCCL_DATA_TYPE_FP16
#define FP32 HCCL_DATA_TYPE_FP32
#define FP64 HCCL_DATA_TYPE_FP64
#define BFP16 HCCL_DATA_TYPE_BFP16
#define SUM HCCL_REDUCE_SUM
#define PROD HCCL_REDUCE_PROD
#define MAX HCCL_REDUCE_MAX
#define MIN HCCL_REDUCE_MIN

enum coll_kind {
    ALL_REDUCE,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_V,
    BROADCAST,
    SCATTER,
    ALL_GATHER,
    ALL_GATHER_V,
    ALL_TO_ALL,
    ALL_TO_ALL_V,
    ALL_TO_ALL_VC,
    BARRIER,
    COLL_KINDS
};

/* Of the v kinds, `count` is what a part has on average. */
struct coll {
    enum coll_kind kind;
    HcclDataType type;
    HcclReduceOp op;
    uint64_t count;
    uint32_t root;
    bool in_place;  /* where the interface allows it */
    uint32_t shift; /* bytes from a line to each buffer */
    uint64_t seed;
};

static const char *const coll_names[COLL_KINDS] = {
    "HcclAllReduce", "HcclReduce",    "HcclReduceScatter", "HcclReduceScatterV",
    "HcclBroadcast", "HcclScatter",   "HcclAllGather",     "HcclAllGatherV",
    "HcclAlltoAll",  "HcclAlltoAllV", "HcclAlltoAllVC",    "HcclBarrier"};

/* ---- types ---- */

enum coll_number { NOTHING, SIGNED, UNSIGNED, REAL, BITS };

/* Of reals, `digits` are those of the significand and `bias` that of the exponent. */
struct coll_type {
    const char *name;
    uint32_t size;
    enum coll_number number; /* BITS: cannot be reduced */
    int digits, bias;
};

#define COLL_TYPES 18

static const struct coll_type coll_types[COLL_TYPES] = {
    [HCCL_DATA_TYPE_INT8] = {"int8", 1, SIGNED, 0, 0},
    [HCCL_DATA_TYPE_INT16] = {"int16", 2, SIGNED, 0, 0},
    [HCCL_DATA_TYPE_INT32] = {"int32", 4, SIGNED, 0, 0},
    [HCCL_DATA_TYPE_FP16] = {"fp16", 2, REAL, 11, 15},
    [HCCL_DATA_TYPE_FP32] = {"fp32", 4, REAL, 24, 127},
    [HCCL_DATA_TYPE_INT64] = {"int64", 8, SIGNED, 0, 0},
    [HCCL_DATA_TYPE_UINT64] = {"uint64", 8, UNSIGNED, 0, 0},
    [HCCL_DATA_TYPE_UINT8] = {"uint8", 1, UNSIGNED, 0, 0},
    [HCCL_DATA_TYPE_UINT16] = {"uint16", 2, UNSIGNED, 0, 0},
    [HCCL_DATA_TYPE_UINT32] = {"uint32", 4, UNSIGNED, 0, 0},
    [HCCL_DATA_TYPE_FP64] = {"fp64", 8, REAL, 53, 1023},
    [HCCL_DATA_TYPE_BFP16] = {"bfp16", 2, REAL, 8, 127},
    [HCCL_DATA_TYPE_INT128] = {"int128", 16, SIGNED, 0, 0},
    [HCCL_DATA_TYPE_HIF8] = {"hif8", 1, BITS, 0, 0},
    [HCCL_DATA_TYPE_FP8E4M3] = {"fp8e4m3", 1, REAL, 4, 7},
    [HCCL_DATA_TYPE_FP8E5M2] = {"fp8e5m2", 1, REAL, 3, 15},
    [HCCL_DATA_TYPE_FP8E8M0] = {"fp8e8m0", 1, BITS, 0, 0},
};

static const char *const coll_ops[] = {"sum", "prod", "max", "min"};

static inline bool
coll_reduces(enum coll_kind kind)
{
    return kind <= REDUCE_SCATTER_V;
}

static inline bool
coll_has_root(enum coll_kind kind)
{
    return kind == REDUCE || kind == BROADCAST || kind == SCATTER;
}

static inline bool
coll_may_be_in_place(enum coll_kind kind)
{
    return kind == ALL_REDUCE || kind == REDUCE || kind == REDUCE_SCATTER || kind == SCATTER ||
           kind == ALL_GATHER;
}

/* Whether there is such an operation on such a type. */
static inline bool
coll_exists(enum coll_kind kind, int type)
{
    enum coll_number number = coll_types[type].number;

    return number != NOTHING && (number != BITS || !coll_reduces(kind));
}

__extension__ typedef __int128 coll_wide;
__extension__ typedef unsigned __int128 coll_uwide;

/* The low bytes of `value` as the type reads them. */
static inline coll_wide
coll_narrow(coll_uwide value, const struct coll_type *type)
{
    int unused = (int)(16 - type->size) * 8;

    value <<= unused;
    return type->number == SIGNED ? (coll_wide)value >> unused : (coll_wide)(value >> unused);
}

/* The code of a number that the type holds exactly. */
static inline uint64_t
coll_encode(double value, const struct coll_type *type)
{
    int stored = type->digits - 1, exponent = 0;
    uint64_t sign = value < 0 ? (uint64_t)1 << (type->size * 8 - 1) : 0, code;
    double significand, digits;

    if (value == 0)
        return 0;
    significand = frexp(fabs(value), &exponent); /* in [0.5, 1) */
    digits = ldexp(significand, type->digits);
    MUST(digits == floor(digits) && exponent - 1 + type->bias > 0);
    code = (uint64_t)digits - ((uint64_t)1 << stored);
    return sign | code | (uint64_t)(exponent - 1 + type->bias) << stored;
}

static inline uint64_t
coll_hash(uint64_t seed, uint64_t a, uint64_t b)
{
    return mixed(mixed(seed * 0x9E3779B97F4A7C15u + a) + b * 0xD1342543DE82EF95u);
}

/* What rank `from` of `num` has at `index`, if it is a real that is to be reduced. */
static inline double
coll_real(const struct coll *c, uint32_t num, uint32_t from, uint64_t index)
{
    const struct coll_type *type = &coll_types[c->type];
    uint64_t hash = coll_hash(c->seed, from, index);
    uint64_t exact = (uint64_t)1 << (type->digits < 24 ? type->digits : 24);
    uint64_t parts = c->op == PROD ? 5 : exact; /* so many ranks matter, each time others */
    static const double factors[] = {1, 2, 0.5, -1, -2, -0.5, 3, -3};
    uint64_t most;

    if (c->op == MAX || c->op == MIN)
        return (double)(int64_t)(hash % (2 * exact + 1)) - (double)exact;
    if (num > parts && (from + index * 11) % num >= parts)
        return c->op == PROD ? 1 : 0;
    if (c->op == PROD)
        return factors[hash % (type->digits < 8 ? 6 : 8)];
    most = exact / (num < parts ? num : parts);
    return (double)(int64_t)(hash % (2 * most + 1)) - (double)most;
}

/* What rank `from` of `num` sends at `index`, in memory. */
static inline void
coll_element(const struct coll *c, uint32_t num, uint32_t from, uint64_t index, void *out)
{
    const struct coll_type *type = &coll_types[c->type];
    uint64_t words[2];

    index %= PERIOD;
    if (coll_reduces(c->kind) && type->number == REAL) {
        words[0] = coll_encode(coll_real(c, num, from, index), type);
    } else {
        words[0] = coll_hash(c->seed, from, index);
        words[1] = mixed(words[0]);
    }
    memcpy(out, words, type->size);
}

/* The reduction over all ranks at `index`, in memory. */
static inline void
coll_reduced(const struct coll *c, uint32_t num, uint64_t index, void *out)
{
    const struct coll_type *type = &coll_types[c->type];
    coll_wide sum = 0;
    double real = 0;
    uint64_t code;

    index %= PERIOD;
    for (uint32_t from = 0; from < num && type->number == REAL; from++) {
        double x = coll_real(c, num, from, index);

        if (from == 0)
            real = x;
        else if (c->op == SUM)
            real += x;
        else if (c->op == PROD)
            real *= x;
        else
            real = c->op == MAX ? fmax(real, x) : fmin(real, x);
    }
    for (uint32_t from = 0; from < num && type->number != REAL; from++) {
        coll_uwide bits = 0;
        coll_wide x;

        coll_element(c, num, from, index, &bits);
        x = coll_narrow(bits, type);
        if (from == 0)
            sum = x;
        else if (c->op == SUM)
            sum = coll_narrow((coll_uwide)sum + (coll_uwide)x, type);
        else if (c->op == PROD)
            sum = coll_narrow((coll_uwide)sum * (coll_uwide)x, type);
        else if (c->op == MAX ? x > sum : x < sum)
            sum = x;
    }
    if (type->number == REAL) {
        code = coll_encode(real, type);
        memcpy(out, &code, type->size);
    } else {
        memcpy(out, &sum, type->size);
    }
}

/* ---- what goes where ---- */

/* Elements that `from` has for `to`. */
static inline uint64_t
coll_part(const struct coll *c, uint32_t from, uint32_t to)
{
    uint64_t hash;

    if (c->kind == ALL_GATHER_V)
        to = 0;
    else if (c->kind == REDUCE_SCATTER_V)
        from = 0;
    else if (c->kind != ALL_TO_ALL_V && c->kind != ALL_TO_ALL_VC)
        return c->count;
    hash = coll_hash(c->seed + 1, from, to);
    if (hash % 5 == 0)
        return 0;
    return hash % 5 == 1 ? c->count : mixed(hash) % (2 * c->count + 1);
}

/* Where parts of these sizes are: one after the other, or in the kinds with displacements with gaps
 * and the other way round. Returns where the last one ends. */
static inline uint64_t
coll_place(const struct coll *c, uint32_t num, const uint64_t *parts, uint64_t *places)
{
    bool loose = c->kind == ALL_GATHER_V || c->kind == REDUCE_SCATTER_V || c->kind == ALL_TO_ALL_V;
    uint64_t end = 0;

    for (uint32_t i = 0; i < num; i++) {
        uint32_t part = loose && c->seed % 2 == 1 ? num - 1 - i : i;

        if (loose && c->seed % 3 != 0)
            end += coll_hash(c->seed + 2, part, 0) % 4;
        places[part] = end;
        end += parts[part];
    }
    return end;
}

/* What one rank passes. Arrays are indexed by rank. */
struct coll_layout {
    uint64_t sends, recvs;                      /* elements of the buffers */
    uint64_t out[COLL_MOST], out_at[COLL_MOST]; /* parts of what is sent */
    uint64_t in[COLL_MOST], in_at[COLL_MOST];   /* parts of the result */
};

static inline void
coll_lay_out(const struct coll *c, uint32_t num, uint32_t rank, struct coll_layout *layout)
{
    for (uint32_t i = 0; i < num; i++) {
        layout->out[i] = coll_part(c, rank, i);
        layout->in[i] = coll_part(c, i, rank);
    }
    layout->sends = coll_place(c, num, layout->out, layout->out_at);
    layout->recvs = coll_place(c, num, layout->in, layout->in_at);
    switch (c->kind) {
    case ALL_REDUCE:
    case REDUCE:
    case BROADCAST:
        layout->sends = layout->recvs = c->count;
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_V:
        layout->recvs = layout->out[rank];
        break;
    case SCATTER:
        layout->recvs = c->count;
        if (rank != c->root)
            layout->sends = 0;
        break;
    case ALL_GATHER:
    case ALL_GATHER_V:
        layout->sends = layout->in[rank];
        break;
    case BARRIER:
        layout->sends = layout->recvs = 0;
        break;
    default:
        break;
    }
}

#define OF_ALL UINT32_MAX

/* A piece of a result: the input of `from` at `in_at`, or the reduction there. */
struct coll_segment {
    uint64_t at, count;
    uint32_t from;
    uint64_t in_at;
};

/* The reference: at most `num` segments, in the order of `at` or not. */
static inline uint32_t
coll_expect(const struct coll *c, uint32_t num, uint32_t rank, struct coll_segment *segments)
{
    struct coll_layout mine, theirs;
    uint32_t made = 0;

    coll_lay_out(c, num, rank, &mine);
    switch (c->kind) {
    case BARRIER:
        return 0;
    case ALL_REDUCE:
    case REDUCE:
        segments[0] = (struct coll_segment){0, c->count, OF_ALL, 0};
        return c->kind == ALL_REDUCE || rank == c->root ? 1 : 0;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_V:
        segments[0] = (struct coll_segment){0, mine.out[rank], OF_ALL, mine.out_at[rank]};
        return 1;
    case BROADCAST:
        segments[0] = (struct coll_segment){0, c->count, c->root, 0};
        return 1;
    case SCATTER:
        segments[0] = (struct coll_segment){0, c->count, c->root, rank * c->count};
        return 1;
    case ALL_GATHER:
    case ALL_GATHER_V:
        for (; made < num; made++)
            segments[made] = (struct coll_segment){mine.in_at[made], mine.in[made], made, 0};
        return made;
    default: /* all-to-all */
        for (; made < num; made++) {
            coll_lay_out(c, num, made, &theirs);
            segments[made] = (struct coll_segment){mine.in_at[made], theirs.out[rank], made,
                                                   theirs.out_at[rank]};
        }
        return made;
    }
}

/* ---- a rank, and what it does ---- */

struct coll_shared {
    HcclRootInfo info;
    atomic_int made;
    atomic_int turns[8];
    _Atomic uint64_t words[SIDES_SHARED];
};

struct coll_rank {
    HcclComm comm;
    uint32_t rank, num;
    struct coll_shared *shared;
    aclrtStream stream; /* what coll_run() takes */
    uint8_t *memory;    /* of the device; pieces are taken by coll_prepare() */
    size_t room, used;
};

/* One operation of one rank. */
struct coll_call {
    struct coll c;
    struct coll_layout layout;
    uint8_t *send, *recv;
    uint8_t *taken[2]; /* the buffers: in place it is one */
    uint64_t taken_len[2];
    uint32_t taken_num;
    uint64_t *arrays; /* counts and displacements */
};

/* "rank 1 of 3: HcclReduce fp32 sum, count 5, root 2, ..." */
static inline void
coll_say(const struct coll_rank *me, const struct coll *c, char *text, size_t len)
{
    const char *engine = getenv("HCOMM_COLL_ENGINE"), *algo = getenv("HCOMM_COLL_ALGO");

    snprintf(text, len,
             "rank %u of %u: %s, %s%s%s, count %llu, root %u, seed %llu, shift %u%s%s, engine %s, "
             "algorithm %s",
             me->rank, me->num, coll_names[c->kind], coll_types[c->type].name,
             coll_reduces(c->kind) ? " " : "", coll_reduces(c->kind) ? coll_ops[c->op] : "",
             (unsigned long long)c->count, c->root, (unsigned long long)c->seed, c->shift,
             c->in_place ? ", in place" : "", me->stream == INLINE ? ", inline" : "",
             engine == NULL ? "default" : engine, algo == NULL ? "auto" : algo);
}

static inline void
coll_hex(const uint8_t *element, uint32_t size, char *text)
{
    for (uint32_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", element[size - 1 - i]);
}

/* `have` is `count` elements that repeat `table` from `phase` on; else says which is not. */
static inline void
coll_compare(const struct coll_rank *me, const struct coll *c, const char *what, uint32_t from,
             uint64_t at, const uint8_t *have, uint64_t count, const uint8_t *table, uint64_t phase)
{
    uint32_t size = coll_types[c->type].size;
    uint64_t wrong = 0, first = 0;
    char text[400], got[40], want[40];

    for (uint64_t i = 0, piece; i < count; i += piece) {
        uint64_t place = (phase + i) % PERIOD;

        piece = count - i < PERIOD - place ? count - i : PERIOD - place;
        if (memcmp(have + i * size, table + place * size, piece * size) == 0)
            continue;
        for (uint64_t j = 0; j < piece; j++) {
            if (memcmp(have + (i + j) * size, table + (place + j) * size, size) == 0)
                continue;
            first = wrong == 0 ? i + j : first;
            wrong++;
        }
    }
    if (wrong == 0)
        return;
    coll_say(me, c, text, sizeof text);
    coll_hex(have + first * size, size, got);
    coll_hex(table + (phase + first) % PERIOD * size, size, want);
    fprintf(stderr, "%s: element %llu of %s (", text, (unsigned long long)(at + first), what);
    if (from == OF_ALL)
        fprintf(stderr, "reduced");
    else
        fprintf(stderr, "from rank %u", from);
    fprintf(stderr, ") is 0x%s, expected 0x%s; %llu of %llu are wrong\n", got, want,
            (unsigned long long)wrong, (unsigned long long)count);
    abort();
}

/* Fills in the part of a table that `count` elements from `at` on need. */
static inline void
coll_table(const struct coll *c, uint32_t num, uint32_t from, uint64_t at, uint64_t count,
           uint8_t *table)
{
    uint32_t size = coll_types[c->type].size;

    for (uint64_t i = 0; i < count && i < PERIOD; i++) {
        uint64_t place = (at + i) % PERIOD;

        if (from == OF_ALL)
            coll_reduced(c, num, place, table + place * size);
        else
            coll_element(c, num, from, place, table + place * size);
    }
}

/* What rank `me` sends. */
static inline void
coll_fill(const struct coll_rank *me, const struct coll *c, uint8_t *to, uint64_t count)
{
    uint32_t size = coll_types[c->type].size;
    uint8_t table[PERIOD * 16];

    coll_table(c, me->num, me->rank, 0, count, table);
    for (uint64_t i = 0; i < count; i += PERIOD)
        memcpy(to + i * size, table, (count - i < PERIOD ? count - i : PERIOD) * size);
}

/* A buffer with a line before and after it; all UNTOUCHED. */
static inline uint8_t *
coll_take(struct coll_rank *me, struct coll_call *call, uint64_t count)
{
    const struct coll *c = &call->c;
    uint64_t len = count * coll_types[c->type].size;
    uint8_t *buf = me->memory + me->used;
    size_t took = (2 * COLL_LINE + c->shift + len + COLL_LINE - 1) / COLL_LINE * COLL_LINE;

    MUST(me->used + took <= me->room);
    memset(buf, UNTOUCHED, took);
    me->used += took;
    call->taken[call->taken_num] = buf + COLL_LINE + c->shift;
    call->taken_len[call->taken_num] = len;
    return call->taken[call->taken_num++];
}

static inline bool
coll_has_send(const struct coll_call *call, const struct coll_rank *me)
{
    enum coll_kind kind = call->c.kind;

    return kind != BROADCAST && kind != BARRIER && (kind != SCATTER || me->rank == call->c.root);
}

/* Buffers and arrays of one operation. */
static inline void
coll_prepare(struct coll_rank *me, const struct coll *c, struct coll_call *call)
{
    uint32_t size = coll_types[c->type].size, num = me->num, rank = me->rank;
    struct coll_layout *layout = &call->layout;
    uint64_t slice = rank * c->count * size;

    *call = (struct coll_call){.c = *c};
    coll_lay_out(c, num, rank, layout);
    if (c->kind == BARRIER)
        return;
    if (c->in_place && c->kind == ALL_GATHER) {
        call->recv = coll_take(me, call, layout->recvs);
        call->send = call->recv + slice;
    } else if (c->in_place && coll_has_send(call, me)) {
        call->send = coll_take(me, call, layout->sends);
        call->recv = call->send + (c->kind == REDUCE_SCATTER || c->kind == SCATTER ? slice : 0);
    } else {
        call->send = coll_has_send(call, me) ? coll_take(me, call, layout->sends) : NULL;
        call->recv = coll_take(me, call, layout->recvs);
    }
    if (call->send != NULL)
        coll_fill(me, c, call->send, layout->sends);
    else if (c->kind == BROADCAST && rank == c->root)
        coll_fill(me, c, call->recv, c->count);
    call->arrays = malloc((4 * COLL_MOST + (size_t)num * num) * sizeof(uint64_t));
    MUST(call->arrays != NULL);
}

/* The call itself. Arrays are read before it returns, so they are spoiled then. */
static inline HcclResult
coll_call(struct coll_rank *me, struct coll_call *call, aclrtStream stream)
{
    const struct coll *c = &call->c;
    const struct coll_layout *layout = &call->layout;
    uint64_t *out = call->arrays, *out_at = out + COLL_MOST, *in = out_at + COLL_MOST;
    uint64_t *in_at = in + COLL_MOST, *matrix = in_at + COLL_MOST;
    size_t words = 4 * COLL_MOST + (size_t)me->num * me->num;
    HcclComm comm = me->comm;
    HcclResult rc;

    if (c->kind == BARRIER)
        return HcclBarrier(comm, stream);
    memcpy(out, layout->out, sizeof layout->out);
    memcpy(out_at, layout->out_at, sizeof layout->out_at);
    memcpy(in, layout->in, sizeof layout->in);
    memcpy(in_at, layout->in_at, sizeof layout->in_at);
    for (uint32_t i = 0; i < me->num * me->num; i++)
        matrix[i] = coll_part(c, i / me->num, i % me->num);
    switch (c->kind) {
    case ALL_REDUCE:
        rc = HcclAllReduce(call->send, call->recv, c->count, c->type, c->op, comm, stream);
        break;
    case REDUCE:
        rc = HcclReduce(call->send, call->recv, c->count, c->type, c->op, c->root, comm, stream);
        break;
    case REDUCE_SCATTER:
        rc = HcclReduceScatter(call->send, call->recv, c->count, c->type, c->op, comm, stream);
        break;
    case REDUCE_SCATTER_V:
        rc = HcclReduceScatterV(call->send, out, out_at, call->recv, layout->recvs, c->type, c->op,
                                comm, stream);
        break;
    case BROADCAST:
        rc = HcclBroadcast(call->recv, c->count, c->type, c->root, comm, stream);
        break;
    case SCATTER:
        rc = HcclScatter(call->send, call->recv, c->count, c->type, c->root, comm, stream);
        break;
    case ALL_GATHER:
        rc = HcclAllGather(call->send, call->recv, c->count, c->type, comm, stream);
        break;
    case ALL_GATHER_V:
        rc =
            HcclAllGatherV(call->send, layout->sends, call->recv, in, in_at, c->type, comm, stream);
        break;
    case ALL_TO_ALL:
        rc = HcclAlltoAll(call->send, c->count, c->type, call->recv, c->count, c->type, comm,
                          stream);
        break;
    case ALL_TO_ALL_V:
        rc = HcclAlltoAllV(call->send, out, out_at, c->type, call->recv, in, in_at, c->type, comm,
                           stream);
        break;
    default:
        rc = HcclAlltoAllVC(call->send, matrix, c->type, call->recv, c->type, comm, stream);
    }
    memset(call->arrays, 0xEE, words * sizeof *call->arrays);
    return rc;
}

/* `len` bytes nobody should have written. */
static inline void
coll_untouched(const struct coll_rank *me, const struct coll *c, const char *what,
               const uint8_t *at, uint64_t len)
{
    char text[400];

    if (is_all(at, len, UNTOUCHED))
        return;
    coll_say(me, c, text, sizeof text);
    for (uint64_t i = 0; i < len; i++) {
        if (at[i] != UNTOUCHED) {
            fprintf(stderr, "%s: %s was written: byte %llu of %llu is 0x%02x\n", text, what,
                    (unsigned long long)i, (unsigned long long)len, at[i]);
            abort();
        }
    }
}

/* The result is that of the reference, and nothing else was written. */
static inline void
coll_check(struct coll_rank *me, struct coll_call *call)
{
    const struct coll *c = &call->c;
    const struct coll_layout *layout = &call->layout;
    struct coll_segment segments[COLL_MOST];
    uint32_t size = coll_types[c->type].size, num;
    bool apart = !c->in_place || !coll_has_send(call, me);
    uint8_t table[PERIOD * 16];
    uint64_t end = 0;

    if (c->kind == BARRIER)
        return;
    num = coll_expect(c, me->num, me->rank, segments);
    for (uint32_t i = 0; i < num; i++) {
        const struct coll_segment *is = &segments[i];

        coll_table(c, me->num, is->from, is->in_at, is->count, table);
        coll_compare(me, c, "the result", is->from, is->at, call->recv + is->at * size, is->count,
                     table, is->in_at);
    }
    if (call->send != NULL && (apart || num == 0)) {
        coll_table(c, me->num, me->rank, 0, layout->sends, table);
        coll_compare(me, c, "what was sent", me->rank, 0, call->send, layout->sends, table, 0);
    }
    for (uint32_t i = 0; i < call->taken_num; i++) {
        coll_untouched(me, c, "the line before a buffer", call->taken[i] - COLL_LINE, COLL_LINE);
        coll_untouched(me, c, "the line after a buffer", call->taken[i] + call->taken_len[i],
                       COLL_LINE);
    }
    for (uint32_t done = 0; apart && done < num; done++) { /* gaps: segments in order of place */
        const struct coll_segment *next = NULL;

        for (uint32_t i = 0; i < num; i++) {
            if (segments[i].at >= end && segments[i].count > 0 &&
                (next == NULL || segments[i].at < next->at))
                next = &segments[i];
        }
        if (next == NULL)
            break;
        coll_untouched(me, c, "a gap in the result", call->recv + end * size,
                       (next->at - end) * size);
        end = next->at + next->count;
    }
    if (apart)
        coll_untouched(me, c, "what is after the result", call->recv + end * size,
                       (layout->recvs - end) * size);
}

/* Gives back what coll_prepare() took. */
static inline void
coll_drop(struct coll_call *call)
{
    free(call->arrays);
    call->arrays = NULL;
}

/* A call that must succeed. */
static inline void
coll_must_call(struct coll_rank *me, struct coll_call *call, aclrtStream stream)
{
    HcclResult rc = coll_call(me, call, stream);
    char text[400];

    if (rc == HCCL_SUCCESS)
        return;
    coll_say(me, &call->c, text, sizeof text);
    fprintf(stderr, "%s: returned %d\n", text, (int)rc);
    abort();
}

static inline void
coll_must_end(struct coll_rank *me, const struct coll *c, aclrtStream stream)
{
    aclError rc = stream == INLINE ? ACL_SUCCESS : aclrtSynchronizeStream(stream);
    char text[400];

    if (rc == ACL_SUCCESS)
        return;
    coll_say(me, c, text, sizeof text);
    fprintf(stderr, "%s: aclrtSynchronizeStream returned %d\n", text, (int)rc);
    abort();
}

/* The whole of one operation. */
static inline void
coll_run(struct coll_rank *me, const struct coll *c)
{
    struct coll_call call;
    size_t used = me->used;

    coll_prepare(me, c, &call);
    coll_must_call(me, &call, me->stream);
    coll_must_end(me, c, me->stream);
    coll_check(me, &call);
    coll_drop(&call);
    me->used = used;
}

#define COLL_NUMBER(array) (sizeof(array) / sizeof(array)[0])

/* Every kind, each with another type and reduction as `turn` goes on. */
static inline void
coll_run_each(struct coll_rank *me, uint64_t count, uint64_t turn)
{
    static const HcclDataType types[] = {INT32, FP32, FP16, INT8, FP64, BFP16, INT64};

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        uint64_t seed = turn * COLL_KINDS + (uint64_t)kind;
        struct coll c = {.kind = (enum coll_kind)kind,
                         .type = types[seed % COLL_NUMBER(types)],
                         .op = (HcclReduceOp)(seed % 4),
                         .count = count,
                         .root = (uint32_t)(seed % me->num),
                         .seed = seed};

        coll_run(me, &c);
    }
}

/* Every kind and type, and every reduction. */
static inline void
coll_run_types(struct coll_rank *me, uint64_t count)
{
    for (int kind = 0; kind < BARRIER; kind++) {
        for (int type = 0; type < COLL_TYPES; type++) {
            for (int op = 0; op < (coll_reduces((enum coll_kind)kind) ? 4 : 1); op++) {
                struct coll c = {.kind = (enum coll_kind)kind,
                                 .type = (HcclDataType)type,
                                 .op = (HcclReduceOp)op,
                                 .count = count,
                                 .root = (uint32_t)type % me->num,
                                 .seed = (uint64_t)(type * 4 + op)};

                if (coll_exists(c.kind, type))
                    coll_run(me, &c);
            }
        }
    }
}

/* The nth of a mixture of operations for `ranks` ranks. */
static inline struct coll
coll_nth(uint64_t nth, uint32_t ranks, uint64_t seed)
{
    static const HcclDataType types[] = {INT32, FP32, BFP16, INT8, FP64};
    static const uint64_t counts[] = {1, 3, 100, 1025, 9000, 0, 17};
    uint64_t hash = coll_hash(seed, nth, 0);

    return (struct coll){.kind = (enum coll_kind)(hash % COLL_KINDS),
                         .type = types[(hash >> 8) % COLL_NUMBER(types)],
                         .op = (HcclReduceOp)((hash >> 16) % 4),
                         .count = counts[(hash >> 24) % COLL_NUMBER(counts)],
                         .root = (uint32_t)((hash >> 32) % ranks),
                         .seed = hash};
}

/* Queues `most` operations of a mixture on these streams in turn, then waits. */
static inline void
coll_run_mixture(struct coll_rank *me, uint32_t most, const aclrtStream *streams, uint32_t num)
{
    struct coll_call *calls = calloc(most, sizeof *calls);

    MUST(calls != NULL);
    for (uint32_t i = 0; i < most; i++) {
        struct coll c = coll_nth(i, me->num, num);

        coll_prepare(me, &c, &calls[i]);
    }
    for (uint32_t i = 0; i < most; i++)
        coll_must_call(me, &calls[i], streams[i % num]);
    for (uint32_t i = 0; i < num; i++)
        coll_must_end(me, &calls[i].c, streams[i]);
    for (uint32_t i = 0; i < most; i++) {
        coll_check(me, &calls[i]);
        coll_drop(&calls[i]);
    }
    free(calls);
    me->used = 0;
}

static inline void
coll_small_buffer(HcclCommConfig *config)
{
    config->hcclBufferSize = 1; /* MB */
}

/* All ranks are here, without a message. Each of 8 places may be used again and again. */
static inline void
coll_meet(struct coll_rank *me, uint32_t nth)
{
    atomic_int *turn = &me->shared->turns[nth];
    int now = atomic_fetch_add(turn, 1) + 1, num = (int)me->num;

    side_await(turn, (now + num - 1) / num * num);
}

/* ---- teams ---- */

#define COLL_ROOM ((size_t)192 << 20)

/* Ranks `first` to `first + here - 1` of `num` are threads of this process. */
struct coll_team {
    struct coll_shared *shared;
    uint32_t num, first, here;
    void (*body)(struct coll_rank *me);
    void (*configure)(HcclCommConfig *config); /* may be NULL */
    HcclComm comms[COLL_MOST];
};

struct coll_member {
    struct coll_team *team;
    uint32_t nth; /* in this process, and its device */
    pthread_t thread;
};

/* The `nth` communicator that these ranks make of one shared root info. */
static inline HcclResult
coll_join(struct coll_shared *shared, uint32_t num, uint32_t rank, int nth,
          void (*configure)(HcclCommConfig *config), HcclComm *comm)
{
    HcclCommConfig config;

    if (rank == 0) {
        OK(HcclGetRootInfo(&shared->info));
        atomic_store(&shared->made, nth);
    } else {
        side_await(&shared->made, nth);
    }
    HcclCommConfigInit(&config);
    if (configure != NULL)
        configure(&config);
    return HcclCommInitRootInfoConfig(num, &shared->info, rank, &config, comm);
}

static inline void *
coll_member_main(void *arg)
{
    struct coll_member *member = arg;
    struct coll_team *team = member->team;
    struct coll_rank me = {.rank = team->first + member->nth,
                           .num = team->num,
                           .comm = team->comms[member->nth],
                           .shared = team->shared,
                           .room = COLL_ROOM};
    const char *stream = getenv("HCOMM_TEST_STREAM");

    OK(aclrtSetDevice((int32_t)member->nth));
    if (me.comm == NULL)
        OK(coll_join(team->shared, team->num, me.rank, 1, team->configure, &me.comm));
    if (stream != NULL && strcmp(stream, "inline") == 0)
        me.stream = INLINE;
    else
        OK(aclrtCreateStream(&me.stream));
    me.memory = memory_get(DEVICE, me.room);
    team->body(&me);
    memory_put(DEVICE, me.memory);
    if (me.stream != INLINE)
        OK(aclrtDestroyStream(me.stream));
    team->comms[member->nth] = me.comm;
    return NULL;
}

/* Makes the ranks of this process, lets them do `body`, and ends them. */
static inline void
coll_team_run(struct coll_team *team)
{
    struct coll_member members[COLL_MOST];
    int32_t devices[COLL_MOST];

    for (uint32_t i = 0; i < team->here; i++)
        devices[i] = (int32_t)i;
    if (team->here == team->num && team->configure == NULL)
        OK(HcclCommInitAll(team->num, devices, team->comms));
    for (uint32_t i = 0; i < team->here; i++) {
        members[i] = (struct coll_member){.team = team, .nth = i};
        OK(pthread_create(&members[i].thread, NULL, coll_member_main, &members[i]));
    }
    for (uint32_t i = 0; i < team->here; i++)
        OK(pthread_join(members[i].thread, NULL));
    for (uint32_t i = 0; i < team->here; i++) {
        if (team->comms[i] != NULL)
            OK(HcclCommDestroy(team->comms[i]));
    }
    for (uint32_t i = 0; i < team->here; i++)
        OK(aclrtResetDeviceForce((int32_t)i));
}

/* `num` ranks, all of them threads of this process. */
static inline void
coll_threads_configured(uint32_t num, void (*body)(struct coll_rank *me),
                        void (*configure)(HcclCommConfig *config))
{
    static struct coll_shared shared;
    static struct coll_team team;

    memset(&shared, 0, sizeof shared);
    setenv("HCOMM_DEVICE_COUNT", "64", 1);
    setenv("HCOMM_DEVICE_MEMORY", "4096", 1); /* MiB: sanitizers have not much address space */
    team = (struct coll_team){
        .shared = &shared, .num = num, .here = num, .body = body, .configure = configure};
    coll_team_run(&team);
}

static inline void
coll_threads(uint32_t num, void (*body)(struct coll_rank *me))
{
    coll_threads_configured(num, body, NULL);
}

#endif
