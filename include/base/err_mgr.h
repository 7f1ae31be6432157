/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err_mgr: types of the store behind err_msg.h. C++ only; for C it is empty.
 *
 * The functions of this header are used by no known program and their parameters are not recorded,
 * so they are not here.
 */
#ifndef BASE_ERR_MGR_H
#define BASE_ERR_MGR_H

#include <stdint.h>

#ifdef __cplusplus

namespace error_message
{

struct ErrorManagerContext {
    uint64_t work_stream_id = 0;
    uint64_t reserved[7] = {0};
};

enum ErrorMessageMode : uint32_t {
    INTERNAL_MODE = 0,
    PROCESS_MODE = 1,
    ERR_MSG_MODE_MAX = 10,
};

} // namespace error_message

#endif

#endif
