/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * securec_test: every row of the tables of the securec specification, in their order, then
 * random formats against libc.
 *
 * Destinations lie inside `struct guarded`: check() fails the test when a byte outside the
 * destMax bytes that the call was given has changed.
 */
#define _GNU_SOURCE
#include "base/securec_impl.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/test.h"

#define LIMIT ((size_t)SECUREC_STRING_MAX_LEN)
#define WIDE_LIMIT ((size_t)SECUREC_WCHAR_STRING_MAX_LEN)
#define GUARD 0x5a
#define ROOM 128
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct guarded {
    char before[32];
    char at[ROOM];
    char after[32];
};

static bool
all_are(const void *mem, int value, size_t len)
{
    const unsigned char *bytes = mem;

    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != (unsigned char)value)
            return false;
    }
    return true;
}

/* Guards everywhere, then `text` with its terminator. Returns the destination. */
static char *
setup(struct guarded *g, const char *text)
{
    memset(g, GUARD, sizeof *g);
    if (text != NULL)
        memcpy(g->at, text, strlen(text) + 1);
    return g->at;
}

/* Nothing outside the first `used` bytes of the destination has changed. */
static void
check(const struct guarded *g, size_t used)
{
    EXPECT_TRUE(all_are(g->before, GUARD, sizeof g->before));
    EXPECT_TRUE(all_are(g->at + used, GUARD, sizeof g->at - used));
    EXPECT_TRUE(all_are(g->after, GUARD, sizeof g->after));
}

TEST(constants_have_the_published_values)
{
    EXPECT_EQ(0, EOK);
    EXPECT_EQ(22, EINVAL);
    EXPECT_EQ(34, ERANGE);
    EXPECT_EQ(150, EINVAL_AND_RESET);
    EXPECT_EQ(162, ERANGE_AND_RESET);
    EXPECT_EQ(182, EOVERLAP_AND_RESET);
    EXPECT_EQ(0x7fffffff, SECUREC_STRING_MAX_LEN);
    EXPECT_EQ(0x7fffffff, SECUREC_MEM_MAX_LEN);
    EXPECT_EQ(0x7fffffff / sizeof(wchar_t), SECUREC_WCHAR_STRING_MAX_LEN);
    EXPECT_EQ(0x7fffffff / sizeof(wchar_t), SECUREC_WCHAR_MEM_MAX_LEN);
    EXPECT_EQ(sizeof(int), sizeof(errno_t));
}

TEST(version_is_told_with_and_without_a_number)
{
    unsigned short number = 0;

    EXPECT_STREQ("1.1.16", GetHwSecureCVersion(NULL));
    EXPECT_STREQ("1.1.16", GetHwSecureCVersion(&number));
    EXPECT_EQ(1116, number);
}

TEST(violations_do_not_set_errno)
{
    char to[4] = "";

    errno = 0;
    (void)memcpy_s(to, sizeof to, NULL, 1);
    (void)strcpy_s(to, sizeof to, "too long");
    (void)sprintf_s(to, sizeof to, "%s", "too long");
    EXPECT_EQ(0, errno);
}

/* memset_s */

typedef errno_t (*mem_set_fn)(void *, size_t, int, size_t);

static const mem_set_fn mem_sets[] = {memset_s, memset_sOptAsm, memset_sOptTc};

TEST(memset_refuses_a_bad_size_and_touches_nothing)
{
    for (size_t i = 0; i < COUNT_OF(mem_sets); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(ERANGE, mem_sets[i](to, LIMIT + 1, 0, 1));
        EXPECT_EQ(ERANGE, mem_sets[i](to, LIMIT + 1, 0, 0));
        EXPECT_EQ(ERANGE, mem_sets[i](to, SIZE_MAX, 0, 1));
        EXPECT_EQ(ERANGE, mem_sets[i](to, 0, 0, 1));
        EXPECT_EQ(ERANGE, mem_sets[i](NULL, 0, 0, 0));
        EXPECT_EQ(ERANGE, mem_sets[i](NULL, LIMIT + 1, 0, 1)); /* the size is looked at first */
        check(&g, 0);
    }
}

TEST(memset_refuses_a_null_destination)
{
    for (size_t i = 0; i < COUNT_OF(mem_sets); i++) {
        EXPECT_EQ(EINVAL, mem_sets[i](NULL, 1, 0, 1));
        EXPECT_EQ(EINVAL, mem_sets[i](NULL, 1, 0, 2));
        EXPECT_EQ(EINVAL, mem_sets[i](NULL, LIMIT, 0, 0));
    }
}

TEST(memset_of_too_many_bytes_fills_the_whole_destination_with_the_value)
{
    for (size_t i = 0; i < COUNT_OF(mem_sets); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(ERANGE_AND_RESET, mem_sets[i](to, 8, 'x', 9));
        EXPECT_TRUE(all_are(to, 'x', 8));
        check(&g, 8);
        EXPECT_EQ(ERANGE_AND_RESET, mem_sets[i](to, 8, 'y', SIZE_MAX));
        EXPECT_TRUE(all_are(to, 'y', 8));
        check(&g, 8);
    }
}

TEST(memset_sets_count_bytes_to_the_low_byte)
{
    for (size_t i = 0; i < COUNT_OF(mem_sets); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(EOK, mem_sets[i](to, 8, 0x1ab, 3));
        EXPECT_TRUE(all_are(to, 0xab, 3));
        check(&g, 3);
        EXPECT_EQ(EOK, mem_sets[i](to, 8, 0, 8));
        EXPECT_TRUE(all_are(to, 0, 8));
        check(&g, 8);
    }
}

TEST(memset_of_nothing_into_no_room_succeeds)
{
    for (size_t i = 0; i < COUNT_OF(mem_sets); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(EOK, mem_sets[i](to, 0, 'x', 0));
        EXPECT_EQ(EOK, mem_sets[i](to, 8, 'x', 0));
        check(&g, 0);
    }
}

/* memcpy_s and memmove_s: one table but for the overlap row */

typedef errno_t (*mem_copy_fn)(void *, size_t, const void *, size_t);

static const mem_copy_fn mem_copies[] = {memcpy_s, memmove_s, memcpy_sOptAsm, memcpy_sOptTc};

TEST(copies_refuse_a_bad_size_and_touch_nothing)
{
    for (size_t i = 0; i < COUNT_OF(mem_copies); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(ERANGE, mem_copies[i](to, 0, "abc", 1));
        EXPECT_EQ(ERANGE, mem_copies[i](to, 0, "abc", 0));
        EXPECT_EQ(ERANGE, mem_copies[i](to, LIMIT + 1, "abc", 1));
        EXPECT_EQ(ERANGE, mem_copies[i](NULL, 0, NULL, 1));
        EXPECT_EQ(ERANGE, mem_copies[i](to, SIZE_MAX, NULL, 1));
        check(&g, 0);
    }
}

TEST(copies_refuse_a_null_destination)
{
    for (size_t i = 0; i < COUNT_OF(mem_copies); i++) {
        EXPECT_EQ(EINVAL, mem_copies[i](NULL, 8, "abc", 1));
        EXPECT_EQ(EINVAL, mem_copies[i](NULL, 8, NULL, 9));
    }
}

TEST(copies_from_null_clear_the_whole_destination)
{
    for (size_t i = 0; i < COUNT_OF(mem_copies); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(EINVAL_AND_RESET, mem_copies[i](to, 8, NULL, 9));
        EXPECT_TRUE(all_are(to, 0, 8));
        check(&g, 8);
        to = setup(&g, NULL);
        EXPECT_EQ(EINVAL_AND_RESET, mem_copies[i](to, 8, NULL, 0));
        EXPECT_TRUE(all_are(to, 0, 8));
        check(&g, 8);
    }
}

TEST(copies_that_do_not_fit_clear_the_whole_destination)
{
    for (size_t i = 0; i < COUNT_OF(mem_copies); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(ERANGE_AND_RESET, mem_copies[i](to, 4, "abcde", 5));
        EXPECT_TRUE(all_are(to, 0, 4));
        check(&g, 4);
        to = setup(&g, NULL);
        EXPECT_EQ(ERANGE_AND_RESET, mem_copies[i](to, 4, to + 1, 5)); /* before the overlap */
        EXPECT_TRUE(all_are(to, 0, 4));
        check(&g, 4);
        to = setup(&g, NULL);
        EXPECT_EQ(ERANGE_AND_RESET, mem_copies[i](to, 4, to, 5)); /* and before dest == src */
        EXPECT_TRUE(all_are(to, 0, 4));
    }
}

TEST(memcpy_of_overlapping_ranges_clears_the_whole_destination)
{
    struct guarded g;
    char *to = setup(&g, "abcdefghijkl");

    EXPECT_EQ(EOVERLAP_AND_RESET, memcpy_s(to, 8, to + 3, 4));
    EXPECT_TRUE(all_are(to, 0, 8));
    check(&g, 13);
    to = setup(&g, "abcdefghijkl");
    EXPECT_EQ(EOVERLAP_AND_RESET, memcpy_s(to + 3, 8, to, 4));
    EXPECT_TRUE(all_are(to + 3, 0, 8));
    EXPECT_MEMEQ("abc", to, 3);
    check(&g, 13);
}

TEST(memcpy_of_ranges_that_touch_is_no_overlap)
{
    struct guarded g;
    char *to = setup(&g, "abcdefghijkl");

    EXPECT_EQ(EOK, memcpy_s(to, 8, to + 4, 4));
    EXPECT_STREQ("efghefghijkl", to);
    to = setup(&g, "abcdefghijkl");
    EXPECT_EQ(EOK, memcpy_s(to + 4, 8, to, 4));
    EXPECT_STREQ("abcdabcdijkl", to);
    EXPECT_EQ(EOK, memcpy_s(to, 8, to + 1, 0)); /* nothing overlaps nothing */
    EXPECT_STREQ("abcdabcdijkl", to);
}

TEST(memmove_of_overlapping_ranges_is_correct)
{
    struct guarded g;
    char *to = setup(&g, "abcdefghijkl");

    EXPECT_EQ(EOK, memmove_s(to, 8, to + 3, 8));
    EXPECT_STREQ("defghijkijkl", to);
    to = setup(&g, "abcdefghijkl");
    EXPECT_EQ(EOK, memmove_s(to + 3, 8, to, 8));
    EXPECT_STREQ("abcabcdefghl", to);
    check(&g, 13);
}

