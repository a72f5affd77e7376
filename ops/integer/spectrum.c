/* SPDX-License-Identifier: MIT */
/* Defines features of sound in integers, bit-exact with the kernels of TensorFlow Lite Micro's signal library:
 *
 *   window_fixed     y = clamp((x * w) >> shift)
 *   auto_scale       y = x << bits, the largest number of bits by which no sample overflows
 *   energy           y[k] = re^2 + im^2
 *   filter_bank      y[c] = sum(j) falling[c][j] x[from[c] + j] + sum(j) rising[c+1][j] x[from[c+1] + j]
 *   sqrt_rounded     y = round(sqrt(x)) >> bits
 *   subtract_noise   noise' = noise + (x - noise) * smoothing;  y = max(x - noise', x * least)
 *   gain_fixed       y = shrink(x * gain(noise)), gain a parabola over each octave of its argument
 *   log_fixed        y = log(x << bits) * scale */
#include "graph/dag/op_build.h"

static bool is_alike(const Tensor *t, DType type, int rank) { return t->type == type && t->rank == rank; }

static void name_int(Formulas *f, const char *attr)
{
    formulas_phrase(f, attr, op_number(f->cx, node_int(f->call, attr, 0)));
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static int window_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    const int64_t shift = node_int(n, "shift", 12);
    if (n->in[0]->type != I16 || n->in[1]->type != I16)
        op_refuse(cx, n, "the inputs are %s and %s; use i16", dtype_info(n->in[0]->type)->spelling,
                  dtype_info(n->in[1]->type)->spelling);
    else if (shift < 0 || shift > 31) op_refuse(cx, n, "'shift' is %lld; use 0 to 31", (long long)shift);
    else out[0] = OP_FORMULA(cx, n, "y[*] = i16(min(max((i32(x[*]) * i32(w[*])) >> shift, -32768), 32767))",
                             BIND_T("x", n->in[0]), BIND_T("w", n->in[1]), BIND_I(cx, "shift", shift));
    return out[0] && !ctx_failed(cx) ? 1 : 0;
}

/* Shifts x by the largest number of bits without overflow. The search for the largest magnitude has the reference's
 * order, because -32768 has no magnitude in i16. After this value, the search restarts at the next sample, with the
 * sample's sign. If the search ends with a value of 0 or less, the shift is 0 bits. */
static int auto_scale(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    if (!is_alike(x, I16, 1) || tensor_elems(x) < 1) {
        op_refuse(cx, n, "the input is %s%s; use i16[n]", dtype_info(x->type)->spelling,
                  tensor_shape_text(cx, x));
        return 0;
    }
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_phrase(&f, "L", op_number(cx, tensor_elems(x)));
    formulas_phrase(&f, "steps", tensor_elems(x) > 1 ? "i<L ordered" : "i<L");
    Tensor *peak = formulas_promise(&f, "peak", I16, 1, x->shape);
    formulas_compute(&f, "before[steps] = (peak[i-1]? : 0)");
    formulas_define(&f, peak, "peak[steps] = select(x[i] > before[i], x[i], "
                              "select(-i32(x[i]) > i32(before[i]), i16(-i32(x[i])), before[i]))");
    out[1] = formulas_compute(&f, "bits[o<1] = select(peak[L-1] <= 0, 0, clz(i32(peak[L-1])) - 17)");
    out[0] = formulas_compute(&f, "y[i<L] = i16(i32(x[i]) << bits[0])");
    return out[0] && out[1] ? 2 : 0;
}

/* ---- Spectra ----------------------------------------------------------------------------------------------------- */

static int energy(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    if (!is_alike(x, I16, 2) || tensor_dim(x, 1) != 2) {
        op_refuse(cx, n, "the input is %s%s; use i16[n][2]", dtype_info(x->type)->spelling,
                  tensor_shape_text(cx, x));
        return 0;
    }
    out[0] = OP_FORMULA(
        cx, n, "y[k] = select(k >= begin && k < end, u32(i32(x[k,0]) * i32(x[k,0]) + i32(x[k,1]) * i32(x[k,1])), 0)",
        BIND_T("x", n->in[0]), BIND_I(cx, "begin", node_int(n, "begin", 0)),
        BIND_I(cx, "end", node_int(n, "end", INT32_MAX)));
    return out[0] ? 1 : 0;
}

/* Emits a filter bank. Each bin is in the rising half of one channel and in the falling half of the channel before it.
 * Reads clamp indices, so no tables can lead outside. */
