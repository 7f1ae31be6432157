/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ends of a channel tell each other. */
#include "resource/hello.h"

#include <string.h>

#include "base/alloc.h"
#include "tests/fuzz/fuzz.h"

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    static char memory[64];
    static struct res_region regions[2] = {{.tag = "HcclBuffer"}, {.tag = "second"}};
    struct res_hello hello = {.engine = COMM_ENGINE_AICPU_TS,
                              .protocol = COMM_PROTOCOL_HCCS,
                              .notify_num = 3,
                              .regions = regions,
                              .region_num = n,
                              .info = "info",
                              .info_len = n == 2 ? 4 : 0};
    uint32_t len = 0;
    void *text;

    if (n > 2)
        return 0;
    for (int i = 0; i < 2; i++)
        regions[i].mem = (CommMem){.type = COMM_MEM_TYPE_DEVICE, .addr = memory, .size = 64};
    if (res_hello_write(&hello, &text, &len) != HCCL_SUCCESS)
        return 0;
    len = len < room ? len : (uint32_t)room;
    memcpy(into, text, len);
    hc_free(text);
    return len;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct res_hello hello;

    if (res_hello_parse(bytes, (uint32_t)len, "rank 1", &hello) != HCCL_SUCCESS)
        return 0;
    for (uint32_t i = 0; i < hello.region_num; i++) {
        if (memchr(hello.regions[i].tag, '\0', sizeof hello.regions[i].tag) == NULL)
            __builtin_trap(); /* it is printed */
        if (hello.places[i].addr + hello.places[i].len < hello.places[i].addr)
            __builtin_trap(); /* it is compared with addresses */
    }
    fuzz_read(hello.info, hello.info_len);
    res_hello_fini(&hello);
    return 0;
}
