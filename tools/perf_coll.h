/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_coll: what the files of `hcomm perf` share about collectives.
 *
 * An operation is a row of one table (perf_coll.c): its call, and the shape of what goes in and
 * comes out. From the shape follow the buffers and the parts that the result is made of, and from
 * those what is compared (perf_coll_data.c) against a reference of the tool's own.
 */
#ifndef HC_TOOLS_PERF_COLL_H
#define HC_TOOLS_PERF_COLL_H

#include "tools/perf.h"

#define PERF_PERIOD 4093u /* elements; prime, so slices of the usual sizes do not begin alike */
#define PERF_ELEMENT_MOST 16u
#define PERF_GUARD 256u /* bytes behind a buffer that nobody may write */

/* ---- operations: perf_coll.c ---- */

enum perf_shape {
    PERF_WHOLE,    /* all of it goes in, all of it comes out */
    PERF_GATHER,   /* a part goes in, that of each rank comes out */
    PERF_SLICE,    /* a part for each rank goes in, the own one comes out */
    PERF_EXCHANGE, /* a part for each rank goes in, one of each comes out */
    PERF_EMPTY
};

enum perf_bus { PERF_BUS_ONE, PERF_BUS_OTHERS, PERF_BUS_TWICE };

/* A row of the table. */
struct perf_coll_test {
    const struct perf_coll_op *op;
    uint64_t bytes; /* of the longer buffer of a rank */
    uint64_t count; /* elements of a part; of uneven ones, the mean */
    uint64_t asked; /* bytes of the option; `bytes` is what of it can be divided */
    bool queued, in_place;
};

struct perf_coll_op {
    const char *name;
    const char *does; /* for the help */
    enum perf_shape shape;
    enum perf_bus bus; /* bytes on the wire: size x 1, (n-1)/n, 2(n-1)/n */
    bool reduces, rooted;
    bool to_root; /* the root alone gets the result; other rooted ones: it alone has the data */
    bool uneven;  /* parts of different sizes */
    bool in_place;
    HcclResult (*act)(struct perf_rank *rank, const struct perf_coll_test *test);
};

extern const struct perf_coll_op perf_coll_ops[];
extern const uint32_t perf_coll_num;

const struct perf_coll_op *perf_coll_find(const char *name); /* NULL: there is none */

/* Bus bandwidth for algorithm bandwidth 1. */
double perf_coll_factor(const struct perf_coll_op *op, uint32_t ranks);

/* Elements from rank `from` to rank `to`; parts of gathers and slices are those of one `from`. */
uint64_t perf_coll_part(const struct perf_coll_test *test, uint32_t ranks, uint32_t from,
                        uint32_t to);

/* ---- data: perf_coll_data.c ---- */

/* What the ranks put in: an element for each rank and place, again after PERF_PERIOD places. */
struct perf_pattern {
    int type;
    int redop; /* -1: it is moved, and all bytes are arbitrary */
    uint32_t ranks;
    uint64_t seed;
};

struct perf_reference; /* room for one; owned by whoever made it */

struct perf_reference *perf_reference_create(void); /* NULL: no memory (said) */
void perf_reference_destroy(struct perf_reference *reference);

/* Writes [count] elements of `rank` from place 0. */
void perf_pattern_fill(const struct perf_pattern *pattern, struct perf_reference *reference,
                       uint32_t rank, void *buf, uint64_t count);

/* How many of [count] elements are not those of `rank` from place `at`; or not the reduction of
 * those of all ranks: integers, maxima and minima exactly, other floats within their bound. */
uint64_t perf_pattern_moved(const struct perf_pattern *pattern, struct perf_reference *reference,
                            uint32_t rank, const void *buf, uint64_t count, uint64_t at);
uint64_t perf_pattern_reduced(const struct perf_pattern *pattern, struct perf_reference *reference,
                              const void *buf, uint64_t count, uint64_t at);

/* ---- buffers of a test: perf_coll_check.c ---- */

/* A rank's; set for each test by perf_coll_prepare. */
struct perf_coll {
    uint8_t *send, *recv;                /* NULL: not used on this rank */
    uint64_t in, out;                    /* elements */
    uint64_t *counts, *displs;           /* [size] of what is sent, or of all parts */
    uint64_t *from_counts, *from_displs; /* [size] of what is received */
    uint64_t *matrix;                    /* [size][size] */
    struct perf_reference *reference;
    uint64_t wrong; /* values of all rows and ranks; rank 0's */
    double bus_sum; /* of rows that have bytes; rank 0's */
    uint32_t bus_num;
};

HcclResult perf_coll_open(struct perf_rank *rank);
void perf_coll_close(struct perf_rank *rank); /* takes a rank that has not been opened */

/* Where the test's data begin and how they are divided. */
void perf_coll_prepare(struct perf_rank *rank, const struct perf_coll_test *test);

/* Fills the buffers with those of rank->seed. */
void perf_coll_fill(struct perf_rank *rank, const struct perf_coll_test *test);

/* How many values are not what they should be after the operation. */
uint64_t perf_coll_wrong(struct perf_rank *rank, const struct perf_coll_test *test);

/* ---- measuring: perf_coll_measure.c; reporting: perf_coll_report.c, called by rank 0 ---- */

HcclResult perf_coll_all(struct perf_rank *rank);

void perf_coll_print_head(const struct perf_rank *rank, const struct perf_coll_test *test);
/* results[0] out of place, [1] in place; `num` of them. */
HcclResult perf_coll_print_row(struct perf_rank *rank, const struct perf_coll_test *test,
                               const struct perf_result *results, uint32_t num);
void perf_coll_print_foot(const struct perf_rank *rank);

/* ---- arguments: perf_coll_args.c ---- */

/* Takes an option of collectives; false: it is another. *rc: CMD_GOOD, or CMD_USAGE (said). */
bool perf_coll_read_option(struct perf_options *options, char **argv, int *at, int *rc);
/* Takes "collectives", or the name of one; false: it is none. */
bool perf_coll_read_op(struct perf_options *options, const char *name);
/* Whether the options go together, but for the number of ranks. */
int perf_coll_check_options(struct perf_options *options);
/* The same, of `ranks`; sets the variables of --engine and --algo. */
int perf_coll_settle(const struct perf_options *options, uint32_t ranks);
/* The next row after *test; *test zeroed: the first. */
bool perf_coll_next(const struct perf_options *options, uint32_t ranks,
                    struct perf_coll_test *test);
void perf_coll_print_help(void);

#endif
