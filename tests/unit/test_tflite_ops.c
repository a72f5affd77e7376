/* SPDX-License-Identifier: MIT */
/* Every TFLite operator on models of it alone, beside the results of the reference kernels of TensorFlow Lite Micro, to
 * the bit: tests/tflite/OPERATOR.vec, recorded by tests/tflite/vectors.py; with arguments, those in a folder,
 * of all operators or of some. Models of variables are in one file and run several times.
 *
 *     test_tflite_ops [FOLDER [OPERATOR...]] */
#include "check.h"

#include "context/context.h"
#include "import/tflite/tflite.h"
#include "run_model.h"

static const char *const recorded[] = {
    "abs", "abs_int16", "add", "add_int16", "add_n", "add_uint8", "arg_max", "arg_max_uint8", "arg_min",
    "arg_min_uint8", "atan2", "average_pool_2d", "average_pool_2d_int16", "average_pool_2d_uint8", "batch_matmul",
    "batch_matmul_hybrid", "batch_matmul_int16", "batch_to_space_nd", "bidirectional_sequence_lstm",
    "bidirectional_sequence_lstm_hybrid", "bidirectional_sequence_rnn", "bidirectional_sequence_rnn_hybrid",
    "bitwise_xor", "broadcast_args", "broadcast_to", "bucketize", "cast", "ceil", "circular_buffer",
    "comparisons_int16", "composite", "concatenation", "concatenation_rescaled_uint8", "concatenation_uint8", "conv_2d",
    "conv_2d_hybrid", "conv_2d_int16", "conv_2d_int4", "conv_2d_uint8", "conv_3d", "conv_3d_transpose", "cos", "cumsum",
    "cumsum_int8", "curve_ends_int16", "curves_uint8", "decode", "densify", "depth_to_space", "depthwise_conv_2d",
    "depthwise_conv_2d_hybrid",
    "depthwise_conv_2d_int16", "depthwise_conv_2d_int4", "depthwise_conv_2d_uint8", "dequantize", "dequantize_int16",
    "dequantize_uint8", "detection_post_process", "detection_post_process_uint8", "dilate", "div", "div_uint8",
    "dynamic_update_slice", "elu", "embedding_lookup", "equal", "equal_uint8", "exp", "exp_int16", "exp_int8",
    "expand_dims", "fake_quant", "fill", "floor", "floor_div", "floor_mod", "fully_connected",
    "fully_connected_blockwise", "fully_connected_hybrid", "fully_connected_int16", "fully_connected_int4",
    "fully_connected_sparse", "fully_connected_uint8", "gather", "gather_batches", "gather_nd", "gelu", "gelu_int16",
    "greater", "greater_equal", "greater_uint8", "hard_swish", "hard_swish_uint8", "if", "l2_normalization",
    "l2_normalization_uint8", "l2_pool_2d", "leaky_relu", "leaky_relu_int16", "leaky_relu_uint8", "less", "less_equal",
    "less_uint8", "list_flex", "list_write", "list_write_open", "local_response_normalization", "log", "log_int16",
    "log_int8", "log_softmax", "log_softmax_uint8", "logical_and", "logical_not", "logical_or", "logistic",
    "logistic_int16", "logistic_uint8", "lstm", "matrix_diag", "matrix_set_diag", "max_pool_2d", "max_pool_2d_int16",
    "max_pool_2d_uint8", "maximum", "maximum_int16", "maximum_uint8", "mean", "mean_int16", "mean_uint8", "minimum",
    "minimum_int16", "minimum_uint8", "mirror_pad", "mul", "mul_int16", "mul_uint8", "neg", "network_uint8",
    "non_max_suppression_soft", "non_max_suppression_v4", "non_max_suppression_v5", "not_equal", "one_hot", "pack",
    "pad", "pad_uint8", "padv2", "padv2_float16", "padv2_uint8", "pow", "prelu", "prelu_int16", "prelu_uint8",
    "products_uint8", "quantize", "quantize_int16", "quantize_uint8", "quotients", "quotients_uint8", "reduce_all",
    "reduce_any", "reduce_max", "reduce_max_uint8", "reduce_max_whole", "reduce_min", "reduce_min_uint8",
    "reduce_min_whole", "reduce_prod", "reduce_prod_int16", "reduce_prod_int8", "relu", "relu6", "relu6_rescaled_uint8",
    "relu6_uint8", "relu_0_to_1", "relu_int16", "relu_n1_to_1", "relu_uint8", "reshape", "reshape_uint8",
    "resize_bilinear", "resize_bilinear_int16", "resize_bilinear_uint8", "resize_nearest_neighbor",
    "resize_nearest_neighbor_uint8", "reverse_sequence", "reverse_v2", "rfft2d", "rfft2d_images", "right_shift", "rnn",
    "rnn_hybrid", "rnn_relu", "round", "rsqrt", "rsqrt_int16", "scatter_nd", "segment_sum", "select", "select_v2",
    "shape", "sign", "signal_auto_scale", "signal_delay", "signal_energy", "signal_features", "signal_filter_bank",
    "signal_framer", "signal_irfft", "signal_irfft_float", "signal_log", "signal_overlap_add", "signal_pcan",
    "signal_rfft", "signal_rfft_float", "signal_spectral_subtraction", "signal_stacker", "signal_window", "sin",
    "slice", "slice_at", "softmax", "softmax_int16", "softmax_uint8", "space_to_batch_nd", "space_to_depth",
    "sparse_to_dense", "split", "split_v", "sqrt", "sqrt_int8", "square", "squared_difference",
    "squared_difference_int16", "squeeze", "strided_slice", "strided_slice_at", "strided_slice_uint8", "sub",
    "sub_int16", "sub_uint8", "sum", "sum_int16", "sum_uint8", "sum_whole", "svdf", "svdf_hybrid", "svdf_int16",
    "svdf_int8", "tanh", "tanh_int16", "tanh_uint8", "tile", "topk_v2", "transpose", "transpose_conv",
    "transpose_conv_hybrid", "transpose_conv_int16", "transpose_conv_stored", "transpose_conv_uint8",
    "unidirectional_sequence_lstm", "unidirectional_sequence_lstm_fixed", "unidirectional_sequence_lstm_hybrid",
    "unpack", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum",
    "variables", "variables_computed", "while", "zeros_like",
};
/* Of the C library of the machine on which they were recorded, which differs in the last bit from ours and
 * from others. */
