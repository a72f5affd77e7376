/* SPDX-License-Identifier: MIT */
/* Legalizes every expression for C (ir/algebra/legalize.h) under the facts of its position: the enclosing loops and
 * branches. Runs after functions are merged, because a merged function's numbers are parameters with wider ranges.
 * Nothing rewrites or simplifies the result: cgen prints it.
 *
 * In a loop of kind LANES, a value that differs by lane keeps its operations: vectors wrap. The indices of such an
 * operation become `first + lane`, where `first` is the legal index of the first lane. */

/* Decision: the printer selects nothing. The pass `legalize` replaces integer operations by those of C, in the
 * expressions themselves: unsigned arithmetic where a sum may wrap, `tdiv` and masks where intervals admit them, and
 * otherwise a function of the runtime. Such a call (`EXPR_RUNTIME`, rows in `ir/expr/runtime.def`) keeps the
 * expression that it computes as its first operand, so interpretation and intervals need no rule for it.
 * `ir/algebra/legalize.c` selects; `tests/unit/test_legalize.c` executes its choices on random expressions as C
 * would. The pass runs after functions are merged, because the numbers of a merged function have wider ranges;
 * whether two functions share their text is also decided on legal code. */
#include "ir/algebra/legalize.h"

#include "lower/passes/passes.h"

typedef struct LegalCode {
    Legalize l;
    Map data;            /* variables with a loaded value; l.data points here */
    Map varying;         /* variables that differ by lane, and the lane number */
    Map pointer;         /* maps a hoisted address to its twin with a legal offset */
    const Expr *lane;    /* the variable of the enclosing lanes loop */
} LegalCode;

static const Code *legal_code(LegalCode *g, const Code *c);

static const Expr *legal_one(Ctx *cx, const Expr *e, void *user)
{
    (void)cx;
    return legal_expr(&((LegalCode *)user)->l, e);
}

static const Code *legal_let(LegalCode *g, const Code *c)
{
    if (!legal_is_index(&g->l, c->value)) map_put_const_ptr(&g->data, c->var, c->var);
    return code_with_exprs(g->l.cx, c, legal_one, g);
}

/* Gives a hoisted address a twin with a legal offset. Scopes that declare the same address differ in their facts. If
 * the offsets of the operations differ, the offset is legalized without facts, so it is legal in all of them. */
static void legal_pointer(LegalCode *g, const Memory *m)
{
    const Memory *known = map_get_const_ptr(&g->pointer, m);
    const Expr *offset = legal_expr(&g->l, m->offset);
    if (known ? known->offset == offset : offset == m->offset) return;
    const Legalize anywhere = { g->l.cx, NULL, g->l.data };
    Memory twin = *m;
    twin.offset = known ? legal_expr(&anywhere, m->offset) : offset;
    map_put_const_ptr(&g->pointer, m, memory_new(g->l.cx, &twin));
}

/* ---- Loops of kind LANES ----------------------------------------------------------------------------------------- */

typedef struct FindVarying { const Map *varying; bool found; } FindVarying;

static void find_varying(const Expr *e, void *user)
{
    FindVarying *f = user;
    if (e->kind == EXPR_VAR && map_get_const_ptr(f->varying, e)) f->found = true;
}

static bool differs_by_lane(const LegalCode *g, const Expr *e)
{
    FindVarying f = { &g->varying, false };
    expr_walk(g->l.cx, e, find_varying, &f);
    return f.found;
}

/* Returns the index of consecutive elements as `first + lane`; an index into a vector variable stays. */
static const Expr *lane_index(const LegalCode *g, const Memory *m, const Expr *index)
{
    Ctx *cx = g->l.cx;
    const Expr *zero = expr_index(cx, 0);
    if (m->lanes) return index;
    const Expr *first = legal_expr(&g->l, simplify(cx, expr_substitute(cx, index, &g->lane, &zero, 1), NULL));
    return expr_is_int(first, 0) ? g->lane : expr_add(cx, first, g->lane);
}

