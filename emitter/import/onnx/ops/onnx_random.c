/* SPDX-License-Identifier: MIT */
/* Translates operators with random numbers (ops/elements/random.c has the generators). A node's key is its attribute
 * `seed`, the bits of that float. Without a seed it is an FNV-1a hash of the name of the node's first output, continued
 * with the first outputs of the calls of the enclosing functions. So nodes draw different numbers, and a model draws
 * the same numbers in every run. In a loop's body the key becomes key * prime + iteration, for each enclosing loop,
 * innermost first. A dropout with a seed draws the numbers of ONNX's reference implementation, which restarts in each
 * iteration. */
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/ops/onnx_rows.h"
#include "support/text.h"

static const uint64_t prime = UINT64_C(0x100000001b3);

static uint64_t fnv1a(uint64_t hash, const char *s)
{
    for (; *s; s++) hash = (hash ^ (uint8_t)*s) * prime;
    return hash;
}

static Tensor *u64_scalar(OnnxCall *c, uint64_t v)
{
    return tensor_constant(c->cx, c->name, U64, 0, NULL, arena_copy(c->cx->arena, &v, sizeof v));
}

static Tensor *key_of(OnnxCall *c)
{
    const OnnxAttr *seed = onnx_attr(c, "seed");
    uint64_t key = fnv1a(UINT64_C(0xcbf29ce484222325), c->node->out_count ? c->node->out[0] : "");
    for (const OnnxScope *s = c->scope; s; s = s->outer)
        if (s->caller && s->caller->out_count) key = fnv1a(key, s->caller->out[0]);
    if (seed) {
        const float value = (float)seed->f;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = bits;
    }
    Tensor *iteration[ONNX_DEEPEST], *result = u64_scalar(c, key);
    const int loops = onnx_iterations(c->scope, iteration, ONNX_DEEPEST);
    for (int i = 0; i < loops; i++) {
        Tensor *wide = onnx_cast(c, iteration[i], U64);
        result = onnx_call2(c, "add", onnx_call2(c, "mul", result, u64_scalar(c, prime)), wide);
    }
    return result;
}

/* Reads attribute dtype, or uses `otherwise`; returns false if it is refused. */
static bool read_type(OnnxCall *c, DType otherwise, DType *t)
{
    const OnnxAttr *a = onnx_attr(c, "dtype");
    *t = otherwise;
    if (!a || onnx_dtype(a->i, t)) return true;
    onnx_refuse_type(c, "'dtype' is", a->i);
    return false;
}

typedef struct Shape { int64_t at[MAX_RANK]; int rank; } Shape;

static Shape shape_of(const Tensor *x)
{
    Shape s = { .rank = x->rank };
    for (int d = 0; d < x->rank; d++) s.at[d] = tensor_dim(x, d);
    return s;
}

/* Returns the attribute `shape`, or none for rank 0, because the IR operators default to a scalar. */
static Attr attr_shape(const Shape *s) { return attr_if(s->rank, attr_ints("shape", s->at, s->rank)); }

/* The distribution's parameters: real attributes that have the same names in the node and in the IR operator. */
enum { MOST_PARAMETERS = 4 };
typedef struct Parameters { Attr at[MOST_PARAMETERS]; } Parameters;

static Parameters parameters_of(OnnxCall *c)
{
    Parameters p = { { { 0 } } };
    int count = 0;
    for (const AttrRow *r = op_find(c->cx, c->op_name)->attr; r->name && count < MOST_PARAMETERS; r++) {
        const char *end;
        if (r->kind == ATTR_REAL)
            p.at[count++] = attr_real(r->name, onnx_real(c, r->name, text_read_double(r->otherwise, &end)));
    }
    return p;
}

/* Draws numbers of the shape; 16-bit floats are rounded from f32. */
static Tensor *random_call(OnnxCall *c, const char *op, DType t, Shape shape, Parameters p)
{
    if (!dtype_is_float(t))
        onnx_unsupported(c, "the random numbers have the type %s; use a float type", dtype_info(t)->spelling);
    Tensor *key = ctx_failed(c->cx) ? NULL : key_of(c);
    return onnx_cast(c, onnx_call(c, op, key, attr_type("to", t == F64 ? F64 : F32), attr_shape(&shape), p.at[0],
                                  p.at[1], p.at[2], p.at[3]), t);
}

/* Draws numbers from [0, 1). */
static Tensor *uniform_like(OnnxCall *c, const Tensor *x)
{
    return random_call(c, "random_uniform", x->type == F64 ? F64 : F32, shape_of(x), (Parameters){ { { 0 } } });
}

