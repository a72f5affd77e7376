/* SPDX-License-Identifier: MIT */
/* Translates operators of the domain ai.onnx.ml that compute with numbers: linear models and preprocessing.
 * onnx_trees.c translates trees, and onnx_svm.c support vectors. Scores are f32 for every type of input. A class is a
 * label of the file, or the label's index if labels are strings (graph/onnx_strings.h). */
#include <math.h>
#include <string.h>

#include "import/onnx/ml/onnx_ml.h"
#include "support/text.h"

/* ---- Constants from attributes ----------------------------------------------------------------------------------- */

Tensor *onnx_ml_constant(OnnxCall *c, const char *what, const double *v, const int64_t *shape, int rank)
{
    void *data;
    Tensor *t = tensor_zeros(c->cx, text_format(c->cx, "%s_%s", c->name, what), F32, rank, shape, &data);
    for (int64_t i = 0; t && i < tensor_elems(t); i++) dtype_store(F32, data, i, (Scalar){ .f = v[i] });
    return t;
}

Tensor *onnx_ml_list(OnnxCall *c, const char *what, const double *v, int64_t count)
{
    return onnx_ml_constant(c, what, v, &count, 1);
}

Tensor *onnx_ml_ints(OnnxCall *c, const int64_t *v, int64_t count)
{
    return tensor_constant(c->cx, c->name, I64, 1, &count, arena_copy(c->cx->arena, v, (size_t)count * sizeof *v));
}

int onnx_ml_count(const OnnxCall *c, const char *attr)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->real_count : 0;
}

const double *onnx_ml_reals(const OnnxCall *c, const char *attr)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->reals : NULL;
}

static int label_count(const OnnxCall *c, const char *attr)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return !a ? 0 : a->text_count ? a->text_count : a->int_count ? a->int_count : a->real_count;
}

Tensor *onnx_ml_rows(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return NULL;
    Tensor *x = c->in[0];
    if (x->rank == 1) x = onnx_reshape(c, x, (int64_t[]){ 1, -1 }, 2);
    if (x && x->rank != 2) {
        onnx_refuse(c, "the input is %s; use [n][features]", tensor_shape_text(c->cx, x));
        return NULL;
    }
    return onnx_cast(c, x, F32);
}

/* ---- Scores and classes ------------------------------------------------------------------------------------------ */

int onnx_class_count(OnnxCall *c, const char *ints)
{
    const int numbers = label_count(c, ints), names = label_count(c, "classlabels_strings");
    if (!numbers && !names) onnx_refuse(c, "neither '%s' nor 'classlabels_strings' has a label; give one of them a "
                                           "label", ints);
    return numbers ? numbers : names;
}

/* Returns label[index], or the index itself if the labels count from 0 */
static Tensor *selected(OnnxCall *c, const int64_t *label, int count, Tensor *index)
{
    bool is_index = true;
    for (int i = 0; i < count; i++) is_index = is_index && label[i] == i;
    return is_index ? index : onnx_call2(c, "gather", onnx_ml_ints(c, label, count), index, attr_int("axis", 0));
}

Tensor *onnx_class_labels(OnnxCall *c, Tensor *index, const char *ints)
{
    const OnnxAttr *numbers = onnx_attr(c, ints), *names = onnx_attr(c, "classlabels_strings");
    if (!index || ctx_failed(c->cx)) return NULL;
    if (numbers && numbers->int_count) return selected(c, numbers->ints, numbers->int_count, index);
    int64_t *at = NEW_ARRAY(c->cx->arena, int64_t, names->text_count);
    onnx_string_indices(c->cx, c->strings, names->text_count, names->texts, at);
    Tensor *label = selected(c, at, names->text_count, index);
    onnx_mark_strings(c->strings, label);
    return label;
}

Tensor *onnx_best_class(OnnxCall *c, Tensor *scores)
{
    return onnx_cast(c, onnx_call(c, "argmax", scores, attr_int("axis", 1), attr_flag("keepdims", false)), I64);
}

/* Computes the inverse of the normal distribution function, with ONNX Runtime's approximation of erf's inverse
 * (Winitzki). */
