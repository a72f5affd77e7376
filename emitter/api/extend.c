/* SPDX-License-Identifier: MIT */
/* Rows from outside (the third part of loopwright.h): a program that links the library adds operators, targets, devices,
 * schedules and importer rows to its context. What it gives is copied into rows like the built-in ones, and nothing behind
 * the registry knows the difference. A user's schedule sees a group through names and takes steps as text. */
#include <string.h>

#include "graph/dag/target.h"
#include "import/onnx/graph/onnx_ops.h"
#include "loopwright.h"
#include "schedule/schedule.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

static int count_words(const char *s)
{
    int count = 0;
    for (; *s; s++) count += *s != ' ' && (s[1] == ' ' || !s[1]);
    return count;
}

/* ---- Operators ------------------------------------------------------------------------------------------------------ */

static bool read_pattern(Ctx *cx, const char *op, const char *text, Pattern *out)
{
    for (int p = PATTERN_ELEMENTWISE; p <= PATTERN_OPAQUE; p++) {
        *out = (Pattern)p;
        if (text_equal(pattern_text(*out), text)) return true;
    }
    diag_error(cx, op, "'%s' is no pattern: elementwise, broadcast, injective, reduction, out-fusable or opaque", text ? text : "");
    return false;
}

/* "alpha=0.5 taps=3": a default with a point or an exponent makes a real number, any other an integer. */
static const AttrRow *read_attrs(Ctx *cx, const char *op, const char *text)
{
    AttrRow *row = NEW_ARRAY(cx->arena, AttrRow, count_words(text) + 1);
    int count = 0;
    for (const char *s = text + strspn(text, " "); *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        size_t left = strcspn(s, "= "), word = strcspn(s, " ");
        const char *value = s[left] == '=' ? name_n(cx, s + left + 1, word - left - 1) : NULL;
        if (!value || !*value) diag_error(cx, op, "attributes are declared name=default, not '%s'", name_n(cx, s, word));
        if (ctx_failed(cx)) break;
        row[count++] = (AttrRow){ name_n(cx, s, left), value[strcspn(value, ".eEinf")] ? ATTR_REAL : ATTR_INT, "a number", value };
    }
    return row;
}

static bool add_op(Ctx *cx, const lw_op *o)
{
    if (ctx_failed(cx)) return false;
    Op *op = NEW(cx->arena, Op);
    *op = (Op){ .name = name(cx, o->name), .summary = name(cx, o->summary ? o->summary : o->formula), .level = o->level ? o->level : 10,
                .inputs = name(cx, o->inputs), .meaning.formula = name(cx, o->formula) };
    op->least_inputs = op->most_inputs = count_words(o->inputs);
    if (read_pattern(cx, o->name, o->pattern, &op->fusion.pattern))
        op->attr = read_attrs(cx, o->name, o->attrs ? o->attrs : "");
    if (!ctx_failed(cx)) op_register(cx, op);
    return !ctx_failed(cx);
}

bool lw_register_op(lw_context *cx, const lw_op *o) { RETURN_GUARDED(cx, bool, false, add_op(cx, o)); }

static bool register_as(lw_context *cx, const char *op, const char *inputs, const char *formula, const char *pattern)
{
    return lw_register_op(cx, &(lw_op){ .name = op, .inputs = inputs, .formula = formula, .pattern = pattern });
}

bool lw_register_injective(lw_context *cx, const char *op, const char *inputs, const char *formula) { return register_as(cx, op, inputs, formula, "injective"); }
bool lw_register_broadcast(lw_context *cx, const char *op, const char *inputs, const char *formula) { return register_as(cx, op, inputs, formula, "broadcast"); }
bool lw_register_reduce(lw_context *cx, const char *op, const char *inputs, const char *formula) { return register_as(cx, op, inputs, formula, "reduction"); }

/* ---- Targets, devices, importers -------------------------------------------------------------------------------------- */

static bool add_target(Ctx *cx, const lw_target *t)
{
    if (ctx_failed(cx)) return false;
    target_register(cx, &(const Target){ .name = name(cx, t->name), .base = name(cx, t->base ? t->base : "generic"), .summary = name(cx, t->summary ? t->summary : ""),
                                         .features = name(cx, t->features), .lanes = t->lanes,
                                         .accumulators = t->accumulators,
                                         .vector_bytes = t->vector_bytes, .copy_budget = t->copy_budget,
                                         .unroll_budget = t->unroll_budget });
    return !ctx_failed(cx);
}

static bool add_device(Ctx *cx, const char *device, const char *ops, const char *types)
{
    if (ctx_failed(cx)) return false;
    Device *d = NEW(cx->arena, Device);
    *d = (Device){ .name = name(cx, device), .summary = "of the user", .ops = name(cx, ops), .types = name(cx, types) };
    device_register(cx, d);
    return true;
}

