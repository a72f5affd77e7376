/* SPDX-License-Identifier: MIT */
/* Every channel of every integer tensor is an atom of a union-find. A stage links atoms if, at channel v of its output,
 * it reads only channel f(v) of a tensor: relu, rescale, depthwise, add (f(v) = v), a concatenation (v - begin), a
 * view. Any other read pins the tensor: all its channels stay.
 *
 * Liveness is the smallest set of classes with two properties. The set holds all pinned atoms, the model's outputs
 * among them. If it contains output v of a contraction, it also contains some channels of x: the channels whose sum
 * over the taps is not a single known value.
 *
 *   x[.., u] live   if   y[.., v] live   and   sum(i,j) x[.., u] * k[i,j,u,v] has more than one value
 *
 * Where the target's instructions compute whole vectors of channels, dead ones fill the last vector. */
#include "graph/shrink/channels.h"

typedef struct Atoms { const Tensor *tensor; int first, count; int *kept; int kept_count; } Atoms;

struct Channels {
    Ctx *cx;
    const GraphRanges *ranges;
    Node **order; int order_count;
    Map of;                           /* maps a tensor to its Atoms */
    int atoms_count, atoms_capacity; Atoms **atoms;
    int count, capacity; int *parent; bool *is_pinned, *is_live, *is_single;
    int contraction_count, contraction_capacity; Contraction *contraction;
    /* The number of channels in a vector of the target, or 1 if channels are kept one by one. */
    int vector;
};

/* ---- Atoms ------------------------------------------------------------------------------------------------------ */

static Atoms *atoms_of(const Channels *c, const Tensor *t) { return map_get_ptr(&c->of, t); }

static void add_atoms(Channels *c, const Tensor *t)
{
    const ChannelRange *r = channel_range(c->ranges, t);
    if (!r || atoms_of(c, t)) return;
    Atoms *a = NEW(c->cx->arena, Atoms);
    *a = (Atoms){ .tensor = t, .first = c->count, .count = (int)r->count };
    map_put_ptr(&c->of, t, a);
    if (c->atoms_count == c->atoms_capacity) {
        Atoms **more = NEW_ARRAY(c->cx->arena, Atoms *, c->atoms_capacity = 2 * c->atoms_capacity + 64);
        for (int i = 0; i < c->atoms_count; i++) more[i] = c->atoms[i];
        c->atoms = more;
    }
    c->atoms[c->atoms_count++] = a;
    c->count += a->count;
}

static int root_of(const Channels *c, int atom)
{
    while (c->parent[atom] != atom) atom = c->parent[atom] = c->parent[c->parent[atom]];
    return atom;
}

static void link_atoms(Channels *c, int a, int b)
{
    a = root_of(c, a);
    b = root_of(c, b);
    if (a == b) return;
    c->parent[a > b ? a : b] = a > b ? b : a;
    c->is_pinned[a > b ? b : a] = c->is_pinned[a] || c->is_pinned[b];
}

static void pin(Channels *c, const Tensor *t)
{
    Atoms *a = t ? atoms_of(c, t) : NULL;
    for (int i = 0; a && i < a->count; i++) c->is_pinned[root_of(c, a->first + i)] = true;
}

/* ---- How a stage reads channels --------------------------------------------------------------------------------- */

static bool is_element(const Expr *e) { return e->kind == EXPR_READ && !tensor_is_constant(e->ref); }
static const Expr *channel_index(const Expr *read) { return read->arg_count ? read->arg[read->arg_count - 1] : NULL; }

/* Returns true if the axis occurs only as an index: by itself as the last index of elements, or anywhere in the indices
 * of constants. */
static bool only_indexes(const Terms *t, int axis)
{
    for (int i = 0; i < t->count; i++)
        for (int a = 0; a < t->e[i]->arg_count; a++) {
            if (t->axis[t->operand[i][a]] != axis) continue;
            if (t->e[i]->kind != EXPR_READ || (is_element(t->e[i]) && a + 1 < t->e[i]->arg_count)) return false;
        }
    return true;
}

