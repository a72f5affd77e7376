/* SPDX-License-Identifier: MIT */
/* Formulas are calls: pattern kinds, fusion, strategies, schedules of groups, annotations, memory; the same from C. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "cgen/cgen.h"
#include "context/context.h"
#include "driver/driver.h"
#include "graph/dag/definition.h"
#include "ir/text/formula.h"
#include "ir/text/step.h"
#include "support/names.h"
#include "support/text.h"

/* ---- A file through all passes to a program ---------------------------------------------------------------------- */

static const char *first_error(Ctx *cx)
{
    for (const Diag *d = cx->diags; d; d = d->next)
        if (d->severity >= ERROR) return diag_text(cx, d);
    return "no error";
}

static const lw_options plain = { .name = "net", .combine = "none" };

static bool compiled_by(Ctx *cx, Build *b, const char *text, const lw_options *o)
{
    *b = (Build){ .cx = cx };
    return build_read_text(b, cx, "net.te", text, false, o) && build_graph(b) && build_nests(b) && build_program(b);
}

static bool compiled(Ctx *cx, Build *b, const char *text) { return compiled_by(cx, b, text, &plain); }

/* "c! y | z!": the calls of each group, anchors marked. */
static const char *groups_of(Ctx *cx, const Build *b)
{
    Text t = text_new(cx);
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        text_add(&t, i ? " | " : "");
        for (int j = 0; j < g->node_count; j++)
            text_printf(&t, "%s%s%s", j ? " " : "", g->node[j]->name, g->node[j] == g->anchor ? "!" : "");
    }
    return text_string(&t);
}

static void check_groups(const char *label, const char *text, const char *wanted)
{
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    const char *found = compiled(cx, &b, text) ? groups_of(cx, &b) : first_error(cx);
    check_that(strcmp(found, wanted) == 0, label, "%s; expected %s", found, wanted);
    ctx_free(cx);
}

static int group_at(const Build *b, const char *called)
{
    for (int i = 0; i < b->groups.count; i++)
        if (strcmp(b->groups.at[i].name, called) == 0) return i;
    return -1;
}

static const char *steps_of(Ctx *cx, const Build *b, const char *group)
{
    const int g = group_at(b, group);
    Text t = text_new(cx);
    if (g < 0) return "no such group";
    const Nest *n = b->scheduled.nest[g];
    for (int i = 0; i < n->step_count; i++) text_printf(&t, "%s;", step_text(b->cx, &n->step[i]));
    return text_string(&t);
}

/* ---- Pattern kinds ----------------------------------------------------------------------------------------------- */

typedef struct Kind { const char *statements; Pattern pattern; } Kind;
static const Kind kinds[] = {
    { "y[i, j] = x[i, j] * 2 + 1", PATTERN_ELEMENTWISE },
    { "y[*] = max(x[*], 0)", PATTERN_ELEMENTWISE },
    { "y[i, j] = x[i, j] * x[i, j]", PATTERN_ELEMENTWISE },
    { "y[i, j] = x[i, j] + b[j]", PATTERN_BROADCAST },
    { "y[i<4, j] = b[j] * 2 + f32(i)", PATTERN_BROADCAST },
    { "y[i, j<6] = b[0] * f32(j) + f32(i) * 0 + x[i, 0] * 0", PATTERN_INJECTIVE },
    { "y[i<3] = f32(i)", PATTERN_BROADCAST },
    { "y[j, i] = x[i, j]", PATTERN_INJECTIVE },
    { "y[i<4, j] = x[3 - i, j]", PATTERN_INJECTIVE },
    { "y[i<2, j] = x[i, j]", PATTERN_INJECTIVE },
    { "y[k, j] = x[at[k], j]", PATTERN_INJECTIVE },
    { "y[i] = sum(j) x[i, j]", PATTERN_REDUCTION },
    { "y[i] = sum(j) x[i, j] * x[i, j]", PATTERN_REDUCTION },
    { "y, v[i] = argmax(j) x[i, j]", PATTERN_REDUCTION },
    { "y[i] = sum(j) x[i, j] * b[j]", PATTERN_OUT_FUSABLE },
    { "y[i, k] = sum(j) x[i, j] * w[j, k]", PATTERN_OUT_FUSABLE },
    { "y[i, j<3] = max(k<2) x[i, j * 2 + k]", PATTERN_OUT_FUSABLE },
    { "y[i] = max(j) abs(x[i, j] - m[i])", PATTERN_OUT_FUSABLE },
    { "y[i, j] = (x[i, j-1]? : 0) + x[i, j]", PATTERN_OUT_FUSABLE },
    { "promise y: f32[4][6]\ny[i ordered, j] = x[i, j] + (y[i-1, j]? : 0)", PATTERN_OPAQUE },
};

