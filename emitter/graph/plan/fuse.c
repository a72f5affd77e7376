/* SPDX-License-Identifier: MIT */
/* Fuses calls by their patterns, on the post-dominator tree of the DAG.
 *
 * A node's immediate post-dominator d is the first node on every path from it to the outputs. A node joins d's group,
 * together with all nodes on the paths between, if
 *
 *   its group has an anchor (out-fusable or reduction)   every edge up to d is elementwise and every node <= broadcast;
 *   it is broadcast or less                              d's group is injective or less, a reduction, or an anchor;
 *   it is injective                                      all up to d are injective or less;
 *   it is a transpose                                    d is an anchor and its only consumer: folded into d's indices;
 *   it is injective or less, over constants, or unpacks  the same: weights stored narrower than they are read, with
 *                                                        scales that repeat, or in another order.
 *
 * Afterwards, a group's last node that only widens elements for another group moves to that group. The rules run phase
 * by phase, so anchors fuse their epilogues first. A group has at most one anchor. Views and concatenations of separate
 * tensors are groups of their own: they alias memory and compute nothing. (The rules follow TVM Relay's fuser, which
 * has no elementwise epilogue of a reduction and no transpose in an anchor.) */

/* Decision: tensors between groups are narrow. Epilogues are fused greedily, so a group may end in a call that only
 * widens (an int8 rescaled to i32 for a following sum). Such a last call moves to its consumer's group
 * (`graph/plan/fuse.c`): a quarter of the memory, and the sum can then be computed in place. */
#include "graph/dag/region.h"

#include <string.h>

#include "graph/plan/plan.h"
#include "support/map.h"
#include "support/names.h"

typedef struct FuseNode FuseNode;
struct FuseNode {
    Node *node;
    int order_index;              /* index in execution order */
    Pattern pattern;
    FuseNode *dominator;          /* the immediate post-dominator; NULL for an output, or if there is none */
    Pattern edge;                 /* the most restrictive edge on the paths to the dominator */
    int depth;                    /* depth in the tree of post-dominators */
    FuseNode *group;              /* union-find towards the group's last node */
    Pattern group_pattern;        /* valid for a root */
    int group_size;               /* of a root: the number of nodes */
    bool is_output;
    /* True if the node's group computes it only from constants, such as scales that are repeated along an axis. */
    bool over_constants;
    int mark;                     /* number of the last walk that visited the node */
    int reader_count; FuseNode **reader;
};

typedef struct Fuser {
    Ctx *cx;
    int count; FuseNode *at;      /* in order of execution */
    Map of;                       /* maps a Node to its FuseNode */
    int walks, path_count; FuseNode **path;
} Fuser;

enum { MOST_NODES = 64 };         /* the most nodes in one group, which limits the length of functions */

static FuseNode *fuse_node(const Fuser *f, const Node *n) { return n ? map_get_ptr(&f->of, n) : NULL; }

static FuseNode *root_of(FuseNode *n)
{
    while (n->group != n) n = n->group = n->group->group;
    return n;
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

/* Returns the pattern of the edge. A broadcast is elementwise in an operand that already has the result's shape. */
static Pattern edge_pattern(const FuseNode *from, const FuseNode *to)
{
    bool is_same = to->pattern == PATTERN_BROADCAST;
    for (int i = 0; i < to->node->in_count; i++) {
        const Tensor *t = to->node->in[i];
        if (t && t->producer == from->node && !same_shape(t, to->node->out[0])) is_same = false;
    }
    return is_same ? PATTERN_ELEMENTWISE : to->pattern;
}

const Expr *group_bound_size(const Group *g)
{
    return g->node_count == 1 ? bound_size(g->node[0]) : NULL;
}

bool plan_is_front(const Node *n)
{
    const int64_t axis = node_int(n, "axis", 0);
    bool is_first = n->op->layout.cuts && !tensor_is_constant(n->in[0]);
    if (is_first && node_int(n, "equal", 0)) return true;
    for (int64_t d = 0; d < axis; d++) is_first = is_first && tensor_dim(n->in[0], (int)d) == 1;
    return is_first;
}

static bool stands_alone(const Node *n)
{
    return n->kind != NODE_CALL || n->op->layout.is_view || n->op->layout.is_concat || n->op->layout.binds_size
           || plan_is_front(n);
}

/* Lists the consumers in order, each once. A first pass counts them, and a second one fills the lists. */
static void add_readers(Fuser *f)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < f->count && pass; i++) {
            f->at[i].reader = NEW_ARRAY(f->cx->scratch, FuseNode *, f->at[i].reader_count);
            f->at[i].reader_count = 0;
        }
        for (int i = 0; i < f->count; i++)
            for (int j = 0; j < f->at[i].node->in_count; j++) {
                const Tensor *t = f->at[i].node->in[j];
                FuseNode *p = t ? fuse_node(f, t->producer) : NULL;
                if (!p) continue;
                int n = p->reader_count;
                if (pass && n && p->reader[n - 1] == &f->at[i]) continue;
                if (pass) p->reader[n] = &f->at[i];
                p->reader_count++;
            }
    }
}

