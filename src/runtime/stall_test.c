/* SPDX-License-Identifier: BSD-3-Clause */
/* What looks like a deadlock and is none: somebody is left who will record. */
#define _GNU_SOURCE
#include "runtime/stall.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "runtime/stream.h"
#include "tests/support/test.h"

static pthread_t
spawn(void *(*fn)(void *arg), void *arg)
{
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fn, arg));
    return thread;
}

static void
join(pthread_t thread)
{
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static uint32_t turn;
static uint64_t turns_end;

static void *
take_turns(void *arg)
{
    uint32_t own = (uint32_t)(uintptr_t)arg;

    pthread_mutex_lock(&turn_lock);
    while (hc_now_ns() < turns_end) {
        if (turn % 2 == own) {
            turn++;
            pthread_cond_broadcast(&turn_changed);
        } else {
            pthread_cond_wait(&turn_changed, &turn_lock);
        }
    }
    turn = 1 - own; /* the partner's, who finds that the time is over */
    pthread_cond_broadcast(&turn_changed);
    pthread_mutex_unlock(&turn_lock);
    return NULL;
}

static void *
sync_stream(void *stream)
{
    return (void *)(intptr_t)rt_stream_sync(stream, -1);
}

static struct rt_notify *late;

static void *
record_after_turns(void *arg)
{
    pthread_t partner = spawn(take_turns, (void *)1);

    (void)arg;
    take_turns((void *)0);
    join(partner);
    rt_notify_record(late);
    return NULL;
}

/* A stream waits for `late`, which `recorder` records in its own time, and a thread for the stream.
 */
static void
expect_no_deadlock(void *(*recorder)(void *arg), void *arg)
{
    struct rt_notify_origin origin = {.what = "the late notify"};
    struct rt_task task;
    pthread_t waiter, records;
    struct rt_stream *stream = NULL;
    aclrtStream handle = NULL;
    void *rc;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&handle));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(handle, &stream));

    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &late));
    rt_task_notify_wait(&task, late, 0);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    records = spawn(recorder, arg);
    waiter = spawn(sync_stream, stream);
    EXPECT_EQ(0, pthread_join(waiter, &rc));
    EXPECT_EQ(ACL_SUCCESS, (intptr_t)rc);
    join(records);
    rt_notify_destroy(late);
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(two_threads_that_wake_each_other_are_no_deadlock)
{
    turns_end = hc_now_ns() + 3200000000u;
    expect_no_deadlock(record_after_turns, NULL);
}

static void *
record_after_post(void *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR)
        ;
    rt_notify_record(late);
    return NULL;
}

TEST(a_thread_that_waits_for_another_process_is_no_deadlock)
{
    sem_t *sem = mmap(NULL, sizeof *sem, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    EXPECT_EQ(0, sem_init(sem, 1, 0));
    child = fork();
    if (child == 0) {
        usleep(2600000);
        _exit(sem_post(sem));
    }
    expect_no_deadlock(record_after_post, sem);
    EXPECT_EQ(child, waitpid(child, NULL, 0));
    munmap(sem, sizeof *sem);
}
