/* SPDX-License-Identifier: MIT */
/* Matches expressions with the rules, and builds the right sides.
 *
 * A pattern is an expression, read by the reader of formulas (ir/text/read_rules.c). The variables of a pattern are
 * slots: a slot's number is the variable's least value. The types of a pattern are classes: i32 stands for any integer
 * type, f32 for any float type. Operands match from last to first: a divisor is bound before its dividend is tried. */
#include "ir/algebra/rules.h"

const RuleTable *rules_of(Ctx *cx)
{
    if (cx->rules) return cx->rules;
    cx->rules = NEW(cx->arena, RuleTable);
    if (cx->read_rules) cx->read_rules(cx, cx->rules);
    return cx->rules;
}

/* ---- Building -------------------------------------------------------------------------------------------------- */

static int slot_of(const Expr *pattern) { return (int)expr_as_var(pattern)->least; }

/* Finds the type that the pattern's slots determine; bool slots determine none. */
static bool type_by_slots(const Expr *pattern, const RuleMatch *m, DType *out)
{
    if (pattern->kind == EXPR_VAR && pattern->type != BOOL && m->slot[slot_of(pattern)]) {
        *out = m->slot[slot_of(pattern)]->type;
        return true;
    }
    for (int i = 0; i < pattern->arg_count; i++)
        if (type_by_slots(pattern->arg[i], m, out)) return true;
    return false;
}

static const Expr *literal(Ctx *cx, const Expr *pattern, DType t)
{
    if (pattern->type == BOOL) return pattern;
    return pattern->kind == EXPR_REAL ? expr_real(cx, t, pattern->real) : expr_int(cx, t, pattern->integer);
}

const Expr *rule_build(Ctx *cx, const Expr *pattern, const RuleMatch *m, DType operand, MakeNode *visit, void *user)
{
    if (pattern->kind == EXPR_VAR) return m->slot[slot_of(pattern)];
    type_by_slots(pattern, m, &operand);
    if (expr_is_const(pattern)) return literal(cx, pattern, operand);
    const Expr *args[3];
    for (int i = 0; i < pattern->arg_count; i++) args[i] = rule_build(cx, pattern->arg[i], m, operand, visit, user);
    const Expr *e = expr_new(cx, pattern->kind, pattern->type == BOOL ? BOOL : operand, NULL, args, pattern->arg_count);
    return visit ? visit(cx, user, e) : e;
}

/* ---- Conditions ------------------------------------------------------------------------------------------------ */

static bool is_plain(const Expr *pattern) { return pattern->arg_count == 0; }

/* Returns true if the condition is proved. Arithmetic is evaluated in i64, which holds the exact results. A comparison
 * of two plain slots stays in their type, so that the prover finds the terms that they share. */
static bool condition_holds(Ranges *r, const Expr *when, const RuleMatch *m)
{
    if (when->kind == EXPR_INT) return when->integer != 0;
    if (when->kind == EXPR_AND) return condition_holds(r, when->arg[0], m) && condition_holds(r, when->arg[1], m);
    if (is_plain(when->arg[0]) && is_plain(when->arg[1]))
        return ranges_prove(r, rule_build(r->cx, when, m, I32, NULL, NULL));
    RuleMatch wide = *m;
    for (int s = 0; s < SLOT_COUNT; s++)
        if (m->slot[s] && m->slot[s]->type != BOOL) wide.slot[s] = expr_cast(r->cx, I64, m->slot[s]);
    return ranges_prove(r, rule_build(r->cx, when, &wide, I64, NULL, NULL));
}

static bool is_of_constants(const Expr *pattern)
{
    if (pattern->kind == EXPR_VAR) return slot_of(pattern) >= SLOT_C1;
    for (int i = 0; i < pattern->arg_count; i++)
        if (!is_of_constants(pattern->arg[i])) return false;
    return true;
}

/* Returns true if each constant computed on the right side has the same value in the type as in i64. In i64, constants
 * of small types cannot overflow. */
