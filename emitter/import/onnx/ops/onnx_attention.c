/* SPDX-License-Identifier: MIT */
/* Computes attention over tokens, and related operators, as products, softmax and elementwise calls:
 *
 *   y = softmax(softcap(scale * q k') + mask) v        Vaswani et al. 2017, "Attention Is All You Need"; ONNX Attention
 *
 * Heads that share keys (Ainslie et al. 2023, grouped queries) are adjacent in q. Therefore q [b][heads][rows][d] is
 * viewed as [b][kv heads][heads / kv heads * rows][d]: one product multiplies a head of k by all rows of its heads,
 * without repeating k.
 *
 * One condition, `allowed`, masks the keys of each query. A row whose keys are all masked is zero, whatever its scores
 * are. */
#include <math.h>
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"
#include "ir/algebra/algebra.h"

/* limit of the scores of one head, because `allowed` is evaluated for each score */
enum { MOST_SCORES = 1 << 24 };

static const Expr *times(OnnxCall *c, const Expr *a, const Expr *b)
{
    return simplify(c->cx, expr_mul(c->cx, a, b), NULL);
}

static Tensor *both_allow(OnnxCall *c, Tensor *a, Tensor *b) { return a && b ? onnx_call2(c, "and", a, b) : a ? a : b; }

/* ---- Heads ------------------------------------------------------------------------------------------------------- */

/* Turns [b][rows][heads * d] into [b][heads][rows][d]; a tensor of rank 4 is returned unchanged. */
static Tensor *split_heads(OnnxCall *c, Tensor *x, int64_t heads)
{
    if (!x || x->rank == 4) return x;
    int64_t width = x->rank == 3 ? tensor_dim(x, 2) : 0;
    if (heads < 1 || width % heads != 0 || width < 1) {
        onnx_refuse(c,
                    "it has %lld heads in %s; use [batch][heads][rows][size], or [batch][rows][heads * size] with the "
                    "number of heads",
                    (long long)heads, tensor_shape_text(c->cx, x));
        return NULL;
    }
    const Expr *const shape[4] = { x->shape[0], x->shape[1], expr_index(c->cx, heads),
                                   expr_index(c->cx, width / heads) };
    return onnx_call(c, "transpose", onnx_view(c, x, shape, 4), attr_list("perm", 0, 2, 1, 3));
}

static Tensor *merge_heads(OnnxCall *c, Tensor *x)
{
    if (!x) return NULL;
    const Expr *const shape[3] = { x->shape[0], x->shape[2], times(c, x->shape[1], x->shape[3]) };
    return onnx_view(c, onnx_call(c, "transpose", x, attr_list("perm", 0, 2, 1, 3)), shape, 3);
}

/* Multiplies x [b][heads][rows][n] by m [b][kv heads][n][o]; heads that share a head of m become rows of one
 * product. */
static Tensor *head_product(OnnxCall *c, Tensor *x, Tensor *m)
{
    if (!x || !m) return NULL;
    const int64_t shared = tensor_dim(m, 1);
    if (shared == tensor_dim(x, 1)) return onnx_call2(c, "matmul", x, m);
    const Expr *rows = times(c, expr_index(c->cx, tensor_dim(x, 1) / shared), x->shape[2]);
    const Expr *const grouped[4] = { x->shape[0], m->shape[1], rows, x->shape[3] }, *const result[4] = {
        x->shape[0], x->shape[1], x->shape[2], m->shape[3]
    };
    return onnx_view(c, onnx_call2(c, "matmul", onnx_view(c, x, grouped, 4), m), result, 4);
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

typedef struct Attention {
    OnnxCall *c;
    Tensor *q, *k, *v;               /* q: [b][heads][rows][d]; k: [b][kv heads][keys][d]; v: [b][kv heads][keys][o] */
    const Expr *rows, *keys, *past;  /* past: the number of keys before the first query, if this number is a size */
    Tensor *valid;                   /* number of valid keys, i64[b][1][1][1], or NULL if all keys are valid */
    Tensor *allowed, *bias;          /* allowed, bias: broadcast to the scores; NULL if there is no mask or no bias */
} Attention;

/* Returns 0, 1, 2, .. up to count - 1. */
static Tensor *index_range(OnnxCall *c, const Expr *count)
{
    const Attr like = { .name = "like", .kind = ATTR_TENSOR, .tensor = tensor_new(c->cx, c->name, I64, 1, &count) };
    Tensor *number = tensor_scalar(c->cx, c->name, I64, 0);
    Tensor *in[2] = { number, tensor_scalar(c->cx, c->name, I64, 1) };
    Node *n = ctx_failed(c->cx) ? NULL : op_call(c->cx, op_find(c->cx, "ramp"), c->name, in, 2, &like, 1);
    return n ? n->out[0] : NULL;
}

/* Returns key - row as [rows][keys]: the distance of a key ahead of a query. */
enum { MOST_DISTANCES = 1 << 24 };      /* limit of a table; more distances are computed at run time */
static Tensor *distances(const Attention *a)
{
    OnnxCall *c = a->c;
    const bool is_known = a->rows->kind == EXPR_INT && a->keys->kind == EXPR_INT;
    if (!is_known || a->rows->integer > MOST_DISTANCES / a->keys->integer) {
        Tensor *column = onnx_call(c, "unsqueeze", index_range(c, a->rows), attr_list("axes", 1));
        return onnx_call2(c, "sub", index_range(c, a->keys), column);
    }
    int64_t shape[2] = { a->rows->integer, a->keys->integer },
            *at = NEW_ARRAY(c->cx->arena, int64_t, shape[0] * shape[1]);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++) at[i * shape[1] + j] = j - i;
    return tensor_constant(c->cx, c->name, I64, 2, shape, at);
}

