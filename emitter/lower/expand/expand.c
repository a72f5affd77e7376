/* SPDX-License-Identifier: MIT */
/* Expands blocks to stores. A block of a reduction takes one of three forms:
 *
 *   reduce loops are innermost          acc = init; for (reduce) acc = combine(acc, value); y[...] = acc;
 *   data loops are in reduce loops      for (data) y[...] = init; for (reduce) for (data) y[...] = combine(...);
 *   a loop feeds both kinds of axes     if (all reduce axes == 0) y[...] = init; y[...] = combine(...);
 *
 * The first two forms are correct for these reasons. Each data point has one instance with all reduce axes 0 (invariant
 * I1), and that instance comes first (I2). If no loop feeds both kinds of axes, all loops that feed reduce axes are at
 * 0 in that instance. So all inits may run before the outermost of these loops. No consumer is in these loops, and the
 * Alloc encloses them (I4).
 *
 * A reduced value of the form select(cond, v, identity) becomes an update guarded by cond. Combining with the identity
 * changes only one value: -0 + 0 = +0. A sum is therefore guarded only if its init is provably not -0. Such a sum never
 * becomes -0, because the sum of any value and its negation is +0. */
#include <string.h>

#include "ir/check/match_instruction.h"
#include "ir/nest/instruction.h"
#include "lower/expand/configure.h"
#include "lower/expand/storage.h"
#include "support/names.h"
#include "support/text.h"

typedef enum InitMode { INIT_BEFORE_LOOPS, INIT_GUARDED, INIT_ELSEWHERE } InitMode;

typedef struct Expand {
    Ctx *cx;
    Storages *s;
    int depth;
    const Stmt *path[MAX_PATH];      /* the enclosing FOR and ALLOC statements, outermost first */
    const Bounds *facts;             /* the enclosing conditions on inputs, or their negations */
} Expand;

static const Code *expand(Expand *x, const Stmt *s);

/* ---- Axes and loops of a reduction ------------------------------------------------------------------------------- */

static bool used_by(const Stmt *block, int from, int to, const Expr *var)
{
    for (int a = from; a < to; a++)
        if (block->bind[a] && expr_uses(block->bind[a], var)) return true;
    return false;
}

static bool feeds_reduction(const Stmt *block, const Stmt *loop)
{
    return loop->kind == STMT_FOR && used_by(block, block->stage->data_count, block->stage->axis_count, loop->var);
}

static bool feeds_data(const Stmt *block, const Stmt *loop)
{
    return loop->kind == STMT_FOR && used_by(block, 0, block->stage->data_count, loop->var);
}

/* Returns the expression with all loops at 0 that are on the path and feed the block's reduce axes. */
static const Expr *at_first(Expand *x, const Stmt *block, const Expr *e)
{
    const Expr *from[MAX_DEPTH], *to[MAX_DEPTH];
    int n = 0;
    for (int d = 0; d < x->depth; d++) {
        if (!feeds_reduction(block, x->path[d])) continue;
        from[n] = x->path[d]->var;
        to[n++] = expr_index(x->cx, 0);
    }
    return e ? expr_substitute(x->cx, e, from, to, n) : NULL;
}

/* Returns the depth of the outermost loop that feeds the block's reduce axes, or the path's depth if there is none. */
static int outermost_reduce(const Expand *x, const Stmt *block)
{
    int d = 0;
    while (d < x->depth && !feeds_reduction(block, x->path[d])) d++;
    return d;
}

typedef struct Computed { const Stmt *in; bool found; } Computed;

static bool computes(const Stmt *s, const Tensor *t)
{
    for (int i = 0; s->kind == STMT_BLOCK && i < s->stage->out_count; i++)
        if (s->stage->out[i] == t) return true;
    for (int i = 0; i < s->child_count; i++)
        if (computes(s->child[i], t)) return true;
    return false;
}

static void find_computed(const Expr *e, void *user)
{
    Computed *c = user;
    c->found = c->found || (e->kind == EXPR_READ && computes(c->in, e->ref));
}

/* Returns true if the initial values read a tensor that is computed inside the outermost loop over a reduce axis, so
 * that they are not known before it. */
static bool init_needs_loop(Expand *x, const Stmt *block)
{
    const int at = outermost_reduce(x, block);
    Computed c = { at < x->depth ? x->path[at] : block, false };
    for (int i = 0; at < x->depth && i < block->stage->out_count; i++)
        expr_walk(x->cx, block->stage->init[i], find_computed, &c);
    return c.found;
}

static InitMode init_mode(Expand *x, const Stmt *block)
{
    const Stage *s = block->stage;
    if (block->part != BLOCK_WHOLE) return INIT_ELSEWHERE;
    bool at_zero = !init_needs_loop(x, block);
    for (int d = 0; d < x->depth; d++)
        if (feeds_reduction(block, x->path[d]) && feeds_data(block, x->path[d])) at_zero = false;
    for (int a = s->data_count; a < s->axis_count; a++) {
        if (interval_of(x->cx, block->bind[a], NULL).least > 0) return INIT_ELSEWHERE;
        at_zero = at_zero && expr_is_int(simplify(x->cx, at_first(x, block, block->bind[a]), NULL), 0);
    }
    return at_zero ? INIT_BEFORE_LOOPS : INIT_GUARDED;
}

