/* SPDX-License-Identifier: MIT */
/* --combine: finds the named groups, checks that they can run as one, and combines those whose combination has no cost
 * (combine_search.c). graph/plan/combine.h combines their schedules. */
#include "driver/combine_layers.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* The groups that --combine names, in ascending order. The master is the group after '@', or the last one named; for
 * "all", it is the last group unless '@' names a different one. */
typedef struct Chosen {
    int count; int *part; bool *is_in;
    int master;
    bool is_all;
    /* the first name that belongs (or does not belong) to a group of this graph; NULL if there is none */
    const char *found, *missing;
} Chosen;

static int group_called(const Build *b, Chosen *c, const char *wanted, size_t length)
{
    const char *word = name_n(b->cx, wanted, length);
    int at = b->groups.count - 1;
    while (at >= 0 && !text_equal(b->groups.at[at].name, word)) at--;
    if (at >= 0 && !c->found) c->found = word;
    if (at < 0 && !c->missing) c->missing = word;
    return at;
}

static void refuse_missing(const Build *b, const char *word)
{
    const Group *const *all;
    const int count = build_all_groups(b, &all);
    if (*word)
        diag_error(b->cx, NULL, "--combine: there is no group '%s'%s; use a group that `dump MODEL --at fused "
                                "--combine none` lists", word, group_advice(b->cx, word, all, count, ""));
    else
        diag_error(b->cx, NULL, "--combine \"%s\": a name is missing; use GROUP,GROUP...[@GROUP], all, none",
                   b->options->combine);
}

/* Returns false if this graph has none of the named groups, because they are in the graphs of a region. Refuses unknown
 * names, and groups of several graphs. */
static bool are_here(const Build *b, const Chosen *c)
{
    const Group *const *all;
    int others = c->is_all ? build_all_groups(b, &all) : 0;
    while (c->missing && others > 0 && !text_equal(all[others - 1]->name, c->missing)) others--;
    if (c->is_all && (!c->missing || b->tree.outer || others)) return true;
    if (!c->found && (b->tree.outer || b->shared->is_combined)) return false;
    if (c->missing && c->found && b->tree.outer)
        diag_error(b->cx, NULL, "--combine: '%s' is in %s, where there is no group '%s'; use groups of one branch or "
                   "loop, or of the run outside them", c->found, b->tree.body->name, c->missing);
    else if (c->missing) refuse_missing(b, c->missing);
    if (!c->is_all) b->shared->is_combined = true;
    return !ctx_failed(b->cx);
}

/* Returns the last group of a list "A,B". */
static int read_list(const Build *b, Chosen *c, const char *list, size_t length)
{
    int last = -1;
    for (const char *s = list; s <= list + length;) {
        size_t n = strcspn(s, ",@");
        last = group_called(b, c, s, n);
        if (last >= 0) c->is_in[last] = true;
        s += n + 1;
    }
    return last;
}

static Chosen chosen_groups(const Build *b, const char *wish)
{
    Chosen c = { .part = NEW_ARRAY(b->cx->arena, int, b->groups.count),
                 .is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count) };
    const size_t length = strcspn(wish, "@");
    c.is_all = length == 3 && strncmp(wish, "all", 3) == 0;
    c.master = c.is_all ? -1 : read_list(b, &c, wish, length);
    if (wish[length]) c.master = group_called(b, &c, wish + length + 1, strlen(wish + length + 1));
    if (c.master >= 0) c.is_in[c.master] = true;
    for (int i = 0; i < b->groups.count; i++) {
        if (!c.is_all && c.is_in[i] && region_of_group(b, i))
            diag_unsupported(b->cx, NULL,
                             "--combine: '%s' is a branch or loop of the run; use groups outside it",
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

/* Checks that the parts form a convex subgraph: the combined parts run as one call, so no path may leave the subgraph
 * and return to it. Returns the text of a path that leaves the subgraph and returns, or NULL if there is none. */
const char *build_between(const Build *b, const int *part, int part_count)
{
    bool *is_in = NEW_ARRAY(b->cx->arena, bool, b->groups.count),
         *is_behind = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < part_count; i++) is_in[part[i]] = true;
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < i; j++) {
            if (!reads_any(&b->groups.at[i], &b->groups.at[j])) continue;
            if (is_in[i] && is_behind[j])
                return text_format(b->cx, "'%s' reads '%s', which is not named but depends on a named group; also name "
                                   "'%s'", b->groups.at[i].name, b->groups.at[j].name, b->groups.at[j].name);
            is_behind[i] = is_behind[i] || (!is_in[i] && (is_in[j] || is_behind[j]));
        }
    return NULL;
}

