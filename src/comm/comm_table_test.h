/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of several sizes in files, for tests of communicators from them. */
#ifndef HC_COMM_COMM_TABLE_TEST_H
#define HC_COMM_COMM_TABLE_TEST_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm/comm_test.h"

#define MOST 4

/* `servers` servers of `per` devices each, in the way of version 1.0. */
static inline void
table_text(char *text, size_t room, uint32_t servers, uint32_t per)
{
    size_t used = (size_t)snprintf(text, room,
                                   "{\"version\":\"1.0\",\"status\":\"completed\","
                                   "\"server_count\":\"%u\",\n\"server_list\":[",
                                   servers);

    for (uint32_t i = 0; i < servers * per; i++)
        used += (size_t)snprintf(text + used, room - used,
                                 "%s\n{\"device_id\":\"%u\",\"device_ip\":\"192.0.2.%u\","
                                 "\"rank_id\":\"%u\"}",
                                 i % per != 0 ? ","
                                 : i == 0     ? "{\"server_id\":\"s0\",\"device\":["
                                              : "]},{\"server_id\":\"next\",\"device\":[",
                                 i, i + 1, i);
    snprintf(text + used, room - used, "]}]}\n");
}

static inline const char *
write_file(const char *text)
{
    static char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/table.json", test_tmpdir());
    file = fopen(path, "w");
    EXPECT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static inline const char *
table_file(uint32_t servers, uint32_t per)
{
    char text[4096];

    table_text(text, sizeof text, servers, per);
    return write_file(text);
}

/* Gives the current device back. */
static inline void
end_device(void)
{
    int32_t device = -1;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(device));
}

struct member {
    const char *path;
    uint32_t rank, num;
    HcclComm comm;
    HcclResult rc;
    pthread_t thread;
};

#endif
