/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire: what travels on a link, one SOCK_SEQPACKET message each, numbers as they are in memory
 * (inside this layer only).
 *
 *   dialler  -> acceptor   hello      who it is, whom it wants, versions, nonce
 *   acceptor -> dialler    challenge  nonce, proof that it knows its own secret
 *   dialler  -> acceptor   proof      proof that it knows the acceptor's secret; its own secret
 *   acceptor -> dialler    verdict    welcome, or not (this also in place of a challenge)
 *   both                   LINK_MSG_FILE ... LINK_MSG_UP, then whatever comes
 *
 * R1  A proof is BLAKE2b keyed with the acceptor's secret over the prover's role, both nonces and
 *     both ids, so it can be neither replayed nor reflected, and tells nothing about the secret.
 * R2  The dialler's secret goes only to somebody who has proven to be the one it dialled.
 * R3  The head of a hello and a verdict never change, so that any two versions can tell each other
 *     which they are.
 */
#ifndef HC_TRANSPORT_WIRE_H
#define HC_TRANSPORT_WIRE_H

#include <stdbool.h>

#include "transport/link.h"

#define WIRE_MAGIC 0x4b4c4348u /* "HCLK" */
#define WIRE_PROTOCOL 1u
#define WIRE_NONCE_LEN 32u
#define WIRE_PROOF_LEN 32u

enum wire_type { WIRE_HELLO = 1, WIRE_CHALLENGE, WIRE_PROOF, WIRE_VERDICT };

enum wire_verdict {
    WIRE_WELCOME = 1,
    WIRE_VERSION, /* other version */
    WIRE_SECRET,  /* wrong secret */
    WIRE_YIELD,   /* L1: the acceptor dials itself, and that one stays */
    WIRE_AGAIN,   /* for the moment */
};

enum wire_role { WIRE_ACCEPTOR = 'A', WIRE_DIALLER = 'D' };

struct wire_head {
    uint32_t magic, type;
    uint32_t protocol, library; /* versions */
};

struct wire_hello {
    struct wire_head head;
    uint64_t from, to; /* process ids */
    uint8_t nonce[WIRE_NONCE_LEN];
};

struct wire_challenge {
    struct wire_head head;
    uint8_t nonce[WIRE_NONCE_LEN];
    uint8_t proof[WIRE_PROOF_LEN];
};

struct wire_proof {
    struct wire_head head;
    uint8_t proof[WIRE_PROOF_LEN];
    uint8_t secret[TP_SECRET_LEN];
};

struct wire_verdict_message {
    struct wire_head head;
    uint32_t verdict, pad;
};

/* Any of them, as received. */
union wire_message {
    struct wire_head head;
    struct wire_hello hello;
    struct wire_challenge challenge;
    struct wire_proof proof;
    struct wire_verdict_message verdict;
    uint8_t bytes[256];
};

struct wire_head wire_head(enum wire_type type);

/* A message of `type` and of this version, whole. */
bool wire_is(const union wire_message *message, size_t len, enum wire_type type);

/* At least a head of that type, of whatever version. */
bool wire_begins(const union wire_message *message, size_t len, enum wire_type type);
bool wire_same_version(const struct wire_head *head);

/* R1. `challenge` for its nonce alone. */
void wire_prove(uint8_t proof[WIRE_PROOF_LEN], const uint8_t secret[TP_SECRET_LEN],
                enum wire_role role, const struct wire_hello *hello,
                const struct wire_challenge *challenge);

/* Compares in constant time. */
bool wire_equal(const void *a, const void *b, size_t len);

/* "9.2.0, protocol 1" */
#define WIRE_VERSION_LEN 48u
const char *wire_version_text(const struct wire_head *head, char text[WIRE_VERSION_LEN]);

/* The name that a process listens at. */
void wire_name(char *name, size_t len, uint64_t process);

/* ---- Once welcome: the types below LINK_MSG_KNOCK ---- */

enum wire_link_type {
    LINK_MSG_FILE = 1,  /* struct wire_file; the descriptor comes with it. 0: the segment */
    LINK_MSG_FILE_WANT, /* struct wire_file: pass it */
    LINK_MSG_FILE_NONE, /* struct wire_file: there is no such file */
    LINK_MSG_UP,        /* struct wire_up: all has been passed */
    LINK_MSG_BYE,       /* the process ends in order */
};

struct wire_file {
    uint64_t number;
};

struct wire_up {
    uint32_t heard; /* where in its segment it counts the knocks of this link; or NUMBERS_NONE */
    uint32_t pad;
};

struct wire_link {
    uint32_t type, len;
    uint8_t body[LINK_MSG_MOST];
};
#define WIRE_LINK_HEAD 8u
_Static_assert(offsetof(struct wire_link, body) == WIRE_LINK_HEAD, "the body is aligned to 8");

#endif
