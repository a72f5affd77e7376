/* SPDX-License-Identifier: MIT */
/* Translates recurrent layers. The state is two variable tensors, which the layer reads before its first step and
 * writes after its last one. */
#include "import/tflite/ops/tflite_recurrent.h"

#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_RNN = 7, OPTIONS_LSTM = 14, OPTIONS_SEQUENCE_RNN = 31, OPTIONS_BOTH_LSTM = 69, OPTIONS_BOTH_RNN = 70,
       OPTIONS_SEQUENCE_LSTM = 71, DIAGONAL = 5 };

/* For one direction: the index of the first input of each kind of weights, the indices of the states, and the index of
 * the option `asymmetric_quantize_inputs`. */
typedef struct LstmPlaces { int weights, recurrent, peepholes, biases, projection, state, cell, grid; } LstmPlaces;
static const LstmPlaces alone = { LSTM_INPUT_WEIGHTS, LSTM_STATE_WEIGHTS, LSTM_PEEPHOLES, LSTM_BIASES, LSTM_PROJECTION,
                                  LSTM_STATE, LSTM_CELL, 4 },
                        forward = { 1, 5, 9, 12, 16, 35, 36, 5 }, backward = { 18, 22, 26, 29, 33, 37, 38, 5 };

static bool has_form(TfliteCall *c, const LstmPlaces *p)
{
    if (!tflite_in(c, p->weights))
        tflite_unsupported(c, "it has an input gate coupled to the forget gate; use four gates");
    for (int g = 0; g < LSTM_GATES; g++) {
        const int needed[] = { p->weights + g, p->recurrent + g, p->biases + g };
        for (int i = 0; i < 3; i++)
            if (!tflite_in(c, needed[i])) tflite_refuse(c, "input %d is missing", needed[i]);
    }
    const int given[] = { LSTM_X, p->state, p->cell };
    for (int i = 0; i < 3; i++)
        if (!tflite_in(c, given[i]))
            tflite_refuse(c, "input %d, %s, is missing; pass it", given[i], i ? "a state" : "the data");
    if (tflite_in(c, p->projection)) tflite_unsupported(c, "it has a projection of the state; remove the projection");
    if (flat_int(&c->op->options, 0, 1, ACT_TANH) != ACT_TANH)
        tflite_refuse_activation(c, (int)flat_int(&c->op->options, 0, 1, ACT_TANH), ACT_TANH);
    return !ctx_failed(c->cx);
}

/* Refuses one of `count` inputs, beginning with `first`, that is not a matrix. */
static bool are_matrices(TfliteCall *c, int first, int count)
{
    for (int i = first; i < first + count && !ctx_failed(c->cx); i++)
        if (c->in[i]->rank != 2)
            tflite_refuse(c, "input %d is %s; use weights of two dimensions", i,
                          tensor_shape_text(c->cx, c->in[i]));
    return !ctx_failed(c->cx);
}

static bool has_ranks(TfliteCall *c, const LstmPlaces *p, int rank)
{
    if (!are_matrices(c, p->weights, LSTM_GATES) || !are_matrices(c, p->recurrent, LSTM_GATES)) return false;
    if (c->in[LSTM_X]->rank != rank)
        tflite_refuse(c, "the input is %s; use [batch]%s[inputs]", tensor_shape_text(c->cx, c->in[LSTM_X]),
                      rank == 3 ? "[steps]" : "");
    if (c->in[p->state]->rank != 2 || c->in[p->cell]->rank != 2)
        tflite_refuse(c, "the state is %s and the cell %s; use [batch][units] for both",
                      tensor_shape_text(c->cx, c->in[p->state]), tensor_shape_text(c->cx, c->in[p->cell]));
    return !ctx_failed(c->cx);
}

static bool has_no_norms(TfliteCall *c)
{
    for (int i = LSTM_NORMS; i < LSTM_NORMS + LSTM_GATES; i++)
        if (tflite_in(c, i)) tflite_unsupported(c, "it has normalized gates (input %d); remove the normalization", i);
    return !ctx_failed(c->cx);
}

