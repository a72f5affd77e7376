/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_FORM_H
#define LW_GRAPH_FORM_H
/* Real tensors as integers: what the calls between a dequantization and a quantization make, as one affine function of
 * integers that other calls make exactly. With c the index along `axis`,
 *
 *     real = min(max((scale[c] * (q - zero) + scale_b * (b - zero_b) + offset[c]) / count, low), high)
 *
 * All 8-bit tensors are stored as i8: u8 with the zero point z is i8 with z - 128. */
#include "graph/dag/graph.h"
#include "graph/quantize/requantize.h"

typedef struct Form Form;
struct Form {
    Tensor *q, *b;                  /* i8 with a grid, or i32 sums; b: NULL, or the second operand of a sum, i8 as q then is */
    int64_t zero, zero_b, count;
    int axis;                       /* of q; where channels is 1 of no meaning */
    int64_t channels;
    const double *scale, *offset;   /* [channels] */
    double scale_b, low, high;
    Interval reach;                 /* of q - zero */
    const Node *concat;             /* or: the call over `part`, one for each input; q is NULL then */
    const Form *part;
};

typedef struct Former { Ctx *cx; const Uses *uses; bool takes_ties; } Former;      /* ...: also where floats would not be exact */

/* NULL: no such form, or one that others need as real numbers, too. */
const Form *form_of(const Former *f, Tensor *t);
const Form *form_of_call(const Former *f, const Node *n);        /* of its output, whoever reads it */
/* Sums in i32 times the factor that GRID_REQUANTIZE has for them. */
const Form *form_of_requantized(Ctx *cx, const Node *n);
/* A grid alone: i8, one scale, no offset, no limits. */
bool form_is_plain(const Form *x);
/* The constant that the tensor is, if it follows from constants alone; else NULL. */
Tensor *form_constant(Ctx *cx, Tensor *t);
/* The scale and zero point of a call that has them, if they are constant and one for all, as for i8; false: not so, or not 8 bits. */
bool form_grid(Ctx *cx, const Node *n, Grid *g);
/* The call over other operands. */
Tensor *form_call_over(Ctx *cx, const Node *n, Tensor *const *in, const Attr *attr, int attr_count);
#endif
