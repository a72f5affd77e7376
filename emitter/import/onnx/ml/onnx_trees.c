/* SPDX-License-Identifier: MIT */
/* Reads ensembles of decision trees, as the file has them:
 *
 *   TreeEnsembleClassifier, TreeEnsembleRegressor   nodes with ids per tree; leaves are also nodes
 *   TreeEnsemble                                    nodes and leaves by index
 *
 * A missing value, NaN, must follow the branch of a false condition. If the file sends NaN to the other branch, the
 * condition is negated. Equality becomes two conditions; each member of a set also becomes two conditions. */
#include <math.h>
#include <string.h>

#include "import/onnx/ml/onnx_forest.h"
#include "import/onnx/ml/onnx_ml.h"
#include "support/map.h"
#include "support/text.h"

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

/* Reads the real numbers of an attribute: of the list NAME, or of the tensor NAME_as_tensor (or NAME itself). */
typedef struct Reals { int count; const double *at; } Reals;

static Reals reals_of(OnnxCall *c, const char *attr)
{
    const OnnxAttr *list = onnx_attr(c, attr), *tensor = onnx_attr(c, text_format(c->cx, "%s_as_tensor", attr));
    if (list && list->tensor) tensor = list;
    if (list && list->real_count) return (Reals){ list->real_count, list->reals };
    Tensor *t = tensor && tensor->tensor ? onnx_tensor_read(c->cx, tensor->tensor, c->folder) : NULL;
    if (!t) return (Reals){ 0, NULL };
    double *all = NEW_ARRAY(c->cx->arena, double, tensor_elems(t));
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        const Scalar s = dtype_load(t->type, t->data, i);
        all[i] = dtype_is_float(t->type) ? s.f : (double)s.i;
    }
    return (Reals){ (int)tensor_elems(t), all };
}

/* Returns the integers of an attribute, or NULL if it is absent and not required. Refuses a count that differs from
 * `count`. */
static const int64_t *ints_of(OnnxCall *c, const char *attr, int count, bool is_required)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    if ((!a || !a->int_count) && !is_required) return NULL;
    const int found = a ? a->int_count : 0;
    if (found != count) onnx_refuse(c, "'%s' has %d values; use %d values", attr, found, count);
    return a && !ctx_failed(c->cx) ? a->ints : NULL;
}

static int int_count(OnnxCall *c, const char *attr)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->int_count : 0;
}

/* ---- Branches ---------------------------------------------------------------------------------------------------- */

static Branch condition(const Branch *like, Compare compare, double value, int yes, int no)
{
    return (Branch){ .feature = like->feature, .compare = compare, .value = value, .yes = yes, .no = no,
                     .at = -1 };
}

/* Tests x == value, which is false for NaN: x <= value && !(x < value). */
static Branch equality(Forest *f, const Branch *b, double value, int yes, int no)
{
    return condition(b, LE, value, onnx_forest_add(f, condition(b, LT, value, no, yes)), no);
}

/* Makes node `at` lead to `to` for NaN only: all numbers are less than or equal to infinity, but NaN is not. */
static void send_missing(Forest *f, int at, int to)
{
    const int rest = onnx_forest_add(f, f->branch[at]);
    f->branch[at] = condition(&f->branch[rest], LE, INFINITY, rest, to);
}

/* The modes of the file, with the numbers of TreeEnsemble; LEAF occurs only in the older operators. */
enum { MODE_LEQ, MODE_LT, MODE_GTE, MODE_GT, MODE_EQ, MODE_NEQ, MODE_MEMBER, MODE_LEAF, MODES };
static const char *const mode_names[MODES] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ",
                                               "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF" };
static const struct { Compare compare, negated; } ordering[] = { [MODE_LEQ] = { LE, GT },
                                                                 [MODE_LT] = { LT, GE },
                                                                 [MODE_GTE] = { GE, LT },
                                                                 [MODE_GT] = { GT, LE } };

