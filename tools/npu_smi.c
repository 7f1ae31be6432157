/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * npu-smi: what scripts ask about NPUs, answered for the soft ones.
 *
 * Ids are those of the machine: ASCEND_RT_VISIBLE_DEVICES does not count here. On A3 an NPU has two
 * chips, and a device is a chip. What a soft NPU has not (power, temperature, huge pages) is 0.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "base/knobs.h"
#include "runtime/device.h"
#include "runtime/secverify.h"

#define NOT_GIVEN (-1)

struct options {
    const char *type;         /* -t */
    int32_t npu, chip, value; /* -i, -c, -d; NOT_GIVEN */
    bool list, mapping;       /* -l, -m */
};

static uint32_t npu_num;
static int64_t memory_mib; /* of a device */

static int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int
complain(const char *fmt, ...)
{
    va_list args;

    fputs("npu-smi: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return 1;
}

static uint32_t
device_of(uint32_t npu, uint32_t chip)
{
    return npu * rt_npu_chips() + chip;
}

/* Chips of this NPU: the last one may have one only. */
static uint32_t
chips_of(uint32_t npu)
{
    uint32_t left = rt_device_count() - device_of(npu, 0);

    return left < rt_npu_chips() ? left : rt_npu_chips();
}

/* A2 is shown without the family, A3 as the family alone. */
static const char *
short_name(void)
{
    static const char family[] = "Ascend";

    if (rt_soc() == RT_SOC_A3)
        return "Ascend910";
    if (rt_soc() == RT_SOC_A2 && strncmp(rt_soc_name(), family, strlen(family)) == 0)
        return rt_soc_name() + strlen(family);
    return rt_soc_name();
}

static const char *
version(void)
{
    static char text[32];
    char package[] = "driver";
    int32_t number = 0;

    (void)aclsysGetVersionNum(package, &number);
    snprintf(text, sizeof text, "%d.%d.%d", number / 10000000, number / 100000 % 100,
             number / 1000 % 100);
    return text;
}

/* ---- info ---- */

#define RULE                                                                                       \
    "+---------------------------+-----------------+---------------------------------------------" \
    "---------+\n"
#define DOUBLE                                                                                     \
    "+===========================+=================+=============================================" \
    "=========+\n"
#define WIDE                                                                                       \
    "+-------------------------------------------------------------------------------------------" \
    "---------+\n"

static void
print_chip(uint32_t npu, uint32_t chip)
{
    uint32_t device = device_of(npu, chip);
    char ids[32], usage[32];

    if (rt_soc() == RT_SOC_A3)
        snprintf(ids, sizeof ids, "%-5u %u", chip, device);
    else
        snprintf(ids, sizeof ids, "%u", chip);
    snprintf(usage, sizeof usage, "0    / %" PRId64, memory_mib);
    printf("| %-5u %-19s | %-15s | %-11s %-18s %-21s |\n", npu, short_name(), "OK", "0.0", "0",
           "0    / 0");
    printf("| %-25s | 0000:%02X:%02X.0    | %-11s %-18s %-21s |\n", ids, device >> 8 & 0xFFu,
           device & 0xFFu, "0", "0    / 0", usage);
    fputs(DOUBLE, stdout);
}

static int
info_table(void)
{
    char head[96];

    snprintf(head, sizeof head, "npu-smi %s", version());
    fputs(WIDE, stdout);
    printf("| %-32s Version: %-56s |\n", head, version());
    fputs(RULE, stdout);
    printf("| %-25s | %-15s | %-11s %-18s %-21s |\n", "NPU   Name", "Health", "Power(W)", "Temp(C)",
           "Hugepages-Usage(page)");
    printf("| %-25s | %-15s | %-11s %-18s %-21s |\n",
           rt_soc() == RT_SOC_A3 ? "Chip  Phy-ID" : "Chip", "Bus-Id", "AICore(%)",
           "Memory-Usage(MB)", "HBM-Usage(MB)");
    fputs(DOUBLE, stdout);
    for (uint32_t npu = 0; npu < npu_num; npu++) {
        for (uint32_t chip = 0; chip < chips_of(npu); chip++)
            print_chip(npu, chip);
    }
    fputs(RULE, stdout);
    printf("| %-25s | %-15s | %-28s | %-21s |\n", "NPU     Chip", "Process id", "Process name",
           "Process memory(MB)");
    fputs(DOUBLE, stdout);
    for (uint32_t npu = 0; npu < npu_num; npu++) {
        printf("| No running processes found in NPU %-64u |\n", npu);
        fputs(DOUBLE, stdout);
    }
    return 0;
}

static int
info_list(void)
{
    printf("    Total Count                    : %u\n", npu_num);
    for (uint32_t npu = 0; npu < npu_num; npu++)
        printf(
            "\n    NPU ID                         : %u\n    Chip Count                     : %u\n",
            npu, chips_of(npu));
    return 0;
}

static int
info_mapping(void)
{
    printf("    %-20s%-20s%-20s%-20s%s\n", "NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID",
           "Chip Name");
    for (uint32_t npu = 0; npu < npu_num; npu++) {
        for (uint32_t chip = 0; chip < chips_of(npu); chip++)
            printf("    %-20u%-20u%-20u%-20u%s\n", npu, chip, device_of(npu, chip),
                   device_of(npu, chip), rt_soc_name());
    }
    return 0;
}

static void
print_board(uint32_t npu)
{
    printf("    NPU ID                         : %u\n"
           "    Software Version               : %s\n"
           "    Product Name                   : soft NPU\n"
           "    Chip Name                      : %s\n"
           "    Chip Count                     : %u\n",
           npu, version(), rt_soc_name(), chips_of(npu));
}

static void
print_memory(uint32_t npu)
{
    printf("    NPU ID                         : %u\n"
           "    Chip Count                     : %u\n"
           "    DDR Capacity(MB)               : 0\n"
           "    HBM Capacity(MB)               : %" PRId64 "\n"
           "    HBM Clock Speed(MHz)           : 0\n",
           npu, chips_of(npu), memory_mib);
}

/* One NPU, or each of them. */
static int
info_each(const struct options *options, void (*print)(uint32_t npu))
{
    if (options->npu != NOT_GIVEN) {
        print((uint32_t)options->npu);
        return 0;
    }
    for (uint32_t npu = 0; npu < npu_num; npu++) {
        print(npu);
        putchar('\n');
    }
    return 0;
}

static int
info_topo(void)
{
    const char *label = rt_soc() == RT_SOC_A3 ? "Phy-ID" : "NPU";
    uint32_t count = rt_device_count();
    char text[24];

    printf("%-10s", "");
    for (uint32_t device = 0; device < count; device++) {
        snprintf(text, sizeof text, "%s%u", label, device);
        printf("%s%-*s", device == 0 ? "" : " ", 9, text);
    }
    putchar('\n');
    for (uint32_t row = 0; row < count; row++) {
        snprintf(text, sizeof text, "%s%u", label, row);
        printf("%-10s", text);
        for (uint32_t column = 0; column < count; column++) {
            bool same_npu = row / rt_npu_chips() == column / rt_npu_chips();

            printf("%s%-*s", column == 0 ? "" : " ", 9,
                   row == column ? "X"
                   : same_npu    ? "SIO"
                                 : "HCCS");
        }
        putchar('\n');
    }
    puts("\nX: itself, SIO: the chips of one NPU, HCCS: between NPUs");
    return 0;
}

static int
info(const struct options *options)
{
    if (options->value != NOT_GIVEN)
        return complain("-d goes with set only");
    if (options->list)
        return info_list();
    if (options->mapping)
        return info_mapping();
    if (options->type == NULL)
        return info_table();
    if (strcmp(options->type, "board") == 0)
        return info_each(options, print_board);
    if (strcmp(options->type, "memory") == 0)
        return info_each(options, print_memory);
    if (strcmp(options->type, "topo") == 0)
        return info_topo();
    return complain("info has no type \"%s\": give -t board, memory or topo", options->type);
}

/* ---- set ---- */

static int
set(const struct options *options)
{
    struct rt_secverify state;
    bool enable;

    if (options->type == NULL)
        return complain("give a type: set -t custom-op-secverify-enable or -t "
                        "custom-op-secverify-mode");
    enable = strcmp(options->type, "custom-op-secverify-enable") == 0;
    if (!enable && strcmp(options->type, "custom-op-secverify-mode") != 0)
        return complain("set has no type \"%s\": give -t custom-op-secverify-enable or "
                        "custom-op-secverify-mode",
                        options->type);
    if (options->npu == NOT_GIVEN || options->value == NOT_GIVEN)
        return complain("%s is missing: set -t %s -i <npu id> -d <value>",
                        options->npu == NOT_GIVEN ? "-i" : "-d", options->type);
    if (options->value > 1)
        return complain("value %d of %s: give -d 0 or -d 1", options->value, options->type);
    if (rt_secverify_get(options->npu, &state) != ACL_SUCCESS)
        return 1;
    *(enable ? &state.enable : &state.mode) = options->value;
    if (rt_secverify_set(options->npu, &state) != ACL_SUCCESS)
        return 1;
    printf("Status                         : OK\n"
           "Message                        : %s of NPU %d is set to %d\n",
           options->type, options->npu, options->value);
    if (!enable && state.enable != 1)
        printf("Message                        : it counts once custom-op-secverify-enable is 1\n");
    return 0;
}

/* ---- the command line ---- */

/* A number from 0 on; false: it is none. */
static bool
read_number(const char *text, int32_t *number)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);

    *number = (int32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value <= INT32_MAX;
}

