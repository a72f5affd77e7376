/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_RECURRENT_H
#define LW_GRAPH_DAG_RECURRENT_H
/* The cells of recurrent layers and their activations, in one table. The operators (ops/layers/recurrent.c, which has
 * the formulas of the gates), the ONNX importer, the integer weights and the ONNX exporter read it. */
#include <stdbool.h>
#include <stddef.h>

/* The inputs that all layers have: x [T][B][I], w [I][G*U], r [U][G*U], b [G*U], h0 [B][U]. The gates are in ONNX's
 * order: z r h for gru, i o f c for lstm. */
enum { RECURRENT_X, RECURRENT_W, RECURRENT_R, RECURRENT_B, RECURRENT_H0 };
enum { MOST_RECURRENT_ACTIVATIONS = 3 };

typedef struct Recurrent {
    const char *op;
    int gates, activation_count;
    const char *activations;           /* the default activations of the gates, the candidate and the cell */
    const char *flag;                  /* the name of an attribute that is 0 or 1, here and in ONNX, or NULL */
    /* The numbers of further inputs, 0 for an input that the layer lacks. rb [U] is the second bias of the candidate,
     * c0 [B][U] the first cell, p [3*U] the peepholes, lens [B] the steps of each sequence. ws holds the factors of w;
     * rs, the next input, holds the factors of r. */
    int rb, c0, p, lens, ws;
} Recurrent;

/* Returns the row of an operator, or NULL for an operator that is not recurrent. */
const Recurrent *recurrent_of(const char *op);

/* `v` is the argument of the formula; alpha and beta are parameters, with ONNX's defaults where it has them. */
typedef struct RecurrentActivation {
    const char *name, *onnx, *formula;
    bool has_alpha, has_beta;
    double alpha, beta;
} RecurrentActivation;

/* Returns row i, or NULL beyond the last. */
const RecurrentActivation *recurrent_activation(int i);
/* Returns the activation whose name is these characters, or NULL. */
const RecurrentActivation *recurrent_activation_named(const char *word, size_t length);
#endif
