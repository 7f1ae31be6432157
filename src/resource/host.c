/* SPDX-License-Identifier: BSD-3-Clause */
/* The one place where transports and runtime, which are siblings, are told of each other. */
#include "resource/host.h"

#include <pthread.h>

#include "resource/peer_memory.h"
#include "resource/resource.h"

static bool
host_locate(const void *addr, uint64_t len, struct tp_place *place)
{
    return rt_shared_find(addr, len, &place->file, &place->offset);
}

static void
tell(void)
{
    static const struct tp_host host = {.locate = host_locate,
                                        .file = rt_shared_file,
                                        .wake = rt_shared_wake,
                                        .watch = rt_shared_watch};

    tp_set_host(&host);
    rt_set_peer_memory_hook(peer_memory_find);
}

void
res_host_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, tell);
}

HcclResult
res_listen(struct tp_address *address)
{
    res_host_ready();
    return tp_listen(address);
}
