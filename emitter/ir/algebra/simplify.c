/* SPDX-License-Identifier: MIT */
/* Simplifies bottom up, each distinct node once. At a node, these steps repeat until nothing changes:
 *
 * 1. An expression with only one possible value becomes that constant. 2. Redundant casts are dropped. 3. Sums are
 * collected and sorted (linear.c). 4. The first matching row of rules.def applies. The nodes that a row builds are
 * simplified as they are built.
 *
 * Every row shrinks its left side or moves it towards the form with a variable alone on one side, so simplification
 * ends; a bound on the depth of building guards against rows that undo each other. Integers wrap: rules that hold only
 * over the integers require a proof that nothing overflows. */
#include "ir/algebra/rules.h"

typedef struct Simplifier { Ranges *ranges; const RuleTable *rules; int depth; } Simplifier;

enum { MAX_BUILD_DEPTH = 12, MAX_ROUNDS = 16 };

static const Expr *settle(Ctx *cx, void *user, const Expr *e);

static bool is_sum(const Expr *e)
{
    return e->kind == EXPR_ADD || e->kind == EXPR_SUB || e->kind == EXPR_NEG
           || (e->kind == EXPR_MUL && e->arg[1]->kind == EXPR_INT);
}

/* Counts the nodes of the sum, without the nodes of its terms. */
static int sum_size(const Expr *e)
{
    int size = 1;
    if (!is_sum(e)) return size;
    for (int i = 0; i < e->arg_count; i++) size += sum_size(e->arg[i]);
    return size;
}

static const Expr *collected(Ctx *cx, const Expr *e)
{
    Linear l;
    if (!is_sum(e) || !linear_of(cx, e, &l)) return e;
    const Expr *sum = linear_expr(cx, &l);
    return sum_size(sum) <= sum_size(e) ? sum : e;
}

static int bits_of(DType t) { return 8 * dtype_info(t)->bytes; }

/* Drops U from T(U(x)) if U preserves all bits that T preserves, or if x is a value of U. */
static const Expr *recast(Simplifier *s, const Expr *e)
{
    const Expr *inner = e->arg[0];
    if (inner->kind != EXPR_CAST) return e;
    const Expr *x = inner->arg[0];
    if (dtype_is_float(inner->type)) {
        bool widens = x->type == F32 && inner->type == F64;
        return widens && e->type == x->type ? x : e;
    }
    if (dtype_is_float(x->type) || inner->type == BOOL) return e;
    bool keeps_bits = dtype_is_integer(e->type) && bits_of(e->type) <= bits_of(inner->type) && x->type != BOOL;
    Interval i = ranges_of(s->ranges, x);
    const DTypeInfo *u = dtype_info(inner->type);
    bool keeps_value = x->type != U64 && inner->type != U64 && i.least >= u->least && i.greatest <= u->greatest;
    return keeps_bits || keeps_value ? expr_cast(s->ranges->cx, e->type, x) : e;
}

static const Expr *as_constant(Simplifier *s, const Expr *e)
{
    if (dtype_is_float(e->type) || e->type == U64 || e->kind == EXPR_POISON) return e;
    Interval i = ranges_of(s->ranges, e);
    return i.least == i.greatest ? expr_int(s->ranges->cx, e->type, i.least) : e;
}

static const Expr *by_rules(Simplifier *s, const Expr *e)
{
    RuleMatch m;
    for (const Rule *rule = s->rules->first[e->kind]; rule; rule = rule->next) {
        if (!rule_matches(s->ranges, rule, e, &m)) continue;
        DType operand = e->arg_count ? e->arg[e->arg_count - 1]->type : e->type;
        s->depth++;
        const Expr *simpler = rule_build(s->ranges->cx, rule->right, &m, e->type == BOOL ? operand : e->type, settle,
                                         s);
        s->depth--;
        return simpler;
    }
    return e;
}

static const Expr *step(Simplifier *s, const Expr *e)
{
    if (e->arg_count == 0) return e->kind == EXPR_VAR ? as_constant(s, e) : e;
    const Expr *next = as_constant(s, e);
    if (next == e && e->kind == EXPR_CAST) next = recast(s, e);
    if (next == e && dtype_is_integer(e->type)) next = collected(s->ranges->cx, e);
    return next == e ? by_rules(s, e) : next;
}

static const Expr *settle(Ctx *cx, void *user, const Expr *e)
{
    Simplifier *s = user;
    (void)cx;
    if (s->depth > MAX_BUILD_DEPTH) return e;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        const Expr *next = step(s, e);
        if (next == e) break;
        e = next;
    }
    return e;
}

static const Expr *visit(Ctx *cx, const Expr *e, void *user) { return settle(cx, user, e); }

const Expr *ranges_simplify(Ranges *r, const Expr *e)
{
    if (!e || ctx_failed(r->cx)) return expr_poison(r->cx);
    Simplifier s = { r, rules_of(r->cx), 0 };
    return expr_rewrite(r->cx, e, visit, &s);
}

const Expr *simplify(Ctx *cx, const Expr *e, const Bounds *b)
{
    Ranges r = ranges_new(cx, b);
    const Expr *simple = ranges_simplify(&r, e);
    ranges_free(&r);
    return simple;
}

const Expr *size_product(Ctx *cx, const Expr *const *size, int count)
{
    const Expr *product = expr_index(cx, 1);
    for (int i = 0; i < count; i++) product = simplify(cx, expr_mul(cx, product, size[i]), NULL);
    return product;
}
