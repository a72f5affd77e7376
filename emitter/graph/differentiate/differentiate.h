/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_DIFFERENTIATE_H
#define LW_GRAPH_DIFFERENTIATE_DIFFERENTIATE_H
/* Computes gradients as dataflow. The result consists of calls of formulas and operators, like any other dataflow.
 *
 * Every call expands to its computes, whose adjoints follow from their formulas (stage.c); no operator requires a rule.
 * A row may have a better form (Op.gradient). Calls from which no wanted tensor is reached, or that a stop_gradient
 * cuts off, get no adjoint. */
#include "graph/dag/graph.h"

/* Fills adjoint[i] with the adjoint of wanted[i], of its type and shape, in the DAG on which y depends. `seed` is the
 * adjoint of y and has its shape; NULL means 1, and y must have one element. Terms of several consumers are added in
 * the order of the consumers. A wanted tensor on which y does not depend is an error. A tensor that is cut off has an
 * adjoint of zeros. */
bool differentiate(Ctx *cx, Tensor *y, Tensor *seed, Tensor *const *wanted, int count, Tensor **adjoint);

/* Like differentiate, but the adjoint of each call has its own copies of the checkpoints' regions, instead of one copy
 * for all. Copies increase the instructions, but a copy dies with the adjoint of one call. */
typedef struct CopiesApart { Map read_again; /* the result: the tensors that the copies read */ } CopiesApart;
bool differentiate_again(Ctx *cx, Tensor *y, Tensor *seed, Tensor *const *wanted, int count, Tensor **adjoint,
                         CopiesApart *apart);

/* The pass `gradient`: replaces the calls `gradient` and `adjoint`. */
Graph graph_gradient(Ctx *cx, Graph g);
#endif