static Tensor *probit(OnnxCall *c, Tensor *x)
{
    Tensor *one = onnx_scalar_like(c, x, 1), *twice = onnx_call2(c, "mul", x, onnx_scalar_like(c, x, 2)),
           *u = onnx_call2(c, "sub", twice, one);
    Tensor *sum = onnx_call2(c, "add", one, u);
    Tensor *product = onnx_call2(c, "mul", onnx_call2(c, "sub", one, u), sum), *log_of = onnx_call(c, "log", product);
    Tensor *number = onnx_scalar_like(c, x, 2 / (3.14159f * 0.147f));
    Tensor *v = onnx_call2(c, "add", onnx_call2(c, "mul", log_of, onnx_scalar_like(c, x, 0.5)), number);
    Tensor *w = onnx_call2(c, "mul", log_of, onnx_scalar_like(c, x, 1 / 0.147f));
    Tensor *root = onnx_call(c, "sqrt", onnx_call2(c, "sub", onnx_call(c, "square", v), w));
    Tensor *size = onnx_call(c, "sqrt", onnx_call2(c, "sub", root, v)), *zero = onnx_scalar_like(c, x, 0);
    Tensor *negative = onnx_call(c, "neg", size);
    Tensor *y = onnx_select(c, onnx_call2(c, "less", u, zero), negative, size);
    return onnx_call2(c, "mul", y, onnx_scalar_like(c, x, 1.41421356f));
}

/* Computes a softmax over the scores that are not 0; scores of 0 stay 0. */
static Tensor *softmax_zero(OnnxCall *c, Tensor *x)
{
    Tensor *zero = onnx_scalar_like(c, x, 0),
           *greatest = onnx_call(c, "reduce_max", x, attr_list("axes", 1), attr_flag("keepdims", true));
    Tensor *number = onnx_scalar_like(c, x, 1e-7);
    Tensor *is_zero = onnx_call2(c, "less_equal", onnx_call(c, "abs", x), number);
    Tensor *power = ctx_failed(c->cx) ? NULL
                  : onnx_select(c, is_zero, zero, onnx_call(c, "exp", onnx_call2(c, "sub", x, greatest)));
    return onnx_call2(c, "div", power,
                      onnx_call(c, "reduce_sum", power, attr_list("axes", 1), attr_flag("keepdims", true)));
}

static Tensor *softmax(OnnxCall *c, Tensor *x) { return onnx_call(c, "softmax", x, attr_int("axis", 1)); }
static Tensor *logistic(OnnxCall *c, Tensor *x) { return onnx_call(c, "sigmoid", x); }
static Tensor *same(OnnxCall *c, Tensor *x) { (void)c; return x; }

static const struct { const char *name; Tensor *(*apply)(OnnxCall *c, Tensor *x); } post_transforms[] = {
    { "NONE", same }, { "SOFTMAX", softmax }, { "LOGISTIC", logistic }, { "SOFTMAX_ZERO", softmax_zero },
    { "PROBIT", probit }
};

Tensor *onnx_post_transform(OnnxCall *c, Tensor *scores, const char *word)
{
    if (!scores || ctx_failed(c->cx)) return NULL;
    for (size_t i = 0; i < sizeof post_transforms / sizeof post_transforms[0]; i++)
        if (strcmp(post_transforms[i].name, word) == 0) return post_transforms[i].apply(c, scores);
    onnx_refuse(c, "'post_transform' is \"%s\"; use one of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT", word);
    return NULL;
}

Tensor *onnx_regressed(OnnxCall *c, Tensor *y, const char *word)
{
    const bool is_single = y && expr_is_int(y->shape[1], 1);
    return onnx_post_transform(c, y, is_single && strcmp(word, "PROBIT") != 0 ? "NONE" : word);
}

Tensor *onnx_two_columns(OnnxCall *c, Tensor *s, const char *post, bool is_probability)
{
    if (strcmp(post, "PROBIT") == 0)
        onnx_unsupported(c, "'post_transform' is PROBIT for a single score; use NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO");
    if (!s || ctx_failed(c->cx)) return NULL;
    const bool is_logistic = strcmp(post, "LOGISTIC") == 0;
    Tensor *other = is_probability && !is_logistic ? onnx_call2(c, "sub", onnx_scalar_like(c, s, 1), s)
                                                   : onnx_call(c, "neg", s);
    Tensor *last = is_logistic ? logistic(c, s) : s;
    return onnx_call2(c, "concat", is_logistic ? logistic(c, other) : other, last, attr_int("axis", 1));
}

/* Returns an i64 tensor that is 1 for each row whose only score exceeds 0. */
static Tensor *is_positive(OnnxCall *c, Tensor *s)
{
    Tensor *exceeds = onnx_call2(c, "greater", s, onnx_scalar_like(c, s, 0));
    return onnx_cast(c, onnx_reshape(c, exceeds, (int64_t[]){ -1 }, 1), I64);
}

/* ---- Linear models ----------------------------------------------------------------------------------------------- */

