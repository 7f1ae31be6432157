/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model: what is learned. A linear regression for each parameter: from observations y of x * p,
 * find p. Every worker has one observation of each parameter, made from its number, with some
 * noise.
 *
 * The check wants the run to end with the very bits of a serial run, though the gradients of a step
 * are added in any order. So gradients are rounded to multiples of 1/1024 and stay below 32: then
 * FP32 adds those of MOST_WORKERS workers without any rounding, and the order does not matter.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#define MOST_WORKERS 255

/* The observations of one worker. */
typedef struct {
    float *x, *y; /* [parameters] */
} Data;

Data DataOf(uint32_t worker, uint64_t parameters);
void DataFree(Data *data);

/* gradient[i] = x[i] * (x[i] * p[i] - y[i]), rounded as said above */
void Gradient(const Data *data, const float *p, float *gradient, uint64_t parameters);

/* to[i] += gradient[i] */
void Add(float *to, const float *gradient, uint64_t parameters);

/* One step down the sum of the workers' gradients, which becomes 0 for the next step. */
void Apply(float *p, float *sum, uint64_t parameters, uint32_t workers);

/* How far `p` is from what the observations were made of, on average. */
double MeanError(const float *p, uint64_t parameters);

/* The parameters after `steps` steps in one thread, from zeros; to be freed. */
float *SerialRun(uint64_t parameters, uint64_t steps, uint32_t workers);

#endif
