/* SPDX-License-Identifier: MIT */
/* ONNX Attention, LinearAttention, RotaryEmbedding and their like against plain loops over heads, rows and keys,
 * written from the operators' texts. Sizes and options are rows of a table; data are small fixed fractions. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "context/context.h"
#include "import/onnx/onnx.h"
#include "onnx_text.h"
#include "plain.h"

typedef struct Case {
    const char *name;
    /* Of queries, of keys and values; values of a head, of its result */
    int heads, shared, rows, keys, past, size, out;
    bool is_packed, is_causal;                           /* packed: [batch][rows][heads * size] */
    int left, right;                                     /* windows, -1: none */
    float scale, cap;                                    /* 0: not given */
    bool has_mask;                                       /* added; some of it -inf, one row all of it */
} Case;

static const Case cases[] = {
    { "plain",           2, 2, 3, 4, 0, 4, 4, false, false, -1, -1, 0,     0,    false },
    { "packed",          2, 2, 3, 4, 0, 4, 4, true,  false, -1, -1, 0,     0,    false },
    { "other-result",    2, 2, 3, 4, 0, 4, 6, true,  false, -1, -1, 0,     0,    false },
    { "grouped",         6, 2, 3, 5, 0, 4, 4, true,  false, -1, -1, 0.25f, 0,    true  },
    { "one-for-all",     4, 1, 3, 5, 0, 4, 5, false, false, -1, -1, 0,     0,    false },
    { "causal",          2, 2, 5, 5, 0, 4, 4, false, true,  -1, -1, 0,     0,    false },
    { "causal-past",     4, 2, 2, 2, 3, 4, 4, true,  true,  -1, -1, 0,     0,    true  },
    { "window",          2, 1, 5, 5, 0, 4, 4, false, false, 2,  1,  0,     0,    false },
    { "window-past",     2, 2, 3, 3, 4, 4, 4, false, true,  1,  -1, 0,     0,    false },
    { "cap",             2, 2, 3, 4, 0, 4, 4, false, false, -1, -1, 1.5f,  0.5f, true  },
};
enum { BATCH = 2 };

static float number(int i, int salt) { return (float)((i * 37 + salt * 11) % 29 - 14) / 8; }
static float mask_at(int row, int key)
{
    return row == 1 || (row + key) % 3 == 0 ? -INFINITY : number(row * 8 + key, 5);
}

/* Element [b][h][r][i] of a tensor that is packed or not. */
static int place(bool is_packed, int heads, int rows, int size, int b, int h, int r, int i)
{
    return is_packed ? ((b * rows + r) * heads + h) * size + i : ((b * heads + h) * rows + r) * size + i;
}

/* Element i of key (or value) `k`, the past's before the new ones. */
static float kept(const Case *c, int size, int salt, int b, int h, int k, int i)
{
    if (k < c->past) return number(place(false, c->shared, c->past, size, b, h, k, i), salt + 7);
    return number(place(c->is_packed, c->shared, c->keys, size, b, h, k - c->past, i), salt);
}

/* -inf: masked. */
static double score(const Case *c, int b, int h, int r, int k)
{
    const int at = c->past + r;
    if (c->is_causal && k > at) return -INFINITY;
    if ((c->left >= 0 && k < at - c->left) || (c->right >= 0 && k > at + c->right)) return -INFINITY;
    double sum = 0;
    for (int i = 0; i < c->size; i++)
        sum += (double)number(place(c->is_packed, c->heads, c->rows, c->size, b, h, r, i), 1)
               * (double)kept(c, c->size, 2, b, h / (c->heads / c->shared), k, i);
    sum *= c->scale > 0 ? (double)c->scale : 1 / sqrt((double)c->size);
    if (c->cap > 0) sum = tanh(sum / (double)c->cap) * (double)c->cap;
    return c->has_mask ? sum + (double)mask_at(r, k) : sum;
}

static double expected(const Case *c, int b, int h, int r, int i)
{
    double total = 0, y = 0;
    for (int k = 0; k < c->past + c->keys; k++) total += exp(score(c, b, h, r, k));
    for (int k = 0; k < c->past + c->keys; k++)
        y += exp(score(c, b, h, r, k)) * (double)kept(c, c->out, 3, b, h / (c->heads / c->shared), k, i);
    return total > 0 ? y / total : 0;
}

static const char *tensor_text(Ctx *cx, const Case *c, const char *tensor_name, int heads, int rows, int size)
{
    if (c->is_packed) return text_format(cx, "%s:%d,%d,%d;", tensor_name, BATCH, rows, heads * size);
    return text_format(cx, "%s:%d,%d,%d,%d;", tensor_name, BATCH, heads, rows, size);
}

