/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_PROGRAMS_H
#define FUZZ_PROGRAMS_H
/* Random tensor programs: small DAGs of computes over small tensors, each a formula that a person could have written.
 * The same seed gives the same program. */
#include "ir/interpret/evaluate.h"
#include "ir/nest/nest.h"
#include "support/text.h"

typedef struct Random { uint64_t state; } Random;
Random   random_new(uint64_t seed);
uint64_t random_bits(Random *r);
int      random_below(Random *r, int n);               /* 0 .. n-1 */
bool     random_chance(Random *r, int percent);

enum { MAX_SIZES = 3, MOST_OUTPUTS = 4, MAX_TENSORS = 32 };
typedef struct Program {
    int size_count;   const Expr *size[MAX_SIZES]; int64_t size_value[MAX_SIZES];
    int tensor_count; Tensor *tensor[MAX_TENSORS];      /* inputs and the stages' outputs, in order of creation */
    int output_count; Tensor *output[MOST_OUTPUTS];
    Tensor *before, *after;                             /* an in-out tensor: its input, and its last update */
    bool is_rough;                                      /* floats with sums that depend on their order */
    DType type;                                         /* of most tensors */
} Program;

/* Sizes are limited to `most`; 0: unlimited */
Program *program_within(Ctx *cx, Random *r, int most);
/* The same with more kinds of operations and types, and longer dimensions: for kernels, and loops of many iterations */
Program *program_of_kernels(Ctx *cx, Random *r, int most);
/* The same with updates of an in-out tensor, mostly, and with reads of its old and new values */
Program *program_of_inout(Ctx *cx, Random *r, int most);
/* Sizes and inputs; values exact in any order of summing */
Env *program_env(Ctx *cx, const Program *p, uint64_t seed);
void program_print(Ctx *cx, Text *t, const Program *p);          /* as a .te file without its steps */
#endif
