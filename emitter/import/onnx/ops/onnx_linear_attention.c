/* SPDX-License-Identifier: MIT */
/* Translates linear attention. Each head has a state S [key][value], updated token by token (Katharopoulos et al. 2020;
 * with a decay: Yang et al. 2023; with the delta rule: Schlag et al. 2021; ONNX LinearAttention).
 *
 *   S = exp(g) S                         gated, gated_delta
 *   u = beta (v - k S), else v           delta, gated_delta
 *   S = S + k' u
 *   y = scale q S
 *
 * Several tokens are a loop region with state S; one token, a decoding step, is inlined. Heads that share a state are
 * rows of one product. All arithmetic is in f32, or f64 if the query is f64. */
#include <math.h>
#include <string.h>

#include "graph/dag/region.h"
#include "import/onnx/ops/onnx_rows.h"

typedef enum AttentionPart { QUERY, KEY, VALUE, DECAY, BETA, PARTS } AttentionPart;

/* at: the operands of all tokens, [token][batch][heads][..][..], or NULL if absent. The last two dimensions have the
 * layout of the products. */
typedef struct Linear {
    OnnxCall *c;
    /* heads: the number of key heads; `shared`: query heads per key head */
    int64_t batch, tokens, heads, shared, key, value;
    Tensor *at[PARTS];
} Linear;

static bool read_rule(OnnxCall *c, bool *is_gated, bool *is_delta)
{
    const char *rule = onnx_text(c, "update_rule", "gated_delta");
    *is_gated = strncmp(rule, "gated", 5) == 0;
    *is_delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
    if (!*is_delta && strcmp(rule, "gated") != 0 && strcmp(rule, "linear") != 0)
        onnx_refuse(c, "'update_rule' is \"%s\"; use linear, gated, delta or gated_delta", rule);
    else if (*is_gated != (onnx_in(c, 4) != NULL))
        onnx_refuse(c, "'update_rule' is \"%s\" and decay, input 4, is %s; %s", rule,
                    *is_gated ? "absent" : "present", *is_gated ? "pass it" : "omit it");
    else if (*is_delta != (onnx_in(c, 5) != NULL))
        onnx_refuse(c, "'update_rule' is \"%s\" and beta, input 5, is %s; %s", rule, *is_delta ? "absent" : "present",
                    *is_delta ? "pass it" : "omit it");
    return !ctx_failed(c->cx);
}

/* Reshapes input i [batch][tokens][n] to [token][batch][heads][rows][columns], and casts it to the type of the
 * arithmetic. */
static Tensor *split_input(Linear *l, int i, int64_t heads, int64_t rows, int64_t columns)
{
    OnnxCall *c = l->c;
    Tensor *x = onnx_in(c, i);
    if (!x || ctx_failed(c->cx)) return NULL;
    if (x->rank != 3 || tensor_dim(x, 0) != l->batch || tensor_dim(x, 1) != l->tokens
        || tensor_dim(x, 2) != heads * rows * columns) {
        onnx_refuse(c, "input %d is %s; use [%lld][%lld][%lld]", i, tensor_shape_text(c->cx, x),
                    (long long)l->batch, (long long)l->tokens, (long long)(heads * rows * columns));
        return NULL;
    }
    x = onnx_cast(c, x, c->in[0]->type == F64 ? F64 : F32);
    return onnx_call(c, "transpose", onnx_reshape(c, x, (int64_t[]){ l->batch, l->tokens, heads, rows, columns }, 5),
                     attr_list("perm", 1, 0, 2, 3, 4));
}

static int64_t last_of(const Tensor *x) { return x && x->rank == 3 ? tensor_dim(x, 2) : -1; }

static bool read_parts(Linear *l)
{
    OnnxCall *c = l->c;
    const int64_t queries = onnx_int(c, "q_num_heads", 0), heads = l->heads = onnx_int(c, "kv_num_heads", 0);
    const int64_t q = last_of(c->in[0]), v = last_of(c->in[2]), decay = last_of(onnx_in(c, 4)),
                  beta = last_of(onnx_in(c, 5));
    if (!onnx_holds(c, heads >= 1 && queries >= 1 && queries % heads == 0, "'q_num_heads' is %lld and 'kv_num_heads' "
                    "%lld; use a number of query heads that is a multiple of the number of value heads",
                    (long long)queries, (long long)heads)
        || !onnx_holds(c, q >= 1 && q % queries == 0, "the queries are %s for %lld heads; use "
                       "[batch][tokens][heads * size]", tensor_shape_text(c->cx, c->in[0]), (long long)queries)
        || !onnx_holds(c, v >= 1 && v % heads == 0, "the values are %s for %lld heads; use "
                       "[batch][tokens][heads * size]", tensor_shape_text(c->cx, c->in[2]), (long long)heads))
        return false;
    l->batch = tensor_dim(c->in[0], 0), l->tokens = tensor_dim(c->in[0], 1);
    l->shared = queries / heads, l->key = q / queries, l->value = v / heads;
    l->at[QUERY] = split_input(l, 0, heads, l->shared, l->key);
    l->at[KEY] = split_input(l, 1, heads, 1, l->key);
    l->at[VALUE] = split_input(l, 2, heads, 1, l->value);
    l->at[DECAY] = split_input(l, 4, heads, decay == heads ? 1 : l->key, 1);
    l->at[BETA] = split_input(l, 5, beta == 1 ? 1 : heads, 1, 1);
    double scale = onnx_real(c, "scale", 0);
    if (scale == 0) scale = 1 / sqrt((double)l->key);
    l->at[QUERY] = onnx_call2(c, "mul", l->at[QUERY], onnx_scalar_like(c, l->at[QUERY], scale));
    return !ctx_failed(c->cx);
}

