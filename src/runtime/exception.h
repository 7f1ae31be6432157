/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exception: who wants to be told when a task fails (inside this layer only).
 */
#ifndef HC_RUNTIME_EXCEPTION_H
#define HC_RUNTIME_EXCEPTION_H

#include "runtime/rt_external.h"
#include "runtime/runtime.h"

/* Tells every registered callback, on the calling thread, with no lock held. */
void rt_exception_report(uint32_t device, uint32_t stream, uint32_t task, aclError code);

/* A second add of the same pointer changes nothing. ACL_ERROR_RT_RESOURCE_ALLOC_FAIL (logged): too
 * many; ACL_ERROR_RT_PARAM_INVALID (logged): remove of one that was not added. */
aclError rt_exception_add(aclrtExceptionInfoCallback callback);
aclError rt_exception_remove(aclrtExceptionInfoCallback callback);

/* The one slot of the old interface; NULL empties it. */
void rt_exception_set(aclrtExceptionInfoCallback callback);

/* One callback for each module name; NULL removes it. ACL_ERROR_RT_RESOURCE_ALLOC_FAIL and
 * ACL_ERROR_RT_PARAM_INVALID (logged): too many, or too long a name. */
aclError rt_exception_set_module(const char *module, rtTaskFailCallback callback);

#endif
