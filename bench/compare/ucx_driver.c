/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: UCX through its UCP interface. Transports: UCX_TLS. */
#include "loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#define TAG 1
#define WHOLE_TAG (~(ucp_tag_t)0)
#define BLOCKS_MOST 8

/* Memory that UCX allocated. */
struct block {
    void *addr;
    ucp_mem_h mem;
};

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static struct pair *pair;
static struct block blocks[BLOCKS_MOST];
static struct block window;
static ucp_rkey_h window_key; /* of the peer's window */
static uint64_t window_addr;

static void
check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK)
        fail("ucx: %s: %s", what, ucs_status_string(status));
}

/* NULL: done at once. Otherwise the caller drives until it is. */
static void
finish(ucs_status_ptr_t request, const char *what)
{
    ucs_status_t status = UCS_OK;

    if (request == NULL)
        return;
    if (UCS_PTR_IS_ERR(request))
        check(UCS_PTR_STATUS(request), what);
    do {
        ucp_worker_progress(worker);
        status = ucp_request_check_status(request);
    } while (status == UCS_INPROGRESS);
    check(status, what);
    ucp_request_free(request);
}

static void
hello_set(const void *bytes, size_t len)
{
    if (len > HELLO_MOST)
        fail("ucx: an address or key of %zu bytes, more than %d", len, HELLO_MOST);
    memcpy(pair->shared->hello[pair->rank], bytes, len);
    pair->shared->hello_len[pair->rank] = len;
}

static void
ucx_open(struct pair *of)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_config_t *config;
    ucp_address_t *address;
    size_t len;

    pair = of;
    check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    check(ucp_init(&params, config, &context), "ucp_init");
    ucp_config_release(config);
    check(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
    check(ucp_worker_get_address(worker, &address, &len), "ucp_worker_get_address");
    hello_set(address, len);
    ucp_worker_release_address(worker, address);
    meet(pair);
    ep_params.address = (const ucp_address_t *)pair->shared->hello[1 - pair->rank];
    check(ucp_ep_create(worker, &ep_params, &ep), "ucp_ep_create");
    finish(ucp_ep_flush_nbx(ep, &(ucp_request_param_t){0}), "ucp_ep_flush_nbx");
    meet(pair);
}

static void
ucx_close(void)
{
    finish(ucp_ep_close_nbx(ep, &(ucp_request_param_t){0}), "ucp_ep_close_nbx");
    meet(pair);
    ucp_worker_destroy(worker);
    worker = NULL;
    ucp_cleanup(context);
}

/* Which transports the endpoint took, from lines like "lane[0]:  1:sysv/memory.0 md[1] ...". */
static void
lanes_list(char *text, size_t len)
{
    char *info = NULL, *at;
    size_t info_len = 0, used = 0;
    FILE *out = open_memstream(&info, &info_len);

    text[0] = '\0';
    if (out == NULL)
        return;
    ucp_ep_print_info(ep, out);
    if (fclose(out) != 0)
        return;
    for (at = strstr(info, "lane["); at != NULL; at = strstr(at, "lane[")) {
        char name[32];

        if (sscanf(at, "lane[%*d]: %*d:%31[^/]", name) == 1 && used < len)
            used += (size_t)snprintf(text + used, len - used, " %s", name);
        at++;
    }
    free(info);
}

static void
ucx_describe(char *text, size_t len)
{
    char lanes[128];

    lanes_list(lanes, sizeof lanes);
    snprintf(text, len, "UCX %s, lanes:%s", ucp_get_version_string(), lanes);
}

static void
ucx_progress(void)
{
    if (worker != NULL)
        ucp_worker_progress(worker);
}

static void
block_alloc(struct block *block, size_t len)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = len,
        .flags = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    check(ucp_mem_map(context, &params, &block->mem), "ucp_mem_map");
    check(ucp_mem_query(block->mem, &attr), "ucp_mem_query");
    block->addr = attr.address;
}

static void *
ucx_alloc(enum memory memory, size_t len)
{
    (void)memory;
    for (int i = 0; i < BLOCKS_MOST; i++) {
        if (blocks[i].addr == NULL) {
            block_alloc(&blocks[i], len);
            return blocks[i].addr;
        }
    }
    fail("ucx: more than %d buffers at a time", BLOCKS_MOST);
}

static void
ucx_release(enum memory memory, void *addr)
{
    (void)memory;
    for (int i = 0; i < BLOCKS_MOST; i++) {
        if (blocks[i].addr == addr) {
            check(ucp_mem_unmap(context, blocks[i].mem), "ucp_mem_unmap");
            blocks[i].addr = NULL;
        }
    }
}

static void
ucx_send(const void *buf, size_t len)
{
    static const ucp_request_param_t param = {0};

    finish(ucp_tag_send_nbx(ep, buf, len, TAG, &param), "ucp_tag_send_nbx");
}

static void
ucx_recv(void *buf, size_t len)
{
    static const ucp_request_param_t param = {0};

    finish(ucp_tag_recv_nbx(worker, buf, len, TAG, WHOLE_TAG, &param), "ucp_tag_recv_nbx");
}

static void *
ucx_window_open(size_t len)
{
    void *key;
    size_t key_len;
    char hello[HELLO_MOST];

    block_alloc(&window, len);
    check(ucp_rkey_pack(context, window.mem, &key, &key_len), "ucp_rkey_pack");
    if (key_len > sizeof hello - sizeof window_addr)
        fail("ucx: a key of %zu bytes", key_len);
    memcpy(hello, &window.addr, sizeof window_addr);
    memcpy(hello + sizeof window_addr, key, key_len);
    hello_set(hello, sizeof window_addr + key_len);
    ucp_rkey_buffer_release(key);
    meet(pair);
    memcpy(hello, pair->shared->hello[1 - pair->rank], sizeof hello);
    memcpy(&window_addr, hello, sizeof window_addr);
    check(ucp_ep_rkey_unpack(ep, hello + sizeof window_addr, &window_key), "ucp_ep_rkey_unpack");
    meet(pair);
    return window.addr;
}

static void
ucx_window_close(void)
{
    ucp_rkey_destroy(window_key);
    meet(pair);
    check(ucp_mem_unmap(context, window.mem), "ucp_mem_unmap");
}

static void
ucx_flush(void)
{
    finish(ucp_ep_flush_nbx(ep, &(ucp_request_param_t){0}), "ucp_ep_flush_nbx");
}

/* A put that is not done yet keeps its request until the flush; none of shared memory does. */
static void
ucx_put(const void *src, size_t len)
{
    static const ucp_request_param_t param = {0};

    finish(ucp_put_nbx(ep, src, len, window_addr, window_key, &param), "ucp_put_nbx");
}

static void
ucx_get(void *dst, size_t len)
{
    static const ucp_request_param_t param = {0};

    finish(ucp_get_nbx(ep, dst, len, window_addr, window_key, &param), "ucp_get_nbx");
}

static const enum memory memories[] = {MEMORY_LIBRARY, MEMORY_MALLOC, MEMORY_KINDS};

static const struct lib ucx_lib = {
    .name = "ucx",
    .memories = memories,
    .open = ucx_open,
    .close = ucx_close,
    .describe = ucx_describe,
    .progress = ucx_progress,
    .alloc = ucx_alloc,
    .release = ucx_release,
    .send = ucx_send,
    .recv = ucx_recv,
    .window_open = ucx_window_open,
    .window_close = ucx_window_close,
    .put = ucx_put,
    .get = ucx_get,
    .flush = ucx_flush,
};

int
main(int argc, char **argv)
{
    return loops_fork(&ucx_lib, argc, argv);
}
