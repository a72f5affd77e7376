/* SPDX-License-Identifier: MIT */
/* The steps of loopwright.h, on computations and groups alike. Each function gives its operands to the row of its
 * primitive (ir/text/steps.def): the row declares which of them are stages, loops, counts or words. A stage or
 * loop is a name or a handle (handles.c); both become the words of a step in text, which sched_step reads. */
#include <stdarg.h>

#include "api/computation/arguments.h"
#include "api/computation/computation.h"
#include "schedule/schedule.h"
#include "support/guard.h"
#include "support/text.h"

/* ---- Steps as text ----------------------------------------------------------------------------------------------- */

/* A nest records its steps, so a client's loop over steps ends. */
enum { MOST_STEPS = 2000 };

static bool may_step(lw_computation *p, const Nest *n)
{
    if (n && n->step_count >= MOST_STEPS)
        diag_unsupported(p->cx, p->name, "more than %d steps on one nest; use fewer steps, or a loop over steps that "
                         "ends", MOST_STEPS);
    return n && !ctx_failed(p->cx);
}

/* Applies a step; `options` (may be NULL) are further words of it. */
static bool take_step(lw_computation *p, const char *words, const char *options)
{
    const Nest *n = is_given(p->cx, "lw_step", "the step", words) ? computation_nest(p) : NULL;
    if (!may_step(p, n)) return false;
    p->nest = sched_step(p->cx, n, options ? text_format(p->cx, "%s %s", words, options) : words);
    return !ctx_failed(p->cx);
}

static bool guarded_step(lw_computation *p, const char *words)
{
    RETURN_GUARDED(computation_context(p), bool, false, take_step(p, words, NULL));
}

bool lw_step(lw_computation *p, const char *step) { return guarded_step(p, step); }

static const char *try_step(lw_computation *p, const char *step)
{
    if (!computation_nest(p)) return "an earlier call failed";
    DiagMark mark = diag_mark(p->cx);
    take_step(p, step, NULL);
    const Diag *d = diag_rewind(p->cx, mark);
    return d && d->severity >= ERROR ? d->what : NULL;
}

const char *lw_try(lw_computation *p, const char *step)
{
    if (!p) return "there is no computation";
    RETURN_GUARDED(computation_context(p), const char *, "out of memory", try_step(p, step));
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

static const char *const kinds[] = { [HANDLE_STAGE] = "stage", [HANDLE_LOOP] = "loop" };

static bool accepts(const Operand *o, HandleKind kind)
{
    const bool is_loop = o->kind == OPERAND_LOOP || o->kind == OPERAND_LOOPS || o->kind == OPERAND_LOOP_OR_ROOT;
    const bool is_stage = o->kind == OPERAND_STAGE || o->kind == OPERAND_TENSOR;
    return kind == HANDLE_LOOP ? is_loop : is_stage;
}

/* Returns the name of a handle, after a check that it belongs here. */
static const char *name_of(lw_computation *p, const char *primitive, const Operand *o, const Handle *h)
{
    if (h->of != p)
        diag_error(p->cx, p->name, "lw_%s: %s is the %s %s of another computation, %s", primitive, o->shown,
                   kinds[h->kind], h->name, h->of->name);
    else if (!accepts(o, h->kind))
        diag_error(p->cx, p->name, "lw_%s: %s is the %s %s", primitive, o->shown, kinds[h->kind], h->name);
    return h->name;
}

/* Adds one operand: a number, a name or a handle. A count of 0 that an option may replace is omitted. */
static void add_operand(lw_computation *p, Text *t, const char *primitive, const Operand *o, va_list *args)
{
    if (o->kind == OPERAND_COUNT) {
        const int count = va_arg(*args, int);
        if (count || !o->instead) text_printf(t, " %d", count);
        return;
    }
    const void *given = va_arg(*args, const void *);
    const Handle *h = handle_of(given);
    const char *word = h ? name_of(p, primitive, o, h) : given;
    if (!word && o->kind == OPERAND_LOOP_OR_ROOT) word = "root";
    if (!word || !*word) diag_error(p->cx, p->name, "lw_%s: %s is %s", primitive, o->shown, word ? "empty" : "NULL");
    else text_printf(t, " %s", word);
}

static bool take_operands(lw_computation *p, const char *primitive, const char *options, va_list *args)
{
    if (ctx_failed(p->cx)) return false;
    Text t = text_new(p->cx);
    text_add(&t, primitive);
    for (const Operand *o = step_row(primitive)->operand; o->kind && !o->key && !ctx_failed(p->cx); o++)
        add_operand(p, &t, primitive, o, args);
    return !ctx_failed(p->cx) && take_step(p, text_string(&t), options);
}

static bool guarded_operands(lw_computation *p, const char *primitive, const char *options, va_list *args)
{
    RETURN_GUARDED(computation_context(p), bool, false, take_operands(p, primitive, options, args));
}

/* Applies a step; its operands follow, in the order of the primitive's row: int for a count, else const void *. */
static bool step(lw_computation *p, const char *primitive, const char *options, ...)
{
    va_list args;
    va_start(args, options);
    const bool ok = guarded_operands(p, primitive, options, &args);
    va_end(args);
    return ok;
}

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

bool lw_split(lw_computation *p, lw_loop_ref loop, int factor, const char *options)
{
    return step(p, "split", options, loop, factor);
}

bool lw_tile(lw_computation *p, lw_loop_ref x, lw_loop_ref y, int fx, int fy, const char *options)
{
    return step(p, "tile", options, x, y, fx, fy);
}

bool lw_peel(lw_computation *p, lw_loop_ref loop, const char *options)
{
    return step(p, "peel", options, loop);
}

bool lw_fuse(lw_computation *p, lw_loop_ref outer, lw_loop_ref inner, const char *options)
{
    return step(p, "fuse", options, outer, inner);
}

bool lw_reorder(lw_computation *p, lw_loop_ref loops, const char *options)
{
    return step(p, "reorder", options, loops);
}

bool lw_unroll(lw_computation *p, lw_loop_ref loop, const char *options)
{
    return step(p, "unroll", options, loop);
}

bool lw_vectorize(lw_computation *p, lw_loop_ref loop, const char *options)
{
    return step(p, "vectorize", options, loop);
}

bool lw_parallel(lw_computation *p, lw_loop_ref loop, const char *options)
{
    return step(p, "parallel", options, loop);
}

bool lw_compute_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options)
{
    return step(p, "compute_at", options, stage, loop);
}

