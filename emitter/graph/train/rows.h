/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_ROWS_H
#define LW_GRAPH_TRAIN_ROWS_H
/* The losses and optimizers of --train, as tables. */
#include "graph/train/spec.h"

extern const LossRow train_loss_rows[];              /* the first: cross_entropy; closed by a row without name */
extern const OptimizerRow train_optimizer_rows[];    /* closed likewise; rows of one name are adjacent */
#endif
