/* SPDX-License-Identifier: MIT */
/* fold_storage: the rows of a sliding window are reused rather than recomputed, in a ring buffer of the live rows.
 *
 *   for y.h:                                    for conv@warm.h < 1: conv@warm
 *     for conv.h < 3: conv[y.h*2 + h]     =>    for y.h:
 *     y reads rows y.h*2 .. y.h*2+2               for conv.h < 2: conv[y.h*2 + 1 + h]       alloc conv ring(h)=3
 *
 * The stage is computed inside a loop s of its consumers and stored outside it. Each iteration of s computes the
 * rows [b(s), b(s) + count), and b rises by `step` < count: the iteration before has computed all but the last `step`
 * rows. The loop over rows drops them. A warm-up before s computes the rows that the first iteration lacks, b(0) up to
 * b(0) + count - step, so every row is computed once. The warm-up copies everything attached inside the stage. The ring
 * spans the distance from the lowest row that iteration s reads to the last row that it computes. `slots` requests a
 * longer ring; `mask` requests a power of two, whose slot index needs no division.
 *
 * If b falls by `step` instead, the new rows are the first `step` ones, and the warm-up computes the others. If b does
 * not rise by the same number in each iteration, as in y.h/2, the new rows begin at the end of the previous iteration,
 * b(s - 1) + count. The loop over rows then has no constant extent.
 *
 * With `warm=guard` there is no warm-up, which would copy the stage's code. The loop over rows then includes the k
 * rows that only the first iteration computes, under the guard min(s*k, k) <= row.
 *
 * A loop that computes a group of R rows per iteration (`compute_at loops=kept`) drops whole groups, if b rises by a
 * multiple of R. The last group ends at the last row that is read. Rows below row 0, which a boundary requests, reduce
 * the number of groups; where no whole group fits above row 0, all groups begin later by the same distance.
 *
 * The checker's rule (b) of I3 and I4 proves that a row is computed in time and stays stored until its last read. */

/* Decision: a rolling window is three steps. `compute_at` computes all rows that are read, `store_at` moves only the
 * storage, and `fold_storage` drops the rows that the previous iteration computed, adds the warm-up and sets the
 * ring buffer. Each has one effect and one reason to refuse. Fold producers first: a stage's warm-up copies
 * everything attached to it. */
#include "schedule/draft/attach.h"
#include "schedule/draft/rows.h"

typedef struct Fold {
    Draft *d;
    const Stage *stage;
    Path path;                       /* the path to the block */
    /* Depths on the path: of the loop s; of the outermost loop of the stage inside s; and of the loop over rows, or -1
     * if there is only one row. */
    int host, top, rows;
    int dimension;                   /* the dimension that the rows index */
    const Expr *base, *low;          /* the first row, and the first row without its clamp to 0 */
    const Expr *end;                 /* one past the last row that an iteration computes */
    int64_t ring;                    /* the slots of the ring buffer, or 0 if the dimension is stored whole */
    /* Numbers of rows: the most by which b rises, or falls, per iteration of s; the rows that one iteration of s needs;
     * the rows per iteration of the loop over rows. */
    int64_t step, count, at_once;
    bool falls;                      /* b falls */
    bool is_uneven;                  /* b does not rise by `step` in every iteration */
} Fold;

/* ---- The loops on the path ------------------------------------------------------------------------------------- */

static bool is_own(const Fold *f, const Stmt *s) { return s->kind == STMT_FOR && loop_is_own(s, f->stage); }

/* Returns true if the statement is a loop that hosts the stage. All stages of a recurrence share the loop over its
 * steps, regardless of its name. */
static bool is_host(const Fold *f, const Stmt *s)
{
    return s->kind == STMT_FOR && (!loop_is_own(s, f->stage) || feeds_axis(path_end(&f->path), s->var, AXIS_ORDERED));
}

/* Finds s, the innermost loop of another stage around the block. No other block of the stage may be inside s. With
 * warm=guard, several blocks may be inside, if they share one of the child loops of s. A warm-up is outside s. */
