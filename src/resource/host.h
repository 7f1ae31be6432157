/* SPDX-License-Identifier: BSD-3-Clause */
/* host: what transports must know of the runtime, and the other way round (inside this layer only).
 */
#ifndef HC_RESOURCE_HOST_H
#define HC_RESOURCE_HOST_H

/* Tells them, once; called before anything of theirs is used. */
void res_host_ready(void);

#endif
