/* SPDX-License-Identifier: MIT */
/* Writes ONNX files: see onnx_write.h. Field numbers are taken from onnx.proto3. */
#include "export/onnx_write.h"

#include <math.h>
#include <string.h>

#include "export/onnx_node.h"
#include "support/text.h"

enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { IR_VERSION = 8, OPSET = 13 };

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* Moves the channel from the last axis to the second, or back. */
static const char *channel_second(OnnxWriter *w, const char *x, int rank)
{
    int64_t perm[MAX_RANK] = { 0, rank - 1 };
    for (int d = 2; d < rank; d++) perm[d] = d - 1;
    return onnx_transposed(w, x, perm, rank);
}

static const char *channel_last(OnnxWriter *w, const char *x, int rank)
{
    int64_t perm[MAX_RANK] = { 0 };
    for (int d = 1; d < rank - 1; d++) perm[d] = d + 1;
    perm[rank - 1] = 1;
    return onnx_transposed(w, x, perm, rank);
}

static const char *same(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *in[3] = { NULL };
    for (int i = 0; i < n->in_count && i < 3; i++) in[i] = n->in[i] ? onnx_operand(w, n->in[i]) : NULL;
    OnnxNode node = onnx_node_begin(w, f->onnx);
    return onnx_node_end(&node, in, n->in_count);
}

static const char *square(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *x = onnx_operand(w, n->in[0]), *in[] = { x, x };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    return onnx_node_end(&node, in, 2);
}

static const char *with_alpha(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *x = onnx_operand(w, n->in[0]);
    OnnxNode node = onnx_node_begin(w, f->onnx);
    const Attr *alpha = node_attr(n, "alpha"), *beta = node_attr(n, "beta");
    if (alpha) onnx_put_float(&node, "alpha", alpha->real);
    if (beta) onnx_put_float(&node, "beta", beta->real);
    return onnx_node_end(&node, &x, 1);
}

static const char *softmax(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char *x = onnx_operand(w, n->in[0]);
    OnnxNode node = onnx_node_begin(w, f->onnx);
    onnx_put_int(&node, "axis", node_int(n, "axis", -1));
    return onnx_node_end(&node, &x, 1);
}

static const char *clip(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const double low = node_real(n, "min", -(double)INFINITY), high = node_real(n, "max", (double)INFINITY);
    const char *in[] = { onnx_operand(w, n->in[0]), isinf(low) ? NULL : onnx_number(w, "min", (float)low),
                         isinf(high) ? NULL : onnx_number(w, "max", (float)high) };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    return onnx_node_end(&node, in, 3);
}

static const char *view(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    int64_t shape[MAX_RANK];
    (void)f;
    onnx_dims_of(n->out[0], shape);
    return onnx_reshaped(w, onnx_operand(w, n->in[0]), shape, n->out[0]->rank);
}

static const char *transpose(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const int rank = n->in[0]->rank;
    const Attr *perm = node_attr(n, "perm");
    int64_t reversed[MAX_RANK];
    (void)f;
    for (int d = 0; d < rank; d++) reversed[d] = rank - 1 - d;
    return onnx_transposed(w, onnx_operand(w, n->in[0]), perm ? perm->ints : reversed, rank);
}

/* begin, end, axes and steps have the meaning of ONNX. */
static const char *slice(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Attr *begin = node_attr(n, "begin"), *end = node_attr(n, "end"), *axes = node_attr(n, "axes");
    int64_t axis[MAX_RANK], step[MAX_RANK];
    if (!begin || !end || node_attr(n, "begin_sizes") || node_attr(n, "end_sizes")) return NULL;
    for (int d = 0; d < begin->count; d++) axis[d] = axes ? axes->ints[d] : d;
    node_ints(n, "step", step, begin->count, 1);
    const char *in[] = { onnx_operand(w, n->in[0]), onnx_int_list(w, "starts", begin->ints, begin->count),
                         onnx_int_list(w, "ends", end->ints, end->count), onnx_int_list(w, "axes", axis, begin->count),
                         onnx_int_list(w, "steps", step, begin->count) };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    return onnx_node_end(&node, in, 5);
}

static const char *concat(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const char **in = NEW_ARRAY(w->cx->arena, const char *, n->in_count);
    for (int i = 0; i < n->in_count; i++) in[i] = onnx_operand(w, n->in[i]);
    OnnxNode node = onnx_node_begin(w, f->onnx);
    onnx_put_int(&node, "axis", node_int(n, "axis", 0));
    return onnx_node_end(&node, in, n->in_count);
}