static void test_patterns(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Build b = { .cx = cx };
        const char *text = text_format(cx, "input x: f32[4][6]\ninput b: f32[6]\ninput w: f32[6][5]\ninput m: f32[4]\n"
                                           "input at: i32[3]\n%s\noutput y\n", kinds[i].statements);
        const bool ok = build_read_text(&b, cx, "net.te", text, false, &plain);
        const Node *n = ok ? b.model.output[0]->producer : NULL;
        const char *found = !n ? first_error(cx) : pattern_text(n->op->fusion.pattern);
        check_that(n && n->op->definition && strcmp(found, pattern_text(kinds[i].pattern)) == 0,
                   name_format(cx, "the pattern kind is inferred: %s", kinds[i].statements), "%s; expected %s", found,
                   pattern_text(kinds[i].pattern));
        ctx_free(cx);
    }
}

/* ---- Fusion ------------------------------------------------------------------------------------------------------ */

#define IMAGE "input x: f32[1][8][8][4]\ninput k: f32[3][3][4][6]\nc = conv2d(x, k, pad=1)\n"
#define ROWS "input x: f32[4][6]\ninput w: f32[6][5]\n"

static void test_fusion(void)
{
    check_groups("an elementwise formula fuses into a conv", IMAGE "y[n, h, v, o] = max(c[n, h, v, o], 0)\noutput y\n",
                 "c! y");
    check_groups("a broadcast formula fuses into a conv",
                 IMAGE "input b: f32[6]\ns[n, h, v, o] = c[n, h, v, o] + b[o]\ny = relu(s)\noutput y\n", "c! s y");
    check_groups("a formula between two calls fuses as a call does",
                 ROWS "p = dense(x, w)\ns[i, j] = p[i, j] * 2\ny = tanh(s)\noutput y\n", "p! s y");
    check_groups("an operator fuses into a contraction written as a formula",
                 ROWS "p[i, j] = sum(k) x[i, k] * w[k, j]\ny = relu(p)\noutput y\n", "p! y");
    check_groups("an elementwise formula fuses into a reduction",
                 ROWS "t[i, j] = abs(x[i, j])\ny = reduce_sum(t, axes=1)\noutput y\n", "t y!");
    check_groups("a producer that a stencil would compute twice stays apart",
                 ROWS "t = exp(x)\ny[i, j] = (t[i, j-1]? : 0) + t[i, j]\noutput y\n", "t! | y!");
    check_groups("a producer that a contraction would compute again stays apart",
                 ROWS "t = exp(x)\ny[i, j] = sum(k) t[i, k] * w[k, j]\noutput y\n", "t! | y!");
    check_groups("a conv is not fused into a gather", IMAGE "input at: i32[3]\n"
                 "y[n, a, v, o] = c[n, at[a], v, o]\noutput y\n", "c! | y!");
    check_groups("stop_fusion acts on formulas",
                 ROWS "p = dense(x, w)\ns = annotation.stop_fusion(p)\ny[i, j] = s[i, j] * 2\noutput y\n",
                 "p! | s! | y!");
    check_groups("the formulas of a recurrence are one call",
                 ROWS "promise c: f32[4][6]\nh[t ordered, j] = tanh(x[t, j] + (c[t-1, j]? : 0))\n"
                      "c[t ordered, j] = h[t, j] * 0.5 + (c[t-1, j]? : 0)\ny = relu(h)\noutput y, c\n", "h! | y!");
}

/* ---- Strategies -------------------------------------------------------------------------------------------------- */

/* Returns the code without the letters of its names. */
static const char *without_names(Ctx *cx, const char *code)
{
    Text t = text_new(cx);
    while (*code) {
        size_t n = 0;
        while ((code[n] >= 'a' && code[n] <= 'z') || (code[n] >= 'A' && code[n] <= 'Z') || code[n] == '_'
               || (n && code[n] >= '0' && code[n] <= '9'))
            n++;
        text_char(&t, n ? '@' : *code);
        code += n ? n : 1;
    }
    return text_string(&t);
}

