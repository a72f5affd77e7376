/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_OP_TRIAL_H
#define LW_GRAPH_DAG_OP_TRIAL_H
#include "graph/dag/op.h"

/* Returns true if the row's formulas parse over inputs whose ranks match their indices. These functions check a user's
 * row at registration; a failure is a diagnostic with the formula and a caret. */
bool op_formula_reads(Ctx *cx, const Op *op, const char *place);
#endif
