/* SPDX-License-Identifier: MIT */
/* Translates tensors that follow from attributes and sizes: shapes, constants, ranges. If no size is open, they are
 * constants. */
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_sizes.h"
#include "import/onnx/ops/onnx_rows.h"
#include "ir/algebra/algebra.h"

enum { MOST_ELEMS = 1 << 16 };       /* limit of the number of elements of a filled constant */

static Tensor *int64_constant(OnnxCall *c, int rank, const int64_t *v, int64_t count)
{
    return tensor_constant(c->cx, c->name, I64, rank, &count, v);
}

static Tensor *string_constant(OnnxCall *c, int rank, const char *const *text, int64_t count)
{
    int64_t *index = NEW_ARRAY(c->cx->arena, int64_t, count);
    onnx_string_indices(c->cx, c->strings, (int)count, text, index);
    Tensor *t = int64_constant(c, rank, index, count);
    onnx_mark_strings(c->strings, t);
    return t;
}

static void shape_of(OnnxCall *c)
{
    int64_t dims[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    int64_t rank = c->in[0]->rank, start = onnx_int(c, "start", 0), end = onnx_int(c, "end", rank);
    start = start < 0 ? start + rank : start;
    end = end < 0 ? end + rank : end > rank ? rank : end;
    if (start < 0) start = 0;
    for (int d = 0; d < rank; d++) dims[d] = tensor_dim(c->in[0], d);
    c->out[0] = int64_constant(c, 1, dims + (start < rank ? start : rank), end > start ? end - start : 0);
}

static void size_of(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    int64_t elems = tensor_elems(c->in[0]);
    c->out[0] = int64_constant(c, 0, &elems, 1);
}

static void constant(OnnxCall *c)
{
    static const char constant_attrs[] = "value, sparse_value, value_int, value_ints, value_float, value_floats, "
                                         "value_string and value_strings";
    Ctx *cx = c->cx;
    const OnnxAttr *a = c->node->attr_count == 1 ? &c->node->attr[0] : NULL;
    float *reals = NEW_ARRAY(cx->arena, float, a ? a->real_count + 1 : 1);
    int64_t count;
    if (!a) onnx_refuse(c, "it has %d attributes; use one of %s", c->node->attr_count, constant_attrs);
    else if (strcmp(a->name, "value_string") == 0) c->out[0] = string_constant(c, 0, &a->s, 1);
    else if (strcmp(a->name, "value_strings") == 0) c->out[0] = string_constant(c, 1, a->texts, a->text_count);
    else if (strcmp(a->name, "value") == 0 && a->tensor && a->tensor->data_type == ONNX_STRING)
        c->out[0] = onnx_string_tensor(cx, c->strings, a->tensor);
    else if ((strcmp(a->name, "value") == 0 || strcmp(a->name, "sparse_value") == 0) && a->tensor)
        c->out[0] = onnx_tensor_read(cx, a->tensor, c->folder);
    else if (strcmp(a->name, "value_int") == 0) c->out[0] = int64_constant(c, 0, &a->i, 1);
    else if (strcmp(a->name, "value_ints") == 0) c->out[0] = int64_constant(c, 1, a->ints, a->int_count);
    else if (strcmp(a->name, "value_float") == 0 || strcmp(a->name, "value_floats") == 0) {
        bool is_one = strcmp(a->name, "value_float") == 0;
        reals[0] = (float)a->f;
        for (int i = 0; i < a->real_count && !is_one; i++) reals[i] = (float)a->reals[i];
        count = a->real_count;
        c->out[0] = tensor_constant(cx, c->name, F32, is_one ? 0 : 1, &count, reals);
    } else
        onnx_unsupported(c, "the constant is in the attribute '%s'; use one of %s", a->name, constant_attrs);
}

static void *fill(OnnxCall *c, DType t, int64_t elems, const void *value)
{
    void *data = arena_array(c->cx->arena, (size_t)elems, (size_t)dtype_info(t)->bytes);
    for (int64_t i = 0; i < elems; i++) dtype_store(t, data, i, dtype_load(t, value, 0));
    return data;
}

static void constant_of_shape(OnnxCall *c)
{
    int64_t shape[MAX_RANK], elems = 1;
    const OnnxAttr *a = onnx_attr(c, "value");
    Tensor *value = a && a->tensor ? onnx_tensor_read(c->cx, a->tensor, c->folder)
                                   : tensor_scalar(c->cx, "zero", F32, 0);
    if (value && tensor_elems(value) == 1 && onnx_constant_of_shape_by_value(c, value)) return;
    int rank = onnx_ints(c, NULL, 0, shape, MAX_RANK);
    if (onnx_is_missing(c, rank, "shape") || !value) return;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0 || (shape[d] > 0 && elems > INT32_MAX / shape[d])) {
            onnx_refuse(c, "the shape is %s; use sizes of 0 or more, and fewer than 2^31 elements",
                        ints_text(c->cx, shape, rank));
            return;
        }
        elems *= shape[d];
    }
    if (tensor_elems(value) != 1)
        onnx_refuse(c, "'value' has %lld elements; use one element", (long long)tensor_elems(value));
    else if (elems > MOST_ELEMS) c->out[0] = onnx_call(c, "expand", value, attr_ints("shape", shape, rank));
    else
        c->out[0] = tensor_constant(c->cx, c->name, value->type, rank, shape,
                                    fill(c, value->type, elems, value->data));
}

