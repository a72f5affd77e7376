/* SPDX-License-Identifier: MIT */
/* Operations whose checksum a stepped core and the host must agree on: see tests/unit/test_machine.c. The host computes
 * in plain C what the core has instructions for. */
#include <stdint.h>
#include <string.h>

#if defined __ARM_FEATURE_DSP || defined __ARM_FEATURE_SAT
#include <arm_acle.h>
#endif

uint32_t work(uint32_t seed, uint32_t count);

static uint32_t next(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }
static uint32_t mix(uint32_t sum, uint32_t x) { return (sum << 7 | sum >> 25) + x * 2654435761u; }

static uint32_t shifts(uint32_t x, uint32_t y)
{
    const uint32_t by = y & 31;
    const uint64_t wide = (uint64_t)x << 32 | y;
    uint32_t sum = x << by ^ x >> by;
    sum = mix(sum, (uint32_t)((int32_t)x >> by));
    sum = mix(sum, by ? x >> by | x << (32 - by) : x);
    sum = mix(sum, (uint32_t)(wide >> (y & 63)));
    return mix(sum, (uint32_t)((uint64_t)((int64_t)wide >> 5) >> 20) + (uint32_t)(wide << (x & 63) >> 32));
}

static uint32_t products(uint32_t x, uint32_t y)
{
    const int64_t s = (int64_t)(int32_t)x * (int32_t)y;
    const uint64_t u = (uint64_t)x * y;
    uint32_t sum = mix((uint32_t)s, (uint32_t)((uint64_t)s >> 32));
    sum = mix(sum, (uint32_t)(u >> 32) + (uint32_t)(((uint64_t)s + 0x80000000u) >> 32));
    sum = mix(sum, x / (y | 1) + (uint32_t)((int32_t)x / ((int32_t)(y >> 8) | 1)));
    sum = mix(sum, (uint32_t)(u / (x | 1)) + (uint32_t)((uint64_t)s % (y | 1)));
    return mix(sum, x - y * 3 + x % 7);
}

static uint32_t fields(uint32_t x, uint32_t y)
{
    uint32_t sum = (uint32_t)(int8_t)x + (uint8_t)(y >> 8) + (uint32_t)(int16_t)(x >> 3) + (uint16_t)(y >> 5);
    sum = mix(sum, (x >> 3 & 0x1ff) + (uint32_t)((int32_t)(y << 7) >> 20));
    sum = mix(sum, (x & ~0xff0u) | (y & 0xff) << 4);
    sum = mix(sum, (x >> 24 | x << 24) | (x >> 8 & 0xff00) | (x & 0xff00) << 8);
    for (uint32_t n = x; n; n &= n - 1) sum++;
    return mix(sum, (x & 0xffff) | y << 16);
}

static uint32_t branches(uint32_t x, uint32_t y)
{
    const int32_t a = (int32_t)x, b = (int32_t)y, least = a < b ? a : b, most = a < b ? b : a;
    uint32_t sum = (uint32_t)(a < 0 ? least / 4 : most / 3) + (x < y ? x : y);
    switch (x & 7) {
    case 0: return sum ^ 17;
    case 1: return sum + 5;
    case 2: return sum * 3;
    case 3: return sum - y;
    case 5: return mix(sum, x > 1000u && b > -77);
    default: break;
    }
    if ((a ^ b) < 0 && (int64_t)a - b > INT32_MAX) sum += 11;
    return sum;
}

static uint32_t memory(uint32_t x, uint32_t y)
{
    uint8_t bytes[40];
    int16_t halves[12];
    uint64_t wide[4];
    uint32_t sum = 0;
    for (int i = 0; i < 40; i++) bytes[i] = (uint8_t)(x >> (i & 15));
    for (int i = 0; i < 12; i++) halves[i] = (int16_t)(y * (uint32_t)i >> 5);
    for (int i = 0; i < 4; i++) wide[i] = (uint64_t)x * y + (uint64_t)i;
    memmove(bytes + 3, bytes, 30 + (x & 3));
    memcpy(wide, bytes + 1, 16);
    for (int i = 0; i < 40; i++) sum = mix(sum, (uint32_t)(int8_t)bytes[i]);
    for (int i = 11; i >= 0; i--) sum = mix(sum, (uint32_t)halves[i]);
    for (int i = 0; i < 4; i++) sum = mix(sum, (uint32_t)(wide[i] >> (y & 31)));
    return sum;
}

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static uint32_t floats(uint32_t x, uint32_t y)
{
    const float a = (float)(int32_t)x / 65536.0f, b = (float)(y >> 8) + 0.5f, p = a * b, q = a / b;
    const double d = (double)a * 1.0000001 + (double)b;
    float sum = p + a;
    sum = sum - q * 1.5f;
    if (a < b) sum += 0.25f;
    if (!(p > -3.0f)) sum = -sum;
    sum = sum > 1e9f ? 1e9f : sum < -1e9f ? -1e9f : sum;
    const uint32_t whole = (uint32_t)(int32_t)(q * 100.0f) + (uint32_t)b;
    const int32_t small = (int32_t)(d < 1e6 && d > -1e6 ? d : 1.0);
    return mix(mix(bits(sum), whole), bits((float)(d / 3.0 - 2.0)) + (uint32_t)small);
}

