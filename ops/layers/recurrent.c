/* SPDX-License-Identifier: MIT */
/* Defines recurrent layers. The steps t are an ordered axis; state is a tensor over t that is read at t-1. The weights
 * hold U hidden units of G gates, one gate after the other: w[i, g*U + u], r[k, g*U + u], b[g*U + u].
 *
 *   input[t,b,g,u] = sum(i; b[g*U+u]) x[t,b,i] * w[i,g*U+u]          all steps at once, outside the recurrence
 *   prev[t,b,k]    = h[t-1,b,k], in the first step h0[b,k]; without h0 there is no such stage, and the first step has
 *                    no product with r
 *   sums[t,b,g,u]  = sum(k; input[t,b,g,u]) prev[t,b,k] * r[k,g*U+u]
 *
 *   rnn    h = f(sums)
 *          in_lanes: both sums in the order of TensorFlow Lite's vector kernels. The first terms, a multiple of four,
 *          are added in four lanes, then the lanes in their order; then the start, then the other terms one by one:
 *            sums_lanes[t,b,g,u,lane<4] = sum(q<U/4) prev[t,b,4*q+lane] * r[4*q+lane,g*U+u]
 *            sums[t,b,g,u] = sum(k<U%4; input + (lane 0 + lane 1 + lane 2 + lane 3)) prev * r
 *   lstm   gates i o f c:  c = f(sums_f) * c[t-1] + f(sums_i) * g(sums_c),  h = f(sums_o) * h(c);
 *          peepholes p add p * c to sums
 *   gru    gates z r h:    h = (1 - f(sums_z)) * n + f(sums_z) * prev, where
 *          n = g(input_h + sum(k; rb) (f(sums_r) * prev)[k] * r[k,h])            or, with linear_before_reset,
 *          n = g(input_h + f(sums_r) * sum(k; rb) prev[k] * r[k,h])
 *
 * If w and r are i8, and x is i8 or i16, all other operands are f32. The state is rounded to 16 bits, in [-1, 1],
 * before it is multiplied. The factors of the i32 sums are ws = (scale of x) * (scale of w's column), rs = (scale of
 * r's column) / 32767:
 *
 *   input  = sum(i) (x - x_zero) * w[i,g*U+u]
 *   stored = round(32767 * prev),   terms = sum(k) stored[t,b,k] * r[k,g*U+u]
 *   sums   = input * ws[g*U+u] + b[g*U+u] + terms * rs[g*U+u]
 *
 * With by_range, the state is rounded to 8 bits of its own range at each step, low to high, which include 0:
 *
 *   step   = (high - low) / 255,   point = round(-low / step)
 *   stored = round(prev / step) in [-point, 255 - point],   sums = input * ws + b + terms * (step * rs[g*U+u])
 *
 * rnn_hybrid and lstm_hybrid are the layers of floats whose recurrent weights have 8 bits, as the reference kernels of
 * TensorFlow Lite compute them for dynamic range. x holds the products of the layer's input, and the biases. The state
 * of each sequence is rounded to 8 bits of its own range at each step (dynamic_grid), less its zero point:
 *
 *   sums[t,b,g,u] = x[t,b,g*U+u] + f32(sum(k) stored[t,b,k] * r[k,g*U+u]) * (scale[t,b] * rs[g*U+u])
 *
 * The outputs are h of all steps, h of the last step, and c of the last step. In reverse, step t reads x[T-1-t] and
 * computes output row T-1-t.
 *
 * lens[b] is the number of steps n of each sequence of the batch, clamped to [0, T]:
 *   - from step n on the state does not change, so h of the last step is h of step n-1, or 0 if n is 0;
 *   - output rows n and later are 0;
 *   - in reverse, step t reads x[n-1-t] and computes output row n-1-t.
 *
 * Semantics: ONNX RNN, GRU, LSTM. Hochreiter, Schmidhuber 1997; Gers, Schmidhuber 2000; Cho et al. 2014. */
#include <math.h>
#include <string.h>

#include "graph/dag/op_build.h"
#include "graph/dag/recurrent.h"
#include "ir/algebra/algebra.h"
#include "ops/integer/dynamic.h"

static const char *const alphas[] = { "alpha0", "alpha1", "alpha2" }, *const betas[] = { "beta0", "beta1", "beta2" };

/* The layer that is built, and the tensors that its formulas may name. */
typedef struct Layer {
    Ctx *cx;
    const Node *n;
    const Recurrent *cell;
    const char *activations;         /* names of the activations, separated by commas */
    Tensor *x, *w, *b, *r, *h0, *c0, *p, *rb, *lens, *ws, *rs;   /* lens: or NULL if all sequences have all steps */
    bool reverse, on_integers, by_range, in_lanes, is_hybrid;
    DType type;                      /* type of state, biases and outputs */
    Formulas f;
} Layer;

static void name_value(Layer *l, const char *word, const Expr *e) { formulas_name(&l->f, (Bind)BIND_V(word, e)); }
static Tensor *stage(Layer *l, const char *text) { return formulas_compute(&l->f, text); }

/* Enters the phrases of all formulas of the layer. A single step is not a recurrence. */
static void name_phrases(Layer *l)
{
    formulas_phrase(&l->f, "steps", expr_is_int(l->x->shape[0], 1) ? "t<T" : "t<T ordered");
    formulas_phrase(&l->f, "rows", "steps,b<B");
    formulas_phrase(&l->f, "gates", op_number(l->cx, l->cell->gates));
    formulas_phrase(&l->f, "length", "max(0, min(T, lens[b]))");       /* number of steps of the sequence */
    formulas_phrase(&l->f, "is_step", "t < length");
    /* step t counted from the end, or any valid index for a t beyond the sequence */
    formulas_phrase(&l->f, "other_end", l->lens ? "max(0, length-1-t)" : "T-1-t");
    formulas_phrase(&l->f, "at", l->reverse ? "other_end" : "t");
}

/* ---- Activations ------------------------------------------------------------------------------------------------- */

/* Returns the formula of the layer's activation number i. The list is valid: read_activations checked it. */
static const char *activation_at(const Layer *l, int i)
{
    const char *word = l->activations;
    while (i--) word += strcspn(word, ",") + 1;
    return recurrent_activation_named(word, strcspn(word, ","))->formula;
}