static bool find_host(Fold *f)
{
    Draft *d = f->d;
    f->host = -1;
    nest_find_block(&d->next, f->stage->name, &f->path);
    for (int i = 0; i < f->path.depth; i++)
        if (is_host(f, f->path.at[i])) f->host = i;
    if (f->host < 0)
        return refuse_unproved(
            d, FAULT_ORDER, text_format(d->cx, "a stage inside a loop of its consumers: compute_at %s", f->stage->name),
            "%s is at the root and is computed whole before it is read", f->stage->name);
    const int pieces = count_blocks(f->path.at[f->host], f->stage);
    int top = f->host + 1;
    while (d->args.warm == WARM_GUARD && top + 1 < f->path.depth && f->path.at[top]->kind != STMT_FOR) top++;
    if (pieces == 1 || (d->args.warm == WARM_GUARD && pieces == count_blocks(f->path.at[top], f->stage))) return true;
    return refuse_unproved(d, FAULT_PIECES, "one block: fold before decompose_reduction and peel",
                           "%s has %d blocks inside %s", f->stage->name, pieces, f->path.at[f->host]->name);
}

static bool is_stored_outside(Fold *f)
{
    for (int i = f->host + 1; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_ALLOC && stage_produces(f->stage, f->path.at[i]->buffer->tensor))
            return refuse_wrong(f->d, FAULT_STORAGE,
                                text_format(f->d->cx, "storage outside it: store_at %s first", f->stage->name),
                                "%s is allocated inside %s, so nothing outlives an iteration", f->stage->name,
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
    if (!moving)
        return refuse_unproved(f->d, FAULT_EXTENT, "a loop whose iterations compute different rows",
                               "%s computes the same points of %s in each iteration", host->name, f->stage->name);
    return refuse_unproved(f->d, FAULT_EXTENT, "one dimension",
                           "the points that %s computes of %s move along %d dimensions", host->name, f->stage->name,
                           moving);
}

static const Expr *visit_raised(Ctx *cx, const Expr *e, void *user)
{
    (void)cx;
    (void)user;
    return e->kind == EXPR_MAX && expr_is_int(e->arg[1], 0) ? e->arg[0] : e;
}

/* Returns e with each max(x, 0) replaced by x. Clamps of the consumers between are inside e, multiplied by their
 * strides. */
static const Expr *not_raised(Ctx *cx, const Expr *e)
{
    const Expr *low = expr_rewrite(cx, e, visit_raised, NULL);
    return low == e ? e : simplify(cx, low, NULL);
}

static const Expr *sum_of(Ctx *cx, const Expr *a, int64_t b) { return expr_add(cx, a, expr_index(cx, b)); }

/* Sets base, the index of the block where the loop over rows and all loops inside it are at 0: row = base +
 * rows*at_once. */
static bool find_base(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *zero = expr_index(cx, 0), *rows = f->path.at[f->rows]->var;
    f->base = path_end(&f->path)->bind[f->dimension];
    f->at_once = rows_per_group(
        cx, simplify(cx, expr_sub(cx, f->base, expr_substitute(cx, f->base, &rows, &zero, 1)), NULL), rows);
    for (int i = f->rows; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_FOR) f->base = expr_substitute(cx, f->base, &f->path.at[i]->var, &zero, 1);
    f->base = simplify(cx, f->base, NULL);
    if (f->at_once && is_constant(f->path.at[f->rows]->extent)) return true;
    return refuse_unproved(f->d, FAULT_EXTENT, "one serial loop over a constant number of rows",
                           "%s does not run over a fixed number of consecutive rows of %s",
                           f->path.at[f->rows]->name, f->stage->name);
}

/* Finds the loop over rows. Further loops over the rows are accepted only inside a loop over row groups. */
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
                               "%s and %s both run over the rows of %s", f->path.at[f->rows]->name,
                               f->path.at[second]->name, f->stage->name);
    f->count = f->rows < 0 ? 1 : f->path.at[f->rows]->extent->integer;
    f->low = not_raised(f->d->cx, f->base);
    f->end = sum_of(f->d->cx, f->low, f->count * f->at_once);
    return true;
}

/* Finds the rows that an iteration needs. With row groups, an iteration computes more rows than it needs. The needed
 * rows follow from the consumers' reads. */
