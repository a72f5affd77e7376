/* SPDX-License-Identifier: MIT */
/* The pass `stream` walks over the calls in order, twice.
 *
 * The first walk decides. A tensor carries the axis if its frames slide with the input's: frame t of the next window is
 * frame t + hop / rate of this window. `rate` is the product of strides. `fresh` is the number of frames that a hop
 * adds at the end, and `reach` the number of last frames that some call reads.
 *
 *      frames of x     [ . . . . |<- kept ->|<- fresh ->]
 *                                |<------- reach ------>]
 *
 * A call slides if slide.c proves this; the call then computes its fresh frames from the last frames of its operands.
 * Any other call reads whole windows, as do the calls after it. A call that depends on the position in the window
 * (padding along the axis) is refused: its frames at both ends would differ in every window. Padding only at the
 * beginning, as in causal convolutions, is the padding of an endless run: the frames before the first window are the
 * zeros of a state that is reset. A convolution with such padding is split into a pad, which the streamed run omits,
 * and a convolution without padding.
 *
 * The second walk builds. If reach > fresh, the last `reach` frames are a state: the old state without its first
 * `fresh` frames, and the new frames. Each call reads a slice of the state. */

/* Decision: a streamed window is state, and a call slides by proof. `--stream` (`graph/stream`) turns a graph over a
 * window into one over the new frames of a hop. A tensor carries the axis if frame t of the next window is frame t +
 * hop / rate of this one. `slide.c` proves this for a call from its stages: the axis occurs only as the linear index
 * of operands that carry it, so strided, dilated, grouped and user-defined calls need no fact. The shorter call is
 * compared with the old one, stage by stage, because a formula may depend on a length. The last frames that some
 * call reads are one state, and its new value is a concatenation, into which the producer writes. Every other call
 * reads whole windows. Padding along the axis is refused: to compute both ends of every window again would cost more
 * than it saves in networks of a few layers. */
#include "graph/stream/stream.h"

#include "graph/dag/op_build.h"
#include "graph/dag/region.h"
#include "graph/shrink/ranges.h"
#include "graph/stream/slide.h"
#include "support/names.h"

/* A tensor that depends on the streamed input. */
typedef struct Frames {
    bool is_whole;                     /* true if computed from whole windows, so that the tensor has no frames */
    int axis;
    int64_t length, rate, fresh, reach;
    /* The state of the last run, and the frames of it that stay; both NULL without a state. */
    Tensor *old, *kept;
    /* The fresh frames, or a whole tensor, in `now`; the last `reach` frames in `window`. */
    Tensor *now, *window;
} Frames;

typedef struct Streamer {
    Ctx *cx;
    Graph *g;
    Stream *s;
    /* Maps a tensor to its Frames; a tensor without an entry is independent of the streamed input. */
    Map of;
    Map slide;                         /* maps a call to its Slide; a call without an entry reads whole windows */
    int count; Node **order;
    const Node *first_whole; const char *why;          /* the first call that reads whole windows, and the reason */
    /* The convolution that is to be split, or NULL, and its axis of time. */
    const Node *causal; int causal_axis;
    /* The multiply-adds of a window, except elementwise ones, and of the calls that slide. */
    int64_t products, kept_products;
    int state_count; StreamState *state;
    Tensor **input, **output;          /* the ports of the new graph; states follow the model's own */
} Streamer;

