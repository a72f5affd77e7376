/* SPDX-License-Identifier: MIT */
/* Partitions loops. A condition in a loop over v may be linear in v. Such a condition holds above some v, or below some
 * v, for all iterations of the inner loops: a*v + low >= 0, where low is the minimum of the remaining terms. The loop
 * is split into three:
 *
 *     for (v in boundary) S   for (v in interior) S without the conditions   for (v in boundary) S
 *
 * The pass then splits the interior by its inner loops, and likewise a boundary of one iteration. A wider boundary
 * keeps its conditions. The budget bounds the cost of the copies, counted in statements after unrolling. If the budget
 * allows only one boundary, the two boundaries share a copy, if each is one iteration and their order does not matter.
 * If even that exceeds the budget, innermost loops get two versions, with and without their conditions. */
#include "lower/passes/passes.h"

enum { DEFAULT_BUDGET = 400, MAX_CONDITIONS = 64 };

typedef struct LoopPartition {
    Ctx *cx;
    int64_t budget;
    bool in_boundary;                           /* true in a boundary, where a second version does not pay off */
    bool refused;                             /* true if a cut exceeded the budget */
    int count;
    const Expr *cond[MAX_CONDITIONS];
    const Bounds *scope[MAX_CONDITIONS];      /* the scope at the condition */
    int inner_count;
    const Expr *inner[MAX_DEPTH];             /* during the walk: the loops inside the current one */
    int inner_at[MAX_CONDITIONS];             /* the number of these loops that enclose the condition */
    const Expr *const *inner_of[MAX_CONDITIONS];
    int local_count;
    const Expr *local[MAX_CONDITIONS];        /* the variables that the code declares, unknown before it */
} LoopPartition;

/* ---- The conditions in a loop's body --------------------------------------------------------------------------- */

static void add_condition(LoopPartition *p, const Expr *cond, const Bounds *scope)
{
    for (int i = 0; i < p->count; i++)
        if (p->cond[i] == cond) return;
    if (p->count == MAX_CONDITIONS || !is_pure(p->cx, cond) || uses_any(cond, p->local, p->local_count)) return;
    p->cond[p->count] = cond;
    p->scope[p->count] = scope;
    p->inner_at[p->count] = p->inner_count;
    p->inner_of[p->count] = arena_copy(p->cx->arena, p->inner, (size_t)p->inner_count * sizeof *p->inner);
    p->count++;
}

static void add_conjuncts(LoopPartition *p, const Expr *cond, const Bounds *scope)
{
    const Expr *part[MAX_CONDITIONS];
    int n = conjuncts(cond, part, MAX_CONDITIONS);
    for (int i = 0; i < n && i < MAX_CONDITIONS; i++) add_condition(p, part[i], scope);
}

typedef struct Selects { LoopPartition *p; const Bounds *scope; } Selects;

static void find_select(const Expr *e, void *user)
{
    const Selects *s = user;
    if (e->kind == EXPR_SELECT) add_conjuncts(s->p, e->arg[SELECT_COND], s->scope);
}

/* Collects the conditions in the code. A condition in an instruction's portable form splits no loop, because the
 * instruction is printed once and takes its conditions as operands. */
static void find_conditions(LoopPartition *p, const Code *c, const Bounds *scope)
{
    if (c->kind == CODE_CALL) return;
    if (c->kind == CODE_STORE) {
        Selects s = { p, scope };
        expr_walk(p->cx, c->value, find_select, &s);
    }
    if (c->kind == CODE_LET && p->local_count < MAX_CONDITIONS) p->local[p->local_count++] = c->var;
    if (c->kind == CODE_IF) add_conjuncts(p, c->cond, scope);
    if (c->kind == CODE_FOR) {
        if (p->inner_count == MAX_DEPTH) return;
        scope = code_bounds(p->cx, scope, c);
        p->inner[p->inner_count++] = c->var;
    }
    for (int i = 0; i < c->child_count; i++) find_conditions(p, c->child[i], scope);
    if (c->kind == CODE_FOR) p->inner_count--;
}

/* ---- The range of v in which conditions hold --------------------------------------------------------------------- */

