/* SPDX-License-Identifier: MIT */
/* Schedules float convolutions and products on targets with vector registers, one reduction with an elementwise
 * epilogue:
 *
 *   for the panels of c (weights in panels), or for the output's outer axes
 *     for the output's other axes and tiles of w positions
 *       acc[w][c] = 0                                   vector variables
 *       for the reduce axes: acc[w][c] += x[w] * k[c]   positions unrolled, channels in vectors
 *       for the tile: y = epilogue(acc[w][c])
 *
 * The panel loop is outermost, so a panel is read from the nearest cache for all positions. Without panels, this loop
 * is inside the loop over rows, and the rows stay in the cache instead. The reduce axes keep their order, so floats are
 * exact. The last tile of positions is moved back where w does not divide them: it computes some sums twice, which
 * costs less than a tail.
 *
 * A convolution without padding has one axis of positions instead of rows and columns, so tiles cross the rows. */
#include "graph/dag/op_build.h"
#include "schedules/panel.h"
#include "schedules/product.h"

/* SECOND_CACHE: bytes of the second cache. FETCHED_BY_TILE: smallest number of bytes of the next panel that a tile
 * fetches. FETCHED_AT_ONCE: bytes that may be on the way from memory at once. */
enum { SECOND_CACHE = 512 << 10, FETCHED_BY_TILE = 128, FETCHED_AT_ONCE = 1536 };

/* The loops to tile: `row` (NULL if there is none) over positions, and `last` over channels. */
typedef struct Tiles {
    const Stage *out;
    const char *row, *last, *outer[MAX_AXES];
    int outer_count;
    bool has_panels, is_joined;
    VectorTile tile;
    int64_t positions, outs;
} Tiles;

/* Returns the nest's weights as panels, or NULL if they are stored otherwise. */
static const Tensor *panels_of(const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++) {
        const Node *call = n->stage[i]->call;
        if (call && call->op->layout.unpacks) return call->in[0];
    }
    return NULL;
}

static int64_t width_of(const Tensor *panels) { return panels ? tensor_dim(panels, panels->rank - 1) : 0; }

static int reductions_of(const Nest *n)
{
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) count += n->stage[i]->reducer != REDUCE_NONE;
    return count;
}

/* Returns the number of products of a sum. */
static int64_t depth_of(const Stage *s)
{
    int64_t depth = 1;
    for (int a = s->data_count; a < s->axis_count; a++) depth *= axis_extent(s, a) > 0 ? axis_extent(s, a) : 1;
    return depth;
}

static bool is_float(const Stage *s) { return s->out_count == 1 && s->out[0]->type == F32; }

static bool applies(Ctx *cx, const GroupNest *g)
{
    const Stage *acc = product_stage(g->nest), *out = output_stage(g->nest);
    const Tensor **reads;
    if (!has_vectors(g->target) || !acc || !is_float(acc) || reductions_of(g->nest) != 1 || g->nest->output_count != 1
        || out->data_count < 1 || acc->data_count != out->data_count || stage_reads(cx, acc, &reads) < 2)
        return false;
    for (int d = 0; d < acc->data_count; d++)
        if (axis_extent(acc, d) < 0 || axis_extent(acc, d) != axis_extent(out, d)) return false;
    return vector_tile(g->target, 1, last_extent(out), 1, 0).c > 0;
}

/* A search for a transposed operand that is read along the vector axis, whose elements would be gathered lane by
 * lane. */
typedef struct Strided { const Nest *nest; const Expr *lane; const Stage *found; } Strided;

/* Returns the tensor's stage if it is a transposing copy, whose last axis does not index its source's last dimension;
 * otherwise NULL. */
static const Stage *transposing_stage(const Nest *n, const Tensor *t)
{
    for (int i = 0; i < n->stage_count; i++) {
        const Stage *s = n->stage[i];
        const Expr *e = s->value[0];
        if (s->out[0] != t || s->reducer != REDUCE_NONE || e->kind != EXPR_READ || s->data_count < 2) continue;
        const Expr *last = e->arg_count ? e->arg[e->arg_count - 1] : NULL;
        return last && last->kind == EXPR_VAR && last != s->axis[s->data_count - 1].var ? s : NULL;
    }
    return NULL;
}

static void find_strided(const Expr *e, void *user)
{
    Strided *s = user;
    if (e->kind != EXPR_READ || !e->arg_count || e->arg[e->arg_count - 1] != s->lane || s->found) return;
    s->found = transposing_stage(s->nest, e->ref);
}