/* Returns the stage's contraction over x: the sum along the axis, which is the channel of x and of no other tensor.
 * Returns NULL if there is no such contraction, or if the call already has a different one. */
static Contraction *contraction_over(Channels *c, const Node *call, Terms *t, const Tensor *x, int axis)
{
    const Stage *s = t->stage;
    if (s->reducer != REDUCE_SUM || axis < s->data_count || !only_indexes(t, axis)
        || op_expand(c->cx, call)[0] != s->out[0] || !atoms_of(c, s->out[0]))
        return NULL;
    for (int i = 0; i < t->count; i++)
        if (is_element(t->e[i]) && t->e[i]->ref != x && channel_index(t->e[i]) == s->axis[axis].var) return NULL;
    for (int i = 0; i < c->contraction_count; i++)
        if (c->contraction[i].call == call)
            return c->contraction[i].x == x && c->contraction[i].axis == axis ? &c->contraction[i] : NULL;
    if (c->contraction_count == c->contraction_capacity) {
        Contraction *more = NEW_ARRAY(c->cx->arena, Contraction,
                                      c->contraction_capacity = 2 * c->contraction_capacity + 16);
        for (int i = 0; i < c->contraction_count; i++) more[i] = c->contraction[i];
        c->contraction = more;
    }
    Contraction *k = &c->contraction[c->contraction_count++];
    *k = (Contraction){ .call = call,
                        .x = x,
                        .terms = t,
                        .axis = axis,
                        .channels = atoms_of(c, x)->count,
                        .outputs = atoms_of(c, s->out[0])->count };
    return k;
}

/* For channel v of the output: links tensors that are read at one channel, and pins tensors that are read at several
 * channels. */
static void link_reads(Channels *c, const Node *call, Terms *t, const Atoms *y, int v)
{
    for (int i = 0; i < t->count; i++) {
        const Expr *e = t->e[i];
        const Atoms *x = is_element(e) && t->is_taken[i] ? atoms_of(c, e->ref) : NULL;
        if (!x) continue;
        int place = t->operand[i][e->arg_count - 1];
        Interval at = t->value[place];
        bool is_reduced = t->axis[place] >= t->stage->data_count;
        if (is_reduced && contraction_over(c, call, t, e->ref, t->axis[place])) continue;
        if (y && !is_reduced && at.least == at.greatest && at.least >= 0 && at.least < x->count)
            link_atoms(c, y->first + v, x->first + (int)at.least);
        else pin(c, e->ref);
    }
}

/* Returns true if channels of the output may be removed at all. The channel v must not be an operand of arithmetic. The
 * channel may decide conditions, and it may be an index: in a view any index, otherwise only the last. */
static bool follows_channels(const Terms *t, bool is_view)
{
    const int channel = t->stage->data_count - 1;
    for (int i = 0; i < t->count; i++)
        for (int a = 0; a < t->e[i]->arg_count; a++) {
            if (t->axis[t->operand[i][a]] != channel || is_view) continue;
            if (is_element(t->e[i]) && a + 1 < t->e[i]->arg_count) return false;
        }
    return true;
}

static void link_stage(Channels *c, const Node *call, const Stage *s)
{
    const Atoms *y = s->out_count == 1 && s->data_count ? atoms_of(c, s->out[0]) : NULL;
    Terms *t = NULL;
    for (int i = 0; i < s->out_count; i++) {
        Interval box[MAX_AXES];
        t = terms_new(c->cx, i ? &(Stage){ .axis_count = s->axis_count,
                                           .axis = s->axis,
                                           .data_count = s->data_count,
                                           .value = s->value + i }
                               : s);
        for (int a = 0; a < s->axis_count; a++) box[a] = axis_interval(&s->axis[a]);
        if (y && !follows_channels(t, call->op->layout.is_view)) pin(c, s->out[0]);
        for (int v = 0; v < (y ? y->count : 1); v++) {
            if (y) box[s->data_count - 1] = (Interval){ v, v };
            terms_run(c->ranges, t, box);
            link_reads(c, call, t, y, v);
        }
    }
}

