/* SPDX-License-Identifier: MIT */
/* Recurrent layers of floats whose recurrent weights have 8 bits, as the reference kernels of TensorFlow Lite compute
 * them for dynamic range. The state of each sequence is rounded to 8 bits of its own range at each step:
 *
 *   prev[t,b,k]    = h[t-1,b,k], in the first step h0[b,k]
 *   stored[t,b,k]  = prev on the grid of its row (dynamic_grid), less the zero point
 *   sums[t,b,g,u]  = x[t,b,g*U+u] + f32(sum(k) stored[t,b,k] * r[k,g*U+u]) * (scale[t,b] * rs[g*U+u])
 *
 * x holds the products of the layer's input, and the biases. Gates, cell and outputs are those of rnn and lstm. */
#include "ir/algebra/algebra.h"
#include "ops/integer/dynamic.h"

typedef struct Hybrid {
    Ctx *cx;
    const Node *n;
    int gates;
    const Expr *shape[3];            /* steps, batch, units */
    Formulas f;
} Hybrid;

static bool has_shape(Hybrid *l, int input, DType type, const Expr *const *shape, int rank)
{
    const Tensor *t = l->n->in[input];
    bool fits = t->type == type && t->rank == rank;
    for (int d = 0; fits && d < rank; d++) fits = t->shape[d] == shape[d];
    if (!fits)
        op_refuse(l->cx, l->n, "input %d is %s%s; with r %s use %s of the layer's sizes", input,
                  dtype_info(t->type)->spelling, tensor_shape_text(l->cx, t), tensor_shape_text(l->cx, l->n->in[1]),
                  dtype_info(type)->spelling);
    return fits;
}

/* x [T][B][G*U], r [U][G*U], rs [G*U], h0 [B][U] */
static bool hybrid_open(Hybrid *l, Ctx *cx, const Node *n, int gates)
{
    *l = (Hybrid){ .cx = cx, .n = n, .gates = gates, .f = { .cx = cx, .call = n } };
    const Tensor *x = n->in[0], *r = n->in[1];
    if (x->rank != 3 || r->rank != 2 || expr_is_int(x->shape[0], 0)) {
        op_refuse(cx, n, "x is %s and r %s; use [steps][batch][gates * units] and [units][gates * units]",
                  tensor_shape_text(cx, x), tensor_shape_text(cx, r));
        return false;
    }
    const Expr *units = r->shape[0], *all = simplify(cx, expr_mul(cx, units, expr_index(cx, gates)), NULL);
    l->shape[0] = x->shape[0];
    l->shape[1] = x->shape[1];
    l->shape[2] = units;
    if (!has_shape(l, 0, F32, (const Expr *[]){ x->shape[0], x->shape[1], all }, 3)
        || !has_shape(l, 1, I8, (const Expr *[]){ units, all }, 2) || !has_shape(l, 2, F32, &all, 1)
        || !has_shape(l, 3, F32, l->shape + 1, 2))
        return false;
    formulas_phrase(&l->f, "rows", expr_is_int(x->shape[0], 1) ? "t<T,b<B" : "t<T ordered,b<B");
    formulas_phrase(&l->f, "gates", op_number(cx, gates));
    formulas_name(&l->f, (Bind)BIND_V("T", x->shape[0]));
    formulas_name(&l->f, (Bind)BIND_V("B", x->shape[1]));
    formulas_name(&l->f, (Bind)BIND_V("U", units));
    static const char *const words[] = { "x", "r", "rs", "h0" };
    for (int i = 0; i < 4; i++) formulas_name(&l->f, (Bind)BIND_T(words[i], n->in[i]));
    return true;
}

/* The sums of the gates */
static void sums_stages(Hybrid *l)
{
    Tensor *grid[DYNAMIC_OUTPUTS];
    formulas_compute(&l->f, "prev[rows,k<U] = (h[t-1,b,k]? : h0[b,k])");
    formulas_phrase(&l->f, "row", "t,b");
    formulas_phrase(&l->f, "chosen", "k<U");
    formulas_phrase(&l->f, "of", "prev[t,b,k]");
    if (dynamic_grid_formulas(&l->f, node_int(l->n, "asymmetric", 0) != 0, grid) == DYNAMIC_OUTPUTS)
        formulas_compute(&l->f, "stored[rows,k<U] = "
                         "i16(max(-128.0, min(127.0, round(of * inverse[row]) + zero[row])) - zero[row])");
    else formulas_compute(&l->f, "stored[rows,k<U] = i8(max(-127.0, min(127.0, round(of * inverse[row]))))");
    formulas_compute(&l->f, "terms[rows,g<gates,u<U] = sum(k<U) i32(stored[t,b,k]) * i32(r[k,g*U+u])");
    formulas_compute(&l->f, "sums[rows,g<gates,u<U] = "
                     "x[t,b,g*U+u] + f32(terms[t,b,g,u]) * (scale[row] * rs[g*U+u])");
}

static int rnn_hybrid(Ctx *cx, const Node *n, Tensor **out)
{
    Hybrid l;
    if (!hybrid_open(&l, cx, n, 1)) return 0;
    Tensor *h = formulas_promise(&l.f, "h", F32, 3, l.shape);
    sums_stages(&l);
    out[0] = formulas_define(&l.f, h, node_int(n, "relu", 0) ? "y[rows,u<U] = max(sums[t,b,0,u], 0)"
                                                             : "y[rows,u<U] = tanh(sums[t,b,0,u])");
    out[1] = formulas_compute(&l.f, "last[b<B,u<U] = h[T-1,b,u]");
    return out[0] && out[1] ? 2 : 0;
}

