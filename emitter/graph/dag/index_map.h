/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_INDEX_MAP_H
#define LW_GRAPH_DAG_INDEX_MAP_H
/* Builds y[axes] = value, or a reduction, if the rank or an index follows from the call: the axes one after another,
 * then indices over them, then the value. If no part of a formula depends on the call, write the formula as text
 * instead (op_formula.h).
 *
 *   IndexMap m = { .cx = cx, .call = n };
 *   for (int d = 0; d < rank; d++) at[d] = index_axis(&m, axis_letter(rank, d), size[d]);
 *   out[0] = index_result(&m, tensor_read(cx, x, at, rank));
 *
 * y[o] = sum(k) (x[o*2 + k - 1]? * w[k] : 0) is
 *
 *   o = index_axis(&m, 'o', outs), k = index_tap(&m, "k", taps);
 *   at = index_sliding(&m, o, 2, k, 1, -1);
 *   product = expr_mul(cx, index_read(&m, x, &at), tensor_read(cx, w, &k, 1));
 *   out[0] = index_reduced(&m, REDUCE_SUM, index_or_zero(&m, product)); */
#include "graph/dag/op_formula.h"
#include "ir/algebra/algebra.h"

enum { MOST_CONDITIONS = 4 * MAX_RANK };

typedef struct IndexMap {
    Ctx *cx;
    const Node *call;
    /* The word in the name OPERATOR_word of a stage before the result, or NULL for the result. */
    const char *word;
    int axis_count; Axis axis[MAX_AXES];
    const Bounds *bounds;              /* the ranges of the axes' variables */
    /* The conditions of padded reads, until index_guarded uses them. */
    int condition_count; const Expr *condition[MOST_CONDITIONS];
} IndexMap;

/* Appends an axis to the result, or to the reduction, and returns its variable. The axes of the result come first. */
const Expr *index_axis(IndexMap *m, char letter, const Expr *size);
const Expr *index_axis_named(IndexMap *m, const char *name, const Expr *size);
const Expr *index_tap(IndexMap *m, const char *name, const Expr *size);
/* Appends an axis for each dimension. */
void index_axes(IndexMap *m, const Tensor *like, const Expr **at);
/* Returns index + more, or the index itself if more is 0. */
const Expr *index_plus(Ctx *cx, const Expr *index, int64_t more);
/* Returns index * by, or the index itself if by is 1. */
const Expr *index_times(Ctx *cx, const Expr *index, int64_t by);
/* Return the floor quotient of the index by `by`, and its remainder. */
const Expr *index_over(Ctx *cx, const Expr *index, int64_t by);
const Expr *index_modulo(Ctx *cx, const Expr *index, int64_t by);
/* Returns axis * stride + tap * step + shift, in normal form. */
const Expr *index_sliding(IndexMap *m, const Expr *axis, int64_t stride, const Expr *tap, int64_t step, int64_t shift);
const Expr *index_clamped(Ctx *cx, const Expr *index, const Expr *last);             /* clamped to 0 .. last */
/* Returns the index simplified by the ranges of the axes. */
const Expr *index_simplified(IndexMap *m, const Expr *index);
/* Converts an index that is data to an index into `size` elements: negative values count from the end, and the result
 * is clamped. */
const Expr *index_from_data(IndexMap *m, const Expr *index, const Expr *size);
/* Reads x at the index. The read is valid only where the index is inside x: index_guarded tests what the axes' ranges
 * do not prove. */
const Expr *index_read(IndexMap *m, const Tensor *x, const Expr *const *index);
/* Returns the value where all indices that were read are inside, and `otherwise` elsewhere. */
const Expr *index_guarded(IndexMap *m, const Expr *value, const Expr *otherwise);
const Expr *index_or_zero(IndexMap *m, const Expr *value);
/* Reads x at the index; gives `otherwise` where the index is outside x. */
const Expr *index_read_padded(IndexMap *m, const Tensor *x, const Expr *const *index, const Expr *otherwise);
/* Returns the result, or NULL after an error. A reduction is over the axes of index_tap. */
Tensor *index_result(IndexMap *m, const Expr *value);
Tensor *index_reduced(IndexMap *m, Reducer by, const Expr *value);
Tensor *index_reduced_from(IndexMap *m, Reducer by, const Expr *first, const Expr *value);
/* Returns the position of the largest value, in row-major order over the axes of index_tap. */
Tensor *index_of_greatest(IndexMap *m, const Expr *value);
#endif
