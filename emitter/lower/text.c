/* SPDX-License-Identifier: MIT */
/* Counts the parts of emitted text, each part once however often it runs (see text.h). */
#include "lower/text.h"

#include <string.h>

#include "lower/count.h"


typedef struct Counting {
    Ctx *cx;
    const Costs *costs;
    /* The expressions of the innermost loop body so far, whose values C compilers keep. */
    Map known;
    double *of;
    Map *shared;                         /* the parts of the program's library so far */
} Counting;

static bool is_float(const Expr *e) { return e->type == F32 || e->type == F16 || e->type == BF16; }

static bool is_exponential(const Expr *e)
{
    return e->kind == EXPR_EXP || e->kind == EXPR_EXP2 || e->kind == EXPR_SIGMOID || e->kind == EXPR_TANH;
}

/* Returns true for a function that the program contains once, however often it is called. */
static bool is_library_function(const Expr *e)
{
    return !is_exponential(e) && (e->kind == EXPR_POW || e->kind == EXPR_ATAN2 || e->kind == EXPR_FMOD
                                  || (e->kind >= EXPR_EXP && e->kind <= EXPR_ATANH));
}

static bool is_division(const Expr *e)
{
    return e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD || e->kind == EXPR_TDIV || e->kind == EXPR_TMOD;
}

static bool is_fixed(const Expr *e)
{
    return e->kind == EXPR_RUNTIME || (e->kind >= EXPR_MULHIGH && e->kind <= EXPR_PHILOX);
}

static bool is_selection(const Expr *e)
{
    return e->kind == EXPR_MIN || e->kind == EXPR_MAX || e->kind == EXPR_SELECT
           || (e->kind >= EXPR_LT && e->kind <= EXPR_NE);
}

/* Casts between integers are parts of loads and stores. */
static TextKind kind_of(const Expr *e)
{
    const bool is_of_floats = is_float(e) || (e->arg_count && is_float(e->arg[0]));
    if (e->kind == EXPR_LOAD) return ((const Memory *)e->ref)->kind == MEMORY_SCALAR ? TEXT_KINDS : TEXT_LOAD;
    if (is_exponential(e)) return TEXT_EXPONENTIAL;
    if (is_fixed(e)) return TEXT_FIXED;
    if (is_of_floats) return is_selection(e) ? TEXT_SELECTION : TEXT_FLOAT;
    return e->kind == EXPR_CAST ? TEXT_KINDS : is_division(e) ? TEXT_DIVISION : TEXT_INTEGER;
}

static void add(Counting *c, TextKind kind, double n)
{
    if (kind < TEXT_KINDS) c->of[kind] += n;
}

/* Adds a part that the program has once. */
static void add_shared(Counting *c, TextKind kind, const char *name)
{
    if (map_get(c->shared, name, strlen(name))) return;
    map_put(c->shared, name, strlen(name), c);
    add(c, kind, 1);
}

static void add_library(Counting *c, const Expr *e, TextKind kind)
{
    const bool is_selection = kind == TEXT_SELECTION;
    if (is_library_function(e)) add_shared(c, TEXT_LIBRARY_FUNCTION, expr_info(e->kind)->spelling);
    else if (is_selection || kind == TEXT_FLOAT)
        add_shared(c, TEXT_SOFT_FLOAT, is_selection ? "compare" : expr_info(e->kind)->spelling);
}

static void add_value(Counting *c, const Expr *e)
{
    if (expr_is_const(e) || expr_as_var(e) || map_get_const_ptr(&c->known, e)) return;
    map_put_const_ptr(&c->known, e, e);
    add(c, kind_of(e), 1);
    add_library(c, e, kind_of(e));
    for (int i = 0; i < e->arg_count; i++) add_value(c, e->arg[i]);
}

/* Macros that the target lacks are emitted in their portable form. */
static bool is_macro(const Counting *c, const Code *s)
{
    return s->kind == CODE_CALL && (!s->child_count || cost_row(c->costs, s->text));
}

static void add_statement(Counting *c, const Code *s)
{
    switch (s->kind) {
    case CODE_FOR:
        add(c, TEXT_LOOP, 1);
        add_value(c, s->begin);
        add_value(c, s->end);
        return;
    case CODE_IF:
        add(c, TEXT_CONDITION, 1);
        add_value(c, s->cond);
        return;
    case CODE_LET: add_value(c, s->value); return;
    case CODE_LOCAL:
        if (s->memory->kind != MEMORY_POINTER) return;
        add(c, TEXT_POINTER, 1);
        add_value(c, s->memory->offset);
        return;
    case CODE_STORE:
        add_value(c, s->value);
        add_value(c, s->index);
        add(c, s->memory->kind == MEMORY_SCALAR ? TEXT_KINDS : TEXT_STORE, 1);
        return;
    case CODE_CALL:
        if (!is_macro(c, s)) return;
        add(c, TEXT_MACRO, 1);
        add(c, TEXT_ARGUMENT, s->arg_count);
        add_shared(c, TEXT_LIBRARY_MACRO, s->text);
        return;
    default: return;
    }
}

static void add_text(Counting *c, const Code *s)
{
    const Map outer = c->known;
    if (s->kind == CODE_FOR) c->known = map_new(c->cx->scratch);
    add_statement(c, s);
    for (int i = 0; i < s->child_count && !is_macro(c, s); i++) add_text(c, s->child[i]);
    if (s->kind == CODE_FOR) c->known = outer;
}

void text_parts(Ctx *cx, const Code *body, const Costs *costs, Map *shared, double parts[TEXT_KINDS])
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Counting *c = NEW(cx->scratch, Counting);
    *c = (Counting){ cx, costs, map_new(cx->scratch), parts, shared };
    add_text(c, body);
    arena_reset(cx->scratch, mark);
}

/* An array lives to the end of its scope. Among statements with their own scopes, the largest counts. */
int64_t text_locals(const Code *body)
{
    const bool is_array = body->kind == CODE_LOCAL && body->memory->kind == MEMORY_LOCAL;
    int64_t declared = is_array ? expr_scalar(body->memory->elems).i * dtype_info(body->memory->type)->bytes : 0;
    int64_t most = 0;
    for (int i = 0; i < body->child_count && body->kind != CODE_CALL; i++) {
        const int64_t bytes = text_locals(body->child[i]);
        if (body->child[i]->kind == CODE_LOCAL) declared += bytes;
        else if (bytes > most) most = bytes;
    }
    return declared + most;
}