/* ---- One block ------------------------------------------------------------------------------------------------- */

static const Expr *visit_decided(Ctx *cx, const Expr *e, void *user)
{
    const Expand *x = user;
    if (e->kind != EXPR_SELECT) return e;
    if (provably(cx, e->arg[SELECT_COND], x->facts)) return e->arg[SELECT_YES];
    return provably(cx, expr_unary(cx, EXPR_NOT, e->arg[SELECT_COND]), x->facts) ? e->arg[SELECT_NO] : e;
}

/* Returns the value without the selects that the enclosing conditions decide. */
static const Expr *decided(Expand *x, const Expr *e)
{
    return x->facts ? expr_rewrite(x->cx, e, visit_decided, x) : e;
}

static const Expr *at_bind(Expand *x, const Stmt *block, const Expr *e)
{
    return storage_loads(x->s, block_in_loops(x->cx, block, decided(x, e)));
}

typedef struct StoreTarget { const Memory *memory; const Expr *index; } StoreTarget;

static bool target_of(Expand *x, const Stmt *block, int out, StoreTarget *t)
{
    const Tensor *tensor = block->stage->out[out];
    const Storage *st = storage_of(x->s, tensor);
    if (!st) {
        diag_internal(x->cx, tensor->name, "no storage of this tensor is in scope of its producer");
        return false;
    }
    *t = (StoreTarget){ st->memory, storage_index(x->cx, st, tensor, block->bind) };
    return true;
}

/* All new values are computed before one is stored, because each may use every old value. */
static const Code *update_together(Expand *x, const Stage *s, const StoreTarget *target, const Expr *const *new)
{
    Ctx *cx = x->cx;
    const Code *code[2 * MAX_COMPONENTS];
    const Expr *known[MAX_COMPONENTS], *var[MAX_COMPONENTS];
    for (int i = 0; i < s->out_count; i++) {
        const char *next = i ? name_format(cx, "next%d", i + 1) : name(cx, "next");
        var[i] = expr_new_var(cx, next, VAR_LOCAL, new[i]->type, 0, 0);
        known[i] = nest_contracted(cx, x->s->nest, s, new[i]);
        code[i] = code_let(cx, var[i], expr_substitute(cx, known[i], known, var, i));
        code[s->out_count + i] = code_store(cx, target[i].memory, target[i].index, var[i]);
    }
    return code_seq(cx, code, 2 * s->out_count);
}

/* Emits old := combine(old, value). The targets are memories or their accumulators. */
static const Code *update(Expand *x, const Stmt *block, const StoreTarget *target)
{
    Ctx *cx = x->cx;
    const Stage *s = block->stage;
    const Expr *old[MAX_COMPONENTS], *value[MAX_COMPONENTS], *new[MAX_COMPONENTS], *cond = NULL;
    const Code *store[MAX_COMPONENTS] = { NULL };
    for (int i = 0; i < s->out_count; i++) {
        value[i] = decided(x, s->value[i]);
        old[i] = load_expr(cx, target[i].memory, target[i].index);
    }
    bool padded = s->out_count == 1 && value[0]->kind == EXPR_SELECT && stage_skips(cx, s, value[0]->arg[SELECT_NO]);
    if (padded) {
        cond = at_bind(x, block, value[0]->arg[SELECT_COND]);
        value[0] = value[0]->arg[SELECT_YES];
    }
    for (int i = 0; i < s->out_count; i++) value[i] = at_bind(x, block, value[i]);
    stage_combine(cx, s, old, value, new);
    if (s->combiner && s->out_count > 1) return update_together(x, s, target, new);
    for (int i = 0; i < s->out_count; i++) {
        /* select(take, value, old) updates both results or neither, because each result reads the old value of the
         * other. */
        bool takes = s->out_count > 1 && new[i]->kind == EXPR_SELECT && new[i]->arg[SELECT_NO] == old[i];
        if (takes) cond = new[i]->arg[SELECT_COND];
        store[i] = code_store(cx, target[i].memory, target[i].index,
                              nest_contracted(x->cx, x->s->nest, s, takes ? new[i]->arg[SELECT_YES] : new[i]));
    }
    return code_if(cx, cond, code_seq(cx, store, s->out_count), NULL);
}

static const Code *init(Expand *x, const Stmt *block, const StoreTarget *target)
{
    const Code *store[MAX_COMPONENTS] = { NULL };
    for (int i = 0; i < block->stage->out_count; i++)
        store[i] = code_store(x->cx, target[i].memory, target[i].index, at_bind(x, block, block->stage->init[i]));
    return code_seq(x->cx, store, block->stage->out_count);
}

static const Code *plain(Expand *x, const Stmt *block, const StoreTarget *target)
{
    const Code *store[MAX_COMPONENTS] = { NULL };
    for (int i = 0; i < block->stage->out_count; i++)
        store[i] = code_store(
            x->cx, target[i].memory, target[i].index,
            nest_contracted(x->cx, x->s->nest, block->stage, at_bind(x, block, block->stage->value[i])));
    return code_seq(x->cx, store, block->stage->out_count);
}

