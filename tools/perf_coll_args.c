/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_coll_args: what `hcomm perf` was asked about collectives, and the list of tests. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/knobs.h"
#include "reduce/reduce.h"
#include "tools/cmd.h"
#include "tools/perf_coll.h"

#define ALL "collectives"
#define TYPES_MOST 32

/* ---- options ---- */

static int
read_type(const char *text, int *type)
{
    char all[256] = "";

    for (int i = 0; i < TYPES_MOST; i++) {
        if (reduce_type_size(i) == 0)
            continue;
        if (text != NULL && strcmp(text, reduce_type_name(i)) == 0) {
            *type = i;
            return CMD_GOOD;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] == '\0' ? "" : ", ",
                 reduce_type_name(i));
    }
    return cmd_misused("perf: --type is \"%s\": it must be one of %s", text == NULL ? "" : text,
                       all);
}

static int
read_redop(const char *text, int *redop)
{
    for (int i = HCCL_REDUCE_SUM; i <= HCCL_REDUCE_MIN && text != NULL; i++) {
        if (strcmp(text, reduce_op_name(i)) == 0) {
            *redop = i;
            return CMD_GOOD;
        }
    }
    return cmd_misused("perf: --op is \"%s\": it must be sum, prod, max or min",
                       text == NULL ? "" : text);
}

static int
read_root(const char *text, uint32_t *root)
{
    unsigned long number;
    char *end;

    errno = 0;
    number = text == NULL ? 0 : strtoul(text, &end, 10);
    if (text == NULL || text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        number >= PERF_RANKS_MOST)
        return cmd_misused("perf: --root is \"%s\": it must be the number of a rank, from 0",
                           text == NULL ? "" : text);
    *root = (uint32_t)number;
    return CMD_GOOD;
}

/* What the knob of the library takes. */
static int
read_choice(const char *option, enum hc_knob knob, const char *text, const char **choice)
{
    const char *choices = hc_knob_info(knob)->choices;
    size_t len = text == NULL ? 0 : strlen(text);

    for (const char *at = choices; at != NULL && len > 0; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, text, len) == 0 && (at[len] == '|' || at[len] == '\0')) {
            *choice = text;
            return CMD_GOOD;
        }
    }
    return cmd_misused("perf: %s is \"%s\": it must be one of %s", option, text == NULL ? "" : text,
                       choices);
}

bool
perf_coll_read_option(struct perf_options *options, char **argv, int *at, int *rc)
{
    const char *value = NULL, *name = argv[*at];

    if (strcmp(name, "--in-place") == 0) {
        options->coll.in_place = true;
        *rc = CMD_GOOD;
    } else if (perf_is_option("--type", argv, at, &value)) {
        *rc = read_type(value, &options->coll.type);
    } else if (perf_is_option("--op", argv, at, &value)) {
        *rc = read_redop(value, &options->coll.redop);
    } else if (perf_is_option("--root", argv, at, &value)) {
        *rc = read_root(value, &options->coll.root);
    } else if (perf_is_option("--engine", argv, at, &value)) {
        *rc = read_choice("--engine", KNOB_COLL_ENGINE, value, &options->coll.engine);
    } else if (perf_is_option("--algo", argv, at, &value)) {
        *rc = read_choice("--algo", KNOB_COLL_ALGO, value, &options->coll.algo);
    } else {
        return false;
    }
    options->coll.option = name;
    return true;
}

bool
perf_coll_read_op(struct perf_options *options, const char *name)
{
    const struct perf_coll_op *op = perf_coll_find(name);
    bool all = strcmp(name, ALL) == 0;

    if (op == NULL && !all)
        return false;
    for (uint32_t i = 0; i < perf_coll_num; i++) {
        if (all || &perf_coll_ops[i] == op)
            options->coll.ops[i] = true;
    }
    options->coll.any = true;
    options->coll.all = options->coll.all || all;
    return true;
}

/* ---- whether they go together ---- */

static int
check_op(const struct perf_options *options, const struct perf_coll_op *op)
{
    if (op->reduces && !reduce_supported(options->coll.type, options->coll.redop))
        return cmd_misused("perf: %s cannot reduce %s: choose another --type", op->name,
                           reduce_type_name(options->coll.type));
    if (options->coll.in_place && !op->in_place && !options->coll.all)
        return cmd_misused("perf: %s has no second form, in place: leave --in-place away",
                           op->name);
    return CMD_GOOD;
}

