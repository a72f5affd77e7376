/* SPDX-License-Identifier: MIT */
/* Derives quantized affine values backwards from a quantization, from facts in the operators' rows:
 *
 *   a dequantization           scale * (q - zero); differences of bytes in i32 have the scale 1
 *   moves (a view, max_pool)   the same affine function of the moved integers
 *   bilinear (conv2d, mul)     scale_x * scale_k * sum((x - zero_x) * (k - zero_k)), an i32 sum that must not wrap;
 *                              where it could, an i64 sum
 *   scale, shift by constants  the same integers; an i32 shift in the unit of the sums is added to the sums
 *   sum or difference of two   two terms, each on a grid
 *   quotient of two            two bytes, in fixed point
 *   a mean                     the sum in i32, and the element count
 *   limits (relu, clip)        low and high
 *   a batch norm               its simpler form, a scale and a shift
 *
 * A number that no double represents exactly (a product of three scales) rules the affine value out. Only fixed point
 * accepts the nearest double instead. An affine value is recomputed for each consumer. Therefore only grids, which cost
 * nothing to recompute, may have several consumers. */
#include "graph/quantize/quantized_value.h"

#include <math.h>
#include <string.h>

static const double infinite = (double)INFINITY;

static const Node *producer_of(const Tensor *t)
{
    return t->producer && t->producer->kind == NODE_CALL ? t->producer : NULL;
}

DType quantized_type(const Grid *g) { return g->least < INT8_MIN || g->greatest > INT8_MAX ? I16 : I8; }

Tensor *quantized_scale(Ctx *cx, const Grid *g) { return tensor_scalar(cx, "scale", F32, g->step); }

Tensor *quantized_zero(Ctx *cx, const Grid *g)
{
    return tensor_scalar(cx, "zero", quantized_type(g), (double)g->zero);
}

static bool is_stored(DType t) { return t == I8 || t == I16; }

bool quantized_is_plain(const QuantizedValue *x)
{
    return x->q && is_stored(x->q->type) && !x->b && x->channels == 1 && x->count == 1 && x->offset[0] == 0
           && x->low == -infinite && x->high == infinite;
}

static bool has_limits(const QuantizedValue *x) { return x->low != -infinite || x->high != infinite; }

/* ---- Constants -------------------------------------------------------------------------------------------------- */

Tensor *quantized_constant(Ctx *cx, Tensor *t)
{
    const Node *n = producer_of(t);
    if (tensor_is_constant(t)) return t;
    if (!n || n->out_count != 1 || !n->in_count) return NULL;
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count), *out;
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !(in[i] = quantized_constant(cx, n->in[i]))) return NULL;
    const Node *now = op_call(cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
    return now && graph_run_call(cx, now, &out) ? out : NULL;
}

enum { ALL_ALIKE = -1, SEVERAL_AXES = -2 };

/* Returns the only axis along which the constant varies, numbered as in a tensor of that rank. Returns ALL_ALIKE if all
 * elements are alike, or SEVERAL_AXES. */
static int axis_of(const Tensor *c, int rank)
{
    int axis = ALL_ALIKE;
    for (int d = 0; d < c->rank; d++) {
        if (tensor_dim(c, d) == 1) continue;
        if (axis != ALL_ALIKE || c->rank > rank) return SEVERAL_AXES;
        axis = rank - c->rank + d;
    }
    return c->rank > rank ? SEVERAL_AXES : axis;
}

static double real_at(const Tensor *c, int64_t i)
{
    return dtype_load(c->type, c->data, tensor_elems(c) == 1 ? 0 : i).f;
}
static int64_t integer_at(const Tensor *c, int64_t i)
{
    return dtype_load(c->type, c->data, tensor_elems(c) == 1 ? 0 : i).i;
}

static const double *doubles(Ctx *cx, int64_t count, double v)
{
    double *d = NEW_ARRAY(cx->arena, double, count);
    for (int64_t i = 0; i < count; i++) d[i] = v;
    return d;
}

/* ---- Grids ------------------------------------------------------------------------------------------------------ */

static DType stored_type(const Node *n)
{
    if (n->op->quantization.grid == GRID_READ || n->op->quantization.grid == GRID_CENTER) return n->in[0]->type;
    if (n->op->quantization.grid == GRID_STORE || n->op->quantization.grid == GRID_REQUANTIZE) return n->out[0]->type;
    const int64_t bits = node_int(n, "bits", 8);
    const bool is_even = strcmp(node_text(n, "rounding", "even"), "even") == 0, has_sign = node_int(n, "sign", 1) != 0;
    if (!is_even || (bits != 8 && (bits != 16 || !has_sign))) return BOOL;
    return bits == 16 ? I16 : has_sign ? I8 : U8;
}

