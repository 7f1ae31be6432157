/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How two ends of one key find each other over the link of their processes, and learn how it ended.
 *
 *     side 1                                side 0
 *     OFFER its slot, what it tells  --->   kept until an end of that key is there
 *                                    <---   PAIR both slots, what side 0 tells
 *     MET: connected, DONE           --->   DONE
 *     SETTLED: has mapped all        <-->   SETTLED
 *
 * The process of side 0 alone decides who is paired with whom: its oldest end with the oldest offer
 * of the same key. An offer whose end has closed (its slot says so at once, a message later) is
 * passed over. If it closes while PAIR is on its way, nobody answers MET: its PART lets side 0 wait
 * again. So an end that left is never met by one that came later.
 *
 * Each end says PART when it closes, ABORT when it cannot go on. Its slot says so too, and earlier.
 *
 * M1  All here is under `lock`, also sending, so messages of one end leave in order. on_change is
 *     called under it and only for an end that has not closed.
 * M2  An end calls into the peer's memory only when it is DONE. Side 1, which is DONE first, knows
 *     the slot of side 0, and side 0 knows that of side 1 from PAIRED on: each closing end knows
 *     whom to wait for.
 * M3  Nothing in a message is believed: numbers are checked against the link it came by. What a
 *     peer can keep here is bounded (shm_meet.h).
 * M4  An end that has been seen already, in the slot, is told of all the same: who saw it need not
 *     be who waits for on_change.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "transport/lease.h"
#include "transport/shm_meet.h"

#define GENERATION_MOST 0xFFFFFFu
#define PATIENCE_MS 1000 /* for a message that has been sent already */

enum kind {
    KIND_OFFER = 1,
    KIND_PAIR,
    KIND_MET,
    KIND_PART,
    KIND_ABORT,
    KIND_REFUSE,
    KIND_SETTLED,
};

