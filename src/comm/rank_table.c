/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "comm/rank_table.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/rank_table_value.h"

#define NAME_LEN 256u /* of a file, in messages */

void
rank_table_destroy(struct rank_table *table)
{
    if (table == NULL)
        return;
    json_decref(table->root);
    hc_free(table->ranks);
    hc_free(table->text);
    hc_free(table->name);
    hc_free(table);
}

/* Of a long path the end, which tells more. */
static void
short_name(char into[NAME_LEN], const char *path)
{
    size_t len = strlen(path);

    if (len < NAME_LEN)
        snprintf(into, NAME_LEN, "%s", path);
    else
        snprintf(into, NAME_LEN, "...%s", path + len - (NAME_LEN - 4));
}

static HcclResult
table_new(const char *path, size_t len, struct rank_table **out)
{
    struct rank_table *table = hc_zalloc(sizeof *table);
    char name[NAME_LEN];

    if (table == NULL)
        return HCCL_E_MEMORY;
    short_name(name, path);
    table->name = hc_strdup(name);
    table->text = table->name == NULL ? NULL : hc_zalloc(len + 1);
    if (table->text == NULL) {
        rank_table_destroy(table);
        return HCCL_E_MEMORY;
    }
    table->len = len;
    *out = table;
    return HCCL_SUCCESS;
}

/* ---- The file ---- */

static HcclResult
fail_file(const char *path, const char *why)
{
    char name[NAME_LEN];

    short_name(name, path);
    LOG_ERROR(COMM, TABLE_UNREADABLE ": cannot read the rank table %s: %s", name, why);
    return HCCL_E_INTERNAL;
}