static const char *activate_as(const Layer *l, int i, const char *argument)
{
    return OP_TEXT(l->cx, activation_at(l, i), { "v", argument }, { "alpha", alphas[i] }, { "beta", betas[i] });
}

/* Applies activation i to the sum of a gate, clipped if the attribute is set. */
static const char *activate(const Layer *l, int i, const char *sum)
{
    const char *text = node_real(l->n, "clip", 0) > 0 ? "max(-clip, min(clip, sum))" : "(sum)";
    return activate_as(l, i, OP_TEXT(l->cx, text, { "sum", sum }));
}

/* Refuses the word and lists the known activations. */
static bool refuse_activation(Layer *l, const char *word, size_t length)
{
    Text names = text_new(l->cx);
    const RecurrentActivation *a;
    for (int i = 0; (a = recurrent_activation(i)); i++) text_printf(&names, "%s%s", i ? ", " : "", a->name);
    op_refuse(l->cx, l->n, "'activations' has \"%.*s\"; use one of %s", (int)length, word, text_string(&names));
    return false;
}

static bool read_activations(Layer *l)
{
    const int expected = l->cell->activation_count;
    const char *list = l->activations;
    const Attr *alpha = node_attr(l->n, "alpha"), *beta = node_attr(l->n, "beta");
    int count = 0;
    for (const char *word = list; *word; word += strcspn(word, ","), word += *word == ',', count++) {
        size_t length = strcspn(word, ",");
        if (!recurrent_activation_named(word, length)) return refuse_activation(l, word, length);
    }
    if (count != expected || (alpha && alpha->count != expected) || (beta && beta->count != expected)) {
        op_refuse(l->cx, l->n,
                  "'activations' is \"%s\", with %d of 'alpha' and %d of 'beta'; use %d of each, or none of 'alpha' "
                  "and 'beta'",
                  list, alpha ? alpha->count : 0, beta ? beta->count : 0, expected);
        return false;
    }
    for (int i = 0; i < expected; i++) {
        name_value(l, alphas[i], expr_real(l->cx, l->type, alpha ? alpha->reals[i] : 1));
        name_value(l, betas[i], expr_real(l->cx, l->type, beta ? beta->reals[i] : 0));
    }
    name_value(l, "clip", expr_real(l->cx, l->type, node_real(l->n, "clip", 0)));
    return true;
}

/* ---- Shared by all layers ---------------------------------------------------------------------------------------- */

/* Returns input i, or NULL for 0, which means no input in the table of cells. */
static Tensor *operand(const Node *n, int i) { return i && i < n->in_count ? n->in[i] : NULL; }

static bool has_shape(Layer *l, const char *name, const Tensor *t, const Expr *const *shape, int rank)
{
    bool fits = !t || t->rank == rank;
    for (int d = 0; t && fits && d < rank; d++) fits = t->shape[d] == shape[d];
    if (fits) return true;
    Tensor expected = { .rank = rank };
    for (int d = 0; d < rank; d++) expected.shape[d] = shape[d];
    op_refuse(l->cx, l->n, "%s is %s; with x %s and r %s use %s", name, tensor_shape_text(l->cx, t),
              tensor_shape_text(l->cx, l->x), tensor_shape_text(l->cx, l->r), tensor_shape_text(l->cx, &expected));
    return false;
}

/* Reads lens [B], the last input of the operator. */
static bool has_lens(Layer *l)
{
    if (!l->lens) return true;
    if (l->lens->rank == 1 && l->lens->shape[0] == l->x->shape[1] && l->lens->type == I32) return true;
    op_refuse(l->cx, l->n, "lens is %s%s and x %s; use i32[batch]", dtype_info(l->lens->type)->spelling,
              tensor_shape_text(l->cx, l->lens), tensor_shape_text(l->cx, l->x));
    return false;
}

/* Returns true if all operands except the lengths have one float type. */
static bool same_types(Layer *l)
{
    Node data = *l->n;
    if (data.in_count > l->cell->lens) data.in_count = l->cell->lens;
    if (l->ws || l->rs) op_refuse(l->cx, l->n, "x is %s; with the scales ws and rs use i8 or i16",
                                  dtype_info(l->x->type)->spelling);
    return !ctx_failed(l->cx) && op_same_type(l->cx, &data) && op_float(l->cx, &data);
}

/* Returns true if x, w and r are integers and the other operands f32, with a scale for each column. */
static bool integer_types(Layer *l)
{
    for (int i = 0; i < l->n->in_count; i++) {
        const Tensor *t = l->n->in[i];
        if (!t || i == 0 || t == l->lens || t->type == (i < 3 ? I8 : F32)) continue;
        if (i < 3 && t->type == I16 && l->by_range) continue;
        op_refuse(l->cx, l->n, "input %d is %s; with x in %s use i8 for w and r and f32 for the others", i,
                  dtype_info(t->type)->spelling, dtype_info(l->x->type)->spelling);
        return false;
    }
    if (!l->ws || !l->rs) op_refuse(l->cx, l->n, "x is %s; use the scales ws and rs",
                                    dtype_info(l->x->type)->spelling);
    return !ctx_failed(l->cx);
}

/* Returns true if r is i8 and the other operands of the hybrid layer are f32. */
static bool hybrid_types(Layer *l)
{
    for (int i = 0; i < l->n->in_count; i++) {
        const Tensor *t = l->n->in[i];
        if (!t || t->type == (t == l->r ? I8 : F32)) continue;
        op_refuse(l->cx, l->n, "input %d is %s; use i8 for r and f32 for the others", i, dtype_info(t->type)->spelling);
        return false;
    }
    return true;
}

/* Returns true if the operands have the shapes that follow from x and r. In a hybrid layer, x holds products (gates *
 * units per step) instead of the inputs. */
