/* SPDX-License-Identifier: MIT */
/* Applies the schedules of a .te file: `schedule NAME` and its steps replace the strategy of the group that computes
 * NAME. The stages of such a group have the names of the file's tensors, so the steps use these names. */
#include "driver/driver.h"

#include <string.h>

#include "graph/dag/definition.h"
#include "import/te/te.h"
#include "schedule/program.h"
#include "support/text.h"

static bool computes(const Node *n, const char *tensor)
{
    if (text_equal(n->name, tensor)) return true;
    for (int i = 0; i < n->out_count; i++)
        if (text_equal(n->out[i]->name, tensor)) return true;
    const Definition *d = n->op->definition;
    for (int k = 0; d && k < d->node_count; k++)
        if (text_equal(d->node[k]->name, tensor)) return true;
    return false;
}

static bool group_computes(const Group *g, const char *tensor)
{
    for (int i = 0; i < g->node_count; i++)
        if (computes(g->node[i], tensor)) return true;
    return false;
}

/* Returns false for a group of views. */
static bool has_loops(const Build *b, int group)
{
    const Node *anchor = b->groups.at[group].anchor;
    return !region_of_group(b, group) && (!anchor || !anchor->op->layout.is_view);
}

const char *build_group_names(const Build *b)
{
    Text t = text_new(b->cx);
    int left = 0;
    for (int i = 0; i < b->groups.count; i++) left += has_loops(b, i);
    for (int i = 0; i < b->groups.count; i++)
        if (has_loops(b, i)) text_printf(&t, "%s%s", b->groups.at[i].name, --left > 1 ? ", " : left ? " and " : "");
    return text_string(&t);
}

int build_only_group(const Build *b, int *count)
{
    int found = -1;
    *count = 0;
    for (int i = 0; i < b->groups.count; i++) {
        if (!has_loops(b, i)) continue;
        found = i;
        ++*count;
    }
    return *count == 1 ? found : -1;
}

int build_group_of(const Build *b, const char *tensor)
{
    for (int i = 0; i < b->groups.count; i++)
        if (has_loops(b, i) && text_equal(b->groups.at[i].name, tensor)) return i;
    for (int i = 0; i < b->groups.count; i++)
        if (has_loops(b, i) && group_computes(&b->groups.at[i], tensor)) return i;
    return -1;
}

const char *build_no_group(const Build *b, const char *tensor)
{
    const char **names = NEW_ARRAY(b->cx->arena, const char *, b->groups.count), *all = build_group_names(b);
    for (int i = 0; i < b->groups.count; i++) names[i] = b->groups.at[i].name;
    return text_format(b->cx, "no group computes '%s'%s%s%s", tensor,
                       text_hint(b->cx, tensor, names, (size_t)b->groups.count, ""), *all ? "; use " : "", all);
}

static int group_of_schedule(const Build *b, const TeSchedule *s)
{
    int count = 0;
    const int group = s->group ? build_group_of(b, s->group) : build_only_group(b, &count);
    const char *why = group >= 0 ? NULL
                      : s->group ? build_no_group(b, s->group)
                      : count ? text_format(b->cx, "the file has %d groups: %s; use `schedule NAME` with one of these "
                                                   "names, or `nest`, which makes the file one group",
                                            count, build_group_names(b))
                                 : "the file has no group with loops, but constants and views";
    if (why) written_refuse(b->cx, &s->at, why);
    return group;
}

void build_find_file_schedules(Build *b)
{
    const Model *m = &b->model;
    b->scheduled.by_file = NEW_ARRAY(b->cx->arena, const Node *, m->schedule_count);
    for (int i = 0; i < m->schedule_count && !b->tree.outer && !ctx_failed(b->cx); i++) {
        const int group = group_of_schedule(b, &m->schedule[i]);
        if (group < 0) return;
        Group *g = &b->groups.at[group];
        g->keeps_names = g->is_scheduled = true;
        b->scheduled.by_file[i] = g->anchor;
    }
}

const Nest *build_after_file_steps(const Build *b, const TeSchedule *s, const Nest *n)
{
    n = sched_program(b->cx, n, NULL, b->model.declaration, b->model.declaration_count);
    const DiagMark mark = diag_mark(b->cx);
    n = sched_program(b->cx, n, b->model.functions, s->step, s->step_count);
    if (ctx_failed(b->cx) && b->mode.shown_steps && n && n->step_count >= b->mode.shown_steps - 1) {
        const Diag *why = diag_rewind(b->cx, mark);
        diag_listed(b->cx, NOTE, why->where, "a step behind those shown is refused: %s", why->what);
        return n;
    }
    n = sched_finished(b->cx, n, s->step, s->step_count);
    return ctx_failed(b->cx) ? NULL : n;
}

const Nest *build_file_nest(const Build *b, int group)
{
    const Model *m = &b->model;
    const Group *g = &b->groups.at[group];
    const Nest *n = group_naive(b->cx, g, b->target, NULL);
    for (int i = 0; i < m->schedule_count; i++)
        if (b->scheduled.by_file[i] == g->anchor) n = build_after_file_steps(b, &m->schedule[i], n);
    return n;
}

void build_check_file_schedules(const Build *b)
{
    for (int i = 0; i < b->model.schedule_count && !b->model.is_nest && !ctx_failed(b->cx); i++) {
        bool found = false;
        for (int g = 0; g < b->groups.count; g++) found = found || b->groups.at[g].anchor == b->scheduled.by_file[i];
        if (!found)
            written_refuse(b->cx, &b->model.schedule[i].at,
                           "its group is combined with other groups, by --combine or a block of --schedule; remove "
                           "either that or this schedule");
    }
}
