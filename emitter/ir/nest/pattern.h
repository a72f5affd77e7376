/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_PATTERN_H
#define LW_IR_NEST_PATTERN_H
/* The pattern kind of a compute states how its elements map to the elements of its operands. An operator declares its
 * kind. The kind of a stage is inferred from its formula, so a user's formula, or a stage that a step changed, also has
 * a kind. */
#include "ir/expr/tensor.h"

/* The kinds, ordered by how much they restrict fusion, starting with the weakest. */
typedef enum Pattern {
    PATTERN_ELEMENTWISE,     /* output index = input index */
    PATTERN_BROADCAST,       /* output axes map to input axes in order, and some may be missing */
    PATTERN_INJECTIVE,       /* one element of each input per output element, with any index map */
    PATTERN_REDUCTION,
    PATTERN_OUT_FUSABLE,     /* an anchor, which fuses elementwise operators on its output */
    PATTERN_OPAQUE
} Pattern;
const char *pattern_text(Pattern p);

/* Infers the kind of a stage:
 *
 *   opaque        an axis is ordered, or data choose the elements that are updated
 *   out-fusable   a contraction
 *   reduction     any other reducer
 *   injective     an operand is read at an index that is not a sequence of axes in order: x[i+1], x[j,i]
 *   broadcast     an operand is read at fewer axes than the stage has, as b[c] or m[i,0]
 *   elementwise   every operand is read at the stage's own element
 *
 * A lookup, table[x[i]], is judged by the reads in its index. */
Pattern stage_pattern(Ctx *cx, const Stage *s);

/* Returns true for a sum over reduce axes of products a*b. Both factors of a product vary along a reduce axis, and each
 * factor reads an element that the other factor does not read. A convolution, a product of matrices and a dot product
 * qualify; x*x and x*scale do not. */
bool stage_is_contraction(Ctx *cx, const Stage *s);
#endif
