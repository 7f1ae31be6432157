/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "bootstrap/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "bootstrap/fd_limit.h"

#define EPITAPHS 16

/* One lock for all sessions: it is held for microseconds, and joining happens once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    char id[ID_LEN];
    char why[WHY_LEN];
} epitaphs[EPITAPHS];         /* under `lock` */
static unsigned next_epitaph; /* under `lock` */

void
session_lock(void)
{
    pthread_mutex_lock(&lock);
}

void
session_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct session *
session_create(int64_t timeout_ms)
{
    struct session *session = hc_zalloc(sizeof *session);
    pthread_condattr_t attr;

    if (session == NULL)
        return NULL;
    session->refs = 1;
    session->listen_fd = -1;
    session->began_ns = hc_now_ns();
    session->deadline_ns = hc_deadline_ms(timeout_ms);
    hc_list_init(&session->pending);
    hc_list_init(&session->joined_conns);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&session->changed, &attr);
    pthread_condattr_destroy(&attr);
    return session;
}

void
session_release(struct session *session)
{
    if (--session->refs > 0)
        return;
    for (uint32_t i = 0; i < session->n_ranks && session->members != NULL; i++)
        hc_free(session->members[i].blob);
    hc_free(session->members);
    bs_table_destroy(session->table);
    white_list_fini(&session->hosts);
    pthread_cond_destroy(&session->changed);
    hc_free(session);
}

void
session_fail(struct session *session, HcclResult code, const char *fmt, ...)
{
    va_list args;

    if (session->state != SESSION_COLLECTING)
        return;
    session->state = SESSION_FAILED;
    session->code = code;
    va_start(args, fmt);
    vsnprintf(session->why, sizeof session->why, fmt, args);
    va_end(args);
    pthread_cond_broadcast(&session->changed);
}

/* The first hello decides how many ranks there are. */
static bool
first_join(struct session *session, const struct wire_hello *hello)
{
    session->members = hc_calloc(hello->n_ranks, sizeof *session->members);
    if (session->members == NULL) {
        session_fail(session, HCCL_E_MEMORY, "the root has no memory for %u ranks", hello->n_ranks);
        return false;
    }
    session->n_ranks = hello->n_ranks;
    session->first_rank = hello->rank;
    session->began_ns = hc_now_ns();
    session->deadline_ns = HC_FOREVER; /* from now on the joiners' own limits count */
    return true;
}

/* Whether `hello` fits what the others said; fails the session if not. */
static bool
agrees(struct session *session, const struct wire_hello *hello)
{
    uint32_t theirs = hello->lib_version;

    if (theirs != LIB_VERSION) {
        session_fail(
            session, HCCL_E_PARA,
            "EI0008: rank %u runs library version %u.%u.%u, the root runs %u.%u.%u: install "
            "the same version everywhere",
            hello->rank, theirs / 10000, theirs / 100 % 100, theirs % 100, LIB_VERSION / 10000,
            LIB_VERSION / 100 % 100, LIB_VERSION % 100);
        return false;
    }
    if (hello->n_ranks == 0 || hello->n_ranks > MAX_RANKS || hello->rank >= hello->n_ranks) {
        session_fail(session, HCCL_E_PARA, "rank %u of %u ranks joined: ranks are 0 to %u",
                     hello->rank, hello->n_ranks, hello->n_ranks - 1);
        return false;
    }
    if (session->n_ranks == 0)
        return first_join(session, hello);
    if (hello->n_ranks != session->n_ranks) {
        session_fail(session, HCCL_E_PARA,
                     "EI0005: rank %u says there are %u ranks, rank %u says %u: pass the same "
                     "number on every rank",
                     hello->rank, hello->n_ranks, session->first_rank, session->n_ranks);
        return false;
    }
    if (session->members[hello->rank].present) {
        session_fail(session, HCCL_E_PARA,
                     "two callers joined as rank %u (processes %u and %u): give every process or "
                     "thread its own rank",
                     hello->rank, session->members[hello->rank].pid, hello->pid);
        return false;
    }
    return true;
}

