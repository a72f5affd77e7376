/* SPDX-License-Identifier: MIT */
/* Rows from outside are checked when they are registered, conditions with the column of the fault; and no public
 * function crashes on NULL, on empty texts or in the wrong order. Through the public header alone. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "loopwright.h"

static const char *said(lw_context *cx)
{
    const char *text = lw_diagnostic(cx, 0, NULL);
    return text ? text : "nothing";
}

/* ---- Conditions ------------------------------------------------------------------------------------------------- */

static bool as_written(lw_context *cx, lw_group *g)
{
    (void)cx;
    (void)g;
    return true;
}

/* Functions that apply steps as long as they are accepted. */
static bool splits(lw_context *cx, lw_group *g)
{
    static char loop[20000];
    (void)cx;
    snprintf(loop, sizeof loop, "@output.c");
    while (strlen(loop) < sizeof loop - 2 && lw_split(g, loop, 2, NULL)) strcat(loop, "o");
    return true;
}

static bool tries_splits(lw_context *cx, lw_group *g)
{
    static char step[20000];
    (void)cx;
    for (int i = 0; i < 9000; i++) {
        snprintf(step, sizeof step, "split @output.c%.*s 2", i,
                 "ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo");
        if (lw_try(g, step)) break;
    }
    return true;
}

static bool turns(lw_context *cx, lw_group *g)
{
    (void)cx;
    while (lw_reorder(g, "@output.c @output.n", NULL) && lw_reorder(g, "@output.n @output.c", NULL)) continue;
    return true;
}

static const char *every_diagnostic(lw_context *cx)
{
    static char text[2000];
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < 4 && lw_diagnostic(cx, i, NULL); i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%.400s\n", lw_diagnostic(cx, i, NULL));
    return text;
}

