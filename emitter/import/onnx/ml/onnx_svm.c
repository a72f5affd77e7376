/* SPDX-License-Identifier: MIT */
/* Translates support vectors: SVMRegressor and SVMClassifier of the domain ai.onnx.ml.
 *
 *   scores          [n][pairs]     kernel(x, vectors) * weights + rho, a column for each pair of classes i < j
 *   votes           [n][classes]   a pair votes for i if its score exceeds 0, else for j
 *   probabilities   [n][classes]   Platt's of each pair, coupled to those of the classes
 *
 * Wu, Lin, Weng: Probability Estimates for Multi-class Classification by Pairwise Coupling (2004). */
#include <string.h>

#include "graph/dag/region.h"
#include "import/onnx/ml/onnx_ml.h"

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* Computes the kernel values [n][vectors] of x and the rows of v [vectors][features]. */
static Tensor *kernel(OnnxCall *c, Tensor *x, const double *v, int64_t vectors)
{
    const char *type = onnx_text(c, "kernel_type", "LINEAR");
    const double *given = onnx_ml_reals(c, "kernel_params");
    const double params[3] = { given ? given[0] : 0, given ? given[1] : 0, given ? given[2] : 0 };
    const int64_t features = tensor_dim(x, 1);
    if (strcmp(type, "RBF") == 0) {
        const Expr *const shape[3] = { x->shape[0], expr_index(c->cx, 1), x->shape[1] };
        Tensor *constant = onnx_ml_constant(c, "vectors", v, (int64_t[]){ vectors, features }, 2);
        Tensor *distance = onnx_call2(c, "sub", onnx_view(c, x, shape, 3), constant);
        Tensor *square = onnx_call(c, "reduce_sum", onnx_call(c, "square", distance), attr_list("axes", 2),
                                   attr_flag("keepdims", false));
        return onnx_call(c, "exp", onnx_call2(c, "mul", square, onnx_scalar_like(c, square, -params[0])));
    }
    double *turned = NEW_ARRAY(c->cx->arena, double, vectors * features);
    for (int64_t i = 0; i < vectors; i++)
        for (int64_t k = 0; k < features; k++) turned[k * vectors + i] = v[i * features + k];
    Tensor *columns = onnx_ml_constant(c, "vectors", turned, (int64_t[]){ features, vectors }, 2),
           *y = onnx_call2(c, "dense", x, columns);
    if (strcmp(type, "LINEAR") == 0) return y;
    if (y) {
        Tensor *number = onnx_scalar_like(c, y, params[1]);
        y = onnx_call2(c, "add", onnx_call2(c, "mul", y, onnx_scalar_like(c, y, params[0])), number);
    }
    if (strcmp(type, "POLY") == 0) return onnx_call2(c, "pow", y, onnx_scalar_like(c, y, params[2]));
    if (strcmp(type, "SIGMOID") == 0) return onnx_call(c, "tanh", y);
    onnx_refuse(c, "'kernel_type' is \"%s\"; use one of LINEAR, POLY, RBF, SIGMOID", type);
    return NULL;
}

/* Refuses lists whose lengths contradict each other. */
static bool svm_lists(OnnxCall *c, const Tensor *x, int64_t vectors, int64_t coefficients)
{
    const int64_t features = x ? tensor_dim(x, 1) : 0;
    const int given = onnx_ml_count(c, "support_vectors"), params = onnx_ml_count(c, "kernel_params");
    if (!x || ctx_failed(c->cx)) return false;
    if (vectors > INT32_MAX || given != vectors * features)
        onnx_refuse(c, "'support_vectors' has %d numbers for %lld vectors of %lld features; use one number per vector "
                       "and feature", given, (long long)vectors, (long long)features);
    if (onnx_ml_count(c, "coefficients") != coefficients)
        onnx_refuse(c, "'coefficients' has %d numbers; use %lld", onnx_ml_count(c, "coefficients"),
                    (long long)coefficients);
    if (params && params < 3)
        onnx_refuse(c, "'kernel_params' has %d numbers; use gamma, coef0 and degree", params);
    return !ctx_failed(c->cx);
}

