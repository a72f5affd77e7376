/* SPDX-License-Identifier: MIT */
/* Schedules pools and sums of bytes with the channels last: one instruction computes the windows' taps for several
 * channels.
 *
 *   sums      for tiles of channels:                            LW_SUM_WINDOW_I8 in pairs or 16-bit lanes, which
 *                 acc[n] += x, all taps at once                 hold 256 taps of any bytes
 *                 y = epilogue(acc)
 *   maxima    y[c] = max(y[c], x[c]), all channels at once      LW_MAX_WINDOW_I8, or, if windows leave x, LW_MAX_IF_I8
 *                                                               tap by tap under the tap's guard
 *
 * With one dimension of taps the instructions are LW_SUM_TAPS_I8 and LW_MAX_TAPS_I8. */
#include "schedules/arm/scale.h"

#include "support/text.h"

typedef struct Pool { const Stage *acc; bool is_max, leaves_input; int tap_axis[2], tap_axes; } Pool;

/* Returns true if acc reduces bytes of a tensor over up to two axes, with the channels last; a maximum may be
 * guarded. */
static bool read_pool(const Stage *acc, Pool *p)
{
    const Expr *e = acc->value[0], *channel = acc->axis[acc->data_count - 1].var;
    *p = (Pool){ .acc = acc, .is_max = acc->reducer == REDUCE_MAX };
    if (!p->is_max && acc->reducer != REDUCE_SUM) return false;
    if (!p->is_max) e = e->kind == EXPR_CAST && e->type == I32 ? e->arg[0] : NULL;
    p->leaves_input = p->is_max && e->kind == EXPR_SELECT && expr_is_int(e->arg[SELECT_NO], -128);
    if (p->leaves_input) e = e->arg[SELECT_YES];
    if (!e || e->kind != EXPR_READ || e->type != I8 || e->arg_count < 2 || e->arg[e->arg_count - 1] != channel)
        return false;
    for (int a = acc->data_count; a < acc->axis_count; a++) {
        if (axis_extent(acc, a) == 1) continue;
        if (p->tap_axes == 2 || axis_extent(acc, a) < 0) return false;
        p->tap_axis[p->tap_axes++] = a;
    }
    return p->tap_axes > 0;
}

/* Returns the only stage that reduces, if it has the shape of the only output. */
static const Stage *reducing_stage(const Nest *n)
{
    const Stage *found = NULL, *out = output_stage(n);
    for (int i = 0; i < n->stage_count; i++) {
        const Stage *s = n->stage[i];
        if (s->reducer == REDUCE_NONE) continue;
        if (found || s->out_count != 1 || s->data_count < 1 || s->data_count != out->data_count) return NULL;
        for (int d = 0; d < s->data_count; d++)
            if (axis_extent(s, d) < 0 || axis_extent(s, d) != axis_extent(out, d)) return NULL;
        found = s;
    }
    return n->output_count == 1 ? found : NULL;
}

/* Returns the instruction for all taps, or for one tap if windows leave the input. */
static const char *macro_of(const Pool *p)
{
    static const char *const macro[2][3] = { { NULL, "LW_SUM_TAPS_I8", "LW_SUM_WINDOW_I8" },
                                             { NULL, "LW_MAX_TAPS_I8", "LW_MAX_WINDOW_I8" } };
    return p->leaves_input ? "LW_MAX_IF_I8" : macro[p->is_max][p->tap_axes];
}

/* Moves the loops over taps outside the loop over channels, and the initial values before them. */
static const Nest *order_taps(Ctx *cx, const Nest *n, const Pool *p)
{
    const char *order[3], *c = loop_name(cx, p->acc, p->acc->data_count - 1);
    int count = 0;
    for (int i = 0; i < p->tap_axes; i++) order[count++] = loop_name(cx, p->acc, p->tap_axis[i]);
    order[count++] = c;
    n = sched_reorder(cx, n, order, count, false);
    n = sched_decompose_reduction(cx, n, p->acc->name, order[0]);
    return sched_tensorize(cx, n, p->leaves_input ? c : order[0], macro_of(p));
}

