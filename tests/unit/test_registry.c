/* SPDX-License-Identifier: MIT */
/* Everything in the registry against its operator: each case of each operator, under each implementation that is for it
 * (the naive nest among them), by the interpreter and by emitted C that the host's compiler builds. The oracle is the
 * evaluator on the operator's own compute; schedules keep the order of sums, so that all bits must be the same.
 *
 *   test_registry --interpret    emits the C, too, but builds none
 *   test_registry --one-in N     emits and builds every Nth nest */
#include "check.h"
#include "own_data.h"
#include "graphs.h"
#include "op_cases.h"

#include "context/context.h"
#include "tests/fuzz/emit_batch.c"

enum { BATCH = 400, MOST_IMPLEMENTATIONS = 256 };

typedef struct RegistryRun {
    EmitBatch *batch;
    const char *cc, *stem;
    int one_in, cases, nests, altered, wrong, unlowered, batches_wrong;
    int tried[MOST_IMPLEMENTATIONS];     /* by index in the registry: its nests */
} RegistryRun;

/* Returns the first element that differs; -1: none does. */
static int64_t first_other(const Tensor *t, const void *a, const void *b)
{
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        const size_t bytes = (size_t)dtype_info(t->type)->bytes, at = (size_t)i * bytes;
        if (memcmp((const char *)a + at, (const char *)b + at, bytes) == 0) continue;
        if (!dtype_is_float(t->type) || !isnan(dtype_load(t->type, a, i).f) || !isnan(dtype_load(t->type, b, i).f))
            return i;
    }
    return -1;
}

static double number_at(const Tensor *t, const void *data, int64_t i)
{
    const Scalar v = dtype_load(t->type, data, i);
    return dtype_is_float(t->type) ? v.f : (double)v.i;
}

/* "y[0,1,2] is 3, the operator gives 4"; NULL: all elements are the same */
static const char *difference(Ctx *cx, const Tensor *t, const void *found, const void *wanted)
{
    int64_t at[MAX_RANK];
    const int64_t first = first_other(t, found, wanted);
    if (first < 0) return NULL;
    for (int64_t d = t->rank - 1, rest = first; d >= 0; rest /= tensor_dim(t, (int)d), d--)
        at[d] = rest % tensor_dim(t, (int)d);
    return text_format(cx, "%s[%s] is %.9g, the operator gives %.9g", t->name, ints_text(cx, at, t->rank),
                       number_at(t, found, first), number_at(t, wanted, first));
}

static void flush(RegistryRun *r)
{
    if (r->cc && emit_batch_count(r->batch)) {
        const int wrong = emit_batch_run(
            r->batch, r->stem, r->cc,
            "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O0 -ffp-contract=off");
        if (wrong) printf("# %d mismatches (-1: no result)\n", wrong);
        r->batches_wrong += wrong != 0;
    }
    emit_batch_free(r->batch);
    r->batch = emit_batch_new();
}

/* No row that schedules is left out. */
static void check_all_tried(Ctx *cx, const RegistryRun *r)
{
    int count;
    const Implementation *const *all = implementation_list(cx, &count);
    for (int i = 0; i < count && i < MOST_IMPLEMENTATIONS; i++)
        if (!all[i]->alter && strcmp(all[i]->ops, "foreign_call") != 0)
            check_that(r->tried[i] > 0, text_format(cx, "%s for %s is tried", all[i]->name, implementation_for(all[i])),
                "no operator's case is for it");
}

typedef struct Case {
    RegistryRun *run;
    Ctx *cx;
    const Node *call;
    const Group *group;
    const void *wanted[MAX_OUTPUTS];
    const char *label;
} Case;

