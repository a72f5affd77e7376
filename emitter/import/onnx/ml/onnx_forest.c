/* SPDX-License-Identifier: MIT */
/* Turns branches into the arrays of the operators forest and tree_walk, and into scores.
 *
 * A walk tests only one kind of condition. If the file has several kinds, `<` and `>` become `<=` and `>=` of the
 * adjacent number, and `>=` becomes `<=` of a negated copy of the features.
 *
 * A leaf adds weights to targets. For sums, the weights other than 0 are stored as pairs of target and weight
 * (`forest`). A list that equals another list or its end is stored only once. In all other cases (least and greatest
 * weights, nodes that several trees share, trees of more than 64 steps), a walk selects the row of each leaf. If all
 * leaves of a tree have the same single target, their weights are a column; otherwise the weights are a row of all
 * targets. Equal rows are stored once. */
#include "import/onnx/ml/onnx_forest.h"

#include <math.h>
#include <stdlib.h>

#include "support/map.h"
#include "support/text.h"

enum { MOST_STEPS = 2000, MOST_TARGETS = 4096, MOST_FOREST_STEPS = 64 };

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

/* Rewrites a condition for an integer x: x <= v becomes x < floor(v) + 1, and x < v becomes x < ceil(v). The negations
 * exchange the branches. If a condition holds for all values of x's type, or for none, both branches lead to the same
 * child. */
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
    else if (!(bound > least)) b->yes = b->no;                                      /* a bound of NaN is never true */
    b->value = bound > least && bound < end ? bound : 0;
}

/* ---- The order of the arrays ------------------------------------------------------------------------------------- */

/* Returns a child of the branch that is not in the order yet, or -1 if there is none. Tries the child of `no` first. */
static int next_branch(const Forest *f, const Branch *b)
{
    if (b->is_leaf) return -1;
    if (f->branch[b->no].at < 0) return b->no;
    return f->branch[b->yes].at < 0 ? b->yes : -1;
}

static bool may_follow(const Forest *f, int at, int depth)
{
    if (f->branch[at].is_open) onnx_refuse(f->c, "the nodes of a tree have a cycle; write a tree without cycles");
    else if (depth > MOST_STEPS)
        onnx_refuse(f->c, "a tree is more than %d nodes deep; use a shallower tree", MOST_STEPS);
    return !ctx_failed(f->c->cx);
}

static void place(Forest *f, int at)
{
    Branch *b = &f->branch[at];
    if (!b->is_leaf) {
        const int no = f->branch[b->no].depth, yes = f->branch[b->yes].depth;
        b->depth = 1 + (yes > no ? yes : no);
    }
    b->is_open = false;
    b->at = f->emitted;
    f->order[f->emitted++] = at;
}

/* Appends all branches below the root, then the root itself. Returns the number of steps to the deepest leaf. */
static int append(Forest *f, int root)
{
    int *path = NEW_ARRAY(f->c->cx->arena, int, MOST_STEPS + 1), depth = 0;
    path[0] = root;
    while (depth >= 0 && f->branch[root].at < 0) {
        Branch *b = &f->branch[path[depth]];
        const int next = next_branch(f, b);
        b->is_open = next >= 0;
        if (next >= 0 && !may_follow(f, next, depth + 1)) return 0;
        if (next >= 0) path[++depth] = next;
        else place(f, path[depth--]);
    }
    return f->branch[root].depth;
}

/* Orders the branches so that each precedes its successors, even if several branches share a successor. Appends each
 * branch after its successors, then reverses the order. */
static void emit_all(Forest *f)
{
    f->order = NEW_ARRAY(f->c->cx->arena, int, f->count);
    f->end = NEW_ARRAY(f->c->cx->arena, int, f->trees);
    for (int t = 0, begin = 0; t < f->trees && !ctx_failed(f->c->cx); begin = f->end[t++]) {
        const int steps = append(f, f->root[t]);
        if (steps > f->steps) f->steps = steps;
        f->end[t] = f->emitted;
        for (int i = begin, j = f->emitted - 1; i < j; i++, j--) {
            const int first = f->order[i];
            f->order[i] = f->order[j];
            f->order[j] = first;
        }
        for (int i = begin; i < f->emitted; i++) f->branch[f->order[i]].at = i;
    }
    if (!f->steps) f->steps = 1;
}

