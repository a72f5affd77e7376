/* SPDX-License-Identifier: MIT */
/* Simulation and integers, layer by layer. A quantized network is realized on integers with every grid as an output;
 * the simulated calls then compute each grid in floats from these integers, so no difference of an earlier layer
 * counts.
 *
 *   rule   every element is equal; or it is within half a step and TIE steps of the float value before rounding; or
 *          the call is computed in fixed point by its definition (softmax), then one step; or it is 0 / 0
 *
 * Every third random network has 16-bit grids. A float value of 32,768 steps is rounded by 2^-9 of one, and sums
 * of such values by more: a tie is WIDE_TIE steps wide there. A function of one tensor is an interpolated table: it is
 * CURVE_TIE steps wide. A sum of two grids adds the rounding of its operands, a sum of products that of its terms.
 *
 *   test_quantize_layers [COUNT [FIRST]]        random networks, 60 by default, from seed FIRST on
 *   test_quantize_layers MODEL SAMPLES.npy      a model, on at most 40 of its samples */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "quantizer/layers.h"
#include "support/text.h"

static const double tie = 0.001;       /* float sums of some hundred products are wrong by less */
static const double wide_tie = 0.05, curve_tie = 0.27;

static uint32_t next(uint32_t *s) { return (*s = *s * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8; }
static int below(uint32_t *s, int n) { return (int)((uint64_t)next(s) * (uint64_t)n >> 24); }
static double real(uint32_t *s) { return (double)next(s) / 8388608.0 - 1.0; }

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

/* One grid of the simulated graph. */
typedef struct Point {
    const Node *node;                  /* annotation.simulated_quantize */
    double step, zero, tie;
    bool is_fixed;                     /* the call before it has a form in fixed point */
} Point;

typedef struct Points { int count; Point *at; } Points;

static double scalar_of(const Tensor *t)
{
    const Scalar v = dtype_load(t->type, t->data, 0);
    return dtype_is_float(t->type) ? v.f : (double)v.i;
}

static bool is_grid(const Node *n) { return n->kind == NODE_CALL && n->op->quantization.grid == GRID_SIMULATE; }

/* True if a function of one tensor, no limit nor affine function by constants alone, is behind the last grid. */
static bool is_curve(const Node *n)
{
    const Tensor *data = NULL;
    int operands = 0;
    if (!n || n->kind != NODE_CALL || is_grid(n) || n->op->fusion.pattern > PATTERN_BROADCAST) return false;
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) operands++, data = n->in[i];
    const bool is_plain = n->op->quantization.limits || n->op->fold.affine || n->op->quantization.is_difference;
    return operands && (!is_plain || (operands > 1 ? n->in[0] != n->in[1] : is_curve(data->producer)));
}

/* Returns the greatest real number among the grids that a sum or a difference of two reads; else 0. Floats round the
 * operands, which may be far greater than the result. */
static double greatest_operand(const Node *n)
{
    double greatest = 0;
    while (n && n->kind == NODE_CALL && n->op->quantization.limits) n = n->in[0]->producer;
    if (!n || n->kind != NODE_CALL || n->in_count != 2 || n->op->fusion.pattern > PATTERN_BROADCAST) return 0;
    for (int i = 0; i < 2; i++) {
        const Node *from = n->in[i]->producer;
        if (!from || !is_grid(from)) continue;
        greatest = fmax(greatest, scalar_of(from->in[1]) * (node_int(from, "bits", 8) == 16 ? 32768 : 256));
    }
    return greatest;
}

/* Returns the greatest sum of magnitudes that a layer adds up; 0: the call is no layer. A limit behind the layer may
 * leave a result that is far smaller. */
