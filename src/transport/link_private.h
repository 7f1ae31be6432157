/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_private: what the files link*.c and listen.c share.
 *
 * P1  `step` and the descriptor change on the service thread alone; the descriptor of a link that
 *     is up also only under `lock`, so that nobody sends to another one's.
 * P2  The service thread has one hold of every link that is not GONE. The link goes with its last
 *     hold, and with it all that was mapped.
 * P3  `state` is stored (release) after everything that it tells of; `news` moves on after that.
 * P4  What belongs to a link that is not GONE is for the life of the process (hc_keep), so it is no
 *     leak; from then on it must be freed.
 * P5  A knock is on its way as long as `knocks` differs from what the peer counts in its segment.
 *     Who rings does so before it reads that; the peer counts before it drains the bell (seq_cst).
 *     So a ringer that sends nothing is heard with the knock that is on its way.
 * P6  A message is sent, or waits in the queue, or the link ends (link_lost): the peer may rely on
 *     each, and a knock that is lost would silence all later ones.
 */
#ifndef HC_TRANSPORT_LINK_PRIVATE_H
#define HC_TRANSPORT_LINK_PRIVATE_H

#include <pthread.h>

#include "base/list.h"
#include "transport/service.h"
#include "transport/wire.h"

#define LINK_HANDSHAKE_MS 5000 /* a stranger has no longer to prove itself; a peer gets a line */
#define LINK_QUEUE_MOST 65536u /* messages that the peer's process does not take */
#define LINK_QUEUE_FDS 256u    /* of these with a descriptor: each costs one here */

enum link_step {
    STEP_DIAL,      /* connects, as soon as the queue there has room */
    STEP_CHALLENGE, /* said hello */
    STEP_VERDICT,   /* sent the proof */
    STEP_YIELDED,   /* the peer dials; the own socket stays to see it die (L1) */
    STEP_FILES,     /* proven both ways: waits for the peer's segment, files and UP */
    STEP_OPEN,
};

struct link_out { /* a message that the socket did not take */
    struct hc_list in_queue;
    int fd; /* own copy, or -1 */
    uint32_t len;
    uint8_t bytes[]; /* [len] head and body */
};

enum file_state { FILE_WANTED, FILE_HERE, FILE_NONE };

struct link_file {
    struct hc_list in_files;
    uint64_t number;
    enum file_state state;
    uint32_t waiters; /* in link_map */
    int fd;           /* HERE: the descriptor, or -1 once the whole file is mapped */
};

struct link_window {
    struct hc_list in_windows;
    uint64_t file, offset, len;
    uint8_t *addr;
    uint64_t uses; /* link_map's that have not been undone */
};

struct shm_link {
    struct service_watch watch;
    struct hc_list in_all; /* under the lock of all links */
    uint64_t process;      /* constant, as is: */
    uint8_t secret[TP_SECRET_LEN];
    _Atomic uint32_t refs;
    _Atomic uint32_t state; /* enum link_state */
    _Atomic uint32_t news;  /* futex: state, a file or room in the queue has come */
    _Atomic int32_t pid;    /* 0: not known */
    atomic_bool lost;       /* P6: a message is; the link will end */
    enum link_end end;      /* before GONE */

    /* the service thread's own */
    enum link_step step;
    bool left;            /* it said BYE */
    int64_t patience_ms;  /* for being up: as long as ranks wait for each other */
    uint64_t deadline_ns; /* the end of it */
    uint64_t slow_ns;     /* when to say that it is waited for; HC_FOREVER: has been said */
    uint64_t retry_ns;    /* of the dial, or of sending; HC_FOREVER: none (link_retry_at) */
    uint32_t retry_ms;
    struct wire_hello hello; /* of the own dial */
    uint32_t heard;          /* own segment's number for it, or NUMBERS_NONE */

    /* constant once UP */
    struct shm_segment *segment;
    uint32_t peer_heard; /* number of this link in the peer's segment, or NUMBERS_NONE */

    _Atomic uint32_t knocks; /* sent so far */
    pthread_mutex_t lock;    /* protects what follows; leaf but for allocation */
    struct hc_list queue;    /* of struct link_out */
    uint32_t queue_num, queue_fds;
    struct hc_list files;
    struct hc_list windows; /* oldest first */
};

/* ---- link.c ---- */

/* Stores it after all that it tells of (P3). */
void link_set_state(struct shm_link *link, enum link_state state);

/* One that the table does not know, state CONNECTING, one hold; NULL: no memory (logged). */
struct shm_link *link_create(uint64_t process, const uint8_t secret[TP_SECRET_LEN]);

/* How long links made from now on wait for the peer. On a thread of the program, before the first
 * link_create(): the service thread must not look at the environment, which the program may be
 * changing. */
void link_read_patience(void);

void link_news(struct shm_link *link);
const char *link_text(const struct shm_link *link, char *text, size_t len);
#define LINK_TEXT_LEN 40u

/* ---- link_table.c ---- */

/* GONE, and all that follows from it. The caller has a hold, or is in a round of the service. */
void link_end(struct shm_link *link, enum link_end end);

/* The other end of the socket has closed: ends the link as that process' fate calls for. */
void link_end_seen(struct shm_link *link);

/* As link_end, after an ERROR that says why. */
void link_fail(struct shm_link *link, enum link_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A process that has proven itself: takes watch->fd if the verdict is WELCOME, which it has sent
 * then. */
enum wire_verdict link_accept(const struct wire_hello *hello, const uint8_t secret[TP_SECRET_LEN],
                              struct service_watch *watch);

/* STEP_FILES: proven both ways, passes what this process has to pass. */
void link_introduce(struct shm_link *link);

/* All has come: UP. */
void link_up(struct shm_link *link);

/* Sets retry_ns, when dial_try or link_flush is called. */
void link_retry_at(struct shm_link *link, uint64_t at_ns);

/* P6: the link ends soon. Any thread, any lock. */
void link_lost(struct shm_link *link);

/* ---- link_dial.c: the dialler's side of the handshake; service thread ---- */

/* The socket for it; made early, so that the caller of link_hold learns what fails. */
HcclResult dial_socket(struct shm_link *link);
void dial_try(struct shm_link *link); /* retry_ns has come */
void dial_message(struct shm_link *link, const union wire_message *message, size_t len);

/* The other end is gone before it was proven: dials again. */
void dial_lost(struct shm_link *link);

/* ---- link_io.c ---- */

void link_event(struct service_watch *watch);

/* As link_send, in any state with a socket, and any type. */
HcclResult link_put(struct shm_link *link, uint32_t type, const void *body, uint32_t len, int fd);

/* Sends what waits. Service thread. */
void link_flush(struct shm_link *link);

/* One message of a peer that has proven itself, whatever it is. `fd` goes. Service thread. */
void link_take(struct shm_link *link, const struct wire_link *message, size_t len, int fd);

void link_say_bye(struct shm_link *link);

/* ---- link_files.c; service thread ---- */

void files_pass(struct shm_link *link);
void files_take(struct shm_link *link, uint64_t number, int fd); /* `fd` goes; -1: none came */
void files_none(struct shm_link *link, uint64_t number);
void files_wanted(struct shm_link *link, uint64_t number);
void files_close(struct shm_link *link); /* the descriptors; under link->lock */
void files_fini(struct shm_link *link);  /* the mappings, with the link */

#endif
