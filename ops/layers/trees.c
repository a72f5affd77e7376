/* SPDX-License-Identifier: MIT */
/* Decision trees as data. All nodes of all trees are stored in one order, a tree after another, each in preorder: the
 * child for `true` follows its parent, the child for `false` is skip nodes behind it. At a leaf, skip is 0 and the
 * condition is false, so a walk that has reached it stays; therefore all walks take the same number of steps.
 *
 *   tree_step    y[n,t] = at + (x[n, feature[at]] <= threshold[at] ? 1 : skip[at]),  at = at[n,t]
 *   tree_walk    at[0] = root[t],   at[d+1] = tree_step(at[d]),   y[n,t] = row[at[steps]]
 *
 * A step overwrites its operand, and all steps of a forest are one function; a walk stores all of its steps.
 *
 * A comparison with NaN is false; a leaf of a real threshold has NaN. With `strict`, the condition is `<`; a leaf of an
 * integer threshold has the least number. Reads clamp indices, so no data can lead outside.
 *
 * Semantics: ONNX TreeEnsemble. Breiman et al. 1984, "Classification and Regression Trees". */
#include "graph/dag/op_build.h"

static bool fits(const Node *n)
{
    const Tensor *x = n->in[0], *root = n->in[1], *feature = n->in[2], *threshold = n->in[3];
    if (x->rank != 2 || root->rank != 1 || feature->rank != 1 || threshold->type != x->type) return false;
    if (tensor_elems(root) < 1 || tensor_elems(feature) < 1 || tensor_dim(x, 1) < 1) return false;
    for (int i = 1; i < 6; i++)
        if (i != 3 && !dtype_is_integer(n->in[i]->type)) return false;
    for (int i = 3; i < 6; i++)
        if (n->in[i]->rank != 1 || n->in[i]->shape[0] != feature->shape[0]) return false;
    return true;
}

