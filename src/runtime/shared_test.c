/* SPDX-License-Identifier: BSD-3-Clause */
/* What other processes can map, and whom they can wake from there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "base/bell.h"
#include "base/word.h"
#include "runtime/arena.h"
#include "runtime/stress.h"
#include "tests/support/procs.h"

#define HUGE (2ull << 20)

static uint64_t
file_of(const void *addr, uint64_t len, uint64_t *offset)
{
    uint64_t file = 0;

    return rt_shared_find(addr, len, &file, offset) ? file : 0;
}

static void
expect_sealed(uint64_t file)
{
    uint64_t len = 0;
    int fd = rt_shared_file(file, &len);

    EXPECT_TRUE(fd >= 0);
    EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
    EXPECT_EQ(len, lseek(fd, 0, SEEK_END));
    EXPECT_EQ(RT_ARENA_SEALS, fcntl(fd, F_GET_SEALS));
    EXPECT_EQ(-1, ftruncate(fd, 0));
    EXPECT_EQ(EPERM, errno);
    EXPECT_EQ(-1, fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
    close(fd);
}

TEST(device_and_pinned_memory_are_found_in_their_files)
{
    uint64_t at = 0, other = 0, len = 0;
    char *device = NULL, *second = NULL, *pinned = NULL, *again;
    int fd;

    EXPECT_EQ(-1, rt_shared_file(1, &len)); /* not before there is any */
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&device, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocHost((void **)&pinned, 4096));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&second, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(1, file_of(device, 1 << 20, &at));
    EXPECT_EQ(1, file_of(second + 5, 10, &other));
    EXPECT_EQ(second + 5 - device, other - at);
    EXPECT_EQ(-1, rt_shared_file(2, &len)); /* not before some of it is to be shared */
    EXPECT_EQ(2, file_of(pinned, 4096, &other));
    EXPECT_EQ(0, file_of(device, 1ull << 40, &other)); /* runs into the next device's */
    EXPECT_EQ(0, file_of(&at, sizeof at, &other));
    EXPECT_EQ(0, file_of(NULL, 1, &other));
    EXPECT_EQ(-1, rt_shared_file(0, &len));
    EXPECT_EQ(-1, rt_shared_file(77, &len));
    expect_sealed(1);
    expect_sealed(2);

    device[77] = 1;
    fd = rt_shared_file(1, &len);
    again = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)(at & ~(uint64_t)4095));
    EXPECT_TRUE(again != MAP_FAILED);
    close(fd);
    EXPECT_EQ(1, again[(at & 4095) + 77]);
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(device));
    EXPECT_EQ(0, again[(at & 4095) + 77]); /* a sealed file takes holes */
    EXPECT_EQ(0, munmap(again, 4096));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(second));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeHost(pinned));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(the_word_of_a_notify_is_found)
{
    struct rt_notify_origin origin = {.what = "the notify"};
    struct rt_notify *notify;
    uint64_t at = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(3));
    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(3, &origin, &notify));
    EXPECT_EQ(1, file_of(rt_notify_word(notify), 8, &at));
    EXPECT_EQ(0, at % 64);
    rt_notify_destroy(notify);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(3));
}

static aclrtDrvMemHandle
physical(void)
{
    aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE};
    aclrtDrvMemHandle handle = NULL;

    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    return handle;
}

TEST_WITH(physical_memory_is_found_where_it_is_mapped, TEST_KEEPS_MEMORY)
{
    aclrtDrvMemHandle first, second;
    uint64_t at = 0, file, len = 0;
    char *base = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    first = physical();
    second = physical();
    EXPECT_EQ(ACL_SUCCESS, aclrtReserveMemAddress((void **)&base, 4 * HUGE, 0, NULL, 0));
    EXPECT_EQ(0, file_of(base, 1, &at)); /* reserved only */
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, HUGE, 0, first, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base + HUGE, HUGE, 0, second, 0));
    file = file_of(base + 100, HUGE - 100, &at);
    EXPECT_TRUE(file > 2);
    EXPECT_EQ(100, at);
    EXPECT_EQ(0, file_of(base + 100, HUGE, &at));  /* not in one piece */
    EXPECT_EQ(-1, rt_shared_file(file + 1, &len)); /* the second: not to be shared so far */
    EXPECT_EQ(file + 1, file_of(base + HUGE, HUGE, &at));
    EXPECT_EQ(0, at);
    expect_sealed(file);
    expect_sealed(file + 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(0, file_of(base, 1, &at));
    expect_sealed(file); /* its handle is open */
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(first));
    EXPECT_EQ(-1, rt_shared_file(file, &len));
    first = physical();
    EXPECT_EQ(-1, rt_shared_file(file, &len)); /* numbers are not used again */
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base + HUGE));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(first));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(second));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* ---- another process ---- */

#define TURNS ROUNDS(4000u)

