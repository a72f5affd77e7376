/* SPDX-License-Identifier: MIT */
/* Interprets a model: runs its groups in order, and the graphs of regions as the conditions decide. The model as
 * imported is the reference for the emitted C. */
/* Decision: the judge runs the model as imported. The imported graph is the reference of `verify`, `run`, `tune` and
 * --selftest: each call is a group with the naive nest of its own formula, and no pass rewrites the graph. A rewritten
 * graph would confirm every wrong pass. With this reference, a wrong pass, fusion or schedule changes only the emitted
 * C. Both share:
 *
 *   gradient, annotate   the calls that they replace have no formula
 *   simplify, realize    of quantized calls written in real numbers: which of them are computed on integers, with which
 *                        rounding, is what --qdq asks for; networks in integers run as imported. `verify` compares
 *                        each of these integers with the real numbers that the file has between two of them, computed
 *                        in floats, to a step: floats that round sums and products near a tie differ by one
 *   --stream             all passes up to it, because a window as imported has no hops
 *   --at pass:NAME       all passes up to that one, on request
 *
 * Graph.origin follows the tensors of the imported graph through the passes, with the channels that shrinking kept, so
 * --layers and --selftest compare each tensor that both graphs have. The sums of a self-test are computed from the
 * emitted nests, because scales that are folded into weights change the bits of floats; the values of these nests are
 * first compared with the reference. `evaluate` emits its forms `float` and `simulated` without passes that rewrite
 * (`is_as_imported`), because the interpreter takes too long for thousands of samples. */
#include "driver/driver.h"

#include <math.h>
#include <string.h>

#include "graph/quantize/quantized_value.h"
#include "ir/interpret/interpret.h"
#include "support/text.h"

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static int64_t scalar_of(Env *all, const Tensor *t) { return dtype_load(t->type, env_get(all, t), 0).i; }

/* Returns the size in bytes of a tensor in the last run. */
static int64_t actual_bytes(const Build *b, const Tensor *t)
{
    return env_elems(b->cx, b->observed.sizes, t) * dtype_info(t->type)->bytes;
}

/* Runs a region's graph, with the sizes that are known outside it. */
static bool run_graph(Build *b, const Env *outer, const void *const *inputs, const void **outputs)
{
    Env *all = env_new_inside(b->cx, outer);
    if (!build_run_all(b, inputs, all)) return false;
    for (int i = 0; i < b->graph.output_count; i++) outputs[i] = env_get(all, b->graph.output[i]);
    return true;
}

static bool run_choice(const Build *b, const Node *n, Env *all)
{
    Build *taken = &build_graphs_of(b, n)[scalar_of(all, n->in[0]) ? 0 : 1];
    const void **in = NEW_ARRAY(b->cx->arena, const void *, n->in_count);
    const void **out = NEW_ARRAY(b->cx->arena, const void *, n->out_count);
    for (int k = 1; k < n->in_count; k++) in[k - 1] = env_get(all, n->in[k]);
    if (!run_graph(taken, all, in, out)) return false;
    for (int i = 0; i < n->out_count; i++) {
        const int64_t part = region_fills_part(n->out[i]) ? actual_bytes(taken, taken->graph.output[i]) : -1;
        if (part < 0) env_set_const(all, n->out[i], out[i]);
        else memcpy(env_alloc(b->cx, all, n->out[i]), out[i], (size_t)part);
    }
    return true;
}

/* Returns the offset of the iteration's row, in bytes. */
static int64_t row_offset(int64_t bytes, int64_t iteration, int64_t trip_count, bool is_back)
{
    return (is_back ? trip_count - 1 - iteration : iteration) * bytes;
}

static int64_t bytes_of(Ctx *cx, const Env *all, const Tensor *t)
{
    return env_elems(cx, all, t) * dtype_info(t->type)->bytes;
}

