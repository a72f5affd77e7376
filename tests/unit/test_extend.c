/* SPDX-License-Identifier: MIT */
/* Rows from outside with functions: operators and computes that build tensors from tensors, calls that are altered, and
 * C functions in place of an operator. Through the public header alone; values by lw_verify and lw_check_op. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "loopwright.h"

static const char *said(lw_context *cx)
{
    const char *text = lw_diagnostic(cx, 0, NULL);
    return text ? text : "nothing";
}

/* ---- Operators by calls ------------------------------------------------------------------------------------------ */

static int feed_forward(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *x = lw_call_input(c, 0), *w = lw_call_input(c, 1);
    lw_tensor *h = lw_apply(c, "dense", (lw_tensor *[]){ x, w }, 2, NULL);
    (void)cx;
    out[0] = lw_formula(c, "r[*] = max(h[*], 0.0) * by", "h", &h);
    out[1] = lw_apply(c, "reduce_max", &h, 1, "axes=1");
    return 2;
}

static int echo(lw_context *cx, lw_call *c, lw_tensor **out)
{
    (void)cx;
    out[0] = out[1] = lw_call_input(c, 0);
    return 2;
}

static int picky(lw_context *cx, lw_call *c, lw_tensor **out)
{
    (void)cx;
    (void)out;
    return lw_call_refuse(c, "two rows are wanted");
}

static int itself(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *x = lw_call_input(c, 0);
    (void)cx;
    out[0] = lw_apply(c, "mine", &x, 1, NULL);
    return 1;
}

static int wrong_shapes(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *x = lw_call_input(c, 0);
    (void)cx;
    out[0] = lw_apply(c, "dense", (lw_tensor *[]){ x, x }, 2, NULL);
    return 1;
}

static int unknown_call(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *x = lw_call_input(c, 0);
    (void)cx;
    out[0] = lw_apply(c, "denze", &x, 1, NULL);
    return 1;
}

static int nothing(lw_context *cx, lw_call *c, lw_tensor **out) { (void)cx; (void)c; (void)out; return 1; }
static int too_many(lw_context *cx, lw_call *c, lw_tensor **out) { (void)cx; (void)c; (void)out; return 65; }
static int constant_in_compute(lw_context *cx, lw_call *c, lw_tensor **out)
{
    (void)cx;
    out[0] = lw_constant(c, "f32", 1, (const int64_t[]){ 1 }, &(float){ 1 });
    return 1;
}

static bool write_model(lw_context *cx, const char *text) { return lw_write(cx, "build/test/extend.te", text); }

static const char *verify(lw_context *cx, const char *link)
{
    return lw_verify(cx, "build/test/extend.te", NULL, 0, NULL, 0, &(lw_options){ .name = "net", .link = link });
}

static void test_built_op(void)
{
    lw_context *cx = lw_new();
    lw_register_op(cx, &(lw_op){ .name = "feed_forward", .pattern = "out-fusable", .inputs = "x w", .attrs = "by=1.0",
                                 .build = feed_forward });
    lw_register_op(cx, &(lw_op){ .name = "echo", .pattern = "elementwise", .inputs = "x", .build = echo });
    lw_register_op(cx, &(lw_op){ .name = "extremes", .pattern = "reduction", .inputs = "x", .attrs = "scale=2,3",
                                 .formula = "low[i] = min(j) x[i, j] * f32(scale_0); "
                                            "high[i] = max(j) x[i, j] * f32(scale_1)",
                                 .outputs = "high low" });
    write_model(cx, "input x: f32[4][6]\ninput w: f32[6][5]\na, b = feed_forward(x, w, by=2.0)\nc, d = echo(a)\n"
                    "e = relu(c)\nf, g = extremes(d)\noutput b\noutput e\noutput f\noutput g\n");
    const char *text = verify(cx, NULL);
    check_that(text && strstr(text, "4 of 4 outputs agree"), "a compute of operator calls, with several outputs", "%s",
               text ? text : said(cx));
    text = lw_check_op(cx, "feed_forward", "by=0.5", "f32[3][4] f32[4][2]");
    check_that(text && strstr(text, "stages.in_order"), "implementations of a built operator are checked", "%s",
               text ? text : said(cx));
    text = lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "fused" });
    check_that(text != NULL, "a built operator is fused and printed", "%s", said(cx));
    lw_free(cx);
}

