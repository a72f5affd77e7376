/* SPDX-License-Identifier: MIT */
/* Registers rows of a client (the third part of loopwright.h): a program that links the library adds operators,
 * targets, devices, schedules and importer rows to its context. The client's rows are copied into rows like the
 * built-in ones; code past the registry does not distinguish them. A client's schedule receives its group as a
 * computation (api/computation). */

/* Decision: rows from outside are rows. A program gives formulas, conditions and steps as text, and a function that
 * applies steps to a group. `emitter/api/extend/extend.c` copies them into the rows of the built-in tables. Open sizes
 * may leave a condition such as `dim(x, 1) % 4 == 0` undecided. Such a condition is then tested at run time: the nest
 * has an alternative, `otherwise`, which the next best row scheduled. Lowering writes both nests into one function with
 * a branch on the condition, and the first nest may rely on the condition. */
#include <string.h>

#include "api/extend/builder.h"
#include "api/computation/arguments.h"
#include "api/computation/computation.h"
#include "api/extend/external_row.h"
#include "graph/dag/definition.h"
#include "graph/dag/op_build.h"
#include "graph/dag/op_trial.h"
#include "graph/dag/target.h"
#include "graph/condition/condition.h"
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

/* ---- Operators --------------------------------------------------------------------------------------------------- */

static bool read_pattern(Ctx *cx, const char *op, const char *text, Pattern *out)
{
    for (int p = PATTERN_ELEMENTWISE; p <= PATTERN_OPAQUE; p++) {
        *out = (Pattern)p;
        if (text_equal(pattern_text(*out), text)) return true;
    }
    diag_error(cx, op,
               "unknown pattern '%s'; choose elementwise, broadcast, injective, reduction, out-fusable or opaque",
               text ? text : "");
    return false;
}

/* Reads attributes such as "alpha=0.5 taps=3 stride=1,1". An attribute is real if its default has a point or an
 * exponent, a list of integers if it has commas, otherwise an integer. */
static const AttrRow *read_attrs(Ctx *cx, const char *op, const char *text)
{
    AttrRow *row = NEW_ARRAY(cx->arena, AttrRow, count_words(text) + 1);
    int count = 0;
    for (const char *s = text + strspn(text, " "); *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        size_t left = strcspn(s, "= "), word = strcspn(s, " ");
        const char *value = s[left] == '=' ? name_n(cx, s + left + 1, word - left - 1) : NULL;
        if (!value || !*value)
            diag_error(cx, op, "attributes are declared name=default, not '%s'", name_n(cx, s, word));
        if (ctx_failed(cx)) break;
        const AttrKind kind = strchr(value, ',') ? ATTR_INTS : value[strcspn(value, ".eEinf")] ? ATTR_REAL : ATTR_INT;
        row[count++] = (AttrRow){ name_n(cx, s, left), kind, kind == ATTR_INTS ? "integers" : "a number", value };
    }
    return row;
}

/* Returns true if the name has no blanks, commas and semicolons, which separate the names of a list. */
static bool is_a_name(Ctx *cx, const char *function, const char *what, const char *value)
{
    if (!is_given(cx, function, what, value)) return false;
    if (value[strcspn(value, " \t\n,;")])
        diag_error(cx, function, "%s, '%s', contains a blank, ',' or ';'; use one word", what, value);
    return !ctx_failed(cx);
}

