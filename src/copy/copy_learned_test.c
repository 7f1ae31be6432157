/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "copy/copy.h"
#include "copy/kinds.h"
#include "tests/support/test.h"

#define GUARD 128u
#define CANARY 0xEE

static unsigned char
byte_at(uint64_t at)
{
    return (unsigned char)(at * 31 + (at >> 8) * 7 + (at >> 20));
}

static void
fill(unsigned char *bytes, uint64_t len)
{
    for (uint64_t i = 0; i < len; i++)
        bytes[i] = byte_at(i);
}

static unsigned char *
map(uint64_t len)
{
    void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    EXPECT_TRUE(at != MAP_FAILED);
    return at;
}

static void
expect_canaries(const unsigned char *dst, uint64_t len)
{
    for (uint64_t i = 1; i <= GUARD; i++) {
        EXPECT_EQ(CANARY, dst[-(int64_t)i]);
        EXPECT_EQ(CANARY, dst[len + i - 1]);
    }
}

TEST(every_kind_moves_exactly_the_bytes_asked_for_at_any_alignment)
{
    static const uint64_t lens[] = {0, 1, 63, 64, 65, 127, 128, 129, 191, 255, 4096, 32768, 70001};
    static unsigned char src[80000], dst[80000];

    fill(src, sizeof src);
    for (enum copy_kind kind = 0; kind < COPY_KINDS; kind++) {
        for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
            for (size_t shift = 0; shift<66; shift += lens[i]> 300 ? 13 : 1) {
                unsigned char *to = dst + GUARD + shift, *from = src + (shift * 7) % 64;

                memset(dst, CANARY, lens[i] + 2 * GUARD + 66);
                copy_by(kind, to, from, lens[i]);
                EXPECT_MEMEQ(from, to, lens[i]);
                expect_canaries(to, lens[i]);
            }
        }
    }
}

/* Often enough that every kind has its turn, in pieces and not. */
TEST(learned_copies_move_exactly_the_bytes_asked_for)
{
    static const uint64_t lens[] = {
        0,      1,        32767,          32768,    32769,          65536,
        300001, 1u << 20, (8u << 20) - 1, 8u << 20, (8u << 20) + 1, (13u << 20) + 4711};
    const uint64_t most = (16u << 20) + 4096;
    unsigned char *src = map(most), *dst = map(most);
    struct copy_habit habit = {0};

    fill(src, most);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (size_t turn = 0; turn < 16; turn++) {
            unsigned char *to = dst + GUARD + turn * 5 % 64, *from = src + turn * 3 % 64;

            memset(dst, CANARY, lens[i] + 2 * GUARD + 64);
            copy_learned(&habit, to, from, lens[i]);
            EXPECT_EQ(0, memcmp(from, to, lens[i]));
            expect_canaries(to, lens[i]);
        }
    }
    munmap(src, most);
    munmap(dst, most);
}

TEST(learned_copies_between_overlapping_ranges_keep_the_source)
{
    const uint64_t len = 9u << 20;
    unsigned char *bytes = map(len + 8192);
    struct copy_habit habit = {0};
    int64_t shifts[] = {1, 64, 4096, -1, -64, -4096, 0};

    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        fill(bytes, len + 8192);
        copy_learned(&habit, bytes + 4096 + shifts[i], bytes + 4096, len - 4096);
        for (uint64_t at = 0; at < len - 4096; at++) {
            if (bytes[4096 + (int64_t)at + shifts[i]] != byte_at(4096 + at))
                EXPECT_EQ(byte_at(4096 + at), bytes[4096 + (int64_t)at + shifts[i]]);
        }
    }
    copy_learned(&habit, NULL, NULL, 0);
    munmap(bytes, len + 8192);
}

/* A file of WINDOW bytes, mapped again and again: a long range that needs little memory. */
#define WINDOW (64ull << 20)
#define WINDOWS 65u

