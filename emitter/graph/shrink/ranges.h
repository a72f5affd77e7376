/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_RANGES_H
#define LW_GRAPH_SHRINK_RANGES_H
/* Bounds of the elements of integer tensors per channel, for any model input. A channel is an index of the last
 * dimension. The analysis runs the computes on intervals; it needs no facts about operators. */
#include "graph/dag/graph.h"
#include "ir/algebra/algebra.h"

typedef struct ChannelRange { int64_t count; Interval *at; } ChannelRange;       /* at[count] */

/* Walking taps one by one costs at most a share of the graph's constants: *left is the remaining budget of values. When
 * it is used up, a sum has its type's full range. The same question may therefore be answered less well later: keep an
 * answer that is needed again. */
typedef struct GraphRanges { Ctx *cx; Map of; int64_t *left; } GraphRanges;
GraphRanges *graph_ranges(Ctx *cx, const Graph *g, int64_t budget);
int64_t ranges_budget(Ctx *cx, const Graph *g);
/* Returns the range of each channel of t, a tensor of the DAG or between the computes of a call, or NULL if t has
 * floats or the size of its last dimension is unknown. */
const ChannelRange *channel_range(const GraphRanges *r, const Tensor *t);

/* Returns the call's computes, producers first; 0: none, or not plain ones (a recurrence). */
int call_stages(Ctx *cx, const Node *call, const Stage ***out);
int64_t call_macs(Ctx *cx, const Node *call);      /* multiply-adds of its sums of products */
int64_t graph_macs(Ctx *cx, const Graph *g);        /* of all its calls */

/* A stage's value as a list of terms, operands first, for interval evaluation: value[i] belongs to e[i]. */
typedef struct Terms {
    const Stage *stage;
    int count;                        /* the last is stage->value[0] */
    const Expr **e;
    Interval *value;
    bool *is_taken;                   /* set by terms_run: false if a decided `select` excludes it */
    bool *is_walked;                  /* [axes] a reduce axis whose points are evaluated one by one */
    int *axis;                        /* VAR: index of its axis, else -1 */
    int **operand;                    /* indices of the operands in e */
} Terms;
Terms *terms_new(Ctx *cx, const Stage *s);
Interval axis_interval(const Axis *a);
/* box: one interval for each axis. */
void terms_run(const GraphRanges *r, Terms *t, const Interval *box);
Interval terms_value(const Terms *t, const Expr *e);
/* Reduces the stage's value over the reduce axes of the box, without the initial value. *passed (may be NULL) gets an
 * interval that also holds every partial sum. */
Interval terms_reduce(const GraphRanges *r, Terms *t, Interval *box, Interval *passed);
#endif
