/* SPDX-License-Identifier: MIT */
/* Finds the pattern of a formula for fusion. The kind of its stage (ir/nest/pattern.h) is restricted where a fused
 * producer would be computed at other elements, or more than once. */
#include "graph/dag/definition.h"

typedef struct Reads {
    const Stage *stage;
    const Definition *definition;
    Pattern pattern;                   /* the pattern of the reads so far, without the reduction */
    const Expr **first;                /* [inputs]: the first read of each input */
    bool has_several;                  /* true if one element of the result reads different elements of one input */
    bool repeats;                      /* true if one element of an input is used at several points of the axes */
} Reads;

static int axis_of(const Stage *s, const Expr *e)
{
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].var == e) return a;
    return -1;
}

static bool is_one(const Expr *size) { return expr_is_int(size, 1); }

/* Returns the pattern of a read in a stage without a reduction. */
static Pattern read_pattern(const Stage *s, const Tensor *t, const Expr *e)
{
    bool is_same = t->rank == s->data_count;
    for (int d = 0, last = -1; d < t->rank; d++) {
        const int a = axis_of(s, e->arg[d]);
        const bool is_whole = a > last && s->axis[a].extent == t->shape[d];
        if (!is_whole && !(is_one(t->shape[d]) && expr_is_int(e->arg[d], 0))) return PATTERN_INJECTIVE;
        is_same = is_same && (is_whole ? a == d : is_one(s->axis[d].extent));
        if (is_whole) last = a;
    }
    return is_same ? PATTERN_ELEMENTWISE : PATTERN_BROADCAST;
}

/* Returns true if each index is a single axis. Different points of the axes then read different elements. */
static bool reads_once(const Stage *s, const Expr *e)
{
    bool found[MAX_AXES] = { false };
    for (int d = 0; d < e->arg_count; d++) {
        const int a = axis_of(s, e->arg[d]);
        if (a >= 0) found[a] = true;
    }
    for (int a = 0; a < s->axis_count; a++)
        if (!found[a] && !is_one(s->axis[a].extent)) return false;
    return true;
}

static void note_read(const Expr *e, void *user)
{
    Reads *r = user;
    if (e->kind != EXPR_READ) return;
    const Pattern p = read_pattern(r->stage, e->ref, e);
    if (p > r->pattern) r->pattern = p;
    if (!reads_once(r->stage, e)) r->repeats = true;
    for (int i = 0; i < r->definition->in_count; i++) {
        if (r->definition->in[i] != e->ref) continue;
        if (!r->first[i]) r->first[i] = e;
        else if (r->first[i] != e) r->has_several = true;
    }
}

Pattern definition_pattern(Ctx *cx, const Definition *d)
{
    const Stage *s = d->node[0]->stage;
    const Pattern kind = d->node_count > 1 ? PATTERN_OPAQUE : stage_pattern(cx, s);
    if (kind == PATTERN_OPAQUE) return kind;
    Reads r = { .stage = s, .definition = d, .first = NEW_ARRAY(cx->arena, const Expr *, d->in_count) };
    r.pattern = d->in_count ? PATTERN_ELEMENTWISE : PATTERN_BROADCAST;
    for (int i = 0; i < s->out_count; i++) {
        expr_walk(cx, s->value[i], note_read, &r);
        if (s->init) expr_walk(cx, s->init[i], note_read, &r);
    }
    if (r.has_several || kind == PATTERN_OUT_FUSABLE) return PATTERN_OUT_FUSABLE;
    if (kind == PATTERN_REDUCTION) return r.repeats ? PATTERN_OUT_FUSABLE : PATTERN_REDUCTION;
    return r.pattern;
}

/* The reads of one input, and whether they keep its dimensions. */
typedef struct Kept { const Stage *stage; const Tensor *input; bool are; } Kept;

static void note_dimensions(const Expr *e, void *user)
{
    Kept *k = user;
    if (e->kind != EXPR_READ || e->ref != k->input) return;
    for (int d = 0; d < e->arg_count; d++)
        for (int a = 0; a < k->stage->axis_count; a++)
            if (a != d && expr_uses(e->arg[d], k->stage->axis[a].var)) k->are = false;
}

bool definition_keeps_dimensions(Ctx *cx, const Definition *d, int k)
{
    const Stage *s = d->node[0]->stage;
    Kept kept = { s, d->in[k], d->node_count == 1 && d->in[k]->rank == s->data_count && s->reducer == REDUCE_NONE };
    for (int i = 0; i < s->out_count && kept.are; i++) expr_walk(cx, s->value[i], note_dimensions, &kept);
    return kept.are;
}