/* Runs one iteration of a loop; in[] has the states and the loop-invariant inputs. */
static bool run_iteration(Build *body, const Node *n, int64_t iteration, int64_t trip_count, Env *all,
                          const void **in, bool *continues)
{
    const Region *r = n->region;
    const Graph *g = &body->graph;
    const void **out = NEW_ARRAY(body->cx->arena, const void *, g->output_count);
    in[0] = &iteration;
    for (int i = 0; i < r->scan_count; i++) {
        const int k = 1 + r->state_count + i;
        const char *rows = env_get(all, n->in[k + 1]);
        in[k] = rows + row_offset(bytes_of(body->cx, all, g->input[k]), iteration, trip_count, r->scans_back[i]);
    }
    if (!run_graph(body, all, in, out)) return false;
    if (r->has_condition) *continues = dtype_load(BOOL, *out++, 0).i != 0;
    for (int i = 0; i < r->state_count; i++) in[1 + i] = out[i];
    for (int i = 0; i < r->row_count; i++) {
        const Tensor *row = g->output[r->has_condition + r->state_count + i];
        char *rows = env_storage(all, n->out[r->state_count + i]);
        const int64_t bytes = bytes_of(body->cx, all, row);
        memcpy(rows + row_offset(bytes, iteration, trip_count, r->rows_back[i]), out[r->state_count + i],
               (size_t)bytes);
    }
    return true;
}

static bool run_loop(const Build *b, const Node *n, Env *all)
{
    const Region *r = n->region;
    Build *body = build_graphs_of(b, n);
    const int64_t trip_count = n->in[0] ? scalar_of(all, n->in[0]) : INT64_MAX;
    bool continues = !n->in[1] || scalar_of(all, n->in[1]);
    const void **in = NEW_ARRAY(b->cx->arena, const void *, n->in_count);
    for (int k = 2; k < n->in_count; k++) in[k - 1] = env_get(all, n->in[k]);
    for (int i = 0; i < r->row_count; i++) env_alloc(b->cx, all, n->out[r->state_count + i]);
    for (int64_t iteration = 0; iteration < trip_count && continues; iteration++) {
        if (r->max_trip_count >= 0 && iteration >= r->max_trip_count)
            diag_error(b->cx, text_format(b->cx, "node \"%s\" (loop)", n->name),
                       "it continues after %lld iterations, and its outputs have no rows for more",
                       (long long)r->max_trip_count);
        if (ctx_failed(b->cx) || !run_iteration(body, n, iteration, trip_count, all, in, &continues)) return false;
    }
    for (int i = 0; i < r->state_count; i++) env_set_const(all, n->out[i], in[1 + i]);
    return !ctx_failed(b->cx);
}

