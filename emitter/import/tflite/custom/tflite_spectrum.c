/* SPDX-License-Identifier: MIT */
/* Translates custom operators of TensorFlow Lite Micro's signal library that have no state: windows, Fourier transforms
 * of real numbers, and the spectrum's features (import/model/fourier.h, ops/integer/spectrum.c). Lengths are powers of
 * two. */
#include "import/tflite/custom/tflite_custom.h"

#include "import/model/fourier.h"
#include "support/text.h"

static int64_t last_dim(const Tensor *x) { return tensor_dim(x, x->rank - 1); }

static double function_of(ExprKind kind, double x)
{
    const Scalar of = { .f = x };
    return scalar_apply(kind, F64, F64, &of).f;
}

static bool read_length(TfliteCall *c, int64_t *length)
{
    static const CustomOption option = { "fft_length", 4, MOST_FOURIER_POINTS };
    if (!tflite_needs(c, 1) || !tflite_custom_options(c, &option, 1, length)) return false;
    if (*length & (*length - 1))
        tflite_unsupported(c, "it transforms %lld points; use a power of two from 4 to %d",
                           (long long)*length, MOST_FOURIER_POINTS);
    if (c->in[0]->rank < 1 || tensor_elems(c->in[0]) < 1)
        tflite_refuse(c, "its input is %s; use at least one dimension, and none of size 0",
                      tensor_shape_text(c->cx, c->in[0]));
    return !ctx_failed(c->cx);
}

/* Gives the result the input's shape, with `last` as the last dimension. */
static void set_rows(TfliteCall *c, Tensor *y, int64_t last)
{
    int64_t shape[MAX_RANK];
    const Tensor *x = c->in[0];
    for (int d = 0; d < x->rank - 1; d++) shape[d] = tensor_dim(x, d);
    shape[x->rank - 1] = last;
    c->out[0] = tflite_reshape(c, y, shape, x->rank);
}

static void rfft(TfliteCall *c)
{
    int64_t length;
    if (!read_length(c, &length)) return;
    Tensor *x = c->in[0];
    const int64_t width = last_dim(x), rows = tensor_elems(x) / width;
    if (width > length)
        tflite_refuse(c, "its rows have %lld elements; use at most 'fft_length', which is %lld", (long long)width,
                      (long long)length);
    x = tflite_reshape(c, x, (int64_t[]){ rows, width }, 2);
    x = fourier_fitted(c->cx, c->name, x, 1, length);
    set_rows(c, fourier_of_real(c->cx, c->name, x, FOURIER_REFERENCE), length + 2);
}

/* Translates the inverse transform. Floats are divided by the length at the end; in fixed point each step divides. */
static void irfft(TfliteCall *c)
{
    int64_t length;
    if (!read_length(c, &length)) return;
    Tensor *x = c->in[0];
    const int64_t rows = tensor_elems(x) / last_dim(x), points = length / 2;
    if (last_dim(x) != length + 2)
        tflite_refuse(c, "its rows have %lld elements; use 'fft_length' + 2, which is %lld", (long long)last_dim(x),
                      (long long)length + 2);
    x = tflite_reshape(c, x, (int64_t[]){ rows, points + 1, 2 }, 3);
    if (ctx_failed(c->cx)) return;
    x = fourier_to_real(c->cx, c->name, x, length, FOURIER_REFERENCE);
    if (x && x->type == F32) x = tflite_call2(c, "div", x, tensor_scalar(c->cx, c->name, F32, (double)length));
    set_rows(c, x, length);
}

/* ---- Samples and spectra ----------------------------------------------------------------------------------------- */

static void window(TfliteCall *c)
{
    static const CustomOption option = { "shift", 0, 31 };
    int64_t shift;
    if (!tflite_needs(c, 2) || !tflite_custom_options(c, &option, 1, &shift) || !tflite_custom_input(c, 1, I16, 1))
        return;
    if (c->in[0]->rank < 1 || last_dim(c->in[0]) != tensor_dim(c->in[1], 0))
        tflite_refuse(c, "its rows are %s, the window %s; use rows as long as the window",
                         tensor_shape_text(c->cx, c->in[0]),
                      tensor_shape_text(c->cx, c->in[1]));
    else c->out[0] = tflite_call2(c, "window_fixed", c->in[0], c->in[1], attr_int("shift", shift));
}

