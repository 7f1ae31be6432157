/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_env: variables of the environment, and what this process' ancestors tell (inside this layer).
 */
#ifndef HC_BOOTSTRAP_JOB_ENV_H
#define HC_BOOTSTRAP_JOB_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hccl/hccl_types.h"

/* A number from `least` to `most`. HCCL_E_PARA (logged): it is not set, or something else. */
HcclResult job_env_number(const char *name, uint32_t least, uint32_t most, uint32_t *value);

/* The text, or "" when it is not set. */
const char *job_env_text(const char *name);

/* Set, and not empty. */
bool job_env_has(const char *name);

/* Which process started this rank: the nearest ancestor whose environment has not the same values
 * of all of `names` (NULL at the end). Its number, and when it began in ticks since boot, which
 * together no other process of this boot has. 0: cannot tell. */
pid_t job_starter(const char *const names[], uint64_t *began);

/* When process `pid` began, in ticks since boot; 0: there is none, or it has ended. */
uint64_t job_began(pid_t pid);

#endif
