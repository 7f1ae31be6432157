/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a communicator, from the config and from the environment. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm/comm_test.h"
#include "hccl/hccl_res.h"

TEST(config_values_out_of_range_are_refused)
{
    HcclCommConfig good, bad;

    HcclCommConfigInit(&good);
#define REFUSE(field, value, message)                                                              \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.field = value;                                                                         \
        test_expect_error(message);                                                                \
        EXPECT_EQ(HCCL_E_PARA, try_config(&bad));                                                  \
    } while (0)
    REFUSE(hcclBufferSize, 0, "hcclBufferSize is 0");
    REFUSE(hcclDeterministic, 3, "hcclDeterministic is 3");
    REFUSE(hcclOpExpansionMode, 8, "hcclOpExpansionMode is 8");
    REFUSE(hcclRdmaTrafficClass, 133, "hcclRdmaTrafficClass is 133");
    REFUSE(hcclRdmaTrafficClass, 256, "hcclRdmaTrafficClass is 256");
    REFUSE(hcclRdmaServiceLevel, 8, "hcclRdmaServiceLevel is 8");
    REFUSE(aclGraphZeroCopyEnable, 2, "aclGraphZeroCopyEnable is 2");
    REFUSE(hcclExecTimeOut, -2, "hcclExecTimeOut is -2");
    REFUSE(hcclQos, 8, "hcclQos is 8");
    REFUSE(hcclSymWinMaxMemSizePerRank, 0, "hcclSymWinMaxMemSizePerRank is 0");
    REFUSE(reserved[8], 1, "not initialised");
#undef REFUSE
    bad = good;
    memset(bad.hcclCommName, 'x', sizeof bad.hcclCommName);
    test_expect_error("hcclCommName has no end");
    EXPECT_EQ(HCCL_E_PARA, try_config(&bad));
    setenv("HCCL_BUFFSIZE", "lots", 1);
    test_expect_error("EI0001: HCCL_BUFFSIZE");
    EXPECT_EQ(HCCL_E_PARA, try_config(&good));
    unsetenv("HCCL_BUFFSIZE");
    setenv("HCCL_RDMA_TC", "3", 1);
    test_expect_error("EI0001: HCCL_RDMA_TC is 3");
    EXPECT_EQ(HCCL_E_PARA, try_config(&good));
    unsetenv("HCCL_RDMA_TC");
    end_try();
    reset_devices(1);
}

TEST(every_expansion_mode_is_taken_and_ai_cpu_answered)
{
    for (uint32_t mode = 0; mode <= 7; mode++) {
        HcclOpExpansionMode answer = HCCL_OP_EXPANSION_MODE_INVALID;
        HcclCommConfig config;
        HcclComm comm;

        HcclCommConfigInit(&config);
        config.hcclOpExpansionMode = mode;
        comm = init_one(&config);
        EXPECT_EQ(HCCL_SUCCESS, HcclConfigGetInfo(comm, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE,
                                                  sizeof answer, &answer));
        EXPECT_EQ(HCCL_OP_EXPANSION_MODE_AI_CPU, answer);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    }
    reset_devices(1);
}

static void
set_head(HcclCommConfig *config, size_t size, uint32_t version)
{
    memcpy(config->reserved, &size, sizeof size);
    memcpy(config->reserved + 12, &version, sizeof version);
}

