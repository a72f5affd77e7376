/* SPDX-License-Identifier: MIT */
/* Folds the constant scales and shifts of a trained network, mainly batch norms, into one set of weights and one bias.
 * With W linear in its weights k, whose last axis is the output's last axis, and constants a, b, s over that axis:
 *
 *      W(x, k) * s        =  W(x, k * s)
 *      (y + b) * s        =  y * s + b * s           if y is produced by such a W
 *      (y + a) + b        =  y + (a + b)
 *
 * Rounding changes as in every tool that folds batch norms. A tensor with several consumers is not rewritten, because
 * its work would be duplicated. A tensor to which the user gave a grid is not rewritten either. Integer shifts wrap, so
 * adding them is exact. */
#include "graph/passes/passes.h"

/* Returns the constant operand of a scale or shift whose shape is [..1..][c] or a scalar; *data is the other
 * operand. */
static Tensor *channel_constant(const Node *call, Tensor **data)
{
    for (int i = 1; i >= 0; i--) {
        Tensor *c = call->in[i], *x = call->in[1 - i];
        if (!tensor_is_constant(c) || tensor_is_constant(x) || x->rank < 1 || c->rank > x->rank) continue;
        int64_t last = c->rank ? tensor_dim(c, c->rank - 1) : 1;
        if (tensor_elems(c) != last || (last != 1 && last != tensor_dim(x, x->rank - 1))) continue;
        *data = x;
        return c;
    }
    return NULL;
}

static Node *producer_of(const Tensor *t) { return t->producer && t->producer->kind == NODE_CALL ? t->producer : NULL; }

static bool is_affine(const Node *n, int kind) { return n && (int)n->op->fold.affine == kind && n->in_count == 2; }

/* Returns true if a chain of shifts leads from x to a call that is linear in constant weights. Each shift must have a
 * single consumer, and all calls must be on one device. */
static bool leads_to_weights(const Tensor *x, const Uses *uses, const char *device)
{
    Node *n = producer_of(x);
    Tensor *data;
    if (!n || uses_of(uses, x) != 1 || n->device != device) return false;
    if (n->op->fold.weights) return tensor_is_constant(n->in[n->op->fold.weights]);
    return is_affine(n, AFFINE_SHIFT) && channel_constant(n, &data) && leads_to_weights(data, uses, device);
}

static Tensor *flat(Ctx *cx, Tensor *c)
{
    if (c->rank == 1) return c;
    int64_t n = tensor_elems(c);
    return tensor_constant(cx, c->name, c->type, 1, &n, c->data);
}

/* Calls the operator. Two constant operands fold at once, so the next scale or shift reads a constant. */
static Tensor *binary(Ctx *cx, const char *op, const char *label, Tensor *a, Tensor *b)
{
    Tensor *in[] = { a, b }, *out = call(cx, op, label, in, 2, NULL);
    if (out && tensor_is_constant(a) && tensor_is_constant(b)) graph_run_call(cx, out->producer, &out);
    return out;
}

static Tensor *scaled(Ctx *cx, Tensor *x, Tensor *s)
{
    Node *n = producer_of(x);
    Tensor *data = NULL;
    if (!n->op->fold.weights) {
        Tensor *b = channel_constant(n, &data);
        Tensor *product = binary(cx, "mul", n->name, flat(cx, b), s);
        return binary(cx, "add", n->name, scaled(cx, data, s), product);
    }
    Tensor **in = arena_copy(cx->arena, n->in, (size_t)n->in_count * sizeof *in);
    in[n->op->fold.weights] = binary(cx, "mul", n->name, n->in[n->op->fold.weights], s);
    Node *now = op_call(cx, n->op, n->name, in, n->in_count, n->attr, n->attr_count);
    return now ? now->out[0] : NULL;
}

static void fold_affine(Ctx *cx, Node *node, Tensor **out, const Uses *uses)
{
    Tensor *x = NULL, *c = node->op->fold.affine && node->in_count == 2 ? channel_constant(node, &x) : NULL;
    if (!c) return;
    const int kind = node->op->fold.affine;
    if (kind == AFFINE_SCALE && dtype_is_float(x->type) && leads_to_weights(x, uses, node->device))
        out[0] = scaled(cx, x, flat(cx, c));
    else if (kind == AFFINE_SHIFT && is_affine(producer_of(x), kind) && uses_of(uses, x) == 1 &&
             producer_of(x)->device == node->device) {
        Tensor *y = NULL, *a = channel_constant(producer_of(x), &y);
        if (a) {
            Tensor *last_shift = flat(cx, c);
            out[0] = binary(cx, "add", node->name, y, binary(cx, "add", node->name, flat(cx, a), last_shift));
        }
    }
}

Graph graph_affine(Ctx *cx, Graph g)
{
    g.counts_grids = true;
    g = graph_rewrite(cx, g, fold_affine);
    g.counts_grids = false;
    return g;
}
