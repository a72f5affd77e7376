/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_EMIT_BATCH_H
#define FUZZ_EMIT_BATCH_H
/* Many lowered nests in one C program, which runs each on its data and compares with the expected values, bit for bit
 * (any NaN equals any NaN). A separate context owns the text, so a nest's context may be freed after the nest was
 * added. */
#include "ir/interpret/evaluate.h"
#include "ir/nest/nest.h"

typedef struct EmitBatch EmitBatch;

EmitBatch *emit_batch_new(void);
void emit_batch_free(EmitBatch *b);
/* Lets the program run each nest three times: with copies at their starts, at their waits, and in between. Declared
 * memories are then arrays of their bytes, so that a sanitizer of addresses sees an access beyond them. */
void emit_batch_orders(EmitBatch *b);
/* `env` holds the sizes, the inputs and, as expected, the outputs' data. A nest with the text and data of an earlier
 * one shares its function. False where lowering fails: cx has the diagnostic. */
bool emit_batch_add(EmitBatch *b, Ctx *cx, const char *label, const Nest *n, const Env *env);
/* The same; the input `before` has no array of its own: its elements are in the array of the output `after`. NULL: no
 * such input. */
bool emit_batch_add_in_place(EmitBatch *b, Ctx *cx, const char *label, const Nest *n, const Env *env,
                             const Tensor *before, const Tensor *after);
int  emit_batch_count(const EmitBatch *b);      /* the functions of the program */
int  emit_batch_lanes(const EmitBatch *b);      /* of the next nest's vectors; 0: it has none */
const char *emit_batch_text(EmitBatch *b);
/* Writes STEM-PROCESS.c, so that no two runs share a file, compiles it with `cc flags` (from the project's root, for
 * -Iruntime), runs it: it prints a line for each mismatch. The number of mismatches; -1, after a line that says why,
 * where it does not compile or run. Both files are removed without mismatches, else their path is printed. */
int  emit_batch_run(EmitBatch *b, const char *stem, const char *cc, const char *flags);
#endif
