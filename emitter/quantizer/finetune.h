/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_FINETUNE_H
#define LW_QUANTIZER_FINETUNE_H
/* Quantization-aware training: weights, biases, scales of weights and of activations of the simulated network are
 * parameters of a training step. Each parameter is `unit * u`, and u is trained; a scale is `unit * exp(u / 127)`. The
 * unit of weights is a 127th of the product of two factors, one for each input channel and one for each output channel.
 * The factors bring the largest element of each channel to 1. So one rate fits tensors and channels of any range.
 *
 * The trained graph also holds the float network. The output of the trained graph is the loss of the outputs and of
 * each hidden tensor with a calibrated grid. The channels of hidden tensors may differ from the float network's by a
 * trained factor.
 *
 * The step is emitted and run outside the quantizer (api/finetune.c). */
#include "quantizer/quantizer.h"

typedef enum TunedKind { TUNED_WEIGHTS, TUNED_SCALES, TUNED_BIAS, TUNED_GRID, TUNED_FACTOR } TunedKind;

typedef struct TunedPart {
    TunedKind kind;
    const Tensor *of;                  /* weights, a bias, or the tensor that a factor compares; NULL for a grid */
    int group;                         /* the group of the edges, or -1 if there is none */
    int axis;                          /* the axis of the weights' scales, or -1 for one scale */
    Tensor *input, *initial;           /* u, which is an input of the graph, and its first value, which is a constant */
    Tensor *value;                     /* unit * u */
    /* [unit_count]: one unit, one for each index of the last axis, or one for each element. */
    int64_t unit_count; const float *unit;
    const float *result;               /* u after training */
} TunedPart;

struct Tuned {
    int count, capacity; TunedPart *part;
    /* maps a tensor of the float graph to the tensor that the simulation reads in its place */
    Map read;
};

/* Returns true for scales and factors, which must stay positive. Such parameters are therefore unit * exp(u / 127). */
static inline bool tuned_is_scale(const TunedPart *p)
{
    return p->kind == TUNED_SCALES || p->kind == TUNED_GRID || p->kind == TUNED_FACTOR;
}

static inline float tuned_unit(const TunedPart *p, int64_t i) { return p->unit[i % p->unit_count]; }

/* Returns the tensor unit * u for the constant `value` (tuned.c). Calls for the same tensor or group return the same
 * tensor. */
Tensor *tuned_value(Ctx *cx, Tuned *t, TunedPart part, Tensor *value);

/* Return the units of weights, one for each element, and of their bias, one for each output channel (tuned.c). */
float *tuned_weight_units(Ctx *cx, const Tensor *w);
float *tuned_bias_units(Ctx *cx, const Tensor *w, const Tensor *bias);

struct TuneJob {
    /* The graph of the job. The last inputs of the graph are the parameters of `tuned`; its output is the loss of a
     * sample. */
    Graph graph;
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

/* Simulates the graph with parameters, and trains them to the float graph's output. Replaces weights (`refined`),
 * biases, grids and scales by the result; `scaled` maps weights to a Request. */
bool finetune(const Build *b, const Graph *g, const Samples *s, const Tuner *tuner, Edges *e, Map *refined,
              Map *biases, Map *scaled);
#endif
