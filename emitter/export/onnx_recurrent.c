/* SPDX-License-Identifier: MIT */
/* Writes recurrent layers in ONNX files. A layer of real numbers becomes ONNX's RNN, GRU or LSTM. A layer on integers
 * multiplies its state in 16 bits, which those operators cannot express. Such a layer becomes a Scan over the steps,
 * whose graph computes the formulas of ops/layers/recurrent.c:
 *
 *   outside:  input = x w + b                                                 [steps][batch][gates * units]
 *   a step:   stored = state, through 16-bit QuantizeLinear and DequantizeLinear, with the step 1/32767
 *             sums = input[t] + stored r,  and the gates in reals
 *
 * The weights are 8-bit constants, which are multiplied by a scale per column. If a sequence has fewer steps than the
 * layer, its state does not change after the sequence's last step, and its further rows are 0. In reverse, the steps of
 * each sequence are reversed before and after the Scan. */
#include <string.h>

#include "export/onnx_node.h"
#include "graph/dag/recurrent.h"
#include "support/text.h"

static Tensor *input(const Node *n, int i) { return i && i < n->in_count ? n->in[i] : NULL; }

/* Refuses a call that ONNX's operators do not compute. */
static bool is_recurrent(OnnxWriter *w, const Node *n, const Recurrent *r)
{
    const char *activations = node_text(n, "activations", r->activations);
    const char *place = text_format(w->cx, "node \"%s\"", n->name);
    const int constants[] = { RECURRENT_B, r->rb, r->ws, r->ws + 1 };
    bool is_constant = true;
    for (int i = 0; i < 4; i++)
        is_constant = is_constant && (!input(n, constants[i]) || tensor_is_constant(input(n, constants[i])));
    const bool is_stored = dtype_is_integer(n->in[RECURRENT_X]->type);
    if (is_stored && strcmp(activations, r->activations) != 0)
        diag_unsupported(w->cx, place, "ONNX export does not support %s on integers with the activations \"%s\"; "
                                       "use \"%s\"",
                         r->op, activations, r->activations);
    else if (node_real(n, "cell_clip", 0) > 0 || node_int(n, "by_range", 0))
        diag_unsupported(w->cx, place, "ONNX export does not support %s with '%s'; use %s", r->op,
                         node_int(n, "by_range", 0) ? "by_range" : "cell_clip", "a layer without it");
    else if (is_stored && r->gates == 1)
        diag_unsupported(w->cx, place, "ONNX export does not support %s on integers; use float operands", r->op);
    else if (is_stored && !onnx_is_store(n->in[RECURRENT_X]->producer))
        diag_unsupported(w->cx, place, "ONNX export of %s on integers needs an input that a quantization computes; "
                                       "quantize the input, or use float operands", r->op);
    else if (!is_constant)
        diag_unsupported(w->cx, place, "ONNX export does not support %s with a computed bias; use a constant bias",
                         r->op);
    return !ctx_failed(w->cx);
}

/* ---- Of reals ---------------------------------------------------------------------------------------------------- */

/* Writes weights [n][gates * units] as [1][gates * units][n]. */
static const char *gate_weights(OnnxWriter *w, Tensor *t)
{
    static const int64_t swap[] = { 1, 0 };
    const int64_t rows = tensor_dim(t, 0), columns = tensor_dim(t, 1), shape[] = { rows, columns };
    const int64_t whole[] = { 1, columns, rows };
    if (!tensor_is_constant(t)) return onnx_reshaped(w, onnx_transposed(w, onnx_operand(w, t), swap, 2), whole, 3);
    const void *data = onnx_permuted(w->cx, t->data, (size_t)dtype_info(t->type)->bytes, 2, shape, swap);
    return onnx_initializer(w, t->name, t->type, 3, whole, data);
}

/* Writes the bias of both products, [1][gates * units] of w and then of r; for r, only the last gate has a bias, rb.
 * Returns NULL if there is no bias. */
static const char *gate_bias(OnnxWriter *w, const Tensor *b, const Tensor *rb, int64_t columns)
{
    const int64_t shape[] = { 1, 2 * columns };
    float *v = NEW_ARRAY(w->cx->arena, float, 2 * columns);
    if (!b && !rb) return NULL;
    if (b) memcpy(v, b->data, (size_t)columns * sizeof *v);
    if (rb) {
        const int64_t units = tensor_elems(rb);
        memcpy(v + 2 * columns - units, rb->data, (size_t)units * sizeof *v);
    }
    return onnx_initializer(w, "bias", F32, 2, shape, v);
}

