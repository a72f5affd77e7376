/* SPDX-License-Identifier: MIT */
/* Defines views. A view has the same elements in the same order, with a different shape. A view aliases its input.
 *
 *   reshape shape=..     -1, once: the remaining size; 0: the input's size
 *   flatten axis=..      [before the axis][from the axis]
 *   squeeze axes=..      drops dimensions of 1
 *   unsqueeze axes=..    inserts dimensions of 1
 *
 * The compute maps indices. Runs of dimensions with equal products correspond; inside a run the flat index is split
 * into the indices of x:  y[i,j] = x[(i*J + j) / K, (i*J + j) % K]. With open sizes, if the dimensions of both shapes
 * are products of common digits, the map moves digits instead: then each index is provably in bounds. */
#include "graph/dag/op_build.h"
#include "ir/algebra/algebra.h"

/* Products of sizes as numbers: a prime that divides no fixed size represents each symbolic size. Shapes become lists
 * of numbers, products compare as numbers, and a quotient of products is factored back into sizes. */
typedef struct ShapeProduct {
    Ctx *cx;
    int count;
    const Expr *size[MAX_RANK];
    int64_t prime[MAX_RANK];
    bool too_large;
} ShapeProduct;

static const int64_t primes[] = {
    1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069, 1087, 1091, 1093, 1097
};

static int64_t times(ShapeProduct *s, int64_t a, int64_t b)
{
    s->too_large = s->too_large || (b > 0 && a > INT64_MAX / 2 / b);
    return s->too_large ? 0 : a * b;
}

static int64_t number_of(ShapeProduct *s, const Expr *e)
{
    if (e->kind == EXPR_INT) return e->integer;
    if (e->kind == EXPR_MUL) return times(s, number_of(s, e->arg[0]), number_of(s, e->arg[1]));
    for (int i = 0; i < s->count; i++)
        if (s->size[i] == e) return s->prime[i];
    if (s->count == MAX_RANK) s->too_large = true;
    if (s->too_large) return 0;
    s->size[s->count] = e;
    return s->prime[s->count++];
}

static const Expr *size_of(const ShapeProduct *s, int64_t number)
{
    const Expr *e = NULL;
    for (int i = 0; i < s->count; i++)
        for (; number % s->prime[i] == 0; number /= s->prime[i]) e = e ? expr_mul(s->cx, e, s->size[i]) : s->size[i];
    return !e ? expr_index(s->cx, number) : number == 1 ? e : expr_mul(s->cx, e, expr_index(s->cx, number));
}

/* Selects the primes of a call: primes that divide no fixed size of x and no number of `more`. */
static ShapeProduct sizes_of(Ctx *cx, const Tensor *x, const int64_t *more, int count)
{
    ShapeProduct s = { .cx = cx };
    int found = 0;
    for (size_t i = 0; i < sizeof primes / sizeof primes[0] && found < MAX_RANK; i++) {
        bool divides = false;
        for (int d = 0; d < x->rank; d++)
            divides = divides || (tensor_dim(x, d) > 0 && tensor_dim(x, d) % primes[i] == 0);
        for (int d = 0; d < count; d++) divides = divides || (more[d] && more[d] % primes[i] == 0);
        if (!divides) s.prime[found++] = primes[i];
    }
    s.too_large = found < MAX_RANK;
    return s;
}

/* The shortest sequences of dimensions with equal products: [x_from, x_to) of x and [y_from, y_to) of y. */
typedef struct DimensionRun { int x_from, x_to, y_from, y_to; } DimensionRun;

static DimensionRun next_run(const int64_t *x, int x_rank, const int64_t *y, int y_rank, DimensionRun last)
{
    DimensionRun r = { last.x_to, last.x_to, last.y_to, last.y_to };
    int64_t left = 1, right = 1;
    do {
        if (left <= right && r.x_to < x_rank) left *= x[r.x_to++];
        else if (r.y_to < y_rank) right *= y[r.y_to++];
        else if (r.x_to < x_rank) left *= x[r.x_to++];
        else break;
    } while (left != right);
    return r;
}

