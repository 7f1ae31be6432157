/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/knobs.h"
#include "base/log.h"
#include "runtime/range_alloc.h"

#define PAGE 4096u
#define GIVE_BACK (64u << 10) /* pages of freed memory go back to the system from this size on */
#define MIB 20
#define DEVICE_FILE 1u /* numbers of the shared files */
#define HOST_FILE 2u

struct arena {
    pthread_mutex_t lock;    /* protects what follows, except `usable` and reading `freed` */
    _Atomic(char *) usable;  /* first byte for blocks, once mapped; NULL before */
    _Atomic uint64_t freed;  /* how many blocks have been freed so far */
    struct rt_ranges ranges; /* offsets from `usable` */
    uint64_t elsewhere;      /* bytes charged by rt_arena_charge */
};

/* A block that the calling thread has looked up: it stands as long as nothing has been freed. To
 * ask the ranges, under their lock, takes as long as all the rest of a small transfer. */
struct seen {
    const struct arena *arena;
    uint64_t freed;
    char *base;
    uint64_t size;
};
static _Thread_local struct seen seen[2]; /* source and destination */
static _Thread_local unsigned seen_next;

/* One file with its reservation. All but the arenas is constant once `ready`. */
struct store {
    atomic_bool ready;
    atomic_bool described; /* something in it, to another process; relaxed */
    const char *name;
    enum hc_knob knob;
    uint64_t head; /* bytes in front of an arena's blocks */
    int fd;
    char *base; /* the reservation: `arena_num` times `capacity` bytes */
    uint64_t capacity;
    uint32_t arena_num;
    struct arena *arenas; /* [arena_num], in pages that appear when touched */
};

static pthread_mutex_t setup_lock =
    PTHREAD_MUTEX_INITIALIZER; /* makes a store ready, maps arenas */
static struct store device_store = {
    .name = "hcomm-device", .knob = KNOB_DEVICE_MEMORY, .head = RT_NOTIFY_AREA};
static struct store host_store = {.name = "hcomm-host", .knob = KNOB_HOST_MEMORY};

/* ---- set-up ---- */

static aclError
no_store(const struct store *store, const char *what)
{
    return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                   "cannot %s for the %u MiB x %u of %s: %s; lower %s or raise the process' limits",
                   what, (unsigned)(store->capacity >> MIB), store->arena_num, store->name,
                   strerror(errno), hc_knob_info(store->knob)->env);
}

/* A file that grows beyond the limit (ulimit -f) ends the process with SIGXFSZ: ask first. */
static aclError
check_file_limit(const struct store *store, uint64_t len)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= len)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                   "the limit of file sizes is %llu MiB, but %s needs %u MiB x %u: run `ulimit -f "
                   "unlimited` before, or lower %s",
                   (unsigned long long)limit.rlim_cur >> MIB, store->name,
                   (unsigned)(store->capacity >> MIB), store->arena_num,
                   hc_knob_info(store->knob)->env);
}

