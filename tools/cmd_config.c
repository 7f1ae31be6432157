/* SPDX-License-Identifier: BSD-3-Clause */
/* hcomm config: the table of knobs, for people or (--markdown) as docs/knobs.md. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/knobs.h"
#include "tools/cmd.h"

struct row {
    const char *name, *variable, *type;
    char fallback[64], range[96]; /* what it is when unset, and what it may be */
    const char *meaning;
};

/* Like snprintf, of a text that may be longer than its column. */
static void
put(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

static void
make_row(enum hc_knob knob, struct row *row)
{
    const struct hc_knob_info *info = hc_knob_info(knob);
    const char *choices = info->choices;

    row->name = info->name;
    row->variable = info->env;
    row->meaning = info->doc;
    switch (info->kind) {
    case HC_KNOB_INT:
        row->type = "number";
        snprintf(row->fallback, sizeof row->fallback, "%" PRId64, info->def_int);
        snprintf(row->range, sizeof row->range, "%" PRId64 " to %" PRId64 " %s", info->least,
                 info->most, info->unit);
        break;
    case HC_KNOB_STR:
        row->type = "text";
        put(row->fallback, sizeof row->fallback, info->def_text);
        row->range[0] = '\0';
        break;
    case HC_KNOB_ENUM:
        row->type = "choice";
        put(row->fallback, sizeof row->fallback, info->def_text);
        put(row->range, sizeof row->range, choices);
        for (char *bar = row->range; (bar = strchr(bar, '|')) != NULL;)
            *bar = ' '; /* a bar would end the column */
        break;
    }
}

static void
print_markdown(void)
{
    puts("# Knobs\n\n"
         "What can be turned, through environment variables. This page is written by `hcomm config "
         "--markdown`;\nthe table itself is `src/base/knobs.def`. A value that is not in its range "
         "is an error that names the\nvariable.\n\n"
         "| Knob | Variable | Type | Default | Range | Meaning |\n"
         "|---|---|---|---|---|---|");
    for (int knob = 0; knob < KNOB_COUNT; knob++) {
        struct row row;

        make_row((enum hc_knob)knob, &row);
        printf("| %s | `%s` | %s | %s%s%s | %s | %s |\n", row.name, row.variable, row.type,
               row.fallback[0] == '\0' ? "" : "`", row.fallback, row.fallback[0] == '\0' ? "" : "`",
               row.range, row.meaning);
    }
}

static void
print_table(void)
{
    size_t name_len = 4, variable_len = 8, fallback_len = 7, range_len = 5;
    struct row row;

    for (int knob = 0; knob < KNOB_COUNT; knob++) {
        make_row((enum hc_knob)knob, &row);
        name_len = strlen(row.name) > name_len ? strlen(row.name) : name_len;
        variable_len = strlen(row.variable) > variable_len ? strlen(row.variable) : variable_len;
        fallback_len = strlen(row.fallback) > fallback_len ? strlen(row.fallback) : fallback_len;
        range_len = strlen(row.range) > range_len ? strlen(row.range) : range_len;
    }
    printf("%-*s  %-*s  %-6s  %-*s  %-*s  %s\n", (int)name_len, "NAME", (int)variable_len,
           "VARIABLE", "TYPE", (int)fallback_len, "DEFAULT", (int)range_len, "RANGE", "MEANING");
    for (int knob = 0; knob < KNOB_COUNT; knob++) {
        make_row((enum hc_knob)knob, &row);
        printf("%-*s  %-*s  %-6s  %-*s  %-*s  %s\n", (int)name_len, row.name, (int)variable_len,
               row.variable, row.type, (int)fallback_len, row.fallback, (int)range_len, row.range,
               row.meaning);
    }
}

int
cmd_config(int argc, char **argv)
{
    if (argc == 1)
        print_table();
    else if (argc == 2 && strcmp(argv[1], "--markdown") == 0)
        print_markdown();
    else
        return cmd_misused("config takes nothing, or --markdown");
    return CMD_GOOD;
}
