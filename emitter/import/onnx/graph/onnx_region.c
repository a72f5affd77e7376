/* SPDX-License-Identifier: MIT */
/* Control flow that is left to the run. A graph inside of the node is imported once, over inputs of its own: what it reads of
 * the graphs around it is captured (onnx_graph.c) and handed in. A state that the body passes on as it is is no state. */
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

/* ---- If ------------------------------------------------------------------------------------------------------------ */

void onnx_choose(OnnxCall *c, const OnnxGraph *yes, const OnnxGraph *no)
{
    Ctx *cx = c->cx;
    OnnxCaptured captured = { 0 };
    const int count = yes->output_count;
    Tensor *condition = onnx_reshape(c, c->in[0], NULL, 0);
    Tensor **made[2] = { NEW_ARRAY(cx->arena, Tensor *, count), NEW_ARRAY(cx->arena, Tensor *, count) };
    if (no->output_count != count) onnx_refuse(c, "its branches have %d and %d outputs", count, no->output_count);
    if (!onnx_run_captured(c, yes, NULL, NULL, 0, &captured, made[0])
        || !onnx_run_captured(c, no, NULL, NULL, 0, &captured, made[1]))
        return;
    for (int i = 0; i < count; i++)
        if (!same_shape(made[0][i], made[1][i]))
            onnx_unsupported(c,
                             "branches that give %s%s and %s%s, and a condition that only the run decides; branches "
                             "that give one shape are accepted, "
                             "or a condition known when compiling (--value)",
                             dtype_info(made[0][i]->type)->spelling, tensor_shape_text(cx, made[0][i]),
                             dtype_info(made[1][i]->type)->spelling, tensor_shape_text(cx, made[1][i]));
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .most_turns = -1 };
    for (int g = 0; g < 2; g++) r.graph[g] = graph_of(c, captured.inner, captured.count, made[g], count);
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, 1 + captured.count);
    in[0] = condition;
    for (int i = 0; i < captured.count; i++) in[1 + i] = captured.outer[i];
    Node *n = region_new(cx, c->name, &r, in, 1 + captured.count);
    for (int i = 0; n && i < count; i++) c->out[i] = n->out[i];
}

/* ---- Loop and Scan ------------------------------------------------------------------------------------------------- */

/* The body while it is put together. */
typedef struct Body {
    OnnxCall *c;
    const OnnxLoop *l;
    OnnxCaptured captured;
    Tensor *turn, **state, **row;          /* inputs that stand for them */
    Tensor **made;                         /* by the graph: the condition (of a Loop), states, rows */
    Tensor *condition;                     /* NULL: it is always true */
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
    const int skipped = l->is_scan ? 0 : 2;             /* the number of the turn and the condition */
    int count = 0;
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, skipped + l->state_count + l->scan_count);
    b->turn = tensor_new(cx, "turn", I64, 0, NULL);
    b->state = NEW_ARRAY(cx->arena, Tensor *, l->state_count);
    b->row = NEW_ARRAY(cx->arena, Tensor *, l->scan_count);
    b->made = NEW_ARRAY(cx->arena, Tensor *, b->l->graph->output_count);
    if (!l->is_scan) in[count++] = b->turn, in[count++] = tensor_scalar(cx, "goes_on", BOOL, 1);
    for (int i = 0; i < l->state_count; i++)
        in[count++] = b->state[i] = tensor_new(cx, l->graph->input[skipped + i].name, l->state[i]->type,
                                               l->state[i]->rank, l->state[i]->shape);
    for (int i = 0; i < l->scan_count; i++)
        in[count++] = b->row[i] = row_of(cx, l->graph->input[skipped + l->state_count + i].name, l->scanned[i]);
    if (!onnx_run_captured(b->c, l->graph, b->turn, in, count, &b->captured, b->made)) return false;
    if (l->is_scan) return true;
    Tensor *condition = *b->made++;
    if (tensor_elems(condition) != 1)
        onnx_refuse(b->c, "its condition \"%s\" has %lld elements", condition->name,
                    (long long)tensor_elems(condition));
    bool always = tensor_is_constant(condition) && !ctx_failed(cx)
                  && dtype_load(condition->type, condition->data, 0).i != 0;
    b->condition = always ? NULL : onnx_reshape(b->c, condition, NULL, 0);
    if (always && !l->count)
        onnx_refuse(b->c, "it never ends: no number of times is given and its condition always holds");
    return !ctx_failed(cx);
}

/* The new state as the old one: the same elements under another shape are brought back. */
static Tensor *as_state(Body *b, int i)
{
    Tensor *old = b->state[i], *now = b->made[i];
    int64_t shape[MAX_RANK];
    if (same_shape(old, now)) return now;
    for (int d = 0; d < old->rank; d++) shape[d] = tensor_dim(old, d);
    if (old->type == now->type && tensor_elems(old) == tensor_elems(now))
        return onnx_reshape(b->c, now, shape, old->rank);
    onnx_unsupported(b->c,
                     "its state \"%s\" goes in as %s%s and comes out as %s%s, and how often only the run decides; a "
                     "state that keeps its shape is accepted",
                     old->name, dtype_info(old->type)->spelling, tensor_shape_text(b->c->cx, old),
                     dtype_info(now->type)->spelling, tensor_shape_text(b->c->cx, now));
    return now;
}