/* Returns the peepholes of the gates i o f, or NULL if there are none. */
static Tensor *peepholes_of(TfliteCall *c, int first)
{
    Tensor *part[] = { tflite_in(c, first), tflite_in(c, first + 2), tflite_in(c, first + 1) };
    if (!part[0] && !part[1] && !part[2]) return NULL;
    if (!part[0] || !part[1] || !part[2]) tflite_unsupported(c, "it has only some peepholes; use all three peepholes "
                                                                "or none");
    return ctx_failed(c->cx) ? NULL : call(c->cx, "concat", c->name, part, 3, ATTRS(attr_int("axis", 0)));
}

/* Exchanges [batch][steps] and [steps][batch]. */
static Tensor *turned(TfliteCall *c, Tensor *x)
{
    return x ? tflite_call(c, "transpose", x, attr_list("perm", 1, 0, 2)) : NULL;
}

/* Reverses the order of the steps. */
static Tensor *reversed(TfliteCall *c, Tensor *x)
{
    return x ? tflite_call(c, "slice", x, attr_list("axes", 0), attr_list("begin", -1), attr_list("end", INT32_MIN),
                           attr_list("step", -1)) : NULL;
}

/* ---- Floats times 8-bit weights ---------------------------------------------------------------------------------- */

/* Returns true if the weights are multiplied on integers: 8-bit constants with one scale per matrix. */
static bool are_hybrid(const TfliteCall *c, int first, int count)
{
    for (int i = first; i < first + count; i++)
        if (!tflite_in(c, i) || !tensor_is_constant(c->in[i]) || !tflite_is_hybrid(c, 0, i, 0)
            || tflite_in_info(c, i)->quant->count > 1)
            return false;
    return true;
}

/* Returns the scales of the columns of `gates` matrices, in this order; each matrix has `units` columns. */
static Quant columns_of(TfliteCall *c, int first, const int *order, int gates, int64_t units)
{
    float *scale = NEW_ARRAY(c->cx->arena, float, gates * units);
    for (int64_t i = 0; i < gates * units; i++) scale[i] = tflite_scale(tflite_in_info(c, first + order[i / units]));
    return (Quant){ .count = (int)(gates * units), .scale = scale, .zero_point = NULL };
}

static Tensor *scales_of(TfliteCall *c, const Quant *q)
{
    return tensor_constant(c->cx, c->name, F32, 1, (int64_t[]){ q->count }, q->scale);
}

/* Returns the products of x [steps][batch][inputs] and w [inputs][columns], plus the biases. Each row of x has its own
 * grid. */
static Tensor *hybrid_products(TfliteCall *c, Tensor *x, Tensor *w, const Quant *q, Tensor *bias, bool is_asymmetric)
{
    TfliteHybrid h;
    if (!x || !w || ctx_failed(c->cx)) return NULL;
    const int64_t steps = tensor_dim(x, 0), batch = tensor_dim(x, 1), inputs = tensor_dim(x, 2);
    x = tflite_reshape(c, x, (int64_t[]){ steps * batch, inputs }, 2);
    if (!x || !tflite_hybrid_round(c, x, 1, is_asymmetric, &h)) return NULL;
    Tensor *y = tflite_hybrid_real(c, tflite_call2(c, "dense", h.x, w), &h, q, false);
    return tflite_reshape(c, tflite_call2(c, "add", y, bias), (int64_t[]){ steps, batch, q->count }, 3);
}

static Tensor *hybrid_lstm(TfliteCall *c, const LstmPlaces *p, Tensor *x, double clip)
{
    const int64_t units = tensor_dim(c->in[p->recurrent + 1], 1);
    const bool is_asymmetric = flat_int(&c->op->options, p->grid, 1, 0) != 0;
    const Quant w = columns_of(c, p->weights, tflite_lstm_order, LSTM_GATES, units),
                r = columns_of(c, p->recurrent, tflite_lstm_order, LSTM_GATES, units);
    Tensor *bias = tflite_lstm_gates(c, p->biases, false),
           *products = hybrid_products(c, x, tflite_lstm_gates(c, p->weights, true), &w, bias, is_asymmetric),
           *recurrent = tflite_lstm_gates(c, p->recurrent, true), *scales = scales_of(c, &r),
           *in[] = { products, recurrent, scales, c->in[p->state], c->in[p->cell], peepholes_of(c, p->peepholes) };
    for (int i = 0; i < 5; i++)
        if (!in[i]) return NULL;
    return ctx_failed(c->cx) ? NULL : call(c->cx, "lstm_hybrid", c->name, in, in[5] ? 6 : 5,
                                           ATTRS(attr_flag("asymmetric", is_asymmetric),
                                                 attr_if(clip > 0, attr_real("cell_clip", clip))));
}

