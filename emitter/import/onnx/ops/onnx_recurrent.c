/* SPDX-License-Identifier: MIT */
/* Translates RNN, GRU and LSTM, with one IR layer per direction. ONNX has x [T][B][I], w [D][G*U][I], r [D][G*U][U], b
 * [D][2*G*U] (of w, then of r), p [D][3*U], states [D][B][U], y [T][D][B][U]; with layout=1 batches come first. The IR
 * layer has transposed weights and one bias, the sum of both biases. As an exception, a GRU that resets after the
 * product keeps the second bias of the new value separate. Activations are listed for all directions in sequence; each
 * consumes its parameters from activation_alpha and activation_beta in the same order. */
#include <string.h>

#include "graph/dag/recurrent.h"
#include "import/onnx/ops/onnx_rows.h"
#include "support/text.h"

/* The IR operators, such as "sigmoid,tanh,tanh", and their parameters. */
typedef struct ActivationAttrs {
    const char *names;
    double alpha[MOST_RECURRENT_ACTIVATIONS], beta[MOST_RECURRENT_ACTIVATIONS];
} ActivationAttrs;

/* The factors of the com.microsoft layer on integers: of its sums with w and with r, per column. */
typedef struct Factors { Tensor *w, *r; } Factors;

typedef struct Layers {
    OnnxCall *c;
    const Recurrent *kind;
    int directions;
    ActivationAttrs of[2];                   /* of each direction */
    int64_t steps, batch, units;
    bool batch_first;
    Tensor *lengths;                         /* the lengths of the sequences, or NULL if all have all steps */
    const Factors *factors;                  /* [directions] the factors, or NULL if the layer is real */
} Layers;

/* ---- Activations ------------------------------------------------------------------------------------------------- */

static bool same_letters(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 32) != (*b | 32)) return false;
    return !*a && !*b;
}

static const RecurrentActivation *find_activation(OnnxCall *c, const char *word)
{
    const RecurrentActivation *f;
    Text list = text_new(c->cx);
    for (int i = 0; (f = recurrent_activation(i)); i++) {
        if (same_letters(f->onnx, word)) return f;
        text_printf(&list, "%s%s", i ? ", " : "", f->onnx);
    }
    onnx_refuse(c, "the activation \"%s\" is not known; use one of %s", word, text_string(&list));
    return NULL;
}

static double next_real(const OnnxAttr *list, int *next, double otherwise)
{
    return list && *next < list->real_count ? list->reals[(*next)++] : otherwise;
}

