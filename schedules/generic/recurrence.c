/* SPDX-License-Identifier: MIT */
/* Schedules recurrent layers: stages that read each other share the loop over their steps.
 *
 *   for the steps t:
 *       for the products with w and r, tile by tile of the gates:          as a contraction
 *           acc[tile] = ..; for k: acc[tile] += ..
 *       for the units: activations
 *
 * A tile covers units, with all gates of each. If there is a single step, the activations are fused into its tile loop,
 * so that only one tile of the gates is stored. Tensors local to a step are allocated inside the step. Tensors that the
 * next step also reads are stored in two slots, unless they are outputs. The product with a step's inputs is also
 * computed in that step. Computing it for all steps at once would read the weights less often, but store all gates of
 * all steps. A scalar core, where every load is an instruction, computes it for a few steps at once:
 *
 *   for to:                                         blocks of steps
 *       for the gates, tile by tile: acc[ti][u] = ..; for i: acc[ti][u] += ..     a weight is read once for all ti
 *       for ti: the step, as above */
#include "schedules/tile.h"

#include "ir/algebra/algebra.h"
#include "ir/check/check.h"
#include "support/text.h"

static bool has_steps(const Stage *s) { return s->data_count > 0 && s->axis[0].kind == AXIS_ORDERED; }

/* Returns the loop that all stages with steps share, or NULL for a single step without recurrence. */
static const char *step_loop(const Nest *n)
{
    Path p;
    for (int i = 0; i < n->stage_count; i++)
        if (has_steps(n->stage[i]) && nest_find_block(n, n->stage[i]->name, &p))
            for (int d = 0; d < p.depth; d++)
                if (p.at[d]->kind == STMT_FOR) return p.at[d]->name;
    return NULL;
}

/* The live range of a tensor over the steps. ONE_STEP: one step. TWO_STEPS: up to the next step, or after the last one.
 * ALL_STEPS: all steps. */
typedef enum Life { ONE_STEP, TWO_STEPS, ALL_STEPS } Life;
typedef struct WeightReads { const Tensor *of; const Stage *reader; Life life; } WeightReads;

static void look_at_read(const Expr *e, void *user)
{
    WeightReads *r = user;
    if (e->kind != EXPR_READ || e->ref != r->of) return;
    const Expr *at = e->arg[0], *steps = r->of->shape[0];
    Life life = has_steps(r->reader) ? (at == r->reader->axis[0].var ? ONE_STEP : TWO_STEPS)
                : at->kind == EXPR_INT && steps->kind == EXPR_INT && at->integer == steps->integer - 1 ? TWO_STEPS
                                                                                                       : ALL_STEPS;
    if (life > r->life) r->life = life;
}

static Life life_of(Ctx *cx, const Nest *n, const Tensor *t)
{
    WeightReads r = { t, NULL, ONE_STEP };
    for (int i = 0; i < n->stage_count; i++) {
        r.reader = n->stage[i];
        for (int o = 0; o < r.reader->out_count; o++) {
            expr_walk(cx, r.reader->value[o], look_at_read, &r);
            if (r.reader->init) expr_walk(cx, r.reader->init[o], look_at_read, &r);
        }
    }
    return r.life;
}

static const Nest *store_live(Ctx *cx, const Nest *n, const char *loop)
{
    for (int i = 0; i < n->stage_count && !ctx_failed(cx); i++) {
        const Stage *s = n->stage[i];
        if (!has_steps(s) || makes_output(n, s)) continue;
        Life life = life_of(cx, n, s->out[0]);
        if (life == ONE_STEP) n = sched_store_at(cx, n, s->name, loop);
        if (life == TWO_STEPS) n = sched_fold_storage(cx, n, s->name, 0);
    }
    return n;
}

/* Counts the stages that read the tensor; *last becomes the last of them. */
static int readers_of(Ctx *cx, const Nest *n, const Tensor *t, const Stage **last)
{
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) {
        const Tensor **reads;
        int read_count = stage_reads(cx, n->stage[i], &reads);
        for (int r = 0; r < read_count; r++)
            if (reads[r] == t) count++, *last = n->stage[i];
    }
    return count;
}

/* Returns the sum that initializes the stage's sum, if it has no other consumer, because both accumulate in the same
 * registers. */
