/* SPDX-License-Identifier: MIT */
/* Schedules walks through decision trees: one loop over the trees, whose steps are scalars.
 *
 *   for n, t:  at_1 = step(root[t]);  at_2 = step(at_1);  ...  y[n,t] = row of the last
 *
 * A chain of scalars does not load, store or count links between steps.
 *
 * A forest is a macro of runtime/lw_trees.h: its walks end at their leaves, and a leaf adds its own pairs only. The
 * macro does not clamp, so the arrays must be constants, and this check reads them: each link, feature and column is
 * within its bounds, and links lead to later nodes. */
#include "schedules/tile.h"
#include "support/text.h"

/* Computes all stages before `last` at its loop over the trees. */
static const Nest *steps_in_registers(Ctx *cx, const Nest *n, const Stage *last)
{
    const char *trees = loop_name(cx, last, 1), *end = last->name;
    bool is_before = false;
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (is_before && s->data_count == 2)
            n = sched_set_scope(cx, sched_compute_at(cx, n, s->name, trees), s->name, SCOPE_REGISTER);
        is_before = is_before || text_equal(s->name, end);
    }
    return n;
}

static const Nest *walk_by_trees(Ctx *cx, const GroupNest *g)
{
    const Stage *out = output_stage(g->nest);
    return out && out->data_count == 2 ? steps_in_registers(cx, g->nest, out) : g->nest;
}

/* Few steps are stages of their own (ops/layers/trees.c); many are a recurrence. */
static bool is_chain(Ctx *cx, const GroupNest *g)
{
    (void)cx;
    for (int i = 0; i < g->nest->stage_count; i++)
        if (g->nest->stage[i]->data_count != 2) return false;
    return true;
}

/* Returns the integers of a constant, or NULL if t is not a constant of integers. */
static const int64_t *integers(Ctx *cx, const Tensor *t)
{
    const int64_t count = t->data ? tensor_elems(t) : -1;
    int64_t *v = count >= 0 ? NEW_ARRAY(cx->scratch, int64_t, count + 1) : NULL;
    for (int64_t i = 0; i < count; i++) v[i] = dtype_load(t->type, t->data, i).i;
    return v;
}

/* Returns the number of steps from the link to a leaf, or -1 if the link is out of bounds or does not lead to a later
 * node. depth: the numbers of steps of later nodes. */
static int64_t steps_of(int64_t link, int64_t node, int64_t nodes, int64_t pairs, const int64_t *depth)
{
    if (link < 0) return -1 - link < pairs ? 0 : -1;
    return link > node && link < nodes ? depth[link] : -1;
}

/* Returns true if the leaf that begins at pair p ends after at most `most` pairs, with columns in [0, 2C), the last one
 * below C. */
static bool ends(const int64_t *column, int64_t p, int64_t pairs, int64_t most, int64_t columns)
{
    for (int64_t i = p; i < pairs && i < p + most; i++) {
        if (column[i] < 0 || column[i] >= 2 * columns) return false;
        if (column[i] < columns) return true;
    }
    return false;
}

static bool is_proved(Ctx *cx, const GroupNest *g)
{
    const Node *n = g->group->anchor;
    const int64_t *root = integers(cx, n->in[1]), *feature = integers(cx, n->in[2]), *child = integers(cx, n->in[4]),
                  *column = integers(cx, n->in[5]);
    if (!root || !feature || !child || !column || tensor_dim(n->in[0], 1) < 1) return false;
    const int64_t trees = tensor_elems(n->in[1]), nodes = tensor_elems(n->in[2]), pairs = tensor_elems(n->in[5]),
                  most = node_int(n, "pairs", 1), columns = node_int(n, "columns", 1);
    int64_t *depth = NEW_ARRAY(cx->scratch, int64_t, nodes);
    for (int64_t p = 0; p < pairs; p++)
        if (!ends(column, p, pairs, most, columns)) return false;
    for (int64_t k = nodes - 1; k >= 0; k--) {
        const int64_t yes = steps_of(child[2 * k], k, nodes, pairs, depth),
                      no = steps_of(child[2 * k + 1], k, nodes, pairs, depth);
        if (yes < 0 || no < 0 || feature[k] < 0 || feature[k] >= tensor_dim(n->in[0], 1)) return false;
        depth[k] = 1 + (yes > no ? yes : no);
    }
    for (int64_t t = 0; t < trees; t++) {
        const int64_t steps = steps_of(root[t], -1, nodes, pairs, depth);
        if (steps < 0 || steps > node_int(n, "steps", 1)) return false;
    }
    return true;
}

static const Nest *walk_by_macro(Ctx *cx, const GroupNest *g)
{
    Text t = text_new(cx);
    text_printf(&t, "external %s LW_FOREST_%s(", g->anchor, node_int(g->group->anchor, "strict", 0) ? "LT" : "LE");
    for (int i = 0; i < 7; i++) text_printf(&t, "%s, ", g->anchor_in[i]);
    text_printf(&t, "%s, dim(%s, 0), dim(%s, 1), dim(%s, 0), dim(%s, 1), dim(%s, 0) * dim(%s, 0) * %lld)",
                g->anchor_out[0], g->anchor_in[0], g->anchor_in[0], g->anchor_in[1], g->anchor_out[0], g->anchor_in[0],
                g->anchor_in[1], (long long)node_int(g->group->anchor, "steps", 1));
    return sched_step(cx, g->nest, text_string(&t));
}

/* Schedules any arrays: computes the steps of a tree in scalars, and then sums pairs. */
static const Nest *sum_by_columns(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    const char *last = text_format(cx, "%s_at_%lld", g->anchor, (long long)node_int(g->group->anchor, "steps", 1));
    const Stage *s = nest_stage(n, last);
    return s ? steps_in_registers(cx, n, s) : n;
}

const Implementation implementations_generic_trees[] = {
    { .name = "trees.chained", .plevel = 20, .ops = "tree_walk", .applies = is_chain,
      .what = "a tree at a time, its steps in a register", .schedule = walk_by_trees },
    { .name = "trees.columns", .plevel = 10, .ops = "forest", .what = "the leaves of all trees, then their pairs",
      .schedule = sum_by_columns },
    { .name = "trees.forest", .plevel = 20, .ops = "forest", .applies = is_proved,
      .what = "a tree at a time, to its leaf", .schedule = walk_by_macro },
    { 0 }
};
