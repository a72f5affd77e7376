/* SPDX-License-Identifier: MIT */
/* fold_storage: the rows of a sliding window are kept rather than made again, in a ring of as many as are alive.
 *
 *   for y.h:                                    for conv@warm.h < 1: conv@warm
 *     for conv.h < 3: conv[y.h*2 + h]     =>    for y.h:
 *     y reads rows y.h*2 .. y.h*2+2               for conv.h < 2: conv[y.h*2 + 1 + h]       alloc conv ring(h)=3
 *
 * The stage is computed inside a loop s of its readers and stored outside of it. If each iteration of s makes the rows
 * [b(s), b(s) + count) and b rises by `step` < count, all but the last `step` rows were made by the iteration before. They
 * are left out, and a warm-up before the loop makes those that the first iteration misses: b(0) .. b(0) + count - step. So
 * every row is made once. What is attached inside the stage is copied along. The ring is the distance from the lowest row
 * needed at s to the end of what is made; `slots` asks for more of them, `mask` for a power of two, which needs no division.
 * With `warm=guard` there is no warm-up, which is a copy of all that the stage does: its loop over rows makes what the first iteration
 * misses, too, under the condition min(s*k, k) <= row, k being the rows that only the first iteration makes.
 * A loop that takes R rows at once (`compute_at loops=kept`) leaves out whole blocks, if b rises by a multiple of R. They end where
 * the rows end that are needed; of the rows before the first, of which a border asks, fewer are made. Where these leave no whole
 * block, all begin so much later.
 * That rows are made in time, and kept until nobody needs them, is the checker's rule (b) of I3 and I4. */
#include "schedule/draft/attach.h"
#include "schedule/draft/rows.h"

typedef struct Fold {
    Draft *d;
    const Stage *stage;
    Path path;                       /* to the block */
    int host, top, rows;             /* on it: the loop s; the stage's part inside; the loop over rows, or -1: one row */
    int dimension;                   /* along which rows are counted */
    const Expr *base, *low;          /* rows begin there; the same, where it is not raised to 0 */
    const Expr *end;                 /* behind the last row that an iteration makes */
    int64_t ring;                    /* slots of the ring; 0: the dimension is stored whole */
    int64_t step, count, at_once;    /* rows: more in each iteration; needed in one; made in one of the loop over them */
} Fold;

/* ---- What moves ------------------------------------------------------------------------------------------------ */

static bool is_own(const Fold *f, const Stmt *s) { return s->kind == STMT_FOR && loop_is_own(s, f->stage); }

/* The steps of a recurrence are a loop of all its stages, whichever it is named after. */
static bool is_host(const Fold *f, const Stmt *s)
{
    return s->kind == STMT_FOR && (!loop_is_own(s, f->stage) || feeds_axis(path_end(&f->path), s->var, AXIS_ORDERED));
}

/* The innermost loop of others around the stage's block, which must be the only one there, or with a guard stand in one loop with the
 * others; a warm-up stands elsewhere. */
static bool find_host(Fold *f)
{
    Draft *d = f->d;
    f->host = -1;
    nest_find_block(&d->next, f->stage->name, &f->path);
    for (int i = 0; i < f->path.depth; i++)
        if (is_host(f, f->path.at[i])) f->host = i;
    if (f->host < 0)
        return refuse_unproved(
            d, FAULT_ORDER,
            text_format(d->cx, "one that is computed inside a loop of its readers: compute_at %s", f->stage->name),
            "%s stands at the root and is made whole before it is read", f->stage->name);
    const int pieces = count_blocks(f->path.at[f->host], f->stage);
    int top = f->host + 1;
    while (d->args.warm == WARM_GUARD && top + 1 < f->path.depth && f->path.at[top]->kind != STMT_FOR) top++;
    if (pieces == 1 || (d->args.warm == WARM_GUARD && pieces == count_blocks(f->path.at[top], f->stage))) return true;
    return refuse_unproved(d, FAULT_PIECES, "one: fold before decompose_reduction and peel",
                           "%s stands in %d pieces inside %s", f->stage->name, pieces, f->path.at[f->host]->name);
}

