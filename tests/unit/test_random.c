/* SPDX-License-Identifier: MIT */
/* Random numbers: the known answers that the generators' authors published, distributions by moments and by the
 * Kolmogorov distance to the exact one, independence of keys; the same bits from every compiler that is here. */
#include "check.h"
#include "onnx_text.h"
#include "op_cases.h"

#include <math.h>

#include "context/context.h"
#include "runtime/lw_random.h"
#include "driver/driver.h"
#include "import/onnx/onnx.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/formula.h"
#include "tests/fuzz/emit_batch.c"

enum { DRAWS = 20000 };

/* ---- Known answers ----------------------------------------------------------------------------------------------- */

/* Of Random123, the authors' own implementation: counter, key, result. */
static void known_answers(void)
{
    static const uint32_t answer[][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
          0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
          0x24126ea1 },
    };
    for (size_t i = 0; i < sizeof answer / sizeof answer[0]; i++) {
        uint32_t word[4];
        memcpy(word, answer[i], sizeof word);
        lw_philox(word, answer[i][4], answer[i][5]);
        check_that(memcmp(word, answer[i] + 6, sizeof word) == 0, "philox 4x32-10 gives the known answers",
                   "%08x %08x %08x %08x", word[0], word[1], word[2], word[3]);
    }
    Ctx *cx = context_new(NULL, NULL);
    const Expr *e = expr_read(cx, "philox(u64(0), u64(0))", (const Bind[]){ { NULL, NULL, NULL } }, U64);
    check_that(e->kind == EXPR_INT && (uint64_t)e->integer == UINT64_C(0xe169c58d6627e8d5),
               "philox in a formula gives the first two words", "%llx", (unsigned long long)e->integer);
    expr_read(cx, "philox(1, 2)", (const Bind[]){ { NULL, NULL, NULL } }, I32);
    CHECK("philox requires u64", ctx_failed(cx) && strstr(diag_text(cx, cx->diags), "'philox' requires u64, not i32"));
    ctx_free(cx);
}

static const void *values(Made *m)
{
    Tensor *const *out = m->node ? op_expand(m->cx, m->node) : NULL;
    Env *env = env_new(m->cx);
    return out && evaluate(m->cx, env, out, 1) ? env_get(env, out[0]) : NULL;
}

/* The first numbers of seeds 0 and 5489, as numpy's RandomState gives them; the 10,000th word of seed 5489 is
 * 4123659995. */
static void mersenne(void)
{
    static const double zero[] = { 0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969,
                                   0.4236547993389047 };
    Made m = make_call("mersenne_uniform", "shape=5", "u32={0}");
    const double *v = values(&m);
    check_that(v && memcmp(v, zero, sizeof zero) == 0, "mersenne begins with the known numbers of seed 0", "%.17g",
               v ? v[0] : 0);
    ctx_free(m.cx);
    m = make_call("mersenne_uniform", "shape=5000", "u32={5489}");
    v = values(&m);
    CHECK("mersenne gives the known 10,000th word of the standard seed",
          v && (uint64_t)(v[4999] * 9007199254740992.0) % (1u << 26) == 4123659995u >> 6);
    ctx_free(m.cx);
}

