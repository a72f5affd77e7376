/* SPDX-License-Identifier: MIT */
/* Convolutions and dense layers of 8 bits as dot products of rows (ops/packed.c), on instructions that multiply and add
 * several elements at once.
 *
 *   for tiles of two pixels:
 *       patch = their windows, each a row          widened to i16 where the instruction wants pairs of these
 *       for tiles of two channels:
 *           acc[2][2] = b                          LW_DOT_2X2: the whole rows at once, accumulators in registers
 *           acc += patch . weights
 *           y = tail(acc)
 *
 * A single pixel takes up to four channels at a time. The tile of pixels lies along the axis that it divides best; the last
 * tile begins earlier where it does not. The portable form of every instruction is in runtime/simd/rows.h. */
#include "schedules/tile.h"

#include <string.h>

#include "support/text.h"

static bool has_feature(const Target *t, const char *word)
{
    const char *at = t->features ? strstr(t->features, word) : NULL;
    return at != NULL;
}

/* Pairs of i16 are what the instructions of the target multiply. */
static bool wants_pairs(const Target *t) { return has_feature(t, "dsp") && !has_feature(t, "mve"); }

/* ---- Packed weights ---------------------------------------------------------------------------------------------- */

/* Weights [e][o] as [o][e], or in fours with the middle two exchanged. */
static Tensor *pack_weights(Ctx *cx, const Tensor *k, int64_t length, int64_t outs, bool is_wide)
{
    static const int place[] = { 0, 2, 1, 3 };
    int64_t fours = (length + 3) / 4, wide[] = { outs, fours, 2, 2 }, plain[] = { outs, length };
    int8_t *to = NEW_ARRAY(cx->arena, int8_t, outs * fours * 4);
    const int8_t *from = k->data;
    for (int64_t o = 0; o < outs; o++)
        for (int64_t e = 0; e < length; e++)
            to[is_wide ? (o * fours + e / 4) * 4 + place[e % 4] : o * length + e] = from[e * outs + o];
    return tensor_constant(cx, k->name, I8, is_wide ? 4 : 2, is_wide ? wide : plain, to);
}

/* b[o] = -zero * sum of o's weights */
static Tensor *first_values(Ctx *cx, const Tensor *k, int64_t length, int64_t outs, int64_t zero)
{
    uint32_t *b = NEW_ARRAY(cx->arena, uint32_t, outs);
    const int8_t *from = k->data;
    for (int64_t i = 0; i < length * outs; i++) b[i % outs] -= (uint32_t)zero * (uint32_t)from[i];
    return tensor_constant(cx, "b", I32, 1, &outs, b);
}

static const char *window_attrs(Ctx *cx, const Node *n)
{
    int64_t stride[2] = { 1, 1 }, dilation[2] = { 1, 1 }, pad[4] = { 0 };
    const char *attrs[] = { "stride", "dilation", "pad" };
    int64_t *value[] = { stride, dilation, pad };
    for (int i = 0; i < 3; i++) {
        const Attr *a = node_attr(n, attrs[i]);
        for (int d = 0; a && d < (i == 2 ? 4 : 2); d++) value[i][d] = a->ints[a->count == 1 ? 0 : d];
    }
    return text_format(cx, "kernel=%lld,%lld stride=%s dilation=%s pad=%s", (long long)tensor_dim(n->in[1], 0), (long long)tensor_dim(n->in[1], 1),
                       text_format(cx, "%lld,%lld", (long long)stride[0], (long long)stride[1]),
                       text_format(cx, "%lld,%lld", (long long)dilation[0], (long long)dilation[1]),
                       text_format(cx, "%lld,%lld,%lld,%lld", (long long)pad[0], (long long)pad[1], (long long)pad[2], (long long)pad[3]));
}

static Tensor *alter_product(Ctx *cx, const Target *t, const Node *n, const Uses *uses)
{
    (void)uses;
    Tensor *x = n->in[0], *k = n->in[1];
    bool is_conv = strcmp(n->op->name, "conv2d") == 0;
    if (x->type != I8 || !tensor_is_constant(k) || !tensor_is_fixed(x) || node_int(n, "groups", 1) != 1 || node_int(n, "zero_w", 0)) return NULL;
    int64_t zero = node_int(n, "zero", 0), outs = tensor_dim(k, k->rank - 1), length = tensor_elems(k) / outs;
    Tensor *in[] = { x, pack_weights(cx, k, length, outs, wants_pairs(t)), first_values(cx, k, length, outs, zero) };
    if (is_conv) return call(cx, "packed_conv2d", n->name, in, 3, "%s fill=%lld", window_attrs(cx, n), (long long)zero);
    return call(cx, "packed_dense", n->name, in, 3, "");
}

