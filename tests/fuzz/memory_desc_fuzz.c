/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory description that came from a peer by whatever means. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "hccl/hccl_types.h"
#include "hcomm/hcomm_res.h"
#include "tests/fuzz/fuzz.h"

static EndpointHandle endpoint;
static char memory[4096];

static void
start(void)
{
    EndpointDesc desc;

    if (endpoint != NULL)
        return;
    setenv("HCOMM_CONNECT_TIMEOUT", "50",
           1); /* descriptions may name processes that are not there */
    if (aclrtSetDevice(0) != ACL_SUCCESS || EndpointDescInit(&desc, 1) != HCCL_SUCCESS)
        abort();
    desc.protocol = COMM_PROTOCOL_ROCE;
    desc.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    desc.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    desc.commAddr.addr.s_addr = htonl(INADDR_LOOPBACK);
    if (HcommEndpointCreate(&desc, &endpoint) != HCCL_SUCCESS)
        abort();
}

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    const CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = memory, .size = sizeof memory};
    HcommMemHandle handle = NULL;
    void *desc = NULL;
    uint32_t len = 0;

    if (n > 0)
        return 0;
    start();
    if (HcommMemReg(endpoint, "tag", &mem, &handle) != HCCL_SUCCESS ||
        HcommMemExport(endpoint, handle, &desc, &len) != HCCL_SUCCESS || len > room)
        abort();
    memcpy(into, desc, len);
    return len;
}

static void
take(const uint8_t *bytes, size_t len)
{
    CommMem mem;

    if (HcommMemImport(endpoint, bytes, (uint32_t)len, &mem) == HCCL_SUCCESS &&
        HcommMemUnimport(endpoint, bytes, (uint32_t)len) != HCCL_SUCCESS)
        __builtin_trap();
}

/* As it is, and with the checksum that a peer of bad will would have put: memory_desc.c. */
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const size_t at = 2 * sizeof(uint32_t);
    uint64_t sum = 14695981039346656037ull;
    uint8_t copy[4096];
    long live;

    start();
    take(bytes, len);
    if (len < at + sizeof sum || len > sizeof copy)
        return 0;
    memcpy(copy, bytes, len);
    for (size_t i = at + sizeof sum; i < len; i++)
        sum = (sum ^ copy[i]) * 1099511628211ull;
    memcpy(copy + at, &sum, sizeof sum);
    live = hc_alloc_live();
    take(copy, len);
    for (int i = 0; i < 2000 && hc_alloc_live() > live; i++)
        usleep(500); /* a link to nobody goes on another thread */
    return 0;
}
