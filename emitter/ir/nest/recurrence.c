/* SPDX-License-Identifier: MIT */
/* Recurrences are the circles of the DAG's computes. Only stages whose first axis is ordered can be part of one, so a walk
 * that stays among these finds it, and everywhere else nothing is walked. A read is of an earlier step where its first
 * index is the reader's step less a positive constant; all others count as reads of the same step. */
#include "ir/nest/recurrence.h"

#include "ir/algebra/algebra.h"
#include "support/map.h"

static bool has_steps(const Node *n)
{
    return n && n->kind == NODE_COMPUTE && n->stage->data_count > 0 && n->stage->axis[0].kind == AXIS_ORDERED;
}

typedef struct Circle { Ctx *cx; int count, room; Node **at; } Circle;

static int circle_index(const Circle *c, const Node *n)
{
    for (int i = 0; i < c->count; i++)
        if (c->at[i] == n) return i;
    return -1;
}

static void add(Circle *c, Node *n)
{
    if (c->count == c->room) {
        Node **more = NEW_ARRAY(c->cx->arena, Node *, c->room = 2 * c->room + 8);
        for (int i = 0; i < c->count; i++) more[i] = c->at[i];
        c->at = more;
    }
    c->at[c->count++] = n;
}

/* All that n needs, by way of stages with steps alone; n is there too if it needs itself. */
static Circle needs_of(Ctx *cx, const Node *n)
{
    Circle c = { .cx = cx };
    for (int next = -1; next < c.count; next++) {
        const Node *at = next < 0 ? n : c.at[next];
        for (int i = 0; i < at->in_count; i++)
            if (has_steps(at->in[i]->producer) && circle_index(&c, at->in[i]->producer) < 0) add(&c, at->in[i]->producer);
    }
    return c;
}

/* ---- The order of a step --------------------------------------------------------------------------------------- */

typedef struct CircleRead { Ctx *cx; const Stage *reader; const Node *producer; bool now; } CircleRead;

static void look_at_read(const Expr *e, void *user)
{
    CircleRead *r = user;
    const Tensor *t = e->kind == EXPR_READ ? e->ref : NULL;
    if (!t || t->producer != r->producer) return;
    const Expr *ago = simplify(r->cx, expr_sub(r->cx, r->reader->axis[0].var, e->arg[0]), NULL);
    r->now = r->now || ago->kind != EXPR_INT || ago->integer <= 0;
}

/* Does the reader want what the maker makes in the same step? */
static bool reads_now(Ctx *cx, const Node *reader, const Node *producer)
{
    CircleRead r = { cx, reader->stage, producer, false };
    for (int i = 0; i < reader->stage->out_count; i++) {
        expr_walk(cx, reader->stage->value[i], look_at_read, &r);
        if (reader->stage->init) expr_walk(cx, reader->stage->init[i], look_at_read, &r);
    }
    return r.now;
}

/* Moves the next node of the step to place `done`: the earliest made of those that wait for none of the rest. */
static bool choose_next(Circle *c, int done)
{
    int best = -1;
    for (int i = done; i < c->count; i++) {
        bool waits = false;
        for (int j = done; j < c->count && !waits; j++) waits = reads_now(c->cx, c->at[i], c->at[j]);
        if (!waits && (best < 0 || c->at[i]->serial < c->at[best]->serial)) best = i;
    }
    if (best < 0) return false;
    Node *chosen = c->at[best];
    c->at[best] = c->at[done];
    c->at[done] = chosen;
    return true;
}

static bool reads_itself(const Node *n)
{
    bool found = false;
    for (int i = 0; i < n->in_count; i++) found = found || n->in[i]->producer == n;
    return found;
}

int recurrence_of(Ctx *cx, Node *n, Node ***out)
{
    Circle all = has_steps(n) ? needs_of(cx, n) : (Circle){ .cx = cx }, c = { .cx = cx };
    add(&c, n);
    for (int i = 0; i < all.count; i++) {
        Circle back = needs_of(cx, all.at[i]);
        if (all.at[i] != n && circle_index(&back, n) >= 0) add(&c, all.at[i]);
    }
    for (int i = 0; i < c.count && c.count > 1; i++) {
        if (c.at[i]->stage->axis[0].extent != n->stage->axis[0].extent)
            diag_error(cx, c.at[i]->name, "it and \"%s\" read each other, but take different numbers of steps",
                       n->name);
        if (!ctx_failed(cx) && !choose_next(&c, i))
            diag_error(cx, c.at[i]->name, "stages that read each other within the same step");
    }
    if (c.count == 1 && reads_itself(n) && (!has_steps(n) || reads_now(cx, n, n)))
        diag_error(cx, n->name,
                   "it reads what it has not made yet; a read of an earlier step of its first axis, which is ordered, "
                   "is accepted");
    *out = c.at;
    return c.count;
}

/* ---- Promises ---------------------------------------------------------------------------------------------------- */

/* Does the node need the other? All that do are on a circle with it. */
static bool leads_to(Ctx *cx, Map *seen, const Node *n, const Node *other)
{
    bool leads = n == other;
    if (!n || n->kind != NODE_COMPUTE) return leads;
    const bool *known = map_get_ptr(seen, n);
    if (known) return *known;
    map_put_ptr(seen, n, arena_copy(cx->arena, &leads, sizeof leads));
    leads = false;
    for (int i = 0; i < n->in_count; i++) leads = leads_to(cx, seen, n->in[i]->producer, other) || leads;
    if (leads && !has_steps(n))
        diag_error(cx, n->name, "it is read by what it reads; a first axis that is ordered is accepted");
    leads = leads || n == other;
    map_put_ptr(seen, n, arena_copy(cx->arena, &leads, sizeof leads));
    return leads;
}

bool promise_is_sound(Ctx *cx, const Tensor *kept)
{
    Map seen = map_new(cx->arena);
    leads_to(cx, &seen, kept->producer, kept->producer);
    return !ctx_failed(cx);
}

Tensor *promise_keep(Ctx *cx, Tensor *promised, Tensor *made)
{
    if (!promised || !made || ctx_failed(cx)) return NULL;
    bool same = promised->type == made->type && promised->rank == made->rank;
    for (int d = 0; same && d < made->rank; d++) same = promised->shape[d] == made->shape[d];
    if (!same) {
        diag_internal(cx, made->name, "it does not have the type and shape that were promised");
        return NULL;
    }
    promised->name = made->name;
    promised->producer = made->producer;
    promised->output = made->output;
    made->producer->out[0] = promised;
    return promised;
}
