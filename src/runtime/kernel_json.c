/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel descriptions: {"<key>": {"opInfo": {"opKernelLib": ..., "kernelSo": ..., ...}}, ...}. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/install.h"
#include "runtime/kernel.h"

#define FILE_MOST ((size_t)64 << 20)

/* A string member; *good becomes false when it is there and no string. */
static const char *
member(const json_t *info, const char *name, const char *path, const char *key, bool *good)
{
    const json_t *value = json_object_get(info, name);

    if (value == NULL || json_is_string(value))
        return json_string_value(value);
    LOG_WARN(KERNEL, "%s: kernel %s is left out: %s must be a string", path, key, name);
    *good = false;
    return NULL;
}

static enum rt_kernel_kind
kind_of(const char *library, const char *user_defined)
{
    if (library == NULL)
        return RT_KERNEL_NONE;
    if (strcmp(library, "CUSTAICPUKernel") == 0 || strcmp(library, "CUSTKFCKernel") == 0)
        return RT_KERNEL_CUSTOM;
    if (strcmp(library, "AICPUKernel") == 0)
        return user_defined != NULL && strcmp(user_defined, "True") == 0 ? RT_KERNEL_CUSTOM
                                                                         : RT_KERNEL_AICPU;
    if (strcmp(library, "KFCKernel") == 0 || strcmp(library, "TFKernel") == 0)
        return RT_KERNEL_AICPU;
    return RT_KERNEL_NONE;
}

/* An entry that is not as it should be is skipped, not the file. */
static aclError
add_entry(struct rt_binary *binary, const char *path, const char *key, const json_t *value)
{
    const json_t *info = json_object_get(value, "opInfo");
    struct rt_kernel_entry entry = {.key = key};
    const char *library, *user_defined;
    bool good = true;

    if (!json_is_object(info)) {
        LOG_WARN(KERNEL, "%s: kernel %s is left out: it has no opInfo object", path, key);
        return ACL_SUCCESS;
    }
    library = member(info, "opKernelLib", path, key, &good);
    user_defined = member(info, "userDefined", path, key, &good);
    entry.so = member(info, "kernelSo", path, key, &good);
    entry.symbol = member(info, "functionName", path, key, &good);
    entry.kind = kind_of(library, user_defined);
    return good ? rt_binary_add(binary, &entry, NULL) : ACL_SUCCESS;
}

static const char *
skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Decodes the value at *at and steps over it. NULL: no memory, since the text is known to be good.
 */
static json_t *
take_value(const char **at, const char *end)
{
    json_error_t error;
    json_t *value =
        json_loadb(*at, (size_t)(end - *at), JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);

    if (value != NULL)
        *at = skip_blanks(*at + error.position);
    return value;
}

/*
 * Adds the members of the object at `at`, in their order: of a key that is there twice the first
 * counts, where the JSON library would keep the last.
 */
static aclError
add_members(struct rt_binary *binary, const char *path, const char *at, const char *end)
{
    aclError rc = ACL_SUCCESS;

    at = skip_blanks(at + 1); /* '{' */
    while (rc == ACL_SUCCESS && at < end && *at != '}') {
        json_t *key = take_value(&at, end);
        json_t *value = NULL;

        if (key != NULL) {
            at = skip_blanks(at + 1); /* ':' */
            value = take_value(&at, end);
        }
        if (value == NULL)
            rc = rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory while reading %s",
                         path);
        else
            rc = add_entry(binary, path, json_string_value(key), value);
        json_decref(key);
        json_decref(value);
        if (*at == ',')
            at = skip_blanks(at + 1);
    }
    return rc;
}

static aclError
check_and_add(struct rt_binary *binary, const char *path, const char *text, size_t len)
{
    json_error_t error;
    json_t *root = json_loadb(text, len, 0, &error);
    bool is_object = json_is_object(root);

    if (root == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s:%d: not a kernel description: %s", path,
                       error.line, error.text);
    json_decref(root);
    if (!is_object)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s:1: not a kernel description: an object {\"kernel\": {...}} is expected",
                       path);
    return add_members(binary, path, skip_blanks(text), text + len);
}

aclError
rt_kernel_read_json(struct rt_binary *binary, const char *path)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    int err = rt_file_read(path, FILE_MOST, &bytes, &len);
    aclError rc;

    if (err == ENOMEM)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: cannot open the kernel description: %s",
                       path, strerror(err));
    rc = check_and_add(binary, path, (const char *)bytes, len);
    hc_free(bytes);
    return rc;
}
