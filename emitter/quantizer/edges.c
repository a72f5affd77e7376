/* SPDX-License-Identifier: MIT */
/* Chooses the tensors that get a grid. A call has a role by the facts of its operator's row:
 *
 *   PRODUCT    sums of products of two operands: convolution, dense layer, multiplication; also the sum and the
 *              difference of two tensors
 *   QUOTIENT   the quotient of two tensors
 *   AFFINE     multiplication by, or addition of, a constant
 *   LIMIT      relu, clip
 *   MOVE       every output element is an input element: the grid is shared
 *   MEAN       a mean of elements
 *   CURVE      a function of a single source tensor, elementwise: a table of 256 values
 *   FIXED      a softmax, which has an 8-bit form
 *   WEIGHTS    products with 8-bit weights inside a layer that computes in floats otherwise: its input has a grid
 *   FLOAT      everything else; a concatenation that only float outputs read, with the moves after it, because its
 *              parts keep grids of their own; a selection of elements of a float tensor, such as an input, that only
 *              selections read
 *
 * An AFFINE or LIMIT that is the only reader of a PRODUCT or an AFFINE belongs to its requantization. A LIMIT that is
 * the only reader of a QUOTIENT belongs to the quotient's requantization. The tensor between them then has no grid. A
 * tensor inside a CURVE has no grid. Every other tensor that a call with an integer form reads or writes has a grid.
 *
 * If the user annotated a tensor, the tensor has the grid that the annotation requests, or none, regardless of its
 * calls. */
#include "quantizer/layers.h"
#include "support/text.h"

typedef enum Role { FLOATS, WEIGHTS, PRODUCT, QUOTIENT, AFFINE, LIMIT, MOVE, MEAN, CURVE, FIXED } Role;

typedef struct Facts {
    Role role;
    Tensor *source;                    /* the source tensor of a CURVE */
    bool is_absorbed;                  /* true if the call continues the call that produces its operand */
    bool is_left;                      /* true if the call is FLOATS because of its position in the network */
} Facts;

typedef struct Finder {
    Ctx *cx;
    const Graph *graph;
    int count; Node **order;           /* the calls of `readers` */
    Readers readers;
    Map facts;                         /* maps a node to its Facts */
    Edges edges;
    Ports ports;
    Map narrow;                        /* tensors that a call on 8 bits reads or writes */
    Map parent;                        /* maps a tensor to a tensor with the same grid */
} Finder;

static bool is_data(const Tensor *t) { return t && t->type == F32 && !tensor_is_constant(t); }

static const Request *asked(const Finder *f, const Tensor *t) { return request_of(&f->edges.requests, t); }

static const Facts *facts_of(const Finder *f, const Node *n) { return n ? map_get_ptr(&f->facts, n) : NULL; }

static bool is_single(const Finder *f, const Tensor *t)
{
    return readers_list(&f->readers, t)->count + graph_has_output(f->graph, t) == 1;
}

/* ---- Roles ------------------------------------------------------------------------------------------------------- */

static int data_operands(const Node *n)
{
    int count = 0;
    for (int i = 0; i < n->in_count; i++) count += is_data(n->in[i]);
    return count;
}

/* Returns the tensor of which the call is a function, elementwise with scalar constants, or NULL. */
static Tensor *source_of(const Finder *f, const Node *n)
{
    Tensor *source = NULL;
    if (n->op->fusion.pattern > PATTERN_BROADCAST || n->op->quantization.grid) return NULL;
    for (int i = 0; i < n->in_count; i++) {
        Tensor *t = n->in[i];
        if (!t) continue;
        const Facts *before = is_data(t) ? facts_of(f, t->producer) : NULL;
        Tensor *from = before && before->source && !asked(f, t) ? before->source : t;
        if (tensor_is_constant(t) ? tensor_elems(t) != 1 : !is_data(t) || (source && source != from)) return NULL;
        if (!tensor_is_constant(t)) source = from;
    }
    return source && tensor_elems(source) == tensor_elems(n->out[0]) ? source : NULL;
}