static bool has_shapes(Layer *l)
{
    Ctx *cx = l->cx;
    if (l->x->rank != 3 || l->r->rank != 2) {
        op_refuse(cx, l->n, "x is %s and r %s; use [steps][batch][%s] and [units][gates * units]",
                  tensor_shape_text(cx, l->x), tensor_shape_text(cx, l->r), l->is_hybrid ? "gates * units" : "inputs");
        return false;
    }
    const Expr *units = l->r->shape[0], *state[] = { l->x->shape[1], units },
               *all = simplify(cx, expr_mul(cx, units, expr_index(cx, l->cell->gates)), NULL),
               *three = simplify(cx, expr_mul(cx, units, expr_index(cx, 3)), NULL),
               *inputs = l->is_hybrid ? all : l->x->shape[2];
    return has_lens(l) && has_shape(l, "r", l->r, (const Expr *[]){ units, all }, 2)
           && has_shape(l, "x", l->x, (const Expr *[]){ l->x->shape[0], l->x->shape[1], inputs }, 3)
           && has_shape(l, "w", l->w, (const Expr *[]){ inputs, all }, 2) && has_shape(l, "ws", l->ws, &all, 1)
           && has_shape(l, "rs", l->rs, &all, 1) && has_shape(l, "b", l->b, &all, 1)
           && has_shape(l, "h0", l->h0, state, 2) && has_shape(l, "rb", l->rb, &units, 1)
           && has_shape(l, "c0", l->c0, state, 2) && has_shape(l, "p", l->p, &three, 1);
}

/* Names the tensors that the formulas of the layer may read. */
static bool layer_named(Layer *l)
{
    if (!has_shapes(l)) return false;
    if (l->in_lanes && (!expr_is_const(l->x->shape[2]) || !expr_is_const(l->r->shape[0]))) {
        op_unsupported(l->cx, l->n, "'in_lanes' is given for x %s and r %s; use inputs and units of known sizes",
                       tensor_shape_text(l->cx, l->x), tensor_shape_text(l->cx, l->r));
        return false;
    }
    if (expr_is_int(l->x->shape[0], 0)) {
        op_refuse(l->cx, l->n, "x is %s; use one step or more", tensor_shape_text(l->cx, l->x));
        return false;
    }
    const Bind names[] = {
        BIND_T("x", l->x), BIND_T("w", l->w), BIND_T("r", l->r), BIND_T("bias", l->b), BIND_T("h0", l->h0),
        BIND_T("c0", l->c0), BIND_T("p", l->p), BIND_T("rb", l->rb), BIND_T("lens", l->lens), BIND_T("ws", l->ws),
        BIND_T("rs", l->rs), BIND_V("T", l->x->shape[0]), BIND_V("B", l->x->shape[1]), BIND_V("U", l->r->shape[0]),
        BIND_V("zero", expr_int(l->cx, I32, node_int(l->n, "x_zero", 0))),
        BIND_V("cell_clip", expr_real(l->cx, l->type, node_real(l->n, "cell_clip", 0))),
    };
    name_phrases(l);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].tensor || names[i].value) formulas_name(&l->f, names[i]);
    return read_activations(l);
}

static bool layer_open(Layer *l, Ctx *cx, const Node *n)
{
    const Recurrent *cell = recurrent_of(n->op->name);
    *l = (Layer){ .cx = cx, .n = n, .f = { .cx = cx, .call = n }, .cell = cell,
                  .activations = node_text(n, "activations", ""), .reverse = node_int(n, "reverse", 0) != 0,
                  .x = n->in[RECURRENT_X], .w = n->in[RECURRENT_W], .r = n->in[RECURRENT_R],
                  .b = operand(n, RECURRENT_B), .h0 = operand(n, RECURRENT_H0), .c0 = operand(n, cell->c0),
                  .p = operand(n, cell->p), .rb = operand(n, cell->rb), .lens = operand(n, cell->lens),
                  .ws = operand(n, cell->ws), .rs = operand(n, cell->ws + 1) };
    l->on_integers = l->x->type == I8 || l->x->type == I16;
    l->by_range = l->on_integers && node_int(n, "by_range", 0) != 0;
    l->in_lanes = !l->on_integers && node_int(n, "in_lanes", 0) != 0;
    l->type = l->on_integers ? F32 : l->x->type;
    return (l->on_integers ? integer_types(l) : same_types(l)) && layer_named(l);
}

/* Opens a hybrid layer, whose inputs are x, r, rs, h0, c0 and p. */
static bool hybrid_open(Layer *l, Ctx *cx, const Node *n, const char *cell)
{
    *l = (Layer){ .cx = cx, .n = n, .f = { .cx = cx, .call = n }, .cell = recurrent_of(cell), .is_hybrid = true,
                  .x = n->in[0], .r = n->in[1], .rs = n->in[2], .h0 = n->in[3], .c0 = operand(n, 4),
                  .p = operand(n, 5), .type = F32 };
    l->activations = node_int(n, "relu", 0) ? "relu" : l->cell->activations;
    return hybrid_types(l) && layer_named(l);
}

/* Promises a tensor over the steps, which earlier formulas read before a later one computes it. */
static Tensor *promise(Layer *l, const char *word)
{
    return formulas_promise(&l->f, word, l->type, 3,
                            (const Expr *[]){ l->x->shape[0], l->x->shape[1], l->r->shape[0] });
}

/* Adds a stage over steps, batch and units; `axis` is the letter of the units. */
static void unit_stage(Layer *l, const char *word, const char *axis, const char *value)
{
    stage(l, OP_TEXT(l->cx, "word[steps,b<B,unit<U] = value", { "word", word }, { "unit", axis }, { "value", value }));
}

/* Adds the stage `word`: start + sum(k < count) term, in lanes. steps: the phrase of the stage's first axis. */
static void lanes_stages(Layer *l, const char *word, const char *steps, int64_t count, const char *start,
                         const char *term)
{
    enum { LANES = 4 };
    const int64_t whole = count / LANES * LANES;
    const char *const stored = text_format(l->cx, "%s_lanes", word), *const first = op_number(l->cx, whole);
    if (whole) {
        stage(l, OP_TEXT(l->cx, "stored[steps,b<B,g<gates,u<U,lane<4] = sum(q<quads) term", { "stored", stored },
                         { "steps", steps }, { "quads", op_number(l->cx, count / LANES) },
                         { "term", OP_TEXT(l->cx, term, { "k", "4*q+lane" }) }));
        start = OP_TEXT(l->cx, "start + (stored[row,0] + stored[row,1] + stored[row,2] + stored[row,3])",
                        { "start", start }, { "stored", stored }, { "row", "t,b,g,u" });
    }
    stage(l, OP_TEXT(l->cx, whole == count ? "word[steps,b<B,g<gates,u<U] = start"
                                           : "word[steps,b<B,g<gates,u<U] = sum(k<rest; start) term",
                     { "word", word }, { "steps", steps }, { "start", start },
                     { "rest", op_number(l->cx, count - whole) },
                     { "term", OP_TEXT(l->cx, term, { "k", text_format(l->cx, "k+%s", first) }) }));
}

