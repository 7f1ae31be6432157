/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of this layer share. */
#ifndef HC_COMM_COMM_TEST_H
#define HC_COMM_COMM_TEST_H

#include <stdlib.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_comm.h"
#include "tests/support/test.h"

/* Devices 0 to num - 1, which the test has set. */
static inline void
reset_devices(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
}

/* One rank alone on device 0 of this thread. */
static inline HcclComm
init_one(const HcclCommConfig *config)
{
    HcclRootInfo info;
    HcclComm comm = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    if (config == NULL)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfo(1, &info, 0, &comm));
    else
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfoConfig(1, &info, 0, config, &comm));
    return comm;
}

/* As init_one, but expected to fail at once, before the root info is used. */
static inline HcclResult
try_config(const HcclCommConfig *config)
{
    static HcclRootInfo info;
    static bool made;
    HcclComm comm = NULL;
    HcclResult rc;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    if (!made)
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    made = true;
    rc = HcclCommInitRootInfoConfig(1, &info, 0, config, &comm);
    if (rc == HCCL_SUCCESS) {
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
        made = false;
    } else {
        EXPECT_NULL(comm);
    }
    return rc;
}

/* Ends what try_config has left open. */
static inline void
end_try(void)
{
    HcclCommConfig config;

    HcclCommConfigInit(&config);
    unsetenv("HCCL_BUFFSIZE");
    EXPECT_EQ(HCCL_SUCCESS, try_config(&config));
}

#endif