/* Returns size + more as a scalar, computed at run time if the size is open. */
static Tensor *count_tensor(OnnxCall *c, const Expr *size, int64_t more)
{
    const Attr like = { .name = "like", .kind = ATTR_TENSOR, .tensor = tensor_new(c->cx, c->name, I64, 1, &size) };
    if (size->kind == EXPR_INT) return tensor_scalar(c->cx, c->name, I64, (double)(size->integer + more));
    Tensor *x = tensor_scalar(c->cx, c->name, I64, (double)more);
    Node *n = x ? op_call(c->cx, op_find(c->cx, "extent"), c->name, &x, 1, &like, 1) : NULL;
    return n ? n->out[0] : NULL;
}

/* Masks all keys except those for which key - (row + offset) `op` limit holds. The offset is the number of keys before
 * the first query; if data decide the number of valid keys, the offset counts from their end. */
static void allow_distance(Attention *a, const char *op, int64_t limit)
{
    OnnxCall *c = a->c;
    Tensor *bound = a->valid ? NULL : count_tensor(c, a->past, limit);
    if (a->valid) bound = onnx_call2(c, "sub", a->valid, count_tensor(c, a->rows, -limit));
    a->allowed = both_allow(c, a->allowed, onnx_call2(c, op, distances(a), bound));
}

static void allow_valid(Attention *a)
{
    a->allowed = both_allow(
        a->c, a->allowed,
        onnx_call2(a->c, "less", onnx_call(a->c, "unsqueeze", index_range(a->c, a->keys),
                                           attr_list("axes", 0, 1, 2)), a->valid));
}

/* Applies a mask: a bool mask is the condition, and a mask of numbers is added to the scores. Keys past the end of the
 * mask are not allowed. */
static void apply_mask(Attention *a, Tensor *mask)
{
    OnnxCall *c = a->c;
    if (!mask) return;
    int64_t width = mask->rank ? tensor_dim(mask, mask->rank - 1) : 0;
    if (width == 0) {
        onnx_refuse(c, "the mask is %s; use [..][keys]", tensor_shape_text(c->cx, mask));
        return;
    }
    if (mask->type != BOOL) mask = onnx_cast(c, mask, a->q->type);
    if (!mask) return;
    if (width > 1 && a->keys->kind != EXPR_INT)
        onnx_unsupported(c, "the mask has %lld keys, but the number of keys is open; use a mask whose last "
                            "dimension is the same open size",
                         (long long)width);
    if (width > 1 && width < a->keys->integer) {
        int64_t pads[2 * MAX_RANK] = { 0 };
        pads[2 * mask->rank - 1] = a->keys->integer - width;
        mask = onnx_call(c, "pad", mask, attr_ints("pad", pads, 2 * mask->rank),
                         attr_word("mode", "constant"), attr_real("value", mask->type == BOOL ? 0 : -INFINITY));
    }
    if (!mask) return;
    if (mask->type == BOOL) a->allowed = both_allow(c, a->allowed, mask);
    else a->bias = mask;
}

