/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/guard.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fork.h"
#include "tests/support/test.h"

#define ALIVE 0x600Du
#define GET_REGISTRATIONS (1 << 9) /* of membarrier(); newer than the headers of Debian 12 */

struct thing {
    uint32_t state; /* plain: a race with fini() is a bug, and the thread sanitizer says so */
    uint32_t check;
};

static atomic_uint ended;

static void
thing_fini(void *obj)
{
    struct thing *thing = obj;

    EXPECT_EQ(ALIVE, thing->state);
    thing->state = 0;
    hc_free(thing);
    atomic_fetch_add(&ended, 1);
}

static struct hc_table table = HC_TABLE("thing", HC_KIND_EVENT, thing_fini);
static struct hc_table other_table = HC_TABLE("other", HC_KIND_NOTIFY, thing_fini);

static uint64_t
thing_open(void)
{
    struct thing *thing = hc_zalloc(sizeof *thing);
    uint64_t handle;

    EXPECT_NOT_NULL(thing);
    thing->state = ALIVE;
    handle = hc_handle_open(&table, thing);
    EXPECT_NE(0, handle);
    return handle;
}

TEST(entering_finds_what_a_hold_finds)
{
    uint64_t handle = thing_open(), stale;
    void *held = hc_handle_hold(&table, handle);

    EXPECT_NOT_NULL(held);
    EXPECT_TRUE(hc_handle_enter(&table, handle) == held);
    hc_handle_leave();
    hc_handle_release(&table, handle);
    EXPECT_TRUE(hc_handle_enter(&table, handle) == held);
    hc_handle_leave();
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    EXPECT_EQ(1, atomic_load(&ended));

    stale = handle;
    handle = thing_open();
    EXPECT_EQ(hc_handle_index(stale), hc_handle_index(handle));
    EXPECT_NULL(hc_handle_enter(&table, stale));
    EXPECT_NOT_NULL(hc_handle_enter(&table, handle));
    hc_handle_leave();
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    EXPECT_EQ(2, atomic_load(&ended));
}

/* Among them numbers that differ from a live handle in one bit. */
TEST(what_is_no_open_handle_cannot_be_entered)
{
    uint64_t handle = thing_open();

    EXPECT_NULL(hc_handle_enter(&table, 0));
    EXPECT_NULL(hc_handle_enter(&table, UINT64_MAX));
    EXPECT_NULL(hc_handle_enter(&table, (uint64_t)(uintptr_t)&table));
    EXPECT_NULL(hc_handle_enter(&other_table, handle));
    for (int bit = 0; bit < 64; bit++)
        EXPECT_NULL(hc_handle_enter(&table, handle ^ 1ull << bit));
    EXPECT_NOT_NULL(hc_handle_enter(&table, handle)); /* none of them has left a guard behind */
    hc_handle_leave();
    EXPECT_FALSE(hc_handle_close_guarded(&table, handle ^ 1ull << 28));
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    EXPECT_FALSE(hc_handle_close_guarded(&table, handle));
    EXPECT_NULL(hc_handle_enter(&table, handle));
    EXPECT_EQ(1, atomic_load(&ended));
}

TEST(a_closed_handle_that_is_held_cannot_be_entered)
{
    uint64_t handle = thing_open();

    EXPECT_NOT_NULL(hc_handle_hold(&table, handle));
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    EXPECT_EQ(0, atomic_load(&ended));
    EXPECT_NULL(hc_handle_enter(&table, handle));
    hc_handle_release(&table, handle);
    EXPECT_EQ(1, atomic_load(&ended));
}

/* Registering takes some 10 ms where there are several threads: who enters nothing must not pay. */
TEST(closing_what_nobody_has_entered_registers_nothing)
{
    uint64_t handle = thing_open();
    long before = syscall(SYS_membarrier, GET_REGISTRATIONS, 0, 0);

    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    EXPECT_EQ(1, atomic_load(&ended));
    if (before < 0)
        skip(); /* Linux before 6.3 does not tell */
    EXPECT_EQ(before, syscall(SYS_membarrier, GET_REGISTRATIONS, 0, 0));
    handle = thing_open();
    EXPECT_NOT_NULL(hc_handle_enter(&table, handle));
    hc_handle_leave();
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    if (hc_barrier_ready()) /* so the number above can change */
        EXPECT_NE(before, syscall(SYS_membarrier, GET_REGISTRATIONS, 0, 0));
}

