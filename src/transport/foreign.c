/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign: memory of another process that cannot be mapped: the calls, and which way a transfer
 * goes. The ranges that stand for such memory: standin.c. The processes: peer.c. The ways: cma.c,
 * bounce.c; the choice between them: path.c. The other side: bounce_serve.c, offer.c.
 */
#include "transport/foreign.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "transport/path.h"
#include "transport/peer.h"
#include "transport/standin.h"

#define ENDING_MS 1000

/* ---- Stand-ins ---- */

static HcclResult
check_region(struct shm_link *link, const struct tp_region *region)
{
    if (region->len > UINT64_MAX / 2 || region->addr > UINT64_MAX - region->len) {
        LOG_ERROR(SHM, "process %d describes memory that cannot be: %llu bytes at 0x%llx",
                  (int)link_pid(link), (unsigned long long)region->len,
                  (unsigned long long)region->addr);
        return HCCL_E_PARA;
    }
    if (region->lease == 0) {
        LOG_ERROR(SHM,
                  "process %d offers %llu bytes at 0x%llx without a lease, and they lie in no "
                  "shared file: register the memory there",
                  (int)link_pid(link), (unsigned long long)region->len,
                  (unsigned long long)region->addr);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcclResult
foreign_add(struct shm_link *link, const struct tp_region *region, void **local)
{
    int cancel = hc_cancel_off();
    struct foreign_peer *peer;
    struct standin *standin;
    HcclResult rc;

    rc = check_region(link, region);
    if (rc == HCCL_SUCCESS)
        rc = path_init();
    if (rc == HCCL_SUCCESS)
        rc = peer_get(link, &peer);
    if (rc == HCCL_SUCCESS) {
        rc = standin_add(peer, region, &standin);
        if (rc == HCCL_SUCCESS)
            *local = (void *)(uintptr_t)standin->local;
        else
            peer_release(peer);
    }
    hc_cancel_restore(cancel);
    return rc;
}

void
foreign_remove(void *local)
{
    int cancel = hc_cancel_off();
    struct foreign_peer *peer = local == NULL ? NULL : standin_remove(local);

    if (peer != NULL)
        peer_release(peer);
    hc_cancel_restore(cancel);
}

/* ---- Transfers ---- */

HcclResult
foreign_not_there(const struct foreign_move *move)
{
    LOG_ERROR(SHM,
              "%llu bytes at 0x%llx of process %d are not there (any more): memory must be "
              "unregistered before it is freed, and be writable to be written",
              (unsigned long long)move->len, (unsigned long long)move->addr,
              (int)link_pid(move->link));
    return HCCL_E_MEMORY;
}

HcclResult
foreign_not_offered(const struct foreign_move *move)
{
    LOG_ERROR(SHM,
              "%llu bytes at 0x%llx of process %d are not offered any more: they have been "
              "unregistered there",
              (unsigned long long)move->len, (unsigned long long)move->addr,
              (int)link_pid(move->link));
    return HCCL_E_PARA;
}

static HcclResult
by_bounce(struct foreign_peer *peer, const struct foreign_move *move)
{
    struct bounce *bounce;
    HcclResult rc = peer_bounce(peer, &bounce);

    return rc == HCCL_SUCCESS ? bounce_move(bounce, move) : rc;
}

/* A process that cannot be found any more: the link will say so in a moment. */
static bool
is_ending(struct shm_link *link)
{
    const struct timespec nap = {.tv_nsec = 1000000};

    for (int i = 0; i < ENDING_MS && link_state(link) != LINK_GONE; i++)
        (void)nanosleep(&nap, NULL);
    return link_state(link) == LINK_GONE;
}

/* cma is not possible to this peer. */
static HcclResult
without_cma(struct foreign_peer *peer, const struct foreign_move *rest, int error)
{
    if (error == ESRCH) {
        if (is_ending(rest->link))
            return HCCL_E_REMOTE;
        error = ENOTSUP;
        peer_no_cma(peer, error); /* it lives: do not look for its end again */
    }
    if (!path_is_pinned_to_cma()) {
        path_no_cma(error);
        return by_bounce(peer, rest);
    }
    LOG_ERROR(SHM,
              "HCOMM_FOREIGN is cma, but memory of process %d cannot be reached by "
              "process_vm_readv and process_vm_writev: %s; set it to auto or bounce",
              (int)link_pid(rest->link), strerror(error));
    return HCCL_E_NOT_SUPPORT;
}

static HcclResult
by_cma(struct foreign_peer *peer, const struct foreign_move *move)
{
    struct foreign_move rest = *move;
    struct cma_cookie cookie;
    uint64_t moved;
    HcclResult rc;
    int error;

    if (!peer_cookie(peer, &cookie, &error))
        return without_cma(peer, move, error);
    rc = cma_move(move, &cookie, &moved, &error);
    if (rc != HCCL_E_NOT_SUPPORT)
        return rc;
    peer_no_cma(peer, error);
    rest.addr += moved;
    rest.local += moved;
    rest.len -= moved;
    return without_cma(peer, &rest, error);
}

/* Part of it one way, part the other. */
static HcclResult
measure(struct foreign_peer *peer, const struct foreign_move *move)
{
    struct foreign_move part = *move;
    struct cma_cookie cookie;
    HcclResult rc = HCCL_SUCCESS;
    int error;

    if (!peer_cookie(peer, &cookie, &error))
        return without_cma(peer, move, error);
    for (uint64_t at = 0; at < move->len && rc == HCCL_SUCCESS; at += part.len) {
        enum path path = path_next();
        uint64_t begin;

        part.addr = move->addr + at;
        part.local = move->local + at;
        part.len = move->len - at < PATH_SAMPLE_LEN ? move->len - at : PATH_SAMPLE_LEN;
        begin = hc_now_ns();
        rc = path == PATH_CMA ? by_cma(peer, &part) : by_bounce(peer, &part);
        if (rc == HCCL_SUCCESS && peer_cookie(peer, &cookie, &error)) /* it went that way */
            path_measured(path, part.len, hc_now_ns() - begin);
    }
    return rc;
}

static HcclResult
move_by_path(struct foreign_peer *peer, const struct foreign_move *move)
{
    if (link_state(move->link) == LINK_GONE)
        return HCCL_E_REMOTE;
    if (!segment_leased(link_segment(move->link), move->lease))
        return foreign_not_offered(move);
    switch (path_for(move->len)) {
    case PATH_CMA:
        return by_cma(peer, move);
    case PATH_BOUNCE:
        return by_bounce(peer, move);
    default:
        return measure(peer, move);
    }
}

static HcclResult
transfer(const void *remote, void *local, uint64_t len, bool write)
{
    int cancel = hc_cancel_off();
    struct standin *standin = standin_use(remote);
    uint64_t offset = standin == NULL ? 0 : (uint64_t)(uintptr_t)remote - standin->local;
    HcclResult rc = HCCL_E_PARA;

    if (standin == NULL) {
        LOG_ERROR(SHM, "%p is no memory of another process (any more)", remote);
    } else if (len > standin->len - offset) {
        LOG_ERROR(SHM, "%llu bytes at %p leave memory of process %d, which ends %llu bytes further",
                  (unsigned long long)len, remote, (int)link_pid(peer_link(standin->peer)),
                  (unsigned long long)(standin->len - offset));
    } else {
        struct foreign_move move = {.link = peer_link(standin->peer),
                                    .write = write,
                                    .addr = standin->addr + offset,
                                    .local = local,
                                    .len = len,
                                    .lease = standin->lease};

        rc = len == 0 ? HCCL_SUCCESS : move_by_path(standin->peer, &move);
    }
    if (standin != NULL)
        standin_unuse(standin);
    hc_cancel_restore(cancel);
    return rc;
}

HcclResult
foreign_write(void *remote, const void *src, uint64_t len)
{
    return transfer(remote, (void *)(uintptr_t)src, len, true);
}

HcclResult
foreign_read(void *dst, const void *remote, uint64_t len)
{
    return transfer(remote, dst, len, false);
}