TEST(copies_of_nothing_or_onto_itself_touch_nothing)
{
    for (size_t i = 0; i < COUNT_OF(mem_copies); i++) {
        struct guarded g;
        char *to = setup(&g, "abc");

        EXPECT_EQ(EOK, mem_copies[i](to, 8, "xyz", 0));
        EXPECT_EQ(EOK, mem_copies[i](to, 8, to, 8));
        EXPECT_STREQ("abc", to);
        check(&g, 4);
    }
}

TEST(copies_that_fit_are_done)
{
    for (size_t i = 0; i < COUNT_OF(mem_copies); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(EOK, mem_copies[i](to, 8, "abcdefghi", 8));
        EXPECT_MEMEQ("abcdefgh", to, 8);
        check(&g, 8);
        EXPECT_EQ(EOK, mem_copies[i](to, LIMIT, "xy", 2));
        EXPECT_MEMEQ("xycdefgh", to, 8);
        check(&g, 8);
    }
}

/* strcpy_s, and strncpy_s where the tables agree */

typedef errno_t (*str_copy_fn)(char *, size_t, const char *);

static errno_t
strncpy_many(char *dest, size_t dest_max, const char *src)
{
    return strncpy_s(dest, dest_max, src, LIMIT);
}

static errno_t
strncpy_error_many(char *dest, size_t dest_max, const char *src)
{
    return strncpy_error(dest, dest_max, src, LIMIT);
}

static const str_copy_fn str_copies[] = {strcpy_s, strcpy_error, strncpy_many, strncpy_error_many};

TEST(string_copies_refuse_a_bad_size_and_touch_nothing)
{
    for (size_t i = 0; i < COUNT_OF(str_copies); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(ERANGE, str_copies[i](to, 0, "abc"));
        EXPECT_EQ(ERANGE, str_copies[i](to, LIMIT + 1, "abc"));
        EXPECT_EQ(ERANGE, str_copies[i](NULL, 0, NULL));
        EXPECT_STREQ("old", to);
        check(&g, 4);
    }
}

TEST(string_copies_refuse_null_and_reset_one_byte)
{
    for (size_t i = 0; i < COUNT_OF(str_copies); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(EINVAL, str_copies[i](NULL, 8, "abc"));
        EXPECT_EQ(EINVAL, str_copies[i](NULL, 8, NULL));
        EXPECT_EQ(EINVAL_AND_RESET, str_copies[i](to, 8, NULL));
        EXPECT_MEMEQ("\0ld", to, 4);
        check(&g, 4);
    }
}

TEST(string_copies_that_do_not_fit_reset_one_byte)
{
    for (size_t i = 0; i < COUNT_OF(str_copies); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(ERANGE_AND_RESET, str_copies[i](to, 4, "abcd"));
        EXPECT_MEMEQ("\0ld", to, 4);
        check(&g, 4);
        to = setup(&g, "abcdefgh");
        EXPECT_EQ(ERANGE_AND_RESET, str_copies[i](to, 4, to + 1)); /* before the overlap */
        EXPECT_EQ(ERANGE_AND_RESET, str_copies[i](to + 1, 4, to + 1));
        EXPECT_MEMEQ("\0\0cdefgh", to, 9);
    }
}

TEST(string_copies_that_overlap_reset_one_byte)
{
    for (size_t i = 0; i < COUNT_OF(str_copies); i++) {
        struct guarded g;
        char *to = setup(&g, "abcdef");

        EXPECT_EQ(EOVERLAP_AND_RESET, str_copies[i](to, 64, to + 3));
        EXPECT_MEMEQ("\0bcdef", to, 7);
        to = setup(&g, "abc");
        EXPECT_EQ(EOVERLAP_AND_RESET, str_copies[i](to + 3, 64, to)); /* the terminator only */
        EXPECT_MEMEQ("abc\0", to, 4);
        check(&g, 4);
        to = setup(&g, "abc");
        EXPECT_EQ(EOK, str_copies[i](to + 4, 64, to)); /* they touch */
        EXPECT_STREQ("abc", to + 4);
        check(&g, 8);
    }
}

TEST(string_copies_onto_themselves_change_nothing)
{
    for (size_t i = 0; i < COUNT_OF(str_copies); i++) {
        struct guarded g;
        char *to = setup(&g, "abc");

        EXPECT_EQ(EOK, str_copies[i](to, 4, to));
        EXPECT_STREQ("abc", to);
        check(&g, 4);
    }
}

TEST(string_copies_that_fit_are_terminated_and_not_padded)
{
    for (size_t i = 0; i < COUNT_OF(str_copies); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(EOK, str_copies[i](to, 4, "abc"));
        EXPECT_STREQ("abc", to);
        check(&g, 4);
        EXPECT_EQ(EOK, str_copies[i](to, LIMIT, ""));
        EXPECT_STREQ("", to);
        check(&g, 4);
    }
}

/* A source without a terminator is not read past the room there is. */
TEST(string_copies_do_not_read_past_what_could_fit)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char to[8] = "old";

    EXPECT_TRUE(page != MAP_FAILED);
    EXPECT_EQ(0, mprotect(page + 4096, 4096, PROT_NONE));
    char *from = page + 4096 - 8;
    memset(from, 'x', 8);
    EXPECT_EQ(ERANGE_AND_RESET, strcpy_s(to, sizeof to, from));
    EXPECT_EQ(ERANGE_AND_RESET, strncpy_s(to, sizeof to, from, LIMIT));
    EXPECT_EQ(EOK, strncpy_s(to, sizeof to, from + 1, 7));
    EXPECT_STREQ("xxxxxxx", to);
    to[3] = '\0';
    EXPECT_EQ(ERANGE_AND_RESET, strcat_s(to, sizeof to, from));
    EXPECT_EQ(EOK, strncat_s(to, sizeof to, from + 4, 4));
    EXPECT_STREQ("xxxx", to);
    EXPECT_EQ(EINVAL_AND_RESET, strcat_s(from, 8, ""));
    munmap(page, 8192);
}

TEST(strncpy_refuses_a_count_beyond_the_limit)
{
    struct guarded g;
    char *to = setup(&g, "old");

    EXPECT_EQ(ERANGE_AND_RESET, strncpy_s(to, 8, "abc", LIMIT + 1));
    EXPECT_MEMEQ("\0ld", to, 4);
    EXPECT_EQ(EINVAL_AND_RESET, strncpy_s(to, 8, NULL, LIMIT + 1)); /* the pointer first */
    EXPECT_EQ(EINVAL, strncpy_s(NULL, 8, "abc", LIMIT + 1));
    check(&g, 4);
}

TEST(strncpy_of_nothing_empties_the_destination)
{
    struct guarded g;
    char *to = setup(&g, "old");

    EXPECT_EQ(EOK, strncpy_s(to, 8, "abc", 0));
    EXPECT_MEMEQ("\0ld", to, 4);
    to[0] = 'o';
    EXPECT_EQ(EOK, strncpy_s(to, 8, to, 0));
    EXPECT_MEMEQ("\0ld", to, 4);
    check(&g, 4);
}

TEST(strncpy_needs_room_for_the_terminator)
{
    struct guarded g;
    char *to = setup(&g, "old");

    EXPECT_EQ(ERANGE_AND_RESET, strncpy_s(to, 4, "abcdef", 4));
    EXPECT_EQ(ERANGE_AND_RESET, strncpy_s(to, 4, "abcd", 6));
    EXPECT_MEMEQ("\0ld", to, 4);
    EXPECT_EQ(EOK, strncpy_s(to, 4, "abc", 6));
    EXPECT_STREQ("abc", to);
    check(&g, 4);
}

TEST(strncpy_cuts_at_count_and_terminates)
{
    struct guarded g;
    char *to = setup(&g, NULL);

    EXPECT_EQ(EOK, strncpy_s(to, 4, "abcdef", 3));
    EXPECT_STREQ("abc", to);
    check(&g, 4);
    EXPECT_EQ(EOK, strncpy_s(to, 4, to, 2)); /* onto itself: only shorter */
    EXPECT_STREQ("ab", to);
}

TEST(strncpy_overlap_counts_only_what_is_read_and_written)
{
    struct guarded g;
    char *to = setup(&g, "abcdef");

    EXPECT_EQ(EOVERLAP_AND_RESET, strncpy_s(to, 64, to + 3, 3)); /* writes to[3] */
    to = setup(&g, "abcdef");
    EXPECT_EQ(EOVERLAP_AND_RESET, strncpy_s(to + 2, 64, to, 3));
    to = setup(&g, "abcdef");
    EXPECT_EQ(EOK, strncpy_s(to + 3, 64, to, 3));
    EXPECT_STREQ("abcabc", to);
}

/* strcat_s, and strncat_s where the tables agree */

static errno_t
strncat_many(char *dest, size_t dest_max, const char *src)
{
    return strncat_s(dest, dest_max, src, LIMIT);
}

static const str_copy_fn str_appends[] = {strcat_s, strncat_many};

TEST(appends_refuse_bad_arguments)
{
    for (size_t i = 0; i < COUNT_OF(str_appends); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(ERANGE, str_appends[i](to, 0, "abc"));
        EXPECT_EQ(ERANGE, str_appends[i](to, LIMIT + 1, "abc"));
        EXPECT_EQ(ERANGE, str_appends[i](NULL, 0, NULL));
        EXPECT_EQ(EINVAL, str_appends[i](NULL, 8, NULL));
        EXPECT_STREQ("old", to);
        EXPECT_EQ(EINVAL_AND_RESET, str_appends[i](to, 8, NULL));
        EXPECT_MEMEQ("\0ld", to, 4);
        EXPECT_EQ(EINVAL_AND_RESET, str_appends[i](to, 1, NULL));
        check(&g, 4);
    }
}

TEST(strncat_refuses_a_count_beyond_the_limit)
{
    struct guarded g;
    char *to = setup(&g, "old");

    EXPECT_EQ(ERANGE_AND_RESET, strncat_s(to, 8, "abc", LIMIT + 1));
    EXPECT_MEMEQ("\0ld", to, 4);
    memcpy(to, "old", 4);
    EXPECT_EQ(ERANGE_AND_RESET, strncat_s(to, 2, "abc", SIZE_MAX)); /* before "unterminated" */
    EXPECT_EQ(EINVAL_AND_RESET, strncat_s(to, 8, NULL, SIZE_MAX));
    check(&g, 4);
}

