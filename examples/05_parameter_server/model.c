/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <math.h>
#include <stdlib.h>

#include "ranks.h"

#define GRID 1024.0f      /* gradients are multiples of 1 / GRID */
#define RATE 0.25f        /* of a step */
#define LARGEST_NOISE 0.1 /* of an observation */

static float *
Floats(uint64_t count)
{
    float *floats = calloc(count, sizeof *floats);

    Must(floats == NULL, "calloc");
    return floats;
}

/* A number from 0 to 1 that depends on nothing but its arguments. */
static double
Chance(uint64_t seed, uint64_t i)
{
    uint64_t bits = (seed << 40) + i + 1;

    bits = (bits ^ (bits >> 31)) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9u;
    bits ^= bits >> 32;
    return (double)(bits >> 11) / (double)(1ull << 53);
}

static double
Target(uint64_t i)
{
    return 16 * Chance(0, i) - 8;
}

Data
DataOf(uint32_t worker, uint64_t parameters)
{
    Data data = {Floats(parameters), Floats(parameters)};

    for (uint64_t i = 0; i < parameters; i++) {
        double x = 0.5 + Chance(2 * worker + 1, i);
        double noise = (2 * Chance(2 * worker + 2, i) - 1) * LARGEST_NOISE;

        data.x[i] = (float)x;
        data.y[i] = (float)(x * Target(i) + noise);
    }
    return data;
}

void
DataFree(Data *data)
{
    free(data->x);
    free(data->y);
}

void
Gradient(const Data *data, const float *p, float *gradient, uint64_t parameters)
{
    const float *x = data->x, *y = data->y;

    for (uint64_t i = 0; i < parameters; i++)
        gradient[i] = (float)(int32_t)(x[i] * (x[i] * p[i] - y[i]) * GRID) / GRID;
}

void
Add(float *to, const float *gradient, uint64_t parameters)
{
    for (uint64_t i = 0; i < parameters; i++)
        to[i] += gradient[i];
}

void
Apply(float *p, float *sum, uint64_t parameters, uint32_t workers)
{
    float rate = RATE / (float)workers;

    for (uint64_t i = 0; i < parameters; i++) {
        p[i] -= rate * sum[i];
        sum[i] = 0;
    }
}

double
MeanError(const float *p, uint64_t parameters)
{
    double sum = 0;

    for (uint64_t i = 0; i < parameters; i++)
        sum += fabs((double)p[i] - Target(i));
    return sum / (double)parameters;
}

float *
SerialRun(uint64_t parameters, uint64_t steps, uint32_t workers)
{
    float *serial = Floats(parameters), *sum = Floats(parameters), *gradient = Floats(parameters);
    Data *data = calloc(workers, sizeof *data);

    Must(data == NULL, "calloc");
    for (uint32_t worker = 0; worker < workers; worker++)
        data[worker] = DataOf(worker, parameters);
    for (uint64_t step = 0; step < steps; step++) {
        for (uint32_t worker = 0; worker < workers; worker++) {
            Gradient(&data[worker], serial, gradient, parameters);
            Add(sum, gradient, parameters);
        }
        Apply(serial, sum, parameters, workers);
    }
    for (uint32_t worker = 0; worker < workers; worker++)
        DataFree(&data[worker]);
    free(data);
    free(gradient);
    free(sum);
    return serial;
}
