/* SPDX-License-Identifier: BSD-3-Clause */
/* One link, as those who hold it see it. See link.h and link_private.h; which links there are, and
 * how they begin and end: link_table.c. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/futex.h"
#include "base/knobs.h"
#include "transport/link_private.h"
#include "transport/numbers.h"
#include "transport/sock.h"

static _Atomic int64_t patience_ms; /* HCCL_CONNECT_TIMEOUT, as it was read last */

void
link_read_patience(void)
{
    int64_t now = 0;

    (void)hc_knob_connect_ms(&now); /* if it is wrong, the default */
    atomic_store(&patience_ms, now);
}

struct shm_link *
link_create(uint64_t process, const uint8_t secret[TP_SECRET_LEN])
{
    struct shm_link *link = hc_zalloc(sizeof *link);

    if (link == NULL)
        return NULL;
    link->watch.fd = -1;
    link->watch.on_event = link_event;
    link->process = process;
    memcpy(link->secret, secret, TP_SECRET_LEN);
    atomic_init(&link->refs, 1);
    link->retry_ns = HC_FOREVER;
    link->patience_ms = atomic_load(&patience_ms);
    link->deadline_ns = hc_deadline_ms(link->patience_ms);
    link->slow_ns = hc_deadline_ms(LINK_HANDSHAKE_MS);
    link->heard = link->peer_heard = NUMBERS_NONE;
    (void)pthread_mutex_init(&link->lock, NULL);
    hc_list_init(&link->queue);
    hc_list_init(&link->files);
    hc_list_init(&link->windows);
    return link;
}

void
link_hold_more(struct shm_link *link)
{
    atomic_fetch_add_explicit(&link->refs, 1, memory_order_relaxed);
}

void
link_release(struct shm_link *link)
{
    if (link == NULL || atomic_fetch_sub(&link->refs, 1) != 1)
        return;
    hc_fd_close(link->watch.fd); /* of one that nobody watched */
    files_fini(link);
    segment_unmap(link->segment);
    pthread_mutex_destroy(&link->lock);
    hc_free(link);
}

void
link_news(struct shm_link *link)
{
    atomic_fetch_add(&link->news, 1);
    hc_futex_wake(&link->news, INT32_MAX);
}

void
link_set_state(struct shm_link *link, enum link_state state)
{
    atomic_store(&link->state, state); /* P3 */
    link_news(link);
}

enum link_state
link_state(struct shm_link *link)
{
    return (enum link_state)atomic_load_explicit(&link->state, memory_order_acquire);
}

const char *
link_text(const struct shm_link *link, char *text, size_t len)
{
    int pid = atomic_load(&link->pid);

    if (pid > 0)
        snprintf(text, len, "process %d", pid);
    else
        snprintf(text, len, "process %016llx", (unsigned long long)link->process);
    return text;
}

enum link_end
link_ending(struct shm_link *link, char *text, size_t len)
{
    (void)link_text(link, text, len);
    return link->end;
}

HcclResult
link_wait(struct shm_link *link, int64_t timeout_ms)
{
    uint64_t deadline_ns = hc_deadline_ms(timeout_ms);

    for (;;) {
        uint32_t seen = atomic_load(&link->news);

        if (link_state(link) != LINK_CONNECTING)
            return HCCL_SUCCESS;
        if (hc_now_ns() >= deadline_ns)
            return HCCL_E_TIMEOUT;
        hc_futex_wait(&link->news, seen, deadline_ns);
    }
}

uint64_t
link_process(const struct shm_link *link)
{
    return link->process;
}

pid_t
link_pid(const struct shm_link *link)
{
    return atomic_load(&link->pid);
}

struct shm_segment *
link_segment(const struct shm_link *link)
{
    return link->segment;
}
