/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting: find the peer's process, open the connection, read what the peer told. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/process.h"
#include "resource/channel.h"
#include "resource/peer_memory.h"

#define TERM_SHOWN 72 /* characters of a line of terms in a message */

/* ---- what the transport calls ---- */

static void
on_notify(void *arg, uint32_t index)
{
    struct res_channel *channel = arg;

    if (index >= channel->notify_num) {
        LOG_WARN(RES, "%s recorded notify %u of %s, which has %u: ignored", channel->peer_name,
                 index, channel->name, channel->notify_num);
        return;
    }
    rt_notify_record(channel->notifies[index]); /* channel.h I1 */
}

static void
on_change(void *arg)
{
    struct res_channel *channel = arg;

    atomic_store(&channel->changed, true); /* I3 */
    channel_poke(channel, 0);
    if (atomic_load(&channel->state) == CHAN_CONNECTED) /* I5 */
        channel_look_soon(channel);
    channel_tell(channel);
}

/* ---- the peer's process ---- */

/* A wait of the program may be ended by another process from here on, or not any more. */
static void
set_outside(struct res_channel *channel, bool outside)
{
    if (channel->outside != outside)
        rt_outside_add(outside ? 1 : -1);
    channel->outside = outside;
}

/* Opens the connection to `address`; under the lock, or before anybody knows the channel. */
static HcclResult
open_connection(struct res_channel *channel)
{
    _Atomic uint64_t **words;
    struct tp_open args = {.key = channel->key,
                           .side = channel->side,
                           .hello = channel->hello,
                           .hello_len = channel->hello_len,
                           .peer = channel->address,
                           .word_num = channel->notify_num,
                           .on_notify = on_notify,
                           .on_change = on_change,
                           .arg = channel};
    HcclResult rc;

    channel->conn = tp_create(tp_choose(channel->address.process));
    if (channel->conn == NULL)
        return HCCL_E_MEMORY;
    words = hc_calloc(channel->notify_num == 0 ? 1 : channel->notify_num, sizeof *words);
    if (words == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < channel->notify_num; i++)
        words[i] = rt_notify_word(channel->notifies[i]);
    args.words = words;
    set_outside(channel, channel->conn->ops != &tp_loop_ops);
    rc = channel->conn->ops->open(channel->conn, &args);
    hc_free(words);
    hc_free(channel->hello);
    channel->hello = NULL;
    return rc;
}

HcclResult
channel_start(struct res_channel *channel)
{
    if (channel->address.process != 0)
        return open_connection(channel);
    set_outside(channel, true);
    return tp_lobby_open(channel->key, channel->side, on_change, channel, &channel->lobby);
}

/* HCCL_E_AGAIN: not there yet. Under the lock. */
static HcclResult
look_for_peer(struct res_channel *channel)
{
    HcclResult rc = tp_lobby_poll(channel->lobby, &channel->address);

    if (rc == HCCL_E_AGAIN)
        return rc;
    tp_lobby_close(channel->lobby);
    channel->lobby = NULL;
    return rc == HCCL_SUCCESS ? open_connection(channel) : rc;
}

/* ---- one step ---- */

/* The peer's regions become addresses of this process. */
static HcclResult
map_regions(struct res_channel *channel)
{
    struct tp_conn *conn = channel->conn;

    while (channel->mapped_num < channel->remote.region_num) {
        uint32_t i = channel->mapped_num;
        CommMem *mem = &channel->remote.regions[i].mem;
        HcclResult rc = conn->ops->map(conn, &channel->remote.places[i], &mem->addr);

        if (rc == HCCL_SUCCESS && conn->ops != &tp_loop_ops)
            rc = peer_memory_add(mem, channel->device);
        if (rc != HCCL_SUCCESS)
            return rc;
        channel->mapped_num++;
    }
    return HCCL_SUCCESS;
}

void
channel_unmap(struct res_channel *channel)
{
    for (uint32_t i = 0; i < channel->mapped_num && channel->conn->ops != &tp_loop_ops; i++)
        peer_memory_remove(&channel->remote.regions[i].mem);
    channel->mapped_num = 0;
}

/* One end's terms, line by line. */
struct terms {
    const char *who, *line;
};

