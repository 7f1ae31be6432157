/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_ffts: no function of this part of the runtime is used by programs. The file exists
 * because they include it.
 */
#ifndef RUNTIME_RT_EXTERNAL_FFTS_H
#define RUNTIME_RT_EXTERNAL_FFTS_H

#include "rt_external_base.h"

#endif
