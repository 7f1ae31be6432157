/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounced transfers: several of them at once, processes that die or talk nonsense. */
#define _GNU_SOURCE
#include "transport/bounce.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "transport/foreign_test.h"

#define MIB ((uint64_t)1 << 20)
#define MANY 32

struct shared {
    struct own own[MANY];
    atomic_int turn;
    atomic_int at[MANY]; /* how far a process is */
    atomic_int done;
    atomic_int stop;
};

static const char *path; /* what the test pins; children inherit it */

static void
await_at_least(const atomic_int *value, int least)
{
    procs_await(value, least);
}

/* ---- several at once ---- */

struct task {
    const struct far *far;
    uint32_t seed;
    uint64_t len;
    HcclResult rc;
};

static void *
move_to_and_fro(void *arg)
{
    struct task *task = arg;
    char *remote = task->far->local + task->seed * 4 * MIB;
    char *bytes = malloc(task->len);

    for (uint32_t i = 0; i < 20 && task->rc == HCCL_SUCCESS; i++) {
        fill(bytes, task->len, task->seed + i);
        task->rc = foreign_write(remote, bytes, task->len);
        memset(bytes, 0, task->len);
        if (task->rc == HCCL_SUCCESS)
            task->rc = foreign_read(bytes, remote, task->len);
        expect_filled(bytes, task->len, task->seed + i);
    }
    free(bytes);
    return NULL;
}

static void
threads(int rank, void *arg)
{
    struct shared *shared = arg;
    pthread_t thread[4];
    struct task task[4];
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 16 * MIB);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    pin(path);
    far_open(&far, &shared->own[0]);
    for (uint32_t i = 0; i < 4; i++) {
        task[i] = (struct task){.far = &far, .seed = i, .len = i % 2 == 0 ? 2 * MIB + 5 : 1000};
        EXPECT_EQ(0, pthread_create(&thread[i], NULL, move_to_and_fro, &task[i]));
    }
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_EQ(0, pthread_join(thread[i], NULL));
        EXPECT_EQ(HCCL_SUCCESS, task[i].rc);
    }
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

static void
check_threads(const char *pinned)
{
    struct procs procs;

    path = pinned;
    procs_start(&procs, 2, threads, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(threads_share_a_lane)
{
    check_threads("bounce");
}

TEST(threads_measure_both_ways_at_once)
{
    check_threads("auto");
}

/* Everybody owns memory, and reaches everybody else's. */
#define CROWD 5

static void
crowd(int rank, void *arg)
{
    struct shared *shared = arg;
    char *memory = own_offer(&shared->own[rank], CROWD * MIB);
    char *bytes = malloc(MIB);
    struct far far[CROWD];

    pin("bounce");
    for (int i = 0; i < CROWD; i++) {
        if (i != rank)
            far_open(&far[i], &shared->own[i]);
    }
    for (uint32_t turn = 0; turn < 10; turn++) {
        for (int i = 0; i < CROWD; i++) {
            if (i == rank)
                continue;
            fill(bytes, MIB, turn + (uint32_t)rank);
            EXPECT_EQ(HCCL_SUCCESS, foreign_write(far[i].local + (uint64_t)rank * MIB, bytes, MIB));
        }
    }
    for (int i = 0; i < CROWD; i++) {
        if (i != rank)
            far_close(&far[i]);
    }
    atomic_fetch_add(&shared->done, 1);
    procs_await(&shared->done, CROWD);
    tp_lease_end(shared->own[rank].region.lease);
    for (int i = 0; i < CROWD; i++) {
        if (i != rank)
            expect_filled(memory + (uint64_t)i * MIB, MIB, 9 + (uint32_t)i);
    }
    EXPECT_EQ(0, munmap(memory, CROWD * MIB));
    free(bytes);
}

TEST(everybody_reaches_everybody)
{
    struct procs procs;

    procs_start(&procs, CROWD, crowd, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* One owner; the first to be through stops the others. */
#define RIVALS 6
#define ROUNDS 30

static void
rivals(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;
    char *bytes;
    int rounds = 0;

    if (rank == 0) {
        own_offer(&shared->own[0], 4 * MIB);
        procs_await(&shared->done, RIVALS);
        own_end(&shared->own[0]);
        return;
    }
    pin("bounce");
    far_open(&far, &shared->own[0]);
    bytes = calloc(1, 4 * MIB);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, bytes, 1));
    atomic_fetch_add(&shared->turn, 1);
    procs_await(&shared->turn, RIVALS);
    while (atomic_load(&shared->stop) == 0) {
        /* one asks for little, the others for much */
        EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, bytes, rank == 1 ? 64 : 4 * MIB));
        if (++rounds == ROUNDS && rank > 1)
            atomic_store(&shared->stop, 1);
    }
    EXPECT_TRUE(rounds > 0);
    far_close(&far);
    free(bytes);
    atomic_fetch_add(&shared->done, 1);
}

