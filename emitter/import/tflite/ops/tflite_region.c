/* SPDX-License-Identifier: MIT */
/* Translates operators that execute subgraphs: WHILE and IF become regions of the DAG (graph/dag/region.h); CALL and
 * STABLEHLO_COMPOSITE are inlined. A subgraph reads only its inputs and constants, so nothing is captured. The values
 * that a WHILE's body returns unchanged are loop invariants; all other values are its states. A condition on constants
 * selects its branch during import. */
#include "graph/dag/region.h"
#include "import/model/fold_small.h"
#include "import/tflite/ops/tflite_rows.h"
#include "support/text.h"

enum { OPTIONS_CALL = 16, OPTIONS_IF = 92, OPTIONS_WHILE = 93 };

static int64_t subgraph_of(const TfliteCall *c, int field) { return flat_int(&c->op->options, field, 4, 0); }

static bool run(TfliteCall *c, int64_t subgraph, Tensor *const *in, int in_count, Tensor **out, int out_count)
{
    return c->subgraphs->run(c, subgraph, in, in_count, out, out_count);
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    return same;
}

static const char *kind_text(Ctx *cx, const Tensor *t)
{
    return text_format(cx, "%s%s", dtype_info(t->type)->spelling, tensor_shape_text(cx, t));
}

/* Returns the inputs of a region's graph: tensors like the tensors of `outer`. */
static Tensor **inner_of(TfliteCall *c, Tensor *const *outer, int count)
{
    Tensor **inner = NEW_ARRAY(c->cx->arena, Tensor *, count);
    for (int i = 0; i < count; i++) {
        inner[i] = tensor_new(c->cx, outer[i]->name, outer[i]->type, outer[i]->rank, outer[i]->shape);
        if (inner[i]) inner[i]->quant = outer[i]->quant;
    }
    return inner;
}

static bool has_operands(TfliteCall *c)
{
    for (int i = 0; i < c->in_count; i++)
        if (!c->in[i]) tflite_refuse(c, "input %d is missing", i);
    return !ctx_failed(c->cx);
}

/* Returns the condition as a scalar; it is constant if it is computed from small constants. */
static Tensor *scalar_of(TfliteCall *c, Tensor *t)
{
    if (t->type != BOOL || tensor_elems(t) != 1) {
        tflite_refuse(c, "its condition is %s; use a condition that is one bool", kind_text(c->cx, t));
        return NULL;
    }
    Tensor *scalar = tflite_reshape(c, t, NULL, 0);
    return scalar ? import_folded(c->cx, scalar) : NULL;
}

static bool is_decided(const Tensor *condition, bool *holds)
{
    if (!tensor_is_constant(condition)) return false;
    *holds = dtype_load(BOOL, condition->data, 0).i != 0;
    return true;
}

static void call_(TfliteCall *c)
{
    if (has_operands(c)) run(c, subgraph_of(c, 0), c->in, c->in_count, c->out, c->op->out_count);
}

/* Translates STABLEHLO_COMPOSITE: a function that PyTorch's exporter leaves in the file, with a subgraph that computes
 * it. */
static void composite(TfliteCall *c)
{
    enum { DECOMPOSITION = 1 };
    const int64_t subgraph = flat_int(&c->op->more_options, DECOMPOSITION, 4, 0);
    if (has_operands(c)) run(c, subgraph, c->in, c->in_count, c->out, c->op->out_count);
}

static void if_(TfliteCall *c)
{
    const int count = c->op->out_count;
    bool holds;
    if (!has_operands(c)) return;
    Tensor *condition = scalar_of(c, c->in[0]);
    if (!condition) return;
    if (is_decided(condition, &holds)) {
        run(c, subgraph_of(c, holds ? 0 : 1), c->in + 1, c->in_count - 1, c->out, count);
        return;
    }
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    Tensor **inner = inner_of(c, c->in + 1, c->in_count - 1);
    for (int g = 0; g < 2; g++) {
        Tensor **result = NEW_ARRAY(c->cx->arena, Tensor *, count);
        if (ctx_failed(c->cx) || !run(c, subgraph_of(c, g), inner, c->in_count - 1, result, count)) return;
        r.graph[g] = (Graph){ .name = c->name, .input = inner, .input_count = c->in_count - 1, .output = result,
                              .output_count = count };
    }
    for (int i = 0; i < count; i++)
        if (!same_shape(r.graph[0].output[i], r.graph[1].output[i]))
            tflite_unsupported(c, "its branches produce %s and %s; use branches of one type and shape",
                               kind_text(c->cx, r.graph[0].output[i]), kind_text(c->cx, r.graph[1].output[i]));
    c->in[0] = condition;
    Node *n = ctx_failed(c->cx) ? NULL : region_new(c->cx, c->name, &r, c->in, c->in_count);
    for (int i = 0; n && i < count; i++) c->out[i] = n->out[i];
}

