/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a table that talk, in threads and in processes; one process is one rank. */
#include <stdatomic.h>
#include <unistd.h>

#include "comm/comm_table_test.h"
#include "tests/support/prank.h"
#include "tests/support/procs.h"

/* ---- Ranks that talk ---- */

/* As prank_open, from a table. */
static HcclResult
open_rank(struct prank *prank, const char *path, uint32_t num, uint32_t rank)
{
    uint64_t size = 0;
    HcclResult rc;

    *prank = (struct prank){.rank = rank, .num = num};
    if (aclrtSetDevice((int32_t)rank) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    rc = HcclCommInitClusterInfo(path, rank, &prank->comm);
    if (rc == HCCL_SUCCESS)
        rc = HcclGetHcclBuffer(prank->comm, (void **)&prank->buf, &size);
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadAcquire(prank->comm, COMM_ENGINE_CPU_TS, 1, 2, &prank->thread);
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadResGetInfo(prank->comm, prank->thread, THREAD_RES_TYPE_STREAM,
                                  sizeof prank->stream, (void **)&prank->stream);
    return rc;
}

/* Channels to everybody, then numbers around the ring in both directions. */
static HcclResult
talk(const char *path, uint32_t num, uint32_t rank)
{
    uint32_t next = (rank + 1) % num, last = (rank + num - 1) % num;
    struct prank prank;
    uint64_t got = 0;
    HcclResult rc = open_rank(&prank, path, num, rank);

    if (rc == HCCL_SUCCESS)
        rc = prank_link(&prank, UINT32_MAX);
    for (uint64_t i = 0; i < 20 && rc == HCCL_SUCCESS; i++) {
        rc = prank_pass(&prank, next, last, i * 100 + rank, &got);
        if (rc == HCCL_SUCCESS && got != i * 100 + last)
            rc = HCCL_E_INTERNAL;
    }
    if (prank_close(&prank) != HCCL_SUCCESS || aclrtResetDeviceForce((int32_t)rank) != ACL_SUCCESS)
        return HCCL_E_INTERNAL;
    return rc;
}

static void *
talk_main(void *arg)
{
    struct member *member = arg;

    member->rc = talk(member->path, member->num, member->rank);
    return NULL;
}

static void
talk_in_threads(const char *path, uint32_t num)
{
    struct member members[MOST];

    for (uint32_t i = 0; i < num; i++) {
        members[i] = (struct member){.path = path, .rank = i, .num = num, .rc = HCCL_E_INTERNAL};
        EXPECT_EQ(0, pthread_create(&members[i].thread, NULL, talk_main, &members[i]));
    }
    for (uint32_t i = 0; i < num; i++) {
        EXPECT_EQ(0, pthread_join(members[i].thread, NULL));
        EXPECT_EQ(HCCL_SUCCESS, members[i].rc);
    }
}

TEST(two_ranks_of_one_process_talk)
{
    talk_in_threads(table_file(1, 2), 2);
}

TEST(four_ranks_of_one_process_talk_whatever_servers_the_table_puts_them_on)
{
    talk_in_threads(table_file(2, 2), 4);
}

struct shared {
    char path[256];
    atomic_int there, done;
    atomic_int pid;
};

static void
child_talks(int rank, void *arg)
{
    struct shared *shared = arg;

    EXPECT_EQ(HCCL_SUCCESS, talk(shared->path, 4, (uint32_t)rank));
}

TEST(four_processes_talk)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    snprintf(shared->path, sizeof shared->path, "%s", table_file(2, 2));
    procs_fork(&procs, 4, child_talks);
    procs_expect_success(&procs);
}

/* Version 2.0, and the ranks of one process and of another in one communicator. */
static void
child_talks_in_threads(int number, void *arg)
{
    struct shared *shared = arg;
    struct member members[2];

    for (uint32_t i = 0; i < 2; i++) {
        members[i] = (struct member){
            .path = shared->path, .rank = (uint32_t)number * 2 + i, .num = 4, .rc = HCCL_E_PARA};
        EXPECT_EQ(0, pthread_create(&members[i].thread, NULL, talk_main, &members[i]));
    }
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_EQ(0, pthread_join(members[i].thread, NULL));
        EXPECT_EQ(HCCL_SUCCESS, members[i].rc);
    }
}

TEST(two_processes_with_two_ranks_each_talk)
{
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{\"version\":\"2.0\",\"rank_count\":4,\"rank_list\":[");
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    for (int i = 0; i < 4; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "%s{\"rank_id\":%d,\"local_id\":%d,\"device_id\":%d,\"level_list\":[{\"net_layer\":0,"
            "\"net_instance_id\":\"a\",\"net_type\":\"TOPO_FILE_DESC\",\"rank_addr_list\":[]}]}",
            i == 0 ? "" : ",", i, i, i);
    snprintf(text + used, sizeof text - used, "]}");
    snprintf(shared->path, sizeof shared->path, "%s", write_file(text));
    procs_fork(&procs, 2, child_talks_in_threads);
    procs_expect_success(&procs);
}

/* ---- One process, one rank ---- */

static void
child_is_rank_0(int number, void *arg)
{
    struct shared *shared = arg;
    HcclComm comm = NULL;
    char text[64];
    char own[64];

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    if (number == 0) {
        atomic_store(&shared->pid, getpid());
        EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(shared->path, 0, &comm));
        atomic_store(&shared->there, 1);
        procs_await(&shared->there, 2);
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
        atomic_store(&shared->there, 3);
        end_device();
        return;
    }
    procs_await(&shared->there, 1);
    test_expect_error("table.json already: give each process its own rank");
    EXPECT_EQ(HCCL_E_PARA, HcclCommInitClusterInfo(shared->path, 0, &comm));
    snprintf(text, sizeof text, "process %d is rank 0 of ", atomic_load(&shared->pid));
    EXPECT_EQ(1, test_logged(text));
    snprintf(own, sizeof own, "%s", getenv("HCOMM_JOB_ID"));
    setenv("HCOMM_JOB_ID", "another", 1); /* of another job it may be */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(shared->path, 0, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    setenv("HCOMM_JOB_ID", own, 1);
    atomic_store(&shared->there, 2);
    procs_await(&shared->there, 3);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(shared->path, 0, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

TEST(a_second_process_with_the_same_rank_is_told_who_has_it)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    snprintf(shared->path, sizeof shared->path, "%s", table_file(1, 2));
    procs_fork(&procs, 2, child_is_rank_0);
    procs_expect_success(&procs);
}

static void
child_is_killed(int number, void *arg)
{
    struct shared *shared = arg;
    HcclComm comm = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    if (number == 1)
        procs_await(&shared->done, 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitClusterInfo(shared->path, 0, &comm));
    atomic_fetch_add(&shared->there, 1);
    if (number == 0)
        procs_await(&shared->there, 9); /* it is killed here */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    end_device();
}

TEST(the_rank_of_a_process_that_was_killed_is_free_at_once)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    snprintf(shared->path, sizeof shared->path, "%s", table_file(1, 2));
    procs_fork(&procs, 2, child_is_killed);
    procs_await(&shared->there, 1);
    procs_kill(&procs, 0);
    atomic_store(&shared->done, 1);
    procs_expect_success(&procs);
}
