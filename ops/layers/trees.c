/* SPDX-License-Identifier: MIT */
/* Defines decision trees as data. The nodes of all trees have a feature, a threshold and two links, for `true` and for
 * `false`. A link of 0 or more is a node; -1 - r is the leaf with row r of the weights, and a walk that has reached it
 * stays; therefore all walks take the same number of steps. Leaves occupy no memory except their rows.
 *
 *   tree_walk    at[0] = root[t],   at[d+1] = at[d] < 0 ? at[d] : x[n, feature[at[d]]] <= threshold[at[d]]
 *                ? child[at[d], 0] : child[at[d], 1],   y[n,t] = -1 - at[steps]
 *   tree_sum     y[n,c] = sum over t of weight[row[n,t], c]
 *   forest       y[n,c] = sum over t and the pairs p of the leaf -1 - at[steps], starting there, of value[p] if
 *                         column[p] = c
 *
 * The pairs of a leaf are its weights other than 0. In all pairs of a leaf except the last, `column` is increased by
 * the number of columns.
 *
 * A comparison with NaN is false. With `strict`, the condition is `<`. Reads clamp indices, so no data can lead
 * outside.
 *
 * Semantics: ONNX TreeEnsemble. Breiman et al. 1984, "Classification and Regression Trees". */

/* Decision: a forest is data, walked to its leaves. A node is a feature, a threshold and two links
 * (`ops/layers/trees.c`). A link of 0 or more is a node, a negative one a leaf: leaves take no node. A leaf is a
 * list of pairs of column and weight, without zeros; a list that is the end of another is stored once. The formula
 * of `forest` takes as many steps as the deepest tree, each a stage, and sums all pairs of all columns; the emitted
 * C is a macro (`runtime/lw_trees.h`), whose loop ends at the leaf, and which adds that leaf's pairs only. The loop
 * needs no clamps because the arrays are constants: `schedules/generic/trees.c` proves each link, feature and
 * column, and that links lead to later nodes. The macro is called by the step `external`, so the checker and the
 * interpreter use the formula. Nested conditions would execute a third of the instructions of a walk, but use twice the
 * flash; only data keep both below emlearn's. Least and greatest weights, and nodes that trees share, take the rows of
 * `tree_walk`. The importer (`import/onnx/ml/onnx_forest.c`) reduces the file's conditions, directions of NaN and sets
 * to one comparison, `<=` or `<`, whose false branch takes NaN. Thresholds have the type of the features; those of
 * integers the narrowest that holds them. */
#include "graph/dag/op_build.h"
#include "support/text.h"

enum { MOST_STAGES = 16,             /* up to this many steps are stages; more steps are a recurrence */
       MOST_CHAINED = 64 };          /* limit of steps of `forest`, which has no recurrence */

/* Returns true for integers whose values fit i32. */
static bool is_narrow(DType t)
{
    return dtype_is_integer(t) && (t == I32 || dtype_info(t)->bytes < 4);
}

/* Returns true if feature, threshold and child have valid shapes, and if all links have one type. */
static bool fits_nodes(const Node *n)
{
    const Tensor *x = n->in[0], *feature = n->in[2], *threshold = n->in[3], *child = n->in[4];
    return x->rank == 2 && feature->rank == 1 && threshold->rank == 1 && child->rank == 2
           && (threshold->type == x->type || (is_narrow(x->type) && is_narrow(threshold->type)))
           && dtype_is_integer(feature->type) && dtype_is_integer(child->type)
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
    formulas_phrase(f, "tested", "x[n,max(0, min(F-1, i32(feature[node])))]");
    const bool is_narrowed = n->in[3]->type != n->in[0]->type, strict = node_int(n, "strict", 0);
    formulas_phrase(f, "below", is_narrowed ? strict ? "i32(tested) < i32(threshold[node])"
                                                     : "i32(tested) <= i32(threshold[node])"
                                            : strict ? "tested < threshold[node]" : "tested <= threshold[node]");
    formulas_phrase(f, "next", "select(at >= 0, select(below, child[node,0], child[node,1]), from[now])");
}

/* Adds a stage per step; sets `last`. */
static void chain(Ctx *cx, Formulas *f, int steps)
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
    return formulas_compute(f, "y[n<N,t<T] = max(0, -1 - i32(to[D-1,n,t]))");
}

