/* SPDX-License-Identifier: MIT */
/* Translates Resize by scales of the run. Ordinary calls on floats compute positions, indices and weights, in ONNX
 * Runtime's order; each axis is gathered after the previous one. */
#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_listed.h"

#include <string.h>

typedef struct Sampled {
    OnnxCall *c;
    const OnnxSampling *form;
    Tensor *scale, *in;              /* scale: of the axis; in: the size of the axis as a float */
    const Expr *size;                /* the size of the result */
} Sampled;

static Tensor *both(const Sampled *s, const char *op, Tensor *a, Tensor *b) { return onnx_call2(s->c, op, a, b); }
static Tensor *real(const Sampled *s, double v) { return tensor_scalar(s->c->cx, s->c->name, F32, v); }
static bool is_word(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* Returns element i of a list of floats, which consists of constants and values of the run. */
static Tensor *scale_of(OnnxCall *c, Tensor *list, int i)
{
    int64_t at = i;
    Tensor *all = decided_origin(list, &at);
    if (all && tensor_is_constant(all))
        return tensor_scalar(c->cx, c->name, F32, dtype_load(all->type, all->data, at).f);
    Tensor *one = onnx_number_at(c, all, at);
    return one ? onnx_cast(c, one, F32) : NULL;
}

/* Returns floor(in * scale), after a test that the scale is above 0. */
static const Expr *scaled_size(Sampled *s, int axis)
{
    enum { FAR = 1 << 30 };
    OnnxCall *c = s->c;
    Tensor *product = onnx_call(c, "floor", both(s, "mul", s->in, s->scale)), *near = both(s, "min", product,
        real(s, FAR));
    Tensor *is_above = onnx_cast(c, both(s, "less", real(s, 0), s->scale), I64), *least = both(s, "max", near,
        real(s, 0));
    Tensor *tested = onnx_provided(c, onnx_cast(c, least, I64), is_above, 1, 1);
    return tested ? onnx_decided(c, 0, axis, tested, 0, -1) : NULL;
}

/* Returns the position in the operand of element i of the result. */
static Tensor *position(const Sampled *s)
{
    OnnxCall *c = s->c;
    const char *word = s->form->coordinates;
    Tensor *first = onnx_after(c, real(s, 0), &s->size, 1), *one = real(s, 1), *zero = real(s, 0), *half = real(s, 0.5);
    Tensor *i = onnx_call2(c, "ramp", first, one, attr_like(c->cx, c->name, F32, 1, &s->size));
    if (is_word(word, "asymmetric")) return both(s, "div", i, s->scale);
    Tensor *middle = both(s, "div", both(s, "add", i, half), s->scale);
    if (is_word(word, "tf_half_pixel_for_nn")) return middle;
    Tensor *centred = both(s, "sub", middle, half), *out = onnx_cast(c, onnx_dimension(c, s->size), F32);
    if (is_word(word, "half_pixel")) return centred;
    if (is_word(word, "pytorch_half_pixel")) return onnx_select(c, both(s, "less", one, out), centred, zero);
    Tensor *length = both(s, "mul", s->in, s->scale), *last = both(s, "sub", length, one),     /* for align_corners */
           *way = both(s, "mul", i, both(s, "sub", s->in, one)), *is_one = both(s, "equal", last, zero);
    return onnx_select(c, is_one, zero, both(s, "div", way, onnx_select(c, is_one, one, last)));
}

static Tensor *rounded(const Sampled *s, Tensor *v)
{
    OnnxCall *c = s->c;
    const char *mode = s->form->nearest;
    Tensor *half = real(s, 0.5);
    if (!mode) {                     /* operator sets below 11 */
        Tensor *shrinks = both(s, "less", s->scale, real(s, 1));
        Tensor *above = onnx_call(c, "ceil", v), *below = onnx_call(c, "floor", v);
        return onnx_select(c, shrinks, above, below);
    }
    if (is_word(mode, "round_prefer_floor")) return onnx_call(c, "ceil", both(s, "sub", v, half));
    if (is_word(mode, "round_prefer_ceil")) return onnx_call(c, "floor", both(s, "add", v, half));
    return onnx_call(c, mode, v);
}

/* Returns the elements of x at whole positions; positions outside give the first or the last element. */
static Tensor *elements_at(const Sampled *s, Tensor *x, int axis, Tensor *whole)
{
    OnnxCall *c = s->c;
    Tensor *zero = real(s, 0), *end = both(s, "sub", s->in, real(s, 1)), *last = both(s, "max", end, zero),
           *inside = both(s, "min", both(s, "max", whole, zero), last), *index = onnx_cast(c, inside, I64);
    return onnx_call2(c, "gather", x, index, attr_int("axis", axis));
}

/* Returns the weight of an element at distance d for cubic interpolation (Keys 1981). d is 0 to 1 if is_near, otherwise
 * 1 to 2. */
static Tensor *weight(const Sampled *s, Tensor *d, bool is_near)
{
    const double a = s->form->cubic;
    if (is_word(s->form->mode, "linear")) return both(s, "sub", real(s, 1), d);
    Tensor *cube = both(s, "mul", real(s, is_near ? a + 2 : a), d),
           *square = both(s, "mul", both(s, "sub", cube, real(s, is_near ? a + 3 : 5 * a)), d);
    Tensor *sum = is_near ? square : both(s, "add", square, real(s, 8 * a)), *product = both(s, "mul", sum, d);
    return is_near ? both(s, "add", product, real(s, 1)) : both(s, "sub", product, real(s, 4 * a));
}

static Tensor *interpolated(const Sampled *s, Tensor *x, int axis, Tensor *at)
{
    OnnxCall *c = s->c;
    const bool is_linear = is_word(s->form->mode, "linear");
    Tensor *base = onnx_call(c, "floor", at), *part = both(s, "sub", at, base), *sum = NULL;
    for (int t = is_linear ? 0 : -1; t <= (is_linear ? 1 : 2); t++) {
        Tensor *to = real(s, t), *distance = t <= 0 ? both(s, "sub", part, to) : both(s, "sub", to, part);
        Tensor *w = onnx_append_ones(c, weight(s, distance, t == 0 || t == 1), x->rank - 1 - axis);
        Tensor *element = elements_at(s, x, axis, both(s, "add", base, to));
        Tensor *term = w && element ? both(s, "mul", element, onnx_cast(c, w, x->type)) : NULL;
        sum = sum && term ? both(s, "add", sum, term) : term;
    }
    return sum;
}

Tensor *onnx_resize_by_scales(OnnxCall *c, const OnnxSampling *form, Tensor *scales, const int64_t *axes, int count)
{
    Tensor *x = c->in[0];
    const DType t = x->type;
    const bool is_nearest = is_word(form->mode, "nearest");
    if (!is_nearest && !dtype_is_float(t)) x = onnx_cast(c, x, F32);
    for (int i = 0; i < count && x && !ctx_failed(c->cx); i++) {
        const int axis = (int)axes[i];
        Sampled s = { .c = c, .form = form };
        s.scale = scale_of(c, scales, i);
        s.in = onnx_cast(c, onnx_dimension(c, x->shape[axis]), F32);
        if (!s.scale || (tensor_is_constant(s.scale) && dtype_load(F32, s.scale->data, 0).f == 1)) continue;
        s.size = scaled_size(&s, axis);
        Tensor *at = s.size ? position(&s) : NULL;
        x = at ? onnx_indexed(c, x, axis, &s.size, 1) : NULL;
        x = !x ? NULL : is_nearest ? elements_at(&s, x, axis, rounded(&s, at)) : interpolated(&s, x, axis, at);
    }
    if (!x || dtype_is_float(t)) return x;
    return onnx_cast(c, is_nearest || !form->nearest ? x : onnx_call(c, "nearbyint", x), t);
}
