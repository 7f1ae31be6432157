/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external: the runtime below acl, as far as programs reach into it. It declares nothing itself.
 */
#ifndef RUNTIME_RT_EXTERNAL_H
#define RUNTIME_RT_EXTERNAL_H

#include "rt_external_base.h"
#include "rt_external_stars.h"
#include "rt_external_device.h"
#include "rt_external_event.h"
#include "rt_external_ffts.h"
#include "rt_external_kernel.h"
#include "rt_external_mem.h"
#include "rt_external_model.h"
#include "rt_external_stream.h"
#include "rt_external_dqs.h"

#endif
