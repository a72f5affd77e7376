/* SPDX-License-Identifier: MIT */
/* Selects the implementation of a group. Candidates match the anchor's operator or pattern, the target and its
 * features, and their conditions hold. Among the applicable ones, the highest plevel wins. On a tie, the nearest target
 * wins (implementation_rank), then one that names the operator rather than its pattern, then the first registered one.
 * A nearer row overrides one of the same name. Without candidates the nest stays naive. A condition over open sizes is
 * tested at run time. If it fails, the best of the remaining candidates runs, and so on until a candidate without such
 * a condition. */

/* Decision: a built-in template that does not apply costs speed, not the model. If a step of a built-in schedule is
 * refused for a group, `graph/plan/strategy.c` warns and takes the next best implementation. A row from outside that
 * declines (its function returns false) is noted, and passed over; its refused step is an error. */
#include "graph/condition/condition.h"
#include "graph/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/dag/registry.h"
#include "ir/algebra/algebra.h"
#include "ir/check/check.h"
#include "ir/text/formula.h"
#include "schedule/schedule.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

static bool names_op(const Implementation *i, const Node *anchor) { return text_has_word(i->ops, anchor->op->name); }

static bool is_for(Ctx *cx, const Implementation *i, const Node *anchor)
{
    const Op *op = anchor->op;
    return names_op(i, anchor) || text_has_word(i->ops, text_format(cx, "pattern:%s",
        pattern_text(op->fusion.pattern)));
}

static bool is_better(const Node *anchor, const Implementation *a, int a_rank, const Implementation *b, int b_rank)
{
    if (!b || a->plevel != b->plevel) return !b || a->plevel > b->plevel;
    return a_rank != b_rank ? a_rank < b_rank : names_op(a, anchor) && !names_op(b, anchor);
}

static GroupNest nest_of(Ctx *cx, const Group *g, const Target *t, const Implementation *with)
{
    GroupNest n = { .group = g, .target = t, .with = with };
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count),
           **out = group_expand(cx, g, with, input, &n);
    if (out) n.nest = nest_naive(cx, g->name, input, g->input_count, out, g->output_count);
    if (n.nest) n.nest = nest_for(cx, n.nest, t->features);
    if (n.nest) n.nest = nest_within(cx, n.nest, g->range, g->range_count);
    if (n.nest && with && (with->compute || with->build)) n.nest = nest_computed_by(cx, n.nest, with->name);
    return n;
}

const Nest *group_naive(Ctx *cx, const Group *g, const Target *t, const Implementation *with)
{
    return nest_of(cx, g, t, with).nest;
}

/* Returns true if an axis is empty, or if a reduce axis may be empty (versions.c). The initialization is then a
 * separate loop, and templates require it fused. */
static bool may_be_empty(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        for (int a = 0; a < n->stage[i]->axis_count; a++) {
            const Interval size = interval_of(cx, n->stage[i]->axis[a].extent, NULL);
            if (a < n->stage[i]->data_count ? size.greatest < 1 : size.least < 1) return true;
        }
    return false;
}

/* Returns the scheduled nest. A nest that may be empty stays as written. Each primitive proves its own precondition,
 * and the checker proves the final nest; with LOOPWRIGHT_CHECK=steps, it also proves every intermediate nest. */
