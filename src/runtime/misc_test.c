/* SPDX-License-Identifier: BSD-3-Clause */
/* Timeouts, limits, versions, profiling. */
#include "runtime/limits.h"

#include "acl/acl_prof.h"
#include "runtime/device.h"
#include "tests/support/test.h"

TEST(the_longest_operator_timeout_covers_what_operators_ask_for)
{
    uint64_t step = 0;

    test_expect_error("this thread has no context");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetOpTimeOutInterval(&step));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetOpTimeOutInterval(&step));
    EXPECT_TRUE(step > 0);
    EXPECT_TRUE(step * 254 >= 1886u * 1000000ull);
    test_expect_error("interval is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeOutInterval(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(operator_timeouts_are_whole_steps_rounded_up_and_capped)
{
    uint64_t actual = 0, most = (uint64_t)RT_OP_TIMEOUT_STEP_US * RT_OP_TIMEOUT_STEPS;
    uint32_t ms = 0;

    EXPECT_EQ(0, rt_op_timeout_us());
    EXPECT_EQ(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&ms));
    EXPECT_EQ(28000, ms);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(1, &actual));
    EXPECT_EQ(RT_OP_TIMEOUT_STEP_US, actual);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(RT_OP_TIMEOUT_STEP_US + 1, &actual));
    EXPECT_EQ(2 * RT_OP_TIMEOUT_STEP_US, actual);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual));
    EXPECT_EQ(most, actual);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(0, &actual));
    EXPECT_EQ(most, actual);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetOpExecuteTimeOut(100));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&ms));
    EXPECT_TRUE(ms >= 100000 && ms < 100000 + RT_OP_TIMEOUT_STEP_US / 1000);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetOpExecuteTimeOutWithMs(1));
    EXPECT_EQ(RT_OP_TIMEOUT_STEP_US, rt_op_timeout_us());
    test_expect_error("is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(1, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetOpExecuteTimeout(NULL));
}

TEST(the_overflow_mode_is_the_devices)
{
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;

    test_expect_error("this thread has no context");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
    EXPECT_EQ(ACL_RT_OVERFLOW_MODE_INFNAN, mode);
    EXPECT_EQ(ACL_RT_OVERFLOW_MODE_SATURATION, rt_sat_mode(0));
    test_expect_error("mode is 2");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF));
    test_expect_error("mode is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceSatMode(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
}

static uint32_t
cores_here(void)
{
    uint32_t value = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value));
    return value;
}

TEST(a_streams_core_limit_beats_the_devices_which_beats_the_hardware)
{
    uint32_t value = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(48, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 20));
    EXPECT_EQ(20, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtGetDeviceResLimit(1, ACL_RT_DEV_RES_VECTOR_CORE, &value));
    EXPECT_EQ(48, value);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamResLimit(NULL, ACL_RT_DEV_RES_VECTOR_CORE, 8));
    EXPECT_EQ(20, cores_here()); /* not in use by this thread yet */
    EXPECT_EQ(ACL_SUCCESS, aclrtUseStreamResInCurrentThread(NULL));
    EXPECT_EQ(8, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtGetStreamResLimit(NULL, ACL_RT_DEV_RES_VECTOR_CORE, &value));
    EXPECT_EQ(8, value);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetStreamResLimit(NULL, ACL_RT_DEV_RES_CUBE_CORE, &value));
    EXPECT_EQ(24, value);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetStreamResLimit(NULL));
    EXPECT_EQ(20, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamResLimit(NULL, ACL_RT_DEV_RES_VECTOR_CORE, 8));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnuseStreamResInCurrentThread(NULL));
    EXPECT_EQ(20, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceResLimit(0));
    EXPECT_EQ(48, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(a_destroyed_stream_limits_nobody)
{
    aclrtContext context = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamResLimit(NULL, ACL_RT_DEV_RES_VECTOR_CORE, 8));
    EXPECT_EQ(ACL_SUCCESS, aclrtUseStreamResInCurrentThread(NULL));
    EXPECT_EQ(8, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(48, cores_here());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(bad_core_limits_are_refused)
{
    uint32_t value = 77;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    test_expect_error("resource type is 9");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtGetResInCurrentThread((aclrtDevResLimitType)9, &value));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, (aclrtDevResLimitType)9, 1));
    test_expect_error("the limit is 49; it must be from 1 to 48 cores");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtSetStreamResLimit(NULL, ACL_RT_DEV_RES_VECTOR_CORE, 49));
    test_expect_error("the limit is 0");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 0));
    test_expect_error("no device 8");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceResLimit(8));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID,
              aclrtGetDeviceResLimit(8, ACL_RT_DEV_RES_CUBE_CORE, &value));
    test_expect_error("value is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM,
              aclrtGetStreamResLimit(NULL, ACL_RT_DEV_RES_CUBE_CORE, NULL));
    EXPECT_EQ(77, value);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(every_package_has_the_librarys_version)
{
    int32_t number = 0, major = 0, minor = 0, patch = -1;
    char hcomm[] = "hcomm", absent[] = "no-such-package", text[ACL_PKG_VERSION_MAX_SIZE];
    aclCANNPackageVersion version;

    EXPECT_EQ(ACL_SUCCESS, aclsysGetVersionNum(hcomm, &number));
    EXPECT_EQ(90200000, number);
    EXPECT_EQ(ACL_ERROR_INVALID_FILE, aclsysGetVersionNum(absent, &number));
    EXPECT_EQ(90200000, number);
    EXPECT_EQ(ACL_SUCCESS, aclsysGetVersionStr(hcomm, text));
    EXPECT_STREQ("9.2.0", text);
    EXPECT_EQ(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(absent, text));
    EXPECT_EQ(ACL_SUCCESS, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
    EXPECT_STREQ("9.2.0", version.version);
    EXPECT_STREQ("9", version.majorVersion);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetVersion(&major, &minor, &patch));
    EXPECT_EQ(1, major);
    EXPECT_EQ(17, minor);
    EXPECT_EQ(0, patch);
    test_expect_error("is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclsysGetVersionNum(NULL, &number));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr(hcomm, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclsysGetCANNVersion(ACL_PKG_NAME_CANN, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&major, NULL, &patch));
    test_expect_error("there is no package 8");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclsysGetCANNVersion((aclCANNPackageName)8, &version));
}

TEST(profiling_is_accepted)
{
    uint32_t devices[] = {0, 1};
    aclprofConfig *config;
    int other = 0;

    EXPECT_EQ(ACL_SUCCESS, aclprofInit("/somewhere", 10));
    config = aclprofCreateConfig(devices, 2, ACL_AICORE_PIPE_UTILIZATION, NULL, ACL_PROF_ACL_API);
    EXPECT_NOT_NULL(config);
    EXPECT_EQ(ACL_SUCCESS, aclprofStart(config));
    EXPECT_EQ(ACL_SUCCESS, aclprofStop(config));
    EXPECT_EQ(ACL_SUCCESS, aclprofDestroyConfig(config));
    EXPECT_EQ(ACL_SUCCESS, aclprofFinalize());
    test_expect_error("aclprofInit: the path");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclprofInit(NULL, 10));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclprofInit("/somewhere", 4097));
    test_expect_error("aclprofStart: the configuration is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclprofStart(NULL));
    test_expect_error("aclprofStop: the configuration is not from");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclprofStop((const aclprofConfig *)(const void *)&other));
    test_expect_error("aclprofCreateConfig: the list of 2 devices is NULL");
    EXPECT_NULL(aclprofCreateConfig(NULL, 2, ACL_AICORE_NONE, NULL, 0));
}
