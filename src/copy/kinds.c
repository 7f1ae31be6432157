/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AVX-512, prefetching of either side, and interleaving pages have been tried too: they win nowhere
 * by more than the noise (two processes on Zen 5, both patterns, 64 KiB to 64 MiB).
 */
#include "copy/kinds.h"

#include "base/clock.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>

#define LINE 64u
#define ERMS (1u << 9) /* leaf 7, EBX: the string move is more than a loop of bytes */

static bool
has_erms(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & ERMS) != 0;
}

uint32_t
copy_kinds(void)
{
    return 1u << COPY_PLAIN | 1u << COPY_STREAM | (has_erms() ? 1u << COPY_STRING : 0);
}

/* Whole lines to a dst that is aligned to a line. */
static void
stream_sse2(unsigned char *dst, const unsigned char *src, uint64_t len)
{
    for (uint64_t at = 0; at < len; at += LINE) {
        const __m128i *from = (const __m128i *)(const void *)(src + at);
        __m128i *to = (__m128i *)(void *)(dst + at);
        __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
        __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);

        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
}

__attribute__((target("avx2"))) static void
stream_avx2(unsigned char *dst, const unsigned char *src, uint64_t len)
{
    for (uint64_t at = 0; at < len; at += LINE) {
        const __m256i *from = (const __m256i *)(const void *)(src + at);
        __m256i *to = (__m256i *)(void *)(dst + at);
        __m256i a = _mm256_loadu_si256(from), b = _mm256_loadu_si256(from + 1);

        _mm256_stream_si256(to, a);
        _mm256_stream_si256(to + 1, b);
    }
}

static void
move_stream(unsigned char *dst, const unsigned char *src, uint64_t len)
{
    uint64_t head = (LINE - (uintptr_t)dst % LINE) % LINE, lines;

    if (len < head + LINE) {
        copy_bytes(dst, src, len);
        return;
    }
    lines = (len - head) / LINE * LINE;
    copy_bytes(dst, src, head);
    if (__builtin_cpu_supports("avx2"))
        stream_avx2(dst + head, src + head, lines);
    else
        stream_sse2(dst + head, src + head, lines);
    copy_bytes(dst + head + lines, src + head + lines, len - head - lines);
    _mm_sfence();
}

static void
move_string(void *dst, const void *src, uint64_t len)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len) : : "memory");
}

void
copy_by(enum copy_kind kind, void *dst, const void *src, uint64_t len)
{
    if (kind == COPY_STREAM)
        move_stream(dst, src, len);
    else if (kind == COPY_STRING)
        move_string(dst, src, len);
    else
        copy_bytes(dst, src, len);
}

uint64_t
copy_ticks(void)
{
    return __rdtsc();
}

#else

uint32_t
copy_kinds(void)
{
    return 1u << COPY_PLAIN;
}

void
copy_by(enum copy_kind kind, void *dst, const void *src, uint64_t len)
{
    (void)kind;
    copy_bytes(dst, src, len);
}

uint64_t
copy_ticks(void)
{
    return hc_now_ns();
}

#endif
