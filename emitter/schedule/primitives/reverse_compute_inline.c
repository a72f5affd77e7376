/* SPDX-License-Identifier: MIT */
/* reverse_compute_inline: a stage moves into the loops of the single stage that it reads, which then stores the final
 * value:
 *
 *   t[i, j] = f(i, j),  y[a, b] = g(t[b, a], a, b)      =>      y[j, i] = g(f(i, j), j, i)   in the loops of t
 *
 * The index must invert: the dimensions of t are sums of digits of y's axes, (u / low) % count, each digit once
 * (dense). A transposition or a reshape has such an index. Then points of t and y correspond one to one, so loops that
 * cover t once cover y once. An axis of y is the sum of its digits, which are the digits of t's indices. The producer
 * must be a plain value without another consumer; a reduction is rejected, because no single instance computes its
 * final value. The loops keep their shape and take the name of the remaining stage. */
#include <string.h>

#include "schedule/draft/attach.h"
#include "support/names.h"

typedef struct InlineMerge {
    Draft *d;
    const Stage *reader, *producer;
    /* The index at which the reader reads all dimensions of the producer. NULL until it is found. */
    const Expr *const *index;
    const Expr *axis[MAX_RANK];      /* each axis of the reader, over the axes of the producer */
    bool fine;
    const Stage *merged;
} InlineMerge;

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static bool only_reader_is(InlineMerge *m, const Stage *producer)
{
    const Nest *n = &m->d->next;
    for (int i = 0; i < n->stage_count; i++) {
        const Tensor **reads;
        int count = stage_reads(m->d->cx, n->stage[i], &reads);
        for (int j = 0; j < count; j++)
            if (stage_produces(producer, reads[j]) && n->stage[i] != m->reader)
                return refuse_wrong(m->d, FAULT_ORDER,
                                    text_format(m->d->cx, "a stage with %s as its only consumer", m->reader->name),
                                    "%s reads %s too", n->stage[i]->name, producer->name);
    }
    return true;
}

static bool find_producer(InlineMerge *m)
{
    const Tensor **reads;
    int count = stage_reads(m->d->cx, m->reader, &reads);
    for (int i = 0; i < count; i++) {
        const Stage *producer = producer_of(&m->d->next, reads[i]);
        if (producer && m->producer && producer != m->producer)
            return refuse_unproved(m->d, FAULT_ROLE, "one producer: inline the other", "%s reads %s and %s",
                                   m->reader->name, m->producer->name, producer->name);
        if (producer) m->producer = producer;
    }
    if (!m->producer)
        return refuse_wrong(m->d, FAULT_ROLE, "a stage that reads another", "%s reads inputs only", m->reader->name);
    return true;
}

static bool are_plain(InlineMerge *m)
{
    const Stage *both[] = { m->reader, m->producer };
    for (int i = 0; i < 2; i++) {
        if (both[i]->reducer != REDUCE_NONE)
            return refuse_wrong(m->d, FAULT_ROLE, "reverse_compute_at",
                                "%s reduces (%s), so no single instance computes its value",
                                both[i]->name, stage_reducer(both[i])->spelling);
        for (int a = 0; a < both[i]->axis_count; a++)
            if (both[i]->axis[a].kind == AXIS_ORDERED)
                return refuse_unproved(m->d, FAULT_ROLE, "data axes only", "%s has an ordered axis", both[i]->name);
    }
    if (stage_is_output(&m->d->next, m->producer))
        return refuse_wrong(m->d, FAULT_ROLE, "an intermediate stage",
                            "%s is an output, and would lose its storage", m->producer->name);
    return true;
}

static bool does_not_invert(InlineMerge *m, const char *why)
{
    return refuse_unproved(m->d, FAULT_INDEX, "digits of its axes, each once, that reach all of its producer",
                           "the index at which %s reads %s does not invert: %s", m->reader->name,
                           m->producer->name, why);
}

static void visit_read(const Expr *e, void *user)
{
    InlineMerge *m = user;
    if (e->kind != EXPR_READ || !stage_produces(m->producer, e->ref) || !m->fine) return;
    for (int d = 0; m->index && d < e->arg_count && m->fine; d++)
        if (m->index[d] != e->arg[d]) m->fine = does_not_invert(m, "it reads several points");
    m->index = e->arg;
}

/* Returns true if the axes of the reader lead the index to each point of the producer once. */
static bool reaches_each_point(InlineMerge *m)
{
    Ctx *cx = m->d->cx;
    const Expr *axis[MAX_AXES], *extent[MAX_AXES];
    const char *why = "";
    Box box[MAX_AXES];
    for (int a = 0; a < m->reader->data_count; a++) {
        axis[a] = m->reader->axis[a].var;
        extent[a] = m->reader->axis[a].extent;
    }
    if (!dense(cx, m->index, m->producer->data_count, NULL, NULL, axis, extent, m->reader->data_count, box, NULL, &why))
        return does_not_invert(m, why);
    for (int d = 0; d < m->producer->data_count; d++)
        if (!expr_is_int(box[d].begin, 0) || !provably_equal(cx, box[d].count, m->producer->axis[d].extent, NULL))
            return does_not_invert(m, text_format(cx, "it does not reach all of dimension %d", d));
    return true;
}

