/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks tell each other of their memory: descriptions that the program gives
 * (HcclExchangeMemDesc), or all that is bound (HcclCommPrepare).
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/one_sided.h"

#define ANY_PEER 0xFFFFFFFFu /* some programs leave the second rank open */

/* ---- one thread at a time ---- */

/* HCCL_E_AGAIN (logged): another thread swaps. Under the lock. */
static HcclResult
begin(bool *busy, const char *function, const struct one_sided *os)
{
    if (!*busy) {
        *busy = true;
        return HCCL_SUCCESS;
    }
    LOG_ERROR(P2P,
              "%s: another thread is in the same call for rank %u of %s: calls on one "
              "communicator must be serial",
              function, os->p2p->rank, comm_name(os->p2p->comm));
    return HCCL_E_AGAIN;
}

static void
end(struct one_sided *os, bool *busy)
{
    pthread_mutex_lock(&os->lock);
    *busy = false;
    pthread_mutex_unlock(&os->lock);
}

/* ---- exchange: out ---- */

/* Whether all are for the peer: else both sides fail. */
static bool
all_for(const HcclMemDesc *descs, uint32_t num, uint32_t rank, const char *whose)
{
    struct one_desc desc;

    for (uint32_t i = 0; i < num; i++) {
        memcpy(&desc, &descs[i], sizeof desc);
        if (desc.peer == rank || desc.peer == ANY_PEER)
            continue;
        LOG_ERROR(P2P,
                  "HcclExchangeMemDesc: description %u %s is for rank %u, and rank %u gets it: "
                  "register the memory for that one",
                  i, whose, desc.peer, rank);
        return false;
    }
    return true;
}

static HcclResult
exchange_write(const struct one_mail *mail, const HcclMemDescs *local, bool refused, void **letter,
               uint64_t *len)
{
    uint64_t descs_len = refused ? 0 : local->arrayLength * (uint64_t)sizeof(HcclMemDesc);
    char *out = hc_zalloc(sizeof(struct one_head) + descs_len);

    if (out == NULL)
        return HCCL_E_MEMORY;
    one_head_fill((struct one_head *)(void *)out, mail, refused ? 0 : local->arrayLength, refused);
    if (descs_len > 0)
        memcpy(out + sizeof(struct one_head), local->array, descs_len);
    *letter = out;
    *len = sizeof(struct one_head) + descs_len;
    return HCCL_SUCCESS;
}

/* ---- exchange: in ---- */

/* Whether a letter has what its head says. HCCL_E_INTERNAL (logged). */
static HcclResult
check_letter(const char *function, const struct one_peer *peer, const struct one_mail *mail,
             size_t each)
{
    const struct one_head *head = mail->kept;

    if (head->refused == 1) {
        LOG_ERROR(P2P, "%s: rank %u has failed in the same call: its message says why", function,
                  peer->rank);
        return HCCL_E_INTERNAL;
    }
    if (head->count <= ONE_SIDED_MOST &&
        mail->kept_len == sizeof *head + (uint64_t)head->count * each)
        return HCCL_SUCCESS;
    LOG_ERROR(P2P, "%s: the list of rank %u makes no sense: %u entries in %llu bytes", function,
              peer->rank, head->count, (unsigned long long)mail->kept_len);
    return HCCL_E_INTERNAL;
}

/* Remembers what stands for memory of the peer; programs' own texts are only passed on. */
static HcclResult
exchange_learn(struct one_sided *os, struct one_peer *peer, const HcclMemDesc *descs, uint32_t num)
{
    struct p2p_pair *pair = one_sided_pair(os, peer->rank);
    HcclResult rc = HCCL_SUCCESS;
    struct one_desc desc;

    pthread_mutex_lock(&os->lock);
    for (uint32_t i = 0; i < num && pair != NULL && rc == HCCL_SUCCESS; i++) {
        memcpy(&desc, &descs[i], sizeof desc);
        if (desc.owner == peer->rank && one_sided_record_valid(&desc.record))
            rc = one_far_learn(peer, pair, &desc, false);
    }
    peer->met = peer->met || rc == HCCL_SUCCESS;
    pthread_mutex_unlock(&os->lock);
    return rc;
}

static HcclResult
exchange_read(struct one_sided *os, struct one_peer *peer, HcclMemDescs *remote, u32 *actual)
{
    const struct one_head *head = peer->exchange.kept;
    const HcclMemDesc *descs = (const HcclMemDesc *)(const void *)(head + 1);
    HcclResult rc = check_letter("HcclExchangeMemDesc", peer, &peer->exchange, sizeof(HcclMemDesc));

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!all_for(descs, head->count, os->p2p->rank, "from the peer"))
        return HCCL_E_INTERNAL;
    if (head->count > remote->arrayLength) {
        LOG_ERROR(P2P,
                  "HcclExchangeMemDesc: rank %u sent %u descriptions, and remote has room for %u: "
                  "give more room",
                  peer->rank, head->count, remote->arrayLength);
        return HCCL_E_PARA;
    }
    rc = exchange_learn(os, peer, descs, head->count);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (head->count > 0)
        memcpy(remote->array, descs, head->count * sizeof *descs);
    *actual = head->count;
    return HCCL_SUCCESS;
}

/* ---- exchange ---- */

static HcclResult
exchange_swap(struct one_sided *os, struct one_peer *peer, const HcclMemDescs *local, bool refused,
              int timeout_s)
{
    struct one_mail *mail = &peer->exchange;
    uint64_t most = sizeof(struct one_head) + ONE_SIDED_MOST * sizeof(HcclMemDesc), len = 0;
    void *out = NULL;
    HcclResult rc = exchange_write(mail, local, refused, &out, &len);
    struct one_letter letter = {.peer = peer->rank, .mail = mail, .out = out, .out_len = len};

    if (rc != HCCL_SUCCESS)
        return rc;
    mail->sent = false; /* the list may be another one than in an attempt that failed */
    rc = one_sided_swap(os, "HcclExchangeMemDesc", ONE_SIDED_TAG_EXCHANGE, &letter, 1, most,
                        timeout_s);
    hc_free(out);
    return rc;
}

