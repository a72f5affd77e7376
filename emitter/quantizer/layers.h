/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_LAYERS_H
#define LW_QUANTIZER_LAYERS_H
/* Finds channels of layers: which elements of weights and biases belong to a channel, the last axis of a tensor. The
 * search reads the computes, so that operators need no facts about channels. */
#include "quantizer/quantizer.h"

/* A layer: a call that multiplies by constant weights, and the addition of a constant bias after it, if any. */
typedef struct Layer {
    const Node *call;
    int weights;                       /* the index of the weights among the operands */
    int axis_in;                       /* the axis of the weights along the input's channels, or -1 */
    int axis_out;                      /* the axis along the output's channels, or -1 */
    Tensor *bias;                      /* one element per output channel, or NULL */
    Tensor *last;                      /* the output, after the bias */
} Layer;

/* The consumers of each tensor. */
typedef struct Readers { Ctx *cx; const Graph *graph; int count; Node **order; Map of; } Readers;
typedef struct ReaderList { int count, capacity; const Node **at; } ReaderList;
Readers readers_of(Ctx *cx, const Graph *g);
const ReaderList *readers_list(const Readers *r, const Tensor *t);         /* never returns NULL */

/* Returns true if the call reads and writes integers, so that its weights are also integers. */
bool is_integer_layer(const Edges *e, const Readers *r, const Node *n);

/* Finds the groups around layers, means and products (ties.c). */
void find_between(Ctx *cx, const Readers *r, Edges *e);

/* Finds the layer of a call. Returns false if the call is not a layer. */
bool layer_of(const Readers *r, const Node *n, Layer *out);
/* Returns true if channel c of the output consists of elements of channel c of the first input, or of their means. */
bool keeps_channels(Ctx *cx, const Node *n);
/* Returns true if the call's result is a subset of its operand's indices along one axis. */
bool selects_elements(Ctx *cx, const Node *n);
/* Returns the number of channels; 1 for a scalar. */
int64_t channels_of(const Tensor *t);
/* Returns the channel along `axis` of element i. */
int64_t channel_at(const Tensor *t, int axis, int64_t i);
#endif