static const char *only_function(Ctx *cx, const char *text, const char *target)
{
    Build b;
    const lw_options o = { .name = "net", .combine = "none", .target = target };
    if (!compiled_by(cx, &b, text, &o) || b.groups.count != 1) return first_error(cx);
    Function f = *b.lowered.function[0];
    Text t = text_new(cx);
    const Program nameless = { .name = "" };
    f.comment_count = 0;
    cgen_function(cx, &t, &nameless, &f);
    return without_names(cx, text_string(&t));
}

static void test_contraction(void)
{
    static const char *const targets[] = { "generic", "cortex-m4", "x86-avx2" };
    for (int i = 0; i < 3; i++) {
        Ctx *cx = context_new(NULL, NULL);
        const char *by_op = only_function(cx, "input x: f32[24][20]\ninput w: f32[20][30]\np = matmul(x, w)\n"
                                              "y = relu(p)\noutput y\n", targets[i]);
        const char *by_formula = only_function(cx, "input x: f32[24][20]\ninput w: f32[20][30]\n"
                                                   "p[n, c] = sum(k) x[n, k] * w[k, c]\ny[n, c] = max(p[n, c], 0)\n"
                                                   "output y\n", targets[i]);
        check_that(strcmp(by_op, by_formula) == 0,
                   name_format(cx, "a product written as a formula has the loops of matmul: %s", targets[i]), "%s\n%s",
                   by_op, by_formula);
        ctx_free(cx);
    }
}

static void test_schedules_beside(void)
{
    static const char with[] = ROWS "t[i, j] = x[i, j] * 2 + 1\ns = softmax(x)\np = matmul(s, w)\noutput p, t\n";
    static const char without[] = ROWS "s = softmax(x)\np = matmul(s, w)\noutput p\n";
    Ctx *cx = context_new(NULL, NULL);
    Build a, b;
    const bool ok = compiled(cx, &a, with) && compiled(cx, &b, without);
    check_that(ok && strcmp(steps_of(cx, &a, "s"), steps_of(cx, &b, "s")) == 0 && *steps_of(cx, &a, "s"),
               "a formula leaves the schedule of softmax as it is", "%s", first_error(cx));
    check_that(ok && strcmp(steps_of(cx, &a, "p"), steps_of(cx, &b, "p")) == 0 && *steps_of(cx, &a, "p"),
               "a formula leaves the schedule of matmul as it is", "%s", first_error(cx));
    ctx_free(cx);
}

