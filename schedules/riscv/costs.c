/* SPDX-License-Identifier: MIT */
/* States the instructions of macros and operations on RISC-V, at -O3 with gcc 12, and with vectors with clang 16
 * (schedules/arm/costs.c explains how rows are found). Loads extend signs. */
#include "schedules/riscv/costs.h"

static const CostRow rows_scalar[] = {
    { "cast", 0, 0 },                { "LW_FETCH_ROW_I8", 60, 0.65 },{ "LW_COPY_I8", 14, 0.8 },
    { "LW_PANEL5_I8", 20, 2.75 },    { "LW_PANEL4_I8", 22, 2.62 },   { "LW_PANEL3_I8", 20, 2.7 },
    { "LW_PANEL2_I8", 20, 2.85 },    { "LW_PANEL_I8", 20, 3.4 },     { "LW_WINDOW2_I8", 20, 3.6 },
    { "LW_WINDOW_I8", 20, 4.2 },     { "LW_TAPS2_I8", 20, 3.2 },     { "LW_TAPS_I8", 20, 4 },
    { "LW_DOT_2X2_I8", 25, 3.3 },    { "LW_DOT_1X4_I8", 30, 3.5 },   { "LW_DOT_1X2_I8", 30, 3.5 },
    { "LW_SUM_WINDOW_I8", 30, 3 },   { "LW_MAX_WINDOW_I8", 30, 3 },  { NULL, 0, 0 }
};
static const Costs costs_scalar = { NULL, rows_scalar, NULL };

static const CostRow rows_rv32[] = {
    { "f32 mul", 60, 0 },            { "f32 add", 99, 0 },           { "f32 div", 467, 0 },
    { "f32", 28, 0 },                { "f32 function", 3110, 0 },    { NULL, 0, 0 }
};
const Costs costs_rv32 = { &costs_scalar, rows_rv32, NULL };

/* A 32-bit sum is extended to a register, as is an index under a guard, which gcc computes anew. Comparisons
 * branch. */
static const CostRow rows_rv64[] = {
    { "cast", 1, 0 },                { "f32", 1.05, 0 },             { "f32 function", 75, 0 },
    { "guard", 1, 0 },               { "guarded index", 1, 0 },      { NULL, 0, 0 }
};
const Costs costs_rv64 = { &costs_scalar, rows_rv64, NULL };

/* clang branches on a maximum, and tests the operand of a minimum for NaN. Its vectors of a loop have four floats; a
 * copy of a loaded value that only some paths loaded takes a new address. */
static const CostRow rows_rvv[] = {
    { "f32 max", 3.5, 0 },           { "f32 min", 5.5, 0 },          { "f32 loop lanes", 4, 0 },
    { "repeated load", 3, 0 },       { "guarded index", 0.5, 0 },    { "unrolled text", 300, 0 },
    { "LW_ADD_I8", 30, 0.2 },        { "LW_COPY_I32", 5, 0 },        { "LW_COPY_I8", 7, 0.05 },
    { "LW_FETCH_ROW_I8", 35, 0.05 }, { "LW_PANEL4_I8", 85, 0.165 },  { "LW_PANEL2_I8", 60, 0.2 },
    { "LW_PANEL_I8", 15, 0.27 },     { "LW_SCALE_EACH_I8", 22, 0 },  { "LW_SCALE_I8", 12, 0 },
    { "LW_SUM_WINDOW_I8", 30, 0.7 }, { "LW_MAX_WINDOW_I8", 25, 0.1 },{ "LW_TAPS2_I8", 55, 0.7 },
    { "LW_TAPS_I8", 20, 0.45 },      { "LW_WINDOW2_I8", 28, 0.2 },   { "LW_WINDOW_I8", 20, 0.3 },
    { "LW_DOT_1X2_I8", 40, 0.4 },    { "LW_DOT_1X4_I8", 80, 0.4 },   { "LW_DOT_2X2_I8", 50, 0.3 },
    { NULL, 0, 0 }
};
const Costs costs_rvv = { &costs_rv64, rows_rvv, NULL };

/* Loads and taken branches take two cycles, products one, by the manual of the open core Ibex. */
enum { ELF_RISCV = 243 };
const CoreFigures core_rv32 = { .cycles = { 1.4, 1.3 }, .elf_machine = ELF_RISCV,
                                .cycles_from = "loads and taken branches of two cycles: not measured" };