TEST(guards_nest_to_a_depth_and_then_say_no)
{
    uint64_t handle = thing_open();

    for (int turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < HC_GUARD_DEPTH; i++)
            EXPECT_NOT_NULL(hc_handle_enter(&table, handle));
        EXPECT_NULL(hc_handle_enter(&table, handle));
        EXPECT_FALSE(hc_guard_enter(&table));
        for (uint32_t i = 0; i < HC_GUARD_DEPTH; i++)
            hc_handle_leave();
    }
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
}

TEST(without_memory_there_is_no_guard_and_nothing_else_changes)
{
    uint64_t handle = thing_open();

    test_expect_error("out of host memory");
    hc_alloc_fail_nth(0);
    EXPECT_NULL(hc_handle_enter(&table, handle));
    EXPECT_TRUE(hc_alloc_failed());
    EXPECT_NOT_NULL(hc_handle_enter(&table, handle));
    hc_handle_leave();
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
}

/* ---- waiting ---- */

struct user {
    uint64_t handle;
    atomic_int stage; /* 1: entered; 2: may go on */
    bool ends_inside; /* the thread, under its guard */
};

static void *
use(void *arg)
{
    struct user *user = arg;
    struct thing *thing = hc_handle_enter(&table, user->handle);

    EXPECT_NOT_NULL(thing);
    EXPECT_TRUE(hc_guard_enter(user)); /* another one on top */
    atomic_store(&user->stage, 1);
    while (atomic_load(&user->stage) != 2)
        sched_yield();
    EXPECT_EQ(ALIVE, thing->state);
    if (user->ends_inside)
        pthread_exit(NULL);
    hc_guard_leave();
    hc_handle_leave();
    return NULL;
}

static void *
close_it(void *arg)
{
    struct user *user = arg;

    EXPECT_TRUE(hc_handle_close_guarded(&table, user->handle));
    return NULL;
}

static void
expect_close_waits(bool ends_inside)
{
    struct user user = {.handle = thing_open(), .ends_inside = ends_inside};
    pthread_t using, closing;
    void *obj;

    EXPECT_EQ(0, pthread_create(&using, NULL, use, &user));
    while (atomic_load(&user.stage) != 1)
        sched_yield();
    EXPECT_EQ(0, pthread_create(&closing, NULL, close_it, &user));
    while ((obj = hc_handle_hold(&table, user.handle)) != NULL) { /* until it is closed */
        hc_handle_release(&table, user.handle);
        sched_yield();
    }
    for (uint64_t end = hc_now_ns() + 30000000; hc_now_ns() < end;)
        EXPECT_EQ(0, atomic_load(&ended));
    atomic_store(&user.stage, 2);
    EXPECT_EQ(0, pthread_join(using, NULL));
    EXPECT_EQ(0, pthread_join(closing, NULL));
    EXPECT_EQ(1, atomic_load(&ended));
}

TEST(close_waits_for_who_has_entered)
{
    expect_close_waits(false);
}

TEST(close_waits_for_who_has_entered_where_the_barrier_is_forbidden)
{
    hc_barrier_forbid();
    expect_close_waits(false);
}

TEST(a_thread_that_ends_inside_has_left)
{
    expect_close_waits(true);
}

TEST(a_guard_on_something_else_is_not_waited_for)
{
    uint64_t mine = thing_open(), handle = thing_open();
    struct user user = {.handle = mine};
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, use, &user));
    while (atomic_load(&user.stage) != 1)
        sched_yield();
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
    EXPECT_EQ(1, atomic_load(&ended));
    atomic_store(&user.stage, 2);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_TRUE(hc_handle_close_guarded(&table, mine));
}

