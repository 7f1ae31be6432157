/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "acl/acl_rt.h"
#include "tests/support/test.h"

static aclrtStream a, b;
static aclrtNotify gate;

static void
begin(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&a));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&b));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&gate, 0));
}

static void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(gate));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static int
status_of(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;

    EXPECT_EQ(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    return (int)status;
}

TEST(an_event_completes_when_what_came_before_it_has)
{
    aclrtEvent event;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_COMPLETE, status_of(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 10));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_NOT_READY, status_of(event));
    EXPECT_EQ(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 20));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_COMPLETE, status_of(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

TEST(a_stream_waits_for_the_newest_record_at_the_time_of_the_call)
{
    aclrtEvent event;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, event)); /* never recorded: no wait */
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, event));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 10));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a)); /* the second record does not matter to b */
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, event));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 20));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event)); /* does not wait, and harms nobody */
    aclrtStream c;
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&c));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, c));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(c));
    end();
}

TEST(a_sync_event_is_a_flag_that_reset_clears)
{
    aclrtEvent event;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_NOT_READY, status_of(event));
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, event));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetEvent(event, b));
        EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 20));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

TEST(elapsed_time_is_what_passed_between_two_records)
{
    aclrtEvent start, stop;
    float ms = -1.0f;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&stop));
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventElapsedTime(&ms, start, stop));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(start, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    usleep(20000);
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 10));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(stop, a));
    EXPECT_EQ(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, stop));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtEventElapsedTime(&ms, start, stop));
    EXPECT_TRUE(ms >= 20.0f);
    EXPECT_EQ(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, aclrtEventElapsedTime(&ms, stop, start));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(b, start));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(start));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(stop));
    end();
}

TEST(a_record_that_was_dropped_has_no_time)
{
    aclrtEvent start, stop;
    float ms = -1.0f;
    uint64_t us = 7;

    begin();
    test_expect_error("waited 1 s");
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&start));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&stop));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(start, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(stop, a));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(a));
    test_expect_error("event was not reached: its stream failed or was aborted before");
    EXPECT_EQ(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, stop));
    EXPECT_EQ(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(stop, &us));
    EXPECT_TRUE(ms < 0 && us == 7);
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(stop, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtEventElapsedTime(&ms, start, stop));
    EXPECT_TRUE(ms >= 1000.0f); /* the wait in between */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(start));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(stop));
    end();
}

TEST(events_are_counted)
{
    uint32_t before = 0, after = 0;
    aclrtEvent event;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtGetEventAvailNum(&before));
    EXPECT_EQ(65536, before);
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetEventAvailNum(&after));
    EXPECT_EQ(before - 1, after);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetEventAvailNum(&after));
    EXPECT_EQ(before, after);
    test_expect_error("eventCount is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetEventAvailNum(NULL));
    end();
}

TEST(an_event_whose_stream_fails_fails_who_waits_for_it)
{
    aclrtEvent event;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, event));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(b));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));                  /* it has been told */
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeEvent(event)); /* still not recorded */
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

TEST(an_event_whose_stream_is_aborted_says_so)
{
    aclrtEvent event;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamAbort(a));
    test_expect_error("the recording stream was aborted or destroyed");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

TEST(bad_event_arguments_are_refused)
{
    aclrtEvent event = NULL;
    aclrtEventRecordedStatus status;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag(&event, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventExWithFlag(&event, 0x80));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtRecordEvent(NULL, a));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(a, a));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDestroyEvent(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(event, a));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(event, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtQueryEventStatus(event, &status));
    end();
}