static bool add_op(Ctx *cx, const lw_op *o)
{
    const char *function = "lw_register_op";
    if (ctx_failed(cx)) return false;
    if (!o) diag_error(cx, function, "the operator is NULL");
    if (!o || !is_a_name(cx, function, "the name", o->name) || !is_given(cx, o->name, "the inputs", o->inputs))
        return false;
    if (o->build && (o->formula || o->outputs))
        diag_error(cx, o->name, "the row has both a formula and the function `build`; set only one of them");
    if (ctx_failed(cx) || (!o->build && !is_given(cx, o->name, "the formula", o->formula))) return false;
    Op *op = NEW(cx->arena, Op);
    *op = (Op){ .name = name(cx, o->name),
                .summary = name(cx, o->summary ? o->summary : o->formula ? o->formula : "of the user"),
                .level = o->level ? o->level : 10,
                .inputs = name(cx, o->inputs),
                .meaning = { .formula = name(cx, o->formula), .outputs = name(cx, o->outputs) } };
    if (o->build) {
        op->meaning.compute = builder_compute;
        op->user = arena_copy(cx->arena, &(BuiltOp){ .build = o->build }, sizeof(BuiltOp));
    }
    op->least_inputs = op->most_inputs = count_words(o->inputs);
    if (read_pattern(cx, o->name, o->pattern, &op->fusion.pattern))
        op->attr = read_attrs(cx, o->name, o->attrs ? o->attrs : "");
    const char *place = text_format(cx, "operator \"%s\", formula", op->name);
    if (ctx_failed(cx) || (o->formula && !op_formula_reads(cx, op, place))) return false;
    op_register(cx, op);
    return !ctx_failed(cx);
}

bool lw_register_op(lw_context *cx, const lw_op *o) { RETURN_GUARDED(cx, bool, false, add_op(cx, o)); }

static bool register_as(lw_context *cx, const char *op, const char *inputs, const char *formula, const char *pattern)
{
    return lw_register_op(cx, &(lw_op){ .name = op, .inputs = inputs, .formula = formula, .pattern = pattern });
}

bool lw_register_injective(lw_context *cx, const char *op, const char *inputs, const char *formula)
{
    return register_as(cx, op, inputs, formula, "injective");
}

bool lw_register_broadcast(lw_context *cx, const char *op, const char *inputs, const char *formula)
{
    return register_as(cx, op, inputs, formula, "broadcast");
}

bool lw_register_reduce(lw_context *cx, const char *op, const char *inputs, const char *formula)
{
    return register_as(cx, op, inputs, formula, "reduction");
}

/* ---- Targets, devices, importers --------------------------------------------------------------------------------- */

/* Returns true if the text is NULL or may be printed between quotes in a line of emitted C. */
static bool fits_a_line(Ctx *cx, const char *place, const char *field, const char *text, const char *accepted)
{
    const char *s = text;
    while (s && (unsigned char)*s >= ' ' && *s != '"' && *s != '\\') s++;
    if (text && !*text) diag_error(cx, place, "`%s` is empty; use %s, or NULL", field, accepted);
    else if (s && *s)
        diag_error(cx, place, "`%s` is '%s'; use %s, without quotes, backslashes and control characters", field,
                   text_visible(cx, text, strlen(text), false), accepted);
    return !ctx_failed(cx);
}

static bool add_target(Ctx *cx, const lw_target *t)
{
    if (ctx_failed(cx)) return false;
    if (!t) diag_error(cx, "lw_register_target", "the target is NULL");
    if (!t || !is_a_name(cx, "lw_register_target", "the name", t->name)) return false;
    if (t->base && !target_find(cx, t->base))
        diag_error(cx, t->name, "there is no target \"%s\" to be its base%s", t->base, target_hint(cx, t->base));
    if (ctx_failed(cx) || !fits_a_line(cx, t->name, "header", t->header, "the name of a header of primitives")
        || !fits_a_line(cx, t->name, "macros", t->macros, "a condition of #if"))
        return false;
    target_register(cx, &(const Target){ .name = name(cx, t->name),
                                         .base = name(cx, t->base ? t->base : "generic"),
                                         .summary = name(cx, t->summary ? t->summary : ""),
                                         .features = name(cx, t->features),
                                         .header = t->header ? name(cx, t->header) : NULL,
                                         .macros = t->macros ? name(cx, t->macros) : NULL,
                                         .lanes = t->lanes,
                                         .accumulators = t->accumulators,
                                         .integer_accumulators = t->integer_accumulators,
                                         .vector_bytes = t->vector_bytes,
                                         .vector_registers = t->vector_registers,
                                         .copy_budget = t->copy_budget,
                                         .unroll_budget = t->unroll_budget });
    return !ctx_failed(cx);
}

typedef bool CheckWord(Ctx *cx, const char *place, const char *word);