static void svm_regressor(OnnxCall *c)
{
    Tensor *x = onnx_ml_rows(c);
    const int64_t features = x ? tensor_dim(x, 1) : 1, vectors = onnx_int(c, "n_supports", 0);
    const bool is_linear = vectors < 1;
    if (!svm_lists(c, x, is_linear ? 0 : vectors, is_linear ? features : vectors)) return;
    Tensor *k = is_linear ? x : kernel(c, x, onnx_ml_reals(c, "support_vectors"), vectors);
    const int64_t shape[2] = { is_linear ? features : vectors, 1 };
    Tensor *weights = onnx_ml_constant(c, "coefficients", onnx_ml_reals(c, "coefficients"), shape, 2),
           *y = onnx_call2(c, "dense", k, weights);
    if (onnx_ml_count(c, "rho")) y = onnx_call2(c, "add", y, onnx_ml_list(c, "rho", onnx_ml_reals(c, "rho"), 1));
    if (y && onnx_int(c, "one_class", 0)) {
        Tensor *number = onnx_scalar_like(c, y, -1);
        Tensor *inside = onnx_scalar_like(c, y, 1);
        y = onnx_select(c, onnx_call2(c, "greater", y, onnx_scalar_like(c, y, 0)), inside, number);
    }
    c->out[0] = onnx_regressed(c, y, onnx_text(c, "post_transform", "NONE"));
}

/* ---- Pairs of classes -------------------------------------------------------------------------------------------- */

/* A classifier by pairs of classes. The classifier's scores are kernel values times weights [vectors][pairs], plus rho.
 * The file's vector v is row place[v] of the kernel's vectors and of the weights. */
typedef struct Pairs { int64_t classes, vectors, count; const int64_t *per_class, *place; } Pairs;

/* The file stores the vectors by class. The weights of a pair are positive for one class and negative for the other. In
 * the file's order the partial sums would grow to many times the score and lose its digits. Here the classes alternate
 * in proportion to their counts: the next vector belongs to the class of which the smallest share has been placed. */
static const int64_t *alternating(OnnxCall *c, const Pairs *p)
{
    Arena *a = c->cx->arena;
    int64_t *place = NEW_ARRAY(a, int64_t, p->vectors), *taken = NEW_ARRAY(a, int64_t, p->classes),
            *start = NEW_ARRAY(a, int64_t, p->classes + 1);
    for (int64_t i = 0; i < p->classes; i++) start[i + 1] = start[i] + p->per_class[i];
    for (int64_t v = 0; v < p->vectors; v++) {
        int64_t next = -1;
        for (int64_t i = 0; i < p->classes; i++)
            if (taken[i] < p->per_class[i]
                && (next < 0 || (2 * taken[i] + 1) * p->per_class[next] < (2 * taken[next] + 1) * p->per_class[i]))
                next = i;
        place[start[next] + taken[next]++] = v;
    }
    return place;
}

static bool read_svm_pairs(OnnxCall *c, const Tensor *x, Pairs *p)
{
    const OnnxAttr *per_class = onnx_attr(c, "vectors_per_class");
    *p = (Pairs){ .classes = onnx_class_count(c, "classlabels_ints") };
    p->count = p->classes * (p->classes - 1) / 2;
    if (!x || ctx_failed(c->cx)) return false;
    const int numbers = per_class ? per_class->int_count : 0;
    if (!onnx_holds(c, p->classes >= 2 && p->classes <= 256, "there are %lld classes; use 2 to 256 classes",
                    (long long)p->classes)
        || !onnx_holds(c, numbers == p->classes, "there are %d 'vectors_per_class' for %lld classes; use one number "
                       "per class", numbers, (long long)p->classes)
        || !onnx_holds(c, onnx_ml_count(c, "rho") == p->count, "there are %d 'rho' for %lld pairs of classes; use one "
                       "per pair", onnx_ml_count(c, "rho"), (long long)p->count))
        return false;
    p->per_class = per_class->ints;
    for (int64_t i = 0; i < p->classes; i++) {
        if (p->per_class[i] < 0 || p->per_class[i] > INT32_MAX)
            onnx_refuse(c, "'vectors_per_class' has the number %lld; use numbers from 0 to 2^31 - 1",
                           (long long)p->per_class[i]);
        if (ctx_failed(c->cx)) return false;
        p->vectors += p->per_class[i];
    }
    if (!svm_lists(c, x, p->vectors, p->vectors * (p->classes - 1))) return false;
    p->place = alternating(c, p);
    return true;
}

