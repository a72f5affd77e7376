/* SPDX-License-Identifier: MIT */
/* In C a pointer outside its array is undefined even if nothing is read through it. Lowered code forms pointers in
 * three constructs:
 *
 *   construct                                 pointer                  condition to prove
 *   the declaration of a MEMORY_POINTER       base + offset            0 <= offset <= elements
 *   an access in a loop of kind LANES         &memory[first lane]      0 <= index < elements
 *   an operand of a macro                     &memory[index]           0 <= index < elements
 *
 * LW_AT forms no pointer; its macro forms one only if its predicate holds. Operands after a predicate are skipped.
 *
 * Interval analysis under the surrounding loops and conditions proves most conditions. The analysis cannot prove an
 * index whose variables move together. Enumeration decides those: it evaluates every iteration of the loops that the
 * index depends on, with each open size at both ends of its range. The nest checker proves plain accesses. */
#include "lower/check_pointers.h"

#include "ir/text/print.h"
#include "support/names.h"

enum { MOST_AROUND = 64, MOST_POINTS = 1 << 24 };

typedef struct Check {
    Ctx *cx;
    const Bounds *scope;
    const Code *lanes;                   /* the enclosing loop of kind LANES, or NULL */
    int around_count;
    /* loops and conditions, outermost first */
    struct Around { const Code *loop; const Expr *cond; } around[MOST_AROUND];
    Lets lets;
    const char *why;                     /* the first failure */
} Check;

static const char *shown(Ctx *cx, const Expr *e)
{
    Text t = text_new(cx);
    print_expr(&t, e);
    return text_string(&t);
}

/* ---- Enumeration ------------------------------------------------------------------------------------------------- */

typedef struct Points {
    Check *c;
    const Expr *index, *last;            /* the condition is 0 <= index <= last */
    int var_count;
    /* loops that the index depends on, and loops of their bounds and conditions */
    const Expr *var[MOST_AROUND];
    int64_t value[MOST_AROUND];
    bool is_set[MOST_AROUND];
    int64_t visited;
    bool is_outside;
} Points;

static int find_var(const Points *p, const Expr *e)
{
    int i = 0;
    while (i < p->var_count && p->var[i] != e) i++;
    return i;
}

static void add_var(const Expr *e, void *user)
{
    Points *p = user;
    if (e->kind == EXPR_VAR && find_var(p, e) == p->var_count && p->var_count < MOST_AROUND) p->var[p->var_count++] = e;
}

/* Returns false if the bound depends on data or on a variable without a value. */
static bool evaluate(const Points *p, const Expr *e, Scalar *out)
{
    Scalar arg[3];
    const int at = e->kind == EXPR_VAR ? find_var(p, e) : p->var_count;
    if (e->kind == EXPR_INT) out->i = e->integer;
    if (e->kind == EXPR_VAR && at < p->var_count) out->i = p->value[at];
    if (e->kind == EXPR_INT || e->kind == EXPR_VAR) return e->kind == EXPR_INT || (at < p->var_count && p->is_set[at]);
    if (e->arg_count == 0 || e->arg_count > 3 || dtype_is_float(e->type)) return false;
    if (e->kind == EXPR_LOAD || e->kind == EXPR_AT) return false;
    for (int i = 0; i < e->arg_count; i++)
        if (dtype_is_float(e->arg[i]->type) || !evaluate(p, e->arg[i], &arg[i])) return false;
    *out = scalar_apply(e->kind, e->type, e->arg[0]->type, arg);
    return true;
}

static bool may_hold(const Points *p, const Expr *cond)
{
    enum { MOST = 16 };
    const Expr *part[MOST];
    const int count = conjuncts(cond, part, MOST);
    for (int i = 0; i < count && count <= MOST; i++) {
        Scalar v;
        if (evaluate(p, part[i], &v) && !v.i) return false;
    }
    return true;
}

static void visit(Points *p, int depth);

static void visit_loop(Points *p, const Code *loop, int var, int depth)
{
    Scalar begin, end;
    const bool is_known = evaluate(p, lets_replace(p->c->cx, &p->c->lets, loop->begin), &begin)
                          && evaluate(p, lets_replace(p->c->cx, &p->c->lets, loop->end), &end);
    if (!is_known) p->is_outside = true;
    p->is_set[var] = true;
    for (int64_t i = is_known ? begin.i : 0; is_known && i < end.i && !p->is_outside; i += loop->step) {
        p->value[var] = i;
        visit(p, depth + 1);
    }
    p->is_set[var] = false;
}

