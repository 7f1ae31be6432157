/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_args: what `hcomm perf` was asked for, and the list of tests that follows from it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/reduce.h"
#include "tools/cmd.h"
#include "tools/perf_coll.h"

#define MIN 8u /* unless it is said */
#define MAX (16u << 20)
#define WORDS "perf: %s is \"%s\": "

bool
perf_is_option(const char *name, char **argv, int *at, const char **value)
{
    size_t len = strlen(name);

    if (strncmp(argv[*at], name, len) != 0 || (argv[*at][len] != '\0' && argv[*at][len] != '='))
        return false;
    if (argv[*at][len] == '=')
        *value = argv[*at] + len + 1;
    else if ((*value = argv[*at + 1]) != NULL) /* the list ends with NULL */
        ++*at;
    return true;
}

int
perf_read_size(const char *option, const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    unsigned long long number;
    const char *unit;
    char *end;

    if (text == NULL)
        return cmd_misused("perf: %s needs a size: 8, 4K, 1M, 16MiB", option);
    errno = 0;
    number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9')
        return cmd_misused(WORDS "it must be a size: 8, 4K, 1M, 16MiB", option, text);
    unit = *end == '\0' || *end == 'B' ? NULL : strchr(units, *end == 'k' ? 'K' : *end);
    if (unit != NULL)
        end++;
    if (unit != NULL && *end == 'i')
        end++;
    if (*end == 'B')
        end++;
    if (*end != '\0')
        return cmd_misused(WORDS "it must be a size: 8, 4K, 1M, 16MiB", option, text);
    for (const char *at = units; unit != NULL && at <= unit && number <= PERF_BYTES_MOST; at++)
        number *= 1024;
    if (errno != 0 || number == 0 || number > PERF_BYTES_MOST)
        return cmd_misused(WORDS "it must be from 1 to 1T", option, text);
    *bytes = number;
    return CMD_GOOD;
}

static int
read_number(const char *option, const char *text, uint32_t most, uint32_t *value)
{
    unsigned long number;
    char *end;

    if (text == NULL)
        return cmd_misused("perf: %s needs a number", option);
    errno = 0;
    number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number == 0 ||
        number > most)
        return cmd_misused(WORDS "it must be a number from 1 to %u", option, text, most);
    *value = (uint32_t)number;
    return CMD_GOOD;
}

/* Sets one of two flags, or both. */
static int
read_flags(const char *option, const char *text, const char *first, const char *second,
           bool flags[2])
{
    if (text == NULL)
        return cmd_misused("perf: %s needs a value: %s, %s or both", option, first, second);
    flags[0] = strcmp(text, first) == 0 || strcmp(text, "both") == 0;
    flags[1] = strcmp(text, second) == 0 || strcmp(text, "both") == 0;
    if (!flags[0] && !flags[1])
        return cmd_misused(WORDS "it must be %s, %s or both", option, text, first, second);
    return CMD_GOOD;
}

static int
read_memory(const char *text, enum perf_memory *memory)
{
    if (text == NULL)
        return cmd_misused("perf: --memory needs a value: device, pinned or malloc");
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, perf_memory_names[i]) == 0) {
            *memory = (enum perf_memory)i;
            return CMD_GOOD;
        }
    }
    return cmd_misused("perf: --memory is \"%s\": it must be device, pinned or malloc", text);
}

static int
read_op(struct perf_options *options, const char *name)
{
    const struct perf_op *op = perf_op_find(name, strlen(name));

    if (op == NULL && perf_coll_read_op(options, name))
        return CMD_GOOD;
    if (op == NULL)
        return cmd_misused("perf: there is no operation \"%s\"; `hcomm perf --help` lists them",
                           name);
    options->ops[op - perf_ops] = true;
    return CMD_GOOD;
}

/* Those that are on or off. */
static bool
read_switch(struct perf_options *options, const char *name)
{
    const struct {
        const char *name;
        bool *flag, value;
    } switches[] = {
        {"--json", &options->json, true},       {"--threads", &options->threads, true},
        {"--no-pin", &options->pin, false},     {"--progress", &options->progress, true},
        {"--no-check", &options->check, false}, {"--check", &options->check_more, true},
        {"--help", &options->help, true},       {"-h", &options->help, true},
        {"--started", &options->started, true},
    };

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(name, switches[i].name) == 0) {
            *switches[i].flag = switches[i].value;
            return true;
        }
    }
    return false;
}

/* Those that `routes` does not take. */
static bool
read_more(struct perf_options *options, char **argv, int *at, int *rc)
{
    const char *value = NULL, *name = argv[*at];

    if (perf_is_option("--min", argv, at, &value)) {
        *rc = perf_read_size("--min", value, &options->min);
    } else if (perf_is_option("--max", argv, at, &value)) {
        *rc = perf_read_size("--max", value, &options->max);
    } else if (perf_is_option("--ranks", argv, at, &value)) {
        *rc = read_number("--ranks", value, PERF_RANKS_MOST, &options->ranks);
    } else if (perf_is_option("--plot", argv, at, &value)) {
        options->plot = value;
        *rc = value != NULL && value[0] != '\0'
                  ? CMD_GOOD
                  : cmd_misused("perf: --plot needs a file to write: --plot out.svg");
    } else if (perf_is_option("--pattern", argv, at, &value)) {
        options->p2p_option = name;
        *rc = read_flags("--pattern", value, "static", "fresh", options->patterns);
    } else if (perf_is_option("--memory", argv, at, &value)) {
        options->p2p_option = name;
        *rc = read_memory(value, &options->memory);
    } else {
        return perf_coll_read_option(options, argv, at, rc);
    }
    return true;
}