/* Writes the activations, with the parameters of the activations that have parameters. */
static void put_activations(OnnxNode *node, const Node *n, const Recurrent *r)
{
    const Attr *a = node_attr(n, "alpha"), *b = node_attr(n, "beta");
    const char *name[MOST_RECURRENT_ACTIVATIONS] = { NULL }, *word = node_text(n, "activations", r->activations);
    float alpha[MOST_RECURRENT_ACTIVATIONS], beta[MOST_RECURRENT_ACTIVATIONS];
    int count = 0, alphas = 0, betas = 0;
    for (; *word && count < r->activation_count; word += strcspn(word, ","), word += *word == ',', count++) {
        const RecurrentActivation *f = recurrent_activation_named(word, strcspn(word, ","));
        if (!f) continue;
        name[count] = f->onnx;
        if (f->has_alpha && a) alpha[alphas++] = (float)a->reals[count];
        if (f->has_beta && b) beta[betas++] = (float)b->reals[count];
    }
    onnx_put_texts(node, "activations", name, count);
    if (alphas) onnx_put_floats(node, "activation_alpha", alpha, alphas);
    if (betas) onnx_put_floats(node, "activation_beta", beta, betas);
}

static const char *real_layer(OnnxWriter *w, const Node *n, const OnnxForm *f, const Recurrent *r)
{
    Tensor *h0 = input(n, RECURRENT_H0), *c0 = input(n, r->c0), *p = input(n, r->p), *lens = input(n, r->lens);
    const int64_t units = tensor_dim(n->in[RECURRENT_R], 0), columns = tensor_dim(n->in[RECURRENT_R], 1);
    const int64_t all[] = { tensor_dim(n->out[0], 0), tensor_dim(n->out[0], 1), units };
    const int64_t state[] = { 1, all[1], units }, peepholes[] = { 1, 3 * units };
    const char *out[3], *in[] = {
        onnx_operand(w, n->in[RECURRENT_X]),
        gate_weights(w, n->in[RECURRENT_W]),
        gate_weights(w, n->in[RECURRENT_R]),
        gate_bias(w, input(n, RECURRENT_B), input(n, r->rb), columns),
        lens ? onnx_operand(w, lens) : NULL,
        h0 ? onnx_reshaped(w, onnx_operand(w, h0), state, 3) : NULL,
        c0 ? onnx_reshaped(w, onnx_operand(w, c0), state, 3) : NULL,
        p ? onnx_reshaped(w, onnx_operand(w, p), peepholes, 2) : NULL,
    };
    OnnxNode node = onnx_node_begin(w, f->onnx);
    onnx_put_int(&node, "hidden_size", units);
    if (node_int(n, "reverse", 0)) onnx_put_text(&node, "direction", "reverse");
    if (node_real(n, "clip", 0) > 0) onnx_put_float(&node, "clip", node_real(n, "clip", 0));
    if (r->flag) onnx_put_int(&node, r->flag, node_int(n, r->flag, 0));
    if (node_attr(n, "activations")) put_activations(&node, n, r);
    onnx_node_ends(&node, in, p ? 8 : c0 ? 7 : h0 ? 6 : 5, out, n->out_count);
    for (int i = 1; i < n->out_count; i++) onnx_name_output(w, n->out[i], onnx_reshaped(w, out[i], state + 1, 2));
    return onnx_reshaped(w, out[0], all, 3);
}

/* ---- A step on integers ------------------------------------------------------------------------------------------ */

enum { MOST_GATES = 4 };

/* The graph of a step that is being built. */
typedef struct Cell {
    OnnxWriter *w;
    const Node *n;
    const Recurrent *r;
    int64_t batch, units;
    const char *x, *h, *c;             /* input[t], and the state (h, c) before the step; c only in LSTM */
    const char *stored;                /* the state in 16 bits */
    /* the weights of the gates i, o and f, which are constants outside the Scan, or NULL */
    const char *peephole[3];
} Cell;

static const char *with2(OnnxWriter *w, const char *op, const char *a, const char *b)
{
    const char *in[] = { a, b };
    return onnx_node(w, op, in, 2);
}

