/* SPDX-License-Identifier: MIT */
/* Converts quantized networks written in real numbers to integer arithmetic. Calls between a dequantization and a
 * quantization are computed on integers (quantized_value.c), which are then requantized once:
 *
 *     q -> dequantize -> conv2d -> add -> relu -> quantize -> q'      becomes
 *     q -> conv2d (i8, sums in i32) -> requantize_fixed -> q'
 *
 * The result is defined in real numbers: exact sums, then a single rounding to the grid, to nearest, ties to even.
 * requantize.c finds constants for which the fixed-point step equals this for every possible integer. If it finds none,
 * or a call has no affine value, the calls stay in floats.
 *
 * Evaluated in floats, the same calls round products, sums and quotients on the way. Near a tie this can change the
 * result by one grid step, which is rare unless real numbers are exactly ties. If many results are ties, for example
 * for a mean of four, float rounding errors decide each tie. Such calls are realized if floats round nothing before the
 * quantization (steps that are powers of two, sums of 24 bits), because both then agree. Otherwise they are realized on
 * request only (QDQ_INTEGER).
 *
 * A function of one tensor becomes a table (curves.c). A simulated quantization is treated as a quantization and its
 * inverse. If this saves nothing, the simulated quantization is restored. */

/* Decision: a QDQ network becomes integers. Between a dequantization and a quantization every real tensor is an
 * affine function of integers that other calls compute exactly: a quantized affine value
 * (`graph/quantize/quantized_value.c`, from facts in the operators' rows). `graph/quantize/realize.c` creates these
 * calls and requantizes once.
 *
 *   - Correct is defined in real numbers: sums without error, one rounding to the grid, ties to even.
 *   - A stored value is a staircase of at most 255 steps over the sum, and `(sum * m + c) >> n` is the same
 *     staircase if c is within bounds that each step sets. `graph/quantize/requantize.c` finds the constants from
 *     the steps: exact for every sum, with any bias, and cheaper than two roundings.
 *   - A 16-bit grid has 65,535 steps, which a factor of 31 bits seldom meets. A factor of two words does
 *     (`requantize_words`): a step whose position is clearly between two integers needs no check, the others bound
 *     c. Therefore 16-bit sums of products, scales and shifts are exact on integers.
 *   - A quotient of two bytes is a product with a reciprocal from a table (`quotient_requantized`), in networks of
 *     `quantize`. A divisor of 0 is a factor that saturates.
 *   - The sum of two 16-bit grids stays in floats, which round it as other runtimes do; with `--qdq integer` it is
 *     an exact quotient.
 *   - Frequent exact ties (means of four) have no such line, so they stay in float by default; `--qdq integer` takes
 *     them.
 *   - Functions of one byte are tables. Functions of a 16-bit tensor are parabolas over intervals
 *     (`graph/quantize/curves.c`): the function runs on all 65,536 values during compilation, which proves the
 *     error, so no bound is derived from its formula. They exist only in networks of `quantize`, as a file's result
 *     is defined by rounding the real value. */
#include <math.h>

#include "graph/quantize/curves.h"

static const double infinite = (double)INFINITY;

static Attr grid_type(const Grid *g) { return attr_type("to", quantized_type(g)); }

/* ---- Requantization --------------------------------------------------------------------------------------------- */

/* Returns the grid restricted to the affine value's limits. */
static Grid limited_grid(const QuantizedValue *x, const Grid *g)
{
    Grid all = *g;
    int64_t low = x->low == -infinite ? g->least : grid_quantize(x->low, g),
            high = x->high == infinite ? g->greatest : grid_quantize(x->high, g);
    all.least = low < g->least ? g->least : low > g->greatest ? g->greatest : low;
    all.greatest = high > g->greatest ? g->greatest : high < g->least ? g->least : high;
    return all;
}

/* Attributes of a requantization to the grid, in the type `to`. A requantization has a shift, or a divisor that decides
 * ties. */
