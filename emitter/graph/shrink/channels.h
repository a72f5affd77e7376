/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_CHANNELS_H
#define LW_GRAPH_SHRINK_CHANNELS_H
/* Channel classes and their liveness. Two channels share a class if an element of one is computed from elements of the
 * other alone: they stay or are removed together. A contraction (a sum over the channels of x with constant weights)
 * separates classes: each channel of x is live separately, unless its contribution to the sum is known. */
#include "graph/shrink/ranges.h"

/* A call with output sum(.., c, ..) of products with x[.., c], where c is a reduce axis that only indexes. */
typedef struct Contraction {
    const Node *call;
    const Tensor *x;                  /* the operand whose channels are summed */
    Terms *terms;
    int axis;                         /* index of c among the stage's axes */
    int64_t channels, outputs;
    unsigned char *is_known;          /* [outputs][channels]: the contribution of x's channel is a single value */
    int64_t *known;                   /* these values, output by output; those of output v begin at first[v] */
    int64_t *first, known_count;
} Contraction;

typedef struct Channels Channels;
Channels *channels_new(Ctx *cx, const Graph *g, const GraphRanges *r);
/* Excludes the channels that the call reads and writes from filling vectors; keeps all of them if that is done. */
void channels_pin(Channels *c, const Node *call);
void channels_decide(Channels *c);                           /* decides liveness; call again after pinning */
/* Returns the live channels of the tensor, in order. NULL: all of them. */
const int *channels_kept(const Channels *c, const Tensor *t, int *count);
/* True if no channel is live: a concatenation drops the tensor */
bool channels_all_dead(const Channels *c, const Tensor *t);
const Contraction *contraction_of(const Channels *c, const Node *call);
/* Stores the removed channels' contribution to output v, modulo 2^64. False: one of them is not known. */
bool contraction_rest(const Channels *c, const Contraction *k, int64_t v, int64_t *rest);
#endif