static void *
enter_once(void *arg)
{
    EXPECT_NOT_NULL(hc_handle_enter(&table, *(uint64_t *)arg));
    *(struct hc_guard **)((uint64_t *)arg + 1) = hc_guard_mine();
    hc_handle_leave();
    return NULL;
}

TEST(the_guard_of_a_thread_that_has_ended_is_used_again)
{
    struct {
        uint64_t handle;
        struct hc_guard *guard;
    } arg = {.handle = thing_open()};
    struct hc_guard *first = NULL;

    for (int i = 0; i < 3; i++) {
        pthread_t thread;

        EXPECT_EQ(0, pthread_create(&thread, NULL, enter_once, &arg));
        EXPECT_EQ(0, pthread_join(thread, NULL));
        EXPECT_NOT_NULL(arg.guard);
        EXPECT_TRUE(first == NULL || first == arg.guard);
        first = arg.guard;
    }
    EXPECT_TRUE(hc_handle_close_guarded(&table, arg.handle));
}

#define CROWD 40 /* more than the seats hold without a clash */

struct crowd {
    uint64_t handle;
    pthread_barrier_t *all;
    struct hc_guard *guard;
};

static void *
be_in_a_crowd(void *arg)
{
    struct crowd *crowd = arg;

    EXPECT_NOT_NULL(hc_handle_enter(&table, crowd->handle));
    crowd->guard = hc_guard_mine();
    pthread_barrier_wait(crowd->all);
    EXPECT_TRUE(hc_guard_mine() == crowd->guard);
    EXPECT_EQ(1, atomic_load(&crowd->guard->depth));
    EXPECT_TRUE(atomic_load(&crowd->guard->objs[0]) == hc_guard_slot(&table, crowd->handle));
    pthread_barrier_wait(crowd->all);
    hc_handle_leave();
    EXPECT_EQ(0, atomic_load(&crowd->guard->depth));
    return NULL;
}

TEST(threads_have_guards_of_their_own_also_if_they_find_no_seat)
{
    static struct crowd crowd[CROWD];
    pthread_t threads[CROWD];
    pthread_barrier_t all;

    for (int turn = 0; turn < 3; turn++) {
        EXPECT_EQ(0, pthread_barrier_init(&all, NULL, CROWD));
        for (int i = 0; i < CROWD; i++) {
            crowd[i] = (struct crowd){.handle = thing_open(), .all = &all};
            EXPECT_EQ(0, pthread_create(&threads[i], NULL, be_in_a_crowd, &crowd[i]));
        }
        for (int i = 0; i < CROWD; i++) {
            EXPECT_EQ(0, pthread_join(threads[i], NULL));
            EXPECT_TRUE(hc_handle_close_guarded(&table, crowd[i].handle));
            for (int j = 0; j < i; j++)
                EXPECT_TRUE(crowd[i].guard != crowd[j].guard);
        }
        EXPECT_EQ(0, pthread_barrier_destroy(&all));
    }
    EXPECT_EQ(3 * CROWD, atomic_load(&ended));
}

TEST(a_forked_child_waits_for_no_guard_of_its_parent)
{
    uint64_t handle = thing_open();
    int status;
    pid_t pid;

    hc_fork_watch();
    EXPECT_NOT_NULL(hc_handle_enter(&table, handle));
    pid = fork();
    if (pid == 0) {
        hc_guard_wait(hc_guard_slot(&table, handle));
        _exit(0);
    }
    EXPECT_TRUE(pid > 0);
    EXPECT_TRUE(waitpid(pid, &status, 0) == pid);
    EXPECT_EQ(0, status);
    hc_handle_leave();
    EXPECT_TRUE(hc_handle_close_guarded(&table, handle));
}

/* ---- many at once ---- */

#define USERS 3
#define CLOSES 4000u
#define MOST_NS 3000000000u /* on a busy machine fewer must do */

static _Atomic uint64_t now_open;
static atomic_bool over;
static atomic_uint users; /* that have entered once */

