/* SPDX-License-Identifier: MIT */
/* Lossless shrinking of integer networks: removes channels on which no output depends, with their weights. Every output
 * is unchanged for every input.
 *
 *   ranges.c    bounds each channel: a filter of zeros, or a sum that always saturates, makes a channel constant
 *   channels.c  partitions channels into classes and computes liveness: a channel with a known contribution to every
 *               live sum is dead
 *   here        rebuilds each call over the live channels. Constants are sliced where their indices follow channels.
 *               The removed channels' contribution to the sums is added to the bias (integers wrap, so it is exact)
 *   shrink_proof.c   proves that the new call equals the old one at the live channels; on failure, the call's channels
 *               are pinned and liveness is decided again
 *
 * A constant channel that differs from the padding value has other values at the boundary than in the interior. The sum
 * of such a channel is not a single value, so the channel stays. */

/* Decision: shrinking has no table of operators. `graph/shrink/ranges.c` evaluates each compute on intervals, per
 * channel. `graph/shrink/channels.c` derives from the indices of a compute which channels belong together, and what
 * a sum over channels requires of its operand. `graph/shrink/shrink.c` creates the calls over the remaining
 * channels, and `shrink_proof.c` compares the old with the new compute for each of them. Operators with per-channel
 * attributes fail the proof and keep their channels. New operators need no hook. Where vectors of bytes have eight
 * lanes or more (AVX2, AVX-512), dead channels are kept until they fill the last vector. The instructions of the last
 * vector cost the same with dead channels, and without them single channels would be scaled one by one.
 *
 * Constants behind padding need no rule. A tap that may be outside contributes the hull of its product and 0, so a
 * value is constant only if the boundary contributes the same value as the interior. The same ranges tell the report
 * (`graph/shrink/facts.c`) which sums fit into 16 bits and which clamps never bind. */
#include "graph/shrink/shrink.h"

#include <string.h>

#include "graph/shrink/shrink_proof.h"

typedef struct Shrinker {
    Ctx *cx;
    Graph graph;
    GraphRanges *ranges;
    Channels *channels;
    Node **order; int count;
    Map to;                           /* maps an old tensor to the new tensor */
    Shrunk *layer; int layer_count; Shrunk total;
} Shrinker;

/* ---- Constants -------------------------------------------------------------------------------------------------- */

/* Returns the channels of `of` that stay, as indices of the constant's dimension d. Returns NULL if all stay. Also
 * returns NULL if the dimension has a different size, because the constant belongs to a part of a concatenation. */
static const int *cut_of(const Shrinker *s, const Tensor *constant, int d, const Tensor *of, int *count)
{
    return of->rank && tensor_dim(constant, d) == tensor_dim(of, of->rank - 1) ? channels_kept(s->channels, of, count)
                                                                                : NULL;
}

/* Finds the indices that stay for each dimension of the constant operand (NULL if all stay). The indices are channels
 * of the output or of x, where an axis over these channels is the index. */
static void find_cuts(const Shrinker *s, const Node *call, const Tensor *constant, const int **kept, int *count)
{
    const Stage **stage;
    const Contraction *k = contraction_of(s->channels, call);
    int stages = call_stages(s->cx, call, &stage);
    for (int i = 0; i < stages; i++) {
        Terms *t = terms_new(s->cx, stage[i]);
        for (int n = 0; n < t->count; n++)
            for (int d = 0; t->e[n]->kind == EXPR_READ && t->e[n]->ref == constant && d < constant->rank; d++) {
                int axis = t->axis[t->operand[n][d]];
                if (axis >= 0 && axis == stage[i]->data_count - 1)
                    kept[d] = cut_of(s, constant, d, stage[i]->out[0], &count[d]);
                else if (k && k->terms->stage == stage[i] && axis == k->axis)
                    kept[d] = cut_of(s, constant, d, k->x, &count[d]);
            }
    }
}