static void random_of_shape(OnnxCall *c)
{
    Shape shape;
    DType t;
    shape.rank = onnx_ints(c, "shape", -1, shape.at, MAX_RANK);
    if (!onnx_is_missing(c, shape.rank, "shape") && read_type(c, F32, &t))
        c->out[0] = random_call(c, c->op_name, t, shape, parameters_of(c));
}

static void random_like(OnnxCall *c)
{
    DType t;
    if (!onnx_requires(c, 1) || !read_type(c, dtype_is_float(c->in[0]->type) ? c->in[0]->type : F32, &t)) return;
    c->out[0] = random_call(c, c->op_name, t, shape_of(c->in[0]), parameters_of(c));
}

/* Draws 1 with the probability that the input gives, otherwise 0. */
static void bernoulli(OnnxCall *c)
{
    DType t;
    if (!onnx_requires(c, 1) || !read_type(c, c->in[0]->type, &t)) return;
    c->out[0] = onnx_cast(c, onnx_call2(c, "less", uniform_like(c, c->in[0]), c->in[0]), t);
}

static void multinomial(OnnxCall *c)
{
    DType t;
    if (!onnx_requires(c, 1) || !read_type(c, I32, &t)) return;
    Tensor *key = key_of(c), *y = call(c->cx, "multinomial", c->name, (Tensor *[]){ c->in[0], key }, 2,
                                       ATTRS(attr_int("samples", onnx_int(c, "sample_size", 1))));
    c->out[0] = onnx_cast(c, y, t);
}

/* Returns u >= ratio for each element of x. */
static Tensor *keep_mask(OnnxCall *c, const Tensor *x, Tensor *ratio)
{
    if (!onnx_attr(c, "seed")) return onnx_call2(c, "greater_equal", uniform_like(c, x), ratio);
    const uint32_t seed = (uint32_t)onnx_int(c, "seed", 0);
    Tensor *key = tensor_constant(c->cx, c->name, U32, 0, NULL, arena_copy(c->cx->arena, &seed, sizeof seed));
    const Shape shape = shape_of(x);
    Tensor *wide = onnx_cast(c, ratio, F64);
    return onnx_call2(c, "greater_equal", onnx_call(c, "mersenne_uniform", key, attr_shape(&shape)), wide);
}

/* In training, keeps each element with probability 1 - ratio, scaled up so that the mean is preserved. */
static void dropout_trained(OnnxCall *c)
{
    Tensor *x = onnx_cast(c, c->in[0], c->in[0]->type == F64 ? F64 : F32), *ratio = onnx_in(c, 1);
    if (!x) return;
    ratio = ratio ? onnx_cast(c, onnx_reshape(c, ratio, NULL, 0), x->type) : onnx_scalar_like(c, x, 0.5);
    Tensor *kept = keep_mask(c, x, ratio);
    Tensor *rescaled = onnx_call2(c, "div", x, onnx_call2(c, "sub", onnx_scalar_like(c, x, 1), ratio));
    if (!kept || !rescaled) return;
    c->out[0] = onnx_cast(c, onnx_select(c, kept, rescaled, onnx_scalar_like(c, x, 0)), c->in[0]->type);
    c->out[1] = kept;
}

/* In inference, returns the input, and a mask that is true everywhere. --train reads the ratio. */
static void dropout(OnnxCall *c)
{
    double is_training = 0, ratio = 0.5;
    if (!onnx_requires(c, 1)) return;
    onnx_scalar(c, 2, &is_training);
    if (is_training != 0) {
        dropout_trained(c);
        return;
    }
    onnx_scalar(c, 1, &ratio);
    const bool has_form = dtype_is_float(c->in[0]->type) && ratio > 0 && ratio < 1;
    c->out[0] = has_form ? call_on(c->cx, "dropout", c->name, c->in[0], ATTRS(attr_real("ratio", ratio))) : c->in[0];
    const Shape shape = shape_of(c->in[0]);
    if (c->node->out_count > 1)
        c->out[1] = onnx_call(c, "expand", tensor_scalar(c->cx, c->name, BOOL, 1), attr_shape(&shape));
}

const OnnxOp onnx_rows_random[] = {
    { ONNX_ROW("Bernoulli", 1, "dtype seed", bernoulli) },
    { ONNX_MOVE("Dropout", 3, "ratio seed", dropout), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Multinomial", 1, "dtype sample_size seed", multinomial) },
    { ONNX_AS("RandomNormal", 0, "dtype mean scale seed shape", "random_normal", random_of_shape) },
    { ONNX_AS("RandomNormalLike", 1, "dtype mean scale seed", "random_normal", random_like), .moves = true },
    { ONNX_AS("RandomUniform", 0, "dtype high low seed shape", "random_uniform", random_of_shape) },
    { ONNX_AS("RandomUniformLike", 1, "dtype high low seed", "random_uniform", random_like), .moves = true },
    { 0 }
};
