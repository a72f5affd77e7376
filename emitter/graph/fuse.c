/* SPDX-License-Identifier: MIT */
/* Fusion by pattern kind, on the post-dominator tree of the DAG.
 *
 * A node's immediate post-dominator d is the first node through which all that it computes must pass. A node joins d's
 * group, with everything on the paths between, when
 *
 *   its group holds an anchor (out-fusable or reduction)  every edge up to d is elementwise and every node <= broadcast;
 *   it is broadcast or less                               d's group is injective or less, a reduction, or an anchor;
 *   it is injective                                       all up to d are injective or less;
 *   it is a transpose                                     d is an anchor and reads it alone: it becomes the anchor's index.
 *
 * The rules are tried phase by phase, so that anchors take their tails before anything else does. A group has at most
 * one anchor. Views and concatenations of separate tensors stand alone: they are places in memory, not work.
 * (After the relay fuser; our own: reductions take an elementwise tail, transposes go into anchors.) */
#include "graph/graph.h"

#include <string.h>

#include "support/map.h"
#include "support/names.h"

typedef struct FuseNode FuseNode;
struct FuseNode {
    Node *node;
    int place;                    /* in order of execution */
    Pattern pattern;
    FuseNode *dominator;          /* immediate post-dominator; NULL: an output, or none */
    Pattern edge;                 /* the most restrictive edge on the way to it */
    int depth;                    /* in the tree */
    FuseNode *group;              /* union-find towards the group's last node */
    Pattern group_pattern;        /* of a root */
    bool is_output;
    int reader_count; FuseNode **reader;
};

typedef struct Fuser { Ctx *cx; int count; FuseNode *at; Map of; } Fuser;

enum { MOST_NODES = 64 };         /* in one group: keeps functions readable */

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

static Pattern edge_pattern(const FuseNode *from, const FuseNode *to)
{
    if (to->pattern == PATTERN_BROADCAST && same_shape(from->node->out[0], to->node->out[0])) return PATTERN_ELEMENTWISE;
    return to->pattern;
}

static bool stands_alone(const Node *n) { return n->kind != NODE_CALL || n->op->is_view || n->op->is_concat; }

/* Readers, each once, in order: counted first, then placed. */
static void add_readers(Fuser *f)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < f->count && pass; i++) {
            f->at[i].reader = NEW_ARRAY(f->cx->arena, FuseNode *, f->at[i].reader_count);
            f->at[i].reader_count = 0;
        }
        for (int i = 0; i < f->count; i++)
            for (int j = 0; j < f->at[i].node->in_count; j++) {
                const Tensor *t = f->at[i].node->in[j];
                FuseNode *p = t ? fuse_node(f, t->maker) : NULL;
                if (!p) continue;
                int n = p->reader_count;
                if (pass && n && p->reader[n - 1] == &f->at[i]) continue;
                if (pass) p->reader[n] = &f->at[i];
                p->reader_count++;
            }
    }
}

static Fuser fuser_new(Ctx *cx, const Graph *g)
{
    Fuser f = { cx, 0, NULL, map_new(cx->arena) };
    Node **order;
    f.count = graph_order(cx, g, &order);
    f.at = NEW_ARRAY(cx->arena, FuseNode, f.count);
    for (int i = 0; i < f.count; i++) {
        FuseNode *n = &f.at[i];
        *n = (FuseNode){ .node = order[i], .place = i, .group = n };
        n->pattern = n->group_pattern = stands_alone(order[i]) ? PATTERN_OPAQUE : order[i]->op->pattern;
        map_put_ptr(&f.of, order[i], n);
    }
    add_readers(&f);
    for (int i = 0; i < g->output_count; i++) {
        FuseNode *n = fuse_node(&f, g->output[i]->maker);
        if (n) n->is_output = true;
    }
    return f;
}

/* The nearest common ancestor in the tree; *edge takes what is met on the way. */
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

/* Whether every node on the paths from n (itself left out) to d, d included, is in a group of pattern at most `most`. */
static bool paths_allow(const FuseNode *n, const FuseNode *d, Pattern most)
{
    for (int r = 0; r < n->reader_count; r++) {
        FuseNode *x = n->reader[r];
        if (root_of(x)->group_pattern > most) return false;
        if (x != d && !paths_allow(x, d, most)) return false;
    }
    return true;
}

static void merge(FuseNode *n, FuseNode *into)
{
    FuseNode *a = root_of(n), *b = root_of(into);
    if (a == b) return;
    if (a->group_pattern > b->group_pattern) b->group_pattern = a->group_pattern;
    a->group = b;
}

