/* SPDX-License-Identifier: MIT */
/* AArch64: 32 vector registers of 128 bits and a fused multiply-add, which also takes one lane of a vector for all
 * (`lanes`). */
#include "graph/dag/target.h"

const Target targets_neon[] = {
    { .name = "aarch64", .base = "generic", .summary = "64-bit Arm with NEON", .features = "vectors neon fma",
      .lanes = 8, .accumulators = 24, .vector_bytes = 16 },
    { .name = "cortex-a53", .base = "aarch64", .summary = "Cortex-A53" },
    { .name = "cortex-a72", .base = "aarch64", .summary = "Cortex-A72" },
    { 0 }
};