#define LIMITS(g) attr_int("min", (g)->least), attr_int("max", (g)->greatest), attr_type("to", to)
#define SHIFTED(s, g) attr_int("shift", (s)->n), LIMITS(g)
#define EVEN(s, g) attr_int("divisor", (s)->d), attr_int("zero", (g)->zero), attr_flag("wide", (s)->is_wide), LIMITS(g)

/* Returns channel i as a function of q itself. */
static Affine affine_of(const QuantizedContext *f, const QuantizedValue *x, int64_t i)
{
    const double zero = quantized_product(f, x->scale[i], (double)x->zero);
    return (Affine){ x->scale[i], quantized_sum(f, x->offset[i], -zero), x->count, 0 };
}

static Interval stored_reach(const QuantizedValue *x)
{
    return (Interval){ x->reach.least + x->zero, x->reach.greatest + x->zero };
}

/* Channel i as an increasing function. A channel with a negative scale is a function of -q, and enter_sign negates its
 * factor. */
typedef struct Channel { Affine of; Interval reach; bool is_turned; } Channel;

static Channel channel_of(const QuantizedContext *f, const QuantizedValue *x, int64_t i)
{
    Channel c = { affine_of(f, x, i), stored_reach(x), x->scale[i] < 0 };
    if (!c.is_turned) return c;
    c.of.scale = -c.of.scale;
    c.reach = (Interval){ -c.reach.greatest, -c.reach.least };
    return c;
}

/* Enters the sign of the channel's factor. */
static void enter_sign(const Channel *c, Scaling *s)
{
    if (c->is_turned) s->m = -s->m;
}

static bool is_increasing(const QuantizedValue *x)
{
    for (int64_t i = 0; i < x->channels; i++)
        if (!(x->scale[i] > 0)) return false;
    return true;
}

/* Returns one value per channel, shaped to broadcast along the channel axis. */
static Tensor *along(Ctx *cx, const QuantizedValue *x, const char *label, DType t, const int64_t *v)
{
    int64_t shape[MAX_RANK];
    int rank = x->q->rank - x->axis;
    for (int d = 0; d < rank; d++) shape[d] = d ? 1 : x->channels;
    void *data;
    Tensor *c = tensor_zeros(cx, label, t, rank, shape, &data);
    for (int64_t i = 0; c && i < x->channels; i++) dtype_store(t, data, i, (Scalar){ .i = v[i] });
    return c;
}

/* One constant per channel; is_one is true if all are equal. */
typedef struct Column { int64_t *at; bool is_one; } Column;

static Column column_new(Ctx *cx, int64_t channels)
{
    return (Column){ NEW_ARRAY(cx->arena, int64_t, channels), true };
}

static void column_put(Column *c, int64_t i, int64_t v)
{
    c->at[i] = v;
    c->is_one = c->is_one && v == c->at[0];
}

static Tensor *fixed_call(Ctx *cx, const char *label, const QuantizedValue *x, const Scaling *s, const Grid *g,
                          DType to)
{
    enum { HIGH_WORD = 32 };
    Column m = column_new(cx, x->channels), c = column_new(cx, x->channels), n = column_new(cx, x->channels);
    for (int64_t i = 0; i < x->channels; i++) {
        column_put(&m, i, s[i].m);
        column_put(&c, i, s[i].c);
        column_put(&n, i, s[i].n - HIGH_WORD);
    }
    if (x->channels == 1)
        return call(cx, "requantize_fixed", label, (Tensor *[]){ x->q }, 1,
                    ATTRS(attr_int("multiplier", s->m), attr_int("offset", s->c), SHIFTED(s, g)));
    Tensor *factors = along(cx, x, "m", I32, m.at);
    Tensor *offsets = along(cx, x, "c", I64, c.at);
    Tensor *in[] = { x->q, factors, offsets, n.is_one ? NULL : along(cx, x, "n", U8, n.at) };
    return call(cx, "requantize_fixed", label, in, n.is_one ? 3 : 4, ATTRS(SHIFTED(s, g)));
}

