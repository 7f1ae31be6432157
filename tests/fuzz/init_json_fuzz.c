/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that aclInit takes. */
#include "runtime/init_config.h"

#include "tests/fuzz/fuzz.h"

static const char *const texts[] = {
    "{\"defaultDevice\": {\"default_device\": \"3\"}, \"err_msg_mode\": \"1\", \"dump\": [1, {}]}",
    "{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": {\"f\": {\"g\": {\"h\": {\"i\": {\"j\": 1}}}}}}}}}}",
    "{}",
};

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    return fuzz_seed_text(texts, sizeof texts / sizeof texts[0], n, into, room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct rt_init_config config;

    (void)rt_init_config_read(fuzz_file(bytes, len, ".json"), &config);
    return 0;
}
