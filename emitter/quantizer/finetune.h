/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_FINETUNE_H
#define LW_QUANTIZER_FINETUNE_H
/* Quantization-aware training: weights, biases, scales of weights and of activations of the simulated network are
 * parameters of a training step. Each parameter is `unit * u`, and u is trained; a scale is `unit * exp(u / 127)`. The
 * unit of weights is a 127th of the product of a factor for each input channel and one for each output channel, which
 * bring the largest element of each channel to 1. So one rate fits tensors and channels of any range.
 *
 * The trained graph also holds the float network. Its output is the loss: the loss of the outputs and of each hidden
 * tensor with a calibrated grid, whose channels may differ from the float network's by a trained factor.
 *
 * The step is emitted and run outside the quantizer (api/finetune.c). */
#include "quantizer/quantizer.h"

typedef enum TunedKind { TUNED_WEIGHTS, TUNED_SCALES, TUNED_BIAS, TUNED_GRID, TUNED_FACTOR } TunedKind;

typedef struct TunedPart {
    TunedKind kind;
    const Tensor *of;                  /* weights, a bias, or the tensor that a factor compares; NULL for a grid */
    int group;                         /* of the edges; -1: none */
    int axis;                          /* the axis of the weights' scales, or -1 for one scale */
    Tensor *input, *initial;           /* u, an input of the graph; its first value, a constant */
    Tensor *value;                     /* unit * u */
    /* one unit, one for each index of the last axis, or one for each element */
    int64_t unit_count; const float *unit;
    const float *result;               /* u after training */
} TunedPart;

struct Tuned {
    int count, capacity; TunedPart *part;
    /* maps a tensor of the float graph to the tensor that the simulation reads in its place */
    Map read;
};

/* Scales and factors must stay positive, so they are unit * exp(u / 127). */
static inline bool tuned_is_scale(const TunedPart *p)
{
    return p->kind == TUNED_SCALES || p->kind == TUNED_GRID || p->kind == TUNED_FACTOR;
}

static inline float tuned_unit(const TunedPart *p, int64_t i) { return p->unit[i % p->unit_count]; }

/* tuned.c: returns the tensor unit * u for the constant `value`, the same for the same tensor or group. */
Tensor *tuned_value(Ctx *cx, Tuned *t, TunedPart part, Tensor *value);

/* tuned.c: returns the units of weights, one for each element; of their bias, one for each output channel. */
float *tuned_weight_units(Ctx *cx, const Tensor *w);
float *tuned_bias_units(Ctx *cx, const Tensor *w, const Tensor *bias);

struct TuneJob {
    Graph graph;                       /* its last inputs are those of `tuned`; its output is the loss of a sample */
    Tuned *tuned;
    const Samples *samples;
    /* the numbers of the samples: first the held-out samples, then the trained ones */
    const int64_t *order;
    int64_t held, trained;
    const int64_t *label;              /* the class of each sample, or NULL */
    /* the elements of the last input of the model, which is the class as probabilities; otherwise 0 */
    int64_t class_count;
    bool is_mixed;                     /* true if trained samples are few, so that mixes of two are also trained */
};

/* Simulates the graph with parameters, trains them to the float graph's output, and replaces weights (`refined`),
 * biases, grids and scales (`scaled`, weights -> Request) by the result. */
bool finetune(const Build *b, const Graph *g, const Samples *s, const Tuner *tuner, Edges *e, Map *refined,
              Map *biases, Map *scaled);
#endif