/* At registration the sizes are unknown, so the elements of a temporary are not counted. */
static void test_temporary_of_higher_rank(void)
{
    lw_context *cx = lw_new();
    lw_register_op(cx, &(lw_op){ .name = "pairs", .pattern = "opaque", .inputs = "x", .outputs = "y",
                                 .formula = "t[i<dim(x, 0), j<dim(x, 0), k<dim(x, 0)] = x[i] * x[j] + x[k]; "
                                            "y[i] = sum(j, k) t[i, j, k]" });
    write_model(cx, "size n in 1..7\ninput x: f32[n]\ny = pairs(x)\noutput y\n");
    const char *text = verify(cx, NULL);
    check_that(text && strstr(text, "3 of 3 outputs agree"), "a temporary of higher rank over open sizes", "%s",
               text ? text : said(cx));
    lw_free(cx);
}

static int pick_built(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *in[] = { lw_call_input(c, 0), lw_call_input(c, 1) };
    (void)cx;
    out[0] = lw_formula(c, "r[k] = x[i[k]]", "x i", in);
    return 1;
}

/* No data of the index make an operator's formula read outside its input. */
static void test_clamped_indices(void)
{
    static const struct { const char *label, *model; } rows[] = {
        { "a formula's index by data", "y = pick(x, i)" },
        { "an index by data in a function's formula", "y = pick_built(x, i)" },
        { "an index by data in an alternative compute", "y = same(x, i)" },
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        lw_context *cx = lw_new();
        const lw_implementation other = { .name = "same.by_data", .what = "", .plevel = 90,
                                        .compute = "y[k] = x[i[k]]" };
        lw_register_op(cx, &(lw_op){ .name = "pick", .pattern = "injective", .inputs = "x i",
                                     .formula = "y[k] = x[i[k]]" });
        lw_register_op(cx, &(lw_op){ .name = "pick_built", .pattern = "injective", .inputs = "x i",
                                     .build = pick_built });
        lw_register_op(cx, &(lw_op){ .name = "same", .pattern = "injective", .inputs = "x i",
                                     .formula = "y[k] = x[clamp(i[k], 0, dim(x, 0) - 1)]" });
        lw_register_strategy(cx, "same", NULL, &other, 1);
        char model[200];
        snprintf(model, sizeof model, "input x: f32[10]\ninput i: i32[4]\n%s\noutput y\n", rows[r].model);
        write_model(cx, model);
        const char *text = lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "loops" });
        check_that(text && strstr(text, "x[max(min(i[k],9),0)]"), rows[r].label, "%s", text ? text : said(cx));
        lw_free(cx);
    }
}

/* A registered formula has no sizes: the reads of a call are checked with its own. */
static void test_reads_by_data(void)
{
    static const struct { const char *label, *size, *refusal; } rows[] = {
        { "a read by an operator's condition on data stays inside", "9", "" },
        { "a read that an operator's condition on data leads out is refused", "5",
          "index 1 of 'x' is not shown to stay inside" },
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        lw_context *cx = lw_new();
        lw_register_op(cx, &(lw_op){ .name = "heads", .pattern = "reduction", .inputs = "x q w",
                                     .formula = "y[i] = sum(k<9) select(k < q[i], x[i, k] * w[i], 0)" });
        char model[200];
        snprintf(model, sizeof model, "input x: f32[3][%s]\ninput q: i32[3]\ninput w: f32[3]\ny = heads(x, q, w)\n"
                 "output y\n", rows[r].size);
        write_model(cx, model);
        const bool is_read = lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "loops" }) != NULL;
        check_that(is_read == !*rows[r].refusal && strstr(said(cx), rows[r].refusal), rows[r].label, "%s", said(cx));
        lw_free(cx);
    }
}