static void auto_scale(TfliteCall *c)
{
    if (!tflite_custom_input(c, 0, I16, 1)) return;
    c->out[0] = tflite_call(c, "auto_scale", c->in[0]);
    if (c->out[0]) c->out[1] = tflite_reshape(c, c->out[0]->producer->out[1], NULL, 0);
}

/* Translates the energy of bins. The reference does not write the bins outside begin..end; here these bins are 0. */
static void energy(TfliteCall *c)
{
    static const CustomOption options[] = { { "start_index", 0, INT32_MAX }, { "end_index", 0, INT32_MAX } };
    int64_t of[2];
    if (!tflite_custom_input(c, 0, I16, 1) || !tflite_custom_options(c, options, 2, of)) return;
    const int64_t bins = last_dim(c->in[0]) / 2;
    if (last_dim(c->in[0]) % 2 || of[0] > of[1] || of[1] > bins)
        tflite_refuse(c, "'start_index' is %lld, 'end_index' is %lld and the input is %s; use an even last dimension "
                      "(two numbers per bin), and 'start_index' <= 'end_index' <= half of it",
                      (long long)of[0], (long long)of[1], tensor_shape_text(c->cx, c->in[0]));
    else c->out[0] = tflite_call(c, "energy", tflite_reshape(c, c->in[0], (int64_t[]){ bins, 2 }, 2),
                                 attr_int("begin", of[0]), attr_int("end", of[1]));
}

/* Returns the largest width of a band, or 0 after a refusal of tables that lead outside. */
static int64_t widest_band(TfliteCall *c, int64_t bands)
{
    enum { INPUT, WEIGHTS, UNWEIGHTS, FROM, AT, WIDTH };
    int64_t most = 1;
    for (int64_t i = 0; i < bands && !ctx_failed(c->cx); i++) {
        const int64_t from = dtype_load(I16, c->in[FROM]->data, i).i, at = dtype_load(I16, c->in[AT]->data, i).i,
                      width = dtype_load(I16, c->in[WIDTH]->data, i).i;
        if (width > most) most = width;
        if (width > 0 && (from < 0 || at < 0 || from + width > tensor_dim(c->in[INPUT], 0)
                          || at + width > tensor_dim(c->in[WEIGHTS], 0)
                          || at + width > tensor_dim(c->in[UNWEIGHTS], 0)))
            tflite_refuse(c, "band %lld has %lld bins from %lld, weights from %lld; use bins and weights within the "
                             "inputs",
                          (long long)i, (long long)width, (long long)from, (long long)at);
    }
    return ctx_failed(c->cx) ? 0 : most;
}

static void filter_bank(TfliteCall *c)
{
    static const CustomOption option = { "num_channels", 1, INT16_MAX };
    int64_t channels;
    if (!tflite_custom_options(c, &option, 1, &channels)) return;
    for (int i = 0; i < 6; i++)
        if (!tflite_custom_input(c, i, i ? I16 : U32, 1)) return;
    for (int i = 3; i < 6; i++)
        if (!tensor_is_constant(c->in[i]) || tensor_dim(c->in[i], 0) != channels + 1) {
            tflite_refuse(c, "input %d is %s; use a constant with 'num_channels' + 1 = %lld elements", i,
                          tensor_shape_text(c->cx, c->in[i]), (long long)channels + 1);
            return;
        }
    const int64_t most = widest_band(c, channels + 1);
    if (most) c->out[0] = call(c->cx, "filter_bank", c->name, c->in, 6, ATTRS(attr_int("most", most)));
}

static void square_root(TfliteCall *c)
{
    if (!tflite_custom_input(c, 0, U64, 1) || !tflite_custom_input(c, 1, I32, 0)) return;
    c->out[0] = tflite_call2(c, "sqrt_rounded", c->in[0], tflite_reshape(c, c->in[1], (int64_t[]){ 1 }, 1));
}

