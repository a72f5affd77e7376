/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_CHANNELS_H
#define LW_GRAPH_CHANNELS_H
/* Which channels of which tensors belong together, and which of them anything depends on. Two channels belong together when
 * an element of one is computed from elements of the other alone: they stay or go as one. A contraction (a sum over the
 * channels of x, with constant weights) ends that: there each channel of x is needed by itself, unless what it adds is known. */
#include "graph/shrink/ranges.h"

/* A call whose output is sum(.., c, ..) of products with x[.., c], c being a reduce axis that only indexes. */
typedef struct Contraction {
    const Node *call;
    const Tensor *x;                  /* the operand whose channels are summed */
    Terms *terms;
    int axis;                         /* c among the stage's axes */
    int64_t channels, outputs;
    unsigned char *is_known;          /* [outputs][channels]: what x's channel adds is one value */
} Contraction;

typedef struct Channels Channels;
Channels *channels_new(Ctx *cx, const Graph *g, const GraphRanges *r);
void channels_pin(Channels *c, const Node *call);            /* all channels that the call reads and writes stay */
void channels_decide(Channels *c);                           /* what stays; again after pinning */
/* The channels of the tensor that stay, in order. NULL: all of them. */
const int *channels_kept(const Channels *c, const Tensor *t, int *count);
bool channels_all_gone(const Channels *c, const Tensor *t);  /* nothing of it is needed: a concatenation leaves it out */
const Contraction *contraction_of(const Channels *c, const Node *call);
/* What the channels that go add to output v: modulo 2^64. */
int64_t contraction_rest(const Channels *c, const Contraction *k, int64_t v);
#endif
