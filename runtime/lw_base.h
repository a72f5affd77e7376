/* SPDX-License-Identifier: 0BSD */
/* What emitted C stands on besides lw_math.h: macros that hide compilers, and integer helpers whose meaning C leaves open.
 * C99; right where int has 16 bits. Each piece says what it needs, so that --standalone can take the used ones along.
 *
 * Aliasing. Emitted code needs no compiler flag: it is right under -fstrict-aliasing. Memory is written before it is read, and is
 * read as the type that it was written as last: in allocated memory, which has no declared type, that store sets the effective
 * type (C99 6.5, paragraph 6), so that the bytes of a dead tensor may be reused for another type. A static arena
 * (--static-arena) is a union with an array of each type that is kept in it, so its declared type has a member for each access.
 * An array of unsigned char that a caller declares (NAME_ARENA) provides storage for other types in C++20; in C, gcc and clang
 * let accesses through any type alias an object of character type. Within one function two tensors share bytes only if both
 * have one type or one of them has elements of one byte. Bits of another type are read with memcpy, vectors through the
 * compilers' own vector types. `restrict` is printed where the memory plan shows that a parameter is apart from all others. */
#ifndef LW_BASE_H
#define LW_BASE_H

#include <stddef.h>
#include <stdint.h>

/* lw: LW_ALIGN needs */
/* Asks for an alignment in bytes; a wish, for speed alone. */
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

/* lw: LW_NOINLINE needs */
/* Stands before functions of layers where registers are few: a compiler that puts them all into the list of layers keeps too much. */
#ifndef LW_NOINLINE
#if defined(__GNUC__)
#define LW_NOINLINE __attribute__((noinline))
#else
#define LW_NOINLINE
#endif
#endif
/* lw: end */

/* lw: LW_SHARED needs */
/* Stands before functions that layers share: one copy for all of them, where a compiler would make one for each layer's numbers. */
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

/* lw: LW_ROLLED needs */
/* Stands before a loop that is to stay one, whose iterations a compiler would write one behind the other. */
#ifndef LW_ROLLED
#if defined(__GNUC__) && !defined(__clang__)
#define LW_ROLLED _Pragma("GCC unroll 1")
#else
#define LW_ROLLED
#endif
#endif
/* lw: end */

/* lw: LW_PARALLEL needs */
/* Stands before loops whose iterations may run at once: in threads where OpenMP is on, and one after the other elsewhere. */
#ifndef LW_PARALLEL
#ifdef _OPENMP
#define LW_PARALLEL _Pragma("omp parallel for")
#else
#define LW_PARALLEL
#endif
#endif
/* lw: end */

/* lw: LW_SIMD needs */
/* Stands before loops whose iterations are independent, for OpenMP. */
#ifndef LW_SIMD
#ifdef _OPENMP
#define LW_SIMD _Pragma("omp simd")
#else
#define LW_SIMD
#endif
#endif
/* lw: end */

/* lw: LW_INDEPENDENT needs */
/* Stands before loops whose iterations are independent. */
#ifndef LW_INDEPENDENT
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 5
#define LW_INDEPENDENT _Pragma("GCC ivdep")
#else
#define LW_INDEPENDENT
#endif
#endif
/* lw: end */

/* lw: LW_UNROLL needs */
/* Stands before loops that are to run so many iterations at a time; a wish, for speed alone. */
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
/* The element will be read soon; a wish, for speed alone. */
#ifndef LW_PREFETCH
#if defined(__GNUC__) || defined(__clang__)
#define LW_PREFETCH(element) __builtin_prefetch(&(element))
#else
#define LW_PREFETCH(element) ((void)0)
#endif
#endif
/* lw: end */

/* lw: LW_AT needs */
/* An operand of an instruction: its memory, the index of its first element there, and the strides of its dimensions of two or more
 * elements but the last. A macro that stands for an instruction hands this on to one with a parameter for each. Emitted code
 * forms no pointer here, for under a false predicate the index may lie outside of the memory. */
#define LW_AT(...) __VA_ARGS__
/* lw: end */

