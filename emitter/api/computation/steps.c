/* SPDX-License-Identifier: MIT */
/* Implements the steps of loopwright.h, for computations and groups. Each function gives its operands to the row of its
 * primitive (ir/text/steps.def): the row declares which of them are stages, loops, counts or words. A stage or loop is
 * a name or a handle (handles.c); sched_step reads either from words in the step's text. */
#include <stdarg.h>

#include "api/computation/arguments.h"
#include "api/computation/computation.h"
#include "schedule/schedule.h"
#include "support/guard.h"
#include "support/text.h"

/* ---- Steps as text ----------------------------------------------------------------------------------------------- */

/* A nest records its steps, so a loop in the client that applies steps must end. */
enum { MOST_STEPS = 2000 };

static bool may_step(lw_computation *p, const Nest *n)
{
    if (n && n->step_count >= MOST_STEPS)
        diag_unsupported(p->cx, p->name, "one nest has more than %d steps; use fewer steps, and make sure that a loop "
                                         "which applies steps ends", MOST_STEPS);
    return n && !ctx_failed(p->cx);
}

/* Applies a step; `options` are further words of the step, or NULL. */
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

/* Returns the name of a handle, after a check that the handle belongs to this computation. */
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

/* Applies a step. The operands follow as arguments in the order of the primitive's row: int for a count, otherwise a
 * pointer to void or char. */
static bool step(lw_computation *p, const char *primitive, const char *options, ...)
{
    va_list args;
    va_start(args, options);
    const bool ok = guarded_operands(p, primitive, options, &args);
    va_end(args);
    return ok;
}

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

/* Defines a function of loopwright.h with the operands of the row, in the row's order. */
#define PRIMITIVE(name, parameters, ...)                                                                               \
    bool lw_##name(lw_computation *p, OPERANDS parameters, const char *options)                                        \
    {                                                                                                                  \
        return step(p, #name, options, __VA_ARGS__);                                                                   \
    }
#define OPERANDS(...) __VA_ARGS__

PRIMITIVE(split, (lw_loop_ref loop, int factor), loop, factor)
PRIMITIVE(tile, (lw_loop_ref x, lw_loop_ref y, int fx, int fy), x, y, fx, fy)
PRIMITIVE(peel, (lw_loop_ref loop), loop)
PRIMITIVE(cut, (lw_loop_ref loop, int at), loop, at)
PRIMITIVE(fission, (lw_loop_ref loop, lw_loop_ref inner), loop, inner)
PRIMITIVE(swap, (lw_stage_ref stage, lw_stage_ref other), stage, other)
PRIMITIVE(fuse, (lw_loop_ref outer, lw_loop_ref inner), outer, inner)
PRIMITIVE(reorder, (lw_loop_ref loops), loops)
PRIMITIVE(unroll, (lw_loop_ref loop), loop)
PRIMITIVE(vectorize, (lw_loop_ref loop), loop)
PRIMITIVE(parallel, (lw_loop_ref loop), loop)
PRIMITIVE(compute_at, (lw_stage_ref stage, lw_loop_ref loop), stage, loop)
PRIMITIVE(compute_with, (lw_stage_ref stage, lw_stage_ref other, lw_loop_ref loop), stage, other, loop)
PRIMITIVE(compute_root, (lw_stage_ref stage), stage)
PRIMITIVE(compute_inline, (lw_stage_ref stage), stage)
PRIMITIVE(reverse_compute_at, (lw_stage_ref stage, lw_loop_ref loop), stage, loop)
PRIMITIVE(reverse_compute_inline, (lw_stage_ref stage), stage)
PRIMITIVE(store_at, (lw_stage_ref stage, lw_loop_ref loop), stage, loop)
PRIMITIVE(fold_storage, (lw_stage_ref stage), stage)
PRIMITIVE(rfactor, (lw_stage_ref stage, lw_loop_ref loop), stage, loop)
PRIMITIVE(decompose_reduction, (lw_stage_ref stage, lw_loop_ref loop), stage, loop)
PRIMITIVE(cache_read, (lw_stage_ref tensor, const char *scope), tensor, scope)
PRIMITIVE(cache_write, (lw_stage_ref stage, const char *scope), stage, scope)
PRIMITIVE(set_scope, (lw_stage_ref tensor, const char *scope), tensor, scope)
PRIMITIVE(async, (lw_stage_ref stage), stage)
PRIMITIVE(pack, (lw_stage_ref tensor, const char *dimensions), tensor, dimensions)
PRIMITIVE(storage_align, (lw_stage_ref tensor, int elements), tensor, elements)
PRIMITIVE(pad, (lw_stage_ref stage, const char *axis, int multiple), stage, axis, multiple)
PRIMITIVE(specialize, (const char *condition), condition)
PRIMITIVE(memory, (const char *name), name)
PRIMITIVE(config, (const char *field), field)
PRIMITIVE(instruction, (const char *declaration), declaration)
PRIMITIVE(blockize, (lw_loop_ref loop), loop)
PRIMITIVE(tensorize, (lw_loop_ref loop, const char *macro), loop, macro)
PRIMITIVE(pragma, (lw_loop_ref loop, const char *pragma), loop, pragma)
PRIMITIVE(prefetch, (lw_stage_ref tensor, lw_loop_ref loop, int ahead), tensor, loop, ahead)
PRIMITIVE(copy_budget, (int statements), statements)
PRIMITIVE(external, (lw_stage_ref stage, const char *call), stage, call)
