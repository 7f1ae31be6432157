/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are killed, and peers that send nonsense. */
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "transport/link_private.h"
#include "transport/shm.h"
#include "transport/transport_test.h"

enum { VICTIMS = 50 };

enum { READY, PUBLISHED, KILLED, SURVIVED, CONNECTED }; /* flags of common: the round */

/* ---- killed at any moment ---- */

/* Connects, then writes, reads and records until it is killed. */
static void
victim(int rank, void *shared)
{
    struct common *common = shared;
    struct party me;
    struct end end;
    char key[16];

    (void)rank;
    party_init(&me, &tp_shm_ops, 1, common);
    snprintf(key, sizeof key, "%d", atomic_load(&common->flag[READY]));
    atomic_store(&common->flag[PUBLISHED], atomic_load(&common->flag[READY]));
    for (;;) {
        end_connect(&me, &end, key);
        struct tp_xfer write = {.dst = end_map(&end), .src = me.data, .len = 30000};

        for (int i = 0; i < 300; i++) {
            EXPECT_EQ(HCCL_SUCCESS, me.ops->write(end.conn, &write));
            EXPECT_EQ(HCCL_SUCCESS, me.ops->notify(end.conn, 0));
        }
        me.ops->abort(end.conn, "next");
        end_destroy(&end);
    }
}

/* true: the victim of this round can be dialled. */
static bool
await_victim(struct common *common, int round)
{
    while (atomic_load(&common->flag[PUBLISHED]) != round) {
        if (atomic_load(&common->flag[KILLED]) == round)
            return atomic_load(&common->flag[PUBLISHED]) == round;
        usleep(100);
    }
    return true;
}

/* Uses one connection until it ends; false: the peer is dead. */
static bool
use_until_the_end(struct party *me, struct end *end)
{
    HcclResult rc = end_settle(end);
    void *there;
    char text[256];
    enum tp_end how;

    if (rc == HCCL_SUCCESS)
        rc = me->ops->map(end->conn, &me->common->region[1], &there);
    while (rc == HCCL_SUCCESS) {
        struct tp_xfer write = {.dst = there, .src = me->data, .len = 20000};
        struct tp_xfer read = {.dst = me->data, .src = there, .len = 100};

        rc = me->ops->write(end->conn, &write);
        if (rc == HCCL_SUCCESS)
            rc = me->ops->read(end->conn, &read);
        if (rc == HCCL_SUCCESS)
            rc = me->ops->notify(end->conn, 2);
    }
    if (rc == HCCL_E_TCP_CONNECT)
        return false;
    EXPECT_EQ(HCCL_E_REMOTE, rc);
    how = me->ops->ending(end->conn, text, sizeof text);
    if (how == TP_DIED)
        EXPECT_CONTAINS("process ", text);
    else
        EXPECT_EQ(TP_ABORTED, how);
    return how != TP_DIED;
}

static void
survivor(int rank, void *shared)
{
    struct common *common = shared;
    struct party me;
    int fds = 0;

    (void)rank;
    test_allow_errors(); /* who is dead already does not answer */
    party_init(&me, &tp_shm_ops, 0, common);
    for (int round = 1; round <= VICTIMS; round++) {
        bool alive;
        char key[16];

        snprintf(key, sizeof key, "%d", round);
        if (round == 5)
            fds = test_open_fds();
        atomic_store(&common->flag[READY], round);
        alive = await_victim(common, round);
        while (alive) {
            struct end end;

            end_open(&me, &end, key, "survivor");
            alive = use_until_the_end(&me, &end);
            end_destroy(&end);
        }
        atomic_store(&common->flag[SURVIVED], round);
    }
    EXPECT_TRUE(test_open_fds() <= fds + 2);
}

TEST(whoever_is_killed_is_missed_at_once)
{
    struct procs procs, victims = {0};
    struct common *common = procs_prepare(&procs, sizeof *common);
    unsigned seed = 7;

    test_time_limit(120);
    procs_fork(&procs, 1, survivor);
    victims.shared = common;
    for (int round = 1; round <= VICTIMS; round++) {
        uint64_t deadline;

        procs_await(&common->flag[READY], round);
        procs_fork(&victims, 1, victim);
        usleep((unsigned)rand_r(&seed) % 30000);
        procs_kill(&victims, 0);
        atomic_store(&common->flag[KILLED], round);
        deadline = hc_deadline_ms(10000);
        while (atomic_load(&common->flag[SURVIVED]) != round && hc_now_ns() < deadline)
            usleep(200);
        EXPECT_EQ(round, atomic_load(&common->flag[SURVIVED]));
    }
    procs_expect_success(&procs);
}

