/* SPDX-License-Identifier: MIT */
/* Instructions of macros and operations on Cortex-M, at -O3 by gcc 12. The rows follow from counted instructions of the
 * recorded 8-bit networks (make bench-cost): a use, and a point, which is an execution of the innermost statement of
 * the portable form. */
#include "schedules/arm/arm.h"

const Costs costs_arm = { .at = {
    COST_BOTH(FETCH_ROW_I8, 60, 0.75), COST_BOTH(COPY_I8, 14, 0.65), COST_BOTH(COPY_I32, 0, 2.3),
    COST_BOTH(DOT_2X2_I8, 150, 5.6), COST_BOTH(DOT_1X4_I8, 90, 3.75), COST_BOTH(DOT_1X2_I8, 30, 5.5),
    COST_BOTH(WINDOW2_I8, 40, 13), COST_BOTH(WINDOW_I8, 40, 11), COST_BOTH(TAPS2_I8, 40, 8),
    COST_BOTH(TAPS_I8, 40, 9), COST_BOTH(SUM_WINDOW_I8, 30, 3), COST_BOTH(MAX_WINDOW_I8, 30, 3),
    COST_EACH(F32_MUL, 73), COST_EACH(F32_ADD, 97), COST_EACH(F32, 26), COST_EACH(F32_FUNCTION, 2500),
    COST_BOTH(DOT_WORDS_I8, 150, 2.65), COST_BOTH(WORDS_I8, 20, 9), COST_BOTH(WORDS_IF_I8, 30, 10),
    COST_BOTH(UNPACK4_I8, 40, 2.2), COST_BOTH(UNPACK2_I8, 40, 2.2),
    COST_BOTH(DOT_EIGHTS_I8, 100, 3), COST_BOTH(DOT_1X8_EIGHTS_I8, 100, 3), COST_BOTH(DOT_SIXTEENS_I8, 100, 3),
    COST_BOTH(DOT_1X16_SIXTEENS_I8, 100, 3), COST_EACH(I64, 2.4), COST_BOTH(FOREST_LE, 20, 60),
    COST_BOTH(FOREST_LT, 20, 28), COST_EACH(MOVE, 6)
} };

/* ARMv6-M has no 64-bit product; the C library copies a byte at a time. Operations on floats are calls, whose
 * instructions depend on the values (zeros and equal exponents take fewer). The figures are means over networks, with
 * separate figures for values of which a ReLU made zeros. */
const Costs costs_m0plus = { .base = &costs_arm, .at = {
    COST_BOTH(FETCH_ROW_I8, 230, 3.3), COST_BOTH(DOT_WORDS_I8, 200, 2.6), COST_BOTH(WINDOW2_I8, 40, 15.8),
    COST_BOTH(TAPS2_I8, 340, 8.5), COST_BOTH(TAPS_I8, 40, 13), COST_BOTH(DOT_1X4_I8, 180, 3.77),
    COST_BOTH(DOT_1X2_I8, 60, 7.3), COST_EACH(MULHIGH, 6), COST_EACH(EXPQ, 410), COST_EACH(RECIPQ, 410),
    COST_EACH(F32_MUL, 86), COST_EACH(F32_ADD, 95), COST_EACH(F32_DIV, 380), COST_EACH(F32_MIN, 60),
    COST_EACH(F32_MAX, 60), COST_EACH(F32_COMPARE, 38), COST_EACH(F32_TO_INTEGER, 100), COST_EACH(F32_EXP, 1940),
    COST_EACH(F32_EXP2, 2000), COST_EACH(F32_LOG, 2790), COST_EACH(F32_TANH, 2300), COST_EACH(F32_SIGMOID, 2680),
    COST_EACH(F32_ERF, 3920), COST_EACH(F32_SQRT, 320), COST_EACH(F32_RSQRT, 700), COST_EACH(F32_SIN, 2310),
    COST_EACH(F32_COS, 2310), COST_EACH(F32_FLOOR, 277), COST_EACH(F32_CEIL, 277), COST_EACH(F32_TRUNC, 277),
    COST_EACH(F32_ROUND, 437), COST_EACH(F32_NEARBYINT, 196), COST_EACH(F32_MUL_RECTIFIED, 68),
    COST_EACH(F32_ADD_RECTIFIED, 86), COST_EACH(MOVE, 10)
} };

/* MLA; loads extend signs. A 64-bit product is SMULL, and with a constant sum two moves and SMLAL; its upper half
 * is a register. */