/* Writes the values of an attribute; a single value applies to all dimensions. */
static void each_of(const Node *n, const char *name, int64_t *out, int count, int64_t otherwise)
{
    const Attr *a = node_attr(n, name);
    const bool is_one = a && a->kind == ATTR_INTS && a->count == 1;
    node_ints(n, name, out, count, is_one ? a->ints[0] : otherwise);
    for (int i = 0; is_one && i < count; i++) out[i] = a->ints[0];
}

/* Adds strides, dilations and pads as the call has them. */
static void put_window(OnnxNode *node, const Node *n, int spatial)
{
    int64_t v[2 * MAX_RANK];
    each_of(n, "stride", v, spatial, 1);
    onnx_put_ints(node, "strides", v, spatial);
    each_of(n, "dilation", v, spatial, 1);
    onnx_put_ints(node, "dilations", v, spatial);
    each_of(n, "pad", v, 2 * spatial, 0);
    onnx_put_ints(node, "pads", v, 2 * spatial);
}

/* conv*d and depthwise_conv*d have weights [taps..][c][o], or [taps..][o]. */
static const char *conv(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Tensor *x = n->in[0], *k = n->in[1];
    const int rank = x->rank, spatial = rank - 2;
    const bool is_depthwise = k->rank == spatial + 1;
    int64_t shape[MAX_RANK], perm[MAX_RANK] = { rank - 1, rank - 2 };
    if (!onnx_is_constant(k)) return NULL;
    onnx_dims_of(k, shape);
    if (is_depthwise) shape[rank - 1] = shape[rank - 2], shape[rank - 2] = 1;
    for (int d = 0; d < spatial; d++) perm[2 + d] = d;
    const char *in[] = { channel_second(w, onnx_operand(w, n->in[0]), rank), onnx_weights(w, k, rank, shape, perm) };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    put_window(&node, n, spatial);
    onnx_put_int(&node, "group", is_depthwise ? tensor_dim(x, rank - 1) : node_int(n, "groups", 1));
    return channel_last(w, onnx_node_end(&node, in, 2), rank);
}

/* conv*d_transpose has weights [taps..][c][o], or with groups [taps..][c][o / groups]. */
static const char *conv_transpose(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Tensor *k = n->in[1];
    const int rank = n->in[0]->rank, spatial = rank - 2;
    int64_t shape[MAX_RANK], perm[MAX_RANK] = { rank - 2, rank - 1 }, extra[MAX_RANK], stride[MAX_RANK];
    if (!onnx_is_constant(k)) return NULL;
    onnx_dims_of(k, shape);
    each_of(n, "extra", extra, spatial, 0);
    each_of(n, "stride", stride, spatial, 1);
    for (int d = 0; d < spatial; d++) {
        perm[2 + d] = d;
        if (extra[d] >= stride[d]) return NULL;                        /* ONNX accepts less */
    }
    const char *in[] = { channel_second(w, onnx_operand(w, n->in[0]), rank), onnx_weights(w, k, rank, shape, perm) };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    put_window(&node, n, spatial);
    onnx_put_ints(&node, "output_padding", extra, spatial);
    onnx_put_int(&node, "group", node_int(n, "groups", 1));
    return channel_last(w, onnx_node_end(&node, in, 2), rank);
}

static const char *pool(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const int rank = n->in[0]->rank, spatial = rank - 2;
    int64_t kernel[MAX_RANK];
    const char *x = channel_second(w, onnx_operand(w, n->in[0]), rank);
    OnnxNode node = onnx_node_begin(w, f->onnx);
    each_of(n, "kernel", kernel, spatial, 1);
    onnx_put_ints(&node, "kernel_shape", kernel, spatial);
    const bool is_average = strcmp(f->onnx, "AveragePool") == 0;
    int64_t dilation[MAX_RANK], plain = 1;
    each_of(n, "dilation", dilation, spatial, 1);
    for (int d = 0; d < spatial; d++) plain = plain && dilation[d] == 1;
    if (is_average && !plain) return NULL;
    int64_t v[2 * MAX_RANK];
    each_of(n, "stride", v, spatial, 1);
    onnx_put_ints(&node, "strides", v, spatial);
    if (!is_average) onnx_put_ints(&node, "dilations", dilation, spatial);
    each_of(n, "pad", v, 2 * spatial, 0);
    onnx_put_ints(&node, "pads", v, 2 * spatial);
    onnx_put_int(&node, "ceil_mode", node_int(n, "ceil_mode", 0));
    if (is_average) onnx_put_int(&node, "count_include_pad", node_int(n, "count_pad", 0));
    return channel_last(w, onnx_node_end(&node, &x, 1), rank);
}

static const char *global_pool(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const int rank = n->in[0]->rank;
    const char *x = channel_second(w, onnx_operand(w, n->in[0]), rank);
    OnnxNode node = onnx_node_begin(w, f->onnx);
    return channel_last(w, onnx_node_end(&node, &x, 1), rank);
}