/* A process that ends in order without closing, in the middle of a transfer of the other. */
static void
leaves_or_stays(int rank, void *shared)
{
    struct common *common = shared;
    struct party me;
    struct end end;

    party_init(&me, &tp_shm_ops, rank, common);
    in_step(&me);
    end_connect(&me, &end, "k");
    in_step(&me);
    if (rank == 1)
        _exit(0);
    EXPECT_EQ(HCCL_E_REMOTE, end_await_end(&end));
    end_await_change(&end, 1); /* met, ended */
    EXPECT_EQ(HCCL_E_REMOTE, me.ops->notify(end.conn, 0));
    EXPECT_EQ(TP_DIED, me.ops->ending(end.conn, NULL, 0));
    end_destroy(&end);
}

TEST(a_process_that_exits_without_closing_has_died)
{
    struct procs procs;

    procs_start(&procs, 2, leaves_or_stays, sizeof(struct common));
    procs_expect_success(&procs);
}

/* ---- a link that breaks while both processes live ---- */

enum { CLOSING, LEAVING };

/* Rank 1 is in a transfer, stays in it for a while, and its link breaks meanwhile. */
static void
breaks(int rank, void *shared)
{
    struct common *common = shared;
    struct shm_conn *conn;
    struct party me;
    struct end end;

    party_init(&me, &tp_shm_ops, rank, common);
    in_step(&me);
    end_connect(&me, &end, "k");
    in_step(&me);
    conn = (struct shm_conn *)end.conn;
    if (rank == 1) {
        atomic_fetch_add(&conn->own->inside, 1); /* as a transfer does */
        pthread_mutex_lock(&conn->link->lock);
        EXPECT_EQ(0, shutdown(conn->link->watch.fd, SHUT_RDWR));
        pthread_mutex_unlock(&conn->link->lock);
        procs_await(&common->flag[CLOSING], 1);
        usleep(100000);
        atomic_store(&common->flag[LEAVING], 1);
        atomic_fetch_sub(&conn->own->inside, 1);
    }
    EXPECT_EQ(HCCL_E_REMOTE, end_await_end(&end));
    atomic_store(&common->flag[CLOSING], 1);
    end_destroy(&end);
    EXPECT_EQ(1, atomic_load(&common->flag[LEAVING])); /* not before */
    in_step(&me);
}

TEST(a_transfer_under_way_is_awaited_though_the_link_is_broken)
{
    struct procs procs;

    procs_start(&procs, 2, breaks, sizeof(struct common));
    procs_expect_success(&procs);
}

/* ---- nonsense ---- */

static void
send_nonsense(struct shm_link *link, unsigned *seed)
{
    union {
        uint64_t align;
        uint32_t number[LINK_MSG_MOST / 4];
    } body;
    uint32_t len = (uint32_t)rand_r(seed) % (rand_r(seed) % 2 ? 96 : LINK_MSG_MOST);
    int fd = -1;

    for (uint32_t i = 0; i < LINK_MSG_MOST / 4; i++)
        body.number[i] = rand_r(seed) % 4 ? (uint32_t)rand_r(seed) % 3 : (uint32_t)rand_r(seed);
    body.number[0] = (uint32_t)rand_r(seed) % 8; /* one of the kinds, mostly */
    if (rand_r(seed) % 8 == 0)
        fd = memfd_create("nonsense", MFD_CLOEXEC);
    EXPECT_EQ(HCCL_SUCCESS, link_send(link, LINK_MSG_CONN, &body, len, fd));
    if (fd >= 0)
        close(fd);
}

static void
nonsense(int rank, void *shared)
{
    struct common *common = shared;
    unsigned seed = 11;
    struct party me;
    struct end first, end;
    int fds;

    test_allow_errors();
    party_init(&me, &tp_shm_ops, rank, common);
    in_step(&me);
    end_connect(&me, &first, "first");
    fds = test_open_fds();
    in_step(&me);
    if (rank == 1) {
        const struct tp_place none = {.file = 77};
        struct shm_link *link;
        void *addr;

        EXPECT_EQ(HCCL_SUCCESS, link_hold(&common->address[0], &link));
        for (int i = 1; i <= 20000; i++) {
            send_nonsense(link, &seed);
            if (i % 50 == 0) /* the answer says that all has been read */
                EXPECT_EQ(HCCL_E_PARA, link_map(link, &none, 1, &addr));
        }
        link_release(link);
    }
    in_step(&me);
    end_open(&me, &end, "k", "told");
    EXPECT_EQ(HCCL_SUCCESS, end_settle(&end));
    end_expect_hello(&end, "told");
    EXPECT_TRUE(test_open_fds() <= fds + 2);
    in_step(&me);
    end_destroy(&end);
    end_destroy(&first);
    in_step(&me);
    if (rank == 1)
        _exit(0); /* what is kept for it goes with it: the other's allocations are counted */
}

TEST(nonsense_from_a_peer_harms_nobody)
{
    struct procs procs;

    procs_start(&procs, 2, nonsense, sizeof(struct common));
    procs_expect_success(&procs);
}
