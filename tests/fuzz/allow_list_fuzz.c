/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of packages that may be loaded. */
#include "runtime/allow_list.h"

#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

static const char *const texts[] = {
    "name:a.tar.gz\ninstall_path:2\noptional:true\npackage_path:opp/vendors/v/aicpu/kernel\n"
    "load_as_per_soc:false\n\nname:b.tar.gz\r\nload_as_per_soc:true\r\noptional:false\r\n"
    "package_path:x\r\ninstall_path:0\r\n",
    "# a remark\n\n[section]\nname:a\n",
};

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    return fuzz_seed_text(texts, sizeof texts / sizeof texts[0], n, into, room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct rt_allow_list list = {0};
    char *text = fuzz_text(bytes, len);

    if (rt_allow_list_parse(&list, text, "input") == ACL_SUCCESS)
        (void)rt_allow_list_find(&list, "a.tar.gz");
    rt_allow_list_fini(&list);
    free(text);
    return 0;
}
