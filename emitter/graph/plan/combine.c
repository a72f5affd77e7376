/* SPDX-License-Identifier: MIT */
/* schedule_combine merges separately scheduled operators into one program. It walks the DAG's groups in order:
 *
 *   1. each group's strategy schedules it alone and records a list of steps;
 *   2. all groups are expanded into one naive nest; a group's name prefixes its stages: pool_max_pool2d;
 *   3. the master's steps are replayed on that nest under these names. Other parts may be attached to its outermost
 *      loop;
 *   4. from the master back to the inputs, compute_at attaches each part's last stage to that loop, and its steps are
 *      replayed there; store_at and fold_storage keep rows of earlier iterations in ring buffers indexed with a mask;
 *   5. if a step of 4 is refused, the part stays at the root with its steps; if these are refused there too, it stays
 *      naive. Either way the combination restarts. A ring too short for a warm-up's reads is lengthened.
 *
 * Every value is computed once. The trace of the resulting nest is an ordinary schedule: it can be printed, edited and
 * replayed. Each producer is folded twice: once its consumer computes only new rows, fewer of the producer's rows are
 * live.
 *
 * If a part cannot be attached this way, the groups are combined by rows: every part replays its unchanged steps at the
 * root and is attached to the master's loop row by row, with its loops kept. The part keeps what its strategy gained
 * (instructions, tiles). */
#include "graph/plan/combine.h"

#include <string.h>

#include "graph/plan/group_schedules.h"
#include "ir/check/check.h"
#include "schedule/draft/rows.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "support/text.h"

typedef struct CombinedPart {
    const Group *group;
    const Nest *alone;               /* scheduled by its strategy */
    Map local;                       /* name in `alone` of a stage or input role -> its name here */
    const Tensor *output;            /* in the combined nest */
    const char *result;              /* the stage that computes it */
    const char *at_root;             /* reason why it is not attached; NULL: attached */
    const char *no_steps;            /* reason why none of its steps apply; NULL: all do */
    int64_t slots;                   /* of its ring; 0: the fewest that suffice, rounded up for a mask */
} CombinedPart;

typedef struct Combine {
    Ctx *cx;
    const Nest *naive;
    const Target *target;
    int count, master;
    CombinedPart *part;
    /* Each part is scheduled at the root and attached row by row, so its strategy's steps apply unchanged */
    bool by_rows;
    /* Iterations of the master's loop merged into one, so that parts may compute several rows at once */
    int64_t iterations;
} Combine;

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

/* Attaches the stage's producers of the same part to its innermost loop, so they follow every change of the loops. The
 * part's steps attach them elsewhere afterwards. */
static const Nest *with_sources_attached(Combine *c, const Nest *n, const Stage *s)
{
    const Tensor **reads;
    int count = stage_reads(c->cx, s, &reads);
    Path path;
    for (int i = 0; i < count; i++) {
        const Stage *source = reads[i]->producer ? reads[i]->producer->stage : NULL;
        if (!source || source->part != s->part || !nest_find_block(n, s->name, &path)) continue;
        for (int d = path.depth - 1; d >= 0; d--)
            if (path.at[d]->kind == STMT_FOR) {
                n = sched_compute_at(c->cx, n, source->name, path.at[d]->name);
                break;
            }
    }
    return n;
}

/* A consumer that reads one column less than the extent cuts the last tile. Rounds that tile up if possible: one more
 * column costs less than a guard in every tile. Each step is proved here, because the nest must remain replayable. */