static void spectral_subtraction(TfliteCall *c)
{
    enum { CHANNELS, UP, BITS, EVEN, EVEN_REST, ODD, ODD_REST, LEAST, CLAMP, COUNT };
    static const CustomOption options[COUNT] = {
        { "num_channels", 1, INT32_MAX }, { "smoothing_bits", 0, 31 }, { "spectral_subtraction_bits", 0, 63 },
        { "smoothing", 0, INT32_MAX }, { "one_minus_smoothing", 0, INT32_MAX },
        { "alternate_smoothing", 0, INT32_MAX }, { "alternate_one_minus_smoothing", 0, INT32_MAX },
        { "min_signal_remaining", 0, INT32_MAX }, { "clamping", 0, 1 },
    };
    int64_t of[COUNT];
    if (!tflite_custom_input(c, 0, U32, 1) || !tflite_custom_options(c, options, COUNT, of)) return;
    if (tensor_dim(c->in[0], 0) != of[CHANNELS]) {
        tflite_refuse(c, "its input is %s; use 'num_channels' = %lld elements",
                      tensor_shape_text(c->cx, c->in[0]), (long long)of[CHANNELS]);
        return;
    }
    Tensor *noise = tflite_own_state(c, "noise", U32, 1, &of[CHANNELS], NULL);
    c->out[0] = tflite_call2(c, "subtract_noise", c->in[0], noise, attr_int("up", of[UP]), attr_int("bits", of[BITS]),
                             attr_int("even", of[EVEN]), attr_int("even_rest", of[EVEN_REST]),
                             attr_int("odd", of[ODD]), attr_int("odd_rest", of[ODD_REST]),
                             attr_int("least", of[LEAST]), attr_int("clamp", of[CLAMP]));
    if (!c->out[0]) return;
    c->out[1] = c->out[0]->producer->out[1];
    tflite_own_state_set(c, noise, c->out[1]);
}

static void pcan(TfliteCall *c)
{
    static const CustomOption option = { "snr_shift", 0, 63 };
    int64_t shift;
    if (!tflite_custom_input(c, 0, U32, 1) || !tflite_custom_input(c, 1, U32, 1) || !tflite_custom_input(c, 2, I16, 1)
        || !tflite_custom_options(c, &option, 1, &shift))
        return;
    c->out[0] = call(c->cx, "gain_fixed", c->name, c->in, 3, ATTRS(attr_int("shift", shift)));
}

/* Returns 2^16 (log2(1 + i / 128) - i / 128) at 129 points. */
static Tensor *log_points(TfliteCall *c)
{
    uint16_t point[129];
    const int64_t count = 129;
    for (int i = 0; i < 129; i++) {
        const double fraction = (double)i / 128;
        point[i] = (uint16_t)(65536 * (function_of(EXPR_LOG2, 1 + fraction) - fraction) + 0.5);
    }
    return tensor_constant(c->cx, c->name, U16, 1, &count, point);
}

static void filter_bank_log(TfliteCall *c)
{
    static const CustomOption options[] = { { "input_correction_bits", 0, 31 },
                                            { "output_scale", INT32_MIN, INT32_MAX } };
    int64_t of[2];
    if (!tflite_custom_input(c, 0, U32, 1) || !tflite_custom_options(c, options, 2, of)) return;
    c->out[0] = tflite_call2(c, "log_fixed", c->in[0], log_points(c), attr_int("bits", of[0]),
                             attr_int("scale", of[1]));
}

enum { OF_SIGNAL = OF_I16 | OF_I32 | OF_F32 };
#define ROW(name, types, lower) { TFLITE_CUSTOM, name, 1, 0, types, 1, NULL, lower, TFLITE_KEEPS_NONE }

const TfliteRow tflite_rows_spectrum[] = {
    ROW("SignalWindow", OF_I16, window),
    ROW("SignalFftAutoScale", OF_I16, auto_scale),
    ROW("SignalRfft", OF_SIGNAL, rfft),
    ROW("SignalIrfft", OF_SIGNAL, irfft),
    ROW("SignalEnergy", OF_I16, energy),
    ROW("SignalFilterBank", OF_U32, filter_bank),
    ROW("SignalFilterBankSquareRoot", OF_U64, square_root),
    ROW("SignalFilterBankSpectralSubtraction", OF_U32, spectral_subtraction),
    ROW("SignalPCAN", OF_U32, pcan),
    ROW("SignalFilterBankLog", OF_U32, filter_bank_log),
    { 0 }
};
