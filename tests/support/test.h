/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test: TEST(name_as_a_claim) { ... EXPECT_EQ(expected, actual); ... }
 *
 * Each test runs in a process of its own, with a time limit. It fails when an expectation fails,
 * when an ERROR is logged that it did not announce, when it leaves a descriptor open or an
 * allocation of the library behind (flags except it from these two), or when it is slow
 * to end. Run one: `PROGRAM NAME`, list them: `PROGRAM --list`.
 */
#ifndef HC_TEST_SUPPORT_TEST_H
#define HC_TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct test_case {
    const char *name;
    void (*fn)(void);
    unsigned flags;
    struct test_case *next;
};

void test_register(struct test_case *test);

#define TEST_KEEPS_MEMORY 1u /* leaves allocations behind on purpose */
#define TEST_KEEPS_FILES 2u  /* leaves descriptors open on purpose */

#define TEST_WITH(name_, flags_)                                                                   \
    static void test_##name_(void);                                                                \
    __attribute__((constructor)) static void register_##name_(void)                                \
    {                                                                                              \
        static struct test_case test = {.name = #name_, .fn = test_##name_, .flags = (flags_)};    \
        test_register(&test);                                                                      \
    }                                                                                              \
    static void test_##name_(void)

#define TEST(name_) TEST_WITH(name_, 0u)

#define EXPECT_TRUE(what) assert_true(what)
#define EXPECT_FALSE(what) assert_false(what)
#define EXPECT_EQ(expected, actual)                                                                \
    test_expect_eq((long long)(expected), (long long)(actual), #actual, __FILE__, __LINE__)
#define EXPECT_NE(unwanted, actual)                                                                \
    test_expect_ne((long long)(unwanted), (long long)(actual), #actual, __FILE__, __LINE__)
#define EXPECT_STREQ(expected, actual) assert_string_equal(actual, expected)
#define EXPECT_MEMEQ(expected, actual, len) assert_memory_equal(actual, expected, len)
#define EXPECT_NULL(what) assert_null(what)
#define EXPECT_NOT_NULL(what) assert_non_null(what)
#define EXPECT_CONTAINS(part, text) test_expect_contains(part, text, #text, __FILE__, __LINE__)

void test_expect_eq(long long expected, long long actual, const char *what, const char *file,
                    int line);
void test_expect_ne(long long unwanted, long long actual, const char *what, const char *file,
                    int line);
void test_expect_contains(const char *part, const char *text, const char *what, const char *file,
                          int line);

/* The test will log at least one ERROR that contains `part`; it fails if none comes. Errors that no
 * announcement matches fail the test. */
void test_expect_error(const char *part);

/* ERROR lines may come, whatever they say. */
void test_allow_errors(void);

/* How many logged lines of WARN or ERROR contained `part` so far. */
int test_logged(const char *part);

/* Whether `is` says so of one of these lines. */
bool test_logged_line(bool (*is)(const char *line, const void *arg), const void *arg);

/* Fresh directory for the test, removed with all in it afterwards. */
const char *test_tmpdir(void);

/* Seconds this test may take (default 60; sanitizers multiply). */
void test_time_limit(unsigned seconds);

/* For procs.h: runs `fn` as a test of its own and ends the process. */
_Noreturn void test_run_child(void (*fn)(int rank, void *shared), int rank, void *shared);

/* Opens descriptors / live allocations now: for tests that check a loop stays flat. */
int test_open_fds(void);

#endif
