/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs each registered test in a forked process and checks what it leaves behind. */
#define _GNU_SOURCE
#include "tests/support/test.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define MAX_EXPECTED 32
#define MAX_LOGGED 256
#define LOGGED_LEN 512

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_FACTOR 5u
#else
#define SLOW_FACTOR 1u
#endif

static struct test_case *first;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static const char *expected[MAX_EXPECTED];
static bool came[MAX_EXPECTED];
static int expected_num;
static bool any_error_is_fine;
static char unexpected[LOGGED_LEN];
static char logged[MAX_LOGGED][LOGGED_LEN];
static int logged_num;

static char tmpdir[64];

void
test_register(struct test_case *test)
{
    test->next = first;
    first = test;
}

void
test_expect_eq(long long want, long long have, const char *what, const char *file, int line)
{
    if (want == have)
        return;
    print_error("%s is %lld (0x%llx), expected %lld (0x%llx)\n", what, have, have, want, want);
    _fail(file, line);
}

void
test_expect_ne(long long unwanted, long long have, const char *what, const char *file, int line)
{
    if (unwanted != have)
        return;
    print_error("%s is %lld\n", what, have);
    _fail(file, line);
}

void
test_expect_contains(const char *part, const char *text, const char *what, const char *file,
                     int line)
{
    if (text != NULL && strstr(text, part) != NULL)
        return;
    print_error("%s is \"%s\", expected it to contain \"%s\"\n", what,
                text == NULL ? "(null)" : text, part);
    _fail(file, line);
}

void
test_expect_error(const char *part)
{
    pthread_mutex_lock(&log_lock);
    if (expected_num < MAX_EXPECTED)
        expected[expected_num++] = part;
    pthread_mutex_unlock(&log_lock);
}

void
test_allow_errors(void)
{
    any_error_is_fine = true;
}

int
test_logged(const char *part)
{
    int count = 0;

    pthread_mutex_lock(&log_lock);
    for (int i = 0; i < logged_num; i++)
        count += strstr(logged[i], part) != NULL;
    pthread_mutex_unlock(&log_lock);
    return count;
}

bool
test_logged_line(bool (*is)(const char *line, const void *arg), const void *arg)
{
    bool found = false;

    pthread_mutex_lock(&log_lock);
    for (int i = 0; i < logged_num && !found; i++)
        found = is(logged[i], arg);
    pthread_mutex_unlock(&log_lock);
    return found;
}

static void
see_log(enum hc_log_level level, const char *tag, const char *message)
{
    bool fine = level != HC_LOG_ERROR || any_error_is_fine;

    (void)tag;
    pthread_mutex_lock(&log_lock);
    if (logged_num < MAX_LOGGED)
        snprintf(logged[logged_num++], LOGGED_LEN, "%s", message);
    for (int i = 0; i < expected_num && level == HC_LOG_ERROR; i++) {
        if (strstr(message, expected[i]) != NULL)
            came[i] = fine = true;
    }
    if (!fine && unexpected[0] == '\0')
        snprintf(unexpected, sizeof unexpected, "%s", message);
    pthread_mutex_unlock(&log_lock);
}

const char *
test_tmpdir(void)
{
    if (tmpdir[0] == '\0') {
        snprintf(tmpdir, sizeof tmpdir, "/tmp/hcomm-test-XXXXXX");
        if (mkdtemp(tmpdir) == NULL)
            fail_msg("cannot make %s", tmpdir);
    }
    return tmpdir;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void
test_time_limit(unsigned seconds)
{
    alarm(seconds * SLOW_FACTOR);
}

int
test_open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 3; /* ".", ".." and the directory itself */
}

static void
run_body(void **state)
{
    const struct test_case *test = *state;

    test->fn();
    pthread_mutex_lock(&log_lock);
    for (int i = 0; i < expected_num; i++) {
        if (!came[i])
            print_error("no error was logged that contains \"%s\"\n", expected[i]);
    }
    if (unexpected[0] != '\0')
        print_error("unexpected error: %s\n", unexpected);
    bool good = unexpected[0] == '\0';
    for (int i = 0; i < expected_num; i++)
        good = good && came[i];
    pthread_mutex_unlock(&log_lock);
    if (!good)
        fail();
}

