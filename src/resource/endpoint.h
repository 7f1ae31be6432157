/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint: a logical port, and the memory registered on it (inside this layer only).
 *
 * An endpoint owns its registrations and its imports: both end with it at the latest. A
 * registration does not hold its endpoint; it knows it by handle.
 *
 * I1  A registration is in its endpoint's list from reg to unreg; whoever closes its handle (the
 *     handle table lets only one) takes it out. So the list holds live registrations only.
 */
#ifndef HC_RESOURCE_ENDPOINT_H
#define HC_RESOURCE_ENDPOINT_H

#include <pthread.h>

#include "base/list.h"
#include "resource/resource.h"

#define RES_DEFAULT_PORT 60001u
#define RES_TAG_MOST 255u

struct res_endpoint {
    EndpointHandle handle;
    EndpointDesc desc;
    int32_t device; /* where notifies of its channels live */
    char name[160]; /* "endpoint RoCE 10.0.0.1" */
    pthread_mutex_t lock;
    struct hc_list mems;    /* of struct res_mem.in_endpoint, oldest first; under `lock`; I1 */
    struct hc_list imports; /* of struct res_import.in_endpoint; under `lock` */
};

struct res_mem {
    HcommMemHandle handle;
    EndpointHandle endpoint;
    struct hc_list in_endpoint; /* under the endpoint's lock */
    struct res_region region;   /* set once; its lease is ended once */
    void *text;                 /* what the last export gave; under the endpoint's lock */
};

HcclResult res_endpoint_create(const EndpointDesc *desc, EndpointHandle *handle);

/* Ends its registrations and imports too. */
HcclResult res_endpoint_destroy(EndpointHandle handle);

HcclResult res_endpoint_hold(EndpointHandle handle, struct res_endpoint **endpoint);
void res_endpoint_release(struct res_endpoint *endpoint);

/* Held; NULL, and nothing said: not live. */
struct res_endpoint *res_endpoint_hold_quiet(EndpointHandle handle);

/* "RoCE 10.0.0.1", for messages. */
void res_endpoint_text(const EndpointDesc *desc, char *text, size_t len);

/* The part of `desc` that tells one endpoint from another, as text: both ends of a channel make
 * the same from it. */
void res_endpoint_key(const EndpointDesc *desc, char *text, size_t len);

/* The lease of what was imported. */
uint64_t res_import_lease(const struct res_import *import);

/* The import of the endpoint that holds [addr, addr + len) of `process` and is still offered, held
 * (res_channel_leave gives it back); NULL: there is none, or (*withdrawn) not any more. */
struct res_import *res_import_hold(EndpointHandle handle, uint64_t process, const void *addr,
                                   uint64_t len, bool *withdrawn);

bool res_mem_contains(const CommMem *mem, const void *ptr, uint64_t len);

HcclResult res_mem_reg(struct res_endpoint *endpoint, const char *tag, const CommMem *mem,
                       HcommMemHandle *handle);
HcclResult res_mem_unreg(struct res_endpoint *endpoint, HcommMemHandle handle);

/* `*text` stays the library's until the next export or unreg of the same handle. */
HcclResult res_mem_export(struct res_endpoint *endpoint, HcommMemHandle handle, void **text,
                          uint32_t *len);
HcclResult res_mem_import(struct res_endpoint *endpoint, const void *text, uint32_t len,
                          CommMem *mem);
HcclResult res_mem_unimport(struct res_endpoint *endpoint, const void *text, uint32_t len);

/* What the endpoint has registered (handles NULL), or the regions behind `num` handles. Freed with
 * hc_free. */
HcclResult res_mem_regions(struct res_endpoint *endpoint, const HcommMemHandle *handles,
                           uint32_t num, struct res_region **regions, uint32_t *region_num);

/* For the end of an endpoint. */
void res_mem_drop_all(struct res_endpoint *endpoint);
void res_import_drop_all(struct res_endpoint *endpoint);

#endif
