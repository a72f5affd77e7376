/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_INDEX_MAP_H
#define LW_GRAPH_DAG_INDEX_MAP_H
/* Builds y[axes] = value where the rank follows from the call: axes one after another, then indices over them, then the
 * value. A formula of fixed rank is text (op_formula.h).
 *
 *   IndexMap m = { .cx = cx, .call = n };
 *   for (int d = 0; d < rank; d++) at[d] = index_axis(&m, axis_letter(rank, d), size[d]);
 *   out[0] = index_result(&m, tensor_read(cx, x, at, rank)); */
#include "graph/dag/op_formula.h"
#include "ir/algebra/algebra.h"

typedef struct IndexMap {
    Ctx *cx;
    const Node *call;
    int rank; Axis axis[MAX_RANK];
    const Bounds *bounds;              /* of the axes */
} IndexMap;

/* Appends an axis to the result; returns its variable. */
const Expr *index_axis(IndexMap *m, char letter, const Expr *size);
const Expr *index_plus(Ctx *cx, const Expr *index, int64_t more);                    /* the index itself for 0 */
const Expr *index_clamped(Ctx *cx, const Expr *index, const Expr *last);             /* to 0 .. last */
/* x at the index; `otherwise` where the index is outside of x. Conditions that the axes' ranges prove are dropped. */
const Expr *index_read_padded(IndexMap *m, const Tensor *x, const Expr *const *index, const Expr *otherwise);
Tensor *index_result(IndexMap *m, const Expr *value);                                /* NULL after an error */
#endif