static int
read_option(struct perf_options *options, char **argv, int *at)
{
    const char *value = NULL;
    int rc = CMD_GOOD;

    if (perf_is_option("--mode", argv, at, &value)) {
        options->said_mode = true;
        return read_flags("--mode", value, "inline", "stream", options->modes);
    }
    if (perf_is_option("--iters", argv, at, &value))
        return read_number("--iters", value, PERF_ITERS_MOST, &options->iters);
    if (!options->routes && read_more(options, argv, at, &rc))
        return rc;
    return cmd_misused("perf: there is no option \"%s\"; `hcomm perf --help` lists them",
                       argv[*at]);
}

/* What was not said is 0 until here. */
static int
check_options(struct perf_options *options)
{
    uint64_t element = options->coll.any ? reduce_type_size(options->coll.type) : 1;
    uint64_t least = element > MIN ? element : MIN;
    bool any = options->coll.any;
    char low[32], high[32];

    if (options->min == 0)
        options->min = options->max == 0 || options->max > least ? least : options->max;
    if (options->max == 0)
        options->max = options->min < MAX ? MAX : options->min;
    if (options->min > options->max)
        return cmd_misused("perf: --min (%s) is more than --max (%s): swap them",
                           perf_size(options->min, low), perf_size(options->max, high));
    if (options->ranks % 2 != 0 && !options->coll.any)
        return cmd_misused("perf: --ranks is %u: ranks come in pairs, make it even",
                           options->ranks);
    for (uint32_t i = 0; i < perf_op_num; i++)
        any = any || options->ops[i];
    for (uint32_t i = 0; i < perf_op_num && !any; i++)
        options->ops[i] = true;
    if (options->coll.any && !options->said_mode) {
        options->modes[0] = false;
        options->modes[1] = true;
    }
    return perf_coll_check_options(options);
}

int
perf_read_arguments(struct perf_options *options, int argc, char **argv)
{
    int at = options->routes ? 2 : 1, rc = CMD_GOOD;

    for (; at < argc && rc == CMD_GOOD; at++) {
        if (argv[at][0] == '-' && !read_switch(options, argv[at]))
            rc = read_option(options, argv, &at);
        else if (argv[at][0] != '-' && options->routes)
            rc = cmd_misused("perf: routes takes no \"%s\"; `hcomm perf --help` says what it takes",
                             argv[at]);
        else if (argv[at][0] != '-')
            rc = read_op(options, argv[at]);
    }
    if (rc != CMD_GOOD || options->help || options->routes)
        return rc;
    return check_options(options);
}

/* ---- the tests ---- */

static bool
wanted(const struct perf_options *options, const struct perf_op *op, bool queued)
{
    if (!options->ops[op - perf_ops] || (op->only_inline && queued) || (op->only_queued && !queued))
        return false;
    return options->modes[queued] || op->only_inline || op->only_queued;
}

static uint64_t
first_size(const struct perf_options *options, const struct perf_op *op)
{
    return op->one_size ? op->bytes : options->min;
}

/* The next size of the same op, mode and pattern. */
static bool
next_size(const struct perf_options *options, struct perf_test *test)
{
    if (test->op->one_size || test->bytes > options->max / 2)
        return false;
    test->bytes *= 2;
    return true;
}

/* Steps to the next op, mode and pattern, whether wanted or not; false: there are no more. */
static bool
next_kind(struct perf_test *test)
{
    if (test->op == NULL) {
        test->op = perf_ops;
        return true;
    }
    test->fresh = !test->fresh;
    if (!test->fresh)
        test->queued = !test->queued;
    if (!test->fresh && !test->queued)
        test->op++;
    return test->op < perf_ops + perf_op_num;
}

static bool
fits(const struct perf_test *test)
{
    return test->op->one_size || test->bytes % test->op->bytes == 0;
}

bool
perf_next_test(const struct perf_options *options, struct perf_test *test)
{
    while (test->op != NULL && next_size(options, test)) {
        if (fits(test))
            return true;
    }
    while (next_kind(test)) {
        if (!wanted(options, test->op, test->queued) || !options->patterns[test->fresh])
            continue;
        test->bytes = first_size(options, test->op);
        do {
            if (fits(test))
                return true;
        } while (next_size(options, test));
    }
    return false;
}

uint32_t
perf_count_tests(const struct perf_options *options)
{
    struct perf_test test = {.op = NULL};
    uint32_t num = 0;

    while (perf_next_test(options, &test))
        num++;
    return num;
}
