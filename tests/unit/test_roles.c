/* SPDX-License-Identifier: MIT */
/* Roles in steps: the stages that have them, their meaning while steps change the nest, and the errors; the pattern
 * kind of every operator's computes. */
#include "check.h"

#include "import/te/te.h"
#include "ir/nest/pattern.h"
#include "op_cases.h"
#include "schedule/schedule.h"
#include "schedule/step/role.h"
#include "support/names.h"
#include "support/text.h"

static const char *first_error(Ctx *cx)
{
    for (const Diag *d = cx->diags; d; d = d->next)
        if (d->severity >= ERROR) return diag_text(cx, d);
    return "";
}

#define CONV "input x: f32[1][8][8][4]\ninput k: f32[3][3][4][8]\nc = conv2d(x, k, pad=1,1,1,1)\n"
static const char conv_relu[] = CONV "y = relu(c)\noutput y\n";
static const char chain[] = CONV "input b: f32[8]\nm = mul(c, b)\na = add(m, b)\ny = relu(a)\noutput y\n";
static const char diamond[] = CONV "p = relu(c)\nq = sigmoid(c)\ny = add(p, q)\noutput y\n";
static const char formula_sum[] = "input a: f32[4][6]\ninput b: f32[6][8]\n"
                                  "c[i, j] = sum(k) a[i, k] * b[k, j]\ny[i, j] = max(c[i, j], 0)\noutput y\n";
static const char two[] = "input x: f32[4][6]\ninput u: f32[6][6]\nc = dense(x, u)\nd = dense(c, u)\ny = relu(d)\n"
                          "output y\n";
static const char soft[] = "input x: f32[4][6]\ny = softmax(x, axis=1)\noutput y\n";

static const Nest *nest_of(Ctx *cx, const char *statements)
{
    Model m;
    if (!te_read(cx, "r.te", text_format(cx, "%snest\n", statements), NULL, &m)) return NULL;
    return nest_naive(cx, "r", m.input, m.input_count, m.output, m.output_count);
}

/* ---- Which stages ------------------------------------------------------------------------------------------------ */

static const char *stages_with(Ctx *cx, const Nest *n, const char *role)
{
    const Stage **all = NEW_ARRAY(cx->arena, const Stage *, n->stage_count);
    RoleFault fault;
    const int count = role_stages(cx, n, role, all, &fault);
    Text t = text_new(cx);
    if (count < 0) return fault.fault;
    for (int i = 0; i < count; i++) text_printf(&t, "%s%s", i ? " " : "", all[i]->name);
    return text_string(&t);
}

/* steps: separated by ';', applied before the role is resolved. */
typedef struct RoleCase { const char *test, *statements, *steps, *role, *expected; } RoleCase;
static const RoleCase cases[] = {
    { "contraction-of-conv", conv_relu, "", "@contraction", "c" },
    { "contraction-written-as-formula", formula_sum, "", "@contraction", "c" },
    { "contraction-several", two, "", "@contraction", "c d" },
    { "contraction-none", soft, "", "@contraction", "" },
    { "output-of-chain", chain, "", "@output", "y" },
    { "elementwise-without-outputs", chain, "", "@elementwise", "m a" },
    { "elementwise-none", conv_relu, "", "@elementwise", "" },
    { "elementwise-of-diamond", diamond, "", "@elementwise", "p q" },
    { "producer-of-name", chain, "", "@producer(a)", "m" },
    { "producer-of-role", chain, "", "@producer(@output)", "a" },
    { "producer-nested", chain, "", "@producer(@producer(@output))", "m" },
    { "producer-several", diamond, "", "@producer(y)", "p q" },
    { "op", chain, "", "@op(conv2d)", "c" },
    { "op-of-several-stages-is-the-result", soft, "", "@op(softmax)", "y" },
    { "op-none", formula_sum, "", "@op(dense)", "" },
    { "inlined-stage-is-gone", chain, "compute_inline m", "@elementwise", "a" },
    { "prologue-inlined-into-contraction", "input x: f32[4][6]\ninput w: f32[6][8]\nz = relu(x)\nc = dense(z, w)\n"
      "output c\n", "compute_inline z", "@contraction", "c" },
    { "cache-write-moves-contraction", conv_relu, "cache_write c register name=acc", "@contraction", "acc" },
    { "cache-write-leaves-a-copy", conv_relu, "cache_write c register name=acc", "@elementwise", "c" },
    { "cache-write-keeps-op", conv_relu, "cache_write c register name=acc", "@op(conv2d)", "c" },
    { "cache-write-of-output", "input a: f32[4][6]\ninput b: f32[6][8]\nc = dense(a, b)\noutput c\n",
      "cache_write c register name=acc", "@output", "c" },
    { "cache-read-is-elementwise", conv_relu, "cache_read k stack name=kk", "@elementwise", "kk" },
    { "cache-read-is-producer", "input a: f32[4][6]\ninput b: f32[6][8]\nc = dense(a, b)\noutput c\n",
      "cache_read b stack name=bb", "@producer(c)", "bb" },
    { "split-changes-no-role", conv_relu, "split c.w 4;reorder c.c c.o reassociate", "@contraction", "c" },
    { "compute-at-changes-no-role", conv_relu, "compute_at c y.w", "@contraction", "c" },
    { "rfactor-leaves-contraction-in-parts", formula_sum, "split c.k 2;rfactor c c.ki reassociate", "@contraction",
      "c_rf" },
    { "pad-keeps-op-and-role", formula_sum, "pad c j 16", "@contraction", "c" },
    { "reverse-inline-is-its-consumer", chain, "reverse_compute_inline a", "@elementwise", "a" },
    { "unknown-role", conv_relu, "", "@contracton", "there is no role @contracton" },
    { "producer-without-argument", conv_relu, "", "@producer", "'@producer' is no @producer" },
    { "producer-of-nothing", conv_relu, "", "@producer(zz)", "there is no stage zz" },
    { "roles-too-deep", conv_relu, "",
      "@producer(@producer(@producer(@producer(@producer(@producer(@producer(@producer("
      "@producer(@producer(@producer(@producer(@producer(@producer(@producer(@producer(@producer(y)))))))))))))))))",
      "more than 16 roles are inside one another" },
    { "output-with-argument", conv_relu, "", "@output(2)", "'@output(2)' is no @output" },
};

