/* SPDX-License-Identifier: MIT */
/* The printed program: expressions as C means them, numbers exact and short, the interface of the header, and a model
 * of two layers filled in by hand that is built and run in each form. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cgen/cgen.h"
#include "cgen/weights.h"
#include "context/context.h"
#include "ir/text/formula.h"
#include "lower/lower.h"
#include "support/names.h"

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

/* The function of a formula, as text. */
static const char *function_of(Ctx *cx, const char *text, const Bind *binds)
{
    Tensor *y = formula(cx, text, binds);
    const Nest *n = y ? nest_naive(cx, "f", NULL, 0, &y, 1) : NULL;
    const Function *f = lower_final(cx, lower_nest(cx, n, NULL), NULL);
    Program p = { .name = "m" };
    Text t = text_new(cx);
    if (f) cgen_function(cx, &t, &p, f);
    return text_string(&t);
}

static void expressions(Ctx *cx)
{
    int64_t n = 40;
    Tensor *x8 = tensor_new_fixed(cx, "x", I8, 1, &n), *u8 = tensor_new_fixed(cx, "u", U8, 1, &n);
    Tensor *x32 = tensor_new_fixed(cx, "w", I32, 1, &n), *f = tensor_new_fixed(cx, "g", F32, 1, &n);
    const Bind b[] = { BIND_T("x", x8), BIND_T("u", u8), BIND_T("w", x32), BIND_T("g", f), { NULL, NULL, NULL } };
    struct { const char *name, *formula, *expected; } rows[] = {
        { "sum-wraps-through-unsigned", "y[i] = w[i] + w[i] * 2", "(uint32_t)" },
        { "narrow-sum-is-cast-back", "y[i] = x[i] + x[i]", "= (int8_t)(" },
        { "widened-product-is-plain", "y[i] = i32(x[i]) * i32(u[i])", "= (int32_t)x[i] * x2[i];" },
        { "index-division-is-plain", "y[i<20] = g[i/2]", "x[i / 2]" },
        { "floor-division-of-data-is-a-helper", "y[i] = w[i] / 3", "lw_floordiv32(x[i], 3)" },
        { "shift-right-of-data-is-a-helper", "y[i] = w[i] >> 2", "lw_shr_i32(x[i], 2)" },
        { "float-constant-has-its-suffix", "y[i] = g[i] * 0.1", "* 0.1f" },
        { "added-minus-is-a-subtraction", "y[i] = g[i] + -0.5", "x[i] - 0.5f" },
        { "padded-read-is-printed", "y[i<50] = (g[i-3]? : 0)", NULL },
        { "max-is-a-helper", "y[i] = max(g[i], 0)", "lw_maxf(x[i], 0.0f)" },
        { "shared-data-wraps", "y[i] = (w[i] ^ 5) * 2 + ((w[i] ^ 5) & 3)", "(uint32_t)v * 2u" },
        { "parentheses-on-the-right-stay", "y[i] = g[i] - (g[i] - 1)", "x[i] - (x[i] - 1.0f)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = function_of(cx, rows[i].formula, b);
        check_that(*text && (!rows[i].expected || has(text, rows[i].expected)), rows[i].name, "%s", text);
    }
}

/* The quick forms of lw_fixed.h, at the very ends of the ranges for which test_fixed.c shows them right, and one step
 * beyond. */
static void fixed_forms(Ctx *cx)
{
    int64_t n = 40;
    const Bind b[] = {
        BIND_T("w", tensor_new_fixed(cx, "w", I32, 1, &n)), BIND_T("v", tensor_new_fixed(cx, "v", I32, 1, &n)), { NULL,
        NULL, NULL }
    };
#define SCALED(least, most, m, by, zero, low, high) \
    "y[i] = i8(min(max(roundshift(mulhigh(min(max(w[i], " least "), " most "), " m "), " by ")" zero ", " low \
    "), " high "))"
    static const struct { const char *name, *formula, *expected;
    } rows[] = {
        { "mulhigh-of-anything", "y[i] = mulhigh(w[i], v[i])", "lw_mulhigh_sat_i32(" },
        { "mulhigh-of-all-but-the-least", "y[i] = mulhigh(max(w[i], -2147483647), v[i])", "lw_mulhigh_i32(" },
        { "mulhigh-by-a-constant", "y[i] = mulhigh(w[i], 1518500250)", "lw_mulhigh_i32(" },
        { "mulhigh-up", "y[i] = mulhigh(min(max(w[i], -1023), 1023) << 20, 1518500250)",
          "lw_mulhigh_up_i32(lw_min_i32(" },
        { "mulhigh-up-by-any-factor", "y[i] = mulhigh(min(max(w[i], -1), 1) << 29, max(v[i], 0))",
          "lw_mulhigh_up_i32(" },
        { "mulhigh-up-to-a-half", "y[i] = mulhigh(min(max(w[i], -1023), 1023) << 20, 1073741824)", " << 19)" },
        { "mulhigh-up-of-one-more", "y[i] = mulhigh(min(max(w[i], -1023), 1024) << 20, 1518500250)",
          "lw_mulhigh_i32(" },
        { "mulhigh-up-of-one-less", "y[i] = mulhigh(min(max(w[i], -1024), 1023) << 20, 1073741824)",
          "lw_mulhigh_i32(" },
        { "mulhigh-up-by-less-than-0", "y[i] = mulhigh(min(max(w[i], -1023), 1023) << 20, max(v[i], -1))",
          "lw_mulhigh_i32(" },
        { "mulhigh-up-by-15", "y[i] = mulhigh(min(max(w[i], -1023), 1023) << 15, 1518500250)", "lw_mulhigh_i32(" },
        { "roundshift-of-anything", "y[i] = roundshift(w[i], v[i])", "lw_roundshift_any_i32(" },
        { "roundshift-by-less-than-32", "y[i] = roundshift(w[i], v[i] & 31)", "lw_roundshift_i32(" },
        { "roundshift-by-one-more", "y[i] = roundshift(w[i], v[i] & 63)", "lw_roundshift_any_i32(" },
        { "roundshift-near", "y[i] = roundshift(min(max(w[i], -1073741824), 1073741824), max(1, min(v[i], 30)))",
          "lw_roundshift_near_i32(" },
        { "roundshift-of-one-more", "y[i] = roundshift(min(max(w[i], -1073741824), 1073741825), 30)",
          "lw_roundshift_i32(" },
        { "roundshift-of-one-less", "y[i] = roundshift(min(max(w[i], -1073741825), 1073741824), 30)",
          "lw_roundshift_i32(" },
        { "roundshift-by-31", "y[i] = roundshift(min(max(w[i], -1073741824), 1073741824), 31)", "lw_roundshift_i32(" },
        { "roundshift-by-perhaps-0", "y[i] = roundshift(min(max(w[i], -1073741824), 1073741824), v[i] & 15)",
          "lw_roundshift_i32(" },
        { "scale", SCALED("-1073741824", "1073741823", "1518500250", "5", " + 128", "-128", "127"), "lw_scale_i8(" },
        { "scale-in-a-sum",
          "y[i] = min(max(roundshift(mulhigh(min(max(w[i], -1073741824), 1073741823), 1518500250), 5) + 4, -128), 127) "
          "- v[i]",
          "lw_scale_i8(" },
        { "scale-by-any-multiplier",
          SCALED("-1073741824", "1073741823", "max(v[i], 0)", "max(1, min(v[i], 22))", " - 128", "-128", "127"),
          "lw_scale_i8(" },
        { "scale-of-one-more", SCALED("-1073741824", "1073741824", "1518500250", "5", " + 128", "-128", "127"),
          "lw_roundshift_" },
        { "scale-of-one-less", SCALED("-1073741825", "1073741823", "1518500250", "5", " + 128", "-128", "127"),
          "lw_roundshift_" },
        { "scale-by-less-than-0", SCALED("-1073741824", "1073741823", "max(v[i], -1)", "5", " + 128", "-128", "127"),
          "lw_roundshift_" },
        { "scale-shifted-by-23", SCALED("-1073741824", "1073741823", "1518500250", "23", " + 128", "-128", "127"),
          "lw_roundshift_" },
        { "scale-shifted-by-0",
          SCALED("-1073741824", "1073741823", "1518500250", "min(max(v[i], 0), 22)", " + 128", "-128", "127"),
          "lw_roundshift_" },
        { "scale-and-129", SCALED("-1073741824", "1073741823", "1518500250", "5", " + 129", "-128", "127"),
          "lw_roundshift_" },
        { "scale-and-minus-129", SCALED("-1073741824", "1073741823", "1518500250", "5", " - 129", "-128", "127"),
          "lw_roundshift_" },
        { "scale-clamped-closer", SCALED("-1073741824", "1073741823", "1518500250", "5", " + 128", "-127", "127"),
          "lw_roundshift_" },
    };
#undef SCALED
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = function_of(cx, rows[i].formula, b);
        const bool is_scale = has(rows[i].expected, "scale");
        const char *form = text_format(cx, "takes-%.*s", (int)strcspn(rows[i].expected, "("), rows[i].expected);
        check_that(has(text, rows[i].expected) && has(text, "lw_scale_i8(") == is_scale,
                   check_label(rows[i].name, rows[i].expected[0] == ' ' ? "takes-a-shift" : form), "%s", text);
    }
}

