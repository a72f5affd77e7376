/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_SCHEDULE_H
#define LW_SCHEDULE_SCHEDULE_H
/* Schedule primitives: nest in, nest out. Each finds its loop by name, shows that the rewrite keeps every value, or
 * refuses with a diagnostic (its place is the step; it names the loop or tensor, the dependence or size at fault, whether the
 * step is "wrong" or "unproved", and what would be accepted) and returns the nest it was given: the old nest stands.
 * The checker proves the whole nest anew after every step (a caller that sets checks_late does so itself, at the end). An accepted step is appended to the nest's trace as text.
 *
 * Refusals are errors of the context, so after one the following steps do nothing: apply many, check ctx_failed once; or
 * try one between diag_mark and diag_rewind. Names of loops are STAGE.LOOP, or LOOP alone where that is unique. Copies of a
 * stage that peel makes are STAGE@tail, its init apart is STAGE@init. A typical order of steps: inline, split (guards),
 * reorder, compute_at from the output inwards, then shape what was attached, decompose_reduction, kinds, and peel last. */
#include "ir/nest/nest.h"

typedef enum Tail { TAIL_GUARD, TAIL_PEEL, TAIL_SHIFT, TAIL_ROUND } Tail;

/* LOOP becomes LOOPo * factor + LOOPi, or as named. Where the factor does not divide the extent, guards cut the last tile
 * (TAIL_GUARD), it is peeled (TAIL_PEEL), it begins earlier and makes some points again (TAIL_SHIFT), or it is made
 * whole, where the stages are padded that far (TAIL_ROUND). A vector loop leaves its kind to the inner, a parallel one to the outer loop. */
const Nest *sched_split(Ctx *cx, const Nest *n, const char *loop, int64_t factor, Tail tail, const char *outer, const char *inner);
/* Moves the iterations of a loop for which a guard below may fail to a copy behind it (stages named S@tail), so that the
 * loop itself runs without those guards. Everything attached inside is copied too: peel last. */