/* Adds low * digit to the axis of which the term (u / low) % count is a digit; the digit is (index / coef) % count. */
static bool add_digit(InlineMerge *m, const Expr *term, int64_t coef, int dimension)
{
    Ctx *cx = m->d->cx;
    const Expr *e = term, *count = NULL, *low = expr_index(cx, 1);
    if (e->kind == EXPR_FLOORMOD) { count = e->arg[1]; e = e->arg[0]; }
    if (e->kind == EXPR_FLOORDIV) { low = e->arg[1]; e = e->arg[0]; }
    for (int a = 0; a < m->reader->data_count; a++) {
        if (m->reader->axis[a].var != e) continue;
        if (!count) count = expr_binary(cx, EXPR_FLOORDIV, m->reader->axis[a].extent, low);
        const Expr *digit = expr_binary(cx, EXPR_FLOORDIV, m->producer->axis[dimension].var, expr_index(cx, coef));
        digit = expr_mul(cx, expr_binary(cx, EXPR_FLOORMOD, digit, count), low);
        m->axis[a] = m->axis[a] ? expr_add(cx, m->axis[a], digit) : digit;
        return true;
    }
    return false;
}

static bool find_axes(InlineMerge *m)
{
    Ctx *cx = m->d->cx;
    const Bounds *scope = NULL;
    for (int d = 0; d < m->producer->data_count; d++) {
        Linear l;
        scope = bounds_var(cx, scope, m->producer->axis[d].var, m->producer->axis[d].extent);
        if (!linear_of(cx, m->index[d], &l)) return does_not_invert(m, "an index is not a sum");
        for (int i = 0; i < l.count; i++)
            if (!add_digit(m, l.term[i], l.coef[i], d)) return does_not_invert(m, "a term is not a digit of an axis");
    }
    for (int a = 0; a < m->reader->data_count; a++)
        m->axis[a] = m->axis[a] ? simplify(cx, m->axis[a], scope) : expr_index(cx, 0);
    return true;
}

static bool index_inverts(InlineMerge *m)
{
    m->fine = true;
    for (int i = 0; i < m->reader->out_count; i++) expr_walk(m->d->cx, m->reader->value[i], visit_read, m);
    return m->fine && reaches_each_point(m) && find_axes(m);
}

/* Returns true if both are at the root, because a stage attached inside the reader's loops would lose these loops. */
static bool stand_at_root(InlineMerge *m)
{
    const Stage *both[] = { m->reader, m->producer };
    for (int i = 0; i < 2; i++) {
        const char *host = host_of(&m->d->next, both[i]);
        if (host)
            return refuse_unproved(m->d, FAULT_NESTING,
                                   text_format(m->d->cx, "a stage at the root: compute_root %s", both[i]->name),
                                   "%s is computed inside %s", both[i]->name, host);
    }
    return true;
}

/* ---- The rewrite ----------------------------------------------------------------------------------------------- */

/* Returns "y@tail.ao" of stage y for "t@tail.ao" of stage t. */
static const char *renamed(Ctx *cx, const InlineMerge *m, const char *old)
{
    size_t n = strlen(m->producer->name);
    bool is_its = strncmp(old, m->producer->name, n) == 0 && (!old[n] || old[n] == '.' || old[n] == '@');
    return is_its ? name_format(cx, "%s%s", m->reader->name, old + n) : old;
}

static const Stmt *take_over(Ctx *cx, const Stmt *s, void *user)
{
    const InlineMerge *m = user;
    if (s->kind == STMT_FOR) {
        const char *full = renamed(cx, m, s->name);
        return full == s->name ? s : stmt_for(cx, full, s->var, s->extent, s->loop_kind, s->child[0]);
    }
    if (s->kind != STMT_BLOCK || s->stage != m->producer) return s;
    const Expr *bind[MAX_AXES];
    for (int a = 0; a < m->reader->data_count; a++) bind[a] = simplify(cx, block_in_loops(cx, s, m->axis[a]), NULL);
    return stmt_block(cx, renamed(cx, m, s->name), m->merged, s->part, bind, s->cond);
}

const Nest *run_reverse_compute_inline(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_reverse_compute_inline, a);
    InlineMerge m = { .d = &d, .reader = draft_find_stage(&d, a->target) };
    if (!m.reader || !find_producer(&m) || !are_plain(&m) || !only_reader_is(&m, m.producer) || !index_inverts(&m)
        || !stand_at_root(&m) || !nothing_inside(&d, m.reader))
        return n;
    const Buffer *buffer[MAX_RANK] = { NULL };
    take_stage(&d, m.reader, true, buffer);
    m.merged = stage_inlined(cx, m.reader, m.producer);
    const Stmt *root = stmt_rewrite(cx, without_allocs(cx, d.next.root, m.producer, NULL), take_over, &m);
    d.next.root = with_allocs(cx, root, m.reader, buffer);
    draft_replace_stage(&d, m.reader, m.merged);
    draft_remove_stage(&d, m.producer);
    d.successors = name_format(cx, "the loops of %s", m.reader->name);
    return draft_close(&d);
}