static Text model_of(Ctx *cx, const Case *c)
{
    Text t = text_new(cx);
    text_add(&t, tensor_text(cx, c, "q", c->heads, c->rows, c->size));
    text_add(&t, tensor_text(cx, c, "k", c->shared, c->keys, c->size));
    text_add(&t, tensor_text(cx, c, "v", c->shared, c->keys, c->out));
    if (c->has_mask) text_printf(&t, "m:%d,%d;", c->rows, c->past + c->keys);
    if (c->past)
        text_printf(&t, "pk:%d,%d,%d,%d;pv:%d,%d,%d,%d;", BATCH, c->shared, c->past, c->size, BATCH, c->shared, c->past,
                    c->out);
    text_printf(&t, ">y;Attention q,k,v%s%s y is_causal=%d! left_window_size=%d! right_window_size=%d!",
                c->has_mask ? ",m"
                : c->past   ? ","
                            : "",
                c->past ? ",pk,pv" : "", c->is_causal, c->left, c->right);
    if (c->is_packed) text_printf(&t, " q_num_heads=%d! kv_num_heads=%d!", c->heads, c->shared);
    if (c->scale > 0) text_printf(&t, " scale=%g~", (double)c->scale);
    if (c->cap > 0) text_printf(&t, " softcap=%g~", (double)c->cap);
    return onnx_text(cx, text_string(&t));
}

static void fill(Ctx *cx, Env *env, const Model *m, const Case *c)
{
    static const struct { const char *name; int salt; } salts[] = {
        { "q", 1 }, { "k", 2 }, { "v", 3 }, { "pk", 9 }, { "pv", 10 }
    };
    for (int n = 0; n < m->input_count; n++) {
        float *data = env_alloc(cx, env, m->input[n]);
        for (int i = 0; i < (int)tensor_elems(m->input[n]); i++) {
            data[i] = mask_at(i / (c->past + c->keys), i % (c->past + c->keys));
            for (size_t s = 0; s < sizeof salts / sizeof salts[0]; s++)
                if (strcmp(m->input[n]->name, salts[s].name) == 0) data[i] = number(i, salts[s].salt);
        }
    }
}

static void test_case(const Case *c)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m = { 0 };
    Text file = model_of(cx, c);
    Env *env = env_new(cx);
    const bool is_read = onnx_read(cx, "attention.onnx", (Bytes){ (const uint8_t *)file.at, file.length }, NULL, &m);
    if (is_read) fill(cx, env, &m, c);
    const float *y = is_read ? plain_value(cx, m.output[0], env) : NULL;
    double worst = y ? 0 : INFINITY;
    for (int b = 0; y && b < BATCH; b++)
        for (int h = 0; h < c->heads; h++)
            for (int r = 0; r < c->rows; r++)
                for (int i = 0; i < c->out; i++) {
                    const double off = fabs(expected(c, b, h, r, i)
                                            - (double)y[place(c->is_packed, c->heads, c->rows, c->out, b, h, r, i)]);
                    if (!(off <= worst)) worst = off;
                }
    check_that(worst < 1e-5, check_label(c->name, "as-plain-loops"), "off by %g%s", worst,
               cx->diags ? diag_text(cx, cx->diags) : "");
    ctx_free(cx);
}

/* Returns the only output of a model with all inputs filled with number(i, 1); NULL: refused. */
static const float *output_of(Ctx *cx, const char *line)
{
    Model m = { 0 };
    Text file = onnx_text(cx, line);
    Env *env = env_new(cx);
    if (!onnx_read(cx, "model.onnx", (Bytes){ (const uint8_t *)file.at, file.length }, NULL, &m)) return NULL;
    for (int n = 0; n < m.input_count; n++) {
        float *data = env_alloc(cx, env, m.input[n]);
        for (int i = 0; i < (int)tensor_elems(m.input[n]); i++) data[i] = number(i, 1);
    }
    return plain_value(cx, m.output[0], env);
}

