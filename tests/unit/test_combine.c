/* SPDX-License-Identifier: MIT */
/* Combining groups: each row is computed once in chains, diamonds and residual blocks; the loop is chosen among all of
 * the consumer; groups that stay apart have a reason and a count; RAM never grows. */
#include "check.h"
#include "context/context.h"
#include "driver/combine_layers.h"
#include "ir/check/check.h"
#include "ir/text/step.h"
#include "support/text.h"

static const char conv_conv_pool[] =
    "input x: f32[1][32][32][4]\n"
    "input k: f32[3][3][4][8]\n"
    "input k2: f32[3][3][8][8]\n"
    "a = conv2d(x, k, pad=1,1,1,1)\n"
    "b = conv2d(a, k2, pad=1,1,1,1)\n"
    "y = max_pool2d(b, kernel=2,2, stride=2,2)\n"
    "output y\n";

static const char residual_blocks[] =
    "input x: f32[1][24][16][4]\n"
    "input k: f32[3][3][4][4]\n"
    "a0 = conv2d(x, k, pad=1,1,1,1)\n"
    "c0 = conv2d(relu(a0), k, pad=1,1,1,1)\n"
    "r0 = relu(add(x, c0))\n"
    "a1 = conv2d(r0, k, pad=1,1,1,1)\n"
    "c1 = conv2d(relu(a1), k, pad=1,1,1,1)\n"
    "r1 = relu(add(r0, c1))\n"
    "a2 = conv2d(r1, k, pad=1,1,1,1)\n"
    "c2 = conv2d(relu(a2), k, pad=1,1,1,1)\n"
    "y = relu(add(r1, c2))\n"
    "output y\n";

/* Two branches of different windows, and a stride behind them. */
static const char diamond[] =
    "input x: f32[1][32][16][4]\n"
    "input k: f32[3][3][4][4]\n"
    "input k1: f32[1][1][4][4]\n"
    "a = conv2d(x, k, pad=1,1,1,1)\n"
    "b = conv2d(relu(a), k, pad=1,1,1,1)\n"
    "c = conv2d(relu(a), k1)\n"
    "d = add(b, c)\n"
    "y = max_pool2d(d, kernel=2,2, stride=2,2)\n"
    "output y\n";

typedef struct Net { Ctx *cx; Build b; lw_options options; } Net;

static bool read_net(Net *n, const char *text, const char *combine, const char *target)
{
    n->cx = context_new(NULL, NULL);
    n->options = (lw_options){ .name = "net", .combine = combine, .target = target };
    const bool ok = build_read_text(&n->b, n->cx, "net.te", text, false, &n->options) && build_graph(&n->b)
        && build_nests(&n->b);
    check_that(ok, "a net is read and scheduled", "%s", n->cx->diags ? diag_text(n->cx, n->cx->diags) : "");
    return ok;
}

static int64_t work_of(Ctx *cx, const Nest *n)
{
    const NestCost c = nest_cost(cx, n);
    return c.loads + c.stores + c.multiply_adds;
}

static int64_t arena_of(const char *text, const char *combine, const char *target)
{
    Net n;
    const int64_t arena = read_net(&n, text, combine, target) && build_program(&n.b) ? n.b.plan.arena_size : -1;
    ctx_free(n.cx);
    return arena;
}

/* ---- Once -------------------------------------------------------------------------------------------------------- */