/* Narrows [begin, end) of `loop` to the range in which condition `i` certainly holds. Returns false if no such range is
 * provable. */
static bool narrow(LoopPartition *p, const Code *loop, int i, const Expr **begin, const Expr **end)
{
    Ctx *cx = p->cx;
    const Expr *sum = as_nonnegative(cx, p->cond[i]), *rest;
    const char *why;
    int64_t coef;
    Reach r;
    if (!sum || !split_linear(cx, sum, loop->var, &coef, &rest)) return false;
    if (!reach(cx, rest, p->scope[i], p->inner_of[i], p->inner_at[i], &r, &why)) return false;
    /* If an inner loop's extent depends on v, no bound of v follows. */
    if (expr_uses(r.low, loop->var)) return false;
    const Expr *low = simplify(cx, r.low, NULL);
    if (coef > 0) {
        const Expr *from = expr_sub(cx, expr_index(cx, coef - 1), low);
        if (coef > 1) from = expr_binary(cx, EXPR_FLOORDIV, from, expr_index(cx, coef));
        *begin = simplify(cx, expr_binary(cx, EXPR_MAX, from, *begin), NULL);
    } else {
        const Expr *last = coef < -1 ? expr_binary(cx, EXPR_FLOORDIV, low, expr_index(cx, -coef)) : low;
        *end = simplify(cx, expr_binary(cx, EXPR_MIN, expr_add(cx, last, expr_index(cx, 1)), *end), NULL);
    }
    return true;
}

static const Expr *holds(Ctx *cx, const Expr *e, void *user)
{
    const LoopPartition *p = user;
    for (int i = 0; i < p->count; i++)
        if (e == p->cond[i]) return expr_int(cx, BOOL, 1);
    return e;
}

/* Counts statements after unrolling. */
static int64_t cost(const Code *c)
{
    int64_t n = c->kind == CODE_STORE || c->kind == CODE_CALL || c->kind == CODE_LET;
    for (int i = 0; i < c->child_count; i++) n = sat_add(n, cost(c->child[i]));
    bool is_unrolled = c->kind == CODE_FOR && c->loop_kind == LOOP_UNROLLED && c->begin->kind == EXPR_INT
                       && c->end->kind == EXPR_INT;
    return is_unrolled ? sat_mul(n, c->end->integer - c->begin->integer) : n;
}

/* ---- Profitability ----------------------------------------------------------------------------------------------- */

typedef struct Asks { const LoopPartition *found; bool any; } Asks;

static void look_for_condition(const Expr *e, void *user)
{
    Asks *a = user;
    for (int i = 0; i < a->found->count; i++) a->any = a->any || e == a->found->cond[i];
}

static bool asks(const LoopPartition *found, const Expr *e)
{
    Asks a = { found, false };
    if (e) expr_walk(found->cx, e, look_for_condition, &a);
    return a.any;
}

/* Counts the executed stores, and those guarded by one of the conditions. A loop of unknown length is treated as a
 * short one. */
static void count_runs(const LoopPartition *found, const Code *c, int64_t times, bool is_asked, int64_t *all,
                       int64_t *asked)
{
    enum { UNKNOWN_LENGTH = 16 };
    if (c->kind == CODE_STORE) {
        *all = sat_add(*all, times);
        if (is_asked || asks(found, c->value)) *asked = sat_add(*asked, times);
    }
    if (c->kind == CODE_IF) is_asked = is_asked || asks(found, c->cond);
    bool fixed = c->kind == CODE_FOR && c->begin->kind == EXPR_INT && c->end->kind == EXPR_INT;
    if (c->kind == CODE_FOR)
        times = sat_mul(times, fixed ? (c->end->integer - c->begin->integer) / c->step : UNKNOWN_LENGTH);
    for (int i = 0; i < c->child_count; i++) count_runs(found, c->child[i], times, is_asked, all, asked);
}

static bool holds_call(const Code *c)
{
    bool found = c->kind == CODE_CALL;
    for (int i = 0; i < c->child_count && !found; i++) found = holds_call(c->child[i]);
    return found;
}

