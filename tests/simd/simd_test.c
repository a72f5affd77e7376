/* SPDX-License-Identifier: MIT */
/* The vectors of runtime/simd against their formulas, for every width: in registers if the compiler's flags provide
 * them, else in scalar.h. The expected values are computed with C's own operators and with libm, whose fmaf and sqrtf
 * are exact. */
#include <math.h>
#include <string.h>

#include "../unit/check.h"
#include "simd/simd.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* The first three are set in main: not every compiler takes infinities and NaN for constants. */
static float floats[] = {
    0, 0, 0,
    0.0f, -0.0f, 1.0f, -1.0f, 0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f, -0x1p-126f, 0x1.fffffep127f,
    -0x1.fffffep127f,
    0.5f, -0.5f, 1.5f, 0x1.fffffep-1f, 0x1.000002p0f, -0x1.000002p0f, 3.0f, 0x1.555556p-2f, 16777217.0f, 0x1.8p23f,
    2147483648.0f, 2147483520.0f, -2147483648.0f, -2147483904.0f, 1e10f, -1e10f, 0x1.555556p-60f, 0x1.8p-75f,
    -0x1.8p-74f, 123.75f, -99.99f,
    0x1p-75f, 0x1.000002p-75f,
};
static const int32_t integers[] = {
    0, 1, -1, 2, -2, 127, 128, -128, -129, 255, 32767, 32768, -32768, 65535, 65536, 65537, 16777216, 16777217,
    -16777219, INT32_MAX,
    INT32_MAX - 1, INT32_MIN, INT32_MIN + 1, 0x55555555, -0x55555556, 46341, -46341,
};
enum { FLOAT_COUNT = sizeof floats / sizeof *floats, INTEGER_COUNT = sizeof integers / sizeof *integers };

/* The same bits; of a NaN neither sign nor payload means anything. */
static int same(float a, float b)
{
    return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

/* NaN where either is, of two zeros the second. One condition: behind a return for NaN, clang 14 and 16 for AArch64
 * compute a < b ? a : b by FMINNM, which returns the lesser of two zeros. */
static float least_of(float a, float b)
{
    return a < b || isnan(a) ? a : b;
}

static int32_t truncated(float x)
{
    if (isnan(x)) return 0;
    if (x >= 2147483648.0f) return INT32_MAX;
    if (x <= -2147483648.0f) return INT32_MIN;
    return (int32_t)x;
}

#define LANES 4
#include "vectors.h"
#define LANES 8
#include "vectors.h"
#define LANES 16
#include "vectors.h"

/* The scalar fma on random bits, where a rounding of the sum in double alone would show. */
static void test_fma(void)
{
    uint32_t state = 1;
    int good = 1;
    for (int n = 0; n < 300000; n++) {
        float x[3];
        for (int i = 0; i < 3; i++) {
            state = state * 1664525u + 1013904223u;
            uint32_t bits = (state >> 3 & 0x807fffffu)
                            | (n % 4 ? 120u + (state >> 12 & 15u) : state >> 20 & 255u) << 23;
            if (n % 3 == 0) bits &= 0xfffff000u;
            memcpy(&x[i], &bits, sizeof bits);
        }
        good = good && same(lw_fmaf(x[0], x[1], x[2]), fmaf(x[0], x[1], x[2]));
    }
    CHECK("fmaf-is-exact", good);
}

int main(void)
{
    floats[0] = INFINITY;
    floats[1] = -INFINITY;
    floats[2] = NAN;
    test_4();
    test_8();
    test_16();
    test_fma();
    printf("registers: %s\n", LW_SIMD_AVX512 ? "avx512" : LW_SIMD_AVX2 ? "avx2" : LW_SIMD_SSE4 ? "sse4"
                            : LW_SIMD_NEON ? "neon" : "none");
    return check_done();
}