TEST(appends_to_an_unterminated_destination_reset_it)
{
    for (size_t i = 0; i < COUNT_OF(str_appends); i++) {
        struct guarded g;
        char *to = setup(&g, "abcd");

        EXPECT_EQ(EINVAL_AND_RESET, str_appends[i](to, 4, "x"));
        EXPECT_MEMEQ("\0bcd", to, 5);
        to = setup(&g, "abcd");
        EXPECT_EQ(EINVAL_AND_RESET, str_appends[i](to, 4, to + 1)); /* before the overlap */
        check(&g, 5);
    }
}

TEST(appends_that_overlap_reset_the_destination)
{
    for (size_t i = 0; i < COUNT_OF(str_appends); i++) {
        struct guarded g;
        char *to = setup(&g, "abcd");

        EXPECT_EQ(EOVERLAP_AND_RESET, str_appends[i](to, 64, to + 2));
        EXPECT_MEMEQ("\0bcd", to, 5);
        to = setup(&g, "abcd");
        EXPECT_EQ(EOVERLAP_AND_RESET, str_appends[i](to, 64, to + 4)); /* an empty source */
        to = setup(&g, "abcd");
        EXPECT_EQ(EOVERLAP_AND_RESET, str_appends[i](to, 5, to + 1)); /* before "does not fit" */
        to = setup(&g, "abcd");
        EXPECT_EQ(EOVERLAP_AND_RESET, str_appends[i](to + 2, 64, to)); /* from in front */
        EXPECT_MEMEQ("ab\0d", to, 5);
        check(&g, 5);
    }
}

TEST(appends_next_to_their_source_are_no_overlap)
{
    for (size_t i = 0; i < COUNT_OF(str_appends); i++) {
        char text[16] = "ab\0\0\0\0xyz";

        EXPECT_EQ(EOK, str_appends[i](text, 6, text + 6));
        EXPECT_STREQ("abxyz", text);
        EXPECT_STREQ("xyz", text + 6);
    }
}

TEST(appends_that_do_not_fit_or_double_reset_the_destination)
{
    for (size_t i = 0; i < COUNT_OF(str_appends); i++) {
        struct guarded g;
        char *to = setup(&g, "abcd");

        EXPECT_EQ(ERANGE_AND_RESET, str_appends[i](to, 8, "1234"));
        EXPECT_MEMEQ("\0bcd", to, 5);
        check(&g, 5);
        to = setup(&g, "abcd");
        EXPECT_EQ(ERANGE_AND_RESET, str_appends[i](to, 64, to));
        EXPECT_MEMEQ("\0bcd", to, 5);
        to = setup(&g, "abcd");
        EXPECT_EQ(ERANGE_AND_RESET, str_appends[i](to, 5, to));
        check(&g, 5);
    }
}

TEST(appends_that_fit_are_done)
{
    for (size_t i = 0; i < COUNT_OF(str_appends); i++) {
        struct guarded g;
        char *to = setup(&g, "abcd");

        EXPECT_EQ(EOK, str_appends[i](to, 8, "123"));
        EXPECT_STREQ("abcd123", to);
        EXPECT_EQ(EOK, str_appends[i](to, 8, ""));
        EXPECT_STREQ("abcd123", to);
        check(&g, 8);
    }
}

TEST(strncat_appends_no_more_than_count)
{
    struct guarded g;
    char *to = setup(&g, "abcd");

    EXPECT_EQ(EOK, strncat_s(to, 8, "123456", 3));
    EXPECT_STREQ("abcd123", to);
    EXPECT_EQ(EOK, strncat_s(to, 8, "123456", 0));
    EXPECT_STREQ("abcd123", to);
    check(&g, 8);
    to = setup(&g, "abcd");
    EXPECT_EQ(ERANGE_AND_RESET, strncat_s(to, 8, "123456", 4));
    EXPECT_STREQ("", to);
}

/* print: formats are variables, so that compilers cannot object to what is wrong with them */

static int
call_vsprintf(char *dest, size_t dest_max, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsprintf_s(dest, dest_max, format, args);
    va_end(args);
    return len;
}

static int
call_vsnprintf(char *dest, size_t dest_max, size_t count, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_s(dest, dest_max, count, format, args);
    va_end(args);
    return len;
}

static int
call_vsnprintf_truncated(char *dest, size_t dest_max, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_truncated_s(dest, dest_max, format, args);
    va_end(args);
    return len;
}

/* snprintf_s in the shape of the others, once with each kind of count. */
static int
snprintf_large_count(char *dest, size_t dest_max, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_s(dest, dest_max, LIMIT - 1, format, args);
    va_end(args);
    return len;
}

static int
snprintf_fitting_count(char *dest, size_t dest_max, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_s(dest, dest_max, dest_max - 1, format, args);
    va_end(args);
    return len;
}

static int
snprintf_any_count(char *dest, size_t dest_max, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_s(dest, dest_max, SIZE_MAX, format, args);
    va_end(args);
    return len;
}

typedef int (*print_fn)(char *, size_t, const char *, ...);

static const print_fn prints[] = {
    sprintf_s,
    call_vsprintf,
    snprintf_truncated_s,
    call_vsnprintf_truncated,
    snprintf_large_count,
    snprintf_fitting_count,
    snprintf_any_count,
};

TEST(prints_refuse_bad_arguments_and_reset_a_usable_buffer)
{
    for (size_t i = 0; i < COUNT_OF(prints); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(-1, prints[i](NULL, 8, "%d", 1));
        EXPECT_EQ(-1, prints[i](NULL, 0, NULL, 1));
        EXPECT_EQ(-1, prints[i](to, 0, "%d", 1));
        EXPECT_EQ(-1, prints[i](to, LIMIT + 1, "%d", 1));
        EXPECT_STREQ("old", to);
        EXPECT_EQ(-1, prints[i](to, 8, NULL, 1));
        EXPECT_MEMEQ("\0ld", to, 4);
        check(&g, 4);
    }
}

TEST(prints_refuse_every_spelling_of_percent_n)
{
    static const char *const formats[] = {
        "%n",   "%5n",   "%hhn", "%-n",   "%1$n",      "%hn",     "%ln",   "%lln",
        "%jn",  "%zn",   "%tn",  "%Ln",   "%qn",       "%*n",     "%.3n",  "%.*n",
        "% n",  "%+#0n", "%'n",  "%In",   "%-08.3lln", "%%%n",    "abc%n", "%n%%",
        "%d%n", "%5 %n", "%y%n", "%w32n", "%wf32n",    "%%%%%5n", "%.%n",
    };

    for (size_t i = 0; i < COUNT_OF(prints); i++) {
        for (size_t f = 0; f < COUNT_OF(formats); f++) {
            struct guarded g;
            char *to = setup(&g, "old");
            long long seen[2] = {7, 7};

            EXPECT_EQ(-1, prints[i](to, 32, formats[f], &seen[0], &seen[0], &seen[0]));
            EXPECT_EQ(7, seen[0]);
            EXPECT_MEMEQ("\0ld", to, 4);
            check(&g, 4);
        }
    }
}

TEST(prints_take_a_percent_followed_by_n_that_is_no_conversion)
{
    static const struct {
        const char *format, *text;
    } cases[] = {
        {"%%n", "%n"},      {"%%%%n", "%%n"}, {"n%dn", "n42n"}, {"%d%%n", "42%n"},
        {"%5dn", "   42n"}, {"%lxn", "2an"},  {"%cn", "*n"},
    };

    for (size_t i = 0; i < COUNT_OF(prints); i++) {
        for (size_t c = 0; c < COUNT_OF(cases); c++) {
            struct guarded g;
            char *to = setup(&g, NULL);

            EXPECT_EQ(strlen(cases[c].text), prints[i](to, 32, cases[c].format, 42L));
            EXPECT_STREQ(cases[c].text, to);
            check(&g, strlen(cases[c].text) + 1);
        }
    }
}

TEST(prints_report_an_encoding_error_and_reset)
{
    const wchar_t bad[] = {L'a', (wchar_t)0x110000, 0};

    for (size_t i = 0; i < COUNT_OF(prints); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(-1, prints[i](to, 32, "abc%ls", bad));
        EXPECT_EQ('\0', to[0]);
    }
}

TEST(prints_return_the_length_of_text_that_fits)
{
    for (size_t i = 0; i < COUNT_OF(prints); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(7, prints[i](to, 8, "%s-%d", "abcd", 12));
        EXPECT_STREQ("abcd-12", to);
        check(&g, 8);
        EXPECT_EQ(0, prints[i](to, 8, "%s", ""));
        EXPECT_STREQ("", to);
        EXPECT_EQ(0, prints[i](to, 1, "%s", ""));
        check(&g, 8);
    }
}

TEST(sprintf_drops_text_that_does_not_fit)
{
    static const print_fn droppers[] = {sprintf_s, call_vsprintf};

    for (size_t i = 0; i < COUNT_OF(droppers); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(-1, droppers[i](to, 8, "%s", "12345678"));
        EXPECT_EQ('\0', to[0]);
        check(&g, 8);
        EXPECT_EQ(-1, droppers[i](to, 8, "%s", "a text that is much longer"));
        EXPECT_EQ('\0', to[0]);
        check(&g, 8);
        EXPECT_EQ(-1, droppers[i](to, 1, "%s", "1"));
    }
}

typedef int (*count_print_fn)(char *, size_t, size_t, const char *, ...);

static const count_print_fn count_prints[] = {snprintf_s, call_vsnprintf};

TEST(snprintf_refuses_bad_arguments_and_a_count_beyond_the_limit)
{
    for (size_t i = 0; i < COUNT_OF(count_prints); i++) {
        struct guarded g;
        char *to = setup(&g, "old");

        EXPECT_EQ(-1, count_prints[i](NULL, 8, 7, "%d", 1));
        EXPECT_EQ(-1, count_prints[i](to, 0, 7, "%d", 1));
        EXPECT_EQ(-1, count_prints[i](to, 0, LIMIT, "%d", 1));
        EXPECT_EQ(-1, count_prints[i](to, LIMIT + 1, 7, "%d", 1));
        EXPECT_EQ(-1, count_prints[i](to, LIMIT + 1, LIMIT, "%d", 1));
        EXPECT_STREQ("old", to);
        EXPECT_EQ(-1, count_prints[i](to, 8, LIMIT, "%d", 1));
        EXPECT_MEMEQ("\0ld", to, 4);
        to[0] = 'o';
        EXPECT_EQ(-1, count_prints[i](to, 8, SIZE_MAX - 1, "%d", 1));
        EXPECT_MEMEQ("\0ld", to, 4);
        to[0] = 'o';
        EXPECT_EQ(-1, count_prints[i](to, 8, 7, NULL, 1));
        EXPECT_MEMEQ("\0ld", to, 4);
        check(&g, 4);
    }
}

