/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: processes, pinned, with memory in common. */
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSORS 2
#define CHECKS 5u /* of the flag, beside each row */
#define CHECK_ROUNDS 100u

void
fail(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "compare: %s\n", text);
    exit(1);
}

uint64_t
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void
result_print(const struct result *result, double *samples, unsigned count)
{
    double median;

    qsort(samples, count, sizeof *samples, compare_doubles);
    median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
    printf("{\"row\":\"%s\",\"bytes\":%zu,\"pattern\":\"%s\",\"memory\":\"%s\",\"ranks\":%d,"
           "\"samples\":%u,\"us_min\":%.4f,\"us_median\":%.4f,\"us_p99\":%.4f,"
           "\"flag_us_before\":%.4f,\"flag_us_after\":%.4f}\n",
           result->row, result->bytes, result->pattern, result->memory, result->ranks, count,
           samples[0] / 1e3, median / 1e3, samples[(count * 99 - 1) / 100] / 1e3,
           result->flag_before / 1e3, result->flag_after / 1e3);
}

double
flag_time(atomic_uint *own, const atomic_uint *other, bool first, unsigned rounds)
{
    unsigned turn = atomic_load(own);
    uint64_t start = now_ns();

    for (unsigned i = 0; i < rounds; i++) {
        turn++;
        if (first)
            atomic_store_explicit(own, turn, memory_order_release);
        while (atomic_load_explicit(other, memory_order_acquire) != turn)
            ;
        if (!first)
            atomic_store_explicit(own, turn, memory_order_release);
    }
    return (double)(now_ns() - start) / (2.0 * rounds);
}

double
flag_check(atomic_uint *own, const atomic_uint *other, bool first)
{
    double best = 0;

    for (unsigned i = 0; i < CHECKS; i++) {
        double took = flag_time(own, other, first, CHECK_ROUNDS);

        best = i == 0 || took < best ? took : best;
    }
    return best;
}

void
pin(int rank)
{
    cpu_set_t may, one;
    int seen = 0;

    if (sched_getaffinity(0, sizeof may, &may) != 0 || CPU_COUNT(&may) < PROCESSORS)
        fail("needs two processors, and may use %d", CPU_COUNT(&may));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &may) || seen++ != rank % PROCESSORS)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            fail("cannot pin rank %d to processor %d: %s", rank, cpu, strerror(errno));
        return;
    }
}

static void *
shared_map(int fd, size_t len)
{
    void *shared = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

    if (shared == MAP_FAILED)
        fail("cannot map %zu bytes: %s", len, strerror(errno));
    return shared;
}

void *
shared_create(char *path, size_t path_len, size_t len)
{
    int fd = memfd_create("compare", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, (off_t)len) != 0)
        fail("cannot make shared memory: %s", strerror(errno));
    snprintf(path, path_len, "/proc/%d/fd/%d", (int)getpid(), fd); /* stays open */
    return shared_map(fd, len);
}

void *
shared_open(const char *path, size_t len)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *shared;

    if (fd < 0)
        fail("cannot open %s: %s", path, strerror(errno));
    shared = shared_map(fd, len);
    close(fd);
    return shared;
}

void *
shared_inherit(size_t len)
{
    void *shared =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (shared == MAP_FAILED)
        fail("cannot map %zu bytes: %s", len, strerror(errno));
    return shared;
}

static pid_t
rank_fork(int rank, void (*body)(int rank, void *arg), void *arg)
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        fail("cannot fork: %s", strerror(errno));
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    pin(rank);
    body(rank, arg);
    exit(0);
}

int
ranks_fork(const char *name, int ranks, void (*body)(int rank, void *arg), void *arg)
{
    pid_t *pids = calloc((size_t)ranks, sizeof *pids);
    int bad = 0, status;

    if (pids == NULL)
        fail("no memory");
    for (int rank = 0; rank < ranks; rank++)
        pids[rank] = rank_fork(rank, body, arg);
    for (int left = ranks; left > 0;) {
        pid_t pid = wait(&status);

        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            break;
        left--;
        for (int rank = 0; rank < ranks; rank++) {
            if (pids[rank] != pid)
                continue;
            pids[rank] = 0;
            if (WIFSIGNALED(status) && bad == 0)
                fprintf(stderr, "compare: %s: rank %d died of signal %d\n", name, rank,
                        WTERMSIG(status));
        }
        if (status != 0 && bad++ == 0) {
            for (int rank = 0; rank < ranks; rank++) {
                if (pids[rank] != 0)
                    kill(pids[rank], SIGKILL); /* it would wait for ever */
            }
        }
    }
    free(pids);
    return bad != 0;
}
