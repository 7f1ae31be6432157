/* SPDX-License-Identifier: BSD-3-Clause */
/* listen: see listen.c (inside this layer only). */
#ifndef HC_TRANSPORT_LISTEN_H
#define HC_TRANSPORT_LISTEN_H

#include <stdint.h>

#include "transport/transport.h"

/* As tp_listen(), on any thread: the environment is not looked at. */
HcclResult listen_address(struct tp_address *address);

/* How many have been turned away so far. */
uint32_t listen_strangers(void);

/* A connection that somebody made to this process; takes over `fd`, also when it fails. On the
 * service thread, or before that runs. */
void listen_take(int fd);

#endif
