/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs include this name with and without its directory. */
#include "runtime/rt_external.h"