/* Checks the operands of a walk along the trees, and the number of its steps. */
static bool check_walk(Ctx *cx, const Node *n, int64_t steps, int most)
{
    const Tensor *root = n->in[1];
    return op_holds(cx, n, fits_nodes(n), "the operands are x %s, features %s, thresholds %s of %s and children %s; "
                    "use x[n][features], feature[nodes], threshold[nodes] of x's type and child[nodes][2]",
                    tensor_shape_text(cx, n->in[0]), tensor_shape_text(cx, n->in[2]), tensor_shape_text(cx, n->in[3]),
                    dtype_info(n->in[3]->type)->spelling, tensor_shape_text(cx, n->in[4]))
           && op_holds(cx, n, root->rank == 1 && tensor_elems(root) >= 1, "the roots are %s; use root[trees]",
                       tensor_shape_text(cx, root))
           && op_holds(cx, n, steps >= 1 && steps <= most, "'steps' is %lld; use 1 to %d", (long long)steps, most);
}

static int tree_walk(Ctx *cx, const Node *n, Tensor **out)
{
    const int64_t steps = node_int(n, "steps", 1);
    Tensor *x = n->in[0], *root = n->in[1];
    if (!check_walk(cx, n, steps, INT32_MAX)) return 0;
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("root", root));
    formulas_name(&f, (Bind)BIND_V("N", x->shape[0]));
    formulas_name(&f, (Bind)BIND_V("T", root->shape[0]));
    if (steps > MOST_STAGES) out[0] = recurrence(cx, &f, steps);
    else {
        chain(cx, &f, (int)steps);
        out[0] = formulas_compute(&f, "y[n,t] = max(0, -1 - i32(last[n,t]))");
    }
    return out[0] ? 1 : 0;
}

static int forest(Ctx *cx, const Node *n, Tensor **out)
{
    const int64_t steps = node_int(n, "steps", 1), columns = node_int(n, "columns", 1), pairs = node_int(n, "pairs", 1);
    Tensor *x = n->in[0], *root = n->in[1], *column = n->in[5], *value = n->in[6];
    if (!check_walk(cx, n, steps, MOST_CHAINED)
        || !op_holds(cx, n, is_narrow(column->type) && column->rank == 1 && tensor_elems(column) >= 1,
                     "the columns are %s%s; use integers [pairs] of up to 32 bits",
                     dtype_info(column->type)->spelling, tensor_shape_text(cx, column))
        || !op_holds(cx, n, value->rank == 1 && column->shape[0] == value->shape[0], "the columns are %s and the "
                     "values %s; use equal sizes", tensor_shape_text(cx, column), tensor_shape_text(cx, value))
        || !op_holds(cx, n, columns >= 1 && columns <= INT32_MAX / 2, "'columns' is %lld; use 1 to 2^30-1",
                     (long long)columns)
        || !op_holds(cx, n, pairs >= 1 && pairs <= columns, "'pairs' is %lld; use 1 to %lld, 'columns'",
                     (long long)pairs, (long long)columns))
        return 0;
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("root", root));
    formulas_name(&f, (Bind)BIND_V("N", x->shape[0]));
    formulas_name(&f, (Bind)BIND_V("T", root->shape[0]));
    chain(cx, &f, (int)steps);
    formulas_name(&f, (Bind)BIND_T("column", column));
    formulas_name(&f, (Bind)BIND_T("value", value));
    formulas_name(&f, (Bind)BIND_V("P", column->shape[0]));
    formulas_name(&f, (Bind)BIND_V("J", expr_index(cx, pairs)));
    formulas_name(&f, (Bind)BIND_V("C", expr_index(cx, columns)));
    formulas_phrase(&f, "pair", "max(0, min(P-1, j - 1 - i32(last[n,t])))");
    Tensor *end = formulas_compute(&f, "end[n<N,t<T] = min(j<J) select(i32(column[pair]) < C, j, J)");
    formulas_name(&f, (Bind)BIND_T("end", end));
    out[0] = formulas_compute(&f, "y[n<N,c<C] = sum(t<T,j<J) select(j <= end[n,t] && "
                                  "i32(column[pair]) - select(j < end[n,t], C, 0) == c, value[pair], 0)");
    return out[0] ? 1 : 0;
}

static int tree_sum(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *weight = n->in[0], *row = n->in[1];
    if (weight->rank != 2 || row->rank != 2 || !dtype_is_integer(row->type) || tensor_elems(weight) < 1
        || tensor_elems(row) < 1) {
        op_refuse(cx, n, "the weights are %s and the rows %s of %s; use weights [rows][targets] and integer rows "
                         "[n][trees]",
                  tensor_shape_text(cx, weight), tensor_shape_text(cx, row), dtype_info(row->type)->spelling);
        return 0;
    }
    out[0] = OP_FORMULA(cx, n, "y[n,c] = sum(t) weight[max(0, min(R-1, i32(row[n,t]))),c]",
                        BIND_T("weight", weight), BIND_T("row", row), BIND_V("R", weight->shape[0]));
    return out[0] ? 1 : 0;
}