static bool add_onnx(Ctx *cx, const char *foreign, const char *op, const char *attrs)
{
    if (!ctx_failed(cx) && !op_find(cx, op)) diag_error(cx, foreign, "there is no operator '%s'%s", op, op_hint(cx, op));
    if (ctx_failed(cx)) return false;
    OnnxOp *row = NEW(cx->arena, OnnxOp);
    *row = (OnnxOp){ .name = name(cx, foreign), .attrs = name(cx, attrs ? attrs : ""), .op = name(cx, op) };
    onnx_op_register(cx, row);
    return true;
}

bool lw_register_target(lw_context *cx, const lw_target *t) { RETURN_GUARDED(cx, bool, false, add_target(cx, t)); }

bool lw_register_device(lw_context *cx, const char *device, const char *ops, const char *types)
{
    RETURN_GUARDED(cx, bool, false, add_device(cx, device, ops, types));
}

bool lw_register_onnx(lw_context *cx, const char *foreign, const char *op, const char *attrs)
{
    RETURN_GUARDED(cx, bool, false, add_onnx(cx, foreign, op, attrs));
}

/* ---- Schedules ---------------------------------------------------------------------------------------------------------- */

struct lw_group { Ctx *cx; const GroupNest *seen; const Nest *nest; };

const char *lw_group_anchor(const lw_group *g) { return g->seen->anchor; }
const char *lw_group_output(const lw_group *g) { return g->nest->output[0]->name; }

static const char *show(const lw_group *g)
{
    Text t = text_new(g->cx);
    print_nest(g->cx, &t, g->nest);
    return text_string(&t);
}

const char *lw_group_show(const lw_group *g) { RETURN_GUARDED(g->cx, const char *, NULL, show(g)); }

static bool take_step(lw_group *g, const char *step)
{
    if (!ctx_failed(g->cx)) g->nest = sched_step(g->cx, g->nest, step);
    return !ctx_failed(g->cx);
}

bool lw_group_step(lw_group *g, const char *step) { RETURN_GUARDED(g->cx, bool, false, take_step(g, step)); }

static const char *try_step(lw_group *g, const char *step)
{
    DiagMark mark = diag_mark(g->cx);
    const Nest *next = sched_step(g->cx, g->nest, step);
    const Diag *why = diag_rewind(g->cx, mark);
    if (!why) g->nest = next;
    return why ? why->what : NULL;
}

const char *lw_group_try(lw_group *g, const char *step)
{
    RETURN_GUARDED(g->cx, const char *, "out of memory", try_step(g, step));
}

/* The row's schedule: the user's function on the group. NULL: it declined. */
static const Nest *schedule(Ctx *cx, const GroupNest *seen)
{
    const lw_implementation *i = seen->with->user;
    lw_group g = { cx, seen, seen->nest };
    const bool is_taken = i->schedule(cx, &g);
    guard_resume(cx);
    return is_taken ? g.nest : NULL;
}

static bool add_strategy(Ctx *cx, const char *ops, const char *target, const lw_implementation *list, int count)
{
    if (!ctx_failed(cx) && !target_find(cx, target)) diag_error(cx, ops, "there is no target \"%s\"%s", target, target_hint(cx, target));
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        lw_implementation *copy = arena_copy(cx->arena, &list[i], sizeof list[i]);
        Implementation *row = NEW(cx->arena, Implementation);
        *row = (Implementation){ .name = name(cx, list[i].name), .features = name(cx, list[i].features),
            .target = name(cx, target), .ops = name(cx, ops), .plevel = list[i].plevel,
                                 .what = name(cx, list[i].what ? list[i].what : ""), .when = name(cx, list[i].when), .compute = name(cx, list[i].compute), .schedule = copy->schedule ? schedule : NULL,
                                 .user = copy };
        implementation_register(cx, row);
    }
    return !ctx_failed(cx);
}

static bool add_schedule(Ctx *cx, const char *op, lw_schedule *s)
{
    const lw_implementation one = { .name = text_format(cx, "%s.schedule", op), .plevel = 15, .schedule = s };
    return add_strategy(cx, op, "generic", &one, 1);
}

bool lw_register_strategy(lw_context *cx, const char *ops, const char *target, const lw_implementation *list, int count)
{
    RETURN_GUARDED(cx, bool, false, add_strategy(cx, ops, target, list, count));
}

bool lw_register_schedule(lw_context *cx, const char *op, lw_schedule *s)
{
    RETURN_GUARDED(cx, bool, false, add_schedule(cx, op, s));
}
