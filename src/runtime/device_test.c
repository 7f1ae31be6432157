/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/device.h"
#include "tests/support/test.h"

static uint32_t
count_now(void)
{
    uint32_t count = 99;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    return count;
}

static int64_t
info(uint32_t device, aclrtDevAttr attr)
{
    int64_t value = -99;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetDeviceInfo(device, attr, &value));
    return value;
}

static uint64_t
topo(uint32_t device, uint32_t other)
{
    uint64_t value = ~0ull;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetDevicesTopo(device, other, &value));
    return value;
}

/* ---- how many ---- */

TEST(there_are_eight_a2_devices_by_default)
{
    EXPECT_EQ(8, count_now());
    EXPECT_STREQ("Ascend910B3", aclrtGetSocName());
    EXPECT_EQ(RT_SOC_A2, rt_soc());
}

TEST(a_thousand_devices_cost_nothing_until_used)
{
    uint32_t count = 0;

    setenv("HCOMM_DEVICE_COUNT", "1024", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    EXPECT_EQ(1024, count);
    EXPECT_EQ(0, hc_alloc_live());
    EXPECT_EQ(1023, info(1023, ACL_DEV_ATTR_PHY_CHIP_ID));
}

TEST(visible_devices_restrict_and_renumber)
{
    int32_t id = -7;

    setenv("ASCEND_RT_VISIBLE_DEVICES", "1, 3,6", 1);
    EXPECT_EQ(3, count_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtGetLogicDevIdByUserDevId(1, &id));
    EXPECT_EQ(3, id);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetPhyDevIdByUserDevId(2, &id));
    EXPECT_EQ(6, id);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetPhyDevIdByLogicDevId(0, &id));
    EXPECT_EQ(1, id);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetLogicDevIdByPhyDevId(6, &id));
    EXPECT_EQ(2, id);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetUserDevIdByLogicDevId(3, &id));
    EXPECT_EQ(1, id);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetUserDevIdByPhyDevId(1, &id));
    EXPECT_EQ(0, id);
    EXPECT_EQ(6, info(2, ACL_DEV_ATTR_PHY_CHIP_ID));

    test_expect_error("no visible device has the id 2");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetUserDevIdByLogicDevId(2, &id));
    test_expect_error("no device 3; there are 3");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(3));
    EXPECT_EQ(0, id); /* untouched by the failures */
}

TEST(the_list_of_visible_devices_ends_at_its_first_invalid_entry)
{
    setenv("ASCEND_RT_VISIBLE_DEVICES", "2,5,four,6", 1);
    EXPECT_EQ(2, count_now());
    EXPECT_EQ(1, test_logged("stopped reading at \"four,6\""));
}

TEST(the_list_of_visible_devices_must_ascend)
{
    setenv("ASCEND_RT_VISIBLE_DEVICES", "4,4,5", 1);
    EXPECT_EQ(1, count_now());
}

TEST(a_visible_device_must_exist)
{
    setenv("ASCEND_RT_VISIBLE_DEVICES", "0,8", 1);
    EXPECT_EQ(1, count_now());
}

TEST(with_no_visible_device_there_is_none)
{
    uint32_t count = 99;

    setenv("ASCEND_RT_VISIBLE_DEVICES", "", 1);
    test_expect_error("there is no device; see HCOMM_DEVICE_COUNT");
    EXPECT_EQ(ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&count));
    EXPECT_EQ(0, count);
    EXPECT_EQ(ACL_ERROR_RT_NO_DEVICE, aclrtSetDevice(0));
    EXPECT_NOT_NULL(aclrtGetSocName());
}

TEST(a_device_count_that_is_no_number_leaves_no_device)
{
    uint32_t count = 99;

    setenv("HCOMM_DEVICE_COUNT", "many", 1);
    test_expect_error("HCOMM_DEVICE_COUNT is \"many\"");
    test_expect_error("aclrtGetDeviceCount: there is no device");
    EXPECT_EQ(ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&count));
    EXPECT_EQ(0, count);
}

/* ---- what they are ---- */

TEST(an_unknown_soc_name_is_refused_by_name)
{
    setenv("HCOMM_SOC_NAME", "Ascend910B",
           1); /* this one names a generation that is not modelled */
    test_expect_error("HCOMM_SOC_NAME is \"Ascend910B\"");
    EXPECT_NULL(aclrtGetSocName());
    EXPECT_EQ(ACL_ERROR_INTERNAL_ERROR, aclInit(NULL));
}

