/* SPDX-License-Identifier: MIT */
/* The root of all targets: plain C99 for any core. */
#include "graph/dag/target.h"

const Target targets_generic[] = {
    { .name = "generic", .summary = "plain C99 for any core; inner loops that a C compiler can vectorize",
      .features = "", .lanes = 16, .accumulators = 12, .copy_budget = 400, .unroll_budget = 64 },
    { 0 }
};