/* Under setup_lock. On failure nothing is left. */
static aclError
store_open(struct store *store)
{
    uint64_t len = store->capacity * store->arena_num;
    size_t table = store->arena_num * sizeof *store->arenas;
    void *reserved = MAP_FAILED, *arenas;
    aclError rc = check_file_limit(store, len);

    if (rc != ACL_SUCCESS)
        return rc;
    store->fd = hc_fd_high(memfd_create(store->name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (store->fd < 0)
        return no_store(store, "create a memory file");
    if (ftruncate(store->fd, (off_t)len) != 0 ||
        fcntl(store->fd, F_ADD_SEALS, RT_ARENA_SEALS) != 0) {
        rc = no_store(store, "size the memory file");
        goto fail;
    }
    reserved = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        rc = no_store(store, "reserve address space");
        goto fail;
    }
    arenas = mmap(NULL, table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (arenas == MAP_FAILED) {
        rc = no_store(store, "get the bookkeeping");
        goto fail;
    }
    store->base = reserved;
    store->arenas = arenas;
    return ACL_SUCCESS;

fail:
    if (reserved != MAP_FAILED)
        munmap(reserved, len);
    close(store->fd);
    return rc;
}

static aclError
store_ready(struct store *store)
{
    aclError rc = ACL_SUCCESS;
    int64_t mib = 0;

    if (atomic_load_explicit(&store->ready, memory_order_acquire))
        return ACL_SUCCESS;
    pthread_mutex_lock(&setup_lock);
    if (!atomic_load_explicit(&store->ready, memory_order_relaxed)) {
        (void)hc_knob_int(store->knob, &mib); /* an invalid value is logged, the default counts */
        store->capacity = (uint64_t)mib << MIB;
        store->arena_num = store == &host_store ? 1 : rt_device_count();
        rc = store->arena_num > 0 ? store_open(store)
                                  : rt_fail(ACL_ERROR_RT_NO_DEVICE,
                                            "this process has no device: see "
                                            "HCOMM_DEVICE_COUNT and ASCEND_RT_VISIBLE_DEVICES");
        if (rc == ACL_SUCCESS)
            atomic_store_explicit(&store->ready, true, memory_order_release); /* I1 */
    }
    pthread_mutex_unlock(&setup_lock);
    return rc;
}

/* Maps the arena's part of the file over the reservation. Under setup_lock. */
static aclError
arena_map(struct store *store, uint32_t index)
{
    struct arena *arena = &store->arenas[index];
    uint64_t at = index * store->capacity;
    void *mapped = mmap(store->base + at, store->capacity, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED | MAP_NORESERVE, store->fd, (off_t)at);

    if (mapped == MAP_FAILED)
        return no_store(store, "map the memory");
    /* Writing a core file would touch, and so create, every page of the capacity. */
    (void)madvise(mapped, store->capacity, MADV_DONTDUMP);
    pthread_mutex_init(&arena->lock, NULL);
    rt_ranges_init(&arena->ranges, store->capacity - store->head);
    atomic_store_explicit(&arena->usable, store->base + at + store->head, memory_order_release);
    return ACL_SUCCESS;
}

/* The arena of a device (or of pinned memory), mapped. */
static aclError
arena_of(int32_t device, struct arena **arena)
{
    struct store *store = device == RT_ARENA_HOST ? &host_store : &device_store;
    uint32_t index = device == RT_ARENA_HOST ? 0 : (uint32_t)device;
    aclError rc = store_ready(store);

    if (rc != ACL_SUCCESS)
        return rc;
    if (index >= store->arena_num)
        return rt_fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is no device %d: pass 0 to %u", device,
                       store->arena_num - 1);
    *arena = &store->arenas[index];
    if (atomic_load_explicit(&(*arena)->usable, memory_order_acquire) != NULL)
        return ACL_SUCCESS;
    pthread_mutex_lock(&setup_lock);
    if (atomic_load_explicit(&(*arena)->usable, memory_order_relaxed) == NULL)
        rc = arena_map(store, index);
    pthread_mutex_unlock(&setup_lock);
    return rc;
}

/* The store and mapped arena an address lies in. The range's device is set, -1 for pinned. */
static struct arena *
arena_at(const void *ptr, struct store **store, int32_t *device)
{
    struct store *stores[] = {&device_store, &host_store};

    for (int i = 0; i < 2; i++) {
        uint64_t at, index;

        if (!atomic_load_explicit(&stores[i]->ready, memory_order_acquire))
            continue;
        at = (uint64_t)(uintptr_t)ptr - (uint64_t)(uintptr_t)stores[i]->base;
        index = at / stores[i]->capacity;
        if (index >= stores[i]->arena_num)
            continue;
        *store = stores[i];
        *device = i == 1 ? RT_ARENA_HOST : (int32_t)index;
        return &stores[i]->arenas[index];
    }
    return NULL;
}

/* ---- cleaning ---- */

/* Makes [from, to) read as zeros; whole pages of a large piece go back to the system. */
static void
clean(struct store *store, char *from, char *to)
{
    uintptr_t first = ((uintptr_t)from + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t last = (uintptr_t)to & ~(uintptr_t)(PAGE - 1);
    char *pages = from + (first - (uintptr_t)from);
    char *pages_end = to - ((uintptr_t)to - last);

    if (to <= from)
        return;
    if (to - from < (ptrdiff_t)GIVE_BACK ||
        fallocate(store->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, pages - store->base,
                  pages_end - pages) != 0) {
        memset(from, 0, (size_t)(to - from));
        return;
    }
    memset(from, 0, (size_t)(pages - from));
    memset(pages_end, 0, (size_t)(to - pages_end));
}

/* ---- blocks ---- */

static uint64_t
arena_free_bytes(const struct arena *arena)
{
    return arena->ranges.free_bytes > arena->elsewhere ? arena->ranges.free_bytes - arena->elsewhere
                                                       : 0;
}

static aclError
arena_full(int32_t device, uint64_t size, uint64_t free_bytes, uint64_t largest)
{
    if (device == RT_ARENA_HOST)
        return rt_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION,
            "out of pinned host memory: %llu bytes asked, %llu free (largest piece %llu); "
            "free some or raise HCOMM_HOST_MEMORY",
            (unsigned long long)size, (unsigned long long)free_bytes, (unsigned long long)largest);
    return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                   "out of memory on device %d: %llu bytes asked, %llu free (largest piece %llu); "
                   "free some or raise HCOMM_DEVICE_MEMORY",
                   device, (unsigned long long)size, (unsigned long long)free_bytes,
                   (unsigned long long)largest);
}

