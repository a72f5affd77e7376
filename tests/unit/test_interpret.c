/* SPDX-License-Identifier: MIT */
/* The interpreter: correct nests, naive and scheduled by hand, give the evaluator's values in every mode. Checks of a
 * run catch wrong nests, and a wrong kind of loop shows if parallel iterations are shuffled and lanes run in
 * lockstep. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/formula.h"
#include "ir/interpret/interpret.h"
#include "support/text.h"

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return *seed >> 8;
}

/* Small numbers of either sign, a few of them zero; integers now and then from the whole range. Sums of these floats
 * depend on their order. */
static void *made_up(Ctx *cx, Env *e, const Tensor *t, uint32_t seed)
{
    void *data = env_alloc(cx, e, t);
    for (int64_t i = 0; i < env_elems(cx, e, t); i++) {
        Scalar s = { .i = (int64_t)(next_random(&seed) % 25) - 12 };
        if (dtype_is_float(t->type)) s.f = (double)s.i / 7;
        else if (next_random(&seed) % 4 == 0)
            s.i = (int64_t)((uint64_t)next_random(&seed) * UINT64_C(0x9e3779b97f4a7c15));
        dtype_store(t->type, data, i, dtype_wrap(t->type, s));
    }
    return data;
}

static void set_size(const Expr *e, void *user)
{
    const Var *v = expr_as_var(e);
    Env *env = ((Env **)user)[0];
    if (v && v->role == VAR_SIZE) env_set_size(env, e, *((int64_t **)user)[1]);
}

/* An environment for a nest: sizes have the given value; inputs are generated, the same each time. */
static Env *env_for(Ctx *cx, const Nest *n, int64_t size)
{
    Env *e = env_new(cx);
    void *user[] = { e, &size };
    for (int i = 0; i < n->input_count; i++)
        for (int d = 0; d < n->input[i]->rank; d++) expr_walk(cx, n->input[i]->shape[d], set_size, user);
    for (int i = 0; i < n->input_count; i++)
        if (!n->input[i]->data) made_up(cx, e, n->input[i], 99u + (uint32_t)i);
    return e;
}

static const char *first_error(Ctx *cx)
{
    for (const Diag *d = cx->diags; d; d = d->next)
        if (d->severity >= ERROR) return diag_text(cx, d);
    return "no error";
}

/* How often each path of the fast interpreter has run */
enum { MOST_PATHS = 128 };
static int64_t paths_ran[MOST_PATHS];

typedef struct Mode { const char *name; RunOptions options; } Mode;
static const Mode modes[] = {
    { "fast",     { .checked = false, .ran = paths_ran } },
    { "checked",  { .checked = true } },
    { "shuffled", { .checked = true, .shuffle = 1 } },
    { "again",    { .checked = true, .shuffle = 0xfeedface } },
    { "lockstep", { .shuffle = 77 } },
};
enum { MODE_COUNT = sizeof modes / sizeof modes[0] };

static bool same_outputs(Ctx *cx, const Nest *n, Env *a, Env *b)
{
    for (int i = 0; i < n->output_count; i++) {
        const size_t bytes = (size_t)env_elems(cx, a, n->output[i]) * (size_t)dtype_info(n->output[i]->type)->bytes;
        const void *x = env_get(a, n->output[i]), *y = env_get(b, n->output[i]);
        if (!x || !y || memcmp(x, y, bytes) != 0) return false;
    }
    return true;
}

static void equals_evaluator(Ctx *cx, const char *name, const Nest *n, int64_t size)
{
    if (!n) {
        check_that(false, check_label(name, "equals-the-evaluator"), "%s", first_error(cx));
        return;
    }
    Env *meant = env_for(cx, n, size);
    evaluate(cx, meant, n->output, n->output_count);
    const char *wrong = ctx_failed(cx) ? "evaluator" : NULL;
    for (int m = 0; m < MODE_COUNT && !wrong; m++) {
        Env *run = env_for(cx, n, size);
        interpret(cx, n, run, &modes[m].options);
        if (ctx_failed(cx) || !same_outputs(cx, n, meant, run)) wrong = modes[m].name;
    }
    check_that(!wrong, check_label(name, "equals-the-evaluator"), "%s: %s", wrong, first_error(cx));
}

