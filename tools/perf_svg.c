/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_svg: lines on logarithmic axes, as a picture that needs nothing else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/perf.h"

#define LEFT 80.0
#define TOP 24.0
#define PLOT_WIDTH 640.0
#define PLOT_HEIGHT 440.0
#define FOOT 64.0
#define LEGEND_WIDTH 340.0
#define LEGEND_ROW 18.0
#define TICKS_MOST 14

/* From exponent `low` to `high` of `base`, a tick every `step`. */
struct axis {
    double base, log_base;
    int low, high, step;
};

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                      "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};
static const char *const dashes[] = {"", "6 3", "2 3", "8 3 2 3", "12 4", "1 2", "5 1"};

#define COLOURS (sizeof colours / sizeof colours[0])
#define DASHES (sizeof dashes / sizeof dashes[0])

static struct axis
make_axis(double base, double least, double most)
{
    struct axis axis = {.base = base, .log_base = log(base)};

    axis.low = (int)floor(log(least) / axis.log_base + 1e-9);
    axis.high = (int)ceil(log(most) / axis.log_base - 1e-9);
    if (axis.high <= axis.low)
        axis.high = axis.low + 1;
    axis.step = (axis.high - axis.low + TICKS_MOST - 1) / TICKS_MOST;
    return axis;
}

/* 0 at the start of the axis, 1 at its end. */
static double
place(const struct axis *axis, double value)
{
    return (log(value) / axis->log_base - axis->low) / (axis->high - axis->low);
}

static double
x_of(const struct axis *axis, double value)
{
    return LEFT + PLOT_WIDTH * place(axis, value);
}

static double
y_of(const struct axis *axis, double value)
{
    return TOP + PLOT_HEIGHT * (1 - place(axis, value));
}

/* ---- text ---- */

/* Text of a file, which may hold anything, as text of XML. */
static void
put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte == '&')
            fputs("&amp;", out);
        else if (byte == '<')
            fputs("&lt;", out);
        else if (byte == '>')
            fputs("&gt;", out);
        else
            fputc(byte < ' ' || byte > '~' ? '?' : byte, out);
    }
}

static void
put_size(FILE *out, double bytes)
{
    static const char units[] = " KMGTPE";
    int unit = 0;

    while (bytes >= 1024 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    fprintf(out, unit == 0 ? "%g" : "%g%c", bytes, units[unit]);
}

/* ---- axes ---- */

static void
draw_x_axis(FILE *out, const struct axis *axis)
{
    for (int at = axis->low; at <= axis->high; at += axis->step) {
        double value = pow(axis->base, at), x = x_of(axis, value);

        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                x, TOP, x, TOP + PLOT_HEIGHT, x, TOP + PLOT_HEIGHT + 18);
        put_size(out, value);
        fputs("</text>\n", out);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">bytes</text>\n",
            LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 42);
}

static void
draw_y_axis(FILE *out, const struct axis *axis, const char *title)
{
    for (int at = axis->low; at <= axis->high; at += axis->step) {
        double value = pow(axis->base, at), y = y_of(axis, value);

        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 8, y + 4, value);
        for (int part = 2; part < 10 && axis->step == 1 && at < axis->high; part++) {
            y = y_of(axis, value * part);
            fprintf(out,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#f0f0f0\"/>\n",
                    LEFT, y, LEFT + PLOT_WIDTH, y);
        }
    }
    fprintf(out,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 %.1f "
            "%.1f)\">",
            20.0, TOP + PLOT_HEIGHT / 2, 20.0, TOP + PLOT_HEIGHT / 2);
    put_text(out, title);
    fputs("</text>\n", out);
}

/* ---- lines ---- */

static void
put_style(FILE *out, size_t i)
{
    fprintf(out, "stroke=\"%s\" stroke-width=\"1.8\" fill=\"none\"", colours[i % COLOURS]);
    if (i >= COLOURS)
        fprintf(out, " stroke-dasharray=\"%s\"", dashes[i / COLOURS % DASHES]);
}

static void
draw_line(FILE *out, const struct perf_line *line, size_t i, const struct axis *x,
          const struct axis *y)
{
    fputs("<polyline points=\"", out);
    for (size_t k = 0; k < line->num; k++)
        fprintf(out, "%.1f,%.1f ", x_of(x, line->points[k].x), y_of(y, line->points[k].y));
    fputs("\" ", out);
    put_style(out, i);
    fputs("/>\n", out);
    for (size_t k = 0; k < line->num; k++) {
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.4\" fill=\"%s\"><title>",
                x_of(x, line->points[k].x), y_of(y, line->points[k].y), colours[i % COLOURS]);
        put_text(out, line->name);
        fprintf(out, ", %.10g bytes: %.4g</title></circle>\n", line->points[k].x,
                line->points[k].y);
    }
}

static void
draw_legend(FILE *out, const struct perf_line *line, size_t i)
{
    double x = LEFT + PLOT_WIDTH + 20, y = TOP + 10 + LEGEND_ROW * (double)i;

    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x, y, x + 28, y);
    put_style(out, i);
    fprintf(out, "/>\n<text x=\"%.1f\" y=\"%.1f\">", x + 36, y + 4);
    put_text(out, line->name);
    fputs("</text>\n", out);
}

/* ---- the picture ---- */

static void
draw(FILE *out, const struct perf_line *lines, size_t num, const char *y_title)
{
    struct perf_point least = lines[0].points[0], most = least;
    double width = LEFT + PLOT_WIDTH + LEGEND_WIDTH, height = TOP + PLOT_HEIGHT + FOOT;
    struct axis x, y;

    for (size_t i = 0; i < num; i++) {
        for (size_t k = 0; k < lines[i].num; k++) {
            least.x = fmin(least.x, lines[i].points[k].x);
            least.y = fmin(least.y, lines[i].points[k].y);
            most.x = fmax(most.x, lines[i].points[k].x);
            most.y = fmax(most.y, lines[i].points[k].y);
        }
    }
    x = make_axis(2, least.x, most.x);
    y = make_axis(10, least.y, most.y);
    height = fmax(height, TOP + LEGEND_ROW * (double)(num + 1));
    fprintf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
        "%.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        width, height, width, height);
    draw_x_axis(out, &x);
    draw_y_axis(out, &y, y_title);
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#444\"/>\n",
            LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT);
    for (size_t i = 0; i < num; i++) {
        draw_line(out, &lines[i], i, &x, &y);
        draw_legend(out, &lines[i], i);
    }
    fputs("</svg>\n", out);
}

char *
perf_draw(const struct perf_line *lines, size_t num, const char *y_title, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (out == NULL)
        return NULL;
    draw(out, lines, num, y_title);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