static double greatest_sum(Ctx *cx, const Node *n)
{
    while (n && n->kind == NODE_CALL && (n->op->quantization.limits || n->op->fold.affine) && n->in[0])
        n = n->in[0]->producer;
    if (!n || n->kind != NODE_CALL || n->in_count < 2 || !n->in[0] || !n->in[1]) return 0;
    const Node *x = n->in[0]->producer, *grid = n->in[1]->producer;
    const Tensor *w = grid && is_grid(grid) ? grid->in[0] : n->in[1];
    if (!x || !is_grid(x) || !tensor_is_constant(w) || !tensor_is_constant(x->in[1]) || w->type != F32 || !w->rank)
        return 0;
    const int64_t channels = tensor_dim(w, w->rank - 1);
    double *sum = NEW_ARRAY(cx->arena, double, channels), greatest = 0;
    for (int64_t i = 0; i < tensor_elems(w); i++) sum[i % channels] += fabs((double)((const float *)w->data)[i]);
    for (int64_t i = 0; i < channels; i++) greatest = fmax(greatest, sum[i]);
    return greatest * scalar_of(x->in[1]) * (node_int(x, "bits", 8) == 16 ? 32768 : 256);
}

/* Returns the grids of computed tensors, in execution order. */
static Points points_of(Ctx *cx, const Graph *g)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    Points all = { 0, NEW_ARRAY(cx->arena, Point, count) };
    bool is_wide = false;
    for (int i = 0; i < count; i++) is_wide = is_wide || (is_grid(order[i]) && node_int(order[i], "bits", 8) == 16);
    for (int i = 0; i < count; i++) {
        const Node *n = order[i], *before = is_grid(n) ? n->in[0]->producer : NULL;
        if (!is_grid(n) || tensor_is_constant(n->in[0]) || !tensor_is_constant(n->in[1])) continue;
        const double greatest = fmax(greatest_operand(before), greatest_sum(cx, before));
        const double rounding = ldexp(greatest, -22) / scalar_of(n->in[1]);
        all.at[all.count++] = (Point){ n, scalar_of(n->in[1]), scalar_of(n->in[2]),
                                       rounding + (!is_wide ? tie : is_curve(before) ? curve_tie : wide_tie),
                                       before && before->kind == NODE_CALL && before->op->quantization.in_fixed_point };
    }
    return all;
}

/* Returns the graph with all grids as outputs. */
static Graph observed(Ctx *cx, const Graph *g, const Points *p)
{
    Graph out = *g;
    out.output = NEW_ARRAY(cx->arena, Tensor *, p->count);
    out.output_count = p->count;
    for (int i = 0; i < p->count; i++) out.output[i] = p->at[i].node->out[0];
    return out;
}

/* Returns the graph that computes each grid from the grids before it, as inputs; output 2i is the grid, output 2i + 1
 * the value before rounding. */
static Graph fed(Ctx *cx, const Graph *g, const Points *p)
{
    Graph out = *g;
    Node **order;
    const int count = graph_order(cx, g, &order);
    Map now = map_new(cx->arena);
    out.input = NEW_ARRAY(cx->arena, Tensor *, g->input_count + p->count);
    out.output = NEW_ARRAY(cx->arena, Tensor *, 2 * p->count);
    out.output_count = 2 * p->count;
    for (int i = 0; i < g->input_count; i++) out.input[i] = g->input[i];
    for (int i = 0, k = 0; i < count && !ctx_failed(cx); i++) {
        const Node *n = order[i];
        Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
        for (int j = 0; j < n->in_count; j++) {
            Tensor *t = n->in[j] ? map_get_ptr(&now, n->in[j]) : NULL;
            in[j] = t ? t : n->in[j];
        }
        const Node *copy = node_over(cx, n, in);
        for (int j = 0; copy && j < n->out_count; j++) map_put_ptr(&now, n->out[j], copy->out[j]);
        if (!copy || k == p->count || p->at[k].node != n) continue;
        Tensor *input = tensor_new(cx, text_format(cx, "fed%d", k), F32, n->out[0]->rank, n->out[0]->shape);
        out.input[out.input_count++] = input;
        out.output[2 * k] = copy->out[0];
        out.output[2 * k++ + 1] = in[0];
        map_put_ptr(&now, n->out[0], input);
    }
    return out;
}