static bool constants_fit(Ctx *cx, const Expr *pattern, const RuleMatch *m, const RuleMatch *wide, DType t)
{
    if (pattern->arg_count == 0) return true;
    for (int i = 0; i < pattern->arg_count; i++)
        if (!constants_fit(cx, pattern->arg[i], m, wide, t)) return false;
    if (!is_of_constants(pattern) || pattern->type == BOOL) return true;
    return rule_build(cx, pattern, m, t, NULL, NULL)->integer
           == rule_build(cx, pattern, wide, I64, NULL, NULL)->integer;
}

static bool constants_are_small(const RuleMatch *m, bool computes)
{
    for (int s = SLOT_C1; s < SLOT_COUNT; s++) {
        if (!m->slot[s] || m->slot[s]->kind != EXPR_INT) continue;
        int64_t v = m->slot[s]->integer;
        bool is_small = v >= INT32_MIN && v <= INT32_MAX;
        if ((m->slot[s]->type == U64 && v < 0) || (computes && dtype_info(m->slot[s]->type)->bytes == 8 && !is_small))
            return false;
    }
    return true;
}

/* Returns true if a part of the pattern is an operation on constants. */
static bool works_out(const Expr *pattern)
{
    if (pattern->arg_count && pattern->type != BOOL && is_of_constants(pattern)) return true;
    for (int i = 0; i < pattern->arg_count; i++)
        if (works_out(pattern->arg[i])) return true;
    return false;
}

static DType type_of_match(const Rule *rule, const RuleMatch *m)
{
    DType t = I32;
    type_by_slots(rule->left, m, &t);
    return t;
}

bool rule_condition(Ranges *r, const Rule *rule, const RuleMatch *m)
{
    if (rule->on_floats) return condition_holds(r, rule->when, m);
    RuleMatch wide = *m;
    bool computes = works_out(rule->right);
    if (!constants_are_small(m, computes)) return false;
    for (int s = SLOT_C1; s < SLOT_COUNT && computes; s++)
        if (m->slot[s]) wide.slot[s] = expr_cast(r->cx, I64, m->slot[s]);
    return (!computes || constants_fit(r->cx, rule->right, m, &wide, type_of_match(rule, m)))
           && condition_holds(r, rule->when, m);
}

/* ---- Matching -------------------------------------------------------------------------------------------------- */

typedef struct Matching { Ranges *ranges; const Rule *rule; RuleMatch m; } Matching;

static bool match(Matching *g, const Expr *pattern, const Expr *e);

static bool same_class(const Expr *pattern, const Expr *e)
{
    if (pattern->type == BOOL || e->type == BOOL) return pattern->type == e->type;
    return dtype_is_float(pattern->type) == dtype_is_float(e->type);
}

static bool match_slot(Matching *g, const Expr *pattern, const Expr *e)
{
    int s = slot_of(pattern);
    if (s >= SLOT_C1 && !expr_is_const(e)) return false;
    if (g->m.slot[s]) return g->m.slot[s] == e;
    g->m.slot[s] = e;
    return true;
}

static bool match_constant(const Expr *pattern, const Expr *e)
{
    if (pattern->kind != e->kind) return false;
    if (e->kind == EXPR_INT) return pattern->integer == e->integer;
    return pattern->real == e->real && (pattern->real != 0 || 1 / pattern->real == 1 / e->real);
}

static bool match_args(Matching *g, const Expr *pattern, const Expr *e, bool swapped)
{
    for (int i = pattern->arg_count - 1; i >= 0; i--)
        if (!match(g, pattern->arg[i], e->arg[swapped ? 1 - i : i])) return false;
    return true;
}

static bool is_sum(const Expr *e) { return e->kind == EXPR_ADD || e->kind == EXPR_SUB; }

/* Returns true if no node of the sum, as written, wraps. */
static bool sum_is_exact(Ranges *r, const Expr *e)
{
    if (!is_sum(e) && e->kind != EXPR_NEG && e->kind != EXPR_MUL) return true;
    if (!ranges_exact(r, e)) return false;
    for (int i = 0; i < e->arg_count; i++)
        if (!sum_is_exact(r, e->arg[i])) return false;
    return true;
}