/* Checks each word of a list that is separated by blanks. */
static bool words_are(Ctx *cx, const char *place, const char *words, CheckWord *check)
{
    for (const char *s = words + strspn(words, " "); *s; s += strcspn(s, " "), s += strspn(s, " "))
        if (!check(cx, place, name_n(cx, s, strcspn(s, " ")))) return false;
    return true;
}

static bool is_an_op(Ctx *cx, const char *place, const char *word)
{
    if (!op_find(cx, word)) diag_error(cx, place, "there is no operator '%s'%s", word, op_hint(cx, word));
    return !ctx_failed(cx);
}

static bool is_an_op_or_formula(Ctx *cx, const char *place, const char *word)
{
    return text_equal(word, FORMULA_OP) || is_an_op(cx, place, word);
}

static bool is_a_type(Ctx *cx, const char *place, const char *word)
{
    DType type;
    if (!dtype_read(word, strlen(word), &type))
        diag_error(cx, place, "'%s' is not an element type; use %s", word, op_types_text(cx, NULL));
    return !ctx_failed(cx);
}

static bool add_device(Ctx *cx, const char *device, const char *ops, const char *types)
{
    const char *function = "lw_register_device";
    if (!is_a_name(cx, function, "the name", device)) return false;
    if (!ops) diag_error(cx, device, "the list of operators is NULL; pass names, or \"\" for a device that runs only "
                                     "composites");
    if (!is_given(cx, device, "the list of types", types)) return false;
    if (!words_are(cx, device, ops, is_an_op_or_formula) || !words_are(cx, device, types, is_a_type)) return false;
    Device *d = NEW(cx->arena, Device);
    *d = (Device){ .name = name(cx, device), .summary = "of the user", .ops = name(cx, ops), .types = name(cx, types) };
    device_register(cx, d);
    return true;
}

/* Checks the operators of a composite: "conv2d add? relu?". Returns the first operator, or NULL after a diagnostic. */
static const char *first_of_chain(Ctx *cx, const char *place, const char *ops)
{
    const char *first = NULL;
    for (const char *s = ops + strspn(ops, " "); *s && !ctx_failed(cx); s += strcspn(s, " "), s += strspn(s, " ")) {
        const size_t word = strcspn(s, " ");
        const bool is_optional = s[word - 1] == '?';
        const char *op = name_n(cx, s, word - is_optional);
        if (!is_an_op(cx, place, op)) return NULL;
        if (!first && is_optional)
            diag_error(cx, place, "the first operator, '%s?', is optional; write '%s', without the question mark",
                                  op, op);
        if (!first) first = op;
    }
    if (!first && !ctx_failed(cx)) diag_error(cx, place, "its list, \"%s\", names no operator", ops);
    return ctx_failed(cx) ? NULL : first;
}

static bool add_composite(Ctx *cx, const char *device, const char *own, const char *ops, const char *when)
{
    const char *function = "lw_register_composite";
    if (!is_given(cx, function, "the device", device) || !is_given(cx, function, "the name", own)) return false;
    if (!is_given(cx, own, "the list of operators", ops)) return false;
    const Device *old = device_find(cx, device);
    const char *place = text_format(cx, "composite \"%s\" of %s", own, device);
    if (!old) diag_error(cx, place, "there is no device '%s'%s", device, device_hint(cx, device));
    else if (!text_equal(name_identifier(cx, own), own))
        diag_error(cx, place, "'%s' is not the name of a C function; use letters, digits and _, like '%s'", own,
                   name_identifier(cx, own));
    const char *first = ctx_failed(cx) ? NULL : first_of_chain(cx, place, ops);
    const Implementation condition = { .name = own, .ops = first, .when = when };
    if (!first || !condition_reads(cx, &condition)) return false;
    int count = 0;
    while (old->composites && old->composites[count].name) count++;
    Composite *all = NEW_ARRAY(cx->arena, Composite, count + 2);
    for (int i = 0; i < count; i++) all[i] = old->composites[i];
    all[count] = (Composite){ name(cx, own), name(cx, ops + strspn(ops, " ")), name(cx, when) };
    Device *d = arena_copy(cx->arena, old, sizeof *old);
    d->composites = all;
    device_register(cx, d);
    return true;
}