static const char *add(Cell *s, const char *a, const char *b) { return with2(s->w, "Add", a, b); }
static const char *mul(Cell *s, const char *a, const char *b) { return with2(s->w, "Mul", a, b); }
static const char *one_less(Cell *s, const char *v) { return with2(s->w, "Sub", onnx_number(s->w, "one", 1), v); }

static const char *cast(OnnxWriter *w, const char *v, DType to)
{
    OnnxNode n = onnx_node_begin(w, "Cast");
    onnx_put_int(&n, "to", onnx_type(w->cx, to));
    return onnx_node_end(&n, &v, 1);
}

/* Writes the columns `from` to `to` of integer weights as real numbers; the scale of a column is factor / unit. The
 * export does not use a DequantizeLinear, because ONNX Runtime's default level replaces the product of such weights and
 * a state by a product that rounds the state to 8 bits (MatMulNBits). */
static const char *columns_of(OnnxWriter *w, const Tensor *t, const Tensor *factor, double unit, int64_t from,
                              int64_t to)
{
    const int64_t rows = tensor_dim(t, 0), all = tensor_dim(t, 1), count = to - from, shape[] = { rows, count };
    const size_t bytes = (size_t)dtype_info(t->type)->bytes;
    float *scale = NEW_ARRAY(w->cx->arena, float, count);
    uint8_t *data = NEW_ARRAY(w->cx->arena, uint8_t, rows * count * (int64_t)bytes);
    for (int64_t c = 0; c < count; c++) scale[c] = (float)((double)((const float *)factor->data)[from + c] / unit);
    for (int64_t r = 0; r < rows; r++)
        memcpy(data + (size_t)(r * count) * bytes, (const uint8_t *)t->data + (size_t)(r * all + from) * bytes,
               (size_t)count * bytes);
    const char *stored = onnx_initializer(w, t->name, t->type, 2, shape, data);
    return with2(w, "Mul", cast(w, stored, F32), onnx_initializer(w, "scale", F32, 1, &count, scale));
}

/* Writes the product of the vector and the columns of r, starting with gate `first`. */
static const char *product(Cell *s, const char *vector, int first, int gates)
{
    const Tensor *factor = input(s->n, s->r->ws + 1);
    return with2(s->w, "MatMul", vector,
                 columns_of(s->w, s->n->in[RECURRENT_R], factor, 1.0 / INT16_MAX, first * s->units,
                            (first + gates) * s->units));
}

static const char *in_16_bits(OnnxWriter *w, const char *v)
{
    const int16_t zero = 0;
    return onnx_rounded(w, v, I16, (float)(1.0 / INT16_MAX), &zero);
}

/* Writes slices of `gates` gates along the axis. */
static void split_gates(OnnxWriter *w, const char *x, int axis, int64_t units, int gates, const char **out)
{
    int64_t each[MOST_GATES];
    for (int g = 0; g < gates; g++) each[g] = units;
    const char *in[] = { x, onnx_int_list(w, "split", each, gates) };
    OnnxNode split = onnx_node_begin(w, "Split");
    onnx_put_int(&split, "axis", axis);
    onnx_node_ends(&split, in, 2, out, gates);
}

static const char *activated(Cell *s, const char *function, const char *sum)
{
    const float most = (float)node_real(s->n, "clip", 0);
    const char *in[] = { sum, NULL, NULL };
    if (most > 0) {
        in[1] = onnx_number(s->w, "least", -most);
        in[2] = onnx_number(s->w, "most", most);
        sum = onnx_node(s->w, "Clip", in, 3);
    }
    return onnx_node(s->w, function, &sum, 1);
}

static const char *gru_step(Cell *s)
{
    enum { UPDATE, RESET, NEW };
    const Tensor *rb = input(s->n, s->r->rb);
    const bool linear = node_int(s->n, "linear_before_reset", 0) != 0;
    const char *x[3], *sums[2];
    split_gates(s->w, s->x, 1, s->units, 3, x);
    split_gates(s->w, product(s, s->stored, UPDATE, 2), 1, s->units, 2, sums);
    const char *update = activated(s, "Sigmoid", add(s, x[UPDATE], sums[UPDATE]));
    const char *reset = activated(s, "Sigmoid", add(s, x[RESET], sums[RESET]));
    const char *vector = linear ? s->stored : in_16_bits(s->w, mul(s, reset, s->h));
    const char *term = product(s, vector, NEW, 1);
    if (rb) term = add(s, term, onnx_initializer(s->w, "bias", F32, 1, &s->units, rb->data));
    if (linear) term = mul(s, reset, term);
    const char *candidate = activated(s, "Tanh", add(s, x[NEW], term));
    return add(s, mul(s, one_less(s, update), candidate), mul(s, update, s->h));
}

