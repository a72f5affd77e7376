/* SPDX-License-Identifier: MIT */
/* From branches to the arrays of the operator tree_walk, and to scores.
 *
 * The walk tests one kind of condition. If the file has several, `<` and `>` become `<=` and `>=` of the adjacent
 * number, and `>=` becomes `<=` of a negated copy of the features.
 *
 * A leaf adds weights to targets. If all leaves of a tree have one and the same target, their weights are a column;
 * otherwise a leaf has a row of all targets. Equal rows are stored once. */
#include "import/onnx/ml/onnx_forest.h"

#include <math.h>

#include "support/map.h"
#include "support/text.h"

/* Up to MOST_STAGES steps are scalars of one loop over the trees, up to MOST_CALLS calls of one function, more a
 * recurrence. */
enum { MOST_STEPS = 2000, MOST_TARGETS = 4096, MOST_STAGES = 16, MOST_CALLS = 32 };

int onnx_forest_add(Forest *f, Branch b)
{
    if (f->count == f->capacity) {
        Branch *old = f->branch;
        f->capacity = 2 * f->capacity + 64;
        f->branch = NEW_ARRAY(f->c->cx->arena, Branch, f->capacity);
        for (int i = 0; i < f->count; i++) f->branch[i] = old[i];
    }
    b.at = -1;
    f->branch[f->count] = b;
    return f->count++;
}

/* ---- Integer features -------------------------------------------------------------------------------------------- */

/* An integer x: x <= v is x < floor(v) + 1, and x < v is x < ceil(v). The negations exchange the branches. A condition
 * that holds for all values of x's type, or for none, has one child twice. */
static void make_integer(Branch *b, DType type)
{
    const int bits = 8 * dtype_info(type)->bytes;
    const bool is_signed = type != U8 && type != U16;
    const double least = is_signed ? -ldexp(1, bits - 1) : 0, end = ldexp(1, is_signed ? bits - 1 : bits);
    const double bound = b->compare == LE || b->compare == GT ? floor(b->value) + 1 : ceil(b->value);
    if (b->compare == GE || b->compare == GT) {
        const int yes = b->yes;
        b->yes = b->no, b->no = yes;
    }
    b->compare = LT;
    if (bound >= end) b->no = b->yes;
    else if (!(bound > least)) b->yes = b->no;                                      /* NaN: never true */
    b->value = bound > least && bound < end ? bound : 0;
}

/* ---- The order of the arrays ------------------------------------------------------------------------------------- */

/* Appends a branch and what follows it; returns the steps to its deepest leaf. */
static int emit(Forest *f, int at, int depth)
{
    Branch *b = &f->branch[at];
    if (b->is_open || depth > MOST_STEPS) {
        if (!ctx_failed(f->c->cx))
            onnx_refuse(f->c, b->is_open ? "the nodes of a tree have a cycle; a tree is accepted"
                                         : "a tree is more than %d nodes deep; fewer are accepted", MOST_STEPS);
        return 0;
    }
    if (b->at >= 0) return b->depth;
    b->at = f->emitted;
    f->order[f->emitted++] = at;
    if (b->is_leaf) return 0;
    b->is_open = true;
    const int yes = emit(f, b->yes, depth + 1);
    b = &f->branch[at];
    const int no = ctx_failed(f->c->cx) ? 0 : emit(f, b->no, depth + 1);
    b = &f->branch[at];
    b->is_open = false;
    b->depth = 1 + (yes > no ? yes : no);
    return b->depth;
}

static void emit_all(Forest *f)
{
    f->order = NEW_ARRAY(f->c->cx->arena, int, 2 * f->count + f->trees);
    f->end = NEW_ARRAY(f->c->cx->arena, int, f->trees);
    for (int t = 0; t < f->trees && !ctx_failed(f->c->cx); t++) {
        const int steps = emit(f, f->root[t], 0);
        if (steps > f->steps) f->steps = steps;
        f->end[t] = f->emitted;
    }
    if (!f->steps) f->steps = 1;
}

