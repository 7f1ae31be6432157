/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process shows to its peers: segment, slots, leases. */
#include "transport/segment.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process.h"
#include "tests/support/test.h"

static struct shm_segment *
own(int *fd)
{
    struct shm_segment *segment = NULL;

    EXPECT_EQ(HCCL_SUCCESS, segment_own(&segment, fd));
    return segment;
}

TEST(the_own_segment_is_made_once_and_cannot_shrink)
{
    int fd = -1, again = -1;
    struct shm_segment *segment = own(&fd);

    EXPECT_TRUE(segment == own(&again));
    EXPECT_EQ(fd, again);
    EXPECT_EQ(hc_process_id(), segment->process);
    EXPECT_NE(0, ftruncate(fd, 4096));
    EXPECT_TRUE((fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) != 0);
    EXPECT_TRUE((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST(a_segment_that_is_right_is_mapped_and_shared)
{
    int fd;
    struct shm_segment *segment = own(&fd), *peer = segment_map(fd, hc_process_id());

    EXPECT_NOT_NULL(peer);
    EXPECT_TRUE(peer != segment);
    (void)hc_bell_ring(&peer->bell, 3);
    EXPECT_TRUE(hc_bell_is_rung(&segment->bell));
    segment_unmap(peer);
    segment_unmap(NULL);
}

/* A file of that length and with these seals, with a right head if it has room. */
static int
file_of(uint64_t len, int seals, uint32_t version)
{
    int fd = memfd_create("segment-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const struct {
        uint32_t magic, version;
        uint64_t process;
    } head = {.magic = SEGMENT_MAGIC, .version = version, .process = 7};
    size_t head_len = sizeof head;

    EXPECT_TRUE(fd >= 0);
    EXPECT_EQ(0, ftruncate(fd, (off_t)len));
    if (len >= head_len)
        EXPECT_EQ((ssize_t)head_len, pwrite(fd, &head, head_len, 0));
    EXPECT_EQ(0, fcntl(fd, F_ADD_SEALS, seals));
    return fd;
}

static void
expect_refused(int fd, const char *why)
{
    test_expect_error(why);
    EXPECT_NULL(segment_map(fd, 7));
    close(fd);
}

TEST(a_segment_that_is_wrong_is_refused)
{
    uint64_t len = sizeof(struct shm_segment);
    int good = file_of(len, F_SEAL_SHRINK, SEGMENT_VERSION);
    struct shm_segment *peer = segment_map(good, 7);

    EXPECT_NOT_NULL(peer);
    segment_unmap(peer);
    close(good);
    expect_refused(file_of(len, 0, SEGMENT_VERSION), "it may shrink");
    expect_refused(file_of(len - 1, F_SEAL_SHRINK, SEGMENT_VERSION), "its size is wrong");
    expect_refused(file_of(0, F_SEAL_SHRINK, SEGMENT_VERSION), "its size is wrong");
    expect_refused(file_of(len, F_SEAL_SHRINK, SEGMENT_VERSION + 1), "its head is wrong");
    expect_refused(open("/dev/null", O_RDWR | O_CLOEXEC), "it may shrink");
}

TEST(out_of_descriptors_there_is_no_segment_and_the_limit_is_named)
{
    struct shm_segment *segment = NULL;
    struct rlimit limit, low;
    int fd = -1;

    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    low = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
    test_expect_error("ulimit -n");
    EXPECT_EQ(HCCL_E_SYSCALL, segment_own(&segment, &fd));
    EXPECT_NULL(segment);
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    (void)own(&fd);
}

/* It would end the process with SIGXFSZ. */
TEST(under_a_limit_of_file_sizes_there_is_no_segment_and_the_limit_is_named)
{
    struct shm_segment *segment = NULL;
    struct rlimit before, small;
    HcclResult rc;
    int fd;

    EXPECT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
    small = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
    EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
    test_expect_error("the limit of file sizes is 1024 KiB");
    rc = segment_own(&segment, &fd);
    EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
    EXPECT_EQ(HCCL_E_SYSCALL, rc);
    (void)own(&fd);
}

TEST(a_slot_that_is_used_again_has_another_generation)
{
    int fd;
    struct shm_segment *segment = own(&fd);
    uint32_t first, second;
    uint32_t slot = segment_slot_take(&first);

    EXPECT_EQ((first << 8) | SLOT_OPEN, atomic_load(&segment->slots[slot].state));
    atomic_store(&segment->slots[slot].inside, 3);
    segment_slot_give(slot);
    EXPECT_EQ(SLOT_FREE, atomic_load(&segment->slots[slot].state) & 0xFF);
    atomic_store(&segment->slots[slot].state, 0); /* a peer that writes there changes nothing */
    EXPECT_EQ(slot, segment_slot_take(&second));
    EXPECT_NE(first, second);
    EXPECT_EQ((second << 8) | SLOT_OPEN, atomic_load(&segment->slots[slot].state));
    EXPECT_EQ(0, atomic_load(&segment->slots[slot].inside));
    segment_slot_give(slot);
}

TEST(when_all_slots_are_taken_the_next_is_refused)
{
    static uint32_t slots[SEGMENT_SLOTS];
    uint32_t generation;

    for (uint32_t i = 0; i < SEGMENT_SLOTS; i++) {
        slots[i] = segment_slot_take(&generation);
        EXPECT_EQ(i, slots[i]);
    }
    test_expect_error("no room for more");
    EXPECT_EQ(UINT32_MAX, segment_slot_take(&generation));
    segment_slot_give(slots[77]);
    EXPECT_EQ(77, segment_slot_take(&generation));
}

/* ---- leases ---- */

TEST(a_lease_is_seen_by_peers_until_it_ends)
{
    uint64_t before = 0, after = 0;
    struct shm_segment *segment;
    int fd;

    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&before)); /* while there is no segment yet */
    segment = own(&fd);
    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&after));
    EXPECT_NE(0, before);
    EXPECT_NE(before, after);
    EXPECT_TRUE(segment_leased(segment, before) && segment_own_leased(before));
    EXPECT_TRUE(segment_leased(segment, after) && segment_own_leased(after));
    tp_lease_end(before);
    EXPECT_FALSE(segment_leased(segment, before) || segment_own_leased(before));
    EXPECT_TRUE(segment_leased(segment, after));
    tp_lease_end(after);
    tp_lease_end(after); /* twice is fine */
    tp_lease_end(0);
    EXPECT_FALSE(segment_leased(segment, after));
    EXPECT_TRUE(segment_leased(segment, 0)); /* for ever */
    EXPECT_FALSE(segment_leased(segment, UINT64_MAX));
    EXPECT_FALSE(segment_leased(segment, 1)); /* no generation */
}

