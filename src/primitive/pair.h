/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair: for the tests of this layer. Two ranks in one process, each with a device, a buffer that it
 * offers, some threads and its end of a channel.
 */
#ifndef HC_PRIMITIVE_PAIR_H
#define HC_PRIMITIVE_PAIR_H

#include "acl/acl.h"
#include "base/process.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_res.h"
#include "resource/resource.h"
#include "tests/support/test.h"

#define PAIR_BYTES (1u << 20)
#define PAIR_NOTIFIES 4u

struct rank {
    ThreadHandle thread[2];
    ChannelHandle channel;
    char *buf; /* [PAIR_BYTES] device memory, offered to the peer */
};

static inline void
rank_open(struct rank *rank, int32_t device, CommEngine engine)
{
    struct res_thread_desc thread = {.device = device,
                                     .engine = engine,
                                     .notify_num = PAIR_NOTIFIES,
                                     .group = "g",
                                     .rank = (uint32_t)device};
    struct res_channel_desc channel = {.key = "pair",
                                       .side = device,
                                       .address = {.process = hc_process_id()},
                                       .device = device,
                                       .engine = engine,
                                       .protocol = COMM_PROTOCOL_HCCS,
                                       .notify_num = PAIR_NOTIFIES,
                                       .group = "g",
                                       .rank = (uint32_t)device,
                                       .peer = 1 - (uint32_t)device};
    struct res_region region = {.tag = "HcclBuffer"};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(device));
    EXPECT_EQ(ACL_SUCCESS, rt_mem_alloc(device, PAIR_BYTES, (void **)&rank->buf));
    region.mem = (CommMem){.type = COMM_MEM_TYPE_DEVICE, .addr = rank->buf, .size = PAIR_BYTES};
    channel.regions = &region;
    channel.region_num = 1;
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, res_thread_create(&thread, &rank->thread[i]));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&channel, &rank->channel));
}

/* Device 0 is current afterwards. */
static inline void
pair_open(struct rank pair[2], CommEngine engine)
{
    const ChannelHandle none = 0;
    ChannelHandle channels[2] = {none, none};

    rank_open(&pair[1], 1, engine);
    rank_open(&pair[0], 0, engine);
    channels[0] = pair[0].channel;
    channels[1] = pair[1].channel;
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(channels, 2, 1000));
}

static inline void
pair_close(struct rank pair[2])
{
    for (int32_t i = 0; i < 2; i++) {
        for (int t = 0; t < 2; t++)
            EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(pair[i].thread[t]));
        EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[i].channel));
        EXPECT_EQ(ACL_SUCCESS, rt_mem_free(pair[i].buf));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* Waits for the thread's tasks; the result of its stream. */
static inline aclError
thread_sync(ThreadHandle handle)
{
    aclrtStream stream = NULL;

    EXPECT_EQ(
        0, HcommThreadResGetInfo(handle, THREAD_RES_TYPE_STREAM, sizeof stream, (void **)&stream));
    return aclrtSynchronizeStream(stream);
}

#endif
