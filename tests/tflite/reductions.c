/* SPDX-License-Identifier: MIT */
/* One number from many: sums, means, extremes and their indices. The reduced dimensions are marked, and every element
 * of the input is added to the output that its other indices name. */
#include "case.h"

#include <math.h>

static void make_reduction(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), axes[MOST_DIMS], count = 0, y[MOST_DIMS], y_rank = 0,
                        keeps = number % 3 != 0;
    bool goes[MOST_DIMS];
    for (int d = 0; d < rank; d++) {
        goes[d] = chance(r, 50) || (d == rank - 1 && !count);
        if (goes[d]) axes[count++] = chance(r, 30) ? d - rank : d;
        if (!goes[d] || keeps) y[y_rank++] = goes[d] ? 1 : dim[d];
    }
    Operand *x = add_input(c, number % 5 == 4 ? TYPE_F32 : TYPE_I8, rank, dim);
    fill_any(r, x);
    add_ints(c, 1, count, axes);
    Operand *out = add_output(c, x->type, y_rank, y);
    if (x->type == TYPE_I8) quant_any(r, x), quant_any(r, out);
    c->field[0] = keeps;
}

static void make_extreme(Case *c, Random *r, int number)
{
    make_reduction(c, r, number);
    copy_quant(&c->out[0], &c->in[0]);
}

/* Where in the output the element at `index` belongs. */
static int reduced_place(const Case *c, const int *index)
{
    const Operand *x = &c->in[0], *axes = &c->in[1];
    int at = 0;
    for (int d = 0; d < x->rank; d++) {
        bool goes = false;
        for (int i = 0; i < elements(axes); i++) goes = goes || axes->v[i] == d || axes->v[i] == d - x->rank;
        if (!goes) at = at * x->dim[d] + index[d];
    }
    return at;
}

static void sum_up(Case *c)
{
    int index[MOST_DIMS] = { 0 }, i = 0;
    for (int k = 0; k < elements(&c->out[0]); k++) c->out[0].v[k] = 0;
    do c->out[0].v[reduced_place(c, index)] += c->in[0].v[i++];
    while (next_index(c->in[0].rank, c->in[0].dim, index));
}

/* The multiplier includes the division by their number. */
static Scaling divided(Scaling s, int64_t count)
{
    int more = 31 - leading_zeros((uint32_t)count);
    if (more > 31 + s.exponent) more = 31 + s.exponent;
    return (Scaling){ (int32_t)((int64_t)s.multiplier * ((int64_t)1 << more) / count), s.exponent - more };
}

static void sum_or_mean(Case *c, bool is_mean)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    int64_t count = elements(x) / elements(y);
    sum_up(c);
    for (int i = 0; i < elements(y); i++) {
        if (y->type == TYPE_F32) {
            if (is_mean) y->v[i] = (double)((float)y->v[i] / (float)count);
            continue;
        }
        Scaling s = reference_scaling((double)x->scale[0] / (double)y->scale[0]);
        if (is_mean) s = divided(s, count);
        y->v[i] = stored_as(y, (int64_t)scaled((int32_t)((int64_t)y->v[i] - x->zero * count), s) + y->zero);
    }
}
static void sum_reference(Case *c) { sum_or_mean(c, false); }
static void mean_reference(Case *c) { sum_or_mean(c, true); }

static void extreme(Case *c, int sign)
{
    int index[MOST_DIMS] = { 0 }, i = 0;
    for (int k = 0; k < elements(&c->out[0]); k++) c->out[0].v[k] = -sign * 1e30;
    do {
        double *best = &c->out[0].v[reduced_place(c, index)];
        if (sign * (c->in[0].v[i] - *best) > 0) *best = c->in[0].v[i];
        i++;
    } while (next_index(c->in[0].rank, c->in[0].dim, index));
}
static void max_reference(Case *c) { extreme(c, 1); }
static void min_reference(Case *c) { extreme(c, -1); }

static void make_arg(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim), axis = between(r, 0, rank - 1), y[MOST_DIMS], y_rank = 0;
    for (int d = 0; d < rank; d++)
        if (d != axis) y[y_rank++] = dim[d];
    if (number % 2) axis -= rank;
    Operand *x = add_input(c, number % 5 == 4 ? TYPE_F32 : TYPE_I8, rank, dim);
    fill_any(r, x);
    if (x->type == TYPE_I8) quant_any(r, x);
    add_ints(c, 0, 1, &axis)->rank = 0;
    add_output(c, TYPE_I32, y_rank, y);
    c->field[0] = TYPE_I32;
}

