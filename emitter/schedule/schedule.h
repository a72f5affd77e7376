/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_SCHEDULE_H
#define LW_SCHEDULE_SCHEDULE_H
/* Schedule primitives map a nest to a nest. steps.def has a row for each. A primitive finds its loop by name and proves
 * that the rewrite keeps every value. Otherwise it refuses with a diagnostic at the step and returns its argument. The
 * checker proves the whole nest after every step, unless checks_late is set: then the caller runs it at the end. An
 * accepted step is appended to the nest's trace.
 *
 * Refusals are errors of the context, after which further steps are no-ops: apply many, test ctx_failed once; or try
 * one between diag_mark and diag_rewind. Names of loops are STAGE.LOOP, or only LOOP if unique. A copy of a stage that
 * peel adds is STAGE@tail, its separate init STAGE@init. A typical order of steps: inline, split (guards), reorder,
 * compute_at from the output inwards, then shape attached stages, decompose_reduction, kinds; last peel. */
#include "schedule/step/primitives.h"

/* Applies one step in the syntax of a .te file: `split conv.h 4 tail=peel names=ho,hi`. Roles (step/role.h) may replace
 * names. */
const Nest *sched_step(Ctx *cx, const Nest *n, const char *text);
/* Like sched_step, for a parsed step in which names have replaced the roles. */
const Nest *sched_run(Ctx *cx, const Nest *n, const Step *step);

/* ---- Steps from C ------------------------------------------------------------------------------------------------
 * The steps that templates take most; SCHED gives any other option. */

static inline const Nest *sched_split(Ctx *cx, const Nest *n, const char *loop, int64_t factor, Tail tail,
                                      const char *outer, const char *inner)
{
    return SCHED(cx, n, split, .loop = { loop }, .factor = { factor }, .tail = tail, .half = { outer, inner });
}

const Nest *sched_reorder(Ctx *cx, const Nest *n, const char *const *loops, int count, bool reassociate);
const Nest *sched_pack(Ctx *cx, const Nest *n, const char *tensor, const char *const *dimensions, int count);

static inline const Nest *sched_unroll(Ctx *cx, const Nest *n, const char *loop)
{
    return SCHED(cx, n, unroll, .loop = { loop });
}

static inline const Nest *sched_vectorize(Ctx *cx, const Nest *n, const char *loop)
{
    return SCHED(cx, n, vectorize, .loop = { loop });
}

/* Vectorizes the loop, or unrolls it if is_vector is false. Rounds a*b + c of floats once where the target has the
 * feature fma. */
static inline const Nest *sched_contracted(Ctx *cx, const Nest *n, const char *loop, bool is_vector)
{
    return is_vector ? SCHED(cx, n, vectorize, .loop = { loop }, .contract = true)
                     : SCHED(cx, n, unroll, .loop = { loop }, .contract = true);
}

static inline const Nest *sched_parallel(Ctx *cx, const Nest *n, const char *loop)
{
    return SCHED(cx, n, parallel, .loop = { loop });
}

static inline const Nest *sched_compute_at(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return SCHED(cx, n, compute_at, .target = stage, .loop = { loop });
}

static inline const Nest *sched_reverse_compute_at(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return SCHED(cx, n, reverse_compute_at, .target = stage, .loop = { loop });
}

static inline const Nest *sched_compute_inline(Ctx *cx, const Nest *n, const char *stage)
{
    return SCHED(cx, n, compute_inline, .target = stage);
}

/* A loop of NULL places the pragma outside all loops. */
static inline const Nest *sched_pragma(Ctx *cx, const Nest *n, const char *loop, const char *text)
{
    return SCHED(cx, n, pragma, .loop = { loop }, .condition = text);
}

static inline const Nest *sched_store_at(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return SCHED(cx, n, store_at, .target = stage, .loop = { loop });
}

/* Folds the storage of a stage. slots is the length of the ring buffer, or 0 for the smallest sufficient length. */
static inline const Nest *sched_fold_storage(Ctx *cx, const Nest *n, const char *stage, int64_t slots)
{
    return SCHED(cx, n, fold_storage, .target = stage, .factor = { slots });
}

static inline const Nest *sched_cache_write(Ctx *cx, const Nest *n, const char *stage, const char *name,
                                            ScopeKind scope)
{
    return SCHED(cx, n, cache_write, .target = stage, .name = name, .scope = scope_builtin(scope)->name);
}

static inline const Nest *sched_set_scope(Ctx *cx, const Nest *n, const char *tensor, ScopeKind scope)
{
    return SCHED(cx, n, set_scope, .target = tensor, .scope = scope_builtin(scope)->name);
}

static inline const Nest *sched_pad(Ctx *cx, const Nest *n, const char *stage, const char *axis, int64_t multiple)
{
    return SCHED(cx, n, pad, .target = stage, .loop = { axis }, .factor = { multiple });
}

static inline const Nest *sched_decompose_reduction(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return SCHED(cx, n, decompose_reduction, .target = stage, .loop = { loop });
}

static inline const Nest *sched_tensorize(Ctx *cx, const Nest *n, const char *loop, const char *macro)
{
    return SCHED(cx, n, tensorize, .loop = { loop }, .name = macro);
}
/* Like sched_tensorize, with all numbers of the instruction. */
const Nest *sched_tensorize_with(Ctx *cx, const Nest *n, const char *loop, const char *macro, const int64_t *number,
                                 int count);
#endif
