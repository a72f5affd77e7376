/* SPDX-License-Identifier: MIT */
/* The meaning of each kind on constants, beside values computed by hand from the notes in expr.def. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "ir/expr/expr.h"

typedef struct IntegerCase { const char *name; ExprKind kind; DType type; int64_t a, b, expected; } IntegerCase;

static const IntegerCase integer_cases[] = {
    { "add-i8-wraps",            EXPR_ADD, I8, 127, 1, -128 },
    { "add-u8-wraps",            EXPR_ADD, U8, 255, 1, 0 },
    { "add-i32-wraps",           EXPR_ADD, I32, INT32_MAX, 1, INT32_MIN },
    { "add-i64-wraps",           EXPR_ADD, I64, INT64_MAX, 1, INT64_MIN },
    { "sub-u32-wraps",           EXPR_SUB, U32, 0, 1, 4294967295 },
    { "sub-i64-wraps",           EXPR_SUB, I64, INT64_MIN, 1, INT64_MAX },
    { "mul-i16-wraps",           EXPR_MUL, I16, 300, 300, 24464 },
    { "mul-i32-wraps",           EXPR_MUL, I32, 65536, 65536, 0 },
    { "mul-i64-wraps",           EXPR_MUL, I64, INT64_MIN, -1, INT64_MIN },
    { "neg-least",               EXPR_NEG, I8, -128, 0, -128 },
    { "neg-u8",                  EXPR_NEG, U8, 1, 0, 255 },
    { "neg-least-i64",           EXPR_NEG, I64, INT64_MIN, 0, INT64_MIN },
    { "abs-least",               EXPR_ABS, I16, -32768, 0, -32768 },
    { "abs-negative",            EXPR_ABS, I32, -7, 0, 7 },
    { "abs-u64-top-bit",         EXPR_ABS, U64, INT64_MIN, 0, INT64_MIN },
    { "floordiv-negative",       EXPR_FLOORDIV, I32, -1, 2, -1 },
    { "floordiv-both-negative",  EXPR_FLOORDIV, I32, -7, -2, 3 },
    { "floordiv-by-negative",    EXPR_FLOORDIV, I32, 7, -2, -4 },
    { "floordiv-exact",          EXPR_FLOORDIV, I32, -8, 2, -4 },
    { "floordiv-by-zero",        EXPR_FLOORDIV, I32, 5, 0, 0 },
    { "floordiv-least-by-m1",    EXPR_FLOORDIV, I32, INT32_MIN, -1, INT32_MIN },
    { "floordiv-least64-by-m1",  EXPR_FLOORDIV, I64, INT64_MIN, -1, INT64_MIN },
    { "floordiv-i8-least-by-m1", EXPR_FLOORDIV, I8, -128, -1, -128 },
    { "floordiv-u64-unsigned",   EXPR_FLOORDIV, U64, -1, 2, INT64_MAX },
    { "floormod-negative",       EXPR_FLOORMOD, I32, -1, 4, 3 },
    { "floormod-by-negative",    EXPR_FLOORMOD, I32, 1, -4, -3 },
    { "floormod-exact",          EXPR_FLOORMOD, I32, -8, 4, 0 },
    { "floormod-by-zero",        EXPR_FLOORMOD, I32, 5, 0, 0 },
    { "floormod-least-by-m1",    EXPR_FLOORMOD, I64, INT64_MIN, -1, 0 },
    { "floormod-u64-unsigned",   EXPR_FLOORMOD, U64, -1, 10, 5 },   /* 18446744073709551615 */
    { "tdiv-negative",           EXPR_TDIV, I32, -1, 2, 0 },
    { "tdiv-negative-7",         EXPR_TDIV, I32, -7, 2, -3 },
    { "tdiv-by-zero",            EXPR_TDIV, I8, 5, 0, 0 },
    { "tdiv-least-by-m1",        EXPR_TDIV, I32, INT32_MIN, -1, INT32_MIN },
    { "tmod-negative",           EXPR_TMOD, I32, -7, 2, -1 },
    { "tmod-by-negative",        EXPR_TMOD, I32, 7, -2, 1 },
    { "tmod-by-zero",            EXPR_TMOD, I32, 7, 0, 0 },
    { "shl",                     EXPR_SHL, I32, 1, 31, INT32_MIN },
    { "shl-wraps",               EXPR_SHL, I8, 3, 7, -128 },
    { "shl-all",                 EXPR_SHL, I32, 1, 32, 0 },
    { "shl-negative-amount",     EXPR_SHL, I32, 1, -1, 0 },
    { "shl-i64",                 EXPR_SHL, I64, 1, 63, INT64_MIN },
    { "shr-arithmetic",          EXPR_SHR, I8, -3, 1, -2 },
    { "shr-all-of-negative",     EXPR_SHR, I8, -3, 8, -1 },
    { "shr-negative-amount",     EXPR_SHR, I32, -3, -1, -1 },
    { "shr-all-of-positive",     EXPR_SHR, I32, 3, 40, 0 },
    { "shr-u8-logical",          EXPR_SHR, U8, 200, 3, 25 },
    { "shr-u64-logical",         EXPR_SHR, U64, -1, 1, INT64_MAX },
    { "shr-i64",                 EXPR_SHR, I64, INT64_MIN, 63, -1 },
    { "lt-signed",               EXPR_LT, I32, -1, 1, 1 },
    { "lt-u64",                  EXPR_LT, U64, -1, 1, 0 },
    { "le-u64",                  EXPR_LE, U64, 1, -1, 1 },
    { "eq",                      EXPR_EQ, I32, 4, 4, 1 },
    { "ne",                      EXPR_NE, I32, 4, 4, 0 },
    { "min-u64",                 EXPR_MIN, U64, -1, 1, 1 },
    { "max-i64",                 EXPR_MAX, I64, -1, 1, 1 },
    { "bitand",                  EXPR_BITAND, I8, -1, 0x55, 0x55 },
    { "bitor",                   EXPR_BITOR, I32, 8, 1, 9 },
    { "bitxor-u8",               EXPR_BITXOR, U8, 255, 15, 240 },
    { "bitnot-i8",               EXPR_BITNOT, I8, 0, 0, -1 },
    { "bitnot-u8",               EXPR_BITNOT, U8, 1, 0, 254 },
    { "and",                     EXPR_AND, BOOL, 1, 0, 0 },
    { "or",                      EXPR_OR, BOOL, 1, 0, 1 },
    { "not",                     EXPR_NOT, BOOL, 0, 0, 1 },
};

