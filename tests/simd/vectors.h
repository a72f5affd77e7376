/* SPDX-License-Identifier: MIT */
/* The checks of one width: included by simd_test.c with LANES defined. Every name of the contract (runtime/simd/simd.h)
 * is held against its formula in each lane, for all pairs of edge values. NAME(f32, add) is lw_f32x8_add. */
#define PASTE(type, lanes, name) lw_##type##x##lanes##name
#define EXPAND(type, lanes, name) PASTE(type, lanes, name)
#define NAME(type, name) EXPAND(type, LANES, _##name)
#define TYPE(type) EXPAND(type, LANES, )
#define F TYPE(f32)
#define I TYPE(i32)
#define M TYPE(m32)
#define TEST_OF(lanes) TEST_NAME(lanes)
#define TEST_NAME(lanes) test_##lanes
#define TEST_PART(part, lanes) TEST_PART_NAME(part, lanes)
#define TEST_PART_NAME(part, lanes) part##_##lanes
#define SHOWN(lanes) SHOWN_NAME(lanes)
#define SHOWN_NAME(lanes) "x" #lanes

/* Lane i holds the values from `at` on, so every value occurs in every lane, with every other value. */
#define GATHER(array, values, count, at) for (int i = 0; i < LANES; i++) array[i] = values[((at) + i) % count]

/* The bits of a mask, as 0 and 1. */
static void TEST_PART(mask, LANES)(M m, int32_t *out)
{
    NAME(i32, store)(out, NAME(i32, select)(m, NAME(i32, broadcast)(1), NAME(i32, broadcast)(0)));
}

#define FLOATS(name, call, formula)                                                                                    \
    do {                                                                                                               \
        int good = 1;                                                                                                  \
        for (int p = 0; p < FLOAT_COUNT; p++)                                                                          \
            for (int q = 0; q < FLOAT_COUNT; q++) {                                                                    \
                float xs[LANES], ys[LANES], zs[LANES], got[LANES];                                                     \
                GATHER(xs, floats, FLOAT_COUNT, p);                                                                    \
                GATHER(ys, floats, FLOAT_COUNT, q);                                                                    \
                GATHER(zs, floats, FLOAT_COUNT, p * 7 + q * 3);                                                        \
                const F a = NAME(f32, load)(xs), b = NAME(f32, load)(ys), c = NAME(f32, load)(zs);                     \
                (void)a, (void)b, (void)c;                                                                             \
                NAME(f32, store)(got, call);                                                                           \
                for (int i = 0; i < LANES; i++) {                                                                      \
                    const float x = xs[i], y = ys[i], z = zs[i];                                                       \
                    (void)x, (void)y, (void)z;                                                                         \
                    good = good && same(got[i], formula);                                                              \
                }                                                                                                      \
            }                                                                                                          \
        CHECK("f32" SHOWN(LANES) "_" name, good);                                                                      \
    } while (0)

#define FLOAT_MASKS(name, call, formula)                                                                               \
    do {                                                                                                               \
        int good = 1;                                                                                                  \
        for (int p = 0; p < FLOAT_COUNT; p++)                                                                          \
            for (int q = 0; q < FLOAT_COUNT; q++) {                                                                    \
                float xs[LANES], ys[LANES];                                                                            \
                int32_t got[LANES];                                                                                    \
                GATHER(xs, floats, FLOAT_COUNT, p);                                                                    \
                GATHER(ys, floats, FLOAT_COUNT, q);                                                                    \
                const F a = NAME(f32, load)(xs), b = NAME(f32, load)(ys);                                              \
                TEST_PART(mask, LANES)(call, got);                                                                     \
                for (int i = 0; i < LANES; i++) {                                                                      \
                    const float x = xs[i], y = ys[i];                                                                  \
                    good = good && got[i] == (formula);                                                                \
                }                                                                                                      \
            }                                                                                                          \
        CHECK(name, good);                                                                                             \
    } while (0)

