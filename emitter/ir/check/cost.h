/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_COST_H
#define LW_IR_CHECK_COST_H
/* The cost of a nest, counted from its loops. */
#include "ir/nest/nest.h"

/* Symbolic sizes count with their upper bound. A read under a condition is counted as if the condition held. Elements
 * of register buffers do not count. A reduction loads and stores its element in each update. */
typedef struct NestCost {
    int loops, buffers;
    int64_t buffer_bytes;            /* the sum over all buffers, in bytes; a lower bound if a buffer has no bound */
    int64_t loads, stores, multiply_adds;
} NestCost;
NestCost nest_cost(Ctx *cx, const Nest *n);
#endif
