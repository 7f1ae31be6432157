/* SPDX-License-Identifier: BSD-3-Clause */
#include "resource/hello.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define MAGIC 0x48434832u
#define VERSION 3u
#define LEN_MOST (64u << 20)

struct head {
    uint32_t magic, version;
    uint32_t len; /* of all */
    int32_t engine, protocol;
    uint32_t notify_num, region_num, info_len, terms_len;
};

struct region_head {
    struct tp_region place;
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
                        .info_len = hello->info_len,
                        .terms_len = hello->terms == NULL ? 0 : (uint32_t)strlen(hello->terms)};
    uint64_t total = sizeof head + (uint64_t)hello->info_len + head.terms_len;
    HcclResult rc;
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
        struct region_head rh = {.type = region->mem.type,
                                 .tag_len = (uint32_t)strlen(region->tag)};

        rc = tp_region_of(region->mem.addr, region->mem.size, region->lease, &rh.place);
        if (rc != HCCL_SUCCESS) {
            hc_free(*text);
            *text = NULL;
            return rc;
        }
        put(&at, &rh, sizeof rh);
        put(&at, region->tag, rh.tag_len);
    }
    put(&at, hello->info, hello->info_len);
    put(&at, hello->terms, head.terms_len);
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
take_region(struct cursor *cursor, struct res_region *region, struct tp_region *place)
{
    struct region_head rh;
    uint64_t end;

    if (!take(cursor, &rh, sizeof rh) || rh.tag_len >= sizeof region->tag ||
        __builtin_add_overflow(rh.place.addr, rh.place.len, &end) ||
        __builtin_add_overflow(rh.place.place.offset, rh.place.len, &end))
        return false;
    if (rh.type != COMM_MEM_TYPE_DEVICE && rh.type != COMM_MEM_TYPE_HOST)
        return false;
    region->mem.type = (CommMemType)rh.type;
    region->mem.addr = (void *)(uintptr_t)rh.place.addr;
    region->mem.size = rh.place.len;
    region->lease = rh.place.lease;
    *place = rh.place;
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
    struct res_hello told = {.regions = NULL};
    struct head head;
    size_t room;

    if (!take(&cursor, &head, sizeof head) || head.magic != MAGIC)
        return malformed(peer, "no header");
    if (head.version != VERSION || head.len != len)
        return malformed(peer, "another format");
    if (head.region_num > cursor.left / sizeof(struct region_head) || head.info_len > cursor.left ||
        head.terms_len > cursor.left)
        return malformed(peer, "cut short");
    room = head.region_num == 0 ? 1 : head.region_num;
    told.regions = hc_calloc(room, sizeof *told.regions);
    told.places = hc_calloc(room, sizeof *told.places);
    told.terms = hc_zalloc((size_t)head.terms_len + 1);
    if (told.regions == NULL || told.places == NULL || told.terms == NULL) {
        res_hello_fini(&told);
        return HCCL_E_MEMORY;
    }
    while (told.region_num < head.region_num &&
           take_region(&cursor, &told.regions[told.region_num], &told.places[told.region_num]))
        told.region_num++;
    if (told.region_num < head.region_num ||
        cursor.left != (uint64_t)head.info_len + head.terms_len) {
        bool cut = told.region_num < head.region_num;

        res_hello_fini(&told);
        return malformed(peer, cut ? "a bad region" : "wrong length");
    }
    told.engine = (CommEngine)head.engine;
    told.protocol = (CommProtocol)head.protocol;
    told.notify_num = head.notify_num;
    told.info = cursor.at;
    told.info_len = head.info_len;
    memcpy(told.terms, cursor.at + head.info_len, head.terms_len); /* zeroed: the text ends */
    *hello = told;
    return HCCL_SUCCESS;
}

void
res_hello_fini(struct res_hello *hello)
{
    hc_free(hello->regions);
    hc_free(hello->places);
    hc_free(hello->terms);
    *hello = (struct res_hello){.regions = NULL};
}
