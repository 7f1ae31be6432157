/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of another process that cannot be mapped: the bytes, the choice of the way, the errors. */
#define _GNU_SOURCE
#include "transport/foreign_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"
#include "transport/cma.h"

#define MIB ((uint64_t)1 << 20)

struct shared {
    struct own own[4];
    atomic_int turn;
    atomic_int done;
};

static const char *path; /* what the test pins; children inherit it, */
static bool writes;      /* and this */

/* ---- the bytes ---- */

static void
check_size(const struct far *far, uint64_t offset, uint64_t len, uint32_t seed)
{
    char *out = malloc(len + 8), *in = malloc(len + 8);

    fill(out + 1, len, seed);
    memset(in, 0, len + 8);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far->local + offset, out + 1, len));
    EXPECT_EQ(HCCL_SUCCESS, foreign_read(in + 3, far->local + offset, len));
    expect_filled(in + 3, len, seed);
    EXPECT_EQ(0, in[2]);
    EXPECT_EQ(0, in[3 + len]);
    free(out);
    free(in);
}

#define BYTES_LEN (64 * MIB + 9)

static void
bytes(int rank, void *arg)
{
    static const uint64_t sizes[] = {0,
                                     1,
                                     3,
                                     8,
                                     4095,
                                     4096,
                                     4097,
                                     65535,
                                     256 * 1024,
                                     256 * 1024 - 1,
                                     256 * 1024 + 1,
                                     MIB + 7,
                                     5 * MIB - 3};
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        char *memory = own_offer(&shared->own[0], BYTES_LEN);

        procs_await(&shared->turn, 1);
        expect_filled(memory + 9, 64 * MIB, 77);
        own_end(&shared->own[0]);
        return;
    }
    pin(path);
    far_open(&far, &shared->own[0]);
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_size(&far, i * 1001, sizes[i], i);
    check_size(&far, 9, 64 * MIB, 77);
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

