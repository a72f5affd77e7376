/* SPDX-License-Identifier: MIT */
/* If a network reads parts of a layer's result separately, such as boxes and scores of a detector, each part gets a
 * separate grid:
 *
 *     part[..,i] = f(sum(k) x[k] * w[k,o] + b[o]),  o = kept[i]       becomes the layer over w[k,kept] and b[kept]
 *
 * where the parts' ranges differ by MOST_RATIO or more: two bits of a shared grid. The selection moves up to the
 * layers, or to the first tensors that are not computed in parts. The selection passes views, transposes, elementwise
 * functions, sums of two tensors and concatenations. Each sum has the same terms, so the float network computes the
 * same bits, and no channel is computed twice. Parts of like ranges stay in one layer.
 *
 * Values can show that a call is a selection: over the numbers of its operand's elements, the call gives the numbers of
 * a subset of the indices along one axis, in any order. */
#include "quantizer/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/quantize/quantized_value.h"
#include "graph/shrink/ranges.h"
#include "support/names.h"

enum { MOST_PARTS = 256 };
static const double MOST_RATIO = 4;

/* Indices along an axis of a tensor. */
typedef struct Selection { int axis; int64_t count, *kept; } Selection;

/* A call that reads a part, with the length of its range including zero, its cluster of similar ranges, and its
 * replacement. */
typedef struct Part { const Node *call; Selection of; double span; int cluster; Tensor *now; } Part;

/* A part of a tensor, and the tensor `now` that was made for it. is_computed is true if calls compute the part
 * separately; the part then has a grid of its own. */
typedef struct Made { const Tensor *from; Selection of; Tensor *now; bool is_computed; struct Made *next; } Made;

typedef struct Cutter {
    Ctx *cx;
    Readers readers;
    const Edges *edges;
    const char *label;                 /* the label of the part that is made */
    Made *made;
    bool is_computed;                  /* true if a part has been made since this was cleared */
    Map to;                            /* maps a tensor to its replacement */
} Cutter;

/* ---- Selections -------------------------------------------------------------------------------------------------- */

/* Returns the number of elements per index of the axis. */
static int64_t stride_of(const Tensor *t, int axis)
{
    int64_t stride = 1;
    for (int d = axis + 1; d < t->rank; d++) stride *= tensor_dim(t, d);
    return stride;
}

/* Returns true if y has the shape of x, with fewer indices along the axis, or with a single one and without the
 * axis. */
static bool has_fewer(const Tensor *x, const Tensor *y, int axis)
{
    if (y->rank != x->rank && y->rank != x->rank - 1) return false;
    for (int d = 0; d < x->rank; d++) {
        const int at = d > axis ? d - (x->rank - y->rank) : d;
        if (d != axis && tensor_dim(y, at) != tensor_dim(x, d)) return false;
    }
    const int64_t count = y->rank == x->rank ? tensor_dim(y, axis) : 1;
    return count > 0 && count < tensor_dim(x, axis);
}

/* Returns the call's values over the numbers of its first operand's elements, or NULL if it has none. */
static const float *numbers_after(Ctx *cx, const Node *n)
{
    enum { EXACT = 1 << 24 };
    Tensor *out, **in = arena_copy(cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    const int64_t count = tensor_elems(n->in[0]);
    in[0] = tensor_new(cx, n->in[0]->name, F32, n->in[0]->rank, n->in[0]->shape);
    if (count > EXACT || !in[0]) return NULL;
    float *number = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) number[i] = (float)i;
    in[0]->data = number;
    const Node *now = node_over(cx, n, in);
    return now && graph_run_call(cx, now, &out) ? out->data : NULL;
}

/* Returns true if the values are the elements of x at these indices. */
static bool is_selected(const Tensor *x, const Selection *s, const float *v)
{
    const int64_t stride = stride_of(x, s->axis), whole = tensor_dim(x, s->axis) * stride, each = s->count * stride;
    for (int64_t i = 0; i < tensor_elems(x) / whole * each; i++)
        if ((int64_t)v[i] != i / each * whole + s->kept[i % each / stride] * stride + i % stride) return false;
    return true;
}

