/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_kernel: no function of this part of the runtime is used by programs. The file exists
 * because they include it.
 */
#ifndef RUNTIME_RT_EXTERNAL_KERNEL_H
#define RUNTIME_RT_EXTERNAL_KERNEL_H

#include "rt_external_base.h"

#endif