TEST(config_of_other_versions_is_read_as_far_as_both_know_it)
{
    char algo[HCCL_COMM_ALGO_MAX_LENGTH], name[COMM_NAME_MAX_LENGTH];
    HcclCommConfig config;
    HcclComm comm;
    uint64_t size = 0;
    void *buffer;

    HcclCommConfigInit(&config);
    config.hcclBufferSize = 3;
    snprintf(config.hcclCommName, sizeof config.hcclCommName, "old");
    memset(config.hcclUdi, 'x', sizeof config - offsetof(HcclCommConfig, hcclUdi)); /* not there */
    set_head(&config, offsetof(HcclCommConfig, hcclUdi), 2);
    comm = init_one(&config);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommName(comm, name));
    EXPECT_STREQ("old", name);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comm, &buffer, &size));
    EXPECT_EQ(6u << 20, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclConfigGetInfo(comm, HCCL_CONFIG_TYPE_HCCL_ALGO, sizeof algo, algo));
    EXPECT_STREQ("", algo);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));

    HcclCommConfigInit(&config);
    snprintf(config.hcclAlgo, sizeof config.hcclAlgo, "level0:NA;level1:ring");
    set_head(&config, sizeof config + 4096, 99); /* from the future */
    comm = init_one(&config);
    EXPECT_EQ(HCCL_SUCCESS, HcclConfigGetInfo(comm, HCCL_CONFIG_TYPE_HCCL_ALGO, sizeof algo, algo));
    EXPECT_STREQ("level0:NA;level1:ring", algo);
    test_expect_error("infoLen is");
    EXPECT_EQ(HCCL_E_PARA, HcclConfigGetInfo(comm, HCCL_CONFIG_TYPE_HCCL_ALGO, 4, algo));
    EXPECT_EQ(HCCL_E_PARA, HcclConfigGetInfo(comm, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 8, algo));
    test_expect_error("no item 7");
    EXPECT_EQ(HCCL_E_PARA, HcclConfigGetInfo(comm, (HcclConfigType)7, 8, algo));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));

    HcclCommConfigInit(&config);
    set_head(&config, 8, 11);
    test_expect_error("says size 8");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    end_try();
    reset_devices(1);
}

TEST(the_environment_sets_the_buffer_unless_the_config_does)
{
    HcclCommConfig config;
    uint64_t size = 0;
    HcclComm comm;
    void *buffer;

    setenv("HCCL_BUFFSIZE", "7", 1);
    comm = init_one(NULL);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comm, &buffer, &size));
    EXPECT_EQ(14u << 20, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    HcclCommConfigInit(&config);
    config.hcclBufferSize = 2;
    comm = init_one(&config);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comm, &buffer, &size));
    EXPECT_EQ(4u << 20, size);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    reset_devices(1);
}

TEST(deterministic_is_set_for_the_process)
{
    HcclConfigValue value = {.value = 1}, answer = {.value = 9};

    EXPECT_EQ(HCCL_SUCCESS, HcclGetConfig(HCCL_DETERMINISTIC, &answer));
    EXPECT_EQ(0, answer.value);
    EXPECT_EQ(HCCL_SUCCESS, HcclSetConfig(HCCL_DETERMINISTIC, value));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetConfig(HCCL_DETERMINISTIC, &answer));
    EXPECT_EQ(1, answer.value);
    value.value = 2;
    EXPECT_EQ(HCCL_SUCCESS, HcclSetConfig(HCCL_DETERMINISTIC, value)); /* 910B: A2 */
    value.value = 3;
    test_expect_error("HCCL_DETERMINISTIC is 3");
    EXPECT_EQ(HCCL_E_PARA, HcclSetConfig(HCCL_DETERMINISTIC, value));
    test_expect_error("only HCCL_DETERMINISTIC");
    EXPECT_EQ(HCCL_E_PARA, HcclSetConfig(HCCL_CONFIG_RESERVED, value));
    EXPECT_EQ(HCCL_E_PARA, HcclGetConfig(HCCL_CONFIG_RESERVED, &answer));
    setenv("HCCL_DETERMINISTIC", "true", 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclSetConfig(HCCL_DETERMINISTIC, value)); /* ignored */
    EXPECT_EQ(HCCL_SUCCESS, HcclGetConfig(HCCL_DETERMINISTIC, &answer));
    EXPECT_EQ(1, answer.value);
}

TEST(strict_determinism_is_for_a2)
{
    HcclConfigValue value = {.value = 2};

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    test_expect_error("A2 devices only");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclSetConfig(HCCL_DETERMINISTIC, value));
}