/* Returns the nodes with their consumers, in scratch memory. */
static Fuser fuser_new(Ctx *cx, const Graph *g)
{
    Fuser f = { .cx = cx, .of = map_new(cx->scratch) };
    Node **order;
    f.count = graph_order(cx, g, &order);
    f.at = NEW_ARRAY(cx->scratch, FuseNode, f.count);
    f.path = NEW_ARRAY(cx->scratch, FuseNode *, f.count);
    for (int i = 0; i < f.count; i++) {
        FuseNode *n = &f.at[i];
        *n = (FuseNode){ .node = order[i], .order_index = i, .group = n, .group_size = 1 };
        n->pattern = n->group_pattern = stands_alone(order[i]) ? PATTERN_OPAQUE : order[i]->op->fusion.pattern;
        map_put_ptr(&f.of, order[i], n);
    }
    add_readers(&f);
    for (int i = 0; i < g->output_count; i++) {
        FuseNode *n = fuse_node(&f, g->output[i]->producer);
        if (n) n->is_output = true;
    }
    return f;
}

/* Returns the nearest common ancestor in the tree; *edge accumulates the edges on the way. */
static FuseNode *common(FuseNode *a, FuseNode *b, Pattern *edge)
{
    while (a && b && a != b) {
        FuseNode **deeper = a->depth >= b->depth ? &a : &b;
        if ((*deeper)->edge > *edge) *edge = (*deeper)->edge;
        *deeper = (*deeper)->dominator;
    }
    return a == b ? a : NULL;
}

static void dominate(Fuser *f)
{
    for (int i = f->count - 1; i >= 0; i--) {
        FuseNode *n = &f->at[i];
        if (n->is_output || !n->reader_count) continue;
        FuseNode *d = n->reader[0];
        n->edge = edge_pattern(n, d);
        for (int r = 1; r < n->reader_count && d; r++) {
            Pattern e = edge_pattern(n, n->reader[r]);
            if (e > n->edge) n->edge = e;
            d = common(d, n->reader[r], &n->edge);
        }
        n->dominator = d;
        n->depth = d ? d->depth + 1 : 0;
    }
}

/* ---- Joining --------------------------------------------------------------------------------------------------- */

static void mark_readers(const Fuser *f, const FuseNode *n)
{
    for (int r = 0; r < n->reader_count; r++) n->reader[r]->mark = f->walks;
}

/* Fills f->path with the nodes on the paths from n to its dominator, in order, without n; the dominator is the last. */
static void walk_path(Fuser *f, const FuseNode *n)
{
    f->walks++;
    f->path_count = 0;
    mark_readers(f, n);
    for (int i = n->order_index + 1; i <= n->dominator->order_index; i++) {
        if (f->at[i].mark != f->walks) continue;
        f->path[f->path_count++] = &f->at[i];
        if (i < n->dominator->order_index) mark_readers(f, &f->at[i]);
    }
}

/* Returns true if the groups of the path's first `count` nodes have patterns up to `most`. */
static bool path_allows(const Fuser *f, int count, Pattern most)
{
    for (int i = 0; i < count; i++)
        if (root_of(f->path[i])->group_pattern > most) return false;
    return true;
}

/* Returns the size of the group that n, its path and their groups would form. A group's root is its last node. The root
 * of each group other than n's and the dominator's is therefore on the path. */
static int joined_size(const Fuser *f, FuseNode *n)
{
    FuseNode *a = root_of(n), *b = root_of(n->dominator);
    int size = a->group_size + b->group_size;
    for (int i = 0; i < f->path_count; i++) {
        FuseNode *x = f->path[i];
        if (root_of(x) == x && x != a && x != b) size += x->group_size;
    }
    return size;
}

static void merge(FuseNode *n, FuseNode *into)
{
    FuseNode *a = root_of(n), *b = root_of(into);
    if (a == b) return;
    if (a->group_pattern > b->group_pattern) b->group_pattern = a->group_pattern;
    b->group_size += a->group_size;
    a->group = b;
}

static bool is_anchor(Pattern p) { return p == PATTERN_OUT_FUSABLE || p == PATTERN_REDUCTION; }