TEST(no_process_starves_while_others_ask_for_much)
{
    struct procs procs;

    procs_start(&procs, RIVALS + 1, rivals, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* Each region lives for a moment; the peer does not know how long. */
#define SHORT_LIVES 150

static void
short_lives(int rank, void *arg)
{
    struct shared *shared = arg;
    char *bytes = calloc(1, MIB);
    struct far far;

    if (rank == 0) {
        for (int i = 0; i < SHORT_LIVES; i++) {
            own_offer(&shared->own[0], MIB);
            atomic_store(&shared->turn, 2 * i + 1);
            await_at_least(&shared->at[0], i + 1);
            usleep((unsigned)i * 7 % 300);
            own_end(&shared->own[0]);
            procs_await(&shared->turn, 2 * i + 2);
        }
        free(bytes);
        return;
    }
    pin("bounce");
    test_allow_errors();
    for (int i = 0; i < SHORT_LIVES; i++) {
        HcclResult rc = HCCL_SUCCESS;

        procs_await(&shared->turn, 2 * i + 1);
        far_open(&far, &shared->own[0]);
        for (int k = 0; rc == HCCL_SUCCESS; k++) {
            rc = k % 2 == 0 ? foreign_write(far.local, bytes, MIB)
                            : foreign_read(bytes, far.local, MIB);
            atomic_store(&shared->at[0], i + 1);
        }
        EXPECT_EQ(HCCL_E_PARA, rc); /* and never that it is not there */
        far_close(&far);
        atomic_store(&shared->turn, 2 * i + 2);
    }
    free(bytes);
}

TEST(memory_may_be_unmapped_as_soon_as_its_lease_has_ended)
{
    struct procs procs;

    procs_start(&procs, 2, short_lives, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
idle(int rank, void *arg)
{
    struct shared *shared = arg;
    struct rusage before, after;
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], MIB);
        procs_await(&shared->turn, 1);
    } else {
        pin("bounce");
        far_open(&far, &shared->own[0]);
        EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
        atomic_store(&shared->turn, 1);
    }
    usleep(20000);
    EXPECT_EQ(0, getrusage(RUSAGE_SELF, &before));
    usleep(500000);
    EXPECT_EQ(0, getrusage(RUSAGE_SELF, &after));
    EXPECT_TRUE((after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
                    (after.ru_utime.tv_usec - before.ru_utime.tv_usec) <
                100000);
    if (rank == 0) {
        procs_await(&shared->done, 1);
        own_end(&shared->own[0]);
        return;
    }
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5)); /* wakes it again */
    far_close(&far);
    atomic_store(&shared->done, 1);
}