/* Writes gate g with the peephole on a state of the cell. */
static const char *lstm_gate(Cell *s, int g, const char *sum, const char *cell)
{
    return activated(s, "Sigmoid", s->peephole[g] ? add(s, sum, mul(s, s->peephole[g], cell)) : sum);
}

static const char *lstm_step(Cell *s)
{
    enum { IN, OUT, FORGET, NEW };
    const char *sum[4];
    split_gates(s->w, add(s, s->x, product(s, s->stored, IN, 4)), 1, s->units, 4, sum);
    const char *in = lstm_gate(s, IN, sum[IN], s->c);
    const bool follows = node_int(s->n, "input_forget", 0) != 0;
    const char *forget = follows ? one_less(s, in) : lstm_gate(s, FORGET, sum[FORGET], s->c);
    s->c = add(s, mul(s, forget, s->c), mul(s, in, activated(s, "Tanh", sum[NEW])));
    return mul(s, lstm_gate(s, OUT, sum[OUT], s->c), onnx_node(s->w, "Tanh", &s->c, 1));
}

/* ---- The steps --------------------------------------------------------------------------------------------------- */

/* Writes the lengths of the sequences, outside the Scan: [batch][1], limited to the number of steps. Returns NULL if
 * all sequences have all steps. */
static const char *lengths(OnnxWriter *w, const Node *n, const Recurrent *r)
{
    Tensor *lens = input(n, r->lens);
    if (!lens) return NULL;
    const int32_t zero = 0, steps = (int32_t)tensor_dim(n->out[0], 0);
    const int64_t shape[] = { tensor_dim(n->out[0], 1), 1 };
    const char *in[] = { onnx_operand(w, lens), onnx_initializer(w, "least", I32, 0, NULL, &zero),
                         onnx_initializer(w, "most", I32, 0, NULL, &steps) };
    return onnx_reshaped(w, onnx_node(w, "Clip", in, 3), shape, 2);
}

/* Writes the first steps of each sequence in reverse; the other steps are unchanged. */
static const char *reversed(OnnxWriter *w, const char *x, const char *length, int64_t batch)
{
    OnnxNode node = onnx_node_begin(w, "ReverseSequence");
    const char *in[] = { x, cast(w, onnx_reshaped(w, length, &batch, 1), I64) };
    onnx_put_int(&node, "time_axis", 0);
    onnx_put_int(&node, "batch_axis", 1);
    return onnx_node_end(&node, in, 2);
}

static const char *where(OnnxWriter *w, const char *condition, const char *yes, const char *no)
{
    const char *in[] = { condition, yes, no };
    return onnx_node(w, "Where", in, 3);
}

static const char *port(OnnxWriter *w, const char *what, DType t, int rank, const int64_t *shape)
{
    const char *name = onnx_fresh(w, what);
    onnx_put_port(w, GRAPH_INPUT, name, t, rank, shape);
    return name;
}

/* Adds an output that differs from all other ports. */
static void put_output(Cell *s, const char *v, const int64_t *state)
{
    onnx_put_port(s->w, GRAPH_OUTPUT, onnx_node(s->w, "Identity", &v, 1), F32, 2, state);
}

/* Returns the graph of a step, which maps h, c, input[t] and t to h, c and the row. */
static Message step_graph(Cell *s, const char *length)
{
    OnnxWriter *w = s->w;
    const Message outside = w->nodes;
    const int64_t state[] = { s->batch, s->units }, sums[] = { s->batch, tensor_dim(s->n->in[RECURRENT_R], 1) };
    w->nodes = message_new(w->cx);
    message_text(&w->nodes, GRAPH_NAME, onnx_fresh(w, "step"));
    const char *h0 = s->h = port(w, "h", F32, 2, state), *c0 = s->c = s->r->c0 ? port(w, "c", F32, 2, state) : NULL;
    s->x = port(w, "input", F32, 2, sums);
    const char *t = length ? port(w, "t", I32, 0, NULL) : NULL;
    s->stored = in_16_bits(w, s->h);
    const char *h = c0 ? lstm_step(s) : gru_step(s), *row = h;
    if (length) {
        const char *is_step = with2(w, "Less", t, length);
        const float zero = 0;
        row = where(w, is_step, h, onnx_number(w, "zero", zero));
        h = where(w, is_step, h, h0);
        if (c0) s->c = where(w, is_step, s->c, c0);
    }
    put_output(s, h, state);
    if (c0) put_output(s, s->c, state);
    put_output(s, row, state);
    const Message graph = w->nodes;
    w->nodes = outside;
    return graph;
}