/* Builds a range over open sizes: its length is the number of steps between start and limit. */
static void open_range(OnnxCall *c)
{
    const Expr *at[3];
    for (int i = 0; i < 3; i++)
        if (onnx_sizes(c, i, &at[i], 1) < 0) return;
    const int64_t step = at[2]->kind == EXPR_INT ? at[2]->integer : 0, by = step < 0 ? -step : step;
    if (!step) {
        onnx_unsupported(c, "it is a range with a step of 0, or of an open size; use a constant step other than 0");
        return;
    }
    const Expr *length = step > 0 ? expr_sub(c->cx, at[1], at[0]) : expr_sub(c->cx, at[0], at[1]);
    const Expr *one = expr_index(c->cx, 1),
               *before_last = expr_binary(c->cx, EXPR_FLOORDIV, expr_sub(c->cx, length, one), expr_index(c->cx, by));
    const Expr *steps = simplify(c->cx, expr_add(c->cx, before_last, one), NULL), *none = expr_index(c->cx, 0);
    const bool may_lead_away = interval_of(c->cx, steps, NULL).least < 0;
    const Expr *count = may_lead_away ? simplify(c->cx, expr_binary(c->cx, EXPR_MAX, steps, none), NULL) : steps;
    Tensor *sizes = onnx_materialize_sizes(c->scope->import, c->in[0]);
    Tensor *in[2] = { sizes, onnx_cast(c, c->in[2], c->in[0]->type) };
    const Attr like = attr_like(c->cx, c->name, c->in[0]->type, 1, &count);
    in[0] = onnx_after(c, in[0], &count, 1);
    c->out[0] = call(c->cx, "ramp", c->name, in, 2, ATTRS(like));
}

static void range(OnnxCall *c)
{
    double v[3];
    if (onnx_requires(c, 3) && onnx_range_by_value(c)) return;
    if (onnx_requires(c, 3) && (!tensor_is_constant(c->in[0]) || !tensor_is_constant(c->in[1]))) {
        open_range(c);
        return;
    }
    if (!onnx_requires(c, 3) || !onnx_scalar(c, 0, &v[0]) || !onnx_scalar(c, 1, &v[1]) || !onnx_scalar(c, 2, &v[2]))
        return;
    DType t = c->in[0]->type;
    if (c->in[2]->type != t) {
        onnx_refuse(c, "start is %s but the step is %s; use one type", dtype_info(t)->spelling,
                    dtype_info(c->in[2]->type)->spelling);
        return;
    }
    double exact = v[2] != 0 ? (v[1] - v[0]) / v[2] : -1;
    if (v[2] == 0) onnx_unsupported(c, "it is a range with a step of 0; use a different step");
    if (!(exact <= MOST_ELEMS))
        onnx_unsupported(c, "it is a range from %g to %g by %g; use at most %d elements", v[0], v[1], v[2],
                         MOST_ELEMS);
    if (ctx_failed(c->cx)) return;
    int64_t count = exact > 0 ? (int64_t)exact : 0;
    if ((double)count < exact) count++;
    void *data = arena_array(c->cx->arena, (size_t)count, (size_t)dtype_info(t)->bytes);
    int64_t whole[] = { dtype_load(t, c->in[0]->data, 0).i, dtype_load(c->in[2]->type, c->in[2]->data, 0).i };
    for (int64_t i = 0; i < count; i++) {
        Scalar s = { 0 };
        if (dtype_is_float(t)) s.f = v[0] + (double)i * v[2];
        else s.i = (int64_t)((uint64_t)whole[0] + (uint64_t)i * (uint64_t)whole[1]);
        dtype_store(t, data, i, dtype_wrap(t, s));
    }
    c->out[0] = tensor_constant(c->cx, c->name, t, 1, &count, data);
}

const OnnxOp onnx_rows_constant[] = {
    { ONNX_MOVE("Constant", 0, "sparse_value value value_float value_floats value_int value_ints value_string "
                "value_strings", constant) },
    { ONNX_MOVE("ConstantOfShape", 1, "value", constant_of_shape), .open.translate = onnx_open_constant_of_shape },
    { ONNX_MOVE("Range", 3, "", range), .open.keeps = KEEPS_ALL, .open.lists = LISTS_ORDERED },
    { ONNX_MOVE("Shape", 1, "end start", shape_of), .strings = STRINGS_READ, .open.on_shape = onnx_sizes_of_shape },
    { ONNX_MOVE("Size", 1, "", size_of), .strings = STRINGS_READ, .open.on_shape = onnx_sizes_of_count },
    { 0 }
};
