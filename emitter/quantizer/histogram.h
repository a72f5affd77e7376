/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_HISTOGRAM_H
#define LW_QUANTIZER_HISTOGRAM_H
/* A histogram, and the range of a grid chosen from it. The histogram's range grows by powers of two, so it does not
 * depend on the order of the values. */
#include "graph/quantize/requantize.h"

enum { HISTOGRAM_BINS = 2048 };

/* Bins of equal width over [-2^exponent, 2^exponent). */
typedef struct Histogram {
    /* the count of all values, and the count of values that are exactly zero, which are in no bin */
    int64_t count, zeros;
    int exponent;                      /* the exponent of the range; meaningless if all values are zero */
    double least, greatest;            /* the extremes of all values and 0 */
    float first; bool varies;          /* the first value; true if a later value differs */
    int64_t *bin;                      /* [HISTOGRAM_BINS]; NULL before the first value that is not zero */
} Histogram;

void histogram_add(Arena *arena, Histogram *h, const float *v, int64_t count);

/* Returns the 8-bit asymmetric grid of a range, which is extended to contain zero. An empty range gets [0, 1]. */
Grid grid_of_range(double low, double high);
/* Return the ends of the range that a grid covers. */
double grid_low(const Grid *g);
double grid_high(const Grid *g);
/* Return the grid of a histogram: from minimum to maximum; or over the range with the least squared error of clipping
 * and rounding, among shrinks of both ends. */
Grid grid_whole(const Histogram *h);
Grid grid_least_error(const Histogram *h);
/* Ranges by a method. PERCENTILE: both ends leave a 10,000th of the values out. DIVERGENCE: the shrinks of the ends
 * whose values on 256 levels have the least Kullback-Leibler divergence from the histogram. LEAST_ERROR: of these and
 * of the scan of grid_least_error, the range with the least squared error. */
typedef enum RangeMethod {
    RANGE_LEAST_ERROR, RANGE_SQUARED, RANGE_MIN_MAX, RANGE_PERCENTILE, RANGE_DIVERGENCE,
    RANGE_CURVES,                      /* like LEAST_ERROR, before ranges by the error of functions (calibrate.c) */
    RANGE_BEST                         /* whichever method above gives the lowest noise at the network's outputs */
} RangeMethod;
Grid grid_by(RangeMethod method, const Histogram *h);
/* Returns the grid with a step of at most SHORT_BITS significant bits, over the same range. */
enum { SHORT_BITS = 8 };
Grid grid_short(Grid g);
/* Returns the 16-bit symmetric grid that covers all values. */
Grid grid_wide(const Histogram *h);
/* Returns the mean squared error of the histogram's values on the range's grid. */
double histogram_error(const Histogram *h, double low, double high);
#endif
