/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the C++ functions by the names that C++ programs are linked with. */
#include "acl/acl_rt.h"
#include "tests/support/test.h"

struct text_vector {
    const char *const *begin, *const *end, *const *capacity;
};

int32_t inner(const char *file, const char *func, uint32_t line, const char *code,
              const char *format,
              ...) __asm__("_ZN13error_message17ReportInnerErrMsgEPKcS1_jS1_S1_z");
int32_t predefined(
    const char *code, const struct text_vector *key,
    const struct text_vector
        *value) __asm__("_ZN13error_message22ReportPredefinedErrMsgEPKcRKSt6vectorIS1_SaIS1_EES6_");
int32_t predefined_bare(const char *code) __asm__("_ZN13error_message22ReportPredefinedErrMsgEPKc");
int32_t user(const char *code, const char *format,
             ...) __asm__("_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z");
int32_t register_format(const char *json,
                        size_t len) __asm__("_ZN13error_message26RegisterFormatErrorMessageEPKcm");

static struct text_vector
vector(const char *const *texts, size_t count)
{
    return (struct text_vector){texts, texts + count, texts + count};
}

TEST(reported_messages_are_the_recent_error_message_newest_first)
{
    const char *const keys[] = {"value", "variable"};
    const char *const values[] = {"abc", "COUNT"};
    struct text_vector key = vector(keys, 2), value = vector(values, 2);
    const char *text;

    EXPECT_EQ(0, inner("dir/file.cc", "Connect", 12, "E19999", "peer %d is %s", 3, "gone"));
    EXPECT_EQ(0, predefined("EI0001", &key, &value));
    EXPECT_EQ(0, predefined_bare("EI0006"));
    EXPECT_EQ(0, user("EU0042", "mine: %d", 7));
    text = aclGetRecentErrMsg();
    EXPECT_STREQ("EU0042: mine: 7\n"
                 "EI0006\n"
                 "EI0001: value abc, variable COUNT\n"
                 "E19999: peer 3 is gone [dir/file.cc:12 Connect]\n",
                 text);
    EXPECT_NULL(aclGetRecentErrMsg());
}

TEST(a_report_that_is_too_long_is_cut)
{
    char big[4096];

    memset(big, 'y', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    EXPECT_EQ(0, inner("file.cc", "f", 1, "E19999", "%s", big));
    EXPECT_EQ(1024, strlen(aclGetRecentErrMsg())); /* 1023 and the newline */
}

TEST(reports_that_make_no_sense_are_refused)
{
    const char *const keys[] = {"value", "variable"};
    struct text_vector two = vector(keys, 2), one = vector(keys, 1);

    EXPECT_EQ(-1, inner("f", "f", 1, NULL, "x"));
    EXPECT_EQ(-1, inner("f", "f", 1, "E19999", NULL));
    EXPECT_EQ(-1, predefined(NULL, &two, &two));
    EXPECT_EQ(-1, predefined("EI0001", &two, &one));
    EXPECT_EQ(-1, predefined_bare(NULL));
    EXPECT_EQ(-1, user("EI0001", "not a user code"));
    EXPECT_EQ(-1, user("EU00", "too short"));
    EXPECT_EQ(-1, user("EU00x1", "no digit"));
    EXPECT_EQ(-1, register_format(NULL, 3));
    EXPECT_EQ(0, register_format("[]", 2));
    EXPECT_NULL(aclGetRecentErrMsg());
}