static void merge_paths(FuseNode *n, FuseNode *d)
{
    merge(n, d);
    for (int r = 0; r < n->reader_count; r++)
        if (n->reader[r] != d && root_of(n->reader[r]) != root_of(d)) merge_paths(n->reader[r], d);
        else if (n->reader[r] != d) merge(n->reader[r], d);
}

static int group_size(Fuser *f, FuseNode *n)
{
    int size = 0;
    for (int i = 0; i < f->count; i++) size += root_of(&f->at[i]) == root_of(n);
    return size;
}

static bool is_anchor(Pattern p) { return p == PATTERN_OUT_FUSABLE || p == PATTERN_REDUCTION; }

/* The same for the nodes between n and d, both left out. */
static bool interior_allows(FuseNode *n, FuseNode *d, Pattern most)
{
    for (int r = 0; r < n->reader_count; r++)
        if (n->reader[r] != d && (root_of(n->reader[r])->group_pattern > most || !interior_allows(n->reader[r], d, most)))
            return false;
    return true;
}

static bool may_join(FuseNode *n, FuseNode *d, int phase)
{
    Pattern mine = root_of(n)->group_pattern, theirs = root_of(d)->group_pattern;
    if (mine == PATTERN_OPAQUE || theirs == PATTERN_OPAQUE) return false;
    switch (phase) {
    case 0: return is_anchor(mine) && n->edge == PATTERN_ELEMENTWISE && paths_allow(n, d, PATTERN_BROADCAST);
    case 1: return mine <= PATTERN_BROADCAST && (n->edge <= PATTERN_INJECTIVE || n->edge == PATTERN_REDUCTION) &&
                   interior_allows(n, d, PATTERN_INJECTIVE);
    case 2: return mine == PATTERN_INJECTIVE && paths_allow(n, d, PATTERN_INJECTIVE);
    default: return n->node->op->is_transpose && n->reader_count == 1 && n->reader[0] == d &&
                    is_anchor(d->pattern);
    }
}

static void fuse_phase(Fuser *f, int phase)
{
    for (int i = 0; i < f->count; i++) {
        FuseNode *n = &f->at[i], *d = n->dominator;
        if (!d || root_of(n) == root_of(d) || !may_join(n, d, phase)) continue;
        if (group_size(f, n) + group_size(f, d) > MOST_NODES) continue;
        merge_paths(n, d);
    }
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
    FuseNode *n = fuse_node(f, t->maker);
    for (int r = 0; r < n->reader_count; r++)
        for (int j = 0; j < n->reader[r]->node->in_count; j++)
            if (n->reader[r]->node->in[j] == t && root_of(n->reader[r]) != root) return true;
    return false;
}

static bool is_graph_output(const Graph *g, const Tensor *t)
{
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i] == t) return true;
    return false;
}

static Group group_of(Ctx *cx, Fuser *f, const Graph *g, FuseNode *root)
{
    Group out = { 0 };
    int tensors = 0;
    for (int i = 0; i < f->count; i++) {
        if (root_of(&f->at[i]) != root) continue;
        out.node_count++;
        tensors += f->at[i].node->in_count + f->at[i].node->out_count;
    }
    out.node = NEW_ARRAY(cx->arena, Node *, out.node_count);
    out.input = NEW_ARRAY(cx->arena, Tensor *, tensors);
    out.output = NEW_ARRAY(cx->arena, Tensor *, tensors);
    out.node_count = 0;
    Pattern highest = PATTERN_ELEMENTWISE;
    for (int i = 0; i < f->count; i++) {
        Node *n = f->at[i].node;
        if (root_of(&f->at[i]) != root) continue;
        out.node[out.node_count++] = n;
        for (int j = 0; j < n->in_count; j++)
            if (n->in[j] && !is_in(f, n->in[j]->maker, root)) add_tensor(out.input, &out.input_count, n->in[j]);
        for (int j = 0; j < n->out_count; j++)
            if (is_graph_output(g, n->out[j]) || is_read_outside(f, n->out[j], root))
                add_tensor(out.output, &out.output_count, n->out[j]);
        if (!out.anchor || f->at[i].pattern >= highest) {
            out.anchor = n;
            highest = f->at[i].pattern;
        }
    }
    out.name = name_identifier(cx, out.anchor->name);
    return out;
}

/* In order of the groups' last nodes: every input has been made by then. */
Groups fuse(Ctx *cx, const Graph *g)
{
    Fuser f = fuser_new(cx, g);
    dominate(&f);
    for (int phase = 0; phase < 4; phase++) fuse_phase(&f, phase);
    Groups out = { 0, NEW_ARRAY(cx->arena, Group, f.count) };
    for (int i = 0; i < f.count; i++)
        if (root_of(&f.at[i]) == &f.at[i]) out.at[out.count++] = group_of(cx, &f, g, &f.at[i]);
    return out;
}
