/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_FINETUNE_H
#define LW_QUANTIZER_FINETUNE_H
/* Quantization-aware training: weights, biases, scales of weights and of activations of the simulated network are
 * parameters of a training step. Each is `unit * u`, and u is trained; of a scale, `unit * exp(u / 127)`. Of
 * weights it is a 127th of the product of a factor for each input channel and one for each output channel, which bring
 * the greatest element of each channel to 1. So one rate fits tensors and channels of any range.
 *
 * The step is emitted and run outside of the quantizer (api/finetune.c). */
#include "quantizer/quantizer.h"

typedef enum TunedKind { TUNED_WEIGHTS, TUNED_SCALES, TUNED_BIAS, TUNED_GRID } TunedKind;

typedef struct TunedPart {
    TunedKind kind;
    const Tensor *of;                  /* weights or bias; NULL: a grid */
    int group;                         /* of the edges; -1: none */
    int axis;                          /* of the weights' scales; -1: one scale */
    Tensor *input, *initial;           /* u, an input of the graph; a constant */
    Tensor *value;                     /* unit * u */
    int64_t unit_count; const float *unit;     /* one, one for each index of the last axis, or one for each element */
    const float *result;               /* u after training */
} TunedPart;

struct Tuned { int count, capacity; TunedPart *part; };

/* Scales stay positive: theirs is unit * exp(u / 127). */
static inline bool tuned_is_scale(const TunedPart *p) { return p->kind == TUNED_SCALES || p->kind == TUNED_GRID; }

static inline float tuned_unit(const TunedPart *p, int64_t i) { return p->unit[i % p->unit_count]; }

/* tuned.c: returns the tensor unit * u for the constant `value`, the same for the same tensor or group. */
Tensor *tuned_value(Ctx *cx, Tuned *t, TunedPart part, Tensor *value);

/* tuned.c: returns the units of weights, one for each element; of their bias, one for each output channel. */
float *tuned_weight_units(Ctx *cx, const Tensor *w);
float *tuned_bias_units(Ctx *cx, const Tensor *w, const Tensor *bias);

struct TuneJob {
    Graph graph;                       /* its last inputs are those of `tuned`; one output */
    Tuned *tuned;
    const Samples *samples;            /* `held`, then `trained`, then the first mix of each trained one, the second */
    int64_t held, trained;
    int mixes;                         /* of each trained sample */
    int64_t target_elems; const float *target;     /* the float network's output for each sample */
    bool is_softmax;                   /* the output is a probability of each class */
};

/* Simulates the graph with parameters, trains them to the float graph's output, and replaces weights (`refined`),
 * biases, grids and scales (`scaled`, weights -> Request) by the result. */
bool finetune(const Build *b, const Graph *g, const Samples *s, const Tuner *tuner, Edges *e, Map *refined,
              Map *biases, Map *scaled);
#endif
