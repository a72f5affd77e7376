/* SPDX-License-Identifier: MIT */
/* The evaluator against plain C loops written here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/formula.h"

/* A context, tensors with generated data, and their results. */
typedef struct Trial { Ctx *cx; Env *env; uint32_t seed; } Trial;

static Trial trial_new(void)
{
    Ctx *cx = context_new(NULL, NULL);
    return (Trial){ cx, env_new(cx), 12345 };
}

static int32_t next(Trial *t)
{
    t->seed = t->seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (int32_t)(t->seed >> 16) % 1000 - 500;
}

static Tensor *input(Trial *t, const char *name, DType type, int rank, const int64_t *shape)
{
    Tensor *x = tensor_new_fixed(t->cx, name, type, rank, shape);
    void *data = env_alloc(t->cx, t->env, x);
    for (int64_t i = 0; i < tensor_elems(x); i++) {
        Scalar s = { .i = next(t) };
        if (dtype_is_float(type)) s.f = (double)s.i / 256;
        dtype_store(type, data, i, dtype_wrap(type, s));
    }
    return x;
}

/* The evaluated output; on an error its text, and NULL. */
static const void *value(Trial *t, Tensor *y)
{
    if (!y || !evaluate(t->cx, t->env, &y, 1)) {
        printf("# %s\n", t->cx->diags ? diag_text(t->cx, t->cx->diags) : "no tensor");
        return NULL;
    }
    return env_get(t->env, y);
}

static bool fails_with(Trial *t, Tensor *y, const char *wanted)
{
    if (y) evaluate(t->cx, t->env, &y, 1);
    const char *got = t->cx->diags ? diag_text(t->cx, t->cx->diags) : "no error";
    const bool is_there = strstr(got, wanted) != NULL;
    if (!is_there) printf("# got: %s\n", got);
    return is_there;
}

#define SHAPE(...) (int)(sizeof (int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)), (int64_t[]){ __VA_ARGS__ }

static void test_matmul(void)
{
    Trial t = trial_new();
    Tensor *a = input(&t, "a", F32, SHAPE(5, 7)), *b = input(&t, "b", F32, SHAPE(7, 3));
    const float *pa = env_get(t.env, a), *pb = env_get(t.env, b);
    const float *y = value(&t, FORMULA(t.cx, "y[i,j] = sum(k) a[i,k] * b[k,j]", BIND_T("a", a), BIND_T("b", b)));
    bool same = y != NULL;
    for (int i = 0; i < 5 && same; i++)
        for (int j = 0; j < 3; j++) {
            float sum = 0;
            for (int k = 0; k < 7; k++) sum += pa[i * 7 + k] * pb[k * 3 + j];
            same = same && sum == y[i * 3 + j];
        }
    CHECK("matmul-equals-plain-loops", same);
    ctx_free(t.cx);
}

static void test_matmul_i8(void)
{
    Trial t = trial_new();
    Tensor *a = input(&t, "a", I8, SHAPE(4, 9)), *b = input(&t, "b", I8, SHAPE(9, 2));
    const int8_t *pa = env_get(t.env, a), *pb = env_get(t.env, b);
    const int32_t *y = value(
        &t, FORMULA(t.cx, "y[i,j] = sum(k) i32(a[i,k]) * i32(b[k,j])", BIND_T("a", a), BIND_T("b", b)));
    bool same = y != NULL;
    for (int i = 0; i < 4 && same; i++)
        for (int j = 0; j < 2; j++) {
            int32_t sum = 0;
            for (int k = 0; k < 9; k++) sum += pa[i * 9 + k] * pb[k * 2 + j];
            same = same && sum == y[i * 2 + j];
        }
    CHECK("matmul-of-i8-wraps-like-plain-loops", same);
    ctx_free(t.cx);
}

static void test_conv_padding(void)
{
    enum { H = 6, W = 5, C = 3, O = 4 };
    Trial t = trial_new();
    Tensor *x = input(&t, "x", F32, SHAPE(H, W, C)), *k = input(&t, "k", F32, SHAPE(3, 3, C, O)),
           *b = input(&t, "b", F32, SHAPE(O));
    const float *px = env_get(t.env, x), *pk = env_get(t.env, k), *pb = env_get(t.env, b);
    const float *y = value(&t, FORMULA(t.cx, "y[h<6,w<5,o] = sum(i,j,c; b[o]) (x[h+i-1,w+j-1,c]? * k[i,j,c,o] : 0)",
                                       BIND_T("x", x), BIND_T("k", k), BIND_T("b", b)));
    bool same = y != NULL;
    for (int h = 0; h < H && same; h++)
        for (int w = 0; w < W; w++)
            for (int o = 0; o < O; o++) {
                float sum = pb[o];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        for (int c = 0; c < C; c++) {
                            const int r = h + i - 1, s = w + j - 1;
                            const bool is_inside = r >= 0 && r < H && s >= 0 && s < W;
                            sum += is_inside ? px[(r * W + s) * C + c] * pk[((i * 3 + j) * C + c) * O + o] : 0;
                        }
                same = same && sum == y[(h * W + w) * O + o];
            }
    CHECK("padded-convolution-equals-plain-loops", same);
    ctx_free(t.cx);
}

