/* SPDX-License-Identifier: MIT */
/* runtime/lw_fixed.h and the kinds of expression with the same meaning. Steps run at edge values and on a long random
 * sequence, beside gemmlowp's definition (truncating division) and division in doubles; functions beside the recorded
 * results of gemmlowp's fixedpoint.h, and beside exp and 1/x. */
#include "check.h"

#include <math.h>
#include <stdint.h>

#include "context/context.h"
#include "ir/algebra/algebra.h"
#include "runtime/lw_fixed.h"

static const int32_t edges[] = { 0,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 127,
                                 -128,
                                 255,
                                 65535,
                                 -65536,
                                 1 << 20,
                                 1 << 29,
                                 1 << 30,
                                 -(1 << 30),
                                 (1 << 30) - 1,
                                 (1 << 30) + 1,
                                 -(1 << 30) - 1,
                                 INT32_MAX,
                                 INT32_MAX - 1,
                                 INT32_MIN,
                                 INT32_MIN + 1,
                                 1518500250,
                                 -1518500250,
                                 715827883 };
enum { EDGES = sizeof edges / sizeof edges[0], RANDOM = 200000 };

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

/* An edge, an edge's neighbourhood, or any number of any size. */
static int32_t any(uint64_t *seed)
{
    uint32_t kind = draw(seed) % 3, v = draw(seed);
    if (kind == 0) return edges[v % EDGES];
    if (kind == 1) return (int32_t)((uint32_t)edges[v % EDGES] + v / EDGES % 9 - 4);
    return (int32_t)v >> draw(seed) % 31;
}

static int64_t apply(ExprKind k, int32_t a, int32_t b)
{
    const Scalar args[] = { { .i = a }, { .i = b } };
    return scalar_apply(k, I32, I32, args).i;
}

/* gemmlowp: the nudge follows the sign of the product, and the division truncates. */
static int64_t high_wanted(int32_t a, int32_t b)
{
    int64_t product = (int64_t)a * b, nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    return a == INT32_MIN && b == INT32_MIN ? INT32_MAX : (product + nudge) / ((int64_t)1 << 31);
}

static void check_high(void)
{
    uint64_t seed = 1;
    int wrong = 0;
    for (int i = 0; i < EDGES * EDGES + RANDOM; i++) {
        int32_t a = i < EDGES * EDGES ? edges[i / EDGES] : any(&seed),
                b = i < EDGES * EDGES ? edges[i % EDGES] : any(&seed);
        int64_t wanted = high_wanted(a, b);
        bool both_least = a == INT32_MIN && b == INT32_MIN;
        wrong += lw_mulhigh_sat_i32(a, b) != wanted || apply(EXPR_MULHIGH, a, b) != wanted
                 || (!both_least && lw_mulhigh_i32(a, b) != wanted);
    }
    check_that(wrong == 0, "mulhigh", "%d values differ", wrong);
}

/* All v and shifts for which it may be used, at edges of multipliers. */
static void check_high_up(void)
{
    uint64_t seed = 5;
    int wrong = 0, tried = 0;
    for (int32_t up = 16; up <= 29; up++)
        for (int32_t v = 1 - (1 << (30 - up)); v < 1 << (30 - up); v++)
            for (int i = 0; i < EDGES; i++) {
                const int32_t m = i % 2 ? any(&seed) : edges[i];
                if (m < 0) continue;
                wrong += lw_mulhigh_up_i32(v, up, m) != high_wanted(v * (1 << up), m);
                tried++;
            }
    check_that(wrong == 0 && tried > 100000, "mulhigh-up", "%d of %d values differ", wrong, tried);
}