static void *
use_all_the_time(void *arg)
{
    bool entered = false;

    (void)arg;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        uint64_t handle = atomic_load_explicit(&now_open, memory_order_relaxed);
        struct thing *thing = hc_handle_enter(&table, handle);

        if (thing == NULL)
            continue;
        EXPECT_EQ(ALIVE, thing->state);
        if (hc_handle_enter(&table, handle) != NULL) { /* closed in between, or the same */
            EXPECT_EQ(ALIVE, thing->state);
            hc_handle_leave();
        }
        EXPECT_EQ(ALIVE, thing->state);
        hc_handle_leave();
        if (!entered)
            atomic_fetch_add(&users, 1);
        entered = true;
    }
    return NULL;
}

static uint32_t
close_all_the_time(void)
{
    uint64_t end = hc_now_ns() + MOST_NS;
    pthread_t threads[USERS];
    uint32_t closes = 0;

    atomic_store(&now_open, thing_open());
    for (int i = 0; i < USERS; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, use_all_the_time, NULL));
    while (atomic_load(&users) < USERS)
        sched_yield();
    for (; closes < CLOSES && hc_now_ns() < end; closes++) {
        uint64_t old = atomic_load(&now_open);

        if (closes % 32 == 0)
            sched_yield();
        if (closes % 2 == 0)
            atomic_store(&now_open, thing_open()); /* of another slot */
        EXPECT_TRUE(hc_handle_close_guarded(&table, old));
        if (closes % 2 != 0)
            atomic_store(&now_open, thing_open()); /* of the same slot */
    }
    atomic_store(&over, true);
    for (int i = 0; i < USERS; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    EXPECT_TRUE(hc_handle_close_guarded(&table, atomic_load(&now_open)));
    EXPECT_EQ(closes + 1, atomic_load(&ended));
    EXPECT_EQ(0, hc_handle_live(&table));
    return closes;
}

TEST(objects_that_are_closed_and_recycled_all_the_time_are_never_used_after_their_end)
{
    EXPECT_TRUE(close_all_the_time() > 0);
}

TEST(objects_are_never_used_after_their_end_where_the_barrier_is_forbidden)
{
    hc_barrier_forbid();
    EXPECT_TRUE(close_all_the_time() > 0);
}

static atomic_ulong interruptions;

static void
interrupt(int number)
{
    struct thing *thing = hc_handle_enter(&table, atomic_load(&now_open));

    (void)number;
    atomic_fetch_add(&interruptions, 1);
    if (thing == NULL)
        return;
    if (thing->state != ALIVE)
        abort();
    hc_handle_leave();
}

static void *
use_interrupted(void *arg)
{
    struct hc_guard *guard;

    EXPECT_TRUE(hc_guard_enter(arg)); /* the first time allocates: not in a handler */
    hc_guard_leave();
    atomic_store((atomic_bool *)arg, true);
    use_all_the_time(NULL);
    guard = hc_guard_mine();
    EXPECT_EQ(0, atomic_load(&guard->depth));
    return NULL;
}

/* I5 */
TEST(signal_handlers_may_enter_too)
{
    struct sigaction action = {.sa_handler = interrupt};
    uint64_t end = hc_now_ns() + 1000000000u;
    static atomic_bool ready;
    pthread_t thread;

    EXPECT_EQ(0, sigaction(SIGUSR1, &action, NULL));
    atomic_store(&now_open, thing_open());
    EXPECT_EQ(0, pthread_create(&thread, NULL, use_interrupted, &ready));
    while (!atomic_load(&ready))
        sched_yield();
    for (int i = 0; i < 3000 && hc_now_ns() < end; i++) {
        uint64_t old = atomic_load(&now_open);

        EXPECT_EQ(0, pthread_kill(thread, SIGUSR1));
        atomic_store(&now_open, thing_open());
        EXPECT_TRUE(hc_handle_close_guarded(&table, old));
    }
    atomic_store(&over, true);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_TRUE(atomic_load(&interruptions) > 0);
    EXPECT_TRUE(hc_handle_close_guarded(&table, atomic_load(&now_open)));
}
