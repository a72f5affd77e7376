/* SPDX-License-Identifier: MIT */
/* The Arm chain: cortex-m4 -> arm -> generic. A scalar core keeps a few accumulators in registers. */
#include "graph/target.h"

const Target targets_arm[] = {
    { .name = "arm", .base = "generic", .summary = "any 32-bit Arm core", .features = "", .lanes = 1, .accumulators = 4,
      .copy_budget = 16 },
    { .name = "cortex-m4", .base = "arm", .summary = "Cortex-M4 with its FPU", .features = "dsp fpu", .accumulators = 16 },
    { 0 }
};
