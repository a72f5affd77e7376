/* SPDX-License-Identifier: MIT */
/* Visits the computes of a call from the last to the first, and a recurrence as a whole. */
#include "graph/differentiate/by_formulas.h"

#include "graph/dag/op_formula.h"
#include "graph/differentiate/stage.h"
#include "ir/nest/recurrence.h"

/* The computes of a call, and the facts of their tensors. */
typedef struct Expansion {
    Ctx *cx;
    const Node *call;
    Summands *summands;
    int count, capacity; Node **node;        /* producers first */
    Map seen, is_active, stored;
} Expansion;

static void append(Expansion *e, Node *n)
{
    if (e->count == e->capacity) {
        Node **more = NEW_ARRAY(e->cx->arena, Node *, e->capacity = 2 * e->capacity + 8);
        for (int i = 0; i < e->count; i++) more[i] = e->node[i];
        e->node = more;
    }
    e->node[e->count++] = n;
}

/* Collects the computes below t that are part of the call. A recurrence follows all computes that its computes read. */
static void collect(Expansion *e, const Tensor *t)
{
    Node *n = t->producer;
    if (!n || !n->stage || n->stage->call != e->call || map_get_ptr(&e->seen, n)) return;
    map_put_ptr(&e->seen, n, n);
    for (int i = 0; i < n->in_count; i++) collect(e, n->in[i]);
    for (int o = 0; o < n->out_count; o++) n->out[o]->name = summands_name(e->summands, n->out[o]->name);
    n->name = n->stage->name = n->out[0]->name;
    append(e, n);
}

static bool is_active(const Expansion *e, const Tensor *t) { return map_get_ptr(&e->is_active, t) != NULL; }

static bool reads_active(const Expansion *e, const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (is_active(e, n->in[i])) return true;
    return false;
}

/* Marks a tensor as active if an active input has an effect on it. Recurrences need several rounds. */
static void mark_active(Expansion *e)
{
    bool changes = true;
    while (changes) {
        changes = false;
        for (int n = 0; n < e->count; n++) {
            if (!reads_active(e, e->node[n])) continue;
            for (int o = 0; o < e->node[n]->out_count; o++) {
                Tensor *t = e->node[n]->out[o];
                if (!dtype_is_float(t->type) || is_active(e, t)) continue;
                map_put_ptr(&e->is_active, t, t);
                changes = true;
            }
        }
    }
}

static void of_compute(const Expansion *e, const Node *n)
{
    Tensor **adjoint = NEW_ARRAY(e->cx->arena, Tensor *, n->out_count);
    for (int o = 0; o < n->out_count; o++)
        adjoint[o] = is_active(e, n->out[o]) ? summands_total(e->summands, n->out[o]) : NULL;
    const StageAdjoint a = { .stage = n->stage, .adjoint = adjoint, .is_active = &e->is_active, .stored = &e->stored };
    stage_summands(e->cx, &a, e->summands);
}

/* ---- Recurrences ------------------------------------------------------------------------------------------------- */

/* The adjoints of a cycle of computes over the steps t = 0..T-1 are a cycle over u = T-1-t. Each step passes its
 * adjoint to earlier steps:
 *
 *   back[u, a] = (adjoint of s from outside)[T-1-u, a] + sum over the reads of s in the cycle
 *
 * `back` is promised before the reads of the cycle are differentiated, as in any recurrence. */
typedef struct Cycle {
    const Expansion *of;
    int count; Node **node;
    const Expr *last;                /* T - 1 */
    /* Maps a tensor of the cycle to its promised adjoint; an absent entry means zero. */
    Map back;
    Summands *inside;                /* summands within the cycle, over u */
} Cycle;

static bool reads_itself(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]->producer == n) return true;
    return false;
}

static Tensor *back_of(const Cycle *c, const Tensor *t) { return map_get_ptr(&c->back, t); }

