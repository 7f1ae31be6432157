/* SPDX-License-Identifier: BSD-3-Clause */
/* hcomm info: what this installation offers, and what the environment changes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/knobs.h"
#include "copy/copy.h"
#include "runtime/install.h"
#include "runtime/runtime.h"
#include "runtime/secverify.h"
#include "tools/cmd.h"
#include "transport/transport.h"

static void
print_verification(void)
{
    uint32_t count = rt_device_count(), on = 0;

    for (uint32_t device = 0; device < count; device++)
        on += rt_secverify_on((int32_t)device);
    printf("verification    on for %u of %u devices\n", on, count);
}

static void
print_transports(void)
{
    fputs("transports     ", stdout);
    for (int i = 0; tp_all[i] != NULL; i++)
        printf(" %s", tp_all[i]->name);
    putchar('\n');
}

/* How a process of this environment reaches memory of another that cannot be mapped. */
static void
print_foreign(void)
{
    const char *path = tp_shm_foreign_path();

    if (strcmp(path, "undecided") == 0)
        path = "process_vm calls (cma) or a bounce buffer, whichever is measured to be faster";
    else if (strcmp(path, "bounce") == 0)
        path = "a bounce buffer (bounce)";
    else
        path = "process_vm calls (cma)";
    printf("foreign memory  %s\n", path);
}

static void
print_knobs(void)
{
    bool any = false;

    for (int knob = 0; knob < KNOB_COUNT; knob++) {
        const char *variable = hc_knob_info((enum hc_knob)knob)->env;
        const char *value = getenv(variable);

        if (value == NULL || value[0] == '\0')
            continue;
        printf("%s%s=%s\n", any ? "                " : "knobs set       ", variable, value);
        any = true;
    }
    if (!any)
        puts("knobs set       none (`hcomm config` lists them)");
}

int
cmd_info(int argc, char **argv)
{
    char root[RT_PATH_LEN];
    int64_t memory_mib = 0;

    (void)argv;
    if (argc > 1)
        return cmd_misused("info takes no arguments");
    if (rt_device_count() == 0 || hc_knob_int(KNOB_DEVICE_MEMORY, &memory_mib) != HCCL_SUCCESS ||
        rt_install_path(root, ".") != ACL_SUCCESS)
        return CMD_FAILED;
    printf("installation    %.*s\n", (int)(strlen(root) - 2), root);
    printf("SoC             %s\n", rt_soc_name());
    printf("devices         %u\n", rt_device_count());
    printf("device memory   %" PRId64 " MiB each, at most\n", memory_mib);
    print_verification();
    print_transports();
    print_foreign();
    printf("messages        ");
    copy_plan_print(stdout);
    print_knobs();
    return CMD_GOOD;
}
