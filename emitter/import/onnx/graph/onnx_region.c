/* SPDX-License-Identifier: MIT */
/* Control flow decided at run time. A nested graph is imported once, over inputs of its own. Values of enclosing graphs
 * are captured (onnx_graph.c) and become node inputs. A state that the body returns unchanged becomes a loop
 * invariant. */
#include "import/onnx/graph/onnx_region.h"

#include "graph/dag/region.h"

static bool same_shape(const Tensor *a, const Tensor *b)
{
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    return same;
}

static Graph graph_of(const OnnxCall *c, Tensor **input, int input_count, Tensor **output, int output_count)
{
    return (Graph){
        .name = c->name, .input = input, .input_count = input_count, .output = output, .output_count = output_count
    };
}

/* ---- If ---------------------------------------------------------------------------------------------------------- */

void onnx_choice(OnnxCall *c, const OnnxGraph *yes, const OnnxGraph *no)
{
    Ctx *cx = c->cx;
    OnnxCaptured captured = { 0 };
    const int count = yes->output_count;
    Tensor *condition = onnx_reshape(c, c->in[0], NULL, 0);
    Tensor **result[2] = { NEW_ARRAY(cx->arena, Tensor *, count), NEW_ARRAY(cx->arena, Tensor *, count) };
    if (no->output_count != count)
        onnx_refuse(c, "its branches have %d and %d outputs; equal counts are accepted", count, no->output_count);
    if (!onnx_run_captured(c, yes, NULL, NULL, 0, &captured, result[0])
        || !onnx_run_captured(c, no, NULL, NULL, 0, &captured, result[1]))
        return;
    for (int i = 0; i < count; i++)
        if (!same_shape(result[0][i], result[1][i]))
            onnx_unsupported(c,
                             "branches that produce %s%s and %s%s under a run-time condition; branches of one "
                             "shape are accepted, or a compile-time condition (--value)",
                             dtype_info(result[0][i]->type)->spelling, tensor_shape_text(cx, result[0][i]),
                             dtype_info(result[1][i]->type)->spelling, tensor_shape_text(cx, result[1][i]));
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    for (int g = 0; g < 2; g++) r.graph[g] = graph_of(c, captured.inner, captured.count, result[g], count);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, 1 + captured.count);
    in[0] = condition;
    for (int i = 0; i < captured.count; i++) in[1 + i] = captured.outer[i];
    Node *n = region_new(cx, c->name, &r, in, 1 + captured.count);
    for (int i = 0; n && i < count; i++) c->out[i] = n->out[i];
}

/* ---- Loop and Scan ----------------------------------------------------------------------------------------------- */

/* The body under construction. */
typedef struct Body {
    OnnxCall *c;
    const OnnxLoop *l;
    OnnxCaptured captured;
    Tensor *iteration, **state, **row;     /* its inputs */
    Tensor **result;                       /* results of the graph: the condition (of a Loop), states, rows */
    Tensor *condition;                     /* NULL: always true */
} Body;

static Tensor *row_of(Ctx *cx, const char *row_name, const Tensor *x)
{
    Tensor *row = tensor_new(cx, row_name, x->type, x->rank - 1, x->shape + 1);
    if (row) row->quant = x->quant;
    return row;
}

