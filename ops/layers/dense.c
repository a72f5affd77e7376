/* SPDX-License-Identifier: MIT */
/* Defines matrix products: y[..,n,o] = sum(k) a[..,n,k] * b[..,k,o].
 *
 *   Leading dimensions broadcast, aligned to the right.
 *   A vector on the left is a row, a vector on the right is a column. The result has no such dimension.
 *
 * dense multiplies the last dimension of x by a weight matrix [k][o]. */

/* Decision: weights have the output channel last. The layouts are `k[i,j,c,o]`, `w[k,o]`, and `k[i,j,c]` for depthwise
 * convolutions. A scale of the output folds into any of them by one broadcast, and the innermost loop of a tile runs
 * along weights and outputs alike. Importers transpose once, at compile time. */
#include "graph/dag/op_build.h"

/* letters of the result's batch dimensions. An operand omits the dimensions that it lacks and reads its unit dimensions
 * at 0. */
static const char batch_letters[] = "pqrstu";

static void add_index(Text *t, const char *s) { text_printf(t, "%s%s", t->length ? "," : "", s); }

/* Appends the batch indices of an operand with `own` batch dimensions; the result has `all`. */
static void add_batch(Text *t, const Tensor *x, int own, int all)
{
    for (int d = 0; d < own; d++)
        add_index(t, tensor_dim(x, d) == 1 ? "0" : (char[]){ batch_letters[all - own + d], '\0' });
}

/* Returns the extent of the result's batch dimension d, counted from the left of `all`, or NULL if it is refused. */
static const Expr *batch_extent(Ctx *cx, const Node *n, int d, int all, const int *own)
{
    const Expr *extent = expr_index(cx, 1);
    for (int i = 0; i < 2; i++) {
        int at = d - (all - own[i]);
        const Expr *size = at >= 0 ? n->in[i]->shape[at] : NULL;
        if (!size || expr_is_int(size, 1)) continue;
        if (!expr_is_int(extent, 1) && extent != size) {
            op_refuse(cx, n, "the operands are %s and %s; use equal batch dimensions, or 1",
                      tensor_shape_text(cx, n->in[0]), tensor_shape_text(cx, n->in[1]));
            return NULL;
        }
        extent = size;
    }
    return extent;
}

static bool check(Ctx *cx, const Node *n)
{
    const Tensor *a = n->in[0], *b = n->in[1];
    if (!op_same_type(cx, n)) return false;
    if (a->rank == 0 || b->rank == 0 || a->rank > MAX_RANK - 1 || b->rank > MAX_RANK - 1) {
        op_refuse(cx, n, "the operands are %s and %s; use ranks of 1 to %d", tensor_shape_text(cx, a),
                  tensor_shape_text(cx, b), MAX_RANK - 1);
        return false;
    }
    const Expr *left = a->shape[a->rank - 1], *right = b->shape[b->rank > 1 ? b->rank - 2 : 0];
    if (left == right) return true;
    op_refuse(cx, n, "the operands are %s and %s; use equal inner dimensions, [..][m][k] and [..][k][n]",
              tensor_shape_text(cx, a), tensor_shape_text(cx, b));
    return false;
}

static int matmul(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check(cx, n)) return 0;
    Tensor *a = n->in[0], *b = n->in[1];
    int own[2] = { a->rank > 2 ? a->rank - 2 : 0, b->rank > 2 ? b->rank - 2 : 0 };
    int all = own[0] > own[1] ? own[0] : own[1];
    Bind binds[MAX_RANK + 3] = { BIND_T("a", a), BIND_T("b", b) };
    int bound = 2;
    Text axes = text_new(cx), left = text_new(cx), right = text_new(cx);
    for (int d = 0; d < all; d++) {
        const Expr *extent = batch_extent(cx, n, d, all, own);
        if (!extent) return 0;
        binds[bound] = (Bind)BIND_V(text_format(cx, "batch_%c", batch_letters[d]), extent);
        add_index(&axes, text_format(cx, "%c<%s", batch_letters[d], binds[bound++].name));
    }
    add_batch(&left, a, own[0], all);
    add_batch(&right, b, own[1], all);
    if (a->rank > 1) add_index(&axes, "n"), add_index(&left, "n");
    add_index(&left, "k");
    add_index(&right, "k");
    if (b->rank > 1) add_index(&axes, "o"), add_index(&right, "o");
    out[0] = op_formula(cx, n, OP_TEXT(cx, "y[axes] = sum(k) a[left] * b[right]", { "axes", text_string(&axes) },
                                       { "left", text_string(&left) }, { "right", text_string(&right) }), binds);
    return out[0] ? 1 : 0;
}