TEST(a_lane_that_nobody_uses_costs_no_time)
{
    struct procs procs;

    procs_start(&procs, 2, idle, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- processes that die, or stop ---- */

#define VICTIMS 30

static void
victims(int rank, void *arg)
{
    struct shared *shared = arg;
    int fds = 0;

    pin(path);
    if (rank < VICTIMS) {
        own_offer(&shared->own[rank], 8 * MIB);
        procs_await(&shared->stop, 1); /* nobody says so */
        return;
    }
    char *bytes = calloc(1, 8 * MIB);
    for (int i = 0; i < VICTIMS; i++) {
        HcclResult rc = HCCL_SUCCESS;
        struct far far;

        far_open(&far, &shared->own[i]);
        for (int k = 0; rc == HCCL_SUCCESS; k++) {
            rc = k % 2 == 0 ? foreign_write(far.local, bytes, 8 * MIB)
                            : foreign_read(bytes, far.local, 8 * MIB);
            atomic_store(&shared->turn, i + 1);
        }
        EXPECT_EQ(HCCL_E_REMOTE, rc);
        EXPECT_EQ(HCCL_E_REMOTE, foreign_write(far.local, bytes, 1));
        far_close(&far);
        if (i == 2)
            fds = test_open_fds();
    }
    for (int i = 0; i < 2000 && test_open_fds() > fds; i++)
        usleep(1000);
    EXPECT_TRUE(test_open_fds() <= fds);
    free(bytes);
}

static void
check_victims(const char *pinned)
{
    struct shared *shared;
    struct procs procs;

    path = pinned;
    shared = procs_prepare(&procs, sizeof *shared);
    procs_fork(&procs, VICTIMS + 1, victims);
    for (int i = 0; i < VICTIMS; i++) {
        procs_await(&shared->turn, i + 1);
        usleep((unsigned)(i * 1237) % 5000);
        procs_kill(&procs, i);
    }
    procs_expect_success(&procs);
}

TEST(owners_killed_in_the_middle_of_bounces_are_noticed)
{
    check_victims("bounce");
}

TEST(owners_killed_in_the_middle_of_cma_are_noticed)
{
    check_victims("cma");
}

static void
askers(int rank, void *arg)
{
    struct shared *shared = arg;
    char *bytes = calloc(1, 4 * MIB);
    struct far far;

    pin("bounce");
    if (rank == 0) {
        int fds;

        own_offer(&shared->own[0], 4 * MIB);
        procs_await(&shared->turn, 6); /* all are at it */
        fds = test_open_fds();
        atomic_store(&shared->stop, 1);
        procs_await(&shared->done, 1);
        for (int i = 0; i < 2000 && test_open_fds() >= fds; i++)
            usleep(1000);
        EXPECT_TRUE(test_open_fds() < fds);
        own_end(&shared->own[0]);
    } else {
        far_open(&far, &shared->own[0]);
        for (int i = 0; atomic_load(&shared->stop) < (rank == 1 ? 2 : 3); i++) {
            EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, bytes, 4 * MIB));
            if (i == 0)
                atomic_fetch_add(&shared->turn, 1);
        }
        for (int i = 0; i < 5; i++)
            EXPECT_EQ(HCCL_SUCCESS, foreign_read(bytes, far.local, 4 * MIB));
        far_close(&far);
        atomic_store(&shared->done, 1);
    }
    free(bytes);
}

TEST(askers_killed_in_the_middle_do_not_keep_the_owner_from_serving_others)
{
    struct shared *shared;
    struct procs procs;

    shared = procs_prepare(&procs, sizeof *shared);
    procs_fork(&procs, 7, askers);
    procs_await(&shared->stop, 1);
    for (int i = 2; i < 7; i++) {
        usleep(1500);
        procs_kill(&procs, i);
    }
    atomic_store(&shared->stop, 2);
    procs_expect_success(&procs);
}

static void *
write_once(void *arg)
{
    struct task *task = arg;
    char *bytes = calloc(1, task->len);

    task->rc = foreign_write(task->far->local, bytes, task->len);
    free(bytes);
    return NULL;
}

struct remover {
    struct far *far;
    atomic_int done;
};

static void *
remove_it(void *arg)
{
    struct remover *remover = arg;

    foreign_remove(remover->far->local);
    atomic_store(&remover->done, 1);
    return NULL;
}

static void
stopped(int rank, void *arg)
{
    struct shared *shared = arg;
    struct remover remover = {0};
    pthread_t writer, other;
    struct task task;
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 4 * MIB);
        procs_await(&shared->turn, 3);
        own_end(&shared->own[0]);
        return;
    }
    pin("bounce");
    far_open(&far, &shared->own[0]);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2); /* the owner is stopped */
    task = (struct task){.far = &far, .len = 4 * MIB, .rc = HCCL_E_RESERVED};
    remover.far = &far;
    EXPECT_EQ(0, pthread_create(&writer, NULL, write_once, &task));
    usleep(50000);
    EXPECT_EQ(0, pthread_create(&other, NULL, remove_it, &remover));
    usleep(50000);
    EXPECT_EQ(0, atomic_load(&remover.done));
    atomic_store(&shared->at[0], 1); /* it may go on */
    EXPECT_EQ(0, pthread_join(writer, NULL));
    EXPECT_EQ(0, pthread_join(other, NULL));
    EXPECT_EQ(HCCL_SUCCESS, task.rc);
    link_release(far.link);
    atomic_store(&shared->turn, 3);
}

TEST(a_stand_in_goes_when_its_transfers_are_done)
{
    struct shared *shared;
    struct procs procs;

    shared = procs_prepare(&procs, sizeof *shared);
    procs_fork(&procs, 2, stopped);
    procs_await(&shared->turn, 1);
    EXPECT_EQ(0, kill(procs.pid[0], SIGSTOP));
    usleep(10000);
    atomic_store(&shared->turn, 2);
    procs_await(&shared->at[0], 1);
    EXPECT_EQ(0, kill(procs.pid[0], SIGCONT));
    procs_expect_success(&procs);
}

