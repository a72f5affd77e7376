/* SPDX-License-Identifier: MIT */
/* Translates ONNX Runtime's attention (domain com.microsoft): operands and masks are brought to the form of ONNX's
 * Attention.
 *
 *   Attention            queries, keys and values are one product of the input and weights [i][3 * heads * d]
 *   MultiHeadAttention   queries [b][rows][heads * d], keys and values likewise; one bias for all
 *   GroupQueryAttention  a cache of keys and values, of which the first seqlens_k + 1 are valid after the call */
#include <math.h>
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

enum { Q, K, V, MASK, PAST_K, PAST_V, VALID, SINK, OPERANDS };     /* inputs of ONNX's Attention, and the sink */

static OnnxAttr int_attr(const char *attr, int64_t v) { return (OnnxAttr){ .name = attr, .i = v, .s = "" }; }
static OnnxAttr real_attr(const char *attr, double v) { return (OnnxAttr){ .name = attr, .f = v, .s = "" }; }

/* Options of ONNX's Attention. */
typedef struct Options { int64_t heads, shared; bool is_causal; int64_t left_window; } Options;

/* Calls ONNX's Attention: outputs 0 to 2 are the result, all keys and all values. */
static void attend(OnnxCall *c, Tensor **in, const Options *o)
{
    OnnxAttr attr[7];
    int count = 0;
    attr[count++] = int_attr("q_num_heads", o->heads);
    attr[count++] = int_attr("kv_num_heads", o->shared);
    attr[count++] = int_attr("is_causal", o->is_causal);
    attr[count++] = int_attr("left_window_size", o->left_window);
    attr[count++] = real_attr("softcap", onnx_real(c, "softcap", 0));
    if (onnx_real(c, "scale", 0) != 0) attr[count++] = real_attr("scale", onnx_real(c, "scale", 0));
    OnnxNode *n = arena_copy(c->cx->arena, c->node, sizeof *n);
    n->attr = arena_copy(c->cx->arena, attr, sizeof attr);
    n->attr_count = count;
    int inputs = OPERANDS;
    while (inputs && !in[inputs - 1]) inputs--;
    if (!ctx_failed(c->cx)) onnx_translate_as(c, "Attention", 23, in, inputs, n);
}