static bool is_over_constants(const Fuser *f, FuseNode *n)
{
    for (int i = 0; i < n->node->in_count; i++) {
        const Tensor *t = n->node->in[i];
        FuseNode *from = t ? fuse_node(f, t->producer) : NULL;
        if (t && !tensor_is_constant(t) && !(from && from->over_constants && root_of(from) == root_of(n))) return false;
    }
    return n->pattern <= PATTERN_INJECTIVE || n->node->op->layout.unpacks;
}

/* Marks the nodes that are computed only from constants, operands first. This phase precedes the last one, which does
 * not join these nodes to each other. */
static void find_over_constants(Fuser *f)
{
    for (int i = 0; i < f->count; i++)
        f->at[i].over_constants = f->at[i].node->kind == NODE_CALL && is_over_constants(f, &f->at[i]);
}

/* Returns true if n may join its dominator's group. Fills f->path if the rule needs it, and always if the result is
 * true. */
static bool may_join(Fuser *f, FuseNode *n, int phase)
{
    FuseNode *d = n->dominator;
    Pattern mine = root_of(n)->group_pattern;
    bool may = false;
    if (mine == PATTERN_OPAQUE || root_of(d)->group_pattern == PATTERN_OPAQUE) return false;
    switch (phase) {
    case 0: may = is_anchor(mine) && n->edge == PATTERN_ELEMENTWISE; break;
    case 1: may = mine <= PATTERN_BROADCAST && (n->edge <= PATTERN_INJECTIVE || n->edge == PATTERN_REDUCTION); break;
    case 2: may = mine == PATTERN_INJECTIVE; break;
    default: may = (n->node->op->layout.is_transpose || n->over_constants) && n->reader_count == 1 &&
        n->reader[0] == d && is_anchor(d->pattern);
    }
    if (!may) return false;
    walk_path(f, n);
    switch (phase) {
    case 0: return path_allows(f, f->path_count, PATTERN_BROADCAST);
    case 1: return path_allows(f, f->path_count - 1, PATTERN_INJECTIVE);
    case 2: return path_allows(f, f->path_count, PATTERN_INJECTIVE);
    default: return true;
    }
}

/* Returns true if all calls on the path belong to the same function of a device, or if none belongs to one. */
static bool is_of_one_match(const Fuser *f, const FuseNode *n)
{
    for (int i = 0; i < f->path_count; i++)
        if (f->path[i]->node->match != n->node->match) return false;
    return true;
}

static void fuse_phase(Fuser *f, int phase)
{
    for (int i = 0; i < f->count; i++) {
        FuseNode *n = &f->at[i], *d = n->dominator;
        if (!d || root_of(n) == root_of(d) || !may_join(f, n, phase) || !is_of_one_match(f, n)) continue;
        if (joined_size(f, n) > MOST_NODES) continue;
        merge(n, d);
        for (int p = 0; p < f->path_count; p++) merge(f->path[p], d);
    }
}

/* ---- Widening nodes ---------------------------------------------------------------------------------------------- */

static int element_bytes(const FuseNode *n) { return dtype_info(n->node->out[0]->type)->bytes; }

/* Returns the producer of the only non-constant operand. Returns NULL if there are several such operands, or if the
 * operand is an input. */
static FuseNode *only_producer(const Fuser *f, const FuseNode *n)
{
    FuseNode *producer = NULL;
    for (int i = 0; i < n->node->in_count; i++) {
        const Tensor *t = n->node->in[i];
        if (!t || tensor_is_constant(t)) continue;
        if (producer || !t->producer || !same_shape(t, n->node->out[0])) return NULL;
        producer = fuse_node(f, t->producer);
    }
    return producer;
}

/* Moves a group's last node that only widens elements for one consumer into the consumer's group, so the tensor between
 * the groups stays narrow. The node before it becomes the root. */
static void move_widening(Fuser *f, FuseNode *last)
{
    FuseNode *reader = last->reader_count == 1 ? last->reader[0] : NULL, *producer = only_producer(f, last);
    if (!reader || !producer || last->is_output || producer->is_output || producer->reader_count != 1
        || root_of(producer) != last || last->pattern > PATTERN_BROADCAST)
        return;
    FuseNode *to = root_of(reader);
    if (to == last || to->node->match != last->node->match || to->group_pattern == PATTERN_OPAQUE
        || edge_pattern(last, reader) != PATTERN_ELEMENTWISE || to->group_size == MOST_NODES)
        return;
    if (element_bytes(producer) >= element_bytes(last)) return;
    producer->group_pattern = last->group_pattern;
    producer->group_size = last->group_size - 1;
    for (int i = 0; i < f->count; i++) f->at[i].group = root_of(&f->at[i]);
    for (int i = 0; i < f->count; i++)
        if (f->at[i].group == last) f->at[i].group = producer;
    last->group = to;
    to->group_size++;
}

