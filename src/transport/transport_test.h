/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of this layer share: two parties, each with memory that the other can be shown.
 *
 * With loop they are two threads of the test, with shm two processes. Both run the same function;
 * they share `struct common` and go through it step by step: in_step() waits for the other.
 *
 *     CONFORMS(name_as_a_claim) { ... me->side ... in_step(me); ... }    a test for each transport
 */
#ifndef HC_TRANSPORT_TRANSPORT_TEST_H
#define HC_TRANSPORT_TRANSPORT_TEST_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/word.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"
#include "transport/transport.h"

#define MEMORY_LEN ((size_t)16 << 20)
#define WORDS 8u
#define WORDS_LEN 4096u /* of the memory, at its beginning, for the words of the ends */
#define NOTES 4096u

/* Seen by both parties. */
struct common {
    atomic_int arrived;
    struct tp_address address[2];
    struct tp_region region[2]; /* of memory + WORDS_LEN up to its end */
    atomic_int flag[16];
    uint32_t note[2][NOTES]; /* as the test likes */
};

struct party {
    const struct tp_ops *ops;
    int side;
    struct common *common;
    int steps;
    uint8_t *memory; /* [MEMORY_LEN], in a shared file */
    uint8_t *data;   /* behind the words */
    uint32_t words_used;
};

/* One end of a connection and what its callbacks saw. */
struct end {
    const struct tp_ops *ops;
    struct tp_conn *conn;
    struct party *party;
    _Atomic uint64_t *words[WORDS];
    atomic_int changes;
    atomic_int notifies[WORDS]; /* by on_notify */
};

/* ---- the process of the parties: what transports need of it ---- */

struct test_file {
    int fd;
    uint8_t *addr;
    uint64_t len;
};

static pthread_mutex_t test_files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct test_file test_files[4]; /* by number - 1; set once, under test_files_lock */
static _Atomic uint32_t test_woken;    /* last waiter */
static atomic_int test_wakes;

/* Number 1 to 4; addr NULL: it has not been made. */
static inline struct test_file
test_file_get(uint64_t number)
{
    struct test_file file;

    pthread_mutex_lock(&test_files_lock);
    file = test_files[number - 1];
    pthread_mutex_unlock(&test_files_lock);
    return file;
}

static inline bool
test_locate(const void *addr, uint64_t len, struct tp_place *place)
{
    for (uint64_t number = 1; number <= 4; number++) {
        struct test_file file = test_file_get(number);
        uint64_t offset = (uint64_t)((uintptr_t)addr - (uintptr_t)file.addr);

        if (file.addr == NULL || offset >= file.len || len > file.len - offset)
            continue;
        *place = (struct tp_place){.file = number, .offset = offset};
        return true;
    }
    return false;
}

static inline int
test_file(uint64_t number, uint64_t *len)
{
    struct test_file file = {0};

    if (number >= 1 && number <= 4)
        file = test_file_get(number);
    if (file.addr == NULL)
        return -1;
    *len = file.len;
    return fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
}

static inline void
test_wake(uint32_t waiter)
{
    atomic_store(&test_woken, waiter);
    atomic_fetch_add(&test_wakes, 1);
}

static inline void
test_watch(struct hc_bell *bell)
{
    (void)bell;
}

/* A shared file of this process; its memory here. */
static inline uint8_t *
test_file_make(int number, uint64_t len)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *addr;

    EXPECT_TRUE(fd >= 0);
    EXPECT_EQ(0, ftruncate(fd, (off_t)len));
    EXPECT_EQ(0, fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
    addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    EXPECT_TRUE(addr != MAP_FAILED);
    pthread_mutex_lock(&test_files_lock);
    test_files[number - 1] = (struct test_file){.fd = fd, .addr = addr, .len = len};
    pthread_mutex_unlock(&test_files_lock);
    return addr;
}

__attribute__((constructor)) static void
test_set_host(void)
{
    static const struct tp_host host = {
        .locate = test_locate, .file = test_file, .wake = test_wake, .watch = test_watch};

    tp_set_host(&host);
}

/* ---- parties ---- */

/* Waits until the other party is here too. */
static inline void
in_step(struct party *me)
{
    me->steps++;
    atomic_fetch_add(&me->common->arrived, 1);
    for (int i = 0; atomic_load(&me->common->arrived) < 2 * me->steps; i++) {
        EXPECT_TRUE(i < 600000); /* the other has failed */
        usleep(i < 50 ? 0 : 100);
    }
}

static inline void
party_init(struct party *me, const struct tp_ops *ops, int side, struct common *common)
{
    *me = (struct party){.ops = ops, .side = side, .common = common};
    me->memory = test_file_make(side + 1, MEMORY_LEN);
    me->data = me->memory + WORDS_LEN;
    tp_region_of(me->data, MEMORY_LEN - WORDS_LEN, 0, &common->region[side]);
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&common->address[side]));
}

struct test_thread {
    void (*body)(struct party *me);
    struct party party;
};

static inline void *
test_thread(void *arg)
{
    struct test_thread *thread = arg;

    thread->body(&thread->party);
    return NULL;
}

static inline void
run_in_one_process(void (*body)(struct party *me))
{
    struct common *common = calloc(1, sizeof *common);
    struct test_thread sides[2] = {{.body = body}, {.body = body}};
    pthread_t other;

    for (int i = 0; i < 2; i++)
        party_init(&sides[i].party, &tp_loop_ops, i, common);
    EXPECT_EQ(0, pthread_create(&other, NULL, test_thread, &sides[1]));
    body(&sides[0].party);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++)
        close(test_files[i].fd);
    free(common);
}

