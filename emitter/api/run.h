/* SPDX-License-Identifier: MIT */
#ifndef LW_API_RUN_H
#define LW_API_RUN_H
/* Interprets a model for `run` and `verify`. */
#include "driver/driver.h"

/* Interprets the model as imported `runs` times on the same inputs, after build_read; state carries over from run to
 * run. Inputs are read from .npy files, one for each input that is not a state; if count is 0, they are generated.
 * *inputs and *outputs have the data of each of the model's inputs and outputs, in order. With --layers, the results of
 * the emitted layers are outputs; the data of a layer that the imported model lacks is NULL. Returns false on error.
 * `given`, if it is not NULL, is the data of all inputs, instead of files. */
bool run_interpreted(Build *b, const char *const *input, int count, const void *const *given, int runs,
                     const void ***inputs, const void ***outputs);
/* Prepares only the inputs; call it after build_nests. An input that is a state gets its initial value. */
bool run_inputs(const Build *b, const char *const *input, int count, const void ***inputs);
/* Records the values of all tensors on these inputs in b->recorded, and compares them with the model as imported. */
bool run_recorded(Build *b, const void *const *inputs);
/* With --selftest, records the values of all tensors on the self-test's input, in b->recorded; call it after
 * build_nests. */
bool run_selftest(Build *b);
/* Returns the index of the n-th output that is not a state, or -1 if there are fewer. */
int run_output_number(const Build *b, int number);
#endif
