/* SPDX-License-Identifier: MIT */
/* Writes parts of ONNX files: see onnx_node.h. */
#include "export/onnx_node.h"

#include <math.h>
#include <string.h>

#include "support/text.h"

enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_S = 4, ATTRIBUTE_G = 6, ATTRIBUTE_FLOATS = 7,
       ATTRIBUTE_INTS = 8, ATTRIBUTE_STRINGS = 9, ATTRIBUTE_TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_STRING = 3, TYPE_GRAPH = 5, TYPE_FLOATS = 6, TYPE_INTS = 7,
       TYPE_STRINGS = 8 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1 };
enum { DIM_VALUE = 1 };

const char onnx_domain_of_i16[] = "com.microsoft";

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

int onnx_type(Ctx *cx, DType t)
{
    static const struct { DType type; int code; } codes[] = {
        { F32, 1 }, { U8, 2 }, { I8, 3 }, { U16, 4 }, { I16, 5 }, { I32, 6 }, { I64, 7 }, { BOOL, 9 }, { F64, 11 },
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].type == t) return codes[i].code;
    Text accepted = text_new(cx);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        text_printf(&accepted, "%s%s", i ? ", " : "", dtype_info(codes[i].type)->spelling);
    diag_unsupported(cx, NULL, "ONNX export does not support elements of type %s; use %s", dtype_info(t)->spelling,
                     text_string(&accepted));
    return 0;
}

const char *onnx_fresh(OnnxWriter *w, const char *what)
{
    const char *stem = *w->stem ? w->stem : "t", *base = *what ? text_format(w->cx, "%s_%s", stem, what) : stem;
    const char *name = base;
    for (int i = 2; map_get_const(&w->taken, name, strlen(name)); i++) name = text_format(w->cx, "%s_%d", base, i);
    map_put_const(&w->taken, name, strlen(name), name);
    return name;
}

/* Adds a constant; elements are little-endian. */
const char *onnx_initializer(OnnxWriter *w, const char *what, DType t, int rank, const int64_t *shape,
                               const void *data)
{
    Message m = message_new(w->cx);
    const char *name = onnx_fresh(w, what);
    const size_t bytes = (size_t)dtype_info(t)->bytes;
    size_t count = bytes;
    for (int d = 0; d < rank; d++) {
        message_int(&m, TENSOR_DIMS, shape[d]);
        count *= (size_t)shape[d];
    }
    uint8_t *raw = arena_copy(w->cx->arena, data, count);
    const uint16_t probe = 1;
    if (!*(const uint8_t *)&probe)
        for (size_t i = 0; i < count; i++) raw[i] = ((const uint8_t *)data)[i - i % bytes + bytes - 1 - i % bytes];
    message_int(&m, TENSOR_TYPE, onnx_type(w->cx, t));
    message_text(&m, TENSOR_NAME, name);
    message_bytes(&m, TENSOR_RAW, raw, count);
    message_nested(&w->nodes, GRAPH_INITIALIZER, &m);
    return name;
}

const char *onnx_number(OnnxWriter *w, const char *what, float v)
{
    return onnx_initializer(w, what, F32, 0, NULL, &v);
}