/* Returns the vectors as [vectors][features], in the order of `place`. */
static const double *placed_vectors(OnnxCall *c, const Pairs *p)
{
    const double *given = onnx_ml_reals(c, "support_vectors");
    const int64_t features = onnx_ml_count(c, "support_vectors") / p->vectors;
    double *v = NEW_ARRAY(c->cx->arena, double, p->vectors * features);
    for (int64_t i = 0; i < p->vectors; i++)
        memcpy(v + p->place[i] * features, given + i * features, (size_t)features * sizeof *v);
    return v;
}

/* The coefficients are [classes - 1][vectors]: for the pair i < j, row j - 1 weighs the vectors of i, and row i weighs
 * the vectors of j. */
static Tensor *pair_weights(OnnxCall *c, const Pairs *p)
{
    const double *given = onnx_ml_reals(c, "coefficients");
    double *w = NEW_ARRAY(c->cx->arena, double, p->vectors * p->count);
    int64_t pair = 0, start_i = 0;
    for (int64_t i = 0; i < p->classes; start_i += p->per_class[i++]) {
        int64_t start_j = start_i + p->per_class[i];
        for (int64_t j = i + 1; j < p->classes; start_j += p->per_class[j++], pair++) {
            for (int64_t k = start_i; k < start_i + p->per_class[i]; k++)
                w[p->place[k] * p->count + pair] = given[(j - 1) * p->vectors + k];
            for (int64_t k = start_j; k < start_j + p->per_class[j]; k++)
                w[p->place[k] * p->count + pair] = given[i * p->vectors + k];
        }
    }
    return onnx_ml_constant(c, "weights", w, (int64_t[]){ p->vectors, p->count }, 2);
}

/* Returns the class that won the most pairs, the first one on a tie. */
static Tensor *most_votes(OnnxCall *c, const Pairs *p, Tensor *scores)
{
    double *won = NEW_ARRAY(c->cx->arena, double, p->count * p->classes),
           *lost = NEW_ARRAY(c->cx->arena, double, p->count * p->classes);
    int64_t pair = 0;
    for (int64_t i = 0; i < p->classes; i++)
        for (int64_t j = i + 1; j < p->classes; j++, pair++)
            won[pair * p->classes + i] = 1, lost[pair * p->classes + j] = 1;
    const int64_t shape[2] = { p->count, p->classes };
    Tensor *is_first = onnx_call2(c, "greater", scores, onnx_scalar_like(c, scores, 0));
    Tensor *is_second = onnx_call(c, "not", is_first);
    Tensor *of_lost = onnx_ml_constant(c, "lost", lost, shape, 2),
           *second = onnx_call2(c, "dense", onnx_cast(c, is_second, F32), of_lost),
           *of_won = onnx_ml_constant(c, "won", won, shape, 2),
           *first = onnx_call2(c, "dense", onnx_cast(c, is_first, F32), of_won);
    return onnx_best_class(c, onnx_call2(c, "add", first, second));
}

/* ---- Probabilities ----------------------------------------------------------------------------------------------- */

/* Computes Platt's probability of the first class of each pair, 1 / (1 + exp(a * score + b)), clamped: [n][pairs]. */
static Tensor *platt(OnnxCall *c, const Pairs *p, Tensor *scores)
{
    Tensor *a = onnx_ml_list(c, "prob_a", onnx_ml_reals(c, "prob_a"), p->count),
           *b = onnx_ml_list(c, "prob_b", onnx_ml_reals(c, "prob_b"), p->count);
    Tensor *y = onnx_call2(c, "add", onnx_call2(c, "mul", scores, a), b);
    return onnx_call(c, "clip", onnx_call(c, "sigmoid", onnx_call(c, "neg", y)), attr_real("min", 1e-7),
                     attr_real("max", 1 - 1e-7));
}

/* Returns matrices [n][classes][classes] of r[i][j], the probability of i in the pair of i and j, or of r[j][i] if
 * is_turned. `both` is [n][2 * pairs]: first the probabilities of the first classes, then the probabilities of the
 * second classes. Values for i = j have no meaning. */
