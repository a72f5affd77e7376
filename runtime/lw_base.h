/* SPDX-License-Identifier: 0BSD */
/* The base of emitted C besides lw_math.h: macros that hide compilers, and integer helpers for operations that C leaves
 * undefined. C99; correct also if int has 16 bits. Each piece lists its needs, so --standalone can copy the used
 * pieces.
 *
 * Aliasing. Emitted code needs no compiler flag: it is correct under -fstrict-aliasing. Emitted code writes memory
 * before it reads it, and reads it as the type last written. In allocated memory, which has no declared type, that
 * store sets the effective type (C99 6.5, paragraph 6), so the bytes of a dead tensor may be reused for another type. A
 * static arena (--static-arena) is a union with an array of each stored type, so its declared type has a member for
 * each access. An array of unsigned char that a caller declares (NAME_ARENA) provides storage for other types in C++20.
 * In C no rule covers it (6.5, paragraph 7); gcc and clang let accesses through any type alias an object of character
 * type. In one function two tensors share bytes only if both have one type or one of them has elements of one byte.
 * Bits of another type are read with memcpy, vectors through the compilers' own vector types. `restrict` is printed if
 * the memory plan proves that a parameter overlaps no other. */
#ifndef LW_BASE_H
#define LW_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef LW_COPY
#error "two models in one translation unit: emit both by the same compiler, both with --standalone or neither"
#endif

/* lw: LW_ALIGN needs */
/* Requests an alignment in bytes; a hint for speed only. */
#ifndef LW_ALIGN
#if defined(__GNUC__) || defined(__clang__) || defined(__TINYC__)
#define LW_ALIGN(bytes) __attribute__((aligned(bytes)))
#elif defined(_MSC_VER)
#define LW_ALIGN(bytes) __declspec(align(bytes))
#else
#define LW_ALIGN(bytes)
#endif
#endif
/* lw: end */

/* lw: LW_SECTION needs */
/* Places a constant in a section of the linker's script, such as an external flash's. If a compiler has no such
 * attribute, this macro and those below expand to names whose use is an error that states the macro to define. */
#ifndef LW_SECTION
#if defined(__GNUC__) || defined(__clang__) || defined(__TINYC__)
#define LW_SECTION(name) __attribute__((section(name)))
#else
#define LW_SECTION(name) define_LW_SECTION_as_this_compiler_places_a_constant_in_a_section
#endif
#endif
/* lw: end */

/* lw: LW_INCBIN needs */
/* Lets the assembler include a file as the constant array `symbol`, with the alignment of the widest vectors. The
 * assembler searches the working folder and the folders of -I. */
