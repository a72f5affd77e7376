/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_STREAM_SLIDE_H
#define LW_GRAPH_STREAM_SLIDE_H
/* The proof that a call slides along an axis:
 *
 *      y[.., t, ..] = f(x[.., t * stride + low, ..], ..., x[.., t * stride + high, ..])
 *
 * with the same f for every t. The property follows from the computes of the call, not from facts of its operator. */
#include "graph/dag/op.h"

/* The part that the call reads of an input that carries the axis. */
typedef struct SlideInput {
    int axis;                          /* the axis of the input, or -1 if the input does not carry the axis */
    bool is_read;
    int64_t stride, low, high;
} SlideInput;

typedef struct Slide {
    SlideInput *in;                    /* [in_count of the call]; the caller sets `axis` of each */
    int *axis;                         /* [out_count]: the axis of each output */
    const char *why;                   /* the reason of a refusal */
    bool depends_on_position;          /* true if a condition on t is the reason for a refusal, as at a padded end */
    bool pads_begin;                   /* true for a pad whose frames before the first frame are a constant */
} Slide;

bool slide_of(Ctx *cx, const Node *call, Slide *s);
/* Returns true if both calls compute the same f: `now` is `was` over inputs of a different length along the axis. */
bool slide_is_same(Ctx *cx, const Node *was, const Node *now);
#endif