static void test_equal_formulas(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    const bool ok = compiled(cx, &b, "input x: f32[4][6]\ninput z: f32[4][6]\nt[i, j] = x[i, j] * 2 + 1\n"
                                     "u[i, j] = z[i, j] * 2 + 1\nv[i, j] = z[i, j] * 2 + 2\noutput t, u, v\n");
    Function *const *f = ok ? b.lowered.function : NULL;
    check_that(ok && b.groups.count == 3 && f[0] == f[1] && f[0] != f[2],
               "equal formulas share a function", "%s", first_error(cx));
    check_that(ok && b.groups.at[0].anchor->op == b.groups.at[1].anchor->op, "equal formulas share a row", "%s", "");
    ctx_free(cx);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static const void *result_of(Ctx *cx, const char *text, const void *const *in)
{
    Build b;
    const void *out[8];
    return compiled(cx, &b, text) && build_run(&b, in, out) ? out[0] : NULL;
}

static void test_values(void)
{
    Ctx *cx = context_new(NULL, NULL);
    float x[4][6], w[6][5];
    for (int i = 0; i < 24; i++) x[i / 6][i % 6] = (float)(i % 7) * 0.25f - 0.5f;
    for (int i = 0; i < 30; i++) w[i / 5][i % 5] = (float)(i % 5) - 1.5f;
    const void *in[] = { x, w };
    const float *y = result_of(cx, ROWS "y = matmul(softmax(x), w)\noutput y\n", in);
    double worst = y ? 0 : 1;
    for (int i = 0; y && i < 4; i++)
        for (int j = 0; j < 5; j++) {
            double sum = 0, value = 0;
            for (int k = 0; k < 6; k++) sum += exp(x[i][k]);
            for (int k = 0; k < 6; k++) value += exp(x[i][k]) / sum * w[k][j];
            worst = fmax(worst, fabs(value - y[i * 5 + j]));
        }
    check_that(worst < 1e-5, "calls nest", "difference %g: %s", worst, first_error(cx));
    ctx_free(cx);

    cx = context_new(NULL, NULL);
    y = result_of(cx, ROWS "promise c: f32[4][6]\nh[t ordered, j] = x[t, j] + (c[t-1, j]? : 1)\n"
                           "c[t ordered, j] = h[t, j] * 0.5\ny[t, j] = h[t, j] * 2\noutput y\n", in);
    int wrong = y ? 0 : 1;
    for (int j = 0; y && j < 6; j++) {
        float c = 1;
        for (int t = 0; t < 4; t++) {
            const float h = x[t][j] + c;
            wrong += y[t * 6 + j] != h * 2;
            c = h * 0.5f;
        }
    }
    check_that(!wrong, "a recurrence of two formulas before a formula", "%d values: %s", wrong, first_error(cx));
    ctx_free(cx);

    cx = context_new(NULL, NULL);
    y = result_of(cx, ROWS "promise s: f32[4][6]\nr = relu(s)\nt[i, j] = s[i, j] + 1\n"
                           "s[i ordered, j] = x[i, j] + (s[i-1, j]? : 0)\ny = add(r, t)\noutput y\n", in);
    wrong = y ? 0 : 1;
    for (int j = 0; y && j < 6; j++) {
        float s = 0;
        for (int i = 0; i < 4; i++) {
            s = x[i][j] + s;
            wrong += y[i * 6 + j] != (s > 0 ? s : 0) + (s + 1);
        }
    }
    check_that(!wrong, "calls and formulas may read a promised tensor before its formula", "%d values: %s", wrong,
               first_error(cx));
    ctx_free(cx);
}

/* ---- Memory and passes ------------------------------------------------------------------------------------------- */

static int64_t arena_of(const char *text)
{
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    const int64_t bytes = compiled(cx, &b, text) ? b.plan.arena_size : -1;
    if (bytes < 0) printf("# %s\n", first_error(cx));
    ctx_free(cx);
    return bytes;
}

static void test_memory(void)
{
    const int64_t by_op = arena_of("input x: f32[1][64]\na = exp(x)\ns = annotation.stop_fusion(a)\nr = neg(s)\n"
                                   "t = annotation.stop_fusion(r)\ny = reduce_sum(t)\noutput y\n"),
                  by_formula = arena_of("input x: f32[1][64]\na = exp(x)\ns = annotation.stop_fusion(a)\n"
                                        "r[i, j] = -s[i, j]\nt = annotation.stop_fusion(r)\ny = reduce_sum(t)\n"
                                        "output y\n");
    check_that(by_formula == 256 && by_op == 256, "a formula computes in place like an operator",
               "%ld bytes, %ld by operators",
               (long)by_formula, (long)by_op);
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    const bool ok = compiled(cx, &b, "input x: f32[4]\nconst w: f32[4] = {1, 2, 3, 4}\nu[i] = w[i] * 2\n"
                                     "y[i] = x[i] + u[i]\noutput y\n");
    check_that(ok && strcmp(groups_of(cx, &b), "y!") == 0 && tensor_is_constant(b.groups.at[0].input[1]),
               "a formula of constants is folded", "%s", ok ? groups_of(cx, &b) : first_error(cx));
    ctx_free(cx);
    cx = context_new(NULL, NULL);
    const bool has_shrunk = compiled(cx, &b, "input x: i32[1][4]\nconst w: i32[4][3] = {1,0,2, 3,0,4, 5,0,6, 7,0,8}\n"
                                             "const v: i32[3][2] = {1,2, 0,0, 5,6}\nd = dense(x, w)\n"
                                             "r[i, j] = max(d[i, j], 0)\ny = dense(r, v)\noutput y\n");
    const int g = has_shrunk ? group_at(&b, "d") : -1;
    check_that(g >= 0 && tensor_dim(b.groups.at[g].output[0], 1) == 2, "a dead channel is removed through a formula",
               "%s", g < 0 ? first_error(cx) : tensor_shape_text(cx, b.groups.at[g].output[0]));
    ctx_free(cx);
    cx = context_new(NULL, NULL);
    check_that(compiled(cx, &b, "size n in 1..9\ninput x: f32[n][4]\na = relu(x)\nt[i, j] = a[i, j] * f32(n)\n"
                                "y = softmax(t)\noutput y\n"), "a formula of an open size", "%s", first_error(cx));
    ctx_free(cx);
}

/* ---- Devices and annotations ------------------------------------------------------------------------------------- */

static void test_devices(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    bool ok = compiled(cx, &b, ROWS "t[i, j] = x[i, j] * 2\nu = annotation.on_device(t, device=dsp)\ny = matmul(u, w)\n"
                               "output y\n");
    const int g = ok ? group_at(&b, "t") : -1;
    check_that(g >= 0 && b.groups.at[g].anchor->device && strcmp(b.groups.at[g].anchor->device, "dsp") == 0 &&
                   b.devices.count == 1, "a formula runs on a device", "%s",
               ok ? groups_of(cx, &b) : first_error(cx));
    ctx_free(cx);
    cx = context_new(NULL, NULL);
    ok = compiled(cx, &b, ROWS "t[i, j] = x[i, j] * 2\nu = annotation.on_device(t, device=npu)\ny = matmul(u, w)\n"
                          "output y\n");
    check_that(ok && b.devices.count == 0 && cx->diags && strstr(cx->diags->what, "npu does not accept formula"),
               "a device that does not list formula declines", "%s", cx->diags ? cx->diags->what : "no note");
    ctx_free(cx);
    cx = context_new(NULL, NULL);
    ok = compiled(cx, &b, ROWS "t[i, j] = x[i, j] * 2\nu = annotation.stop_gradient(t)\ny = matmul(u, w)\noutput y\n");
    check_that(ok && b.graph.mark_count == 1 && strcmp(b.graph.mark[0].tensor->producer->name, "t") == 0,
               "a mark is on a formula's result", "%s", first_error(cx));
    ctx_free(cx);
}

/* ---- Schedules of groups ----------------------------------------------------------------------------------------- */

#define TWO ROWS "t = softmax(x)\np[i, j] = sum(k) t[i, k] * w[k, j]\ny = relu(p)\noutput y\n"

typedef struct Refusal { const char *name, *text, *error; } Refusal;
static const Refusal refusals[] = {
    { "a bare schedule names both groups", TWO "schedule\n  split y.c 4\n",
      "net.te: 7:1: error: the file has 2 groups: t and p; use `schedule NAME` with one of these names, or "
      "`nest`, which makes the file one group\n  schedule\n  ^^^^^^^^" },
    { "an unknown group is named", TWO "schedule q\n  split y.c 4\n",
      "net.te: 7:1: error: no group computes 'q'; use t and p\n  schedule q\n  ^^^^^^^^^^" },
    { "a refused step keeps its line", TWO "schedule p\n\n  vectorize p.k\n",
      "net.te: 9:3: error: vectorize p.k: wrong: " },
    { "a stage of another group is not there", TWO "schedule p\n  compute_at t p.i\n",
      "net.te: 8:3: error: compute_at t p.i: invalid: " },
    { "a nest has no other group", "nest\n" TWO "schedule t\n  split y.c 4\n",
      "net.te: 8:1: error: the file is one nest, of the group y\n  schedule t\n  ^^^^^^^^^^" },
    { "a formula keeps its line between calls", ROWS "t = softmax(x)\np[i, j] = t[i, j] + q[j]\n",
      "net.te: 4:21: error: 'q' is not a tensor here" },
    { "a nested call is refused at its operator", ROWS "y = matmul(rellu(x), w)\noutput y\n",
      "net.te: 3:12: error: there is no operator 'rellu'; did you mean 'relu'?" },
};

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Build b;
        const char *wanted = refusals[i].error;
        const bool ok = compiled(cx, &b, refusals[i].text);
        const char *found = first_error(cx);
        check_that(!ok && strncmp(found, wanted, strlen(wanted)) == 0, refusals[i].name, "\n%s\ninstead of\n%s", found,
                   wanted);
        ctx_free(cx);
    }
}

