/* SPDX-License-Identifier: MIT */
/* Declares the x86-64 chain: each instruction set includes the previous one and has wider registers. Vector loops are
 * printed through the headers of runtime/simd, so the emitted text still builds for any processor. The feature
 * `vectors` selects the float schedules of schedules/vector; `rows`, `bytes` and `panels` select the schedules of 8-bit
 * layers, whose macros are in runtime/simd/x86_rows.h and x86_panels.h. `vnni` stores weights in the layout of
 * VPDPBUSD. */
#include "graph/dag/target.h"

#define HAS(name) "__builtin_cpu_supports(\"" name "\")"
#define HAS_AVX2 HAS("avx2") " && " HAS("fma")
#define HAS_AVX512 HAS_AVX2 " && " HAS("avx512f") " && " HAS("avx512bw") " && " HAS("avx512vl")
#define AVX2_MACROS "defined(__AVX2__) && defined(__FMA__)"
#define AVX512_MACROS AVX2_MACROS " && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)"

const Target targets_x86[] = {
    { .name = "x86", .base = "generic", .summary = "x86-64 with SSE 4.1: vectors of 4 floats",
      .flags = "-msse4.1", .macros = "defined(__SSE4_1__)", .machine = HAS("sse4.1"),
      .features = "vectors rows bytes panels sse4", .lanes = 8, .vector_bytes = 16, .vector_registers = 16 },
    { .name = "x86-avx2", .base = "x86", .summary = "x86-64 with AVX2 and FMA: vectors of 8",
      .flags = "-mavx2 -mfma", .macros = AVX2_MACROS, .machine = HAS_AVX2, .features = "avx2 fma", .lanes = 16,
      .vector_bytes = 32 },
    { .name = "x86-avx512", .base = "x86-avx2", .summary = "x86-64 with AVX-512F: vectors of 16",
      .flags = "-mavx2 -mfma -mavx512f -mavx512bw -mavx512vl", .macros = AVX512_MACROS, .machine = HAS_AVX512,
      .features = "avx512", .lanes = 32, .accumulators = 28, .vector_bytes = 64, .vector_registers = 32 },
    { .name = "x86-vnni", .base = "x86-avx512", .summary = "with products of four bytes in a lane: AVX-512 VNNI",
      .flags = "-mavx2 -mfma -mavx512f -mavx512bw -mavx512vl -mavx512vnni",
      .macros = AVX512_MACROS " && defined(__AVX512VNNI__)", .machine = HAS_AVX512 " && " HAS("avx512vnni"),
      .features = "vnni" },
    { 0 }
};
