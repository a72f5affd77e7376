/* SPDX-License-Identifier: MIT */
/* Integers of few bits that share bytes: 4 / 2 bits, two or four of them in a byte, each minus the smallest value.
 *
 *   y[i] = to(bits of k) + least        k: u8 [R][G][B]     R runs; element f of a run is in byte [f / (B*per)][f % B]
 *
 * per = 8 / bits. A byte holds elements that are B elements apart in the row, the first one in its lowest bits. So the
 * bytes of a group are the first B elements of the group after a mask, the next B after a shift and a mask, for words
 * and vectors alike. */

/* Decision: weights of few bits stay packed. The width is a fact of a constant's values: weights span at most 16 or 4
 * adjacent integers. So every format's integers of 4 and 2 bits, with and without sign or zero points, and those of
 * `quantize --weights-bits`, need no type of their own. The pass `narrow` stores such constants as `from_bits`
 * (`graph/passes/narrow.c`), which joins the group of its only reader, as all calls over constants do
 * (`graph/plan/fuse.c`). Plain loops unpack each element where it is read; schedules of packed operators unpack the
 * weights of a tile of channels at once (`schedules/arm/rows.c`). */
#include <string.h>

#include "graph/dag/op_build.h"

/* elements of w: [runs][length]; padding has the value `least` */
static const WeightLayout bits_layouts[] = {
    { .name = "bits", .type = U8, .rank = 3, .of = "r<runs,f<length",
      .words = "[run][group][byte]; 2 or 4 elements in a byte, lowest bits first, less the least",
      .encode = "k[r<runs,g<groups,t<by] = "
                "sum(p<per) u8((i32((w[r,(per*g+p)*by+t]? : least)) - least) << bits*p)",
      .decode = "(i32(k[r,f/group,f%by]) >> f/by%per*bits & mask) + least" },
    { 0 }
};

typedef struct Bits { int64_t runs, length, by, per, bits, least; int rank; int64_t shape[MAX_RANK]; DType to; } Bits;

static bool refuse(Ctx *cx, const Node *n)
{
    op_refuse(cx, n, "the input is %s of %s; use u8[runs][groups][bytes] with room for the elements of 'shape', bits=2 "
                     "or bits=4, to=i8 or to=u8, and values that fit",
              tensor_shape_text(cx, n->in[0]), dtype_info(n->in[0]->type)->spelling);
    return false;
}

static bool read_bits(Ctx *cx, const Node *n, Bits *b)
{
    const Tensor *k = n->in[0];
    const Attr *shape = node_attr(n, "shape");
    const char *to = node_text(n, "to", "i8");
    *b = (Bits){ .bits = node_int(n, "bits", 4), .least = node_int(n, "least", 0), .length = 1, .to = I8 };
    if (k->type != U8 || k->rank != 3 || !tensor_is_fixed(k) || !shape || shape->count < 1 || shape->count > MAX_RANK)
        return refuse(cx, n);
    if (!dtype_read(to, strlen(to), &b->to) || (b->to != I8 && b->to != U8)) return refuse(cx, n);
    b->runs = tensor_dim(k, 0);
    b->by = tensor_dim(k, 2);
    b->rank = shape->count;
    if ((b->bits != 2 && b->bits != 4) || b->runs < 1 || b->by < 1) return refuse(cx, n);
    b->per = 8 / b->bits;
    for (int d = 0; d < b->rank; d++) {
        b->shape[d] = shape->ints[d];
        if (b->shape[d] < 1 || b->shape[d] > INT32_MAX / b->length) return refuse(cx, n);
        if (d || b->runs == 1) b->length *= b->shape[d];
    }
    const int64_t low = b->to == U8 ? 0 : INT8_MIN, high = low + UINT8_MAX - ((1 << b->bits) - 1);
    const bool fits = (b->runs == 1 || b->runs == b->shape[0]) && b->length <= tensor_dim(k, 1) * b->per * b->by
                      && b->least >= low && b->least <= high;
    return fits || refuse(cx, n);
}

/* Returns the row-major index of dimensions `from` to `to`, of which axis d is named by letter d: ((a)*3+b)*5+c. */
static const char *flat_index(Ctx *cx, const Bits *b, int from, int to)
{
    const char *index = "0";
    for (int d = from; d < to; d++)
        index = d == from ? text_format(cx, "%c", 'a' + d)
                          : text_format(cx, "(%s)*%lld+%c", index, (long long)b->shape[d], 'a' + d);
    return index;
}