TEST(an_a2_device_tells_what_an_a2_device_has)
{
    setenv("HCOMM_DEVICE_MEMORY", "64", 1);
    EXPECT_EQ(24, info(0, ACL_DEV_ATTR_CUBE_CORE_NUM));
    EXPECT_EQ(24, info(0, ACL_DEV_ATTR_AICORE_CORE_NUM));
    EXPECT_EQ(48, info(0, ACL_DEV_ATTR_VECTOR_CORE_NUM));
    EXPECT_EQ(2201, info(0, ACL_DEV_ATTR_NPU_ARCH));
    EXPECT_EQ(64 << 20, info(7, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE));
    EXPECT_EQ(0, info(0, ACL_DEV_ATTR_WARP_SIZE));
    EXPECT_EQ(0, info(0, ACL_DEV_ATTR_MAX_BLOCK_DIM_Z));
    EXPECT_EQ(5, info(5, ACL_DEV_ATTR_PHY_CHIP_ID));
    EXPECT_EQ(5, info(5, ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID));
    EXPECT_EQ(info(0, ACL_DEV_ATTR_SMP_ID), info(7, ACL_DEV_ATTR_SMP_ID));
    EXPECT_EQ(0, info(0, ACL_DEV_ATTR_IS_VIRTUAL));
    EXPECT_TRUE(info(0, ACL_DEV_ATTR_AICPU_CORE_NUM) > 0);
    EXPECT_TRUE(info(0, ACL_DEV_ATTR_L2_CACHE_SIZE) > 0);
    EXPECT_EQ(ACL_RT_DEVS_TOPOLOGY_HCCS, topo(0, 7));
    EXPECT_EQ(0, topo(3, 3));
}

TEST(an_a3_chip_has_two_dies)
{
    setenv("HCOMM_SOC_NAME", "Ascend910_9391", 1);
    setenv("HCOMM_DEVICE_COUNT", "16", 1);
    EXPECT_STREQ("Ascend910_9391", aclrtGetSocName());
    EXPECT_EQ(RT_SOC_A3, rt_soc());
    EXPECT_EQ(info(4, ACL_DEV_ATTR_PHY_CHIP_ID), info(5, ACL_DEV_ATTR_PHY_CHIP_ID));
    EXPECT_NE(info(5, ACL_DEV_ATTR_PHY_CHIP_ID), info(6, ACL_DEV_ATTR_PHY_CHIP_ID));
    EXPECT_NE(info(4, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID), info(5, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID));
    EXPECT_EQ(ACL_RT_DEVS_TOPOLOGY_SIO, topo(4, 5));
    EXPECT_EQ(ACL_RT_DEVS_TOPOLOGY_HCCS_SW, topo(5, 6));
    EXPECT_EQ(2201, info(0, ACL_DEV_ATTR_NPU_ARCH));
}

TEST(a_950_device_has_simt_cores_and_a_mesh_of_rows)
{
    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    setenv("HCOMM_DEVICE_COUNT", "16", 1);
    EXPECT_EQ(RT_SOC_950, rt_soc());
    EXPECT_EQ(3510, info(0, ACL_DEV_ATTR_NPU_ARCH));
    EXPECT_EQ(32, info(0, ACL_DEV_ATTR_WARP_SIZE));
    EXPECT_EQ(ACL_HOST_DEVICE_CONNECT_TYPE_UB, info(0, ACL_DEV_ATTR_HD_CONNECT_TYPE));
    EXPECT_EQ(ACL_DEVICE_FORM_FACTOR_POD, info(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR));
    EXPECT_EQ(ACL_RT_DEVS_TOPOLOGY_HCCS, topo(0, 7));    /* a row */
    EXPECT_EQ(ACL_RT_DEVS_TOPOLOGY_HCCS, topo(1, 9));    /* a column */
    EXPECT_EQ(ACL_RT_DEVS_TOPOLOGY_HCCS_SW, topo(1, 8)); /* neither */
}

TEST(device_queries_refuse_what_they_cannot_answer)
{
    int64_t value = 77;
    uint64_t link = 77;
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;

    test_expect_error("aclrtGetDeviceInfo: value is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SMP_ID, NULL));
    test_expect_error("aclrtGetDeviceInfo: no device 8");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtGetDeviceInfo(8, ACL_DEV_ATTR_SMP_ID, &value));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    test_expect_error("there is no device attribute 9999");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtGetDeviceInfo(0, (aclrtDevAttr)9999, &value));
    test_expect_error("exists on the 950 family only");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtGetDeviceInfo(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR, &value));
    EXPECT_EQ(77, value);
    test_expect_error("aclrtGetDevicesTopo: value is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetDevicesTopo(0, 1, NULL));
    test_expect_error("aclrtGetDevicesTopo: no device");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevicesTopo(0, 0xFFFFFFFFu, &link));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevicesTopo(8, 0, &link));
    EXPECT_EQ(77, link);
    test_expect_error("aclrtQueryDeviceStatus: no device -1");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtQueryDeviceStatus(-1, &status));
    EXPECT_EQ(ACL_RT_DEVICE_STATUS_END, status);
    EXPECT_EQ(ACL_SUCCESS, aclrtQueryDeviceStatus(0, &status));
    EXPECT_EQ(ACL_RT_DEVICE_STATUS_NORMAL, status);
}

TEST(null_results_are_refused_and_are_no_runtime_error)
{
    test_expect_error("is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetRunMode(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetBareTgid(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtQueryDeviceStatus(0, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetLogicDevIdByUserDevId(0, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetUserDevIdByPhyDevId(0, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
}

TEST(an_ordinary_process_runs_on_the_host)
{
    aclrtRunMode mode = ACL_DEVICE;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetRunMode(&mode));
    EXPECT_EQ(ACL_HOST, mode);
}
