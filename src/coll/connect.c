/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect: the first operation of a communicator connects every rank with every other, whatever the
 * operation is: so ranks that call different ones meet, and can find that out.
 *
 * The HCCL buffer, on every rank alike: a line where the left neighbour's word comes, one for the
 * own word, counts of all-to-all-v that come and go, a work area, and for each rank COLL_SLOTS
 * slots. Nothing in it is kept from one operation to the next, so other operators may use it in
 * between.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "coll/coll.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_res_expt.h"
#include "runtime/runtime.h"

#define NOTIFIES (2 * COLL_SLOTS + 2)
#define SLOT_MOST (192u << 10)
#define WORK_MOST (8u << 20)
#define WORK_PART 8u /* of the buffer, at most */

/* What ranks tell each other when they connect. */
struct hello {
    struct coll_model model;
    uint32_t reserved;
    uint64_t buffer_len;
};

static uint64_t
to_line(uint64_t len)
{
    return (len + COLL_LINE - 1) / COLL_LINE * COLL_LINE;
}

static void
lay_out(struct coll *coll, uint8_t *buffer, uint64_t len)
{
    uint64_t counts = to_line(coll->rank_num * sizeof(uint64_t)), at = 2 * COLL_LINE, room;

    coll->word_in = buffer;
    coll->word_out = buffer + COLL_LINE;
    coll->counts_in = (uint64_t *)(void *)(buffer + at);
    coll->counts_out = (uint64_t *)(void *)(buffer + at + counts);
    at += 2 * counts;
    coll->work = buffer + at;
    coll->work_len = least_u64(WORK_MOST, len / WORK_PART / COLL_LINE * COLL_LINE);
    at += coll->work_len;
    room = at < len ? (len - at) / coll->rank_num / COLL_SLOTS / COLL_LINE * COLL_LINE : 0;
    coll->slot_len = least_u64(room, least_u64(SLOT_MOST, coll->work_len));
    coll->slots_at = at;
    for (uint32_t i = 0; i < coll->rank_num; i++)
        coll->peers[i].here = buffer + at + i * COLL_SLOTS * coll->slot_len;
}

HcclResult
coll_prepare(struct coll *coll)
{
    uint64_t len;
    void *buffer;
    HcclResult rc;

    if (coll->buffer_len > 0)
        return HCCL_SUCCESS;
    rc = HcclGetHcclBuffer(coll->handle, &buffer, &len);
    if (rc != HCCL_SUCCESS)
        return rc;
    lay_out(coll, buffer, len);
    if (coll->slot_len < COLL_LINE || coll->work_len < 48u * (uint64_t)coll->rank_num) {
        LOG_ERROR(COLL,
                  "a buffer of %llu bytes is too small for collectives of %u ranks: raise "
                  "HCCL_BUFFSIZE or hcclBufferSize",
                  (unsigned long long)len, coll->rank_num);
        return HCCL_E_PARA;
    }
    coll->buffer_len = len;
    return HCCL_SUCCESS;
}

/* ---- channels ---- */

/* The first link that the rank graph knows, in the lowest layer. */
static HcclResult
find_link(const struct coll *coll, uint32_t peer, HcclChannelDesc *desc)
{
    uint32_t *layers, layer_num = 0, link_num = 0;
    CommLink *links = NULL;
    HcclResult rc = HcclRankGraphGetLayers(coll->handle, &layers, &layer_num);

    for (uint32_t i = 0; i < layer_num && rc == HCCL_SUCCESS && link_num == 0; i++)
        rc = HcclRankGraphGetLinks(coll->handle, layers[i], coll->rank, peer, &links, &link_num);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (link_num == 0) {
        LOG_ERROR(COLL, "the rank graph has no link from rank %u to rank %u", coll->rank, peer);
        return HCCL_E_NOT_FOUND;
    }
    desc->remoteRank = peer;
    desc->channelProtocol = links[0].linkAttr.linkProtocol;
    desc->localEndpoint = links[0].srcEndpointDesc;
    desc->remoteEndpoint = links[0].dstEndpointDesc;
    desc->notifyNum = NOTIFIES;
    return HCCL_SUCCESS;
}

static HcclResult
describe_all(const struct coll *coll, HcclChannelDesc *descs)
{
    HcclResult rc = HcclChannelDescInit(descs, coll->rank_num - 1);

    for (uint32_t i = 1; i < coll->rank_num && rc == HCCL_SUCCESS; i++)
        rc = find_link(coll, rank_after(coll, i), &descs[i - 1]);
    return rc;
}

