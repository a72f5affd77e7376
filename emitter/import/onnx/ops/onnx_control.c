/* SPDX-License-Identifier: MIT */
/* Translates control flow. A condition known at compile time selects its branch at compile time. A loop is unrolled in
 * these cases:
 *
 *   - it has one iteration, or at most UNROLLED_NODES nodes in all iterations (two iterations of a recurrent cell are
 *     already larger than the code of its loop)
 *   - all of its results are constant
 *   - a state changes its shape between iterations, or a shape depends on the iteration index
 *   - a state is a sequence, whose length exists at compile time only
 *
 * Any other branch or loop becomes a region of the DAG (onnx_region.c): its graphs are compiled once, and run as the
 * condition and the trip count decide. */
#include <math.h>
#include <string.h>

#include "import/onnx/graph/onnx_region.h"
#include "import/onnx/ops/onnx_rows.h"

enum { MOST_ITERATIONS = 1024, UNROLLED_NODES = 8 };

static const OnnxGraph *graph_of(OnnxCall *c, const char *attr)
{
    const OnnxAttr *a = onnx_attr(c, attr);
    if (!a || !a->graph) onnx_refuse(c, "the graph '%s' is missing", attr);
    else if (a->graph->output_count > ONNX_OUTPUTS)
        onnx_unsupported(c, "the graph has %d outputs; use at most %d outputs", a->graph->output_count, ONNX_OUTPUTS);
    return ctx_failed(c->cx) ? NULL : a->graph;
}

/* ---- If ---------------------------------------------------------------------------------------------------------- */

static void if_(OnnxCall *c)
{
    double is_true;
    const OnnxGraph *yes = graph_of(c, "then_branch"), *no = graph_of(c, "else_branch");
    if (!yes || !no || !onnx_requires(c, 1)) return;
    if (!tensor_is_constant(c->in[0])) onnx_choice(c, yes, no);
    else if (onnx_scalar(c, 0, &is_true)) onnx_run_lists(c, is_true != 0 ? yes : no, NULL, NULL, 0);
}

/* ---- Loop and Scan ----------------------------------------------------------------------------------------------- */

/* The rows that iterations add to a collecting output; they are concatenated after the loop. */
typedef struct ScanRows { Tensor **at; int count; } ScanRows;

static void add_row(OnnxCall *c, ScanRows *r, Tensor *x, int axis)
{
    const Expr *shape[MAX_RANK];
    if (x->rank == MAX_RANK)
        onnx_unsupported(c, "the rows have %d dimensions; use at most %d", x->rank, MAX_RANK - 1);
    if (ctx_failed(c->cx)) return;
    for (int d = 0; d <= x->rank; d++) shape[d] = d == axis ? expr_index(c->cx, 1) : x->shape[d > axis ? d - 1 : d];
    r->at[r->count++] = onnx_view(c, x, shape, x->rank + 1);
}

static Tensor *concat_rows(OnnxCall *c, const ScanRows *r, int axis)
{
    if (r->count == 1) return r->at[0];
    if (r->count) return call(c->cx, "concat", c->name, r->at, r->count, ATTRS(attr_int("axis", axis)));
    onnx_unsupported(c, "the result has no elements, because the loop has no iteration; use at least one iteration");
    return NULL;
}

/* The inputs of a Loop node. */
typedef struct LoopEntry {
    const OnnxGraph *body;
    int states;
    double most, condition;          /* constant trip count and condition; infinity and 1 if the file has none */
    bool is_decided;                 /* true if these bounds decide whether the first iteration runs */
    bool has_list;                   /* true if a state is a sequence */
} LoopEntry;

/* Totals of the iterations unrolled so far. */
typedef struct Unrolled { int64_t iterations, nodes; bool changes_shape; } Unrolled;

static bool all_constant(Tensor *const *t, int count)
{
    for (int i = 0; i < count; i++)
        if (!tensor_is_constant(t[i])) return false;
    return true;
}