HcclResult
one_sided_exchange(struct one_sided *os, uint32_t rank, const HcclMemDescs *local, int timeout_s,
                   HcclMemDescs *remote, u32 *actual)
{
    bool refused = !all_for(local->array, local->arrayLength, rank, "in local");
    HcclResult rc = HCCL_E_MEMORY;
    struct one_peer *peer;

    pthread_mutex_lock(&os->lock);
    peer = one_sided_peer(os, rank);
    if (peer != NULL)
        rc = begin(&peer->exchanging, "HcclExchangeMemDesc", os);
    pthread_mutex_unlock(&os->lock);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = exchange_swap(os, peer, local, refused, timeout_s);
    if (rc == HCCL_SUCCESS) {
        rc = refused ? HCCL_E_INTERNAL : exchange_read(os, peer, remote, actual);
        if (rc != HCCL_E_MEMORY) { /* then the letter waits for the call to be repeated */
            one_mail_done(&peer->exchange);
            peer->exchange.number++; /* as at the peer, whatever this side makes of the letter */
        }
    }
    end(os, &peer->exchanging);
    return rc;
}

/* ---- prepare ---- */

/* What the peers are told. It is written once: who repeats a call that failed tells those who have
 * not heard it the same. Under the lock. */
static HcclResult
announce(struct one_sided *os)
{
    uint64_t len = sizeof(struct one_head) + os->bound_num * sizeof(struct one_record);
    static const struct one_mail first;
    struct one_record *record;
    struct one_head *head;

    if (os->announcement != NULL)
        return HCCL_SUCCESS;
    head = hc_zalloc(len);
    if (head == NULL)
        return HCCL_E_MEMORY;
    one_head_fill(head, &first, os->bound_num, false);
    record = (struct one_record *)(void *)(head + 1);
    HC_LIST_EACH (node, &os->bound)
        *record++ = HC_CONTAINER(node, struct one_bound, in_os)->record;
    os->announcement = head;
    os->announcement_len = len;
    return HCCL_SUCCESS;
}

static HcclResult
write_letters(struct one_sided *os, struct one_letter *letters)
{
    HcclResult rc = announce(os);
    uint32_t at = 0;

    for (uint32_t i = 0; i < os->p2p->rank_num && rc == HCCL_SUCCESS; i++) {
        struct one_peer *peer;

        if (i == os->p2p->rank)
            continue;
        peer = one_sided_peer(os, i);
        if (peer == NULL)
            return HCCL_E_MEMORY;
        letters[at++] = (struct one_letter){.peer = i,
                                            .mail = &peer->prepare,
                                            .out = os->announcement,
                                            .out_len = os->announcement_len};
    }
    return rc;
}

/* What one peer has bound. Under the lock. */
static HcclResult
prepare_learn(struct one_sided *os, struct one_peer *peer, struct p2p_pair *pair)
{
    const struct one_mail *mail = &peer->prepare;
    const struct one_head *head = mail->kept;
    struct one_desc desc = {.owner = peer->rank, .peer = os->p2p->rank};
    HcclResult rc = check_letter("HcclCommPrepare", peer, mail, sizeof(struct one_record));

    for (uint32_t i = 0; rc == HCCL_SUCCESS && i < head->count; i++) {
        desc.record = ((const struct one_record *)(const void *)(head + 1))[i];
        if (!one_sided_record_valid(&desc.record)) {
            LOG_ERROR(P2P, "HcclCommPrepare: rank %u describes memory that cannot be", peer->rank);
            return HCCL_E_INTERNAL;
        }
        rc = one_far_learn(peer, pair, &desc, true);
    }
    return rc;
}

static HcclResult
prepare_all(struct one_sided *os, struct one_letter *letters, int timeout_s)
{
    uint64_t most = sizeof(struct one_head) + ONE_SIDED_MOST * sizeof(struct one_record);
    uint32_t num = os->p2p->rank_num - 1;
    HcclResult rc;

    pthread_mutex_lock(&os->lock);
    os->told = true;
    rc = write_letters(os, letters);
    pthread_mutex_unlock(&os->lock);
    if (rc == HCCL_SUCCESS)
        rc = one_sided_swap(os, "HcclCommPrepare", ONE_SIDED_TAG_PREPARE, letters, num, most,
                            timeout_s);
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        struct p2p_pair *pair = one_sided_pair(os, letters[i].peer);

        pthread_mutex_lock(&os->lock);
        rc = prepare_learn(os, os->peers[letters[i].peer], pair);
        pthread_mutex_unlock(&os->lock);
    }
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        one_mail_done(letters[i].mail);
    return rc;
}

HcclResult
one_sided_prepare(struct one_sided *os, int timeout_s)
{
    struct one_letter *letters;
    HcclResult rc;
    bool done;

    pthread_mutex_lock(&os->lock);
    rc = begin(&os->preparing, "HcclCommPrepare", os);
    done = os->prepared;
    pthread_mutex_unlock(&os->lock);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!done) {
        letters = hc_calloc(os->p2p->rank_num, sizeof *letters);
        rc = letters == NULL ? HCCL_E_MEMORY : prepare_all(os, letters, timeout_s);
        hc_free(letters);
    }
    pthread_mutex_lock(&os->lock);
    os->prepared = os->prepared || rc == HCCL_SUCCESS;
    pthread_mutex_unlock(&os->lock);
    end(os, &os->preparing);
    return rc;
}
