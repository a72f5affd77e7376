/* SPDX-License-Identifier: MIT */
/* Instructions of macros and operations on Cortex-M, at -O3 by gcc 12. The rows follow from counted instructions of the
 * recorded 8-bit networks (make bench-cost): a use, and a point, which is an execution of the innermost statement of
 * the portable form. */
#include "schedules/arm/arm.h"

static const CostRow rows_arm[] = {
    { "LW_FETCH_ROW_I8", 60, 0.75 }, { "LW_COPY_I8", 14, 0.65 },     { "LW_COPY_I32", 0, 2.3 },
    { "LW_DOT_2X2_I8", 150, 5.6 },   { "LW_DOT_1X4_I8", 90, 3.75 },   { "LW_DOT_1X2_I8", 30, 5.5 },
    { "LW_WINDOW2_I8", 40, 13 },     { "LW_WINDOW_I8", 40, 11 },     { "LW_TAPS2_I8", 40, 8 },
    { "LW_TAPS_I8", 40, 9 },         { "LW_SUM_WINDOW_I8", 30, 3 },  { "LW_MAX_WINDOW_I8", 30, 3 },
    { "f32 mul", 73, 0 },            { "f32 add", 97, 0 },           { "f32", 26, 0 },
    { "f32 function", 2500, 0 },     { "LW_DOT_WORDS_I8", 150, 2.65 },
    { "LW_WORDS_I8", 20, 9 },        { "LW_WORDS_IF_I8", 30, 10 },   { "i64", 2.4, 0 },
    { "LW_FOREST_LE", 20, 60 },      { "LW_FOREST_LT", 20, 28 },     { NULL, 0, 0 }
};
const Costs costs_arm = { NULL, rows_arm, NULL };

/* ARMv6-M has no 64-bit product; the C library copies a byte at a time. Operations on floats are calls, whose
 * instructions depend on the values (zeros and equal exponents take fewer): their mean over networks, apart for
 * values of which a ReLU made zeros. */
static const CostRow rows_m0plus[] = {
    { "LW_FETCH_ROW_I8", 230, 3.3 }, { "LW_DOT_WORDS_I8", 200, 2.6 }, { "LW_WINDOW2_I8", 40, 15.8 },
    { "LW_TAPS2_I8", 340, 8.5 },     { "LW_TAPS_I8", 40, 13 },        { "LW_DOT_1X4_I8", 180, 3.77 },
    { "LW_DOT_1X2_I8", 60, 7.3 },    { "mulhigh", 6, 0 },             { "expq", 410, 0 },
    { "recipq", 410, 0 },            { "f32 mul", 86, 0 },            { "f32 add", 95, 0 },
    { "f32 div", 380, 0 },           { "f32 min", 60, 0 },            { "f32 max", 60, 0 },
    { "f32 compare", 38, 0 },        { "f32 to integer", 100, 0 },    { "f32 exp", 1940, 0 },
    { "f32 exp2", 2000, 0 },         { "f32 log", 2790, 0 },          { "f32 tanh", 2300, 0 },
    { "f32 sigmoid", 2680, 0 },      { "f32 erf", 3920, 0 },          { "f32 sqrt", 320, 0 },
    { "f32 rsqrt", 700, 0 },         { "f32 sin", 2310, 0 },          { "f32 cos", 2310, 0 },
    { "f32 floor", 277, 0 },         { "f32 ceil", 277, 0 },          { "f32 trunc", 277, 0 },
    { "f32 round", 437, 0 },         { "f32 nearbyint", 196, 0 },
    { "f32 mul rectified", 68, 0 },  { "f32 add rectified", 86, 0 },
    { NULL, 0, 0 }
};
const Costs costs_m0plus = { &costs_arm, rows_m0plus, NULL };

/* MLA; loads extend signs. A 64-bit product is SMULL, and with a constant sum two moves and SMLAL; its upper half
 * is a register. */