const Costs costs_m3 = { .base = &costs_arm, .at = {
    COST_EACH(MLA, 0), COST_EACH(CAST, 0), COST_BOTH(COPY_I8, 17, 1), COST_EACH(I64_MUL, 1), COST_EACH(I64_MLA, 2),
    COST_EACH(I64_SHR, 0), COST_EACH(I64_CAST, 0), COST_BOTH(DOT_2X2_I8, 25, 2.5), COST_BOTH(WINDOW2_I8, 30, 3.4),
    COST_BOTH(WINDOW_I8, 30, 4), COST_BOTH(TAPS2_I8, 30, 3), COST_BOTH(TAPS_I8, 30, 4), COST_EACH(F32_MUL, 43),
    COST_EACH(F32_ADD, 47), COST_EACH(F32, 11), COST_EACH(F32_FUNCTION, 1250), COST_BOTH(DOT_WORDS_I8, 40, 1.5),
    COST_BOTH(WORDS_I8, 15, 6), COST_BOTH(WORDS_IF_I8, 20, 6), COST_BOTH(DOT_LONG_I8, 60, 1.83),
    COST_BOTH(DOT_1X4_LONG_I8, 70, 2.75), COST_BOTH(DOT_EIGHTS_I8, 100, 1.6), COST_BOTH(DOT_1X8_EIGHTS_I8, 100, 1.6),
    COST_BOTH(DOT_SIXTEENS_I8, 100, 1.6), COST_BOTH(DOT_1X16_SIXTEENS_I8, 100, 1.6),
    COST_BOTH(FOREST_LE, 20, 52), COST_BOTH(FOREST_LT, 20, 24),
    COST_EACH(F32_DIV, 150), COST_EACH(F32_MIN, 58), COST_EACH(F32_MAX, 58), COST_EACH(F32_COMPARE, 36),
    COST_EACH(F32_TO_INTEGER, 94), COST_EACH(F32_EXP, 908), COST_EACH(F32_EXP2, 908), COST_EACH(F32_LOG, 1240),
    COST_EACH(F32_TANH, 1100), COST_EACH(F32_SIGMOID, 1250), COST_EACH(F32_ERF, 1860), COST_EACH(F32_SQRT, 317),
    COST_EACH(F32_RSQRT, 470), COST_EACH(F32_SIN, 880), COST_EACH(F32_COS, 880), COST_EACH(F32_FLOOR, 202),
    COST_EACH(F32_CEIL, 202), COST_EACH(F32_TRUNC, 202), COST_EACH(F32_ROUND, 315), COST_EACH(F32_NEARBYINT, 139),
    COST_EACH(F32_MUL_RECTIFIED, 31), COST_EACH(F32_ADD_RECTIFIED, 35)
} };

/* The columns of LW_DOT_COLUMNS_I16 overlap, so each execution of its innermost statement (a point, ir/nest/costs.h)
 * reads three words of each pixel. The products of two channels read x for each channel. */
static const ReadRow reads_dsp[] = {
    { COST_DOT_COLUMNS_I16, 1, 4.0 / 3 }, { COST_DOT_1X2_I8, 1, 1 }, { COST_DOT_2X1_I8, 2, 1 }, { COST_KINDS, 0, 0 }
};
/* gcc tests guards that do not change in a loop before it, and unrolls a loop of at most 200 instructions
 * (max-completely-peeled-insns). */
static const Costs costs_m4_base = { .base = &costs_arm, .reads = reads_dsp, .at = {
    COST_EACH(GUARD, 1), COST_EACH(UNROLLED, 200), COST_BOTH(FOREST_LE, 20, 13), COST_BOTH(FOREST_LT, 20, 10.6),
    COST_EACH(F32_FUNCTION, 40), COST_BOTH(DOT_1X2_I8, 20, 2.5), COST_BOTH(DOT_1X4_I8, 30, 2),
    COST_BOTH(WINDOW_I8, 20, 3), COST_BOTH(TAPS_I8, 20, 3), COST_BOTH(SUM_WINDOW_I8, 30, 1),
    COST_BOTH(MAX_WINDOW_I8, 20, 0.6), COST_BOTH(DOT_2XN_FOURS, 250, 0.86), COST_BOTH(DOT_2X4_FOURS, 250, 0.86),
    COST_BOTH(DOT_1XN_FOURS_I8, 100, 1.2), COST_BOTH(DOT_1X4_FOURS_I8, 100, 1.2), COST_BOTH(DOT_SIXTEENS_I8, 100, 1.5),
    COST_BOTH(DOT_1X16_SIXTEENS_I8, 100, 1.5)
} };

/* Written by `make calibrate CORE=cortex-m4`. */
const Costs costs_m4 = { .base = &costs_m4_base, .at = {
#include "schedules/arm/costs_m4.def"
} };

