/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/callbacks.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "comm/comm_object.h"

#define CALLBACKS 64 /* a library registers one */

struct entry {
    char name[CALLBACK_NAME_MOST + 1];
    HcclCommStateCallback callback; /* NULL: the entry is free */
    void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[CALLBACKS]; /* in order of registration; under `lock` */

HcclResult
callbacks_set(const char *name, HcclCommStateCallback callback, void *arg)
{
    HcclResult rc = HCCL_SUCCESS;
    int i = 0;

    pthread_mutex_lock(&lock);
    while (i < CALLBACKS && entries[i].callback != NULL && strcmp(entries[i].name, name) != 0)
        i++;
    if (i < CALLBACKS) {
        snprintf(entries[i].name, sizeof entries[i].name, "%s", name);
        entries[i].callback = callback;
        entries[i].arg = arg;
    } else {
        rc = HCCL_E_UNAVAIL;
    }
    pthread_mutex_unlock(&lock);
    if (rc != HCCL_SUCCESS)
        LOG_ERROR(COMM, "cannot register callback \"%s\": %d are registered, that is the most",
                  name, CALLBACKS);
    return rc;
}

HcclResult
callbacks_run(HcclComm handle, int phase)
{
    for (int i = 0; i < CALLBACKS; i++) {
        struct entry entry;
        HcclResult rc;

        pthread_mutex_lock(&lock);
        entry = entries[i];
        pthread_mutex_unlock(&lock);
        if (entry.callback == NULL)
            break; /* entries are never taken out */
        rc = entry.callback(handle, (HcclCommStatePhase)phase,
                            entry.arg); /* no lock: it may call in */
        if (rc != HCCL_SUCCESS) {
            LOG_ERROR(COMM, "callback \"%s\" answered %d in phase %d", entry.name, rc, phase);
            return rc;
        }
    }
    return HCCL_SUCCESS;
}
