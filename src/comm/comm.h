/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm: the door of the communicator. Who the ranks are, what they own together, what wires them.
 */
#ifndef HC_COMM_COMM_H
#define HC_COMM_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "hccl/hccl_comm.h"
#include "resource/resource.h"

struct comm;

#define COMM_NOT_TOLD UINT32_MAX
#define COMM_NETS 8u /* network layers that a rank table can tell of */

/* What every rank knows of every other. Travels as it is: all ranks run the same library version,
 * which bootstrap checks. */
struct comm_fact {
    struct tp_address address; /* of its process; process 0: nobody told, it is found by meeting */
    uint64_t process;          /* hc_process_id(): as address.process */
    uint64_t host;             /* equal on one host, and only there */
    uint32_t pid;
    int32_t device;           /* of that process */
    uint32_t physical;        /* id of the device on its server */
    uint32_t place;           /* of the device among those of its server; wiring follows from it */
    uint32_t super_device;    /* id in the super pod; COMM_NOT_TOLD */
    uint32_t nets_told;       /* 1: `nets` are all the layers there are; 0: the SoC's usual ones */
    uint64_t nets[COMM_NETS]; /* instance in each network layer, equal at its members; 0: none */
    uint32_t soc_generation;  /* enum rt_soc */
    char soc[32];
    char host_name[64];
};

/* HCCL_E_NOT_SUPPORT, after one message that names `function`. */
HcclResult comm_unsupported(const char *function);

/* HCCL_E_PTR, after one message, when `ptr` is NULL. */
HcclResult comm_need(const void *ptr, const char *function, const char *what);

/* The communicator behind a handle, held. HCCL_E_PTR (logged): NULL; HCCL_E_PARA (logged): not a
 * live communicator; HCCL_E_INTERNAL (logged): a forked child. */
HcclResult comm_hold(HcclComm handle, struct comm **comm);
/* Rank `rank` of the same communicator in this process, held, and nothing said; NULL: it is not
 * here (any more). */
struct comm *comm_hold_peer(const struct comm *comm, uint32_t rank);
/* Rank `rank` was in this process and has destroyed its communicator. A part's rank that is not
 * there may be yet to come. */
bool comm_peer_left(const struct comm *comm, uint32_t rank);
/* A rank has died or given up, as channels to it tell; `why` [len] says so. */
bool comm_peer_failed(struct comm *comm, char *why, size_t len);
void comm_hold_more(struct comm *comm); /* for somebody who has a hold */
void comm_release(struct comm *comm);

HcclComm comm_handle(const struct comm *comm);
const char *comm_name(const struct comm *comm);
uint32_t comm_rank(const struct comm *comm);
uint32_t comm_rank_num(const struct comm *comm);
int32_t comm_device(const struct comm *comm);
int64_t comm_exec_timeout_s(const struct comm *comm); /* 0: none */
/* HCCL_ALGO's form: the config's text, else the environment's; "": none. */
const char *comm_algo(const struct comm *comm);
/* 0: reductions may differ from run to run; 1: they may not; 2: nor from what a strict order of
 * ranks gives. The config's, else the environment's, else what HcclSetConfig says now. */
int32_t comm_deterministic(const struct comm *comm);
/* HCCL_OP_EXPANSION_MODE_HOST_TS if the host was asked for, else _AI_CPU: there are no others. The
 * config's 1 or 2, else HCOMM_COLL_ENGINE, else the config's, else HCCL_OP_EXPANSION_MODE. */
HcclOpExpansionMode comm_op_expansion(const struct comm *comm);
/* Every field is set but hcclDeterministic, for which see comm_deterministic(); strings are
 * terminated. */
const HcclCommConfig *comm_config(const struct comm *comm);
const struct comm_fact *comm_fact(const struct comm *comm, uint32_t rank);

/* HCCL_E_SUSPENDING (logged, names `function`): HcclCommSuspend has been called, HcclCommResume has
 * not. Else one load. Every operation asks; what only looks or cleans up does not. */
