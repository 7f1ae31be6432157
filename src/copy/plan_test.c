/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "copy/plan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

static const struct copy_plan odd = {
    .eager = 4097, .middle = COPY_PUSH, .large = COPY_PULL, .large_from = 123456, .piece = 8191};

static bool
same(const struct copy_plan *a, const struct copy_plan *b)
{
    return a->eager == b->eager && a->middle == b->middle && a->large == b->large &&
           a->large_from == b->large_from && a->piece == b->piece;
}

static bool
sane(const struct copy_plan *plan)
{
    return plan->eager >= 40 && plan->middle < COPY_BOTH && plan->large < COPY_MOVERS &&
           plan->piece >= 4096;
}

/* ---- text ---- */

TEST(a_plan_is_what_its_text_says)
{
    struct copy_plan plan = plan_default;
    char text[PLAN_TEXT_LEN], why[160] = "";

    plan_format(&odd, text);
    EXPECT_STREQ("eager=4097,middle=push,large=pull,large_from=123456,piece=8191", text);
    EXPECT_TRUE(plan_parse(text, &plan, why, sizeof why));
    EXPECT_TRUE(same(&odd, &plan));
    plan = plan_default;
    EXPECT_TRUE(plan_parse("large=push,eager=16777216", &plan, why, sizeof why));
    EXPECT_EQ(16777216, plan.eager);
    EXPECT_EQ(COPY_PUSH, plan.large);
    EXPECT_EQ(plan_default.middle, plan.middle);
    EXPECT_EQ(plan_default.piece, plan.piece);
}

TEST(a_wrong_text_is_refused_with_the_reason_and_changes_nothing)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"", "\"\" is none of"},
        {",", "\"\" is none of"},
        {"eager=8192,", "\"\" is none of"},
        {"eager", "\"eager\" is none of"},
        {"eager,middle=pull", "\"eager\" is none of"},
        {"eage=8192", "\"eage=8192\" is none of"},
        {"eagerly=8192", "is none of"},
        {"Eager=8192", "is none of"},
        {" eager=8192", "is none of"},
        {"=8192", "is none of"},
        {"eager=", "eager must be a whole number of bytes from 40 to 16777216"},
        {"eager=39", "eager must be"},
        {"eager=16777217", "eager must be"},
        {"eager=-8192", "eager must be"},
        {"eager=+8192", "eager must be"},
        {"eager=8192 ", "eager must be"},
        {"eager=8k", "eager must be"},
        {"eager=0x2000", "eager must be"},
        {"eager=99999999999999999999999999", "eager must be"},
        {"eager=8192,eager=8192", "eager is there twice"},
        {"middle=", "middle must be pull, push or both"},
        {"middle=pul", "middle must be"},
        {"middle=pullpush", "middle must be"},
        {"large=8192", "large must be"},
        {"large_from=both", "large_from must be"},
        {"piece=4095", "piece must be"},
        {"piece=8192;eager=8192", "piece must be"},
        {"large=push,piece=8192,what", "\"what\" is none of"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct copy_plan plan = odd;
        char why[160] = "";

        EXPECT_FALSE(plan_parse(wrong[i].text, &plan, why, sizeof why));
        EXPECT_CONTAINS(wrong[i].why, why);
        EXPECT_TRUE(same(&odd, &plan));
    }
}

/* ---- the knob ---- */

TEST(the_knob_pins_the_plan_and_nothing_is_measured_or_kept)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file;
    DIR *dir;
    int entries = 0;

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    setenv("HCOMM_P2P_PLAN", "large=push,piece=65536", 1);
    EXPECT_EQ(COPY_PUSH, copy_plan()->large);
    EXPECT_EQ(65536, copy_plan()->piece);
    EXPECT_EQ(plan_default.eager, copy_plan()->eager);
    file = open_memstream(&text, &len);
    EXPECT_NOT_NULL(file);
    copy_plan_print(file);
    fclose(file);
    EXPECT_STREQ(
        "eager=8192,middle=pull,large=push,large_from=65536,piece=65536 (HCOMM_P2P_PLAN)\n", text);
    free(text);
    dir = opendir(test_tmpdir());
    EXPECT_NOT_NULL(dir);
    while (readdir(dir) != NULL)
        entries++;
    closedir(dir);
    EXPECT_EQ(2, entries); /* . and .. */
}

TEST(a_wrong_knob_is_named_and_counts_as_auto)
{
    test_expect_error("HCOMM_P2P_PLAN is \"large=fast\": large must be pull, push or both");
    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    setenv("HCOMM_P2P_PLAN", "large=fast", 1);
    EXPECT_TRUE(sane(copy_plan()));
    EXPECT_TRUE(copy_plan() == copy_plan());
}

/* ---- measuring ---- */

