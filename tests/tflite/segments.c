/* SPDX-License-Identifier: MIT */
/* Operators of floats or whole numbers without a quantized form: sums by segments, convolutions of volumes, powers of
 * neighbors, and boxes. Operands are small, so that sums and products are exact in any order. */
#include "case.h"

#include <float.h>
#include <math.h>

enum { SAME, VALID };

static int field(const Case *c, int i) { return (int)c->field[i]; }
static Operand *add_float(Case *c, double v)
{
    Operand *x = add_input(c, TYPE_F32, 0, NULL);
    x->v[0] = (double)(float)v;
    x->is_constant = true;
    return x;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

/* Adds an operand of numbers of either type. */
static Operand *any_rows(Case *c, Random *r)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim);
    Operand *x = add_input(c, chance(r, 50) ? TYPE_I32 : TYPE_F32, rank, dim);
    fill_any(r, x);
    return x;
}

/* The output: `count` rows of the dimensions behind those of the segments. */
static void add_rows(Case *c, const Operand *x, int lead, int count)
{
    int dim[MOST_DIMS] = { count };
    for (int d = lead; d < x->rank; d++) dim[1 + d - lead] = x->dim[d];
    add_like(c, x, 1 + x->rank - lead, dim);
}

/* Segments are constant, in ascending order and without gaps. */
static void make_segment_sum(Case *c, Random *r, int number)
{
    (void)number;
    int id[6] = { 0 };
    Operand *x = any_rows(c, r);
    for (int i = 1; i < x->dim[0]; i++) id[i] = id[i - 1] + between(r, 0, 1);
    add_ints(c, 1, x->dim[0], id);
    add_rows(c, x, 1, id[x->dim[0] - 1] + 1);
}

/* Segments in any order: some are empty, and rows of negative segments are dropped. */
static void make_unsorted(Case *c, Random *r, int number)
{
    Operand *x = any_rows(c, r);
    int lead = chance(r, 70) ? 1 : between(r, 1, x->rank), count = between(r, 1, 6);
    Operand *id = add_input(c, TYPE_I32, lead, x->dim);
    for (int i = 0; i < elements(id); i++) id->v[i] = between(r, number % 3 ? 0 : -2, count - 1);
    id->is_constant = number % 4 == 3;
    add_ints(c, 0, 1, &count);
    add_rows(c, x, lead, count);
}

/* Products remain below 2^31. */
static void make_unsorted_product(Case *c, Random *r, int number)
{
    make_unsorted(c, r, number);
    for (int i = 0; i < elements(&c->in[0]); i++)
        c->in[0].v[i] = i > 30 || chance(r, 60) ? 1 - 2 * between(r, 0, 1) : chance(r, 95) ? 2 : 0;
}

typedef double Combine(double a, double b);
static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }

static void combine(Case *c, Combine *with, double empty)
{
    const Operand *x = &c->in[0], *id = &c->in[1];
    Operand *y = &c->out[0];
    int size = elements(x) / elements(id);
    for (int i = 0; i < elements(y); i++) y->v[i] = empty;
    for (int i = 0; i < elements(x); i++) {
        int row = (int)id->v[i / size];
        if (row >= 0) y->v[row * size + i % size] = with(y->v[row * size + i % size], x->v[i]);
    }
}
static void segment_sum_reference(Case *c) { combine(c, add, 0); }
static void segment_product_reference(Case *c) { combine(c, multiply, 1); }
static void extreme(Case *c, Combine *with, double of_whole, double of_float)
{
    combine(c, with, c->in[0].type == TYPE_I32 ? of_whole : of_float);
}
static void segment_max_reference(Case *c) { extreme(c, fmax, INT32_MIN, (double)-FLT_MAX); }
static void segment_min_reference(Case *c) { extreme(c, fmin, INT32_MAX, (double)FLT_MAX); }

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

