/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_plot: the rows of files become lines. A file is what `hcomm perf --json` printed, objects
 * one after the other, or an array of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tools/cmd.h"
#include "tools/perf.h"

#define FILE_MOST ((size_t)64 << 20)
#define LINES_MOST 64u
#define NAME_LEN 512

/* What can be drawn: as an option spells it, as rows do, as people do. */
static const struct plot_y {
    const char *name, *key, *title;
} ys[] = {
    {"us", "us_median", "median time, us"},
    {"mb_s", "mb_s", "MB/s"},
    {"algbw", "algbw", "algorithm bandwidth, GB/s"},
    {"busbw", "busbw", "bus bandwidth, GB/s"},
};

struct plot {
    const char *out;
    const struct plot_y *y;
    char **files; /* [file_num] */
    int file_num;
    struct perf_line lines[LINES_MOST];
    size_t num;
};

/* A file as far as it has been read. */
struct scan {
    const char *file;
    char *text;
    size_t len, at;
    unsigned line; /* of `at` */
};

/* ---- reading ---- */

static int
read_file(struct scan *scan)
{
    FILE *file = fopen(scan->file, "re");
    size_t room = 0, got = 1;

    if (file == NULL)
        return cmd_misused("perf: cannot open %s: %s", scan->file, strerror(errno));
    while (got > 0 && scan->len <= FILE_MOST) {
        if (scan->len == room) {
            char *more = hc_realloc(scan->text, room = room == 0 ? 65536 : room * 2);

            if (more == NULL) {
                fclose(file);
                return CMD_FAILED; /* said */
            }
            scan->text = more;
        }
        got = fread(scan->text + scan->len, 1, room - scan->len, file);
        scan->len += got;
    }
    if (ferror(file)) {
        int error = errno;

        fclose(file);
        return cmd_misused("perf: cannot read %s: %s", scan->file, strerror(error));
    }
    fclose(file);
    if (scan->len > FILE_MOST)
        return cmd_misused("perf: %s is longer than %zu MiB: it is not from `hcomm perf --json`",
                           scan->file, FILE_MOST >> 20);
    return CMD_GOOD;
}

static void
advance(struct scan *scan, size_t num)
{
    for (; num > 0; num--) {
        if (scan->text[scan->at++] == '\n')
            scan->line++;
    }
}

/* The next character that is not blank; 0: there is none. */
static char
peek(struct scan *scan)
{
    while (scan->at < scan->len && strchr(" \t\r\n", scan->text[scan->at]) != NULL &&
           scan->text[scan->at] != '\0')
        advance(scan, 1);
    return scan->at < scan->len ? scan->text[scan->at] : '\0';
}

static int
garbled(const struct scan *scan, unsigned line, const char *why)
{
    char text[160];

    snprintf(text, sizeof text, "%s", why);
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?'; /* jansson quotes what it read */
    }
    return cmd_misused("perf: %s:%u: %s; files are made with `hcomm perf --json`", scan->file, line,
                       text);
}

/* ---- rows ---- */

/* What tells a line from others, as the legend shows it. */
static void
name_line(const struct plot *plot, const struct scan *scan, const json_t *row, char name[NAME_LEN])
{
    static const char *const more[] = {"redop", "engine", "algo"}; /* of a collective */
    const char *memory = json_string_value(json_object_get(row, "memory"));
    json_int_t ranks = json_integer_value(json_object_get(row, "ranks"));
    const char *type = json_string_value(json_object_get(row, "type"));
    const char *base = strrchr(scan->file, '/');
    int len =
        snprintf(name, NAME_LEN, "%.40s %.20s %.20s", json_string_value(json_object_get(row, "op")),
                 json_string_value(json_object_get(row, "mode")),
                 type != NULL ? type : json_string_value(json_object_get(row, "pattern")));

    for (size_t i = 0; i < sizeof more / sizeof more[0] && type != NULL; i++) {
        const char *text = json_string_value(json_object_get(row, more[i]));

        if (text != NULL && text[0] != '\0' && strcmp(text, "none") != 0)
            len += snprintf(name + len, (size_t)(NAME_LEN - len), " %.20s", text);
    }
    if (json_is_true(json_object_get(row, "in_place")))
        len += snprintf(name + len, (size_t)(NAME_LEN - len), " in place");
    if (memory != NULL && strcmp(memory, "device") != 0)
        len += snprintf(name + len, (size_t)(NAME_LEN - len), " %.20s", memory);
    if (ranks > 2)
        len += snprintf(name + len, (size_t)(NAME_LEN - len), ", %" JSON_INTEGER_FORMAT " ranks",
                        ranks);
    if (plot->file_num > 1)
        (void)snprintf(name + len, (size_t)(NAME_LEN - len), ": %.200s",
                       base == NULL ? scan->file : base + 1);
}

