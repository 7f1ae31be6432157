/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path: which way foreign memory is reached.
 *
 * Both ways give the same bytes, so this is advice about time. Small transfers go by cma where it
 * is allowed: it needs no thread of the peer. Which way is faster for large ones depends on kernel,
 * cores and caches, so the first large transfers of the process go part one way, part the other,
 * until each has been measured a few times; the best time per byte decides, once.
 */
#include "transport/path.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/knobs.h"
#include "base/log.h"
#include "transport/cma.h"
#include "transport/transport.h"

#define LARGE ((uint64_t)256 << 10) /* below, the peer's thread costs more than it saves */
#define SAMPLES 4u                  /* of each way, and one before that warms up */

static const char *const names[] = {"bounce", "cma", "undecided"}; /* as enum path */

enum choice { CHOICE_AUTO, CHOICE_BOUNCE, CHOICE_CMA }; /* as knobs.def lists them */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static uint32_t samples[2];                              /* under lock */
static double best[2];                                   /* ns for each byte; under lock */
static atomic_int pinned = CHOICE_AUTO;                  /* enum choice */
static atomic_int decided = PATH_UNDECIDED;              /* enum path; changes once */
static atomic_int forbidden;                             /* why cma is, in this process; 0: not */
static atomic_bool told;                                 /* path_no_cma has said it */

static void
probe(void)
{
    atomic_store(&forbidden, cma_probe());
}

HcclResult
path_init(void)
{
    int choice, error;
    HcclResult rc = hc_knob_enum(KNOB_FOREIGN, &choice);

    if (rc != HCCL_SUCCESS)
        return rc;
    atomic_store(&pinned, choice);
    if (choice == CHOICE_BOUNCE)
        return HCCL_SUCCESS;
    (void)pthread_once(&once, probe);
    error = atomic_load(&forbidden);
    if (error != 0 && choice == CHOICE_AUTO)
        path_no_cma(error);
    return HCCL_SUCCESS;
}

int
path_forbidden(void)
{
    return atomic_load_explicit(&forbidden, memory_order_relaxed);
}

bool
path_is_pinned_to_cma(void)
{
    return atomic_load_explicit(&pinned, memory_order_relaxed) == CHOICE_CMA;
}

enum path
path_for(uint64_t len)
{
    int choice = atomic_load_explicit(&pinned, memory_order_relaxed);

    if (choice != CHOICE_AUTO)
        return choice == CHOICE_CMA ? PATH_CMA : PATH_BOUNCE;
    if (path_forbidden() != 0)
        return PATH_BOUNCE;
    if (len < LARGE)
        return PATH_CMA;
    return (enum path)atomic_load_explicit(&decided, memory_order_relaxed);
}

enum path
path_next(void)
{
    enum path next;

    pthread_mutex_lock(&lock);
    next = (enum path)atomic_load(&decided);
    if (next == PATH_UNDECIDED)
        next = samples[PATH_BOUNCE] <= samples[PATH_CMA] ? PATH_BOUNCE : PATH_CMA;
    pthread_mutex_unlock(&lock);
    return next;
}

/* Under lock. */
static void
decide(void)
{
    enum path faster = best[PATH_CMA] < best[PATH_BOUNCE] ? PATH_CMA : PATH_BOUNCE;

    atomic_store(&decided, (int)faster);
    LOG_INFO(SHM,
             "large transfers of memory in no shared file go by %s: cma moves %.1f GB/s, bounce "
             "%.1f GB/s",
             names[faster], 1 / best[PATH_CMA], 1 / best[PATH_BOUNCE]);
}

void
path_measured(enum path path, uint64_t len, uint64_t ns)
{
    double each = (double)(ns == 0 ? 1 : ns) / (double)len;

    pthread_mutex_lock(&lock);
    samples[path]++;
    if (samples[path] == 2 || (samples[path] > 2 && each < best[path])) /* the first warms up */
        best[path] = each;
    if (atomic_load(&decided) == PATH_UNDECIDED && samples[PATH_BOUNCE] > SAMPLES &&
        samples[PATH_CMA] > SAMPLES)
        decide();
    pthread_mutex_unlock(&lock);
}

void
path_no_cma(int error)
{
    if (!atomic_exchange(&told, true))
        LOG_INFO(SHM,
                 "process_vm_readv and process_vm_writev are not possible (%s), so memory in no "
                 "shared file goes by bounce",
                 strerror(error));
}

const char *
tp_shm_foreign_path(void)
{
    enum path path;
    int choice;

    if (path_init() != HCCL_SUCCESS)
        return names[PATH_UNDECIDED];
    choice = atomic_load(&pinned);
    if (choice != CHOICE_AUTO)
        return choice == CHOICE_CMA ? names[PATH_CMA] : names[PATH_BOUNCE];
    path = (enum path)atomic_load(&decided);
    if (path_forbidden() != 0 || (path == PATH_UNDECIDED && atomic_load(&told)))
        path = PATH_BOUNCE;
    return names[path];
}
