/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/knobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct hc_knob_info table[KNOB_COUNT] = {
#define KNOB_INT(n, e, d, lo, hi, u, m)                                                            \
    {.name = #n,                                                                                   \
     .env = e,                                                                                     \
     .kind = HC_KNOB_INT,                                                                          \
     .def_int = d,                                                                                 \
     .least = lo,                                                                                  \
     .most = hi,                                                                                   \
     .unit = u,                                                                                    \
     .doc = m},
#define KNOB_STR(n, e, d, m)                                                                       \
    {.name = #n, .env = e, .kind = HC_KNOB_STR, .def_text = d, .unit = "", .doc = m},
#define KNOB_ENUM(n, e, d, c, m)                                                                   \
    {.name = #n, .env = e, .kind = HC_KNOB_ENUM, .def_text = d, .choices = c, .unit = "", .doc = m},
#include "base/knobs.def"
#undef KNOB_INT
#undef KNOB_STR
#undef KNOB_ENUM
};

const struct hc_knob_info *
hc_knob_info(enum hc_knob knob)
{
    return &table[knob];
}

const char *
hc_knob_str(enum hc_knob knob)
{
    const char *text = getenv(table[knob].env);

    return text == NULL || text[0] == '\0' ? table[knob].def_text : text;
}

HcclResult
hc_knob_int(enum hc_knob knob, int64_t *value)
{
    const struct hc_knob_info *info = &table[knob];
    const char *text = getenv(info->env);
    char *end = NULL;
    long long number;

    *value = info->def_int;
    if (text == NULL || text[0] == '\0')
        return HCCL_SUCCESS;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < info->least || number > info->most) {
        LOG_ERROR(KNOB, "EI0001: %s is \"%s\"; set it to a whole number (%s) from %lld to %lld",
                  info->env, text, info->unit, (long long)info->least, (long long)info->most);
        return HCCL_E_PARA;
    }
    *value = number;
    return HCCL_SUCCESS;
}

HcclResult
hc_knob_connect_ms(int64_t *timeout_ms)
{
    HcclResult rc = hc_knob_int(KNOB_CONNECT_TIMEOUT_MS, timeout_ms), other;

    if (*timeout_ms > 0)
        return rc;
    other = hc_knob_int(KNOB_CONNECT_TIMEOUT_S, timeout_ms);
    *timeout_ms *= 1000;
    return rc == HCCL_SUCCESS ? other : rc;
}

/* Place of `text` in "a|b|c", or -1. */
static int
choice_of(const char *choices, const char *text)
{
    size_t len = strlen(text);
    int place = 0;

    for (const char *at = choices; at != NULL; place++) {
        const char *bar = strchr(at, '|');
        size_t at_len = bar == NULL ? strlen(at) : (size_t)(bar - at);

        if (at_len == len && memcmp(at, text, len) == 0)
            return place;
        at = bar == NULL ? NULL : bar + 1;
    }
    return -1;
}

HcclResult
hc_knob_enum(enum hc_knob knob, int *choice)
{
    const struct hc_knob_info *info = &table[knob];
    const char *text = hc_knob_str(knob);
    int place = choice_of(info->choices, text);

    if (place < 0) {
        *choice = choice_of(info->choices, info->def_text);
        LOG_ERROR(KNOB, "EI0001: %s is \"%s\"; set it to one of %s", info->env, text,
                  info->choices);
        return HCCL_E_PARA;
    }
    *choice = place;
    return HCCL_SUCCESS;
}

enum hc_log_level
hc_knob_log_level(void)
{
    const struct hc_knob_info *info = &table[KNOB_LOG_LEVEL];
    const char *vendor = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    int place = choice_of(info->choices, hc_knob_str(KNOB_LOG_LEVEL));

    if (getenv(info->env) == NULL && vendor != NULL && vendor[0] >= '0' && vendor[0] <= '4' &&
        vendor[1] == '\0')
        return (enum hc_log_level)(vendor[0] - '0');
    return place < 0 ? HC_LOG_WARN : (enum hc_log_level)place;
}