/* ---- While ------------------------------------------------------------------------------------------------------- */

/* The body under construction: the values before and after an iteration, and the condition to continue. */
typedef struct Loop { int count; Tensor **before, **after, *condition; } Loop;

static bool import_body(TfliteCall *c, Loop *l)
{
    bool always;
    *l = (Loop){ .count = c->in_count, .before = inner_of(c, c->in, c->in_count) };
    l->after = NEW_ARRAY(c->cx->arena, Tensor *, l->count);
    if (ctx_failed(c->cx) || !run(c, subgraph_of(c, 1), l->before, l->count, l->after, l->count)) return false;
    for (int i = 0; i < l->count; i++)
        if (!same_shape(l->before[i], l->after[i]))
            tflite_unsupported(c, "its value \"%s\" is %s before and %s after an iteration; use a value that keeps its "
                               "type and shape", l->before[i]->name, kind_text(c->cx, l->before[i]),
                               kind_text(c->cx, l->after[i]));
    if (ctx_failed(c->cx) || !run(c, subgraph_of(c, 0), l->after, l->count, &l->condition, 1)) return false;
    l->condition = scalar_of(c, l->condition);
    if (l->condition && is_decided(l->condition, &always) && always)
        tflite_refuse(c, "it never ends: its condition always holds; use a condition that changes");
    return !ctx_failed(c->cx);
}

/* Creates the region. The body's inputs are an absent limit of the trip count, the condition, the states, and the
 * invariants. */
static void loop_region(TfliteCall *c, const Loop *l, Tensor *first)
{
    Ctx *cx = c->cx;
    Tensor **outer = NEW_ARRAY(cx->arena, Tensor *, 2 + l->count),
           **inner = NEW_ARRAY(cx->arena, Tensor *, 1 + l->count),
           **result = NEW_ARRAY(cx->arena, Tensor *, 1 + l->count);
    int *index = NEW_ARRAY(cx->arena, int, l->count), states = 0, at = 1;
    outer[1] = tensor_is_constant(first) ? NULL : first;
    inner[0] = tensor_new(cx, "iteration", I64, 0, NULL);
    result[0] = l->condition;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < l->count; i++) {
            const bool is_invariant = l->after[i] == l->before[i];
            if (is_invariant != (pass == 1)) continue;
            outer[1 + at] = c->in[i];
            inner[at++] = l->before[i];
            if (is_invariant) c->out[i] = c->in[i];
            else index[states++] = i, result[states] = l->after[i];
        }
    const Region r = { .kind = REGION_LOOP, .graph_count = 1, .state_count = states, .has_condition = true,
                       .max_trip_count = -1,
                       .graph[0] = { .name = c->name, .input = inner, .input_count = at, .output = result,
                                     .output_count = 1 + states } };
    Node *n = region_new(cx, c->name, &r, outer, 1 + at);
    for (int i = 0; n && i < states; i++) c->out[index[i]] = n->out[i];
}

static void while_(TfliteCall *c)
{
    Tensor *first;
    bool holds = true;
    Loop l;
    if (!has_operands(c)) return;
    if (c->op->out_count != c->in_count) {
        tflite_refuse(c, "it has %d inputs and %d outputs; use equal counts", c->in_count, c->op->out_count);
        return;
    }
    if (!run(c, subgraph_of(c, 0), c->in, c->in_count, &first, 1) || !(first = scalar_of(c, first))) return;
    if (is_decided(first, &holds) && !holds)
        for (int i = 0; i < c->in_count; i++) c->out[i] = c->in[i];
    else if (import_body(c, &l)) loop_region(c, &l, first);
}

const TfliteRow tflite_rows_region[] = {
    { 31, "CALL", 1, OPTIONS_CALL, OF_ALL | OF_VARIANT | RUNS_SUBGRAPHS, 1, NULL, call_, TFLITE_KEEPS_ALL },
    { 206, "STABLEHLO_COMPOSITE", 1, 0, OF_ALL | OF_F16 | RUNS_SUBGRAPHS, 1, NULL, composite, TFLITE_KEEPS_ALL },
    { 118, "IF", 1, OPTIONS_IF, OF_BOOL | RUNS_SUBGRAPHS, 1, NULL, if_, TFLITE_KEEPS_NONE },
    { 119, "WHILE", 1, OPTIONS_WHILE, OF_ALL | OF_VARIANT | RUNS_SUBGRAPHS, 1, NULL, while_, TFLITE_KEEPS_NONE },
    { 0 }
};