static int dense(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0], *w = n->in[1];
    if (!op_sums_integers(n) && !op_same_type(cx, n)) return 0;
    if (w->rank != 2 || x->rank == 0 || x->shape[x->rank - 1] != w->shape[0]) {
        op_refuse(cx, n, "the input is %s and the weights %s; use [..][k] and [k][o]",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, w));
        return 0;
    }
    const int64_t zero = node_int(n, "zero", 0), zero_w = node_int(n, "zero_w", 0);
    const bool has_bytes = op_sums_integers(n);
    if (!has_bytes && (zero || zero_w))
        op_refuse(cx, n, "the input is %s; use i8, u8 or i16 with 'zero' or 'zero_w'",
                  dtype_info(x->type)->spelling);
    bool chosen[MAX_RANK] = { false };
    chosen[x->rank - 1] = true;
    const char *text = OP_TEXT(cx, "y[rows,o] = sum(k) product", { "rows", axis_text(cx, x->rank, chosen).kept },
                               { "zero", op_number(cx, zero) }, { "zero_w", op_number(cx, zero_w) },
                               { "left", !has_bytes ? "x[rows,k]"
                                                    : zero ? "(i32(x[rows,k]) - zero)" : "i32(x[rows,k])" },
                               { "right", !has_bytes ? "w[k,o]" : zero_w ? "(i32(w[k,o]) - zero_w)" : "i32(w[k,o])" },
                               { "product", has_bytes && node_int(n, "wide", 0) ? "i64(left * right)"
                                                                                : "left * right" });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", x), BIND_T("w", w));
    return out[0] ? 1 : 0;
}

static Tensor *fold_zero(Ctx *cx, const Node *n)
{
    return node_int(n, "zero_w", 0) ? NULL : zero_hoisted(cx, n, n->in[1]);
}

static const AttrRow dense_attrs[] = {
    { "zero",   ATTR_INT, "zero point of an x of 8 or 16 bits, subtracted from each element; sums are i32", NULL },
    { "zero_w", ATTR_INT, "zero point of an 8-bit w", NULL },
    { "wide",   ATTR_INT, "1: sums of integers are i64", NULL },
    { 0 }
};

static const OpCase dense_cases[] = {
    { "zero=-3", "i8[2][5] i8[5][3]", "i32[2][3]", NULL },
    { "zero=3 zero_w=1", "i8[5] i8[5][3]", "i32[3]", NULL },
    { "", "i16[2][5] i8[5][3]", "i32[2][3]", NULL },
    { "wide=1", "i16[2][5] i8[5][3]", "i64[2][3]", NULL },
    { "zero=-2000", "i16[2][5] i8[5][3]", "i32[2][3]", NULL },
    { "", "i8[2][5] i16[5][3]", NULL, "input 1 is i16" },
    { "zero=3", "f32[5] f32[5][3]", NULL, "use i8, u8 or i16 with 'zero' or 'zero_w'" },
    { "", "f32[2][5] f32[5][3]", "f32[2][3]", NULL },
    { "", "f32[5] f32[5][3]", "f32[3]", NULL },
    { "", "f32[2][4][5] f32[5][3]", "f32[2][4][3]", NULL },
    { "", "f32[2][24] f32[24][2]={0,0,0,0,0,0,1,0,2,0,-1,0,0,0,0,0,0,0,0,0,0,3,0,0,0,1,0,0,0,0,0,0,0,"
          "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}",
      "f32[2][2]", NULL },                                              /* two bands */
    { "", "f32[2][5] f32[4][3]", NULL, "use [..][k] and [k][o]" },
    { 0 }
};
static const OpCase matmul_cases[] = {
    { "", "f32[3][4] f32[4][5]", "f32[3][5]", NULL },
    { "", "f32[2][3][4] f32[2][4][5]", "f32[2][3][5]", NULL },
    { "", "f32[2][1][3][4] f32[6][4][5]", "f32[2][6][3][5]", NULL },
    { "", "f32[4] f32[4][5]", "f32[5]", NULL },
    { "", "f32[3][4] f32[4]", "f32[3]", NULL },
    { "", "f32[4] f32[4]", "f32", NULL },
    { "", "f32[3][4] f32[5][4]", NULL, "[3][4] and [5][4]; use equal inner dimensions" },
    { "", "f32[2][3][4] f32[3][4][5]", NULL, "batch dimensions" },
    { 0 }
};

const Op ops_dense[] = {
    { .name = "dense", .summary = "y[..,o] = sum(k) x[..,k] * w[k,o]", .level = 1, .least_inputs = 2, .most_inputs = 2,
      .inputs = "x w", .attr = dense_attrs, .meaning.compute = dense, .meaning.simplify = fold_zero,
      .fusion.pattern = PATTERN_OUT_FUSABLE, .layout.contracts_last = true, .fold.weights = 1,
      .quantization.is_bilinear = true, .cases = dense_cases },
    { .name = "matmul", .summary = "y[..,n,o] = sum(k) a[..,n,k] * b[..,k,o], leading dimensions broadcast",
      .level = 10, .least_inputs = 2, .most_inputs = 2, .inputs = "a b", .meaning.compute = matmul,
      .fusion.pattern = PATTERN_OUT_FUSABLE, .quantization.is_bilinear = true, .cases = matmul_cases },
    { 0 }
};