static int places(int size, int reach, int stride, int padding)
{
    return padding == SAME ? (size + stride - 1) / stride : (size + stride - reach) / stride;
}
/* Returns the elements before the first one of `size`; `out` windows of `reach` elements cover them. */
static int pad_before(int size, int out, int reach, int stride)
{
    int total = (out - 1) * stride + reach - size;
    return total > 0 ? total / 2 : 0;
}

enum { POOL_STRIDE_W = 1, POOL_STRIDE_H, POOL_WIDTH, POOL_HEIGHT, POOL_ACTIVATION };

static void make_l2_pool(Case *c, Random *r, int number)
{
    int in[4] = { between(r, 1, 2), between(r, 2, 8), between(r, 2, 8), between(r, 1, 5) }, size[2], stride[2],
        padding = between(r, SAME, VALID);
    for (int d = 0; d < 2; d++) {
        size[d] = between(r, 1, 4), stride[d] = between(r, 1, 3);
        if (size[d] > in[1 + d]) padding = SAME;
    }
    Operand *x = add_input(c, TYPE_F32, 4, in);
    fill_any(r, x);
    for (int d = 0; d < 2; d++) in[1 + d] = places(in[1 + d], size[d], stride[d], padding);
    add_like(c, x, 4, in);
    const double fields[] = { padding, stride[1], stride[0], size[1], size[0], number / 2 % 4 };
    for (int i = 0; i < 6; i++) c->field[i] = fields[i];
}

/* The root of the mean square, of the elements inside the input. */
static void l2_pool_reference(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    int size[2] = { field(c, POOL_HEIGHT), field(c, POOL_WIDTH) }, at[4] = { 0 }, i = 0,
        stride[2] = { field(c, POOL_STRIDE_H), field(c, POOL_STRIDE_W) };
    do {
        float sum = 0;
        int count = 0, tap[2] = { 0 };
        do {
            int from[4] = { at[0], 0, 0, at[3] };
            bool is_inside = true;
            for (int d = 1; d < 3; d++) {
                int before = pad_before(x->dim[d], y->dim[d], size[d - 1], stride[d - 1]);
                from[d] = at[d] * stride[d - 1] + tap[d - 1] - before;
                is_inside = is_inside && from[d] >= 0 && from[d] < x->dim[d];
            }
            if (!is_inside) continue;
            float v = (float)x->v[place_of(x, from)];
            sum += v * v;
            count++;
        } while (next_index(2, size, tap));
        y->v[i++] = (double)activate(sqrtf(sum / (float)count), field(c, POOL_ACTIVATION));
    } while (next_index(4, y->dim, at));
}

enum { RADIUS, BIAS, ALPHA, BETA };

static void make_response(Case *c, Random *r, int number)
{
    (void)number;
    int dim[4];
    for (int d = 0; d < 4; d++) dim[d] = between(r, 1, d < 3 ? 4 : 9);
    Operand *x = add_input(c, TYPE_F32, 4, dim);
    fill_real(r, x, -4, 4);
    add_like(c, x, 4, dim);
    const double beta[] = { 0.5, 0.75, 1, 1.3 };
    const double fields[] = { between(r, 1, 5), between(r, 1, 8) * 0.25, between(r, 0, 8) * 0.125,
                              beta[between(r, 0, 3)] };
    for (int i = 0; i < 4; i++) c->field[i] = (double)(float)fields[i];
}

/* The channels of the sum are those from c - radius to c + radius - 1. */
static void response_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int depth = x->dim[3], radius = field(c, RADIUS);
    for (int i = 0; i < elements(x); i++) {
        double sum = 0;
        for (int k = i % depth - radius; k < i % depth + radius; k++) {
            double v = k >= 0 && k < depth ? x->v[i - i % depth + k] : 0;
            sum += v * v;
        }
        c->out[0].v[i] = x->v[i] * pow(c->field[BIAS] + c->field[ALPHA] * sum, -c->field[BETA]);
    }
}

/* ---- Volumes ----------------------------------------------------------------------------------------------------- */

