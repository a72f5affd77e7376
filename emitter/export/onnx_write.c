/* SPDX-License-Identifier: MIT */
/* Writes ONNX files: see onnx_write.h. Field numbers are those of onnx.proto3. */
#include "export/onnx_write.h"

#include <math.h>
#include <string.h>

#include "graph/dag/op.h"
#include "import/formats/protobuf_write.h"
#include "support/text.h"

/* Field numbers, by message */
enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_S = 4, ATTRIBUTE_INTS = 8, ATTRIBUTE_TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_STRING = 3, TYPE_INTS = 7 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1 };
enum { DIM_VALUE = 1 };
enum { IR_VERSION = 8, OPSET = 13 };
/* Has QuantizeLinear for 16 bits. ONNX Runtime 1.32 refuses files of opset 21, which has it too, with 8-bit grids. */
static const char domain_of_i16[] = "com.microsoft";

typedef struct OnnxWriter {
    Ctx *cx;
    Message nodes;                     /* of the graph: nodes and initializers */
    Map names;                         /* tensor -> its name in the file */
    Map taken;                         /* the file's names */
    const char *stem;                  /* the name of the call or constant that is written: names begin with it */
    bool has_i16;                      /* grids of 16 bits */
} OnnxWriter;

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

static int element_type(Ctx *cx, DType t)
{
    static const struct { DType type; int code; } codes[] = {
        { F32, 1 }, { U8, 2 }, { I8, 3 }, { U16, 4 }, { I16, 5 }, { I32, 6 }, { I64, 7 }, { BOOL, 9 }, { F64, 11 },
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].type == t) return codes[i].code;
    Text accepted = text_new(cx);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        text_printf(&accepted, "%s%s", i ? ", " : "", dtype_info(codes[i].type)->spelling);
    diag_unsupported(cx, NULL, "elements of type %s in a written ONNX file; accepted: %s", dtype_info(t)->spelling,
                     text_string(&accepted));
    return 0;
}

/* Returns a name that the file does not have yet: conv_1_Transpose, conv_1_Transpose_2. */
static const char *fresh(OnnxWriter *w, const char *what)
{
    const char *base = *what ? text_format(w->cx, "%s_%s", w->stem, what) : w->stem, *name = base;
    for (int i = 2; map_get_const(&w->taken, name, strlen(name)); i++) name = text_format(w->cx, "%s_%d", base, i);
    map_put_const(&w->taken, name, strlen(name), name);
    return name;
}

/* Adds a constant; elements are little-endian. */
static const char *initializer(OnnxWriter *w, const char *what, DType t, int rank, const int64_t *shape,
                               const void *data)
{
    Message m = message_new(w->cx);
    const char *name = fresh(w, what);
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
    message_int(&m, TENSOR_TYPE, element_type(w->cx, t));
    message_text(&m, TENSOR_NAME, name);
    message_bytes(&m, TENSOR_RAW, raw, count);
    message_nested(&w->nodes, GRAPH_INITIALIZER, &m);
    return name;
}

static const char *float_scalar(OnnxWriter *w, const char *what, float v)
{
    return initializer(w, what, F32, 0, NULL, &v);
}

