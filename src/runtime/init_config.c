/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/init_config.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fnv.h"
#include "runtime/device.h"

#define NESTING_MAX 10u /* of '{', and of '[' */

/* Whether no object lies in more than NESTING_MAX others, and arrays likewise. */
static bool
nesting_ok(const json_t *node, unsigned objects, unsigned arrays)
{
    const char *key;
    json_t *child;
    size_t i;

    objects += json_is_object(node);
    arrays += json_is_array(node);
    if (objects > NESTING_MAX || arrays > NESTING_MAX)
        return false;
    json_object_foreach((json_t *)node, key, child)
    {
        if (!nesting_ok(child, objects, arrays))
            return false;
    }
    json_array_foreach(node, i, child)
    {
        if (!nesting_ok(child, objects, arrays))
            return false;
    }
    return true;
}

/* Over the canonical text. */
static int
digest_more(const char *text, size_t len, void *arg)
{
    uint64_t *digest = arg;

    *digest = hc_fnv(*digest, text, len);
    return 0;
}

static uint64_t
digest_of(const json_t *root)
{
    uint64_t digest = HC_FNV_START;

    (void)json_dump_callback(root, digest_more, &digest, JSON_COMPACT | JSON_SORT_KEYS);
    return digest;
}

static aclError
read_default_device(const char *path, const json_t *root, int32_t *device)
{
    const json_t *section = json_object_get(root, "defaultDevice");
    const json_t *value = json_object_get(section, "default_device");
    const char *text = json_string_value(value);
    char *end = NULL;
    long number;

    if (section == NULL || (json_is_object(section) && value == NULL))
        return ACL_SUCCESS;
    if (text == NULL)
        return rt_fail(ACL_ERROR_FILE_ATTR_INVALID,
                       "aclInit: %s: defaultDevice.default_device must be a string, like \"0\"",
                       path);
    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 0 || number >= rt_device_count())
        return rt_fail(ACL_ERROR_FILE_ATTR_INVALID,
                       "aclInit: %s: defaultDevice.default_device is \"%s\"; there are %u devices, "
                       "from 0",
                       path, text, rt_device_count());
    *device = (int32_t)number;
    return ACL_SUCCESS;
}

static aclError
read_errmsg_mode(const char *path, const json_t *root, bool *process_wide)
{
    const json_t *value = json_object_get(root, "err_msg_mode");
    const char *text = json_string_value(value);

    if (value == NULL)
        return ACL_SUCCESS;
    if (text == NULL || (strcmp(text, "0") != 0 && strcmp(text, "1") != 0))
        return rt_fail(
            ACL_ERROR_FILE_ATTR_INVALID,
            "aclInit: %s: err_msg_mode must be \"0\" (per thread) or \"1\" (per process)", path);
    *process_wide = text[0] == '1';
    return ACL_SUCCESS;
}

static aclError
load(const char *path, json_t **root)
{
    json_error_t why;
    struct stat st;

    if (stat(path, &st) != 0)
        return rt_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot read %s: %s", path,
                       strerror(errno));
    if (!S_ISREG(st.st_mode))
        return rt_fail(ACL_ERROR_INVALID_FILE, "aclInit: %s is not a file", path);
    *root = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (*root != NULL)
        return ACL_SUCCESS;
    if (json_error_code(&why) == json_error_cannot_open_file)
        return rt_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot read %s: %s", path, why.text);
    return rt_fail(ACL_ERROR_PARSE_FILE, "aclInit: %s:%d: %s", path, why.line, why.text);
}

static aclError
read_root(const char *path, const json_t *root, struct rt_init_config *config)
{
    aclError rc;

    if (!json_is_object(root))
        return rt_fail(ACL_ERROR_PARSE_FILE, "aclInit: %s must hold one JSON object", path);
    if (!nesting_ok(root, 0, 0))
        return rt_fail(ACL_ERROR_PARSE_FILE,
                       "aclInit: %s nests objects or arrays more than %u deep", path, NESTING_MAX);
    rc = read_default_device(path, root, &config->default_device);
    if (rc == ACL_SUCCESS)
        rc = read_errmsg_mode(path, root, &config->process_wide_errmsg);
    config->digest = digest_of(root);
    return rc;
}

aclError
rt_init_config_read(const char *path, struct rt_init_config *config)
{
    struct rt_init_config read = {.default_device = -1, .digest = HC_FNV_START};
    json_t *root = NULL;
    aclError rc;

    if (path == NULL || path[0] == '\0') {
        (void)digest_more("{}", 2, &read.digest); /* the same as a file that holds "{}" */
        *config = read;
        return ACL_SUCCESS;
    }
    rc = load(path, &root);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = read_root(path, root, &read);
    json_decref(root);
    if (rc == ACL_SUCCESS)
        *config = read;
    return rc;
}