static void
patience(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 4 * MIB);
        procs_await(&shared->turn, 3);
        own_end(&shared->own[0]);
        return;
    }
    pin("bounce");
    EXPECT_EQ(0, setenv("HCCL_EXEC_TIMEOUT", "1", 1));
    far_open(&far, &shared->own[0]);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2); /* the owner is stopped */
    test_expect_error("has not answered a bounced transfer for 1 s");
    EXPECT_EQ(HCCL_E_TIMEOUT, foreign_write(far.local, "bytes", 5));
    EXPECT_EQ(HCCL_E_TIMEOUT, foreign_write(far.local, "bytes", 5));
    far_close(&far);
    atomic_store(&shared->at[0], 1); /* it may go on */
    far_open(&far, &shared->own[0]);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
    far_close(&far);
    atomic_store(&shared->turn, 3);
}

TEST(an_owner_that_does_not_answer_is_given_up_on)
{
    struct shared *shared;
    struct procs procs;

    shared = procs_prepare(&procs, sizeof *shared);
    procs_fork(&procs, 2, patience);
    procs_await(&shared->turn, 1);
    EXPECT_EQ(0, kill(procs.pid[0], SIGSTOP));
    usleep(10000);
    atomic_store(&shared->turn, 2);
    procs_await(&shared->at[0], 1);
    EXPECT_EQ(0, kill(procs.pid[0], SIGCONT));
    procs_expect_success(&procs);
}

/* ---- processes that cannot, or talk nonsense ---- */

static void
no_memory(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 4096);
        procs_await(&shared->turn, 1);
        test_expect_error("out of host memory");
        hc_alloc_fail_nth(0);
        atomic_store(&shared->turn, 2);
        procs_await(&shared->turn, 3);
        EXPECT_EQ(1, test_logged("is refused a bounce buffer"));
        own_end(&shared->own[0]);
        return;
    }
    pin("bounce");
    far_open(&far, &shared->own[0]);
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2);
    test_expect_error("takes no bounce buffer");
    EXPECT_EQ(HCCL_E_UNAVAIL, foreign_write(far.local, "bytes", 5));
    EXPECT_EQ(HCCL_E_UNAVAIL, foreign_write(far.local, "bytes", 5));
    far_close(&far);
    far_open(&far, &shared->own[0]);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
    far_close(&far);
    atomic_store(&shared->turn, 3);
}

TEST(an_owner_without_memory_refuses_and_serves_later)
{
    struct procs procs;

    procs_start(&procs, 2, no_memory, sizeof(struct shared));
    procs_expect_success(&procs);
}

static int
file_of(uint64_t len, int seals)
{
    int fd = memfd_create("garbage", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    EXPECT_TRUE(fd >= 0);
    EXPECT_EQ(0, ftruncate(fd, (off_t)len));
    EXPECT_EQ(0, fcntl(fd, F_ADD_SEALS, seals));
    return fd;
}

static void
send_lane(struct shm_link *link, uint32_t number, uint64_t len, int fd)
{
    EXPECT_EQ(HCCL_SUCCESS, foreign_send(link, FOREIGN_LANE, number, len, BOUNCE_PIECE_LEN, fd));
    if (fd >= 0)
        EXPECT_EQ(0, close(fd));
}

static void
send_garbage(struct shm_link *link)
{
    static const char noise[LINK_MSG_MOST] = {3, 1, 4, 1, 5, 9, 2, 6};
    int seals = F_SEAL_SHRINK;

    for (uint32_t len = 0; len <= LINK_MSG_MOST; len += 8)
        EXPECT_EQ(HCCL_SUCCESS, link_send(link, LINK_MSG_FOREIGN, noise, len, -1));
    for (uint32_t kind = 0; kind < 12; kind++) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        EXPECT_EQ(HCCL_SUCCESS, foreign_send(link, kind, 1000, BOUNCE_FILE_LEN, kind, fd));
        EXPECT_EQ(0, close(fd));
        EXPECT_EQ(HCCL_SUCCESS, foreign_send(link, kind, 1000, UINT64_MAX, kind, -1));
    }
    send_lane(link, 1001, BOUNCE_FILE_LEN, -1);
    send_lane(link, 1002, BOUNCE_FILE_LEN, file_of(BOUNCE_FILE_LEN, 0));
    send_lane(link, 1003, BOUNCE_FILE_LEN, file_of(BOUNCE_HEAD_LEN, seals));
    send_lane(link, 1004, BOUNCE_HEAD_LEN, file_of(BOUNCE_HEAD_LEN, seals));
    send_lane(link, 1005, BOUNCE_FILE_LEN, file_of(BOUNCE_FILE_LEN, seals | F_SEAL_WRITE));
    for (uint32_t i = 0; i < 40; i++) /* the same again, and too many */
        send_lane(link, 2000 + i % 20, BOUNCE_FILE_LEN, file_of(BOUNCE_FILE_LEN, seals));
}

