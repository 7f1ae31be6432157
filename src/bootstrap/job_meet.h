/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_meet: where the processes of a job meet, and what they say there (inside this layer).
 *
 * The place is an abstract unix socket whose name is a hash of the user and the job's id. Each
 * question and each answer is one packet. Both ends are on one host, so numbers are as they are.
 */
#ifndef HC_BOOTSTRAP_JOB_MEET_H
#define HC_BOOTSTRAP_JOB_MEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "bootstrap/job.h"

#define MEET_MAGIC 0x424F4A48u /* "HJOB" */
#define MEET_VERSION 1u

enum meet_verdict {
    MEET_INFO = 1, /* here it is */
    MEET_NOT_YET,  /* ask again */
    MEET_OVER,     /* it was offered, and is no longer */
    MEET_COUNT,    /* `value`: how many processes there are, by process 0 */
    MEET_TWICE,    /* `value`: pid of another process of the same number */
};

struct meet_question {
    uint32_t magic, version;
    uint32_t call; /* which root info, from 0 */
    uint32_t process, processes;
};

struct meet_answer {
    uint32_t magic, version;
    uint32_t verdict, value;
    HcclRootInfo info;
};

/* The name of the place; returns its length for bind and connect. */
socklen_t meet_address(struct sockaddr_un *addr, const struct job *job);

/* A socket for it, non-blocking; -1: none (logged). */
int meet_socket(void);

/* Who is at the other end, or listens there; false: nobody. */
bool meet_peer(int fd, struct ucred *peer);

/* ---- job_serve.c: process 0 ---- */

struct offer;

/* Opens the place for root info number `call`, before that is made: an offer that can no longer
 * fail, to be ended with serve_offer or serve_none. HCCL_E_TCP_CONNECT (logged): somebody else has
 * the place; HCCL_E_SYSCALL (logged), HCCL_E_MEMORY. */
HcclResult serve_begin(const struct job *job, uint32_t call, struct offer **offer);

/* Offers it until all processes have it, at most for `timeout_ms`. Takes over `offer`. */
void serve_offer(struct offer *offer, const HcclRootInfo *info, int64_t timeout_ms);

/* There is nothing to offer after all. Takes over `offer`. */
void serve_none(struct offer *offer);

#endif
