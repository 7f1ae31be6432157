/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_sided: the standard one-sided services of a communicator (inside this layer only).
 *
 *     one_sided.c         a rank's side of it; memory that it registered for a peer
 *     one_sided_far.c     memory of peers: known, enabled, mapped
 *     one_sided_swap.c    letters that two ranks swap
 *     one_sided_tell.c    what is in them: ExchangeMemDesc and CommPrepare
 *     one_sided_global.c  memory registered for the process, and bound to communicators
 *     one_sided_batch.c   put and get, as tasks
 *     api_one_sided.c     the public functions
 *
 * Whatever way a peer's memory became known, it is named by addresses of its owner's process, in
 * what HcclEnableMemAccess tells and in what HcclBatchPut and HcclBatchGet take; here they are
 * translated. So there is one space of addresses for each peer and nothing can be mixed up.
 *
 * S1  All fields are under one_sided.lock unless they say otherwise. The transport may be called
 *     under it (to map); a lease is ended without it, because that waits for transfers. Over it is
 *     nothing; below it is the lock of one_sided_global.c.
 * S2  A struct one_far lives while it is in its peer's list or a batch uses it; what is mapped for
 *     it is given back with it. A batch holds struct p2p, so the connection outlives the mapping.
 * S3  A letter of a peer is taken from the messages once. If the swap fails nevertheless, it is
 *     kept for the next attempt, because the peer may have succeeded and will not send it again.
 *     Letters are numbered by successful swaps: what an attempt that failed here left on its way to
 *     a peer that succeeded is recognised there by its old number, and dropped.
 */
#ifndef HC_P2P_ONE_SIDED_H
#define HC_P2P_ONE_SIDED_H

#include "hccl/hccl_one_sided_services.h"
#include "p2p/engine.h"

#define ONE_SIDED_MOST 256u /* memories of a connection in each direction; pieces of a batch */

/* Tags of P2P_INTERNAL messages. */
#define ONE_SIDED_TAG_EXCHANGE 0x4F530001u
#define ONE_SIDED_TAG_PREPARE 0x4F530002u

/* What a description tells of memory. Travels as it is. */
struct one_record {
    uint64_t magic; /* ONE_SIDED_MAGIC: the record is ours, not a program's own text */
    struct tp_region region;
    int32_t type; /* CommMemType */
    uint32_t reserved;
};

/* HcclMemDesc, as this library fills it in. */
struct one_desc {
    uint32_t owner, peer; /* ranks */
    struct one_record record;
    uint8_t rest[512 - 8 - sizeof(struct one_record)]; /* zero */
};
_Static_assert(sizeof(struct one_desc) == sizeof(HcclMemDesc), "a description is 512 bytes");

/* Memory that this rank has registered for one peer. */
struct one_own {
    struct hc_list in_peer;
    CommMem mem;
    uint64_t lease;
    uint64_t registrations;
    struct one_desc desc;
};

/* Memory of a peer. */
struct one_far {
    struct hc_list in_peer;
    _Atomic uint32_t refs; /* S2 */
    struct p2p_pair *pair; /* fixed, as the next two */
    struct one_desc desc;
    bool bound;       /* by its owner: enabled for ever */
    uint64_t enabled; /* times */
    void *local;      /* region as an address here; NULL: not mapped */
    bool reached;     /* `local` is due for unreach() */
};

/* One kind of letter with one peer. */
struct one_mail {
    uint32_t number; /* of the swap; S3 */
    bool sent;       /* in an attempt that failed */
    void *kept;      /* the peer's letter, taken; NULL: none */
    uint64_t kept_len;
};

struct one_peer {
    uint32_t rank;
    struct hc_list own, far; /* of struct one_own, struct one_far */
    uint32_t own_num, far_num;
    struct one_mail exchange, prepare; /* touched without the lock by the thread that swaps alone */
    bool exchanging;                   /* a thread does */
    bool met;                          /* an exchange has succeeded */
};

/* A rank's side, kept with its struct p2p. */
struct one_sided {
    struct p2p *p2p; /* fixed */
    pthread_mutex_t lock;
    struct one_peer **peers; /* [rank_num]; NULL: not wanted yet */
    struct hc_list bound;    /* of struct one_bound: one_sided_global.c */
    uint32_t bound_num;
    bool told;          /* the peers have been told, or are being told, what is bound */
    bool prepared;      /* HcclCommPrepare has succeeded */
    bool preparing;     /* a thread is in it */
    void *announcement; /* what they are told; NULL: not written yet */
    uint64_t announcement_len;
};

/* ---- one_sided.c ---- */

/* The state of a communicator, made at first need, and its p2p held. HCCL_E_MEMORY; as p2p_hold. */
HcclResult one_sided_hold(HcclComm comm, struct one_sided **os);

/* Ends everything: leases, mappings, bindings. Before pairs_fini(). NULL inside is fine. */
void one_sided_fini(struct p2p *p2p);