static const Expr *all_reduce_axes_zero(Expand *x, const Stmt *block)
{
    const Stage *s = block->stage;
    const Expr *cond = NULL;
    for (int a = s->data_count; a < s->axis_count; a++) {
        const Expr *zero = expr_binary(x->cx, EXPR_EQ, block->bind[a], expr_index(x->cx, 0));
        cond = cond ? expr_and(x->cx, cond, zero) : zero;
    }
    return cond;
}

static const Bounds *bounds_of_path(Expand *x)
{
    const Bounds *scope = NULL;
    for (int d = 0; d < x->depth; d++) {
        if (x->path[d]->kind != STMT_FOR) continue;
        Bounds *b = NEW(x->cx->arena, Bounds);
        *b = (Bounds){ scope, x->path[d]->var, x->path[d]->extent, NULL };
        scope = b;
    }
    return scope;
}

/* Returns true if the init of a local array may run without its guard, because its index stays in the array. An element
 * that the guard excludes is never read in this live range, and the unguarded init gives it a defined value. */
static bool init_may_overshoot(Expand *x, const Stmt *block, const StoreTarget *target)
{
    const Bounds *scope = bounds_of_path(x);
    for (int i = 0; i < block->stage->out_count; i++) {
        const Memory *m = target[i].memory;
        Interval index = interval_of(x->cx, target[i].index, scope);
        if (block->stage->init[i]->kind != EXPR_REAL && block->stage->init[i]->kind != EXPR_INT) return false;
        if (m->kind != MEMORY_LOCAL || index.least < 0 || index.greatest >= m->elems->integer) return false;
    }
    return true;
}

static const Code *expand_block(Expand *x, const Stmt *block)
{
    Ctx *cx = x->cx;
    StoreTarget target[MAX_COMPONENTS];
    const Code *copies = expand_copy(x->s, block, bounds_of_path(x));
    if (copies) return copies;
    for (int i = 0; i < block->stage->out_count; i++)
        if (!target_of(x, block, i, &target[i])) return NULL;
    const Code *code;
    if (block->stage->reducer == REDUCE_NONE) code = plain(x, block, target);
    else if (block->part == BLOCK_INIT) {
        code = init(x, block, target);
        if (init_may_overshoot(x, block, target)) return code;
    } else {
        InitMode mode = init_mode(x, block);
        const Code *first = NULL;
        if (mode == INIT_GUARDED) first = code_if(cx, all_reduce_axes_zero(x, block), init(x, block, target), NULL);
        else if (mode == INIT_BEFORE_LOOPS && outermost_reduce(x, block) == x->depth) first = init(x, block, target);
        const Code *both[] = { first, update(x, block, target) };
        code = code_seq(cx, both, 2);
    }
    return code_if(cx, block->cond, code, NULL);
}

/* ---- Inits before the loops, accumulators ------------------------------------------------------------------------ */

/* Returns the block if only loops that feed its reduce axes, and no data axes, lead from `loop` to it. Otherwise
 * returns NULL. */
static const Stmt *reduce_chain(const Stmt *loop, const Stmt *block)
{
    const Stmt *s = loop;
    while (s->kind == STMT_FOR && feeds_reduction(block, s) && !feeds_data(block, s)) s = s->child[0];
    return s == block ? block : NULL;
}

static const Stmt *only_block(const Stmt *s)
{
    while (s->kind == STMT_FOR || s->kind == STMT_TILE) s = s->child[0];
    return s->kind == STMT_BLOCK ? s : NULL;
}

static const Code *with_prefetches(Expand *x, const Stmt *loop, const Code *body);

static const Code *chain_loops(Expand *x, const Stmt *s, const Code *body)
{
    if (s->kind != STMT_FOR) return body;
    body = with_prefetches(x, s, chain_loops(x, s->child[0], body));
    return code_for(x->cx, s->var, expr_index(x->cx, 0), s->extent, 1, s->loop_kind, body);
}

/* Sets *out to the part of the guard that all instances of a data point share. Returns false if the remaining part may
 * fail for the first instance. */
static bool guard_of_data(Expand *x, const Stmt *block, const Expr **out)
{
    const Expr *part[16];
    *out = NULL;
    if (!block->cond) return true;
    int n = conjuncts(block->cond, part, 16);
    if (n > 16) return false;
    for (int i = 0; i < n; i++) {
        const Expr *first = at_first(x, block, part[i]);
        if (first == part[i]) *out = *out ? expr_and(x->cx, *out, first) : first;
        else if (!provably(x->cx, first, NULL)) return false;
    }
    return true;
}

/* Returns true for a buffer of one element, which is a variable already. */
static bool is_variable(const Memory *m) { return m->kind == MEMORY_LOCAL && expr_is_int(m->elems, 1); }

