/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * join: both ways into a session, and making one. A rank in the root's own process adds itself
 * to the session directly; any other speaks TCP (dial.c).
 */
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "bootstrap/address.h"
#include "bootstrap/dial.h"
#include "bootstrap/server.h"

static pthread_once_t ready = PTHREAD_ONCE_INIT;

static void
get_ready(void)
{
    if (sodium_init() < 0)
        LOG_ERROR(BOOT, "libsodium does not start: no source of random numbers?");
    hc_fork_watch();
}

HcclResult
bs_connect_timeout(int64_t *timeout_ms)
{
    return hc_knob_connect_ms(timeout_ms);
}

/* Before a port is chosen. */
static void
make_id(struct root_info *info)
{
    char address[ADDRESS_TEXT_LEN];

    address_text(address, sizeof address, &info->addr);
    snprintf(info->id, ID_LEN, "%.40s_%u_%08x", address, info->pid, randombytes_random());
}

HcclResult
bs_root_create(HcclRootInfo *blob)
{
    struct session *session;
    struct root_info info;
    int64_t timeout_ms = 0;
    HcclResult rc;
    int cancel;

    if (hc_forked())
        return HCCL_E_INTERNAL;
    (void)pthread_once(&ready, get_ready);
    rc = bs_connect_timeout(&timeout_ms);
    if (rc != HCCL_SUCCESS)
        return rc;
    session = session_create(timeout_ms);
    if (session == NULL)
        return HCCL_E_MEMORY;
    cancel = hc_cancel_off(); /* as in bs_join */
    session->info.pid = (uint32_t)getpid();
    session->info.process = hc_process_id();
    randombytes_buf(session->info.secret, SECRET_LEN);
    rc = white_list_load(&session->hosts);
    if (rc == HCCL_SUCCESS)
        rc = address_choose(&session->info.addr);
    if (rc == HCCL_SUCCESS) {
        make_id(&session->info);
        rc = address_listen(&session->info.addr, &session->listen_fd);
    }
    info = session->info;
    session_lock();
    if (rc == HCCL_SUCCESS)
        rc = server_add(session); /* from here on it may end at any time */
    else
        session_release(session);
    session_unlock();
    hc_cancel_restore(cancel);
    if (rc == HCCL_SUCCESS)
        root_info_encode(blob, &info);
    return rc;
}

/* The session is in this process. */
static HcclResult
join_here(const struct root_info *info, const struct wire_hello *hello, struct bs_table **table)
{
    struct session *session;
    HcclResult rc = HCCL_SUCCESS;
    char why[WHY_LEN];

    session_lock();
    session = server_find(info->id);
    if (session == NULL || session->state != SESSION_COLLECTING) {
        snprintf(why, sizeof why, "%s", session_end_text(session, info->id));
        session_unlock();
        LOG_ERROR(BOOT, "the root info is used up (%s): make a new one with HcclGetRootInfo", why);
        return HCCL_E_PARA;
    }
    session->refs++;
    session_add(session, hello);
    server_wake();
    while (!session->retired) /* S2; its own deadline ends it */
        (void)session_wait(session, HC_FOREVER);
    if (session->state == SESSION_COMPLETE) {
        table_hold(session->table);
        *table = session->table;
    } else {
        rc = session->code;
        memcpy(why, session->why, sizeof why);
    }
    session_release(session);
    session_unlock();
    if (rc != HCCL_SUCCESS)
        LOG_ERROR(BOOT, "%s", why);
    return rc;
}

HcclResult
bs_join(const struct bs_join *join, struct bs_table **table)
{
    struct wire_hello hello = {.lib_version = LIB_VERSION,
                               .n_ranks = join->n_ranks,
                               .rank = join->rank,
                               .pid = (uint32_t)getpid(),
                               .timeout_ms = join->timeout_ms,
                               .blob = join->blob,
                               .blob_len = join->blob_len};
    struct root_info info;
    HcclResult rc;
    int cancel;

    if (hc_forked())
        return HCCL_E_INTERNAL;
    (void)pthread_once(&ready, get_ready);
    rc = root_info_decode(&info, join->info);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (join->n_ranks == 0 || join->n_ranks > MAX_RANKS || join->rank >= join->n_ranks) {
        LOG_ERROR(BOOT, "rank %u of %u ranks: there must be 1 to %u ranks, counted from 0",
                  join->rank, join->n_ranks, MAX_RANKS);
        return HCCL_E_PARA;
    }
    if (join->blob_len > BS_BLOB_MAX) {
        LOG_ERROR(BOOT, "rank %u has %u bytes to tell, at most %u go", join->rank, join->blob_len,
                  BS_BLOB_MAX);
        return HCCL_E_PARA;
    }
    if (hello.timeout_ms < 0) {
        rc = bs_connect_timeout(&hello.timeout_ms);
        if (rc != HCCL_SUCCESS)
            return rc;
    }
    cancel = hc_cancel_off(); /* it would leave the session locked, and our peers waiting */
    if (info.process == hc_process_id())
        rc = join_here(&info, &hello, table);
    else
        rc = dial_join(&info, &hello, join->timeout_ms < 0 ? 20000 : 2000, table);
    hc_cancel_restore(cancel);
    return rc;
}