/* How many rows there must be room for. */
static int64_t most_rows(Body *b)
{
    int64_t shape[MAX_RANK], most = INT64_MAX;
    const Tensor *count = b->l->count;
    if (!b->l->row_count) return -1;
    if (count && tensor_is_constant(count)) most = dtype_load(I64, count->data, 0).i;
    for (int i = 0; i < b->l->row_count && most > INT32_MAX; i++)
        if (onnx_declared(b->c, b->l->state_count + i, shape) > 0) most = shape[0];
    if (most > INT32_MAX)
        onnx_unsupported(b->c,
                         "it collects a row each time, and how often only the run decides; a number of times known "
                         "when compiling (--value NAME=FILE.npy) "
                         "is accepted, or a shape that the model declares for the output \"%s\"",
                         b->l->state_count < b->c->node->out_count ? b->c->node->out[b->l->state_count] : "");
    return most;
}

/* The ends of the region: inputs outside and within, and what the body makes, in the order of graph/dag/region.h. */
typedef struct Ends { int outer_count, inner_count, made_count; Tensor **outer, **inner, **made; } Ends;

static Ends ends_new(const Body *b)
{
    Ctx *cx = b->c->cx;
    const int most = 3 + b->l->state_count + b->l->scan_count + b->l->row_count + b->captured.count;
    return (Ends){ .outer = NEW_ARRAY(cx->arena, Tensor *, most),
                   .inner = NEW_ARRAY(cx->arena, Tensor *, most),
                   .made = NEW_ARRAY(cx->arena, Tensor *, most) };
}

static void add_input(Ends *e, Tensor *outer, Tensor *inner)
{
    e->outer[e->outer_count++] = outer;
    e->inner[e->inner_count++] = inner;
}

/* The states that change; *place gets where each stands among all. Others are handed in, and are at last what they were at first. */
static int add_states(Body *b, Ends *e, int *place)
{
    int count = 0;
    for (int i = 0; i < b->l->state_count && !ctx_failed(b->c->cx); i++) {
        if (b->made[i] == b->state[i]) continue;
        place[count++] = i;
        add_input(e, b->l->state[i], b->state[i]);
        e->made[e->made_count++] = as_state(b, i);
    }
    return count;
}

static void hand_in_the_rest(Body *b, Ends *e)
{
    for (int i = 0; i < b->captured.count; i++) add_input(e, b->captured.outer[i], b->captured.inner[i]);
    for (int i = 0; i < b->l->state_count; i++) {
        if (b->made[i] != b->state[i]) continue;
        add_input(e, b->l->state[i], b->state[i]);
        b->c->out[i] = b->l->state[i];
    }
}

static void add_rows(Body *b, Ends *e)
{
    for (int i = 0; i < b->l->row_count; i++) {
        Tensor *row = b->made[b->l->state_count + i];
        if (row->rank == MAX_RANK) onnx_unsupported(b->c, "rows of %d dimensions", MAX_RANK);
        e->made[e->made_count++] = row;
    }
}

void onnx_repeat(OnnxCall *c, const OnnxLoop *l)
{
    Ctx *cx = c->cx;
    Body b = { .c = c, .l = l };
    if (!import_body(&b)) return;
    Ends e = ends_new(&b);
    int *place = NEW_ARRAY(cx->arena, int, l->state_count);
    e.outer[e.outer_count++] = l->count;
    add_input(&e, l->condition, b.turn);
    if (b.condition) e.made[e.made_count++] = b.condition;
    Region r = { .kind = REGION_LOOP,
                 .graph_count = 1,
                 .state_count = add_states(&b, &e, place),
                 .scan_count = l->scan_count,
                 .row_count = l->row_count,
                 .has_condition = b.condition != NULL,
                 .scans_back = l->scans_back,
                 .rows_back = l->rows_back,
                 .most_turns = most_rows(&b) };
    for (int i = 0; i < l->scan_count; i++) add_input(&e, l->scanned[i], b.row[i]);
    hand_in_the_rest(&b, &e);
    add_rows(&b, &e);
    if (ctx_failed(cx)) return;
    r.graph[0] = graph_of(c, e.inner, e.inner_count, e.made, e.made_count);
    Node *n = region_new(cx, c->name, &r, e.outer, e.outer_count);
    for (int i = 0; n && i < r.state_count; i++) c->out[place[i]] = n->out[i];
    for (int i = 0; n && i < l->row_count; i++) c->out[l->state_count + i] = n->out[r.state_count + i];
}
