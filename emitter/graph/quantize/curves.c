/* SPDX-License-Identifier: MIT */
/* Computes the tables of curves.h.
 *
 *   8 bits    table[x], exact
 *   16 bits   on each interval the parabola through the function at its ends and its middle (lookup_wide)
 *
 * Intervals are as wide as possible, while the error is at most a quarter of a step for every value of the source. */
#include "graph/quantize/curves.h"

#include <math.h>

#include "support/map.h"

/* ---- The function ------------------------------------------------------------------------------------------------ */

/* Returns the only tensor on a plain grid from which t is computed elementwise with scalar constants. Returns NULL if
 * there is no such tensor. */
static Tensor *source_of(const QuantizedContext *f, Tensor *t)
{
    const QuantizedValue *x = quantized_of(f, t);
    const Node *n = t->producer;
    Tensor *source = NULL;
    if (x && quantized_is_plain(x)) return t;
    if (!n || n->kind != NODE_CALL || n->op->fusion.pattern > PATTERN_BROADCAST || n->op->quantization.grid ||
        n->op->fusion.annotation || n->out_count != 1 || !dtype_is_float(t->type)) return NULL;
    for (int i = 0; i < n->in_count; i++) {
        Tensor *c = n->in[i] ? quantized_constant(f->cx, n->in[i]) : NULL,
               *from = c || !n->in[i] ? NULL : source_of(f, n->in[i]);
        if (c ? tensor_elems(c) != 1 : n->in[i] && (!from || (source && from != source))) return NULL;
        if (from) source = from;
    }
    return source;
}

/* Returns t computed by the same calls, with `values` substituted for `source`. Returns NULL on error. */
static Tensor *run_over(Ctx *cx, Map *made, Tensor *t, const Tensor *source, Tensor *values)
{
    const Node *n = t->producer;
    Tensor *known = t == source ? values : map_get_ptr(made, t), *out;
    if (known) return known;
    if (!n) return t;
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) in[i] = run_over(cx, made, n->in[i], source, values);
    const Node *now = ctx_failed(cx) ? NULL : op_call(cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
    if (!now || !graph_run_call(cx, now, &out)) return NULL;
    map_put_ptr(made, t, out);
    return out;
}

Tensor *curve_at(Ctx *cx, Tensor *x, const Tensor *source, Tensor *values)
{
    Map made = map_new(cx->arena);
    return run_over(cx, &made, x, source, values);
}

static Tensor *run_call(Ctx *cx, Tensor *t)
{
    Tensor *out = NULL;
    return t && graph_run_call(cx, t->producer, &out) ? out : NULL;
}

/* ---- 8 bits ------------------------------------------------------------------------------------------------------ */

enum { BYTES = 256 };

Tensor *curve_of_bytes(const QuantizedContext *f, const char *label, Tensor *x, const Grid *g)
{
    Ctx *cx = f->cx;
    Tensor *source = source_of(f, x);
    const QuantizedValue *from = source ? quantized_of(f, source) : NULL;
    int8_t every[BYTES];
    const int64_t count = BYTES;
    Map made = map_new(cx->arena);
    if (!from || from->q->type != I8) return NULL;
    for (int i = 0; i < BYTES; i++) every[i] = (int8_t)(i - 128);
    const Grid own = { from->scale[0], from->zero, 0, 0 };
    Tensor *all = tensor_constant(cx, "all", I8, 1, &count, every);
    Tensor *own_scale = quantized_scale(cx, &own);
    Tensor *real = run_call( cx, call(cx, "dequantize", label, (Tensor *[]){ all, own_scale, quantized_zero(cx, &own) },
                                      3, NULL));
    Tensor *curve = real ? run_over(cx, &made, x, source, real) : NULL;
    if (!curve || tensor_elems(curve) != BYTES || curve->type != F32) return NULL;
    Tensor *scale3 = quantized_scale(cx, g);
    Tensor *table = run_call( cx, call(cx, "quantize", label, (Tensor *[]){ curve, scale3, quantized_zero(cx, g) }, 3,
                                       ATTRS(attr_type("to", quantized_type(g)))));
    if (!table) return NULL;
    table = tensor_constant(cx, "table", quantized_type(g), 1, &count, table->data);
    return call(cx, "lookup", label, (Tensor *[]){ from->q, table }, 2, NULL);
}

/* ---- 16 bits ----------------------------------------------------------------------------------------------------- */

enum { WORDS = 65536, SHIFT = 13, WIDEST = 10, NARROWEST = 5 };

/* Parabolas over intervals of 2^bits values, in units of 2^-SHIFT of a step. */
typedef struct Parabolas { int bits, count; int64_t *start, *slope, *bend; } Parabolas;

