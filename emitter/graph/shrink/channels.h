/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_CHANNELS_H
#define LW_GRAPH_SHRINK_CHANNELS_H
/* Finds classes of channels and decides which are live. Two channels share a class if an element of one is computed
 * only from elements of the other; both channels are kept, or both are removed. A contraction (a sum over the channels
 * of x with constant weights) separates classes: each channel of x is live separately, unless its contribution to the
 * sum is known. */
#include "graph/shrink/ranges.h"

/* A call with output sum(.., c, ..) of products with x[.., c], where c is a reduce axis that only indexes. */
typedef struct Contraction {
    const Node *call;
    const Tensor *x;                  /* the operand whose channels are summed */
    Terms *terms;
    int axis;                         /* index of c among the stage's axes */
    int64_t channels, outputs;
    /* [outputs][channels]: true if the contribution of x's channel is a single value. */
    unsigned char *is_known;
    int64_t *known;                   /* these values, output by output; the values of output v begin at first[v] */
    int64_t *first, known_count;
} Contraction;

typedef struct Channels Channels;
Channels *channels_new(Ctx *cx, const Graph *g, const GraphRanges *r);
/* Excludes the channels that the call reads and writes from filling vectors. If none of the numbers fills whole
 * vectors, keeps all channels. */
void channels_pin(Channels *c, const Node *call);
/* Decides which channels are live; call it again after pinning. */
void channels_decide(Channels *c);
/* Returns the live channels of the tensor, in order, or NULL if all are live. */
const int *channels_kept(const Channels *c, const Tensor *t, int *count);
/* Returns true if no channel is live; a concatenation then drops the tensor. */
bool channels_all_dead(const Channels *c, const Tensor *t);
const Contraction *contraction_of(const Channels *c, const Node *call);
/* Stores the contribution of the removed channels to output v, modulo 2^64. Returns false if the contribution of a
 * removed channel is not known. */
bool contraction_rest(const Channels *c, const Contraction *k, int64_t v, int64_t *rest);
#endif
