/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_SUMMANDS_H
#define LW_GRAPH_DIFFERENTIATE_SUMMANDS_H
/* The adjoints of tensors, as sums: each consumer adds what it passes on, the last consumer first. */
#include "ir/expr/tensor.h"
#include "support/map.h"

/* is_inside: of the steps of a recurrence, whose promised tensors keep the copies that read them */
typedef struct Summands { Ctx *cx; Map of; Map *names; bool is_inside; } Summands;

Summands *summands_new(Ctx *cx);
Summands *summands_inside(const Summands *outer);                    /* empty, with the names of the outer */
/* The first unused name of base, base_2, ...: tensors of one gradient have different names. */
const char *summands_name(Summands *s, const char *base);
const char *summands_adjoint_name(Summands *s, const Tensor *of);    /* d_x */
void summands_add(Summands *s, const Tensor *to, Tensor *value);     /* NULL: zero */
void summands_move(Summands *s, const Tensor *from, const Tensor *to);
bool summands_has(const Summands *s, const Tensor *of);
/* The sum of all so far, which replaces them. NULL: zero. */
Tensor *summands_total(Summands *s, const Tensor *of);
/* summands_total with an ordered first axis u, plus outside[last - u, ..] (NULL: zero). */
Tensor *summands_of_steps(Summands *s, const Tensor *of, Tensor *outside, const Expr *last);

/* The type in which adjoints of a value are computed: f32 for the 16-bit floats */
DType adjoint_type(DType t);
/* An adjoint's element; a literal where all elements are one. */
const Expr *adjoint_read(Ctx *cx, const Tensor *t, const Expr *const *index);
#endif
