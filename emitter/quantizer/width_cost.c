/* SPDX-License-Identifier: MIT */
/* Counts the cost of widths: see precision.h. The graph passes through all stages to lowered functions, without a
 * search for combinations. For one group, only the calls around it are lowered:
 *
 *     x -> conv -> relu -> [t] -> conv -> y        the part around t: both convolutions; x is its input, y its output
 *
 * The other tensors keep their widths, so two costs of a part differ by as much as the costs of the whole network. */
#include "quantizer/precision.h"

#include "driver/combine_layers.h"
#include "graph/dag/target.h"
#include "quantizer/layers.h"

static int64_t constant_bytes(const Plan *p)
{
    int64_t bytes = 0;
    for (int i = 0; i < p->constant_count; i++) bytes += tensor_bytes(p->constant[i]);
    return bytes;
}

/* Lowers the simulated network. Returns false on error. */
static bool lowered(const Build *like, const Graph *g, const Edges *e, Ports ports, Layers *out)
{
    Ctx *cx = like->cx;
    const Graph simulated = simulate(cx, g, e, ports);
    lw_options *plain = NEW(cx->arena, lw_options);
    *plain = (lw_options){ .combine = "none", .rounding = like->options->rounding };
    Build b = { .cx = cx, .options = plain, .path = like->path, .name = like->name, .target = like->target,
                .mode.in_fixed_point = true };
    b.model.input = simulated.input;
    b.model.input_count = simulated.input_count;
    b.model.output = simulated.output;
    b.model.output_count = simulated.output_count;
    if (ctx_failed(cx) || !build_graph(&b) || !build_nests(&b)) return false;
    Search r = layers_search(&b, NULL);
    r.counts = true;
    *out = layers_apart(&r, b.scheduled.copies_padding, b.scheduled.room);
    return !ctx_failed(cx);
}

bool network_cost(const Build *like, const Graph *g, const Edges *e, Ports ports, NetworkCost *out)
{
    Layers l;
    if (!lowered(like, g, e, ports, &l)) return false;
    *out = (NetworkCost){ l.work, l.code + constant_bytes(&l.plan) + l.plan.arena_size };
    return true;
}

bool network_constants(const Build *like, const Graph *g, const Edges *e, Ports ports, int64_t *bytes)
{
    Layers l;
    if (!lowered(like, g, e, ports, &l)) return false;
    *bytes = constant_bytes(&l.plan);
    return true;
}

/* ---- The part around a group ------------------------------------------------------------------------------------- */

typedef struct Part {
    Ctx *cx;
    const Edges *whole;
    int group;
    Readers readers;
    Map seen;                          /* the tensors whose readers are listed */
    Map ends;                          /* the tensors that the part computes for other parts */
    Map now;                           /* maps a tensor to its version in the part */
    Edges edges;
    Graph graph;
} Part;

/* Returns true if the tensor has a grid whose width belongs to another group. */
static bool is_border(const Part *p, const Tensor *t)
{
    const Edge *e = edge_of(p->whole, t);
    return e && e->group != p->group && !p->whole->group[e->group].is_wide;
}

static void enter_edge(Part *p, const Tensor *old, Tensor *now)
{
    const Edge *e = edge_of(p->whole, old);
    map_put_ptr(&p->now, old, now);
    if (!e || !now) return;
    Edge *own = &p->edges.at[p->edges.count++];
    *own = (Edge){ now, e->group, e->least, e->greatest };
    map_put_ptr(&p->edges.of, now, own);
}

static Tensor *part_of(Part *p, Tensor *t);

static void copy_call(Part *p, const Node *n)
{
    Tensor **in = NEW_ARRAY(p->cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) in[i] = n->in[i] ? part_of(p, n->in[i]) : NULL;
    const Node *copy = ctx_failed(p->cx) ? NULL : node_over(p->cx, n, in);
    for (int i = 0; copy && i < n->out_count; i++) enter_edge(p, n->out[i], copy->out[i]);
}

/* Returns the tensor's version in the part, computed from its inputs. */
static Tensor *part_of(Part *p, Tensor *t)
{
    Tensor *known = map_get_ptr(&p->now, t);
    if (known || tensor_is_constant(t)) return known ? known : t;
    if (t->producer && (!is_border(p, t) || map_get_ptr(&p->ends, t))) copy_call(p, t->producer);
    else {
        Tensor *input = tensor_new(p->cx, t->name, t->type, t->rank, t->shape);
        p->graph.input[p->graph.input_count++] = input;
        enter_edge(p, t, input);
    }
    return map_get_ptr(&p->now, t);
}

static void add_end(Part *p, Tensor *t)
{
    if (!t->producer || map_get_ptr(&p->ends, t)) return;
    map_put_ptr(&p->ends, t, t);
    p->graph.output[p->graph.output_count++] = t;
}

/* Adds the tensors at which the calls that read t end. */
static void add_ends(Part *p, const Graph *g, Tensor *t)
{
    const ReaderList *readers = readers_list(&p->readers, t);
    if (map_get_ptr(&p->seen, t)) return;
    map_put_ptr(&p->seen, t, t);
    if (graph_has_output(g, t)) add_end(p, t);
    for (int i = 0; i < readers->count; i++)
        for (int k = 0; k < readers->at[i]->out_count; k++) {
            Tensor *y = readers->at[i]->out[k];
            if (is_border(p, y) || !readers_list(&p->readers, y)->count) add_end(p, y);
            else add_ends(p, g, y);
        }
}

Graph part_around(Ctx *cx, const Graph *g, const Edges *e, int group, Edges *edges)
{
    Part p = { .cx = cx, .whole = e, .group = group, .readers = readers_of(cx, g), .seen = map_new(cx->arena),
               .ends = map_new(cx->arena), .now = map_new(cx->arena), .edges = *e, .graph = { .name = g->name } };
    int most = g->input_count + g->output_count + e->count;
    for (int i = 0; i < p.readers.count; i++) most += p.readers.order[i]->in_count + p.readers.order[i]->out_count;
    p.edges.count = 0;
    p.edges.of = map_new(cx->arena);
    p.edges.at = NEW_ARRAY(cx->arena, Edge, most);
    p.graph.input = NEW_ARRAY(cx->arena, Tensor *, most);
    p.graph.output = NEW_ARRAY(cx->arena, Tensor *, most);
    for (int i = 0; i < e->count; i++)
        if (e->at[i].group == group) add_ends(&p, g, e->at[i].tensor);
    for (int i = 0; i < p.graph.output_count && !ctx_failed(cx); i++)
        p.graph.output[i] = part_of(&p, p.graph.output[i]);
    *edges = p.edges;
    return p.graph;
}