static const Nest *scheduled(Ctx *cx, const GroupNest *g, const Implementation *with)
{
    const char *wish = getenv("LOOPWRIGHT_CHECK"), *why = "";
    bool late = cx->checks_late;
    cx->checks_late = !wish || strcmp(wish, "steps") != 0;
    const Nest *n = may_be_empty(cx, g->nest) ? g->nest : with->schedule(cx, g);
    cx->checks_late = late;
    if (!n || ctx_failed(cx)) return n;
    if (nest_check(cx, n, &why) == PROVED) return nest_named_by(cx, n, with->name);
    if (with->user)
        diag_unsupported(cx, g->group->name, "the steps of the implementation \"%s\" are accepted one by one, but not "
                         "together: %s", with->name, why);
    else
        diag_internal(cx, g->group->name, "the schedule \"%s\" produced a nest that is not proved: %s", with->name,
                      why);
    return NULL;
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

typedef struct Choice Choice;
struct Choice {
    Ctx *cx;
    const Target *target;
    const Node *anchor;
    const GroupNest *naive;
    /* The earlier choice whose run-time condition may fail, for which case this choice is made; NULL for the first
     * choice. */
    const Choice *before;
    const Implementation *best, *outside;        /* outside is the best applicable row from outside; both may be NULL */
    int rank, outside_rank;
    const Expr *open;                  /* the condition to test at run time, or NULL */
};

/* Returns the target of a nearer row with the same name, which overrides this row. Returns NULL if there is none. */
static const char *overridden_by(const Choice *c, const Implementation *i, int rank)
{
    int count;
    const Implementation *const *all = implementation_list(c->cx, &count);
    for (int j = 0; j < count; j++) {
        int other = implementation_rank(c->cx, c->target, all[j]);
        if (all[j] != i && other >= 0 && other < rank && text_equal(all[j]->name, i->name) && is_for(c->cx, all[j],
            c->anchor))
            return implementation_for(all[j]);
    }
    return NULL;
}

static bool was_chosen(const Choice *c, const Implementation *i)
{
    for (c = c->before; c; c = c->before)
        if (c->best == i) return true;
    return false;
}

static void consider(Choice *c, const Implementation *i, Text *explain)
{
    int rank = implementation_rank(c->cx, c->target, i);
    if (i->alter || rank < 0 || was_chosen(c, i) || !is_for(c->cx, i, c->anchor)) return;
    const char *other = overridden_by(c, i, rank), *why = "applies";
    const Expr *open = NULL;
    Holds verdict = other || (i->applies && !i->applies(c->cx, c->naive)) ? HOLDS_NOT
                  : i->when ? condition_holds(c->cx, i, c->anchor, c->target, &open) : HOLDS;
    if (other) why = text_format(c->cx, "overridden for %s", other);
    else if (verdict == HOLDS_NOT)
        why = i->when ? text_format(c->cx, "its condition does not hold: %s", i->when) : "its condition does not hold";
    else if (verdict == HOLDS_OPEN) why = text_format(c->cx, "applies where %s", i->when);
    if (explain)
        text_printf(explain, "  %-32s %-12s plevel %2d  %s\n", i->name, implementation_for(i), i->plevel, why);
    if (verdict == HOLDS_NOT) return;
    if (i->user && is_better(c->anchor, i, rank, c->outside, c->outside_rank)) c->outside = i, c->outside_rank = rank;
    if (!is_better(c->anchor, i, rank, c->best, c->rank)) return;
    c->best = i;
    c->rank = rank;
    c->open = open;
}

/* Selects the best row that no earlier choice took. */
static void choose(Choice *c, Text *explain)
{
    int count;
    const Implementation *const *all = implementation_list(c->cx, &count);
    for (int i = 0; i < count && c->naive->nest; i++) consider(c, all[i], explain);
}

static Choice next_choice(const Choice *c)
{
    Choice next = { .cx = c->cx, .target = c->target, .anchor = c->anchor, .naive = c->naive, .before = c };
    choose(&next, NULL);
    return next;
}

static const char *name_of(const Choice *c) { return c->best ? c->best->name : "the naive nest"; }

static const Nest *nest_with(Ctx *cx, const GroupNest *naive, const Implementation *i)
{
    GroupNest with = i->compute || i->build ? nest_of(cx, naive->group, naive->target, i) : *naive;
    with.with = i;
    return i->schedule && with.nest ? scheduled(cx, &with, i) : with.nest;
}

const Nest *implementation_nest(Ctx *cx, const Group *g, const Target *t, const Implementation *i)
{
    const Expr *open = NULL;
    if (i->alter || implementation_rank(cx, t, i) < 0 || !is_for(cx, i, g->anchor)) return NULL;
    const GroupNest naive = nest_of(cx, g, t, NULL);
    if (!naive.nest || (i->applies && !i->applies(cx, &naive)) ||
        (i->when && condition_holds(cx, i, g->anchor, t, &open) == HOLDS_NOT))
        return NULL;
    return nest_with(cx, &naive, i);
}

/* Returns the nest of the chosen row. Returns NULL and sets *why if the row is skipped: a user's function returned
 * false, or a step of a built-in template was refused. A template's mistake costs a group its speed and keeps the model
 * compiling. A refused step of a user's row is an error, addressed to its author. */
static const Nest *attempt(const Choice *c, const char **why)
{
    const DiagMark mark = diag_mark(c->cx);
    const Nest *n = nest_with(c->cx, c->naive, c->best);
    const bool is_refused = ctx_failed(c->cx) && !mark.failed && !c->best->user;
    *why = NULL;
    if (!is_refused && (n || ctx_failed(c->cx))) return n;
    const Diag *d = is_refused ? diag_rewind(c->cx, mark) : NULL;
    *why = d ? text_format(c->cx, "%s: %s", d->where, d->what) : "its function returned false";
    return NULL;
}

static void explain_choice(const Choice *c, Text *t)
{
    const char *not_taken = NULL;
    if (c->best) attempt(c, &not_taken);
    if (not_taken) {
        const Choice next = next_choice(c);
        text_printf(t, "  skipped: %s: %s\n", c->best->name, not_taken);
        explain_choice(&next, t);
        return;
    }
    const char *rank = ": the highest plevel that applies, nearest in the chain, for the operator's name, first "
                       "registered";
    text_printf(t, "  chosen: %s%s\n", name_of(c), c->best ? rank : "");
    if (!c->open) return;
    const Choice next = next_choice(c);
    text_add(t, "  two versions: the condition ");
    print_expr(t, c->open);
    text_printf(t, " is tested at run time; where it does not hold\n");
    explain_choice(&next, t);
}

static void explain_all(const Choice *c, const Expr *full, Text *t)
{
    explain_choice(c, t);
    if (!full) return;
    text_add(t, "  this is where no reduction is empty, by a test at run time: ");
    print_expr(t, full);
    text_add(t, "; otherwise the naive nest\n");
}

/* Prints a note that no row from outside is used although one applies. */
static void note_outside(const Choice *c)
{
    if (!c->before && !c->open && c->outside && !c->best->user)
        diag_listed(c->cx, NOTE, c->naive->group->name,
                    "the schedule \"%s\" applies, but \"%s\" is used: plevel %d is above %d", c->outside->name,
                    c->best->name, c->best->plevel, c->outside->plevel);
}

/* Returns the nest of the first choice that succeeds; *taken is its row. A run-time condition adds the nest of the next
 * best row as a second version. */
static const Nest *nest_by(const Choice *c, const Implementation **taken)
{
    const char *why;
    *taken = c->best;
    if (!c->best) return c->naive->nest;
    note_outside(c);
    const Nest *n = attempt(c, &why);
    if (!why && (!n || !c->open)) return n;
    const Choice next = next_choice(c);
    if (why) {
        diag_listed(c->cx, c->best->user ? NOTE : WARNING, c->naive->group->name,
                    "the schedule \"%s\" does not apply, \"%s\" is used: %s",
                    c->best->name, name_of(&next), why);
        return nest_by(&next, taken);
    }
    /* The versions are parts of one function, where each stage has a name of its own. */
    const Implementation *ignored;
    const GroupNest again = nest_of(c->cx, c->naive->group, c->target, NULL);
    Choice rest = next;
    rest.naive = &again;
    const Nest *other = again.nest ? nest_by(&rest, &ignored) : NULL;
    return other ? nest_versions(c->cx, n, c->open, other) : NULL;
}

/* Adds a condition to all versions of the nest: if it does not hold, `otherwise` runs. */
static const Nest *guarded(Ctx *cx, const Nest *n, const Expr *condition, const Nest *otherwise)
{
    if (!n || !otherwise) return NULL;
    const Nest *rest = n->otherwise ? guarded(cx, n->otherwise, condition, otherwise) : otherwise;
    return nest_versions(cx, n, n->when ? expr_and(cx, condition, n->when) : condition, rest);
}

static bool has_steps(const Nest *n)
{
    for (; n; n = n->otherwise)
        if (n->step_count || n->compute) return true;
    return false;
}

/* Returns the naive nest for the sizes at which the condition holds. If an operator's row refuses such sizes, returns
 * the naive nest for all sizes. */
static const Nest *naive_where(Ctx *cx, const GroupNest *all, const Expr *condition)
{
    const DiagMark mark = diag_mark(cx);
    const Nest *n = group_naive(cx, group_where(cx, all->group, condition), all->target, NULL);
    if (!ctx_failed(cx) || mark.failed) return n;
    diag_rewind(cx, mark);
    return all->nest;
}

const Nest *strategy_schedule(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen, Text *explain)
{
    const GroupNest all = nest_of(cx, g, t, NULL);
    const Expr *full = all.nest ? nest_is_full(cx, all.nest) : NULL;
    const GroupNest naive = full ? nest_of(cx, group_where(cx, g, full), t, NULL) : all;
    Choice c = { .cx = cx, .target = t, .anchor = g->anchor, .naive = &naive };
    choose(&c, explain);
    if (explain) explain_all(&c, full, explain);
    const Nest *n = naive.nest ? nest_by(&c, chosen ? chosen : &c.best) : NULL;
    if (!full || !n || !has_steps(n)) return full && n ? all.nest : n;
    return guarded(cx, n, full, naive_where(cx, &all, expr_unary(cx, EXPR_NOT, full)));
}
