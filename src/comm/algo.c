/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/algo.h"

#include <stdio.h>
#include <string.h>

#define LEVELS 3u
#define SHOWN 40 /* characters of a faulty part in a message */

/* Lists of words with bars between. */
static const char *const names[LEVELS] = {"NA", "ring|H-D_R|NHR|NHR_V1|NB|AHC|pipeline|pairwise",
                                          "ring|H-D_R|NHR|NB|pipeline"};
static const char ops[] = "allgather|reducescatter|allreduce|broadcast|reduce|scatter|alltoall";

/* A part of the text. */
struct part {
    const char *at;
    size_t len;
};

/* Cuts off what is before the first `end`, or all of it. */
static struct part
cut(struct part *rest, char end)
{
    const char *found = memchr(rest->at, end, rest->len);
    struct part first = {rest->at, found == NULL ? rest->len : (size_t)(found - rest->at)};
    size_t used = first.len + (found != NULL);

    rest->at += used;
    rest->len -= used;
    return first;
}

/* Place of the word in the list, or -1. */
static int
place_in(const char *list, struct part word)
{
    struct part rest = {list, strlen(list)};

    for (int place = 0; rest.len > 0; place++) {
        struct part one = cut(&rest, '|');

        if (one.len == word.len && memcmp(one.at, word.at, word.len) == 0)
            return place;
    }
    return -1;
}

static bool
fault(char why[ALGO_WHY_LEN], struct part part, const char *what, const char *choices)
{
    snprintf(why, ALGO_WHY_LEN, "\"%.*s\" %s %s", part.len > SHOWN ? SHOWN : (int)part.len, part.at,
             what, choices);
    return false;
}

/* `seen`: one bit for each level. */
static bool
level_good(struct part level, unsigned *seen, char why[ALGO_WHY_LEN])
{
    struct part name = level, word = cut(&name, ':');
    int number = place_in("level0|level1|level2", word);

    if (number < 0 || word.len == level.len)
        return fault(why, level, "is no level: write", "level0:NA;level1:NAME;level2:NAME");
    if (place_in(names[number], name) < 0)
        return fault(why, level, "names no algorithm of that level: take one of", names[number]);
    if ((*seen & 1u << number) != 0)
        return fault(why, word, "comes twice: write", "each level once");
    *seen |= 1u << number;
    return true;
}

/* All between two separators, of which the last is not the end of the text. */
static bool
levels_good(struct part levels, char why[ALGO_WHY_LEN])
{
    const char *end = levels.at + levels.len;
    unsigned seen = 0;
    struct part level;

    do {
        level = cut(&levels, ';');
        if (!level_good(level, &seen, why))
            return false;
    } while (level.at + level.len < end);
    return true;
}

static bool
op_good(struct part part, unsigned *seen, char why[ALGO_WHY_LEN])
{
    struct part levels = part, word = cut(&levels, '=');
    int number = place_in(ops, word);

    if (number < 0 || word.len == part.len)
        return fault(why, part, "is for no operation: write OP=LEVELS, where OP is one of", ops);
    if ((*seen & 1u << number) != 0)
        return fault(why, word, "comes twice: write", "each operation once");
    *seen |= 1u << number;
    return levels_good(levels, why);
}

bool
algo_good(const char *text, char why[ALGO_WHY_LEN])
{
    struct part rest = {text, strlen(text)}, part;
    const char *end = text + rest.len;
    unsigned seen = 0;

    if (strchr(text, '=') == NULL)
        return levels_good(rest, why);
    do {
        part = cut(&rest, '/');
        if (!op_good(part, &seen, why))
            return false;
    } while (part.at + part.len < end);
    return true;
}