static const char *axes_of(Ctx *cx, const Bits *b)
{
    Text axes = text_new(cx);
    for (int d = 0; d < b->rank; d++)
        text_printf(&axes, "%s%c<%lld", d ? "," : "", 'a' + d, (long long)b->shape[d]);
    return text_string(&axes);
}

static const char *with_numbers(Ctx *cx, const Bits *b, const char *text)
{
    return OP_TEXT(cx, text, { "by", op_number(cx, b->by) }, { "per", op_number(cx, b->per) },
                   { "bits", op_number(cx, b->bits) }, { "group", op_number(cx, b->by * b->per) },
                   { "mask", op_number(cx, (1 << b->bits) - 1) }, { "least", op_number(cx, b->least) },
                   { "runs", op_number(cx, b->runs) }, { "length", op_number(cx, b->length) },
                   { "type", dtype_info(b->to)->spelling });
}

/* Bytes that hold elements of adjacent rows of the last axis: the position in a byte depends only on the row. */
static Tensor *by_rows(Ctx *cx, const Node *n, const Bits *b)
{
    const char *text = OP_TEXT(cx, "y[axes] = type((i32(k[0,(row)/per,column]) >> (row)%per*bits & mask) + least)",
                               { "axes", axes_of(cx, b) }, { "row", flat_index(cx, b, 0, b->rank - 1) },
                               { "column", text_format(cx, "%c", 'a' + b->rank - 1) });
    return OP_FORMULA(cx, n, with_numbers(cx, b, text), BIND_T("k", n->in[0]));
}

/* Bytes in runs: first all elements of a run in order, then their places in y. */
static Tensor *by_runs(Ctx *cx, const Node *n, const Bits *b)
{
    const char *text = OP_TEXT(cx, "run[r<runs,f<length] = type(element)", { "element", bits_layouts[0].decode });
    Tensor *run = OP_FORMULA(cx, n, with_numbers(cx, b, text), BIND_T("k", n->in[0]));
    text = OP_TEXT(cx, "y[axes] = run[first,index]", { "axes", axes_of(cx, b) },
                   { "first", b->runs > 1 ? "a" : "0" }, { "index", flat_index(cx, b, b->runs > 1, b->rank) });
    return run ? OP_FORMULA(cx, n, text, BIND_T("run", run)) : NULL;
}

static int from_bits(Ctx *cx, const Node *n, Tensor **out)
{
    Bits b;
    if (!read_bits(cx, n, &b)) return 0;
    out[0] = b.runs == 1 && b.rank > 1 && b.by == b.shape[b.rank - 1] ? by_rows(cx, n, &b) : by_runs(cx, n, &b);
    return out[0] ? 1 : 0;
}

static const AttrRow from_bits_attrs[] = {
    { "shape", ATTR_INTS, "shape of the result", NULL },
    { "bits",  ATTR_INT,  "bits of an element: 2 or 4", "4" },
    { "least", ATTR_INT,  "the value whose bits are 0", "0" },
    { "to",    ATTR_TEXT, "type of the result: i8 or u8", "i8" },
    { 0 }
};
static const OpCase from_bits_cases[] = {
    { "shape=3,5 least=-8", "u8[1][2][5]", "i8[3][5]", NULL },
    { "shape=3,2,5 bits=2 least=-2", "u8[1][2][5]", "i8[3][2][5]", NULL },
    { "shape=3,4,6 least=-8", "u8[3][3][4]", "i8[3][4][6]", NULL },
    { "shape=2,21 bits=2 to=u8 least=3", "u8[2][2][4]", "u8[2][21]", NULL },
    { "shape=11 least=-8", "u8[1][2][4]", "i8[11]", NULL },
    { "shape=3,5 bits=3", "u8[1][2][5]", NULL, "bits=2 or bits=4" },
    { "shape=5,5", "u8[1][2][5]", NULL, "with room for the elements" },
    { "shape=3,5", "i8[1][2][5]", NULL, "use u8[runs][groups][bytes]" },
    { "shape=3,5 least=120", "u8[1][2][5]", NULL, "values that fit" },
    { 0 }
};

const Op ops_bits[] = {
    { .name = "from_bits", .summary = "y[i] = bits of k + least: integers of 2 or 4 bits that share bytes",
      .level = 11, .least_inputs = 1, .most_inputs = 1, .inputs = "k", .attr = from_bits_attrs,
      .meaning.compute = from_bits, .fusion.pattern = PATTERN_INJECTIVE, .layout.widens = true,
      .layouts = bits_layouts, .cases = from_bits_cases },
    { 0 }
};
