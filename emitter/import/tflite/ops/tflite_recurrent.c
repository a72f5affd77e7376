/* SPDX-License-Identifier: MIT */
/* Recurrent layers. The state is two variable tensors, which the layer reads before its first step and writes after its
 * last one. */
#include "import/tflite/ops/tflite_rows.h"

/* The inputs: four weights of x, four of the state, three peepholes, four biases, the projection, the state, and four
 * normalizations. Gates are in the order i f c o. */
enum { X, INPUT_WEIGHTS, STATE_WEIGHTS = 5, PEEPHOLES = 9, BIASES = 12, PROJECTION = 16, STATE = 18, CELL, NORMS };
enum { CELL_CLIP = 1, TIME_MAJOR = 3, DIAGONAL = 5 };
enum { OPTIONS_SEQUENCE_LSTM = 71, GATES = 4 };

static bool has_form(TfliteCall *c)
{
    static const int needed[] = { X, INPUT_WEIGHTS + 1, INPUT_WEIGHTS + 2, INPUT_WEIGHTS + 3, STATE_WEIGHTS + 1,
                                  STATE_WEIGHTS + 2, STATE_WEIGHTS + 3, BIASES + 1, BIASES + 2, BIASES + 3, STATE,
                                  CELL };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!tflite_in(c, needed[i])) tflite_refuse(c, "input %d is missing", needed[i]);
    if (!tflite_in(c, INPUT_WEIGHTS))
        tflite_unsupported(c, "an input gate coupled to the forget gate; accepted: four gates");
    if (tflite_in(c, PROJECTION)) tflite_unsupported(c, "a projection of the state; accepted: none");
    for (int i = NORMS; i < NORMS + GATES; i++)
        if (tflite_in(c, i)) tflite_unsupported(c, "normalized gates (input %d); accepted: none", i);
    if (flat_int(&c->op->options, DIAGONAL, 1, 0))
        tflite_unsupported(c, "diagonal recurrent weights; accepted: whole matrices");
    if (flat_int(&c->op->options, 0, 1, ACT_TANH) != ACT_TANH)
        tflite_refuse_activation(c, (int)flat_int(&c->op->options, 0, 1, ACT_TANH), ACT_TANH);
    if (!ctx_failed(c->cx) && (c->in[X]->rank != 3 || c->in[STATE]->rank != 2 || c->in[CELL]->rank != 2))
        tflite_refuse(c, "the input is %s and the state %s; [batch][steps][inputs] and [batch][units] are accepted",
                      tensor_shape_text(c->cx, c->in[X]), tensor_shape_text(c->cx, c->in[STATE]));
    return !ctx_failed(c->cx);
}

/* Joins the parts of the gates i o f c along axis 0; matrices are transposed to [inputs][4 units]. */
static Tensor *of_gates(TfliteCall *c, int first)
{
    static const int order[GATES] = { 0, 3, 1, 2 };
    Tensor *part[GATES];
    for (int g = 0; g < GATES; g++) {
        const int i = first + order[g];
        if (c->in[i] && c->in[i]->type != F32) c->in[i] = tflite_real(c, i);
        if (!(part[g] = c->in[i])) return NULL;
    }
    Tensor *all = call(c->cx, "concat", c->name, part, GATES, ATTRS(attr_int("axis", 0)));
    return all && all->rank == 2 ? tflite_call(c, "transpose", all, attr_list("perm", 1, 0)) : all;
}

/* The peepholes of the gates i o f; NULL: none. */
static Tensor *peepholes_of(TfliteCall *c)
{
    Tensor *part[] = { tflite_in(c, PEEPHOLES), tflite_in(c, PEEPHOLES + 2), tflite_in(c, PEEPHOLES + 1) };
    if (!part[0] && !part[1] && !part[2]) return NULL;
    if (!part[0] || !part[1] || !part[2]) tflite_unsupported(c, "some peepholes; all three or none are accepted");
    return ctx_failed(c->cx) ? NULL : call(c->cx, "concat", c->name, part, 3, ATTRS(attr_int("axis", 0)));
}

static void sequence_lstm(TfliteCall *c)
{
    if (!has_form(c)) return;
    const bool is_time_major = flat_int(&c->op->options, TIME_MAJOR, 1, 0) != 0;
    const double clip = (double)flat_float(&c->op->options, CELL_CLIP, 0);
    Tensor *x = c->in[X];
    if (!is_time_major) x = tflite_call(c, "transpose", x, attr_list("perm", 1, 0, 2));
    Tensor *in[] = { x, of_gates(c, INPUT_WEIGHTS), of_gates(c, STATE_WEIGHTS), of_gates(c, BIASES), c->in[STATE],
                     c->in[CELL], peepholes_of(c) };
    for (int i = 0; i < 6; i++)
        if (!in[i]) return;
    Tensor *h = ctx_failed(c->cx) ? NULL : call(c->cx, "lstm", c->name, in, in[6] ? 7 : 6,
                                                ATTRS(attr_if(clip > 0, attr_real("cell_clip", clip))));
    if (!h) return;
    Tensor *const *y = h->producer->out;
    c->out[0] = is_time_major ? y[0] : tflite_call(c, "transpose", y[0], attr_list("perm", 1, 0, 2));
    c->next[STATE] = y[1];
    c->next[CELL] = y[2];
}

const TfliteRow tflite_rows_recurrent[] = {
    { 44, "UNIDIRECTIONAL_SEQUENCE_LSTM", 4, OPTIONS_SEQUENCE_LSTM, OF_F32 | WRITES_VARIABLES, 1, NULL, sequence_lstm,
      TFLITE_KEEPS_NONE },
    { 0 }
};