/* Builds the call with factors of two words. */
static Tensor *words_call(Ctx *cx, const char *label, const QuantizedValue *x, const Scaling *s, const Grid *g,
                          DType to)
{
    Column m = column_new(cx, x->channels), low = column_new(cx, x->channels), c = column_new(cx, x->channels);
    for (int64_t i = 0; i < x->channels; i++) {
        column_put(&m, i, s[i].m);
        column_put(&low, i, s[i].low);
        column_put(&c, i, s[i].c);
    }
    const bool is_one = m.is_one && low.is_one;
    Tensor *factors = is_one ? NULL : along(cx, x, "m", I32, m.at);
    Tensor *lows = is_one ? NULL : along(cx, x, "low", I32, low.at);
    Tensor *in[] = { x->q, factors, lows, c.is_one ? NULL : along(cx, x, "c", I64, c.at) };
    return call(cx, "requantize_words", label, in, !c.is_one ? 4 : !is_one ? 3 : 1,
                ATTRS(attr_if(is_one, attr_int("multiplier", s->m)), attr_if(is_one, attr_int("low", s->low)),
                      attr_if(c.is_one, attr_int("offset", s->c)), SHIFTED(s, g)));
}

/* Builds the call without offsets per channel; the constants are centered. */
static Tensor *centered_call(Ctx *cx, const char *label, const QuantizedValue *x, const Scaling *s, const Grid *g,
                             DType to)
{
    enum { HIGH_WORD = 32 };
    Column m = column_new(cx, x->channels), n = column_new(cx, x->channels);
    for (int64_t i = 0; i < x->channels; i++) {
        column_put(&m, i, s[i].m);
        column_put(&n, i, s[i].n - HIGH_WORD - 1);
    }
    Tensor *factors = m.is_one && n.is_one ? NULL : along(cx, x, "m", I32, m.at);
    Tensor *in[] = { x->q, factors, NULL, n.is_one ? NULL : along(cx, x, "n", U8, n.at) };
    return call(cx, "requantize_fixed", label, in, !n.is_one ? 4 : in[1] ? 2 : 1,
                ATTRS(attr_int("multiplier", s->m), attr_int("zero", g->zero), SHIFTED(s, g)));
}

static Tensor *even_call(Ctx *cx, const char *label, const QuantizedValue *x, const Scaling *s, const Grid *g,
                         DType to)
{
    Column m = column_new(cx, x->channels), c = column_new(cx, x->channels);
    for (int64_t i = 0; i < x->channels; i++) {
        if (s[i].m > INT32_MAX && x->channels > 1) return NULL;
        column_put(&m, i, s[i].m);
        column_put(&c, i, s[i].c);
    }
    if (m.is_one && c.is_one)
        return call(cx, "requantize_even", label, (Tensor *[]){ x->q }, 1,
                    ATTRS(attr_int("multiplier", s->m), attr_int("offset", s->c), EVEN(s, g)));
    Tensor *factors = along(cx, x, "m", I32, m.at);
    Tensor *in[] = { x->q, factors, along(cx, x, "c", I64, c.at) };
    return call(cx, "requantize_even", label, in, 3, ATTRS(EVEN(s, g)));
}

/* Finds the largest divisor over all channels. Returns false if a channel's divisor does not divide it. */
static bool evens_of(const QuantizedContext *f, const QuantizedValue *x, const Grid *g, Scaling *s)
{
    int64_t d = 0;
    bool is_wide = false;
    for (int turn = 0; turn < 2; turn++)
        for (int64_t i = 0; i < x->channels; i++) {
            Affine a = affine_of(f, x, i);
            if (isnan(a.offset) || !scaling_even(&a, 0, g, stored_reach(x), (Interval){ 0, 0 }, turn ? d : 0, &s[i]))
                return false;
            if (!turn && s[i].d > d) d = s[i].d;
            is_wide = is_wide || s[i].is_wide;
            if (!f->takes_ties && !s[i].equals_floats) return false;
        }
    s[0].is_wide = is_wide;
    return true;
}

