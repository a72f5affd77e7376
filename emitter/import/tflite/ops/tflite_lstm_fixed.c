/* SPDX-License-Identifier: MIT */
/* Translates an LSTM of integers as the reference kernels of TensorFlow Lite Micro compute it. Sums of the gates have
 * 16 bits and the scale 2^-12, gates and tanh the scale 2^-15; the cell has 16 bits and a power of two as its scale:
 *
 *   g[t] = sat(requantize(x[t] w + b) + requantize(h[t-1] r))     all four gates, in the order i o f c
 *   c[t] = sat(requantize(f c[t-1]) + requantize(i tanh(c)))
 *   h[t] = requantize(o tanh(c[t]))
 *
 * The products of x are computed for all steps at once; the other products are computed by a loop over steps. */
#include "import/tflite/ops/tflite_recurrent.h"

#include <math.h>

#include "graph/dag/region.h"

enum { GATE_BITS = 12, CURVE_BITS = 15 };
enum { OUTPUT = 1, FORGET, CELL };           /* gates in the order of the joined weights; the input gate is 0 */

const int tflite_lstm_order[LSTM_GATES] = { 0, 3, 1, 2 };

Tensor *tflite_lstm_gates(TfliteCall *c, int first, bool is_stored)
{
    Tensor *part[LSTM_GATES];
    for (int g = 0; g < LSTM_GATES; g++) {
        const int i = first + tflite_lstm_order[g];
        if (c->in[i] && c->in[i]->type != F32 && !is_stored) c->in[i] = tflite_real(c, i);
        if (!(part[g] = c->in[i])) return NULL;
    }
    Tensor *all = call(c->cx, "concat", c->name, part, LSTM_GATES, ATTRS(attr_int("axis", 0)));
    return all && all->rank == 2 ? tflite_call(c, "transpose", all, attr_list("perm", 1, 0)) : all;
}

typedef struct FixedLstm {
    TfliteCall *c;
    int64_t batch, steps, units, inputs;
    bool is_time_major;
    float state_scale, cell_scale;
    int cell_power;                          /* exponent of the cell's scale, which is 2^cell_power */
} FixedLstm;

static const TfliteTensor *gate_info(const FixedLstm *l, int first, int gate)
{
    return tflite_in_info(l->c, first + tflite_lstm_order[gate]);
}

/* ---- The form that is accepted ----------------------------------------------------------------------------------- */

static bool check_constant(FixedLstm *l, int i, DType type, int rank, int64_t rows, int64_t columns)
{
    TfliteCall *c = l->c;
    const Tensor *t = c->in[i];
    if (t->type == type && t->rank == rank && tensor_dim(t, 0) == rows && (rank < 2 || tensor_dim(t, 1) == columns)
        && tensor_is_constant(t))
        return true;
    tflite_unsupported(c, "input %d is %s%s%s; use a constant %s of the sizes %s", i,
                       tensor_is_constant(t) ? "" : "computed ", dtype_info(t->type)->spelling,
                       tensor_shape_text(c->cx, t), dtype_info(type)->spelling,
                       ints_text(c->cx, (int64_t[]){ rows, columns }, rank));
    return false;
}

static bool has_gates(FixedLstm *l)
{
    const DType bias = tflite_is_int8(l->c) ? I32 : I64;
    for (int g = 0; g < LSTM_GATES; g++) {
        if (!check_constant(l, LSTM_INPUT_WEIGHTS + g, I8, 2, l->units, l->inputs)
            || !check_constant(l, LSTM_STATE_WEIGHTS + g, I8, 2, l->units, l->units)
            || !check_constant(l, LSTM_BIASES + g, bias, 1, l->units, 0)
            || !tflite_has_quant(l->c, tflite_in_info(l->c, LSTM_INPUT_WEIGHTS + g), false)
            || !tflite_has_quant(l->c, tflite_in_info(l->c, LSTM_STATE_WEIGHTS + g), false))
            return false;
    }
    for (int g = 0; g < LSTM_GATES; g++)
        if (tflite_zero(gate_info(l, LSTM_INPUT_WEIGHTS, g)) || tflite_zero(gate_info(l, LSTM_STATE_WEIGHTS, g)))
            tflite_unsupported(l->c, "it has weights with zero points other than 0; use zero points of 0");
    return !ctx_failed(l->c->cx);
}

/* Reads the scale of the cell, which must be a power of two. */
static bool read_cell(FixedLstm *l)
{
    int exponent;
    const TfliteTensor *cell = tflite_in_info(l->c, LSTM_CELL);
    l->cell_scale = tflite_scale(cell);
    if (frexpf(l->cell_scale, &exponent) != 0.5f || exponent < -29 || exponent > 1)
        tflite_unsupported(l->c, "the scale of the cell \"%s\" is %g; use a power of two from 2^-30 to 1",
                           cell->name, (double)l->cell_scale);
    l->cell_power = exponent - 1;
    return !ctx_failed(l->c->cx);
}