aclError
rt_arena_alloc(int32_t device, uint64_t size, void **ptr)
{
    uint64_t offset = 0, free_bytes, largest = 0;
    struct rt_extent dirty = {0, 0};
    enum rt_take took = RT_TAKE_NO_ROOM;
    struct arena *arena;
    char *usable;
    aclError rc = arena_of(device, &arena);

    if (rc != ACL_SUCCESS)
        return rc;
    if (size == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "cannot allocate 0 bytes: ask for at least 1");
    pthread_mutex_lock(&arena->lock);
    free_bytes = arena_free_bytes(arena);
    if (size <= free_bytes)
        took = rt_ranges_take(&arena->ranges, size, &offset, &dirty);
    if (took == RT_TAKE_NO_ROOM)
        largest = rt_ranges_largest(&arena->ranges);
    pthread_mutex_unlock(&arena->lock);
    if (took == RT_TAKE_NO_ROOM)
        return arena_full(device, size, free_bytes, largest < free_bytes ? largest : free_bytes);
    if (took == RT_TAKE_NO_MEMORY)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    usable = atomic_load_explicit(&arena->usable, memory_order_relaxed);
    clean(device == RT_ARENA_HOST ? &host_store : &device_store, usable + dirty.from,
          usable + dirty.to); /* I3 */
    *ptr = usable + offset;
    return ACL_SUCCESS;
}

/* Why `ptr` cannot be freed; under no lock. */
static aclError
free_refused(const void *ptr, bool host, const char *function)
{
    const char *want = host ? "aclrtMallocHost" : "aclrtMalloc";
    struct rt_range range;

    rt_mem_find(ptr, &range);
    if (range.place == RT_PLACE_PAGEABLE)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p was not allocated by this library",
                       function, ptr);
    if ((range.place == RT_PLACE_HOST) != host)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is %s memory: free it with %s", function,
                       ptr, host ? "device" : "host", host ? "aclrtFree" : "aclrtFreeHost");
    if (range.size == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: no allocation is at %p: freed already?",
                       function, ptr);
    if (range.base != ptr)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: %p lies inside the allocation at %p: pass its start", function, ptr,
                       range.base);
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p was not allocated by %s", function, ptr,
                   want);
}

aclError
rt_arena_free(void *ptr, bool host, const char *function)
{
    struct rt_block *block = NULL;
    struct store *store = NULL;
    struct arena *arena;
    int32_t device = 0;
    char *usable = NULL;
    bool large;

    arena = arena_at(ptr, &store, &device);
    if (arena != NULL && (store == &host_store) == host)
        usable = atomic_load_explicit(&arena->usable, memory_order_acquire);
    if (usable != NULL && (char *)ptr >= usable) {
        pthread_mutex_lock(&arena->lock);
        block = rt_ranges_give(&arena->ranges, (uint64_t)((char *)ptr - usable));
        if (block != NULL)
            atomic_fetch_add_explicit(&arena->freed, 1, memory_order_release);
        pthread_mutex_unlock(&arena->lock);
    }
    if (block == NULL)
        return free_refused(ptr, host, function);
    large = block->at.len >= GIVE_BACK; /* dying: nobody else changes it */
    if (large)
        clean(store, ptr, (char *)ptr + block->at.len);
    pthread_mutex_lock(&arena->lock);
    block = rt_ranges_given(&arena->ranges, block, large);
    if (block->dirty_to - block->dirty_from >= GIVE_BACK && block->dirty_from < block->dirty_to) {
        clean(store, usable + block->dirty_from, usable + block->dirty_to); /* many small ones */
        block->dirty_from = block->dirty_to = 0;
    }
    pthread_mutex_unlock(&arena->lock);
    return ACL_SUCCESS;
}

static bool
find_seen(const struct arena *arena, const void *ptr, struct rt_range *range)
{
    uint64_t freed = atomic_load_explicit(&arena->freed, memory_order_acquire);

    for (int i = 0; i < 2; i++) {
        if (seen[i].arena == arena && seen[i].freed == freed &&
            (uint64_t)((const char *)ptr - seen[i].base) < seen[i].size) {
            range->base = seen[i].base;
            range->size = seen[i].size;
            return true;
        }
    }
    return false;
}

