/* SPDX-License-Identifier: BSD-3-Clause */
/* What a peer may write into the lane of a bounce: the input is the lane's head, again and again.
 */
#define _GNU_SOURCE
#include "transport/bounce.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define OFFERED 4096u
#define AROUND 65536u /* on either side, which nobody may touch */

static const uint8_t zeros[AROUND];
static uint64_t lease;
static uint8_t *memory; /* [AROUND | OFFERED | AROUND] */
static struct bounce_lane *lane;
static int fd = -1;

static void
set_up(void)
{
    if (fd >= 0)
        return;
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    memory = mmap(NULL, 2 * AROUND + OFFERED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    if (fd < 0 || memory == MAP_FAILED || ftruncate(fd, BOUNCE_FILE_LEN) != 0)
        __builtin_trap();
    lane = mmap(NULL, BOUNCE_HEAD_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (lane == MAP_FAILED || tp_lease_begin(&lease) != HCCL_SUCCESS ||
        foreign_offer(memory + AROUND, OFFERED, lease) != HCCL_SUCCESS)
        __builtin_trap();
    for (uint32_t i = 0; i < BOUNCE_PIECES; i++) { /* so that a stray byte shows */
        uint8_t ones[4096];

        memset(ones, 0xFF, sizeof ones);
        if (pwrite(fd, ones, sizeof ones, BOUNCE_HEAD_LEN + i * BOUNCE_PIECE_LEN) < 0)
            __builtin_trap();
    }
}

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    struct bounce_lane seed = {.awake = 1};

    set_up();
    if (n > 3 || room < sizeof seed)
        return 0;
    for (uint32_t i = 0; i < BOUNCE_PIECES; i++) {
        struct bounce_piece *piece = &seed.pieces[i];

        piece->state = PIECE_ASKED | (n == 3 ? PIECE_SLEEPER : 0);
        piece->write = n % 2;
        piece->len = n == 2 ? OFFERED : 64;
        piece->addr = (uint64_t)(uintptr_t)memory + AROUND + (n == 2 ? 0 : i * 64);
        piece->lease = lease;
    }
    memcpy(into, &seed, sizeof seed);
    return sizeof seed;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    uint32_t next = 0, turns = 0;

    set_up();
    memset(lane, 0, sizeof *lane);
    memcpy(lane, bytes, len < sizeof *lane ? len : sizeof *lane);
    while (serve_pieces(lane, fd, &next, 3) > 0) {
        if (next >= BOUNCE_PIECES || ++turns > BOUNCE_PIECES)
            __builtin_trap();
    }
    if (memcmp(memory, zeros, AROUND) != 0 || memcmp(memory + AROUND + OFFERED, zeros, AROUND) != 0)
        __builtin_trap();
    return 0;
}
