/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_DEFINITION_H
#define LW_GRAPH_DAG_DEFINITION_H
/* Turns formulas into calls. A formula of a .te file, or of C, becomes a call of a row of its own. So fusion,
 * strategies, devices and annotations need no case for formulas. The formulas of a recurrence read each other and form
 * one call. The row has the name FORMULA_OP, no attributes and the pattern that follows from the expression;
 * Op.definition holds the computes. Equal formulas share a row.
 *
 *   t[i, j] = x[i, j] * 2 + 1     ->     t = formula(x), elementwise */
#include "graph/dag/op.h"

#define FORMULA_OP "formula"           /* the name of the row in the lists of operators of a device or a strategy */

typedef struct Definition {
    int in_count;   Tensor **in;       /* stand-ins of the inputs, with the file's names, types and shapes */
    int node_count; Node **node;       /* computes over the stand-ins; several form a recurrence */
    int out_count;  Tensor **out;      /* the outputs of these computes that other nodes read */
    const char *text;                  /* the formulas without blanks, with x0, y0 ... instead of names */
} Definition;

/* Replaces the computes on which the tensors depend by calls. The tensors themselves stay, as results of the calls. */
bool formulas_to_calls(Ctx *cx, Tensor *const *output, int count);
/* Returns the pattern for fusion:
 *
 *   elementwise   reads each input only at the output's own element
 *   broadcast     reads each input at the output's axes in order, some left out or of size 1
 *   injective     reads one element of each input, at any index
 *   reduction     a reduction; each element of an input serves one point of its axes
 *   out-fusable   is another reduction, such as a contraction or a window, or reads several elements of one input
 *   opaque        has ordered steps */
Pattern definition_pattern(Ctx *cx, const Definition *d);
/* Returns true if the index of dimension i in each read of input k depends only on axis i of the result: a crop, a
 * resize, a table that each element indexes. */
bool definition_keeps_dimensions(Ctx *cx, const Definition *d, int k);
/* Prints the formulas of the call, separated by "; ", with the names of its tensors. */
void print_formulas(Ctx *cx, Text *t, const Node *call);

#endif