/* Returns true if the requantization of the operand's producer can include the call. */
static bool continues(const Finder *f, const Node *n, Role role)
{
    const Tensor *x = is_data(n->in[0]) ? n->in[0] : n->in_count > 1 ? n->in[1] : NULL;
    const Facts *before = x ? facts_of(f, x->producer) : NULL;
    if (!before || !is_single(f, x) || asked(f, x)) return false;
    if (role == LIMIT) return before->role == PRODUCT || before->role == QUOTIENT || before->role == AFFINE
        || before->is_absorbed;
    return before->role == PRODUCT || before->role == AFFINE;
}

static Role role_of(const Finder *f, const Node *n)
{
    double low, high;
    const OpQuantization *q = n->kind == NODE_CALL ? &n->op->quantization : NULL;
    if (n->kind == NODE_CALL && q->with_integer_weights && is_data(n->in[0])) return WEIGHTS;
    if (n->kind != NODE_CALL || n->out_count != 1 || !is_data(n->out[0]) || q->grid || !data_operands(n)) return FLOATS;
    if (q->output_step > 0 && n->op->fusion.pattern > PATTERN_BROADCAST) return FIXED;
    if (n->op->layout.is_concat || q->moves_elements) return MOVE;
    if (q->limits) return q->limits(n, &low, &high) ? LIMIT : FLOATS;
    if (q->total) return MEAN;
    if (n->op->fold.affine && n->in_count == 2) return data_operands(n) == 1 ? AFFINE : PRODUCT;
    if (q->is_bilinear || (q->is_difference && data_operands(n) == 2)) return PRODUCT;
    if (source_of(f, n)) return CURVE;
    return q->is_quotient && data_operands(n) == 2 ? QUOTIENT : FLOATS;
}

static void find_facts(Finder *f)
{
    for (int i = 0; i < f->count; i++) {
        Facts *x = NEW(f->cx->arena, Facts);
        x->role = role_of(f, f->order[i]);
        x->is_absorbed = (x->role == AFFINE || x->role == LIMIT) && continues(f, f->order[i], x->role);
        if (!x->is_absorbed && (x->role == CURVE || x->role == AFFINE || x->role == LIMIT)) {
            x->source = source_of(f, f->order[i]);
            if (x->source && x->role == AFFINE) x->role = CURVE;
        }
        map_put_ptr(&f->facts, f->order[i], x);
    }
}

/* Returns true if the call only moves elements to outputs. `is_last` holds the later calls for which this is known. */
static bool is_last_move(const Finder *f, const Node *n, const Map *is_last)
{
    const Tensor *t = n->kind == NODE_CALL && n->out_count == 1 ? n->out[0] : NULL;
    if (!t || facts_of(f, n)->role != MOVE || asked(f, t)) return false;
    const ReaderList *readers = readers_list(&f->readers, t);
    bool is_known = readers->count > 0 || graph_has_output(f->graph, t);
    for (int i = 0; i < readers->count; i++) is_known = is_known && map_get_ptr(is_last, readers->at[i]);
    return is_known;
}

static void leave_in_floats(Finder *f, const Node *n)
{
    Facts *x = map_get_ptr(&f->facts, n);
    *x = (Facts){ .role = FLOATS, .is_left = true };
}

/* Keeps concatenations before float outputs, and the moves after them, in floats. */
static void find_float_ends(Finder *f)
{
    Map is_last = map_new(f->cx->arena);
    if (f->ports != PORTS_FLOAT) return;
    for (int i = f->count - 1; i >= 0; i--)
        if (is_last_move(f, f->order[i], &is_last)) map_put_ptr(&is_last, f->order[i], f);
    for (int i = 0; i < f->count; i++) {
        const Node *n = f->order[i];
        if (!map_get_ptr(&is_last, n)) continue;
        bool is_behind = n->op->layout.is_concat && n->in_count > 1;
        for (int k = 0; k < n->in_count; k++)
            is_behind = is_behind || (n->in[k] && n->in[k]->producer && facts_of(f, n->in[k]->producer)->is_left);
        if (is_behind) leave_in_floats(f, n);
    }
}

/* Returns true if the call only selects elements of its operand, or moves them only to calls that select. `leads` holds
 * the later calls for which this is known. */
static bool leads_to_parts(const Finder *f, const Node *n, const Map *leads)
{
    if (n->kind != NODE_CALL || facts_of(f, n)->role != MOVE || data_operands(n) != 1) return false;
    const Tensor *y = n->out[0];
    const ReaderList *readers = readers_list(&f->readers, y);
    if (selects_elements(f->cx, n)) return true;
    bool is_known = readers->count > 0 && !graph_has_output(f->graph, y) && !asked(f, y);
    for (int i = 0; i < readers->count; i++) is_known = is_known && map_get_ptr(leads, readers->at[i]);
    return is_known;
}

