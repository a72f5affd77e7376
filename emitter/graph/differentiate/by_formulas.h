/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_BY_FORMULAS_H
#define LW_GRAPH_DIFFERENTIATE_BY_FORMULAS_H
/* The adjoints of a call's inputs, derived from its computes. */
#include "graph/dag/op.h"
#include "graph/differentiate/summands.h"

/* adjoint: [out_count], NULL: zero. Adds to the summands of the active inputs. */
void adjoint_by_formulas(Ctx *cx, const Node *call, Tensor *const *adjoint, const Map *is_active, Summands *to);
#endif