static bool find_needed(Fold *f)
{
    Path host = f->path;
    if (f->at_once == 1) return true;
    host.depth = f->host + 1;
    const StageBox box = needed_box(f->d->cx, f->stage, &host);
    const Expr *begin = box.begin[f->dimension], *count = box.count[f->dimension];
    if (!begin || !is_constant(count))
        return refuse_unproved(f->d, FAULT_EXTENT, "reads of a fixed number of rows that moves along with the loop",
                               "%s is not shown to read only some rows of %s in an iteration",
                               f->path.at[f->host]->name, f->stage->name);
    f->low = not_raised(f->d->cx, begin);
    f->count = count->integer;
    return true;
}

static const Expr *at_host(const Fold *f, const Expr *e, const Expr *value)
{
    return expr_substitute(f->d->cx, e, &f->path.at[f->host]->var, &value, 1);
}

static Path path_to(const Path *p, int last)
{
    Path q = *p;
    q.depth = last + 1;
    return q;
}

static const Bounds *scope_at(const Fold *f, int last)
{
    return path_bounds_to(f->d->cx, &f->path, last + 1);
}

/* Finds the largest number of rows by which the first row rises, if this number differs between iterations, as in s /
 * 2. Iterations that share no rows need no such number. */
static bool find_uneven_step(Fold *f, const Expr *low)
{
    Ctx *cx = f->d->cx;
    const Stmt *host = f->path.at[f->host];
    const Expr *next = at_host(f, low, sum_of(cx, host->var, 1));
    const Bounds *scope = scope_at(f, f->host);
    if (!provably(cx, expr_binary(cx, EXPR_LE, low, next), scope)) return false;
    for (f->step = 1; f->step < f->count; f->step++)
        if (provably(cx, expr_binary(cx, EXPR_LE, next, sum_of(cx, low, f->step)), scope)) break;
    return f->is_uneven = true;
}

static bool find_step(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *host = f->path.at[f->host]->var, *low = without_shift(cx, f->low);
    const Expr *step = simplify(cx, expr_sub(cx, at_host(f, low, sum_of(cx, host, 1)), low), NULL);
    if (is_constant(step) && step->integer) {
        f->falls = step->integer < 0;
        f->step = f->falls ? -step->integer : step->integer;
    } else if (!find_uneven_step(f, low)) {
        return refuse_unproved(f->d, FAULT_EXTENT, "rows that rise with each iteration, or no fold",
                               "the rows of %s are not shown to rise with each iteration of %s", f->stage->name,
                               f->path.at[f->host]->name);
    }
    if ((f->falls || f->is_uneven) && (f->d->args.warm == WARM_GUARD || f->at_once > 1))
        return refuse_unproved(f->d, FAULT_EXTENT, "fold_storage without warm=guard, before the rows are split",
                               "the rows of %s %s with each iteration of %s", f->stage->name,
                               f->falls ? "fall" : "do not rise by a fixed number", f->path.at[f->host]->name);
    return true;
}

/* ---- Dropping the rows computed before ------------------------------------------------------------------------- */

/* Returns the loop over rows with its first row at `first`. */
static const Stmt *rows_from(Fold *f, const Expr *first, const Expr *extent)
{
    Ctx *cx = f->d->cx;
    const Stmt *old = f->path.at[f->rows];
    const Expr *v = loop_var_new(cx, old->name, extent);
    const Expr *moved = expr_add(cx, expr_sub(cx, first, f->base), expr_mul(cx, v, expr_index(cx, f->at_once)));
    const Bounds *scope = bounds_var(cx, scope_at(f, f->rows - 1), v, extent);
    const Stmt *body = body_of_group(cx, old->child[0], scope, old->var, f->at_once, moved, NULL, NULL, 0);
    return body ? stmt_for(cx, old->name, v, extent, old->loop_kind, body) : NULL;
}

/* Returns one past the last row that the iterations before this one compute, where rows rise. */
static const Expr *end_before(const Fold *f)
{
    Ctx *cx = f->d->cx;
    if (!f->is_uneven) return sum_of(cx, f->low, f->count - f->step);
    return sum_of(cx, at_host(f, f->low, sum_of(cx, f->path.at[f->host]->var, -1)), f->count);
}

