/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo: the text in which programs ask for algorithms, HCCL_ALGO and hcclAlgo (inside this layer
 * only):
 *
 *     LEVELS              for all operations, or for some:   OP=LEVELS/OP=LEVELS...
 *     LEVELS:             level0:NA;level1:NAME;level2:NAME  any of them, each at most once
 *
 * Here it is only checked; whoever has algorithms looks at what they are to be.
 */
#ifndef HC_COMM_ALGO_H
#define HC_COMM_ALGO_H

#include <stdbool.h>

#define ALGO_WHY_LEN 256u

/* The text (not empty) has that form. false: it has not, and `why` says what is wrong. */
bool algo_good(const char *text, char why[ALGO_WHY_LEN]);

#endif
