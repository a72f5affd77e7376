/* SPDX-License-Identifier: MIT */
#ifndef LW_RUN_H
#define LW_RUN_H
/* The model in the interpreter, for `run` and for `verify`. */
#include "driver/driver.h"

/* After build_read: so many runs on the same inputs, each with the state that the one before has left. Inputs come from .npy files,
 * one for each that is no state, or are made up (count 0). inputs and outputs: [of the model], in its order. False on error. */
bool run_interpreted(Build *b, const char *const *input, int count, int runs, void ***inputs, void ***outputs);
/* The model's output with this number among those that are no state; -1: there are fewer. */
int run_output_number(const Build *b, int number);
#endif