/* A bias behind the product goes into its first values. */
static Tensor *alter_bias(Ctx *cx, const Target *t, const Node *n, const Uses *uses)
{
    (void)t;
    Node *product = n->in[0]->maker;
    const Tensor *bias = n->in[1];
    bool is_product = product && product->kind == NODE_CALL && strncmp(product->op->name, "packed_", 7) == 0 && uses_of(uses, n->in[0]) == 1;
    if (!is_product || !tensor_is_constant(bias) || bias->rank > n->in[0]->rank) return NULL;
    Tensor *b = product->in[2];
    int64_t outs = tensor_elems(b);
    if (tensor_elems(bias) != outs || tensor_dim(bias, bias->rank - 1) != outs) return NULL;
    uint32_t *sum = NEW_ARRAY(cx->arena, uint32_t, outs);
    for (int64_t o = 0; o < outs; o++) sum[o] = (uint32_t)((const int32_t *)b->data)[o] + (uint32_t)((const int32_t *)bias->data)[o];
    Tensor *in[] = { product->in[0], product->in[1], tensor_constant(cx, bias->name, I32, 1, &outs, sum) };
    Node *now = op_call(cx, product->op, product->name, in, 3, product->attr, product->attr_count);
    return now ? now->out[0] : NULL;
}

/* ---- The schedule ------------------------------------------------------------------------------------------------ */

typedef struct Tiles { const Stage *out; int row, last; int64_t w, o; const char *at_pixels, *at_channels; } Tiles;

static const Stage *product_stage(const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i]->reducer == REDUCE_SUM) return n->stage[i];
    return NULL;
}

static const Stage *patch_stage(Ctx *cx, const Nest *n, const Stage *acc)
{
    const Tensor **reads;
    int count = stage_reads(cx, acc, &reads);
    for (int i = 0; i < count; i++)
        for (int s = 0; s < n->stage_count; s++)
            if (n->stage[s]->out[0] == reads[i]) return n->stage[s];
    return NULL;
}

/* The result of the product has the shape of the group's output, and nothing else is reduced. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    const Stage *acc = product_stage(g->nest), *out = output_stage(g->nest);
    int sums = 0;
    for (int i = 0; i < g->nest->stage_count; i++) sums += g->nest->stage[i]->reducer != REDUCE_NONE;
    if (!acc || sums != 1 || g->nest->output_count != 1 || out->data_count != acc->data_count || !patch_stage(cx, g->nest, acc)) return false;
    for (int d = 0; d < acc->data_count; d++)
        if (axis_extent(acc, d) != axis_extent(out, d)) return false;
    return true;
}

/* Two pixels along the axis with the least waste, the later one if it is all the same; two channels, or, for one pixel, four. */
static Tiles tiles_of(const Stage *out)
{
    Tiles t = { .out = out, .row = -1, .last = out->data_count - 1, .w = 1, .o = 1 };
    int64_t best = INT64_MAX, outs = axis_extent(out, t.last);
    for (int a = t.last - 1; a >= 0; a--) {
        int64_t extent = axis_extent(out, a), waste = extent % 2 ? 1000000 / extent : 0;
        if (extent < 2 || waste >= best) continue;
        best = waste;
        t.row = a;
        t.w = 2;
    }
    for (int64_t o = t.w == 1 ? 4 : 2; o > t.o; o /= 2)
        if (outs % o == 0) t.o = o;
    return t;
}

static const Nest *split_tiles(Ctx *cx, const Nest *n, Tiles *t)
{
    const char *order[MAX_AXES], *c = loop_name(cx, t->out, t->last), *w = t->row >= 0 ? loop_name(cx, t->out, t->row) : NULL;
    int count = 0;
    Path found;
    bool cut_w = w && axis_extent(t->out, t->row) > t->w, cut_c = axis_extent(t->out, t->last) > t->o;
    for (int a = 0; a < t->last; a++)
        if (a != t->row && nest_find_loop(n, loop_name(cx, t->out, a), &found)) order[count++] = loop_name(cx, t->out, a);
    if (cut_w) n = sched_split(cx, n, w, t->w, axis_extent(t->out, t->row) % t->w ? TAIL_SHIFT : TAIL_GUARD, NULL, NULL);
    if (cut_c) n = sched_split(cx, n, c, t->o, TAIL_GUARD, NULL, NULL);
    if (cut_w) order[count++] = text_format(cx, "%so", w);
    t->at_pixels = count ? order[count - 1] : NULL;
    if (cut_c) order[count++] = text_format(cx, "%so", c);
    t->at_channels = count ? order[count - 1] : NULL;
    if (w) order[count++] = cut_w ? text_format(cx, "%si", w) : w;
    if (nest_find_loop(n, c, &found) || cut_c) order[count++] = cut_c ? text_format(cx, "%si", c) : c;
    return count > 1 ? sched_reorder(cx, n, order, count, false) : n;
}