static bool is_stored_outside(Fold *f)
{
    for (int i = f->host + 1; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_ALLOC && stage_makes(f->stage, f->path.at[i]->buffer->tensor))
            return refuse_wrong(f->d, FAULT_STORAGE,
                                text_format(f->d->cx, "storage outside of it: store_at %s first", f->stage->name),
                                "the storage of %s lies inside %s, so nothing outlives an iteration", f->stage->name,
                                f->path.at[f->host]->name);
    return true;
}

static bool find_dimension(Fold *f)
{
    const Stmt *block = path_end(&f->path), *host = f->path.at[f->host];
    int moving = 0;
    for (int a = 0; a < f->stage->data_count; a++) {
        if (!expr_uses(block->bind[a], host->var)) continue;
        f->dimension = a;
        moving++;
    }
    if (moving == 1) return true;
    if (!moving) return refuse_unproved(f->d, FAULT_EXTENT, "a loop along which they move",
                                        "%s makes the same points of %s in each iteration", host->name, f->stage->name);
    return refuse_unproved(f->d, FAULT_EXTENT, "one", "what %s makes of %s moves along %d dimensions at once",
                           host->name, f->stage->name, moving);
}

static const Expr *visit_raised(Ctx *cx, const Expr *e, void *user)
{
    (void)cx;
    (void)user;
    return e->kind == EXPR_MAX && expr_is_int(e->arg[1], 0) ? e->arg[0] : e;
}

/* max(e, 0) as e: also where a stage between has been raised, whose rows are as many times those of this one. */
static const Expr *not_raised(Ctx *cx, const Expr *e)
{
    const Expr *low = expr_rewrite(cx, e, visit_raised, NULL);
    return low == e ? e : simplify(cx, low, NULL);
}

static const Expr *sum_of(Ctx *cx, const Expr *a, int64_t b) { return expr_add(cx, a, expr_index(cx, b)); }

/* base + rows*at_once, and inside of a block other loops, which are at 0. */
static bool find_base(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *zero = expr_index(cx, 0), *rows = f->path.at[f->rows]->var;
    f->base = path_end(&f->path)->bind[f->dimension];
    f->at_once = rows_in_block(cx, simplify(cx, expr_sub(cx, f->base, expr_substitute(cx, f->base, &rows, &zero, 1)), NULL), rows);
    for (int i = f->rows; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_FOR) f->base = expr_substitute(cx, f->base, &f->path.at[i]->var, &zero, 1);
    f->base = simplify(cx, f->base, NULL);
    if (f->at_once && is_constant(f->path.at[f->rows]->extent)) return true;
    return refuse_unproved(f->d, FAULT_EXTENT, "a constant number, in one serial loop",
                           "%s does not run over a fixed number of rows of %s, one after the other", f->path.at[f->rows]->name, f->stage->name);
}

/* Of the loops that run over the rows there may be others only where the first takes blocks. */
static bool find_rows(Fold *f)
{
    const Expr *bind = path_end(&f->path)->bind[f->dimension];
    int second = -1;
    f->rows = f->top = -1;
    f->base = bind;
    f->at_once = 1;
    for (int i = f->host + 1; i < f->path.depth; i++) {
        if (f->top < 0 && (is_own(f, f->path.at[i]) || f->path.at[i]->kind == STMT_BLOCK)) f->top = i;
        if (f->path.at[i]->kind != STMT_FOR || !expr_uses(bind, f->path.at[i]->var)) continue;
        if (f->rows < 0) f->rows = i;
        else if (second < 0) second = i;
    }
    if (f->rows >= 0 && !find_base(f)) return false;
    if (second >= 0 && (f->at_once == 1 || f->d->args.warm != WARM_GUARD))
        return refuse_unproved(f->d, FAULT_EXTENT, "one loop: fold before split",
                               "%s and %s both run over the rows of %s", f->path.at[f->rows]->name, f->path.at[second]->name, f->stage->name);
    f->count = f->rows < 0 ? 1 : f->path.at[f->rows]->extent->integer;
    f->low = not_raised(f->d->cx, f->base);
    f->end = sum_of(f->d->cx, f->low, f->count * f->at_once);
    return true;
}