static bool same_dims(const Tensor *a, const Tensor *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    return same;
}

static void count_iteration(Unrolled *u, const LoopEntry *s, Tensor *const *old_state, Tensor *const *result)
{
    u->iterations++;
    if (!all_constant(result, s->body->output_count - 1)) u->nodes += s->body->node_count;
    for (int i = 0; i < s->states; i++) u->changes_shape = u->changes_shape || !same_dims(old_state[i], result[i]);
}

static bool is_enough(OnnxCall *c, const Unrolled *u, int64_t most_nodes)
{
    bool is_within = u->changes_shape || u->nodes <= most_nodes;
    if (u->iterations == MOST_ITERATIONS && is_within && (u->changes_shape || most_nodes == INT64_MAX))
        onnx_unsupported(c,
                         "the loop is unrolled because a state changes its shape, or a shape depends on the iteration "
                         "index; use at most %d iterations",
                         MOST_ITERATIONS);
    return !is_within || u->iterations == MOST_ITERATIONS;
}

/* Returns the inputs of an iteration that precede the states. */
static void begin_iteration(OnnxCall *c, Tensor **in, int64_t number)
{
    in[0] = tensor_constant(c->cx, "iteration", I64, 0, NULL, &number);
    in[1] = tensor_scalar(c->cx, "condition", BOOL, 1);
}

/* Returns true if an iteration's condition is known; *goes_on receives its value. */
static bool knows_condition(const Tensor *t, bool *goes_on)
{
    if (!t || !tensor_is_constant(t) || tensor_elems(t) != 1) return false;
    *goes_on = dtype_load(t->type, t->data, 0).i != 0;
    return true;
}

/* Begins the lists of rows that iterations collect, by output of the body. */
static void begin_rows(OnnxCall *c, const LoopEntry *s, ScanRows *rows)
{
    for (int i = 1 + s->states; i < s->body->output_count; i++)
        rows[i] = (ScanRows){ NEW_ARRAY(c->cx->arena, Tensor *, MOST_ITERATIONS), 0 };
}

static void end_rows(OnnxCall *c, const LoopEntry *s, ScanRows *rows)
{
    for (int i = s->states; i < c->node->out_count && i + 1 < s->body->output_count && !ctx_failed(c->cx); i++)
        c->out[i] = concat_rows(c, &rows[1 + i], 0);
}

/* Sets the rows of a loop without iterations to tensors without elements, whose shapes follow from one iteration. */
static void no_rows(OnnxCall *c, const LoopEntry *s, Tensor **in)
{
    Tensor *out[ONNX_OUTPUTS];
    if (c->node->out_count <= s->states) return;
    begin_iteration(c, in, 0);
    if (!onnx_run_graph(c, s->body, in[0], in, 2 + s->states, out)) return;
    for (int i = s->states; i < c->node->out_count && i + 1 < s->body->output_count; i++) {
        const Tensor *row = out[1 + i];
        int64_t shape[MAX_RANK] = { 0 };
        if (row->rank == MAX_RANK || !tensor_is_fixed(row))
            onnx_unsupported(c, "the rows are %s; use fixed sizes, and at most %d dimensions",
                             tensor_shape_text(c->cx, row), MAX_RANK - 1);
        if (ctx_failed(c->cx)) return;
        for (int d = 0; d < row->rank; d++) shape[1 + d] = tensor_dim(row, d);
        c->out[i] = onnx_empty(c, row->type, shape, 1 + row->rank);
    }
}

/* Unrolls a Loop. The body's inputs are the iteration index, the condition and the states; its outputs are the
 * condition, the states and rows. Returns false, and leaves the node's outputs unchanged, if the loop exceeds
 * `most_nodes` nodes or its trip count is not constant. */