enum { STRIDE_D = 1, STRIDE_W, STRIDE_H, ACTIVATION, DILATION_D, DILATION_W, DILATION_H };
static const int stride_field[] = { STRIDE_D, STRIDE_H, STRIDE_W },
                 dilation_field[] = { DILATION_D, DILATION_H, DILATION_W };

static void set_volume(Case *c, int number, int padding, const int *stride, const int *dilation)
{
    c->field[0] = padding;
    c->field[ACTIVATION] = number / 2 % 4;
    for (int d = 0; d < 3; d++) c->field[stride_field[d]] = stride[d], c->field[dilation_field[d]] = dilation[d];
}

static void make_volume_bias(Case *c, Random *r, int number, int channels)
{
    if (number % 3 == 0) return;
    Operand *b = add_input(c, TYPE_F32, 1, &channels);
    b->is_constant = number % 3 == 1;
    fill_any(r, b);
}

static void make_conv_3d(Case *c, Random *r, int number)
{
    int in[5] = { between(r, 1, 2), 0, 0, 0, between(r, 1, 3) }, k[5] = { 0, 0, 0, in[4], between(r, 1, 4) },
        stride[3], dilation[3], padding = between(r, SAME, VALID), y[5] = { in[0], 0, 0, 0, k[4] };
    for (int d = 0; d < 3; d++) {
        in[1 + d] = between(r, 1, 6), k[d] = between(r, 1, 3), stride[d] = between(r, 1, 3);
        dilation[d] = number % 4 < 2 ? 1 : between(r, 1, 2);
        if ((k[d] - 1) * dilation[d] + 1 > in[1 + d]) padding = SAME;
    }
    for (int d = 0; d < 3; d++) y[1 + d] = places(in[1 + d], (k[d] - 1) * dilation[d] + 1, stride[d], padding);
    fill_any(r, add_input(c, TYPE_F32, 5, in));
    Operand *w = add_input(c, TYPE_F32, 5, k);
    fill_any(r, w);
    w->is_constant = number % 5 != 0;
    make_volume_bias(c, r, number, k[4]);
    add_output(c, TYPE_F32, 5, y);
    set_volume(c, number, padding, stride, dilation);
}

/* The kernel is [d][h][w][in][out]. Sums are rounded after each product. */
static void conv_3d_reference(Case *c)
{
    const Operand *x = &c->in[0], *k = &c->in[1];
    Operand *y = &c->out[0];
    int at[5] = { 0 }, i = 0;
    do {
        float sum = 0;
        int tap[4] = { 0 };
        do {
            int from[5] = { at[0], 0, 0, 0, tap[3] };
            bool is_inside = true;
            for (int d = 0; d < 3; d++) {
                int stride = field(c, stride_field[d]), dilation = field(c, dilation_field[d]),
                    before = pad_before(x->dim[1 + d], y->dim[1 + d], (k->dim[d] - 1) * dilation + 1, stride);
                from[1 + d] = at[1 + d] * stride + tap[d] * dilation - before;
                is_inside = is_inside && from[1 + d] >= 0 && from[1 + d] < x->dim[1 + d];
            }
            const int of[5] = { tap[0], tap[1], tap[2], tap[3], at[4] };
            if (is_inside) sum += (float)x->v[place_of(x, from)] * (float)k->v[place_of(k, of)];
        } while (next_index(4, k->dim, tap));
        if (c->in_count > 2) sum += (float)c->in[2].v[at[4]];
        y->v[i++] = (double)activate(sum, field(c, ACTIVATION));
    } while (next_index(5, y->dim, at));
}