/* With blocks as many rows are made as fill them, from where there is room for them: what is needed the readers say. */
static bool find_needed(Fold *f)
{
    Path host = f->path;
    if (f->at_once == 1) return true;
    host.depth = f->host + 1;
    const StageBox box = needed_box(f->d->cx, f->stage, &host);
    const Expr *begin = box.begin[f->dimension], *count = box.count[f->dimension];
    if (!begin || !is_constant(count))
        return refuse_unproved(f->d, FAULT_EXTENT, "a fixed number of rows that moves along with the loop",
                               "%s is not shown to need only some rows of %s at once", f->path.at[f->host]->name,
                               f->stage->name);
    f->low = not_raised(f->d->cx, begin);
    f->count = count->integer;
    return true;
}

static const Expr *at_host(const Fold *f, const Expr *e, const Expr *value)
{
    return expr_substitute(f->d->cx, e, &f->path.at[f->host]->var, &value, 1);
}

static bool find_step(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *host = f->path.at[f->host]->var, *low = without_shift(cx, f->low);
    const Expr *step = simplify(cx, expr_sub(cx, at_host(f, low, sum_of(cx, host, 1)), low), NULL);
    if (is_constant(step) && step->integer > 0) {
        f->step = step->integer;
        return true;
    }
    if (is_constant(step))
        return refuse_unproved(f->d, FAULT_EXTENT, "rows that rise", "the rows of %s fall as %s rises", f->stage->name,
                               f->path.at[f->host]->name);
    return refuse_unproved(f->d, FAULT_EXTENT, "rows that rise by as many in each",
                           "the rows of %s do not rise by a fixed number with each iteration of %s", f->stage->name, f->path.at[f->host]->name);
}

/* ---- Only what is new ------------------------------------------------------------------------------------------ */

static Path path_to(const Path *p, int last)
{
    Path q = *p;
    q.depth = last + 1;
    return q;
}

static const Bounds *scope_at(const Fold *f, int last)
{
    Path q = path_to(&f->path, last);
    return path_bounds(f->d->cx, &q);
}

/* The loop over rows begins at `first` and makes so many blocks of them. */
static const Stmt *rows_from(Fold *f, const Expr *first, int64_t blocks)
{
    Ctx *cx = f->d->cx;
    const Stmt *old = f->path.at[f->rows];
    const Expr *extent = expr_index(cx, blocks), *v = loop_var_new(cx, old->name, extent);
    const Expr *moved = expr_add(cx, expr_sub(cx, first, f->base), expr_mul(cx, v, expr_index(cx, f->at_once)));
    const Bounds *scope = bounds_var(cx, scope_at(f, f->rows - 1), v, extent);
    const Stmt *body = block_of_rows(cx, old->child[0], scope, old->var, f->at_once, moved, NULL, NULL, 0);
    return body ? stmt_for(cx, old->name, v, extent, old->loop_kind, body) : NULL;
}

/* What the first iteration misses: the rows from base(0) on, below low(0) + count - step; NULL: nothing. */
static const Stmt *warm_up(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Stmt *old = f->path.at[f->rows];
    const Expr *zero = expr_index(cx, 0), *var = f->path.at[f->host]->var;
    const Expr *missing = expr_add(cx, expr_sub(cx, at_host(f, f->low, zero), at_host(f, f->base, zero)), expr_index(cx, f->count - f->step));
    const Bounds *outside = scope_at(f, f->host - 1);
    int64_t rows = interval_of(cx, simplify(cx, missing, outside), outside).greatest;
    if (rows <= 0) return NULL;
    Path part = { .depth = 0 };
    for (int i = f->top; i <= f->rows; i++) part.at[part.depth++] = f->path.at[i];
    const Stmt *fewer = stmt_for(cx, old->name, old->var, expr_index(cx, rows), old->loop_kind, old->child[0]);
    const Stmt *copy = draft_copy(f->d, path_replace(cx, &part, fewer), "warm");
    return replace_loops(cx, copy, outside, &var, &zero, 1);
}

static const Stmt *guard_block(Ctx *cx, const Stmt *s, void *user)
{
    return s->kind == STMT_BLOCK ? stmt_block(cx, s->name, s->stage, s->part, s->bind, conjoin(cx, user, s->cond)) : s;
}

static const Stmt *put_rows(Fold *f, const Stmt *rows)
{
    Path p = path_to(&f->path, f->rows);
    return path_replace(f->d->cx, &p, rows);
}