/* ---- One kind of condition --------------------------------------------------------------------------------------- */

static double adjacent(const Forest *f, double v, double towards)
{
    return f->x->type == F64 ? nextafter(v, towards) : (double)nextafterf((float)v, (float)towards);
}

/* Replaces x < v by x <= the number before v. */
static void without_equal(const Forest *f, Branch *b)
{
    if (b->compare == LT) b->value = adjacent(f, b->value, -INFINITY), b->compare = LE;
    if (b->compare == GT) b->value = adjacent(f, b->value, INFINITY), b->compare = GE;
}

/* Replaces x >= v by -x <= -v. */
static void negate(Forest *f, Branch *b, bool mirrors)
{
    if (b->compare != GE && b->compare != GT) return;
    b->value = -b->value;
    b->compare = b->compare == GE ? LE : LT;
    if (mirrors) b->feature += tensor_dim(f->x, 1);
}

/* Keeps only one of LE and LT; sets x to the features that the conditions compare. */
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

/* Returns the thresholds of the nodes; integers are stored in the narrowest type. */
static Tensor *threshold_array(Forest *f, const int *node, int nodes)
{
    Ctx *cx = f->c->cx;
    DType type = f->x->type;
    int64_t shape = nodes, *whole = NEW_ARRAY(cx->arena, int64_t, nodes);
    void *data;
    for (int k = 0; k < nodes && !dtype_is_float(type); k++)
        whole[k] = node[k] < 0 ? 0 : (int64_t)f->branch[node[k]].value;
    const DType narrow = type_of(whole, nodes);
    if (!dtype_is_float(type) && dtype_info(narrow)->bytes < dtype_info(type)->bytes && dtype_info(type)->bytes <= 4)
        type = narrow;
    Tensor *t = tensor_zeros(cx, text_format(cx, "%s_threshold", f->c->name), type, 1, &shape, &data);
    for (int k = 0; t && k < nodes; k++)
        dtype_store(type, data, k, dtype_is_float(type)
                    ? (Scalar){ .f = node[k] < 0 ? 0 : f->branch[node[k]].value } : (Scalar){ .i = whole[k] });
    return t;
}

/* The operands of tree_walk. A forest that consists only of leaves has one node, which no link reaches. */
typedef struct Walk { bool is_forward; Tensor *in[5]; } Walk;

/* Returns the operands of a walk. row: the rows of leaves, by emitted branch. is_forward becomes true if all links lead
 * to later nodes. */
static Walk lay_out(Forest *f, const int64_t *row)
{
    Arena *arena = f->c->cx->arena;
    Walk w = { .is_forward = true, .in = { f->x } };
    int nodes = 0, *node = NEW_ARRAY(arena, int, f->emitted + 1);
    int64_t *root = NEW_ARRAY(arena, int64_t, f->trees), *link = NEW_ARRAY(arena, int64_t, f->emitted),
            *feature = NEW_ARRAY(arena, int64_t, f->emitted + 1),
            *child = NEW_ARRAY(arena, int64_t, 2 * f->emitted + 2);
    for (int i = 0; i < f->emitted; i++) {
        const bool is_leaf = f->branch[f->order[i]].is_leaf;
        link[i] = is_leaf ? -1 - row[i] : nodes;
        if (!is_leaf) node[nodes++] = f->order[i];
    }
    if (!nodes) node[nodes++] = -1;
    for (int k = 0; k < nodes && node[k] >= 0; k++) {
        const Branch *b = &f->branch[node[k]];
        feature[k] = b->feature;
        child[2 * k] = link[f->branch[b->yes].at], child[2 * k + 1] = link[f->branch[b->no].at];
        for (int side = 0; side < 2; side++)
            w.is_forward = w.is_forward && (child[2 * k + side] < 0 || child[2 * k + side] > k);
    }
    for (int t = 0; t < f->trees; t++) root[t] = link[f->branch[f->root[t]].at];
    const DType type = type_of(link, f->emitted);
    w.in[1] = narrow_array(f, "root", root, f->trees, type);
    w.in[2] = narrow_array(f, "feature", feature, nodes, type_of(feature, nodes));
    w.in[3] = threshold_array(f, node, nodes);
    w.in[4] = onnx_reshape(f->c, narrow_array(f, "child", child, 2 * nodes, type), (int64_t[]){ nodes, 2 }, 2);
    return w;
}