static bool import_body(Body *b)
{
    const OnnxLoop *l = b->l;
    Ctx *cx = b->c->cx;
    const int skipped = l->is_scan ? 0 : 2;             /* the iteration index and the condition */
    int count = 0;
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, skipped + l->state_count + l->scan_count);
    b->iteration = tensor_new(cx, "iteration", I64, 0, NULL);
    b->state = NEW_ARRAY(cx->arena, Tensor *, l->state_count);
    b->row = NEW_ARRAY(cx->arena, Tensor *, l->scan_count);
    b->result = NEW_ARRAY(cx->arena, Tensor *, b->l->graph->output_count);
    if (!l->is_scan) in[count++] = b->iteration, in[count++] = tensor_scalar(cx, "condition", BOOL, 1);
    for (int i = 0; i < l->state_count; i++)
        in[count++] = b->state[i] = tensor_new(cx, l->graph->input[skipped + i].name, l->state[i]->type,
                                               l->state[i]->rank, l->state[i]->shape);
    for (int i = 0; i < l->scan_count; i++)
        in[count++] = b->row[i] = row_of(cx, l->graph->input[skipped + l->state_count + i].name, l->scanned[i]);
    if (!onnx_run_captured(b->c, l->graph, b->iteration, in, count, &b->captured, b->result)) return false;
    if (l->is_scan) return true;
    Tensor *condition = *b->result++;
    if (tensor_elems(condition) != 1)
        onnx_refuse(b->c, "its condition \"%s\" has %lld elements; one is accepted", condition->name,
                    (long long)tensor_elems(condition));
    bool always = tensor_is_constant(condition) && !ctx_failed(cx)
                  && dtype_load(condition->type, condition->data, 0).i != 0;
    b->condition = always ? NULL : onnx_reshape(b->c, condition, NULL, 0);
    if (always && !l->count)
        onnx_refuse(b->c,
                    "it never ends: its condition always holds; a trip count (input 0), or a condition that changes, "
                    "is accepted");
    return !ctx_failed(cx);
}

/* Returns the new state in the shape of the old one: reshapes it if the element counts agree. */
static Tensor *as_state(Body *b, int i)
{
    Tensor *old_state = b->state[i], *new_state = b->result[i];
    int64_t shape[MAX_RANK];
    if (same_shape(old_state, new_state)) return new_state;
    for (int d = 0; d < old_state->rank; d++) shape[d] = tensor_dim(old_state, d);
    if (old_state->type == new_state->type && tensor_elems(old_state) == tensor_elems(new_state))
        return onnx_reshape(b->c, new_state, shape, old_state->rank);
    onnx_unsupported(b->c,
                     "its state \"%s\" is %s%s before and %s%s after an iteration, and its trip count is decided "
                     "at run time; a state that keeps its shape is accepted",
                     old_state->name, dtype_info(old_state->type)->spelling, tensor_shape_text(b->c->cx, old_state),
                     dtype_info(new_state->type)->spelling, tensor_shape_text(b->c->cx, new_state));
    return new_state;
}

/* True if the run decides how many rows there are. */
static bool decides_rows(const Body *b)
{
    const OnnxLoop *l = b->l;
    return l->row_count > 0 && (l->condition || b->condition || !l->count || !tensor_is_constant(l->count));
}

/* Returns the capacity of the collected rows: an upper bound of their count. */
static int64_t max_rows(Body *b)
{
    const Tensor *count = b->l->count;
    const int64_t trips = count && tensor_is_constant(count) ? dtype_load(I64, count->data, 0).i : -1,
                  natural = trips < 0 ? -1 : trips > INT32_MAX ? -1 : trips;
    int64_t most = -1;
    if (!b->l->row_count || !decides_rows(b)) return b->l->row_count ? natural : -1;
    for (int i = 0; i < b->l->row_count; i++) {
        const int64_t own = onnx_maximum(b->c, b->l->state_count + i, 0, natural);
        if (own >= 0 && (most < 0 || own < most)) most = own;
    }
    if (most < 0) {
        const int output = b->l->state_count;
        const char *rows = output < b->c->node->out_count ? b->c->node->out[output] : "";
        onnx_unsupported(b->c,
                         "it collects a row per iteration, and its trip count is decided at run time; a "
                         "compile-time trip count (--value NAME=FILE.npy) is accepted, or a shape that the model "
                         "declares for the output \"%s\", or --dim '%s.0<=N'", rows, rows);
    }
    return most;
}

/* Boundary of the region: outer inputs, inner inputs and results, in the order of graph/dag/region.h. */
typedef struct Boundary { int outer_count, inner_count, result_count; Tensor **outer, **inner, **result; } Boundary;

static Boundary boundary_new(const Body *b)
{
    Ctx *cx = b->c->cx;
    const int most = 4 + b->l->state_count + b->l->scan_count + b->l->row_count + b->captured.count;
    return (Boundary){ .outer = NEW_ARRAY(cx->arena, Tensor *, most),
                   .inner = NEW_ARRAY(cx->arena, Tensor *, most),
                   .result = NEW_ARRAY(cx->arena, Tensor *, most) };
}