static bool unroll(OnnxCall *c, const LoopEntry *s, int64_t most_nodes)
{
    Tensor *in[ONNX_OUTPUTS], *out[ONNX_OUTPUTS];
    ScanRows rows[ONNX_OUTPUTS];
    Unrolled u = { 0 };
    bool condition = s->condition != 0;
    for (int i = 0; i < s->states; i++) in[2 + i] = c->in[2 + i];
    begin_rows(c, s, rows);
    while ((double)u.iterations < s->most && condition) {
        begin_iteration(c, in, u.iterations);
        if (!onnx_run_graph(c, s->body, in[0], in, 2 + s->states, out)) return true;
        if (!knows_condition(out[0], &condition)) return false;
        count_iteration(&u, s, in + 2, out + 1);
        for (int i = 0; i < s->states; i++) in[2 + i] = out[1 + i];
        for (int i = 1 + s->states; i < s->body->output_count; i++) add_row(c, &rows[i], out[i], 0);
        if ((double)u.iterations < s->most && condition && is_enough(c, &u, most_nodes)) return ctx_failed(c->cx);
    }
    if (u.iterations > 1 && u.nodes > most_nodes && !u.changes_shape) return false;
    for (int i = 0; i < s->states; i++) c->out[i] = in[2 + i];
    if (u.iterations) end_rows(c, s, rows);
    else no_rows(c, s, in);
    return true;
}

/* Unrolls a Loop with sequences among its states, whose conditions must be constant. */
static void unroll_lists(OnnxCall *c, const LoopEntry *s)
{
    const int in_count = 2 + s->states, rows_from = 1 + s->states;
    Tensor *in[ONNX_OUTPUTS];
    const OnnxList *list[ONNX_OUTPUTS] = { NULL };
    ScanRows rows[ONNX_OUTPUTS];
    bool goes_on = s->condition != 0;
    for (int i = 2; i < in_count; i++) {
        in[i] = c->in[i];
        list[i] = c->in[i] ? NULL : c->list[i];
    }
    begin_rows(c, s, rows);
    for (int64_t t = 0; (double)t < s->most && goes_on; t++) {
        if (t == MOST_ITERATIONS)
            onnx_unsupported(c, "the loop is unrolled because a state is a sequence; use at most %d iterations",
                             MOST_ITERATIONS);
        begin_iteration(c, in, t);
        if (!onnx_run_lists(c, s->body, in, list, in_count)) return;
        if (!knows_condition(c->out[0], &goes_on)) {
            onnx_unsupported(c, "a state is a sequence, but only the run decides whether the loop continues; use a "
                             "condition that is known at compile time");
            return;
        }
        for (int i = 0; i < s->states; i++) {
            in[2 + i] = c->out[1 + i];
            list[2 + i] = c->out_list[1 + i];
        }
        for (int i = rows_from; i < s->body->output_count && !ctx_failed(c->cx); i++)
            if (c->out[i]) add_row(c, &rows[i], c->out[i], 0);
            else onnx_unsupported(c, "its graph collects a sequence (output %d); use tensors", i);
    }
    for (int i = 0; i < ONNX_OUTPUTS; i++) {
        c->out[i] = i < s->states ? in[2 + i] : NULL;
        c->out_list[i] = i < s->states ? list[2 + i] : NULL;
    }
    end_rows(c, s, rows);
}

/* Returns an input as a scalar of the type, or NULL if it is absent. */
static Tensor *limit(OnnxCall *c, int index, DType t)
{
    Tensor *x = onnx_in(c, index);
    double value;
    if (!x) return NULL;
    if (!tensor_is_constant(x)) return onnx_reshape(c, onnx_cast(c, x, t), NULL, 0);
    return onnx_scalar(c, index, &value) ? tensor_scalar(c->cx, x->name, t, value) : NULL;
}

static bool is_constant(const OnnxCall *c, int index)
{
    return !onnx_in(c, index) || tensor_is_constant(onnx_in(c, index));
}