/* Returns true if all channels accept centered constants. */
static bool centered_of(const QuantizedContext *f, const QuantizedValue *x, const Grid *g, Scaling *s)
{
    if (!f->in_fixed_point) return false;
    for (int64_t i = 0; i < x->channels; i++) {
        const Channel c = channel_of(f, x, i);
        if (c.of.offset != 0 || !scaling_centered(&c.of, g, c.reach, &s[i])) return false;
        enter_sign(&c, &s[i]);
    }
    return true;
}

/* Returns true if all channels accept factors of two words with one shift, which is the smallest of their own
 * shifts. */
static bool words_of(const QuantizedValue *x, const Grid *g, Scaling *s)
{
    enum { ANY = 62 };
    int most = ANY, least = ANY;
    for (int turn = 0; turn < 2; turn++, most = least)
        for (int64_t i = 0; i < x->channels; i++) {
            const Affine a = { x->scale[i], x->offset[i], x->count, x->zero };
            if (turn && s[i].n == most) continue;
            if (!scaling_of_words(&a, g, stored_reach(x), most, &s[i])) return false;
            if (turn && s[i].n != most) return false;
            if (s[i].n < least) least = s[i].n;
        }
    return true;
}

/* Finds the nearest constants of each channel. All channels share one shift if some channel's shift is below a word. */
static bool near_of(const QuantizedContext *f, const QuantizedValue *x, const Grid *g, Scaling *s)
{
    enum { WORD = 32, ANY = 62 };
    int most = ANY, least = ANY;
    if (!f->in_fixed_point) return false;
    for (int turn = 0; turn < 2; turn++, most = least) {
        for (int64_t i = 0; i < x->channels; i++) {
            const Channel c = channel_of(f, x, i);
            if (isnan(c.of.offset) || !scaling_near(&c.of, 0, g, c.reach, most, &s[i])) return false;
            enter_sign(&c, &s[i]);
            if (s[i].n < least) least = s[i].n;
        }
        if (x->channels == 1 || least >= WORD) return true;
    }
    return true;
}

static bool is_centered(const QuantizedValue *x, const Scaling *s, const Grid *g)
{
    enum { LEAST_SHIFT = 33 };
    for (int64_t i = 0; i < x->channels; i++)
        if (s[i].n < LEAST_SHIFT || s[i].c != offset_centered(g, s[i].n)) return false;
    return true;
}

/* Uses one shift for all channels if possible. Otherwise each channel has its own shift, which is at least a word. */
static bool fixed_of(const QuantizedContext *f, const QuantizedValue *x, const Grid *g, Scaling *s)
{
    enum { WORD = 32, ANY = 62 };
    int most = ANY;
    for (int turn = 0; turn < 2; turn++) {
        int64_t i = 0;
        int least = ANY;
        for (; i < x->channels; i++) {
            const Channel c = channel_of(f, x, i);
            if (isnan(c.of.offset) || !scaling_of(&c.of, g, c.reach, most, &s[i])) break;
            enter_sign(&c, &s[i]);
            if (s[i].n < least) least = s[i].n;
        }
        if (i < x->channels) return false;
        if (x->channels == 1 || least >= WORD) return true;
        most = least;
    }
    return true;
}

/* Computes the sum in the high word of the products. Bytes are shifted left first, so that neither the offset nor the
 * clamp needs 64 bits. Returns NULL if the constants have bits below that word. */
