/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_ctx: named blocks of memory, where operators keep what they have set up.
 *
 * A communicator has few (one or two per operator), so a list under one lock will do. Blocks of
 * CPU engines are host memory, blocks of the AICPU engine are the device's.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/log.h"
#include "resource/resource.h"

#define TAG_MOST 255u

struct ctx {
    struct hc_list in_set;
    CommEngine engine; /* AICPU_TS is filed as AICPU */
    bool on_device;
    void *addr;
    uint64_t size;
    char tag[TAG_MOST + 1];
};

struct res_ctx_set {
    int32_t device;
    pthread_mutex_t lock;
    struct hc_list ctxs; /* of struct ctx; under `lock` */
};

HcclResult
res_ctx_set_create(int32_t device, struct res_ctx_set **set)
{
    struct res_ctx_set *fresh = hc_zalloc(sizeof *fresh);

    if (fresh == NULL)
        return HCCL_E_MEMORY;
    fresh->device = device;
    pthread_mutex_init(&fresh->lock, NULL);
    hc_list_init(&fresh->ctxs);
    *set = fresh;
    return HCCL_SUCCESS;
}

static void
ctx_destroy(struct ctx *ctx)
{
    if (ctx == NULL)
        return;
    if (ctx->on_device)
        (void)rt_mem_free(ctx->addr); /* the device may have been reset: then it is gone already */
    else
        hc_free(ctx->addr);
    hc_free(ctx);
}

void
res_ctx_set_destroy(struct res_ctx_set *set)
{
    struct hc_list *node;

    if (set == NULL)
        return;
    while ((node = hc_list_pop_front(&set->ctxs)) != NULL)
        ctx_destroy(HC_CONTAINER(node, struct ctx, in_set));
    pthread_mutex_destroy(&set->lock);
    hc_free(set);
}

/* The tag to use. HCCL_E_PARA (logged): too long. */
static HcclResult
check_tag(const char **tag)
{
    if (*tag == NULL)
        *tag = "";
    if (strnlen(*tag, TAG_MOST + 1) <= TAG_MOST)
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "context tag \"%.32s...\" is longer than %u bytes", *tag, TAG_MOST);
    return HCCL_E_PARA;
}

static CommEngine
filed_engine(CommEngine engine)
{
    return engine == COMM_ENGINE_AICPU_TS ? COMM_ENGINE_AICPU : engine;
}

/* Under the lock; NULL: there is none. */
static struct ctx *
find(struct res_ctx_set *set, const char *tag, CommEngine engine)
{
    HC_LIST_EACH (node, &set->ctxs) {
        struct ctx *ctx = HC_CONTAINER(node, struct ctx, in_set);

        if (ctx->engine == filed_engine(engine) && strcmp(ctx->tag, tag) == 0)
            return ctx;
    }
    return NULL;
}

static HcclResult
ctx_make(const struct res_ctx_set *set, const char *tag, CommEngine engine, uint64_t size,
         struct ctx **made)
{
    struct ctx *ctx = hc_zalloc(sizeof *ctx);
    HcclResult rc = HCCL_SUCCESS;

    if (ctx == NULL)
        return HCCL_E_MEMORY;
    ctx->engine = filed_engine(engine);
    ctx->size = size;
    ctx->on_device = res_engine_on_device(engine);
    memcpy(ctx->tag, tag, strlen(tag));
    if (ctx->on_device)
        rc = rt_result(rt_mem_alloc(set->device, size, &ctx->addr));
    else
        ctx->addr = hc_zalloc(size);
    if (rc == HCCL_SUCCESS && ctx->addr == NULL)
        rc = HCCL_E_MEMORY;
    if (rc != HCCL_SUCCESS) {
        hc_free(ctx);
        return rc;
    }
    *made = ctx;
    return HCCL_SUCCESS;
}

