/* SPDX-License-Identifier: BSD-3-Clause */
/* How windows come and go. The invariants are in window.h. */
#include "p2p/window.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/word.h"

#define LOOK_MS 100  /* while a rank destroys a window: a wake that was lost costs no more */
#define GRACE_MS 500 /* for ranks that cannot be seen any more, and may live */

static void window_free(void *obj);

struct hc_table window_table = HC_TABLE("window", HC_KIND_WINDOW, window_free);

/* ---- handles ---- */

HcclResult
window_hold(HcommWindow handle, const char *function, struct window **window)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;

    if (!rt_enter())
        return HCCL_E_INTERNAL;
    if (handle == NULL) {
        LOG_ERROR(P2P, "%s: the window is NULL: pass one from HcommWindowCreate", function);
        return HCCL_E_PTR;
    }
    *window = hc_handle_hold(&window_table, number);
    if (*window == NULL) {
        LOG_ERROR(P2P, "%s: window 0x%llx is not a live one: it is %s", function,
                  (unsigned long long)number, hc_handle_guess(&window_table, number));
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

void
window_hold_more(struct window *window)
{
    hc_handle_hold_more(&window_table, window->handle);
}

void
window_release(struct window *window)
{
    hc_handle_release(&window_table, window->handle);
}

bool
window_enter(struct window *window)
{
    (void)atomic_fetch_add(&window->inside, 1); /* W2 */
    if (!atomic_load(&window->closed))
        return true;
    window_leave(window);
    return false;
}

void
window_leave(struct window *window)
{
    if (atomic_fetch_sub(&window->inside, 1) == 1 && atomic_load(&window->closed))
        rt_waiters_poke();
}

/* ---- create ---- */

static int64_t
patience(const struct p2p *p2p)
{
    return p2p->exec_s == 0 ? -1 : p2p->exec_s * 1000;
}

static bool
reaches_beyond(const struct p2p *p2p)
{
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (!comm_rank_is_here(p2p->comm, i))
            return true;
    }
    return false;
}

/* What this rank gives, as far as it can be made; `hello` describes it. */
static HcclResult
fill(struct window *window, const struct window_desc *desc, struct window_hello *hello)
{
    uint64_t len = sizeof *window->control + window->rank_num * sizeof window->control->left[0];
    int32_t device = comm_device(window->p2p->comm);
    void *addr = desc->addr, *control = NULL;
    HcclResult rc;

    window->handle = hc_handle_reserve(&window_table);
    if (window->handle == 0)
        return HCCL_E_MEMORY;
    rc = rt_result(rt_mem_alloc(device, len, &control));
    if (rc != HCCL_SUCCESS)
        return rc;
    window->control = control;
    if (desc->allocate && desc->size > 0) {
        rc = rt_result(rt_mem_alloc(device, desc->size, &window->owned));
        if (rc != HCCL_SUCCESS)
            return rc;
        addr = window->owned;
    }
    return window_describe(window, addr, desc->size, desc->access, hello);
}

static struct window *
window_new(struct p2p *p2p, uint32_t number)
{
    struct window *window =
        hc_zalloc_aligned(P2P_LINE, sizeof *window + p2p->rank_num * sizeof window->peers[0]);

    if (window == NULL)
        return NULL;
    p2p_hold_more(p2p);
    window->p2p = p2p;
    window->rank = p2p->rank;
    window->rank_num = p2p->rank_num;
    window->number = number;
    window->patience_ms = patience(p2p);
    window->beyond = reaches_beyond(p2p);
    window->spins = window->beyond;
    rt_spin_remote_add(window->spins);
    atomic_init(&window->look, true);
    return window;
}

/* Gives back all but the struct (W4). Nobody touches anything any more. */
static void
window_empty(struct window *window)
{
    windows_remove(window);
    window_unmap(window);
    tp_lease_end(window->lease);
    rt_spin_remote_add(-(int)window->spins);
    if (!window->stuck_control)
        (void)rt_mem_free(window->control);
    if (!window->stuck_memory)
        (void)rt_mem_free(window->owned);
    p2p_release(window->p2p);
    window->p2p = NULL;
}

static void
window_free(void *obj)
{
    hc_free(obj);
}

/* It never came to be. */
static void
window_undo(struct window *window)
{
    if (window == NULL)
        return;
    window_empty(window);
    if (window->handle != 0)
        hc_handle_unreserve(&window_table, window->handle);
    window_free(window);
}

HcclResult
window_create(struct p2p *p2p, const struct window_desc *desc, struct window **out)
{
    uint32_t number = atomic_fetch_add(&p2p->window_seq, 1);
    struct window_hello *all = hc_calloc(p2p->rank_num, sizeof *all), own = {0};
    struct window *window = window_new(p2p, number);
    HcclResult rc = desc->fault;

    if (rc == HCCL_SUCCESS)
        rc = window == NULL || all == NULL ? HCCL_E_MEMORY : fill(window, desc, &own);
    own.rc = rc;
    if (all == NULL)
        window_excuse(p2p, desc->function, number, rc);
    else
        rc = window_agree(p2p, desc->function, number, &own, all); /* W1 */
    if (rc == HCCL_SUCCESS) {
        own.rc = window_map(window, desc->function, all);
        windows_add(window);
        rc = window_agree(p2p, desc->function, number, &own, all);
    }
    hc_free(all);
    if (rc != HCCL_SUCCESS) {
        window_undo(window);
        return rc;
    }
    atomic_fetch_add(&p2p->windows, 1);
    hc_handle_publish(&window_table, window->handle, window);
    *out = window;
    return HCCL_SUCCESS;
}