static void test_index_of_nothing(void)
{
    lw_context *cx = lw_new();
    lw_register_op(cx, &(lw_op){ .name = "pick", .pattern = "injective", .inputs = "x i",
                                 .formula = "y[k] = x[i[k]]" });
    write_model(cx, "size n = 0..8\ninput x: f32[n]\ninput i: i32[4]\ny = pick(x, i)\noutput y\n");
    check_that(!lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "loops" }) && strstr(said(cx), "may be empty"),
               "an index by data into a tensor that may be empty is refused", "%s", said(cx));
    lw_free(cx);
}

static const struct { lw_build *build; const char *pattern, *label, *wanted;
} wrong_op[] = {
    { picky, "opaque", "a function that refuses says why", "two rows are wanted" },
    { itself, "opaque", "an operator that calls itself", "the operator calls itself" },
    { wrong_shapes, "opaque", "a call that its operator refuses", "in the call of dense: " },
    { unknown_call, "opaque", "a call of no operator", "there is no operator 'denze'; did you mean 'dense'?" },
    { nothing, "opaque", "an output that is not set", "set output 0 of 1 to NULL" },
    { too_many, "opaque", "more outputs than an operator has", "returned 65 outputs; use 1 to 64" },
    { constant_in_compute, "opaque", "a constant in a compute", "a compute has no constants" },
};

/* lw_check_op has a line for a row that it cannot try; a device may have composites alone. */
static void test_untried(void)
{
    lw_context *cx = lw_new();
    const lw_implementation row = { .name = "dense.none", .what = "for eight columns", .when = "dim(w, 1) == 8",
                                    .compute = "y[i, o] = sum(k) x[i, k] * w[k, o]" };
    lw_register_strategy(cx, "dense", NULL, &row, 1);
    const char *text = lw_check_op(cx, "dense", NULL, "f32[2][4] f32[4][3]");
    check_that(text && strstr(text, "does not apply to these inputs, or declines"),
               "lw_check_op names the row that does not apply", "%s", text ? text : said(cx));
    check_that(lw_register_device(cx, "npu", "", "f32")
                   && lw_register_composite(cx, "npu", "block", "dense relu?", NULL),
               "a device of composites alone is registered", "%s", said(cx));
    lw_free(cx);
}

static void test_wrong_ops(void)
{
    for (size_t i = 0; i < sizeof wrong_op / sizeof wrong_op[0]; i++) {
        lw_context *cx = lw_new();
        lw_register_op(cx, &(lw_op){ .name = "mine", .pattern = wrong_op[i].pattern, .inputs = "x",
                                     .build = wrong_op[i].build });
        write_model(cx, "input x: f32[4][6]\ny = mine(x)\noutput y\n");
        const bool ok = lw_dump(cx, "build/test/extend.te", NULL) != NULL;
        check_that(!ok && strstr(said(cx), wrong_op[i].wanted) && strstr(said(cx), "mine"), wrong_op[i].label, "%s",
                   said(cx));
        lw_free(cx);
    }
}

/* ---- Implementations --------------------------------------------------------------------------------------------- */

static int halves(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *h = lw_formula(c, "h[i, j<2] = sum(k<8) x[i, 2*k+j] * x[i, 2*k+j]", NULL, NULL);
    (void)cx;
    out[0] = lw_formula(c, "s[i] = h[i, 0] + h[i, 1]", "h", &h);
    return 1;
}

static int first_row(lw_context *cx, lw_call *c, lw_tensor **out)
{
    (void)cx;
    out[0] = lw_formula(c, "s[i<1] = x[i, 0]", NULL, NULL);
    return 1;
}

/* Weights [k][o] as [o][k], turned at compile time, for an operator over such weights. */
static int turned(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *w = lw_call_input(c, 1), *t = lw_apply(c, "transpose", &w, 1, "perm=1,0");
    (void)cx;
    if (lw_call_number(c, "zero", 0) != 0) return 0;
    out[0] = lw_apply(c, "dense_rows", (lw_tensor *[]){ lw_call_input(c, 0), t }, 2, NULL);
    return 1;
}