/* Returns the flat index (..(i0 * n1 + i1) * n2 + ..) over dimensions [from, to) of y; 0 if all of them are 1. */
static const Expr *flat_index(const ShapeProduct *s, const int64_t *y, const Expr *const *axis, int from, int to)
{
    const Expr *flat = NULL;
    for (int d = from; d < to; d++) {
        if (y[d] == 1) continue;
        if (flat) flat = expr_add(s->cx, expr_mul(s->cx, flat, size_of(s, y[d])), axis[d]);
        else flat = axis[d];
    }
    return flat ? flat : expr_index(s->cx, 0);
}

static void split_flat_index(const ShapeProduct *s, const int64_t *x, int from, int to, const Expr *flat,
                             const Expr **index)
{
    int64_t inner = 1, whole = 1;
    for (int d = from; d < to; d++) whole *= x[d];
    for (int d = to - 1; d >= from; inner *= x[d--]) {
        const Expr *part = flat;
        if (inner > 1) part = expr_binary(s->cx, EXPR_FLOORDIV, part, size_of(s, inner));
        if (inner * x[d] < whole) part = expr_binary(s->cx, EXPR_FLOORMOD, part, size_of(s, x[d]));
        index[d] = x[d] == 1 ? expr_index(s->cx, 0) : part;
    }
}

/* ---- By digits -------------------------------------------------------------------------------------------------- */

/* The suffix products of both shapes, starting at 1, in ascending order. These products bound digits if each product
 * divides the next one. */
typedef struct Digits { int count; int64_t bound[2 * MAX_RANK + 1]; } Digits;

static void add_bound(Digits *g, int64_t product)
{
    int at = g->count;
    while (at > 0 && g->bound[at - 1] > product) at--;
    if (at > 0 && g->bound[at - 1] == product) return;
    for (int i = g->count++; i > at; i--) g->bound[i] = g->bound[i - 1];
    g->bound[at] = product;
}

static bool find_digits(const int64_t *x, const int64_t *y, DimensionRun r, Digits *g)
{
    *g = (Digits){ .count = 1, .bound = { 1 } };
    int64_t product = 1;
    for (int d = r.x_to - 1; d >= r.x_from; d--) add_bound(g, product *= x[d]);
    product = 1;
    for (int d = r.y_to - 1; d >= r.y_from; d--) add_bound(g, product *= y[d]);
    for (int i = 1; i < g->count; i++)
        if (g->bound[i] % g->bound[i - 1] != 0) return false;
    return true;
}

/* Returns the digit that begins at bound `at`, extracted from the axis of y that contains it. */
static const Expr *digit_of(const ShapeProduct *s, const Digits *g, int at, const int64_t *y, const Expr *const *axis,
                            DimensionRun r)
{
    int64_t below = 1;
    int d = r.y_to - 1;
    while (g->bound[at] >= below * y[d]) below *= y[d--];
    const Expr *digit = axis[d];
    if (g->bound[at] > below) digit = expr_binary(s->cx, EXPR_FLOORDIV, digit, size_of(s, g->bound[at] / below));
    if (g->bound[at + 1] < below * y[d])
        digit = expr_binary(s->cx, EXPR_FLOORMOD, digit, size_of(s, g->bound[at + 1] / g->bound[at]));
    return digit;
}

static void move_digits(const ShapeProduct *s, const Digits *g, const int64_t *x, const int64_t *y,
                        const Expr *const *axis, DimensionRun r, const Expr **index)
{
    int at = g->count - 1;
    int64_t below = g->bound[at];
    for (int d = r.x_from; d < r.x_to; d++) {
        index[d] = expr_index(s->cx, 0);
        for (below /= x[d]; g->bound[at] > below; at--) {
            const Expr *radix = size_of(s, g->bound[at] / g->bound[at - 1]),
                       *digit = digit_of(s, g, at - 1, y, axis, r);
            index[d] = expr_is_int(index[d], 0) ? digit : expr_add(s->cx, expr_mul(s->cx, index[d], radix), digit);
        }
    }
}

