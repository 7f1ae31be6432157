/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs include this name with and without its directory. */
#include "base/err_msg.h"