static void link_call(Channels *c, const Node *call)
{
    const Stage **stage;
    int count = call_stages(c->cx, call, &stage);
    for (int i = 0; i < count; i++) link_stage(c, call, stage[i]);
    if (!count) channels_pin(c, call);
}

/* ---- Known contributions to contractions ------------------------------------------------------------------------- */

static Interval contribution(const Channels *c, const Contraction *k, int64_t v, int64_t u)
{
    const Stage *s = k->terms->stage;
    Interval box[MAX_AXES];
    for (int a = 0; a < s->axis_count; a++) box[a] = axis_interval(&s->axis[a]);
    box[s->data_count - 1] = (Interval){ v, v };
    box[k->axis] = (Interval){ u, u };
    return terms_reduce(c->ranges, k->terms, box, NULL);
}

/* Returns true if the interval holds a single value. An infinite end is not a value. */
static bool is_single_value(Interval i)
{
    return i.least == i.greatest && i.least != INT64_MIN && i.least != INT64_MAX;
}

/* Proves contributions once and keeps their values, because no budget may be left for the analysis when they are added
 * to a sum. */
static void find_known(Channels *c, Contraction *k)
{
    const ArenaMark mark = arena_mark(c->cx->scratch);
    int64_t *of_output = NEW_ARRAY(c->cx->scratch, int64_t, k->channels), *more, capacity = 0;
    k->is_known = NEW_ARRAY(c->cx->arena, unsigned char, k->outputs * k->channels);
    k->first = NEW_ARRAY(c->cx->arena, int64_t, k->outputs);
    for (int64_t v = 0; v < k->outputs; v++) {
        int64_t count = 0;
        for (int64_t u = 0; u < k->channels; u++) {
            const Interval i = contribution(c, k, v, u);
            k->is_known[v * k->channels + u] = is_single_value(i);
            if (is_single_value(i)) of_output[count++] = i.least;
        }
        k->first[v] = k->known_count;
        if (k->known_count + count > capacity) {
            more = NEW_ARRAY(c->cx->arena, int64_t, capacity = 2 * (k->known_count + count));
            for (int64_t i = 0; i < k->known_count; i++) more[i] = k->known[i];
            k->known = more;
        }
        for (int64_t i = 0; i < count; i++) k->known[k->known_count++] = of_output[i];
    }
    arena_reset(c->cx->scratch, mark);
}

enum { LEAST_VECTOR = 8 };      /* below this length, removing channels gains more than whole vectors */

static int vector_of(const Target *t)
{
    const int lanes = t && target_has(t, "bytes") ? t->vector_bytes / 4 : 1;
    return lanes < LEAST_VECTOR ? 1 : lanes;
}

