/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_bench -o OPERATION [-b BYTES] [-e BYTES] [-f FACTOR] [-d TYPE] [-r sum|prod|max|min] [-s
 * ROOT]
 *           [-n ITERATIONS] [-w WARMUPS] [-p DEVICES] [-z] [-t]
 *
 * A benchmark of one collective in the way that they are written for the original stack: started by
 * mpirun, one rank a process, the root info by MPI_Bcast, timed by events, and the result checked.
 * -p: devices to be shared out among the ranks; -z: buffers in mapped memory of a range that the
 * communicator knows; -t: with the profiler on. Prints a table; fails if something is wrong in it.
 */
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench.h"

struct Options {
    std::string operation = "all_reduce";
    uint64_t begin = 64;
    uint64_t end = 1 << 20;
    uint64_t factor = 4;
    HcclDataType type = HCCL_DATA_TYPE_FP32;
    HcclReduceOp op = HCCL_REDUCE_SUM;
    uint32_t root = 0;
    int iterations = 5;
    int warmups = 2;
    uint32_t devices = 0;
    bool mapped = false;
    bool profile = false;
};

/* Memory for the buffers of the largest size: from aclrtMalloc, or mapped by hand. */
class DeviceBuffer
{
  public:
    int Allocate(size_t size, bool mapped, int32_t device);
    int Free();
    int Announce(HcclComm comm);
    int Withdraw(HcclComm comm);
    void *Get() const
    {
        return ptr_;
    }

  private:
    void *ptr_ = nullptr;
    size_t size_ = 0;
    aclrtDrvMemHandle handle_ = nullptr;
    bool mapped_ = false;
    bool announced_ = false;
};

int
DeviceBuffer::Allocate(size_t size, bool mapped, int32_t device)
{
    aclrtPhysicalMemProp prop = {};
    size_t granularity = 0;

    mapped_ = mapped;
    size_ = size;
    if (!mapped) {
        ACLCHECK(aclrtMalloc(&ptr_, size, ACL_MEM_MALLOC_HUGE_FIRST));
        return 0;
    }
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = static_cast<uint32_t>(device);
    ACLCHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED,
                                              &granularity));
    size_ = (size + granularity - 1) / granularity * granularity;
    ACLCHECK(aclrtReserveMemAddress(&ptr_, size_, 0, nullptr, 1));
    ACLCHECK(aclrtMallocPhysical(&handle_, size_, &prop, 0));
    ACLCHECK(aclrtMapMem(ptr_, size_, 0, handle_, 0));
    return 0;
}

/* Collective. Where the communicator cannot use the range, it copies as from any memory. */
int
DeviceBuffer::Announce(HcclComm comm)
{
    if (!mapped_)
        return 0;
    HcclResult ret = HcclCommSetMemoryRange(comm, ptr_, size_, 0, 0);
    if (ret == HCCL_E_NOT_SUPPORT)
        return 0;
    HCCLCHECK(ret);
    HCCLCHECK(HcclCommActivateCommMemory(comm, ptr_, size_, 0, handle_, 0));
    announced_ = true;
    return 0;
}

int
DeviceBuffer::Withdraw(HcclComm comm)
{
    if (!announced_)
        return 0;
    HCCLCHECK(HcclCommDeactivateCommMemory(comm, ptr_));
    HCCLCHECK(HcclCommUnsetMemoryRange(comm, ptr_));
    return 0;
}

int
DeviceBuffer::Free()
{
    if (!mapped_) {
        ACLCHECK(aclrtFree(ptr_));
        return 0;
    }
    ACLCHECK(aclrtUnmapMem(ptr_));
    ACLCHECK(aclrtFreePhysical(handle_));
    ACLCHECK(aclrtReleaseMemAddress(ptr_));
    return 0;
}

class Bench
{
  public:
    explicit Bench(const Options &options) : options_(options)
    {
    }
    int Run();

  private:
    int Open();
    int Measure(uint64_t bytes);
    int Fill(const Call &call, uint64_t send, uint64_t recv);
    int CountWrong(const Call &call, uint64_t recv, uint64_t *wrong);
    int Close();

    Options options_;
    int rank_ = 0;
    int rankSize_ = 0;
    int32_t device_ = 0;
    HcclComm comm_ = nullptr;
    aclrtStream stream_ = nullptr;
    aclrtEvent start_ = nullptr;
    aclrtEvent end_ = nullptr;
    std::unique_ptr<Operation> operation_;
    DeviceBuffer send_;
    DeviceBuffer recv_;
    void *host_ = nullptr;
    aclprofConfig *profile_ = nullptr;
    uint64_t allWrong_ = 0;
};

