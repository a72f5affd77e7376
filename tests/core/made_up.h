/* SPDX-License-Identifier: MIT */
/* The primitives of a core that is made up: registers of 64 bits, eight bytes; sums take four of them. It is all that
 * such a core needs for the macros of 8-bit layers (runtime/simd/tiles.h). */
#ifndef MADE_UP_H
#define MADE_UP_H
#include <stdint.h>
#include <string.h>

typedef struct Bytes { int8_t lane[8]; } Bytes;              /* one register */
typedef struct Halves { int16_t lane[8]; } Halves;           /* two */
typedef struct Words { int32_t lane[8]; } Words;             /* four */
#define EACH(Type, formula)                                                                                            \
    Type r;                                                                                                            \
    for (int i = 0; i < 8; i++) r.lane[i] = formula;                                                                   \
    return r
static inline Bytes made_up_load(const int8_t *p)
{
    Bytes v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void made_up_store(int8_t *p, Bytes v) { memcpy(p, &v, sizeof v); }
static inline Words made_up_load4(const int32_t *p)
{
    Words v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void made_up_store4(int32_t *p, Words v) { memcpy(p, &v, sizeof v); }
static inline int32_t made_up_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }

#define LW_TILES_DOT 8
typedef Words lw_v_sums;
static inline Words lw_v_no_sums(void) { EACH(Words, 0); }
static inline Words made_up_multiply(Words s, Bytes a, Bytes b)
{
    EACH(Words, made_up_add(s.lane[i], a.lane[i] * b.lane[i]));
}
static inline Words lw_v_dot(Words s, const int8_t *x, const int8_t *k)
{
    return made_up_multiply(s, made_up_load(x), made_up_load(k));
}
static inline Words lw_v_dot_part(Words s, const int8_t *x, const int8_t *k, int32_t n)
{
    Bytes a = { { 0 } }, b = { { 0 } };
    memcpy(&a, x, (size_t)n);
    memcpy(&b, k, (size_t)n);
    return made_up_multiply(s, a, b);
}
static inline int32_t lw_v_total(Words s)
{
    int32_t sum = 0;
    for (int i = 0; i < 8; i++) sum = made_up_add(sum, s.lane[i]);
    return sum;
}
static inline void lw_v_add_totals(int32_t *c, Words s, Words t)
{
    c[0] = made_up_add(c[0], lw_v_total(s));
    c[1] = made_up_add(c[1], lw_v_total(t));
}

#define LW_TILES_WINDOW 8
typedef Bytes lw_v8_bytes;
typedef Words lw_v8_sums;
static inline Bytes lw_v8_load(const int8_t *p) { return made_up_load(p); }
static inline Words lw_v8_begin(const int32_t *c, int32_t pairs) { return (void)pairs, made_up_load4(c); }
static inline Words lw_v8_add_one(Words s, Bytes x, Bytes k) { return made_up_multiply(s, x, k); }
static inline Words lw_v8_add_two(Words s, Bytes x, Bytes x1, Bytes k, Bytes k1)
{
    return made_up_multiply(made_up_multiply(s, x, k), x1, k1);
}
static inline void lw_v8_end(int32_t *c, Words s) { made_up_store4(c, s); }

#define LW_TILES_SCALE 8
typedef Words lw_v8_words;
static inline Words lw_v8_load_words(const int32_t *p) { return made_up_load4(p); }
static inline Words lw_v8_load_shifts(const uint8_t *p) { EACH(Words, p[i]); }
static inline Words lw_v8_fill(int32_t x) { EACH(Words, x); }
static inline Words lw_v8_fill_shift(int32_t s) { EACH(Words, s); }
static inline int32_t made_up_scaled(int32_t a, int32_t m, int32_t s)
{
    const int64_t high = ((int64_t)a * m + 0x40000000) >> 31, half = s ? (int64_t)1 << (s - 1) : 0;
    return (int32_t)(high < 0 ? -((-high + half) >> s) : (high + half) >> s);
}
static inline Words lw_v8_scaled(Words a, Words m, Words s, int is_positive, int may_wrap)
{
    (void)is_positive, (void)may_wrap;
    EACH(Words, made_up_scaled(a.lane[i], m.lane[i], s.lane[i]));
}
static inline void lw_v8_narrow(int8_t *y, Words v, int32_t zero, int32_t least, int32_t most)
{
    for (int i = 0; i < 8; i++) {
        const int32_t x = made_up_add(v.lane[i], zero);
        y[i] = (int8_t)(x < least ? least : x > most ? most : x);
    }
}
static inline Words lw_v8_shifted(const int8_t *p, int32_t zero)
{
    EACH(Words, (int32_t)((uint32_t)(p[i] + zero) << 20));
}
static inline Words lw_v8_plus(Words v, Words w) { EACH(Words, made_up_add(v.lane[i], w.lane[i])); }

#define LW_TILES_POOL 8
typedef Halves lw_v8_halves;
typedef Bytes lw_v_most;
static inline Halves lw_v8_no_halves(void) { EACH(Halves, 0); }
static inline Halves lw_v8_add_bytes(Halves s, const int8_t *p) { EACH(Halves, (int16_t)(s.lane[i] + p[i])); }
static inline void lw_v8_add_halves(int32_t *c, Halves s)
{
    for (int i = 0; i < 8; i++) c[i] = made_up_add(c[i], s.lane[i]);
}
static inline Bytes lw_v_load_most(const int8_t *p) { return made_up_load(p); }
static inline Bytes lw_v_max(Bytes y, const int8_t *p) { EACH(Bytes, p[i] > y.lane[i] ? p[i] : y.lane[i]); }
static inline void lw_v_store_most(int8_t *p, Bytes y) { made_up_store(p, y); }

#define LW_TILES_COPY
#endif