static void test_case(const RoleCase *t)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *n = nest_of(cx, t->statements);
    for (const char *s = t->steps; *s; s += strcspn(s, ";"), s += *s == ';')
        n = sched_step(cx, n, text_format(cx, "%.*s", (int)strcspn(s, ";"), s));
    const char *found = ctx_failed(cx) ? first_error(cx) : stages_with(cx, n, t->role);
    check_that(text_equal(found, t->expected), check_label(t->test, "finds-its-stages"),
               "%s: expected \"%s\", found \"%s\"", t->role, t->expected, found);
    ctx_free(cx);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* trace: the recorded steps, separated by ';', or part of the refusal. */
typedef struct StepCase { const char *test, *statements, *step, *trace; } StepCase;
static const StepCase steps[] = {
    { "step-of-every-elementwise-stage", chain, "compute_inline @elementwise", "compute_inline a;compute_inline m" },
    { "step-of-loops-of-a-role", conv_relu, "vectorize @contraction.o", "vectorize c.o" },
    { "step-with-two-roles", conv_relu, "compute_at @contraction @output.w", "compute_at c y.w" },
    { "step-of-a-list-of-loops", conv_relu, "reorder @contraction.c @contraction.o", "reorder c.c c.o" },
    { "step-of-loops-of-every-match", diamond, "split @elementwise.c 4", "split q.c 4;split p.c 4" },
    { "each-is-one-stage-in-all-operands", diamond, "fuse @elementwise.h @elementwise.w", "fuse q.h q.w;fuse p.h p.w" },
    { "consumers-first", chain, "compute_at @elementwise @output.w", "compute_at a y.w;compute_at m y.w" },
    { "readers-take-all-matches", diamond, "cache_read c stack readers=@elementwise",
      "cache_read c stack readers=p,q" },
    { "no-match-of-elementwise", conv_relu, "compute_inline @elementwise", "" },
    { "several-matches-are-listed", two, "unroll @contraction.o",
      "@contraction is 2 stages: c, d; use one of these names" },
    { "several-ops-are-listed", two, "unroll @op(dense).o", "@op(dense) is 2 stages: c, d" },
    { "several-producers-are-listed", diamond, "compute_at @producer(y) y.w", "@producer(y) is 2 stages: p, q" },
    { "no-match-is-refused", soft, "unroll @contraction.o",
      "no stage is @contraction; use y_power_peak, y_power, y_sum, y" },
    { "no-match-of-op-lists-ops", chain, "unroll @op(conv).o",
      "no stage is @op(conv); use conv2d, mul, add, relu" },
    { "misspelt-role-has-a-hint", chain, "compute_inline @elemntwise",
      "there is no role @elemntwise; use @elementwise" },
    { "nonsense-role-lists-all", chain, "compute_inline @q",
      "use @contraction, @output, @elementwise, @producer(NAME), @op(OPERATOR)" },
    { "a-refused-match-changes-nothing", diamond, "unroll @elementwise.nosuch", "there is no loop q.nosuch" },
    { "a-role-of-no-loop", conv_relu, "unroll @contraction.zz", "there is no loop c.zz" },
};

static void test_step(const StepCase *t)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *naive = nest_of(cx, t->statements), *n = naive;
    if (naive) n = sched_step(cx, naive, t->step);
    Text trace = text_new(cx);
    for (int i = 0; n && i < n->step_count; i++) text_printf(&trace, "%s%s", i ? ";" : "", step_text(cx, &n->step[i]));
    const char *found = ctx_failed(cx) ? first_error(cx) : text_string(&trace);
    const bool fits = ctx_failed(cx) ? strstr(found, t->trace) && *t->trace && n == naive : text_equal(found, t->trace);
    check_that(fits, check_label(t->test, *t->trace ? "expands-to-its-steps" : "changes-nothing"),
               "%s: expected \"%s\", found \"%s\"", t->step, t->trace, found);
    if (!*t->trace)
        CHECK("no-match-of-elementwise is noted",
              cx->diags && cx->diags->severity == NOTE && strstr(cx->diags->what, "no stage is @elementwise"));
    ctx_free(cx);
}