int
Bench::Open()
{
    uint32_t devices = 0;
    size_t freeMem = 0, totalMem = 0;
    HcclRootInfo rootInfo;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &rankSize_);
    operation_ = MakeOperation(options_.operation, static_cast<uint32_t>(rank_),
                               static_cast<uint32_t>(rankSize_));
    if (operation_ == nullptr || LengthOf(options_.type) == 0) {
        printf("no such operation or type\n");
        return 1;
    }
    ACLCHECK(aclInit(nullptr));
    ACLCHECK(aclrtGetDeviceCount(&devices));
    if (options_.devices != 0 && options_.devices < devices)
        devices = options_.devices;
    ACLCHECK(aclrtSetDevice(rank_ % static_cast<int>(devices)));
    ACLCHECK(aclrtGetDevice(&device_));
    ACLCHECK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    ACLCHECK(aclrtCreateStream(&stream_));
    ACLCHECK(aclrtSetStreamFailureMode(stream_, 1));
    ACLCHECK(aclrtCreateEvent(&start_));
    ACLCHECK(aclrtCreateEventWithFlag(&end_, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));

    /* A buffer can be larger than asked for: one element for each rank at least. */
    uint64_t largest = options_.end + static_cast<uint64_t>(rankSize_) * sizeof(uint64_t);
    ACLCHECK(aclrtGetMemInfo(ACL_HBM_MEM, &freeMem, &totalMem));
    if (2 * largest > freeMem) {
        printf("the device has %zu bytes free of %zu\n", freeMem, totalMem);
        return 1;
    }
    ACLCHECK(send_.Allocate(largest, options_.mapped, device_));
    ACLCHECK(recv_.Allocate(largest, options_.mapped, device_));
    ACLCHECK(aclrtMallocHost(&host_, largest));

    if (rank_ == 0)
        HCCLCHECK(HcclGetRootInfo(&rootInfo));
    MPI_Bcast(&rootInfo, HCCL_ROOT_INFO_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (HcclGetCommConfigCapability() > HCCL_COMM_CONFIG_COMM_NAME) {
        HcclCommConfig config;
        HcclCommConfigInit(&config);
        snprintf(config.hcclCommName, sizeof config.hcclCommName, "mpi_bench");
        HCCLCHECK(HcclCommInitRootInfoConfig(static_cast<uint32_t>(rankSize_), &rootInfo,
                                             static_cast<uint32_t>(rank_), &config, &comm_));
    } else {
        HCCLCHECK(HcclCommInitRootInfo(static_cast<uint32_t>(rankSize_), &rootInfo,
                                       static_cast<uint32_t>(rank_), &comm_));
    }
    HCCLCHECK(send_.Announce(comm_));
    HCCLCHECK(recv_.Announce(comm_));
    if (options_.profile) {
        uint32_t id = static_cast<uint32_t>(device_);
        ACLCHECK(aclprofInit(".", 1));
        profile_ = aclprofCreateConfig(&id, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_TASK_TIME);
        if (profile_ == nullptr)
            return 1;
        ACLCHECK(aclprofStart(profile_));
    }
    return 0;
}

int
Bench::Fill(const Call &call, uint64_t send, uint64_t recv)
{
    uint64_t length = LengthOf(call.type);
    uint64_t bits = Encode(Operation::Sent(static_cast<uint32_t>(rank_)), call.type);
    char *host = static_cast<char *>(host_);

    for (uint64_t i = 0; i < send; ++i)
        memcpy(host + i * length, &bits, length);
    void *sent = operation_->InPlace() ? call.recvBuf : call.sendBuf;
    if (!operation_->InPlace())
        ACLCHECK(aclrtMemset(call.recvBuf, recv * length, 0, recv * length));
    ACLCHECK(aclrtMemcpy(sent, send * length, host_, send * length, ACL_MEMCPY_HOST_TO_DEVICE));
    return 0;
}

int
Bench::CountWrong(const Call &call, uint64_t recv, uint64_t *wrong)
{
    uint64_t length = LengthOf(call.type);

    ACLCHECK(
        aclrtMemcpy(host_, recv * length, call.recvBuf, recv * length, ACL_MEMCPY_DEVICE_TO_HOST));
    *wrong = 0;
    for (uint64_t i = 0; i < recv; ++i) {
        uint64_t bits = Encode(operation_->Expected(call, i), call.type);
        if (memcmp(static_cast<char *>(host_) + i * length, &bits, length) != 0)
            ++*wrong;
    }
    return 0;
}

