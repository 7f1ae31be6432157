/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_spawn: starts the processes of a job so that none of them outlives it.
 *
 * Each process leads a process group, so that its children go with it. When the launcher is killed,
 * the kernel kills the processes (PDEATHSIG), but not their children: that is left to the guard, a
 * process that does nothing but wait for the end of a pipe whose other end the launcher has. Every
 * process tells the guard its number itself, before it becomes the program: there is no moment at
 * which a program runs and the guard does not know it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tools/run.h"

#define OWN_DESCRIPTORS 32u /* what the launcher needs besides the processes' pipes */

static int
fail_descriptors(const struct run_spawner *spawner, int error)
{
    fprintf(
        stderr,
        "hcomm run: cannot make the pipes of %u processes: %s; raise the limit of open files to "
        "%u (ulimit -n), or start fewer\n",
        spawner->processes, strerror(error), 2 * spawner->processes + OWN_DESCRIPTORS);
    return 1;
}

static int
fail_processes(const struct run_spawner *spawner, uint32_t number, int error)
{
    fprintf(
        stderr,
        "hcomm run: cannot start process %u of %u: %s; raise the limit of processes (ulimit -u, "
        "or the container's), or start fewer\n",
        number + 1, spawner->processes, strerror(error));
    return 1;
}

static int
fail_program(const struct run_options *options, int error)
{
    const char *program = options->program[0];

    if (error == ENOENT || error == ENOTDIR) {
        fprintf(stderr, "hcomm run: there is no program \"%s\"%s\n", program,
                strchr(program, '/') == NULL ? " in the directories of PATH" : "");
        return RUN_NOT_FOUND;
    }
    fprintf(stderr, "hcomm run: cannot execute \"%s\": %s\n", program, strerror(error));
    return RUN_NOT_EXECUTABLE;
}

/* The guard. A pid of 0 says that the job is over; the end of the pipe, that the launcher is gone.
 */
static _Noreturn void
guard_main(int fd, pid_t *pids, uint32_t most)
{
    uint32_t num = 0;
    pid_t pid = 0;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)setsid(); /* whoever kills the launcher's group does not mean the guard */
    (void)prctl(PR_SET_NAME, "hcomm run guard");
    for (int std = 0; std < 3 && null_fd >= 0; std++)
        (void)dup2(null_fd, std);
    for (;;) {
        ssize_t n = read(fd, &pid, sizeof pid); /* so short, it comes whole */

        if (n < 0 && errno == EINTR)
            continue;
        if (n == (ssize_t)sizeof pid && pid == 0)
            _exit(0);
        if (n != (ssize_t)sizeof pid)
            break;
        if (num < most)
            pids[num++] = pid;
    }
    while (num > 0)
        (void)kill(-pids[--num], SIGKILL);
    _exit(0);
}

static int
start_guard(struct run_spawner *spawner)
{
    pid_t *pids = hc_calloc(spawner->processes, sizeof *pids);
    sigset_t all;
    int ends[2];

    if (pids == NULL)
        return 1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        hc_free(pids);
        return fail_descriptors(spawner, errno);
    }
    sigfillset(&all);
    spawner->guard = fork();
    if (spawner->guard == 0) {
        (void)sigprocmask(SIG_SETMASK, &all, NULL);
        close(ends[1]);
        guard_main(ends[0], pids, spawner->processes);
    }
    hc_free(pids);
    close(ends[0]);
    if (spawner->guard < 0) {
        close(ends[1]);
        return fail_processes(spawner, 0, errno);
    }
    spawner->guard_fd = ends[1];
    return 0;
}