/* ---- Naive nests ------------------------------------------------------------------------------------------------- */

typedef struct Input { const char *name; DType type; int rank; int64_t shape[4]; } Input;
typedef struct Naive { const char *name; Input input[3]; const char *formula[5]; } Naive;

/* The last formula is the output; the others are intermediate. */
static const Naive naive[] = {
    { "matmul", { { "a", F32, 2, { 5, 9 } }, { "b", F32, 2, { 9, 4 } } }, { "y[i,j] = sum(k) a[i,k] * b[k,j]" } },
    { "matmul-long", { { "a", F32, 2, { 2, 1500 } }, { "b", F32, 2, { 1500, 3 } } },
      { "y[i,j] = sum(k) a[i,k] * b[k,j]" } },
    { "matmul-i8", { { "a", I8, 2, { 3, 40 } }, { "b", I8, 2, { 7, 40 } } },
      { "y[i,j] = sum(k) i32(a[i,k]) * i32(b[j,k])" } },
    { "matmul-i64", { { "a", I64, 2, { 3, 40 } }, { "b", I64, 2, { 7, 40 } } }, { "y[i,j] = sum(k) a[i,k] * b[j,k]" } },
    { "matmul-f64", { { "a", F64, 2, { 3, 40 } }, { "b", F64, 2, { 7, 40 } } }, { "y[i,j] = sum(k) a[i,k] * b[j,k]" } },
    { "conv-same", { { "x", F32, 3, { 9, 11, 5 } }, { "k", F32, 4, { 3, 3, 5, 6 } }, { "b", F32, 1, { 6 } } },
      { "y[h<9,w<11,o] = sum(i,j,c; b[o]) (x[h+i-1,w+j-1,c]? * k[i,j,c,o] : 0)" } },
    { "conv-stride-wide", { { "x", F32, 3, { 17, 19, 40 } }, { "k", F32, 4, { 5, 5, 40, 3 } } },
      { "y[h<9,w<10,o] = sum(i,j,c) (x[2*h+i-2,2*w+j-2,c]? * k[i,j,c,o] : 0)" } },
    { "depthwise", { { "x", F32, 3, { 12, 10, 33 } }, { "k", F32, 3, { 3, 3, 33 } } },
      { "y[h<12,w<10,c] = sum(i,j) (x[h+i-1,w+j-1,c]? * k[i,j,c] : 0)" } },
    { "max-pool-i8", { { "x", I8, 3, { 8, 8, 3 } } }, { "y[h<4,w<4,c] = max(i<3,j<3) (x[2*h+i,2*w+j,c]? : -128)" } },
    { "max-pool-f32", { { "x", F32, 3, { 9, 9, 3 } } }, { "y[h<4,w<4,c] = max(i<3,j<3) x[2*h+i,2*w+j,c]" } },
    { "min-i32", { { "x", I32, 2, { 30, 40 } } }, { "y[i] = min(k) x[i,k]" } },
    { "max-i32", { { "x", I32, 2, { 30, 40 } } }, { "y[i] = max(k) x[i,k]" } },
    { "min-f32", { { "x", F32, 2, { 30, 40 } } }, { "y[i] = min(k) x[i,k]" } },
    { "min-i8", { { "x", I8, 2, { 30, 40 } } }, { "y[i] = min(k) x[i,k]" } },
    { "padded-rows", { { "x", F32, 2, { 4, 600 } } }, { "y[i<6,j<600] = (x[i-1,j]? : 0.5)" } },
    { "prod-f32", { { "x", F32, 2, { 30, 4 } } }, { "y[i] = prod(k) x[i,k]" } },
    { "any-all", { { "x", I32, 2, { 20, 3 } } }, { "y[i] = all(k) x[i,k] < 9" } },
    { "argmax", { { "x", F32, 2, { 6, 700 } } }, { "y, v[i] = argmax(k) x[i,k]" } },
    { "argmin-i8", { { "x", I8, 3, { 4, 5, 6 } } }, { "y, v[i,j] = argmin(k) x[i,j,k]" } },
    { "softmax", { { "x", F32, 2, { 3, 50 } } },
      { "m[n] = max(k) x[n,k]", "e[n,k] = exp(x[n,k] - m[n])", "s[n] = sum(k) e[n,k]", "y[n,k] = e[n,k] / s[n]" } },
    { "two-stages", { { "x", F32, 1, { 2000 } } }, { "t[i<1998] = x[i] + x[i+1] + x[i+2]",
      "y[i<1996] = t[i] * t[i+2]" } },
    { "gather", { { "x", F32, 2, { 6, 5 } }, { "at", I32, 1, { 8 } } }, { "y[i,j] = x[min(max(at[i],0),5),j]" } },
    { "mod-div", { { "x", F32, 1, { 60 } } }, { "y[i<60] = x[i / 12 + i % 12 * 5]" } },
    { "fixed-point", { { "x", I32, 2, { 3, 600 } } },
      { "y[i,j] = i8(min(max(i32((i64(x[i,j]) * 1518500250 + 1073741824) >> 31), -128), 127))" } },
    { "halves", { { "x", F16, 1, { 600 } } }, { "y[i] = f16(f32(x[i]) * 0.3 + 1.5)" } },
    { "lazy-sides", { { "x", F32, 1, { 10 } } },
      { "y[i<20] = select(i < 10 && x[i % 10] < 1.0, x[min(i,9)] * 2.0, 7.0)" } },
    { "scalar", { { "x", F32, 1, { 1000 } } }, { "y = sum(i) x[i]" } },
};

