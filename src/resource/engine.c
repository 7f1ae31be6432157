/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines: names, and which of them a soft NPU has. */
#include "base/log.h"
#include "resource/resource.h"

const char *
res_engine_name(CommEngine engine)
{
    switch (engine) {
    case COMM_ENGINE_CPU:
        return "CPU";
    case COMM_ENGINE_CPU_TS:
        return "CPU_TS";
    case COMM_ENGINE_AICPU:
        return "AICPU";
    case COMM_ENGINE_AICPU_TS:
        return "AICPU_TS";
    case COMM_ENGINE_AIV:
        return "AIV";
    case COMM_ENGINE_CCU:
        return "CCU";
    default:
        return "no engine";
    }
}

bool
res_engine_on_device(CommEngine engine)
{
    return engine == COMM_ENGINE_AICPU || engine == COMM_ENGINE_AICPU_TS;
}

HcclResult
res_engine_check(CommEngine engine, const char *function)
{
    switch (engine) {
    case COMM_ENGINE_CPU:
    case COMM_ENGINE_CPU_TS:
    case COMM_ENGINE_AICPU:
    case COMM_ENGINE_AICPU_TS:
        return HCCL_SUCCESS;
    case COMM_ENGINE_AIV:
    case COMM_ENGINE_CCU:
        LOG_ERROR(RES, "%s: engine %s is not supported by a soft NPU: use CPU_TS or AICPU_TS",
                  function, res_engine_name(engine));
        return HCCL_E_NOT_SUPPORT;
    default:
        LOG_ERROR(RES, "%s: %d is no engine (COMM_ENGINE_CPU is 0, COMM_ENGINE_AICPU_TS is 3)",
                  function, (int)engine);
        return HCCL_E_PARA;
    }
}
