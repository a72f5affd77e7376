/* SPDX-License-Identifier: MIT */
/* Computes the grid of floats that are rounded to 8 bits at run time, one grid for each sample (the elements from the
 * dimension `first` on). The reference kernels of TensorFlow Lite compute this grid for dynamic range:
 *
 *   symmetric     scale = r / 127, r = max |x|
 *   asymmetric    scale = (high - low) / 255, low = min(x, 0), high = max(x, 0), and a zero point in -128..127
 *   by inverse    inverse = 255 / (high - low), scale = 1 / inverse, likewise, as XNNPACK computes it
 *
 * The outputs are the scale, its inverse and, if the grid is asymmetric, the zero point. The zero point comes from the
 * end of the range whose error is smaller, in f64, by inverse in f32. The grid is a separate node, because its
 * consumers would otherwise compute it for each element. */
#include "ops/integer/dynamic.h"

#include <string.h>

#include "support/text.h"

static const char *const symmetric[] = {
    "range[rows] = max(chosen) abs(of)",
    "scale[rows] = range[row] / 127.0",
    "inverse[rows] = select(range[row] == 0.0, 0.0, 127.0 / range[row])",
    NULL
};
static const char *const asymmetric[] = {
    "least[rows] = min(chosen) of",
    "greatest[rows] = max(chosen) of",
    "low[rows] = min(least[row], 0.0)",
    "high[rows] = max(greatest[row], 0.0)",
    "span[rows] = select(high[row] == low[row], 255.0, high[row] - low[row])",
    "below[rows] = f64(low[row]) / (f64(span[row]) / 255.0)",
    "above[rows] = f64(high[row]) / (f64(span[row]) / 255.0)",
    "scale[rows] = span[row] / 255.0",
    "inverse[rows] = 1.0 / scale[row]",
    "zero[rows] = f32(round(min(max(select(abs(below[row]) + 128.0 < abs(above[row]) + 127.0, "
    "-128.0 - below[row], 127.0 - above[row]), -128.0), 127.0)))",
    NULL
};
static const char *const by_inverse[] = {
    "least[rows] = min(chosen) of",
    "greatest[rows] = max(chosen) of",
    "low[rows] = min(least[row], 0.0)",
    "high[rows] = max(greatest[row], 0.0)",
    "inverse[rows] = select(high[row] == low[row], 1.0, 255.0 / (high[row] - low[row]))",
    "below[rows] = low[row] * inverse[row] - 128.0",
    "above[rows] = high[row] * inverse[row] + 127.0",
    "scale[rows] = 1.0 / inverse[row]",
    "zero[rows] = nearbyint(min(max(select(below[row] + above[row] > 0.0, -128.0 - low[row] * inverse[row], "
    "127.0 - high[row] * inverse[row]), -128.0), 127.0))",
    NULL
};

int dynamic_grid_formulas(Formulas *f, int64_t form, Tensor *out[DYNAMIC_OUTPUTS])
{
    static const char *const *const forms[] = { symmetric, asymmetric, by_inverse };
    static const char *const names[DYNAMIC_OUTPUTS] = { "scale[", "inverse[", "zero[" };
    for (const char *const *text = forms[form]; *text; text++) {
        Tensor *t = formulas_compute(f, *text);
        for (int i = 0; i < DYNAMIC_OUTPUTS; i++)
            if (strncmp(*text, names[i], strlen(names[i])) == 0) out[i] = t;
    }
    return form == DYNAMIC_SYMMETRIC ? DYNAMIC_OUTPUTS - 1 : DYNAMIC_OUTPUTS;
}

static int dynamic_grid(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int64_t first = node_int(n, "first", 1), form = node_int(n, "asymmetric", DYNAMIC_SYMMETRIC);
    bool chosen[MAX_RANK] = { false };
    if (x->type != F32) op_refuse(cx, n, "the input is %s; use f32", dtype_info(x->type)->spelling);
    else if (first < 0 || first >= x->rank)
        op_refuse(cx, n, "'first' is %lld for %d dimensions; use 0 to %d", (long long)first, x->rank,
                  x->rank - 1);
    if (form < DYNAMIC_SYMMETRIC || form > DYNAMIC_BY_INVERSE)
        op_refuse(cx, n, "'asymmetric' is %lld; use 0, 1 or 2", (long long)form);
    if (ctx_failed(cx)) return 0;
    for (int d = (int)first; d < x->rank; d++) chosen[d] = true;
    const AxisText a = axis_text(cx, x->rank, chosen);
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_phrase(&f, "rows", a.kept);
    formulas_phrase(&f, "row", a.kept);
    formulas_phrase(&f, "chosen", a.chosen);
    formulas_phrase(&f, "of", text_format(cx, "x[%s]", a.all));
    const int outputs = dynamic_grid_formulas(&f, form, out);
    return ctx_failed(cx) ? 0 : outputs;
}

static const AttrRow attrs[] = {
    { "first",      ATTR_INT, "the first dimension of a sample", "1" },
    { "asymmetric", ATTR_INT, "0: symmetric; 1: with a zero point; 2: with a zero point, by the inverse", "0" },
    { 0 }
};

static const OpCase cases[] = {
    { "", "f32[2][5]", "f32[2]", NULL },
    { "first=0 asymmetric=1", "f32[7]", "f32", NULL },
    { "asymmetric=1", "f32[2][3][2]", "f32[2]", NULL },
    { "first=1 asymmetric=1", "f32[2][3]={0,0,0,-1.5,4,0.25}", "f32[2]", NULL },
    { "", "f32[2][3]={0,0,0,-1.5,4,0.25}", "f32[2]", NULL },
    { "asymmetric=2", "f32[2][3][2]", "f32[2]", NULL },
    { "first=1 asymmetric=2", "f32[2][3]={0,0,0,-1.5,4,0.25}", "f32[2]", NULL },
    { "asymmetric=3", "f32[2][5]", NULL, "'asymmetric' is 3; use 0, 1 or 2" },
    { "first=2", "f32[2][5]", NULL, "'first' is 2 for 2 dimensions; use 0 to 1" },
    { "", "i8[2][5]", NULL, "use f32" },
    { 0 }
};

const Op ops_dynamic[] = {
    { .name = "dynamic_grid",
      .summary = "the 8-bit scale for the range of each sample, its inverse, and a zero point", .level = 11,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = attrs, .meaning.compute = dynamic_grid,
      .fusion.pattern = PATTERN_OPAQUE, .cases = cases },
    { 0 }
};
