/* SPDX-License-Identifier: BSD-3-Clause */
#include "bootstrap/ports.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/knobs.h"
#include "base/log.h"

#define PORTS 32

static void
add(struct ports *ports, uint16_t first, uint16_t last)
{
    ports->ranges[ports->num].first = first;
    ports->ranges[ports->num++].last = last;
}

/* A port at *at, which moves on; 0: there is none. */
static uint16_t
parse_port(const char **at)
{
    char *end = NULL;
    unsigned long port = **at >= '0' && **at <= '9' ? strtoul(*at, &end, 10) : 0;

    if (end != NULL)
        *at = end;
    return port > 65535 ? 0 : (uint16_t)port;
}

/* "a", "a-b", separated by commas. */
static bool
parse_list(struct ports *ports, const char *text)
{
    do {
        uint16_t first = parse_port(&text), last = first;

        if (*text == '-') {
            text++;
            last = parse_port(&text);
        }
        if (first == 0 || last < first || ports->num == PORT_RANGES_MOST)
            return false;
        add(ports, first, last);
    } while (*text++ == ',');
    return text[-1] == '\0';
}

HcclResult
ports_load(struct ports *ports)
{
    const char *list = hc_knob_str(KNOB_HOST_PORT_RANGE);
    int64_t base = 0, last;
    HcclResult rc = hc_knob_int(KNOB_IF_BASE_PORT, &base);

    memset(ports, 0, sizeof *ports);
    if (rc != HCCL_SUCCESS)
        return rc;
    ports->knob = hc_knob_info(KNOB_HOST_PORT_RANGE)->env;
    if (strcmp(list, "auto") == 0) {
        snprintf(ports->text, sizeof ports->text, "all");
        add(ports, 0, 0);
    } else if (list[0] != '\0') {
        snprintf(ports->text, sizeof ports->text, "%s", list);
        if (parse_list(ports, list))
            return HCCL_SUCCESS;
        LOG_ERROR(BOOT,
                  "EI0001: %s is \"%s\"; set it to ports from 1 to 65535, as 60000-60031,61000, "
                  "at most %u ranges, or to auto",
                  ports->knob, list, PORT_RANGES_MOST);
        return HCCL_E_PARA;
    } else {
        ports->knob = hc_knob_info(KNOB_IF_BASE_PORT)->env;
        last = base + PORTS - 1 > 65535 ? 65535 : base + PORTS - 1;
        snprintf(ports->text, sizeof ports->text, "%d to %d", (int)base, (int)last);
        add(ports, (uint16_t)base, (uint16_t)last);
        if (getenv(ports->knob) == NULL)
            add(ports, 0, 0);
    }
    return HCCL_SUCCESS;
}