int
perf_coll_check_options(struct perf_options *options)
{
    uint32_t len = reduce_type_size(options->coll.type);
    int rc = CMD_GOOD;
    char size[32];

    if (!options->coll.any && options->coll.option != NULL)
        return cmd_misused("perf: %.40s is for collectives: name one, or " ALL,
                           options->coll.option);
    if (!options->coll.any)
        return CMD_GOOD;
    for (uint32_t i = 0; i < perf_op_num; i++) {
        if (options->ops[i])
            return cmd_misused("perf: %s is point to point, others are collectives: measure them "
                               "in two runs",
                               perf_ops[i].name);
    }
    if (options->p2p_option != NULL)
        return cmd_misused("perf: %.40s is for point to point: leave it away", options->p2p_option);
    if (options->min % len != 0)
        return cmd_misused("perf: --min is %s, and an element of %s has %u B: make it a multiple",
                           perf_size(options->min, size), reduce_type_name(options->coll.type),
                           len);
    for (uint32_t i = 0; i < perf_coll_num && rc == CMD_GOOD; i++) {
        if (options->coll.ops[i])
            rc = check_op(options, &perf_coll_ops[i]);
    }
    return rc;
}

static int
set_knob(enum hc_knob knob, const char *value)
{
    return value == NULL ? 0 : setenv(hc_knob_info(knob)->env, value, 1);
}

int
perf_coll_settle(const struct perf_options *options, uint32_t ranks)
{
    struct perf_coll_test test = {.op = NULL};
    uint64_t least = options->min;
    char size[32];

    if (options->coll.root >= ranks)
        return cmd_misused("perf: --root is %u, and there are %u ranks: it must be from 0 to %u",
                           options->coll.root, ranks, ranks - 1);
    while (least < (uint64_t)ranks * reduce_type_size(options->coll.type))
        least *= 2;
    if (!perf_coll_next(options, ranks, &test))
        return cmd_misused("perf: nothing is left to measure: for %u ranks, --max must be %s or "
                           "more",
                           ranks, perf_size(least, size));
    if (set_knob(KNOB_COLL_ENGINE, options->coll.engine) != 0 ||
        set_knob(KNOB_COLL_ALGO, options->coll.algo) != 0) {
        fprintf(stderr, "hcomm perf: cannot set a variable: %s\n", strerror(errno));
        return CMD_FAILED;
    }
    return CMD_GOOD;
}

/* ---- the tests ---- */

/* The test of the size that is asked for; false: it has not an element for each rank. */
static bool
set_size(const struct perf_options *options, uint32_t ranks, uint64_t asked,
         struct perf_coll_test *test)
{
    uint64_t len = reduce_type_size(options->coll.type);
    bool whole = test->op->shape == PERF_WHOLE;

    test->asked = asked;
    test->count = test->op->shape == PERF_EMPTY ? 0 : asked / (len * (whole ? 1 : ranks));
    test->bytes = test->count * len * (whole ? 1 : ranks);
    return test->count > 0 || test->op->shape == PERF_EMPTY;
}

/* The next size of the same operation and mode. */
static bool
next_size(const struct perf_options *options, uint32_t ranks, struct perf_coll_test *test)
{
    while (test->op->shape != PERF_EMPTY && test->asked <= options->max / 2) {
        if (set_size(options, ranks, test->asked * 2, test))
            return true;
    }
    return false;
}

/* Steps to the next operation and mode, whether wanted or not; false: there are no more. */
static bool
next_kind(struct perf_coll_test *test)
{
    if (test->op == NULL) {
        *test = (struct perf_coll_test){.op = perf_coll_ops};
        return true;
    }
    test->queued = !test->queued;
    if (!test->queued)
        test->op++;
    return test->op < perf_coll_ops + perf_coll_num;
}

bool
perf_coll_next(const struct perf_options *options, uint32_t ranks, struct perf_coll_test *test)
{
    if (test->op != NULL && next_size(options, ranks, test))
        return true;
    while (next_kind(test)) {
        if (!options->coll.ops[test->op - perf_coll_ops] || !options->modes[test->queued])
            continue;
        if (set_size(options, ranks, options->min, test) || next_size(options, ranks, test))
            return true;
    }
    return false;
}

void
perf_coll_print_help(void)
{
    puts("\nCollectives (name some, or \"" ALL "\"):");
    for (uint32_t i = 0; i < perf_coll_num; i++)
        printf("  %-16s %s\n", perf_coll_ops[i].name, perf_coll_ops[i].does);
}
