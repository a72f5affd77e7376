/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_CONDITION_H
#define LW_GRAPH_CONDITION_H
/* The condition of an implementation, Implementation.when: a comparison, or several joined by && and ||, over
 *
 *   dim(x, 1)          sizes of the anchor's inputs, by the names in the operator's row
 *   x is f32           the element type of an input
 *   groups, stride_0   integer attributes, and the elements of lists of integers, with the operator's defaults
 *
 * A condition that names an optional input or an attribute that the call lacks does not hold. */
#include "graph/dag/target.h"

typedef enum Holds { HOLDS_NOT, HOLDS, HOLDS_OPEN } Holds;

/* HOLDS_OPEN: open sizes leave it undecided, and *open is what the run has to test. A condition that cannot hold for
 * any call of the operator, because a name or its syntax is wrong, is a diagnostic. */
Holds condition_holds(Ctx *cx, const Implementation *i, const Node *call, const Expr **open);
/* Does it read, with names that the operators of the row have? For rows of a pattern: that one of its operators has. A
 * diagnostic otherwise. */
bool condition_reads(Ctx *cx, const Implementation *i);
#endif