/* Accumulates `for (reduce...) block` in variables. Returns NULL if the statement has a different form. */
static const Code *accumulate(Expand *x, const Stmt *loop)
{
    Ctx *cx = x->cx;
    const Stmt *block = only_block(loop);
    if (!block || block->stage->reducer == REDUCE_NONE || block->part == BLOCK_INIT || !reduce_chain(loop, block))
        return NULL;
    int depth = x->depth;
    for (const Stmt *s = loop; s != block; s = s->child[0]) x->path[x->depth++] = s;
    InitMode mode = init_mode(x, block);
    StoreTarget target[MAX_COMPONENTS], acc[MAX_COMPONENTS] = { { NULL, NULL } };
    const Expr *guard;
    bool suits = guard_of_data(x, block, &guard) && mode != INIT_GUARDED
                 && (mode == INIT_ELSEWHERE || outermost_reduce(x, block) == depth);
    for (int i = 0; suits && i < block->stage->out_count; i++)
        suits = target_of(x, block, i, &target[i]) && !is_variable(target[i].memory);
    const Code *code = NULL;
    if (suits) {
        const Code *part[3 * MAX_COMPONENTS + 2] = { NULL };
        int n = 0, outs = block->stage->out_count;
        for (int i = 0; i < outs; i++) {
            Memory proto = { .name = i ? name_format(cx, "acc%d", i + 1) : name(cx, "acc"),
                             .type = target[i].memory->type,
                             .kind = MEMORY_SCALAR };
            proto.elems = expr_index(cx, 1);
            proto.range = sum_range(cx, block->stage, i);
            acc[i] = (StoreTarget){ memory_new(cx, &proto), expr_index(cx, 0) };
            part[n++] = code_local(cx, acc[i].memory);
            if (mode == INIT_ELSEWHERE)
                part[n++] = code_store(cx, acc[i].memory, acc[i].index,
                                       load_expr(cx, target[i].memory, target[i].index));
        }
        if (mode == INIT_BEFORE_LOOPS) part[n++] = init(x, block, acc);
        part[n++] = chain_loops(x, loop, code_if(cx, block->cond, update(x, block, acc), NULL));
        for (int i = 0; i < outs; i++)
            part[n++] = code_store(cx, target[i].memory, target[i].index, load_expr(cx, acc[i].memory, acc[i].index));
        code = code_if(cx, guard, code_seq(cx, part, n), NULL);
    }
    x->depth = depth;
    return code;
}

/* Emits the inits of all blocks below for which `x->path[at]` is the outermost loop that feeds their reduce axes. */
static const Code *inits_below(Expand *x, const Stmt *s, int at)
{
    Ctx *cx = x->cx;
    if (s->kind == STMT_BLOCK) {
        StoreTarget target[MAX_COMPONENTS];
        bool mine = s->stage->reducer != REDUCE_NONE && outermost_reduce(x, s) == at
                    && init_mode(x, s) == INIT_BEFORE_LOOPS;
        for (int i = 0; mine && i < s->stage->out_count; i++) mine = target_of(x, s, i, &target[i]);
        if (!mine) return NULL;
        const Code *code = init(x, s, target);
        code = code_if(cx, at_first(x, s, s->cond), code, NULL);
        for (int d = x->depth - 1; d > at; d--) {
            const Stmt *up = x->path[d];
            const Stmt *next = d + 1 < x->depth ? x->path[d + 1] : s;
            const Expr *cond = up->kind == STMT_IF ? storage_loads(x->s, up->cond) : NULL;
            if (cond) code = next == up->child[0] ? code_if(cx, cond, code, NULL) : code_if(cx, cond, NULL, code);
            if (up->kind == STMT_FOR && !feeds_reduction(s, up))
                code = code_for(cx, up->var, expr_index(cx, 0), at_first(x, s, up->extent), 1, up->loop_kind, code);
        }
        return code;
    }
    const Code **child = NEW_ARRAY(cx->arena, const Code *, s->child_count);
    if (x->depth == MAX_PATH) return NULL;
    x->path[x->depth++] = s;
    for (int i = 0; i < s->child_count; i++) child[i] = inits_below(x, s->child[i], at);
    x->depth--;
    return code_seq(cx, child, s->child_count);
}

/* ---- Statements ------------------------------------------------------------------------------------------------ */

enum { CACHE_LINE = 64 };            /* the bytes that a prefetch loads on most processors */

/* The element of the tensor that the first block below reads `ahead` iterations later, with all inner loops at 0. The
 * index is clamped to the tensor, so its address is valid. */
typedef struct Fetch {
    const Tensor *tensor;
    const Expr *read;
    const Stmt *block;
    int count;
    const Expr *from[MAX_DEPTH], *to[MAX_DEPTH];
} Fetch;

static void find_read(const Expr *e, void *user)
{
    Fetch *f = user;
    if (e->kind == EXPR_READ && e->ref == f->tensor && !f->read) f->read = e;
}

static bool find_fetch(Expand *x, const Stmt *s, Fetch *f)
{
    if (s->kind == STMT_BLOCK && s->part != BLOCK_INIT)
        for (int i = 0; i < s->stage->out_count; i++) expr_walk(x->cx, s->stage->value[i], find_read, f);
    if (f->read) f->block = s;
    int count = f->count;
    if (s->kind == STMT_FOR && f->count < MAX_DEPTH) {
        f->from[f->count] = s->var;
        f->to[f->count++] = expr_index(x->cx, 0);
    }
    for (int i = 0; i < s->child_count && !f->read; i++) find_fetch(x, s->child[i], f);
    if (!f->read) f->count = count;
    return f->read != NULL;
}

