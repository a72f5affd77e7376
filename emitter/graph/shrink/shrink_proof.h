/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_SHRINK_PROOF_H
#define LW_GRAPH_SHRINK_PROOF_H
/* Does a call over fewer channels compute, at each channel that stayed, what the call before it computed there? */
#include "graph/shrink/channels.h"

/* in[i], of `was`, became to[i], or NULL where it is left out. What contractions leave out is not looked at. */
bool shrink_proved(Ctx *cx, const Channels *c, const GraphRanges *r, const Node *was, Tensor *const *to, const Node *is);
#endif