/* Channels in tiles of four: x[n][k] as [n][k/4][4], w as [k/4][o][4], packed by hand. */
static int in_tiles(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *x = lw_call_input(c, 0), *w = lw_call_input(c, 1);
    const int64_t k = lw_tensor_dim(w, 0), o = lw_tensor_dim(w, 1), shape[] = { k / 4, o, 4 };
    const float *from = lw_tensor_data(w);
    float to[64];
    char attrs[64];
    (void)cx;
    for (int64_t i = 0; i < k * o; i++) to[(i / o / 4 * o + i % o) * 4 + i / o % 4] = from[i];
    snprintf(attrs, sizeof attrs, "shape=%d,%d,4", (int)lw_tensor_dim(x, 0), (int)(k / 4));
    lw_tensor *in[] = { lw_apply(c, "reshape", &x, 1, attrs), lw_constant(c, "f32", 3, shape, to) };
    out[0] = lw_apply(c, "dense_tiles", in, 2, NULL);
    return 1;
}

/* The same without operators: weights packed by a formula over a constant, and a product by another. */
static int by_formulas(lw_context *cx, lw_call *c, lw_tensor **out)
{
    lw_tensor *packed = lw_formula(c, "p[o<dim(w, 1), k] = w[k, o] * 2", NULL, NULL);
    (void)cx;
    out[0] = lw_formula(c, "y[n, o] = sum(k) 0.5 * x[n, k] * p[o, k]", "p", &packed);
    return 1;
}

static int other_shape(lw_context *cx, lw_call *c, lw_tensor **out)
{
    (void)cx;
    out[0] = lw_call_input(c, 0);
    return 1;
}

static lw_context *with_rows(void)
{
    lw_context *cx = lw_new();
    lw_register_reduce(cx, "energy", "x", "y[i] = sum(k) x[i, k] * x[i, k]");
    lw_register_reduce(cx, "dense_rows", "x w", "y[n, o] = sum(k) x[n, k] * w[o, k]");
    lw_register_reduce(cx, "dense_tiles", "x w", "y[n, o] = sum(k, t) x[n, k, t] * w[k, o, t]");
    return cx;
}

static bool row(lw_context *cx, const char *op, const lw_implementation *i)
{
    return lw_register_strategy(cx, op, "generic", i, 1);
}

static void test_other_compute(void)
{
    lw_context *cx = with_rows();
    row(cx, "energy", &(lw_implementation){ .name = "energy.halves", .plevel = 40, .when = "dim(x, 1) == 16",
                                            .build = halves });
    const char *text = lw_check_op(cx, "energy", NULL, "f32[6][16]");
    check_that(text && strstr(text, "energy.halves"), "another compute by a function", "%s", text ? text : said(cx));
    lw_free(cx);
    cx = with_rows();
    row(cx, "energy", &(lw_implementation){ .name = "energy.first", .build = first_row });
    text = lw_check_op(cx, "energy", NULL, "f32[6][16]");
    check_that(!text && strstr(said(cx), "its compute produces f32[1] as output 0, but the operator produces f32[6]"),
               "a compute of another shape", "%s", said(cx));
    lw_free(cx);
}

/* A row for an operator wins by its name; one with less precedence than a pattern's loses with a note. */
static void test_precedence(void)
{
    static const struct { int plevel; bool wins; const char *label; } each[] = {
        { 0, true, "a row without a plevel wins over patterns" },
        { 10, true, "a row for an operator wins over a pattern of the same plevel" },
        { 9, false, "a row that loses is noted" },
    };
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        lw_context *cx = with_rows();
        row(cx, "energy", &(lw_implementation){ .name = "energy.mine", .plevel = each[i].plevel });
        write_model(cx, "input x: f32[3][16]\ny = energy(x)\noutput y\n");
        const char *text = lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "strategy" });
        const bool wins = text && strstr(text, "chosen: energy.mine");
        check_that(wins == each[i].wins, each[i].label, "%s", text ? text : said(cx));
        lw_compile(cx, "build/test/extend.te", "build/test/extend.c", NULL);
        const bool is_noted = strstr(said(cx), "the schedule \"energy.mine\" applies, but \"contraction.tiled\" is "
                                     "used: plevel 10 is above 9") != NULL;
        check_that(is_noted == !each[i].wins, "a row that wins has no note, one that loses has", "%s", said(cx));
        lw_free(cx);
    }
}