TEST(snprintf_keeps_count_characters_when_count_is_less_than_the_room)
{
    for (size_t i = 0; i < COUNT_OF(count_prints); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(-1, count_prints[i](to, 8, 3, "%s", "1234"));
        EXPECT_STREQ("123", to);
        check(&g, 4);
        EXPECT_EQ(-1, count_prints[i](to, 8, 7, "%s", "123456789"));
        EXPECT_STREQ("1234567", to);
        check(&g, 8);
        EXPECT_EQ(-1, count_prints[i](to, 8, 0, "%s", "1"));
        EXPECT_STREQ("", to);
    }
}

TEST(snprintf_drops_text_when_count_is_no_less_than_the_room)
{
    for (size_t i = 0; i < COUNT_OF(count_prints); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(-1, count_prints[i](to, 8, 8, "%s", "12345678"));
        EXPECT_EQ('\0', to[0]);
        check(&g, 8);
        EXPECT_EQ(-1, count_prints[i](to, 8, LIMIT - 1, "%s", "123456789"));
        EXPECT_EQ('\0', to[0]);
        check(&g, 8);
    }
}

TEST(snprintf_returns_the_length_of_text_that_fits)
{
    for (size_t i = 0; i < COUNT_OF(count_prints); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(3, count_prints[i](to, 8, 3, "%s", "123"));
        EXPECT_STREQ("123", to);
        check(&g, 4);
        EXPECT_EQ(7, count_prints[i](to, 8, 8, "%s", "1234567"));
        EXPECT_STREQ("1234567", to);
        EXPECT_EQ(0, count_prints[i](to, 8, 0, "%s", ""));
        EXPECT_STREQ("", to);
        check(&g, 8);
    }
}

/* decisions.md: like the maintained open library. */
TEST(snprintf_with_a_count_of_all_ones_truncates_to_fit)
{
    for (size_t i = 0; i < COUNT_OF(count_prints); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(-1, count_prints[i](to, 8, (size_t)-1, "%s", "123456789"));
        EXPECT_STREQ("1234567", to);
        check(&g, 8);
        EXPECT_EQ(7, count_prints[i](to, 8, (size_t)-1, "%s", "abcdefg"));
        EXPECT_STREQ("abcdefg", to);
        check(&g, 8);
    }
}

TEST(truncated_prints_keep_what_fits_and_return_its_length)
{
    static const print_fn cutters[] = {snprintf_truncated_s, call_vsnprintf_truncated};

    for (size_t i = 0; i < COUNT_OF(cutters); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(7, cutters[i](to, 8, "%s", "12345678"));
        EXPECT_STREQ("1234567", to);
        check(&g, 8);
        EXPECT_EQ(7, cutters[i](to, 8, "%s", "abcdefghijkl"));
        EXPECT_STREQ("abcdefg", to);
        check(&g, 8);
        EXPECT_EQ(0, cutters[i](to, 1, "%s", "12"));
        EXPECT_STREQ("", to);
    }
}

/* scan */

static int
call_vsscanf(const char *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vsscanf_s(text, format, args);
    va_end(args);
    return assigned;
}

/* fscanf_s over a stream that holds `text`. */
static int
scan_stream(const char *text, const char *format, ...)
{
    FILE *stream = fmemopen((void *)text, strlen(text), "r");
    va_list args;

    va_start(args, format);
    int assigned = vfscanf_s(stream, format, args);
    va_end(args);
    fclose(stream);
    return assigned;
}

typedef int (*scan_fn)(const char *, const char *, ...);

static const scan_fn scans[] = {sscanf_s, call_vsscanf, scan_stream};

TEST(scans_refuse_null)
{
    int value = 7;

    EXPECT_EQ(-1, sscanf_s(NULL, "%d", &value));
    EXPECT_EQ(-1, sscanf_s("1", NULL, &value));
    EXPECT_EQ(-1, call_vsscanf(NULL, "%d", &value));
    EXPECT_EQ(-1, call_vsscanf("1", NULL, &value));
    EXPECT_EQ(-1, fscanf_s(NULL, "%d", &value));
    EXPECT_EQ(-1, fscanf_s(stdin, NULL, &value));
    EXPECT_EQ(-1, scanf_s(NULL, &value));
    EXPECT_EQ(7, value);
}

TEST(scans_of_empty_input_return_minus_one)
{
    int value = 7;
    FILE *empty = fopen("/dev/null", "r");

    EXPECT_EQ(-1, sscanf_s("", "%d", &value));
    EXPECT_EQ(-1, sscanf_s("", "", &value));
    EXPECT_EQ(-1, sscanf_s("   ", "%d", &value));
    EXPECT_EQ(-1, fscanf_s(empty, "%d", &value));
    EXPECT_EQ(7, value);
    fclose(empty);
}

#define LONG_PIECE ((size_t)1 << 20)
#define LONG_LEN (LIMIT + 1 + LONG_PIECE)

/* 2 GiB of one character, then zeros: a megabyte of it, mapped again and again. */
static char *
map_long_input(const void *piece)
{
    FILE *file = tmpfile();
    int fd = fileno(file);
    char *text = mmap(NULL, LONG_LEN, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    EXPECT_TRUE(text != MAP_FAILED);
    EXPECT_EQ(LONG_PIECE, write(fd, piece, LONG_PIECE));
    for (size_t at = 0; at < LIMIT; at += LONG_PIECE) {
        void *there = mmap(text + at, LONG_PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
        EXPECT_TRUE(there == text + at);
    }
    fclose(file);
    return text;
}

TEST(scans_refuse_input_longer_than_the_limit)
{
    char *piece = malloc(LONG_PIECE);
    char to[4] = "old";

    memset(piece, 'x', LONG_PIECE);
    char *text = map_long_input(piece);
    EXPECT_EQ(-1, sscanf_s(text, "%1s", to, sizeof to));
    EXPECT_STREQ("old", to);
    EXPECT_EQ(1, sscanf_s(text + 1, "%1s", to, sizeof to)); /* the limit itself is fine */
    EXPECT_STREQ("x", to);
    munmap(text, LONG_LEN);
    free(piece);
}

TEST(wide_scans_refuse_input_longer_than_the_limit)
{
    wchar_t *piece = malloc(LONG_PIECE);
    wchar_t to[4] = L"old";

    wmemset(piece, L'x', LONG_PIECE / sizeof *piece);
    wchar_t *text = (wchar_t *)(void *)map_long_input(piece);
    EXPECT_EQ(-1, swscanf_s(text, L"%1ls", to, COUNT_OF(to)));
    EXPECT_EQ(0, wcscmp(L"old", to));
    EXPECT_EQ(1, swscanf_s(text + 1, L"%1ls", to, COUNT_OF(to)));
    EXPECT_EQ(0, wcscmp(L"x", to));
    munmap(text, LONG_LEN);
    free(piece);
}

TEST(scans_read_numbers_of_every_length)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        signed char c = 0;
        short s = 0;
        int d = 0;
        long l = 0;
        long long ll = 0;
        intmax_t j = 0;
        size_t z = 0;
        ptrdiff_t t = 0;

        EXPECT_EQ(8, scans[i]("-1 -2 -3 -4 -5 -6 7 -8", "%hhd%hd%d%ld%lld%jd%zu%td", &c, &s, &d, &l,
                              &ll, &j, &z, &t));
        EXPECT_EQ(-1, c);
        EXPECT_EQ(-2, s);
        EXPECT_EQ(-3, d);
        EXPECT_EQ(-4, l);
        EXPECT_EQ(-5, ll);
        EXPECT_EQ(-6, j);
        EXPECT_EQ(7, z);
        EXPECT_EQ(-8, t);
    }
}

TEST(scans_read_numbers_of_every_base_and_kind)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        int hex = 0, dec = 0;
        unsigned o = 0, u = 0, x = 0;
        void *p = NULL;
        float f = 0;
        double g = 0;
        long double a = 0;

        EXPECT_EQ(9, scans[i]("0x1f 12 17 42 beef 0x10 1.5 -2e3 0x1p4", "%i%i%o%u%X%p%f%lg%La",
                              &hex, &dec, &o, &u, &x, &p, &f, &g, &a));
        EXPECT_EQ(31, hex);
        EXPECT_EQ(12, dec);
        EXPECT_EQ(017, o);
        EXPECT_EQ(42, u);
        EXPECT_EQ(0xbeef, x);
        EXPECT_TRUE(p == (void *)0x10);
        EXPECT_TRUE(f == 1.5f && g == -2000.0 && a == 16.0L);
    }
}

TEST(a_width_larger_than_any_int_is_no_limit)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        char word[8] = "";
        int value = 0;

        EXPECT_EQ(2, scans[i]("12 ab", "%4294967297d%99999999999999999999s", &value, word, 8u));
        EXPECT_EQ(12, value);
        EXPECT_STREQ("ab", word);
    }
}

TEST(scans_stop_at_the_first_mismatch_and_count_what_came_before)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        int a = 0, b = 7;

        EXPECT_EQ(1, scans[i]("12 x", "%d %d", &a, &b));
        EXPECT_EQ(12, a);
        EXPECT_EQ(0, scans[i]("x", "%d", &b));
        EXPECT_EQ(0, scans[i]("12;13", "%*d,%d", &b));
        EXPECT_EQ(1, scans[i]("12", "%d%d", &a, &b));
        EXPECT_EQ(0, scans[i]("x12", "y%d", &b));
        EXPECT_EQ(7, b);
    }
}

TEST(scans_match_literals_percent_signs_and_white_space)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        int a = 0, b = 0, used = -1;
        long long_used = -1;

        EXPECT_EQ(2, scans[i]("at 10 %\t\n: 20.", "at %d%% : %d.%n%ln", &a, &b, &used, &long_used));
        EXPECT_EQ(10, a);
        EXPECT_EQ(20, b);
        EXPECT_EQ(14, used);
        EXPECT_EQ(14, long_used);
    }
}

