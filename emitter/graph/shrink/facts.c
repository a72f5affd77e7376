/* SPDX-License-Identifier: MIT */
/* A sum is bounded tap by tap from its initial value. In any order of the taps, the accumulator stays between init +
 * (all negative contributions) and init + (all positive ones). A clamp is min and max with constants at the root of a
 * value. The clamp never binds if, for every channel, the interval of its operand is within its limits. */
#include "graph/shrink/facts.h"

bool fits_type(Interval i, DType t) { return i.least >= dtype_info(t)->least && i.greatest <= dtype_info(t)->greatest; }

static bool is_limit(const Expr *e)
{
    return (e->kind == EXPR_MIN || e->kind == EXPR_MAX) && e->arg[1]->kind == EXPR_INT;
}

static const Expr *without_casts(const Expr *e)
{
    while (e->kind == EXPR_CAST) e = e->arg[0];
    return e;
}

/* Returns the operand below the limits at the root. */
static const Expr *limited(const Expr *e)
{
    while (is_limit(e)) e = e->arg[0];
    return e;
}

/* Returns true if a limit changes the value, whose interval is i. */
static bool is_binding(const Expr *e, Interval i)
{
    for (; is_limit(e); e = e->arg[0])
        if (e->kind == EXPR_MIN ? i.greatest > e->arg[1]->integer : i.least < e->arg[1]->integer) return true;
    return false;
}

static void find_clamp(const GraphRanges *r, Terms *t, Interval *box, Fact *f)
{
    const Expr *root = without_casts(t->stage->value[0]), *value = limited(root);
    if (value == root || !dtype_is_integer(value->type)) return;
    terms_run(r, t, box);
    f->clamps = true;
    f->binds = f->binds || is_binding(root, terms_value(t, value));
}

static void find_sum(const GraphRanges *r, Terms *t, Interval *box, Fact *f)
{
    Interval part, first;
    const Stage *s = t->stage;
    if (s->reducer != REDUCE_SUM || !dtype_is_integer(s->value[0]->type)) return;
    terms_reduce(r, t, box, &part);
    Terms *init = terms_new(
        r->cx, &(Stage){ .axis_count = s->axis_count, .axis = s->axis, .data_count = s->data_count, .value = s->init });
    terms_run(r, init, box);
    first = terms_value(init, s->init[0]);
    part = (Interval){ sat_add(part.least, first.least), sat_add(part.greatest, first.greatest) };
    f->sum = f->is_sum ? interval_hull(f->sum, part) : part;
    f->is_sum = true;
    f->type = s->value[0]->type;
    f->terms = 1;
    for (int a = s->data_count; a < s->axis_count; a++)
        f->terms = sat_mul(f->terms, interval_of(r->cx, s->axis[a].extent, NULL).greatest);
}

static void find_facts(const GraphRanges *r, const Stage *s, Fact *f)
{
    Interval box[MAX_AXES];
    if (s->out_count != 1 || !s->data_count || !channel_range(r, s->out[0])) return;
    Terms *t = terms_new(r->cx, s);
    for (int a = 0; a < s->axis_count; a++) box[a] = axis_interval(&s->axis[a]);
    for (int64_t v = 0; v < channel_range(r, s->out[0])->count; v++) {
        box[s->data_count - 1] = (Interval){ v, v };
        find_sum(r, t, box, f);
        find_clamp(r, t, box, f);
    }
}

int graph_facts(Ctx *cx, const Graph *g, const Fact **out)
{
    Node **order;
    const Stage **stage;
    int count = graph_order(cx, g, &order), found = 0;
    const GraphRanges *r = graph_ranges(cx, g, ranges_budget(cx, g));
    Fact *fact = NEW_ARRAY(cx->arena, Fact, count);
    for (int i = 0; i < count; i++) {
        Fact f = { .call = order[i] };
        for (int j = call_stages(cx, order[i], &stage) - 1; j >= 0; j--) find_facts(r, stage[j], &f);
        if (f.is_sum || f.clamps) fact[found++] = f;
    }
    *out = fact;
    return found;
}