/* Gates i o f c; peepholes p of i o f */
static int lstm_hybrid(Ctx *cx, const Node *n, Tensor **out)
{
    Hybrid l;
    if (!hybrid_open(&l, cx, n, 4) || !has_shape(&l, 4, F32, l.shape + 1, 2)) return 0;
    const Expr *three = simplify(cx, expr_mul(cx, l.shape[2], expr_index(cx, 3)), NULL);
    const bool peeps = n->in_count > 5 && n->in[5];
    if (peeps && !has_shape(&l, 5, F32, &three, 1)) return 0;
    formulas_name(&l.f, (Bind)BIND_T("c0", n->in[4]));
    if (peeps) formulas_name(&l.f, (Bind)BIND_T("p", n->in[5]));
    const double most = node_real(n, "cell_clip", 0);
    formulas_name(&l.f, (Bind)BIND_V("most", expr_real(cx, F32, most)));
    Tensor *h = formulas_promise(&l.f, "h", F32, 3, l.shape), *c = formulas_promise(&l.f, "c", F32, 3, l.shape);
    formulas_phrase(&l.f, "before", "(c[t-1,b,u]? : c0[b,u])");
    formulas_phrase(&l.f, "in", peeps ? "sigmoid(sums[t,b,0,u] + p[u] * before)" : "sigmoid(sums[t,b,0,u])");
    formulas_phrase(&l.f, "forget", peeps ? "sigmoid(sums[t,b,2,u] + p[u + 2*U] * before)" : "sigmoid(sums[t,b,2,u])");
    formulas_phrase(&l.f, "opened", peeps ? "sigmoid(sums[t,b,1,u] + p[u + U] * c[t,b,u])" : "sigmoid(sums[t,b,1,u])");
    sums_stages(&l);
    formulas_define(&l.f, c, most > 0
        ? "cell[rows,u<U] = min(max(forget * before + in * tanh(sums[t,b,3,u]), -most), most)"
        : "cell[rows,u<U] = forget * before + in * tanh(sums[t,b,3,u])");
    out[0] = formulas_define(&l.f, h, "y[rows,u<U] = opened * tanh(c[t,b,u])");
    out[1] = formulas_compute(&l.f, "last[b<B,u<U] = h[T-1,b,u]");
    out[2] = formulas_compute(&l.f, "last_cell[b<B,u<U] = c[T-1,b,u]");
    return out[0] && out[1] && out[2] ? 3 : 0;
}

#define ASYMMETRIC { "asymmetric", ATTR_INT, "1: the grid of the state has a zero point", "0" }

static const AttrRow rnn_attrs[] = { ASYMMETRIC, { "relu", ATTR_INT, "1: relu in place of tanh", "0" }, { 0 } };
static const AttrRow lstm_attrs[] = {
    ASYMMETRIC,
    { "cell_clip", ATTR_REAL, "the cell is clamped to [-cell_clip, cell_clip]; 0 or absent: it is not clamped", NULL },
    { 0 }
};

static const OpCase rnn_cases[] = {
    { "", "f32[5][2][4] i8[4][4] f32[4] f32[2][4]", "f32[5][2][4]", NULL },
    { "asymmetric=1 relu=1", "f32[3][1][2] i8[2][2] f32[2] f32[1][2]", "f32[3][1][2]", NULL },
    { "", "f32[1][2][4] i8[4][4] f32[4] f32[2][4]", "f32[1][2][4]", NULL },
    { "", "f32[5][2][4] f32[4][4] f32[4] f32[2][4]", NULL, "input 1 is f32[4][4]" },
    { "", "f32[5][2] i8[4][4] f32[4] f32[2][4]", NULL, "[steps][batch][gates * units]" },
    { 0 }
};
static const OpCase lstm_cases[] = {
    { "", "f32[5][2][12] i8[3][12] f32[12] f32[2][3] f32[2][3]", "f32[5][2][3]", NULL },
    { "asymmetric=1 cell_clip=0.5", "f32[4][1][8] i8[2][8] f32[8] f32[1][2] f32[1][2] f32[6]", "f32[4][1][2]", NULL },
    { "asymmetric=1", "f32[1][2][4] i8[1][4] f32[4] f32[2][1] f32[2][1]", "f32[1][2][1]", NULL },
    { "", "f32[5][2][12] i8[3][12] f32[12] f32[2][3] f32[2][4]", NULL, "input 4 is f32[2][4]" },
    { 0 }
};

#define LAYER(layer, text, least, most, roles) \
    { .name = #layer "_hybrid", .summary = text, .level = 11, .least_inputs = least, .most_inputs = most, \
      .inputs = roles, .attr = layer##_attrs, .meaning.compute = layer##_hybrid, .fusion.pattern = PATTERN_OPAQUE, \
      .gradient.refusal = "which rounds its state to 8 bits at each step; " #layer " in floats is accepted " \
                          "(of a TFLite network: --hybrid float)", \
      .cases = layer##_cases }

const Op ops_recurrent_hybrid[] = {
    LAYER(rnn, "rnn of given products, the state in 8 bits of its range", 4, 4, "x r rs h0"),
    LAYER(lstm, "lstm of given products, the state in 8 bits of its range", 5, 6, "x r rs h0 c0 p"),
    { 0 }
};