static int filter_bank(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const names[] = { "x", "rising", "falling", "from", "at", "width" };
    const int64_t bands = n->in[3]->rank == 1 ? tensor_elems(n->in[3]) : 0, most = node_int(n, "most", 1);
    for (int i = 0; i < 6; i++) {
        const int64_t elems = i == 2 ? tensor_elems(n->in[1]) : i > 3 ? bands : tensor_elems(n->in[i]);
        const DType type = i ? I16 : U32;
        if (!op_holds(cx, n, is_alike(n->in[i], type, 1) && elems >= 1 && tensor_elems(n->in[i]) == elems,
                        "input %d, '%s', is %s%s; use %s[%s]", i, names[i], dtype_info(n->in[i]->type)->spelling,
                        tensor_shape_text(cx, n->in[i]), dtype_info(type)->spelling,
                        i == 2 || i > 3 ? op_number(cx, elems) : "n"))
            return 0;
    }
    if (!op_holds(cx, n, bands >= 2, "there are %lld bands; use at least 2", (long long)bands)
        || !op_holds(cx, n, most >= 1, "'most' is %lld; use 1 or more", (long long)most))
        return 0;
    Formulas f = { .cx = cx, .call = n };
    for (int i = 0; i < 6; i++) formulas_name(&f, (Bind)BIND_T(names[i], n->in[i]));
    formulas_phrase(&f, "J", op_number(cx, most));
    formulas_phrase(&f, "C", op_number(cx, bands - 1));
    formulas_phrase(&f, "last_w", op_number(cx, tensor_elems(n->in[1]) - 1));
    formulas_phrase(&f, "last_x", op_number(cx, tensor_elems(n->in[0]) - 1));
    formulas_phrase(&f, "bin", "u64(x[max(0, min(last_x, i32(from[c+h]) + j))])");
    formulas_phrase(&f, "place", "max(0, min(last_w, i32(at[c+h]) + j))");
    out[0] = formulas_compute(&f, "y[c<C] = sum(h<2, j<J) select(j < i32(width[c+h]), "
                                  "bin * select(h == 0, u64(falling[place]), u64(rising[place])), u64(0))");
    return out[0] ? 1 : 0;
}

/* Emits a rounded root. A first estimate is the float root of x as a float, whose relative error is 2^-23. If x is 2^32
 * or more, a Newton step with the exact difference follows, whose truncations are less than 2. So the estimate is
 * within 2 of the root, and the root is the last of five integers whose square is at most x. None of them exceeds 32
 * bits, so squares are exact. As in the reference, the root of an x below 2^32 has 16 bits, and the largest root of
 * either size is not rounded up. */
static int sqrt_rounded(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    if (!op_holds(cx, n, is_alike(x, U64, 1) && tensor_elems(x) >= 1, "the input is %s%s; use u64[n]",
                    dtype_info(x->type)->spelling, tensor_shape_text(cx, x))
        || !op_holds(cx, n, is_alike(n->in[1], I32, 1) && tensor_elems(n->in[1]) == 1,
                       "the number of bits is %s%s; use i32[1]", dtype_info(n->in[1]->type)->spelling,
                       tensor_shape_text(cx, n->in[1])))
        return 0;
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("bits", n->in[1]));
    formulas_phrase(&f, "is_long", "(x[c] >= u64(4294967296))");
    formulas_compute(&f, "near[c] = max(1.0, sqrt(f32(u32(x[c] >> u64(32))) * 4294967296.0 + f32(u32(x[c]))))");
    formulas_compute(&f, "guess[c] = u32(min(near[c], 4294967040.0))");
    formulas_compute(&f, "off[c] = i64(x[c] - u64(guess[c]) * u64(guess[c])) >> i64(16)");
    formulas_compute(&f, "step[c] = select(is_long, i32(f32(i32(off[c])) * 32768.0 / near[c]), 0)");
    formulas_compute(&f, "low[c] = u32(max(i64(0), min(i64(4294967291), i64(guess[c]) + i64(step[c]) - i64(2))))");
    for (int k = 1; k <= 4; k++)
        formulas_compute(&f, OP_TEXT(cx, "above_k[c] = select(u64(low[c] + u32(k)) * u64(low[c] + u32(k)) <= x[c], "
                                         "u32(1), u32(0))", { "above_k", text_format(cx, "above%d", k) },
                                     { "k", op_number(cx, k) }));
    formulas_compute(&f, "root[c] = low[c] + above1[c] + above2[c] + above3[c] + above4[c]");
    formulas_compute(&f, "rest[c] = x[c] - u64(root[c]) * u64(root[c])");
    out[0] = formulas_compute(
        &f, "y[c] = (root[c] + select(rest[c] > u64(root[c]) && root[c] != select(is_long, u32(4294967295), "
            "u32(65535)), u32(1), u32(0))) >> u32(bits[0])");
    return out[0] ? 1 : 0;
}

