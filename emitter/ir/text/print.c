/* SPDX-License-Identifier: MIT */
/* Prints expressions and formulas in the reader's syntax. A constant is printed without a type if an operand or the
 * reader's default determines its type, otherwise in the form f64(0.1). */
#include "ir/text/print.h"

#include <string.h>

#include "ir/nest/code.h"
#include "ir/text/lex.h"
#include "ir/text/read.h"
#include "support/names.h"

/* ---- Names ------------------------------------------------------------------------------------------------------ */

Namer namer_new(Ctx *cx) { return (Namer){ cx, map_new(cx->arena), map_new(cx->arena) }; }

const char *namer_get(const Namer *n, const void *object, const char *otherwise)
{
    const char *found = n ? map_get_const_ptr(&n->by_object, object) : NULL;
    return found ? found : otherwise;
}

bool namer_has(const Namer *n, const char *text) { return n && map_get_const(&n->by_name, text, strlen(text)) != NULL; }

/* Returns true if the lexer reads s as one name. */
static bool is_readable(Ctx *cx, const char *s)
{
    const DiagMark mark = diag_mark(cx);
    const ArenaMark tokens = arena_mark(cx->scratch);
    Lexer l = lex_text(cx, s, "name");
    bool is_one = l.count == 1 && l.token[0].kind == TOKEN_NAME && (size_t)l.token[0].length == strlen(s);
    diag_rewind(cx, mark);
    arena_reset(cx->scratch, tokens);
    return is_one;
}

const char *namer_add(Namer *n, const void *object, const char *preferred)
{
    const char *known = map_get_const_ptr(&n->by_object, object);
    if (known) return known;
    if (!is_readable(n->cx, preferred)) preferred = name_identifier(n->cx, preferred);
    const char *free_name = name(n->cx, preferred);
    for (int i = 2; namer_has(n, free_name); i++) free_name = name_format(n->cx, "%s_%d", preferred, i);
    map_put_const(&n->by_name, free_name, strlen(free_name), free_name);
    map_put_const_ptr(&n->by_object, object, free_name);
    return free_name;
}

static bool is_clear(const Printer *p, const LoopName *loop)
{
    for (const LoopName *l = p->loops; l; l = l->outer)
        if (l != loop && (text_equal(l->last, loop->last) || text_equal(l->full, loop->last))) return false;
    return !namer_has(p->vars, loop->last);
}

static const char *var_name(const Printer *p, const Expr *e)
{
    const Var *v = e->ref;
    for (const LoopName *l = p->loops; l; l = l->outer)
        if (l->var == e) return is_clear(p, l) ? l->last : l->full;
    return namer_get(p->vars, v, v->name);
}

/* ---- Constants -------------------------------------------------------------------------------------------------- */

void print_element(Text *t, DType type, Scalar v)
{
    if (type == BOOL) text_add(t, v.i ? "true" : "false");
    else if (type == U64) text_printf(t, "%llu", (unsigned long long)v.i);
    else if (!dtype_is_float(type)) text_printf(t, "%lld", (long long)v.i);
    else if (type == F64) text_double(t, v.f);
    else text_float(t, (float)v.f);
}