static void test_integers(void)
{
    for (size_t i = 0; i < sizeof integer_cases / sizeof integer_cases[0]; i++) {
        const IntegerCase *c = &integer_cases[i];
        const bool is_truth = expr_info(c->kind)->algebra & ALGEBRA_IS_BOOL;
        const Scalar args[] = { { .i = c->a }, { .i = c->b } };
        const Scalar got = scalar_apply(c->kind, is_truth ? BOOL : c->type, c->type, args);
        check_that(got.i == c->expected, check_label(c->name, "as-by-hand"), "%lld, expected %lld", (long long)got.i,
                   (long long)c->expected);
    }
}

typedef struct FloatCase { const char *name; ExprKind kind; DType type; double a, b, expected; } FloatCase;

#define INF (1.0 / 0.0)
#define NOT_A_NUMBER (0.0 / 0.0)
static const FloatCase float_cases[] = {
    { "add-f32-rounds-to-even", EXPR_ADD, F32, 16777216, 1, 16777216 },
    { "add-f64-exact",          EXPR_ADD, F64, 16777216, 1, 16777217 },
    { "mul-f32-rounds",         EXPR_MUL, F32, 16777215, 16777215, 281474943156224 },
    { "mul-f32-overflows",      EXPR_MUL, F32, 1e30f, 1e30f, INF },
    { "add-f16-rounds",         EXPR_ADD, F16, 2048, 1, 2048 },
    { "add-bf16-rounds",        EXPR_ADD, BF16, 256, 1, 256 },
    { "div-by-zero",            EXPR_DIV, F32, 1, 0, INF },
    { "div-f32-third",          EXPR_DIV, F32, 1, 3, 0x1.555556p-2 },
    { "div-f64-third",          EXPR_DIV, F64, 1, 3, 0x1.5555555555555p-2 },
    { "neg-zero",               EXPR_NEG, F32, 0, 0, -0.0 },
    { "abs-minus-zero",         EXPR_ABS, F64, -0.0, 0, 0.0 },
    { "abs-minus-inf",          EXPR_ABS, F32, -INF, 0, INF },
    { "min-nan-left",           EXPR_MIN, F32, NOT_A_NUMBER, 1, NOT_A_NUMBER },
    { "min-nan-right",          EXPR_MIN, F32, 1, NOT_A_NUMBER, NOT_A_NUMBER },
    { "max-nan-right",          EXPR_MAX, F64, 1, NOT_A_NUMBER, NOT_A_NUMBER },
    { "max",                    EXPR_MAX, F32, -2, 3, 3 },
    { "sqrt",                   EXPR_SQRT, F32, 2, 0, 0x1.6a09e6p+0 },
    { "sqrt-f64",               EXPR_SQRT, F64, 2, 0, 0x1.6a09e667f3bcdp+0 },
    { "rsqrt",                  EXPR_RSQRT, F32, 16, 0, 0.25 },
    { "exp-0",                  EXPR_EXP, F32, 0, 0, 1 },
    { "exp-underflows",         EXPR_EXP, F32, -200, 0, 0 },
    { "exp-overflows",          EXPR_EXP, F64, 1000, 0, INF },
    { "exp2",                   EXPR_EXP2, F32, 10, 0, 1024 },
    { "log-1",                  EXPR_LOG, F32, 1, 0, 0 },
    { "log-of-0",               EXPR_LOG, F64, 0, 0, -INF },
    { "log2",                   EXPR_LOG2, F32, 8, 0, 3 },
    { "log10",                  EXPR_LOG10, F64, 1000, 0, 3 },
    { "tanh-large",             EXPR_TANH, F32, 50, 0, 1 },
    { "sigmoid-0",              EXPR_SIGMOID, F32, 0, 0, 0.5 },
    { "erf-large",              EXPR_ERF, F32, -9, 0, -1 },
    { "pow",                    EXPR_POW, F64, 2, 10, 1024 },
    { "fmod",                   EXPR_FMOD, F32, -5.5, 2, -1.5 },
    { "floor",                  EXPR_FLOOR, F32, -1.5, 0, -2 },
    { "ceil",                   EXPR_CEIL, F32, -1.5, 0, -1 },
    { "trunc",                  EXPR_TRUNC, F64, -1.5, 0, -1 },
    { "round-ties-away",        EXPR_ROUND, F32, 2.5, 0, 3 },
    { "round-negative-ties",    EXPR_ROUND, F64, -2.5, 0, -3 },
    { "nearbyint-ties-even",    EXPR_NEARBYINT, F32, 2.5, 0, 2 },
    { "nearbyint-f64",          EXPR_NEARBYINT, F64, 3.5, 0, 4 },
    { "atan2-quadrant",         EXPR_ATAN2, F64, 1, -1, 0x1.2d97c7f3321d2p+1 },
};

