/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_OP_BUILD_H
#define LW_GRAPH_DAG_OP_BUILD_H
/* Functions that the files in ops/ share: formulas whose text depends on a rank, checks, and permutation of
 * attributes. */
#include "graph/dag/op.h"
#include "graph/dag/op_formula.h"
#include "support/text.h"

/* Returns the letter of dimension d among `rank`: n h w c for images, n w c for signals, n c for vectors. */
char axis_letter(int rank, int d);

/* Sets perm[d] to the input dimension that becomes output dimension d. Without the attribute perm, the dimensions are
 * reversed. */
void transpose_perm(const Node *transpose, int *perm);

/* Index lists of a tensor of which some axes are chosen. The examples are for rank 4 with axes 1 and 2 chosen. */
typedef struct AxisText {
    const char *all;       /* all axes: n,h,w,c */
    const char *kept;      /* without the chosen axes: n,c */
    const char *ones;      /* the chosen axes with size 1: n,one1<1,one2<1,c */
    const char *chosen;    /* only the chosen axes: h,w */
} AxisText;
#define AXES(a) { "all", (a).all }, { "kept", (a).kept }, { "ones", (a).ones }, { "chosen", (a).chosen }
#define AXES_TEXT(cx, text, a) OP_TEXT(cx, text, AXES(a))
AxisText axis_text(Ctx *cx, int rank, const bool *chosen);

/* Returns a list such as n,w,c with the letter of `axis` replaced by `at`; if axis is -1, replaces nothing. */
const char *axes_with(Ctx *cx, int rank, int axis, const char *at);
/* Returns the axes with their sizes, n<2,w<5,c<3; omits symbolic sizes. */
const char *sized_axes(Ctx *cx, const Tensor *x);

/* Returns the spellings of the accepted types, for a refusal: "i8, u8". If is_accepted is NULL, returns all types. */
const char *op_types_text(Ctx *cx, bool (*is_accepted)(DType));
/* Converts `axis` in [-rank, rank) to [0, rank); refuses other values and returns -1. */
int op_axis(Ctx *cx, const Node *call, int64_t axis, int rank);
/* Marks the axes of the attribute `axes`; an empty or absent list marks all. */
bool op_axes(Ctx *cx, const Node *call, const char *attr, int rank, bool *chosen);
/* Reads an integer list attribute of exactly `count` values in [least, greatest]; a single value is repeated. */
bool op_ints(Ctx *cx, const Node *call, const char *attr, int count, int64_t least, int64_t greatest, int64_t otherwise,
             int64_t *out);
/* The windows over dimensions of fixed sizes, from the attributes stride, dilation and pad. The caller sets spatial,
 * size and kernel. Fills count with the number of windows along each dimension, 0 if no window fits. Returns false
 * after a refusal. */
enum { MOST_SPATIAL = 3, GREATEST_STRIDE = 1 << 20 };
typedef struct Sliding {
    int spatial;
    int64_t size[MOST_SPATIAL], kernel[MOST_SPATIAL], stride[MOST_SPATIAL], dilation[MOST_SPATIAL],
        pad[2 * MOST_SPATIAL], count[MOST_SPATIAL];
} Sliding;
bool op_sliding(Ctx *cx, const Node *call, Sliding *s);
/* Returns size * times + more as an expression; the size may be open. */
const Expr *op_size(Ctx *cx, const Expr *size, int64_t times, int64_t more);
int64_t op_least(Ctx *cx, const Expr *size);                          /* returns a lower bound of the size */
int64_t op_greatest(Ctx *cx, const Expr *size);                       /* returns an upper bound of the size */
/* Append this to a message if an open size may be too small. */
extern const char *const op_greater_least;
/* Returns a real attribute (0 if absent) as a constant of the type, saturated. */
const Expr *op_value(Ctx *cx, const Node *call, const char *attr, DType t);
/* Returns true if all inputs have the type of the first one. */
bool op_same_type(Ctx *cx, const Node *call);
/* Returns true for the operands of integer products with i32 sums: both have 8 bits and the same type, or the first has
 * 16 bits and the second 8. */
bool op_sums_integers(const Node *n);

/* Returns the un-transposed inputs, for OpLayout.permute. Inputs in inputs[] do not change. The other inputs are padded
 * with leading unit dimensions to `rank`, then transposed by the inverse. Returns NULL if that is not possible. */
Tensor **inputs_untransposed(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs, int rank);
/* Implements OpLayout.permute for elementwise operators that broadcast. */
Node *permute_elementwise(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
/* Implements OpLayout.permute for operators with the attribute `axis`. */
Node *permute_axis(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
/* Implements OpLayout.permute for operators with the attribute `axes` that keep all axes. */
Node *permute_all_axes(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
/* Implements OpLayout.permute for operators with the attribute `axes` and keepdims=1. */
Node *permute_axes_kept(Ctx *cx, const Node *call, const int *perm, Tensor *const *inputs);
/* Uses sum (x - zero) * k = sum x * k - zero * sum k: returns the call without its attribute `zero`, plus a constant
 * per channel (k's last axis). The result is exact, because i32 wraps. Requires that every window is inside x and that
 * k is constant. Returns NULL if the call has no zero point. */
Tensor *zero_hoisted(Ctx *cx, const Node *call, Tensor *k);
const Attr *attrs_with_ints(Ctx *cx, const Node *call, const char *attr, const int64_t *ints, int count);

#endif
