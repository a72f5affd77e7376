/* SPDX-License-Identifier: MIT */
/* Finds the block of a group and applies it. read_schedules.c reads the blocks. */
#include "graph/plan/group_schedules.h"

#include <string.h>

#include "schedule/draft/sizes.h"
#include "support/names.h"
#include "support/text.h"

void schedule_refuse(Ctx *cx, const GroupSchedule *s, const char *what)
{
    const char *outer = cx->file;
    cx->file = s->path;
    diag_error(cx, s->where, "%s", what);
    cx->file = outer;
}

/* ---- The block of a group ---------------------------------------------------------------------------------------- */

static bool has_call(const Group *g, const char *op)
{
    for (int i = 0; i < g->node_count; i++)
        if (g->node[i]->kind == NODE_CALL && text_equal(g->node[i]->op->name, op)) return true;
    return false;
}

/* Returns true if the block is for the group. A combined group has only the name of its parts, a group of formulas only
 * its own name. */
static bool is_of(const GroupSchedule *s, const Group *g, const char *signature)
{
    switch (s->subject) {
    case OF_GROUP: return !g->parts && text_equal(s->of, g->name);
    case OF_PARTS: return g->parts && text_equal(s->of, g->parts);
    case OF_OPERATOR: return !g->parts && has_call(g, s->of);
    case OF_SIGNATURE: return !g->parts && signature && text_equal(s->of, signature);
    }
    return false;
}

static bool needs_signature(Ctx *cx, const Target *t)
{
    for (const GroupSchedule *s = schedules_first(cx); s; s = s->next)
        if (s->subject == OF_SIGNATURE && text_equal(s->target, t->name)) return true;
    return false;
}

GroupSchedule *schedule_of_group(Ctx *cx, const Group *g, const Target *t)
{
    GroupSchedule *found = NULL;
    const char *signature = g->node_count && needs_signature(cx, t) ? group_signature(cx, g) : NULL;
    for (GroupSchedule *s = schedules_first(cx); s; s = s->next) {
        if (!text_equal(s->target, t->name) || !is_of(s, g, signature)) continue;
        s->is_used = true;
        if (found && found->source == s->source)
            schedule_refuse(cx, s, text_format(cx, "the group %s already has a block, at %s; keep one of them",
                                               g->name, found->where));
        if (!found || s->source < found->source) found = s;
    }
    return found;
}

/* ---- Applying ---------------------------------------------------------------------------------------------------- */

static const Implementation *row_called(Ctx *cx, const GroupSchedule *s, const char *wanted)
{
    int count;
    const Implementation *const *all = implementation_list(cx, &count);
    if (!wanted) return NULL;
    const char **names = NEW_ARRAY(cx->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        names[i] = all[i]->name;
        if (text_equal(names[i], wanted)) return all[i];
    }
    const char *listed = "; use one that `dump MODEL --at strategy` prints for the group";
    schedule_refuse(cx, s, text_format(cx, "there is no implementation \"%s\"%s", wanted,
                                       text_hint(cx, wanted, names, (size_t)count, listed)));
    return NULL;
}

static const Nest *refuse_row(Ctx *cx, const GroupSchedule *s, const char *row, const char *group)
{
    if (!ctx_failed(cx))
        schedule_refuse(cx, s, text_format(cx, "the implementation %s does not apply to %s; use one that `dump MODEL "
                                               "--at strategy` prints for this group", row, group));
    return NULL;
}

/* The group that a block is applied to. The group's versions share the naive nest and its tensors, like the versions of
 * a strategy. */
typedef struct Scheduled { const Group *group; const Target *target; const Nest *naive; bool is_given; } Scheduled;

static const Nest *before_steps(Ctx *cx, const GroupSchedule *s, const ScheduleVersion *v, const Scheduled *of,
                                const Implementation *row)
{
    if (!v->row) return of->naive;
    if (!row || of->is_given) return row ? refuse_row(cx, s, v->row, s->of) : NULL;
    const Nest *by_row = implementation_nest(cx, of->group, of->target, row);
    if (!by_row) return refuse_row(cx, s, v->row, of->group->name);
    if (!v->with_steps) return row->compute || row->build ? group_naive(cx, of->group, of->target, row) : of->naive;
    return v->step_count ? nest_named_by(cx, by_row, NULL) : by_row;
}

