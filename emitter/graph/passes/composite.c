/* SPDX-License-Identifier: MIT */
/* Finds composites, which are chains of calls that a device runs as one function. A chain begins at a call of the first
 * operator; each next call is the only consumer of the one before it. Optional operators may be missing. Among the
 * composites that match at a call, the longest wins, then the first registered; a call belongs to one match. A
 * condition that depends on open sizes counts as true: the emitted program tests it, and runs the default in C if it
 * fails. */

/* Decision: a composite is a run of its own. A device's row may list chains of operators that it runs as one
 * function (`graph/passes/composite.c`). Each call of a match has a field that names the match. Fusion and the order of
 * groups keep the calls of a match together and separate from other calls. Tensors between two functions of a device
 * are dense and unshared. A condition on open sizes is tested by `NAME_run`, which calls the default where it does not
 * hold. Parameters have the names of the model's tensors: passes keep the names of nodes, from which the imported
 * model's last call gives the tensor. */
#include "graph/passes/composite.h"

#include <string.h>

#include "graph/condition/condition.h"
#include "ir/algebra/algebra.h"
#include "support/text.h"

enum { MOST_CHAIN = 32 };

typedef struct Reader { Node *node; int count; } Reader;      /* the last consumer, and the number of consumers */
typedef struct Matcher { Ctx *cx; const Graph *graph; Map reader; Composites found; } Matcher;
typedef struct Chain { int count; Node *at[MOST_CHAIN]; } Chain;

bool device_takes_types(const Device *d, const Node *n, const Tensor **refused)
{
    *refused = NULL;
    for (int i = 0; i < n->in_count && !*refused; i++)
        if (n->in[i] && !text_has_word(d->types, dtype_info(n->in[i]->type)->spelling)) *refused = n->in[i];
    for (int i = 0; i < n->out_count && !*refused; i++)
        if (!text_has_word(d->types, dtype_info(n->out[i]->type)->spelling)) *refused = n->out[i];
    return !*refused;
}

const Tensor *device_decided_of(Ctx *cx, const Node *n)
{
    const Tensor *t = first_of_decided_size(cx, n->in, n->in_count);
    return t ? t : first_of_decided_size(cx, n->out, n->out_count);
}

static void note_reader(Matcher *m, const Tensor *t, Node *n)
{
    Reader *r = map_get_ptr(&m->reader, t);
    if (!r) map_put_ptr(&m->reader, t, r = NEW(m->cx->arena, Reader));
    *r = (Reader){ n, r->count + 1 };
}

static bool fits(const Matcher *m, const Device *d, const Node *n, const char *op, size_t length)
{
    const Tensor *refused;
    return n->kind == NODE_CALL && text_equal(n->device, d->name) && !map_get_ptr(&m->found.match, n) &&
           strlen(n->op->name) == length &&
           memcmp(n->op->name, op, length) == 0 && device_takes_types(d, n, &refused) &&
           !device_decided_of(m->cx, n);
}

/* Returns the only consumer of the call. Returns NULL if the call has several consumers or outputs, or if it is an
 * output. */
static Node *only_reader(const Matcher *m, const Node *n)
{
    const Reader *r = n->out_count == 1 ? map_get_ptr(&m->reader, n->out[0]) : NULL;
    return r && r->count == 1 && !graph_has_output(m->graph, n->out[0]) ? r->node : NULL;
}

/* Follows the operators of the composite from its first call. Returns false if a required operator is missing. */
static bool follow(const Matcher *m, const Device *d, const Composite *c, Node *first, Chain *chain)
{
    *chain = (Chain){ 0, { NULL } };
    for (const char *s = c->ops; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        const size_t word = strcspn(s, " "), length = word - (s[word - 1] == '?');
        Node *n = chain->count ? only_reader(m, chain->at[chain->count - 1]) : first;
        const bool is_next = n && chain->count < MOST_CHAIN && fits(m, d, n, s, length);
        if (is_next) chain->at[chain->count++] = n;
        else if (length == word) return false;
    }
    return true;
}

/* Returns whether the condition holds. A condition uses the names of the first call. */
static Holds holds(const Matcher *m, const Composite *c, const Node *first, const Expr **open)
{
    const Implementation row = { .name = c->name, .ops = first->op->name, .when = c->when };
    *open = NULL;
    return c->when ? condition_holds(m->cx, &row, first, m->graph->target, open) : HOLDS;
}

/* Records the first composite that does not apply to the chain only because of its condition. */
static void note_unmet(Matcher *m, const Composite *c, const Chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        if (!map_get_const_ptr(&m->found.unmet, chain->at[i])) map_put_const_ptr(&m->found.unmet, chain->at[i], c);
}

static void match_at(Matcher *m, Node *first)
{
    const Device *d = first->device ? device_find(m->cx, first->device) : NULL;
    const Composite *best = NULL;
    const Expr *when = NULL, *open;
    Chain longest = { 0, { NULL } }, chain;
    for (const Composite *c = d ? d->composites : NULL; c && c->name; c++) {
        if (!follow(m, d, c, first, &chain) || chain.count <= longest.count) continue;
        if (holds(m, c, first, &open) == HOLDS_NOT) {
            note_unmet(m, c, &chain);
            continue;
        }
        best = c;
        when = open;
        longest = chain;
    }
    if (!best) return;
    CompositeMatch *match = NEW(m->cx->arena, CompositeMatch);
    *match = (CompositeMatch){ best->name, when };
    for (int i = 0; i < longest.count; i++) map_put_ptr(&m->found.match, longest.at[i], match);
}

Composites composites_match(Ctx *cx, const Graph *g, Node *const *order, int count)
{
    Matcher m = { cx, g, map_new(cx->arena), { map_new(cx->arena), map_new(cx->arena) } };
    for (int i = 0; i < count; i++)
        for (int j = 0; j < order[i]->in_count; j++)
            if (order[i]->in[j]) note_reader(&m, order[i]->in[j], order[i]);
    for (int i = 0; i < count; i++)
        if (order[i]->kind == NODE_CALL && order[i]->device && !map_get_ptr(&m.found.match, order[i]))
            match_at(&m, order[i]);
    return m.found;
}