/* Returns the row of each walk's leaf, an i32[n][trees]. row: the rows by emitted branch. */
static Tensor *walk(Forest *f, const int64_t *row)
{
    OnnxCall *c = f->c;
    Walk w = lay_out(f, row);
    if (ctx_failed(c->cx)) return NULL;
    return call(c->cx, "tree_walk", c->name, w.in, 5,
                ATTRS(attr_int("steps", f->steps), attr_flag("strict", f->uses[LT])));
}

/* ---- Leaves ------------------------------------------------------------------------------------------------------ */

/* Values in place of the target that leaves share: NO_TARGET if no leaf has a weight, SEVERAL_TARGETS if there is more
 * than one. */
enum { NO_TARGET = -2, SEVERAL_TARGETS = -1 };

static int64_t target_of_both(int64_t a, int64_t b)
{
    if (a == NO_TARGET || a == b) return b;
    return b == NO_TARGET ? a : SEVERAL_TARGETS;
}

static int64_t target_of_leaf(const Forest *f, const Branch *b)
{
    return b->count > 1 ? SEVERAL_TARGETS : b->count ? f->pair[b->first].target : NO_TARGET;
}

/* Sets the target of each tree; returns false if a tree has several targets. The children of a branch are after it in
 * its tree, or in an earlier tree. */
static bool one_target_each(const Forest *f, int64_t *target)
{
    int64_t *below = NEW_ARRAY(f->c->cx->arena, int64_t, f->emitted);
    for (int t = 0, begin = 0; t < f->trees; begin = f->end[t++]) {
        for (int i = f->end[t] - 1; i >= begin; i--) {
            const Branch *b = &f->branch[f->order[i]];
            below[i] = b->is_leaf ? target_of_leaf(f, b)
                                  : target_of_both(below[f->branch[b->yes].at], below[f->branch[b->no].at]);
        }
        target[t] = below[f->branch[f->root[t]].at];
        if (target[t] == SEVERAL_TARGETS) return false;
        if (target[t] == NO_TARGET) target[t] = 0;
    }
    return true;
}

const Aggregate onnx_aggregates[AGGREGATES] = {
    { "AVERAGE", "reduce_sum", 0, true }, { "SUM", "reduce_sum", 0, false }, { "MIN", "reduce_min", INFINITY, false },
    { "MAX", "reduce_max", -INFINITY, false }
};

DType onnx_forest_weights(const Forest *f) { return f->x->type == F64 ? F64 : F32; }

/* Sorts trees by target, in a stable way; returns the number of trees of each target. */
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

