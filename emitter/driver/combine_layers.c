/* SPDX-License-Identifier: MIT */
/* Holds the state of a search for combinations, and its memory plan. */
#include "driver/combine_layers.h"

#include <string.h>

#include "graph/dag/target.h"
#include "lower/count.h"
#include "support/text.h"

static int64_t bytes_outside(Ctx *cx, const Graph *g)
{
    int64_t bytes = 0;
    for (int i = 0; i < g->input_count; i++) bytes += tensor_most_bytes(cx, g->input[i]);
    for (int i = 0; i < g->output_count; i++) bytes += tensor_most_bytes(cx, g->output[i]);
    return bytes;
}

Search layers_search(Build *b, const bool *may_join)
{
    Groups *groups = arena_copy(b->cx->arena, &b->groups, sizeof b->groups);
    Map *added = NEW(b->cx->arena, Map);
    *added = map_new(b->cx->arena);
    return (Search){ .b = b,
                     .whole = { b->cx, &b->graph, groups, b->scheduled.nest, b->scheduled.chosen, b->target, added },
                     .may_join = may_join,
                     .master = -1,
                     .outside = bytes_outside(b->cx, &b->graph),
                     .counted = map_new(b->cx->arena),
                     .outlined = map_new(b->cx->arena),
                     .planned = map_new(b->cx->arena) };
}

Layers layers_apart(Search *r, bool copies_padding, int64_t room)
{
    const int count = r->whole.groups->count;
    Layers l = { .count = count, .at = NEW_ARRAY(r->b->cx->arena, Combination, count), .explain = "",
                 .copies_padding = copies_padding, .room = room };
    for (int i = 0; i < count; i++) l.at[i] = combine_alone(&r->whole, i);
    layers_plan(r, &l);
    return l;
}

void layers_use(Build *b, const Layers *l)
{
    Ctx *cx = b->cx;
    const Implementation *const *chosen = b->scheduled.chosen;
    const int *partition = b->devices.of;
    b->scheduled.copies_padding = l->copies_padding;
    b->scheduled.room = l->room;
    b->devices.of = NEW_ARRAY(cx->arena, int, l->count);
    b->groups = (Groups){ l->count, NEW_ARRAY(cx->arena, Group, l->count) };
    b->scheduled.nest = NEW_ARRAY(cx->arena, const Nest *, l->count);
    b->scheduled.chosen = NEW_ARRAY(cx->arena, const Implementation *, l->count);
    for (int i = 0; i < l->count; i++) {
        b->groups.at[i] = l->at[i].group;
        b->scheduled.nest[i] = l->at[i].nest;
        b->devices.of[i] = partition[layers_last_part(&l->at[i])];
        b->scheduled.chosen[i] = l->at[i].count == 1 ? chosen[l->at[i].part[0]] : NULL;
    }
}

/* Counts of a function. Functions of equal outlines share one text, so only the first one's code is counted. */
typedef struct Counted Counted;
struct Counted { int64_t work, code; const Counted *first; };

static const Counted *counted(Search *r, const Function *f)
{
    Ctx *cx = r->b->cx;
    Counted *known = map_get_ptr(&r->counted, f->body);
    if (known) return known;
    const char *outline = build_merges(r->b) ? function_outline(cx, f) : "";
    const size_t length = strlen(outline);
    const Counted *first = length ? map_get_const(&r->outlined, outline, length) : NULL;
    known = NEW(cx->arena, Counted);
    *known = (Counted){ count_instructions(cx, f, r->b->target->costs), count_bytes(cx, f->body),
                        first ? first : known };
    if (!first && length) map_put_const(&r->outlined, outline, length, known);
    map_put_ptr(&r->counted, f->body, known);
    return known;
}

/* Counts each layer with the move of its result, and the code of each text once. */
static void count_layers(Search *r, Layers *l, const Build *trial)
{
    Map seen = map_new(r->b->cx->scratch);
    l->code = l->work = l->moved = 0;
    l->work_of = NEW_ARRAY(r->b->cx->arena, int64_t, l->count);
    for (int i = 0; i < l->count; i++) {
        const Counted *c = trial->lowered.function[i] ? counted(r, trial->lowered.function[i]) : NULL;
        const Slot *moved = plan_moved(&l->plan, &trial->groups, i);
        if (!c) continue;
        l->work_of[i] = c->work;
        if (moved) {
            l->moved += tensor_bytes(moved->tensor);
            l->work_of[i] += count_move(trial->target->costs, tensor_bytes(moved->tensor));
        }
        l->work += l->work_of[i];
        if (!map_get_const_ptr(&seen, c->first)) l->code += c->code;
        map_put_const_ptr(&seen, c->first, c);
    }
}

/* A plan and its counts depend on the nests, on the arena that results are moved to keep, and on where paddings are
 * stored. */