static void test_groups(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Build own, by_file, by_two, empty, nest;
    bool ok = compiled(cx, &own, TWO) && compiled(cx, &by_file, TWO "schedule y\n  compute_at p y.c\n");
    check_that(ok && strcmp(steps_of(cx, &by_file, "p"), "compute_at p y.c;") == 0,
               "schedule NAME is of the group that computes NAME", "%s", first_error(cx));
    check_that(ok && strcmp(steps_of(cx, &by_file, "t"), steps_of(cx, &own, "t")) == 0,
               "the other groups keep their strategies", "%s", first_error(cx));
    ok = compiled(cx, &by_two, TWO "schedule t\n  unroll t.c\nschedule p\n  compute_at p y.c\n");
    check_that(ok && strcmp(steps_of(cx, &by_two, "t"), "unroll t.c;") == 0 &&
                   strcmp(steps_of(cx, &by_two, "p"), "compute_at p y.c;") == 0, "a schedule for each group", "%s",
               first_error(cx));
    ok = compiled(cx, &empty, TWO "schedule p\n");
    check_that(ok && !*steps_of(cx, &empty, "p") && *steps_of(cx, &own, "p"), "a schedule without steps: as written",
               "%s", first_error(cx));
    ok = compiled(cx, &nest, "nest\n" TWO "schedule\n  compute_at p y.c\n  compute_at t y.n\n");
    check_that(ok && nest.groups.count == 1 && nest.scheduled.nest[0]->step_count == 2,
               "nest makes the file one group", "%s", first_error(cx));
    ok = compiled(cx, &nest, ROWS "y[i, j] = sum(k) x[i, k] * w[k, j]\noutput y\nschedule\n  unroll y.j\n");
    check_that(ok && strcmp(steps_of(cx, &nest, "y"), "unroll y.j;") == 0, "a bare schedule is of the only group", "%s",
               first_error(cx));
    const lw_options combine = { .name = "net", .combine = "t,p" };
    ok = compiled_by(cx, &nest, TWO "schedule p\n  split y.c 4\n", &combine);
    const Nest *n = ok && nest.groups.count == 1 ? nest.scheduled.nest[0] : NULL;
    check_that(n && n->step_count && strcmp(step_text(cx, &n->step[0]), "split p_y.c 4") == 0,
               "a combined group keeps the steps of its part's schedule", "%s", first_error(cx));
    ctx_free(cx);
}