/* lw: LW_VECTOR needs */
/* Stands before short innermost loops whose iterations are independent. gcc writes a short loop out before it looks for
 * vectors, and then finds none. */
#ifndef LW_VECTOR
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define LW_VECTOR _Pragma("GCC unroll 1")
#else
#define LW_VECTOR
#endif
#endif
/* lw: end */

/* lw: lw_min_i32 needs */
static inline int32_t lw_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_i32 needs */
static inline int32_t lw_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
/* lw: end */

/* lw: lw_min_u32 needs */
static inline uint32_t lw_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_u32 needs */
static inline uint32_t lw_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
/* lw: end */

/* lw: lw_min_i64 needs */
static inline int64_t lw_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_i64 needs */
static inline int64_t lw_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* lw: end */

/* lw: lw_min_u64 needs */
static inline uint64_t lw_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
/* lw: end */

/* lw: lw_max_u64 needs */
static inline uint64_t lw_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* lw: end */

/* Absolute values; that of the least value is itself. */
/* lw: lw_abs_i32 needs */
static inline int32_t lw_abs_i32(int32_t a) { return a < 0 ? (int32_t)(0 - (uint32_t)a) : a; }
/* lw: end */

/* lw: lw_abs_i64 needs */
static inline int64_t lw_abs_i64(int64_t a) { return a < 0 ? (int64_t)(0u - (uint64_t)a) : a; }
/* lw: end */

/* Shifts. Amounts outside of the type's bits shift everything out; a right shift of a signed value keeps its sign. */
/* lw: lw_shl_u32 needs */
static inline uint32_t lw_shl_u32(uint32_t a, uint64_t n) { return n < 32 ? a << n : 0; }
/* lw: end */

/* lw: lw_shl_u64 needs */
static inline uint64_t lw_shl_u64(uint64_t a, uint64_t n) { return n < 64 ? a << n : 0; }
/* lw: end */

/* lw: lw_shr_u32 needs */
static inline uint32_t lw_shr_u32(uint32_t a, uint64_t n) { return n < 32 ? a >> n : 0; }
/* lw: end */

/* lw: lw_shr_u64 needs */
static inline uint64_t lw_shr_u64(uint64_t a, uint64_t n) { return n < 64 ? a >> n : 0; }
/* lw: end */

/* lw: lw_shr_i32 needs */
static inline int32_t lw_shr_i32(int32_t a, uint64_t n)
{
    const int32_t k = n < 31 ? (int32_t)n : 31;
    return a < 0 ? ~(~a >> k) : a >> k;
}
/* lw: end */

/* lw: lw_shr_i64 needs */
static inline int64_t lw_shr_i64(int64_t a, uint64_t n)
{
    const int32_t k = n < 63 ? (int32_t)n : 63;
    return a < 0 ? ~(~a >> k) : a >> k;
}
/* lw: end */

/* Division of any values: by zero both results are zero, the quotient of the least value by -1 wraps. tdiv and tmod
 * truncate as C does, floordiv rounds down and floormod has the divisor's sign. */
/* lw: lw_tdiv_i32 needs */
static inline int32_t lw_tdiv_i32(int32_t a, int32_t b)
{
    return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}
/* lw: end */

/* lw: lw_tmod_i32 needs */
static inline int32_t lw_tmod_i32(int32_t a, int32_t b) { return b == 0 || b == -1 ? 0 : a % b; }
/* lw: end */

