/* SPDX-License-Identifier: MIT */
/* Chooses scales for which no sum of a layer is near a tie. A stored output is A / N, rounded. A is an integer sum of
 * products. N is the ratio of the output's step to the product of the scales of input and weights, and can be nearly
 * any number. So some A / N are so close to k + 1/2 that the rounding errors of 32-bit floats decide them. A runtime
 * that computes the written file in floats then gets the neighbour. With N = p / 2^j, and p odd,
 *
 *     A / N = k + 1/2    <=>    2^(j+1) A = p (2k + 1),    an even number and an odd one
 *
 * so there is no tie, and A / N is at least 1 / (2p) from k + 1/2. p has 12 bits: the scale of weights changes by at
 * most 2^-10, and 1 / (2p) is several times what floats lose on sums of common size. The same bound holds for three
 * more sums: a bias in the unit of the sums, or in that unit divided by a power of two up to 2^j; a mean of n elements,
 * where N is n times the ratio of both steps; and products of two tensors.
 *
 * A sum or difference of two tensors has ties in any case, and floats decide them like integers if nothing is rounded
 * before the quotient: the steps around it have SHORT_BITS significant bits. */
#include <math.h>

#include "quantizer/layers.h"

enum { RATIO_BITS = 12 };

static bool is_asked_for_floats(const Edges *e, const Tensor *t)
{
    const Request *r = request_of(&e->requests, t);
    return r && r->bits == FLOAT_BITS;
}

/* Returns the constant by which the call multiplies all elements, or 0 for any other call. */
static double factor_of(const Node *n)
{
    if (n->op->fold.affine != AFFINE_SCALE || n->in_count != 2) return 0;
    const Tensor *c = n->in[tensor_is_constant(n->in[0]) ? 0 : 1];
    return tensor_is_constant(c) && tensor_elems(c) == 1 && c->type == F32 ? (double)*(const float *)c->data : 0;
}

/* Returns the group of the tensor, after limits and, if `factor` is not NULL, after multiplications by constants, which
 * are multiplied into *factor; returns -1 if there is none. */
static int group_after(const Edges *e, const Readers *r, const Tensor *t, double *factor)
{
    for (;;) {
        const Edge *edge = edge_of(e, t);
        const ReaderList *readers = readers_list(r, t);
        const Node *n = readers->count == 1 ? readers->at[0] : NULL;
        double low, high;
        if (edge) return edge->group;
        if (!n || n->kind != NODE_CALL || n->out_count != 1 || is_asked_for_floats(e, t)) return -1;
        const double by = factor ? factor_of(n) : 0;
        if (by > 0) *factor *= by;
        else if (!n->op->quantization.limits || !n->op->quantization.limits(n, &low, &high)) return -1;
        t = n->out[0];
    }
}

static bool is_data(const Tensor *t) { return t && t->type == F32 && !tensor_is_constant(t); }

static int group_index(const Edges *e, const Tensor *t)
{
    const Edge *edge = edge_of(e, t);
    return edge ? edge->group : -1;
}

/* Returns 1 / n for a mean of n elements, or 0 if the call is not a mean. */
static double share_of(Ctx *cx, const Node *n)
{
    int64_t zero = 0, count = 0;
    const DiagMark before = diag_mark(cx);
    Tensor *stored = tensor_new(cx, n->in[0]->name, I8, n->in[0]->rank, n->in[0]->shape);
    const bool is_mean = stored && n->op->quantization.total(cx, n, stored, &zero, &count) && count > 0;
    if (ctx_failed(cx)) diag_rewind(cx, before);
    return is_mean ? 1 / (double)count : 0;
}

static void add_layer(Ctx *cx, const Readers *r, const Layer *l, Edges *e)
{
    const Tensor *w = l->call->in[l->weights];
    const int x = group_index(e, l->call->in[1 - l->weights]), y = group_after(e, r, l->last, NULL);
    if (x < 0 || y < 0 || readers_list(r, w)->count != 1) return;
    Between *b = NEW(cx->arena, Between);
    *b = (Between){ .a = x, .b = -1, .y = y, .factor = 1 };
    map_put_ptr(&e->between, w, b);
}

static void add_product(Edges *e, const Readers *r, const Node *n, double factor, bool has_two)
{
    Between p = { .a = group_index(e, n->in[0]), .b = has_two ? group_index(e, n->in[1]) : -1, .factor = factor };
    p.y = group_after(e, r, n->out[0], &p.factor);
    if (p.a >= 0 && p.y >= 0 && (!has_two || p.b >= 0)) e->product[e->product_count++] = p;
}

static void add_term(Edges *e, int group)
{
    if (group >= 0) e->group[group].is_term = true;
}

