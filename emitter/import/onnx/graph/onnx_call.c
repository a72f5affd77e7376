/* SPDX-License-Identifier: MIT */
/* Has helpers that the translations of ONNX nodes share: queries of attributes and constants, and constructors of
 * calls. */
#include <string.h>

#include "import/onnx/graph/onnx_ops.h"
#include "support/text.h"

/* ---- Attributes and constant inputs ------------------------------------------------------------------------------ */

const char *onnx_where(Ctx *cx, const OnnxNode *n) { return text_format(cx, "node \"%s\" (%s)", n->name, n->type); }

const OnnxAttr *onnx_attr(const OnnxCall *c, const char *attr)
{
    for (int i = 0; i < c->node->attr_count; i++)
        if (strcmp(c->node->attr[i].name, attr) == 0) return &c->node->attr[i];
    return NULL;
}

int64_t onnx_int(const OnnxCall *c, const char *attr, int64_t otherwise)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->i : otherwise;
}

double onnx_real(const OnnxCall *c, const char *attr, double otherwise)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->f : (double)(float)otherwise;      /* attributes and their defaults are floats */
}

const char *onnx_text(const OnnxCall *c, const char *attr, const char *otherwise)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    return a ? a->s : otherwise;
}

Tensor *onnx_in(const OnnxCall *c, int index) { return index >= 0 && index < c->in_count ? c->in[index] : NULL; }

void onnx_refuse_type(OnnxCall *c, const char *what, int64_t data_type)
{
    onnx_unsupported(c, "%s %s; use %s", what, onnx_type_text(c->cx, data_type), onnx_types_text(c->cx));
}

bool onnx_requires(OnnxCall *c, int count)
{
    for (int i = 0; i < count; i++)
        if (!onnx_in(c, i)) {
            onnx_refuse(c, "input %d is missing", i);
            return false;
        }
    return !ctx_failed(c->cx);
}

/* Clamps values beyond 32 bits, so that arithmetic on them cannot overflow. Models often write "to the end" as the
 * largest or smallest int64. The upper limit is INT32_MAX + 1, so that a size of this value is refused. */
static int64_t near_32_bits(int64_t v)
{
    const int64_t most = (int64_t)INT32_MAX + 1;
    return v > most ? most : v < -INT32_MAX ? -INT32_MAX : v;
}

const char *onnx_found_text(Ctx *cx, const Tensor *t)
{
    return tensor_is_constant(t) ? text_format(cx, "%s%s", dtype_info(t->type)->spelling, tensor_shape_text(cx, t))
                                 : "not constant";
}

int onnx_ints(OnnxCall *c, const char *attr, int index, int64_t *out, int most)
{
    const OnnxAttr *a = attr ? onnx_attr(c, attr) : NULL;
    const Tensor *t = onnx_in(c, index);
    int64_t count = a ? a->int_count : t ? tensor_elems(t) : -1;
    if (!a && !t) return -1;
    if (!a && (!tensor_is_constant(t) || !dtype_is_integer(t->type) || t->rank > 1)) {
        onnx_unsupported(c, "input %d (\"%s\") is %s; use a list of integers that is known at compile time", index,
                         t->name, onnx_found_text(c->cx, t));
        return -2;
    }
    if (count > most) {
        onnx_refuse(c, "there are %lld values in %s; use at most %d values", (long long)count, a ? attr : t->name,
                    most);
        return -2;
    }
    for (int64_t i = 0; i < count; i++) out[i] = near_32_bits(a ? a->ints[i] : dtype_load(t->type, t->data, i).i);
    return (int)count;
}

int onnx_ints_since(OnnxCall *c, int64_t since, const char *attr, int index, int64_t *out, int most)
{
    return c->opset < since ? onnx_ints(c, attr, -1, out, most) : onnx_ints(c, NULL, index, out, most);
}