/* Lists rows of `width` weights and stores equal rows once; sets row by emitted node. */
static Tensor *weight_rows(Forest *f, int64_t width, double none, int64_t *row)
{
    Ctx *cx = f->c->cx;
    Map known = map_new(cx->arena);
    int64_t leaves = 0, count = 0;
    for (int i = 0; i < f->emitted; i++) leaves += f->branch[f->order[i]].is_leaf;
    if (leaves > INT32_MAX / 8 / width) {
        onnx_unsupported(f->c, "the trees have %lld leaves of %lld targets; use fewer than 2^28 weights",
                               (long long)leaves,
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
            const double v = f->pair[p].weight;
            *w = none == 0 ? *w + v : (none > 0 ? v < *w : v > *w) ? v : *w;
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

/* Combines the trees of each target into one column. weights: [n][trees], in the order of targets */
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

/* Replaces the result of MIN or MAX by 0 if no leaf has a weight of the target. */
static Tensor *without_none(OnnxCall *c, Tensor *y, const Tensor *weights, double none)
{
    bool has_none = false;
    for (int64_t i = 0; weights && i < tensor_elems(weights) && !has_none; i++)
        has_none = dtype_load(weights->type, weights->data, i).f == none;
    if (!has_none || !y) return y;
    Tensor *number = onnx_scalar_like(c, y, 0);
    return onnx_select(c, onnx_call2(c, "equal", y, onnx_scalar_like(c, y, none)), number, y);
}

static Tensor *by_rows(Forest *f, const Aggregate *a)
{
    OnnxCall *c = f->c;
    int64_t *target = NEW_ARRAY(c->cx->arena, int64_t, f->trees), *row = NEW_ARRAY(c->cx->arena, int64_t, f->emitted);
    const bool is_column = one_target_each(f, target);
    const int *count = is_column ? sort_trees(f, target) : NULL;
    Tensor *weights = weight_rows(f, is_column ? 1 : f->targets, a->none, row), *rows = walk(f, row);
    if (!is_column && a->none == 0) return onnx_call2(c, "tree_sum", weights, rows);
    Tensor *each = onnx_call2(c, "gather", weights, rows, attr_int("axis", 0));
    Tensor *y = is_column ? by_target(f, a, each, count) : reduced(c, a->reduce, each, 1, false);
    return a->none == 0 ? y : without_none(c, y, weights, a->none);
}

/* ---- Leaves as pairs --------------------------------------------------------------------------------------------- */

typedef struct Pairs { Map known; int count, most; int64_t *column; double *value; } Pairs;

/* Compares pairs by target, then by their position in the file. */
static int by_target_of(const void *a, const void *b)
{
    const Pair *p = a, *q = b;
    return p->target != q->target ? p->target < q->target ? -1 : 1 : p->leaf < q->leaf ? -1 : p->leaf > q->leaf;
}

/* Returns the index of the first pair of a list. Stores the list, unless it was stored before as a whole or as the end
 * of a longer list. */
static int64_t put_pairs(Forest *f, Pairs *p, const Pair *list, int count)
{
    Arena *arena = f->c->cx->arena;
    double *key = NEW_ARRAY(arena, double, 2 * count);
    for (int i = 0; i < count; i++) key[2 * i] = (double)list[i].target, key[2 * i + 1] = list[i].weight;
    const int64_t *same = map_get(&p->known, key, 2 * (size_t)count * sizeof *key);
    if (same) return *same;
    const int first = p->count;
    for (int i = 0; i < count; i++, p->count++) {
        p->column[p->count] = list[i].target + (i + 1 < count ? f->targets : 0);
        p->value[p->count] = list[i].weight;
        int64_t *at = NEW(arena, int64_t);
        *at = first + i;
        const size_t bytes = 2 * (size_t)(count - i) * sizeof *key;
        if (!map_get(&p->known, key + 2 * i, bytes)) map_put(&p->known, key + 2 * i, bytes, at);
    }
    if (count > p->most) p->most = count;
    return first;
}

/* Lists the weights of a leaf by target, each target once and without zeros; a leaf without weights has one pair with
 * weight 0. */
static int pairs_of(const Forest *f, const Branch *b, Pair *list)
{
    int count = 0, left = 0;
    for (int i = 0; i < b->count; i++) {
        const Pair *own = &f->pair[b->first + i];
        list[i] = (Pair){ .leaf = i, .target = own->target, .weight = own->weight };
    }
    if (b->count > 1) qsort(list, (size_t)b->count, sizeof *list, by_target_of);
    for (int i = 0; i < b->count; i++) {
        if (count && list[count - 1].target == list[i].target) list[count - 1].weight += list[i].weight;
        else list[count++] = list[i];
    }
    for (int i = 0; i < count; i++)
        if (!(list[i].weight == 0)) list[left++] = list[i];
    if (!left) list[left++] = (Pair){ .target = 0 };
    return left;
}

/* Computes sums as one call; returns NULL if nodes are shared, or trees are too deep. */
static Tensor *by_pairs(Forest *f)
{
    OnnxCall *c = f->c;
    Arena *arena = c->cx->arena;
    if (f->steps > MOST_FOREST_STEPS) return NULL;
    Pair *list = NEW_ARRAY(arena, Pair, f->pairs + 1);
    int64_t *row = NEW_ARRAY(arena, int64_t, f->emitted);
    int room = 0;
    for (int i = 0; i < f->emitted; i++) {
        const Branch *b = &f->branch[f->order[i]];
        room += b->is_leaf ? b->count + 1 : 0;
    }
    Pairs p = { map_new(arena), .column = NEW_ARRAY(arena, int64_t, room), .value = NEW_ARRAY(arena, double, room) };
    for (int i = 0; i < f->emitted; i++) {
        const Branch *b = &f->branch[f->order[i]];
        if (b->is_leaf) row[i] = put_pairs(f, &p, list, pairs_of(f, b, list));
    }
    const Walk w = lay_out(f, row);
    if (!w.is_forward || ctx_failed(c->cx)) return NULL;
    void *data;
    int64_t shape = p.count;
    Tensor *value = tensor_zeros(c->cx, text_format(c->cx, "%s_value", c->name), onnx_forest_weights(f), 1, &shape,
                                 &data);
    for (int i = 0; value && i < p.count; i++) dtype_store(value->type, data, i, (Scalar){ .f = p.value[i] });
    Tensor *in[7] = { w.in[0], w.in[1], w.in[2], w.in[3], w.in[4],
                      narrow_array(f, "column", p.column, p.count, type_of(p.column, p.count)), value };
    return call(c->cx, "forest", c->name, in, 7,
                ATTRS(attr_int("steps", f->steps), attr_flag("strict", f->uses[LT]), attr_int("columns", f->targets),
                      attr_int("pairs", p.most)));
}

Tensor *onnx_forest_scores(Forest *f, const Aggregate *a)
{
    OnnxCall *c = f->c;
    if (f->targets < 1 || f->targets > MOST_TARGETS)
        onnx_unsupported(c, "there are %lld targets; use 1 to %d targets", (long long)f->targets, MOST_TARGETS);
    for (int i = 0; i < f->pairs && !ctx_failed(c->cx); i++)
        if (f->pair[i].target < 0 || f->pair[i].target >= f->targets)
            onnx_refuse(c, "a leaf has the target %lld; use a target from 0 to %lld", (long long)f->pair[i].target,
                        (long long)f->targets - 1);
    /* Several weights of one leaf and target are combined like those of several trees. If there is a single target,
     * only the first weight is read, as in ONNX Runtime; the specification does not define this case. */
    for (int i = 0; i < f->count && f->targets == 1; i++)
        if (f->branch[i].count > 1) f->branch[i].count = 1;
    const bool on_integers = !dtype_is_float(f->x->type);
    for (int i = 0; i < f->count && on_integers; i++) make_integer(&f->branch[i], f->x->type);
    for (int i = 0; i < f->count; i++)
        if (!f->branch[i].is_leaf) f->uses[f->branch[i].compare] = true;
    if (!ctx_failed(c->cx)) unify(f);
    if (!ctx_failed(c->cx)) emit_all(f);
    if (ctx_failed(c->cx)) return NULL;
    Tensor *y = a->none == 0 ? by_pairs(f) : NULL;
    if (!y) y = ctx_failed(c->cx) ? NULL : by_rows(f, a);
    return a->divides ? onnx_call2(c, "div", y, onnx_scalar_like(c, y, f->trees)) : y;
}