/* Returns true if a split does not pay off. A split copies the whole body, and pays off if conditions guard a good part
 * of the body's work. If the body has instructions, a larger part must be guarded, because each copy prints the
 * instructions again. */
static bool is_rarely_asked(const LoopPartition *found, const Code *body)
{
    int64_t all = 0, asked = 0;
    count_runs(found, body, 1, false, &all, &asked);
    return asked < all / (holds_call(body) ? 8 : 16);
}

static bool is_constant_and_empty(const Expr *begin, const Expr *end)
{
    return begin->kind == EXPR_INT && end->kind == EXPR_INT && begin->integer >= end->integer;
}

/* ---- Boundaries before the interior ------------------------------------------------------------------------------ */

static const Expr *note_read(Ctx *cx, const Expr *e, void *user)
{
    Map *read = user;
    (void)cx;
    if (e->kind == EXPR_LOAD) map_put_ptr(read, e->ref, read);
    return e;
}

typedef struct Stores { Map read, own; bool clash; } Stores;

static const Code *note_own(Ctx *cx, const Code *c, void *user)
{
    Stores *s = user;
    (void)cx;
    if (c->kind == CODE_LOCAL) map_put_ptr(&s->own, c->memory, s);
    return c;
}

static const Code *note_clash(Ctx *cx, const Code *c, void *user)
{
    Stores *s = user;
    (void)cx;
    if (c->kind == CODE_CALL) s->clash = true;
    if (c->kind == CODE_STORE && !map_get_ptr(&s->own, c->memory) && map_get_ptr(&s->read, c->memory)) s->clash = true;
    return c;
}

/* Returns true if no iteration reads memory that another may write: the body reads nothing that it stores outside its
 * own buffers. */
static bool is_independent(Ctx *cx, const Code *body)
{
    Stores s = { map_new(cx->arena), map_new(cx->arena), false };
    code_map_exprs(cx, body, note_read, &s.read);
    code_rewrite(cx, body, note_own, &s);
    code_rewrite(cx, body, note_clash, &s);
    return !s.clash;
}

/* Returns the first and the last iteration as one loop of two, `for (v = b; v < e; v += e - 1 - b)`, so the boundary
 * has a single copy. The order must be irrelevant. Returns NULL if the boundary is not of this form. */
static const Code *both_borders(Ctx *cx, const Code *loop, const Expr *begin, const Expr *end)
{
    if (loop->begin->kind != EXPR_INT || loop->end->kind != EXPR_INT || begin->kind != EXPR_INT
        || end->kind != EXPR_INT)
        return NULL;
    int64_t first = loop->begin->integer, last = loop->end->integer - 1;
    if (begin->integer != first + 1 || end->integer != last || !is_independent(cx, loop->child[0])) return NULL;
    return code_for(cx, loop->var, loop->begin, loop->end, last - first, loop->loop_kind,
                    code_fresh(cx, loop->child[0]));
}

static const Code *partition(LoopPartition *p, const Code *c, const Bounds *scope);

static bool is_one_iteration(const Code *c)
{
    return c->step == 1 && c->begin->kind == EXPR_INT && c->end->kind == EXPR_INT
           && c->end->integer == c->begin->integer + 1;
}

