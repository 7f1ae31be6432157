/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/config.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/knobs.h"
#include "base/log.h"
#include "comm/algo.h"
#include "runtime/runtime.h"

#define NOT_SET 0xffffffffu
#define EXPANSION_MOST 7u
#define QOS_DEFAULT 6u
#define QOS_DEFAULT_950 4u

/* What `reserved` holds. */
struct config_head {
    size_t size;
    uint32_t magic;
    uint32_t version;
    uint64_t reserved;
};

_Static_assert(sizeof(struct config_head) == HCCL_COMM_CONFIG_INFO_BYTES,
               "as compiled into callers");

static _Atomic int32_t deterministic = -1; /* HcclSetConfig's; -1: never called */

/* Bytes of the record that a caller of `version` has filled in. */
static size_t
known_len(uint32_t version)
{
    static const size_t ends[] = {
        HCCL_COMM_CONFIG_INFO_BYTES,
        offsetof(HcclCommConfig, hcclCommName),
        offsetof(HcclCommConfig, hcclUdi),
        offsetof(HcclCommConfig, hcclOpExpansionMode),
        offsetof(HcclCommConfig, hcclRdmaTrafficClass),
        offsetof(HcclCommConfig, hcclWorldRankID),
        offsetof(HcclCommConfig, aclGraphZeroCopyEnable),
        offsetof(HcclCommConfig, aclGraphZeroCopyEnable) + 1,
        offsetof(HcclCommConfig, hcclBufferName),
        offsetof(HcclCommConfig, hcclBufferName) + BUFFER_NAME_MAX_LENGTH,
        offsetof(HcclCommConfig, hcclChannelSqDepth),
        offsetof(HcclCommConfig, hcclChannelSqDepth) + sizeof(uint32_t),
    };

    return ends[version > HCCL_COMM_CONFIG_VERSION ? HCCL_COMM_CONFIG_VERSION : version];
}

static void
set_unset(HcclCommConfig *full)
{
    memset(full, 0, sizeof *full);
    full->hcclBufferSize = NOT_SET;
    full->hcclDeterministic = NOT_SET;
    full->hcclRdmaTrafficClass = NOT_SET;
    full->hcclRdmaServiceLevel = NOT_SET;
    full->hcclExecTimeOut = HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET;
    full->hcclQos = NOT_SET;
    full->hcclSymWinMaxMemSizePerRank = HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE;
    full->hcclChannelSqDepth = NOT_SET;
}

HcclResult
config_copy(HcclCommConfig *copy, const HcclCommConfig *user)
{
    static const struct config_head ours = {.size = sizeof *copy,
                                            .magic = HCCL_COMM_CONFIG_MAGIC_WORD,
                                            .version = HCCL_COMM_CONFIG_VERSION};
    struct config_head head;
    size_t len;

    set_unset(copy);
    memcpy(&head, user->reserved, sizeof head);
    if (head.magic != HCCL_COMM_CONFIG_MAGIC_WORD) {
        LOG_ERROR(COMM,
                  "the communicator config is not initialised (magic 0x%x): call "
                  "HcclCommConfigInit on it first",
                  head.magic);
        return HCCL_E_PARA;
    }
    if (head.size < HCCL_COMM_CONFIG_INFO_BYTES || head.version == 0) {
        LOG_ERROR(COMM,
                  "the communicator config says size %zu, version %u: call HcclCommConfigInit "
                  "on it first",
                  head.size, head.version);
        return HCCL_E_PARA;
    }
    len = known_len(head.version);
    if (len > head.size)
        len = head.size;
    memcpy(copy->reserved, &ours, sizeof ours);
    memcpy((char *)copy + sizeof head, (const char *)user + sizeof head, len - sizeof head);
    return HCCL_SUCCESS;
}

static HcclResult
need_text(const char *text, size_t room, const char *what)
{
    if (memchr(text, '\0', room) != NULL)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s has no end within its %zu bytes: it may have %zu characters", what, room,
              room - 1);
    return HCCL_E_PARA;
}

static HcclResult
check_texts(const HcclCommConfig *full)
{
    const struct {
        const char *text;
        size_t room;
        const char *what;
    } texts[] = {
        {full->hcclCommName, sizeof full->hcclCommName, "hcclCommName"},
        {full->hcclUdi, sizeof full->hcclUdi, "hcclUdi"},
        {full->hcclAlgo, sizeof full->hcclAlgo, "hcclAlgo"},
        {full->hcclRetryEnable, sizeof full->hcclRetryEnable, "hcclRetryEnable"},
        {full->hcclRetryParams, sizeof full->hcclRetryParams, "hcclRetryParams"},
        {full->hcclBufferName, sizeof full->hcclBufferName, "hcclBufferName"},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        HcclResult rc = need_text(texts[i].text, texts[i].room, texts[i].what);

        if (rc != HCCL_SUCCESS)
            return rc;
    }
    return HCCL_SUCCESS;
}

