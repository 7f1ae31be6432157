/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports: which ports a root may listen at, in the order to try them.
 */
#ifndef HC_BOOTSTRAP_PORTS_H
#define HC_BOOTSTRAP_PORTS_H

#include <stdint.h>

#include "hccl/hccl_types.h"

#define PORT_RANGES_MOST 32u

struct ports {
    struct {
        uint16_t first, last; /* 0: any free port */
    } ranges[PORT_RANGES_MOST];
    uint32_t num;
    const char *knob; /* the variable that says so, for messages */
    char text[64];    /* the ports, likewise */
};

/* HCCL_HOST_SOCKET_PORT_RANGE, else 32 ports from HCCL_IF_BASE_PORT; when neither is set, any free
 * port after those. HCCL_E_PARA (logged, EI0001). */
HcclResult ports_load(struct ports *ports);

#endif
