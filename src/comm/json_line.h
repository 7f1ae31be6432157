/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_line: where in a JSON text a value stands. The parser tells lines of syntax errors only;
 * this finds the line of any value of a text that the parser has accepted (inside this layer only).
 */
#ifndef HC_COMM_JSON_LINE_H
#define HC_COMM_JSON_LINE_H

#include <stddef.h>

/* One step of the way to a value; a chain on the stack of who walks there. */
struct json_path {
    const struct json_path *up; /* NULL: the root */
    const char *key;            /* a member; NULL: element `index` of an array */
    size_t index;
};

/* Line of the value in `text`, which is valid JSON; when there is none, of the last value on the
 * way. `path` NULL: the root. */
unsigned json_line(const char *text, size_t len, const struct json_path *path);

/* "server_list[0].device[1].rank_id"; cut off at `len`. */
void json_path_text(char *into, size_t len, const struct json_path *path);

#endif