/* Adds the stage of the products of the input, which a hybrid layer is given. */
static void input_stage(Layer *l)
{
    if (l->is_hybrid) return;
    if (l->in_lanes) {
        lanes_stages(l, "input", "t<T", tensor_dim(l->x, 2), l->b ? "bias[g*U+u]" : "0", "x[at,b,k] * w[k,g*U+u]");
        return;
    }
    stage(l, l->on_integers ? "input[t<T,b<B,g<gates,u<U] = sum(i) (i32(x[at,b,i]) - zero) * i32(w[i,g*U+u])"
                 : l->b ? "input[t<T,b<B,g<gates,u<U] = sum(i; bias[g*U+u]) x[at,b,i] * w[i,g*U+u]"
                        : "input[t<T,b<B,g<gates,u<U] = sum(i) x[at,b,i] * w[i,g*U+u]");
}

/* Returns the product of the input and w of a gate, with the bias, as a real number. */
static const char *input_at(const Layer *l, const char *gate)
{
    const char *text = l->is_hybrid ? "x[t,b,gate*U+u]"
                       : !l->on_integers ? "input[t,b,gate,u]"
                       : l->b ? "f32(input[t,b,gate,u]) * ws[gate*U+u] + bias[gate*U+u]"
                              : "f32(input[t,b,gate,u]) * ws[gate*U+u]";
    return OP_TEXT(l->cx, text, { "gate", gate });
}

/* Returns the next state: `value` or, beyond the end of the sequence, the previous state. */
static const char *next_state(const Layer *l, const char *value, const char *before)
{
    return OP_TEXT(l->cx, l->lens ? "select(is_step, value, before)" : "value", { "value", value },
                   { "before", before });
}

static void prev_stage(Layer *l)
{
    if (l->h0) stage(l, "prev[steps,b<B,k<U] = (h[t-1,b,k]? : h0[b,k])");
}

/* Returns the previous state of the unit with this letter. */
static const char *before(const Layer *l, const char *unit)
{
    return OP_TEXT(l->cx, l->h0 ? "prev[t,b,unit]" : "(h[t-1,b,unit]? : 0)", { "unit", unit });
}

/* Returns the term of a sum over k: the previous state times r at these indices. */
static const char *product_with(const Layer *l, const char *r)
{
    return OP_TEXT(l->cx, l->h0 ? "prev[t,b,k] * r[index]" : "(h[t-1,b,k]? * r[index] : 0)", { "index", r });
}

/* Adds a 16-bit stage over the units, which is multiplied by r. */
static void stored_stage(Layer *l, const char *word, const char *value)
{
    unit_stage(l, word, "k",
               OP_TEXT(l->cx, "i16(max(-32767, min(32767, nearbyint(32767 * value))))", { "value", value }));
}

/* Adds the stages of the state in 8 bits, minus its zero point, on the grid of its own range at this step. */
static void ranged_stages(Layer *l)
{
    const Phrase words[] = { { "before", before(l, "k") }, { NULL, NULL } };
    stage(l, op_text(l->cx, "low[steps] = min(b<B,k<U; 0) before", words));
    stage(l, op_text(l->cx, "high[steps] = max(b<B,k<U; 0) before", words));
    stage(l, "step[steps] = select(high[t] == low[t], 1, (high[t] - low[t]) / 255)");
    stage(l, "point[steps] = max(0, min(255, nearbyint(-low[t] / step[t])))");
    stage(l, op_text(l->cx, "stored[steps,b<B,k<U] = "
                     "i16(max(0, min(255, nearbyint(before / step[t]) + point[t])) - point[t])", words));
}

/* Adds the stages of the state in 8 bits, each sequence on the grid of its own range at this step, and of the sums. */
static void hybrid_stages(Layer *l)
{
    Tensor *grid[DYNAMIC_OUTPUTS];
    formulas_phrase(&l->f, "row", "t,b");
    formulas_phrase(&l->f, "chosen", "k<U");
    formulas_phrase(&l->f, "of", "prev[t,b,k]");
    if (dynamic_grid_formulas(&l->f, node_int(l->n, "asymmetric", 0) != 0, grid) == DYNAMIC_OUTPUTS)
        stage(l, "stored[rows,k<U] = "
                 "i16(max(-128.0, min(127.0, round(of * inverse[row]) + zero[row])) - zero[row])");
    else stage(l, "stored[rows,k<U] = i8(max(-127.0, min(127.0, round(of * inverse[row]))))");
    stage(l, "terms[rows,g<gates,u<U] = sum(k<U) i32(stored[t,b,k]) * i32(r[k,g*U+u])");
    stage(l, "sums[rows,g<gates,u<U] = x[t,b,g*U+u] + f32(terms[t,b,g,u]) * (scale[row] * rs[g*U+u])");
}

/* Adds the stage of sums of the first `gates` gates. */
static void sums_stage(Layer *l, int gates)
{
    if (l->is_hybrid) {
        hybrid_stages(l);
        return;
    }
    const Phrase words[] = { { "count", op_number(l->cx, gates) }, { "input_g", input_at(l, "g") },
                             { "product", product_with(l, "k,g*U+u") }, { NULL, NULL } };
    if (l->on_integers) {
        if (l->by_range) ranged_stages(l);
        else stored_stage(l, "stored", before(l, "k"));
        stage(l, op_text(l->cx, "terms[steps,b<B,g<count,u<U] = sum(k<U) i32(stored[t,b,k]) * i32(r[k,g*U+u])", words));
        stage(l, op_text(l->cx, l->by_range
            ? "sums[steps,b<B,g<count,u<U] = input_g + f32(terms[t,b,g,u]) * (step[t] * rs[g*U+u])"
            : "sums[steps,b<B,g<count,u<U] = input_g + f32(terms[t,b,g,u]) * rs[g*U+u]", words));
        return;
    }
    if (l->in_lanes)
        lanes_stages(l, "sums", "steps", tensor_dim(l->r, 0), "input[t,b,g,u]", product_with(l, "k,g*U+u"));
    else stage(l, op_text(l->cx, "sums[steps,b<B,g<count,u<U] = sum(k<U; input[t,b,g,u]) product", words));
}