static void test_pooling(void)
{
    Trial t = trial_new();
    Tensor *x = input(&t, "x", I8, SHAPE(8, 8, 2));
    const int8_t *px = env_get(t.env, x);
    const int8_t *y = value(&t, FORMULA(t.cx, "y[h<4,w<4,c] = max(i<2,j<2) x[2*h+i,2*w+j,c]", BIND_T("x", x)));
    bool same = y != NULL;
    for (int h = 0; h < 4 && same; h++)
        for (int w = 0; w < 4; w++)
            for (int c = 0; c < 2; c++) {
                int most = -128;
                for (int i = 0; i < 4; i++) {
                    const int v = px[((2 * h + i / 2) * 8 + 2 * w + i % 2) * 2 + c];
                    most = v > most ? v : most;
                }
                same = same && most == y[(h * 4 + w) * 2 + c];
            }
    CHECK("max-pool-equals-plain-loops", same);
    ctx_free(t.cx);
}

static void test_argmax(void)
{
    Trial t = trial_new();
    Tensor *x = input(&t, "x", F32, SHAPE(3, 6));
    float *px = env_storage(t.env, x);
    const float rows[3][6] = { { 1, 5, 2, 5, 0, 5 }, { -3, -2, -2, -9, -4, -2 }, { 0, 0, 0, 0, 0, 7 } };
    memcpy(px, rows, sizeof rows);
    Tensor *y = FORMULA(t.cx, "y, m[n] = argmax(k) x[n,k]", BIND_T("x", x));
    const int32_t *at = value(&t, y);
    CHECK("argmax-is-the-first-of-ties", at && at[0] == 1 && at[1] == 1 && at[2] == 5);
    const float *most = y ? value(&t, y->producer->out[1]) : NULL;
    CHECK("argmax-gives-the-greatest-value", most && most[0] == 5 && most[1] == -2 && most[2] == 7);
    ctx_free(t.cx);
}

static void test_softmax_chain(void)
{
    Trial t = trial_new();
    Tensor *x = input(&t, "x", F64, SHAPE(2, 5));
    const double *px = env_get(t.env, x);
    Tensor *m = FORMULA(t.cx, "m[n] = max(k) x[n,k]", BIND_T("x", x));
    Tensor *e = FORMULA(t.cx, "e[n,k] = exp(x[n,k] - m[n])", BIND_T("x", x), BIND_T("m", m));
    Tensor *s = FORMULA(t.cx, "s[n] = sum(k) e[n,k]", BIND_T("e", e));
    const double *y = value(&t, FORMULA(t.cx, "y[n,k] = e[n,k] / s[n]", BIND_T("e", e), BIND_T("s", s)));
    bool near = y != NULL;
    for (int n = 0; n < 2 && near; n++) {
        double most = px[n * 5], sum = 0;
        for (int k = 0; k < 5; k++) most = px[n * 5 + k] > most ? px[n * 5 + k] : most;
        for (int k = 0; k < 5; k++) sum += exp(px[n * 5 + k] - most);
        for (int k = 0; k < 5; k++) near = near && fabs(y[n * 5 + k] - exp(px[n * 5 + k] - most) / sum) < 1e-15;
    }
    CHECK("chain-of-softmax-equals-libm", near);
    ctx_free(t.cx);
}

/* y[t] = y[t-1] / 2 + x[t]: the stage reads its own output. */
static void test_recurrence(void)
{
    Trial t = trial_new();
    Tensor *x = input(&t, "x", F32, SHAPE(6));
    const float *px = env_get(t.env, x);
    Tensor *y = FORMULA(t.cx, "y[t] = x[t]", BIND_T("x", x));
    Stage *s = y->producer->stage;
    const Expr *var = s->axis[0].var, *before = expr_sub(t.cx, var, expr_index(t.cx, 1));
    const Expr *half = expr_mul(t.cx, tensor_read(t.cx, y, &before, 1), expr_real(t.cx, F32, 0.5));
    const Expr *past = expr_select(t.cx, expr_binary(t.cx, EXPR_EQ, var, expr_index(t.cx, 0)), expr_real(t.cx, F32, 0),
                                   half);
    s->axis[0].kind = AXIS_ORDERED;
    s->value[0] = expr_add(t.cx, past, s->value[0]);
    const float *got = value(&t, y);
    bool same = got != NULL;
    float state = 0;
    for (int i = 0; i < 6 && same; i++) {
        state = (i ? state * 0.5f : 0) + px[i];
        same = state == got[i];
    }
    CHECK("recurrence-equals-a-loop-over-steps", same);
    ctx_free(t.cx);
}

