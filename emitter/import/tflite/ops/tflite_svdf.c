/* SPDX-License-Identifier: MIT */
/* Translates SVDF, a dense layer with few features. Each feature has a memory of its last values, which is a state, and
 * a filter over this memory.
 *
 *   m[b,f,j] = m[b,f,j+1], at the end the newest: x[b] w[f]
 *   y[b,u]   = act(bias[u] + sum(f of u, j) m[b,f,j] v[f,j])
 *
 * Integers are computed as in the reference kernels of TensorFlow Lite Micro. These kernels ignore the activation of
 * integers, because the output's range applies it. */
#include "import/tflite/ops/tflite_rows.h"

enum { X, FEATURES, TIME, BIAS, STATE, INPUTS };
enum { RANK, ACTIVATION, ASYMMETRIC };       /* options */
/* MOST_ADDED: limit of filters of a unit, which are added one by one */
enum { OPTIONS_SVDF = 6, MOST_ADDED = 16 };

typedef struct Svdf { int64_t batch, inputs, filters, memory, units, rank; } Svdf;

static bool read_svdf(TfliteCall *c, Svdf *s)
{
    static const int matrices[] = { X, FEATURES, TIME, STATE };
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++)
        if (!tflite_in(c, matrices[i]) || c->in[matrices[i]]->rank != 2) {
            tflite_refuse(c, "input %d is missing or not a matrix; use an input, two weights and a state, each with "
                          "two dimensions", matrices[i]);
            return false;
        }
    *s = (Svdf){ tensor_dim(c->in[X], 0), tensor_dim(c->in[X], 1), tensor_dim(c->in[FEATURES], 0),
                 tensor_dim(c->in[TIME], 1), 0, flat_int(&c->op->options, RANK, 4, 0) };
    if (s->rank >= 1) s->units = s->filters / s->rank;
    if (s->rank < 1 || s->units < 1 || s->filters % s->rank || s->memory < 1
        || tensor_dim(c->in[FEATURES], 1) != s->inputs
        || tensor_dim(c->in[TIME], 0) != s->filters || tensor_dim(c->in[STATE], 0) != s->batch
        || tensor_dim(c->in[STATE], 1) != s->filters * s->memory
        || (tflite_in(c, BIAS) && tensor_elems(c->in[BIAS]) != s->units)) {
        tflite_refuse(c, "the rank is %lld, the input %s, weights %s and %s, a state %s; use [batch][k], [filters][k], "
                         "[filters][memory], [batch][filters * memory], and filters / rank biases", (long long)s->rank,
                      tensor_shape_text(c->cx, c->in[X]), tensor_shape_text(c->cx, c->in[FEATURES]),
                      tensor_shape_text(c->cx, c->in[TIME]), tensor_shape_text(c->cx, c->in[STATE]));
        return false;
    }
    return true;
}

/* Appends the newest features to the memory and drops the oldest ones. */
static Tensor *shifted(TfliteCall *c, const Svdf *s, Tensor *newest)
{
    Tensor *old = tflite_reshape(c, c->in[STATE], (int64_t[]){ s->batch, s->filters, s->memory }, 3);
    newest = tflite_reshape(c, newest, (int64_t[]){ s->batch, s->filters, 1 }, 3);
    if (s->memory == 1) return newest;
    Tensor *part[] = { tflite_part(c, old, 2, 1, s->memory), newest };
    return ctx_failed(c->cx) ? NULL : call(c->cx, "concat", c->name, part, 2, ATTRS(attr_int("axis", 2)));
}

static Tensor *summed(TfliteCall *c, Tensor *x, const int64_t *shape)
{
    return tflite_call(c, "reduce_sum", tflite_reshape(c, x, shape, 3), attr_list("axes", 2),
                       attr_flag("keepdims", false));
}

static Tensor *with_bias(TfliteCall *c, Tensor *x)
{
    return tflite_in(c, BIAS) ? tflite_call2(c, "add", x, c->in[BIAS]) : x;
}

/* Returns the sums over the filters of a unit and their memories, plus the bias. */
static Tensor *filtered(TfliteCall *c, const Svdf *s, Tensor *memory, Tensor *v)
{
    const int64_t each[3] = { s->batch, s->units, s->rank * s->memory };
    return with_bias(c, summed(c, tflite_call2(c, "mul", memory, v), each));
}

/* Computes the layer in floats, in the references' order: the memories of each filter, then the bias and the filters.
 * With 8-bit features, which only TensorFlow Lite computes, the filters come before the bias. */
static Tensor *filtered_reals(TfliteCall *c, const Svdf *s, Tensor *memory, Tensor *v, bool is_hybrid)
{
    const int64_t each[3] = { s->batch, s->filters, s->memory }, one[2] = { s->batch, s->units };
    if (s->rank > MOST_ADDED) return filtered(c, s, memory, v);
    Tensor *sums = tflite_reshape(c, summed(c, tflite_call2(c, "mul", memory, v), each),
                                  (int64_t[]){ s->batch, s->units, s->rank }, 3), *y = NULL;
    for (int64_t r = 0; r < s->rank && !ctx_failed(c->cx); r++) {
        Tensor *own = tflite_reshape(c, tflite_part(c, sums, 2, r, r + 1), one, 2);
        y = y ? tflite_call2(c, "add", y, own) : is_hybrid ? own : with_bias(c, own);
    }
    return is_hybrid && y ? with_bias(c, y) : y;
}

static Tensor *dense_features(TfliteCall *c, Tensor *x, int zero)
{
    Tensor *w = tflite_call(c, "transpose", c->in[FEATURES], attr_list("perm", 1, 0));
    return tflite_call2(c, "dense", x, w, attr_if(zero, attr_int("zero", zero)));
}

