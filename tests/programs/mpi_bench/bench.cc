/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace
{

struct TypeRow {
    const char *name;
    HcclDataType type;
    uint64_t length;
};

const TypeRow TYPES[] = {
    {"int8", HCCL_DATA_TYPE_INT8, 1},     {"int16", HCCL_DATA_TYPE_INT16, 2},
    {"int32", HCCL_DATA_TYPE_INT32, 4},   {"int64", HCCL_DATA_TYPE_INT64, 8},
    {"uint8", HCCL_DATA_TYPE_UINT8, 1},   {"uint16", HCCL_DATA_TYPE_UINT16, 2},
    {"uint32", HCCL_DATA_TYPE_UINT32, 4}, {"uint64", HCCL_DATA_TYPE_UINT64, 8},
    {"fp16", HCCL_DATA_TYPE_FP16, 2},     {"fp32", HCCL_DATA_TYPE_FP32, 4},
    {"fp64", HCCL_DATA_TYPE_FP64, 8},     {"bfp16", HCCL_DATA_TYPE_BFP16, 2},
};

class AllReduce : public Operation
{
  public:
    using Operation::Operation;
    void Size(uint64_t elements, uint64_t *send, uint64_t *recv, uint64_t *count) const override
    {
        *send = *recv = *count = elements;
    }
    int Run(const Call &c) override
    {
        HCCLCHECK(HcclAllReduce(c.sendBuf, c.recvBuf, c.count, c.type, c.op, c.comm, c.stream));
        return 0;
    }
    uint64_t Expected(const Call &c, uint64_t) const override
    {
        return Reduced(c.op);
    }
    bool Reduces() const override
    {
        return true;
    }
};

class Reduce : public AllReduce
{
  public:
    using AllReduce::AllReduce;
    int Run(const Call &c) override
    {
        HCCLCHECK(
            HcclReduce(c.sendBuf, c.recvBuf, c.count, c.type, c.op, c.root, c.comm, c.stream));
        return 0;
    }
    uint64_t Expected(const Call &c, uint64_t) const override
    {
        return rank_ == c.root ? Reduced(c.op) : 0;
    }
};

class Broadcast : public Operation
{
  public:
    using Operation::Operation;
    void Size(uint64_t elements, uint64_t *send, uint64_t *recv, uint64_t *count) const override
    {
        *send = *recv = *count = elements;
    }
    int Run(const Call &c) override
    {
        HCCLCHECK(HcclBroadcast(c.recvBuf, c.count, c.type, c.root, c.comm, c.stream));
        return 0;
    }
    uint64_t Expected(const Call &c, uint64_t) const override
    {
        return Sent(c.root);
    }
    bool InPlace() const override
    {
        return true;
    }
};

/* Each rank's buffer to send has a slice for each rank. */
class ReduceScatter : public Operation
{
  public:
    using Operation::Operation;
    void Size(uint64_t elements, uint64_t *send, uint64_t *recv, uint64_t *count) const override
    {
        *count = *recv = std::max<uint64_t>(elements / rankSize_, 1);
        *send = *count * rankSize_;
    }
    int Run(const Call &c) override
    {
        HCCLCHECK(HcclReduceScatter(c.sendBuf, c.recvBuf, c.count, c.type, c.op, c.comm, c.stream));
        return 0;
    }
    uint64_t Expected(const Call &c, uint64_t) const override
    {
        return Reduced(c.op);
    }
    bool Reduces() const override
    {
        return true;
    }
};

class Scatter : public ReduceScatter
{
  public:
    using ReduceScatter::ReduceScatter;
    int Run(const Call &c) override
    {
        HCCLCHECK(HcclScatter(c.sendBuf, c.recvBuf, c.count, c.type, c.root, c.comm, c.stream));
        return 0;
    }
    uint64_t Expected(const Call &c, uint64_t) const override
    {
        return Sent(c.root);
    }
    bool Reduces() const override
    {
        return false;
    }
};

/* Each rank's buffer to receive has a slice for each rank. */
class AllGather : public Operation
{
  public:
    using Operation::Operation;
    void Size(uint64_t elements, uint64_t *send, uint64_t *recv, uint64_t *count) const override
    {
        *count = *send = std::max<uint64_t>(elements / rankSize_, 1);
        *recv = *count * rankSize_;
    }
    int Run(const Call &c) override
    {
        HCCLCHECK(HcclAllGather(c.sendBuf, c.recvBuf, c.count, c.type, c.comm, c.stream));
        return 0;
    }
    uint64_t Expected(const Call &c, uint64_t i) const override
    {
        return Sent(static_cast<uint32_t>(i / c.count));
    }
};

/* What the variants with tables need: equal parts, in the order of the ranks. */
struct Tables {
    std::vector<uint64_t> counts, displs;
    Tables(uint64_t count, uint32_t rankSize)
    {
        for (uint32_t i = 0; i < rankSize; ++i) {
            counts.push_back(count);
            displs.push_back(count * i);
        }
    }
};

class AllGatherV : public AllGather
{
  public:
    using AllGather::AllGather;
    int Run(const Call &c) override
    {
        Tables t(c.count, rankSize_);
        HCCLCHECK(HcclAllGatherV(c.sendBuf, c.count, c.recvBuf, t.counts.data(), t.displs.data(),
                                 c.type, c.comm, c.stream));
        return 0;
    }
};

class ReduceScatterV : public ReduceScatter
{
  public:
    using ReduceScatter::ReduceScatter;
    int Run(const Call &c) override
    {
        Tables t(c.count, rankSize_);
        HCCLCHECK(HcclReduceScatterV(c.sendBuf, t.counts.data(), t.displs.data(), c.recvBuf,
                                     c.count, c.type, c.op, c.comm, c.stream));
        return 0;
    }
};

class AlltoAll : public AllGather
{
  public:
    using AllGather::AllGather;
    void Size(uint64_t elements, uint64_t *send, uint64_t *recv, uint64_t *count) const override
    {
        *count = std::max<uint64_t>(elements / rankSize_, 1);
        *send = *recv = *count * rankSize_;
    }
    int Run(const Call &c) override
    {
        HCCLCHECK(
            HcclAlltoAll(c.sendBuf, c.count, c.type, c.recvBuf, c.count, c.type, c.comm, c.stream));
        return 0;
    }
};

class AlltoAllV : public AlltoAll
{
  public:
    using AlltoAll::AlltoAll;
    int Run(const Call &c) override
    {
        Tables t(c.count, rankSize_);
        HCCLCHECK(HcclAlltoAllV(c.sendBuf, t.counts.data(), t.displs.data(), c.type, c.recvBuf,
                                t.counts.data(), t.displs.data(), c.type, c.comm, c.stream));
        return 0;
    }
};

class AlltoAllVC : public AlltoAll
{
  public:
    using AlltoAll::AlltoAll;
    int Run(const Call &c) override
    {
        std::vector<uint64_t> matrix(static_cast<size_t>(rankSize_) * rankSize_, c.count);
        HCCLCHECK(
            HcclAlltoAllVC(c.sendBuf, matrix.data(), c.type, c.recvBuf, c.type, c.comm, c.stream));
        return 0;
    }
};

template <typename T>
std::unique_ptr<Operation>
Make(uint32_t rank, uint32_t rankSize)
{
    return std::unique_ptr<Operation>(new T(rank, rankSize));
}

struct OperationRow {
    const char *name;
    std::unique_ptr<Operation> (*make)(uint32_t rank, uint32_t rankSize);
};

const OperationRow OPERATIONS[] = {
    {"all_reduce", Make<AllReduce>},
    {"reduce", Make<Reduce>},
    {"broadcast", Make<Broadcast>},
    {"reduce_scatter", Make<ReduceScatter>},
    {"reduce_scatter_v", Make<ReduceScatterV>},
    {"scatter", Make<Scatter>},
    {"all_gather", Make<AllGather>},
    {"all_gather_v", Make<AllGatherV>},
    {"all_to_all", Make<AlltoAll>},
    {"all_to_all_v", Make<AlltoAllV>},
    {"all_to_all_vc", Make<AlltoAllVC>},
};

} // namespace

