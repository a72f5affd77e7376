/* SPDX-License-Identifier: MIT */
#ifndef LW_API_VERIFY_H
#define LW_API_VERIFY_H
/* The comparison of the emitted C with the interpreter, output by output, for reports. */
#include "api/elements.h"
#include "api/scores.h"

/* An output or, with --layers, a layer's result. sizes: " n=4" for a trial of open sizes, or "". */
typedef struct Validated {
    const char *name, *sizes;
    bool is_layer;
    int64_t elements;
    Difference difference;
    Errors errors;
} Validated;
typedef struct Validation { const char *command; int count; const Validated *row; int wrong; } Validation;

/* Builds and runs the C as lw_verify does, on the inputs of the options. Returns NULL on error; outputs beyond the
 * tolerance are counted in `wrong`. */
const Validation *validation_of(Ctx *cx, const char *model, const lw_options *o);

/* Does what lw_verify does, on several vectors with one build. A vector has the data of each of the model's inputs. A
 * model with open sizes runs on generated inputs instead, whose sizes differ. */
typedef struct InputSets { int count; const char *const *name; const void *const *const *inputs; } InputSets;
const char *verify_vectors(Ctx *cx, const char *model, const InputSets *vectors, const lw_options *o);
#endif
