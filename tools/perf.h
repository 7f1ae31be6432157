/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf: what the files of `hcomm perf` share.
 *
 * cmd_perf.c starts the ranks: processes of `hcomm run`, those of a launcher, or threads. Each rank
 * (perf_rank.c) then does the same list of tests in the same order, so nobody has to be told what
 * comes next; only how often is measured by rank 0 and agreed on. Ranks 2i and 2i + 1 are a pair,
 * the even one leads: its clock counts, and it sends or reaches into the memory of the odd one.
 *
 * Between the timed parts the ranks talk through boxes: a window of the library's own, mapped by
 * all, with plain atomic words in it (perf_talk.c). So it needs nothing from whoever started it.
 */
#ifndef HC_TOOLS_PERF_H
#define HC_TOOLS_PERF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hcomm/hcomm_p2p.h"

#define PERF_RANKS_MOST 256u
#define PERF_BYTES_MOST (1ull << 40)
#define PERF_ITERS_MOST 1000000u
#define PERF_OPS_MOST 16u
#define PERF_ROUTE_BYTES (1u << 20)
#define PERF_LINE 128 /* two cache lines: neighbours are fetched in pairs */

enum perf_memory { PERF_DEVICE, PERF_PINNED, PERF_MALLOC };

struct perf_options {
    bool ops[PERF_OPS_MOST]; /* by number in perf_ops */
    bool modes[2];           /* inline, stream */
    bool patterns[2];        /* static, fresh */
    enum perf_memory memory;
    uint64_t min, max; /* bytes */
    uint32_t ranks;    /* 0: not said */
    uint32_t iters;    /* samples of a row; 0: as many as fit its time */
    bool json, threads, pin, progress, help;
    bool check, check_more; /* data: in the first rounds; in many more */
    bool routes;
    bool started;     /* by ourselves: what there was to say about the arguments has been said */
    const char *plot; /* file to draw the rows to; NULL: none */
    const char *p2p_option; /* one that is not for collectives; NULL: none was given */
    bool said_mode;
    struct {
        bool ops[PERF_OPS_MOST]; /* by number in perf_coll_ops */
        bool any, all;           /* one of them; all by one word */
        bool in_place;           /* too */
        int type, redop;
        uint32_t root;
        const char *engine, *algo; /* NULL: not said */
        const char *option;        /* one that is for collectives only; NULL: none was given */
    } coll;
};

/* ---- operations: perf_ops.c ---- */

enum perf_kind {
    PERF_LOCAL,     /* the leader alone, in its own memory */
    PERF_ONE_SIDED, /* the leader reaches into the partner's memory */
    PERF_PAIR       /* the partner waits for what comes */
};

/* What the bytes are, for filling and checking them. */
enum perf_content { PERF_BYTES, PERF_FLOATS, PERF_COUNTER, PERF_NOTHING };

struct perf_rank;
struct perf_test;
struct perf_coll;

struct perf_op {
    const char *name;
    const char *does; /* for the help */
    enum perf_kind kind;
    enum perf_content content;
    bool gets; /* the data come from the partner */
    bool only_inline, only_queued;
    bool one_size;  /* `bytes` alone; otherwise what is asked for */
    uint64_t bytes; /* of one_size; otherwise sizes must be multiples of it */
    /* The leader's call; with PERF_PAIR also the partner's, for the way back. */
    HcclResult (*act)(struct perf_rank *rank, const struct perf_test *test);
    HcclResult (*meet)(struct perf_rank *rank, const struct perf_test *test);
    HcclResult (*flush)(struct perf_rank *rank, const struct perf_test *test);
};

extern const struct perf_op perf_ops[];
extern const uint32_t perf_op_num;

const struct perf_op *perf_op_find(const char *name, size_t len); /* NULL: there is none */

/* Points ASCEND_HOME_PATH to the kernel of custom-op, found from where this program is; false: it
 * is not there (said, if `tells`). */
bool perf_kernel_use(bool tells);

/* ---- a rank: perf_rank.c ---- */

