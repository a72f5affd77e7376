/* SPDX-License-Identifier: MIT */
/* Defines deformable convolution (Dai et al. 2017; with a mask: Zhu et al. 2019); channels are last. Data offsets move
 * each tap from its position on the grid. The tap interpolates between four pixels of x, which are 0 outside the image.
 * K = kh*kw taps; the C channels are D groups, each with its own offsets.
 *
 *   at[n,h,w,e,a]    = h*sh + i*dh - ph + offset[n,h,w,2e]        vertically, a = 0; likewise with w for a = 1;
 *                                                                 e = (d*kh + i)*kw + j
 *   patch[n,h,w,t,c] = mask * sum(p<2,q<2) x[n, low_0 + p, low_1 + q, c] * part_0[p] * part_1[q]
 *                                                                 at e = c/(C/D)*K + t
 *   y[n,h,w,o]       = sum(t,c) patch[n,h,w,t,c] * k[t/kw,t%kw,c,o]      over the channels c of o's group */
#include "graph/dag/op_build.h"

typedef struct Deform {
    Ctx *cx;
    const Node *n;
    /* each: number of channels of x in a group; sharing: number of groups of offsets */
    int64_t kh, kw, in, out, each, groups, sharing;
    Sliding w;
} Deform;

static bool has_shape(const Deform *d, const Tensor *t, int64_t last)
{
    return t->rank == 4 && t->shape[0] == d->n->in[0]->shape[0] && tensor_dim(t, 1) == d->w.count[0]
           && tensor_dim(t, 2) == d->w.count[1] && tensor_dim(t, 3) == last;
}

static bool read_sizes(Deform *d)
{
    const Tensor *x = d->n->in[0], *k = d->n->in[1];
    if (!op_same_type(d->cx, d->n) || !op_float(d->cx, d->n)) return false;
    for (int i = 0; i < 2; i++)
        if (!op_holds(d->cx, d->n, d->n->in[i]->rank == 4 && tensor_elems(d->n->in[i]) >= 1,
                        "the %s is %s; use fixed sizes above 0, %s", i ? "kernel" : "input",
                        tensor_shape_text(d->cx, d->n->in[i]), i ? "[kh][kw][c][o]" : "[n][h][w][c]"))
            return false;
    d->kh = tensor_dim(k, 0), d->kw = tensor_dim(k, 1), d->each = tensor_dim(k, 2), d->out = tensor_dim(k, 3),
    d->in = tensor_dim(x, 3);
    d->groups = node_int(d->n, "groups", 1), d->sharing = node_int(d->n, "offset_groups", 1);
    const bool divides = d->groups >= 1 && d->in % d->groups == 0 && d->out % d->groups == 0;
    if (!op_holds(d->cx, d->n, divides, "'groups' is %lld; use a divisor of the %lld input and the %lld output "
                    "channels", (long long)d->groups, (long long)d->in, (long long)d->out)
        || !op_holds(d->cx, d->n, d->sharing >= 1 && d->in % d->sharing == 0,
                       "'offset_groups' is %lld; use a divisor of the input's %lld channels", (long long)d->sharing,
                       (long long)d->in)
        || !op_holds(d->cx, d->n, d->each * d->groups == d->in, "the kernel is %s; use %lld input channels per group",
                       tensor_shape_text(d->cx, k), (long long)(d->in / d->groups)))
        return false;
    d->w = (Sliding){ .spatial = 2, .size = { tensor_dim(x, 1), tensor_dim(x, 2) }, .kernel = { d->kh, d->kw } };
    return op_sliding(d->cx, d->n, &d->w);
}

static bool check_offsets(Deform *d)
{
    const Tensor *offset = d->n->in[2], *mask = d->n->in_count > 3 ? d->n->in[3] : NULL;
    const int64_t taps = d->kh * d->kw * d->sharing;
    if (d->w.count[0] >= 1 && d->w.count[1] >= 1 && has_shape(d, offset, 2 * taps)
        && (!mask || has_shape(d, mask, taps)))
        return true;
    op_refuse(d->cx, d->n,
              "the offsets are %s%s%s; use [n][%lld][%lld][%lld], and a mask with half as many channels",
              tensor_shape_text(d->cx, offset), mask ? " and mask " : "", mask ? tensor_shape_text(d->cx, mask) : "",
              (long long)d->w.count[0], (long long)d->w.count[1], (long long)(2 * taps));
    return false;
}

/* Samples along one dimension. low: the pixel at or before the position that a tap reads, clamped to the image and one
 * pixel around it. part: the weights of the pixels low and low + 1. */
typedef struct SampleAxis { Tensor *low, *part; } SampleAxis;