/* Reads the inputs: the trip count, the condition and the states. */
static bool read_loop(OnnxCall *c, LoopEntry *s)
{
    *s = (LoopEntry){
        .body = graph_of(c, "body"), .states = c->in_count > 2 ? c->in_count - 2 : 0, .most = INFINITY, .condition = 1
    };
    if (!s->body) return false;
    if (s->states + 2 > ONNX_OUTPUTS)
        onnx_refuse(c, "it has %d states; use at most %d states", s->states, ONNX_OUTPUTS - 2);
    if (s->body->input_count < 2 + s->states || s->body->output_count < 1 + s->states)
        onnx_refuse(c, "it has %d states, but its graph has %d inputs and %d outputs; use at least %d inputs and %d "
                       "outputs", s->states, s->body->input_count, s->body->output_count, 2 + s->states,
                    1 + s->states);
    for (int i = 0; i < s->states; i++) {
        const bool is_list = !c->in[2 + i] && c->list && c->list[2 + i];
        s->has_list = s->has_list || is_list;
        if (!c->in[2 + i] && !is_list)
            onnx_unsupported(c, "its state \"%s\" is not a tensor; use tensors or sequences",
                             c->node->in[2 + i]);
    }
    if (onnx_in(c, 0) && is_constant(c, 0)) onnx_scalar(c, 0, &s->most);
    if (onnx_in(c, 1) && is_constant(c, 1)) onnx_scalar(c, 1, &s->condition);
    s->is_decided = (is_constant(c, 0) && is_constant(c, 1)) || s->most <= 0 || s->condition == 0;
    return !ctx_failed(c->cx);
}

static void loop_region(OnnxCall *c, const LoopEntry *s)
{
    Tensor *condition = limit(c, 1, BOOL);
    OnnxLoop l = { .graph = s->body,
                   .state = c->in + 2,
                   .state_count = s->states,
                   .row_count = s->body->output_count - 1 - s->states };
    if (condition && !tensor_is_constant(condition)) l.condition = condition;
    if (!is_constant(c, 0) || s->most <= INT32_MAX) l.count = limit(c, 0, I64);
    else if (c->in[0]) l.huge = dtype_load(c->in[0]->type, c->in[0]->data, 0).i;
    l.rows_back = NEW_ARRAY(c->cx->arena, bool, l.row_count);
    onnx_loop(c, &l);
}

static void loop(OnnxCall *c)
{
    LoopEntry s;
    if (!read_loop(c, &s)) return;
    if (s.has_list && s.is_decided) unroll_lists(c, &s);
    else if (s.has_list)
        onnx_unsupported(c, "a state is a sequence, but only the run decides whether the loop starts; use a count and "
                         "a condition that are known at compile time");
    if (s.has_list || (s.is_decided && unroll(c, &s, UNROLLED_NODES))) return;
    DiagMark before = diag_mark(c->cx);
    loop_region(c, &s);
    if (!ctx_failed(c->cx) || !s.is_decided || (c->in[0] && s.most > INT32_MAX)) return;
    /* a shape may depend on the iteration index, which must then be constant */
    diag_rewind(c->cx, before);
    if (!unroll(c, &s, INT64_MAX)) loop_region(c, &s);
}