static int
shown(const char *line)
{
    size_t len = strcspn(line, "\n");

    return len < TERM_SHOWN ? (int)len : TERM_SHOWN;
}

static const char *
next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\0' ? line : line + 1;
}

/* "": `name` gives none. */
static struct terms
terms_of(const char *text, const char *name)
{
    bool given = text != NULL && text[0] != '\0';

    return (struct terms){.who = given ? text : name, .line = given ? next_line(text) : ""};
}

/* HCCL_E_PARA (logged, unless in the background): the terms differ; `why` [CHAN_WHY_LEN] says in
 * what. */
static HcclResult
check_terms(const struct res_channel *channel, char *why)
{
    struct terms own = terms_of(channel->terms, channel->own_name);
    struct terms theirs = terms_of(channel->remote.terms, channel->peer_name);

    if (strcmp(own.line, theirs.line) == 0)
        return HCCL_SUCCESS;
    while (own.line[0] != '\0' && theirs.line[0] != '\0' &&
           strcspn(own.line, "\n") == strcspn(theirs.line, "\n") &&
           memcmp(own.line, theirs.line, strcspn(own.line, "\n")) == 0) {
        own.line = next_line(own.line);
        theirs.line = next_line(theirs.line);
    }
    snprintf(why, CHAN_WHY_LEN, "%.*s says \"%.*s\", %.*s says \"%.*s\"", shown(own.who), own.who,
             shown(own.line), own.line, shown(theirs.who), theirs.who, shown(theirs.line),
             theirs.line);
    channel_make_printable(why);
    if (!channel->background)
        LOG_ERROR(RES, "%s cannot connect: %s: all members must give the same", channel->name, why);
    return HCCL_E_PARA;
}

/* The peer is there: read what it told. As check_terms. Under the lock. */
static HcclResult
meet_peer(struct res_channel *channel, char *why)
{
    uint32_t len;
    const void *text = channel->conn->ops->peer_hello(channel->conn, &len);
    HcclResult rc = res_hello_parse(text, len, channel->peer_name, &channel->remote);

    if (rc == HCCL_SUCCESS)
        rc = check_terms(channel, why);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (channel->remote.protocol != channel->protocol) {
        LOG_ERROR(RES, "%s: protocol %s at this end, %s at the other: give both ends the same",
                  channel->name, res_protocol_name(channel->protocol),
                  res_protocol_name(channel->remote.protocol));
        return HCCL_E_PARA;
    }
    return map_regions(channel);
}

/* The connection ended before it was one (`rc` HCCL_E_REMOTE), or there is nobody to connect to
 * (HCCL_E_TCP_CONNECT). `why` [CHAN_WHY_LEN] gets the reason; *vain: the peer will never come.
 * Under the lock. */
static HcclResult
fail_remote(struct res_channel *channel, HcclResult rc, char *why, bool *vain)
{
    char told[8];
    bool absent = rc == HCCL_E_TCP_CONNECT;
    enum tp_end end = channel->conn->ops->ending(channel->conn, told, sizeof told);

    if ((absent || end == TP_DIED) && channel->elsewhere != NULL) {
        snprintf(why, CHAN_WHY_LEN, "%s runs on %s, and there is no transport between hosts yet",
                 channel->peer_name, channel->elsewhere);
        LOG_ERROR(RES, "%s cannot connect: %s: run all ranks on one host", channel->name, why);
        return HCCL_E_NOT_SUPPORT;
    }
    *vain = !channel->background && (absent || end != TP_CLOSED);
    if (absent)
        snprintf(why, CHAN_WHY_LEN, "%s cannot be reached: its process has ended or refuses",
                 channel->peer_name);
    else
        channel_ending(channel, why, CHAN_WHY_LEN);
    if (!channel->background)
        LOG_ERROR(RES, "%s cannot connect: %s", channel->name, why);
    return HCCL_E_REMOTE;
}

/* As far as it gets. As check_terms. Under the lock. */
static HcclResult
advance(struct res_channel *channel, char *why)
{
    HcclResult rc = HCCL_SUCCESS;

    if (channel->lobby != NULL)
        rc = look_for_peer(channel);
    if (rc == HCCL_SUCCESS)
        rc = channel->conn->ops->poll(channel->conn);
    if (rc == HCCL_SUCCESS)
        rc = meet_peer(channel, why);
    return rc;
}

