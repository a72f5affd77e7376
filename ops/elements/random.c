/* SPDX-License-Identifier: MIT */
/* Defines random numbers as a function of the key, which is an input tensor. Philox (runtime/lw_random.h) maps the key
 * and the element's row-major index to 64 bits; the upper bits are used first. The same key gives the same numbers in
 * every run and on every machine.
 *
 *   random_uniform    y = low + (high - low) * u                        u in [0, 1)
 *   random_normal     y = mean + scale * sqrt(-2 log v) * cos(2 pi w)   Box and Muller 1958; v in (0, 1], w in [0, 1)
 *   mersenne_uniform  y = the outputs of MT19937 in [0, 1), in order    Matsumoto and Nishimura 1998
 *   multinomial       y[b,s] = the class whose share of exp(x[b,:]) contains a uniform number
 *
 *   number   f32                            f64
 *   u        upper 24 bits / 2^24           upper 53 bits / 2^53
 *   v        (upper 24 bits + 1) / 2^24     (upper 32 bits + 1) / 2^32
 *   w        next 24 bits / 2^24            lower 32 bits / 2^32
 *
 * mersenne_uniform takes 53 bits of two words for each number. Seeded generators of many libraries produce the same
 * sequence. */

/* Decision: random numbers are a function. `philox(key, counter)` is a kind of expression: element i is drawn from
 * counter i under a key that is an ordinary input (`ops/elements/random.c`). The folder, the interpreter and the
 * emitted C draw the same numbers, in any order that a schedule computes them. The ONNX importer's key is the
 * attribute `seed`, or follows from the node's name and from the iteration numbers of the loops around it
 * (`onnx_iterations`), unrolled or not. For different numbers on each run, make the key a state input. */
#include "graph/dag/op_build.h"

#include <string.h>

static bool check_key(Ctx *cx, const Node *n, const Tensor *key)
{
    if (key->rank == 0 && (key->type == U64 || key->type == I64)) return true;
    op_refuse(cx, n, "the key is %s%s; use a u64 or i64 scalar", dtype_info(key->type)->spelling,
              tensor_shape_text(cx, key));
    return false;
}

/* The attribute `shape` as text; axes: "n<2,c<3"; number: the row-major index of the element, "(n*3+c)". */
typedef struct Shape { int rank; int64_t elems; const char *axes, *number; } Shape;

static bool read_shape(Ctx *cx, const Node *n, Shape *s)
{
    const Attr *a = node_attr(n, "shape");
    const char *number = "0";
    Text axes = text_new(cx);
    s->elems = 1;
    s->rank = a ? a->count : 0;
    for (int d = 0; d < s->rank && d < MAX_RANK && s->elems >= 0; d++) {
        const char c = axis_letter(s->rank < MAX_RANK ? s->rank : MAX_RANK, d);
        s->elems = a->ints[d] < 1 || a->ints[d] > INT32_MAX / s->elems ? -1 : s->elems * a->ints[d];
        text_printf(&axes, "%s%c<%lld", d ? "," : "", c, (long long)a->ints[d]);
        number = OP_TEXT(cx, d ? "(number*size+c)" : "c", { "number", number }, { "size", op_number(cx, a->ints[d]) },
                         { "c", ((const char[]){ c, '\0' }) });
    }
    s->axes = text_string(&axes);
    s->number = number;
    if (s->rank <= MAX_RANK && s->elems >= 0) return true;
    op_refuse(cx, n, "'shape' is %s; use at most %d sizes of at least 1, and fewer than 2^31 elements",
              ints_text(cx, a->ints, s->rank), MAX_RANK);
    return false;
}

/* Reads the attribute `to`: f32 or f64. */
static bool read_type(Ctx *cx, const Node *n, DType *t)
{
    const char *to = node_text(n, "to", "f32");
    if (dtype_read(to, strlen(to), t) && (*t == F32 || *t == F64)) return true;
    op_refuse(cx, n, "'to' is \"%s\"; use f32 or f64", to);
    return false;
}

/* The texts that turn an element's 64 random bits into real numbers. `high` has the bits from `down` upwards, `low` the
 * bits below, by `mask`. */
