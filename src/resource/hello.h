/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello: what the two ends of a channel tell each other (inside this layer only).
 *
 * Header, then for each region {where it lies, type, length of the tag} and the tag, then `info`,
 * then the terms.
 * Numbers are in the order of the machine: a peer of the other order is found out by the magic.
 * The text may come from another process, so nothing in it is believed before it is checked; where
 * a region lies is checked by the transport that maps it.
 */
#ifndef HC_RESOURCE_HELLO_H
#define HC_RESOURCE_HELLO_H

#include "resource/resource.h"

struct res_hello {
    CommEngine engine;
    CommProtocol protocol;
    uint32_t notify_num;
    struct res_region *regions; /* parsed: allocated, addresses are the owner's; hc_free() */
    struct tp_region *places;   /* parsed: allocated, where the regions lie; written: not used */
    uint32_t region_num;
    const void *info; /* parsed: points into the text */
    uint32_t info_len;
    char *terms; /* parsed: allocated, "" when the peer has none; written: NULL is fine */
};

/* The text, to be freed with hc_free. HCCL_E_MEMORY, HCCL_E_PARA (logged): too much to tell. */
HcclResult res_hello_write(const struct res_hello *hello, void **text, uint32_t *len);

/* HCCL_E_INTERNAL (logged, names `peer`): malformed. */
HcclResult res_hello_parse(const void *text, uint32_t len, const char *peer,
                           struct res_hello *hello);

/* Frees what parsing has allocated; all zeros are fine. */
void res_hello_fini(struct res_hello *hello);

#endif
