/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_files: the peer's shared files, and what of them is mapped here.
 *
 * A file is mapped in windows of whole WINDOW pieces, since how much of it is used is the peer's
 * business, and address space for a file of a thousand devices may not be there. The oldest window
 * that covers a place serves it, so a place keeps its address while it is mapped. A region that
 * crosses the border of a window gets one of its own. Windows of the first files stay. One of
 * another file, which the peer may have given up, goes with its last use: it keeps memory.
 *
 * M1  A file is mapped only if it cannot shrink (seals), lies in memory, and reaches as far as the
 *     mapping: else touching it could be SIGBUS.
 * M2  The peer's process passes a file only when asked, but for the first ones of each process:
 *     what comes unasked is dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/thread.h"
#include "transport/host.h"
#include "transport/link_private.h"
#include "transport/sock.h"

#define WINDOW (1ull << 30)
#define FIRST_FILES 2 /* passed at once: memory of devices; pinned memory, if some is described */
#define ASK_MS 2000

/* ---- files ---- */

/* Under link->lock. */
static struct link_file *
find_file(struct shm_link *link, uint64_t number)
{
    HC_LIST_EACH (node, &link->files) {
        struct link_file *file = HC_CONTAINER(node, struct link_file, in_files);

        if (file->number == number)
            return file;
    }
    return NULL;
}

/* Under link->lock. NULL: no memory (logged). */
static struct link_file *
add_file(struct shm_link *link, uint64_t number, enum file_state state, int fd)
{
    struct link_file *file = hc_zalloc(sizeof *file);

    if (file == NULL)
        return NULL;
    hc_keep(file); /* P4 */
    file->number = number;
    file->state = state;
    file->fd = fd;
    hc_list_push_back(&link->files, &file->in_files);
    return file;
}

static void
free_file(struct link_file *file)
{
    hc_list_remove(&file->in_files);
    sock_drop(file->fd);
    hc_unkeep(file);
    hc_free(file);
}

/* M1 */
static bool
is_fit(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct statfs fs;

    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstatfs(fd, &fs) == 0 &&
           (unsigned long)fs.f_type == TMPFS_MAGIC;
}

static void
take_segment(struct shm_link *link, int fd)
{
    if (link->step == STEP_FILES && link->segment == NULL && fd >= 0) {
        link->segment = segment_map(fd, link->process);
        if (link->segment == NULL)
            link_end(link, LINK_REFUSED);
    }
    sock_drop(fd);
}

void
files_take(struct shm_link *link, uint64_t number, int fd)
{
    bool fit = fd >= 0 && is_fit(fd), first;
    struct link_file *file;

    if (number == 0) {
        take_segment(link, fd);
        return;
    }
    first = link->step == STEP_FILES && number <= FIRST_FILES;
    pthread_mutex_lock(&link->lock);
    file = find_file(link, number);
    if (file == NULL && first && fit)
        file = add_file(link, number, FILE_WANTED, -1);
    if (file != NULL && file->state == FILE_WANTED) {
        file->state = fit ? FILE_HERE : FILE_NONE;
        file->fd = fit ? fd : -1;
        fd = fit ? -1 : fd;
    }
    pthread_mutex_unlock(&link->lock);
    sock_drop(fd); /* M2 */
    link_news(link);
}

void
files_none(struct shm_link *link, uint64_t number)
{
    struct link_file *file;

    pthread_mutex_lock(&link->lock);
    file = find_file(link, number);
    if (file != NULL && file->state == FILE_WANTED)
        file->state = FILE_NONE;
    pthread_mutex_unlock(&link->lock);
    link_news(link);
}

/* false: there is no such file. */
static bool
pass(struct shm_link *link, uint64_t number)
{
    struct wire_file message = {.number = number};
    uint64_t len;
    int fd = host_get()->file(number, &len);

    if (fd < 0)
        return false;
    (void)link_put(link, LINK_MSG_FILE, &message, sizeof message, fd);
    sock_drop(fd); /* the host gave us one of our own: its memory may be freed meanwhile */
    return true;
}

void
files_wanted(struct shm_link *link, uint64_t number)
{
    struct wire_file message = {.number = number};

    if (number == 0 || !pass(link, number))
        (void)link_put(link, LINK_MSG_FILE_NONE, &message, sizeof message, -1);
}