static Tensor *columns(OnnxCall *c, Tensor *x, int axis, int64_t begin, int64_t end)
{
    return onnx_call(c, "slice", x, attr_list("axes", axis), attr_list("begin", begin), attr_list("end", end));
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

static Tensor *ramp(OnnxCall *c, int64_t count)
{
    int64_t *v = NEW_ARRAY(c->cx->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) v[i] = i;
    return tensor_constant(c->cx, c->name, I64, 1, &count, v);
}

/* Returns the bias of a mask of integers: a large negative number for excluded keys, otherwise 0. The mask is [b], the
 * number of valid keys, or [b][keys] or [b][rows][keys] with 0 for excluded keys. */
static Tensor *mask_bias(OnnxCall *c, Tensor *mask, int64_t batch, int64_t keys)
{
    if (!mask) return NULL;
    const double filter = onnx_real(c, "mask_filter_value", -10000);
    Tensor *is_kept = NULL;
    if (!dtype_is_integer(mask->type) || mask->rank < 1 || mask->rank > 3 || tensor_dim(mask, 0) != batch
        || (mask->rank > 1 && tensor_dim(mask, mask->rank - 1) != keys)) {
        onnx_unsupported(c, "it has a mask %s of %s for %lld keys; use integers [batch], [batch][keys] or "
                            "[batch][rows][keys]",
                         tensor_shape_text(c->cx, mask), dtype_info(mask->type)->spelling, (long long)keys);
        return NULL;
    }
    if (mask->rank == 1) {
        Tensor *aligned = onnx_append_ones(c, onnx_cast(c, mask, I64), 1);
        is_kept = onnx_call2(c, "less", ramp(c, keys), aligned);
    }
    else is_kept = onnx_call2(c, "greater", mask, onnx_scalar_like(c, mask, 0));
    if (!is_kept) return NULL;
    is_kept = is_kept->rank == 2 ? onnx_call(c, "unsqueeze", is_kept, attr_list("axes", 1, 2))
                                 : onnx_call(c, "unsqueeze", is_kept, attr_list("axes", 1));
    if (!is_kept) return NULL;
    Tensor *masked = tensor_scalar(c->cx, c->name, F32, filter);
    return onnx_select(c, is_kept, tensor_scalar(c->cx, c->name, F32, 0), masked);
}

static Tensor *sum_of(OnnxCall *c, Tensor *a, Tensor *b) { return a && b ? onnx_call2(c, "add", a, b) : a ? a : b; }

/* ---- The operators ----------------------------------------------------------------------------------------------- */

static int64_t heads_of(OnnxCall *c)
{
    const int64_t heads = onnx_int(c, "num_heads", 0);
    if (heads < 1) onnx_refuse(c, "'num_heads' is %lld; use 1 or more", (long long)heads);
    return heads;
}

static bool is_fixed3(OnnxCall *c, const Tensor *x, const char *what)
{
    if (x && x->rank == 3 && tensor_is_fixed(x)) return true;
    onnx_unsupported(c, "%s %s; use [batch][rows][values] of fixed sizes", what,
                     x ? tensor_shape_text(c->cx, x) : "is absent");
    return false;
}

/* The inputs are input, weights, bias, mask, past and attention_bias. */
static void packed_attention(OnnxCall *c)
{
    const int64_t heads = heads_of(c);
    if (!onnx_requires(c, 2) || !is_fixed3(c, c->in[0], "the input is")) return;
    const OnnxAttr *sizes = onnx_attr(c, "qkv_hidden_sizes");
    const int64_t all = c->in[1]->rank == 2 ? tensor_dim(c->in[1], 1) : 0, batch = tensor_dim(c->in[0], 0);
    if (onnx_int(c, "do_rotary", 0)) onnx_unsupported(c, "'do_rotary'; use 0");
    if (sizes && sizes->int_count != 3)
        onnx_refuse(c, "'qkv_hidden_sizes' has %d sizes; use 3 sizes", sizes->int_count);
    if (ctx_failed(c->cx)) return;
    const int64_t q = sizes ? sizes->ints[0] : all / 3, k = sizes ? sizes->ints[1] : all / 3;
    if (q < 1 || k < 1 || q >= all || k >= all - q) {
        onnx_refuse(c, "the weights are %s for queries of %lld and keys of %lld; use [values][queries + keys + values]",
                    tensor_shape_text(c->cx, c->in[1]), (long long)q, (long long)k);
        return;
    }
    Tensor *x = onnx_call2(c, "dense", c->in[0], c->in[1]), *past = onnx_in(c, 4), *in[OPERANDS] = { NULL };
    if (onnx_in(c, 2)) x = onnx_call2(c, "add", x, c->in[2]);
    in[Q] = columns(c, x, 2, 0, q), in[K] = columns(c, x, 2, q, q + k), in[V] = columns(c, x, 2, q + k, all);
    for (int i = 0; past && i < 2; i++)
        in[PAST_K + i] = onnx_call(c, "squeeze", columns(c, past, 0, i, i + 1), attr_list("axes", 0));
    if (ctx_failed(c->cx)) return;
    if (in[PAST_K] && in[PAST_K]->rank != 4) {
        onnx_refuse(c, "the past is %s; use [2][batch][heads][rows][size]", tensor_shape_text(c->cx, past));
        return;
    }
    const int64_t keys = tensor_dim(in[K], 1) + (in[PAST_K] ? tensor_dim(in[PAST_K], 2) : 0);
    in[MASK] = sum_of(c, mask_bias(c, onnx_in(c, 3), batch, keys), onnx_in(c, 5));
    attend(c, in, &(Options){ heads, heads, onnx_int(c, "unidirectional", 0) != 0, -1 });
    if (c->node->out_count > 1 && c->out[1]) {
        Tensor *column = onnx_call(c, "unsqueeze", c->out[2], attr_list("axes", 0));
        c->out[1] = onnx_call2(c, "concat", onnx_call(c, "unsqueeze", c->out[1], attr_list("axes", 0)), column,
                               attr_int("axis", 0));
    }
    c->out[2] = c->out[3] = NULL;
}

/* The inputs are query, key, value, bias, key_padding_mask, attention_bias, past_key and past_value. */
static void multi_head_attention(OnnxCall *c)
{
    const int64_t heads = heads_of(c);
    if (!onnx_requires(c, 3) || !is_fixed3(c, c->in[0], "the query is")) return;
    Tensor *in[OPERANDS] = { c->in[0], c->in[1], c->in[2], NULL, onnx_in(c, 6), onnx_in(c, 7), NULL },
           *bias = onnx_in(c, 3);
    int64_t at = 0;
    for (int i = 0; i < OPERANDS; i++)
        if (in[i] && (!tensor_is_fixed(in[i]) || in[i]->rank > 4 || in[i]->rank < (i < 3 ? 3 : 4)))
            onnx_unsupported(c, "input \"%s\" is %s; use fixed sizes%s [batch][heads][rows][size]", in[i]->name,
                             tensor_shape_text(c->cx, in[i]), i < 3 ? " [batch][rows][values] or" : "");
    for (int i = 0; bias && i < 3 && !ctx_failed(c->cx); i++) {
        const int64_t width = in[i]->rank == 3 ? tensor_dim(in[i], 2) : heads * tensor_dim(in[i], 3);
        if (in[i]->rank == 3) in[i] = onnx_call2(c, "add", in[i], columns(c, bias, 0, at, at + width));
        at += width;
    }
    if (ctx_failed(c->cx)) return;
    const int64_t keys = tensor_dim(in[K], in[K]->rank == 3 ? 1 : 2) + (in[PAST_K] ? tensor_dim(in[PAST_K], 2) : 0);
    in[MASK] = sum_of(c, mask_bias(c, onnx_in(c, 4), tensor_dim(in[Q], 0), keys), onnx_in(c, 5));
    attend(c, in, &(Options){ heads, heads, onnx_int(c, "unidirectional", 0) != 0, -1 });
    if (c->node->out_count < 4) c->out[3] = NULL;
}

/* Rotates the heads of x [b][rows][heads * d] at the given positions, [b][rows]. */
static Tensor *rotated(OnnxCall *c, Tensor *x, Tensor *const *table, Tensor *position, int64_t heads, bool interleaved)
{
    if (!x || !table[0] || !table[1] || table[0]->rank != 2 || heads < 1) {
        if (!ctx_failed(c->cx)) onnx_refuse(c, "tables of cosines and sines [positions][n] are required");
        return NULL;
    }
    OnnxAttr attr[2] = { int_attr("num_heads", heads), int_attr("interleaved", interleaved) };
    OnnxNode *n = arena_copy(c->cx->arena, c->node, sizeof *n);
    n->attr = arena_copy(c->cx->arena, attr, sizeof attr);
    n->attr_count = 2;
    const int64_t size = tensor_dim(x, x->rank - 1) / (x->rank == 4 ? 1 : heads);
    if (2 * tensor_dim(table[0], 1) < size) {
        OnnxAttr *more = NEW_ARRAY(c->cx->arena, OnnxAttr, 3);
        for (int i = 0; i < 2; i++) more[i] = attr[i];
        more[2] = int_attr("rotary_embedding_dim", 2 * tensor_dim(table[0], 1));
        n->attr = more;
        n->attr_count = 3;
    }
    return onnx_translate_as(c, "RotaryEmbedding", 23, (Tensor *[]){ x, table[0], table[1], position }, 4, n);
}

/* The inputs are input, positions, cosines and sines. Positions of shape [1] have the position of the first row;
 * [b][rows] has the position of each row. */
static void rotary_embedding(OnnxCall *c)
{
    if (!onnx_requires(c, 4)) return;
    Tensor *x = c->in[0], *position = c->in[1];
    const int64_t width = c->in[2]->rank == 2 ? 2 * tensor_dim(c->in[2], 1) : 0,
                  dim = onnx_int(c, "rotary_embedding_dim", 0);
    if ((x->rank != 3 && x->rank != 4) || !tensor_is_fixed(x))
        onnx_refuse(c, "x is %s; use fixed sizes [batch][rows][values] or [batch][heads][rows][size]",
                    tensor_shape_text(c->cx, x));
    if (width < 1)
        onnx_refuse(c, "the cosines are %s; use [positions][n]", tensor_shape_text(c->cx, c->in[2]));
    if (onnx_real(c, "scale", 1) != 1) onnx_unsupported(c, "'scale' is %g; use 1", onnx_real(c, "scale", 1));
    if (onnx_int(c, "is_packed_batching", 0))
        onnx_unsupported(c, "'is_packed_batching' is %lld; use 0", (long long)onnx_int(c, "is_packed_batching", 0));
    if (ctx_failed(c->cx)) return;
    const int64_t rows = tensor_dim(x, x->rank == 4 ? 2 : 1), last = tensor_dim(x, x->rank - 1),
                  heads = dim ? onnx_int(c, "num_heads", 0) : x->rank == 4 ? tensor_dim(x, 1) : last / width;
    if (position->rank == 1) {
        Tensor *row_ramp = ramp(c, rows);
        Tensor *each = onnx_call2(c, "add", onnx_reshape(c, position, NULL, 0), row_ramp);
        position = onnx_expand(c, onnx_call(c, "unsqueeze", each, attr_list("axes", 0)),
                               (const Expr *[]){ x->shape[0], expr_index(c->cx, rows) }, 2);
    }
    c->out[0] = rotated(c, x, &c->in[2], position, heads, onnx_int(c, "interleaved", 0) != 0);
}

/* ---- A cache of keys and values ---------------------------------------------------------------------------------- */

typedef struct Cache { int64_t heads, shared, size, batch, rows, past; Tensor *at, *valid; } Cache;

/* Splits packed queries, keys and values [b][rows][(heads + 2 * shared) * d]. */
static bool split_packed(OnnxCall *c, Cache *g, Tensor **in)
{
    if (onnx_in(c, 1)) {
        in[Q] = c->in[0], in[K] = c->in[1], in[V] = onnx_in(c, 2);
        g->size = tensor_dim(c->in[0], 2) / g->heads;
        return is_fixed3(c, in[K], "the key is") && is_fixed3(c, in[V], "the value is");
    }
    g->size = tensor_dim(c->in[0], 2) / (g->heads + 2 * g->shared);
    const int64_t q = g->heads * g->size, k = g->shared * g->size;
    in[Q] = columns(c, c->in[0], 2, 0, q), in[K] = columns(c, c->in[0], 2, q, q + k);
    in[V] = columns(c, c->in[0], 2, q + k, q + 2 * k);
    return true;
}

/* Turns [b][rows][heads * d] into [b][heads][rows][d]. */
static Tensor *by_head(OnnxCall *c, const Cache *g, Tensor *x, int64_t heads)
{
    const int64_t shape[4] = { g->batch, g->rows, heads, g->size };
    return onnx_call(c, "transpose", onnx_reshape(c, x, shape, 4), attr_list("perm", 0, 2, 1, 3));
}

/* Returns the cache with the new rows starting at g->at. If there is no cache, or it has no rows, returns the new
 * rows. */
static Tensor *appended(OnnxCall *c, const Cache *g, Tensor *past, Tensor *rows)
{
    if (!past || g->past == 0) return rows;
    double total;
    const bool grows = onnx_in(c, 6) && tensor_is_constant(c->in[6]) && onnx_scalar(c, 6, &total)
                       && total > (double)g->past;
    if (grows && total != (double)(g->past + g->rows))
        onnx_unsupported(c, "'total_sequence_length' is %g for a cache of %lld rows and %lld new rows; use a total "
                            "within the cache, or the sum of both", total, (long long)g->past, (long long)g->rows);
    if (grows) return onnx_call2(c, "concat", past, rows, attr_int("axis", 2));
    if (!past || !rows || ctx_failed(c->cx)) return NULL;
    return call(c->cx, "scatter_rows", c->name, (Tensor *[]){ past, g->at, rows }, 3,
                ATTRS(attr_int("axis", 2), attr_flag("circular", false)));
}

/* Returns a condition [b][1][rows][keys] that is true for the keys that a row may read: keys up to the row's position
 * and within the window. */
static Tensor *causal_mask(OnnxCall *c, const Cache *g, int64_t keys, int64_t window)
{
    Tensor *row_ramp = ramp(c, g->rows);
    Tensor *position = onnx_call2(c, "add", onnx_append_ones(c, g->at, 1), row_ramp);    /* [b][rows] */
    position = onnx_append_ones(c, onnx_call(c, "unsqueeze", position, attr_list("axes", 1)), 1);
    Tensor *key = ramp(c, keys), *mask = onnx_call2(c, "less_equal", key, position);
    if (window <= 0) return mask;
    Tensor *first = onnx_call2(c, "sub", position, onnx_scalar_like(c, position, (double)window));
    return onnx_call2(c, "and", mask, onnx_call2(c, "greater", key, first));
}

static bool open_cache(OnnxCall *c, Cache *g, Tensor **in)
{
    *g = (Cache){ .heads = heads_of(c), .shared = onnx_int(c, "kv_num_heads", 0) };
    if (!onnx_in(c, 0)) onnx_refuse(c, "input 0 is missing; pass the query");
    if (!onnx_in(c, 5)) onnx_refuse(c, "input 5 is missing; pass 'seqlens_k'");
    if (g->shared < 1) onnx_refuse(c, "'kv_num_heads' is %lld; use at least 1", (long long)g->shared);
    for (int i = 12; i < c->in_count; i++)
        if (c->in[i]) onnx_unsupported(c, "it has input %d; use inputs 0 to 11", i);
    if (ctx_failed(c->cx) || !is_fixed3(c, c->in[0], "the query is") || !split_packed(c, g, in)) return false;
    g->batch = tensor_dim(c->in[0], 0), g->rows = tensor_dim(c->in[0], 1);
    g->past = onnx_in(c, 3) && c->in[3]->rank == 4 ? tensor_dim(c->in[3], 2) : 0;
    Tensor *last = onnx_reshape(c, onnx_cast(c, c->in[5], I64), (int64_t[]){ -1 }, 1);
    g->at = onnx_call2(c, "add", last, tensor_scalar(c->cx, c->name, I64, (double)(1 - g->rows)));
    return !ctx_failed(c->cx);
}

/* Returns the sink: a score for each head, 0 with smooth_softmax, or NULL if there is no sink. */
static Tensor *sink_of(OnnxCall *c, const Cache *g)
{
    Tensor *sink = onnx_in(c, 11);
    if (!sink) return onnx_int(c, "smooth_softmax", 0) > 0 ? onnx_scalar_like(c, c->in[0], 0) : NULL;
    if (sink->rank != 1 || tensor_dim(sink, 0) != g->heads)
        onnx_refuse(c, "the sink is %s for %lld heads; use one number per head", tensor_shape_text(c->cx, sink),
                    (long long)g->heads);
    return sink;
}

/* The inputs are query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cosines, sines,
 * position_ids, attention_bias and sink. */
static void group_query_attention(OnnxCall *c)
{
    Cache g;
    Tensor *in[OPERANDS] = { NULL };
    if (!open_cache(c, &g, in)) return;
    if (onnx_int(c, "do_rotary", 0)) {
        const bool interleaved = onnx_int(c, "rotary_interleaved", 0) != 0;
        Tensor *position = onnx_in(c, 9), *table[2] = { onnx_in(c, 7), onnx_in(c, 8) };
        if (!position) {
            Tensor *row_ramp = ramp(c, g.rows);
            position = onnx_call2(c, "add", onnx_append_ones(c, g.at, 1), row_ramp);
        }
        in[Q] = rotated(c, in[Q], table, position, g.heads, interleaved);
        in[K] = rotated(c, in[K], table, position, g.shared, interleaved);
    }
    if (ctx_failed(c->cx)) return;
    in[K] = appended(c, &g, onnx_in(c, 3), by_head(c, &g, in[K], g.shared));
    in[V] = appended(c, &g, onnx_in(c, 4), by_head(c, &g, in[V], g.shared));
    if (ctx_failed(c->cx)) return;
    in[Q] = by_head(c, &g, in[Q], g.heads);
    in[MASK] = causal_mask(c, &g, tensor_dim(in[K], 2), onnx_int(c, "local_window_size", -1));
    in[SINK] = sink_of(c, &g);
    if (onnx_in(c, 10) && in[MASK])
        in[MASK] = onnx_select(c, in[MASK], c->in[10], onnx_scalar_like(c, c->in[10], -INFINITY));
    attend(c, in, &(Options){ g.heads, g.shared, false, -1 });
    if (!c->out[0]) return;
    c->out[0] = onnx_reshape(c, onnx_call(c, "transpose", c->out[0], attr_list("perm", 0, 2, 1, 3)),
                             (int64_t[]){ g.batch, g.rows, g.heads * g.size }, 3);
    c->out[3] = NULL;
}

const OnnxOp onnx_rows_heads[] = {
    { ONNX_ROW("com.microsoft.Attention", 7, "do_rotary mask_filter_value num_heads past_present_share_buffer "
      "qkv_hidden_sizes rotary_embedding_dim scale unidirectional", packed_attention) },
    { ONNX_ROW("com.microsoft.GroupQueryAttention", 17, "do_rotary kv_num_heads local_window_size num_heads "
      "rotary_interleaved scale smooth_softmax softcap", group_query_attention) },
    { ONNX_ROW("com.microsoft.MultiHeadAttention", 10, "mask_filter_value num_heads scale unidirectional",
      multi_head_attention) },
    { ONNX_ROW("com.microsoft.RotaryEmbedding", 4, "interleaved is_packed_batching num_heads "
      "rotary_embedding_dim scale", rotary_embedding) },
    { 0 }
};