static const Expr *lane_value(const LegalCode *g, const Expr *e)
{
    Ctx *cx = g->l.cx;
    if (!differs_by_lane(g, e)) return legal_expr(&g->l, e);
    if (e->kind == EXPR_LOAD) return load_expr(cx, e->ref, lane_index(g, e->ref, e->arg[0]));
    const Expr **arg = NEW_ARRAY(cx->arena, const Expr *, e->arg_count);
    for (int i = 0; i < e->arg_count; i++) arg[i] = lane_value(g, e->arg[i]);
    return e->arg_count ? expr_with_args(cx, e, arg) : e;
}

static const Code *lane_statement(LegalCode *g, const Code *c)
{
    Ctx *cx = g->l.cx;
    if (c->kind == CODE_STORE)
        return code_store(cx, c->memory, lane_index(g, c->memory, c->index), lane_value(g, c->value));
    if (c->kind != CODE_LET || !differs_by_lane(g, c->value)) return legal_code(g, c);
    map_put_const_ptr(&g->varying, c->var, c->var);
    return code_let(cx, c->var, lane_value(g, c->value));
}

static const Code *legal_lanes(LegalCode *g, const Code *loop)
{
    const Code *body = loop->child[0], *const *c = body->kind == CODE_SEQ ? body->child : loop->child;
    const int count = body->kind == CODE_SEQ ? body->child_count : 1;
    const Code **now = NEW_ARRAY(g->l.cx->arena, const Code *, count);
    g->lane = loop->var;
    map_put_const_ptr(&g->varying, loop->var, loop->var);
    for (int i = 0; i < count; i++) now[i] = lane_statement(g, c[i]);
    body = code_seq(g->l.cx, now, count);
    return code_with_children(g->l.cx, loop, &body);
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* Returns the facts inside the i-th child. */
static const Bounds *scope_of_child(Ctx *cx, const Bounds *outer, const Code *c, int i)
{
    if (c->kind == CODE_FOR) return code_bounds(cx, outer, c);
    if (c->kind == CODE_IF) return code_fact(cx, outer, i ? expr_unary(cx, EXPR_NOT, c->cond) : c->cond);
    return outer;
}

static const Code *legal_code(LegalCode *g, const Code *c)
{
    Ctx *cx = g->l.cx;
    const Bounds *outer = g->l.scope;
    if (c->kind == CODE_LET) return legal_let(g, c);
    if (c->kind == CODE_FOR && c->loop_kind == LOOP_LANES) return legal_lanes(g, c);
    if (c->kind == CODE_LOCAL && c->memory->kind == MEMORY_POINTER) legal_pointer(g, c->memory);
    const Code *now = code_with_exprs(cx, c, legal_one, g);
    if (!now || !c->child_count) return now;
    const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count);
    for (int i = 0; i < c->child_count; i++) {
        g->l.scope = scope_of_child(cx, outer, c, i);
        child[i] = legal_code(g, c->child[i]);
    }
    g->l.scope = outer;
    return code_with_children(cx, now, child);
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

static const Memory *twin_of(const LegalCode *g, const Memory *m)
{
    const Memory *twin = map_get_const_ptr(&g->pointer, m);
    return twin ? twin : m;
}

static const Expr *load_of_twin(Ctx *cx, const Expr *e, void *user)
{
    return e->kind == EXPR_LOAD ? load_expr(cx, twin_of(user, e->ref), e->arg[0]) : e;
}

static const Code *use_twin(Ctx *cx, const Code *c, void *user)
{
    const Memory *twin = c->memory ? twin_of(user, c->memory) : NULL;
    if (twin == c->memory) return c;
    return c->kind == CODE_LOCAL ? code_local(cx, twin) : code_store(cx, twin, c->index, c->value);
}

const Code *pass_legalize(Ctx *cx, const LowerOptions *options, const Code *c)
{
    LegalCode g = { { cx, NULL, NULL }, map_new(cx->arena), map_new(cx->arena), map_new(cx->arena), NULL };
    (void)options;
    if (!c) return NULL;
    g.l.data = &g.data;
    c = legal_code(&g, c);
    if (!g.pointer.count) return c;
    return code_rewrite(cx, code_map_exprs(cx, c, load_of_twin, &g), use_twin, &g);
}