/* Returns a condition that is true for rows of the scores whose keys are all masked: their largest bias is -inf. */
static Tensor *masked_rows(const Attention *a)
{
    OnnxCall *c = a->c;
    Tensor *bias = a->bias, *least = onnx_scalar_like(c, a->q, -INFINITY);
    if (a->allowed) bias = onnx_select(c, a->allowed, bias ? bias : onnx_scalar_like(c, a->q, 0), least);
    if (!bias) return NULL;
    return onnx_call2(c, "equal", onnx_call(c, "reduce_max", bias, attr_list("axes", -1),
                                            attr_flag("keepdims", true)), least);
}

/* ---- Attention --------------------------------------------------------------------------------------------------- */

static bool read_operands(OnnxCall *c, Attention *a)
{
    Tensor *past_k = onnx_in(c, 4), *past_v = onnx_in(c, 5), *valid = onnx_in(c, 6);
    if (!onnx_requires(c, 3)) return false;
    a->c = c;
    a->past = expr_index(c->cx, 0);
    a->q = split_heads(c, c->in[0], onnx_int(c, "q_num_heads", 0));
    a->k = split_heads(c, c->in[1], onnx_int(c, "kv_num_heads", 0));
    a->v = split_heads(c, c->in[2], onnx_int(c, "kv_num_heads", 0));
    if (!past_k != !past_v)
        onnx_refuse(c, "it has only past %s; pass past keys and past values", past_k ? "keys" : "values");
    if (past_k && valid)
        onnx_refuse(c, "it has past keys and a number of valid keys (input 6); omit one of them");
    if (past_k && past_v) {
        if (past_k->rank == 4) a->past = past_k->shape[2];
        if (!expr_is_int(a->past, 0))
            a->k = onnx_call2(c, "concat", past_k, a->k, attr_int("axis", 2)),
            a->v = onnx_call2(c, "concat", past_v, a->v, attr_int("axis", 2));
    }
    if (ctx_failed(c->cx)) return false;
    a->rows = a->q->shape[2], a->keys = a->k->shape[2];
    int64_t heads = tensor_dim(a->q, 1), shared = tensor_dim(a->k, 1);
    const char *q = tensor_shape_text(c->cx, a->q), *k = tensor_shape_text(c->cx, a->k);
    if (!onnx_holds(c, tensor_dim(a->v, 1) == shared && a->v->shape[2] == a->keys, "the keys are %s and the values "
                    "%s, as [batch][heads][rows][size]; use equal heads and rows", k, tensor_shape_text(c->cx, a->v))
        || !onnx_holds(c, tensor_dim(a->q, 3) == tensor_dim(a->k, 3), "the queries are %s and the keys %s, as "
                       "[batch][heads][rows][size]; use equal sizes", q, k)
        || !onnx_holds(c, shared >= 1 && heads % shared == 0, "it has %lld heads of queries and %lld heads of keys; "
                       "use a multiple of the heads of keys", (long long)heads, (long long)shared))
        return false;
    const int64_t rows = interval_of(c->cx, a->rows, NULL).greatest, keys = interval_of(c->cx, a->keys, NULL).greatest;
    if (keys < 1 || rows > MOST_SCORES / keys) {
        onnx_unsupported(c, "it has %lld queries by %lld keys; use at most %d scores per head", (long long)rows,
                         (long long)keys, MOST_SCORES);
        return false;
    }
    if (valid) a->valid = onnx_reshape(c, onnx_cast(c, valid, I64), (int64_t[]){ -1, 1, 1, 1 }, 4);
    return !ctx_failed(c->cx);
}

/* Returns the window size to one side, saturated, because a window beyond all keys has no effect. */
static int64_t window(const OnnxCall *c, const char *attr)
{
    const int64_t n = onnx_int(c, attr, -1);
    return n > INT32_MAX ? INT32_MAX : n;
}

/* Returns the weights of the keys. A sink is a number for each head: the score of one more key, which has no value. The
 * weights of the other keys therefore add up to less than 1. */
static Tensor *weights_of(OnnxCall *c, Tensor *scores, Tensor *sink)
{
    if (!scores || !sink) return onnx_call(c, "softmax", scores, attr_int("axis", -1));
    const Expr *one = expr_index(c->cx, 1), *const shape[4] = { scores->shape[0], scores->shape[1], scores->shape[2],
                                                                one };
    sink = onnx_cast(c, sink, scores->type);
    if (sink && sink->rank) sink = onnx_view(c, sink, (const Expr *[]){ one, sink->shape[0], one, one }, 4);
    Tensor *all = onnx_call2(c, "concat", scores, onnx_expand(c, sink, shape, 4), attr_int("axis", 3));
    return onnx_call(c, "slice", onnx_call(c, "softmax", all, attr_int("axis", -1)), attr_list("axes", 3),
                     attr_list("begin", 0), attr_list("end", -1));
}