/* All blocks of an iteration, first[0 ..): those before `fresh` are made by the first iteration only. */
static bool leave_out(Fold *f, const Expr *first, int64_t blocks, int64_t fresh)
{
    Ctx *cx = f->d->cx;
    const Stmt *rows = rows_from(f, first, blocks);
    if (!rows)
        return refuse_unproved(f->d, FAULT_INDEX, "indices over the row that a block begins with",
                               "what %s makes of %s depends on which of the blocks it is", f->path.at[f->rows]->name,
                               f->stage->name);
    if (fresh > 0) {
        const Expr *k = expr_index(cx, fresh), *made = expr_binary(cx, EXPR_MIN, expr_mul(cx, f->path.at[f->host]->var, k), k);
        const Expr *is_new = expr_binary(cx, EXPR_LE, simplify(cx, made, scope_at(f, f->rows - 1)), rows->var);
        const Stmt *body = stmt_rewrite(cx, rows->child[0], guard_block, (void *)(uintptr_t)is_new);
        rows = stmt_for(cx, rows->name, rows->var, rows->extent, rows->loop_kind, body);
    }
    f->d->next.root = put_rows(f, rows);
    return !ctx_failed(cx);
}

/* The blocks of all rows that the first iteration needs, the last of them ending where the rows end that any needs; or, where it would
 * begin below the first row, so many rows later. */
static bool slide_blocks(Fold *f, int64_t lead)
{
    Ctx *cx = f->d->cx;
    const Bounds *scope = scope_at(f, f->rows - 1);
    const Expr *rows = f->stage->axis[f->dimension].extent;
    const int64_t r = f->at_once, needed = (f->count - lead + r - 1) / r, fresh = f->step / r, blocks = needed > fresh ? needed : fresh;
    if (f->step % r)
        return refuse_unproved(
            f->d, FAULT_EXTENT,
            text_format(f->d->cx, "a multiple of %lld: split %s", (long long)r, f->path.at[f->host]->name),
            "%s makes %lld rows of %s at once, and they rise by %lld", f->path.at[f->rows]->name, (long long)r,
            f->stage->name, (long long)f->step);
    if (!provably(cx, expr_binary(cx, EXPR_LE, expr_index(cx, blocks * r), rows), scope))
        return refuse_unproved(f->d, FAULT_EXTENT, "a stage of more rows",
                               "%s makes %lld rows at once, and %s is not shown to have them",
                               f->path.at[f->rows]->name, (long long)(blocks * r), f->stage->name);
    const int64_t before = blocks * r - (f->count - lead);
    const Expr *first = sum_of(cx, f->low, before <= lead ? lead - before : lead), *last = sum_of(cx, rows, -blocks * r);
    f->end = sum_of(cx, first, blocks * r);
    return leave_out(f, first_row(cx, first, last, scope), blocks, blocks - fresh);
}

/* A guard speaks of all pieces of the stage, and of what is attached to them: outside of the loop over rows nothing is left out. */
static bool all_is_in_rows(const Fold *f)
{
    const Stmt *top = f->path.at[f->top], *rows = f->path.at[f->rows];
    for (int i = 0; i < f->d->next.stage_count; i++)
        if (count_blocks(top, f->d->next.stage[i]) != count_blocks(rows, f->d->next.stage[i]))
            return refuse_unproved(f->d, FAULT_PLACE, "fold_storage without warm=guard",
                                   "%s is made in %s, but outside of %s", f->d->next.stage[i]->name, top->name,
                                   rows->name);
    return true;
}

/* The loop over rows from the first that any iteration makes; those made before are left out by a guard. */
static bool slide_guarded(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *zero = expr_index(cx, 0), *lead = simplify(cx, expr_sub(cx, at_host(f, f->base, zero), at_host(f, f->low, zero)), NULL);
    if (!all_is_in_rows(f)) return false;
    if (!is_constant(lead) || lead->integer < 0)
        return refuse_unproved(f->d, FAULT_EXTENT, "fold_storage without warm=guard",
                               "the first rows of %s are not known to be so many", f->stage->name);
    if (f->at_once > 1) return slide_blocks(f, lead->integer);
    const int64_t first = f->count - f->step - lead->integer;          /* made by the first iteration only */
    return first <= 0 ? leave_out(f, sum_of(cx, f->low, f->count - f->step), f->step, 0)
                      : leave_out(f, sum_of(cx, f->low, lead->integer), f->count - lead->integer, first);
}