static const char *reduce(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Attr *axes = node_attr(n, "axes");
    const char *x = onnx_operand(w, n->in[0]);
    OnnxNode node = onnx_node_begin(w, f->onnx);
    if (axes) onnx_put_ints(&node, "axes", axes->ints, axes->count);
    onnx_put_int(&node, "keepdims", node_int(n, "keepdims", 0));
    return onnx_node_end(&node, &x, 1);
}

static int64_t zero_of(const Node *n) { return dtype_load(n->in[2]->type, n->in[2]->data, 0).i; }

/* Returns true if the scale and the zero point are constants for the whole tensor, and the stored type and the rounding
 * are those of a QuantizeLinear. */
static bool has_plain_grid(const Node *n)
{
    if (n->in_count < 3 || !n->in[1] || !n->in[2] || n->in[1]->type != F32 || n->in[0]->type != F32) return false;
    if (!tensor_is_constant(n->in[1]) || !tensor_is_constant(n->in[2])) return false;
    const DType t = onnx_stored_type(n);
    const bool is_stored = (node_int(n, "bits", 8) == 8 || node_int(n, "bits", 8) == 16) && node_int(n, "sign", 1)
        && strcmp(node_text(n, "rounding", "even"), "even") == 0;
    return tensor_elems(n->in[1]) == 1 && tensor_elems(n->in[2]) == 1 && is_stored && (t == I8 || t == I16);
}

/* Writes a QuantizeLinear and a DequantizeLinear for a simulation, or for a quantization whose consumers read real
 * numbers. If a simulation on the same grid precedes, the existing pair suffices. */
static const char *simulation(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Node *before = n->in[0]->producer;
    int16_t stored_zero;                              /* of the type's size */
    (void)f;
    if (!has_plain_grid(n) || (onnx_is_store(n) && graph_has_output(w->graph, n->out[0]))) return NULL;
    const int64_t zero = zero_of(n);
    const DType t = onnx_stored_type(n);
    const bool is_again = onnx_is_store(n) && onnx_is_simulation(before) && has_plain_grid(before);
    if (is_again && onnx_stored_type(before) == t && zero_of(before) == zero &&
        *(const float *)before->in[1]->data == *(const float *)n->in[1]->data)
        return onnx_operand(w, n->in[0]);
    dtype_store(t, &stored_zero, 0, (Scalar){ .i = zero });
    return onnx_rounded(w, onnx_operand(w, n->in[0]), t, *(const float *)n->in[1]->data, &stored_zero);
}

/* Writes a stored constant, which is a bias in the unit of the sums. */
static const char *dequantize(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    int64_t shape[MAX_RANK];
    const Tensor *q = n->in[0], *scale = n->in[1];
    if (!tensor_is_constant(q) || scale->rank > 1) return NULL;
    onnx_dims_of(q, shape);
    const char *in[] = { onnx_initializer(w, "stored", q->type, q->rank, shape, q->data), onnx_operand(w, n->in[1]) };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    if (scale->rank) onnx_put_int(&node, "axis", q->rank - 1);
    return onnx_node_end(&node, in, 2);
}

static const OnnxForm forms[] = {
    { "conv1d", "Conv", conv }, { "conv2d", "Conv", conv }, { "conv3d", "Conv", conv },
    { "depthwise_conv1d", "Conv", conv }, { "depthwise_conv2d", "Conv", conv },
    { "conv1d_transpose", "ConvTranspose", conv_transpose }, { "conv2d_transpose", "ConvTranspose", conv_transpose },
    { "conv3d_transpose", "ConvTranspose", conv_transpose },
    { "dense", "MatMul", same }, { "matmul", "MatMul", same },
    { "max_pool1d", "MaxPool", pool }, { "max_pool2d", "MaxPool", pool }, { "max_pool3d", "MaxPool", pool },
    { "avg_pool1d", "AveragePool", pool }, { "avg_pool2d", "AveragePool", pool }, { "avg_pool3d", "AveragePool", pool },
    { "global_avg_pool", "GlobalAveragePool", global_pool }, { "global_max_pool", "GlobalMaxPool", global_pool },
    { "add", "Add", same }, { "sub", "Sub", same }, { "mul", "Mul", same }, { "div", "Div", same },
    { "minimum", "Min", same }, { "maximum", "Max", same }, { "pow", "Pow", same }, { "prelu", "PRelu", same },
    { "relu", "Relu", same }, { "sigmoid", "Sigmoid", same }, { "tanh", "Tanh", same }, { "exp", "Exp", same },
    { "log", "Log", same }, { "sqrt", "Sqrt", same }, { "erf", "Erf", same }, { "neg", "Neg", same },
    { "abs", "Abs", same }, { "where", "Where", same }, { "identity", "Identity", same },
    { "reciprocal", "Reciprocal", same }, { "sin", "Sin", same }, { "cos", "Cos", same },
    { "softplus", "Softplus", same }, { "square", "Mul", square }, { "floor", "Floor", same }, { "ceil", "Ceil", same },
    { "leaky_relu", "LeakyRelu", with_alpha }, { "elu", "Elu", with_alpha },
    { "hard_sigmoid", "HardSigmoid", with_alpha }, { "clip", "Clip", clip },
    { "softmax", "Softmax", softmax }, { "log_softmax", "LogSoftmax", softmax },
    { "reshape", "Reshape", view }, { "squeeze", "Reshape", view }, { "unsqueeze", "Reshape", view },
    { "transpose", "Transpose", transpose }, { "concat", "Concat", concat }, { "slice", "Slice", slice },
    { "reduce_mean", "ReduceMean", reduce }, { "reduce_max", "ReduceMax", reduce },
    { "reduce_min", "ReduceMin", reduce },
    { "rnn", "RNN", onnx_recurrent }, { "gru", "GRU", onnx_recurrent }, { "lstm", "LSTM", onnx_recurrent },
    { "annotation.simulated_quantize", "QuantizeLinear", simulation }, { "quantize", "QuantizeLinear", simulation },
    { "dequantize", "DequantizeLinear", dequantize },
};

