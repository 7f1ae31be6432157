/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aicpu_api: the words that .asc and .aicpu sources use (C++). The compiler hcomm-asc includes it
 * in each of them, and turns `kernel<<<blocks, nullptr, stream>>>(args, size)` into
 * `HCOMM_EMBEDDED_LAUNCH(kernel, blocks, nullptr, stream)(args, size)`.
 */
#ifndef AICPU_API_H
#define AICPU_API_H

#include <stddef.h>
#include <stdint.h>

#include "../../../include/hcomm/hcomm_embedded.h"

/* A kernel's entry, `uint32_t name(void *args)`. It is an ordinary function of the library. */
#define __global__
#define __aicpu__

namespace hcomm_embedded
{

/* A launch whose arguments are still to come. Errors are left as the thread's last error. */
struct Launch {
    HcommKernel kernel;
    const char *name;
    uint32_t blocks;
    aclrtStream stream;

    void operator()(const void *args, size_t size) const
    {
        (void)HcommLaunchEmbedded(kernel, name, blocks, stream, args, size);
    }
};

} // namespace hcomm_embedded

#define HCOMM_EMBEDDED_LAUNCH(kernel_, blocks_, reserved_, stream_)                                \
    (static_cast<void>(reserved_),                                                                 \
     hcomm_embedded::Launch{kernel_, #kernel_, static_cast<uint32_t>(blocks_), stream_})

#endif
