/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a communicator, from the config and from the environment. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm/comm.h"
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

/* ---- What collectives are to be run with ---- */

static HcclOpExpansionMode
expansion_of(HcclComm handle)
{
    HcclOpExpansionMode answer = HCCL_OP_EXPANSION_MODE_INVALID;
    struct comm *comm;

    EXPECT_EQ(HCCL_SUCCESS, HcclConfigGetInfo(handle, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE,
                                              sizeof answer, &answer));
    EXPECT_EQ(HCCL_SUCCESS, comm_hold(handle, &comm));
    EXPECT_EQ(answer, comm_op_expansion(comm));
    comm_release(comm);
    return answer;
}

static HcclOpExpansionMode
expansion_with(uint32_t mode, const char *environment)
{
    HcclOpExpansionMode answer;
    HcclCommConfig config;
    HcclComm comm;

    if (environment == NULL)
        unsetenv("HCCL_OP_EXPANSION_MODE");
    else
        setenv("HCCL_OP_EXPANSION_MODE", environment, 1);
    HcclCommConfigInit(&config);
    config.hcclOpExpansionMode = mode;
    comm = init_one(&config);
    answer = expansion_of(comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    return answer;
}

TEST(every_expansion_mode_is_taken_and_the_host_or_ai_cpu_answered)
{
    static const char *const aicpu[] = {"",    "AI_CPU", "AICPU_TS", "AICPU_CacheDisable",
                                        "AIV", "CCU_MS", "CCU_SCHED"};

    for (uint32_t mode = 0; mode <= 7; mode++)
        EXPECT_EQ(mode == 1 ? HCCL_OP_EXPANSION_MODE_HOST_TS : HCCL_OP_EXPANSION_MODE_AI_CPU,
                  expansion_with(mode, NULL));
    for (size_t i = 0; i < sizeof aicpu / sizeof aicpu[0]; i++) {
        EXPECT_EQ(HCCL_OP_EXPANSION_MODE_AI_CPU, expansion_with(0, aicpu[i]));
        EXPECT_EQ(HCCL_OP_EXPANSION_MODE_HOST_TS, expansion_with(1, aicpu[i]));
    }
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_HOST_TS, expansion_with(0, "HOST"));
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_HOST_TS, expansion_with(0, "HOST_TS"));
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_AI_CPU, expansion_with(2, "HOST_TS"));
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_AI_CPU, expansion_with(3, "HOST_TS"));
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_HOST_TS, expansion_with(0, "AI_CPU"));
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_HOST_TS, expansion_with(6, NULL));
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_AI_CPU, expansion_with(2, NULL));
    setenv("HCOMM_COLL_ENGINE", "aicpu", 1);
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_AI_CPU, expansion_with(0, "HOST"));
    EXPECT_EQ(HCCL_OP_EXPANSION_MODE_HOST_TS, expansion_with(1, NULL));
    reset_devices(1);
}

TEST(nonsense_about_collectives_is_refused_at_init)
{
    char text[HCCL_COMM_ALGO_MAX_LENGTH + 1];
    HcclCommConfig config;

    HcclCommConfigInit(&config);
    setenv("HCCL_OP_EXPANSION_MODE", "AI-CPU", 1);
    test_expect_error("EI0001: HCCL_OP_EXPANSION_MODE is \"AI-CPU\"");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    unsetenv("HCCL_OP_EXPANSION_MODE");
    setenv("HCOMM_COLL_ENGINE", "cpu", 1);
    test_expect_error("EI0001: HCOMM_COLL_ENGINE is \"cpu\"");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    config.hcclOpExpansionMode = 8;
    test_expect_error("hcclOpExpansionMode is 8");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    config.hcclOpExpansionMode = 0;
    unsetenv("HCOMM_COLL_ENGINE");
    setenv("HCCL_DETERMINISTIC", "1", 1);
    test_expect_error("EI0001: HCCL_DETERMINISTIC is \"1\"");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    unsetenv("HCCL_DETERMINISTIC");
    setenv("HCCL_ALGO", "level1:best", 1);
    test_expect_error("EI0001: HCCL_ALGO: \"level1:best\" names no algorithm");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    snprintf(config.hcclAlgo, sizeof config.hcclAlgo, "level1:ring"); /* does not excuse it */
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    setenv("HCCL_ALGO", text, 1);
    test_expect_error("EI0001: HCCL_ALGO has 1600 characters; it may have 1599");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    unsetenv("HCCL_ALGO");
    snprintf(config.hcclAlgo, sizeof config.hcclAlgo, "level1:best");
    test_expect_error("EI0016: hcclAlgo: \"level1:best\" names no algorithm");
    EXPECT_EQ(HCCL_E_PARA, try_config(&config));
    end_try();
    reset_devices(1);
}