/* Returns the flat index of the read with `count` loops at other values. The index stays inside the tensor. */
static const Expr *fetched_index(Expand *x, const Storage *st, const Fetch *f, int count)
{
    Ctx *cx = x->cx;
    const Expr *axis[MAX_AXES], *bind[MAX_AXES], *at[MAX_RANK];
    const int axes = f->block->stage->axis_count;
    for (int a = 0; a < axes; a++) {
        axis[a] = f->block->stage->axis[a].var;
        bind[a] = expr_substitute(cx, f->block->bind[a], f->from, f->to, count);
    }
    for (int d = 0; d < f->tensor->rank; d++) {
        const Expr *index = expr_substitute(cx, f->read->arg[d], axis, bind, axes),
                   *last = expr_sub(cx, f->tensor->shape[d], expr_index(cx, 1));
        at[d] = simplify(cx, expr_binary(cx, EXPR_MAX, expr_binary(cx, EXPR_MIN, index, last), expr_index(cx, 0)),
                         NULL);
    }
    return storage_index(cx, st, f->tensor, at);
}

static bool find_later(Expand *x, const Stmt *loop, const Tensor *t, int64_t ahead, Fetch *f)
{
    Ctx *cx = x->cx;
    const Expr *later = expr_binary(cx, EXPR_MIN, expr_add(cx, loop->var, expr_index(cx, ahead)),
                                    expr_sub(cx, loop->extent, expr_index(cx, 1)));
    *f = (Fetch){ .tensor = t, .count = 1, .from = { loop->var }, .to = { later } };
    return find_fetch(x, loop->child[0], f);
}

static const Code *prefetch(Expand *x, const Stmt *loop, const Tensor *t, int64_t ahead)
{
    const Storage *st = storage_of(x->s, t);
    Fetch f;
    if (!st || !find_later(x, loop, t, ahead, &f)) return NULL;
    const Expr *element = load_expr(x->cx, st->memory, fetched_index(x, st, &f, f.count));
    return code_call(x->cx, "LW_PREFETCH", &element, 1);
}

static const Stmt *loop_around(const Expand *x, const char *name)
{
    for (int d = x->depth - 1; d >= 0; d--)
        if (x->path[d]->kind == STMT_FOR && text_equal(x->path[d]->name, name)) return x->path[d];
    return NULL;
}

/* How an iteration of `loop` is divided into iterations of `inner`. `outer` is the outermost loop inside `loop`, and
 * `rest` numbers the iterations of the other loops, down to `inner`. `outers` and `rests` are the numbers of values of
 * `outer` and `rest`. */
typedef struct Parts { const Expr *outer, *rest; int64_t outers, rests; } Parts;

static bool find_parts(Expand *x, const Stmt *inner, const Stmt *loop, Parts *p)
{
    Ctx *cx = x->cx;
    int d = 0;
    while (d < x->depth && x->path[d] != loop) d++;
    *p = (Parts){ NULL, expr_index(cx, 0), 1, 1 };
    for (d++; d < x->depth; d++) {
        const Stmt *s = x->path[d];
        if (s->kind != STMT_FOR) continue;
        if (s->extent->kind != EXPR_INT) return false;
        if (!p->outer) {
            p->outer = s->var;
            p->outers = s->extent->integer;
        } else {
            p->rest = expr_add(cx, expr_mul(cx, p->rest, s->extent), s->var);
            p->rests *= s->extent->integer;
        }
        if (s == inner) return true;
    }
    return false;
}

/* Returns the first element that a part fetches, of `count` elements, `step` of them in each part. Parts of less than a
 * cache line fetch the line repeatedly. The parts of an iteration of the outermost loop overlap, so that no index needs
 * a limit. */
static const Expr *start_of_part(Ctx *cx, const Parts *p, int64_t count, int64_t step)
{
    const int64_t spare = count - p->rests * step, stride = p->rests == 1  ? step
                                                            : p->outers > 1 && spare > 0 ? spare / (p->outers - 1)
                                                                                         : 0;
    return expr_add(cx, expr_mul(cx, p->outer, expr_index(cx, stride)),
                    expr_mul(cx, p->rest, expr_index(cx, step)));
}

/* Prefetches elements that an iteration of `loop` reads, a part of them in each iteration of `inner`, in lines of the
 * cache:
 *     for (line < lines) LW_PREFETCH(k[min(first + start + line * elems, last)])
 * Returns NULL if the elements' distance from the first is unknown, or if a step has consumed the loop. */