static Tensor *sum_in_high_word(Ctx *cx, const char *label, const QuantizedValue *x, const Scaling *s, const Grid *g,
                                DType to)
{
    enum { HIGH_WORD = 32, UP = 22, BELOW = HIGH_WORD - UP };
    const int64_t unit = INT64_C(1) << BELOW, offset = floor_div(s->c, unit);
    if (offset * unit != s->c || offset <= -(INT64_C(1) << 30) || offset >= INT64_C(1) << 30) return NULL;
    if (s->n < BELOW || s->n - BELOW > 31) return NULL;
    return call(cx, "requantize_sum", label, (Tensor *[]){ x->q, x->b }, 2,
                ATTRS(attr_int("up", UP), attr_int("multiplier_a", s->m), attr_int("multiplier_b", s->m_b),
                      attr_int("offset", offset), attr_int("shift", s->n - BELOW), LIMITS(g)));
}

static Interval type_range(const Tensor *q)
{
    const DTypeInfo *type = dtype_info(q->type);
    return (Interval){ type->least, type->greatest };
}

/* Requantizes the sum of two grids. A sum of 16-bit grids has no proved line. The exact quotient of such a sum is
 * optional (takes_ties), because floats round the sum as other runtimes do. */
static Tensor *sum_requantized(const QuantizedContext *f, const char *label, const QuantizedValue *x, const Grid *g,
                               DType to)
{
    Ctx *cx = f->cx;
    Scaling s;
    Affine a = affine_of(f, x, 0);
    a.offset = exact_sum(a.offset, -exact_product(x->scale_b, (double)x->zero_b));
    if (isnan(a.offset) || x->channels != 1) return NULL;
    Tensor *in[] = { x->q, x->b };
    enum { MOST_SHIFT = 62 };
    const bool is_wide = to == I16 || x->q->type == I16 || x->b->type == I16;
    const Interval range = type_range(x->q), range_b = type_range(x->b);
    if (is_wide ? f->in_fixed_point && scaling_near(&a, x->scale_b, g, stored_reach(x), MOST_SHIFT, &s)
                : scaling_of_sum(&a, x->scale_b, g, range, range_b, &s)) {
        Tensor *high = f->in_fixed_point && !is_wide ? sum_in_high_word(cx, label, x, &s, g, to) : NULL;
        if (high) return high;
        return call(cx, "requantize_sum", label, in, 2,
                    ATTRS(attr_int("multiplier_a", s.m), attr_int("multiplier_b", s.m_b), attr_int("offset", s.c),
                          SHIFTED(&s, g)));
    }
    if (!scaling_even(&a, x->scale_b, g, range, range_b, 0, &s)) return NULL;
    if (!f->takes_ties && !s.equals_floats) return NULL;
    return call(cx, "requantize_sum_even", label, in, 2,
                ATTRS(attr_int("multiplier_a", s.m), attr_int("multiplier_b", s.m_b), attr_int("offset", s.c),
                      EVEN(&s, g)));
}

/* Multiplies by the reciprocals of the divisor, which has 256 values:
 *
 *     y = clamp((a * table[b] + c) >> 22),  table[b] = 2^22 * scale / (scale_b * step * (b - zero_b)), rounded
 *
 * a has 8 bits and a sign, so the result is the real quotient moved by at most 2^-15 of a step. A factor beyond 32 bits
 * saturates, as does the factor of the divisor 0. Every a except 0 then exceeds the grid, as the real quotient does; 0
 * / 0 is 0. */
static Tensor *quotient_requantized(Ctx *cx, const char *label, const QuantizedValue *x, const Grid *g, DType to)
{
    enum { SHIFT = 22, BYTES = 256 };
    const int64_t count = BYTES;
    const double unit = ldexp(x->scale[0] / (x->scale_b * g->step), SHIFT);
    int32_t *factor = NEW_ARRAY(cx->arena, int32_t, BYTES);
    if (to != I8 || !isfinite(unit)) return NULL;
    for (int i = 0; i < BYTES; i++) {
        const int64_t b = i + INT8_MIN - x->zero_b;
        const double v = b ? nearbyint(unit / (double)b) : INT32_MAX;
        factor[i] = (int32_t)fmin(fmax(v, -INT32_MAX), INT32_MAX);
    }
    Tensor *of[] = { x->b, tensor_constant(cx, "reciprocals", I32, 1, &count, factor) };
    Tensor *in[] = { x->q, call(cx, "lookup", label, of, 2, NULL) };
    const int64_t offset = g->zero * (INT64_C(1) << SHIFT) + (INT64_C(1) << (SHIFT - 1));
    return call(cx, "requantize_fixed", label, in, 2,
                ATTRS(attr_int("offset", offset), attr_int("shift", SHIFT), LIMITS(g)));
}

