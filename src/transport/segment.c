/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "transport/host.h"
#include "transport/lease.h"
#include "transport/numbers.h"
#include "transport/sock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* making it; the slots */
static _Atomic(struct shm_segment *) own;                /* set once, under lock */
static int own_fd = -1;                                  /* set before `own` */
static uint32_t next_free[SEGMENT_SLOTS];                /* under lock */
static struct numbers slots = {.next = next_free, .most = SEGMENT_SLOTS};
static uint32_t generations[SEGMENT_SLOTS]; /* kept here, where no peer can write; by the holder */

static void *
map_fd(int fd)
{
    void *mapped = mmap(NULL, sizeof(struct shm_segment), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (mapped != MAP_FAILED) /* a core file would touch, and so create, every page */
        (void)madvise(mapped, sizeof(struct shm_segment), MADV_DONTDUMP);
    return mapped;
}

/* Under lock. */
static HcclResult
make(void)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    struct shm_segment *segment = MAP_FAILED;
    struct rlimit limit;
    char text[SOCK_TROUBLE_LEN];
    int fd, error;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof *segment) {
        LOG_ERROR(SHM,
                  "the limit of file sizes is %llu KiB, but other processes look at %zu KiB of "
                  "memory: run `ulimit -f unlimited` before",
                  (unsigned long long)limit.rlim_cur >> 10, sizeof *segment >> 10);
        return HCCL_E_SYSCALL; /* ftruncate would send SIGXFSZ */
    }
    fd = hc_fd_high(memfd_create("hcomm-control", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd >= 0 && ftruncate(fd, sizeof *segment) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0)
        segment = map_fd(fd);
    if (segment == MAP_FAILED) {
        error = errno;
        LOG_ERROR(SHM, "cannot make the %zu KiB that other processes look at: %s",
                  sizeof *segment >> 10, sock_trouble(error, text, sizeof text));
        if (fd >= 0)
            close(fd);
        return error == ENOMEM ? HCCL_E_MEMORY : HCCL_E_SYSCALL;
    }
    segment->magic = SEGMENT_MAGIC;
    segment->version = SEGMENT_VERSION;
    segment->process = hc_process_id();
    lease_show(segment);
    own_fd = fd;
    atomic_store_explicit(&own, segment, memory_order_release);
    host_get()->watch(&segment->bell);
    return HCCL_SUCCESS;
}

HcclResult
segment_own(struct shm_segment **segment, int *fd)
{
    HcclResult rc = HCCL_SUCCESS;

    if (atomic_load_explicit(&own, memory_order_acquire) == NULL) {
        int cancel = hc_cancel_off();

        pthread_mutex_lock(&lock);
        if (atomic_load_explicit(&own, memory_order_relaxed) == NULL)
            rc = make();
        pthread_mutex_unlock(&lock);
        hc_cancel_restore(cancel);
    }
    if (rc != HCCL_SUCCESS)
        return rc;
    *segment = atomic_load_explicit(&own, memory_order_acquire);
    *fd = own_fd;
    return HCCL_SUCCESS;
}

/* What is wrong with a file that a peer passed as its segment; NULL: nothing. */
static const char *
fault_of(int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        return "it may shrink"; /* and touching it would be SIGBUS then */
    if (fstat(fd, &st) != 0 || st.st_size != (off_t)sizeof(struct shm_segment))
        return "its size is wrong";
    return NULL;
}

struct shm_segment *
segment_map(int fd, uint64_t process)
{
    const char *fault = fault_of(fd);
    struct shm_segment *segment;

    if (fault == NULL) {
        segment = map_fd(fd);
        if (segment == MAP_FAILED) {
            fault = strerror(errno);
        } else if (segment->magic == SEGMENT_MAGIC && segment->version == SEGMENT_VERSION &&
                   segment->process == process) {
            return segment;
        } else {
            segment_unmap(segment);
            fault = "its head is wrong";
        }
    }
    hc_log_elsewhere("SHM", __FILE__, __LINE__, "cannot use the segment of process %016llx: %s",
                     (unsigned long long)process, fault);
    return NULL;
}

void
segment_unmap(struct shm_segment *segment)
{
    if (segment != NULL)
        (void)munmap(segment, sizeof *segment);
}

/* ---- slots ---- */

static struct shm_slot *
own_slot(uint32_t slot)
{
    return &atomic_load_explicit(&own, memory_order_acquire)->slots[slot];
}

uint32_t
segment_slot_take(uint32_t *generation)
{
    struct shm_segment *segment;
    struct shm_slot *taken;
    uint32_t slot;
    int fd;

    if (segment_own(&segment, &fd) != HCCL_SUCCESS)
        return UINT32_MAX;
    pthread_mutex_lock(&lock);
    slot = numbers_take(&slots);
    pthread_mutex_unlock(&lock);
    if (slot == NUMBERS_NONE) {
        LOG_ERROR(SHM, "%u connections to other processes are open, and there is no room for more",
                  SEGMENT_SLOTS);
        return UINT32_MAX;
    }
    taken = own_slot(slot);
    *generation = generations[slot];
    memset(taken->why, 0, sizeof taken->why);
    atomic_store(&taken->inside, 0);
    atomic_store(&taken->leased[0], 0);
    atomic_store(&taken->leased[1], 0);
    atomic_store(&taken->state, (*generation << 8) | SLOT_OPEN);
    return slot;
}

void
segment_slot_give(uint32_t slot)
{
    struct shm_slot *given = own_slot(slot);

    generations[slot] = (generations[slot] + 1) & 0xFFFFFFu; /* G2 */
    atomic_store(&given->state, (generations[slot] << 8) | SLOT_FREE);
    pthread_mutex_lock(&lock);
    numbers_give(&slots, slot);
    pthread_mutex_unlock(&lock);
}