static bool is_byte(DType t) { return t == I8 || t == U8; }

bool quantized_grid(Ctx *cx, const Node *n, Grid *g)
{
    DType t = stored_type(n);
    bool is_scaled = n->op->quantization.grid != GRID_CENTER && n->op->quantization.grid != GRID_REQUANTIZE;
    Tensor *scale = !is_scaled ? tensor_scalar(cx, "scale", F64, node_real(n, "step", 1)) : n->in[1]->type == F32 ?
        quantized_constant(cx, n->in[1]) : NULL;
    const int at = n->op->quantization.grid == GRID_CENTER ? 1 : 2;
    Tensor *zero = scale && (is_byte(t) || t == I16) ? quantized_constant(cx, n->in[at]) : NULL;
    if (!zero || tensor_elems(scale) != 1 || tensor_elems(zero) != 1) return false;
    *g = (Grid){ real_at(scale, 0), integer_at(zero, 0) - (t == U8 ? 128 : 0), t == I16 ? INT16_MIN : INT8_MIN,
                 t == I16 ? INT16_MAX : INT8_MAX };
    return g->step > 0 && g->step < infinite && g->zero >= g->least && g->zero <= g->greatest;
}

/* Returns the affine value of a grid, with q as it is stored. */
static QuantizedValue *grid_form(Ctx *cx, Tensor *q, const Grid *g)
{
    QuantizedValue *x = NEW(cx->arena, QuantizedValue);
    *x = (QuantizedValue){ .q = q,
                 .zero = g->zero,
                 .count = 1,
                 .channels = 1,
                 .scale = doubles(cx, 1, g->step),
                 .offset = doubles(cx, 1, 0),
                 .low = -infinite,
                 .high = infinite,
                 .reach = { g->least - g->zero, g->greatest - g->zero } };
    return x;
}

/* Subtracts the zero points, which may differ per channel, from the weights. Stores the result as i8 if it fits; else
 * keeps a single zero point separate. */
static Tensor *weights_of(Ctx *cx, const Tensor *k, const Tensor *zero, int64_t behind, QuantizedValue *x)
{
    int64_t count = tensor_elems(k), zeros = tensor_elems(zero), shift = k->type == U8 ? 128 : 0;
    int8_t *less = NEW_ARRAY(cx->arena, int8_t, count), *as_is = NEW_ARRAY(cx->arena, int8_t, count);
    x->reach = (Interval){ 0, 0 };
    for (int64_t i = 0; i < count; i++) {
        int64_t stored = integer_at(k, i), v = stored - integer_at(zero, i / behind % zeros);
        if (v < x->reach.least) x->reach.least = v;
        if (v > x->reach.greatest) x->reach.greatest = v;
        less[i] = (int8_t)(v < INT8_MIN || v > INT8_MAX ? 0 : v);
        as_is[i] = (int8_t)(stored - shift);
    }
    bool fit = x->reach.least >= INT8_MIN && x->reach.greatest <= INT8_MAX;
    Tensor *c = fit || zeros == 1 ? tensor_new(cx, k->name, I8, k->rank, k->shape) : NULL;
    if (c) c->data = fit ? less : as_is;
    x->zero = fit ? 0 : integer_at(zero, 0) - shift;
    return c;
}

static const QuantizedValue *weights_form(Ctx *cx, const Node *n, Tensor *k)
{
    bool is_scaled = n->op->quantization.grid != GRID_CENTER;
    Tensor *scale = is_scaled ? quantized_constant(cx, n->in[1]) : tensor_scalar(cx, "scale", F32, 1),
           *zero = quantized_constant(cx, n->in[is_scaled ? 2 : 1]);
    if (!scale || !zero || scale->type != F32 || !is_byte(k->type) || tensor_elems(k) < 1) return NULL;
    int axis = axis_of(scale, k->rank), zero_axis = axis_of(zero, k->rank);
    if (axis == SEVERAL_AXES || zero_axis == SEVERAL_AXES || (is_scaled && zero_axis != ALL_ALIKE && zero_axis != axis))
        return NULL;
    int64_t behind = 1, channels = tensor_elems(scale);
    for (int d = zero_axis < 0 ? k->rank : zero_axis + 1; d < k->rank; d++) behind *= tensor_dim(k, d);
    QuantizedValue *x = grid_form(cx, NULL, &(Grid){ 1, 0, 0, 0 });
    double *s = NEW_ARRAY(cx->arena, double, channels);
    for (int64_t i = 0; i < channels; i++) {
        s[i] = real_at(scale, i);
        if (!(s[i] > 0 && s[i] < infinite)) return NULL;
    }
    x->q = weights_of(cx, k, zero, behind, x);
    x->axis = axis;
    x->channels = channels;
    x->scale = s;
    x->offset = doubles(cx, channels, 0);
    return x->q ? x : NULL;
}