bool
rt_arena_find(const void *ptr, struct rt_range *range)
{
    struct store *store = NULL;
    int32_t device = 0;
    struct arena *arena = arena_at(ptr, &store, &device);
    const struct rt_block *block;
    char *usable;

    if (arena == NULL)
        return false;
    *range = (struct rt_range){.place = device == RT_ARENA_HOST ? RT_PLACE_HOST : RT_PLACE_DEVICE,
                               .device = device == RT_ARENA_HOST ? 0 : device};
    usable = atomic_load_explicit(&arena->usable, memory_order_acquire);
    if (usable == NULL)
        return true;
    if ((const char *)ptr < usable) { /* the notify page area */
        range->base = usable - store->head;
        range->size = store->head;
        return true;
    }
    if (find_seen(arena, ptr, range))
        return true;
    pthread_mutex_lock(&arena->lock);
    block = rt_ranges_find(&arena->ranges, (uint64_t)((const char *)ptr - usable));
    if (block != NULL && block->state == RT_BLOCK_USED &&
        (uint64_t)((const char *)ptr - usable) - block->at.start < block->asked) {
        range->base = usable + block->at.start;
        range->size = block->asked;
        seen[seen_next++ % 2] =
            (struct seen){arena, atomic_load_explicit(&arena->freed, memory_order_relaxed),
                          range->base, range->size};
    }
    pthread_mutex_unlock(&arena->lock);
    return true;
}

/* ---- capacity, notify words, descriptors ---- */

aclError
rt_arena_usage(int32_t device, uint64_t *free_bytes, uint64_t *total)
{
    struct arena *arena;
    aclError rc = arena_of(device, &arena);

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&arena->lock);
    *free_bytes = arena_free_bytes(arena);
    pthread_mutex_unlock(&arena->lock);
    *total = device == RT_ARENA_HOST ? host_store.capacity : device_store.capacity - RT_NOTIFY_AREA;
    return ACL_SUCCESS;
}

aclError
rt_arena_charge(int32_t device, uint64_t size)
{
    struct arena *arena;
    uint64_t free_bytes;
    aclError rc = arena_of(device, &arena);

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&arena->lock);
    free_bytes = arena_free_bytes(arena);
    if (size <= free_bytes)
        arena->elsewhere += size;
    pthread_mutex_unlock(&arena->lock);
    return size <= free_bytes ? ACL_SUCCESS : arena_full(device, size, free_bytes, free_bytes);
}

void
rt_arena_discharge(int32_t device, uint64_t size)
{
    struct arena *arena = &device_store.arenas[device]; /* it was charged, so it is there */

    pthread_mutex_lock(&arena->lock);
    arena->elsewhere -= size;
    pthread_mutex_unlock(&arena->lock);
}

aclError
rt_arena_notify_words(int32_t device, _Atomic uint64_t **base, uint32_t *count)
{
    struct arena *arena;
    aclError rc;

    if (device < 0)
        return rt_fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is no device %d", device);
    rc = arena_of(device, &arena);
    if (rc != ACL_SUCCESS)
        return rc;
    *base =
        (_Atomic uint64_t *)(void *)(atomic_load_explicit(&arena->usable, memory_order_relaxed) -
                                     RT_NOTIFY_AREA);
    *count = RT_NOTIFY_AREA / RT_NOTIFY_STRIDE;
    return ACL_SUCCESS;
}

int
rt_arena_fd(const void *ptr, uint64_t *offset)
{
    struct store *store = NULL;
    int32_t device;

    if (arena_at(ptr, &store, &device) == NULL)
        return -1;
    *offset = (uint64_t)((const char *)ptr - store->base);
    return store->fd;
}

bool
rt_arena_place(const void *ptr, uint64_t len, uint64_t *file, uint64_t *offset)
{
    struct store *store = NULL;
    int32_t device;
    struct arena *arena = arena_at(ptr, &store, &device);
    uint64_t at;

    if (arena == NULL || atomic_load_explicit(&arena->usable, memory_order_acquire) == NULL)
        return false;
    at = (uint64_t)((const char *)ptr - store->base);
    if (len > store->capacity - at % store->capacity)
        return false;
    *file = store == &device_store ? DEVICE_FILE : HOST_FILE;
    *offset = at;
    atomic_store_explicit(&store->described, true, memory_order_relaxed);
    return true;
}

int
rt_arena_file(uint64_t file, uint64_t *len, bool *known)
{
    const struct store *store = file == DEVICE_FILE ? &device_store : &host_store;

    *known = (file == DEVICE_FILE || file == HOST_FILE) &&
             atomic_load_explicit(&store->ready, memory_order_acquire) &&
             (file == DEVICE_FILE || atomic_load_explicit(&store->described, memory_order_relaxed));
    if (!*known)
        return -1;
    *len = store->capacity * store->arena_num;
    return fcntl(store->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}
