/* SPDX-License-Identifier: MIT */
/* Recurrent layers. The state is two variable tensors, which the layer reads before its first step and writes after its
 * last one. */
#include "import/tflite/ops/tflite_recurrent.h"

#include "import/tflite/ops/tflite_rows.h"

enum { OPTIONS_RNN = 7, OPTIONS_SEQUENCE_RNN = 31, OPTIONS_SEQUENCE_LSTM = 71, DIAGONAL = 5 };

static bool has_form(TfliteCall *c)
{
    static const int needed[] = { LSTM_X, LSTM_INPUT_WEIGHTS + 1, LSTM_INPUT_WEIGHTS + 2, LSTM_INPUT_WEIGHTS + 3,
                                  LSTM_STATE_WEIGHTS + 1, LSTM_STATE_WEIGHTS + 2, LSTM_STATE_WEIGHTS + 3,
                                  LSTM_BIASES + 1, LSTM_BIASES + 2, LSTM_BIASES + 3, LSTM_STATE, LSTM_CELL };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!tflite_in(c, needed[i])) tflite_refuse(c, "input %d is missing", needed[i]);
    if (!tflite_in(c, LSTM_INPUT_WEIGHTS))
        tflite_unsupported(c, "an input gate coupled to the forget gate; accepted: four gates");
    if (tflite_in(c, LSTM_PROJECTION)) tflite_unsupported(c, "a projection of the state; accepted: none");
    for (int i = LSTM_NORMS; i < LSTM_NORMS + LSTM_GATES; i++)
        if (tflite_in(c, i)) tflite_unsupported(c, "normalized gates (input %d); accepted: none", i);
    if (flat_int(&c->op->options, DIAGONAL, 1, 0))
        tflite_unsupported(c, "diagonal recurrent weights; accepted: whole matrices");
    if (flat_int(&c->op->options, 0, 1, ACT_TANH) != ACT_TANH)
        tflite_refuse_activation(c, (int)flat_int(&c->op->options, 0, 1, ACT_TANH), ACT_TANH);
    if (!ctx_failed(c->cx) && (c->in[LSTM_X]->rank != 3 || c->in[LSTM_STATE]->rank != 2
                                || c->in[LSTM_CELL]->rank != 2))
        tflite_refuse(c, "the input is %s and the state %s; [batch][steps][inputs] and [batch][units] are accepted",
                      tensor_shape_text(c->cx, c->in[LSTM_X]), tensor_shape_text(c->cx, c->in[LSTM_STATE]));
    return !ctx_failed(c->cx);
}

/* Joins the parts of the gates i o f c along axis 0; matrices are transposed to [inputs][4 units]. */
static Tensor *of_gates(TfliteCall *c, int first)
{
    static const int order[LSTM_GATES] = { 0, 3, 1, 2 };
    Tensor *part[LSTM_GATES];
    for (int g = 0; g < LSTM_GATES; g++) {
        const int i = first + order[g];
        if (c->in[i] && c->in[i]->type != F32) c->in[i] = tflite_real(c, i);
        if (!(part[g] = c->in[i])) return NULL;
    }
    Tensor *all = call(c->cx, "concat", c->name, part, LSTM_GATES, ATTRS(attr_int("axis", 0)));
    return all && all->rank == 2 ? tflite_call(c, "transpose", all, attr_list("perm", 1, 0)) : all;
}

/* The peepholes of the gates i o f; NULL: none. */
static Tensor *peepholes_of(TfliteCall *c)
{
    Tensor *part[] = { tflite_in(c, LSTM_PEEPHOLES), tflite_in(c, LSTM_PEEPHOLES + 2),
                       tflite_in(c, LSTM_PEEPHOLES + 1) };
    if (!part[0] && !part[1] && !part[2]) return NULL;
    if (!part[0] || !part[1] || !part[2]) tflite_unsupported(c, "some peepholes; all three or none are accepted");
    return ctx_failed(c->cx) ? NULL : call(c->cx, "concat", c->name, part, 3, ATTRS(attr_int("axis", 0)));
}