TEST(scans_store_the_place_in_a_type_of_every_length)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        struct {
            signed char value, guard;
        } c = {7, 7};
        struct {
            short value, guard;
        } s = {7, 7};
        struct {
            int value, guard;
        } d = {7, 7};
        long l = 7;
        long long ll = 7;
        intmax_t j = 7;
        size_t z = 7;
        ptrdiff_t t = 7;

        EXPECT_EQ(0, scans[i]("abcdefgh", "%hhna%hnb%nc%lnd%llne%jnf%zng%tnh%*n", &c.value,
                              &s.value, &d.value, &l, &ll, &j, &z, &t));
        EXPECT_EQ(0, c.value);
        EXPECT_EQ(1, s.value);
        EXPECT_EQ(2, d.value);
        EXPECT_EQ(3, l);
        EXPECT_EQ(4, ll);
        EXPECT_EQ(5, j);
        EXPECT_EQ(6, z);
        EXPECT_EQ(7, t);
        EXPECT_TRUE(c.guard == 7 && s.guard == 7 && d.guard == 7);
    }
}

TEST(suppressed_conversions_take_no_pointer_and_no_size)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        char word[8] = "";
        int value = 0;

        EXPECT_EQ(2, scans[i]("1 skipped xy abc 5 end", "%*d %*s %*2c %*[a-c] %d %s", &value, word,
                              sizeof word));
        EXPECT_EQ(5, value);
        EXPECT_STREQ("end", word);
    }
}

TEST(text_conversions_take_a_size_behind_the_pointer)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        char word[8], set[8], one = 0, three[3];

        EXPECT_EQ(4, scans[i]("  hello abcX  y123", "%s %[a-c]%c y%3c", word, sizeof word, set,
                              (unsigned)sizeof set, &one, 1u, three, sizeof three));
        EXPECT_STREQ("hello", word);
        EXPECT_STREQ("abc", set);
        EXPECT_EQ('X', one);
        EXPECT_MEMEQ("123", three, 3);
    }
}

TEST(only_the_lower_half_of_a_size_counts)
{
    char word[8] = "old";
    size_t size = ((size_t)0xdead << 32) | 4;

    EXPECT_EQ(1, sscanf_s("abc", "%s", word, size));
    EXPECT_STREQ("abc", word);
    EXPECT_EQ(0, sscanf_s("abcd", "%s", word, size));
    EXPECT_STREQ("", word);
}

TEST(text_that_does_not_fit_stops_the_scan_and_is_reset)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        struct guarded g;
        char *to = setup(&g, "old");
        int value = 7;

        EXPECT_EQ(0, scans[i]("abcd 1", "%s %d", to, 4u, &value));
        EXPECT_EQ('\0', to[0]);
        check(&g, 4);
        to = setup(&g, "old");
        EXPECT_EQ(0, scans[i]("abcd 1", "%[a-z] %d", to, 4u, &value));
        EXPECT_EQ('\0', to[0]);
        check(&g, 4);
        to = setup(&g, "old");
        EXPECT_EQ(0, scans[i]("abcd 1", "%4c %d", to, 3u, &value));
        EXPECT_EQ('\0', to[0]);
        check(&g, 4);
        EXPECT_EQ(7, value);
        EXPECT_EQ(1, scans[i]("1 abcd 2", "%d %s %d", &value, to, 4u, &value));
        EXPECT_EQ(1, value);
        EXPECT_EQ('\0', to[0]);
        check(&g, 4);
    }
}

TEST(text_that_just_fits_is_stored)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        struct guarded g;
        char *to = setup(&g, NULL);

        EXPECT_EQ(1, scans[i]("abc d", "%s", to, 4u));
        EXPECT_STREQ("abc", to);
        EXPECT_EQ(1, scans[i]("xyz", "%[x-z]", to, 4u));
        EXPECT_STREQ("xyz", to);
        EXPECT_EQ(1, scans[i]("1234", "%4c", to, 4u)); /* no terminator, none needed */
        EXPECT_MEMEQ("1234", to, 4);
        check(&g, 4);
        EXPECT_EQ(1, scans[i]("abcdef", "%3s", to, 4u)); /* the width cuts it first */
        EXPECT_STREQ("abc", to);
        check(&g, 4);
    }
}

TEST(text_conversions_fail_without_a_usable_buffer)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        char to[4] = "old";

        EXPECT_EQ(0, scans[i]("abc", "%s", to, 0u));
        EXPECT_EQ(0, scans[i]("abc", "%c", to, 0u));
        EXPECT_EQ(0, scans[i]("abc", "%s", to, 0x80000000u));
        EXPECT_EQ(0, scans[i]("abc", "%s", (char *)NULL, 4u));
        EXPECT_EQ(0, scans[i]("1", "%d", (int *)NULL));
        EXPECT_EQ(0, scans[i]("1", "%n", (int *)NULL));
        EXPECT_STREQ("old", to);
    }
}

TEST(sets_know_ranges_inversion_brackets_and_dashes)
{
    static const struct {
        const char *format, *text, *item;
    } cases[] = {
        {"%[]x]", "]x]y", "]x]"},    {"%[^]x]", "ab]", "ab"},      {"%[a-c-]", "a-b-d", "a-b-"},
        {"%[-a]", "-a-b", "-a-"},    {"%[^a-c]", "xyzabc", "xyz"}, {"%[0-9a-f]", "1f2g", "1f2"},
        {"%[^\n]", "a b\nc", "a b"}, {"%[0-]", "0-5", "0-"},       {"%[adz]", "adby", "ad"},
        {"%[ab-]", "a-`", "a-"},     {"%[%d]", "d%de", "d%d"},
    };

    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        for (size_t c = 0; c < COUNT_OF(cases); c++) {
            char item[8] = "";

            EXPECT_EQ(1, scans[i](cases[c].text, cases[c].format, item, sizeof item));
            EXPECT_STREQ(cases[c].item, item);
        }
    }
}

TEST(scans_that_reach_the_end_in_a_literal_before_any_item_return_minus_one)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        int value = 7;

        EXPECT_EQ(-1, scans[i]("  ", " x%d", &value));
        EXPECT_EQ(-1, scans[i]("ab", "abc%d", &value));
        EXPECT_EQ(1, scans[i]("ab5", "ab%dc%d", &value, &value));
        EXPECT_EQ(5, value);
    }
}

/* Bytes that are no ASCII, in the "C" locale. */
TEST(narrow_items_of_narrow_input_are_copied_as_bytes)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        char word[8], set[8], one = 0;

        EXPECT_EQ(
            3, scans[i]("\xc3\xa9 \xff\xfe\x80", "%s %[\xfe-\xff]%c", word, 8u, set, 8u, &one, 1u));
        EXPECT_STREQ("\xc3\xa9", word);
        EXPECT_STREQ("\xff\xfe", set);
        EXPECT_EQ((char)0x80, one);
    }
}

TEST(unknown_and_unfinished_conversions_end_the_scan_untouched)
{
    static const char *const formats[] = {"%",    "%5",  "%l",   "%[abc", "%[]",
                                          "%[^]", "%ms", "%1$d", "%y"};

    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        for (size_t f = 0; f < COUNT_OF(formats); f++) {
            struct guarded g;
            char *to = setup(&g, NULL);

            EXPECT_EQ(0, scans[i]("abc", formats[f], to, 8u, to, 8u));
            check(&g, 0);
        }
    }
}

TEST(wide_items_of_narrow_input_are_stored_as_wchar_t)
{
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        wchar_t word[4], all[8], set[4], one = 0, other = 0;

        EXPECT_EQ(5, scans[i]("abc defg xyX Y", "%ls%S %l[xy]%lc %C", word, 4u, all, 8u, set, 4u,
                              &one, 1u, &other, 1u));
        EXPECT_EQ(0, wcscmp(L"abc", word));
        EXPECT_EQ(0, wcscmp(L"defg", all));
        EXPECT_EQ(0, wcscmp(L"xy", set));
        EXPECT_EQ(L'X', one);
        EXPECT_EQ(L'Y', other);
        EXPECT_EQ(0, scans[i]("abcd", "%ls", word, 4u));
        EXPECT_EQ(0, wcscmp(L"", word));
    }
}

TEST(multibyte_input_counts_characters_not_bytes)
{
    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        wchar_t word[3] = {7, 7, 7};

        EXPECT_EQ(1, scans[i]("\xc3\xa9\xe2\x82\xac", "%ls", word, 3u));
        EXPECT_EQ(0xe9, word[0]);
        EXPECT_EQ(0x20ac, word[1]);
        EXPECT_EQ(0, word[2]);
        EXPECT_EQ(1, scans[i]("\xc3\xa9\xe2\x82\xac", "%lc", word, 3u));
        EXPECT_EQ(0xe9, word[0]);
        EXPECT_EQ(-1, scans[i]("\xc3\xff", "%ls", word, 3u)); /* not a character */
        EXPECT_EQ(0, word[0]);
        EXPECT_EQ(-1, scans[i]("\xc3", "%ls", word, 3u)); /* half a character */
        EXPECT_EQ(0, word[0]);
    }
}

/* stdin becomes a file that holds `text`. */
static void
feed_stdin(const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "%s/stdin", test_tmpdir());
    FILE *file = fopen(path, "w");
    EXPECT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
    EXPECT_NOT_NULL(freopen(path, "r", stdin));
}

TEST(successive_scans_of_a_stream_go_on_where_the_last_one_stopped)
{
    char word[8];
    int value = 0;

    feed_stdin("12 toolongforit 13");
    EXPECT_EQ(1, scanf_s("%d", &value));
    EXPECT_EQ(12, value);
    EXPECT_EQ(0, scanf_s("%s", word, sizeof word)); /* seven taken, the eighth left */
    EXPECT_EQ('f', getchar());
    EXPECT_EQ(1, fscanf_s(stdin, "%s", word, sizeof word));
    EXPECT_STREQ("orit", word);
    EXPECT_EQ(1, scanf_s("%d", &value));
    EXPECT_EQ(13, value);
    EXPECT_EQ(-1, scanf_s("%d", &value));
}

TEST(strtok_splits_and_keeps_its_place_in_the_context)
{
    char text[] = ",,a,bc;;d,";
    char *context = NULL;

    EXPECT_STREQ("a", strtok_s(text, ",;", &context));
    EXPECT_STREQ("bc", strtok_s(NULL, ",;", &context));
    EXPECT_STREQ("d", strtok_s(NULL, ";,", &context));
    EXPECT_NULL(strtok_s(NULL, ",;", &context));
    EXPECT_NULL(strtok_s(NULL, ",;", &context));
}