/* Computes one token; its parts have the shape [batch][heads][..][..]. */
static void compute_token(const Linear *l, Tensor *const *at, Tensor *state, Tensor **next, Tensor **y)
{
    OnnxCall *c = l->c;
    Tensor *u = at[VALUE];
    if (at[DECAY]) state = onnx_call2(c, "mul", state, onnx_call(c, "exp", at[DECAY]));
    if (at[BETA]) u = onnx_call2(c, "mul", onnx_call2(c, "sub", u, onnx_call2(c, "matmul", at[KEY], state)), at[BETA]);
    Tensor *column = onnx_reshape(c, at[KEY], (int64_t[]){ l->batch, l->heads, l->key, 1 }, 4);
    *next = onnx_call2(c, "add", state, onnx_call2(c, "mul", column, u));
    *y = onnx_call2(c, "matmul", at[QUERY], *next);
}

/* Returns the initial state, or zeros if none is given. */
static Tensor *first_state(const Linear *l)
{
    OnnxCall *c = l->c;
    Tensor *past = onnx_in(c, 3);
    const int64_t shape[4] = { l->batch, l->heads, l->key, l->value };
    if (!past) return tensor_constant(c->cx, c->name, l->at[QUERY]->type, 4, shape, NULL);
    bool fits = past->rank == 4;
    for (int d = 0; fits && d < 4; d++) fits = tensor_dim(past, d) == shape[d];
    if (!fits)
        onnx_refuse(c, "the past state is %s; use [%s]", tensor_shape_text(c->cx, past),
                    ints_text(c->cx, shape, 4));
    return onnx_cast(c, past, l->at[QUERY]->type);
}

static void one_token(const Linear *l, Tensor *state, Tensor **last, Tensor **y)
{
    Tensor *at[PARTS] = { NULL };
    for (int p = 0; p < PARTS; p++)
        if (l->at[p]) at[p] = onnx_call(l->c, "squeeze", l->at[p], attr_list("axes", 0));
    compute_token(l, at, state, last, y);
    *y = onnx_call(l->c, "unsqueeze", *y, attr_list("axes", 0));
}

static void all_tokens(const Linear *l, Tensor *state, Tensor **last, Tensor **y)
{
    static const char *const names[PARTS] = { "query", "key", "value", "decay", "beta" };
    static const bool forward[PARTS] = { false };
    Ctx *cx = l->c->cx;
    Tensor *at[PARTS] = { NULL }, *outer[3 + PARTS] = { NULL }, *result[2],
           **inner = NEW_ARRAY(cx->arena, Tensor *, 2 + PARTS);
    int count = 2;
    outer[0] = tensor_constant(cx, "count", I64, 0, NULL, &l->tokens);
    outer[2] = state;
    inner[0] = tensor_new(cx, "iteration", I64, 0, NULL);
    inner[1] = tensor_new(cx, "state", state->type, 4, state->shape);
    for (int p = 0; p < PARTS; p++) {
        if (!l->at[p]) continue;
        at[p] = inner[count] = tensor_new(cx, names[p], l->at[p]->type, 4, l->at[p]->shape + 1);
        outer[++count] = l->at[p];
    }
    compute_token(l, at, inner[1], &result[0], &result[1]);
    if (ctx_failed(cx)) return;
    Region r = { .kind = REGION_LOOP,
                 .graph_count = 1,
                 .state_count = 1,
                 .scan_count = count - 2,
                 .row_count = 1,
                 .scans_back = forward,
                 .rows_back = forward,
                 .max_trip_count = l->tokens };
    r.graph[0] = (Graph){ .name = l->c->name,
                          .input = inner,
                          .input_count = count,
                          .output = arena_copy(cx->arena, result, sizeof result),
                          .output_count = 2 };
    Node *n = region_new(cx, l->c->name, &r, outer, count + 1);
    if (n) *last = n->out[0], *y = n->out[1];
}

static void linear_attention(OnnxCall *c)
{
    Linear l = { .c = c };
    bool is_gated, is_delta;
    Tensor *last = NULL, *y = NULL;
    if (!onnx_requires(c, 3) || !read_rule(c, &is_gated, &is_delta) || !read_parts(&l)) return;
    Tensor *state = first_state(&l);
    if (ctx_failed(c->cx)) return;
    if (l.tokens == 1) one_token(&l, state, &last, &y);
    else all_tokens(&l, state, &last, &y);
    y = onnx_call(c, "transpose", y, attr_list("perm", 1, 0, 2, 3, 4));
    y = y ? onnx_reshape(c, y, (int64_t[]){ l.batch, l.tokens, l.heads * l.shared * l.value }, 3) : NULL;
    c->out[0] = onnx_cast(c, y, c->in[0]->type);
    c->out[1] = onnx_cast(c, last, onnx_in(c, 3) ? c->in[3]->type : c->in[0]->type);
}

const OnnxOp onnx_rows_linear_attention[] = {
    { ONNX_ROW("LinearAttention", 6, "chunk_size kv_num_heads q_num_heads scale update_rule", linear_attention) },
    { 0 }
};