/* Returns the three parts of a loop, or NULL if the split does not pay off. */
static const Code *cut(LoopPartition *p, const Code *loop, const Bounds *scope)
{
    Ctx *cx = p->cx;
    LoopPartition found = { .cx = cx };
    find_conditions(&found, loop->child[0], code_bounds(cx, scope, loop));
    const Expr *begin = loop->begin, *end = loop->end;
    int kept = 0;
    for (int i = 0; i < found.count; i++) {
        const Expr *from = begin, *to = end;
        if (!expr_uses(found.cond[i], loop->var) || !narrow(&found, loop, i, &from, &to)) continue;
        if (is_constant_and_empty(from, to)) continue;
        begin = from;
        end = to;
        found.cond[kept++] = found.cond[i];
    }
    found.count = kept;
    int copies = (begin != loop->begin) + (end != loop->end);
    int64_t size = cost(loop->child[0]), growth = sat_mul(copies, size);
    const Code *borders = copies == 2 && growth > p->budget ? both_borders(cx, loop, begin, end) : NULL;
    if (borders) growth = size;
    bool fits = growth <= p->budget && !(kept && copies && is_rarely_asked(&found, loop->child[0]));
    p->refused = p->refused || (kept && copies && !fits);
    if (!kept || !copies || !fits) return NULL;
    p->budget -= growth;
    /* A bound that is not constant may exceed the loop's end or the other bound. The clamped parts are then empty, in
     * order, and still cover the range. The interior needs no clamp: a loop that begins at or after its end is
     * empty. */
    const Expr *cut_begin = begin == loop->begin ? begin : expr_binary(cx, EXPR_MIN, begin, loop->end);
    const Expr *cut_end = end == loop->end ? end : expr_binary(cx, EXPR_MAX, end, cut_begin);
    const Code *body = code_map_exprs(cx, loop->child[0], holds, &found);
    const Code *part[3] = { NULL, NULL, NULL };
    if (borders) part[0] = borders;
    else if (cut_begin != loop->begin)
        part[0] = code_for(cx, loop->var, loop->begin, simplify(cx, cut_begin, scope), 1, loop->loop_kind,
                           code_fresh(cx, loop->child[0]));
    part[1] = code_for(cx, loop->var, simplify(cx, cut_begin, scope), simplify(cx, end, scope), 1, loop->loop_kind,
                       body);
    if (cut_end != loop->end && !borders)
        part[2] = code_for(cx, loop->var, simplify(cx, cut_end, scope), loop->end, 1, loop->loop_kind,
                           code_fresh(cx, loop->child[0]));
    /* The interior comes first, because it has the first claim on the budget. */
    static const int order[] = { 1, 0, 2 };
    for (int i = 0; i < 3; i++) {
        const Code *c = part[order[i]];
        if (!c || (order[i] != 1 && !is_one_iteration(c))) continue;
        bool was_border = p->in_boundary;
        p->in_boundary = p->in_boundary || order[i] != 1;
        part[order[i]] = code_for(cx, c->var, c->begin, c->end, 1, c->loop_kind,
                                  partition(p, c->child[0], code_bounds(cx, scope, c)));
        p->in_boundary = was_border;
    }
    return code_seq(cx, part, 3);
}

/* ---- Versions, if a split exceeds the budget --------------------------------------------------------------------- */

static bool is_innermost(const Code *c)
{
    if (c->kind == CODE_FOR && c->loop_kind != LOOP_UNROLLED && c->loop_kind != LOOP_VECTOR) return false;
    for (int i = 0; i < c->child_count; i++)
        if (!is_innermost(c->child[i])) return false;
    return true;
}

/* Returns sum >= 0 with its negative terms on the other side: a + 3 >= b instead of a - b >= -3. */
static const Expr *is_nonnegative(Ctx *cx, const Expr *sum)
{
    Linear l, left = { .type = I32 }, right = { .type = I32 };
    if (!linear_of(cx, sum, &l)) return expr_binary(cx, EXPR_LE, expr_index(cx, 0), sum);
    for (int i = 0; i < l.count; i++) {
        Linear *to = l.coef[i] < 0 ? &right : &left;
        to->term[to->count] = l.term[i];
        to->coef[to->count++] = l.coef[i] < 0 ? -l.coef[i] : l.coef[i];
    }
    if (left.count == 0) left.constant = l.constant;
    else right.constant = -l.constant;
    return expr_binary(cx, EXPR_LE, linear_expr(cx, &right), linear_expr(cx, &left));
}

/* Returns two versions of an innermost loop, `if (its conditions hold in all iterations) loop without them; else loop`.
 * The copy is small, and the test runs once per loop instead of once per iteration. Returns NULL if no condition can be
 * removed. */
