/* SPDX-License-Identifier: MIT */
/* Handwritten and random networks for the tests of the graph part, and their values by the evaluator: each call of the
 * original DAG is expanded and evaluated alone, independently of the tested code. */
#ifndef GRAPHS_H
#define GRAPHS_H

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "own_data.h"
#include "context/context.h"
#include "driver/driver.h"
#include "ir/interpret/evaluate.h"
#include "ir/interpret/interpret.h"
#include "plain.h"
#include "support/names.h"
#include "support/text.h"

enum { NET_ROOM = 64 };

typedef struct Net {
    Ctx *cx;
    uint32_t seed;
    int input_count, output_count;
    Tensor *input[NET_ROOM], *output[NET_ROOM];
} Net;

static inline Net net_new(uint32_t seed) { return (Net){ .cx = context_new(NULL, NULL), .seed = seed }; }

static inline uint32_t draw(uint32_t *seed) { return (*seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8; }
static inline int pick(Net *n, int count) { return (int)(draw(&n->seed) % (uint32_t)count); }

static inline void fill(const Tensor *t, void *data, uint32_t *seed)
{
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        double r = (double)draw(seed) / 8388608.0 - 1.0;
        Scalar s = { 0 };
        if (dtype_is_float(t->type)) s.f = r;
        else s.i = (int64_t)(r * 8);
        dtype_store(t->type, data, i, dtype_wrap(t->type, s));
    }
}

#define SHAPE(...) (int)(sizeof (int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)), (const int64_t[]){ __VA_ARGS__ }

static inline Tensor *net_input(Net *n, const char *label, int rank, const int64_t *shape)
{
    return n->input[n->input_count++] = tensor_new_fixed(n->cx, label, F32, rank, shape);
}

static inline Tensor *net_constant(Net *n, const char *label, int rank, const int64_t *shape)
{
    Tensor *t = tensor_constant(n->cx, label, F32, rank, shape, NULL);
    fill(t, own_data(n->cx, t), &n->seed);
    return t;
}

static inline void net_output(Net *n, Tensor *t) { n->output[n->output_count++] = t; }

/* A call with attributes in text form. */
static inline Tensor *call_text(Ctx *cx, const char *op_name, const char *label, Tensor *const *in, int in_count,
                                const char *attrs_format, ...)
{
    va_list args;
    va_start(args, attrs_format);
    const char *text = text_vformat(cx, attrs_format, args);
    va_end(args);
    const Op *op = ctx_failed(cx) ? NULL : op_find(cx, op_name);
    int count = 0;
    const Attr *attr = op ? attrs_read(cx, op, text, &count) : NULL;
    Node *n = op ? op_call(cx, op, label, in, in_count, attr, count) : NULL;
    return n ? n->out[0] : NULL;
}

static inline Tensor *one(Net *n, const char *op, const char *label, Tensor *x, const char *attrs)
{
    return call_text(n->cx, op, label, &x, 1, "%s", attrs);
}

static inline Tensor *two(Net *n, const char *op, const char *label, Tensor *a, Tensor *b, const char *attrs)
{
    return call_text(n->cx, op, label, (Tensor *[]){ a, b }, 2, "%s", attrs);
}

static inline Graph net_graph(Net *n)
{
    Graph g = { .name = "net", .input_count = n->input_count, .output_count = n->output_count };
    g.input = arena_copy(n->cx->arena, n->input, sizeof n->input);
    g.output = arena_copy(n->cx->arena, n->output, sizeof n->output);
    return g;
}

static inline Graph passed(Net *n, Graph g)
{
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    for (int i = 0; i < count && !ctx_failed(n->cx); i++) g = pass[i].run(n->cx, g);
    return g;
}

/* Returns the number of the operator's calls in the graph; NULL: of any. */
static inline int count_calls(Net *n, const Graph *g, const char *op)
{
    Node **order;
    int count = graph_order(n->cx, g, &order), found = 0;
    for (int i = 0; i < count; i++) found += !op || strcmp(order[i]->op->name, op) == 0;
    return found;
}

/* The data of every input, in order. */
static inline const void **made_up_inputs(Net *n)
{
    const void **data = NEW_ARRAY(n->cx->arena, const void *, NET_ROOM);
    for (int i = 0; i < n->input_count; i++) {
        uint32_t seed = (uint32_t)i + 77;
        void *own = arena_alloc(n->cx->arena, (size_t)tensor_bytes(n->input[i]));
        fill(n->input[i], own, &seed);
        data[i] = own;
    }
    return data;
}

/* The values of the outputs by the evaluator, call by call. False on an error. */
static inline bool evaluate_graph(Net *n, const Graph *g, const void *const *inputs, const void **outputs)
{
    Env *env = env_new(n->cx);
    for (int i = 0; i < g->input_count; i++) env_set_const(env, g->input[i], inputs[i]);
    if (!plain_graph(n->cx, g, env)) return false;
    for (int i = 0; i < g->output_count; i++) outputs[i] = env_get(env, g->output[i]);
    return !ctx_failed(n->cx);
}

