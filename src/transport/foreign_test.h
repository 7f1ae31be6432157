/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign_test: tests of memory that cannot be mapped. Some processes own memory, others reach it:
 *
 *     owner:   memory = own_offer(&shared->own[0], len); ... own_end(&shared->own[0]);
 *     other:   struct far far; far_open(&far, &shared->own[0]); foreign_write(far.local, ...);
 *              far_close(&far);
 */
#ifndef HC_TRANSPORT_FOREIGN_TEST_H
#define HC_TRANSPORT_FOREIGN_TEST_H

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/support/procs.h"
#include "tests/support/test.h"
#include "transport/foreign.h"

/* What an owner tells of one region; in shared memory. */
struct own {
    struct tp_address address;
    struct tp_region region;
    atomic_int there;
};

static inline void
own_tell(struct own *own, void *memory, uint64_t len)
{
    uint64_t lease;

    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own->address));
    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&lease));
    EXPECT_EQ(HCCL_SUCCESS, foreign_offer(memory, len, lease));
    own->region =
        (struct tp_region){.addr = (uint64_t)(uintptr_t)memory, .len = len, .lease = lease};
    atomic_store(&own->there, 1);
}

static inline char *
own_offer(struct own *own, uint64_t len)
{
    char *memory =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    EXPECT_TRUE(memory != MAP_FAILED);
    own_tell(own, memory, len);
    return memory;
}

static inline void
own_end(struct own *own)
{
    tp_lease_end(own->region.lease);
    EXPECT_EQ(0, munmap((void *)(uintptr_t)own->region.addr, own->region.len));
}

struct far {
    struct shm_link *link;
    char *local;
    uint64_t len;
};

static inline void
far_link(struct far *far, struct own *own)
{
    procs_await(&own->there, 1);
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&own->address, &far->link));
    EXPECT_EQ(HCCL_SUCCESS, link_wait(far->link, 20000));
    EXPECT_EQ(LINK_UP, link_state(far->link));
    far->len = own->region.len;
}

static inline void
far_open(struct far *far, struct own *own)
{
    void *local = NULL;

    far_link(far, own);
    EXPECT_EQ(HCCL_SUCCESS, foreign_add(far->link, &own->region, &local));
    far->local = local;
}

static inline void
far_close(struct far *far)
{
    foreign_remove(far->local);
    link_release(far->link);
}

/* Bytes that are never the same for neighbours, turns or places. */
static inline void
fill(char *bytes, uint64_t len, uint32_t seed)
{
    for (uint64_t i = 0; i < len; i++)
        bytes[i] = (char)((i + seed) * 2654435761u >> 11);
}

static inline void
expect_filled(const char *bytes, uint64_t len, uint32_t seed)
{
    for (uint64_t i = 0; i < len; i++) {
        if (bytes[i] != (char)((i + seed) * 2654435761u >> 11))
            fail_msg("byte %llu of %llu is wrong", (unsigned long long)i, (unsigned long long)len);
    }
}

static inline void
pin(const char *path)
{
    EXPECT_EQ(0, setenv("HCOMM_FOREIGN", path, 1));
}

#endif