/* Adds the stage of the state after the last step; it is zero for a sequence without steps. */
static Tensor *last_stage(Layer *l, const char *word, const char *of)
{
    const char *has_steps = op_least(l->cx, l->x->shape[0]) >= 1 ? l->lens ? "lens[b] > 0" : NULL
                          : l->lens ? "T > 0 && lens[b] > 0" : "T > 0";
    const char *value = has_steps ? OP_TEXT(l->cx, "select(steps, state[T-1,b,u], 0)", { "steps", has_steps })
                                  : "state[T-1,b,u]";
    return stage(l, OP_TEXT(l->cx, "word[b<B,u<U] = value", { "word", word }, { "state", of }, { "value", value }));
}

/* Defines the promised h, and adds the stages of the outputs. */
static int layer_close(Layer *l, Tensor *promised, const char *value, Tensor **out)
{
    const char *text = OP_TEXT(l->cx, "word[steps,b<B,u<U] = next", { "word", l->reverse || l->lens ? "h" : "y" },
                               { "next", next_state(l, value, before(l, "u")) });
    Tensor *h = formulas_define(&l->f, promised, text);
    if (l->lens) out[0] = stage(l, "y[t<T,b<B,u<U] = select(is_step, h[at,b,u], 0)");
    else out[0] = l->reverse ? stage(l, "y[t<T,b,u] = h[at,b,u]") : h;
    out[1] = last_stage(l, "last", "h");
    return out[0] && out[1] ? 2 : 0;
}

/* ---- The layers -------------------------------------------------------------------------------------------------- */

static int rnn_stages(Layer *l, Tensor **out)
{
    Tensor *h = promise(l, "h");
    input_stage(l);
    prev_stage(l);
    sums_stage(l, 1);
    return layer_close(l, h, activate(l, 0, "sums[t,b,0,u]"), out);
}

static int rnn(Ctx *cx, const Node *n, Tensor **out)
{
    Layer l;
    return layer_open(&l, cx, n) ? rnn_stages(&l, out) : 0;
}

static int rnn_hybrid(Ctx *cx, const Node *n, Tensor **out)
{
    Layer l;
    return hybrid_open(&l, cx, n, "rnn") ? rnn_stages(&l, out) : 0;
}

/* Adds the stages of the product of a 16-bit vector and the candidate's columns of r. */
static void linear_stages(Layer *l, const char *vector, bool has_bias)
{
    unit_stage(l, "linear_terms", "u",
               OP_TEXT(l->cx, "sum(k<U) i32(vector[t,b,k]) * i32(r[k,u+2*U])", { "vector", vector }));
    unit_stage(l, "linear", "u", has_bias ? "f32(linear_terms[t,b,u]) * rs[u+2*U] + rb[u]"
                                          : "f32(linear_terms[t,b,u]) * rs[u+2*U]");
}

static int gru(Ctx *cx, const Node *n, Tensor **out)
{
    Layer l;
    bool linear = node_int(n, "linear_before_reset", 0) != 0;
    if (!layer_open(&l, cx, n)) return 0;
    const Tensor *rb = l.rb;
    Tensor *h = promise(&l, "h");
    input_stage(&l);
    prev_stage(&l);
    sums_stage(&l, 2);
    const char *z = activate(&l, 0, "sums[t,b,0,u]");
    if (linear) {
        if (l.on_integers) linear_stages(&l, "stored", rb != NULL);
        else unit_stage(&l, "linear", "u", OP_TEXT(cx, rb ? "sum(k<U; rb[u]) product" : "sum(k<U) product",
                                                   { "product", product_with(&l, "k,u+2*U") }));
        unit_stage(&l, "candidate", "u",
                   activate(&l, 1, OP_TEXT(cx, "input_2 + reset * linear[t,b,u]", { "input_2", input_at(&l, "2") },
                                           { "reset", activate(&l, 0, "sums[t,b,1,u]") })));
    } else {
        unit_stage(&l, "reset", "k", OP_TEXT(cx, "gate * before", { "gate", activate(&l, 0, "sums[t,b,1,k]") },
                                             { "before", before(&l, "k") }));
        if (l.on_integers) {
            stored_stage(&l, "stored_reset", "reset[t,b,k]");
            linear_stages(&l, "stored_reset", rb != NULL);
        } else unit_stage(&l, "linear", "u", rb ? "sum(k; rb[u]) reset[t,b,k] * r[k,u+2*U]"
                                                : "sum(k) reset[t,b,k] * r[k,u+2*U]");
        unit_stage(&l, "candidate", "u", activate(&l, 1, OP_TEXT(cx, "input_2 + linear[t,b,u]",
                                                                 { "input_2", input_at(&l, "2") })));
    }
    unit_stage(&l, "update", "u", z);
    return layer_close(&l, h, OP_TEXT(cx, "(1 - update[t,b,u]) * candidate[t,b,u] + update[t,b,u] * before",
                                      { "before", before(&l, "u") }), out);
}

/* Returns the sum of gate g of i o f c, with the peephole on `state`. */
static const char *lstm_sum(const Layer *l, int g, const char *state)
{
    const bool peeps = l->p && g < 3;
    return OP_TEXT(l->cx, peeps ? "sums[t,b,g,u] + p[u + g*U] * state" : "sums[t,b,g,u]", { "g", op_number(l->cx, g) },
                   { "state", state });
}

