/* SPDX-License-Identifier: MIT */
/* Eliminates common subexpressions in a statement, with `const float t = ...;` before it. Only subexpressions that the
 * statement always evaluates are named: a side of a select and the right operand of && may be skipped.
 *
 * If a statement is still long, naming also covers operands that may be skipped. Otherwise their subexpressions would
 * be repeated, in the worst case exponentially often. Every operation is defined for all values. A load may be illegal
 * if its condition does not hold. So it is named together with the condition under which the statement evaluates it:
 * select(cond, x[i], 0). */
#include "lower/passes/passes.h"

enum { LONG = 2048 };              /* the number of nodes in a statement's text */

/* The maps are in the scratch arena. `is_shared` is true if some node has several edges to it. */
typedef struct Share {
    Ctx *cx;
    const Code *store;
    Map uses, always, named, size, when;
    bool is_shared, is_long;
    const Expr **order;            /* the nodes of a long statement, operands first */
    int order_count;
    const Code **let;
    int let_count, capacity;
} Share;

/* Counts the edges to every node, visiting each node's own edges once. The map holds pointers, so each count is in an
 * int of its own. */
static void count_uses(Share *s, const Expr *e)
{
    for (int i = 0; i < e->arg_count; i++) {
        int *n = map_get_ptr(&s->uses, e->arg[i]);
        if (!n) {
            map_put_ptr(&s->uses, e->arg[i], n = NEW(s->cx->scratch, int));
            count_uses(s, e->arg[i]);
        }
        s->is_shared = ++*n > 1 || s->is_shared;
    }
}

static void mark_always(Share *s, const Expr *e)
{
    if (map_get_ptr(&s->always, e)) return;
    map_put_ptr(&s->always, e, s);
    bool lazy = e->kind == EXPR_SELECT || e->kind == EXPR_AND || e->kind == EXPR_OR;
    for (int i = 0; i < (lazy ? 1 : e->arg_count); i++) mark_always(s, e->arg[i]);
}

static bool is_always(const Share *s, const Expr *e)
{
    return s->is_long ? !map_get_const_ptr(&s->when, e) : map_get_ptr(&s->always, e) != NULL;
}

/* Returns true if the load is legal even if its condition does not hold. Such a load reads a scalar, or reads the index
 * that the statement stores to, from an array as long as the stored one. */
static bool is_legal_load(const Share *s, const Expr *e)
{
    const Memory *m = e->ref;
    return m->kind == MEMORY_SCALAR || (e->arg[0] == s->store->index && m->elems == s->store->memory->elems);
}

static bool is_guarded(const Share *s, const Expr *e)
{
    return s->is_long && e->kind == EXPR_LOAD && !is_always(s, e) && !is_legal_load(s, e);
}

static bool is_worth_a_name(Share *s, const Expr *e)
{
    const int *n = map_get_ptr(&s->uses, e);
    bool computes = e->kind >= EXPR_NEG || e->kind == EXPR_BITCAST;
    return n && *n > 1 && computes && e->type != BOOL && (s->is_long || is_always(s, e)) && !is_pure(s->cx, e);
}

static void add_let(Share *s, const Code *let)
{
    if (s->let_count == s->capacity) {
        const Code **more = NEW_ARRAY(s->cx->arena, const Code *, s->capacity = 2 * s->capacity + 4);
        for (int i = 0; i < s->let_count; i++) more[i] = s->let[i];
        s->let = more;
    }
    s->let[s->let_count++] = let;
}

static const Expr *rebuild(Share *s, const Expr *e)
{
    const Expr *known = map_get_const_ptr(&s->named, e);
    if (known) return known;
    const Expr *few[16], **args = e->arg_count > 16 ? NEW_ARRAY(s->cx->arena, const Expr *, e->arg_count) : few;
    for (int i = 0; i < e->arg_count; i++) args[i] = rebuild(s, e->arg[i]);
    const Expr *to = e->arg_count ? expr_with_args(s->cx, e, args) : e;
    if (is_guarded(s, e)) {
        const Expr *when = rebuild(s, map_get_const_ptr(&s->when, e));
        to = expr_select(s->cx, when, to, expr_int(s->cx, e->type, 0));
    }
    if (is_guarded(s, e) || is_worth_a_name(s, e)) {
        const Expr *var = expr_new_var(s->cx, "v", VAR_LOCAL, e->type, dtype_info(e->type)->least,
                                       dtype_info(e->type)->greatest);
        add_let(s, code_let(s->cx, var, to));
        to = var;
    }
    map_put_const_ptr(&s->named, e, to);
    return to;
}

