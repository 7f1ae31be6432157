/* SPDX-License-Identifier: BSD-3-Clause */
/* What a communicator owns: buffers, memory, threads, contexts, channels. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_res_expt.h"
#include "tests/support/test.h"

#define RANKS 8

static HcclComm comms[RANKS];

static void
init(uint32_t num)
{
    int32_t devices[RANKS];

    setenv("HCCL_BUFFSIZE", "1", 0);
    for (uint32_t i = 0; i < num; i++) {
        devices[i] = (int32_t)i;
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(num, devices, comms));
}

static void
end(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
}

/* ---- Buffers and memory ---- */

TEST(the_buffer_stays_where_it_is_and_can_be_cleared)
{
    unsigned char *bytes;
    void *first, *again;
    uint64_t size = 0;

    init(1);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[0], &first, &size));
    EXPECT_EQ(2u << 20, size);
    bytes = first;
    bytes[0] = 1;
    bytes[size - 1] = 1;
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[0], &again, &size));
    EXPECT_TRUE(first == again);
    EXPECT_EQ(1, bytes[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBufferCleared(comms[0], &again, &size));
    EXPECT_TRUE(first == again);
    EXPECT_EQ(0, bytes[0]);
    EXPECT_EQ(0, bytes[size - 1]);
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclGetHcclBuffer(comms[0], NULL, &size));
    EXPECT_EQ(HCCL_E_PTR, HcclGetHcclBuffer(comms[0], &first, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclGetHcclBuffer(NULL, &first, &size));
    end(1);
}

TEST(a_buffer_that_does_not_fit_is_out_of_memory)
{
    void *buffer = NULL;
    uint64_t size = 0;

    setenv("HCCL_BUFFSIZE", "100000", 1);
    init(1);
    test_allow_errors();
    EXPECT_EQ(HCCL_E_OOM, HcclGetHcclBuffer(comms[0], &buffer, &size));
    EXPECT_NULL(buffer);
    end(1);
}

TEST(communicators_of_one_buffer_name_share_a_buffer)
{
    HcclCommConfig config;
    HcclRootInfo info;
    HcclComm named[3];
    void *buffers[3];
    uint64_t size;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    HcclCommConfigInit(&config);
    config.hcclBufferSize = 1;
    for (int i = 0; i < 3; i++) {
        snprintf(config.hcclBufferName, sizeof config.hcclBufferName, "%s", i < 2 ? "one" : "two");
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfoConfig(1, &info, 0, &config, &named[i]));
        EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(named[i], &buffers[i], &size));
    }
    EXPECT_TRUE(buffers[0] == buffers[1]);
    EXPECT_TRUE(buffers[0] != buffers[2]);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(named[0]));
    memset(buffers[1], 1, size); /* still there */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(named[1]));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(named[2]));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(memory_is_registered_under_tags)
{
    char block[64], tag[300];
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = block, .size = sizeof block};
    HcclMemHandle one = NULL, two = NULL;

    init(1);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommMemReg(comms[0], "one", &mem, &one));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommMemReg(comms[0], "two", &mem, &two)); /* overlap is fine */
    EXPECT_TRUE(one != two);
    test_expect_error("under tag \"one\" already");
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], "one", &mem, &two));
    test_expect_error("memTag has 1 to 254");
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], "", &mem, &two));
    memset(tag, 'x', sizeof tag);
    tag[255] = '\0';
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], tag, &mem, &two));
    test_expect_error("keeps for itself");
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], "__hccl_sym_win__1", &mem, &two));
    mem.size = 0;
    test_expect_error("make no region");
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], "three", &mem, &two));
    mem.size = UINT64_MAX;
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], "three", &mem, &two));
    mem.size = 1;
    mem.type = COMM_MEM_TYPE_INVALID;
    test_expect_error("mem->type is -1");
    EXPECT_EQ(HCCL_E_PARA, HcclCommMemReg(comms[0], "three", &mem, &two));
    mem.addr = NULL;
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclCommMemReg(comms[0], "three", &mem, &two));
    EXPECT_EQ(HCCL_E_PTR, HcclCommMemReg(comms[0], NULL, &mem, &two));
    EXPECT_EQ(HCCL_E_PTR, HcclCommMemReg(comms[0], "three", NULL, &two));
    EXPECT_EQ(HCCL_E_PTR, HcclCommMemReg(comms[0], "three", &mem, NULL));
    end(1);
}