static void names_are_roles(Ctx *cx)
{
    int64_t shape[] = { 4, 5 };
    const Bind one[] = { BIND_T("alpha", tensor_new_fixed(cx, "alpha", F32, 2, shape)), { NULL, NULL, NULL } };
    const Bind two[] = { BIND_T("beta", tensor_new_fixed(cx, "beta", F32, 2, shape)), { NULL, NULL, NULL } };
    const char *a = function_of(cx, "gamma[i,j] = alpha[i,j] * 2", one),
               *b = function_of(cx, "delta[i,j] = beta[i,j] * 2", two);
    check_that(*a && strcmp(a, b) == 0, "equal-groups-print-equally", "%s\nand\n%s", a, b);
}

static void numbers(Ctx *cx)
{
    static const float values[] = { 0.0f,        -0.0f,         1.0f,        -0.0123f,        0.1f,
                                    16777216.0f, 3.4028235e38f, 1e-45f,      1.17549435e-38f, 123456.789f,
                                    -2.5e-7f,    1e10f,         0.33333334f, 65504.0f,        9.999999e-5f };
    enum { COUNT = sizeof values / sizeof *values, MANY = 20000 };
    static float many[MANY];
    uint32_t bits = 12345;
    for (int i = 0; i < MANY; i++) {
        do {
            bits = bits * 1664525u + 1013904223u;
            memcpy(&many[i], &bits, sizeof bits);
        } while (many[i] - many[i] != 0);
        if (i < COUNT) many[i] = values[i];
    }
    int64_t shape = MANY;
    Text t = text_new(cx);
    weights_print(cx, tensor_constant(cx, "k", F32, 1, &shape, many), text_put, &t);
    const char *at = text_string(&t);
    int wrong = 0;
    size_t widest = 0;
    for (int i = 0; i < MANY; i++) {
        while (*at == ' ' || *at == '\n') at++;
        float back = text_read_float(at, &at);
        wrong += memcmp(&back, &many[i], sizeof back) != 0 || *at != 'f';
        at += *at == 'f';
        at += *at == ',';
    }
    for (const char *s = text_string(&t); *s;) {
        size_t n = strcspn(s, "\n");
        if (n > widest) widest = n;
        s += n + (s[n] == '\n');
    }
    check_that(wrong == 0, "floats-read-back", "%d of %d differ", wrong, MANY);
    check_that(widest <= 120, "lines-of-weights-have-120-columns", "%d", (int)widest);
    check_that(has(text_string(&t), "0.f,-0.f,1.f,-.0123f,.1f,"), "floats-are-printed-short", "%.60s", text_string(&t));
}