static Tensor *requantized_to(const QuantizedContext *f, const char *label, const QuantizedValue *x, const Grid *whole,
                              DType to);

static Tensor *parts_requantized(const QuantizedContext *f, const QuantizedValue *x, const Grid *g, DType to)
{
    const Node *n = x->concat;
    Tensor **in = NEW_ARRAY(f->cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++)
        if (!(in[i] = requantized_to(f, n->name, &x->part[i], g, to))) return NULL;
    return quantized_call_over(f->cx, n, in, n->attr, n->attr_count);
}

/* Returns true if x is stored on that grid, except for limits. */
static bool is_same_grid(const QuantizedValue *x, const Grid *g, DType to)
{
    return x && x->q && x->q->type == to && x->channels == 1 && x->count == 1 && !x->b && x->offset[0] == 0 &&
        x->scale[0] == g->step && x->zero == g->zero;
}

/* Returns the stored values of the same grid, clipped if x has limits. */
static Tensor *regridded(Ctx *cx, const char *label, const QuantizedValue *x, const Grid *g)
{
    const DTypeInfo *type = dtype_info(x->q->type);
    if (g->least <= type->least && g->greatest >= type->greatest) return x->q;
    return call(cx, "clip", label, (Tensor *[]){ x->q }, 1,
                ATTRS(attr_real("min", (double)g->least), attr_real("max", (double)g->greatest)));
}

/* Requantizes x to the grid. Tries these forms in order: exact constants without offsets per channel; exact constants
 * with them; a quotient with exact ties; in fixed point, the nearest constants. The exact constants of 16-bit grids are
 * factors of two words. */
static Tensor *requantized_to(const QuantizedContext *f, const char *label, const QuantizedValue *x, const Grid *whole,
                              DType to)
{
    Ctx *cx = f->cx;
    Grid g = limited_grid(x, whole);
    if (x->concat) return parts_requantized(f, x, &g, to);
    if (x->is_quotient) return quotient_requantized(cx, label, x, &g, to);
    if (x->b) return sum_requantized(f, label, x, &g, to);
    if (is_same_grid(x, &g, to)) return regridded(cx, label, x, &g);
    Scaling *s = NEW_ARRAY(cx->arena, Scaling, x->channels);
    if (to == I8 && centered_of(f, x, &g, s)) return centered_call(cx, label, x, s, &g, to);
    if (to == I8 && fixed_of(f, x, &g, s)) return fixed_call(cx, label, x, s, &g, to);
    const bool is_up = is_increasing(x);
    if (is_up && to == I16 && !f->in_fixed_point && words_of(x, &g, s)) return words_call(cx, label, x, s, &g, to);
    if (is_up && (to == I8 || !f->in_fixed_point) && evens_of(f, x, &g, s)) return even_call(cx, label, x, s, &g, to);
    if (!near_of(f, x, &g, s)) return NULL;
    return is_centered(x, s, &g) ? centered_call(cx, label, x, s, &g, to) : fixed_call(cx, label, x, s, &g, to);
}

static Tensor *requantized(const QuantizedContext *f, const char *label, const QuantizedValue *x, const Grid *g)
{
    return requantized_to(f, label, x, g, quantized_type(g));
}

/* ---- The pass --------------------------------------------------------------------------------------------------- */

