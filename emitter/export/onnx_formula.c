/* SPDX-License-Identifier: MIT */
/* Writes a call's formulas as nodes of ONNX, for operators that ONNX lacks. A stage
 *
 *   y[d, ..] = reducer(r, ..) value
 *
 * has a space that consists of its data and reduce axes. Each part of `value` becomes a tensor of the space's rank. The
 * tensor's dimension along an axis is the extent, or 1 if the part does not depend on the axis, so that ONNX broadcasts
 * the tensor.
 *
 *   axes and constants alone   a constant, which the evaluator computes: indices, masks of borders
 *   x[j, i]                    a transpose and a reshape
 *   x[f(i, j), ..]             a Gather from the flat tensor, within its bounds, because the branch of a choice that
 *                              is not taken is also computed
 *   sum(r) a * b               an Einsum, so that the product does not fill the space
 *
 * Recurrences and kinds of expressions that ONNX cannot compute exactly are refused. */
#include <math.h>
#include <string.h>

#include "export/onnx_node.h"
#include "graph/dag/op.h"
#include "ir/interpret/evaluate.h"
#include "support/text.h"

/* A part of a value. `axes` has a bit for each axis along which the part's dimension is not 1; the tensor is NULL if
 * the part is refused. */
typedef struct Part { const char *name; unsigned axes; } Part;

typedef struct Space { OnnxWriter *w; const Node *call; const Stage *stage; Map known; } Space;

static Part part_of(Space *s, const Expr *e);