/* A graph that runs on one sample after another. */
static bool open_graph(Build *b, Ctx *cx, const Build *like, const Graph *g, bool on_integers)
{
    lw_options *o = NEW(cx->arena, lw_options);
    *o = (lw_options){ .qdq = on_integers ? NULL : "float", .combine = "none" };
    *b = *like;
    b->options = o;
    b->model.input = g->input;
    b->model.input_count = g->input_count;
    b->model.output = g->output;
    b->model.output_count = g->output_count;
    b->mode.in_fixed_point = on_integers;
    b->mode.until = NULL;
    return build_graph(b) && build_nests(b);
}

/* Elements and steps are counted over all networks, `differing` and `refused` are networks. */
typedef struct Outcome {
    int64_t elements, steps, wrong, differing, refused;
    double greatest;
    const char *first;
} Outcome;

/* Compares one grid of one sample. */
static void compare(Ctx *cx, const Point *p, const float *integer, const float *simulated, const float *before,
                    int64_t count, Outcome *r)
{
    for (int64_t i = 0; i < count; i++) {
        const double a = (double)integer[i] / p->step, b = (double)simulated[i] / p->step, d = nearbyint(a - b);
        const double v = (double)before[i] / p->step, from_tie = fabs(fabs(v - floor(v)) - 0.5);
        r->elements++;
        if (d == 0 || isnan(v)) continue;
        r->steps++;
        if (from_tie > r->greatest && !p->is_fixed) r->greatest = from_tie;
        if (fabs(a - v) < 0.5 + p->tie || (fabs(d) == 1 && p->is_fixed)) continue;
        if (!r->wrong++)
            r->first = text_format(cx, "\"%s\" element %lld: %g on integers, %g simulated, %g before rounding",
                                   p->node->name, (long long)i, a + p->zero, b + p->zero, v + p->zero);
    }
}

static bool compare_all(Ctx *cx, const Build *like, const Graph *g, const Samples *s, int64_t most, Outcome *r)
{
    Build on_integers, in_floats;
    const Points p = points_of(cx, g);
    const Graph all = observed(cx, g, &p), parts = fed(cx, g, &p);
    if (!open_graph(&on_integers, cx, like, &all, true) || !open_graph(&in_floats, cx, like, &parts, false))
        return false;
    const void **in = NEW_ARRAY(cx->arena, const void *, parts.input_count);
    void **sample = NEW_ARRAY(cx->arena, void *, s->input_count);
    for (int i = 0; i < s->input_count; i++) in[i] = sample[i] = arena_alloc(cx->arena, (size_t)s->bytes[i]);
    const void **y = NEW_ARRAY(cx->arena, const void *, p.count), **z = NEW_ARRAY(cx->arena, const void *, 2 * p.count);
    for (int64_t k = 0; k < s->count && k < most; k++) {
        for (int i = 0; i < s->input_count; i++)
            if (!samples_copy(cx, s, i, k, sample[i])) return false;
        if (!build_run(&on_integers, in, y)) return false;
        for (int i = 0; i < p.count; i++) in[g->input_count + i] = y[i];
        if (!build_run(&in_floats, in, z)) return false;
        for (int i = 0; i < p.count; i++)
            compare(cx, &p.at[i], y[i], z[2 * i], z[2 * i + 1], tensor_elems(p.at[i].node->out[0]), r);
    }
    return !ctx_failed(cx);
}

/* ---- Random networks --------------------------------------------------------------------------------------------- */

enum { MOST_TENSORS = 40 };
typedef struct Shape { int h, w, c; char name[16]; } Shape;
typedef struct Net {
    Text text;
    uint32_t seed;
    int constants, count, tensors;     /* `tensors` counts names */
    Shape at[MOST_TENSORS];            /* computed so far, the newest last */
} Net;