/* Head of a message; OFFER and PAIR: what is told follows; ABORT: the reason. */
struct message {
    uint32_t kind;
    uint32_t word_num, hello_len; /* OFFER, PAIR */
    uint32_t pad;
    struct shm_end_id from, to; /* `to`: not in OFFER, and in PART and ABORT only if it is known */
    uint8_t key[SHM_KEY_LEN];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all that follows */
static struct hc_list buckets[KEY_BUCKETS]; /* of ends of side 0 that are not DONE, in order */
static struct hc_list all = {&all, &all};   /* open ends */
static struct hc_list leaving = {&leaving, &leaving}; /* closed ones, whose peer may be in a call */
static struct hc_list unsent = {&unsent, &unsent};    /* of side 1, no offer sent yet, in order */
static struct shm_conn *by_slot[SEGMENT_SLOTS];

static int
lock_all(void)
{
    int cancel = hc_cancel_off();

    pthread_mutex_lock(&lock);
    return cancel;
}

static void
unlock_all(int cancel)
{
    pthread_mutex_unlock(&lock);
    hc_cancel_restore(cancel);
}

static struct hc_list *
bucket_of(const uint8_t *key)
{
    struct hc_list *bucket = &buckets[key_bucket(key)];

    if (bucket->next == NULL)
        hc_list_init(bucket);
    return bucket;
}

/* The own end that a peer names; NULL: there is none, or it has another peer. */
static struct shm_conn *
find(struct shm_link *link, const struct shm_end_id *id)
{
    struct shm_conn *conn = id->slot < SEGMENT_SLOTS ? by_slot[id->slot] : NULL;

    return conn != NULL && conn->link == link && id_same(&conn->id, id) ? conn : NULL;
}

/* ---- out ---- */

static void
fill(struct message *message, enum kind kind, const struct shm_conn *conn)
{
    *message = (struct message){.kind = kind, .from = conn->id, .to = conn->peer_id};
    memcpy(message->key, conn->key, SHM_KEY_LEN);
}

static HcclResult
send_told(struct shm_conn *conn, enum kind kind)
{
    struct message message;

    fill(&message, kind, conn);
    message.word_num = conn->told.word_num;
    message.hello_len = conn->told.hello_len;
    return told_send(conn->link, &message, sizeof message, &conn->told);
}

/* `text` NULL: none. If the link is gone, everybody learns of that. */
static void
send_short(struct shm_conn *conn, enum kind kind, const char *text)
{
    uint8_t bytes[sizeof(struct message) + SEGMENT_WHY];
    size_t len = text == NULL ? 0 : strnlen(text, SEGMENT_WHY - 1);
    struct message message;

    fill(&message, kind, conn);
    memcpy(bytes, &message, sizeof message);
    if (len > 0)
        memcpy(bytes + sizeof message, text, len);
    (void)link_send(conn->link, LINK_MSG_CONN, bytes, (uint32_t)(sizeof message + len), -1);
}

static void
fail(struct shm_conn *conn, HcclResult rc)
{
    if (rc != HCCL_E_REMOTE) /* that is seen as the end of the link */
        conn->failure = rc;
    hc_list_remove(&conn->in_wait);
    if (!conn->closed)
        conn->on_change(conn->arg); /* M1 */
}

/* Ends of side 1 that could not be sent so far, in order. */
static void
send_offers(struct shm_link *link)
{
    HC_LIST_EACH_SAFE (node, &unsent) {
        struct shm_conn *conn = HC_CONTAINER(node, struct shm_conn, in_wait);
        HcclResult rc;

        if (conn->link != link)
            continue;
        hc_list_remove(node);
        rc = send_told(conn, KIND_OFFER);
        if (rc == HCCL_SUCCESS)
            conn->state = MEET_OFFERED;
        else
            fail(conn, rc);
    }
}

/* ---- side 0 decides ---- */

/* Answers the oldest offer that fits; false: there is none. */
static bool
pair(struct shm_conn *conn)
{
    struct offer *offer = offer_first(conn->link, conn->key);
    HcclResult rc;

    if (offer == NULL)
        return false;
    conn->peer_id = offer->id;
    rc = send_told(conn, KIND_PAIR);
    if (rc != HCCL_SUCCESS) {
        conn->peer_id.slot = SHM_NO_SLOT;
        fail(conn, rc);
        return true; /* the offer is for the next end */
    }
    conn->state = MEET_PAIRED;
    told_free(&conn->heard); /* of one that left meanwhile */
    conn->heard = offer->told;
    offer->told.bytes = NULL;
    offer_drop(offer);
    return true;
}

/* Pairs as many ends of `key` as there are offers. */
static void
pair_all(const struct shm_link *link, const uint8_t *key)
{
    HC_LIST_EACH_SAFE (node, bucket_of(key)) {
        struct shm_conn *conn = HC_CONTAINER(node, struct shm_conn, in_wait);

        if (conn->link == link && conn->state == MEET_WAITING && key_same(conn->key, key) &&
            !pair(conn))
            return;
    }
}

/* ---- in ---- */

/* Both ends know of each other. */
static void
done(struct shm_conn *conn)
{
    conn->state = MEET_DONE;
    conn->peer_segment = link_segment(conn->link);
    conn->on_change(conn->arg); /* M1 */
}

static void
refuse(struct shm_link *link, const struct shm_end_id *id)
{
    const struct message message = {.kind = KIND_REFUSE, .to = *id};

    (void)link_send(link, LINK_MSG_CONN, &message, sizeof message, -1);
}

static void
on_offer(struct shm_link *link, const struct message *message, struct shm_told *told)
{
    if (offer_keep(link, message->key, &message->from, told))
        pair_all(link, message->key);
    else
        refuse(link, &message->from);
}

static void
on_pair(struct shm_link *link, const struct message *message, struct shm_told *told)
{
    struct shm_conn *conn = find(link, &message->to);

    if (conn == NULL || conn->side != 1 || conn->state != MEET_OFFERED)
        return; /* it has closed: PART has told so, and nobody says MET */
    conn->peer_id = message->from;
    conn->heard = *told;
    told->bytes = NULL;
    send_short(conn, KIND_MET, NULL);
    done(conn);
}

static void
on_met(struct shm_link *link, const struct message *message)
{
    struct shm_conn *conn = find(link, &message->to);

    if (conn == NULL || conn->state != MEET_PAIRED || !id_same(&conn->peer_id, &message->from))
        return;
    hc_list_remove(&conn->in_wait);
    done(conn);
}

static void
on_settled(struct shm_link *link, const struct message *message)
{
    struct shm_conn *conn = find(link, &message->to);

    if (conn == NULL || conn->state != MEET_DONE || !id_same(&conn->peer_id, &message->from))
        return;
    atomic_store(&conn->peer_settled, true);
    conn->on_change(conn->arg); /* M1 */
}

/* The end of side 0 that has answered the offer `id`. */
static struct shm_conn *
paired_with(const struct shm_link *link, const struct message *message)
{
    HC_LIST_EACH (node, bucket_of(message->key)) {
        struct shm_conn *conn = HC_CONTAINER(node, struct shm_conn, in_wait);

        if (conn->link == link && conn->state == MEET_PAIRED &&
            id_same(&conn->peer_id, &message->from))
            return conn;
    }
    return NULL;
}

/* An end closed that has not met any here, or does not know that it has. */
static void
withdraw(struct shm_link *link, const struct message *message)
{
    struct shm_conn *conn = paired_with(link, message);

    if (conn != NULL) {
        conn->state = MEET_WAITING;
        conn->peer_id.slot = SHM_NO_SLOT;
        pair_all(link, conn->key);
        return;
    }
    offer_withdraw(link, message->key, &message->from);
}

static void
on_end(struct shm_link *link, const struct message *message, const char *text, uint32_t len)
{
    struct shm_conn *conn = find(link, &message->to);
    bool met = conn != NULL && conn->state == MEET_DONE && id_same(&conn->peer_id, &message->from);

    if (!met) {
        if (message->kind == KIND_PART)
            withdraw(link, message);
        return; /* an end that aborted unmet is met all the same, and its slot tells */
    }
    if (message->kind == KIND_ABORT && conn->end == TP_OPEN)
        end_text(conn->end_text, text, len);
    end_set(conn, message->kind == KIND_ABORT ? TP_ABORTED : TP_CLOSED);
    conn->on_change(conn->arg); /* M4 */
}

static void
on_refuse(struct shm_link *link, const struct message *message)
{
    struct shm_conn *conn = find(link, &message->to);

    if (conn == NULL || conn->end != TP_OPEN)
        return;
    snprintf(conn->end_text, sizeof conn->end_text,
             "process %d takes no more connections: it is out of memory, or too many wait there",
             (int)link_pid(link));
    end_set(conn, TP_ABORTED);
    hc_list_remove(&conn->in_wait);
    conn->on_change(conn->arg); /* M1 */
}

/* What came with OFFER or PAIR: both ends learn. */
static void
on_untaken(struct shm_link *link, const struct message *message, HcclResult rc)
{
    struct shm_conn *conn = message->kind == KIND_PAIR ? find(link, &message->to) : NULL;

    refuse(link, &message->from);
    if (conn == NULL || conn->state != MEET_OFFERED)
        return;
    if (rc == HCCL_E_PARA)
        LOG_ERROR(SHM, "process %d answered with what is no description of an end",
                  (int)link_pid(link));
    fail(conn, rc);
}

static void
handle(struct shm_link *link, const struct message *message, const uint8_t *rest, uint32_t len,
       int fd)
{
    struct shm_told told = {.word_num = message->word_num, .hello_len = message->hello_len};
    HcclResult rc;

    switch (message->kind) {
    case KIND_OFFER:
    case KIND_PAIR:
        rc = told_take(&told, rest, len, fd);
        if (rc != HCCL_SUCCESS)
            on_untaken(link, message, rc);
        else if (message->kind == KIND_OFFER)
            on_offer(link, message, &told);
        else
            on_pair(link, message, &told);
        told_free(&told);
        break;
    case KIND_MET:
        on_met(link, message);
        break;
    case KIND_PART:
    case KIND_ABORT:
        on_end(link, message, (const char *)rest, len);
        break;
    case KIND_REFUSE:
        on_refuse(link, message);
        break;
    case KIND_SETTLED:
        on_settled(link, message);
        break;
    default: /* of a later version: nothing we said asks for it */
        break;
    }
}

void
conn_message(struct shm_link *link, const void *body, uint32_t len, int fd)
{
    struct message message;

    if (len >= sizeof message) {
        memcpy(&message, body, sizeof message);
        if (message.from.slot < SEGMENT_SLOTS && message.from.generation <= GENERATION_MOST) {
            int cancel = lock_all();

            handle(link, &message, (const uint8_t *)body + sizeof message,
                   len - (uint32_t)sizeof message, fd);
            unlock_all(cancel);
        }
    }
    if (fd >= 0)
        close(fd);
}

void
conn_link_changed(struct shm_link *link)
{
    bool gone = link_state(link) == LINK_GONE;
    int cancel = lock_all();

    if (!gone)
        send_offers(link);
    else
        offers_drop_all(link);
    HC_LIST_EACH (node, &all) {
        struct shm_conn *conn = HC_CONTAINER(node, struct shm_conn, in_all);

        if (!gone || conn->link != link)
            continue;
        end_look(conn);
        conn->on_change(conn->arg); /* M4 */
    }
    unlock_all(cancel);
}

/* ---- what the calls of an end do ---- */

/* Whether a transfer of the list's peers is counted under the turn. */
static bool
any_counted(const struct hc_list *list, uint32_t turn)
{
    HC_LIST_EACH (node, list) {
        struct shm_conn *conn = HC_CONTAINER(node, struct shm_conn, in_all);
        const struct shm_end_id *peer = &conn->peer_id;

        if (peer->slot != SHM_NO_SLOT &&
            shm_peer_counts(conn, peer, &link_segment(conn->link)->slots[peer->slot].leased[turn]))
            return true;
    }
    return false;
}

bool
shm_quiet(uint32_t turn)
{
    int cancel = lock_all();
    bool quiet = !any_counted(&all, turn) && !any_counted(&leaving, turn);

    unlock_all(cancel);
    return quiet;
}

void
meet_open(struct shm_conn *conn)
{
    int cancel = lock_all();
    enum link_state state;

    conn->peer_id.slot = SHM_NO_SLOT;
    by_slot[conn->id.slot] = conn;
    hc_list_push_back(&all, &conn->in_all);
    hc_list_push_back(conn->side == 0 ? bucket_of(conn->key) : &unsent, &conn->in_wait);
    state = link_state(conn->link); /* if it changes now, conn_link_changed() finds the end */
    if (state == LINK_GONE)
        conn->on_change(conn->arg); /* M1 */
    else if (state == LINK_UP && conn->side == 0)
        pair_all(conn->link, conn->key);
    else if (state == LINK_UP)
        send_offers(conn->link);
    unlock_all(cancel);
}

HcclResult
meet_poll(struct shm_conn *conn)
{
    HcclResult rc = HCCL_E_AGAIN;
    int cancel = lock_all();

    end_look(conn);
    if (conn->failure != HCCL_SUCCESS)
        rc = conn->failure;
    else if (conn->no_link)
        rc = end_no_link(conn);
    else if (conn->end != TP_OPEN)
        rc = HCCL_E_REMOTE;
    else if (conn->state == MEET_DONE)
        rc = HCCL_SUCCESS;
    unlock_all(cancel);
    return rc;
}

void
meet_settle(struct shm_conn *conn)
{
    int cancel = lock_all();

    if (!conn->closed && conn->state == MEET_DONE && !atomic_exchange(&conn->settled, true))
        send_short(conn, KIND_SETTLED, NULL);
    unlock_all(cancel);
}

struct shm_end_id
meet_close(struct shm_conn *conn)
{
    struct shm_end_id peer;
    int cancel = lock_all();

    if (!conn->closed) {
        end_look(conn); /* how it ended before is what ending() tells */
        conn->closed = true;
        if (!conn->aborted)
            atomic_store(&conn->own->state, id_state(&conn->id, SLOT_CLOSED)); /* C1 */
        end_set(conn, TP_CLOSED);
        hc_list_remove(&conn->in_all);
        hc_list_push_back(&leaving, &conn->in_all);
        hc_list_remove(&conn->in_wait);
        by_slot[conn->id.slot] = NULL;
        if (conn->state != MEET_WAITING) /* the peer has heard of it */
            send_short(conn, KIND_PART, NULL);
    }
    peer = conn->peer_id;
    unlock_all(cancel);
    return peer;
}

void
meet_left(struct shm_conn *conn)
{
    int cancel = lock_all();

    hc_list_remove(&conn->in_all);
    unlock_all(cancel);
}

void
meet_abort(struct shm_conn *conn, const char *why)
{
    int cancel = lock_all();

    if (!conn->closed && !conn->aborted) {
        end_look(conn);
        conn->aborted = true;
        snprintf(conn->own->why, SEGMENT_WHY, "%s", why);
        atomic_store(&conn->own->state, id_state(&conn->id, SLOT_ABORTED)); /* C1, and `why` */
        end_set(conn, TP_CLOSED);
        if (conn->state != MEET_WAITING) /* the peer has heard of it */
            send_short(conn, KIND_ABORT, why);
    }
    unlock_all(cancel);
}

enum tp_end
meet_ending(struct shm_conn *conn, char *text, size_t len)
{
    int outer = hc_cancel_off(), cancel; /* our caller may hold a lock while we sleep */
    enum tp_end end = TP_OPEN;
    bool moved_on = true;

    for (int tries = 0; tries < PATIENCE_MS && end == TP_OPEN && moved_on; tries++) {
        if (tries > 0)
            usleep(1000); /* its slot has been given back: the message that tells is on its way */
        cancel = lock_all();
        end_look(conn);
        end = conn->end;
        moved_on = end == TP_OPEN && conn->state == MEET_DONE &&
                   atomic_load(&conn->peer_segment->slots[conn->peer_id.slot].state) !=
                       id_state(&conn->peer_id, SLOT_OPEN);
        if (len > 0)
            snprintf(text, len, "%s", end == TP_OPEN ? "" : conn->end_text);
        unlock_all(cancel);
    }
    hc_cancel_restore(outer);
    return end == TP_OPEN && moved_on ? TP_CLOSED : end;
}