#ifndef LW_INCBIN
#if defined(__GNUC__) && defined(__ELF__)
#define LW_INCBIN(symbol, file) \
    extern const uint8_t symbol[] __asm__(#symbol); \
    __asm__(".pushsection .rodata." #symbol ",\"a\"\n.balign 64\n.globl " #symbol "\n" #symbol ":\n.incbin \"" file \
            "\"\n.popsection\n");
#elif defined(__GNUC__) && defined(__APPLE__)
#define LW_INCBIN(symbol, file) \
    extern const uint8_t symbol[] __asm__(#symbol); \
    __asm__(".const_data\n.balign 64\n.globl " #symbol "\n" #symbol ":\n.incbin \"" file "\"\n.text\n");
#else
#define LW_INCBIN(symbol, file) define_LW_INCBIN_or_compile_as_C23_which_has_embed
#endif
#endif
/* lw: end */

/* lw: LW_FLASH needs */
/* Qualifies constants in program memory, up to 64 KiB: an address space of avr-gcc. Processors with one address space
 * need none. */
#ifndef LW_FLASH
#if defined(__AVR__) && defined(__FLASH) && !defined(__STRICT_ANSI__)
#define LW_FLASH __flash
#elif defined(__AVR__)
#define LW_FLASH compile_as_C_with_std_gnu99_which_has_program_memory
#else
#define LW_FLASH
#endif
#endif
/* lw: end */

/* lw: LW_FAR_FLASH needs */
/* Qualifies constants in program memory beyond 64 KiB, with 24-bit pointers. */
#ifndef LW_FAR_FLASH
#if defined(__AVR__) && defined(__MEMX) && !defined(__STRICT_ANSI__)
#define LW_FAR_FLASH __memx
#elif defined(__AVR__)
#define LW_FAR_FLASH compile_as_C_with_std_gnu99_which_has_program_memory
#else
#define LW_FAR_FLASH
#endif
#endif
/* lw: end */

/* lw: restrict needs */
/* The spelling of C++ compilers, so that model.c can be compiled as C++. */
#ifdef __cplusplus
#define restrict __restrict
#endif
/* lw: end */

/* lw: LW_NOINLINE needs */
/* Marks layer functions, because a compiler that inlines all of them into NAME_run spills registers. Not used on
 * `generic`. */
#ifndef LW_NOINLINE
#if defined(__GNUC__)
#define LW_NOINLINE __attribute__((noinline))
#else
#define LW_NOINLINE
#endif
#endif
/* lw: end */

/* lw: LW_SHARED needs */
/* Marks functions that layers share, so that a compiler does not make a copy of them for the numbers of each layer. */
#ifndef LW_SHARED
#if defined(__GNUC__) && !defined(__clang__)
#define LW_SHARED __attribute__((noinline, noclone, unused))
#elif defined(__GNUC__)
#define LW_SHARED __attribute__((noinline, unused))
#else
#define LW_SHARED
#endif
#endif
/* lw: end */

/* lw: LW_FIXED needs */
/* Precedes functions whose numbers are literals of the call, so that the compiled body has no branches on them. */
#if defined(__GNUC__)
#define LW_FIXED static inline __attribute__((always_inline))
#else
#define LW_FIXED static inline
#endif
/* lw: end */

/* lw: LW_ROLLED needs */
/* Precedes a loop that must not be unrolled. */
#ifndef LW_ROLLED
#if defined(__GNUC__) && !defined(__clang__)
#define LW_ROLLED _Pragma("GCC unroll 1")
#else
#define LW_ROLLED
#endif
#endif
/* lw: end */

/* lw: LW_PARALLEL needs */
/* Precedes loops whose iterations may run concurrently: in threads if OpenMP is on, otherwise sequentially. */
#ifndef LW_PARALLEL
#ifdef _OPENMP
#define LW_PARALLEL _Pragma("omp parallel for")
#else
#define LW_PARALLEL
#endif
#endif
/* lw: end */

/* lw: LW_FORK needs */
/* Computes a layer in parts (--cores): calls function(argument, part) for each part of 0 .. parts - 1, and returns when
 * all calls have returned. The calls may run in any order, or at once on several cores. Each of them must see all
 * writes of the caller before the fork, and the caller must see theirs after it. This form runs one after another. */
#ifndef LW_FORK
#define LW_FORK(parts, function, argument)                                                                            \
    do {                                                                                                              \
        for (int lw_part = 0; lw_part < (parts); lw_part++) (function)((argument), lw_part);                          \
    } while (0)
#endif
/* lw: end */

/* lw: LW_SIMD needs */
/* Precedes loops with independent iterations, for OpenMP. */
#ifndef LW_SIMD
#ifdef _OPENMP
#define LW_SIMD _Pragma("omp simd")
#else
#define LW_SIMD
#endif
#endif
/* lw: end */

/* lw: LW_INDEPENDENT needs */
/* Precedes loops with independent iterations. */
#ifndef LW_INDEPENDENT
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 5
#define LW_INDEPENDENT _Pragma("GCC ivdep")
#else
#define LW_INDEPENDENT
#endif
#endif
/* lw: end */

/* lw: LW_UNROLL needs */
/* Precedes loops to unroll by the given factor; a hint for speed only. */
#ifndef LW_UNROLL
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define LW_PRAGMA(text) _Pragma(#text)
#define LW_UNROLL(times) LW_PRAGMA(GCC unroll times)
#else
#define LW_UNROLL(times)
#endif
#endif
/* lw: end */

/* lw: LW_PREFETCH needs */
/* Prefetches an element that is read soon; a hint for speed only. */
#ifndef LW_PREFETCH
#if defined(__GNUC__) || defined(__clang__)
#define LW_PREFETCH(element) __builtin_prefetch(&(element))
#else
#define LW_PREFETCH(element) ((void)0)
#endif
#endif
/* lw: end */

/* lw: LW_AT needs */
/* An operand of an instruction: its memory, the index of its first element, and its strides. The last dimension and
 * dimensions declared with one element have no stride. The instruction's macro passes these on as separate parameters.
 * Emitted code forms no pointer here, because under a false predicate the index may be outside the memory. */
#define LW_AT(...) __VA_ARGS__
/* lw: end */

/* lw: LW_LAYER needs */
/* In builds with clang's undefined behaviour sanitizer, layers and short loops begin with a branch that joins again.
 * With -fno-sanitize-recover, each check is an exit that dominates all code after it, and for each exit of a loop clang
 * walks over all conditions that dominate the loop, up to the last join. Without the branches, a long function takes
 * minutes to compile. */
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer) || __has_feature(address_sanitizer)
#define LW_JOINS
#endif
#endif
#ifdef LW_JOINS
static inline int lw_joins(void)
{
    volatile int zero = 0;
    return zero;
}
#ifndef LW_LAYER
#define LW_LAYER(number, name) switch (lw_joins()) case 1: (void)lw_joins();
#endif
#ifndef LW_VECTOR
#define LW_VECTOR switch (lw_joins()) case 0:
#endif
#endif
/* lw: end */

/* lw: LW_VECTOR needs */
/* Precedes short innermost loops with independent iterations. gcc unrolls a short loop before it vectorizes, and then
 * finds nothing to vectorize. */
#ifndef LW_VECTOR
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define LW_VECTOR _Pragma("GCC unroll 1")
#else
#define LW_VECTOR
#endif
#endif
/* lw: end */

/* lw: lw_min_i32 needs */
/*@ assigns \nothing;
    ensures \result == \min(a, b);
*/
static inline int32_t lw_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_i32 needs */
/*@ assigns \nothing;
    ensures \result == \max(a, b);
*/
static inline int32_t lw_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
/* lw: end */

/* lw: lw_min_u32 needs */
/*@ assigns \nothing;
    ensures \result == \min(a, b);
*/
static inline uint32_t lw_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_u32 needs */
/*@ assigns \nothing;
    ensures \result == \max(a, b);
*/
static inline uint32_t lw_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
/* lw: end */

/* lw: lw_min_i64 needs */
/*@ assigns \nothing;
    ensures \result == \min(a, b);
*/
static inline int64_t lw_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_i64 needs */
/*@ assigns \nothing;
    ensures \result == \max(a, b);
*/
static inline int64_t lw_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* lw: end */

/* lw: lw_min_u64 needs */
/*@ assigns \nothing;
    ensures \result == \min(a, b);
*/
static inline uint64_t lw_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_u64 needs */
/*@ assigns \nothing;
    ensures \result == \max(a, b);
*/
static inline uint64_t lw_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* lw: end */

/* Return the absolute value; the minimum maps to itself. */
/* lw: lw_abs_i32 needs */
/*@ assigns \nothing; */
static inline int32_t lw_abs_i32(int32_t a) { return a < 0 ? (int32_t)(0 - (uint32_t)a) : a; }
/* lw: end */

/* lw: lw_abs_i64 needs */
/*@ assigns \nothing; */
static inline int64_t lw_abs_i64(int64_t a) { return a < 0 ? (int64_t)(0u - (uint64_t)a) : a; }
/* lw: end */

/* Shift a value. An amount outside the type's bits shifts all bits out; a right shift of a signed value keeps its
 * sign. */
/* lw: lw_shl_u32 needs */
/*@ assigns \nothing; */
static inline uint32_t lw_shl_u32(uint32_t a, uint64_t n) { return n < 32 ? a << n : 0; }
/* lw: end */

/* lw: lw_shl_u64 needs */
/*@ assigns \nothing; */
static inline uint64_t lw_shl_u64(uint64_t a, uint64_t n) { return n < 64 ? a << n : 0; }
/* lw: end */

/* lw: lw_shr_u32 needs */
/*@ assigns \nothing; */
static inline uint32_t lw_shr_u32(uint32_t a, uint64_t n) { return n < 32 ? a >> n : 0; }
/* lw: end */

/* lw: lw_shr_u64 needs */
/*@ assigns \nothing; */
static inline uint64_t lw_shr_u64(uint64_t a, uint64_t n) { return n < 64 ? a >> n : 0; }
/* lw: end */

/* lw: lw_shr_i32 needs */
/*@ assigns \nothing;
    ensures interval: n >= 1 ==> -0x40000000 <= \result < 0x40000000;
*/
static inline int32_t lw_shr_i32(int32_t a, uint64_t n)
{
    const int32_t k = n < 31 ? (int32_t)n : 31;
    return a < 0 ? ~(~a >> k) : a >> k;
}
/* lw: end */

/* lw: lw_shr_i64 needs */
/*@ assigns \nothing; */
static inline int64_t lw_shr_i64(int64_t a, uint64_t n)
{
    const int32_t k = n < 63 ? (int32_t)n : 63;
    return a < 0 ? ~(~a >> k) : a >> k;
}
/* lw: end */

/* Divide, for all operands: division by zero yields 0, and minimum / -1 wraps. tdiv and tmod truncate as C does,
 * floordiv rounds down, and floormod has the divisor's sign. */
/* lw: lw_tdiv_i32 needs */
/*@ assigns \nothing; */
static inline int32_t lw_tdiv_i32(int32_t a, int32_t b)
{
    return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}
/* lw: end */

/* lw: lw_tmod_i32 needs */
/*@ assigns \nothing; */
static inline int32_t lw_tmod_i32(int32_t a, int32_t b) { return b == 0 || b == -1 ? 0 : a % b; }
/* lw: end */

/* lw: lw_floordiv_i32 needs lw_tdiv_i32 lw_tmod_i32 */
/*@ assigns \nothing; */
static inline int32_t lw_floordiv_i32(int32_t a, int32_t b)
{
    const int32_t rest = lw_tmod_i32(a, b);
    return lw_tdiv_i32(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
/* lw: end */

/* lw: lw_floormod_i32 needs lw_tmod_i32 */
/*@ assigns \nothing; */
static inline int32_t lw_floormod_i32(int32_t a, int32_t b)
{
    const int32_t rest = lw_tmod_i32(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/* lw: end */

/* lw: lw_tdiv_i64 needs */
/*@ assigns \nothing; */
static inline int64_t lw_tdiv_i64(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}
/* lw: end */

/* lw: lw_tmod_i64 needs */
/*@ assigns \nothing; */
static inline int64_t lw_tmod_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
/* lw: end */

/* lw: lw_floordiv_i64 needs lw_tdiv_i64 lw_tmod_i64 */
/*@ assigns \nothing; */
static inline int64_t lw_floordiv_i64(int64_t a, int64_t b)
{
    const int64_t rest = lw_tmod_i64(a, b);
    return lw_tdiv_i64(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
/* lw: end */

/* lw: lw_floormod_i64 needs lw_tmod_i64 */
/*@ assigns \nothing; */
static inline int64_t lw_floormod_i64(int64_t a, int64_t b)
{
    const int64_t rest = lw_tmod_i64(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/* lw: end */

/* lw: lw_div_u32 needs */
/*@ assigns \nothing; */
static inline uint32_t lw_div_u32(uint32_t a, uint32_t b) { return b == 0 ? 0 : a / b; }
/* lw: end */

/* lw: lw_mod_u32 needs */
/*@ assigns \nothing; */
static inline uint32_t lw_mod_u32(uint32_t a, uint32_t b) { return b == 0 ? 0 : a % b; }
/* lw: end */

/* lw: lw_div_u64 needs */
/*@ assigns \nothing; */
static inline uint64_t lw_div_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }
/* lw: end */

/* lw: lw_mod_u64 needs */
/*@ assigns \nothing; */
static inline uint64_t lw_mod_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }
/* lw: end */

/* Convert from floating point: truncate towards zero, saturate, and map NaN to 0. */
/* lw: lw_i32_from_f32 needs */
/*@ assigns \nothing; */
static inline int32_t lw_i32_from_f32(float x)
{
    return x >= 2147483648.0f ? INT32_MAX : x > -2147483648.0f ? (int32_t)x : x <= -2147483648.0f ? INT32_MIN : 0;
}
/* lw: end */

/* lw: lw_u32_from_f32 needs */
/*@ assigns \nothing; */
static inline uint32_t lw_u32_from_f32(float x) { return x >= 4294967296.0f ? UINT32_MAX : x > 0.0f ? (uint32_t)x : 0; }
/* lw: end */

/* lw: lw_i64_from_f32 needs */
/*@ assigns \nothing; */
static inline int64_t lw_i64_from_f32(float x)
{
    return x >= 9223372036854775808.0f    ? INT64_MAX
           : x > -9223372036854775808.0f  ? (int64_t)x
           : x <= -9223372036854775808.0f ? INT64_MIN
                                          : 0;
}
/* lw: end */

/* lw: lw_u64_from_f32 needs */
/*@ assigns \nothing; */
static inline uint64_t lw_u64_from_f32(float x)
{
    return x >= 18446744073709551616.0f ? UINT64_MAX : x > 0.0f ? (uint64_t)x : 0;
}
/* lw: end */

/* lw: lw_i32_from_f64 needs */
/*@ assigns \nothing; */
static inline int32_t lw_i32_from_f64(double x)
{
    return x >= 2147483647.0 ? INT32_MAX : x > -2147483648.0 ? (int32_t)x : x <= -2147483648.0 ? INT32_MIN : 0;
}
/* lw: end */

/* lw: lw_u32_from_f64 needs */
/*@ assigns \nothing; */
static inline uint32_t lw_u32_from_f64(double x) { return x >= 4294967295.0 ? UINT32_MAX : x > 0.0 ? (uint32_t)x : 0; }
/* lw: end */

/* lw: lw_i64_from_f64 needs */
/*@ assigns \nothing; */
static inline int64_t lw_i64_from_f64(double x)
{
    return x >= 9223372036854775808.0    ? INT64_MAX
           : x > -9223372036854775808.0  ? (int64_t)x
           : x <= -9223372036854775808.0 ? INT64_MIN
                                         : 0;
}
/* lw: end */

/* lw: lw_u64_from_f64 needs */
/*@ assigns \nothing; */
static inline uint64_t lw_u64_from_f64(double x)
{
    return x >= 18446744073709551616.0 ? UINT64_MAX : x > 0.0 ? (uint64_t)x : 0;
}
/* lw: end */

/* lw: lw_isnanf needs */
/*@ assigns \nothing; */
static inline int lw_isnanf(float x) { return x != x; }
/* lw: end */

/* lw: lw_isnan needs */
/*@ assigns \nothing; */
static inline int lw_isnan(double x) { return x != x; }
/* lw: end */

/* lw: lw_isinff needs */
/*@ assigns \nothing; */
static inline int lw_isinff(float x) { return x == x && x - x != 0.0f; }
/* lw: end */

/* lw: lw_isinf needs */
/*@ assigns \nothing; */
static inline int lw_isinf(double x) { return x == x && x - x != 0.0; }
/* lw: end */

#endif
