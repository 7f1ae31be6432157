/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_data: what is in the buffers.
 *
 * Bytes are words of (seed, place), so bytes of another round or another place are found. Floats
 * are small whole numbers, so that sums are exact: `seed` makes the operands, the place alone what
 * they are added to. A counter starts at the seed, and one is added.
 */
#include <string.h>

#include "tools/perf.h"

#define WORD 0x9E3779B97F4A7C15ull

static uint64_t
word_at(uint64_t seed, uint64_t i)
{
    return (seed + i) * WORD;
}

static void
fill_words(uint8_t *buf, uint64_t len, uint64_t seed)
{
    uint64_t num = len / sizeof(uint64_t), last = word_at(seed, num);
    uint64_t *words = (uint64_t *)(void *)buf;

    for (uint64_t i = 0; i < num; i++)
        words[i] = word_at(seed, i);
    memcpy(words + num, &last, len % sizeof last);
}

static bool
words_are_good(const uint8_t *buf, uint64_t len, uint64_t seed)
{
    uint64_t num = len / sizeof(uint64_t), last = word_at(seed, num), wrong = 0;
    const uint64_t *words = (const uint64_t *)(const void *)buf;

    for (uint64_t i = 0; i < num; i++)
        wrong |= words[i] ^ word_at(seed, i);
    return wrong == 0 && memcmp(words + num, &last, len % sizeof last) == 0;
}

static float
operand_at(uint64_t seed, uint64_t i)
{
    return (float)(1 + (i + seed) % 8);
}

static float
float_at(uint64_t i)
{
    return (float)(i % 16);
}

static bool
floats_are_good(const float *floats, uint64_t num, uint64_t seed)
{
    bool good = true;

    for (uint64_t i = 0; i < num; i++)
        good = good && floats[i] == float_at(i) + operand_at(seed, i);
    return good;
}

void
perf_fill(const struct perf_test *test, uint8_t *buf, uint64_t seed)
{
    float *floats = (float *)(void *)buf;
    int64_t one = 1;

    switch (test->op->content) {
    case PERF_BYTES:
        fill_words(buf, test->bytes, seed);
        break;
    case PERF_FLOATS:
        for (uint64_t i = 0; i < test->bytes / sizeof *floats; i++)
            floats[i] = operand_at(seed, i);
        break;
    case PERF_COUNTER:
        memcpy(buf, &one, sizeof one);
        break;
    case PERF_NOTHING:
        break;
    }
}

void
perf_reset(const struct perf_test *test, uint8_t *buf, uint64_t seed)
{
    float *floats = (float *)(void *)buf;
    int64_t start = (int64_t)seed;

    switch (test->op->content) {
    case PERF_BYTES:
        fill_words(buf, test->bytes, ~seed);
        break;
    case PERF_FLOATS:
        for (uint64_t i = 0; i < test->bytes / sizeof *floats; i++)
            floats[i] = float_at(i);
        break;
    case PERF_COUNTER:
        memcpy(buf, &start, sizeof start);
        break;
    case PERF_NOTHING:
        break;
    }
}

bool
perf_good(const struct perf_test *test, const uint8_t *buf, uint64_t seed)
{
    int64_t now;

    switch (test->op->content) {
    case PERF_BYTES:
        return words_are_good(buf, test->bytes, seed);
    case PERF_FLOATS:
        return floats_are_good((const float *)(const void *)buf, test->bytes / sizeof(float), seed);
    case PERF_COUNTER:
        memcpy(&now, buf, sizeof now);
        return now == (int64_t)seed + 1;
    default:
        return true;
    }
}

void
perf_touch(const uint8_t *buf, uint64_t len)
{
    const uint64_t *words = (const uint64_t *)(const void *)buf;
    uint64_t all = 0, num = len / sizeof *words;

    for (uint64_t i = 0; i < num; i++)
        all |= words[i];
    for (uint64_t i = num * sizeof *words; i < len; i++)
        all |= buf[i];
    __asm__ volatile("" : : "r"(all)); /* so that the loads are made */
}