/* Helium: 16 bytes or four numbers at once. gcc also vectorizes sums of floats. */
const Costs costs_mve = { .base = &costs_m4, .at = {
    COST_EACH(LANES, 4), COST_EACH(LANE_REACH, 254), COST_EACH(FAR_VECTOR, 1), COST_EACH(SPILLED_VECTOR, 4.5),
    COST_EACH(MOVE, 5),
    COST_EACH(LOOP_LANES, 4), COST_EACH(LOOP_ROWS, 1), COST_BOTH(F32_EXP, 50, 77), COST_BOTH(F32_EXP2, 43, 67),
    COST_EACH(F32_EXPM1, 75), COST_EACH(F32_LOG, 77), COST_EACH(F32_LOG2, 77), COST_EACH(F32_LOG10, 83),
    COST_EACH(F32_LOG1P, 112), COST_EACH(F32_TANH, 91), COST_EACH(F32_SIGMOID, 72), COST_BOTH(F32_ERF, 127, 183),
    COST_EACH(F32_SINH, 81), COST_EACH(F32_COSH, 51), COST_EACH(F32_ASINH, 132), COST_EACH(F32_ACOSH, 83),
    COST_EACH(F32_ATANH, 124), COST_EACH(F32_FLOOR, 28), COST_EACH(F32_CEIL, 28), COST_EACH(F32_TRUNC, 26),
    COST_EACH(F32_ROUND, 38), COST_BOTH(F32_NEARBYINT, 1, 1), COST_EACH(F32_POW, 160), COST_BOTH(F32_MUL, 1, 1),
    COST_BOTH(F32_ADD, 1, 1), COST_EACH(MLA, 1), COST_EACH(CAST, 1), COST_BOTH(ADD_I8, 30, 5.2),
    COST_BOTH(COPY_I32, 6, 0.55), COST_BOTH(COPY_I8, 1, 0.1), COST_BOTH(DOT_1X2_I8, 20, 0.3),
    COST_BOTH(DOT_1X4_I8, 24, 0.135), COST_BOTH(DOT_2X2_I8, 13, 0.122), COST_BOTH(FETCH_ROW_I8, 54, 0.12),
    COST_BOTH(SCALE_I8, 14, 2.75), COST_BOTH(SCALE_EACH_I8, 14, 3.5), COST_BOTH(SUM_WINDOW_I8, 25, 0.2),
    COST_BOTH(TAPS_I8, 30, 0.88), COST_BOTH(TAPS2_I8, 34, 0.69), COST_BOTH(WINDOW_I8, 30, 0.88),
    COST_BOTH(WINDOW2_I8, 40, 0.69), COST_BOTH(MAX_WINDOW_I8, 23, 0.15), COST_BOTH(DOT_1XN_I8, 52, 0.156),
    COST_BOTH(DOT_2XN_I8, 60, 0.136), COST_BOTH(WINDOW2_TILES_I8, 45, 0.78), COST_BOTH(TAPS2_TILES_I8, 40, 0.96),
    COST_BOTH(COPY2_I32, 8, 0.5), COST_BOTH(SCALE2_EACH_I8, 22, 1.95), COST_BOTH(COPY_PAIR_I32, 8, 0.63),
    COST_BOTH(SCALE_PAIR_I8, 22, 1.95), COST_BOTH(SCALE_PAIR_ALL_I8, 20, 3), COST_BOTH(PANEL_PAIR_I8, 120, 0.112),
    COST_BOTH(WINDOW_PANEL_PAIR_I8, 130, 0.112), COST_BOTH(NIBBLES_PAIR_I8, 200, 0.112),
    COST_BOTH(WINDOW_NIBBLES_PAIR_I8, 210, 0.112), COST_BOTH(NIBBLES_I8, 150, 0.16),
    COST_BOTH(WINDOW_NIBBLES_I8, 160, 0.16)
} };

/* cycles: on M0+, M3 and M4, computed from the executed instructions of the recorded networks, each with the cycles of
 * the core's reference manual; loads and stores are paired, and taken branches refill the pipeline, as the manual
 * states. For the other cores, no such table is public. M7 and M33 have the M4's cycles, divided by the ratio of the
 * published CoreMark per MHz (M4 3.54, M33 4.10, M7 5.29). On M55 and M85, a vector instruction takes two cycles, one
 * of which overlaps with a neighbouring instruction of a different kind. size_level and stack_frames: measured on the
 * recorded networks (make bench-report). M7, M33 and M85 have the figures of the core with the same instructions. */
static const char by_manual[] = "its manual's timing of executed instructions";
static const char by_coremark[] = "the Cortex-M4's, scaled by CoreMark: not measured";
static const char by_beats[] = "two cycles per vector instruction, overlapped: not measured";
enum { ELF_ARM = 40 };
#define FIGURES_DSP .size_level = { 1.08, 0.72 }, .stack_frames = 340, .elf_machine = ELF_ARM
#define FIGURES_MVE .size_level = { 1.4, 0.68 }, .stack_frames = 472, .elf_machine = ELF_ARM, .architecture = 6

const CoreFigures
    core_m0plus = { .cycles = { 1.25, 1.32 }, .cycles_from = by_manual, .size_level = { 1.28, 1 }, .stack_frames = 360,
                    .elf_machine = ELF_ARM, .architecture = 1 },
    core_m3 = { .cycles = { 1.81, 1.08 }, .cycles_from = by_manual, .elf_machine = ELF_ARM, .architecture = 3 },
    core_m4 = { .cycles = { 1.39, 1.19 }, .cycles_from = by_manual, FIGURES_DSP, .architecture = 4 },
    core_m7 = { .cycles = { 0.93, 0.80 }, .cycles_from = by_coremark, FIGURES_DSP, .architecture = 4 },
    core_m33 = { .cycles = { 1.20, 1.03 }, .cycles_from = by_coremark, FIGURES_DSP, .architecture = 5 },
    core_m55 = { .cycles = { 1.5, 1.1 }, .cycles_from = by_beats, FIGURES_MVE },
    core_m85 = { .cycles = { 1.2, 0.8 }, .cycles_from = by_beats, FIGURES_MVE };