/* The result has any size from which a convolution of the same windows leads to the input. */
static void make_conv_3d_transpose(Case *c, Random *r, int number)
{
    int in[5] = { between(r, 1, 2), 0, 0, 0, between(r, 1, 3) }, k[5] = { 0, 0, 0, between(r, 1, 3), in[4] },
        stride[3], padding = between(r, SAME, VALID), y[5] = { in[0], 0, 0, 0, k[3] };
    for (int d = 0; d < 3; d++) {
        in[1 + d] = between(r, 1, 4), k[d] = between(r, 1, 3), stride[d] = between(r, 1, 3);
        y[1 + d] = (in[1 + d] - 1) * stride[d] + (padding == SAME ? 1 : k[d]) + between(r, 0, stride[d] - 1);
    }
    add_ints(c, 1, 5, y);
    Operand *w = add_input(c, TYPE_F32, 5, k), *x = add_input(c, TYPE_F32, 5, in);
    fill_any(r, w);
    fill_any(r, x);
    w->is_constant = number % 5 != 0;
    make_volume_bias(c, r, number, k[3]);
    add_output(c, TYPE_F32, 5, y);
    set_volume(c, number, padding, stride, (const int[]){ 1, 1, 1 });
}

/* The kernel is [d][h][w][out][in]. Every element of the input is spread over a window of the output. */
static void conv_3d_transpose_reference(Case *c)
{
    const Operand *k = &c->in[1], *x = &c->in[2];
    Operand *y = &c->out[0];
    int channels = y->dim[4], at[5] = { 0 };
    for (int i = 0; i < elements(y); i++) y->v[i] = 0;
    do {
        int tap[4] = { 0 };
        do {
            int to[5] = { at[0], 0, 0, 0, tap[3] };
            bool is_inside = true;
            for (int d = 0; d < 3; d++) {
                int stride = field(c, stride_field[d]), size = y->dim[1 + d],
                    before = pad_before(size, places(size, k->dim[d], stride, field(c, 0)), k->dim[d], stride);
                to[1 + d] = at[1 + d] * stride + tap[d] - before;
                is_inside = is_inside && to[1 + d] >= 0 && to[1 + d] < size;
            }
            const int of[5] = { tap[0], tap[1], tap[2], tap[3], at[4] };
            if (is_inside) y->v[place_of(y, to)] += x->v[place_of(x, at)] * k->v[place_of(k, of)];
        } while (next_index(4, k->dim, tap));
    } while (next_index(5, x->dim, at));
    for (int i = 0; i < elements(y); i++) {
        double bias = c->in_count > 3 ? c->in[3].v[i % channels] : 0;
        y->v[i] = (double)activate((float)(y->v[i] + bias), field(c, ACTIVATION));
    }
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

/* Corners on a coarse grid, in any order, with frequent ties of an overlap with its threshold and boxes without area.
 * Scores differ, so that their order is given. */
static void make_boxes(Case *c, Random *r, int number)
{
    int n = between(r, 1, 14), most = between(r, 1, 14);
    const double overlap = chance(r, 70) ? between(r, 0, 4) * 0.25 : between(r, 1, 99) * 0.01,
                 least[] = { 0, 3, -8, 0.5 };
    Operand *boxes = add_input(c, TYPE_F32, 2, (const int[]){ n, 4 }), *scores = add_input(c, TYPE_F32, 1, &n);
    for (int i = 0; i < 4 * n; i++) boxes->v[i] = between(r, 0, 6) * 0.5;
    for (int i = 0; i < n; i++) {
        int other = between(r, 0, i);
        scores->v[i] = scores->v[other];
        scores->v[other] = i - 3;
    }
    add_ints(c, 0, 1, &most);
    add_float(c, overlap)->is_constant = number % 3 != 0;
    add_float(c, least[number / 2 % 4])->is_constant = number % 5 != 0;
    add_output(c, TYPE_I32, 1, &most);
}
static void make_boxes_v4(Case *c, Random *r, int number)
{
    make_boxes(c, r, number);
    add_output(c, TYPE_I32, 0, NULL);
}
static void make_boxes_v5(Case *c, Random *r, int number)
{
    make_boxes(c, r, number);
    add_float(c, 0);
    add_output(c, TYPE_F32, 1, c->out[0].dim);
    add_output(c, TYPE_I32, 0, NULL);
}

/* Returns the shared area over that of both boxes; 0 if one has no area. */
static float overlap_of(const double *a, const double *b)
{
    float area_a = 1, area_b = 1, shared = 1;
    for (int d = 0; d < 2; d++) {
        float a_least = (float)fmin(a[d], a[d + 2]), a_most = (float)fmax(a[d], a[d + 2]),
              b_least = (float)fmin(b[d], b[d + 2]), b_most = (float)fmax(b[d], b[d + 2]);
        area_a *= a_most - a_least;
        area_b *= b_most - b_least;
        shared *= fmaxf(fminf(a_most, b_most) - fmaxf(a_least, b_least), 0);
    }
    return area_a <= 0 || area_b <= 0 ? 0 : shared / (area_a + area_b - shared);
}

static void make_boxes_soft(Case *c, Random *r, int number)
{
    make_boxes(c, r, number);
    add_float(c, between(r, 1, 8) * 0.25);
    add_output(c, TYPE_F32, 1, c->out[0].dim);
    add_output(c, TYPE_I32, 0, NULL);
}

/* Takes the best of the remaining boxes; results that are not used are 0. Every box is compared with each selected one,
 * itself included: one without area is selected again. */
static void boxes_reference(Case *c)
{
    const Operand *boxes = &c->in[0], *scores = &c->in[1];
    Operand *index = &c->out[0], *score = c->out_count > 2 ? &c->out[1] : NULL;
    const double sigma = c->in_count > 5 ? c->in[5].v[0] : 0;
    const float scale = sigma > 0 ? (float)(-0.5 / sigma) : 0, least = (float)c->in[4].v[0];
    const int n = scores->dim[0];
    float left[MOST_VALUES / 64];
    int candidates = 0, found = 0;
    for (int i = 0; i < n; i++) {
        left[i] = (float)scores->v[i];
        candidates += left[i] > least;
    }
    for (int t = 0; t < index->dim[0]; t++) {
        int best = 0;
        index->v[t] = 0;
        if (score) score->v[t] = 0;
        for (int i = 1; i < n; i++)
            if (left[i] > left[best]) best = i;
        if (!(left[best] > least) || t >= candidates) continue;
        index->v[t] = best;
        if (score) score->v[t] = (double)left[best];
        found++;
        for (int i = 0; i < n; i++) {
            const float iou = overlap_of(boxes->v + 4 * best, boxes->v + 4 * i);
            if (!(left[i] > least)) continue;
            left[i] = (double)iou >= c->in[3].v[0] ? -INFINITY : left[i] * expf(scale * iou * iou);
        }
    }
    c->out[c->out_count - 1].v[0] = found;
}

const Operator segment_operators[] = {
    { "segment_sum", 125, 1, 100, "", make_segment_sum, segment_sum_reference, 0 },
    { "unsorted_segment_sum", 155, 1, 0, "", make_unsorted, segment_sum_reference, 0 },
    { "unsorted_segment_prod", 153, 1, 0, "", make_unsorted_product, segment_product_reference, 0 },
    { "unsorted_segment_max", 154, 1, 0, "", make_unsorted, segment_max_reference, 0 },
    { "unsorted_segment_min", 157, 1, 0, "", make_unsorted, segment_min_reference, 0 },
    { "conv_3d", 132, 1, 106, "biiibddd", make_conv_3d, conv_3d_reference, 0 },
    { "conv_3d_transpose", 141, 1, 106, "biiibddd", make_conv_3d_transpose, conv_3d_transpose_reference, 0 },
    { "l2_pool_2d", 12, 1, 5, "biiiib", make_l2_pool, l2_pool_reference, 0 },
    { "local_response_normalization", 13, 1, 13, "ifff", make_response, response_reference, 4 },
    { "non_max_suppression_v4", 120, 1, 95, "", make_boxes_v4, boxes_reference, 0 },
    { "non_max_suppression_v5", 121, 1, 96, "", make_boxes_v5, boxes_reference, 0 },
    { "non_max_suppression_soft", 121, 1, 96, "", make_boxes_soft, boxes_reference, 8 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
