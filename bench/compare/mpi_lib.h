/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: what the drivers of an MPI library share. NAME: how the table calls the library. */
#ifndef COMPARE_MPI_LIB_H
#define COMPARE_MPI_LIB_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "ranks.h"

static void
check(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;

    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &len);
    fail("%s: %s: %s", NAME, what, text);
}

static void
mpi_describe(char *text, size_t len)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int version_len;

    check(MPI_Get_library_version(version, &version_len), "MPI_Get_library_version");
    version[strcspn(version, ",")] = '\0';
    for (char *c = version; *c != '\0'; c++) {
        if (*c == '\t' || *c == '"')
            *c = ' ';
    }
    version[strcspn(version, "\n")] = '\0';
    snprintf(text, len, "%s", version);
}

static void
mpi_progress(void)
{
    int found;

    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE),
          "MPI_Iprobe");
}

#endif
