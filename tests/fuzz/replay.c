/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay: runs a target with its seeds, then with mutations of them, always the same ones.
 *
 *   NAME_fuzz               ROUNDS inputs, or as many as fit into some seconds
 *   NAME_fuzz FILE...       these inputs
 *   NAME_fuzz --write DIR   writes the seeds as files, for NAME_libfuzzer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tests/fuzz/fuzz.h"

#define ROUNDS 200000
#define SECONDS 3
#define SEEDS_MOST 32u
#define LEN_MOST 65536u

struct input {
    uint8_t *bytes; /* [len], exactly: reading past it is found out */
    size_t len;
};

static struct input seeds[SEEDS_MOST];
static unsigned seed_num;
static uint64_t state = 0x9E3779B97F4A7C15u;

static uint32_t
next_random(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16) % below;
}

static struct input
copy_input(const uint8_t *bytes, size_t len)
{
    struct input input = {.bytes = malloc(len == 0 ? 1 : len), .len = len};

    if (input.bytes == NULL)
        abort();
    memcpy(input.bytes, bytes, len);
    return input;
}

static void
get_seeds(void)
{
    static uint8_t room[LEN_MOST];
    size_t len;

    while (seed_num < SEEDS_MOST && (len = fuzz_seed(seed_num, room, sizeof room)) > 0)
        seeds[seed_num++] = copy_input(room, len);
    if (seed_num == 0)
        seeds[seed_num++] = copy_input((const uint8_t *)"", 0);
}

/* Cuts a piece out, or puts a piece of a seed in. */
static size_t
change_length(uint8_t *bytes, size_t len)
{
    const struct input *other = &seeds[next_random(seed_num)];
    size_t at = next_random((uint32_t)len + 1);
    size_t from, piece;

    if (next_random(2) == 0 && len > 0) {
        piece = next_random((uint32_t)(len - at) + 1);
        memmove(bytes + at, bytes + at + piece, len - at - piece);
        return len - piece;
    }
    from = next_random((uint32_t)other->len + 1);
    piece = next_random((uint32_t)(other->len - from) + 1);
    if (len + piece > LEN_MOST)
        return len;
    memmove(bytes + at + piece, bytes + at, len - at);
    memcpy(bytes + at, other->bytes + from, piece);
    return len + piece;
}

static void
change_bytes(uint8_t *bytes, size_t len)
{
    static const uint32_t odd[] = {0,      1,          0x7F,       0x80,       0xFF,   0x7FFF,
                                   0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x1000, 0xFFFFFFF0};
    size_t at = next_random((uint32_t)len);

    switch (next_random(4)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << next_random(8));
        break;
    case 1:
        bytes[at] = (uint8_t)next_random(256);
        break;
    case 2:
        memcpy(bytes + at, &odd[next_random(sizeof odd / sizeof odd[0])],
               len - at < 4 ? len - at : 4);
        break;
    default:
        bytes[at] = (uint8_t) "{}[]\":,%0-9\\\n\r\t /.*sdnxX"[next_random(24)];
        break;
    }
}

static struct input
mutate(void)
{
    static uint8_t room[LEN_MOST];
    const struct input *seed = &seeds[next_random(seed_num)];
    size_t len = seed->len;

    memcpy(room, seed->bytes, len);
    for (uint32_t changes = 1 + next_random(6); changes > 0; changes--) {
        if (next_random(4) == 0)
            len = change_length(room, len);
        else if (len > 0)
            change_bytes(room, len);
    }
    return copy_input(room, len);
}

static void
run(const struct input *input)
{
    long live = hc_alloc_live();

    (void)LLVMFuzzerTestOneInput(input->bytes, input->len);
    if (hc_alloc_live() == live)
        return;
    fprintf(stderr, "an input of %zu bytes left %ld allocations behind; it is in fuzz.input\n",
            input->len, hc_alloc_live() - live);
    FILE *file = fopen("fuzz.input", "wb");
    if (file != NULL) {
        fwrite(input->bytes, 1, input->len, file);
        fclose(file);
    }
    abort();
}

static void
write_seeds(const char *dir)
{
    char path[512];

    for (unsigned i = 0; i < seed_num; i++) {
        FILE *file;

        snprintf(path, sizeof path, "%s/seed-%u", dir, i);
        file = fopen(path, "wb");
        if (file == NULL || fwrite(seeds[i].bytes, 1, seeds[i].len, file) != seeds[i].len)
            abort();
        fclose(file);
    }
}

static void
run_file(const char *path)
{
    static uint8_t room[1 << 20];
    FILE *file = fopen(path, "rb");
    struct input input;

    if (file == NULL)
        abort();
    input = copy_input(room, fread(room, 1, sizeof room, file));
    fclose(file);
    run(&input);
    free(input.bytes);
}

int
main(int argc, char **argv)
{
    uint64_t deadline = hc_deadline_ms(SECONDS * 1000);
    long rounds = 0;

    get_seeds();
    if (argc > 2 && strcmp(argv[1], "--write") == 0) {
        write_seeds(argv[2]);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        run_file(argv[i]);
    if (argc > 1)
        return 0;
    (void)LLVMFuzzerTestOneInput(seeds[0].bytes, seeds[0].len); /* what is made once is there now */
    for (unsigned i = 0; i < seed_num; i++)
        run(&seeds[i]);
    for (; rounds < ROUNDS && hc_now_ns() < deadline; rounds++) {
        struct input input = mutate();

        run(&input);
        free(input.bytes);
    }
    printf("%u seeds and %ld mutations\n", seed_num, rounds);
    for (unsigned i = 0; i < seed_num; i++)
        free(seeds[i].bytes);
    return 0;
}