/* Clamps an index that the prover cannot bound over open sizes. The clamp never changes a value, because every index is
 * in bounds. */
static const Expr *clamped_if_unproven(Ctx *cx, const Expr *index, const Expr *size, const StageSpec *spec)
{
    const Bounds *b = NULL;
    for (int a = 0; a < spec->axis_count; a++) b = bounds_var(cx, b, spec->axis[a].var, spec->axis[a].extent);
    if (provably(cx, expr_binary(cx, EXPR_LT, index, size), b)) return index;
    return expr_binary(cx, EXPR_MIN, index, op_size(cx, size, 1, -1));
}

/* Emits the view of x; `shape` holds fixed sizes and primes. */
static Tensor *view(const Node *n, ShapeProduct *s, const int64_t *shape, int rank)
{
    const Tensor *x = n->in[0];
    int64_t from[MAX_RANK];
    const Expr *axis[MAX_RANK], *index[MAX_RANK];
    StageSpec spec = { .name = n->op->name, .axis_count = rank, .out_count = 1 };
    bool is_empty = false;
    for (int d = 0; d < x->rank; d++) from[d] = number_of(s, x->shape[d]);
    for (int d = 0; d < rank; d++) {
        const Expr *extent = size_of(s, shape[d]);
        axis[d] = axis_var(s->cx, (char[]){ axis_letter(rank, d), '\0' }, extent);
        spec.axis[d] = (Axis){ axis[d], AXIS_DATA, extent };
        is_empty |= shape[d] == 0;
    }
    /* a tensor without elements is not read, so any index is valid */
    for (int d = 0; d < x->rank && is_empty; d++) index[d] = expr_index(s->cx, 0);
    for (DimensionRun r = { 0, 0, 0, 0 }; !is_empty && (r.x_to < x->rank || r.y_to < rank);) {
        Digits g;
        r = next_run(from, x->rank, shape, rank, r);
        if (s->count && find_digits(from, shape, r, &g)) move_digits(s, &g, from, shape, axis, r, index);
        else split_flat_index(s, from, r.x_from, r.x_to, flat_index(s, shape, axis, r.y_from, r.y_to), index);
    }
    for (int d = 0; d < x->rank && s->count; d++) index[d] = clamped_if_unproven(s->cx, index[d], x->shape[d], &spec);
    spec.value[0] = tensor_read(s->cx, x, index, x->rank);
    Node *made = compute_new(s->cx, &spec);
    return made ? made->out[0] : NULL;
}

/* Returns the number of elements, with primes for symbolic sizes, or -1 if it is refused. */
static int64_t elems_of(Ctx *cx, const Node *n, ShapeProduct *s)
{
    const Tensor *x = n->in[0];
    int64_t elems = 1;
    for (int d = 0; d < x->rank; d++) elems = times(s, elems, number_of(s, x->shape[d]));
    if (!s->too_large) return elems;
    op_unsupported(cx, n, "the input is %s; use at most 2^31-1 elements", tensor_shape_text(cx, x));
    return -1;
}

static int view_of(Ctx *cx, const Node *n, ShapeProduct *s, const int64_t *shape, int rank, Tensor **out)
{
    if (rank > MAX_RANK) {
        op_unsupported(cx, n, "the shape has %d dimensions; use at most %d", rank, MAX_RANK);
        return 0;
    }
    out[0] = view(n, s, shape, rank);
    return out[0] ? 1 : 0;
}