static int lstm_stages(Layer *l, Tensor **out)
{
    Ctx *cx = l->cx;
    Tensor *h = promise(l, "h"), *c = promise(l, "c");
    input_stage(l);
    prev_stage(l);
    sums_stage(l, 4);
    const char *before = l->c0 ? "(c[t-1,b,u]? : c0[b,u])" : "(c[t-1,b,u]? : 0)";
    const char *in = activate(l, 0, lstm_sum(l, 0, before));
    const char *forget = node_int(l->n, "input_forget", 0) ? OP_TEXT(cx, "(1 - in)", { "in", in })
                                                           : activate(l, 0, lstm_sum(l, 2, before));
    const char *cell = OP_TEXT(cx, node_real(l->n, "cell_clip", 0) > 0
                                       ? "min(max(forget * before + in * new, -cell_clip), cell_clip)"
                                       : "forget * before + in * new", { "forget", forget }, { "before", before },
                               { "in", in }, { "new", activate(l, 1, lstm_sum(l, 3, before)) });
    formulas_define(&l->f, c, OP_TEXT(cx, "cell[steps,b<B,u<U] = next", { "next", next_state(l, cell, before) }));
    const char *value = OP_TEXT(cx, "gate * squashed", { "gate", activate(l, 0, lstm_sum(l, 1, "c[t,b,u]")) },
                                { "squashed", activate_as(l, 2, "c[t,b,u]") });
    if (!layer_close(l, h, value, out)) return 0;
    out[2] = last_stage(l, "last_cell", "c");
    return out[2] ? 3 : 0;
}

static int lstm(Ctx *cx, const Node *n, Tensor **out)
{
    Layer l;
    return layer_open(&l, cx, n) ? lstm_stages(&l, out) : 0;
}

static int lstm_hybrid(Ctx *cx, const Node *n, Tensor **out)
{
    Layer l;
    return hybrid_open(&l, cx, n, "lstm") ? lstm_stages(&l, out) : 0;
}

/* ---- On integers ------------------------------------------------------------------------------------------------- */

/* Returns the weights in `bits` bits, symmetric around 0, with a scale for each column. The scales are not rounded to
 * f32 before they are multiplied by the step of the input: `factors` rounds the product once. */
static Tensor *integer_weights(Ctx *cx, const Tensor *w, int bits, double *scale)
{
    const int greatest = (1 << ((bits ? bits : 8) - 1)) - 1;
    const int64_t rows = tensor_dim(w, 0), columns = tensor_dim(w, 1), shape[] = { rows, columns };
    const float *v = w->data, *most = tensor_magnitudes(cx, w, columns);
    int8_t *q = NEW_ARRAY(cx->arena, int8_t, rows * columns);
    for (int64_t c = 0; c < columns; c++) {
        scale[c] = most[c] > 0 ? (double)most[c] / greatest : 1;
        for (int64_t r = 0; r < rows; r++)
            q[r * columns + c] = (int8_t)nearbyint((double)v[r * columns + c] / scale[c]);
    }
    return tensor_constant(cx, w->name, I8, 2, shape, q);
}

static bool has_usual_activations(const Node *n)
{
    const char *usual = recurrent_of(n->op->name)->activations;
    return strcmp(node_text(n, "activations", usual), usual) == 0;
}

/* Returns true if all elements are in [-1, 1] and none depends on the state of an earlier run: constants, results of
 * functions with a fixed grid, and states of layers that begin with such a state. */
static bool is_bounded_state(const Tensor *h)
{
    const Node *n = h->producer;
    for (int64_t i = 0; tensor_is_constant(h) && i < tensor_elems(h); i++)
        if (!(fabs(dtype_load(h->type, h->data, i).f) <= 1)) return false;
    if (tensor_is_constant(h)) return true;
    if (!n || n->kind != NODE_CALL) return false;
    const bool is_rounded = n->op->quantization.grid == GRID_SIMULATE;
    if (is_rounded || (n->op->quantization.moves_elements && n->in_count == 1)) return is_bounded_state(n->in[0]);
    if (n->op->quantization.output_step > 0) return true;
    const bool is_state = n->op->quantization.with_integer_weights && (h == n->out[0] || h == n->out[1]);
    return is_state && has_usual_activations(n) && (!operand(n, 4) || is_bounded_state(operand(n, 4)));
}

/* Returns the reason why the layer stays in floats, or NULL. The state must stay in [-1, 1], and sums of products must
 * fit 32 bits. If the first state comes from an earlier run, rounding errors add up from run to run, so the layer is
 * computed on integers only on request. The state of such a layer is then assumed to be in [-1, 1]; other values
 * saturate. */
static const char *why_real_weights(Ctx *cx, const Node *n, const int *bits)
{
    enum { MOST = INT32_MAX / (INT16_MAX * 127) };
    const Tensor *h0 = operand(n, 4);
    if (!tensor_is_constant(n->in[1]) || !tensor_is_constant(n->in[2])) return "its weights are computed";
    if (n->in[0]->type != F32) return text_format(cx, "its type is %s, not f32", dtype_info(n->in[0]->type)->spelling);
    if (!has_usual_activations(n))
        return text_format(cx, "its activations are %s; integers require %s", node_text(n, "activations", ""),
                           recurrent_of(n->op->name)->activations);
    if (h0 && tensor_is_constant(h0) && !is_bounded_state(h0)) return "its first state is beyond -1 to 1";
    if (h0 && !is_bounded_state(h0) && !bits[0] && !bits[1])
        return "it continues from a given state; on integers if an annotation of its weights has bits=8";
    for (int i = 1; i < 3; i++)
        if (tensor_dim(n->in[i], 0) > MOST)
            return text_format(cx, "it has %lld %s; on integers, use up to %d", (long long)tensor_dim(n->in[i], 0),
                               i == 1 ? "inputs" : "units", (int)MOST);
    return NULL;
}

/* Returns `scale` times `unit` as a constant. */
static Tensor *factors(Ctx *cx, const char *name, const double *scale, double unit, int64_t count)
{
    float *v = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) v[i] = (float)(scale[i] * unit);
    return tensor_constant(cx, name, F32, 1, &count, v);
}