int
Bench::Measure(uint64_t bytes)
{
    uint64_t length = LengthOf(options_.type), send = 0, recv = 0, wrong = 0, wrongOfAll = 0;
    Call call = {send_.Get(), recv_.Get(),   0,     options_.type,
                 options_.op, options_.root, comm_, stream_};
    float ms = 0, slowest = 0;

    operation_->Size(bytes / length, &send, &recv, &call.count);
    HCCLCHECK(Fill(call, send, recv));
    for (int i = 0; i < options_.warmups; ++i)
        HCCLCHECK(operation_->Run(call));
    MPI_Barrier(MPI_COMM_WORLD);
    ACLCHECK(aclrtRecordEvent(start_, stream_));
    for (int i = 0; i < options_.iterations; ++i)
        HCCLCHECK(operation_->Run(call));
    ACLCHECK(aclrtRecordEvent(end_, stream_));
    ACLCHECK(aclrtSynchronizeStream(stream_));
    ACLCHECK(aclrtEventElapsedTime(&ms, start_, end_));

    HCCLCHECK(CountWrong(call, recv, &wrong));
    MPI_Reduce(&ms, &slowest, 1, MPI_FLOAT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &wrongOfAll, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    allWrong_ += wrongOfAll;
    if (rank_ == 0) {
        double us = slowest * 1000.0 / options_.iterations;
        uint64_t dataSize = std::max(send, recv) * length;
        printf("%-24llu| %-20.2f| %-24.5f| %s\n", static_cast<unsigned long long>(dataSize), us,
               us > 0 ? static_cast<double>(dataSize) / us / 1000.0 : 0.0,
               wrongOfAll == 0 ? "success" : "failed");
    }
    return 0;
}

int
Bench::Close()
{
    if (profile_ != nullptr) {
        ACLCHECK(aclprofStop(profile_));
        ACLCHECK(aclprofFinalize());
    }
    HCCLCHECK(send_.Withdraw(comm_));
    HCCLCHECK(recv_.Withdraw(comm_));
    HCCLCHECK(HcclCommDestroy(comm_));
    ACLCHECK(send_.Free());
    ACLCHECK(recv_.Free());
    ACLCHECK(aclrtFreeHost(host_));
    ACLCHECK(aclrtDestroyEvent(start_));
    ACLCHECK(aclrtDestroyEvent(end_));
    ACLCHECK(aclrtDestroyStream(stream_));
    ACLCHECK(aclrtResetDevice(device_));
    ACLCHECK(aclFinalize());
    return 0;
}

int
Bench::Run()
{
    int ret = Open();
    if (ret != 0)
        return ret;
    if (rank_ == 0)
        printf("%-24s| %-20s| %-24s| %s\n", "data_size(Bytes)", "avg_time(us)",
               "alg_bandwidth(GB/s)", "check_result");
    for (uint64_t bytes = options_.begin; bytes <= options_.end; bytes *= options_.factor) {
        ret = Measure(bytes);
        if (ret != 0)
            return ret;
    }
    ret = Close();
    if (ret != 0)
        return ret;
    return allWrong_ == 0 ? 0 : 1;
}

static bool
ReadOptions(int argc, char **argv, Options *options)
{
    static const char *const ops[] = {"sum", "prod", "max", "min"};
    int letter;

    while ((letter = getopt(argc, argv, "o:b:e:f:d:r:s:n:w:p:zt")) != -1) {
        switch (letter) {
        case 'o':
            options->operation = optarg;
            break;
        case 'b':
            options->begin = strtoull(optarg, nullptr, 10);
            break;
        case 'e':
            options->end = strtoull(optarg, nullptr, 10);
            break;
        case 'f':
            options->factor = strtoull(optarg, nullptr, 10);
            break;
        case 'd':
            options->type = TypeNamed(optarg);
            break;
        case 'r':
            options->op = HCCL_REDUCE_RESERVED;
            for (int i = 0; i < 4; ++i) {
                if (strcmp(ops[i], optarg) == 0)
                    options->op = static_cast<HcclReduceOp>(i);
            }
            break;
        case 's':
            options->root = static_cast<uint32_t>(atoi(optarg));
            break;
        case 'n':
            options->iterations = atoi(optarg);
            break;
        case 'w':
            options->warmups = atoi(optarg);
            break;
        case 'p':
            options->devices = static_cast<uint32_t>(atoi(optarg));
            break;
        case 'z':
            options->mapped = true;
            break;
        case 't':
            options->profile = true;
            break;
        default:
            return false;
        }
    }
    return options->begin > 0 && options->factor > 1 && options->iterations > 0 &&
           options->op != HCCL_REDUCE_RESERVED;
}

int
main(int argc, char **argv)
{
    Options options;
    int ret = 1;

    MPI_Init(&argc, &argv);
    if (ReadOptions(argc, argv, &options))
        ret = Bench(options).Run();
    else
        printf("mpi_bench: bad options\n");
    fflush(stdout);
    if (ret != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