static const Code *version(LoopPartition *p, const Code *loop, const Bounds *scope)
{
    Ctx *cx = p->cx;
    LoopPartition found = { .cx = cx };
    found.inner[found.inner_count++] = loop->var;
    find_conditions(&found, loop->child[0], code_bounds(cx, scope, loop));
    const Expr *all = NULL;
    int kept = 0;
    for (int i = 0; i < found.count; i++) {
        const Expr *sum = as_nonnegative(cx, found.cond[i]);
        const char *why;
        Reach r;
        if (!sum || !reach(cx, sum, found.scope[i], found.inner_of[i], found.inner_at[i], &r, &why)) continue;
        const Expr *holding = is_nonnegative(cx, simplify(cx, r.low, scope));
        if (provably(cx, holding, scope)) holding = expr_int(cx, BOOL, 1);
        if (expr_is_int(holding, 0) || provably(cx, expr_unary(cx, EXPR_NOT, holding), scope)) continue;
        all = all ? expr_and(cx, all, holding) : holding;
        found.cond[kept++] = found.cond[i];
    }
    found.count = kept;
    int64_t growth = cost(loop->child[0]);
    if (!kept || growth > p->budget) return NULL;
    p->budget -= growth;
    const Code *body = code_map_exprs(cx, loop->child[0], holds, &found);
    const Code *free = code_for(cx, loop->var, loop->begin, loop->end, 1, loop->loop_kind, body);
    return code_if(cx, all, free, code_fresh(cx, loop));
}

/* Counts executed statements; an unknown extent is one iteration. */
static int64_t work(Ctx *cx, const Code *c)
{
    int64_t n = cost(c);
    if (c->kind != CODE_FOR && c->kind != CODE_SEQ && c->kind != CODE_SCOPE) return n;
    n = 0;
    for (int i = 0; i < c->child_count; i++) n = sat_add(n, work(cx, c->child[i]));
    if (c->kind != CODE_FOR || c->begin->kind != EXPR_INT || c->end->kind != EXPR_INT) return n;
    return sat_mul(n, (c->end->integer - c->begin->integer + c->step - 1) / c->step);
}

/* Partitions the children in the order of descending work, because the budget may not suffice for all. */
static void partition_all(LoopPartition *p, const Code *seq, const Code **child, const Bounds *scope)
{
    int64_t *load = NEW_ARRAY(p->cx->arena, int64_t, seq->child_count);
    for (int i = 0; i < seq->child_count; i++) load[i] = work(p->cx, seq->child[i]);
    for (int done = 0; done < seq->child_count; done++) {
        int next = -1;
        for (int i = 0; i < seq->child_count; i++)
            if (!child[i] && (next < 0 || load[i] > load[next])) next = i;
        child[next] = partition(p, seq->child[next], scope);
        if (!child[next]) child[next] = code_seq(p->cx, NULL, 0);
    }
}

static const Code *partition(LoopPartition *p, const Code *c, const Bounds *scope)
{
    Ctx *cx = p->cx;
    if (c->kind == CODE_FOR && c->step == 1 && (c->loop_kind == LOOP_SERIAL || c->loop_kind == LOOP_PARALLEL)) {
        const Code *parts = cut(p, c, scope);
        if (!parts && p->refused && !p->in_boundary && is_innermost(c->child[0])) parts = version(p, c, scope);
        if (parts) return parts;
    }
    const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count);
    const Bounds *inside = c->kind == CODE_FOR ? code_bounds(cx, scope, c) : scope;
    if (c->kind == CODE_SEQ) partition_all(p, c, child, inside);
    else
        for (int i = 0; i < c->child_count; i++) child[i] = partition(p, c->child[i], inside);
    switch (c->kind) {
    case CODE_SEQ: return code_seq(cx, child, c->child_count);
    case CODE_SCOPE: return code_scope(cx, child[0]);
    case CODE_FOR: return code_for(cx, c->var, c->begin, c->end, c->step, c->loop_kind, child[0]);
    case CODE_IF:  return code_if(cx, c->cond, child[0], c->child_count > 1 ? child[1] : NULL);
    default:       return c;
    }
}

const Code *pass_partition(Ctx *cx, const LowerOptions *options, const Code *c)
{
    LoopPartition p = { .cx = cx, .budget = options && options->code_budget ? options->code_budget : DEFAULT_BUDGET };
    return partition(&p, c, NULL);
}
