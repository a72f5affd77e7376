/* SPDX-License-Identifier: MIT */
/* Recurrences are the circles of the DAG's computes. Only stages whose first axis is ordered can be part of one, so a walk
 * that stays among these finds it, and everywhere else nothing is walked. A read is of an earlier step where its first
 * index is the reader's step less a positive constant; all others count as reads of the same step. */
#include "ir/recurrence.h"

#include "ir/algebra.h"

static bool has_steps(const Node *n)
{
    return n && n->kind == NODE_COMPUTE && n->stage->data_count > 0 && n->stage->axis[0].kind == AXIS_ORDERED;
}

typedef struct Circle { Ctx *cx; int count, room; Node **at; } Circle;

static int place_of(const Circle *c, const Node *n)
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
            if (has_steps(at->in[i]->maker) && place_of(&c, at->in[i]->maker) < 0) add(&c, at->in[i]->maker);
    }
    return c;
}

/* ---- The order of a step --------------------------------------------------------------------------------------- */

typedef struct Reading { Ctx *cx; const Stage *reader; const Node *maker; bool now; } Reading;

static void look_at_read(const Expr *e, void *user)
{
    Reading *r = user;
    const Tensor *t = e->kind == EXPR_READ ? e->ref : NULL;
    if (!t || t->maker != r->maker) return;
    const Expr *ago = simplify(r->cx, expr_sub(r->cx, r->reader->axis[0].var, e->arg[0]), NULL);
    r->now = r->now || ago->kind != EXPR_INT || ago->integer <= 0;
}

/* Does the reader want what the maker makes in the same step? */
static bool reads_now(Ctx *cx, const Node *reader, const Node *maker)
{
    Reading r = { cx, reader->stage, maker, false };
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

int recurrence_of(Ctx *cx, Node *n, Node ***out)
{
    Circle all = has_steps(n) ? needs_of(cx, n) : (Circle){ .cx = cx }, c = { .cx = cx };
    add(&c, n);
    for (int i = 0; i < all.count; i++) {
        Circle back = needs_of(cx, all.at[i]);
        if (all.at[i] != n && place_of(&back, n) >= 0) add(&c, all.at[i]);
    }
    for (int i = 0; i < c.count && c.count > 1; i++) {
        if (c.at[i]->stage->axis[0].extent != n->stage->axis[0].extent)
            diag_error(cx, c.at[i]->name, "it and \"%s\" read each other, but take different numbers of steps", n->name);
        if (!ctx_failed(cx) && !choose_next(&c, i))
            diag_error(cx, c.at[i]->name, "stages that read each other within the same step");
    }
    *out = c.at;
    return c.count;
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
    promised->maker = made->maker;
    promised->output = made->output;
    made->maker->out[0] = promised;
    return promised;
}