Channels *channels_new(Ctx *cx, const Graph *g, const GraphRanges *r)
{
    Channels *c = NEW(cx->arena, Channels);
    *c = (Channels){ .cx = cx, .ranges = r, .of = map_new(cx->arena), .vector = vector_of(g->target) };
    c->order_count = graph_order(cx, g, &c->order);
    for (int i = 0; i < g->input_count; i++) add_atoms(c, g->input[i]);
    for (int i = 0; i < c->order_count; i++) {
        const Stage **stage;
        Node *n = c->order[i];
        for (int j = 0; j < n->out_count; j++) add_atoms(c, n->out[j]);
        for (int j = call_stages(cx, n, &stage) - 1; j >= 0; j--)
            for (int o = 0; o < stage[j]->out_count; o++) add_atoms(c, stage[j]->out[o]);
    }
    c->parent = NEW_ARRAY(cx->arena, int, c->count);
    c->is_pinned = NEW_ARRAY(cx->arena, bool, c->count);
    c->is_live = NEW_ARRAY(cx->arena, bool, c->count);
    c->is_single = NEW_ARRAY(cx->arena, bool, c->count);
    for (int i = 0; i < c->count; i++) c->parent[i] = i;
    for (int i = 0; i < c->order_count; i++) {
        Tensor *const *made = c->order[i]->kind == NODE_CALL ? op_expand(cx, c->order[i]) : NULL;
        for (int j = 0; made && j < c->order[i]->out_count; j++) {
            const Atoms *a = atoms_of(c, c->order[i]->out[j]), *b = atoms_of(c, made[j]);
            for (int v = 0; a && b && v < a->count; v++) link_atoms(c, a->first + v, b->first + v);
        }
        link_call(c, c->order[i]);
    }
    for (int i = 0; i < c->contraction_count; i++) find_known(c, &c->contraction[i]);
    for (int i = 0; i < g->input_count; i++) pin(c, g->input[i]);
    for (int i = 0; i < g->output_count; i++) pin(c, g->output[i]);
    return c;
}

/* Excludes the tensor's channels from filling vectors. Returns false if all of them are excluded already. */
static bool leave_single(Channels *c, const Tensor *t)
{
    const Atoms *a = t && c->vector > 1 ? atoms_of(c, t) : NULL;
    bool any = false;
    for (int v = 0; a && v < a->count; v++) {
        bool *single = &c->is_single[root_of(c, a->first + v)];
        any = any || !*single;
        *single = true;
    }
    return any;
}

/* Keeps all channels of the call. If its channels may fill vectors, the first call only forbids that. The proof may
 * reject a dead channel that fills a vector, because its value is known only in the old call. */
void channels_pin(Channels *c, const Node *call)
{
    const Stage **stage;
    bool was_filled = false;
    for (int i = 0; i < call->in_count; i++) was_filled = leave_single(c, call->in[i]) || was_filled;
    for (int i = 0; i < call->out_count; i++) was_filled = leave_single(c, call->out[i]) || was_filled;
    if (was_filled) return;
    for (int i = 0; i < call->in_count; i++) pin(c, call->in[i]);
    for (int i = 0; i < call->out_count; i++) pin(c, call->out[i]);
    for (int i = call_stages(c->cx, call, &stage) - 1; i >= 0; i--)
        for (int o = 0; o < stage[i]->out_count; o++) pin(c, stage[i]->out[o]);
}

/* ---- Liveness ---------------------------------------------------------------------------------------------------- */

static bool is_live(const Channels *c, const Atoms *a, int64_t channel)
{
    return c->is_live[root_of(c, a->first + (int)channel)];
}

static bool make_live(Channels *c, const Atoms *a, int64_t channel)
{
    bool *live = &c->is_live[root_of(c, a->first + (int)channel)];
    return !*live && (*live = true);
}

static bool spread(Channels *c, const Contraction *k)
{
    bool any = false;
    const Atoms *y = atoms_of(c, k->call->out[0]), *x = atoms_of(c, k->x);
    for (int64_t v = 0; v < k->outputs; v++)
        for (int64_t u = 0; is_live(c, y, v) && u < k->channels; u++)
            if (!k->is_known[v * k->channels + u] && make_live(c, x, u)) any = true;
    return any;
}

static int live_count(const Channels *c, const Atoms *a)
{
    int n = 0;
    for (int i = 0; i < a->count; i++) n += is_live(c, a, i);
    return n;
}

bool channels_all_dead(const Channels *c, const Tensor *t)
{
    const Atoms *a = atoms_of(c, t);
    return a && a->kept && !a->kept_count;
}

/* Returns true if the tensor must keep at least one channel. A tensor may be dropped entirely if every consumer
 * concatenates it with other tensors or is itself dropped. Consumers come later, so the backward walk has decided them
 * already. */