/* Promises the adjoint of every tensor that receives one. */
static void promise_back(Cycle *c)
{
    Ctx *cx = c->of->cx;
    bool changes = true;
    while (changes) {
        changes = false;
        for (int n = 0; n < c->count; n++)
            for (int o = 0; o < c->node[n]->out_count; o++) {
                Tensor *t = c->node[n]->out[o];
                bool receives = summands_has(c->of->summands, t);
                for (int r = 0; r < c->count && !receives; r++)
                    for (int i = 0; i < c->node[r]->in_count; i++)
                        for (int k = 0; c->node[r]->in[i] == t && k < c->node[r]->out_count; k++)
                            receives = receives || back_of(c, c->node[r]->out[k]);
                if (!receives || !is_active(c->of, t) || back_of(c, t)) continue;
                map_put_ptr(&c->back, t, tensor_new(cx, t->name, adjoint_type(t->type), t->rank, t->shape));
                changes = true;
            }
    }
}

static void differentiate_step(Cycle *c, const Node *n)
{
    Tensor **adjoint = NEW_ARRAY(c->of->cx->arena, Tensor *, n->out_count);
    for (int o = 0; o < n->out_count; o++) adjoint[o] = back_of(c, n->out[o]);
    const StageAdjoint a = { .stage = n->stage, .adjoint = adjoint, .is_active = &c->of->is_active,
                             .stored = &c->of->stored, .last_step = c->last, .back = &c->back, .inside = c->inside };
    stage_summands(c->of->cx, &a, c->of->summands);
}

/* Differentiates a recurrence. As in any compute, the adjoints of tensors outside the expansion are held by its
 * summands. */
static void of_recurrence(Expansion *e, int count, Node **node)
{
    Ctx *cx = e->cx;
    Cycle c = { .of = e, .count = count, .node = node, .back = map_new(cx->arena),
                .inside = summands_inside(e->summands),
                .last = expr_sub(cx, node[0]->stage->axis[0].extent, expr_index(cx, 1)) };
    promise_back(&c);
    for (int n = count - 1; n >= 0 && !ctx_failed(cx); n--) differentiate_step(&c, node[n]);
    for (int n = count - 1; n >= 0 && !ctx_failed(cx); n--)
        for (int o = 0; o < node[n]->out_count; o++) {
            Tensor *t = node[n]->out[o], *promised = back_of(&c, t);
            if (!promised) continue;
            Tensor *outside = summands_has(e->summands, t) ? summands_total(e->summands, t) : NULL;
            promise_keep(cx, promised, summands_of_steps(c.inside, t, outside, c.last));
        }
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static void visit(Expansion *e, Map *done, Node *n)
{
    Node **cycle;
    if (map_get_ptr(done, n)) return;
    const int count = recurrence_of(e->cx, n, &cycle);
    for (int i = 0; i < count; i++) map_put_ptr(done, cycle[i], n);
    if (count > 1 || reads_itself(n)) of_recurrence(e, count, cycle);
    else of_compute(e, n);
}

void adjoint_by_formulas(Ctx *cx, const Node *call, Tensor *const *adjoint, const Map *is_active_input, Summands *to)
{
    Tensor *made[MAX_OUTPUTS] = { NULL };
    Expansion e = { .cx = cx, .call = call, .summands = to, .seen = map_new(cx->arena), .is_active = map_new(cx->arena),
                    .stored = map_new(cx->arena) };
    Map done = map_new(cx->arena);
    if (!op_compute(cx, call, made)) return;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && map_get_ptr(is_active_input, call->in[i]))
            map_put_ptr(&e.is_active, call->in[i], call->in[i]);
    for (int o = 0; o < call->out_count; o++) {
        collect(&e, made[o]);
        map_put_ptr(&e.stored, made[o], call->out[o]);
        summands_add(to, made[o], adjoint[o]);
    }
    mark_active(&e);
    for (int i = e.count - 1; i >= 0 && !ctx_failed(cx); i--) visit(&e, &done, e.node[i]);
}
