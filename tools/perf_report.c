/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_report: what rank 0 prints. A row goes out at once: who interrupts keeps what was there. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/clock.h"
#include "tools/cmd.h"
#include "tools/perf.h"
#include "transport/transport.h"

#define PROGRESS_NS 2000000000ull

const char *
perf_size(uint64_t bytes, char *text)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;

    while (unit < 4 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, 32, "%" PRIu64 " %s", bytes, units[unit]);
    return text;
}

/* ---- the head ---- */

static void
print_processor(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256], name[200] = "unknown processor";
    struct utsname system;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "model name : %199[^\n]", name) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    printf("# machine      %s, %ld processors", name, sysconf(_SC_NPROCESSORS_ONLN));
    if (uname(&system) == 0)
        printf(", %s %s %s", system.sysname, system.release, system.machine);
    putchar('\n');
}

void
perf_print_head(const struct perf_rank *rank)
{
    char package[] = "hcomm", version[ACL_PKG_VERSION_MAX_SIZE] = "?";
    const struct perf_job *job = rank->job;

    if (rank->options->json)
        return;
    (void)aclsysGetVersionStr(package, version);
    print_processor();
    printf("# library      hcomm %s, transports", version);
    for (int i = 0; tp_all[i] != NULL; i++)
        printf(" %s", tp_all[i]->name);
    printf("\n# ranks        %u, in %u process%s%s%s%s; %s memory\n", rank->size, job->processes,
           job->processes == 1 ? "" : "es", job->launcher == NULL ? "" : " of ",
           job->launcher == NULL ? "" : job->launcher, rank->options->pin ? ", pinned" : "",
           perf_memory_names[rank->options->memory]);
    if (!rank->options->routes && rank->coll == NULL)
        printf("%-10s %9s %-6s %-7s %11s %11s %11s %10s %11s\n", "op", "bytes", "mode", "pattern",
               "min us", "median us", "p99 us", "MB/s", "msg/s");
    (void)fflush(stdout);
}

/* ---- rows ---- */

void
perf_json(struct perf_rank *rank, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    if (rank->options->json)
        vprintf(fmt, args);
    if (rank->rows != NULL)
        vfprintf(rank->rows, fmt, again);
    va_end(again);
    va_end(args);
}

HcclResult
perf_flush(struct perf_rank *rank)
{
    if (fflush(stdout) == 0)
        return HCCL_SUCCESS;
    return perf_fail(rank, HCCL_E_SYSCALL, "cannot write the output: %s", strerror(errno));
}

HcclResult
perf_draw_rows(struct perf_rank *rank)
{
    HcclResult rc = HCCL_SUCCESS;

    if (rank->rows == NULL)
        return HCCL_SUCCESS;
    if (fclose(rank->rows) != 0 || rank->rows_text == NULL)
        rc = perf_fail(rank, HCCL_E_MEMORY, "no memory for the rows of the picture");
    else if (perf_plot_text(rank->rows_text, rank->rows_len, rank->options->plot) != CMD_GOOD)
        rc = HCCL_E_SYSCALL; /* said */
    rank->told = rc != HCCL_SUCCESS;
    rank->rows = NULL;
    free(rank->rows_text);
    return rc;
}

/* All pairs in one: times of the slowest pair, rates of all together. */
static struct perf_result
join(const struct perf_rank *rank, const struct perf_test *test, double *msg_s)
{
    struct perf_result all = rank->box->result;
    double one_us = 0;

    for (uint32_t i = 0; i < rank->size; i += 2) {
        const struct perf_result *result = &rank->boxes[i]->result;
        double us = test->fresh ? result->us_median : result->train_us;

        if (result->us_median > all.us_median)
            all = *result;
        one_us = us > one_us ? us : one_us;
    }
    *msg_s = one_us > 0 ? 1e6 / one_us * (rank->size / 2) : 0;
    return all;
}

HcclResult
perf_print_row(struct perf_rank *rank, const struct perf_test *test)
{
    const char *mode = test->queued ? "stream" : "inline";
    const char *pattern = test->fresh ? "fresh" : "static";
    double msg_s;
    struct perf_result result = join(rank, test, &msg_s);
    double mb_s = msg_s * (double)test->bytes / 1e6;

    perf_json(rank,
              "{\"op\":\"%s\",\"bytes\":%" PRIu64 ",\"mode\":\"%s\",\"pattern\":\"%s\","
              "\"us_min\":%.4f,\"us_median\":%.4f,\"us_p99\":%.4f,\"mb_s\":%.2f,\"msg_s\":%.0f,"
              "\"memory\":\"%s\",\"ranks\":%u,\"samples\":%" PRIu64 "}\n",
              test->op->name, test->bytes, mode, pattern, result.us_min, result.us_median,
              result.us_p99, mb_s, msg_s, perf_memory_names[rank->options->memory], rank->size,
              result.samples);
    if (!rank->options->json)
        printf("%-10s %9" PRIu64 " %-6s %-7s %11.3f %11.3f %11.3f %10.1f %11.0f\n", test->op->name,
               test->bytes, mode, pattern, result.us_min, result.us_median, result.us_p99, mb_s,
               msg_s);
    return perf_flush(rank);
}

void
perf_progress(const struct perf_rank *rank, uint32_t done, uint32_t all)
{
    static uint64_t next_ns;
    uint64_t now_ns = hc_now_ns();

    if (next_ns == 0)
        next_ns = now_ns + PROGRESS_NS;
    if (!rank->options->progress || now_ns < next_ns)
        return;
    next_ns = now_ns + PROGRESS_NS;
    fprintf(stderr, "hcomm perf: %u of %u rows, now %s\n", done, all, rank->doing);
}
