/* SPDX-License-Identifier: MIT */
/* Translates control flow that is decided at run time. A nested graph is imported once, with its own inputs. Values of
 * enclosing graphs are captured (onnx_graph.c) and become node inputs. A state that the body returns unchanged becomes
 * a loop invariant. */
#include "import/onnx/graph/onnx_region.h"

#include "graph/dag/region.h"
#include "import/onnx/graph/onnx_graph.h"
#include "ir/algebra/algebra.h"

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

/* of: two sizes of a result, one per branch; size: the size after the branches. Axis -1 stands for a test, which is 0
 * in the branch that has the result's rank and -1 in the other branch. */
typedef struct Joined { const Expr *of[2], *size; int output, axis; } Joined;

/* Results of both branches. Results whose sizes differ leave the branches as flat tensors. After the `count` results,
 * each branch returns the value of each of its sizes. If a result has different ranks in the branches, it has the rank
 * of one branch, and a run that takes the other branch ends. */
typedef struct Branches {
    OnnxCall *c;
    OnnxCaptured *captured;                  /* the captured values; their address identifies the region in Decided */
    int count, joined_count;
    Joined *joined;
    Tensor **result[2];
    const Tensor **like[2];                  /* [count] the shape of each result in each branch */
    int *only;                               /* [count] the branch that has the result's rank, or -1 if both have it */
    int64_t *capacity;                       /* [count] the capacity of a flat result, or -1 (Region) */
} Branches;

static Decided *decided_of(const OnnxCall *c) { return &c->scope->import->decided; }

static int joined_size(Branches *b, const Expr *yes, const Expr *no, int output, int axis)
{
    for (int i = 0; i < b->joined_count; i++)
        if (b->joined[i].of[0] == yes && b->joined[i].of[1] == no) return i;
    b->joined[b->joined_count] = (Joined){ { yes, no }, NULL, output, axis };
    return b->joined_count++;
}

/* Returns true if both branches give the dimension one size, which is known outside the branches. */
static bool is_common(const Branches *b, int output, int d)
{
    const Expr *yes = b->like[0][output]->shape[d], *no = b->like[1][output]->shape[d];
    return yes == no && !decided_inside(decided_of(b->c), yes, b->captured);
}

/* Returns the size of the dimension in a branch, or 0 if the result has a different rank in this branch. */
static const Expr *size_in(const Branches *b, int branch, int output, int d)
{
    const bool has_rank = b->only[output] < 0 || b->only[output] == branch;
    return has_rank ? b->like[branch][output]->shape[d] : expr_index(b->c->cx, 0);
}

static int join(Branches *b, int output, int d)
{
    return joined_size(b, size_in(b, 0, output, d), size_in(b, 1, output, d), output, d);
}

static int join_test(Branches *b, int output)
{
    const Expr *yes = expr_index(b->c->cx, b->only[output] ? -1 : 0), *no = expr_index(b->c->cx, b->only[output] - 1);
    return joined_size(b, yes, no, output, -1);
}

/* Chooses between two ranks: the one that the file declares, otherwise the lower one. Branches often differ only by a
 * dimension of 1, which the lower rank lacks. */
static void take_rank(Branches *b, int output)
{
    Ctx *cx = b->c->cx;
    const Tensor *yes = b->like[0][output], *no = b->like[1][output];
    const int rank = onnx_declared_rank(b->c, output),
              own = rank == yes->rank ? 0 : rank == no->rank ? 1 : yes->rank > no->rank;
    b->only[output] = own;
    b->like[!own][output] = b->like[own][output];
    b->result[!own][output] = onnx_empty(b->c, yes->type, (int64_t[]){ 0 }, 1);
    diag_warn(cx, onnx_where(cx, b->c->node), "its branches produce %s and %s for \"%s\", which has %d dimensions: a "
              "run that takes the %s branch ends with the status of a wrong size", tensor_shape_text(cx, yes),
              tensor_shape_text(cx, no), b->c->node->out[output], b->like[own][output]->rank, own ? "then" : "else");
}

static void compare_result(Branches *b, int i)
{
    Ctx *cx = b->c->cx;
    const Tensor *yes = b->like[0][i] = b->result[0][i], *no = b->like[1][i] = b->result[1][i];
    bool differs = yes->rank != no->rank;
    b->only[i] = -1;
    b->capacity[i] = -1;
    if (yes->type != no->type)
        onnx_unsupported(b->c, "its branches produce %s%s and %s%s, and the run decides its condition; use branches "
                         "of one type, or a compile-time condition (--value)", dtype_info(yes->type)->spelling,
                         tensor_shape_text(cx, yes), dtype_info(no->type)->spelling, tensor_shape_text(cx, no));
    if (ctx_failed(cx)) return;
    if (differs) take_rank(b, i);
    if (differs) join_test(b, i);
    for (int d = 0; d < b->like[0][i]->rank; d++) {
        if (is_common(b, i, d)) continue;
        join(b, i, d);
        differs = true;
    }
    const int64_t most[2] = { tensor_most_elems(cx, b->like[0][i]), tensor_most_elems(cx, b->like[1][i]) };
    if (differs) b->capacity[i] = most[0] > most[1] ? most[0] : most[1];
}