/* Subtracts the noise. Factors are in units of 2^-bits; x is scaled by 2^up. Even and odd channels have separate
 * factors. */
static int subtract_noise(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const attrs[] = { "up", "bits", "even", "even_rest", "odd", "odd_rest", "least" };
    const Tensor *x = n->in[0];
    Formulas f = { .cx = cx, .call = n };
    if (!is_alike(x, U32, 1) || !is_alike(n->in[1], U32, 1) || x->shape[0] != n->in[1]->shape[0]) {
        op_refuse(cx, n, "the input is %s%s and the noise %s%s; use u32[n] for both", dtype_info(x->type)->spelling,
                  tensor_shape_text(cx, x), dtype_info(n->in[1]->type)->spelling, tensor_shape_text(cx, n->in[1]));
        return 0;
    }
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("noise", n->in[1]));
    for (size_t i = 0; i < sizeof attrs / sizeof attrs[0]; i++) name_int(&f, attrs[i]);
    formulas_compute(&f, "s[c] = x[c] << up");
    formulas_phrase(&f, "limit", node_int(n, "clamp", 0) ? "s[c]" : "u32(4294967295)");
    out[1] = formulas_compute(&f, "estimate[c] = min(limit, u32((u64(s[c]) * select(c % 2 == 0, u64(even), u64(odd)) + "
                         "u64(noise[c]) * select(c % 2 == 0, u64(even_rest), u64(odd_rest))) >> bits))");
    out[0] = formulas_compute(&f, "y[c] = max((s[c] - min(estimate[c], s[c])) >> up, "
                                  "u32((u64(x[c]) * u64(least)) >> bits))");
    return out[0] && out[1] ? 2 : 0;
}

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

/* Applies the gain. Octave b of the argument, 2^(b-1) to 2^b, has three entries of the table at 4 b - 6: value, slope
 * and curvature. Each argument up to 2 has one entry. The fraction within the octave has 10 bits. shrink(s) = s^2 / 4
 * below 2, else s - 1, with 12 bits of fraction before and 6 after. */
static int gain_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *noise = n->in[1], *table = n->in[2];
    const int64_t shift = node_int(n, "shift", 0);
    if (!op_holds(cx, n, is_alike(x, U32, 1) && is_alike(noise, U32, 1) && x->shape[0] == noise->shape[0],
                    "the input is %s%s and the noise %s%s; use u32[n] for both", dtype_info(x->type)->spelling,
                    tensor_shape_text(cx, x), dtype_info(noise->type)->spelling, tensor_shape_text(cx, noise))
        || !op_holds(cx, n, is_alike(table, I16, 1) && tensor_elems(table) >= 125, "the table is %s%s; use i16[125]",
                       dtype_info(table->type)->spelling, tensor_shape_text(cx, table))
        || !op_holds(cx, n, shift >= 0 && shift <= 63, "'shift' is %lld; use 0 to 63", (long long)shift))
        return 0;
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("noise", n->in[1]));
    formulas_name(&f, (Bind)BIND_T("table", n->in[2]));
    name_int(&f, "shift");
    formulas_compute(&f, "head[c] = max(0, min(30, clz(i32(noise[c]))))");
    formulas_compute(&f, "at[c] = 122 - 4 * head[c]");
    formulas_compute(&f, "part[c] = i32(select(head[c] > 21, noise[c] << u32(head[c] - 21), "
                         "noise[c] >> u32(21 - head[c])) & 1023)");
    formulas_compute(&f, "slope[c] = ((i32(table[max(0, min(124, at[c] + 2))]) * part[c]) >> 5) + "
                         "(i32(table[max(0, min(124, at[c] + 1))]) << 5)");
    formulas_compute(&f, "curve[c] = i32(table[max(0, min(124, at[c]))]) + ((slope[c] * part[c] + 16384) >> 15)");
    formulas_compute(&f, "gain[c] = select(noise[c] <= 2, table[max(0, min(2, i32(noise[c])))], i16(curve[c]))");
    formulas_compute(&f, "ratio[c] = u32((u64(x[c]) * u64(u32(gain[c]))) >> shift)");
    out[0] = formulas_compute(&f, "y[c] = select(ratio[c] < 8192, (ratio[c] * ratio[c]) >> 20, (ratio[c] >> 6) - 64)");
    return out[0] ? 1 : 0;
}