/* ---- One kind of condition --------------------------------------------------------------------------------------- */

static double adjacent(const Forest *f, double v, double towards)
{
    return f->x->type == F64 ? nextafter(v, towards) : (double)nextafterf((float)v, (float)towards);
}

/* x < v is x <= the number before v. */
static void without_equal(const Forest *f, Branch *b)
{
    if (b->compare == LT) b->value = adjacent(f, b->value, -INFINITY), b->compare = LE;
    if (b->compare == GT) b->value = adjacent(f, b->value, INFINITY), b->compare = GE;
}

/* x >= v is -x <= -v. */
static void negate(Forest *f, Branch *b, bool mirrors)
{
    if (b->compare != GE && b->compare != GT) return;
    b->value = -b->value;
    b->compare = b->compare == GE ? LE : LT;
    if (mirrors) b->feature += tensor_dim(f->x, 1);
}

/* Leaves one of LE and LT; sets x to the features that it compares. */
static void unify(Forest *f)
{
    const bool up = f->uses[LE] || f->uses[LT], down = f->uses[GE] || f->uses[GT],
               weak = f->uses[LE] || f->uses[GE], strict = f->uses[LT] || f->uses[GT];
    const int count = f->count;
    for (int i = 0; i < count; i++) {
        Branch *b = &f->branch[i];
        if (b->is_leaf) continue;
        if (weak && strict) without_equal(f, b);
        negate(f, b, up && down);
    }
    f->uses[LT] = strict && !weak;
    if (!down) return;
    Tensor *negative = onnx_call(f->c, "neg", f->x);
    f->x = up ? onnx_call2(f->c, "concat", f->x, negative, attr_int("axis", 1)) : negative;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static DType narrowest(int64_t least, int64_t greatest)
{
    return least >= 0 && greatest <= UINT8_MAX ? U8 : least >= INT8_MIN && greatest <= INT8_MAX ? I8
         : least >= 0 && greatest <= UINT16_MAX ? U16 : least >= INT16_MIN && greatest <= INT16_MAX ? I16 : I32;
}

static Tensor *narrow_array(Forest *f, const char *what, const int64_t *v, int count, DType type)
{
    Ctx *cx = f->c->cx;
    int64_t shape = count;
    void *data;
    Tensor *t = tensor_zeros(cx, text_format(cx, "%s_%s", f->c->name, what), type, 1, &shape, &data);
    for (int i = 0; t && i < count; i++) dtype_store(type, data, i, (Scalar){ .i = v[i] });
    return t;
}

static DType type_of(const int64_t *v, int count)
{
    int64_t least = 0, greatest = 0;
    for (int i = 0; i < count; i++) {
        if (v[i] < least) least = v[i];
        if (v[i] > greatest) greatest = v[i];
    }
    return narrowest(least, greatest);
}

static Tensor *threshold_array(Forest *f, const int *node, int nodes)
{
    Ctx *cx = f->c->cx;
    const DType type = f->x->type;
    int64_t shape = nodes;
    void *data;
    Tensor *t = tensor_zeros(cx, text_format(cx, "%s_threshold", f->c->name), type, 1, &shape, &data);
    for (int k = 0; t && k < nodes; k++) {
        const double v = node[k] < 0 ? 0 : f->branch[node[k]].value;
        dtype_store(type, data, k, dtype_is_float(type) ? (Scalar){ .f = v } : (Scalar){ .i = (int64_t)v });
    }
    return t;
}

/* The arrays of tree_walk and tree_step. A forest of leaves alone has one node, which no link reaches. */
typedef struct Walk { int nodes; int64_t *root; DType link; Tensor *feature, *threshold, *child; } Walk;

/* row: of leaves, by emitted branch */
static Walk lay_out(Forest *f, const int64_t *row)
{
    Arena *arena = f->c->cx->arena;
    Walk w = { .root = NEW_ARRAY(arena, int64_t, f->trees) };
    int *node = NEW_ARRAY(arena, int, f->emitted + 1);
    int64_t *link = NEW_ARRAY(arena, int64_t, f->emitted), *feature = NEW_ARRAY(arena, int64_t, f->emitted + 1),
            *child = NEW_ARRAY(arena, int64_t, 2 * f->emitted + 2);
    int64_t last = 0;
    for (int i = 0; i < f->emitted; i++)
        if (!f->branch[f->order[i]].is_leaf) link[i] = w.nodes, node[w.nodes++] = f->order[i];
    if (!w.nodes) node[w.nodes++] = -1;
    for (int i = 0; i < f->emitted; i++)
        if (f->branch[f->order[i]].is_leaf) link[i] = w.nodes + row[i];
    for (int i = 0; i < f->emitted; i++) last = link[i] > last ? link[i] : last;
    w.link = narrowest(0, last);
    for (int k = 0; k < w.nodes && node[k] >= 0; k++) {
        const Branch *b = &f->branch[node[k]];
        feature[k] = b->feature;
        child[2 * k] = link[f->branch[b->yes].at], child[2 * k + 1] = link[f->branch[b->no].at];
    }
    for (int t = 0; t < f->trees; t++) w.root[t] = link[f->branch[f->root[t]].at];
    w.feature = narrow_array(f, "feature", feature, w.nodes, type_of(feature, w.nodes));
    w.threshold = threshold_array(f, node, w.nodes);
    w.child = onnx_reshape(f->c, narrow_array(f, "child", child, 2 * w.nodes, w.link), (int64_t[]){ w.nodes, 2 }, 2);
    return w;
}

/* A call per step: links are a tensor that each step overwrites. Returns M + row. */
static Tensor *by_steps(Forest *f, const Walk *w)
{
    OnnxCall *c = f->c;
    const int64_t shape[2] = { tensor_dim(f->x, 0), f->trees };
    void *data;
    Tensor *at = tensor_zeros(c->cx, text_format(c->cx, "%s_roots", c->name), w->link, 2, shape, &data);
    for (int64_t i = 0; at && i < shape[0] * shape[1]; i++)
        dtype_store(at->type, data, i, (Scalar){ .i = w->root[i % f->trees] });
    for (int d = 0; d < f->steps && at && !ctx_failed(c->cx); d++)
        at = call(c->cx, "tree_step", c->name, (Tensor *[]){ f->x, at, w->feature, w->threshold, w->child }, 5,
                  ATTRS(attr_flag("strict", f->uses[LT])));
    return at;
}

/* Returns the leaf of each walk, an integer[n][trees]; *first: the number that is row 0. row: by emitted branch. */
static Tensor *walk(Forest *f, const int64_t *row, int64_t *first)
{
    OnnxCall *c = f->c;
    const Walk w = lay_out(f, row);
    if (ctx_failed(c->cx)) return NULL;
    *first = f->steps > MOST_STAGES && f->steps <= MOST_CALLS ? w.nodes : 0;
    if (*first) return by_steps(f, &w);
    Tensor *in[5] = { f->x, narrow_array(f, "root", w.root, f->trees, w.link), w.feature, w.threshold, w.child };
    return call(c->cx, "tree_walk", c->name, in, 5,
                ATTRS(attr_int("steps", f->steps), attr_flag("strict", f->uses[LT])));
}

/* ---- Leaves ------------------------------------------------------------------------------------------------------ */

/* Returns the one target of the leaves in a range of the arrays; -1: several, -2: none. */
static int64_t target_of(const Forest *f, int first, int end)
{
    int64_t target = -2;
    for (int i = first; i < end; i++) {
        const Branch *b = &f->branch[f->order[i]];
        if (!b->is_leaf) continue;
        if (b->count > 1) return -1;
        const int64_t own = b->count ? f->pair[b->first].target : -2;
        if (own >= 0 && target >= 0 && own != target) return -1;
        if (own >= 0) target = own;
    }
    return target;
}

/* Sets the target of each tree; false: a tree has several. */
static bool one_target_each(const Forest *f, int64_t *target)
{
    for (int t = 0; t < f->trees; t++) {
        target[t] = target_of(f, f->branch[f->root[t]].at, f->end[t]);
        if (target[t] == -1) return false;
        if (target[t] == -2) target[t] = 0;
    }
    return true;
}

const Aggregate onnx_aggregates[AGGREGATES] = {
    { "AVERAGE", "reduce_sum", 0, true }, { "SUM", "reduce_sum", 0, false }, { "MIN", "reduce_min", INFINITY, false },
    { "MAX", "reduce_max", -INFINITY, false }
};

DType onnx_forest_weights(const Forest *f) { return f->x->type == F64 ? F64 : F32; }

/* Sorts trees by target, in a stable way; returns the number of trees of each. */
static const int *sort_trees(Forest *f, const int64_t *target)
{
    Arena *arena = f->c->cx->arena;
    int *count = NEW_ARRAY(arena, int, f->targets + 1), *next = NEW_ARRAY(arena, int, f->targets + 1),
        *root = NEW_ARRAY(arena, int, f->trees);
    for (int t = 0; t < f->trees; t++) count[target[t]]++;
    for (int64_t k = 0; k < f->targets; k++) next[k + 1] = next[k] + count[k];
    for (int t = 0; t < f->trees; t++) root[next[target[t]]++] = f->root[t];
    f->root = root;
    return count;
}

/* Rows of `width` weights, equal ones stored once: sets row by emitted node. */
static Tensor *weight_rows(Forest *f, int64_t width, double none, int64_t *row)
{
    Ctx *cx = f->c->cx;
    Map known = map_new(cx->arena);
    int64_t leaves = 0, count = 0;
    for (int i = 0; i < f->emitted; i++) leaves += f->branch[f->order[i]].is_leaf;
    if (leaves > INT32_MAX / 8 / width) {
        onnx_unsupported(f->c, "%lld leaves of %lld targets; fewer than 2^28 weights are accepted", (long long)leaves,
                         (long long)width);
        return NULL;
    }
    double *all = NEW_ARRAY(cx->arena, double, leaves * width);
    for (int i = 0; i < f->emitted; i++) {
        const Branch *b = &f->branch[f->order[i]];
        double *own = &all[count * width];
        if (!b->is_leaf) continue;
        for (int64_t k = 0; k < width; k++) own[k] = none;
        for (int p = b->first; p < b->first + b->count; p++) {
            double *w = &own[width == 1 ? 0 : f->pair[p].target];
            *w = none == 0 ? *w + f->pair[p].weight : f->pair[p].weight;
        }
        const int64_t *same = map_get(&known, own, (size_t)width * sizeof *own);
        if (!same) {
            int64_t *mine = NEW(cx->arena, int64_t);
            *mine = count++;
            map_put(&known, own, (size_t)width * sizeof *own, mine);
            same = mine;
        }
        row[i] = *same;
    }
    void *data;
    Tensor *t = tensor_zeros(cx, text_format(cx, "%s_weight", f->c->name), onnx_forest_weights(f), width == 1 ? 1 : 2,
                             (int64_t[]){ count, width }, &data);
    for (int64_t i = 0; t && i < count * width; i++) dtype_store(t->type, data, i, (Scalar){ .f = all[i] });
    return t;
}

static Tensor *reduced(OnnxCall *c, const char *op, Tensor *x, int axis, bool keeps)
{
    return onnx_call(c, op, x, attr_list("axes", axis), attr_flag("keepdims", keeps));
}

/* Columns by target: combines the trees of each. weights: [n][trees], in the order of targets */
static Tensor *by_target(Forest *f, const Aggregate *a, Tensor *weights, const int *count)
{
    OnnxCall *c = f->c;
    const int64_t rows = tensor_dim(f->x, 0), each = f->trees / f->targets;
    bool is_even = true;
    for (int64_t k = 0; k < f->targets; k++) is_even = is_even && count[k] == each;
    if (is_even)
        return reduced(c, a->reduce, onnx_reshape(c, weights, (int64_t[]){ rows, f->targets, each }, 3), 2, false);
    Tensor **parts = NEW_ARRAY(c->cx->arena, Tensor *, f->targets);
    for (int64_t k = 0, t = 0; k < f->targets; t += count[k++]) {
        void *zeros;
        Tensor *own = !count[k] ? NULL : onnx_call(c, "slice", weights, attr_list("axes", 1), attr_list("begin", t),
                                                   attr_list("end", t + count[k]));
        parts[k] = count[k] ? reduced(c, a->reduce, own, 1, true)
                 : tensor_zeros(c->cx, c->name, onnx_forest_weights(f), 2, (int64_t[]){ rows, 1 }, &zeros);
    }
    if (ctx_failed(c->cx)) return NULL;
    return call(c->cx, "concat", c->name, parts, (int)f->targets, ATTRS(attr_int("axis", 1)));
}

Tensor *onnx_forest_scores(Forest *f, const Aggregate *a)
{
    OnnxCall *c = f->c;
    if (f->targets < 1 || f->targets > MOST_TARGETS)
        onnx_unsupported(c, "%lld targets; 1 to %d are accepted", (long long)f->targets, MOST_TARGETS);
    for (int i = 0; i < f->pairs && !ctx_failed(c->cx); i++)
        if (f->pair[i].target < 0 || f->pair[i].target >= f->targets)
            onnx_refuse(c, "a leaf has the target %lld; 0 to %lld are accepted", (long long)f->pair[i].target,
                        (long long)f->targets - 1);
    for (int i = 0; i < f->count && f->targets == 1 && !ctx_failed(c->cx); i++)
        if (f->branch[i].count > 1)
            onnx_refuse(c, "a leaf has %d weights of the one target; one is accepted", f->branch[i].count);
    const bool on_integers = !dtype_is_float(f->x->type);
    for (int i = 0; i < f->count && on_integers; i++) make_integer(&f->branch[i], f->x->type);
    for (int i = 0; i < f->count; i++)
        if (!f->branch[i].is_leaf) f->uses[f->branch[i].compare] = true;
    if (!ctx_failed(c->cx)) unify(f);
    if (!ctx_failed(c->cx)) emit_all(f);
    if (ctx_failed(c->cx)) return NULL;
    int64_t *target = NEW_ARRAY(c->cx->arena, int64_t, f->trees), *row = NEW_ARRAY(c->cx->arena, int64_t, f->emitted);
    const bool is_column = one_target_each(f, target);
    const int *count = is_column ? sort_trees(f, target) : NULL;
    int64_t first = 0;
    Tensor *weights = weight_rows(f, is_column ? 1 : f->targets, a->none, row), *rows = walk(f, row, &first), *y;
    if (!is_column && a->none == 0) y = onnx_call2(c, "tree_sum", weights, rows, attr_int("first", first));
    else {
        if (first) rows = onnx_cast(c, rows, I32);
        if (first) rows = onnx_call2(c, "sub", rows, onnx_scalar_like(c, rows, (double)first));
        Tensor *each = onnx_call2(c, "gather", weights, rows, attr_int("axis", 0));
        y = is_column ? by_target(f, a, each, count) : reduced(c, a->reduce, each, 1, false);
    }
    return a->divides ? onnx_call2(c, "div", y, onnx_scalar_like(c, y, f->trees)) : y;
}
