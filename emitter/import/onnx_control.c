/* SPDX-License-Identifier: MIT */
/* Control flow whose course is known when compiling: a branch is taken, or both are computed and one is chosen; a loop is
 * written out, iteration after iteration. */
#include <string.h>

#include "import/onnx_graph.h"

enum { MOST_ITERATIONS = 1024 };

static const OnnxGraph *graph_of(OnnxCall *c, const char *attr)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    if (!a || !a->graph) onnx_refuse(c, "the graph '%s' is missing", attr);
    else if (a->graph->output_count > ONNX_OUTPUTS) onnx_unsupported(c, "a graph of %d outputs; at most %d are accepted", a->graph->output_count, ONNX_OUTPUTS);
    return ctx_failed(c->cx) ? NULL : a->graph;
}

/* ---- If ------------------------------------------------------------------------------------------------------------ */

static Tensor *chosen(OnnxCall *c, Tensor *condition, Tensor *yes, Tensor *no)
{
    bool fits = yes->type == no->type && yes->rank == no->rank;
    for (int d = 0; fits && d < yes->rank; d++) fits = yes->shape[d] == no->shape[d];
    if (!fits) {
        onnx_unsupported(c, "branches that give %s%s and %s%s, and a condition that is not known when compiling", dtype_info(yes->type)->spelling,
                         tensor_shape_text(c->cx, yes), dtype_info(no->type)->spelling, tensor_shape_text(c->cx, no));
        return NULL;
    }
    return call(c->cx, "where", c->name, (Tensor *[]){ condition, yes, no }, 3, "");
}

static void if_(OnnxCall *c)
{
    double is_true;
    Tensor *yes[ONNX_OUTPUTS], *no[ONNX_OUTPUTS];
    const OnnxGraph *then_graph = graph_of(c, "then_branch"), *else_graph = graph_of(c, "else_branch");
    if (!then_graph || !else_graph || !onnx_needs(c, 1)) return;
    if (tensor_is_constant(c->in[0])) {
        if (onnx_scalar(c, 0, &is_true)) onnx_run_graph(c, is_true != 0 ? then_graph : else_graph, NULL, 0, c->out);
        return;
    }
    int count = then_graph->output_count;
    if (else_graph->output_count != count) onnx_refuse(c, "its branches have %d and %d outputs", count, else_graph->output_count);
    Tensor *condition = onnx_reshape(c, c->in[0], NULL, 0);
    if (!onnx_run_graph(c, then_graph, NULL, 0, yes) || !onnx_run_graph(c, else_graph, NULL, 0, no)) return;
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) c->out[i] = chosen(c, condition, yes[i], no[i]);
}

/* ---- Loop and Scan ------------------------------------------------------------------------------------------------- */

/* What an iteration adds to the outputs that collect: a row each, put together at the end. */
typedef struct Rows { Tensor **at; int count; } Rows;

static void add_row(OnnxCall *c, Rows *r, Tensor *x, int axis)
{
    int64_t shape[MAX_RANK];
    if (x->rank == MAX_RANK) onnx_unsupported(c, "rows of %d dimensions", x->rank);
    if (ctx_failed(c->cx)) return;
    for (int d = 0; d <= x->rank; d++) shape[d] = d == axis ? 1 : tensor_dim(x, d > axis ? d - 1 : d);
    r->at[r->count++] = onnx_reshape(c, x, shape, x->rank + 1);
}

static Tensor *rows_together(OnnxCall *c, const Rows *r, int axis)
{
    if (r->count) return r->count == 1 ? r->at[0] : call(c->cx, "concat", c->name, r->at, r->count, "axis=%d", axis);
    onnx_unsupported(c, "a result without elements: no iteration");
    return NULL;
}

/* inputs: how many times, whether at all, the state; the graph's: which time, the condition, the state; its outputs: the
 * condition, the state, rows. */