static const AttrRow tree_walk_attrs[] = {
    { "steps", ATTR_INT, "the depth of the deepest tree", "1" },
    { "strict", ATTR_INT, "1: a condition is <; 0: it is <=", "0" },
    { 0 }
};

static const AttrRow forest_attrs[] = {
    { "steps", ATTR_INT, "the depth of the deepest tree", "1" },
    { "columns", ATTR_INT, "the number of results", "1" },
    { "pairs", ATTR_INT, "the most pairs of a leaf", "1" },
    { "strict", ATTR_INT, "1: a condition is <; 0: it is <=", "0" },
    { 0 }
};

/* two trees: x[0] <= 0 ? 0 : (x[1] <= 0.5 ? 1 : 2), and a single leaf, 3. */
#define TREES "i8[2]={0,1} f32[2]={0,0.5} i8[2][2]={-1,1,-2,-3}"
static const OpCase tree_walk_cases[] = {
    { "steps=2", "f32[3][2] i8[2]={0,-4} " TREES, "i32[3][2]", NULL },
    { "steps=1", "f32[3][2] i8[2]={0,-4} " TREES, "i32[3][2]", NULL },
    { "steps=17", "f32[3][2] i8[2]={0,-4} " TREES, "i32[3][2]", NULL },
    { "steps=3 strict=1", "i32[5][2] i32[1]={0} u8[1]={1} i32[1]={3} i32[1][2]={-1,-2}", "i32[5][1]", NULL },
    { "steps=1", "i32[5][2] i8[1]={0} u8[1]={1} i8[1]={3} i8[1][2]={-1,-2}", "i32[5][1]", NULL },
    { "steps=0", "f32[3][2] i8[2]={0,-4} " TREES, NULL, "'steps' is 0" },
    { "", "f32[3] i8[2]={0,-4} " TREES, NULL, "x [3]" },
    { 0 }
};

/* leaves with one pair and with two pairs, which end with the same pair; a link to a leaf's second pair; nodes in
 * another order */
#define PAIRS " u8[4]={1,5,0,2} f32[4]"
static const OpCase forest_cases[] = {
    { "steps=2 columns=3 pairs=2", "f32[3][2] i8[2]={0,-4} " TREES PAIRS, "f32[3][3]", NULL },
    { "steps=1 columns=3 pairs=3", "f32[3][2] i8[2]={0,-4} " TREES PAIRS, "f32[3][3]", NULL },
    { "steps=20 columns=4 pairs=1", "f32[1][2] i8[2]={0,-4} " TREES PAIRS, "f32[1][4]", NULL },
    { "steps=2 strict=1", "i16[5][2] i8[1]={0} u8[1]={1} i8[1]={3} i8[1][2]={-1,-2} u8[2]={0,0} f64[2]", "f64[5][1]",
      NULL },
    { "steps=2", "f32[3][2] i8[1]={1} i8[2]={0,1} f32[2]={0,0.5} i8[2][2]={-1,-2,0,-1} u8[2]={0,0} f32[2]",
      "f32[3][1]", NULL },
    { "pairs=2", "f32[3][2] i8[2]={0,-4} " TREES PAIRS, NULL, "'pairs' is 2" },
    { 0 }
};

static const OpCase tree_sum_cases[] = {
    { "", "f32[4][3] i32[2][3]={0,1,3,2,2,0}", "f32[2][3]", NULL },
    { "", "f64[4][1] u16[2][2]={0,1,3,2}", "f64[2][1]", NULL },
    { "", "f32[4] i32[2][3]", NULL, "weights are [4]" },
    { 0 }
};

const Op ops_trees[] = {
    { .name = "forest", .summary = "y[n,c] = the sum of the weights of column c of the leaves of x[n,:]", .level = 10,
      .least_inputs = 7, .most_inputs = 7, .inputs = "x root feature threshold child column value",
      .attr = forest_attrs, .meaning.compute = forest, .fusion.pattern = PATTERN_OPAQUE, .cases = forest_cases },
    { .name = "tree_sum", .summary = "y[n,c] = sum over t of weight[row[n,t], c]", .level = 10,
      .least_inputs = 2, .most_inputs = 2, .inputs = "weight row",
      .meaning.compute = tree_sum, .fusion.pattern = PATTERN_REDUCTION, .cases = tree_sum_cases },
    { .name = "tree_walk", .summary = "y[n,t] = the leaf's row of x[n,:] in tree t", .level = 10, .least_inputs = 5,
      .most_inputs = 5, .inputs = "x root feature threshold child", .attr = tree_walk_attrs,
      .meaning.compute = tree_walk, .fusion.pattern = PATTERN_OPAQUE, .cases = tree_walk_cases },
    { 0 }
};