static void check_nest(Case *c, const Nest *n, const char *whose)
{
    Env *found = env_new(c->cx), *wanted = env_new(c->cx);
    const char *label = text_format(c->cx, "%s by %s", c->label, whose);
    const bool ran = n && interpret(c->cx, n, found, &(RunOptions){ .checked = true });
    const char *differs = NULL;
    for (int i = 0; ran && !differs && i < n->output_count; i++)
        differs = difference(c->cx, n->output[i], env_get(found, n->output[i]), c->wanted[i]);
    const bool is_emitted = c->run->nests++ % c->run->one_in == 0;
    if (!ran || differs) {
        c->run->wrong++;
        check_that(false, label, "the interpreter: %s", differs ? differs : c->cx->diags
                   ? diag_text(c->cx, c->cx->diags) : "it does not run");
        return;
    }
    if (!is_emitted) return;
    for (int i = 0; i < n->output_count; i++) env_set_const(wanted, n->output[i], c->wanted[i]);
    for (int i = 0; i < n->input_count; i++) env_set_const(wanted, n->input[i], n->input[i]->data);
    if (!emit_batch_add(c->run->batch, c->cx, label, n, wanted)) {
        c->run->unlowered++;
        check_that(false, label, "not lowered: %s", c->cx->diags ? diag_text(c->cx, c->cx->diags) : "");
    }
    if (emit_batch_count(c->run->batch) == BATCH) flush(c->run);
}

static const Nest *naive_nest(Ctx *cx, const Group *g)
{
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, g->input_count), **out = group_expand(cx, g, NULL, input, NULL);
    return out ? nest_naive(cx, g->name, input, g->input_count, out, g->output_count) : NULL;
}

static bool define(Case *c)
{
    Tensor *const *out = op_expand(c->cx, c->call);
    Env *env = env_new(c->cx);
    if (!evaluate(c->cx, env, out, c->call->out_count)) return false;
    for (int i = 0; i < c->call->out_count; i++) c->wanted[i] = env_get(env, out[i]);
    return true;
}

/* The altered calls of rows give the same values for every target, too. */
static void check_altered(Case *c, const Graph *was)
{
    int count;
    const Target *const *target = target_list(c->cx, &count);
    for (int t = 0; t < count && !ctx_failed(c->cx); t++) {
        Net net = { .cx = c->cx };
        Graph g = *was;
        const void *found[NET_ROOM] = { NULL };
        g.target = target[t];
        g = graph_alter(c->cx, g);
        if (count_calls(&net, &g, NULL) == 1 && g.output[0]->producer->op == c->call->op) continue;
        const bool ran = evaluate_graph(&net, &g, NULL, found);
        const char *differs = NULL;
        for (int i = 0; ran && !differs && i < g.output_count; i++)
            differs = difference(c->cx, g.output[i], found[i], c->wanted[i]);
        c->run->altered++;
        if (!ran || differs)
            check_that(false, text_format(c->cx, "%s altered for %s to %s", c->label, target[t]->name,
                                          g.output[0]->producer->op->name), "%s", differs ? differs : net_error(&net));
    }
}

/* The naive nest and the nest of every implementation of the group. */
static void check_group(Case *c)
{
    int count;
    const Implementation *const *all = implementation_list(c->cx, &count);
    check_nest(c, naive_nest(c->cx, c->group), "the naive nest");
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) {
        const Target *first = implementation_target(c->cx, all[i]);
        /* The operator's values have each operation rounded */
        const Target *t = first ? target_without(c->cx, first, "fma") : NULL;
        const Nest *n = implementation_nest(c->cx, c->group, t, all[i]);
        c->run->tried[i] += n != NULL;
        if (n || ctx_failed(c->cx)) check_nest(c, n, text_format(c->cx, "%s for %s", all[i]->name,
            implementation_for(all[i])));
    }
}