static const Nest *naive_nest(Ctx *cx, const Naive *c)
{
    Bind binds[12] = { { NULL, NULL, NULL } };
    Tensor *in[3], *y = NULL;
    int count = 0;
    for (; count < 3 && c->input[count].name; count++) {
        const Input *i = &c->input[count];
        in[count] = tensor_new_fixed(cx, i->name, i->type, i->rank, i->shape);
        binds[count] = (Bind)BIND_T(i->name, in[count]);
    }
    for (int f = 0, bound = count; f < 5 && c->formula[f]; f++) {
        y = formula(cx, c->formula[f], binds);
        if (y) binds[bound++] = (Bind)BIND_T(y->name, y);
    }
    return nest_naive(cx, c->name, in, count, &y, 1);
}

static void test_naive(void)
{
    for (size_t i = 0; i < sizeof naive / sizeof naive[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        equals_evaluator(cx, naive[i].name, naive_nest(cx, &naive[i]), 0);
        ctx_free(cx);
    }
}

/* Every kind on every type it suits, and every cast, over more elements than there are lanes. */
static void check_kind(ExprKind k, DType from, DType to)
{
    enum { ELEMS = 1100 };
    Ctx *cx = context_new(NULL, NULL);
    const int64_t shape[] = { ELEMS };
    Tensor *in[3];
    const Expr *arg[3], *i = axis_var(cx, "i", expr_index(cx, ELEMS));
    for (int a = 0; a < 3; a++) {
        in[a] = tensor_new_fixed(cx, (const char *[]){ "a", "b", "c" }[a], k == EXPR_SELECT && a == 0 ? BOOL : from, 1,
                                 shape);
        arg[a] = tensor_read(cx, in[a], &i, 1);
    }
    const int arity = expr_info(k)->arity;
    const DType result = expr_info(k)->algebra & ALGEBRA_IS_BOOL ? BOOL : to;
    StageSpec spec = { .name = "y", .axis_count = 1, .out_count = 1 };
    spec.axis[0] = (Axis){ i, AXIS_DATA, expr_index(cx, ELEMS) };
    spec.value[0] = expr_new(cx, k, result, NULL, arg, arity);
    Tensor *y = compute_new(cx, &spec)->out[0];
    char name[80];
    snprintf(name, sizeof name, "lanes-%s-%s-%s", expr_info(k)->spelling[0] ? expr_info(k)->spelling : "cast",
             dtype_info(from)->spelling, dtype_info(to)->spelling);
    const Nest *n = nest_naive(cx, name, in, arity, &y, 1);
    Env *meant = env_for(cx, n, 0), *run = env_for(cx, n, 0);
    evaluate(cx, meant, &y, 1);
    interpret(cx, n, run, &modes[0].options);
    check_that(!ctx_failed(cx) && same_outputs(cx, n, meant, run), check_label(name, "equals-the-evaluator"), "%s",
               first_error(cx));
    ctx_free(cx);
}

static bool suits(ExprKind k, DType t)
{
    const int algebra = expr_info(k)->algebra;
    if (k == EXPR_AND || k == EXPR_OR || k == EXPR_NOT) return t == BOOL;
    if (algebra & ALGEBRA_FLOATS) return dtype_is_float(t);
    if (algebra & ALGEBRA_INTEGERS) return dtype_is_integer(t);
    return t != BOOL || k == EXPR_EQ || k == EXPR_NE || k == EXPR_SELECT;
}

static void test_kinds(void)
{
    for (int k = EXPR_NEG; k < EXPR_KIND_COUNT; k++)
        for (int t = 0; t < DTYPE_COUNT; t++)
            if (suits((ExprKind)k, (DType)t)) check_kind((ExprKind)k, (DType)t, (DType)t);
    for (int from = 0; from < DTYPE_COUNT; from++)
        for (int to = 0; to < DTYPE_COUNT; to++)
            if (from != to) check_kind(EXPR_CAST, (DType)from, (DType)to);
}

/* ---- Scheduled nests --------------------------------------------------------------------------------------------- */

typedef struct Scheduled { const char *name; int64_t size; const char *text; } Scheduled;

#define MATMUL                                                                                                         \
    "nest matmul\ninput a: f32[10][7]\ninput b: f32[7][12]\n"                                                          \
    "stage y[i<10, j<12] = sum(k<7) a[i,k] * b[k,j]\noutput y\nloops\n"
#define BLUR                                                                                                           \
    "nest blur\nsize n in 0..100\ninput x: f32[n][8]\n"                                                                \
    "stage t[i<n, j<6] = x[i,j] + x[i,j+1] + x[i,j+2]\nstage y[i<n, j<6] = t[i,j] * 0.5\noutput y\nloops\n"
#define POOL                                                                                                           \
    "nest pool\ninput x: f32[13][4]\nstage c[h<13, w<4] = x[h,w] * 2.0\n"                                              \
    "stage p[h<6, w<4] = max(i<3) c[2*h+i, w]\noutput p\nloops\n"

static const Scheduled right[] = {
    { "split-tail-guard", 0,
      MATMUL "  for y.io < 3\n    for y.ii < 4\n      for y.j < 12\n        for y.k < 7\n"
             "          block y[i=io*4+ii, j=j, k=k] if io*4 + ii < 10\n" },
    { "split-tail-guard-reduce", 0,
      MATMUL "  for y.i < 10\n    for y.j < 12\n      for y.ko < 3\n        for y.ki < 3\n"
             "          block y[i=i, j=j, k=ko*3+ki] if ko*3 + ki < 7\n" },
    { "tile-reorder-vector", 0,
      MATMUL "  for y.io < 5 parallel\n    for y.jo < 3\n      for y.k < 7\n        for y.ii < 2 unrolled\n          "
             "for y.ji < 4 vector\n"
             "            block y[i=io*2+ii, j=jo*4+ji, k=k]\n" },
    { "init-apart", 0,
      MATMUL "  for y.i < 10\n    for y@init.j < 12 vector\n      block init y[i=i, j=j]\n"
             "    for y.k < 7\n      for y.j < 12 vector\n        block update y[i=i, j=j, k=k]\n" },
    { "sums-of-two-parts", 0,
      MATMUL "  for y.i < 10\n    for y.ko < 3\n      for y.ki < 2\n        for y.j < 12\n"
             "          block y[i=i, j=j, k=ko*2+ki]\n"
             "    for y@tail.k < 1\n      for y@tail.j < 12\n        block y@tail[i=i, j=j, k=k+6]\n" },
    { "sums-begun-by-an-outer-loop", 0,
      "nest sums\ninput x: f32[6][9]\nstage t[k<6, j<9] = x[k,j] * 2.0\nstage y[j<9] = sum(k<6) t[k,j]\noutput y\n"
      "loops\n  for y.ko < 2\n    alloc t stack\n      for t.r < 3\n        for t.j < 9\n"
      "          block t[k=ko*3+r, j=j]\n      for y.ki < 3\n        for y.j < 9\n"
      "          block y[j=j, k=ko*3+ki]\n" },
    { "fused-loops", 0, MATMUL "  for y.f < 120\n    for y.k < 7\n      block y[i=f/12, j=f%12, k=k]\n" },
    { "compute-at", 5,
      BLUR "  for y.i < n parallel\n    alloc t stack\n      for t.j < 6 vector\n        block t[i=i, j=j]\n"
           "      for y.j < 6 vector\n        block y[i=i, j=j]\n" },
    { "compute-at-size-0", 0,
      BLUR "  alloc t arena\n    for t.i < n\n      for t.j < 6\n        block t[i=i, j=j]\n"
           "    for y.i < n\n      for y.j < 6\n        block y[i=i, j=j]\n" },
    { "buffer-per-lane", 7,
      BLUR "  for y.i < n\n    for y.j < 6 vector\n      alloc t register\n        block t[i=i, j=j]\n        block "
           "y[i=i, j=j]\n" },
    { "recompute-halo", 0,
      POOL "  for p.h < 6\n    alloc c stack\n      for c.r < 3\n        for c.w < 4\n          block c[h=2*h+r, w=w]\n"
           "      for p.w < 4\n        for p.i < 3\n          block p[h=h, w=w, i=i]\n" },
    { "ring-of-3", 0,
      POOL
      "  alloc c arena ring(h)=3\n    for c@warm.w < 4\n      block c@warm[h=0, w=w]\n    for p.h < 6\n      for c.r < "
      "2\n        for c.w < 4\n"
      "          block c[h=2*h+1+r, w=w]\n      for p.w < 4\n        for p.i < 3\n          block p[h=h, w=w, i=i]\n" },
    { "negative-extent", 3,
      BLUR "  alloc t arena\n    for t.i < n\n      for t.j < 6\n        block t[i=i, j=j]\n"
           "    for y@more.i < n - 5\n      for y@more.j < 6\n        block y@more[i=i, j=j]\n"
           "    for y.i < n\n      for y.j < 6\n        block y[i=i, j=j]\n" },
    { "specialized", 12,
      BLUR "  alloc t arena\n    for t.i < n\n      for t.j < 6\n        block t[i=i, j=j]\n    if n % 4 == 0\n"
           "      for y.io < n / 4\n        for y.ii < 4 vector\n          for y.j < 6\n            block y[i=io*4+ii, "
           "j=j]\n"
           "    else\n      for y@rest.i < n\n        for y@rest.j < 6\n          block y@rest[i=i, j=j]\n" },
};

static void test_scheduled(void)
{
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        equals_evaluator(cx, right[i].name, nest_read(cx, right[i].text), right[i].size);
        ctx_free(cx);
    }
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

typedef struct Fault { const char *name, *said, *text; } Fault;

static const Fault faults[] = {
    { "output-left-unwritten", "never writes \"y\" at [9][0], an element of an output",
      MATMUL "  for y.i < 9\n    for y.j < 12\n      for y.k < 7\n        block y[i=i, j=j, k=k]\n" },
    { "bound-outside-its-axis", "block \"y\": error: the axis i is bound to 10, outside [0, 10)",
      MATMUL "  for y.io < 3\n    for y.ii < 4\n      for y.j < 12\n        for y.k < 7\n          block y[i=io*4+ii, "
             "j=j, k=k]\n" },
    { "update-before-init", "block \"y\": error: combines into \"y\" at [0][0], which has not been written",
      MATMUL "  for y.i < 10\n    for y.j < 12\n      for y.k < 7\n        block update y[i=i, j=j, k=k]\n" },
    { "init-not-first", "combines into \"y\" at [0][0], which has not been written",
      MATMUL "  for y.i < 10\n    for y.j < 12\n      for y.k < 7\n        block y[i=i, j=j, k=6-k]\n" },
    { "read-before-made", "block \"p\": error: reads \"c\" at [1][0], which has not been written",
      POOL "  alloc c arena\n    for p.h < 6\n      for c.w < 4\n        block c[h=2*h, w=w]\n"
           "      for p.w < 4\n        for p.i < 3\n          block p[h=h, w=w, i=i]\n" },
    { "ring-too-small", "reads \"c\" at [0][0], which has been overwritten in its ring",
      POOL
      "  alloc c arena ring(h)=2\n    for c@warm.w < 4\n      block c@warm[h=0, w=w]\n    for p.h < 6\n      for c.r < "
      "2\n        for c.w < 4\n"
      "          block c[h=2*h+1+r, w=w]\n      for p.w < 4\n        for p.i < 3\n          block p[h=h, w=w, i=i]\n" },
    { "storage-does-not-last", "reads \"c\" at [2][0], which has not been written",
      POOL "  for c@warm.w < 4\n    alloc c arena\n      block c@warm[h=0, w=w]\n  for p.h < 6\n    alloc c stack\n    "
           "  for c.r < 2\n"
           "        for c.w < 4\n          block c[h=2*h+r, w=w]\n      for p.w < 4\n        for p.i < 3\n          "
           "block p[h=h, w=w, i=i]\n" },
    { "outside-its-alloc", "writes \"c\" at [0][0], outside the Alloc that holds it",
      POOL "  for c.h < 13\n    for c.w < 4\n      block c[h=h, w=w]\n  alloc c arena\n    for p.h < 6\n      for p.w "
           "< 4\n        for p.i < 3\n"
           "          block p[h=h, w=w, i=i]\n" },
};

static bool caught(const char *text, RunOptions options, const char *said, const char **got)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *n = nest_read(cx, text);
    if (n) interpret(cx, n, env_for(cx, n, 8), &options);
    static char kept[400];
    snprintf(kept, sizeof kept, "%s", first_error(cx));
    *got = kept;
    ctx_free(cx);
    return strstr(kept, said) != NULL;
}