/* ---- Long statements --------------------------------------------------------------------------------------------- */

/* Returns the number of nodes in the expression's text, at most LONG. */
static int text_size(Share *s, const Expr *e)
{
    int *known = map_get_ptr(&s->size, e), size = 1;
    if (known) return *known;
    for (int i = 0; i < e->arg_count && size < LONG; i++) size += text_size(s, e->arg[i]);
    known = NEW(s->cx->scratch, int);
    map_put_ptr(&s->size, e, known);
    return *known = size < LONG ? size : LONG;
}

static bool has_long_text(Share *s, const Expr *value)
{
    int size = text_size(s, value);
    for (int i = 0; i < s->let_count && size < LONG; i++) size += text_size(s, s->let[i]->value);
    return size >= LONG;
}

static const Expr *both(Ctx *cx, const Expr *a, const Expr *b) { return a && a != b ? expr_and(cx, a, b) : b; }
static const Expr *negated(Ctx *cx, const Expr *e) { return expr_unary(cx, EXPR_NOT, e); }

static bool narrows(const Expr *a, const Expr *b) { return a->kind == EXPR_AND && a->arg[0] == b; }

/* Returns the condition under which a or b holds; NULL means always. (p && c) || (p && !c) is p, and so is (p && c) ||
 * p. */
static const Expr *either(Ctx *cx, const Expr *a, const Expr *b)
{
    if (!a || !b) return NULL;
    if (a == b || narrows(b, a)) return a;
    if (narrows(a, b)) return b;
    if (a == negated(cx, b) || b == negated(cx, a)) return NULL;
    const bool are_both = a->kind == EXPR_AND && b->kind == EXPR_AND && a->arg[0] == b->arg[0];
    if (are_both && !either(cx, a->arg[1], b->arg[1])) return a->arg[0];
    return expr_binary(cx, EXPR_OR, a, b);
}

static void note_order(const Expr *e, void *user)
{
    Share *s = user;
    s->order[s->order_count++] = e;
}

/* Records the condition under which operand i of e is evaluated. If an earlier user has recorded one, records the
 * condition under which either holds. */
static void add_condition(Share *s, Map *seen, const Expr *e, int i)
{
    Ctx *cx = s->cx;
    const Expr *outer = map_get_const_ptr(&s->when, e), *when = outer, *first = e->arg[0], *operand = e->arg[i];
    if (i && (e->kind == EXPR_AND || (e->kind == EXPR_SELECT && i == SELECT_YES))) when = both(cx, outer, first);
    if (i && (e->kind == EXPR_OR || (e->kind == EXPR_SELECT && i == SELECT_NO)))
        when = both(cx, outer, negated(cx, first));
    if (map_get_const_ptr(seen, operand)) when = either(cx, map_get_const_ptr(&s->when, operand), when);
    map_put_const_ptr(seen, operand, operand);
    map_put_const_ptr(&s->when, operand, when);
}

/* Finds the condition under which the statement evaluates each node. A node without an entry is always evaluated. */
static void find_conditions(Share *s, const Expr *value)
{
    Map seen = map_new(s->cx->scratch);
    s->order = NEW_ARRAY(s->cx->scratch, const Expr *, s->uses.count + 1);
    expr_walk(s->cx, value, note_order, s);
    for (int n = s->order_count - 1; n >= 0; n--)
        for (int i = 0; i < s->order[n]->arg_count; i++) add_condition(s, &seen, s->order[n], i);
}

static const Expr *name_all(Share *s, const Expr *value)
{
    s->is_long = true;
    s->let_count = 0;
    s->named = map_new(s->cx->scratch);
    find_conditions(s, value);
    return rebuild(s, value);
}

static const Code *share(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind != CODE_STORE || c->value->arg_count == 0) return c;
    const ArenaMark mark = arena_mark(cx->scratch);
    Share s = { .cx = cx, .store = c, .uses = map_new(cx->scratch), .always = map_new(cx->scratch),
                .named = map_new(cx->scratch), .size = map_new(cx->scratch), .when = map_new(cx->scratch) };
    count_uses(&s, c->value);
    if (s.is_shared) mark_always(&s, c->value);
    const Expr *value = s.is_shared ? rebuild(&s, c->value) : c->value;
    if (s.is_shared && has_long_text(&s, value)) value = name_all(&s, c->value);
    arena_reset(cx->scratch, mark);
    if (!s.let_count) return c;
    add_let(&s, code_store(cx, c->memory, c->index, value));
    return code_seq(cx, s.let, s.let_count);
}

const Code *pass_share(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return code_rewrite(cx, c, share, NULL);
}
