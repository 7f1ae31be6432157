/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * knobs: the one table of what a user can turn (knobs.def), read from the environment.
 *
 * A reader looks at the environment at every call, so a knob is copied where it is needed (at
 * device start, at communicator init), never read on a hot path. An invalid value is an error
 * that names the variable, the value and what was expected; the out value is then the default.
 */
#ifndef HC_BASE_KNOBS_H
#define HC_BASE_KNOBS_H

#include <stdint.h>

#include "base/log.h"
#include "hccl/hccl_types.h"

enum hc_knob {
#define KNOB_INT(name, env, def, least, most, unit, doc) KNOB_##name,
#define KNOB_STR(name, env, def, doc) KNOB_##name,
#define KNOB_ENUM(name, env, def, choices, doc) KNOB_##name,
#include "base/knobs.def"
#undef KNOB_INT
#undef KNOB_STR
#undef KNOB_ENUM
    KNOB_COUNT
};

enum hc_knob_kind { HC_KNOB_INT, HC_KNOB_STR, HC_KNOB_ENUM };

struct hc_knob_info {
    const char *name;
    const char *env;
    enum hc_knob_kind kind;
    int64_t def_int, least, most; /* HC_KNOB_INT */
    const char *def_text;         /* HC_KNOB_STR, HC_KNOB_ENUM */
    const char *choices;          /* HC_KNOB_ENUM: "a|b|c" */
    const char *unit;
    const char *doc;
};

const struct hc_knob_info *hc_knob_info(enum hc_knob knob);

/* HCCL_E_PARA (logged, EI0001): the variable holds something else than a number in range. */
HcclResult hc_knob_int(enum hc_knob knob, int64_t *value);

/* How long ranks wait for each other: HCOMM_CONNECT_TIMEOUT, or HCCL_CONNECT_TIMEOUT. As
 * hc_knob_int. */
HcclResult hc_knob_connect_ms(int64_t *timeout_ms);

/* As hc_knob_int; `*choice` is the place in the list of choices, from 0. */
HcclResult hc_knob_enum(enum hc_knob knob, int *choice);

/* The environment's text or the default; never NULL. */
const char *hc_knob_str(enum hc_knob knob);

/* For log.c alone: never logs. */
enum hc_log_level hc_knob_log_level(void);

#endif