/* Magnitudes of constants: usual ones, zeros, a channel a thousand times larger, tiny or huge ones. */
static double constant_at(Net *n, int kind, int channel)
{
    const double v = real(&n->seed);
    switch (kind) {
    case 0: return channel % 3 ? v : 0;
    case 1: return channel % 4 ? v : v * 1000;
    case 2: return v * 1e-6;
    case 3: return v * 1e4;
    default: return v;
    }
}

static const char *constant(Net *n, Ctx *cx, const char *shape, int count, int channels)
{
    const char *name = text_format(cx, "c%d", n->constants++);
    const int kind = below(&n->seed, 20);
    text_printf(&n->text, "const %s: f32%s = [", name, shape);
    for (int i = 0; i < count; i++) {
        text_add(&n->text, i ? ", " : "");
        text_float(&n->text, (float)constant_at(n, kind, i % channels));
    }
    text_add(&n->text, "]\n");
    return name;
}

static Shape *newest(Net *n) { return &n->at[n->count - 1]; }

static void define(Net *n, int h, int w, int c, const char *format, ...)
{
    va_list args;
    char call[200];
    va_start(args, format);
    vsnprintf(call, sizeof call, format, args);
    va_end(args);
    if (n->count == MOST_TENSORS) return;
    Shape *s = &n->at[n->count++];
    *s = (Shape){ h, w, c, "" };
    snprintf(s->name, sizeof s->name, "t%d", n->tensors++);
    text_printf(&n->text, "%s = %s\n", s->name, call);
}

static void add_bias(Net *n, Ctx *cx)
{
    const Shape x = *newest(n);
    if (below(&n->seed, 8) == 0) return;
    const char *b = constant(n, cx, text_format(cx, "[%d]", x.c), x.c, x.c);
    define(n, x.h, x.w, x.c, "add(%s, %s)", x.name, b);
}

static void add_limit(Net *n)
{
    static const char *const limits[] = { "relu(%s)", "clip(%s, min=0, max=6)", "leaky_relu(%s, alpha=0.125)",
                                          "clip(%s, min=-0.5, max=0.75)" };
    const Shape x = *newest(n);
    if (below(&n->seed, 3)) define(n, x.h, x.w, x.c, limits[below(&n->seed, 4)], x.name);
}

static void add_conv(Net *n, Ctx *cx)
{
    const Shape x = *newest(n);
    const int o = 1 + below(&n->seed, 8), k = 1 + 2 * below(&n->seed, 2), stride = 1 + below(&n->seed, 2);
    const char *w = constant(n, cx, text_format(cx, "[%d][%d][%d][%d]", k, k, x.c, o), k * k * x.c * o, o);
    const int p = k / 2, h = (x.h + 2 * p - k) / stride + 1, width = (x.w + 2 * p - k) / stride + 1;
    define(n, h, width, o, "conv2d(%s, %s, stride=[%d,%d], pad=[%d,%d,%d,%d])", x.name, w, stride, stride, p, p, p, p);
    add_bias(n, cx);
    add_limit(n);
}

static void add_depthwise(Net *n, Ctx *cx)
{
    const Shape x = *newest(n);
    const char *w = constant(n, cx, text_format(cx, "[3][3][%d]", x.c), 9 * x.c, x.c);
    define(n, x.h, x.w, x.c, "depthwise_conv2d(%s, %s, pad=[1,1,1,1])", x.name, w);
    add_bias(n, cx);
    add_limit(n);
}

static void add_pool(Net *n)
{
    const Shape x = *newest(n);
    const char *kind = below(&n->seed, 2) ? "max_pool2d" : "avg_pool2d";
    if (x.h < 2 || x.w < 2) return;
    const int stride = 1 + below(&n->seed, 2);
    define(n, (x.h - 2) / stride + 1, (x.w - 2) / stride + 1, x.c, "%s(%s, kernel=[2,2], stride=[%d,%d])", kind, x.name,
           stride, stride);
}

static void add_curve(Net *n)
{
    static const char *const curves[] = { "sigmoid", "tanh", "hard_swish", "silu", "gelu", "exp", "abs", "square",
                                          "softplus", "elu", "relu" };
    const Shape x = *newest(n);
    define(n, x.h, x.w, x.c, "%s(%s)", curves[below(&n->seed, 11)], x.name);
}