/* The state of a peer, made at first need; NULL: no memory (logged). Under the lock. */
struct one_peer *one_sided_peer(struct one_sided *os, uint32_t rank);

/* Its way, once connected; else NULL. */
struct p2p_pair *one_sided_pair(struct one_sided *os, uint32_t rank);

/* HCCL_E_PARA (logged): no such rank, or it is this one. */
HcclResult one_sided_rank_check(const struct one_sided *os, uint32_t rank, const char *function);

/* Whether memory can be offered: HCCL_E_PTR, HCCL_E_PARA (logged). */
HcclResult one_sided_check(const char *function, const CommMem *mem);

HcclResult one_sided_register(struct one_sided *os, uint32_t rank, const CommMem *mem,
                              HcclMemDesc *desc);
HcclResult one_sided_deregister(struct one_sided *os, const HcclMemDesc *desc);

/* Whether [addr, addr + len) is in memory registered for the peer, or bound. Under the lock. */
bool one_sided_is_own(struct one_sided *os, const struct one_peer *peer, const void *addr,
                      uint64_t len);

/* HCCL_E_NOT_SUPPORT (logged): what is registered of `mem` is no longer the memory that peers were
 * told of. */
HcclResult one_sided_remapped(struct one_sided *os, const CommMem *mem);

/* HCCL_E_MEMORY (logged). */
HcclResult one_sided_record(struct one_record *record, const CommMem *mem, uint64_t lease);

/* Whether another process wrote a record that can be used. */
bool one_sided_record_valid(const struct one_record *record);

/* ---- one_sided_far.c; under the lock ---- */

/* A peer has told of memory; nothing changes if it is known. HCCL_E_PARA (logged): too many;
 * HCCL_E_MEMORY. */
HcclResult one_far_learn(struct one_peer *peer, struct p2p_pair *pair, const struct one_desc *desc,
                         bool bound);
void one_far_release(struct one_far *far); /* also without the lock */
void one_far_forget(struct one_peer *peer, struct one_far *far);

HcclResult one_far_enable(struct one_sided *os, const HcclMemDesc *desc, CommMem *mem);
HcclResult one_far_disable(struct one_sided *os, const HcclMemDesc *desc);

/* The usable memory that holds [addr, addr + len) of the peer's process, mapped; *local: where that
 * is here. HCCL_E_PARA (logged): in none; HCCL_E_REMOTE. The caller releases it. */
HcclResult one_far_find(struct one_peer *peer, const char *function, const void *addr, uint64_t len,
                        struct one_far **far, void **local);

/* ---- one_sided_swap.c ---- */

/* A letter begins with it. */
struct one_head {
    uint32_t magic;
    uint32_t number;  /* S3 */
    uint32_t count;   /* of what follows */
    uint32_t refused; /* 1: its sender fails, and so must the receiver */
};

struct one_letter {
    uint32_t peer;
    struct one_mail *mail; /* the caller's alone; `kept` holds the peer's letter, on success */
    const void *out;       /* [out_len]; begins with a struct one_head */
    uint64_t out_len;
};

void one_head_fill(struct one_head *head, const struct one_mail *mail, uint32_t count,
                   bool refused);

/* Swaps letters with `num` peers, each of at most `most` bytes. HCCL_E_TIMEOUT, HCCL_E_REMOTE,
 * HCCL_E_MEMORY, HCCL_E_INTERNAL (logged). */
HcclResult one_sided_swap(struct one_sided *os, const char *function, uint32_t tag,
                          struct one_letter *letters, uint32_t num, uint64_t most, int timeout_s);

/* After success, or never to come: forgets the peer's letter. */
void one_mail_done(struct one_mail *mail);

/* ---- one_sided_tell.c ---- */

HcclResult one_sided_exchange(struct one_sided *os, uint32_t rank, const HcclMemDescs *local,
                              int timeout_s, HcclMemDescs *remote, u32 *actual);
HcclResult one_sided_prepare(struct one_sided *os, int timeout_s);

/* ---- one_sided_global.c ---- */

struct global_memory;

struct one_bound {
    struct hc_list in_os;
    struct global_memory *memory; /* open meanwhile */
    const void *handle;           /* of it */
    CommMem mem;
    uint64_t lease;
    struct one_record record;
};

HcclResult global_register(const CommMem *mem, void **handle);
HcclResult global_deregister(void *handle);
HcclResult global_bind(struct one_sided *os, void *handle);
HcclResult global_unbind(struct one_sided *os, void *handle);
void global_unbind_all(struct one_sided *os);

/* ---- one_sided_batch.c ---- */

HcclResult one_sided_batch(struct one_sided *os, const char *function, bool put, uint32_t rank,
                           const HcclOneSideOpDesc *descs, uint32_t num, aclrtStream stream);

#endif