TEST(leases_without_peers_need_no_segment)
{
    int fds = test_open_fds();
    uint64_t lease;

    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&lease));
    EXPECT_TRUE(segment_own_leased(lease));
    tp_lease_end(lease);
    EXPECT_FALSE(segment_own_leased(lease));
    EXPECT_EQ(fds, test_open_fds());
}

TEST(an_old_lease_stays_invalid_when_its_place_is_used_again)
{
    uint64_t old = 0, lease = 0;

    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&old));
    tp_lease_end(old);
    for (int i = 0; i < 1000; i++) {
        EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&lease));
        EXPECT_NE(old, lease);
        EXPECT_FALSE(segment_own_leased(old));
        tp_lease_end(lease);
    }
}

TEST(when_all_leases_are_held_the_next_is_refused)
{
    static uint64_t leases[SEGMENT_LEASES];
    uint64_t more = 0;

    for (uint32_t i = 0; i < SEGMENT_LEASES; i++)
        EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&leases[i]));
    test_expect_error("release some");
    EXPECT_EQ(HCCL_E_MEMORY, tp_lease_begin(&more));
    EXPECT_EQ(0, more);
    tp_lease_end(leases[4711]);
    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&more));
}

static void *
register_and_release(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        uint64_t lease = 0;

        EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&lease));
        EXPECT_TRUE(segment_own_leased(lease));
        tp_lease_end(lease);
        EXPECT_FALSE(segment_own_leased(lease));
    }
    return NULL;
}

TEST(leases_can_be_taken_by_several_threads)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, register_and_release, NULL));
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
}