TEST(workspaces_are_found_again_by_tag)
{
    uint64_t size = 4096;
    void *first, *again;
    bool made = false;

    init(1);
    EXPECT_EQ(HCCL_SUCCESS, HcclDevMemAcquire(comms[0], "w", &size, &first, &made));
    EXPECT_TRUE(made);
    EXPECT_EQ(HCCL_SUCCESS, HcclDevMemAcquire(comms[0], "w", &size, &again, &made));
    EXPECT_FALSE(made);
    EXPECT_TRUE(first == again);
    EXPECT_EQ(HCCL_SUCCESS, HcclDevMemAcquire(comms[0], NULL, &size, &again, NULL));
    EXPECT_TRUE(first != again);
    size = 8192;
    test_expect_error("the same size each time");
    EXPECT_EQ(HCCL_E_PARA, HcclDevMemAcquire(comms[0], "w", &size, &again, &made));
    size = 0;
    test_expect_error("*size is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclDevMemAcquire(comms[0], "x", &size, &again, &made));
    end(1);
}

TEST(engine_contexts_are_kept_by_tag_and_engine)
{
    void *made = NULL, *found = NULL;
    uint64_t size = 0;
    int value = 42;

    init(1);
    EXPECT_EQ(HCCL_E_NOT_FOUND,
              HcclEngineCtxGet(comms[0], "op", COMM_ENGINE_AICPU_TS, &found, &size));
    EXPECT_EQ(HCCL_SUCCESS, HcclEngineCtxCreate(comms[0], "op", COMM_ENGINE_AICPU_TS, 64, &made));
    EXPECT_EQ(HCCL_SUCCESS, HcclEngineCtxGet(comms[0], "op", COMM_ENGINE_AICPU, &found, &size));
    EXPECT_TRUE(made == found);
    EXPECT_EQ(64, size);
    EXPECT_EQ(HCCL_SUCCESS,
              HcclEngineCtxCopy(comms[0], COMM_ENGINE_AICPU_TS, "op", &value, sizeof value, 60));
    EXPECT_MEMEQ(&value, (char *)made + 60, sizeof value);
    EXPECT_EQ(HCCL_SUCCESS, HcclEngineCtxDestroy(comms[0], "op", COMM_ENGINE_AICPU_TS));
    EXPECT_EQ(HCCL_E_NOT_FOUND,
              HcclEngineCtxGet(comms[0], "op", COMM_ENGINE_AICPU_TS, &found, &size));
    EXPECT_EQ(HCCL_SUCCESS, HcclEngineCtxCreate(comms[0], "kept", COMM_ENGINE_CPU_TS, 64, &made));
    end(1);
}

/* ---- Threads ---- */

TEST(threads_come_from_a_pool_for_each_engine)
{
    ThreadHandle two[2], four[4], cpu[1], typed[1];
    ThreadConfig config[4];
    aclrtStream stream = NULL;

    init(1);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[0], COMM_ENGINE_AICPU_TS, 2, 1, two));
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[0], COMM_ENGINE_AICPU, 4, 3, four));
    EXPECT_EQ(two[0], four[0]);
    EXPECT_EQ(two[1], four[1]);
    EXPECT_NE(four[2], four[3]);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 1, 0, cpu));
    EXPECT_NE(cpu[0], four[0]);
    EXPECT_EQ(HCCL_SUCCESS, ThreadConfigInit(config, 4));
    config[0].notifyNumPerThread = 5;
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquireWithConfig(comms[0], COMM_ENGINE_CPU, 1,
                                                        THREAD_TYPE_TS, config, typed));
    EXPECT_EQ(cpu[0], typed[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadResGetInfo(comms[0], cpu[0], THREAD_RES_TYPE_STREAM,
                                                 sizeof stream, &stream));
    EXPECT_NOT_NULL(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    end(1);
}

TEST(thread_arguments_are_checked)
{
    ThreadHandle threads[201];
    ThreadConfig config[1];
    aclrtStream stream;

    init(1);
    test_expect_error("threadNum is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 0, 0, threads));
    test_expect_error("notifyNumPerThread is 65536");
    EXPECT_EQ(HCCL_E_PARA, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 1, 65536, threads));
    test_expect_error("at most 200");
    EXPECT_EQ(HCCL_E_UNAVAIL, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 201, 0, threads));
    test_expect_error("at most 65536");
    EXPECT_EQ(HCCL_E_UNAVAIL, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 2, 65535, threads));
    test_expect_error("engine AIV");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclThreadAcquire(comms[0], COMM_ENGINE_AIV, 1, 0, threads));
    test_expect_error("give CPU or AICPU with THREAD_TYPE_TS");
    EXPECT_EQ(HCCL_SUCCESS, ThreadConfigInit(config, 1));
    EXPECT_EQ(HCCL_E_PARA, HcclThreadAcquireWithConfig(comms[0], COMM_ENGINE_CPU_TS, 1,
                                                       THREAD_TYPE_TS, config, threads));
    EXPECT_EQ(HCCL_E_PARA, HcclThreadAcquireWithConfig(comms[0], COMM_ENGINE_CPU, 1,
                                                       THREAD_TYPE_INVALID, config, threads));
    config[0].header.magicWord = 1;
    test_expect_error("ThreadConfigInit");
    EXPECT_EQ(HCCL_E_PARA, HcclThreadAcquireWithConfig(comms[0], COMM_ENGINE_CPU, 1, THREAD_TYPE_TS,
                                                       config, threads));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 1, 0, NULL));
    EXPECT_EQ(HCCL_E_PTR,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_CPU_TS, NULL, 0, threads));
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 1, 0, threads));
    test_expect_error("infoLen is 4");
    EXPECT_EQ(HCCL_E_PARA,
              HcclThreadResGetInfo(comms[0], threads[0], THREAD_RES_TYPE_STREAM, 4, &stream));
    test_expect_error("none of rank 0");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcclThreadResGetInfo(comms[0], 12345, THREAD_RES_TYPE_STREAM,
                                                     sizeof stream, &stream));
    test_expect_error("thread is 0");
    EXPECT_EQ(HCCL_E_PTR,
              HcclThreadResGetInfo(comms[0], 0, THREAD_RES_TYPE_STREAM, sizeof stream, &stream));
    test_expect_error("no resource type 7");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT,
              HcclThreadResGetInfo(comms[0], threads[0], (ThreadResType)7, sizeof stream, &stream));
    end(1);
}