static bool read_form(TfliteCall *c, FixedLstm *l)
{
    const Tensor *x = c->in[LSTM_X], *h = c->in[LSTM_STATE], *cell = c->in[LSTM_CELL];
    *l = (FixedLstm){ .c = c, .is_time_major = flat_int(&c->op->options, LSTM_TIME_MAJOR, 1, 0) != 0 };
    if (h->type != x->type)
        tflite_unsupported(c, "it has a state of type %s; use %s, like the input", dtype_info(h->type)->spelling,
                           dtype_info(x->type)->spelling);
    if (cell->type != I16) tflite_unsupported(c, "it has a cell of type %s; use i16", dtype_info(cell->type)->spelling);
    for (int i = LSTM_PEEPHOLES; i < LSTM_BIASES; i++)
        if (tflite_in(c, i)) tflite_unsupported(c, "it has peepholes of integers (input %d); remove them", i);
    l->batch = tensor_dim(x, l->is_time_major ? 1 : 0);
    l->steps = tensor_dim(x, l->is_time_major ? 0 : 1);
    l->inputs = tensor_dim(x, 2);
    l->units = tensor_dim(h, 1);
    for (int i = 0; i < 2; i++)
        if (!ctx_failed(c->cx) && (tensor_dim(c->in[LSTM_STATE + i], 0) != l->batch
                                   || tensor_dim(c->in[LSTM_STATE + i], 1) != l->units || l->steps < 1 || l->units < 1))
            tflite_refuse(c, "the state is %s for the input %s; use a state [batch][units], and at least one step",
                          tensor_shape_text(c->cx, c->in[LSTM_STATE + i]), tensor_shape_text(c->cx, x));
    if (ctx_failed(c->cx) || !tflite_has_quants(c, 1) || !tflite_has_quant(c, tflite_in_info(c, LSTM_STATE), false)
        || !tflite_has_quant(c, tflite_in_info(c, LSTM_CELL), false))
        return false;
    l->state_scale = tflite_scale(tflite_in_info(c, LSTM_STATE));
    return read_cell(l) && has_gates(l);
}

/* ---- Parts of a step --------------------------------------------------------------------------------------------- */

static bool has_wide_sums(FixedLstm *l, int first)
{
    bool fit = true;
    for (int g = 0; g < LSTM_GATES; g++)
        fit = fit && tflite_sums_fit(l->c->in[first + g], NULL, l->units, 1);
    return tflite_is_int16(l->c) && !fit;
}

/* Returns requantize(x w + b) of the four gates; bias is NULL if there is none. */
static Tensor *gates_of(FixedLstm *l, Tensor *x, const TfliteTensor *of, int first, Tensor *bias)
{
    TfliteCall *c = l->c;
    const int zero = tflite_zero(of);
    double *scales = NEW_ARRAY(c->cx->arena, double, LSTM_GATES * l->units);
    for (int g = 0; g < LSTM_GATES; g++) {
        const float product = tflite_scale(of) * tflite_scale(gate_info(l, first, g));
        for (int64_t u = 0; u < l->units; u++) scales[g * l->units + u] = (double)product * (1 << GATE_BITS);
    }
    Tensor *sums = tflite_call2(c, "dense", x, tflite_lstm_gates(c, first, true),
                                attr_if(zero, attr_int("zero", zero)),
                                attr_if(has_wide_sums(l, first), attr_flag("wide", true)));
    if (bias && sums && sums->type != bias->type) sums = tflite_call(c, "cast", sums, attr_type("to", bias->type));
    if (bias) sums = tflite_call2(c, "add", sums, bias);
    return (tflite_is_int8(c) ? tflite_requantize_to : tflite_requantize_wide_to)(
        c, sums, scales, LSTM_GATES * (int)l->units,
        (Rescaling){ .has_least = true, .has_greatest = true, .least = INT16_MIN, .greatest = INT16_MAX, .to = I16 });
}

static Tensor *in_32_bits(TfliteCall *c, Tensor *x) { return tflite_call(c, "cast", x, attr_type("to", I32)); }

/* Returns a + b as 16 bits, within the bounds. */
static Tensor *bounded_sum(TfliteCall *c, Tensor *a, Tensor *b, int64_t least, int64_t greatest)
{
    Tensor *bits = in_32_bits(c, b);
    Tensor *sum = tflite_call2(c, "add", in_32_bits(c, a), bits);
    sum = tflite_call(c, "clip", sum, attr_real("min", (double)least), attr_real("max", (double)greatest));
    return tflite_call(c, "cast", sum, attr_type("to", I16));
}

static Tensor *product(TfliteCall *c, Tensor *a, Tensor *b, double scale, int zero, DType to)
{
    Tensor *bits = in_32_bits(c, b);
    return tflite_rescale(c, tflite_call2(c, "mul", in_32_bits(c, a), bits), tflite_factor(scale),
                          (Rescaling){ .zero = zero, .to = to });
}

static Tensor *gate(FixedLstm *l, Tensor *gates, int first, int count)
{
    return tflite_part(l->c, gates, 1, first * l->units, (first + count) * l->units);
}

