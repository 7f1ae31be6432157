/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_job: watches over the processes of a job until all is over. One thread, one loop around
 * poll(); signals come through a descriptor.
 *
 * J1  A job ends when one of its processes has failed, or its time is up: the others get SIGTERM
 * and END_MS later SIGKILL. When the user's own signal was passed on before, they have been told,
 * and get END_MS before that. J2  Signals go to process groups, so children of the processes go
 * too. A process that has ended is not reaped before all is over: as long as it is there, its
 * group's number is nobody else's. J3  When all processes have ended, what is left in their groups
 * is ended too, and what they printed is carried to its end. Somebody who left his group and keeps
 * a pipe open is not waited for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tools/run_job.h"

#define END_MS 2000

enum { POLL_SIGNALS, POLL_TARGET, POLL_STDIN, POLL_TYPED, POLLS_OF_OURS };

static void
signal_all(struct run *run, int number)
{
    for (uint32_t i = 0; i < run->num; i++) {
        if (run->processes[i].pid > 0)
            (void)kill(-run->processes[i].pid, number); /* J2 */
    }
}

/* ---- how it ends ---- */

static void
enter_stage(struct run *run, enum run_stage stage)
{
    run->stage = stage;
    run->stage_ends_ns = stage == KILLED ? HC_FOREVER : hc_deadline_ms(END_MS);
    if (stage == TERMINATED) {
        signal_all(run, SIGTERM);
        signal_all(run, SIGCONT); /* who is stopped would not notice */
    }
    if (stage == KILLED)
        signal_all(run, SIGKILL);
}

static void
end_job(struct run *run, enum run_cause cause)
{
    if (run->cause == NOTHING_YET) {
        run->cause = cause;
        run->ended_num = run->alive;
    }
    if (cause == INTERRUPTED || cause == NO_MEMORY)
        enter_stage(run, KILLED);
    else if (run->stage == RUNNING)
        enter_stage(run, run->told ? TOLD : TERMINATED); /* J1 */
}

static void
look_at_time(struct run *run)
{
    uint64_t now_ns = hc_now_ns();

    if (now_ns >= run->time_up_ns) {
        run->time_up_ns = HC_FOREVER;
        end_job(run, TIME_IS_UP);
    }
    if (run->stage != RUNNING && now_ns >= run->stage_ends_ns)
        enter_stage(run, run->stage + 1);
}