static const Nest *unroll_if_found(Ctx *cx, const Nest *n, const char *loop)
{
    Path p;
    return !ctx_failed(cx) && nest_find_loop(n, loop, &p) ? sched_unroll(cx, n, loop) : n;
}

static const Nest *unroll_tile(Ctx *cx, const Nest *n, const char *acc, const Tiles *t)
{
    for (int i = 0; i < 2; i++) {
        int a = i ? t->row : t->last;
        if (a < 0) continue;
        const char *axis = expr_as_var(nest_stage(n, acc)->axis[a].var)->name, *out = loop_name(cx, t->out, a);
        bool is_cut = axis_extent(t->out, a) > (i ? t->w : t->o);
        n = unroll_if_found(cx, n, is_cut ? text_format(cx, "%si", out) : out);
        n = unroll_if_found(cx, n, text_format(cx, "%s@init.%s", acc, axis));
    }
    return n;
}

/* The instruction for this tile, declared for the length of its rows. */
static const char *declare_dot(Ctx *cx, const Nest **n, const Stage *acc, const Tiles *t)
{
    bool is_wide = acc->axis_count - acc->data_count == 3;
    long long w = (long long)t->w, o = (long long)t->o, length = (long long)axis_extent(acc, acc->data_count);
    const char *macro = text_format(cx, "LW_DOT_%lldX%lld_%s", w, o, is_wide ? "I16" : "I8");
    if (length < 2) return NULL;
    *n = sched_instruction(cx, *n, is_wide
        ? text_format(cx, "%s[%lld](a: i16[%lld][%lld][2][2], b: i8[%lld][%lld][2][2]) c[w<%lld,o<%lld] = sum(q<%lld,s<2,t<2) i32(a[w,q,s,t]) * i32(b[o,q,t,s])",
                      macro, length, w, length, o, length, w, o, length)
        : text_format(cx, "%s[%lld](a: i8[%lld][%lld], b: i8[%lld][%lld]) c[w<%lld,o<%lld] = sum(e<%lld) i32(a[w,e]) * i32(b[o,e])", macro, length, w, length, o,
                      length, w, o, length), NULL);
    return macro;
}

static const Nest *make_dot(Ctx *cx, const Nest *n, const char *acc, const Tiles *t)
{
    const Stage *s = nest_stage(n, acc);
    const char *order[MAX_AXES], *macro;
    int count = 0;
    Path found;
    for (int turn = 0; turn < 2; turn++)
        for (int a = turn ? 0 : s->data_count; a < (turn ? s->data_count : s->axis_count); a++)
            if (nest_find_loop(n, loop_name(cx, s, a), &found)) order[count++] = loop_name(cx, s, a);
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    n = sched_decompose_reduction(cx, n, acc, order[0]);
    macro = ctx_failed(cx) ? NULL : declare_dot(cx, &n, nest_stage(n, acc), t);
    return macro ? sched_tensorize(cx, n, order[0], macro) : n;
}

/* ---- Patches ----------------------------------------------------------------------------------------------------- */

/* What fills a run of a patch: a plain or widened copy, under a condition where windows leave x. */
static const char *declare_fetch(Ctx *cx, const Nest **n, const Node *anchor, const Stage *patch, long long run)
{
    const char *type = patch->out[0]->type == I16 ? "I16" : "I8", *cast = patch->out[0]->type == I16 ? "i16" : "";
    bool leaves = patch->value[0]->kind == EXPR_SELECT || patch->value[0]->arg[0]->kind == EXPR_SELECT;
    const char *macro = text_format(cx, "LW_%s_%s", leaves ? "FETCH" : "COPY", type);
    long long fill = (long long)node_int(anchor, "fill", 0);
    *n = sched_instruction(cx, *n, leaves
        ? text_format(cx, "%s[%lld,%lld](p: bool, a: i8[%lld]) y[e<%lld] = %s(select(p, a[e], %lld))", macro, run, fill, run, run, cast, fill)
        : text_format(cx, "%s[%lld](a: i8[%lld]) y[e<%lld] = %s(a[e])", macro, run, run, run, cast), NULL);
    return macro;
}

