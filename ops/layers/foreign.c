/* SPDX-License-Identifier: MIT */
/* Defines the call of an external C function that computes an operator without a formula: its results depend on every
 * element of its inputs, in an unknown way. The computes state only that: an element is a number drawn from a key, the
 * sum of all inputs' bits, so no pass can prove anything about it. Such computes are never run (`is_foreign`): a
 * schedule always replaces them by the call (schedules/generic/foreign.c).
 *
 *   function(inputs..., outputs..., the dimensions of each input and output, numbers) */

/* Decision: an unknown function is a call whose formulas state nothing. `--extern` makes an operator of a file a
 * `foreign_call` (`ops/layers/foreign.c`). The computes of a foreign call draw numbers from a key that all inputs
 * determine. Every element depends on all elements, in a way that no proof can use. Expansion, shrinking, streaming and
 * the plan need no case for it. Three places ask `is_foreign`: calls over constants are not folded, the interpreter
 * refuses the group, and lowering requires the step `external` in its nest (`driver/functions.c`), which the row's one
 * implementation runs. */
#include "graph/dag/op_build.h"

#include <string.h>

/* Returns the bits of an element as u64. */
static const char *bits_of(Ctx *cx, DType t, const char *x)
{
    if (t == BOOL) return OP_TEXT(cx, "select(x, u64(1), u64(0))", { "x", x });
    if (!dtype_is_float(t)) return OP_TEXT(cx, "u64(x)", { "x", x });
    const int bytes = dtype_info(t)->bytes;
    return OP_TEXT(cx, "u64(cast(x))", { "cast", bytes == 8 ? "bits_u64" : bytes == 4 ? "bits_u32" : "bits_u16" },
                   { "x", x });
}

/* Returns a value of the type, made of 64 random bits. */
static const char *from_bits(Ctx *cx, DType t, const char *bits)
{
    if (t == BOOL) return OP_TEXT(cx, "(bits & 1) == 1", { "bits", bits });
    if (!dtype_is_float(t)) return OP_TEXT(cx, "type(bits)", { "type", dtype_info(t)->spelling }, { "bits", bits });
    const int bytes = dtype_info(t)->bytes;
    return OP_TEXT(cx, "bits_type(cast(bits))", { "bits_type", text_format(cx, "bits_%s", dtype_info(t)->spelling) },
                   { "cast", bytes == 8 ? "u64" : bytes == 4 ? "u32" : "u16" }, { "bits", bits });
}

/* Emits the sum of the bits of all elements of input i. */
static Tensor *bits_of_input(Ctx *cx, const Node *n, int i)
{
    const Tensor *x = n->in[i];
    if (!x->rank)
        return OP_FORMULA(cx, n, OP_TEXT(cx, "bits[o<1] = of", { "of", bits_of(cx, x->type, "x") }),
                          BIND_T("x", n->in[i]));
    const char *all = axes_with(cx, x->rank, -1, "");
    return OP_FORMULA(cx, n, OP_TEXT(cx, "bits[o<1] = sum(all) of",
                                     { "of", bits_of(cx, x->type, OP_TEXT(cx, "x[all]", { "all", all })) },
                                     { "all", all }),
                      BIND_T("x", n->in[i]));
}

/* Reads the type and the dimensions of the outputs. The attribute lists the rank of each output before its sizes. */
static int read_outputs(const Node *n, DType *type, int *rank, int64_t (*dim)[MAX_RANK])
{
    const Attr *shapes = node_attr(n, "shapes");
    const int given = shapes ? shapes->count : 0;
    const int64_t *size = shapes ? shapes->ints : NULL;
    const char *word = node_text(n, "types", "");
    int count = 0, at = 0;
    for (; *word && count < MAX_OUTPUTS; word += strcspn(word, ","), word += *word == ',', count++) {
        if (!dtype_read(word, strcspn(word, ","), &type[count]) || at >= given || size[at] < 0 || size[at] > MAX_RANK
            || at + size[at] >= given)
            return 0;
        rank[count] = (int)size[at++];
        for (int d = 0; d < rank[count]; d++)
            if ((dim[count][d] = size[at++]) < 1) return 0;
    }
    return at == given && !*word ? count : 0;
}

static Tensor *output(Ctx *cx, const Node *n, Tensor *key, int number, DType t, int rank, const int64_t *dim)
{
    Text axes = text_new(cx), sum = text_new(cx);
    for (int d = 0; d < rank; d++) {
        text_printf(&axes, "%sa%d<%lld", d ? "," : "", d, (long long)dim[d]);
        text_printf(&sum, " + u64(a%d)", d);
    }
    const char *bits = text_format(cx, "philox(key[0], u64(%d)%s)", number, text_string(&sum));
    return OP_FORMULA(cx, n, OP_TEXT(cx, "y[axes] = value", { "value", from_bits(cx, t, bits) },
                                     { "axes", text_string(&axes) }),
                      BIND_T("key", key));
}

static int foreign_call(Ctx *cx, const Node *n, Tensor **out)
{
    DType type[MAX_OUTPUTS];
    int rank[MAX_OUTPUTS];
    int64_t dim[MAX_OUTPUTS][MAX_RANK];
    const int count = read_outputs(n, type, rank, dim);
    if (!op_holds(cx, n, *node_text(n, "function", ""), "'function' is \"\"; use the name of a C function")
        || !op_holds(cx, n, count > 0, "'types' is \"%s\", and 'shapes' does not match it; use the types of the "
                     "outputs, and in 'shapes' the rank and sizes of each", node_text(n, "types", "")))
        return 0;
    Tensor *key = NULL;
    for (int i = 0; i < n->in_count && !ctx_failed(cx); i++) {
        Tensor *bits = bits_of_input(cx, n, i);
        key = key ? OP_FORMULA(cx, n, "key[o<1] = a[o] + b[o]", BIND_T("a", key), BIND_T("b", bits)) : bits;
    }
    for (int i = 0; i < count && !ctx_failed(cx); i++) out[i] = output(cx, n, key, i, type[i], rank[i], dim[i]);
    return ctx_failed(cx) ? 0 : count;
}

static const AttrRow attrs[] = {
    { "function", ATTR_TEXT, "the name of the C function", NULL },
    { "types", ATTR_TEXT, "the types of the outputs: f32,i8", NULL },
    { "shapes", ATTR_INTS, "the rank of each output, and its sizes", NULL },
    { "numbers", ATTR_TEXT, "the last arguments: 3, 0.5", NULL },
    { 0 }
};
static const OpCase cases[] = {
    { "function=f types=f32 shapes=2,2,3", "f32[4] i8[2][2]", "f32[2][3]", NULL },
    { "function=f types=f32,i8 shapes=1,3,2,2,2", "f32[4]", "f32[3]", NULL },
    { "function=f types=f32 shapes=2,2", "f32[4]", NULL, "'shapes' does not match it" },
    { "types=f32 shapes=1,2", "f32[4]", NULL, "'function' is \"\"" },
    { 0 }
};

/* each input has a name of its own, because the arguments of a call are names */
#define INPUTS "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23"

const Op ops_foreign[] = {
    { .name = "foreign_call", .summary = "y = function(inputs...), a C function from outside", .level = 11,
      .least_inputs = 1, .most_inputs = 24, .inputs = INPUTS, .attr = attrs, .meaning.compute = foreign_call,
      .meaning.is_foreign = true, .fusion.pattern = PATTERN_OPAQUE, .cases = cases },
    { 0 }
};
