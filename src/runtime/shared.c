/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared: which memory other processes can map, and whom they wake.
 *
 * Files that can be passed on: that of device memory, that of pinned host memory, and each piece of
 * physical memory. The first two live as long as the process and have fixed numbers; a piece of
 * physical memory takes the next number when it is made.
 *
 * Another process may ask for any number. It gets the memory of devices, where the words of
 * notifies are, and of the rest what has been described to somebody: each file notes that.
 */
#include <errno.h>
#include <string.h>

#include "base/bell.h"
#include "base/log.h"
#include "base/word.h"
#include "runtime/arena.h"
#include "runtime/stream.h"
#include "runtime/vmm.h"

static _Atomic(void (*)(void)) wake_hook; /* NULL: none; set once */

bool
rt_shared_find(const void *addr, uint64_t len, uint64_t *file, uint64_t *offset)
{
    return rt_arena_place(addr, len, file, offset) || rt_vmm_place(addr, len, file, offset);
}

int
rt_shared_file(uint64_t file, uint64_t *len)
{
    bool known = true;
    int fd =
        file < RT_ARENA_FILES ? rt_arena_file(file, len, &known) : rt_vmm_file(file, len, &known);

    if (fd < 0 && known)
        LOG_ERROR(RT, "cannot pass memory to another process: %s", strerror(errno));
    return fd;
}

/* All streams that share a bit of the bell. */
static void
wake_many(void)
{
    uint32_t num = atomic_load(&rt_stream_table.used);

    for (uint32_t id = HC_BELL_MANY - 1; id < num; id++)
        rt_stream_wake(id);
}

static void
wake_host(void)
{
    void (*hook)(void) = atomic_load_explicit(&wake_hook, memory_order_acquire);

    rt_waiters_poke();
    if (hook != NULL)
        hook();
}

void
rt_set_wake_hook(void (*hook)(void))
{
    atomic_store_explicit(&wake_hook, hook, memory_order_release);
}

void
rt_shared_wake(uint32_t waiter)
{
    if (waiter == 0)
        return;
    if (waiter == HC_BELL_EVERYBODY)
        wake_many();
    if (waiter == HC_BELL_EVERYBODY || waiter == HC_WORD_HOST)
        wake_host();
    else
        rt_stream_wake(waiter - 1);
}