enum chan_state
res_channel_step(struct res_channel *channel, uint32_t own_waits)
{
    char why[CHAN_WHY_LEN] = "";
    bool vain = false, moved = false, refused = false;
    HcclResult rc;
    int state;

    pthread_mutex_lock(&channel->lock);
    state = atomic_load_explicit(&channel->state, memory_order_relaxed);
    if (state == CHAN_CONNECTING) {
        rc = advance(channel, why);
        refused = why[0] != '\0';
        if ((rc == HCCL_E_REMOTE || rc == HCCL_E_TCP_CONNECT) && channel->conn != NULL)
            rc = fail_remote(channel, rc, why, &vain);
        else if (rc != HCCL_SUCCESS && !refused)
            snprintf(why, sizeof why, "%s could not be connected", channel->name);
        moved = rc != HCCL_E_AGAIN;
        if (moved) {
            state = rc == HCCL_SUCCESS ? CHAN_CONNECTED : CHAN_FAILED;
            channel->failure = rc;
            atomic_store(&channel->state, state); /* I2 */
        }
    }
    pthread_mutex_unlock(&channel->lock);
    if (moved && state == CHAN_FAILED)
        channel_ended(channel, why);
    if (refused)
        channel_abort(channel, why); /* the peer may not have read what this end told */
    if (vain || (refused && !channel->background))
        rt_fate_break(channel->fate, why);
    if (moved && state == CHAN_CONNECTED) {
        (void)channel->conn->ops->settled(channel->conn); /* the peer may wait for that */
        if (channel->conn->ops->poll(channel->conn) == HCCL_E_REMOTE) /* I5 */
            channel_look_soon(channel);
    }
    if (state != CHAN_CONNECTING)
        channel_poke(channel, own_waits); /* they may have found `changed` taken, the state as it
                                             was */
    return (enum chan_state)state;
}

void
channel_cut(struct res_channel *channel)
{
    struct tp_lobby *lobby;

    pthread_mutex_lock(&channel->lock);
    lobby = channel->lobby;
    channel->lobby = NULL;
    if (atomic_load_explicit(&channel->state, memory_order_relaxed) == CHAN_CONNECTING) {
        channel->failure = HCCL_E_UNAVAIL;
        atomic_store(&channel->state, CHAN_FAILED); /* I2 */
    }
    pthread_mutex_unlock(&channel->lock);
    tp_lobby_close(lobby);
    channel_poke(channel, 0);
}

HcclResult
res_channel_status(ChannelHandle handle, int32_t *status)
{
    static const int32_t told[] = {[CHAN_CONNECTED] = 0, [CHAN_CONNECTING] = 1, [CHAN_FAILED] = 2};
    struct res_channel *channel;
    HcclResult rc = res_channel_hold(handle, &channel);

    if (rc != HCCL_SUCCESS)
        return rc;
    *status = told[res_channel_step(channel, 0)];
    res_channel_release(channel);
    return HCCL_SUCCESS;
}

/* TP_OPEN: it is not, or has never been connected; else `why` says how it ended. */
static enum tp_end
peer_end(ChannelHandle handle, char *why, size_t len)
{
    struct res_channel *channel = channel_hold_quiet(handle);
    enum tp_end end = TP_OPEN;

    if (channel == NULL)
        return end;
    if (atomic_load_explicit(&channel->state, memory_order_acquire) == CHAN_CONNECTED &&
        channel->conn->ops->poll(channel->conn) == HCCL_E_REMOTE) {
        end = channel->conn->ops->ending(channel->conn, why, len);
        channel_ending(channel, why, len);
    }
    res_channel_release(channel);
    return end;
}

bool
res_channel_peer_gone(ChannelHandle handle, char *why, size_t len)
{
    return peer_end(handle, why, len) != TP_OPEN;
}

bool
res_channel_peer_failed(ChannelHandle handle, char *why, size_t len)
{
    enum tp_end end = peer_end(handle, why, len);

    return end == TP_DIED || end == TP_ABORTED;
}
