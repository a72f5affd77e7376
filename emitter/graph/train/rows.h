/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_ROWS_H
#define LW_GRAPH_TRAIN_ROWS_H
/* The losses and optimizers of --train, as tables. */
#include "graph/train/spec.h"

/* The losses, of which cross_entropy is the first; closed by a row without a name. */
extern const LossRow train_loss_rows[];
/* The optimizers, closed by a row without a name. Rows with the same name are adjacent. */
extern const OptimizerRow train_optimizer_rows[];
#endif
