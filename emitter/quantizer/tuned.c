/* SPDX-License-Identifier: MIT */
/* Computes the parameters of a simulation that is trained, and their units: see finetune.h. */
#include <math.h>

#include "quantizer/finetune.h"
#include "support/text.h"

static const char *const tuned_names[] = {
    [TUNED_WEIGHTS] = "weights", [TUNED_SCALES] = "scales", [TUNED_BIAS] = "bias", [TUNED_GRID] = "grid",
    [TUNED_FACTOR] = "factor",
};

/* Factors of the rows and columns, the last two axes of weights, that bring the largest element of each near 1. */
typedef struct Factors { int64_t rows, columns; float *row, *column; } Factors;

/* Divides the largest element of each row, or column, into its factor. */
static void normalize(const Tensor *w, Factors *f, float *most, bool of_rows)
{
    const float *v = w->data;
    const int64_t count = of_rows ? f->rows : f->columns;
    for (int64_t i = 0; i < count; i++) most[i] = 0;
    for (int64_t i = 0; i < tensor_elems(w); i++) {
        const int64_t c = i % f->columns, r = i / f->columns % f->rows, at = of_rows ? r : c;
        const float now = fabsf(v[i]) / (f->row[r] * f->column[c]);
        if (now > most[at]) most[at] = now;
    }
    for (int64_t i = 0; i < count; i++)
        if (most[i] > 0) (of_rows ? f->row : f->column)[i] *= most[i];
}

static Factors factors_of(Ctx *cx, const Tensor *w)
{
    enum { ROUNDS = 8 };
    Factors f = { w->rank > 1 ? tensor_dim(w, w->rank - 2) : 1, w->rank ? tensor_dim(w, w->rank - 1) : 1, NULL, NULL };
    f.row = NEW_ARRAY(cx->arena, float, f.rows);
    f.column = NEW_ARRAY(cx->arena, float, f.columns);
    float *most = NEW_ARRAY(cx->arena, float, f.rows > f.columns ? f.rows : f.columns);
    for (int64_t i = 0; i < f.rows; i++) f.row[i] = 1;
    for (int64_t i = 0; i < f.columns; i++) f.column[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        normalize(w, &f, most, true);
        normalize(w, &f, most, false);
    }
    return f;
}

float *tuned_weight_units(Ctx *cx, const Tensor *w)
{
    const Factors f = factors_of(cx, w);
    float *unit = NEW_ARRAY(cx->arena, float, tensor_elems(w));
    for (int64_t i = 0; i < tensor_elems(w); i++)
        unit[i] = f.row[i / f.columns % f.rows] * f.column[i % f.columns] / INT8_MAX;
    return unit;
}

float *tuned_bias_units(Ctx *cx, const Tensor *w, const Tensor *bias)
{
    const Factors f = factors_of(cx, w);
    const float *v = bias->data;
    const int64_t count = tensor_elems(bias);
    float *unit = NEW_ARRAY(cx->arena, float, count), most = 0;
    for (int64_t i = 0; i < count; i++) {
        unit[i] = count == f.columns ? f.column[i] : 1;
        most = fmaxf(most, fabsf(v[i]) / unit[i]);
    }
    for (int64_t i = 0; i < count; i++) unit[i] *= (most > 0 ? most : 1) / INT8_MAX;
    return unit;
}

Tensor *tuned_value(Ctx *cx, Tuned *t, TunedPart part, Tensor *value)
{
    for (int i = 0; i < t->count; i++)
        if (t->part[i].kind == part.kind && t->part[i].of == part.of && t->part[i].group == part.group)
            return t->part[i].value;
    if (t->count == t->capacity) {
        TunedPart *more = NEW_ARRAY(cx->arena, TunedPart, t->capacity = 2 * t->capacity + 16);
        for (int i = 0; i < t->count; i++) more[i] = t->part[i];
        t->part = more;
    }
    const int64_t elems = tensor_elems(value);
    const float *v = value->data;
    float *u = NEW_ARRAY(cx->arena, float, elems);
    for (int64_t i = 0; i < elems; i++) u[i] = tuned_is_scale(&part) ? 0 : v[i] / tuned_unit(&part, i);
    const char *its_name = text_format(cx, "tuned_%d_%s", t->count, tuned_names[part.kind]);
    part.input = tensor_new(cx, its_name, F32, value->rank, value->shape);
    part.initial = tensor_new(cx, its_name, F32, value->rank, value->shape);
    if (ctx_failed(cx)) return NULL;
    part.initial->data = u;
    const bool is_each = value->rank && part.unit_count == elems;
    Tensor *unit = is_each ? tensor_new(cx, "unit", F32, value->rank, value->shape)
        : tensor_constant(cx, "unit", F32, part.unit_count > 1, &part.unit_count, part.unit);
    if (is_each && unit) unit->data = part.unit;
    Tensor *factor = part.input;
    if (tuned_is_scale(&part)) {
        Tensor *part_of_range = tensor_scalar(cx, "part", F32, 1.0 / INT8_MAX);
        factor = call_on_two(cx, "mul", its_name, factor, part_of_range, NULL);
        factor = call_on(cx, "exp", its_name, factor, NULL);
    }
    part.value = call_on_two(cx, "mul", its_name, factor, unit, NULL);
    t->part[t->count++] = part;
    return part.value;
}