static void
complete(struct session *session)
{
    session->table = table_from_members(session->members, session->n_ranks, session->info.id);
    if (session->table == NULL) {
        session_fail(session, HCCL_E_MEMORY, "the root has no memory for the table of %u ranks",
                     session->n_ranks);
        return;
    }
    session->state = SESSION_COMPLETE;
    pthread_cond_broadcast(&session->changed);
}

void
session_add(struct session *session, const struct wire_hello *hello)
{
    struct session_member *member;
    uint64_t deadline_ns = hc_deadline_ms(hello->timeout_ms);

    if (session->state != SESSION_COLLECTING || !agrees(session, hello))
        return;
    member = &session->members[hello->rank];
    member->blob = hc_zalloc(hello->blob_len);
    if (member->blob == NULL) {
        session_fail(session, HCCL_E_MEMORY, "the root has no memory for rank %u", hello->rank);
        return;
    }
    if (hello->blob_len > 0)
        memcpy(member->blob, hello->blob, hello->blob_len);
    member->len = hello->blob_len;
    member->pid = hello->pid;
    member->present = true;
    if (deadline_ns < session->deadline_ns)
        session->deadline_ns = deadline_ns;
    if (++session->joined == session->n_ranks)
        complete(session);
}

/* "ranks 1, 3-6 and 40 more" */
static void
missing_text(char *text, size_t len, const struct session *session)
{
    uint32_t left = session->n_ranks - session->joined;
    size_t used = (size_t)snprintf(text, len, left == 1 ? "rank" : "ranks");
    const char *separator = " ";

    for (uint32_t i = 0; i < session->n_ranks; i++) {
        uint32_t from = i;

        if (session->members[i].present)
            continue;
        while (i + 1 < session->n_ranks && !session->members[i + 1].present)
            i++;
        if (used + 64 > len) {
            snprintf(text + used, len - used, " and %u more", left);
            return;
        }
        used += (size_t)snprintf(text + used, len - used, from == i ? "%s%u" : "%s%u-%u", separator,
                                 from, i);
        left -= i - from + 1;
        separator = ", ";
    }
}

void
session_expire(struct session *session)
{
    double waited_s = (double)(hc_now_ns() - session->began_ns) / 1e9;
    char missing[200], limit[120] = "";

    if (session->was_short)
        snprintf(limit, sizeof limit,
                 "; the root ran out of descriptors, it may have %llu: raise its limit (ulimit -n)",
                 (unsigned long long)fd_limit());
    if (session->n_ranks == 0) {
        session_fail(session, HCCL_E_TIMEOUT,
                     "EI0015: no rank joined within %.1f s of making the "
                     "root info",
                     waited_s);
        return;
    }
    missing_text(missing, sizeof missing, session);
    session_fail(session, HCCL_E_TIMEOUT,
                 "EI0015: %s of %u did not join; the others waited %.1f s. See whether they have "
                 "started and reach this address, or raise HCCL_CONNECT_TIMEOUT%s",
                 missing, session->n_ranks, waited_s, limit);
}

bool
session_wait(struct session *session, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};

    if (deadline_ns == HC_FOREVER)
        return pthread_cond_wait(&session->changed, &lock) == 0;
    return pthread_cond_timedwait(&session->changed, &lock, &until) == 0;
}

static const char *
end_text(const struct session *session)
{
    return session->state == SESSION_FAILED ? session->why : "all its ranks have joined";
}

void
session_bury(const struct session *session)
{
    unsigned at = next_epitaph++ % EPITAPHS;

    memcpy(epitaphs[at].id, session->info.id, ID_LEN);
    snprintf(epitaphs[at].why, WHY_LEN, "%s", end_text(session));
}

const char *
session_end_text(const struct session *session, const char *id)
{
    if (session != NULL)
        return end_text(session);
    for (int i = 0; i < EPITAPHS; i++) {
        if (memcmp(epitaphs[i].id, id, ID_LEN) == 0)
            return epitaphs[i].why;
    }
    return "it has been for a while";
}