static const CostRow rows_m3[] = {
    { "mla", 0, 0 },                 { "cast", 0, 0 },               { "LW_COPY_I8", 17, 1 },
    { "i64 mul", 1, 0 },             { "i64 mla", 2, 0 },            { "i64 >>", 0, 0 },
    { "i64 cast", 0, 0 },
    { "LW_DOT_2X2_I8", 25, 2.5 },    { "LW_WINDOW2_I8", 30, 3.4 },   { "LW_WINDOW_I8", 30, 4 },
    { "LW_TAPS2_I8", 30, 3 },        { "LW_TAPS_I8", 30, 4 },        { "f32 mul", 43, 0 },
    { "f32 add", 47, 0 },            { "f32", 11, 0 },
    { "f32 function", 1250, 0 },     { "LW_DOT_WORDS_I8", 40, 1.5 }, { "LW_WORDS_I8", 15, 6 },
    { "LW_WORDS_IF_I8", 20, 6 },     { "LW_DOT_LONG_I8", 60, 1.83 }, { "LW_DOT_1X4_LONG_I8", 70, 2.75 },
    { "LW_FOREST_LE", 20, 52 },      { "LW_FOREST_LT", 20, 24 },
    { "f32 div", 150, 0 },           { "f32 min", 58, 0 },            { "f32 max", 58, 0 },
    { "f32 compare", 36, 0 },        { "f32 to integer", 94, 0 },     { "f32 exp", 908, 0 },
    { "f32 exp2", 908, 0 },          { "f32 log", 1240, 0 },          { "f32 tanh", 1100, 0 },
    { "f32 sigmoid", 1250, 0 },      { "f32 erf", 1860, 0 },          { "f32 sqrt", 317, 0 },
    { "f32 rsqrt", 470, 0 },         { "f32 sin", 880, 0 },           { "f32 cos", 880, 0 },
    { "f32 floor", 202, 0 },         { "f32 ceil", 202, 0 },          { "f32 trunc", 202, 0 },
    { "f32 round", 315, 0 },         { "f32 nearbyint", 139, 0 },
    { "f32 mul rectified", 31, 0 },  { "f32 add rectified", 35, 0 },
    { NULL, 0, 0 }
};
const Costs costs_m3 = { &costs_arm, rows_m3, NULL };

/* Functions: counted on values of a normal distribution. Guards that do not change in a loop are often tested before
 * it. */
static const CostRow rows_fpu[] = {
    { "f32 mul", 1, 0 },             { "f32 add", 1, 0 },            { "f32 div", 1, 0 },
    { "f32", 1, 0 },                 { "f32 function", 40, 0 },      { "guard", 1, 0 },
    { "i64 mul", 1, 0 },             { "i64 mla", 2, 0 },            { "i64 >>", 0, 0 },
    { "i64 cast", 0, 0 },
    { "LW_FOREST_LE", 20, 13 },      { "LW_FOREST_LT", 20, 10.6 },
    { "f32 min", 3, 0 },             { "f32 max", 3, 0 },             { "f32 to integer", 12, 0 },
    { "f32 exp", 30, 0 },            { "f32 exp2", 38, 0 },           { "f32 expm1", 58, 0 },
    { "f32 log", 54, 0 },            { "f32 log2", 54, 0 },           { "f32 log10", 60, 0 },
    { "f32 log1p", 70, 0 },          { "f32 tanh", 38, 0 },           { "f32 sigmoid", 38, 0 },
    { "f32 erf", 80, 0 },            { "f32 sin", 100, 0 },           { "f32 cos", 98, 0 },
    { "f32 tan", 118, 0 },           { "f32 asin", 39, 0 },           { "f32 acos", 36, 0 },
    { "f32 atan", 40, 0 },           { "f32 sinh", 48, 0 },           { "f32 cosh", 35, 0 },
    { "f32 asinh", 94, 0 },          { "f32 acosh", 58, 0 },          { "f32 atanh", 87, 0 },
    { "f32 sqrt", 3, 0 },            { "f32 rsqrt", 4, 0 },           { "f32 floor", 18, 0 },
    { "f32 ceil", 22, 0 },           { "f32 trunc", 20, 0 },          { "f32 round", 31, 0 },
    { "f32 nearbyint", 8, 0 },       { "f32 pow", 4300, 0 },
    { "f32 fmod", 80, 0 },
    { NULL, 0, 0 }
};
static const Costs costs_fpu = { &costs_arm, rows_fpu, NULL };

/* SMLAD, SXTB16, MLA. */
static const CostRow rows_dsp[] = {
    { "mla", 0, 0 },                 { "cast", 0, 0 },
    { "LW_FETCH_ROW_I8", 58, 0.65 }, { "LW_DOT_1X2_I8", 20, 2.5 },   { "LW_DOT_1X4_I8", 30, 2 },
    { "LW_DOT_1X4_PAIRS_I8", 40, 1.14 },                             { "LW_DOT_2X4_I16", 62, 0.745 },
    { "LW_DOT_2X2_I16", 30, 1 },     { "LW_PAIRS_I16", 26, 1.45 },   { "LW_COPY_I16", 20, 1.3 },
    { "LW_WINDOW2_I8", 20, 1.85 },   { "LW_WINDOW_I8", 20, 3 },      { "LW_TAPS2_I8", 20, 1.95 },
    { "LW_TAPS_I8", 20, 3 },         { "LW_SUM_WINDOW_I8", 30, 1 },  { "LW_MAX_WINDOW_I8", 20, 0.6 },
    { "LW_DOT_COLUMNS_I16", 12, 0.4 },                               { "LW_COLUMNS_I16", 20, 0.7 },
    { NULL, 0, 0 }
};