static const char *int_list(OnnxWriter *w, const char *what, const int64_t *v, int count)
{
    const int64_t shape = count;
    return initializer(w, what, I64, 1, &shape, v);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* A node under construction: its operator and attributes. */
typedef struct OnnxNode { OnnxWriter *w; Message m; const char *op; } OnnxNode;

static OnnxNode node_begin(OnnxWriter *w, const char *op)
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

static void put_int(OnnxNode *n, const char *name, int64_t v)
{
    Message m = attribute_begin(n, name, TYPE_INT);
    message_int(&m, ATTRIBUTE_I, v);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

static void put_float(OnnxNode *n, const char *name, double v)
{
    Message m = attribute_begin(n, name, TYPE_FLOAT);
    message_float(&m, ATTRIBUTE_F, (float)v);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

static void put_ints(OnnxNode *n, const char *name, const int64_t *v, int count)
{
    Message m = attribute_begin(n, name, TYPE_INTS);
    for (int i = 0; i < count; i++) message_int(&m, ATTRIBUTE_INTS, v[i]);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

static void put_text(OnnxNode *n, const char *name, const char *text)
{
    Message m = attribute_begin(n, name, TYPE_STRING);
    message_text(&m, ATTRIBUTE_S, text);
    message_nested(&n->m, NODE_ATTRIBUTE, &m);
}

/* Ends the node; `out` becomes the names of its outputs. */
static void node_ends(OnnxNode *n, const char *const *in, int count, const char **out, int out_count)
{
    for (int i = 0; i < count; i++) message_text(&n->m, NODE_INPUT, in[i] ? in[i] : "");
    for (int i = 0; i < out_count; i++) message_text(&n->m, NODE_OUTPUT, out[i] = fresh(n->w, n->op));
    message_text(&n->m, NODE_NAME, out[0]);
    message_nested(&n->w->nodes, GRAPH_NODE, &n->m);
}

/* Ends a node with one output; returns its name. */
static const char *node_end(OnnxNode *n, const char *const *in, int count)
{
    const char *out;
    node_ends(n, in, count, &out, 1);
    return out;
}

static const char *transposed(OnnxWriter *w, const char *x, const int64_t *perm, int rank)
{
    OnnxNode n = node_begin(w, "Transpose");
    put_ints(&n, "perm", perm, rank);
    return node_end(&n, &x, 1);
}

/* The channel from the last axis to the second, and back. */
static const char *channel_second(OnnxWriter *w, const char *x, int rank)
{
    int64_t perm[MAX_RANK] = { 0, rank - 1 };
    for (int d = 2; d < rank; d++) perm[d] = d - 1;
    return transposed(w, x, perm, rank);
}

static const char *channel_last(OnnxWriter *w, const char *x, int rank)
{
    int64_t perm[MAX_RANK] = { 0 };
    for (int d = 1; d < rank - 1; d++) perm[d] = d + 1;
    perm[rank - 1] = 1;
    return transposed(w, x, perm, rank);
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

static bool is_simulation(const Node *n)
{
    return n && n->kind == NODE_CALL && n->op->quantization.grid == GRID_SIMULATE;
}

static bool is_store(const Node *n)
{
    return n && n->kind == NODE_CALL && n->op->quantization.grid == GRID_STORE;
}

/* The type in which a simulation or a quantization stores. */
static DType stored_type(const Node *n)
{
    return is_store(n) ? n->out[0]->type : node_int(n, "bits", 8) == 16 ? I16 : I8;
}

static bool is_grid_of(const Node *n, DType t) { return (is_store(n) || is_simulation(n)) && stored_type(n) == t; }

/* Returns element bytes in the order of the permuted shape. */
static void *permuted(Ctx *cx, const void *data, size_t bytes, int rank, const int64_t *shape, const int64_t *perm)
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

static void sizes_of(const Tensor *t, int64_t *shape)
{
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
}

/* The stored integers of simulated weights. */
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

/* Writes a constant with dimensions `shape` (of the tensor's elements), permuted; scales per channel belong to the last
 * of them. */
static const char *constant(OnnxWriter *w, const Tensor *t, int rank, const int64_t *shape, const int64_t *perm)
{
    Ctx *cx = w->cx;
    const Node *n = is_simulation(t->producer) ? t->producer : NULL;
    const Tensor *real = n ? n->in[0] : t, *scale = n ? n->in[1] : NULL;
    const char *of = w->stem;
    int64_t now[MAX_RANK], axis = 0;
    for (int d = 0; d < rank; d++) {
        now[d] = shape[perm[d]];
        if (perm[d] == rank - 1) axis = d;
    }
    const DType type = n ? I8 : real->type;
    const void *data = n ? stored(cx, real, scale) : real->data;
    data = permuted(cx, data, (size_t)dtype_info(type)->bytes, rank, shape, perm);
    w->stem = t->name;
    const char *q = initializer(w, "", type, rank, now, data);
    if (!n) {
        w->stem = of;
        return q;
    }
    const int64_t channels = tensor_elems(scale);
    const int scale_rank = channels > 1;
    const int8_t *zeros = NEW_ARRAY(cx->arena, int8_t, channels);
    const char *in[] = { q, initializer(w, "scale", F32, scale_rank, &channels, scale->data),
                         initializer(w, "zero", I8, scale_rank, &channels, zeros) };
    OnnxNode read = node_begin(w, "DequantizeLinear");
    if (scale_rank) put_int(&read, "axis", axis);
    q = node_end(&read, in, 3);
    w->stem = of;
    return q;
}

static bool is_constant(const Tensor *t)
{
    return tensor_is_constant(t) || (is_simulation(t->producer) && tensor_is_constant(t->producer->in[0]));
}

static void name_output(OnnxWriter *w, const Tensor *t, const char *name)
{
    map_put_ptr(&w->names, t, arena_copy(w->cx->arena, name, strlen(name) + 1));
}

static const char *operand(OnnxWriter *w, Tensor *t)
{
    static const int64_t same[MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int64_t shape[MAX_RANK];
    char *name = map_get_ptr(&w->names, t);
    if (name || !is_constant(t)) return name;
    sizes_of(t, shape);
    return constant(w, t, t->rank, shape, same);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

typedef struct OnnxForm OnnxForm;
typedef const char *WriteForm(OnnxWriter *w, const Node *n, const OnnxForm *f);
struct OnnxForm { const char *op, *onnx; WriteForm *write; };

static const char *same(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *in[3] = { NULL };
    for (int i = 0; i < n->in_count && i < 3; i++) in[i] = n->in[i] ? operand(w, n->in[i]) : NULL;
    OnnxNode node = node_begin(w, f->onnx);
    return node_end(&node, in, n->in_count);
}

static const char *square(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *x = operand(w, n->in[0]), *in[] = { x, x };
    OnnxNode node = node_begin(w, f->onnx);
    return node_end(&node, in, 2);
}

static const char *with_alpha(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *x = operand(w, n->in[0]);
    OnnxNode node = node_begin(w, f->onnx);
    const Attr *alpha = node_attr(n, "alpha"), *beta = node_attr(n, "beta");
    if (alpha) put_float(&node, "alpha", alpha->real);
    if (beta) put_float(&node, "beta", beta->real);
    return node_end(&node, &x, 1);
}

static const char *softmax(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *x = operand(w, n->in[0]);
    OnnxNode node = node_begin(w, f->onnx);
    put_int(&node, "axis", node_int(n, "axis", -1));
    return node_end(&node, &x, 1);
}

static const char *clip(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const double low = node_real(n, "min", -(double)INFINITY), high = node_real(n, "max", (double)INFINITY);
    const char *in[] = { operand(w, n->in[0]), isinf(low) ? NULL : float_scalar(w, "min", (float)low),
                         isinf(high) ? NULL : float_scalar(w, "max", (float)high) };
    OnnxNode node = node_begin(w, f->onnx);
    return node_end(&node, in, 3);
}

static const char *reshaped(OnnxWriter *w, const char *x, const int64_t *shape, int rank)
{
    const char *in[] = { x, int_list(w, "shape", shape, rank) };
    OnnxNode node = node_begin(w, "Reshape");
    return node_end(&node, in, 2);
}

static const char *view(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    int64_t shape[MAX_RANK];
    (void)f;
    sizes_of(n->out[0], shape);
    return reshaped(w, operand(w, n->in[0]), shape, n->out[0]->rank);
}

static const char *transpose(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const int rank = n->in[0]->rank;
    const Attr *perm = node_attr(n, "perm");
    int64_t reversed[MAX_RANK];
    (void)f;
    for (int d = 0; d < rank; d++) reversed[d] = rank - 1 - d;
    return transposed(w, operand(w, n->in[0]), perm ? perm->ints : reversed, rank);
}

/* begin, end, axes and steps have the meaning of ONNX. */
static const char *slice(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Attr *begin = node_attr(n, "begin"), *end = node_attr(n, "end"), *axes = node_attr(n, "axes");
    int64_t axis[MAX_RANK], step[MAX_RANK];
    if (!begin || !end || node_attr(n, "begin_sizes") || node_attr(n, "end_sizes")) return NULL;
    for (int d = 0; d < begin->count; d++) axis[d] = axes ? axes->ints[d] : d;
    node_ints(n, "step", step, begin->count, 1);
    const char *in[] = { operand(w, n->in[0]), int_list(w, "starts", begin->ints, begin->count),
                         int_list(w, "ends", end->ints, end->count), int_list(w, "axes", axis, begin->count),
                         int_list(w, "steps", step, begin->count) };
    OnnxNode node = node_begin(w, f->onnx);
    return node_end(&node, in, 5);
}

static const char *concat(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char **in = NEW_ARRAY(w->cx->arena, const char *, n->in_count);
    for (int i = 0; i < n->in_count; i++) in[i] = operand(w, n->in[i]);
    OnnxNode node = node_begin(w, f->onnx);
    put_int(&node, "axis", node_int(n, "axis", 0));
    return node_end(&node, in, n->in_count);
}

/* Adds strides, dilations and pads as the call has them. */
static void put_window(OnnxNode *node, const Node *n, int spatial)
{
    int64_t v[2 * MAX_RANK];
    node_ints(n, "stride", v, spatial, 1);
    put_ints(node, "strides", v, spatial);
    node_ints(n, "dilation", v, spatial, 1);
    put_ints(node, "dilations", v, spatial);
    node_ints(n, "pad", v, 2 * spatial, 0);
    put_ints(node, "pads", v, 2 * spatial);
}

/* conv*d and depthwise_conv*d: weights [taps..][c][o], or [taps..][o]. */
static const char *conv(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    const int rank = x->rank, spatial = rank - 2;
    const bool is_depthwise = k->rank == spatial + 1;
    int64_t shape[MAX_RANK], perm[MAX_RANK] = { rank - 1, rank - 2 };
    if (!is_constant(k)) return NULL;
    sizes_of(k, shape);
    if (is_depthwise) shape[rank - 1] = shape[rank - 2], shape[rank - 2] = 1;
    for (int d = 0; d < spatial; d++) perm[2 + d] = d;
    const char *in[] = { channel_second(w, operand(w, n->in[0]), rank), constant(w, k, rank, shape, perm) };
    OnnxNode node = node_begin(w, f->onnx);
    put_window(&node, n, spatial);
    put_int(&node, "group", is_depthwise ? tensor_dim(x, rank - 1) : node_int(n, "groups", 1));
    return channel_last(w, node_end(&node, in, 2), rank);
}

static const char *pool(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const int rank = n->in[0]->rank, spatial = rank - 2;
    int64_t kernel[MAX_RANK];
    const char *x = channel_second(w, operand(w, n->in[0]), rank);
    OnnxNode node = node_begin(w, f->onnx);
    node_ints(n, "kernel", kernel, spatial, 1);
    put_ints(&node, "kernel_shape", kernel, spatial);
    const bool is_average = strcmp(f->onnx, "AveragePool") == 0;
    int64_t dilation[MAX_RANK], plain = 1;
    node_ints(n, "dilation", dilation, spatial, 1);
    for (int d = 0; d < spatial; d++) plain = plain && dilation[d] == 1;
    if (is_average && !plain) return NULL;
    int64_t v[2 * MAX_RANK];
    node_ints(n, "stride", v, spatial, 1);
    put_ints(&node, "strides", v, spatial);
    if (!is_average) put_ints(&node, "dilations", dilation, spatial);
    node_ints(n, "pad", v, 2 * spatial, 0);
    put_ints(&node, "pads", v, 2 * spatial);
    put_int(&node, "ceil_mode", node_int(n, "ceil_mode", 0));
    if (is_average) put_int(&node, "count_include_pad", node_int(n, "count_pad", 0));
    return channel_last(w, node_end(&node, &x, 1), rank);
}

static const char *global_pool(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const int rank = n->in[0]->rank;
    const char *x = channel_second(w, operand(w, n->in[0]), rank);
    OnnxNode node = node_begin(w, f->onnx);
    return channel_last(w, node_end(&node, &x, 1), rank);
}

static const char *reduce(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Attr *axes = node_attr(n, "axes");
    const char *x = operand(w, n->in[0]);
    OnnxNode node = node_begin(w, f->onnx);
    if (axes) put_ints(&node, "axes", axes->ints, axes->count);
    put_int(&node, "keepdims", node_int(n, "keepdims", 0));
    return node_end(&node, &x, 1);
}

static int64_t zero_of(const Node *n) { return dtype_load(n->in[2]->type, n->in[2]->data, 0).i; }

static OnnxNode grid_begin(OnnxWriter *w, const char *op, DType stored)
{
    OnnxNode n = node_begin(w, op);
    if (stored == I16) message_text(&n.m, NODE_DOMAIN, domain_of_i16);
    return n;
}

/* Writes a simulation, or a quantization whose consumers read the real numbers, as a pair. The pair of a simulation on
 * the same grid suffices. */
static const char *simulation(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Node *before = n->in[0]->producer;
    const int64_t zero = zero_of(n);
    const DType t = stored_type(n);
    int16_t stored_zero;                              /* of the type's size */
    (void)f;
    if (tensor_elems(n->in[1]) != 1) return NULL;
    if (is_store(n) && is_simulation(before) && stored_type(before) == t && zero_of(before) == zero &&
        *(const float *)before->in[1]->data == *(const float *)n->in[1]->data)
        return operand(w, n->in[0]);
    dtype_store(t, &stored_zero, 0, (Scalar){ .i = zero });
    const char *in[] = { operand(w, n->in[0]), initializer(w, "scale", F32, 0, NULL, n->in[1]->data),
                         initializer(w, "zero", t, 0, NULL, &stored_zero) };
    OnnxNode store = grid_begin(w, "QuantizeLinear", t);
    in[0] = node_end(&store, in, 3);
    OnnxNode read = grid_begin(w, "DequantizeLinear", t);
    return node_end(&read, in, 3);
}

/* A stored constant: a bias in the unit of the sums. */
static const char *dequantize(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    int64_t shape[MAX_RANK];
    const Tensor *q = n->in[0], *scale = n->in[1];
    if (!tensor_is_constant(q) || scale->rank > 1) return NULL;
    sizes_of(q, shape);
    const char *in[] = { initializer(w, "stored", q->type, q->rank, shape, q->data), operand(w, n->in[1]) };
    OnnxNode node = node_begin(w, f->onnx);
    if (scale->rank) put_int(&node, "axis", q->rank - 1);
    return node_end(&node, in, 2);
}

/* ---- Recurrent layers -------------------------------------------------------------------------------------------- */

/* The operands with a place of their own in each operator; 0: it has none. `factors` is that of w, then that of r. */
typedef struct Recurrent { const char *op, *activations, *flag; int rb, c0, p, lens, factors; } Recurrent;
enum { OF_X, OF_W, OF_R, OF_B, OF_H0 };
static const Recurrent recurrents[] = {
    { "rnn", "tanh", NULL, .lens = 5, .factors = 6 },
    { "gru", "sigmoid,tanh", "linear_before_reset", .rb = 5, .lens = 6, .factors = 7 },
    { "lstm", "sigmoid,tanh,tanh", "input_forget", .c0 = 5, .p = 6, .lens = 7, .factors = 8 },
};

static Tensor *input(const Node *n, int i) { return i && i < n->in_count ? n->in[i] : NULL; }

/* Writes weights [n][gates * units] as [1][gates * units][n]. Those on integers have a scale per column: `factor` over
 * `unit`. */
static const char *gate_weights(OnnxWriter *w, Tensor *t, const Tensor *factor, double unit)
{
    static const int64_t swap[] = { 1, 0 };
    const int64_t rows = tensor_dim(t, 0), columns = tensor_dim(t, 1), shape[] = { rows, columns };
    const int64_t turned[] = { columns, rows }, whole[] = { 1, columns, rows };
    if (!tensor_is_constant(t)) return reshaped(w, transposed(w, operand(w, t), swap, 2), whole, 3);
    const void *data = permuted(w->cx, t->data, (size_t)dtype_info(t->type)->bytes, 2, shape, swap);
    const char *q = initializer(w, t->name, t->type, 2, turned, data);
    if (factor) {
        float *scale = NEW_ARRAY(w->cx->arena, float, columns);
        const int8_t *zeros = NEW_ARRAY(w->cx->arena, int8_t, columns);
        for (int64_t c = 0; c < columns; c++) scale[c] = (float)((double)((const float *)factor->data)[c] / unit);
        const char *in[] = { q, initializer(w, "scale", F32, 1, &columns, scale),
                             initializer(w, "zero", t->type, 1, &columns, zeros) };
        OnnxNode read = node_begin(w, "DequantizeLinear");
        put_int(&read, "axis", 0);
        q = node_end(&read, in, 3);
    }
    return reshaped(w, q, whole, 3);
}

/* Writes the bias of both products: [1][gates * units] of w, then of r, which only has rb, of the last gate. NULL:
 * neither. */
static const char *gate_bias(OnnxWriter *w, const Tensor *b, const Tensor *rb, int64_t columns)
{
    const int64_t shape[] = { 1, 2 * columns };
    float *v = NEW_ARRAY(w->cx->arena, float, 2 * columns);
    if (!b && !rb) return NULL;
    if (b) memcpy(v, b->data, (size_t)columns * sizeof *v);
    if (rb) {
        const int64_t units = tensor_elems(rb);
        memcpy(v + 2 * columns - units, rb->data, (size_t)units * sizeof *v);
    }
    return initializer(w, "bias", F32, 2, shape, v);
}

/* Refuses a call that ONNX's layer does not compute. */
static bool is_recurrent(OnnxWriter *w, const Node *n, const Recurrent *r)
{
    const char *activations = node_text(n, "activations", r->activations);
    const char *place = text_format(w->cx, "node \"%s\"", n->name);
    const int constants[] = { OF_B, r->rb, r->factors, r->factors + 1 };
    bool is_constant = true;
    for (int i = 0; i < 4; i++)
        is_constant = is_constant && (!input(n, constants[i]) || tensor_is_constant(input(n, constants[i])));
    if (strcmp(activations, r->activations) != 0)
        diag_unsupported(w->cx, place, "%s with the activations \"%s\" in a written ONNX file; accepted: \"%s\"", r->op,
                         activations, r->activations);
    else if (node_real(n, "cell_clip", 0) > 0 || node_int(n, "by_range", 0))
        diag_unsupported(w->cx, place, "%s with '%s' in a written ONNX file; accepted: %s", r->op,
                         node_int(n, "by_range", 0) ? "by_range" : "cell_clip", "a layer without it");
    else if (dtype_is_integer(n->in[OF_X]->type) && !is_store(n->in[OF_X]->producer))
        diag_unsupported(w->cx, place, "%s over stored integers in a written ONNX file; accepted: reals", r->op);
    else if (!is_constant)
        diag_unsupported(w->cx, place, "%s with a computed bias in a written ONNX file; accepted: a constant", r->op);
    return !ctx_failed(w->cx);
}

/* A layer on integers is written over dequantized operands. ONNX's layer computes in reals, so its state is not rounded
 * to 16 bits. */
static const char *recurrent(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Recurrent *r = recurrents;
    while (strcmp(r->op, f->op) != 0) r++;
    if (!is_recurrent(w, n, r)) return NULL;
    const bool is_stored = dtype_is_integer(n->in[OF_X]->type);
    const double step = is_stored ? (double)*(const float *)n->in[OF_X]->producer->in[1]->data : 1;
    const Tensor *ws = is_stored ? input(n, r->factors) : NULL, *rs = is_stored ? input(n, r->factors + 1) : NULL;
    Tensor *h0 = input(n, OF_H0), *c0 = input(n, r->c0), *p = input(n, r->p), *lens = input(n, r->lens);
    const int64_t units = tensor_dim(n->in[OF_R], 0), columns = tensor_dim(n->in[OF_R], 1);
    const int64_t all[] = { tensor_dim(n->out[0], 0), tensor_dim(n->out[0], 1), units };
    const int64_t state[] = { 1, all[1], units }, peepholes[] = { 1, 3 * units };
    const char *out[3], *in[] = {
        operand(w, n->in[OF_X]),
        gate_weights(w, n->in[OF_W], ws, step),
        gate_weights(w, n->in[OF_R], rs, 1.0 / INT16_MAX),
        gate_bias(w, input(n, OF_B), input(n, r->rb), columns),
        lens ? operand(w, lens) : NULL,
        h0 ? reshaped(w, operand(w, h0), state, 3) : NULL,
        c0 ? reshaped(w, operand(w, c0), state, 3) : NULL,
        p ? reshaped(w, operand(w, p), peepholes, 2) : NULL,
    };
    OnnxNode node = node_begin(w, f->onnx);
    put_int(&node, "hidden_size", units);
    if (node_int(n, "reverse", 0)) put_text(&node, "direction", "reverse");
    if (node_real(n, "clip", 0) > 0) put_float(&node, "clip", node_real(n, "clip", 0));
    if (r->flag) put_int(&node, r->flag, node_int(n, r->flag, 0));
    node_ends(&node, in, p ? 8 : c0 ? 7 : h0 ? 6 : 5, out, n->out_count);
    for (int i = 1; i < n->out_count; i++) name_output(w, n->out[i], reshaped(w, out[i], state + 1, 2));
    return reshaped(w, out[0], all, 3);
}

static const OnnxForm forms[] = {
    { "conv1d", "Conv", conv }, { "conv2d", "Conv", conv }, { "conv3d", "Conv", conv },
    { "depthwise_conv1d", "Conv", conv }, { "depthwise_conv2d", "Conv", conv },
    { "dense", "MatMul", same }, { "matmul", "MatMul", same },
    { "max_pool1d", "MaxPool", pool }, { "max_pool2d", "MaxPool", pool }, { "max_pool3d", "MaxPool", pool },
    { "avg_pool1d", "AveragePool", pool }, { "avg_pool2d", "AveragePool", pool }, { "avg_pool3d", "AveragePool", pool },
    { "global_avg_pool", "GlobalAveragePool", global_pool }, { "global_max_pool", "GlobalMaxPool", global_pool },
    { "add", "Add", same }, { "sub", "Sub", same }, { "mul", "Mul", same }, { "div", "Div", same },
    { "minimum", "Min", same }, { "maximum", "Max", same }, { "pow", "Pow", same }, { "prelu", "PRelu", same },
    { "relu", "Relu", same }, { "sigmoid", "Sigmoid", same }, { "tanh", "Tanh", same }, { "exp", "Exp", same },
    { "log", "Log", same }, { "sqrt", "Sqrt", same }, { "erf", "Erf", same }, { "neg", "Neg", same },
    { "abs", "Abs", same }, { "reciprocal", "Reciprocal", same }, { "sin", "Sin", same }, { "cos", "Cos", same },
    { "softplus", "Softplus", same }, { "square", "Mul", square }, { "floor", "Floor", same }, { "ceil", "Ceil", same },
    { "leaky_relu", "LeakyRelu", with_alpha }, { "elu", "Elu", with_alpha },
    { "hard_sigmoid", "HardSigmoid", with_alpha }, { "clip", "Clip", clip },
    { "softmax", "Softmax", softmax }, { "log_softmax", "LogSoftmax", softmax },
    { "reshape", "Reshape", view }, { "squeeze", "Reshape", view }, { "unsqueeze", "Reshape", view },
    { "transpose", "Transpose", transpose }, { "concat", "Concat", concat }, { "slice", "Slice", slice },
    { "reduce_mean", "ReduceMean", reduce }, { "reduce_max", "ReduceMax", reduce },
    { "reduce_min", "ReduceMin", reduce },
    { "rnn", "RNN", recurrent }, { "gru", "GRU", recurrent }, { "lstm", "LSTM", recurrent },
    { "annotation.simulated_quantize", "QuantizeLinear", simulation }, { "quantize", "QuantizeLinear", simulation },
    { "dequantize", "DequantizeLinear", dequantize },
};

static void write_node(OnnxWriter *w, const Node *n)
{
    const char *out = NULL;
    w->stem = n->out[0]->name;
    if (n->kind == NODE_CALL && is_simulation(n) && tensor_is_constant(n->in[0])) return;       /* weights */
    for (size_t i = 0; n->kind == NODE_CALL && i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].op, n->op->name) == 0) out = forms[i].write(w, n, &forms[i]);
    if (!out) {
        Text accepted = text_new(w->cx);
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
            if (!i || strcmp(forms[i].op, forms[i - 1].op) != 0)
                text_printf(&accepted, "%s%s", i ? ", " : "", forms[i].op);
        diag_unsupported(w->cx, text_format(w->cx, "node \"%s\"", n->name),
                         "%s in a written ONNX file; accepted: %s", n->kind == NODE_CALL ? n->op->name : "a region",
                         text_string(&accepted));
    } else name_output(w, n->out[0], out);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_port(OnnxWriter *w, int number, const Tensor *t, const char *name)
{
    Message shape = message_new(w->cx), tensor = message_new(w->cx), type = message_new(w->cx), v = message_new(w->cx);
    for (int d = 0; d < t->rank; d++) {
        Message dim = message_new(w->cx);
        message_int(&dim, DIM_VALUE, tensor_dim(t, d));
        message_nested(&shape, SHAPE_DIM, &dim);
    }
    message_int(&tensor, TENSOR_ELEMENT, element_type(w->cx, t->type));
    message_nested(&tensor, TENSOR_SHAPE, &shape);
    message_nested(&type, TYPE_TENSOR, &tensor);
    message_text(&v, VALUE_NAME, name);
    message_nested(&v, VALUE_TYPE, &type);
    message_nested(&w->nodes, number, &v);
}

static void put_opset(Message *model, const char *domain, int version)
{
    Message opset = message_new(model->cx);
    if (domain) message_text(&opset, OPSET_DOMAIN, domain);
    message_int(&opset, OPSET_VERSION, version);
    message_nested(model, MODEL_OPSET, &opset);
}

bool onnx_write(Ctx *cx, const Graph *g, const char *const *names, Bytes *out)
{
    OnnxWriter w = { .cx = cx, .nodes = message_new(cx), .names = map_new(cx->arena), .taken = map_new(cx->arena) };
    Node **order;
    const int count = graph_order(cx, g, &order);
    message_text(&w.nodes, GRAPH_NAME, g->name ? g->name : "model");
    for (int i = 0; i < g->input_count; i++) {
        const char *name = g->input[i]->name;
        if (!tensor_is_fixed(g->input[i]))
            diag_unsupported(cx, NULL,
                             "the input \"%s\" is %s in a written ONNX file; fixed sizes are accepted (--dim NAME=N)",
                             g->input[i]->name, tensor_shape_text(cx, g->input[i]));
        else put_port(&w, GRAPH_INPUT, g->input[i], name);
        name_output(&w, g->input[i], name);
        map_put_const(&w.taken, name, strlen(name), name);
    }
    for (int i = 0; i < g->output_count; i++) map_put_const(&w.taken, names[i], strlen(names[i]), names[i]);
    for (int i = 0; i < count; i++) w.has_i16 = w.has_i16 || is_grid_of(order[i], I16);
    for (int i = 0; i < count && !ctx_failed(cx); i++) write_node(&w, order[i]);
    for (int i = 0; i < g->output_count && !ctx_failed(cx); i++) {
        const char *from = operand(&w, g->output[i]);
        OnnxNode copy = node_begin(&w, "Identity");
        message_text(&copy.m, NODE_INPUT, from);
        message_text(&copy.m, NODE_OUTPUT, names[i]);
        message_nested(&w.nodes, GRAPH_NODE, &copy.m);
        put_port(&w, GRAPH_OUTPUT, g->output[i], names[i]);
    }
    Message model = message_new(cx);
    message_int(&model, MODEL_IR_VERSION, IR_VERSION);
    message_text(&model, MODEL_PRODUCER, "loopwright");
    put_opset(&model, NULL, OPSET);
    if (w.has_i16) put_opset(&model, domain_of_i16, 1);
    message_nested(&model, MODEL_GRAPH, &w.nodes);
    *out = (Bytes){ model.at, model.count };
    return !ctx_failed(cx);
}
