/* SPDX-License-Identifier: MIT */
/* Decision trees as data. The nodes of all trees have a feature, a threshold and two links, for `true` and for `false`.
 * A link below M, the number of nodes, is a node; M + r is the leaf with row r of the weights, and a walk that has
 * reached it stays; therefore all walks take the same number of steps. Leaves take no memory but their rows.
 *
 *   tree_step    y[n,t] = at < M ? child[at, x[n, feature[at]] <= threshold[at] ? 0 : 1] : at,  at = at[n,t]
 *   tree_walk    at[0] = root[t],   at[d+1] = tree_step(at[d]),   y[n,t] = at[steps] - M
 *   tree_sum     y[n,c] = sum over t of weight[row[n,t], c]
 *
 * A step overwrites its operand, and all steps of a forest are one function; a walk stores all of its steps.
 *
 * A comparison with NaN is false. With `strict`, the condition is `<`. Reads clamp indices, so no data can lead
 * outside.
 *
 * Semantics: ONNX TreeEnsemble. Breiman et al. 1984, "Classification and Regression Trees". */
#include "graph/dag/op_build.h"
#include "support/text.h"

enum { MOST_STAGES = 16 };           /* more steps are a recurrence */

/* Of feature, threshold and child, and of the links' one type: at's or root's. */
static bool fits_nodes(const Node *n)
{
    const Tensor *x = n->in[0], *feature = n->in[2], *threshold = n->in[3], *child = n->in[4];
    return x->rank == 2 && feature->rank == 1 && threshold->rank == 1 && child->rank == 2
           && threshold->type == x->type && dtype_is_integer(feature->type) && dtype_is_integer(child->type)
           && n->in[1]->type == child->type
           && threshold->shape[0] == feature->shape[0] && child->shape[0] == feature->shape[0]
           && tensor_elems(child) == 2 * tensor_elems(feature) && tensor_elems(feature) > 0 && tensor_dim(x, 1) > 0;
}

/* Names the operands of a step and the phrase `next`: the link that follows from[now]. */
static void name_step(Formulas *f, const char *now)
{
    static const char *const names[] = { "feature", "threshold", "child" };
    const Node *n = f->call;
    formulas_name(f, (Bind)BIND_T("x", n->in[0]));
    for (int i = 0; i < 3; i++) formulas_name(f, (Bind)BIND_T(names[i], n->in[2 + i]));
    formulas_name(f, (Bind)BIND_V("M", n->in[2]->shape[0]));
    formulas_name(f, (Bind)BIND_V("F", n->in[0]->shape[1]));
    formulas_phrase(f, "now", now);
    formulas_phrase(f, "at", "i32(from[now])");
    formulas_phrase(f, "node", "max(0, min(M-1, at))");
    formulas_phrase(f, "value", "x[n,max(0, min(F-1, i32(feature[node])))]");
    formulas_phrase(f, "below", node_int(n, "strict", 0) ? "value < threshold[node]" : "value <= threshold[node]");
    formulas_phrase(f, "next", "select(at < M, select(below, child[node,0], child[node,1]), from[now])");
}

/* A stage per step. */
static Tensor *chain(Ctx *cx, Formulas *f, int steps)
{
    Tensor *from = formulas_compute(f, "from[n<N,t<T] = root[t]");
    name_step(f, "n,t");
    for (int d = 1; d <= steps && !ctx_failed(cx); d++) {
        Formulas step = { .cx = cx, .call = f->call };
        formulas_name(&step, (Bind)BIND_T("from", from));
        name_step(&step, "n,t");
        from = formulas_compute(&step, text_format(cx, "at_%d[n,t] = next", d));
    }
    formulas_name(f, (Bind)BIND_T("last", from));
    return formulas_compute(f, "y[n,t] = max(0, i32(last[n,t]) - M)");
}

static Tensor *recurrence(Ctx *cx, Formulas *f, int64_t steps)
{
    const Expr *shape[3] = { expr_index(cx, steps), f->call->in[0]->shape[0], f->call->in[1]->shape[0] };
    formulas_name(f, (Bind)BIND_V("D", shape[0]));
    formulas_phrase(f, "steps", "d<D ordered");
    name_step(f, "d,n,t");
    Tensor *to = formulas_promise(f, "to", f->call->in[1]->type, 3, shape);
    formulas_compute(f, "from[steps,n<N,t<T] = (to[d-1,n,t]? : root[t])");
    formulas_define(f, to, "to[steps,n<N,t<T] = next");
    return formulas_compute(f, "y[n<N,t<T] = max(0, i32(to[D-1,n,t]) - M)");
}

static int tree_walk(Ctx *cx, const Node *n, Tensor **out)
{
    const int64_t steps = node_int(n, "steps", 1);
    Tensor *x = n->in[0], *root = n->in[1];
    if (!fits_nodes(n) || root->rank != 1 || tensor_elems(root) < 1 || steps < 1
        || steps > INT32_MAX) {
        op_refuse(cx, n, "x %s, roots %s, features %s, thresholds %s of %s, children %s, %lld steps; x[n][features], a "
                  "root per tree, equal numbers of features, thresholds of x's type and pairs of children, and one "
                  "step or more are expected", tensor_shape_text(cx, x), tensor_shape_text(cx, root),
                  tensor_shape_text(cx, n->in[2]), tensor_shape_text(cx, n->in[3]),
                  dtype_info(n->in[3]->type)->spelling, tensor_shape_text(cx, n->in[4]), (long long)steps);
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("root", root));
    formulas_name(&f, (Bind)BIND_V("N", x->shape[0]));
    formulas_name(&f, (Bind)BIND_V("T", root->shape[0]));
    out[0] = steps <= MOST_STAGES ? chain(cx, &f, (int)steps) : recurrence(cx, &f, steps);
    return out[0] ? 1 : 0;
}

