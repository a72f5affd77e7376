/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_H
#define LW_IR_INTERPRET_H
/* Runs a loop nest as it stands. The nest is compiled to flat register code with strided addresses and then run. */
#include "ir/evaluate.h"
#include "ir/nest.h"

typedef struct RunOptions {
    bool checked;          /* stop at an access outside a window, at a read of an element never written or overwritten in its ring */
    uint64_t shuffle;      /* not 0: parallel loops run in an order shuffled by this seed, vector loops in lockstep */
} RunOptions;

/* Inputs are taken from e; outputs are allocated in e where absent, and written. */
bool interpret(Ctx *cx, const Nest *n, Env *e, const RunOptions *options);
#endif
