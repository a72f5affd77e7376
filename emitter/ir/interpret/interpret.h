/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_INTERPRET_H
#define LW_IR_INTERPRET_INTERPRET_H
/* Runs a loop nest. A nest is compiled to lanes of register code with strided addresses (program.h). If the nest must
 * be checked, visited or shuffled, it is executed statement by statement instead (walk.c). Without `checked`, only
 * accesses outside a whole tensor are errors. */
#include "ir/interpret/evaluate.h"
#include "ir/nest/nest.h"

/* Is called for every instance of a block that runs, with the values of the stage's axes. */
typedef void InstanceVisit(void *user, const Stmt *block, const int64_t *axis);

typedef struct RunOptions {
    /* True if the run stops at an access outside a window, or a bind outside its axis. The run also stops at a read of
     * an element that was never written or is overwritten in its ring, and at an output element that was never
     * written. */
    bool checked;
    /* If not 0, parallel loops run in an order shuffled by this seed, and vector loops run in lockstep. */
    uint64_t shuffle;
    /* When an asynchronous copy moves its elements. With `shuffle`, each copy does either. */
    enum { COPIES_AT_START, COPIES_AT_WAIT } copies;
    InstanceVisit *visit; void *user;       /* visit may be NULL */
    /* [interpret_path_count()]: counters to which the runs of each path of the fast interpreter are added, or NULL. */
    int64_t *ran;
} RunOptions;

/* Returns the number of paths of the fast interpreter: kernels, kinds of loads and stores, orders of loops. Tests show
 * that each path runs. */
int interpret_path_count(void);
const char *interpret_path_name(Ctx *cx, int path);

/* Runs the nest. Reads inputs from e and writes outputs, which it allocates in e if they are absent. */
bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options);

/* Returns the compiled nest, in the environment's arena, for many runs on one environment whose tensors keep their
 * addresses. A run allocates nothing. Returns NULL if the nest has two versions or must be walked, or after a
 * diagnostic. */
struct Loop *interpret_compile(Ctx *cx, const Nest *n, Env *e);
bool interpret_compiled(Ctx *cx, struct Loop *program);
#endif
