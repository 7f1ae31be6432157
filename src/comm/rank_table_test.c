/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank tables and the files they are in: what is taken, and what cannot be read. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "comm/json_line.h"
#include "comm/rank_table_test.h"

/* ---- Where a value stands ---- */

TEST(a_value_is_found_with_its_line_and_its_path_is_written_out)
{
    const char text[] = "{ \"x\\\"}\": [1,\n {\"a\": \"]\\\\\"}],\n\n"
                        "  \"l\\u0069st\": [ {},\n [ ], {\"key\":\n \"v\"} ] }";
    const struct json_path list = {.key = "list"}, item = {.up = &list, .index = 2};
    const struct json_path key = {.up = &item, .key = "key"};
    const struct json_path first = {.up = &list, .index = 0}, none = {.up = &list, .index = 3};
    const struct json_path missing = {.up = &item, .key = "nosuch"};
    char path[64];

    EXPECT_EQ(1, json_line(text, strlen(text), NULL));
    EXPECT_EQ(4, json_line(text, strlen(text), &list));
    EXPECT_EQ(4, json_line(text, strlen(text), &first));
    EXPECT_EQ(5, json_line(text, strlen(text), &item));
    EXPECT_EQ(6, json_line(text, strlen(text), &key));
    EXPECT_EQ(5, json_line(text, strlen(text), &missing)); /* of what lacks it */
    EXPECT_EQ(4, json_line(text, strlen(text), &none));
    json_path_text(path, sizeof path, &key);
    EXPECT_STREQ("list[2].key", path);
    json_path_text(path, 8, &key);
    EXPECT_STREQ("list[2]", path);
}

/* ---- Good ones ---- */

TEST(version_1_0_tells_servers_and_devices)
{
    struct rank_table *table = NULL;

    EXPECT_EQ(HCCL_SUCCESS, parse(version_1_0, &table));
    EXPECT_EQ(4, table->n_ranks);
    EXPECT_EQ(0, table->ranks[1].server);
    EXPECT_EQ(1, table->ranks[1].device);
    EXPECT_STREQ("s0", table->ranks[1].server_name);
    EXPECT_EQ(1, table->ranks[2].server);
    EXPECT_EQ(0, table->ranks[2].device);
    EXPECT_STREQ("s1", table->ranks[3].server_name);
    rank_table_destroy(table);
}

TEST(one_server_needs_no_addresses_and_ranks_may_stand_in_any_order)
{
    expect_good("{\"version\":\"1.0\",\"status\":\"completed\",\"server_count\":\"1\","
                "\"server_list\":[{\"server_id\":\"s0\",\"device\":["
                "{\"device_id\":\"7\",\"rank_id\":\"1\",\"device_ip\":\"\"},"
                "{\"device_id\":\"3\",\"rank_id\":\"0\",\"more\":[{}]}]}]}",
                2);
}

TEST(ranks_that_share_a_device_have_a_port_each)
{
    expect_good("{\"version\":\"1.0\",\"status\":\"completed\",\"server_count\":\"1\","
                "\"server_list\":[{\"server_id\":\"s0\",\"device\":["
                "{\"device_id\":\"0\",\"device_ip\":\"192.0.2.1\",\"device_port\":\"1\","
                "\"rank_id\":\"0\"},"
                "{\"device_id\":\"0\",\"device_ip\":\"192.0.2.1\",\"device_port\":\"2\","
                "\"rank_id\":\"1\"}]}]}",
                2);
}

TEST(version_1_2_tells_super_pods_or_is_as_1_0)
{
    expect_good(version_1_2, 3);
    expect_good("{\"version\":\"1.2\",\"status\":\"completed\",\"server_list\":["
                "{\"server_id\":\"s0\",\"device\":[{\"device_id\":\"0\",\"rank_id\":\"0\"}]}]}",
                1);
}

