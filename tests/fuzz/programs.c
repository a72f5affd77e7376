/* SPDX-License-Identifier: MIT */
/* The growth of a program: each stage reads the latest tensor (so steps can compute it at a consumer), and other
 * tensors of the required shape, which exist or become inputs. A stage has one of the shapes in `makers`. Sizes are
 * mostly constants, else symbols with a value for the run; extents are small, with primes among them, and sometimes
 * 1. */
#include "programs.h"

#include "ir/text/formula.h"
#include "ir/nest/recurrence.h"
#include "support/names.h"
#include "support/text.h"

#include <string.h>

/* ---- Chance ---------------------------------------------------------------------------------------------------- */

/* Steele, Lea, Flood: splitmix64. */
uint64_t random_bits(Random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

Random random_new(uint64_t seed)
{
    Random r = { seed * 0x2545f4914f6cdd1du + 1 };
    random_bits(&r);
    return r;
}

int random_below(Random *r, int n) { return (int)(random_bits(r) % (uint64_t)n); }
bool random_chance(Random *r, int percent) { return random_below(r, 100) < percent; }

/* ---- Growing --------------------------------------------------------------------------------------------------- */

typedef struct Grower { Ctx *cx; Random *r; Program *p; int stages, inputs, most; bool has_kernels, has_inout; } Grower;

static int within(const Grower *g, int size) { return g->most && size > g->most ? g->most : size; }

static const Expr *some_size(Grower *g)
{
    static const int fixed[] = { 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12 };
    static const int long_ones[] = { 1, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 20, 24, 33 };
    const int *sizes = g->has_kernels ? long_ones : fixed;
    Program *p = g->p;
    if (!random_chance(g->r, 18))
        return expr_index(g->cx, within(g, sizes[random_below(g->r, (int)(sizeof fixed / sizeof *fixed))]));
    if (p->size_count && (p->size_count == MAX_SIZES || random_chance(g->r, 60)))
        return p->size[random_below(g->r, p->size_count)];
    int i = p->size_count++;
    p->size[i] = expr_new_var(g->cx, name_format(g->cx, "n%d", i), VAR_SIZE, I32, random_chance(g->r, 30) ? 0 : 1, 16);
    p->size_value[i] = within(g, 1 + random_below(g->r, 11));
    return p->size[i];
}

static const Expr *small_size(Grower *g)
{
    return expr_index(g->cx, within(g, 1 + random_below(g->r, g->has_kernels ? 9 : 5)));
}

static Tensor *keep(Grower *g, Tensor *t)
{
    if (t && g->p->tensor_count < MAX_TENSORS) g->p->tensor[g->p->tensor_count++] = t;
    return t;
}

static Tensor *new_input(Grower *g, DType type, int rank, const Expr *const *shape)
{
    return keep(g, tensor_new(g->cx, name_format(g->cx, "x%d", g->inputs++), type, rank, shape));
}

static bool same_shape(const Tensor *t, DType type, int rank, const Expr *const *shape)
{
    bool same = t->type == type && t->rank == rank;
    for (int d = 0; same && d < rank; d++) same = t->shape[d] == shape[d];
    return same;
}

/* A tensor of that type and shape: one that there is, or a new input. */
static Tensor *operand(Grower *g, DType type, int rank, const Expr *const *shape)
{
    int start = random_below(g->r, g->p->tensor_count + 1);
    for (int i = 0; i < g->p->tensor_count && random_chance(g->r, 85); i++) {
        Tensor *t = g->p->tensor[(start + i) % g->p->tensor_count];
        if (same_shape(t, type, rank, shape)) return t;
    }
    return new_input(g, type, rank, shape);
}

static Tensor *finish(Grower *g, StageSpec *spec)
{
    spec->name = name_format(g->cx, "s%d", g->stages++);
    Node *n = compute_new(g->cx, spec);
    for (int i = 1; n && i < n->out_count; i++) keep(g, n->out[i]);
    return n ? keep(g, n->out[0]) : NULL;
}

static const Expr *add_axis(Grower *g, StageSpec *spec, AxisKind kind, const Expr *extent)
{
    static const char *const data_names[] = { "a", "b", "c", "d", "e", "f" }, *const reduce_names[] = {
        "i", "j", "k", "l", "m"
    };
    int same = 0;
    for (int a = 0; a < spec->axis_count; a++) same += (spec->axis[a].kind == AXIS_REDUCE) == (kind == AXIS_REDUCE);
    const Expr *v = axis_var(g->cx, kind == AXIS_REDUCE ? reduce_names[same] : data_names[same], extent);
    spec->axis[spec->axis_count++] = (Axis){ v, kind, extent };
    return v;
}

/* ---- Values ---------------------------------------------------------------------------------------------------- */

static const Expr *mix(Grower *g, const Expr *a, const Expr *b)
{
    static const ExprKind kinds[] = { EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_MIN, EXPR_MAX, EXPR_ADD };
    return expr_binary(g->cx, kinds[random_below(g->r, 6)], a, b);
}

static const Expr *as_fixed_point(Grower *g, const Expr *e)
{
    Ctx *cx = g->cx;
    const Expr *x = expr_cast(cx, I32, e), *shift = expr_int(cx, I32, 1 + random_below(g->r, 6));
    switch (random_below(g->r, 4)) {
    case 0:  x = expr_binary(cx, EXPR_MULHIGH, x, expr_int(cx, I32, 1518500250)); break;
    case 1:  x = expr_binary(cx, EXPR_ROUNDSHIFT, x, shift); break;
    case 2:  x = expr_binary(cx, EXPR_SHR, x, shift); break;
    default: x = expr_binary(cx, EXPR_BITAND, x, expr_int(cx, I32, 0x5b)); break;
    }
    return expr_cast(cx, e->type, x);
}

static const Expr *in_words(Grower *g, const Expr *e)
{
    Ctx *cx = g->cx;
    const Expr *x = expr_mul(cx, expr_cast(cx, I64, e), expr_int(cx, I64, 1 + random_below(g->r, 1 << 20)));
    x = expr_binary(cx, EXPR_SHR, x, expr_int(cx, I64, random_below(g->r, 24)));
    return expr_cast(cx, e->type, x);
}

static const Expr *in_floats(Grower *g, const Expr *e)
{
    const Expr *x = expr_mul(g->cx, expr_cast(g->cx, F32, e), expr_real(g->cx, F32, 0.75));
    return expr_cast(g->cx, e->type, expr_unary(g->cx, EXPR_NEARBYINT, x));
}

/* Comparisons of every kind, and all connectives. */
static const Expr *chosen(Grower *g, const Expr *e)
{
    Ctx *cx = g->cx;
    const Expr *two = expr_int(cx, e->type, 2), *cond = expr_binary(cx, EXPR_LE, e, two);
    const Expr *is_odd = expr_binary(cx, EXPR_NE, e, expr_int(cx, e->type, random_below(g->r, 5)));
    cond = random_chance(g->r, 50) ? expr_and(cx, cond, is_odd)
                                   : expr_binary(cx, EXPR_OR, cond, expr_unary(cx, EXPR_NOT, is_odd));
    return expr_select(cx, cond, expr_add(cx, e, two), e);
}

static const Expr *dress_for_kernels(Grower *g, const Expr *e)
{
    Ctx *cx = g->cx;
    const Expr *one = expr_int(cx, e->type, 1);
    if (random_chance(g->r, 25)) return chosen(g, e);
    if (dtype_is_float(e->type))
        return random_chance(g->r, 50) ? expr_unary(cx, EXPR_NEARBYINT, e)
                                       : expr_binary(cx, EXPR_DIV, e, expr_add(cx, expr_unary(cx, EXPR_ABS, e), one));
    switch (random_below(g->r, 3)) {
    case 0:  return as_fixed_point(g, e);
    case 1:  return in_words(g, e);
    default: return in_floats(g, e);
    }
}

static const Expr *dress(Grower *g, const Expr *e)
{
    Ctx *cx = g->cx;
    if (g->has_kernels && random_chance(g->r, 60)) return dress_for_kernels(g, e);
    switch (random_below(g->r, 8)) {
    case 0: return expr_binary(cx, EXPR_MAX, e, expr_int(cx, e->type, 0));
    case 1: return expr_unary(cx, EXPR_NEG, e);
    case 2: return expr_add(cx, e, expr_int(cx, e->type, 3));
    case 3:
        return expr_select(cx, expr_binary(cx, EXPR_LT, e, expr_int(cx, e->type, 2)),
                           expr_mul(cx, e, expr_int(cx, e->type, 2)), e);
    case 4: return expr_unary(cx, EXPR_ABS, e);
    default: return e;
    }
}

static Reducer some_reducer(Grower *g)
{
    static const Reducer kinds[] = { REDUCE_SUM, REDUCE_SUM, REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD };
    return kinds[random_below(g->r, 6)];
}

static const Expr *read_padded(Grower *g, const Tensor *t, const Expr *const *index, const Expr *outside)
{
    Ctx *cx = g->cx;
    const Expr *inside = NULL, *zero = expr_index(cx, 0);
    for (int d = 0; d < t->rank; d++) {
        if (expr_as_var(index[d])) continue;
        const Expr *ok = expr_and(cx, expr_binary(cx, EXPR_LE, zero, index[d]),
                                  expr_binary(cx, EXPR_LT, index[d], t->shape[d]));
        inside = inside ? expr_and(cx, inside, ok) : ok;
    }
    const Expr *e = tensor_read(cx, t, index, t->rank);
    return inside ? expr_select(cx, inside, e, outside) : e;
}

/* ---- Shapes of stages: each reads `main` and gives a stage, or NULL where it does not fit ---------------------- */

static Tensor *make_elementwise(Grower *g, Tensor *main)
{
    StageSpec spec = { .out_count = 1 };
    const Expr *at[MAX_RANK];
    for (int d = 0; d < main->rank; d++) at[d] = add_axis(g, &spec, AXIS_DATA, main->shape[d]);
    const Expr *v = tensor_read(g->cx, main, at, main->rank);
    if (random_chance(g->r, 60)) {
        Tensor *other = operand(g, main->type, main->rank, main->shape);
        v = mix(g, v, tensor_read(g->cx, other, at, other->rank));
    }
    spec.value[0] = dress(g, v);
    return finish(g, &spec);
}

/* A row of the last dimension, or a column of single elements, spread over the whole. */
static Tensor *make_broadcast(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    StageSpec spec = { .out_count = 1 };
    const Expr *at[MAX_RANK], *small_shape[MAX_RANK], *small_at[MAX_RANK];
    for (int d = 0; d < main->rank; d++) {
        bool spread = random_chance(g->r, 50);
        at[d] = add_axis(g, &spec, AXIS_DATA, main->shape[d]);
        small_shape[d] = spread ? expr_index(g->cx, 1) : main->shape[d];
        small_at[d] = spread ? expr_index(g->cx, 0) : at[d];
    }
    Tensor *small = operand(g, main->type, main->rank, small_shape);
    spec.value[0] = mix(g, tensor_read(g->cx, main, at, main->rank), tensor_read(g->cx, small, small_at, main->rank));
    return finish(g, &spec);
}

static Tensor *make_transpose(Grower *g, Tensor *main)
{
    if (main->rank < 2) return NULL;
    StageSpec spec = { .out_count = 1 };
    const Expr *at[MAX_RANK];
    for (int d = 0; d < main->rank; d++)
        at[(d + 1) % main->rank] = add_axis(g, &spec, AXIS_DATA, main->shape[(d + 1) % main->rank]);
    spec.value[0] = dress(g, tensor_read(g->cx, main, at, main->rank));
    return finish(g, &spec);
}

/* The bound of a reduction: the index of the axis, or a number that data give for it. */
static const Expr *reduced_to(Grower *g, const Axis *axis)
{
    if (random_chance(g->r, 50)) return axis->var;
    return expr_cast(g->cx, I32, tensor_read(g->cx, operand(g, U8, 1, &axis->extent), &axis->var, 1));
}

static Tensor *make_reduction(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    StageSpec spec = { .out_count = 1, .reducer = some_reducer(g) };
    const Expr *at[MAX_RANK];
    bool reduce[MAX_RANK];
    int first = random_below(g->r, main->rank);
    for (int d = 0; d < main->rank; d++) reduce[d] = d == first || random_chance(g->r, 30);
    for (int d = 0; d < main->rank; d++)
        if (!reduce[d]) at[d] = add_axis(g, &spec, AXIS_DATA, main->shape[d]);
    for (int d = 0; d < main->rank; d++)
        if (reduce[d]) at[d] = add_axis(g, &spec, AXIS_REDUCE, main->shape[d]);
    if (random_chance(g->r, 30)) spec.out_count += 1 + random_below(g->r, 2);
    const bool is_triangle = spec.axis[0].kind == AXIS_DATA && random_chance(g->r, 25);
    const Axis *last = &spec.axis[spec.axis_count - 1];
    for (int i = 0; i < spec.out_count; i++) {
        spec.value[i] = dress(g, tensor_read(g->cx, main, at, main->rank));
        const ExprKind below = random_chance(g->r, 50) ? EXPR_LT : EXPR_LE;
        const Expr *counts = is_triangle ? expr_binary(g->cx, below, last->var, reduced_to(g, &spec.axis[0])) : NULL;
        const Expr *neutral = reducer_identity(g->cx, spec.reducer, spec.value[i]->type, i);
        if (is_triangle) spec.value[i] = expr_select(g->cx, counts, spec.value[i], neutral);
    }
    return finish(g, &spec);
}

/* A reducer that the formula declares: R is an element of the last tensor. All laws hold for integers that wrap. */
static Tensor *make_combined(Grower *g, Tensor *main)
{
    static const struct { int values; const char *reduction, *rest; } rows[] = {
        { 2, "f(i)", "R, R * R where f(p, q; r, t) = p * r, q * r + t from 1, 0 associative" },
        { 2, "f(i)", "R, R + R where f(p, q; r, t) = p * r - q * t, p * t + q * r from 1, 0 associative commutative" },
        { 2, "f(i; 0, 1)", "R, i where f(p, q; r, t) = select(p <= r, r, p), select(p <= r, t, q) associative" },
        { 3, "f(i)", "R, i, R where f(p, q, s; r, t, u) = max(p, r), q + t, s + u + (p - r) from 0, 0, 0" },
        { 1, "f(i)", "R where f(p; r) = p + r from 0 associative commutative" },
        { 1, "f(i; 1)", "R where f(p; r) = p * 2 - r" },
    };
    static const char *const data[] = { "a", "b", "c" };
    if (main->rank == 0 || main->rank > 3) return NULL;
    const int row = random_below(g->r, 6);
    Ctx *cx = g->cx;
    Text t = text_new(cx), index = text_new(cx);
    for (int d = 0; d < main->rank; d++) text_printf(&index, d ? ", %s" : "%s", d + 1 < main->rank ? data[d] : "i");
    const char *base = name_format(cx, "s%d", g->stages++);
    for (int i = 0; i < rows[row].values; i++) text_printf(&t, i ? ", %s_%d" : "%s", base, i);
    for (int d = 0; d + 1 < main->rank; d++) text_printf(&t, d ? ", %s" : "[%s", data[d]);
    text_printf(&t, "%s = %s ", main->rank > 1 ? "]" : "", rows[row].reduction);
    for (const char *s = rows[row].rest; *s; s++)
        if (*s == 'R') text_printf(&t, "main[%s]", text_string(&index));
        else text_char(&t, *s);
    Tensor *made = formula(cx, text_string(&t), (const Bind[]){ BIND_T("main", main), { NULL, NULL, NULL } });
    for (int i = 1; made && i < rows[row].values; i++) keep(g, made->producer->out[i]);
    return keep(g, made);
}

/* The tensor that an update changes: a new input; in a program with an in-out tensor, mostly that one, or one that
 * stages may have read before. */
static Tensor *updated(Grower *g, const Tensor *main, const Expr *const *shape)
{
    Program *p = g->p;
    if (!g->has_inout) return new_input(g, main->type, main->rank, shape);
    if (p->after && same_shape(p->after, main->type, main->rank, shape) && random_chance(g->r, 70)) return p->after;
    Tensor *y = operand(g, main->type, main->rank, shape);
    if (!p->before && !y->producer && y != main) p->before = y;
    return y;
}

/* An update of elements that data choose, of elements at a distance, or of several elements in one place. */
static Tensor *make_update(Grower *g, Tensor *main)
{
    static const char *const rows[] = {
        "update y[i32(q[i])] += main[i]", "update y[i32(q[i]), j] max= main[i, j]", "update y[i / 2] *= main[i]",
        "update y[i + 1, j] = main[i, j]", "update y[i + k] += sum(k<3) main[i]", "update y[i] = main[i]",
        "update y[i, i32(q[i])] min= min(j) main[i, j]", "update y[i32(q[i]), i32(q[j])] += main[i, j]",
    };
    static const int ranks[] = { 1, 2, 1, 2, 1, 1, 2, 2 };
    const int row = random_below(g->r, 8);
    const Expr *shape[MAX_RANK] = { NULL };
    if (main->rank != ranks[row] || main->type == BOOL) return NULL;
    for (int d = 0; d < main->rank; d++)
        shape[d] = strstr(rows[row], d ? ", j] =" : "y[i,") || strstr(rows[row], d ? ", j] max" : "y[i] ")
                   ? main->shape[d] : expr_index(g->cx, 1 + random_below(g->r, 9));
    if (main->rank == 2 && strstr(rows[row], "q[j]") && main->shape[0] != main->shape[1]) return NULL;
    Tensor *y = updated(g, main, shape), *q = operand(g, U8, 1, main->shape);
    Tensor *made = formula(g->cx, rows[row], (const Bind[]){ BIND_T("main", main), BIND_T("y", y), BIND_T("q", q),
                                                            { NULL, NULL, NULL } });
    if (made) made->name = made->producer->name = made->producer->stage->name = name_format(g->cx, "s%d", g->stages++);
    if (made && g->has_inout && (y == g->p->before || y == g->p->after)) g->p->after = made;
    return keep(g, made);
}

static Tensor *make_argmax(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    StageSpec spec = { .out_count = 2, .reducer = random_chance(g->r, 50) ? REDUCE_ARGMAX : REDUCE_ARGMIN };
    const Expr *at[MAX_RANK];
    for (int d = 0; d < main->rank; d++)
        at[d] = add_axis(g, &spec, d + 1 < main->rank ? AXIS_DATA : AXIS_REDUCE, main->shape[d]);
    spec.value[0] = at[main->rank - 1];
    spec.value[1] = tensor_read(g->cx, main, at, main->rank);
    return finish(g, &spec);
}

/* y[a] = x[a] + x[a+1] (- x[a+2]), in one dimension; where it is too short or symbolic, padded. */
static Tensor *make_stencil(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    int along = random_below(g->r, main->rank), width = 2 + random_below(g->r, 2);
    int64_t dim = tensor_dim(main, along);
    bool padded = dim < width || random_chance(g->r, 50);
    StageSpec spec = { .out_count = 1 };
    const Expr *at[MAX_RANK];
    for (int d = 0; d < main->rank; d++) {
        const Expr *extent = d == along && !padded ? expr_index(g->cx, dim - width + 1) : main->shape[d];
        at[d] = add_axis(g, &spec, AXIS_DATA, extent);
    }
    const Expr *base = at[along], *sum = NULL;
    for (int i = 0; i < width; i++) {
        at[along] = expr_add(g->cx, base, expr_index(g->cx, padded ? i - 1 : i));
        if (padded && i == 1) at[along] = base;
        const Expr *e = padded ? read_padded(g, main, at, expr_int(g->cx, main->type, i))
                               : tensor_read(g->cx, main, at, main->rank);
        sum = sum ? mix(g, sum, e) : e;
    }
    spec.value[0] = sum;
    return finish(g, &spec);
}

/* Returns the begin of a window along dimension d: a, a*step, or a*p/q, which does not rise in every iteration. */
static const Expr *window_begin(Grower *g, StageSpec *spec, Tensor *main, int d, int width)
{
    Ctx *cx = g->cx;
    const int64_t last = tensor_dim(main, d) - width;
    if (width == 1) return add_axis(g, spec, AXIS_DATA, main->shape[d]);
    if (random_chance(g->r, 20)) {
        const int q = 2 + random_below(g->r, 3), p = 1 + random_below(g->r, 3);
        const Expr *a = add_axis(g, spec, AXIS_DATA, expr_index(cx, last * q / p + 1));
        return expr_binary(cx, EXPR_FLOORDIV, expr_mul(cx, a, expr_index(cx, p)), expr_index(cx, q));
    }
    const int step = 1 + random_below(g->r, 3);
    const Expr *a = add_axis(g, spec, AXIS_DATA, expr_index(cx, last / step + 1));
    return step == 1 ? a : expr_mul(cx, a, expr_index(cx, step));
}

/* A pool: y[a] = reducer(i < width) x[begin(a) + i] in one or two dimensions, some of them from the end backwards. */
static Tensor *make_window(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    StageSpec spec = { .out_count = 1, .reducer = some_reducer(g) };
    const Expr *at[MAX_RANK];
    int width[MAX_RANK];
    for (int d = 0; d < main->rank; d++) {
        int64_t dim = tensor_dim(main, d);
        width[d] = dim > 1 && random_chance(g->r, 60) ? 1 + random_below(g->r, dim < 4 ? (int)dim : 4) : 1;
        at[d] = window_begin(g, &spec, main, d, width[d]);
    }
    for (int d = 0; d < main->rank; d++) {
        if (width[d] == 1) continue;
        at[d] = expr_add(g->cx, at[d], add_axis(g, &spec, AXIS_REDUCE, expr_index(g->cx, width[d])));
        if (random_chance(g->r, 25)) at[d] = expr_sub(g->cx, expr_index(g->cx, tensor_dim(main, d) - 1), at[d]);
    }
    if (spec.axis_count == main->rank) return NULL;
    spec.value[0] = tensor_read(g->cx, main, at, main->rank);
    return finish(g, &spec);
}

static DType accumulator(DType t) { return t == I8 || t == U8 || t == I16 ? I32 : t; }

/* y[.., j] = sum(k) x[.., k] * w[k, j] */
static Tensor *make_matmul(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    StageSpec spec = { .out_count = 1, .reducer = REDUCE_SUM };
    DType wide = accumulator(main->type);
    const Expr *at[MAX_RANK], *columns = some_size(g);
    for (int d = 0; d + 1 < main->rank; d++) at[d] = add_axis(g, &spec, AXIS_DATA, main->shape[d]);
    const Expr *j = add_axis(g, &spec, AXIS_DATA, columns), *depth = main->shape[main->rank - 1];
    const Expr *k = at[main->rank - 1] = add_axis(g, &spec, AXIS_REDUCE, depth);
    Tensor *w = operand(g, main->type, 2, (const Expr *[]){ depth, columns });
    const Expr *x = expr_cast(g->cx, wide, tensor_read(g->cx, main, at, main->rank));
    const Expr *v = expr_cast(g->cx, wide, tensor_read(g->cx, w, (const Expr *[]){ k, j }, 2));
    spec.value[0] = expr_mul(g->cx, x, v);
    return finish(g, &spec);
}

/* y[h,w,o] = sum(i,j,c) x[h*s+i-p, w+j-p, c] * k[i,j,c,o] */
static Tensor *make_conv(Grower *g, Tensor *main)
{
    if (main->rank != 3) return NULL;
    Ctx *cx = g->cx;
    StageSpec spec = { .out_count = 1, .reducer = REDUCE_SUM };
    DType wide = accumulator(main->type);
    int kernel = 1 + random_below(g->r, 3), step = 1 + random_below(g->r, 2), pad = 0;
    const Expr *at[3], *features = small_size(g), *size = expr_index(cx, kernel);
    for (int d = 0; d < 2; d++) {
        int64_t dim = tensor_dim(main, d);
        if (dim < kernel || random_chance(g->r, 40)) pad = 1;
    }
    for (int d = 0; d < 2; d++) {
        int64_t dim = tensor_dim(main, d);
        const Expr *extent = pad && dim < 0 ? main->shape[d] : expr_index(cx, (dim + 2 * pad - kernel) / step + 1);
        if (extent->kind == EXPR_INT && extent->integer < 1) return NULL;
        at[d] = add_axis(g, &spec, AXIS_DATA, extent);
        if (step > 1) at[d] = expr_mul(cx, at[d], expr_index(cx, step));
    }
    const Expr *o = add_axis(g, &spec, AXIS_DATA, features), *window[4];
    for (int d = 0; d < 2; d++) {
        window[d] = add_axis(g, &spec, AXIS_REDUCE, size);
        at[d] = expr_add(cx, at[d], window[d]);
        if (pad) at[d] = expr_sub(cx, at[d], expr_index(cx, pad));
    }
    window[2] = at[2] = add_axis(g, &spec, AXIS_REDUCE, main->shape[2]);
    window[3] = o;
    Tensor *k = operand(g, main->type, 4, (const Expr *[]){ size, size, main->shape[2], features });
    const Expr *x = pad ? read_padded(g, main, at, expr_int(cx, main->type, 0)) : tensor_read(cx, main, at, 3);
    spec.value[0] = expr_mul(cx, expr_cast(cx, wide, x), expr_cast(cx, wide, tensor_read(cx, k, window, 4)));
    return finish(g, &spec);
}

/* Reversed and shifted reads: indices with negative coefficients and division. */
static Tensor *make_gather(Grower *g, Tensor *main)
{
    if (main->rank == 0 || tensor_dim(main, 0) < 2) return NULL;
    Ctx *cx = g->cx;
    StageSpec spec = { .out_count = 1 };
    const Expr *at[MAX_RANK];
    int64_t dim = tensor_dim(main, 0);
    bool repeat = random_chance(g->r, 50);
    for (int d = 0; d < main->rank; d++)
        at[d] = add_axis(g, &spec, AXIS_DATA, d == 0 && repeat ? expr_index(cx, 2 * dim) : main->shape[d]);
    at[0] = repeat ? expr_binary(cx, EXPR_FLOORDIV, at[0], expr_index(cx, 2))
                   : expr_sub(cx, expr_index(cx, dim - 1), at[0]);
    spec.value[0] = dress(g, tensor_read(cx, main, at, main->rank));
    return finish(g, &spec);
}

/* y[a] depends on all earlier elements, as in the solution of a triangular system. */
static Tensor *make_solve(Grower *g, Tensor *main)
{
    static const char *const rows[] = {
        "s[a ordered] = sum(k<a; main[a]) w[a, k] * s[k]", "s[a ordered] = max(k<a; main[a]) s[k] - w[k, a]",
        "s[a ordered] = sum(k<a; main[a]) -(w[a, k] * s[a - 1 - k])",
    };
    Tensor *promised = tensor_new(g->cx, name_format(g->cx, "s%d", g->stages), main->type, 1, main->shape);
    Tensor *w = operand(g, main->type, 2, (const Expr *[]){ main->shape[0], main->shape[0] });
    Tensor *made = formula(g->cx, rows[random_below(g->r, 3)],
                           (const Bind[]){ BIND_T("main", main), BIND_T("w", w), BIND_T("s", promised),
                                           { NULL, NULL, NULL } });
    if (!made) return NULL;
    made->name = made->producer->name = made->producer->stage->name = name_format(g->cx, "s%d", g->stages++);
    keep(g, made);
    g->p->tensor[g->p->tensor_count - 1] = promise_keep(g->cx, promised, made);
    return promised;
}

/* y[a] = y[a-1] (+) x[a], along the first dimension, which becomes ordered. */
static Tensor *make_scan(Grower *g, Tensor *main)
{
    if (main->rank == 0) return NULL;
    if (main->rank == 1 && main->type != BOOL && !dtype_is_float(main->type) && random_chance(g->r, 60))
        return make_solve(g, main);
    StageSpec spec = { .out_count = 1 };
    const Expr *at[MAX_RANK];
    Tensor *promised = tensor_new(g->cx, name_format(g->cx, "s%d", g->stages), main->type, main->rank, main->shape);
    for (int d = 0; d < main->rank; d++) at[d] = add_axis(g, &spec, d ? AXIS_DATA : AXIS_ORDERED, main->shape[d]);
    const Expr *v = tensor_read(g->cx, main, at, main->rank);
    at[0] = expr_sub(g->cx, at[0], expr_index(g->cx, 1));
    spec.value[0] = mix(g, read_padded(g, promised, at, expr_int(g->cx, main->type, 1)), v);
    Tensor *made = finish(g, &spec);
    if (made) g->p->tensor[g->p->tensor_count - 1] = promise_keep(g->cx, promised, made);
    return made ? promised : NULL;
}

typedef Tensor *Maker(Grower *g, Tensor *main);
static Maker *const producers[] = {
    make_elementwise, make_elementwise, make_broadcast, make_transpose, make_reduction, make_argmax, make_stencil,
    make_stencil, make_window, make_matmul, make_matmul, make_conv, make_conv, make_gather, make_scan, make_combined,
    make_update,
};
enum { MAKER_COUNT = sizeof producers / sizeof producers[0] };

/* Keeps the work of a run small. */
static bool is_too_large(Grower *g, const Tensor *t)
{
    int64_t elems = 1;
    for (int d = 0; d < t->rank; d++) elems *= t->shape[d]->kind == EXPR_INT ? t->shape[d]->integer : 12;
    (void)g;
    return elems > 1500;
}

static bool gives(const Program *p, const Tensor *t)
{
    for (int i = 0; i < p->output_count; i++)
        if (p->output[i] == t) return true;
    return false;
}

static Maker *some_maker(Grower *g)
{
    if (g->has_inout && random_chance(g->r, 50)) return make_update;
    return producers[random_below(g->r, MAKER_COUNT)];
}

static Program *grow(Ctx *cx, Random *r, int most, bool has_kernels, bool has_inout)
{
    static const DType types[] = { I8, I8, U8, I16, I32, I32, I64, F32, F32, F64, U16, I16 };
    Grower g = { cx, r, NEW(cx->arena, Program), 0, 0, most, has_kernels, has_inout };
    g.p->type = types[random_below(r, has_kernels ? 12 : 10)];
    int rank = 1 + random_below(r, 3), wanted = 1 + random_below(r, 4);
    const Expr *shape[3];
    for (int d = 0; d < rank; d++) shape[d] = some_size(&g);
    Tensor *main = new_input(&g, g.p->type, rank, shape);
    for (int tries = 0; tries < 20 && wanted > 0 && main; tries++) {
        if (is_too_large(&g, main)) break;
        Tensor *next = some_maker(&g)(&g, main);
        if (!next) continue;
        if (g.p->output_count == 0 && wanted > 1 && random_chance(r, 10)) g.p->output[g.p->output_count++] = next;
        main = next;
        wanted--;
    }
    if (!main || !main->producer) return NULL;
    if (g.p->output_count == 0 || g.p->output[0] != main) g.p->output[g.p->output_count++] = main;
    for (int i = 1; i < main->producer->out_count; i++)
        if (random_chance(r, 80) && g.p->output_count < MOST_OUTPUTS - 1)
            g.p->output[g.p->output_count++] = main->producer->out[i];
    if (!g.p->after) g.p->before = NULL;
    else if (!gives(g.p, g.p->after)) g.p->output[g.p->output_count++] = g.p->after;
    return g.p;
}

Program *program_within(Ctx *cx, Random *r, int most) { return grow(cx, r, most, false, false); }
Program *program_of_kernels(Ctx *cx, Random *r, int most) { return grow(cx, r, most, true, false); }
Program *program_of_inout(Ctx *cx, Random *r, int most) { return grow(cx, r, most, false, true); }

/* ---- Running --------------------------------------------------------------------------------------------------- */

Env *program_env(Ctx *cx, const Program *p, uint64_t seed)
{
    Env *e = env_new(cx);
    Random r = random_new(seed);
    for (int i = 0; i < p->size_count; i++) env_set_size(e, p->size[i], p->size_value[i]);
    for (int i = 0; i < p->tensor_count; i++) {
        const Tensor *t = p->tensor[i];
        if (t->producer) continue;
        void *data = env_alloc(cx, e, t);
        int64_t elems = env_elems(cx, e, t);
        for (int64_t k = 0; k < elems; k++) {
            Scalar s = { 0 };
            if (dtype_is_float(t->type)) s.f = random_below(&r, 2001) / (p->is_rough ? 63.0 : 64.0) - 15.0;
            else s.i = dtype_wrap(t->type, (Scalar){ .i = (int64_t)random_bits(&r) }).i;
            dtype_store(t->type, data, k, s);
        }
    }
    return e;
}

static bool is_read_by_itself(Ctx *cx, const Tensor *t)
{
    const Tensor **reads;
    int count = t->producer ? stage_reads(cx, t->producer->stage, &reads) : 0;
    for (int i = 0; i < count; i++)
        if (reads[i] == t) return true;
    return false;
}

void program_print(Ctx *cx, Text *t, const Program *p)
{
    for (int i = 0; i < p->size_count; i++)
        text_printf(t, "size %s in %lld..%lld   # %lld in this run\n", expr_as_var(p->size[i])->name,
                    (long long)expr_as_var(p->size[i])->least, (long long)expr_as_var(p->size[i])->greatest,
                    (long long)p->size_value[i]);
    for (int i = 0; i < p->tensor_count; i++) {
        const Tensor *x = p->tensor[i];
        if (x->producer && x->output) continue;
        if (is_read_by_itself(cx, x))
            text_printf(t, "promise %s: %s%s\n", x->name, dtype_info(x->type)->spelling, tensor_shape_text(cx, x));
        if (x->producer) print_stage(cx, t, x->producer->stage);
        else
            text_printf(t, "input %s: %s%s%s", x->name, dtype_info(x->type)->spelling,
                        x->rank ? tensor_shape_text(cx, x) : "", x == p->before ? "   # in-out" : "");
        text_char(t, '\n');
    }
    for (int i = 0; i < p->output_count; i++) text_printf(t, "output %s\n", p->output[i]->name);
}
