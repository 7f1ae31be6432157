/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm perf: how fast this machine is with hcomm.
 *
 * Started alone, it becomes the launcher of `hcomm run` with itself as the program; started by a
 * launcher, or with --threads, it runs its ranks. Arguments are read, and refused, before anything
 * is started.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hcomm/hcomm_job.h"
#include "tools/cmd.h"
#include "tools/perf_coll.h"
#include "tools/run.h"

#define CUSTOM "custom-op"
#define DEVICES 8u /* at least, in a process that we start */

static const char usage[] =
    "usage: hcomm perf [OPERATION...] [OPTION...]\n"
    "       hcomm perf routes [--mode M] [--iters N] [--json] [--no-pin]\n"
    "       hcomm perf plot FILE.json... -o OUT.svg [--x bytes] [--y us|mb_s|algbw|busbw]\n"
    "\n"
    "Measures operations between two processes of this host, which it starts; or between the "
    "ranks\n"
    "of a job, when hcomm run, mpirun or srun started it.\n"
    "\n"
    "  --min SIZE, --max SIZE    sizes, doubled from one to the other (8, 16M)\n"
    "  --mode inline|stream|both       calls on the own thread, or queued (inline)\n"
    "  --pattern static|fresh|both     buffers stay; or are written before and read after "
    "(static)\n"
    "  --memory device|pinned|malloc   of both buffers (device)\n"
    "  --ranks N                 pairs (0,1), (2,3), ... at once; of a collective, all (2)\n"
    "  --threads                 ranks are threads of one process\n"
    "  --iters N                 samples of a row (as many as fit into 60 ms)\n"
    "  --json                    one object a row\n"
    "  --plot OUT.svg            draws the rows, too\n"
    "  --check, --no-check       compare the data of 64 more rounds of a row; of none (of 2)\n"
    "  --no-pin                  do not pin rank i to processor i\n"
    "  --progress                say every 2 s how far it is (so if stdout is no terminal)\n"
    "\n"
    "Of collectives only; they are queued, unless --mode says otherwise:\n"
    "  --type TYPE               of an element: fp32, int8, bfp16, ... (fp32)\n"
    "  --op sum|prod|max|min     of reductions (sum)\n"
    "  --root RANK               (0)\n"
    "  --in-place                in place too, next to it\n"
    "  --engine aicpu|cpu_ts|auto      who runs them: sets HCOMM_COLL_ENGINE\n"
    "  --algo NAME               sets HCOMM_COLL_ALGO\n"
    "\n"
    "routes compares ways for 1 MiB between two NPUs. plot draws what --json printed.\n"
    "\n"
    "Operations, point to point (all of them, unless some are named):\n";

static int
print_usage(void)
{
    fputs(usage, stdout);
    for (uint32_t i = 0; i < perf_op_num; i++)
        printf("  %-12s %s\n", perf_ops[i].name, perf_ops[i].does);
    perf_coll_print_help();
    return CMD_GOOD;
}

/* ---- what can be measured ---- */

/* Looks for the kernel of custom-op, if it is wanted. Nothing left: the exit status. */
static int
settle_custom_op(struct perf_options *options, bool tells)
{
    const struct perf_op *op = perf_op_find(CUSTOM, strlen(CUSTOM));
    bool *wanted = &options->ops[op - perf_ops];

    if (*wanted && options->memory != PERF_DEVICE) {
        if (tells)
            fputs("hcomm perf: custom-op is left out: it takes device memory only\n", stderr);
        *wanted = false;
    } else if (*wanted) {
        *wanted = perf_kernel_use(tells);
    }
    if (options->routes || perf_count_tests(options) > 0)
        return CMD_GOOD;
    return tells ? cmd_misused("perf: nothing is left to measure: accumulate takes sizes that are "
                               "multiples of 4; see above for custom-op")
                 : CMD_USAGE;
}

/* ---- this process runs ranks ---- */

static int
run_here(const struct perf_options *options, const HcommJobInfo *info, uint32_t num,
         const char *launcher)
{
    uint32_t size = info->processes * num, devices = 0;
    struct perf_job job = {.options = options,
                           .launcher = launcher,
                           .processes = info->processes,
                           .processors = perf_processors()};
    int status;

    if (num == 1 && options->pin)
        perf_pin(info->localProcess); /* before there are threads */
    if (aclInit(NULL) != ACL_SUCCESS || aclrtGetDeviceCount(&devices) != ACL_SUCCESS ||
        aclrtSetDevice((int32_t)(info->localProcess * num % devices)) != ACL_SUCCESS ||
        HcommJobGetRootInfo(&job.root) != HCCL_SUCCESS)
        return CMD_FAILED; /* said */
    status = perf_run_ranks(&job, info->process * num, info->localProcess * num, num, size);
    (void)aclFinalize();
    return status;
}