/* Sets the condition of branch `at`, which already has feature, value, yes and no of the file. members: the set of a
 * BRANCH_MEMBER. */
static void set_condition(Forest *f, int at, int mode, bool missing_is_true, Reals members)
{
    const Branch b = f->branch[at];
    if (mode <= MODE_GT) {
        f->branch[at].compare = missing_is_true ? ordering[mode].negated : ordering[mode].compare;
        if (missing_is_true) f->branch[at].yes = b.no, f->branch[at].no = b.yes;
        return;
    }
    if (mode == MODE_NEQ) {
        const Branch equal = equality(f, &b, b.value, b.no, b.yes);
        f->branch[at] = equal;
        return;
    }
    int no = b.no;
    for (int i = members.count - 1; i > 0; i--) {
        const Branch member = equality(f, &b, members.at[i], b.yes, no);
        no = onnx_forest_add(f, member);
    }
    const Branch first = equality(f, &b, mode == MODE_EQ ? b.value : members.at[0], b.yes, no);
    f->branch[at] = first;
    if (missing_is_true) send_missing(f, at, b.yes);
}

/* ---- Reading the file's arrays ----------------------------------------------------------------------------------- */

static int mode_of(OnnxCall *c, const char *word)
{
    for (int m = 0; m < MODES; m++)
        if (m != MODE_MEMBER && strcmp(mode_names[m], word) == 0) return m;
    onnx_refuse(c, "'nodes_modes' has the word \"%s\"; use one of BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, "
                "BRANCH_EQ, BRANCH_NEQ, LEAF", word);
    return MODE_LEAF;
}

/* Reads the input, which has rows of features. Integers that a Cast converts are compared as integers. */
static bool open_forest(OnnxCall *c, Forest *f)
{
    if (!onnx_requires(c, 1)) return false;
    Tensor *narrow = onnx_before_cast(c, 0), *x = narrow ? narrow : c->in[0];
    if (x->type == BOOL || x->type == U64 || (x->rank != 1 && x->rank != 2)) {
        onnx_refuse(c, "the input is %s of %s; use [features] or [n][features] of a type other than bool and u64",
                    tensor_shape_text(c->cx, x), dtype_info(x->type)->spelling);
        return false;
    }
    if (x->rank == 1) x = onnx_reshape(c, x, (int64_t[]){ 1, -1 }, 2);
    if (x->type == U32) x = onnx_cast(c, x, I64);
    else if (x->type == F16 || x->type == BF16) x = onnx_cast(c, x, F32);
    *f = (Forest){ .c = c, .x = x };
    return !ctx_failed(c->cx);
}

/* Refuses a feature that the input lacks; marks the branch's children. Branches may share a child, for example the
 * branches of LightGBM's sets of categories. */
static void check_branch(Forest *f, int at, bool *has_parent)
{
    const Branch *b = &f->branch[at];
    if (b->is_leaf || ctx_failed(f->c->cx)) return;
    if (b->feature < 0 || b->feature >= tensor_dim(f->x, 1))
        onnx_refuse(f->c, "a node tests feature %lld; use a feature from 0 to %lld", (long long)b->feature,
                    (long long)tensor_dim(f->x, 1) - 1);
    has_parent[b->yes] = has_parent[b->no] = true;
}

/* Uses the listed nodes as roots. */
static void take_roots(Forest *f, const int64_t *root, int count)
{
    f->root = NEW_ARRAY(f->c->cx->arena, int, count);
    for (int i = 0; i < count && !ctx_failed(f->c->cx); i++) {
        if (root[i] < 0 || root[i] >= f->count)
            onnx_refuse(f->c, "'tree_roots' has the node %lld; use a node from 0 to %d",
                              (long long)root[i], f->count - 1);
        f->root[f->trees++] = (int)root[i];
    }
}