/* On a crowded machine it may not come to an end. */
TEST(what_is_measured_is_a_plan)
{
    struct copy_plan plan = odd;
    uint64_t start = hc_now_ns();

    if (plan_measure(&plan, 2000000000u))
        EXPECT_TRUE(sane(&plan));
    else
        EXPECT_TRUE(same(&odd, &plan));
    EXPECT_TRUE(hc_now_ns() - start < 30000000000u);
}

TEST(measuring_ends_when_its_time_is_over)
{
    struct copy_plan plan = odd;

    EXPECT_FALSE(plan_measure(&plan, 0));
    EXPECT_TRUE(same(&odd, &plan));
}

TEST(one_processor_measures_nothing)
{
    struct copy_plan plan = odd;
    cpu_set_t set, one;
    size_t cpu = 0;

    EXPECT_EQ(0, sched_getaffinity(0, sizeof set, &set));
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    EXPECT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    EXPECT_FALSE(plan_measure(&plan, 50000000));
    EXPECT_TRUE(same(&odd, &plan));
}

TEST(whichever_allocation_fails_nothing_is_measured_and_nothing_leaks)
{
    struct copy_plan plan = odd;

    test_expect_error("out of host memory");
    for (long nth = 0;; nth++) {
        long before = hc_alloc_live();

        hc_alloc_fail_nth(nth);
        (void)plan_measure(&plan, 1000000);
        EXPECT_EQ(before, hc_alloc_live());
        if (!hc_alloc_failed())
            break;
        EXPECT_TRUE(same(&odd, &plan));
    }
    hc_alloc_fail_nth(-1);
}

/* ---- the cache ---- */

static int measured;

static bool
give_odd(struct copy_plan *plan)
{
    measured++;
    *plan = odd;
    return true;
}

static bool
give_nothing(struct copy_plan *plan)
{
    (void)plan;
    measured++;
    return false;
}

/* The one file in the cache's directory; "" if there is none. */
static const char *
cache_file(void)
{
    static char path[1024];
    char dir_path[600];
    struct dirent *entry;
    int files = 0;
    DIR *dir;

    snprintf(dir_path, sizeof dir_path, "%s/hcomm", test_tmpdir());
    path[0] = '\0';
    dir = opendir(dir_path);
    EXPECT_NOT_NULL(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        files++;
        snprintf(path, sizeof path, "%s/%s", dir_path, entry->d_name);
    }
    closedir(dir);
    EXPECT_TRUE(files <= 1);
    return path;
}

static size_t
read_file(char *bytes, size_t most)
{
    FILE *file = fopen(cache_file(), "re");
    size_t len;

    EXPECT_NOT_NULL(file);
    len = fread(bytes, 1, most, file);
    fclose(file);
    return len;
}

static void
write_file(const char *bytes, size_t len)
{
    FILE *file = fopen(cache_file(), "we");

    EXPECT_NOT_NULL(file);
    EXPECT_EQ(len, fwrite(bytes, 1, len, file));
    EXPECT_EQ(0, fclose(file));
}

/* Finds a plan in the cache; how often it had to be measured for that. */
static int
ask(void)
{
    struct copy_plan plan = plan_default;
    int before = measured;

    EXPECT_TRUE(plan_cached(&plan, give_odd));
    EXPECT_TRUE(same(&odd, &plan));
    return measured - before;
}

TEST(a_plan_is_measured_once_and_then_found)
{
    char text[1024] = "";

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    EXPECT_EQ(1, ask());
    EXPECT_EQ(0, ask());
    EXPECT_TRUE(read_file(text, sizeof text - 1) > 0);
    EXPECT_CONTAINS("hcomm plan 2\nlibrary ", text);
    EXPECT_CONTAINS("\neager=4097,middle=push,large=pull,large_from=123456,piece=8191\n", text);
}

TEST(the_cache_is_in_the_home_directory_if_there_is_no_other)
{
    char path[600];
    struct stat about;

    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", test_tmpdir(), 1);
    EXPECT_EQ(1, ask());
    EXPECT_EQ(0, ask());
    snprintf(path, sizeof path, "%s/.cache/hcomm", test_tmpdir());
    EXPECT_EQ(0, stat(path, &about));
    setenv("XDG_CACHE_HOME", "relative", 1); /* does not count */
    EXPECT_EQ(0, ask());
}

TEST(what_could_not_be_measured_is_not_kept)
{
    struct copy_plan plan = plan_default;

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    EXPECT_FALSE(plan_cached(&plan, give_nothing));
    EXPECT_TRUE(same(&plan_default, &plan));
    EXPECT_STREQ("", cache_file());
    EXPECT_EQ(1, ask());
}