/* Emits a logarithm. log2 in Q16 is the exponent, plus the mantissa minus 1, plus a correction that is interpolated
 * between 129 points. The logarithm is log2 * 45426 / 2^16, and the result is scale / 2^16 times this; both are
 * rounded. Arguments below 2 have the result 0. */
static int log_fixed(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0], *table = n->in[1];
    if (!op_holds(cx, n, is_alike(x, U32, 1), "the input is %s%s; use u32[n]", dtype_info(x->type)->spelling,
                    tensor_shape_text(cx, x))
        || !op_holds(cx, n, is_alike(table, U16, 1) && tensor_elems(table) == 129, "the table is %s%s; use u16[129]",
                       dtype_info(table->type)->spelling, tensor_shape_text(cx, table)))
        return 0;
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", n->in[0]));
    formulas_name(&f, (Bind)BIND_T("table", n->in[1]));
    name_int(&f, "bits");
    formulas_phrase(&f, "scale", text_format(cx, "u32(%lld)", (long long)(uint32_t)node_int(n, "scale", 64)));
    formulas_compute(&f, "s[c] = x[c] << bits");
    formulas_compute(&f, "head[c] = clz(i32(s[c]))");
    formulas_compute(&f, "part[c] = i32(select(head[c] > 15, (s[c] << u32(head[c] - 15)), "
                         "(s[c] >> u32(15 - head[c]))) & 65535)");
    formulas_compute(&f, "low[c] = i32(table[max(0, min(127, part[c] >> 9))])");
    formulas_compute(&f, "rise[c] = i32(table[max(0, min(127, part[c] >> 9)) + 1]) - low[c]");
    formulas_compute(&f, "two[c] = u32(((31 - head[c]) << 16) + part[c] + low[c] + "
                         "((rise[c] * (part[c] & 511)) >> 16))");
    formulas_compute(&f, "e[c] = u32((u64(two[c]) * u64(45426) + u64(32768)) >> 16)");
    formulas_compute(&f, "l[c] = (scale * e[c] + 32768) >> 16");
    out[0] = formulas_compute(&f, "y[c] = i16(select(s[c] > 1, min(l[c], 32767), 0))");
    return out[0] ? 1 : 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const AttrRow window_attrs[] = { { "shift", ATTR_INT, "bits of the weights' fraction", "12" }, { 0 } };
static const AttrRow energy_attrs[] = {
    { "begin", ATTR_INT, "the first bin; those before it are 0", "0" },
    { "end", ATTR_INT, "the bin after the last one; this bin and those after it are 0", "2147483647" },
    { 0 }
};
static const AttrRow bank_attrs[] = { { "most", ATTR_INT, "the largest width of a band", "1" }, { 0 } };
static const AttrRow noise_attrs[] = {
    { "up", ATTR_INT, "bits by which x is scaled", "0" },
    { "bits", ATTR_INT, "bits of the factors' fraction", "14" },
    { "even", ATTR_INT, "the weight of x in the estimate of even channels", "0" },
    { "even_rest", ATTR_INT, "the weight of the estimate before", "0" },
    { "odd", ATTR_INT, "`even` for odd channels", "0" },
    { "odd_rest", ATTR_INT, "`even_rest` for odd channels", "0" },
    { "least", ATTR_INT, "the smallest part of x that is left", "0" },
    { "clamp", ATTR_INT, "1: an estimate is not above x", "0" },
    { 0 }
};
static const AttrRow gain_attrs[] = { { "shift", ATTR_INT, "bits by which x * gain is shifted", "0" }, { 0 } };
static const AttrRow log_attrs[] = {
    { "bits", ATTR_INT, "bits by which x is scaled", "0" }, { "scale", ATTR_INT, "the factor of the logarithm", "64" },
    { 0 }
};