/* No allocation is left. Threads of the library let go a moment after their work is seen done. */
static bool
memory_settles(void)
{
    for (int tries = 0; tries < 200 && hc_alloc_live() > 0; tries++)
        usleep(10000);
    return hc_alloc_live() <= 0;
}

/* What the library keeps for the life of a process: two memory files, and the five descriptors with
 * which other processes reach it. */
#define KEPT_FILES 7

static bool
files_settle(int before)
{
    for (int tries = 0; tries < 200 && test_open_fds() > before + KEPT_FILES; tries++)
        usleep(10000);
    return test_open_fds() <= before + KEPT_FILES;
}

/* In the test's own process. */
static int
run_child(const struct test_case *test)
{
    const struct CMUnitTest one = {
        .name = test->name, .test_func = run_body, .initial_state = (void *)test};
    int fds = test_open_fds();
    char job[32];
    int failed;

    setenv("HCOMM_P2P_PLAN", "large_from=65536", 0); /* no test measures the machine unasked */
    setenv("HCCL_SOCKET_IFNAME", "=lo", 0); /* tests talk to this machine's loopback only */
    snprintf(job, sizeof job, "test-%d", (int)getpid());
    setenv("HCOMM_JOB_ID", job, 0); /* other tests have the same rank tables */
    hc_log_set_hook(see_log);
    test_time_limit(60);
    failed = _cmocka_run_group_tests(test->name, &one, 1, NULL, NULL);
    if (failed == 0 && (test->flags & TEST_KEEPS_FILES) == 0 && !files_settle(fds)) {
        fprintf(stderr, "%s left %d descriptors open\n", test->name,
                test_open_fds() - fds - KEPT_FILES);
        failed = 1;
    }
    if (failed == 0 && (test->flags & TEST_KEEPS_MEMORY) == 0 && !memory_settles()) {
        fprintf(stderr, "%s left %ld allocations behind\n", test->name, hc_alloc_live());
        failed = 1;
    }
    return failed;
}

static struct {
    void (*fn)(int rank, void *shared);
    int rank;
    void *shared;
} child_body;

static void
run_child_body(void)
{
    child_body.fn(child_body.rank, child_body.shared);
}

/* Descriptors are not counted: links to other processes stay up until a process ends. */
_Noreturn void
test_run_child(void (*fn)(int rank, void *shared), int rank, void *shared)
{
    static char name[32];
    const struct test_case child = {.name = name, .fn = run_child_body, .flags = TEST_KEEPS_FILES};

    snprintf(name, sizeof name, "process %d", rank);
    expected_num = logged_num = 0;
    any_error_is_fine = false;
    unexpected[0] = '\0';
    memset(came, 0, sizeof came);
    child_body.fn = fn;
    child_body.rank = rank;
    child_body.shared = shared;
    rank = run_child(&child);
    fflush(NULL);
    exit(rank == 0 ? 0 : 1);
}

static bool
run_one(const struct test_case *test)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        cmocka_set_message_output(CM_OUTPUT_STDOUT);
        int failed = run_child(test);
        if (tmpdir[0] != '\0')
            nftw(tmpdir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        fflush(NULL);
        exit(failed == 0 ? 0 : 1); /* exit handlers run: sanitizers report there */
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "FAILED %s: %s\n", test->name,
                WTERMSIG(status) == SIGALRM ? "took too long" : strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "FAILED %s: exit status %d\n", test->name, WEXITSTATUS(status));
    return false;
}

int
main(int argc, char **argv)
{
    int good = 0, bad = 0;

    for (const struct test_case *test = first; test != NULL; test = test->next) {
        if (argc > 1 && strcmp(argv[1], "--list") == 0) {
            puts(test->name);
            continue;
        }
        if (argc > 1 && strcmp(argv[1], test->name) != 0)
            continue;
        if (run_one(test))
            good++;
        else
            bad++;
    }
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return 0;
    printf("%d passed, %d failed\n", good, bad);
    return bad == 0 && good > 0 ? 0 : 1;
}