/* Pairs (p, q) of the first four of six values are turned: apart by two, or neighbours. */
static void test_rotary(bool interleaved)
{
    enum { ROWS = 3, SIZE = 6, HALF = 2 };
    Ctx *cx = context_new(NULL, NULL);
    const float *y = output_of(cx, text_format(cx,
                                               "x:1,%d,%d;c:1,%d,%d;s:1,%d,%d;>y;RotaryEmbedding x,c,s y num_heads=1! "
                                               "rotary_embedding_dim=4! interleaved=%d!",
                                               ROWS, SIZE, ROWS, HALF, ROWS, HALF, interleaved));
    double worst = y ? 0 : INFINITY;
    for (int r = 0; y && r < ROWS; r++)
        for (int i = 0; i < SIZE; i++) {
            const int pair = interleaved ? i / 2 : i % 2, p = interleaved ? 2 * pair : pair,
                      q = interleaved ? p + 1 : p + HALF;
            const double angle = (double)number(r * HALF + pair, 1), a = (double)number(r * SIZE + p, 1),
                         b = (double)number(r * SIZE + q, 1);
            const double wanted = i >= 2 * HALF ? (double)number(r * SIZE + i, 1)
                                  : i == p      ? angle * a - angle * b
                                                : angle * a + angle * b;
            worst = fmax(worst, fabs(wanted - (double)y[r * SIZE + i]));
        }
    check_that(worst < 1e-6, interleaved ? "rotary-interleaved" : "rotary", "off by %g", worst);
    ctx_free(cx);
}

/* The last of three taps reads the present step; steps before the first are zero. */
static void test_causal_conv(void)
{
    enum { CHANNELS = 2, N = 5, TAPS = 3 };
    Ctx *cx = context_new(NULL, NULL);
    const float *y = output_of(cx, "x:1,2,5;k:2,1,3;>y;CausalConvWithState x,k y activation=silu");
    double worst = y ? 0 : INFINITY;
    for (int c = 0; y && c < CHANNELS; c++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int t = 0; t < TAPS; t++)
                if (i + t >= TAPS - 1)
                    sum += (double)number(c * N + i + t - (TAPS - 1), 1) * (double)number(c * TAPS + t, 1);
            worst = fmax(worst, fabs(sum / (1 + exp(-sum)) - (double)y[c * N + i]));
        }
    check_that(worst < 1e-5, "causal-conv", "off by %g", worst);
    ctx_free(cx);
}

/* ---- Linear attention: a state [key][value] that each token changes ---------------------------------------------- */

typedef struct Rule {
    const char *name;
    bool is_gated, is_delta, has_past;
    int tokens, queries, heads;                          /* heads of keys and values, each shared by queries / heads */
    /* Of a token: one for each head or each row of its state; one for each head or in all */
    int decays, betas;
} Rule;
enum { LINEAR_KEY = 3, LINEAR_VALUE = 4 };

static const Rule rules[] = {
    { "linear",      false, false, false, 4, 2, 2, 0, 0 },
    { "linear",      false, false, true,  1, 4, 2, 0, 0 },
    { "gated",       true,  false, true,  3, 2, 2, 2, 0 },
    { "gated",       true,  false, false, 3, 2, 1, 3, 0 },
    { "delta",       false, true,  true,  3, 4, 2, 0, 2 },
    { "gated_delta", true,  true,  true,  3, 6, 2, 6, 1 },
    { "gated_delta", true,  true,  false, 1, 2, 2, 2, 2 },
};

/* One batch and head of keys, all tokens: y [token][queries of the head][value]. */
static void linear_expected(const Rule *r, int b, int h, double *y)
{
    const int group = r->queries / r->heads;
    double state[LINEAR_KEY][LINEAR_VALUE];
    for (int i = 0; i < LINEAR_KEY; i++)
        for (int j = 0; j < LINEAR_VALUE; j++)
            state[i][j] = r->has_past ? (double)number(((b * r->heads + h) * LINEAR_KEY + i) * LINEAR_VALUE + j, 1) : 0;
    for (int t = 0; t < r->tokens; t++) {
        const int token = b * r->tokens + t;
        double k[LINEAR_KEY], u[LINEAR_VALUE];
        for (int i = 0; i < LINEAR_KEY; i++) {
            k[i] = (double)number((token * r->heads + h) * LINEAR_KEY + i, 1);
            const int gate = r->decays == r->heads ? h : h * LINEAR_KEY + i;
            for (int j = 0; r->is_gated && j < LINEAR_VALUE; j++)
                state[i][j] *= exp((double)number(token * r->decays + gate, 1));
        }
        for (int j = 0; j < LINEAR_VALUE; j++) {
            u[j] = (double)number((token * r->heads + h) * LINEAR_VALUE + j, 1);
            for (int i = 0; r->is_delta && i < LINEAR_KEY; i++) u[j] -= k[i] * state[i][j];
            if (r->is_delta) u[j] *= (double)number(token * r->betas + (r->betas == 1 ? 0 : h), 1);
        }
        for (int i = 0; i < LINEAR_KEY; i++)
            for (int j = 0; j < LINEAR_VALUE; j++) state[i][j] += k[i] * u[j];
        for (int g = 0; g < group; g++)
            for (int j = 0; j < LINEAR_VALUE; j++) {
                double sum = 0;
                for (int i = 0; i < LINEAR_KEY; i++)
                    sum += (double)number((token * r->queries + h * group + g) * LINEAR_KEY + i, 1) * state[i][j];
                y[(t * group + g) * LINEAR_VALUE + j] = sum / sqrt(LINEAR_KEY);
            }
    }
}

