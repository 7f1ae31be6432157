/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/install.h"
#include "runtime/kernel_lib.h"
#include "runtime/sign.h"

#define LIBRARY_MOST ((size_t)512 << 20)
#define FUNCTIONS_MOST 16384u /* they are searched one after the other */

static void binary_fini(void *obj);
static void function_fini(void *obj);

struct hc_table rt_binary_table = HC_TABLE("binary", HC_KIND_BINARY, binary_fini);
struct hc_table rt_function_table = HC_TABLE("kernel function", HC_KIND_FUNCTION, function_fini);

/* ---- functions ---- */

static void
function_fini(void *obj)
{
    struct rt_function *function = obj;

    if (function == NULL)
        return;
    if (function->binary != NULL)
        rt_binary_release(function->binary);
    hc_free(function->key);
    hc_free(function->so);
    hc_free(function->symbol);
    hc_free((void *)function->entry);
    hc_free(function);
}

/* A function without a handle yet; NULL: no memory. */
static struct rt_function *
function_new(struct rt_binary *binary, const struct rt_kernel_entry *entry)
{
    struct rt_function *function = hc_zalloc(sizeof *function);

    if (function == NULL)
        return NULL;
    function->kind = entry->kind;
    function->entry_num = rt_device_count();
    function->key = hc_strdup(entry->key);
    function->so = hc_strdup(entry->so == NULL ? "" : entry->so);
    function->symbol = hc_strdup(entry->symbol == NULL ? "" : entry->symbol);
    function->entry = hc_calloc(function->entry_num, sizeof *function->entry);
    if (function->key == NULL || function->so == NULL || function->symbol == NULL ||
        function->entry == NULL) {
        function_fini(function);
        return NULL;
    }
    hc_handle_hold_more(&rt_binary_table, binary->handle);
    function->binary = binary; /* I1 */
    return function;
}

static struct rt_function *
find_locked(struct rt_binary *binary, const char *key)
{
    for (uint32_t i = 0; i < binary->function_num; i++) {
        if (strcmp(binary->functions[i]->key, key) == 0)
            return binary->functions[i];
    }
    return NULL;
}

/* Room for one more pointer; it grows at powers of two. */
static bool
make_room(struct rt_binary *binary)
{
    struct rt_function **grown;
    uint32_t num = binary->function_num;

    if ((num & (num - 1)) != 0)
        return true;
    grown = hc_realloc(binary->functions, (num == 0 ? 1 : 2 * num) * sizeof(void *));
    if (grown == NULL)
        return false;
    binary->functions = grown;
    return true;
}

