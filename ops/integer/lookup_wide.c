/* SPDX-License-Identifier: MIT */
/* Defines a function of a 16-bit integer as a parabola on each of 2^(16 - bits) intervals of equal width. With k = (x +
 * 32768) >> bits and t = (x + 32768) mod 2^bits,
 *
 *     y = to(clamp((start[k] + t * (slope[k] + ((bend[k] * t) >> bits))) >> shift, min, max))
 *
 * The computation has 32 bits; start includes the zero point and one half. graph/quantize/curves.c chooses the tables.
 * curves.c proves the error, and that no step wraps, for all 65,536 values of x. With `wraps`, the bounds are absent
 * and the conversion to the result's type wraps, as in TensorFlow Lite's tables. */
#include "graph/dag/op_build.h"

#include <string.h>

enum { BITS_OF_X = 16, LEAST_BITS = 2, MOST_BITS = 14, MOST_SHIFT = 30 };

static void check_tables(Ctx *cx, const Node *n, int64_t bits)
{
    const int64_t count = INT64_C(1) << (BITS_OF_X - bits);
    for (int i = 1; i < n->in_count && !ctx_failed(cx); i++) {
        const DType t = n->in[i]->type;
        if ((t != I16 && t != I32) || n->in[i]->rank != 1 || tensor_dim(n->in[i], 0) != count)
            op_refuse(cx, n, "table %d is %s%s; use i16[%lld] and i32[%lld]", i, dtype_info(t)->spelling,
                      tensor_shape_text(cx, n->in[i]), (long long)count, (long long)count);
    }
}

static bool check(Ctx *cx, const Node *n, DType *to)
{
    const int64_t bits = node_int(n, "bits", 8), shift = node_int(n, "shift", 13);
    const char *word = node_text(n, "to", "i16");
    if (n->in[0]->type != I16)
        op_refuse(cx, n, "the input is %s; use i16", dtype_info(n->in[0]->type)->spelling);
    else if (!dtype_read(word, strlen(word), to) || (*to != I8 && *to != I16))
        op_refuse(cx, n, "'to' is \"%s\"; use i8 or i16", word);
    else if (bits < LEAST_BITS || bits > MOST_BITS)
        op_refuse(cx, n, "'bits' is %lld, but it must be in %d..%d", (long long)bits, LEAST_BITS, MOST_BITS);
    else if (shift < 0 || shift > MOST_SHIFT)
        op_refuse(cx, n, "'shift' is %lld, but it must be in 0..%d", (long long)shift, MOST_SHIFT);
    else check_tables(cx, n, bits);
    return !ctx_failed(cx);
}

static int lookup_wide(Ctx *cx, const Node *n, Tensor **out)
{
    DType to = I16;
    if (!check(cx, n, &to)) return 0;
    const DTypeInfo *type = dtype_info(to);
    const int64_t bits = node_int(n, "bits", 8), least = node_int(n, "min", type->least),
                  greatest = node_int(n, "max", type->greatest);
    const char *value = "(i32(start[k]) + (t) * (i32(slope[k]) + ((i32(bend[k]) * (t)) >> bits))) >> shift";
    const char *bounded = node_int(n, "wraps", 0) ? "y[all] = to(value)"
                                                  : "y[all] = to(min(max(value, least), greatest))";
    const char *indexed = OP_TEXT(cx, OP_TEXT(cx, bounded, { "value", value }),
                                  { "k", "(i32(x[all]) + 32768) >> bits" }, { "t", "(i32(x[all]) + 32768) & below" });
    const char *text = OP_TEXT(cx, indexed, { "to", type->spelling }, { "bits", op_number(cx, bits) },
                               { "below", op_number(cx, (INT64_C(1) << bits) - 1) },
                               { "shift", op_number(cx, node_int(n, "shift", 13)) },
                               { "least", op_number(cx, least > type->least ? least : type->least) },
                               { "greatest", op_number(cx, greatest < type->greatest ? greatest : type->greatest) },
                               { "all", axes_with(cx, n->in[0]->rank, -1, "") });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]), BIND_T("start", n->in[1]), BIND_T("slope", n->in[2]),
                        BIND_T("bend", n->in[3]));
    return out[0] ? 1 : 0;
}

static const AttrRow attrs[] = {
    { "bits",  ATTR_INT, "the intervals have 2^bits values of x", "8" },
    { "shift", ATTR_INT, "the tables are in units of 2^-shift", "13" },
    { "min",   ATTR_INT, "the lower bound, if above that of the type", NULL },
    { "max",   ATTR_INT, "the upper bound, if below that of the type", NULL },
    { "wraps", ATTR_INT, "1: the result wraps instead, without bounds", "0" },
    { "to",    ATTR_TEXT, "the type of the result: i8, i16", "i16" },
    { 0 }
};
static const OpCase cases[] = {
    { "bits=13 shift=4", "i16[2][5] i32[8]={-9000,500,-70,3,900,80000,-20,1} i16[8]={1,-2,3,-4,50,-60,700,-800} "
      "i16[8]={9,-8,70,-60,5,-4,3,-2}", "i16[2][5]", NULL },
    { "bits=14 shift=9 to=i8 min=-100 max=90", "i16[6]={0,-1,1,-32768,32767,100} i32[4]={-900,0,70000,3} "
      "i32[4]={1,-2,3,-4} i32[4]={9,-8,70,-60}", "i8[6]", NULL },
    { "bits=14 shift=0 wraps=1", "i16[4]={-32768,-16385,16384,32767} i32[4]={-32768,9,9,32767} i16[4]={-3,1,1,5} "
      "i16[4]={0,0,0,0}", "i16[4]", NULL },
    { "bits=14", "i8[3] i32[4] i32[4] i32[4]", NULL, "use i16" },
    { "bits=14", "i16[3] i32[4] i32[8] i32[4]", NULL, "table 2 is i32[8]; use i16[4] and i32[4]" },
    { "bits=15", "i16[3] i32[2] i32[2] i32[2]", NULL, "'bits' is 15" },
    { "bits=14 to=i32", "i16[3] i32[4] i32[4] i32[4]", NULL, "'to' is \"i32\"" },
    { 0 }
};

const Op ops_lookup_wide[] = {
    { .name = "lookup_wide",
      .summary = "y[*] = to(clamp((start[k] + t * (slope[k] + ((bend[k] * t) >> bits))) >> shift)), k and t the high "
                 "and low bits of x[*] + 32768",
      .level = 11, .least_inputs = 4, .most_inputs = 4, .inputs = "x start slope bend", .attr = attrs,
      .meaning.compute = lookup_wide, .fusion.pattern = PATTERN_ELEMENTWISE, .cases = cases },
    { 0 }
};