static void visit(Points *p, int depth)
{
    Scalar at, last;
    if (p->is_outside || ++p->visited > MOST_POINTS) {
        p->is_outside = true;
        return;
    }
    if (depth < p->c->around_count) {
        const struct Around *a = &p->c->around[depth];
        const int var = a->loop ? find_var(p, a->loop->var) : p->var_count;
        if (a->cond && !may_hold(p, lets_replace(p->c->cx, &p->c->lets, a->cond))) return;
        if (var < p->var_count) visit_loop(p, a->loop, var, depth);
        else visit(p, depth + 1);
        return;
    }
    const bool is_known = evaluate(p, p->index, &at) && evaluate(p, p->last, &last);
    p->is_outside = !is_known || at.i < 0 || at.i > last.i;
}

/* Enumerates the sizes from variable number `from` at the ends of their ranges, then the loops. */
static void visit_sizes(Points *p, int from)
{
    while (from < p->var_count && expr_as_var(p->var[from])->role != VAR_SIZE) from++;
    if (from == p->var_count) {
        visit(p, 0);
        return;
    }
    const Var *v = expr_as_var(p->var[from]);
    const int64_t tried[] = { v->least, v->least + 1, v->greatest - 1, v->greatest };
    p->is_set[from] = true;
    for (int i = 0; i < 4; i++) {
        p->value[from] = tried[i];
        if (tried[i] >= v->least && tried[i] <= v->greatest) visit_sizes(p, from + 1);
    }
}

/* Returns true if enumeration proves 0 <= index <= last. Uses the surrounding conditions only if with_conditions is
 * true. */
static bool is_inside_everywhere(Check *c, const Expr *index, const Expr *last, bool with_conditions)
{
    Points *p = NEW(c->cx->scratch, Points);
    p->c = c;
    p->index = index;
    p->last = last;
    expr_walk(c->cx, index, add_var, p);
    expr_walk(c->cx, last, add_var, p);
    for (int i = c->around_count - 1; i >= 0; i--) {
        const struct Around *a = &c->around[i];
        if (a->cond && with_conditions) expr_walk(c->cx, lets_replace(c->cx, &c->lets, a->cond), add_var, p);
        if (!a->loop || find_var(p, a->loop->var) == p->var_count) continue;
        expr_walk(c->cx, lets_replace(c->cx, &c->lets, a->loop->begin), add_var, p);
        expr_walk(c->cx, lets_replace(c->cx, &c->lets, a->loop->end), add_var, p);
    }
    visit_sizes(p, 0);
    return !p->is_outside;
}

/* ---- One pointer ------------------------------------------------------------------------------------------------- */

/* Proves 0 <= index <= last by intervals. */
static bool is_inside(const Check *c, const Expr *index, const Expr *last)
{
    return provably(c->cx, expr_binary(c->cx, EXPR_LE, expr_index(c->cx, 0), index), c->scope)
           && provably(c->cx, expr_binary(c->cx, EXPR_LE, index, last), c->scope);
}

/* Proves 0 <= index <= last, by intervals or by enumeration. */
static bool is_proved(Check *c, const Expr *index, const Expr *last)
{
    Ctx *cx = c->cx;
    if (is_inside(c, index, last)) return true;
    ArenaMark mark = arena_mark(cx->scratch);
    const bool is_enumerated = is_inside_everywhere(c, index, last, false)
                               || is_inside_everywhere(c, index, last, true);
    arena_reset(cx->scratch, mark);
    return is_enumerated;
}

/* Conditions may be about a variable of a CODE_LET, so the index is first tried without the variable's value. */
static void prove(Check *c, const Memory *m, const Expr *index, int64_t capacity)
{
    Ctx *cx = c->cx;
    if (c->why) return;
    const Expr *at = simplify(cx, lets_replace(c->cx, &c->lets, index), c->scope);
    const Expr *last = expr_sub(cx, m->elems, expr_index(cx, capacity));
    if (is_inside(c, index, last) || is_proved(c, at, last)) return;
    const Interval i = interval_of(cx, at, c->scope);
    c->why = name_format(cx, "a pointer to %s[%s], which is in [%lld, %lld], of %s elements", m->name,
                         shown(cx, at), (long long)i.least, (long long)i.greatest, shown(cx, m->elems));
}

