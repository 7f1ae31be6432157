/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: the collectives of an MPI library, whose mpicc builds this. NAME: how the table calls
 * it. */
#include "coll.h"
#include "mpi_lib.h"

#include <stdio.h>
#include <string.h>

#define PATH_MOST 64

static void *
mpi_alloc(size_t len)
{
    void *addr;

    check(MPI_Alloc_mem((MPI_Aint)len, MPI_INFO_NULL, &addr), "MPI_Alloc_mem");
    return addr;
}

static void
mpi_release(void *addr)
{
    check(MPI_Free_mem(addr), "MPI_Free_mem");
}

static void
mpi_all_reduce(const float *src, float *dst, size_t count)
{
    check(MPI_Allreduce(src, dst, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
}

static void
mpi_all_gather(const float *src, float *dst, size_t count)
{
    check(MPI_Allgather(src, (int)count, MPI_FLOAT, dst, (int)count, MPI_FLOAT, MPI_COMM_WORLD),
          "MPI_Allgather");
}

static void
mpi_reduce_scatter(const float *src, float *dst, size_t count)
{
    check(MPI_Reduce_scatter_block(src, dst, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
          "MPI_Reduce_scatter_block");
}

static void
mpi_all_to_all(const float *src, float *dst, size_t count)
{
    check(MPI_Alltoall(src, (int)count, MPI_FLOAT, dst, (int)count, MPI_FLOAT, MPI_COMM_WORLD),
          "MPI_Alltoall");
}

static void
mpi_broadcast(float *buf, size_t count, int root)
{
    check(MPI_Bcast(buf, (int)count, MPI_FLOAT, root, MPI_COMM_WORLD), "MPI_Bcast");
}

static const struct coll_lib mpi_lib = {
    .name = NAME,
    .memory = "library",
    .describe = mpi_describe,
    .progress = mpi_progress,
    .alloc = mpi_alloc,
    .release = mpi_release,
    .all_reduce = mpi_all_reduce,
    .all_gather = mpi_all_gather,
    .reduce_scatter = mpi_reduce_scatter,
    .all_to_all = mpi_all_to_all,
    .broadcast = mpi_broadcast,
};

int
main(int argc, char **argv)
{
    struct coll_options options = {0};
    struct group group = {.lib = &mpi_lib, .options = &options};
    char path[PATH_MOST] = "";

    check(MPI_Init(&argc, &argv), "MPI_Init");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &group.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &options.ranks), "MPI_Comm_size");
    coll_parse(&options, argc, argv);
    group.ranks = options.ranks;
    pin(group.rank);
    if (group.rank == 0)
        group.shared = shared_create(path, sizeof path, sizeof *group.shared);
    check(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    if (group.rank != 0)
        group.shared = shared_open(path, sizeof *group.shared);
    coll_main(&group);
    check(MPI_Finalize(), "MPI_Finalize");
    return 0;
}