/* Finds roots: branches without a parent, in order. */
static void find_roots(Forest *f)
{
    bool *has_parent = NEW_ARRAY(f->c->cx->arena, bool, f->count);
    f->root = NEW_ARRAY(f->c->cx->arena, int, f->count);
    for (int i = 0; i < f->count; i++) check_branch(f, i, has_parent);
    for (int i = 0; i < f->count; i++)
        if (!has_parent[i]) f->root[f->trees++] = i;
    if (!f->trees && !ctx_failed(f->c->cx)) onnx_refuse(f->c, "there is no root; use at least one tree");
}

/* Refuses a second root of a tree. tree: the tree of each node in the file. */
static void check_roots(Forest *f, const int64_t *tree)
{
    Map known = map_new(f->c->cx->arena);
    for (int t = 0; t < f->trees && !ctx_failed(f->c->cx); t++) {
        const int64_t *own = &tree[f->root[t]];
        if (map_get(&known, own, sizeof *own))
            onnx_refuse(f->c, "tree %lld has two nodes without a parent; use one root per tree", (long long)*own);
        map_put(&known, own, sizeof *own, f);
    }
}

/* Sorts the pairs by leaf, in a stable way, and assigns them to their leaves. */
static void assign_pairs(Forest *f, const Pair *pairs, int count)
{
    Ctx *cx = f->c->cx;
    int *next = NEW_ARRAY(cx->arena, int, f->count + 1);
    f->pair = NEW_ARRAY(cx->arena, Pair, count);
    f->pairs = count;
    for (int i = 0; i < count; i++) f->branch[pairs[i].leaf].count++;
    for (int i = 0; i < f->count; i++) {
        f->branch[i].first = next[i];
        next[i + 1] = next[i] + f->branch[i].count;
    }
    for (int i = 0; i < count; i++) f->pair[next[pairs[i].leaf]++] = pairs[i];
}

/* The key of a node in the map: the number of its tree, and its number in the tree. */
typedef struct NodeKey { int64_t tree, node; } NodeKey;

static int find_node(Forest *f, const Map *nodes, int64_t tree, int64_t node, const char *attr)
{
    const NodeKey key = { tree, node };
    const int *at = map_get(nodes, &key, sizeof key);
    if (!at && !ctx_failed(f->c->cx))
        onnx_refuse(f->c, "'%s' has node %lld of tree %lld, which 'nodes_nodeids' does not have", attr, (long long)node,
                    (long long)tree);
    return at ? *at : 0;
}

/* Reads the pairs of a classifier (prefix "class") or a regressor ("target"). */
static void read_pairs(Forest *f, const Map *nodes, const char *prefix)
{
    OnnxCall *c = f->c;
    const char *trees = text_format(c->cx, "%s_treeids", prefix), *ids = text_format(c->cx, "%s_nodeids", prefix),
               *targets = text_format(c->cx, "%s_ids", prefix), *weights = text_format(c->cx, "%s_weights", prefix);
    const Reals weight = reals_of(c, weights);
    const int64_t *tree = ints_of(c, trees, weight.count, true), *id = ints_of(c, ids, weight.count, true),
                  *target = ints_of(c, targets, weight.count, true);
    Pair *pairs = NEW_ARRAY(c->cx->arena, Pair, weight.count);
    for (int i = 0; i < weight.count && !ctx_failed(c->cx); i++)
        pairs[i] = (Pair){ find_node(f, nodes, tree[i], id[i], ids), target[i], weight.at[i] };
    if (!ctx_failed(c->cx)) assign_pairs(f, pairs, weight.count);
}