/* Returns the first element that differs by more than `most` (1 + |expected|), or -1. */
static inline int64_t first_difference(const Tensor *t, const void *found, const void *wanted, double most)
{
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        Scalar a = dtype_load(t->type, found, i), b = dtype_load(t->type, wanted, i);
        if (!dtype_is_float(t->type) ? a.i != b.i : !(fabs(a.f - b.f) <= most * (1 + fabs(b.f)))) return i;
    }
    return -1;
}

/* True if the passes preserve the outputs' types, shapes and values. */
static inline bool same_values(Net *n, const Graph *was, const Graph *is, double most)
{
    const void *wanted[NET_ROOM], *found[NET_ROOM], **inputs = made_up_inputs(n);
    if (!evaluate_graph(n, was, inputs, wanted) || !evaluate_graph(n, is, inputs, found)) return false;
    for (int i = 0; i < was->output_count; i++) {
        const Tensor *a = was->output[i], *b = is->output[i];
        if (a->type != b->type || strcmp(tensor_shape_text(n->cx, a), tensor_shape_text(n->cx, b)) != 0) return false;
        if (first_difference(a, found[i], wanted[i], most) >= 0) return false;
    }
    return true;
}

static inline const char *net_error(const Net *n)
{
    return n->cx->diags ? diag_text(n->cx, n->cx->diags) : "no diagnostic";
}

/* Runs the net through all passes, in the driver's order. `o` is caller-owned. */
static inline Build net_build(Net *n, const lw_options *o)
{
    Build b = { .cx = n->cx, .options = o, .path = "net.onnx", .name = o->name ? o->name : "net" };
    b.target = target_find(n->cx, "generic");
    b.model = (Model){ .input_count = n->input_count, .output_count = n->output_count };
    b.model.input = arena_copy(n->cx->arena, n->input, sizeof n->input);
    b.model.output = arena_copy(n->cx->arena, n->output, sizeof n->output);
    return b;
}

/* ---- Random networks --------------------------------------------------------------------------------------------- */

typedef struct Pool { Net *net; int count; Tensor *at[NET_ROOM]; } Pool;

static inline Tensor *any_of(Pool *p) { return p->at[pick(p->net, p->count)]; }

/* Another tensor that agrees with t in all dimensions but `axis`; -1: in all. t itself at worst. */
static inline Tensor *mate(Pool *p, Tensor *t, int axis)
{
    for (int tries = 0; tries < 12; tries++) {
        Tensor *o = any_of(p);
        bool fits = o->rank == t->rank;
        for (int d = 0; fits && d < t->rank; d++) fits = d == axis || o->shape[d] == t->shape[d];
        if (fits) return o;
    }
    return t;
}

static inline int64_t last_dim(const Tensor *t) { return tensor_dim(t, t->rank - 1); }

static inline Tensor *random_transpose(Pool *p, Tensor *x)
{
    int perm[MAX_RANK];
    Text t = text_new(p->net->cx);
    for (int d = 0; d < x->rank; d++) perm[d] = d;
    for (int d = x->rank - 1; d > 0; d--) {
        int e = pick(p->net, d + 1), kept = perm[d];
        perm[d] = perm[e];
        perm[e] = kept;
    }
    for (int d = 0; d < x->rank; d++) text_printf(&t, "%s%d", d ? "," : "", perm[d]);
    return call_text(p->net->cx, "transpose", "turn", &x, 1, "perm=%s", text_string(&t));
}

static inline Tensor *random_reshape(Pool *p, Tensor *x)
{
    switch (pick(p->net, 3)) {
    case 0: return one(p->net, "flatten", "flat", x, "");
    case 1: return x->rank < 6 ? one(p->net, "unsqueeze", "wider", x, "axes=1") : x;
    default:
        return x->rank < 4 ? call_text(p->net->cx, "reshape", "image", &x, 1, "shape=1,-1,1,%lld",
                                       (long long)last_dim(x))
                           : one(p->net, "squeeze", "narrower", x, "");
    }
}

static inline Tensor *random_conv(Pool *p, Tensor *x)
{
    Net *n = p->net;
    int64_t c = last_dim(x), o = 1 + pick(n, 5),
            k = tensor_dim(x, 1) >= 3 && tensor_dim(x, 2) >= 3 ? 1 + 2 * pick(n, 2) : 1;
    if (pick(n, 4) == 0)
        return two(n, "depthwise_conv2d", "depthwise", x, net_constant(n, "k", SHAPE(k, k, c)),
                   k == 3 ? "pad=1,1,1,1" : "");
    return two(n, "conv2d", "conv", x, net_constant(n, "k", SHAPE(k, k, c, o)),
               k == 3       ? "pad=1,1,1,1"
               : pick(n, 2) ? ""
                            : "stride=2,2");
}

