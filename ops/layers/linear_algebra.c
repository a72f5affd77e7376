/* SPDX-License-Identifier: MIT */
/* Computes determinants by Gaussian elimination with partial pivoting. The ordered axis t has one step per column:
 *
 *   prev[t]   the matrix before step t; x for t = 0
 *   row[t]    the pivot row: the row at or below the diagonal with the largest magnitude in column t of prev
 *   top[t]    the elements of the pivot row, which is swapped with row t
 *   rest[t]   the matrix after step t: column t is 0 below the diagonal
 *
 *   det = prod(t) top[t,t], negated once per swap. (Golub, Van Loan, Matrix Computations, section 3.4.) */
#include "graph/dag/op_build.h"

static int det(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0];
    if (!op_float(cx, n)) return 0;
    if (x->rank != 3 || x->shape[1] != x->shape[2] || tensor_dim(x, 1) < 1) {
        op_refuse(cx, n, "the input is %s; use square matrices [matrices][n][n] with n at least 1",
                  tensor_shape_text(cx, x));
        return 0;
    }
    const Expr *size = x->shape[1], *shape[] = { size, x->shape[0], size, size };
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", x));
    formulas_name(&f, (Bind)BIND_V("N", size));
    formulas_name(&f, (Bind)BIND_V("B", x->shape[0]));
    formulas_name(&f, (Bind)BIND_I(cx, "last", tensor_dim(x, 1) - 1));
    formulas_phrase(&f, "steps", tensor_dim(x, 1) == 1 ? "t<N" : "t<N ordered");
    Tensor *rest = formulas_promise(&f, "rest", x->type, 4, shape);
    formulas_compute(&f, "prev[steps,b<B,i<N,j<N] = (rest[t-1,b,i,j]? : x[b,i,j])");
    formulas_compute(&f, "peak[steps,b<B] = max(i<N; -1) select(i >= t, abs(prev[t,b,i,t]), -1)");
    formulas_compute(&f, "row[steps,b<B] = min(i<N; last) select(i >= t && abs(prev[t,b,i,t]) == peak[t,b], i, last)");
    formulas_compute(&f, "top[steps,b<B,j<N] = prev[t,b,row[t,b],j]");
    formulas_compute(&f, "swapped[steps,b<B,i<N,j<N] = select(i == row[t,b], prev[t,b,t,j], prev[t,b,i,j])");
    formulas_define(&f, rest, "rest[steps,b<B,i<N,j<N] = select(i > t && top[t,b,t] != 0, "
                            "swapped[t,b,i,j] - swapped[t,b,i,t] / top[t,b,t] * top[t,b,j], swapped[t,b,i,j])");
    out[0] = formulas_compute(&f, "y[b<B] = prod(t<N) select(row[t,b] == t, top[t,b,t], -top[t,b,t])");
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
    { .name = "det", .summary = "y[b] = the determinant of x[b,:,:]", .level = 10, .least_inputs = 1, .most_inputs = 1,
      .inputs = "x", .meaning.compute = det, .fusion.pattern = PATTERN_OPAQUE, .cases = det_cases },
    { 0 }
};
