/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rootinfo: the 4108 opaque bytes that the application carries from the root to every rank.
 */
#ifndef HC_BOOTSTRAP_ROOTINFO_H
#define HC_BOOTSTRAP_ROOTINFO_H

#include <stdint.h>
#include <sys/socket.h>

#include "bootstrap/wire.h"

#define ID_LEN 64u

struct root_info {
    struct sockaddr_storage addr; /* where the root listens, port included */
    uint8_t secret[SECRET_LEN];
    char id[ID_LEN];  /* printable, unique */
    uint32_t pid;     /* of the root */
    uint64_t process; /* its hc_process_id() */
};

void root_info_encode(HcclRootInfo *blob, const struct root_info *info);

/* HCCL_E_PARA (logged): these are not the bytes that HcclGetRootInfo gave. */
HcclResult root_info_decode(struct root_info *info, const HcclRootInfo *blob);

#endif
