/* SPDX-License-Identifier: BSD-3-Clause */
/* fate: what notifies need of it (inside this layer only). */
#ifndef HC_RUNTIME_FATE_H
#define HC_RUNTIME_FATE_H

#include "runtime/notify.h"

#define RT_DOING_LEN 160u
#define RT_FATE_WHY 400u /* bytes of a reason, with its end */

/* Puts the notify under its fate, which gets a hold, and takes it away. No fate: nothing. */
void rt_fate_join(struct rt_notify *notify);
void rt_fate_part(struct rt_notify *notify);

/* What rt_fate_set_doing() says, or "". NULL: "". */
void rt_fate_doing(struct rt_fate *fate, char *text, size_t len);

/* One load. NULL: no. */
bool rt_fate_is_broken(struct rt_fate *fate);

#endif
