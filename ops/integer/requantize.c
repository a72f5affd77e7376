/* SPDX-License-Identifier: MIT */
/* Requantizes exact integers with a single rounding. graph/quantize/requantize.c finds constants with which the result
 * is the real quotient, rounded to nearest with ties to even, for every integer in the input's range.
 *
 *   requantize_fixed     y = to(clamp((x * m + c) >> n, min, max))               64 bits; c: rounding and zero point;
 *                        x may be i64 if no product exceeds 2^62
 *     with `zero`        y = to(clamp((((x * m) >> (n - 1)) + 2 * zero + 1) >> 1, min, max))    32 bits
 *   requantize_words     y = to(clamp((x * m + (x * low >> 31) + c) >> n, min, max))          a factor of 62 bits
 *   requantize_even      y = to(clamp(even((x * m + c) / d) + zero, min, max))   for exact ties; d is even
 *   requantize_sum       y = to(clamp((a * ma + b * mb + c) >> n, min, max))     two 8-bit operands
 *     with `up`          y = to(clamp(((((a << up) * ma + (b << up) * mb) >> 32) + c) >> n, min, max))
 *   requantize_sum_even  y = to(clamp(even((a * ma + b * mb + c) / d) + zero, min, max))
 *
 *   even(t / d) = floor((t + d/2 - 1 + floor(t / d) % 2) / d)
 *
 * The form with `zero` equals c = zero * 2^n + 2^(n-1): the zero point and one half, added after the first shift.
 * m, c and n of requantize_fixed, m, low and c of requantize_words, and m and c of requantize_even, are attributes or
 * one value per channel.
 * recentered stores the same values with the other signedness: i8 with zero point z equals u8 with z + 128. */
#include "graph/dag/op_build.h"

#include <string.h>

enum { HIGH_WORD = 32, MOST_SHIFT = 62 };

static bool read_type(Ctx *cx, const Node *n, DType *t)
{
    const char *to = node_text(n, "to", "");
    if (dtype_read(to, strlen(to), t) && (*t == I8 || *t == U8 || *t == I16)) return true;
    op_refuse(cx, n, "'to' is \"%s\"; use i8, u8 or i16", to);
    return false;
}

/* Checks the types of the operands; is_wide: sums may also be i64. The caller ensures that their products do not
 * overflow. */
static bool check_types(Ctx *cx, const Node *n, int operands, bool is_wide, const DType *constants)
{
    for (int i = 0; i < n->in_count; i++) {
        DType t = n->in[i] ? n->in[i]->type : I8, wanted = i < operands ? I8 : constants[i - operands];
        if (i < operands ? t == I8 || t == U8 || t == I16 || t == I32 || (t == I64 && is_wide)
                         : !n->in[i] || t == wanted) continue;
        op_refuse(cx, n, "input %d is %s; %s", i, dtype_info(t)->spelling,
                  i < operands ? is_wide ? "use i8, u8, i16, i32 or i64" : "use i8, u8, i16 or i32"
                               : text_format(cx, "use %s", dtype_info(wanted)->spelling));
        return false;
    }
    return true;
}

static bool check_operands(Ctx *cx, const Node *n, int operands)
{
    return check_types(cx, n, operands, false, (const DType[]){ I32, I64, U8 });
}

static Tensor *input(const Node *n, int i) { return i < n->in_count ? n->in[i] : NULL; }

/* Returns the phrase of an added constant, such as "+ 5" or "- 5", or "" for 0. */
static const char *plus_text(Ctx *cx, int64_t v)
{
    return !v      ? ""
           : v < 0 ? text_format(cx, "- %llu", 0 - (unsigned long long)v)
                   : text_format(cx, "+ %lld", (long long)v);
}

/* Emits the value, clamped and cast to the type of the result. */
static int clamped(Ctx *cx, const Node *n, DType to, const char *value, const Bind *binds, Tensor **out)
{
    const DTypeInfo *type = dtype_info(to);
    const int64_t least = node_int(n, "min", type->least), greatest = node_int(n, "max", type->greatest);
    const char *text = OP_TEXT(cx, "y[*] = to(min(max(value, least), greatest))", { "value", value },
                               { "to", type->spelling },
                               { "least", op_number(cx, least > type->least ? least : type->least) },
                               { "greatest", op_number(cx, greatest < type->greatest ? greatest : type->greatest) });
    out[0] = op_formula(cx, n, text, binds);
    return out[0] ? 1 : 0;
}