HcclResult
res_ctx_create(struct res_ctx_set *set, const char *tag, CommEngine engine, uint64_t size,
               void **addr)
{
    struct ctx *ctx = NULL;
    bool exists;
    HcclResult rc = res_engine_check(engine, "engine context");

    if (rc == HCCL_SUCCESS)
        rc = check_tag(&tag);
    if (rc == HCCL_SUCCESS && size == 0) {
        LOG_ERROR(RES, "engine context \"%s\": a size of 0 bytes is asked for", tag);
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = ctx_make(set, tag, engine, size, &ctx);
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&set->lock);
    exists = find(set, tag, engine) != NULL;
    if (!exists)
        hc_list_push_back(&set->ctxs, &ctx->in_set);
    pthread_mutex_unlock(&set->lock);
    if (exists) {
        LOG_ERROR(RES, "engine context \"%s\" of %s exists already: get it, or destroy it first",
                  tag, res_engine_name(engine));
        ctx_destroy(ctx);
        return HCCL_E_PARA;
    }
    *addr = ctx->addr;
    return HCCL_SUCCESS;
}

HcclResult
res_ctx_get(struct res_ctx_set *set, const char *tag, CommEngine engine, void **addr,
            uint64_t *size)
{
    struct ctx *ctx;
    HcclResult rc = res_engine_check(engine, "engine context");

    if (rc == HCCL_SUCCESS)
        rc = check_tag(&tag);
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&set->lock);
    ctx = find(set, tag, engine);
    if (ctx != NULL) {
        *addr = ctx->addr;
        *size = ctx->size;
    }
    pthread_mutex_unlock(&set->lock);
    return ctx == NULL ? HCCL_E_NOT_FOUND : HCCL_SUCCESS;
}

HcclResult
res_ctx_copy(struct res_ctx_set *set, const char *tag, CommEngine engine, const void *src,
             uint64_t size, uint64_t offset)
{
    struct ctx *ctx;
    uint64_t has = 0;
    bool fits = false;
    HcclResult rc = res_engine_check(engine, "engine context");

    if (rc == HCCL_SUCCESS)
        rc = check_tag(&tag);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (src == NULL || size == 0) {
        LOG_ERROR(RES, "engine context \"%s\": %s", tag,
                  src == NULL ? "the source is NULL" : "0 bytes are to be copied");
        return src == NULL ? HCCL_E_PTR : HCCL_E_PARA;
    }
    pthread_mutex_lock(&set->lock); /* for all of the copy: the block cannot be freed under it */
    ctx = find(set, tag, engine);
    if (ctx != NULL) {
        has = ctx->size;
        fits = offset <= has && size <= has - offset;
    }
    if (fits)
        memcpy((char *)ctx->addr + offset, src, size);
    pthread_mutex_unlock(&set->lock);
    if (ctx == NULL) {
        LOG_ERROR(RES, "engine context \"%s\" of %s does not exist: create it first", tag,
                  res_engine_name(engine));
        return HCCL_E_NOT_FOUND;
    }
    if (!fits) {
        LOG_ERROR(RES, "engine context \"%s\" has %llu bytes: %llu at offset %llu do not fit", tag,
                  (unsigned long long)has, (unsigned long long)size, (unsigned long long)offset);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcclResult
res_ctx_remove(struct res_ctx_set *set, const char *tag, CommEngine engine)
{
    struct ctx *ctx;
    HcclResult rc = res_engine_check(engine, "engine context");

    if (rc == HCCL_SUCCESS)
        rc = check_tag(&tag);
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&set->lock);
    ctx = find(set, tag, engine);
    if (ctx != NULL)
        hc_list_remove(&ctx->in_set);
    pthread_mutex_unlock(&set->lock);
    if (ctx == NULL) {
        LOG_ERROR(RES, "engine context \"%s\" of %s does not exist", tag, res_engine_name(engine));
        return HCCL_E_PARA;
    }
    ctx_destroy(ctx);
    return HCCL_SUCCESS;
}
