/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory: a communicator's buffer, the memory it was told of, and its workspaces.
 *
 * Communicators of one device that were given the same hcclBufferName share one buffer; it goes
 * with the last of them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"
#include "transport/transport.h"

struct comm_buffer {
    struct hc_list in_shared;          /* under shared_lock */
    uint32_t refs;                     /* under shared_lock */
    char name[BUFFER_NAME_MAX_LENGTH]; /* "": private */
    int32_t device;
    void *addr;
    uint64_t size;
};

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER; /* taken after a communicator's */
static struct hc_list shared = {&shared, &shared};              /* under shared_lock */

/* ---- The buffer ---- */

static struct comm_buffer *
shared_find(const char *name, int32_t device)
{
    HC_LIST_EACH (node, &shared) {
        struct comm_buffer *buffer = HC_CONTAINER(node, struct comm_buffer, in_shared);

        if (buffer->device == device && strcmp(buffer->name, name) == 0)
            return buffer;
    }
    return NULL;
}

static HcclResult
buffer_new(const struct comm *comm, uint64_t size, struct comm_buffer **out)
{
    struct comm_buffer *buffer = hc_zalloc(sizeof *buffer);

    if (buffer == NULL)
        return HCCL_E_MEMORY;
    buffer->refs = 1;
    buffer->device = comm->device;
    buffer->size = size;
    memcpy(buffer->name, comm->config.hcclBufferName, sizeof buffer->name);
    if (rt_mem_alloc(comm->device, size, &buffer->addr) != ACL_SUCCESS) {
        hc_free(buffer);
        return HCCL_E_OOM; /* the runtime has said how much is left */
    }
    *out = buffer;
    return HCCL_SUCCESS;
}

static HcclResult
buffer_shared(const struct comm *comm, uint64_t size, struct comm_buffer **out)
{
    const char *name = comm->config.hcclBufferName;
    struct comm_buffer *buffer;
    HcclResult rc = HCCL_SUCCESS;

    pthread_mutex_lock(&shared_lock);
    buffer = shared_find(name, comm->device);
    if (buffer != NULL && buffer->size < size) {
        LOG_ERROR(COMM,
                  "%s: the buffer \"%s\" is shared and has %llu bytes, %llu are asked for: give "
                  "all communicators that share it one hcclBufferSize",
                  comm->name, name, (unsigned long long)buffer->size, (unsigned long long)size);
        rc = HCCL_E_PARA;
    } else if (buffer != NULL) {
        buffer->refs++;
    } else {
        rc = buffer_new(comm, size, &buffer);
        if (rc == HCCL_SUCCESS)
            hc_list_push_back(&shared, &buffer->in_shared);
    }
    pthread_mutex_unlock(&shared_lock);
    if (rc == HCCL_SUCCESS)
        *out = buffer;
    return rc;
}

static void
buffer_release(struct comm_buffer *buffer)
{
    bool last;

    if (buffer == NULL)
        return;
    pthread_mutex_lock(&shared_lock);
    last = --buffer->refs == 0;
    if (last)
        hc_list_remove(&buffer->in_shared);
    pthread_mutex_unlock(&shared_lock);
    if (!last)
        return;
    (void)rt_mem_free(buffer->addr);
    hc_free(buffer);
}

