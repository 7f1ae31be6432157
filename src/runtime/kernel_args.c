/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/kernel_args.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

static void args_fini(void *obj);

struct hc_table rt_args_table = HC_TABLE("argument block", HC_KIND_ARGS, args_fini);

static _Thread_local struct rt_args *mine;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void
args_fini(void *obj)
{
    hc_free(obj);
}

static void
thread_ends(void *arg)
{
    struct rt_args *args = arg;

    mine = NULL;
    (void)hc_handle_close(&rt_args_table, args->handle);
}

static void
make_key(void)
{
    (void)pthread_key_create(&key, thread_ends);
}

static struct rt_args *
args_new(void)
{
    struct rt_args *args = hc_zalloc_aligned(16, sizeof *args);

    if (args == NULL)
        return NULL;
    args->handle = hc_handle_reserve(&rt_args_table);
    if (args->handle == 0) {
        hc_free(args);
        return NULL;
    }
    hc_handle_publish(&rt_args_table, args->handle, args);
    (void)pthread_once(&key_once, make_key);
    (void)pthread_setspecific(key, args);
    return args;
}

aclError
rt_args_begin(uint64_t function, struct rt_args **args)
{
    if (mine == NULL)
        mine = args_new();
    if (mine == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    mine->function = function;
    mine->len = mine->param_num = 0;
    mine->laid_out = mine->finalized = false;
    *args = mine;
    return ACL_SUCCESS;
}

aclError
rt_args_of(uint64_t handle, const char *caller, struct rt_args **args)
{
    if (mine != NULL && mine->handle == handle) {
        *args = mine;
        return ACL_SUCCESS;
    }
    if (hc_handle_hold(&rt_args_table, handle) != NULL) {
        hc_handle_release(&rt_args_table, handle);
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: the argument block belongs to another thread; call "
                       "aclrtKernelArgsInit on this one",
                       caller);
    }
    return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: argument handle 0x%llx is %s", caller,
                   (unsigned long long)handle, hc_handle_guess(&rt_args_table, handle));
}

/* Room for `len` more bytes after `offset`. */
static aclError
check_room(uint32_t offset, size_t len)
{
    if (offset <= RT_ARGS_LEN && len <= RT_ARGS_LEN - offset)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "kernel arguments of %zu bytes after %u: %u is the most; pass the address of "
                   "device memory instead",
                   len, offset, RT_ARGS_LEN);
}

static aclError
add_param(struct rt_args *args, size_t len, struct rt_param **param)
{
    aclError rc;

    if (args->finalized || args->laid_out)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "kernel arguments: no parameter can be added after %s",
                       args->finalized ? "aclrtKernelArgsFinalize"
                                       : "aclrtKernelArgsGetPlaceHolderBuffer");
    if (args->param_num == RT_ARGS_PARAMS)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "kernel arguments: %u parameters are the most",
                       RT_ARGS_PARAMS);
    rc = check_room(args->len, len);
    if (rc != ACL_SUCCESS)
        return rc;
    *param = &args->params[args->param_num++];
    **param = (struct rt_param){.offset = args->len, .len = (uint32_t)len};
    args->len += (uint32_t)len;
    return ACL_SUCCESS;
}

aclError
rt_args_append(struct rt_args *args, const void *value, size_t len, uintptr_t *param)
{
    struct rt_param *added;
    aclError rc = add_param(args, len, &added);

    if (rc != ACL_SUCCESS)
        return rc;
    memcpy(args->block + added->offset, value, len);
    *param = args->param_num;
    return ACL_SUCCESS;
}

aclError
rt_args_place_holder(struct rt_args *args, uintptr_t *param)
{
    struct rt_param *added;
    aclError rc = add_param(args, sizeof(uint64_t), &added);

    if (rc != ACL_SUCCESS)
        return rc;
    added->place_holder = true;
    memset(args->block + added->offset, 0, sizeof(uint64_t));
    *param = args->param_num;
    return ACL_SUCCESS;
}

static aclError
find_param(struct rt_args *args, uintptr_t number, bool place_holder, struct rt_param **param)
{
    if (number == 0 || number > args->param_num)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "kernel arguments: parameter handle 0x%llx is none of the %u of this block",
                       (unsigned long long)number, args->param_num);
    *param = &args->params[number - 1];
    if ((*param)->place_holder != place_holder)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "kernel arguments: parameter %llu is %s place-holder",
                       (unsigned long long)number, place_holder ? "no" : "a");
    return ACL_SUCCESS;
}

aclError
rt_args_data(struct rt_args *args, uintptr_t number, size_t len, void **data)
{
    uint32_t offset = (args->len + 7u) & ~7u;
    struct rt_param *param;
    aclError rc;

    if (args->finalized)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "kernel arguments: no place-holder gets data after aclrtKernelArgsFinalize");
    rc = find_param(args, number, true, &param);
    if (rc == ACL_SUCCESS && param->data_offset != 0)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "kernel arguments: place-holder %llu has its data",
                     (unsigned long long)number);
    if (rc == ACL_SUCCESS)
        rc = check_room(offset, len);
    if (rc != ACL_SUCCESS)
        return rc;
    memset(args->block + args->len, 0, offset - args->len + len);
    param->data_offset = offset; /* never 0: the place-holder itself comes before */
    args->len = offset + (uint32_t)len;
    args->laid_out = true;
    *data = args->block + offset;
    return ACL_SUCCESS;
}

aclError
rt_args_update(struct rt_args *args, uintptr_t number, const void *value, size_t len)
{
    struct rt_param *param;
    aclError rc = find_param(args, number, false, &param);

    if (rc == ACL_SUCCESS && len != param->len)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "kernel arguments: parameter %llu has %u bytes, the new value %zu",
                     (unsigned long long)number, param->len, len);
    if (rc != ACL_SUCCESS)
        return rc;
    memcpy(args->block + param->offset, value, len);
    args->finalized = false;
    return ACL_SUCCESS;
}
