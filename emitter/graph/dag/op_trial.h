/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_OP_TRIAL_H
#define LW_GRAPH_OP_TRIAL_H
#include "graph/dag/op.h"

/* Do the row's formulas read, over some inputs with as many dimensions as they are indexed with? For rows from outside,
 * when they are registered: a diagnostic otherwise, with the formula and a caret. */
bool op_formula_reads(Ctx *cx, const Op *op, const char *place);
#endif
