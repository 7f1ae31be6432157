/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * graph: what a capture records, and its runs (inside this layer only).
 *
 * Between begin and end, what the host pushes on a capturing stream becomes a *template* in a
 * *branch* of the graph: branch 0 is the stream on which it began, others are streams that joined.
 * A run clones every template and queues the clones: branch 0 on the stream that executes, each
 * other branch on a *runner*, a stream of the graph's own. Each kind of task says in its ops table
 * how it is kept and cloned (struct rt_task_ops); nothing here knows kinds. capture.c records,
 * graph.c is the object, graph_run.c runs.
 *
 * G1  A template never runs. It owns what its clones need (arguments, code, channels, marks) until
 *     the graph is destroyed; a clone owns what a queued task owns. What has an owner of its own
 *     (a communicator, a window, a notify) is not kept alive by it: the clone asks for it, and a
 *     run of what is gone is refused when it is asked for.
 * G2  Everything about a recording is under the capture lock (capture.c): state, branches, posts,
 *     marks, and rt_stream.capture, which may be read without it to see that there is none. After
 *     the end the graph's templates, branches and marks do not change until it is destroyed.
 * G3  Runs of one graph follow each other: a run begins when it is the first of `runs`. So a mark
 *     serves all of them; the beginning resets it.
 * G4  A run is over when its end was dropped on the executing stream and on every runner, and these
 *     are the last tasks of the run on their streams. Runs are queued on runners in the order of
 *     `runs`, under push_lock.
 * G5  What is cut short on one stream of a run is cut on all: whoever sees it fails the others,
 *     which drop their tasks. A runner is failed only between the run's first and last task on it,
 *     under run_lock, and its last task mends it. So a cut never reaches another run.
 * G6  Kernels queue past a capture: it records what the host does.
 */
#ifndef HC_RUNTIME_GRAPH_H
#define HC_RUNTIME_GRAPH_H

#include "base/handle.h"
#include "base/list.h"
#include "runtime/event.h"
#include "runtime/stream.h"

enum rt_graph_state { RT_GRAPH_RECORDING, RT_GRAPH_INVALID, RT_GRAPH_READY };

#define RT_GRAPH_NAME 128u
#define RT_GRAPH_WHY 200u

struct rt_branch {
    struct rt_stream *stream;   /* held while recording; NULL afterwards */
    struct rt_context *context; /* held */
    bool must_join;             /* came by an event: has to be waited for before the end */
    struct rt_task *tasks;      /* [num of room] */
    uint32_t num, room;
    struct rt_stream *runner; /* held, and open; NULL: branch 0, or still recording */
};

/* A record that a wait of this capture may follow. */
struct rt_post {
    const void *key; /* a mark, a notify */
    uint32_t branch, at;
};

/* Task `to` of a branch follows task `from` of another. */
struct rt_edge {
    uint32_t from_branch, from, to_branch, to;
};

/* Whoever wants to know that the graph is destroyed. */
struct rt_graph_watcher {
    struct hc_list link; /* under run_lock */
    void (*fn)(void *arg);
    void *arg;
};

struct rt_graph {
    uint64_t handle;
    uint32_t id;
    struct rt_context *context; /* held */
    aclmdlRICaptureMode mode;
    uint64_t thread;              /* on which it began */
    enum rt_graph_state state;    /* G2 */
    char why[RT_GRAPH_WHY];       /* invalid: what made it so; G2 */
    struct hc_list in_captures;   /* G2 */
    struct rt_branch *branches;   /* [branch_num]; G2 */
    uint32_t branch_num;          /* G2 */
    struct rt_mark **marks;       /* [mark_num of mark_room], held; G2 */
    uint32_t mark_num, mark_room; /* G2 */
    struct rt_post *posts;        /* [post_num of post_room], while recording; G2 */
    uint32_t post_num, post_room; /* G2 */
    struct rt_edge *edges;        /* [edge_num of edge_room], while recording; G2 */
    uint32_t edge_num, edge_room; /* G2 */
    uint32_t adding_branch;       /* of the template that is being kept; G2 */
    pthread_mutex_t push_lock;    /* G4; taken before run_lock and streams' locks */
    bool ending;                  /* under push_lock: somebody destroys it */
    pthread_mutex_t run_lock; /* protects what follows; a stream's fail_lock is taken under it */
    struct hc_list runs;      /* of struct rt_run.in_runs: queued and not over */
    uint32_t run_num;         /* ever */
    struct hc_list watchers;  /* of struct rt_graph_watcher */
    char name[RT_GRAPH_NAME]; /* "": none */
};

/* ---- graph.c ---- */

/* A graph of `context` that records nothing yet; its handle is open and *graph held. */
aclError rt_graph_new(struct rt_context *context, struct rt_graph **graph);

/* Held. ACL_ERROR_RT_INVALID_HANDLE (logged); ACL_ERROR_INVALID_PARAM (logged): NULL. */
aclError rt_graph_hold(aclmdlRI handle, const char *function, struct rt_graph **graph);
void rt_graph_hold_more(struct rt_graph *graph);
void rt_graph_release(struct rt_graph *graph);