static const Nest *with_whole_tiles(Combine *c, const Nest *before, const Nest *cut, const StepRow *row,
                                    const StepArgs *args)
{
    Ctx *cx = c->cx;
    if (row != step_row("split") || args->tail != TAIL_GUARD || guards_in(cut->root) == guards_in(before->root))
        return cut;
    const Stage *s = nest_stage(before, name_n(cx, args->loop[0], strcspn(args->loop[0], ".")));
    StepArgs round = *args;
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

static const char *reason(Ctx *cx, const Diag *d) { return text_format(cx, "%s: %s", d->where, d->what); }

/* Returns NULL if a step is refused; *why then holds the reason. */
static const Nest *replay(Combine *c, const Nest *n, CombinedPart *p, const char **why)
{
    Ctx *cx = c->cx;
    for (int i = 0; i < p->alone->step_count && !p->no_steps; i++) {
        StepArgs args;
        DiagMark mark = diag_mark(cx);
        const StepRow *row = step_read(cx, p->alone->step[i].text, &args);
        if (row) step_rename(cx, row, &args, name_here, p);
        const Nest *next = row ? sched_run(cx, n, row, &args) : n;
        const Diag *refusal = diag_rewind(cx, mark);
        if (!refusal) n = with_whole_tiles(c, n, next, row, &args);
        if (!refusal) continue;
        *why = reason(cx, refusal);
        return NULL;
    }
    return n;
}

/* ---- Attaching ------------------------------------------------------------------------------------------------- */

/* Returns the outermost loop over a data axis with a trip count above 1; NULL: none. */
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
static const Nest *fold_rows(Ctx *cx, const Nest *n, const CombinedPart *p)
{
    const Nest *few = SCHED(cx, n, fold_storage, .target = p->result, .factor = { p->slots }, .warm = WARM_GUARD);
    if (p->slots) return few;
    const Nest *masked = SCHED(cx, n, fold_storage, .target = p->result, .mask = true, .warm = WARM_GUARD);
    return !ctx_failed(cx) && 3 * slots_of(masked->root, p->result) <= 4 * slots_of(few->root, p->result) ? masked
                                                                                                          : few;
}

static const Nest *fold(Ctx *cx, const Nest *n, const CombinedPart *p)
{
    DiagMark mark = diag_mark(cx);
    const Nest *longer = p->slots ? sched_fold_storage(cx, n, p->result, p->slots) : n;
    return p->slots && !diag_rewind(cx, mark) ? longer : SCHED(cx, n, fold_storage, .target = p->result, .mask = true);
}

static const Nest *keep_at_root(Ctx *cx, const Nest *n, const CombinedPart *p)
{
    return sched_store_at(cx, n, p->result, NULL);
}

typedef const Nest *OneStep(Ctx *cx, const Nest *n, const CombinedPart *p);

/* Applies the step to the part; a refusal moves the part to the root. */
static const Nest *take(Combine *c, const Nest *n, CombinedPart *p, OneStep *step)
{
    DiagMark mark = diag_mark(c->cx);
    n = step(c->cx, n, p);
    const Diag *refusal = diag_rewind(c->cx, mark);
    if (refusal) p->at_root = reason(c->cx, refusal);
    return refusal ? NULL : n;
}

static const Nest *attach_all(Combine *c, const Nest *n, const char *loop)
{
    for (int i = c->master - 1; i >= 0 && n; i--) {
        CombinedPart *p = &c->part[i];
        if (p->at_root) continue;
        DiagMark mark = diag_mark(c->cx);
        n = SCHED(c->cx, n, compute_at, .target = p->result, .loop = { loop },
                  .loops = c->by_rows ? LOOPS_KEPT : LOOPS_NEW);
        const Diag *refusal = diag_rewind(c->cx, mark);
        if (refusal) p->at_root = reason(c->cx, refusal);
        if (refusal) return NULL;
        if (!c->by_rows) n = replay(c, n, p, &p->at_root);
    }
    return n;
}

static const Nest *fold_all(Combine *c, const Nest *n)
{
    OneStep *fold_one = c->by_rows ? fold_rows : fold;
    for (int i = 0; i < c->master && n; i++) {
        if (c->part[i].at_root) continue;
        if (!c->by_rows) n = take(c, n, &c->part[i], keep_at_root);
        if (n) n = take(c, n, &c->part[i], fold_one);
    }
    for (int i = 0; i < c->master && n && !c->by_rows; i++) {
        if (c->part[i].at_root) continue;
        DiagMark mark = diag_mark(c->cx);
        n = fold(c->cx, n, &c->part[i]);
        diag_rewind(c->cx, mark);
    }
    return n;
}

/* Replays the steps of a part at the root. A step that is valid alone may be refused in the combined nest; the part
 * then keeps no steps. */
static const Nest *replay_at_root(Combine *c, const Nest *n, CombinedPart *p)
{
    const char *why = NULL;
    n = replay(c, n, p, &why);
    if (!n) p->no_steps = why;
    return n;
}

/* NULL if one more part moves to the root or loses its steps; or on error. */
static const Nest *attempt(Combine *c)
{
    const Nest *n = replay_at_root(c, c->naive, &c->part[c->master]);
    const char *loop = n ? outermost_loop(n, c->part[c->master].result) : NULL;
    for (int i = 0; i < c->count && n; i++) {
        CombinedPart *p = &c->part[i];
        bool is_attached = !p->at_root && loop && i < c->master;
        if (i == c->master || (is_attached && !c->by_rows)) continue;
        if (!p->at_root && !is_attached)
            p->at_root = i > c->master ? "it reads the master, or is independent of it"
                                       : "the master has no loop to attach it to";
        n = replay_at_root(c, n, p);
    }
    if (n && loop && c->iterations > 1) n = sched_split(c->cx, n, loop, c->iterations, TAIL_GUARD, NULL, NULL);
    if (n && loop && c->iterations > 1) loop = outermost_loop(n, c->part[c->master].result);
    if (n && loop) n = attach_all(c, n, loop);
    return n ? fold_all(c, n) : NULL;
}

/* A warm-up may read more rows at once than the loop after it. Lengthens the ring at fault, up to a limit. For any
 * other fault, all parts move to the root; if they are there already, they lose their steps. */
static void relax(Combine *c, const Refusal *refusal)
{
    enum { LONGEST_RING = 32 };
    bool all_at_root = true;
    const char *why = refusal_sentence(c->cx, refusal);
    for (int i = 0; i < c->count; i++) {
        CombinedPart *p = &c->part[i];
        if (i == c->master || p->at_root || refusal->kind != FAULT_RING || refusal->tensor != p->output) continue;
        p->slots = p->slots ? 2 * p->slots : 8;
        if (p->slots > LONGEST_RING) p->at_root = why;
        return;
    }
    for (int i = 0; i < c->count; i++)
        if (i != c->master && !c->part[i].at_root) {
            c->part[i].at_root = why;
            all_at_root = false;
        }
    for (int i = 0; i < c->count && all_at_root; i++)
        if (!c->part[i].no_steps) c->part[i].no_steps = why;
}

static const Nest *combine_parts(Combine *c)
{
    bool late = c->cx->checks_late;
    const Nest *n = NULL;
    for (int round = 0; round <= 6 * c->count + 2 && !ctx_failed(c->cx); round++) {
        c->cx->checks_late = true;
        n = attempt(c);
        c->cx->checks_late = late;
        if (!n) continue;
        const Refusal *refusal = nest_refusal(c->cx, n);
        if (!refusal) return n;
        relax(c, refusal);
    }
    if (!ctx_failed(c->cx))
        diag_internal(c->cx, "combine", "the sequence of the groups' naive loops is not proved");
    return NULL;
}

/* ---- The combined nest ------------------------------------------------------------------------------------------- */

static bool is_among(const Tensor *t, Tensor *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

static bool is_part(int group, const int *part, int count)
{
    for (int i = 0; i < count; i++)
        if (part[i] == group) return true;
    return false;
}

static bool is_read_outside(const Graph *g, const Groups *groups, const int *part, int count, const Tensor *t)
{
    for (int i = 0; i < groups->count; i++)
        if (!is_part(i, part, count) && is_among(t, groups->at[i].input, groups->at[i].input_count)) return true;
    return is_among(t, g->output, g->output_count);
}

static void gather_nodes(Ctx *cx, const Groups *groups, const int *part, int count, Group *merged)
{
    int nodes = 0;
    for (int i = 0; i < count; i++) nodes += groups->at[part[i]].node_count;
    merged->node = NEW_ARRAY(cx->arena, Node *, nodes);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < groups->at[part[i]].node_count; j++)
            merged->node[merged->node_count++] = groups->at[part[i]].node[j];
}

static void gather_ports(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, Group *merged)
{
    int inputs = 0, outputs = 0;
    for (int i = 0; i < count; i++) {
        inputs += groups->at[part[i]].input_count;
        outputs += groups->at[part[i]].output_count;
    }
    merged->input = NEW_ARRAY(cx->arena, Tensor *, inputs);
    merged->output = NEW_ARRAY(cx->arena, Tensor *, outputs);
    Tensor **made = NEW_ARRAY(cx->arena, Tensor *, outputs);
    int made_count = 0;
    for (int i = 0; i < count; i++) {
        const Group *p = &groups->at[part[i]];
        for (int j = 0; j < p->input_count; j++)
            if (!is_among(p->input[j], made, made_count) && !is_among(p->input[j], merged->input, merged->input_count))
                merged->input[merged->input_count++] = p->input[j];
        for (int j = 0; j < p->output_count; j++) {
            made[made_count++] = p->output[j];
            if (is_read_outside(g, groups, part, count, p->output[j]))
                merged->output[merged->output_count++] = p->output[j];
        }
    }
}

static const char *free_name(Ctx *cx, Map *taken, const char *wanted)
{
    const char *n = name_identifier(cx, wanted);
    for (int i = 2; map_get_const_ptr(taken, n); i++) n = name_format(cx, "%s_%d", name_identifier(cx, wanted), i);
    map_put_const_ptr(taken, n, n);
    return n;
}

/* Returns a stand-in for an input of the combined group, named after its role in the first part that reads it. */
static Tensor *stand_in(Combine *c, Map *taken, const Tensor *t)
{
    Ctx *cx = c->cx;
    const char *role = NULL;
    for (int i = 0; i < c->count && !role; i++) role = group_role(cx, c->part[i].group, t);
    Tensor *in = arena_copy(cx->arena, t, sizeof *t);
    in->producer = NULL;
    in->name = free_name(cx, taken, role ? role : "x");
    in->serial = ctx_serial(cx);
    return in;
}

static const Nest *naive_of_all(Combine *c, const Group *merged, const Implementation *const *with)
{
    Ctx *cx = c->cx;
    Map made = map_new(cx->arena), taken = map_new(cx->arena);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, merged->input_count),
           **out = NEW_ARRAY(cx->arena, Tensor *, merged->output_count);
    for (int i = 0; i < merged->input_count; i++)
        map_put_ptr(&made, merged->input[i], in[i] = stand_in(c, &taken, merged->input[i]));
    for (int i = 0; i < c->count; i++) {
        CombinedPart *p = &c->part[i];
        p->local = map_new(cx->arena);
        if (!group_expand_into(cx, p->group, with[i], &taken, &made, &p->local)) return NULL;
        p->output = map_get_ptr(&made, p->group->output[0]);
        p->result = p->output->producer->stage->name;
    }
    for (int i = 0; i < merged->output_count; i++) out[i] = map_get_ptr(&made, merged->output[i]);
    const Nest *n = nest_naive(cx, merged->name, in, merged->input_count, out, merged->output_count);
    if (!n) return NULL;
    Text all = text_new(cx);
    for (int i = 0; i < c->count; i++) {
        const char *own = with[i] ? with[i]->name : c->part[i].alone->strategy;
        text_printf(&all, "%s%s", i ? " + " : "", own ? own : "of the file");
    }
    return nest_named_by(cx, nest_for(cx, n, c->target->features), text_string(&all));
}