/* Reads the nodes of a classifier or regressor, by ids. */
static void read_nodes(Forest *f, const char *prefix)
{
    OnnxCall *c = f->c;
    const int count = int_count(c, "nodes_nodeids");
    const int64_t *tree = ints_of(c, "nodes_treeids", count, true), *id = ints_of(c, "nodes_nodeids", count, true),
                  *feature = ints_of(c, "nodes_featureids", count, true),
                  *yes = ints_of(c, "nodes_truenodeids", count, true),
                  *no = ints_of(c, "nodes_falsenodeids", count, true),
                  *missing = ints_of(c, "nodes_missing_value_tracks_true", count, false);
    const OnnxAttr *modes = onnx_attr(c, "nodes_modes");
    const Reals value = reals_of(c, "nodes_values");
    const int mode_count = modes ? modes->text_count : 0;
    if (!count) onnx_refuse(c, "there are no nodes; use at least one node");
    if (mode_count != count)
        onnx_refuse(c, "there are %d 'nodes_modes' for %d nodes; use one per node", mode_count, count);
    if (value.count != count)
        onnx_refuse(c, "there are %d 'nodes_values' for %d nodes; use one per node", value.count, count);
    if (ctx_failed(c->cx)) return;
    Map nodes = map_new(c->cx->arena);
    int *at = NEW_ARRAY(c->cx->arena, int, count), *mode = NEW_ARRAY(c->cx->arena, int, count);
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) {
        const NodeKey key = { tree[i], id[i] };
        mode[i] = mode_of(c, modes->texts[i]);
        at[i] = onnx_forest_add(f, (Branch){ .is_leaf = mode[i] == MODE_LEAF, .feature = feature[i],
                                             .value = value.at[i], .yes = -1, .no = -1 });
        if (map_get(&nodes, &key, sizeof key))
            onnx_refuse(c, "node %lld of tree %lld is given twice; give it once", (long long)id[i],
                        (long long)tree[i]);
        map_put(&nodes, arena_copy(c->cx->arena, &key, sizeof key), sizeof key, &at[i]);
    }
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) {
        if (mode[i] == MODE_LEAF) continue;
        f->branch[i].yes = find_node(f, &nodes, tree[i], yes[i], "nodes_truenodeids");
        f->branch[i].no = find_node(f, &nodes, tree[i], no[i], "nodes_falsenodeids");
    }
    if (!ctx_failed(c->cx)) find_roots(f);
    if (!ctx_failed(c->cx)) check_roots(f, tree);
    if (!ctx_failed(c->cx)) read_pairs(f, &nodes, prefix);
    for (int i = 0; i < count && !ctx_failed(c->cx); i++)
        if (mode[i] != MODE_LEAF) set_condition(f, i, mode[i], missing && missing[i], (Reals){ 0, NULL });
}

/* ---- The operators ----------------------------------------------------------------------------------------------- */

static Tensor *reals_tensor(Forest *f, Reals r)
{
    int64_t shape = r.count;
    void *data;
    Tensor *t = tensor_zeros(f->c->cx, text_format(f->c->cx, "%s_base", f->c->name), onnx_forest_weights(f), 1, &shape,
                             &data);
    for (int i = 0; t && i < r.count; i++) dtype_store(t->type, data, i, (Scalar){ .f = r.at[i] });
    return t;
}

static Tensor *with_base(Forest *f, Tensor *y, Reals base)
{
    if (!base.count) return y;
    if (base.count != f->targets && base.count != 1)
        onnx_refuse(f->c, "there are %d 'base_values' for %lld targets; use one value per target", base.count,
                    (long long)f->targets);
    return onnx_call2(f->c, "add", y, reals_tensor(f, base));
}

static const Aggregate *aggregate_named(OnnxCall *c)
{
    const char *word = onnx_text(c, "aggregate_function", "SUM");
    for (int i = 0; i < AGGREGATES; i++)
        if (strcmp(onnx_aggregates[i].name, word) == 0) return &onnx_aggregates[i];
    onnx_refuse(c, "'aggregate_function' is \"%s\"; use one of AVERAGE, SUM, MIN, MAX", word);
    return &onnx_aggregates[AGGREGATE_SUM];
}

static void regressor(OnnxCall *c)
{
    Forest f;
    const Aggregate *a = aggregate_named(c);
    if (!open_forest(c, &f)) return;
    f.targets = onnx_int(c, "n_targets", 1);
    read_nodes(&f, "target");
    if (ctx_failed(c->cx)) return;
    const Reals base_values = reals_of(c, "base_values");
    Tensor *y = with_base(&f, onnx_forest_scores(&f, a), base_values);
    c->out[0] = onnx_cast(c, onnx_regressed(c, y, onnx_text(c, "post_transform", "NONE")), F32);
}

