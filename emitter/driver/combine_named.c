/* SPDX-License-Identifier: MIT */
/* --combine: finds the named groups, checks that they can run as one, and combines those for which that costs nothing
 * (combine_join.c). graph/plan/combine.h combines their schedules. */
#include "driver/combine_layers.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* The groups that --combine names, ascending. The master is the one after '@', or the last one named; of "all", the
 * last group unless '@' names another. */
typedef struct Chosen { int count; int *part; bool *is_in; int master; bool is_all; } Chosen;

static int group_called(Build *b, const char *wanted, size_t length)
{
    const char *word = name_n(b->cx, wanted, length);
    for (int i = 0; i < b->groups.count; i++)
        if (text_equal(b->groups.at[i].name, word)) return i;
    const Group *const *all;
    const int count = build_all_groups(b, &all);
    if (length)
        diag_error(b->cx, NULL, "--combine: there is no group '%s'%s; `dump MODEL --at fused --combine none` prints "
                   "them", word, group_advice(b->cx, word, all, count, ""));
    else
        diag_error(b->cx, NULL, "--combine \"%s\": a name is missing; accepted: GROUP,GROUP...[@GROUP], all, none",
                   b->options->combine);
    return -1;
}

/* Returns the last group of a list "A,B". */
static int read_list(Build *b, Chosen *c, const char *list, size_t length)
{
    int last = -1;
    for (const char *s = list; s <= list + length && !ctx_failed(b->cx);) {
        size_t n = strcspn(s, ",@");
        last = group_called(b, s, n);
        if (last >= 0) c->is_in[last] = true;
        s += n + 1;
    }
    return last;
}

static Chosen chosen_groups(Build *b, const char *wish)
{
    Chosen c = { .part = NEW_ARRAY(b->cx->arena, int, b->groups.count),
                 .is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count) };
    const size_t length = strcspn(wish, "@");
    c.is_all = length == 3 && strncmp(wish, "all", 3) == 0;
    c.master = c.is_all ? -1 : read_list(b, &c, wish, length);
    if (wish[length] && !ctx_failed(b->cx)) c.master = group_called(b, wish + length + 1, strlen(wish + length + 1));
    if (c.master >= 0) c.is_in[c.master] = true;
    for (int i = 0; i < b->groups.count; i++) {
        if (!c.is_all && c.is_in[i] && region_of_group(b, i))
            diag_unsupported(b->cx, NULL,
                             "--combine: '%s' is a branch or loop of the run; accepted: groups outside of it",
                             b->groups.at[i].name);
        c.is_in[i] = c.is_in[i] || c.is_all;
        if (c.is_in[i]) c.part[c.count++] = i;
    }
    return c;
}

static bool reads_any(const Group *g, const Group *of)
{
    for (int i = 0; i < g->input_count; i++)
        for (int j = 0; j < of->output_count; j++)
            if (g->input[i] == of->output[j]) return true;
    return false;
}

/* Checks that the parts form a convex subgraph: combined, they run as one call, so no path may leave them and return.
 * Returns the text of a path that does; NULL: none. */
const char *build_between(Build *b, const int *part, int part_count)
{
    bool *is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count),
         *is_behind = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < part_count; i++) is_in[part[i]] = true;
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < i; j++) {
            if (!reads_any(&b->groups.at[i], &b->groups.at[j])) continue;
            if (is_in[i] && is_behind[j])
                return text_format(b->cx, "'%s' reads '%s', which is not named but reads a group that is; name it too",
                                   b->groups.at[i].name, b->groups.at[j].name);
            is_behind[i] = is_behind[i] || (!is_in[i] && (is_in[j] || is_behind[j]));
        }
    return NULL;
}

/* The merged group replaces the last of its parts. */
void build_merge_groups(Build *b, const int *part, int part_count, const Group *merged, const Nest *n)
{
    Group *at = NEW_ARRAY(b->cx->arena, Group, b->groups.count);
    int count = 0, next = 0;
    for (int i = 0; i < b->groups.count; i++) {
        const bool is_in = next < part_count && part[next] == i, is_last = is_in && next == part_count - 1;
        next += is_in;
        if (is_in && !is_last) continue;
        at[count] = is_last ? *merged : b->groups.at[i];
        b->nest[count++] = is_last ? n : b->nest[i];
    }
    for (int i = count; i < b->groups.count; i++) b->nest[i] = NULL;
    b->groups = (Groups){ count, at };
}

static Chosen checked_groups(Build *b)
{
    Ctx *cx = b->cx;
    const Chosen c = chosen_groups(b, b->options->combine);
    if (!ctx_failed(cx) && c.count < 2 && !c.is_all)
        diag_error(cx, NULL, "--combine: '%s' is one group alone; name two or more", b->options->combine);
    const char *gap = ctx_failed(cx) || c.count < 2 ? NULL : build_between(b, c.part, c.count);
    if (gap) diag_error(cx, NULL, "--combine: %s", gap);
    return c;
}

void build_combine_named(Build *b)
{
    Ctx *cx = b->cx;
    const Chosen c = checked_groups(b);
    if (ctx_failed(cx) || c.count < 2) return;
    if (!layers_are_plain(b)) {
        b->combine_text = "no group is combined: branches, loops and devices have memory of their own\n";
        return;
    }
    Search r = layers_search(b, c.is_in);
    r.master = c.master;
    r.joins_scheduled = true;
    Layers l = layers_apart(&r);
    const int64_t apart = l.plan.arena_size;
    layers_save_ram(&r, &l);
    const char *said = layers_join_all(&r, &l, apart);
    if (ctx_failed(cx)) return;
    layers_use(b, &l);
    b->combine_text = said;
}
