/* SPDX-License-Identifier: MIT */
/* Every TFLite operator on models of it alone, against what the reference kernels of TensorFlow Lite Micro gave, to the bit:
 * tests/tflite/OPERATOR.vec, recorded by tests/tflite/vectors.py; with an argument, those in that folder. */
#include "check.h"

#include <string.h>

#include "graph/graph.h"
#include "graph/op.h"
#include "import/tflite.h"
#include "ir/evaluate.h"
#include "ir/interpret.h"
#include "support/text.h"

static const char *const recorded[] = {
    "abs", "add", "arg_max", "arg_min", "average_pool_2d", "batch_matmul", "batch_to_space_nd", "broadcast_to", "cast", "concatenation", "conv_2d",
    "depth_to_space", "depthwise_conv_2d", "dequantize", "div", "elu", "equal", "expand_dims", "fill", "fully_connected", "gather", "gather_nd", "greater",
    "greater_equal", "hard_swish", "l2_normalization", "leaky_relu", "less", "less_equal", "logical_and", "logical_not", "logical_or", "logistic", "max_pool_2d",
    "maximum", "mean", "minimum", "mirror_pad", "mul", "neg", "not_equal", "pack", "pad", "padv2", "prelu", "quantize", "reduce_max", "reduce_min", "relu", "relu6",
    "reshape", "resize_bilinear", "resize_nearest_neighbor", "rsqrt", "select_v2", "shape", "slice", "softmax", "space_to_batch_nd", "space_to_depth", "split",
    "split_v", "sqrt", "square", "squared_difference", "squeeze", "strided_slice", "sub", "sum", "tanh", "transpose", "transpose_conv", "unpack",
};

static uint32_t word(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

/* The next bytes with their length in front; the position moves past them. */
static Bytes part(const Bytes *file, size_t *at)
{
    Bytes b = { file->at + *at + 4, word(file->at + *at) };
    *at += 4 + b.count;
    return b;
}

static void *aligned_copy(Ctx *cx, Bytes b)
{
    int64_t *to = NEW_ARRAY(cx->arena, int64_t, (int64_t)(b.count + 8) / 8);
    memcpy(to, b.at, b.count);
    return to;
}

/* NULL, or what is wrong with the model's outputs. */
static const char *run_model(Ctx *cx, const Model *m, const Bytes *input, const Bytes *output)
{
    Node **order;
    int count = dag_order(cx, m->output, m->output_count, &order);
    Env *env = env_new(cx);
    const RunOptions checked = { true, 0 };
    for (int i = 0; i < m->input_count; i++) env_set(env, m->input[i], aligned_copy(cx, input[i]));
    for (int i = 0; i < count; i++) {
        Node *n = order[i];
        Tensor *const *out = op_expand(cx, n);
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j] && n->in[j]->data) env_set(env, n->in[j], (void *)(uintptr_t)n->in[j]->data);
        const Nest *nest = nest_naive(cx, n->name, n->in, n->in_count, out, n->out_count);
        if (!nest || !interpret(cx, nest, env, &checked)) return cx->diags ? diag_text(cx, cx->diags) : "does not run";
        for (int o = 0; o < n->out_count; o++) env_set(env, n->out[o], env_get(env, out[o]));
    }
    for (int i = 0; i < m->output_count; i++) {
        const Tensor *t = m->output[i];
        const uint8_t *found = env_get(env, t);
        if (!found || tensor_bytes(t) != (int64_t)output[i].count) return text_format(cx, "output %d is %s%s", i, dtype_info(t->type)->spelling, tensor_shape_text(cx, t));
        for (size_t b = 0; b < output[i].count; b++)
            if (found[b] != output[i].at[b]) return text_format(cx, "output %d: byte %d is %d, not %d", i, (int)b, (int8_t)found[b], (int8_t)output[i].at[b]);
    }
    return NULL;
}

static void check_operator(const char *folder, const char *name)
{
    enum { MOST = 16 };
    Ctx *files = ctx_new(NULL, NULL);
    Bytes file = file_read(files, text_format(files, "%s/%s.vec", folder, name));
    int number = 0;
    for (size_t at = 0; at + 4 < file.count; number++) {
        Bytes model = part(&file, &at), input[MOST], output[MOST];
        Ctx *cx = ctx_new(NULL, NULL);
        Model m;
        uint32_t inputs = word(file.at + at);
        at += 4;
        for (uint32_t i = 0; i < inputs; i++) input[i] = part(&file, &at);
        uint32_t outputs = word(file.at + at);
        at += 4;
        for (uint32_t i = 0; i < outputs; i++) output[i] = part(&file, &at);
        const char *why = !tflite_read(cx, name, model, NULL, &m) ? diag_text(cx, cx->diags)
                        : m.input_count != (int)inputs || m.output_count != (int)outputs ? "other inputs or outputs" : run_model(cx, &m, input, output);
        check_that(why == NULL, text_format(cx, "%s-%d", name, number), "%s", why);
        ctx_free(cx);
    }
    check_that(number >= 20, name, "%d cases are recorded", number);
    ctx_free(files);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) check_operator(argc > 1 ? argv[1] : "tests/tflite", recorded[i]);
    return check_done();
}
