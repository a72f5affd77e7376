/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_OP_FORMULA_H
#define LW_GRAPH_DAG_OP_FORMULA_H
/* The formulas of a call: its computes, and the text that names it in diagnostics. */

/* Decision: a formula is a constant text, or expressions. `y[n,h,w,c] = sum(i,j) ...` in a string is the definition,
 * and the reader checks it. Names in it that depend on the call are bound to tensors and values, or to phrases. A
 * phrase is an index list, a type or a number (`op_text` in `graph/dag/op_formula.h`), so one formula such as
 * `sum[kept] = sum(chosen) x[all]` works for every rank. Where axes, guards or divisors follow from attributes
 * (convolutions, pools, resizing, gathers, scatters, slices), they are built as expressions over axes
 * (`graph/dag/index_map.h`). */
#include "graph/dag/op.h"

const char *op_where(Ctx *cx, const Node *call);                      /* returns the call as a place: node "conv_7"
                                                                       * (conv2d) */
/* Reports an error at the place that op_where returns. */
#define op_refuse(cx, call, ...) diag_error((cx), op_where((cx), (call)), __VA_ARGS__)
#define op_unsupported(cx, call, ...) diag_unsupported((cx), op_where((cx), (call)), __VA_ARGS__)

/* Returns true if the condition holds; otherwise refuses the call and returns false. A refusal names one condition. */
#define op_holds(cx, call, holds, ...) ((holds) || (op_refuse((cx), (call), __VA_ARGS__), false))

/* Formulas are constant texts. Names that depend on the call are bound. Bind gives them tensors and values. Phrase
 * gives them text, such as an index list, a type, a number, or a value over the formula's axes. A phrase may use the
 * phrases before it. An empty phrase disappears, with the comma or the brackets of its list.
 *
 *   OP_TEXT(cx, "sum[kept] = sum(chosen) x[all]", { "kept", "n" }, { "chosen", "h,w" }, { "all", "n,h,w" })
 *   is sum[n] = sum(h,w) x[n,h,w] */
typedef struct Phrase { const char *name, *text; } Phrase;
const char *op_text(Ctx *cx, const char *text, const Phrase *phrases);     /* phrases end with a row without a name */
#define OP_TEXT(cx, text, ...) op_text((cx), (text), (const Phrase[]){ __VA_ARGS__, { NULL, NULL } })
const char *op_number(Ctx *cx, int64_t n);                            /* returns the number as the text of a phrase */

/* Computes the formula and renames its result: `y` to the operator's name, any other `z` to OPERATOR_z. */
Tensor *op_formula(Ctx *cx, const Node *call, const char *text, const Bind *binds);
#define OP_FORMULA(cx, call, text, ...) \
    op_formula((cx), (call), (text), (const Bind[]){ __VA_ARGS__, { NULL, NULL, NULL } })

/* The formulas of one call that refer to each other. Later formulas refer to a result by its name in the formula. A
 * promised tensor may be read before the formula that computes it (ir/nest/recurrence.h). Results are NULL after any
 * failure. */
enum { MOST_NAMES = 40, MOST_PHRASES = 18 };
typedef struct Formulas {
    Ctx *cx;
    const Node *call;
    int count, phrase_count;
    Bind bind[MOST_NAMES + 1];
    Phrase phrase[MOST_PHRASES + 1];
} Formulas;
void formulas_name(Formulas *f, Bind b);
void formulas_phrase(Formulas *f, const char *word, const char *text);     /* adds a phrase for all later formulas */
Tensor *formulas_compute(Formulas *f, const char *text);
Tensor *formulas_promise(Formulas *f, const char *word, DType t, int rank, const Expr *const *shape);
Tensor *formulas_define(Formulas *f, Tensor *promised, const char *text);
/* Returns a size in the syntax of formulas: a number, or the name that is bound to an open size. */
const char *formulas_size(Formulas *f, const Expr *size);
/* Returns the layout of packed weights by their type and rank, or NULL. */
const WeightLayout *weights_layout(const Op *op, const Tensor *k);
/* Returns the operator's layout with this name. If there is none, reports an internal error and returns NULL. */
const WeightLayout *weights_layout_named(Ctx *cx, const char *op, const char *layout);
/* Returns the constant weights w, packed in the layout. `number` gives the layout's numbers; a row without a name
 * closes it. If decoding does not give w again, reports an internal error and returns NULL. Returns NULL if l is
 * NULL. */
Tensor *weights_packed(Ctx *cx, const WeightLayout *l, const Tensor *w, const Phrase *number);
/* Returns true if the first input has a float type. */
bool op_float(Ctx *cx, const Node *call);

#endif
