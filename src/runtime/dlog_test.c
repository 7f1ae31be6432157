/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/dlog.h"

#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/support/test.h"

static int saved_fd = -1;
static char captured[8192];

/* Sends what is written to `stream` into a file until release(). */
static void
capture(FILE *stream)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/out", test_tmpdir());
    fflush(stream);
    saved_fd = dup(fileno(stream));
    fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    EXPECT_TRUE(fd >= 0);
    EXPECT_EQ(fileno(stream), dup2(fd, fileno(stream)));
    close(fd);
}

/* What was written. */
static const char *
release(FILE *stream)
{
    ssize_t len;

    fflush(stream);
    len = pread(fileno(stream), captured, sizeof captured - 1, 0);
    captured[len < 0 ? 0 : len] = '\0';
    EXPECT_EQ(fileno(stream), dup2(saved_fd, fileno(stream)));
    close(saved_fd);
    return captured;
}

static void
expect_match(const char *pattern, const char *text)
{
    regex_t regex;

    EXPECT_EQ(0, regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB));
    if (regexec(&regex, text, 0, NULL, 0) != 0)
        fail_msg("\"%s\" does not match \"%s\"", text, pattern);
    regfree(&regex);
}

TEST(a_line_says_level_module_process_and_time)
{
    capture(stderr);
    DlogRecord(HCCL, DLOG_ERROR, "rank %d is %s", 3, "lost");
    expect_match("^\\[ERROR\\] HCCL\\([0-9]+,dlog_test\\):"
                 "[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\.[0-9]{3} "
                 "rank 3 is lost\n$",
                 release(stderr));
}

TEST(a_line_gets_one_newline_and_is_cut_at_the_length_limit)
{
    char big[2 * MSG_LENGTH];
    const char *text;

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    capture(stderr);
    DlogRecord(GE, DLOG_ERROR, "ends itself\n");
    EXPECT_CONTAINS("ends itself\n", release(stderr));
    EXPECT_NULL(strstr(captured, "\n\n"));
    capture(stderr);
    DlogRecord(GE, DLOG_ERROR, "%s", big);
    text = release(stderr);
    EXPECT_EQ(MSG_LENGTH - 1, strlen(text));
    EXPECT_EQ('\n', text[strlen(text) - 1]);
}

TEST(errors_pass_by_default_and_nothing_less)
{
    int32_t events = -1;

    EXPECT_EQ(1, CheckLogLevel(HCCL, DLOG_ERROR));
    EXPECT_EQ(0, CheckLogLevel(HCCL, DLOG_WARN));
    EXPECT_EQ(0, CheckLogLevel(HCCL, DLOG_NULL));
    EXPECT_EQ(0, CheckLogLevel(HCCL, -1));
    EXPECT_EQ(0, CheckLogLevel(-1, DLOG_ERROR));
    EXPECT_EQ(1, acllogCheckDebugLevel(0xff01, DLOG_ERROR)); /* a user module */
    EXPECT_EQ(1, AlogCheckDebugLevel(GE, DLOG_ERROR));
    EXPECT_EQ(0, AlogCheckDebugLevel(0xFFFFFFFFu, DLOG_ERROR));
    EXPECT_EQ(DLOG_ERROR, dlog_getlevel(HCCL, &events));
    EXPECT_EQ(1, events);
    EXPECT_EQ(-1, dlog_getlevel(-1, NULL));
    capture(stderr);
    DlogRecord(HCCL, DLOG_WARN, "unheard");
    DlogRecord(HCCL, DLOG_ERROR, NULL);
    EXPECT_STREQ("", release(stderr));
}

TEST(run_lines_pass_from_info_on_but_stay_off_the_terminal)
{
    EXPECT_EQ(1, CheckLogLevel(HCCL | RUN_LOG_MASK, DLOG_INFO));
    EXPECT_EQ(0, CheckLogLevel(HCCL | RUN_LOG_MASK, DLOG_DEBUG));
    capture(stderr);
    DlogRecord(HCCL | RUN_LOG_MASK, DLOG_INFO, "started");
    acllogRecord(HCCL | RUN_LOG_MASK, DLOG_ERROR, "broken");
    EXPECT_NULL(strstr(release(stderr), "started"));
    EXPECT_CONTAINS("broken", captured);
}