static void loop(OnnxCall *c)
{
    const OnnxGraph *g = graph_of(c, "body");
    int states = c->in_count > 2 ? c->in_count - 2 : 0;
    double most = MOST_ITERATIONS + 1, goes_on = 1;
    if (!g) return;
    if ((onnx_in(c, 0) && !onnx_scalar(c, 0, &most)) || (onnx_in(c, 1) && !onnx_scalar(c, 1, &goes_on))) return;
    if (states + 2 > ONNX_OUTPUTS || g->output_count < 1 + states) {
        onnx_refuse(c, "it has %d states, but its graph %d outputs", states, g->output_count);
        return;
    }
    Tensor *in[ONNX_OUTPUTS], *out[ONNX_OUTPUTS];
    Rows rows[ONNX_OUTPUTS];
    for (int i = 0; i < states; i++) in[2 + i] = c->in[2 + i];
    for (int i = 1 + states; i < g->output_count; i++) rows[i] = (Rows){ NEW_ARRAY(c->cx->arena, Tensor *, MOST_ITERATIONS), 0 };
    for (int64_t turn = 0; (double)turn < most && goes_on != 0; turn++) {
        if (turn == MOST_ITERATIONS) onnx_unsupported(c, "more than %d iterations", MOST_ITERATIONS);
        in[0] = tensor_constant(c->cx, "turn", I64, 0, NULL, &turn);
        in[1] = tensor_scalar(c->cx, "goes_on", BOOL, 1);
        if (!onnx_run_graph(c, g, in, 2 + states, out)) return;
        if (!tensor_is_constant(out[0]) || tensor_elems(out[0]) != 1) {
            onnx_unsupported(c, "its condition \"%s\" is not constant; a loop whose end is known when compiling is accepted", out[0]->name);
            return;
        }
        goes_on = (double)dtype_load(out[0]->type, out[0]->data, 0).i;
        for (int i = 0; i < states; i++) in[2 + i] = out[1 + i];
        for (int i = 1 + states; i < g->output_count; i++) add_row(c, &rows[i], out[i], 0);
    }
    for (int i = 0; i < states; i++) c->out[i] = in[2 + i];
    for (int i = states; i < c->node->out_count && i + 1 < g->output_count; i++) c->out[i] = rows_together(c, &rows[1 + i], 0);
}

/* Element `at` of a scanned input. */
static Tensor *scanned(OnnxCall *c, Tensor *x, int axis, int64_t at)
{
    int64_t shape[MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank; d++)
        if (d != axis) shape[rank++] = tensor_dim(x, d);
    return onnx_reshape(c, onnx_call(c, "slice", x, "axes=%d begin=%lld end=%lld", axis, (long long)at, (long long)at + 1), shape, rank);
}

typedef struct Scan {
    const OnnxGraph *graph;
    int states, inputs, outputs;
    int64_t in_axis[ONNX_OUTPUTS], out_axis[ONNX_OUTPUTS], in_back[ONNX_OUTPUTS], out_back[ONNX_OUTPUTS], length;
} Scan;

static bool read_scan(OnnxCall *c, Scan *s)
{
    s->graph = graph_of(c, "body");
    if (!s->graph) return false;
    s->inputs = (int)onnx_int(c, "num_scan_inputs", 0);
    s->states = c->in_count - s->inputs;
    s->outputs = s->graph->output_count - s->states;
    if (s->inputs < 1 || s->states < 0 || s->outputs < 0 || c->in_count > ONNX_OUTPUTS || s->graph->output_count > ONNX_OUTPUTS) {
        onnx_refuse(c, "%d inputs, %d of them scanned, and %d outputs of its graph", c->in_count, s->inputs, s->graph->output_count);
        return false;
    }
    for (int i = 0; i < ONNX_OUTPUTS; i++) s->in_axis[i] = s->out_axis[i] = s->in_back[i] = s->out_back[i] = 0;
    onnx_ints(c, "scan_input_axes", -1, s->in_axis, s->inputs);
    onnx_ints(c, "scan_output_axes", -1, s->out_axis, s->outputs);
    onnx_ints(c, onnx_attr(c, "directions") ? "directions" : "scan_input_directions", -1, s->in_back, s->inputs);
    onnx_ints(c, "scan_output_directions", -1, s->out_back, s->outputs);
    for (int i = 0; i < s->inputs && onnx_needs(c, c->in_count) && !ctx_failed(c->cx); i++) {
        Tensor *x = c->in[s->states + i];
        int axis = onnx_axis(c, s->in_axis[i], x->rank);
        if (axis < 0) return false;
        s->in_axis[i] = axis;
        if (i == 0) s->length = tensor_dim(x, axis);
        if (tensor_dim(x, axis) != s->length || s->length < 1 || s->length > MOST_ITERATIONS)
            onnx_unsupported(c, "scanning %lld elements; the same number, up to %d, for each input is accepted", (long long)tensor_dim(x, axis), MOST_ITERATIONS);
    }
    return !ctx_failed(c->cx);
}