void
files_pass(struct shm_link *link)
{
    struct wire_file message = {.number = 0};
    struct shm_segment *own;
    int fd;

    if (segment_own(&own, &fd) == HCCL_SUCCESS)
        (void)link_put(link, LINK_MSG_FILE, &message, sizeof message, fd);
    for (uint64_t number = 1; number <= FIRST_FILES; number++)
        (void)pass(link, number);
}

void
files_close(struct shm_link *link)
{
    HC_LIST_EACH_SAFE (node, &link->files) {
        struct link_file *file = HC_CONTAINER(node, struct link_file, in_files);

        if (file->waiters == 0)
            free_file(file);
    }
    HC_LIST_EACH (node, &link->windows)
        hc_unkeep(HC_CONTAINER(node, struct link_window, in_windows));
}

static void
drop_window(struct link_window *window)
{
    (void)munmap(window->addr, window->len);
    hc_free(window);
}

void
files_fini(struct shm_link *link)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&link->windows)) != NULL) {
        struct link_window *window = HC_CONTAINER(node, struct link_window, in_windows);

        drop_window(window);
    }
}

/* ---- windows ---- */

/* Used once more. Under link->lock. NULL: no window covers it. */
static uint8_t *
find_window(struct shm_link *link, const struct tp_place *place, uint64_t len)
{
    HC_LIST_EACH (node, &link->windows) {
        struct link_window *window = HC_CONTAINER(node, struct link_window, in_windows);

        if (window->file != place->file || place->offset < window->offset || len > window->len ||
            place->offset - window->offset > window->len - len)
            continue;
        window->uses++;
        return window->addr + (place->offset - window->offset);
    }
    return NULL;
}

static HcclResult
no_place(const struct shm_link *link, const struct tp_place *place, uint64_t len, const char *why)
{
    char who[LINK_TEXT_LEN];

    LOG_ERROR(SHM, "%llu bytes at %llu of file %llu of %s cannot be reached: %s",
              (unsigned long long)len, (unsigned long long)place->offset,
              (unsigned long long)place->file, link_text(link, who, sizeof who), why);
    return HCCL_E_PARA;
}

/* A window for the place, of a file that is here. Under link->lock. */
static HcclResult
add_window(struct shm_link *link, struct link_file *file, const struct tp_place *place,
           uint64_t len, uint8_t **addr)
{
    uint64_t first = place->offset / WINDOW * WINDOW, end = place->offset + len;
    struct link_window *window;
    struct stat st;
    void *mapped;

    if (file->fd < 0 || fstat(file->fd, &st) != 0 || end > (uint64_t)st.st_size)
        return no_place(link, place, len, "the file is shorter");
    end = (end + WINDOW - 1) / WINDOW * WINDOW;
    end = end < (uint64_t)st.st_size ? end : (uint64_t)st.st_size;
    window = hc_zalloc(sizeof *window);
    if (window == NULL)
        return HCCL_E_MEMORY;
    mapped = mmap(NULL, end - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file->fd,
                  (off_t)first);
    if (mapped == MAP_FAILED) {
        (void)no_place(link, place, len, strerror(errno));
        hc_free(window);
        return HCCL_E_MEMORY;
    }
    (void)madvise(mapped, end - first, MADV_DONTDUMP); /* a core file would create every page */
    *window = (struct link_window){
        .file = place->file, .offset = first, .len = end - first, .addr = mapped, .uses = 1};
    hc_keep(window); /* P4 */
    hc_list_push_back(&link->windows, &window->in_windows);
    if (window->len == (uint64_t)st.st_size) { /* nothing is left to map: spare the descriptor */
        sock_drop(file->fd);
        file->fd = -1;
    }
    *addr = window->addr + (place->offset - first);
    return HCCL_SUCCESS;
}

/* Until the file is no longer WANTED. Unlocks and locks. */
static void
await_file(struct shm_link *link, struct link_file *file)
{
    uint64_t deadline_ns = hc_deadline_ms(ASK_MS);

    file->waiters++;
    while (file->state == FILE_WANTED && link_state(link) == LINK_UP && hc_now_ns() < deadline_ns) {
        uint32_t seen = atomic_load(&link->news);

        pthread_mutex_unlock(&link->lock);
        hc_futex_wait(&link->news, seen, deadline_ns);
        pthread_mutex_lock(&link->lock);
    }
    file->waiters--;
}