TEST(the_algorithm_is_the_configs_or_the_environments)
{
    static const char *const texts[] = {"level1:NHR", "allreduce=level0:NA;level1:ring"};

    setenv("HCCL_ALGO", texts[0], 1);
    for (int i = 0; i < 2; i++) {
        char algo[HCCL_COMM_ALGO_MAX_LENGTH];
        HcclCommConfig config;
        struct comm *held;
        HcclComm comm;

        HcclCommConfigInit(&config);
        snprintf(config.hcclAlgo, sizeof config.hcclAlgo, "%s", i == 0 ? "" : texts[1]);
        comm = init_one(&config);
        memset(algo, 'x', sizeof algo);
        EXPECT_EQ(HCCL_SUCCESS,
                  HcclConfigGetInfo(comm, HCCL_CONFIG_TYPE_HCCL_ALGO, sizeof algo, algo));
        EXPECT_STREQ(texts[i], algo);
        for (size_t at = strlen(algo); at < sizeof algo; at++)
            EXPECT_EQ(0, algo[at]);
        EXPECT_EQ(HCCL_SUCCESS, comm_hold(comm, &held));
        EXPECT_STREQ(texts[i], comm_algo(held));
        comm_release(held);
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
    setenv("HCCL_DETERMINISTIC", "", 1); /* as if it were not there */
    EXPECT_EQ(HCCL_SUCCESS, HcclGetConfig(HCCL_DETERMINISTIC, &answer));
    EXPECT_EQ(2, answer.value);
    value.value = 0;
    EXPECT_EQ(HCCL_SUCCESS, HcclSetConfig(HCCL_DETERMINISTIC, value));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetConfig(HCCL_DETERMINISTIC, &answer));
    EXPECT_EQ(0, answer.value);
    setenv("HCCL_DETERMINISTIC", "yes", 1);
    test_expect_error("EI0001: HCCL_DETERMINISTIC is \"yes\"");
    EXPECT_EQ(HCCL_E_PARA, HcclGetConfig(HCCL_DETERMINISTIC, &answer));
    test_expect_error("configValue is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclGetConfig(HCCL_DETERMINISTIC, NULL));
}

/* `config` 9: it says nothing; `environment` NULL: nor does that. */
static HcclComm
deterministic_one(uint32_t setting, const char *environment)
{
    HcclCommConfig config;

    if (environment == NULL)
        unsetenv("HCCL_DETERMINISTIC");
    else
        setenv("HCCL_DETERMINISTIC", environment, 1);
    HcclCommConfigInit(&config);
    if (setting != 9)
        config.hcclDeterministic = setting;
    return init_one(&config);
}

static void
expect_deterministic(int32_t expected, HcclComm handle)
{
    struct comm *comm;

    EXPECT_EQ(HCCL_SUCCESS, comm_hold(handle, &comm));
    EXPECT_EQ(expected, comm_deterministic(comm));
    comm_release(comm);
}

TEST(deterministic_is_the_configs_then_the_environments_then_what_was_set)
{
    const struct {
        uint32_t config;
        const char *environment;
        int32_t before, after; /* HcclSetConfig has said 1 */
    } rows[] = {
        {9, NULL, 0, 1},     {9, "", 0, 1},       {9, "false", 0, 0}, {9, "true", 1, 1},
        {9, "strict", 2, 2}, {0, "strict", 0, 0}, {1, NULL, 1, 1},    {2, "false", 2, 2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        HcclComm comm = deterministic_one(rows[i].config, rows[i].environment);
        HcclConfigValue value = {.value = 1};

        expect_deterministic(rows[i].before, comm);
        unsetenv("HCCL_DETERMINISTIC"); /* it was looked at when the communicator was made */
        EXPECT_EQ(HCCL_SUCCESS, HcclSetConfig(HCCL_DETERMINISTIC, value));
        expect_deterministic(rows[i].after, comm);
        value.value = 0;
        EXPECT_EQ(HCCL_SUCCESS, HcclSetConfig(HCCL_DETERMINISTIC, value));
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    }
    reset_devices(1);
}

TEST(a_950_is_always_deterministic)
{
    HcclComm comm;

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    comm = deterministic_one(0, "false");
    expect_deterministic(1, comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    reset_devices(1);
}

TEST(strict_determinism_is_for_a2)
{
    HcclConfigValue value = {.value = 2};

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    test_expect_error("A2 devices only");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclSetConfig(HCCL_DETERMINISTIC, value));
}
