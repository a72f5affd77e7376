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
#include "graph/dag/op_build.h"

static int dynamic_grid(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const symmetric[] = {
        "r[kept] = max(chosen) abs(x[all])",
        "scale[kept] = r[kept] / 127.0",
        "inverse[kept] = select(r[kept] == 0.0, 0.0, 127.0 / r[kept])",
    };
    static const char *const asymmetric[] = {
        "least[kept] = min(chosen) x[all]",
        "greatest[kept] = max(chosen) x[all]",
        "low[kept] = min(least[kept], 0.0)",
        "high[kept] = max(greatest[kept], 0.0)",
        "span[kept] = select(high[kept] == low[kept], 255.0, high[kept] - low[kept])",
        "below[kept] = f64(low[kept]) / (f64(span[kept]) / 255.0)",
        "above[kept] = f64(high[kept]) / (f64(span[kept]) / 255.0)",
        "scale[kept] = span[kept] / 255.0",
        "inverse[kept] = 1.0 / scale[kept]",
        "zero[kept] = f32(round(min(max(select(abs(below[kept]) + 128.0 < abs(above[kept]) + 127.0, "
        "-128.0 - below[kept], 127.0 - above[kept]), -128.0), 127.0)))",
    };
    enum { SYMMETRIC = sizeof symmetric / sizeof symmetric[0], ASYMMETRIC = sizeof asymmetric / sizeof asymmetric[0] };
    const Tensor *x = n->in[0];
    const int64_t first = node_int(n, "first", 1);
    const bool has_zero = node_int(n, "asymmetric", 0) != 0;
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
    formulas_phrase(&f, "all", a.all);
    formulas_phrase(&f, "kept", a.kept);
    formulas_phrase(&f, "chosen", a.chosen);
    const int count = has_zero ? ASYMMETRIC : SYMMETRIC, outputs = has_zero ? 3 : 2;
    for (int i = 0; i < count; i++) {
        Tensor *t = formulas_compute(&f, has_zero ? asymmetric[i] : symmetric[i]);
        if (i >= count - outputs) out[i - (count - outputs)] = t;
    }
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