/* Reshapes to the shape of the tensor `like`; -1 is the remaining size. */
static int reshape_like(Ctx *cx, const Node *n, const Tensor *like, Tensor **out)
{
    const Tensor *x = n->in[0];
    int64_t numbers[MAX_RANK], shape[MAX_RANK], known = 1;
    int rest = -1;
    for (int d = 0; d < like->rank; d++) numbers[d] = tensor_dim(like, d) > 0 ? tensor_dim(like, d) : 1;
    ShapeProduct s = sizes_of(cx, x, numbers, like->rank);
    const int64_t elems = elems_of(cx, n, &s);
    if (elems < 0) return 0;
    for (int d = 0; d < like->rank; d++) {
        if (expr_is_int(like->shape[d], -1)) rest = d, shape[d] = 1;
        else known = times(&s, known, shape[d] = number_of(&s, like->shape[d]));
    }
    if (rest >= 0 && known > 0) shape[rest] = elems / known;
    if (!s.too_large && (rest < 0 ? known == elems : known > 0 && elems % known == 0))
        return view_of(cx, n, &s, shape, like->rank, out);
    op_refuse(cx, n, "the input %s cannot have the shape %s; use a shape with as many elements as the input",
              tensor_shape_text(cx, x),
              tensor_shape_text(cx, like));
    return 0;
}

static int reshape(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Attr *a = node_attr(n, "shape"), *like = node_attr(n, "like");
    if (like) return reshape_like(cx, n, like->tensor, out);
    int rank = a ? a->count : 0, rest = -1;
    bool fits = rank <= MAX_RANK, is_empty = false;
    ShapeProduct s = sizes_of(cx, x, fits && a ? a->ints : NULL, fits ? rank : 0);
    int64_t shape[MAX_RANK], known = 1, elems = elems_of(cx, n, &s);
    if (elems < 0) return 0;
    for (int d = 0; d < rank && fits; d++) {
        shape[d] = a->ints[d] == 0 && d < x->rank ? number_of(&s, x->shape[d]) : a->ints[d];
        is_empty |= shape[d] == 0;
        if (shape[d] == 0 && elems == 0) continue;
        fits = shape[d] > 0 ? elems == 0 || known <= elems / shape[d] : shape[d] == -1 && rest < 0;
        if (shape[d] > 0) known *= shape[d];
        else rest = d;
    }
    if (fits && rest >= 0) shape[rest] = elems / known;
    if (fits && elems % known == 0 && (rest >= 0 || is_empty || known == elems))
        return view_of(cx, n, &s, shape, rank, out);
    op_refuse(cx, n, "the input %s cannot have the shape %s; use a shape with as many elements as the input",
              tensor_shape_text(cx, x),
              a ? ints_text(cx, a->ints, a->count) : "[]");
    return 0;
}

static int flatten(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    ShapeProduct s = sizes_of(cx, x, NULL, 0);
    int64_t axis = node_int(n, "axis", 1), shape[2] = { 1, 1 };
    if (axis < 0) axis += x->rank;
    if (elems_of(cx, n, &s) < 0) return 0;
    if (axis < 0 || axis > x->rank) {
        op_refuse(cx, n, "axis %lld is out of range for %d dimensions; use %d to %d",
                  (long long)node_int(n, "axis", 1), x->rank, -x->rank, x->rank);
        return 0;
    }
    for (int d = 0; d < x->rank; d++) shape[d >= axis] *= number_of(&s, x->shape[d]);
    return view_of(cx, n, &s, shape, 2, out);
}

static int squeeze(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Attr *a = node_attr(n, "axes");
    ShapeProduct s = sizes_of(cx, x, NULL, 0);
    bool chosen[MAX_RANK];
    int64_t shape[MAX_RANK];
    int rank = 0;
    if (elems_of(cx, n, &s) < 0 || !op_axes(cx, n, "axes", x->rank, chosen)) return 0;
    for (int d = 0; d < x->rank; d++) {
        if (chosen[d] && tensor_dim(x, d) == 1) continue;
        if (chosen[d] && a && a->count) {
            op_refuse(cx, n, "axis %d of the input %s is not 1; use an axis of size 1", d,
                      tensor_shape_text(cx, x));
            return 0;
        }
        shape[rank++] = number_of(&s, x->shape[d]);
    }
    return view_of(cx, n, &s, shape, rank, out);
}

