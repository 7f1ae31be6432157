/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench: what is measured and checked. One class for each operation says how large its buffers are
 * for a data size, how it is called, and what must have arrived. All data are constant: every
 * element that a rank sends is the same small number, which each type holds exactly.
 */
#ifndef BENCH_H
#define BENCH_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "hccl/hccl.h"
#include "hccl/hccl_types.h"

#define ACLCHECK(ret)                                                                              \
    do {                                                                                           \
        int aclRet_ = static_cast<int>(ret);                                                       \
        if (aclRet_ != ACL_SUCCESS) {                                                              \
            printf("%s:%d: acl call failed, code %d\n", __FILE__, __LINE__, aclRet_);              \
            return aclRet_;                                                                        \
        }                                                                                          \
    } while (0)

#define HCCLCHECK(ret)                                                                             \
    do {                                                                                           \
        int hcclRet_ = static_cast<int>(ret);                                                      \
        if (hcclRet_ != HCCL_SUCCESS) {                                                            \
            printf("%s:%d: hccl call failed, code %d\n", __FILE__, __LINE__, hcclRet_);            \
            return hcclRet_;                                                                       \
        }                                                                                          \
    } while (0)

/* What an operation is called with. `count` is what the operator takes: of one rank's part where
 * the buffer of the other side has one for each rank. */
struct Call {
    void *sendBuf;
    void *recvBuf;
    uint64_t count;
    HcclDataType type;
    HcclReduceOp op;
    uint32_t root;
    HcclComm comm;
    aclrtStream stream;
};

class Operation
{
  public:
    Operation(uint32_t rank, uint32_t rankSize) : rank_(rank), rankSize_(rankSize)
    {
    }
    virtual ~Operation() = default;

    /* Elements of the two buffers if the larger one has at most `elements`; and Call::count. */
    virtual void Size(uint64_t elements, uint64_t *send, uint64_t *recv, uint64_t *count) const = 0;
    virtual int Run(const Call &call) = 0;
    /* What must be in element `i` of the receive buffer. */
    virtual uint64_t Expected(const Call &call, uint64_t i) const = 0;
    virtual bool Reduces() const
    {
        return false;
    }
    /* Broadcast has one buffer for both. */
    virtual bool InPlace() const
    {
        return false;
    }

    /* What rank `rank` sends. */
    static uint64_t Sent(uint32_t rank)
    {
        return rank % 3 + 1;
    }
    uint64_t Reduced(HcclReduceOp op) const;

  protected:
    uint32_t rank_;
    uint32_t rankSize_;
};

std::unique_ptr<Operation> MakeOperation(const std::string &name, uint32_t rank, uint32_t rankSize);

/* A small whole number in the bits of a type, and the length of an element; 0: no such type. */
uint64_t Encode(uint64_t value, HcclDataType type);
uint64_t LengthOf(HcclDataType type);
HcclDataType TypeNamed(const std::string &name);

#endif
