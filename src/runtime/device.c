/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What soft NPUs there are and what they claim to be. The protocol between two devices follows
 * from the SoC's generation, and so must every answer here, or programs choose algorithms that do
 * not fit together:
 *
 *   A2   one die a chip, every pair of a server linked directly (HCCS)
 *   A3   two dies a chip (SIO between them), everything else through switches (HCCS_SW)
 *   950  a mesh of rows of 8 physical ids: a direct link within a row or column, else a switch
 */
#include "runtime/device.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/knobs.h"
#include "base/log.h"

#define MESH_ROW 8
#define MIB (1024ll * 1024)
#define KIB 1024ll

struct soc {
    enum rt_soc generation;
    int64_t npu_arch;
    int64_t aicpu_cores, cube_cores, vector_cores;
    int64_t l2_bytes;
    int64_t warp_threads, core_threads, core_memory_bytes; /* SIMT; 0: there is none */
    int64_t grid_dim, block_threads;
};

static const struct soc socs[] = {
    [RT_SOC_A2] = {RT_SOC_A2, 2201, 6, 24, 48, 192 * MIB, 0, 0, 0, 0, 0},
    [RT_SOC_A3] = {RT_SOC_A3, 2201, 6, 24, 48, 192 * MIB, 0, 0, 0, 0, 0},
    [RT_SOC_950] = {RT_SOC_950, 3510, 8, 32, 64, 128 * MIB, 32, 2048, 256 * KIB, 65535, 2048},
};

/* The names that programs compare with; of the 950 family any name will do. */
static const char *const a2_names[] = {"Ascend910B1", "Ascend910B2", "Ascend910B2C",
                                       "Ascend910B3", "Ascend910B4", "Ascend910B4-1",
                                       NULL};
static const char *const a3_names[] = {
    "Ascend910_9391", "Ascend910_9381", "Ascend910_9392", "Ascend910_9382",
    "Ascend910_9372", "Ascend910_9362", "Ascend910_9363", NULL};

/* Written by read_environment() alone, read by anyone after it. */
static struct {
    bool good;
    char soc_name[32];
    const struct soc *soc;
    uint32_t count;                 /* user ids */
    int32_t visible[RT_DEVICE_MAX]; /* logical ids, by user id; only when `restricted` */
    bool restricted;
    int64_t memory_bytes;
} config;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;

static bool
is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

static const struct soc *
soc_of(const char *name)
{
    if (is_one_of(name, a2_names))
        return &socs[RT_SOC_A2];
    if (is_one_of(name, a3_names))
        return &socs[RT_SOC_A3];
    if (strncmp(name, "Ascend950", strlen("Ascend950")) == 0 &&
        strlen(name) < sizeof config.soc_name)
        return &socs[RT_SOC_950];
    return NULL;
}

static bool
read_soc(void)
{
    const char *name = hc_knob_str(KNOB_SOC_NAME);
    const struct soc *soc = soc_of(name);

    snprintf(config.soc_name, sizeof config.soc_name, "%.31s", name);
    config.soc = soc == NULL ? &socs[RT_SOC_A2] : soc; /* never NULL for those who ask anyway */
    if (soc == NULL)
        LOG_ERROR(RT,
                  "EI0001: %s is \"%s\"; set it to Ascend910B1 to B4, Ascend910_9391 or the like, "
                  "or Ascend950...",
                  hc_knob_info(KNOB_SOC_NAME)->env, name);
    return soc != NULL;
}

/* "1,2": logical ids in ascending order; what follows the first invalid entry does not count. */
static void
read_visible(const char *list, int64_t count)
{
    const char *at = list;
    int32_t last = -1;

    config.restricted = true;
    config.count = 0;
    for (;;) {
        char *end = NULL;
        long id;

        errno = 0;
        id = strtol(at, &end, 10);
        if (end == at || errno != 0 || id <= last || id >= count)
            break;
        end += strspn(end, " ");
        if (*end != ',' && *end != '\0')
            break;
        last = (int32_t)id;
        config.visible[config.count++] = last;
        if (*end == '\0')
            return;
        at = end + 1;
    }
    LOG_WARN(RT,
             "ASCEND_RT_VISIBLE_DEVICES is \"%s\": stopped reading at \"%s\", %u of %lld devices "
             "are visible",
             list, at, config.count, (long long)count);
}

static void
read_environment(void)
{
    const char *visible = getenv("ASCEND_RT_VISIBLE_DEVICES");
    int64_t count = 0, memory_mib = 0;
    bool good = read_soc();

    good = hc_knob_int(KNOB_DEVICE_COUNT, &count) == HCCL_SUCCESS && good;
    good = hc_knob_int(KNOB_DEVICE_MEMORY, &memory_mib) == HCCL_SUCCESS && good;
    config.memory_bytes = memory_mib * MIB;
    config.good = good;
    if (!good)
        return; /* count 0: nothing starts on a guess */
    config.count = (uint32_t)count;
    if (visible != NULL)
        read_visible(visible, count);
}

