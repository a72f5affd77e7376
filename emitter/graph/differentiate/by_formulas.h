/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_BY_FORMULAS_H
#define LW_GRAPH_DIFFERENTIATE_BY_FORMULAS_H
/* Derives the adjoints of a call's inputs from its computes. */
#include "graph/dag/op.h"
#include "graph/differentiate/summands.h"

/* Adds the adjoints of the active inputs to the summands. adjoint[out_count] holds the adjoints of the outputs; NULL
 * means zero. */
void adjoint_by_formulas(Ctx *cx, const Node *call, Tensor *const *adjoint, const Map *is_active, Summands *to);
#endif
