/* SPDX-License-Identifier: MIT */
/* Decision: UINT8 is INT8 with other zero points. The older quantization is lowered on values that are less by 128,
 * as the formulas depend on differences from zero points (`import/tflite/tflite_unsigned.c`). A tensor has both values
 * only if one operator is lowered so and its neighbour is not. A chain therefore has one conversion at each port. Rows
 * state the operators (`AS_INT8`), and moves follow their operand. Four references differ by more than the shift:
 * averages round ties up, `RESIZE_BILINEAR` is computed in floats, `L2_NORMALIZATION` scales before its product, and
 * `CONCATENATION` accepts operands of different scales (a table for each). TensorFlow Lite has no UINT8 form of
 * `SQUARED_DIFFERENCE`, `ABS` and `ELU`. */
#include "import/tflite/tflite_unsigned.h"

#include "support/text.h"

enum { OFFSET = 128 };

void tflite_unsigned_open(Ctx *cx, const TfliteFile *file, Tensor **as_is, TfliteUnsigned *out)
{
    *out = (TfliteUnsigned){ .cx = cx, .file = file, .as_is = as_is };
    out->shifted = NEW_ARRAY(cx->arena, Tensor *, file->tensor_count);
}

bool tflite_is_unsigned(const TfliteTensor *t) { return t->type == TFLITE_UINT8 && t->quant; }

bool tflite_runs_as_int8(const TfliteUnsigned *u, const TfliteOperator *op, const TfliteRow *row)
{
    const int first = op->in_count ? op->in[0] : -1;
    if (first >= 0 && row->types & FOLLOWS_INT8 && u->shifted[first]) return true;
    for (int i = 0; i < op->in_count && row->types & AS_INT8; i++)
        if (op->in[i] >= 0 && tflite_is_unsigned(&u->file->tensor[op->in[i]]))
            return i == 0 || u->file->tensor[op->in[0]].type != TFLITE_FLOAT32;
    return false;
}

static const Quant *shifted_quant(Ctx *cx, const Quant *q)
{
    Quant *out = NEW(cx->arena, Quant);
    int32_t *zero = NEW_ARRAY(cx->arena, int32_t, q->count);
    for (int i = 0; i < q->count; i++) zero[i] = q->zero_point[i] - OFFSET;
    *out = *q;
    out->zero_point = zero;
    return out;
}

static Bytes shifted_bytes(Ctx *cx, Bytes b)
{
    uint8_t *to = NEW_ARRAY(cx->arena, uint8_t, b.count);
    for (size_t i = 0; i < b.count; i++) to[i] = (uint8_t)(b.at[i] ^ OFFSET);
    return (Bytes){ to, b.count };
}

const TfliteFile *tflite_as_int8(TfliteUnsigned *u)
{
    if (u->as_int8) return u->as_int8;
    const int count = u->file->tensor_count;
    u->as_int8 = NEW(u->cx->arena, TfliteFile);
    *u->as_int8 = *u->file;
    u->as_int8->tensor = NEW_ARRAY(u->cx->arena, TfliteTensor, count);
    for (int i = 0; i < count; i++) {
        TfliteTensor *t = &u->as_int8->tensor[i];
        *t = u->file->tensor[i];
        if (!tflite_is_unsigned(t)) continue;
        t->type = TFLITE_INT8;
        t->quant = shifted_quant(u->cx, t->quant);
        if (t->data.count && !t->is_sparse) t->data = shifted_bytes(u->cx, t->data);
    }
    return u->as_int8;
}

static Tensor *other_sign(TfliteUnsigned *u, Tensor *x, const char *name, const Quant *quant)
{
    Tensor *out = call(u->cx, "recentered", name, &x, 1, NULL);
    if (out) out->quant = quant;
    return out;
}

Tensor *tflite_shifted(TfliteUnsigned *u, int index)
{
    const TfliteTensor *t = &tflite_as_int8(u)->tensor[index];
    if (u->shifted[index]) return u->shifted[index];
    if (t->data.count) u->shifted[index] = tflite_constant(u->cx, t);
    else if (u->as_is[index])
        u->shifted[index] = other_sign(u, u->as_is[index], text_format(u->cx, "%s_signed", t->name), t->quant);
    return u->shifted[index];
}

Tensor *tflite_unshifted(TfliteUnsigned *u, int index)
{
    const TfliteTensor *t = &u->file->tensor[index];
    if (!u->as_is[index] && u->shifted[index] && !t->data.count)
        u->as_is[index] = other_sign(u, u->shifted[index], t->name, t->quant);
    return u->as_is[index];
}