/* ---- What the DSP extension has instructions for ----------------------------------------------------------------- */

#ifdef __ARM_FEATURE_DSP
static uint32_t packed(uint32_t x, uint32_t y)
{
    uint32_t sum = (uint32_t)__smlad((int16x2_t)x, (int16x2_t)y, 77) + (uint32_t)__smlsd((int16x2_t)x, (int16x2_t)y, 5);
    sum = mix(sum, (uint32_t)__smuadx((int16x2_t)x, (int16x2_t)y) + (uint32_t)__sxtab16((int16x2_t)x, (int8x4_t)y));
    sum = mix(sum, (uint32_t)__smlabt((int32_t)x, (int32_t)y, 9) + (uint32_t)__smlawb((int32_t)x, (int32_t)y, 3));
    sum = mix(sum, (uint32_t)__qadd((int32_t)x, (int32_t)y) + (uint32_t)__qsub((int32_t)x, (int32_t)y));
    sum = mix(sum, (uint32_t)__qadd8((int8x4_t)x, (int8x4_t)y) + (uint32_t)__uhadd16(x, y)
                       + (uint32_t)__qsub16((int16x2_t)x, (int16x2_t)y));
    sum = mix(sum, (uint32_t)__smlald((int16x2_t)x, (int16x2_t)y, 1234567));
    sum = mix(sum, (uint32_t)__ssat((int32_t)x >> 8, 12) + (uint32_t)__usat((int32_t)y >> 4, 20)
                       + (uint32_t)__ssat16((int16x2_t)x, 5));
    (void)__ssub8((int8x4_t)x, (int8x4_t)y);
    sum = mix(sum, __sel(x, y));
    (void)__uadd8(x, y);
    return mix(sum, __sel(y, x));
}
#else
static int32_t half(uint32_t x, int is_top) { return (int16_t)(is_top ? x >> 16 : x & 0xffff); }
static int64_t clamp(int64_t x, int64_t least, int64_t most) { return x < least ? least : x > most ? most : x; }
static uint32_t saturated(int64_t x, int n)
{
    const int64_t end = (int64_t)1 << (n - 1);
    return (uint32_t)clamp(x, -end, end - 1);
}

static uint32_t pair(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

static uint32_t chosen(uint32_t x, uint32_t y, uint32_t mask) { return (x & mask) | (y & ~mask); }

static uint32_t packed(uint32_t x, uint32_t y)
{
    const int64_t low = (int64_t)half(x, 0) * half(y, 0), high = (int64_t)half(x, 1) * half(y, 1);
    const int64_t crossed = (int64_t)half(x, 0) * half(y, 1) + (int64_t)half(x, 1) * half(y, 0);
    uint32_t sum = (uint32_t)(low + high) + 77 + (uint32_t)(low - high) + 5, bytes = 0, greater = 0, carried = 0;
    const int32_t added = (int8_t)y, added_high = (int8_t)(y >> 16);
    sum = mix(sum, (uint32_t)crossed + pair(x + (uint32_t)added, (x >> 16) + (uint32_t)added_high));
    const uint64_t by_half = (uint64_t)((int64_t)(int32_t)x * half(y, 0));
    sum = mix(sum, (uint32_t)(half(x, 0) * half(y, 1)) + 9 + (uint32_t)(by_half >> 16) + 3);
    sum = mix(sum, saturated((int64_t)(int32_t)x + (int32_t)y, 32) + saturated((int64_t)(int32_t)x - (int32_t)y, 32));
    for (int i = 0; i < 32; i += 8) {
        const int32_t a = (int8_t)(x >> i), b = (int8_t)(y >> i);
        bytes |= (saturated(a + b, 8) & 255) << i;
        if (a >= b) greater |= UINT32_C(255) << i;
        if ((x >> i & 255) + (y >> i & 255) > 255) carried |= UINT32_C(255) << i;
    }
    const uint32_t means = pair(((x & 0xffff) + (y & 0xffff)) >> 1, ((x >> 16) + (y >> 16)) >> 1);
    sum = mix(sum, bytes + means + pair(saturated(half(x, 0) - half(y, 0), 16),
                                        saturated(half(x, 1) - half(y, 1), 16)));
    sum = mix(sum, (uint32_t)(1234567 + low + high));
    sum = mix(sum, saturated((int32_t)x >> 8, 12) + (uint32_t)clamp((int32_t)y >> 4, 0, (1 << 20) - 1)
                       + pair(saturated(half(x, 0), 5), saturated(half(x, 1), 5)));
    sum = mix(sum, chosen(x, y, greater));
    return mix(sum, chosen(y, x, carried));
}
#endif

uint32_t work(uint32_t seed, uint32_t count)
{
    static uint32_t (*const parts[])(uint32_t, uint32_t) = { shifts, products, fields, branches, memory, floats,
                                                             packed };
    uint32_t sum = 0, state = seed;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            const uint32_t x = next(&state) >> (i & 15), y = next(&state) >> (i * 5 & 31);
            sum = mix(sum, parts[k](x ^ x << 16, y ^ y << 11));
        }
    return sum;
}