static const Stage *first_sum(Ctx *cx, const Nest *n, const Stage *s)
{
    const Stage *reader = NULL;
    const Tensor *t = s->init[0]->kind == EXPR_READ ? s->init[0]->ref : NULL;
    bool is_sum = t && t->producer && t->producer->stage->reducer != REDUCE_NONE
                  && nest_stage(n, t->producer->stage->name);
    return is_sum && readers_of(cx, n, t, &reader) == 1 && !makes_output(n, t->producer->stage) ? t->producer->stage
                                                                                                : NULL;
}

/* Unrolls the innermost loop of a sum on a scalar core. Every weight is read once, so only loop overhead can be saved.
 * A divisor of the extent avoids a remainder. */
static const Nest *repeat_sum(Ctx *cx, const Nest *n, const char *acc, const Target *t)
{
    enum { MOST_REPEATS = 4 };
    const Stage *s = nest_stage(n, acc);
    const char *loop = loop_name(cx, s, s->axis_count - 1);
    int64_t extent = axis_extent(s, s->axis_count - 1), copies = MOST_REPEATS;
    Path found;
    if (t->lanes != 1 || s->axis_count == s->data_count || !nest_find_loop(n, loop, &found)) return n;
    while (copies > 1 && extent % copies != 0) copies--;
    return copies > 1 && extent > copies ? SCHED(cx, n, unroll, .loop = { loop }, .factor = { copies }) : n;
}

/* ---- Activations fused into the tile loop ------------------------------------------------------------------------ */

static bool reads(Ctx *cx, const Stage *s, const Stage *of)
{
    const Tensor **read;
    int count = stage_reads(cx, s, &read);
    for (int i = 0; i < count; i++)
        for (int o = 0; o < of->out_count; o++)
            if (read[i] == of->out[o]) return true;
    return false;
}

typedef const Nest *MoveStep(Ctx *cx, const Nest *n, const char *stage, const char *loop);

static const Nest *keep_in_registers(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    return sched_set_scope(cx, sched_store_at(cx, n, stage, loop), stage, SCOPE_REGISTER);
}

/* Returns the nest after the step, or NULL if the step is refused. */
static const Nest *try_step(Ctx *cx, const Nest *n, MoveStep *step, const char *stage, const char *loop)
{
    const char *why;
    DiagMark mark = diag_mark(cx);
    const Nest *next = step(cx, n, stage, loop);
    bool fits = !ctx_failed(cx) && nest_check(cx, next, &why) == PROVED;
    diag_rewind(cx, mark);
    return fits ? next : NULL;
}

/* Attaches the stages that read the sums unit by unit, and stages that read these unit by unit, to the loop over tiles
 * of units. Then at most one tile of the sums is stored. Attaches either all consumers of the sums or none. */
static const Nest *follow_tile(Ctx *cx, const Nest *before, const char *sums)
{
    const Stage *of = nest_stage(before, sums), *moved[MAX_AXES] = { of };
    const char *loop = text_format(cx, "%so", loop_name(cx, of, of->data_count - 1));
    const Nest *n = before, *next;
    int count = 1;
    Path p;
    if (!nest_find_loop(n, loop, &p)) return n;
    for (int i = 0; i < n->stage_count && count < MAX_AXES; i++) {
        const Stage *s = n->stage[i];
        bool follows = false;
        for (int j = 0; j < count; j++) follows = follows || (s != moved[j] && reads(cx, s, moved[j]));
        if (!follows || s->reducer != REDUCE_NONE) continue;
        next = try_step(cx, n, sched_reverse_compute_at, s->name, loop);
        if (!next && reads(cx, s, of)) return before;
        if (!next) continue;
        n = next;
        moved[count++] = s;
    }
    for (int i = 0; i < count; i++)
        if (!makes_output(n, moved[i]) && (next = try_step(cx, n, keep_in_registers, moved[i]->name, loop))) n = next;
    return n;
}

/* Returns true if the axis before the units counts several gates; a unit needs all of them. */
static bool has_gates(const Stage *sums) { return sums->data_count == 4 && axis_extent(sums, 2) > 1; }

/* Accumulates every sum of a step in registers, tile by tile, then attaches it to its consumer. Sums over the inputs
 * are included unless they are computed already. */