/* Adds every group to the last one, the last first, in the first loop that repeats nothing. */
static void computes_once(const char *name, const char *text, const char *target)
{
    Net n;
    const char *why = "";
    if (!read_net(&n, text, "none", target)) return;
    const CombineInput in = { n.cx, &n.b.graph, &n.b.groups, n.b.scheduled.nest, n.b.scheduled.chosen, n.b.target,
                              NULL };
    int64_t apart = 0;
    for (int i = 0; i < n.b.groups.count; i++) apart += work_of(n.cx, n.b.scheduled.nest[i]);
    Combination now = combine_alone(&in, n.b.groups.count - 1);
    for (int i = n.b.groups.count - 2; i >= 0 && why; i--) {
        Choice choice[1];
        if (!combine_add(&in, &now, i, false, 1, choice, &why)) break;
        now = choice[0].with;
        why = "";
    }
    check_that(now.count == n.b.groups.count, name, "%d of %d groups: %s", now.count, n.b.groups.count,
               why ? why : "");
    check_that(work_of(n.cx, now.nest) <= apart, name, "loads, stores and multiply-adds: %lld, apart %lld",
               (long long)work_of(n.cx, now.nest), (long long)apart);
    check_that(!nest_refusal(n.cx, now.nest), name, "the nest is proved");
    ctx_free(n.cx);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* The consumer's outermost loop runs over columns: rows are in the loop inside it. */
static const char columns_first[] =
    "input x: f32[1][16][16][4]\n"
    "input k: f32[3][3][4][4]\n"
    "a = conv2d(x, k, pad=1,1,1,1)\n"
    "y = max_pool2d(a, kernel=2,2, stride=2,2)\n"
    "output y\n"
    "schedule y\n"
    "  split y.c 2\n"
    "  reorder y.co y.w y.h y.ci\n";

static void any_loop(void)
{
    Net n;
    const char *why;
    Choice choice[MOST_CHOICES];
    if (!read_net(&n, columns_first, "none", "cortex-m4")) return;
    const CombineInput in = { n.cx, &n.b.graph, &n.b.groups, n.b.scheduled.nest, n.b.scheduled.chosen, n.b.target,
                              NULL };
    const Combination y = combine_alone(&in, 1);
    const int count = combine_add(&in, &y, 0, false, MOST_CHOICES, choice, &why);
    bool inside = false;
    for (int i = 0; i < count; i++) inside = inside || !text_equal(choice[i].with.loop[0], "y_y.co");
    check_that(inside, "a loop inside the outermost one is chosen", "%d choices: %s", count, count ? "" : why);
    ctx_free(n.cx);
}

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

static const char *report_of(Net *n, const char *text, const char *combine)
{
    return read_net(n, text, combine, "cortex-m4") && n->b.scheduled.combine_text ? n->b.scheduled.combine_text : "";
}

static void sets(void)
{
    Net n;
    const char *said = report_of(&n, conv_conv_pool, "all");
    check_that(n.b.groups.count == 1, "a chain is one group", "%d: %s", n.b.groups.count, said);
    ctx_free(n.cx);
    said = report_of(&n, conv_conv_pool, "b,y");
    check_that(n.b.groups.count == 2 && strstr(said, "combined around y\n  b is computed in each") != NULL,
               "a named set leaves the other groups apart", "%s", said);
    ctx_free(n.cx);
    said = report_of(&n, conv_conv_pool, "a,b,y@b");
    check_that(n.b.groups.count == 3 && strstr(said, "b stays apart: it is the master"), "the master is after @", "%s",
               said);
    ctx_free(n.cx);
    said = report_of(&n, residual_blocks, "all");
    check_that(strstr(said, " stays apart: in each") && strstr(said, "instructions counted"),
               "what stays apart has a reason and a count", "%s", said);
    ctx_free(n.cx);
}

static void ram_never_grows(void)
{
    static const char *const nets[] = { conv_conv_pool, residual_blocks, diamond };
    static const char *const targets[] = { "generic", "cortex-m4" };
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < 2; t++) {
            const int64_t none = arena_of(nets[i], "none", targets[t]), own = arena_of(nets[i], NULL, targets[t]),
                          all = arena_of(nets[i], "all", targets[t]);
            check_that(all >= 0 && all <= own && own <= none, "all has at most the default's RAM, and that of none",
                       "%lld, %lld, %lld", (long long)all, (long long)own, (long long)none);
        }
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static const char stopped[] =
    "input x: f32[1][32][32][4]\n"
    "input k: f32[3][3][4][8]\n"
    "a = conv2d(x, k, pad=1,1,1,1)\n"
    "s = annotation.stop_fusion(a)\n"
    "y = max_pool2d(s, kernel=2,2, stride=2,2)\n"
    "output y\n";

static void stop_leaves_no_copy(void)
{
    Net n;
    const char *said = report_of(&n, stopped, "all");
    bool copies = false;
    for (int i = 0; i < n.b.scheduled.nest[0]->stage_count; i++)
        copies = copies || text_equal(n.b.scheduled.nest[0]->stage[i]->part, "s");
    check_that(n.b.groups.count == 1 && !copies && strstr(said, "s is inlined"),
               "stop_fusion leaves no copy in a combined group", "%s", said);
    ctx_free(n.cx);
}

/* Parts with steps of the file keep them, under longer names. */
static const char scheduled[] =
    "input x: f32[1][32][32][4]\n"
    "input k: f32[3][3][4][8]\n"
    "a = conv2d(x, k, pad=1,1,1,1)\n"
    "y = max_pool2d(a, kernel=2,2, stride=2,2)\n"
    "output y\n"
    "schedule a\n"
    "  split a.w 4\n"
    "  reorder a.wo a.o a.wi\n"
    "schedule y\n"
    "  split y.w 4\n";

static void parts_keep_their_steps(void)
{
    Net n;
    const char *said = report_of(&n, scheduled, "a,y");
    bool found[3] = { false };
    for (int i = 0; i < n.b.scheduled.nest[0]->step_count; i++) {
        const char *step = step_text(n.b.cx, &n.b.scheduled.nest[0]->step[i]);
        found[0] = found[0] || text_equal(step, "split a_a.w 4");
        found[1] = found[1] || text_equal(step, "reorder a_a.wo a_a.o a_a.wi");
        found[2] = found[2] || text_equal(step, "split y_y.w 4");
    }
    check_that(n.b.groups.count == 1 && found[0] && found[1] && found[2],
               "two schedules of the file become one with the steps of both", "%s", said);
    ctx_free(n.cx);
}

/* ---- Without statements ------------------------------------------------------------------------------------------ */

/* The upper triangle of one row is the row, in place: its function has no statements. */
static const char kept_whole[] =
    "input x: f32[1][4]\n"
    "a = softmax(x)\n"
    "y = trilu(a)\n"
    "output y\n";

static void without_effect(void)
{
    Net n;
    const char *said = report_of(&n, kept_whole, "all");
    check_that(!ctx_failed(n.cx) && n.b.groups.count == 2, "a function without statements counts no instructions",
               "%d groups: %s", n.b.groups.count, said);
    ctx_free(n.cx);
}

int main(void)
{
    computes_once("conv-conv-pool computes nothing twice", conv_conv_pool, "generic");
    computes_once("conv-conv-pool computes nothing twice on cortex-m4", conv_conv_pool, "cortex-m4");
    computes_once("three residual blocks compute nothing twice", residual_blocks, "generic");
    computes_once("three residual blocks compute nothing twice on cortex-m4", residual_blocks, "cortex-m4");
    computes_once("a diamond computes nothing twice", diamond, "cortex-m4");
    CHECK_RUN(any_loop, sets, ram_never_grows, stop_leaves_no_copy, parts_keep_their_steps, without_effect);
    return check_done();
}