/* ---- destroy ---- */

static bool
nobody_inside(void *arg)
{
    return atomic_load(&((struct window *)arg)->inside) == 0;
}

/* W3: this rank's last touch of the others' memory. */
static void
say_left(struct window *window)
{
    for (uint32_t i = 0; i < window->rank_num; i++) {
        struct window_peer *peer = &window->peers[i];

        if (peer->channel == NULL)
            continue;
        atomic_store_explicit(&peer->control->left[window->rank], 1, memory_order_release);
        peer->conn->ops->wake(peer->conn, HC_WORD_HOST);
    }
}

enum state { LEFT, AWAITED, HIDDEN, DEAD };

static enum state
state_of(struct window *window, uint32_t rank, char *why, size_t len)
{
    struct window_peer *peer = &window->peers[rank];
    bool ended = peer->channel != NULL && res_channel_ended(peer->channel, why, len);
    char text[64];

    /* The connection first: what was stored before its end is seen. */
    if (peer->channel == NULL ||
        atomic_load_explicit(&window->control->left[rank], memory_order_acquire) != 0)
        return LEFT;
    if (!ended)
        return AWAITED;
    switch (peer->conn->ops->ending(peer->conn, text, sizeof text)) {
    case TP_DIED:
    case TP_EXITED:
        return DEAD;
    default:
        return HIDDEN; /* it may be about to store its word */
    }
}

struct parting {
    struct window *window;
    uint64_t grace_ns; /* HIDDEN ranks are waited for until then; 0: there is none yet */
    enum state worst;  /* of all, as last seen: AWAITED, then HIDDEN, then DEAD */
    uint32_t rank;     /* in that state */
    char why[P2P_WHY_LEN];
};

/* Whether nobody is to be waited for. */
static bool
look_around(void *arg)
{
    struct parting *parting = arg;
    bool again = false;

    parting->worst = LEFT;
    for (uint32_t i = 0; i < parting->window->rank_num; i++) {
        char why[P2P_WHY_LEN] = "";
        enum state state = state_of(parting->window, i, why, sizeof why);

        if (state == HIDDEN && parting->grace_ns == 0)
            parting->grace_ns = hc_deadline_ms(GRACE_MS);
        again |= state == AWAITED || (state == HIDDEN && hc_now_ns() < parting->grace_ns);
        if (state == LEFT || (parting->worst != LEFT && parting->worst <= state))
            continue;
        parting->worst = state;
        parting->rank = i;
        snprintf(parting->why, sizeof parting->why, "%s", why);
    }
    return !again;
}

/* One line when it is long. */
static void
warn(const struct parting *parting, int64_t s)
{
    LOG_WARN(P2P,
             "HcommWindowDestroy: rank %u of %s has waited %d s for rank %u to make the same call",
             parting->window->rank, comm_name(parting->window->p2p->comm), (int)s, parting->rank);
}

/* Nobody touches this rank's memory any more (W3). */
static HcclResult
part(struct window *window)
{
    struct parting parting = {.window = window};
    uint64_t deadline = hc_deadline_ms(window->patience_ms), warn_ns;
    int64_t warn_s = 0;
    bool over = false;

    (void)hc_knob_int(KNOB_STALL_WARN_S, &warn_s);
    warn_ns = hc_deadline_ms(warn_s <= 0 ? -1 : warn_s * 1000);
    say_left(window);
    while (!over && hc_now_ns() < deadline) {
        over = rt_wait_until(look_around, &parting, hc_deadline_ms(LOOK_MS));
        if (!over && hc_now_ns() >= warn_ns) {
            warn(&parting, warn_s);
            warn_ns = HC_FOREVER;
        }
    }
    if (parting.worst == LEFT)
        return HCCL_SUCCESS;
    window->stuck_control = parting.worst != DEAD;
    window->stuck_memory = parting.worst == AWAITED;
    if (parting.worst == AWAITED) {
        LOG_ERROR(P2P,
                  "HcommWindowDestroy: rank %u of %s waited %lld ms for rank %u, which has not "
                  "called it; the window is gone, but memory it owned is not freed",
                  window->rank, comm_name(window->p2p->comm), (long long)window->patience_ms,
                  parting.rank);
        return HCCL_E_TIMEOUT;
    }
    LOG_ERROR(P2P, "HcommWindowDestroy: rank %u of %s has not called it, and will not: %s",
              parting.rank, comm_name(window->p2p->comm), parting.why);
    return HCCL_E_REMOTE;
}

HcclResult
window_destroy(struct window *window)
{
    HcclResult rc;

    if (!hc_handle_close_guarded(&window_table, window->handle)) { /* W2 */
        LOG_ERROR(P2P, "HcommWindowDestroy: another thread destroys the window already");
        return HCCL_E_PARA;
    }
    atomic_store(&window->closed, true);
    window_wake(window);
    (void)rt_wait_until(nobody_inside, window, HC_FOREVER);
    rc = part(window);
    atomic_fetch_sub(&window->p2p->windows, 1);
    window_empty(window);
    return rc;
}