TEST(strtok_runs_two_strings_at_once_and_may_change_delimiters)
{
    char first[] = "a b", second[] = "c d", only[] = "whole", none[] = ",,,";
    char *one = NULL, *two = NULL;

    EXPECT_STREQ("a", strtok_s(first, " ", &one));
    EXPECT_STREQ("c", strtok_s(second, " ", &two));
    EXPECT_STREQ("b", strtok_s(NULL, " ", &one));
    EXPECT_STREQ("d", strtok_s(NULL, "", &two));
    EXPECT_STREQ("whole", strtok_s(only, ",", &one));
    EXPECT_NULL(strtok_s(NULL, ",", &one));
    EXPECT_NULL(strtok_s(none, ",", &one));
}

TEST(strtok_refuses_null)
{
    char text[] = "a,b";
    char *context = NULL;

    EXPECT_NULL(strtok_s(text, NULL, &context));
    EXPECT_NULL(strtok_s(text, ",", NULL));
    EXPECT_NULL(strtok_s(NULL, ",", &context));
    EXPECT_STREQ("a,b", text);
    EXPECT_NULL(context);
}

TEST(gets_reads_a_line_without_its_end)
{
    struct guarded g;
    char *to = setup(&g, NULL);

    feed_stdin("one\ntwo\r\n\nlonger than that\nlast");
    EXPECT_TRUE(gets_s(to, 8) == to);
    EXPECT_STREQ("one", to);
    EXPECT_STREQ("two", gets_s(to, 8));
    EXPECT_STREQ("", gets_s(to, 8));
    EXPECT_STREQ("longer ", gets_s(to, 8)); /* at most seven; the rest stays */
    EXPECT_STREQ("than th", gets_s(to, 8));
    EXPECT_STREQ("at", gets_s(to, 8));
    EXPECT_STREQ("last", gets_s(to, 8));
    EXPECT_NULL(gets_s(to, 8));
    check(&g, 8);
}

TEST(gets_refuses_bad_arguments_and_takes_nothing)
{
    char to[8] = "old";

    feed_stdin("line\n");
    EXPECT_NULL(gets_s(NULL, 8));
    EXPECT_NULL(gets_s(to, 0));
    EXPECT_NULL(gets_s(to, LIMIT + 1));
    EXPECT_STREQ("old", to);
    EXPECT_STREQ("line", gets_s(to, sizeof to));
}

/* The wide forms: the same tables, counted in wchar_t. */

#define WIDE_OLD                                                                                   \
    {                                                                                              \
        L'o', L'l', L'd', 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7                                    \
    }

static bool
wide_are(const wchar_t *text, wchar_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text[i] != value)
            return false;
    }
    return true;
}

TEST(wide_memory_copies_follow_the_rows_of_the_narrow_ones)
{
    static errno_t (*const copies[])(wchar_t *, size_t, const wchar_t *, size_t) = {wmemcpy_s,
                                                                                    wmemmove_s};
    /* a count whose bytes, modulo 2^64, would be four */
    const size_t wraps = SIZE_MAX / sizeof(wchar_t) + 2;

    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        wchar_t to[16] = WIDE_OLD;

        EXPECT_EQ(ERANGE, copies[i](to, 0, L"ab", 0));
        EXPECT_EQ(ERANGE, copies[i](to, WIDE_LIMIT + 1, L"ab", 1));
        EXPECT_EQ(ERANGE, copies[i](to, wraps, L"ab", 1));
        EXPECT_EQ(EINVAL, copies[i](NULL, 4, L"ab", 1));
        EXPECT_EQ(EOK, copies[i](to, 4, L"ab", 0));
        EXPECT_EQ(EOK, copies[i](to, 4, to, 4));
        EXPECT_EQ(0, wcscmp(L"old", to));
        EXPECT_EQ(EOK, copies[i](to, 4, L"abcd", 4));
        EXPECT_EQ(0, wmemcmp(L"abcd", to, 4));
        EXPECT_EQ(EOK, copies[i](to, WIDE_LIMIT, L"xy", 2));
        EXPECT_EQ(0, wmemcmp(L"xycd", to, 4));
        EXPECT_EQ(EINVAL_AND_RESET, copies[i](to, 4, NULL, 1));
        EXPECT_TRUE(wide_are(to, 0, 4));
        to[0] = to[3] = L'x';
        EXPECT_EQ(ERANGE_AND_RESET, copies[i](to, 4, L"abcde", 5));
        EXPECT_TRUE(wide_are(to, 0, 4));
        to[0] = to[3] = L'x';
        EXPECT_EQ(ERANGE_AND_RESET, copies[i](to, 4, L"abcde", wraps));
        EXPECT_TRUE(wide_are(to, 0, 4));
        EXPECT_TRUE(wide_are(to + 4, 7, 12));
    }
}

TEST(wide_memory_overlap_is_refused_by_copy_and_right_in_move)
{
    wchar_t text[8] = L"abcdefg";

    EXPECT_EQ(EOK, wmemmove_s(text + 1, 7, text, 3));
    EXPECT_EQ(0, wcscmp(L"aabcefg", text));
    EXPECT_EQ(EOK, wmemcpy_s(text, 3, text + 3, 3));
    EXPECT_EQ(0, wcscmp(L"cefcefg", text));
    EXPECT_EQ(EOVERLAP_AND_RESET, wmemcpy_s(text, 4, text + 2, 3));
    EXPECT_TRUE(wide_are(text, 0, 4));
    EXPECT_EQ(L'e', text[4]);
}

static errno_t
wcsncpy_many(wchar_t *dest, size_t dest_max, const wchar_t *src)
{
    return wcsncpy_s(dest, dest_max, src, WIDE_LIMIT);
}

static errno_t
wcsncat_many(wchar_t *dest, size_t dest_max, const wchar_t *src)
{
    return wcsncat_s(dest, dest_max, src, WIDE_LIMIT);
}

TEST(wide_string_calls_refuse_bad_arguments)
{
    static errno_t (*const calls[])(wchar_t *, size_t, const wchar_t *) = {wcscpy_s, wcsncpy_many,
                                                                           wcscat_s, wcsncat_many};

    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        wchar_t to[16] = WIDE_OLD;

        EXPECT_EQ(ERANGE, calls[i](to, 0, L"a"));
        EXPECT_EQ(ERANGE, calls[i](to, WIDE_LIMIT + 1, L"a"));
        EXPECT_EQ(ERANGE, calls[i](NULL, 0, NULL));
        EXPECT_EQ(EINVAL, calls[i](NULL, 4, NULL));
        EXPECT_EQ(0, wcscmp(L"old", to));
        EXPECT_EQ(EINVAL_AND_RESET, calls[i](to, 4, NULL));
        EXPECT_EQ(0, wmemcmp(L"\0ld", to, 4));
        EXPECT_TRUE(wide_are(to + 4, 7, 12));
    }
}

TEST(wide_string_copies_follow_the_rows_of_the_narrow_ones)
{
    static errno_t (*const copies[])(wchar_t *, size_t, const wchar_t *) = {wcscpy_s, wcsncpy_many};

    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        wchar_t to[16] = WIDE_OLD;

        EXPECT_EQ(EOK, copies[i](to, 4, to));
        EXPECT_EQ(EOK, copies[i](to, 4, L"abc"));
        EXPECT_EQ(0, wcscmp(L"abc", to));
        EXPECT_EQ(EOVERLAP_AND_RESET, copies[i](to, 16, to + 1));
        EXPECT_EQ(0, wmemcmp(L"\0bc", to, 4));
        EXPECT_EQ(EOVERLAP_AND_RESET, copies[i](to + 3, 8, to + 1)); /* from in front */
        EXPECT_EQ(ERANGE_AND_RESET, copies[i](to, 4, L"abcd"));
        EXPECT_EQ(0, wmemcmp(L"\0bc", to, 4));
        EXPECT_TRUE(wide_are(to + 4, 7, 12));
    }
}

TEST(wide_strings_that_touch_are_no_overlap_and_terminators_count)
{
    wchar_t to[16] = L"abc";

    EXPECT_EQ(EOK, wcscpy_s(to + 4, 8, to));
    EXPECT_EQ(0, wcscmp(L"abc", to + 4));
    EXPECT_EQ(EOK, wcsncpy_s(to + 3, 8, to, 3)); /* cut short: its terminator is not read */
    EXPECT_EQ(0, wcscmp(L"abcabc", to));
    to[3] = 0;
    EXPECT_EQ(EOVERLAP_AND_RESET, wcscpy_s(to + 3, 8, to));
    wmemcpy(to, L"abcdef", 7);
    EXPECT_EQ(EOVERLAP_AND_RESET, wcscpy_s(to, 16, to + 3)); /* would end at to[3] */
    wmemcpy(to, L"abc", 4);
    EXPECT_EQ(EOVERLAP_AND_RESET, wcscat_s(to, 16, to + 3)); /* an empty source */

    wchar_t pair[16] = L"ab\0\0\0\0xyz";
    EXPECT_EQ(EOK, wcscat_s(pair, 6, pair + 6));
    EXPECT_EQ(0, wcscmp(L"abxyz", pair));
    wmemcpy(pair, L"ab\0\0\0xyz", 9);
    EXPECT_EQ(EOVERLAP_AND_RESET, wcscat_s(pair, 16, pair + 5)); /* its terminator, pair[5] */
    wmemcpy(pair, L"ab\0\0xyz", 8);
    EXPECT_EQ(EOVERLAP_AND_RESET, wcsncat_s(pair, 16, pair + 4, 2)); /* its terminator, pair[4] */
    wmemcpy(pair, L"ab\0yz\0\0", 8);
    EXPECT_EQ(EOVERLAP_AND_RESET, wcscat_s(pair + 5, 8, pair + 3));
}

TEST(wcsncpy_follows_the_rows_of_strncpy)
{
    wchar_t to[16] = WIDE_OLD;

    EXPECT_EQ(ERANGE_AND_RESET, wcsncpy_s(to, 4, L"abc", WIDE_LIMIT + 1));
    EXPECT_EQ(0, wmemcmp(L"\0ld", to, 4));
    to[0] = L'o';
    EXPECT_EQ(EOK, wcsncpy_s(to, 4, L"abc", 0));
    EXPECT_EQ(0, wmemcmp(L"\0ld", to, 4));
    EXPECT_EQ(EOK, wcsncpy_s(to, 4, L"abcdef", 3));
    EXPECT_EQ(0, wcscmp(L"abc", to));
    EXPECT_EQ(ERANGE_AND_RESET, wcsncpy_s(to, 4, L"abcdef", 4));
    EXPECT_EQ(0, wmemcmp(L"\0bc", to, 4));
    EXPECT_TRUE(wide_are(to + 4, 7, 12));
}

