/* SPDX-License-Identifier: BSD-3-Clause */
#include "primitive/pair.h"

#include "hcomm/hcomm_embedded.h"

struct note {
    int32_t *at;
    int32_t expected;
    int32_t value;
};

/* Writes `value` if `expected` is there. */
static int32_t
exchange(void *args, char *why, size_t len)
{
    struct note *note = args;

    if (*note->at != note->expected) {
        snprintf(why, len, "there is %d, not %d", *note->at, note->expected);
        return HCCL_E_PARA;
    }
    *note->at = note->value;
    note->value = 0; /* a copy: nobody sees it */
    return HCCL_SUCCESS;
}

static int32_t
fails_in_silence(void *args, char *why, size_t len)
{
    (void)args;
    (void)why;
    (void)len;
    return HCCL_E_INTERNAL;
}

TEST(a_call_runs_in_its_place_between_primitives)
{
    static const CommEngine engines[] = {COMM_ENGINE_CPU_TS, COMM_ENGINE_AICPU_TS};

    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        struct rank pair[2];
        struct note note = {.expected = 7, .value = 8};
        int32_t *buf;

        pair_open(pair, engines[e]);
        buf = (int32_t *)(void *)pair[0].buf;
        buf[0] = 7;
        note.at = &buf[1];
        EXPECT_EQ(0, HcommLocalCopyOnThread(pair[0].thread[0], &buf[1], &buf[0], 4));
        EXPECT_EQ(0,
                  HcommCallOnThread(pair[0].thread[0], exchange, "exchange", &note, sizeof note));
        EXPECT_EQ(0, HcommLocalCopyOnThread(pair[0].thread[0], &buf[2], &buf[1], 4));
        note.value = 99; /* it was copied */
        EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
        EXPECT_EQ(8, buf[1]);
        EXPECT_EQ(8, buf[2]);
        pair_close(pair);
    }
}

TEST(a_call_that_fails_fails_the_thread_with_its_words)
{
    struct rank pair[2];
    struct note note = {.expected = 1, .value = 2};
    int32_t *buf;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    buf = (int32_t *)(void *)pair[0].buf;
    note.at = &buf[0];
    test_expect_error("cannot exchange numbers: there is 0, not 1");
    EXPECT_EQ(
        0, HcommCallOnThread(pair[0].thread[0], exchange, "exchange numbers", &note, sizeof note));
    EXPECT_TRUE(thread_sync(pair[0].thread[0]) != ACL_SUCCESS);
    test_expect_error("cannot be silent: it does not say why");
    EXPECT_EQ(0, HcommCallOnThread(pair[0].thread[0], fails_in_silence, "be silent", &note, 0));
    EXPECT_TRUE(thread_sync(pair[0].thread[0]) != ACL_SUCCESS);
    EXPECT_EQ(0, buf[0]);
    pair_close(pair);
}

TEST(bad_calls_are_refused)
{
    uint8_t args[HCOMM_CALL_ARGS_MOST + 1] = {0};
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_CPU_TS);
    test_expect_error("HcommCallOnThread: call is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommCallOnThread(pair[0].thread[0], NULL, "x", args, 1));
    test_expect_error("HcommCallOnThread: name is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommCallOnThread(pair[0].thread[0], exchange, NULL, args, 1));
    test_expect_error("HcommCallOnThread: args is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommCallOnThread(pair[0].thread[0], exchange, "x", NULL, 1));
    test_expect_error("argsSize");
    EXPECT_EQ(HCCL_E_PARA, HcommCallOnThread(pair[0].thread[0], exchange, "x", args, sizeof args));
    test_expect_error("thread");
    EXPECT_EQ(HCCL_E_NOT_FOUND,
              HcommCallOnThread(pair[0].thread[0] + 0x1000000, exchange, "x", args, 1));
    pair_close(pair);
}