/* Applies the version's steps. If a block applies to several groups, a refusal names the group. */
static const Nest *after_steps(Ctx *cx, const GroupSchedule *s, const ScheduleVersion *v, const Group *g, const Nest *n)
{
    const int declared = v->step_count ? s->declaration_count : 0, count = declared + v->step_count;
    WrittenStep *step = NEW_ARRAY(cx->arena, WrittenStep, count);
    for (int i = 0; i < count; i++) {
        step[i] = i < declared ? s->declaration[i] : v->step[i - declared];
        if (s->subject >= OF_OPERATOR) step[i].of = g->name;
    }
    n = sched_program(cx, n, s->functions, step, count);
    n = sched_finished(cx, n, v->step, v->step_count);
    return ctx_failed(cx) ? NULL : n;
}

/* Returns the group, narrowed to the sizes at which the condition holds. Returns the group itself if its nest is given
 * or an operator's row refuses such sizes. */
static Scheduled scheduled_where(Ctx *cx, const Scheduled *of, const Expr *condition)
{
    if (of->is_given || !condition) return *of;
    const Group *g = group_where(cx, of->group, condition);
    const DiagMark mark = diag_mark(cx);
    const Scheduled part = { g, of->target, g->range_count ? group_naive(cx, g, of->target, NULL) : of->naive, false };
    if (!ctx_failed(cx) || mark.failed) return part;
    diag_rewind(cx, mark);
    return *of;
}

static const Expr *condition_of(Ctx *cx, const GroupSchedule *s, const ScheduleVersion *v, const Scheduled *of)
{
    const char *fault, *accepted;
    const Expr *when = v->when ? condition_of_sizes(cx, of->naive, v->when, &fault, &accepted) : NULL;
    if (v->when && fault) schedule_refuse(cx, s, text_format(cx, "%s; use %s", fault, accepted));
    return when;
}

/* Returns the nest of one version. `earlier` is the condition under which no earlier version runs, or NULL for the
 * first version. */
static const Nest *nest_of_version(Ctx *cx, const GroupSchedule *s, const ScheduleVersion *v, const Scheduled *of,
                                   const Expr *earlier, const Implementation **chosen)
{
    const Implementation *row = row_called(cx, s, v->row), *other;
    if (chosen) *chosen = row;
    const Expr *when = condition_of(cx, s, v, of), *here = !when || !earlier ? when ? when : earlier
        : expr_and(cx, earlier, when);
    const Scheduled part = scheduled_where(cx, of, here);
    const Nest *n = after_steps(cx, s, v, part.group, before_steps(cx, s, v, &part, row));
    if (!n || !when) return n;
    const Expr *fails = expr_unary(cx, EXPR_NOT, when), *next = earlier ? expr_and(cx, earlier, fails) : fails;
    const Nest *rest = nest_of_version(cx, s, v->otherwise, of, next, &other);
    return rest && !ctx_failed(cx) ? nest_versions(cx, n, when, rest) : NULL;
}

/* ---- The strategy with the same steps ---------------------------------------------------------------------------- */

static bool is_same(Ctx *cx, const Nest *a, const Nest *b)
{
    bool same = a->step_count == b->step_count && text_equal(a->compute, b->compute) && a->when == b->when;
    for (int i = 0; same && i < a->step_count; i++) same = step_equal(cx, &a->step[i], &b->step[i]);
    return same && (!a->otherwise || is_same(cx, a->otherwise, b->otherwise));
}

static const Nest *named_like(Ctx *cx, const Nest *n, const Nest *own)
{
    Nest *named = arena_copy(cx->arena, n, sizeof *n);
    if (!n->strategy) named->strategy = own->strategy;
    if (n->otherwise) named->otherwise = named_like(cx, n->otherwise, own->otherwise);
    return named;
}

/* Returns the nest with the names of the implementations that apply the same steps, for the emitted comment. */
static const Nest *with_source(Ctx *cx, const Group *g, const Target *t, const Nest *n, const Implementation **chosen)
{
    const Implementation *row = NULL;
    const DiagMark mark = diag_mark(cx);
    const Nest *own = strategy_schedule(cx, g, t, &row, NULL);
    const Diag *failure = diag_rewind(cx, mark);
    if (!own || (failure && failure->severity >= ERROR) || !is_same(cx, n, own)) return n;
    if (chosen && !*chosen) *chosen = row;
    return named_like(cx, n, own);
}

const Nest *schedule_nest(Ctx *cx, const GroupSchedule *s, const Group *g, const Target *t, const Nest *naive,
                          const Implementation **chosen)
{
    const Scheduled of = { g, t, naive ? naive : group_naive(cx, g, t, NULL), naive != NULL };
    const Nest *n = of.naive ? nest_of_version(cx, s, s->version, &of, NULL, chosen) : NULL;
    return n && !naive && (!n->strategy || n->otherwise) ? with_source(cx, g, t, n, chosen) : n;
}