static Text key_of_plan(const Search *r, const Layers *l)
{
    Text key = text_new(r->b->cx);
    text_printf(&key, "%d %d %lld ", r->counts, l->copies_padding, (long long)l->room);
    for (int i = 0; i < l->count; i++) {
        const int last = layers_last_part(&l->at[i]);
        text_addn(&key, (const char *)&l->at[i].nest, sizeof l->at[i].nest);
        text_addn(&key, (const char *)&last, sizeof last);
    }
    return key;
}

/* Plans the layers; does not use the functions of the build. */
static void plan_anew(Search *r, Layers *l)
{
    Ctx *cx = r->b->cx;
    Build trial = *r->b;
    Shared own = *r->b->shared;
    own.emitted = map_new(cx->arena);
    own.function = NEW_ARRAY(cx->arena, const Function *, l->count);
    own.function_count = 0;
    trial.shared = &own;
    trial.mode.is_trial = true;
    layers_use(&trial, l);
    build_functions(&trial);
    l->plan = trial.plan;
    const ArenaMark mark = arena_mark(cx->scratch);
    if (r->counts && !ctx_failed(cx)) count_layers(r, l, &trial);
    arena_reset(cx->scratch, mark);
    r->b->shared->lowered = own.lowered;
    r->b->shared->final = own.final;
    r->b->shared->texts = own.texts;
    r->b->shared->lead = own.lead;
}

void layers_plan(Search *r, Layers *l)
{
    Ctx *cx = r->b->cx;
    Text key = key_of_plan(r, l);
    const Layers *known = map_get(&r->planned, text_string(&key), key.length), now = *l;
    if (known) {
        *l = *known;
        l->at = now.at;
        l->explain = now.explain;
        return;
    }
    plan_anew(r, l);
    if (!ctx_failed(cx))
        map_put(&r->planned, text_string(&key), key.length, arena_copy(cx->arena, l, sizeof *l));
}

Layers layers_with(Search *r, const Layers *l, const bool *is_joined, int j, const Combination *with)
{
    Layers out = *l;
    out.count = 0;
    out.at = NEW_ARRAY(r->b->cx->arena, Combination, l->count);
    for (int i = 0; i < l->count; i++)
        if (!is_joined[i]) out.at[out.count++] = i == j ? *with : l->at[i];
    return out;
}

bool layers_reads(const Layers *l, int i, const Tensor *t)
{
    const Group *g = &l->at[i].group;
    for (int k = 0; k < g->input_count; k++)
        if (g->input[k] == t) return true;
    return false;
}

/* Returns true if the group reads or computes an update. In the loops of another group it would read or compute the
 * update later. */
static bool takes_part_in_update(const Graph *graph, const Group *g)
{
    for (int u = 0; u < graph->update_count; u++) {
        for (int i = 0; i < g->input_count; i++)
            if (g->input[i] == graph->input[graph->update[u].input]) return true;
        for (int i = 0; i < g->output_count; i++)
            if (g->output[i] == graph->output[graph->update[u].output]) return true;
    }
    return false;
}

const char *layers_why_apart(const Search *r, const Layers *l, int i)
{
    const Combination *c = &l->at[i];
    if (!r->may_join[layers_last_part(c)]) return "it is not named";
    if (c->group.is_scheduled && (!r->joins_scheduled || c->group.naive)) return "its schedule is for this group alone";
    if (!c->nest) return "it is a branch or loop of the run";
    if (group_bound_size(&c->group)) return "it gives a size its value";
    if (takes_part_in_update(&r->b->graph, &c->group)) return "it reads or computes a tensor that is updated in place";
    if (copies_between_devices(&c->group)) return "it copies between devices";
    return c->nest->otherwise ? "it has versions, of which the run selects one" : NULL;
}

const char *layers_why_not_in(const Search *r, const Layers *l, int i, int j)
{
    const int *partition = r->b->devices.of, in = partition[layers_last_part(&l->at[j])];
    if (partition[layers_last_part(&l->at[i])] == in) return NULL;
    return in < 0 ? text_format(r->b->cx, "%s reads it, and runs on the cpu", l->at[j].group.name)
                  : text_format(r->b->cx, "%s reads it, and runs on the device %s in %s_%s", l->at[j].group.name,
                                r->b->devices.partition[in].device, r->b->name, r->b->devices.partition[in].name);
}

bool layers_stays(const Search *r, const Layers *l, int i)
{
    return l->plan.is_free[i] || layers_why_apart(r, l, i);
}

bool layers_are_plain(const Build *b)
{
    bool plain = !b->devices.count && b->groups.count > 1;
    for (int i = 0; i < b->groups.count; i++) plain = plain && !region_of_group(b, i);
    return plain;
}
