/* SPDX-License-Identifier: MIT */
/* Determinants, by Gaussian elimination with partial pivoting. The steps are an ordered axis t, one for each column:
 *
 *   prev[t]   the matrix before step t, at first x
 *   row[t]    where column t of prev is largest at or below the diagonal; top[t] that row, which changes places with row t
 *   rest[t]   the matrix after step t: column t is 0 below the diagonal
 *
 *   det = prod(t) top[t,t], negative for every change of places. (Golub, Van Loan, Matrix Computations, section 3.4.) */
#include "graph/op_build.h"
#include "ir/recurrence.h"

static int det(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0];
    if (!op_float(cx, n)) return 0;
    if (x->rank != 3 || x->shape[1] != x->shape[2] || tensor_dim(x, 1) < 1) {
        op_refuse(cx, n, "the input is %s; square matrices [matrices][n][n] are wanted", tensor_shape_text(cx, x));
        return 0;
    }
    const Expr *size = x->shape[1];
    const char *ordered = tensor_dim(x, 1) == 1 ? "" : " ordered";
    Tensor *rest = tensor_new(cx, "det_rest", x->type, 4, (const Expr *[]){ size, x->shape[0], size, size });
    const Bind last = BIND_I(cx, "last", tensor_dim(x, 1) - 1), all = BIND_V("N", size), count = BIND_V("B", x->shape[0]);
    Tensor *prev = OP_FORMULA(cx, n, text_format(cx, "prev[t<N%s,b<B,i<N,j<N] = (rest[t-1,b,i,j]? : x[b,i,j])", ordered), BIND_T("rest", rest), BIND_T("x", x), all, count);
    Tensor *peak = OP_FORMULA(cx, n, text_format(cx, "peak[t<N%s,b<B] = max(i<N; -1) select(i >= t, abs(prev[t,b,i,t]), -1)", ordered), BIND_T("prev", prev), all, count);
    Tensor *row = OP_FORMULA(cx, n, text_format(cx, "row[t<N%s,b<B] = min(i<N; last) select(i >= t && abs(prev[t,b,i,t]) == peak[t,b], i, last)", ordered),
                             BIND_T("prev", prev), BIND_T("peak", peak), last, all, count);
    Tensor *top = OP_FORMULA(cx, n, text_format(cx, "top[t<N%s,b<B,j<N] = prev[t,b,row[t,b],j]", ordered), BIND_T("prev", prev), BIND_T("row", row), all, count);
    Tensor *swapped = OP_FORMULA(cx, n, text_format(cx, "swapped[t<N%s,b<B,i<N,j<N] = select(i == row[t,b], prev[t,b,t,j], prev[t,b,i,j])", ordered),
                                 BIND_T("prev", prev), BIND_T("row", row), all, count);
    Tensor *made = OP_FORMULA(cx, n, text_format(cx, "rest[t<N%s,b<B,i<N,j<N] = select(i > t && top[t,b,t] != 0, "
                                                     "swapped[t,b,i,j] - swapped[t,b,i,t] / top[t,b,t] * top[t,b,j], swapped[t,b,i,j])", ordered),
                              BIND_T("swapped", swapped), BIND_T("top", top), all, count);
    if (ctx_failed(cx) || !promise_keep(cx, rest, made)) return 0;
    out[0] = OP_FORMULA(cx, n, "y[b<B] = prod(t<N) select(row[t,b] == t, top[t,b,t], -top[t,b,t])", BIND_T("top", top), BIND_T("row", row), all, count);
    return out[0] ? 1 : 0;
}

static const OpCase det_cases[] = {
    { "", "f32[2][2][2]={3,1,2,4,0,1,1,0}", "f32[2]", NULL },
    { "", "f32[3][4][4]", "f32[3]", NULL },
    { "", "f64[2][1][1]", "f64[2]", NULL },
    { "", "f32[1][3][3]={0,0,0,1,2,3,4,5,6}", "f32[1]", NULL },
    { "", "f32[2][2][3]", NULL, "square matrices" },
    { "", "i32[2][2][2]", NULL, "" },
    { 0 }
};

const Op ops_linear_algebra[] = {
    { .name = "det", .summary = "y[b] = the determinant of x[b,:,:]", .level = 10, .pattern = PATTERN_OPAQUE, .least_inputs = 1, .most_inputs = 1, .inputs = "x",
      .compute = det, .cases = det_cases },
    { 0 }
};