static void
need_config(void)
{
    (void)pthread_once(&config_once, read_environment);
}

bool
rt_device_known(void)
{
    need_config();
    return config.good;
}

uint32_t
rt_device_count(void)
{
    need_config();
    return config.count;
}

const char *
rt_soc_name(void)
{
    need_config();
    return config.soc_name;
}

enum rt_soc
rt_soc(void)
{
    need_config();
    return config.soc->generation;
}

aclError
rt_device_check(int32_t device, const char *function)
{
    uint32_t count = rt_device_count();

    if (count == 0)
        return rt_fail(ACL_ERROR_RT_NO_DEVICE,
                       "%s: there is no device; see HCOMM_DEVICE_COUNT and "
                       "ASCEND_RT_VISIBLE_DEVICES",
                       function);
    if (device < 0 || (uint32_t)device >= count)
        return rt_fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: no device %d; there are %u, from 0",
                       function, device, count);
    return ACL_SUCCESS;
}

int32_t
rt_device_logical(int32_t device)
{
    if (device < 0 || (uint32_t)device >= rt_device_count())
        return -1;
    return config.restricted ? config.visible[device] : device;
}

int32_t
rt_device_user(int32_t logical)
{
    uint32_t count = rt_device_count();

    if (!config.restricted)
        return logical >= 0 && (uint32_t)logical < count ? logical : -1;
    for (uint32_t device = 0; device < count; device++) {
        if (config.visible[device] == logical)
            return (int32_t)device;
    }
    return -1;
}

uint32_t
rt_device_cores(aclrtDevResLimitType type)
{
    need_config();
    return (uint32_t)(type == ACL_RT_DEV_RES_CUBE_CORE ? config.soc->cube_cores
                                                       : config.soc->vector_cores);
}

static int32_t
chip_of(int32_t physical)
{
    return config.soc->generation == RT_SOC_A3 ? physical / 2 : physical;
}

/* The attributes that say how a device computes; false: `attr` is none of them. */
static bool
core_attr(uint32_t attr, int64_t *value)
{
    const struct soc *soc = config.soc;

    switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = soc->aicpu_cores;
        return true;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = soc->cube_cores;
        return true;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = soc->vector_cores;
        return true;
    case ACL_DEV_ATTR_WARP_SIZE:
        *value = soc->warp_threads;
        return true;
    case ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE:
        *value = soc->core_threads;
        return true;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
        *value = soc->core_memory_bytes;
        return true;
    case ACL_DEV_ATTR_MAX_GRID_DIM_X:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Y:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Z:
    case ACL_DEV_ATTR_MAX_BLOCK_PER_GRID:
        *value = soc->grid_dim;
        return true;
    case ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_X:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Y:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Z:
        *value = soc->block_threads;
        return true;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = config.memory_bytes;
        return true;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *value = soc->l2_bytes;
        return true;
    case ACL_DEV_ATTR_NPU_ARCH:
        *value = soc->npu_arch;
        return true;
    default:
        return false;
    }
}

aclError
rt_device_attr(int32_t device, uint32_t attr, int64_t *value)
{
    int32_t physical = rt_device_logical(device);

    if (core_attr(attr, value))
        return ACL_SUCCESS;
    switch (attr) {
    case ACL_DEV_ATTR_PHY_CHIP_ID:
        *value = chip_of(physical);
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
        *value = physical;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
    case ACL_DEV_ATTR_SUPER_POD_ID:
    case ACL_DEV_ATTR_MAINBOARD_ID:
    case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0; /* one operating system, one server, one pod, no slice of a device */
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
        *value = 1; /* kernels are native code of this process: nothing restricts them */
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
        if (config.soc->generation != RT_SOC_950)
            return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "device attribute %u exists on the 950 family only; this is %s", attr,
                           config.soc_name);
        *value = attr == ACL_DEV_ATTR_HD_CONNECT_TYPE ? (int64_t)ACL_HOST_DEVICE_CONNECT_TYPE_UB
                                                      : (int64_t)ACL_DEVICE_FORM_FACTOR_POD;
        return ACL_SUCCESS;
    default:
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "there is no device attribute %u", attr);
    }
}

uint64_t
rt_device_link(int32_t device, int32_t other)
{
    int32_t a = rt_device_logical(device), b = rt_device_logical(other);

    if (a == b)
        return 0;
    switch (config.soc->generation) {
    case RT_SOC_A3:
        return chip_of(a) == chip_of(b) ? ACL_RT_DEVS_TOPOLOGY_SIO : ACL_RT_DEVS_TOPOLOGY_HCCS_SW;
    case RT_SOC_950:
        return a / MESH_ROW == b / MESH_ROW || a % MESH_ROW == b % MESH_ROW
                   ? ACL_RT_DEVS_TOPOLOGY_HCCS
                   : ACL_RT_DEVS_TOPOLOGY_HCCS_SW;
    default:
        return ACL_RT_DEVS_TOPOLOGY_HCCS;
    }
}
