/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a kernel library that are looked at before it is loaded. */
#include "runtime/kernel_elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    static const char *const files[] = {HCOMM_TEST_KERNELS "/stateless_kernel.so",
                                        HCOMM_TEST_KERNELS "/stateful_kernel.so"};
    FILE *file;
    size_t len;

    if (n > 1)
        return 0;
    file = fopen(files[n], "rb");
    if (file == NULL)
        abort();
    len = fread(into, 1, room, file);
    fclose(file);
    return len;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len == 0 ? 1 : len);

    if (copy == NULL)
        return 0;
    if (len > 0)
        memcpy(copy, bytes, len);
    if (rt_elf_loadable(copy, len)) {
        (void)rt_elf_has_state(copy, len);
        rt_elf_make_private(copy, len);
    }
    free(copy);
    return 0;
}