/* Stays mapped: a bell is watched until the process ends. */
struct common {
    struct hc_bell bell;
    _Atomic uint64_t turn; /* the child's word, as it were: turns that the parent has taken */
    atomic_bool sleepy;    /* the child dawdles between turns, so that the parent sleeps */
    atomic_int knocks;
};
static struct common *common;
static int sockets[2];

/* Sent once: the descriptor of the device file, and where the word is in it. */
static void
send_file(int fd, uint64_t offset)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = &offset, .iov_len = sizeof offset};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    EXPECT_EQ(sizeof offset, sendmsg(sockets[0], &message, MSG_NOSIGNAL));
}

static _Atomic uint64_t *
receive_word(void)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    uint64_t offset = 0;
    struct iovec part = {.iov_base = &offset, .iov_len = sizeof offset};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    char *page;
    int fd;

    EXPECT_EQ(sizeof offset, recvmsg(sockets[1], &message, MSG_CMSG_CLOEXEC));
    EXPECT_NOT_NULL(CMSG_FIRSTHDR(&message));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset & ~(uint64_t)4095));
    EXPECT_TRUE(page != MAP_FAILED);
    close(fd);
    return (_Atomic uint64_t *)(void *)(page + (offset & 4095));
}

static void
child(int rank, void *nothing)
{
    _Atomic uint64_t *word = receive_word();

    (void)rank;
    (void)nothing;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        uint64_t before;
        uint32_t waiter;

        if (atomic_load(&common->sleepy) && turn % 16 == 0)
            usleep(300);
        waiter = hc_word_post(word, &before);
        if (waiter != 0 && hc_bell_ring(&common->bell, waiter)) {
            atomic_fetch_add(&common->knocks, 1);
            EXPECT_EQ(1, send(sockets[1], "k", 1, MSG_NOSIGNAL));
        }
        while (atomic_load(&common->turn) <= turn)
            sched_yield();
    }
    EXPECT_EQ(1, send(sockets[1], "e", 1, MSG_NOSIGNAL));
}

/* What a transport's service thread does about knocks. */
static void *
serve(void *arg)
{
    char knock = 'k';

    while (knock == 'k') {
        EXPECT_EQ(1, recv(sockets[0], &knock, 1, 0));
        hc_bell_drain(&common->bell, rt_shared_wake);
    }
    return arg;
}

static enum rt_step
take_turn_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    atomic_fetch_add(&common->turn, 1);
    return RT_STEP_DONE;
}

static const struct rt_task_ops turn_ops = {.name = "turn", .run = take_turn_run};

static void
turns_by_a_stream(struct rt_notify *notify)
{
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);
    struct rt_task task;

    for (uint32_t i = 0; i < TURNS; i++) {
        rt_task_notify_wait(&task, notify, 0);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
        EXPECT_EQ(ACL_SUCCESS, push(stream, &turn_ops));
        if (i % 100 == 0)
            EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
    }
    EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
}

static void
turns_by_a_thread(struct rt_notify *notify)
{
    for (uint32_t i = 0; i < TURNS; i++) {
        EXPECT_EQ(ACL_SUCCESS, rt_notify_await(notify, HC_FOREVER, NULL, 0));
        atomic_fetch_add(&common->turn, 1);
    }
}

static void
take_turns(void (*turns)(struct rt_notify *notify), bool sleepy)
{
    struct rt_notify_origin origin = {.what = "the child's notify", .queues = true, .remote = true};
    struct rt_notify *notify = NULL;
    uint64_t at = 0, len = 0;
    struct procs procs;
    pthread_t service;
    int file;

    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(common != MAP_FAILED);
    EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
    procs_start(&procs, 1, child, 0);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    rt_outside_add(1);
    rt_shared_watch(&common->bell);
    atomic_store(&common->sleepy, sleepy);
    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &notify));
    EXPECT_EQ(1, file_of(rt_notify_word(notify), 8, &at));
    file = rt_shared_file(1, &len);
    send_file(file, at);
    close(file);
    service = spawn(serve, NULL);
    turns(notify);
    join(service);
    procs_expect_success(&procs);
    while (atomic_load(&common->bell.attentive) != 0)
        usleep(100); /* a worker looks a little longer */
    rt_notify_destroy(notify);
    rt_outside_add(-1);
    close(sockets[0]);
    close(sockets[1]);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(another_process_wakes_a_stream)
{
    take_turns(turns_by_a_stream, true);
}

TEST(another_process_wakes_a_thread)
{
    take_turns(turns_by_a_thread, true);
}

TEST(another_process_records_while_a_stream_still_looks)
{
    take_turns(turns_by_a_stream, false);
}

TEST(another_process_records_while_a_thread_still_looks)
{
    take_turns(turns_by_a_thread, false);
}

TEST(a_process_that_never_spins_is_woken_all_the_same)
{
    setenv("HCOMM_SPIN", "0", 1);
    take_turns(turns_by_a_stream, false);
    EXPECT_TRUE(atomic_load(&common->knocks) > 0);
}