/* ---- Rounding by an added constant ------------------------------------------------------------------------------ */

/* Shifts by 32 first if the shift is large enough, because taking the high word costs nothing on a 32-bit target. */
static int shifted(Ctx *cx, const Node *n, const char *sum, Tensor *shifts, const Bind *binds, Tensor **out)
{
    DType to;
    int64_t shift = node_int(n, "shift", 0);
    if (!read_type(cx, n, &to)) return 0;
    if (shift < 0 || shift > MOST_SHIFT)
        op_refuse(cx, n, "'shift' is %lld, but it must be in 0..%d", (long long)shift, MOST_SHIFT);
    if (ctx_failed(cx)) return 0;
    const char *text = shifts               ? "i32((sum) >> high) >> i32(n[*])"
                       : shift > HIGH_WORD  ? "i32((sum) >> high) >> more"
                       : shift == HIGH_WORD ? "i32((sum) >> high)"
                                            : "((sum) >> shift)";
    return clamped(cx, n, to, OP_TEXT(cx, text, { "sum", sum }, { "high", op_number(cx, HIGH_WORD) },
                                      { "more", op_number(cx, shift - HIGH_WORD) }, { "shift", op_number(cx, shift) }),
                   binds, out);
}

/* Emits the form with `zero`: the high word of the product, shifted to half of the result's unit, plus 2 * zero + 1. */
static int centered(Ctx *cx, const Node *n, const char *factor, const Bind *binds, Tensor **out)
{
    DType to;
    const int64_t shift = node_int(n, "shift", 0), zero = node_int(n, "zero", 0);
    if (!read_type(cx, n, &to)) return 0;
    if (input(n, 2)) op_refuse(cx, n, "'zero' and input 2 are both given; pass only one of them");
    if (!input(n, 3) && (shift <= HIGH_WORD || shift > MOST_SHIFT))
        op_refuse(cx, n, "'shift' is %lld, but with 'zero' it must be in %d..%d", (long long)shift, HIGH_WORD + 1,
                  MOST_SHIFT);
    if (zero < INT16_MIN || zero > INT16_MAX)
        op_refuse(cx, n, "'zero' is %lld, but it must be in %d..%d", (long long)zero, INT16_MIN, INT16_MAX);
    if (ctx_failed(cx)) return 0;
    const char *more = input(n, 3) ? ">> i32(n[*])" : shift > HIGH_WORD + 1 ? ">> rest" : "";
    const char *text = OP_TEXT(cx, "((i32(i64(x[*]) * factor >> high) more) offset >> 1)", { "factor", factor },
                               { "high", op_number(cx, HIGH_WORD) }, { "rest", op_number(cx, shift - HIGH_WORD - 1) },
                               { "more", more }, { "offset", plus_text(cx, 2 * zero + 1) });
    return clamped(cx, n, to, text, binds, out);
}

static int requantize_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check_types(cx, n, 1, true, (const DType[]){ I32, I64, U8 })) return 0;
    Tensor *m = input(n, 1), *c = input(n, 2), *shifts = input(n, 3);
    const char *factor = m ? "i64(m[*])" : op_number(cx, node_int(n, "multiplier", 1));
    const char *sum = OP_TEXT(cx, "i64(x[*]) * factor offset", { "factor", factor },
                              { "offset", c ? "+ c[*]" : plus_text(cx, node_int(n, "offset", 0)) });
    const Bind binds[] = {
        BIND_T("x", n->in[0]), BIND_T("m", m), BIND_T("c", c), BIND_T("n", shifts), { NULL, NULL, NULL }
    };
    return node_attr(n, "zero") ? centered(cx, n, factor, binds, out) : shifted(cx, n, sum, shifts, binds, out);
}