/* lw: lw_floordiv_i32 needs lw_tdiv_i32 lw_tmod_i32 */
static inline int32_t lw_floordiv_i32(int32_t a, int32_t b)
{
    const int32_t rest = lw_tmod_i32(a, b);
    return lw_tdiv_i32(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
/* lw: end */

/* lw: lw_floormod_i32 needs lw_tmod_i32 */
static inline int32_t lw_floormod_i32(int32_t a, int32_t b)
{
    const int32_t rest = lw_tmod_i32(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/* lw: end */

/* lw: lw_tdiv_i64 needs */
static inline int64_t lw_tdiv_i64(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}
/* lw: end */

/* lw: lw_tmod_i64 needs */
static inline int64_t lw_tmod_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
/* lw: end */

/* lw: lw_floordiv_i64 needs lw_tdiv_i64 lw_tmod_i64 */
static inline int64_t lw_floordiv_i64(int64_t a, int64_t b)
{
    const int64_t rest = lw_tmod_i64(a, b);
    return lw_tdiv_i64(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
/* lw: end */

/* lw: lw_floormod_i64 needs lw_tmod_i64 */
static inline int64_t lw_floormod_i64(int64_t a, int64_t b)
{
    const int64_t rest = lw_tmod_i64(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/* lw: end */

/* lw: lw_div_u32 needs */
static inline uint32_t lw_div_u32(uint32_t a, uint32_t b) { return b == 0 ? 0 : a / b; }
/* lw: end */

/* lw: lw_mod_u32 needs */
static inline uint32_t lw_mod_u32(uint32_t a, uint32_t b) { return b == 0 ? 0 : a % b; }
/* lw: end */

/* lw: lw_div_u64 needs */
static inline uint64_t lw_div_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }
/* lw: end */

/* lw: lw_mod_u64 needs */
static inline uint64_t lw_mod_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }
/* lw: end */

/* From floating point: truncated to zero, saturated, 0 for NaN. */
/* lw: lw_i32_from_f32 needs */
static inline int32_t lw_i32_from_f32(float x)
{
    return x >= 2147483648.0f ? INT32_MAX : x > -2147483648.0f ? (int32_t)x : x <= -2147483648.0f ? INT32_MIN : 0;
}
/* lw: end */

/* lw: lw_u32_from_f32 needs */
static inline uint32_t lw_u32_from_f32(float x) { return x >= 4294967296.0f ? UINT32_MAX : x > 0.0f ? (uint32_t)x : 0; }
/* lw: end */

/* lw: lw_i64_from_f32 needs */
static inline int64_t lw_i64_from_f32(float x)
{
    return x >= 9223372036854775808.0f    ? INT64_MAX
           : x > -9223372036854775808.0f  ? (int64_t)x
           : x <= -9223372036854775808.0f ? INT64_MIN
                                          : 0;
}
/* lw: end */

/* lw: lw_u64_from_f32 needs */
static inline uint64_t lw_u64_from_f32(float x) { return x >= 18446744073709551616.0f ? UINT64_MAX : x > 0.0f ? (uint64_t)x : 0; }
/* lw: end */

/* lw: lw_i32_from_f64 needs */
static inline int32_t lw_i32_from_f64(double x)
{
    return x >= 2147483647.0 ? INT32_MAX : x > -2147483648.0 ? (int32_t)x : x <= -2147483648.0 ? INT32_MIN : 0;
}
/* lw: end */

/* lw: lw_u32_from_f64 needs */
static inline uint32_t lw_u32_from_f64(double x) { return x >= 4294967295.0 ? UINT32_MAX : x > 0.0 ? (uint32_t)x : 0; }
/* lw: end */

/* lw: lw_i64_from_f64 needs */
static inline int64_t lw_i64_from_f64(double x)
{
    return x >= 9223372036854775808.0    ? INT64_MAX
           : x > -9223372036854775808.0  ? (int64_t)x
           : x <= -9223372036854775808.0 ? INT64_MIN
                                         : 0;
}
/* lw: end */

/* lw: lw_u64_from_f64 needs */
static inline uint64_t lw_u64_from_f64(double x) { return x >= 18446744073709551616.0 ? UINT64_MAX : x > 0.0 ? (uint64_t)x : 0; }
/* lw: end */

/* lw: lw_isnanf needs */
static inline int lw_isnanf(float x) { return x != x; }
/* lw: end */

/* lw: lw_isnan needs */
static inline int lw_isnan(double x) { return x != x; }
/* lw: end */

/* lw: lw_isinff needs */
static inline int lw_isinff(float x) { return x == x && x - x != 0.0f; }
/* lw: end */

/* lw: lw_isinf needs */
static inline int lw_isinf(double x) { return x == x && x - x != 0.0; }
/* lw: end */

#endif