static void altered(lw_build *alter, const char *when, const char *wanted, const char *label)
{
    lw_context *cx = with_rows();
    row(cx, "dense", &(lw_implementation){ .name = "dense.mine", .when = when, .alter = alter });
    write_model(cx, "input x: f32[3][8]\nconst k: f32[8][2] = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]\n"
                    "y = dense(x, k)\nz = relu(y)\noutput z\n");
    const char *text = lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "fused" });
    check_that(text && strstr(text, wanted), label, "%s", text ? text : said(cx));
    check_that(!text || !strstr(text, "transpose"), "weights are packed at compile time", "%s", text ? text : "");
    text = text ? verify(cx, NULL) : NULL;
    check_that(text && strstr(text, "1 of 1 outputs agree"), label, "%s", text ? text : said(cx));
    text = lw_check_op(cx, "dense", NULL, "f32[3][8] f32[8][2]=");
    check_that(text && strstr(text, "dense.mine"), "altered calls are checked, on a target where the row applies", "%s",
               text ? text : said(cx));
    lw_free(cx);
}

static void test_altered(void)
{
    altered(turned, "w is constant", "dense_rows(", "a call is altered to one over turned weights");
    altered(in_tiles, "w is constant && dim(w, 0) % 4 == 0", "dense_tiles(", "a call is altered to tiles of channels");
    altered(by_formulas, "w is constant", "formula(", "a call is altered to formulas");
    altered(turned, "w is constant && target has dsp", "dense(", "a condition keeps the call");
    lw_context *cx = with_rows();
    row(cx, "dense", &(lw_implementation){ .name = "dense.mine", .alter = other_shape });
    write_model(cx, "input x: f32[3][8]\ninput w: f32[8][2]\ny = dense(x, w)\noutput y\n");
    check_that(!lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "fused" }) &&
                   strstr(said(cx), "\"dense.mine\"") &&
                   strstr(said(cx), "f32[3][8]; return f32[3][2], like the call's output"),
               "a call altered to another shape is refused", "%s", said(cx));
    lw_free(cx);
}

/* ---- C functions ------------------------------------------------------------------------------------------------- */

static const char gemm[] =
    "#include <stdint.h>\n"
    "void gemm(int32_t, int32_t, int32_t, const float *, int32_t, const float *, float *, int32_t, void *);\n"
    "void gemm(int32_t m, int32_t n, int32_t k, const float *a, int32_t lda, const float *b, float *y, int32_t ldy,\n"
    "          void *memory)\n"
    "{\n"
    "    float *row = memory;\n"
    "    for (int32_t i = 0; i < m; i++) {\n"
    "        for (int32_t j = 0; j < n; j++) row[j] = 0.0f;\n"
    "        for (int32_t l = 0; l < k; l++)\n"
    "            for (int32_t j = 0; j < n; j++) row[j] += a[i * lda + l] * b[l * n + j];\n"
    "        for (int32_t j = 0; j < n; j++) y[i * ldy + j] = row[j];\n"
    "    }\n"
    "}\n"
    "void twice(int32_t, float, const float *, float *);\n"
    "void twice(int32_t n, float by, const float *x, float *y) { for (int32_t i = 0; i < n; i++) y[i] = x[i] * by; }\n";

static lw_context *with_calls(bool in_place)
{
    static const char call[] = "gemm(dim(a, 0), dim(b, 1), dim(a, 1), a, stride(a, 0), b, y, stride(y, 0), "
                               "workspace(4 * dim(b, 1)))";
    lw_context *cx = lw_new();
    lw_register_op(cx, &(lw_op){ .name = "scale", .pattern = "elementwise", .inputs = "x", .attrs = "by=2.0",
                                 .formula = "y[*] = x[*] * by" });
    row(cx, "matmul", &(lw_implementation){ .name = "matmul.gemm", .plevel = 40, .call = call,
                                            .when = "a is f32 && rank(a) == 2 && rank(b) == 2 && dim(a, 0) >= 3" });
    row(cx, "scale", &(lw_implementation){ .name = "scale.twice", .plevel = 40, .in_place = in_place,
                                           .when = "rank(x) == 2", .call = "twice(dim(x, 0) * dim(x, 1), by, x, y)" });
    lw_write(cx, "build/test/extend_gemm.c", gemm);
    return cx;
}