/* The scores of a classifier with two classes, as in ONNX Runtime. A class without weights has no score, and one score
 * may stand for both classes. */
typedef struct Pairwise { Tensor *score[2], *positive; bool is_single; } Pairwise;

static Tensor *column(OnnxCall *c, Tensor *scores, int64_t k)
{
    return onnx_call(c, "slice", scores, attr_list("axes", 1), attr_list("begin", k), attr_list("end", k + 1));
}

static Tensor *plus(OnnxCall *c, Tensor *x, double v) { return onnx_call2(c, "add", x, onnx_scalar_like(c, x, v)); }

static Pairwise pairwise(OnnxCall *c, Tensor *scores, const bool *has, Reals base)
{
    Tensor *first_score = has[0] ? column(c, scores, 0) : NULL;
    Pairwise p = { { first_score, has[1] ? column(c, scores, 1) : NULL }, NULL, false };
    if (base.count == 2 && has[1]) {
        Tensor *zero = onnx_call2(c, "mul", p.score[1], onnx_scalar_like(c, p.score[1], 0));
        p.score[1] = plus(c, has[0] ? p.score[0] : zero, base.at[1]);
        if (has[0]) p.score[0] = onnx_call(c, "neg", p.score[1]);
    } else if (base.count && has[0]) p.score[0] = plus(c, p.score[0], base.at[0]);
    p.is_single = !has[1] && base.count != 2;
    p.positive = p.score[has[1] ? 1 : 0];
    return p;
}

static void two_classes(OnnxCall *c, Forest *f, Tensor *scores, Reals base)
{
    bool has[2] = { false, false }, is_probability = true;
    const char *post = onnx_text(c, "post_transform", "NONE");
    for (int i = 0; i < f->pairs; i++) {
        has[f->pair[i].target] = true;
        is_probability = is_probability && f->pair[i].weight >= 0;
    }
    if (!has[0] && !has[1]) onnx_refuse(c, "no leaf has a weight; give at least one leaf a weight");
    if (ctx_failed(c->cx)) return;
    const Pairwise p = pairwise(c, scores, has, base);
    const bool is_both = has[0] && has[1];
    Tensor *limit = onnx_scalar_like(c, p.positive, !is_both && is_probability ? 0.5 : 0);
    Tensor *exceeds = onnx_call2(c, "greater", p.positive, limit),
           *index = onnx_cast(c, onnx_reshape(c, exceeds, (int64_t[]){ -1 }, 1), I64);
    c->out[0] = is_both ? index : onnx_class_labels(c, index, "classlabels_int64s");
    if (p.is_single) {
        c->out[1] = onnx_two_columns(c, p.score[0], post, is_probability);
        return;
    }
    Tensor *zero = onnx_call2(c, "mul", p.positive, onnx_scalar_like(c, p.positive, 0));
    c->out[1] = onnx_post_transform(c, onnx_call2(c, "concat", p.score[0] ? p.score[0] : zero,
                                                  p.score[1] ? p.score[1] : zero, attr_int("axis", 1)), post);
}

/* Handles a single class: its label states whether the score exceeds 0, as in ONNX Runtime; a name has the index 0. */
static void one_class(OnnxCall *c, Tensor *score)
{
    if (!score || ctx_failed(c->cx)) return;
    const OnnxAttr *names = onnx_attr(c, "classlabels_strings");
    Tensor *exceeds = onnx_call2(c, "greater", score, onnx_scalar_like(c, score, 0)),
           *label = onnx_cast(c, onnx_reshape(c, exceeds, (int64_t[]){ -1 }, 1), I64);
    c->out[0] = names && names->text_count ? onnx_class_labels(c, onnx_best_class(c, score), "classlabels_int64s")
                                           : label;
    c->out[1] = onnx_regressed(c, score, onnx_text(c, "post_transform", "NONE"));
}