static void test_sizes(void)
{
    Trial t = trial_new();
    const Expr *n = expr_new_var(t.cx, "n", VAR_SIZE, I32, 0, 100), *shape[] = { n };
    Tensor *x = tensor_new(t.cx, "x", I32, 1, shape);
    const int32_t data[] = { 1, 2, 3, 4 };
    Tensor *y = FORMULA(t.cx, "y = sum(i) x[i]", BIND_T("x", x));
    env_set_const(t.env, x, data);
    CHECK("size-without-value-is-refused", fails_with(&t, y, "the size \"n\" has no value"));
    ctx_free(t.cx);

    t = trial_new();
    n = shape[0] = expr_new_var(t.cx, "n", VAR_SIZE, I32, 0, 100);
    x = tensor_new(t.cx, "x", I32, 1, shape);
    y = FORMULA(t.cx, "y = sum(i) x[i]", BIND_T("x", x));
    env_set_const(t.env, x, data);
    env_set_size(t.env, n, 4);
    const int32_t *sum = value(&t, y);
    CHECK("symbolic-size-bounds-the-sum", sum && *sum == 10);
    env_set_size(t.env, n, 0);
    sum = value(&t, y);
    CHECK("empty-reduction-is-init", sum && *sum == 0);
    const Expr *twice = expr_add(t.cx, expr_mul(t.cx, n, expr_index(t.cx, 2)), expr_index(t.cx, 1));
    env_set_size(t.env, n, 20);
    CHECK("size-expression-is-evaluated", env_eval_size(t.cx, t.env, twice) == 41);
    ctx_free(t.cx);
}

/* y[i<4] = x[i, j[i]], without the clamp that the reader of formulas adds. */
static Tensor *gathered(Ctx *cx, Tensor *x, Tensor *j)
{
    const Expr *i = axis_var(cx, "i", expr_index(cx, 4)), *index[] = { i, tensor_read(cx, j, &i, 1) };
    StageSpec spec = { .name = "y", .axis_count = 1, .axis = { { i, AXIS_DATA, expr_index(cx, 4) } }, .out_count = 1 };
    spec.value[0] = tensor_read(cx, x, index, 2);
    return compute_new(cx, &spec)->out[0];
}

static void test_errors(void)
{
    Trial t = trial_new();
    Tensor *x = input(&t, "x", F32, SHAPE(4, 4));
    Tensor *j = tensor_constant(t.cx, "j", I32, SHAPE(4), (int32_t[]){ 0, 1, 2, 4 });
    CHECK("index-out-of-bounds-is-refused",
          fails_with(&t, gathered(t.cx, x, j), "stage \"y\": error: reads \"x\" at [3][4], outside its shape [4][4]"));
    ctx_free(t.cx);
    t = trial_new();
    x = tensor_new_fixed(t.cx, "x", F32, SHAPE(4));
    CHECK("input-without-data-is-refused",
          fails_with(&t, FORMULA(t.cx, "y[i] = x[i]", BIND_T("x", x)), "the input \"x\" has no data"));
    ctx_free(t.cx);
}

/* Intermediate results belong to one call: another input recomputes them all. */
static void test_fresh_each_time(void)
{
    Trial t = trial_new();
    Tensor *x = tensor_new_fixed(t.cx, "x", I32, SHAPE(1));
    int32_t five = 5, six = 6;
    Tensor *a = FORMULA(t.cx, "a[i] = x[i] * 10", BIND_T("x", x));
    Tensor *y = FORMULA(t.cx, "y[i] = a[i] + 1", BIND_T("a", a));
    env_set(t.env, x, &five);
    const int32_t *got = value(&t, y);
    CHECK("values-follow-the-first-input", got && *got == 51);
    env_set(t.env, x, &six);
    got = value(&t, y);
    CHECK("values-follow-a-changed-input", got && *got == 61);
    int32_t given = 7;
    env_set(t.env, a, &given);
    got = value(&t, y);
    CHECK("given-intermediate-replaces-its-compute", got && *got == 8);
    ctx_free(t.cx);
}

int main(void)
{
    CHECK_RUN(test_matmul, test_matmul_i8, test_conv_padding, test_pooling, test_argmax, test_softmax_chain,
              test_recurrence, test_sizes, test_errors, test_fresh_each_time);
    return check_done();
}