TEST(version_2_0_tells_ranks_and_their_layers)
{
    struct rank_table *table = NULL;

    EXPECT_EQ(HCCL_SUCCESS, parse(version_2_0, &table));
    EXPECT_EQ(2, table->n_ranks);
    EXPECT_EQ(1, table->ranks[1].device);
    EXPECT_EQ(table->ranks[0].server, table->ranks[1].server);
    EXPECT_STREQ("pod0", table->ranks[1].server_name);
    rank_table_destroy(table);
    expect_good(changed(version_2_0, "\"rank_count\"", "\"status\": \"completed\", \"rank_count\""),
                2);
    EXPECT_EQ(HCCL_SUCCESS, parse(changed(version_2_0, "0, \"net_instance_id\": \"pod0\"",
                                          "0, \"net_instance_id\": \"pod1\""),
                                  &table));
    EXPECT_NE(table->ranks[0].server, table->ranks[1].server);
    rank_table_destroy(table);
}

TEST(the_digest_is_of_the_content_and_not_of_its_spaces)
{
    const char *const salts[] = {"group", "job", NULL}, *const others[] = {"group", "", NULL};
    const char *const swapped[] = {"groupjob", "", NULL};
    char digests[6][RANK_TABLE_DIGEST_LEN];
    struct rank_table *table = NULL, *again = NULL, *other = NULL;
    char *dense;

    EXPECT_EQ(HCCL_SUCCESS, parse(version_1_0, &table));
    dense = json_dumps(table->root, JSON_COMPACT | JSON_SORT_KEYS);
    EXPECT_EQ(HCCL_SUCCESS, parse(dense, &again));
    free(dense);
    EXPECT_EQ(HCCL_SUCCESS, parse(changed(version_1_0, "192.0.2.20", "192.0.2.29"), &other));
    EXPECT_EQ(HCCL_SUCCESS, rank_table_digest(table, salts, digests[0]));
    EXPECT_EQ(HCCL_SUCCESS, rank_table_digest(again, salts, digests[1]));
    EXPECT_EQ(HCCL_SUCCESS, rank_table_digest(other, salts, digests[2]));
    EXPECT_EQ(HCCL_SUCCESS, rank_table_digest(table, others, digests[3]));
    EXPECT_EQ(HCCL_SUCCESS, rank_table_digest(table, swapped, digests[4]));
    EXPECT_STREQ(digests[0], digests[1]);
    EXPECT_EQ(RANK_TABLE_DIGEST_LEN - 1, strlen(digests[0]));
    for (int i = 2; i < 5; i++)
        assert_string_not_equal(digests[0], digests[i]);
    rank_table_destroy(table);
    rank_table_destroy(again);
    rank_table_destroy(other);
}

/* ---- Files ---- */

static const char *
in_tmpdir(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", test_tmpdir(), name);
    return path;
}

static void
expect_no_file(const char *path, HcclResult rc, const char *message)
{
    struct rank_table *table = NULL;

    EXPECT_EQ(rc, rank_table_read(path, &table));
    EXPECT_NULL(table);
    EXPECT_CONTAINS(message, hc_errmsg_take());
}

TEST(a_file_is_read_and_named_in_messages)
{
    const char *path = in_tmpdir("table.json");
    struct rank_table *table = NULL;
    FILE *file = fopen(path, "w");

    EXPECT_NOT_NULL(file);
    fputs(changed(version_1_0, "\"rank_id\": \"3\"", "\"rank_id\": \"7\""), file);
    fclose(file);
    test_expect_error("EI0014: /");
    EXPECT_EQ(HCCL_E_INTERNAL, rank_table_read(path, &table));
    EXPECT_CONTAINS("/table.json:23: server_list[1].device[1].rank_id: \"7\" is out of range",
                    hc_errmsg_take());
    file = fopen(path, "w");
    EXPECT_NOT_NULL(file);
    fputs(version_1_0, file);
    fclose(file);
    EXPECT_EQ(HCCL_SUCCESS, rank_table_read(path, &table));
    EXPECT_EQ(4, table->n_ranks);
    rank_table_destroy(table);
}

