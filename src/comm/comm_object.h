/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_object: one rank's view of a communicator (inside this layer only).
 *
 * O1  A communicator lives while its handle is open or somebody holds it; the last one out frees
 *     what it owns: threads first (they drain), then the guest, then channels, then memory.
 * O2  `lock` protects the lists below and is held for moments; `acquiring` is held while channels
 *     connect, and is taken before `lock`.
 * O3  Names: one communicator of a name on a device. The list of all is under registry.c's lock,
 *     which is taken last of all.
 * O4  All notifies of a communicator share one fate. It breaks when a wait or a transfer of this
 * rank was in vain because a peer is gone or has failed; then every such wait ends, and the
 * channels are aborted with the reason, which is how the peers learn of it. It breaks on any thread
 * that holds no lock of this layer but `acquiring`, because aborting takes `lock`. It is disowned
 *     before anything else of the communicator ends.
 */
#ifndef HC_COMM_COMM_OBJECT_H
#define HC_COMM_COMM_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "comm/comm.h"
#include "comm/config.h"
#include "comm/world.h"
#include "resource/resource.h"
#include "runtime/runtime.h"

#define COMM_TAG_MOST 254u
#define COMM_WHY_LEN 320u /* a reason for a failure, as people read it */
#define COMM_THREADS_MOST 200u
#define EXCHANGE_MOST 2048u /* bytes that ranks tell each other with their channels */

struct comm_thread {
    ThreadHandle handle;
    uint32_t notify_num;
};

/* A thread that wraps somebody's stream. */
struct comm_wrap {
    struct hc_list in_comm;
    aclrtStream stream;
    struct comm_thread thread;
};

enum comm_pool_kind { POOL_CPU, POOL_CPU_TS, POOL_AICPU, POOL_KINDS };

struct comm_pool {
    struct comm_thread *threads; /* [room], `num` are there */
    uint32_t num, room;
};

/* Memory the communicator was told of (tag from the caller) or made (DevMem). */
struct comm_memory {
    struct hc_list in_comm;
    CommMem mem;
    uint64_t lease; /* tp_lease_begin's, of memory that is offered to peers; 0: it is not */
    bool owned;     /* rt_mem_free it */
    char tag[COMM_TAG_MOST + 2];
};

struct comm_buffer;
struct comm_graph;
struct comm_parts; /* sub_comm.c */
struct claim;

/* What a layer above keeps with the communicator; guest.c. */
struct comm_guest {
    pthread_mutex_t making; /* one make() at a time; taken before `lock`, held meanwhile */
    const struct comm_guest_ops *ops; /* set before `own` is */
    _Atomic(void *) own;              /* NULL: not made (yet); set once */
    atomic_bool cut, failed;          /* it has been told */
    struct hc_list links;             /* of struct guest_link; under the communicator's `lock` */
};

struct comm {
    HcclComm handle; /* these are set once */
    char name[COMM_NAME_MAX_LENGTH];
    int32_t device;
    uint32_t rank;
    struct comm_world *world;
    HcclCommConfig config;
    char *terms; /* what all ranks must give alike, checked when they meet; NULL: nothing */
    struct res_ctx_set *contexts;
    struct rt_fate *fate;  /* O4 */
    struct claim *claim;   /* of a rank table's rank; until it is shut */
    atomic_bool suspended; /* since HcclCommSuspend: operations fail; read with the guest */
    struct comm_guest guest;
    _Atomic(void *) attached; /* of the collectives; set once, after: */
    void (*attached_fini)(void *own);
    bool locked_name; /* prim_comm_add has been called */
    bool outside;     /* rt_outside_add(1) has been called */

    struct hc_list in_registry; /* O3 */
    bool reserved;              /* in the registry, but not yet open; O3 */

