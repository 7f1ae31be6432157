/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_ops: the operations. Each row's calls go where `rank->at` says: to a stream, or inline.
 *
 * The custom operator is that of examples/04_custom_ops_p2p: its host part is linked in, its kernel
 * lies in a small installation of its own, share/hcomm/perf beside bin/, which does not verify
 * signatures: nothing but this kernel is in it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/04_custom_ops_p2p/inc/hccl_custom_p2p.h"
#include "tools/perf.h"

#define TAG 7u
#define NOTIFY 5u
#define KERNEL_ROOT "../share/hcomm/perf"
#define KERNEL_DIR "opp/vendors/perf/aicpu/config"

/* ---- the calls ---- */

static HcclResult
no_call(struct perf_rank *rank, const struct perf_test *test)
{
    (void)rank;
    (void)test;
    return HCCL_SUCCESS;
}

static HcclResult
send_act(struct perf_rank *rank, const struct perf_test *test)
{
    return HcommSend(rank->src, test->bytes, HCCL_DATA_TYPE_UINT8, rank->partner, TAG, rank->comm,
                     rank->at);
}

static HcclResult
send_meet(struct perf_rank *rank, const struct perf_test *test)
{
    return HcommRecv(rank->dst, test->bytes, HCCL_DATA_TYPE_UINT8, rank->partner, TAG, NULL,
                     rank->comm, rank->at);
}

static HcclResult
put_act(struct perf_rank *rank, const struct perf_test *test)
{
    return HcommPut(rank->src, test->bytes, HCCL_DATA_TYPE_UINT8, rank->window, rank->partner, 0,
                    rank->at);
}

static HcclResult
flush(struct perf_rank *rank, const struct perf_test *test)
{
    (void)test;
    return HcommWindowFlush(rank->window, rank->partner, rank->at);
}

static HcclResult
get_act(struct perf_rank *rank, const struct perf_test *test)
{
    return HcommGet(rank->dst, test->bytes, HCCL_DATA_TYPE_UINT8, rank->window, rank->partner, 0,
                    rank->at);
}

static HcclResult
accumulate_act(struct perf_rank *rank, const struct perf_test *test)
{
    return HcommAccumulate(rank->src, test->bytes / sizeof(float), HCCL_DATA_TYPE_FP32,
                           HCCL_REDUCE_SUM, rank->window, rank->partner, 0, rank->at);
}

static HcclResult
fetch_act(struct perf_rank *rank, const struct perf_test *test)
{
    (void)test;
    return HcommFetchOp(rank->src, rank->dst, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, rank->window,
                        rank->partner, 0, rank->at);
}

static HcclResult
put_notify_act(struct perf_rank *rank, const struct perf_test *test)
{
    return HcommPutNotify(rank->src, test->bytes, HCCL_DATA_TYPE_UINT8, rank->window, rank->partner,
                          0, NOTIFY, rank->at);
}

static HcclResult
notify_meet(struct perf_rank *rank, const struct perf_test *test)
{
    (void)test;
    return HcommWindowNotifyWait(rank->window, NOTIFY, 1, 0, rank->at);
}

static HcclResult
copy_act(struct perf_rank *rank, const struct perf_test *test)
{
    memcpy(rank->dst, rank->src, test->bytes);
    return HCCL_SUCCESS;
}

static HcclResult
custom_act(struct perf_rank *rank, const struct perf_test *test)
{
    return HcclSendCustom(rank->src, test->bytes, HCCL_DATA_TYPE_UINT8, rank->partner, rank->comm,
                          rank->at);
}

static HcclResult
custom_meet(struct perf_rank *rank, const struct perf_test *test)
{
    return HcclRecvCustom(rank->dst, test->bytes, HCCL_DATA_TYPE_UINT8, rank->partner, rank->comm,
                          rank->at);
}

/* ---- the table ---- */

/* clang-format off */
const struct perf_op perf_ops[] = {
    {.name = "send", .does = "HcommSend and HcommRecv",
     .kind = PERF_PAIR, .bytes = 1, .act = send_act, .meet = send_meet, .flush = no_call},
    {.name = "put", .does = "HcommPut and HcommWindowFlush",
     .kind = PERF_ONE_SIDED, .bytes = 1, .act = put_act, .meet = no_call, .flush = flush},
    {.name = "get", .does = "HcommGet",
     .kind = PERF_ONE_SIDED, .gets = true, .bytes = 1,
     .act = get_act, .meet = no_call, .flush = no_call},
    {.name = "accumulate", .does = "HcommAccumulate, FP32 sum, and HcommWindowFlush",
     .kind = PERF_ONE_SIDED, .content = PERF_FLOATS, .bytes = sizeof(float),
     .act = accumulate_act, .meet = no_call, .flush = flush},
    {.name = "fetch-op", .does = "HcommFetchOp, INT64 sum: always 8 B",
     .kind = PERF_ONE_SIDED, .content = PERF_COUNTER, .one_size = true, .bytes = sizeof(int64_t),
     .act = fetch_act, .meet = no_call, .flush = no_call},
    {.name = "put-notify", .does = "HcommPutNotify and HcommWindowNotifyWait",
     .kind = PERF_PAIR, .bytes = 1, .act = put_notify_act, .meet = notify_meet, .flush = no_call},
    {.name = "notify", .does = "the same with 0 B",
     .kind = PERF_PAIR, .content = PERF_NOTHING, .one_size = true, .bytes = 0,
     .act = put_notify_act, .meet = notify_meet, .flush = no_call},
    {.name = "copy", .does = "memcpy in one process: the limit",
     .kind = PERF_LOCAL, .only_inline = true, .bytes = 1,
     .act = copy_act, .meet = no_call, .flush = no_call},
    {.name = "custom-op", .does = "the operator of examples/04_custom_ops_p2p, queued",
     .kind = PERF_PAIR, .only_queued = true, .bytes = 1,
     .act = custom_act, .meet = custom_meet, .flush = no_call},
};
/* clang-format on */

const uint32_t perf_op_num = sizeof perf_ops / sizeof perf_ops[0];
_Static_assert(sizeof perf_ops / sizeof perf_ops[0] <= PERF_OPS_MOST, "options has room");

const struct perf_op *
perf_op_find(const char *name, size_t len)
{
    for (uint32_t i = 0; i < perf_op_num; i++) {
        if (strlen(perf_ops[i].name) == len && strncmp(perf_ops[i].name, name, len) == 0)
            return &perf_ops[i];
    }
    return NULL;
}

/* ---- the kernel of custom-op ---- */

static bool
is_there(const char *root, const char *file)
{
    char path[PATH_MAX + 128];

    snprintf(path, sizeof path, "%s/" KERNEL_DIR "/%s", root, file);
    return access(path, R_OK) == 0;
}

bool
perf_kernel_use(bool tells)
{
    char path[PATH_MAX + sizeof KERNEL_ROOT] = "", root[PATH_MAX] = "";
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    char *slash;

    path[len > 0 ? len : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash != NULL)
        strcpy(slash + 1, KERNEL_ROOT);
    if (slash == NULL || realpath(path, root) == NULL ||
        !is_there(root, "libp2p_aicpu_kernel.json") || !is_there(root, "libp2p_aicpu_kernel.so")) {
        if (tells)
            fprintf(stderr,
                    "hcomm perf: custom-op is left out: its kernel is not in %s; run the hcomm of "
                    "an installation (`make sdk`, `cmake --install`)\n",
                    slash == NULL ? KERNEL_ROOT : path);
        return false;
    }
    (void)setenv("ASCEND_HOME_PATH", root, 1);
    return true;
}