TEST(security_lines_always_pass)
{
    EXPECT_EQ(1, CheckLogLevel(HCCL | SECURITY_LOG_MASK, DLOG_DEBUG));
    EXPECT_EQ(0, CheckLogLevel(HCCL | SECURITY_LOG_MASK, DLOG_NULL));
    capture(stderr);
    DlogRecord(HCCL | (int32_t)SECURITY_LOG_MASK, 7, "odd level");
    expect_match("^\\[7\\] HCCL\\(.*odd level\n$", release(stderr));
}

TEST(levels_come_from_the_environment)
{
    int32_t events = -1;

    setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
    setenv("ASCEND_MODULE_LOG_LEVEL", "HCCL=0:GE=4", 1);
    setenv("ASCEND_GLOBAL_EVENT_ENABLE", "0", 1);
    EXPECT_EQ(DLOG_INFO, dlog_getlevel(RUNTIME, &events));
    EXPECT_EQ(0, events);
    EXPECT_EQ(DLOG_DEBUG, dlog_getlevel(HCCL, NULL));
    EXPECT_EQ(DLOG_NULL, dlog_getlevel(GE, NULL));
    EXPECT_EQ(1, CheckLogLevel(HCCL, DLOG_DEBUG));
    EXPECT_EQ(0, CheckLogLevel(GE, DLOG_ERROR));
    EXPECT_EQ(0, CheckLogLevel(RUNTIME, DLOG_DEBUG));
}

TEST(one_bad_module_level_voids_them_all)
{
    setenv("ASCEND_MODULE_LOG_LEVEL", "HCCL=0:NOBODY=1", 1);
    EXPECT_EQ(DLOG_ERROR, dlog_getlevel(HCCL, NULL));
    EXPECT_EQ(1, test_logged("ASCEND_MODULE_LOG_LEVEL ignored: \"NOBODY=1\""));
}

TEST(a_bad_global_level_counts_as_unset)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "5", 1);
    EXPECT_EQ(DLOG_ERROR, dlog_getlevel(HCCL, NULL));
}

TEST(levels_can_be_set)
{
    int32_t events = -1;

    EXPECT_EQ(0, dlog_setlevel(HCCL, DLOG_INFO, 0));
    EXPECT_EQ(DLOG_INFO, dlog_getlevel(HCCL, &events));
    EXPECT_EQ(0, events);
    EXPECT_EQ(DLOG_ERROR, dlog_getlevel(GE, NULL));
    EXPECT_EQ(0, dlog_setlevel(-1, DLOG_DEBUG, 1));
    EXPECT_EQ(DLOG_DEBUG, dlog_getlevel(GE, NULL));
    EXPECT_EQ(-1, dlog_setlevel(-2, DLOG_DEBUG, 1));
    EXPECT_EQ(-1, dlog_setlevel(HCCL, 5, 1));
}

TEST(lines_go_to_stdout_when_asked)
{
    setenv("ASCEND_LOG_PRINT_TO_STDOUT", "1", 1);
    capture(stdout);
    DlogRecord(HCCL, DLOG_ERROR, "seen");
    DlogRecord(HCCL | RUN_LOG_MASK, DLOG_INFO, "seen too");
    AlogRecord(GE, DLOG_TYPE_RUN, DLOG_INFO, "and seen");
    DlogFlush();
    EXPECT_CONTAINS("seen\n", release(stdout));
    EXPECT_CONTAINS("seen too\n", captured);
    EXPECT_CONTAINS("[INFO] GE(", captured);
    EXPECT_EQ(-1, AlogRecord(GE, DLOG_TYPE_MAX, DLOG_ERROR, "no such type"));
}

/* ---- callbacks ---- */

static char heard[4096];
static int heard_num;
static uint32_t heard_type;
static acllogCallbackHandle own_handle;

static int32_t
hear(void *arg, uint32_t type, const char *line, size_t len)
{
    EXPECT_EQ(strlen(line), len);
    EXPECT_TRUE(arg == heard);
    snprintf(heard, sizeof heard, "%s", line);
    heard_type = type;
    heard_num++;
    return 0;
}

