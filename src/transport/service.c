/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/service.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "transport/sock.h"

#define EVENTS 64
#define NS_PER_MS 1000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* starting */
static atomic_bool started;                              /* set once, after the descriptors */
static int epoll_fd = -1;
static int wake_fd = -1;
static struct hc_list buried = {&buried, &buried}; /* the thread's own */
static _Thread_local bool here;

void
service_wake(void)
{
    uint64_t one = 1;
    int cancel;

    if (!atomic_load(&started) || hc_in_forked_child())
        return;
    cancel = hc_cancel_off();
    while (write(wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        ; /* EAGAIN: it is being woken already */
    hc_cancel_restore(cancel);
}

bool
service_here(void)
{
    return here;
}

static int
control(struct service_watch *watch, int op, bool writing)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (writing ? EPOLLOUT : 0u),
                                .data.ptr = watch};

    return epoll_ctl(epoll_fd, op, watch->fd, &event) == 0 ? 0 : errno;
}

int
service_watch(struct service_watch *watch, bool writing)
{
    return control(watch, EPOLL_CTL_ADD, writing);
}

int
service_rewatch(struct service_watch *watch, bool writing)
{
    return control(watch, EPOLL_CTL_MOD, writing);
}

void
service_pause(struct service_watch *watch)
{
    (void)control(watch, EPOLL_CTL_DEL, false);
}

int
service_take_fd(struct service_watch *watch)
{
    int fd = watch->fd;

    /* Not left to close(): a copy of it in a child that is about to exec would keep it watched. */
    if (fd >= 0)
        service_pause(watch);
    watch->fd = -1;
    return fd;
}

void
service_close(struct service_watch *watch)
{
    hc_fd_close(service_take_fd(watch));
}

void
service_bury(struct service_watch *watch)
{
    if (!hc_list_linked(&watch->in_buried))
        hc_list_push_back(&buried, &watch->in_buried);
}

static void
read_wakes(void)
{
    uint64_t count;

    while (read(wake_fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
}

static uint64_t
sooner(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static void
bury_all(void)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&buried)) != NULL) {
        struct service_watch *watch = HC_CONTAINER(node, struct service_watch, in_buried);

        watch->on_bury(watch);
    }
}

/* Between two rounds of events, the last of which began at `round_ns`. How long epoll_wait may
 * sleep. */
static int
tend_all(uint64_t round_ns)
{
    uint64_t next_ns =
        sooner(sooner(link_tend(round_ns), listen_tend(round_ns)), lobby_tend(round_ns));
    uint64_t now_ns = hc_now_ns();

    bury_all();
    if (next_ns == HC_FOREVER)
        return -1;
    return next_ns <= now_ns ? 0 : (int)sooner((next_ns - now_ns) / NS_PER_MS + 1, 60000);
}

static void *
serve(void *unused)
{
    struct epoll_event events[EVENTS];
    uint64_t round_ns = hc_now_ns();

    (void)unused;
    here = true;
    for (;;) {
        int sleep_ms = tend_all(round_ns), num;

        round_ns = hc_now_ns(); /* V3 */
        num = epoll_wait(epoll_fd, events, EVENTS, sleep_ms);

        for (int i = 0; i < num; i++) {
            struct service_watch *watch = events[i].data.ptr;

            if (watch == NULL)
                read_wakes();
            else if (watch->fd >= 0) /* V1 */
                watch->on_event(watch);
        }
    }
    return NULL;
}

/* Under lock. What was made before a failure stays for the next try. */
static HcclResult
start(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    char text[SOCK_TROUBLE_LEN];
    int error = 0;

    hc_fork_watch();
    if (sodium_init() < 0) {
        LOG_ERROR(SHM, "libsodium does not start: no source of random numbers?");
        return HCCL_E_SYSCALL;
    }
    if (epoll_fd < 0)
        epoll_fd = hc_fd_epoll();
    if (epoll_fd >= 0 && wake_fd < 0)
        wake_fd = hc_fd_event();
    if (epoll_fd < 0 || wake_fd < 0 ||
        (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event) != 0 && errno != EEXIST))
        error = errno;
    else
        error = hc_thread_start(serve, NULL);
    if (error == 0) {
        atomic_store(&started, true);
        return HCCL_SUCCESS;
    }
    LOG_ERROR(SHM, "cannot start the thread that talks to other processes of this host: %s",
              sock_trouble(error, text, sizeof text));
    return HCCL_E_SYSCALL;
}

HcclResult
service_start(void)
{
    HcclResult rc = HCCL_SUCCESS;
    int cancel;

    if (atomic_load_explicit(&started, memory_order_acquire))
        return HCCL_SUCCESS;
    cancel = hc_cancel_off();
    pthread_mutex_lock(&lock);
    if (!atomic_load(&started))
        rc = start();
    pthread_mutex_unlock(&lock);
    hc_cancel_restore(cancel);
    return rc;
}
