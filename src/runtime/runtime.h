/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime: the door of the soft NPU. Devices, memory, streams of tasks, notifies, AICPU work.
 *
 * Upper layers queue tasks on streams and never run them; the scheduler (sched.c) runs every
 * stream in order on whichever thread drives: one that waits, or a pool worker. A task that
 * cannot go on parks its stream and costs nothing until somebody wakes it.
 *
 * Errors here are aclError, because the acl interface is this layer's face; rt_result() turns one
 * into the HcclResult of the layers above, once, where they call in.
 */
#ifndef HC_RUNTIME_RUNTIME_H
#define HC_RUNTIME_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"

/* ---- Errors -------------------------------------------------------------------------------- */

/* rt_fail(code, fmt, ...): log `fmt`, remember `code` as the thread's last error if it is a
 * runtime-layer code, return it. */
#define rt_fail(code, ...) rt_fail_at(__FILE__, __LINE__, code, __VA_ARGS__)
aclError rt_fail_at(const char *file, int line, aclError code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* As rt_fail without logging: the cause has been logged, or is no fault (a full table, a query). */
aclError rt_set_last_error(aclError code);

/* ACL_ERROR_RT_FEATURE_NOT_SUPPORT, after one message that names `function`. */
aclError rt_unsupported(const char *function);

HcclResult rt_result(aclError code);

/* ---- Devices and the calling thread --------------------------------------------------------- */

struct rt_context;
struct rt_graph;
struct rt_stream;

uint32_t rt_device_count(void);
const char *rt_soc_name(void);

/* Product generation, from the SoC name. */
enum rt_soc { RT_SOC_A2, RT_SOC_A3, RT_SOC_950 };
enum rt_soc rt_soc(void);

/* Device of the calling thread's current context; on an AICPU thread, the device that runs the
 * kernel. ACL_ERROR_RT_CONTEXT_NULL (logged): the thread never called aclrtSetDevice. */
aclError rt_current_device(int32_t *device);

/* As rt_current_device; -1, and nothing said, when there is none. */
int32_t rt_device_if_any(void);

/* true on a thread that runs an AICPU kernel. */
bool rt_on_aicpu(void);

/* The calling thread acts for an AICPU of `device` from here on; -1: it is an ordinary thread
 * again. */
void rt_context_set_aicpu(int32_t device);

/* Marks the process as using the library; false (logged) in a forked child. Called by every api_
 * function that keeps state. */
bool rt_enter(void);

/* ---- Memory ---------------------------------------------------------------------------------- */

enum rt_place {
    RT_PLACE_PAGEABLE,
    RT_PLACE_HOST,
    RT_PLACE_DEVICE,
    RT_PLACE_ELSEWHERE, /* stands for memory of another process: no address to load from */
};

struct rt_range {
    enum rt_place place;
    int32_t device; /* RT_PLACE_DEVICE */
    void *base;     /* of the allocation (or mapping, or registration) that holds the address */
    uint64_t size;
    bool mapped_host; /* host memory made visible to devices by aclrtHostRegister */
};

/* Device memory, zeroed, 512-byte aligned, pages appear when touched.
 * ACL_ERROR_RT_MEMORY_ALLOCATION (logged): the device's arena is full. */
aclError rt_mem_alloc(int32_t device, uint64_t size, void **ptr);

/* Frees what rt_mem_alloc gave; NULL is fine. ACL_ERROR_RT_PARAM_INVALID (logged): no such block.
 */
aclError rt_mem_free(void *ptr);

/* Where `ptr` lies. An address nobody registered is RT_PLACE_PAGEABLE with base and size 0; one in
 * device or pinned memory that is in no allocation (any more) keeps its place, with size 0. */
void rt_mem_find(const void *ptr, struct rt_range *range);

/*
 * As rt_mem_find, after checking that the allocation at `ptr`, if one is known, goes on for `len`
 * bytes (adjacent mappings count as one), that an address in an arena is in an allocation, and that
 * it is in no place ELSEWHERE.
 * ACL_ERROR_RT_PARAM_INVALID (logged: `function` and `what`, as in "aclrtMemcpy: the source").
 */
aclError rt_mem_check(const void *ptr, uint64_t len, const char *function, const char *what,
                      struct rt_range *range);

/* Whether `ptr`, which the runtime knows nothing of, lies in memory of another process' device that
 * is mapped here, or stands for memory of one that is not; then `range` says so. One hook. */
typedef bool (*rt_peer_memory_hook)(const void *ptr, struct rt_range *range);
void rt_set_peer_memory_hook(rt_peer_memory_hook hook);

/* ---- Tasks ------------------------------------------------------------------------------------
 */

struct rt_task;

enum rt_step {
    RT_STEP_DONE,   /* the task is over; the stream goes on */
    RT_STEP_PARKED, /* not yet: run() is called again after rt_stream_wake() or `park_deadline` */
    RT_STEP_FAILED, /* rt_stream_fail() has been called; the stream drops what is queued */
};

/*
 * What a task does. run() is called by one thread at a time, in stream order, never under a lock,
 * and must not block: it parks instead. It may be called again for no reason (spurious wake).
 */
struct rt_task_ops {
    const char *name;
    enum rt_step (*run)(struct rt_stream *stream, struct rt_task *task);
    /* Gives back what the task holds. Once for each task, after its last run() or instead of one
     * (`ran` false). NULL: nothing to give back. */
    void (*drop)(struct rt_task *task, bool ran);
    /* "wait for notify 3 (channel to rank 2)": what the task is, for people. NULL: `name`. */
    void (*describe)(const struct rt_task *task, char *text, size_t len);
    /* The task has been captured into `graph`: it will never run, only be cloned, and dropped
     * (`ran` false) in the end. Notes what clone() needs, gives back what only a queued task should
     * have. Under the capture lock. Failure (logged): the task is as it was. NULL: nothing to do.
     */
    aclError (*keep)(struct rt_task *task, struct rt_graph *graph);
    /* Fills in `copy`, a task that does once what the kept `task` stands for, with holds of its
     * own. Failure (logged): what it needs is gone, or there is no memory; `copy` holds nothing.
     * Any thread. NULL: tasks of this kind cannot be captured. */
    aclError (*clone)(const struct rt_task *task, struct rt_task *copy);
};

/* One cache line. `u` belongs to `ops`. */
struct rt_task {
    const struct rt_task_ops *ops;
    union {
        uint64_t word[7];
        struct {
            void *dst;
            const void *src;
            uint64_t len;
            uint64_t known; /* kept: as rt_memory_known() said */
        } copy;
        struct {
            void *dst;
            uint64_t len;
            uint64_t known; /* as above */
            int32_t value;
        } set;
        struct {
            void *obj;
            uint64_t arg[6];
        } call;
    } u;
};

_Static_assert(sizeof(struct rt_task) == 64, "a task is one cache line");

/* Around the part of run() that takes long (256 KiB and more): another executor may run what else
 * is ready. */
void rt_sched_long_begin(void);
void rt_sched_long_end(void);

/* Fills in a task that copies `len` bytes, or sets them. */
void rt_task_copy(struct rt_task *task, void *dst, const void *src, uint64_t len);
void rt_task_set(struct rt_task *task, void *dst, int32_t value, uint64_t len);

/* A clone() for tasks that hold nothing and name no memory. */
aclError rt_task_clone(const struct rt_task *task, struct rt_task *copy);

/*
 * For keep() and clone() of tasks that touch memory. known() notes which of the two addresses are
 * memory that the runtime knows. still() says whether the `len` bytes at each are what they were.
 * ACL_ERROR_RT_PARAM_INVALID (logged): one has been freed, unmapped or unregistered meanwhile.
 */
uint64_t rt_memory_known(const void *dst, const void *src);
aclError rt_memory_still(uint64_t known, const void *dst, const void *src, uint64_t len);

/* ---- Captures ---------------------------------------------------------------------------------
 */

/* Before the host's wait for `notify` on `stream`: if a capture goes on that has recorded it and
 * nobody waited for it there, the stream joins that capture, as after a wait for an event.
 * ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT and others (logged): it cannot. */
struct rt_notify;
aclError rt_capture_follow(struct rt_stream *stream, const struct rt_notify *notify);

/* Before a wait for all that was queued on `stream`. ACL_ERROR_RT_STREAM_CAPTURED (logged): it is
 * being captured, so nothing would happen; the capture is invalid from now on. */
aclError rt_capture_check_wait(struct rt_stream *stream, const char *function);

/* ---- Streams ----------------------------------------------------------------------------------
 */

/*
 * A stream for `aclrtStream` handles. NULL means the default stream of the current context.
 * *stream is held: rt_stream_release() it. ACL_ERROR_RT_INVALID_HANDLE (logged): not a live
 * stream; ACL_ERROR_RT_CONTEXT_NULL (logged).
 */
aclError rt_stream_hold(aclrtStream handle, struct rt_stream **stream);
void rt_stream_release(struct rt_stream *stream);

/* Whether `handle` is a live stream; says nothing if not. */
bool rt_stream_is_live(aclrtStream handle);

/* The first failure of the stream's life, collected or not; 0: it never failed, or is not live. */
aclError rt_stream_first_failure(aclrtStream handle);

/* A library-made stream on `device`'s primary context; its handle is closed by rt_stream_close. */
aclError rt_stream_open(int32_t device, aclrtStream *handle);

/* Waits for the stream's tasks, then closes the handle. A handle that is not live: nothing. */
void rt_stream_close(aclrtStream handle);

/* Drops what is queued, cuts off what waits, then closes the handle. */
void rt_stream_close_now(aclrtStream handle);

aclrtStream rt_stream_handle(const struct rt_stream *stream);
int32_t rt_stream_device(const struct rt_stream *stream);
uint32_t rt_stream_id(const struct rt_stream *stream);

/* What the stream belongs to, for messages: "rank 3 of hccl_world_group". Copied. */
void rt_stream_set_label(struct rt_stream *stream, const char *label);

/*
 * Queues a copy of *task. Inside rt_batch_begin/end on this thread it is staged instead; if the
 * stream is being captured, it is recorded instead.
 * On failure (ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_STREAM_ABORT, logged) the task's
 * drop() has been called: the caller owns nothing any more either way.
 * Threads: any; the order of two threads' pushes on one stream is theirs to arrange.
 */
aclError rt_stream_push(struct rt_stream *stream, const struct rt_task *task);

/* As rt_stream_push, but at once, whatever batch this thread has: for run(), on another stream. */
aclError rt_stream_enqueue(struct rt_stream *stream, const struct rt_task *task);

/* Blocks until all that was queued so far is done. timeout_ms < 0: for ever. Returns the stream's
 * failure once (and then the stream works again), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT (not logged),
 * or ACL_ERROR_RT_STREAM_ABORT. Runs other streams' tasks meanwhile. */
aclError rt_stream_sync(struct rt_stream *stream, int64_t timeout_ms);

/* Nothing queued, nothing running. */
bool rt_stream_idle(struct rt_stream *stream);

/* For run(): fail the stream with `code` and a message; returns RT_STEP_FAILED. The message gets
 * the stream's label in front. */
enum rt_step rt_stream_fail(struct rt_stream *stream, aclError code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* For run(): when the parked stream must be looked at again at the latest; set it before parking.
 * rt_stream_deadline() sets it once for the task: later calls return the first one. */
uint64_t rt_stream_deadline(struct rt_stream *stream, uint64_t timeout_ms /* 0: never */);
bool rt_stream_expired(struct rt_stream *stream);

/* For run(): once parked, look again after `ms` at the latest, whatever was said before. */
void rt_stream_look_again(struct rt_stream *stream, uint64_t ms);

/* How long the task at the head has been waiting, in ms. */
uint64_t rt_stream_waited_ms(const struct rt_stream *stream);

/* Makes the parked stream number `id` look again; harmless for any other state or number. */
void rt_stream_wake(uint32_t id);

/* ---- Batches ----------------------------------------------------------------------------------
 */

/* From here on this thread's pushes are staged, on any stream. Begin inside a batch: false. */
bool rt_batch_begin(void);

/* Whether this thread stages its pushes. */
bool rt_batch_is_open(void);

/* Publishes what is staged, in the order of the pushes; nothing if there was no batch. The first
 * refusal (as of rt_stream_push, logged) drops what is staged after it. */
aclError rt_batch_end(void);

/* Drops what is staged and ends the batch; returns how many tasks were dropped. For a kernel
 * that returns inside a batch. */
uint32_t rt_batch_abandon(void);

/* ---- Notifies ----------------------------------------------------------------------------------
 */

/*
 * A semaphore in the device's shared memory: record adds one, wait takes one or parks the stream
 * until there is one (mode count), or: record sets it, wait clears it (mode strict). One waiter
 * at a time.
 */
struct rt_notify;

/* Who is who, for messages. Strings are copied. */
struct rt_notify_origin {
    const char *what;     /* "notify 1 of the channel from rank 2" */
    const char *expect;   /* who should record it: "rank 2"; NULL: unknown */
    bool queues;          /* records queue on the hardware too, as on channels of engine CPU */
    bool remote;          /* another process records it: a wait is worth a short spin */
    struct rt_fate *fate; /* what fails together with it; NULL: nothing. Held */
};

aclError rt_notify_create(int32_t device, const struct rt_notify_origin *origin,
                          struct rt_notify **notify);

/* NULL is fine. Nobody may wait on it or record it any more. */
void rt_notify_destroy(struct rt_notify *notify);

/* Number on its device, as aclrtGetNotifyId tells. */
uint32_t rt_notify_id(const struct rt_notify *notify);

/* The notify `id` of `device`, held until rt_notify_unhold; NULL: there is none. */
struct rt_notify *rt_notify_hold(int32_t device, uint64_t id);
void rt_notify_unhold(struct rt_notify *notify);

/* Records now, on the calling thread. Any thread. */
void rt_notify_record(struct rt_notify *notify);

/* Takes one record on the calling thread, as a wait does; false: there is none. */
bool rt_notify_take(struct rt_notify *notify);

/* Back to nothing recorded. */
void rt_notify_reset(struct rt_notify *notify);

/* The word that peers post to (base/word.h); in memory that rt_shared_find knows. */
_Atomic uint64_t *rt_notify_word(const struct rt_notify *notify);

/* Nobody will record it any more: waits that find nothing to take fail with `why` (copied), now
 * and later, and break the fate. A second call does nothing. */
void rt_notify_break(struct rt_notify *notify, const char *why);

/*
 * Blocks the calling thread until it can take a record. ACL_ERROR_RT_TASK_TIMEOUT (not logged): the
 * deadline has passed; ACL_ERROR_RT_SUSPECT_REMOTE_ERROR (not logged): broken, or its fate is,
 * and `why` [len] says so; ACL_ERROR_RT_PARAM_INVALID (logged): a stream waits on it.
 */
aclError rt_notify_await(struct rt_notify *notify, uint64_t deadline_ns, char *why, size_t len);

/* Tasks. A wait's `timeout_s` 0: for ever. Each task holds the notify until it is dropped. */
void rt_task_notify_record(struct rt_task *task, struct rt_notify *notify);
void rt_task_notify_wait(struct rt_task *task, struct rt_notify *notify, uint32_t timeout_s);

/* ---- What fails together ----------------------------------------------------------------------
 */

/*
 * The notifies of a communicator share a fate. When a wait finds out that its record cannot come
 * (the peer has died), those that wait for the waiting stream wait in vain too. So the fate breaks:
 * every wait on any of its notifies that finds nothing to take fails, with the reason, now and
 * later. on_break runs once, on the thread that breaks it, under no lock of this layer.
 */
struct rt_fate *rt_fate_create(void (*on_break)(void *arg, const char *why), void *arg);
void rt_fate_hold(struct rt_fate *fate);
void rt_fate_release(struct rt_fate *fate); /* NULL is fine */

/* Messages about waits end with what `doing` writes to text [len]: " (the last collective: ...)",
 * or nothing. It is called under the fate's lock on any thread, and takes no lock but its own leaf.
 */
void rt_fate_set_doing(struct rt_fate *fate, void (*doing)(void *arg, char *text, size_t len),
                       void *arg);

/* The owner goes: on_break has returned if it runs, and will not be called any more;
 * nor is what says what is being done. */
void rt_fate_disown(struct rt_fate *fate);

void rt_fate_break(struct rt_fate *fate, const char *why); /* NULL is fine: nothing */

/* Whether it is broken; then `why` [len] gets the reason. NULL: no. */
bool rt_fate_broken(struct rt_fate *fate, char *why, size_t len);

/* ---- Sharing memory with other processes ------------------------------------------------------
 */

/* Where [addr, addr + len) lies in one of the files that can be passed to other processes: their
 * numbers are never 0 and never used again. false: in none, or not in one piece. For who describes
 * the memory to another process: from now on rt_shared_file() gives the file. */
bool rt_shared_find(const void *addr, uint64_t len, uint64_t *file, uint64_t *offset);

/* A descriptor of it, the caller's to close, and its length; -1: there is none (any more), nothing
 * in it has been found for anybody, or no descriptor is left (logged). It is sealed against
 * shrinking. */
int rt_shared_file(uint64_t file, uint64_t *len);

/* Idle threads look at `bell` from now on; it stays for the process' lifetime. */
struct hc_bell;
void rt_shared_watch(struct hc_bell *bell);

/* Wakes whoever a word or the bell names (base/word.h, base/bell.h). Any thread. */
void rt_shared_wake(uint32_t waiter);

/*
 * Called by rt_shared_wake(), after its own work, whenever the waiter is HC_WORD_HOST or
 * HC_BELL_EVERYBODY: for a layer whose waiters are not the runtime's. One hook, set once, any time.
 * It runs on any thread that drains the bell or wakes somebody, possibly under locks of the layers
 * between (never under one that rt_stream_wake() or rt_waiters_poke() takes): it must not block,
 * nor call the transport, nor rt_shared_wake() for the host.
 */
void rt_set_wake_hook(void (*hook)(void));

/* ---- Looking before sleeping --------------------------------------------------------------------
 */

/* Words that other processes post to come (1) and go (-1). While there are none, nobody spins. */
void rt_spin_remote_add(int delta);

/* Until `word` has posted something else than `seen` (its upper 32 bits), or a stream is ready, or
 * the thread is signalled (rt_waiters_poke, in rt_wait_until). Bounded. It attends the bell
 * meanwhile, so it may call the wake hook. false: none of these came, or spinning is not worth it:
 * sleep, in rt_wait_until(), from which the thread learns whether to spin longer. */
bool rt_spin_on(_Atomic uint64_t *word, uint32_t seen);

/* The same with several: until one of them has. */
struct rt_watch {
    _Atomic uint64_t *word;
    uint32_t seen;
};
bool rt_spin_on_any(const struct rt_watch *words, uint32_t num);

/* ---- Waiting on a thread, and AICPU work
 * --------------------------------------------------------- */

/*
 * Runs ready tasks on this thread until done(arg) or the deadline; sleeps when there is nothing
 * to run. Whoever makes done() true must call rt_waiters_poke(). true: done.
 */
bool rt_wait_until(bool (*done)(void *arg), void *arg, uint64_t deadline_ns);
void rt_waiters_poke(void);

/* Work for the elastic AICPU threads: they are added while all are blocked and retire when idle.
 * `job` stays the caller's until fn runs; fn may block. */
struct rt_job {
    struct rt_job *next; /* the queue's */
    void (*fn)(struct rt_job *job);
};
aclError rt_aicpu_submit(struct rt_job *job);

/* A kernel of the library's own. Returns 0, or what it failed with; or RT_KERNEL_ELSEWHERE, having
 * done nothing, if it would have to block and rt_kernel_may_block() says no: then it is called
 * again where it may. */
typedef uint32_t (*rt_own_kernel)(void *args);
#define RT_KERNEL_ELSEWHERE 0xFFFFFFFFu
bool rt_kernel_may_block(void);
/* Queues it with a copy of `args` [len]; `name`, for messages, stays. */
aclError rt_launch_own(rt_own_kernel kernel, const char *name, aclrtStream stream, const void *args,
                       size_t len);

/* Called on the AICPU thread when a kernel has returned: gives back what it kept by mistake. true:
 * it kept something, and `text` says what and what to do. One hook; set before any kernel. */
typedef bool (*rt_kernel_end_hook)(char *text, size_t len);
void rt_set_kernel_end_hook(rt_kernel_end_hook hook);

/* Around a blocking call on any thread, so that other work gets a thread: the communicator lock,
 * a socket. rt_wait_until does it itself. */
void rt_block_begin(void);
void rt_block_end(void);

/* ---- Kernels by name ----------------------------------------------------------------------------
 */

/* A set of kernels that are launched by library and function name, as descriptions name them; end
 * with rt_kernels_close(), which leaves alone what is queued. ACL_ERROR_RT_MEMORY_ALLOCATION. */
aclError rt_kernels_open(uint64_t *kernels);
void rt_kernels_close(uint64_t kernels); /* 0 is fine */

#define RT_KERNEL_TIMEOUT_DEFAULT UINT64_MAX

struct rt_kernel_call {
    const char *so, *symbol; /* copied */
    const void *args;        /* [args_len], copied; 0 bytes: the kernel gets NULL */
    size_t args_len;
    uint64_t timeout_s; /* 0: none */
};

/* Queues the kernel, whichever context the stream is of. As rt_stream_push; the code is looked for
 * when it runs. */
aclError rt_kernel_push(uint64_t kernels, const struct rt_kernel_call *call,
                        struct rt_stream *stream);

/* Something outside the process may end a wait (a peer process): no deadlock can be proven. */
void rt_outside_add(int delta);

#endif
