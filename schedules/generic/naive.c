/* SPDX-License-Identifier: MIT */
/* Schedules groups that no other template accepts (several reductions, as in a softmax). Inlines elementwise stages
 * with one consumer, except a costly value of a row, which would be computed for each element. Computes the other
 * stages row by row of the output if possible, otherwise stage by stage. Single values between stages become variables,
 * and short rows are allocated on the stack. */
#include "schedules/tile.h"

#include "ir/check/check.h"

/* Returns the only stage that reads s, or NULL if there is none or more than one. */
static const Stage *reader_of(Ctx *cx, const Nest *n, const Stage *s)
{
    const Stage *reader = NULL;
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) {
        const Tensor **reads;
        int r = stage_reads(cx, n->stage[i], &reads);
        for (int j = 0; j < r; j++)
            if (reads[j] == s->out[0]) reader = n->stage[i], count++;
    }
    return count == 1 ? reader : NULL;
}

/* Returns false for a recurrence, which is computed step by step. */
static bool is_value(const Stage *s)
{
    return s->reducer == REDUCE_NONE && (s->data_count == 0 || s->axis[0].kind != AXIS_ORDERED);
}

enum { CHEAP = 128 };           /* most nodes of a cheap value */

/* Returns the number of nodes of the expression as a tree, with the values that it reads inlined; stops soon after
 * CHEAP. */
static int nodes_of(const Nest *n, const Expr *e)
{
    int count = 1;
    for (int i = 0; e->kind == EXPR_READ && i < n->stage_count; i++)
        if (n->stage[i]->out[0] == e->ref && is_value(n->stage[i])) count += nodes_of(n, n->stage[i]->value[0]);
    for (int i = 0; i < e->arg_count && count <= CHEAP; i++) count += nodes_of(n, e->arg[i]);
    return count;
}

/* Returns true for a costly value of a row that its reader would compute for each element of the row. */
static bool is_row_value(const Nest *n, const Stage *s, const Stage *reader)
{
    return s->data_count < reader->data_count && nodes_of(n, s->value[0]) > CHEAP;
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

/* Returns true if the stage, attached at a row of the output, computes only that row. */
static bool computes_one_row(Ctx *cx, const Nest *n, const Stage *s, int leading)
{
    Path p;
    for (int a = 0; a < leading && a < s->data_count; a++)
        if (nest_find_loop(n, loop_name(cx, s, a), &p)) return false;
    return true;
}

/* Computes each row of the output completely, so intermediate tensors shrink to one row. Returns NULL if other rows
 * also read a stage. */
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

/* Inlines the values with one consumer, except values of rows of at most `most` bytes. */
static const Nest *inline_values(Ctx *cx, const Nest *n, int64_t most)
{
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i], *reader = is_value(s) && !makes_output(n, s) ? reader_of(cx, n, s) : NULL;
        const int64_t bytes = tensor_bytes(s->out[0]);
        const bool stays = reader && bytes >= 0 && bytes <= most && is_row_value(n, s, reader);
        if (reader && !stays) n = inline_stage(cx, n, s);
    }
    return n;
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    DiagMark mark = diag_mark(cx);
    const Nest *n = inline_values(cx, g->nest, INT64_MAX), *rows = ctx_failed(cx) ? NULL : row_by_row(cx, n);
    diag_rewind(cx, mark);
    if (rows) return rows;
    n = inline_values(cx, g->nest, SHORT_ROW);
    return ctx_failed(cx) ? n : keep_close(cx, n);
}

const Implementation implementations_generic_naive[] = {
    { .name = "stages.in_order", .plevel = 1,
      .ops = "pattern:out-fusable pattern:reduction pattern:opaque",
      .what = "stage after stage, as written", .schedule = schedule },
    { 0 }
};
