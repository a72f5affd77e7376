/* SPDX-License-Identifier: MIT */
/* A loop may compute the rows of a stage in groups of R: v*R + inner, where the inner loops are the loops of a tile, or
 * min(v*R, n-R) of a shifted tail. The body of such a loop, with the stages attached there, uses v only as v*R, or as a
 * multiple of v*R for a strided window. The body is thus a function of v*R. With a different row in place of v*R, it
 * computes the group that begins at that row. The checker verifies the rows computed and read. */
#include "schedule/draft/rows.h"

enum { MAX_MULTIPLES = 16 };

/* The products of the variable and a constant in a statement. `others` is true if there are more multiples than
 * MAX_MULTIPLES. */
typedef struct Multiples { const Expr *var; int count; const Expr *at[MAX_MULTIPLES]; bool others; } Multiples;

static void visit_multiple(const Expr *e, void *user)
{
    Multiples *m = user;
    if (e->kind != EXPR_MUL || e->arg[0] != m->var || !is_constant(e->arg[1])) return;
    for (int i = 0; i < m->count; i++)
        if (m->at[i] == e) return;
    if (m->count == MAX_MULTIPLES) m->others = true;
    else m->at[m->count++] = e;
}

static void find_multiples(Ctx *cx, const Stmt *s, Multiples *m)
{
    for (int a = 0; s->kind == STMT_BLOCK && a < s->stage->axis_count; a++)
        if (s->bind[a]) expr_walk(cx, s->bind[a], visit_multiple, m);
    if (s->cond) expr_walk(cx, s->cond, visit_multiple, m);
    if (s->extent) expr_walk(cx, s->extent, visit_multiple, m);
    for (int i = 0; i < s->child_count; i++) find_multiples(cx, s->child[i], m);
}

static bool still_uses(const Stmt *s, const Expr *var)
{
    for (int a = 0; s->kind == STMT_BLOCK && a < s->stage->axis_count; a++)
        if (s->bind[a] && expr_uses(s->bind[a], var)) return true;
    if ((s->cond && expr_uses(s->cond, var)) || (s->extent && expr_uses(s->extent, var))) return true;
    for (int i = 0; i < s->child_count; i++)
        if (still_uses(s->child[i], var)) return true;
    return false;
}

int64_t rows_per_group(Ctx *cx, const Expr *index, const Expr *var)
{
    Multiples m = { .var = var };
    if (index == var) return 1;
    expr_walk(cx, index, visit_multiple, &m);
    if (m.count != 1 || m.others || m.at[0]->arg[1]->integer < 2) return 0;
    const Expr *zero = expr_index(cx, 0);
    return expr_uses(expr_substitute(cx, index, m.at, &zero, 1), var) ? 0 : m.at[0]->arg[1]->integer;
}

const Stmt *body_of_group(Ctx *cx, const Stmt *body, const Bounds *scope, const Expr *var, int64_t rows,
                          const Expr *first, const Expr *const *from, const Expr *const *to, int count)
{
    Multiples m = { .var = var };
    const Expr *old[MAX_MULTIPLES + MAX_DEPTH], *now[MAX_MULTIPLES + MAX_DEPTH];
    int n = 0;
    if (rows == 1) m.at[m.count++] = var;
    else find_multiples(cx, body, &m);
    for (; n < m.count; n++) {
        const int64_t times = rows == 1 ? 1 : m.at[n]->arg[1]->integer;
        if (times % rows) return NULL;
        old[n] = m.at[n];
        now[n] = expr_mul(cx, first, expr_index(cx, times / rows));
    }
    for (int i = 0; i < count; i++, n++) {
        old[n] = from[i];
        now[n] = to[i];
    }
    const Stmt *block = replace_loops(cx, body, scope, old, now, n);
    return m.others || still_uses(block, var) ? NULL : block;
}

/* ---- Where blocks begin ---------------------------------------------------------------------------------------- */

/* Returns the first or the second operand of min(e, constant); returns any other expression unchanged. */
static const Expr *visit_shift(Ctx *cx, const Expr *e, void *user)
{
    const bool *is_bound = user;
    (void)cx;
    return e->kind == EXPR_MIN && is_constant(e->arg[1]) ? e->arg[*is_bound] : e;
}

const Expr *without_shift(Ctx *cx, const Expr *e) { return expr_rewrite(cx, e, visit_shift, &(bool){ false }); }

const Expr *first_row(Ctx *cx, const Expr *first, const Expr *last, const Bounds *scope)
{
    const Expr *at_bound = expr_rewrite(cx, first, visit_shift, &(bool){ true });
    if (provably(cx, expr_binary(cx, EXPR_LE, last, at_bound), scope)) first = without_shift(cx, first);
    return simplify(cx, expr_binary(cx, EXPR_MIN, expr_binary(cx, EXPR_MAX, first, expr_index(cx, 0)), last), scope);
}
