/* SPDX-License-Identifier: BSD-3-Clause */
/* run_report: how a job ended, in one line. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "tools/run_job.h"

void
run_name_ranks(char *text, size_t len, const struct run *run, uint32_t process, const char *one,
               const char *many)
{
    uint32_t k = run->options->per_process;

    if (k == 1)
        snprintf(text, len, "%s%u", one, process);
    else
        snprintf(text, len, "%s%u-%u", many, process * k, process * k + k - 1);
}

/* "; the other 7 were ended", or whatever is true. */
static void
tell_others(char *text, size_t len, const struct run *run)
{
    const char *processes = run->options->per_process == 1 ? "" : " processes";
    uint32_t num = run->ended_num;

    if (num == 0)
        text[0] = '\0';
    else if (num == 1)
        snprintf(text, len, "; %s was ended", run->num == 2 ? "the other" : "one other");
    else if (num == run->num - 1)
        snprintf(text, len, "; the other %u%s were ended", num, processes);
    else
        snprintf(text, len, "; %u other%s were ended", num, processes[0] == '\0' ? "s" : processes);
}

int
run_sum_up(struct run *run)
{
    const struct run_process *culprit = &run->processes[run->culprit];
    char others[80], who[48];

    if (run->output.write_error != 0) {
        fprintf(stderr, "hcomm run: cannot write the output: %s\n",
                strerror(run->output.write_error));
        if (run->cause == NOTHING_YET)
            return 1;
    }
    tell_others(others, sizeof others, run);
    run_name_ranks(who, sizeof who, run, run->culprit, "rank ", "ranks ");
    switch (run->cause) {
    case NOTHING_YET:
        return 0;
    case TIME_IS_UP:
        (void)output_say(
            &run->output, "hcomm run: not done within %u s (--timeout): %u process%s ended",
            run->options->timeout_s, run->ended_num, run->ended_num == 1 ? " was" : "es were");
        return RUN_TIMED_OUT;
    case INTERRUPTED:
        (void)output_say(&run->output, "hcomm run: interrupted twice: %u process%s killed",
                         run->ended_num, run->ended_num == 1 ? " was" : "es were");
        return 128 + SIGINT;
    case NO_MEMORY:
        return 1;
    default:
        break;
    }
    if (!culprit->by_signal) {
        (void)output_say(&run->output, "hcomm run: %s (process %d) exited with status %d%s", who,
                         (int)culprit->pid, culprit->status, others);
        return culprit->status;
    }
    (void)output_say(&run->output, "hcomm run: %s (process %d) was killed by signal %d (%s)%s", who,
                     (int)culprit->pid, culprit->status, strsignal(culprit->status), others);
    return 128 + culprit->status;
}
