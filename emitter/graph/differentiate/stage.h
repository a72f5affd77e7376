/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_STAGE_H
#define LW_GRAPH_DIFFERENTIATE_STAGE_H
/* The adjoint of one compute: what each tensor that it reads receives from it. */
#include "ir/expr/tensor.h"
#include "support/map.h"

typedef struct StageAdjoint {
    const Stage *stage;
    Tensor *const *adjoint;          /* [out_count] of its outputs; NULL: zero */
    const Map *is_active;            /* the tensors that receive something */
    const Map *stored;               /* tensor of the stage -> the tensor of the DAG that has its values */
} StageAdjoint;

/* A summand of the adjoint of `to`, of its shape. */
typedef struct Summand { Tensor *to, *value; } Summand;

/* Collects the summands, in order of the reads. */
int stage_summands(Ctx *cx, const StageAdjoint *a, Summand **out);
/* The sum of tensors of one shape, in their order */
Tensor *sum_of(Ctx *cx, const char *name, Tensor *const *summand, int count);
#endif
