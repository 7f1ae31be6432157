/* SPDX-License-Identifier: BSD-3-Clause */
#include "resource/hello.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define MAGIC 0x48434832u
#define VERSION 1u
#define LEN_MOST (64u << 20)

struct head {
    uint32_t magic, version;
    uint32_t len; /* of all */
    int32_t engine, protocol;
    uint32_t notify_num, region_num, info_len;
};

struct region_head {
    uint64_t addr, size;
    int32_t type;
    uint32_t tag_len;
};

static void
put(uint8_t **at, const void *from, size_t len)
{
    if (len > 0)
        memcpy(*at, from, len);
    *at += len;
}

HcclResult
res_hello_write(const struct res_hello *hello, void **text, uint32_t *len)
{
    struct head head = {.magic = MAGIC,
                        .version = VERSION,
                        .engine = hello->engine,
                        .protocol = hello->protocol,
                        .notify_num = hello->notify_num,
                        .region_num = hello->region_num,
                        .info_len = hello->info_len};
    uint64_t total = sizeof head + (uint64_t)hello->info_len;
    uint8_t *at;

    for (uint32_t i = 0; i < hello->region_num; i++)
        total += sizeof(struct region_head) + strlen(hello->regions[i].tag);
    if (total > LEN_MOST) {
        LOG_ERROR(RES, "a channel would tell its peer %llu bytes about %u regions: at most %u",
                  (unsigned long long)total, hello->region_num, LEN_MOST);
        return HCCL_E_PARA;
    }
    at = hc_zalloc(total);
    if (at == NULL)
        return HCCL_E_MEMORY;
    *text = at;
    *len = head.len = (uint32_t)total;
    put(&at, &head, sizeof head);
    for (uint32_t i = 0; i < hello->region_num; i++) {
        const struct res_region *region = &hello->regions[i];
        struct region_head rh = {.addr = (uint64_t)(uintptr_t)region->mem.addr,
                                 .size = region->mem.size,
                                 .type = region->mem.type,
                                 .tag_len = (uint32_t)strlen(region->tag)};

        put(&at, &rh, sizeof rh);
        put(&at, region->tag, rh.tag_len);
    }
    put(&at, hello->info, hello->info_len);
    return HCCL_SUCCESS;
}

struct cursor {
    const uint8_t *at;
    uint64_t left;
};

static bool
take(struct cursor *cursor, void *to, uint64_t len)
{
    if (len > cursor->left)
        return false;
    if (len > 0)
        memcpy(to, cursor->at, len);
    cursor->at += len;
    cursor->left -= len;
    return true;
}

static bool
take_region(struct cursor *cursor, struct res_region *region)
{
    struct region_head rh;

    if (!take(cursor, &rh, sizeof rh) || rh.tag_len >= sizeof region->tag ||
        rh.addr + rh.size < rh.addr)
        return false;
    if (rh.type != COMM_MEM_TYPE_DEVICE && rh.type != COMM_MEM_TYPE_HOST)
        return false;
    region->mem.type = (CommMemType)rh.type;
    region->mem.addr = (void *)(uintptr_t)rh.addr;
    region->mem.size = rh.size;
    return take(cursor, region->tag, rh.tag_len); /* zeroed: the tag ends */
}

static HcclResult
malformed(const char *peer, const char *what)
{
    LOG_ERROR(RES,
              "%s described its end of the channel in a way that cannot be read (%s): do both "
              "sides run the same version of hcomm?",
              peer, what);
    return HCCL_E_INTERNAL;
}

HcclResult
res_hello_parse(const void *text, uint32_t len, const char *peer, struct res_hello *hello)
{
    struct cursor cursor = {.at = text, .left = len};
    struct res_region *regions;
    struct head head;

    if (!take(&cursor, &head, sizeof head) || head.magic != MAGIC)
        return malformed(peer, "no header");
    if (head.version != VERSION || head.len != len)
        return malformed(peer, "another format");
    if (head.region_num > cursor.left / sizeof(struct region_head) || head.info_len > cursor.left)
        return malformed(peer, "cut short");
    regions = hc_calloc(head.region_num == 0 ? 1 : head.region_num, sizeof *regions);
    if (regions == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < head.region_num; i++) {
        if (take_region(&cursor, &regions[i]))
            continue;
        hc_free(regions);
        return malformed(peer, "a bad region");
    }
    if (cursor.left != head.info_len) {
        hc_free(regions);
        return malformed(peer, "wrong length");
    }
    *hello = (struct res_hello){.engine = (CommEngine)head.engine,
                                .protocol = (CommProtocol)head.protocol,
                                .notify_num = head.notify_num,
                                .regions = regions,
                                .region_num = head.region_num,
                                .info = cursor.at,
                                .info_len = head.info_len};
    return HCCL_SUCCESS;
}
