/* SPDX-License-Identifier: MIT */
/* Sums of products: convolutions, dense layers, products of matrices; and pools. One number after the other, with every
 * index written out. Floats are halves of small integers, so that their sums are exact in any order. */
#include "case.h"

enum { SAME, VALID };
enum { CONV_PADDING, CONV_STRIDE_W, CONV_STRIDE_H, CONV_ACTIVATION, CONV_DILATION_W, CONV_DILATION_H };
enum { DEEP_MULTIPLIER = 3, DEEP_ACTIVATION, DEEP_DILATION_W, DEEP_DILATION_H };
enum { POOL_WIDTH = 3, POOL_HEIGHT, POOL_ACTIVATION };

static int field(const Case *c, int i) { return (int)c->field[i]; }
static int larger(int a, int b) { return a > b ? a : b; }

/* ---- Windows: along one dimension -------------------------------------------------------------------------------- */

static int places(int size, int kernel, int stride, int dilation, int padding)
{
    int reach = (kernel - 1) * dilation + 1;
    return padding == SAME ? (size + stride - 1) / stride : (size + stride - reach) / stride;
}
static int padding_before(int size, int out, int kernel, int stride, int dilation)
{
    return larger(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size) / 2;
}

/* ---- From sums to outputs ---------------------------------------------------------------------------------------- */

static double finish(const Case *c, const Operand *x, const Operand *k, const Operand *b, int channel, int activation,
                     bool in_floats, double sum)
{
    const Operand *y = &c->out[0];
    int least, greatest;
    if (b && !b->is_absent) sum += b->v[channel];
    if (y->type == TYPE_F32) return (double)activate((float)sum, activation);
    float scale = k->scale[k->scales > 1 ? channel : 0];
    double product = in_floats && k->scales == 1 ? (double)(x->scale[0] * scale) : (double)x->scale[0] * (double)scale;
    activation_range(y, activation, &least, &greatest);
    Scaling s = reference_scaling(product / (double)y->scale[0]);
    bool is_wide = y->type == TYPE_I16 && (!b || b->is_absent || b->type == TYPE_I64);
    int64_t v = (is_wide ? scaled_wide((int64_t)sum, s) : (int64_t)scaled((int32_t)sum, s)) + y->zero;
    v = v < least ? least : v;
    return (double)(v > greatest ? greatest : v);
}

/* Scales, weights and a bias; the output's scale is such that few results are cut off, and sometimes so fine that
 * factors are more than 1. */
static void make_weights(Case *c, Random *r, Operand *x, Operand *k, int channels, bool per_channel)
{
    fill_any(r, x);
    fill_any(r, k);
    k->is_constant = true;
    if (x->type != TYPE_I8) return;
    quant_any(r, x);
    (void)c;
    k->scales = per_channel ? channels : 1;
    for (int i = 0; i < k->scales; i++) k->scale[i] = scale_between(r, 0.001, 0.05);
    for (int i = 0; i < elements(k); i++) k->v[i] = k->v[i] < -127 ? -127 : k->v[i];
}

static void make_bias(Case *c, Random *r, const Operand *x, const Operand *k, int channels, bool is_there)
{
    Operand *b = add_input(c, x->type == TYPE_I8 ? TYPE_I32 : TYPE_F32, 1, &channels);
    b->is_absent = !is_there;
    b->is_constant = true;
    fill_any(r, b);
    if (x->type != TYPE_I8) return;
    for (int i = 0; i < channels; i++) b->v[i] = between(r, -3000, 3000);
    b->scales = k->scales;
    for (int i = 0; i < k->scales; i++) b->scale[i] = x->scale[0] * k->scale[i];
}

static void make_result(Case *c, Random *r, const Operand *x, const Operand *k, int rank, const int *dim)
{
    float most = 0;
    Operand *y = add_output(c, x->type, rank, dim);
    for (int i = 0; i < k->scales; i++) most = k->scale[i] > most ? k->scale[i] : most;
    if (x->type == TYPE_I8)
        quant_set(y, x->scale[0] * most * (chance(r, 10) ? scale_between(r, 0.01, 4) : scale_between(r, 4, 100)),
                  between(r, -128, 127));
}

static ElementType type_of(int number) { return number % 5 == 4 ? TYPE_F32 : TYPE_I8; }

/* ---- Convolutions ------------------------------------------------------------------------------------------------ */