static HcclResult
fail_value(const char *what, long long value, const char *expected)
{
    LOG_ERROR(COMM, "EI0016: %s is %lld; set it to %s", what, value, expected);
    return HCCL_E_PARA;
}

/* An algorithm text of the config, or of the environment. */
static HcclResult
check_algo(const char *text, bool from_config)
{
    const char *where = from_config ? "hcclAlgo" : hc_knob_info(KNOB_ALGO)->env;
    const char *report = from_config ? "EI0016" : "EI0001";
    char why[ALGO_WHY_LEN];

    if (text[0] == '\0')
        return HCCL_SUCCESS;
    if (strlen(text) >= HCCL_COMM_ALGO_MAX_LENGTH) {
        LOG_ERROR(COMM, "%s: %s has %zu characters; it may have %d", report, where, strlen(text),
                  HCCL_COMM_ALGO_MAX_LENGTH - 1);
        return HCCL_E_PARA;
    }
    if (algo_good(text, why))
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: %s: %s", report, where, why);
    return HCCL_E_PARA;
}

static HcclResult
check_values(const HcclCommConfig *full)
{
    if (full->hcclBufferSize == 0)
        return fail_value("hcclBufferSize", 0, "at least 1 (MB)");
    if (full->hcclDeterministic > 2 && full->hcclDeterministic != NOT_SET)
        return fail_value("hcclDeterministic", full->hcclDeterministic, "0, 1 or 2");
    if (full->hcclOpExpansionMode > EXPANSION_MOST)
        return fail_value("hcclOpExpansionMode", full->hcclOpExpansionMode, "0 to 7");
    if (full->hcclRdmaTrafficClass > 255 || full->hcclRdmaTrafficClass % 4 != 0)
        return fail_value("hcclRdmaTrafficClass", full->hcclRdmaTrafficClass,
                          "a multiple of 4 from 0 to 255");
    if (full->hcclRdmaServiceLevel > 7)
        return fail_value("hcclRdmaServiceLevel", full->hcclRdmaServiceLevel, "0 to 7");
    if (full->aclGraphZeroCopyEnable > 1)
        return fail_value("aclGraphZeroCopyEnable", full->aclGraphZeroCopyEnable, "0 or 1");
    if (full->hcclExecTimeOut < 0)
        return fail_value("hcclExecTimeOut", full->hcclExecTimeOut, "0 or more (s)");
    if (full->hcclQos > 7)
        return fail_value("hcclQos", full->hcclQos, "0 to 7");
    if (full->hcclSymWinMaxMemSizePerRank == 0)
        return fail_value("hcclSymWinMaxMemSizePerRank", 0, "at least 1 (GB)");
    return HCCL_SUCCESS;
}

/* Where a field is not set and an environment variable exists for it. */
static HcclResult
take_knob(uint32_t *field, uint32_t unset, enum hc_knob knob)
{
    int64_t value = 0;
    HcclResult rc = hc_knob_int(knob, &value); /* looked at in any case: nonsense is an error */

    if (rc == HCCL_SUCCESS && *field == unset)
        *field = (uint32_t)value;
    return rc;
}

static HcclResult
take_traffic_class(uint32_t *field)
{
    bool given = *field != NOT_SET;
    HcclResult rc = take_knob(field, NOT_SET, KNOB_RDMA_TC);

    if (rc != HCCL_SUCCESS || given || *field % 4 == 0)
        return rc;
    LOG_ERROR(COMM, "EI0001: HCCL_RDMA_TC is %u; set it to a multiple of 4", *field);
    return HCCL_E_PARA;
}

static bool
environment_decides(void)
{
    const char *text = getenv(hc_knob_info(KNOB_DETERMINISTIC)->env);

    return text != NULL && text[0] != '\0';
}

/* Where neither says anything, it stays unset: HcclSetConfig may say it later. */
static HcclResult
take_deterministic(HcclCommConfig *full)
{
    int choice = 0;
    HcclResult rc = hc_knob_enum(KNOB_DETERMINISTIC, &choice);

    if (rc == HCCL_SUCCESS && full->hcclDeterministic == NOT_SET && environment_decides())
        full->hcclDeterministic = (uint32_t)choice;
    return rc;
}

