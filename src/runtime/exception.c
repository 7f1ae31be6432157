/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks live in tables of fixed size: a process registers a handful, at start-up.
 *
 * I1  `lock` protects the tables. Callbacks run without it, from a copy, so that they may register
 *     and remove; one that is removed while a failure is being reported may still be called.
 */
#define _GNU_SOURCE
#include "runtime/exception.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLBACK_MAX 64u
#define MODULE_MAX 32u
#define MODULE_NAME_LEN 64

struct module {
    char name[MODULE_NAME_LEN];
    rtTaskFailCallback callback;
};

static struct {
    aclrtExceptionInfoCallback old; /* the slot of aclrtSetExceptionInfoCallback */
    aclrtExceptionInfoCallback registered[CALLBACK_MAX];
    uint32_t registered_num;
    struct module modules[MODULE_MAX];
    uint32_t module_num;
} listeners;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
rt_exception_report(uint32_t device, uint32_t stream, uint32_t task, aclError code)
{
    aclrtExceptionInfoCallback calls[1 + CALLBACK_MAX + MODULE_MAX];
    rtExceptionInfo_t info = {.taskid = task,
                              .streamid = stream,
                              .tid = (uint32_t)syscall(SYS_gettid),
                              .deviceid = device,
                              .retcode = (uint32_t)code};
    uint32_t num = 0;

    pthread_mutex_lock(&lock);
    if (listeners.old != NULL)
        calls[num++] = listeners.old;
    for (uint32_t i = 0; i < listeners.registered_num; i++)
        calls[num++] = listeners.registered[i];
    for (uint32_t i = 0; i < listeners.module_num; i++)
        calls[num++] = listeners.modules[i].callback;
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < num; i++)
        calls[i](&info);
}

/* Place in `registered`, or its length; under lock. */
static uint32_t
find_callback(aclrtExceptionInfoCallback callback)
{
    uint32_t i = 0;

    while (i < listeners.registered_num && listeners.registered[i] != callback)
        i++;
    return i;
}

aclError
rt_exception_add(aclrtExceptionInfoCallback callback)
{
    bool room = true;

    pthread_mutex_lock(&lock);
    if (find_callback(callback) == listeners.registered_num) {
        room = listeners.registered_num < CALLBACK_MAX;
        if (room)
            listeners.registered[listeners.registered_num++] = callback;
    }
    pthread_mutex_unlock(&lock);
    if (!room)
        return rt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                       "%u exception callbacks are registered already: unregister some",
                       CALLBACK_MAX);
    return ACL_SUCCESS;
}

aclError
rt_exception_remove(aclrtExceptionInfoCallback callback)
{
    bool found;
    uint32_t i;

    pthread_mutex_lock(&lock);
    i = find_callback(callback);
    found = i < listeners.registered_num;
    if (found) {
        listeners.registered_num--;
        memmove(&listeners.registered[i], &listeners.registered[i + 1],
                (listeners.registered_num - i) * sizeof listeners.registered[0]);
    }
    pthread_mutex_unlock(&lock);
    if (!found)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "this exception callback is not registered");
    return ACL_SUCCESS;
}

void
rt_exception_set(aclrtExceptionInfoCallback callback)
{
    pthread_mutex_lock(&lock);
    listeners.old = callback;
    pthread_mutex_unlock(&lock);
}

/* Sets, replaces or removes; false: no room. Under lock. */
static bool
set_module(const char *name, rtTaskFailCallback callback)
{
    uint32_t i = 0;

    while (i < listeners.module_num && strcmp(listeners.modules[i].name, name) != 0)
        i++;
    if (callback == NULL) {
        if (i < listeners.module_num)
            listeners.modules[i] = listeners.modules[--listeners.module_num];
        return true;
    }
    if (i == MODULE_MAX)
        return false;
    if (i == listeners.module_num) {
        memcpy(listeners.modules[i].name, name, strlen(name) + 1);
        listeners.module_num++;
    }
    listeners.modules[i].callback = callback;
    return true;
}

aclError
rt_exception_set_module(const char *module, rtTaskFailCallback callback)
{
    bool room;

    if (strnlen(module, MODULE_NAME_LEN) == MODULE_NAME_LEN)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "rtRegTaskFailCallbackByModule: module name \"%.32s...\" is longer than %d "
                       "bytes",
                       module, MODULE_NAME_LEN - 1);
    pthread_mutex_lock(&lock);
    room = set_module(module, callback);
    pthread_mutex_unlock(&lock);
    if (!room)
        return rt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                       "rtRegTaskFailCallbackByModule: %u modules are registered already",
                       MODULE_MAX);
    return ACL_SUCCESS;
}
