/* SPDX-License-Identifier: MIT */
/* Schedules chains of short stages over the same elements: all stages of an element, or of a butterfly, are computed
 * together, and their values are variables. If it were inlined, a value with several readers would be computed once for
 * each of them. */
#include "schedules/product.h"

/* Computes all other stages at a loop of the output. A stage that then covers one element becomes a variable; other
 * stages become small arrays. */
static const Nest *attach_all(Ctx *cx, const Nest *n, const Stage *out, const char *loop)
{
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s == out) continue;
        n = sched_compute_at(cx, n, s->name, loop);
        if (ctx_failed(cx)) return n;
        const Stage *attached = nest_stage(n, s->name);
        bool is_element = true;
        Path p;
        for (int a = 0; a < attached->data_count; a++)
            is_element = is_element && !nest_find_loop(n, loop_name(cx, attached, a), &p);
        n = sched_set_scope(cx, n, attached->out[0]->name, is_element ? SCOPE_REGISTER : SCOPE_STACK);
    }
    return n;
}

/* Computes all stages at the last loop of the output. */
static const Nest *by_element(Ctx *cx, const GroupNest *g)
{
    const Stage *out = output_stage(g->nest);
    Path p;
    const char *loop = loop_name(cx, out, out->data_count - 1);
    return nest_find_loop(g->nest, loop, &p) ? attach_all(cx, g->nest, out, loop) : g->nest;
}

/* Unrolls each loop of the stage that is inside another one. */
static const Nest *unroll_axes(Ctx *cx, const Nest *n, const Stage *s)
{
    for (int a = s->data_count - 1; a >= 0 && !ctx_failed(cx); a--) n = unroll_if_found(cx, n, loop_name(cx, s, a));
    return n;
}

static const Nest *unroll_others(Ctx *cx, const Nest *n, const Stage *out)
{
    for (int i = 0; i < n->stage_count && !ctx_failed(cx); i++)
        if (n->stage[i] != out) n = unroll_axes(cx, n, n->stage[i]);
    return n;
}

/* Returns true if the overhead of a loop is large compared with a butterfly. */
static bool is_short(const Stage *out)
{
    enum { DIGIT = 1, LONG = 5 };
    return axis_extent(out, DIGIT) < LONG;
}

/* Schedules y[n,u,k,b,c]: for each n, k and b, computes the numbers of all u, with their parts. */
static const Nest *by_butterfly(Ctx *cx, const GroupNest *g)
{
    enum { ROW, DIGIT, PART, PLACE, HALF };
    const Stage *out = output_stage(g->nest);
    const Nest *n = g->nest;
    Path p;
    const char *digit = loop_name(cx, out, DIGIT), *around = NULL;
    static const int outer[] = { ROW, PART, PLACE };
    for (int i = 0; i < 3; i++) {
        const char *loop = loop_name(cx, out, outer[i]);
        if (!nest_find_loop(n, loop, &p)) continue;
        around = loop;
        if (outer[i] != ROW) n = sched_reorder(cx, n, (const char *[]){ loop, digit }, 2, false);
    }
    if (ctx_failed(cx) || !around) return n;
    n = unroll_others(cx, attach_all(cx, n, out, around), out);
    if (!ctx_failed(cx)) n = sched_unroll(cx, n, loop_name(cx, out, HALF));
    if (!ctx_failed(cx) && is_short(out)) n = sched_pragma(cx, n, around, "unroll 2");
    return ctx_failed(cx) ? n : sched_unroll(cx, n, digit);
}

/* Unrolls the last loop of each stage, which runs over the parts of complex numbers. */
static const Nest *unroll_halves(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->stage_count && !ctx_failed(cx); i++)
        n = unroll_if_found(cx, n, loop_name(cx, n->stage[i], n->stage[i]->data_count - 1));
    return n;
}

enum { PAIR = 1 };               /* the axis of numbers */

static bool reads_stage(Ctx *cx, const Stage *reader, const Stage *s)
{
    const Tensor **reads;
    const int count = stage_reads(cx, reader, &reads);
    for (int i = 0; i < count; i++)
        if (reads[i] == s->out[0]) return true;
    return false;
}

static int outputs_that_read(Ctx *cx, const Nest *n, const Stage *s)
{
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) count += makes_output(n, n->stage[i]) && reads_stage(cx, n->stage[i], s);
    return count;
}

/* Returns the inner stage that the largest number of outputs reads, the last one on a tie, or NULL. has_several:
 * considers stages with several numbers, otherwise only stages with one. */
static const Stage *shared_stage(Ctx *cx, const Nest *n, bool has_several)
{
    const Stage *found = NULL;
    int most = 0;
    for (int i = 0; i < n->stage_count; i++) {
        const Stage *s = n->stage[i];
        if (makes_output(n, s) || (axis_extent(s, PAIR) > 1) != has_several) continue;
        const int readers = outputs_that_read(cx, n, s);
        if (readers >= most) found = s, most = readers;
    }
    return found;
}

/* Computes the inner stages that have as many numbers as the host at the loop. If there is no loop, computes them as a
 * whole. */
static const Nest *attach_inner(Ctx *cx, const Nest *n, const Stage *host, const char *loop)
{
    Path p;
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (makes_output(n, s) || axis_extent(s, PAIR) != axis_extent(host, PAIR)) continue;
        const bool is_host = s->out[0] == host->out[0];
        if (nest_find_loop(n, loop, &p))
            n = is_host ? sched_store_at(cx, n, s->name, loop) : sched_compute_at(cx, n, s->name, loop);
        if (!ctx_failed(cx)) n = sched_set_scope(cx, n, s->out[0]->name, SCOPE_STACK);
    }
    return n;
}

/* Schedules results whose elements k and N - k follow from the same numbers: stores both in one iteration over these
 * numbers. */
static const Nest *by_pair(Ctx *cx, const GroupNest *g)
{
    const Nest *n = g->nest;
    for (int several = 1; several >= 0 && !ctx_failed(cx); several--) {
        const Stage *host = shared_stage(cx, n, several);
        Path p;
        if (!host) continue;
        const char *loop = loop_name(cx, host, several ? PAIR : 0);
        for (int i = 0; i < n->stage_count && nest_find_loop(n, loop, &p) && !ctx_failed(cx); i++)
            if (makes_output(n, n->stage[i]) && reads_stage(cx, n->stage[i], host))
                n = sched_reverse_compute_at(cx, n, n->stage[i]->name, loop);
        if (!ctx_failed(cx)) n = attach_inner(cx, n, host, loop);
        if (!ctx_failed(cx) && several) n = sched_pragma(cx, n, loop, "unroll 2");
    }
    return ctx_failed(cx) ? n : unroll_halves(cx, n);
}

const Implementation implementations_generic_together[] = {
    { .name = "together.elements", .plevel = 10, .ops = "gain_fixed log_fixed sqrt_rounded",
      .what = "all stages of an element", .schedule = by_element },
    { .name = "together.butterflies", .plevel = 10, .ops = "butterflies",
      .what = "all stages of a butterfly", .schedule = by_butterfly },
    { .name = "together.pairs", .plevel = 10, .ops = "pairs_of_spectrum spectrum_of_pairs",
      .what = "elements k and N - k", .schedule = by_pair },
    { 0 }
};
