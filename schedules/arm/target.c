/* SPDX-License-Identifier: MIT */
/* Declares the Arm chain: cortex-m55 -> arm-mve -> arm-dsp -> arm -> generic. A scalar core keeps a few accumulators in
 * registers. Implementations require features; a row of any other chain with these features gets the same schedules:
 *
 *   rows   8-bit products gain by whole rows with sums in registers (runtime/simd/rows.h): any scalar core
 *   words  a 32-bit product serves two pixels: no instruction multiplies pairs
 *   mla    multiply-accumulate in one instruction
 *   long   a 64-bit sum takes a product in one instruction: SMLAL
 *   dsp    products of pairs of 16-bit values: SMLAD
 *   bytes  vectors of bytes: rows, windows, scaled sums and additions at once
 *   panels the weights of several channels are interleaved, for vector lanes or for many scalar registers; no core in
 *          this file has it
 *   mve    128-bit vectors: Helium
 *   fpu    32-bit floats */
#include "schedules/arm/arm.h"

const Target targets_arm[] = {
    { .name = "arm", .base = "generic", .summary = "any 32-bit Arm core", .features = "rows", .lanes = 1,
      .accumulators = 4, .copy_budget = 16, .costs = &costs_arm },
    { .name = "arm-dsp", .base = "arm", .summary = "a core with the DSP extension: pairs of 16-bit values",
      .macros = "defined(__ARM_FEATURE_DSP)", .features = "mla dsp", .accumulators = 8, .integer_accumulators = 6,
      .costs = &costs_m4 },
    { .name = "arm-mve", .base = "arm-dsp", .summary = "a core with Helium: 128-bit vectors",
      .macros = "defined(__ARM_FEATURE_MVE)", .features = "mve bytes", .costs = &costs_mve },
    { .name = "cortex-m0plus", .base = "arm", .summary = "Cortex-M0+", .macros = "defined(__thumb__)",
      .features = "words", .costs = &costs_m0plus, .core = &core_m0plus },
    { .name = "cortex-m3", .base = "arm", .summary = "Cortex-M3", .macros = "defined(__thumb__)",
      .features = "words mla long", .accumulators = 8, .costs = &costs_m3, .core = &core_m3 },
    { .name = "cortex-m4", .base = "arm-dsp", .summary = "Cortex-M4 with its FPU", .features = "fpu",
      .accumulators = 16, .core = &core_m4 },
    { .name = "cortex-m7", .base = "arm-dsp", .summary = "Cortex-M7", .features = "fpu", .accumulators = 16,
      .core = &core_m7 },
    { .name = "cortex-m33", .base = "arm-dsp", .summary = "Cortex-M33 with its DSP extension",
      .features = "fpu", .accumulators = 16, .core = &core_m33 },
    { .name = "cortex-m55", .base = "arm-mve", .summary = "Cortex-M55 with Helium", .features = "fpu",
      .accumulators = 16, .core = &core_m55 },
    { .name = "cortex-m85", .base = "arm-mve", .summary = "Cortex-M85 with Helium", .features = "fpu",
      .accumulators = 16, .core = &core_m85 },
    { 0 }
};
