/* SPDX-License-Identifier: MIT */
/* Recurrences are the cycles of the DAG's computes. Only stages with an ordered first axis can be in a cycle, so the
 * search walks only these. A read is of an earlier step if its first index is proved to be below the reader's step,
 * where the conditions around it hold; all other reads count as reads of the same step. */
#include "ir/nest/recurrence.h"

#include "ir/algebra/algebra.h"
#include "support/map.h"

static bool has_steps(const Node *n)
{
    return n && n->kind == NODE_COMPUTE && n->stage->data_count > 0 && n->stage->axis[0].kind == AXIS_ORDERED;
}

typedef struct Cycle { Ctx *cx; int count, capacity; Node **at; } Cycle;

static int cycle_index(const Cycle *c, const Node *n)
{
    for (int i = 0; i < c->count; i++)
        if (c->at[i] == n) return i;
    return -1;
}

static void add(Cycle *c, Node *n)
{
    if (c->count == c->capacity) {
        Node **more = NEW_ARRAY(c->cx->arena, Node *, c->capacity = 2 * c->capacity + 8);
        for (int i = 0; i < c->count; i++) more[i] = c->at[i];
        c->at = more;
    }
    c->at[c->count++] = n;
}

/* Collects the nodes on which n depends only through stages with steps. n itself is collected if it depends on
 * itself. */
static Cycle dependences_of(Ctx *cx, const Node *n)
{
    Cycle c = { .cx = cx };
    for (int next = -1; next < c.count; next++) {
        const Node *at = next < 0 ? n : c.at[next];
        for (int i = 0; i < at->in_count; i++)
            if (has_steps(at->in[i]->producer) && cycle_index(&c, at->in[i]->producer) < 0)
                add(&c, at->in[i]->producer);
    }
    return c;
}

/* ---- The order of a step --------------------------------------------------------------------------------------- */

typedef struct StepRead {
    Ctx *cx; const Stage *reader; const Node *producer; const Bounds *axes; Map seen; int steps; bool now;
} StepRead;
enum { MAX_CONDITIONAL_STEPS = 3000 };

static void note_read(StepRead *r, const Expr *e, const Bounds *facts)
{
    const Tensor *t = e->kind == EXPR_READ ? e->ref : NULL;
    if (!t || t->producer != r->producer || r->now) return;
    const Expr *step = r->reader->axis[0].var, *ago = simplify(r->cx, expr_sub(r->cx, step, e->arg[0]), NULL);
    const bool is_earlier = ago->kind == EXPR_INT
        ? ago->integer > 0 : provably(r->cx, expr_binary(r->cx, EXPR_LT, e->arg[0], step), facts);
    r->now = !is_earlier;
}

/* Visits the reads under the conditions of the selects around them, for a limited number of steps. After that,
 * conditions are dropped, and each node is visited once. */
static void find_reads(StepRead *r, const Expr *e, const Bounds *facts)
{
    if (r->now || map_get_const_ptr(&r->seen, e)) return;
    if (facts != r->axes && r->steps++ > MAX_CONDITIONAL_STEPS) facts = r->axes;
    if (facts == r->axes) map_put_const_ptr(&r->seen, e, e);
    note_read(r, e, facts);
    for (int i = 0; i < e->arg_count; i++) {
        const Bounds *here = facts;
        if (e->kind == EXPR_SELECT && i == SELECT_YES) here = bounds_fact(r->cx, facts, e->arg[SELECT_COND]);
        find_reads(r, e->arg[i], here);
    }
}

/* Returns true if the reader reads the producer's value of the same step. */
static bool reads_now(Ctx *cx, const Node *reader, const Node *producer)
{
    const Stage *s = reader->stage;
    StepRead r = { .cx = cx, .reader = s, .producer = producer, .seen = map_new(cx->arena) };
    for (int a = 0; a < s->axis_count; a++) r.axes = bounds_var(cx, r.axes, s->axis[a].var, s->axis[a].extent);
    for (int i = 0; i < s->out_count; i++) {
        find_reads(&r, s->value[i], r.axes);
        if (s->init) find_reads(&r, s->init[i], r.axes);
    }
    return r.now;
}

/* Moves the next node of the step to index `done`. The next node is the first created node among the nodes that depend
 * on no other remaining node. */
static bool move_next(Cycle *c, int done)
{
    int best = -1;
    for (int i = done; i < c->count; i++) {
        bool depends = false;
        for (int j = done; j < c->count && !depends; j++) depends = reads_now(c->cx, c->at[i], c->at[j]);
        if (!depends && (best < 0 || c->at[i]->serial < c->at[best]->serial)) best = i;
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
    Cycle all = has_steps(n) ? dependences_of(cx, n) : (Cycle){ .cx = cx }, c = { .cx = cx };
    add(&c, n);
    for (int i = 0; i < all.count; i++) {
        Cycle back = dependences_of(cx, all.at[i]);
        if (all.at[i] != n && cycle_index(&back, n) >= 0) add(&c, all.at[i]);
    }
    for (int i = 0; i < c.count && c.count > 1; i++) {
        if (c.at[i]->stage->axis[0].extent != n->stage->axis[0].extent)
            diag_error(cx, c.at[i]->name, "it and \"%s\" read each other, but have different numbers of steps",
                       n->name);
        if (!ctx_failed(cx) && !move_next(&c, i))
            diag_error(cx, c.at[i]->name, "stages that read each other within the same step");
    }
    if (c.count == 1 && reads_itself(n) && (!has_steps(n) || reads_now(cx, n, n)))
        diag_error(
            cx, n->name,
            "it reads its own result before this result is computed; read an earlier step of an ordered first axis");
    *out = c.at;
    return c.count;
}

/* ---- Promises ---------------------------------------------------------------------------------------------------- */

/* Returns true if n depends on `other`. If `other` also depends on n, both are on a cycle. */
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
        diag_error(cx, n->name, "it is on a cycle of reads; use an ordered first axis");
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