/* Translates Attention. Only GroupQueryAttention passes input 7, the sink. */
static void attention(OnnxCall *c)
{
    Attention a = { 0 };
    int64_t left = window(c, "left_window_size"), right = window(c, "right_window_size"),
            output_mode = onnx_int(c, "qk_matmul_output_mode", 0);
    if (!read_operands(c, &a)) return;
    if (onnx_int(c, "is_causal", 0)) allow_distance(&a, "less_equal", 0);
    if (left >= 0) allow_distance(&a, "greater_equal", -left);
    if (right >= 0) allow_distance(&a, "less_equal", right);
    if (a.valid) allow_valid(&a);
    apply_mask(&a, onnx_in(c, 3));

    double scale = onnx_real(c, "scale", 0), cap = onnx_real(c, "softcap", 0);
    if (!onnx_attr(c, "scale")) scale = 1 / sqrt((double)tensor_dim(a.q, 3));
    Tensor *turned = onnx_call(c, "transpose", a.k, attr_list("perm", 0, 1, 3, 2));
    Tensor *scores = head_product(c, onnx_call2(c, "mul", a.q, onnx_scalar_like(c, a.q, scale)), turned);
    /* the results that qk_matmul_output_mode selects */
    Tensor *stage[4] = { scores };
    if (cap > 0) {
        Tensor *most = onnx_scalar_like(c, scores, cap),
               *share = onnx_call2(c, "div", scores, onnx_scalar_like(c, scores, cap));
        scores = onnx_call2(c, "mul", onnx_call(c, "tanh", share), most);
    }
    stage[1] = scores;
    if (a.bias) scores = onnx_call2(c, "add", scores, a.bias);
    if (a.allowed) scores = onnx_select(c, a.allowed, scores, onnx_scalar_like(c, scores, -INFINITY));
    stage[2] = scores;
    Tensor *weight = weights_of(c, scores, onnx_in(c, 7)), *masked = masked_rows(&a);
    stage[3] = masked ? onnx_select(c, masked, onnx_scalar_like(c, weight, 0), weight) : weight;

    Tensor *y = head_product(c, stage[3], a.v);
    c->out[0] = c->in[0]->rank == 3 ? merge_heads(c, y) : y;
    c->out[1] = a.k, c->out[2] = a.v;
    if (output_mode < 0 || output_mode > 3)
        onnx_refuse(c, "'qk_matmul_output_mode' is %lld; use 0 to 3", (long long)output_mode);
    else c->out[3] = stage[output_mode];
}

/* ---- Rotary embedding -------------------------------------------------------------------------------------------- */

static Tensor *part(OnnxCall *c, Tensor *x, int64_t begin, int64_t end, int64_t step)
{
    return onnx_call(c, "slice", x, attr_list("axes", -1), attr_list("begin", begin), attr_list("end", end),
                     attr_list("step", step));
}

/* Returns the rows of a table of sines or cosines as [b][1][rows][n]: the table is [b][rows][n], or [positions][n] to
 * gather from. */
static Tensor *rotation(OnnxCall *c, Tensor *table, Tensor *position)
{
    if (position) table = onnx_call2(c, "gather", table, position, attr_int("axis", 0));
    return onnx_call(c, "unsqueeze", table, attr_list("axes", 1));
}

