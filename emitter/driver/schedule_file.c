/* SPDX-License-Identifier: MIT */
/* Reads schedules of groups from outside: a text from C, the files of --schedule, the end of a .te file.
 * graph/plan/group_schedules.h defines their form and finds the block of a group. This file joins groups that a block
 * names together, and reports blocks without groups. */
#include "driver/driver.h"

#include <string.h>

#include "graph/plan/combine.h"
#include "graph/plan/group_schedules.h"
#include "support/file.h"
#include "support/text.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool read_file(Ctx *cx, int source, const char *path)
{
    const char *text = file_text(cx, path, file_read(cx, path));
    return !ctx_failed(cx) && schedules_read(cx, source, path, text, 0, NULL);
}

void build_read_schedules(const Build *b)
{
    Ctx *cx = b->cx;
    const lw_options *o = b->options;
    const Model *m = &b->model;
    schedules_clear(cx);
    if (o->schedule_text) schedules_read(cx, SCHEDULES_OF_TEXT, "schedule_text", o->schedule_text, 0, NULL);
    for (int i = 0; i < o->schedule_count; i++) read_file(cx, SCHEDULES_OF_FILES + i, o->schedule[i]);
    if (m->schedules) schedules_read(cx, SCHEDULES_OF_MODEL, b->path, m->schedules, m->schedules_at, m->functions);
    schedules_declare(cx, SCHEDULES_OF_MODEL, m->declaration, m->declaration_count);
}

/* ---- Nests ------------------------------------------------------------------------------------------------------- */

/* Returns true for a block that names the group: it determines the group's nest. A block that is found by an operator
 * or a signature replaces only the strategy, so the group may still be combined with other groups. */
static bool fixes_nest(const GroupSchedule *s) { return s && s->subject <= OF_PARTS; }

static void refuse_region(const Build *b, const GroupSchedule *s)
{
    schedule_refuse(b->cx, s, text_format(b->cx, "'%s' is a branch or loop of the run, without steps of its own; use "
                                          "the groups inside it", s->of));
}

/* The nest of equal groups, and the implementation that built it. */
typedef struct EqualGroups { const Nest *nest; const Implementation *chosen; } EqualGroups;

/* Returns the nest of the group's strategy, which an equal group may have built before. A nest with diagnostics is not
 * reused, because its diagnostics name its group. */
static const Nest *strategy_nest(Build *b, int group)
{
    Ctx *cx = b->cx;
    const Group *g = &b->groups.at[group];
    size_t bytes = 0;
    const char *key = group_key(cx, g, &bytes);
    const EqualGroups *known = key ? map_get(&b->shared->scheduled, key, bytes) : NULL;
    Diag *const *before = cx->last_diag;
    if (known) b->scheduled.chosen[group] = known->chosen;
    if (known) return known->nest;
    const Nest *n = strategy_schedule(cx, g, b->target, &b->scheduled.chosen[group], NULL);
    if (!key || !n || cx->last_diag != before) return n;
    EqualGroups *made = NEW(cx->arena, EqualGroups);
    *made = (EqualGroups){ n, b->scheduled.chosen[group] };
    map_put(&b->shared->scheduled, arena_copy(cx->arena, key, bytes), bytes, made);
    return n;
}

static const Nest *own_nest(Build *b, int group, const GroupSchedule *s)
{
    const Group *g = &b->groups.at[group];
    if (ctx_failed(b->cx)) return NULL;
    if (s) return schedule_nest(b->cx, s, g, b->target, g->naive, g->naive ? NULL : &b->scheduled.chosen[group]);
    const ArenaMark mark = arena_mark(b->cx->scratch);
    const Nest *n = strategy_nest(b, group);
    arena_reset(b->cx->scratch, mark);
    return n;
}

void build_schedule_group(Build *b, int group)
{
    Group *g = &b->groups.at[group];
    const GroupSchedule *s = schedule_of_group(b->cx, g, b->target);
    const bool is_of_file = g->keeps_names && !s;
    g->is_scheduled = fixes_nest(s) || g->keeps_names;
    if (s && region_of_group(b, group)) refuse_region(b, s);
    if (region_of_group(b, group)) return;
    if (s && s->subject > OF_PARTS && !is_of_file) g->keeps_names = false;
    b->scheduled.nest[group] = is_of_file ? build_file_nest(b, group) : own_nest(b, group, s);
}