/* A regular file of bearable length: others may block or never end. */
static HcclResult
check_file(int fd, const char *path, size_t *len)
{
    struct stat st;
    char why[96];

    if (fstat(fd, &st) != 0)
        return fail_file(path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return fail_file(path, "it is a directory: name a file");
    if (!S_ISREG(st.st_mode))
        return fail_file(path, "it is no regular file");
    if ((uint64_t)st.st_size > RANK_TABLE_LEN_MOST) {
        snprintf(why, sizeof why, "it has %llu bytes, at most %llu are taken",
                 (unsigned long long)st.st_size, (unsigned long long)RANK_TABLE_LEN_MOST);
        return fail_file(path, why);
    }
    *len = (size_t)st.st_size;
    return HCCL_SUCCESS;
}

/* As much as there is, up to table->len. */
static HcclResult
fill(struct rank_table *table, int fd)
{
    size_t have = 0;

    while (have < table->len) {
        ssize_t n = read(fd, table->text + have, table->len - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_file(table->name, strerror(errno));
        if (n == 0)
            break;
        have += (size_t)n;
    }
    table->len = have;
    return HCCL_SUCCESS;
}

static HcclResult
read_file(const char *path, struct rank_table **table)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    HcclResult rc;
    size_t len = 0;

    if (fd < 0)
        return fail_file(path, strerror(errno));
    rc = check_file(fd, path, &len);
    if (rc == HCCL_SUCCESS)
        rc = table_new(path, len, table);
    if (rc == HCCL_SUCCESS)
        rc = fill(*table, fd);
    close(fd);
    return rc;
}

/* ---- The content ---- */

static HcclResult
fail_json(const struct rank_table *table, const json_error_t *error)
{
    if (json_error_code(error) == json_error_out_of_memory) {
        LOG_ERROR(COMM, "out of host memory while %s is parsed", table->name);
        return HCCL_E_MEMORY;
    }
    LOG_ERROR(COMM, TABLE_UNREADABLE ": %s:%d: the rank table is no JSON: %s", table->name,
              error->line < 1 ? 1 : error->line, error->text);
    return HCCL_E_INTERNAL;
}

static HcclResult
check_status(const struct table_node *root, enum table_need need)
{
    const char *status;
    char shown[TABLE_SHOW_LEN];
    HcclResult rc = table_text(root, "status", need, 0, SIZE_MAX, &status);

    if (rc != HCCL_SUCCESS || status == NULL || strcmp(status, "completed") == 0)
        return rc;
    if (strcmp(status, "initializing") == 0)
        return table_fail(root, "status", TABLE_WRONG,
                          "\"initializing\": the table is not ready yet: wait until it says "
                          "\"completed\"");
    table_show(shown, json_object_get(root->json, "status"));
    return table_fail(root, "status", TABLE_WRONG,
                      "%s is neither \"completed\" nor "
                      "\"initializing\"",
                      shown);
}

static HcclResult
load(struct rank_table *table)
{
    struct table_node root = {.table = table};
    char shown[TABLE_SHOW_LEN];
    json_error_t error;
    const char *version;
    HcclResult rc;

    table->root = json_loadb(table->text, table->len, JSON_REJECT_DUPLICATES, &error);
    if (table->root == NULL)
        return fail_json(table, &error);
    root.json = table->root;
    rc = table_need_object(&root);
    if (rc == HCCL_SUCCESS)
        rc = table_text(&root, "version", TABLE_REQUIRED, 0, SIZE_MAX, &version);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (strcmp(version, "1.0") != 0 && strcmp(version, "1.2") != 0 && strcmp(version, "2.0") != 0) {
        table_show(shown, json_object_get(root.json, "version"));
        return table_fail(&root, "version", TABLE_WRONG,
                          "%s is not known: write \"1.0\", \"1.2\" or \"2.0\"", shown);
    }
    table->version = version;
    rc = check_status(&root, version[0] == '1' ? TABLE_REQUIRED : TABLE_OPTIONAL);
    if (rc != HCCL_SUCCESS)
        return rc;
    return version[0] == '1' ? rank_table_load_v1(table) : rank_table_load_v2(table);
}

/* Takes over `table`. */
static HcclResult
finish(struct rank_table *table, HcclResult rc, struct rank_table **out)
{
    if (rc == HCCL_SUCCESS)
        rc = load(table);
    if (rc == HCCL_SUCCESS)
        *out = table;
    else
        rank_table_destroy(table);
    return rc;
}

HcclResult
rank_table_read(const char *path, struct rank_table **out)
{
    struct rank_table *table = NULL;
    size_t len = strnlen(path, RANK_TABLE_PATH_MOST);
    HcclResult rc;

    if (len == 0 || len == RANK_TABLE_PATH_MOST) {
        LOG_ERROR(COMM, "the path of the rank table %s",
                  len == 0 ? "is empty" : "is too long: at most 4095 bytes go");
        return HCCL_E_PARA;
    }
    rc = read_file(path, &table);
    return finish(table, rc, out);
}

HcclResult
rank_table_parse(const char *text, size_t len, const char *name, struct rank_table **out)
{
    struct rank_table *table = NULL;
    HcclResult rc;

    if (len > RANK_TABLE_LEN_MOST)
        return fail_file(name, "it has more than 1 GiB");
    rc = table_new(name, len, &table);
    if (rc == HCCL_SUCCESS)
        memcpy(table->text, text, len);
    return finish(table, rc, out);
}

static int
digest_more(const char *bytes, size_t len, void *state)
{
    return crypto_generichash_update(state, (const unsigned char *)bytes, len);
}

HcclResult
rank_table_digest(const struct rank_table *table, const char *const salts[], char *text)
{
    unsigned char sum[(RANK_TABLE_DIGEST_LEN - 1) / 2];
    crypto_generichash_state state;

    (void)crypto_generichash_init(&state, NULL, 0, sizeof sum);
    if (sodium_init() < 0 ||
        json_dump_callback(table->root, digest_more, &state, JSON_COMPACT | JSON_SORT_KEYS) != 0) {
        LOG_ERROR(COMM, "out of host memory while %s is read", table->name);
        return HCCL_E_MEMORY;
    }
    for (; *salts != NULL; salts++)
        (void)crypto_generichash_update(&state, (const unsigned char *)*salts, strlen(*salts) + 1);
    (void)crypto_generichash_final(&state, sum, sizeof sum);
    (void)sodium_bin2hex(text, RANK_TABLE_DIGEST_LEN, sum, sizeof sum);
    return HCCL_SUCCESS;
}

HcclResult
rank_table_fail_device(const struct rank_table *table, uint32_t rank, const char *fmt, ...)
{
    const struct rank_place *place = &table->ranks[rank];
    bool old = table->version[0] == '1';
    const struct json_path outer_list = {.key = old ? "server_list" : "rank_list"};
    const struct json_path outer = {.up = &outer_list, .index = place->outer};
    const struct json_path inner_list = {.up = &outer, .key = "device"};
    const struct json_path inner = {.up = &inner_list, .index = place->inner};
    const struct table_node node = {.table = table, .path = old ? &inner : &outer};
    char message[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return table_fail(&node, "device_id", TABLE_WRONG, "%s", message);
}