/* Returns true if the call moves only elements of its first operand. */
static bool moves_one(const Node *n)
{
    if (n->kind != NODE_CALL || n->out_count != 1 || !n->op->quantization.moves_elements) return false;
    const Tensor *x = n->in[0];
    if (!x || x->type != F32 || tensor_is_constant(x) || op_attr_row(n->op, "value")) return false;
    for (int i = 1; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return tensor_is_fixed(x) && tensor_is_fixed(n->out[0]);
}

/* Finds the indices along one axis that the call selects. */
static bool selects(Ctx *cx, const Node *n, Selection *out)
{
    const float *v = NULL;
    const Tensor *x = n->in[0], *y = n->out[0];
    for (int d = 0; moves_one(n) && d < x->rank; d++) {
        if (!has_fewer(x, y, d) || (!v && !(v = numbers_after(cx, n)))) continue;
        const int64_t count = y->rank == x->rank ? tensor_dim(y, d) : 1, stride = stride_of(x, d);
        *out = (Selection){ d, count, NEW_ARRAY(cx->arena, int64_t, count) };
        for (int64_t i = 0; i < count; i++) out->kept[i] = (int64_t)v[i * stride] / stride % tensor_dim(x, d);
        if (is_selected(x, out, v)) return true;
    }
    return false;
}

bool selects_elements(Ctx *cx, const Node *n) { return selects(cx, n, &(Selection){ 0 }); }

static bool are_same(const Selection *a, const Selection *b)
{
    return a->axis == b->axis && a->count == b->count &&
        memcmp(a->kept, b->kept, (size_t)a->count * sizeof *a->kept) == 0;
}

/* Returns a call that selects these indices. */
static Tensor *selected(Ctx *cx, Tensor *x, const Selection *s)
{
    bool is_box = true;
    for (int64_t i = 0; i < s->count; i++) is_box = is_box && s->kept[i] == s->kept[0] + i;
    if (is_box)
        return call_on(cx, "slice", x->name, x,
                       ATTRS(attr_list("axes", s->axis), attr_list("begin", s->kept[0]),
                             attr_list("end", s->kept[0] + s->count)));
    Tensor *index = tensor_constant(cx, "indices", I64, 1, &s->count, s->kept);
    return call_on_two(cx, "gather", x->name, x, index, ATTRS(attr_int("axis", s->axis)));
}

/* ---- Parts of tensors -------------------------------------------------------------------------------------------- */

static Tensor *part_of(Cutter *c, Tensor *t, const Selection *s);

/* Returns true if the user gave the tensor a grid, or a width that is not 8 bits. */
static bool is_decided(const Cutter *c, const Tensor *t)
{
    const Request *r = request_of(&c->edges->requests, t);
    return r && (r->has_grid || r->bits != 8);
}

/* Returns a tensor of the shape of `like`, with the selection's size along the selection's axis. */
static Tensor *sized(Ctx *cx, const Tensor *like, const Selection *s)
{
    const Expr *shape[MAX_RANK];
    memcpy(shape, like->shape, sizeof shape);
    shape[s->axis] = expr_index(cx, s->count);
    return tensor_new(cx, like->name, like->type, like->rank, shape);
}

static Tensor *part_of_constant(Cutter *c, const Tensor *t, const Selection *s)
{
    Tensor *now = sized(c->cx, t, s);
    if (!now) return NULL;
    const size_t stride = (size_t)(tensor_bytes(t) / tensor_elems(t) * stride_of(t, s->axis));
    const int64_t whole = tensor_dim(t, s->axis), count = tensor_elems(t) / whole / stride_of(t, s->axis);
    char *to = NEW_ARRAY(c->cx->arena, char, tensor_bytes(now));
    now->data = to;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < s->count; k++, to += stride)
            memcpy(to, (const char *)t->data + (size_t)(i * whole + s->kept[k]) * stride, stride);
    return now;
}

