/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p: the door of point to point. What it does is public (api_*.c); layers above use the public
 * functions.
 */
#ifndef HC_P2P_P2P_H
#define HC_P2P_P2P_H

#include <stdbool.h>

#include "hcomm/hcomm_p2p.h"

/* Messages with tags from here on are part of a collective: if one fails that is queued, that
 * breaks the communicator's fate, since the peers wait for what would follow. */
#define P2P_TAG_COLLECTIVE 0xC0000000u

/* From here on messages about what the calling thread sends and receives with these functions begin
 * with `function`, which stays, in place of their names; NULL: with their names. */
const char *p2p_set_caller(const char *function); /* the one before */

/* As HcommSend on the calling thread, of bytes, if the message can go at once, whatever its
 * receiver does. false: nothing was done, nor looked at closely; HcommBatch and the like do it. */
bool p2p_send_at_once(const void *buf, uint64_t len, uint32_t dst, uint32_t tag, HcclComm comm);

#endif