/* Asks for the file if it must. Under link->lock, which it gives up meanwhile. */
static HcclResult
get_file(struct shm_link *link, const struct tp_place *place, uint64_t len, struct link_file **out)
{
    struct wire_file want = {.number = place->file};
    struct link_file *file = find_file(link, place->file);
    HcclResult rc = HCCL_SUCCESS;
    bool ask = file == NULL;

    if (ask && service_here()) /* which would have to read the answer */
        return no_place(link, place, len, "the file has not been passed");
    if (ask && (file = add_file(link, place->file, FILE_WANTED, -1)) == NULL)
        return HCCL_E_MEMORY;
    if (ask) {
        file->waiters++; /* stays while the lock is given up */
        pthread_mutex_unlock(&link->lock);
        rc = link_put(link, LINK_MSG_FILE_WANT, &want, sizeof want, -1);
        pthread_mutex_lock(&link->lock);
        file->waiters--;
    }
    if (rc == HCCL_SUCCESS && file->state == FILE_WANTED && !service_here())
        await_file(link, file);
    if (rc == HCCL_SUCCESS && link_state(link) != LINK_UP)
        rc = HCCL_E_REMOTE;
    if (rc == HCCL_SUCCESS && file->state != FILE_HERE)
        rc = no_place(link, place, len,
                      file->state == FILE_NONE ? "the process has no such file"
                                               : "the process does not answer: is it stopped?");
    if (rc == HCCL_SUCCESS)
        *out = file;
    else if (file->waiters == 0 && (file->state != FILE_HERE || rc == HCCL_E_REMOTE))
        free_file(file); /* files_close left it to its last waiter */
    return rc;
}

HcclResult
link_map(struct shm_link *link, const struct tp_place *place, uint64_t len, void **addr)
{
    uint8_t *found;
    struct link_file *file = NULL;
    HcclResult rc = HCCL_SUCCESS;
    int cancel;

    len = len == 0 ? 1 : len;
    if (place->file == 0 || place->offset + len < len || place->offset + len > INT64_MAX)
        return no_place(link, place, len, "there is no such place");
    cancel = hc_cancel_off();
    pthread_mutex_lock(&link->lock);
    found = find_window(link, place, len);
    if (found == NULL) {
        rc = link_state(link) == LINK_UP ? get_file(link, place, len, &file) : HCCL_E_REMOTE;
        if (rc == HCCL_SUCCESS)
            found = find_window(link, place, len); /* somebody else was faster */
        if (rc == HCCL_SUCCESS && found == NULL)
            rc = add_window(link, file, place, len, &found);
    }
    pthread_mutex_unlock(&link->lock);
    hc_cancel_restore(cancel);
    if (rc == HCCL_SUCCESS)
        *addr = found;
    return rc;
}

/* The window that `addr` lies in, if this was its last use and nothing keeps it: taken out. Under
 * link->lock. */
static struct link_window *
end_use(struct shm_link *link, const void *addr)
{
    HC_LIST_EACH (node, &link->windows) {
        struct link_window *window = HC_CONTAINER(node, struct link_window, in_windows);
        const struct link_file *file;

        if ((uintptr_t)addr - (uintptr_t)window->addr >= window->len)
            continue;
        file = find_file(link, window->file);
        if (--window->uses > 0 || window->file <= FIRST_FILES ||
            (file != NULL && file->waiters > 0)) /* they rely on finding the file or a window */
            return NULL;
        hc_list_remove(node);
        return window;
    }
    return NULL;
}

/* If no window of the file is left, it is asked for again when it must. Under link->lock. */
static void
forget_file(struct shm_link *link, uint64_t number)
{
    struct link_file *file = find_file(link, number);

    HC_LIST_EACH (node, &link->windows) {
        if (HC_CONTAINER(node, struct link_window, in_windows)->file == number)
            return;
    }
    if (file != NULL)
        free_file(file);
}

void
link_unmap(struct shm_link *link, void *addr)
{
    int cancel = hc_cancel_off();
    struct link_window *window;

    pthread_mutex_lock(&link->lock);
    window = end_use(link, addr);
    if (window != NULL && link_state(link) != LINK_GONE) /* files_close has seen to it */
        hc_unkeep(window);
    if (window != NULL)
        forget_file(link, window->file);
    pthread_mutex_unlock(&link->lock);
    if (window != NULL)
        drop_window(window);
    hc_cancel_restore(cancel);
}