/* The merged group replaces the last of the parts. */
void build_merge_groups(Build *b, const int *part, int part_count, const Group *merged, const Nest *n)
{
    Group *at = NEW_ARRAY(b->cx->arena, Group, b->groups.count);
    int count = 0, next = 0;
    for (int i = 0; i < b->groups.count; i++) {
        const bool is_in = next < part_count && part[next] == i, is_last = is_in && next == part_count - 1;
        next += is_in;
        if (is_in && !is_last) continue;
        at[count] = is_last ? *merged : b->groups.at[i];
        b->devices.of[count] = b->devices.of[i];
        b->scheduled.nest[count++] = is_last ? n : b->scheduled.nest[i];
    }
    for (int i = count; i < b->groups.count; i++) b->scheduled.nest[i] = NULL;
    b->groups = (Groups){ count, at };
}

static bool check_groups(const Build *b, const Chosen *c)
{
    Ctx *cx = b->cx;
    if (!are_here(b, c)) return false;
    if (c->count < 2 && !c->is_all)
        diag_error(cx, NULL, "--combine: '%s' is only one group; name two or more", b->options->combine);
    const char *gap = ctx_failed(cx) || c->count < 2 ? NULL : build_between(b, c->part, c->count);
    if (gap) diag_error(cx, NULL, "--combine: %s", gap);
    return !ctx_failed(cx);
}

static void use_plan(Build *b, const Layers *l)
{
    layers_use(b, l);
    b->plan = l->plan;
}

/* Searches for combinations, and returns the report. The search begins with the default plan, so its arena is not
 * larger. A state whose old and new value are live together has two arrays, which the search does not plan. If these
 * arrays need more bytes than the combination saves, the groups are not combined. */
static const char *combine_chosen(Build *b, const Chosen *c)
{
    Search r = layers_search(b, c->is_in);
    r.master = c->master;
    r.joins_scheduled = true;
    r.notes_apart = !c->is_all;
    r.counts = true;
    Layers apart = layers_apart(&r, false, 0), l = layers_default(&r, &apart);
    layers_move_results(&r, &apart);
    const Build before = *b;
    use_plan(b, &apart);
    const int64_t least = apart.plan.arena_size + build_second_arrays(b);
    *b = before;
    const char *said = layers_join_all(&r, &l, &apart);
    if (ctx_failed(b->cx)) return "";
    use_plan(b, &l);
    if (l.plan.arena_size + build_second_arrays(b) > least) {
        *b = before;
        use_plan(b, &apart);
        return "no group is combined: the old and the new value of a state would be live together, in two arrays\n";
    }
    if (l.count < before.groups.count) b->shared->is_combined = true;
    return b->tree.outer ? text_format(b->cx, "in %s:\n%s", b->tree.body->name, said) : said;
}

void build_combine_named(Build *b)
{
    const Chosen c = chosen_groups(b, b->options->combine);
    if (!check_groups(b, &c)) return;
    b->scheduled.combine_text = combine_chosen(b, &c);
    if (c.is_all && !b->tree.outer && !b->shared->is_combined && !ctx_failed(b->cx))
        diag_listed(b->cx, NOTE, NULL,
                    "--combine all combines no groups; run `dump MODEL --at strategy --combine all` for the reasons");
}
