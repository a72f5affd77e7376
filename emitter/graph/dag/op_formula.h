/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_OP_FORMULA_H
#define LW_GRAPH_OP_FORMULA_H
/* The formulas of a call: its computes, and where it is in a diagnostic. */
#include "graph/dag/op.h"

const char *op_where(Ctx *cx, const Node *call);                      /* `node "conv_7" (conv2d)` */
#define op_refuse(cx, call, ...) diag_error((cx), op_where((cx), (call)), __VA_ARGS__)                /* at that place */
#define op_unsupported(cx, call, ...) diag_unsupported((cx), op_where((cx), (call)), __VA_ARGS__)

/* The formula, with its result renamed for people: `y` to the operator's name, any other `z` to OPERATOR_z. */
Tensor *op_formula(Ctx *cx, const Node *call, const char *text, const Bind *binds);
#define OP_FORMULA(cx, call, text, ...) op_formula((cx), (call), (text), (const Bind[]){ __VA_ARGS__, { NULL, NULL, NULL } })

/* Formulas of one call that name one another: what a formula makes has its own word as a name in those behind it. A promised tensor
 * may be read before the formula that makes it (ir/nest/recurrence.h). NULL once anything has failed. */
enum { MOST_NAMES = 40 };
typedef struct Formulas { Ctx *cx; const Node *call; int count; Bind bind[MOST_NAMES + 1]; } Formulas;
void formulas_name(Formulas *f, Bind b);
Tensor *formulas_make(Formulas *f, const char *format, ...);
Tensor *formulas_promise(Formulas *f, const char *word, DType t, int rank, const Expr *const *shape);
Tensor *formulas_keep(Formulas *f, Tensor *promised, const char *format, ...);
/* A size as formulas have it: a number, or a name that stands for it where it is open. */
const char *formulas_size(Formulas *f, const Expr *size);
bool op_float(Ctx *cx, const Node *call);                             /* the first input is of a float type */

#endif
