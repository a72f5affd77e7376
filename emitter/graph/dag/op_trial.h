/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_OP_TRIAL_H
#define LW_GRAPH_DAG_OP_TRIAL_H
#include "graph/dag/op.h"

/* True if the row's formulas parse over inputs whose ranks match their indices. Checks a user's rows at registration; a
 * failure is a diagnostic with the formula and a caret. */
bool op_formula_reads(Ctx *cx, const Op *op, const char *place);
#endif
