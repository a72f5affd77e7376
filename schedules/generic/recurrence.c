/* SPDX-License-Identifier: MIT */
/* Recurrent layers: stages that read each other share the loop over their steps.
 *
 *   for the steps t:
 *       for the products with w and r, tile by tile of the gates: acc[tile] = ..; for k: acc[tile] += ..    as a contraction
 *       for the units: activations
 *
 * What only one step needs lies inside it; what the next step reads as well keeps two slots, unless it is an output. The
 * product with the inputs of a step is made in that step, too: of all steps at once it would read the weights less often,
 * but be as large as all gates of all steps. */
#include "schedules/tile.h"

#include "support/text.h"

static bool has_steps(const Stage *s) { return s->data_count > 0 && s->axis[0].kind == AXIS_ORDERED; }

/* The loop that all stages with steps share; NULL: there is a single step, and no recurrence. */
static const char *step_loop(const Nest *n)
{
    Path p;
    for (int i = 0; i < n->stage_count; i++)
        if (has_steps(n->stage[i]) && nest_find_block(n, n->stage[i]->name, &p))
            for (int d = 0; d < p.depth; d++)
                if (p.at[d]->kind == STMT_FOR) return p.at[d]->name;
    return NULL;
}

/* When a tensor over the steps is read: in the step that makes it, in the next one or after the last, or any time. */
typedef enum Life { ONE_STEP, TWO_STEPS, ALL_STEPS } Life;
typedef struct Reads { const Tensor *of; const Stage *reader; Life life; } Reads;

static void look_at_read(const Expr *e, void *user)
{
    Reads *r = user;
    if (e->kind != EXPR_READ || e->ref != r->of) return;
    const Expr *at = e->arg[0], *steps = r->of->shape[0];
    Life life = has_steps(r->reader) ? (at == r->reader->axis[0].var ? ONE_STEP : TWO_STEPS)
              : at->kind == EXPR_INT && steps->kind == EXPR_INT && at->integer == steps->integer - 1 ? TWO_STEPS : ALL_STEPS;
    if (life > r->life) r->life = life;
}

static Life life_of(Ctx *cx, const Nest *n, const Tensor *t)
{
    Reads r = { t, NULL, ONE_STEP };
    for (int i = 0; i < n->stage_count; i++) {
        r.reader = n->stage[i];
        for (int o = 0; o < r.reader->out_count; o++) {
            expr_walk(cx, r.reader->value[o], look_at_read, &r);
            if (r.reader->init) expr_walk(cx, r.reader->init[o], look_at_read, &r);
        }
    }
    return r.life;
}

static const Nest *keep_what_is_live(Ctx *cx, const Nest *n, const char *loop)
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

/* Every sum of a step in registers, tile by tile, then where it is read. */
static const Nest *tile_sums(Ctx *cx, const Nest *n, const Target *t)
{
    const char *name[MAX_AXES];
    int count = 0;
    for (int i = 0; i < n->stage_count && count < MAX_AXES; i++)
        if (n->stage[i]->reducer != REDUCE_NONE) name[count++] = n->stage[i]->name;
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        const char *acc = text_format(cx, "%s_acc", name[i]);
        n = sched_cache_write(cx, n, name[i], acc, SCOPE_REGISTER);
        if (!ctx_failed(cx)) n = tile_reduction(cx, n, nest_stage(n, name[i]), acc, t);
    }
    return n;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    const char *loop = step_loop(n);
    for (int i = 0; i < n->stage_count && loop && !ctx_failed(cx); i++) {
        const Stage *s = n->stage[i];
        if (!has_steps(s) && s->reducer != REDUCE_NONE) n = sched_compute_at(cx, n, s->name, loop);
    }
    if (loop) n = keep_what_is_live(cx, n, loop);
    return tile_sums(cx, n, g->target);
}

const Implementation implementations_generic_recurrence[] = {
    { .name = "recurrence.stepwise", .target = "generic", .plevel = 10, .ops = "rnn gru lstm",
      .what = "step by step, gates accumulated tile by tile, the state in two slots", .schedule = schedule },
    { 0 }
};