/* Writes the initial state, or zeros if none is given. */
static const char *first_state(Cell *s, Tensor *given)
{
    const int64_t shape[] = { s->batch, s->units };
    if (given) return onnx_operand(s->w, given);
    return onnx_initializer(s->w, "first", F32, 2, shape, NEW_ARRAY(s->w->cx->arena, float, s->batch * s->units));
}

/* Writes x w + b, whose rows the Scan reads; x is on its grid and the weights have 8 bits. */
static const char *input_sums(OnnxWriter *w, const Node *n, const Recurrent *r)
{
    const double step = (double)*(const float *)n->in[RECURRENT_X]->producer->in[1]->data;
    Tensor *b = input(n, RECURRENT_B), *weights = n->in[RECURRENT_W];
    const char *sums = with2(w, "MatMul", onnx_operand(w, n->in[RECURRENT_X]),
                             columns_of(w, weights, input(n, r->ws), step, 0, tensor_dim(weights, 1)));
    return b ? with2(w, "Add", sums, onnx_operand(w, b)) : sums;
}

static const char *integer_layer(OnnxWriter *w, const Node *n, const Recurrent *r)
{
    Cell s = { .w = w, .n = n, .r = r, .batch = tensor_dim(n->out[0], 1), .units = tensor_dim(n->in[RECURRENT_R], 0) };
    Tensor *p = input(n, r->p);
    const int64_t steps = tensor_dim(n->out[0], 0), is_reverse = node_int(n, "reverse", 0) != 0;
    const char *length = lengths(w, n, r), *in[4], *out[3] = { NULL };
    int count = 0, states = 1 + (r->c0 != 0);
    if (p) split_gates(w, onnx_operand(w, p), 0, s.units, 3, s.peephole);
    in[count++] = first_state(&s, input(n, RECURRENT_H0));
    if (r->c0) in[count++] = first_state(&s, input(n, r->c0));
    in[count] = input_sums(w, n, r);
    if (length && is_reverse) in[count] = reversed(w, in[count], length, s.batch);
    count++;
    if (length) {
        int32_t *t = NEW_ARRAY(w->cx->arena, int32_t, steps);
        for (int64_t i = 0; i < steps; i++) t[i] = (int32_t)i;
        in[count++] = onnx_initializer(w, "t", I32, 1, &steps, t);
    }
    const Message graph = step_graph(&s, length);
    OnnxNode scan = onnx_node_begin(w, "Scan");
    onnx_put_int(&scan, "num_scan_inputs", count - states);
    if (is_reverse && !length) {
        onnx_put_ints(&scan, "scan_input_directions", &is_reverse, 1);
        onnx_put_ints(&scan, "scan_output_directions", &is_reverse, 1);
    }
    onnx_put_graph(&scan, "body", &graph);
    onnx_node_ends(&scan, in, count, out, states + 1);
    for (int i = 0; i < states && 1 + i < n->out_count; i++) {
        if (length) {                                       /* a sequence without steps gives zeros */
            const int32_t none = 0;
            const char *is_any = with2(w, "Greater", length, onnx_initializer(w, "none", I32, 0, NULL, &none));
            out[i] = where(w, is_any, out[i], onnx_number(w, "zero", 0));
        }
        onnx_name_output(w, n->out[1 + i], out[i]);
    }
    return length && is_reverse ? reversed(w, out[states], length, s.batch) : out[states];
}

const char *onnx_recurrent(OnnxWriter *w, const Node *n, const OnnxForm *f)
{
    const Recurrent *r = recurrent_of(f->op);
    if (!is_recurrent(w, n, r)) return NULL;
    return dtype_is_integer(n->in[RECURRENT_X]->type) ? integer_layer(w, n, r) : real_layer(w, n, f, r);
}