static void add_scale(Net *n, Ctx *cx)
{
    const Shape x = *newest(n);
    const bool per_channel = below(&n->seed, 2);
    const char *c = per_channel ? constant(n, cx, text_format(cx, "[%d]", x.c), x.c, x.c)
                                : constant(n, cx, "[1]", 1, 1);
    define(n, x.h, x.w, x.c, "%s(%s, %s)", below(&n->seed, 2) ? "mul" : "sub", x.name, c);
}

/* Divides the tensor by a positive function of the newest one, which its grid may round to 0. */
static void add_quotient(Net *n, const Shape *y)
{
    static const char *const divisors[] = { "sigmoid", "softplus", "exp" };
    const Shape x = *newest(n);
    const char *divisor = divisors[below(&n->seed, 3)];
    define(n, x.h, x.w, x.c, "%s(%s)", divisor, x.name);
    define(n, x.h, x.w, x.c, "div(%s, %s)", y->name, newest(n)->name);
    add_limit(n);
}

/* Joins the newest tensor with an earlier one of its shape, or of its height and width. */
static void add_join(Net *n)
{
    static const char *const joins[] = { "add", "sub", "mul", "max" };
    const Shape x = *newest(n);
    const int kind = below(&n->seed, 7);
    for (int tries = 0; tries < 8; tries++) {
        const Shape y = n->at[below(&n->seed, n->count)];
        if (y.h != x.h || y.w != x.w || (kind != 4 && kind != 5 && y.c != x.c) || y.c + x.c > 24) continue;
        if (kind < 4) define(n, x.h, x.w, x.c, "%s(%s, %s)", joins[kind], y.name, x.name);
        else if (kind < 6) define(n, x.h, x.w, x.c + y.c, "concat(%s, %s, axis=3)", y.name, x.name);
        else add_quotient(n, &y);
        return;
    }
}

static void add_move(Net *n)
{
    const Shape x = *newest(n);
    switch (below(&n->seed, 5)) {
    case 0: define(n, x.w, x.h, x.c, "transpose(%s, perm=[0,2,1,3])", x.name); break;
    case 1: define(n, x.h, x.w, x.c, "reshape(%s, shape=[1,%d,%d,%d])", x.name, x.h, x.w, x.c); break;
    case 2: define(n, x.h + 1, x.w + 2, x.c, "pad(%s, pad=[0,1,0,0,0,0,2,0])", x.name); break;
    case 3: define(n, 1, 1, x.h * x.w * x.c, "reshape(%s, shape=[1,1,1,%d])", x.name, x.h * x.w * x.c); break;
    default: define(n, x.h, x.w, x.c, "softmax(%s, axis=3)", x.name);
    }
}

static void add_mean(Net *n)
{
    const Shape x = *newest(n);
    if (below(&n->seed, 2)) define(n, 1, 1, x.c, "reduce_mean(%s, axes=[1,2], keepdims=1)", x.name);
    else define(n, 1, 1, x.c, "global_avg_pool(%s)", x.name);
}

static void add_dense(Net *n, Ctx *cx)
{
    const Shape x = *newest(n);
    const int o = 1 + below(&n->seed, 6);
    const char *w = constant(n, cx, text_format(cx, "[%d][%d]", x.c, o), x.c * o, o);
    define(n, x.h, x.w, o, "dense(%s, %s)", x.name, w);
    add_bias(n, cx);
    add_limit(n);
}

static void add_layer(Net *n, Ctx *cx)
{
    switch (below(&n->seed, 14)) {
    case 0: case 1: case 2: add_conv(n, cx); break;
    case 3: case 4: add_depthwise(n, cx); break;
    case 5: add_pool(n); break;
    case 6: case 7: add_curve(n); break;
    case 8: case 9: add_join(n); break;
    case 10: add_move(n); break;
    case 11: add_scale(n, cx); break;
    case 12: add_dense(n, cx); break;
    default: if (below(&n->seed, 4) == 0) add_mean(n);
    }
}

