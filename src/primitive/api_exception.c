/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks for tasks of threads that fail. The runtime tells of every failed task; those whose
 * stream belongs to a thread are passed on. Which channel a task used is not known here.
 *
 * `lock` protects the table. Callbacks run without it, from a copy, so that they may register and
 * unregister; one that is unregistered while a failure is told may still be called.
 */
#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "hcomm/hcomm_exception.h"
#include "resource/resource.h"

#define LISTENERS_MOST 64u

struct listener {
    HcommExceptionCallback callback;
    void *user_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* no other is taken under it */
static struct listener listeners[LISTENERS_MOST];
static uint32_t listener_num;

static void
tell(aclrtExceptionInfo *failed)
{
    HcommExceptionInfo info = {.header = {.version = 1, .size = sizeof info},
                               .taskId = aclrtGetTaskIdFromExceptionInfo(failed),
                               .retCode = aclrtGetErrorCodeFromExceptionInfo(failed),
                               .expandInfo = {.type = HCOMM_EXCEPTION_INVALID}};
    struct listener copy[LISTENERS_MOST];
    uint32_t num;

    info.thread = res_thread_of_stream(aclrtGetStreamIdFromExceptionInfo(failed));
    if (info.thread == 0)
        return;
    pthread_mutex_lock(&lock);
    num = listener_num;
    memcpy(copy, listeners, num * sizeof copy[0]);
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < num; i++)
        copy[i].callback(&info, copy[i].user_data);
}

/* Its place, or listener_num; under the lock. */
static uint32_t
find(HcommExceptionCallback callback)
{
    uint32_t i = 0;

    while (i < listener_num && listeners[i].callback != callback)
        i++;
    return i;
}

int32_t
HcommExceptionRegisterCallback(HcommExceptionCallback cb, void *userData)
{
    bool room;
    uint32_t i;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (cb == NULL)
        return res_null(__func__, "cb");
    if (aclrtExceptionInfoCallbackRegister(tell) != ACL_SUCCESS) /* a second time changes nothing */
        return HCCL_E_RUNTIME;
    pthread_mutex_lock(&lock);
    i = find(cb);
    room = i < LISTENERS_MOST;
    if (room)
        listeners[i] = (struct listener){.callback = cb, .user_data = userData};
    if (room && i == listener_num)
        listener_num++;
    pthread_mutex_unlock(&lock);
    if (room)
        return HCCL_SUCCESS;
    LOG_ERROR(PRIM, "%s: %u callbacks are registered already: unregister some", __func__,
              LISTENERS_MOST);
    return HCCL_E_UNAVAIL;
}

int32_t
HcommExceptionUnregisterCallback(HcommExceptionCallback cb)
{
    bool found;
    uint32_t i;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    pthread_mutex_lock(&lock);
    i = find(cb);
    found = i < listener_num;
    if (found) {
        listener_num--;
        memmove(&listeners[i], &listeners[i + 1], (listener_num - i) * sizeof listeners[0]);
    }
    pthread_mutex_unlock(&lock);
    if (found)
        return HCCL_SUCCESS;
    LOG_ERROR(PRIM, "%s: this callback is not registered", __func__);
    return HCCL_E_NOT_FOUND;
}
