/* SPDX-License-Identifier: MIT */
/* The grid of floats that are rounded to 8 bits at run time, one for each sample (the elements from the dimension
 * `first` on), as the reference kernels of TensorFlow Lite compute it for dynamic range:
 *
 *   symmetric     scale = r / 127, r = max |x|
 *   asymmetric    scale = (high - low) / 255, low = min(x, 0), high = max(x, 0), and a zero point in -128..127
 *
 * Outputs are the scale, its inverse and, where it is asymmetric, the zero point. The zero point comes from the end of
 * the range whose error is smaller, in f64. It is a node of its own, because its consumers would compute it for each
 * element. */
#include "ops/integer/dynamic.h"
#include "support/text.h"

int dynamic_grid_formulas(Formulas *f, bool is_asymmetric, Tensor *out[DYNAMIC_OUTPUTS])
{
    static const char *const symmetric[] = {
        "range[rows] = max(chosen) abs(of)",
        "scale[rows] = range[row] / 127.0",
        "inverse[rows] = select(range[row] == 0.0, 0.0, 127.0 / range[row])",
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
    };
    enum { SYMMETRIC = sizeof symmetric / sizeof symmetric[0], ASYMMETRIC = sizeof asymmetric / sizeof asymmetric[0] };
    const int count = is_asymmetric ? ASYMMETRIC : SYMMETRIC, outputs = is_asymmetric ? DYNAMIC_OUTPUTS : 2;
    for (int i = 0; i < count; i++) {
        Tensor *t = formulas_compute(f, is_asymmetric ? asymmetric[i] : symmetric[i]);
        if (i >= count - outputs) out[i - (count - outputs)] = t;
    }
    return outputs;
}

static int dynamic_grid(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const int64_t first = node_int(n, "first", 1);
    bool chosen[MAX_RANK] = { false };
    if (x->type != F32) op_refuse(cx, n, "the input is %s; f32 is expected", dtype_info(x->type)->spelling);
    else if (first < 0 || first >= x->rank)
        op_refuse(cx, n, "'first' is %lld for %d dimensions; 0 to %d is expected", (long long)first, x->rank,
                  x->rank - 1);
    if (ctx_failed(cx)) return 0;
    for (int d = (int)first; d < x->rank; d++) chosen[d] = true;
    const AxisText a = axis_text(cx, x->rank, chosen);
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_phrase(&f, "rows", a.kept);
    formulas_phrase(&f, "row", a.kept);
    formulas_phrase(&f, "chosen", a.chosen);
    formulas_phrase(&f, "of", text_format(cx, "x[%s]", a.all));
    const int outputs = dynamic_grid_formulas(&f, node_int(n, "asymmetric", 0) != 0, out);
    return ctx_failed(cx) ? 0 : outputs;
}

static const AttrRow attrs[] = {
    { "first",      ATTR_INT, "the first dimension of a sample", "1" },
    { "asymmetric", ATTR_INT, "1: with a zero point", "0" },
    { 0 }
};

static const OpCase cases[] = {
    { "", "f32[2][5]", "f32[2]", NULL },
    { "first=0 asymmetric=1", "f32[7]", "f32", NULL },
    { "asymmetric=1", "f32[2][3][2]", "f32[2]", NULL },
    { "first=1 asymmetric=1", "f32[2][3]={0,0,0,-1.5,4,0.25}", "f32[2]", NULL },
    { "", "f32[2][3]={0,0,0,-1.5,4,0.25}", "f32[2]", NULL },
    { "first=2", "f32[2][5]", NULL, "'first' is 2 for 2 dimensions; 0 to 1 is expected" },
    { "", "i8[2][5]", NULL, "f32 is expected" },
    { 0 }
};

const Op ops_dynamic[] = {
    { .name = "dynamic_grid",
      .summary = "the scale of 8 bits for the range of each sample, its inverse, and a zero point", .level = 11,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .attr = attrs, .meaning.compute = dynamic_grid,
      .fusion.pattern = PATTERN_OPAQUE, .cases = cases },
    { 0 }
};