/* ---- From C ------------------------------------------------------------------------------------------------------ */

static lw_computation *two_groups(lw_context *cx)
{
    lw_computation *p = lw_define(cx, "net", NULL);
    lw_input(p, "x: f32[4][6]");
    lw_input(p, "w: f32[6][5]");
    lw_compute(p, "t = softmax(x)");
    lw_compute(p, "p[i, j] = sum(k) t[i, k] * w[k, j]");
    lw_compute(p, "y = relu(p)");
    lw_output(p, "y");
    return p;
}

static void test_from_c(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = two_groups(cx);
    const bool is_taken = lw_step(p, "unroll y.c");
    const char *why = lw_diagnostic(cx, 0, NULL);
    check_that(!is_taken && why && strstr(why, "the computation has 2 groups: t and p; call lw_schedule_group"),
               "from C: a step without a choice names both groups", "%s", why ? why : "accepted");
    lw_free(cx);
    cx = lw_new();
    p = two_groups(cx);
    const bool ok = lw_schedule_group(p, "y") && lw_step(p, "compute_at p y.c") && lw_schedule_group(p, "t") &&
        lw_step(p, "unroll t.c");
    const char *text = lw_text(p);
    check_that(ok && text && strstr(text, "\nschedule t\n  unroll t.c\n\nschedule p\n  compute_at p y.c\n"),
               "from C: steps of two groups", "%s", text ? text : lw_diagnostic(cx, 0, NULL));
    float x[4][6] = { { 0 } }, w[6][5], y[4][5];
    for (int i = 0; i < 30; i++) w[i / 5][i % 5] = (float)(i % 5);
    check_that(lw_execute(p, (const void *const[]){ x, w }, (void *const[]){ y }) && fabsf(y[3][4] - 4) < 1e-5f,
               "from C: the nests run", "%g", y[3][4]);
    const bool is_found = lw_schedule_group(p, "q");
    why = lw_diagnostic(cx, 0, NULL);
    check_that(!is_found && why && strstr(why, "no group computes 'q'; use t and p"), "from C: an unknown group",
               "%s", why);
    lw_free(cx);
    cx = lw_new();
    check_that(lw_register_device(cx, "gpu", "formula", "f32") && !lw_register_onnx(cx, "F", "formula", ""),
               "formula is a word of devices, not an operator of importers", "%s", "accepted");
    lw_free(cx);
}

int main(void)
{
    CHECK_RUN(test_patterns, test_fusion, test_contraction, test_schedules_beside, test_equal_formulas, test_values,
              test_memory, test_devices, test_refusals, test_groups, test_from_c);
    return check_done();
}