/* Returns the layer with integer weights, a scale for each column, and the stored input. */
static Node *with_integer_weights(Ctx *cx, const Node *n, Tensor *stored, double step, int64_t zero, const int *bits)
{
    if (why_real_weights(cx, n, bits)) return NULL;
    const Recurrent *cell = recurrent_of(n->op->name);
    const int64_t columns = tensor_dim(n->in[1], 1);
    double *w = NEW_ARRAY(cx->arena, double, columns), *r = NEW_ARRAY(cx->arena, double, columns);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, cell->ws + 2);
    for (int i = 0; i < n->in_count; i++) in[i] = n->in[i];
    in[0] = stored;
    in[1] = integer_weights(cx, n->in[1], bits[0], w);
    in[2] = integer_weights(cx, n->in[2], bits[1], r);
    in[cell->ws] = factors(cx, "ws", w, step, columns);
    in[cell->ws + 1] = factors(cx, "rs", r, 1.0 / INT16_MAX, columns);
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count + 1);
    int count = 0;
    for (int i = 0; i < n->attr_count; i++)
        if (strcmp(n->attr[i].name, "x_zero") != 0) attr[count++] = n->attr[i];
    attr[count++] = (Attr){ .name = "x_zero", .kind = ATTR_INT, .integer = zero, .real = (double)zero };
    return op_call(cx, n->op, n->name, in, cell->ws + 2, attr, count);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

#define COMMON_ROWS(standard) \
    { "activations", ATTR_TEXT, "of the gates, the candidate and the cell: names separated by commas", standard }, \
    { "alpha", ATTR_REALS, "one for each activation", NULL }, { "beta", ATTR_REALS, "one for each activation", NULL }, \
    { "clip", ATTR_REAL, "sums of the gates are clamped to [-clip, clip]; 0: they are not clamped", "0" }, \
    { "reverse", ATTR_INT, "1: from the last step to the first", "0" }, \
    { "x_zero", ATTR_INT, "the zero point of x in i8", "0" }

static const AttrRow rnn_attrs[] = {
    COMMON_ROWS("tanh"), { "in_lanes", ATTR_INT, "1: products are summed in four lanes, as TensorFlow Lite does", "0" },
    { 0 }
};
static const AttrRow gru_attrs[] = {
    COMMON_ROWS("sigmoid,tanh"), { "linear_before_reset", ATTR_INT, "1: the reset gate multiplies the product with r",
    "0" }, { 0 }
};
static const AttrRow lstm_attrs[] = {
    COMMON_ROWS("sigmoid,tanh,tanh"), { "input_forget", ATTR_INT, "1: the forget gate is 1 less the input gate", "0" },
    { "cell_clip", ATTR_REAL, "the cell is clamped to [-cell_clip, cell_clip]; 0 or absent: it is not clamped", NULL },
    { "by_range", ATTR_INT, "1: the state in 8 bits of its range at each step, 16-bit weights, rs without 1/32767",
      "0" },
    { 0 }
};

#define ASYMMETRIC { "asymmetric", ATTR_INT, "1: the grid of the state has a zero point", "0" }

static const AttrRow rnn_hybrid_attrs[] = { ASYMMETRIC, { "relu", ATTR_INT, "1: relu instead of tanh", "0" }, { 0 } };
static const AttrRow lstm_hybrid_attrs[] = {
    ASYMMETRIC,
    { "cell_clip", ATTR_REAL, "the cell is clamped to [-cell_clip, cell_clip]; 0 or absent: it is not clamped", NULL },
    { 0 }
};

static const OpCase rnn_cases[] = {
    { "", "f32[5][2][3] f32[3][4] f32[4][4]", "f32[5][2][4]", NULL },
    { "reverse=1 activations=softsign clip=0.5", "f32[4][1][3] f32[3][2] f32[2][2] f32[2] f32[1][2]", "f32[4][1][2]",
      NULL },
    { "", "f32[6][2][3] f32[3][1] f32[1][1]", "f32[6][2][1]", NULL },
    { "in_lanes=1", "f32[3][2][9] f32[9][6] f32[6][6] f32[6] f32[2][6]", "f32[3][2][6]", NULL },
    { "in_lanes=1 activations=relu", "f32[3][1][4] f32[4][3] f32[3][3]", "f32[3][1][3]", NULL },
    { "reverse=1", "f32[5][3][3] f32[3][4] f32[4][4] f32[4] f32[3][4] i32[3]={5,2,0}", "f32[5][3][4]", NULL },
    { "", "f32[5][3][3] f32[3][4] f32[4][4] f32[4] f32[3][4] i32[3]={1,-2,9}", "f32[5][3][4]", NULL },
    { "", "f32[5][3][3] f32[3][4] f32[4][4] f32[4] f32[3][4] i32[2]", NULL,
      "lens is i32[2] and x [5][3][3]; use i32[batch]" },
    { "", "f32[5][3][3] f32[3][4] f32[4][4] f32[4] f32[3][4] f32[3]", NULL, "lens is f32[3]" },
    { "", "f32[5][3] f32[3][4] f32[4][4]", NULL, "[steps][batch][inputs]" },
    { "", "f32[5][2][3] f32[3][8] f32[4][4]", NULL, "w is [3][8]; with x [5][2][3] and r [4][4] use [3][4]" },
    { "", "i8[5][2][3] i8[3][4] i8[4][4] f32[4] f32[2][4] i32[2]={5,2} f32[4] f32[4]", "f32[5][2][4]", NULL },
    { "activations=tan", "f32[5][2][3] f32[3][4] f32[4][4]", NULL, "'activations' has \"tan\"; use one of affine," },
    { "activations=tanh,tanh", "f32[5][2][3] f32[3][4] f32[4][4]", NULL, "1 of each, or none of" },
    { 0 }
};
static const OpCase gru_cases[] = {
    { "", "f32[5][2][3] f32[3][12] f32[4][12] f32[12]", "f32[5][2][4]", NULL },
    { "", "f32[4][1][1] f32[1][3] f32[1][3]", "f32[4][1][1]", NULL },
    { "linear_before_reset=1 reverse=1", "f32[3][1][3] f32[3][6] f32[2][6] f32[6] f32[1][2] f32[2]", "f32[3][1][2]",
      NULL },
    { "", "f32[4][2][3] f32[3][6] f32[2][6] f32[6] f32[2][2] f32[2] i32[2]={3,4}", "f32[4][2][2]", NULL },
    { "", "f32[5][2][3] f32[3][12] f32[4][8]", NULL, "r is [4][8]" },
    { "x_zero=3", "i8[5][2][3] i8[3][12] i8[4][12] f32[12] f32[2][4] f32[4] i32[2]={5,3} f32[12] f32[12]",
      "f32[5][2][4]", NULL },
    { "linear_before_reset=1 reverse=1",
      "i8[3][1][3] i8[3][6] i8[2][6] f32[6] f32[1][2] f32[2] i32[1]={2} f32[6] f32[6]", "f32[3][1][2]", NULL },
    { "", "i16[5][2][3] i8[3][12] i8[4][12] f32[12] f32[2][4] f32[4] i32[2]={5,3} f32[12] f32[12]", "f32[5][2][4]",
      NULL },
    { "", "i8[5][2][3] i8[3][12] i8[4][12] f32[12]", NULL, "x is i8; use the scales ws and rs" },
    { "", "i8[5][2][3] i8[3][12] f32[4][12] f32[12]", NULL, "input 2 is f32" },
    { 0 }
};
static const OpCase lstm_cases[] = {
    { "", "f32[5][2][3] f32[3][16] f32[4][16] f32[16]", "f32[5][2][4]", NULL },
    { "", "f32[5][1][1] f32[1][4] f32[1][4]", "f32[5][1][1]", NULL },
    { "", "f32[6][2][3] f32[3][4] f32[1][4] f32[4]", "f32[6][2][1]", NULL },
    { "reverse=1 input_forget=1 clip=1", "f32[3][2][3] f32[3][8] f32[2][8] f32[8] f32[2][2] f32[2][2] f32[6]",
      "f32[3][2][2]", NULL },
    { "", "f32[1][1][3] f32[3][8] f32[2][8] f32[8] f32[1][2] f32[1][2]", "f32[1][1][2]", NULL },
    { "reverse=1", "f32[4][3][3] f32[3][8] f32[2][8] f32[8] f32[3][2] f32[3][2] f32[6] i32[3]={1,4,2}", "f32[4][3][2]",
      NULL },
    { "x_zero=-7",
      "i8[4][3][3] i8[3][8] i8[2][8] f32[8] f32[3][2] f32[3][2] f32[6] i32[3]={1,4,2} f32[8] f32[8]", "f32[4][3][2]",
      NULL },
    { "by_range=1", "i16[4][3][3] i8[3][8] i8[2][8] f32[8] f32[3][2] f32[3][2] f32[6] i32[3]={1,4,2} f32[8] f32[8]",
      "f32[4][3][2]", NULL },
    { "", "f32[0][1][3] f32[3][8] f32[2][8]", NULL, "x is [0][1][3]; use one step or more" },
    { "", "f32[3][2][3] f32[3][8] f32[2][8] f32[8] f32[2][2] f32[2][3]", NULL, "c0 is [2][3]" },
    { 0 }
};

