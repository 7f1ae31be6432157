/* SPDX-License-Identifier: BSD-3-Clause */
#include "acl/acl.h"
#include "base/alloc.h"
#include "resource/resource.h"
#include "tests/support/test.h"

static struct res_ctx_set *
make_set(void)
{
    struct res_ctx_set *set = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_set_create(0, &set));
    return set;
}

static void
drop_set(struct res_ctx_set *set)
{
    res_ctx_set_destroy(set);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(a_context_is_found_by_tag_and_engine)
{
    struct res_ctx_set *set = make_set();
    void *host = NULL, *device = NULL, *found = NULL;
    struct rt_range range;
    uint64_t size = 0;

    EXPECT_EQ(HCCL_E_NOT_FOUND, res_ctx_get(set, "t", COMM_ENGINE_CPU_TS, &found, &size));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_create(set, "t", COMM_ENGINE_CPU_TS, 100, &host));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_create(set, "t", COMM_ENGINE_AICPU_TS, 200, &device));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_get(set, "t", COMM_ENGINE_CPU_TS, &found, &size));
    EXPECT_TRUE(found == host);
    EXPECT_EQ(100, size);
    EXPECT_EQ(HCCL_SUCCESS,
              res_ctx_get(set, "t", COMM_ENGINE_AICPU, &found, &size)); /* one engine */
    EXPECT_TRUE(found == device);
    EXPECT_EQ(200, size);
    rt_mem_find(device, &range);
    EXPECT_EQ(RT_PLACE_DEVICE, range.place);
    rt_mem_find(host, &range);
    EXPECT_NE(RT_PLACE_DEVICE, range.place);
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_ctx_get(set, "t", COMM_ENGINE_CPU, &found, &size));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_ctx_get(set, NULL, COMM_ENGINE_CPU, &found, &size));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_create(set, NULL, COMM_ENGINE_CPU, 8, &found));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_get(set, "", COMM_ENGINE_CPU, &found, &size)); /* NULL is "" */
    drop_set(set);
}

TEST(a_context_is_filled_and_removed)
{
    struct res_ctx_set *set = make_set();
    char *ctx = NULL;
    uint64_t size;

    EXPECT_EQ(HCCL_SUCCESS, res_ctx_create(set, "t", COMM_ENGINE_AICPU_TS, 8, (void **)&ctx));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_copy(set, "t", COMM_ENGINE_AICPU_TS, "abc", 3, 5));
    EXPECT_MEMEQ("abc", ctx + 5, 3);
    test_expect_error("has 8 bytes: 3 at offset 6 do not fit");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_copy(set, "t", COMM_ENGINE_AICPU_TS, "abc", 3, 6));
    test_expect_error("3 at offset 18446744073709551614 do not fit");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_copy(set, "t", COMM_ENGINE_AICPU_TS, "abc", 3, UINT64_MAX - 1));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_remove(set, "t", COMM_ENGINE_AICPU_TS));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_ctx_get(set, "t", COMM_ENGINE_AICPU_TS, (void **)&ctx, &size));
    test_expect_error("does not exist");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_remove(set, "t", COMM_ENGINE_AICPU_TS));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_ctx_copy(set, "t", COMM_ENGINE_AICPU_TS, "abc", 3, 0));
    drop_set(set);
}

TEST(bad_contexts_are_refused)
{
    struct res_ctx_set *set = make_set();
    char long_tag[300];
    void *ctx = NULL;

    memset(long_tag, 'x', sizeof long_tag - 1);
    long_tag[sizeof long_tag - 1] = '\0';
    test_expect_error("longer than 255");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_create(set, long_tag, COMM_ENGINE_CPU, 8, &ctx));
    test_expect_error("a size of 0");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_create(set, "t", COMM_ENGINE_CPU, 0, &ctx));
    test_expect_error("engine CCU is not supported");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, res_ctx_create(set, "t", COMM_ENGINE_CCU, 8, &ctx));
    EXPECT_EQ(HCCL_SUCCESS, res_ctx_create(set, "t", COMM_ENGINE_CPU, 8, &ctx));
    test_expect_error("exists already");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_create(set, "t", COMM_ENGINE_CPU, 8, &ctx));
    test_expect_error("source is NULL");
    EXPECT_EQ(HCCL_E_PTR, res_ctx_copy(set, "t", COMM_ENGINE_CPU, NULL, 8, 0));
    test_expect_error("0 bytes");
    EXPECT_EQ(HCCL_E_PARA, res_ctx_copy(set, "t", COMM_ENGINE_CPU, "a", 0, 0));
    drop_set(set);
}

TEST(context_create_survives_every_failed_allocation)
{
    static const CommEngine engines[] = {COMM_ENGINE_CPU, COMM_ENGINE_AICPU};

    test_allow_errors();
    for (int i = 0; i < 2; i++) {
        struct res_ctx_set *set = make_set();
        long nth = 0;
        HcclResult rc;

        do {
            void *ctx = NULL;

            hc_alloc_fail_nth(nth++);
            rc = res_ctx_create(set, "t", engines[i], 64, &ctx);
            hc_alloc_fail_nth(-1);
            EXPECT_EQ(rc == HCCL_SUCCESS ? HCCL_SUCCESS : HCCL_E_MEMORY, rc);
            EXPECT_EQ(rc == HCCL_SUCCESS, ctx != NULL);
        } while (rc != HCCL_SUCCESS);
        drop_set(set);
    }
}