/* 32 bits and powers of two are exact in a double, and C's round takes ties away from zero. */
static void check_shift(void)
{
    uint64_t seed = 2;
    int wrong = 0;
    for (int i = 0; i < EDGES * 32 + RANDOM; i++) {
        int32_t a = i < EDGES * 32 ? edges[i / 32] : any(&seed),
                n = i < EDGES * 32 ? i % 32 : (int32_t)(draw(&seed) % 32);
        int64_t wanted = (int64_t)round(ldexp((double)a, -n));
        bool is_near = a >= -(1 << 30) && a <= 1 << 30 && n >= 1 && n <= 30;
        wrong += lw_roundshift_i32(a, n) != wanted || lw_roundshift_any_i32(a, n) != wanted
                 || apply(EXPR_ROUNDSHIFT, a, n) != wanted;
        wrong += is_near && lw_roundshift_near_i32(a, n) != wanted;
    }
    check_that(wrong == 0, "roundshift", "%d values differ", wrong);
    CHECK("roundshift-outside", lw_roundshift_any_i32(77, 32) == 0 && lw_roundshift_any_i32(77, -1) == 0
                                    && apply(EXPR_ROUNDSHIFT, 77, 40) == 0);
}

/* The step that ends quantized operators, where it may be used: as its two roundings, the sum and the clamp one
 * by one. */
static void check_scale(void)
{
    uint64_t seed = 3;
    int wrong = 0;
    for (int i = 0; i < RANDOM; i++) {
        int32_t a = any(&seed), m = any(&seed), n = 1 + (int32_t)(draw(&seed) % 22),
                zero = (int32_t)(draw(&seed) % 257) - 128;
        if (a < -(1 << 30) || a >= 1 << 30 || m < 0) continue;
        int64_t wanted = (int64_t)round(ldexp((double)high_wanted(a, m), -n)) + zero;
        wrong += lw_scale_i8(a, m, n, zero) != (wanted < -128 ? -128 : wanted > 127 ? 127 : wanted);
        const int64_t least = wanted - zero - 128;
        wrong += lw_scale_i8(a, m, n, -128) != (least < -128 ? -128 : least > 127 ? 127 : least);
    }
    check_that(wrong == 0, "scale", "%d values differ", wrong);
    CHECK("saturate", lw_sat_i8(-129) == -128 && lw_sat_i8(-128) == -128 && lw_sat_i8(-1) == -1 && lw_sat_i8(127) == 127
                          && lw_sat_i8(128) == 127 && lw_sat_i8(INT32_MIN) == -128);
}

/* All edges in its range, all multipliers among them, all shifts and zero points. */
static void check_scale_edges(void)
{
    static const int32_t least = -(1 << 30), most = (1 << 30) - 1;
    int wrong = 0, tried = 0;
    for (int i = -1; i <= EDGES; i++)
        for (int j = 0; j < EDGES; j++)
            for (int32_t n = 1; n <= 22; n++)
                for (int32_t zero = -128; zero <= 128; zero++) {
                    const int32_t a = i < 0 ? least : i == EDGES ? most : edges[i], m = edges[j];
                    if (a < least || a > most || m < 0) continue;
                    const int64_t wanted = (int64_t)round(ldexp((double)high_wanted(a, m), -n)) + zero;
                    wrong += lw_scale_i8(a, m, n, zero) != (wanted < -128 ? -128 : wanted > 127 ? 127 : wanted);
                    tried++;
                }
    check_that(wrong == 0 && tried > 1000000, "scale-edges", "%d of %d values differ", wrong, tried);
}

/* ---- Ranges of their results ------------------------------------------------------------------------------------- */

typedef struct Two { int32_t least, greatest; } Two;
static Two any_two(uint64_t *seed)
{
    int32_t a = any(seed), b = any(seed);
    return a < b ? (Two){ a, b } : (Two){ b, a };
}
static int32_t inside(uint64_t *seed, Two range)
{
    uint32_t kind = draw(seed) % 4;
    uint64_t span = (uint64_t)((int64_t)range.greatest - range.least) + 1;
    return kind == 0 ? range.least : kind == 1 ? range.greatest : (int32_t)(range.least + (int64_t)(draw(seed) % span));
}