/* Computes x * coefficients' + intercepts as [n][targets]; coefficients are [targets][features]. */
static Tensor *linear_scores(OnnxCall *c, Tensor *x, int64_t targets)
{
    const int64_t count = onnx_ml_count(c, "coefficients"), features = x ? tensor_dim(x, 1) : 0;
    const int intercepts = onnx_ml_count(c, "intercepts");
    if (!x) return NULL;
    if (!onnx_holds(c, targets >= 1, "there are %lld targets; use at least one target", (long long)targets)
        || !onnx_holds(c, count == targets * features, "there are %lld coefficients for %lld targets of %lld features; "
                       "use %lld coefficients", (long long)count, (long long)targets, (long long)features,
                       (long long)(targets * features))
        || !onnx_holds(c, !intercepts || intercepts == targets, "there are %d intercepts for %lld targets; use one per "
                       "target, or none", intercepts, (long long)targets))
        return NULL;
    const double *given = onnx_ml_reals(c, "coefficients");
    double *turned = NEW_ARRAY(c->cx->arena, double, count);
    for (int64_t t = 0; t < targets; t++)
        for (int64_t k = 0; k < features; k++) turned[k * targets + t] = given[t * features + k];
    Tensor *weights = onnx_ml_constant(c, "coefficients", turned, (int64_t[]){ features, targets }, 2),
           *y = onnx_call2(c, "dense", x, weights);
    if (!intercepts) return y;
    return onnx_call2(c, "add", y, onnx_ml_list(c, "intercepts", onnx_ml_reals(c, "intercepts"), targets));
}

static void linear_regressor(OnnxCall *c)
{
    Tensor *y = linear_scores(c, onnx_ml_rows(c), onnx_int(c, "targets", 1));
    c->out[0] = onnx_regressed(c, y, onnx_text(c, "post_transform", "NONE"));
}

static void linear_classifier(OnnxCall *c)
{
    const char *post = onnx_text(c, "post_transform", "NONE");
    Tensor *x = onnx_ml_rows(c);
    const int classes = onnx_class_count(c, "classlabels_ints");
    const int64_t features = x && tensor_dim(x, 1) > 0 ? tensor_dim(x, 1) : 1,
                  targets = onnx_ml_count(c, "coefficients") / features;
    Tensor *s = ctx_failed(c->cx) ? NULL : linear_scores(c, x, targets);
    if (!s) return;
    if (targets != classes && (targets != 1 || classes != 2))
        onnx_refuse(c, "there are %lld targets for %d classes; use one target per class, or one target for two classes",
                       (long long)targets,
                    classes);
    c->out[0] = onnx_class_labels(c, targets == 1 ? is_positive(c, s) : onnx_best_class(c, s), "classlabels_ints");
    c->out[1] = targets == 1 ? onnx_two_columns(c, s, post, true) : onnx_post_transform(c, s, post);
}

/* ---- Before and after a model ------------------------------------------------------------------------------------ */

/* Computes (x - offset) * scale, with one value, or one per feature */
static void scaler(OnnxCall *c)
{
    const int offsets = onnx_ml_count(c, "offset"), scales = onnx_ml_count(c, "scale");
    if (!onnx_requires(c, 1)) return;
    Tensor *y = onnx_cast(c, c->in[0], F32);
    const int64_t features = y->rank ? tensor_dim(y, y->rank - 1) : 1;
    if ((offsets > 1 && offsets != features) || (scales > 1 && scales != features))
        onnx_refuse(c, "there are %d offsets and %d scales for %lld features; use one value, or one per feature",
                       offsets,
                    scales, (long long)features);
    if (offsets) y = onnx_call2(c, "sub", y, onnx_ml_list(c, "offset", onnx_ml_reals(c, "offset"), offsets));
    c->out[0] = scales ? onnx_call2(c, "mul", y, onnx_ml_list(c, "scale", onnx_ml_reals(c, "scale"), scales)) : y;
}

/* Divides each row by its norm; a row whose norm is 0 is not changed. */
static void normalizer(OnnxCall *c)
{
    static const struct { const char *name, *op; } norms[] = { { "MAX", "reduce_max" }, { "L1", "reduce_l1" },
                                                               { "L2", "reduce_l2" } };
    const char *word = onnx_text(c, "norm", "MAX"), *op = NULL;
    for (int i = 0; i < 3; i++)
        if (strcmp(norms[i].name, word) == 0) op = norms[i].op;
    if (!op) onnx_refuse(c, "'norm' is \"%s\"; use one of MAX, L1, L2", word);
    if (!op || !onnx_requires(c, 1)) return;
    Tensor *x = onnx_cast(c, c->in[0], F32);
    Tensor *norm = onnx_call(c, op, x, attr_list("axes", -1), attr_flag("keepdims", true));
    Tensor *is_zero = onnx_call2(c, "equal", norm, onnx_scalar_like(c, norm, 0));
    if (is_zero) c->out[0] = onnx_call2(c, "div", x, onnx_select(c, is_zero, onnx_scalar_like(c, norm, 1), norm));
}