static Tensor *pair_matrix(OnnxCall *c, const Pairs *p, Tensor *both, bool is_turned)
{
    const int64_t k = p->classes, elems = k * k;
    int64_t *at = NEW_ARRAY(c->cx->arena, int64_t, elems), pair = 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i + 1; j < k; j++, pair++) {
            at[i * k + j] = is_turned ? p->count + pair : pair;
            at[j * k + i] = is_turned ? pair : p->count + pair;
        }
    Tensor *index = tensor_constant(c->cx, c->name, I64, 1, &elems, at),
           *flat = onnx_call2(c, "gather", both, index, attr_int("axis", 1));
    const Expr *const shape[3] = { both->shape[0], expr_index(c->cx, k), expr_index(c->cx, k) };
    return flat ? onnx_view(c, flat, shape, 3) : NULL;
}

/* Returns a constant [classes][classes] that has one value on the diagonal and another value elsewhere. */
static Tensor *diagonal(OnnxCall *c, int64_t k, double on, double off)
{
    double *v = NEW_ARRAY(c->cx->arena, double, k * k);
    for (int64_t i = 0; i < k * k; i++) v[i] = i % (k + 1) ? off : on;
    return onnx_ml_constant(c, "diagonal", v, (int64_t[]){ k, k }, 2);
}

/* Computes the quadratic form whose minimum over the simplex couples the pairs: Q[i][i] = sum over j of r[j][i]^2,
 * Q[i][j] = -r[j][i] * r[i][j]. */
typedef struct Coupling {
    OnnxCall *c;
    int64_t classes;
    Tensor *matrix, *diagonal;                          /* matrix: [n][classes][classes]; diagonal: [n][classes] */
} Coupling;

static Tensor *summed(OnnxCall *c, Tensor *x, int axis, bool keeps)
{
    return onnx_call(c, "reduce_sum", x, attr_list("axes", axis), attr_flag("keepdims", keeps));
}

static Coupling coupling(OnnxCall *c, const Pairs *p, Tensor *probability)
{
    Coupling q = { c, p->classes, NULL, NULL };
    Tensor *second = onnx_call2(c, "sub", onnx_scalar_like(c, probability, 1), probability),
           *both = onnx_call2(c, "concat", probability, second, attr_int("axis", 1));
    if (ctx_failed(c->cx)) return q;
    Tensor *own = pair_matrix(c, p, both, false), *other = pair_matrix(c, p, both, true);
    Tensor *mask = diagonal(c, p->classes, 0, 1);
    Tensor *squares = onnx_call2(c, "mul", onnx_call(c, "square", other), mask);
    q.diagonal = summed(c, squares, 2, false);
    if (ctx_failed(c->cx)) return q;
    const Expr *const column[3] = { probability->shape[0], expr_index(c->cx, p->classes), expr_index(c->cx, 1) };
    Tensor *negative = diagonal(c, p->classes, 0, -1),
           *off = onnx_call2(c, "mul", onnx_call2(c, "mul", other, own), negative),
           *identity = diagonal(c, p->classes, 1, 0),
           *on = onnx_call2(c, "mul", onnx_view(c, q.diagonal, column, 3), identity);
    q.matrix = onnx_call2(c, "add", on, off);
    return q;
}

/* Iteration t of coordinate descent minimizes over probability t mod classes, and normalizes. The descent of a row ends
 * before a sweep over the classes if the gradient differs from its mean by less than 0.005 / classes. The gradient is
 * computed anew in each iteration, so the probabilities are the whole state. */