TEST(what_is_no_readable_file_is_refused_at_once)
{
    char path[RANK_TABLE_PATH_MOST + 2];
    int fd;

    test_expect_error("EI0004: cannot read the rank table ");
    test_expect_error("the path of the rank table");
    expect_no_file(in_tmpdir("nosuch"), HCCL_E_INTERNAL, "/nosuch: No such file or directory");
    expect_no_file(test_tmpdir(), HCCL_E_INTERNAL, "it is a directory: name a file");
    EXPECT_EQ(0, mkfifo(in_tmpdir("fifo"), 0600));
    expect_no_file(in_tmpdir("fifo"), HCCL_E_INTERNAL, "it is no regular file");
    expect_no_file("/dev/zero", HCCL_E_INTERNAL, "it is no regular file");
    fd = open(in_tmpdir("huge"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(0, ftruncate(fd, (off_t)RANK_TABLE_LEN_MOST + 1)); /* a hole: no room is taken */
    close(fd);
    expect_no_file(in_tmpdir("huge"), HCCL_E_INTERNAL,
                   "it has 1073741825 bytes, at most 1073741824 are taken");
    expect_no_file("", HCCL_E_PARA, "is empty");
    memset(path, '/', sizeof path);
    path[RANK_TABLE_PATH_MOST] = '\0';
    expect_no_file(path, HCCL_E_PARA, "is too long: at most 4095 bytes go");
    path[RANK_TABLE_PATH_MOST - 1] = '\0';
    expect_no_file(path, HCCL_E_INTERNAL, "//: it is a directory");
}

TEST(an_empty_file_is_no_table)
{
    int fd = open(in_tmpdir("empty"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    close(fd);
    test_expect_error("EI0004: /");
    expect_no_file(in_tmpdir("empty"), HCCL_E_INTERNAL, "/empty:1: the rank table is no JSON");
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    const char *const texts[] = {version_1_0, version_1_2, version_2_0};

    test_expect_error("out of host memory");
    for (int i = 0; i < 3; i++) {
        bool failed = true;

        for (long nth = 0; failed; nth++) {
            struct rank_table *table = NULL;
            HcclResult rc;

            hc_alloc_fail_nth(nth);
            rc = parse(texts[i], &table);
            failed = hc_alloc_failed() != 0;
            hc_alloc_fail_nth(-1);
            EXPECT_EQ(failed ? HCCL_E_MEMORY : HCCL_SUCCESS, rc);
            EXPECT_TRUE((table == NULL) == failed);
            rank_table_destroy(table);
            EXPECT_EQ(0, hc_alloc_live());
        }
    }
}

TEST(a_table_of_the_most_ranks_is_taken_and_one_more_is_not)
{
    const uint32_t most = RANK_TABLE_RANKS_MOST;
    struct rank_table *table = NULL;
    size_t room = 64u * (most + 1) + 512, used;
    char *text = malloc(room);

    used = (size_t)snprintf(text, room,
                            "{\"version\":\"1.0\",\"status\":\"completed\",\"server_count\":\"16\","
                            "\"server_list\":[");
    for (uint32_t server = 0; server < 16; server++) {
        used += (size_t)snprintf(text + used, room - used, "%s{\"server_id\":\"%u\",\"device\":[",
                                 server == 0 ? "" : ",", server);
        for (uint32_t i = 0; i < 4096; i++)
            used +=
                (size_t)snprintf(text + used, room - used,
                                 "%s{\"device_id\":\"%u\",\"rank_id\":\"%u\",\"device_ip\":\"10."
                                 "%u.%u.%u\"}",
                                 i == 0 ? "" : ",", i, server * 4096 + i, server, i >> 8, i & 255);
        used += (size_t)snprintf(text + used, room - used, "]}");
    }
    snprintf(text + used, room - used, "]}");
    EXPECT_EQ(HCCL_SUCCESS, parse(text, &table));
    EXPECT_EQ(most, table->n_ranks);
    EXPECT_EQ(4095, table->ranks[most - 1].device);
    rank_table_destroy(table);
    used = strlen(text) - 4; /* before "}]}]}" of the last device */
    snprintf(text + used, room - used, ",{\"device_id\":\"0\",\"rank_id\":\"0\"}]}]}");
    test_expect_error("lists 65537 devices, at most 65536 go");
    EXPECT_EQ(HCCL_E_INTERNAL, parse(text, &table));
    free(text);
}