static int requantize_words(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check_types(cx, n, 1, false, (const DType[]){ I32, I32, I64 })) return 0;
    Tensor *m = input(n, 1), *low = input(n, 2), *c = input(n, 3);
    const int64_t bits = node_int(n, "low", 0);
    if (bits < 0 || bits > INT32_MAX)
        op_refuse(cx, n, "'low' is %lld, but it must be in 0..%d", (long long)bits, INT32_MAX);
    const char *sum = OP_TEXT(cx, "i64(x[*]) * high + (i64(x[*]) * low >> 31) offset",
                              { "high", m ? "i64(m[*])" : op_number(cx, node_int(n, "multiplier", 1)) },
                              { "low", low ? "i64(l[*])" : op_number(cx, bits) },
                              { "offset", c ? "+ c[*]" : plus_text(cx, node_int(n, "offset", 0)) });
    const Bind binds[] = {
        BIND_T("x", n->in[0]), BIND_T("m", m), BIND_T("l", low), BIND_T("c", c), { NULL, NULL, NULL }
    };
    return ctx_failed(cx) ? 0 : shifted(cx, n, sum, NULL, binds, out);
}

static const char *pair_text(Ctx *cx, const Node *n, const char *type)
{
    return OP_TEXT(cx, "type(a[*]) * ma + type(b[*]) * mb offset", { "type", type },
                   { "ma", op_number(cx, node_int(n, "multiplier_a", 1)) },
                   { "mb", op_number(cx, node_int(n, "multiplier_b", 1)) },
                   { "offset", plus_text(cx, node_int(n, "offset", 0)) });
}

/* Emits the sum of the products' high words, in 32 bits. */
static int sum_in_high_word(Ctx *cx, const Node *n, int64_t up, Tensor **out)
{
    enum { MOST_UP = 22 };
    DType to;
    const int64_t shift = node_int(n, "shift", 0), offset = node_int(n, "offset", 0), most = INT64_C(1) << 30;
    if (!read_type(cx, n, &to)) return 0;
    if (up < 1 || up > MOST_UP)
        op_refuse(cx, n, "'up' is %lld, but it must be in 1..%d", (long long)up, MOST_UP);
    if (dtype_info(n->in[0]->type)->bytes != 1 || dtype_info(n->in[1]->type)->bytes != 1)
        op_refuse(cx, n, "the inputs are %s and %s; use 8-bit inputs with 'up'",
                  dtype_info(n->in[0]->type)->spelling, dtype_info(n->in[1]->type)->spelling);
    if (shift < 0 || shift > 31) op_refuse(cx, n, "'shift' is %lld; with 'up', use 0 to 31", (long long)shift);
    if (offset <= -most || offset >= most)
        op_refuse(cx, n, "'offset' is %lld; with 'up', use a number between -2^30 and 2^30", (long long)offset);
    if (ctx_failed(cx)) return 0;
    const char *text = OP_TEXT(
        cx, "((i32((i64(i32(a[*]) << up) * ma + i64(i32(b[*]) << up) * mb) >> high) offset) >> shift)",
        { "up", op_number(cx, up) }, { "ma", op_number(cx, node_int(n, "multiplier_a", 1)) },
        { "mb", op_number(cx, node_int(n, "multiplier_b", 1)) }, { "high", op_number(cx, HIGH_WORD) },
        { "offset", plus_text(cx, offset) }, { "shift", op_number(cx, shift) });
    return clamped(cx, n, to, text,
                   (const Bind[]){ BIND_T("a", n->in[0]), BIND_T("b", n->in[1]), { NULL, NULL, NULL } }, out);
}

static int requantize_sum(Ctx *cx, const Node *n, Tensor **out)
{
    const int64_t up = node_int(n, "up", 0);
    if (!check_operands(cx, n, 2)) return 0;
    if (up) return sum_in_high_word(cx, n, up, out);
    return shifted(cx, n, pair_text(cx, n, "i64"), NULL,
                   (const Bind[]){ BIND_T("a", n->in[0]), BIND_T("b", n->in[1]), { NULL, NULL, NULL } }, out);
}

/* ---- Ties to even ----------------------------------------------------------------------------------------------- */

