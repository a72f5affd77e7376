/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_SHRINK_PROOF_H
#define LW_GRAPH_SHRINK_SHRINK_PROOF_H
/* Proves that a call over fewer channels computes, at each channel that stayed, the value of the original call. */
#include "graph/shrink/channels.h"

/* Input in[i] of `was` became to[i], or was dropped if to[i] is NULL. The removed channels of contractions are not
 * compared. */
bool shrink_proved(Ctx *cx, const Channels *c, const GraphRanges *r, const Node *was, Tensor *const *to,
                   const Node *is);
#endif