/* ---- Distributions ----------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double uniform_share(double x) { return x < -1 ? 0 : x > 3 ? 1 : (x + 1) / 4; }
static double normal_share(double x) { return 0.5 * erfc(-(x - 2) / 0.5 / sqrt(2)); }

/* The bounds are those which a generator that is right exceeds once in 10^5 keys. */
static void distribution(const char *op, const char *attrs, double mean, double deviation, double fourth,
                         double share(double))
{
    char all[80];
    snprintf(all, sizeof all, "%s shape=%d", attrs, DRAWS);
    Made m = make_call(op, all, "u64={42}");
    const void *data = values(&m);
    const char *label = text_format(m.cx, "%s %s", op, attrs);
    if (!check_that(data != NULL, text_format(m.cx, "%s is evaluated", label), "%s",
                    m.cx->diags ? diag_text(m.cx, m.cx->diags) : "")) return;
    double *v = NEW_ARRAY(m.cx->arena, double, DRAWS), sum = 0, squares = 0, furthest = 0, neighbours = 0;
    for (int i = 0; i < DRAWS; i++) v[i] = dtype_load(m.node->out[0]->type, data, i).f, sum += v[i];
    for (int i = 0; i < DRAWS; i++) squares += (v[i] - mean) * (v[i] - mean);
    for (int i = 1; i < DRAWS; i++) neighbours += (v[i] - mean) * (v[i - 1] - mean) / (deviation * deviation);
    const double root = sqrt((double)DRAWS), off_mean = (sum / DRAWS - mean) / deviation * root;
    const double off_variance = (squares / DRAWS / (deviation * deviation) - 1) * root / sqrt(fourth - 1);
    check_that(fabs(off_mean) < 4.4, text_format(m.cx, "%s has the mean", label), "off by %g standard errors",
               off_mean);
    check_that(fabs(off_variance) < 4.4, text_format(m.cx, "%s has the variance", label), "off by %g standard errors",
               off_variance);
    check_that(fabs(neighbours / root) < 4.4, text_format(m.cx, "%s has uncorrelated neighbours", label),
               "correlated by %g standard errors", neighbours / root);
    qsort(v, DRAWS, sizeof *v, ascending);
    for (int i = 0; i < DRAWS; i++) {
        const double f = share(v[i]), below = fabs(f - (double)i / DRAWS), above = fabs((double)(i + 1) / DRAWS - f);
        furthest = below > furthest ? below : above > furthest ? above : furthest;
    }
    check_that(furthest * root < 2.47, text_format(m.cx, "%s is near its distribution", label), "%g / sqrt(n)",
               furthest * root);
    ctx_free(m.cx);
}

static void classes(void)
{
    /* Shares 1/2, 1/4, 1/4 as logarithms, not normalized; and a class that is never drawn. */
    char samples[40];
    snprintf(samples, sizeof samples, "samples=%d", DRAWS);
    Made m = make_call("multinomial", samples, "f32[1][4]={3.6931472,3,-1000,3} u64={9}");
    const int64_t *v = values(&m);
    int count[4] = { 0 };
    for (int i = 0; v && i < DRAWS; i++) count[v[i] & 3]++;
    const double want[] = { 0.5, 0.25, 0, 0.25 };
    double chi = 0;
    for (int i = 0; i < 4; i++)
        if (want[i] > 0) chi += (count[i] - want[i] * DRAWS) * (count[i] - want[i] * DRAWS) / (want[i] * DRAWS);
    check_that(v && count[2] == 0 && chi < 23.0, "multinomial draws classes by their shares",
               "%d %d %d %d, chi squared %g", count[0],
               count[1], count[2], count[3], chi);
    ctx_free(m.cx);
}

static void keys(void)
{
    Made a = make_call("random_normal", "shape=64", "u64={1}"), b = make_call("random_normal", "shape=64", "i64={1}"),
         c = make_call("random_normal", "shape=64", "u64={2}");
    Made d = make_call("random_normal", "shape=8,8", "u64={1}");
    const float *x = values(&a), *y = values(&b), *z = values(&c), *w = values(&d);
    int same = 0;
    for (int i = 0; x && z && i < 64; i++) same += x[i] == z[i];
    CHECK("a key is its number, whatever its type", x && y && memcmp(x, y, 64 * sizeof *x) == 0);
    CHECK("another key gives other numbers", same == 0);
    CHECK("elements are numbered row by row", x && w && memcmp(x, w, 64 * sizeof *x) == 0);
    ctx_free(a.cx), ctx_free(b.cx), ctx_free(c.cx), ctx_free(d.cx);
}

/* ---- From ONNX --------------------------------------------------------------------------------------------------- */

