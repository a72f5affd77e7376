/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_INTERPRET_H
#define LW_IR_INTERPRET_INTERPRET_H
/* Runs a loop nest: compiled to lanes of register code with strided addresses (program.h) or, if it is to be checked,
 * visited or shuffled, statement by statement (walk.c). Without `checked` only accesses outside a whole tensor are
 * errors. */
#include "ir/interpret/evaluate.h"
#include "ir/nest/nest.h"

/* Called for every instance of a block that runs, with the values of the stage's axes. */
typedef void InstanceVisit(void *user, const Stmt *block, const int64_t *axis);

typedef struct RunOptions {
    /* Stops at an access outside a window, a read of an element never written or overwritten in its ring, a bind
     * outside its axis, an output element never written */
    bool checked;
    uint64_t shuffle;      /* not 0: parallel loops run in an order shuffled by this seed, vector loops in lockstep */
    InstanceVisit *visit; void *user;       /* may be NULL */
    int64_t *ran;          /* [interpret_path_count()] how often each path of the fast interpreter ran is added; NULL */
} RunOptions;

/* The paths of the fast interpreter: kernels, kinds of loads and stores, orders of loops. Tests show that each runs. */
int interpret_path_count(void);
const char *interpret_path_name(Ctx *cx, int path);

/* Reads inputs from e; writes outputs, allocating them in e if absent. */
bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options);

/* For many runs on one environment whose tensors keep their places: returns the compiled nest, in the environment's
 * arena; NULL: the nest has two versions or must be walked, or a diagnostic was given. A run allocates nothing. */
struct Loop *interpret_compile(Ctx *cx, const Nest *n, Env *e);
bool interpret_compiled(Ctx *cx, struct Loop *program);
#endif
