/* SPDX-License-Identifier: MIT */
#include "schedules/product.h"

const Stage *product_stage(const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i]->reducer == REDUCE_SUM) return n->stage[i];
    return NULL;
}

static bool unpacks(const Stage *s) { return s->call && s->call->op->layout.widens; }

const Stage *unpacking_stage(const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        if (unpacks(n->stage[i]) && !n->stage[i]->is_result) return n->stage[i];
    return NULL;
}

const Stage *patch_stage(Ctx *cx, const Nest *n, const Stage *acc)
{
    const Tensor **reads;
    int count = stage_reads(cx, acc, &reads);
    for (int i = 0; i < count; i++)
        for (int s = 0; s < n->stage_count; s++)
            if (n->stage[s]->out[0] == reads[i] && !unpacks(n->stage[s])) return n->stage[s];
    return NULL;
}

bool product_makes_output(Ctx *cx, const GroupNest *g)
{
    const Stage *acc = product_stage(g->nest), *out = output_stage(g->nest);
    int sums = 0;
    for (int i = 0; i < g->nest->stage_count; i++) sums += g->nest->stage[i]->reducer != REDUCE_NONE;
    if (!acc || sums != 1 || g->nest->output_count != 1 || out->data_count != acc->data_count
        || !patch_stage(cx, g->nest, acc))
        return false;
    for (int d = 0; d < acc->data_count; d++)
        if (axis_extent(acc, d) != axis_extent(out, d)) return false;
    return true;
}

static bool is_kept(const char *stage, const char *const *kept)
{
    while (*kept && *kept != stage) kept++;
    return *kept != NULL;
}

const Nest *isolate_product(Ctx *cx, const Nest *n, const char **acc, const char *const *kept)
{
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s->reducer != REDUCE_NONE || makes_output(n, s) || is_kept(s->name, kept)) continue;
        n = inline_stage(cx, n, s);
    }
    if (ctx_failed(cx)) return n;
    if (!makes_output(n, nest_stage(n, *acc))) return n;
    n = sched_cache_write(cx, n, *acc, "acc", SCOPE_REGISTER);
    *acc = "acc";
    return n;
}

const Nest *tensorize_if_fits(Ctx *cx, const Nest *n, const char *loop, const char *macro, const int64_t *number,
                              int count)
{
    if (ctx_failed(cx)) return n;
    DiagMark mark = diag_mark(cx);
    const Nest *at_once = sched_tensorize_with(cx, n, loop, macro, number, count);
    return diag_rewind(cx, mark) ? n : at_once;
}

const Nest *unroll_if_found(Ctx *cx, const Nest *n, const char *loop)
{
    Path p;
    if (ctx_failed(cx) || !nest_find_loop(n, loop, &p)) return n;
    bool is_unit = p.depth > 1 && p.at[p.depth - 2]->kind == STMT_TILE;
    return is_unit ? n : sched_unroll(cx, n, loop);
}