/* x[4][6] -> dense with k, b -> relu -> y[4][3], in two functions with a tensor in the arena between. */
static Program two_layers(Ctx *cx, bool standalone, bool static_arena)
{
    static const float k[18] = { 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6, .5f, .25f, .125f, 0, 1, -1 }, b[3] = {
        .5f, -100, 0
    };
    int64_t xs[] = { 4, 6 }, ks[] = { 6, 3 }, bs[] = { 3 };
    Tensor *x = tensor_new_fixed(cx, "x", F32, 2, xs);
    Tensor *kt = tensor_constant(cx, "kt", F32, 2, ks, k), *bt = tensor_constant(cx, "bt", F32, 1, bs, b);
    Tensor *t = FORMULA(cx, "t[i,o] = sum(c; b[o]) x[i,c] * k[c,o]", BIND_T("x", x), BIND_T("k", kt), BIND_T("b", bt));
    Tensor *y = FORMULA(cx, "y[i,o] = max(t[i,o], 0)", BIND_T("t", t));
    Function *dense = NEW(cx->arena, Function), *relu = NEW(cx->arena, Function);
    *dense = *lower_final(cx, lower_nest(cx, nest_naive(cx, "dense", NULL, 0, &t, 1), NULL), NULL);
    *relu = *lower_final(cx, lower_nest(cx, nest_naive(cx, "relu", &t, 1, &y, 1), NULL), NULL);
    const Function **functions = NEW_ARRAY(cx->arena, const Function *, 2);
    functions[0] = dense;
    functions[1] = relu;
    Place *places = NEW_ARRAY(cx->arena, Place, 6);
    places[0] = (Place){ PLACE_INPUT, 0, 0, F32 };
    places[1] = (Place){ PLACE_CONST, 0, 0, F32 };
    places[2] = (Place){ PLACE_CONST, 1, 0, F32 };
    places[3] = places[4] = (Place){ PLACE_ARENA, 0, 16, F32 };
    places[5] = (Place){ PLACE_OUTPUT, 0, 0, F32 };
    Call *calls = NEW_ARRAY(cx->arena, Call, 2);
    calls[0] = (Call){ .function = dense, .label = "dense \"1\"", .place_count = dense->memory_count, .place = places };
    calls[1] = (Call){ .function = relu, .label = "relu", .place_count = 2, .place = places + 4 };
    Port *ports = NEW_ARRAY(cx->arena, Port, 2);
    ports[0] = (Port){ .name = "x", .tensor = x, .at = -1, .macro = "X" };
    ports[1] = (Port){ .name = "y", .tensor = y, .layout = "NC", .at = -1, .macro = "Y" };
    const Tensor **constants = NEW_ARRAY(cx->arena, const Tensor *, 2);
    const char **names = NEW_ARRAY(cx->arena, const char *, 2);
    constants[0] = kt;
    constants[1] = bt;
    names[0] = "dense_k";
    names[1] = "dense_b";
    Program p = { .name = "two",
                  .header = "two.h",
                  .source = "two.onnx",
                  .target = "generic",
                  .options = "",
                  .digest = "0123",
                  .input_count = 1,
                  .output_count = 1,
                  .input = ports,
                  .output = ports + 1,
                  .constant_count = 2,
                  .constant = constants,
                  .constant_name = names,
                  .function_count = 2,
                  .function = functions,
                  .call_count = 2,
                  .call = calls,
                  .arena_size = 64,
                  .arena_align = 16,
                  .standalone = standalone,
                  .static_arena = static_arena };
    cgen_complete(cx, &p);
    return p;
}

