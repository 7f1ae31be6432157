/* SPDX-License-Identifier: BSD-3-Clause */
/* hcomm: the command line. A new subcommand is a file cmd_<name>.c and a row here. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "tools/cmd.h"

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *does;
} commands[] = {
    {"info", cmd_info, "devices, memory, transports, and the knobs that are set"},
    {"run", cmd_run, "start the ranks of a program on this host"},
    {"perf", cmd_perf, "how fast point to point is here; plots; routes between two NPUs"},
    {"config", cmd_config, "every knob with its variable, default, range and meaning"},
    {"package", cmd_package, "sign, verify, allow and forbid kernel packages"},
    {"version", cmd_version, "which version this is"},
    {"help", cmd_help, "this list"},
};

#define COMMAND_NUM (sizeof commands / sizeof commands[0])

int
cmd_misused(const char *fmt, ...)
{
    va_list args;

    fputs("hcomm: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return CMD_USAGE;
}

static int
cmd_version(int argc, char **argv)
{
    char package[] = "hcomm";
    int32_t number = 0;

    (void)argv;
    if (argc > 1)
        return cmd_misused("version takes no arguments");
    if (aclsysGetVersionNum(package, &number) != ACL_SUCCESS)
        return CMD_FAILED;
    printf("hcomm %d.%d.%d\n", number / 10000000, number / 100000 % 100, number / 1000 % 100);
    return CMD_GOOD;
}

static int
cmd_help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("usage: hcomm COMMAND [ARGUMENT...]\n");
    for (size_t i = 0; i < COMMAND_NUM; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].does);
    return CMD_GOOD;
}

int
main(int argc, char **argv)
{
    const char *name = argc < 2 ? "help" : argv[1];
    int rc = CMD_USAGE;
    size_t i = 0;

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    while (i < COMMAND_NUM && strcmp(name, commands[i].name) != 0)
        i++;
    if (i == COMMAND_NUM)
        return cmd_misused("there is no command \"%s\"; `hcomm help` lists them", name);
    rc = commands[i].run(argc < 2 ? argc : argc - 1, argc < 2 ? argv : argv + 1);
    if (fflush(stdout) != 0 && rc == CMD_GOOD)
        rc = CMD_FAILED;
    return argc < 2 ? CMD_USAGE : rc;
}