static aclError
add_locked(struct rt_binary *binary, const struct rt_kernel_entry *entry)
{
    struct rt_function *function;

    if (binary->closed)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "kernel %s: its binary is being unloaded",
                       entry->key);
    if (binary->function_num == FUNCTIONS_MOST)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "kernel %.100s: a binary has at most %u kernels",
                       entry->key, FUNCTIONS_MOST);
    if (!make_room(binary))
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    function = function_new(binary, entry);
    if (function == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    function->handle = hc_handle_reserve(&rt_function_table);
    if (function->handle == 0) {
        function_fini(function); /* its hold is not the binary's last: the caller has one */
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    hc_handle_publish(&rt_function_table, function->handle, function);
    binary->functions[binary->function_num++] = function;
    return ACL_SUCCESS;
}

aclError
rt_binary_add(struct rt_binary *binary, const struct rt_kernel_entry *entry, uint64_t *handle)
{
    struct rt_function *found;
    aclError rc = ACL_SUCCESS;

    pthread_mutex_lock(&binary->lock);
    found = find_locked(binary, entry->key);
    if (found == NULL) {
        rc = add_locked(binary, entry);
        found = rc == ACL_SUCCESS ? binary->functions[binary->function_num - 1] : NULL;
    }
    if (found != NULL && handle != NULL)
        *handle = found->handle;
    pthread_mutex_unlock(&binary->lock);
    return rc;
}

uint64_t
rt_binary_find(struct rt_binary *binary, const char *key)
{
    struct rt_function *found;
    uint64_t handle;

    pthread_mutex_lock(&binary->lock);
    found = binary->closed ? NULL : find_locked(binary, key);
    handle = found == NULL ? 0 : found->handle;
    pthread_mutex_unlock(&binary->lock);
    return handle;
}

/* A name without a directory, as descriptions must have it. */
static bool
good_so_name(const char *so)
{
    for (const char *at = so; *at != '\0'; at++) {
        bool alnum =
            (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');

        if (!alnum && strchr("-_.", *at) == NULL)
            return false;
    }
    return so[0] != '\0' && strcmp(so, ".") != 0 && strcmp(so, "..") != 0;
}

aclError
rt_function_resolve(struct rt_function *function, int32_t device, void **address, char *why,
                    size_t why_len)
{
    struct rt_binary *binary = function->binary;
    struct rt_kernel_source source = {.so = function->so,
                                      .dir = binary->dir,
                                      .bytes = binary->bytes,
                                      .len = binary->len,
                                      .path = binary->path,
                                      .custom = function->kind == RT_KERNEL_CUSTOM};
    _Atomic(void *) *entry = &function->entry[device];
    aclError rc = ACL_ERROR_RT_AICPU_EXCEPTION;

    *address = atomic_load_explicit(entry, memory_order_acquire); /* I3 */
    if (*address != NULL)
        return ACL_SUCCESS;
    if (function->kind == RT_KERNEL_NONE)
        snprintf(why, why_len,
                 "its description has no opKernelLib that can run: write AICPUKernel");
    else if (function->symbol[0] == '\0')
        snprintf(why, why_len, "its description has no functionName");
    else if (!good_so_name(function->so))
        snprintf(why, why_len,
                 "its kernelSo \"%.100s\" is not a plain file name of letters, digits, "
                 "'-', '_' and '.'",
                 function->so);
    else
        rc = rt_kernel_lib_symbol(&source, device, function->symbol, address, why, why_len);
    if (rc == ACL_SUCCESS)
        atomic_store_explicit(entry, *address, memory_order_release); /* I3 */
    return rc;
}

/* ---- binaries ---- */

static void
binary_fini(void *obj)
{
    struct rt_binary *binary = obj;

    if (binary == NULL)
        return;
    if (binary->uses_libraries)
        rt_kernel_lib_release();
    hc_free(binary->functions);
    hc_free(binary->dir);
    hc_free(binary->bytes);
    hc_free(binary->path);
    pthread_mutex_destroy(&binary->lock);
    hc_free(binary);
}

/* A binary that is open, and held by the caller. */
static aclError
binary_open(struct rt_binary **out)
{
    struct rt_binary *binary = hc_zalloc(sizeof *binary);

    if (binary == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    pthread_mutex_init(&binary->lock, NULL);
    binary->handle = hc_handle_reserve(&rt_binary_table);
    if (binary->handle == 0) {
        binary_fini(binary);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    hc_handle_publish(&rt_binary_table, binary->handle, binary);
    (void)hc_handle_hold(&rt_binary_table, binary->handle);
    *out = binary;
    return ACL_SUCCESS;
}

/* Ends a half-made binary, or hands out a whole one; the caller's hold goes either way. */
static aclError
binary_finish(struct rt_binary *binary, aclError rc, uint64_t *handle)
{
    if (rc == ACL_SUCCESS)
        *handle = binary->handle;
    else
        (void)rt_binary_close(binary->handle, false);
    rt_binary_release(binary);
    return rc;
}

bool
rt_binary_close(uint64_t handle, bool descriptor)
{
    struct rt_binary *binary = hc_handle_hold(&rt_binary_table, handle);
    bool good;

    if (binary == NULL)
        return false;
    good = binary->descriptor == descriptor && hc_handle_close(&rt_binary_table, handle);
    if (good) {
        pthread_mutex_lock(&binary->lock);
        binary->closed = true; /* I2: from here on the array is ours */
        pthread_mutex_unlock(&binary->lock);
        for (uint32_t i = 0; i < binary->function_num; i++)
            (void)hc_handle_close(&rt_function_table, binary->functions[i]->handle);
    }
    rt_binary_release(binary);
    return good;
}

/* `path` with what follows its last dot replaced, into out[RT_PATH_LEN]. */
static aclError
replace_extension(const char *path, const char *extension, char *out)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash == NULL ? path : slash, '.');
    size_t stem = dot == NULL ? strlen(path) : (size_t)(dot - path);

    if (stem + strlen(extension) >= RT_PATH_LEN)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "path %.100s... is too long", path);
    memcpy(out, path, stem);
    strcpy(out + stem, extension);
    return ACL_SUCCESS;
}

/* The directory of `path`, without links. */
static aclError
set_directory(struct rt_binary *binary, const char *path)
{
    char real[RT_PATH_LEN];
    char *slash;

    if (realpath(path, real) == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: cannot open the kernel description: %s; install the operator's "
                       "package, or source set_env.sh of the installation that has it",
                       path, strerror(errno));
    slash = strrchr(real, '/');
    slash[slash == real ? 1 : 0] = '\0';
    binary->dir = hc_strdup(real);
    return binary->dir == NULL ? rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION) : ACL_SUCCESS;
}

