/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/allow_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "runtime/install.h"
#include "tests/support/test.h"

#define RECORD(name)                                                                               \
    "name:" name "\ninstall_path:2\noptional:true\npackage_path:opp/vendors/v/aicpu/kernel\n"      \
    "load_as_per_soc:false\n"

static void
use_tmpdir(void)
{
    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
}

/* Parses `text`, which must be malformed at `where`. */
static void
expect_malformed(const char *text, const char *where)
{
    struct rt_allow_list list = {NULL, 0};

    test_expect_error(where);
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_allow_list_parse(&list, text, "f.ini"));
    EXPECT_NULL(list.records);
}

TEST(a_record_is_read)
{
    struct rt_allow_list list = {NULL, 0};

    EXPECT_EQ(0, rt_allow_list_parse(&list, "# a comment\n\n" RECORD("a.tar.gz"), "f.ini"));
    EXPECT_EQ(1, list.count);
    EXPECT_STREQ("a.tar.gz", list.records[0].name);
    EXPECT_STREQ("opp/vendors/v/aicpu/kernel", list.records[0].package_path);
    EXPECT_EQ(2, list.records[0].install_path);
    EXPECT_TRUE(list.records[0].optional);
    EXPECT_FALSE(list.records[0].per_soc);
    EXPECT_EQ(3, list.records[0].line);
    rt_allow_list_fini(&list);
}

TEST(keys_come_in_any_order_with_any_line_end)
{
    struct rt_allow_list list = {NULL, 0};

    EXPECT_EQ(0,
              rt_allow_list_parse(&list,
                                  "name:b.tar.gz\r\nload_as_per_soc:true\r\npackage_path:compat\r\n"
                                  "optional:false\r\ninstall_path:3",
                                  "f.ini"));
    EXPECT_EQ(1, list.count);
    EXPECT_EQ(3, list.records[0].install_path);
    EXPECT_TRUE(list.records[0].per_soc);
    rt_allow_list_fini(&list);
}

TEST(a_repeated_name_keeps_the_first_record)
{
    struct rt_allow_list list = {NULL, 0};

    EXPECT_EQ(
        0, rt_allow_list_parse(&list,
                               RECORD("a.tar.gz") "name:a.tar.gz\ninstall_path:1\noptional:false\n"
                                                  "package_path:other\nload_as_per_soc:true\n",
                               "f.ini"));
    EXPECT_EQ(1, list.count);
    EXPECT_EQ(2, list.records[0].install_path);
    rt_allow_list_fini(&list);
}

TEST(one_bad_record_fails_the_file)
{
    expect_malformed(RECORD("a.tar.gz") "name:b.tar.gz\ninstall_path:4\n", "f.ini:7: install_path");
    expect_malformed("name:b\ninstall_path:2\noptional:yes\n", "f.ini:3: optional");
    expect_malformed("name:b\ninstall_path:2\ninstall_path:2\n",
                     "f.ini:3: this key is there twice");
    expect_malformed("name:b\ninstall_path:2\n\noptional:true\n", "f.ini:3: after a name");
    expect_malformed("name:b\ninstall_path:2\noptional:true\n", "f.ini:3: the file ends");
    expect_malformed("name:b\npackage_path:\n", "f.ini:2: package_path");
    expect_malformed("name:b\npackage_path:/abs\n", "f.ini:2: package_path");
    expect_malformed("name:b\npackage_path:a/../b\n", "f.ini:2: package_path");
    expect_malformed("name:b\nload_as_per_soc:1\n", "f.ini:2: load_as_per_soc");
    expect_malformed("name:\n", "f.ini:1: name");
    expect_malformed("name:a/b\n", "f.ini:1: name");
}

TEST(a_hundred_records_are_the_most)
{
    struct rt_allow_list list = {NULL, 0};
    char *text = calloc(102, 200);

    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text),
                "name:%d\ninstall_path:2\noptional:true\npackage_path:p\nload_as_per_soc:false\n",
                i);
    EXPECT_EQ(0, rt_allow_list_parse(&list, text, "f.ini"));
    EXPECT_EQ(100, list.count);
    rt_allow_list_fini(&list);
    strcat(text, RECORD("more"));
    expect_malformed(text, "more than 100");
    free(text);
}

TEST(no_file_is_an_empty_list)
{
    struct rt_allow_list list = {NULL, 0};

    use_tmpdir();
    EXPECT_EQ(0, rt_allow_list_load(&list));
    EXPECT_EQ(0, list.count);
    rt_allow_list_fini(&list);
}

TEST(add_and_remove_leave_the_other_lines_alone)
{
    const char *before = "# mine\n" RECORD("a.tar.gz") "# end";
    struct rt_allow_list list = {NULL, 0};
    char path[RT_PATH_LEN], text[1024];

    use_tmpdir();
    rt_install_path(path, "conf");
    EXPECT_EQ(0, rt_dir_make(path, 0755));
    rt_install_path(path, "conf/ascend_package_load.ini");
    EXPECT_EQ(0, rt_file_replace(path, before, strlen(before), 0644));
    EXPECT_EQ(0, rt_allow_list_add("b.tar.gz", "opp/vendors/v/aicpu/kernel"));
    EXPECT_EQ(0,
              rt_allow_list_add("b.tar.gz", "opp/vendors/v/aicpu/kernel")); /* is there already */
    EXPECT_EQ(0, rt_file_read_text(path, text, sizeof text));
    EXPECT_STREQ("# mine\n" RECORD("a.tar.gz") "# end\n" RECORD("b.tar.gz"), text);
    EXPECT_EQ(0, rt_allow_list_load(&list));
    EXPECT_EQ(2, list.count);
    rt_allow_list_fini(&list);
    EXPECT_EQ(0, rt_allow_list_remove("a.tar.gz"));
    EXPECT_EQ(0, rt_file_read_text(path, text, sizeof text));
    EXPECT_STREQ("# mine\n# end\n" RECORD("b.tar.gz"), text);
}

TEST(edits_that_make_no_sense_are_refused)
{
    use_tmpdir();
    EXPECT_EQ(0, rt_allow_list_add("a.tar.gz", "opp"));
    test_expect_error("is listed already, in opp");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_allow_list_add("a.tar.gz", "other"));
    test_expect_error("b.tar.gz is not listed");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_allow_list_remove("b.tar.gz"));
    test_expect_error("cannot allow");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_allow_list_add("x/b.tar.gz", "opp"));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_allow_list_add("b.tar.gz", "../opp"));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_allow_list_add("b\nname:c", "opp"));
}

TEST(every_failed_allocation_is_survived)
{
    aclError rc;
    long nth = 0;

    use_tmpdir();
    EXPECT_EQ(0, rt_allow_list_add("a.tar.gz", "opp"));
    test_expect_error("out of host memory");
    do {
        hc_alloc_fail_nth(nth++);
        rc = rt_allow_list_add("b.tar.gz", "opp");
        hc_alloc_fail_nth(-1);
        if (rc != 0)
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
        EXPECT_EQ(0, hc_alloc_live());
    } while (rc != 0);
    EXPECT_TRUE(nth > 2);
}
