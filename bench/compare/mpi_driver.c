/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: an MPI library, whose mpicc builds this. NAME: how the table calls it. */
#include "loops.h"
#include "mpi_lib.h"

#include <stdio.h>
#include <string.h>

#define PATH_MOST 64

static int peer;
static MPI_Win window;

static void *
mpi_alloc(enum memory memory, size_t len)
{
    void *addr;

    (void)memory;
    check(MPI_Alloc_mem((MPI_Aint)len, MPI_INFO_NULL, &addr), "MPI_Alloc_mem");
    return addr;
}

static void
mpi_release(enum memory memory, void *addr)
{
    (void)memory;
    check(MPI_Free_mem(addr), "MPI_Free_mem");
}

static void
mpi_send(const void *buf, size_t len)
{
    check(MPI_Send(buf, (int)len, MPI_BYTE, peer, 0, MPI_COMM_WORLD), "MPI_Send");
}

static void
mpi_recv(void *buf, size_t len)
{
    check(MPI_Recv(buf, (int)len, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Recv");
}

static void *
mpi_window_open(size_t len)
{
    void *addr;

    check(MPI_Win_allocate((MPI_Aint)len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &addr, &window),
          "MPI_Win_allocate");
    check(MPI_Win_lock_all(0, window), "MPI_Win_lock_all");
    return addr;
}

static void
mpi_window_close(void)
{
    check(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
    check(MPI_Win_free(&window), "MPI_Win_free");
}

static void
mpi_put(const void *src, size_t len)
{
    check(MPI_Put(src, (int)len, MPI_BYTE, peer, 0, (int)len, MPI_BYTE, window), "MPI_Put");
}

static void
mpi_get(void *dst, size_t len)
{
    check(MPI_Get(dst, (int)len, MPI_BYTE, peer, 0, (int)len, MPI_BYTE, window), "MPI_Get");
    check(MPI_Win_flush(peer, window), "MPI_Win_flush");
}

static void
mpi_accumulate(const float *src, size_t count)
{
    check(
        MPI_Accumulate(src, (int)count, MPI_FLOAT, peer, 0, (int)count, MPI_FLOAT, MPI_SUM, window),
        "MPI_Accumulate");
}

static void
mpi_flush(void)
{
    check(MPI_Win_flush(peer, window), "MPI_Win_flush");
}

/* Reading what the other put needs a call of its own. */
static void
mpi_flush_and_see(void)
{
    mpi_flush();
    if (peer == 0)
        check(MPI_Win_sync(window), "MPI_Win_sync");
}

static const enum memory memories[] = {MEMORY_LIBRARY, MEMORY_MALLOC, MEMORY_KINDS};

static const struct lib mpi_lib = {
    .name = NAME,
    .memories = memories,
    .describe = mpi_describe,
    .progress = mpi_progress,
    .alloc = mpi_alloc,
    .release = mpi_release,
    .send = mpi_send,
    .recv = mpi_recv,
    .window_open = mpi_window_open,
    .window_close = mpi_window_close,
    .put = mpi_put,
    .get = mpi_get,
    .accumulate = mpi_accumulate,
    .flush = mpi_flush_and_see,
};

int
main(int argc, char **argv)
{
    struct pair pair = {.lib = &mpi_lib};
    char path[PATH_MOST] = "";
    int size;

    check(MPI_Init(&argc, &argv), "MPI_Init");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    if (size != 2)
        fail("%s: needs 2 processes, not %d", NAME, size);
    peer = 1 - pair.rank;
    pin(pair.rank);
    if (pair.rank == 0)
        pair.shared = shared_create(path, sizeof path, sizeof *pair.shared);
    check(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    if (pair.rank == 1)
        pair.shared = shared_open(path, sizeof *pair.shared);
    loops_main(&pair, argc, argv);
    check(MPI_Finalize(), "MPI_Finalize");
    return 0;
}
