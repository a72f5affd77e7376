/* SPDX-License-Identifier: MIT */
/* Computes the window of a buffer: per dimension, the hull of all coordinates that the blocks below its Alloc write and
 * read. The window is an expression over the loops outside the Alloc, cut to the tensor. An index that depends on data
 * yields the whole dimension. */
#include "ir/check/check_parts.h"


typedef struct Hull {
    Checker *c;
    const Tensor *tensor;
    int outside;                             /* the number of loops outside the Alloc */
    const Expr *low[MAX_RANK], *high[MAX_RANK];
    const Bounds *scope;
    const char *why;
} Hull;

static const Expr *wider(Hull *h, ExprKind k, const Expr *a, const Expr *b)
{
    return a ? simplify(h->c->cx, expr_binary(h->c->cx, k, a, b), h->scope) : b;
}

static bool add_index(Hull *h, const Site *s, const Bounds *facts, const Expr *index, int d)
{
    Ctx *cx = h->c->cx;
    Reach r = { expr_index(cx, 0), expr_sub(cx, h->tensor->shape[d], expr_index(cx, 1)) };
    const Expr *inner[MAX_DEPTH];
    const char *why;
    int n = 0;
    for (int l = h->outside; l < s->loop_count; l++) inner[n++] = s->loop[l]->var;
    if (!check_is_data(index) && !reach(cx, simplify(cx, index, s->scope), facts, inner, n, &r, &why)) {
        h->why = text_format(cx, "%s: its accesses to \"%s\" along dimension %d have no bounds: %s", s->block->name,
                             h->tensor->name, d, why);
        return false;
    }
    h->low[d] = wider(h, EXPR_MIN, h->low[d], r.low);
    h->high[d] = wider(h, EXPR_MAX, h->high[d], r.high);
    return true;
}

static bool add_site(Hull *h, const StageSites *stage, const Site *s)
{
    Ctx *cx = h->c->cx;
    const Stage *st = stage->stage;
    for (int o = 0; o < st->out_count; o++)
        for (int d = 0; st->out[o] == h->tensor && d < h->tensor->rank; d++)
            if (!add_index(h, s, s->inside, s->block->bind[d], d)) return false;
    for (int i = 0; i < stage->access_count && s->block->part != BLOCK_INIT; i++) {
        const SiteAccess *a = &stage->access[i];
        if (a->read->ref != h->tensor) continue;
        const Bounds *facts = s->inside;
        for (const Bounds *f = a->facts; f; f = f->outer)
            facts = bounds_fact(cx, facts, simplify(cx, block_in_loops(cx, s->block, f->fact), s->scope));
        for (int d = 0; d < h->tensor->rank; d++)
            if (!add_index(h, s, facts, block_in_loops(cx, s->block, a->read->arg[d]), d)) return false;
    }
    return true;
}

static int loops_above(const Site *s, const Stmt *alloc)
{
    int loops = 0;
    for (int i = 0; i < s->depth; i++) {
        if (s->path[i] == alloc) return loops;
        loops += s->path[i]->kind == STMT_FOR;
    }
    return -1;
}

/* Returns the scope without the facts of a branch, because the hull covers both branches. */
static const Bounds *scope_of_loops(Ctx *cx, const Site *s, int loops)
{
    const Bounds *b = NULL;
    for (int l = 0; l < loops; l++) b = bounds_var(cx, b, s->loop[l]->var, s->loop[l]->extent);
    return b;
}

/* Adds the sites of both branches of an If, because one window covers all sizes. */
static bool add_sites(Hull *h, const Stmt *alloc)
{
    Checker *c = h->c;
    int ifs = check_if_count(c->nest->root);
    bool any = false;
    for (unsigned branches = 0; branches < 1u << (ifs < 5 ? ifs : 5); branches++) {
        if (!check_gather(c, branches)) return false;
        for (int i = 0; i < c->stage_count; i++)
            for (int j = 0; j < c->stage[i].site_count; j++) {
                const Site *s = c->stage[i].site[j];
                h->outside = loops_above(s, alloc);
                if (h->outside < 0) continue;
                h->scope = scope_of_loops(c->cx, s, h->outside);
                if (!add_site(h, &c->stage[i], s)) return false;
            }
    }
    for (int d = 0; d < h->tensor->rank; d++) any = any || h->low[d];
    if (!any && h->tensor->rank)
        h->why = text_format(c->cx, "nothing accesses \"%s\" inside its storage", h->tensor->name);
    return any || !h->tensor->rank;
}

/* Returns e - start + more, distributed over each min in e and each max in start. Each difference simplifies
 * separately, which bounds the extent of a tile by the tile's size. */