/* Su et al. 2021, "RoFormer": rotates pairs (p, q) of a head's first values by an angle per row. */
static void rotary_embedding(OnnxCall *c)
{
    if (!onnx_requires(c, 3)) return;
    Tensor *x = split_heads(c, c->in[0], onnx_int(c, "num_heads", 0));
    if (!x) return;
    bool interleaved = onnx_int(c, "interleaved", 0) != 0;
    int64_t size = tensor_dim(x, 3), rotated = onnx_int(c, "rotary_embedding_dim", 0),
            half = (rotated ? rotated : size) / 2;
    if (half < 1 || 2 * half > size) {
        onnx_refuse(c, "'rotary_embedding_dim' is %lld for heads of %lld values; use 2 up to the number of values",
                    (long long)rotated, (long long)size);
        return;
    }
    Tensor *p = interleaved ? part(c, x, 0, 2 * half, 2) : part(c, x, 0, half, 1),
           *q = interleaved ? part(c, x, 1, 2 * half, 2) : part(c, x, half, 2 * half, 1);
    Tensor *cosine = rotation(c, c->in[1], onnx_in(c, 3)), *sine = rotation(c, c->in[2], onnx_in(c, 3));
    Tensor *product = onnx_call2(c, "mul", sine, q);
    Tensor *real = onnx_call2(c, "sub", onnx_call2(c, "mul", cosine, p), product);
    Tensor *along_cosine = onnx_call2(c, "mul", cosine, q);
    Tensor *imaginary = onnx_call2(c, "add", onnx_call2(c, "mul", sine, p), along_cosine);
    Tensor *y;
    if (interleaved) {
        Tensor *column = onnx_call(c, "unsqueeze", imaginary, attr_list("axes", 4));
        y = onnx_call2(c, "concat", onnx_call(c, "unsqueeze", real, attr_list("axes", 4)), column, attr_int("axis", 4));
    }
    else y = onnx_call2(c, "concat", real, imaginary, attr_int("axis", 3));
    if (interleaved)
        y = onnx_view(c, y, (const Expr *[]){ x->shape[0], x->shape[1], x->shape[2], expr_index(c->cx, 2 * half) }, 4);
    if (2 * half < size) y = onnx_call2(c, "concat", y, part(c, x, 2 * half, size, 1), attr_int("axis", 3));
    c->out[0] = c->in[0]->rank == 3 ? merge_heads(c, y) : y;
}

/* ---- Related operators ------------------------------------------------------------------------------------------- */

/* Convolves each channel of x [b][channels][n] with its own k taps; the last tap multiplies the current element. The
 * elements before x are `past` [b][channels][k - 1], or zeros; the last k - 1 elements of both are `past` in the next
 * call. */
static void causal_conv(OnnxCall *c)
{
    const char *activation = onnx_text(c, "activation", "none");
    bool is_silu = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
    if (!is_silu && strcmp(activation, "none") != 0)
        onnx_refuse(c, "'activation' is \"%s\"; use one of none, silu, swish", activation);
    if (!onnx_requires(c, 2)) return;
    Tensor *x = c->in[0], *kernel = c->in[1], *past = onnx_in(c, 3);
    int64_t before = kernel->rank == 3 ? tensor_dim(kernel, 2) - 1 : -1;
    if (x->rank != 3 || before < 0 || tensor_dim(kernel, 1) != 1 || tensor_dim(kernel, 0) != tensor_dim(x, 1)) {
        onnx_refuse(c, "the input is %s and the kernel %s; use [batch][channels][n] and [channels][1][taps]",
                    tensor_shape_text(c->cx, x), tensor_shape_text(c->cx, kernel));
        return;
    }
    if (before && past) x = onnx_call2(c, "concat", past, x, attr_int("axis", 2));
    else if (before) x = onnx_call(c, "pad", x, attr_list("pad", 0, 0, before, 0, 0, 0));
    if (!x) return;
    Tensor *taps = onnx_reshape(c, onnx_call(c, "transpose", kernel, attr_list("perm", 2, 0, 1)),
                                (int64_t[]){ before + 1, tensor_dim(kernel, 0) }, 2);
    Tensor *y = onnx_call2(c, "depthwise_conv1d", onnx_channels_last(c, x), taps);
    if (onnx_in(c, 2)) y = onnx_call2(c, "add", y, c->in[2]);
    y = onnx_channels_second(c, y);
    c->out[0] = is_silu ? onnx_call(c, "silu", y) : y;
    c->out[1] = before ? part(c, x, -before, INT32_MAX, 1) : onnx_empty_slice(c, x, 2);
}

/* Computes swish(a) * b. */
static void swiglu(OnnxCall *c)
{
    if (!onnx_requires(c, 2)) return;
    Tensor *a = c->in[0], *slope = onnx_scalar_like(c, a, onnx_real(c, "alpha", 1));
    c->out[0] = onnx_call2(
        c, "mul", onnx_call2(c, "mul", a, onnx_call(c, "sigmoid", onnx_call2(c, "mul", slope, a))), c->in[1]);
}

const OnnxOp onnx_rows_attention[] = {
    { ONNX_ROW("Attention", 7,
      "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale "
      "softcap softmax_precision", attention),
      .open.keeps = KEEPS_ALL },
    { ONNX_ROW("CausalConvWithState", 4, "activation", causal_conv) },
    { ONNX_ROW("RotaryEmbedding", 4, "interleaved num_heads rotary_embedding_dim", rotary_embedding),
      .open.keeps = KEEPS_ALL },
    { ONNX_ROW("SwiGLU", 2, "alpha", swiglu), .open.keeps = KEEPS_ALL },
    { 0 }
};
