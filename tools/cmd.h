/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd: the subcommands of `hcomm`, one file each. A subcommand gets its own name as argv[0], writes
 * what was asked for to stdout and one line to stderr if it fails, and returns the exit status.
 */
#ifndef HC_TOOLS_CMD_H
#define HC_TOOLS_CMD_H

#define CMD_GOOD 0
#define CMD_FAILED 1 /* it was tried */
#define CMD_USAGE 2  /* it was not understood */

int cmd_config(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_package(int argc, char **argv);
int cmd_perf(int argc, char **argv);
int cmd_run(int argc, char **argv);

/* "hcomm: <fmt...>" to stderr; returns CMD_USAGE. */
int cmd_misused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