static const Expr *distance(const Hull *h, const Expr *e, const Expr *start, int64_t more)
{
    Ctx *cx = h->c->cx;
    if (e->kind == EXPR_MIN)
        return expr_binary(cx, EXPR_MIN, distance(h, e->arg[0], start, more), distance(h, e->arg[1], start, more));
    if (start->kind == EXPR_MAX)
        return expr_binary(cx, EXPR_MIN, distance(h, e, start->arg[0], more), distance(h, e, start->arg[1], more));
    return simplify(cx, expr_add(cx, expr_sub(cx, e, start), expr_index(cx, more)), h->scope);
}

bool alloc_window(Ctx *cx, const Nest *n, const Stmt *alloc, Window *out, const char **why)
{
    Checker c = { .cx = cx, .nest = n };
    Hull h = { .c = &c, .tensor = alloc->buffer->tensor };
    const Expr *zero = expr_index(cx, 0);
    if (!add_sites(&h, alloc)) {
        *why = h.why ? h.why : c.refusal.verdict == PROVED ? NULL : refusal_sentence(cx, &c.refusal);
        return false;
    }
    for (int d = 0; d < h.tensor->rank; d++) {
        const Expr *begin = expr_binary(cx, EXPR_MAX, h.low[d], zero);
        out->begin[d] = simplify(cx, begin, h.scope);
        const Expr *extent = expr_binary(cx, EXPR_MIN, distance(&h, h.high[d], out->begin[d], 1),
                                         distance(&h, h.tensor->shape[d], out->begin[d], 0));
        out->extent[d] = simplify(cx, extent, h.scope);
    }
    *why = NULL;
    return !ctx_failed(cx);
}

/* ---- Layout ---------------------------------------------------------------------------------------------------- */

/* Sets the extents as constants. A nest without a window has the whole tensor. */
static int layout_extents(Ctx *cx, const Nest *n, const Stmt *alloc, const Bounds *around, BufferLayout *l)
{
    const Tensor *t = alloc->buffer->tensor;
    const char *why = NULL;
    if (!alloc_window(cx, n, alloc, &l->window, &why))
        for (int d = 0; d < t->rank; d++) {
            l->window.begin[d] = expr_index(cx, 0);
            l->window.extent[d] = t->shape[d];
        }
    for (int d = 0; d < t->rank; d++) {
        const int64_t ring = alloc->buffer->ring[d], whole = interval_of(cx, t->shape[d], NULL).greatest;
        l->extent[d] = ring ? ring : interval_of(cx, l->window.extent[d], around).greatest;
        if (l->extent[d] > whole) l->extent[d] = whole;
        if (l->extent[d] < 0 || l->extent[d] >= INT32_MAX) return d;
    }
    return -1;
}

/* Returns the elements of a row, up to the buffer's alignment and the memory's row. */
static int64_t row_elems(const Buffer *b, int64_t elems)
{
    const int64_t bytes = dtype_info(b->tensor->type)->bytes, row = b->scope->row / bytes;
    if (b->align > 1) elems = sat_add(elems, b->align - 1) / b->align * b->align;
    return row > 1 ? sat_add(elems, row - 1) / row * row : elems;
}

/* Returns the elements of a window of several, each of which is aligned. */
static int64_t slot_elems(const Buffer *b, int64_t elems)
{
    const int64_t bytes = dtype_info(b->tensor->type)->bytes,
                  align = scope_is_declared(b->scope) ? scope_align(b->scope, bytes) / bytes : 1;
    return b->slots > 1 && align > 1 ? sat_add(elems, align - 1) / align * align : elems;
}

int alloc_layout(Ctx *cx, const Nest *n, const Stmt *alloc, const Bounds *around, BufferLayout *l)
{
    const Buffer *b = alloc->buffer;
    *l = (BufferLayout){ .elems = 1 };
    const int open = layout_extents(cx, n, alloc, around, l);
    if (open >= 0) return open;
    for (int i = b->tensor->rank - 1; i >= 0; i--) {
        int d = b->permutation[i];
        if (!b->tile[d]) continue;
        l->within[d] = l->elems;
        l->elems = sat_mul(l->elems, b->tile[d]);
        l->extent[d] = sat_add(l->extent[d], b->tile[d] - 1) / b->tile[d];
    }
    for (int i = b->tensor->rank - 1; i >= 0; i--) {
        int d = b->permutation[i];
        l->stride[d] = l->elems;
        l->elems = sat_mul(l->elems, l->extent[d]);
        if (i == b->tensor->rank - 1) l->elems = row_elems(b, l->elems);
    }
    if (l->elems < 1) l->elems = 1;
    l->elems = slot_elems(b, l->elems);
    return -1;
}