typedef struct Drawn { const char *real, *whole, *down, *next, *mask, *unit; } Drawn;
static const Drawn drawn_f32 = { "f32", "i32", "40", "16", "16777215", "5.9604644775390625e-8" };
static const Drawn drawn_f64 = { "f64", "i64", "11", "0", "2047", "1.1102230246251565e-16" };
static const Drawn halves_f64 = { "f64", "i64", "32", "0", "4294967295", "2.3283064365386963e-10" };

static const char *drawn_text(Ctx *cx, const Drawn *d, const char *number, const char *text)
{
    return OP_TEXT(cx, text, { "number", number }, { "bits", "philox(u64(key), u64(number))" }, { "down", d->down },
                   { "next", d->next }, { "mask", d->mask }, { "whole", d->whole }, { "real", d->real },
                   { "unit", d->unit }, { "high", "real(whole((bits >> down)))" },
                   { "low", "real(whole(((bits >> next) & mask)))" });
}

static const char *uniform_text(Ctx *cx, DType t, const char *number)
{
    return drawn_text(cx, t == F64 ? &drawn_f64 : &drawn_f32, number, "(high * unit)");
}

static int random_uniform(Ctx *cx, const Node *n, Tensor **out)
{
    Shape s;
    DType t;
    if (!check_key(cx, n, n->in[0]) || !read_shape(cx, n, &s) || !read_type(cx, n, &t)) return 0;
    const double low = node_real(n, "low", 0), high = node_real(n, "high", 1);
    const char *text = OP_TEXT(cx, "y[axes] = low + range * uniform", { "axes", s.axes },
                               { "uniform", uniform_text(cx, t, s.number) });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("key", n->in[0]), BIND_V("low", expr_real(cx, t, low)),
                        BIND_V("range", expr_real(cx, t, high - low)));
    return out[0] ? 1 : 0;
}

static int random_normal(Ctx *cx, const Node *n, Tensor **out)
{
    Shape s;
    DType t;
    if (!check_key(cx, n, n->in[0]) || !read_shape(cx, n, &s) || !read_type(cx, n, &t)) return 0;
    const Drawn *d = t == F64 ? &halves_f64 : &drawn_f32;
    const char *text = OP_TEXT(cx, "y[axes] = mean + scale * (sqrt(-2 * log(v)) * cos(6.283185307179586 * w))",
                               { "axes", s.axes }, { "v", drawn_text(cx, d, s.number, "((high + 1) * unit)") },
                               { "w", drawn_text(cx, d, s.number, "(low * unit)") });
    out[0] = OP_FORMULA(cx, n, text, BIND_T("key", n->in[0]),
                        BIND_V("mean", expr_real(cx, t, node_real(n, "mean", 0))),
                        BIND_V("scale", expr_real(cx, t, node_real(n, "scale", 1))));
    return out[0] ? 1 : 0;
}

/* Emits MT19937. The first 624 words expand the key. Each later word combines three earlier words. Two words give one
 * number. */
