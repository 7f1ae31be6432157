/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every public function that takes a pointer or a handle, called with what no caller should pass.
 * One row a function, in the .def files of null_arguments/. In a row, H stands for a handle, N for
 * a handle that is a number, P for memory; a row that compares with NULL is about a function that
 * returns memory.
 *
 *   POINTER_ROW         refuses P NULL
 *   HANDLE_ROW          refuses H and N NULL, with P NULL; and garbage, with P NULL and with P good
 *   HANDLE_OR_NULL_ROW  as HANDLE_ROW, but NULL is a handle (the default stream) or "nothing to do"
 *   NULL_ROW            NULL is documented to be fine: it must only not crash
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_api.h"
#include "acl/acl_rt_memory_soma.h"
#include "base/acl_log.h"
#include "base/dlog_pub.h"
#include "base/log.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_inner.h"
#include "hccl/hccl_launch.h"
#include "hccl/hccl_diag.h"
#include "hccl/hccl_one_sided_services.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res_expt.h"
#include "hccl/hccl_sym_win.h"
#include "hccl/hccl_team.h"
#include "hccl/hcom.h"
#include "hccl/hcomm_diag.h"
#include "hcomm/hcomm_exception.h"
#include "hcomm/hcomm_extra.h"
#include "hcomm/hcomm_job.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_primitives_expt.h"
#include "hcomm/hcomm_res.h"
#include "hcomm/hcomm_team_entity_defs.h"
#include "rt_external.h"
#include "tests/support/test.h"

enum phase { ALL_NULL, GARBAGE_HANDLES, GARBAGE_HANDLES_GOOD_MEMORY };

static unsigned char memory[1 << 16];

static void *H, *P;
static uint64_t N;
static enum phase phase;
static const char *volatile row; /* the one that is being called */
static int wrong;

/* Which function crashed is all that matters. */
static void
on_crash(int number)
{
    (void)!write(STDERR_FILENO, "crashed: ", 9);
    (void)!write(STDERR_FILENO, row, strlen(row));
    (void)!write(STDERR_FILENO, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}

static void
expect_refusal(long result)
{
    if (result != 0)
        return;
    fprintf(stderr, "accepted (handle %p, memory %p): %s\n", H, P, row);
    wrong++;
}

#define CALL(call_) (row = #call_, (long)(call_))
#define POINTER_ROW(call_)                                                                         \
    if (phase == ALL_NULL)                                                                         \
        expect_refusal(CALL(call_));
#define HANDLE_ROW(call_) expect_refusal(CALL(call_));
#define HANDLE_OR_NULL_ROW(call_)                                                                  \
    if (phase == ALL_NULL)                                                                         \
        (void)CALL(call_);                                                                         \
    else                                                                                           \
        expect_refusal(CALL(call_));
#define NULL_ROW(call_)                                                                            \
    if (phase == ALL_NULL)                                                                         \
        (void)CALL(call_);

static void
acl_rows(void)
{
#include "tests/null_arguments/acl.def"
}

static void
aclrt_rows(void)
{
#include "tests/null_arguments/aclrt.def"
}

static void
aclmdl_rows(void)
{
#include "tests/null_arguments/aclmdl.def"
}

static void
hcomm_rows(void)
{
#include "tests/null_arguments/hcomm.def"
}

static void
hccl_rows(void)
{
#include "tests/null_arguments/hccl.def"
}

static void
run(void (*rows)(void), enum phase which, void *garbage)
{
    phase = which;
    H = garbage;
    N = (uint64_t)(uintptr_t)garbage;
    P = which == GARBAGE_HANDLES_GOOD_MEMORY ? memory : NULL;
    rows();
}

/* With a current device, so that a missing one is not all that is complained about. */
static void
check(void (*rows)(void))
{
    void *const garbage[] = {(void *)1, memory, (void *)0x5badf00dcafe0000, (void *)UINTPTR_MAX};

    test_allow_errors();
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGABRT, on_crash);
    setenv("HCOMM_LOG_LEVEL", "none", 1);
    EXPECT_EQ(0, aclrtSetDevice(0));
    run(rows, ALL_NULL, NULL);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        run(rows, GARBAGE_HANDLES, garbage[i]);
        run(rows, GARBAGE_HANDLES_GOOD_MEMORY, garbage[i]);
    }
    (void)aclrtResetDevice(0); /* a row may have done it */
    EXPECT_EQ(0, wrong);
}

TEST(acl_functions_refuse_null)
{
    check(acl_rows);
}

TEST(runtime_functions_refuse_null_and_garbage)
{
    check(aclrt_rows);
}

TEST(graph_functions_refuse_null_and_garbage)
{
    check(aclmdl_rows);
}

TEST(resource_and_primitive_functions_refuse_null_and_garbage)
{
    check(hcomm_rows);
}

TEST(communicator_functions_refuse_null_and_garbage)
{
    check(hccl_rows);
}
