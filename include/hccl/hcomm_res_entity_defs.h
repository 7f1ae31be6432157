/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs include this header by either directory. */
#include "../hcomm/hcomm_res_entity_defs.h"