static int
read_option(struct options *options, const char *name, const char *value)
{
    int32_t *number = strcmp(name, "-i") == 0   ? &options->npu
                      : strcmp(name, "-c") == 0 ? &options->chip
                      : strcmp(name, "-d") == 0 ? &options->value
                                                : NULL;

    if (number == NULL && strcmp(name, "-t") != 0)
        return complain("there is no option %s; `npu-smi -h` tells what there is", name);
    if (value == NULL)
        return complain("option %s needs a value", name);
    if (number == NULL)
        options->type = value;
    else if (!read_number(value, number))
        return complain("%s %s: a number from 0 on is expected", name, value);
    return 0;
}

static int
read_options(struct options *options, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "-l") == 0) {
            options->list = true;
        } else if (strcmp(argv[i], "-m") == 0) {
            options->mapping = true;
        } else if (read_option(options, argv[i], argv[i + 1]) != 0) {
            return 1;
        } else {
            i++;
        }
    }
    if (options->npu != NOT_GIVEN && (uint32_t)options->npu >= npu_num)
        return complain("there is no NPU %d: ids are 0 to %u", options->npu, npu_num - 1);
    if (options->chip != NOT_GIVEN &&
        (uint32_t)options->chip >= chips_of(options->npu == NOT_GIVEN ? 0 : (uint32_t)options->npu))
        return complain("the NPU has no chip %d", options->chip);
    return 0;
}