static int mersenne_uniform(Ctx *cx, const Node *n, Tensor **out)
{
    enum { STATE = 624 };
    Shape s;
    Tensor *key = n->in[0];
    if (!read_shape(cx, n, &s)) return 0;
    if (!op_holds(cx, n, key->rank == 0 && key->type == U32, "the key is %s%s; use a u32 scalar",
                    dtype_info(key->type)->spelling, tensor_shape_text(cx, key))
        || !op_holds(cx, n, s.elems <= INT32_MAX / 4, "it draws %lld numbers; use fewer than 2^29",
                       (long long)s.elems))
        return 0;
    const Expr *words = expr_index(cx, STATE + 2 * s.elems);
    static const struct { const char *name; uint32_t value; } masks[] = {
        { "high", 0x80000000 }, { "low", 0x7fffffff }, { "twist", 0x9908b0df }, { "spread", 1812433253 }, { "mask7",
          0x9d2c5680 }, { "mask15", 0xefc60000 },
    };
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("key", key));
    formulas_name(&f, (Bind)BIND_V("T", words));
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
        formulas_name(&f, (Bind)BIND_V(masks[i].name, expr_int(cx, U32, masks[i].value)));
    Tensor *word = formulas_promise(&f, "word", U32, 1, &words);
    formulas_define(&f, word,
                  "word[t<T ordered] = (word[t-227]? ^ (((word[t-624]? & high) | (word[t-623]? & low)) >> 1) ^ "
                  "select((word[t-623]? & 1) == 1, twist, 0) : "
                  "((word[t-1]? ^ (word[t-1]? >> 30)) * spread + u32(t) : key))");
    formulas_compute(&f, OP_TEXT(cx, "raw[i<count] = word[i+state]", { "count", op_number(cx, 2 * s.elems) },
                                 { "state", op_number(cx, STATE) }));
    formulas_compute(&f, "first[i] = raw[i] ^ (raw[i] >> 11)");
    formulas_compute(&f, "second[i] = first[i] ^ ((first[i] << 7) & mask7)");
    formulas_compute(&f, "third[i] = second[i] ^ ((second[i] << 15) & mask15)");
    formulas_compute(&f, "last[i] = third[i] ^ (third[i] >> 18)");
    out[0] = formulas_compute(
        &f, OP_TEXT(cx, "y[axes] = (f64(last[2*number] >> 5) * 67108864 + f64(last[2*number+1] >> 6)) * "
                        "1.1102230246251565e-16", { "axes", s.axes }, { "number", s.number }));
    return out[0] ? 1 : 0;
}

/* Draws classes. `end` has the prefix sums of the shares; the drawn class is the number of c < C - 1 with end[c] <= u *
 * total. */
static int multinomial(Ctx *cx, const Node *n, Tensor **out)
{
    Tensor *x = n->in[0];
    const int64_t samples = node_int(n, "samples", 1), classes = x->rank == 2 ? tensor_dim(x, 1) : -1,
                  rows = classes > 0 ? tensor_dim(x, 0) : -1;
    if (!check_key(cx, n, n->in[1]) || !op_float(cx, n)) return 0;
    if (!op_holds(cx, n, rows >= 1, "the input is %s; use [rows][classes] of fixed sizes above 0",
                    tensor_shape_text(cx, x))
        || !op_holds(cx, n, samples >= 1, "'samples' is %lld; use 1 or more", (long long)samples)
        || !op_holds(cx, n, samples <= INT32_MAX / rows, "it draws %lld samples for %lld rows; use fewer than 2^31 "
                       "results", (long long)samples, (long long)rows))
        return 0;
    const char *number = OP_TEXT(cx, "b*samples+s", { "samples", op_number(cx, samples) });
    Formulas f = { .cx = cx, .call = n };
    formulas_name(&f, (Bind)BIND_T("x", x));
    formulas_name(&f, (Bind)BIND_T("key", n->in[1]));
    formulas_name(&f, (Bind)BIND_I(cx, "C", classes));
    formulas_name(&f, (Bind)BIND_I(cx, "B", rows));
    formulas_compute(&f, "peak[b] = max(c) x[b,c]");
    formulas_compute(&f, "share[b,c] = exp(x[b,c] - peak[b])");
    Tensor *end = formulas_promise(&f, "end", x->type, 2, (const Expr *[]){ x->shape[1], x->shape[0] });
    formulas_define(&f, end, classes == 1 ? "end[c<C,b<B] = (end[c-1,b]? : 0) + share[b,c]"
                                          : "end[c<C ordered,b<B] = (end[c-1,b]? : 0) + share[b,c]");
    const char *text = OP_TEXT(
        cx, "y[b<B,s<samples] = sum(c<C) select(c < C - 1 && end[c,b] <= type(uniform) * end[C-1,b], i64(1), 0)",
        { "samples", op_number(cx, samples) }, { "type", dtype_info(x->type)->spelling },
        { "uniform", uniform_text(cx, x->type == F64 ? F64 : F32, number) });
    out[0] = formulas_compute(&f, text);
    return out[0] ? 1 : 0;
}