/* ---- LSTM -------------------------------------------------------------------------------------------------------- */

static Tensor *real_lstm(TfliteCall *c, const LstmPlaces *p, Tensor *x, double clip)
{
    Tensor *gates = tflite_lstm_gates(c, p->weights, false);
    Tensor *recurrent = tflite_lstm_gates(c, p->recurrent, false);
    Tensor *gates3 = tflite_lstm_gates(c, p->biases, false);
    Tensor *in[] = { x, gates, recurrent, gates3, c->in[p->state], c->in[p->cell], peepholes_of(c, p->peepholes) };
    for (int i = 0; i < 6; i++)
        if (!in[i]) return NULL;
    return ctx_failed(c->cx) ? NULL : call(c->cx, "lstm", c->name, in, in[6] ? 7 : 6,
                                           ATTRS(attr_if(clip > 0, attr_real("cell_clip", clip))));
}

/* Returns the states of x [steps][batch][inputs] after each step; sets the next values of the variables. */
static Tensor *lstm(TfliteCall *c, const LstmPlaces *p, Tensor *x)
{
    const double clip = (double)flat_float(&c->op->options, LSTM_CELL_CLIP, 0);
    const bool is_hybrid = are_hybrid(c, p->weights, LSTM_GATES) && are_hybrid(c, p->recurrent, LSTM_GATES);
    for (int i = p->peepholes; i < p->peepholes + 3; i++)
        if (tflite_in(c, i) && c->in[i]->type != F32) c->in[i] = tflite_real(c, i);
    Tensor *h = (is_hybrid ? hybrid_lstm : real_lstm)(c, p, x, clip);
    if (!h) return NULL;
    Tensor *const *y = h->producer->out;
    c->next[p->state] = y[1];
    c->next[p->cell] = y[2];
    return y[0];
}

static void sequence_lstm(TfliteCall *c)
{
    if (!has_form(c, &alone) || !has_no_norms(c)) return;
    if (flat_int(&c->op->options, DIAGONAL, 1, 0))
        tflite_unsupported(c, "it has diagonal recurrent weights; use whole matrices");
    if (!has_ranks(c, &alone, 3)) return;
    if (tflite_is_quantized(c)) {
        tflite_lstm_fixed(c);
        return;
    }
    const bool is_time_major = flat_int(&c->op->options, LSTM_TIME_MAJOR, 1, 0) != 0;
    Tensor *y = lstm(c, &alone, is_time_major ? c->in[LSTM_X] : turned(c, c->in[LSTM_X]));
    c->out[0] = is_time_major ? y : turned(c, y);
}

/* Sets the outputs: the states of both directions, concatenated if they are merged. The backward direction reads the
 * steps in reverse, but its states are in the order of the steps. */
static void both_directions(TfliteCall *c, Tensor *ahead, Tensor *back, bool is_merged, bool is_time_major)
{
    if (!is_time_major) {
        ahead = turned(c, ahead);
        back = turned(c, back);
    }
    if (!ahead || !back || ctx_failed(c->cx)) return;
    if (is_merged)
        c->out[0] = call(c->cx, "concat", c->name, (Tensor *[]){ ahead, back }, 2, ATTRS(attr_int("axis", 2)));
    else {
        c->out[0] = ahead;
        c->out[1] = back;
    }
}

static bool has_no_second_input(TfliteCall *c, int first)
{
    for (int i = first; i < c->in_count; i++)
        if (tflite_in(c, i)) tflite_unsupported(c, "it has a second input sequence (input %d); remove it", i);
    return !ctx_failed(c->cx);
}

