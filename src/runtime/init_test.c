/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "runtime/runtime.h"
#include "tests/support/test.h"

/* A configuration file with `text`; each call makes another one. */
static const char *
config_file(const char *text)
{
    static char path[128];
    static int number;
    FILE *file;

    snprintf(path, sizeof path, "%s/%d.json", test_tmpdir(), number++);
    file = fopen(path, "w");
    EXPECT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
    return path;
}

TEST(init_counts_and_says_when_it_was_called_before)
{
    uint64_t left = 99;

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL)); /* and logs no error */
    EXPECT_EQ(ACL_ERROR_REPEAT_INITIALIZE, aclInit(""));
    EXPECT_EQ(ACL_SUCCESS, aclFinalizeReference(&left));
    EXPECT_EQ(2, left);
    EXPECT_EQ(ACL_SUCCESS, aclFinalizeReference(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclFinalizeReference(&left));
    EXPECT_EQ(0, left);
    test_expect_error("aclFinalizeReference: already finalized");
    EXPECT_EQ(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&left));
}

TEST(finalize_ends_every_init_at_once)
{
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    test_expect_error("aclFinalize: already finalized");
    EXPECT_EQ(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(one_finalize_before_any_init_succeeds)
{
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    test_expect_error("already finalized");
    EXPECT_EQ(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(reset_device_works_after_finalize)
{
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(an_empty_object_is_the_default_configuration)
{
    EXPECT_EQ(ACL_SUCCESS, aclInit(config_file("{}")));
    EXPECT_EQ(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(init_again_with_another_configuration_is_refused)
{
    uint64_t left = 99;

    EXPECT_EQ(ACL_SUCCESS, aclInit(config_file("{\"dump\": {}, \"x\": 1}")));
    EXPECT_EQ(ACL_ERROR_REPEAT_INITIALIZE, aclInit(config_file("{\"x\":1, \"dump\":{}}")));
    test_expect_error("called before with another configuration");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclInit(config_file("{\"x\": 2}")));
    EXPECT_EQ(ACL_SUCCESS, aclFinalizeReference(&left));
    EXPECT_EQ(1, left); /* the refused call has not counted */
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    EXPECT_EQ(ACL_SUCCESS, aclInit(config_file("{\"x\": 2}")));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(a_configuration_that_cannot_be_read_is_refused)
{
    test_expect_error("cannot read /no/such/file.json");
    EXPECT_EQ(ACL_ERROR_INVALID_FILE, aclInit("/no/such/file.json"));
    test_expect_error("is not a file");
    EXPECT_EQ(ACL_ERROR_INVALID_FILE, aclInit(test_tmpdir()));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize()); /* nothing was initialised: the single free one */
}

TEST(a_configuration_that_is_no_json_object_is_refused_with_its_line)
{
    test_expect_error("json:2:");
    EXPECT_EQ(ACL_ERROR_PARSE_FILE, aclInit(config_file("{\n\"dump\": }")));
    test_expect_error("must hold one JSON object");
    EXPECT_EQ(ACL_ERROR_PARSE_FILE, aclInit(config_file("[]")));
    test_expect_error(".json:1:");
    EXPECT_EQ(ACL_ERROR_PARSE_FILE, aclInit(config_file("")));
}

TEST(a_configuration_nests_at_most_ten_deep)
{
    EXPECT_EQ(ACL_SUCCESS, aclInit(config_file("{\"a\":[[[[[[[[[[]]]]]]]]]]}")));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    test_expect_error("more than 10 deep");
    EXPECT_EQ(ACL_ERROR_PARSE_FILE, aclInit(config_file("{\"a\":[[[[[[[[[[[]]]]]]]]]]]}")));
    EXPECT_EQ(ACL_SUCCESS, aclInit(config_file("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
                                               "\"a\":{\"a\":{}}}}}}}}}}")));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    EXPECT_EQ(ACL_ERROR_PARSE_FILE,
              aclInit(config_file("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
                                  "\"a\":{}}}}}}}}}}}")));
}

static void *
device_of_this_thread(void *arg)
{
    int32_t device = -99;

    (void)arg;
    EXPECT_EQ(ACL_SUCCESS, aclrtGetDevice(&device));
    return (void *)(intptr_t)device;
}

TEST(a_configured_default_device_serves_threads_that_chose_none)
{
    const char *path = config_file("{\"defaultDevice\": {\"default_device\": \"4\"}}");
    int32_t device = -99;
    pthread_t thread;
    void *seen;

    EXPECT_EQ(ACL_SUCCESS, aclInit(path));
    EXPECT_EQ(0, pthread_create(&thread, NULL, device_of_this_thread, NULL));
    EXPECT_EQ(0, pthread_join(thread, &seen));
    EXPECT_EQ(4, (intptr_t)seen);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(1, device);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(4)); /* set once, its primary context can be reset */
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(4));
}

TEST(configured_values_that_make_no_sense_are_refused)
{
    test_expect_error("default_device is \"8\"; there are 8 devices");
    EXPECT_EQ(ACL_ERROR_FILE_ATTR_INVALID,
              aclInit(config_file("{\"defaultDevice\": {\"default_device\": \"8\"}}")));
    test_expect_error("default_device is \"one\"");
    EXPECT_EQ(ACL_ERROR_FILE_ATTR_INVALID,
              aclInit(config_file("{\"defaultDevice\": {\"default_device\": \"one\"}}")));
    test_expect_error("default_device must be a string");
    EXPECT_EQ(ACL_ERROR_FILE_ATTR_INVALID,
              aclInit(config_file("{\"defaultDevice\": {\"default_device\": 1}}")));
    EXPECT_EQ(ACL_ERROR_FILE_ATTR_INVALID, aclInit(config_file("{\"defaultDevice\": 1}")));
    test_expect_error("err_msg_mode must be");
    EXPECT_EQ(ACL_ERROR_FILE_ATTR_INVALID, aclInit(config_file("{\"err_msg_mode\": \"2\"}")));
    EXPECT_EQ(ACL_ERROR_FILE_ATTR_INVALID, aclInit(config_file("{\"err_msg_mode\": 1}")));
}

/* ---- error messages and the last error ---- */

static void *
fail_here(void *arg)
{
    (void)arg;
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(1000));
    return NULL;
}

static void
fail_elsewhere(void)
{
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fail_here, NULL));
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

TEST(error_messages_are_the_threads_own_unless_configured_otherwise)
{
    const char *path;

    test_expect_error("no device 1000");
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    fail_elsewhere();
    EXPECT_NULL(aclGetRecentErrMsg());
    (void)fail_here(NULL);
    EXPECT_CONTAINS("no device 1000", aclGetRecentErrMsg());
    EXPECT_NULL(aclGetRecentErrMsg());
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());

    path = config_file("{\"err_msg_mode\": \"1\"}");
    EXPECT_EQ(ACL_SUCCESS, aclInit(path));
    fail_elsewhere();
    EXPECT_CONTAINS("no device 1000", aclGetRecentErrMsg());
    EXPECT_NULL(aclGetRecentErrMsg());
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(the_last_error_is_kept_until_it_is_taken)
{
    test_expect_error("no device 1000");
    (void)fail_here(NULL);
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0)); /* success clears nothing */
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    fail_elsewhere();
    EXPECT_EQ(ACL_SUCCESS, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    test_expect_error("level is 1; only 0");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetLastError((aclrtLastErrLevel)1));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtPeekAtLastError((aclrtLastErrLevel)1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(only_runtime_codes_become_the_last_error)
{
    EXPECT_EQ(ACL_ERROR_INVALID_FILE, rt_set_last_error(ACL_ERROR_INVALID_FILE));
    EXPECT_EQ(ACL_ERROR_BAD_ALLOC, rt_set_last_error(ACL_ERROR_BAD_ALLOC));
    EXPECT_EQ(ACL_ERROR_INTERNAL_ERROR, rt_set_last_error(ACL_ERROR_INTERNAL_ERROR));
    EXPECT_EQ(ACL_SUCCESS, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    EXPECT_EQ(ACL_ERROR_RT_TS_ERROR, rt_set_last_error(ACL_ERROR_RT_TS_ERROR));
    EXPECT_EQ(ACL_ERROR_RT_TS_ERROR, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
}

TEST(runtime_codes_have_a_meaning_for_the_layers_above)
{
    EXPECT_EQ(HCCL_SUCCESS, rt_result(ACL_SUCCESS));
    EXPECT_EQ(HCCL_E_PARA, rt_result(ACL_ERROR_INVALID_PARAM));
    EXPECT_EQ(HCCL_E_MEMORY, rt_result(ACL_ERROR_RT_MEMORY_ALLOCATION));
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, rt_result(ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
    EXPECT_EQ(HCCL_E_NOT_FOUND, rt_result(ACL_ERROR_RT_INVALID_HANDLE));
    EXPECT_EQ(HCCL_E_TIMEOUT, rt_result(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT));
    EXPECT_EQ(HCCL_E_RUNTIME, rt_result(ACL_ERROR_RT_CONTEXT_NULL));
}

TEST(a_forked_child_is_turned_away)
{
    int status = -1;
    pid_t child;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    fflush(NULL);
    child = fork();
    if (child == 0) {
        bool good = aclrtSetDevice(0) == ACL_ERROR_RT_INTERNAL_ERROR &&
                    aclInit(NULL) == ACL_ERROR_RT_INTERNAL_ERROR &&
                    aclrtResetDevice(0) == ACL_ERROR_RT_INTERNAL_ERROR &&
                    test_logged("called in a forked child") == 3;
        _exit(good ? 0 : 1);
    }
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(0, WEXITSTATUS(status));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}