/* Returns the function at all values of the source and at the next value, in steps of the grid from its smallest value.
 * Values far beyond the grid are replaced by a bound. Returns NULL if a value is NaN. */
static double *steps_of(const QuantizedContext *f, Tensor *x, const Tensor *source, const QuantizedValue *from,
                        const Grid *g)
{
    Ctx *cx = f->cx;
    const int64_t count = WORDS + 1;
    float *real = NEW_ARRAY(cx->arena, float, count);
    double *steps = NEW_ARRAY(cx->arena, double, count);
    Map made = map_new(cx->arena);
    for (int64_t i = 0; i < count; i++) real[i] = (float)(from->scale[0] * (double)(i + INT16_MIN - from->zero));
    const Tensor *curve = run_over(cx, &made, x, source, tensor_constant(cx, "all", F32, 1, &count, real));
    if (!curve || tensor_elems(curve) != count || curve->type != F32) return NULL;
    for (int64_t i = 0; i < count; i++) {
        const double v = (double)((const float *)curve->data)[i] / g->step + (double)g->zero, bound = WORDS;
        if (isnan(v)) return NULL;
        steps[i] = fmin(fmax(v, -bound), bound);
    }
    return steps;
}

static Parabolas parabolas_of(Ctx *cx, const double *v, int bits)
{
    const int length = 1 << bits, count = WORDS >> bits;
    const double one = 1 << SHIFT;
    Parabolas p = { bits, count, NEW_ARRAY(cx->arena, int64_t, count), NEW_ARRAY(cx->arena, int64_t, count),
                    NEW_ARRAY(cx->arena, int64_t, count) };
    for (int k = 0; k < count; k++, v += length) {
        const double bend = 2 * (v[0] - 2 * v[length / 2] + v[length]) / length;
        p.start[k] = (int64_t)nearbyint((v[0] + 0.5) * one);
        p.slope[k] = (int64_t)nearbyint(((v[length] - v[0]) / length - bend) * one);
        p.bend[k] = (int64_t)nearbyint(bend * one);
    }
    return p;
}

static bool is_word(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

/* Returns true if the parabolas are close to the function, within the grid, and no operation wraps. */
static bool are_near(const Parabolas *p, const double *v, const Grid *g)
{
    const double most_error = 0.25, least = (double)g->least, greatest = (double)g->greatest;
    for (int64_t i = 0; i < WORDS; i++) {
        const int64_t k = i >> p->bits, t = i & ((INT64_C(1) << p->bits) - 1), bent = p->bend[k] * t;
        const int64_t slope = p->slope[k] + floor_div(bent, INT64_C(1) << p->bits), sum = p->start[k] + t * slope;
        if (!is_word(p->start[k]) || !is_word(p->slope[k]) || !is_word(p->bend[k])) return false;
        if (!is_word(bent) || !is_word(slope) || !is_word(t * slope) || !is_word(sum)) return false;
        const double y = ldexp((double)sum, -SHIFT) - 0.5;
        if (!(fabs(fmin(fmax(y, least), greatest) - fmin(fmax(v[i], least), greatest)) <= most_error)) return false;
    }
    return true;
}

/* Returns a constant that holds the values in i16, or in i32 if i16 is too narrow. */
static Tensor *table_of(Ctx *cx, const char *name, int64_t count, const int64_t *v)
{
    DType t = I16;
    void *data;
    for (int64_t i = 0; i < count; i++)
        if (v[i] < INT16_MIN || v[i] > INT16_MAX) t = I32;
    Tensor *table = tensor_zeros(cx, name, t, 1, &count, &data);
    for (int64_t i = 0; table && i < count; i++) dtype_store(t, data, i, (Scalar){ .i = v[i] });
    return table;
}

Tensor *curve_of_words(const QuantizedContext *f, const char *label, Tensor *x, const Grid *g)
{
    Ctx *cx = f->cx;
    Tensor *source = source_of(f, x);
    const QuantizedValue *from = source ? quantized_of(f, source) : NULL;
    const double *v = from && from->q->type == I16 ? steps_of(f, x, source, from, g) : NULL;
    for (int bits = WIDEST; v && bits >= NARROWEST; bits--) {
        const Parabolas p = parabolas_of(cx, v, bits);
        if (!are_near(&p, v, g)) continue;
        Tensor *starts = table_of(cx, "start", p.count, p.start);
        Tensor *slopes = table_of(cx, "slope", p.count, p.slope);
        Tensor *in[] = { from->q, starts, slopes, table_of(cx, "bend", p.count, p.bend) };
        return call(cx, "lookup_wide", label, in, 4,
                    ATTRS(attr_int("bits", bits), attr_int("shift", SHIFT), attr_int("min", g->least),
                          attr_int("max", g->greatest), attr_type("to", quantized_type(g))));
    }
    return NULL;
}