static int tree_walk(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const names[] = { "x", "root", "feature", "threshold", "skip", "row" };
    const int64_t steps = node_int(n, "steps", 1);
    const Tensor *x = n->in[0];
    if (!fits(n) || steps < 1 || steps > INT32_MAX) {
        op_refuse(cx, n, "x %s, roots %s, %s nodes of %s, %lld steps; x[n][features], a root per tree, thresholds of "
                  "x's type, integers for the rest, and one step or more are expected", tensor_shape_text(cx, x),
                  tensor_shape_text(cx, n->in[1]), tensor_shape_text(cx, n->in[2]), tensor_shape_text(cx, n->in[3]),
                  (long long)steps);
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    for (int i = 0; i < 6; i++) formulas_name(&f, (Bind)BIND_T(names[i], n->in[i]));
    const Expr *shape[3] = { expr_index(cx, steps), x->shape[0], n->in[1]->shape[0] };
    formulas_name(&f, (Bind)BIND_V("D", shape[0]));
    formulas_name(&f, (Bind)BIND_V("N", shape[1]));
    formulas_name(&f, (Bind)BIND_V("T", shape[2]));
    formulas_name(&f, (Bind)BIND_V("M", n->in[2]->shape[0]));
    formulas_name(&f, (Bind)BIND_V("F", x->shape[1]));
    formulas_phrase(&f, "steps", steps > 1 ? "d<D ordered" : "d<D");
    formulas_phrase(&f, "below", node_int(n, "strict", 0) ? "x[n,column[d,n,t]] < threshold[node[d,n,t]]"
                                                          : "x[n,column[d,n,t]] <= threshold[node[d,n,t]]");
    Tensor *at = formulas_promise(&f, "at", I32, 3, shape);
    formulas_compute(&f, "from[steps,n<N,t<T] = (at[d-1,n,t]? : i32(root[t]))");
    formulas_compute(&f, "node[steps,n<N,t<T] = max(0, min(M-1, from[d,n,t]))");
    formulas_compute(&f, "column[steps,n<N,t<T] = max(0, min(F-1, i32(feature[node[d,n,t]])))");
    formulas_define(&f, at, "at[steps,n<N,t<T] = node[d,n,t] + select(below, 1, i32(skip[node[d,n,t]]))");
    out[0] = formulas_compute(&f, "y[n<N,t<T] = i32(row[max(0, min(M-1, at[D-1,n,t]))])");
    return out[0] ? 1 : 0;
}

static int tree_step(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const names[] = { "x", "at", "feature", "threshold", "skip" };
    const Tensor *x = n->in[0], *at = n->in[1], *feature = n->in[2];
    bool is_fit = x->rank == 2 && at->rank == 2 && at->shape[0] == x->shape[0] && n->in[3]->type == x->type;
    for (int i = 1; i < 5; i++) is_fit = is_fit && (i == 3 || dtype_is_integer(n->in[i]->type));
    for (int i = 2; i < 5; i++) is_fit = is_fit && n->in[i]->rank == 1 && n->in[i]->shape[0] == feature->shape[0];
    if (!is_fit || tensor_elems(feature) < 1 || tensor_dim(x, 1) < 1) {
        op_refuse(cx, n, "x %s, nodes %s, %s features and %s thresholds; x[n][features], integers [n][trees], and "
                  "equal numbers of features, thresholds of x's type and skips are expected", tensor_shape_text(cx, x),
                  tensor_shape_text(cx, at), tensor_shape_text(cx, feature), tensor_shape_text(cx, n->in[3]));
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    for (int i = 0; i < 5; i++) formulas_name(&f, (Bind)BIND_T(names[i], n->in[i]));
    formulas_name(&f, (Bind)BIND_V("M", feature->shape[0]));
    formulas_name(&f, (Bind)BIND_V("F", x->shape[1]));
    formulas_phrase(&f, "type", dtype_info(at->type)->spelling);
    formulas_phrase(&f, "node", "max(0, min(M-1, i32(at[n,t])))");
    formulas_phrase(&f, "value", "x[n,max(0, min(F-1, i32(feature[node])))]");
    formulas_phrase(&f, "below", node_int(n, "strict", 0) ? "value < threshold[node]" : "value <= threshold[node]");
    out[0] = formulas_compute(&f, "y[n,t] = type(node + select(below, 1, i32(skip[node])))");
    return out[0] ? 1 : 0;
}

static const AttrRow tree_step_attrs[] = { { "strict", ATTR_INT, "1: a condition is <; 0: it is <=", "0" }, { 0 } };
static const AttrRow tree_walk_attrs[] = {
    { "steps", ATTR_INT, "the depth of the deepest tree", "1" },
    { "strict", ATTR_INT, "1: a condition is <; 0: it is <=", "0" },
    { 0 }
};

/* Two trees: x[0] <= 0 ? 7 : (x[1] <= 0.5 ? 8 : 9), and a single leaf. */
#define TREES "i32[2]={0,5} i8[6]={0,0,1,0,0,0} f32[6]={0,nan,0.5,nan,nan,nan} i8[6]={2,0,2,0,0,0} " \
              "i16[6]={0,7,0,8,9,4}"
static const OpCase tree_walk_cases[] = {
    { "steps=2", "f32[3][2] " TREES, "i32[3][2]", NULL },
    { "steps=1", "f32[3][2] " TREES, "i32[3][2]", NULL },
    { "steps=3 strict=1", "i32[5][2] i32[1]={0} u8[3]={1,0,0} i32[3]={3,-2147483648,-2147483648} u8[3]={2,0,0} "
      "u8[3]={0,1,2}", "i32[5][1]", NULL },
    { "steps=0", "f32[3][2] " TREES, NULL, "0 steps" },
    { "", "f32[3] " TREES, NULL, "x [3]" },
    { 0 }
};

static const OpCase tree_step_cases[] = {
    { "", "f32[3][2] u16[3][2]={0,5,2,0,5,4} i8[6]={0,0,1,0,0,0} f32[6]={0,nan,0.5,nan,nan,nan} i8[6]={2,0,2,0,0,0}",
      "u16[3][2]", NULL },
    { "strict=1", "i32[5][2] i32[5][1]={0,0,0,0,0} u8[3]={1,0,0} i32[3]={3,-2147483648,-2147483648} u8[3]={2,0,0}",
      "i32[5][1]", NULL },
    { "", "f32[3][2] u16[2][2] i8[6] f32[6] i8[6]", NULL, "nodes [2][2]" },
    { 0 }
};

const Op ops_trees[] = {
    { .name = "tree_step", .summary = "y[n,t] = the child of node at[n,t] that x[n,:] selects", .level = 10,
      .least_inputs = 5, .most_inputs = 5, .inputs = "x at feature threshold skip", .attr = tree_step_attrs,
      .meaning.compute = tree_step, .fusion.pattern = PATTERN_OPAQUE, .cases = tree_step_cases },
    { .name = "tree_walk", .summary = "y[n,t] = the leaf's row of x[n,:] in tree t", .level = 10, .least_inputs = 6,
      .most_inputs = 6, .inputs = "x root feature threshold skip row", .attr = tree_walk_attrs,
      .meaning.compute = tree_walk, .fusion.pattern = PATTERN_OPAQUE, .cases = tree_walk_cases },
    { 0 }
};