static const Code *prefetch_part(Expand *x, const Stmt *inner, const Stmt *loop, const Tensor *t, int64_t ahead)
{
    Ctx *cx = x->cx;
    const Storage *st = storage_of(x->s, t);
    Fetch f;
    Parts p;
    if (!st || !loop || !find_later(x, loop, t, ahead, &f) || !find_parts(x, inner, loop, &p)) return NULL;
    const Expr *first = fetched_index(x, st, &f, f.count);
    const Interval span = interval_of(cx, simplify(cx, expr_sub(cx, fetched_index(x, st, &f, 1), first), NULL), NULL);
    const int64_t elems = CACHE_LINE / dtype_info(t->type)->bytes, parts = p.outers * p.rests;
    if (span.least < 0 || span.greatest > INT32_MAX / 2 || elems < 1 || parts > INT32_MAX) return NULL;
    const int64_t lines = (span.greatest / elems + parts) / parts,
                  step = p.rests > 1 && lines == 1 ? span.greatest / parts + 1 : lines * elems;
    const Expr *line = expr_new_var(cx, "line", VAR_LOOP, I32, 0, lines - 1),
               *index = expr_add(cx, expr_add(cx, first, start_of_part(cx, &p, span.greatest + 1, step)),
                                 expr_mul(cx, line, expr_index(cx, elems))),
               *last = expr_sub(cx, st->memory->elems, expr_index(cx, 1)),
               *element = load_expr(cx, st->memory, simplify(cx, expr_binary(cx, EXPR_MIN, index, last), NULL));
    return code_for(cx, line, expr_index(cx, 0), expr_index(cx, lines), 1, LOOP_SERIAL,
                    code_call(cx, "LW_PREFETCH", &element, 1));
}

static const Code *with_prefetches(Expand *x, const Stmt *loop, const Code *body)
{
    const LoopHints *h = expr_as_var(loop->var)->hints;
    const Code *part[MAX_PREFETCHES + 1] = { NULL };
    if (!h || !h->prefetch_count) return body;
    for (int i = 0; i < h->prefetch_count; i++) {
        const char *across = h->prefetch[i].across;
        part[i] = across ? prefetch_part(x, loop, loop_around(x, across), h->prefetch[i].tensor, h->prefetch[i].ahead)
                         : prefetch(x, loop, h->prefetch[i].tensor, h->prefetch[i].ahead);
    }
    part[h->prefetch_count] = body;
    return code_seq(x->cx, part, h->prefetch_count + 1);
}

/* ---- Asynchronous copies --------------------------------------------------------------------------------------- */

static const Stmt *loop_of_path(const Expand *x)
{
    int d = x->depth - 1;
    while (d >= 0 && x->path[d]->kind != STMT_FOR) d--;
    return d < 0 ? NULL : x->path[d];
}

/* Returns the copy of the iteration `at` of its loop, if there is such an iteration. */
static const Code *start_at(Expand *x, const Stmt *start, const Expr *at)
{
    Ctx *cx = x->cx;
    const Stmt *loop = loop_of_path(x);
    copy_starting(x->s, start);
    const Code *copy = copy_start(x->s, start, expand(x, start->child[0]));
    copy_starting(x->s, NULL);
    if (at == loop->var) return copy;
    return code_if(cx, expr_binary(cx, EXPR_LT, at, loop->extent), code_substitute(cx, copy, loop->var, at), NULL);
}

static const Code *expand_start(Expand *x, const Stmt *s)
{
    const Expr *here = loop_of_path(x)->var;
    return start_at(x, s, s->copy->ahead ? expr_add(x->cx, here, expr_index(x->cx, s->copy->ahead)) : here);
}

/* Returns the starts before the loop: the copies of its first iterations. */
static const Code *starts_before(Expand *x, const Stmt *s, int64_t iteration)
{
    const Code **child = NEW_ARRAY(x->cx->arena, const Code *, s->child_count);
    if (s->kind == STMT_START) return iteration < s->copy->ahead ? start_at(x, s, expr_index(x->cx, iteration)) : NULL;
    if (s->kind != STMT_ALLOC && s->kind != STMT_SEQ) return NULL;
    for (int i = 0; i < s->child_count; i++) child[i] = starts_before(x, s->child[i], iteration);
    return code_seq(x->cx, child, s->child_count);
}

static int64_t most_ahead(const Stmt *s)
{
    int64_t most = s->kind == STMT_START ? s->copy->ahead : 0;
    for (int i = 0; i < s->child_count && s->kind != STMT_FOR; i++) {
        const int64_t ahead = most_ahead(s->child[i]);
        if (ahead > most) most = ahead;
    }
    return most;
}

/* Returns a loop with asynchronous copies: their buffers, the first starts, and the loop. */
static const Code *expand_pipeline(Expand *x, const Stmt *s)
{
    Ctx *cx = x->cx;
    const OpenBuffer *open = x->s->open;
    const CopyQueue *copies = x->s->copies;
    const int64_t ahead = most_ahead(s->child[0]);
    const Code **part = NEW_ARRAY(cx->arena, const Code *, ahead + 3);
    x->path[x->depth++] = s;
    part[0] = copy_queues_open(x->s, s, bounds_of_path(x));
    for (int64_t i = 0; i < ahead; i++) part[i + 1] = starts_before(x, s->child[0], i);
    const Code *body = expand(x, s->child[0]);
    x->depth--;
    part[ahead + 1] = code_for(cx, s->var, expr_index(cx, 0), s->extent, 1, s->loop_kind, body);
    part[ahead + 2] = copy_queues_close(x->s, copies, s);
    x->s->open = open;
    x->s->copies = copies;
    return code_seq(cx, part, (int)ahead + 3);
}

static bool has_slots(const Stmt *loop)
{
    const Stmt *s = loop->child[0];
    while (s->kind == STMT_ALLOC && !s->buffer->slots) s = s->child[0];
    return s->kind == STMT_ALLOC;
}