/* Checks that the operator has these attributes, because they are copied by name. */
static bool are_attrs_of(Ctx *cx, const char *foreign, const Op *op, const char *attrs)
{
    for (const char *s = attrs + strspn(attrs, " "); *s && !ctx_failed(cx); s += strcspn(s, " "), s += strspn(s, " ")) {
        const char *word = name_n(cx, s, strcspn(s, " "));
        const AttrRow *a = op->attr;
        while (a && a->name && strcmp(a->name, word) != 0) a++;
        if (!a || !a->name)
            diag_error(cx, foreign, "the operator %s has no attribute '%s'; `loopwright ops` lists its attributes",
                       op->name, word);
    }
    return !ctx_failed(cx);
}

static bool add_onnx(Ctx *cx, const char *foreign, const char *op, const char *attrs)
{
    if (!is_a_name(cx, "lw_register_onnx", "the operator of ONNX", foreign)) return false;
    if (!is_given(cx, foreign, "the operator", op) || !is_an_op(cx, foreign, op)) return false;
    if (!are_attrs_of(cx, foreign, op_find(cx, op), attrs ? attrs : "")) return false;
    OnnxOp *row = NEW(cx->arena, OnnxOp);
    *row = (OnnxOp){ ONNX_SAME(name(cx, foreign), ONNX_ANY, name(cx, attrs ? attrs : ""), name(cx, op)) };
    onnx_op_register(cx, row);
    return true;
}

bool lw_register_target(lw_context *cx, const lw_target *t) { RETURN_GUARDED(cx, bool, false, add_target(cx, t)); }

bool lw_register_device(lw_context *cx, const char *device, const char *ops, const char *types)
{
    RETURN_GUARDED(cx, bool, false, add_device(cx, device, ops, types));
}

bool lw_register_composite(lw_context *cx, const char *device, const char *composite, const char *ops, const char *when)
{
    RETURN_GUARDED(cx, bool, false, add_composite(cx, device, composite, ops, when));
}

bool lw_register_onnx(lw_context *cx, const char *foreign, const char *op, const char *attrs)
{
    RETURN_GUARDED(cx, bool, false, add_onnx(cx, foreign, op, attrs));
}

/* ---- Schedules --------------------------------------------------------------------------------------------------- */

/* Calls the client's function on the group. Returns the row's schedule, or NULL if the function declined. */
static const Nest *schedule(Ctx *cx, const GroupNest *initial)
{
    const lw_implementation *i = initial->with->user;
    const Nest *n = i->call ? external_row_apply(cx, initial, i->call, i->in_place, i->has_status) : initial->nest;
    if (!i->schedule || !n) return n;
    lw_group *g = computation_new(cx, initial->group->name);
    g->group = initial;
    g->user = i->user;
    g->nest = n;
    const bool failed = ctx_failed(cx), is_taken = i->schedule(cx, g);
    guard_resume(cx);
    if (!failed && ctx_failed(cx))
        diag_listed(cx, NOTE, initial->group->name, "the step was applied by the function of the implementation \"%s\"",
                    initial->with->name);
    return is_taken ? g->nest : NULL;
}

/* Returns true for the name of an operator, or for pattern:KIND. */
static bool is_an_op_or_pattern(Ctx *cx, const char *place, const char *word)
{
    Pattern pattern;
    if (strncmp(word, "pattern:", 8) == 0) return read_pattern(cx, place, word + 8, &pattern);
    return is_an_op_or_formula(cx, place, word);
}

/* Checks that the implementation's compute is a valid formula of each of its operators. */
static bool compute_reads(Ctx *cx, const Implementation *i)
{
    for (const char *s = i->compute ? i->ops : ""; *s && !ctx_failed(cx); s += strcspn(s, " "), s += strspn(s, " ")) {
        const Op *op = op_find(cx, name_n(cx, s, strcspn(s, " ")));
        if (!op || op->least_inputs != op->most_inputs) continue;
        Op other = *op;
        other.meaning = (OpMeaning){ .formula = i->compute, .outputs = op->meaning.outputs };
        op_formula_reads(cx, &other, text_format(cx, "implementation \"%s\" of %s, compute", i->name, op->name));
    }
    return !ctx_failed(cx);
}