#define SHAPE_ROW { "shape", ATTR_INTS, "the shape of the result; empty: a scalar", NULL }
#define SHAPE_ROWS SHAPE_ROW, { "to", ATTR_TEXT, "f32 or f64", "f32" }
static const AttrRow uniform_attrs[] = {
    SHAPE_ROWS,
    { "low", ATTR_REAL, "the smallest value", "0" },
    { "high", ATTR_REAL, "the upper bound, reached by rounding only", "1" },
    { 0 }
};
static const AttrRow normal_attrs[] = {
    SHAPE_ROWS,
    { "mean", ATTR_REAL, "the mean", "0" },
    { "scale", ATTR_REAL, "the standard deviation", "1" },
    { 0 }
};
static const AttrRow mersenne_attrs[] = { SHAPE_ROW, { 0 } };
static const AttrRow multinomial_attrs[] = { { "samples", ATTR_INT, "the number of samples per row", "1" }, { 0 } };

static const OpCase uniform_cases[] = {
    { "shape=2,3 low=-1 high=3", "u64={7}", "f32[2][3]", NULL },
    { "shape=2,2,3,2,5 to=f64", "i64={-7}", "f64[2][2][3][2][5]", NULL },
    { "", "u64={0}", "f32", NULL },
    { "shape=4", "i32={7}", NULL, "use a u64 or i64 scalar" },
    { "shape=4", "u64[2]={7,8}", NULL, "use a u64 or i64 scalar" },
    { "shape=4,0", "u64={7}", NULL, "'shape' is 4,0" },
    { "shape=65536,65536", "u64={7}", NULL, "fewer than 2^31 elements" },
    { "shape=4 to=i8", "u64={7}", NULL, "use f32 or f64" },
    { 0 }
};
static const OpCase normal_cases[] = {
    { "shape=3,5 mean=2 scale=0.5", "u64={7}", "f32[3][5]", NULL },
    { "shape=4,4 to=f64", "i64={1}", "f64[4][4]", NULL },
    { "shape=-1", "u64={7}", NULL, "'shape' is -1" },
    { 0 }
};
static const OpCase mersenne_cases[] = {
    { "shape=2,3", "u32={5489}", "f64[2][3]", NULL },
    { "", "u32={0}", "f64", NULL },
    { "shape=400", "u32={4294967295}", "f64[400]", NULL },
    { "shape=3", "i64={0}", NULL, "a u32 scalar" },
    { 0 }
};
static const OpCase multinomial_cases[] = {
    { "samples=9", "f32[2][4] u64={3}", "i64[2][9]", NULL },
    { "samples=5", "f64[1][3]={-100,0,-100} u64={3}", "i64[1][5]", NULL },
    { "", "f32[3][1] i64={3}", "i64[3][1]", NULL },
    { "samples=0", "f32[2][4] u64={3}", NULL, "'samples' is 0" },
    { "", "f32[4] u64={3}", NULL, "[rows][classes]" },
    { "", "f32[2][4] f32={3}", NULL, "the key is f32" },
    { 0 }
};

#define DRAW(fn, text, roles, count, attrs, kind, case_rows) \
    { .name = #fn, .summary = text, .level = 10, .least_inputs = count, .most_inputs = count,  \
      .inputs = roles, .attr = attrs, .meaning.compute = fn, .fusion.pattern = kind, .cases = case_rows }

const Op ops_random[] = {
    DRAW(random_uniform, "y[i] = low + (high - low) * u, u in [0, 1) by philox(key, i)", "key", 1, uniform_attrs,
         PATTERN_INJECTIVE, uniform_cases),
    DRAW(random_normal, "y[i] = mean + scale * z, z normal by philox(key, i)", "key", 1, normal_attrs,
         PATTERN_INJECTIVE, normal_cases),
    DRAW(mersenne_uniform, "y[i] = number i, in [0, 1), of the generator MT19937 seeded with the key", "key", 1,
         mersenne_attrs, PATTERN_OPAQUE, mersenne_cases),
    DRAW(multinomial, "y[b,s] = a class, of probability exp(x[b,y]) / sum(c) exp(x[b,c]), by philox(key, i)", "x key",
         2, multinomial_attrs, PATTERN_OPAQUE, multinomial_cases),
    { 0 }
};
