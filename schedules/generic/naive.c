/* SPDX-License-Identifier: MIT */
/* The fallback for groups that no other template accepts (several reductions, as in a softmax). Inlines elementwise
 * stages with one consumer, and computes all others row by row of the output if possible; else stage by stage as
 * written. Single values between stages become variables, short rows are allocated on the stack. */
#include "schedules/tile.h"

#include "ir/check/check.h"

static int readers_of(Ctx *cx, const Nest *n, const Stage *s)
{
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) {
        const Tensor **reads;
        int r = stage_reads(cx, n->stage[i], &reads);
        for (int j = 0; j < r; j++) count += reads[j] == s->out[0];
    }
    return count;
}

enum { SHORT_ROW = 256 };       /* bytes */

static const Nest *keep_close(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->stage_count && !ctx_failed(cx); i++)
        for (int o = 0; o < n->stage[i]->out_count; o++) {
            const Tensor *t = n->stage[i]->out[o];
            int64_t bytes = tensor_bytes(t);
            if (makes_output(n, n->stage[i]) || bytes < 0 || bytes > SHORT_ROW) continue;
            n = sched_set_scope(cx, n, t->name, tensor_elems(t) == 1 ? SCOPE_REGISTER : SCOPE_STACK);
        }
    return n;
}

/* True if the stage, attached at a row of the output, computes only that row: none of its loops covers several. */
static bool computes_one_row(Ctx *cx, const Nest *n, const Stage *s, int leading)
{
    Path p;
    for (int a = 0; a < leading && a < s->data_count; a++)
        if (nest_find_loop(n, loop_name(cx, s, a), &p)) return false;
    return true;
}

/* Computes each row of the output completely, so intermediate tensors shrink to one row. NULL if other rows also read a
 * stage. */
static const Nest *row_by_row(Ctx *cx, const Nest *n)
{
    const Stage *out = output_stage(n);
    int leading = out->data_count - 1;
    Path p;
    bool has_rows = false;
    for (int a = 0; a < leading; a++) has_rows = has_rows || axis_extent(out, a) != 1;
    if (!has_rows || n->output_count != 1 || n->stage_count < 3) return NULL;
    const char *row = loop_name(cx, out, leading - 1);
    if (!nest_find_loop(n, row, &p)) return NULL;
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s == out) continue;
        n = sched_compute_at(cx, n, s->name, row);
        if (ctx_failed(cx) || !computes_one_row(cx, n, nest_stage(n, s->name), leading)) return NULL;
        int64_t width = s->data_count > leading ? last_extent(s) : 1;
        bool is_short = width > 0 && width * dtype_info(s->out[0]->type)->bytes <= SHORT_ROW;
        if (is_short) n = sched_set_scope(cx, n, s->out[0]->name, width == 1 ? SCOPE_REGISTER : SCOPE_STACK);
    }
    const char *why;
    return !ctx_failed(cx) && nest_check(cx, n, &why) == PROVED ? n : NULL;
}

/* True for a plain value; false for a recurrence, which is computed step by step. */
static bool is_value(const Stage *s)
{
    return s->reducer == REDUCE_NONE && (s->data_count == 0 || s->axis[0].kind != AXIS_ORDERED);
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (is_value(s) && !makes_output(n, s) && readers_of(cx, n, s) == 1)
            n = sched_compute_inline(cx, n, s->name);
    }
    if (ctx_failed(cx)) return n;
    DiagMark mark = diag_mark(cx);
    const Nest *rows = row_by_row(cx, n);
    diag_rewind(cx, mark);
    return rows ? rows : keep_close(cx, n);
}

const Implementation implementations_generic_naive[] = {
    { .name = "stages.in_order", .plevel = 1,
      .ops = "pattern:out-fusable pattern:reduction pattern:opaque",
      .what = "stage after stage, as written", .schedule = schedule },
    { 0 }
};