/* Prints a constant. `alone` means that no operand determines its type. */
static void print_constant(const Printer *p, const Expr *e, bool alone)
{
    bool is_default = e->type == I32 || e->type == F32 || e->type == BOOL;
    if (alone && !is_default) text_printf(p->t, "%s(", dtype_info(e->type)->spelling);
    print_element(p->t, e->type, expr_scalar(e));
    if (alone && !is_default) text_char(p->t, ')');
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

static void print_at(const Printer *p, const Expr *e, int least, bool tight, bool alone);

static void print_list(const Printer *p, const Expr *e, int first, bool tight)
{
    bool has_typed = false;
    for (int i = first; i < e->arg_count; i++) has_typed = has_typed || !expr_is_const(e->arg[i]);
    for (int i = 0; i < e->arg_count; i++) {
        if (i) text_add(p->t, tight ? "," : ", ");
        print_at(p, e->arg[i], 0, tight, !has_typed);
    }
}

static void print_call(const Printer *p, const Expr *e, const char *function, bool tight)
{
    text_printf(p->t, "%s(", function);
    print_list(p, e, e->kind == EXPR_SELECT ? SELECT_YES : 0, tight);
    text_char(p->t, ')');
}

/* Prints a function of the runtime with its operands. */
static void print_runtime_call(const Printer *p, const Expr *e, bool tight)
{
    const RuntimeFunction *f = e->ref;
    text_printf(p->t, "%s(", f->c_name);
    for (int i = RUNTIME_OPERAND; i < e->arg_count; i++) {
        if (i > RUNTIME_OPERAND) text_add(p->t, tight ? "," : ", ");
        print_at(p, e->arg[i], 0, tight, false);
    }
    text_char(p->t, ')');
}

static void print_indices(const Printer *p, const Expr *e, const char *of)
{
    text_printf(p->t, "%s[", of);
    for (int i = 0; i < e->arg_count; i++) {
        if (i) text_add(p->t, ", ");
        print_at(p, e->arg[i], 0, true, true);
    }
    text_char(p->t, ']');
}

static void print_infix(const Printer *p, const Expr *e, int least, bool tight)
{
    const ExprInfo *info = expr_info(e->kind);
    bool dense = tight && info->precedence > EXTENT_LEVEL, wrap = info->precedence < least;
    if (wrap) text_char(p->t, '(');
    print_at(p, e->arg[0], info->precedence, tight, false);
    text_printf(p->t, dense ? "%s" : " %s ", info->spelling);
    print_at(p, e->arg[1], info->precedence + 1, tight, false);
    if (wrap) text_char(p->t, ')');
}

static void print_prefix(const Printer *p, const Expr *e, int least, bool tight)
{
    const ExprInfo *info = expr_info(e->kind);
    bool wrap = info->precedence < least;
    if (wrap) text_char(p->t, '(');
    text_add(p->t, info->spelling);
    print_at(p, e->arg[0], info->precedence, tight, true);
    if (wrap) text_char(p->t, ')');
}

static void print_own(const Printer *p, const Expr *e, bool tight, bool alone)
{
    const Tensor *tensor = e->ref;
    const Memory *memory = e->ref;
    switch ((int)e->kind) {
    case EXPR_INT: case EXPR_REAL: print_constant(p, e, alone); break;
    case EXPR_VAR: text_add(p->t, var_name(p, e)); break;
    case EXPR_READ: print_indices(p, e, namer_get(p->tensors, tensor, tensor->name)); break;
    case EXPR_LOAD: print_indices(p, e, memory->name); break;
    case EXPR_RUNTIME: print_runtime_call(p, e, tight); break;
    case EXPR_AT: print_call(p, e, "at", tight); break;
    case EXPR_CAST: print_call(p, e, dtype_info(e->type)->spelling, tight); break;
    case EXPR_BITCAST:
        text_add(p->t, "bits_");
        print_call(p, e, dtype_info(e->type)->spelling, tight);
        break;
    }
}

static void print_at(const Printer *p, const Expr *e, int least, bool tight, bool alone)
{
    if (p->most && p->t->length >= p->most) return;
    switch (expr_info(e->kind)->form) {
    case EXPR_LEAF: text_add(p->t, expr_info(e->kind)->spelling); break;
    case EXPR_PREFIX: print_prefix(p, e, least, tight); break;
    case EXPR_INFIX: print_infix(p, e, least, tight); break;
    case EXPR_CALL: print_call(p, e, expr_info(e->kind)->spelling, tight); break;
    case EXPR_OWN: print_own(p, e, tight, alone); break;
    }
}

void print_bound(const Printer *p, const Expr *e, int least, bool tight) { print_at(p, e, least, tight, true); }

void print_expr(Text *t, const Expr *e)
{
    Printer p = { .t = t };
    print_at(&p, e, 0, false, true);
}

void print_shape(const Printer *p, const Tensor *t)
{
    text_add(p->t, dtype_info(t->type)->spelling);
    for (int d = 0; d < t->rank; d++) {
        text_char(p->t, '[');
        print_at(p, t->shape[d], EXTENT_LEVEL, true, true);
        text_char(p->t, ']');
    }
}

/* ---- Formulas --------------------------------------------------------------------------------------------------- */

static void print_axes(const Printer *p, const Stage *s, int begin, int end)
{
    for (int a = begin; a < end; a++) {
        text_printf(p->t, "%s%s<", a > begin ? ", " : "", var_name(p, s->axis[a].var));
        print_at(p, s->axis[a].extent, EXTENT_LEVEL, true, true);
        if (s->axis[a].kind == AXIS_ORDERED) text_add(p->t, " ordered");
        if (s->scatters && a == 0) text_add(p->t, " scattered");
    }
}

static void print_each(const Printer *p, const char *before, const Expr *const *e, int count)
{
    for (int i = 0; i < count; i++) {
        text_add(p->t, i ? ", " : before);
        print_at(p, e[i], 0, false, false);
    }
}

static void print_inits(Ctx *cx, const Printer *p, const Stage *s)
{
    bool is_usual = true;
    for (int i = 0; i < s->out_count; i++)
        is_usual = is_usual && s->init[i] == stage_identity(cx, s, i);
    if (!is_usual) print_each(p, "; ", s->init, s->out_count);
}

static void print_combiner(const Printer *p, const Combiner *c)
{
    const int count = c->info.components;
    text_printf(p->t, " where %s(", c->info.spelling);
    print_each(p, "", c->old, count);
    print_each(p, "; ", c->value, count);
    print_each(p, ") = ", c->combined, count);
    if (c->identity[0]) print_each(p, " from ", c->identity, count);
    if (c->associates) text_add(p->t, " associative");
    if (c->commutes) text_add(p->t, " commutative");
}

void print_formula(Ctx *cx, const Printer *p, const Stage *s)
{
    for (int i = 0; i < s->out_count; i++)
        text_printf(p->t, "%s%s", i ? ", " : "", namer_get(p->tensors, s->out[i], s->out[i]->name));
    if (s->data_count) text_char(p->t, '[');
    print_axes(p, s, 0, s->data_count);
    text_add(p->t, s->data_count ? "] = " : " = ");
    if (s->reducer != REDUCE_NONE) {
        text_printf(p->t, "%s(", stage_reducer(s)->spelling);
        print_axes(p, s, s->data_count, s->axis_count);
        print_inits(cx, p, s);
        text_add(p->t, ") ");
    }
    bool has_usual_place = reducer_selects(s->reducer)
                           && s->value[0] == argument_index(cx, s->axis, s->axis_count);
    for (int i = has_usual_place; i < s->out_count; i++) {
        print_at(p, s->value[i], 0, false, true);
        if (i + 1 < s->out_count) text_add(p->t, ", ");
    }
    if (s->combiner) print_combiner(p, s->combiner);
}

typedef struct Naming { Namer *tensors, *vars; } Naming;

static void name_sizes_and_reads(const Expr *e, void *user)
{
    Naming *n = user;
    const Tensor *t = e->kind == EXPR_READ ? e->ref : NULL;
    const Var *v = expr_as_var(e);
    if (t) namer_add(n->tensors, t, t->name);
    if (v && v->role == VAR_SIZE) namer_add(n->vars, v, v->name);
}

enum { MOST_FORMULA = 10000 };      /* the most characters of a formula */

void print_stage(Ctx *cx, Text *t, const Stage *s)
{
    Namer tensors = namer_new(cx), vars = namer_new(cx);
    Naming naming = { &tensors, &vars };
    for (int i = 0; i < s->out_count; i++) namer_add(&tensors, s->out[i], s->out[i]->name);
    for (int a = 0; a < s->axis_count; a++) expr_walk(cx, s->axis[a].extent, name_sizes_and_reads, &naming);
    for (int i = 0; i < s->out_count; i++) {
        expr_walk(cx, s->value[i], name_sizes_and_reads, &naming);
        if (s->init) expr_walk(cx, s->init[i], name_sizes_and_reads, &naming);
    }
    for (int a = 0; a < s->axis_count; a++) namer_add(&vars, s->axis[a].var->ref, expr_as_var(s->axis[a].var)->name);
    Printer p = { .t = t, .tensors = &tensors, .vars = &vars, .most = t->length + MOST_FORMULA };
    print_formula(cx, &p, s);
}