/* Whether a process ended, and how. */
static bool
has_ended(struct run_process *process)
{
    siginfo_t info = {.si_pid = 0};

    if (process->pid == 0 || process->ended ||
        waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return false;
    process->ended = true;
    process->by_signal = info.si_code != CLD_EXITED;
    process->status = info.si_status;
    return true;
}

/* Of several that failed at once, one that was killed is the likelier cause of the others' end. */
static void
look_at_processes(struct run *run)
{
    const struct run_process *culprit = NULL;

    for (uint32_t i = 0; i < run->num; i++) {
        struct run_process *process = &run->processes[i];

        if (!has_ended(process))
            continue;
        run->alive--;
        if (process->status != 0 &&
            (culprit == NULL || (process->by_signal && !culprit->by_signal)))
            culprit = process;
    }
    if (culprit == NULL)
        return;
    if (run->cause == NOTHING_YET)
        run->culprit = (uint32_t)(culprit - run->processes);
    end_job(run, PROCESS_FAILED);
}

/* ---- signals ---- */

/* All of us stop together, and go on together. */
static void
stop_for_a_while(struct run *run)
{
    signal_all(run, SIGSTOP);
    (void)raise(SIGSTOP);
    signal_all(run, SIGCONT);
}

static void
take_signal(struct run *run, int number)
{
    switch (number) {
    case SIGCHLD:
        look_at_processes(run);
        break;
    case SIGTSTP:
        stop_for_a_while(run);
        break;
    case SIGINT:
        if (++run->interrupts > 1) {
            end_job(run, INTERRUPTED);
            break;
        }
        /* fall through */
    case SIGTERM:
    case SIGHUP:
        run->told = true;
        /* fall through */
    default:
        signal_all(run, number);
    }
}

static void
take_signals(struct run *run)
{
    struct signalfd_siginfo info;

    while (read(run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        take_signal(run, (int)info.ssi_signo);
}

static int
watch_signals(struct run *run)
{
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP};
    sigset_t set;

    (void)signal(SIGCHLD, SIG_DFL); /* ignored, children would vanish */
    (void)signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction was;

        if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN)
            continue; /* nohup, or a shell's background job: the processes ignore it too */
        sigaddset(&set, numbers[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &set, &run->spawner.mask);
    run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signal_fd >= 0)
        return 0;
    fprintf(stderr, "hcomm run: cannot watch signals: %s\n", strerror(errno));
    return 1;
}

/* ---- the loop ---- */

static int
wait_ms(const struct run *run)
{
    uint64_t now_ns = hc_now_ns(), until_ns = run->time_up_ns;

    if (run->stage != RUNNING && run->stage_ends_ns < until_ns)
        until_ns = run->stage_ends_ns;
    if (run->typed.again_ns > now_ns && run->typed.again_ns < until_ns)
        until_ns = run->typed.again_ns;
    if (until_ns == HC_FOREVER)
        return -1;
    if (until_ns <= now_ns)
        return 0;
    now_ns = (until_ns - now_ns) / 1000000u + 1;
    return now_ns > 60000 ? 60000 : (int)now_ns;
}

/* Waits until something can be done, and does it. Returns how many bytes' worth of reads there
 * were: whether a pipe had something. */
static bool
turn(struct run *run, int timeout_ms)
{
    struct pollfd *polls = run->polls, *outs = polls + POLLS_OF_OURS;
    bool may_read = output_has_room(&run->output), has_read = false;

    polls[POLL_SIGNALS] = (struct pollfd){.fd = run->signal_fd, .events = POLLIN};
    polls[POLL_TARGET] = (struct pollfd){.fd = output_target(&run->output), .events = POLLOUT};
    polls[POLL_STDIN] = (struct pollfd){.fd = typed_source(&run->typed), .events = POLLIN};
    polls[POLL_TYPED] = (struct pollfd){.fd = typed_target(&run->typed), .events = POLLOUT};
    for (uint32_t i = 0; i < 2 * run->num; i++)
        outs[i] = (struct pollfd){.fd = may_read ? run->pipes[i].fd : -1, .events = POLLIN};
    if (poll(polls, POLLS_OF_OURS + 2 * run->num, timeout_ms) <= 0)
        return false;
    if (polls[POLL_SIGNALS].revents != 0)
        take_signals(run);
    if (polls[POLL_STDIN].revents != 0)
        typed_read(&run->typed);
    if (polls[POLL_TYPED].revents != 0)
        typed_pass(&run->typed);
    for (uint32_t i = 0; i < 2 * run->num; i++) {
        if (outs[i].revents == 0)
            continue;
        has_read = true;
        if (!output_read(&run->output, &run->pipes[i]))
            end_job(run, NO_MEMORY);
    }
    output_write(&run->output);
    return has_read;
}

static bool
pipes_are_open(const struct run *run)
{
    for (uint32_t i = 0; i < 2 * run->num; i++) {
        if (run->pipes[i].fd >= 0)
            return true;
    }
    return false;
}

static void
watch(struct run *run)
{
    while (run->alive > 0) {
        (void)turn(run, wait_ms(run));
        look_at_time(run);
    }
    run->time_up_ns = HC_FOREVER;
    if (run->stage < TERMINATED && pipes_are_open(run))
        enter_stage(run, TERMINATED); /* J3 */
    while (pipes_are_open(run)) {
        bool has_read = turn(run, run->stage == KILLED ? 0 : wait_ms(run));

        if (run->stage == KILLED && !has_read && output_has_room(&run->output))
            break;
        if (run->stage == KILLED && !has_read) /* full: wait for who reads us */
            (void)turn(run, wait_ms(run));
        look_at_time(run);
    }
    if (run->stage != KILLED)
        enter_stage(run, KILLED);
}

/* ---- the whole ---- */

/* Standard streams that are closed would give their numbers to pipes. */
static void
fill_standard_streams(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int
start_all(struct run *run)
{
    int stdin_fd = -1, fds[2], rc = typed_init(&run->typed, run->spawner.null_fd, &stdin_fd);

    for (uint32_t i = 0; i < run->num && rc == 0; i++) {
        rc = spawn(&run->spawner, i, i == 0 ? stdin_fd : run->spawner.null_fd, &run->processes[i],
                   fds);
        if (rc != 0)
            break;
        run->alive++;
        for (int side = 0; side < 2; side++) {
            struct run_pipe *pipe = &run->pipes[2 * i + side];

            pipe->fd = fds[side];
            pipe->to = side + 1;
            if (run->options->prefix)
                run_name_ranks(pipe->prefix, sizeof pipe->prefix - 2, run, i, "[", "[");
            if (run->options->prefix)
                strcat(pipe->prefix, "] ");
        }
    }
    if (run->typed.fd >= 0)
        close(stdin_fd);
    return rc;
}

static int
init(struct run *run, const struct run_options *options)
{
    int rc;

    fill_standard_streams();
    run->options = options;
    run->num = options->ranks / options->per_process;
    run->signal_fd = run->typed.fd = run->spawner.guard_fd = -1;
    run->time_up_ns =
        options->timeout_s == 0 ? HC_FOREVER : hc_deadline_ms((int64_t)options->timeout_s * 1000);
    run->processes = hc_calloc(run->num, sizeof *run->processes);
    run->pipes = hc_calloc((size_t)run->num * 2, sizeof *run->pipes);
    run->polls = hc_calloc((size_t)run->num * 2 + POLLS_OF_OURS, sizeof *run->polls);
    if (run->processes == NULL || run->pipes == NULL || run->polls == NULL)
        return 1;
    for (uint32_t i = 0; i < 2 * run->num; i++)
        run->pipes[i].fd = -1;
    rc = spawner_init(&run->spawner, options);
    if (rc == 0)
        rc = watch_signals(run);
    return rc;
}

/* Nobody is left, and nothing. */
static void
fini(struct run *run)
{
    signal_all(run, SIGKILL);
    for (uint32_t i = 0; run->processes != NULL && i < run->num; i++) {
        pid_t pid = run->processes[i].pid;

        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    spawner_fini(&run->spawner);
    for (uint32_t i = 0; run->pipes != NULL && i < 2 * run->num; i++)
        pipe_close(&run->pipes[i]);
    typed_fini(&run->typed);
    if (run->signal_fd >= 0)
        close(run->signal_fd);
    output_fini(&run->output);
    hc_free(run->processes);
    hc_free(run->pipes);
    hc_free(run->polls);
}

/* What is queued goes out, unless the user has had enough. */
static void
write_rest(struct run *run)
{
    output_write(&run->output);
    while (output_target(&run->output) >= 0 && run->interrupts < 2)
        (void)turn(run, -1);
}

int
run_job(const struct run_options *options)
{
    struct run run = {.num = 0};
    int rc = init(&run, options);

    if (rc == 0)
        rc = start_all(&run);
    if (rc == 0) {
        watch(&run);
        rc = run_sum_up(&run);
        write_rest(&run);
    }
    fini(&run);
    return rc;
}
