/* SPDX-License-Identifier: MIT */
/* RISC-V cores. 31 registers hold larger tiles of sums than an Arm core's 13, so `mla` is stated though
 * the product of integers is an instruction of its own: patches gain as on cores that have one. Floats have a fused
 * multiply-add. Panels keep four pixels by four channels in registers. */
#include "graph/dag/target.h"
#include "schedules/riscv/costs.h"

const Target targets_riscv[] = {
    { .name = "rv32imc", .base = "generic", .summary = "32-bit RISC-V without an FPU: ESP32-C3",
      .macros = "defined(__riscv_mul)", .features = "rows mla panels", .lanes = 1, .accumulators = 12,
      .copy_budget = 16, .costs = &costs_rv32, .core = &core_rv32 },
    { .name = "rv64gc", .base = "generic", .summary = "64-bit RISC-V with floats",
      .macros = "defined(__riscv_mul)", .features = "rows mla panels fpu fma", .lanes = 1, .accumulators = 20,
      .copy_budget = 16, .costs = &costs_rv64 },
    { .name = "rv64gcv", .base = "rv64gc", .summary = "64-bit RISC-V with vectors 1.0 of at least 128 bits",
      .flags = "-march=rv64gcv", .macros = "defined(__riscv_v_intrinsic) && __riscv_v_intrinsic >= 11000",
      .machine = "getauxval(16) >> ('v' - 'a') & 1", .features = "bytes rvv", .costs = &costs_rvv },
    { 0 }
};