static void run_scan(OnnxCall *c, Scan *s, Tensor *const *given)
{
    Tensor *in[ONNX_OUTPUTS], *out[ONNX_OUTPUTS];
    Rows rows[ONNX_OUTPUTS];
    for (int i = 0; i < s->states; i++) in[i] = given[i];
    for (int i = 0; i < s->outputs; i++) rows[i] = (Rows){ NEW_ARRAY(c->cx->arena, Tensor *, s->length), 0 };
    for (int64_t t = 0; t < s->length; t++) {
        for (int i = 0; i < s->inputs; i++) in[s->states + i] = scanned(c, given[s->states + i], (int)s->in_axis[i], s->in_back[i] ? s->length - 1 - t : t);
        if (!onnx_run_graph(c, s->graph, in, s->states + s->inputs, out)) return;
        for (int i = 0; i < s->states; i++) in[i] = out[i];
        for (int i = 0; i < s->outputs; i++) {
            int64_t axis = s->out_axis[i];
            add_row(c, &rows[i], out[s->states + i], (int)(axis < 0 ? axis + out[s->states + i]->rank + 1 : axis));
        }
    }
    for (int i = 0; i < s->states; i++) c->out[i] = in[i];
    for (int i = 0; i < s->outputs && !ctx_failed(c->cx); i++) {
        int rank = rows[i].at[0]->rank;
        for (int a = 0, b = rows[i].count - 1; s->out_back[i] && a < b; a++, b--) {
            Tensor *first = rows[i].at[a];
            rows[i].at[a] = rows[i].at[b];
            rows[i].at[b] = first;
        }
        c->out[s->states + i] = rows_together(c, &rows[i], (int)(s->out_axis[i] < 0 ? s->out_axis[i] + rank : s->out_axis[i]));
    }
}

static void scan(OnnxCall *c)
{
    Scan s;
    if (read_scan(c, &s)) run_scan(c, &s, c->in);
}

/* Before operator set 9 the lengths of the sequences came first, and everything had a batch dimension in front; a batch of
 * one is looked through. */
static void batched_scan(OnnxCall *c)
{
    if (c->opset >= 9) {
        scan(c);
        return;
    }
    if (onnx_in(c, 0)) onnx_unsupported(c, "lengths of sequences");
    for (int i = 1; i < c->in_count; i++) {
        if (!c->in[i] || c->in[i]->rank < 1 || tensor_dim(c->in[i], 0) != 1) onnx_unsupported(c, "a batch other than 1");
        if (!ctx_failed(c->cx)) c->in[i] = scanned(c, c->in[i], 0, 0);
    }
    if (ctx_failed(c->cx) || c->in_count < 1) return;
    c->in++, c->in_count--;
    scan(c);
    for (int i = 0; i < c->node->out_count && i < ONNX_OUTPUTS && !ctx_failed(c->cx); i++) {
        Tensor *row;
        Rows one = { &row, 0 };
        if (c->out[i]) add_row(c, &one, c->out[i], 0);
        if (one.count) c->out[i] = row;
    }
}

const OnnxOp onnx_rows_control[] = {
    ONNX_MOVE("If", "else_branch then_branch", if_),
    ONNX_MOVE("Loop", "body", loop),
    ONNX_MOVE("Scan", "body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions", batched_scan),
    { 0 }
};