/* Returns the loop over the rows that no earlier iteration has computed. */
static const Stmt *new_rows(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *count = expr_index(cx, f->step);
    if (f->falls) return rows_from(f, f->base, count);
    if (f->is_uneven) count = expr_sub(cx, sum_of(cx, f->low, f->count), end_before(f));
    return rows_from(f, end_before(f), simplify(cx, count, scope_at(f, f->rows - 1)));
}

/* Returns the warm-up: the rows base(0) .. end_before(0) - 1, or base(0) + step .. base(0) + count - 1 if rows fall.
 * Returns NULL if there are none. */
static const Stmt *warm_up(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Stmt *old = f->path.at[f->rows];
    const Expr *zero = expr_index(cx, 0), *var = f->path.at[f->host]->var;
    const Expr *missing = expr_sub(cx, at_host(f, end_before(f), zero), at_host(f, f->base, zero));
    const Bounds *outside = scope_at(f, f->host - 1);
    int64_t rows = f->falls ? f->count - f->step
        : interval_of(cx, simplify(cx, missing, outside), outside).greatest;
    if (rows <= 0) return NULL;
    const Path part = { f->rows - f->top + 1, f->path.at + f->top };
    const Expr *extent = expr_index(cx, rows);
    const Stmt *fewer = f->falls ? rows_from(f, sum_of(cx, f->base, f->step), extent)
        : stmt_for(cx, old->name, old->var, extent, old->loop_kind, old->child[0]);
    const Stmt *copy = draft_copy(f->d, path_replace(cx, &part, fewer), "warm");
    return replace_loops(cx, copy, outside, &var, &zero, 1);
}

static const Stmt *guard_block(Ctx *cx, const Stmt *s, void *user)
{
    const Expr *const *guard = user;
    return s->kind == STMT_BLOCK ? stmt_block(cx, s->name, s->stage, s->part, s->bind, conjoin(cx, *guard, s->cond))
        : s;
}

static const Stmt *put_rows(Fold *f, const Stmt *rows)
{
    Path p = path_to(&f->path, f->rows);
    return path_replace(f->d->cx, &p, rows);
}

/* Reduces an iteration to `groups` row groups, starting at `first`. Only the first iteration runs the groups before
 * `fresh`. */
static bool keep_groups(Fold *f, const Expr *first, int64_t groups, int64_t fresh)
{
    Ctx *cx = f->d->cx;
    const Stmt *rows = rows_from(f, first, expr_index(cx, groups));
    if (!rows)
        return refuse_unproved(f->d, FAULT_INDEX, "indices over the first row of a group",
                               "an index of %s in %s depends on the number of the row group", f->path.at[f->rows]->name,
                               f->stage->name);
    if (fresh > 0) {
        const Expr *k = expr_index(cx, fresh),
                   *computed = expr_binary(cx, EXPR_MIN, expr_mul(cx, f->path.at[f->host]->var, k), k);
        const Expr *is_new = expr_binary(cx, EXPR_LE, simplify(cx, computed, scope_at(f, f->rows - 1)), rows->var);
        const Stmt *body = stmt_rewrite(cx, rows->child[0], guard_block, &is_new);
        rows = stmt_for(cx, rows->name, rows->var, rows->extent, rows->loop_kind, body);
    }
    f->d->next.root = put_rows(f, rows);
    return !ctx_failed(cx);
}

/* Keeps the row groups that cover all rows of the first iteration; the last group ends at the last row that is read.
 * Where the first group would begin below row 0, all groups move up until it begins at row 0. */
static bool slide_groups(Fold *f, int64_t lead)
{
    Ctx *cx = f->d->cx;
    const Bounds *scope = scope_at(f, f->rows - 1);
    const Expr *rows = f->stage->axis[f->dimension].extent;
    const int64_t r = f->at_once, needed = (f->count - lead + r - 1) / r, fresh = f->step / r,
                  groups = needed > fresh ? needed : fresh;
    if (f->step % r)
        return refuse_unproved(
            f->d, FAULT_EXTENT,
            text_format(f->d->cx, "a multiple of %lld: split %s", (long long)r, f->path.at[f->host]->name),
            "%s computes %lld rows of %s at once, and they rise by %lld", f->path.at[f->rows]->name, (long long)r,
            f->stage->name, (long long)f->step);
    if (!provably(cx, expr_binary(cx, EXPR_LE, expr_index(cx, groups * r), rows), scope))
        return refuse_unproved(f->d, FAULT_EXTENT, "a stage with more rows",
                               "%s computes %lld rows at once, and %s is not shown to have as many",
                               f->path.at[f->rows]->name, (long long)(groups * r), f->stage->name);
    const int64_t before = groups * r - (f->count - lead);
    const Expr *first = sum_of(cx, f->low, before <= lead ? lead - before : lead),
               *last = sum_of(cx, rows, -groups * r);
    f->end = sum_of(cx, first, groups * r);
    return keep_groups(f, first_row(cx, first, last, scope), groups, groups - fresh);
}