const Nest *sched_peel(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_tile(Ctx *cx, const Nest *n, const char *x, const char *y, int64_t fx, int64_t fy, Tail tail);
/* Two loops with nothing between them; the name defaults to both, one after the other. */
const Nest *sched_fuse(Ctx *cx, const Nest *n, const char *outer, const char *inner, const char *fused);
/* The named loops take the places they have in one chain, in this order. `reassociate` allows float reductions to change. */
const Nest *sched_reorder(Ctx *cx, const Nest *n, const char *const *loops, int count, bool reassociate);
const Nest *sched_unroll(Ctx *cx, const Nest *n, const char *loop);
/* The loop is split by `copies`, the remainder peeled, and the inner loop unrolled. */
const Nest *sched_unroll_by(Ctx *cx, const Nest *n, const char *loop, int64_t copies);
const Nest *sched_vectorize(Ctx *cx, const Nest *n, const char *loop);
/* The same, and in what is computed under the loop a*b + c of floats may be rounded once where the target has an fma. */
const Nest *sched_vectorize_contract(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_parallel(Ctx *cx, const Nest *n, const char *loop);
/* The loop runs over a reduce axis: partial results, one for each of its iterations, are made side by side and added up
 * afterwards (rfactor, compute_at, reorder, vectorize in one). Allows float reductions to change. */
const Nest *sched_vectorize_reduction(Ctx *cx, const Nest *n, const char *loop);
/* What a C compiler is told before the loop: "unroll N", "independent" or "simd". */
const Nest *sched_pragma(Ctx *cx, const Nest *n, const char *loop, const char *pragma);
/* What the loop reads first of an input `ahead` iterations later is asked for. */
const Nest *sched_prefetch(Ctx *cx, const Nest *n, const char *tensor, const char *loop, int64_t ahead);
/* The stage is computed in each iteration of the loop for what is needed there. Its loops are made anew, STAGE.AXIS, data axes
 * outside, without those of extent 1; its storage moves along unless store_at put it elsewhere. */
const Nest *sched_compute_at(Ctx *cx, const Nest *n, const char *stage, const char *loop);
/* The same for a stage at the root that has been shaped already: its outermost loop, over rows, runs over those that are needed there,
 * and what is inside of it stays. Its storage stays, too. */
const Nest *sched_compute_rows_at(Ctx *cx, const Nest *n, const char *stage, const char *loop);
const Nest *sched_store_at(Ctx *cx, const Nest *n, const char *stage, const char *loop);     /* loop NULL: root */
/* A stage stored outside of the loop where it is computed makes only what the iteration before has not made, after a warm-up
 * STAGE@warm before the loop, and keeps it in a ring of `slots`; 0: as few as will do; SLOTS_MASK: those, rounded up to a power
 * of two, so that a slot is found by a mask. */
enum { SLOTS_MASK = -1 };
const Nest *sched_fold_storage(Ctx *cx, const Nest *n, const char *stage, int64_t slots);
/* The same without a warm-up: what the first iteration misses is made in the loop itself, under a condition on its variable. */
const Nest *sched_fold_guarded(Ctx *cx, const Nest *n, const char *stage, int64_t slots);
const Nest *sched_compute_inline(Ctx *cx, const Nest *n, const char *stage);
/* The other direction: the stage is computed in each iteration of a loop of what it reads, for what was just made there. */
const Nest *sched_reverse_compute_at(Ctx *cx, const Nest *n, const char *stage, const char *loop);
/* The stage is stored in the loops of the one stage that it reads, which disappears. */
const Nest *sched_reverse_compute_inline(Ctx *cx, const Nest *n, const char *stage);
const Nest *sched_compute_root(Ctx *cx, const Nest *n, const char *stage);
/* A copy of the tensor for the readers (count 0: all), named TENSOR_SCOPE by default; widened to a type that holds it all. */
const Nest *sched_cache_read(Ctx *cx, const Nest *n, const char *tensor, const char *const *readers, int count,
                             const char *name, Scope scope, bool widen, DType as);
/* The computation moves to a new stage, STAGE_SCOPE by default, and the stage copies from it; both with fresh loops. */
const Nest *sched_cache_write(Ctx *cx, const Nest *n, const char *stage, const char *name, Scope scope);
/* The order of a buffer's dimensions in memory, each once, outermost first; "o/16" with "o%16" behind all others makes blocks. */
const Nest *sched_pack(Ctx *cx, const Nest *n, const char *tensor, const char *const *dimensions, int count);
/* Rows of the innermost dimension begin at multiples of so many elements. */
const Nest *sched_storage_align(Ctx *cx, const Nest *n, const char *tensor, int64_t elements);
/* The stage makes elements beyond its axis's end, up to a multiple, which nobody reads: loops over them need no guard. */
const Nest *sched_pad(Ctx *cx, const Nest *n, const char *stage, const char *axis, int64_t multiple);
const Nest *sched_set_scope(Ctx *cx, const Nest *n, const char *tensor, Scope scope);
/* The init of a reducing block stands apart, before the loop, in copies STAGE@init.LOOP of the data loops from there inwards. */
const Nest *sched_decompose_reduction(Ctx *cx, const Nest *n, const char *stage, const char *loop);

/* The reduce loop becomes a data axis of partial results, STAGE_rf by default, which the stage then reduces. Floats need
 * `reassociate`, for the order changes. Both stages get fresh loops. */
const Nest *sched_rfactor(Ctx *cx, const Nest *n, const char *stage, const char *loop, const char *name, bool reassociate);
/* The nest twice, under a condition on sizes and else (STAGE@else); in the first copy the condition is known. */
const Nest *sched_specialize(Ctx *cx, const Nest *n, const char *condition);
/* Declares an instruction, as ir/nest/instruction.h has it; tensorize refuses it where the target lacks the feature (NULL: none needed). */
const Nest *sched_instruction(Ctx *cx, const Nest *n, const char *declaration, const char *feature);
/* The loop and all inside as a unit; printed as the macro of a declared instruction, whose formula it must compute. */
const Nest *sched_blockize(Ctx *cx, const Nest *n, const char *loop);
const Nest *sched_tensorize(Ctx *cx, const Nest *n, const char *loop, const char *macro);

/* One step written as in a .te file: `split conv.h 4 tail=peel names=ho,hi`. The table of primitives is in steps.c. */
const Nest *sched_step(Ctx *cx, const Nest *n, const char *text);
/* The same with its stages and tensors called otherwise: a step of one nest, taken on another. */
typedef const char *RenameStage(Ctx *cx, const char *stage, void *user);
const Nest *sched_step_renamed(Ctx *cx, const Nest *n, const char *text, RenameStage *rename, void *user);
#endif