/* Returns true if no coefficient wraps when the form is written as an expression. */
static bool has_small_coefs(const Linear *l)
{
    int64_t most = dtype_info(l->type)->greatest;
    bool small = l->constant >= -most && l->constant <= most;
    for (int i = 0; i < l->count; i++) small = small && l->coef[i] >= -most && l->coef[i] <= most;
    return small;
}

/* Matches `one + rest` with the sum: `one` is a term (x*c1 or x*y), or c1, the constant. If the condition fails,
 * returns false, and the caller tries the next term. */
static bool match_term(Matching *g, const Expr *pattern, const Linear *l, int at)
{
    Ctx *cx = g->ranges->cx;
    RuleMatch before = g->m;
    Linear rest = *l;
    const Expr *one, *others;
    bool is_constant = at == l->count;
    if (is_constant) {
        one = expr_int(cx, l->type, l->constant);
        rest.constant = 0;
    } else {
        one = expr_new(cx, EXPR_MUL, l->type, NULL, (const Expr *[]){ l->term[at], expr_int(cx, l->type, l->coef[at]) },
                       2);
        if (l->coef[at] == 1 && l->term[at]->kind == EXPR_MUL) one = l->term[at];
        linear_drop(&rest, at);
    }
    others = linear_expr(cx, &rest);
    bool matched = is_constant ? match(g, pattern->arg[1], one) && match(g, pattern->arg[0], others)
                               : match(g, pattern->arg[0], one) && match(g, pattern->arg[1], others);
    if (matched && sum_is_exact(g->ranges, others) && sum_is_exact(g->ranges, one)
        && rule_condition(g->ranges, g->rule, &g->m))
        return true;
    g->m = before;
    return false;
}

static bool match_sum(Matching *g, const Expr *pattern, const Expr *e)
{
    Linear l;
    if (!is_sum(e) || !ranges_linear(g->ranges, e, &l) || l.count + (l.constant != 0) < 2) return false;
    if (!has_small_coefs(&l)) return false;
    bool has_constant = pattern->arg[1]->kind == EXPR_VAR && slot_of(pattern->arg[1]) >= SLOT_C1;
    if (has_constant) return l.constant != 0 && match_term(g, pattern, &l, l.count);
    for (int i = 0; i < l.count; i++)
        if (match_term(g, pattern, &l, i)) return true;
    return false;
}

static bool match(Matching *g, const Expr *pattern, const Expr *e)
{
    if (!same_class(pattern, e)) return false;
    if (pattern->kind == EXPR_VAR) return match_slot(g, pattern, e);
    if (expr_is_const(pattern)) return match_constant(pattern, e);
    bool has_product = pattern->kind == EXPR_ADD && pattern->arg[0]->kind == EXPR_MUL;
    if (g->rule->is_exact && pattern->kind == EXPR_ADD && (has_product || pattern->arg[1]->kind == EXPR_VAR))
        return match_sum(g, pattern, e);
    if (pattern->kind != e->kind || pattern->arg_count != e->arg_count) return false;
    if (g->rule->is_exact && e->type != BOOL && !ranges_exact(g->ranges, e)) return false;
    RuleMatch before = g->m;
    if (match_args(g, pattern, e, false)) return true;
    g->m = before;
    if (!(expr_info(e->kind)->algebra & ALGEBRA_COMMUTES) || e->arg_count != 2) return false;
    if (match_args(g, pattern, e, true)) return true;
    g->m = before;
    return false;
}

bool rule_matches(Ranges *r, const Rule *rule, const Expr *e, RuleMatch *out)
{
    Matching g = { r, rule, { { NULL } } };
    if (!match(&g, rule->left, e) || !rule_condition(r, rule, &g.m)) return false;
    *out = g.m;
    return true;
}
