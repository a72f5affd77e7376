/* SPDX-License-Identifier: MIT */
/* AArch64: 32 128-bit vector registers and a fused multiply-add, which also takes one lane of a vector for all.
 * Bytes are multiplied in panels (schedules/arm/packed.c): by SMULL, SMLAL and SADALP, by SDOT where the core has
 * `dotprod`, by SMMLA where it has `i8mm`. The vectors of 32-bit Arm flush subnormal floats to zero, so they hold only
 * bytes, and floats are scalar. */
#include "graph/dag/target.h"

const Target targets_neon[] = {
    { .name = "aarch64", .base = "generic", .summary = "64-bit Arm with NEON",
      .macros = "defined(__aarch64__) && defined(__ARM_NEON)",
      .features = "vectors rows bytes panels neon fma", .lanes = 8, .accumulators = 24, .vector_bytes = 16 },
    { .name = "aarch64-dotprod", .base = "aarch64", .summary = "with products of four bytes in a lane",
      .flags = "-march=armv8.2-a+dotprod", .macros = "defined(__ARM_FEATURE_DOTPROD)",
      .machine = "getauxval(16) >> 20 & 1", .features = "dotprod" },
    { .name = "aarch64-i8mm", .base = "aarch64-dotprod", .summary = "with products of rows of eight bytes",
      .flags = "-march=armv8.2-a+dotprod+i8mm", .macros = "defined(__ARM_FEATURE_MATMUL_INT8)",
      .machine = "getauxval(26) >> 13 & 1", .features = "i8mm" },
    { .name = "armv7-neon", .base = "generic", .summary = "32-bit Arm with NEON and VFPv4: Cortex-A7",
      .macros = "defined(__ARM_NEON)", .features = "rows bytes panels neon fpu fma", .lanes = 1, .accumulators = 12,
      .copy_budget = 16 },
    { .name = "cortex-a53", .base = "aarch64", .summary = "Cortex-A53" },
    { .name = "cortex-a72", .base = "aarch64", .summary = "Cortex-A72" },
    { 0 }
};