static bool slide(Fold *f)
{
    Ctx *cx = f->d->cx;
    if (f->d->args.warm == WARM_GUARD) return slide_guarded(f);
    Path p = path_to(&f->path, f->rows);
    const Stmt *warm = warm_up(f);
    f->d->next.root = path_replace(cx, &p, rows_from(f, sum_of(cx, f->low, f->count - f->step), f->step));
    if (!warm || ctx_failed(cx)) return !ctx_failed(cx);
    if (!nest_find_loop(&f->d->next, f->path.at[f->host]->name, &p)) return false;
    const Stmt *both[] = { warm, path_end(&p) };
    f->d->next.root = path_replace(cx, &p, stmt_seq(cx, both, 2));
    return true;
}

/* ---- The ring -------------------------------------------------------------------------------------------------- */

/* From the lowest row that is needed in an iteration to the end of what is made in it. */
static bool find_slots(Fold *f, int64_t *slots)
{
    Ctx *cx = f->d->cx;
    Path p;
    const Expr *low;
    if (!nest_find_loop(&f->d->next, f->path.at[f->host]->name, &p)) return false;
    if (!needed_from(cx, f->stage, &p, f->dimension, &low))
        return refuse_unproved(f->d, FAULT_INDEX, "indices over loops and sizes",
                               "which rows of %s are read in an iteration of %s depends on data, or has no bounds",
                               f->stage->name, path_end(&p)->name);
    const Expr *span = expr_sub(cx, f->end, low);
    Interval range = interval_of(cx, simplify(cx, span, path_bounds(cx, &p)), path_bounds(cx, &p));
    if (range.greatest > INT32_MAX)
        return refuse_unproved(f->d, FAULT_RING, "reads whose distance is bounded",
                               "it is not shown how many rows of %s are alive at once", f->stage->name);
    *slots = range.greatest > 1 ? range.greatest : 1;
    return true;
}

static int64_t power_of_two(int64_t least)
{
    int64_t n = 1;
    while (n < least) n *= 2;
    return n;
}

static const Stmt *set_ring(Ctx *cx, const Stmt *s, void *user)
{
    const Fold *f = user;
    if (s->kind != STMT_ALLOC || !stage_makes(f->stage, s->buffer->tensor)) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *s->buffer);
    b->ring[f->dimension] = f->ring;
    return stmt_alloc(cx, b, s->child[0]);
}

/* A ring as long as the dimension is no ring. */
static bool fold(Fold *f)
{
    int64_t slots = 1;
    const StepArgs *a = &f->d->args;
    const int64_t asked = a->factor[0];
    if (!find_slots(f, &slots)) return false;
    if (asked && asked < slots &&
        !refuse_wrong(f->d, FAULT_RING, text_format(f->d->cx, "%lld slots and more", (long long)slots),
                      "%lld rows of %s are alive at once", (long long)slots, f->stage->name)) return false;
    f->ring = asked ? asked : a->mask ? power_of_two(slots) : slots;
    const Expr *rows = f->stage->axis[f->dimension].extent;
    if (is_constant(rows) && rows->integer <= f->ring) f->ring = 0;
    f->d->next.root = stmt_rewrite(f->d->cx, f->d->next.root, set_ring, f);
    return true;
}

const Nest *run_fold_storage(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, "fold_storage", a);
    Fold f = { .d = &d, .stage = draft_find_stage(&d, a->target) };
    if (!f.stage) return n;
    if (a->factor[0] && a->mask) {
        refuse_invalid(&d, FAULT_VALUE, "one of them", "%s has both slots and mask, which chooses their number",
                       a->target);
        return n;
    }
    if (stage_is_output(n, f.stage) &&
        !refuse_invalid(&d, FAULT_ROLE, "a stage between", "%s is an output and is kept whole", a->target))
        return n;
    if (!find_host(&f) || !is_stored_outside(&f) || !find_dimension(&f) || !find_rows(&f) || !find_needed(&f) || !find_step(&f)) return n;
    if (f.step < f.count && !slide(&f)) return n;
    return fold(&f) ? draft_close(&d) : n;
}
