/* SPDX-License-Identifier: BSD-3-Clause */
/* The root info, which applications carry from rank to rank. */
#include "bootstrap/rootinfo.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    struct root_info info = {.pid = 7, .process = 9, .id = "a_root"};
    HcclRootInfo blob;

    if (n > 1 || room < sizeof blob)
        return 0;
    if (n == 0) {
        struct sockaddr_in *addr = (struct sockaddr_in *)(void *)&info.addr;

        *addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(60000)};
        addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        struct sockaddr_in6 *addr = (struct sockaddr_in6 *)(void *)&info.addr;

        *addr = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(60000)};
        addr->sin6_addr = in6addr_loopback;
    }
    root_info_encode(&blob, &info);
    memcpy(into, &blob, sizeof blob);
    return sizeof blob;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct root_info info;
    HcclRootInfo blob;

    memset(&blob, 0, sizeof blob);
    if (len > 0)
        memcpy(&blob, bytes, len < sizeof blob ? len : sizeof blob);
    if (root_info_decode(&info, &blob) == HCCL_SUCCESS && memchr(info.id, '\0', ID_LEN) == NULL)
        __builtin_trap(); /* it is printed */
    return 0;
}