/* The interval of a result holds every value, and where the operands are single numbers it is that value. */
static void check_intervals(ExprKind k, const char *label)
{
    Ctx *cx = context_new(NULL, NULL);
    const Expr *a = expr_new_var(cx, "a", VAR_LOOP, I32, INT32_MIN, INT32_MAX),
               *b = expr_new_var(cx, "b", VAR_LOOP, I32, INT32_MIN, INT32_MAX), *e = expr_binary(cx, k, a, b);
    uint64_t seed = 7;
    int outside = 0, loose = 0;
    for (int i = 0; i < RANDOM / 10; i++) {
        Two x = any_two(&seed), y = any_two(&seed);
        if (k == EXPR_ROUNDSHIFT)
            y.least = (int32_t)(draw(&seed) % 31),
            y.greatest = y.least + (int32_t)(draw(&seed) % (32 - (uint32_t)y.least));
        if (i % 5 == 0) x.greatest = x.least, y.greatest = y.least;
        Interval range = interval_apply(e, (const Interval[]){ { x.least, x.greatest }, { y.least, y.greatest } });
        for (int v = 0; v < 8; v++) {
            int32_t p = inside(&seed, x), q = inside(&seed, y);
            int64_t found = k == EXPR_MULHIGH ? high_wanted(p, q) : (int64_t)round(ldexp((double)p, -q));
            outside += found < range.least || found > range.greatest;
        }
        loose += i % 5 == 0 && x.least > INT32_MIN && range.least != range.greatest;
    }
    check_that(outside == 0 && loose == 0, label, "%d values lie outside, %d intervals of one value are wider", outside,
               loose);
    ctx_free(cx);
}