static Tensor *cut(Shrinker *s, const Node *call, Tensor *t)
{
    const int *kept[MAX_RANK] = { NULL };
    int count[MAX_RANK];
    int64_t shape[MAX_RANK], index[MAX_RANK] = { 0 };
    bool is_cut = false;
    find_cuts(s, call, t, kept, count);
    for (int d = 0; d < t->rank; d++) {
        shape[d] = kept[d] ? count[d] : tensor_dim(t, d);
        is_cut = is_cut || kept[d];
    }
    if (!is_cut) return t;
    void *data;
    Tensor *less = tensor_zeros(s->cx, t->name, t->type, t->rank, shape, &data);
    for (int64_t n = 0; less && n < tensor_elems(less); n++) {
        int64_t flat = 0;
        for (int d = 0; d < t->rank; d++) flat = flat * tensor_dim(t, d) + (kept[d] ? kept[d][index[d]] : index[d]);
        dtype_store(t->type, data, n, dtype_load(t->type, t->data, flat));
        for (int d = t->rank - 1; d >= 0 && ++index[d] == shape[d]; d--) index[d] = 0;
    }
    if (less && t->quant && t->quant->count == 1) less->quant = t->quant;
    return less;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

static Tensor *mapped(const Shrinker *s, Tensor *t)
{
    Tensor *to = map_get_ptr(&s->to, t);
    return to ? to : t;
}

/* Returns a view with the same shape but fewer channels. */
static Tensor *narrower_view(Shrinker *s, const Node *call, Tensor *x)
{
    int count;
    const Tensor *y = call->out[0];
    const Expr *shape[MAX_RANK];
    memcpy(shape, y->shape, sizeof shape);
    if (channels_kept(s->channels, y, &count)) shape[y->rank - 1] = expr_index(s->cx, count);
    return view_call(s->cx, call->name, x, tensor_new(s->cx, y->name, y->type, y->rank, shape));
}

/* Rebuilds the call over its new operands. Returns NULL if the operator refuses them. */
static Node *rebuilt(Shrinker *s, const Node *call, Tensor *const *to)
{
    if (call->op->layout.is_view) {
        const Tensor *y = narrower_view(s, call, to[0]);
        return y ? y->producer : NULL;
    }
    Tensor **in = NEW_ARRAY(s->cx->arena, Tensor *, call->in_count);
    int count = 0;
    for (int i = 0; i < call->in_count; i++)
        if (to[i] || !call->op->layout.is_concat) in[count++] = to[i];
    return op_call(s->cx, call->op, call->name, in, count, call->attr, call->attr_count);
}

/* Stores the contribution of x's removed channels to the sums in *out, or NULL if there is none. Returns false if the
 * contribution is not known. */
static bool find_rest(Shrinker *s, const Node *call, Tensor **out)
{
    const Contraction *k = contraction_of(s->channels, call);
    int count = 0;
    *out = NULL;
    if (!k || !channels_kept(s->channels, k->x, &count)) return true;
    const int *kept = channels_kept(s->channels, call->out[0], &count);
    int64_t outputs = kept ? count : k->outputs;
    bool any = false;
    void *data;
    Tensor *rest = tensor_zeros(s->cx, call->name, call->out[0]->type, 1, &outputs, &data);
    for (int64_t v = 0; rest && v < outputs; v++) {
        Scalar sum;
        if (!contraction_rest(s->channels, k, kept ? kept[v] : v, &sum.i)) return false;
        sum = dtype_wrap(rest->type, sum);
        any = any || sum.i;
        dtype_store(rest->type, data, v, sum);
    }
    if (any) *out = rest;
    return true;
}

static void replace_outputs(Shrinker *s, const Node *node, Node *now, Tensor *rest)
{
    for (int i = 0; i < node->out_count; i++) {
        Tensor *out = now->op->layout.is_concat && now->in_count == 1 ? now->in[0] : now->out[i];
        if (out == now->out[i]) {
            out->name = node->out[i]->name;
            out->quant = node->out[i]->quant;
        }
        if (rest && i == 0) out = call(s->cx, "add", node->name, (Tensor *[]){ out, rest }, 2, NULL);
        if (out) map_put_ptr(&s->to, node->out[i], out);
    }
}

/* Shrinks one call. Returns false if the proof failed; the call's channels must then stay. A call that loses no channel
 * is only rebuilt over its new operands. */
static bool shrink_call(Shrinker *s, Node *call)
{
    Ctx *cx = s->cx;
    Tensor **to = NEW_ARRAY(cx->arena, Tensor *, call->in_count);
    bool is_same = true, is_cut = false;
    int count;
    for (int i = 0; i < call->in_count; i++) {
        Tensor *t = call->in[i];
        bool goes = t && channels_all_dead(s->channels, t);
        if (t && !goes) to[i] = tensor_is_constant(t) ? cut(s, call, t) : mapped(s, t);
        is_same = is_same && to[i] == t;
        is_cut = is_cut || goes || (t && (channels_kept(s->channels, t, &count)
                                          || (tensor_is_constant(t) && to[i] != t)));
    }
    for (int i = 0; i < call->out_count; i++) is_cut = is_cut || channels_kept(s->channels, call->out[i], &count);
    if (is_same && !is_cut) return true;
    DiagMark mark = diag_mark(cx);
    Node *now = rebuilt(s, call, to);
    if (is_cut && ctx_failed(cx)) diag_rewind(cx, mark);
    Tensor *rest;
    if (!now || (is_cut && !shrink_proved(cx, s->channels, s->ranges, call, to, now)) || !find_rest(s, call, &rest))
        return false;
    replace_outputs(s, call, now, rest);
    return true;
}

static bool is_left_out(const Shrinker *s, const Node *call)
{
    for (int i = 0; i < call->out_count; i++)
        if (!channels_all_dead(s->channels, call->out[i])) return false;
    return true;
}

/* Shrinks all calls. Restarts from the first call whenever a call must keep its channels. */
static void shrink_calls(Shrinker *s)
{
    for (int i = 0; i < s->count && !ctx_failed(s->cx); i++) {
        if (i == 0) {
            channels_decide(s->channels);
            s->to = map_new(s->cx->arena);
        }
        if (is_left_out(s, s->order[i]) || shrink_call(s, s->order[i])) continue;
        channels_pin(s->channels, s->order[i]);
        i = -1;
    }
}

/* ---- Removed contributions --------------------------------------------------------------------------------------- */

static LayerSize size_of(Ctx *cx, const Node *call)
{
    const Tensor *y = call->out[0];
    LayerSize size = { .channels = y->rank ? tensor_dim(y, y->rank - 1) : 1, .macs = call_macs(cx, call) };
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && tensor_is_constant(call->in[i])) size.weights += tensor_bytes(call->in[i]);
    return size;
}

