/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/exception.h"

#include <stdio.h>

#include "runtime/error.h"
#include "runtime/stream.h"
#include "tests/support/test.h"

static struct {
    uint32_t device, stream, task, code, thread;
    int calls, other_calls;
} seen;

static void
note(aclrtExceptionInfo *info)
{
    seen.device = aclrtGetDeviceIdFromExceptionInfo(info);
    seen.stream = aclrtGetStreamIdFromExceptionInfo(info);
    seen.task = aclrtGetTaskIdFromExceptionInfo(info);
    seen.code = aclrtGetErrorCodeFromExceptionInfo(info);
    seen.thread = aclrtGetThreadIdFromExceptionInfo(info);
    seen.calls++;
}

static void
note_other(aclrtExceptionInfo *info)
{
    (void)info;
    seen.other_calls++;
}

TEST(each_registered_callback_is_told_once)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(note));
    EXPECT_EQ(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(note)); /* again: nothing new */
    EXPECT_EQ(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(note_other));
    rt_exception_report(3, 17, 5, ACL_ERROR_RT_AICPU_EXCEPTION);
    EXPECT_EQ(1, seen.calls);
    EXPECT_EQ(1, seen.other_calls);
    EXPECT_EQ(3, seen.device);
    EXPECT_EQ(17, seen.stream);
    EXPECT_EQ(5, seen.task);
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, seen.code);
    EXPECT_NE(0, seen.thread);
    EXPECT_EQ(ACL_SUCCESS, aclrtExceptionInfoCallbackUnregister(note));
    rt_exception_report(0, 0, 0, ACL_ERROR_RT_AICPU_EXCEPTION);
    EXPECT_EQ(1, seen.calls);
    EXPECT_EQ(2, seen.other_calls);
}

TEST(the_old_slot_is_independent_and_can_be_emptied)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetExceptionInfoCallback(note));
    EXPECT_EQ(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(note));
    rt_exception_report(0, 0, 0, 1);
    EXPECT_EQ(2, seen.calls);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetExceptionInfoCallback(NULL));
    rt_exception_report(0, 0, 0, 1);
    EXPECT_EQ(3, seen.calls);
}

TEST(a_module_has_one_callback)
{
    EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule("OPS", note));
    EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule("OPS", note_other));
    EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule("OTHER", note_other));
    rt_exception_report(0, 0, 0, 1);
    EXPECT_EQ(0, seen.calls);
    EXPECT_EQ(2, seen.other_calls);
    EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule("OPS", NULL));
    EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule("NEVER", NULL));
    rt_exception_report(0, 0, 0, 1);
    EXPECT_EQ(3, seen.other_calls);
}

TEST(bad_registrations_are_refused)
{
    static const char long_name[] =
        "a_module_name_that_goes_on_and_on_beyond_every_reasonable_length_for_a_name";
    char name[32];

    test_expect_error("aclrtExceptionInfoCallbackRegister: callback is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtExceptionInfoCallbackRegister(NULL));
    test_expect_error("aclrtExceptionInfoCallbackUnregister: callback is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtExceptionInfoCallbackUnregister(NULL));
    test_expect_error("this exception callback is not registered");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtExceptionInfoCallbackUnregister(note));
    test_expect_error("moduleName is NULL");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rtRegTaskFailCallbackByModule(NULL, note));
    test_expect_error("is longer than 63 bytes");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rtRegTaskFailCallbackByModule(long_name, note));
    for (int i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "module%d", i);
        EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule(name, note));
    }
    test_expect_error("32 modules are registered already");
    EXPECT_EQ(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, rtRegTaskFailCallbackByModule("one more", note));
    EXPECT_EQ(ACL_SUCCESS, rtRegTaskFailCallbackByModule("module7", note_other));
}

TEST(accessors_answer_all_ones_without_info)
{
    EXPECT_EQ(0xFFFFFFFFu, aclrtGetTaskIdFromExceptionInfo(NULL));
    EXPECT_EQ(0xFFFFFFFFu, aclrtGetStreamIdFromExceptionInfo(NULL));
    EXPECT_EQ(0xFFFFFFFFu, aclrtGetThreadIdFromExceptionInfo(NULL));
    EXPECT_EQ(0xFFFFFFFFu, aclrtGetDeviceIdFromExceptionInfo(NULL));
    EXPECT_EQ(0xFFFFFFFFu, aclrtGetErrorCodeFromExceptionInfo(NULL));
}

static enum rt_step
run_badly(struct rt_stream *stream, struct rt_task *task)
{
    (void)task;
    return rt_stream_fail(stream, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "this task always fails");
}

static const struct rt_task_ops bad_ops = {.name = "bad", .run = run_badly};

TEST(a_failing_task_is_reported_with_the_ids_its_owner_knows)
{
    const struct rt_task task = {.ops = &bad_ops};
    struct rt_stream *stream = NULL;
    uint32_t task_id = 0, stream_id = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(2));
    EXPECT_EQ(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(note));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(NULL, &stream));
    test_expect_error("this task always fails");
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    EXPECT_EQ(ACL_SUCCESS, rtGetTaskIdAndStreamID(&task_id, &stream_id));
    EXPECT_EQ(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, rt_stream_sync(stream, -1));
    EXPECT_EQ(1, seen.calls);
    EXPECT_EQ(2, seen.device);
    EXPECT_EQ(rt_stream_id(stream), seen.stream);
    EXPECT_EQ(stream_id, seen.stream);
    EXPECT_EQ(task_id, seen.task);
    EXPECT_EQ(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, seen.code);
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(2));
}

/* ---- the other runtime-internal functions ---- */

TEST(queue_numbers_are_unique_and_register_addresses_are_not_to_be_had)
{
    uint32_t sq[2], cq = 0, logic = 0, id = 99;
    aclrtContext context = NULL;
    aclrtStream other = NULL;
    uint64_t offset = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, rtStreamGetSqid(NULL, &sq[0]));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&other));
    EXPECT_EQ(ACL_SUCCESS, rtStreamGetSqid(other, &sq[1]));
    EXPECT_NE(sq[0], sq[1]);
    EXPECT_EQ(ACL_SUCCESS, rtStreamGetCqid(other, &cq, &logic));
    EXPECT_EQ(sq[1], cq);
    EXPECT_EQ(sq[1], logic);
    test_expect_error("rtNotifyGetAddrOffset: not supported");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rtNotifyGetAddrOffset(other, &offset));
    test_expect_error("rtGetDevResAddress: not supported");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rtGetDevResAddress(NULL, NULL));
    test_expect_error("rtStreamAddToModel: the default stream cannot be captured");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rtStreamAddToModel(other, other));
    test_expect_error("is NULL");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rtStreamGetSqid(other, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rtStreamGetCqid(other, &cq, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rtStreamAddToModel(NULL, other));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rtGetTaskIdAndStreamID(NULL, &id));
    EXPECT_EQ(99, id);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    test_expect_error("is not a live stream");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, rtStreamGetSqid(other, &id));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}
