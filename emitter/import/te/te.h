/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TE_TE_H
#define LW_IMPORT_TE_TE_H
/* The .te language: tensors, formulas, operator calls and a schedule in one readable file. A '#' begins a comment; a
 * statement ends with its line unless a bracket is open.
 *
 *   size n in 1..1024                      a symbolic size and its range; or size n = 1..1024
 *   input a: f32[n][512]
 *   input h: f32[3] = {0, 0.5, 1}          has a value: a constant, or where it is state (--state) what that begins with
 *   const w: f32[3] = {0.25, 0.5, 0.25}    or = [0.25, 0.5, 0.25], or = "w.npy", beside the file
 *   c[i, j] = sum(k) a[i, k] * b[k, j]     a formula (ir/text/formula.h); the stage has the tensor's name, loops are c.i, c.j, c.k
 *   promise s: f32[n][512]                 read before it is made, by itself or by what it reads: s[i ordered, j] = (s[i-1, j]? : 0) + ...
 *   y = conv2d(c, w, stride=2,2, pad=1)    an operator; `_` stands for an input left out
 *   output y                               or several: output y, z
 *   schedule                               steps (schedule/schedule.h), indented, one a line
 *     split c.i 8 names=io,ii
 *
 * An index that is read from a tensor, as in x[at[i]], is clamped to x: data never lead outside of it.
 * With formulas or steps the file is one nest, and calls are expanded where they stand; a file of calls alone is a model
 * like any other. */
#include "import/model/model.h"
#include "ir/nest/nest.h"

typedef struct TeStep {
    const char *text;                /* as the schedule reads it */
    const char *path, *whole;        /* for diagnostics: the file, and its text */
    size_t begin, end;               /* of the step in it */
} TeStep;

/* `path` is for diagnostics and .npy files. False: see the diagnostics. */
bool te_read(Ctx *cx, const char *path, const char *text, const ImportOptions *options, Model *out);
/* The nest after the step; a refusal is a diagnostic at the step's line. */
const Nest *te_step(Ctx *cx, const Nest *n, const TeStep *step);
#endif