static int tree_step(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0], *at = n->in[1];
    if (!fits_nodes(n) || at->rank != 2 || at->shape[0] != x->shape[0]) {
        op_refuse(cx, n, "x %s, nodes %s, features %s, thresholds %s, children %s; x[n][features], integers "
                  "[n][trees], and equal numbers of features, thresholds of x's type and pairs of children are "
                  "expected",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, at), tensor_shape_text(cx, n->in[2]),
                  tensor_shape_text(cx, n->in[3]), tensor_shape_text(cx, n->in[4]));
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("from", at));
    name_step(&f, "n,t");
    out[0] = formulas_compute(&f, "y[n,t] = next");
    return out[0] ? 1 : 0;
}

static int tree_sum(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *weight = n->in[0], *row = n->in[1];
    if (weight->rank != 2 || row->rank != 2 || !dtype_is_integer(row->type) || tensor_elems(weight) < 1
        || tensor_elems(row) < 1) {
        op_refuse(cx, n, "the weights are %s and the rows %s of %s; [rows][targets] and integers [n][trees] are "
                  "expected", tensor_shape_text(cx, weight), tensor_shape_text(cx, row),
                  dtype_info(row->type)->spelling);
        return 0;
    }
    out[0] = OP_FORMULA(cx, n, "y[n,c] = sum(t) weight[max(0, min(R-1, i32(row[n,t]) - first)),c]",
                        BIND_T("weight", weight), BIND_T("row", row), BIND_V("R", weight->shape[0]),
                        BIND_V("first", expr_index(cx, node_int(n, "first", 0))));
    return out[0] ? 1 : 0;
}

static const AttrRow tree_step_attrs[] = { { "strict", ATTR_INT, "1: a condition is <; 0: it is <=", "0" }, { 0 } };
static const AttrRow tree_walk_attrs[] = {
    { "steps", ATTR_INT, "the depth of the deepest tree", "1" },
    { "strict", ATTR_INT, "1: a condition is <; 0: it is <=", "0" },
    { 0 }
};

static const AttrRow tree_sum_attrs[] = { { "first", ATTR_INT, "the number in `row` that is row 0", "0" }, { 0 } };

/* Two trees: x[0] <= 0 ? 0 : (x[1] <= 0.5 ? 1 : 2), and a single leaf, 3. */
#define TREES "i8[2]={0,1} f32[2]={0,0.5} u8[2][2]={2,1,3,4}"
static const OpCase tree_walk_cases[] = {
    { "steps=2", "f32[3][2] u8[2]={0,5} " TREES, "i32[3][2]", NULL },
    { "steps=1", "f32[3][2] u8[2]={0,5} " TREES, "i32[3][2]", NULL },
    { "steps=17", "f32[3][2] u8[2]={0,5} " TREES, "i32[3][2]", NULL },
    { "steps=3 strict=1", "i32[5][2] i32[1]={0} u8[1]={1} i32[1]={3} i32[1][2]={1,2}", "i32[5][1]", NULL },
    { "steps=0", "f32[3][2] u8[2]={0,5} " TREES, NULL, "0 steps" },
    { "", "f32[3] u8[2]={0,5} " TREES, NULL, "x [3]" },
    { 0 }
};

static const OpCase tree_step_cases[] = {
    { "", "f32[3][2] u8[3][2]={0,5,1,0,5,4} " TREES, "u8[3][2]", NULL },
    { "strict=1", "i32[5][2] i32[5][1]={0,0,0,0,0} u8[1]={1} i32[1]={3} i32[1][2]={1,2}", "i32[5][1]", NULL },
    { "", "f32[3][2] u8[2][2] " TREES, NULL, "nodes [2][2]" },
    { 0 }
};

static const OpCase tree_sum_cases[] = {
    { "", "f32[4][3] i32[2][3]={0,1,3,2,2,0}", "f32[2][3]", NULL },
    { "first=5", "f64[4][1] u16[2][2]={5,6,8,7}", "f64[2][1]", NULL },
    { "", "f32[4] i32[2][3]", NULL, "weights are [4]" },
    { 0 }
};

const Op ops_trees[] = {
    { .name = "tree_step", .summary = "y[n,t] = the child of node at[n,t] that x[n,:] selects", .level = 10,
      .least_inputs = 5, .most_inputs = 5, .inputs = "x at feature threshold child", .attr = tree_step_attrs,
      .meaning.compute = tree_step, .fusion.pattern = PATTERN_OPAQUE, .cases = tree_step_cases },
    { .name = "tree_sum", .summary = "y[n,c] = sum over t of weight[row[n,t] - first, c]", .level = 10,
      .least_inputs = 2, .most_inputs = 2, .inputs = "weight row", .attr = tree_sum_attrs,
      .meaning.compute = tree_sum, .fusion.pattern = PATTERN_REDUCTION, .cases = tree_sum_cases },
    { .name = "tree_walk", .summary = "y[n,t] = the leaf's row of x[n,:] in tree t", .level = 10, .least_inputs = 5,
      .most_inputs = 5, .inputs = "x root feature threshold child", .attr = tree_walk_attrs,
      .meaning.compute = tree_walk, .fusion.pattern = PATTERN_OPAQUE, .cases = tree_walk_cases },
    { 0 }
};