/* The patch's elements as loops over the window's rows, columns and channels; the channels of one pixel are one copy. */
static const Nest *make_patch(Ctx *cx, const Nest *n, const GroupNest *g, const char *patch)
{
    enum { SHORTEST = 4 };
    const Stage *s = nest_stage(n, patch);
    const Node *anchor = g->group->anchor;
    int64_t length = axis_extent(s, s->data_count - 1), channels = tensor_dim(anchor->in[0], anchor->in[0]->rank - 1), run = length, kernel[2] = { 1, 1 };
    const char *e = loop_name(cx, s, s->data_count - 1);
    node_ints(anchor, "kernel", kernel, 2, 1);
    if (kernel[0] * kernel[1] > 1) {
        run = channels;
        n = sched_split(cx, n, e, run, TAIL_GUARD, "tap", "c");
        n = sched_split(cx, n, text_format(cx, "%s.tap", patch), kernel[1], TAIL_GUARD, "i", "j");
        e = text_format(cx, "%s.c", patch);
    }
    if (length % run || run < SHORTEST || run != channels || length != kernel[0] * kernel[1] * run || ctx_failed(cx)) return n;   /* filled up: plain loops */
    /* What is computed while it is fetched (another sign of the bytes, another order of the image) takes plain loops, too. */
    const DiagMark before = diag_mark(cx);
    const Nest *fetched = n;
    const char *macro = declare_fetch(cx, &fetched, anchor, s, (long long)run);
    fetched = sched_tensorize(cx, fetched, e, macro);
    if (!ctx_failed(cx)) return fetched;
    diag_rewind(cx, before);
    return n;
}

/* The window is one pixel, or the call a dense layer: what a patch would hold lies in x as a row already. */
static bool lies_in_rows(const Node *anchor)
{
    int64_t kernel[2];
    return !node_ints(anchor, "kernel", kernel, 2, 1) || kernel[0] * kernel[1] == 1;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const char *acc = product_stage(g->nest)->name, *patch = patch_stage(cx, g->nest, product_stage(g->nest))->name;
    const Nest *n = inline_elementwise(cx, g->nest, patch);
    if (makes_output(n, nest_stage(n, acc))) {
        n = sched_cache_write(cx, n, acc, "acc", SCOPE_REGISTER);
        acc = "acc";
    }
    if (ctx_failed(cx)) return n;
    bool is_direct = nest_stage(n, patch)->value[0]->kind == EXPR_READ && lies_in_rows(g->group->anchor);
    if (is_direct) n = sched_compute_inline(cx, n, patch);
    if (ctx_failed(cx)) return n;
    Tiles t = tiles_of(output_stage(n));
    n = split_tiles(cx, n, &t);
    if (t.at_channels) n = sched_compute_at(cx, n, acc, t.at_channels);
    if (t.at_pixels && !is_direct) n = sched_compute_at(cx, n, patch, t.at_pixels);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    if (!ctx_failed(cx) && !is_direct) n = make_patch(cx, n, g, patch);
    if (!ctx_failed(cx)) n = make_dot(cx, n, acc, &t);
    return ctx_failed(cx) ? n : unroll_tile(cx, n, acc, &t);
}

/* A core with 13 registers and no instruction for it gains by a patch, whose borders cost the loops nothing, but not by rows
 * that lie there anyway. */
static bool applies_to_patches(Ctx *cx, const GroupNest *g) { return !lies_in_rows(g->group->anchor) && applies(cx, g); }

#define DOT(its_target, its_ops, when) \
    { .name = "rows.dot", .target = its_target, .plevel = 12, .ops = its_ops, \
      .what = "two pixels by two channels over whole rows, windows gathered in a patch", .applies = when, .schedule = schedule }

const Implementation implementations_arm_rows[] = {
    { .name = "rows.pack", .target = "arm", .ops = "conv2d dense", .what = "products of 8 bits over weights in reading order", .alter = alter_product },
    { .name = "rows.bias", .target = "arm", .ops = "add", .what = "a bias begins the sum", .alter = alter_bias },
    DOT("arm", "packed_conv2d", applies),
    DOT("cortex-m3", "packed_conv2d", applies_to_patches),
    DOT("arm-dsp", "packed_conv2d packed_dense", applies),
    { 0 }
};