static double tap(const Operand *x, int n, int h, int w, int ch)
{
    if (h < 0 || w < 0 || h >= x->dim[1] || w >= x->dim[2]) return 0;
    return x->v[place_of(x, (const int[]){ n, h, w, ch })] - x->zero;
}

static void make_conv(Case *c, Random *r, int number)
{
    int stride[2], dilation[2] = { 1, 1 }, kernel[2],
                   in[4] = { between(r, 1, 2), between(r, 2, 7), between(r, 2, 7), between(r, 1, 6) },
                   out = between(r, 1, 6), padding = number % 2;
    for (int d = 0; d < 2; d++) {
        kernel[d] = between(r, 1, 3);
        stride[d] = between(r, 1, 3);
        if (number % 7 == 0) stride[d] = 1, dilation[d] = between(r, 1, 2);
        if ((kernel[d] - 1) * dilation[d] + 1 > in[1 + d]) padding = SAME;
    }
    int y[4] = {
        in[0], places(in[1], kernel[0], stride[0], dilation[0], padding), places(in[2], kernel[1], stride[1],
        dilation[1], padding), out
    };
    Operand *x = add_input(c, type_of(number), 4, in),
            *k = add_input(c, x->type, 4, (const int[]){ out, kernel[0], kernel[1], in[3] });
    make_weights(c, r, x, k, out, number % 4 != 0);
    make_bias(c, r, x, k, out, number % 6 != 0);
    make_result(c, r, x, k, 4, y);
    const double fields[] = { padding, stride[1], stride[0], number / 2 % 4, dilation[1], dilation[0] };
    for (int i = 0; i < 6; i++) c->field[i] = fields[i];
}

static void conv_reference(Case *c)
{
    const Operand *x = &c->in[0], *k = &c->in[1];
    Operand *y = &c->out[0];
    int at[4] = { 0 }, i = 0, dh = field(c, CONV_DILATION_H), dw = field(c, CONV_DILATION_W),
        sh = field(c, CONV_STRIDE_H), sw = field(c, CONV_STRIDE_W);
    int top = padding_before(x->dim[1], y->dim[1], k->dim[1], sh, dh),
        left = padding_before(x->dim[2], y->dim[2], k->dim[2], sw, dw);
    int groups = x->dim[3] / k->dim[3], channels = y->dim[3] / groups;
    do {
        double sum = 0;
        int tap_at[3] = { 0 };
        do {
            int first = at[3] / channels * k->dim[3];
            sum += tap(x, at[0], at[1] * sh + tap_at[0] * dh - top, at[2] * sw + tap_at[1] * dw - left,
                       first + tap_at[2])
                   * k->v[place_of(k, (const int[]){ at[3], tap_at[0], tap_at[1], tap_at[2] })];
        } while (next_index(3, k->dim + 1, tap_at));
        y->v[i++] = finish(c, x, k, &c->in[2], at[3], field(c, CONV_ACTIVATION), false, sum);
    } while (next_index(4, y->dim, at));
}

static void make_depthwise(Case *c, Random *r, int number)
{
    int in[4] = { 1, between(r, 2, 7), between(r, 2, 7), between(r, 1, 5) }, m = between(r, 1, 2), out = in[3] * m,
        kernel[2] = { between(r, 1, 3), between(r, 1, 3) };
    int stride = between(r, 1, 2), dilation = number % 4 == 3 ? 2 : 1, padding = number % 2;
    if (dilation > 1) stride = 1;
    if ((kernel[0] - 1) * dilation + 1 > in[1] || (kernel[1] - 1) * dilation + 1 > in[2]) padding = SAME;
    int y[4] = {
        1, places(in[1], kernel[0], stride, dilation, padding), places(in[2], kernel[1], stride, dilation, padding),
        out
    };
    Operand *x = add_input(c, type_of(number), 4, in),
            *k = add_input(c, x->type, 4, (const int[]){ 1, kernel[0], kernel[1], out });
    make_weights(c, r, x, k, out, true);
    k->axis = 3;
    make_bias(c, r, x, k, out, number % 6 != 0);
    make_result(c, r, x, k, 4, y);
    const double fields[] = { padding, stride, stride, m, number / 2 % 4, dilation, dilation };
    for (int i = 0; i < 7; i++) c->field[i] = fields[i];
}