/* Returns the selected part of a layer whose weights have an index for each of the result's channels. */
static Tensor *part_of_layer(Cutter *c, const Node *n, const Layer *l, const Selection *s)
{
    const Tensor *x = n->in[1 - l->weights], *w = n->in[l->weights];
    if (s->axis != n->out[0]->rank - 1 || l->axis_out < 0 || l->axis_in < 0 || l->axis_in == l->axis_out) return NULL;
    if (tensor_dim(w, l->axis_out) != channels_of(n->out[0]) || tensor_dim(w, l->axis_in) != channels_of(x))
        return NULL;                                     /* the layer has groups */
    if (is_decided(c, w)) return NULL;
    Tensor **in = arena_copy(c->cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    const Selection of_weights = { l->axis_out, s->count, s->kept };
    in[l->weights] = part_of_constant(c, w, &of_weights);
    c->is_computed = true;
    return in[l->weights] ? quantized_call_over(c->cx, n, in, n->attr, n->attr_count) : NULL;
}

static Tensor *part_of_transpose(Cutter *c, const Node *n, const Selection *s)
{
    const Attr *perm = node_attr(n, "perm");
    const Selection before = { perm ? (int)perm->ints[s->axis] : n->out[0]->rank - 1 - s->axis, s->count, s->kept };
    Tensor *x = part_of(c, n->in[0], &before);
    return x ? quantized_call_over(c->cx, n, &x, n->attr, n->attr_count) : NULL;
}

/* Finds the indices of x, along one axis, of the elements that the selection takes from a view of x. */
static bool before_view(Ctx *cx, const Tensor *x, const Tensor *view, const Selection *s, Selection *out)
{
    const int64_t elems = tensor_elems(x), stride = stride_of(view, s->axis), size = tensor_dim(view, s->axis);
    bool *has_index = NEW_ARRAY(cx->arena, bool, size), *has = NEW_ARRAY(cx->arena, bool, elems);
    for (int64_t k = 0; k < s->count; k++) has_index[s->kept[k]] = true;
    for (int d = 0; d < x->rank; d++) {
        const int64_t own = tensor_dim(x, d);
        *out = (Selection){ d, 0, NEW_ARRAY(cx->arena, int64_t, own) };
        memset(has, 0, (size_t)own * sizeof *has);
        for (int64_t i = 0; i < elems; i++) has[i / stride_of(x, d) % own] |= has_index[i / stride % size];
        for (int64_t i = 0; i < own; i++)
            if (has[i]) out->kept[out->count++] = i;
        if (out->count * (elems / own) == s->count * (elems / size)) return true;
    }
    return false;
}

static bool is_rising(const Selection *s)
{
    for (int64_t i = 1; i < s->count; i++)
        if (s->kept[i] <= s->kept[i - 1]) return false;
    return true;
}

static Tensor *part_of_view(Cutter *c, const Node *n, const Selection *s)
{
    Selection before;
    if (!is_rising(s) || !before_view(c->cx, n->in[0], n->out[0], s, &before)) return NULL;
    Tensor *x = part_of(c, n->in[0], &before), *like = x ? sized(c->cx, n->out[0], s) : NULL;
    return like ? view_call(c->cx, n->name, x, like) : NULL;
}

/* Returns the selected part of an elementwise call, which uses the parts of all operands that have the axis. */
static Tensor *part_of_elements(Cutter *c, const Node *n, const Selection *s)
{
    const Tensor *y = n->out[0];
    Tensor **in = arena_copy(c->cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    for (int i = 0; i < n->in_count; i++) {
        const int axis = in[i] ? s->axis - (y->rank - in[i]->rank) : -1;
        if (axis < 0 || tensor_dim(in[i], axis) == 1) continue;
        const Selection own = { axis, s->count, s->kept };
        if (tensor_dim(in[i], axis) != tensor_dim(y, s->axis)) return NULL;
        in[i] = tensor_is_constant(in[i]) ? part_of_constant(c, in[i], &own) : part_of(c, in[i], &own);
        if (!in[i]) return NULL;
    }
    c->is_computed = true;
    return quantized_call_over(c->cx, n, in, n->attr, n->attr_count);
}

/* Returns the selected part of a call that computes each channel separately, such as a pooling. */
static Tensor *part_of_channels(Cutter *c, const Node *n, const Selection *s)
{
    Tensor **in = arena_copy(c->cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    const Selection before = { in[0]->rank - 1, s->count, s->kept };
    in[0] = part_of(c, in[0], &before);
    return in[0] ? quantized_call_over(c->cx, n, in, n->attr, n->attr_count) : NULL;
}

/* Returns the selected part of a concatenation. A concatenation along the axis uses the parts of its operands; operands
 * without a part are left out. */
static Tensor *part_of_concat(Cutter *c, const Node *n, const Selection *s)
{
    int64_t axis = node_int(n, "axis", 0), first = 0, taken = 0;
    Tensor **in = NEW_ARRAY(c->cx->arena, Tensor *, n->in_count);
    int count = 0;
    if (axis < 0) axis += n->out[0]->rank;
    if (axis == s->axis && !is_rising(s)) return NULL;
    for (int i = 0; i < n->in_count; i++) {
        Selection own = *s;
        const int64_t size = tensor_dim(n->in[i], (int)axis);
        if (axis == s->axis) {
            own = (Selection){ s->axis, 0, NEW_ARRAY(c->cx->arena, int64_t, s->count) };
            for (; taken < s->count && s->kept[taken] < first + size; taken++)
                own.kept[own.count++] = s->kept[taken] - first;
            first += size;
            if (!own.count) continue;
        }
        in[count] = axis == s->axis && own.count == size ? n->in[i]
            : tensor_is_constant(n->in[i]) ? part_of_constant(c, n->in[i], &own) : part_of(c, n->in[i], &own);
        if (!in[count++]) return NULL;
    }
    return count == 1 ? in[0] : call(c->cx, "concat", n->name, in, count, ATTRS(attr_int("axis", axis)));
}

static bool is_open_to_cuts(const Cutter *c, const Tensor *t)
{
    return t->producer && t->producer->kind == NODE_CALL && t->producer->out_count == 1 && tensor_is_fixed(t) &&
        !graph_has_output(c->readers.graph, t) && !is_decided(c, t);
}

static Tensor *made_part(Cutter *c, const Tensor *t, const Selection *s)
{
    Layer l;
    const Node *n = t->producer;
    if (layer_of(&c->readers, n, &l)) return part_of_layer(c, n, &l, s);
    if (n->op->layout.is_transpose) return part_of_transpose(c, n, s);
    if (n->op->layout.is_view) return part_of_view(c, n, s);
    if (n->op->layout.is_concat) return part_of_concat(c, n, s);
    if (!n->op->quantization.grid && n->op->fusion.pattern <= PATTERN_BROADCAST) return part_of_elements(c, n, s);
    return s->axis == t->rank - 1 && keeps_channels(c->cx, n) ? part_of_channels(c, n, s) : NULL;
}

static bool has_shape(const Tensor *now, const Tensor *t, const Selection *s)
{
    bool is_alike = now->rank == t->rank && tensor_dim(now, s->axis) == s->count;
    for (int d = 0; is_alike && d < t->rank; d++)
        is_alike = d == s->axis || tensor_dim(now, d) == tensor_dim(t, d);
    return is_alike;
}

/* Returns the tensor at the selected indices; it is computed separately, or taken out of the whole tensor. */
static Tensor *part_of(Cutter *c, Tensor *t, const Selection *s)
{
    const Made *known = c->made;
    while (known && !(known->from == t && are_same(&known->of, s))) known = known->next;
    if (known) {
        c->is_computed = c->is_computed || known->is_computed;
        return known->now;
    }
    const bool before = c->is_computed;
    c->is_computed = false;
    Tensor *now = is_open_to_cuts(c, t) ? made_part(c, t, s) : NULL;
    if (!now) now = selected(c->cx, t, s);
    if (!now || !has_shape(now, t, s)) return NULL;
    now->name = name_format(c->cx, "%s_%s", t->name, c->label);
    Made *m = NEW(c->cx->arena, Made);
    *m = (Made){ t, *s, now, c->is_computed, c->made };
    c->made = m;
    c->is_computed = c->is_computed || before;
    return now;
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

static int by_span(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    return x->span > y->span ? -1 : x->span < y->span ? 1 : 0;
}

/* Returns the length of the tensor's range with zero. */
static double span_of(const Edge *e) { return fmax((double)e->greatest, 0) - fmin((double)e->least, 0); }

/* Lists the parts in which all calls read the tensor, the widest first. Returns 0 if a call reads the whole tensor or
 * parts along a different axis, or if a part has no range. */
static int parts_of(const Cutter *c, const Tensor *t, Part *out)
{
    const ReaderList *readers = readers_list(&c->readers, t);
    if (!readers->count || readers->count > MOST_PARTS || !is_open_to_cuts(c, t)) return 0;
    for (int i = 0; i < readers->count; i++) {
        const Edge *e = edge_of(c->edges, readers->at[i]->out[0]);
        out[i] = (Part){ .call = readers->at[i] };
        if (!e || !selects(c->cx, readers->at[i], &out[i].of) || out[i].of.axis != out[0].of.axis) return 0;
        out[i].span = span_of(e);
    }
    qsort(out, (size_t)readers->count, sizeof *out, by_span);
    return readers->count;
}

/* Numbers the clusters of the parts of a tensor with that span, in their order. Returns 0 if the tensor's grid suits
 * all parts. */
static int clusters_of(Part *part, int count, double span)
{
    int clusters = 1;
    double most = count ? part[0].span : 0;
    for (int i = 1; i < count; i++) {
        if (part[i].span > 0 && part[i].span * MOST_RATIO <= most) {
            most = part[i].span;
            clusters++;
        }
        part[i].cluster = clusters - 1;
    }
    return clusters > 1 || (most > 0 && most * MOST_RATIO <= span) ? clusters : 0;
}

/* Returns the indices of all parts of a cluster, in rising order. */
static Selection joined(Ctx *cx, const Tensor *t, const Part *part, int count, int cluster)
{
    const int64_t size = tensor_dim(t, part[0].of.axis);
    bool *has = NEW_ARRAY(cx->arena, bool, size);
    Selection s = { part[0].of.axis, 0, NEW_ARRAY(cx->arena, int64_t, size) };
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; part[i].cluster == cluster && k < part[i].of.count; k++) has[part[i].of.kept[k]] = true;
    for (int64_t i = 0; i < size; i++)
        if (has[i]) s.kept[s.count++] = i;
    return s;
}

/* Returns the part out of the cluster's tensor, in the shape of its call. */
static Tensor *taken(Cutter *c, const Part *p, const Selection *of, Tensor *x)
{
    const Tensor *was = p->call->out[0];
    Selection s = { p->of.axis, p->of.count, NEW_ARRAY(c->cx->arena, int64_t, p->of.count) };
    for (int64_t i = 0; i < s.count; i++)
        while (of->kept[s.kept[i]] != p->of.kept[i]) s.kept[i]++;
    const bool is_all = s.count == of->count && is_rising(&s);
    Tensor *y = is_all ? x : selected(c->cx, x, &s);
    return y && y->rank != was->rank ? view_call(c->cx, p->call->name, y, was) : y;
}

/* Creates the replacements for the parts of a cluster. */
static bool cut_cluster(Cutter *c, Tensor *t, Part *part, int count, int cluster)
{
    const Selection of = joined(c->cx, t, part, count, cluster);
    Tensor *whole = NULL;
    bool is_taken = false;
    for (int i = 0; i < count; i++) {
        const Tensor *was = part[i].call->out[0];
        if (part[i].cluster != cluster) continue;
        if (!whole) c->label = was->name;
        if (!whole && !(whole = part_of(c, t, &of))) return false;
        Tensor *now = taken(c, &part[i], &of, whole);
        if (now == whole && is_taken) now = view_call(c->cx, part[i].call->name, now, was);
        if (!now) return false;
        is_taken = is_taken || now == whole;
        if (now != whole) now->name = was->name;
        part[i].now = now;
    }
    return true;
}

/* Enters replacements for all parts of the tensor. */
static bool cut(Cutter *c, const Edge *e, Part *part)
{
    const int count = parts_of(c, e->tensor, part), clusters = clusters_of(part, count, span_of(e));
    c->is_computed = clusters > 0;
    for (int k = 0; k < clusters && c->is_computed; k++) {
        c->is_computed = false;
        if (!cut_cluster(c, e->tensor, part, count, k)) return false;
    }
    for (int i = 0; i < count && c->is_computed; i++) map_put_ptr(&c->to, part[i].call->out[0], part[i].now);
    return c->is_computed;
}

/* ---- The graph --------------------------------------------------------------------------------------------------- */

/* Returns the graph with the replacements; outputs keep their names. */
static Graph replaced(Ctx *cx, const Graph *g, const Map *to)
{
    const Graph now = graph_replace(cx, *g, to);
    for (int i = 0; i < g->output_count; i++)
        if (now.output[i] != g->output[i]) now.output[i]->name = g->output[i]->name;
    return now;
}

/* Splits the tensors from *first on, at most `most` of them; *first receives the next one. Returns false if no tensor
 * is split, because the layers would execute more multiplications. */
static bool cut_from(Ctx *cx, const Graph *g, const Edges *e, int *first, int most, Graph *out)
{
    Cutter c = { .cx = cx, .readers = readers_of(cx, g), .edges = e, .to = map_new(cx->arena) };
    Part *part = NEW_ARRAY(cx->arena, Part, MOST_PARTS);
    int cuts = 0;
    for (; *first < e->count && cuts < most && !ctx_failed(cx); ++*first) cuts += cut(&c, &e->at[*first], part);
    if (!cuts || ctx_failed(cx)) return false;
    *out = replaced(cx, g, &c.to);
    return !ctx_failed(cx) && graph_macs(cx, out) <= graph_macs(cx, g);
}

bool cut_parts(Ctx *cx, Graph *g, const Edges *e)
{
    Graph now;
    int first = 0;
    bool is_cut = cut_from(cx, g, e, &first, e->count, &now);
    for (first = 0; !is_cut && first < e->count && !ctx_failed(cx);) is_cut = cut_from(cx, g, e, &first, 1, &now);
    if (is_cut) *g = now;
    return is_cut;
}
