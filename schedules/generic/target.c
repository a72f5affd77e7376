/* SPDX-License-Identifier: MIT */
/* Declares the root of all targets, plain C99 for any core, and cores that need no instructions but only tiles that fit
 * their registers. An AVR holds two 32-bit sums in eight of its registers beside operands and addresses; four sums and
 * their operands fit the sixteen registers of an Xtensa core. Both numbers of sums were chosen by counting: on simavr
 * and, with the compiler of the LX106, which lacks the sign extension of an LX6, on qemu-xtensa. */
#include "graph/dag/target.h"

const Target targets_generic[] = {
    { .name = "generic", .summary = "plain C99 for any core; inner loops that a C compiler can vectorize",
      .features = "", .lanes = 16, .accumulators = 12, .copy_budget = 400, .unroll_budget = 64 },
    { .name = "avr", .base = "generic", .summary = "8-bit AVR: plain C, two sums in registers", .lanes = 1,
      .accumulators = 2, .copy_budget = 16, .unroll_budget = 1 },
    { .name = "xtensa", .base = "generic", .summary = "Xtensa LX6 and LX7 as plain C: ESP32", .features = "rows",
      .lanes = 1, .accumulators = 4, .copy_budget = 16 },
    { 0 }
};
