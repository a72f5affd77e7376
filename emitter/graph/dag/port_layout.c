/* SPDX-License-Identifier: MIT */
/* Names the dimensions of an input or output: "NHWC", "NCHW". Operators with windows define the order of their
 * dimensions (OpLayout.has_windows). The order is followed through transposes, and through operators that commute with
 * transposes (elementwise, padding, slices), but not through reshapes. A tensor has no layout if no such path connects
 * it with a window. */

/* Decision: a port's layout follows from the dataflow. No file says whether an input is NHWC. Operators with windows
 * define the order of their dimensions (`OpLayout.has_windows`), and `graph/dag/port_layout.c` carries it to the
 * inputs and outputs. */
#include "graph/dag/definition.h"
#include "graph/dag/graph.h"
#include "graph/dag/op_build.h"

#include <string.h>

/* place[d] is the dimension of the port that is dimension d of the tensor. */
typedef struct Carried { int place[MAX_RANK]; } Carried;

static Carried *unmoved(Ctx *cx, int rank)
{
    Carried *c = NEW(cx->arena, Carried);
    for (int d = 0; d < rank; d++) c->place[d] = d;
    return c;
}

/* Returns true if the formula of the call reads x along the dimensions of its result. */
static bool formula_keeps_dimensions(Ctx *cx, const Node *n, const Tensor *x)
{
    const Definition *d = n->op->definition;
    bool keeps = d && d->in_count == n->in_count;
    for (int k = 0; keeps && k < n->in_count; k++)
        keeps = n->in[k] != x || definition_keeps_dimensions(cx, d, k);
    return keeps;
}

static bool keeps_dimensions(Ctx *cx, const Node *n, const Tensor *x)
{
    const OpLayout *l = &n->op->layout;
    if (n->op->definition && n->out[0]->rank == x->rank) return formula_keeps_dimensions(cx, n, x);
    return n->out[0]->rank == x->rank && (l->permute || (n->op->fusion.pattern <= PATTERN_BROADCAST && !l->is_view));
}

/* Returns the names of the port's dimensions, if the tensor's dimensions are [n][spatial..][c]. */
static const char *named(Ctx *cx, const Carried *c, int rank)
{
    static const char *const spatial[] = { "W", "HW", "DHW" };
    if (rank < 3 || rank > 5) return NULL;
    char *name = arena_alloc(cx->arena, (size_t)rank + 1);
    const char *word = text_format(cx, "N%sC", spatial[rank - 3]);
    for (int d = 0; d < rank; d++) name[c->place[d]] = word[d];
    name[rank] = '\0';
    return name;
}

/* Returns the places of the output's dimensions, given the places of operand x's dimensions. Returns NULL if the
 * operator does not preserve dimensions. */
static Carried *carried_on(Ctx *cx, const Node *n, const Tensor *x, const Carried *c)
{
    Carried *moved = NEW(cx->arena, Carried);
    int perm[MAX_RANK];
    *moved = *c;
    if (n->op->layout.is_transpose) {
        transpose_perm(n, perm);
        for (int d = 0; d < x->rank; d++) moved->place[d] = c->place[perm[d]];
        return moved;
    }
    return keeps_dimensions(cx, n, x) ? moved : NULL;
}

const char *graph_input_layout(Ctx *cx, Tensor *const *output, int output_count, const Tensor *input)
{
    Node **order;
    Map places = map_new(cx->arena);
    const int count = dag_order(cx, output, output_count, &order);
    map_put_ptr(&places, input, unmoved(cx, input->rank));
    for (int i = 0; i < count; i++) {
        const Node *n = order[i];
        for (int k = 0; n->kind == NODE_CALL && k < n->in_count; k++) {
            const Carried *c = n->in[k] ? map_get_ptr(&places, n->in[k]) : NULL;
            if (!c) continue;
            if (n->op->layout.has_windows && k == 0) return named(cx, c, n->in[k]->rank);
            map_put_ptr(&places, n->out[0], carried_on(cx, n, n->in[k], c));
        }
    }
    return NULL;
}

/* Walks from the output to the inputs, so dimension d of the tensor is dimension place[d] of the output. */
const char *graph_output_layout(Ctx *cx, const Tensor *output)
{
    const Carried *c = unmoved(cx, output->rank);
    const Tensor *t = output;
    for (const Node *n = t->producer; n && n->kind == NODE_CALL && t == n->out[0]; n = t->producer) {
        int perm[MAX_RANK];
        if (n->op->layout.has_windows) return named(cx, c, t->rank);
        if (!n->in_count || !n->in[0]) return NULL;
        Carried *before = NEW(cx->arena, Carried);
        *before = *c;
        if (n->op->layout.is_transpose) {
            transpose_perm(n, perm);
            for (int d = 0; d < t->rank; d++) before->place[perm[d]] = c->place[d];
        } else if (!keeps_dimensions(cx, n, n->in[0])) {
            return NULL;
        }
        c = before;
        t = n->in[0];
    }
    return NULL;
}
