/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "hcomm/hcomm_primitives.h"
#include "primitive/queue.h"

int32_t
HcommBatchModeStart(const char *batchTag)
{
    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (rt_batch_begin())
        return HCCL_SUCCESS;
    LOG_ERROR(PRIM,
              "HcommBatchModeStart(\"%.64s\"): this OS thread is inside a batch already; call "
              "HcommBatchModeEnd first",
              batchTag == NULL ? "" : batchTag);
    return HCCL_E_PARA;
}

int32_t
HcommBatchModeEnd(const char *batchTag)
{
    (void)batchTag; /* a label */
    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    return rt_result(rt_batch_end()); /* without a start there is nothing to launch: fine */
}