/* Emits the division of the stage t by `divisor`, ties to even. */
static int evened(Ctx *cx, const Node *n, Tensor *t, Tensor **out)
{
    DType to;
    int64_t d = node_int(n, "divisor", 2), zero = node_int(n, "zero", 0);
    if (!t || !read_type(cx, n, &to)) return 0;
    if (d < 2 || d % 2 || d > INT64_C(1) << 40)
        op_refuse(cx, n, "'divisor' is %lld; use an even divisor of at most 2^40", (long long)d);
    if (ctx_failed(cx)) return 0;
    int bits = 0;
    while (bits < 62 && INT64_C(1) << bits < d) bits++;
    const bool is_power = INT64_C(1) << bits == d;
    const char *text = OP_TEXT(cx, "((t[*] + half + ((t[*] divided) & type(1))) divided) zero",
                               { "by", op_number(cx, is_power ? bits : d) }, { "divided", is_power ? ">> by" : "/ by" },
                               { "half", op_number(cx, d / 2 - 1) }, { "type", dtype_info(t->type)->spelling },
                               { "zero", plus_text(cx, zero) });
    return clamped(cx, n, to, text, (const Bind[]){ BIND_T("t", t), { NULL, NULL, NULL } }, out);
}

static const char *width(const Node *n) { return node_int(n, "wide", 0) ? "i64" : "i32"; }

static int requantize_even(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check_operands(cx, n, 1)) return 0;
    Tensor *m = input(n, 1), *c = input(n, 2);
    const char *type = width(n);
    const char *text = OP_TEXT(cx, "t[*] = type(x[*]) * factor offset", { "type", type },
                               { "factor", m ? "type(m[*])" : op_number(cx, node_int(n, "multiplier", 1)) },
                               { "offset", c ? "+ type(c[*])" : plus_text(cx, node_int(n, "offset", 0)) });
    Tensor *t = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("m", m), BIND_T("c", c));
    return evened(cx, n, t, out);
}

static int requantize_sum_even(Ctx *cx, const Node *n, Tensor **out)
{
    if (!check_operands(cx, n, 2)) return 0;
    return evened(cx, n,
                  OP_FORMULA(cx, n, OP_TEXT(cx, "t[*] = pair", { "pair", pair_text(cx, n, width(n)) }),
                             BIND_T("a", n->in[0]), BIND_T("b", n->in[1])),
                  out);
}

/* ---- The other signedness --------------------------------------------------------------------------------------- */