TEST(wide_appends_follow_the_rows_of_the_narrow_ones)
{
    static errno_t (*const appends[])(wchar_t *, size_t, const wchar_t *) = {wcscat_s,
                                                                             wcsncat_many};

    for (size_t i = 0; i < COUNT_OF(appends); i++) {
        wchar_t to[16] = WIDE_OLD;

        EXPECT_EQ(EOK, appends[i](to, 8, L"1234"));
        EXPECT_EQ(0, wcscmp(L"old1234", to));
        EXPECT_EQ(EINVAL_AND_RESET, appends[i](to, 7, L"x"));
        EXPECT_EQ(0, wmemcmp(L"\0ld1234", to, 8));
        to[0] = L'o';
        EXPECT_EQ(EOVERLAP_AND_RESET, appends[i](to, 16, to + 4));
        to[0] = L'o';
        EXPECT_EQ(EOVERLAP_AND_RESET, appends[i](to, 8, to + 1)); /* before "does not fit" */
        to[0] = L'o';
        EXPECT_EQ(ERANGE_AND_RESET, appends[i](to, 16, to));
        to[0] = L'o';
        EXPECT_EQ(ERANGE_AND_RESET, appends[i](to, 8, L"x"));
        EXPECT_EQ(0, wmemcmp(L"\0ld1234", to, 8));
        EXPECT_TRUE(wide_are(to + 8, 7, 8));
    }
}

TEST(wcsncat_follows_the_rows_of_strncat)
{
    wchar_t to[16] = WIDE_OLD;

    EXPECT_EQ(EOK, wcsncat_s(to, 8, L"123456", 4));
    EXPECT_EQ(0, wcscmp(L"old1234", to));
    EXPECT_EQ(EOK, wcsncat_s(to, 8, L"123456", 0));
    EXPECT_EQ(ERANGE_AND_RESET, wcsncat_s(to, 8, L"123456", 1));
    EXPECT_EQ(0, wmemcmp(L"\0ld1234", to, 8));
    EXPECT_EQ(ERANGE_AND_RESET, wcsncat_s(to, 8, L"1", WIDE_LIMIT + 1));
    EXPECT_TRUE(wide_are(to + 8, 7, 8));
}

TEST(wcstok_splits_and_keeps_its_place_in_the_context)
{
    wchar_t text[] = L",,a,bc;";
    wchar_t *context = NULL;

    EXPECT_NULL(wcstok_s(text, NULL, &context));
    EXPECT_NULL(wcstok_s(text, L",", NULL));
    EXPECT_NULL(wcstok_s(NULL, L",", &context));
    EXPECT_EQ(0, wcscmp(L"a", wcstok_s(text, L",;", &context)));
    EXPECT_EQ(0, wcscmp(L"bc", wcstok_s(NULL, L",;", &context)));
    EXPECT_NULL(wcstok_s(NULL, L",;", &context));
    EXPECT_NULL(wcstok_s(NULL, L",;", &context));
}

static int
call_vswprintf(wchar_t *dest, size_t dest_max, const wchar_t *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vswprintf_s(dest, dest_max, format, args);
    va_end(args);
    return len;
}

TEST(swprintf_follows_the_rows_of_sprintf)
{
    static int (*const wide_prints[])(wchar_t *, size_t, const wchar_t *, ...) = {swprintf_s,
                                                                                  call_vswprintf};

    for (size_t i = 0; i < COUNT_OF(wide_prints); i++) {
        wchar_t to[16] = WIDE_OLD;

        EXPECT_EQ(-1, wide_prints[i](NULL, 8, L"%d", 1));
        EXPECT_EQ(-1, wide_prints[i](to, 0, L"%d", 1));
        EXPECT_EQ(-1, wide_prints[i](to, WIDE_LIMIT + 1, L"%d", 1));
        EXPECT_EQ(0, wcscmp(L"old", to));
        EXPECT_EQ(-1, wide_prints[i](to, 8, NULL, 1));
        EXPECT_EQ(0, wmemcmp(L"\0ld", to, 4));
        EXPECT_EQ(7, wide_prints[i](to, 8, L"%ls-%d", L"abcd", 12));
        EXPECT_EQ(0, wcscmp(L"abcd-12", to));
        EXPECT_EQ(-1, wide_prints[i](to, 8, L"%ls-%d", L"abcd", 123));
        EXPECT_EQ(0, to[0]);
        EXPECT_EQ(0, wide_prints[i](to, 8, L"%ls", L""));
        EXPECT_EQ(0, wide_prints[i](to, 1, L"%ls", L""));
        EXPECT_EQ(0, to[0]);
        EXPECT_TRUE(wide_are(to + 8, 7, 8));
    }
}

TEST(swprintf_refuses_every_spelling_of_percent_n)
{
    static const wchar_t *const formats[] = {L"%n",  L"%5n",  L"%hhn",  L"%-n",    L"%1$n",
                                             L"%*n", L"%%%n", L"%5 %n", L"%wf32n", L"%lln"};

    for (size_t f = 0; f < COUNT_OF(formats); f++) {
        wchar_t to[16] = WIDE_OLD;
        long long seen = 7;

        EXPECT_EQ(-1, swprintf_s(to, 16, formats[f], &seen, &seen));
        EXPECT_EQ(7, seen);
        EXPECT_EQ(0, to[0]);
    }

    wchar_t to[16];
    EXPECT_EQ(9, swprintf_s(to, 16, L"%fn", 1.0));
    EXPECT_EQ(0, wcscmp(L"1.000000n", to));
    EXPECT_EQ(2, swprintf_s(to, 16, L"%%n", 0));
    EXPECT_EQ(0, wcscmp(L"%n", to));
}

static int
call_vswscanf(const wchar_t *text, const wchar_t *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vswscanf_s(text, format, args);
    va_end(args);
    return assigned;
}

/* A real file: streams over memory know no wide characters. */
static int
scan_wide_stream(const wchar_t *text, const wchar_t *format, ...)
{
    FILE *stream = tmpfile();
    va_list args;

    EXPECT_NOT_NULL(stream);
    fputws(text, stream);
    rewind(stream);
    va_start(args, format);
    int assigned = vfwscanf_s(stream, format, args);
    va_end(args);
    fclose(stream);
    return assigned;
}

typedef int (*wide_scan_fn)(const wchar_t *, const wchar_t *, ...);

static const wide_scan_fn wide_scans[] = {swscanf_s, call_vswscanf, scan_wide_stream};

TEST(wide_scans_refuse_null_and_empty_input)
{
    int value = 7;

    EXPECT_EQ(-1, swscanf_s(NULL, L"%d", &value));
    EXPECT_EQ(-1, swscanf_s(L"1", NULL, &value));
    EXPECT_EQ(-1, swscanf_s(L"", L"%d", &value));
    EXPECT_EQ(-1, fwscanf_s(NULL, L"%d", &value));
    EXPECT_EQ(-1, fwscanf_s(stdin, NULL, &value));
    EXPECT_EQ(-1, wscanf_s(NULL, &value));
    EXPECT_EQ(7, value);
}

TEST(wide_scans_read_numbers_and_text)
{
    for (size_t i = 0; i < COUNT_OF(wide_scans); i++) {
        int value = 0, used = 0;
        double real = 0;
        wchar_t word[8], set[8], one = 0;
        char narrow[8];

        EXPECT_EQ(6, wide_scans[i](L"12 1.5 hello abcX yes!", L"%d %lf %ls %l[a-c]%lc %s%n", &value,
                                   &real, word, 8u, set, 8u, &one, 1u, narrow, 8u, &used));
        EXPECT_EQ(12, value);
        EXPECT_TRUE(real == 1.5);
        EXPECT_EQ(0, wcscmp(L"hello", word));
        EXPECT_EQ(0, wcscmp(L"abc", set));
        EXPECT_EQ(L'X', one);
        EXPECT_STREQ("yes!", narrow);
        EXPECT_EQ(22, used);
        EXPECT_EQ(1, swscanf_s(L"\u20ac\u20ad", L"%ls", word, 8u));
        EXPECT_EQ(0, wcscmp(L"\u20ac\u20ad", word));
        EXPECT_EQ(1, wide_scans[i](L"1 skip 2 x", L"%*d %*s %d %d", &value, &value));
        EXPECT_EQ(2, value);
    }
}

TEST(wide_text_that_does_not_fit_stops_the_scan_and_is_reset)
{
    for (size_t i = 0; i < COUNT_OF(wide_scans); i++) {
        wchar_t to[16] = WIDE_OLD;
        struct guarded g;
        char *narrow = setup(&g, "old");
        int value = 7;

        EXPECT_EQ(1, wide_scans[i](L"abc 1", L"%ls", to, 4u));
        EXPECT_EQ(0, wcscmp(L"abc", to));
        EXPECT_EQ(0, wide_scans[i](L"abcd 1", L"%ls %d", to, 4u, &value));
        EXPECT_EQ(0, to[0]);
        EXPECT_EQ(1, wide_scans[i](L"3 abcd", L"%d %S", &value, to, 4u));
        EXPECT_EQ(3, value);
        EXPECT_EQ(0, wide_scans[i](L"abcd", L"%s", narrow, 4u));
        EXPECT_EQ('\0', narrow[0]);
        check(&g, 4);
        EXPECT_TRUE(wide_are(to + 4, 7, 12));
    }
}

/* A narrow item of wide input may need several bytes for one character. */
TEST(narrow_items_of_wide_input_are_never_cut_inside_a_character)
{
    struct guarded g;
    char *to = setup(&g, "old");

    EXPECT_EQ(-1, swscanf_s(L"\u20ac", L"%s", to, 4u)); /* no character of the "C" locale */
    EXPECT_EQ('\0', to[0]);
    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return;
    EXPECT_EQ(1, swscanf_s(L"\u20ac", L"%s", to, 4u));
    EXPECT_STREQ("\xe2\x82\xac", to);
    EXPECT_EQ(0, swscanf_s(L"a\u20ac", L"%s", to, 4u));
    EXPECT_EQ('\0', to[0]);
    check(&g, 4);
}

TEST(successive_wide_scans_of_stdin_go_on)
{
    wchar_t word[8];
    int value = 0;

    feed_stdin("12 word 13");
    EXPECT_EQ(2, wscanf_s(L"%d %ls", &value, word, 8u));
    EXPECT_EQ(12, value);
    EXPECT_EQ(0, wcscmp(L"word", word));
    EXPECT_EQ(1, fwscanf_s(stdin, L"%d", &value));
    EXPECT_EQ(13, value);
    EXPECT_EQ(-1, wscanf_s(L"%d", &value));
}

