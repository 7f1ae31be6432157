/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire: what travels between a root and a rank that joins over TCP. Numbers are little-endian.
 *
 *   root -> rank   greeting   magic[4] version[4] nonce[32]
 *   rank -> root   proof      magic[4] nonce[32] proof[32]
 *   root -> rank   answer     verdict[4] proof[32]
 *   rank -> root   hello      kind[4] len[4] payload[len] mac[32]
 *   root -> rank   receipt    kind[4]
 *   root -> rank   reply      kind[4] len[4] payload[len] mac[32]
 *
 * W1  A proof is BLAKE2b keyed with the root info's secret over the prover's role and both nonces,
 *     so it cannot be replayed or reflected, and tells nothing about the secret.
 * W2  Hello and reply carry a MAC under a key made from the secret and both nonces: each is sent
 *     once for a key, so neither can be changed or replayed.
 *     The receipt has none: who forges it gains only that a rank does not try again.
 * W3  Nothing is allocated for a peer that has not proven that it knows the secret, except the
 *     connection itself.
 */
#ifndef HC_BOOTSTRAP_WIRE_H
#define HC_BOOTSTRAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/version.h"
#include "bootstrap/bootstrap.h"

#define WIRE_MAGIC 0x4D4F4348u /* "HCOM" */
#define WIRE_VERSION 3u
#define LIB_VERSION HC_VERSION /* told in hellos; all ranks must be the same */

#define SECRET_LEN 16u
#define NONCE_LEN 32u
#define PROOF_LEN 32u
#define KEY_LEN 32u
#define MAC_LEN 32u

#define GREETING_LEN (8u + NONCE_LEN)
#define PROOF_MSG_LEN (4u + NONCE_LEN + PROOF_LEN)
#define ANSWER_LEN (4u + PROOF_LEN)
#define HEAD_LEN 8u
#define RECEIPT_LEN 4u
#define HELLO_FIXED_LEN 28u
#define HELLO_MAX_LEN (HELLO_FIXED_LEN + BS_BLOB_MAX)

#define MAX_RANKS 65536u

enum wire_verdict { VERDICT_WELCOME = 1, VERDICT_REFUSED = 2 };
enum wire_kind { WIRE_HELLO = 1, WIRE_TABLE = 2, WIRE_FAILURE = 3, WIRE_RECEIPT = 4 };

enum wire_role { ROLE_ROOT = 'R', ROLE_RANK = 'J' };

/* What a rank says of itself. */
struct wire_hello {
    uint32_t lib_version;
    uint32_t n_ranks;
    uint32_t rank;
    uint32_t pid; /* for messages */
    int64_t timeout_ms;
    const uint8_t *blob; /* [blob_len], the caller's */
    uint32_t blob_len;
};

void wire_put32(uint8_t *at, uint32_t value);
uint32_t wire_get32(const uint8_t *at);
void wire_put64(uint8_t *at, uint64_t value);
uint64_t wire_get64(const uint8_t *at);

void wire_proof(uint8_t proof[PROOF_LEN], const uint8_t secret[SECRET_LEN], enum wire_role role,
                const uint8_t root_nonce[NONCE_LEN], const uint8_t rank_nonce[NONCE_LEN]);
void wire_key(uint8_t key[KEY_LEN], const uint8_t secret[SECRET_LEN],
              const uint8_t root_nonce[NONCE_LEN], const uint8_t rank_nonce[NONCE_LEN]);

/* MAC of a message from its digest, so that one digest serves many receivers. */
void wire_digest(uint8_t digest[MAC_LEN], const uint8_t head[HEAD_LEN], const uint8_t *payload,
                 size_t len);
void wire_mac(uint8_t mac[MAC_LEN], const uint8_t key[KEY_LEN], const uint8_t digest[MAC_LEN]);

/* Compares in constant time. */
bool wire_same(const uint8_t *a, const uint8_t *b, size_t len);

/* `payload` has room for HELLO_MAX_LEN bytes; returns its length. */
uint32_t wire_put_hello(uint8_t *payload, const struct wire_hello *hello);
bool wire_get_hello(struct wire_hello *hello, const uint8_t *payload, uint32_t len);

#endif