/* Returns element `at` of a scanned input. */
static Tensor *scan_element(OnnxCall *c, Tensor *x, int axis, int64_t at)
{
    int64_t shape[MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank; d++)
        if (d != axis) shape[rank++] = tensor_dim(x, d);
    return onnx_reshape(c,
                        onnx_call(c, "slice", x, attr_list("axes", axis), attr_list("begin", at),
                                  attr_list("end", at + 1)),
                        shape, rank);
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
    const int64_t inputs = onnx_int(c, "num_scan_inputs", 0);
    s->inputs = inputs < 1 || inputs > c->in_count ? 0 : (int)inputs;
    s->states = c->in_count - s->inputs;
    s->outputs = s->graph->output_count - s->states;
    if (!onnx_holds(c, s->inputs > 0, "'num_scan_inputs' is %lld; use 1 to %d, the number of inputs",
                    (long long)inputs, c->in_count)
        || !onnx_holds(c, c->in_count <= ONNX_OUTPUTS, "it has %d inputs; use at most %d inputs", c->in_count,
                       ONNX_OUTPUTS)
        || !onnx_holds(c, s->graph->input_count >= c->in_count, "it has %d inputs, but its graph has %d; use a graph "
                       "input for each", c->in_count, s->graph->input_count)
        || !onnx_holds(c, s->outputs >= 0, "it has %d states, but its graph has %d outputs; use a graph output for "
                       "each", s->states, s->graph->output_count)
        || !onnx_holds(c, s->graph->output_count <= ONNX_OUTPUTS, "its graph has %d outputs; use at most %d outputs",
                       s->graph->output_count, ONNX_OUTPUTS))
        return false;
    for (int i = 0; i < ONNX_OUTPUTS; i++) s->in_axis[i] = s->out_axis[i] = s->in_back[i] = s->out_back[i] = 0;
    onnx_ints(c, "scan_input_axes", -1, s->in_axis, s->inputs);
    onnx_ints(c, "scan_output_axes", -1, s->out_axis, s->outputs);
    onnx_ints(c, onnx_attr(c, "directions") ? "directions" : "scan_input_directions", -1, s->in_back, s->inputs);
    onnx_ints(c, "scan_output_directions", -1, s->out_back, s->outputs);
    for (int i = 0; i < s->inputs && onnx_requires(c, c->in_count) && !ctx_failed(c->cx); i++) {
        Tensor *x = c->in[s->states + i];
        int axis = onnx_axis(c, s->in_axis[i], x->rank);
        if (axis < 0) return false;
        s->in_axis[i] = axis;
        if (i == 0) s->length = tensor_dim(x, axis);
        if (tensor_dim(x, axis) != s->length || s->length < 1)
            onnx_unsupported(c, "it scans %lld elements; use equally many elements, at least 1, in each scanned input",
                             (long long)tensor_dim(x, axis));
    }
    return !ctx_failed(c->cx);
}