/* Selections of tensors that are in floats, and the moves before them, remain in floats, so that each part has a grid
 * of its own. */
static void find_float_starts(Finder *f)
{
    Map leads = map_new(f->cx->arena);
    for (int i = f->count - 1; i >= 0; i--)
        if (leads_to_parts(f, f->order[i], &leads)) map_put_ptr(&leads, f->order[i], f);
    for (int i = 0; i < f->count; i++) {
        const Node *n = f->order[i];
        const Tensor *x = n->in_count ? n->in[0] : NULL;
        bool is_float = map_get_ptr(&leads, n) && !asked(f, x) && !graph_has_output(f->graph, x) &&
            (x->producer ? facts_of(f, x->producer)->role == FLOATS : f->ports == PORTS_FLOAT);
        const ReaderList *readers = readers_list(&f->readers, x);
        for (int k = 0; is_float && k < readers->count; k++) is_float = map_get_ptr(&leads, readers->at[k]) != NULL;
        if (is_float) leave_in_floats(f, n);
    }
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static const Tensor *root_of(const Finder *f, const Tensor *t)
{
    for (const Tensor *up; (up = map_get_const_ptr(&f->parent, t)); t = up) continue;
    return t;
}

static bool are_alike(const Request *a, const Request *b)
{
    if (!a || !b) return true;
    return a->bits == b->bits && a->has_grid == b->has_grid &&
        (!a->has_grid || (a->grid.step == b->grid.step && a->grid.zero == b->grid.zero));
}

/* Gives both tensors one grid, unless the user gave each tensor a grid. */
static void share(Finder *f, const Tensor *a, const Tensor *b)
{
    if (!are_alike(asked(f, a), asked(f, b))) return;
    a = root_of(f, a);
    b = root_of(f, b);
    if (a != b) map_put_const_ptr(&f->parent, b, a);
}

static void add_edge(Finder *f, Tensor *t, bool is_narrow)
{
    const Request *r = asked(f, t);
    if (r && r->bits == FLOAT_BITS) return;
    if (is_data(t) && is_narrow) map_put_ptr(&f->narrow, t, t);
    if (!is_data(t) || map_get_ptr(&f->edges.of, t)) return;
    Edge *e = &f->edges.at[f->edges.count++];
    *e = (Edge){ t, -1, 0, 0 };
    map_put_ptr(&f->edges.of, t, e);
}

/* Gives grids to the operands that the call reads as integers. */
static void add_operands(Finder *f, const Node *n, const Facts *x)
{
    if (x->role == FLOATS || x->is_absorbed) return;
    if (x->source || x->role == WEIGHTS) {
        add_edge(f, x->source ? x->source : n->in[0], x->source != NULL);
        return;
    }
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) add_edge(f, n->in[i], x->role != MOVE);
}

/* Returns true if every reader of the call's output includes it in its own computation. */
static bool is_interior(const Finder *f, const Tensor *t)
{
    const ReaderList *readers = readers_list(&f->readers, t);
    const Facts *own = facts_of(f, t->producer);
    if (graph_has_output(f->graph, t)) return false;
    for (int i = 0; i < readers->count; i++) {
        const Facts *reader = facts_of(f, readers->at[i]);
        if (asked(f, t)) return false;
        if (!reader->is_absorbed && !(own->source && reader->source == own->source)) return false;
    }
    return readers->count > 0;
}

static void add_edges(Finder *f)
{
    int most = f->graph->input_count;
    for (int i = 0; i < f->count; i++) most += f->order[i]->out_count + f->order[i]->in_count;
    f->edges.at = NEW_ARRAY(f->cx->arena, Edge, most);
    for (int i = 0; i < f->graph->input_count; i++)
        if (asked(f, f->graph->input[i])) add_edge(f, f->graph->input[i], false);
    for (int i = 0; i < f->count; i++) {
        const Node *n = f->order[i];
        const Facts *x = facts_of(f, n);
        add_operands(f, n, x);
        if (x->role != FLOATS && x->role != WEIGHTS && !is_interior(f, n->out[0]))
            add_edge(f, n->out[0], x->role != MOVE);
        for (int k = 0; k < n->out_count; k++)
            if (asked(f, n->out[k])) add_edge(f, n->out[k], x->role == FLOATS);
        for (int k = 0; x->role == MOVE && k < n->in_count; k++)
            if (is_data(n->in[k])) share(f, n->in[k], n->out[0]);
    }
}