static void add_size(LayerSize *to, LayerSize more)
{
    to->channels = sat_add(to->channels, more.channels);
    to->macs = sat_add(to->macs, more.macs);
    to->weights = sat_add(to->weights, more.weights);
}

/* Returns the call that replaced `was`, without a sum that adds the removed contribution. */
static const Node *call_behind(const Shrinker *s, const Node *was)
{
    const Tensor *t = mapped(s, was->out[0]);
    return t->producer && t->producer->op != was->op ? t->producer->in[0]->producer : t->producer;
}

/* Records sizes before and after for calls that multiply and accumulate. */
static void count_layers(Shrinker *s)
{
    s->layer = NEW_ARRAY(s->cx->arena, Shrunk, s->count);
    for (int i = 0; i < s->count; i++) {
        const Node *was = s->order[i];
        Shrunk l = { .name = was->name, .was = size_of(s->cx, was) };
        if (!l.was.macs) continue;
        if (!is_left_out(s, was)) l.is = size_of(s->cx, call_behind(s, was));
        add_size(&s->total.was, l.was);
        add_size(&s->total.is, l.is);
        if (l.was.macs != l.is.macs || l.was.weights != l.is.weights) s->layer[s->layer_count++] = l;
    }
}

static bool has_computes(const Shrinker *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->order[i]->kind != NODE_CALL) return true;
    return false;
}

/* Returns true if a call is on a device, whose driver receives the channels of the model. */
static bool has_devices(const Shrinker *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->order[i]->device) return true;
    return false;
}

static void follow_origins(Shrinker *s, Graph *g)
{
    const Origin *was = g->origin;
    graph_replace_origins(s->cx, g, &s->to);
    for (int i = 0; i < g->origin_count; i++) {
        Origin *o = &g->origin[i];
        if (!o->now) continue;
        if (channels_all_dead(s->channels, was[i].now)) o->now = NULL;
        else o->kept = channels_kept(s->channels, was[i].now, &o->kept_count);
    }
}

Graph shrink_within(Ctx *cx, Graph g, int64_t budget)
{
    Shrinker s = { .cx = cx, .graph = g };
    s.count = graph_order(cx, &g, &s.order);
    if (has_computes(&s) || has_devices(&s)) return g;
    s.ranges = graph_ranges(cx, &g, budget);
    s.channels = channels_new(cx, &g, s.ranges);
    shrink_calls(&s);
    if (ctx_failed(cx) || !s.count) return g;
    count_layers(&s);
    g.output = arena_copy(cx->arena, g.output, (size_t)g.output_count * sizeof *g.output);
    for (int i = 0; i < g.output_count; i++) g.output[i] = mapped(&s, g.output[i]);
    Mark *mark = arena_copy(cx->arena, g.mark, (size_t)g.mark_count * sizeof *g.mark);
    for (int i = 0; i < g.mark_count; i++) mark[i].tensor = mapped(&s, mark[i].tensor);
    g.mark = mark;
    follow_origins(&s, &g);
    g.shrunk_count = s.layer_count;
    g.shrunk = s.layer;
    g.shrunk_total = s.total;
    return g;
}

Graph graph_shrink(Ctx *cx, Graph g) { return shrink_within(cx, g, ranges_budget(cx, &g)); }