static void calls_agree(const char *model, const char *wanted, const char *label)
{
    lw_context *cx = with_calls(true);
    write_model(cx, model);
    const char *text = verify(cx, "build/test/extend_gemm.c");
    check_that(text && strstr(text, "outputs agree"), label, "%s", text ? text : said(cx));
    text = text ? lw_dump(cx, "build/test/extend.te", &(lw_options){ .at = "lowered" }) : NULL;
    check_that(text && strstr(text, wanted), label, "%s", text ? text : said(cx));
    lw_free(cx);
}

static void test_calls(void)
{
    calls_agree("input a: f32[4][6]\ninput b: f32[6][5]\nc = matmul(a, b)\ny = relu(c)\noutput y\n", "gemm(",
                "a C function computes the anchor, emitted code the epilogue");
    lw_context *cx = with_calls(false);
    write_model(cx, "input x: f32[4][6]\ny = scale(x)\noutput y\n");
    check_that(!verify(cx, NULL) && strstr(said(cx), "without --link"),
               "a call without its function says how to link it", "%s", said(cx));
    lw_free(cx);
    calls_agree("size n = 1..9\ninput a: f32[n][6]\ninput b: f32[6][5]\nc = matmul(a, b)\ny = relu(c)\noutput y\n",
                "if", "open sizes choose between the call and loops at run time");
    calls_agree("input a: f32[4][6]\ninput b: f32[6][5]\ninput d: f32[4][5]\nc = matmul(a, b)\ne = sigmoid(d)\n"
                "y = concat(c, e, axis=1)\noutput y\n", "gemm(", "a call writes no strided view");
    calls_agree("input x: f32[4][6]\ny = scale(x, by=3.0)\noutput y\n", "twice(24, 3.0",
                "numbers of attributes are arguments");
}

static const char *const checked =
    "#include <stdint.h>\nint checked(int32_t, const float *, float *);\n"
    "int checked(int32_t n, const float *x, float *y)\n"
    "{\n    for (int32_t i = 0; i < n; i++) y[i] = x[i] * 2.0f;\n    return n == STOP;\n}\n";

/* A status other than 0 ends the run, also of a layer after others. */
static void test_status(void)
{
    static const char *const stop[] = { "#define STOP 0\n", "#define STOP 24\n" };
    for (int i = 0; i < 2; i++) {
        char text[400];
        lw_context *cx = with_calls(false);
        row(cx, "scale", &(lw_implementation){ .name = "scale.checked", .plevel = 50, .has_status = true,
                                               .call = "checked(dim(x, 0) * dim(x, 1), x, y)" });
        write_model(cx, "input x: f32[4][6]\np = softmax(x)\nq = annotation.stop_fusion(p)\nr = scale(q)\n"
                        "s = annotation.stop_fusion(r)\nz = softmax(s, axis=0)\noutput z\n");
        snprintf(text, sizeof text, "%s%s", stop[i], checked);
        lw_write(cx, "build/test/extend_checked.c", text);
        const char *found = verify(cx, "build/test/extend_checked.c");
        check_that(i ? !found && strstr(said(cx), "the emitted program failed")
                     : found && strstr(found, "1 of 1 outputs agree"),
                   i ? "a status other than 0 ends the run" : "a C function with a status of 0", "%s",
                   found ? found : said(cx));
        lw_free(cx);
    }
}