static void test_faults(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *got;
        const bool is_caught = caught(faults[i].text, (RunOptions){ .checked = true }, faults[i].said, &got);
        check_that(is_caught, check_label(faults[i].name, "is-caught"), "%s", got);
    }
}

/* Unwatched, too, an index from data is never followed out of its tensor. */
static void test_stray_index(void)
{
    Ctx *cx = context_new(NULL, NULL);
    enum { ELEMS = 600 };
    Tensor *in[] = { tensor_new_fixed(cx, "x", F32, 1, (int64_t[]){ 6 }),
                     tensor_new_fixed(cx, "at", I32, 1, (int64_t[]){ ELEMS }) };
    const Expr *i = axis_var(cx, "i", expr_index(cx, ELEMS)), *at = tensor_read(cx, in[1], &i, 1);
    StageSpec spec = { .name = "y", .axis_count = 1, .axis = { { i, AXIS_DATA, expr_index(cx, ELEMS) } },
                       .out_count = 1 };
    spec.value[0] = tensor_read(cx, in[0], &at, 1);     /* without the clamp that the reader of formulas adds */
    Tensor *y = compute_new(cx, &spec)->out[0];
    const Nest *n = nest_naive(cx, "stray", in, 2, &y, 1);
    Env *e = env_for(cx, n, 0);
    CHECK("stray-index",
          !interpret(cx, n, e, NULL) && strstr(first_error(cx), "block \"y\": error: reads \"x\" out of bounds"));
    ctx_free(cx);
}