struct perf_result {
    double us_min, us_median, us_p99; /* of one operation */
    double train_us;                  /* one operation of a train; 0: there were no trains */
    uint64_t samples;
    uint64_t wrong; /* values of a collective */
};

/* A box belongs to its rank, and is in memory that all ranks map. */
struct perf_box {
    _Alignas(PERF_LINE) atomic_uint arrived;    /* rank 0's: how often others came to a barrier */
    _Alignas(PERF_LINE) atomic_uint passed;     /* barriers over; rank 0 writes it, after `word` */
    uint64_t word;                              /* rank 0 says it with a barrier */
    _Alignas(PERF_LINE) atomic_uint posted;     /* how often the partner has posted */
    _Alignas(PERF_LINE) atomic_ullong stamp_ns; /* the partner writes it before it posts */
    _Alignas(PERF_LINE) struct perf_result result; /* the owner's, read after a barrier */
    _Alignas(PERF_LINE) atomic_uint came; /* the checked barrier that its owner has come to */
};

struct perf_job {
    const struct perf_options *options;
    HcclRootInfo root;
    const char *launcher; /* NULL: we started the ranks ourselves */
    uint32_t processes;
    uint32_t processors; /* for all ranks of this host */
};

struct perf_rank {
    const struct perf_job *job;
    const struct perf_options *options;
    uint32_t rank, size, partner;
    int32_t device;
    uint32_t local; /* number on this host: which processor */
    bool leads;
    bool pins; /* itself */

    HcclComm comm;
    aclrtStream stream, at; /* own; where the calls of the present test go */
    HcommWindow box_window, window;
    struct perf_box *box, **boxes; /* [size] */
    uint8_t *src, *dst;            /* [len]; `dst` is the window */
    uint64_t len;
    double *samples; /* [sample_room] */
    uint64_t sample_room;

    unsigned barriers, taken; /* barriers passed, posts taken */
    bool crowded;             /* more ranks than processors: waiting gives way at once */
    uint64_t seed;            /* of the data; the same at both ends of a pair */
    char doing[128];          /* for the message, if it fails */
    bool told;                /* there has been one */

    struct perf_coll *coll; /* NULL: point to point */
    bool wrong;             /* there have been wrong values */
    FILE *rows;             /* rank 0's, with --plot: rows for the picture end up in rows_text */
    char *rows_text;
    size_t rows_len;
};

/* One row. */
struct perf_test {
    const struct perf_op *op;
    uint64_t bytes;
    bool queued, fresh;
};

/* How many processors the calling thread may use. */
uint32_t perf_processors(void);

/* Confines it, and threads that it starts, to the `local`-th of them, counted round and round. */
void perf_pin(uint32_t local);

/* Runs rank `first` + i of `size` on `num` threads of this process. Ends the process when one
 * fails. The exit status. */
int perf_run_ranks(const struct perf_job *job, uint32_t first, uint32_t local, uint32_t num,
                   uint32_t size);