/* Computes the operator in fixed point if it has this form. On 8 bits the result is directly on the operator's own
 * grid; otherwise it has 32 bits, which are requantized. Returns NULL if the operator has no such form. */
static Tensor *in_fixed_point(const QuantizedContext *f, const Node *store, const Grid *g)
{
    enum { FRACTION = 30 };
    const Node *n = store->in[0]->producer;
    const OpQuantization *q = n && n->kind == NODE_CALL ? &n->op->quantization : NULL;
    if (!f->in_fixed_point || !q || !q->in_fixed_point || uses_of(f->uses, n->out[0]) != 1) return NULL;
    const QuantizedValue *x = quantized_of(f, n->in[0]);
    if (!x || !quantized_is_plain(x)) return NULL;
    const bool is_narrow = x->q->type == I8 && quantized_type(g) == I8;
    if (is_narrow && g->step == (double)q->output_step && g->zero == q->output_zero)
        return q->in_fixed_point(f->cx, n, x->q, x->scale[0], I8);
    if (is_narrow) return NULL;
    const double step = ldexp(1, -FRACTION), none = 0;
    const QuantizedValue y = { .q = q->in_fixed_point(f->cx, n, x->q, x->scale[0], I32), .count = 1, .channels = 1,
                               .scale = &step, .offset = &none, .low = -infinite, .high = infinite,
                               .reach = { 0, INT64_C(1) << FRACTION } };
    return y.q ? requantized(f, store->name, &y, g) : NULL;
}

/* Returns the quantization's result as i8, computed on integers. Returns NULL if it stays in floats. An operator
 * without integer support may refuse. */
static Tensor *realized(const QuantizedContext *f, const Node *n, const Grid *g)
{
    const DiagMark before = diag_mark(f->cx);
    const QuantizedValue *x = quantized_of(f, n->in[0]);
    Tensor *q = x && quantized_is_plain(x) ? requantized(f, n->name, x, g) : NULL;
    if (!q) q = is_same_grid(x, g, quantized_type(g)) ? NULL : curve_of_bytes(f, n->name, n->in[0], g);
    if (!q) q = in_fixed_point(f, n, g);
    if (!q && x) q = requantized(f, n->name, x, g);
    if (!q && f->in_fixed_point) q = curve_of_words(f, n->name, n->in[0], g);
    if (!ctx_failed(f->cx)) return q;
    diag_rewind(f->cx, before);
    return NULL;
}

static Tensor *as_stored(Ctx *cx, const Node *n, Tensor *q, DType t)
{
    return q && t == U8 ? call(cx, "recentered", n->name, &q, 1, NULL) : q;
}

/* Handles networks written in integers: sums of products of differences, requantized by the quotient of their scales.
 * The quotient is exact if the call stores the scales. Otherwise the call's f32 factor is used as an exact real number.
 * Ties are included. */
static void realize_integers(const QuantizedContext *f, Node *n, Tensor **out)
{
    Grid g;
    const QuantizedContext all = { f->cx, f->uses, true, false };
    Tensor *now = NULL;
    if (n->op->quantization.is_bilinear) {
        const QuantizedValue *x = quantized_of_call(&all, n);
        if (x && x->zero == 0 && x->channels == 1) now = x->q;
    } else if (quantized_grid(f->cx, n, &g)) {
        const QuantizedValue *x = quantized_of_requantized(f->cx, n);
        now = as_stored(f->cx, n, x ? requantized(&all, n->name, x, &g) : NULL, out[0]->type);
    }
    if (now) out[0] = now;
}