static EdgeRange range_of(const Finder *f, const Edge *e)
{
    const Node *n = e->tensor->producer;
    const Request *r = asked(f, e->tensor);
    if (r && r->has_grid) return EDGE_GIVEN;
    if (n && n->kind == NODE_CALL && n->op->quantization.output_step > 0) return EDGE_FIXED;
    if (graph_has_output(f->graph, e->tensor)) return EDGE_WHOLE;
    const ReaderList *readers = readers_list(&f->readers, e->tensor);
    for (int i = 0; i < readers->count; i++)
        if (facts_of(f, readers->at[i])->role == FIXED) return EDGE_WHOLE;
    return EDGE_CALIBRATED;
}

static bool is_port(const Finder *f, const Tensor *t)
{
    for (int i = 0; i < f->graph->input_count; i++)
        if (f->graph->input[i] == t) return true;
    return graph_has_output(f->graph, t);
}

/* Returns true if all calls that read or write the tensor accept 16 bits. */
static bool is_wide(const Finder *f, const Tensor *t)
{
    const Request *r = asked(f, t);
    if (r && r->bits == 8) return false;
    return !map_get_ptr(&f->narrow, t) && !(is_port(f, t) && f->ports != PORTS_FLOAT);
}

/* Gives the group the grid that a tensor determines without its neighbours. */
static void give_grid(const Finder *f, EdgeGroup *g, const Tensor *t)
{
    if (g->range == EDGE_GIVEN) g->grid = asked(f, t)->grid;
    if (g->range != EDGE_FIXED) return;
    const OpQuantization *q = &t->producer->op->quantization;
    g->grid = g->fixed = (Grid){ q->output_step, q->output_zero, INT8_MIN, INT8_MAX };
    g->is_table = facts_of(f, t->producer)->role == CURVE;
}

/* Makes the port 16 bits wide; a port with a given grid keeps it. */
static void widen(EdgeGroup *g)
{
    if (g->range == EDGE_GIVEN) return;
    g->bits = 16;
    g->is_given = true;
}

/* Adds the tensor to its group. A group of several tensors is calibrated, unless each of them has the same fixed grid,
 * or one has a given grid. */
static void add_group(Finder *f, Edge *e, Map *group_of)
{
    const Tensor *root = root_of(f, e->tensor);
    const EdgeGroup *known = map_get_ptr(group_of, root);
    const EdgeRange range = range_of(f, e);
    if (known && f->ports == PORTS_INT16 && is_port(f, e->tensor)) widen(&f->edges.group[known - f->edges.group]);
    if (known) {
        f->edges.group[known - f->edges.group].is_wide &= is_wide(f, e->tensor);
        EdgeGroup *g = &f->edges.group[e->group = (int)(known - f->edges.group)];
        if (asked(f, e->tensor) && asked(f, e->tensor)->bits == 16) g->bits = 16;
        const bool is_moved = e->tensor->producer && facts_of(f, e->tensor->producer)->role == MOVE;
        if (g->range == EDGE_GIVEN) return;
        if (range == EDGE_FIXED && facts_of(f, e->tensor->producer)->role != CURVE) g->is_table = false;
        if (range == EDGE_GIVEN) {
            g->range = range;
            give_grid(f, g, e->tensor);
        } else if (g->range != range && !(is_moved && g->range == EDGE_FIXED))
            g->range = g->range == EDGE_WHOLE || range == EDGE_WHOLE ? EDGE_WHOLE : EDGE_CALIBRATED;
        return;
    }
    EdgeGroup *g = &f->edges.group[e->group = f->edges.group_count++];
    const Request *r = asked(f, e->tensor);
    *g = (EdgeGroup){ .name = e->tensor->name, .range = range, .is_wide = is_wide(f, e->tensor), .bits = 8 };
    g->is_given = r && (r->has_grid || r->bits == 16);
    if (r && r->bits == 16) g->bits = 16;
    if (f->ports == PORTS_INT16 && is_port(f, e->tensor)) widen(g);
    give_grid(f, g, e->tensor);
    map_put_ptr(group_of, root, g);
}

