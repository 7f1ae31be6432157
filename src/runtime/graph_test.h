/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of captures and of graphs share: device 0, three streams, a word to count in. */
#ifndef HC_RUNTIME_GRAPH_TEST_H
#define HC_RUNTIME_GRAPH_TEST_H

#include "acl/acl.h"
#include "hcomm/hcomm_embedded.h"
#include "tests/support/test.h"

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED
#define WORDS 1024u

static aclrtStream a, b, c;
static uint64_t *device, *host; /* [WORDS] */

static inline void
begin(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&a));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&b));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&c));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMalloc((void **)&device, WORDS * sizeof *device, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocHost((void **)&host, WORDS * sizeof *host));
}

static inline void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeHost(host));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(device));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(c));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static inline aclmdlRI
end_capture(void)
{
    aclmdlRI graph = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(a, &graph));
    EXPECT_NOT_NULL(graph);
    return graph;
}

static inline void
run_on(aclmdlRI graph, aclrtStream stream)
{
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

static inline uint32_t
add_one(void *arg)
{
    ++**(uint64_t **)arg;
    return 0;
}

/* *target += 1, by a kernel that has the address as its argument. */
static inline aclError
queue_add_one(uint64_t *target, aclrtStream stream)
{
    return HcommLaunchEmbedded(add_one, "add_one", 1, stream, &target, sizeof target);
}

/* a adds to word 0, b to word 1 between a's first and last addition. */
static inline aclmdlRI
capture_fork(aclrtEvent fork, aclrtEvent join)
{
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, fork));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(device + 1, 8, device, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device + 1, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(join, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, join));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(device, 8, device + 1, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, a));
    return end_capture();
}

#endif