static void test_steps_without_end(void)
{
    static const struct { lw_schedule *function; const char *wanted, *label; } cases[] = {
        { splits, "the nest would be deeper than 64 loops", "splits without end are refused" },
        { turns, "one nest has more than 2000 steps", "steps without end are refused" },
        { tries_splits, "\"relu.schedule\" are accepted one by one, but not together: ",
          "steps that are not proved at their end name the function" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lw_context *cx = lw_new();
        lw_write(cx, "build/test/steps.te", "input x: f32[64][4096]\ny = relu(x)\noutput y\n");
        lw_register_schedule(cx, "relu", NULL, 50, cases[i].function);
        const bool ok = lw_compile(cx, "build/test/steps.te", "build/test/steps.c", &(lw_options){ .name = "net" });
        const char *text = every_diagnostic(cx);
        check_that(!ok && strstr(text, cases[i].wanted) && strstr(text, "the implementation \"relu.schedule\""),
                   cases[i].label, "%s", text);
        lw_free(cx);
    }
}

static const struct { const char *ops, *when, *wanted; } condition[] = {
    { "dense", "foo == 1", "when, column 1: error: 'foo' is not known here" },
    { "dense", "dim(x, 1) %", "when, column 12: error" },
    { "dense", "dim(q, 0) == 3", "when, column 5: error: 'q'" },
    { "dense", "size(x) == 3", "when, column 1: error" },
    { "dense", "dim(x, 1) == 4 && grups == 1", "when, column 19: error: 'grups' is not known here" },
    { "dense", "dim(x, 1)", "a comparison is expected, not a number" },
    { "dense", "q is f32", "when, column 1: error: there is no input, output or word attribute 'q'" },
    { "dense", "x is f33", "when, column 6: error: 'f33' is not an element type" },
    { "dense", "dim(x, 1) == 4 &&", "when, column" },
    { "conv2d", "strid_0 == 1", "when, column 1: error: 'strid_0' is not known here" },
    { "pattern:reduction", "nothing_has_this == 1", "'nothing_has_this' is not known here" },
    { "dense conv2d", "groups == 1", "'groups' is not known here" },
    { "dense", "rank(q) == 2", "when, column 6: error: there is no input or output 'q'" },
    { "dense", "lanes(x) == 2", "when, column 7: error: 'target' is expected, not 'x'" },
    { "dense", "target is z80", "when, column 11: error: there is no target 'z80'" },
    { "dense", "target has dps", "when, column 12: error: no target has the feature 'dps'" },
    { "dense", "x has dsp", "when, column 1: error: only the target has features, not 'x'" },
    { "dense", "x is constnt", "when, column 6: error: 'constnt' is not an element type, nor `constant` or `given`" },
    { "dense", "dim(x, 1) % 4 == 0 && (w is f32 || x is f16)", NULL },
    { "conv2d", "stride_0 == 1 && pad_3 == 0 && groups == 1 && x is f32", NULL },
    { "pattern:reduction", "dim(x, 0) > 1", NULL },
};

static void test_conditions(void)
{
    for (size_t i = 0; i < sizeof condition / sizeof condition[0]; i++) {
        lw_context *cx = lw_new();
        const lw_implementation one = {
            .name = "mine", .plevel = 90, .when = condition[i].when, .schedule = as_written
        };
        const bool ok = lw_register_strategy(cx, condition[i].ops, "generic", &one, 1);
        char label[200];
        snprintf(label, sizeof label, "%s %s for %s", condition[i].when,
                 condition[i].wanted ? "is refused" : "is a condition", condition[i].ops);
        check_that(ok == !condition[i].wanted && (ok || strstr(said(cx), condition[i].wanted)), label, "%s", said(cx));
        lw_free(cx);
    }
}

static const struct { const char *call, *when; bool holds; } applied[] = {
    { "conv2d(x, k)", "stride_0 == 1 && stride_1 == 1", true },
    { "conv2d(x, k)", "pad_0 == 0 && dilation_1 == 1", true },
    { "conv2d(x, k, stride=2)", "stride_0 == 2 && stride_1 == 2", true },
    { "conv2d(x, k, stride=2,1)", "stride_0 == 1", false },
    { "conv2d(x, k, pad=[1,1,1,1])", "pad_3 == 1 || groups == 2", true },
    { "conv2d(x, k)", "groups == 1 && x is f32 && !(k is i8)", true },
    { "conv2d(x, k)", "y is f32 && rank(y) == 4 && dim(y, 3) == 4 && dim(y, 1) < dim(x, 1)", true },
    { "conv2d(x, k)", "y is f16 || rank(x) == 3", false },
    { "conv2d(x, k)", "x is constant || y_1 is given", false },
    { "conv2d(x, k)", "x is given && !(k is constant)", true },
    { "conv2d(x, c)", "k is constant", true },
    { "conv2d(x, k)", "target is generic && !(target is cortex-m4) && !(target has dsp)", true },
    { "elu(x)", "alpha == 1.0 && alpha < 1.5", true },
    { "elu(x, alpha=0.5)", "alpha > 0.5", false },
    { "interpolate(x, axis=1, times=2)", "mode is nearest && cubic < 0.0", true },
    { "interpolate(x, axis=1, times=2, mode=linear)", "mode is nearest", false },
    { "conv2d(x, k)", "lanes(target) >= 1 && vector_bytes(target) == 0", true },
};

/* Defaults of attributes are visible to conditions. */
static void test_defaults(void)
{
    for (size_t i = 0; i < sizeof applied / sizeof applied[0]; i++) {
        lw_context *cx = lw_new();
        const lw_implementation one = { .name = "mine", .plevel = 90, .when = applied[i].when, .schedule = as_written };
        char path[] = "build/test/condition.te", text[300], label[200];
        snprintf(text, sizeof text,
                 "input x: f32[1][8][8][2]\ninput k: f32[3][3][2][4]\nconst c: f32[1][1][2][1] = [1, 2]\ny = %s\n"
                 "output y\n",
                 applied[i].call);
        char op[20] = "";
        strncat(op, applied[i].call, strcspn(applied[i].call, "("));
        lw_register_strategy(cx, op, "generic", &one, 1);
        const bool written = lw_write(cx, path, text);
        const char *chosen = written ? lw_dump(cx, path, &(lw_options){ .at = "strategy" }) : NULL;
        snprintf(label, sizeof label, "%s %s for %s", applied[i].when, applied[i].holds ? "holds" : "does not hold",
                 applied[i].call);
        check_that(chosen && (strstr(chosen, "chosen: mine") != NULL) == applied[i].holds, label, "%s",
                   chosen ? chosen : said(cx));
        lw_free(cx);
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef bool Register(lw_context *cx);

static bool no_formula(lw_context *cx) { return lw_register_injective(cx, "mine", "x", "y[i = x[i]"); }
static bool unknown_tensor(lw_context *cx) { return lw_register_broadcast(cx, "mine", "a b", "y[*] = a[*] + q[*]"); }
static bool half_a_sum(lw_context *cx) { return lw_register_reduce(cx, "mine", "x", "y[i] = sum(k) x[i, k] *"); }
static bool unknown_pattern(lw_context *cx)
{
    return lw_register_op(cx, &(lw_op){ .name = "mine", .pattern = "windowed", .inputs = "x",
                                        .formula = "y[*] = x[*]" });
}
static bool no_default(lw_context *cx)
{
    return lw_register_op(cx, &(lw_op){ .name = "mine", .pattern = "elementwise", .inputs = "x", .attrs = "by=much",
                                        .formula = "y[*] = x[*] * by" });
}
static bool name_with_blank(lw_context *cx) { return lw_register_injective(cx, "my op", "x", "y[i] = x[i]"); }
static bool strategy(lw_context *cx, const char *ops)
{
    return lw_register_strategy(cx, ops, "generic", &(lw_implementation){ .name = "mine" }, 1);
}
static bool unknown_op(lw_context *cx) { return strategy(cx, "conv2dd"); }
static bool unknown_kind(lw_context *cx) { return strategy(cx, "pattern:nonsense"); }
static bool unknown_target(lw_context *cx)
{
    return lw_register_strategy(cx, "dense", "z80", &(lw_implementation){ .name = "mine" }, 1);
}
static bool wrong_compute(lw_context *cx)
{
    return lw_register_strategy(cx, "dense", "generic",
                                &(lw_implementation){ .name = "mine", .compute = "y[n, o] = sum(k) x[n, k] * v[k, o]" },
                                1);
}
static bool schedule_of_nothing(lw_context *cx) { return lw_register_schedule(cx, "nothing", NULL, 0, as_written); }
static bool unknown_base(lw_context *cx)
{
    return lw_register_target(cx, &(lw_target){ .name = "mine", .base = "z80" });
}
static bool device_op(lw_context *cx) { return lw_register_device(cx, "npu2", "conv2d convolve", "i8"); }
static bool device_type(lw_context *cx) { return lw_register_device(cx, "npu2", "conv2d", "i8 int32"); }
static bool onnx_op(lw_context *cx) { return lw_register_onnx(cx, "my.Relu", "rel", ""); }
static bool onnx_attr(lw_context *cx) { return lw_register_onnx(cx, "my.Elu", "elu", "alpha beta"); }

static const struct { Register *call; const char *label, *wanted;
} row[] = {
    { no_formula, "a formula without its bracket", "operator \"mine\", formula: error" },
    { unknown_tensor, "a formula of a tensor that is no input", "'q' is not a tensor here" },
    { half_a_sum, "a formula that ends too early", "operator \"mine\", formula: error" },
    { unknown_pattern, "an unknown pattern", "unknown pattern 'windowed'" },
    { no_default, "a default that is no number", "'by'" },
    { name_with_blank, "a name with a blank", "contains a blank" },
    { unknown_op, "a strategy for an unknown operator", "there is no operator 'conv2dd'; did you mean 'conv2d'?" },
    { unknown_kind, "a strategy for an unknown pattern", "unknown pattern 'nonsense'" },
    { unknown_target, "a strategy for an unknown target", "there is no target \"z80\"" },
    { wrong_compute, "a compute of a tensor that is no input",
      "implementation \"mine\" of dense, compute: error: 'v' is not a tensor here" },
    { schedule_of_nothing, "a schedule for an unknown operator", "there is no operator 'nothing'" },
    { unknown_base, "a target of an unknown base", "there is no target \"z80\" to be its base" },
    { device_op, "a device's unknown operator", "npu2: error: there is no operator 'convolve'" },
    { device_type, "a device's unknown type", "npu2: error: 'int32' is not an element type" },
    { onnx_op, "an importer row of an unknown operator", "there is no operator 'rel'" },
    { onnx_attr, "an importer row's unknown attribute", "the operator elu has no attribute 'beta'" },
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        lw_context *cx = lw_new();
        const bool ok = row[i].call(cx);
        check_that(!ok && strstr(said(cx), row[i].wanted), row[i].label, "%s", said(cx));
        lw_free(cx);
    }
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void test_statements(void)
{
    static const char *const wrong[] = { "blah",           "size n in",    "const w: f32[2] = [1, 2, 3]",
                                         "input x f32[2]", "y = conv2d(x", "" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lw_context *cx = lw_new();
        lw_computation *p = lw_define(cx, "net", NULL);
        char label[100];
        snprintf(label, sizeof label, "the statement '%s' is refused at once", wrong[i]);
        check_that(!lw_statement(p, wrong[i]) && lw_diagnostic(cx, 0, NULL), label, "%s", said(cx));
        lw_free(cx);
    }
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "net", NULL);
    float x[2] = { 3, 4 }, y[2] = { 0, 0 };
    const bool ok = lw_statement(p, "size n = 1..64") && lw_statement(p, "const w: f32[2] = [1, 2]") &&
                    lw_input(p, "x: f32[2]") && lw_compute(p, "y[i] = x[i] * w[i]") && lw_output(p, "y") &&
                    lw_execute(p, (const void *const[]){ x }, (void *const[]){ y });
    check_that(ok && y[0] == 3 && y[1] == 8, "sizes with = and constants in brackets are read", "%s", said(cx));
    lw_free(cx);
}

/* ---- NULL, empty, too early -------------------------------------------------------------------------------------- */

static lw_computation *whole(lw_context *cx)
{
    lw_computation *p = lw_define(cx, "net", NULL);
    lw_input(p, "a: f32[8][6]");
    lw_compute(p, "c[i, j] = a[i, j] * 2.0");
    lw_output(p, "c");
    return p;
}

typedef bool Call(lw_context *cx, const char *text);

static bool null_compile(lw_context *cx, const char *t) { return lw_compile(cx, t, t, NULL); }
static bool null_run(lw_context *cx, const char *t) { return lw_run(cx, t, NULL, 2, NULL, -1, NULL); }
static bool null_run_text(lw_context *cx, const char *t) { return lw_run_text(cx, t, NULL, 1, NULL); }
static bool null_verify(lw_context *cx, const char *t) { return lw_verify(cx, t, NULL, 1, NULL, 1, NULL); }
static bool null_write(lw_context *cx, const char *t) { return lw_write(cx, t, t); }
static bool null_dump(lw_context *cx, const char *t) { return lw_dump(cx, t, NULL); }
static bool null_report(lw_context *cx, const char *t) { return lw_report(cx, t, NULL); }
static bool null_report_html(lw_context *cx, const char *t) { return lw_report_html(cx, t, NULL); }
static bool null_define(lw_context *cx, const char *t) { return lw_define(cx, t, NULL); }
static bool null_statement(lw_context *cx, const char *t) { return lw_statement(lw_define(cx, "net", NULL), t); }
static bool null_input(lw_context *cx, const char *t) { return lw_input(lw_define(cx, "net", NULL), t); }
static bool null_formula(lw_context *cx, const char *t) { return lw_compute(lw_define(cx, "net", NULL), t); }
static bool null_output(lw_context *cx, const char *t) { return lw_output(lw_define(cx, "net", NULL), t); }
static bool null_step(lw_context *cx, const char *t) { return lw_step(whole(cx), t); }
static bool null_split(lw_context *cx, const char *t) { return lw_split(whole(cx), t, 4, NULL); }
static bool null_cache(lw_context *cx, const char *t) { return lw_cache_write(whole(cx), "c", t, NULL); }
static bool null_scope(lw_context *cx, const char *t) { return lw_set_scope(whole(cx), t, "arena", NULL); }
static bool null_prefetch(lw_context *cx, const char *t) { return lw_prefetch(whole(cx), t, "c.i", -1, NULL); }
static bool null_instruction(lw_context *cx, const char *t) { return lw_instruction(whole(cx), t, NULL); }
static bool null_execute(lw_context *cx, const char *t) { (void)t; return lw_execute(whole(cx), NULL, NULL); }
static bool null_arrays(lw_context *cx, const char *t)
{
    (void)t;
    return lw_execute(whole(cx), (const void *const[]){ NULL }, (void *const[]){ NULL });
}
static bool null_emit(lw_context *cx, const char *t) { return lw_emit(whole(cx), t, NULL); }
static bool null_injective(lw_context *cx, const char *t) { return lw_register_injective(cx, t, t, t); }
static bool null_broadcast(lw_context *cx, const char *t) { return lw_register_broadcast(cx, "mine", t, t); }
static bool null_reduce(lw_context *cx, const char *t) { return lw_register_reduce(cx, "mine", "x", t); }
static bool null_op(lw_context *cx, const char *t) { (void)t; return lw_register_op(cx, NULL); }
static bool empty_op(lw_context *cx, const char *t) { (void)t; return lw_register_op(cx, &(lw_op){ .level = 0 }); }
static bool null_schedule(lw_context *cx, const char *t) { return lw_register_schedule(cx, t, t, 0, NULL); }
static bool null_function(lw_context *cx, const char *t)
{
    (void)t;
    return lw_register_schedule(cx, "dense", NULL, 0, NULL);
}
static bool null_strategy(lw_context *cx, const char *t) { return lw_register_strategy(cx, t, t, NULL, 0); }
static bool null_list(lw_context *cx, const char *t)
{
    (void)t;
    return lw_register_strategy(cx, "dense", "generic", NULL, 2);
}
static bool null_row(lw_context *cx, const char *t)
{
    return lw_register_strategy(cx, "dense", "generic", &(lw_implementation){ .name = t }, 1);
}
static bool null_check(lw_context *cx, const char *t) { return lw_check_op(cx, t, t, t); }
static bool null_target(lw_context *cx, const char *t) { (void)t; return lw_register_target(cx, NULL); }
static bool empty_target(lw_context *cx, const char *t) { return lw_register_target(cx, &(lw_target){ .name = t }); }
static bool null_device(lw_context *cx, const char *t) { return lw_register_device(cx, t, t, t); }
static bool null_types(lw_context *cx, const char *t) { return lw_register_device(cx, "npu2", "dense", t); }
static bool null_composite(lw_context *cx, const char *t) { return lw_register_composite(cx, t, t, t, t); }
static bool null_onnx(lw_context *cx, const char *t) { return lw_register_onnx(cx, t, t, t); }
static bool null_onnx_op(lw_context *cx, const char *t) { return lw_register_onnx(cx, "my.Op", t, t); }

static const struct { Call *call; const char *label;
} call[] = {
    { null_compile, "lw_compile" },
    { null_run, "lw_run" },
    { null_run_text, "lw_run_text" },
    { null_verify, "lw_verify" },
    { null_write, "lw_write" },
    { null_dump, "lw_dump" },
    { null_report, "lw_report" },
    { null_report_html, "lw_report_html" },
    { null_define, "lw_define" },
    { null_statement, "lw_statement" },
    { null_input, "lw_input" },
    { null_formula, "lw_compute" },
    { null_output, "lw_output" },
    { null_step, "lw_step" },
    { null_split, "lw_split" },
    { null_cache, "lw_cache_write" },
    { null_scope, "lw_set_scope" },
    { null_prefetch, "lw_prefetch" },
    { null_instruction, "lw_instruction" },
    { null_execute, "lw_execute without lists" },
    { null_arrays, "lw_execute without arrays" },
    { null_emit, "lw_emit" },
    { null_injective, "lw_register_injective" },
    { null_broadcast, "lw_register_broadcast" },
    { null_reduce, "lw_register_reduce" },
    { null_op, "lw_register_op" },
    { empty_op, "lw_register_op without fields" },
    { null_schedule, "lw_register_schedule" },
    { null_function, "lw_register_schedule without a function" },
    { null_strategy, "lw_register_strategy" },
    { null_list, "lw_register_strategy without a list" },
    { null_row, "lw_register_strategy without a name" },
    { null_check, "lw_check_op" },
    { null_target, "lw_register_target" },
    { empty_target, "lw_register_target without a name" },
    { null_device, "lw_register_device" },
    { null_types, "lw_register_device without types" },
    { null_composite, "lw_register_composite" },
    { null_onnx, "lw_register_onnx" },
    { null_onnx_op, "lw_register_onnx without an operator" },
};

static void test_null(void)
{
    for (size_t i = 0; i < sizeof call / sizeof call[0]; i++)
        for (int empty = 0; empty < 2; empty++) {
            lw_context *cx = lw_new();
            const bool ok = call[i].call(cx, empty ? "" : NULL);
            char label[100];
            snprintf(label, sizeof label, "%s refuses %s", call[i].label, empty ? "an empty text" : "NULL");
            check_that(!ok && lw_diagnostic(cx, 0, NULL), label, "%s", said(cx));
            call[i].call(cx, empty ? "" : NULL);            /* after an error nothing happens */
            call[i].call(NULL, NULL);
            lw_free(cx);
        }
}

/* No context, no computation, no group. */
static void test_nothing(void)
{
    bool quiet = !lw_statement(NULL, "size n = 1..4") && !lw_step(NULL, "peel c.i") && lw_try(NULL, "peel c.i") &&
                 !lw_peel(NULL, "c.i", NULL);
    quiet = quiet && !lw_show(NULL) && !lw_text(NULL) && !lw_execute(NULL, NULL, NULL) && !lw_emit(NULL, "a.c", NULL);
    quiet = quiet && !lw_group_anchor(NULL) && !lw_group_output(NULL) && !lw_show(NULL) &&
            !lw_step(NULL, "peel c.i") && lw_try(NULL, "");
    quiet = quiet && !lw_list_ops(NULL, 0) && !lw_list_onnx_ops(NULL) && !lw_list_tflite_ops(NULL) &&
            !lw_list_targets(NULL);
    quiet = quiet && !lw_list_passes(NULL) && !lw_list_steps(NULL) && lw_version() && !lw_nearest(NULL, NULL, NULL, 3);
    CHECK("without a context nothing happens", quiet);
    lw_free(NULL);
}

static void test_order(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "net", NULL);
    check_that(!lw_show(p) && strstr(said(cx), "no output"), "a look before any statement says what is missing", "%s",
               said(cx));
    lw_free(cx);
    cx = lw_new();
    p = lw_define(cx, "net", NULL);
    check_that(!lw_step(p, "peel c.i") && strstr(said(cx), "no output"), "so does a step", "%s", said(cx));
    lw_free(cx);
    cx = lw_new();
    const bool ok = lw_dump(cx, "samples/matmul/matmul.te", NULL) != NULL;
    check_that(ok, "no options are all defaults", "%s", said(cx));
    lw_register_strategy(cx, "dense", NULL, &(lw_implementation){ .name = "mine", .plevel = 30 }, 1);
    const char *chosen = lw_dump(cx, "samples/digits/digits.onnx", &(lw_options){ .at = "strategy" });
    check_that(chosen && strstr(chosen, "chosen: mine"), "a strategy without a target is for all", "%s", said(cx));
    check_that(!lw_dump(cx, "samples/matmul/matmul.te", &(lw_options){ .rounding = "sometimes" }) &&
                   strstr(said(cx), "--rounding does not accept \"sometimes\"; use double|single"),
               "an option of no such value is refused", "%s", said(cx));
    lw_free(cx);
}

int main(void)
{
    CHECK_RUN(test_steps_without_end, test_conditions, test_defaults, test_rows, test_statements, test_null,
              test_nothing, test_order);
    return check_done();
}
