/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every public create call, with each allocation failing in turn: it says so, sets nothing, leaks
 * nothing, and works when it is called again.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "tests/support/kernels.h"
#include "tests/support/ranks.h"

#define TRIES_MOST 10000

struct maker {
    const char *name;
    long (*create)(void);  /* 0 or an error code */
    void (*destroy)(void); /* what create() has made */
};

static void *made; /* by create() */
static uint64_t made_number;

static aclrtStream stream;
static HcclComm comms[2];
static HcclComm world; /* of one rank on device 0 */
static EndpointHandle endpoint;
static char region[4096];

/* Makes it with the nth allocation failing, for all n, and checks what is live between. */
static void
check(const struct maker *maker)
{
    long before, nth = 0, rc;

    test_allow_errors();
    setenv("HCOMM_LOG_LEVEL", "none", 1);
    EXPECT_EQ(0, maker->create()); /* what the first use makes for good is there now */
    maker->destroy();
    before = hc_alloc_live();
    do {
        made = NULL;
        made_number = 0;
        hc_alloc_fail_nth(nth);
        rc = maker->create();
        if (rc != 0 && (made != NULL || made_number != 0))
            fail_msg("%s set its output although it failed", maker->name);
        if (rc != 0 && !hc_alloc_failed())
            fail_msg("%s returned %ld although no allocation failed", maker->name, rc);
        hc_alloc_fail_nth(-1);
        if (rc == 0)
            maker->destroy();
        for (int i = 0; i < 200 && hc_alloc_live() != before; i++)
            usleep(1000); /* threads let go a moment later */
        if (hc_alloc_live() != before)
            fail_msg("%s left %ld allocations when number %ld failed", maker->name,
                     hc_alloc_live() - before, nth);
    } while (rc != 0 && ++nth < TRIES_MOST);
    printf("%s: %ld allocations\n", maker->name, nth);
    EXPECT_EQ(0, rc);
}

static void
check_all(const struct maker *makers, size_t num)
{
    for (size_t i = 0; i < num; i++)
        check(&makers[i]);
}

/* ---- runtime ---- */

static long
make_context(void)
{
    return aclrtCreateContext(&made, 0);
}

static void
end_context(void)
{
    EXPECT_EQ(0, aclrtDestroyContext(made));
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtResetDevice(0));
}

static long
make_stream(void)
{
    return aclrtCreateStream(&made);
}

static void
end_stream(void)
{
    EXPECT_EQ(0, aclrtDestroyStream(made));
}

static long
make_event(void)
{
    return aclrtCreateEvent(&made);
}

static void
end_event(void)
{
    EXPECT_EQ(0, aclrtDestroyEvent(made));
}

static long
make_notify(void)
{
    return aclrtCreateNotify(&made, ACL_NOTIFY_DEFAULT);
}

static void
end_notify(void)
{
    EXPECT_EQ(0, aclrtDestroyNotify(made));
}

static long
make_memory(void)
{
    return aclrtMalloc(&made, 10000, ACL_MEM_MALLOC_HUGE_FIRST);
}

static void
end_memory(void)
{
    EXPECT_EQ(0, aclrtFree(made));
}

static long
make_host_memory(void)
{
    return aclrtMallocHost(&made, 10000);
}

static void
end_host_memory(void)
{
    EXPECT_EQ(0, aclrtFreeHost(made));
}

TEST_WITH(runtime_creates_survive_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    static const struct maker makers[] = {
        {"aclrtCreateContext", make_context, end_context},
        {"aclrtCreateStream", make_stream, end_stream},
        {"aclrtCreateEvent", make_event, end_event},
        {"aclrtCreateNotify", make_notify, end_notify},
        {"aclrtMalloc", make_memory, end_memory},
        {"aclrtMallocHost", make_host_memory, end_host_memory},
    };

    EXPECT_EQ(0, aclrtSetDevice(0));
    check_all(makers, sizeof makers / sizeof makers[0]);
}

static long
make_binary(void)
{
    return load_as("k.json", 0, &made);
}

static void
end_binary(void)
{
    EXPECT_EQ(0, aclrtBinaryUnLoad(made));
}

TEST_WITH(binary_load_survives_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    static const struct maker maker = {"aclrtBinaryLoadFromFile", make_binary, end_binary};

    EXPECT_EQ(0, aclrtSetDevice(0));
    install();
    check(&maker);
}

/* ---- communicators ---- */

static long
make_comms(void)
{
    int32_t devices[2] = {0, 1};
    long rc;

    comms[0] = comms[1] = NULL;
    rc = HcclCommInitAll(2, devices, comms);
    made = comms[0] != NULL ? comms[0] : comms[1];
    return rc;
}

static void
end_comms(void)
{
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcclCommDestroy(comms[i]));
}

static long
make_world(void)
{
    HcclRootInfo info;
    long rc = HcclGetRootInfo(&info);

    return rc != 0 ? rc : (long)HcclCommInitRootInfo(1, &info, 0, &made);
}

static void
end_world(void)
{
    EXPECT_EQ(0, HcclCommDestroy(made));
}