static SampleAxis line_of(Deform *d, int i)
{
    Ctx *cx = d->cx;
    const Phrase words[] = {
        { "kh", op_number(cx, d->kh) }, { "kw", op_number(cx, d->kw) }, { "stride", op_number(cx, d->w.stride[i]) },
        { "dilation", op_number(cx, d->w.dilation[i]) }, { "pad", op_number(cx, d->w.pad[i]) },
        { "taps", op_number(cx, d->kh * d->kw * d->sharing) }, { "size", op_number(cx, d->w.size[i]) },
        { "type", dtype_info(d->n->in[0]->type)->spelling }, { "axis", i ? "w" : "h" },
        { "tap", i ? "e%kw" : "e/kw%kh" }, { "dimension", i ? "1" : "0" }, { "positions", i ? "at1" : "at0" },
        { "lows", i ? "low1" : "low0" }, { "parts", i ? "part1" : "part0" },
        { "fraction", "at[n,h,w,e] - floor(at[n,h,w,e])" }, { NULL, NULL }
    };
    const char *position = "positions[n,h,w,e<taps] = type(axis*stride + tap*dilation - pad) "
                           "+ offset[n,h,w,2*e+dimension]";
    Tensor *at = OP_FORMULA(cx, d->n, op_text(cx, position, words), BIND_T("offset", d->n->in[2]));
    Tensor *low = OP_FORMULA(cx, d->n, op_text(cx, "lows[*] = max(-2, min(size, i32(floor(at[*]))))", words),
                             BIND_T("at", at));
    Tensor *part = OP_FORMULA(cx, d->n,
                              op_text(cx, "parts[n,h,w,e,p<2] = select(p == 0, 1 - (fraction), fraction)", words),
                              BIND_T("at", at));
    return (SampleAxis){ low, part };
}

static int deform_conv2d(Ctx *cx, const Node *n, Tensor **out)
{
    Deform d = { .cx = cx, .n = n };
    if (!read_sizes(&d) || !check_offsets(&d)) return 0;
    const SampleAxis down = line_of(&d, 0), right = line_of(&d, 1);
    Tensor *mask = n->in_count > 3 ? n->in[3] : NULL;
    const Phrase words[] = {
        { "shared", op_number(cx, d.in / d.sharing) }, { "taps", op_number(cx, d.kh * d.kw) },
        { "e", "c/shared*taps+t" }, { "kw", op_number(cx, d.kw) }, { "outs", op_number(cx, d.out / d.groups) },
        { "each", op_number(cx, d.each) }, { "own", d.groups == 1 ? "c" : "o/outs*each+c" }, { NULL, NULL }
    };
    const char *sampled = "patch[n,h,w,t<taps,c] = sum(p<2,q<2) (x[n,top[n,h,w,e]+p,left[n,h,w,e]+q,c]? * "
                          "down[n,h,w,e,p] * right[n,h,w,e,q] : 0)";
    Tensor *patch = OP_FORMULA(cx, n, op_text(cx, sampled, words), BIND_T("x", n->in[0]), BIND_T("top", down.low),
                               BIND_T("left", right.low), BIND_T("down", down.part), BIND_T("right", right.part));
    if (mask)
        patch = OP_FORMULA(cx, n, op_text(cx, "masked[n,h,w,t,c] = patch[n,h,w,t,c] * mask[n,h,w,e]", words),
                           BIND_T("patch", patch), BIND_T("mask", mask));
    out[0] = OP_FORMULA(cx, n, op_text(cx, "y[n,h,w,o] = sum(t,c) patch[n,h,w,t,own] * k[t/kw,t%kw,c,o]", words),
                        BIND_T("patch", patch), BIND_T("k", n->in[1]));
    return out[0] ? 1 : 0;
}

static const AttrRow deform_attrs[] = {
    { "stride",   ATTR_INTS, "distance of adjacent windows, vertically and horizontally, or one for both", NULL },
    { "dilation", ATTR_INTS, "distance of adjacent taps, likewise", NULL },
    { "pad",      ATTR_INTS, "zeros: rows above, columns before, rows below, columns after", NULL },
    { "groups",   ATTR_INT,  "number of independent groups of channels", "1" },
    { "offset_groups", ATTR_INT, "number of groups of the input's channels with separate offsets", "1" },
    { 0 }
};
static const OpCase deform_cases[] = {
    { "",
      "f32[1][3][3][1] f32[2][2][1][1] f32[1][2][2][8]={0.5,-0.1,0,0,0,0,0,0, 0,1,0,0,0,0,0,0, 0,0,9,9,0,0,0,0, "
      "0,0,0,0,0,0,0,-0.75}",
      "f32[1][2][2][1]", NULL },
    { "stride=2,1 pad=1,0,1,2 dilation=1,2 groups=2 offset_groups=2",
      "f32[2][5][5][4] f32[3][2][2][6] f32[2][3][5][24] f32[2][3][5][12]", "f32[2][3][5][6]", NULL },
    { "", "f64[1][3][4][2] f64[3][3][2][3] f64[1][1][2][18]", "f64[1][1][2][3]", NULL },
    { "", "f32[1][3][3][1] f32[2][2][1][1] f32[1][2][2][4]", NULL, "[n][2][2][8]" },
    { "offset_groups=2", "f32[1][3][3][1] f32[2][2][1][1] f32[1][2][2][16]", NULL,
      "'offset_groups' is 2; use a divisor of the input's 1 channels" },
    { "", "f32[3][3][1] f32[2][2][1][1] f32[1][2][2][8]", NULL, "the input is [3][3][1]; use fixed sizes above 0" },
    { 0 }
};

const Op ops_deform[] = {
    { .name = "deform_conv2d",
      .summary = "y[n,h,w,o] = sum(i,j,c) x[n, h*sh+i*dh-ph + offset, w*sw+j*dw-pw + offset, c] * mask * "
                 "k[i,j,c,o], between pixels",
      .level = 5, .least_inputs = 3, .most_inputs = 4, .inputs = "x k offset mask", .attr = deform_attrs,
      .meaning.compute = deform_conv2d, .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = deform_cases },
    { 0 }
};
