/* SPDX-License-Identifier: BSD-3-Clause */
#include "bootstrap/wire.h"

#include <sodium.h>
#include <string.h>

void
wire_put32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

uint32_t
wire_get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void
wire_put64(uint8_t *at, uint64_t value)
{
    wire_put32(at, (uint32_t)value);
    wire_put32(at + 4, (uint32_t)(value >> 32));
}

uint64_t
wire_get64(const uint8_t *at)
{
    return (uint64_t)wire_get32(at) | (uint64_t)wire_get32(at + 4) << 32;
}

static void
keyed_hash(uint8_t out[32], uint8_t label, const uint8_t *secret, const uint8_t *root_nonce,
           const uint8_t *rank_nonce)
{
    uint8_t text[1 + 2 * NONCE_LEN];

    text[0] = label;
    memcpy(text + 1, root_nonce, NONCE_LEN);
    memcpy(text + 1 + NONCE_LEN, rank_nonce, NONCE_LEN);
    (void)crypto_generichash(out, 32, text, sizeof text, secret, SECRET_LEN);
}

void
wire_proof(uint8_t proof[PROOF_LEN], const uint8_t secret[SECRET_LEN], enum wire_role role,
           const uint8_t root_nonce[NONCE_LEN], const uint8_t rank_nonce[NONCE_LEN])
{
    keyed_hash(proof, (uint8_t)role, secret, root_nonce, rank_nonce);
}

void
wire_key(uint8_t key[KEY_LEN], const uint8_t secret[SECRET_LEN],
         const uint8_t root_nonce[NONCE_LEN], const uint8_t rank_nonce[NONCE_LEN])
{
    keyed_hash(key, 'K', secret, root_nonce, rank_nonce);
}

void
wire_digest(uint8_t digest[MAC_LEN], const uint8_t head[HEAD_LEN], const uint8_t *payload,
            size_t len)
{
    crypto_generichash_state state;

    (void)crypto_generichash_init(&state, NULL, 0, MAC_LEN);
    (void)crypto_generichash_update(&state, head, HEAD_LEN);
    (void)crypto_generichash_update(&state, payload, len);
    (void)crypto_generichash_final(&state, digest, MAC_LEN);
}

void
wire_mac(uint8_t mac[MAC_LEN], const uint8_t key[KEY_LEN], const uint8_t digest[MAC_LEN])
{
    (void)crypto_generichash(mac, MAC_LEN, digest, MAC_LEN, key, KEY_LEN);
}

bool
wire_same(const uint8_t *a, const uint8_t *b, size_t len)
{
    return sodium_memcmp(a, b, len) == 0;
}

uint32_t
wire_put_hello(uint8_t *payload, const struct wire_hello *hello)
{
    wire_put32(payload, hello->lib_version);
    wire_put32(payload + 4, hello->n_ranks);
    wire_put32(payload + 8, hello->rank);
    wire_put32(payload + 12, hello->blob_len);
    wire_put64(payload + 16, (uint64_t)hello->timeout_ms);
    wire_put32(payload + 24, hello->pid);
    if (hello->blob_len > 0)
        memcpy(payload + HELLO_FIXED_LEN, hello->blob, hello->blob_len);
    return HELLO_FIXED_LEN + hello->blob_len;
}

bool
wire_get_hello(struct wire_hello *hello, const uint8_t *payload, uint32_t len)
{
    if (len < HELLO_FIXED_LEN || len > HELLO_MAX_LEN)
        return false;
    hello->lib_version = wire_get32(payload);
    hello->n_ranks = wire_get32(payload + 4);
    hello->rank = wire_get32(payload + 8);
    hello->blob_len = wire_get32(payload + 12);
    hello->timeout_ms = (int64_t)wire_get64(payload + 16);
    hello->pid = wire_get32(payload + 24);
    hello->blob = payload + HELLO_FIXED_LEN;
    return hello->blob_len == len - HELLO_FIXED_LEN;
}