/* A communicator of its own, as acquired threads and contexts stay until the communicator goes. */
static long
with_world(long (*create)(void))
{
    int32_t device = 0;
    long rc = HcclCommInitAll(1, &device, &world);

    if (rc == 0)
        rc = create();
    if (rc != 0 && world != NULL) {
        EXPECT_EQ(0, HcclCommDestroy(world));
        world = NULL;
    }
    return rc;
}

static void
end_with_world(void)
{
    EXPECT_EQ(0, HcclCommDestroy(world));
    world = NULL;
}

static long
acquire_threads(void)
{
    ThreadHandle threads[3] = {0, 0, 0};
    long rc = HcclThreadAcquire(world, COMM_ENGINE_AICPU_TS, 3, 2, threads);

    made_number = threads[0] | threads[1] | threads[2];
    return rc;
}

static long
make_threads(void)
{
    return with_world(acquire_threads);
}

static long
wrap_stream(void)
{
    return HcclThreadAcquireWithStream(world, COMM_ENGINE_CPU_TS, stream, 2, &made_number);
}

static long
make_wrap(void)
{
    return with_world(wrap_stream);
}

static long
create_contexts(void)
{
    void *on_host = NULL;
    long rc = HcclEngineCtxCreate(world, "tag", COMM_ENGINE_CPU_TS, 100, &on_host);

    return rc != 0 ? rc : (long)HcclEngineCtxCreate(world, "tag", COMM_ENGINE_AICPU_TS, 100, &made);
}

static long
make_contexts(void)
{
    return with_world(create_contexts);
}

TEST_WITH(communicator_creates_survive_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    static const struct maker makers[] = {
        {"HcclCommInitAll", make_comms, end_comms},
        {"HcclCommInitRootInfo", make_world, end_world},
        {"HcclThreadAcquire", make_threads, end_with_world},
        {"HcclThreadAcquireWithStream", make_wrap, end_with_world},
        {"HcclEngineCtxCreate", make_contexts, end_with_world},
    };

    setenv("HCOMM_CONNECT_TIMEOUT", "300", 1);
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    check_all(makers, sizeof makers / sizeof makers[0]);
}

/* Both ends of a channel, as each needs the other. When one fails, the other's time passes. */
static long
make_channel(void)
{
    struct rank ranks[2];
    struct link links[2];
    struct linking linkings[2];
    long rc = make_comms();

    made = NULL;
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < 2; i++) {
        ranks[i] = (struct rank){.comm = comms[i], .number = i, .num = 2};
        links[i].channel = 0;
        linkings[i] = (struct linking){
            .rank = &ranks[i], .peer = 1 - i, .engine = COMM_ENGINE_AICPU_TS, .link = &links[i]};
        EXPECT_EQ(0, pthread_create(&linkings[i].thread, NULL, link_main, &linkings[i]));
    }
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(0, pthread_join(linkings[i].thread, NULL));
        rc = rc != 0 ? rc : (long)linkings[i].rc;
        if (linkings[i].rc != 0 && links[i].channel != 0)
            fail_msg("HcclChannelAcquire of rank %d set its output although it failed", i);
    }
    if (rc != 0)
        end_comms();
    return rc;
}

TEST_WITH(channel_acquire_survives_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    static const struct maker maker = {"HcclChannelAcquire", make_channel, end_comms};

    test_time_limit(120);
    setenv("HCOMM_CONNECT_TIMEOUT", "200", 1);
    EXPECT_EQ(0, aclrtSetDevice(1)); /* once each: the threads' own references are no allocations */
    EXPECT_EQ(0, aclrtSetDevice(0));
    check(&maker);
}

/* ---- without a communicator ---- */

static long
make_endpoint(void)
{
    EndpointDesc desc;

    EXPECT_EQ(0, EndpointDescInit(&desc, 1));
    desc.protocol = COMM_PROTOCOL_ROCE;
    desc.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    desc.commAddr.addr.s_addr = htonl(INADDR_LOOPBACK);
    desc.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    return HcommEndpointCreate(&desc, &made);
}

static void
end_endpoint(void)
{
    EXPECT_EQ(0, HcommEndpointDestroy(made));
}

static long
make_registration(void)
{
    const CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = region, .size = sizeof region};

    return HcommMemReg(endpoint, "tag", &mem, &made);
}

static void
end_registration(void)
{
    EXPECT_EQ(0, HcommMemUnreg(endpoint, made));
}

static long
alloc_thread(void)
{
    const uint32_t notifies = 2;

    return HcommThreadAlloc(COMM_ENGINE_CPU_TS, 1, &notifies, &made_number);
}

static void
end_thread(void)
{
    EXPECT_EQ(0, HcommThreadFree(&made_number, 1));
}

TEST_WITH(resource_creates_survive_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    static const struct maker makers[] = {
        {"HcommEndpointCreate", make_endpoint, end_endpoint},
        {"HcommThreadAlloc", alloc_thread, end_thread},
    };
    static const struct maker registration = {"HcommMemReg", make_registration, end_registration};

    EXPECT_EQ(0, aclrtSetDevice(0));
    check_all(makers, sizeof makers / sizeof makers[0]);
    EXPECT_EQ(0, make_endpoint());
    endpoint = made;
    check(&registration);
}