static void classifier(OnnxCall *c)
{
    Forest f;
    if (!open_forest(c, &f)) return;
    f.targets = onnx_class_count(c, "classlabels_int64s");
    read_nodes(&f, "class");
    const Reals base = reals_of(c, "base_values");
    Tensor *scores = ctx_failed(c->cx) ? NULL : onnx_forest_scores(&f, &onnx_aggregates[AGGREGATE_SUM]);
    if (!scores) return;
    if (f.targets == 2) two_classes(c, &f, scores, base);
    else if (f.targets == 1) one_class(c, with_base(&f, scores, base));
    else {
        scores = with_base(&f, scores, base);
        c->out[0] = onnx_class_labels(c, onnx_best_class(c, scores), "classlabels_int64s");
        c->out[1] = onnx_post_transform(c, scores, onnx_text(c, "post_transform", "NONE"));
    }
    c->out[1] = onnx_cast(c, c->out[1], F32);
}

/* ---- TreeEnsemble ------------------------------------------------------------------------------------------------ */

/* The arrays of the operator. A child is a node, or a leaf if the array of flags marks it. */
typedef struct Indexed {
    int nodes, leaves;
    const int64_t *yes, *no, *yes_is_leaf, *no_is_leaf, *target;
    Reals weight, members;
    int pairs; Pair *pair;
} Indexed;

static int child_of(Forest *f, Indexed *e, int64_t index, bool is_leaf)
{
    const int most = is_leaf ? e->leaves : e->nodes;
    if (index < 0 || index >= most) {
        if (!ctx_failed(f->c->cx))
            onnx_refuse(f->c, "a node has the child %lld; use a child from 0 to %d, the %s", (long long)index, most - 1,
                        is_leaf ? "leaves" : "nodes");
        return 0;
    }
    if (!is_leaf) return (int)index;
    const int leaf = onnx_forest_add(f, (Branch){ .is_leaf = true, .yes = -1, .no = -1 });
    e->pair[e->pairs++] = (Pair){ leaf, e->target[index], e->weight.at[index] };
    return leaf;
}

/* Returns the members of the next set, or none if there are no more sets. Sets are separated by NaN, in the order of
 * the nodes that test them. */
static Reals members_at(const Indexed *e, int *next)
{
    const int begin = *next;
    if (begin >= e->members.count) return (Reals){ 0, NULL };
    while (*next < e->members.count && !isnan(e->members.at[*next])) ++*next;
    return (Reals){ (*next)++ - begin, e->members.at + begin };
}

