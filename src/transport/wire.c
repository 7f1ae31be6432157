/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/wire.h"

#include <sodium.h>
#include <stdio.h>

#include "base/version.h"

static const size_t lengths[] = {
    [WIRE_HELLO] = sizeof(struct wire_hello),
    [WIRE_CHALLENGE] = sizeof(struct wire_challenge),
    [WIRE_PROOF] = sizeof(struct wire_proof),
    [WIRE_VERDICT] = sizeof(struct wire_verdict_message),
};

struct wire_head
wire_head(enum wire_type type)
{
    return (struct wire_head){
        .magic = WIRE_MAGIC, .type = type, .protocol = WIRE_PROTOCOL, .library = HC_VERSION};
}

bool
wire_same_version(const struct wire_head *head)
{
    return head->protocol == WIRE_PROTOCOL && head->library == HC_VERSION;
}

bool
wire_begins(const union wire_message *message, size_t len, enum wire_type type)
{
    return len >= sizeof message->head && message->head.magic == WIRE_MAGIC &&
           message->head.type == (uint32_t)type;
}

bool
wire_is(const union wire_message *message, size_t len, enum wire_type type)
{
    return wire_begins(message, len, type) && wire_same_version(&message->head) &&
           len == lengths[type];
}

void
wire_prove(uint8_t proof[WIRE_PROOF_LEN], const uint8_t secret[TP_SECRET_LEN], enum wire_role role,
           const struct wire_hello *hello, const struct wire_challenge *challenge)
{
    uint8_t who = (uint8_t)role;
    crypto_generichash_state state;

    crypto_generichash_init(&state, secret, TP_SECRET_LEN, WIRE_PROOF_LEN);
    crypto_generichash_update(&state, &who, 1);
    crypto_generichash_update(&state, (const uint8_t *)&hello->from, sizeof hello->from);
    crypto_generichash_update(&state, (const uint8_t *)&hello->to, sizeof hello->to);
    crypto_generichash_update(&state, hello->nonce, WIRE_NONCE_LEN);
    crypto_generichash_update(&state, challenge->nonce, WIRE_NONCE_LEN);
    crypto_generichash_final(&state, proof, WIRE_PROOF_LEN);
    sodium_memzero(&state, sizeof state);
}

bool
wire_equal(const void *a, const void *b, size_t len)
{
    return sodium_memcmp(a, b, len) == 0;
}

const char *
wire_version_text(const struct wire_head *head, char text[WIRE_VERSION_LEN])
{
    snprintf(text, WIRE_VERSION_LEN, "%u.%u.%u, protocol %u", head->library / 10000,
             head->library / 100 % 100, head->library % 100, head->protocol);
    return text;
}

void
wire_name(char *name, size_t len, uint64_t process)
{
    snprintf(name, len, "hcomm-%016llx", (unsigned long long)process);
}
