/* SPDX-License-Identifier: MIT */
/* Shows the dataflow of a computation or group to a client: stages with producers and consumers, their loops, the
 * target. A handle holds a name; each accessor looks it up in the nest after the steps so far, and changes nothing.
 * Inputs and constants are stages without a formula. */
#include "api/computation/walk.h"
#include "schedule/draft/draft.h"
#include "schedule/step/role.h"
#include "support/guard.h"
#include "support/names.h"

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

static const Tensor *input_called(const Nest *n, const char *word)
{
    for (int i = 0; i < n->input_count; i++)
        if (text_equal(n->input[i]->name, word)) return n->input[i];
    return NULL;
}

Seen seen_as(lw_computation *p, const char *word)
{
    Seen x = { .p = p, .cx = p->cx, .n = computation_nest(p) };
    if (!x.n) return x;
    x.s = nest_stage(x.n, word);
    x.t = x.s ? x.s->out[0] : input_called(x.n, word);
    return x;
}

static const lw_stage *stage_at(lw_group *g, int i)
{
    const Nest *n = computation_nest(g);
    if (!n || i < 0 || i >= n->input_count + n->stage_count) return NULL;
    return stage_handle(g, i < n->input_count ? n->input[i]->name : n->stage[i - n->input_count]->name);
}

const lw_stage *lw_stage_at(lw_group *g, int i)
{
    RETURN_GUARDED(computation_context(g), const lw_stage *, NULL, stage_at(g, i));
}

static const lw_stage *find_stage(lw_group *g, const char *word, int i)
{
    const Nest *n = word ? computation_nest(g) : NULL;
    RoleFault fault;
    if (!n || i < 0) return NULL;
    if (!role_length(word)) return i == 0 && seen_as(g, word).t ? stage_handle(g, word) : NULL;
    const Stage **all = NEW_ARRAY(g->cx->arena, const Stage *, n->stage_count);
    const int count = role_stages(g->cx, n, word, all, &fault);
    if (count < 0)
        diag_error(g->cx, g->name, "lw_find_stage: %s; use %s", fault.fault, fault.accepted);
    return i < count ? stage_handle(g, all[i]->name) : NULL;
}

const lw_stage *lw_find_stage(lw_group *g, const char *name_or_role, int i)
{
    RETURN_GUARDED(computation_context(g), const lw_stage *, NULL, find_stage(g, name_or_role, i));
}

/* Returns the stage or input that holds the tensor. */
static const char *holder_of(const Nest *n, const Tensor *t)
{
    const Stage *s = producer_of(n, t);
    return s ? s->name : t->name;
}

static const lw_stage *producer_at(const lw_stage *handle, int wanted)
{
    const Seen x = seen_as(handle->h.of, handle->h.name);
    const Tensor **reads;
    const int count = x.s ? stage_reads(x.cx, x.s, &reads) : 0;
    int found = 0;
    for (int i = 0; i < count; i++) {
        const char *one = holder_of(x.n, reads[i]);
        bool is_new = one != x.s->name;
        for (int k = 0; k < i; k++) is_new = is_new && holder_of(x.n, reads[k]) != one;
        if (is_new && found++ == wanted) return stage_handle(x.p, one);
    }
    return NULL;
}

const lw_stage *lw_stage_producer(const lw_stage *s, int i)
{
    RETURN_GUARDED(stage_context(s), const lw_stage *, NULL, producer_at(s, i));
}

static bool reads(const Seen *x, const Stage *consumer)
{
    const Tensor **read;
    const int count = stage_reads(x->cx, consumer, &read);
    for (int i = 0; i < count; i++)
        if (x->s ? stage_produces(x->s, read[i]) : read[i] == x->t) return true;
    return false;
}

static const lw_stage *consumer_at(const lw_stage *handle, int wanted)
{
    const Seen x = seen_as(handle->h.of, handle->h.name);
    int found = 0;
    for (int i = 0; x.t && i < x.n->stage_count; i++)
        if (x.n->stage[i] != x.s && reads(&x, x.n->stage[i]) && found++ == wanted)
            return stage_handle(x.p, x.n->stage[i]->name);
    return NULL;
}

const lw_stage *lw_stage_consumer(const lw_stage *s, int i)
{
    RETURN_GUARDED(stage_context(s), const lw_stage *, NULL, consumer_at(s, i));
}

/* Returns the handles of all stages, terminated by NULL. */
static const lw_stage **all_stages(lw_group *g)
{
    const Nest *n = computation_nest(g);
    const int count = n ? n->input_count + n->stage_count : 0;
    const lw_stage **all = NEW_ARRAY(g->cx->arena, const lw_stage *, count + 1);
    for (int i = 0; i < count; i++) all[i] = stage_at(g, i);
    return all;
}

static const lw_stage **list_stages(lw_group *g)
{
    RETURN_GUARDED(computation_context(g), const lw_stage **, NULL, all_stages(g));
}

static bool is_there(const lw_stage *s)
{
    RETURN_GUARDED(stage_context(s), bool, false, seen_as(s->h.of, s->h.name).t != NULL);
}

void lw_visit(lw_group *g, lw_visitor *visit, void *user)
{
    const lw_stage **all = list_stages(g);
    for (int i = 0; all && visit && all[i]; i++)
        if (is_there(all[i])) visit(g, all[i], user);
}
