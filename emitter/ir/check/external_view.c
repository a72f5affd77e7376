/* SPDX-License-Identifier: MIT */
/* A result of the call is the box of its block: the loops below the call reach each point of the box once, and run over
 * whole reduce axes. An operand is the hull of the indices that the blocks read while their axes run over their boxes.
 * Every element of it is stored:
 *
 *   - a tensor that is stored outside all loops has all elements of the hull, cut to its shape;
 *   - a tensor with a window inside a loop is read without a condition, at sums of axes, so the bounds of the hull are
 *     elements that are read, and the window, a box, has all elements between them. */
#include "ir/check/external_view.h"

#include "support/text.h"

typedef struct ViewSearch {
    Ctx *cx;
    const Tensor *t;
    const Bounds *outside;           /* the loops around the call */
    bool is_window;                  /* true if t is stored inside a loop */
    ExternalView *out;
    bool found;
    const char *why;
    /* The block that is searched: for each axis its first index plus a variable of the extent of its box. */
    const Stmt *block;
    const Expr *at[MAX_AXES], *moving[MAX_AXES];
    int moving_count;
    const Bounds *scope, *free;      /* the ranges of those variables; the ranges of the stage's axes */
} ViewSearch;

bool external_is_in_loop(const Stmt *const *above, int depth)
{
    for (int i = 0; i < depth; i++)
        if (above[i]->kind == STMT_FOR) return true;
    return false;
}

static bool gives_up(ViewSearch *s, const char *why)
{
    if (!s->why) s->why = why;
    return false;
}

static bool produces(const Stage *s, const Tensor *t)
{
    for (int i = 0; i < s->out_count; i++)
        if (s->out[i] == t) return true;
    return false;
}

/* ---- The box of a block ------------------------------------------------------------------------------------------ */

typedef struct BlockLoops {
    int count;
    const Expr *var[MAX_DEPTH], *extent[MAX_DEPTH];
    const Bounds *scope;
} BlockLoops;

static bool box_of(ViewSearch *s, const Stmt *block, const BlockLoops *l, Box *box)
{
    const char *why = NULL;
    const int axes = block->part == BLOCK_INIT ? block->stage->data_count : block->stage->axis_count;
    return dense(s->cx, block->bind, axes, block->cond, l->scope, l->var, l->extent, l->count, box, NULL, &why)
           || gives_up(s, text_format(s->cx, "the points of %s in one call are not shown to be a box", block->name));
}

/* A sum that the loops around the call continue is not the value of its stage. */
static bool reduces_whole(ViewSearch *s, const Stmt *block, const Box *box)
{
    const Stage *stage = block->stage;
    for (int a = stage->data_count; a < stage->axis_count && block->part != BLOCK_INIT; a++)
        if (!provably_equal(s->cx, box[a].begin, expr_index(s->cx, 0), s->outside)
            || !provably_equal(s->cx, box[a].count, stage->axis[a].extent, s->outside))
            return gives_up(s, text_format(s->cx, "one call reduces over a part of the axis %s of %s",
                                           expr_as_var(stage->axis[a].var)->name, stage->name));
    return true;
}

static bool set_result(ViewSearch *s, const Box *box)
{
    for (int d = 0; d < s->t->rank; d++) {
        const Expr *begin = simplify(s->cx, box[d].begin, s->outside),
                   *count = simplify(s->cx, box[d].count, s->outside);
        if (s->found && (begin != s->out->begin[d] || count != s->out->count[d]))
            return gives_up(s, text_format(s->cx, "\"%s\" is computed in several parts", s->t->name));
        s->out->begin[d] = begin;
        s->out->count[d] = count;
    }
    return s->found = true;
}

/* ---- The hull of reads ------------------------------------------------------------------------------------------- */

/* Sets the variables that represent the axes of the block, from its box. */
static void move_over_box(ViewSearch *s, const Stmt *block, const Box *box)
{
    const Stage *stage = block->stage;
    s->block = block;
    s->scope = s->outside;
    s->moving_count = 0;
    for (int a = 0; a < stage->axis_count; a++) {
        const bool is_reduced = block->part == BLOCK_INIT && a >= stage->data_count;
        const Expr *count = is_reduced ? stage->axis[a].extent : box[a].count,
                   *v = expr_new_var(s->cx, "at", VAR_LOOP, I32, 0, INT32_MAX);
        s->scope = bounds_var(s->cx, s->scope, v, count);
        s->moving[s->moving_count++] = v;
        s->at[a] = is_reduced ? v : expr_add(s->cx, box[a].begin, v);
    }
    s->free = stage_scope(s->cx, stage);
}

static bool is_sum_of_axes(Ctx *cx, const Expr *index)
{
    Linear l;
    if (!linear_of(cx, index, &l)) return false;
    for (int i = 0; i < l.count; i++)
        if (l.term[i]->kind != EXPR_VAR) return false;
    return true;
}

