/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "comm/comm_object.h"
#include "hccl/hccl_comm.h"

#define NO_MEMBER 0xFFFFFFFFu /* the id that a rank gives which is no member */

static HcclResult
create_part(struct comm *parent, const struct sub_comm_desc *desc, HcclComm *sub)
{
    static const char function[] = "HcclCreateSubCommConfig";
    HcclResult rc;

    if (desc->ranks == NULL && desc->id == NO_MEMBER)
        return HCCL_SUCCESS;
    if (desc->ranks == NULL || desc->id == NO_MEMBER) {
        LOG_ERROR(COMM,
                  "%s: rankIds %s and subCommId is 0x%llx: a member gives a list and another id "
                  "than 0xFFFFFFFF, a rank that is none gives NULL and 0xFFFFFFFF",
                  function, desc->ranks == NULL ? "is NULL" : "is a list",
                  (unsigned long long)desc->id);
        return HCCL_E_PARA;
    }
    rc = comm_need(desc->config, function, "config");
    if (rc == HCCL_SUCCESS)
        rc = comm_need(sub, function, "subComm");
    return rc == HCCL_SUCCESS ? sub_comm_create(parent, desc, sub) : rc;
}

HcclResult
HcclCreateSubCommConfig(HcclComm *comm, uint32_t num, uint32_t *ranks, uint64_t id, uint32_t rank,
                        HcclCommConfig *config, HcclComm *sub)
{
    const struct sub_comm_desc desc = {
        .ranks = ranks, .num = num, .id = id, .rank = rank, .config = config};
    struct comm *parent;
    HcclResult rc = comm_need(comm, "HcclCreateSubCommConfig", "comm");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(*comm, &parent);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = create_part(parent, &desc, sub);
    comm_release(parent);
    return rc;
}