static void depthwise_reference(Case *c)
{
    const Operand *x = &c->in[0], *k = &c->in[1];
    Operand *y = &c->out[0];
    int at[4] = { 0 }, i = 0, dh = field(c, DEEP_DILATION_H), dw = field(c, DEEP_DILATION_W),
        sh = field(c, CONV_STRIDE_H), sw = field(c, CONV_STRIDE_W), m = y->dim[3] / x->dim[3];
    int top = padding_before(x->dim[1], y->dim[1], k->dim[1], sh, dh),
        left = padding_before(x->dim[2], y->dim[2], k->dim[2], sw, dw);
    do {
        double sum = 0;
        int tap_at[2] = { 0 };
        do
            sum += tap(x, at[0], at[1] * sh + tap_at[0] * dh - top, at[2] * sw + tap_at[1] * dw - left, at[3] / m)
                   * k->v[place_of(k, (const int[]){ 0, tap_at[0], tap_at[1], at[3] })];
        while (next_index(2, k->dim + 1, tap_at));
        y->v[i++] = finish(c, x, k, &c->in[2], at[3], field(c, DEEP_ACTIVATION), false, sum);
    } while (next_index(4, y->dim, at));
}

/* Inputs: the result's shape, weights [o][kh][kw][c], x, and perhaps a bias. */
static void make_transposed(Case *c, Random *r, int number)
{
    int in[4] = { 1, between(r, 1, 4), between(r, 1, 4), between(r, 1, 4) }, out = between(r, 1, 4),
        stride = between(r, 1, 2), kernel[2] = { between(r, 1, 3), between(r, 1, 3) }, padding = number % 2;
    int y[4] = { 1, in[1] * stride, in[2] * stride, out };
    for (int d = 0; d < 2 && padding == VALID; d++) {
        kernel[d] = larger(kernel[d], stride);
        y[1 + d] = (in[1 + d] - 1) * stride + kernel[d];
    }
    add_ints(c, 1, 4, y);
    Operand *k = add_input(c, type_of(number), 4, (const int[]){ out, kernel[0], kernel[1], in[3] }),
            *x = add_input(c, k->type, 4, in);
    make_weights(c, r, x, k, out, number % 4 != 0);
    if (number % 3) make_bias(c, r, x, k, out, true);
    make_result(c, r, x, k, 4, y);
    c->field[0] = padding;
    c->field[1] = c->field[2] = stride;
    c->field[3] = number / 2 % 4;
}

/* Every input is spread over the outputs that its window covers. */
static void transposed_reference(Case *c)
{
    const Operand *x = &c->in[2], *k = &c->in[1];
    Operand *y = &c->out[0];
    int stride[2] = { field(c, 2), field(c, 1) }, before[2], at[4] = { 0 };
    for (int d = 0; d < 2; d++)
        before[d] = padding_before(y->dim[1 + d], places(y->dim[1 + d], k->dim[1 + d], stride[d], 1, field(c, 0)),
                                   k->dim[1 + d], stride[d], 1);
    for (int i = 0; i < elements(y); i++) y->v[i] = 0;
    do {
        int tap_at[4] = { 0 };
        do {
            int h = at[1] * stride[0] - before[0] + tap_at[1], w = at[2] * stride[1] - before[1] + tap_at[2];
            if (tap_at[3] != at[3] || h < 0 || w < 0 || h >= y->dim[1] || w >= y->dim[2]) continue;
            y->v[place_of(y, (const int[]){ at[0], h, w, tap_at[0] })] += tap(x, at[0], at[1], at[2], at[3])
                                                                          * k->v[place_of(k, tap_at)];
        } while (next_index(4, k->dim, tap_at));
    } while (next_index(4, x->dim, at));
    for (int i = 0; i < elements(y); i++)
        y->v[i] = finish(c, x, k, c->in_count > 3 ? &c->in[3] : NULL, i % y->dim[3], field(c, 3), false, y->v[i]);
}

/* ---- Dense layers ------------------------------------------------------------------------------------------------ */