/* ---- The groups ------------------------------------------------------------------------------------------------ */

static bool is_in(const Fuser *f, const Node *n, FuseNode *root)
{
    FuseNode *x = fuse_node(f, n);
    return x && root_of(x) == root;
}

static void add_tensor(Tensor **list, int *count, Tensor *t)
{
    for (int i = 0; i < *count; i++)
        if (list[i] == t) return;
    list[(*count)++] = t;
}

static bool is_read_outside(const Fuser *f, const Tensor *t, FuseNode *root)
{
    FuseNode *n = fuse_node(f, t->producer);
    for (int r = 0; r < n->reader_count; r++)
        for (int j = 0; j < n->reader[r]->node->in_count; j++)
            if (n->reader[r]->node->in[j] == t && root_of(n->reader[r]) != root) return true;
    return false;
}

/* Completes a region, which is a group of its own. The group produces all its outputs, used or not. */
static void complete_region(Ctx *cx, Group *out)
{
    Node *n = out->anchor = out->node[0];
    out->name = name_identifier(cx, n->name);
    out->input = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    out->output = n->out;
    out->output_count = n->out_count;
    for (int k = 0; k < n->in_count; k++)
        if (region_reads(n, k)) add_tensor(out->input, &out->input_count, n->in[k]);
}

/* Fills in the group's inputs, its outputs for other groups, and its anchor: the last node of the highest pattern. */
static void complete_group(const Fuser *f, const Graph *g, FuseNode *root, Group *out)
{
    int tensors = 0;
    for (int i = 0; i < out->node_count; i++) tensors += out->node[i]->in_count + out->node[i]->out_count;
    out->input = NEW_ARRAY(f->cx->arena, Tensor *, tensors);
    out->output = NEW_ARRAY(f->cx->arena, Tensor *, tensors);
    Pattern highest = PATTERN_ELEMENTWISE;
    for (int i = 0; i < out->node_count; i++) {
        Node *n = out->node[i];
        const FuseNode *x = fuse_node(f, n);
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j] && !is_in(f, n->in[j]->producer, root)) add_tensor(out->input, &out->input_count, n->in[j]);
        for (int j = 0; j < n->out_count; j++)
            if ((x->is_output && graph_has_output(g, n->out[j])) || is_read_outside(f, n->out[j], root))
                add_tensor(out->output, &out->output_count, n->out[j]);
        if (!out->anchor || x->pattern >= highest) {
            out->anchor = n;
            highest = x->pattern;
        }
    }
    out->name = name_identifier(f->cx, out->anchor->name);
}

static void fuse_all(Fuser *f)
{
    dominate(f);
    for (int phase = 0; phase < 3; phase++) fuse_phase(f, phase);
    find_over_constants(f);
    fuse_phase(f, 3);
    for (int i = f->count - 1; i >= 0; i--)
        if (root_of(&f->at[i]) == &f->at[i]) move_widening(f, &f->at[i]);
}

/* Orders groups by their last nodes. Every input precedes its group, because only a group's last node is read
 * outside. */
static Groups groups_of(Ctx *cx, const Graph *g, bool fuses)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Fuser f = fuser_new(cx, g);
    if (fuses) fuse_all(&f);
    Groups out = { 0, NEW_ARRAY(cx->arena, Group, f.count) };
    FuseNode **root = NEW_ARRAY(cx->scratch, FuseNode *, f.count);
    Map group_of = map_new(cx->scratch);
    for (int i = 0; i < f.count; i++) {
        FuseNode *n = &f.at[i];
        if (root_of(n) != n) continue;
        out.at[out.count].node = NEW_ARRAY(cx->arena, Node *, n->group_size);
        map_put_ptr(&group_of, n, &out.at[out.count]);
        root[out.count++] = n;
    }
    for (int i = 0; i < f.count; i++) {
        Group *group = map_get_ptr(&group_of, root_of(&f.at[i]));
        group->node[group->node_count++] = f.at[i].node;
    }
    for (int i = 0; i < out.count; i++) {
        if (root[i]->node->kind == NODE_REGION) complete_region(cx, &out.at[i]);
        else complete_group(&f, g, root[i], &out.at[i]);
    }
    arena_reset(cx->scratch, mark);
    return out;
}

Groups fuse(Ctx *cx, const Graph *g) { return groups_of(cx, g, true); }
Groups groups_of_calls(Ctx *cx, const Graph *g) { return groups_of(cx, g, false); }

const char *group_ops_text(Ctx *cx, const Group *g, const char *between)
{
    Text ops = text_new(cx);
    for (int i = 0; i < g->node_count; i++) text_printf(&ops, "%s%s", i ? between : "", g->node[i]->op->name);
    return text_string(&ops);
}
