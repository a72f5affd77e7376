/* SPDX-License-Identifier: MIT */
/* Weights stored in panels: tiles of B output channels, each contiguous over the reduction, so that a register tile of
 * B channels reads one stream.
 *
 *   y[..,o] = x[o/B,..,o%B]        x: [O/B][..][B]   y: [..][O] */
#include "graph/dag/op_build.h"

static int from_panels(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    if (x->rank < 2 || !tensor_is_fixed(x)) {
        op_refuse(cx, n, "the input is %s; use fixed sizes and a rank of at least 2", tensor_shape_text(cx, x));
        return 0;
    }
    Text inner = text_new(cx);
    for (int d = 1; d + 1 < x->rank; d++) text_printf(&inner, "%s%c", d > 1 ? "," : "", 'a' + d - 1);
    const int64_t block = tensor_dim(x, x->rank - 1);
    const char *text = OP_TEXT(cx, "y[inner,o<outs] = x[o/block,inner,o%block]", { "inner", text_string(&inner) },
                               { "outs", op_number(cx, tensor_dim(x, 0) * block) }, { "block", op_number(cx, block) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

static const OpCase from_panels_cases[] = {
    { "", "f32[3][2][4]", "f32[2][12]", NULL },
    { "", "f32[2][3][2][5][8]", "f32[3][2][5][16]", NULL },
    { "", "f32[3][4]", "f32[12]", NULL },
    { "", "f32[4]", NULL, "a rank of at least 2" },
    { 0 }
};

const Op ops_panels[] = {
    { .name = "from_panels", .summary = "y[..,o] = x[o/B,..,o%B]: weights that are stored in panels of B channels",
      .level = 11, .least_inputs = 1, .most_inputs = 1, .inputs = "x", .meaning.compute = from_panels,
      .fusion.pattern = PATTERN_INJECTIVE, .layout.unpacks = true, .cases = from_panels_cases },
    { 0 }
};
