/* SPDX-License-Identifier: MIT */
/* States the instructions of macros and operations on RISC-V, at -O3 with gcc 12, and with vectors with clang 16
 * (schedules/arm/costs.c explains how rows are found). Loads extend signs. */
#include "schedules/riscv/costs.h"

static const Costs costs_scalar = { .at = {
    COST_EACH(CAST, 0), COST_BOTH(FETCH_ROW_I8, 60, 0.65), COST_BOTH(COPY_I8, 14, 0.8),
    COST_BOTH(PANEL5_I8, 20, 2.75), COST_BOTH(PANEL4_I8, 22, 2.62), COST_BOTH(PANEL3_I8, 20, 2.7),
    COST_BOTH(PANEL2_I8, 20, 2.85), COST_BOTH(PANEL_I8, 20, 3.4), COST_BOTH(WINDOW2_I8, 20, 3.6),
    COST_BOTH(WINDOW_I8, 20, 4.2), COST_BOTH(TAPS2_I8, 20, 3.2), COST_BOTH(TAPS_I8, 20, 4),
    COST_BOTH(DOT_2X2_I8, 25, 3.3), COST_BOTH(DOT_1X4_I8, 30, 3.5), COST_BOTH(DOT_1X2_I8, 30, 3.5),
    COST_BOTH(SUM_WINDOW_I8, 30, 3), COST_BOTH(MAX_WINDOW_I8, 30, 3), COST_BOTH(UNPACK4_I8, 40, 2.2),
    COST_BOTH(UNPACK2_I8, 40, 2.2)
} };

const Costs costs_rv32 = { .base = &costs_scalar, .at = {
    COST_EACH(F32_MUL, 60), COST_EACH(F32_ADD, 99), COST_EACH(F32_DIV, 467), COST_EACH(F32, 28),
    COST_EACH(F32_FUNCTION, 3110)
} };

/* A 32-bit sum is extended to a register, as is an index under a guard, which gcc computes anew. Comparisons
 * branch. */
const Costs costs_rv64 = { .base = &costs_scalar, .at = {
    COST_EACH(CAST, 1), COST_EACH(F32, 1.05), COST_EACH(F32_FUNCTION, 75), COST_EACH(GUARD, 1),
    COST_EACH(GUARDED_INDEX, 1)
} };

/* clang branches on a maximum, and tests the operand of a minimum for NaN. clang's vectors of a loop have four floats.
 * A copy of a value that only some paths loaded takes a new address. */
const Costs costs_rvv = { .base = &costs_rv64, .at = {
    COST_EACH(F32_MAX, 3.5), COST_EACH(F32_MIN, 5.5), COST_EACH(LOOP_LANES, 4), COST_EACH(REPEATED_LOAD, 3),
    COST_EACH(GUARDED_INDEX, 0.5), COST_EACH(UNROLLED, 300), COST_BOTH(ADD_I8, 30, 0.2), COST_EACH(COPY_I32, 5),
    COST_BOTH(COPY_I8, 7, 0.05), COST_BOTH(FETCH_ROW_I8, 35, 0.05), COST_BOTH(PANEL4_I8, 85, 0.165),
    COST_BOTH(PANEL2_I8, 60, 0.2), COST_BOTH(PANEL_I8, 15, 0.27), COST_EACH(SCALE_EACH_I8, 22),
    COST_EACH(SCALE_I8, 12), COST_BOTH(SUM_WINDOW_I8, 30, 0.7), COST_BOTH(MAX_WINDOW_I8, 25, 0.1),
    COST_BOTH(TAPS2_I8, 55, 0.7), COST_BOTH(TAPS_I8, 20, 0.45), COST_BOTH(WINDOW2_I8, 28, 0.2),
    COST_BOTH(WINDOW_I8, 20, 0.3), COST_BOTH(DOT_1X2_I8, 40, 0.4), COST_BOTH(DOT_1X4_I8, 80, 0.4),
    COST_BOTH(DOT_2X2_I8, 50, 0.3)
} };

/* Loads and taken branches take two cycles, products one, by the manual of the open core Ibex. */
enum { ELF_RISCV = 243 };
const CoreFigures core_rv32 = { .cycles = { 1.4, 1.3 }, .elf_machine = ELF_RISCV,
                                .cycles_from = "loads and taken branches of two cycles: not measured" };