/* The init copy exists after decompose_reduction; its loops are written after the role. */
static void test_copies(void)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *n = nest_of(cx, conv_relu);
    n = sched_step(cx, n, "reorder @contraction.i @contraction.j @contraction.o");
    n = sched_step(cx, n, "decompose_reduction @contraction @contraction.i");
    n = sched_step(cx, n, "vectorize @contraction@init.o");
    check_that(!ctx_failed(cx) && n->step_count == 3 && text_equal(step_text(cx, &n->step[2]), "vectorize c@init.o"),
               "loops-of-a-copy", "%s", first_error(cx));
    ctx_free(cx);
}

/* ---- Patterns ---------------------------------------------------------------------------------------------------- */

typedef struct PatternCase { const char *formula; Pattern expected; } PatternCase;
static const PatternCase patterns[] = {
    { "y[i, j] = x[i, j] * 2", PATTERN_ELEMENTWISE },
    { "y[i, j] = x[i, j] + v[j]", PATTERN_BROADCAST },
    { "y[i, j] = x[i, j] / x[i, 0]", PATTERN_BROADCAST },
    { "y[i<6, j<6] = x[j, i]", PATTERN_INJECTIVE },
    { "y[i<6, j<5] = x[i, j+1]", PATTERN_INJECTIVE },
    { "y[i, j] = v[i32(x[i, j])]", PATTERN_ELEMENTWISE },
    { "y[i<6, j<6] = v[i32(x[j, i])]", PATTERN_INJECTIVE },
    { "y[i, j] = v[i32(x[i, j]) + j]", PATTERN_INJECTIVE },
    { "y[i] = max(k) x[i, k]", PATTERN_REDUCTION },
    { "y[i] = sum(k) x[i, k] * x[i, k]", PATTERN_REDUCTION },
    { "y[i] = sum(k) x[i, k] * v[0]", PATTERN_REDUCTION },
    { "y[i] = sum(k) (x[i, k] - v[i]) * (x[i, k] - v[i])", PATTERN_REDUCTION },
    { "y[i] = sum(k) exp(x[i, k] * x[k, i])", PATTERN_REDUCTION },
    { "y[i] = sum(k) x[i, k] * v[k]", PATTERN_OUT_FUSABLE },
    { "y[i, j] = sum(k) x[i, k] * x[j, k]", PATTERN_OUT_FUSABLE },
    { "y[i, j] = sum(k) (x[i, k] * 0.5 - 1) * x[k, j]", PATTERN_OUT_FUSABLE },
    { "y[i] = sum(k<3) (x[i, k-1]? * v[k] : 0)", PATTERN_OUT_FUSABLE },
    { "y[i ordered] = v[i]", PATTERN_OPAQUE },
};

static void test_pattern(const PatternCase *t)
{
    Ctx *cx = context_new(NULL, NULL);
    const char *text = text_format(cx, "input x: f32[6][6]\ninput v: f32[6]\n%s\noutput y\n", t->formula);
    const Nest *n = nest_of(cx, text);
    const Pattern found = n ? stage_pattern(cx, n->stage[0]) : PATTERN_OPAQUE;
    check_that(n && found == t->expected, text_format(cx, "the pattern of %s is inferred", t->formula),
               "expected %s, found %s %s", pattern_text(t->expected), pattern_text(found), first_error(cx));
    ctx_free(cx);
}

/* An operator that declares an index map is inferred as such or simpler: those of one stage are the oracle. */
static void test_declared(const Op *op, const OpCase *c)
{
    Made m = make_call(op->name, c->attrs, c->inputs);
    Tensor *const *out = m.node ? op_expand(m.cx, m.node) : NULL;
    const Node *made = out ? out[0]->producer : NULL;
    bool is_one = made && made->stage && made->stage->is_result;
    for (int i = 0; is_one && i < made->in_count; i++) is_one = !made->in[i]->producer;
    const Pattern found = is_one ? stage_pattern(m.cx, made->stage) : PATTERN_ELEMENTWISE;
    check_that(found <= op->fusion.pattern, "inferred patterns are the declared ones or simpler",
               "%s %s %s: declared %s, inferred %s", op->name, c->attrs, c->inputs, pattern_text(op->fusion.pattern),
               pattern_text(found));
    ctx_free(m.cx);
}

int main(void)
{
    CHECK_EACH(test_case, cases);
    CHECK_EACH(test_step, steps);
    CHECK_EACH(test_pattern, patterns);
    test_copies();
    Ctx *cx = context_new(NULL, NULL);
    int count;
    const Op *const *op = op_list(cx, &count);
    for (int i = 0; i < count; i++)
        for (const OpCase *c = op[i]->fusion.pattern <= PATTERN_INJECTIVE ? op[i]->cases : NULL; c && c->inputs; c++)
            if (!c->refusal) test_declared(op[i], c);
    ctx_free(cx);
    return check_done();
}
