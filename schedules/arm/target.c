/* SPDX-License-Identifier: MIT */
/* The Arm chain: cortex-m55 -> arm-mve -> arm-dsp -> arm -> generic. A scalar core keeps a few accumulators in registers. */
#include "graph/dag/target.h"

const Target targets_arm[] = {
    { .name = "arm", .base = "generic", .summary = "any 32-bit Arm core", .features = "", .lanes = 1, .accumulators = 4,
      .copy_budget = 16 },
    { .name = "arm-dsp", .base = "arm", .summary = "a core with the DSP extension: pairs of 16 bits", .features = "dsp", .accumulators = 8 },
    { .name = "arm-mve", .base = "arm-dsp", .summary = "a core with Helium: vectors of 128 bits", .features = "dsp mve" },
    { .name = "cortex-m0plus", .base = "arm", .summary = "Cortex-M0+", .features = "" },
    { .name = "cortex-m3", .base = "arm", .summary = "Cortex-M3", .features = "", .accumulators = 8 },
    { .name = "cortex-m4", .base = "arm-dsp", .summary = "Cortex-M4 with its FPU", .features = "dsp fpu", .accumulators = 16 },
    { .name = "cortex-m7", .base = "arm-dsp", .summary = "Cortex-M7", .features = "dsp fpu", .accumulators = 16 },
    { .name = "cortex-m33", .base = "arm-dsp", .summary = "Cortex-M33 with its DSP extension", .features = "dsp fpu", .accumulators = 16 },
    { .name = "cortex-m55", .base = "arm-mve", .summary = "Cortex-M55 with Helium", .features = "dsp mve fpu", .accumulators = 16 },
    { .name = "cortex-m85", .base = "arm-mve", .summary = "Cortex-M85 with Helium", .features = "dsp mve fpu", .accumulators = 16 },
    { 0 }
};
