/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DIFFERENTIATE_STAGE_H
#define LW_GRAPH_DIFFERENTIATE_STAGE_H
/* The adjoint of one compute: the summands that it adds to each tensor it reads. */
#include "graph/differentiate/summands.h"

typedef struct StageAdjoint {
    const Stage *stage;
    Tensor *const *adjoint;          /* [out_count]: the adjoints of the stage's outputs; NULL means zero */
    const Map *is_active;            /* the tensors that receive summands */
    const Map *stored;               /* maps a tensor of the stage to the tensor of the DAG that has its values */
    /* In a recurrence, adjoints have the steps in reverse: index 0 is last_step - t. `inside` receives the adjoints of
     * the tensors in the map `back`, in reverse. NULL outside a recurrence. */
    const Expr *last_step;
    const Map *back;
    Summands *inside;
} StageAdjoint;

/* Adds the stage's summands in order of its reads. */
void stage_summands(Ctx *cx, const StageAdjoint *a, Summands *to);
#endif
