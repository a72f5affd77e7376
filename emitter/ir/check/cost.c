/* SPDX-License-Identifier: MIT */
/* Computes the cost of a nest. A block runs once per iteration of its loops in which its guard holds. Loops that the
 * guard, or another loop's extent, uses are enumerated, together where a condition of the guard or an extent joins
 * them; the counts of separate sets of loops, and the trip counts of all other loops, are multiplied:
 *
 *   for i < 100: for jo < 3: for ji < 4: block if jo*4 + ji < 10        100 * |{(jo, ji): jo*4 + ji < 10}| = 1000 */
#include "ir/check/cost.h"

#include "ir/algebra/algebra.h"
#include "ir/check/check.h"

/* Beyond this number of iterations a guard is counted as always true. */
enum { MOST_ITERATIONS = 1 << 20, MOST_CONDITIONS = 16 };

typedef struct Costing {
    Ctx *cx;
    const Nest *nest;
    int depth; const Stmt *path[MAX_PATH];
    int64_t value[MAX_PATH];        /* the values of the loops' variables during enumeration */
    /* Loops with the same number are enumerated together; -1 for a loop that is not enumerated. */
    int set[MAX_PATH];
    /* The conditions of the guard, all of which hold, and the set of the loops in each. */
    int condition_count; const Expr *condition[MOST_CONDITIONS]; int condition_set[MOST_CONDITIONS];
    int64_t iterations;
    NestCost sum;
} Costing;

/* ---- Iterations -------------------------------------------------------------------------------------------------- */

static Scalar value_of(const Costing *c, const Expr *e)
{
    Scalar v[3] = { { .i = 0 }, { .i = 0 }, { .i = 0 } };
    const Var *var = expr_as_var(e);
    if (expr_is_const(e)) return expr_scalar(e);
    if (var) {
        for (int d = 0; d < c->depth; d++)
            if (c->path[d]->kind == STMT_FOR && c->path[d]->var == e) return (Scalar){ .i = c->value[d] };
        return (Scalar){ .i = var->greatest };
    }
    for (int i = 0; i < e->arg_count && i < 3; i++) v[i] = value_of(c, e->arg[i]);
    return scalar_apply(e->kind, e->type, e->arg[e->arg_count - 1]->type, v);
}

/* Returns the set of the loops in the expression, or -1 if it uses no loop that is enumerated. */
static int set_of(const Costing *c, const Expr *e)
{
    for (int d = 0; d < c->depth; d++)
        if (c->set[d] >= 0 && expr_uses(e, c->path[d]->var)) return c->set[d];
    return -1;
}

/* Puts the loops in the expression, and loop d unless d is -1, into one set. */
static void join_sets(Costing *c, const Expr *e, int d)
{
    const int into = d < 0 ? set_of(c, e) : c->set[d];
    for (int k = 0; k < c->depth; k++) {
        const int from = c->set[k];
        if (from < 0 || from == into || !expr_uses(e, c->path[k]->var)) continue;
        for (int m = 0; m < c->depth; m++)
            if (c->set[m] == from) c->set[m] = into;
    }
}

/* Splits the guard into conditions; the last condition holds all that exceed the limit. */
static void split_guard(Costing *c, const Expr *cond)
{
    if (cond->kind == EXPR_AND && c->condition_count < MOST_CONDITIONS - 1) {
        split_guard(c, cond->arg[0]);
        cond = cond->arg[1];
    }
    if (cond->kind == EXPR_AND && c->condition_count < MOST_CONDITIONS - 1) split_guard(c, cond);
    else c->condition[c->condition_count++] = cond;
}

/* Returns true if all conditions over the loops of the set hold. */
static bool holds(const Costing *c, int set)
{
    for (int i = 0; i < c->condition_count; i++)
        if (c->condition_set[i] == set && !value_of(c, c->condition[i]).i) return false;
    return true;
}

/* Counts the iterations in which a set's conditions hold, over its loops at that depth and deeper. */
static int64_t count_iterations(Costing *c, int set, int depth)
{
    while (depth < c->depth && c->set[depth] != set) depth++;
    if (depth == c->depth) {
        c->iterations++;
        return holds(c, set);
    }
    int64_t n = 0, extent = value_of(c, c->path[depth]->extent).i;
    for (int64_t i = 0; i < extent && c->iterations <= MOST_ITERATIONS; i++) {
        c->value[depth] = i;
        n += count_iterations(c, set, depth + 1);
    }
    c->value[depth] = 0;
    return n;
}

static bool mentions(const Costing *c, const Stmt *block, const Expr *var)
{
    if (block->cond && expr_uses(block->cond, var)) return true;
    for (int d = 0; d < c->depth; d++)
        if (c->path[d]->kind == STMT_FOR && expr_uses(c->path[d]->extent, var)) return true;
    return false;
}