static void reach_back(Frames *x, int64_t frames)
{
    if (frames > x->reach) x->reach = frames;
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

static Frames *frames_new(Streamer *s, const Tensor *t, int axis, int64_t rate)
{
    Frames *f = NEW(s->cx->arena, Frames);
    *f = (Frames){ .axis = axis, .length = tensor_dim(t, axis), .rate = rate, .fresh = s->s->hop / rate };
    if (f->fresh > f->length) f->fresh = f->length;
    map_put_ptr(&s->of, t, f);
    return f;
}

/* Returns a copy of t with a different number of frames, without its producer. */
static Tensor *with_frames(Ctx *cx, const Tensor *t, int axis, int64_t frames)
{
    Tensor *now = tensor_stand_in(cx, t);
    now->shape[axis] = expr_index(cx, frames);
    now->quant = t->quant;
    return now;
}

/* Returns true if the call reads exactly the frames that it needs, at any position, as a slice does. */
static bool is_crop(const Node *n) { return n->op->layout.box && n->in_count == 1; }

/* Returns the first frame of a window that does not begin at frame 0: a slice's, or a pad's. */
static int64_t begin_of(const Node *n, const Slide *slide, int input)
{
    return is_crop(n) || slide->pads_begin ? slide->in[input].low : 0;
}

static int64_t first_frame(const Node *n, const Slide *slide, int input, const Frames *y)
{
    return (y->length - y->fresh) * slide->in[input].stride + begin_of(n, slide, input);
}

static int64_t frames_read(const Node *n, const Slide *slide, int input, const Frames *y)
{
    return (y->fresh - 1) * slide->in[input].stride + slide->in[input].high + 1 - begin_of(n, slide, input);
}

static Tensor *cropped(Ctx *cx, const char *its_name, Tensor *x, int axis, int64_t from, int64_t count)
{
    int64_t begin[MAX_RANK] = { 0 }, end[MAX_RANK];
    if (!x || (from == 0 && count == tensor_dim(x, axis))) return x;
    for (int d = 0; d < x->rank; d++) end[d] = tensor_dim(x, d);
    begin[axis] = from;
    end[axis] = from + count;
    Tensor *y = call_on(cx, "slice", its_name, x,
                        ATTRS(attr_ints("begin", begin, x->rank), attr_ints("end", end, x->rank)));
    if (y) y->quant = x->quant;
    return y;
}

/* Returns a slice of the operand's frames with the other dimensions of the call's slice. */
static Tensor *crop_over(Ctx *cx, const Node *n, Tensor *x, int axis)
{
    int64_t begin[MAX_RANK], end[MAX_RANK];
    if (!x || !n->op->layout.box(cx, n, begin)) return NULL;
    for (int d = 0; d < x->rank; d++) end[d] = begin[d] + tensor_dim(n->out[0], d);
    begin[axis] = 0;
    end[axis] = tensor_dim(x, axis);
    return call_on(cx, "slice", n->name, x,
                   ATTRS(attr_ints("begin", begin, x->rank), attr_ints("end", end, x->rank)));
}

/* Returns the call without the padding at the beginning of the axis; the attribute's numbers begin at the dimension
 * `first`. */
static Node *without_pad(Ctx *cx, const Node *n, Tensor *const *in, int axis, int first)
{
    int64_t pad[2 * MAX_RANK];
    const int dims = n->in[0]->rank - (first ? 2 : 0);
    node_ints(n, "pad", pad, 2 * dims, 0);
    pad[axis - first] = 0;
    return op_call(cx, n->op, n->name, in, n->in_count, attrs_with_ints(cx, n, "pad", pad, 2 * dims), n->attr_count);
}

/* Returns the call over fewer frames, or NULL if it cannot be built. */
static Node *slid_over(Streamer *s, const Node *n, Tensor *const *in, const Slide *slide)
{
    Tensor *y;
    if (slide->pads_begin) {
        Node *now = without_pad(s->cx, n, in, slide->in[0].axis, 0);
        y = now ? now->out[0] : NULL;
    } else if (is_crop(n)) y = crop_over(s->cx, n, in[0], slide->in[0].axis);
    else if (n->op->layout.is_view)
        y = view_call(s->cx, n->name, in[0],
                      with_frames(s->cx, n->out[0], slide->axis[0],
                                  ((const Frames *)map_get_ptr(&s->of, n->out[0]))->fresh));
    else return node_over(s->cx, n, in);
    if (!y || !y->producer || y->producer->out_count != 1) return NULL;
    y->name = n->out[0]->name;
    y->quant = n->out[0]->quant;
    y->producer->device = n->device;
    return y->producer;
}

/* Returns true if the call, when it reads fewer frames, computes the fresh frames by the same formula. */
static bool is_tried(Streamer *s, const Node *n, const Slide *slide)
{
    Ctx *cx = s->cx;
    const DiagMark mark = diag_mark(cx);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    const Frames *y = map_get_ptr(&s->of, n->out[0]);
    for (int i = 0; i < n->in_count; i++)
        in[i] = slide->in[i].is_read
                    ? with_frames(cx, n->in[i], slide->in[i].axis, frames_read(n, slide, i, y)) : n->in[i];
    const Node *now = slid_over(s, n, in, slide);
    bool ok = now && !ctx_failed(cx) && (is_crop(n) || slide->pads_begin || slide_is_same(cx, n, now));
    for (int o = 0; ok && o < n->out_count; o++) {
        ok = now->out[o]->rank == n->out[o]->rank && now->out[o]->type == n->out[o]->type;
        for (int d = 0; ok && d < n->out[o]->rank; d++)
            ok = tensor_dim(now->out[o], d) == (d == slide->axis[o] ? y->fresh : tensor_dim(n->out[o], d));
    }
    diag_rewind(cx, mark);
    return ok;
}

/* Returns the rate of the results. Returns 0 if operands slide at different rates, or if a window exceeds its
 * tensor. */
static int64_t rate_of(const Streamer *s, const Node *n, Slide *slide)
{
    int64_t rate = 0;
    slide->why = "its operands slide at different rates";
    for (int i = 0; i < n->in_count; i++) {
        const SlideInput *in = &slide->in[i];
        const Frames *x = in->is_read ? map_get_ptr(&s->of, n->in[i]) : NULL;
        if (!x) continue;
        if (rate && rate != sat_mul(x->rate, in->stride)) return 0;
        if ((in->low < 0 && !slide->pads_begin) || in->high >= x->length) return 0;
        rate = sat_mul(x->rate, in->stride);
    }
    return rate;
}

static bool slides(Streamer *s, const Node *n, Slide *slide)
{
    Ctx *cx = s->cx;
    if (n->kind != NODE_CALL || !slide_of(cx, n, slide)) return false;
    const int64_t rate = rate_of(s, n, slide);
    if (!rate) return false;
    if (s->s->hop % rate) {
        diag_error(cx, n->name, "--stream: the hop, %lld frames, is not a multiple of %lld, the stride up to this "
                                "layer; use a multiple",
                   (long long)s->s->hop, (long long)rate);
        return false;
    }
    for (int o = 0; o < n->out_count; o++) frames_new(s, n->out[o], slide->axis[o], rate);
    slide->why = "its formula depends on the length of the window";
    return is_tried(s, n, slide);
}

/* Returns true if an input of n depends on the streamed input. Sets *on_whole if an input depends on whole windows. */
static bool depends(const Streamer *s, const Node *n, Slide *slide, bool *on_whole)
{
    bool found = false;
    *on_whole = false;
    for (int i = 0; i < n->in_count; i++) {
        const Frames *x = n->in[i] ? map_get_ptr(&s->of, n->in[i]) : NULL;
        slide->in[i].axis = x && !x->is_whole ? x->axis : -1;
        *on_whole = *on_whole || (x && x->is_whole);
        found = found || x;
    }
    return found;
}

static void read_whole(Streamer *s, const Node *n)
{
    for (int i = 0; i < n->in_count; i++) {
        Frames *x = n->in[i] ? map_get_ptr(&s->of, n->in[i]) : NULL;
        if (x && !x->is_whole) reach_back(x, x->length);
    }
    for (int o = 0; o < n->out_count; o++) {
        Frames *y = NEW(s->cx->arena, Frames);
        y->is_whole = true;
        map_put_ptr(&s->of, n->out[o], y);
    }
}

/* Returns true for a convolution that is padded at the beginning of the axis and not at its end. */
static bool is_causal(const Node *n, int axis)
{
    int64_t pad[2 * MAX_RANK];
    if (n->kind != NODE_CALL || !n->op->layout.has_windows || !n->op->quantization.is_bilinear) return false;
    const int dims = n->in[0]->rank - 2;
    return axis >= 1 && axis <= dims && node_ints(n, "pad", pad, 2 * dims, 0) && pad[axis - 1] > 0
           && pad[dims + axis - 1] == 0;
}

static void decide(Streamer *s, const Node *n)
{
    Slide *slide = NEW(s->cx->arena, Slide);
    bool on_whole;
    slide->in = NEW_ARRAY(s->cx->arena, SlideInput, n->in_count);
    slide->why = "it is a branch or a loop";
    if (!depends(s, n, slide, &on_whole)) return;
    if (!on_whole && slides(s, n, slide)) {
        const Frames *y = map_get_ptr(&s->of, n->out[0]);
        for (int i = 0; i < n->in_count; i++) {
            Frames *x = slide->in[i].is_read ? map_get_ptr(&s->of, n->in[i]) : NULL;
            if (x) reach_back(x, x->length - first_frame(n, slide, i, y));
        }
        map_put_ptr(&s->slide, n, slide);
        return;
    }
    if (!on_whole && slide->depends_on_position && is_causal(n, slide->in[0].axis)) {
        s->causal = n;
        s->causal_axis = slide->in[0].axis;
        return;
    }
    if (!on_whole && slide->depends_on_position)
        diag_unsupported(s->cx, n->name, "--stream: %s cannot be computed only for the new frames, because %s; use "
                         "layers without padding along the axis, or convolutions with padding only at its beginning",
                         n->kind == NODE_CALL ? n->op->name : "a branch or loop", slide->why);
    if (!s->first_whole && !on_whole) s->first_whole = n, s->why = slide->why;
    read_whole(s, n);
}

static void decide_all(Streamer *s)
{
    const Tensor *x = s->g->input[s->s->input];
    bool any = false;
    frames_new(s, x, s->s->axis, 1);
    for (int i = 0; i < s->count && !ctx_failed(s->cx); i++) {
        decide(s, s->order[i]);
        if (s->causal) return;
        const bool is_kept = map_get_ptr(&s->slide, s->order[i]) != NULL;
        const int64_t macs = call_macs(s->cx, s->order[i]);
        s->s->window_macs = sat_add(s->s->window_macs, macs);
        any = any || is_kept;
        if (s->order[i]->kind == NODE_CALL && s->order[i]->op->fusion.pattern <= PATTERN_INJECTIVE) continue;
        s->products = sat_add(s->products, macs);
        if (is_kept) s->kept_products = sat_add(s->kept_products, macs);
    }
    for (int i = 0; i < s->g->output_count; i++) {
        Frames *y = map_get_ptr(&s->of, s->g->output[i]);
        if (y && !y->is_whole) reach_back(y, y->fresh);
    }
    if (s->first_whole && (!any || (s->products && !s->kept_products)))
        diag_unsupported(s->cx, s->first_whole->name, "--stream: this layer cannot be computed only for the new frames "
                         "of axis %d, because %s, and no %s can; use a network that begins with convolutions, pooling "
                         "or elementwise operators along this axis",
                         s->s->axis, s->why, any ? "layer that multiplies" : "other layer");
    else if (!any && !ctx_failed(s->cx))
        diag_error(s->cx, NULL, "--stream: no layer reads the input \"%s\"", x->name);
}

/* ---- Causal convolutions ----------------------------------------------------------------------------------------- */

/* Returns the input with the convolution's leading padding in front of it. The padding holds 0, or the zero point of
 * stored integers. */
static Tensor *padded(Ctx *cx, const Node *n, Tensor *x, int axis)
{
    int64_t of[2 * MAX_RANK] = { 0 }, pad[2 * MAX_RANK];
    node_ints(n, "pad", pad, 2 * (x->rank - 2), 0);
    of[axis] = pad[axis - 1];
    Tensor *y = call_on(cx, "pad", name_format(cx, "%s_padded", n->name), x,
                        ATTRS(attr_ints("pad", of, 2 * x->rank), attr_real("value", (double)node_int(n, "zero", 0))));
    if (y) y->quant = x->quant;
    return y;
}

static Node *split_or_copied(Ctx *cx, const Streamer *s, const Node *n, Tensor **in)
{
    if (n != s->causal) return node_over(cx, n, in);
    in[0] = padded(cx, n, in[0], s->causal_axis);
    return in[0] ? without_pad(cx, n, in, s->causal_axis, 1) : NULL;
}

/* Returns the graph in which the convolution is split into a pad and a convolution without padding. */
static Graph split_causal(Ctx *cx, Graph g, const Streamer *s)
{
    Map to = map_new(cx->arena);
    Tensor *now;
    for (int k = 0; k < s->count && !ctx_failed(cx); k++) {
        const Node *n = s->order[k];
        Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
        for (int i = 0; i < n->in_count; i++) in[i] = n->in[i] && (now = map_get_ptr(&to, n->in[i])) ? now : n->in[i];
        Node *made = split_or_copied(cx, s, n, in);
        for (int o = 0; made && o < n->out_count; o++) {
            made->out[o]->name = n->out[o]->name;
            made->out[o]->quant = n->out[o]->quant;
            map_put_ptr(&to, n->out[o], made->out[o]);
        }
        if (made) made->device = n->device;
    }
    Tensor **output = arena_copy(cx->arena, g.output, (size_t)g.output_count * sizeof *output);
    for (int i = 0; i < g.output_count; i++) output[i] = (now = map_get_ptr(&to, output[i])) ? now : output[i];
    Mark *mark = arena_copy(cx->arena, g.mark, (size_t)g.mark_count * sizeof *g.mark);
    for (int i = 0; i < g.mark_count; i++)
        if ((now = map_get_ptr(&to, mark[i].tensor))) mark[i].tensor = now;
    g.output = output;
    g.mark = mark;
    return g;
}

/* ---- The streamed graph ------------------------------------------------------------------------------------------ */

/* Gives t a state if a call reads frames of t that are older than the new frames. All states are shifted before the
 * first call, so that the memory plan can shift each within its array. */
static void begin_state(Streamer *s, const Tensor *t)
{
    Frames *f = map_get_ptr(&s->of, t);
    if (!f || f->is_whole || f->reach <= f->fresh) return;
    f->old = with_frames(s->cx, t, f->axis, f->reach);
    f->old->name = name_format(s->cx, "%s_window", t->name);
    f->kept = cropped(s->cx, name_format(s->cx, "%s_kept", t->name), f->old, f->axis, f->fresh, f->reach - f->fresh);
}

/* Sets the fresh frames of t, and its window. */
static void enter(Streamer *s, const Tensor *t, Tensor *now)
{
    Frames *f = map_get_ptr(&s->of, t);
    if (!f) return;
    f->now = f->window = now;
    if (!f->kept || !now) return;
    Tensor *in[] = { f->kept, now };
    f->window = call(s->cx, "concat", f->old->name, in, 2, ATTRS(attr_int("axis", f->axis)));
    if (!f->window) return;
    f->window->quant = t->quant;
    s->state[s->state_count] = (StreamState){ s->g->input_count + s->state_count,
                                              s->g->output_count + s->state_count };
    s->input[s->g->input_count + s->state_count] = f->old;
    s->output[s->g->output_count + s->state_count++] = f->window;
}

/* Returns true if the shapes differ only along the axis, as after a pad of this axis. */
static bool same_sizes(const Tensor *a, const Tensor *b, int axis)
{
    for (int d = 0; d < a->rank; d++)
        if (d != axis && a->shape[d] != b->shape[d]) return false;
    return true;
}

static void build(Streamer *s, Node *n)
{
    const Slide *slide = map_get_ptr(&s->slide, n);
    const Frames *y = map_get_ptr(&s->of, n->out[0]);
    Tensor **in = NEW_ARRAY(s->cx->arena, Tensor *, n->in_count);
    if (!y) return;
    for (int i = 0; i < n->in_count; i++) {
        const Frames *x = n->in[i] ? map_get_ptr(&s->of, n->in[i]) : NULL;
        in[i] = x ? x->window : n->in[i];
        if (!x || !slide || !slide->in[i].is_read) continue;
        const int64_t from = first_frame(n, slide, i, y) - (x->length - tensor_dim(x->window, x->axis));
        in[i] = cropped(s->cx, n->in[i]->name, x->window, x->axis, from, frames_read(n, slide, i, y));
    }
    if (slide && slide->pads_begin && same_sizes(in[0], n->out[0], slide->axis[0])) {
        enter(s, n->out[0], in[0]);
        return;
    }
    const Node *now = slide ? slid_over(s, n, in, slide) : node_over(s->cx, n, in);
    for (int o = 0; now && o < n->out_count; o++) enter(s, n->out[o], now->out[o]);
}

static void build_all(Streamer *s)
{
    Graph *g = s->g;
    int most = 1;
    for (int i = 0; i < s->count; i++) most += s->order[i]->out_count;
    s->state = NEW_ARRAY(s->cx->arena, StreamState, most);
    s->input = NEW_ARRAY(s->cx->arena, Tensor *, g->input_count + most);
    s->output = NEW_ARRAY(s->cx->arena, Tensor *, g->output_count + most);
    for (int i = 0; i < g->input_count; i++) s->input[i] = g->input[i];
    const Tensor *x = g->input[s->s->input];
    Tensor *now = s->input[s->s->input] = with_frames(s->cx, x, s->s->axis, s->s->hop);
    now->name = x->name;
    begin_state(s, x);
    for (int i = 0; i < s->count; i++)
        for (int o = 0; o < s->order[i]->out_count; o++) begin_state(s, s->order[i]->out[o]);
    enter(s, x, now);
    for (int i = 0; i < s->count && !ctx_failed(s->cx); i++) build(s, s->order[i]);
    for (int i = 0; i < g->output_count; i++) {
        const Frames *y = map_get_ptr(&s->of, g->output[i]);
        s->output[i] = y ? y->now : g->output[i];
    }
}

Graph graph_stream(Ctx *cx, Graph g)
{
    Streamer s;
    if (!g.stream) return g;
    do {
        s = (Streamer){ .cx = cx, .g = &g, .s = g.stream, .of = map_new(cx->arena), .slide = map_new(cx->arena) };
        s.count = graph_order(cx, &g, &s.order);
        g.stream->window_macs = 0;
        decide_all(&s);
        if (s.causal) g = split_causal(cx, g, &s);
    } while (s.causal && !ctx_failed(cx));
    if (ctx_failed(cx)) return g;
    build_all(&s);
    if (ctx_failed(cx)) return g;
    g.stream->is_done = true;
    g.stream->state = s.state;
    g.stream->state_count = s.state_count;
    g.input = s.input;
    g.input_count += s.state_count;
    g.output = s.output;
    g.output_count += s.state_count;
    return g;
}
