/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the end of a connection is noticed when no thread of the program looks: a stream that waits
 * for a dead peer sleeps, and so does who waits for that stream.
 *
 * The transport says that something changed, under its locks, where nothing may be done about it.
 * So the channel is queued. A thread that is in a call of this layer (it closes or aborts a
 * channel, whose other end may be in this process too) looks at the queue when it has left the
 * transport; otherwise an AICPU thread does, which the runtime keeps for work that may block.
 *
 * R1  A channel in the queue is held; whoever takes it out lets go of it.
 * R2  channel_look_never() waits until nobody looks at the channel, and so the one who destroys it
 *     is the last to let go, unless tasks still hold it.
 * R3  While a channel is looked at no lock is held: breaking a notify wakes streams and, when a
 * wait is to fail, breaks a fate, which runs code of the layer above.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "resource/channel.h"

#define GAVE_UP " gave up: "

static struct {
    pthread_mutex_t lock; /* under any other, also the transport's; over the AICPU pool's */
    pthread_cond_t looked;
    struct hc_list channels; /* of struct res_channel.in_ended, under `lock` */
    bool submitted;          /* `job` is; under `lock` */
    struct rt_job job;
} ended = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .looked = PTHREAD_COND_INITIALIZER,
           .channels = {&ended.channels, &ended.channels}};

static _Thread_local int inside; /* this thread will look at the queue itself */

/* ---- what to say ---- */

void
channel_make_printable(char *text)
{
    for (; *text != '\0'; text++) {
        if (iscntrl((unsigned char)*text))
            *text = '?';
    }
}

/* "rank 1 gave up: rank 3 died": whatever way the news took, who told it and what was first. */
static void
aborted_text(const struct res_channel *channel, const char *reason, char *text, size_t len)
{
    const char *first = strstr(reason, GAVE_UP);

    while (first != NULL) {
        reason = first + strlen(GAVE_UP);
        first = strstr(reason, GAVE_UP);
    }
    snprintf(text, len, "%s" GAVE_UP "%s", channel->peer_name, reason);
}

void
channel_ending(struct res_channel *channel, char *text, size_t len)
{
    char told[256] = "", host[64] = "this host";
    enum tp_end end = channel->conn->ops->ending(channel->conn, told, sizeof told);

    channel_make_printable(told);
    if (end == TP_DIED) {
        (void)gethostname(host, sizeof host - 1);
        snprintf(text, len, "%s died (%s on %s)", channel->peer_name,
                 told[0] == '\0' ? "its process" : told, host);
    } else if (end == TP_EXITED) {
        snprintf(text, len, "%s exited (%s) and left its end of the channel open",
                 channel->peer_name, told);
    } else if (end == TP_LOST) {
        snprintf(text, len, "%s is out of reach (%s lives; see what it logged)", channel->peer_name,
                 told);
    } else if (end == TP_ABORTED) {
        aborted_text(channel, told, text, len);
    } else if (atomic_load(&channel->destroyed)) {
        snprintf(text, len, "%s destroyed its own end of the channel", channel->own_name);
    } else {
        snprintf(text, len, "%s destroyed its end of the channel", channel->peer_name);
    }
}

void
channel_ended(struct res_channel *channel, const char *why)
{
    bool first;

    pthread_mutex_lock(&channel->end_lock);
    first = channel->why[0] == '\0'; /* channel.h I4 */
    if (first)
        snprintf(channel->why, sizeof channel->why, "%s", why);
    pthread_mutex_unlock(&channel->end_lock);
    for (uint32_t i = 0; i < channel->notify_num && first; i++)
        rt_notify_break(channel->notifies[i], why);
    if (first)
        channel_tell(channel);
}

bool
res_channel_ended(struct res_channel *channel, char *why, size_t len)
{
    int state = atomic_load_explicit(&channel->state, memory_order_acquire);

    if (state == CHAN_CONNECTING ||
        (state == CHAN_CONNECTED && channel->conn->ops->poll(channel->conn) != HCCL_E_REMOTE))
        return false;
    pthread_mutex_lock(&channel->end_lock);
    snprintf(why, len, "%s", channel->why); /* the first reason counts: channel.h I4 */
    pthread_mutex_unlock(&channel->end_lock);
    if (why[0] == '\0' && state == CHAN_CONNECTED)
        channel_ending(channel, why, len);
    else if (why[0] == '\0')
        snprintf(why, len, "%s could not be connected", channel->name);
    return true;
}