static void realize_call(const QuantizedContext *f, Node *n, Tensor **out)
{
    Grid g;
    Ctx *cx = f->cx;
    bool is_simulated = n->op->quantization.grid == GRID_SIMULATE;
    if (n->op->quantization.grid == GRID_REQUANTIZE || (n->op->quantization.is_bilinear && n->out[0]->type == I32)) {
        realize_integers(f, n, out);
        return;
    }
    if (n->op->quantization.grid != GRID_STORE && !is_simulated) return;
    if (n->in[0]->type != F32 || !quantized_grid(cx, n, &g)) return;
    Tensor *q = realized(f, n, &g), *scale = quantized_scale(cx, &g),
           *grid[] = { n->in[0], scale, quantized_zero(cx, &g) };
    if (!q && !is_simulated) return;
    if (!q) q = call(cx, "quantize", n->name, grid, 3, ATTRS(grid_type(&g)));
    grid[0] = q;
    Tensor *now = is_simulated ? call(cx, "dequantize", n->name, grid, 3,
                                      NULL) : as_stored(cx, n, q, out[0]->type);
    if (!now || ctx_failed(cx)) return;
    /* Without one, `now` may be an input with a quantization of its own. */
    if (out[0]->quant) now->quant = out[0]->quant;
    out[0] = now;
}

static void realize_exactly(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    realize_call(&(QuantizedContext){ cx, uses, false, false }, n, out);
}
static void realize_all(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    realize_call(&(QuantizedContext){ cx, uses, true, false }, n, out);
}
static void realize_fixed(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    realize_call(&(QuantizedContext){ cx, uses, true, true }, n, out);
}

static bool same_grid(Ctx *cx, const Node *a, const Node *b)
{
    Grid x, y;
    return quantized_grid(cx, a, &x) && quantized_grid(cx, b, &y) && x.step == y.step && x.zero == y.zero;
}

/* Merges a quantization and a dequantization into one simulated quantization if all consumers dequantize. */
static void simulate_call(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    Node *store = n->op->quantization.grid == GRID_READ ? n->in[0]->producer : NULL;
    if (!store || store->kind != NODE_CALL || store->op->quantization.grid != GRID_STORE) return;
    const DType t = n->in[0]->type;
    if (uses_of(uses, n->in[0]) != 1 || (t != I8 && t != I16) || !same_grid(cx, n, store)) return;
    out[0] = call(cx, "annotation.simulated_quantize", n->name, store->in, 3,
                  t == I16 ? ATTRS(attr_int("bits", 16)) : NULL);
}

/* Lists the calls that quantize floats; returns their number. */
static int quantizations(Ctx *cx, const Graph *g, const Node ***out)
{
    Node **order;
    int count = graph_order(cx, g, &order), found = 0;
    const Node **all = NEW_ARRAY(cx->arena, const Node *, count);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_CALL && (order[i]->op->quantization.grid == GRID_STORE ||
                                            order[i]->op->quantization.grid == GRID_SIMULATE)) all[found++] = order[i];
    *out = all;
    return found;
}

bool graph_has_grids(Ctx *cx, const Graph *g)
{
    Node **order;
    const int count = g->qdq == QDQ_FLOAT ? 0 : graph_order(cx, g, &order);
    for (int i = 0; i < count; i++) {
        if (order[i]->kind != NODE_CALL) continue;
        const int grid = order[i]->op->quantization.grid;
        if (grid == GRID_REQUANTIZE) return true;
        if ((grid == GRID_STORE || grid == GRID_SIMULATE) && order[i]->in[0]->producer) return true;
    }
    return false;
}

Graph graph_realize(Ctx *cx, Graph g)
{
    const Node **was;
    const Qdq qdq = g.qdq;
    g.quantized_count = quantizations(cx, &g, &was);
    GraphVisit *visit = qdq == QDQ_FIXED ? realize_fixed : qdq == QDQ_INTEGER ? realize_all : realize_exactly;
    if (qdq != QDQ_FLOAT) g = graph_rewrite(cx, g, visit);
    if (qdq != QDQ_FLOAT && !ctx_failed(cx)) g = graph_rewrite(cx, g, simulate_call);
    g.unrealized_count = quantizations(cx, &g, &was);
    g.unrealized = was;
    return g;
}
