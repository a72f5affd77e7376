/* SPDX-License-Identifier: MIT */
/* Has functions that the lowerings of operators share. The rows are in the tflite_*.c files, with their lowerings. */
#include "import/tflite/ops/tflite_ops.h"

#include <string.h>

#include "support/text.h"

const char *tflite_types_text(Ctx *cx, int types)
{
    static const struct { int type; const char *name; } names[] = {
        { OF_F32, "FLOAT32" }, { OF_I8, "INT8" },   { OF_I32, "INT32" },       { OF_I64, "INT64" },
        { OF_BOOL, "BOOL" },   { OF_U8, "UINT8" },  { OF_I16, "INT16" },       { OF_HANDLE, "RESOURCE" },
        { OF_F16, "FLOAT16" }, { OF_U32, "UINT32" }, { OF_U64, "UINT64" },     { OF_COMPLEX, "COMPLEX64" },
    };
    Text t = text_new(cx);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (types & names[i].type || (names[i].type == OF_U8 && types & AS_INT8))
            text_printf(&t, "%s%s", t.length ? " " : "", names[i].name);
    return text_string(&t);
}

void tflite_lower(TfliteCall *c)
{
    if (c->row->lower) c->row->lower(c);
    else if (tflite_needs(c, 1)) c->out[0] = call(c->cx, c->row->op_name, c->name, c->in, c->in_count, NULL);
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

const char *tflite_where(Ctx *cx, const TfliteFile *f, const TfliteOperator *op)
{
    const char *kind = op->code == TFLITE_CUSTOM ? op->custom : tflite_builtin_text(op->code);
    if (!kind) kind = text_format(cx, "builtin %d", op->code);
    return text_format(cx, "operator \"%s\" (%s)", op->out_count ? f->tensor[op->out[0]].name : "", kind);
}

const TfliteTensor *tflite_in_info(const TfliteCall *c, int i)
{
    return i < c->op->in_count && c->op->in[i] >= 0 ? &c->file->tensor[c->op->in[i]] : NULL;
}

const TfliteTensor *tflite_out_info(const TfliteCall *c, int i)
{
    return i < c->op->out_count ? &c->file->tensor[c->op->out[i]] : NULL;
}

Tensor *tflite_in(const TfliteCall *c, int i) { return i < c->in_count ? c->in[i] : NULL; }
bool tflite_is_int8(const TfliteCall *c) { return c->in[0] && c->in[0]->type == I8; }

bool tflite_is_int16(const TfliteCall *c)
{
    const TfliteTensor *x = tflite_in_info(c, 0);
    return c->in[0] && c->in[0]->type == I16 && x && x->quant;
}
bool tflite_is_quantized(const TfliteCall *c) { return tflite_is_int8(c) || tflite_is_int16(c); }

bool tflite_needs(TfliteCall *c, int count)
{
    for (int i = 0; i < count; i++)
        if (!tflite_in(c, i)) {
            tflite_refuse(c, "input %d is missing", i);
            return false;
        }
    return !ctx_failed(c->cx);
}

int tflite_ints(TfliteCall *c, int index, int64_t *out, int most)
{
    const Tensor *t = tflite_in(c, index);
    if (!t) return -1;
    if (!tensor_is_constant(t) || (t->type != I32 && t->type != I64)) {
        tflite_unsupported(c, "input %d (\"%s\") is not a constant of type INT32 or INT64; use integers that are known "
                           "at compile time", index, t->name);
        return -2;
    }
    int64_t count = tensor_elems(t);
    if (count > most) {
        tflite_refuse(c, "there are %lld values in \"%s\"; use at most %d values", (long long)count, t->name, most);
        return -2;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t v = dtype_load(t->type, t->data, i).i;
        out[i] = v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : v;
    }
    return (int)count;
}

bool tflite_list(TfliteCall *c, int i, int64_t *out, int count)
{
    int64_t all[2 * MAX_RANK];                           /* the file may have more numbers than `out` has room for */
    const int found = tflite_ints(c, i, all, 2 * MAX_RANK);
    if (found == count) memcpy(out, all, (size_t)count * sizeof *out);
    else if (found >= 0) tflite_refuse(c, "input %d holds %d integers; use %d integers", i, found, count);
    return found == count;
}

int tflite_axis(TfliteCall *c, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank) return (int)(axis < 0 ? axis + rank : axis);
    tflite_refuse(c, "axis %lld is out of range for %d dimensions; %s", (long long)axis, rank,
                  indices_accepted_text(c->cx, rank));
    return -1;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

Tensor *tflite_reshape(TfliteCall *c, Tensor *x, const int64_t *shape, int rank)
{
    return tflite_call(c, "reshape", x, attr_ints("shape", shape, rank));
}

Tensor *tflite_part(TfliteCall *c, Tensor *x, int axis, int64_t begin, int64_t end)
{
    return tflite_call(c, "slice", x, attr_list("axes", axis), attr_list("begin", begin), attr_list("end", end));
}

Tensor *tflite_cast(TfliteCall *c, Tensor *x, DType to)
{
    return !x || x->type == to ? x : tflite_call(c, "cast", x, attr_type("to", to));
}

Tensor *tflite_ramp(TfliteCall *c, DType type, int64_t count, int axis, int rank)
{
    int64_t shape[MAX_RANK];
    if (count < 1 || count > TFLITE_MOST_CONSTANT) {
        tflite_unsupported(c, "it has %lld positions; use 1 to %d positions", (long long)count, TFLITE_MOST_CONSTANT);
        return NULL;
    }
    int64_t *value = NEW_ARRAY(c->cx->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) value[i] = i;
    for (int d = 0; d < rank; d++) shape[d] = d == axis ? count : 1;
    return tflite_cast(c, tensor_constant(c->cx, "at", I64, rank, shape, value), type);
}

Tensor *tflite_activate(TfliteCall *c, Tensor *x, int activation)
{
    switch (activation) {
    case ACT_NONE:         return x;
    case ACT_RELU:         return tflite_call(c, "relu", x);
    case ACT_RELU_N1_TO_1: return tflite_call(c, "clip", x, attr_real("min", -1), attr_real("max", 1));
    case ACT_RELU6:        return tflite_call(c, "clip", x, attr_real("min", 0), attr_real("max", 6));
    case ACT_TANH:         return tflite_call(c, "tanh", x);
    default:
        tflite_refuse_activation(c, activation, ACT_TANH);
        return NULL;
    }
}

void tflite_refuse_activation(TfliteCall *c, int activation, int last)
{
    static const char *const names[] = { "NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT" };
    bool is_known = activation >= 0 && activation <= ACT_SIGN_BIT;
    Text accepted = text_new(c->cx);
    for (int i = 0; i <= last; i++) text_printf(&accepted, "%s%s", i ? ", " : "", names[i]);
    tflite_unsupported(c, "it has the fused activation %s%s; use %s",
                       is_known ? names[activation] : text_format(c->cx, "%d", activation),
                       tflite_is_int8(c) ? " of int8" : "", text_string(&accepted));
}