/* Returns the arena's size for a call of `twice` between two opaque layers, of 96 bytes each. */
static int arena_size(bool in_place)
{
    lw_context *cx = with_calls(in_place);
    int size = -1;
    char line[200];
    write_model(cx, "input x: f32[4][6]\np = softmax(x)\nq = annotation.stop_fusion(p)\nr = scale(q)\n"
                    "s = annotation.stop_fusion(r)\ny = softmax(s, axis=0)\noutput y\n");
    const bool ok = lw_compile(cx, "build/test/extend.te", "build/test/extend.c", &(lw_options){ .name = "net" });
    check_that(ok, "a call between two layers", "%s", said(cx));
    FILE *f = ok ? fopen("build/test/extend.h", "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "NET_ARENA_SIZE")) sscanf(line, "#define NET_ARENA_SIZE %d", &size);
    if (f) fclose(f);
    lw_free(cx);
    return size;
}

static const struct { const char *op; lw_implementation row; const char *label, *wanted; } wrong_row[] = {
    { "matmul", { .name = "mine", .call = "gemm(a, q, y)" }, "a call of a tensor that is no input",
      "implementation \"mine\" of matmul, call: error: 'q' is not known here" },
    { "matmul", { .name = "mine", .call = "gemm(a, b" }, "a call without its bracket", "call: error" },
    { "matmul", { .name = "mine", .call = "gemm(a, b, y) z" }, "a call with more behind it", "call: error" },
    { "pattern:reduction", { .name = "mine", .call = "f(x, y)" }, "a call for a pattern", "for operators by name" },
    { "matmul", { .name = "mine", .call = "gemm(a, b, y)", .compute = "y[i] = a[i, 0]" }, "a call and a compute",
      "more than one of compute, build and call" },
    { "matmul", { .name = "mine", .alter = other_shape, .call = "gemm(a, b, y)" }, "a row that alters and calls",
      "a row with `alter` cannot have a compute or a schedule" },
    { "matmul", { .name = "mine", .in_place = true }, "in_place without a call",
      "in_place is set, but the row has no call" },
    { "matmul", { .name = "mine", .has_status = true }, "a status without a call",
      "has_status is set, but the row has no call" },
};

static void test_wrong_rows(void)
{
    for (size_t i = 0; i < sizeof wrong_row / sizeof wrong_row[0]; i++) {
        lw_context *cx = lw_new();
        check_that(!row(cx, wrong_row[i].op, &wrong_row[i].row) && strstr(said(cx), wrong_row[i].wanted),
                   wrong_row[i].label, "%s", said(cx));
        lw_free(cx);
    }
    lw_context *cx = lw_new();
    check_that(!lw_register_op(cx, &(lw_op){ .name = "mine", .pattern = "opaque", .inputs = "x",
                                             .formula = "y[*] = x[*]", .build = echo }) &&
                   strstr(said(cx), "set only one of them"),
               "an operator with a formula and a function", "%s", said(cx));
    lw_free(cx);
    cx = lw_new();
    check_that(!lw_register_op(cx, &(lw_op){ .name = "mine", .pattern = "opaque", .inputs = "x",
                                             .formula = "a[*] = x[*]; b[*] = x[*]", .outputs = "a c" }) &&
                   strstr(said(cx), "no formula defines the output 'c'"),
               "an output that no formula defines", "%s", said(cx));
    lw_free(cx);
}

/* ---- Composites of a device -------------------------------------------------------------------------------------- */

/* Compiles the digits with all nodes on a device that takes these chains; returns the header. */
static const char *device_header(lw_context *cx, const char *ops, const char *when, char *header, size_t room)
{
    const lw_options o = { .name = "net", .annotate = "build/test/extend.txt" };
    lw_write(cx, "build/test/extend.txt", "on_device tpu *\n");
    lw_register_device(cx, "tpu", "max_pool2d", "f32");
    lw_register_composite(cx, "tpu", "conv_block", ops, when);
    if (!lw_verify(cx, "samples/digits/digits.onnx", NULL, 0, NULL, 0, &o)) return said(cx);
    lw_compile(cx, "samples/digits/digits.onnx", "build/test/extend.c", &o);
    FILE *f = fopen("build/test/extend.h", "r");
    header[f ? fread(header, 1, room - 1, f) : 0] = '\0';
    if (f) fclose(f);
    return header;
}

static const struct { const char *ops, *when, *wanted, *other, *label; } composite[] = {
    { "conv2d add? relu? max_pool2d?", NULL,
      "int net_tpu_conv_block_3(void *arena, const float *maxpool_1_out, float *maxpool_2_out);", "net_tpu_1",
      "chains are functions with the names of the model's tensors" },
    { "conv2d add? relu? max_pool2d?", NULL, "/* Runs on the device tpu as conv_block: conv_3, maxpool_1.",
      "conv_block_4", "the header names the chain and its nodes" },
    { "conv2d add relu", NULL, "int net_tpu_1(void *arena, const float *relu_3_out, float *maxpool_1_out);",
      "conv_block: conv_3, maxpool", "a single operator beside a chain" },
    { "conv2d add? relu? max_pool2d?", "dim(k, 3) == 24", "const float *relu_2_out, float *maxpool_1_out);",
      "net_tpu_conv_block_2", "a condition selects chains" },
    { "conv2d relu max_pool2d", NULL, "int net_tpu_1(void *arena, const float *relu_3_out, float *maxpool_1_out);",
      "conv_block", "a chain with a missing call is none" },
};

static void test_composites(void)
{
    for (size_t i = 0; i < sizeof composite / sizeof composite[0]; i++) {
        static char header[20000];
        lw_context *cx = lw_new();
        const char *text = device_header(cx, composite[i].ops, composite[i].when, header, sizeof header);
        check_that(strstr(text, composite[i].wanted) && !strstr(text, composite[i].other), composite[i].label, "%s",
                   text);
        lw_free(cx);
    }
}

static const struct { const char *device, *name, *ops, *when, *wanted; } wrong_composite[] = {
    { "tpv", "block", "conv2d relu", NULL, "there is no device 'tpv'" },
    { "npu", "my block", "conv2d relu", NULL, "'my block' is not the name of a C function" },
    { "npu", "block", "conv2d rel", NULL, "there is no operator 'rel'" },
    { "npu", "block", "conv2d? relu", NULL, "the first operator, 'conv2d?', is optional" },
    { "npu", "block", "conv2d relu", "dim(q, 0) == 1", "'q'" },
    { "npu", "block", " ", NULL, "names no operator" },
};

static void test_wrong_composites(void)
{
    for (size_t i = 0; i < sizeof wrong_composite / sizeof wrong_composite[0]; i++) {
        lw_context *cx = lw_new();
        const bool ok = lw_register_composite(cx, wrong_composite[i].device, wrong_composite[i].name,
                                              wrong_composite[i].ops, wrong_composite[i].when);
        check_that(!ok && strstr(said(cx), wrong_composite[i].wanted), wrong_composite[i].wanted, "%s", said(cx));
        lw_free(cx);
    }
}

/* Accessors of nothing. */
static void test_null(void)
{
    CHECK("without a call nothing happens",
          !lw_call_input(NULL, 0) && !lw_call_output(NULL, 0) && !lw_call_word(NULL, "a") &&
              !lw_call_input_count(NULL) && lw_call_number(NULL, "a", 3) == 3 && !lw_call_refuse(NULL, NULL) &&
              !lw_apply(NULL, NULL, NULL, 1, NULL) &&
              !lw_apply_output(NULL, NULL, 0) && !lw_formula(NULL, NULL, NULL, NULL) &&
              !lw_constant(NULL, NULL, 0, NULL, NULL) && !lw_tensor_name(NULL) && !lw_tensor_type(NULL) &&
              !lw_tensor_rank(NULL) && lw_tensor_dim(NULL, 0) == -1 && !lw_tensor_data(NULL));
}

int main(void)
{
    CHECK_RUN(test_clamped_indices, test_reads_by_data, test_index_of_nothing, test_built_op,
              test_temporary_of_higher_rank, test_untried, test_wrong_ops,
              test_other_compute, test_precedence, test_altered, test_calls);
    const int shared = arena_size(true), apart = arena_size(false);
    check_that(shared == apart - 96, "a call is in place only if its row says so", "%d and %d bytes", shared, apart);
    CHECK_RUN(test_wrong_rows, test_status, test_composites, test_wrong_composites, test_null);
    return check_done();
}