/* Appends ", 4 of 32 kept along h" for the ring buffer that holds the part's result. */
static void explain_ring(const Stmt *s, const char *result, Text *t)
{
    const Tensor *made = s->kind == STMT_ALLOC ? s->buffer->tensor : NULL;
    for (int d = 0; made && text_equal(made->name, result) && d < made->rank; d++)
        if (s->buffer->ring[d])
            text_printf(t, ", %lld of %lld kept along %s", (long long)s->buffer->ring[d],
                        (long long)tensor_dim(made, d), expr_as_var(made->producer->stage->axis[d].var)->name);
    for (int i = 0; i < s->child_count; i++) explain_ring(s->child[i], result, t);
}

static void explain_parts(const Combine *c, const Nest *n, Text *t)
{
    const char *master = c->part[c->master].group->name, *loop = outermost_loop(n, c->part[c->master].result);
    text_printf(t, "combined around %s\n", master);
    for (int i = 0; i < c->count; i++) {
        const CombinedPart *p = &c->part[i];
        if (p->no_steps) text_printf(t, "  %s without its steps: %s\n", p->group->name, p->no_steps);
        if (i == c->master) continue;
        if (p->at_root) text_printf(t, "  %s at the root: %s\n", p->group->name, p->at_root);
        else {
            text_printf(t, "  %s in each iteration of %s", p->group->name, loop ? loop : "?");
            explain_ring(n->root, p->result, t);
            text_char(t, '\n');
        }
    }
}