static const Expr *smaller(ViewSearch *s, const Expr *a, const Expr *b, bool is_least)
{
    if (!a || a == b) return b;
    const Expr *rises = expr_binary(s->cx, EXPR_LE, a, b);
    if (provably(s->cx, rises, s->outside)) return is_least ? a : b;
    if (provably(s->cx, expr_binary(s->cx, EXPR_LE, b, a), s->outside)) return is_least ? b : a;
    return expr_binary(s->cx, is_least ? EXPR_MIN : EXPR_MAX, a, b);
}

/* Extends the hull, whose count[] holds the last index until all reads are known. */
static void extend_hull(Ctx *cx, const Expr *read, const Bounds *facts, void *user)
{
    ViewSearch *s = user;
    const char *why;
    const Stage *stage = s->block->stage;
    const Expr *axis[MAX_AXES];
    if (read->ref != s->t || s->why) return;
    for (int a = 0; a < stage->axis_count; a++) axis[a] = stage->axis[a].var;
    for (int d = 0; d < read->arg_count; d++) {
        Reach r;
        const Expr *index = expr_substitute(cx, read->arg[d], axis, s->at, stage->axis_count);
        if (expr_reads(cx, index) || !reach(cx, index, s->scope, s->moving, s->moving_count, &r, &why)
            || (s->is_window && (facts != s->free || !is_sum_of_axes(cx, read->arg[d])))) {
            gives_up(s, text_format(cx, "the elements of \"%s\" that %s reads in one call are not known", s->t->name,
                                    stage->name));
            return;
        }
        s->out->begin[d] = smaller(s, s->found ? s->out->begin[d] : NULL, simplify(cx, r.low, s->outside), true);
        s->out->count[d] = smaller(s, s->found ? s->out->count[d] : NULL, simplify(cx, r.high, s->outside), false);
    }
    s->found = true;
}

static void cut_to_shape(ViewSearch *s)
{
    Ctx *cx = s->cx;
    const Expr *zero = expr_index(cx, 0), *one = expr_index(cx, 1);
    for (int d = 0; d < s->t->rank; d++) {
        const Expr *low = s->out->begin[d], *high = s->out->count[d], *size = s->t->shape[d];
        if (!provably(cx, expr_binary(cx, EXPR_LE, zero, low), s->outside)) low = expr_binary(cx, EXPR_MAX, low, zero);
        if (!provably(cx, expr_binary(cx, EXPR_LT, high, size), s->outside))
            high = expr_binary(cx, EXPR_MIN, high, expr_sub(cx, size, one));
        s->out->begin[d] = low;
        s->out->count[d] = simplify(cx, expr_add(cx, expr_sub(cx, high, low), one), s->outside);
    }
}

/* ---- Blocks below the call --------------------------------------------------------------------------------------- */

static bool search(ViewSearch *s, const Stmt *below, BlockLoops l, bool for_result)
{
    if (below->kind == STMT_BLOCK) {
        Box box[MAX_AXES];
        const bool is_of_t = produces(below->stage, s->t);
        if (for_result && (!is_of_t || below->part == BLOCK_INIT)) return true;
        if (!box_of(s, below, &l, box) || !reduces_whole(s, below, box)) return false;
        if (for_result) return set_result(s, box);
        move_over_box(s, below, box);
        stage_visit_reads(s->cx, below->stage, s->free, extend_hull, s);
        return !s->why;
    }
    if (below->kind == STMT_FOR) {
        if (l.count == MAX_DEPTH) return gives_up(s, "the loops are too deep");
        l.scope = bounds_var(s->cx, l.scope, below->var, below->extent);
        l.var[l.count] = below->var;
        l.extent[l.count++] = below->extent;
    }
    for (int i = 0; i < below->child_count; i++)
        if (!search(s, below->child[i], l, for_result)) return false;
    return true;
}

static bool is_result(const Stmt *below, const Tensor *t)
{
    if (below->kind == STMT_BLOCK) return produces(below->stage, t);
    for (int i = 0; i < below->child_count; i++)
        if (is_result(below->child[i], t)) return true;
    return false;
}

bool external_view(Ctx *cx, const Stmt *const *above, int depth, const Stmt *call, const Tensor *t, ExternalView *out,
                   const char **why)
{
    ViewSearch s = { .cx = cx, .t = t, .out = out };
    bool is_in_loop = false;
    for (int i = 0; i < depth; i++) {
        if (above[i]->kind == STMT_ALLOC && above[i]->buffer->tensor == t) s.is_window = is_in_loop;
        if (above[i]->kind != STMT_FOR) continue;
        is_in_loop = true;
        s.outside = bounds_var(cx, s.outside, above[i]->var, above[i]->extent);
    }
    for (int d = 0; d < t->rank && !is_in_loop; d++) {
        out->begin[d] = expr_index(cx, 0);
        out->count[d] = t->shape[d];
    }
    if (!is_in_loop) return true;
    const bool for_result = is_result(call->child[0], t);
    const bool ok = search(&s, call->child[0], (BlockLoops){ .scope = s.outside }, for_result);
    if (ok && s.found && !for_result) cut_to_shape(&s);
    *why = s.why ? s.why : text_format(cx, "the call does not use \"%s\"", t->name);
    return ok && s.found;
}