static void read_indexed(Forest *f)
{
    OnnxCall *c = f->c;
    Indexed e = { .nodes = int_count(c, "nodes_featureids"), .leaves = int_count(c, "leaf_targetids") };
    const int n = e.nodes;
    const int64_t *feature = ints_of(c, "nodes_featureids", n, true),
                  *missing = ints_of(c, "nodes_missing_value_tracks_true", n, false);
    const Reals split = reals_of(c, "nodes_splits"), mode = reals_of(c, "nodes_modes");
    e.yes = ints_of(c, "nodes_truenodeids", n, true), e.no = ints_of(c, "nodes_falsenodeids", n, true);
    e.yes_is_leaf = ints_of(c, "nodes_trueleafs", n, true), e.no_is_leaf = ints_of(c, "nodes_falseleafs", n, true);
    e.target = ints_of(c, "leaf_targetids", e.leaves, true);
    e.weight = reals_of(c, "leaf_weights"), e.members = reals_of(c, "membership_values");
    if (!n) onnx_refuse(c, "there are no nodes; use at least one node");
    if (split.count != n)
        onnx_refuse(c, "there are %d 'nodes_splits' for %d nodes; use one per node", split.count, n);
    if (mode.count != n) onnx_refuse(c, "there are %d 'nodes_modes' for %d nodes; use one per node", mode.count, n);
    if (e.weight.count != e.leaves)
        onnx_refuse(c, "there are %d 'leaf_weights' for %d leaves; use one per leaf", e.weight.count, e.leaves);
    if (ctx_failed(c->cx)) return;
    e.pair = NEW_ARRAY(c->cx->arena, Pair, 2 * n);
    const OnnxAttr *roots = onnx_attr(c, "tree_roots");
    for (int i = 0; i < n; i++) onnx_forest_add(f, (Branch){ .feature = feature[i], .value = split.at[i] });
    for (int i = 0; i < n && !ctx_failed(c->cx); i++) {
        const int yes = child_of(f, &e, e.yes[i], e.yes_is_leaf[i] != 0),
                  no = child_of(f, &e, e.no[i], e.no_is_leaf[i] != 0);
        f->branch[i].yes = yes, f->branch[i].no = no;
    }
    if (!ctx_failed(c->cx)) find_roots(f);
    if (!ctx_failed(c->cx) && roots) f->trees = 0, take_roots(f, roots->ints, roots->int_count);
    if (!ctx_failed(c->cx)) assign_pairs(f, e.pair, e.pairs);
    for (int i = 0, next = 0; i < n && !ctx_failed(c->cx); i++) {
        if (!(mode.at[i] >= 0 && mode.at[i] < MODE_LEAF))
            onnx_refuse(c, "'nodes_modes' has the mode %g; use a mode from 0 to %d", mode.at[i], MODE_LEAF - 1);
        else {
            const Reals set = mode.at[i] == MODE_MEMBER ? members_at(&e, &next) : (Reals){ 0, NULL };
            if (mode.at[i] == MODE_MEMBER && set.count < 1)
                onnx_refuse(c, "'membership_values' has no set for node %d; add a set with at least one member", i);
            else set_condition(f, i, (int)mode.at[i], missing && missing[i], set);
        }
    }
}

/* Returns the word for a number in [0, count); refuses other numbers. */
static const char *word_of(OnnxCall *c, const char *attr, int64_t otherwise, const char *const *words, int count)
{
    const int64_t i = onnx_int(c, attr, otherwise);
    if (i >= 0 && i < count) return words[i];
    onnx_refuse(c, "'%s' is %lld; use a number from 0 to %d", attr, (long long)i, count - 1);
    return words[0];
}

static void ensemble(OnnxCall *c)
{
    static const char *const transforms[] = { "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT" };
    const int64_t a = onnx_int(c, "aggregate_function", 1);
    Forest f;
    if (a < 0 || a > 3) onnx_refuse(c, "'aggregate_function' is %lld; use a number from 0 to 3", (long long)a);
    const char *transform = word_of(c, "post_transform", 0, transforms, 5);
    if (ctx_failed(c->cx) || !open_forest(c, &f)) return;
    f.targets = onnx_int(c, "n_targets", 1);
    read_indexed(&f);
    if (!ctx_failed(c->cx)) c->out[0] = onnx_regressed(c, onnx_forest_scores(&f, &onnx_aggregates[a]), transform);
}

#define NODES "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_hitrates_as_tensor " \
    "nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values " \
    "nodes_values_as_tensor base_values base_values_as_tensor post_transform "
const OnnxOp onnx_rows_trees[] = {
    { ONNX_ROW("ai.onnx.ml.TreeEnsemble", 1, "aggregate_function leaf_targetids leaf_weights membership_values "
      "n_targets nodes_falseleafs nodes_falsenodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true "
      "nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids post_transform tree_roots", ensemble) },
    { ONNX_ROW("ai.onnx.ml.TreeEnsembleClassifier", 1, NODES "class_ids class_nodeids class_treeids class_weights "
      "class_weights_as_tensor classlabels_int64s classlabels_strings", classifier) },
    { ONNX_ROW("ai.onnx.ml.TreeEnsembleRegressor", 1, NODES "aggregate_function n_targets target_ids target_nodeids "
      "target_treeids target_weights target_weights_as_tensor", regressor) },
    { 0 }
};