static void descend(const Coupling *q, Tensor *iteration, Tensor *p, Tensor *active, Tensor **result)
{
    OnnxCall *c = q->c;
    const int64_t k = q->classes;
    int64_t *classes = NEW_ARRAY(c->cx->arena, int64_t, k);
    for (int64_t i = 0; i < k; i++) classes[i] = i;
    Tensor *at = onnx_call2(c, "mod", iteration, onnx_scalar_like(c, iteration, (double)k)),
           *is_own = onnx_call2(c, "equal", tensor_constant(c->cx, c->name, I64, 1, &k, classes), at),
           *own = onnx_cast(c, is_own, F32);
    const Expr *const row[3] = { p->shape[0], expr_index(c->cx, 1), expr_index(c->cx, k) };
    Tensor *gradient = summed(c, onnx_call2(c, "mul", q->matrix, onnx_view(c, p, row, 3)), 2, false),
           *mean = summed(c, onnx_call2(c, "mul", gradient, p), 1, true);
    Tensor *error = onnx_call(c, "reduce_max", onnx_call(c, "abs", onnx_call2(c, "sub", gradient, mean)),
                              attr_list("axes", 1), attr_flag("keepdims", true));
    if (ctx_failed(c->cx)) return;
    Tensor *is_far = onnx_call2(c, "greater_equal", error, onnx_scalar_like(c, error, (double)(0.005f / (float)k))),
           *is_within = onnx_call2(c, "greater", at, onnx_scalar_like(c, at, 0));
    Tensor *goes_on = onnx_call2(c, "and", active, onnx_call2(c, "or", is_far, is_within));
    Tensor *slope = onnx_call2(c, "sub", mean, summed(c, onnx_call2(c, "mul", gradient, own), 1, true)),
           *step = onnx_call2(c, "div", slope, summed(c, onnx_call2(c, "mul", q->diagonal, own), 1, true));
    if (ctx_failed(c->cx)) return;
    Tensor *sum = onnx_call2(c, "add", step, onnx_scalar_like(c, step, 1));
    Tensor *moved = onnx_call2(c, "div", onnx_call2(c, "add", p, onnx_call2(c, "mul", step, own)), sum);
    Tensor *any = onnx_call(c, "reduce_max", onnx_cast(c, goes_on, I32), attr_list("axes", 0, 1),
                            attr_flag("keepdims", false));
    if (ctx_failed(c->cx)) return;
    result[0] = onnx_call2(c, "greater", any, onnx_scalar_like(c, any, 0));
    result[1] = onnx_select(c, goes_on, moved, p);
    result[2] = goes_on;
}

/* Returns tensors [n][width] of one value; n may be open. */
static Tensor *filled(OnnxCall *c, Tensor *one, const Tensor *like, int64_t width)
{
    const Expr *const shape[2] = { like->shape[0], expr_index(c->cx, width) };
    return onnx_expand(c, one, shape, 2);
}

/* Computes the probabilities of the classes, [n][classes], with at most 100 sweeps that start from equal
 * probabilities. */
static Tensor *coupled(OnnxCall *c, const Pairs *p, Tensor *probability)
{
    enum { SWEEPS = 100, STATES = 2, INPUTS = 5 };
    Ctx *cx = c->cx;
    const int64_t k = p->classes, most = SWEEPS * k;
    const Coupling outside = coupling(c, p, probability);
    if (ctx_failed(cx)) return NULL;
    Tensor *count = tensor_constant(cx, "count", I64, 0, NULL, arena_copy(cx->arena, &most, sizeof most));
    Tensor *filling = filled(c, tensor_scalar(cx, c->name, F32, 1.0 / (double)k), probability, k);
    Tensor *outer[1 + INPUTS] = { count, NULL, filling, filled(c, tensor_scalar(cx, c->name, BOOL, 1), probability,
                                                               1), outside.matrix, outside.diagonal };
    Tensor **inner = NEW_ARRAY(cx->arena, Tensor *, INPUTS), **result = NEW_ARRAY(cx->arena, Tensor *, 1 + STATES);
    if (ctx_failed(cx)) return NULL;
    inner[0] = tensor_new(cx, "iteration", I64, 0, NULL);
    for (int i = 1; i < INPUTS; i++)
        inner[i] = tensor_new(cx, outer[1 + i]->name, outer[1 + i]->type, outer[1 + i]->rank, outer[1 + i]->shape);
    const Coupling inside = { c, k, inner[3], inner[4] };
    descend(&inside, inner[0], inner[1], inner[2], result);
    if (ctx_failed(cx)) return NULL;
    const Region r = { .kind = REGION_LOOP, .graph_count = 1, .state_count = STATES, .has_condition = true,
                       .max_trip_count = -1,
                       .graph[0] = { .name = c->name, .input = inner, .input_count = INPUTS, .output = result,
                                     .output_count = 1 + STATES } };
    Node *n = region_new(cx, c->name, &r, outer, 1 + INPUTS);
    return n ? n->out[0] : NULL;
}

/* ---- The classifier ---------------------------------------------------------------------------------------------- */

/* Handles a file without support vectors: each class has a linear score, x * coefficients' + rho[0]. With two classes,
 * the second class is chosen if the largest score exceeds 0 or, if no coefficient is negative, is at least 1/2. */