/* Sets c->set and the conditions of the guard. */
static void find_sets(Costing *c, const Stmt *block)
{
    c->condition_count = 0;
    if (block->cond) split_guard(c, block->cond);
    for (int d = 0; d < c->depth; d++) {
        const Stmt *s = c->path[d];
        c->set[d] = s->kind == STMT_FOR && (s->extent->kind != EXPR_INT || mentions(c, block, s->var)) ? d : -1;
    }
    for (int i = 0; i < c->condition_count; i++) join_sets(c, c->condition[i], -1);
    for (int d = 0; d < c->depth; d++)
        if (c->set[d] >= 0) join_sets(c, c->path[d]->extent, d);
    for (int i = 0; i < c->condition_count; i++) c->condition_set[i] = set_of(c, c->condition[i]);
}

static int64_t runs_of(Costing *c, const Stmt *block)
{
    int64_t rest = 1, all = 1;
    find_sets(c, block);
    for (int d = 0; d < c->depth; d++) {
        const Stmt *s = c->path[d];
        const int64_t extent = s->kind == STMT_FOR ? interval_of(c->cx, s->extent, NULL).greatest : 1;
        if (c->set[d] >= 0) all = sat_mul(all, extent);
        else rest = sat_mul(rest, extent);
    }
    if (all > MOST_ITERATIONS) return sat_mul(rest, all);
    if (!holds(c, -1)) return 0;
    for (int set = 0; set < c->depth; set++) {
        bool is_used = false;
        for (int d = 0; d < c->depth; d++) is_used = is_used || c->set[d] == set;
        c->iterations = 0;
        if (is_used) rest = sat_mul(rest, count_iterations(c, set, 0));
    }
    return rest;
}

/* ---- Blocks ---------------------------------------------------------------------------------------------------- */

static bool is_in_memory(const Costing *c, const Tensor *t)
{
    for (int d = 0; d < c->depth; d++)
        if (c->path[d]->kind == STMT_ALLOC && c->path[d]->buffer->tensor == t)
            return c->path[d]->buffer->scope->kind != SCOPE_REGISTER;
    return true;
}

typedef struct ReadCount { const Costing *c; int64_t count; } ReadCount;

static void count_read(const Expr *e, void *user)
{
    ReadCount *r = user;
    r->count += e->kind == EXPR_READ && is_in_memory(r->c, e->ref);
}

static bool is_product(const Expr *v)
{
    if (v->kind == EXPR_SELECT) v = v->arg[SELECT_YES];
    return v->kind == EXPR_MUL;
}

static void cost_block(Costing *c, const Stmt *block)
{
    const Stage *s = block->stage;
    int64_t runs = runs_of(c, block);
    bool updates = s->reducer != REDUCE_NONE && block->part != BLOCK_INIT;
    for (int i = 0; i < s->out_count; i++) {
        ReadCount r = { c, 0 };
        bool stored = is_in_memory(c, s->out[i]);
        expr_walk(c->cx, block->part == BLOCK_INIT ? s->init[i] : s->value[i], count_read, &r);
        c->sum.loads = sat_add(c->sum.loads, sat_mul(runs, r.count + (updates && stored)));
        c->sum.stores = sat_add(c->sum.stores, stored ? runs : 0);
        if (updates && s->reducer == REDUCE_SUM && is_product(s->value[i]))
            c->sum.multiply_adds = sat_add(c->sum.multiply_adds, runs);
    }
}

static void cost_buffer(Costing *c, const Stmt *alloc)
{
    const Buffer *b = alloc->buffer;
    int64_t bytes = dtype_info(b->tensor->type)->bytes;
    const char *why;
    Window w;
    bool has_window = alloc_window(c->cx, c->nest, alloc, &w, &why);
    for (int d = 0; d < b->tensor->rank; d++) {
        int64_t whole = interval_of(c->cx, b->tensor->shape[d], NULL).greatest, extent = whole;
        if (b->ring[d]) extent = b->ring[d];
        else if (has_window) extent = interval_of(c->cx, w.extent[d], NULL).greatest;
        bytes = sat_mul(bytes, extent < whole ? extent : whole);
    }
    c->sum.buffers++;
    c->sum.buffer_bytes = sat_add(c->sum.buffer_bytes, bytes);
}

static void cost_of(Costing *c, const Stmt *s)
{
    if (s->kind == STMT_BLOCK) cost_block(c, s);
    if (s->kind == STMT_ALLOC) cost_buffer(c, s);
    c->sum.loops += s->kind == STMT_FOR;
    if (c->depth == MAX_PATH) return;
    c->path[c->depth++] = s;
    for (int i = 0; i < s->child_count; i++) cost_of(c, s->child[i]);
    c->depth--;
}

NestCost nest_cost(Ctx *cx, const Nest *n)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Costing *c = NEW(cx->scratch, Costing);
    c->cx = cx;
    c->nest = n;
    if (n->root) cost_of(c, n->root);
    const NestCost sum = c->sum;
    arena_reset(cx->scratch, mark);
    return sum;
}
