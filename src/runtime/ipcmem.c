/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/ipcmem.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "runtime/arena.h"
#include "runtime/memory.h"
#include "runtime/share.h"

#define PAGE 65536u /* a multiple of every kernel's page size */

struct piece {
    struct hc_list in_list;  /* under `lock` */
    char key[RT_SHARE_TEXT]; /* set once */
    struct rt_share share;   /* of an export */
    struct rt_region region; /* of an import */
    void *pages;             /* of an import: whole pages around the region */
    uint64_t pages_len;
    uint32_t imports; /* of an import: under `lock` */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hc_list exports = {&exports, &exports}; /* of struct piece; under `lock` */
static struct hc_list imports = {&imports, &imports}; /* likewise */

static struct piece *
piece_of(struct hc_list *list, const char *key)
{
    HC_LIST_EACH (node, list) {
        struct piece *piece = HC_CONTAINER(node, struct piece, in_list);

        if (strncmp(piece->key, key, RT_SHARE_TEXT) == 0)
            return piece;
    }
    return NULL;
}

aclError
rt_ipcmem_export(void *ptr, uint64_t size, bool any_pid, char key[65])
{
    struct piece *piece = hc_zalloc(sizeof *piece);
    struct rt_share_token token;
    uint64_t offset = 0;
    aclError rc;
    int fd;

    if (piece == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    fd = rt_arena_fd(ptr, &offset);
    if (fd < 0)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "only memory of aclrtMalloc can be exported, which %p is "
                     "not: export physical memory by its handle",
                     ptr);
    else
        rc = rt_share_export(fd, offset, size, NULL, any_pid, &piece->share);
    if (rc != ACL_SUCCESS) {
        hc_free(piece);
        return rc;
    }
    rt_token_of(&piece->share, &token);
    rt_token_to_text(&token, piece->key);
    memcpy(key, piece->key, RT_SHARE_TEXT);
    pthread_mutex_lock(&lock);
    hc_list_push_back(&exports, &piece->in_list);
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

aclError
rt_ipcmem_allow(const char *key, const int32_t *pids, size_t pid_num)
{
    struct piece *piece;
    aclError rc;

    pthread_mutex_lock(&lock);
    piece = piece_of(&exports, key);
    if (piece == NULL)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "this process exports no memory under that key");
    else
        rc = rt_share_allow(&piece->share, pids, pid_num);
    pthread_mutex_unlock(&lock);
    return rc;
}

static void
unmap(struct piece *piece)
{
    if (piece->pages != NULL)
        munmap(piece->pages, piece->pages_len);
    hc_free(piece);
}

/* Maps the pages that hold what `token` stands for. */
static aclError
map(const struct rt_share_token *token, int32_t device, struct piece **out)
{
    struct piece *piece = hc_zalloc(sizeof *piece);
    struct rt_ticket ticket;
    uint64_t lead;
    void *pages;
    aclError rc;
    int fd;

    if (piece == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    rc = rt_share_open(token, &ticket, &fd);
    if (rc != ACL_SUCCESS) {
        unmap(piece);
        return rc;
    }
    lead = ticket.offset % PAGE;
    piece->pages_len = lead + ticket.size;
    pages = mmap(NULL, piece->pages_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                 (off_t)(ticket.offset - lead));
    if (pages == MAP_FAILED)
        rc = rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot map %llu bytes of process %u: %s",
                     (unsigned long long)ticket.size, token->pid, strerror(errno));
    close(fd);
    if (rc != ACL_SUCCESS) {
        unmap(piece);
        return rc;
    }
    piece->pages = pages;
    piece->share.fd = -1;
    piece->region =
        (struct rt_region){.kind = RT_REGION_MAPPED,
                           .place = RT_PLACE_DEVICE,
                           .device = device,
                           .at = {.start = (uint64_t)(uintptr_t)pages + lead, .len = ticket.size}};
    *out = piece;
    return ACL_SUCCESS;
}

aclError
rt_ipcmem_import(const char *key, int32_t device, void **ptr)
{
    struct rt_share_token token;
    struct piece *piece;
    aclError rc = ACL_SUCCESS;

    if (!rt_token_from_text(key, &token))
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "this is no key of exported memory: pass what "
                                                   "aclrtIpcMemGetExportKey wrote, whole");
    pthread_mutex_lock(&lock);
    piece = piece_of(&imports, key);
    if (piece == NULL) {
        rc = map(&token, device, &piece);
        if (rc == ACL_SUCCESS) {
            memcpy(piece->key, key, strlen(key)); /* fits: rt_token_from_text has seen its end */
            hc_list_push_back(&imports, &piece->in_list);
            (void)rt_region_add(&piece->region); /* fresh pages overlap nothing */
        }
    }
    if (rc == ACL_SUCCESS) {
        piece->imports++;
        *ptr = (void *)(uintptr_t)piece->region.at.start;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

aclError
rt_ipcmem_close(const char *key)
{
    struct piece *piece;

    pthread_mutex_lock(&lock);
    piece = piece_of(&imports, key);
    if (piece != NULL) {
        if (--piece->imports == 0) {
            hc_list_remove(&piece->in_list);
            rt_region_remove(&piece->region);
            unmap(piece);
        }
        pthread_mutex_unlock(&lock);
        return ACL_SUCCESS;
    }
    piece = piece_of(&exports, key);
    if (piece != NULL) {
        hc_list_remove(&piece->in_list);
        rt_share_close(&piece->share);
        hc_free(piece);
    }
    pthread_mutex_unlock(&lock);
    return piece != NULL
               ? ACL_SUCCESS
               : rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "this process has no memory exported or imported under that key");
}
