/* SPDX-License-Identifier: MIT */
#ifndef LW_API_RUN_H
#define LW_API_RUN_H
/* Interprets a model, for `run` and `verify`. */
#include "driver/driver.h"

/* Interprets the model as imported `runs` times on the same inputs, after build_read; state carries over from run to
 * run. Inputs are read from .npy files, one for each input that is not a state, or generated (count 0). inputs and
 * outputs: one for each of the model's, in its order. With --layers the model gets the results of the emitted layers;
 * the data of one that is not a tensor of the imported model is NULL. False on error. */
bool run_interpreted(Build *b, const char *const *input, int count, int runs, const void ***inputs,
                     const void ***outputs);
/* The inputs alone, after build_nests. Those that are a state have its initial value. */
bool run_inputs(Build *b, const char *const *input, int count, const void ***inputs);
/* With --selftest, after build_nests: records the values of all tensors on its input, in b->recorded. */
bool run_selftest(Build *b);
/* Returns the index of the n-th output that is not a state; -1: there are fewer. */
int run_output_number(const Build *b, int number);
#endif
