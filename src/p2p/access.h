/* SPDX-License-Identifier: BSD-3-Clause */
/* access: what one call does to the memory of a window (inside this layer only). */
#ifndef HC_P2P_ACCESS_H
#define HC_P2P_ACCESS_H

#include "p2p/window.h"

enum access_kind {
    ACCESS_PUT,
    ACCESS_GET,
    ACCESS_ACCUMULATE,
    ACCESS_FETCH,
    ACCESS_SWAP,
    ACCESS_FLUSH,
};

#define ACCESS_NO_NOTIFY 0xFFu
#define ACCESS_WHY_LEN (P2P_WHY_LEN + 160u)

/* Small, because a queued one lies in its task. */
struct access {
    struct window *window; /* held */
    void *local;           /* GET: to there; PUT, ACCUMULATE, FETCH, SWAP: from there, only read */
    uint64_t offset;
    union {
        uint64_t len; /* PUT, GET, ACCUMULATE: bytes */
        void *result; /* FETCH, SWAP: one element */
    };
    union {
        uint64_t done;       /* ACCUMULATE: bytes */
        const void *compare; /* SWAP: one element */
    };
    uint32_t rank; /* FLUSH: or HCOMM_ANY_RANK */
    uint8_t kind, type, op;
    uint8_t notify; /* PUT: to be recorded; ACCESS_NO_NOTIFY: none */
};

/* As a public function has it. */
struct access_call {
    const char *function;
    HcommWindow window;
    struct access access; /* without window, type, op, len */
    uint64_t count;       /* PUT, GET, ACCUMULATE: elements */
    int type, op;
    uint32_t notify; /* ACCESS_PUT: or UINT32_MAX */
    aclrtStream stream;
};

/* ---- access.c ---- */

/* Checks it, then does or queues it. The common results (logged). */
HcclResult access_do(struct access_call *call);

/* A transfer to memory that cannot be mapped has failed: says why. */
HcclResult access_far_failed(const struct access *access, HcclResult rc, char *why, size_t len);

/* ---- access_check.c ---- */

/* Fills in the rest of call->access, whose window is entered. HCCL_E_PTR, HCCL_E_PARA (logged). */
HcclResult access_check(struct access_call *call);

/* ---- access_short.c ---- */

/* A put or get on the calling thread, if all is as it mostly is; false: nothing was done, and
 * access_do() tells what is to be said. */
bool access_short_put(HcommWindow window, uint32_t rank, uint64_t offset, const void *src,
                      uint64_t count, int type);
bool access_short_get(HcommWindow window, uint32_t rank, uint64_t offset, void *dst, uint64_t count,
                      int type);
bool access_short_notify(HcommWindow window, uint32_t rank, uint64_t offset, const void *src,
                         uint64_t count, int type, uint32_t notify);
bool access_short_update(struct access_call *call); /* ACCUMULATE, FETCH, SWAP */

/* ---- atomic.c ---- */

/* One step; HCCL_E_AGAIN: a lock is taken, and `patient` was false. HCCL_E_REMOTE, HCCL_E_TIMEOUT,
 * HCCL_E_PARA: `why` [len] says what happened. */
HcclResult atomic_accumulate(struct access *access, bool patient, char *why, size_t len);
bool atomic_try(struct access *access); /* both, in mapped memory: false: it is not to be had at
                                         * once, and nothing was done */
HcclResult atomic_exchange_one(struct access *access, bool patient, char *why, size_t len);

#endif
