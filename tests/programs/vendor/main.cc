/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vendor: a program that uses a vendor's libhccl.so, looks names up in libhcomm.so, has weak
 * references, constants of the headers' names, and a notify that is recorded twice.
 */
#include <dlfcn.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "version/cann_version.h"

#if CANN_VERSION_NUM < 90100000
#error "the newer interfaces are needed"
#endif

#define CHK(call)                                                                                  \
    do {                                                                                           \
        int chkRet = static_cast<int>(call);                                                       \
        if (chkRet != 0) {                                                                         \
            printf("line %d: %s returned %d\n", __LINE__, #call, chkRet);                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

extern "C" HcclResult HcclCommGetStatus(const char *commId, HcclCommStatus *status)
    __attribute__((weak));
extern "C" HcclResult HcclOfALaterRelease(void) __attribute__((weak));

constexpr uint32_t RANKS = 8;
constexpr uint64_t COUNT = 1000;

static int
LookUpNames()
{
    const char *names[] = {"HcclCommInitClusterInfoMemConfig",
                           "HcclBatchPut",
                           "HcclCommPrepare",
                           "HcclRemapRegistedMemory",
                           "HcommMemReg",
                           "HcclAllReduceInner",
                           "HcomGetCommHandleByGroup",
                           "rtGetTaskIdAndStreamID",
                           "acllogRecord"};
    void *library = dlopen("libhcomm.so", RTLD_NOW);

    CHK(library == nullptr);
    for (const char *name : names)
        CHK(dlsym(library, name) == nullptr);
    CHK(dlsym(library, "HcclAllReduce") != nullptr); /* collectives are another library's */
    CHK(HcclCommGetStatus == nullptr);
    CHK(HcclOfALaterRelease != nullptr);
    return 0;
}

static int
LocalConstants()
{
    const uint32_t HCCL_COMM_CONFIG_MAGIC_WORD = 0xf0f0f0f0;
    const uint32_t HCCL_COMM_DEFAULT_BUFFSIZE = 200;
    const uint32_t HCCL_ROOT_INFO_BYTES = 4108;
    const int ACL_SUCCESS = 0;
    char version[] = "hcomm";
    int32_t number = 0;

    CHK(HCCL_COMM_CONFIG_MAGIC_WORD != ::HCCL_COMM_CONFIG_MAGIC_WORD);
    CHK(HCCL_COMM_DEFAULT_BUFFSIZE != ::HCCL_COMM_DEFAULT_BUFFSIZE);
    CHK(HCCL_ROOT_INFO_BYTES != sizeof(HcclRootInfo));
    CHK(aclsysGetVersionNum(version, &number) != ACL_SUCCESS);
    CHK(number < 90100000);
    return 0;
}

/* As a widely copied sample does: recorded twice, then waited for twice. */
static int
RecordTwice(aclrtStream stream)
{
    aclrtNotify notify = nullptr;

    CHK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    CHK(aclrtRecordNotify(notify, stream));
    CHK(aclrtRecordNotify(notify, stream));
    CHK(aclrtSynchronizeStream(stream));
    CHK(aclrtWaitAndResetNotify(notify, stream, 60));
    CHK(aclrtWaitAndResetNotify(notify, stream, 60));
    CHK(aclrtSynchronizeStream(stream));
    CHK(aclrtDestroyNotify(notify));
    return 0;
}

static int
ReduceScatter(uint32_t rank, HcclComm comm, aclrtStream stream)
{
    std::vector<float> host(COUNT * RANKS);
    size_t len = COUNT * sizeof(float);
    void *in = nullptr, *out = nullptr;

    for (size_t i = 0; i < host.size(); i++)
        host[i] = static_cast<float>(rank + i);
    CHK(aclrtMalloc(&in, len * RANKS, ACL_MEM_MALLOC_HUGE_FIRST));
    CHK(aclrtMalloc(&out, len, ACL_MEM_MALLOC_HUGE_FIRST));
    CHK(aclrtMemcpy(in, len * RANKS, host.data(), len * RANKS, ACL_MEMCPY_HOST_TO_DEVICE));
    for (int round = 0; round < 3; round++)
        CHK(HcclReduceScatter(in, out, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    CHK(aclrtSynchronizeStream(stream));
    CHK(aclrtMemcpy(host.data(), len, out, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < COUNT; i++) {
        size_t sum = RANKS * (RANKS - 1) / 2 + RANKS * (rank * COUNT + i);

        CHK(static_cast<size_t>(host[i]) != sum);
    }
    CHK(aclrtFree(in));
    CHK(aclrtFree(out));
    return 0;
}

static int
RunRank(const HcclRootInfo &info, uint32_t rank)
{
    aclrtStream stream = nullptr;
    HcclComm comm = nullptr;

    CHK(aclrtSetDevice(static_cast<int32_t>(rank)));
    CHK(aclrtCreateStream(&stream));
    CHK(HcclCommInitRootInfo(RANKS, &info, rank, &comm));
    CHK(ReduceScatter(rank, comm, stream));
    if (rank == 0)
        CHK(RecordTwice(stream));
    CHK(HcclCommDestroy(comm));
    CHK(aclrtDestroyStream(stream));
    CHK(aclrtResetDevice(static_cast<int32_t>(rank)));
    return 0;
}

int
main()
{
    std::vector<std::thread> threads;
    int results[RANKS] = {}, failed = 0;
    HcclRootInfo info;

    CHK(LookUpNames());
    CHK(LocalConstants());
    CHK(aclInit(nullptr));
    CHK(aclrtSetDevice(0));
    CHK(HcclGetRootInfo(&info));
    for (uint32_t rank = 0; rank < RANKS; rank++)
        threads.emplace_back([&, rank] { results[rank] = RunRank(info, rank); });
    for (auto &thread : threads)
        thread.join();
    for (int result : results)
        failed |= result;
    CHK(aclrtResetDevice(0));
    CHK(aclFinalize());
    return failed;
}