/* Random formats against libc */

static uint32_t seed = 12345;

static uint32_t
random_below(uint32_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % limit;
}

static void
append(char *text, size_t room, const char *more)
{
    size_t len = strlen(text);

    snprintf(text + len, room - len, "%s", more);
}

/* Literal text around one int, one string and one double conversion. */
static void
random_print_format(char *format, size_t room)
{
    static const char *const literals[] = {"", "x", " ", "%%", "%%n", "n", "abc ", ".", "\n"};
    static const char *const ints[] = {"%d",  "%5d",  "%-8x", "%o", "%c",
                                       "%+i", "%08d", "%.3d", "%#X"};
    static const char *const strings[] = {"%s", "%.3s", "%10s", "%-6.2s"};
    static const char *const doubles[] = {"%f", "%.2e", "%g", "%a", "%12.1f", "%+.0f"};

    format[0] = '\0';
    append(format, room, literals[random_below(COUNT_OF(literals))]);
    append(format, room, ints[random_below(COUNT_OF(ints))]);
    append(format, room, literals[random_below(COUNT_OF(literals))]);
    append(format, room, strings[random_below(COUNT_OF(strings))]);
    append(format, room, literals[random_below(COUNT_OF(literals))]);
    append(format, room, doubles[random_below(COUNT_OF(doubles))]);
    append(format, room, literals[random_below(COUNT_OF(literals))]);
}

/* `kept`: what must be in the destination. */
static void
expect_print(struct guarded *g, size_t dest_max, int want, int have, const char *text, size_t kept)
{
    EXPECT_EQ(want, have);
    EXPECT_MEMEQ(text, g->at, kept);
    EXPECT_EQ('\0', g->at[kept]);
    check(g, dest_max);
}

TEST(random_prints_agree_with_libc)
{
    static const char *const strings[] = {"", "s", "a string",
                                          "one that is longer than the others"};

    for (int round = 0; round < 10000; round++) {
        char format[64], text[512];
        int number = 32 + (int)random_below(90);
        const char *string = strings[random_below(COUNT_OF(strings))];
        double real = (double)(int)random_below(1u << 20) / (1 + random_below(1000));
        size_t dest_max = 1 + random_below(ROOM);
        size_t count = random_below(ROOM + 20);
        struct guarded g;

        random_print_format(format, sizeof format);
        int len = snprintf(text, sizeof text, format, number, string, real);
        size_t full = (size_t)len;
        EXPECT_TRUE(full < sizeof text && strlen(text) == full);

        bool fits = full < dest_max;
        int have = sprintf_s(setup(&g, NULL), dest_max, format, number, string, real);
        expect_print(&g, dest_max, fits ? len : -1, have, text, fits ? full : 0);

        have = snprintf_truncated_s(setup(&g, NULL), dest_max, format, number, string, real);
        expect_print(&g, dest_max, fits ? len : (int)dest_max - 1, have, text,
                     fits ? full : dest_max - 1);

        size_t most = count < dest_max ? count : dest_max - 1;
        size_t kept = full <= most ? full : count < dest_max ? count : 0;
        have = snprintf_s(setup(&g, NULL), dest_max, count, format, number, string, real);
        expect_print(&g, dest_max, full <= most ? len : -1, have, text, kept);

        have = snprintf_s(setup(&g, NULL), dest_max, SIZE_MAX, format, number, string, real);
        expect_print(&g, dest_max, fits ? len : -1, have, text, fits ? full : dest_max - 1);
    }
}

static void
random_input(char *text, size_t room, const char *alphabet)
{
    size_t len = 1 + random_below((uint32_t)room - 1);

    for (size_t i = 0; i < len; i++)
        text[i] = alphabet[random_below((uint32_t)strlen(alphabet))];
    text[len] = '\0';
}

/* What a scan leaves: its items, and for a stream the next character. */
struct scanned {
    int assigned;
    int next;
    int ints[4];
    double doubles[2];
    char texts[3][32];
};

enum scan_args_kind { INTS, DOUBLES, TEXTS };

static const struct {
    enum scan_args_kind kind;
    const char *format, *alphabet;
} random_scans[] = {
    {INTS, "%d %d %d %n", "0123456789-+ \n,"},
    {INTS, "%i,%i%n,%i", "00178x-+ ,"},
    {INTS, "%2d%3d%n%4d", "0123456789 -"},
    {INTS, "%x %o %u %n", "0012xabcf -"},
    {INTS, "%*d %d %n%d", "0123456789 -x"},
    {INTS, "%d%%%d %n%d", "012 %%"},
    {INTS, "%1d%*1d%1d%n%1d", "0123456789 -"},
    {INTS, "a%d b%d%nc%d", "ab1 2c"},
    {DOUBLES, "%lf %lf", "0129.exp-+ "},
    {DOUBLES, "%4lf,%lg", "0123456789., -"},
    {DOUBLES, "%*f%lf%le", "0129.einf -+"},
    {TEXTS, "%s %s %s", "ab \n\tcd"},
    {TEXTS, "%3s%2s%9s", "abcd \n"},
    {TEXTS, "%[a-c]%c%[^d]", "abcd -"},
    {TEXTS, "%c%3c%2c", "ab \n"},
    {TEXTS, "%*s %[^\n] %s%c", "ab \n"},
    {TEXTS, "%2[ab] %*[^ab]%s%[]^-]", "ab ]-^"},
    {TEXTS, " %c %c %s", "ab\t "},
};

/* One scan by ours (`text` or `stream`) or by libc, into `out`. */
static void
run_scan(size_t which, bool ours, const char *text, FILE *stream, struct scanned *out)
{
    const char *format = random_scans[which].format;
    int *i = out->ints;
    double *d = out->doubles;
    char(*t)[32] = out->texts;
    const size_t size = sizeof t[0];

    memset(out, 0x11, sizeof *out);
    switch (random_scans[which].kind) {
    case INTS: /* the %n is somewhere among them, so all are int * */
        if (ours)
            out->assigned = stream != NULL ? fscanf_s(stream, format, &i[0], &i[1], &i[2], &i[3])
                                           : sscanf_s(text, format, &i[0], &i[1], &i[2], &i[3]);
        else
            out->assigned = stream != NULL ? fscanf(stream, format, &i[0], &i[1], &i[2], &i[3])
                                           : sscanf(text, format, &i[0], &i[1], &i[2], &i[3]);
        break;
    case DOUBLES:
        if (ours)
            out->assigned = stream != NULL ? fscanf_s(stream, format, &d[0], &d[1])
                                           : sscanf_s(text, format, &d[0], &d[1]);
        else
            out->assigned = stream != NULL ? fscanf(stream, format, &d[0], &d[1])
                                           : sscanf(text, format, &d[0], &d[1]);
        break;
    case TEXTS:
        if (ours)
            out->assigned = stream != NULL
                                ? fscanf_s(stream, format, t[0], size, t[1], size, t[2], size)
                                : sscanf_s(text, format, t[0], size, t[1], size, t[2], size);
        else
            out->assigned = stream != NULL ? fscanf(stream, format, t[0], t[1], t[2])
                                           : sscanf(text, format, t[0], t[1], t[2]);
        break;
    }
    out->next = stream != NULL ? getc(stream) : 0;
}

static void
expect_same_scan(const char *text, size_t which, const struct scanned *libc,
                 const struct scanned *ours)
{
    if (memcmp(libc, ours, sizeof *libc) != 0)
        print_error("\"%s\" scanned by \"%s\"\n", text, random_scans[which].format);
    EXPECT_EQ(libc->assigned, ours->assigned);
    EXPECT_EQ(libc->next, ours->next);
    EXPECT_MEMEQ(libc, ours, sizeof *libc);
}

TEST(random_scans_agree_with_libc)
{
    for (int round = 0; round < 10000; round++) {
        size_t which = random_below(COUNT_OF(random_scans));
        struct scanned libc, ours;
        char text[24];

        random_input(text, sizeof text, random_scans[which].alphabet);
        run_scan(which, false, text, NULL, &libc);
        run_scan(which, true, text, NULL, &ours);
        expect_same_scan(text, which, &libc, &ours);

        FILE *stream = fmemopen(text, strlen(text), "r");
        run_scan(which, false, NULL, stream, &libc);
        fclose(stream);
        stream = fmemopen(text, strlen(text), "r");
        run_scan(which, true, NULL, stream, &ours);
        fclose(stream);
        expect_same_scan(text, which, &libc, &ours);
    }
}

/* Wide input and format of the same random characters. Texts are compared as strings: after a
 * narrow %s of wide input glibc writes a second terminator. */
TEST(random_wide_scans_agree_with_libc)
{
    for (int round = 0; round < 10000; round++) {
        size_t which = random_below(COUNT_OF(random_scans));
        struct scanned libc, ours;
        wchar_t input[24], format[32];
        char text[24];

        random_input(text, sizeof text, random_scans[which].alphabet);
        mbstowcs(input, text, COUNT_OF(input));
        mbstowcs(format, random_scans[which].format, COUNT_OF(format));
        memset(&libc, 0x11, sizeof libc);
        memset(&ours, 0x11, sizeof ours);
        switch (random_scans[which].kind) {
        case INTS:
            libc.assigned =
                swscanf(input, format, &libc.ints[0], &libc.ints[1], &libc.ints[2], &libc.ints[3]);
            ours.assigned = swscanf_s(input, format, &ours.ints[0], &ours.ints[1], &ours.ints[2],
                                      &ours.ints[3]);
            break;
        case DOUBLES:
            libc.assigned = swscanf(input, format, &libc.doubles[0], &libc.doubles[1]);
            ours.assigned = swscanf_s(input, format, &ours.doubles[0], &ours.doubles[1]);
            break;
        case TEXTS:
            libc.assigned = swscanf(input, format, libc.texts[0], libc.texts[1], libc.texts[2]);
            ours.assigned = swscanf_s(input, format, ours.texts[0], 32u, ours.texts[1], 32u,
                                      ours.texts[2], 32u);
            break;
        }
        for (size_t i = 0; i < COUNT_OF(ours.texts); i++) {
            EXPECT_EQ(0, strncmp(libc.texts[i], ours.texts[i], sizeof ours.texts[i]));
            memcpy(libc.texts[i], ours.texts[i], sizeof ours.texts[i]);
        }
        expect_same_scan(text, which, &libc, &ours);
    }
}