/* A lane of its own making, with requests that no initiator makes. */
static void
ask_garbage(struct shm_link *link, const struct tp_region *region)
{
    int fd = file_of(BOUNCE_FILE_LEN, F_SEAL_SHRINK);
    struct bounce_lane *lane =
        mmap(NULL, BOUNCE_FILE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const struct {
        uint64_t addr, lease;
        uint32_t len, write, answer;
    } asks[] = {
        {region->addr, region->lease, 64, 0, BOUNCE_DONE},
        {region->addr, region->lease + 1, 64, 0, BOUNCE_NOT_OFFERED},
        {region->addr, 0, 64, 1, BOUNCE_NOT_OFFERED},
        {region->addr - 1, region->lease, 64, 1, BOUNCE_NOT_OFFERED},
        {region->addr + region->len, region->lease, 1, 1, BOUNCE_NOT_OFFERED},
        {region->addr + region->len - 1, region->lease, 2, 1, BOUNCE_NOT_OFFERED},
        {0, region->lease, 64, 1, BOUNCE_NOT_OFFERED},
        {UINT64_MAX - 3, region->lease, 64, 1, BOUNCE_NOT_OFFERED},
        {region->addr, region->lease, BOUNCE_PIECE_LEN + 1, 1, BOUNCE_BAD},
        {region->addr, region->lease, UINT32_MAX, 0, BOUNCE_BAD},
        {region->addr, region->lease, 64, 2, BOUNCE_BAD},
        {region->addr, region->lease, 0, 1, BOUNCE_DONE},
    };

    EXPECT_TRUE(lane != MAP_FAILED);
    send_lane(link, 5000, BOUNCE_FILE_LEN, fd);
    for (uint32_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        struct bounce_piece *piece = &lane->pieces[i % BOUNCE_PIECES];

        atomic_store(&piece->addr, asks[i].addr);
        atomic_store(&piece->lease, asks[i].lease);
        atomic_store(&piece->len, asks[i].len);
        atomic_store(&piece->write, asks[i].write);
        atomic_store(&piece->state, PIECE_ASKED);
        EXPECT_EQ(HCCL_SUCCESS, foreign_send(link, FOREIGN_LOOK, 5000, 0, 0, -1));
        for (int k = 0; k < 20000 && atomic_load(&piece->state) != PIECE_ANSWERED; k++)
            usleep(500);
        EXPECT_EQ(PIECE_ANSWERED, atomic_load(&piece->state));
        EXPECT_EQ(asks[i].answer, atomic_load(&piece->answer));
    }
    EXPECT_EQ(0, munmap(lane, BOUNCE_FILE_LEN));
    EXPECT_EQ(HCCL_SUCCESS, foreign_send(link, FOREIGN_END, 5000, 0, 0, -1));
    EXPECT_EQ(HCCL_SUCCESS, foreign_send(link, FOREIGN_LOOK, 5000, 0, 0, -1));
}

static void
garbage(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        char *memory = own_offer(&shared->own[0], 4096);
        int fds = test_open_fds();

        procs_await(&shared->done, 2);
        for (int i = 0; i < 4096; i++)
            EXPECT_EQ(i < 5 ? "bytes"[i] : 0, memory[i]);
        EXPECT_TRUE(test_open_fds() < fds + 30); /* links, and a handful of lanes */
        own_end(&shared->own[0]);
        return;
    }
    pin("bounce");
    far_open(&far, &shared->own[0]);
    if (rank == 1) {
        ask_garbage(far.link, &shared->own[0].region);
        send_garbage(far.link);
        atomic_store(&shared->turn, 1);
        procs_await(&shared->done, 1);
    } else {
        EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
        procs_await(&shared->turn, 1);
        for (int i = 0; i < 100; i++)
            EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, "bytes", 5));
    }
    far_close(&far);
    atomic_fetch_add(&shared->done, 1);
}

TEST(garbage_is_answered_as_such_and_others_are_served)
{
    struct procs procs;

    procs_start(&procs, 3, garbage, sizeof(struct shared));
    procs_expect_success(&procs);
}