static bool all_attached(const Combine *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->part[i].no_steps || (i != c->master && c->part[i].at_root)) return false;
    return true;
}

/* "conv_1+pool_1": the master comes last. */
static const char *part_names(const Combine *c)
{
    Text t = text_new(c->cx);
    for (int i = 0; i < c->count; i++)
        if (i != c->master) text_printf(&t, "%s+", c->part[i].group->name);
    text_add(&t, c->part[c->master].group->name);
    return text_string(&t);
}

static Combine combine_new(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, int master,
                           const Target *t, Group *merged)
{
    Combine c = {
        .cx = cx, .target = t, .count = count, .master = master, .part = NEW_ARRAY(cx->arena, CombinedPart, count)
    };
    const Implementation **with = NEW_ARRAY(cx->arena, const Implementation *, count);
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        c.part[i].group = &groups->at[part[i]];
        c.part[i].alone = group_nest(cx, c.part[i].group, t, &with[i]);
    }
    if (ctx_failed(cx)) return c;
    *merged = (Group){ .name = c.part[master].group->name, .parts = part_names(&c) };
    gather_nodes(cx, groups, part, count, merged);
    gather_ports(cx, g, groups, part, count, merged);
    c.naive = naive_of_all(&c, merged, with);
    return c;
}

/* Returns the rows of the output computed by one iteration of the outermost loop; 0: the loop does not compute rows. */
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
    if (rows_at_once(c->cx, c->part[c->master].alone) != 1) return 1;
    for (int i = 0; i < c->count; i++) {
        const int64_t rows = i == c->master ? 1 : rows_at_once(c->cx, c->part[i].alone);
        if (rows > most) most = rows;
    }
    return most;
}