static void unroll_scan(OnnxCall *c, Scan *s, Tensor *const *given)
{
    Tensor *in[ONNX_OUTPUTS], *out[ONNX_OUTPUTS];
    ScanRows rows[ONNX_OUTPUTS];
    for (int i = 0; i < s->states; i++) in[i] = given[i];
    for (int i = 0; i < s->outputs; i++) rows[i] = (ScanRows){ NEW_ARRAY(c->cx->arena, Tensor *, s->length), 0 };
    for (int64_t t = 0; t < s->length; t++) {
        for (int i = 0; i < s->inputs; i++)
            in[s->states + i] = scan_element(c, given[s->states + i], (int)s->in_axis[i],
                                        s->in_back[i] ? s->length - 1 - t : t);
        if (!onnx_run_graph(c, s->graph, tensor_constant(c->cx, "iteration", I64, 0, NULL, &t), in,
                            s->states + s->inputs, out))
            return;
        for (int i = 0; i < s->states; i++) in[i] = out[i];
        for (int i = 0; i < s->outputs; i++) {
            const int axis = onnx_axis(c, s->out_axis[i], out[s->states + i]->rank + 1);
            if (axis >= 0) add_row(c, &rows[i], out[s->states + i], axis);
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
        c->out[s->states + i] = concat_rows(c, &rows[i],
                                              (int)(s->out_axis[i] < 0 ? s->out_axis[i] + rank : s->out_axis[i]));
    }
}

/* Moves dimension `from` to index `to`, and keeps the order of the other dimensions. */
static Tensor *move_axis(OnnxCall *c, Tensor *x, int64_t from, int64_t to)
{
    int64_t perm[MAX_RANK];
    if (!x || from == to) return x;
    for (int d = 0, next = 0; d < x->rank; d++) {
        if (d == to) perm[d] = from;
        else {
            next += next == from;
            perm[d] = next++;
        }
    }
    return onnx_call(c, "transpose", x, attr_ints("perm", perm, x->rank));
}

static const bool *flags(OnnxCall *c, const int64_t *v, int count)
{
    bool *f = NEW_ARRAY(c->cx->arena, bool, count);
    for (int i = 0; i < count; i++) f[i] = v[i] != 0;
    return f;
}

static void scan_region(OnnxCall *c, Scan *s)
{
    Tensor *scanned_first[ONNX_OUTPUTS];
    for (int i = 0; i < s->inputs; i++) scanned_first[i] = move_axis(c, c->in[s->states + i], s->in_axis[i], 0);
    OnnxLoop l = { .graph = s->graph,
                   .is_scan = true,
                   .count = tensor_constant(c->cx, "count", I64, 0, NULL, &s->length),
                   .state_count = s->states,
                   .scan_count = s->inputs,
                   .row_count = s->outputs,
                   .state = c->in,
                   .scanned = scanned_first,
                   .scans_back = flags(c, s->in_back, s->inputs),
                   .rows_back = flags(c, s->out_back, s->outputs) };
    if (ctx_failed(c->cx)) return;
    onnx_loop(c, &l);
    for (int i = s->states; i < s->states + s->outputs && !ctx_failed(c->cx); i++) {
        int64_t axis = s->out_axis[i - s->states];
        if (axis < 0) axis += c->out[i]->rank;
        if (axis < 0 || axis >= c->out[i]->rank)
            onnx_refuse(c, "the rows are along axis %lld of %s; use an axis within the rank",
                        (long long)s->out_axis[i - s->states], tensor_shape_text(c->cx, c->out[i]));
        else c->out[i] = move_axis(c, c->out[i], 0, axis);
    }
}

static void scan(OnnxCall *c)
{
    Scan s;
    if (!read_scan(c, &s)) return;
    bool is_small = s.length <= MOST_ITERATIONS
                    && (s.length == 1 || s.length * s.graph->node_count <= UNROLLED_NODES
                        || all_constant(c->in, c->in_count));
    if (is_small) unroll_scan(c, &s, c->in);
    else scan_region(c, &s);
}

/* Translates Scan before operator set 9, where sequence lengths are the first input and all tensors have a leading
 * batch dimension. A batch of one is removed. */
static void batched_scan(OnnxCall *c)
{
    if (c->opset >= 9) {
        scan(c);
        return;
    }
    if (onnx_in(c, 0)) onnx_unsupported(c, "input 0, the lengths of sequences, is present; omit it");
    for (int i = 1; i < c->in_count; i++) {
        if (!c->in[i] || c->in[i]->rank < 1 || tensor_dim(c->in[i], 0) != 1)
            onnx_unsupported(c, "input %d is %s; use a tensor whose first dimension, the batch, is 1", i,
                             c->in[i] ? tensor_shape_text(c->cx, c->in[i]) : "missing");
        if (!ctx_failed(c->cx)) c->in[i] = scan_element(c, c->in[i], 0, 0);
    }
    if (ctx_failed(c->cx) || c->in_count < 1) return;
    c->in++, c->in_count--;
    scan(c);
    for (int i = 0; i < c->node->out_count && i < ONNX_OUTPUTS && !ctx_failed(c->cx); i++) {
        Tensor *row;
        ScanRows one = { &row, 0 };
        if (c->out[i]) add_row(c, &one, c->out[i], 0);
        if (one.count) c->out[i] = row;
    }
}

const OnnxOp onnx_rows_control[] = {
    { ONNX_MOVE("If", 1, "else_branch then_branch", if_) },
    { ONNX_MOVE("Loop", ONNX_ANY, "body", loop), .open.keeps = KEEPS_ALL, .open.lists = LISTS_COMPUTED },
    { ONNX_MOVE("Scan", ONNX_ANY, "body directions num_scan_inputs scan_input_axes scan_input_directions "
                "scan_output_axes scan_output_directions", batched_scan) },
    { 0 }
};