static void header(Ctx *cx)
{
    Program p = two_layers(cx, false, false);
    const char *h = cgen_header(cx, &p), *c = cgen_text(cx, &p);
    CHECK("header-defines-the-arena's-size", has(h, "#define TWO_ARENA_SIZE   64u"));
    CHECK("header-defines-the-weights'-size", has(h, "#define TWO_WEIGHTS_SIZE 84u"));
    CHECK("header-lists-the-ports",
          has(h, "#define TWO_INPUTS(X) X(x, float, 24)\n#define TWO_OUTPUTS(X) X(y, float, 12)\n"));
    CHECK("header-declares-the-structs",
          has(h, "struct two_inputs {\n    const float *x;\n};") && has(h, "struct two_outputs {\n    float *y;\n};"));
    CHECK("header-declares-the-function",
          has(h, "int two_run(void *arena, const struct two_inputs *in, const struct two_outputs *out);"));
    CHECK("source-marks-the-layers",
          has(c, "LW_LAYER(0, \"dense \\\"1\\\"\")\n    two_dense(in->x, two_dense_k, two_dense_b,"));
    CHECK("source-refuses-a-wrong-arena", has(c, "return TWO_E_ARENA;"));
    CHECK("same-program-gives-the-same-bytes", strcmp(c, cgen_text(cx, &p)) == 0);
}