/* ---- Wrong kinds of loops ---------------------------------------------------------------------------------------- */

/* In order these nests are right. */
static const Scheduled wrong_kinds[] = {
    { "parallel-carries-a-row", 0,
      POOL
      "  alloc c arena\n    for c@warm.w < 4\n      block c@warm[h=0, w=w]\n    for p.h < 6 parallel\n      for c.r < "
      "2\n        for c.w < 4\n"
      "          block c[h=2*h+1+r, w=w]\n      for p.w < 4\n        for p.i < 3\n          block p[h=h, w=w, i=i]\n" },
    { "parallel-reduction-begins-late", 0,
      MATMUL "  for y.i < 10\n    for y.j < 12\n      for y.k < 7 parallel\n        block y[i=i, j=j, k=k]\n" },
    { "vector-reduction", 0,
      MATMUL "  for y.i < 10\n    for y.j < 12\n      block init y[i=i, j=j]\n      for y.k < 7 vector\n        block "
             "update y[i=i, j=j, k=k]\n" },
    { "parallel-reads-what-the-one-before-made", 0,
      "nest next\ninput x: f32[9]\nstage c[i<9] = x[i] * 2.0\nstage y[i<8] = c[i] + c[i+1]\noutput y\nloops\n"
      "  alloc c arena\n    for c@warm.i < 1\n      block c@warm[i=0]\n    for y.i < 8 parallel\n      block "
      "c[i=i+1]\n      block y[i=i]\n" },
    { "vector-reads-what-the-lane-before-made", 0,
      "nest next\ninput x: f32[9]\nstage c[i<9] = x[i] * 2.0\nstage y[i<8] = c[i] + 1.0\noutput y\nloops\n"
      "  alloc c arena\n    for c@warm.i < 1\n      block c@warm[i=0]\n    for y.i < 8 vector\n      block y[i=i]\n    "
      "  block c[i=i+1]\n" },
};