/* Selects columns of x by their indices. */
static void array_feature_extractor(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *x = c->in[0], *index = onnx_reshape(c, c->in[1], (int64_t[]){ -1 }, 1);
    if (x->rank < 2) x = onnx_reshape(c, x, (int64_t[]){ 1, -1 }, 2);
    c->out[0] = onnx_call2(c, "gather", x, index, attr_int("axis", -1));
}

/* Replaces a value, often NaN, by one value per feature or by one value for all features. */
static void imputer(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0], *is_replaced, *value;
    const bool is_float = dtype_is_float(x->type);
    const OnnxAttr *given = onnx_attr(c, is_float ? "imputed_value_floats" : "imputed_value_int64s");
    const int64_t count = !given ? 0 : is_float ? given->real_count : given->int_count;
    if (count < 1 || (count > 1 && (!x->rank || count != tensor_dim(x, x->rank - 1)))) {
        onnx_refuse(c, "there are %lld imputed values of %s for %s; use one value, or one per feature",
                       (long long)count,
                    is_float ? "floats" : "integers", tensor_shape_text(c->cx, x));
        return;
    }
    const double missing = is_float ? onnx_real(c, "replaced_value_float", 0)
                                    : (double)onnx_int(c, "replaced_value_int64", 0);
    if (isnan(missing)) is_replaced = onnx_call(c, "isnan", x);
    else is_replaced = onnx_call2(c, "equal", x, onnx_scalar_like(c, x, missing));
    value = is_float ? onnx_ml_list(c, "imputed", given->reals, count) : onnx_ml_ints(c, given->ints, count);
    if (is_replaced) c->out[0] = onnx_select(c, is_replaced, onnx_cast(c, value, x->type), x);
}

static void binarizer(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0];
    Tensor *exceeds = onnx_call2(c, "greater", x, onnx_scalar_like(c, x, onnx_real(c, "threshold", 0)));
    c->out[0] = onnx_cast(c, exceeds, x->type);
}

/* Concatenates features. */
static void feature_vectorizer(OnnxCall *c)
{
    const OnnxAttr *sizes = onnx_attr(c, "inputdimensions");
    if (!onnx_requires(c, c->in_count > 0 ? c->in_count : 1)) return;
    Tensor **in = NEW_ARRAY(c->cx->arena, Tensor *, c->in_count);
    for (int i = 0; i < c->in_count && !ctx_failed(c->cx); i++) {
        in[i] = onnx_cast(c, c->in[i]->rank == 1 ? onnx_reshape(c, c->in[i], (int64_t[]){ 1, -1 }, 2) : c->in[i], F32);
        const int64_t width = in[i] && in[i]->rank == 2 ? tensor_dim(in[i], 1) : -1;
        if (width < 0)
            onnx_refuse(c, "input %d is %s; use [features], or [n][features] with a fixed number of features", i,
                        tensor_shape_text(c->cx, c->in[i]));
        else if (sizes && sizes->int_count <= i)
            onnx_refuse(c, "'inputdimensions' has %d sizes for %d inputs; use one size per input", sizes->int_count,
                        c->in_count);
        else if (sizes && sizes->ints[i] != width)
            onnx_refuse(c, "input %d is %s, but its size in 'inputdimensions' is %lld; use the number of features", i,
                        tensor_shape_text(c->cx, c->in[i]), (long long)sizes->ints[i]);
    }
    if (!ctx_failed(c->cx)) c->out[0] = call(c->cx, "concat", c->name, in, c->in_count, ATTRS(attr_int("axis", 1)));
}

#define ML(its_name, most, attrs, fn) { ONNX_ROW("ai.onnx.ml." its_name, most, attrs, fn), .open.keeps = KEEPS_ALL }
const OnnxOp onnx_rows_ml[] = {
    { ONNX_ROW("ai.onnx.ml.ArrayFeatureExtractor", 2, "", array_feature_extractor), .open.keeps = KEEPS_ALL,
      .strings = STRINGS_MOVED },
    ML("Binarizer", 1, "threshold", binarizer),
    ML("FeatureVectorizer", ONNX_ANY, "inputdimensions", feature_vectorizer),
    ML("Imputer", 1, "imputed_value_floats imputed_value_int64s replaced_value_float replaced_value_int64", imputer),
    ML("LinearClassifier", 1, "classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform",
       linear_classifier),
    ML("LinearRegressor", 1, "coefficients intercepts post_transform targets", linear_regressor),
    ML("Normalizer", 1, "norm", normalizer),
    ML("Scaler", 1, "offset scale", scaler),
    { 0 }
};
