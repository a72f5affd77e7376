/* SPDX-License-Identifier: MIT */
/* --schedule FILE: schedules of groups, in the form in which `dump --at scheduled` prints them.
 *
 *   for conv_1 on cortex-m4:          the group that `dump --at fused` calls conv_1
 *     split y.h 4 tail=peel           its steps, indented, one a line, each checked
 *   for conv_2+pool_2 on cortex-m4:   two groups as one nest, named after the last one
 *   for dense_3 on generic with NAME: over the compute of the implementation NAME
 *
 * A block replaces the strategy; blocks of other targets are skipped. A group that no block names keeps its strategy. A
 * block whose group does not exist, or a refused step, is an error at its line. '#' begins a comment. */
#include "driver/driver.h"

#include <string.h>

#include "graph/plan/combine.h"
#include "schedule/written.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

struct ScheduleBlock {
    const char *group, *target, *with;   /* group: as written; with: NULL for the operators' own computes */
    const char *where;                   /* "12:1" */
    const WrittenStep *step;
    int step_count;
    bool is_used;
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct BlockReader {
    Ctx *cx;
    const char *path, *text;
    ScheduleBlock *block;
    int count;
    WrittenStep *step;
    int step_count;
} BlockReader;

/* Returns the word at *s, up to a blank or ':'; *s advances past the word and the blanks. */
static const char *take_word(Ctx *cx, const char **s, const char *end)
{
    const char *begin = *s;
    while (*s < end && !strchr(" \t:", **s)) ++*s;
    const char *word = name_n(cx, begin, (size_t)(*s - begin));
    while (*s < end && (**s == ' ' || **s == '\t')) ++*s;
    return word;
}

static void read_head(BlockReader *r, const char *s, const char *end, int line)
{
    const char *where = text_format(r->cx, "%d:1", line), *keyword = take_word(r->cx, &s, end);
    ScheduleBlock b = { .where = where, .step = r->step + r->step_count };
    b.group = take_word(r->cx, &s, end);
    const char *on = take_word(r->cx, &s, end);
    b.target = take_word(r->cx, &s, end);
    const char *with = s < end && *s != ':' ? take_word(r->cx, &s, end) : NULL;
    if (with) b.with = take_word(r->cx, &s, end);
    bool is_head =
        text_equal(keyword, "for") && text_equal(on, "on") && *b.group && *b.target && s + 1 == end && *s == ':';
    if (!is_head || (with && (!text_equal(with, "with") || !*b.with)))
        diag_error(r->cx, where, "a block begins `for GROUP on TARGET:`, and its steps are indented");
    else if (!target_find(r->cx, b.target))
        diag_error(r->cx, where, "there is no target \"%s\"%s", b.target, target_hint(r->cx, b.target));
    for (int i = 0; i < r->count; i++)
        if (text_equal(r->block[i].group, b.group) && text_equal(r->block[i].target, b.target))
            diag_error(r->cx, where, "%s on %s has a block already, at %s", b.group, b.target, r->block[i].where);
    r->block[r->count++] = b;
}

static void read_line(BlockReader *r, const char *line, int number)
{
    const char *s = line + strspn(line, " \t"), *end = s + strcspn(s, "#\n");
    while (end > s && strchr(" \t\r", end[-1])) end--;
    if (end == s || ctx_failed(r->cx)) return;
    if (s == line) {
        read_head(r, s, end, number);
        return;
    }
    if (!r->count)
        diag_error(r->cx, text_format(r->cx, "%d:1", number), "a step before the first `for GROUP on TARGET:`");
    if (ctx_failed(r->cx)) return;
    r->step_count += written_step(r->cx, r->path, r->text, s, end, &r->step[r->step_count]);
    r->block[r->count - 1].step_count++;
}

bool build_read_schedules(Build *b, const char *path)
{
    Ctx *cx = b->cx;
    Bytes file = file_read(cx, path);
    if (ctx_failed(cx)) return false;
    BlockReader r = { .cx = cx, .path = name(cx, path), .text = (const char *)file.at };
    size_t lines = 1;
    for (const char *s = r.text; *s; s++) lines += *s == '\n';
    r.block = NEW_ARRAY(cx->arena, ScheduleBlock, lines);
    r.step = NEW_ARRAY(cx->arena, WrittenStep, lines);
    const char *outer = cx->file;
    cx->file = r.path;
    int number = 1;
    for (const char *s = r.text; *s; s += strcspn(s, "\n"), s += *s == '\n') read_line(&r, s, number++);
    cx->file = outer;
    b->block = r.block;
    b->block_count = r.count;
    return !ctx_failed(cx);
}

/* ---- Applying ---------------------------------------------------------------------------------------------------- */

static void refuse_block(Build *b, const ScheduleBlock *s, const char *what)
{
    const char *outer = b->cx->file;
    b->cx->file = b->options->schedule;
    diag_error(b->cx, s->where, "%s", what);
    b->cx->file = outer;
}

static const Nest *after_steps(Build *b, const ScheduleBlock *s, const Nest *n)
{
    for (int i = 0; n && i < s->step_count && !ctx_failed(b->cx); i++) n = sched_written(b->cx, n, &s->step[i]);
    return ctx_failed(b->cx) ? NULL : n;
}

static ScheduleBlock *block_of(Build *b, const char *group)
{
    for (int i = 0; i < b->block_count; i++)
        if (text_equal(b->block[i].group, group) && text_equal(b->block[i].target, b->target->name))
            return &b->block[i];
    return NULL;
}

static const Implementation *implementation_called(Build *b, const ScheduleBlock *s)
{
    int count;
    const Implementation *const *all = implementation_list(b->cx, &count);
    for (int i = 0; s->with && i < count; i++)
        if (text_equal(all[i]->name, s->with)) return all[i];
    if (s->with) refuse_block(b, s, text_format(b->cx, "there is no implementation \"%s\"", s->with));
    return NULL;
}

const Nest *build_schedule_nest(Build *b, const Nest *naive, const char *group)
{
    ScheduleBlock *s = block_of(b, group);
    if (!s) return NULL;
    s->is_used = true;
    return after_steps(b, s, naive);
}

static bool same_steps(const Nest *a, const Nest *b)
{
    bool same = a->step_count == b->step_count;
    for (int i = 0; same && i < a->step_count; i++) same = text_equal(a->step[i].text, b->step[i].text);
    return same;
}

/* Returns the nest with the name of an implementation that applies the same steps, for the emitted comment; else with
 * the file's name. */
static const Nest *with_source(Build *b, const Group *g, const Nest *n)
{
    const Implementation *chosen = NULL;
    DiagMark mark = diag_mark(b->cx);
    const Nest *own = g->anchor ? strategy_schedule(b->cx, g, b->target, &chosen, NULL) : NULL;
    const Diag *failure = diag_rewind(b->cx, mark);
    if (!own || (failure && failure->severity >= ERROR) || own->otherwise || !same_steps(own, n)) return n;
    return nest_named_by(b->cx, n, own->strategy);
}

bool build_schedule_group(Build *b, int group)
{
    Group *g = &b->groups.at[group];
    ScheduleBlock *s = block_of(b, g->parts ? g->parts : g->name);
    if (!s) return false;
    s->is_used = g->is_scheduled = true;
    const Implementation *with = implementation_called(b, s);
    b->chosen[group] = with;
    b->nest[group] = after_steps(b, s, g->naive ? g->naive : group_naive(b->cx, g, b->target, with));
    if (b->nest[group]) b->nest[group] = with_source(b, g, b->nest[group]);
    return true;
}

/* ---- Several groups ---------------------------------------------------------------------------------------------- */

static int group_called(const Build *b, const char *wanted, size_t length)
{
    for (int i = 0; i < b->groups.count; i++)
        if (strlen(b->groups.at[i].name) == length && strncmp(b->groups.at[i].name, wanted, length) == 0) return i;
    return -1;
}

/* Finds the groups of "conv+pool", in ascending order; *master is the position of the one named last. False: this graph
 * lacks one. */
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

static void combine_block(Build *b, ScheduleBlock *s)
{
    Ctx *cx = b->cx;
    int *part = NEW_ARRAY(cx->arena, int, strlen(s->group) + 1), count, master = 0;
    if (!parts_of(b, s->group, part, &count, &master)) return;
    const char *gap = build_between(b, part, count);
    if (gap) refuse_block(b, s, gap);
    Group merged;
    const Nest *naive =
        gap ? NULL : schedule_combine_naive(cx, &b->graph, &b->groups, part, count, master, b->target, &merged);
    if (!naive) return;
    merged.naive = naive;
    merged.parts = s->group;
    build_merge_groups(b, part, count, &merged, NULL);
}

void build_combine_blocks(Build *b)
{
    for (int i = 0; i < b->block_count && !ctx_failed(b->cx); i++) {
        ScheduleBlock *s = &b->block[i];
        if (strchr(s->group, '+') && b->options->combine && !text_equal(b->options->combine, "none"))
            refuse_block(b, s, "--combine excludes blocks of several groups");
        if (strchr(s->group, '+') && text_equal(s->target, b->target->name)) combine_block(b, s);
    }
}

void build_check_schedules(Build *b)
{
    for (int i = 0; i < b->block_count && !ctx_failed(b->cx); i++) {
        const ScheduleBlock *s = &b->block[i];
        if (s->is_used || !text_equal(s->target, b->target->name)) continue;
        int count = 0;
        for (const Build *g = b; g; g = g->next) count += g->groups.count;
        const char **names = NEW_ARRAY(b->cx->arena, const char *, count + 1);
        count = 0;
        for (const Build *g = b; g; g = g->next)
            for (int k = 0; k < g->groups.count; k++) names[count++] = g->groups.at[k].name;
        const char *hint =
            text_hint(b->cx, s->group, names, (size_t)count, "; `dump MODEL --at fused` lists the groups");
        refuse_block(b, s, text_format(b->cx, "there is no group '%s'%s", s->group, hint));
    }
}
