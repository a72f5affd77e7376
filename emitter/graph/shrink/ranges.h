/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_RANGES_H
#define LW_GRAPH_SHRINK_RANGES_H
/* Bounds of the elements of integer tensors per channel, for any model input. A channel is an index of the last
 * dimension. The analysis runs the computes on intervals; it needs no facts about operators. */
#include "graph/dag/graph.h"
#include "ir/algebra/algebra.h"

/* at[count]: the range of each channel. */
typedef struct ChannelRange { int64_t count; Interval *at; } ChannelRange;

/* *left is the number of values that may still be evaluated tap by tap: at first the budget, which ranges_budget makes
 * larger for more constants. At 0, a sum has its type's full range. A later call may therefore return wider bounds for
 * the same tensor; keep an answer that is needed again. */
typedef struct GraphRanges { Ctx *cx; Map of; int64_t *left; } GraphRanges;
GraphRanges *graph_ranges(Ctx *cx, const Graph *g, int64_t budget);
int64_t ranges_budget(Ctx *cx, const Graph *g);
/* Returns the range of each channel of t, which is a tensor of the DAG or an intermediate tensor of a call. Returns
 * NULL if t has floats, or the size of its last dimension is unknown. */
const ChannelRange *channel_range(const GraphRanges *r, const Tensor *t);

/* Returns the number of the call's computes, producers first. Returns 0 if the call has no plain computes, as in a
 * recurrence. */
int call_stages(Ctx *cx, const Node *call, const Stage ***out);
int64_t call_macs(Ctx *cx, const Node *call);      /* returns the multiply-adds of the call's sums of products */
int64_t graph_macs(Ctx *cx, const Graph *g);        /* returns the multiply-adds of all calls of the graph */

/* A stage's value as a list of terms, operands first, for interval evaluation: value[i] belongs to e[i]. */
typedef struct Terms {
    const Stage *stage;
    int count;                        /* the number of terms; the last one is stage->value[0] */
    const Expr **e;
    Interval *value;
    bool *is_taken;                   /* set by terms_run; false for a term that a decided `select` excludes */
    bool *is_walked;                  /* [axes]: true for a reduce axis whose points are evaluated one by one */
    int *axis;                        /* of a VAR, the index of its axis; otherwise -1 */
    int **operand;                    /* [terms]: indices of each term's operands in e */
} Terms;
Terms *terms_new(Ctx *cx, const Stage *s);
Interval axis_interval(const Axis *a);
/* Evaluates the terms; `box` has one interval per axis. */
void terms_run(const GraphRanges *r, Terms *t, const Interval *box);
Interval terms_value(const Terms *t, const Expr *e);
/* Reduces the stage's value over the reduce axes of the box, without the initial value. *passed (may be NULL) gets an
 * interval that also holds every partial sum. */
Interval terms_reduce(const GraphRanges *r, Terms *t, Interval *box, Interval *passed);
#endif
