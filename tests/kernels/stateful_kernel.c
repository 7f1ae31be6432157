/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel library with a static variable: each device has its own copy of it. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct count_args {
    uint32_t *out;
};

struct sleep_args {
    uint32_t *out;
    uint32_t ms;
};

struct echo_args {
    uint8_t *out;
    uint64_t len;
    uint8_t bytes[];
};

struct block_info {
    uint32_t id, num;
};

struct batch_args {
    _Bool (*begin)(void);
    void (*push)(void);
};

EXPORT uint32_t CountCalls(void *args);
EXPORT uint32_t ReturnSeven(void *args);
EXPORT uint32_t SleepThenSet(void *args);
EXPORT uint32_t Echo(void *args);
EXPORT uint32_t FollowPointer(void *args);
EXPORT uint32_t RunCpuKernelWithBlockDim(void *args, struct block_info *info);
EXPORT uint32_t LeaveBatchOpen(void *args);
EXPORT uint32_t CallBack(void *args);
EXPORT uint32_t CallBackGrouped(void *args);

static uint32_t calls;

uint32_t
CountCalls(void *args)
{
    struct count_args *count = args;

    *count->out = ++calls;
    return 0;
}

uint32_t
ReturnSeven(void *args)
{
    (void)args;
    return 7;
}

uint32_t
SleepThenSet(void *args)
{
    struct sleep_args sleep_args;

    memcpy(&sleep_args, args, sizeof sleep_args);
    usleep(sleep_args.ms * 1000);
    __atomic_store_n(sleep_args.out, 1, __ATOMIC_RELEASE);
    return 0;
}

uint32_t
Echo(void *args)
{
    struct echo_args *echo = args;

    memcpy(echo->out, echo->bytes, echo->len);
    return 0;
}

/* args: where to write, then the address of what to write (8 bytes). */
uint32_t
FollowPointer(void *args)
{
    void *out;
    const void *from;

    memcpy(&out, args, sizeof out);
    memcpy(&from, (const uint8_t *)args + sizeof out, sizeof from);
    memcpy(out, from, 8);
    return 0;
}

uint32_t
RunCpuKernelWithBlockDim(void *args, struct block_info *info)
{
    uint32_t *out;

    memcpy(&out, args, sizeof out);
    out[info->id] = info->num;
    return 0;
}

uint32_t
LeaveBatchOpen(void *args)
{
    struct batch_args *batch = args;

    if (!batch->begin())
        return 1;
    batch->push();
    return 0;
}

typedef uint32_t (*callback_fn)(void *args);

/* args: first the address of a function, which gets them all. */
uint32_t
CallBack(void *args)
{
    callback_fn fn;

    memcpy(&fn, args, sizeof fn);
    return fn(args);
}

/* The same, where a thread's handle comes before. */
uint32_t
CallBackGrouped(void *args)
{
    callback_fn fn;

    memcpy(&fn, (const uint8_t *)args + sizeof(uint64_t), sizeof fn);
    return fn(args);
}