static void sequence_lstm(TfliteCall *c)
{
    if (!has_form(c)) return;
    if (tflite_is_quantized(c)) {
        tflite_lstm_fixed(c);
        return;
    }
    const bool is_time_major = flat_int(&c->op->options, LSTM_TIME_MAJOR, 1, 0) != 0;
    const double clip = (double)flat_float(&c->op->options, LSTM_CELL_CLIP, 0);
    Tensor *x = c->in[LSTM_X];
    if (!is_time_major) x = tflite_call(c, "transpose", x, attr_list("perm", 1, 0, 2));
    Tensor *in[] = { x, of_gates(c, LSTM_INPUT_WEIGHTS), of_gates(c, LSTM_STATE_WEIGHTS), of_gates(c, LSTM_BIASES),
                     c->in[LSTM_STATE], c->in[LSTM_CELL], peepholes_of(c) };
    for (int i = 0; i < 6; i++)
        if (!in[i]) return;
    Tensor *h = ctx_failed(c->cx) ? NULL : call(c->cx, "lstm", c->name, in, in[6] ? 7 : 6,
                                                ATTRS(attr_if(clip > 0, attr_real("cell_clip", clip))));
    if (!h) return;
    Tensor *const *y = h->producer->out;
    c->out[0] = is_time_major ? y[0] : tflite_call(c, "transpose", y[0], attr_list("perm", 1, 0, 2));
    c->next[LSTM_STATE] = y[1];
    c->next[LSTM_CELL] = y[2];
}

/* ---- Simple recurrent layers ------------------------------------------------------------------------------------- */

/* Inputs: x, the weights of x and of the state, the bias, the state. Layers of a single step have no axis of steps. */
static void simple(TfliteCall *c, bool has_steps, bool is_time_major, int activation)
{
    enum { INPUT, WEIGHTS, RECURRENT, BIAS, HIDDEN, INPUTS };
    static const char *const names[] = { [ACT_RELU] = "relu", [ACT_TANH] = "tanh" };
    Tensor *in[INPUTS];
    if (!tflite_needs(c, INPUTS)) return;
    if (activation != ACT_RELU && activation != ACT_TANH)
        tflite_unsupported(c, "the fused activation %d; accepted: RELU (%d), TANH (%d)", activation, ACT_RELU,
                           ACT_TANH);
    if (c->in[INPUT]->rank != 2 + has_steps || c->in[WEIGHTS]->rank != 2 || c->in[RECURRENT]->rank != 2)
        tflite_refuse(c, "the input is %s; %s[batch][inputs], and weights of two dimensions, are accepted",
                      tensor_shape_text(c->cx, c->in[INPUT]), has_steps ? "[steps]" : "");
    if (ctx_failed(c->cx)) return;
    for (int i = 0; i < INPUTS; i++) in[i] = c->in[i];
    if (!has_steps)
        in[INPUT] = tflite_reshape(c, in[INPUT], (int64_t[]){ 1, tensor_dim(in[INPUT], 0), tensor_dim(in[INPUT], 1) },
                                   3);
    else if (!is_time_major) in[INPUT] = tflite_call(c, "transpose", in[INPUT], attr_list("perm", 1, 0, 2));
    for (int i = WEIGHTS; i <= RECURRENT; i++) {
        if (in[i]->type != F32) in[i] = tflite_real(c, i);
        in[i] = tflite_call(c, "transpose", in[i], attr_list("perm", 1, 0));
    }
    Tensor *h = ctx_failed(c->cx) ? NULL : call(c->cx, "rnn", c->name, in, INPUTS,
                                                ATTRS(attr_word("activations", names[activation])));
    if (!h) return;
    Tensor *const *y = h->producer->out;
    c->out[0] = !has_steps      ? y[1]
                : is_time_major ? y[0] : tflite_call(c, "transpose", y[0], attr_list("perm", 1, 0, 2));
    c->next[HIDDEN] = y[1];
}

static void rnn(TfliteCall *c) { simple(c, false, true, (int)flat_int(&c->op->options, 0, 1, ACT_NONE)); }

static void sequence_rnn(TfliteCall *c)
{
    simple(c, true, flat_int(&c->op->options, 0, 1, 0) != 0, (int)flat_int(&c->op->options, 1, 1, ACT_NONE));
}

const TfliteRow tflite_rows_recurrent[] = {
    { 24, "RNN", 3, OPTIONS_RNN, OF_F32 | WRITES_VARIABLES, 1, NULL, rnn, TFLITE_KEEPS_NONE },
    { 35, "UNIDIRECTIONAL_SEQUENCE_RNN", 3, OPTIONS_SEQUENCE_RNN, OF_F32 | WRITES_VARIABLES, 1, NULL, sequence_rnn,
      TFLITE_KEEPS_NONE },
    { 44, "UNIDIRECTIONAL_SEQUENCE_LSTM", 4, OPTIONS_SEQUENCE_LSTM, OF_F32 | OF_I8 | OF_I16 | WRITES_VARIABLES, 1, NULL,
      sequence_lstm, TFLITE_KEEPS_NONE },
    { 0 }
};
