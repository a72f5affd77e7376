/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_RANGES_H
#define LW_GRAPH_RANGES_H
/* What the elements of integer tensors can be, channel by channel, whatever the model's inputs hold. A channel is an index
 * of the last dimension. Found from the computes alone, by running them on intervals: nothing is known of operators. */
#include "graph/dag/graph.h"
#include "ir/algebra/algebra.h"

typedef struct ChannelRange { int64_t count; Interval *at; } ChannelRange;       /* at[count] */

/* What is walked tap by tap costs no more than a share of the graph's constants: *left is how many values may still be found
 * that way. After that a sum can be whatever its type holds. */
typedef struct GraphRanges { Ctx *cx; Map of; int64_t *left; } GraphRanges;
GraphRanges *graph_ranges(Ctx *cx, const Graph *g);
/* Of the DAG's tensors and of those between the computes of a call. NULL: floats, no last dimension of known size. */
const ChannelRange *channel_range(const GraphRanges *r, const Tensor *t);

/* The computes that make the call's outputs, producers first; 0: none, or not plain ones (a recurrence). */
int call_stages(Ctx *cx, const Node *call, const Stage ***out);

/* A stage's value taken apart, operands first, to be run on intervals: value[i] is that of e[i]. */
typedef struct Terms {
    const Stage *stage;
    int count;                        /* the last is stage->value[0] */
    const Expr **e;
    Interval *value;
    bool *is_taken;                   /* after terms_run: no decided `select` leaves it out */
    bool *is_walked;                  /* [axes] a reduce axis of which each point is looked at alone */
    int *axis;                        /* VAR: which axis it is, else -1 */
    int **operand;                    /* places of the operands */
} Terms;
Terms *terms_new(Ctx *cx, const Stage *s);
Interval axis_interval(const Axis *a);
/* box: one interval for each axis. */
void terms_run(const GraphRanges *r, Terms *t, const Interval *box);
Interval terms_value(const Terms *t, const Expr *e);
/* The stage's value reduced over the reduce axes of the box, without the value that the reduction starts from; *passed (may
 * be NULL) is what any part of a sum lies in, too. */
Interval terms_reduce(const GraphRanges *r, Terms *t, Interval *box, Interval *passed);
#endif
