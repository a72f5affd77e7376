/* SPDX-License-Identifier: MIT */
#ifndef LW_API_EVALUATE_H
#define LW_API_EVALUATE_H
/* Runs the emitted C on many samples. */
#include "api/scores.h"
#include "quantizer/quantizer.h"

/* Returns the options as the program around a build requires them: a fixed name, one .c file, and an arena and ports
 * that the caller owns. */
lw_options evaluated_options(const lw_options *o);
/* Returns the beginning of a program around a build with these options, as text. The program has the includes, an array
 * for each input, and `in`, which bind_inputs() points at the arrays. read_inputs(FILE *) reads a sample into the
 * arrays and returns 0 at the end of the file. */
const char *evaluated_head(void);
/* Copies the inputs of a sample in the order in which read_inputs reads them; returns the address after them. NULL on
 * error. */
char *sample_put(Ctx *cx, const Samples *s, int64_t number, char *to);
size_t sample_bytes(const Samples *s);

/* Emits the build, builds it with $CC, and runs it once on all samples, which are stored in the types of the ports. `b`
 * must have its nests. Returns false on error. */
bool outputs_emitted(Build *b, const Samples *s, Outputs *out);
/* Returns memory for the elements of `count` samples of an output, as real numbers. */
Outputs outputs_new(Ctx *cx, const Tensor *t, int64_t count);
void outputs_put(Outputs *y, const Tensor *t, int64_t sample, const void *data);
#endif