/* NULL if a part cannot be attached. */
static const Nest *combine_by_rows(Combine *c)
{
    const int64_t most = most_iterations(c);
    c->by_rows = true;
    for (c->iterations = 1; c->iterations <= most; c->iterations *= most > 1 ? most : 2) {
        for (int i = 0; i < c->count; i++) {
            c->part[i].at_root = c->part[i].no_steps = NULL;
            c->part[i].slots = 0;
        }
        const Nest *n = combine_parts(c);
        if (n && all_attached(c)) return n;
    }
    return NULL;
}

const Nest *schedule_combine(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count, int master,
                             const Target *t, Text *explain, Group *merged)
{
    Combine c = combine_new(cx, g, groups, part, count, master, t, merged);
    const Nest *n = c.naive ? combine_parts(&c) : NULL;
    if (n && !all_attached(&c)) {
        Combine other = c;
        other.part = arena_copy(cx->arena, c.part, (size_t)count * sizeof *c.part);
        const Nest *by_rows = combine_by_rows(&other);
        if (by_rows) n = by_rows, c = other;
    }
    if (n && explain) explain_parts(&c, n, explain);
    return n;
}

const Nest *schedule_combine_rows(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                  const Target *t, Text *explain, Group *merged)
{
    Combine c = combine_new(cx, g, groups, part, count, count - 1, t, merged);
    const Nest *n = c.naive ? combine_by_rows(&c) : NULL;
    if (n && explain) explain_parts(&c, n, explain);
    return n;
}

const Nest *schedule_combine_naive(Ctx *cx, const Graph *g, const Groups *groups, const int *part, int count,
                                   int master, const Target *t, Group *merged)
{
    return combine_new(cx, g, groups, part, count, master, t, merged).naive;
}