/* Checks that a row has one compute, and that a row that alters calls has no other function. */
static bool is_consistent(Ctx *cx, const char *ops, const lw_implementation *i)
{
    if (!is_a_name(cx, ops, "the name of an implementation", i->name)) return false;
    const char *place = text_format(cx, "implementation \"%s\" of %s", i->name, ops);
    if ((i->compute != NULL) + (i->build != NULL) + (i->call != NULL) > 1)
        diag_error(cx, place, "the row has more than one of compute, build and call; set only one of them");
    if (i->alter && (i->compute || i->build || i->call || i->schedule))
        diag_error(cx, place, "a row with `alter` cannot have a compute or a schedule; add a row for the altered "
                              "operator");
    if (i->in_place && !i->call) diag_error(cx, place, "in_place is set, but the row has no call; set `call` as well");
    if (i->has_status && !i->call) diag_error(cx, place, "has_status is set, but the row has no call; set `call` as "
                                                         "well");
    return !ctx_failed(cx);
}

enum { USUAL_PLEVEL = 15 };              /* the plevel of rows that state none */

static bool add_implementation(Ctx *cx, const char *ops, const char *target, const lw_implementation *i)
{
    if (!is_consistent(cx, ops, i)) return false;
    lw_implementation *copy = arena_copy(cx->arena, i, sizeof *i);
    copy->call = name(cx, i->call);
    Implementation *row = NEW(cx->arena, Implementation);
    *row = (Implementation){ .name = name(cx, i->name),
                             .features = name(cx, i->features),
                             .target = name(cx, target),
                             .ops = name(cx, ops),
                             .plevel = i->plevel ? i->plevel : USUAL_PLEVEL,
                             .what = name(cx, i->what ? i->what : ""),
                             .when = name(cx, i->when),
                             .compute = name(cx, i->compute),
                             .build = i->build ? builder_other_compute : NULL,
                             .alter = i->alter ? builder_alter : NULL,
                             .schedule = i->schedule || i->call ? schedule : NULL,
                             .user = copy };
    if (!condition_reads(cx, row) || !compute_reads(cx, row)) return false;
    if (i->call && !external_row_reads(cx, row, copy->call)) return false;
    implementation_register(cx, row);
    return true;
}

static bool add_strategy(Ctx *cx, const char *ops, const char *target, const lw_implementation *list, int count)
{
    const char *function = "lw_register_strategy";
    if (!is_given(cx, function, "the list of operators", ops)) return false;
    if (!target) target = "generic";
    if (!target_find(cx, target)) diag_error(cx, ops, "there is no target \"%s\"%s", target, target_hint(cx, target));
    if (ctx_failed(cx) || !words_are(cx, function, ops, is_an_op_or_pattern)) return false;
    if (count < 0 || (count && !list)) diag_error(cx, ops, "the list of %d implementations is NULL", count);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        if (!add_implementation(cx, ops, target, &list[i])) return false;
    return !ctx_failed(cx);
}

static bool add_schedule(Ctx *cx, const char *ops, const char *target, int plevel, lw_schedule *s)
{
    if (!is_given(cx, "lw_register_schedule", "the operator", ops)) return false;
    if (!s) diag_error(cx, ops, "lw_register_schedule: the schedule is NULL");
    if (ctx_failed(cx)) return false;
    const lw_implementation one = { .name = text_format(cx, "%.*s.schedule", (int)strcspn(ops, " "), ops),
                                    .plevel = plevel,
                                    .schedule = s };
    return add_strategy(cx, ops, target, &one, 1);
}

bool lw_register_strategy(lw_context *cx, const char *ops, const char *target, const lw_implementation *list, int count)
{
    RETURN_GUARDED(cx, bool, false, add_strategy(cx, ops, target, list, count));
}

bool lw_register_schedule(lw_context *cx, const char *ops, const char *target, int plevel, lw_schedule *s)
{
    RETURN_GUARDED(cx, bool, false, add_schedule(cx, ops, target, plevel, s));
}
