/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/kernel_lib.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/log.h"
#include "runtime/kernel_elf.h"
#include "runtime/kernel_search.h"
#include "runtime/secverify.h"

/* Host code and kernels define C++ classes of the same name with different layouts, so a kernel's
 * own definitions come first (DEEPBIND). The sanitizers' interceptors cannot live with that. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOAD_MODE (RTLD_LAZY | RTLD_LOCAL)
#else
#define LOAD_MODE (RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

#define ANY_DEVICE (-1)
#define FILES_KEPT_MOST                                                                            \
    16u /* descriptors a debugger may look into; a thousand devices need no more */

/* The bytes of a library. */
struct image {
    struct hc_list link; /* in `images` */
    uint8_t hash[32];    /* of the bytes as they were found */
    uint8_t *bytes;
    size_t len;
    char from[512];
    bool per_device;
};

/* A loaded copy. */
struct copy {
    struct hc_list link; /* in `copies` */
    struct image *image;
    int32_t device; /* ANY_DEVICE: one copy serves all */
    void *library;  /* dlopen's */
    int fd;         /* the file, kept open for a debugger; -1: not kept */
};

/* A search that was made, and its result. */
struct finding {
    struct hc_list link; /* in `findings` */
    char *so;
    char *dir; /* NULL as in the source */
    bool custom, verify;
    struct image *image;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* I1; protects all below */
static struct hc_list images = {&images, &images};
static struct hc_list copies = {&copies, &copies};
static struct hc_list findings = {&findings, &findings};
static uint32_t users;
static uint32_t loads; /* dlopens so far: makes their names differ */
static uint32_t files_kept;

/* ---- images ---- */

static void
image_destroy(struct image *image)
{
    if (image == NULL)
        return;
    hc_list_remove(&image->link);
    hc_free(image->bytes);
    hc_free(image);
}

/* The image of what was found, which it takes over: a new one, or one with the same bytes. */
static struct image *
image_of(struct rt_kernel_found *found)
{
    uint8_t hash[sizeof((struct image *)0)->hash];
    struct image *image;

    crypto_generichash(hash, sizeof hash, found->bytes, found->len, NULL, 0);
    HC_LIST_EACH (node, &images) {
        image = HC_CONTAINER(node, struct image, link);
        if (memcmp(image->hash, hash, sizeof hash) == 0) {
            hc_free(found->bytes);
            return image;
        }
    }
    image = hc_zalloc(sizeof *image);
    if (image == NULL) {
        hc_free(found->bytes);
        return NULL;
    }
    memcpy(image->hash, hash, sizeof hash);
    image->bytes = found->bytes;
    image->len = found->len;
    snprintf(image->from, sizeof image->from, "%s", found->from);
    image->per_device = rt_elf_has_state(image->bytes, image->len);
    rt_elf_make_private(image->bytes, image->len);
    hc_list_push_back(&images, &image->link);
    return image;
}

/* ---- copies ---- */

static int
make_memory_file(const struct image *image, const char *name)
{
    struct rlimit limit;
    size_t done = 0;
    int fd;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < image->len) {
        errno = EFBIG; /* writing would end the process with SIGXFSZ */
        return -1;
    }
    fd = hc_fd_high(memfd_create(name, MFD_CLOEXEC));