Tensor *quantized_call_over(Ctx *cx, const Node *n, Tensor *const *in, const Attr *attr, int attr_count)
{
    Node *now = op_call(cx, n->op, n->name, in, n->in_count, attr, attr_count);
    if (now) now->device = n->device;
    return now ? now->out[0] : NULL;
}

/* Returns the i8 tensor that a u8 tensor re-encodes, with moves since then applied. Returns NULL if there is none. */
static Tensor *without_recentering(Ctx *cx, const Tensor *stored)
{
    const Node *n = producer_of(stored);
    if (!n || n->op->quantization.is_recentering) return n ? n->in[0] : NULL;
    Tensor *x = n->op->quantization.moves_elements && !n->op->layout.is_concat && !op_attr_row(n->op, "value")
        ? without_recentering(cx, n->in[0]) : NULL;
    if (!x) return NULL;
    Tensor **in = arena_copy(cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    in[0] = x;
    return quantized_call_over(cx, n, in, n->attr, n->attr_count);
}

/* Returns the stored tensor as i8. */
static Tensor *as_i8(Ctx *cx, Tensor *stored)
{
    Tensor *x = stored->type == I8 ? stored : without_recentering(cx, stored);
    return x ? x : call(cx, "recentered", stored->name, &stored, 1, NULL);
}

/* Returns the affine value of weights that are stored as real numbers on a grid. */
static const QuantizedValue *simulated(Ctx *cx, const Node *n)
{
    DType t = stored_type(n);
    Tensor *k = is_byte(t) && n->in[0]->type == F32 ? quantized_constant(cx, n->in[0]) : NULL;
    if (!k) return NULL;
    const Attr *to = ATTRS(attr_word("to", dtype_info(t)->spelling));
    Tensor *zero = call(cx, "cast", n->name, (Tensor *[]){ n->in[2] }, 1, to);
    Tensor *q = call(cx, "quantize", n->name, (Tensor *[]){ k, n->in[1], zero }, 3, to);
    k = q ? quantized_constant(cx, q) : NULL;
    return k ? weights_form(cx, n, k) : NULL;
}

static const QuantizedValue *dequantized(Ctx *cx, const Node *n)
{
    Grid g;
    Tensor *k = quantized_constant(cx, n->in[0]);
    if (k) return weights_form(cx, n, k);
    if (!quantized_grid(cx, n, &g)) return NULL;
    Tensor *q = n->in[0]->type == I16 ? n->in[0] : as_i8(cx, n->in[0]);
    return q ? grid_form(cx, q, &g) : NULL;
}

/* ---- Moves ------------------------------------------------------------------------------------------------------ */

/* Returns the attributes with one of them replaced. */
static const Attr *with_number(Ctx *cx, const Node *n, const char *name, AttrKind kind, int64_t v, int *count)
{
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count + 1);
    int at = 0;
    for (int i = 0; i < n->attr_count; i++) attr[i] = n->attr[i];
    while (at < n->attr_count && strcmp(attr[at].name, name) != 0) at++;
    attr[at] = (Attr){ .name = name, .kind = kind, .integer = v, .real = (double)v };
    *count = n->attr_count + (at == n->attr_count);
    return attr;
}

/* Returns the channel axis of q after the move. Returns -1 if channels no longer follow one axis. */
static int axis_after(const Node *n, int axis)
{
    const Tensor *x = n->in[0], *y = n->out[0];
    const Attr *perm = node_attr(n, "perm");
    int64_t behind = 1, after = 1;
    if (n->op->layout.is_transpose) {
        for (int d = 0; d < y->rank; d++)
            if ((perm ? perm->ints[d] : y->rank - 1 - d) == axis) return d;
        return -1;
    }
    if (!n->op->layout.is_view || !tensor_is_fixed(x) || !tensor_is_fixed(y)) return -1;
    for (int d = axis + 1; d < x->rank; d++) behind *= tensor_dim(x, d);
    for (int d = y->rank - 1; d >= 0; after *= tensor_dim(y, d--))
        if (after == behind && tensor_dim(y, d) == tensor_dim(x, axis)) return d;
    return -1;
}

