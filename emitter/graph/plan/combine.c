/* SPDX-License-Identifier: MIT */
/* A combination is a list of decisions, an Attachment per part; its nest is built from them:
 *
 *   1. all groups are expanded into one naive nest; a group's name prefixes its stages: pool_max_pool2d;
 *   2. the master's steps are replayed under these names, and those of every part that keeps its loops;
 *   3. from the master back to the inputs, compute_at attaches each part's last stage to its loop, and fold_storage
 *      keeps the rows of earlier iterations in a ring buffer: if a consumer computes only new rows, its producer
 *      computes fewer. A part with new loops replays its steps there; a view is inlined. A ring too short for the reads
 *      of the first iteration is lengthened.
 *
 * The trace of the resulting nest is an ordinary schedule: it can be printed, edited and replayed.
 *
 * combine_add searches for the attachment of one more part among the loops around its consumers. Earlier decisions
 * stay, so a search over P parts with L loops each builds P * L * 4 nests. */

/* Decision: separate schedules combine by replay. A strategy leaves a list of steps. `graph/plan/combine.c` applies
 * the steps of several groups to one nest, under longer names: the master's first, then each producer, attached to a
 * loop of its consumers and folded. The result is a list of steps like any other. A combination is a list of
 * decisions, an `Attachment` per part; `combine_add` finds the decision for one more part among all loops around its
 * consumers, with kept or new loops, in a ring or in one iteration. Consumers are folded before the producers with
 * which they share a loop, and after the producers inside their own loops, because a guard covers everything that is
 * attached inside. */
#include "graph/plan/combine_parts.h"

#include <string.h>

#include "graph/plan/group_schedules.h"
#include "ir/check/check.h"
#include "schedule/draft/rows.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Renamed steps ----------------------------------------------------------------------------------------------- */

static const char *name_here(Ctx *cx, const char *local, void *user)
{
    CombinedPart *p = user;
    const char *known = map_get(&p->local, local, strlen(local));
    return known ? known : name_format(cx, "%s_%s", p->group->name, local);
}

static int guards_in(const Stmt *s)
{
    int n = s->kind == STMT_BLOCK && s->cond;
    for (int i = 0; i < s->child_count; i++) n += guards_in(s->child[i]);
    return n;
}

/* Attaches the stage's producers of the same part to its innermost loop, so that they follow every change of the loops.
 * The part's steps attach them elsewhere afterwards. */
static const Nest *with_sources_attached(Combine *c, const Nest *n, const Stage *s)
{
    const Tensor **reads;
    int count = stage_reads(c->in->cx, s, &reads);
    Path path;
    for (int i = 0; i < count; i++) {
        const Stage *source = reads[i]->producer ? reads[i]->producer->stage : NULL;
        if (!source || source->part != s->part || !nest_find_block(n, s->name, &path)) continue;
        for (int d = path.depth - 1; d >= 0; d--)
            if (path.at[d]->kind == STMT_FOR) {
                n = sched_compute_at(c->in->cx, n, source->name, path.at[d]->name);
                break;
            }
    }
    return n;
}

/* A consumer that reads one column less than the extent cuts the last tile. Rounds that tile up if possible: one more
 * column costs less than a guard in every tile. Each step is proved here, because the nest must remain replayable. */
static const Nest *with_whole_tiles(Combine *c, const Nest *before, const Nest *cut, const Step *step)
{
    Ctx *cx = c->in->cx;
    if (step->row->kind != STEP_split || step->args->tail != TAIL_GUARD
        || guards_in(cut->root) == guards_in(before->root))
        return cut;
    const Stage *s = nest_stage(before, name_n(cx, step->args->loop[0], strcspn(step->args->loop[0], ".")));
    StepArgs round = *step->args;
    round.tail = TAIL_ROUND;
    bool late = cx->checks_late;
    cx->checks_late = false;
    for (int inside = 0; inside < 2; inside++) {
        DiagMark mark = diag_mark(cx);
        const Nest *n = run_split(cx, inside && s ? with_sources_attached(c, before, s) : before, &round);
        if (diag_rewind(cx, mark)) continue;
        cut = n;
        break;
    }
    cx->checks_late = late;
    return cut;
}