/* The columns of LW_DOT_COLUMNS_I16 overlap, so each execution of its innermost statement (a point, ir/nest/costs.h)
 * reads three words of each pixel. The products of two channels read x for each channel. */
static const ReadRow reads_dsp[] = {
    { "LW_DOT_COLUMNS_I16", 1, 4.0 / 3 }, { "LW_DOT_1X2_I8", 1, 1 }, { "LW_DOT_2X1_I8", 2, 1 }, { NULL, 0, 0 }
};
const Costs costs_dsp = { &costs_fpu, rows_dsp, reads_dsp };

/* Helium: 16 bytes or four numbers at once. gcc also vectorizes sums of floats. */
static const CostRow rows_mve[] = {
    { "f32 lanes", 4, 254 },         { "far lanes", 1, 4.5 },         { "f32 loop lanes", 4, 1 },
    { "f32 exp", 50, 77 },           { "f32 exp2", 43, 67 },          { "f32 expm1", 75, 0 },
    { "f32 log", 77, 0 },            { "f32 log2", 77, 0 },           { "f32 log10", 83, 0 },
    { "f32 log1p", 112, 0 },         { "f32 tanh", 91, 0 },           { "f32 sigmoid", 72, 0 },
    { "f32 erf", 127, 183 },         { "f32 sinh", 81, 0 },           { "f32 cosh", 51, 0 },
    { "f32 asinh", 132, 0 },         { "f32 acosh", 83, 0 },          { "f32 atanh", 124, 0 },
    { "f32 floor", 28, 0 },          { "f32 ceil", 28, 0 },           { "f32 trunc", 26, 0 },
    { "f32 round", 38, 0 },          { "f32 nearbyint", 1, 1 },       { "f32 pow", 160, 0 },
    { "f32 mul", 1, 1 },             { "f32 add", 1, 1 },
    { "mla", 1, 0 },                 { "cast", 1, 0 },
    { "LW_ADD_I8", 30, 5.2 },        { "LW_COPY_I32", 6, 0.55 },     { "LW_COPY_I8", 1, 0.1 },
    { "LW_DOT_1X2_I8", 20, 0.3 },    { "LW_DOT_1X4_I8", 24, 0.135 }, { "LW_DOT_2X2_I8", 13, 0.122 },
    { "LW_FETCH_ROW_I8", 54, 0.12 }, { "LW_SCALE_I8", 14, 2.75 },    { "LW_SCALE_EACH_I8", 14, 3.5 },
    { "LW_SUM_WINDOW_I8", 25, 0.2 }, { "LW_TAPS_I8", 30, 0.88 },     { "LW_TAPS2_I8", 34, 0.69 },
    { "LW_WINDOW_I8", 30, 0.88 },    { "LW_WINDOW2_I8", 40, 0.69 },  { "LW_MAX_WINDOW_I8", 23, 0.15 },
    { "LW_DOT_1XN_I8", 52, 0.156 },  { "LW_DOT_2XN_I8", 60, 0.136 },
    { "LW_WINDOW2_TILES_I8", 45, 0.78 },                             { "LW_TAPS2_TILES_I8", 40, 0.96 },
    { "LW_COPY2_I32", 8, 0.5 },      { "LW_SCALE2_EACH_I8", 22, 1.95 },
    { "LW_COPY_PAIR_I32", 8, 0.63 }, { "LW_SCALE_PAIR_I8", 22, 1.95 }, { "LW_SCALE_PAIR_ALL_I8", 20, 3 },
    { "LW_PANEL_PAIR_I8", 120, 0.112 }, { "LW_WINDOW_PANEL_PAIR_I8", 130, 0.112 }, { NULL, 0, 0 }
};
const Costs costs_mve = { &costs_dsp, rows_mve, NULL };

/* cycles: of M0+, M3 and M4, from the executed instructions of the recorded networks, each with the cycles of the core's
 * reference manual; loads and stores are paired, and taken branches refill the pipeline, as the manual states. For the
 * other cores, no such table is public. M7 and M33 have the M4's cycles, divided by the ratio of the published CoreMark
 * per MHz (M4 3.54, M33 4.10, M7 5.29). On M55 and M85, a vector instruction takes two cycles, and overlaps by one with
 * a neighbouring instruction of a different kind.
 * size_level and stack_frames: from the recorded networks (make bench-report). M7, M33 and M85 have the figures of the
 * core with the same instructions. */
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
