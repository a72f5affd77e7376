/* SPDX-License-Identifier: MIT */
#include "graph/differentiate/recompute.h"

#include "graph/dag/graph.h"
#include "graph/dag/op.h"

static bool is_checkpoint(const Node *n)
{
    return n && n->kind == NODE_CALL && n->op->gradient.role == GRADIENT_CHECKPOINT;
}

/* Assigns each call to the region of the checkpoint to which its consumers lead, from the last call to the first. */
Recompute recompute_new(Ctx *cx, Node *const *order, int count)
{
    Recompute r = { .cx = cx, .count = count, .order = order, .region = map_new(cx->arena),
                    .is_boundary = map_new(cx->arena), .copies = map_new(cx->arena),
                    .read_again = map_new(cx->arena) };
    for (int n = count - 1; n >= 0; n--) {
        Node *mark = is_checkpoint(order[n]) ? order[n] : map_get_ptr(&r.region, order[n]);
        const bool is_inner = mark && mark != order[n];
        for (int i = 0; mark && i < order[n]->in_count; i++) {
            Tensor *t = order[n]->in[i];
            if (!t || !t->producer) continue;
            if (!is_checkpoint(t->producer)) map_put_ptr(&r.region, t->producer, mark);
            else if (is_inner) map_put_ptr(&r.is_boundary, t, t);
        }
    }
    return r;
}

void recompute_afresh(Recompute *r) { r->copies = map_new(r->cx->arena); }

static Tensor *copy_of(const Recompute *r, Tensor *t)
{
    const Node *copy = t && t->producer ? map_get_ptr(&r->copies, t->producer) : NULL;
    return copy ? copy->out[t->output] : t;
}

/* Copies n and the calls on which n depends inside regions, producers first. */
static void copy_region(Recompute *r, const Node *n)
{
    Ctx *cx = r->cx;
    Map needed = map_new(cx->arena);
    int last = r->count - 1;
    map_put_ptr(&needed, n, r);
    while (last >= 0 && r->order[last] != n) last--;
    for (int k = last; k >= 0; k--) {
        const Node *of = r->order[k];
        if (!map_get_ptr(&needed, of) || map_get_ptr(&r->copies, of)) continue;
        for (int i = 0; i < of->in_count; i++)
            if (of->in[i] && of->in[i]->producer && map_get_ptr(&r->region, of->in[i]->producer))
                map_put_ptr(&needed, of->in[i]->producer, r);
    }
    for (int k = 0; k <= last && !ctx_failed(cx); k++) {
        const Node *of = r->order[k];
        if (!map_get_ptr(&needed, of) || map_get_ptr(&r->copies, of)) continue;
        Tensor **in = NEW_ARRAY(cx->arena, Tensor *, of->in_count);
        for (int i = 0; i < of->in_count; i++) {
            in[i] = copy_of(r, of->in[i]);
            if (in[i]) map_put_ptr(&r->read_again, in[i], in[i]);
        }
        Node *copy = node_over(cx, of, in);
        if (copy) map_put_ptr(&r->copies, of, copy);
    }
}

Tensor *recomputed(Recompute *r, Tensor *t)
{
    if (!t || !t->producer) return t;
    if (is_checkpoint(t->producer) && !map_get_ptr(&r->is_boundary, t)) return recomputed(r, t->producer->in[0]);
    if (!map_get_ptr(&r->region, t->producer)) return t;
    if (!map_get_ptr(&r->copies, t->producer)) copy_region(r, t->producer);
    return copy_of(r, t);
}

const Node *recomputed_call(Recompute *r, const Node *n)
{
    Node over = *n;
    bool is_stored = true;
    over.in = NEW_ARRAY(r->cx->arena, Tensor *, n->in_count);
    over.out = NEW_ARRAY(r->cx->arena, Tensor *, n->out_count);
    for (int i = 0; i < n->in_count; i++) {
        over.in[i] = recomputed(r, n->in[i]);
        is_stored = is_stored && over.in[i] == n->in[i];
    }
    for (int o = 0; o < n->out_count; o++) {
        over.out[o] = recomputed(r, n->out[o]);
        is_stored = is_stored && over.out[o] == n->out[o];
    }
    return is_stored ? n : arena_copy(r->cx->arena, &over, sizeof over);
}