/* Computes the stored value of the real number. Returns false if it is not on the grid. */
static bool on_grid(const QuantizedValue *x, double real, int64_t *stored)
{
    const DTypeInfo *type = dtype_info(x->q->type);
    Grid g = { x->scale[0], x->zero, type->least, type->greatest };
    *stored = grid_quantize(real, &g);
    return *stored >= g.least && *stored <= g.greatest && exact_product((double)(*stored - g.zero), g.step) == real;
}

static const QuantizedValue *moved(const QuantizedContext *f, const Node *n)
{
    const QuantizedValue *x = quantized_of(f, n->in[0]);
    const Attr *attr = n->attr;
    int attr_count = n->attr_count;
    if (!x || !x->q || x->b) return NULL;
    QuantizedValue *y = arena_copy(f->cx->arena, x, sizeof *x);
    if (x->channels > 1 && (y->axis = axis_after(n, x->axis)) < 0) return NULL;
    if (op_attr_row(n->op, "value")) {
        int64_t fill;
        if (!quantized_is_plain(x) || !on_grid(x, node_real(n, "value", 0), &fill)) return NULL;
        attr = with_number(f->cx, n, "value", ATTR_REAL, fill, &attr_count);
    }
    Tensor **in = arena_copy(f->cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    in[0] = x->q;
    y->q = quantized_call_over(f->cx, n, in, attr, attr_count);
    if (y->q && tensor_is_constant(x->q)) y->q = quantized_constant(f->cx, y->q);
    return y->q ? y : NULL;
}

/* Returns the affine value of a concatenation: one grid if all parts share it, otherwise each part is requantized
 * separately. */
static const QuantizedValue *concatenated(const QuantizedContext *f, const Node *n)
{
    QuantizedValue *part = NEW_ARRAY(f->cx->arena, QuantizedValue, n->in_count), *y = NEW(f->cx->arena, QuantizedValue);
    Tensor **in = NEW_ARRAY(f->cx->arena, Tensor *, n->in_count);
    bool is_one = true;
    for (int i = 0; i < n->in_count; i++) {
        const QuantizedValue *x = quantized_of(f, n->in[i]);
        if (!x || !x->q) return NULL;
        part[i] = *x;
        in[i] = x->q;
        is_one = is_one && quantized_is_plain(x) && x->q->type == part[0].q->type && x->zero == part[0].zero &&
            x->scale[0] == part[0].scale[0];
    }
    *y = is_one ? part[0]
                : (QuantizedValue){ .concat = n, .part = part, .count = 1, .low = -infinite, .high = infinite };
    if (is_one) y->q = quantized_call_over(f->cx, n, in, n->attr, n->attr_count);
    return y->q || y->concat ? y : NULL;
}

/* ---- Products --------------------------------------------------------------------------------------------------- */

/* Returns the number of products summed per element, or 0 if unknown. */
static int64_t terms_of(Ctx *cx, const Node *n)
{
    Tensor *const *made = op_expand(cx, n);
    const Stage *s = made && made[0]->producer->kind == NODE_COMPUTE ? made[0]->producer->stage : NULL;
    int64_t terms = 1;
    for (int a = s ? s->data_count : 0; s && a < s->axis_count; a++)
        terms = s->axis[a].extent->kind == EXPR_INT ? sat_mul(terms, s->axis[a].extent->integer) : 0;
    return s ? terms : 0;
}

static Interval products(Interval a, Interval b, int64_t terms)
{
    int64_t p[] = { a.least * b.least, a.least * b.greatest, a.greatest * b.least, a.greatest * b.greatest };
    Interval all = { 0, 0 };
    for (int i = 0; i < 4; i++) {
        if (p[i] < all.least) all.least = p[i];
        if (p[i] > all.greatest) all.greatest = p[i];
    }
    return (Interval){ sat_mul(all.least, terms), sat_mul(all.greatest, terms) };
}

/* Returns true if the interval fits into these bits. The limits of fits() and fits_wide() leave a margin for a bias;
 * the limit of fits_wide() also leaves one for a requantization. */
static bool fits_bits(Interval reach, int bits)
{
    return reach.least >= -(INT64_C(1) << bits) && reach.greatest <= INT64_C(1) << bits;
}

static bool fits(Interval reach) { return fits_bits(reach, 30); }
static bool fits_wide(Interval reach) { return fits_bits(reach, 44); }

/* Returns the interval of the sums of an output channel, from the weights themselves. Channels follow the weights' last
 * axis. */
static Interval sums_of_weights(Ctx *cx, Interval a, const QuantizedValue *k)
{
    const int64_t channels = tensor_dim(k->q, k->q->rank - 1), most = a.greatest > -a.least ? a.greatest : -a.least;
    int64_t *sum = NEW_ARRAY(cx->arena, int64_t, channels), greatest = 0;
    for (int64_t i = 0; i < tensor_elems(k->q); i++) {
        const int64_t v = integer_at(k->q, i) - k->zero;
        sum[i % channels] += v < 0 ? -v : v;
    }
    for (int64_t c = 0; c < channels; c++)
        if (sum[c] > greatest) greatest = sum[c];
    return (Interval){ -sat_mul(most, greatest), sat_mul(most, greatest) };
}

/* Returns q - zero in i32. */
static Tensor *difference(Ctx *cx, const Node *n, const QuantizedValue *x)
{
    Tensor *q = x->q;
    if (q->type != I32) q = call(cx, "cast", n->name, &q, 1, ATTRS(attr_word("to", "i32")));
    return !q || !x->zero
               ? q
               : call(cx, "sub", n->name, (Tensor *[]){ q, tensor_scalar(cx, "zero", I32, (double)x->zero) }, 2,
                      NULL);
}

/* Returns the i32 sums: over stored bytes if the operator's attributes subtract zero points, otherwise over
 * differences. With is_wide, returns the i64 sums, or NULL if the operator has none. */
static Tensor *summed(Ctx *cx, const Node *n, const QuantizedValue *x, const QuantizedValue *k, bool is_wide)
{
    int count = n->attr_count;
    const Attr *attr = n->attr;
    const bool has_zeros = op_attr_row(n->op, "zero") && (!k->zero || op_attr_row(n->op, "zero_w"));
    if (k->q->type == I8 && has_zeros && is_stored(x->q->type)) {
        Node with = *n;
        if (x->zero) with.attr = attr = with_number(cx, n, "zero", ATTR_INT, x->zero, &count);
        with.attr_count = count;
        if (k->zero) with.attr = attr = with_number(cx, &with, "zero_w", ATTR_INT, k->zero, &count);
        with.attr_count = count;
        if (is_wide) attr = with_number(cx, &with, "wide", ATTR_INT, 1, &count);
        return quantized_call_over(cx, n, (Tensor *[]){ x->q, k->q }, attr, count);
    }
    Tensor *a = is_wide ? NULL : difference(cx, n, x), *b = is_wide ? NULL : difference(cx, n, k);
    return a && b ? quantized_call_over(cx, n, (Tensor *[]){ a, b }, attr, count) : NULL;
}

const QuantizedValue *quantized_of_requantized(Ctx *cx, const Node *n)
{
    Tensor *scale = n->in[1]->type == F32 && n->in[0]->type == I32 ? quantized_constant(cx, n->in[1]) : NULL;
    int axis = scale ? axis_of(scale, n->in[0]->rank) : SEVERAL_AXES;
    if (axis == SEVERAL_AXES) return NULL;
    QuantizedValue *x = grid_form(cx, n->in[0], &(Grid){ 1, 0, INT32_MIN, INT32_MAX });
    double *s = NEW_ARRAY(cx->arena, double, tensor_elems(scale));
    const Attr *products = node_attr(n, "products");
    if (products && products->count != 1 && products->count != tensor_elems(scale)) products = NULL;
    for (int64_t i = 0; i < tensor_elems(scale); i++) {
        s[i] = products ? products->reals[products->count == 1 ? 0 : i] : real_at(scale, i);
        if (!(s[i] > 0)) return NULL;
    }
    x->axis = axis;
    x->channels = tensor_elems(scale);
    x->scale = s;
    x->offset = doubles(cx, x->channels, 0);
    return x;
}

static const QuantizedValue *product(const QuantizedContext *f, const Node *n)
{
    Ctx *cx = f->cx;
    const QuantizedValue *x = quantized_of(f, n->in[0]), *k = x ? quantized_of(f, n->in[1]) : NULL;
    bool is_weight = k && tensor_is_constant(k->q ? k->q : n->in[1]);
    if (!x || !k || !quantized_is_plain(x) || !(quantized_is_plain(k) || (is_weight && !k->b && !has_limits(k))))
        return NULL;
    if (k->channels > 1 && (n->op->fold.weights != 1 || k->axis != k->q->rank - 1)) return NULL;
    int64_t terms = terms_of(cx, n);
    QuantizedValue *y = arena_copy(cx->arena, k, sizeof *k);
    double *scale = NEW_ARRAY(cx->arena, double, k->channels);
    for (int64_t i = 0; i < k->channels; i++) {
        scale[i] = exact_product(x->scale[0], k->scale[i]);
        if (isnan(scale[i])) return NULL;
    }
    y->scale = scale;
    y->axis = n->out[0]->rank - 1;
    y->zero = 0;
    y->reach = products(x->reach, k->reach, terms);
    if ((x->q->type == I16 || !fits(y->reach)) && is_weight && n->op->fold.weights == 1 && k->q->rank)
        y->reach = sums_of_weights(cx, x->reach, k);
    const bool has_wide = f->in_fixed_point && op_attr_row(n->op, "wide") && fits_wide(y->reach);
    y->q = terms > 0 && (fits(y->reach) || has_wide) ? summed(cx, n, x, k, !fits(y->reach)) : NULL;
    return y->q ? y : NULL;
}

/* ---- Scales, shifts, sums --------------------------------------------------------------------------------------- */

static bool same_shape(const Tensor *a, const Tensor *b)
{
    for (int d = 0; a->rank == b->rank && d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return a->rank == b->rank;
}

/* Returns a mutable copy with one scale and offset per index of the constant's axis. Returns NULL if channels follow a
 * different axis. */
static QuantizedValue *spread(Ctx *cx, const QuantizedValue *x, const Tensor *c, double **scale, double **offset)
{
    int axis = axis_of(c, x->q->rank);
    if (axis == SEVERAL_AXES || (axis != ALL_ALIKE && x->channels > 1 && x->axis != axis)) return NULL;
    QuantizedValue *y = arena_copy(cx->arena, x, sizeof *x);
    if (axis != ALL_ALIKE) y->axis = axis, y->channels = tensor_elems(c);
    *scale = NEW_ARRAY(cx->arena, double, y->channels);
    *offset = NEW_ARRAY(cx->arena, double, y->channels);
    for (int64_t i = 0; i < y->channels; i++) {
        (*scale)[i] = x->scale[x->channels > 1 ? i : 0];
        (*offset)[i] = x->offset[x->channels > 1 ? i : 0];
    }
    y->scale = *scale;
    y->offset = *offset;
    return y;
}

double quantized_product(const QuantizedContext *f, double a, double b)
{
    const double exact = exact_product(a, b);
    return isnan(exact) && f->in_fixed_point ? a * b : exact;
}

double quantized_sum(const QuantizedContext *f, double a, double b)
{
    const double exact = exact_sum(a, b);
    return isnan(exact) && f->in_fixed_point ? a + b : exact;
}

static const QuantizedValue *scaled(const QuantizedContext *f, const QuantizedValue *x, const Tensor *c)
{
    double *scale, *offset;
    QuantizedValue *y = x->b || has_limits(x) ? NULL : spread(f->cx, x, c, &scale, &offset);
    for (int64_t i = 0; y && i < y->channels; i++) {
        scale[i] = quantized_product(f, scale[i], real_at(c, i));
        offset[i] = quantized_product(f, offset[i], real_at(c, i));
        if (!(f->in_fixed_point ? scale[i] != 0 : scale[i] > 0) || isnan(offset[i])) return NULL;
    }
    return y;
}

/* Returns x + sign * c. */
static const QuantizedValue *shifted(const QuantizedContext *f, const QuantizedValue *x, const Tensor *c, int sign)
{
    double *scale, *offset;
    QuantizedValue *y = has_limits(x) || x->is_quotient ? NULL : spread(f->cx, x, c, &scale, &offset);
    for (int64_t i = 0; y && i < y->channels; i++) {
        offset[i] = quantized_sum(f, offset[i], exact_product(sign * real_at(c, i), (double)y->count));
        if (isnan(offset[i])) return NULL;
    }
    return y;
}

/* Adds an i32 bias to the sums if the bias has the sums' unit, which is the product of the scales in f32. Returns NULL
 * if the bias has a different scale. */
static const QuantizedValue *biased(Ctx *cx, const QuantizedValue *x, Tensor *bias)
{
    const Tensor *top = bias;
    while (producer_of(bias) && producer_of(bias)->op->layout.is_view) bias = bias->producer->in[0];
    const Node *n = producer_of(bias);
    const bool is_wide = x->q->type == I64, is_sum = (x->q->type == I32 || is_wide) && !x->b && !has_limits(x);
    Tensor *q = is_sum && n && n->op->quantization.grid == GRID_READ && n->in[0]->type == I32
        ? quantized_constant(cx, n->in[0]) : NULL;
    Tensor *scale = q ? quantized_constant(cx, n->in[1]) : NULL, *zero = q ? quantized_constant(cx, n->in[2]) : NULL;
    if (!scale || !zero || x->count != 1 || (tensor_elems(scale) != 1 && tensor_elems(scale) != x->channels))
        return NULL;
    for (int64_t i = 0; i < x->channels; i++)
        if (real_at(scale, i) != (double)(float)x->scale[i] || x->offset[i] != 0) return NULL;
    QuantizedValue *y = arena_copy(cx->arena, x, sizeof *x);
    Tensor *b = tensor_new(cx, top->name, x->q->type, top->rank, top->shape);
    void *data = arena_array(cx->arena, (size_t)tensor_elems(q), (size_t)dtype_info(x->q->type)->bytes);
    Interval add = { 0, 0 };
    for (int64_t i = 0; i < tensor_elems(zero); i++)
        if (integer_at(zero, i)) return NULL;
    for (int64_t i = 0; i < tensor_elems(q); i++) {
        int64_t v = integer_at(q, i);
        add = (Interval){ v < add.least ? v : add.least, v > add.greatest ? v : add.greatest };
        dtype_store(x->q->type, data, i, (Scalar){ .i = v });
    }
    y->reach = (Interval){ x->reach.least + add.least, x->reach.greatest + add.greatest };
    if (!b || !(is_wide ? fits_wide(y->reach) : fits(y->reach))) return NULL;
    b->data = data;
    y->q = call(cx, "add", n->name, (Tensor *[]){ x->q, b }, 2, NULL);
    return y->q ? y : NULL;
}

/* Returns a + sign * b. */
static const QuantizedValue *sum_of_two(Ctx *cx, const QuantizedValue *a, const QuantizedValue *b, double sign)
{
    if (!a || !b || !quantized_is_plain(a) || !quantized_is_plain(b)) return NULL;
    QuantizedValue *y = arena_copy(cx->arena, a, sizeof *a);
    y->b = b->q;
    y->zero_b = b->zero;
    y->scale_b = sign * b->scale[0];
    return y;
}

/* Returns the quotient a / b of two bytes; b may be broadcast. */
static const QuantizedValue *quotient(const QuantizedContext *f, const Node *n)
{
    const QuantizedValue *a = f->in_fixed_point ? quantized_of(f, n->in[0]) : NULL,
                         *b = a ? quantized_of(f, n->in[1]) : NULL;
    if (!b || !quantized_is_plain(a) || !quantized_is_plain(b) || a->q->type != I8 || b->q->type != I8) return NULL;
    if (tensor_is_constant(b->q) || !same_shape(a->q, n->out[0])) return NULL;
    QuantizedValue *y = arena_copy(f->cx->arena, a, sizeof *a);
    y->q = difference(f->cx, n, a);
    y->zero = 0;
    y->b = b->q;
    y->zero_b = b->zero;
    y->scale_b = b->scale[0];
    y->is_quotient = true;
    return y->q ? y : NULL;
}

/* Returns the value of a scale or shift by a constant operand, or of the sum of two affine values. */
static const QuantizedValue *affine(const QuantizedContext *f, const Node *n)
{
    bool is_scale = n->op->fold.affine == AFFINE_SCALE;
    for (int i = 0; i < 2; i++) {
        Tensor *c = quantized_constant(f->cx, n->in[i]);
        const QuantizedValue *x = c && c->type == F32 ? quantized_of(f, n->in[1 - i]) : NULL, *y = NULL;
        if (!c) continue;
        if (!x || !x->q || !same_shape(x->q, n->out[0])) return NULL;
        if (!is_scale) y = biased(f->cx, x, n->in[i]);
        return y ? y : is_scale ? scaled(f, x, c) : shifted(f, x, c, 1);
    }
    if (is_scale) return product(f, n);
    const QuantizedValue *b = quantized_of(f, n->in[1]);
    return sum_of_two(f->cx, quantized_of(f, n->in[0]), b, 1);
}

/* Returns x - c, or the difference of two affine values. In fixed point, a constant is subtracted as a shift, because
 * 16-bit tables would be less exact. */
static const QuantizedValue *difference_of_two(const QuantizedContext *f, const Node *n)
{
    const Tensor *c = f->in_fixed_point ? quantized_constant(f->cx, n->in[1]) : NULL;
    const QuantizedValue *x = quantized_of(f, n->in[0]);
    if (c && c->type == F32) return x && x->q && same_shape(x->q, n->out[0]) ? shifted(f, x, c, -1) : NULL;
    return sum_of_two(f->cx, x, quantized_of(f, n->in[1]), -1);
}

static const QuantizedValue *averaged(const QuantizedContext *f, const Node *n)
{
    const QuantizedValue *x = quantized_of(f, n->in[0]);
    if (!x || !quantized_is_plain(x)) return NULL;
    QuantizedValue *y = arena_copy(f->cx->arena, x, sizeof *x);
    y->q = n->op->quantization.total(f->cx, n, x->q, &y->zero, &y->count);
    if (!y->q || y->count < 1) return NULL;
    y->reach = (Interval){ sat_mul(x->reach.least, y->count), sat_mul(x->reach.greatest, y->count) };
    return fits(y->reach) ? y : NULL;
}

/* Clamps the stored integers if both limits are on the grid. Returns false if they are not. */
static bool clipped(Ctx *cx, const Node *n, QuantizedValue *x, double low, double high)
{
    const DTypeInfo *type = dtype_info(x->q->type);
    int64_t least = type->least, greatest = type->greatest;
    if ((low != -infinite && !on_grid(x, low, &least)) || (high != infinite && !on_grid(x, high, &greatest)))
        return false;
    if (least > type->least || greatest < type->greatest)
        x->q = call(cx, "clip", n->name, (Tensor *[]){ x->q }, 1,
                    ATTRS(attr_real("min", (double)least), attr_real("max", (double)greatest)));
    x->reach = (Interval){ least - x->zero, greatest - x->zero };
    return true;
}

static const QuantizedValue *limited(const QuantizedContext *f, const Node *n)
{
    double low, high;
    const QuantizedValue *x = quantized_of(f, n->in[0]);
    if (!x || !n->op->quantization.limits(n, &low, &high) || !(low <= high)) return NULL;
    QuantizedValue *y = arena_copy(f->cx->arena, x, sizeof *x);
    if (quantized_is_plain(x) && clipped(f->cx, n, y, low, high)) return y->q ? y : NULL;
    y->low = low > x->low ? low : x->low > high ? high : x->low;
    y->high = high < x->high ? high : x->high < low ? low : x->high;
    return y;
}

/* Returns the value of a call's simpler form, if all operands except the first are constants (a batch norm becomes a
 * scale and a shift). */
static const QuantizedValue *simplified(const QuantizedContext *f, const Node *n)
{
    Tensor **in = arena_copy(f->cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    if (n->in_count < 2 || !quantized_of(f, in[0])) return NULL;
    for (int i = 1; i < n->in_count; i++)
        if (!in[i] || !(in[i] = quantized_constant(f->cx, in[i]))) return NULL;
    const Node *now = op_call(f->cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
    Tensor *y = now ? n->op->meaning.simplify(f->cx, now) : NULL;
    return y ? quantized_of(f, y) : NULL;
}

const QuantizedValue *quantized_of_call(const QuantizedContext *f, const Node *n)
{
    const Op *op = n->op;
    if (n->out_count != 1 || !n->in[0]) return NULL;
    if (op->quantization.grid == GRID_SIMULATE) return simulated(f->cx, n);
    if (op->quantization.grid == GRID_READ || op->quantization.grid == GRID_CENTER) return dequantized(f->cx, n);
    if (op->quantization.grid) return NULL;
    if (op->layout.is_concat) return concatenated(f, n);
    if (op->quantization.moves_elements) return moved(f, n);
    if (op->quantization.limits) return limited(f, n);
    if (op->quantization.total) return averaged(f, n);
    if (op->fold.affine && n->in_count == 2) return affine(f, n);
    if (op->quantization.is_difference) return difference_of_two(f, n);
    if (op->quantization.is_bilinear) return product(f, n);
    if (op->quantization.is_quotient) return quotient(f, n);
    return op->meaning.simplify ? simplified(f, n) : NULL;
}

const QuantizedValue *quantized_of(const QuantizedContext *f, Tensor *t)
{
    const Node *n = producer_of(t);
    const QuantizedValue *x = n && !ctx_failed(f->cx) && (t->type == F32 || t->type == I32)
                                  ? quantized_of_call(f, n) : NULL;
    bool is_free = x && x->q && (quantized_is_plain(x) || tensor_is_constant(x->q));
    return is_free || (x && uses_of(f->uses, t) == 1) ? x : NULL;
}