static void make_dense(Case *c, Random *r, int number)
{
    int k = between(r, 1, 24), out = between(r, 1, 10), in[3] = { between(r, 1, 2), between(r, 1, 3), k },
        keeps = number % 8 == 5;
    Operand *x = add_input(c, type_of(number), keeps ? 3 : 2, keeps ? in : in + 1),
            *w = add_input(c, x->type, 2, (const int[]){ out, k });
    make_weights(c, r, x, w, out, number % 4 == 3);
    if (w->scales == 1 && number % 6 == 2) w->zero = between(r, -20, 20);
    make_bias(c, r, x, w, out, number % 3 != 0);
    int y[3] = { in[0], in[1], out };
    make_result(c, r, x, w, keeps ? 3 : 2, keeps ? y : y + 1);
    c->field[0] = number / 2 % 4;
    c->field[2] = keeps;
}

static void dense_reference(Case *c)
{
    const Operand *x = &c->in[0], *w = &c->in[1];
    Operand *y = &c->out[0];
    int k = w->dim[1], out = w->dim[0];
    for (int i = 0; i < elements(y); i++) {
        double sum = 0;
        for (int j = 0; j < k; j++) sum += (x->v[i / out * k + j] - x->zero) * (w->v[i % out * k + j] - w->zero);
        y->v[i] = finish(c, x, w, c->in_count > 2 ? &c->in[2] : NULL, i % out, field(c, 0), true, sum);
    }
}

static void make_matmul(Case *c, Random *r, int number)
{
    int lead = between(r, 1, 2), m = between(r, 1, 6), k = between(r, 1, 6), n = between(r, 1, 6), adj_x = number % 2,
        adj_y = number / 2 % 2, a[4], b[4], y[4];
    for (int d = 0; d < lead; d++) a[d] = b[d] = y[d] = between(r, 1, 3);
    if (number % 3 == 1) b[0] = 1;
    a[lead + adj_x] = y[lead] = m;
    a[lead + !adj_x] = b[lead + adj_y] = k;
    b[lead + !adj_y] = y[lead + 1] = n;
    Operand *x = add_input(c, type_of(number), lead + 2, a), *w = add_input(c, x->type, lead + 2, b);
    fill_any(r, x);
    fill_any(r, w);
    if (x->type == TYPE_I8) quant_any(r, x), quant_any(r, w);
    make_result(c, r, x, w, lead + 2, y);
    c->field[0] = adj_x;
    c->field[1] = adj_y;
}

static void matmul_reference(Case *c)
{
    const Operand *x = &c->in[0], *w = &c->in[1];
    Operand *y = &c->out[0];
    int rank = y->rank, adj_x = field(c, 0), adj_y = field(c, 1), at[MOST_DIMS] = { 0 }, i = 0;
    int k = x->dim[rank - (adj_x ? 2 : 1)];
    do {
        int a[MOST_DIMS], b[MOST_DIMS];
        double sum = 0;
        for (int d = 0; d < rank - 2; d++) a[d] = b[d] = at[d];
        a[rank - 2 + adj_x] = at[rank - 2];
        b[rank - 1 - adj_y] = at[rank - 1];
        for (int j = 0; j < k; j++) {
            a[rank - 1 - adj_x] = b[rank - 2 + adj_y] = j;
            sum += (x->v[broadcast_place(x, rank, a)] - x->zero) * (w->v[broadcast_place(w, rank, b)] - w->zero);
        }
        y->v[i++] = finish(c, x, w, NULL, 0, 0, true, sum);
    } while (next_index(rank, y->dim, at));
}

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

static void make_pool(Case *c, Random *r, int number)
{
    int in[4] = { between(r, 1, 2), between(r, 2, 8), between(r, 2, 8), between(r, 1, 5) },
        window[2] = { between(r, 1, 4), between(r, 1, 4) }, stride[2] = { between(r, 1, 3), between(r, 1, 3) };
    int padding = window[0] > in[1] || window[1] > in[2] ? SAME : number % 2;
    Operand *x = add_input(c, type_of(number), 4, in);
    fill_any(r, x);
    if (x->type == TYPE_I8) quant_any(r, x);
    add_like(c, x, 4,
             (const int[]){ in[0], places(in[1], window[0], stride[0], 1, padding),
                            places(in[2], window[1], stride[1], 1, padding), in[3] });
    const double fields[] = { padding, stride[1], stride[0], window[1], window[0], number / 2 % 4 };
    for (int i = 0; i < 6; i++) c->field[i] = fields[i];
}