/* Says what the rank does now. */
void perf_doing(struct perf_rank *rank, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Says what has failed; returns `rc`. */
HcclResult perf_fail(struct perf_rank *rank, HcclResult rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "device" */
extern const char *const perf_memory_names[3];

/* ---- talking: perf_talk.c. All fail with HCCL_E_REMOTE when a rank is gone. ---- */

/* Adds to what the partner may take. */
void perf_post(struct perf_rank *rank);
void perf_post_stamp(struct perf_rank *rank, uint64_t now_ns);
/* Waits for the partner's next post. */
HcclResult perf_take(struct perf_rank *rank);
/* All ranks meet; *word becomes rank 0's everywhere. */
HcclResult perf_agree(struct perf_rank *rank, uint64_t *word);

/* Works with twice as many operations each time, `first` at first, until rank 0 has worked long
 * enough. *one_ns: how long one takes there, with all that is around it. */
typedef HcclResult (*perf_work)(struct perf_rank *rank, const void *test, uint64_t num);
HcclResult perf_warm_up(struct perf_rank *rank, uint64_t first, perf_work work, const void *test,
                        uint64_t *one_ns);
uint64_t perf_clamp(uint64_t value, uint64_t least, uint64_t most);
HcclResult perf_barrier(struct perf_rank *rank);

/* ---- data: perf_data.c ---- */

/* Writes all of the buffer that the data of the test come from. */
void perf_fill(const struct perf_test *test, uint8_t *buf, uint64_t seed);
/* Readies the buffer they go to, so that perf_check can tell. */
void perf_reset(const struct perf_test *test, uint8_t *buf, uint64_t seed);
/* Whether the buffer is what perf_fill and perf_reset with `seed` lead to. */
bool perf_good(const struct perf_test *test, const uint8_t *buf, uint64_t seed);
/* Loads all of it. */
void perf_touch(const uint8_t *buf, uint64_t len);

/* ---- measuring: perf_measure.c ---- */

/* How the messages of a sample go and what is done between them. */
enum perf_care {
    PERF_AS_IS, /* buffers stay as they are */
    PERF_FRESH, /* written before, read after */
    PERF_CHECK  /* the same, and compared */
};

/* One operation after the other, each from the moment when the leader starts it until who gets the
 * data has them. `samples` of the leader in us; NULL: not wanted. */
HcclResult perf_one_way(struct perf_rank *rank, const struct perf_test *test, uint64_t num,
                        enum perf_care care, double *samples);

/* `num` operations whose data are compared. */
HcclResult perf_compare(struct perf_rank *rank, const struct perf_test *test, uint64_t num);

/* Resources that the first call makes are made; all ranks have got there. */
HcclResult perf_prime(struct perf_rank *rank, const struct perf_test *test);

/* The row; *result is the leader's. */
HcclResult perf_measure(struct perf_rank *rank, const struct perf_test *test,
                        struct perf_result *result);

/* Sorts the samples. */
void perf_sum_up(double *samples, uint64_t num, struct perf_result *result);

/* All tests of the options; the routes. */
HcclResult perf_all(struct perf_rank *rank);
HcclResult perf_routes(struct perf_rank *rank);

/* ---- reporting: perf_report.c, called by rank 0 ---- */

void perf_print_head(const struct perf_rank *rank);
HcclResult perf_print_row(struct perf_rank *rank, const struct perf_test *test);
/* A row as JSON: printed with --json, kept with --plot. */
void perf_json(struct perf_rank *rank, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What has been printed is out; otherwise that is said. */
HcclResult perf_flush(struct perf_rank *rank);
/* Draws what was kept, if --plot is given. */
HcclResult perf_draw_rows(struct perf_rank *rank);
/* Every two seconds, if wanted: how far it is. */
void perf_progress(const struct perf_rank *rank, uint32_t done, uint32_t all);
/* "64 KiB" into text[32]; returns it. */
const char *perf_size(uint64_t bytes, char *text);

/* ---- arguments: perf_args.c; they return CMD_GOOD or CMD_USAGE (said) ---- */

int perf_read_arguments(struct perf_options *options, int argc, char **argv);
/* The value of option `name` at argv[*at]; false: it is another option. *value NULL: none. */
bool perf_is_option(const char *name, char **argv, int *at, const char **value);
/* "4K", "16MiB" */
int perf_read_size(const char *option, const char *text, uint64_t *bytes);
/* The next row after *test of the options, of `size` ranks; *test zeroed: the first. */
bool perf_next_test(const struct perf_options *options, struct perf_test *test);
uint32_t perf_count_tests(const struct perf_options *options);

/* ---- plots: perf_plot.c, perf_svg.c ---- */

struct perf_point {
    double x, y;
};

struct perf_line {
    char *name;
    struct perf_point *points; /* [num], by x */
    size_t num;
};

int perf_plot(int argc, char **argv);
/* Draws rows that are JSON to the file `out`; CMD_GOOD, or another status (said). */
int perf_plot_text(char *text, size_t len, const char *out);

/* Draws lines whose points are all above 0: the whole file, to be freed with free(); NULL: no
 * memory. */
char *perf_draw(const struct perf_line *lines, size_t num, const char *y_title, size_t *len);

#endif
