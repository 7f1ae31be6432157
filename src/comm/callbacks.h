/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callbacks: functions told when a communicator is destroyed, process-wide, by name.
 */
#ifndef HC_COMM_CALLBACKS_H
#define HC_COMM_CALLBACKS_H

#include "hccl/hccl_comm.h"

#define CALLBACK_NAME_MOST 159u

/* Registering a name again replaces what it stood for. HCCL_E_UNAVAIL (logged): too many names. */
HcclResult callbacks_set(const char *name, HcclCommStateCallback callback, void *arg);

#endif