/* The host or AICPU kernels, as the first of these says that says either. */
static HcclResult
take_expansion(HcclCommConfig *full)
{
    static const uint8_t of_engine[] = {0, CONFIG_EXPANSION_AICPU, CONFIG_EXPANSION_HOST};
    static const uint8_t of_mode[] = {2, 2, 2, 3, 5, 6, 1, 1}; /* as of hcclOpExpansionMode */
    int engine = 0, mode = 0;
    HcclResult rc = hc_knob_enum(KNOB_COLL_ENGINE, &engine);

    if (rc == HCCL_SUCCESS)
        rc = hc_knob_enum(KNOB_OP_EXPANSION_MODE, &mode);
    if (rc != HCCL_SUCCESS || full->hcclOpExpansionMode == CONFIG_EXPANSION_HOST ||
        full->hcclOpExpansionMode == CONFIG_EXPANSION_AICPU ||
        full->hcclOpExpansionMode > EXPANSION_MOST) /* which will be refused */
        return rc;
    if (of_engine[engine] != 0)
        full->hcclOpExpansionMode = of_engine[engine];
    else if (full->hcclOpExpansionMode == 0)
        full->hcclOpExpansionMode = of_mode[mode];
    return HCCL_SUCCESS;
}

static HcclResult
take_algo(HcclCommConfig *full)
{
    const char *text = hc_knob_str(KNOB_ALGO);
    HcclResult rc = check_algo(text, false);

    if (rc == HCCL_SUCCESS && full->hcclAlgo[0] != '\0')
        rc = check_algo(full->hcclAlgo, true);
    else if (rc == HCCL_SUCCESS)
        memcpy(full->hcclAlgo, text, strlen(text) + 1);
    return rc;
}

static HcclResult
take_knobs(HcclCommConfig *full)
{
    uint32_t exec_s = (uint32_t)full->hcclExecTimeOut;
    HcclResult rc = take_knob(&full->hcclBufferSize, NOT_SET, KNOB_BUFFSIZE);

    if (rc == HCCL_SUCCESS)
        rc = take_traffic_class(&full->hcclRdmaTrafficClass);
    if (rc == HCCL_SUCCESS)
        rc = take_knob(&full->hcclRdmaServiceLevel, NOT_SET, KNOB_RDMA_SL);
    if (rc == HCCL_SUCCESS)
        rc =
            take_knob(&exec_s, (uint32_t)HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET, KNOB_EXEC_TIMEOUT_S);
    if (rc == HCCL_SUCCESS)
        rc = take_expansion(full);
    if (rc == HCCL_SUCCESS)
        rc = take_deterministic(full);
    if (rc == HCCL_SUCCESS)
        rc = take_algo(full);
    if (rc != HCCL_SUCCESS)
        return rc;
    full->hcclExecTimeOut = (int32_t)exec_s;
    if (full->hcclQos == NOT_SET)
        full->hcclQos = rt_soc() == RT_SOC_950 ? QOS_DEFAULT_950 : QOS_DEFAULT;
    return HCCL_SUCCESS;
}

HcclResult
config_load(HcclCommConfig *full, const HcclCommConfig *user)
{
    HcclResult rc = HCCL_SUCCESS;

    if (user != NULL)
        rc = config_copy(full, user);
    else
        set_unset(full);
    if (rc == HCCL_SUCCESS)
        rc = check_texts(full);
    if (rc == HCCL_SUCCESS)
        rc = take_knobs(full);
    if (rc == HCCL_SUCCESS)
        rc = check_values(full);
    return rc;
}

HcclResult
config_set_deterministic(int32_t value)
{
    if (environment_decides())
        return HCCL_SUCCESS; /* the environment wins, silently: that is the interface */
    if (value < 0 || value > 2)
        return fail_value("HCCL_DETERMINISTIC", value, "0, 1 or 2");
    if (value == 2 && rt_soc() != RT_SOC_A2) {
        LOG_ERROR(COMM, "strict deterministic reductions (2) are for A2 devices only; this is %s",
                  rt_soc_name());
        return HCCL_E_NOT_SUPPORT;
    }
    atomic_store(&deterministic, value);
    return HCCL_SUCCESS;
}

HcclResult
config_get_deterministic(int32_t *value)
{
    int choice = 0;
    HcclResult rc;

    if (!environment_decides()) {
        *value = config_deterministic(NULL);
        return HCCL_SUCCESS;
    }
    rc = hc_knob_enum(KNOB_DETERMINISTIC, &choice);
    if (rc == HCCL_SUCCESS)
        *value = choice;
    return rc;
}

int32_t
config_deterministic(const HcclCommConfig *full)
{
    int32_t set = atomic_load_explicit(&deterministic, memory_order_relaxed); /* says only itself */

    if (full != NULL && rt_soc() == RT_SOC_950)
        return 1;
    if (full != NULL && full->hcclDeterministic != NOT_SET)
        return (int32_t)full->hcclDeterministic;
    return set >= 0 ? set : 0;
}
