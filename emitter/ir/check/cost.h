/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_COST_H
#define LW_IR_COST_H
/* What a nest costs, counted from its loops: a schedule's effect in figures. */
#include "ir/nest/nest.h"

/* Symbolic sizes count with their greatest value. A read under a condition counts as if the condition held, elements of
 * register buffers are not counted, and a reduction loads and stores its element in each update. */
typedef struct NestCost {
    int loops, buffers;
    int64_t buffer_bytes;            /* the sum over all buffers; a lower bound where one has no bound */
    int64_t loads, stores, multiply_adds;
} NestCost;
NestCost nest_cost(Ctx *cx, const Nest *n);
#endif