/* Multiplies floats by 8-bit weights, on integers. Returns NULL if the weights have no single scale. */
static Tensor *hybrid_features(TfliteCall *c)
{
    TfliteHybrid h;
    if (!tflite_is_hybrid(c, X, FEATURES, 0) || tflite_in_info(c, FEATURES)->quant->count > 1) return NULL;
    if (!tflite_hybrid_round(c, c->in[X], 1, flat_int(&c->op->options, ASYMMETRIC, 1, 0) != 0, &h)) return NULL;
    return tflite_hybrid_real(c, dense_features(c, h.x, 0), &h, tflite_in_info(c, FEATURES)->quant, false);
}

static void keep(TfliteCall *c, const Svdf *s, Tensor *memory)
{
    c->next[STATE] = tflite_reshape(c, memory, (int64_t[]){ s->batch, s->filters * s->memory }, 2);
}

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static bool has_stored_types(TfliteCall *c)
{
    const DType state = c->in[STATE]->type, bias = tflite_in(c, BIAS) ? c->in[BIAS]->type : I32;
    if (c->in[FEATURES]->type != I8 || c->in[TIME]->type != state || (state != I8 && state != I16) || bias != I32)
        tflite_unsupported(c, "it has weights of the types %s and %s, a state of type %s, biases of type %s; use i8 "
                              "features, i32 biases, and a state of i8 or i16 with time weights of its type",
                           dtype_info(c->in[FEATURES]->type)->spelling, dtype_info(c->in[TIME]->type)->spelling,
                           dtype_info(state)->spelling, dtype_info(bias)->spelling);
    for (int i = X; i < INPUTS && !ctx_failed(c->cx); i++)
        if (i != BIAS && !tflite_has_quant(c, tflite_in_info(c, i), false)) return false;
    if (!ctx_failed(c->cx) && (tflite_zero(tflite_in_info(c, FEATURES)) || tflite_zero(tflite_in_info(c, TIME))))
        tflite_unsupported(c, "it has weights with zero points other than 0; use zero points of 0");
    return !ctx_failed(c->cx) && tflite_has_quant(c, tflite_out_info(c, 0), false);
}

/* The features are clamped before the zero point is added; this addition wraps around as in the reference. */
static Tensor *stored_features(TfliteCall *c)
{
    const TfliteTensor *x = tflite_in_info(c, X), *w = tflite_in_info(c, FEATURES), *m = tflite_in_info(c, STATE);
    const DTypeInfo *type = dtype_info(c->in[STATE]->type);
    const float scale = tflite_scale(x) * tflite_scale(w) / tflite_scale(m);
    Tensor *features = tflite_rescale(c, dense_features(c, c->in[X], tflite_zero(x)), tflite_factor((double)scale),
                                      (Rescaling){ .has_least = true, .has_greatest = true, .least = type->least,
                                                   .greatest = type->greatest, .to = I32 });
    if (tflite_zero(m)) features = tflite_call2(c, "add", features, tensor_scalar(c->cx, c->name, I32, tflite_zero(m)));
    return tflite_call(c, "cast", features, attr_type("to", c->in[STATE]->type));
}

static void svdf_integers(TfliteCall *c, const Svdf *s)
{
    const int activation = (int)flat_int(&c->op->options, ACTIVATION, 1, ACT_NONE);
    if (activation > ACT_RELU) tflite_refuse_activation(c, activation, ACT_RELU);
    if (!has_stored_types(c)) return;
    const TfliteTensor *v = tflite_in_info(c, TIME), *m = tflite_in_info(c, STATE), *y = tflite_out_info(c, 0);
    Tensor *memory = shifted(c, s, stored_features(c));
    Tensor *wide = tflite_call(c, "cast", memory, attr_type("to", I32));
    if (tflite_zero(m)) wide = tflite_call2(c, "sub", wide, tensor_scalar(c->cx, c->name, I32, tflite_zero(m)));
    Tensor *sums = filtered(c, s, wide, tflite_call(c, "cast", c->in[TIME], attr_type("to", I32)));
    const float scale = tflite_scale(m) * tflite_scale(v) / tflite_scale(y);
    c->out[0] = tflite_requantize(c, sums, &(double){ (double)scale }, 1, ACT_NONE);
    keep(c, s, memory);
}

static void svdf(TfliteCall *c)
{
    Svdf s;
    if (!read_svdf(c, &s)) return;
    if (tflite_is_int8(c)) {
        svdf_integers(c, &s);
        return;
    }
    Tensor *features = hybrid_features(c);
    for (int i = FEATURES; i <= TIME; i++)
        if (c->in[i]->type == I8 && !(features && i == FEATURES)) c->in[i] = tflite_real(c, i);
    if (ctx_failed(c->cx)) return;
    if (c->in[STATE]->type != F32 || (tflite_in(c, BIAS) && c->in[BIAS]->type != F32)) {
        tflite_unsupported(c, "it has a state of type %s; use f32, like the input",
                           dtype_info(c->in[STATE]->type)->spelling);
        return;
    }
    Tensor *memory = shifted(c, &s, features ? features : dense_features(c, c->in[X], 0));
    c->out[0] = tflite_activate(c, filtered_reals(c, &s, memory, c->in[TIME], features != NULL),
                                (int)flat_int(&c->op->options, ACTIVATION, 1, ACT_NONE));
    keep(c, &s, memory);
}

const TfliteRow tflite_rows_svdf[] = {
    { 27, "SVDF", 4, OPTIONS_SVDF, OF_F32 | OF_I8 | WRITES_VARIABLES, 1, NULL, svdf, TFLITE_KEEPS_NONE },
    { 0 }
};
