/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "copy/plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/knobs.h"
#include "base/log.h"
#include "base/thread.h"

#define BUDGET_NS 55000000u
#define WHY_LEN 160u

/* Measured between the two processors of a virtual machine (Zen 5) whose caches are close; where
 * they are far, what differs most is that both sides together are still the best. */
const struct copy_plan plan_default = {
    .eager = 8192,
    .middle = COPY_PULL,
    .large = COPY_BOTH,
    .large_from = 65536,
    .piece = 16384,
};

static const char *const movers[COPY_MOVERS] = {"pull", "push", "both"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct copy_plan plan; /* constant after `once`, as `origin` */
static const char *origin;

/* ---- text ---- */

struct field {
    const char *name;
    size_t offset;
    bool is_mover;
    uint64_t least, most;
};

#define FIELD_NUM 5u
static const struct field fields[FIELD_NUM] = {
    {"eager", offsetof(struct copy_plan, eager), false, 40, 16u << 20},
    {"middle", offsetof(struct copy_plan, middle), true, 0, 0},
    {"large", offsetof(struct copy_plan, large), true, 0, 0},
    {"large_from", offsetof(struct copy_plan, large_from), false, 0, 1ull << 40},
    {"piece", offsetof(struct copy_plan, piece), false, 4096, 16u << 20},
};

/* Digits only, no sign, no more of them than any limit has. */
static bool
parse_number(const char *text, size_t len, const struct field *field, uint64_t *number)
{
    *number = 0;
    if (len == 0 || len > 15)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    }
    return *number >= field->least && *number <= field->most;
}

static bool
parse_mover(const char *text, size_t len, enum copy_mover *mover)
{
    for (uint32_t i = 0; i < COPY_MOVERS; i++) {
        if (strlen(movers[i]) == len && memcmp(movers[i], text, len) == 0) {
            *mover = (enum copy_mover)i;
            return true;
        }
    }
    return false;
}

static bool
parse_value(const char *text, size_t len, const struct field *field, struct copy_plan *into,
            char *why, size_t why_len)
{
    char *at = (char *)into + field->offset;
    enum copy_mover mover;
    uint64_t number;

    if (field->is_mover && parse_mover(text, len, &mover)) {
        memcpy(at, &mover, sizeof mover);
        return true;
    }
    if (!field->is_mover && parse_number(text, len, field, &number)) {
        memcpy(at, &number, sizeof number);
        return true;
    }
    if (field->is_mover)
        snprintf(why, why_len, "%s must be pull, push or both", field->name);
    else
        snprintf(why, why_len, "%s must be a whole number of bytes from %llu to %llu", field->name,
                 (unsigned long long)field->least, (unsigned long long)field->most);
    return false;
}

static const struct field *
find_field(const char *name, size_t len)
{
    for (size_t i = 0; i < FIELD_NUM; i++) {
        if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0)
            return &fields[i];
    }
    return NULL;
}

bool
plan_parse(const char *text, struct copy_plan *into, char *why, size_t why_len)
{
    struct copy_plan parsed = *into;
    bool seen[FIELD_NUM] = {false};

    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ","), name_len = strcspn(at, "=,");
        const struct field *field = find_field(at, name_len);

        if (field == NULL || name_len == len) {
            snprintf(why, why_len,
                     "\"%.*s\" is none of eager=, middle=, large=, large_from=, piece=",
                     (int)(len < 40 ? len : 40), at);
            return false;
        }
        if (seen[field - fields]) {
            snprintf(why, why_len, "%s is there twice", field->name);
            return false;
        }
        seen[field - fields] = true;
        if (!parse_value(at + name_len + 1, len - name_len - 1, field, &parsed, why, why_len))
            return false;
        at += len;
        if (*at == '\0')
            break;
    }
    *into = parsed;
    return true;
}

void
plan_format(const struct copy_plan *from, char text[PLAN_TEXT_LEN])
{
    snprintf(text, PLAN_TEXT_LEN, "eager=%llu,middle=%s,large=%s,large_from=%llu,piece=%llu",
             (unsigned long long)from->eager, movers[from->middle], movers[from->large],
             (unsigned long long)from->large_from, (unsigned long long)from->piece);
}

/* ---- the choice ---- */

static bool
measure(struct copy_plan *into)
{
    return plan_measure(into, BUDGET_NS);
}

/* Whether the knob says it. What is wrong counts as not said. */
static bool
ask_knob(void)
{
    const char *text = hc_knob_str(KNOB_P2P_PLAN);
    char why[WHY_LEN];

    if (strcmp(text, "auto") == 0)
        return false;
    if (plan_parse(text, &plan, why, sizeof why))
        return true;
    LOG_ERROR(COPY,
              "EI0001: HCOMM_P2P_PLAN is \"%s\": %s; set it to auto, or as "
              "eager=8192,middle=pull,large=both,large_from=65536,piece=16384",
              text, why);
    return false;
}

static void
choose(void)
{
    int cancel = hc_cancel_off();
    char text[PLAN_TEXT_LEN];

    plan = plan_default;
    if (ask_knob())
        origin = "HCOMM_P2P_PLAN";
    else if (plan_cached(&plan, measure))
        origin = "measured on this machine";
    else
        origin = "built in: could not be measured";
    plan_format(&plan, text);
    LOG_INFO(COPY, "plan %s, %s", text, origin);
    hc_cancel_restore(cancel);
}

const struct copy_plan *
copy_plan(void)
{
    (void)pthread_once(&once, choose);
    return &plan;
}

void
copy_plan_print(FILE *out)
{
    char text[PLAN_TEXT_LEN];

    plan_format(copy_plan(), text);
    fprintf(out, "%s (%s)\n", text, origin);
}