/* One element more in an array that doubles; false: no memory, and nothing has changed. */
bool rt_graph_grow(void **array, uint32_t num, uint32_t *room, size_t size);

/* Gives each branch but the first its runner. */
aclError rt_graph_make_runners(struct rt_graph *graph);

/* Nobody finds the graph any more, and what it kept is given back. It has no run, and will have
 * none. */
void rt_graph_close(struct rt_graph *graph);

/* Waits until the last run is over, then closes. ACL_ERROR_RT_MODEL_RUNNING (logged) after
 * `patience_ms`: nothing has changed. */
aclError rt_graph_destroy(struct rt_graph *graph, int64_t patience_ms);

/* ---- graph_run.c ---- */

/* Queues a run. Nothing has been queued unless it succeeds. */
aclError rt_graph_execute(struct rt_graph *graph, struct rt_stream *stream);

/* Fails the streams of all runs under way, and those of queued ones when they come to them. */
void rt_graph_abort(struct rt_graph *graph);

/* ---- capture.c, for the streams and the api ---- */

aclError rt_capture_begin(struct rt_stream *stream, aclmdlRICaptureMode mode);

/* *handle is set on success only. Errors as of aclmdlRICaptureEnd (logged). */
aclError rt_capture_end(struct rt_stream *stream, aclmdlRI *handle);

/* Never fails, never logs. */
void rt_capture_info(struct rt_stream *stream, aclmdlRICaptureStatus *status, aclmdlRI *handle);

/* rtStreamAddToModel. */
aclError rt_capture_add_stream(struct rt_graph *graph, struct rt_stream *stream);

/* Whether the graph can be executed and destroyed. */
bool rt_capture_is_over(const struct rt_graph *graph);

/* Records a task. As rt_stream_push. */
aclError rt_capture_record(struct rt_stream *stream, const struct rt_task *task);

/* The stream is being closed: its capture ends with it, or at least cannot be used any more. */
void rt_capture_forget(struct rt_stream *stream);

/* ---- capture_check.c, and rt_capture_check_wait ---- */

/* Sets the calling thread's mode; returns the old one. */
aclmdlRICaptureMode rt_capture_swap_mode(aclmdlRICaptureMode mode);

/* As rt_capture_check_wait, for all streams of the context. */
aclError rt_capture_check_context(struct rt_context *context, const char *function);

/* For a call that acts at once. ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT (logged): a capture forbids
 * it to this thread. */
aclError rt_capture_check_unsafe(const char *function);

/* For an asynchronous call that would have to wait. ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC (logged):
 * the stream captures. */
aclError rt_capture_check_block(struct rt_stream *stream, const char *function);

/* ---- capture.c, for capture_check.c ---- */

extern pthread_mutex_t rt_capture_lock; /* G2; drops run without it */
extern struct hc_list rt_captures;      /* of rt_graph.in_captures; under the lock */
extern _Atomic uint32_t rt_capture_num; /* of these; for a look without the lock */

/* Unlike that of any other thread, ever. */
uint64_t rt_capture_thread(void);

/* ---- capture.c, for kinds of tasks; all under the capture lock, which enter takes ---- */

/* Whether enter() is worth its lock. */
static inline bool
rt_capture_may(struct rt_stream *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_relaxed) != NULL;
}

/* The capture that the caller's push on `stream` belongs to, or NULL. leave() in any case. */
struct rt_graph *rt_capture_enter(struct rt_stream *stream);
void rt_capture_leave(void);

/* The capture with that handle, if it is going on. */
struct rt_graph *rt_capture_find(uint64_t handle);

/* As rt_capture_record, with the capture lock held; the task is the caller's if it fails. */
aclError rt_capture_add(struct rt_graph *graph, struct rt_stream *stream,
                        const struct rt_task *task);

/* `stream` takes part from now on. `must_join`: it has to be waited for before the end.
 * ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, ACL_ERROR_STREAM_CAPTURE_CONFLICT,
 * ACL_ERROR_RT_INTERNAL_ERROR, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED (logged). */
aclError rt_capture_join(struct rt_graph *graph, struct rt_stream *stream, bool must_join);

/* The capture has a hole: it goes on until its end, which fails. The first reason counts. */
void rt_capture_invalidate(struct rt_graph *graph, const char *why);

/* The graph resets `mark` before each run; it takes over the caller's hold if it succeeds. */
aclError rt_graph_add_mark(struct rt_graph *graph, struct rt_mark *mark);

/* From keep(): the task that is being kept records `key`; `anew`: earlier records of it are
 * forgotten. ACL_ERROR_RT_MEMORY_ALLOCATION. */
aclError rt_graph_post(struct rt_graph *graph, const void *key, bool anew);

/* From keep(): it waits for the first record of `key` that is left, if there is one; `consume`: and
 * takes it away. ACL_ERROR_RT_MEMORY_ALLOCATION. */
aclError rt_graph_follow(struct rt_graph *graph, const void *key, bool consume);

#endif
