/* SPDX-License-Identifier: BSD-3-Clause */
/* Where programs look for the older headers. */
#include "../../hccl/hcom.h"
