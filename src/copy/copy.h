/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy: the copy engine: which stores a copy uses (copy_learned), and who copies (copy_plan).
 */
#ifndef HC_COPY_COPY_H
#define HC_COPY_COPY_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define COPY_CLASSES 16u /* 32 KiB, 64 KiB, ... 1 GiB and more */

/* How the bytes are moved; the order is that of the knob HCOMM_COPY. */
enum copy_kind {
    COPY_PLAIN,  /* memmove */
    COPY_STREAM, /* non-temporal stores, past the caches */
    COPY_STRING, /* the processor's own string move */
    COPY_KINDS
};

/* dst = src, `len` bytes, no overlap unless equal. Pure; any thread. */
void copy_bytes(void *dst, const void *src, uint64_t len);

/* What is known of copies of one class of sizes; see habit.h. Advice: every field may be anything.
 */
struct copy_class {
    _Atomic uint32_t cost[COPY_KINDS]; /* 2^-16 ticks a byte; 0: not known */
    _Atomic uint32_t last;             /* least of the samples before, in this row */
    _Atomic uint16_t rest;             /* copies until the next trial; 0: one is on */
    _Atomic uint8_t kind;              /* in use */
    _Atomic uint8_t trial;             /* tried now or next */
    _Atomic uint8_t tries;             /* copies of this trial done */
    _Atomic uint8_t age;               /* rests so far, up to a limit */
    _Atomic uint8_t slow;              /* slow samples in a row */
    _Atomic uint8_t settle;            /* samples to leave out after a change of kind */
};

/*
 * What has been learned of copies along one path (one connection, one direction): which stores
 * are faster there, for each class of sizes. Starts zeroed; any threads, without a lock.
 */
struct copy_habit {
    struct copy_class class[COPY_CLASSES];
};

/* As copy_bytes, with the stores that have been fastest on this path lately, or those that the knob
 * HCOMM_COPY names. The bytes are ordered as those of plain stores are. */
void copy_learned(struct copy_habit *habit, void *dst, const void *src, uint64_t len);

/* Fills `len` bytes. */
void copy_fill(void *dst, int value, uint64_t len);

/* Who moves a message from the sender's buffer to the receiver's. */
enum copy_mover {
    COPY_PULL, /* the receiver */
    COPY_PUSH, /* the sender */
    COPY_BOTH, /* each some chunks of it */
    COPY_MOVERS
};

/* How messages are best moved between two processes of this machine. */
struct copy_plan {
    uint64_t eager;         /* longest message to be copied twice, by way of a ring */
    enum copy_mover middle; /* for longer ones that are shorter than `large_from` */
    enum copy_mover large;  /* for the others */
    uint64_t large_from;
    uint64_t piece; /* of long messages that go by way of a ring, in a pipeline */
};

/* What HCOMM_P2P_PLAN says; else what was measured on this machine once, and kept in the user's
 * cache; else what is measured now, which takes some 50 ms. Never fails; constant. Which stores
 * move the bytes is not planned: copy_learned finds it on each path. */
const struct copy_plan *copy_plan(void);

/* One line: the plan, as HCOMM_P2P_PLAN takes it, and where it is from. */
void copy_plan_print(FILE *out);

#endif