TEST(a_callback_hears_the_type_it_asked_for_until_it_is_removed)
{
    acllogCallbackHandle run = 0, both = 0;

    EXPECT_EQ(0, acllogRegisterCallback(hear, heard, OUTPUT_TYPE_RUN, &run));
    capture(stderr);
    DlogRecord(HCCL, DLOG_ERROR, "debug type");
    EXPECT_EQ(0, heard_num);
    DlogRecord(HCCL | RUN_LOG_MASK, DLOG_INFO, "run %s", "type");
    EXPECT_EQ(1, heard_num);
    EXPECT_EQ(OUTPUT_TYPE_RUN, heard_type);
    EXPECT_CONTAINS("run type\n", heard);
    EXPECT_EQ(0, acllogRegisterCallback(hear, heard, OUTPUT_TYPE_BOTH, &both));
    EXPECT_NE(run, both);
    EXPECT_EQ(0, acllogUnregisterCallback(run));
    DlogRecord(HCCL, DLOG_ERROR, "debug type");
    EXPECT_EQ(2, heard_num);
    EXPECT_EQ(OUTPUT_TYPE_DEBUG, heard_type);
    EXPECT_EQ(0, acllogUnregisterCallback(both));
    DlogRecord(HCCL, DLOG_ERROR, "debug type");
    (void)release(stderr);
    EXPECT_EQ(2, heard_num);
    test_expect_error("acllogUnregisterCallback: no such callback");
    EXPECT_EQ(-1, acllogUnregisterCallback(both));
    EXPECT_EQ(-1, acllogUnregisterCallback(0));
    test_expect_error("acllogRegisterCallback: the callback is NULL");
    EXPECT_EQ(-1, acllogRegisterCallback(NULL, NULL, OUTPUT_TYPE_BOTH, &both));
    test_expect_error("acllogRegisterCallback: handle is NULL");
    EXPECT_EQ(-1, acllogRegisterCallback(hear, NULL, OUTPUT_TYPE_BOTH, NULL));
    test_expect_error("there is no such log type");
    EXPECT_EQ(-1, acllogRegisterCallback(hear, NULL, OUTPUT_TYPE_MAX, &both));
}

static int32_t
log_again(void *arg, uint32_t type, const char *line, size_t len)
{
    (void)arg;
    (void)type;
    (void)line;
    (void)len;
    heard_num++;
    DlogRecord(HCCL, DLOG_ERROR, "from the callback");
    EXPECT_EQ(-1, acllogUnregisterCallback(own_handle));
    return 0;
}

TEST(a_callback_that_logs_or_removes_itself_does_not_hang)
{
    EXPECT_EQ(0, acllogRegisterCallback(log_again, NULL, OUTPUT_TYPE_BOTH, &own_handle));
    test_expect_error("called from one");
    capture(stderr);
    DlogRecord(HCCL, DLOG_ERROR, "once");
    (void)release(stderr);
    EXPECT_EQ(1, heard_num);
    EXPECT_CONTAINS("from the callback", captured);
    EXPECT_EQ(0, acllogUnregisterCallback(own_handle));
}

static int32_t
ignore(void *arg, uint32_t type, const char *line, size_t len)
{
    (void)type;
    (void)line;
    (void)len;
    EXPECT_EQ(1, atomic_load((atomic_int *)arg));
    return 0;
}

static void *
record_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 300; i++)
        DlogRecord(HCCL | RUN_LOG_MASK, DLOG_INFO, "line %d", i);
    return NULL;
}

TEST(a_callback_runs_no_more_once_it_is_removed)
{
    atomic_int valid = 1;
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, record_often, NULL));
    for (int i = 0; i < 100; i++) {
        acllogCallbackHandle handle = 0;

        atomic_store(&valid, 1);
        EXPECT_EQ(0, acllogRegisterCallback(ignore, &valid, OUTPUT_TYPE_BOTH, &handle));
        EXPECT_EQ(0, acllogUnregisterCallback(handle));
        atomic_store(&valid, 0);
    }
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
}