static void test_linear(const Rule *r)
{
    Ctx *cx = context_new(NULL, NULL);
    const int group = r->queries / r->heads;
    Text t = text_new(cx);
    text_printf(&t, "q:%d,%d,%d;", BATCH, r->tokens, r->queries * LINEAR_KEY);
    text_printf(&t, "k:%d,%d,%d;", BATCH, r->tokens, r->heads * LINEAR_KEY);
    text_printf(&t, "v:%d,%d,%d;", BATCH, r->tokens, r->heads * LINEAR_VALUE);
    if (r->has_past) text_printf(&t, "s:%d,%d,%d,%d;", BATCH, r->heads, LINEAR_KEY, LINEAR_VALUE);
    if (r->is_gated) text_printf(&t, "g:%d,%d,%d;", BATCH, r->tokens, r->decays);
    if (r->is_delta) text_printf(&t, "b:%d,%d,%d;", BATCH, r->tokens, r->betas);
    text_printf(&t, ">y;LinearAttention q,k,v,%s,%s,%s y,last q_num_heads=%d! kv_num_heads=%d! update_rule=%s",
                r->has_past ? "s" : "", r->is_gated ? "g" : "", r->is_delta ? "b" : "", r->queries, r->heads, r->name);
    const float *y = output_of(cx, text_string(&t));
    double worst = y ? 0 : INFINITY, most = 1, wanted[64];
    for (int b = 0; y && b < BATCH; b++)
        for (int h = 0; h < r->heads; h++) {
            linear_expected(r, b, h, wanted);
            for (int i = 0; i < r->tokens * group * LINEAR_VALUE; i++) {
                const int token = i / (group * LINEAR_VALUE), rest = i % (group * LINEAR_VALUE);
                const double off = fabs(
                    wanted[i] - (double)y[((b * r->tokens + token) * r->heads + h) * group * LINEAR_VALUE + rest]);
                most = fmax(most, fabs(wanted[i]));
                if (!(off <= worst)) worst = off;
            }
        }
    check_that(worst < 1e-5 * most, text_format(cx, "linear attention: %s, %d tokens", r->name, r->tokens),
               "off by %g of %g%s", worst, most, cx->diags ? diag_text(cx, cx->diags) : "");
    ctx_free(cx);
}

static void test_refused(const char *test_name, const char *line, const char *part)
{
    Ctx *cx = context_new(NULL, NULL);
    const bool was_read = output_of(cx, line) != NULL;
    const char *said = cx->diags ? diag_text(cx, cx->diags) : "";
    check_that(!was_read && strstr(said, part), check_label(test_name, "is-refused"), "said: %s", said);
    ctx_free(cx);
}

int main(void)
{
    CHECK_EACH(test_case, cases);
    test_rotary(false);
    test_rotary(true);
    test_causal_conv();
    CHECK_EACH(test_linear, rules);
    test_refused("odd-heads", "q:1,3,8;k:1,3,8;v:1,3,8;>y;Attention q,k,v y q_num_heads=3! kv_num_heads=3!",
                 "3 heads in [1][3][8]");
    test_refused("uneven-groups", "q:1,3,2,4;k:1,2,2,4;v:1,2,2,4;>y;Attention q,k,v y",
                 "3 heads of queries and 2 heads of keys; use a multiple of the heads of keys");
    test_refused("lone-past", "q:1,2,2,4;k:1,2,2,4;v:1,2,2,4;p:1,2,1,4;>y;Attention q,k,v,,p y",
                 "it has only past keys; pass past keys and past values");
    test_refused("no-activation", "x:1,2,5;k:2,1,3;>y;CausalConvWithState x,k y activation=tanh",
                 "use one of none, silu, swish");
    test_refused("no-rule",
                 "q:1,2,4;k:1,2,4;v:1,2,4;>y;LinearAttention q,k,v y q_num_heads=2! kv_num_heads=2! update_rule=cubic",
                 "linear, gated, delta or gated_delta");
    test_refused("no-decay",
                 "q:1,2,4;k:1,2,4;v:1,2,4;>y;LinearAttention q,k,v y q_num_heads=2! kv_num_heads=2! update_rule=gated",
                 "decay, input 4, is absent; pass it");
    test_refused("other-groups",
                 "q:1,2,6;k:1,2,4;v:1,2,4;>y;LinearAttention q,k,v y q_num_heads=3! kv_num_heads=2! update_rule=linear",
                 "a number of query heads that is a multiple of the number of value heads");
    return check_done();
}