static void bidirectional_lstm(TfliteCall *c)
{
    enum { MERGED = 3, TIME_MAJOR, SECOND_INPUT = 39 };
    if (!has_form(c, &forward) || !has_form(c, &backward) || !has_ranks(c, &forward, 3) || !has_ranks(c, &backward, 3)
        || !has_no_second_input(c, SECOND_INPUT))
        return;
    const bool is_time_major = flat_int(&c->op->options, TIME_MAJOR, 1, 1) != 0;
    Tensor *x = is_time_major ? c->in[LSTM_X] : turned(c, c->in[LSTM_X]), *ahead = lstm(c, &forward, x),
           *back = reversed(c, lstm(c, &backward, reversed(c, x)));
    both_directions(c, ahead, back, flat_int(&c->op->options, MERGED, 1, 0) != 0, is_time_major);
}

/* ---- One step of an LSTM ----------------------------------------------------------------------------------------- */

/* Returns columns [from, to) of the gates i c f o, in the order i o f c, transposed. */
static Tensor *basic_gates(TfliteCall *c, Tensor *w, int64_t units, int64_t from, int64_t to)
{
    static const int order[LSTM_GATES] = { 0, 3, 2, 1 };
    Tensor *part[LSTM_GATES];
    for (int g = 0; g < LSTM_GATES; g++) {
        part[g] = tflite_part(c, w, 0, order[g] * units, (order[g] + 1) * units);
        if (part[g] && part[g]->rank == 2) part[g] = tflite_part(c, part[g], 1, from, to);
        if (!part[g]) return NULL;
    }
    Tensor *all = call(c->cx, "concat", c->name, part, LSTM_GATES, ATTRS(attr_int("axis", 0)));
    return all && all->rank == 2 ? tflite_call(c, "transpose", all, attr_list("perm", 1, 0)) : all;
}

/* Translates a basic LSTM. The inputs are x, the state, the concatenated weights of both, the biases, and the cell. The
 * outputs are the state, the cell, and two intermediate results: x and the state, concatenated, and their products with
 * the weights. */
static void basic_lstm(TfliteCall *c)
{
    enum { X, STATE, WEIGHTS, BIASES, CELL, INPUTS };
    if (!tflite_needs(c, INPUTS)) return;
    Tensor *x = c->in[X], *w = c->in[WEIGHTS], *in[6] = { NULL };
    bool fits = true;
    for (int i = X; i < INPUTS; i++) fits = fits && c->in[i]->type == F32 && c->in[i]->rank == (i == BIASES ? 1 : 2);
    const int64_t units = fits ? tensor_dim(c->in[CELL], 1) : 0, inputs = fits ? tensor_dim(x, 1) : 0;
    if (!fits || tensor_dim(w, 0) != LSTM_GATES * units || tensor_dim(w, 1) != inputs + units
        || tensor_dim(c->in[BIASES], 0) != LSTM_GATES * units) {
        tflite_unsupported(c, "it has weights of %s%s and biases %s for the input %s and the cell %s; use floats: "
                           "weights [4 * units][inputs + units], biases [4 * units], matrices otherwise",
                           dtype_info(w->type)->spelling, tensor_shape_text(c->cx, w),
                           tensor_shape_text(c->cx, c->in[BIASES]), tensor_shape_text(c->cx, x),
                           tensor_shape_text(c->cx, c->in[CELL]));
        return;
    }
    in[0] = tflite_reshape(c, x, (int64_t[]){ 1, tensor_dim(x, 0), inputs }, 3);
    in[1] = basic_gates(c, w, units, 0, inputs);
    in[2] = basic_gates(c, w, units, inputs, inputs + units);
    in[3] = basic_gates(c, c->in[BIASES], units, 0, 0);
    in[4] = c->in[STATE];
    in[5] = c->in[CELL];
    for (int i = 0; i < 6; i++)
        if (!in[i]) return;
    Tensor *h = call(c->cx, "lstm", c->name, in, 6, NULL);
    if (!h) return;
    Tensor *both = call(c->cx, "concat", c->name, (Tensor *[]){ x, c->in[STATE] }, 2, ATTRS(attr_int("axis", 1)));
    c->out[0] = h->producer->out[1];
    c->out[1] = h->producer->out[2];
    c->out[2] = both;
    c->out[3] = tflite_call2(c, "add", tflite_call2(c, "dense", both, tflite_call(c, "transpose", w,
                                                                                attr_list("perm", 1, 0))),
                             c->in[BIASES]);
    if (tflite_in_info(c, STATE)->is_variable) c->next[STATE] = c->out[0];
    if (tflite_in_info(c, CELL)->is_variable) c->next[CELL] = c->out[1];
}

