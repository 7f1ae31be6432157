/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * white_list: hosts that may join, when the user keeps such a list. It comes on top of the secret.
 */
#ifndef HC_BOOTSTRAP_WHITE_LIST_H
#define HC_BOOTSTRAP_WHITE_LIST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "hccl/hccl_types.h"

struct white_list {
    bool on;
    struct in_addr *hosts; /* [num] */
    uint32_t num;
};

/* HCCL_E_PARA, HCCL_E_OPEN_FILE_FAILURE, HCCL_E_MEMORY (logged). Fini is due whatever it returns.
 */
HcclResult white_list_load(struct white_list *list);
void white_list_fini(struct white_list *list);
bool white_list_allows(const struct white_list *list, const struct sockaddr_storage *peer);

#endif