static const Nest *tile_sums(Ctx *cx, const Nest *n, bool inputs_are_computed, const Target *t)
{
    const Stage *sum[MAX_AXES], *first[MAX_AXES];
    int count = 0;
    for (int i = n->stage_count - 1; i >= 0 && count < MAX_AXES; i--) {
        const Stage *s = n->stage[i];
        bool goes_along = inputs_are_computed && !has_steps(s);
        for (int j = 0; j < count; j++) goes_along = goes_along || first[j] == s;
        if (s->reducer == REDUCE_NONE || goes_along) continue;
        first[count] = inputs_are_computed ? NULL : first_sum(cx, n, s);
        sum[count++] = s;
    }
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        const char *out = sum[i]->name, *acc[2] = { text_format(cx, "%s_acc", out), first[i] ? first[i]->name : NULL };
        n = sched_cache_write(cx, n, out, acc[0], SCOPE_REGISTER);
        if (!ctx_failed(cx))
            n = tile_reductions(cx, n, nest_stage(n, out), acc, first[i] ? 2 : 1, has_gates(nest_stage(n, out)), t);
        for (int a = 0; a < 2 && acc[a] && !ctx_failed(cx); a++) n = repeat_sum(cx, n, acc[a], t);
        if (!ctx_failed(cx)) n = follow_tile(cx, n, out);
    }
    return n;
}

/* ---- The product with the inputs of several steps ---------------------------------------------------------------- */

/* The axes of input[t,b,g,u] = sum(i) x[t,b,i] * w[i,g*U+u] */
enum { INPUT_T, INPUT_B, INPUT_G, INPUT_U, INPUT_I };
typedef struct StepBlock { int64_t steps, units; } StepBlock;

/* Returns the sum over the inputs if all its sizes are fixed and no other sum feeds it, or NULL if there is none. */
static const Stage *input_sum(const Nest *n)
{
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) count += !has_steps(n->stage[i]) && n->stage[i]->reducer != REDUCE_NONE;
    for (int i = 0; i < n->stage_count && count == 1; i++) {
        const Stage *s = n->stage[i];
        bool is_it = s->reducer == REDUCE_SUM && !has_steps(s) && s->data_count == INPUT_I
                     && s->axis_count == INPUT_I + 1;
        for (int a = 0; a < s->axis_count; a++) is_it = is_it && axis_extent(s, a) > 0;
        if (is_it) return s;
    }
    return NULL;
}

/* Counts loads and multiply-adds of all tiles, as in a contraction, plus one store per value that is kept for its
 * step. */
static int64_t cost_of(const Stage *input, StepBlock b)
{
    int64_t steps = axis_extent(input, INPUT_T), units = axis_extent(input, INPUT_U),
            inputs = axis_extent(input, INPUT_I);
    int64_t tiles = steps / b.steps * ((units + b.units - 1) / b.units), cut = units % b.units ? 5 : 4;
    return sat_mul(sat_mul(tiles * cut, b.steps * b.units + b.steps + b.units), inputs)
           + (b.steps > 1 ? 4 * steps * units : 0);
}

/* Returns the cheapest number of steps per block that divides all steps. A tile row keeps its weights in registers for
 * all its steps, like its sums; the budget of registers is therefore larger by a half. The kept values add at most a
 * third to x and h. */
static StepBlock block_of(const Stage *input, const Target *t)
{
    int64_t steps = axis_extent(input, INPUT_T), units = axis_extent(input, INPUT_U),
            registers = t->accumulators * 3 / 2;
    int64_t most = steps * (axis_extent(input, INPUT_I) + units) / (3 * axis_extent(input, INPUT_G) * units);
    StepBlock best = { 1, t->accumulators < units ? t->accumulators : units };
    for (StepBlock b = { 2, 1 }; b.steps <= most && b.steps < registers; b.steps++)
        for (b.units = 1; steps % b.steps == 0 && b.units <= units && (b.steps + 1) * b.units <= registers; b.units++)
            if (cost_of(input, b) < cost_of(input, best)) best = b;
    return best;
}

/* Appends the loop to the list if it exists. */
static int add_loop(const Nest *n, const char *loop, const char **list, int count)
{
    Path p;
    if (nest_find_loop(n, loop, &p)) list[count++] = loop;
    return count;
}

/* Splits the loop over steps into blocks. Computes the sums of a block at the start of the block, in tiles of all steps
 * of the block. A single unit has no loop, because compute_at drops loops of extent 1. */
