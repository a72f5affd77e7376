/* SPDX-License-Identifier: MIT */
/* Names clamped indices. A clamped index is a minimum or maximum of two, such as a shifted tile's begin. The clamped
 * index gets a name in the innermost loop that it depends on:
 *
 *     for (ho...) for (h...) y[(lw_min_i32(ho*2, 23) + h)*320] = .. x[lw_min_i32(ho*2, 23)*640 ..
 * =>  for (ho...) { const int32_t ho_begin = lw_min_i32(ho*2, 23);
 *                   for (h...) y[(ho_begin + h)*320] = .. x[ho_begin*640 ..
 *
 * Only an index that occurs at least twice gets a name, inner subexpressions first. Arithmetic on loop variables is
 * defined for all their values, so computing it early is safe. */
#include "lower/passes/passes.h"
#include "support/names.h"

enum { MOST_NAMES = 4 };         /* the most names per loop, because more names do not help readability */

typedef struct Found { const Expr *index; int uses; } Found;

/* The clamped indices in the body of one loop. `known` holds the variables of the enclosing loops and its own,
 * innermost last. */
typedef struct ClampScan {
    Ctx *cx; const Expr *const *known; int known_count; Found *at; int count, capacity;
} ClampScan;

static bool is_clamped(const Expr *e)
{
    return e->type == I32 && (e->kind == EXPR_MIN || e->kind == EXPR_MAX);
}

static bool is_known(const ClampScan *p, const Expr *var)
{
    for (int i = 0; i < p->known_count; i++)
        if (p->known[i] == var) return true;
    return expr_as_var(var)->role == VAR_SIZE;
}

/* Returns true for sums and products of known variables and constants that contain no clamped index. */
static bool is_plain(const ClampScan *p, const Expr *e)
{
    if (e->kind == EXPR_VAR) return is_known(p, e);
    bool is_sum = e->kind == EXPR_INT || e->kind == EXPR_ADD || e->kind == EXPR_SUB || e->kind == EXPR_MUL
                  || e->kind == EXPR_NEG;
    for (int i = 0; i < e->arg_count && is_sum; i++) is_sum = is_plain(p, e->arg[i]);
    return is_sum;
}

static void find_in_expr(ClampScan *p, const Expr *e)
{
    for (int i = 0; i < e->arg_count; i++) find_in_expr(p, e->arg[i]);
    if (!is_clamped(e) || !is_plain(p, e->arg[0]) || !is_plain(p, e->arg[1])
        || !expr_uses(e, p->known[p->known_count - 1]))
        return;
    int i = 0;
    while (i < p->count && p->at[i].index != e) i++;
    if (i == p->capacity) {
        Found *more = NEW_ARRAY(p->cx->arena, Found, p->capacity = 2 * p->capacity + 8);
        for (int j = 0; j < p->count; j++) more[j] = p->at[j];
        p->at = more;
    }
    if (i == p->count) p->at[p->count++] = (Found){ e, 0 };
    p->at[i].uses++;
}

/* Collects the clamped indices of a bound. A bound that is a clamped index as a whole keeps its spelling. */
static void find_in_bound(ClampScan *p, const Expr *e)
{
    if (!is_clamped(e)) find_in_expr(p, e);
    else for (int i = 0; i < e->arg_count; i++) find_in_bound(p, e->arg[i]);
}

static void find_in_code(ClampScan *p, const Code *c)
{
    const Expr *const mine[] = { c->cond, c->index, c->value };
    for (int i = 0; i < 3; i++)
        if (mine[i]) find_in_expr(p, mine[i]);
    if (c->kind == CODE_FOR) {
        find_in_bound(p, c->begin);
        find_in_bound(p, c->end);
    }
    for (int i = 0; i < c->arg_count; i++) find_in_expr(p, c->args[i]);
    for (int i = 0; i < c->child_count; i++) find_in_code(p, c->child[i]);
}

static const Code *named(Ctx *cx, const Code *body, const Expr *const *known, int known_count)
{
    ClampScan p = { .cx = cx, .known = known, .known_count = known_count };
    const Code *part[MOST_NAMES + 1];
    int count = 0;
    find_in_code(&p, body);
    for (int i = 0; i < p.count && count < MOST_NAMES; i++) {
        if (p.at[i].uses < 2) continue;
        const Expr *index = p.at[i].index;
        const Interval range = interval_of(cx, index, NULL);
        const Expr *var = expr_new_var(cx, name_format(cx, "%s_begin", expr_as_var(known[known_count - 1])->name),
                                       VAR_LOCAL, I32, range.least, range.greatest);
        body = code_substitute(cx, body, index, var);
        part[count++] = code_let(cx, var, index);
    }
    part[count] = body;
    return code_seq(cx, part, count + 1);
}

static const Code *name_clamped(Ctx *cx, const Code *c, const Expr **known, int known_count)
{
    if (c->kind == CODE_FOR && (known_count == MAX_DEPTH || c->loop_kind == LOOP_LANES)) return c;
    const Code *child[1];
    if (c->kind == CODE_FOR) {
        known[known_count] = c->var;
        child[0] = name_clamped(cx, named(cx, c->child[0], known, known_count + 1), known, known_count + 1);
        return child[0] == c->child[0] ? c : code_for(cx, c->var, c->begin, c->end, c->step, c->loop_kind, child[0]);
    }
    if (c->child_count == 0) return c;
    const Code **all = NEW_ARRAY(cx->arena, const Code *, c->child_count);
    for (int i = 0; i < c->child_count; i++) all[i] = name_clamped(cx, c->child[i], known, known_count);
    return code_with_children(cx, c, all);
}

const Code *pass_clamped(Ctx *cx, const LowerOptions *options, const Code *c)
{
    const Expr *known[MAX_DEPTH];
    (void)options;
    return name_clamped(cx, c, known, 0);
}