static void one_lstm(TfliteCall *c)
{
    enum { KERNEL = 3 };
    if (flat_int(&c->op->options, KERNEL, 1, 0)) {
        basic_lstm(c);
        return;
    }
    if (!has_form(c, &alone) || !has_no_norms(c) || !has_ranks(c, &alone, 2)) return;
    const int64_t batch = tensor_dim(c->in[LSTM_X], 0), inputs = tensor_dim(c->in[LSTM_X], 1);
    Tensor *y = lstm(c, &alone, tflite_reshape(c, c->in[LSTM_X], (int64_t[]){ 1, batch, inputs }, 3));
    if (y) c->out[0] = tflite_reshape(c, y, (int64_t[]){ batch, tensor_dim(y, 2) }, 2);
}

/* ---- Simple recurrent layers ------------------------------------------------------------------------------------- */

/* Does the same as `simple` for 8-bit weights. */
static Tensor *hybrid_rnn(TfliteCall *c, int first, Tensor *x, int activation, bool is_asymmetric)
{
    static const int order[] = { 0 };
    const int64_t units = tensor_dim(c->in[first + 1], 1);
    const Quant w = columns_of(c, first, order, 1, units), r = columns_of(c, first + 1, order, 1, units);
    Tensor *turned = hybrid_products(c, x, tflite_call(c, "transpose", c->in[first], attr_list("perm", 1, 0)), &w,
                                     c->in[first + 2], is_asymmetric);
    Tensor *recurrent = tflite_call(c, "transpose", c->in[first + 1], attr_list("perm", 1, 0));
    Tensor *in[] = { turned, recurrent, scales_of(c, &r), c->in[first + 3] };
    for (int i = 0; i < 4; i++)
        if (!in[i]) return NULL;
    return call(c->cx, "rnn_hybrid", c->name, in, 4, ATTRS(attr_flag("asymmetric", is_asymmetric),
                                                          attr_flag("relu", activation == ACT_RELU)));
}

/* Returns the states of x [steps][batch][inputs] after each step, and sets the next value of the variable. The inputs
 * starting at `first` are the weights of x and of the state, the bias, and the state. grid: the field of the option for
 * the 8-bit grid. */
static Tensor *simple(TfliteCall *c, int first, Tensor *x, int activation, int grid)
{
    enum { HIDDEN = 3, INPUTS };
    static const char *const names[] = { [ACT_RELU] = "relu", [ACT_TANH] = "tanh" };
    Tensor *in[1 + INPUTS] = { x };
    if (activation != ACT_RELU && activation != ACT_TANH)
        tflite_unsupported(c, "it has the fused activation %d; use RELU (%d) or TANH (%d)", activation, ACT_RELU,
                           ACT_TANH);
    if (ctx_failed(c->cx) || !are_matrices(c, first, 2)) return NULL;
    const bool is_hybrid = are_hybrid(c, first, 2);
    for (int i = 0; i < INPUTS && !is_hybrid; i++) {
        const int at = first + i;
        in[1 + i] = i < 2 && c->in[at]->type != F32 ? tflite_real(c, at) : c->in[at];
        if (i < 2) in[1 + i] = tflite_call(c, "transpose", in[1 + i], attr_list("perm", 1, 0));
    }
    if (ctx_failed(c->cx)) return NULL;
    Tensor *h = is_hybrid ? hybrid_rnn(c, first, x, activation, flat_int(&c->op->options, grid, 1, 0) != 0)
                          : call(c->cx, "rnn", c->name, in, 1 + INPUTS,
                                 ATTRS(attr_word("activations", names[activation]), attr_flag("in_lanes", true)));
    if (h) c->next[first + HIDDEN] = h->producer->out[1];
    return h ? h->producer->out[0] : NULL;
}