/* Returns the name of the stage that transposes such an operand, or NULL if there is none. The stage is not inlined. */
static const char *strided_operand(Ctx *cx, const Nest *n, const Stage *acc)
{
    Strided s = { n, acc->axis[acc->data_count - 1].var, NULL };
    expr_walk(cx, acc->value[0], find_strided, &s);
    return s.found ? s.found->name : NULL;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static bool has_loop(const Nest *n, const char *loop)
{
    Path p;
    return nest_find_loop(n, loop, &p);
}

/* Joins the loops over positions of an output whose sums have one axis for all of them. */
static const Nest *join_positions(Ctx *cx, const Nest *n, Tiles *t)
{
    t->positions = 1;
    for (int a = 0; a + 1 < t->out->data_count; a++) {
        const char *loop = loop_name(cx, t->out, a), *joined = text_format(cx, "p%d", a);
        if (!has_loop(n, loop)) continue;
        t->positions *= axis_extent(t->out, a);
        if (t->row) n = SCHED(cx, n, fuse, .loop = { t->row, loop }, .name = joined);
        t->row = t->row ? text_format(cx, "%s.%s", t->out->name, joined) : loop;
    }
    return n;
}

/* Finds the innermost loop over positions, and the loops around it. */
static void find_rows(Ctx *cx, const Nest *n, Tiles *t)
{
    t->positions = 1;
    for (int a = t->out->data_count - 2; a >= 0; a--) {
        const char *loop = loop_name(cx, t->out, a);
        if (!has_loop(n, loop)) continue;
        if (!t->row && axis_extent(t->out, a) > 1) {
            t->row = loop;
            t->positions = axis_extent(t->out, a);
        }
    }
    for (int a = 0; a + 1 < t->out->data_count; a++) {
        const char *loop = loop_name(cx, t->out, a);
        if (has_loop(n, loop) && loop != t->row) t->outer[t->outer_count++] = loop;
    }
}

/* Splits the loop over a row; the last tile is moved back. Over joined rows, the checker does not prove this step, so
 * the last tile is shorter. */
static const Nest *split_row(Ctx *cx, const Nest *n, const Tiles *t)
{
    return sched_split(cx, n, t->row, t->tile.w, t->is_joined ? TAIL_GUARD : TAIL_SHIFT, NULL, NULL);
}

/* Splits and orders the output's loops; *attach becomes the loop over tiles, or NULL if there is only one tile. */
static const Nest *tile_output(Ctx *cx, const Nest *n, const Tiles *t, const char **attach)
{
    const char *order[MAX_AXES + 4];
    int count = 0;
    const bool cut_w = t->row && t->tile.w < t->positions, cut_c = t->tile.c < t->outs;
    const char *panel = cut_c ? text_format(cx, "%so", t->last) : NULL;
    *attach = NULL;
    if (cut_w) n = split_row(cx, n, t);
    if (cut_c) n = sched_split(cx, n, t->last, t->tile.c, TAIL_GUARD, NULL, NULL);
    if (panel && t->has_panels) order[count++] = panel;
    for (int i = 0; i < t->outer_count; i++) order[count++] = t->outer[i];
    if (panel && !t->has_panels) order[count++] = panel;
    if (cut_w) order[count++] = text_format(cx, "%so", t->row);
    if (count) *attach = order[count - 1];
    if (t->row) order[count++] = cut_w ? text_format(cx, "%si", t->row) : t->row;
    order[count++] = cut_c ? text_format(cx, "%si", t->last) : t->last;
    return count > 1 ? sched_reorder(cx, n, order, count, false) : n;
}

/* Orders acc's loops, reduce axes outside, and separates the initial values. */
static const Nest *order_sums(Ctx *cx, const Nest *n, const char *acc)
{
    const Stage *s = nest_stage(n, acc);
    const char *order[MAX_AXES];
    int count = 0;
    for (int a = 0; a < s->axis_count; a++) {
        const char *loop = loop_name(cx, s, (s->data_count + a) % s->axis_count);
        if (has_loop(n, loop)) order[count++] = loop;
    }
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    for (int a = s->data_count; a < s->axis_count; a++)
        if (has_loop(n, loop_name(cx, s, a))) return sched_decompose_reduction(cx, n, acc, loop_name(cx, s, a));
    return n;
}

static const Nest *mark(Ctx *cx, const Nest *n, const char *loop, bool is_vector)
{
    if (ctx_failed(cx) || !loop || !has_loop(n, loop)) return n;
    return is_vector ? sched_vectorize(cx, n, loop) : sched_unroll(cx, n, loop);
}

/* Unrolls the positions of a tile and vectorizes its channels. With `fma` a product and its addition round once. */
static const Nest *mark_tile(Ctx *cx, const Nest *n, const char *acc, const Tiles *t, bool contracts)
{
    const Stage *s = nest_stage(n, acc);
    const bool cut_w = t->row && t->tile.w < t->positions, cut_c = t->tile.c < t->outs;
    for (int a = 0; a < s->data_count; a++) {
        const bool is_last = a == s->data_count - 1;
        const char *axis = expr_as_var(s->axis[a].var)->name, *loop = text_format(cx, "%s.%s", acc, axis);
        n = is_last && contracts && has_loop(n, loop) ? sched_contracted(cx, n, loop, true)
                                                      : mark(cx, n, loop, is_last);
        n = mark(cx, n, text_format(cx, "%s@init.%s", acc, axis), is_last);
    }
    n = mark(cx, n, cut_w ? text_format(cx, "%si", t->row) : t->row, false);
    return mark(cx, n, cut_c ? text_format(cx, "%si", t->last) : t->last, true);
}

/* If all panels together exceed the second cache, fetches the next panel while one is multiplied; otherwise the next
 * panel's first tile would wait for memory. A tile begins by fetching its part; if that is more than can be under way
 * at once, each step of its sums fetches a little. With many tiles there is less to gain than the fetches cost. */
static const Nest *fetch_panels(Ctx *cx, const Nest *n, const char *acc, const Tensor *panels, const Tiles *t)
{
    if (!panels || t->tile.c >= t->outs || !t->row || t->tile.w >= t->positions || t->outer_count) return n;
    const int64_t bytes = tensor_elems(panels) * 4, panel = bytes / tensor_dim(panels, 0),
                  tiles = t->positions / t->tile.w;
    if (bytes <= SECOND_CACHE || panel < tiles * FETCHED_BY_TILE) return n;
    const Stage *sum = nest_stage(n, acc);
    const char *tile = text_format(cx, "%so", t->row),
               *step = loop_name(cx, sum, sum->axis_count - 1),
               *holder = panel > tiles * FETCHED_AT_ONCE ? step : tile;
    DiagMark mark = diag_mark(cx);
    const Nest *fetched = SCHED(cx, n, prefetch, .target = panels->name,
                                .loop = { text_format(cx, "%so", t->last), holder }, .factor = { 1 });
    return diag_rewind(cx, mark) ? n : fetched;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Target *target = g->target;
    const char *acc = product_stage(g->nest)->name;
    const Tensor *panels = panels_of(g->nest);
    Tiles t = { .has_panels = panels != NULL };
    const Nest *n = inline_elementwise(cx, g->nest, strided_operand(cx, g->nest, product_stage(g->nest)));
    if (!ctx_failed(cx) && makes_output(n, nest_stage(n, acc))) {
        n = sched_cache_write(cx, n, acc, "acc", SCOPE_REGISTER);
        acc = "acc";
    }
    if (ctx_failed(cx)) return n;
    t.out = output_stage(n);
    t.last = loop_name(cx, t.out, t.out->data_count - 1);
    t.outs = last_extent(t.out);
    t.is_joined = nest_stage(n, acc)->data_count != t.out->data_count;
    if (t.is_joined) n = join_positions(cx, n, &t);
    else find_rows(cx, n, &t);
    t.tile = vector_tile(target, t.positions, t.outs, depth_of(nest_stage(n, acc)), width_of(panels));
    const char *attach;
    n = tile_output(cx, n, &t, &attach);
    if (attach) n = sched_compute_at(cx, n, acc, attach);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    if (!ctx_failed(cx)) n = order_sums(cx, n, acc);
    if (!ctx_failed(cx)) n = mark_tile(cx, n, acc, &t, target_has(target, "fma"));
    return ctx_failed(cx) ? n : fetch_panels(cx, n, acc, panels, &t);
}

/* ---- Pixels across rows ------------------------------------------------------------------------------------------ */

static int64_t product_of(const Tensor *t, int from, int to)
{
    int64_t product = 1;
    for (int d = from; d < to; d++) product *= tensor_dim(t, d);
    return product;
}

/* Returns true if at most two axes are joined, or if tiles of positions are digits of the axes, because the checker
 * proves no other forms. */
static bool joins_axes(const GroupNest *g, const Tensor *y)
{
    const int64_t positions = product_of(y, 0, y->rank - 1), outs = tensor_dim(y, y->rank - 1),
                  depth = depth_of(product_stage(g->nest)), width = width_of(panels_of(g->nest)),
                  w = vector_tile(g->target, positions, outs, depth, width).w;
    int axes = 0;
    bool are_digits = true;
    for (int d = 0; d + 1 < y->rank; d++) {
        const int64_t inner = product_of(y, d, y->rank - 1);
        axes += tensor_dim(y, d) > 1;
        are_digits = are_digits && (inner % w == 0 || w % inner == 0);
    }
    return axes <= 2 || are_digits;
}

/* Returns true for a convolution without padding and groups whose output has several rows of several pixels, if tiles
 * across rows cost less. */
static bool crosses_rows(Ctx *cx, const GroupNest *g)
{
    const Node *call = g->group->anchor;
    const Tensor *x = call->in[0], *y = call->out[0];
    int64_t pads[2 * MAX_RANK];
    if (!applies(cx, g) || node_int(call, "groups", 1) != 1) return false;
    node_ints(call, "pad", pads, 2 * (x->rank - 2), 0);
    for (int d = 0; d < 2 * (x->rank - 2); d++)
        if (pads[d]) return false;
    const int64_t all = product_of(y, 0, y->rank - 1);
    return tensor_dim(y, y->rank - 2) > 1 && product_of(y, 0, y->rank - 2) > 1
           && tiled_positions(g->target, call, width_of(panels_of(g->nest))) == all && joins_axes(g, y);
}

/* Returns the index of dimension d of x at position p: p/inner%own, for a spatial dimension times the stride, plus the
 * tap. */
static const char *pixel_index(Ctx *cx, const Node *call, int d, const char *tap)
{
    const Tensor *x = call->in[0], *y = call->out[0];
    const int spatial = x->rank - 2;
    int64_t strides[MAX_RANK], dilations[MAX_RANK];
    node_ints(call, "stride", strides, spatial, 1);
    node_ints(call, "dilation", dilations, spatial, 1);
    const Phrase words[] = { { "inner", op_number(cx, product_of(y, d + 1, y->rank - 1)) },
                             { "own", op_number(cx, tensor_dim(y, d)) },
                             { "step", op_number(cx, d ? strides[d - 1] : 1) },
                             { "apart", op_number(cx, d ? dilations[d - 1] : 1) }, { "tap", tap }, { NULL, NULL } };
    return op_text(cx, *tap != '0' ? "p/inner%own*step+tap*apart" : "p/inner%own*step", words);
}

/* Emits pixels[p,o] = sum(i,j,c) x[p/(H*W), p/W%H*sh + i*dh, p%W*sw + j*dw, c] * k[i,j,c,o] and y[n,h,w,o] =
 * pixels[(n*H + h)*W + w, o]. */
static int build_pixels(Ctx *cx, const Implementation *with, const Node *call, Tensor **out)
{
    const Tensor *k = call->in[1], *y = call->out[0];
    Text from = text_new(cx), at = text_new(cx), axes = text_new(cx), taps = text_new(cx), sums = text_new(cx);
    (void)with;
    for (int d = 0; d + 1 < y->rank; d++) {
        const Phrase words[] = { { "inner", op_number(cx, product_of(y, d + 1, y->rank - 1)) },
                                 { "own", op_number(cx, tensor_dim(y, d)) },
                                 { "axis", (const char[]){ axis_letter(y->rank, d), '\0' } }, { NULL, NULL } };
        const int64_t size = d ? tensor_dim(k, d - 1) : 1;
        const char *tap = size > 1 ? (const char[]){ (char)('i' + d - 1), '\0' } : "0";
        text_printf(&from, "%s%s", d ? "," : "", pixel_index(cx, call, d, tap));
        text_add(&at, op_text(cx, d ? "+axis*inner" : "axis*inner", words));
        text_add(&axes, op_text(cx, d ? ",axis<own" : "axis<own", words));
        if (d) text_printf(&taps, "%s,", tap);
        if (size > 1) text_printf(&sums, "%s<%lld,", tap, (long long)size);
    }
    const Phrase words[] = { { "count", op_number(cx, product_of(y, 0, y->rank - 1)) },
                             { "outs", op_number(cx, tensor_dim(k, k->rank - 1)) }, { "from", text_string(&from) },
                             { "at", text_string(&at) }, { "axes", text_string(&axes) },
                             { "sums", text_string(&sums) }, { "taps", text_string(&taps) }, { NULL, NULL } };
    Tensor *pixels =
        OP_FORMULA(cx, call, op_text(cx, "pixels[p<count,o] = sum(sums c) x[from,c] * k[taps c,o]", words),
                   BIND_T("x", call->in[0]), BIND_T("k", call->in[1]));
    if (!pixels) return 0;
    out[0] = OP_FORMULA(cx, call, op_text(cx, "y[axes,o<outs] = pixels[at,o]", words), BIND_T("pixels", pixels));
    return out[0] ? 1 : 0;
}

const Implementation implementations_vector_contraction[] = {
    { .name = "contraction.vectors", .features = "vectors", .plevel = 12, .ops = "pattern:out-fusable",
      .what = "tiles of positions and channels in vector registers", .applies = applies, .schedule = schedule },
    { .name = "contraction.pixels", .features = "vectors", .plevel = 13, .ops = "conv1d conv2d conv3d",
      .what = "tiles of pixels and channels in vector registers, across rows", .applies = crosses_rows,
      .build = build_pixels, .schedule = schedule },
    { 0 }
};