static const Code *expand_loop(Expand *x, const Stmt *s)
{
    x->path[x->depth++] = s;
    const Code *body = with_prefetches(x, s, expand(x, s->child[0]));
    x->depth--;
    return code_for(x->cx, s->var, expr_index(x->cx, 0), s->extent, 1, s->loop_kind, body);
}

static const Code *expand_for(Expand *x, const Stmt *s)
{
    const bool is_pipeline = has_slots(s);
    const Code *whole = is_pipeline ? NULL : expand_copy(x->s, s, bounds_of_path(x));
    if (!whole && !is_pipeline) whole = accumulate(x, s);
    if (whole) return whole;
    const Code *both[2];
    both[0] = inits_below(x, s, x->depth);
    both[1] = is_pipeline ? expand_pipeline(x, s) : expand_loop(x, s);
    if (both[0] && both[0]->kind == CODE_SEQ && both[0]->child_count == 0) both[0] = NULL;
    return code_seq(x->cx, both, 2);
}

static const Code *expand_alloc(Expand *x, const Stmt *s)
{
    if (s->buffer->slots) return expand(x, s->child[0]);       /* declared before the loop */
    const Bounds *around = NULL;
    for (int d = 0; d < x->depth; d++) {
        if (x->path[d]->kind != STMT_FOR) continue;
        Bounds *b = NEW(x->cx->arena, Bounds);
        *b = (Bounds){ .outer = around, .var = x->path[d]->var, .extent = x->path[d]->extent };
        around = b;
    }
    const OpenBuffer *outside = x->s->open;
    const Storage *st = storage_alloc(x->s, s, around);
    if (!st) return NULL;
    const Code *both[2] = { NULL, NULL };
    if (st->memory->kind == MEMORY_LOCAL) both[0] = code_local(x->cx, st->memory);
    both[1] = expand(x, s->child[0]);
    x->s->open = outside;
    return code_seq(x->cx, both, 2);
}

static const Code *expand_all(Expand *x, const Stmt *s)
{
    const Code **child = NEW_ARRAY(x->cx->arena, const Code *, s->child_count);
    for (int i = 0; i < s->child_count; i++) child[i] = expand(x, s->child[i]);
    return code_seq(x->cx, child, s->child_count);
}

/* Returns an operand as an argument. An operand of rank 0 is passed by value. Any other operand is passed as its first
 * element and its strides. Strides are omitted for the last dimension, and for dimensions that are declared with one
 * element. An open dimension has its stride also if it matches one element, because the macro is the same for all
 * calls. */
static const Expr *operand_arg(Expand *x, const Tensor *pattern, const Tensor *declared, const OperandMatch *o)
{
    Ctx *cx = x->cx;
    const Storage *st = o->tensor ? storage_of(x->s, o->tensor) : NULL;
    const Expr *arg[MAX_RANK + 1];
    int n = 0;
    if (o->value) return simplify(cx, storage_loads(x->s, o->value), NULL);
    if (!st) {
        diag_internal(cx, o->tensor->name, "no storage of this tensor is in scope of its consumer");
        return expr_index(cx, 0);
    }
    arg[n++] = load_expr(cx, st->memory, storage_index(cx, st, o->tensor, o->first));
    for (int d = 0; d < pattern->rank; d++) {
        const Expr *distance = expr_index(cx, 0);
        for (int k = 0; k < o->tensor->rank; k++)
            if (o->move[d][k])
                distance = expr_add(cx, distance, expr_mul(cx, expr_index(cx, o->move[d][k]), st->stride[k]));
        distance = simplify(cx, distance, NULL);
        if (expr_is_int(declared->shape[d], 1)) continue;
        if (d + 1 < pattern->rank) arg[n++] = distance;
        else if (!expr_is_int(pattern->shape[d], 1) && !expr_is_int(distance, 1))
            diag_error(cx, o->tensor->name,
                       "these elements are strided, but the instruction requires contiguous ones; omit tensorize");
    }
    return expr_new(cx, EXPR_AT, arg[0]->type, NULL, arg, n);
}

/* Returns the value that an instruction requires of a field; `arg` are the arguments of the result and the operands. */
static const Expr *needed_value(Expand *x, const Instruction *declared, const FieldNeed *need, const Expr *const *arg,
                                const Expr *const *number)
{
    const bool is_result = need->index == declared->operand_count;
    const Expr *a = arg[is_result ? 0 : need->index + 1];
    if (need->kind == NEED_CONSTANT) return expr_int(x->cx, I32, need->constant);
    if (need->kind == NEED_NUMBER) return number[need->index];
    if (need->kind == NEED_OPERAND) return a;
    const Tensor *t = is_result ? declared->stage->out[0] : declared->operand[need->index];
    if (need->dimension == t->rank - 1) return expr_index(x->cx, 1);
    int at = 1;                                      /* dimensions that are declared with one element have no stride */
    for (int d = 0; d < need->dimension; d++) at += !expr_is_int(t->shape[d], 1);
    return expr_is_int(t->shape[need->dimension], 1) ? expr_index(x->cx, 0) : a->arg[at];
}

