/* SPDX-License-Identifier: BSD-3-Clause */
/* How a connection ended, as far as can be seen here; see shm_meet.h. */
#include <ctype.h>
#include <string.h>

#include "base/log.h"
#include "transport/shm_meet.h"

void
end_text(char *to, const char *from, size_t len)
{
    len = strnlen(from, len < SEGMENT_WHY - 1 ? len : SEGMENT_WHY - 1);
    for (size_t i = 0; i < len; i++)
        to[i] = iscntrl((unsigned char)from[i]) ? '?' : from[i];
    to[len] = '\0';
}

void
end_set(struct shm_conn *conn, enum tp_end end)
{
    if (conn->end != TP_OPEN)
        return;
    conn->end = end;
    atomic_store(&conn->ended, true); /* C1 */
}

/* The slot of the peer says so, and its text is this (it does not change while the state stays). */
static void
look_at_slot(struct shm_conn *conn, const struct shm_slot *slot)
{
    uint32_t state = atomic_load(&slot->state);
    char why[SEGMENT_WHY];

    if (state == id_state(&conn->peer_id, SLOT_CLOSED))
        end_set(conn, TP_CLOSED);
    if (state != id_state(&conn->peer_id, SLOT_ABORTED) || conn->end != TP_OPEN)
        return;
    memcpy(why, slot->why, sizeof why);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != state)
        return; /* used again; the message tells */
    end_text(conn->end_text, why, sizeof why);
    end_set(conn, TP_ABORTED);
}

static enum tp_end
end_of_link(enum link_end end)
{
    switch (end) {
    case LINK_LEFT:
        return TP_EXITED;
    case LINK_LOST:
    case LINK_REFUSED:
        return TP_LOST;
    default:
        return TP_DIED;
    }
}

void
end_look(struct shm_conn *conn)
{
    if (conn->end != TP_OPEN)
        return;
    if (conn->state == MEET_DONE)
        look_at_slot(conn, &conn->peer_segment->slots[conn->peer_id.slot]);
    if (conn->end == TP_OPEN && link_state(conn->link) == LINK_GONE) {
        end_set(conn, end_of_link(link_ending(conn->link, conn->end_text, sizeof conn->end_text)));
        conn->no_link = conn->state != MEET_DONE;
    }
}

HcclResult
end_no_link(struct shm_conn *conn)
{
    enum link_end why = link_ending(conn->link, conn->end_text, sizeof conn->end_text);

    if (why != LINK_ABSENT && why != LINK_REFUSED)
        return HCCL_E_REMOTE;
    if (!conn->failure_told && why == LINK_ABSENT)
        LOG_INFO(SHM,
                 "%s does not answer: it has ended, or it is not on this host and in this network "
                 "namespace",
                 conn->end_text);
    if (!conn->failure_told && why == LINK_REFUSED)
        LOG_ERROR(SHM, "there is no link to %s: the log says above what it or this process refused",
                  conn->end_text);
    conn->failure_told = true;
    return HCCL_E_TCP_CONNECT;
}