/* Returns true if the tensor is only moved, or read by functions with a grid of their own over several elements. */
static bool is_read_by_results(const Finder *f, const Tensor *t, bool *has_result)
{
    const ReaderList *readers = readers_list(&f->readers, t);
    if (graph_has_output(f->graph, t)) return false;
    for (int i = 0; i < readers->count; i++) {
        const Role role = facts_of(f, readers->at[i])->role;
        if (role != FIXED && role != MOVE) return false;
        *has_result = *has_result || role == FIXED;
    }
    return true;
}

/* Finds groups whose tensors only functions with a grid of their own over several elements read, perhaps after moves.
 * The error of these functions determines the range. */
static void find_ranges_by_result(Finder *f)
{
    bool *is_other = NEW_ARRAY(f->cx->arena, bool, f->edges.group_count);
    bool *has_result = NEW_ARRAY(f->cx->arena, bool, f->edges.group_count);
    for (int i = 0; i < f->edges.count; i++) {
        const Edge *e = &f->edges.at[i];
        if (!is_read_by_results(f, e->tensor, &has_result[e->group])) is_other[e->group] = true;
    }
    for (int i = 0; i < f->edges.group_count; i++)
        if (f->edges.group[i].range == EDGE_WHOLE && has_result[i] && !is_other[i])
            f->edges.group[i].range = EDGE_BY_RESULT;
}

/* Finds the calibrated groups whose tensors only functions of one tensor read, perhaps after moves, and lists these
 * functions in them. */
static void find_curves(Finder *f)
{
    bool *is_other = NEW_ARRAY(f->cx->arena, bool, f->edges.group_count);
    for (int i = 0; i < f->edges.count; i++) {
        const Edge *e = &f->edges.at[i];
        const ReaderList *readers = readers_list(&f->readers, e->tensor);
        EdgeGroup *g = &f->edges.group[e->group];
        for (int k = 0; k < readers->count; k++) {
            const Node *n = readers->at[k];
            const Facts *x = facts_of(f, n);
            if (x->role != MOVE && x->source != e->tensor) is_other[e->group] = true;
        }
        if (g->range != EDGE_CALIBRATED || graph_has_output(f->graph, e->tensor)) is_other[e->group] = true;
    }
    for (int i = 0; i < f->count; i++) {
        const Node *n = f->order[i];
        const Facts *x = facts_of(f, n);
        const Edge *from = x->source && map_get_ptr(&f->edges.of, n->out[0]) ? edge_of(&f->edges, x->source) : NULL;
        if (!from || is_other[from->group] || n->out[0]->type != F32) continue;
        CurveOf *c = NEW(f->cx->arena, CurveOf);
        *c = (CurveOf){ x->source, n->out[0], f->edges.group[from->group].curves };
        f->edges.group[from->group].curves = c;
    }
}

Edges edges_of(Ctx *cx, const Graph *g, Ports ports)
{
    Finder f = { .cx = cx, .graph = g, .ports = ports, .narrow = map_new(cx->arena),
                 .facts = map_new(cx->arena), .parent = map_new(cx->arena) };
    Map group_of = map_new(cx->arena);
    f.edges.of = map_new(cx->arena);
    f.edges.requests = requests_of(cx, g);
    f.readers = readers_of(cx, g);
    f.count = f.readers.count;
    f.order = f.readers.order;
    find_facts(&f);
    find_float_starts(&f);
    find_float_ends(&f);
    add_edges(&f);
    f.edges.group = NEW_ARRAY(cx->arena, EdgeGroup, f.edges.count);
    for (int i = 0; i < f.edges.count; i++) add_group(&f, &f.edges.at[i], &group_of);
    find_ranges_by_result(&f);
    find_curves(&f);
    find_between(cx, &f.readers, &f.edges);
    return f.edges;
}

const Tensor *edges_without_grid(const Edges *e)
{
    for (int i = 0; i < e->count; i++) {
        const EdgeGroup *g = &e->group[e->at[i].group];
        if (g->range != EDGE_GIVEN && (g->range != EDGE_FIXED || g->is_wide)) return e->at[i].tensor;
    }
    return NULL;
}