static void
raise_limit(struct run_spawner *spawner)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    spawner->limit = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int
spawner_init(struct run_spawner *spawner, const struct run_options *options)
{
    uint64_t random[2];

    *spawner = (struct run_spawner){
        .options = options,
        .processes = options->ranks / options->per_process,
        .guard_fd = -1,
    };
    raise_limit(spawner);
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        fprintf(stderr, "hcomm run: no random numbers for the job's id: %s\n", strerror(errno));
        return 1;
    }
    snprintf(spawner->id, sizeof spawner->id, "%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    spawner->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (spawner->null_fd < 0)
        return fail_descriptors(spawner, errno);
    return start_guard(spawner);
}

void
spawner_fini(struct run_spawner *spawner)
{
    pid_t over = 0;

    if (spawner->guard_fd >= 0) {
        (void)!write(spawner->guard_fd, &over, sizeof over);
        close(spawner->guard_fd);
        while (waitpid(spawner->guard, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (spawner->null_fd > 0)
        close(spawner->null_fd);
}

static void
set_number(const char *name, uint32_t value)
{
    char text[16];

    snprintf(text, sizeof text, "%u", value);
    (void)setenv(name, text, 1);
}

static void
set_variables(const struct run_spawner *spawner, uint32_t number)
{
    set_number("HCOMM_JOB_PROCESS", number);
    set_number("HCOMM_JOB_PROCESSES", spawner->processes);
    set_number("HCOMM_JOB_LOCAL_PROCESS", number);
    set_number("HCOMM_JOB_LOCAL_PROCESSES", spawner->processes);
    set_number("HCOMM_JOB_RANKS_PER_PROCESS", spawner->options->per_process);
    (void)setenv("HCOMM_JOB_ID", spawner->id, 1);
}

/* In the new process: becomes the program, or tells `told_fd` why not. */
static _Noreturn void
become_program(const struct run_spawner *spawner, uint32_t number, pid_t launcher, const int std[3],
               int told_fd)
{
    struct rlimit limit;
    pid_t self = getpid();
    int error;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(1); /* it had gone before */
    (void)!write(spawner->guard_fd, &self, sizeof self);
    for (int i = 0; i < 3; i++)
        (void)dup2(std[i], i);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = (rlim_t)spawner->limit;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    set_variables(spawner, number);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &spawner->mask, NULL);
    (void)execvp(spawner->options->program[0], spawner->options->program);
    error = errno;
    (void)!write(told_fd, &error, sizeof error);
    _exit(1);
}

/* 0 once the process has become the program, or why it did not. */
static int
hear(int fd)
{
    int error = 0;

    while (read(fd, &error, sizeof error) < 0 && errno == EINTR)
        ;
    return error;
}

static void
close_ends(int ends[3][2])
{
    for (int i = 0; i < 3; i++) {
        for (int side = 0; side < 2; side++) {
            if (ends[i][side] >= 0)
                close(ends[i][side]);
        }
    }
}

int
spawn(struct run_spawner *spawner, uint32_t number, int stdin_fd, struct run_process *process,
      int fds[2])
{
    int ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}; /* output, error, what exec says */
    pid_t launcher = getpid(), pid;
    int error;

    for (int i = 0; i < 3; i++) {
        if (pipe2(ends[i], O_CLOEXEC) == 0)
            continue;
        error = errno;
        close_ends(ends);
        return fail_descriptors(spawner, error);
    }
    pid = fork();
    if (pid == 0) {
        const int std[3] = {stdin_fd, ends[0][1], ends[1][1]};

        become_program(spawner, number, launcher, std, ends[2][1]);
    }
    if (pid < 0) {
        error = errno;
        close_ends(ends);
        return fail_processes(spawner, number, error);
    }
    (void)setpgid(pid, pid); /* whoever is first */
    process->pid = pid;
    close(ends[2][1]);
    ends[2][1] = -1;
    error = hear(ends[2][0]);
    if (error != 0) {
        close_ends(ends);
        return fail_program(spawner->options, error);
    }
    for (int i = 0; i < 2; i++) {
        fds[i] = ends[i][0];
        ends[i][0] = -1;
        (void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    close_ends(ends);
    return 0;
}