static void add_input(Boundary *e, Tensor *outer, Tensor *inner)
{
    e->outer[e->outer_count++] = outer;
    e->inner[e->inner_count++] = inner;
}

/* Adds the states that change; index[k] is the position of the k-th among all states. The others are invariants: their
 * final value is the initial one. */
static int add_states(Body *b, Boundary *e, int *index)
{
    int count = 0;
    for (int i = 0; i < b->l->state_count && !ctx_failed(b->c->cx); i++) {
        if (b->result[i] == b->state[i]) continue;
        index[count++] = i;
        add_input(e, b->l->state[i], b->state[i]);
        e->result[e->result_count++] = as_state(b, i);
    }
    return count;
}

/* Adds a state that counts the iterations. */
static void add_counter(Body *b, Boundary *e)
{
    Tensor *zero = tensor_scalar(b->c->cx, "rows", I64, 0), *one = tensor_scalar(b->c->cx, "one", I64, 1);
    add_input(e, zero, tensor_new(b->c->cx, "rows", I64, 0, NULL));
    e->result[e->result_count++] = onnx_call2(b->c, "add", b->iteration, one);
}

static void add_invariants(Body *b, Boundary *e)
{
    for (int i = 0; i < b->captured.count; i++) add_input(e, b->captured.outer[i], b->captured.inner[i]);
    for (int i = 0; i < b->l->state_count; i++) {
        if (b->result[i] != b->state[i]) continue;
        add_input(e, b->l->state[i], b->state[i]);
        b->c->out[i] = b->l->state[i];
    }
}

static void add_rows(Body *b, Boundary *e)
{
    for (int i = 0; i < b->l->row_count; i++) {
        Tensor *row = b->result[b->l->state_count + i];
        if (row->rank == MAX_RANK)
            onnx_unsupported(b->c, "rows of %d dimensions; at most %d are accepted", MAX_RANK, MAX_RANK - 1);
        e->result[e->result_count++] = row;
    }
}

void onnx_loop(OnnxCall *c, const OnnxLoop *l)
{
    Ctx *cx = c->cx;
    Body b = { .c = c, .l = l };
    if (!import_body(&b)) return;
    Boundary e = boundary_new(&b);
    int *index = NEW_ARRAY(cx->arena, int, l->state_count);
    e.outer[e.outer_count++] = l->count;
    add_input(&e, l->condition, b.iteration);
    if (b.condition) e.result[e.result_count++] = b.condition;
    const int changed = add_states(&b, &e, index);
    const bool is_counted = decides_rows(&b);
    if (is_counted) add_counter(&b, &e);
    Region r = { .kind = REGION_LOOP,
                 .graph_count = 1,
                 .state_count = changed + is_counted,
                 .scan_count = l->scan_count,
                 .row_count = l->row_count,
                 .has_condition = b.condition != NULL,
                 .scans_back = l->scans_back,
                 .rows_back = l->rows_back,
                 .max_trip_count = max_rows(&b) };
    for (int i = 0; i < l->scan_count; i++) add_input(&e, l->scanned[i], b.row[i]);
    add_invariants(&b, &e);
    add_rows(&b, &e);
    if (ctx_failed(cx)) return;
    r.graph[0] = graph_of(c, e.inner, e.inner_count, e.result, e.result_count);
    Node *n = region_new(cx, c->name, &r, e.outer, e.outer_count);
    for (int i = 0; n && i < changed; i++) c->out[index[i]] = n->out[i];
    const Expr *size = NULL;
    for (int i = 0; n && i < l->row_count && !ctx_failed(cx); i++) {
        const int output = l->state_count + i;
        if (is_counted && !size) size = onnx_decided(c, output, 0, n->out[changed], 0, r.max_trip_count);
        c->out[output] = size ? onnx_cut(c, n->out[r.state_count + i], 0, size) : n->out[r.state_count + i];
    }
}