static int unsqueeze(Ctx *cx, const Node *n, Tensor **out)
{
    const Tensor *x = n->in[0];
    const Attr *a = node_attr(n, "axes");
    ShapeProduct s = sizes_of(cx, x, NULL, 0);
    bool chosen[MAX_RANK] = { false };
    int64_t shape[MAX_RANK];
    int rank = x->rank + (a ? a->count : 0);
    if (elems_of(cx, n, &s) < 0) return 0;
    if (rank > MAX_RANK) return view_of(cx, n, &s, shape, rank, out);
    if (a && a->count && !op_axes(cx, n, "axes", rank, chosen)) return 0;
    for (int d = 0, from = 0; d < rank; d++) shape[d] = chosen[d] ? 1 : number_of(&s, x->shape[from++]);
    return view_of(cx, n, &s, shape, rank, out);
}

static const AttrRow reshape_attrs[] = {
    { "shape", ATTR_INTS, "the shape; -1: the remaining size, 0: as in the input", NULL },
    { "like", ATTR_TENSOR, "a tensor of this shape, instead of the attribute; its values are not read", NULL },
    { 0 }
};
static const AttrRow flatten_attrs[] = { { "axis", ATTR_INT, "the first axis of the second dimension", "1" }, { 0 } };
static const AttrRow squeeze_attrs[] = {
    { "axes", ATTR_INTS, "dimensions of 1 to drop; none: all of them", NULL },
    { 0 }
};
static const AttrRow unsqueeze_attrs[] = {
    { "axes", ATTR_INTS, "the new dimensions of 1, counted in the result", NULL },
    { 0 }
};

static const OpCase reshape_cases[] = {
    { "shape=6", "f32[2][3]", "f32[6]", NULL },
    { "shape=3,2", "f32[2][3]", "f32[3][2]", NULL },
    { "shape=0,-1", "f32[2][3][4]", "f32[2][12]", NULL },
    { "shape=4,3,1,5", "f32[2][6][5]", "f32[4][3][1][5]", NULL },
    { "shape=1,2,1,3,1", "f32[2][3]", "f32[1][2][1][3][1]", NULL },
    { "shape=", "f32[1][1]", "f32", NULL },
    { "shape=1,1", "f32", "f32[1][1]", NULL },
    { "shape=4,2", "f32[2][3]", NULL, "[2][3] cannot have the shape 4,2" },
    { "shape=-1,-1", "f32[2][3]", NULL, "cannot have" },
    { "shape=-2,3", "f32[2][3]", NULL, "cannot have" },
    { 0 }
};
static const OpCase flatten_cases[] = {
    { "", "f32[2][3][4]", "f32[2][12]", NULL },
    { "axis=0", "f32[2][3]", "f32[1][6]", NULL },
    { "axis=3", "f32[2][3][4]", "f32[24][1]", NULL },
    { "axis=4", "f32[2][3][4]", NULL, "axis 4 is out of range" },
    { 0 }
};
static const OpCase squeeze_cases[] = {
    { "", "f32[1][3][1]", "f32[3]", NULL },
    { "axes=-1", "f32[1][3][1]", "f32[1][3]", NULL },
    { "axes=1", "f32[1][3][1]", NULL, "axis 1 of the input [1][3][1] is not 1" },
    { 0 }
};
static const OpCase unsqueeze_cases[] = {
    { "axes=0,2", "f32[3][4]", "f32[1][3][1][4]", NULL },
    { "axes=-1", "f32[3]", "f32[3][1]", NULL },
    { "axes=5", "f32[3]", NULL, "axis 5 is out of range" },
    { 0 }
};

#define VIEW(fn, text) \
    { .name = #fn, .summary = text, .level = 3, .least_inputs = 1, .most_inputs = 1, .inputs = "x", \
      .attr = fn##_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_INJECTIVE, .layout.is_view = true, \
      .quantization.moves_elements = true, .cases = fn##_cases }

const Op ops_shape[] = {
    VIEW(reshape,   "the same elements in the same order under another shape"),
    VIEW(flatten,   "two dimensions: the product before the axis and the product from it"),
    VIEW(squeeze,   "drops dimensions of 1"),
    VIEW(unsqueeze, "inserts dimensions of 1"),
    { 0 }
};