const Nest *build_named_nest(const Build *b, int group)
{
    const Group *g = &b->groups.at[group];
    return g->anchor ? nest_called(b->cx, b->scheduled.nest[group], g->name) : b->scheduled.nest[group];
}

const Nest *build_schedule_nest(const Build *b, const Nest *naive, const char *group)
{
    const Group g = { .name = group };
    const GroupSchedule *s = schedule_of_group(b->cx, &g, b->target);
    return s ? schedule_nest(b->cx, s, &g, b->target, naive, NULL) : NULL;
}

/* ---- Several groups ---------------------------------------------------------------------------------------------- */

static int group_called(const Build *b, const char *wanted, size_t length)
{
    for (int i = 0; i < b->groups.count; i++)
        if (strlen(b->groups.at[i].name) == length && strncmp(b->groups.at[i].name, wanted, length) == 0) return i;
    return -1;
}

/* Finds the groups of "conv+pool", in ascending order; *master becomes the position of the group that the text names
 * last. Returns false if this graph lacks one of the groups. */
static bool parts_of(const Build *b, const char *group, int *part, int *count, int *master)
{
    int last = -1;
    *count = 0;
    for (const char *s = group;; s += strcspn(s, "+") + 1) {
        int at = *count;
        last = group_called(b, s, strcspn(s, "+"));
        if (last < 0 || region_of_group(b, last) || b->groups.at[last].parts) return false;
        for (++*count; at > 0 && part[at - 1] > last; at--) part[at] = part[at - 1];
        part[at] = last;
        if (!s[strcspn(s, "+")]) break;
    }
    for (int i = 0; i < *count; i++)
        if (part[i] == last) *master = i;
    return true;
}

/* Refuses a block of the same source that is for only one part. */
static void check_parts(const Build *b, const GroupSchedule *s, const int *part, int count)
{
    for (int i = 0; i < count; i++) {
        const Group *g = &b->groups.at[part[i]];
        const GroupSchedule *other = schedule_of_group(b->cx, g, b->target);
        if (other && other->source <= s->source)
            schedule_refuse(b->cx, s, text_format(b->cx, "the group %s already has a block, at %s; keep one of them",
                                                  g->name,
                                                  other->where));
    }
}

static void combine_block(Build *b, const GroupSchedule *s)
{
    Ctx *cx = b->cx;
    int *part = NEW_ARRAY(cx->arena, int, strlen(s->of) + 1), count, master = 0;
    if (!parts_of(b, s->of, part, &count, &master)) return;
    const char *gap = build_between(b, part, count);
    for (int i = 1; i < count && !gap; i++)
        if (b->devices.of[part[i]] != b->devices.of[part[0]])
            gap = "its groups run in different functions of devices";
    if (gap) schedule_refuse(cx, s, gap);
    check_parts(b, s, part, count);
    Group merged;
    const Nest *naive = ctx_failed(cx) ? NULL : schedule_combine_naive(cx, &b->graph, &b->groups, part, count, master,
                                                                       b->target, &merged);
    if (!naive) return;
    merged.naive = naive;
    merged.parts = s->of;
    build_merge_groups(b, part, count, &merged, NULL);
}

void build_combine_blocks(Build *b)
{
    for (const GroupSchedule *s = schedules_first(b->cx); s && !ctx_failed(b->cx); s = s->next) {
        if (s->subject != OF_PARTS || !text_equal(s->target, b->target->name)) continue;
        if (b->options->combine && !text_equal(b->options->combine, "none"))
            schedule_refuse(b->cx, s, "--combine excludes blocks of several groups");
        else combine_block(b, s);
    }
}

void build_check_schedules(const Build *b)
{
    const Group *const *all;
    const int count = build_all_groups(b, &all);
    schedules_check(b->cx, b->target, all, count);
}