static void linear_machine(OnnxCall *c, Tensor *x, const char *post)
{
    const int classes = onnx_class_count(c, "classlabels_ints");
    const int64_t features = x ? tensor_dim(x, 1) : 0;
    bool is_positive = true;
    if (!x || ctx_failed(c->cx)) return;
    if (!onnx_holds(c, onnx_ml_count(c, "coefficients") == classes * features, "without 'support_vectors', there are "
                    "%d coefficients for %d classes of %lld features; use %lld coefficients",
                    onnx_ml_count(c, "coefficients"), classes, (long long)features, (long long)(classes * features))
        || !onnx_holds(c, onnx_ml_count(c, "rho") >= 1, "without 'support_vectors', there is no 'rho'; use one rho"))
        return;
    const double *given = onnx_ml_reals(c, "coefficients");
    double *turned = NEW_ARRAY(c->cx->arena, double, classes * features);
    for (int64_t i = 0; i < classes * features; i++) {
        turned[i % features * classes + i / features] = given[i];
        is_positive = is_positive && given[i] >= 0;
    }
    Tensor *weights = onnx_ml_constant(c, "coefficients", turned, (int64_t[]){ features, classes }, 2),
           *rho = onnx_ml_list(c, "rho", onnx_ml_reals(c, "rho"), 1),
           *scores = onnx_call2(c, "add", onnx_call2(c, "dense", x, weights), rho);
    Tensor *best = onnx_best_class(c, scores);
    if (ctx_failed(c->cx)) return;
    if (classes == 2 && !onnx_ml_count(c, "prob_a")) {
        Tensor *greatest = onnx_call(c, "reduce_max", scores, attr_list("axes", 1), attr_flag("keepdims", false)),
               *is_second = onnx_call2(c, is_positive ? "greater_equal" : "greater", greatest,
                                       onnx_scalar_like(c, scores, is_positive ? 0.5 : 0));
        best = onnx_select(c, is_second, onnx_scalar_like(c, best, 1), best);
    }
    c->out[0] = onnx_class_labels(c, best, "classlabels_ints");
    c->out[1] = onnx_regressed(c, scores, post);
}

static void svm_classifier(OnnxCall *c)
{
    Pairs p;
    Tensor *x = onnx_ml_rows(c);
    const char *post = onnx_text(c, "post_transform", "NONE");
    const int a = onnx_ml_count(c, "prob_a"), b = onnx_ml_count(c, "prob_b");
    if (!onnx_ml_count(c, "support_vectors")) {
        linear_machine(c, x, post);
        return;
    }
    if (!read_svm_pairs(c, x, &p)) return;
    if ((a || b) && (a != p.count || b != p.count))
        onnx_refuse(c, "there are %d 'prob_a' and %d 'prob_b' for %lld classes; use %lld of both, one per pair of "
                       "classes", a, b,
                    (long long)p.classes, (long long)p.count);
    Tensor *weights = pair_weights(c, &p);
    Tensor *scores = onnx_call2(c, "dense", kernel(c, x, placed_vectors(c, &p), p.vectors), weights);
    scores = onnx_call2(c, "add", scores, onnx_ml_list(c, "rho", onnx_ml_reals(c, "rho"), p.count));
    if (ctx_failed(c->cx)) return;
    c->out[0] = onnx_class_labels(c, most_votes(c, &p, scores), "classlabels_ints");
    if (a) c->out[1] = onnx_post_transform(c, coupled(c, &p, platt(c, &p, scores)), post);
    else if (p.count == 1) c->out[1] = onnx_two_columns(c, scores, post, strcmp(post, "NONE") != 0);
    else c->out[1] = onnx_post_transform(c, scores, post);
}

#define SVM(its_name, most, attrs, fn) { ONNX_ROW("ai.onnx.ml." its_name, most, attrs, fn), .open.keeps = KEEPS_ALL }
const OnnxOp onnx_rows_svm[] = {
    SVM("SVMClassifier", 1, "classlabels_ints classlabels_strings coefficients kernel_params kernel_type "
        "post_transform prob_a prob_b rho support_vectors vectors_per_class", svm_classifier),
    SVM("SVMRegressor", 1, "coefficients kernel_params kernel_type n_supports one_class post_transform rho "
        "support_vectors", svm_regressor),
    { 0 }
};