static const char *const nearly[] = { "atan2", "cos", "exp", "log", "sin" };

/* Sums of products in another order, and the error function of the C library, of values about 1. */
static const char *const closely[] = {
    "bidirectional_sequence_lstm", "bidirectional_sequence_lstm_hybrid", "bidirectional_sequence_rnn",
    "bidirectional_sequence_rnn_hybrid", "detection_post_process", "detection_post_process_uint8",
    "fully_connected_blockwise", "gelu", "local_response_normalization", "lstm",
    "non_max_suppression_soft", "rfft2d", "rfft2d_images", "rnn", "rnn_hybrid",
    "signal_irfft_float", "signal_rfft_float", "unidirectional_sequence_lstm", "unidirectional_sequence_lstm_hybrid",
};

enum { MOST = 20 };      /* inputs or outputs */

static uint32_t word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The next bytes with their length in front; the position moves past them. */
static Bytes part(const Bytes *file, size_t *at)
{
    Bytes b = { file->at + *at + 4, word(file->at + *at) };
    *at += 4 + b.count;
    return b;
}

/* One record of a file: models without variables are run once, others several times. */
typedef struct Record { Bytes model, input[MOST], output[MOST]; int input_count, output_count; } Record;

static int parts(const Bytes *file, size_t *at, Bytes *out)
{
    int count = (int)word(file->at + *at);
    *at += 4;
    for (int i = 0; i < count; i++) out[i < MOST ? i : MOST - 1] = part(file, at);
    return count;
}

static Record next_record(const Bytes *file, size_t *at)
{
    Record r;
    r.model = part(file, at);
    r.input_count = parts(file, at, r.input);
    r.output_count = parts(file, at, r.output);
    return r;
}

/* Floats next to each other have integers next to each other as their bits, where their signs are the same. */
static bool is_next_float(const uint8_t *a, const uint8_t *b)
{
    int64_t x = word(a), y = word(b);
    return x - y <= 1 && y - x <= 1;
}

