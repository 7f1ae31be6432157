/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/process.h"

#include <pthread.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t process_id; /* set once */

static void
make(void)
{
    if (getrandom(&process_id, sizeof process_id, 0) != (ssize_t)sizeof process_id)
        process_id = hc_now_ns() ^ ((uint64_t)getpid() << 40) ^ (uint64_t)time(NULL);
    if (process_id == 0)
        process_id = 1;
}

uint64_t
hc_process_id(void)
{
    (void)pthread_once(&once, make);
    return process_id;
}