void find_between(Ctx *cx, const Readers *r, Edges *e)
{
    e->between = map_new(cx->arena);
    e->product = NEW_ARRAY(cx->arena, Between, r->count);
    for (int i = 0; i < r->count; i++) {
        Layer l;
        const Node *n = r->order[i];
        if (n->kind != NODE_CALL || n->out_count != 1 || !is_data(n->in[0])) continue;
        const bool has_two = n->in_count > 1 && is_data(n->in[1]);
        if (layer_of(r, n, &l)) add_layer(cx, r, &l, e);
        else if (n->op->quantization.total) add_product(e, r, n, share_of(cx, n), false);
        else if (has_two && n->op->quantization.is_bilinear) add_product(e, r, n, 1, true);
        else if (has_two && (n->op->quantization.is_difference || n->op->fold.affine == AFFINE_SHIFT)) {
            add_term(e, group_index(e, n->in[0]));
            add_term(e, group_index(e, n->in[1]));
            add_term(e, group_after(e, r, n->out[0], NULL));
        }
    }
}

/* ---- Scales ------------------------------------------------------------------------------------------------------ */

static const EdgeGroup *known_group(const Edges *e, int group)
{
    const EdgeGroup *g = group < 0 ? NULL : &e->group[group];
    return g && g->bits < FLOAT_BITS && g->grid.step > 0 ? g : NULL;
}

/* Returns the known group only if it has 8 bits. On a 16-bit grid, the errors of 32-bit floats reach a tie. */
static const EdgeGroup *narrow_group(const Edges *e, int group)
{
    const EdgeGroup *g = known_group(e, group);
    return g && !g->is_wide && g->bits == 8 ? g : NULL;
}

/* Returns the exponent j for which ratio * 2^j has the bits of p. */
static int exponent_of(double ratio)
{
    int exponent;
    frexp(ratio, &exponent);
    return exponent < RATIO_BITS ? RATIO_BITS - exponent : 0;
}

/* Return the nearest odd number that is not above v, and the nearest odd number that is not below v. */
static double odd_below(double v) { return 2 * floor((v - 1) / 2) + 1; }
static double odd_above(double v) { return 2 * ceil((v - 1) / 2) + 1; }

float scale_without_ties(const Edges *e, const Tensor *w, float scale, float most)
{
    const double slack = 0.49;                         /* in steps: the largest weight rounds to `most` in any case */
    const Between *b = map_get_ptr(&e->between, w);
    const EdgeGroup *x = b ? known_group(e, b->a) : NULL, *y = x ? narrow_group(e, b->y) : NULL;
    const double least = (double)scale * (double)most / ((double)most + slack);
    const double ratio = y ? y->grid.step / (x->grid.step * least) : 0;
    if (!(ratio > 0 && isfinite(ratio))) return scale;
    const int j = exponent_of(ratio);
    const double p = odd_below(ldexp(ratio, j) * (1 - 0x1p-8 * e->coarser));
    const float now = (float)(ldexp(y->grid.step, j) / (p * x->grid.step));
    return now > 0 && isfinite(now) ? now : scale;
}

double unit_without_ties(const Edges *e, const Tensor *w, float scale)
{
    const double near = 0x1p-9;
    const Between *b = map_get_ptr(&e->between, w);
    const EdgeGroup *x = b ? known_group(e, b->a) : NULL, *y = x ? narrow_group(e, b->y) : NULL;
    const double ratio = y ? y->grid.step / (x->grid.step * (double)scale) : 0;
    if (!(ratio > 0 && isfinite(ratio))) return 0;
    int j = exponent_of(ratio);
    const double exact = ldexp(ratio, j);
    double p = nearbyint(exact);
    if (!(fabs(exact - p) < near)) return 0;
    for (; j > 0 && fmod(p, 2) == 0; j--) p /= 2;
    return fmod(p, 2) == 1 ? y->grid.step / p : 0;
}

void avoid_ties(Edges *e)
{
    for (int i = 0; i < e->group_count; i++)
        if (e->group[i].is_term && is_sampled(&e->group[i])) e->group[i].grid = grid_short(e->group[i].grid);
    for (int i = 0; i < e->product_count; i++) {
        const Between *p = &e->product[i];
        const EdgeGroup *a = known_group(e, p->a), *b = known_group(e, p->b);
        EdgeGroup *y = &e->group[p->y];
        if (!a || (p->b >= 0 && !b) || !narrow_group(e, p->y) || !is_sampled(y) || y->is_term) continue;
        const double unit = a->grid.step * (b ? b->grid.step : 1) * p->factor, ratio = y->grid.step / unit;
        if (!(ratio > 0 && isfinite(ratio))) continue;
        const int j = exponent_of(ratio);
        const float step = (float)(unit * ldexp(odd_above(ldexp(ratio, j)), -j));
        if (step > 0 && isfinite(step)) y->grid.step = (double)step;
    }
}