static bool is_close(const uint8_t *a, const uint8_t *b)
{
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x - y <= 1e-6f && y - x <= 1e-6f;
}

/* How floats may differ from the recorded ones. */
typedef bool Agrees(const uint8_t *a, const uint8_t *b);

static const char *compare(Ctx *cx, int i, const uint8_t *found, const Bytes *wanted, Agrees *agrees)
{
    for (size_t b = 0; b < wanted->count; b++) {
        if (found[b] == wanted->at[b] || (agrees && agrees(found + b / 4 * 4, wanted->at + b / 4 * 4))) continue;
        return text_format(cx, "output %d: byte %d is %d, not %d", i, (int)b, (int8_t)found[b], (int8_t)wanted->at[b]);
    }
    return NULL;
}

/* The initial values of inputs that are state. */
static void begin_state(Ctx *cx, const Model *m, const void **in)
{
    for (int i = 0; i < m->state_count; i++) {
        const int at = m->state[i].input;
        const size_t bytes = (size_t)tensor_bytes(m->input[at]);
        in[at] = m->initial && m->initial[at] ? aligned_copy(cx, m->initial[at]->data, bytes)
                                              : arena_alloc(cx->arena, bytes);
    }
}

/* Returns NULL, or the fault. State follows the file's own inputs and outputs. */
static const char *check_record(Ctx *cx, const Record *r, const Model *m, Agrees *agrees)
{
    const int fed = m->input_count - m->state_count, made = m->output_count - m->state_count,
              runs = fed ? r->input_count / fed : 1;
    const void *in[MOST];
    const void *out[MOST];
    const char *why = fed * runs != r->input_count || made * runs != r->output_count ? "other inputs or outputs" : NULL;
    begin_state(cx, m, in);
    for (int run = 0; run < runs && !why; run++) {
        for (int i = 0; i < fed; i++)
            in[i] = aligned_copy(cx, r->input[run * fed + i].at, r->input[run * fed + i].count);
        why = run_model(cx, m, in, out);
        for (int i = 0; i < made && !why; i++) {
            const Bytes *wanted = &r->output[run * made + i];
            const bool is_float = dtype_is_float(m->output[i]->type);
            why = tensor_bytes(m->output[i]) != (int64_t)wanted->count
                ? "an output of another size" : compare(cx, i, out[i], wanted, is_float ? agrees : NULL);
        }
        for (int i = 0; i < m->state_count && !why; i++) in[m->state[i].input] = out[m->state[i].output];
    }
    return why;
}

static void check_operator(const char *folder, const char *name)
{
    Ctx *files = context_new(NULL, NULL);
    Bytes file = file_read(files, text_format(files, "%s/%s.vec", folder, name));
    Agrees *agrees = NULL;
    int number = 0;
    for (size_t i = 0; i < sizeof nearly / sizeof nearly[0]; i++)
        if (strcmp(nearly[i], name) == 0) agrees = is_next_float;
    for (size_t i = 0; i < sizeof closely / sizeof closely[0]; i++)
        if (strcmp(closely[i], name) == 0) agrees = is_close;
    for (size_t at = 0; at + 4 < file.count; number++) {
        Record r = next_record(&file, &at);
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        const char *why = tflite_read(cx, name, r.model, NULL, &m) ? check_record(cx, &r, &m, agrees)
                                                                   : diag_text(cx, cx->diags);
        check_that(why == NULL, text_format(cx, "%s-%d-equals-the-recorded-output", name, number), "%s", why);
        ctx_free(cx);
    }
    check_that(number >= 20, check_label(name, "has-20-recorded-cases"), "%d cases are recorded", number);
    ctx_free(files);
}

int main(int argc, char **argv)
{
    const size_t count = sizeof recorded / sizeof recorded[0];
    for (int i = 2; i < argc; i++) check_operator(argv[1], argv[i]);
    for (size_t i = 0; i < count && argc <= 2; i++)
        check_operator(argc > 1 ? argv[1] : "tests/tflite", recorded[check_index(i, count)]);
    return check_done();
}
