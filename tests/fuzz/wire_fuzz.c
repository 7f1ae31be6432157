/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank tells the root (first byte even) and the root a rank (odd). */
#include "bootstrap/wire.h"

#include <string.h>

#include "base/alloc.h"
#include "bootstrap/session.h"
#include "tests/fuzz/fuzz.h"

static size_t
seed_hello(uint8_t *into)
{
    const struct wire_hello hello = {.lib_version = LIB_VERSION,
                                     .n_ranks = 3,
                                     .rank = 1,
                                     .timeout_ms = 1000,
                                     .blob = (const uint8_t *)"blob",
                                     .blob_len = 4};

    into[0] = 0;
    return 1 + wire_put_hello(into + 1, &hello);
}

static size_t
seed_table(uint8_t *into, size_t room)
{
    struct session_member members[3] = {
        {.present = true, .len = 2, .blob = (uint8_t *)(uintptr_t) "ab"},
        {.present = true},
        {.present = true, .len = 1, .blob = (uint8_t *)(uintptr_t) "c"}};
    char id[ID_LEN] = "an_id";
    struct bs_table *table = table_from_members(members, 3, id);
    const uint8_t *bytes;
    uint32_t len = 0;

    if (table == NULL)
        return 0;
    bytes = table_bytes(table, &len);
    if (len + 2 > room)
        len = (uint32_t)room - 2;
    into[0] = 1;
    into[1] = 3;
    memcpy(into + 2, bytes, len);
    bs_table_destroy(table);
    return 2 + len;
}

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    if (n > 1 || room < 1 + HELLO_MAX_LEN)
        return 0;
    return n == 0 ? seed_hello(into) : seed_table(into, room);
}

static void
take_table(const uint8_t *bytes, uint32_t len, uint32_t n_ranks)
{
    uint8_t *copy = hc_zalloc(len);
    struct bs_table *table;

    if (copy == NULL)
        return;
    memcpy(copy, bytes, len);
    table = table_from_bytes(copy, len, n_ranks);
    if (table == NULL)
        return;
    for (uint32_t i = 0; i < table->n_ranks; i++)
        fuzz_read(table->entries[i].blob, table->entries[i].len);
    if (memchr(table->id, '\0', sizeof table->id) == NULL)
        __builtin_trap(); /* it is printed */
    bs_table_destroy(table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct wire_hello hello;

    if (len < 2 || len > HELLO_MAX_LEN)
        return 0;
    if (bytes[0] % 2 == 1) {
        take_table(bytes + 2, (uint32_t)len - 2, bytes[1]);
    } else if (wire_get_hello(&hello, bytes + 1, (uint32_t)len - 1)) {
        fuzz_read(hello.blob, hello.blob_len);
    }
    return 0;
}
