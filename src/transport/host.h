/* SPDX-License-Identifier: BSD-3-Clause */
/* host: what the layer above told of the process (inside this layer only). */
#ifndef HC_TRANSPORT_HOST_H
#define HC_TRANSPORT_HOST_H

#include "transport/transport.h"

/* Never NULL; before tp_set_host there are no shared files and nobody to wake. */
const struct tp_host *host_get(void);

#endif
