/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy/copy.h"

#include "tests/support/test.h"

#define MARGIN 64

TEST(copy_moves_exactly_the_bytes_asked_for)
{
    static const uint64_t lens[] = {0, 1, 7, 8, 63, 64, 65, 4095, 4096, 100001};
    static unsigned char src[100001 + 2 * MARGIN], dst[100001 + 2 * MARGIN];

    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (unsigned char)(i * 31 + 7);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (size_t shift = 0; shift < 9; shift++) {
            memset(dst, 0xEE, sizeof dst);
            copy_bytes(dst + MARGIN, src + shift, lens[i]);
            EXPECT_MEMEQ(src + shift, dst + MARGIN, lens[i]);
            EXPECT_EQ(0xEE, dst[MARGIN - 1]);
            EXPECT_EQ(0xEE, dst[MARGIN + lens[i]]);
        }
    }
}

TEST(copy_onto_itself_and_of_nothing_is_nothing)
{
    char word[] = "unchanged";

    copy_bytes(word, word, sizeof word);
    copy_bytes(NULL, NULL, 0);
    EXPECT_STREQ("unchanged", word);
}

TEST(copy_between_overlapping_ranges_keeps_the_source)
{
    char text[] = "abcdefgh";

    copy_bytes(text + 2, text, 6);
    EXPECT_STREQ("ababcdef", text);
}

TEST(fill_sets_exactly_the_bytes_asked_for)
{
    unsigned char bytes[32] = {0};

    copy_fill(bytes + 4, 0x1A5, 8); /* cut to a byte */
    EXPECT_EQ(0, bytes[3]);
    EXPECT_EQ(0xA5, bytes[4]);
    EXPECT_EQ(0xA5, bytes[11]);
    EXPECT_EQ(0, bytes[12]);
    copy_fill(NULL, 1, 0);
}
