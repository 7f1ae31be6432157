/* SPDX-License-Identifier: BSD-3-Clause */
/* Physical memory and its handles; mappings are in vmm_map.c. The invariants are in vmm.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "runtime/arena.h"
#include "runtime/vmm_impl.h"

#define SMALL_PAGE 4096u
#define HUGE_PAGE (2u << 20)
#define HUGE1G_PAGE (1u << 30)

static void physical_fini(void *obj);

static struct hc_table physical_table =
    HC_TABLE("physical memory", HC_KIND_PHYSICAL, physical_fini);

pthread_mutex_t rt_vmm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hc_list exported; /* of struct rt_physical, by in_exported; under rt_vmm_lock */
static struct hc_list all = {&all, &all}; /* of struct rt_physical, by in_all; under rt_vmm_lock */
static uint64_t next_file = RT_ARENA_FILES; /* under rt_vmm_lock */

uint64_t
rt_vmm_granularity(aclrtMemAttr attr, bool on_device)
{
    switch (attr) {
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL: /* the hardware has no small pages there */
        return on_device ? HUGE_PAGE : 0;
    case ACL_HBM_MEM_HUGE1G:
        return on_device ? HUGE1G_PAGE : 0;
    case ACL_DDR_MEM_HUGE:
    case ACL_DDR_MEM_P2P_HUGE:
        return on_device ? 0 : HUGE_PAGE;
    case ACL_DDR_MEM_NORMAL:
    case ACL_DDR_MEM_P2P_NORMAL:
        return on_device ? 0 : SMALL_PAGE;
    case ACL_MEM_NORMAL:
    case ACL_MEM_P2P_NORMAL:
        return SMALL_PAGE;
    case ACL_MEM_HUGE:
    case ACL_MEM_P2P_HUGE:
        return HUGE_PAGE;
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_HUGE1G:
        return HUGE1G_PAGE;
    default:
        return 0;
    }
}

/* ---- life ---- */

void
rt_physical_hold(struct rt_physical *physical)
{
    atomic_fetch_add_explicit(&physical->refs, 1, memory_order_relaxed);
}

void
rt_physical_release(struct rt_physical *physical)
{
    if (atomic_fetch_sub_explicit(&physical->refs, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_lock(&rt_vmm_lock);
    hc_list_remove(&physical->in_all);
    pthread_mutex_unlock(&rt_vmm_lock);
    if (physical->fd >= 0)
        close(physical->fd);
    if (physical->charged)
        rt_arena_discharge((int32_t)physical->prop.location.id, physical->size);
    hc_free(physical);
}

static void
physical_fini(void *obj)
{
    rt_physical_release(obj);
}

bool
rt_physical_on_device(const struct rt_physical *physical)
{
    return physical->prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

/* A handle of its own for physical memory that has none. Under rt_vmm_lock or before anybody else
 * knows the object. */
static aclError
physical_open(struct rt_physical *physical)
{
    rt_physical_hold(physical);
    physical->handle = hc_handle_open(&physical_table, physical);
    if (physical->handle == 0) {
        rt_physical_release(physical);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    physical->user_refs = 1;
    return ACL_SUCCESS;
}

/* Gives it a number, unless it is another process' memory that others could shrink. */
static void
share_file(struct rt_physical *physical)
{
    int seals = fcntl(physical->fd, F_GET_SEALS);

    pthread_mutex_lock(&rt_vmm_lock);
    if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0)
        physical->file = next_file++;
    hc_list_push_back(&all, &physical->in_all);
    pthread_mutex_unlock(&rt_vmm_lock);
}

int
rt_vmm_file(uint64_t file, uint64_t *len, bool *known)
{
    int fd = -1;

    *known = false;
    pthread_mutex_lock(&rt_vmm_lock);
    HC_LIST_EACH (node, &all) {
        struct rt_physical *physical = HC_CONTAINER(node, struct rt_physical, in_all);

        if (physical->file != file || !physical->described)
            continue;
        *known = true;
        *len = physical->size;
        /* Its own may be closed at any moment. */
        fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        break;
    }
    pthread_mutex_unlock(&rt_vmm_lock);
    return fd;
}

/* Takes over `fd`, also when it fails. */
static aclError
physical_new(int fd, uint64_t size, const aclrtPhysicalMemProp *prop, bool imported,
             aclrtDrvMemHandle *handle)
{
    struct rt_physical *physical = hc_zalloc(sizeof *physical);
    aclError rc;

    if (physical == NULL) {
        close(fd);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    physical->fd = fd;
    physical->size = size;
    physical->prop = *prop;
    physical->imported = imported;
    physical->share.fd = -1;
    atomic_init(&physical->refs, 1);
    share_file(physical);
    rc = ACL_SUCCESS;
    if (!imported && rt_physical_on_device(physical)) {
        rc = rt_arena_charge((int32_t)prop->location.id, size);
        physical->charged = rc == ACL_SUCCESS;
    }
    if (rc == ACL_SUCCESS)
        rc = physical_open(physical);
    if (rc == ACL_SUCCESS)
        *handle = (aclrtDrvMemHandle)(uintptr_t)physical->handle;
    rt_physical_release(physical); /* the handle has its own */
    return rc;
}

aclError
rt_vmm_create(uint64_t size, const aclrtPhysicalMemProp *prop, aclrtDrvMemHandle *handle)
{
    struct rlimit limit;
    int fd;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                       "physical memory of %llu bytes is above the limit of file sizes: run "
                       "`ulimit -f unlimited` before",
                       (unsigned long long)size); /* ftruncate would send SIGXFSZ */
    fd = hc_fd_high(memfd_create("hcomm-physical", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0)
        return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no descriptor for physical memory: %s",
                       strerror(errno));
    if (size > INT64_MAX || ftruncate(fd, (off_t)size) != 0 ||
        fcntl(fd, F_ADD_SEALS, RT_ARENA_SEALS) != 0) {
        close(fd);
        return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "physical memory cannot have %llu bytes",
                       (unsigned long long)size);
    }
    return physical_new(fd, size, prop, false, handle);
}

aclError
rt_physical_get(aclrtDrvMemHandle handle, struct rt_physical **physical)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;

    *physical = hc_handle_hold(&physical_table, number);
    if (*physical == NULL)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "%p is not a live handle of physical memory: it is %s", handle,
                       hc_handle_guess(&physical_table, number));
    return ACL_SUCCESS;
}