static unsigned char *
map_windows(int fd)
{
    unsigned char *at =
        mmap(NULL, WINDOWS * WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    EXPECT_TRUE(at != MAP_FAILED);
    for (uint64_t i = 0; i < WINDOWS; i++)
        EXPECT_TRUE(mmap(at + i * WINDOW, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         fd, 0) != MAP_FAILED);
    return at;
}

TEST(learned_copies_of_more_than_4_gib_go_on_to_the_end)
{
    const uint64_t len = (4ull << 30) + 4097, end = len - (4ull << 30);
    int from = memfd_create("from", MFD_CLOEXEC), to = memfd_create("to", MFD_CLOEXEC);
    unsigned char *src, *dst;
    struct copy_habit habit = {0};

    EXPECT_EQ(0, ftruncate(from, (off_t)WINDOW));
    EXPECT_EQ(0, ftruncate(to, (off_t)WINDOW));
    src = map_windows(from);
    dst = map_windows(to);
    fill(src, WINDOW);
    copy_learned(&habit, dst, src, len);
    EXPECT_EQ(0, memcmp(src, dst, WINDOW));
    memset(dst, CANARY, WINDOW);
    copy_learned(&habit, dst, src + 1, len); /* the last window gets its first bytes last */
    EXPECT_EQ(0, memcmp(src + 1, dst, WINDOW - 1));
    EXPECT_EQ(byte_at(end), dst[len - 1]);
    munmap(src, WINDOWS * WINDOW);
    munmap(dst, WINDOWS * WINDOW);
    close(from);
    close(to);
}

/* ---- threads ---- */

#define COPIES 400
#define COPY_LEN (40u << 10)

static struct copy_habit shared_habit;

static void *
copier(void *arg)
{
    unsigned char *src = malloc(COPY_LEN), *dst = malloc(COPY_LEN);
    uintptr_t bad = 0;

    (void)arg;
    if (src == NULL || dst == NULL)
        abort();
    fill(src, COPY_LEN);
    for (int i = 0; i < COPIES; i++) {
        dst[0] = dst[COPY_LEN - 1] = (unsigned char)(src[0] + 1);
        copy_learned(&shared_habit, dst, src, COPY_LEN);
        bad += memcmp(src, dst, COPY_LEN) != 0;
    }
    free(src);
    free(dst);
    return (void *)bad;
}

TEST(threads_may_share_a_habit)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, copier, NULL));
    for (int i = 0; i < 4; i++) {
        void *bad;

        EXPECT_EQ(0, pthread_join(threads[i], &bad));
        EXPECT_NULL(bad);
    }
}

/* ---- the knob ---- */

/* Whether anything has been learned, which only "auto" does. */
static bool
learns(void)
{
    static unsigned char src[1u << 17], dst[1u << 17];
    static const struct copy_habit none;
    struct copy_habit habit = {0};

    fill(src, sizeof src);
    for (int i = 0; i < 20; i++) {
        memset(dst, 0, sizeof dst);
        copy_learned(&habit, dst, src, sizeof dst);
        EXPECT_MEMEQ(src, dst, sizeof dst);
    }
    return memcmp(&habit, &none, sizeof habit) != 0;
}

TEST(by_default_copies_are_learned)
{
    EXPECT_EQ((copy_kinds() & (copy_kinds() - 1)) != 0, learns());
}

TEST(the_knob_pins_plain_stores)
{
    setenv("HCOMM_COPY", "plain", 1);
    EXPECT_FALSE(learns());
}

TEST(the_knob_pins_streaming_stores)
{
    setenv("HCOMM_COPY", "stream", 1);
    EXPECT_FALSE(learns());
}

TEST(the_knob_pins_string_moves)
{
    setenv("HCOMM_COPY", "string", 1);
    EXPECT_FALSE(learns());
}

TEST(a_wrong_knob_is_named_and_the_default_holds)
{
    test_expect_error("HCOMM_COPY is \"fast\"");
    setenv("HCOMM_COPY", "fast", 1);
    EXPECT_EQ((copy_kinds() & (copy_kinds() - 1)) != 0, learns());
}