/* Reads the activations of each direction. */
static bool read_activations(Layers *l)
{
    OnnxCall *c = l->c;
    const OnnxAttr *list = onnx_attr(c, "activations"), *alphas = onnx_attr(c, "activation_alpha"),
                   *betas = onnx_attr(c, "activation_beta");
    const int count = l->kind->activation_count, expected = count * l->directions;
    int alpha = 0, beta = 0;
    if (list && list->text_count != expected) {
        onnx_refuse(c, "there are %d activations; use %d activations", list->text_count, expected);
        return false;
    }
    for (int d = 0; d < l->directions; d++) {
        Text names = text_new(c->cx);
        for (int i = 0; list && i < count; i++) {
            const RecurrentActivation *f = find_activation(c, list->texts[d * count + i]);
            if (!f) return false;
            text_printf(&names, "%s%s", i ? "," : "", f->name);
            if (f->has_alpha) l->of[d].alpha[i] = next_real(alphas, &alpha, f->alpha);
            if (f->has_beta) l->of[d].beta[i] = next_real(betas, &beta, f->beta);
        }
        l->of[d].names = list ? text_string(&names) : l->kind->activations;
    }
    return true;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

/* Returns direction d of a tensor whose dimension `axis` is the directions, without that dimension. */
static Tensor *of_direction(Layers *l, Tensor *t, int axis, int d)
{
    if (!t) return NULL;
    if (l->directions > 1)
        t = onnx_call(l->c, "slice", t, attr_list("axes", axis), attr_list("begin", d), attr_list("end", d + 1));
    return onnx_call(l->c, "squeeze", t, attr_list("axes", axis));
}

static Tensor *part(Layers *l, Tensor *t, int64_t begin, int64_t end)
{
    return onnx_call(l->c, "slice", t, attr_list("axes", 0), attr_list("begin", begin), attr_list("end", end));
}

static bool is_zero(const Tensor *t)
{
    const Node *producer = t->producer;
    if (producer && producer->kind == NODE_CALL &&
        producer->op->layout.repeats) return is_zero(producer->in[0]);   /* expands a scalar to an open shape */
    bool zero = tensor_is_constant(t);
    for (int64_t i = 0; zero && i < tensor_elems(t); i++) zero = dtype_load(t->type, t->data, i).f == 0;
    return zero;
}

/* Returns NULL for zeros, the default initial state. */
static Tensor *state_of(Layers *l, int input, int d)
{
    Tensor *t = onnx_in(l->c, input);
    return t && is_zero(t) ? NULL : of_direction(l, t, l->batch_first ? 1 : 0, d);
}

/* Adds the biases of w and r. With `keeps`, *rest becomes the part of the second bias that must stay separate. */
static Tensor *bias_of(Layers *l, int d, bool keeps, Tensor **rest)
{
    OnnxCall *c = l->c;
    int64_t all = l->kind->gates * l->units, reset = keeps ? (l->kind->gates - 1) * l->units : all;
    Tensor *b = of_direction(l, onnx_in(c, 3), 0, d);
    if (!b) return NULL;
    Tensor *last_part = part(l, b, all, all + reset);
    Tensor *sum = onnx_call2(c, "add", part(l, b, 0, reset), last_part);
    if (!keeps) return sum;
    *rest = part(l, b, all + reset, 2 * all);
    Tensor *both[] = { sum, part(l, b, reset, all) };
    return call(c->cx, "concat", c->name, both, 2, ATTRS(attr_int("axis", 0)));
}

/* The accepted shape of an operand; a dimension of -1 is arbitrary. */
typedef struct Expected { int rank; int64_t dim[3]; } Expected;

static bool has_dims(const Tensor *t, const Expected *e)
{
    bool same = t->rank == e->rank;
    for (int d = 0; same && d < e->rank; d++) same = e->dim[d] < 0 || tensor_dim(t, d) == e->dim[d];
    return same;
}

static const char *expected_text(Ctx *cx, const Expected *e)
{
    Text t = text_new(cx);
    for (int d = 0; d < e->rank; d++)
        if (e->dim[d] < 0) text_add(&t, "[..]");
        else text_printf(&t, "[%lld]", (long long)e->dim[d]);
    return text_string(&t);
}

static bool check_operands(Layers *l)
{
    OnnxCall *c = l->c;
    int64_t all = l->kind->gates * l->units, first = l->batch_first ? l->batch : l->directions, second = l->batch_first
        ? l->directions : l->batch;
    static const char *const what[] = { "x", "w", "r", "b", "sequence_lens", "initial_h", "initial_c", "p" };
    const Expected expected[] = {
        [1] = { 3, { l->directions, all, -1 } },
        [2] = { 3, { l->directions, all, l->units } },
        [3] = { 2, { l->directions, 2 * all } },
        [4] = { 1, { l->batch } },
        [5] = { 3, { first, second, l->units } },
        [6] = { 3, { first, second, l->units } },
        [7] = { 2, { l->directions, 3 * l->units } },
    };
    for (int i = 1; i < 8; i++) {
        const Tensor *t = onnx_in(c, i);
        if (!t || has_dims(t, &expected[i])) continue;
        onnx_refuse(c, "%s is %s; use %s", what[i], tensor_shape_text(c->cx, t),
                    expected_text(c->cx, &expected[i]));
        return false;
    }
    return true;
}

/* Returns the lengths of the sequences, or NULL if all sequences have all steps. */
static Tensor *lengths(Layers *l)
{
    Tensor *t = onnx_in(l->c, 4);
    bool full = !t || tensor_is_constant(t);
    for (int64_t i = 0; t && full && i < tensor_elems(t); i++) full = dtype_load(t->type, t->data, i).i == l->steps;
    return full ? NULL : onnx_cast(l->c, t, I32);
}

static bool layers_read(Layers *l, OnnxCall *c, const Recurrent *kind)
{
    *l = (Layers){ .c = c, .kind = kind };
    const char *direction = onnx_text(c, "direction", "forward");
    if (!onnx_requires(c, 3)) return false;
    const Tensor *x = c->in[0], *r = c->in[2];
    if (x->rank != 3 || r->rank != 3) {
        onnx_refuse(c, "x is %s and r %s; use three dimensions", tensor_shape_text(c->cx, x),
                    tensor_shape_text(c->cx, r));
        return false;
    }
    l->directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
    if (l->directions == 1 && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0) {
        onnx_refuse(c, "the direction is \"%s\"; use forward, reverse or bidirectional", direction);
        return false;
    }
    l->batch_first = onnx_int(c, "layout", 0) != 0;
    l->steps = tensor_dim(x, l->batch_first);
    l->batch = tensor_dim(x, !l->batch_first);
    l->units = tensor_dim(r, 2);
    if (onnx_int(c, "hidden_size", l->units) != l->units) {
        onnx_refuse(c, "hidden_size is %lld, but r is %s; use the last dimension of r",
                    (long long)onnx_int(c, "hidden_size", 0), tensor_shape_text(c->cx, r));
        return false;
    }
    if (!check_operands(l)) return false;
    if (onnx_in(c, 4) && !dtype_is_integer(c->in[4]->type))
        onnx_refuse(c, "sequence_lens are %s; use integers", dtype_info(c->in[4]->type)->spelling);
    l->lengths = lengths(l);
    return !ctx_failed(c->cx) && read_activations(l);
}

/* ---- Calls and results ------------------------------------------------------------------------------------------- */

/* Concatenates the results of the directions, [T][B][U] or [B][U], along a new dimension. */
static Tensor *stack_directions(Layers *l, Tensor *const *t, int axis)
{
    OnnxCall *c = l->c;
    Tensor *wide[2];
    for (int d = 0; d < l->directions; d++) {
        if (!(wide[d] = onnx_call(c, "unsqueeze", t[d], attr_list("axes", axis)))) return NULL;
    }
    if (l->directions == 1) return wide[0];
    return call(c->cx, "concat", c->name, wide, l->directions, ATTRS(attr_int("axis", axis)));
}

static void results(Layers *l, Node *const *layer)
{
    OnnxCall *c = l->c;
    for (int i = 0; i < layer[0]->out_count; i++) {
        Tensor *each[2] = { layer[0]->out[i], l->directions > 1 ? layer[1]->out[i] : NULL };
        if (i == 0 && l->batch_first)
            for (int d = 0; d < l->directions; d++)
                each[d] = onnx_call(c, "transpose", each[d], attr_list("perm", 1, 0, 2));
        c->out[i] = stack_directions(l, each, i == 0 && l->batch_first ? 2 : l->batch_first || i == 0 ? 1 : 0);
    }
}

static bool has_flag(const Layers *l) { return l->kind->flag && onnx_int(l->c, l->kind->flag, 0) != 0; }

/* Creates the call of one direction. `call` drops absent inputs at the end. */
static Node *layer_call(Layers *l, Tensor *x, int d)
{
    OnnxCall *c = l->c;
    const Recurrent *k = l->kind;
    bool reverse = d == 1 || strcmp(onnx_text(c, "direction", "forward"), "reverse") == 0;
    Tensor *rest = NULL, *in[10] = { x };
    for (int i = 1; i < 3; i++)
        in[i] = onnx_call(c, "transpose", of_direction(l, c->in[i], 0, d), attr_list("perm", 1, 0));
    in[RECURRENT_B] = bias_of(l, d, k->rb && has_flag(l), &rest);
    in[RECURRENT_H0] = state_of(l, 5, d);
    if (k->rb) in[k->rb] = rest;
    if (k->c0) in[k->c0] = state_of(l, 6, d);
    if (k->p) in[k->p] = of_direction(l, onnx_in(c, 7), 0, d);
    in[k->lens] = l->lengths;
    if (l->factors) in[k->ws] = l->factors[d].w, in[k->ws + 1] = l->factors[d].r;
    const ActivationAttrs *of = &l->of[d];
    Tensor *y = call(c->cx, k->op, c->name, in, l->factors ? k->ws + 2 : k->ws,
                     ATTRS(attr_word("activations", of->names), attr_reals("alpha", of->alpha, k->activation_count),
                           attr_reals("beta", of->beta, k->activation_count), attr_flag("reverse", reverse),
                           attr_real("clip", onnx_real(c, "clip", 0)),
                           attr_if(l->factors, attr_flag("by_range", true)),
                           attr_if(k->flag, attr_flag(k->flag, has_flag(l)))));
    return y ? y->producer : NULL;
}

static void layers(OnnxCall *c, const Recurrent *kind)
{
    Layers l;
    Node *layer[2];
    if (!layers_read(&l, c, kind)) return;
    Tensor *x = l.batch_first ? onnx_call(c, "transpose", c->in[0], attr_list("perm", 1, 0, 2)) : c->in[0];
    for (int d = 0; d < l.directions; d++)
        if (!(layer[d] = layer_call(&l, x, d))) return;
    results(&l, layer);
}

static void rnn(OnnxCall *c) { layers(c, recurrent_of("rnn")); }
static void gru(OnnxCall *c) { layers(c, recurrent_of("gru")); }
static void lstm(OnnxCall *c) { layers(c, recurrent_of("lstm")); }

/* ---- On integers ------------------------------------------------------------------------------------------------- */

static bool is_zero_point(const Tensor *t)
{
    for (int64_t i = 0; i < tensor_elems(t); i++)
        if (dtype_load(t->type, t->data, i).i != 0) return false;
    return true;
}

/* Returns the weights [d][i][4*u] minus their zero points, in the layout of the real layer: [d][4*u][i]. */
static Tensor *centred_weights(OnnxCall *c, int input, int zero)
{
    Tensor *w = c->in[input], *point = onnx_in(c, zero);
    if (!tensor_is_constant(w) || (w->type != I8 && w->type != U8) || w->rank != 3) {
        onnx_unsupported(c, "input %d is %s of %s; use constant weights [directions][n][gates * units] of 8 bits",
                         input, tensor_shape_text(c->cx, w), dtype_info(w->type)->spelling);
        return NULL;
    }
    if (point && point->rank == 2) point = onnx_call(c, "unsqueeze", point, attr_list("axes", 1));
    else if (point) point = onnx_append_ones(c, point, 2);
    if (point && (!tensor_is_constant(point) || !is_zero_point(point)))
        w = onnx_call(c, "cast", onnx_call2(c, "centered", w, point), attr_type("to", I16));
    else if (w->type == U8) w = onnx_call(c, "cast", w, attr_type("to", I16));
    return onnx_call(c, "transpose", w, attr_list("perm", 0, 2, 1));
}

/* Returns the factors of direction d: the scale, or the scales of the columns, times `unit` if it is not NULL. */
static Tensor *factors_of(OnnxCall *c, Tensor *scale, Tensor *unit, int d, int64_t columns)
{
    Tensor *own = onnx_call(c, "slice", scale, attr_list("axes", 0), attr_list("begin", d), attr_list("end", d + 1));
    own = onnx_reshape(c, own, (int64_t[]){ -1 }, 1);
    if (own && unit) own = onnx_call2(c, "mul", own, unit);
    const bool is_one = own && expr_is_int(own->shape[0], 1);
    return is_one ? onnx_expand(c, own, (const Expr *[]){ expr_index(c->cx, columns) }, 1) : own;
}

/* The input is quantized to the range of all of its elements; the state is quantized to its own range at each step. */
static void dynamic_lstm(OnnxCall *c)
{
    if (!onnx_requires(c, 3) || !onnx_in(c, 8) || !onnx_in(c, 10)) {
        if (!ctx_failed(c->cx)) onnx_refuse(c, "a scale of w or r is missing; pass both, inputs 8 and 10");
        return;
    }
    Layers l;
    Factors factors[2];
    Node *layer[2];
    OnnxCall *whole = arena_copy(c->cx->arena, c, sizeof *c);
    Tensor *scale = NULL, *x = onnx_quantized_by_range(c, c->in[0], &scale);
    whole->in = NEW_ARRAY(c->cx->arena, Tensor *, 8);
    whole->in_count = c->in_count < 8 ? c->in_count : 8;
    for (int i = 0; i < whole->in_count; i++) whole->in[i] = c->in[i];
    whole->in[0] = x;
    whole->in[1] = centred_weights(c, 1, 9);
    whole->in[2] = centred_weights(c, 2, 11);
    if (ctx_failed(c->cx) || !layers_read(&l, whole, recurrent_of("lstm"))) return;
    for (int d = 0; d < l.directions; d++) {
        Tensor *input_factors = factors_of(c, c->in[8], scale, d, 4 * l.units);
        factors[d] = (Factors){ input_factors, factors_of(c, c->in[10], NULL, d, 4 * l.units) };
    }
    l.factors = factors;
    for (int d = 0; d < l.directions; d++)
        if (!(layer[d] = layer_call(&l, x, d))) return;
    results(&l, layer);
    for (int i = 0; i < 3; i++) c->out[i] = whole->out[i];
}

#define COMMON "activation_alpha activation_beta activations clip direction hidden_size layout"
const OnnxOp onnx_rows_recurrent[] = {
    { ONNX_ROW("GRU", 6, COMMON " linear_before_reset", gru), .open.keeps = KEEPS_SEQUENCE },
    { ONNX_ROW("LSTM", 8, COMMON " input_forget", lstm), .open.keeps = KEEPS_SEQUENCE },
    { ONNX_ROW("RNN", 6, COMMON, rnn), .open.keeps = KEEPS_SEQUENCE },
    { ONNX_ROW("com.microsoft.DynamicQuantizeLSTM", 12, COMMON " input_forget", dynamic_lstm) },
    { 0 }
};