/* Returns true if every block below `top` is inside the loop over rows. The guard then covers all pieces of the stage
 * and all stages attached to them. */
static bool all_is_in_rows(const Fold *f)
{
    const Stmt *top = f->path.at[f->top], *rows = f->path.at[f->rows];
    for (int i = 0; i < f->d->next.stage_count; i++)
        if (count_blocks(top, f->d->next.stage[i]) != count_blocks(rows, f->d->next.stage[i]))
            return refuse_unproved(f->d, FAULT_NESTING, "fold_storage without warm=guard",
                                   "%s is computed in %s, but outside %s", f->d->next.stage[i]->name, top->name,
                                   rows->name);
    return true;
}

/* Starts the loop over rows at the lowest row of any iteration; a guard skips rows that an earlier iteration
 * computed. */
static bool slide_guarded(Fold *f)
{
    Ctx *cx = f->d->cx;
    const Expr *zero = expr_index(cx, 0),
               *lead = simplify(cx, expr_sub(cx, at_host(f, f->base, zero), at_host(f, f->low, zero)), NULL);
    if (!all_is_in_rows(f)) return false;
    if (!is_constant(lead) || lead->integer < 0)
        return refuse_unproved(f->d, FAULT_EXTENT, "fold_storage without warm=guard",
                               "the number of rows of %s below its first one is not constant", f->stage->name);
    if (f->at_once > 1) return slide_groups(f, lead->integer);
    /* The rows that only the first iteration computes. */
    const int64_t first = f->count - f->step - lead->integer;
    return first <= 0 ? keep_groups(f, sum_of(cx, f->low, f->count - f->step), f->step, 0)
                      : keep_groups(f, sum_of(cx, f->low, lead->integer), f->count - lead->integer, first);
}

static bool slide(Fold *f)
{
    Ctx *cx = f->d->cx;
    if (f->d->args.warm == WARM_GUARD) return slide_guarded(f);
    Path p = path_to(&f->path, f->rows);
    const Stmt *warm = warm_up(f);
    f->d->next.root = path_replace(cx, &p, new_rows(f));
    if (!warm || ctx_failed(cx)) return !ctx_failed(cx);
    if (!nest_find_loop(&f->d->next, f->path.at[f->host]->name, &p)) return false;
    const Stmt *both[] = { warm, path_end(&p) };
    f->d->next.root = path_replace(cx, &p, stmt_seq(cx, both, 2));
    return true;
}

/* ---- The ring -------------------------------------------------------------------------------------------------- */

/* Computes the number of rows from the lowest row that an iteration reads to the end of the rows that it computes. If
 * the rows fall, computes the number from the lowest computed row to the end of the rows that are read. */
static bool find_slots(Fold *f, int64_t *slots)
{
    Ctx *cx = f->d->cx;
    Path p;
    const Expr *low, *high;
    if (!nest_find_loop(&f->d->next, f->path.at[f->host]->name, &p)) return false;
    if (!needed_range(cx, f->stage, &p, f->dimension, &low, &high))
        return refuse_unproved(f->d, FAULT_INDEX, "indices over loops and sizes",
                               "the rows of %s that an iteration of %s reads depend on data, or have no bounds",
                               f->stage->name, path_end(&p)->name);
    const Expr *span = f->falls ? sum_of(cx, expr_sub(cx, high, f->base), 1) : expr_sub(cx, f->end, low);
    const int64_t most = greatest_of(cx, span, path_bounds(cx, &p));
    if (most > INT32_MAX)
        return refuse_unproved(f->d, FAULT_RING, "reads whose distance is bounded",
                               "the number of rows of %s that are live at once has no bound", f->stage->name);
    *slots = most > 1 ? most : 1;
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
    if (s->kind != STMT_ALLOC || !stage_produces(f->stage, s->buffer->tensor)) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *s->buffer);
    b->ring[f->dimension] = f->ring;
    return stmt_alloc(cx, b, s->child[0]);
}