/* The first of the best. */
static void arg_reference(Case *c, int sign)
{
    const Operand *x = &c->in[0];
    int index[MOST_DIMS] = { 0 }, axis = (int)c->in[1].v[0] + (c->in[1].v[0] < 0 ? x->rank : 0);
    do {
        int best[MOST_DIMS];
        for (int d = 0; d < x->rank; d++) best[d] = index[d];
        for (int i = 0; i < x->dim[axis]; i++) {
            int other[MOST_DIMS];
            for (int d = 0; d < x->rank; d++) other[d] = d == axis ? i : index[d];
            double better = sign * (x->v[place_of(x, other)] - x->v[place_of(x, best)]);
            if (better > 0 || (better == 0 && i < best[axis])) best[axis] = i;
        }
        c->out[0].v[reduced_place(c, index)] = best[axis];
    } while (next_index(x->rank, x->dim, index));
}
static void arg_max_reference(Case *c) { arg_reference(c, 1); }
static void arg_min_reference(Case *c) { arg_reference(c, -1); }

/* Powers of two, so that products are exact. */
static void make_product(Case *c, Random *r, int number)
{
    make_reduction(c, r, number);
    Operand *x = &c->in[0], *y = &c->out[0];
    x->type = y->type = number % 3 == 0 ? TYPE_I32 : TYPE_F32;
    x->scales = y->scales = 0;
    for (int i = 0; i < elements(x); i++) x->v[i] = between(r, 0, 1) ? 1 : chance(r, 95) ? -1 : 2;
}

static void product_reference(Case *c)
{
    int index[MOST_DIMS] = { 0 }, i = 0;
    for (int k = 0; k < elements(&c->out[0]); k++) c->out[0].v[k] = 1;
    do c->out[0].v[reduced_place(c, index)] *= c->in[0].v[i++];
    while (next_index(c->in[0].rank, c->in[0].dim, index));
}

/* Scales at which the partial products keep bits, or any. */
static void make_product8(Case *c, Random *r, int number)
{
    make_reduction(c, r, number % 5 == 4 ? number + 1 : number);
    Operand *x = &c->in[0], *y = &c->out[0];
    if (number % 4 == 0) return;
    quant_set(x, scale_between(r, 0.005, 0.05), x->zero);
    quant_set(y, scale_between(r, 0.005, 0.05), y->zero);
}

static void make_product16(Case *c, Random *r, int number)
{
    make_product8(c, r, number);
    make_sixteen(c, r);
    if (number % 4 == 0) return;
    quant_set(&c->in[0], scale_between(r, 2e-5, 2e-4), 0);
    quant_set(&c->out[0], scale_between(r, 2e-5, 2e-4), 0);
}

/* Each product, and the last one once more, is scaled by the input's scale and a root of the output's, and wraps. */
static void scaled_product(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    const int count = elements(x) / elements(y);
    const Scaling s = reference_scaling((double)x->scale[0] / pow((double)y->scale[0], 1.0 / count));
    int index[MOST_DIMS] = { 0 }, i = 0;
    for (int k = 0; k < elements(y); k++) y->v[k] = NAN;
    do {
        double *so_far = &y->v[reduced_place(c, index)];
        const int64_t d = (int64_t)x->v[i++] - x->zero;
        *so_far = isnan(*so_far) ? (double)d : (double)wrap(scaled_wide((int64_t)*so_far * d, s));
    } while (next_index(x->rank, x->dim, index));
    for (int k = 0; k < elements(y); k++)
        y->v[k] = stored_as(y, (int64_t)wrap(scaled_wide((int64_t)y->v[k], s)) + y->zero);
}

static void make_mean16(Case *c, Random *r, int number)
{
    make_reduction(c, r, number % 5 == 4 ? number + 1 : number);
    make_sixteen(c, r);
}

static void make_truth(Case *c, Random *r, int number)
{
    make_reduction(c, r, number);
    c->in[0].type = c->out[0].type = TYPE_BOOL;
    c->in[0].scales = c->out[0].scales = 0;
    for (int i = 0; i < elements(&c->in[0]); i++) c->in[0].v[i] = chance(r, number % 2 ? 90 : 10);
}

const Operator reduction_operators[] = {
    { "mean", 40, 2, 27, "b", make_reduction, mean_reference, 0 },
    { "sum", 74, 2, 27, "b", make_reduction, sum_reference, 0 },
    { "reduce_max", 82, 2, 27, "b", make_extreme, max_reference, 0 },
    { "reduce_min", 89, 2, 27, "b", make_extreme, min_reference, 0 },
    { "mean_int16", 40, 2, 27, "b", make_mean16, mean_reference, 0 },
    { "reduce_prod", 81, 1, 27, "b", make_product, product_reference, 0 },
    { "reduce_prod_int8", 81, 2, 27, "b", make_product8, scaled_product, 0 },
    { "reduce_prod_int16", 81, 2, 27, "b", make_product16, scaled_product, 0 },
    { "reduce_any", 91, 1, 27, "b", make_truth, max_reference, 0 },
    { "reduce_all", 140, 1, 27, "b", make_truth, min_reference, 0 },
    { "arg_max", 56, 2, 40, "b", make_arg, arg_max_reference, 0 },
    { "arg_min", 79, 2, 57, "b", make_arg, arg_min_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