static void check_clz(void)
{
    int wrong = 0;
    for (int bit = 0; bit < 32; bit++) {
        uint32_t top = (uint32_t)1 << bit;
        wrong += lw_clz_i32((int32_t)top) != 31 - bit || lw_clz_i32((int32_t)(top | (top - 1))) != 31 - bit
                 || apply(EXPR_CLZ, (int32_t)top, 0) != 31 - bit;
    }
    CHECK("clz", wrong == 0 && lw_clz_i32(0) == 32);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct ExpCase { int32_t a, of_q5, of_q4, of_q0; } ExpCase;
/* Of a / 2^31 */
typedef struct InverseCase { int32_t a, one_over_one_plus, one_minus_over_one_plus; } InverseCase;
static const ExpCase exp_cases[] = {
    { 0, 2147483647, 2147483647, 2147483647 },
    { -1, 2147483124, 2147483140, 2147483155 },
    { -2, 2147483093, 2147483124, 2147483154 },
    { -16777216, 1672462419, 1895147668, 2130771442 },
    { -16777215, 1672462444, 1895147682, 2130771443 },
    { -16777217, 1672461539, 1895147654, 2130771441 },
    { -67108864, 790015308, 1302515042, 2081412406 },
    { -268435456, 39332546, 290630390, 1895147668 },
    { -1073741824, 242, 720401, 1302515042 },
    { INT32_MIN, 0, 242, 790015308 },
    { -2147483647, 0, 242, 790015308 },
    { -123456789, 341177383, 855963115, 2027508506 },
    { -43814434, 1117854047, 1549378351, 2104112955 },
    { -17768116, 1647948328, 1881207731, 2129788487 },
    { -291604546, 27849240, 244552221, 1874810921 },
    { -170430759, 169429311, 603196995, 1983640420 },
    { -122142093, 347927115, 864388683, 2028750133 },
    { -7547174, 1919059274, 2030061159, 2139949294 },
    { -16639287, 1675903332, 1897096220, 2130908301 },
    { -9199767, 1872378504, 2005218737, 2138303146 },
    { -5000450, 1993285429, 2068948412, 2142488568 },
    { -3286029, 2044863610, 2095545409, 2144199669 },
    { -83580, 2144810286, 2146146305, 2147399578 },
    { -779932, 2122669992, 2135040536, 2146703373 },
    { -2074059824, 0, 418, 817493317 },
    { -79099919, 660747256, 1191194325, 2069822695 },
    { -375598610, 7966113, 130794097, 1802897389 },
    { -123559276, 340656743, 855309761, 2027411747 },
    { -53215116, 971736803, 1444572240, 2094922299 },
    { -64392383, 822649970, 1329145476, 2084046968 },
};
static const InverseCase inverse_cases[] = {
    { 0, 2147483647, 2147483647 },
    { 1, 2147483647, 2147483647 },
    { 2, 2147483647, 2147483647 },
    { 2147483647, 1073741820, -8 },
    { 2147483646, 1073741820, -8 },
    { 1073741824, 1431655762, 715827876 },
    { 1073741823, 1431655770, 715827892 },
    { 536870912, 1717986914, 1288490180 },
    { 123456789, 2030738432, 1913993216 },
    { 1703412, 2145781586, 2144079524 },
    { 2046045446, 1099714804, 51945960 },
    { 1066953986, 1434678950, 721874252 },
    { 356321528, 1841870952, 1536258256 },
    { 113520167, 2039663090, 1931842532 },
    { 67098748, 2082417894, 2017352140 },
    { 19279374, 2128375818, 2109267988 },
    { 14203671, 2133373304, 2119262960 },
    { 11329968, 2136213146, 2124942644 },
    { 1302781, 2146181656, 2144879664 },
    { 372325, 2147111388, 2146739128 },
    { 1831129127, 1159119088, 170754528 },
    { 334537816, 1858036320, 1568588992 },
    { 3796011, 2143694338, 2139905028 },
    { 124196270, 2030077384, 1912671120 },
};

static void check_exp(void)
{
    for (size_t i = 0; i < sizeof exp_cases / sizeof exp_cases[0]; i++) {
        const ExpCase *c = &exp_cases[i];
        check_that(lw_expq_i32(c->a, 5) == c->of_q5 && lw_expq_i32(c->a, 4) == c->of_q4
                       && lw_expq_i32(c->a, 0) == c->of_q0 && apply(EXPR_EXPQ, c->a, 5) == c->of_q5,
                   "expq-recorded", "of %ld: %ld, %ld, %ld", (long)c->a, (long)lw_expq_i32(c->a, 5),
                   (long)lw_expq_i32(c->a, 4), (long)lw_expq_i32(c->a, 0));
    }
    uint64_t seed = 3;
    double worst = 0;
    for (int i = 0; i < RANDOM; i++) {
        int32_t a = -(int32_t)(draw(&seed) >> 1), m = (int32_t)(draw(&seed) % 6);
        double off = fabs(lw_expq_i32(a, m) / 2147483648.0 - exp(a * ldexp(1, m - 31)));
        worst = off > worst ? off : worst;
    }
    check_that(worst < 1e-6, "expq-is-exp", "off by %g", worst);
    CHECK("expq-outside", lw_expq_i32(-5, 6) == 0 && lw_expq_i32(-5, -1) == 0);
}

static int32_t doubled(int32_t a, int bits)
{
    int64_t v = (int64_t)a * (1 << bits);
    return v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

static void check_inverse(void)
{
    for (size_t i = 0; i < sizeof inverse_cases / sizeof inverse_cases[0]; i++) {
        const InverseCase *c = &inverse_cases[i];
        int32_t h = (c->a >> 1) + (1 << 30), r = lw_recipq_i32(h);
        check_that(doubled(r, 1) == c->one_over_one_plus && doubled(r - (1 << 29), 2) == c->one_minus_over_one_plus
                       && apply(EXPR_RECIPQ, h, 0) == r,
                   "recipq-recorded", "of %ld: %ld", (long)c->a, (long)r);
    }
    uint64_t seed = 4;
    double worst = 0;
    for (int i = 0; i < RANDOM; i++) {
        int32_t h = (1 << 30) + (int32_t)(draw(&seed) >> 2);
        double off = fabs(lw_recipq_i32(h) / 536870912.0 - 2147483648.0 / h);
        worst = off > worst ? off : worst;
    }
    check_that(worst < 1e-7, "recipq-is-1/x", "off by %g", worst);
}

int main(void)
{
    CHECK_RUN(check_high, check_high_up, check_shift, check_scale, check_scale_edges);
    check_intervals(EXPR_MULHIGH, "mulhigh-interval");
    check_intervals(EXPR_ROUNDSHIFT, "roundshift-interval");
    CHECK_RUN(check_clz, check_exp, check_inverse);
    return check_done();
}