const Nest *group_nest(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen)
{
    const GroupSchedule *s = schedule_of_group(cx, g, t);
    if (ctx_failed(cx)) return NULL;
    return s ? schedule_nest(cx, s, g, t, NULL, chosen) : strategy_schedule(cx, g, t, chosen, NULL);
}

/* ---- Blocks without groups --------------------------------------------------------------------------------------- */

/* Returns the first part of "conv+pool" that is not the name of a group, or NULL. */
static const char *missing_part(Ctx *cx, const char *parts, const Group *const *group, int count)
{
    for (const char *s = parts;; s += strcspn(s, "+") + 1) {
        const char *part = name_n(cx, s, strcspn(s, "+"));
        bool is_there = false;
        for (int i = 0; i < count; i++) is_there = is_there || text_equal(group[i]->name, part);
        if (!is_there) return part;
        if (!s[strcspn(s, "+")]) return NULL;
    }
}

static void refuse_unused(Ctx *cx, const GroupSchedule *s, const Group *const *group, int count)
{
    const char *listed = "; use a group that `dump MODEL --at fused --combine none` lists";
    const char *missing = s->subject == OF_PARTS ? missing_part(cx, s->of, group, count) : s->of;
    if (s->subject == OF_OPERATOR)
        schedule_refuse(cx, s, text_format(cx, "no group has a call of '%s'%s", s->of, listed));
    else if (!missing) schedule_refuse(cx, s, "its groups are in different branches or loops of the run");
    else
        schedule_refuse(cx, s, text_format(cx, "there is no group '%s'%s", missing,
                                           group_advice(cx, missing, group, count, listed)));
}

static bool has_use(Ctx *cx, int source, const Target *t)
{
    for (const GroupSchedule *s = schedules_first(cx); s; s = s->next)
        if (s->source == source && s->is_used && text_equal(s->target, t->name)) return true;
    return false;
}

/* Warns of an operator without a call in this model. A file of blocks for kinds of layers serves many networks, so this
 * is an error only where no block of the file has a group. */
static void warn_of_operator(Ctx *cx, const GroupSchedule *s)
{
    const char *outer = cx->file;
    cx->file = s->path;
    diag_warn(cx, s->where, "no group has a call of '%s'; keep this block only if the file is for other models as well",
              s->of);
    cx->file = outer;
}

/* Warns of signatures that no group has. The signatures are only counted, because a file of records serves many
 * networks. */
static void count_signatures(Ctx *cx, int source, const Target *t)
{
    int all = 0, unused = 0;
    const char *path = NULL, *outer = cx->file;
    for (const GroupSchedule *s = schedules_first(cx); s; s = s->next) {
        if (s->source != source || s->subject != OF_SIGNATURE || !text_equal(s->target, t->name)) continue;
        path = s->path;
        all++;
        unused += !s->is_used;
    }
    cx->file = path;
    if (unused)
        diag_warn(cx, NULL, "%d of %d signatures on %s match no group of this model; use the signatures that `dump "
                            "MODEL --at strategy` prints", unused, all, t->name);
    cx->file = outer;
}

/* Warns if files have blocks, but none for this target. Otherwise, blocks of other targets are skipped, because a file
 * for several targets is given to each. */
static void warn_of_other_targets(Ctx *cx, const Target *t)
{
    const GroupSchedule *other = NULL;
    const char *outer = cx->file;
    for (const GroupSchedule *s = schedules_first(cx); s; s = s->next) {
        if (s->source == SCHEDULES_OF_MODEL) continue;
        if (text_equal(s->target, t->name)) return;
        if (!other) other = s;
    }
    if (!other) return;
    cx->file = other->path;
    diag_warn(cx, other->where, "no block is for the target %s, and the first one is for %s; add a block or change "
                                "--target", t->name, other->target);
    cx->file = outer;
}

void schedules_check(Ctx *cx, const Target *t, const Group *const *group, int count)
{
    for (const GroupSchedule *s = schedules_first(cx); s && !ctx_failed(cx); s = s->next)
        if (!s->is_used && s->subject != OF_SIGNATURE && text_equal(s->target, t->name)) {
            if (s->subject == OF_OPERATOR && has_use(cx, s->source, t)) warn_of_operator(cx, s);
            else refuse_unused(cx, s, group, count);
        }
    warn_of_other_targets(cx, t);
    int last = -1;
    for (const GroupSchedule *s = schedules_first(cx); s; last = s->source, s = s->next)
        if (s->source != last) count_signatures(cx, s->source, t);
}