/* Sets the ring; drops a ring that is as long as the dimension. */
static bool fold(Fold *f)
{
    int64_t slots = 1;
    const StepArgs *a = &f->d->args;
    const int64_t asked = a->factor[0];
    if (!find_slots(f, &slots)) return false;
    if (asked && asked < slots &&
        !refuse_wrong(f->d, FAULT_RING, text_format(f->d->cx, "%lld slots or more", (long long)slots),
                      "%lld rows of %s are live at once", (long long)slots, f->stage->name)) return false;
    f->ring = asked ? asked : a->mask ? power_of_two(slots) : slots;
    const Expr *rows = f->stage->axis[f->dimension].extent;
    if (is_constant(rows) && rows->integer <= f->ring) f->ring = 0;
    f->d->next.root = stmt_rewrite(f->d->cx, f->d->next.root, set_ring, f);
    return true;
}

static const Nest *fold_by(Ctx *cx, const Nest *n, const StepArgs *a)
{
    Draft d = draft_open(cx, n, STEP_fold_storage, a);
    Fold f = { .d = &d, .stage = draft_find_stage(&d, a->target) };
    if (!f.stage) return n;
    if (a->factor[0] && a->mask) {
        refuse_invalid(&d, FAULT_VALUE, "slots or mask", "%s has both slots and mask, which sets the number of slots",
                       a->target);
        return n;
    }
    if (stage_is_output(n, f.stage) &&
        !refuse_invalid(&d, FAULT_ROLE, "an intermediate stage", "%s is an output and is stored whole", a->target))
        return n;
    if (!find_host(&f) || !is_stored_outside(&f) || !find_dimension(&f) || !find_rows(&f) || !find_needed(&f)
        || !find_step(&f))
        return n;
    if (f.step < f.count && !slide(&f)) return n;
    return fold(&f) ? draft_close(&d) : n;
}

/* Returns the first other stage that is computed in the loops of the stage, below its host, or NULL. */
static const Stage *attached_to(const Nest *n, const Stage *stage)
{
    Path p;
    if (!nest_find_block(n, stage->name, &p)) return NULL;
    for (int i = 0; i < p.depth; i++) {
        if (p.at[i]->kind != STMT_FOR || !loop_is_own(p.at[i], stage)) continue;
        for (int s = 0; s < n->stage_count; s++)
            if (n->stage[s] != stage && count_blocks(p.at[i], n->stage[s])) return n->stage[s];
        return NULL;
    }
    return NULL;
}

/* Runs fold_storage. A warm-up before the loop cannot read values that its producers compute in the loop. In that case,
 * the step tries the warm-up in the first iteration, and records that option. If this is refused as well, the producers
 * must be attached later. */
const Nest *run_fold_storage(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    const DiagMark mark = diag_mark(cx);
    const Nest *next = fold_by(cx, n, a);
    if (!ctx_failed(cx) || a->warm == WARM_GUARD) return next;
    const Refusal *why = (*mark.last)->refusal;
    const Stage *stage = nest_stage(n, a->target), *inner = stage ? attached_to(n, stage) : NULL;
    if (!why || why->verdict != UNPROVED || why->kind != FAULT_ORDER || !inner || !host_of(n, stage)) return next;
    diag_rewind(cx, mark);
    StepArgs guarded = *a;
    guarded.warm = WARM_GUARD;
    next = fold_by(cx, n, &guarded);
    if (next != n && !ctx_failed(cx)) return next;
    diag_rewind(cx, mark);
    Draft d = draft_open(cx, n, STEP_fold_storage, a);
    Refusal r = *why;
    r.accepted = text_format(cx, "compute_at %s %s instead, and fold_storage %s before this step; or fold_storage %s "
                                 "warm=guard, as a step before compute_at attaches its producers", inner->name,
                             host_of(n, stage), inner->name, a->target);
    refuse_with(&d, &r);
    return n;
}