static bool write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fputs(text, f);
    return fclose(f) == 0;
}

static const char user[] =
    "#include <stdio.h>\n#include <stdint.h>\n#include \"two.h\"\n"
    "static union { double d; unsigned char b[TWO_ARENA_SIZE + TWO_ARENA_ALIGN]; } memory;\n"
    "int main(void)\n{\n    float x[24], y[12];\n    for (int i = 0; i < 24; i++) x[i] = (float)(i % 5) - 2;\n"
    "    const struct two_inputs in = { x };\n    const struct two_outputs out = { y };\n"
    "    unsigned char *arena = memory.b + (TWO_ARENA_ALIGN - (uintptr_t)memory.b % TWO_ARENA_ALIGN) % "
    "TWO_ARENA_ALIGN;\n    (void)arena;\n"
    "    if (RUN) return 1;\n    for (int i = 0; i < 12; i++) {\n"
    "        static const float k[18] = { 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6, .5f, .25f, .125f, 0, 1, -1 }, b[3] "
    "= { .5f, -100, 0 };\n"
    "        float want = b[i % 3];\n        for (int c = 0; c < 6; c++) want += x[i / 3 * 6 + c] * k[c * 3 + i % 3];\n"
    "        if (y[i] != (want > 0 ? want : 0)) return 2;\n    }\n    return BAD;\n}\n";

static void build_and_run(Ctx *cx, const char *folder, const char *name, bool standalone, bool static_arena,
                          const char *cc)
{
    Program p = two_layers(cx, standalone, static_arena);
    const char *run = static_arena ? "two_run(&in, &out) != 0" : "two_run(arena, &in, &out) != 0";
    const char *bad = static_arena
                          ? "0"
                          : "two_run(arena + 1, &in, &out) != TWO_E_ARENA || two_run(0, &in, &out) != TWO_E_ARENA";
    bool written = system(text_format(cx, "mkdir -p %s", folder)) == 0
                   && write_text(text_format(cx, "%s/two.h", folder), cgen_header(cx, &p))
                   && write_text(text_format(cx, "%s/two.c", folder), cgen_text(cx, &p))
                   && write_text(text_format(cx, "%s/two_main.c", folder), cgen_testbench(cx, &p))
                   && write_text(text_format(cx, "%s/user.c", folder),
                                 text_format(cx, "#define RUN %s\n#define BAD %s\n%s", run, bad, user));
    const char *flags = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O1";
    const char *include = standalone ? "" : "-Iruntime";
    int built = !written
                    ? -1
                    : system(text_format(
                        cx,
                        "%s %s %s -o %s/user %s/user.c %s/two.c -lm && %s %s %s -o %s/bench %s/two_main.c %s/two.c -lm",
                        cc, flags, include, folder, folder, folder, cc, flags, include, folder, folder, folder));
    check_that(built == 0, text_format(cx, "%s-builds-without-warnings", name), "in %s", folder);
    int status = built ? -1 : system(text_format(cx, "%s/user", folder));
    check_that(status == 0, text_format(cx, "%s-runs", name), "status %d in %s", status, folder);
}

int main(int argc, char **argv)
{
    (void)argc;
    Ctx *cx = context_new(NULL, NULL);
    const char *cc = getenv("CC");
    if (!cc || !*cc) cc = "cc";
    expressions(cx);
    fixed_forms(cx);
    names_are_roles(cx);
    numbers(cx);
    header(cx);
    if (system(text_format(cx, "command -v %s >/dev/null 2>&1", cc)) != 0)
        check_skip("plain-runs", "no C compiler to run");
    else {
        /* A folder of this build's own */
        const char *folder = text_format(cx, "%s%s.emitted", *argv[0] == '/' ? "" : "./", argv[0]);
        build_and_run(cx, folder, "plain", false, false, cc);
        build_and_run(cx, folder, "standalone", true, false, cc);
        build_and_run(cx, folder, "static-arena", false, true, cc);
    }
    check_that(!ctx_failed(cx), "programs-give-no-diagnostic", "%s", cx->diags ? diag_text(cx, cx->diags) : "");
    ctx_free(cx);
    return check_done();
}