static const char *random_net(Ctx *cx, uint32_t seed)
{
    Net n = { .text = text_new(cx), .seed = seed * UINT32_C(2654435761) + 1, .count = 1,
              .at = { { 5, 4, 3, "x" } } };
    text_add(&n.text, "input x: f32[1][5][4][3]\n");
    for (int i = 1 + below(&n.seed, 8); i > 0; i--) add_layer(&n, cx);
    add_dense(&n, cx);
    text_printf(&n.text, "output %s\n", newest(&n)->name);
    return text_string(&n.text);
}

/* Samples of usual magnitude; sometimes constant, sparse, or with rare large values. */
static Samples random_samples(Ctx *cx, int count, int elems, uint32_t seed)
{
    float *v = NEW_ARRAY(cx->arena, float, count * elems);
    const int kind = below(&seed, 10);
    for (int i = 0; i < count * elems; i++) {
        const double x = real(&seed);
        v[i] = (float)(kind == 0                        ? 0.5
                       : kind == 1 && below(&seed, 5)   ? 0
                       : kind == 2 && !below(&seed, 50) ? 30 * x
                                                        : x);
    }
    return samples_in_memory(cx, count, 1, &(int64_t){ elems * (int64_t)sizeof *v }, &(const char *){ (char *)v });
}

static const lw_options plain_options;

static const char *failure(Ctx *cx, const Outcome *r)
{
    if (ctx_failed(cx) && cx->diags) {
        const Diag *d = cx->diags;
        while (d->severity < ERROR && d->next) d = d->next;
        return diag_text(cx, d);
    }
    return r->first ? r->first : "";
}

/* Gives some grids 16 bits. */
static void widen(Ctx *cx, Quantized *q, uint32_t seed)
{
    for (int i = 0; i < q->edges.group_count; i++) {
        EdgeGroup *g = &q->edges.group[i];
        if (g->is_wide || below(&seed, 2)) continue;
        g->bits = 16;
        g->grid = grid_wide(&g->seen);
    }
    q->simulated = simulate(cx, &q->floats, &q->edges, PORTS_FLOAT);
}

static const QuantizeSettings float_ports = { .ports = PORTS_FLOAT };

static void check_net(uint32_t seed, Outcome *total)
{
    enum { SAMPLES = 8, ELEMENTS = 60 };
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    Quantized q;
    Outcome r = { 0 };
    const char *text = random_net(cx, seed);
    const Samples s = random_samples(cx, SAMPLES, ELEMENTS, seed + 1);
    bool ok = build_read_text(&b, cx, "net.te", text, false, &plain_options)
        && build_quantize(&b, &s, &float_ports, &q);
    if (ok && seed % 3 == 2) widen(cx, &q, seed);
    ok = ok && compare_all(cx, &b, &q.simulated, &s, SAMPLES, &r);
    total->elements += r.elements;
    total->steps += r.steps;
    total->greatest = fmax(total->greatest, r.greatest);
    const bool is_refused = !ok && strstr(failure(cx, &r), "computes finite numbers");
    total->refused += is_refused;
    total->differing += r.wrong || (!ok && !is_refused);
    if (r.wrong || (!ok && !is_refused)) printf("# seed %u: %s\n%s", (unsigned)seed, failure(cx, &r), text);
    ctx_free(cx);
}