static int
run_in_job(const struct perf_options *options, const HcommJobInfo *info, bool ours)
{
    if ((info->rankSize % 2 != 0 && !options->coll.any) || info->rankSize > PERF_RANKS_MOST)
        return cmd_misused("perf: this job has %u ranks: start %s, at most %u", info->rankSize,
                           options->coll.any ? "less" : "an even number", PERF_RANKS_MOST);
    if (options->ranks != 0 && options->ranks != info->rankSize)
        return cmd_misused("perf: --ranks is %u, but %s started %u: leave --ranks away",
                           options->ranks, info->launcher, info->rankSize);
    if (options->threads && info->processes > 1)
        return cmd_misused("perf: --threads, but %s started %u processes: leave one of them away",
                           info->launcher, info->processes);
    if (options->routes && info->rankSize != 2)
        return cmd_misused("perf: routes needs 2 ranks, and this job has %u", info->rankSize);
    return run_here(options, info, info->ranksPerProcess, ours ? NULL : info->launcher);
}

/* ---- this process starts ranks ---- */

static void
set_variables(uint32_t ranks)
{
    char devices[16];

    /* All ranks are here: they need no network. */
    if (getenv("HCCL_IF_IP") == NULL && getenv("HCCL_SOCKET_IFNAME") == NULL)
        (void)setenv("HCCL_IF_IP", "127.0.0.1", 1);
    snprintf(devices, sizeof devices, "%u", ranks < DEVICES ? DEVICES : ranks);
    (void)setenv("HCOMM_DEVICE_COUNT", devices, 0);
}

static int
start_processes(uint32_t ranks, bool progress, int argc, char **argv)
{
    struct run_options run = {.ranks = ranks, .per_process = 1};
    char **program = hc_calloc((size_t)argc + 4, sizeof *program), self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    char command[] = "perf", with_progress[] = "--progress", started[] = "--started";
    int at = 0, status;

    if (program == NULL)
        return CMD_FAILED;
    if (len < 0) {
        fprintf(stderr, "hcomm perf: cannot find itself in /proc: %s\n", strerror(errno));
        hc_free(program);
        return CMD_FAILED;
    }
    self[len] = '\0';
    program[at++] = self;
    program[at++] = command;
    for (int i = 1; i < argc; i++)
        program[at++] = argv[i];
    program[at++] = started;
    if (progress)
        program[at++] = with_progress;
    run.program = program;
    status = run_job(&run);
    hc_free(program);
    return status;
}

/* ---- the command ---- */

int
cmd_perf(int argc, char **argv)
{
    struct perf_options options = {
        .pin = true,
        .check = true,
        .modes = {true, false},
        .patterns = {true, false},
        .coll = {.type = HCCL_DATA_TYPE_FP32, .redop = HCCL_REDUCE_SUM},
    };
    HcommJobInfo info;
    uint32_t ranks;
    bool in_job;
    int rc;

    if (argc > 1 && strcmp(argv[1], "plot") == 0)
        return perf_plot(argc - 1, argv + 1);
    options.routes = argc > 1 && strcmp(argv[1], "routes") == 0;
    if (options.routes) { /* inline and queued, beside the operator, which is queued */
        options.modes[1] = options.ops[perf_op_find(CUSTOM, strlen(CUSTOM)) - perf_ops] = true;
        options.min = options.max = PERF_ROUTE_BYTES;
    }
    rc = perf_read_arguments(&options, argc, argv);
    if (rc == CMD_GOOD && options.help)
        return print_usage();
    if (rc != CMD_GOOD)
        return rc;
    if (HcommJobGetInfo(&info) != HCCL_SUCCESS)
        return CMD_USAGE; /* said */
    in_job = info.rankSize > 1 || options.started;
    ranks = in_job ? info.rankSize : options.ranks == 0 ? 2 : options.ranks;
    if (options.coll.any)
        rc = perf_coll_settle(&options, ranks);
    else
        rc = settle_custom_op(&options, info.process == 0 && !options.started);
    if (rc != CMD_GOOD)
        return rc;
    if (in_job)
        return run_in_job(&options, &info, options.started);
    set_variables(ranks);
    options.progress = options.progress || isatty(STDOUT_FILENO) == 0;
    if (!options.threads)
        return start_processes(ranks, options.progress, argc, argv);
    return run_here(&options, &info, ranks, NULL);
}
