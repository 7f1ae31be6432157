/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/rank_table_value.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define MESSAGE_LEN 512u
#define PATH_LEN 160u
#define SHOWN 60u /* bytes of a value in a message */

unsigned
table_line(const struct table_node *node, const char *key)
{
    const struct json_path path = {.up = node->path, .key = key};

    return json_line(node->table->text, node->table->len, key == NULL ? node->path : &path);
}

HcclResult
table_fail(const struct table_node *node, const char *key, const char *code, const char *fmt, ...)
{
    const struct json_path path = {.up = node->path, .key = key};
    char field[PATH_LEN], message[MESSAGE_LEN];
    va_list args;

    json_path_text(field, sizeof field, key == NULL ? node->path : &path);
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    LOG_ERROR(COMM, "%s: %s:%u: %s%s%s", code, node->table->name, table_line(node, key), field,
              field[0] == '\0' ? "" : ": ", message);
    return HCCL_E_INTERNAL;
}

/* What is no part of a line becomes '?'; a character that does not fit in whole is left out. */
static void
show_text(char text[TABLE_SHOW_LEN], const char *from)
{
    size_t len = strlen(from), shown = len;

    if (shown > SHOWN) {
        for (shown = SHOWN; shown > 0 && ((unsigned char)from[shown] & 0xC0) == 0x80;)
            shown--;
    }
    snprintf(text, TABLE_SHOW_LEN, "\"%.*s%s\"", (int)shown, from, shown < len ? "..." : "");
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    }
}