TEST(without_a_place_for_the_cache_each_process_measures)
{
    char path[600];
    FILE *file;

    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    EXPECT_EQ(1, ask());
    EXPECT_EQ(1, ask());
    setenv("HOME", "/proc/self/nowhere", 1);
    EXPECT_EQ(1, ask());
    snprintf(path, sizeof path, "%s/file", test_tmpdir());
    file = fopen(path, "we");
    EXPECT_NOT_NULL(file);
    fclose(file);
    setenv("XDG_CACHE_HOME", path, 1); /* a file, not a directory */
    EXPECT_EQ(1, ask());
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    setenv("XDG_CACHE_HOME", path, 1); /* too long a name */
    EXPECT_EQ(1, ask());
}

/* Cut anywhere, changed anywhere, or with something behind: measured anew and replaced. */
TEST(garbage_in_the_cache_is_replaced)
{
    char good[1024], bad[1200];
    size_t len;

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    EXPECT_EQ(1, ask());
    len = read_file(good, sizeof good);
    for (size_t cut = 0; cut < len; cut += cut + 40 < len ? 9 : 1) {
        write_file(good, cut);
        EXPECT_EQ(1, ask());
        EXPECT_EQ(0, ask());
    }
    for (size_t at = 0; at < len; at += at + 70 < len ? 5 : 1) {
        struct copy_plan plan = plan_default;

        memcpy(bad, good, len);
        bad[at] = (char)(bad[at] ^ (at % 3 == 0 ? 0xFF : at % 3 == 1 ? '\n' : bad[at]));
        write_file(bad, len);
        (void)plan_cached(&plan, give_odd); /* another digit may be another plan */
        EXPECT_TRUE(sane(&plan) || same(&odd, &plan));
    }
    for (size_t more = 1; more < 200; more += 37) {
        memcpy(bad, good, len);
        memset(bad + len, more % 2 == 0 ? '\n' : 'x', more);
        write_file(bad, len + more);
        EXPECT_EQ(1, ask());
    }
    memset(bad, 'e', sizeof bad);
    write_file(bad, sizeof bad);
    EXPECT_EQ(1, ask());
    EXPECT_EQ(0, ask());
}

TEST(random_bytes_in_the_cache_are_replaced)
{
    uint64_t state = 1;
    char good[1024], bad[1024];
    size_t len;

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    EXPECT_EQ(1, ask());
    len = read_file(good, sizeof good);
    for (int turn = 0; turn < 120; turn++) {
        size_t from = turn % 2 == 0 ? 0 : (size_t)(strstr(good, "eager=") - good);
        struct copy_plan plan = plan_default;

        memcpy(bad, good, len);
        for (size_t at = from; at < len; at++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if (turn % 4 < 2 || (state >> 60) == 0)
                bad[at] = "eager=middl,0123456789\n\0\xFF"[(state >> 33) % 25];
        }
        write_file(bad, len);
        EXPECT_TRUE(plan_cached(&plan, give_odd));
        EXPECT_TRUE(plan.eager >= 40 && plan.piece >= 4096 && plan.large < COPY_MOVERS);
    }
}

/* C2 */
TEST(a_link_or_a_pipe_in_the_cache_is_not_followed)
{
    char path[1024], other[600];
    struct stat about;

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    EXPECT_EQ(1, ask());
    snprintf(path, sizeof path, "%s", cache_file());
    snprintf(other, sizeof other, "%s/other", test_tmpdir());
    EXPECT_EQ(0, rename(path, other));
    EXPECT_EQ(0, symlink(other, path));
    EXPECT_EQ(1, ask());
    EXPECT_EQ(0, lstat(path, &about));
    EXPECT_TRUE(S_ISREG(about.st_mode));
    EXPECT_EQ(0, unlink(path));
    EXPECT_EQ(0, mkfifo(path, 0600));
    EXPECT_EQ(1, ask());
    EXPECT_EQ(0, ask());
}

/* ---- several processes ---- */

struct shared {
    atomic_int measured;
    char cache[512];
};

static struct shared *of_child;

static bool
measure_slowly(struct copy_plan *plan)
{
    static const struct timespec nap = {.tv_nsec = 40000000};

    atomic_fetch_add(&of_child->measured, 1);
    nanosleep(&nap, NULL);
    *plan = odd;
    return true;
}

static void
child(int rank, void *shared)
{
    struct copy_plan plan = plan_default;

    (void)rank;
    of_child = shared;
    setenv("XDG_CACHE_HOME", of_child->cache, 1);
    if (plan_cached(&plan, measure_slowly))
        EXPECT_TRUE(same(&odd, &plan));
    else
        EXPECT_TRUE(same(&plan_default, &plan)); /* the machine is so busy that it did not wait */
}

/* C3 */
TEST(of_processes_that_start_together_one_measures)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);
    int count;

    snprintf(shared->cache, sizeof shared->cache, "%s", test_tmpdir());
    procs_fork(&procs, 4, child);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, procs_wait(&procs, i));
    count = atomic_load(&shared->measured);
    procs_expect_success(&procs);
    EXPECT_EQ(1, count);
}
