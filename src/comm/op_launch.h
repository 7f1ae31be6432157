/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_launch: the AICPU kernel of an operator, ordered in a stream of the program (inside this layer
 * only).
 *
 * A kernel queues tasks on a thread of the device. They must run after what was queued on the
 * program's stream before, and what is queued there later after them; the kernel itself may run at
 * any time. Two gates see to that, each opened by one stream and waited for by one other:
 *
 *     program's stream    open `go` ........................................ wait for `done`
 *     unfold stream       put "wait for `go`" | run the kernel | put "open `done`"
 *     kernel's thread       wait for `go`  <-  the kernel's tasks  ->  open `done`
 *
 * What puts tasks on the kernel's thread stands in the unfold stream before and after the kernel,
 * so launches on one thread keep their order.
 *
 * L1  A gate that nobody will open breaks: its task was dropped, because its stream failed, was
 *     aborted, or is gone. Who waits for it then fails, with the name of the kernel.
 * L2  Each task holds the launch, so that it outlives them all.
 */
#ifndef HC_COMM_OP_LAUNCH_H
#define HC_COMM_OP_LAUNCH_H

#include "comm/comm_object.h"
#include "hccl/hccl_launch.h"

/* Checked, but for the streams; strings and arguments are copied. */
struct op_launch_desc {
    const char *so, *symbol;
    const void *args; /* [args_len] */
    uint32_t args_len;
    ThreadHandle thread; /* the communicator's, of an engine on the device */
    aclrtStream user;
    aclrtStream unfold; /* NULL: the communicator's launch thread */
    uint64_t timeout_s; /* of the kernel: RT_KERNEL_TIMEOUT_DEFAULT, or 0: none */
};

/* Queues it. HCCL_E_RUNTIME (logged): not a live stream; HCCL_E_PARA (logged): a stream of another
 * device; HCCL_E_MEMORY, HCCL_E_UNAVAIL (logged): no room. */
HcclResult op_launch(struct comm *comm, const struct op_launch_desc *desc);

/* Keeps it for the end of this thread's group. The kernel then gets a HcclP2pKernelParam, and all
 * kernels of one communicator a thread each: they do not wait for each other. */
HcclResult op_launch_later(struct comm *comm, const struct op_launch_desc *desc);

#endif
