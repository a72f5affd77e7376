/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_CONDITION_CONDITION_H
#define LW_GRAPH_CONDITION_CONDITION_H
/* The condition of an implementation, Implementation.when: comparisons joined by && and || over the names of
 * conditions.def. A condition that names an optional input or an attribute that the call lacks does not hold. */
#include "graph/dag/target.h"

typedef enum Holds { HOLDS_NOT, HOLDS, HOLDS_OPEN } Holds;

/* Returns HOLDS_OPEN if open sizes leave the condition undecided; *open then receives the test for run time. A wrong
 * name or wrong syntax is an error, because the condition would hold for no call of the operator. If t is NULL, the
 * condition holds on no target. */
Holds condition_holds(Ctx *cx, const Implementation *i, const Node *call, const Target *t, const Expr **open);
/* Returns true if the condition parses with names of the row's operators; for a row of a pattern, with the names of one
 * of its operators. Otherwise gives a diagnostic. */
bool condition_reads(Ctx *cx, const Implementation *i);

/* A row of conditions.def, for lists. */
typedef struct ConditionName { const char *form, *meaning; } ConditionName;
const ConditionName *condition_names(int *count);
#endif
