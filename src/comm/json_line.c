/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/json_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A place in the text; never past the end, whatever the text is. */
struct cursor {
    const char *at, *end;
};

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char
look(const struct cursor *cursor)
{
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static void
skip_spaces(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at))
        cursor->at++;
}

/* Over a string, from its first quote to behind its last. */
static void
skip_string(struct cursor *cursor)
{
    cursor->at++;
    while (cursor->at < cursor->end && *cursor->at != '"')
        cursor->at += *cursor->at == '\\' && cursor->end - cursor->at > 1 ? 2 : 1;
    if (cursor->at < cursor->end)
        cursor->at++;
}

/* Over a value of any kind, to what follows it. */
static void
skip_value(struct cursor *cursor)
{
    unsigned depth = 0;

    while (cursor->at < cursor->end) {
        char c = *cursor->at;

        if (c == '"') {
            skip_string(cursor);
            if (depth == 0)
                return;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return;
        cursor->at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return;
    }
}

/* The character that "\uXXXX" at `at` stands for; -1: it is longer than a byte. */
static int
unescape(const char *at)
{
    int value = 0;

    for (int i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = at[i] == '\0' ? NULL : strchr(digits, at[i]);

        if (digit == NULL)
            return -1;
        value = value * 16 + (int)((digit - digits) % 16);
    }
    return value < 0x80 ? value : -1;
}

/* The string at the cursor says `key`, which is plain letters. */
static bool
is_key(const struct cursor *cursor, const char *key)
{
    const char *at = cursor->at + 1;

    while (*key != '\0' && at < cursor->end) {
        bool escaped = *at == '\\' && cursor->end - at > 6 && at[1] == 'u';

        if ((escaped ? unescape(at) : (unsigned char)*at) != (unsigned char)*key)
            return false;
        at += escaped ? 6 : 1;
        key++;
    }
    return *key == '\0' && at < cursor->end && *at == '"';
}

/* From the value of an object or array to the part that `step` names; false: it has none. */
static bool
enter(struct cursor *cursor, const struct json_path *step)
{
    char open = look(cursor);
    size_t index = 0;

    if (open != (step->key != NULL ? '{' : '['))
        return false;
    do {
        cursor->at++; /* over the bracket or the comma */
        skip_spaces(cursor);
        if (step->key == NULL && index == step->index && look(cursor) != ']')
            return cursor->at < cursor->end;
        if (step->key != NULL && look(cursor) == '"') {
            bool found = is_key(cursor, step->key);

            skip_string(cursor);
            skip_spaces(cursor);
            if (look(cursor) == ':')
                cursor->at++;
            skip_spaces(cursor);
            if (found)
                return cursor->at < cursor->end;
        }
        skip_value(cursor);
        skip_spaces(cursor);
        index++;
    } while (look(cursor) == ',');
    return false;
}

/* Puts the cursor on the value; false: on the last one on the way that is there. */
static bool
find(struct cursor *cursor, const struct json_path *path)
{
    struct cursor there;

    if (path == NULL) {
        skip_spaces(cursor);
        return true;
    }
    if (!find(cursor, path->up))
        return false;
    there = *cursor;
    if (!enter(&there, path))
        return false;
    *cursor = there;
    return true;
}

unsigned
json_line(const char *text, size_t len, const struct json_path *path)
{
    struct cursor cursor = {.at = text, .end = text + len};
    unsigned line = 1;

    (void)find(&cursor, path);
    for (const char *at = text; at < cursor.at; at++)
        line += *at == '\n';
    return line;
}

void
json_path_text(char *into, size_t len, const struct json_path *path)
{
    size_t used;

    if (path == NULL) {
        into[0] = '\0';
        return;
    }
    json_path_text(into, len, path->up);
    used = strlen(into);
    if (path->key != NULL)
        snprintf(into + used, len - used, "%s%s", used == 0 ? "" : ".", path->key);
    else
        snprintf(into + used, len - used, "[%zu]", path->index);
}