static Part refused(const Space *s, const char *what)
{
    if (!ctx_failed(s->w->cx))
        diag_unsupported(s->w->cx, text_format(s->w->cx, "node \"%s\"", s->call->name),
                         "ONNX export does not support %s; omit -o NAME.onnx to write only the C", what);
    return (Part){ NULL, 0 };
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static int64_t extent(const Space *s, int axis)
{
    const Expr *e = s->stage->axis[axis].extent;
    return e->kind == EXPR_INT ? e->integer : -1;
}

/* Stores the dimensions of a part; returns the number of its elements. */
static int64_t shape_of(const Space *s, unsigned axes, int64_t *shape)
{
    int64_t count = 1;
    for (int a = 0; a < s->stage->axis_count; a++) {
        shape[a] = axes >> a & 1 ? extent(s, a) : 1;
        count *= shape[a];
    }
    return count;
}

static int axis_of(const Space *s, const Expr *var)
{
    for (int a = 0; a < s->stage->axis_count; a++)
        if (s->stage->axis[a].var == var) return a;
    return -1;
}

typedef struct Found { const Space *s; unsigned axes; bool is_computed; } Found;

static void find_axes(const Expr *e, void *user)
{
    Found *f = user;
    const int axis = e->kind == EXPR_VAR ? axis_of(f->s, e) : -1;
    if (axis >= 0) f->axes |= 1u << axis;
    if (e->kind == EXPR_READ && !tensor_is_constant(e->ref)) f->is_computed = true;
}

static const char *expanded(Space *s, Part p, unsigned axes)
{
    int64_t shape[MAX_AXES];
    shape_of(s, p.axes | axes, shape);
    if ((p.axes | axes) == p.axes) return p.name;
    const char *in[] = { p.name, onnx_int_list(s->w, "shape", shape, s->stage->axis_count) };
    return onnx_node(s->w, "Expand", in, 2);
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

/* Evaluates an expression over axes and constants at each of its points. */
static Part constant_part(Space *s, const Expr *e, unsigned axes)
{
    Ctx *cx = s->w->cx;
    int64_t shape[MAX_AXES];
    StageSpec spec = { .name = "constant", .out_count = 1, .value = { e } };
    for (int a = 0; a < s->stage->axis_count; a++) {
        if (!(axes >> a & 1)) continue;
        spec.axis[spec.axis_count] = s->stage->axis[a];
        spec.axis[spec.axis_count++].kind = AXIS_DATA;
    }
    if (spec.axis_count > MAX_RANK) return refused(s, "indices over more than 8 axes");
    const Node *n = compute_new(cx, &spec);
    Env *env = env_new(cx);
    if (!n || !evaluate(cx, env, n->out, 1)) return (Part){ NULL, 0 };
    shape_of(s, axes, shape);
    return (Part){ onnx_initializer(s->w, "constant", e->type, s->stage->axis_count, shape, env_get(env, n->out[0])),
                   axes };
}

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

/* Returns true if each index is a distinct axis that covers the whole dimension. perm: the dimensions in the order of
 * the axes. */
static bool is_permuted(const Space *s, const Expr *e, int64_t *perm, unsigned *axes)
{
    const Tensor *t = e->ref;
    int dim_of[MAX_AXES], count = 0;
    for (int a = 0; a < MAX_AXES; a++) dim_of[a] = -1;
    *axes = 0;
    for (int d = 0; d < t->rank; d++) {
        const int a = axis_of(s, e->arg[d]);
        if (a < 0 || dim_of[a] >= 0 || extent(s, a) != tensor_dim(t, d)) return false;
        dim_of[a] = d;
        *axes |= 1u << a;
    }
    for (int a = 0; a < s->stage->axis_count; a++)
        if (dim_of[a] >= 0) perm[count++] = dim_of[a];
    return true;
}

static Part permuted_read(Space *s, const char *x, int rank, const int64_t *perm, unsigned axes)
{
    int64_t shape[MAX_AXES];
    bool is_ordered = true;
    shape_of(s, axes, shape);
    for (int d = 0; d < rank; d++) is_ordered = is_ordered && perm[d] == d;
    if (!is_ordered) x = onnx_transposed(s->w, x, perm, rank);
    return (Part){ rank == s->stage->axis_count ? x : onnx_reshaped(s->w, x, shape, s->stage->axis_count), axes };
}

static const Expr *within(Ctx *cx, const Expr *index, int64_t size)
{
    const Expr *least = expr_int(cx, index->type, 0), *most = expr_int(cx, index->type, size - 1);
    return expr_binary(cx, EXPR_MAX, least, expr_binary(cx, EXPR_MIN, index, most));
}

static Part gathered_read(Space *s, const Expr *e, const char *x)
{
    Ctx *cx = s->w->cx;
    const Tensor *t = e->ref;
    const int64_t flat = tensor_elems(t);
    const Expr *at = expr_int(cx, I32, 0);
    for (int d = 0; d < t->rank; d++)
        at = expr_add(cx, expr_mul(cx, at, expr_int(cx, I32, tensor_dim(t, d))),
                      within(cx, e->arg[d], tensor_dim(t, d)));
    const Part index = part_of(s, at);
    const char *in[] = { onnx_reshaped(s->w, x, &flat, 1), index.name };
    return index.name ? (Part){ onnx_node(s->w, "Gather", in, 2), index.axes } : index;
}

static Part read_part(Space *s, const Expr *e)
{
    Tensor *t = ((const Tensor *)e->ref)->self;
    int64_t perm[MAX_RANK];
    unsigned axes;
    const char *x = onnx_operand(s->w, t);
    if (!x || tensor_elems(t) < 0) return refused(s, "an operand of an open size");
    return is_permuted(s, e, perm, &axes) ? permuted_read(s, x, t->rank, perm, axes) : gathered_read(s, e, x);
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

/* The operator of ONNX; `not`: the result of the operator is negated. */
typedef struct KindForm { const char *onnx; bool is_not; } KindForm;
static const KindForm kinds[EXPR_KIND_COUNT] = {
    [EXPR_NEG] = { "Neg" }, [EXPR_NOT] = { "Not" }, [EXPR_MUL] = { "Mul" }, [EXPR_DIV] = { "Div" },
    [EXPR_FLOORMOD] = { "Mod" }, [EXPR_ADD] = { "Add" }, [EXPR_SUB] = { "Sub" }, [EXPR_LT] = { "Less" },
    [EXPR_LE] = { "LessOrEqual" }, [EXPR_EQ] = { "Equal" }, [EXPR_NE] = { "Equal", true }, [EXPR_AND] = { "And" },
    [EXPR_OR] = { "Or" }, [EXPR_SELECT] = { "Where" }, [EXPR_MIN] = { "Min" }, [EXPR_MAX] = { "Max" },
    [EXPR_TDIV] = { "Div" }, [EXPR_POW] = { "Pow" }, [EXPR_ABS] = { "Abs" }, [EXPR_SQRT] = { "Sqrt" },
    [EXPR_EXP] = { "Exp" }, [EXPR_LOG] = { "Log" }, [EXPR_TANH] = { "Tanh" }, [EXPR_SIGMOID] = { "Sigmoid" },
    [EXPR_ERF] = { "Erf" }, [EXPR_SIN] = { "Sin" }, [EXPR_COS] = { "Cos" }, [EXPR_TAN] = { "Tan" },
    [EXPR_ASIN] = { "Asin" }, [EXPR_ACOS] = { "Acos" }, [EXPR_ATAN] = { "Atan" }, [EXPR_SINH] = { "Sinh" },
    [EXPR_COSH] = { "Cosh" }, [EXPR_ASINH] = { "Asinh" }, [EXPR_ACOSH] = { "Acosh" }, [EXPR_ATANH] = { "Atanh" },
    [EXPR_FLOOR] = { "Floor" }, [EXPR_CEIL] = { "Ceil" }, [EXPR_NEARBYINT] = { "Round" }, [EXPR_ISNAN] = { "IsNaN" },
    [EXPR_ISINF] = { "IsInf" },
};

/* Computes atan(y / x), turned by a half to the quadrant of (x, y). */
static const Expr *by_quadrant(Ctx *cx, const Expr *y, const Expr *x)
{
    const Expr *zero = expr_real(cx, x->type, 0), *half = expr_real(cx, x->type, 3.141592653589793);
    const Expr *quarter = expr_real(cx, x->type, 1.5707963267948966), *is_below = expr_binary(cx, EXPR_LT, y, zero);
    const Expr *near = expr_unary(cx, EXPR_ATAN, expr_binary(cx, EXPR_DIV, y, x));
    const Expr *far = expr_select(cx, is_below, expr_sub(cx, near, half), expr_add(cx, near, half));
    const Expr *upright = expr_select(cx, is_below, expr_unary(cx, EXPR_NEG, quarter),
                                      expr_select(cx, expr_binary(cx, EXPR_LT, zero, y), quarter, y));
    return expr_select(cx, expr_binary(cx, EXPR_LT, zero, x), near,
                       expr_select(cx, expr_binary(cx, EXPR_LT, x, zero), far, upright));
}

/* Expresses the value by operators of ONNX; returns the expression itself if no such form is known. */
static const Expr *by_other_kinds(Ctx *cx, const Expr *e)
{
    const Expr *x = e->arg_count ? e->arg[0] : NULL;
    const bool is_real = x && dtype_is_float(e->type);
    const Expr *one = is_real ? expr_real(cx, e->type, 1) : NULL;
    switch (e->kind) {
    case EXPR_RSQRT: return expr_binary(cx, EXPR_DIV, one, expr_unary(cx, EXPR_SQRT, x));
    case EXPR_EXP2: return expr_binary(cx, EXPR_POW, expr_real(cx, e->type, 2), x);
    case EXPR_EXPM1: return expr_sub(cx, expr_unary(cx, EXPR_EXP, x), one);
    case EXPR_LOG1P: return expr_unary(cx, EXPR_LOG, expr_add(cx, one, x));
    case EXPR_LOG2: return expr_mul(cx, expr_unary(cx, EXPR_LOG, x), expr_real(cx, e->type, 1.4426950408889634));
    case EXPR_LOG10: return expr_mul(cx, expr_unary(cx, EXPR_LOG, x), expr_real(cx, e->type, 0.4342944819032518));
    case EXPR_ATAN2: return by_quadrant(cx, x, e->arg[1]);
    case EXPR_FMA: return expr_add(cx, expr_mul(cx, x, e->arg[1]), e->arg[2]);
    case EXPR_FLOORDIV: {
        const Expr *rest = expr_binary(cx, EXPR_FLOORMOD, x, e->arg[1]);
        return expr_binary(cx, EXPR_TDIV, expr_sub(cx, x, rest), e->arg[1]);
    }
    case EXPR_TMOD:
        return expr_sub(cx, x, expr_mul(cx, expr_binary(cx, EXPR_TDIV, x, e->arg[1]), e->arg[1]));
    case EXPR_TRUNC:
        return expr_select(cx, expr_binary(cx, EXPR_LT, x, expr_real(cx, e->type, 0)), expr_unary(cx, EXPR_CEIL, x),
                           expr_unary(cx, EXPR_FLOOR, x));
    case EXPR_ROUND: {
        const Expr *half = expr_real(cx, e->type, 0.5);
        return expr_select(cx, expr_binary(cx, EXPR_LT, x, expr_real(cx, e->type, 0)),
                           expr_unary(cx, EXPR_CEIL, expr_sub(cx, x, half)),
                           expr_unary(cx, EXPR_FLOOR, expr_add(cx, x, half)));
    }
    default: return e;
    }
}

static const char *cast(OnnxWriter *w, const char *x, DType to)
{
    OnnxNode node = onnx_node_begin(w, "Cast");
    onnx_put_int(&node, "to", onnx_type(w->cx, to));
    return onnx_node_end(&node, &x, 1);
}

/* Converts reals to integers, which saturates: ONNX's Cast leaves other values undefined. */
static const char *saturated(OnnxWriter *w, const char *x, DType to)
{
    const DTypeInfo *t = dtype_info(to);
    const float most = t->bytes < 8 ? (float)t->greatest : nextafterf(ldexpf(1, 63), 0);
    const char *reals[] = { x, onnx_number(w, "least", (float)t->least), onnx_number(w, "most", most) };
    x = cast(w, onnx_node(w, "Clip", reals, 3), I64);
    if (t->bytes == 8) return x;
    const char *integers[] = { x, onnx_initializer(w, "least", I64, 0, NULL, &t->least),
                               onnx_initializer(w, "most", I64, 0, NULL, &t->greatest) };
    return cast(w, onnx_node(w, "Clip", integers, 3), to);
}

static Part node_part(Space *s, const Expr *e)
{
    const char *in[3];
    unsigned axes = 0;
    const Expr *other = by_other_kinds(s->w->cx, e);
    if (other != e) return part_of(s, other);
    if (e->kind != EXPR_CAST && e->kind != EXPR_FMOD && !kinds[e->kind].onnx)
        return refused(s, text_format(s->w->cx, "\"%s\" in the formula of %s", expr_info(e->kind)->spelling,
                                      s->call->op->name));
    for (int i = 0; i < e->arg_count; i++) {
        const Part p = part_of(s, e->arg[i]);
        if (!p.name) return p;
        in[i] = p.name;
        axes |= p.axes;
    }
    if (e->kind == EXPR_CAST) {
        const bool is_saturated = e->arg[0]->type == F32 && dtype_is_integer(e->type);
        return (Part){ (is_saturated ? saturated : cast)(s->w, in[0], e->type), axes };
    }
    OnnxNode node = onnx_node_begin(s->w, e->kind == EXPR_FMOD ? "Mod" : kinds[e->kind].onnx);
    if (e->kind == EXPR_FMOD) onnx_put_int(&node, "fmod", 1);
    in[0] = onnx_node_end(&node, in, e->arg_count);
    return (Part){ kinds[e->kind].is_not ? onnx_node(s->w, "Not", in, 1) : in[0], axes };
}

static Part part_of(Space *s, const Expr *e)
{
    Found f = { .s = s };
    const Part *known = map_get_ptr(&s->known, e);
    if (known) return *known;
    expr_walk(s->w->cx, e, find_axes, &f);
    Part *p = NEW(s->w->cx->arena, Part);
    *p = !f.is_computed ? constant_part(s, e, f.axes) : e->kind == EXPR_READ ? read_part(s, e) : node_part(s, e);
    if (p->name) map_put_ptr(&s->known, e, p);
    return *p;
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

static unsigned data_axes(const Space *s) { return (1u << s->stage->data_count) - 1; }
static unsigned reduce_axes(const Space *s) { return ((1u << s->stage->axis_count) - 1) & ~data_axes(s); }

/* Reduces a tensor of the whole space to the data axes. */
static const char *reduced(Space *s, const char *op, const char *x)
{
    int64_t axes[MAX_AXES];
    const int count = s->stage->axis_count - s->stage->data_count;
    const bool takes_list = strcmp(op, "ReduceSum") == 0;
    for (int i = 0; i < count; i++) axes[i] = s->stage->data_count + i;
    const char *in[] = { x, takes_list ? onnx_int_list(s->w, "axes", axes, count) : NULL };
    OnnxNode node = onnx_node_begin(s->w, op);
    if (!takes_list) onnx_put_ints(&node, "axes", axes, count);
    onnx_put_int(&node, "keepdims", 0);
    return onnx_node_end(&node, in, takes_list ? 2 : 1);
}

/* Returns the letters of a part's axes, for an Einsum. */
static void put_letters(const Space *s, Text *t, unsigned axes)
{
    for (int a = 0; a < s->stage->axis_count; a++)
        if (axes >> a & 1) text_char(t, (char)('a' + a));
}

static const char *without_units(Space *s, Part p)
{
    int64_t shape[MAX_AXES];
    int rank = 0;
    for (int a = 0; a < s->stage->axis_count; a++)
        if (p.axes >> a & 1) shape[rank++] = extent(s, a);
    return onnx_reshaped(s->w, p.name, shape, rank);
}

/* Writes the sum of a product if its factors have all reduce axes; otherwise returns a name of NULL. */
static Part contracted(Space *s, const Expr *e)
{
    if (s->stage->reducer != REDUCE_SUM || e->kind != EXPR_MUL || !dtype_is_float(e->type)) return (Part){ NULL, 0 };
    const Part a = part_of(s, e->arg[0]), b = part_of(s, e->arg[1]);
    if (!a.name || !b.name || reduce_axes(s) & ~(a.axes | b.axes)) return (Part){ NULL, 0 };
    Text equation = text_new(s->w->cx);
    const unsigned kept = (a.axes | b.axes) & data_axes(s);
    int64_t shape[MAX_AXES];
    put_letters(s, &equation, a.axes);
    text_char(&equation, ',');
    put_letters(s, &equation, b.axes);
    text_add(&equation, "->");
    put_letters(s, &equation, kept);
    const char *in[] = { without_units(s, a), without_units(s, b) };
    OnnxNode node = onnx_node_begin(s->w, "Einsum");
    onnx_put_text(&node, "equation", text_string(&equation));
    const char *y = onnx_node_end(&node, in, 2);
    shape_of(s, kept, shape);
    if (kept == data_axes(s)) return (Part){ y, kept };
    y = onnx_reshaped(s->w, y, shape, s->stage->data_count);
    shape_of(s, data_axes(s), shape);
    const char *wide[] = { y, onnx_int_list(s->w, "shape", shape, s->stage->data_count) };
    return (Part){ onnx_node(s->w, "Expand", wide, 2), data_axes(s) };
}

static const char *const reducers[REDUCER_COUNT] = {
    [REDUCE_SUM] = "ReduceSum", [REDUCE_PROD] = "ReduceProd", [REDUCE_MAX] = "ReduceMax", [REDUCE_MIN] = "ReduceMin",
    [REDUCE_ALL] = "ReduceMin", [REDUCE_ANY] = "ReduceMax", [REDUCE_ARGMAX] = "ReduceMax",
    [REDUCE_ARGMIN] = "ReduceMin",
};
static const ExprKind combined_by[REDUCER_COUNT] = {
    [REDUCE_SUM] = EXPR_ADD, [REDUCE_PROD] = EXPR_MUL, [REDUCE_MAX] = EXPR_MAX, [REDUCE_MIN] = EXPR_MIN,
    [REDUCE_ALL] = EXPR_AND, [REDUCE_ANY] = EXPR_OR,
};

static const char *whole(Space *s, const Expr *e)
{
    const Part p = part_of(s, e);
    return p.name ? expanded(s, p, data_axes(s) | reduce_axes(s)) : NULL;
}

/* The sums start at `init`. */
static const char *from_initial(Space *s, const Expr *init, const char *y)
{
    const Reducer r = s->stage->reducer;
    int64_t shape[MAX_AXES];
    if (init == reducer_identity(s->w->cx, r, init->type, 0)) return y;
    const Part p = part_of(s, init);
    if (!p.name) return NULL;
    shape_of(s, data_axes(s), shape);
    const char *in[] = { onnx_reshaped(s->w, expanded(s, p, data_axes(s)), shape, s->stage->data_count), y };
    return onnx_node(s->w, kinds[combined_by[r]].onnx, in, 2);
}

static const char *reduction(Space *s)
{
    const Expr *e = s->stage->value[0];
    const bool is_bool = e->type == BOOL;
    const Part product = contracted(s, e);
    if (ctx_failed(s->w->cx)) return NULL;
    const char *y = product.name;
    if (!y) {
        y = whole(s, e);
        if (!y) return NULL;
        y = reduced(s, reducers[s->stage->reducer], is_bool ? cast(s->w, y, I32) : y);
        if (is_bool) y = cast(s->w, y, BOOL);
    }
    return from_initial(s, s->stage->init[0], y);
}

/* True where the value is the selected value; a NaN is always selected. */
static const char *is_selected(OnnxWriter *w, const char *best, const char *value, DType t)
{
    const char *in[] = { best, value }, *either[2] = { onnx_node(w, "Equal", in, 2) };
    if (!dtype_is_float(t)) return either[0];
    either[1] = onnx_node(w, "IsNaN", &value, 1);
    return onnx_node(w, "Or", either, 2);
}

/* Exports a maximum or minimum together with the smallest index where it occurs. */
static bool selection(Space *s, const char **out)
{
    const DType t = s->stage->value[0]->type;
    const char *index = whole(s, s->stage->value[0]), *value = whole(s, s->stage->value[1]);
    int64_t shape[MAX_AXES], greatest;
    if (!index || !value) return false;
    out[1] = reduced(s, reducers[s->stage->reducer], value);
    shape_of(s, data_axes(s), shape);
    dtype_store(t, &greatest, 0, expr_scalar(reducer_identity(s->w->cx, s->stage->reducer, t, 0)));
    const char *best = onnx_reshaped(s->w, out[1], shape, s->stage->axis_count);
    const char *in[] = { is_selected(s->w, best, value, s->stage->value[1]->type), index,
                         onnx_initializer(s->w, "none", t, 0, NULL, &greatest) };
    out[0] = reduced(s, "ReduceMin", onnx_node(s->w, "Where", in, 3));
    return true;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

static bool has_form(Space *s)
{
    for (int a = 0; a < s->stage->axis_count; a++) {
        if (s->stage->axis[a].kind == AXIS_ORDERED)
            refused(s, text_format(s->w->cx, "%s, a recurrence over \"%s\"", s->call->op->name,
                                   expr_as_var(s->stage->axis[a].var)->name));
        else if (extent(s, a) < 0) refused(s, text_format(s->w->cx, "%s of an open size", s->call->op->name));
    }
    return !ctx_failed(s->w->cx);
}

static void write_stage(OnnxWriter *w, const Node *call, const Stage *stage)
{
    Space s = { w, call, stage, map_new(w->cx->arena) };
    const char *out[MAX_COMPONENTS] = { NULL };
    if (!has_form(&s)) return;
    if (stage->combiner) refused(&s, text_format(w->cx, "the reducer %s, which the file declares",
                                                 stage_reducer(stage)->spelling));
    else if (reducer_selects(stage->reducer)) selection(&s, out);
    else if (stage->reducer != REDUCE_NONE)
        for (int i = 0; i < stage->out_count && !ctx_failed(w->cx); i++) {
            const Stage one = stage_component(stage, i);
            Space alone = { w, call, &one, map_new(w->cx->arena) };
            out[i] = reduction(&alone);
        }
    else
        for (int i = 0; i < stage->out_count && !ctx_failed(w->cx); i++) {
            const Part p = part_of(&s, stage->value[i]);
            if (p.name) out[i] = expanded(&s, p, data_axes(&s));
        }
    for (int i = 0; i < stage->out_count && !ctx_failed(w->cx); i++) onnx_name_output(w, stage->out[i]->self, out[i]);
}

const char *onnx_formula(OnnxWriter *w, const Node *n)
{
    Tensor *const *out = n->op->meaning.is_foreign ? NULL : op_expand(w->cx, n);
    Node **order;
    const Space s = { .w = w, .call = n };
    if (!out) return refused(&s, text_format(w->cx, "%s, of which no formula is known", n->op->name)).name;
    const int count = dag_order(w->cx, out, n->out_count, &order);
    for (int i = 0; i < count && !ctx_failed(w->cx); i++) {
        if (onnx_is_written(w, order[i]->out[0])) continue;            /* computed before the call */
        if (order[i]->kind == NODE_COMPUTE) write_stage(w, n, order[i]->stage);
        else w->write_node(w, order[i]);
    }
    for (int i = 0; i < n->out_count && !ctx_failed(w->cx); i++)
        onnx_name_output(w, n->out[i], onnx_operand(w, out[i]));
    return ctx_failed(w->cx) ? NULL : onnx_operand(w, n->out[0]);
}