void
res_channel_lost(struct res_channel *channel, char *text, size_t len)
{
    char why[CHAN_WHY_LEN];

    channel_ending(channel, why, sizeof why);
    channel_ended(channel, why);
    pthread_mutex_lock(&channel->end_lock);
    snprintf(text, len, "%s", channel->why);
    pthread_mutex_unlock(&channel->end_lock);
    if (!atomic_load(&channel->destroyed))
        rt_fate_break(channel->fate, text);
}

/* ---- the queue ---- */

static void
look_at(struct res_channel *channel)
{
    char why[CHAN_WHY_LEN];

    if (atomic_load_explicit(&channel->state, memory_order_acquire) != CHAN_CONNECTED ||
        channel->conn->ops->poll(channel->conn) != HCCL_E_REMOTE)
        return;
    channel_ending(channel, why, sizeof why);
    channel_ended(channel, why);
}

static void
look_at_all(void)
{
    struct hc_list *node;

    pthread_mutex_lock(&ended.lock);
    while ((node = hc_list_pop_front(&ended.channels)) != NULL) {
        struct res_channel *channel = HC_CONTAINER(node, struct res_channel, in_ended);

        channel->queued = false;
        channel->reaping++;
        pthread_mutex_unlock(&ended.lock);
        look_at(channel); /* R3 */
        pthread_mutex_lock(&ended.lock);
        channel->reaping--;
        pthread_cond_broadcast(&ended.looked);
        pthread_mutex_unlock(&ended.lock);
        res_channel_release(channel); /* R1 */
        pthread_mutex_lock(&ended.lock);
    }
    pthread_mutex_unlock(&ended.lock);
}

static void
job_run(struct rt_job *job)
{
    (void)job;
    pthread_mutex_lock(&ended.lock);
    ended.submitted = false; /* what is queued from here on is seen below or submitted anew */
    pthread_mutex_unlock(&ended.lock);
    look_at_all();
}

/* Under ended.lock. */
static void
submit(void)
{
    ended.job.fn = job_run;
    ended.submitted = rt_aicpu_submit(&ended.job) == ACL_SUCCESS; /* else: tried with the next */
}

void
channel_look_soon(struct res_channel *channel)
{
    pthread_mutex_lock(&ended.lock);
    if (!channel->queued && !channel->forgotten &&
        channel_hold_quiet(channel->handle) != NULL) { /* R1 */
        channel->queued = true;
        hc_list_push_back(&ended.channels, &channel->in_ended);
    }
    if (channel->queued && inside == 0 && !ended.submitted)
        submit();
    pthread_mutex_unlock(&ended.lock);
}

void
channel_look_never(struct res_channel *channel)
{
    int cancel = hc_cancel_off(); /* the wait would end with the lock taken */
    bool held;

    pthread_mutex_lock(&ended.lock);
    channel->forgotten = true;
    held = channel->queued;
    if (held)
        hc_list_remove(&channel->in_ended);
    channel->queued = false;
    while (channel->reaping > 0) /* R2 */
        pthread_cond_wait(&ended.looked, &ended.lock);
    pthread_mutex_unlock(&ended.lock);
    hc_cancel_restore(cancel);
    if (held)
        res_channel_release(channel);
}

void
channel_close(struct res_channel *channel)
{
    if (channel->conn == NULL)
        return;
    inside++;
    channel->conn->ops->close(channel->conn);
    if (--inside == 0)
        look_at_all();
}

void
channel_abort(struct res_channel *channel, const char *why)
{
    if (channel->conn == NULL)
        return;
    inside++;
    channel->conn->ops->abort(channel->conn, why);
    if (--inside == 0)
        look_at_all();
}

void
res_channel_abort(ChannelHandle handle, const char *why)
{
    struct res_channel *channel = channel_hold_quiet(handle);

    if (channel == NULL)
        return;
    channel_cut(channel);
    channel_ended(channel, why);
    channel_abort(channel, why);
    res_channel_release(channel);
}