TEST(a_stream_keeps_its_thread_while_it_lives)
{
    ThreadHandle first, again, other;
    aclrtStream stream, second;

    init(1);
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&second));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_CPU_TS, stream, 1, &first));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_CPU_TS, stream, 9, &again));
    EXPECT_EQ(first, again);
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_CPU_TS, second, 1, &other));
    EXPECT_NE(first, other);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream)); /* maybe in the same slot */
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_CPU_TS, stream, 1, &again));
    EXPECT_NE(first, again);
    test_expect_error("cannot use a host stream");
    EXPECT_EQ(HCCL_E_PARA,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_AICPU_TS, stream, 1, &again));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(second));
    end(1); /* threads of destroyed streams do not keep it */
}

TEST(exported_threads_are_the_same_on_both_sides)
{
    ThreadHandle threads[41], exported[41] = {0}, launch, again;

    init(1);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[0], COMM_ENGINE_AICPU_TS, 41, 1, threads));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadExportToCommEngine(comms[0], 40, threads, COMM_ENGINE_CPU_TS, exported));
    EXPECT_MEMEQ(threads, exported, 40 * sizeof threads[0]);
    test_expect_error("threadNum is 41");
    test_expect_error("threadNum is 0");
    EXPECT_EQ(HCCL_E_PARA,
              HcclThreadExportToCommEngine(comms[0], 41, threads, COMM_ENGINE_CPU_TS, exported));
    EXPECT_EQ(HCCL_E_PARA,
              HcclThreadExportToCommEngine(comms[0], 0, threads, COMM_ENGINE_CPU_TS, exported));
    test_expect_error("engine AIV");
    EXPECT_EQ(HCCL_E_PARA,
              HcclThreadExportToCommEngine(comms[0], 1, threads, COMM_ENGINE_AIV, exported));
    threads[0] = 0x123;
    test_expect_error("none of rank 0");
    EXPECT_EQ(HCCL_E_PARA,
              HcclThreadExportToCommEngine(comms[0], 1, threads, COMM_ENGINE_CPU_TS, exported));

    EXPECT_EQ(HCCL_SUCCESS, HcclDedicatedThreadAcquire(
                                comms[0], HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE, 1, &again));
    EXPECT_EQ(0, again);
    EXPECT_EQ(HCCL_SUCCESS,
              HcclDedicatedThreadAcquire(comms[0], HCCL_DED_THREAD_TYPE_AICPU_LAUNCH, 1, &launch));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclDedicatedThreadAcquire(comms[0], HCCL_DED_THREAD_TYPE_AICPU_LAUNCH, 4, &again));
    EXPECT_EQ(launch, again);
    EXPECT_EQ(HCCL_SUCCESS, HcclDedicatedThreadAcquire(
                                comms[0], HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE, 1, &again));
    EXPECT_EQ(launch, again);
    EXPECT_EQ(HCCL_SUCCESS,
              HcclDedicatedThreadAcquire(comms[0], HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_OPBASE,
                                         1, &again));
    EXPECT_EQ(0, again);
    test_expect_error("HCCL_DED_THREAD_TYPE_INVALID");
    EXPECT_EQ(HCCL_E_PARA,
              HcclDedicatedThreadAcquire(comms[0], HCCL_DED_THREAD_TYPE_INVALID, 1, &again));
    test_expect_error("no useType 77");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT,
              HcclDedicatedThreadAcquire(comms[0], (HcclDedicatedThreadType)77, 1, &again));
    test_expect_error("notifyNumPerThread is 65");
    EXPECT_EQ(HCCL_E_PARA,
              HcclDedicatedThreadAcquire(comms[0], HCCL_DED_THREAD_TYPE_AICPU_LAUNCH, 65, &again));
    end(1);
}

