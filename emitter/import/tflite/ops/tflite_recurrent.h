/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_OPS_TFLITE_RECURRENT_H
#define LW_IMPORT_TFLITE_OPS_TFLITE_RECURRENT_H
#include "import/tflite/ops/tflite_ops.h"

/* The inputs of an LSTM: four weights of x, four of the state, three peepholes, four biases, the projection, the state,
 * and four normalizations. Gates are in the order i f c o. */
enum { LSTM_X, LSTM_INPUT_WEIGHTS, LSTM_STATE_WEIGHTS = 5, LSTM_PEEPHOLES = 9, LSTM_BIASES = 12, LSTM_PROJECTION = 16,
       LSTM_STATE = 18, LSTM_CELL, LSTM_NORMS };
enum { LSTM_CELL_CLIP = 1, LSTM_TIME_MAJOR = 3 };        /* options */
enum { LSTM_GATES = 4 };
/* The file's gate of each gate i o f c of the operators. */
extern const int tflite_lstm_order[LSTM_GATES];

/* Joins the parts of the gates, inputs `first` to first + 3, along axis 0 in the order i o f c. Matrices are transposed
 * to [inputs][4 units]. Integers become reals unless is_stored. */
Tensor *tflite_lstm_gates(TfliteCall *c, int first, bool is_stored);

/* Lowers an LSTM of 8-bit or 16-bit integers with a 16-bit cell: tflite_lstm_fixed.c */
void tflite_lstm_fixed(TfliteCall *c);
#endif