void
table_show(char text[TABLE_SHOW_LEN], const json_t *json)
{
    switch (json == NULL ? JSON_NULL : json_typeof(json)) {
    case JSON_STRING:
        show_text(text, json_string_value(json));
        break;
    case JSON_INTEGER:
        snprintf(text, TABLE_SHOW_LEN, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
        break;
    case JSON_REAL:
        snprintf(text, TABLE_SHOW_LEN, "%.12g", json_real_value(json));
        break;
    case JSON_OBJECT:
        snprintf(text, TABLE_SHOW_LEN, "an object");
        break;
    case JSON_ARRAY:
        snprintf(text, TABLE_SHOW_LEN, "an array");
        break;
    case JSON_TRUE:
        snprintf(text, TABLE_SHOW_LEN, "true");
        break;
    case JSON_FALSE:
        snprintf(text, TABLE_SHOW_LEN, "false");
        break;
    default:
        snprintf(text, TABLE_SHOW_LEN, "null");
        break;
    }
}

HcclResult
table_need_object(const struct table_node *node)
{
    char shown[TABLE_SHOW_LEN];

    if (json_is_object(node->json))
        return HCCL_SUCCESS;
    table_show(shown, node->json);
    return table_fail(node, NULL, TABLE_WRONG, "%s, but an object {...} is due here", shown);
}

/* The member, or NULL; HCCL_E_INTERNAL (logged): it must be there and is not. */
static HcclResult
member(const struct table_node *node, const char *key, enum table_need need, const json_t **value)
{
    *value = json_object_get(node->json, key);
    if (*value != NULL || need == TABLE_OPTIONAL)
        return HCCL_SUCCESS;
    return table_fail(node, key, TABLE_MISSING, "is missing");
}

static HcclResult
fail_kind(const struct table_node *node, const char *key, const json_t *value, const char *due)
{
    char shown[TABLE_SHOW_LEN];

    table_show(shown, value);
    if (node->table->version == NULL)
        return table_fail(node, key, TABLE_WRONG, "%s, but %s is due here", shown, due);
    return table_fail(node, key, TABLE_WRONG, "%s, but version %s wants %s here", shown,
                      node->table->version, due);
}

/* Characters of UTF-8 text. */
static size_t
characters(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

HcclResult
table_text(const struct table_node *node, const char *key, enum table_need need, size_t least,
           size_t most, const char **text)
{
    const json_t *value = NULL;
    HcclResult rc = member(node, key, need, &value);
    size_t count;

    *text = NULL;
    if (rc != HCCL_SUCCESS || value == NULL)
        return rc;
    if (!json_is_string(value))
        return fail_kind(node, key, value, "a string");
    count = characters(json_string_value(value));
    if (count < least || count > most)
        return table_fail(node, key, TABLE_WRONG, "has %zu characters: make it %zu to %zu", count,
                          least, most);
    *text = json_string_value(value);
    return HCCL_SUCCESS;
}

/* Digits and nothing else, at most ten: no overflow. */
static bool
digits_value(const char *text, uint64_t *number)
{
    size_t len = strspn(text, "0123456789");

    *number = 0;
    if (len == 0 || len > 10 || text[len] != '\0')
        return false;
    while (len-- > 0)
        *number = *number * 10 + (uint64_t)(*text++ - '0');
    return true;
}

HcclResult
table_number(const struct table_node *node, const char *key, enum table_need need, uint64_t least,
             uint64_t most, uint32_t *out)
{
    const json_t *value = NULL;
    HcclResult rc = member(node, key, need, &value);
    bool quoted = node->table->version[0] == '1', good;
    char shown[TABLE_SHOW_LEN];
    uint64_t number = 0;

    if (rc != HCCL_SUCCESS || value == NULL)
        return rc;
    if (quoted ? !json_is_string(value) : !json_is_number(value))
        return fail_kind(node, key, value,
                         quoted ? "a string (all its values are in quotes)"
                                : "a number without quotes");
    if (quoted) {
        good = digits_value(json_string_value(value), &number);
    } else {
        good = json_is_integer(value) && json_integer_value(value) >= 0;
        number = good ? (uint64_t)json_integer_value(value) : 0;
    }
    if (!good || number < least || number > most) {
        table_show(shown, value);
        return table_fail(node, key, TABLE_WRONG, "%s is no number from %" PRIu64 " to %" PRIu64,
                          shown, least, most);
    }
    *out = (uint32_t)number;
    return HCCL_SUCCESS;
}

HcclResult
table_array(const struct table_node *node, const char *key, size_t least, size_t most,
            const json_t **array)
{
    const json_t *value = NULL;
    HcclResult rc = member(node, key, TABLE_REQUIRED, &value);
    size_t count;

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!json_is_array(value))
        return fail_kind(node, key, value, "an array [...]");
    count = json_array_size(value);
    if (count < least)
        return table_fail(node, key, TABLE_WRONG, "is empty: list at least one");
    if (count > most)
        return table_fail(node, key, TABLE_WRONG, "lists %zu, at most %zu go", count, most);
    *array = value;
    return HCCL_SUCCESS;
}

HcclResult
table_ip(const struct table_node *node, const char *key, const char *given, bool four, bool six,
         char text[TABLE_IP_LEN])
{
    char shown[TABLE_SHOW_LEN];
    unsigned char bytes[16];

    if (four && inet_pton(AF_INET, given, bytes) == 1) {
        (void)inet_ntop(AF_INET, bytes, text, TABLE_IP_LEN);
        return HCCL_SUCCESS;
    }
    if (six && inet_pton(AF_INET6, given, bytes) == 1) {
        (void)inet_ntop(AF_INET6, bytes, text, TABLE_IP_LEN);
        return HCCL_SUCCESS;
    }
    show_text(shown, given);
    return table_fail(node, key, TABLE_WRONG, "%s is no %s address", shown,
                      four && six ? "IPv4 or IPv6"
                      : four      ? "IPv4"
                                  : "IPv6");
}

static HcclResult
fail_memory(void)
{
    LOG_ERROR(COMM, "out of host memory while a rank table is checked");
    return HCCL_E_MEMORY;
}

HcclResult
table_map(json_t **map)
{
    *map = json_object();
    return *map == NULL ? fail_memory() : HCCL_SUCCESS;
}

HcclResult
table_once(json_t *map, const char *key, int64_t value, int64_t *before)
{
    const json_t *there = json_object_get(map, key);

    *before = there == NULL ? -1 : json_integer_value(there);
    if (there == NULL && json_object_set_new(map, key, json_integer(value)) != 0)
        return fail_memory();
    return HCCL_SUCCESS;
}