static int
find_line(struct plot *plot, const char *name, struct perf_line **line)
{
    size_t i = 0;

    while (i < plot->num && strcmp(plot->lines[i].name, name) != 0)
        i++;
    if (i == LINES_MOST)
        return cmd_misused("perf: more than %u lines: plot fewer operations or files", LINES_MOST);
    if (i == plot->num) {
        plot->lines[i].name = hc_strdup(name);
        if (plot->lines[i].name == NULL)
            return CMD_FAILED; /* said */
        plot->num++;
    }
    *line = &plot->lines[i];
    return CMD_GOOD;
}

static int
add_point(struct perf_line *line, double x, double y)
{
    struct perf_point *points = line->points;

    if ((line->num & (line->num - 1)) == 0) /* room is a power of two */
        points = hc_realloc(points, (line->num == 0 ? 1 : line->num * 2) * sizeof *points);
    if (points == NULL)
        return CMD_FAILED; /* said */
    line->points = points;
    points[line->num++] = (struct perf_point){x, y};
    return CMD_GOOD;
}

static int
add_row(struct plot *plot, const struct scan *scan, unsigned at, const json_t *row)
{
    static const char *const texts[] = {"op", "mode", "pattern"};
    const json_t *x = json_object_get(row, "bytes"), *y = json_object_get(row, plot->y->key);
    char why[96], name[NAME_LEN];
    struct perf_line *line;
    int rc;

    if (!json_is_object(row))
        return garbled(scan, at, "a row must be an object");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (json_is_string(json_object_get(row, texts[i])))
            continue;
        snprintf(why, sizeof why, "the row has no text \"%s\"", texts[i]);
        return garbled(scan, at, why);
    }
    if (!json_is_number(x) || !json_is_number(y)) {
        snprintf(why, sizeof why, "the row has no number \"%s\"",
                 json_is_number(x) ? plot->y->key : "bytes");
        return garbled(scan, at, why);
    }
    if (json_number_value(x) <= 0 || json_number_value(y) <= 0)
        return CMD_GOOD; /* logarithms have no place for it */
    name_line(plot, scan, row, name);
    rc = find_line(plot, name, &line);
    return rc == CMD_GOOD ? add_point(line, json_number_value(x), json_number_value(y)) : rc;
}

static int
take_value(struct plot *plot, struct scan *scan)
{
    unsigned line = scan->line;
    json_error_t error;
    json_t *row =
        json_loadb(scan->text + scan->at, scan->len - scan->at, JSON_DISABLE_EOF_CHECK, &error);
    int rc;

    if (row == NULL)
        return garbled(scan, line + (error.line > 0 ? (unsigned)error.line - 1 : 0), error.text);
    advance(scan, (size_t)error.position);
    rc = add_row(plot, scan, line, row);
    json_decref(row);
    return rc;
}

/* Behind '['. */
static int
take_array(struct plot *plot, struct scan *scan)
{
    int rc = CMD_GOOD;
    char next = peek(scan);

    while (rc == CMD_GOOD && next != ']') {
        rc = take_value(plot, scan);
        next = peek(scan);
        if (rc == CMD_GOOD && next != ',' && next != ']')
            rc = garbled(scan, scan->line, "the array goes on without ',' or ']'");
        if (rc == CMD_GOOD && next == ',') {
            advance(scan, 1);
            (void)peek(scan);
        }
    }
    if (rc == CMD_GOOD)
        advance(scan, 1);
    return rc;
}

static int
take_text(struct plot *plot, struct scan *scan)
{
    int rc = CMD_GOOD;

    if (peek(scan) == '\0' && scan->at == scan->len)
        rc = garbled(scan, scan->line, "there is nothing in it");
    while (rc == CMD_GOOD && (peek(scan) != '\0' || scan->at < scan->len)) {
        if (peek(scan) == '[') {
            advance(scan, 1);
            rc = take_array(plot, scan);
        } else {
            rc = take_value(plot, scan);
        }
    }
    return rc;
}

static int
take_file(struct plot *plot, const char *name)
{
    struct scan scan = {.file = name, .line = 1};
    int rc = read_file(&scan);

    if (rc == CMD_GOOD)
        rc = take_text(plot, &scan);
    hc_free(scan.text);
    return rc;
}