uint64_t
Operation::Reduced(HcclReduceOp op) const
{
    uint64_t result = Sent(0);

    for (uint32_t rank = 1; rank < rankSize_; ++rank) {
        uint64_t value = Sent(rank);
        result = op == HCCL_REDUCE_SUM    ? result + value
                 : op == HCCL_REDUCE_PROD ? result * value
                 : op == HCCL_REDUCE_MAX  ? std::max(result, value)
                                          : std::min(result, value);
    }
    return result;
}

std::unique_ptr<Operation>
MakeOperation(const std::string &name, uint32_t rank, uint32_t rankSize)
{
    for (const OperationRow &row : OPERATIONS) {
        if (name == row.name)
            return row.make(rank, rankSize);
    }
    return nullptr;
}

uint64_t
LengthOf(HcclDataType type)
{
    for (const TypeRow &row : TYPES) {
        if (row.type == type)
            return row.length;
    }
    return 0;
}

HcclDataType
TypeNamed(const std::string &name)
{
    for (const TypeRow &row : TYPES) {
        if (name == row.name)
            return row.type;
    }
    return HCCL_DATA_TYPE_RESERVED;
}

uint64_t
Encode(uint64_t value, HcclDataType type)
{
    uint64_t bits = value;

    if (type == HCCL_DATA_TYPE_FP64) {
        double real = static_cast<double>(value);
        memcpy(&bits, &real, sizeof real);
    } else if (type == HCCL_DATA_TYPE_FP32 || type == HCCL_DATA_TYPE_BFP16 ||
               type == HCCL_DATA_TYPE_FP16) {
        float real = static_cast<float>(value);
        uint32_t bits32;
        memcpy(&bits32, &real, sizeof real);
        bits = bits32;
        if (type == HCCL_DATA_TYPE_BFP16)
            bits >>= 16;
        else if (type == HCCL_DATA_TYPE_FP16 && value != 0) /* other bias, shorter mantissa */
            bits = ((bits32 >> 23) - 127 + 15) << 10 | (bits32 >> 13 & 0x3ff);
    }
    return bits;
}
