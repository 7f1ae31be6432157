/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ranks: communicators of one process, made through the public functions, and channels in them.
 */
#ifndef HC_TEST_SUPPORT_RANKS_H
#define HC_TEST_SUPPORT_RANKS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_primitives_expt.h"
#include "hcomm/hcomm_res.h"
#include "tests/support/test.h"

#define RANKS_MOST 16
#define RANKS_NOTIFIES 4u

/* One rank: device and rank number are the same. */
struct rank {
    HcclComm comm;
    uint32_t number, num;
    ThreadHandle thread;
    aclrtStream stream; /* of the thread; NULL: engine CPU */
    char *buf;          /* the HCCL buffer */
    uint64_t size;
};

/* A connected pair of ends. */
struct link {
    ChannelHandle channel;
    char *peer_buf;
    uint64_t peer_size;
};

/* What one thread of link_ranks does. */
struct linking {
    struct rank *rank;
    uint32_t peer;
    CommEngine engine;
    struct link *link;
    HcclResult rc;
    pthread_t thread;
};

/* `num` ranks with a thread of `engine` each; device 0 is current afterwards. */
static inline void
ranks_open(struct rank *ranks, uint32_t num, CommEngine engine)
{
    int32_t devices[RANKS_MOST];
    HcclComm comms[RANKS_MOST];

    for (uint32_t i = 0; i < num; i++)
        devices[i] = (int32_t)i;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(num, devices, comms));
    for (uint32_t i = num; i-- > 0;) {
        struct rank *rank = &ranks[i];

        *rank = (struct rank){.comm = comms[i], .number = i, .num = num};
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
        EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(rank->comm, (void **)&rank->buf, &rank->size));
        if (engine == COMM_ENGINE_CPU)
            continue;
        EXPECT_EQ(HCCL_SUCCESS,
                  HcclThreadAcquire(rank->comm, engine, 1, RANKS_NOTIFIES, &rank->thread));
        EXPECT_EQ(HCCL_SUCCESS,
                  HcclThreadResGetInfo(rank->comm, rank->thread, THREAD_RES_TYPE_STREAM,
                                       sizeof rank->stream, (void **)&rank->stream));
    }
}

static inline void
ranks_close(struct rank *ranks, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(ranks[i].comm));
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
}

static inline void *
link_main(void *arg)
{
    struct linking *linking = (struct linking *)arg;
    HcclComm comm = linking->rank->comm;
    struct link *link = linking->link;
    HcclChannelDesc desc;

    if (aclrtSetDevice((int32_t)linking->rank->number) != ACL_SUCCESS ||
        HcclChannelDescInit(&desc, 1) != HCCL_SUCCESS)
        abort();
    desc.remoteRank = linking->peer;
    desc.channelProtocol =
        linking->engine == COMM_ENGINE_CPU ? COMM_PROTOCOL_ROCE : COMM_PROTOCOL_HCCS;
    desc.notifyNum = RANKS_NOTIFIES;
    linking->rc = HcclChannelAcquire(comm, linking->engine, &desc, 1, &link->channel);
    if (linking->rc == HCCL_SUCCESS)
        linking->rc = HcclChannelGetHcclBuffer(comm, link->channel, (void **)&link->peer_buf,
                                               &link->peer_size);
    return NULL;
}

/* Both ends of the pair (a, b), each on a thread of its own, as each blocks for the other. */
static inline void
link_ranks(struct rank *a, struct rank *b, CommEngine engine, struct link *of_a, struct link *of_b)
{
    struct linking linkings[2] = {{.rank = a, .peer = b->number, .engine = engine, .link = of_a},
                                  {.rank = b, .peer = a->number, .engine = engine, .link = of_b}};

    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_create(&linkings[i].thread, NULL, link_main, &linkings[i]));
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(0, pthread_join(linkings[i].thread, NULL));
        EXPECT_EQ(HCCL_SUCCESS, linkings[i].rc);
    }
}

/* Waits for the tasks of both. */
static inline void
sync_two(struct rank *a, struct rank *b)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a->stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b->stream));
}

#endif
