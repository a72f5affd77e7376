/* SPDX-License-Identifier: MIT */
#include "graph/dag/recurrent.h"

#include <string.h>

static const Recurrent rows[] = {
    { "rnn", 1, 1, "tanh", NULL, .lens = 5, .ws = 6 },
    { "gru", 3, 2, "sigmoid,tanh", "linear_before_reset", .rb = 5, .lens = 6, .ws = 7 },
    { "lstm", 4, 3, "sigmoid,tanh,tanh", "input_forget", .c0 = 5, .p = 6, .lens = 7, .ws = 8 },
};

static const RecurrentActivation activations[] = {
    { "affine", "Affine", "(alpha * v + beta)", true, true, 1, 0 },
    { "elu", "Elu", "select(v < 0, alpha * expm1(v), v)", true, false, 1, 0 },
    { "hard_sigmoid", "HardSigmoid", "max(0, min(1, alpha * v + beta))", true, true, 0.2, 0.5 },
    { "leaky_relu", "LeakyRelu", "select(v < 0, alpha * v, v)", true, false, 0.01, 0 },
    { "relu", "Relu", "max(v, 0)", false, false, 0, 0 },
    { "scaled_tanh", "ScaledTanh", "(alpha * tanh(beta * v))", true, true, 1, 1 },
    { "sigmoid", "Sigmoid", "sigmoid(v)", false, false, 0, 0 },
    { "softplus", "Softplus", "(max(v, 0) + log1p(exp(-abs(v))))", false, false, 0, 0 },
    { "softsign", "Softsign", "(v / (1 + abs(v)))", false, false, 0, 0 },
    { "tanh", "Tanh", "tanh(v)", false, false, 0, 0 },
    { "thresholded_relu", "ThresholdedRelu", "select(v > alpha, v, 0)", true, false, 1, 0 },
};
enum { ROWS = sizeof rows / sizeof *rows, ACTIVATIONS = sizeof activations / sizeof *activations };

const Recurrent *recurrent_of(const char *op)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].op, op) == 0) return &rows[i];
    return NULL;
}

const RecurrentActivation *recurrent_activation(int i) { return i < ACTIVATIONS ? &activations[i] : NULL; }

const RecurrentActivation *recurrent_activation_named(const char *word, size_t length)
{
    for (const RecurrentActivation *a = activations; a < activations + ACTIVATIONS; a++)
        if (strlen(a->name) == length && memcmp(a->name, word, length) == 0) return a;
    return NULL;
}
