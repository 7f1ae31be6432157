/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the lobby share. */
#ifndef HC_TRANSPORT_LOBBY_TEST_H
#define HC_TRANSPORT_LOBBY_TEST_H

#include "transport/link_test.h"

#define MEMBERS_MOST 12

struct shared {
    struct tp_address address[MEMBERS_MOST];
    uint64_t met[MEMBERS_MOST]; /* whom rank i met */
    atomic_int turn, ready;
    char key[64];
};

static atomic_int changes;

static inline void
on_change(void *arg)
{
    (void)arg;
    atomic_fetch_add(&changes, 1);
}

static inline struct tp_lobby *
open_end(const char *key, int side)
{
    struct tp_lobby *lobby = NULL;

    EXPECT_EQ(HCCL_SUCCESS, tp_lobby_open(key, side, on_change, NULL, &lobby));
    return lobby;
}

static inline struct tp_address
await_peer(struct tp_lobby *lobby)
{
    struct tp_address peer = {0};
    HcclResult rc = HCCL_E_AGAIN;

    for (int i = 0; i < WAIT_MS && rc == HCCL_E_AGAIN; i++) {
        rc = tp_lobby_poll(lobby, &peer);
        if (rc == HCCL_E_AGAIN)
            usleep(1000);
    }
    EXPECT_EQ(HCCL_SUCCESS, rc);
    return peer;
}

/* Other runs of this test use other keys. */
static inline void
prepare(struct procs *procs)
{
    struct shared *shared = procs_prepare(procs, sizeof *shared);

    snprintf(shared->key, sizeof shared->key, "lobby test %d %llu", (int)getpid(),
             (unsigned long long)hc_now_ns());
}

static inline void
run(int num, void (*child)(int rank, void *shared))
{
    struct procs procs;

    prepare(&procs);
    procs_fork(&procs, num, child);
    procs_expect_success(&procs);
}

#endif