/* True if for some seed the run fails or differs from the evaluator. */
static bool shows(const char *text, RunOptions options)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *n = nest_read(cx, text);
    bool differs = !n;
    if (n) {
        Env *meant = env_for(cx, n, 0), *run = env_for(cx, n, 0);
        evaluate(cx, meant, n->output, n->output_count);
        interpret(cx, n, run, &options);
        differs = ctx_failed(cx) || !same_outputs(cx, n, meant, run);
    }
    ctx_free(cx);
    return differs;
}

static void test_wrong_kinds(void)
{
    for (size_t i = 0; i < sizeof wrong_kinds / sizeof wrong_kinds[0]; i++) {
        const char *text = wrong_kinds[i].text;
        int shown = 0;
        for (uint64_t seed = 1; seed <= 8; seed++)
            shown += shows(text, (RunOptions){ .checked = true, .shuffle = seed });
        check_that(!shows(text, (RunOptions){ .checked = true }) && !shows(text, (RunOptions){ .checked = false })
                       && shown >= 4,
                   wrong_kinds[i].name, "shown by %d of 8 seeds", shown);
    }
}

static void test_paths(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Text never = text_new(cx);
    for (int i = 0; i < interpret_path_count(); i++)
        if (!paths_ran[i]) text_printf(&never, " \"%s\"", interpret_path_name(cx, i));
    check_that(!never.length, "each-path-of-the-fast-interpreter-runs", "never:%s", text_string(&never));
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(test_naive, test_kinds, test_scheduled, test_faults, test_stray_index, test_wrong_kinds);
    if (!getenv("TEST_CASE")) test_paths();
    return check_done();
}