/* ---- writing ---- */

static int
by_x(const void *a, const void *b)
{
    const struct perf_point *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

static int
write_picture(struct plot *plot)
{
    size_t len = 0, put;
    char *text;
    FILE *file;
    int error = 0;

    if (plot->num == 0)
        return cmd_misused("perf: no row has \"bytes\" and \"%s\" above 0: nothing to draw",
                           plot->y->key);
    for (size_t i = 0; i < plot->num; i++)
        qsort(plot->lines[i].points, plot->lines[i].num, sizeof *plot->lines[i].points, by_x);
    text = perf_draw(plot->lines, plot->num, plot->y->title, &len);
    if (text == NULL) {
        fputs("hcomm perf: out of memory\n", stderr);
        return CMD_FAILED;
    }
    file = fopen(plot->out, "we");
    put = file == NULL ? 0 : fwrite(text, 1, len, file);
    if (put < len)
        error = errno;
    if (file != NULL && fclose(file) != 0 && error == 0)
        error = errno;
    free(text);
    if (error != 0)
        return cmd_misused("perf: cannot write %s: %s", plot->out, strerror(error));
    return CMD_GOOD;
}

static void
plot_destroy(struct plot *plot)
{
    if (plot == NULL)
        return;
    for (size_t i = 0; i < plot->num; i++) {
        hc_free(plot->lines[i].name);
        hc_free(plot->lines[i].points);
    }
    hc_free(plot->files);
    hc_free(plot);
}

/* ---- the command ---- */

static int
read_x(const char *value)
{
    if (value != NULL && strcmp(value, "bytes") == 0)
        return CMD_GOOD;
    return cmd_misused("perf: --x is \"%s\": it must be bytes", value == NULL ? "" : value);
}

static int
read_y(const char *value, const struct plot_y **y)
{
    for (size_t i = 0; i < sizeof ys / sizeof ys[0] && value != NULL; i++) {
        if (strcmp(value, ys[i].name) == 0) {
            *y = &ys[i];
            return CMD_GOOD;
        }
    }
    return cmd_misused("perf: --y is \"%s\": it must be us, mb_s, algbw or busbw",
                       value == NULL ? "" : value);
}

static int
read_arguments(struct plot *plot, int argc, char **argv)
{
    const char *value = NULL;
    int rc = CMD_GOOD;

    for (int at = 1; at < argc && rc == CMD_GOOD; at++) {
        if (argv[at][0] != '-')
            plot->files[plot->file_num++] = argv[at];
        else if (perf_is_option("-o", argv, &at, &value))
            plot->out = value;
        else if (perf_is_option("--x", argv, &at, &value))
            rc = read_x(value);
        else if (perf_is_option("--y", argv, &at, &value))
            rc = read_y(value, &plot->y);
        else
            rc = cmd_misused("perf: plot has no option \"%s\"; `hcomm perf --help` lists them",
                             argv[at]);
    }
    if (rc != CMD_GOOD)
        return rc;
    if (plot->file_num == 0)
        return cmd_misused("perf: plot what? `hcomm perf --json >FILE.json`, then `hcomm perf plot "
                           "FILE.json -o out.svg`");
    if (plot->out == NULL || plot->out[0] == '\0')
        return cmd_misused("perf: plot needs a file to write: -o out.svg");
    return CMD_GOOD;
}

int
perf_plot(int argc, char **argv)
{
    struct plot *plot = hc_zalloc(sizeof *plot);
    int rc = CMD_FAILED;

    if (plot != NULL)
        plot->files = hc_calloc((size_t)argc, sizeof *plot->files);
    if (plot != NULL && plot->files != NULL) {
        plot->y = ys;
        rc = read_arguments(plot, argc, argv);
        for (int i = 0; i < plot->file_num && rc == CMD_GOOD; i++)
            rc = take_file(plot, plot->files[i]);
        if (rc == CMD_GOOD)
            rc = write_picture(plot);
    }
    plot_destroy(plot);
    return rc;
}

int
perf_plot_text(char *text, size_t len, const char *out)
{
    struct plot *plot = hc_zalloc(sizeof *plot);
    struct scan scan = {.file = out, .text = text, .len = len, .line = 1};
    int rc = CMD_FAILED;

    if (plot != NULL) {
        plot->out = out;
        plot->y = ys;
        rc = take_text(plot, &scan);
        if (rc == CMD_GOOD)
            rc = write_picture(plot);
    }
    plot_destroy(plot);
    return rc;
}
