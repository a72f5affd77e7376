/* SPDX-License-Identifier: MIT */
#ifndef LW_API_EVALUATE_H
#define LW_API_EVALUATE_H
/* The emitted C on many samples. */
#include "api/scores.h"
#include "quantizer/quantizer.h"

#define EVALUATED_NAME "evaluated"      /* the name under which a build must be emitted to be evaluated */

/* Emits the build, builds it with $CC, and runs it once on all samples, which are stored as its ports. `b` has its
 * nests. False on error. */
bool outputs_emitted(Build *b, const Samples *s, Outputs *out);
/* Real numbers from the elements of `count` samples of an output. */
Outputs outputs_new(Ctx *cx, const Tensor *t, int64_t count);
void outputs_put(Outputs *y, const Tensor *t, int64_t sample, const void *data);
#endif