/* Returns the call with the values that it requires of fields of configuration. */
static const Code *with_needs(Expand *x, const Code *call, const Instruction *declared, const Expr *const *arg,
                              const Expr *const *number)
{
    FieldValue need[MAX_NEEDS];
    for (int i = 0; i < declared->need_count; i++) {
        const Instruction *setter = nest_setter(x->s->nest, declared->need[i].field);
        if (!setter) {
            diag_internal(x->cx, call->text, "no instruction sets %s", declared->need[i].field);
            return call;
        }
        need[i] = (FieldValue){ declared->need[i].field, setter->macro,
                                needed_value(x, declared, &declared->need[i], arg, number) };
    }
    return declared->need_count ? code_needing(x->cx, call, need, declared->need_count) : call;
}

static const Code *expand_tile(Expand *x, const Stmt *s)
{
    Ctx *cx = x->cx;
    if (s->external) return expand_external(x->s, x->path, x->depth, s);
    const Code *body = expand(x, s->child[0]);
    const Instruction *instr = s->instr;
    const char *why;
    Match m;
    if (!instr || ctx_failed(cx)) return body;
    if (!instruction_match(cx, x->s->nest, s->child[0], instr, &m, &why)) {
        diag_internal(cx, instr->macro, "a tensorized loop differs from its instruction: %s", why);
        return NULL;
    }
    const Expr *arg[MAX_NUMBERS + MAX_OPERANDS + 1];
    int n = 0;
    for (int i = 0; i < instr->number_count; i++)
        if (instruction_binds_late(instr, i)) m.number[i] = simplify(cx, storage_loads(x->s, m.number[i]), NULL);
    for (int i = 0; i < instr->argument_count; i++)
        arg[n++] = instruction_binds_late(instr, i) ? m.number[i] : instr->number[i];
    const Instruction *declared = instr->open ? instr->open : instr;
    const Instruction *called = instruction_is_open(instr) ? instruction_with(cx, instr, m.number) : instr;
    arg[n++] = operand_arg(x, called->stage->out[0], declared->stage->out[0], &m.result);
    for (int i = 0; i < instr->operand_count; i++)
        arg[n++] = operand_arg(x, called->operand[i], declared->operand[i], &m.operand[i]);
    const Code *call = code_call_or(cx, instr->macro, arg, n, body);
    call = with_needs(x, call, declared, arg + instr->argument_count, called->number);
    return code_if(cx, m.guard ? storage_loads(x->s, m.guard) : NULL, call, NULL);
}

static const Code *expand_branch(Expand *x, const Stmt *branch, const Expr *fact)
{
    const Bounds *outside = x->facts;
    if (expr_reads(x->cx, fact)) x->facts = bounds_fact(x->cx, outside, fact);
    const Code *code = expand(x, branch);
    x->facts = outside;
    return code;
}

static const Code *expand_if(Expand *x, const Stmt *s)
{
    const Expr *fails = expr_unary(x->cx, EXPR_NOT, s->cond);
    const Code *no = s->child_count > 1 ? expand_branch(x, s->child[1], fails) : NULL;
    return code_if(x->cx, storage_loads(x->s, s->cond), expand_branch(x, s->child[0], s->cond), no);
}

static const Code *expand(Expand *x, const Stmt *s)
{
    if (ctx_failed(x->cx) || x->depth >= MAX_PATH - 2) return NULL;
    switch (s->kind) {
    case STMT_SEQ:   return expand_all(x, s);
    case STMT_TILE:  return expand_tile(x, s);
    case STMT_START: return expand_start(x, s);
    case STMT_WAIT:  return copy_wait(x->s, s);
    case STMT_FOR:   return expand_for(x, s);
    case STMT_ALLOC: return expand_alloc(x, s);
    case STMT_BLOCK: return expand_block(x, s);
    case STMT_IF:    return expand_if(x, s);
    }
    return NULL;
}

/* Returns the code over the group's sizes instead of its versions' sizes. */
static const Code *over_group_sizes(Ctx *cx, const Nest *n, const Code *code)
{
    return n->range_count ? code_map_exprs(cx, code, nest_size_of_group, (void *)n) : code;
}

/* Returns true if no output has an element at the version's sizes. */
static bool writes_nothing(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->output_count; i++)
        if (tensor_most_elems(cx, n->output[i]) > 0) return false;
    return n->output_count > 0;
}

/* Emits the nest. If the nest has two versions, the condition selects one of them. The inputs and outputs of the other
 * version alias those of this version. */
const Code *expand_nest(Storages *s)
{
    const Nest *n = s->nest;
    const ArenaMark mark = arena_mark(s->cx->scratch);
    Expand *x = NEW(s->cx->scratch, Expand);
    x->cx = s->cx;
    x->s = s;
    const Code *code = writes_nothing(s->cx, n) ? NULL : configured(s->cx, expand(x, n->root));
    arena_reset(s->cx->scratch, mark);
    if (!n->otherwise) return over_group_sizes(s->cx, n, code);
    storages_for(s, n->otherwise);
    const Code *other = expand_nest(s);
    s->nest = n;
    return over_group_sizes(s->cx, n, code_if(s->cx, n->when, code, other));
}
