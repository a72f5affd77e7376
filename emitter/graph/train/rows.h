/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_ROWS_H
#define LW_GRAPH_TRAIN_ROWS_H
/* The losses and optimizers of --train, as tables. */
#include "graph/train/spec.h"

extern const LossRow train_loss_rows[];              /* the first is cross_entropy; closed by a row without a name */
/* Closed by a row without a name; rows with the same name are adjacent. */
extern const OptimizerRow train_optimizer_rows[];
#endif