static int32_t
host_task(uint64_t addr, int32_t len)
{
    (void)addr;
    return len;
}

TEST(host_tasks_are_registered_by_tag)
{
    init(1);
    EXPECT_EQ(HCCL_SUCCESS, HcclTaskRegister(comms[0], "t", host_task));
    EXPECT_EQ(HCCL_SUCCESS, HcclTaskRegister(comms[0], "t", host_task));
    EXPECT_EQ(HCCL_SUCCESS, HcclTaskRegister(comms[0], "u", host_task));
    EXPECT_EQ(HCCL_SUCCESS, HcclTaskUnRegister(comms[0], "t"));
    test_expect_error("no host task is registered under \"t\"");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcclTaskUnRegister(comms[0], "t"));
    test_expect_error("NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclTaskRegister(comms[0], NULL, host_task));
    EXPECT_EQ(HCCL_E_PTR, HcclTaskRegister(comms[0], "t", NULL));
    end(1);
}

TEST(a_communicator_with_tasks_under_way_is_not_destroyed)
{
    ThreadHandle thread;
    aclrtStream stream;
    aclrtNotify notify;

    init(1);
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadAcquireWithStream(comms[0], COMM_ENGINE_CPU_TS, stream, 1, &thread));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
    test_expect_error("tasks under way");
    EXPECT_EQ(HCCL_E_AGAIN, HcclCommDestroy(comms[0]));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(notify));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end(1);
}