static void (*test_body)(struct party *me); /* set before the parties are forked */

static inline void
run_party(int side, void *shared)
{
    struct party me;

    party_init(&me, &tp_shm_ops, side, shared);
    in_step(&me);
    test_body(&me);
    in_step(&me); /* a process that has ended is another test */
}

static inline void
run_in_two_processes(void (*body)(struct party *me))
{
    struct procs procs;

    test_body = body;
    procs_start(&procs, 2, run_party, sizeof(struct common));
    procs_expect_success(&procs);
}

#define CONFORMS(name_)                                                                            \
    static void name_(struct party *me);                                                           \
    TEST_WITH(loop_##name_, TEST_KEEPS_FILES)                                                      \
    {                                                                                              \
        run_in_one_process(name_);                                                                 \
    }                                                                                              \
    TEST(shm_##name_)                                                                              \
    {                                                                                              \
        run_in_two_processes(name_);                                                               \
    }                                                                                              \
    static void name_(struct party *me)

/* ---- ends ---- */

static inline void
end_notified(void *arg, uint32_t index)
{
    atomic_fetch_add(&((struct end *)arg)->notifies[index], 1);
}

static inline void
end_changed(void *arg)
{
    atomic_fetch_add(&((struct end *)arg)->changes, 1);
}

static inline HcclResult
end_try_open_len(struct party *me, struct end *end, const char *key, const void *hello,
                 uint32_t hello_len)
{
    struct tp_open args = {.key = key,
                           .side = me->side,
                           .hello = hello,
                           .hello_len = hello_len,
                           .peer = me->common->address[1 - me->side],
                           .words = end->words,
                           .word_num = WORDS,
                           .on_notify = end_notified,
                           .on_change = end_changed,
                           .arg = end};

    *end = (struct end){.ops = me->ops, .party = me};
    for (uint32_t i = 0; i < WORDS; i++) { /* ends in turn, so that none has another's for long */
        end->words[i] = (_Atomic uint64_t *)(void *)me->memory +
                        (me->words_used++ % (WORDS_LEN / sizeof(uint64_t)));
        atomic_store(end->words[i], 0);
    }
    end->conn = tp_create(me->ops);
    return end->conn == NULL ? HCCL_E_MEMORY : me->ops->open(end->conn, &args);
}

static inline HcclResult
end_try_open(struct party *me, struct end *end, const char *key, const char *hello)
{
    return end_try_open_len(me, end, key, hello, hello == NULL ? 0 : (uint32_t)strlen(hello));
}

static inline void
end_open(struct party *me, struct end *end, const char *key, const char *hello)
{
    EXPECT_EQ(HCCL_SUCCESS, end_try_open(me, end, key, hello));
}

static inline void
end_destroy(struct end *end)
{
    tp_destroy(end->conn);
    end->conn = NULL;
}

static inline HcclResult
end_settle(struct end *end)
{
    HcclResult rc = HCCL_E_AGAIN;

    for (int i = 0; i < 100000 && rc == HCCL_E_AGAIN; i++) {
        rc = end->ops->poll(end->conn);
        if (rc == HCCL_E_AGAIN)
            usleep(100);
    }
    return rc;
}

/* Until the connection is seen to have ended. */
static inline HcclResult
end_await_end(struct end *end)
{
    HcclResult rc = HCCL_SUCCESS;

    for (int i = 0; i < 100000 && (rc == HCCL_SUCCESS || rc == HCCL_E_AGAIN); i++) {
        rc = end->ops->poll(end->conn);
        if (rc == HCCL_SUCCESS || rc == HCCL_E_AGAIN)
            usleep(100);
    }
    return rc;
}

static inline void
end_connect(struct party *me, struct end *end, const char *key)
{
    end_open(me, end, key, me->side == 0 ? "from 0" : "from 1");
    EXPECT_EQ(HCCL_SUCCESS, end_settle(end));
}

/* The peer's data, here. */
static inline uint8_t *
end_map(struct end *end)
{
    struct party *me = end->party;
    void *local = NULL;

    EXPECT_EQ(HCCL_SUCCESS, end->ops->map(end->conn, &me->common->region[1 - me->side], &local));
    return local;
}

static inline void
end_expect_hello(struct end *end, const char *text)
{
    uint32_t len = 77;
    const void *hello = end->ops->peer_hello(end->conn, &len);

    EXPECT_EQ(strlen(text), len);
    EXPECT_MEMEQ(text, hello, len);
}

/* How often the peer has recorded `index` so far. */
static inline int
end_notifies(struct end *end, uint32_t index)
{
    return atomic_load(&end->notifies[index]) + (int)hc_word_posted(atomic_load(end->words[index]));
}

static inline void
end_await_notifies(struct end *end, uint32_t index, int num)
{
    for (int i = 0; end_notifies(end, index) < num; i++) {
        EXPECT_TRUE(i < 2000000);
        if (i > 1000)
            usleep(10);
    }
}

/* Its on_change is called more than `before` times. */
static inline void
end_await_change(struct end *end, int before)
{
    for (int i = 0; atomic_load(&end->changes) <= before; i++) {
        EXPECT_TRUE(i < 100000);
        usleep(100);
    }
}

static inline void
end_expect(struct end *end, enum tp_end how, const char *text)
{
    char told[256] = "unset";

    EXPECT_EQ(how, end->ops->ending(end->conn, told, sizeof told));
    EXPECT_STREQ(text, told);
}

#endif
