/* SPDX-License-Identifier: BSD-3-Clause */
/* hcomm run: N ranks of a program on this host. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd.h"
#include "tools/run.h"

#define RANKS_MOST 65536u
#define TIMEOUT_MOST_S 31536000u

static const char usage[] =
    "usage: hcomm run -n N [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Starts PROGRAM as N ranks on this host, one process each, and carries their output.\n"
    "\n"
    "  -n N                      ranks\n"
    "  --devices-per-process K   ranks in each process (1); N/K processes are started\n"
    "  --timeout S               end the job after S seconds, with exit status 124\n"
    "  --no-prefix               do not put the rank before each line of output\n"
    "\n"
    "When a process fails, the others are ended, and its exit status (128 + its signal) is that "
    "of\n"
    "hcomm run. Signals are passed on; a second Ctrl-C kills at once. Process 0 gets standard "
    "input.\n";

static int
read_number(const char *option, const char *text, uint32_t most, uint32_t *value)
{
    unsigned long number;
    char *end;

    if (text == NULL)
        return cmd_misused("run: %s needs a number", option);
    errno = 0;
    number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number == 0 ||
        number > most)
        return cmd_misused("run: %s is \"%s\": it must be a number from 1 to %u", option, text,
                           most);
    *value = (uint32_t)number;
    return CMD_GOOD;
}

/* The value of option `name` at argv[*at]: behind '=' or the next argument; false: not that option.
 */
static bool
is_option(const char *name, char **argv, int *at, const char **value)
{
    size_t len = strlen(name);

    if (strncmp(argv[*at], name, len) != 0 || (argv[*at][len] != '\0' && argv[*at][len] != '='))
        return false;
    *value = argv[*at][len] == '=' ? argv[*at] + len + 1 : argv[++*at];
    return true;
}

static int
read_arguments(struct run_options *options, char **argv)
{
    const char *value = NULL;
    int at = 1, rc = CMD_GOOD;

    for (; rc == CMD_GOOD && argv[at] != NULL && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "--no-prefix") == 0)
            options->prefix = false;
        else if (is_option("-n", argv, &at, &value))
            rc = read_number("-n", value, RANKS_MOST, &options->ranks);
        else if (is_option("--devices-per-process", argv, &at, &value))
            rc = read_number("--devices-per-process", value, RANKS_MOST, &options->per_process);
        else if (is_option("--timeout", argv, &at, &value))
            rc = read_number("--timeout", value, TIMEOUT_MOST_S, &options->timeout_s);
        else
            rc = cmd_misused("run: there is no option \"%s\"; `hcomm run --help` lists them",
                             argv[at]);
    }
    if (rc == CMD_GOOD)
        options->program = argv + at;
    return rc;
}

int
cmd_run(int argc, char **argv)
{
    struct run_options options = {.per_process = 1, .prefix = true};
    int rc;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return CMD_GOOD;
    }
    rc = read_arguments(&options, argv);
    if (rc != CMD_GOOD)
        return rc;
    if (options.ranks == 0)
        return cmd_misused("run: how many ranks? `hcomm run -n 8 -- PROGRAM`");
    if (options.ranks % options.per_process != 0)
        return cmd_misused("run: %u ranks cannot be spread over processes of %u: "
                           "--devices-per-process must divide -n",
                           options.ranks, options.per_process);
    if (options.program[0] == NULL || options.program[0][0] == '\0')
        return cmd_misused("run: which program? `hcomm run -n %u -- PROGRAM`", options.ranks);
    return run_job(&options);
}