    atomic_bool closing;       /* HcclCommDestroy has begun */
    pthread_mutex_t acquiring; /* O2 */
    pthread_mutex_t lock;      /* O2; what follows is under it */
    struct comm_buffer *buffer;
    struct hc_list memories;   /* of struct comm_memory: HcclCommMemReg */
    struct hc_list workspaces; /* of struct comm_memory: HcclDevMemAcquire */
    struct comm_pool pools[POOL_KINDS];
    struct hc_list wraps;            /* of struct comm_wrap */
    struct comm_thread launch;       /* HCCL_DED_THREAD_TYPE_AICPU_LAUNCH; handle 0: not there */
    uint32_t thread_num, notify_num; /* of all threads, against the quotas */
    struct hc_list channels;         /* of struct comm_channel */
    struct hc_list connecting;       /* of struct comm_channel: not yet connected */
    void *info; /* [info_len]: for the peers of the next channels; NULL: nothing */
    uint32_t info_len;
    struct hc_list infos;     /* of struct comm_info: from peers */
    uint64_t kernels;         /* rt_kernels_open's, of op_launch.c; 0: none yet. Then constant */
    struct hc_list tasks;     /* of struct comm_task */
    struct comm_graph *graph; /* NULL: nobody has asked */
    struct comm_parts *parts; /* NULL: none has been made */
};

/* ---- comm.c ---- */

struct comm_desc {
    struct comm_world *world; /* the new communicator holds it */
    uint32_t rank;
    const HcclCommConfig *config;
    const char *name;    /* NULL: the config's, else the world's id */
    const char *terms;   /* NULL: none; copied */
    struct claim *claim; /* NULL: none; the new communicator's, when it is made */
};

HcclResult comm_create(const struct comm_desc *desc, HcclComm *handle);

/* A blocking join through `info`. */
HcclResult comm_join(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank,
                     const HcclCommConfig *config, HcclComm *handle);

/* One communicator on each device; `handles` only on success. */
HcclResult comm_create_all(const int32_t *devices, uint32_t num, HcclComm *handles);

/* The rank by which a rank's place is named to its peers: a part's is its parent's. */
uint32_t comm_number(const struct comm *comm, uint32_t rank);

/* Operations fail from now on. */
HcclResult comm_suspend(HcclComm handle);
/* HCCL_E_REMOTE (logged): its fate has broken; or what a callback answers. */
HcclResult comm_resume(HcclComm handle);

/* HCCL_E_AGAIN (logged): tasks are under way. HCCL_E_PARA (logged): not a live communicator. */
HcclResult comm_destroy(HcclComm handle);

/* ---- sub_comm.c ---- */

struct sub_comm_desc {
    const uint32_t *ranks; /* [num]: of the parent */
    uint32_t num;
    uint64_t id;
    uint32_t rank; /* of the new communicator */
    const HcclCommConfig *config;
};

/* HCCL_E_NOT_SUPPORT (logged): `parent` is a part itself. HCCL_E_PARA (logged): a number or name is
 * wrong. */
HcclResult sub_comm_create(struct comm *parent, const struct sub_comm_desc *desc, HcclComm *handle);
void sub_comm_forget(struct comm_parts *parts); /* NULL is fine */

/* ---- registry.c ---- */

/* HCCL_E_PARA (logged): the device has one of that name. */
HcclResult registry_add(struct comm *comm);
void registry_publish(struct comm *comm);
void registry_remove(struct comm *comm); /* fine when it is not in */

/* On `device` first (< 0: none), else anywhere; NULL: no such name. Not held. */
HcclComm registry_find(const char *name, int32_t device);

/* Rank `rank` of the same communicator, if it lives in this process; NULL: it does not. Not held.
 */
HcclComm registry_peer(const struct comm *comm, uint32_t rank);

/* HCCL_E_PARA (logged): the device has one of that name already. */
HcclResult registry_check(const char *name, int32_t device);

/* ---- callbacks.c: HcclCommRegCommStateCallback ---- */

HcclResult callbacks_run(HcclComm handle, int phase);

