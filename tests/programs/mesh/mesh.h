/* SPDX-License-Identifier: BSD-3-Clause */
/* The mesh all-gather: what the host tells the kernel. */
#ifndef MESH_H
#define MESH_H

#include <cstdint>

#include "hcomm_primitives.h"

constexpr uint32_t THREADS = 16;
constexpr uint32_t NOTIFIES = 31;
constexpr uint32_t START = NOTIFIES - 1; /* notify of the main thread that the stream records */

struct MeshPeer {
    uint32_t rank;
    ChannelHandle channel;
    void *buf;
};

/* Followed by `peerNum` peers, then by `tailLen` bytes. */
struct MeshArgs {
    char comm[128];
    uint32_t rank;
    uint32_t peerNum;
    uint32_t tailLen;
    uint32_t round;
    uint64_t tailSum;
    bool batch;
    void *in, *out, *local;
    uint64_t len;
    ThreadHandle stream; /* of the host, for the device */
    ThreadHandle threads[THREADS];
};

#endif
