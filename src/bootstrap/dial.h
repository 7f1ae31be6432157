/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dial: a rank joins a root in another process, over TCP.
 */
#ifndef HC_BOOTSTRAP_DIAL_H
#define HC_BOOTSTRAP_DIAL_H

#include "bootstrap/rootinfo.h"

/* Blocks. `grace_ms`: how much longer than the hello's timeout to wait for the root, which knows
 * who is missing, to say so. Errors as bs_join. */
HcclResult dial_join(const struct root_info *info, const struct wire_hello *hello, int64_t grace_ms,
                     struct bs_table **table);

#endif