static int recentered(Ctx *cx, const Node *n, Tensor **out)
{
    DType from = n->in[0]->type;
    if (from != I8 && from != U8) {
        op_refuse(cx, n, "the input is %s; use i8 or u8", dtype_info(from)->spelling);
        return 0;
    }
    out[0] = OP_FORMULA(cx, n, from == I8 ? "y[*] = u8(i32(x[*]) + 128)" : "y[*] = i8(i32(x[*]) - 128)",
                        BIND_T("x", n->in[0]));
    return out[0] ? 1 : 0;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

#define LIMITS \
    { "min",  ATTR_INT,  "the lower bound, if above that of the type", NULL }, \
    { "max",  ATTR_INT,  "the upper bound, if below that of the type", NULL }, \
    { "to",   ATTR_TEXT, "the type of the result: i8, u8, i16", "i8" }
#define EVEN \
    { "divisor", ATTR_INT, "d, an even number", "2" }, \
    { "zero",    ATTR_INT, "the zero point of the result", "0" }, \
    { "wide",    ATTR_INT, "1: x * m + c needs more than 32 bits", "0" }
#define FACTORS \
    { "multiplier_a", ATTR_INT, "ma", "1" }, \
    { "multiplier_b", ATTR_INT, "mb", "1" }
static const AttrRow requantize_fixed_attrs[] = {
    { "multiplier", ATTR_INT, "m, used when input 1 is absent", NULL },
    { "offset",     ATTR_INT, "c, used when input 2 is absent", NULL },
    { "shift",      ATTR_INT, "n, if input 3 is absent; input 3 holds n - 32, or n - 33 with `zero`", NULL },
    { "zero",       ATTR_INT, "the zero point of the result: c = zero * 2^n + 2^(n-1); n is at least 33", NULL },
    LIMITS, { 0 }
};
static const AttrRow requantize_words_attrs[] = {
    { "multiplier", ATTR_INT, "m, used when input 1 is absent", NULL },
    { "low",        ATTR_INT, "the factor's low word, in 0..2^31-1, used when input 2 is absent", NULL },
    { "offset",     ATTR_INT, "c, used when input 3 is absent", NULL },
    { "shift",      ATTR_INT, "n", NULL },
    LIMITS, { 0 }
};
static const AttrRow requantize_even_attrs[] = {
    { "multiplier", ATTR_INT, "m, used when input 1 is absent", NULL },
    { "offset",     ATTR_INT, "c, used when input 2 is absent", NULL },
    EVEN, LIMITS, { 0 }
};
static const AttrRow requantize_sum_attrs[] = {
    FACTORS, { "offset", ATTR_INT, "c", NULL }, { "shift", ATTR_INT, "n", NULL },
    { "up", ATTR_INT, "the left shift of 8-bit operands; with it, c and n apply to the high word of the sum of both "
                      "products", NULL },
    LIMITS, { 0 }
};
static const AttrRow requantize_sum_even_attrs[] = { FACTORS, { "offset", ATTR_INT, "c", NULL }, EVEN, LIMITS, { 0 } };

static const OpCase requantize_fixed_cases[] = {
    { "multiplier=1518500250 offset=2199023255552 shift=42", "i32[2][3]={1000,-1000,24,-24,2147483647,-2147483648}",
      "i8[2][3]", NULL },
    { "multiplier=3 offset=-5 shift=1 min=-7 max=9 to=i8", "i8[6]={1,-1,2,-2,3,-128}", "i8[6]", NULL },
    { "", "i32[2][3] i32[3]={1073741824,2147483647,1500000000} i64[3]={0,-4294967296,99999999999} u8[3]={0,9,20}",
      "i8[2][3]", NULL },
    { "multiplier=1 offset=128 shift=0 to=u8", "i8[4]={-128,127,0,5}", "u8[4]", NULL },
    { "multiplier=1518500250 shift=42 zero=-3", "i32[2][3]={1000,-1000,24,-24,2147483647,-2147483648}", "i8[2][3]",
      NULL },
    { "shift=33 zero=127", "i32[2][3] i32[3]={1073741824,2147483647,1500000000}", "i8[2][3]", NULL },
    { "multiplier=1518500250 shift=34 zero=0 min=-32767 to=i16",
      "i32[2][3]={1000,-1000,24,-24,2147483647,-2147483648}", "i16[2][3]", NULL },
    { "shift=32 zero=0", "i32[3]", NULL, "'shift' is 32, but with 'zero' it must be in 33..62" },
    { "shift=40 zero=40000", "i32[3]", NULL, "'zero' is 40000" },
    { "to=i32", "i32[3]", NULL, "'to' is \"i32\"" },
    { "shift=63", "i32[3]", NULL, "'shift' is 63" },
    { "multiplier=1518500 shift=42 zero=-3", "i64[2][3]={1000,-1000,24,-24,2199023255551,-2199023255552}", "i8[2][3]",
      NULL },
    { "multiplier=1518500 offset=-5 shift=30 to=i16", "i64[4]={21474836470,-21474836470,24,-24}", "i16[4]", NULL },
    { "", "f32[3]", NULL, "use i8, u8, i16, i32 or i64" },
    { "", "i32[3] i64[3]", NULL, "use i32" },
    { 0 }
};
static const OpCase requantize_words_cases[] = {
    { "multiplier=1518500250 low=2147483647 offset=2199023255552 shift=42 to=i16",
      "i32[2][3]={1000,-1000,24,-24,2147483647,-2147483648}", "i16[2][3]", NULL },
    { "shift=33 min=-7 max=9", "i32[2][3] i32[3]={1073741824,2147483647,1500000000} i32[3]={0,2147483647,5} "
      "i64[3]={0,-4294967296,99999999999}", "i8[2][3]", NULL },
    { "multiplier=3 low=1073741824 offset=-5 shift=1 to=i16", "i16[6]={1,-1,2,-2,3,-32768}", "i16[6]", NULL },
    { "low=-1", "i32[3]", NULL, "'low' is -1" },
    { "", "i32[3] i64[3]", NULL, "use i32" },
    { "shift=63", "i32[3]", NULL, "'shift' is 63" },
    { 0 }
};
static const OpCase requantize_even_cases[] = {
    { "divisor=4 zero=3", "i32[9]={-6,-5,-2,-1,0,1,2,6,10}", "i8[9]", NULL },
    { "divisor=6 multiplier=-3 offset=1 min=-2 wide=1", "i32[9]={-6,-5,-2,-1,0,1,2,6,10}", "i8[9]", NULL },
    { "divisor=8", "i32[2][3] i32[3]={1,2,3} i64[3]={-4,0,4}", "i8[2][3]", NULL },
    { "divisor=3", "i32[3]", NULL, "an even divisor" },
    { 0 }
};
static const OpCase requantize_sum_cases[] = {
    { "multiplier_a=1073741824 multiplier_b=-1200000000 offset=4294967296 shift=32", "i8[2][3] i8[3]", "i8[2][3]",
      NULL },
    { "multiplier_b=1048576 multiplier_a=1048577 shift=21", "i8[5] i8[5]", "i8[5]", NULL },
    { "multiplier_b=1048576 multiplier_a=1048577 shift=21 to=i16", "i16[5] i8[5]", "i16[5]", NULL },
    { "up=22 multiplier_a=1409643844 multiplier_b=-902219175 offset=-120478496 shift=20", "i8[2][3] i8[3]", "i8[2][3]",
      NULL },
    { "up=22 multiplier_a=2147483647 multiplier_b=2147483647 shift=31", "u8[2]={0,255} u8[2]={0,255}", "i8[2]", NULL },
    { "up=23 shift=3", "i8[5] i8[5]", NULL, "'up' is 23, but it must be in 1..22" },
    { "up=3 shift=3", "i8[5] i16[5]", NULL, "use 8-bit inputs with 'up'" },
    { "up=3 shift=32", "i8[5] i8[5]", NULL, "'shift' is 32" },
    { "", "i8[5] f32[5]", NULL, "use i8, u8, i16 or i32" },
    { 0 }
};
static const OpCase requantize_sum_even_cases[] = {
    { "multiplier_a=2 multiplier_b=-1 offset=1 divisor=4 zero=-1", "i8[7] i8[7]", "i8[7]", NULL },
    { 0 }
};
static const OpCase recentered_cases[] = {
    { "", "u8[5]", "i8[5]", NULL }, { "", "i8[2][2]", "u8[2][2]", NULL }, { "", "i32[2]", NULL, "i8 or u8" }, { 0 }
};

#define REQUANTIZE(fn, text, its_inputs, least, most) \
    { .name = #fn, .summary = text, .level = 11, .least_inputs = least, .most_inputs = most, .inputs = its_inputs, \
      .attr = fn##_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_BROADCAST, \
      .layout.permute = permute_elementwise, .cases = fn##_cases }

const Op ops_requantize[] = {
    REQUANTIZE(requantize_fixed, "y[*] = to(clamp((x[*] * m[*] + c[*]) >> n[*], min, max))",
               "x multiplier offset shift", 1, 4),
    REQUANTIZE(requantize_words, "y[*] = to(clamp((x[*] * m[*] + (x[*] * low[*] >> 31) + c[*]) >> n, min, max))",
               "x multiplier low offset", 1, 4),
    REQUANTIZE(requantize_even, "y[*] = to(clamp(x[*] * m[*] + c[*] by d, ties to even, + zero, min, max))",
               "x multiplier offset", 1, 3),
    REQUANTIZE(requantize_sum, "y[*] = to(clamp((a[*] * ma + b[*] * mb + c) >> n, min, max))", "a b", 2, 2),
    REQUANTIZE(requantize_sum_even, "y[*] = to(clamp(a[*] * ma + b[*] * mb + c by d, ties to even, + zero, min, max))",
               "a b", 2, 2),
    { .name = "recentered",
      .summary = "y[*] = x[*] + 128 as u8, or x[*] - 128 as i8",
      .level = 11,
      .least_inputs = 1,
      .most_inputs = 1,
      .inputs = "x",
      .meaning.compute = recentered,
      .fusion.pattern = PATTERN_ELEMENTWISE,
      .layout.permute = permute_elementwise,
      .quantization.is_recentering = true,
      .cases = recentered_cases },
    { 0 }
};