/* Mode 1: the library beside the description. */
static aclError
read_library(struct rt_binary *binary, const char *path)
{
    char so_path[RT_PATH_LEN];
    aclError rc = replace_extension(path, ".so", so_path);
    int err;

    if (rc != ACL_SUCCESS)
        return rc;
    err = rt_file_read(so_path, LIBRARY_MOST, &binary->bytes, &binary->len);
    if (err != 0 && err != ENOMEM)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "cannot read the kernel library %s: %s", so_path,
                       strerror(err));
    binary->path = err == 0 ? hc_strdup(so_path) : NULL;
    return binary->path == NULL ? rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION) : ACL_SUCCESS;
}

aclError
rt_binary_load_file(const char *path, bool with_library, uint64_t *handle)
{
    char json_path[RT_PATH_LEN];
    struct rt_binary *binary;
    aclError rc = replace_extension(path, ".json", json_path);

    if (rc == ACL_SUCCESS)
        rc = binary_open(&binary);
    if (rc != ACL_SUCCESS)
        return rc;
    rt_kernel_lib_hold();
    binary->uses_libraries = true;
    rc = set_directory(binary, json_path);
    if (rc == ACL_SUCCESS && with_library)
        rc = read_library(binary, path);
    if (rc == ACL_SUCCESS)
        rc = rt_kernel_read_json(binary, json_path);
    return binary_finish(binary, rc, handle);
}

aclError
rt_binary_load_data(const void *data, size_t len, uint64_t *handle)
{
    struct rt_binary *binary;
    aclError rc;

    if (!rt_is_elf(data, len))
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "the data to load is no ELF object");
    rc = binary_open(&binary);
    if (rc != ACL_SUCCESS)
        return rc;
    rt_kernel_lib_hold();
    binary->uses_libraries = true;
    binary->from_data = true;
    binary->bytes = hc_zalloc(len);
    if (binary->bytes == NULL) {
        rc = rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    } else {
        memcpy(binary->bytes, data, len);
        binary->len = len;
    }
    return binary_finish(binary, rc, handle);
}

aclError
rt_binary_named(uint64_t *handle)
{
    struct rt_binary *binary;
    aclError rc = binary_open(&binary);

    if (rc != ACL_SUCCESS)
        return rc;
    rt_kernel_lib_hold();
    binary->uses_libraries = true;
    return binary_finish(binary, rc, handle);
}

aclError
rt_binary_describe(uint64_t *handle)
{
    struct rt_binary *binary;
    aclError rc = binary_open(&binary);

    if (rc != ACL_SUCCESS)
        return rc;
    binary->descriptor = true;
    return binary_finish(binary, rc, handle);
}

/* ---- handles ---- */

struct rt_binary *
rt_binary_hold(uint64_t handle, const char *caller)
{
    struct rt_binary *binary = hc_handle_hold(&rt_binary_table, handle);

    if (binary == NULL)
        (void)rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: binary handle 0x%llx is %s", caller,
                      (unsigned long long)handle, hc_handle_guess(&rt_binary_table, handle));
    return binary;
}

struct rt_function *
rt_function_hold(uint64_t handle, const char *caller)
{
    struct rt_function *function = hc_handle_hold(&rt_function_table, handle);

    if (function == NULL)
        (void)rt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                      "%s: function handle 0x%llx is %s; get it again from a loaded binary", caller,
                      (unsigned long long)handle, hc_handle_guess(&rt_function_table, handle));
    return function;
}

void
rt_binary_release(struct rt_binary *binary)
{
    hc_handle_release(&rt_binary_table, binary->handle);
}

void
rt_function_release(struct rt_function *function)
{
    hc_handle_release(&rt_function_table, function->handle);
}