/* A layer whose sums of COUNT products exceed 32 bits: all magnitudes are the greatest of their grid. */
static void check_wide_sums(int count, int bits, const char *name)
{
    enum { SAMPLES = 20 };
    Ctx *cx = context_new(NULL, NULL);
    Build b, realized;
    Quantized q;
    Outcome r = { 0 };
    FloatCall *in_floats;
    Text t = text_new(cx);
    uint32_t seed = 5;
    float *v = NEW_ARRAY(cx->arena, float, SAMPLES * count);
    text_printf(&t, "input x: f32[1][%d]\nconst w: f32[%d][2] = [", count, count);
    for (int i = 0; i < 2 * count; i++) text_printf(&t, "%s%d", i ? ", " : "", i % 5 ? 1 : -1);
    text_add(&t, "]\nconst b: f32[2] = [3, -2]\nz = dense(x, w)\ns = add(z, b)\ny = relu(s)\noutput y\n");
    for (int i = 0; i < SAMPLES * count; i++) v[i] = (float)(i / count % 2 ? real(&seed) : i / 2 % 5 ? 1 : -1);
    const Samples s = samples_in_memory(cx, SAMPLES, 1, &(int64_t){ count * (int64_t)sizeof *v },
                                        &(const char *){ (char *)v });
    bool ok = build_read_text(&b, cx, "net.te", text_string(&t), false, &plain_options)
        && build_quantize(&b, &s, &float_ports, &q);
    for (int i = 0; ok && i < q.edges.group_count; i++) {
        q.edges.group[i].bits = bits;
        if (bits == 16) q.edges.group[i].grid = grid_wide(&q.edges.group[i].seen);
    }
    if (ok) q.simulated = simulate(cx, &q.floats, &q.edges, PORTS_FLOAT);
    ok = ok && compare_all(cx, &b, &q.simulated, &s, SAMPLES, &r);
    const int floats = ok && open_graph(&realized, cx, &b, &q.simulated, true)
        ? calls_in_floats(cx, &realized.graph, &in_floats) : -1;
    check_that(ok && !r.wrong && floats == 0, name, "%s; %d calls in floats", failure(cx, &r), floats);
    ctx_free(cx);
}

static int check_model(const char *path, const char *samples)
{
    enum { MOST_SAMPLES = 40 };
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    Samples s;
    Quantized q;
    Outcome r = { 0 };
    const bool ok = build_read(&b, cx, path, &plain_options) && samples_read(&b, &samples, 1, &s)
        && build_quantize(&b, &s, &float_ports, &q)
        && compare_all(cx, &b, &q.simulated, &s, MOST_SAMPLES, &r);
    check_that(ok && !r.wrong, path, "%s", failure(cx, &r));
    printf("# %lld elements, %lld one step apart, at most %g steps from a tie\n", (long long)r.elements,
           (long long)r.steps, r.greatest);
    ctx_free(cx);
    return check_done();
}

static void print_count(int count, const Outcome *r)
{
    printf("# %d networks, %lld agree, %lld refused", count, count - (long long)(r->differing + r->refused),
           (long long)r->refused);
    if (r->differing) printf(", %lld differ", (long long)r->differing);
    printf("\n");
    fflush(stdout);
}

/* Networks in which integers and simulation have differed. */
static const uint32_t differed[] = { 8078 };

int main(int argc, char **argv)
{
    enum { PRINT_EVERY = 500 };
    if (argc == 3 && strchr(argv[1], '.')) return check_model(argv[1], argv[2]);
    const int count = argc > 1 ? atoi(argv[1]) : 60, first = argc > 2 ? atoi(argv[2]) : 0;
    Outcome total = { 0 };
    for (int i = 0; i < count; i++) {
        check_net((uint32_t)(first + i), &total);
        if ((i + 1) % PRINT_EVERY == 0 || i + 1 == count) print_count(i + 1, &total);
    }
    printf("# %lld elements, %lld one step apart, at most %g steps from a tie\n", (long long)total.elements,
           (long long)total.steps, total.greatest);
    for (size_t i = 0; i < sizeof differed / sizeof differed[0]; i++) check_net(differed[i], &total);
    check_wide_sums(1000, 16, "layers: sums of 16-bit products beyond 32 bits");
    check_wide_sums(40000, 8, "layers: sums of 8-bit products beyond 30 bits");
    check_that(total.differing == 0, "layers: integers equal the simulation, or differ by a step at a tie",
               "%lld networks differ", (long long)total.differing);
    return check_done();
}