static int
help(void)
{
    puts("usage: npu-smi info [-l | -m | -t board|memory|topo] [-i <npu id>] [-c <chip id>]\n"
         "       npu-smi set -t custom-op-secverify-enable|custom-op-secverify-mode -i <npu id> -d "
         "<0|1>\n\n"
         "Kernels are verified unless enable is 1 and mode is 0.");
    return 0;
}

int
main(int argc, char **argv)
{
    struct options options = {.npu = NOT_GIVEN, .chip = NOT_GIVEN, .value = NOT_GIVEN};
    const char *what = argc < 2 ? "" : argv[1];

    if (strcmp(what, "-h") == 0 || strcmp(what, "--help") == 0)
        return help();
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    if (rt_device_count() == 0 || hc_knob_int(KNOB_DEVICE_MEMORY, &memory_mib) != HCCL_SUCCESS)
        return 1; /* the reason has been logged */
    npu_num = (rt_device_count() + rt_npu_chips() - 1) / rt_npu_chips();
    if (strcmp(what, "-v") == 0) {
        printf("npu-smi version: %s\n", version());
        return 0;
    }
    if (strcmp(what, "info") != 0 && strcmp(what, "set") != 0)
        return complain("give a command: info or set; `npu-smi -h` tells more");
    if (read_options(&options, argc, argv) != 0)
        return 1;
    return strcmp(what, "info") == 0 ? info(&options) : set(&options);
}