static const OpCase rnn_hybrid_cases[] = {
    { "", "f32[5][2][4] i8[4][4] f32[4] f32[2][4]", "f32[5][2][4]", NULL },
    { "asymmetric=1 relu=1", "f32[3][1][2] i8[2][2] f32[2] f32[1][2]", "f32[3][1][2]", NULL },
    { "", "f32[1][2][4] i8[4][4] f32[4] f32[2][4]", "f32[1][2][4]", NULL },
    { "", "f32[5][2][4] f32[4][4] f32[4] f32[2][4]", NULL, "input 1 is f32; use i8 for r" },
    { "", "f32[5][2][3] i8[4][4] f32[4] f32[2][4]", NULL, "r [4][4] use [5][2][4]" },
    { "", "f32[5][2] i8[4][4] f32[4] f32[2][4]", NULL, "[steps][batch][gates * units]" },
    { 0 }
};
static const OpCase lstm_hybrid_cases[] = {
    { "", "f32[5][2][12] i8[3][12] f32[12] f32[2][3] f32[2][3]", "f32[5][2][3]", NULL },
    { "asymmetric=1 cell_clip=0.5", "f32[4][1][8] i8[2][8] f32[8] f32[1][2] f32[1][2] f32[6]", "f32[4][1][2]", NULL },
    { "asymmetric=1", "f32[1][2][4] i8[1][4] f32[4] f32[2][1] f32[2][1]", "f32[1][2][1]", NULL },
    { "", "f32[5][2][12] i8[3][12] f32[12] f32[2][3] f32[2][4]", NULL, "c0 is [2][4]" },
    { 0 }
};

#define LAYER(fn, text, of_level, least, most, roles) \
    .name = #fn, .summary = text, .level = of_level, .least_inputs = least, .most_inputs = most, .inputs = roles, \
      .attr = fn##_attrs, .meaning.compute = fn, .fusion.pattern = PATTERN_OPAQUE, .cases = fn##_cases
#define HYBRID(layer, least, most, roles) \
    { LAYER(layer##_hybrid, #layer " of given products, the state in 8 bits of its range", 11, least, most, roles), \
      .gradient.refusal = "which rounds its state to 8 bits at each step; " #layer " in floats is accepted " \
                          "(of a TFLite network: --hybrid float)" }

const Op ops_recurrent[] = {
    { LAYER(rnn, "h[t] = f(x[t] w + b + h[t-1] r): simple recurrent layer", 9, 3, 8, "x w r b h0 lens ws rs") },
    { LAYER(gru, "h[t] = (1 - z) n + z h[t-1], z and n of x[t] and h[t-1]: gated recurrent unit", 9, 3, 9,
            "x w r b h0 rb lens ws rs"),
      .quantization.with_integer_weights = with_integer_weights,
      .quantization.why_real_weights = why_real_weights },
    { LAYER(lstm, "c[t] = f c[t-1] + i g, h[t] = o tanh(c[t]), i o f g of x[t] and h[t-1]: long short-term memory", 9,
            3, 10, "x w r b h0 c0 p lens ws rs"),
      .quantization.with_integer_weights = with_integer_weights,
      .quantization.why_real_weights = why_real_weights },
    HYBRID(rnn, 4, 4, "x r rs h0"),
    HYBRID(lstm, 5, 6, "x r rs h0 c0 p"),
    { 0 }
};