static const OpCase window_cases[] = {
    { "", "i16[2][6]={32767,-32768,100,-100,1,0,5,-5,4096,-4096,7,9} i16[6]={4096,4096,4095,8191,-32768,1}",
      "i16[2][6]", NULL },
    { "shift=0", "i16[3]={300,-300,7} i16[3]={300,300,-1}", "i16[3]", NULL },
    { "shift=32", "i16[3] i16[3]", NULL, "'shift' is 32" },
    { 0 }
};
static const OpCase auto_scale_cases[] = {
    { "", "i16[5]={100,-300,7,0,299}", "i16[5]", NULL },
    { "", "i16[3]={0,0,0}", "i16[3]", NULL },
    { "", "i16[4]={900,-32768,5,-7}", "i16[4]", NULL },
    { "", "i16[1]={-32768}", "i16[1]", NULL },
    { "", "i16[2][3]", NULL, "use i16[n]" },
    { 0 }
};
static const OpCase energy_cases[] = {
    { "", "i16[4][2]={1,-2,-32768,-32768,32767,3,0,0}", "u32[4]", NULL },
    { "begin=1 end=3", "i16[4][2]={1,-2,-32768,-32768,32767,3,5,6}", "u32[4]", NULL },
    { "", "i16[4]", NULL, "use i16[n][2]" },
    { 0 }
};
static const OpCase bank_cases[] = {
    { "most=3", "u32[8]={1,2,3,4000000000,5,6,7,8} i16[6]={4096,3000,1000,-1,5,6} i16[6]={0,1096,3096,7,8,9} "
      "i16[3]={1,3,6} i16[3]={0,2,5} i16[3]={2,3,1}", "u64[2]", NULL },
    { "", "u32[8] i16[6] i16[5] i16[3] i16[3] i16[3]", NULL, "'falling', is i16[5]; use i16[6]" },
    { 0 }
};
static const OpCase root_cases[] = {
    { "", "u64[6]={0,1,4294967295,4294967296,18446744073709551615,6} i32[1]={0}", "u32[6]", NULL },
    { "", "u64[3]={1000000007,99,12345678901234} i32[1]={3}", "u32[3]", NULL },
    { "", "u32[3] i32[1]", NULL, "the input is u32" },
    { 0 }
};
static const OpCase noise_cases[] = {
    { "up=10 even=409 even_rest=15975 odd=983 odd_rest=15401 least=819", "u32[3]={900,0,70000} "
      "u32[3]={0,5,4000000000}", "u32[3]", NULL },
    { "up=3 bits=10 even=100 even_rest=924 odd=200 odd_rest=824 least=50 clamp=1", "u32[2]={9,80} u32[2]={500,1}",
      "u32[2]", NULL },
    { "", "u32[2] i32[2]", NULL, "the noise i32[2]" },
    { 0 }
};
static const OpCase gain_cases[] = {
    { "shift=6", "u32[6]={9,1000,70000,4000000000,3,5} u32[6]={0,2,3,70000,4000000000,900} i16[125]", "u32[6]", NULL },
    { "", "u32[3] u32[3] i16[124]", NULL, "i16[125]" },
    { 0 }
};
static const OpCase log_cases[] = {
    { "bits=3", "u32[6]={0,1,2,999,70000,536870911} u16[129]", "i16[6]", NULL },
    { "scale=1600", "u32[4]={1,2,65535,4294967295} u16[129]", "i16[4]", NULL },
    { "", "u32[3] u16[130]", NULL, "u16[129]" },
    { 0 }
};

#define ROW(fn, text, count, names, its_attrs, its_pattern, its_cases) \
    .name = #fn, .summary = text, .level = 11, .least_inputs = count, .most_inputs = count, .inputs = names, \
    .attr = its_attrs, .meaning.compute = fn, .fusion.pattern = its_pattern, .cases = its_cases

const Op ops_spectrum[] = {
    { ROW(window_fixed, "y[*] = clamp((x[*] * w[*]) >> shift) of 16 bits", 2, "x w", window_attrs, PATTERN_BROADCAST,
          window_cases) },
    { ROW(auto_scale, "y[i] = x[i] << bits, the most bits without overflow; bits", 1, "x", NULL, PATTERN_OPAQUE,
          auto_scale_cases) },
    { ROW(energy, "y[k] = x[k,0]^2 + x[k,1]^2 where begin <= k < end, else 0", 1, "x", energy_attrs, PATTERN_INJECTIVE,
          energy_cases) },
    { ROW(filter_bank, "y[c] = sum of the bins of band c by falling weights, of band c+1 by rising ones", 6,
          "x rising falling from at width", bank_attrs, PATTERN_OPAQUE, bank_cases) },
    { ROW(sqrt_rounded, "y[c] = round(sqrt(x[c])) >> bits[0]", 2, "x bits", NULL, PATTERN_OPAQUE, root_cases) },
    { ROW(subtract_noise, "subtracts a running estimate of the noise from x, but keeps at least a part of x; output 1 "
                          "is the new estimate", 2, "x noise",
          noise_attrs, PATTERN_OPAQUE, noise_cases) },
    { ROW(gain_fixed, "y[c] = shrink((x[c] * gain(noise[c])) >> shift)", 3, "x noise table", gain_attrs,
          PATTERN_OPAQUE, gain_cases) },
    { ROW(log_fixed, "y[c] = log(x[c] << bits) * scale, from a table", 2, "x table", log_attrs, PATTERN_OPAQUE,
          log_cases) },
    { 0 }
};