static void check_case(RegistryRun *run, const Op *op, const OpCase *row)
{
    Made m = make_call(op->name, row->attrs, row->inputs);
    Ctx *cx = m.cx;
    const char *label = text_format(cx, "%s %s %s equals the operator in every implementation", op->name,
                                    row->attrs, row->inputs);
    if (!check_that(m.node != NULL, label, "%s", cx->diags ? diag_text(cx, cx->diags) : "no call")) return;
    const Graph g = { .name = "net", .output_count = m.node->out_count, .output = m.node->out };
    const Groups groups = fuse(cx, &g);
    Case c = { run, cx, m.node, groups.count == 1 ? &groups.at[0] : NULL, { NULL }, label };
    if (check_that(c.group && define(&c), label, "no group of its own, or no values")) {
        check_altered(&c, &g);
        check_group(&c);
    }
    run->cases++;
    ctx_free(cx);
}

/* A group of several calls: the sum of two quantized tensors. */
static void check_addition(RegistryRun *run)
{
    Net net = net_new(5);
    Ctx *cx = net.cx;
    Tensor *x[2], *up[2];
    for (int i = 0; i < 2; i++) {
        x[i] = tensor_constant(cx, i ? "b" : "a", I8, SHAPE(2, 3, 7), NULL);
        fill(x[i], own_data(cx, x[i]), &net.seed);
        up[i] = one(&net, "rescale", "up", x[i],
                    i ? "to=i32 left=20 zero_x=-128 multiplier=1623821475 shift=2"
                      : "to=i32 left=20 zero_x=4 multiplier=1073741824");
    }
    net_output(&net, one(&net, "rescale", "y", two(&net, "add", "both", up[0], up[1], ""),
                         "to=i8 multiplier=1098017566 shift=17 zero=-5"));
    const Graph g = net_graph(&net);
    const Groups groups = fuse(cx, &g);
    Case c = {
        run, cx, NULL, groups.count == 1 ? &groups.at[0] : NULL, { NULL },
        "a quantized addition equals its formula in every implementation"
    };
    if (check_that(c.group && evaluate_graph(&net, &g, NULL, c.wanted), c.label, "no group of its own, or no values"))
        check_group(&c);
    run->cases++;
    ctx_free(cx);
}

int main(int argc, char **argv)
{
    const bool builds = argc < 2 || strcmp(argv[1], "--interpret") != 0;
    const int one_in = argc > 2 && strcmp(argv[1], "--one-in") == 0 ? atoi(argv[2]) : 1;
    const char *cc = getenv("CC"), *folder = getenv("TMPDIR");
    char stem[1024], find[256];
    Ctx *cx = context_new(NULL, NULL);
    snprintf(stem, sizeof stem, "%s/lw_registry", folder ? folder : "/tmp");
    snprintf(find, sizeof find, "command -v %s >/dev/null 2>&1", cc && *cc ? cc : "cc");
    RegistryRun run = {
        emit_batch_new(), builds && system(find) == 0 ? cc && *cc ? cc : "cc" : NULL, stem, one_in, 0, 0, 0, 0, 0, 0,
        { 0 }
    };
    int count;
    const Op *const *op = op_list(cx, &count);
    for (int i = 0; i < count; i++)
        for (const OpCase *row = op[i]->cases; row && row->inputs; row++)
            if (!row->refusal && row->output && !op[i]->meaning.is_foreign) check_case(&run, op[i], row);
    check_addition(&run);
    flush(&run);
    check_all_tried(cx, &run);
    printf("# %d cases, %d nests, %d altered\n", run.cases, run.nests, run.altered);
    check_that(run.altered > 0, "calls that targets alter are among them", "none was");
    check_that(run.wrong == 0 && run.nests > 2 * run.cases, "every implementation equals its operator: interpreter",
               "%d of %d nests do not", run.wrong, run.nests);
    if (run.cc)
        check_that(run.batches_wrong == 0 && run.unlowered == 0, "every implementation equals its operator: emitted C",
                   "see above");
    else if (builds) check_skip("every implementation equals its operator: emitted C", "no C compiler to run");
    emit_batch_free(run.batch);
    ctx_free(cx);
    return check_done();
}