bool onnx_is_missing(OnnxCall *c, int count, const char *what)
{
    if (count == -1) onnx_refuse(c, "'%s' is missing", what);
    return count < 0;
}

int onnx_axis(OnnxCall *c, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank) return (int)(axis < 0 ? axis + rank : axis);
    onnx_refuse(c, "axis %lld is out of range for %d dimensions; %s", (long long)axis, rank,
                indices_accepted_text(c->cx, rank));
    return -1;
}

bool onnx_scalar(OnnxCall *c, int index, double *out)
{
    const Tensor *t = onnx_in(c, index);
    if (!t) return false;
    if (!tensor_is_constant(t) || tensor_elems(t) != 1) {
        onnx_unsupported(c, "input %d (\"%s\") is %s; use one number that is known at compile time", index, t->name,
                         onnx_found_text(c->cx, t));
        return false;
    }
    Scalar s = dtype_load(t->type, t->data, 0);
    *out = dtype_is_float(t->type) ? s.f : (double)s.i;
    return true;
}

/* ---- Constructors ------------------------------------------------------------------------------------------------ */

Tensor *onnx_scalar_like(OnnxCall *c, const Tensor *x, double v)
{
    return x ? tensor_scalar(c->cx, c->name, x->type, v) : NULL;
}

Tensor *onnx_cast(OnnxCall *c, Tensor *x, DType to)
{
    if (!x || x->type == to) return x;
    if (!tensor_is_constant(x) || !dtype_is_float(x->type) || !dtype_is_float(to))
        return onnx_call(c, "cast", x, attr_type("to", to));
    int64_t shape[MAX_RANK];
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    void *data;
    Tensor *y = tensor_zeros(c->cx, x->name, to, x->rank, shape, &data);
    for (int64_t i = 0; y && i < tensor_elems(x); i++)
        dtype_store(to, data, i, dtype_wrap(to, dtype_load(x->type, x->data, i)));
    return y;
}

Tensor *onnx_reshape(OnnxCall *c, Tensor *x, const int64_t *shape, int rank)
{
    return onnx_call(c, "reshape", x, attr_ints("shape", shape, rank));
}

Tensor *onnx_view(OnnxCall *c, Tensor *x, const Expr *const *shape, int rank)
{
    return x && !ctx_failed(c->cx) ? view_call(c->cx, c->name, x, tensor_new(c->cx, c->name, x->type, rank, shape))
                                   : NULL;
}

Tensor *onnx_empty(OnnxCall *c, DType t, const int64_t *shape, int rank)
{
    int64_t sizes[MAX_RANK];
    for (int d = 0; d < rank; d++) sizes[d] = shape[d] < 0 ? 0 : shape[d];
    return ctx_failed(c->cx) ? NULL : tensor_constant(c->cx, c->name, t, rank, sizes, NULL);
}

Tensor *onnx_append_ones(OnnxCall *c, Tensor *x, int count)
{
    const Expr *shape[MAX_RANK];
    int rank = 0;
    if (!x || count <= 0) return x;
    for (; rank < x->rank; rank++) shape[rank] = x->shape[rank];
    for (int i = 0; i < count && rank < MAX_RANK; i++) shape[rank++] = expr_index(c->cx, 1);
    return onnx_view(c, x, shape, rank);
}

static Tensor *channels(OnnxCall *c, Tensor *x, bool last)
{
    int64_t perm[MAX_RANK] = { 0 };
    if (!x || x->rank < 3) return x;
    for (int d = 1; d < x->rank; d++) perm[d] = last ? d + 1 : d - 1;
    perm[last ? x->rank - 1 : 1] = last ? 1 : x->rank - 1;
    return onnx_call(c, "transpose", x, attr_ints("perm", perm, x->rank));
}

Tensor *onnx_channels_last(OnnxCall *c, Tensor *x) { return channels(c, x, true); }
Tensor *onnx_channels_second(OnnxCall *c, Tensor *x) { return channels(c, x, false); }
