/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_SUMMANDS_H
#define LW_GRAPH_DIFFERENTIATE_SUMMANDS_H
/* The adjoints of tensors, as sums. Each consumer of a tensor adds a summand; the last consumer adds first. */
#include "ir/expr/tensor.h"
#include "support/map.h"

/* is_inside is true if the summands belong to the steps of a recurrence. Such summands stay copies, because promised
 * tensors read the copies. */
typedef struct Summands { Ctx *cx; Map of; Map *names; bool is_inside; } Summands;

Summands *summands_new(Ctx *cx);
/* Returns an empty collection with the names of the outer one. */
Summands *summands_inside(const Summands *outer);
/* Returns the first unused name of base, base_2, ..., because the tensors of one gradient need different names. */
const char *summands_name(Summands *s, const char *base);
const char *summands_adjoint_name(Summands *s, const Tensor *of);    /* returns d_x for x */
void summands_add(Summands *s, const Tensor *to, Tensor *value);     /* a value of NULL means zero */
void summands_move(Summands *s, const Tensor *from, const Tensor *to);
bool summands_has(const Summands *s, const Tensor *of);
/* Returns the sum of all summands so far, which then replaces them. Returns NULL for zero. */
Tensor *summands_total(Summands *s, const Tensor *of);
/* Like summands_total, with an ordered first axis u. The sum includes outside[last - u, ..]; an `outside` of NULL means
 * zero. */
Tensor *summands_of_steps(Summands *s, const Tensor *of, Tensor *outside, const Expr *last);

/* Returns the type in which adjoints of a value are computed: f32 for the 16-bit floats. */
DType adjoint_type(DType t);
/* Returns an element of an adjoint, or a literal if all elements are equal. */
const Expr *adjoint_read(Ctx *cx, const Tensor *t, const Expr *const *index);
#endif
