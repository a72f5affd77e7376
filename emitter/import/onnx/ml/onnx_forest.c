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

enum { MOST_STEPS = 2000, MOST_TARGETS = 4096, MOST_CALLS = 32 /* more steps are one recurrence */ };

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

/* An integer x: x <= v is x < floor(v) + 1, and x < v is x < ceil(v). The negations exchange the branches. */
static void make_integer(Branch *b)
{
    const double bound = b->compare == LE || b->compare == GT ? floor(b->value) + 1 : ceil(b->value);
    if (b->compare == GE || b->compare == GT) {
        const int yes = b->yes;
        b->yes = b->no, b->no = yes;
    }
    b->compare = LT;
    b->value = bound > INT32_MAX ? INT32_MAX : bound > INT32_MIN ? bound : INT32_MIN;        /* NaN: never true */
}

/* ---- The order of the arrays ------------------------------------------------------------------------------------- */

static int emit(Forest *f, int at, int depth);

/* A branch without a true child: continues at `to`, which is elsewhere. */
static int emit_jump(Forest *f, int to)
{
    const int jump = onnx_forest_add(f, (Branch){ .is_jump = true, .yes = -1, .no = to });
    f->branch[jump].at = f->emitted;
    f->order[f->emitted++] = jump;
    return 1 + f->branch[to].depth;
}

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
    if (b->at >= 0) return emit_jump(f, at);
    b->at = f->emitted;
    f->order[f->emitted++] = at;
    if (b->is_leaf) return 0;
    b->is_open = true;
    const int yes = emit(f, b->yes, depth + 1);
    b = &f->branch[at];
    const int no = ctx_failed(f->c->cx) || f->branch[b->no].at >= 0 ? f->branch[b->no].depth
                                                                    : emit(f, b->no, depth + 1);
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
        if (b->is_leaf || b->is_jump) continue;
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

static Tensor *narrow_array(Forest *f, const char *what, const int64_t *v, int count)
{
    Ctx *cx = f->c->cx;
    int64_t least = 0, greatest = 0, shape = count;
    for (int i = 0; i < count; i++) {
        if (v[i] < least) least = v[i];
        if (v[i] > greatest) greatest = v[i];
    }
    const DType type = narrowest(least, greatest);
    void *data;
    Tensor *t = tensor_zeros(cx, text_format(cx, "%s_%s", f->c->name, what), type, 1, &shape, &data);
    for (int i = 0; t && i < count; i++) dtype_store(type, data, i, (Scalar){ .i = v[i] });
    return t;
}

static Tensor *threshold_array(Forest *f)
{
    Ctx *cx = f->c->cx;
    const DType type = f->x->type;
    int64_t shape = f->emitted;
    void *data;
    Tensor *t = tensor_zeros(cx, text_format(cx, "%s_threshold", f->c->name), type, 1, &shape, &data);
    for (int i = 0; t && i < f->emitted; i++) {
        const Branch *b = &f->branch[f->order[i]];
        const bool has_value = !b->is_leaf && !b->is_jump;
        Scalar s = { 0 };
        if (dtype_is_float(type)) s.f = has_value ? b->value : NAN;
        else s.i = has_value ? (int64_t)b->value : type == I64 ? INT64_MIN : INT32_MIN;
        dtype_store(type, data, i, s);
    }
    return t;
}

/* A call per step: nodes are a tensor that each step overwrites. */
static Tensor *by_steps(Forest *f, Tensor *const *in, const int64_t *root)
{
    OnnxCall *c = f->c;
    const int64_t shape[2] = { tensor_dim(f->x, 0), f->trees };
    void *data;
    Tensor *at = tensor_zeros(c->cx, text_format(c->cx, "%s_roots", c->name), f->emitted <= UINT16_MAX ? U16 : I32, 2,
                              shape, &data);
    for (int64_t i = 0; at && i < shape[0] * shape[1]; i++)
        dtype_store(at->type, data, i, (Scalar){ .i = root[i % f->trees] });
    for (int d = 0; d < f->steps && at && !ctx_failed(c->cx); d++)
        at = call(c->cx, "tree_step", c->name, (Tensor *[]){ in[0], at, in[2], in[3], in[4] }, 5,
                  ATTRS(attr_flag("strict", f->uses[LT])));
    return onnx_call2(c, "gather", in[5], at, attr_int("axis", 0));
}

/* Returns the leaf's row of each walk, i32[n][trees]; row: by emitted node. */
static Tensor *walk(Forest *f, const int64_t *row)
{
    OnnxCall *c = f->c;
    int64_t *feature = NEW_ARRAY(c->cx->arena, int64_t, f->emitted),
            *skip = NEW_ARRAY(c->cx->arena, int64_t, f->emitted), *root = NEW_ARRAY(c->cx->arena, int64_t, f->trees);
    for (int i = 0; i < f->emitted; i++) {
        const Branch *b = &f->branch[f->order[i]];
        feature[i] = b->feature;
        skip[i] = b->is_leaf ? 0 : f->branch[b->no].at - i;
    }
    for (int t = 0; t < f->trees; t++) root[t] = f->branch[f->root[t]].at;
    Tensor *in[6] = { f->x, narrow_array(f, "root", root, f->trees), narrow_array(f, "feature", feature, f->emitted),
                      threshold_array(f), narrow_array(f, "skip", skip, f->emitted),
                      narrow_array(f, "row", row, f->emitted) };
    if (ctx_failed(c->cx)) return NULL;
    if (f->steps <= MOST_CALLS) return by_steps(f, in, root);
    return call(c->cx, "tree_walk", c->name, in, 6,
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
    for (int i = 0; i < f->count && on_integers; i++) make_integer(&f->branch[i]);
    for (int i = 0; i < f->count; i++)
        if (!f->branch[i].is_leaf) f->uses[f->branch[i].compare] = true;
    if (!ctx_failed(c->cx)) unify(f);
    if (!ctx_failed(c->cx)) emit_all(f);
    if (ctx_failed(c->cx)) return NULL;
    int64_t *target = NEW_ARRAY(c->cx->arena, int64_t, f->trees), *row = NEW_ARRAY(c->cx->arena, int64_t, f->emitted);
    const bool is_column = one_target_each(f, target);
    const int *count = is_column ? sort_trees(f, target) : NULL;
    Tensor *weights = weight_rows(f, is_column ? 1 : f->targets, a->none, row), *rows = walk(f, row);
    Tensor *each = onnx_call2(c, "gather", weights, rows, attr_int("axis", 0));
    Tensor *y = is_column ? by_target(f, a, each, count) : reduced(c, a->reduce, each, 1, false);
    return a->divides ? onnx_call2(c, "div", y, onnx_scalar_like(c, y, f->trees)) : y;
}