/* Returns the nest, or NULL with the reason in c->why if a step since the mark is refused. */
static const Nest *unless_refused(Combine *c, DiagMark mark, const Nest *n)
{
    const Diag *refusal = diag_rewind(c->in->cx, mark);
    if (refusal) c->why = text_format(c->in->cx, "%s: %s", refusal->where, refusal->what);
    return refusal ? NULL : n;
}

static const Nest *replay(Combine *c, const Nest *n, CombinedPart *p)
{
    Ctx *cx = c->in->cx;
    for (int i = 0; i < p->alone->step_count && n; i++) {
        const DiagMark mark = diag_mark(cx);
        StepArgs args = *p->alone->step[i].args;
        const Step step = { p->alone->step[i].row, &args };
        step_rename(cx, step.row, &args, name_here, p);
        const Nest *next = unless_refused(c, mark, sched_run(cx, n, &step));
        n = next ? with_whole_tiles(c, n, next, &step) : NULL;
    }
    return n;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* Returns the outermost loop over a data axis with a trip count above 1. Returns NULL if there is no such loop. */
static const char *outermost_loop(const Nest *n, const char *stage)
{
    Path p;
    if (!nest_find_block(n, stage, &p)) return NULL;
    const Stmt *block = p.at[p.depth - 1];
    for (int i = 0; i < p.depth; i++) {
        const Stmt *s = p.at[i];
        if (s->kind != STMT_FOR || s->extent->kind != EXPR_INT || s->extent->integer < 2) continue;
        for (int a = 0; a < block->stage->data_count; a++)
            if (expr_uses(block->bind[a], s->var)) return s->name;
        return NULL;
    }
    return NULL;
}

/* The serial loops around every block that reads a stage. */
typedef struct Hosts { Combine *c; const Stage *stage; int depth; const char *path[MAX_HOSTS]; bool found; } Hosts;

static void meet_path(Hosts *h)
{
    Combine *c = h->c;
    int common = 0;
    if (!h->found) {
        memcpy(c->host, h->path, sizeof h->path);
        c->host_count = h->depth;
    }
    h->found = true;
    while (common < c->host_count && common < h->depth && c->host[common] == h->path[common]) common++;
    c->host_count = common;
}

static void find_hosts(Hosts *h, const Stmt *s)
{
    const bool is_host = s->kind == STMT_FOR && s->loop_kind == LOOP_SERIAL && !expr_is_int(s->extent, 1)
        && !loop_is_own(s, h->stage) && h->depth < MAX_HOSTS;
    if (s->kind == STMT_BLOCK && s->stage != h->stage && block_reads(h->c->in->cx, s, h->stage)) meet_path(h);
    if (is_host) h->path[h->depth++] = s->name;
    for (int i = 0; i < s->child_count; i++) find_hosts(h, s->child[i]);
    h->depth -= is_host;
}

static void note_hosts(Combine *c, const Nest *n)
{
    const Stage *s = nest_stage(n, c->part[c->fresh].result);
    Hosts h = { .c = c, .stage = s };
    c->host_count = 0;
    if (s) find_hosts(&h, n->root);
}

/* ---- Attaching --------------------------------------------------------------------------------------------------- */

/* Returns true for a value that reads one element, at an index without quotients. To inline such a value costs
 * nothing. */
static bool is_plain_index(const Expr *e)
{
    if (e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD || e->kind == EXPR_SELECT) return false;
    for (int i = 0; i < e->arg_count; i++)
        if (!is_plain_index(e->arg[i])) return false;
    return true;
}

static const Nest *inline_part(Combine *c, const Nest *n, CombinedPart *p)
{
    Ctx *cx = c->in->cx;
    for (int i = n->stage_count - 1; i >= 0; i--) {
        const Stage *s = n->stage[i];
        DiagMark mark = diag_mark(cx);
        if (!text_equal(s->part, p->group->name)) continue;
        if (s->out_count != 1 || !is_plain_index(s->value[0])) {
            c->why = "it reads a view whose index has quotients or a choice, which is not inlined";
            return NULL;
        }
        n = unless_refused(c, mark, sched_compute_inline(cx, n, s->name));
        if (!n) return NULL;
    }
    return n;
}

static int64_t slots_of(const Stmt *s, const char *stage)
{
    int64_t slots = 0;
    for (int d = 0; s->kind == STMT_ALLOC && text_equal(s->buffer->tensor->name, stage) && d < s->buffer->tensor->rank;
         d++)
        if (s->buffer->ring[d]) slots = s->buffer->ring[d];
    for (int i = 0; i < s->child_count && !slots; i++) slots = slots_of(s->child[i], stage);
    return slots;
}

/* Allocates the fewest slots that suffice, because the slot index is mostly computed once per row; rounds up to a power
 * of two if that costs at most a third more. */
static const Nest *fold_rows(Ctx *cx, const Nest *n, const CombinedPart *p, bool is_tight)
{
    const Nest *few = SCHED(cx, n, fold_storage, .target = p->result, .factor = { p->how.slots }, .warm = WARM_GUARD);
    if (p->how.slots || is_tight) return few;
    const Nest *masked = SCHED(cx, n, fold_storage, .target = p->result, .mask = true, .warm = WARM_GUARD);
    return !ctx_failed(cx) && 3 * slots_of(masked->root, p->result) <= 4 * slots_of(few->root, p->result) ? masked
                                                                                                          : few;
}

static const Nest *fold(Combine *c, const Nest *n, const CombinedPart *p)
{
    const DiagMark mark = diag_mark(c->in->cx);
    if (p->how.form >= ATTACH_INLINE || p->how.is_local) return n;
    return unless_refused(c, mark, fold_rows(c->in->cx, n, p, c->is_tight));
}

static bool is_inside(const Nest *n, const char *loop, const char *stage)
{
    const Stage *s = nest_stage(n, stage);
    Path p;
    bool inside = false;
    if (!s || !nest_find_loop(n, loop, &p)) return false;
    for (int i = 0; i < p.depth; i++) inside = inside || (p.at[i]->kind == STMT_FOR && loop_is_own(p.at[i], s));
    return inside;
}

/* Sets the rings of the parts attached so far, except those whose loops enclose the next host: the guard on the rows of
 * a part covers all that is attached inside. `next` is NULL if there are no more hosts. */
static const Nest *fold_attached(Combine *c, const Nest *n, const char *next)
{
    for (int i = 0; i < c->master && n; i++) {
        CombinedPart *p = &c->part[i];
        if (!p->is_pending || (next && is_inside(n, next, p->result))) continue;
        p->is_pending = false;
        n = fold(c, n, p);
    }
    return n;
}

static const Nest *attach_new(Combine *c, const Nest *n, CombinedPart *p, const char *loop)
{
    Ctx *cx = c->in->cx;
    const DiagMark mark = diag_mark(cx);
    n = SCHED(cx, n, compute_at, .target = p->result, .loop = { loop });
    if (!p->how.is_local) n = sched_store_at(cx, n, p->result, NULL);
    n = unless_refused(c, mark, n);
    if (n) n = fold(c, n, p);
    p->is_pending = false;
    return n ? replay(c, n, p) : NULL;
}

static const Nest *attach_kept(Combine *c, const Nest *n, CombinedPart *p, const char *loop)
{
    Ctx *cx = c->in->cx;
    const DiagMark mark = diag_mark(cx);
    n = SCHED(cx, n, compute_at, .target = p->result, .loop = { loop }, .loops = LOOPS_KEPT);
    if (p->how.is_local) n = sched_store_at(cx, n, p->result, loop);
    return unless_refused(c, mark, n);
}

static const Nest *attach(Combine *c, const Nest *n, int part, const char *outermost)
{
    CombinedPart *p = &c->part[part];
    const char *loop = p->how.loop ? p->how.loop : outermost;
    if (part == c->fresh) note_hosts(c, n);
    if (p->how.form == ATTACH_BEFORE) return n;
    if (p->how.form == ATTACH_INLINE) return inline_part(c, n, p);
    c->why = "the master has no loop to attach it to";
    if (!loop || !(n = fold_attached(c, n, loop))) return NULL;
    p->is_pending = true;
    return p->how.form == ATTACH_KEPT ? attach_kept(c, n, p, loop) : attach_new(c, n, p, loop);
}

/* ---- The nest of a combination ----------------------------------------------------------------------------------- */

static bool keeps_loops(const CombinedPart *p)
{
    return p->how.form == ATTACH_KEPT || p->how.form == ATTACH_BEFORE;
}

/* Replays the steps of the master, and of each part that keeps its loops. Only the form of the fresh part changes
 * between attempts, so there are two nests. NULL if a step is refused. */
static const Nest *replay_parts(Combine *c)
{
    const bool is_kept = c->fresh >= 0 && keeps_loops(&c->part[c->fresh]);
    if (c->replayed[is_kept]) return c->replayed[is_kept];
    const Nest *n = replay(c, c->naive, &c->part[c->master]);
    for (int i = 0; i < c->count && n; i++)
        if (i != c->master && keeps_loops(&c->part[i])) n = replay(c, n, &c->part[i]);
    return c->replayed[is_kept] = n;
}

/* Returns NULL if a step is refused. */
static const Nest *attempt(Combine *c)
{
    const char *master = c->part[c->master].result;
    for (int i = 0; i < c->count; i++) c->part[i].is_pending = false;
    const Nest *n = replay_parts(c);
    const char *loop = n ? outermost_loop(n, master) : NULL;
    if (n && loop && c->iterations > 1) {
        n = sched_split(c->in->cx, n, loop, c->iterations, TAIL_GUARD, NULL, NULL);
        loop = outermost_loop(n, master);
    }
    for (int i = c->master - 1; i >= 0 && n; i--) n = attach(c, n, i, loop);
    return n ? fold_attached(c, n, NULL) : NULL;
}

/* A warm-up may read more rows at once than the loop after it. Lengthens the ring at fault, up to a limit. Returns
 * false if the refusal has a different cause. */
static bool lengthen(Combine *c, const Refusal *refusal)
{
    enum { LONGEST_RING = 32 };
    for (int i = 0; i < c->master && refusal->kind == FAULT_RING; i++) {
        CombinedPart *p = &c->part[i];
        if (p->how.form >= ATTACH_INLINE || p->how.is_local || refusal->tensor != p->output) continue;
        p->how.slots = p->how.slots ? 2 * p->how.slots : 8;
        return p->how.slots <= LONGEST_RING;
    }
    return false;
}

/* Builds the nest. Returns NULL, with the reason in c->why, if the decisions give no proved nest. */
static const Nest *nest_of_parts(Combine *c)
{
    Ctx *cx = c->in->cx;
    const bool late = cx->checks_late;
    while (!ctx_failed(cx)) {
        cx->checks_late = true;
        const Nest *n = attempt(c);
        cx->checks_late = late;
        const Refusal *refusal = n ? nest_refusal(cx, n) : NULL;
        if (!refusal) return n;
        c->why = refusal_sentence(cx, refusal);
        if (!lengthen(c, refusal)) return NULL;
    }
    return NULL;
}

static Combine combine_new(const CombineInput *in, const int *part, int count, int master, Group *merged)
{
    Combine c = { .in = in, .count = count, .master = master, .iterations = 1, .fresh = -1,
                  .part = NEW_ARRAY(in->cx->arena, CombinedPart, count) };
    for (int i = 0; i < count; i++)
        c.part[i] = (CombinedPart){
            .group = &in->groups->at[part[i]], .alone = in->alone[part[i]], .with = in->chosen[part[i]]
        };
    *merged = combine_group(&c, part);
    c.naive = combine_naive_nest(&c, merged);
    return c;
}

static Combination combination(const Combine *c, const int *part, const Group *merged, const Nest *n)
{
    Ctx *cx = c->in->cx;
    Attachment *how = NEW_ARRAY(cx->arena, Attachment, c->count);
    const char **loop = NEW_ARRAY(cx->arena, const char *, c->count), **result = NEW_ARRAY(cx->arena, const char *,
                                                                                         c->count);
    for (int i = 0; i < c->count; i++) {
        how[i] = c->part[i].how;
        loop[i] = how[i].loop ? how[i].loop : outermost_loop(n, c->part[c->master].result);
        result[i] = c->part[i].result;
    }
    return (Combination){ c->count, part, how, c->iterations, c->is_tight, loop, result, n, *merged };
}

Combination combine_alone(const CombineInput *in, int group)
{
    int *part = NEW_ARRAY(in->cx->arena, int, 1);
    const Nest *n = in->alone[group];
    *part = group;
    return (Combination){ .count = 1, .part = part, .how = NEW_ARRAY(in->cx->arena, Attachment, 1), .iterations = 1,
                          .nest = n, .group = in->groups->at[group] };
}

/* Returns the rows of the output computed by one iteration of the outermost loop. Returns 0 if the loop does not
 * compute rows. */
static int64_t rows_at_once(Ctx *cx, const Nest *n)
{
    const Stage *s = n->output[0]->producer ? n->output[0]->producer->stage : NULL;
    const char *loop = s ? outermost_loop(n, s->name) : NULL;
    Path block, p;
    int64_t rows = 0;
    if (!loop || !nest_find_block(n, s->name, &block) || !nest_find_loop(n, loop, &p)) return 0;
    for (int a = 0; a < s->data_count; a++)
        if (expr_uses(path_end(&block)->bind[a], path_end(&p)->var))
            rows = rows_per_group(cx, path_end(&block)->bind[a], path_end(&p)->var);
    return rows;
}

/* Returns the master's iterations to merge so that a part may compute its rows in blocks. */
static int64_t most_iterations(const Combine *c)
{
    int64_t most = 1;
    Ctx *cx = c->in->cx;
    if (rows_at_once(cx, c->part[c->master].alone) != 1) return 1;
    for (int i = 0; i < c->count; i++) {
        const int64_t rows = i == c->master ? 1 : rows_at_once(cx, c->part[i].alone);
        if (rows > most) most = rows;
    }
    return most;
}

/* ---- One more part ----------------------------------------------------------------------------------------------- */

/* The search for the attachment of one part. */
typedef struct Adding {
    Combine c;
    const Combination *now;
    const int *part;
    Group merged;
    int64_t apart;                   /* the work of the combination and of the group while they are separate */
    int most, count;                 /* choices */
    Choice *out;
    const char *why;                 /* the first refusal */
} Adding;

static int64_t work_of(const NestCost *c) { return c->loads + c->stores + c->multiply_adds; }

/* Additional work of more than 1/SHARE counts as repeated work; smaller additions come from rounded tiles. */
enum { SHARE = 64 };

static bool repeats(const Adding *a, const Choice *c) { return c->work > a->apart + a->apart / SHARE; }

static bool is_full(const Adding *a) { return a->count == a->most && !repeats(a, &a->out[a->count - 1]); }

/* Keeps a combination that computes no element twice if it is the first one, or if it stores less than the combinations
 * before it. */
static void keep_choice(Adding *a, const Choice *c)
{
    Choice *last = a->count ? &a->out[a->count - 1] : NULL;
    if (last && repeats(a, last)) {
        if (c->work < last->work) *last = *c;
        return;
    }
    if (last && (repeats(a, c) || c->bytes >= last->bytes)) return;
    a->out[a->count < a->most ? a->count++ : a->most - 1] = *c;
}

/* Returns the work, or -1 if the combination is refused. */
static int64_t try_decisions(Adding *a, Attachment how, int64_t iterations)
{
    Combine *c = &a->c;
    for (int i = 0, old = 0; i < c->count; i++) c->part[i].how = i == c->fresh ? how : a->now->how[old++];
    c->iterations = iterations;
    const Nest *n = nest_of_parts(c);
    if (!n && !a->why) a->why = c->why;
    if (!n || ctx_failed(c->in->cx)) return -1;
    const NestCost cost = nest_cost(c->in->cx, n);
    const Choice made = { combination(c, a->part, &a->merged, n), work_of(&cost), cost.buffer_bytes };
    keep_choice(a, &made);
    return made.work;
}

/* Tries the attachment, and tries every choice that was kept again with tight rings. */
static int64_t try_attachment(Adding *a, Attachment how, int64_t iterations)
{
    const int before = a->count;
    const int64_t work = try_decisions(a, how, iterations);
    if (a->count == before || is_full(a) || repeats(a, &a->out[a->count - 1]) || a->c.is_tight) return work;
    a->c.is_tight = true;
    try_decisions(a, how, iterations);
    a->c.is_tight = false;
    return work;
}

/* Tries a form at a loop, in a ring and without one. Returns the lowest work, or INT64_MAX if all are refused. */
static int64_t try_form(Adding *a, AttachForm form, const char *host, bool has_ring)
{
    int64_t least = INT64_MAX;
    for (int is_local = !has_ring; is_local < 2; is_local++) {
        const Attachment how = { .form = form, .loop = host, .is_local = is_local };
        const int64_t work = try_attachment(a, how, a->now->iterations);
        if (work >= 0 && work < least) least = work;
    }
    return least;
}

/* Tries the loops around the consumers, the outermost first. New loops are tried where kept ones are refused or repeat
 * work. Stops at a loop where each form repeats more work than any loop inside it could save. */
static void try_loops(Adding *a)
{
    enum { HOPELESS = 2 };
    const char *host[MAX_HOSTS];
    const int count = a->c.host_count;
    memcpy(host, a->c.host, sizeof host);
    for (int i = 0; i < count && !is_full(a); i++) {
        int64_t least = try_form(a, ATTACH_KEPT, host[i], i > 0);
        if (least <= a->apart + a->apart / SHARE) continue;
        const int64_t anew = try_form(a, ATTACH_NEW, host[i], true);
        if (anew < least) least = anew;
        if (least != INT64_MAX && least / HOPELESS > a->apart) return;
    }
}

static const int *with_part(Ctx *cx, const Combination *now, int group, int *at)
{
    int *part = NEW_ARRAY(cx->arena, int, now->count + 1);
    *at = 0;
    while (*at < now->count && now->part[*at] < group) (*at)++;
    memcpy(part, now->part, (size_t)*at * sizeof *part);
    part[*at] = group;
    memcpy(part + *at + 1, now->part + *at, (size_t)(now->count - *at) * sizeof *part);
    return part;
}

static int add_anew(const CombineInput *in, const Combination *now, int group, bool is_view, int most, Choice *out,
                    const char **why)
{
    Adding a = { .now = now, .out = out, .most = most == BY_ROWS ? 1 : most };
    int fresh;
    a.part = with_part(in->cx, now, group, &fresh);
    a.c = combine_new(in, a.part, now->count + 1, now->count, &a.merged);
    a.c.fresh = fresh;
    a.c.is_tight = now->is_tight;
    if (!a.c.naive) return 0;
    const NestCost alone = nest_cost(in->cx, in->alone[group]), before = nest_cost(in->cx, now->nest);
    a.apart = work_of(&before) + (is_view ? 0 : work_of(&alone));
    if (is_view) try_attachment(&a, (Attachment){ .form = ATTACH_INLINE }, now->iterations);
    else {
        const int64_t blocks = now->iterations == 1 ? most_iterations(&a.c) : 1;
        try_attachment(&a, (Attachment){ .form = ATTACH_KEPT }, now->iterations);
        if (blocks > 1 && !is_full(&a)) try_attachment(&a, (Attachment){ .form = ATTACH_KEPT }, blocks);
        if (most != BY_ROWS) try_loops(&a);
        if (!a.c.host_count && !a.count) a.why = "its consumers share no loop";
    }
    *why = a.count ? NULL : a.why;
    return a.count;
}

/* The result of combine_add. */
typedef struct Added { int count; const Choice *choice; const char *why; } Added;

/* Appends everything that a combination's nest follows from. */
static void put_combination(Text *t, const Combination *c)
{
    text_printf(t, "%lld %d", (long long)c->iterations, c->is_tight);
    for (int i = 0; i < c->count; i++)
        text_printf(t, ", %d %d %s %d %lld", c->part[i], c->how[i].form, c->how[i].loop ? c->how[i].loop : "",
                    c->how[i].is_local, (long long)c->how[i].slots);
}

int combine_add(const CombineInput *in, const Combination *now, int group, bool is_view, int most, Choice *out,
                const char **why)
{
    Text key = text_new(in->cx);
    text_printf(&key, "%d %d %d: ", group, is_view, most);
    put_combination(&key, now);
    const char *text = text_string(&key);
    const Added *known = in->added ? map_get(in->added, text, strlen(text)) : NULL;
    if (!known) {
        const int count = add_anew(in, now, group, is_view, most, out, why);
        if (!in->added || ctx_failed(in->cx)) return count;
        Added *a = NEW(in->cx->arena, Added);
        *a = (Added){ count, arena_copy(in->cx->arena, out, (size_t)count * sizeof *out), count ? NULL : *why };
        map_put(in->added, text, strlen(text), a);
        return count;
    }
    memcpy(out, known->choice, (size_t)known->count * sizeof *out);
    *why = known->why;
    return known->count;
}

bool combine_before(const CombineInput *in, const Combination *now, int group, Combination *out)
{
    Adding a = { .now = now };
    int fresh;
    a.part = with_part(in->cx, now, group, &fresh);
    a.c = combine_new(in, a.part, now->count + 1, now->count, &a.merged);
    a.c.is_tight = now->is_tight;
    a.c.iterations = now->iterations;
    for (int i = 0, old = 0; i < a.c.count; i++)
        a.c.part[i].how = i == fresh ? (Attachment){ .form = ATTACH_BEFORE } : now->how[old++];
    const Nest *n = a.c.naive ? nest_of_parts(&a.c) : NULL;
    if (n) *out = combination(&a.c, a.part, &a.merged, n);
    return n != NULL;
}

Combination combine_copies(const CombineInput *in, const Combination *c, int64_t budget)
{
    Ctx *cx = in->cx;
    const bool late = cx->checks_late;
    Combination out = *c;
    if (!in->target->copy_budget || in->target->copy_budget >= budget) return out;
    Text key = text_new(cx);
    text_addn(&key, (const char *)&c->nest, sizeof c->nest);
    text_addn(&key, (const char *)&budget, sizeof budget);
    const Nest *known = in->added ? map_get_const(in->added, text_string(&key), key.length) : NULL;
    if (known) {
        out.nest = known;
        return out;
    }
    cx->checks_late = true;
    out.nest = SCHED(cx, c->nest, copy_budget, .factor = { budget });
    cx->checks_late = late;
    if (in->added && !ctx_failed(cx)) map_put_const(in->added, text_string(&key), key.length, out.nest);
    return out;
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

/* Appends "; 4 of its 32 elements along h are stored" for the ring buffer that holds the part's result. */
static void explain_ring(const Stmt *s, const char *result, Text *t)
{
    const Tensor *made = s->kind == STMT_ALLOC ? s->buffer->tensor : NULL;
    for (int d = 0; made && text_equal(made->name, result) && d < made->rank; d++)
        if (s->buffer->ring[d])
            text_printf(t, "; %lld of its %lld elements along %s are stored", (long long)s->buffer->ring[d],
                        (long long)tensor_dim(made, d), expr_as_var(made->producer->stage->axis[d].var)->name);
    for (int i = 0; i < s->child_count; i++) explain_ring(s->child[i], result, t);
}

void combine_explain(const CombineInput *in, const Combination *c, Text *t)
{
    const Groups *groups = in->groups;
    text_printf(t, "combined around %s\n", c->group.name);
    for (int i = 0; i < c->count - 1; i++) {
        const char *name = groups->at[c->part[i]].name;
        if (c->how[i].form == ATTACH_INLINE) {
            text_printf(t, "  %s is inlined\n", name);
            continue;
        }
        text_printf(t, "  %s is computed in each iteration of %s", name, c->loop[i] ? c->loop[i] : "?");
        explain_ring(c->nest->root, c->result[i], t);
        text_char(t, '\n');
    }
}

/* ---- Steps of the user ------------------------------------------------------------------------------------------- */

const Nest *schedule_combine_naive(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                   int master, const Target *t, Group *merged)
{
    CombineInput in = { .cx = cx, .graph = g, .groups = groups, .target = t };
    const Nest **alone = NEW_ARRAY(cx->arena, const Nest *, groups->count);
    const Implementation **chosen = NEW_ARRAY(cx->arena, const Implementation *, groups->count);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        alone[part[i]] = group_nest(cx, &groups->at[part[i]], t, &chosen[part[i]]);
    in.alone = alone;
    in.chosen = chosen;
    return ctx_failed(cx) ? NULL : combine_new(&in, part, count, master, merged).naive;
}