    while (fd >= 0 && done < image->len) {
        ssize_t n = write(fd, image->bytes + done, image->len - done);

        if (n < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        done += n < 0 ? 0 : (size_t)n;
    }
    return fd;
}

/*
 * A path of descriptor `fd` that no earlier load used. The loader takes a name it knows for the
 * library it has under that name, and descriptor numbers come back when they are closed. So the
 * path spells the load's number: "./" is a one, "//" a zero, and neither leads anywhere.
 */
static void
spell_path(char *path, size_t len, int fd)
{
    char spelled[2 * 32 + 1], self[32] = "self";
    ssize_t got = readlink("/proc/self", self, sizeof self - 1);

    if (got > 0)
        self[got] = '\0'; /* by number: a debugger that reads the path is another "self" */
    for (unsigned i = 0; i < 32; i++)
        memcpy(spelled + 2 * i, (loads >> i & 1u) != 0 ? "./" : "//", 3);
    loads++;
    snprintf(path, len, "/proc/%s/%sfd/%d", self, spelled, fd);
}

static void *
load(const struct image *image, const char *so, int *kept, char *why, size_t why_len)
{
    void *library = NULL;
    char path[160];
    int fd;

    if (!rt_elf_loadable(image->bytes, image->len)) {
        snprintf(why, why_len,
                 "%s from %s is not a shared object for this machine: build it for "
                 "the host",
                 so, image->from);
        return NULL;
    }
    fd = make_memory_file(image, so);
    if (fd < 0) {
        snprintf(why, why_len, "cannot make a memory file of %zu bytes for %s: %s", image->len, so,
                 strerror(errno));
        return NULL;
    }
    spell_path(path, sizeof path, fd);
    library = dlopen(path, LOAD_MODE);
    if (library == NULL) {
        const char *reason = dlerror();
        const char *colon = reason == NULL ? NULL : strstr(reason, ": ");

        /* What stands before the colon is the spelled path, which helps nobody. */
        snprintf(why, why_len, "%s from %s does not load: %s", so, image->from,
                 access("/proc/self/fd", X_OK) != 0 ? "it is loaded through /proc: mount that"
                 : colon == NULL                    ? "unknown reason"
                                                    : colon + 2);
    }
    if (library != NULL && files_kept < FILES_KEPT_MOST) {
        files_kept++;
        *kept = fd;
    } else {
        close(fd); /* the mapping keeps the code */
    }
    return library;
}

static struct copy *
copy_of(struct image *image, int32_t device, const char *so, char *why, size_t why_len)
{
    int32_t wanted = image->per_device ? device : ANY_DEVICE;
    struct copy *copy;

    HC_LIST_EACH (node, &copies) {
        copy = HC_CONTAINER(node, struct copy, link);
        if (copy->image == image && copy->device == wanted)
            return copy;
    }
    copy = hc_zalloc(sizeof *copy);
    if (copy == NULL) {
        snprintf(why, why_len, "out of host memory");
        return NULL;
    }
    copy->image = image;
    copy->device = wanted;
    copy->fd = -1;
    copy->library = load(image, so, &copy->fd, why, why_len);
    if (copy->library == NULL) {
        hc_free(copy);
        return NULL;
    }
    hc_list_push_back(&copies, &copy->link);
    LOG_INFO(KERNEL, "%s from %s loaded for %s %d", so, image->from,
             wanted == ANY_DEVICE ? "all devices, first" : "device", device);
    return copy;
}

/* ---- findings ---- */

static void
finding_destroy(struct finding *finding)
{
    if (finding == NULL)
        return;
    hc_list_remove(&finding->link);
    hc_free(finding->so);
    hc_free(finding->dir);
    hc_free(finding);
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static struct image *
find_known(const struct rt_kernel_source *source, bool verify)
{
    HC_LIST_EACH (node, &findings) {
        struct finding *finding = HC_CONTAINER(node, struct finding, link);

        if (finding->verify == verify && finding->custom == source->custom &&
            same_text(finding->so, source->so) && same_text(finding->dir, source->dir))
            return finding->image;
    }
    return NULL;
}

/* Without memory for it the next one searches again: no harm. */
static void
remember(const struct rt_kernel_source *source, bool verify, struct image *image)
{
    struct finding *finding = hc_zalloc(sizeof *finding);

    if (finding == NULL)
        return;
    finding->so = hc_strdup(source->so);
    finding->dir = source->dir == NULL ? NULL : hc_strdup(source->dir);
    if (finding->so == NULL || (source->dir != NULL && finding->dir == NULL)) {
        finding_destroy(finding);
        return;
    }
    finding->custom = source->custom;
    finding->verify = verify;
    finding->image = image;
    hc_list_push_back(&findings, &finding->link);
}

static struct image *
find(const struct rt_kernel_source *source, int32_t device, char *why, size_t why_len)
{
    bool verify = rt_secverify_on(device);
    struct rt_kernel_found found = {0};
    struct image *image = NULL;

    if (source->bytes == NULL)
        image = find_known(source, verify);
    if (image != NULL ||
        rt_kernel_search(source, device, verify, &found, why, why_len) != ACL_SUCCESS)
        return image;
    image = image_of(&found);
    if (image == NULL)
        snprintf(why, why_len, "out of host memory");
    else if (source->bytes == NULL)
        remember(source, verify, image);
    return image;
}

/* ---- users ---- */

void
rt_kernel_lib_hold(void)
{
    pthread_mutex_lock(&lock);
    users++;
    pthread_mutex_unlock(&lock);
}

void
rt_kernel_lib_release(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0) {
        HC_LIST_EACH_SAFE (node, &findings)
            finding_destroy(HC_CONTAINER(node, struct finding, link));
        HC_LIST_EACH_SAFE (node, &copies) {
            struct copy *copy = HC_CONTAINER(node, struct copy, link);

            hc_list_remove(&copy->link);
            dlclose(copy->library);
            if (copy->fd >= 0)
                close(copy->fd);
            hc_free(copy);
        }
        files_kept = 0;
        HC_LIST_EACH_SAFE (node, &images)
            image_destroy(HC_CONTAINER(node, struct image, link));
    }
    pthread_mutex_unlock(&lock);
}

aclError
rt_kernel_lib_symbol(const struct rt_kernel_source *source, int32_t device, const char *symbol,
                     void **address, char *why, size_t why_len)
{
    struct image *image;
    struct copy *copy = NULL;
    void *found = NULL;

    why[0] = '\0';
    /* I1. No rt_block_begin(): a thread that is added for this wait would only wait here too. */
    pthread_mutex_lock(&lock);
    image = find(source, device, why, why_len);
    if (image != NULL)
        copy = copy_of(image, device, source->so, why, why_len);
    if (copy != NULL) {
        found = dlsym(copy->library, symbol);
        if (found == NULL)
            snprintf(why, why_len, "%s from %s has no function %s: export it with C linkage",
                     source->so, image->from, symbol);
    }
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return ACL_ERROR_RT_AICPU_EXCEPTION;
    *address = found;
    return ACL_SUCCESS;
}

uint32_t
rt_kernel_lib_copies(void)
{
    uint32_t count = 0;

    pthread_mutex_lock(&lock);
    HC_LIST_EACH (node, &copies)
        count++;
    pthread_mutex_unlock(&lock);
    return count;
}