/* If the form does not cover a call, nothing of the call remains in the file. */
static const char *by_form(OnnxWriter *w, const Node *n)
{
    const Message before = w->nodes;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].op, n->op->name) != 0) continue;
        const char *out = forms[i].write(w, n, &forms[i]);
        if (!out) w->nodes = before;
        return out;
    }
    return NULL;
}

static void write_node(OnnxWriter *w, const Node *n)
{
    w->stem = n->out[0]->name;
    if (n->kind == NODE_CALL && onnx_is_simulation(n) && tensor_is_constant(n->in[0])) return;       /* weights */
    if (n->kind != NODE_CALL) {
        diag_unsupported(w->cx, text_format(w->cx, "node \"%s\"", n->name),
                         "ONNX export does not support control flow; omit -o NAME.onnx to write only the C");
        return;
    }
    const char *out = by_form(w, n);
    if (!out && !ctx_failed(w->cx)) out = onnx_formula(w, n);
    if (out) onnx_name_output(w, n->out[0], out);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_port(OnnxWriter *w, int number, const Tensor *t, const char *name)
{
    int64_t shape[MAX_RANK];
    onnx_dims_of(t, shape);
    onnx_put_port(w, number, name, t->type, t->rank, shape);
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
    OnnxWriter w = { .cx = cx, .graph = g, .write_node = write_node, .nodes = message_new(cx),
                     .names = map_new(cx->arena), .taken = map_new(cx->arena) };
    Node **order;
    const int count = graph_order(cx, g, &order);
    message_text(&w.nodes, GRAPH_NAME, g->name ? g->name : "model");
    for (int i = 0; i < g->input_count; i++) {
        const char *name = g->input[i]->name;
        if (!tensor_is_fixed(g->input[i]))
            diag_unsupported(cx, NULL,
                             "the input \"%s\" is %s in a written ONNX file; fix its sizes with --dim NAME=N",
                             g->input[i]->name, tensor_shape_text(cx, g->input[i]));
        else put_port(&w, GRAPH_INPUT, g->input[i], name);
        onnx_name_output(&w, g->input[i], name);
        map_put_const(&w.taken, name, strlen(name), name);
    }
    for (int i = 0; i < g->output_count; i++) map_put_const(&w.taken, names[i], strlen(names[i]), names[i]);
    for (int i = 0; i < count && !ctx_failed(cx); i++) write_node(&w, order[i]);
    for (int i = 0; i < g->output_count && !ctx_failed(cx); i++) {
        const char *from = onnx_operand(&w, g->output[i]);
        OnnxNode copy = onnx_node_begin(&w, "Identity");
        message_text(&copy.m, NODE_INPUT, from);
        message_text(&copy.m, NODE_OUTPUT, names[i]);
        message_text(&copy.m, NODE_NAME, names[i]);
        message_nested(&w.nodes, GRAPH_NODE, &copy.m);
        put_port(&w, GRAPH_OUTPUT, g->output[i], names[i]);
    }
    Message model = message_new(cx);
    message_int(&model, MODEL_IR_VERSION, IR_VERSION);
    message_text(&model, MODEL_PRODUCER, "loopwright");
    put_opset(&model, NULL, OPSET);
    if (w.has_i16) put_opset(&model, onnx_domain_of_i16, 1);
    message_nested(&model, MODEL_GRAPH, &w.nodes);
    *out = (Bytes){ model.at, model.count };
    return !ctx_failed(cx);
}
