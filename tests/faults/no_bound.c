/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_bound: preloaded into `hcomm perf`, it leaves floats no bound to lie within: every sum that
 * has been rounded is wrong, as it would be if a collective were.
 */
#include <math.h>

__attribute__((visibility("default"))) long double
powl(long double base, long double exponent)
{
    (void)base;
    (void)exponent;
    return 1;
}
