/* SPDX-License-Identifier: BSD-3-Clause */
#include "bootstrap/rootinfo.h"

#include <netinet/in.h>
#include <sodium.h>
#include <string.h>

#include "base/log.h"

#define INFO_MAGIC "HCOMROOT"
#define INFO_VERSION 1u

/* Where things are in the blob; what follows is zero. The sum covers everything after it. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_SUM = 12,
    AT_FAMILY = 28, /* 4 or 6 */
    AT_PORT = 32,
    AT_ADDRESS = 36,
    AT_SCOPE = 52,
    AT_SECRET = 56,
    AT_ID = 72,
    AT_PID = 136,
    AT_PROCESS = 140,
    SUM_LEN = 16,
};

static void
put_address(uint8_t *bytes, const struct sockaddr_storage *addr)
{
    if (addr->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

        wire_put32(bytes + AT_FAMILY, 6);
        wire_put32(bytes + AT_PORT, ntohs(in6->sin6_port));
        memcpy(bytes + AT_ADDRESS, &in6->sin6_addr, 16);
        wire_put32(bytes + AT_SCOPE, in6->sin6_scope_id);
    } else {
        const struct sockaddr_in *in4 = (const struct sockaddr_in *)addr;

        wire_put32(bytes + AT_FAMILY, 4);
        wire_put32(bytes + AT_PORT, ntohs(in4->sin_port));
        memcpy(bytes + AT_ADDRESS, &in4->sin_addr, 4);
    }
}

static void
get_address(struct sockaddr_storage *addr, const uint8_t *bytes)
{
    memset(addr, 0, sizeof *addr);
    if (wire_get32(bytes + AT_FAMILY) == 6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)wire_get32(bytes + AT_PORT));
        memcpy(&in6->sin6_addr, bytes + AT_ADDRESS, 16);
        in6->sin6_scope_id = wire_get32(bytes + AT_SCOPE);
    } else {
        struct sockaddr_in *in4 = (struct sockaddr_in *)addr;

        in4->sin_family = AF_INET;
        in4->sin_port = htons((uint16_t)wire_get32(bytes + AT_PORT));
        memcpy(&in4->sin_addr, bytes + AT_ADDRESS, 4);
    }
}

static void
sum(uint8_t out[SUM_LEN], const uint8_t *bytes)
{
    (void)crypto_generichash(out, SUM_LEN, bytes + AT_SUM + SUM_LEN,
                             HCCL_ROOT_INFO_BYTES - AT_SUM - SUM_LEN, NULL, 0);
}

void
root_info_encode(HcclRootInfo *blob, const struct root_info *info)
{
    uint8_t *bytes = (uint8_t *)blob->internal;

    memset(bytes, 0, HCCL_ROOT_INFO_BYTES);
    memcpy(bytes + AT_MAGIC, INFO_MAGIC, 8);
    wire_put32(bytes + AT_VERSION, INFO_VERSION);
    put_address(bytes, &info->addr);
    memcpy(bytes + AT_SECRET, info->secret, SECRET_LEN);
    memcpy(bytes + AT_ID, info->id, ID_LEN);
    wire_put32(bytes + AT_PID, info->pid);
    wire_put64(bytes + AT_PROCESS, info->process);
    sum(bytes + AT_SUM, bytes);
}

HcclResult
root_info_decode(struct root_info *info, const HcclRootInfo *blob)
{
    const uint8_t *bytes = (const uint8_t *)blob->internal;
    uint8_t want[SUM_LEN];

    if (memcmp(bytes + AT_MAGIC, INFO_MAGIC, 8) != 0) {
        LOG_ERROR(BOOT, "not a root info: pass on the bytes that HcclGetRootInfo of this library "
                        "filled in at the root");
        return HCCL_E_PARA;
    }
    if (wire_get32(bytes + AT_VERSION) != INFO_VERSION) {
        LOG_ERROR(BOOT,
                  "the root info has version %u, this library reads version %u: run the same "
                  "library on every rank",
                  wire_get32(bytes + AT_VERSION), INFO_VERSION);
        return HCCL_E_PARA;
    }
    sum(want, bytes);
    if (memcmp(want, bytes + AT_SUM, SUM_LEN) != 0 || bytes[AT_ID + ID_LEN - 1] != 0) {
        LOG_ERROR(BOOT, "the root info was damaged on its way: pass on all %u bytes unchanged",
                  (unsigned)HCCL_ROOT_INFO_BYTES);
        return HCCL_E_PARA;
    }
    memset(info, 0, sizeof *info);
    get_address(&info->addr, bytes);
    memcpy(info->secret, bytes + AT_SECRET, SECRET_LEN);
    memcpy(info->id, bytes + AT_ID, ID_LEN);
    info->pid = wire_get32(bytes + AT_PID);
    info->process = wire_get64(bytes + AT_PROCESS);
    return HCCL_SUCCESS;
}