const char *onnx_int_list(OnnxWriter *w, const char *what, const int64_t *v, int count)
{
    const int64_t shape = count;
    return onnx_initializer(w, what, I64, 1, &shape, v);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

OnnxNode onnx_node_begin(OnnxWriter *w, const char *op)
{
    OnnxNode n = { w, message_new(w->cx), op };
    message_text(&n.m, NODE_OP_TYPE, op);
    return n;
}

static Message attribute_begin(OnnxNode *n, const char *name, int type)
{
    Message m = message_new(n->w->cx);
    message_text(&m, ATTRIBUTE_NAME, name);
    message_int(&m, ATTRIBUTE_TYPE, type);
    return m;
}

void onnx_put_int(OnnxNode *n, const char *name, int64_t v)
{
    Message m = attribute_begin(n, name, TYPE_INT);
    message_int(&m, ATTRIBUTE_I, v);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_put_float(OnnxNode *n, const char *name, double v)
{
    Message m = attribute_begin(n, name, TYPE_FLOAT);
    message_float(&m, ATTRIBUTE_F, (float)v);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_put_ints(OnnxNode *n, const char *name, const int64_t *v, int count)
{
    Message m = attribute_begin(n, name, TYPE_INTS);
    for (int i = 0; i < count; i++) message_int(&m, ATTRIBUTE_INTS, v[i]);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_put_floats(OnnxNode *n, const char *name, const float *v, int count)
{
    Message m = attribute_begin(n, name, TYPE_FLOATS);
    for (int i = 0; i < count; i++) message_float(&m, ATTRIBUTE_FLOATS, v[i]);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_put_texts(OnnxNode *n, const char *name, const char *const *text, int count)
{
    Message m = attribute_begin(n, name, TYPE_STRINGS);
    for (int i = 0; i < count; i++) message_text(&m, ATTRIBUTE_STRINGS, text[i]);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_put_text(OnnxNode *n, const char *name, const char *text)
{
    Message m = attribute_begin(n, name, TYPE_STRING);
    message_text(&m, ATTRIBUTE_S, text);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_put_graph(OnnxNode *n, const char *name, const Message *graph)
{
    Message m = attribute_begin(n, name, TYPE_GRAPH);
    message_nested(&m, ATTRIBUTE_G, graph);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

void onnx_node_ends(OnnxNode *n, const char *const *in, int count, const char **out, int out_count)
{
    for (int i = 0; i < count; i++) message_text(&n->m, NODE_INPUT, in[i] ? in[i] : "");
    for (int i = 0; i < out_count; i++) message_text(&n->m, NODE_OUTPUT, out[i] = onnx_fresh(n->w, n->op));
    message_text(&n->m, NODE_NAME, out[0]);
    message_nested(&n->w->nodes, GRAPH_NODE, &n->m);
}

const char *onnx_node_end(OnnxNode *n, const char *const *in, int count)
{
    const char *out;
    onnx_node_ends(n, in, count, &out, 1);
    return out;
}

const char *onnx_node(OnnxWriter *w, const char *op, const char *const *in, int count)
{
    OnnxNode n = onnx_node_begin(w, op);
    return onnx_node_end(&n, in, count);
}

const char *onnx_transposed(OnnxWriter *w, const char *x, const int64_t *perm, int rank)
{
    OnnxNode n = onnx_node_begin(w, "Transpose");
    onnx_put_ints(&n, "perm", perm, rank);
    return onnx_node_end(&n, &x, 1);
}

const char *onnx_reshaped(OnnxWriter *w, const char *x, const int64_t *shape, int rank)
{
    const char *in[] = { x, onnx_int_list(w, "shape", shape, rank) };
    OnnxNode node = onnx_node_begin(w, "Reshape");
    return onnx_node_end(&node, in, 2);
}

static OnnxNode grid_begin(OnnxWriter *w, const char *op, DType stored)
{
    OnnxNode n = onnx_node_begin(w, op);
    if (stored == I16) message_text(&n.m, NODE_DOMAIN, onnx_domain_of_i16);
    return n;
}

const char *onnx_rounded(OnnxWriter *w, const char *x, DType stored, float step, const void *zero)
{
    const char *in[] = { x, onnx_number(w, "scale", step), onnx_initializer(w, "zero", stored, 0, NULL, zero) };
    w->has_i16 = w->has_i16 || stored == I16;
    OnnxNode store = grid_begin(w, "QuantizeLinear", stored);
    in[0] = onnx_node_end(&store, in, 3);
    OnnxNode read = grid_begin(w, "DequantizeLinear", stored);
    return onnx_node_end(&read, in, 3);
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

bool onnx_is_simulation(const Node *n)
{
    return n && n->kind == NODE_CALL && n->op->quantization.grid == GRID_SIMULATE;
}

bool onnx_is_store(const Node *n)
{
    return n && n->kind == NODE_CALL && n->op->quantization.grid == GRID_STORE;
}

DType onnx_stored_type(const Node *n)
{
    return onnx_is_store(n) ? n->out[0]->type : node_int(n, "bits", 8) == 16 ? I16 : I8;
}

void *onnx_permuted(Ctx *cx, const void *data, size_t bytes, int rank, const int64_t *shape, const int64_t *perm)
{
    int64_t step[MAX_RANK], at[MAX_RANK] = { 0 }, count = 1;
    for (int d = rank - 1; d >= 0; d--) step[d] = count, count *= shape[d];
    uint8_t *out = arena_array(cx->arena, (size_t)count, bytes);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = 0;
        for (int d = 0; d < rank; d++) from += at[d] * step[perm[d]];
        memcpy(out + (size_t)i * bytes, (const uint8_t *)data + (size_t)from * bytes, bytes);
        for (int d = rank - 1; d >= 0 && ++at[d] == shape[perm[d]]; d--) at[d] = 0;
    }
    return out;
}

void onnx_dims_of(const Tensor *t, int64_t *shape)
{
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
}

/* Returns the stored integers of simulated weights. */
static int8_t *stored(Ctx *cx, const Tensor *w, const Tensor *scale)
{
    const int64_t count = tensor_elems(w), channels = tensor_elems(scale);
    int8_t *q = NEW_ARRAY(cx->arena, int8_t, count);
    const float *v = w->data, *s = scale->data;
    for (int64_t i = 0; i < count; i++) {
        const double r = nearbyint((double)(v[i] / s[i % channels]));
        q[i] = (int8_t)(r < INT8_MIN ? INT8_MIN : r > INT8_MAX ? INT8_MAX : r);
    }
    return q;
}

/* Writes the real numbers of stored weights with a scale for each index of the axis. */
static const char *dequantized(OnnxWriter *w, const char *stored, int64_t axis, const Tensor *scale)
{
    const int64_t channels = tensor_elems(scale);
    const int rank = channels > 1;
    const int8_t *zeros = NEW_ARRAY(w->cx->arena, int8_t, channels);
    const char *in[] = { stored, onnx_initializer(w, "scale", F32, rank, &channels, scale->data),
                         onnx_initializer(w, "zero", I8, rank, &channels, zeros) };
    OnnxNode read = onnx_node_begin(w, "DequantizeLinear");
    if (rank) onnx_put_int(&read, "axis", axis);
    return onnx_node_end(&read, in, 3);
}

const char *onnx_weights(OnnxWriter *w, const Tensor *t, int rank, const int64_t *shape, const int64_t *perm)
{
    Ctx *cx = w->cx;
    const Node *n = onnx_is_simulation(t->producer) ? t->producer : NULL;
    const Tensor *real = n ? n->in[0] : t, *scale = n ? n->in[1] : NULL;
    const char *of = w->stem;
    int64_t now[MAX_RANK], axis = 0;
    for (int d = 0; d < rank; d++) {
        now[d] = shape[perm[d]];
        if (perm[d] == rank - 1) axis = d;
    }
    const DType type = n ? I8 : real->type;
    const void *data = n ? stored(cx, real, scale) : real->data;
    data = onnx_permuted(cx, data, (size_t)dtype_info(type)->bytes, rank, shape, perm);
    w->stem = t->name;
    const char *q = onnx_initializer(w, "", type, rank, now, data);
    if (!n) {
        w->stem = of;
        return q;
    }
    q = dequantized(w, q, axis, scale);
    w->stem = of;
    return q;
}

bool onnx_is_constant(const Tensor *t)
{
    return tensor_is_constant(t) || (onnx_is_simulation(t->producer) && tensor_is_constant(t->producer->in[0]));
}

bool onnx_is_written(const OnnxWriter *w, const Tensor *t)
{
    return map_get_ptr(&w->names, t) || onnx_is_constant(t);
}

void onnx_name_output(OnnxWriter *w, const Tensor *t, const char *name)
{
    map_put_ptr(&w->names, t, arena_copy(w->cx->arena, name, strlen(name) + 1));
}

const char *onnx_operand(OnnxWriter *w, Tensor *t)
{
    static const int64_t same[MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int64_t shape[MAX_RANK];
    char *name = map_get_ptr(&w->names, t);
    if (name || !onnx_is_constant(t)) return name;
    onnx_dims_of(t, shape);
    return onnx_weights(w, t, t->rank, shape, same);
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

void onnx_put_port(OnnxWriter *w, int number, const char *name, DType t, int rank, const int64_t *dims)
{
    Message shape = message_new(w->cx), tensor = message_new(w->cx), type = message_new(w->cx), v = message_new(w->cx);
    for (int d = 0; d < rank; d++) {
        Message dim = message_new(w->cx);
        message_int(&dim, DIM_VALUE, dims[d]);
        message_nested(&shape, SHAPE_DIM, &dim);
    }
    message_int(&tensor, TENSOR_ELEMENT, onnx_type(w->cx, t));
    message_nested(&tensor, TENSOR_SHAPE, &shape);
    message_nested(&type, TYPE_TENSOR, &tensor);
    message_text(&v, VALUE_NAME, name);
    message_nested(&v, VALUE_TYPE, &type);
    message_nested(&w->nodes, number, &v);
}