static void
check_bytes(const char *pinned)
{
    struct procs procs;

    path = pinned;
    procs_start(&procs, 2, bytes, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(bytes_of_every_size_and_alignment_move_by_bounce)
{
    check_bytes("bounce");
}

TEST(bytes_of_every_size_and_alignment_move_by_cma)
{
    check_bytes("cma");
}

TEST(bytes_of_every_size_and_alignment_move_by_the_measured_way)
{
    check_bytes("auto");
}

/* A long range that needs little memory: a file again and again, and one page that is its own. */
static char *
long_range(uint64_t windows, uint64_t len)
{
    int fd = memfd_create("window", MFD_CLOEXEC);
    char *base = mmap(NULL, windows * len + 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    EXPECT_TRUE(fd >= 0 && base != MAP_FAILED);
    EXPECT_EQ(0, ftruncate(fd, (off_t)len));
    for (uint64_t i = 0; i < windows; i++)
        EXPECT_TRUE(mmap(base + i * len, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                         0) != MAP_FAILED);
    close(fd);
    return base;
}

#define WINDOW (32 * MIB)
#ifdef __SANITIZE_THREAD__
#define WINDOWS 4u /* its copies would take minutes */
#else
#define WINDOWS 128u
#endif

static void
four_gib(int rank, void *arg)
{
    struct shared *shared = arg;
    uint64_t len = WINDOWS * WINDOW + 1;
    char *memory = long_range(WINDOWS, WINDOW);
    struct far far;

    if (rank == (writes ? 1 : 0)) {
        fill(memory, WINDOW, 5);
        memory[len - 1] = '!';
    }
    if (rank == 0) {
        own_tell(&shared->own[0], memory, len);
        procs_await(&shared->turn, 1);
        tp_lease_end(shared->own[0].region.lease);
    } else {
        pin(path);
        far_open(&far, &shared->own[0]);
        EXPECT_EQ(HCCL_SUCCESS, writes ? foreign_write(far.local, memory, len)
                                       : foreign_read(memory, far.local, len));
        far_close(&far);
        atomic_store(&shared->turn, 1);
    }
    expect_filled(memory, WINDOW, 5);
    EXPECT_EQ('!', memory[len - 1]);
    EXPECT_EQ(0, munmap(memory, WINDOWS * WINDOW + 4096));
}

TEST(more_than_4_gib_are_written_by_bounce)
{
    struct procs procs;

    path = "bounce";
    writes = true;
    procs_start(&procs, 2, four_gib, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(more_than_4_gib_are_read_by_cma)
{
    struct procs procs;

    path = "cma";
    procs_start(&procs, 2, four_gib, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- the way ---- */

static void
decides(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 64 * MIB);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    EXPECT_EQ(0, setenv("HCOMM_LOG_LEVEL", "info", 1));
    far_open(&far, &shared->own[0]);
    EXPECT_STREQ("undecided", tp_shm_foreign_path());
    check_size(&far, 0, 4096, 1);
    EXPECT_STREQ("undecided", tp_shm_foreign_path());
    check_size(&far, 0, 32 * MIB, 2);
    check_size(&far, 0, 32 * MIB, 3);
    EXPECT_TRUE(strcmp(tp_shm_foreign_path(), "cma") == 0 ||
                strcmp(tp_shm_foreign_path(), "bounce") == 0);
    EXPECT_EQ(1, test_logged("large transfers of memory in no shared file go by"));
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(large_transfers_decide_the_way_once)
{
    struct procs procs;

    procs_start(&procs, 2, decides, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* As a container without ptrace does. */
static void
forbid_process_vm(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};

    EXPECT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    EXPECT_EQ(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void
forbidden(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 64 * MIB);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    EXPECT_EQ(0, setenv("HCOMM_LOG_LEVEL", "info", 1));
    forbid_process_vm();
    EXPECT_STREQ("bounce", tp_shm_foreign_path());
    far_open(&far, &shared->own[0]);
    check_size(&far, 1, 100, 1);
    check_size(&far, 5, 64 * MIB - 5, 2);
    EXPECT_STREQ("bounce", tp_shm_foreign_path());
    EXPECT_EQ(1, test_logged("are not possible (Operation not permitted)"));
    far_close(&far);

    pin("cma");
    far_open(&far, &shared->own[0]);
    test_expect_error("HCOMM_FOREIGN is cma");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, foreign_write(far.local, "bytes", 5));
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(where_process_vm_is_forbidden_the_bytes_bounce_after_one_notice)
{
    struct procs procs;

    procs_start(&procs, 2, forbidden, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* The owner lets nobody look into it. */
static void
undumpable(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;

    if (rank == 0) {
        EXPECT_EQ(0, prctl(PR_SET_DUMPABLE, 0));
        own_offer(&shared->own[0], 4 * MIB);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    EXPECT_EQ(0, setenv("HCOMM_LOG_LEVEL", "info", 1));
    far_open(&far, &shared->own[0]);
    check_size(&far, 1, 100, 1);
    check_size(&far, 5, 3 * MIB, 2);
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(an_owner_that_cannot_be_traced_is_reached)
{
    struct procs procs;

    procs_start(&procs, 2, undumpable, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* A pid that is used again shows another cookie, or none. */
static void
wrong_cookie(int rank, void *arg)
{
    struct shared *shared = arg;
    struct cma_cookie cookie;
    struct far far;
    uint64_t moved;
    int error;

    if (rank == 0) {
        char *memory = own_offer(&shared->own[0], 4096);

        procs_await(&shared->turn, 1);
        EXPECT_EQ(0, memory[0]);
        own_end(&shared->own[0]);
        return;
    }
    far_open(&far, &shared->own[0]);
    EXPECT_TRUE(
        cma_own_cookie(&cookie)); /* at the same address there, by fork, with another value */
    for (int write = 0; write < 2; write++) {
        char byte = 'x';
        struct foreign_move move = {.link = far.link,
                                    .write = write == 1,
                                    .addr = shared->own[0].region.addr,
                                    .local = &byte,
                                    .len = 1,
                                    .lease = shared->own[0].region.lease};

        EXPECT_EQ(HCCL_E_NOT_SUPPORT, cma_move(&move, &cookie, &moved, &error));
        EXPECT_EQ(ESRCH, error);
        move.link = far.link;
        struct cma_cookie nowhere = {.addr = 8, .value = 1};
        EXPECT_EQ(HCCL_E_NOT_SUPPORT, cma_move(&move, &nowhere, &moved, &error));
        EXPECT_EQ(0, moved);
    }
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(a_process_with_another_cookie_is_not_touched)
{
    struct procs procs;

    procs_start(&procs, 2, wrong_cookie, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(a_knob_that_names_no_way_is_refused)
{
    pin("carrier pigeon");
    test_expect_error("HCOMM_FOREIGN is \"carrier pigeon\"");
    EXPECT_STREQ("undecided", tp_shm_foreign_path());
}

/* ---- errors ---- */

static void
not_there(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far, other;
    char *bytes = malloc(2 * MIB);

    fill(bytes, 2 * MIB, 9);
    if (rank == 0) {
        char *memory = own_offer(&shared->own[0], 2 * MIB);
        char *second = own_offer(&shared->own[1], 2 * MIB);

        /* Without unregistering; nothing else can come there. */
        EXPECT_TRUE(mmap(memory + MIB, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                         0) != MAP_FAILED);
        atomic_store(&shared->turn, 1);
        procs_await(&shared->turn, 2);
        tp_lease_end(shared->own[0].region.lease);
        EXPECT_EQ(0, munmap(memory, 2 * MIB));
        expect_filled(second, 2 * MIB, 9);
        own_end(&shared->own[1]);
    } else {
        pin(path);
        far_open(&far, &shared->own[0]);
        far_open(&other, &shared->own[1]);
        procs_await(&shared->turn, 1);
        test_expect_error("are not there (any more)");
        EXPECT_EQ(HCCL_E_MEMORY, foreign_write(far.local, bytes, 2 * MIB));
        EXPECT_EQ(HCCL_E_MEMORY, foreign_read(bytes, far.local + 2 * MIB - 1, 1));
        EXPECT_EQ(HCCL_E_MEMORY, foreign_write(far.local + MIB, bytes, 1));
        EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local, bytes, MIB)); /* what is there is */
        EXPECT_EQ(HCCL_SUCCESS, foreign_write(other.local, bytes, 2 * MIB));
        far_close(&far);
        far_close(&other);
        atomic_store(&shared->turn, 2);
    }
    free(bytes);
}

static void
check_not_there(const char *pinned)
{
    struct procs procs;

    path = pinned;
    procs_start(&procs, 2, not_there, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(memory_that_was_unmapped_is_an_error_by_bounce_and_both_live_on)
{
    check_not_there("bounce");
}

TEST(memory_that_was_unmapped_is_an_error_by_cma_and_both_live_on)
{
    check_not_there("cma");
}

static void
own_not_there(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;
    char *mine;

    if (rank == 0) {
        own_offer(&shared->own[0], 4096);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    pin("cma");
    far_open(&far, &shared->own[0]);
    mine = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(mine != MAP_FAILED);
    test_expect_error("own memory of a transfer of 5 bytes");
    EXPECT_EQ(HCCL_E_MEMORY, foreign_read(mine, far.local, 5));
    EXPECT_EQ(HCCL_E_MEMORY, foreign_write(far.local, mine, 5));
    EXPECT_EQ(0, munmap(mine, 4096));
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(own_memory_that_is_not_there_is_not_blamed_on_the_peer)
{
    struct procs procs;

    procs_start(&procs, 2, own_not_there, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
lease_ended(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;
    char byte = 'a';

    if (rank == 0) {
        char *memory = own_offer(&shared->own[0], 4096);

        procs_await(&shared->turn, 1);
        EXPECT_EQ('a', memory[7]);
        tp_lease_end(shared->own[0].region.lease);
        atomic_store(&shared->turn, 2);
        procs_await(&shared->turn, 3);
        EXPECT_EQ('a', memory[7]);
        EXPECT_EQ(0, munmap(memory, 4096));
        return;
    }
    pin(path);
    far_open(&far, &shared->own[0]);
    EXPECT_EQ(HCCL_SUCCESS, foreign_write(far.local + 7, &byte, 1));
    atomic_store(&shared->turn, 1);
    procs_await(&shared->turn, 2);
    byte = 'b';
    test_expect_error("unregistered there");
    EXPECT_EQ(HCCL_E_PARA, foreign_write(far.local + 7, &byte, 1));
    EXPECT_EQ(HCCL_E_PARA, foreign_read(&byte, far.local + 7, 1));
    EXPECT_EQ('b', byte);
    atomic_store(&shared->turn, 3);
    far_close(&far);
}

TEST(memory_whose_lease_has_ended_is_not_touched)
{
    struct procs procs;

    for (int i = 0; i < 2; i++) {
        path = i == 0 ? "bounce" : "cma";
        procs_start(&procs, 2, lease_ended, sizeof(struct shared));
        procs_expect_success(&procs);
    }
}

static void
bad_regions(int rank, void *arg)
{
    struct shared *shared = arg;
    void *local = NULL;
    struct far far;
    char byte;

    if (rank == 0) {
        own_offer(&shared->own[0], 8192);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    far_open(&far, &shared->own[0]);
    struct tp_region region = shared->own[0].region;
    test_expect_error("without a lease");
    region.lease = 0;
    EXPECT_EQ(HCCL_E_PARA, foreign_add(far.link, &region, &local));
    region = shared->own[0].region;
    test_expect_error("memory that cannot be");
    region.len = UINT64_MAX - 5;
    EXPECT_EQ(HCCL_E_PARA, foreign_add(far.link, &region, &local));
    region.len = 100;
    region.addr = UINT64_MAX - 5;
    EXPECT_EQ(HCCL_E_PARA, foreign_add(far.link, &region, &local));
    test_expect_error("cannot reserve");
    region.addr = 4096;
    region.len = (uint64_t)1 << 60;
    EXPECT_EQ(HCCL_E_MEMORY, foreign_add(far.link, &region, &local));
    EXPECT_NULL(local);
    foreign_remove(NULL);

    test_expect_error("leave memory of process");
    EXPECT_EQ(HCCL_E_PARA, foreign_read(&byte, far.local + 8000, 193));
    EXPECT_EQ(HCCL_SUCCESS, foreign_read(&byte, far.local + 8191, 1));
    test_expect_error("is no memory of another process");
    EXPECT_EQ(HCCL_E_PARA, foreign_read(&byte, &region, 1));
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(regions_that_cannot_be_are_refused)
{
    struct procs procs;

    procs_start(&procs, 2, bad_regions, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- stand-ins ---- */

#define MANY 300

static void
many_standins(int rank, void *arg)
{
    struct shared *shared = arg;
    void *local[MANY] = {NULL};
    struct far far;

    if (rank == 0) {
        own_offer(&shared->own[0], 4096);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    EXPECT_FALSE(foreign_is(&far));
    far_open(&far, &shared->own[0]);
    for (int turn = 0; turn < 3000; turn++) {
        int i = (int)((unsigned)turn * 2654435761u >> 8) % MANY;
        struct tp_region region = {.addr = 0x10000u + (unsigned)i * 24,
                                   .len = (unsigned)i * 999,
                                   .lease = shared->own[0].region.lease};

        if (local[i] == NULL) {
            EXPECT_EQ(HCCL_SUCCESS, foreign_add(far.link, &region, &local[i]));
            EXPECT_EQ(region.addr & 4095, (uintptr_t)local[i] & 4095);
            continue;
        }
        EXPECT_TRUE(foreign_is(local[i]));
        EXPECT_FALSE(foreign_is((char *)local[i] - 1));
        if (region.len > 0) {
            EXPECT_TRUE(foreign_is((char *)local[i] + region.len - 1));
            EXPECT_FALSE(foreign_is((char *)local[i] + region.len));
        }
        foreign_remove(local[i]);
        EXPECT_FALSE(foreign_is(local[i]));
        local[i] = NULL;
    }
    for (int i = 0; i < MANY; i++)
        foreign_remove(local[i]);
    EXPECT_TRUE(foreign_is(far.local));
    far_close(&far);
    EXPECT_FALSE(foreign_is(far.local));
    atomic_store(&shared->turn, 1);
}

TEST(stand_ins_are_known_by_every_address_in_them_and_by_no_other)
{
    struct procs procs;

    procs_start(&procs, 2, many_standins, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
touches(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;
    int status;
    pid_t pid;

    if (rank == 0) {
        own_offer(&shared->own[0], 4096);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    far_open(&far, &shared->own[0]);
    pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)far.local = 1;
        _exit(0);
    }
    EXPECT_EQ(pid, waitpid(pid, &status, 0));
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    far_close(&far);
    atomic_store(&shared->turn, 1);
}

TEST(who_touches_a_stand_in_finds_out)
{
    struct procs procs;

    procs_start(&procs, 2, touches, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- allocations ---- */

static void
allocations(int rank, void *arg)
{
    struct shared *shared = arg;
    struct far far;
    HcclResult rc;
    long nth = 0;

    if (rank == 0) {
        own_offer(&shared->own[0], 4096);
        procs_await(&shared->turn, 1);
        own_end(&shared->own[0]);
        return;
    }
    pin("bounce");
    test_allow_errors();
    far_link(&far, &shared->own[0]);
    long before = hc_alloc_live();
    do {
        void *local = NULL;

        hc_alloc_fail_nth(nth++);
        rc = foreign_add(far.link, &shared->own[0].region, &local);
        EXPECT_TRUE(rc == HCCL_SUCCESS || (rc == HCCL_E_MEMORY && local == NULL));
        if (rc == HCCL_SUCCESS)
            rc = foreign_write(local, "bytes", 5);
        EXPECT_TRUE(rc == HCCL_SUCCESS || rc == HCCL_E_MEMORY);
        foreign_remove(local);
        EXPECT_EQ(before, hc_alloc_live());
    } while (hc_alloc_failed());
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(HCCL_SUCCESS, rc);
    EXPECT_TRUE(nth > 3);
    link_release(far.link);
    atomic_store(&shared->turn, 1);
}

TEST(whichever_allocation_fails_nothing_is_left)
{
    struct procs procs;

    procs_start(&procs, 2, allocations, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(what_is_offered_is_forgotten_with_its_lease)
{
    uint64_t lease;
    char bytes[64];

    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, foreign_offer(bytes, 64, 0));
    EXPECT_EQ(0, hc_alloc_live());
    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&lease));
    hc_alloc_fail_nth(0);
    EXPECT_EQ(HCCL_E_MEMORY, foreign_offer(bytes, 64, lease));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(HCCL_SUCCESS, foreign_offer(bytes, 64, lease));
    EXPECT_EQ(1, hc_alloc_live());
    EXPECT_EQ(HCCL_SUCCESS, foreign_offer(bytes + 32, 32, lease)); /* is in the other */
    EXPECT_EQ(1, hc_alloc_live());
    tp_lease_end(lease);
    EXPECT_EQ(0, hc_alloc_live());
    EXPECT_EQ(HCCL_SUCCESS, foreign_offer(bytes, 64, lease)); /* too late */
    EXPECT_EQ(0, hc_alloc_live());
}
