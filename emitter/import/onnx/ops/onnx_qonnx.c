/* SPDX-License-Identifier: MIT */
/* Translates quantizers of QONNX (Pappalardo et al. 2022, "QONNX: Representing Arbitrary-Precision Quantized Neural
 * Networks"), as Brevitas exports them:
 *
 *   Quant, IntQuant   y = (round(clamp(x / scale + zero, least, greatest)) - zero) * scale
 *   BipolarQuant      y = scale where x >= 0, else -scale
 *
 * `bits`, `signed` and `narrow` determine the bounds. A signed bit is bipolar. */
#include <math.h>
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

typedef struct Quantizer { Tensor *scale, *zero; double bits, least, greatest; bool is_signed; const char *rounding;
} Quantizer;

/* Returns the sign of x times f(|x| + more). */
static Tensor *by_magnitude(OnnxCall *c, const char *f, Tensor *x, double more)
{
    Tensor *size = onnx_call(c, "abs", x);
    if (more != 0) size = onnx_call2(c, "add", size, onnx_scalar_like(c, x, more));
    Tensor *changed = onnx_call(c, f, size);
    return onnx_call2(c, "mul", onnx_call(c, "sign", x), changed);
}

/* Returns an operator of x, or the sign times an operator of the magnitude plus `more`. */
static const struct { const char *word, *op; bool is_by_magnitude; double more; } roundings[] = {
    { "ROUND",     "nearbyint", false, 0 }, { "HALF_EVEN", "nearbyint", false, 0 },
    { "CEIL",      "ceil",      false, 0 }, { "FLOOR",     "floor",     false, 0 },
    { "UP",        "ceil",      true,  0 }, { "DOWN",      "trunc",     false, 0 },
    { "HALF_UP",   "floor",     true,  0.5 }, { "HALF_DOWN", "ceil",    true,  -0.5 },
};

static bool is_word(const char *s, const char *word)
{
    for (; *s && *word; s++, word++)
        if ((*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s) != *word) return false;
    return !*s && !*word;
}

static Tensor *rounded(OnnxCall *c, const char *word, Tensor *x)
{
    for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++)
        if (is_word(word, roundings[i].word))
            return roundings[i].is_by_magnitude ? by_magnitude(c, roundings[i].op, x, roundings[i].more)
                                                : onnx_call(c, roundings[i].op, x);
    onnx_refuse(c, "'rounding_mode' is \"%s\"; use one of ROUND, HALF_EVEN, CEIL, FLOOR, UP, DOWN, HALF_UP, "
                "HALF_DOWN", word);
    return NULL;
}

/* Returns 1 where x >= 0, otherwise -1. */
static Tensor *bipolar(OnnxCall *c, Tensor *x)
{
    if (!x) return NULL;
    Tensor *below = onnx_scalar_like(c, x, -1), *above = onnx_scalar_like(c, x, 1);
    return onnx_select(c, onnx_call2(c, "greater_equal", x, onnx_scalar_like(c, x, 0)), above, below);
}

/* Returns true for a constant of zeros; other constants are added in floats, before rounding. */
static bool is_zero(const Tensor *t)
{
    bool is = tensor_is_constant(t);
    for (int64_t i = 0; is && i < tensor_elems(t); i++) is = dtype_load(t->type, t->data, i).f == 0;
    return is;
}

/* Returns the integer type that holds the grid of up to 16 bits. */
static bool type_of(const Quantizer *q, DType *t)
{
    if (q->bits > 16 || q->bits < 2 || q->bits != floor(q->bits)) return false;
    *t = q->bits > 8 ? q->is_signed ? I16 : U16 : q->is_signed ? I8 : U8;
    return true;
}

/* Emits a pair of QuantizeLinear and DequantizeLinear, which later passes compute on integers. */
static Tensor *through_integers(OnnxCall *c, const Quantizer *q, Tensor *x, DType t)
{
    Tensor *y = onnx_quantized(c, x, q->scale, NULL, t);
    if (q->least > (double)dtype_info(t)->least || q->greatest < (double)dtype_info(t)->greatest)
        y = onnx_call(c, "clip", y, attr_real("min", q->least), attr_real("max", q->greatest));
    return onnx_dequantized(c, y, q->scale, NULL);
}

static bool read_quantizer(OnnxCall *c, Quantizer *q)
{
    if (!onnx_requires(c, 4) || !onnx_scalar(c, 3, &q->bits)) return false;
    const bool is_narrow = onnx_int(c, "narrow", 0) != 0;
    if (!dtype_is_float(c->in[0]->type) || !(q->bits >= 1 && q->bits <= 32)) {
        onnx_refuse(c, "it has %g bits of %s; use 1 to 32 bits of floats", q->bits,
                    dtype_info(c->in[0]->type)->spelling);
        return false;
    }
    q->scale = onnx_cast(c, c->in[1], c->in[0]->type);
    q->zero = onnx_cast(c, c->in[2], c->in[0]->type);
    q->is_signed = onnx_int(c, "signed", 1) != 0;
    q->rounding = onnx_text(c, "rounding_mode", "ROUND");
    const double half = pow(2, q->bits - 1);
    q->least = q->is_signed ? -half + is_narrow : 0;
    q->greatest = q->is_signed ? half - 1 : 2 * half - 1 - is_narrow;
    return q->scale && q->zero;
}

static void quant(OnnxCall *c)
{
    Quantizer q;
    DType t;
    if (!read_quantizer(c, &q)) return;
    Tensor *x = c->in[0];
    const bool is_bit = q.bits == 1 && q.is_signed,
               is_usual = is_word(q.rounding, "ROUND") || is_word(q.rounding, "HALF_EVEN");
    if (!is_bit && is_usual && is_zero(q.zero) && type_of(&q, &t)) {
        c->out[0] = through_integers(c, &q, x, t);
        return;
    }
    Tensor *y = onnx_call2(c, "add", onnx_call2(c, "div", x, q.scale), q.zero);
    if (is_bit) y = bipolar(c, y);
    else y = rounded(c, q.rounding, onnx_call(c, "clip", y, attr_real("min", q.least), attr_real("max", q.greatest)));
    c->out[0] = onnx_call2(c, "mul", onnx_call2(c, "sub", y, q.zero), q.scale);
}

static void bipolar_quant(OnnxCall *c)
{
    if (onnx_requires(c, 2)) c->out[0] = onnx_call2(c, "mul", bipolar(c, c->in[0]), c->in[1]);
}

#define QUANT(type) ONNX_ROW(type, 4, "narrow rounding_mode signed", quant)
const OnnxOp onnx_rows_qonnx[] = {
    { ONNX_ROW("onnx.brevitas.BipolarQuant", 2, "", bipolar_quant) },
    { QUANT("onnx.brevitas.Quant") },
    { ONNX_ROW("qonnx.custom_op.general.BipolarQuant", 2, "", bipolar_quant) },
    { QUANT("qonnx.custom_op.general.IntQuant") },
    { QUANT("qonnx.custom_op.general.Quant") },
    { 0 }
};