/* Refuses absent inputs 0..count-1, and an input with a different rank. */
static bool has_sequence(TfliteCall *c, int count, int rank)
{
    if (!tflite_needs(c, count)) return false;
    if (c->in[0]->rank != rank)
        tflite_refuse(c, "the input is %s; use %s[batch][inputs]", tensor_shape_text(c->cx, c->in[0]),
                      rank == 3 ? "[steps]" : "");
    return !ctx_failed(c->cx);
}

static void rnn(TfliteCall *c)
{
    if (!has_sequence(c, 5, 2)) return;
    const int64_t batch = tensor_dim(c->in[0], 0), inputs = tensor_dim(c->in[0], 1);
    Tensor *y = simple(c, 1, tflite_reshape(c, c->in[0], (int64_t[]){ 1, batch, inputs }, 3),
                       (int)flat_int(&c->op->options, 0, 1, ACT_NONE), 1);
    if (y) c->out[0] = tflite_reshape(c, y, (int64_t[]){ batch, tensor_dim(y, 2) }, 2);
}

static void sequence_rnn(TfliteCall *c)
{
    if (!has_sequence(c, 5, 3)) return;
    const bool is_time_major = flat_int(&c->op->options, 0, 1, 0) != 0;
    Tensor *y = simple(c, 1, is_time_major ? c->in[0] : turned(c, c->in[0]),
                       (int)flat_int(&c->op->options, 1, 1, ACT_NONE), 2);
    c->out[0] = is_time_major ? y : turned(c, y);
}

static void bidirectional_rnn(TfliteCall *c)
{
    enum { TIME_MAJOR, ACTIVATION, MERGED, GRID };
    enum { FORWARD = 1, BACKWARD = 5, SECOND_INPUT = 9 };
    if (!has_sequence(c, SECOND_INPUT, 3) || !has_no_second_input(c, SECOND_INPUT)) return;
    const bool is_time_major = flat_int(&c->op->options, TIME_MAJOR, 1, 0) != 0;
    const int activation = (int)flat_int(&c->op->options, ACTIVATION, 1, ACT_NONE);
    Tensor *x = is_time_major ? c->in[0] : turned(c, c->in[0]), *ahead = simple(c, FORWARD, x, activation, GRID),
           *back = reversed(c, simple(c, BACKWARD, reversed(c, x), activation, GRID));
    both_directions(c, ahead, back, flat_int(&c->op->options, MERGED, 1, 0) != 0, is_time_major);
}

const TfliteRow tflite_rows_recurrent[] = {
    { 16, "LSTM", 4, OPTIONS_LSTM, OF_F32 | WRITES_VARIABLES, 1, NULL, one_lstm, TFLITE_KEEPS_NONE },
    { 24, "RNN", 3, OPTIONS_RNN, OF_F32 | WRITES_VARIABLES, 1, NULL, rnn, TFLITE_KEEPS_NONE },
    { 35, "UNIDIRECTIONAL_SEQUENCE_RNN", 3, OPTIONS_SEQUENCE_RNN, OF_F32 | WRITES_VARIABLES, 1, NULL, sequence_rnn,
      TFLITE_KEEPS_NONE },
    { 44, "UNIDIRECTIONAL_SEQUENCE_LSTM", 4, OPTIONS_SEQUENCE_LSTM, OF_F32 | OF_I8 | OF_I16 | WRITES_VARIABLES, 1, NULL,
      sequence_lstm, TFLITE_KEEPS_NONE },
    { 46, "BIDIRECTIONAL_SEQUENCE_RNN", 3, OPTIONS_BOTH_RNN, OF_F32 | WRITES_VARIABLES, 1, NULL, bidirectional_rnn,
      TFLITE_KEEPS_NONE },
    { 52, "BIDIRECTIONAL_SEQUENCE_LSTM", 3, OPTIONS_BOTH_LSTM, OF_F32 | WRITES_VARIABLES, 1, NULL, bidirectional_lstm,
      TFLITE_KEEPS_NONE },
    { 0 }
};
