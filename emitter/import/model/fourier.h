/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_FOURIER_H
#define LW_IMPORT_MODEL_FOURIER_H
/* Computes Fourier transforms as calls of butterflies (ops/integer/fourier.c). A complex number is a last dimension of
 * 2. Results of floats are not divided: a transform and its inverse multiply by the number of points.
 *
 * FOURIER_REFERENCE has the steps, and therefore the bits, of TensorFlow Lite Micro's signal library, for a power of
 * two points; in i16 and i32 each call divides. FOURIER_FAST executes the fewest operations, for floats and any number
 * of points. */
#include "graph/dag/op.h"

enum { MOST_FOURIER_POINTS = 1 << 16 };
typedef enum FourierSteps { FOURIER_FAST, FOURIER_REFERENCE } FourierSteps;
/* Cuts a dimension of x to `size`, or pads it with zeros. */
Tensor *fourier_fitted(Ctx *cx, const char *name, Tensor *x, int axis, int64_t size);
/* Returns x [rows][points] as complex numbers with imaginary parts of 0. */
Tensor *fourier_as_complex(Ctx *cx, const char *name, Tensor *x);
/* Transforms x; x and the result are [rows][points][2]. */
Tensor *fourier(Ctx *cx, const char *name, Tensor *x, bool inverse, FourierSteps steps);
/* Transforms x [rows][length] to the spectrum up to the middle, [rows][length / 2 + 1][2]. fourier_to_real is the
 * inverse. */
Tensor *fourier_of_real(Ctx *cx, const char *name, Tensor *x, FourierSteps steps);
Tensor *fourier_to_real(Ctx *cx, const char *name, Tensor *x, int64_t length, FourierSteps steps);
/* Returns the whole spectrum [rows][length][2] of real numbers, given its first half; `conjugated`: the whole spectrum
 * of the inverse transform. */
Tensor *fourier_mirrored(Ctx *cx, const char *name, Tensor *x, int64_t length, bool conjugated);

#endif