/* Returns the innermost loop of the output around its channels, or NULL if there is none. */
static const char *loop_around(Ctx *cx, const Nest *n, const Stage *out)
{
    Path found;
    for (int a = out->data_count - 2; a >= 0; a--)
        if (nest_find_loop(n, loop_name(cx, out, a), &found)) return loop_name(cx, out, a);
    return NULL;
}

static const Nest *schedule_max(Ctx *cx, const Nest *n, const Pool *p)
{
    const Stage *out = output_stage(n);
    const char *at = loop_around(cx, n, out);
    if (out != p->acc) {
        if (at) n = sched_compute_at(cx, n, p->acc->name, at);
        n = sched_set_scope(cx, n, p->acc->name, SCOPE_STACK);
    }
    return order_taps(cx, n, p);
}

static const Nest *schedule_sum(Ctx *cx, const GroupNest *g, const Nest *n, Pool *p)
{
    const Stage *out = output_stage(n);
    const int last = out->data_count - 1;
    const int64_t block = channel_tile(g->target, axis_extent(out, last));
    const char *c = loop_name(cx, out, last), *at;
    if (out == p->acc) {
        n = sched_cache_write(cx, n, p->acc->name, "acc", SCOPE_REGISTER);
        if (ctx_failed(cx) || !read_pool(nest_stage(n, "acc"), p)) return n;
    }
    const bool is_cut = axis_extent(out, last) > block;
    if (is_cut) n = sched_split(cx, n, c, block, TAIL_GUARD, NULL, NULL);
    at = is_cut ? text_format(cx, "%so", c) : loop_around(cx, n, out);
    if (at) n = sched_compute_at(cx, n, p->acc->name, at);
    n = sched_set_scope(cx, n, p->acc->name, SCOPE_REGISTER);
    n = order_taps(cx, n, p);
    c = is_cut ? text_format(cx, "%si", c) : c;
    if (ctx_failed(cx)) return n;
    if (scales_at_once(cx, g, nest_stage(n, out->name), block)) return scale_at_once(cx, n, out->name, c);
    if (target_has(g->target, "bytes")) return n;
    n = unroll_if_found(cx, n, text_format(cx, "%s@init.%s", p->acc->name, expr_as_var(p->acc->axis[last].var)->name));
    return unroll_if_found(cx, n, c);
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const Nest *n = inline_elementwise(cx, g->nest, NULL);
    Pool p;
    if (ctx_failed(cx) || !read_pool(nest_stage(n, reducing_stage(n)->name), &p)) return n;
    return p.is_max ? schedule_max(cx, n, &p) : schedule_sum(cx, g, n, &p);
}

/* Returns true for whole tiles of channels, and sums of up to 256 taps per window. The schedule tests whether the
 * layout of the taps suits the instruction. */
static bool applies(Ctx *cx, const GroupNest *g)
{
    enum { MOST_TAPS = 256 };
    const Stage *acc = reducing_stage(g->nest);
    const int64_t channels = acc ? last_extent(acc) : 0;
    if (!acc || channels % channel_tile(g->target, channels)) return false;
    DiagMark mark = diag_mark(cx);
    const Nest *n = inline_elementwise(cx, g->nest, NULL);
    Pool p;
    bool fits = !ctx_failed(cx) && read_pool(nest_stage(n, acc->name), &p);
    int64_t taps = 1;
    for (int i = 0; fits && i < p.tap_axes; i++) taps *= axis_extent(p.acc, p.tap_axis[i]);
    fits = fits && (p.is_max || taps <= MOST_TAPS);
    if (fits) schedule(cx, g);
    fits = fits && !ctx_failed(cx);
    diag_rewind(cx, mark);
    return fits;
}

#define POOL(needed)                                                                                                   \
    {                                                                                                                  \
        .name = "pool.bytes", .features = needed, .plevel = 12, .ops = "pattern:out-fusable pattern:reduction",        \
        .what = "windows of bytes, all taps at once for several channels", .applies = applies, .schedule = schedule    \
    }

const Implementation implementations_arm_pool[] = { POOL("rows dsp"), POOL("rows bytes"), { 0 } };