#define INTEGERS(name, call, formula)                                                                                  \
    do {                                                                                                               \
        int good = 1;                                                                                                  \
        for (int p = 0; p < INTEGER_COUNT; p++)                                                                        \
            for (int q = 0; q < INTEGER_COUNT; q++) {                                                                  \
                int32_t xs[LANES], ys[LANES], got[LANES];                                                              \
                GATHER(xs, integers, INTEGER_COUNT, p);                                                                \
                GATHER(ys, integers, INTEGER_COUNT, q);                                                                \
                const I a = NAME(i32, load)(xs), b = NAME(i32, load)(ys);                                              \
                (void)a, (void)b;                                                                                      \
                NAME(i32, store)(got, call);                                                                           \
                for (int i = 0; i < LANES; i++) {                                                                      \
                    const int64_t x = xs[i], y = ys[i];                                                                \
                    (void)x, (void)y;                                                                                  \
                    good = good && (uint32_t)got[i] == (uint32_t)(formula);                                            \
                }                                                                                                      \
            }                                                                                                          \
        CHECK(name, good);                                                                                             \
    } while (0)

#define TRUTH(mask) NAME(i32, select)(mask, NAME(i32, broadcast)(1), NAME(i32, broadcast)(0))

/* Narrow loads: every value of the type, with no element after the last lane. */
#define NARROW(type, name, least, greatest)                                                                            \
    do {                                                                                                               \
        int good = 1;                                                                                                  \
        for (int32_t v = least; v <= greatest; v++) {                                                                  \
            type xs[LANES];                                                                                            \
            int32_t got[LANES];                                                                                        \
            for (int i = 0; i < LANES; i++) xs[i] = (type)(i % 3 == 2 ? greatest : i % 3 ? least : v);                 \
            NAME(i32, store)(got, NAME(i32, name)(xs));                                                                \
            for (int i = 0; i < LANES; i++) good = good && got[i] == xs[i];                                            \
        }                                                                                                              \
        CHECK("i32" SHOWN(LANES) "_" #name, good);                                                                     \
    } while (0)

static void TEST_PART(conversions, LANES)(void)
{
    int good = 1;
    for (int p = 0; p < FLOAT_COUNT; p++) {
        float xs[LANES];
        int32_t got[LANES];
        GATHER(xs, floats, FLOAT_COUNT, p);
        NAME(i32, store)(got, NAME(i32, from_f32)(NAME(f32, load)(xs)));
        for (int i = 0; i < LANES; i++) good = good && got[i] == truncated(xs[i]);
    }
    CHECK("i32" SHOWN(LANES) "_from_f32", good);
    good = 1;
    for (int p = 0; p < INTEGER_COUNT; p++) {
        int32_t xs[LANES];
        float got[LANES];
        GATHER(xs, integers, INTEGER_COUNT, p);
        NAME(f32, store)(got, NAME(f32, from_i32)(NAME(i32, load)(xs)));
        for (int i = 0; i < LANES; i++) good = good && same(got[i], (float)(double)xs[i]);
    }
    CHECK("f32" SHOWN(LANES) "_from_i32", good);
}

static void TEST_OF(LANES)(void)
{
    FLOATS("broadcast", NAME(f32, broadcast)(xs[0]), xs[0]);
    FLOATS("load", a, x);
    FLOATS("hold", NAME(f32, hold)(a), x);
    FLOATS("neg", NAME(f32, neg)(a), -x);
    FLOATS("abs", NAME(f32, abs)(a), fabsf(x));
    FLOATS("sqrt", NAME(f32, sqrt)(a), sqrtf(x));
    FLOATS("add", NAME(f32, add)(a, b), x + y);
    FLOATS("sub", NAME(f32, sub)(a, b), x - y);
    FLOATS("mul", NAME(f32, mul)(a, b), x * y);
    FLOATS("div", NAME(f32, div)(a, b), x / y);
    FLOATS("min", NAME(f32, min)(a, b), least_of(x, y));
    FLOATS("max", NAME(f32, max)(a, b), -least_of(-x, -y));
    FLOATS("max-zero", NAME(f32, max)(a, NAME(f32, broadcast)(0.0f)), -least_of(-x, -0.0f));
    FLOATS("max-minus-zero", NAME(f32, max)(a, NAME(f32, broadcast)(-0.0f)), -least_of(-x, 0.0f));
    FLOATS("max-minus-one", NAME(f32, max)(a, NAME(f32, broadcast)(-1.0f)), -least_of(-x, 1.0f));
    FLOATS("min-zero", NAME(f32, min)(a, NAME(f32, broadcast)(0.0f)), least_of(x, 0.0f));
    FLOATS("min-minus-zero", NAME(f32, min)(a, NAME(f32, broadcast)(-0.0f)), least_of(x, -0.0f));
    FLOATS("min-six", NAME(f32, min)(a, NAME(f32, broadcast)(6.0f)), least_of(x, 6.0f));
    FLOATS("fma", NAME(f32, fma)(a, b, c), fmaf(x, y, z));
    FLOATS("select", NAME(f32, select)(NAME(f32, lt)(a, b), c, a), x < y ? z : x);
    FLOAT_MASKS("f32" SHOWN(LANES) "_lt", NAME(f32, lt)(a, b), x < y);
    FLOAT_MASKS("f32" SHOWN(LANES) "_le", NAME(f32, le)(a, b), x <= y);
    FLOAT_MASKS("f32" SHOWN(LANES) "_eq", NAME(f32, eq)(a, b), x == y);
    FLOAT_MASKS("m32" SHOWN(LANES) "_not", NAME(m32, not)(NAME(f32, lt)(a, b)), !(x < y));
    FLOAT_MASKS("m32" SHOWN(LANES) "_and", NAME(m32, and)(NAME(f32, le)(a, b), NAME(f32, le)(b, a)), x <= y && y <= x);
    FLOAT_MASKS("m32" SHOWN(LANES) "_or", NAME(m32, or)(NAME(f32, lt)(a, b), NAME(f32, lt)(b, a)), x < y || y < x);
    INTEGERS("i32" SHOWN(LANES) "_load", a, x);
    INTEGERS("i32" SHOWN(LANES) "_broadcast", NAME(i32, broadcast)(ys[1]), ys[1]);
    INTEGERS("i32" SHOWN(LANES) "_add", NAME(i32, add)(a, b), x + y);
    INTEGERS("i32" SHOWN(LANES) "_sub", NAME(i32, sub)(a, b), x - y);
    INTEGERS("i32" SHOWN(LANES) "_mul", NAME(i32, mul)(a, b), (uint64_t)x * (uint64_t)y);
    INTEGERS("i32" SHOWN(LANES) "_min", NAME(i32, min)(a, b), x < y ? x : y);
    INTEGERS("i32" SHOWN(LANES) "_max", NAME(i32, max)(a, b), x > y ? x : y);
    INTEGERS("i32" SHOWN(LANES) "_and", NAME(i32, and)(a, b), x & y);
    INTEGERS("i32" SHOWN(LANES) "_or", NAME(i32, or)(a, b), x | y);
    INTEGERS("i32" SHOWN(LANES) "_xor", NAME(i32, xor)(a, b), x ^ y);
    INTEGERS("i32" SHOWN(LANES) "_lt", TRUTH(NAME(i32, lt)(a, b)), x < y);
    INTEGERS("i32" SHOWN(LANES) "_le", TRUTH(NAME(i32, le)(a, b)), x <= y);
    INTEGERS("i32" SHOWN(LANES) "_eq", TRUTH(NAME(i32, eq)(a, b)), x == y);
    INTEGERS("i32" SHOWN(LANES) "_select", NAME(i32, select)(NAME(i32, lt)(a, b), a, b), x < y ? x : y);
    NARROW(int8_t, load_i8, INT8_MIN, INT8_MAX);
    NARROW(uint8_t, load_u8, 0, UINT8_MAX);
    NARROW(int16_t, load_i16, INT16_MIN, INT16_MAX);
    TEST_PART(conversions, LANES)();
}

#undef PASTE
#undef EXPAND
#undef NAME
#undef TYPE
#undef F
#undef I
#undef M
#undef TEST_OF
#undef TEST_NAME
#undef TEST_PART
#undef TEST_PART_NAME
#undef SHOWN
#undef SHOWN_NAME
#undef GATHER
#undef FLOATS
#undef FLOAT_MASKS
#undef INTEGERS
#undef TRUTH
#undef NARROW
#undef LANES