static Tensor *curve(FixedLstm *l, const char *op, Tensor *x, int power)
{
    const int left = power + GATE_BITS;
    return tflite_call2(l->c, op, x, tflite_sigmoid_points(l->c), attr_int("multiplier", left > 0 ? 3 << left : 3),
                        attr_int("shift", left < 0 ? -left : 0));
}

/* Returns the next cell from the sums of the gates. A clip narrows the range of the sum. */
static Tensor *next_cell(FixedLstm *l, Tensor *open, Tensor *candidate, Tensor *cell)
{
    TfliteCall *c = l->c;
    const double unit = ldexp(1, -CURVE_BITS), scale = (double)l->cell_scale,
                 clip = (double)flat_float(&c->op->options, LSTM_CELL_CLIP, 0),
                 bound = fmin(trunc(clip / scale), INT16_MAX);
    Tensor *kept = product(c, gate(l, open, FORGET, 1), cell, unit * scale / scale, 0, I16),
           *added = product(c, gate(l, open, 0, 1), candidate, unit * unit / scale, 0, I16);
    return clip > 0 ? bounded_sum(c, kept, added, -(int64_t)bound, (int64_t)bound)
                    : bounded_sum(c, kept, added, INT16_MIN, INT16_MAX);
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static Tensor *like(FixedLstm *l, const char *word, const Tensor *t, int64_t columns)
{
    return tensor_new_fixed(l->c->cx, word, t->type, 2, (int64_t[]){ l->batch, columns });
}

/* Builds the loop over the steps. The body reads the iteration index, the state, the cell and a row of the gates. */
static Node *loop_over(FixedLstm *l, Tensor *gates)
{
    TfliteCall *c = l->c;
    Ctx *cx = c->cx;
    const TfliteTensor *state = tflite_in_info(c, LSTM_STATE);
    const double unit = ldexp(1, -CURVE_BITS);
    Tensor *iteration = tensor_new(cx, "iteration", I64, 0, NULL);
    Tensor *hidden = like(l, "h", c->in[LSTM_STATE], l->units);
    Tensor *cells = like(l, "c", c->in[LSTM_CELL], l->units);
    Tensor *inner[] = { iteration, hidden, cells, like(l, "gates", gates, LSTM_GATES * l->units) };
    Tensor *sums = bounded_sum(c, inner[3], gates_of(l, inner[1], state, LSTM_STATE_WEIGHTS, NULL), INT16_MIN,
                               INT16_MAX);
    Tensor *open = curve(l, "sigmoid_table", gate(l, sums, 0, CELL), -GATE_BITS),
           *candidate = curve(l, "tanh_table", gate(l, sums, CELL, 1), -GATE_BITS),
           *cell = next_cell(l, open, candidate, inner[2]);
    Tensor *output = gate(l, open, OUTPUT, 1);
    Tensor *h = product(c, curve(l, "tanh_table", cell, l->cell_power), output, unit * unit / (double)l->state_scale,
                        tflite_zero(state), c->in[LSTM_STATE]->type);
    if (ctx_failed(cx)) return NULL;
    Tensor **input = arena_copy(cx->arena, inner, sizeof inner), *result[] = { h, cell, h };
    static const bool forwards[] = { false };
    const Region r = { .kind = REGION_LOOP, .graph_count = 1, .state_count = 2, .scan_count = 1, .row_count = 1,
                       .scans_back = forwards, .rows_back = forwards, .max_trip_count = l->steps,
                       .graph[0] = { .name = c->name, .input = input, .input_count = 4,
                                     .output = arena_copy(cx->arena, result, sizeof result), .output_count = 3 } };
    Tensor *in[] = { tensor_constant(cx, "steps", I64, 0, NULL, &l->steps), NULL, c->in[LSTM_STATE],
                     c->in[LSTM_CELL], gates };
    return region_new(cx, c->name, &r, in, 5);
}

void tflite_lstm_fixed(TfliteCall *c)
{
    FixedLstm l;
    if (!read_form(c, &l)) return;
    Tensor *x = c->in[LSTM_X];
    if (!l.is_time_major) x = tflite_call(c, "transpose", x, attr_list("perm", 1, 0, 2));
    x = tflite_reshape(c, x, (int64_t[]){ l.steps * l.batch, l.inputs }, 2);
    Tensor *biases = tflite_lstm_gates(c, LSTM_BIASES, true);
    Tensor *gates = gates_of(&l, x, tflite_in_info(c, LSTM_X), LSTM_INPUT_WEIGHTS, biases);
    gates = tflite_reshape(c, gates, (int64_t[]){ l.steps, l.batch, LSTM_GATES * l.units }, 3);
    Node *n = ctx_failed(c->cx) ? NULL : loop_over(&l, gates);
    if (!n) return;
    c->next[LSTM_STATE] = n->out[0];
    c->next[LSTM_CELL] = n->out[1];
    c->out[0] = l.is_time_major ? n->out[2] : tflite_call(c, "transpose", n->out[2], attr_list("perm", 1, 0, 2));
}