bool lw_compute_root(lw_computation *p, lw_stage_ref stage, const char *options)
{
    return step(p, "compute_root", options, stage);
}

bool lw_compute_inline(lw_computation *p, lw_stage_ref stage, const char *options)
{
    return step(p, "compute_inline", options, stage);
}

bool lw_reverse_compute_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options)
{
    return step(p, "reverse_compute_at", options, stage, loop);
}

bool lw_reverse_compute_inline(lw_computation *p, lw_stage_ref stage, const char *options)
{
    return step(p, "reverse_compute_inline", options, stage);
}

bool lw_store_at(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options)
{
    return step(p, "store_at", options, stage, loop);
}

bool lw_fold_storage(lw_computation *p, lw_stage_ref stage, const char *options)
{
    return step(p, "fold_storage", options, stage);
}

bool lw_rfactor(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options)
{
    return step(p, "rfactor", options, stage, loop);
}

bool lw_decompose_reduction(lw_computation *p, lw_stage_ref stage, lw_loop_ref loop, const char *options)
{
    return step(p, "decompose_reduction", options, stage, loop);
}

bool lw_cache_read(lw_computation *p, lw_stage_ref tensor, const char *scope, const char *options)
{
    return step(p, "cache_read", options, tensor, (const void *)scope);
}

bool lw_cache_write(lw_computation *p, lw_stage_ref stage, const char *scope, const char *options)
{
    return step(p, "cache_write", options, stage, (const void *)scope);
}

bool lw_set_scope(lw_computation *p, lw_stage_ref tensor, const char *scope, const char *options)
{
    return step(p, "set_scope", options, tensor, (const void *)scope);
}

bool lw_pack(lw_computation *p, lw_stage_ref tensor, const char *dimensions, const char *options)
{
    return step(p, "pack", options, tensor, (const void *)dimensions);
}

bool lw_storage_align(lw_computation *p, lw_stage_ref tensor, int elements, const char *options)
{
    return step(p, "storage_align", options, tensor, elements);
}

bool lw_pad(lw_computation *p, lw_stage_ref stage, const char *axis, int multiple, const char *options)
{
    return step(p, "pad", options, stage, (const void *)axis, multiple);
}

bool lw_specialize(lw_computation *p, const char *condition, const char *options)
{
    return step(p, "specialize", options, (const void *)condition);
}

bool lw_instruction(lw_computation *p, const char *declaration, const char *options)
{
    return step(p, "instruction", options, (const void *)declaration);
}

bool lw_blockize(lw_computation *p, lw_loop_ref loop, const char *options)
{
    return step(p, "blockize", options, loop);
}

bool lw_tensorize(lw_computation *p, lw_loop_ref loop, const char *macro, const char *options)
{
    return step(p, "tensorize", options, loop, (const void *)macro);
}

bool lw_pragma(lw_computation *p, lw_loop_ref loop, const char *pragma, const char *options)
{
    return step(p, "pragma", options, loop, (const void *)pragma);
}

bool lw_prefetch(lw_computation *p, lw_stage_ref tensor, lw_loop_ref loop, int ahead, const char *options)
{
    return step(p, "prefetch", options, tensor, loop, ahead);
}

bool lw_copy_budget(lw_computation *p, int statements, const char *options)
{
    return step(p, "copy_budget", options, statements);
}

bool lw_external(lw_computation *p, lw_stage_ref stage, const char *call, const char *options)
{
    return step(p, "external", options, stage, (const void *)call);
}