/* ---- threads.c ---- */

/* Threads are drained and gone. */
void threads_fini(struct comm *comm);

/* Nothing is queued or running on any thread of the communicator. */
bool threads_idle(struct comm *comm);

/* The first failure of a task on a thread of the communicator; HCCL_SUCCESS: none. */
HcclResult threads_health(struct comm *comm);

/* The first `num` threads of the pool of `engine`, each with at least notify_nums[i] notifies. */
HcclResult threads_acquire(struct comm *comm, CommEngine engine, uint32_t num,
                           const uint32_t *notify_nums, ThreadHandle *threads);
HcclResult threads_wrap(struct comm *comm, CommEngine engine, aclrtStream stream,
                        uint32_t notify_num, ThreadHandle *thread);
HcclResult threads_launch(struct comm *comm, uint32_t notify_num, ThreadHandle *thread);
ThreadHandle threads_launch_peek(struct comm *comm); /* 0: not made yet */
bool threads_know(struct comm *comm, ThreadHandle thread);

/* ---- channels.c ---- */

struct comm_channel; /* channels.h */
void channels_fini(struct comm *comm);

/* Ends what waits for peers: the waiting call returns an error. */
void channels_cut(struct comm *comm);

/* Tells all peers that this rank cannot go on, and why. */
void channels_abort(struct comm *comm, const char *why);

/* One that `is` says true of, among these and those that the guest keeps; `why` [len] is its. */
typedef bool (*comm_channel_is)(ChannelHandle channel, char *why, size_t len);
bool channels_any(struct comm *comm, comm_channel_is is, char *why, size_t len);

/* ---- guest.c ---- */

void guest_init(struct comm *comm);
void guest_fini(struct comm *comm);
bool guest_idle(struct comm *comm);
void guest_cut(struct comm *comm);
void guest_failed(struct comm *comm, const char *why);

/* As channels_any, of the channels that the guest keeps alone. */
bool guest_any(struct comm *comm, comm_channel_is is, char *why, size_t len);

/* ---- memory.c ---- */

void memory_fini(struct comm *comm);
HcclResult memory_register(struct comm *comm, const char *tag, const CommMem *mem, void **handle);
HcclResult memory_workspace(struct comm *comm, const char *tag, uint64_t *size, void **addr,
                            bool *made);
/* What `handle` from memory_register stands for, copied. HCCL_E_PARA (logged). */
HcclResult memory_region(struct comm *comm, const void *handle, struct res_region *region);

/* ---- ranges.c: HCCL_E_PARA (logged): M1, or nothing starts there ---- */

HcclResult ranges_set(struct comm *comm, const void *base, uint64_t size);
HcclResult ranges_unset(struct comm *comm, const void *base);
HcclResult ranges_activate(struct comm *comm, const void *addr, uint64_t size);
HcclResult ranges_deactivate(struct comm *comm, const void *addr);
void ranges_fini(const struct comm *comm); /* M2 */

/* ---- exchange.c ---- */

void exchange_fini(struct comm *comm);
HcclResult exchange_add(struct comm *comm, const void *data, uint32_t len);
HcclResult exchange_get(struct comm *comm, uint32_t peer, uint32_t len, void *data,
                        uint32_t *actual);
/* What was added, copied; its length. */
uint32_t exchange_peek(struct comm *comm, uint8_t data[EXCHANGE_MOST]);
void exchange_reset(struct comm *comm);
HcclResult exchange_received(struct comm *comm, uint32_t peer, const void *data, uint32_t len);
typedef int32_t (*comm_task_fn)(uint64_t addr, int32_t len);
HcclResult exchange_task_set(struct comm *comm, const char *tag, comm_task_fn callback);
HcclResult exchange_task_remove(struct comm *comm, const char *tag);

/* ---- rank_graph.c ---- */

void graph_destroy(struct comm_graph *graph); /* NULL is fine */

#endif