static bool keeps_one(Channels *c, const Atoms *a)
{
    bool is_read = false;
    for (int i = 0; i < c->order_count; i++) {
        const Node *n = c->order[i];
        for (int j = 0; j < n->in_count; j++) {
            if (n->in[j] != a->tensor) continue;
            const Atoms *y = atoms_of(c, n->out[0]);
            int left = y ? live_count(c, y) : 1;
            if (left ? !n->op->layout.is_concat : n->out_count != 1) return true;
            is_read = true;
        }
    }
    return !is_read;
}

static void find_kept(Channels *c)
{
    for (int i = 0; i < c->atoms_count; i++) {
        Atoms *a = c->atoms[i];
        if (!a->kept) a->kept = NEW_ARRAY(c->cx->arena, int, a->count);
        a->kept_count = 0;
        for (int v = 0; v < a->count; v++)
            if (is_live(c, a, v)) a->kept[a->kept_count++] = v;
    }
}

static void spread_all(Channels *c)
{
    bool any = true;
    while (any) {
        any = false;
        for (int i = c->contraction_count - 1; i >= 0; i--) any = spread(c, &c->contraction[i]) || any;
    }
}

/* Returns the smallest number of channels, at least `live`, that fills whole vectors. */
static int whole_vectors(const Channels *c, int live)
{
    int vector = c->vector;
    while (vector > LEAST_VECTOR && live <= vector / 2) vector /= 2;
    return (live + vector - 1) / vector * vector;
}

/* Keeps dead channels that fill the last vector. Instructions for a whole vector cost the same, and instructions for a
 * part of a vector cost more. */
static void fill_vectors(Channels *c, const Atoms *a)
{
    const int live = live_count(c, a), whole = whole_vectors(c, live);
    int more = live ? whole - live : 0, left = 0;
    for (int v = 0; v < a->count; v++) left += !is_live(c, a, v) && !c->is_single[root_of(c, a->first + v)];
    if (!more || left < more) return;
    for (int v = 0; v < a->count && more > 0; v++)
        if (!c->is_single[root_of(c, a->first + v)]) more -= make_live(c, a, v);
    spread_all(c);
}

void channels_decide(Channels *c)
{
    for (int i = 0; i < c->count; i++) c->is_live[i] = c->is_pinned[i] && c->parent[i] == i;
    spread_all(c);
    for (int i = c->order_count - 1; i >= 0; i--)
        for (int j = 0; j < c->order[i]->out_count; j++) {
            const Atoms *a = atoms_of(c, c->order[i]->out[j]);
            if (!a || live_count(c, a) || !keeps_one(c, a)) continue;
            make_live(c, a, 0);
            spread_all(c);
        }
    for (int i = c->order_count - 1; i >= 0 && c->vector > 1; i--)
        for (int j = 0; j < c->order[i]->out_count; j++) {
            const Atoms *a = atoms_of(c, c->order[i]->out[j]);
            if (a) fill_vectors(c, a);
        }
    find_kept(c);
}

const int *channels_kept(const Channels *c, const Tensor *t, int *count)
{
    const Atoms *a = atoms_of(c, t);
    if (!a || !a->kept || a->kept_count == a->count) return NULL;
    *count = a->kept_count;
    return a->kept;
}

const Contraction *contraction_of(const Channels *c, const Node *call)
{
    for (int i = 0; i < c->contraction_count; i++)
        if (c->contraction[i].call == call) return &c->contraction[i];
    return NULL;
}

bool contraction_rest(const Channels *c, const Contraction *k, int64_t v, int64_t *rest)
{
    uint64_t sum = 0;
    const Atoms *x = atoms_of(c, k->x);
    const int64_t *known = k->known + k->first[v];
    for (int64_t u = 0; u < k->channels; u++) {
        const bool is_known = k->is_known[v * k->channels + u];
        if (!is_live(c, x, u) && !is_known) return false;
        if (!is_live(c, x, u)) sum += (uint64_t)*known;
        known += is_known;
    }
    *rest = (int64_t)sum;
    return true;
}