static double pooled(const Case *c, double sum, double most, int count, bool is_average)
{
    const Operand *y = &c->out[0];
    int least, greatest;
    if (y->type == TYPE_F32)
        return (double)activate(is_average ? (float)sum / (float)count : (float)most, field(c, POOL_ACTIVATION));
    int64_t s = (int64_t)sum, v = is_average ? (s > 0 ? s + count / 2 : s - count / 2) / count : (int64_t)most;
    activation_range(y, field(c, POOL_ACTIVATION), &least, &greatest);
    v = v < least ? least : v;
    return (double)(v > greatest ? greatest : v);
}

static void pool_reference(Case *c, bool is_average)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    int window[2] = { field(c, POOL_HEIGHT), field(c, POOL_WIDTH) },
        stride[2] = { field(c, CONV_STRIDE_H), field(c, CONV_STRIDE_W) }, at[4] = { 0 }, i = 0;
    do {
        double sum = 0, most = -1e30;
        int count = 0, first[2], tap_at[2] = { 0 };
        for (int d = 0; d < 2; d++)
            first[d] = at[1 + d] * stride[d] - padding_before(x->dim[1 + d], y->dim[1 + d], window[d], stride[d], 1);
        do {
            int h = first[0] + tap_at[0], w = first[1] + tap_at[1];
            if (h < 0 || w < 0 || h >= x->dim[1] || w >= x->dim[2]) continue;
            double v = x->v[place_of(x, (const int[]){ at[0], h, w, at[3] })];
            sum += v;
            most = v > most ? v : most;
            count++;
        } while (next_index(2, window, tap_at));
        y->v[i++] = pooled(c, sum, most, count, is_average);
    } while (next_index(4, y->dim, at));
}
static void average_reference(Case *c) { pool_reference(c, true); }
static void max_reference(Case *c) { pool_reference(c, false); }

/* ---- 16 bits ----------------------------------------------------------------------------------------------------- */

/* Weights have 8 bits, the bias 64 or 32; 32-bit sums are kept inside them by fewer products. */
static void make_bias16(Case *c, Random *r, int number)
{
    make_sixteen(c, r);
    Operand *b = c->in_count > 2 ? &c->in[2] : NULL;
    if (!b || b->is_absent || number % 4 == 3) return;
    b->type = TYPE_I64;
    for (int i = 0; i < elements(b); i++) b->v[i] = between(r, -3000000, 3000000);
}
static int integers_only(int number) { return number / 4 * 5 + number % 4; }

static void make_conv16(Case *c, Random *r, int number)
{
    make_conv(c, r, integers_only(number));
    make_bias16(c, r, number);
}
static void make_depthwise16(Case *c, Random *r, int number)
{
    make_depthwise(c, r, integers_only(number));
    make_bias16(c, r, number);
}
static void make_dense16(Case *c, Random *r, int number)
{
    make_dense(c, r, integers_only(number));
    c->in[1].zero = 0;
    make_bias16(c, r, number);
}
static void make_pool16(Case *c, Random *r, int number)
{
    make_pool(c, r, integers_only(number));
    make_sixteen(c, r);
}

const Operator window_operators[] = {
    { "conv_2d", 3, 3, 1, "biibdd", make_conv, conv_reference, 0 },
    { "depthwise_conv_2d", 4, 3, 2, "biiibdd", make_depthwise, depthwise_reference, 0 },
    { "transpose_conv", 67, 3, 49, "biib", make_transposed, transposed_reference, 0 },
    { "fully_connected", 9, 4, 8, "bbbb", make_dense, dense_reference, 0 },
    { "batch_matmul", 126, 4, 101, "bbb", make_matmul, matmul_reference, 0 },
    { "average_pool_2d", 1, 2, 5, "biiiib", make_pool, average_reference, 0 },
    { "conv_2d_int16", 3, 3, 1, "biibdd", make_conv16, conv_reference, 0 },
    { "depthwise_conv_2d_int16", 4, 3, 2, "biiibdd", make_depthwise16, depthwise_reference, 0 },
    { "fully_connected_int16", 9, 4, 8, "bbbb", make_dense16, dense_reference, 0 },
    { "average_pool_2d_int16", 1, 2, 5, "biiiib", make_pool16, average_reference, 0 },
    { "max_pool_2d_int16", 17, 2, 5, "biiiib", make_pool16, max_reference, 0 },
    { "max_pool_2d", 17, 2, 5, "biiiib", make_pool, max_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