/* The values of the model's outputs, each of eight floats, through all passes and schedules. */
static bool run_line(Ctx *cx, const char *line, const void **out)
{
    static const lw_options options = { .name = "net" };
    const Text file = onnx_text(cx, line);
    Build b = {
        .cx = cx, .options = &options, .path = "net.onnx", .name = "net", .target = target_find(cx, "generic")
    };
    if (!onnx_read(cx, "net.onnx", (Bytes){ (const uint8_t *)file.at, file.length }, NULL, &b.model)) return false;
    float x[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    const void *in[] = { x };
    return build_graph(&b) && build_nests(&b) && build_run(&b, in, out);
}

static bool same(const void *const *out, int a, int b) { return memcmp(out[a], out[b], 8 * sizeof(float)) == 0; }

static void from_onnx(void)
{
    Ctx *cx = context_new(NULL, NULL);
    const void *out[8], *again[8];
    const char *line = "x:2,4; RandomUniformLike x a; RandomUniformLike x b; RandomUniformLike x c seed=3~; "
                       "RandomUniform  d seed=3~ shape=8,1; RandomNormalLike x e; "
                       "Bernoulli x f; >a; >b; >c; >d; >e; >f";
    bool ok = run_line(cx, line, out) && run_line(cx, line, again);
    check_that(ok, "random operators of ONNX are read", "%s", cx->diags ? diag_text(cx, cx->diags) : "");
    CHECK("nodes of ONNX draw different numbers", ok && !same(out, 0, 1) && !same(out, 0, 4));
    CHECK("a seed of ONNX is the key", ok && same(out, 2, 3) && !same(out, 0, 2));
    CHECK("a seed of ONNX gives the same numbers in every run",
          ok && memcmp(out[0], again[0], 32) == 0 && memcmp(out[4], again[4], 32) == 0);
    float ones = ok ? ((float *)out[5])[0] : 0;
    CHECK("a Bernoulli call draws what is certain", ok && ones == 1 && ((float *)out[5])[7] == 1);
    ctx_free(cx);
    cx = context_new(NULL, NULL);
    CHECK("random integers of ONNX are refused",
          !run_line(cx, "x:2,4; RandomUniformLike x y dtype=7!; >y", out)
              && strstr(diag_text(cx, cx->diags), "random numbers have the type i64"));
    ctx_free(cx);
}

/* ---- Every compiler ---------------------------------------------------------------------------------------------- */

static void add_call(EmitBatch *batch, const char *op, const char *attrs, const char *inputs)
{
    Made m = make_call(op, attrs, inputs);
    Tensor *const *out = op_expand(m.cx, m.node);
    const Nest *n = nest_naive(m.cx, op, m.in, m.in_count, out, 1);
    Env *env = env_new(m.cx);
    env_set_const(env, n->output[0], values(&m));
    for (int i = 0; i < n->input_count; i++) env_set_const(env, n->input[i], n->input[i]->data);
    if (!emit_batch_add(batch, m.cx, op, n, env))
        check_that(false, text_format(m.cx, "%s %s is lowered", op, attrs), "it is not");
    ctx_free(m.cx);
}

static void compilers(void)
{
    static const char *const cc[] = { "cc -O0", "cc -O3", "clang -O0", "clang -O3" };
    const char *folder = getenv("TMPDIR");
    EmitBatch *batch = emit_batch_new();
    add_call(batch, "random_uniform", "shape=300 low=-2 high=5", "u64={77}");
    add_call(batch, "random_uniform", "shape=300 to=f64", "u64={77}");
    add_call(batch, "random_normal", "shape=300", "u64={77}");
    add_call(batch, "random_normal", "shape=300 to=f64", "u64={77}");
    add_call(batch, "mersenne_uniform", "shape=300", "u32={77}");
    add_call(batch, "multinomial", "samples=300", "f32[2][7] u64={77}");
    for (size_t i = 0; i < sizeof cc / sizeof cc[0]; i++) {
        const char *label = text_format(batch->cx, "the bits are the same by %s", cc[i]);
        if (system(text_format(batch->cx, "command -v %.*s >/dev/null 2>&1", (int)strcspn(cc[i], " "), cc[i])) != 0) {
            check_skip(label, text_format(batch->cx, "%.*s is not installed", (int)strcspn(cc[i], " "), cc[i]));
            continue;
        }
        const int wrong = emit_batch_run(batch, text_format(batch->cx, "%s/lw_random", folder ? folder : "/tmp"), cc[i],
                                         "-std=c99 -w -ffp-contract=off");
        check_that(wrong == 0, label, "%d differ (-1: no compilation)", wrong);
    }
    emit_batch_free(batch);
}

int main(void)
{
    CHECK_RUN(known_answers, mersenne);
    distribution("random_uniform", "low=-1 high=3", 1, 4 / sqrt(12), 1.8, uniform_share);
    distribution("random_uniform", "low=-1 high=3 to=f64", 1, 4 / sqrt(12), 1.8, uniform_share);
    distribution("random_normal", "mean=2 scale=0.5", 2, 0.5, 3, normal_share);
    distribution("random_normal", "mean=2 scale=0.5 to=f64", 2, 0.5, 3, normal_share);
    CHECK_RUN(classes, keys, from_onnx, compilers);
    return check_done();
}