/* As an importer of a channels-first format does it. */
static inline Tensor *channels_first(Pool *p, Tensor *x, Tensor *make(Pool *p, Tensor *x))
{
    Tensor *in = one(p->net, "transpose", "to_last", x, "perm=0,2,3,1");
    return one(p->net, "transpose", "to_first", make(p, in), "perm=0,3,1,2");
}

static inline Tensor *random_pool(Pool *p, Tensor *x)
{
    bool fits = tensor_dim(x, 1) >= 2 && tensor_dim(x, 2) >= 2;
    switch (pick(p->net, 3)) {
    case 0: return one(p->net, "global_avg_pool", "mean", x, "");
    case 1: return one(p->net, "max_pool2d", "max", x, fits ? "kernel=2,2 stride=2,2" : "kernel=1,1");
    default: return one(p->net, "avg_pool2d", "avg", x, fits ? "kernel=2,2" : "kernel=1,1");
    }
}

static inline Tensor *random_norm(Pool *p, Tensor *x)
{
    Net *n = p->net;
    int64_t c = last_dim(x);
    Tensor *in[5] = { x };
    for (int i = 1; i < 5; i++) in[i] = net_constant(n, "p", SHAPE(c));
    float *var = own_data(n->cx, in[4]);
    for (int64_t i = 0; i < c; i++) var[i] = 0.5f + var[i] * var[i];
    return call_text(n->cx, "batch_norm", "norm", in, 5, "");
}

static inline Tensor *random_concat(Pool *p, Tensor *x)
{
    int axis = pick(p->net, x->rank), count = 1 + pick(p->net, 3);
    Tensor *in[4] = { x };
    for (int i = 1; i < count; i++) in[i] = mate(p, x, axis);
    return call_text(p->net->cx, "concat", "join", in, count, "axis=%d", axis);
}

static inline Tensor *random_binary(Pool *p, Tensor *x)
{
    Net *n = p->net;
    const char *op = pick(n, 3) ? "add" : "mul";
    switch (pick(n, 4)) {
    case 0: return two(n, op, op, x, net_constant(n, "c", SHAPE(last_dim(x))), "");
    case 1: return two(n, op, op, net_constant(n, "c", SHAPE(1)), x, "");
    default: return two(n, op, op, x, mate(p, x, -1), "");
    }
}

static inline Tensor *random_unary(Pool *p, Tensor *x)
{
    static const char *const ops[] = { "relu", "sigmoid", "neg", "tanh", "identity", "dropout", "softmax", "abs" };
    int i = pick(p->net, 8);
    return one(p->net, ops[i], ops[i], x, "");
}

static inline Tensor *random_call(Pool *p)
{
    Net *n = p->net;
    Tensor *x = any_of(p);
    if (x->rank == 0) return random_unary(p, one(n, "unsqueeze", "one", x, "axes=0"));
    int what = pick(n, x->rank == 4 ? 12 : 8);
    switch (what) {
    case 0: case 1: return random_unary(p, x);
    case 2: case 3: return random_binary(p, x);
    case 4: return random_concat(p, x);
    case 5: return random_reshape(p, x);
    case 6: return random_transpose(p, x);
    case 7: return pick(n, 2) ? random_norm(p, x) 
                                : call_text(n->cx, "reduce_mean", "mean", &x, 1, "axes=%d keepdims=%d",
                                            pick(n, x->rank),
                                            pick(n, 2));
    case 8: return random_conv(p, x);
    case 9: return channels_first(p, x, random_conv);
    case 10: return random_pool(p, x);
    default: return channels_first(p, x, random_pool);
    }
}

/* A net of about `calls` calls; outputs are some of the last tensors, now and then an input, a constant, or
 * one twice. */
static inline Net random_net(uint32_t seed, int calls)
{
    Net net = net_new(seed * UINT32_C(2654435761) + 1), *n = &net;
    Pool p = { n, 0, { NULL } };
    p.at[p.count++] = net_input(n, "x", SHAPE(1, 2 + pick(n, 3), 2 + pick(n, 3), 1 + pick(n, 4)));
    if (pick(n, 3) == 0) p.at[p.count++] = net_input(n, "z", SHAPE(1, 3, 3, 2));
    for (int i = 0; i < calls && !ctx_failed(n->cx); i++) {
        Tensor *t = random_call(&p);
        if (t && tensor_elems(t) <= 400) p.at[p.count++] = t;
    }
    net_output(n, p.at[p.count - 1]);
    for (int i = pick(n, 3); i > 0; i--) net_output(n, p.at[p.count - 1 - pick(n, p.count > 6 ? 6 : p.count)]);
    if (pick(n, 8) == 0) net_output(n, p.at[0]);
    if (pick(n, 8) == 0) net_output(n, net_constant(n, "fixed", SHAPE(2, 3)));
    return net;
}
#endif