HcclResult
comm_buffer(struct comm *comm, void **addr, uint64_t *size)
{
    uint64_t want = 2ull * comm->config.hcclBufferSize * 1024u * 1024u;
    HcclResult rc = HCCL_SUCCESS;

    pthread_mutex_lock(&comm->lock);
    if (comm->buffer == NULL && comm->config.hcclBufferName[0] != '\0')
        rc = buffer_shared(comm, want, &comm->buffer);
    else if (comm->buffer == NULL)
        rc = buffer_new(comm, want, &comm->buffer);
    if (rc == HCCL_SUCCESS) {
        *addr = comm->buffer->addr;
        *size = comm->buffer->size;
    }
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

/* ---- Tagged memory ---- */

static struct comm_memory *
find_tag(struct hc_list *list, const char *tag)
{
    HC_LIST_EACH (node, list) {
        struct comm_memory *memory = HC_CONTAINER(node, struct comm_memory, in_comm);

        if (strcmp(memory->tag, tag) == 0)
            return memory;
    }
    return NULL;
}

static struct comm_memory *
memory_new(const char *tag, const CommMem *mem)
{
    struct comm_memory *memory = hc_zalloc(sizeof *memory);

    if (memory == NULL)
        return NULL;
    memory->mem = *mem;
    memcpy(memory->tag, tag, strlen(tag)); /* checked to fit */
    return memory;
}

static void
memory_free(struct comm_memory *memory)
{
    tp_lease_end(memory->lease);
    if (memory->owned)
        (void)rt_mem_free(memory->mem.addr);
    hc_free(memory);
}

/* Memory that peers may reach until the communicator ends: the interface has no call that takes it
 * back. */
static HcclResult
memory_offer(const char *tag, const CommMem *mem, struct comm_memory **out)
{
    struct comm_memory *memory = memory_new(tag, mem);

    if (memory == NULL)
        return HCCL_E_MEMORY;
    if (tp_lease_begin(&memory->lease) != HCCL_SUCCESS) {
        hc_free(memory);
        return HCCL_E_MEMORY;
    }
    *out = memory;
    return HCCL_SUCCESS;
}

HcclResult
memory_register(struct comm *comm, const char *tag, const CommMem *mem, void **handle)
{
    struct comm_memory *memory;
    HcclResult rc = memory_offer(tag, mem, &memory);
    bool taken;

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&comm->lock);
    taken = find_tag(&comm->memories, tag) != NULL;
    if (!taken)
        hc_list_push_back(&comm->memories, &memory->in_comm);
    pthread_mutex_unlock(&comm->lock);
    if (taken) {
        LOG_ERROR(COMM, "%s: memory is registered under tag \"%s\" already: choose another tag",
                  comm->name, tag);
        memory_free(memory);
        return HCCL_E_PARA;
    }
    *handle = memory;
    return HCCL_SUCCESS;
}

HcclResult
memory_region(struct comm *comm, const void *handle, struct res_region *region)
{
    bool found = false;

    pthread_mutex_lock(&comm->lock);
    HC_LIST_EACH (node, &comm->memories) /* compared, not followed: it may be anything */
    {
        const struct comm_memory *memory = HC_CONTAINER(node, struct comm_memory, in_comm);

        if (memory == handle) {
            region->mem = memory->mem;
            region->lease = memory->lease;
            memcpy(region->tag, memory->tag, sizeof memory->tag);
            found = true;
        }
    }
    pthread_mutex_unlock(&comm->lock);
    if (found)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: %p is no memory of this communicator: take it from HcclCommMemReg",
              comm->name, handle);
    return HCCL_E_PARA;
}

/* Under the lock. */
static HcclResult
workspace_new(struct comm *comm, const char *tag, uint64_t size, struct comm_memory **out)
{
    CommMem mem = {.type = COMM_MEM_TYPE_DEVICE, .size = size};
    struct comm_memory *memory = memory_new(tag, &mem);

    if (memory == NULL)
        return HCCL_E_MEMORY;
    if (rt_mem_alloc(comm->device, size, &memory->mem.addr) != ACL_SUCCESS) {
        hc_free(memory);
        return HCCL_E_OOM; /* the runtime has said how much is left */
    }
    memory->owned = true;
    hc_list_push_back(&comm->workspaces, &memory->in_comm);
    *out = memory;
    return HCCL_SUCCESS;
}

HcclResult
memory_workspace(struct comm *comm, const char *tag, uint64_t *size, void **addr, bool *made)
{
    struct comm_memory *memory;
    HcclResult rc = HCCL_SUCCESS;
    bool there;

    pthread_mutex_lock(&comm->lock);
    memory = find_tag(&comm->workspaces, tag);
    there = memory != NULL;
    if (there && memory->mem.size != *size) {
        LOG_ERROR(COMM,
                  "%s: the workspace \"%s\" has %llu bytes, %llu are asked for: ask for the same "
                  "size each time",
                  comm->name, tag, (unsigned long long)memory->mem.size, (unsigned long long)*size);
        rc = HCCL_E_PARA;
    } else if (!there) {
        rc = workspace_new(comm, tag, *size, &memory);
    }
    if (rc == HCCL_SUCCESS) {
        *addr = memory->mem.addr;
        if (made != NULL)
            *made = !there;
    }
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

static void
list_fini(struct hc_list *list)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(list)) != NULL)
        memory_free(HC_CONTAINER(node, struct comm_memory, in_comm));
}

void
memory_fini(struct comm *comm)
{
    list_fini(&comm->memories);
    list_fini(&comm->workspaces);
    buffer_release(comm->buffer);
}
