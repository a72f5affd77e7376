/* SPDX-License-Identifier: MIT */
/* compute_inline: a stage disappears; every read of it becomes its value at the indices read.
 *   t[i] = f(i),  y[j] = ... t[g(j)] ...   =>   y[j] = ... f(g(j)) ...
 * It must not reduce (a reduction is a loop, not a value), must not be an output, and all its readers are rewritten. */
#include "schedule/place.h"

static bool is_a_plain_value(Draft *d, const Stage *s)
{
    if (s->reducer != REDUCE_NONE)
        return refuse_wrong(d, "%s reduces (%s), which is no value to substitute; compute_at is accepted", s->name,
                            reducer_info(s->reducer)->spelling);
    if (stage_is_output(&d->next, s))
        return refuse_wrong(d, "%s is an output and has to be stored; a stage between is accepted", s->name);
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].kind == AXIS_ORDERED)
            return refuse_wrong(d, "%s has the ordered axis %s; a stage with data axes only is accepted", s->name,
                                expr_as_var(s->axis[a].var)->name);
    return true;
}

static const Expr *inline_read(Ctx *cx, const Expr *e, void *user)
{
    const Stage *s = user;
    if (e->kind != EXPR_READ || !stage_makes(s, e->ref)) return e;
    const Expr *axis[MAX_AXES];
    for (int a = 0; a < s->axis_count; a++) axis[a] = s->axis[a].var;
    const Tensor *t = e->ref;
    return expr_substitute(cx, s->value[t->output], axis, e->arg, s->axis_count);
}

static bool stage_reads_stage(Ctx *cx, const Stage *reader, const Stage *s)
{
    const Tensor **reads;
    int count = stage_reads(cx, reader, &reads);
    for (int i = 0; i < count; i++)
        if (stage_makes(s, reads[i])) return true;
    return false;
}

static void forget_stage(Draft *d, const Stage *s)
{
    Nest *n = &d->next;
    const Stage **kept = NEW_ARRAY(d->cx->arena, const Stage *, n->stage_count);
    int count = 0;
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i] != s) kept[count++] = n->stage[i];
    n->stage = kept;
    n->stage_count = count;
}

const Nest *sched_compute_inline(Ctx *cx, const Nest *n, const char *stage)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, "compute_inline", &(StepArgs){ .target = stage });
    const Stage *s = draft_find_stage(&d, stage);
    if (!s || !is_a_plain_value(&d, s) || !nothing_inside(&d, s)) return n;
    d.next.root = without_stage(cx, without_allocs(cx, d.next.root, s, NULL), s);
    forget_stage(&d, s);
    for (int i = 0; i < d.next.stage_count; i++) {
        const Stage *reader = d.next.stage[i];
        if (stage_reads_stage(cx, reader, s))
            draft_replace_stage(&d, reader, stage_with_values(cx, reader, inline_read, (void *)(uintptr_t)s));
    }
    return draft_close(&d);
}
