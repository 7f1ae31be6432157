/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a kernel library. */
#include "runtime/kernel.h"
#include "tests/fuzz/fuzz.h"

static const char *const texts[] = {
    "{\"A\": {\"opInfo\": {\"opKernelLib\": \"AICPUKernel\", \"kernelSo\": \"liba.so\", "
    "\"functionName\": \"Run\"}}, \"B\": {\"opInfo\": {\"opKernelLib\": \"CUSTAICPUKernel\", "
    "\"kernelSo\": \"libb.so\", \"functionName\": \"Go\", \"userDefined\": \"True\"}}}",
    "{\"A\": {\"opInfo\": {\"opKernelLib\": \"TFKernel\"}}, \"A\": 7, \"\": {}}",
    "[1, 2.5e300, null, true, \"\\ud83d\\ude00\"]",
};

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    return fuzz_seed_text(texts, sizeof texts / sizeof texts[0], n, into, room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    uint64_t handle = 0;

    if (rt_binary_load_file(fuzz_file(bytes, len, ".json"), false, &handle) == ACL_SUCCESS)
        (void)rt_binary_close(handle, false);
    return 0;
}
