/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcom: what is left here of the graph-mode interface.
 *
 * Source: spec, types, sections 1.2 and 5.12.
 */
#ifndef HCOM_H
#define HCOM_H

#ifdef __cplusplus
#include <map>
#include <string>
#include <vector>
#endif

#include "base.h"
#include "hccl_types.h"
#include "hccl_rank_graph.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Find a communicator of this process by its name.
 *
 * @param group       in   name
 * @param commHandle  out  communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: there is none.
 * Threads: safe.
 * Source:  spec, types, section 5.12.
 */
HcclResult HcomGetCommHandleByGroup(const char *group, HcclComm *commHandle);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
