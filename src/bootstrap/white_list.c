/* SPDX-License-Identifier: BSD-3-Clause */
#include "bootstrap/white_list.h"

#include <arpa/inet.h>
#include <jansson.h>

#include "base/alloc.h"
#include "base/knobs.h"
#include "base/log.h"

static HcclResult
take_hosts(struct white_list *list, const json_t *hosts, const char *path)
{
    size_t num = json_array_size(hosts); /* 0 when it is no array */

    if (num == 0) {
        LOG_ERROR(BOOT, "EI0001: the array host_ip of %s names no host: nobody could join", path);
        return HCCL_E_PARA;
    }
    list->hosts = hc_calloc(num, sizeof *list->hosts);
    if (list->hosts == NULL)
        return HCCL_E_MEMORY;
    for (size_t i = 0; i < num; i++) {
        const char *text = json_string_value(json_array_get(hosts, i));

        if (text == NULL || inet_pton(AF_INET, text, &list->hosts[i]) != 1) {
            LOG_ERROR(BOOT,
                      "EI0001: entry %zu of host_ip in %s is \"%s\", which is no IPv4 address", i,
                      path, text == NULL ? "" : text);
            return HCCL_E_PARA;
        }
    }
    list->num = (uint32_t)num;
    return HCCL_SUCCESS;
}

HcclResult
white_list_load(struct white_list *list)
{
    const char *path = hc_knob_str(KNOB_WHITELIST_FILE);
    json_error_t error;
    json_t *root;
    int choice = 1;
    HcclResult rc = hc_knob_enum(KNOB_WHITELIST_DISABLE, &choice);

    if (rc != HCCL_SUCCESS || choice == 1)
        return rc;
    list->on = true;
    root = json_load_file(path, 0, &error);
    if (root == NULL) {
        LOG_ERROR(BOOT, "EI0001: cannot use the white list HCCL_WHITELIST_FILE \"%s\": line %d: %s",
                  path, error.line, error.text);
        return HCCL_E_OPEN_FILE_FAILURE;
    }
    rc = take_hosts(list, json_object_get(root, "host_ip"), path);
    json_decref(root);
    return rc;
}

void
white_list_fini(struct white_list *list)
{
    hc_free(list->hosts);
    list->hosts = NULL;
    list->num = 0;
}

bool
white_list_allows(const struct white_list *list, const struct sockaddr_storage *peer)
{
    const struct sockaddr_in *in4 = (const struct sockaddr_in *)peer;

    for (uint32_t i = 0; i < list->num && peer->ss_family == AF_INET; i++) {
        if (list->hosts[i].s_addr == in4->sin_addr.s_addr)
            return true;
    }
    return !list->on;
}