/* Within a branch, flattens results with sizes of their own, and makes the values of these sizes results. */
static void give_sizes(Branches *b, int branch)
{
    Decided *d = decided_of(b->c);
    const void *region = d->region;
    Tensor **result = b->result[branch];
    d->region = b->captured;
    for (int i = 0; i < b->count; i++) {
        const Expr *flat = size_product(b->c->cx, result[i]->shape, result[i]->rank);
        if (b->capacity[i] >= 0 && result[i]->rank != 1) result[i] = onnx_view(b->c, result[i], &flat, 1);
    }
    for (int i = 0; i < b->joined_count; i++)
        result[b->count + i] = decided_value(d, b->c->name, b->joined[i].of[branch], I64);
    d->region = region;
}

/* Returns result i of the node, viewed in the shape that the run decides. */
static Tensor *joined_result(Branches *b, const Node *n, int i)
{
    const Expr *shape[MAX_RANK];
    const int rank = b->like[0][i]->rank;
    Tensor *all = n->out[i];
    if (b->capacity[i] < 0) return all;
    for (int d = 0; d < rank; d++)
        shape[d] = is_common(b, i, d) ? b->like[0][i]->shape[d] : b->joined[join(b, i, d)].size;
    if (b->only[i] >= 0) all = onnx_provided(b->c, all, n->out[b->count + join_test(b, i)], 0, 0);
    Tensor *flat = onnx_cut(b->c, all, 0, size_product(b->c->cx, shape, rank));
    return rank != 1 ? onnx_view(b->c, flat, shape, rank) : flat;
}

static void decide_joined(Branches *b, const Node *n)
{
    Ctx *cx = b->c->cx;
    for (int i = 0; i < b->joined_count && !ctx_failed(cx); i++) {
        Joined *j = &b->joined[i];
        if (j->axis < 0) continue;
        const Interval yes = interval_of(cx, j->of[0], NULL), no = interval_of(cx, j->of[1], NULL);
        const int64_t least = yes.least < no.least ? yes.least : no.least,
                      greatest = yes.greatest > no.greatest ? yes.greatest : no.greatest;
        j->size = onnx_decided(b->c, j->output, j->axis, n->out[b->count + i], least, greatest);
    }
}

static bool import_branches(Branches *b, const OnnxGraph *const *graph)
{
    Ctx *cx = b->c->cx;
    if (graph[0]->output_count != graph[1]->output_count)
        onnx_refuse(b->c, "its branches have %d and %d outputs; use equal counts", graph[0]->output_count,
                    graph[1]->output_count);
    b->count = graph[0]->output_count;
    const int most = b->count * (2 + MAX_RANK);
    b->joined = NEW_ARRAY(cx->arena, Joined, most);
    b->capacity = NEW_ARRAY(cx->arena, int64_t, most);
    b->only = NEW_ARRAY(cx->arena, int, b->count);
    for (int g = 0; g < 2; g++) {
        b->like[g] = NEW_ARRAY(cx->arena, const Tensor *, b->count);
        b->result[g] = NEW_ARRAY(cx->arena, Tensor *, most);
        if (!onnx_run_captured(b->c, graph[g], NULL, NULL, 0, b->captured, b->result[g])) return false;
    }
    return true;
}

void onnx_choice(OnnxCall *c, const OnnxGraph *yes, const OnnxGraph *no)
{
    Ctx *cx = c->cx;
    Branches b = { .c = c, .captured = NEW(cx->arena, OnnxCaptured) };
    const OnnxGraph *const graph[] = { yes, no };
    Tensor *condition = onnx_reshape(c, c->in[0], NULL, 0);
    if (!import_branches(&b, graph)) return;
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    for (int i = 0; i < b.count && !ctx_failed(cx); i++) {
        compare_result(&b, i);
        if (b.capacity[i] >= 0) r.capacity = b.capacity;
    }
    for (int g = 0; g < 2 && !ctx_failed(cx); g++) {
        give_sizes(&b, g);
        r.graph[g] = graph_of(c, b.captured->inner, b.captured->count, b.result[g], b.count + b.joined_count);
    }
    if (ctx_failed(cx)) return;
    for (int i = 0; i < b.joined_count; i++) b.capacity[b.count + i] = -1;
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, 1 + b.captured->count);
    in[0] = condition;
    for (int i = 0; i < b.captured->count; i++) in[1 + i] = b.captured->outer[i];
    Node *n = region_new(cx, c->name, &r, in, 1 + b.captured->count);
    if (n) decide_joined(&b, n);
    for (int i = 0; n && i < b.count && !ctx_failed(cx); i++)
        c->out[i] = joined_result(&b, n, i);
}

/* ---- Loop and Scan ----------------------------------------------------------------------------------------------- */