static bool is_in_memory(const Memory *m) { return m->kind != MEMORY_SCALAR && m->kind != MEMORY_POINTER; }

/* Proves that the first lane is inside its memory. An index through a pointer counts from the start of the pointer's
 * memory. */
static void prove_lane(Check *c, const Memory *m, const Expr *index)
{
    const Expr *zero = expr_index(c->cx, 0);
    index = expr_substitute(c->cx, index, &c->lanes->var, &zero, 1);
    if (m->kind == MEMORY_POINTER) prove(c, m->base, expr_add(c->cx, m->offset, index), 1);
    else if (is_in_memory(m)) prove(c, m, index, 1);
}

static void check_load(const Expr *e, void *user)
{
    if (e->kind == EXPR_LOAD) prove_lane(user, e->ref, e->arg[0]);
}

static void check_call(Check *c, const Code *call)
{
    bool has_predicate = false;
    for (int i = 0; i < call->arg_count; i++) {
        const Expr *arg = call->args[i], *first = arg->kind == EXPR_AT ? arg->arg[0] : arg;
        has_predicate = has_predicate || (arg->kind != EXPR_AT && arg->type == BOOL);
        const bool is_formed = arg->kind == EXPR_AT || call->child_count == 0;
        const Memory *m = is_formed && first->kind == EXPR_LOAD && !has_predicate ? first->ref : NULL;
        if (m && is_in_memory(m)) prove(c, m, first->arg[0], 1);
    }
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void check(Check *c, const Code *code);

static void check_inside(Check *c, const Code *body, const Code *loop, const Expr *cond)
{
    if (c->around_count == MOST_AROUND && !c->why)
        c->why = "a pointer below more loops and conditions than are followed";
    if (c->why) return;
    c->around[c->around_count++] = (struct Around){ loop, cond };
    check(c, body);
    c->around_count--;
}

static void check_loop(Check *c, const Code *loop)
{
    const Bounds *outer = c->scope;
    const Code *around = c->lanes;
    c->scope = code_bounds(c->cx, outer, loop);
    if (loop->loop_kind == LOOP_LANES) c->lanes = loop;
    check_inside(c, loop->child[0], loop, NULL);
    c->lanes = around;
    c->scope = outer;
}

static void check_branch(Check *c, const Code *code)
{
    const Bounds *outer = c->scope;
    const Expr *cond[] = { code->cond, expr_unary(c->cx, EXPR_NOT, code->cond) };
    for (int i = 0; i < code->child_count; i++) {
        c->scope = code_fact(c->cx, outer, cond[i]);
        check_inside(c, code->child[i], NULL, cond[i]);
    }
    c->scope = outer;
}

static void note_let(Check *c, const Code *code)
{
    if (code->var->type == I32) lets_add(&c->lets, code);
}

static void check(Check *c, const Code *code)
{
    const Memory *m = code->memory;
    const int lets = c->lets.count;
    switch (code->kind) {
    case CODE_SEQ:
    case CODE_SCOPE:
        for (int i = 0; i < code->child_count; i++) check(c, code->child[i]);
        c->lets.count = lets;
        break;
    case CODE_FOR: check_loop(c, code); break;
    case CODE_IF:  check_branch(c, code); break;
    case CODE_CALL:
        check_call(c, code);
        if (code->child_count) check(c, code->child[0]);
        break;
    case CODE_LOCAL:
        if (m->kind == MEMORY_POINTER) prove(c, m->base, m->offset, 0);
        break;
    case CODE_STORE:
        if (c->lanes) prove_lane(c, m, code->index);
        if (c->lanes) expr_walk(c->cx, code->value, check_load, c);
        break;
    case CODE_LET:
        if (c->lanes) expr_walk(c->cx, code->value, check_load, c);
        note_let(c, code);
        break;
    }
}

const char *pointers_check(Ctx *cx, const Code *body)
{
    Check *c = NEW(cx->arena, Check);
    c->cx = cx;
    check(c, body);
    return c->why;
}