static const Nest *block_steps(Ctx *cx, const Nest *n, const char *loop, const char *input, StepBlock b)
{
    const char *acc = text_format(cx, "%s_acc", input), *order[5], *around = text_format(cx, "%so", loop);
    int count = 0;
    Path p;
    n = sched_split(cx, n, loop, b.steps, TAIL_GUARD, NULL, NULL);
    n = sched_compute_at(cx, n, input, around);
    n = sched_cache_write(cx, n, input, acc, SCOPE_REGISTER);
    if (ctx_failed(cx)) return n;
    const Stage *s = nest_stage(n, input), *a = nest_stage(n, acc);
    const char *unit = loop_name(cx, s, INPUT_U), *inner = text_format(cx, "%si", unit);
    const bool has_units = nest_find_loop(n, unit, &p);
    if (has_units) n = sched_split(cx, n, unit, b.units, TAIL_GUARD, NULL, NULL);
    count = add_loop(n, loop_name(cx, s, INPUT_B), order, count);
    count = add_loop(n, loop_name(cx, s, INPUT_G), order, count);
    if (has_units) order[count++] = text_format(cx, "%so", unit);
    if (count) around = order[count - 1];
    order[count++] = loop_name(cx, s, INPUT_T);
    if (has_units) order[count++] = inner;
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    n = sched_compute_at(cx, n, acc, around);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    if (ctx_failed(cx)) return n;
    count = add_loop(n, loop_name(cx, a, INPUT_I), order, 0);
    count = add_loop(n, loop_name(cx, a, INPUT_T), order, count);
    count = add_loop(n, loop_name(cx, a, INPUT_U), order, count);
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    if (count && order[0] == loop_name(cx, a, INPUT_I)) n = sched_decompose_reduction(cx, n, acc, order[0]);
    const char *tile[] = { loop_name(cx, s, INPUT_T), inner, loop_name(cx, a, INPUT_T), loop_name(cx, a, INPUT_U),
                           text_format(cx, "%s@init.t", acc), text_format(cx, "%s@init.u", acc) };
    for (int i = 0; i < 6 && !ctx_failed(cx); i++)
        if (nest_find_loop(n, tile[i], &p)) n = sched_unroll(cx, n, tile[i]);
    return n;
}

/* Removes the copy of the previous state if there is no recurrence: it is the given state. */
static const Nest *read_given_state(Ctx *cx, const Nest *n)
{
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        bool copies = s->reducer == REDUCE_NONE && (s->value[0]->kind == EXPR_READ || expr_is_const(s->value[0]));
        if (copies && !makes_output(n, s)) n = inline_stage(cx, n, s);
    }
    return n;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    const char *loop = step_loop(n);
    for (int i = n->stage_count - 1; i >= 0 && loop && !ctx_failed(cx); i--) {       /* consumers first */
        const Stage *s = n->stage[i];
        if (!has_steps(s) && !makes_output(n, s)) n = sched_compute_at(cx, n, s->name, loop);
    }
    n = loop ? store_live(cx, n, loop) : read_given_state(cx, n);
    if (ctx_failed(cx)) return n;
    const Stage *input = loop && g->target->lanes == 1 ? input_sum(n) : NULL;
    StepBlock block = input ? block_of(input, g->target) : (StepBlock){ 1, 1 };
    if (block.steps > 1) n = block_steps(cx, n, loop, input->name, block);
    return ctx_failed(cx) ? n : tile_sums(cx, n, block.steps > 1, g->target);
}

/* Schedules a search or an elimination, which has no weights to tile; stores only live elements. */
static const Nest *keep_live(Ctx *cx, const GroupNest *g)
{
    const char *loop = step_loop(g->nest);
    return loop ? store_live(cx, g->nest, loop) : g->nest;
}

/* Like keep_live, for steps of a few operations, for which counting costs as much as computing. */
static const Nest *keep_short(Ctx *cx, const GroupNest *g)
{
    enum { AT_ONCE = 4 };
    const Nest *n = keep_live(cx, g);
    Path p;
    for (int i = 0; i < n->stage_count && !ctx_failed(cx); i++) {
        const char *loop = loop_name(cx, n->stage[i], 0);
        if (axis_extent(n->stage[i], 0) > AT_ONCE && nest_find_loop(n, loop, &p))
            n = sched_pragma(cx, n, loop, "unroll 4");
    }
    return n;
}

const Implementation implementations_generic_recurrence[] = {
    { .name = "recurrence.stepwise", .plevel = 10, .ops = "rnn gru lstm",
      .what = "step by step, gates accumulated tile by tile, the state in two slots", .schedule = schedule },
    { .name = "recurrence.kept", .plevel = 10,
      .ops = "det non_max_suppression nonzero prod_fixed soft_suppression",
      .what = "step by step, as written, the state in two slots", .schedule = keep_live },
    { .name = "recurrence.short", .plevel = 10, .ops = "auto_scale",
      .what = "four steps at a time, the state in two slots", .schedule = keep_short },
    { 0 }
};