/* The body under construction. */
typedef struct Body {
    OnnxCall *c;
    const OnnxLoop *l;
    OnnxCaptured *captured;                  /* the captured values; their address identifies the region in Decided */
    Tensor *iteration, **state, **row;     /* its inputs */
    Tensor **result;                       /* the results of the graph: the condition (of a Loop), states, rows */
    Tensor *condition;                     /* the condition, or NULL if it is always true */
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
    /* a Loop's first inputs are the iteration index and the condition */
    const int skipped = l->is_scan ? 0 : 2;
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
    if (!onnx_run_captured(b->c, l->graph, b->iteration, in, count, b->captured, b->result)) return false;
    if (l->is_scan) return true;
    Tensor *condition = *b->result++;
    if (tensor_elems(condition) != 1)
        onnx_refuse(b->c, "its condition \"%s\" has %lld elements; use a condition with one element", condition->name,
                    (long long)tensor_elems(condition));
    bool always = tensor_is_constant(condition) && !ctx_failed(cx)
                  && dtype_load(condition->type, condition->data, 0).i != 0;
    b->condition = always ? NULL : onnx_reshape(b->c, condition, NULL, 0);
    if (always && !l->count)
        onnx_refuse(b->c, "it never ends: its condition always holds%s; use a trip count (input 0)%s, or a condition "
                    "that changes",
                    l->huge ? text_format(cx, ", and its trip count is %lld", (long long)l->huge) : "",
                    l->huge ? " of up to 2147483647" : "");
    return !ctx_failed(cx);
}

/* Returns the new state in the shape of the old one: reshapes it if the element counts agree. */
static Tensor *as_state(Body *b, int i)
{
    Tensor *old_state = b->state[i], *new_state = b->result[i];
    int64_t shape[MAX_RANK];
    if (same_shape(old_state, new_state)) return new_state;
    for (int d = 0; d < old_state->rank; d++) shape[d] = tensor_dim(old_state, d);
    const bool are_fixed = tensor_is_fixed(old_state) && tensor_is_fixed(new_state);
    if (are_fixed && old_state->type == new_state->type && tensor_elems(old_state) == tensor_elems(new_state))
        return onnx_reshape(b->c, new_state, shape, old_state->rank);
    onnx_unsupported(b->c,
                     "its state \"%s\" is %s%s before and %s%s after an iteration, and the run decides the loop's trip "
                     "count; use a state that keeps its shape, or a constant trip count",
                     old_state->name, dtype_info(old_state->type)->spelling, tensor_shape_text(b->c->cx, old_state),
                     dtype_info(new_state->type)->spelling, tensor_shape_text(b->c->cx, new_state));
    return new_state;
}

/* Returns true if the number of rows is known only at run time. */
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
        const OnnxNode *n = b->c->node;
        int output = b->l->state_count;
        while (output + 1 < n->out_count && !*n->out[output]) output++;            /* outputs may be omitted */
        const char *rows = output < n->out_count ? n->out[output] : "";
        onnx_unsupported(b->c,
                         "it collects a row per iteration, and its trip count is decided at run time; use a "
                         "compile-time trip count (--value NAME=FILE.npy), or a shape that the model declares for the "
                         "output \"%s\", or --dim '%s.0<=N'", rows, rows);
    }
    return most;
}

/* The boundary of a region: outer inputs, inner inputs and results, in the order of graph/dag/region.h. */
typedef struct Boundary { int outer_count, inner_count, result_count; Tensor **outer, **inner, **result; } Boundary;

static Boundary boundary_new(const Body *b)
{
    Ctx *cx = b->c->cx;
    const int most = 4 + b->l->state_count + b->l->scan_count + b->l->row_count + b->captured->count;
    return (Boundary){ .outer = NEW_ARRAY(cx->arena, Tensor *, most),
                   .inner = NEW_ARRAY(cx->arena, Tensor *, most),
                   .result = NEW_ARRAY(cx->arena, Tensor *, most) };
}

static void add_input(Boundary *e, Tensor *outer, Tensor *inner)
{
    e->outer[e->outer_count++] = outer;
    e->inner[e->inner_count++] = inner;
}

/* Adds the states that change; index[k] becomes the position of the k-th of them among all states. The other states are
 * invariants, whose final values are the initial values. */
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
    for (int i = 0; i < b->captured->count; i++) add_input(e, b->captured->outer[i], b->captured->inner[i]);
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
            onnx_unsupported(b->c, "the rows have %d dimensions; use at most %d dimensions", MAX_RANK, MAX_RANK - 1);
        for (int d = 0; d < row->rank; d++)
            if (decided_inside(decided_of(b->c), row->shape[d], b->captured))
                onnx_unsupported(b->c, "it collects rows \"%s\" %s, whose size each iteration decides; use rows of "
                                 "equal sizes", row->name, tensor_shape_text(b->c->cx, row));
        e->result[e->result_count++] = row;
    }
}

void onnx_loop(OnnxCall *c, const OnnxLoop *l)
{
    Ctx *cx = c->cx;
    Body b = { .c = c, .l = l, .captured = NEW(cx->arena, OnnxCaptured) };
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