static bool run_region(const Build *b, int group, Env *all)
{
    const Node *n = region_of_group(b, group);
    return n->region->kind == REGION_CHOICE ? run_choice(b, n, all) : run_loop(b, n, all);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

bool build_is_known(Ctx *cx, const Group *g)
{
    if (!g->anchor || !g->anchor->op->meaning.is_foreign) return true;
    diag_unsupported(cx, text_format(cx, "node \"%s\"", g->anchor->name), "the C function %s computes it, so the "
                     "interpreter cannot run it; run the emitted C with this function",
                     node_text(g->anchor, "function", ""));
    return false;
}

/* Gives the size its value at the first call that computes the value. */
static bool bind_size(const Build *b, const Group *g, const Expr *size, Env *all)
{
    const Var *v = expr_as_var(size);
    const int64_t value = scalar_of(all, g->input[0]);
    int64_t known;
    env_set_const(all, g->output[0], env_get(all, g->input[0]));
    if (env_size(all, size, &known)) return true;
    if (value < v->least || value > v->greatest)
        diag_error(b->cx, NULL, "data decide that %s is %lld, outside %lld to %lld", v->what, (long long)value,
                   (long long)v->least, (long long)v->greatest);
    env_set_size(all, size, value);
    return !ctx_failed(b->cx);
}

static bool run_group(const Build *b, int group, Env *all)
{
    const Group *g = &b->groups.at[group];
    const Expr *size = group_bound_size(g);
    if (!build_is_known(b->cx, g)) return false;
    if (region_of_group(b, group)) return run_region(b, group, all);
    if (size) return bind_size(b, g, size, all);
    const Nest *n = build_named_nest(b, group);
    Env *env = env_new(b->cx);
    env_copy_sizes(env, all);
    RunOptions fast = { .checked = false };
    for (int i = 0; i < g->input_count; i++)
        if (!tensor_is_constant(g->input[i])) env_set_const(env, n->input[i], env_get(all, g->input[i]));
    if (!interpret(b->cx, n, env, &fast)) return false;
    for (int i = 0; i < g->output_count; i++) env_set_const(all, g->output[i], env_get(env, n->output[i]));
    return true;
}

bool build_run_all(Build *b, const void *const *inputs, Env *all)
{
    for (int i = 0; i < b->graph.input_count; i++) env_set_const(all, b->graph.input[i], inputs[i]);
    b->observed.sizes = all;
    for (int i = 0; i < b->groups.count; i++)
        if (!run_group(b, i, all)) return false;
    return !ctx_failed(b->cx);
}

const Tensor *build_actual(const Build *b, const Tensor *t)
{
    const Expr *shape[MAX_RANK];
    if (tensor_is_fixed(t) || !b->observed.sizes) return t;
    for (int d = 0; d < t->rank; d++)
        shape[d] = expr_index(b->cx, env_eval_size(b->cx, b->observed.sizes, t->shape[d]));
    Tensor *actual = tensor_new(b->cx, t->name, t->type, t->rank, shape);
    actual->quant = t->quant;
    return actual;
}

bool build_run(Build *b, const void *const *inputs, const void **outputs)
{
    Env *all = env_new(b->cx);
    if (!build_run_all(b, inputs, all)) return false;
    for (int i = 0; i < b->graph.output_count; i++) outputs[i] = env_get(all, b->graph.output[i]);
    return true;
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

void build_as_reference(Build *b)
{
    lw_options *o = arena_copy(b->cx->arena, b->options, sizeof *o);
    o->train = o->checkpoint = o->combine = NULL;
    o->layers = false;
    o->ram = 0;
    o->selftest_count = o->memory_count = 0;
    b->options = o;
    b->memories.count = 0;
    b->mode.is_reference = true;
    if (b->target) b->target = target_without(b->cx, b->target, "fma");
}

/* Returns true if `pass` is the pass with this function or name, or precedes it. */
static bool is_up_to(const GraphPassRow *pass, GraphPass *run, const char *name)
{
    int count;
    const GraphPassRow *all = graph_passes(&count);
    for (const GraphPassRow *p = pass; p < all + count; p++)
        if ((run && p->run == run) || text_equal(p->name, name)) return true;
    return false;
}

bool build_runs_pass(const Build *b, const GraphPassRow *pass)
{
    if (!b->mode.is_reference && !b->mode.is_as_imported) return true;
    if (b->shared->until) return is_up_to(pass, NULL, b->shared->until);
    if (b->options->stream) return is_up_to(pass, graph_stream, NULL);
    if (pass->role == PASS_GRIDS) return !b->mode.is_written && graph_has_grids(b->cx, &b->graph);
    return pass->role == PASS_DEFINES || (pass->role == PASS_COPIES && !b->mode.is_reference);
}

bool build_reference_nests(Build *b)
{
    Ctx *cx = b->cx;
    b->groups = groups_of_calls(cx, &b->graph);
    b->scheduled.nest = NEW_ARRAY(cx->arena, const Nest *, b->groups.count);
    b->scheduled.chosen = NEW_ARRAY(cx->arena, const Implementation *, b->groups.count);
    for (int i = 0; i < b->groups.count && !ctx_failed(cx); i++) {
        const Node *region = region_of_group(b, i);
        for (int g = 0; region && g < region->region->graph_count; g++)
            if (!build_reference_nests(&build_graphs_of(b, region)[g])) return false;
        if (!region) b->scheduled.nest[i] = group_naive(cx, &b->groups.at[i], b->target, NULL);
    }
    return !ctx_failed(cx);
}

/* ---- Tensors of both graphs -------------------------------------------------------------------------------------- */

/* Returns the data of `whole` without the channels of the last dimension that were removed. */
static const void *gathered(Ctx *cx, const Tensor *whole, const void *data, const Origin *o)
{
    const int64_t channels = tensor_dim(whole, whole->rank - 1), rows = tensor_elems(whole) / channels;
    const size_t bytes = (size_t)dtype_info(whole->type)->bytes;
    char *out = arena_array(cx->arena, (size_t)(rows * o->kept_count), bytes);
    for (int64_t r = 0; r < rows; r++)
        for (int k = 0; k < o->kept_count; k++)
            memcpy(out + (size_t)(r * o->kept_count + k) * bytes,
                   (const char *)data + (size_t)(r * channels + o->kept[k]) * bytes, bytes);
    return out;
}

/* Returns true if both tensors had equal shapes in the run, except for the channels that were removed. */
static bool has_shape_of(const Tensor *now, const Tensor *whole, const Origin *o)
{
    if (now->rank != whole->rank || now->type != whole->type || !tensor_is_fixed(now) || !tensor_is_fixed(whole))
        return false;
    for (int d = 0; d < now->rank; d++) {
        const bool is_cut = o->kept && d == now->rank - 1;
        if (tensor_dim(now, d) != (is_cut ? o->kept_count : tensor_dim(whole, d))) return false;
    }
    return true;
}

const void *build_reference_data(const Build *reference, const Env *all, const Build *emitted, const Tensor *t,
                                 int64_t *channels)
{
    const int number = graph_origin_of(&emitted->graph, t);
    if (number < 0 || number >= reference->graph.origin_count) return NULL;
    const Origin *o = &emitted->graph.origin[number];
    const Tensor *whole = reference->graph.origin[number].now;
    const void *data = whole ? env_get(all, whole) : NULL;
    if (!data) return NULL;
    whole = build_actual(reference, whole);
    if (!has_shape_of(build_actual(emitted, t), whole, o)) return NULL;
    *channels = o->kept ? tensor_dim(whole, whole->rank - 1) : 0;
    return o->kept ? gathered(reference->cx, whole, data, o) : data;
}

/* ---- Real numbers ------------------------------------------------------------------------------------------------ */

static void count_steps(const Tensor *t, double step, const void *got, const void *want, Steps *s)
{
    const int64_t before = s->wrong;
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        const Scalar a = dtype_load(t->type, got, i), b = dtype_load(t->type, want, i);
        const double steps = dtype_is_float(t->type) ? (a.f - b.f) / step : (double)(a.i - b.i);
        s->elements++;
        s->differ += fabs(steps) > 0.5;
        s->wrong += fabs(steps) > 1.5;
    }
    if (s->wrong > before && !s->first_wrong) s->first_wrong = t;
}

/* Returns the scale of a quantized tensor, or 0 for other tensors. */
static double step_of(Ctx *cx, const Tensor *t)
{
    Grid g;
    const Node *n = t->producer;
    if (!n || n->kind != NODE_CALL || !tensor_is_fixed(t)) return 0;
    const int grid = n->op->quantization.grid;
    return (grid == GRID_STORE || grid == GRID_SIMULATE) && quantized_grid(cx, n, &g) ? g.step : 0;
}

/* Returns the data of a tensor of the reference. If no call reads the tensor, runs the call that computes it. Such
 * tensors are real numbers whose integers are read instead, or UINT8 forms of INT8 tensors. */
static const void *data_of(const Build *reference, const Tensor *t)
{
    Ctx *cx = reference->cx;
    const void *data = t ? env_get(reference->observed.sizes, t) : NULL;
    Node *n = t ? t->producer : NULL;
    if (data || !n || n->kind != NODE_CALL) return data;
    Group one = { .name = n->name, .node_count = 1, .node = &n, .anchor = n, .output = n->out,
                  .output_count = n->out_count, .input = NEW_ARRAY(cx->arena, Tensor *, n->in_count) };
    for (int i = 0; i < n->in_count; i++) {
        int before = 0;
        while (before < i && n->in[before] != n->in[i]) before++;
        if (!n->in[i] || before < i) continue;
        if (!tensor_is_constant(n->in[i]) && !env_get(reference->observed.sizes, n->in[i])) return NULL;
        one.input[one.input_count++] = n->in[i];
    }
    const Nest *nest = group_naive(cx, &one, reference->target, NULL);
    Env *env = env_new(cx);
    for (int i = 0; nest && i < one.input_count; i++)
        if (!tensor_is_constant(one.input[i]))
            env_set_const(env, nest->input[i], env_get(reference->observed.sizes, one.input[i]));
    const RunOptions fast = { .checked = false };
    return nest && interpret(cx, nest, env, &fast) ? env_get(env, nest->output[t->output]) : NULL;
}

bool build_compare_written(Build *written, const void *const *inputs, const Build *reference, Steps *steps)
{
    Env *all = env_new(written->cx);
    for (int i = 0; i < written->graph.input_count; i++) env_set_const(all, written->graph.input[i], inputs[i]);
    written->observed.sizes = all;
    for (int i = 0; i < written->groups.count; i++) {
        if (!run_group(written, i, all)) return false;
        for (int k = 0; k < written->groups.at[i].output_count; k++) {
            const Tensor *t = written->groups.at[i].output[k];
            const int number = graph_origin_of(&written->graph, t);
            const Tensor *now = number < 0 ? NULL : reference->graph.origin[number].now;
            const double step = now ? step_of(written->cx, t) : 0;
            const void *want = step > 0 && has_shape_of(t, now, &(Origin){ 0 }) ? data_of(reference, now) : NULL;
            if (!want) continue;
            count_steps(t, step, env_get(all, t), want, steps);
            env_set_const(all, t, want);
        }
    }
    return true;
}
