/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_SCHEDULE_H
#define LW_SCHEDULE_SCHEDULE_H
/* Schedule primitives: nest in, nest out. Each finds its loop by name, shows that the rewrite keeps every value, or
 * refuses with a diagnostic (naming the primitive, the loop or tensor, the dependence or size at fault, whether the step
 * is "wrong" or "unproved", and what would be accepted) and returns the nest it was given: the old nest stands.
 * An accepted step is appended to the nest's trace as text. Loop names are "stage.loop"; new names default to loop+"o", loop+"i". */
#include "ir/nest.h"

typedef enum Tail { TAIL_GUARD, TAIL_PEEL } Tail;

/* Where several steps are applied in a row, the caller may check ctx_failed once at the end. */
const Nest *sched_split(Ctx *cx, const Nest *n, const char *loop, int64_t factor, Tail tail, const char *outer, const char *inner); /* names may be NULL */
/* Moves the iterations of a loop for which a guard below may fail to a copy behind it (stages named S@tail), so that the
 * loop itself runs without those guards. Everything attached inside is copied too: peel last. */
const Nest *sched_peel(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_tile(Ctx *cx, const Nest *n, const char *x, const char *y, int64_t fx, int64_t fy, Tail tail);
const Nest *sched_fuse(Ctx *cx, const Nest *n, const char *outer, const char *inner, const char *fused);
const Nest *sched_reorder(Ctx *cx, const Nest *n, const char *const *loops, int count, bool reassociate);
const Nest *sched_unroll(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_vectorize(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_parallel(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_compute_at(Ctx *cx, const Nest *n, const char *stage, const char *loop);
const Nest *sched_store_at(Ctx *cx, const Nest *n, const char *stage, const char *loop);     /* loop NULL: root */
const Nest *sched_compute_inline(Ctx *cx, const Nest *n, const char *stage);
const Nest *sched_compute_root(Ctx *cx, const Nest *n, const char *stage);
const Nest *sched_cache_read(Ctx *cx, const Nest *n, const char *tensor, const char *const *readers, int count,
                             const char *name, Scope scope, bool widen, DType as);
const Nest *sched_cache_write(Ctx *cx, const Nest *n, const char *stage, const char *name, Scope scope);
const Nest *sched_set_scope(Ctx *cx, const Nest *n, const char *tensor, Scope scope);
const Nest *sched_decompose_reduction(Ctx *cx, const Nest *n, const char *stage, const char *loop);

/* One step written as in a .te file: `split conv.h 4 tail=peel names=ho,hi`. The table of primitives is in steps.c. */
const Nest *sched_step(Ctx *cx, const Nest *n, const char *text);
const char *const *sched_primitives(Ctx *cx, int *count);      /* their names */
#endif
