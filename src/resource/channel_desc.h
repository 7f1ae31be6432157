/* SPDX-License-Identifier: BSD-3-Clause */
/* channel_desc: from the caller's HcommChannelDesc to a channel of an endpoint (inside this layer).
 */
#ifndef HC_RESOURCE_CHANNEL_DESC_H
#define HC_RESOURCE_CHANNEL_DESC_H

#include "hcomm/hcomm_channel.h"
#include "resource/endpoint.h"

/* The description in the present layout, whatever version the caller was compiled with; *size:
 * bytes from it to the next in an array. HCCL_E_PARA (logged): no HcommChannelDescInit was here. */
HcclResult res_channel_desc_read(const HcommChannelDesc *given, HcommChannelDesc *desc,
                                 uint32_t *size);

HcclResult res_channel_of_endpoint(struct res_endpoint *endpoint, CommEngine engine,
                                   const HcommChannelDesc *desc, ChannelHandle *channel);

#endif