HcclResult comm_check_running(const struct comm *comm, const char *function);

/* Rank `rank` lives in this process. */
bool comm_rank_is_here(const struct comm *comm, uint32_t rank);

/* HCCL_E_PARA (logged) when there is no such rank. */
HcclResult comm_rank_check(const struct comm *comm, uint32_t rank, const char *function);

/* The communicator's buffer, made at first need. HCCL_E_OOM (logged). */
HcclResult comm_buffer(struct comm *comm, void **addr, uint64_t *size);

/* ---- For a layer above that keeps something of its own with a communicator ------------------- */

/*
 * The guest of a communicator: exactly one, so all callers give the same table. What these do must
 * not let go of the last hold of the communicator.
 */
struct comm_guest_ops {
    /* At first need, once (again if it failed). Must not call comm_guest(). */
    HcclResult (*make)(struct comm *comm, void **guest);
    /* Nothing is queued or under way; HcclCommDestroy asks, and refuses for as long as there is. */
    bool (*idle)(void *guest);
    /* Destroy has begun: whatever waits ends with an error, new calls fail. At most once. */
    void (*cut)(void *guest);
    /* The fate has broken: whatever waits ends with an error. At most once; may run at the same
     * time as cut(), on any thread, and under no lock but `acquiring`. Channels of comm_connect()
     * are the guest's to abort. */
    void (*failed)(void *guest, const char *why);
    /* When nobody holds the communicator any more, before its channels and memory go. */
    void (*fini)(void *guest);
};

/* The guest, made at the first call. Later calls are one acquire load. HCCL_E_UNAVAIL (logged): the
 * communicator is being destroyed; or as make(). If the communicator ends or fails while the guest
 * is made, it is told right after. */
HcclResult comm_guest(struct comm *comm, const struct comm_guest_ops *ops, void **guest);

/* The same for another rank, which may be on its way out: then nothing is said. */
HcclResult comm_guest_of_peer(struct comm *peer, const struct comm_guest_ops *ops, void **guest);

/* The guest, for a moment: its communicator does not end before comm_leave_guest(). What one may do
 * meanwhile: base/guard.h. NULL: there is none, or the handle is not good, or no guard is to be
 * had, or the communicator is suspended: the slow way (comm_hold, comm_guest) tells. */
void *comm_enter_guest(HcclComm handle);
void comm_leave_guest(void);

/* What the collectives keep with the communicator: one object, attached once. `fini` gets it when
 * nobody holds the communicator any more and its threads have drained. */
void comm_attach(struct comm *comm, void *own, void (*fini)(void *own));
void *comm_attached(const struct comm *comm); /* NULL: none yet */

/* What its notifies, channels and transfers share. Lives while the communicator is held. */
struct rt_fate *comm_fate(const struct comm *comm);

/*
 * Starts connecting to another rank for `purpose` (both give the same, and once at a time for each
 * pair of ranks), offering `regions` [region_num]. Never blocks. The channel has no notifies; it is
 * the caller's to destroy, before the communicator ends. on_event, and that it connects in the
 * background: see struct res_channel_desc.
 */
HcclResult comm_connect(struct comm *comm, uint32_t peer, const char *purpose,
                        const struct res_region *regions, uint32_t region_num,
                        void (*on_event)(void *arg), void *arg, ChannelHandle *channel);

/* ---- Groups (HcclGroupStart), for operations of a layer above ------------------------------- */

/* The calling thread has started a group and not ended it. */
bool comm_group_open(void);

/* `end` will be called, once, by the outermost HcclGroupEnd of this thread, which returns what it
 * returns. All callers in one group give the same. HCCL_E_NOT_SUPPORT (logged): the group holds
 * inits or destroys, or another caller's operations. */
HcclResult comm_group_join(const char *function, HcclResult (*end)(void));

#endif
