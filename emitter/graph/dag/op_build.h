/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_OP_BUILD_H
#define LW_GRAPH_OP_BUILD_H
/* What the files in ops/ share: formulas whose text depends on a rank, checks, permutation of attributes. */
#include "graph/dag/op.h"
#include "graph/dag/op_formula.h"
#include "support/text.h"

/* The letter of dimension d among `rank`: n h w c for images, n w c for signals, n c for vectors. */
char axis_letter(int rank, int d);

/* A tensor of some rank with some of its axes singled out, as text for formulas. For rank 4 with 1 and 2: */
typedef struct AxisText {
    const char *all;       /* [n,h,w,c] */
    const char *kept;      /* [n,c] */
    const char *ones;      /* [n,one1<1,one2<1,c] */
    const char *chosen;    /* h,w */
} AxisText;
AxisText axis_text(Ctx *cx, int rank, const bool *chosen);

const char *axes_with(Ctx *cx, int rank, int axis, const char *at);   /* n,w,c with the letter of `axis` (-1: none) replaced */
const char *sized_axes(Ctx *cx, const Tensor *x);                     /* n<2,w<5,c<3; symbolic sizes are left out */

/* `axis` in [-rank, rank) as [0, rank); else refused and -1. */
int op_axis(Ctx *cx, const Node *call, int64_t axis, int rank);
/* Marks the axes of the attribute `axes`; an empty or absent list marks all. */
bool op_axes(Ctx *cx, const Node *call, const char *attr, int rank, bool *chosen);
/* An integer attribute list of exactly `count` values in [least, greatest]; a single value stands for all. */
bool op_ints(Ctx *cx, const Node *call, const char *attr, int count, int64_t least, int64_t greatest, int64_t otherwise, int64_t *out);
/* Windows over dimensions of fixed sizes, by the attributes stride, dilation and pad; spatial, size and kernel are given. count: how
 * many there are along each, 0 where none fits. False: refused. */
enum { MOST_SPATIAL = 3, GREATEST_STRIDE = 1 << 20 };
typedef struct Sliding {
    int spatial;
    int64_t size[MOST_SPATIAL], kernel[MOST_SPATIAL], stride[MOST_SPATIAL], dilation[MOST_SPATIAL], pad[2 * MOST_SPATIAL], count[MOST_SPATIAL];
} Sliding;
bool op_sliding(Ctx *cx, const Node *call, Sliding *s);
/* size * times + more, as an expression; the size may be open. */
const Expr *op_size(Ctx *cx, const Expr *size, int64_t times, int64_t more);
int64_t op_least(Ctx *cx, const Expr *size);                          /* the least that it can be, and */
int64_t op_greatest(Ctx *cx, const Expr *size);                       /* the greatest */
extern const char *const op_greater_least;                            /* what a message adds where an open size may be too small */
const Expr *op_value(Ctx *cx, const Node *call, const char *attr, DType t);      /* a real attribute (0 if absent) as a constant of the type, saturated */
bool op_same_type(Ctx *cx, const Node *call);                         /* all inputs have the type of the first */

/* " h*2+i-1": axis*scale + tap*step + shift, leaving out what does nothing. */
const char *affine_text(Ctx *cx, char axis, int64_t scale, char tap, int64_t step, int64_t shift);

/* For Op.permute. The inputs as they are before the transposition: given ones are, others are turned back here, after
 * their rank is filled up with ones on the left. NULL: cannot. */
Tensor **inputs_turned_back(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs, int rank);
Node *permute_elementwise(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);    /* and broadcast */
Node *permute_axis(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);           /* attribute `axis` */
Node *permute_all_axes(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);       /* attribute `axes`, all of which stay */
Node *permute_axes_kept(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);      /* attribute `axes` with keepdims=1 */
/* sum (x - zero) * k = sum x * k - zero * sum k: the call without its attribute `zero`, plus a constant for each channel (k's
 * last axis); exact, for i32 wraps. Only where every window lies inside of x and k is constant; NULL: there is no zero. */
Tensor *zero_taken_out(Ctx *cx, const Node *call, Tensor *k);
const Attr *attrs_with_ints(Ctx *cx, const Node *call, const char *attr, const int64_t *ints, int count);

#endif