void
rt_physical_put(aclrtDrvMemHandle handle)
{
    hc_handle_release(&physical_table, (uint64_t)(uintptr_t)handle);
}

aclError
rt_vmm_free(aclrtDrvMemHandle handle)
{
    struct rt_physical *physical;
    aclError rc = rt_physical_get(handle, &physical);

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&rt_vmm_lock);
    if (physical->user_refs > 0 && --physical->user_refs == 0) { /* I3 */
        if (physical->share.fd >= 0)
            hc_list_remove(&physical->in_exported);
        rt_share_close(&physical->share);
        (void)hc_handle_close(&physical_table, (uint64_t)(uintptr_t)handle);
    }
    pthread_mutex_unlock(&rt_vmm_lock);
    rt_physical_put(handle);
    return ACL_SUCCESS;
}

aclError
rt_vmm_prop(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop)
{
    struct rt_physical *physical;
    aclError rc = rt_physical_get(handle, &physical);

    if (rc != ACL_SUCCESS)
        return rc;
    *prop = physical->prop;
    rt_physical_put(handle);
    return ACL_SUCCESS;
}

aclError
rt_physical_retain(struct rt_physical *physical, aclrtDrvMemHandle *handle)
{
    aclError rc = ACL_SUCCESS;

    if (physical->user_refs > 0) /* I3 */
        physical->user_refs++;
    else
        rc = physical_open(physical);
    if (rc == ACL_SUCCESS)
        *handle = (aclrtDrvMemHandle)(uintptr_t)physical->handle;
    return rc;
}

/* ---- export and import ---- */

/* Under rt_vmm_lock. */
static aclError
export_locked(struct rt_physical *physical, bool any_pid, struct rt_share_token *token)
{
    aclError rc;

    if (physical->imported)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "imported memory cannot be exported again: let its owner export it");
    if (physical->share.fd >= 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "this physical memory is exported already: use the first token");
    rc = rt_share_export(physical->fd, 0, physical->size, &physical->prop, any_pid,
                         &physical->share);
    if (rc != ACL_SUCCESS)
        return rc;
    if (exported.next == NULL)
        hc_list_init(&exported);
    hc_list_push_back(&exported, &physical->in_exported);
    rt_token_of(&physical->share, token);
    return ACL_SUCCESS;
}

aclError
rt_vmm_export(aclrtDrvMemHandle handle, bool any_pid, struct rt_share_token *token)
{
    struct rt_physical *physical;
    aclError rc = rt_physical_get(handle, &physical);

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&rt_vmm_lock);
    if (physical->user_refs > 0)
        rc = export_locked(physical, any_pid, token);
    else
        rc = rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is being freed", handle);
    pthread_mutex_unlock(&rt_vmm_lock);
    rt_physical_put(handle);
    return rc;
}

aclError
rt_vmm_import(const struct rt_share_token *token, int32_t device, aclrtDrvMemHandle *handle)
{
    aclrtPhysicalMemProp prop;
    struct rt_ticket ticket;
    aclError rc;
    int fd;

    if (token->pid == (uint32_t)getpid())
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "memory cannot be imported by the process that exported it: use its handle");
    rc = rt_share_open(token, &ticket, &fd);
    if (rc != ACL_SUCCESS)
        return rc;
    prop = ticket.prop;
    if (prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE)
        prop.location.id = (uint32_t)device;
    return physical_new(fd, ticket.size, &prop, true, handle);
}

aclError
rt_vmm_allow_pids(const struct rt_share_token *token, const int32_t *pids, size_t pid_num)
{
    struct rt_physical *found = NULL;
    aclError rc;

    pthread_mutex_lock(&rt_vmm_lock);
    if (exported.next != NULL) {
        HC_LIST_EACH (node, &exported) {
            struct rt_physical *physical = HC_CONTAINER(node, struct rt_physical, in_exported);

            if (rt_share_is(&physical->share, token))
                found = physical;
        }
    }
    if (found == NULL)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "this process exports nothing under that token");
    else
        rc = rt_share_allow(&found->share, pids, pid_num);
    pthread_mutex_unlock(&rt_vmm_lock);
    return rc;
}