static bool same_float(double a, double b)
{
    return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

static void test_floats(void)
{
    for (size_t i = 0; i < sizeof float_cases / sizeof float_cases[0]; i++) {
        const FloatCase *c = &float_cases[i];
        const Scalar args[] = { { .f = c->a }, { .f = c->b } };
        const Scalar got = scalar_apply(c->kind, c->type, c->type, args);
        check_that(same_float(got.f, c->expected), check_label(c->name, "as-by-hand"), "%a, expected %a", got.f,
                   c->expected);
    }
}

static int64_t compared(ExprKind k, double a, double b)
{
    const Scalar args[] = { { .f = a }, { .f = b } };
    return scalar_apply(k, BOOL, F32, args).i;
}

static void test_float_comparisons(void)
{
    CHECK("lt-nan", !compared(EXPR_LT, NOT_A_NUMBER, 1) && !compared(EXPR_LT, 1, NOT_A_NUMBER));
    CHECK("le-nan", !compared(EXPR_LE, NOT_A_NUMBER, NOT_A_NUMBER));
    CHECK("eq-nan", !compared(EXPR_EQ, NOT_A_NUMBER, NOT_A_NUMBER));
    CHECK("ne-nan", compared(EXPR_NE, NOT_A_NUMBER, NOT_A_NUMBER));
    CHECK("eq-zeros", compared(EXPR_EQ, 0.0, -0.0));
    CHECK("isnan", compared(EXPR_ISNAN, NOT_A_NUMBER, 0) && !compared(EXPR_ISNAN, INF, 0));
    CHECK("isinf",
          compared(EXPR_ISINF, -INF, 0) && !compared(EXPR_ISINF, NOT_A_NUMBER, 0) && !compared(EXPR_ISINF, 1, 0));
}

typedef struct ToInteger { const char *name; DType from, to; double real; int64_t integer, expected; } ToInteger;

static const ToInteger to_integer[] = {
    { "cast-i32-i8-wraps",    I32, I8,   0, 300, 44 },
    { "cast-i8-u8-wraps",     I8,  U8,   0, -1, 255 },
    { "cast-i8-u64",          I8,  U64,  0, -1, -1 },
    { "cast-u8-i32",          U8,  I32,  0, 255, 255 },
    { "cast-i32-bool",        I32, BOOL, 0, 256, 1 },
    { "cast-f32-truncates",   F32, I32,  -1.75, 0, -1 },
    { "cast-f32-saturates",   F32, I8,   1e9, 0, 127 },
    { "cast-f32-saturates-2", F32, I8,   -1e9, 0, -128 },
    { "cast-f32-u8-negative", F32, U8,   -3, 0, 0 },
    { "cast-f32-i32-2^31",    F32, I32,  2147483648.0, 0, INT32_MAX },
    { "cast-f64-i64-inf",     F64, I64,  INF, 0, INT64_MAX },
    { "cast-f64-i64-least",   F64, I64,  -INF, 0, INT64_MIN },
    { "cast-f64-u64-2^63",    F64, U64,  9223372036854775808.0, 0, INT64_MIN },
    { "cast-f64-u64-inf",     F64, U64,  INF, 0, -1 },
    { "cast-nan",             F32, I32,  NOT_A_NUMBER, 0, 0 },
    { "cast-nan-bool",        F32, BOOL, NOT_A_NUMBER, 0, 1 },
    { "cast-half-bool",       F32, BOOL, 0.5, 0, 1 },
    { "cast-zero-bool",       F64, BOOL, -0.0, 0, 0 },
};

static void test_casts(void)
{
    for (size_t i = 0; i < sizeof to_integer / sizeof to_integer[0]; i++) {
        const ToInteger *c = &to_integer[i];
        Scalar arg = { .i = c->integer };
        if (dtype_is_float(c->from)) arg.f = c->real;
        const Scalar got = scalar_apply(EXPR_CAST, c->to, c->from, &arg);
        check_that(got.i == c->expected, check_label(c->name, "as-by-hand"), "%lld, expected %lld", (long long)got.i,
                   (long long)c->expected);
    }
    /* 2^54 + 2^30 + 1 is just above the middle of two floats; a conversion through double would round down. */
    const Scalar odd = { .i = 0x40000040000001 }, all = { .i = -1 }, f = { .f = 65519 };
    CHECK("cast-i64-f32-once", scalar_apply(EXPR_CAST, F32, I64, &odd).f == 0x1.000002p54);
    CHECK("cast-u64-f64", scalar_apply(EXPR_CAST, F64, U64, &all).f == 18446744073709551616.0);
    CHECK("cast-f32-f16", scalar_apply(EXPR_CAST, F16, F32, &f).f == 65504);
}

static void test_others(void)
{
    const Scalar one = { .f = 1.0 }, bits = { .i = 0x40490fdb }, yes[] = { { .i = 1 }, { .i = 7 }, { .i = 9 } };
    CHECK("bitcast-f32-i32", scalar_apply(EXPR_BITCAST, I32, F32, &one).i == 0x3f800000);
    CHECK("bitcast-u32-f32", scalar_apply(EXPR_BITCAST, F32, U32, &bits).f == (double)0x1.921fb6p+1f);
    CHECK("select-yes", scalar_apply(EXPR_SELECT, I32, I32, yes).i == 7);
    const Scalar no[] = { { .i = 0 }, { .f = 7 }, { .f = 9 } };
    CHECK("select-no", scalar_apply(EXPR_SELECT, F64, F64, no).f == 9);
    /* (1 + 2^-12)^2 - 1 - 2^-11 = 2^-24, which a rounded product loses. */
    const Scalar fma_args[] = { { .f = 1 + 0x1p-12 }, { .f = 1 + 0x1p-12 }, { .f = -1 - 0x1p-11 } };
    CHECK("fma-rounds-once", scalar_apply(EXPR_FMA, F32, F32, fma_args).f == 0x1p-24);
}

int main(void)
{
    CHECK_RUN(test_integers, test_floats, test_float_comparisons, test_casts, test_others);
    return check_done();
}