static HcclResult
acquire(struct coll *coll, const struct hello *hello, HcclChannelDesc *descs,
        ChannelHandle *channels)
{
    HcclResult rc = describe_all(coll, descs);

    if (rc == HCCL_SUCCESS)
        rc = HcclCommAddExchangeInfo(coll->handle, hello, sizeof *hello);
    /* Not the engine of most operators: channels are found again by it, and these are not for them.
     */
    if (rc == HCCL_SUCCESS)
        rc = HcclChannelAcquire(coll->handle, COMM_ENGINE_CPU_TS, descs, coll->rank_num - 1,
                                channels);
    for (uint32_t i = 1; i < coll->rank_num && rc == HCCL_SUCCESS; i++)
        coll->peers[rank_after(coll, i)].channel = channels[i - 1];
    return rc;
}

/* ---- peers ---- */

static HcclResult
meet(struct coll *coll, uint32_t rank)
{
    struct coll_peer *peer = &coll->peers[rank];
    struct hello hello = {0};
    uint32_t got = 0;
    uint64_t len;
    void *buffer;
    HcclResult rc = HcclCommGetExchangeInfo(coll->handle, rank, sizeof hello, &hello, &got);

    if (rc == HCCL_SUCCESS)
        rc = HcclChannelGetHcclBuffer(coll->handle, peer->channel, &buffer, &len);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (got != sizeof hello || hello.buffer_len != coll->buffer_len) {
        LOG_ERROR(COLL,
                  "rank %u has a buffer of %llu bytes, rank %u one of %llu: give all ranks the "
                  "same HCCL_BUFFSIZE or hcclBufferSize",
                  coll->rank, (unsigned long long)coll->buffer_len, rank,
                  (unsigned long long)hello.buffer_len);
        return HCCL_E_PARA;
    }
    if (rank == 0)
        coll->model = hello.model;
    peer->there = bytes_at(buffer, coll->slots_at + coll->rank * COLL_SLOTS * coll->slot_len);
    peer->word = buffer;
    return HCCL_SUCCESS;
}

static HcclResult
connect_all(struct coll *coll)
{
    const struct hello hello = {.model = coll->model, .buffer_len = coll->buffer_len};
    HcclChannelDesc *descs = hc_calloc(coll->rank_num, sizeof *descs);
    ChannelHandle *channels = hc_calloc(coll->rank_num, sizeof *channels);
    HcclResult rc = HCCL_E_MEMORY;

    if (descs != NULL && channels != NULL)
        rc = acquire(coll, &hello, descs, channels);
    for (uint32_t i = 1; i < coll->rank_num && rc == HCCL_SUCCESS; i++)
        rc = meet(coll, rank_after(coll, i));
    hc_free(descs);
    hc_free(channels);
    return rc;
}

/* ---- the device's thread ---- */

/* What of it is there from an attempt that failed is used by the next. */
static HcclResult
make_thread(struct coll *coll)
{
    ThreadHandle thread = 0, exported = 0;
    HcclResult rc = HCCL_SUCCESS;

    if (coll->device_stream == NULL)
        rc = rt_result(rt_stream_open(comm_device(coll->comm), &coll->device_stream));
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadAcquireWithStream(coll->handle, COMM_ENGINE_CPU_TS, coll->device_stream, 1,
                                         &thread);
    if (rc == HCCL_SUCCESS)
        rc =
            HcclThreadExportToCommEngine(coll->handle, 1, &thread, COMM_ENGINE_AICPU_TS, &exported);
    if (rc != HCCL_SUCCESS)
        return rc;
    coll->device_thread_on_host = thread;
    coll->device_thread = exported;
    return HCCL_SUCCESS;
}

HcclResult
coll_connect(struct coll *coll)
{
    HcclResult rc;

    if (coll->connected)
        return HCCL_SUCCESS;
    coll_measure(&coll->model);
    rc = coll_prepare(coll);
    if (rc == HCCL_SUCCESS && coll->on_aicpu && coll->device_thread == 0)
        rc = make_thread(coll);
    if (rc == HCCL_SUCCESS && coll->rank_num > 1)
        rc = connect_all(coll);
    coll->connected = rc == HCCL_SUCCESS;
    return rc;
}
