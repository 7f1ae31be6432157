/* SPDX-License-Identifier: BSD-3-Clause */
/* quick: one short message, without ceremony (inside this layer only). */
#ifndef HC_P2P_QUICK_H
#define HC_P2P_QUICK_H

#include "p2p/engine.h"

/* As HcommSend and HcommRecv got them; nothing is checked yet. */
struct quick {
    HcclComm comm;
    void *buf; /* sends only read it */
    uint64_t count;
    int type;
    uint32_t peer, tag;
    HcommRecvInfo *info;
};

/* true: it is done. false: nothing was done, go the long way. */
bool quick_send(const struct quick *quick);
bool quick_recv(const struct quick *quick);

#endif
