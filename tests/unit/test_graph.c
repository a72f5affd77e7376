/* SPDX-License-Identifier: MIT */
/* The DAG's passes and its fusion on small handwritten networks: which calls remain and which share a group (more in
 * test_fusion.c); the values by the evaluator on the graph before and after. */
#include "graphs.h"

#include <time.h>

/* ---- Fusion ------------------------------------------------------------------------------------------------------ */

/* The nodes' names, group by group: "conv bias relu | pool". */
static const char *groups_text(Net *n, const Graph *g)
{
    Groups groups = fuse(n->cx, g);
    Text t = text_new(n->cx);
    for (int i = 0; i < groups.count; i++)
        for (int j = 0; j < groups.at[i].node_count; j++)
            text_printf(&t, "%s%s", j ? " " : i ? " | " : "", groups.at[i].node[j]->name);
    return text_string(&t);
}

static void check_groups(Net n, const char *label, const char *wanted)
{
    Graph g = net_graph(&n);
    const char *found = ctx_failed(n.cx) ? net_error(&n) : groups_text(&n, &g);
    check_that(strcmp(found, wanted) == 0, label, "%s; wanted %s", found, wanted);
    ctx_free(n.cx);
}

static Tensor *conv(Net *n, const char *label, Tensor *x, int outputs)
{
    return two(n, "conv2d", label, x, net_constant(n, "k", SHAPE(3, 3, last_dim(x), outputs)), "pad=1,1,1,1");
}

static Tensor *bias(Net *n, const char *label, Tensor *x)
{
    return two(n, "add", label, x, net_constant(n, "b", SHAPE(last_dim(x))), "");
}

static Tensor *image(Net *n, const char *label) { return net_input(n, label, SHAPE(1, 6, 6, 4)); }

static void fuse_groups(void)
{
    Tensor *x, *a, *b;
    Net n = net_new(7);
    net_output(&n, conv(&n, "conv", one(&n, "transpose", "turn", image(&n, "x"), "perm=0,3,2,1"), 4));
    check_groups(n, "a transpose goes into the conv that reads it", "turn conv");

    n = net_new(8);
    x = one(&n, "transpose", "turn", image(&n, "x"), "perm=0,3,2,1");
    net_output(&n, conv(&n, "conv", x, 4));
    net_output(&n, conv(&n, "other", x, 4));
    check_groups(n, "a transpose that two read stands alone", "turn | conv | other");

    /* f32 -> i8 -> f32 between the convolutions: bytes are stored between the groups */
    n = net_new(24);
    x = image(&n, "x");
    a = one(&n, "cast", "narrow", conv(&n, "conv1", x, 4), "to=i8");
    b = conv(&n, "conv2", x, 4);
    net_output(&n, two(&n, "add", "add", b, one(&n, "cast", "widen", a, "to=f32"), ""));
    check_groups(n, "what widens goes to its reader", "conv1 narrow | conv2 widen add");

    n = net_new(23);
    x = conv(&n, "conv", image(&n, "x"), 4);
    net_output(&n,
               two(&n, "mul", "mul", x, one(&n, "global_avg_pool", "mean", one(&n, "relu", "relu", x, ""), ""), ""));
    check_groups(n, "a diamond behind a conv that reduces on one side is not taken at all", "conv | relu | mean | mul");

    n = net_new(26);
    x = conv(&n, "conv", image(&n, "x"), 4);
    net_output(&n, one(&n, "relu", "relu", x, ""));
    net_output(&n, one(&n, "tanh", "tanh", x, ""));
    check_groups(n, "two outputs from one conv", "conv | relu | tanh");

    n = net_new(27);
    x = one(&n, "slice", "slice", one(&n, "relu", "relu", image(&n, "x"), ""), "begin=1 end=5 axes=1");
    net_output(&n, one(&n, "tile", "tile", one(&n, "neg", "neg", x, ""), "times=1,2,1,1"));
    check_groups(n, "injective chains are one", "relu slice neg tile");
}

/* No group is larger than 64 calls, whatever may be fused; then another begins. */
static void fuse_depth(void)
{
    Net net = net_new(28), *n = &net;
    Tensor *x = image(n, "x");
    for (int i = 0; i < 150; i++) x = one(n, i % 2 ? "abs" : "sin", "step", x, "");
    net_output(n, x);
    Graph g = net_graph(n);
    Groups groups = fuse(n->cx, &g);
    int most = 0, sum = 0;
    for (int i = 0; i < groups.count; i++) {
        if (groups.at[i].node_count > most) most = groups.at[i].node_count;
        sum += groups.at[i].node_count;
    }
    check_that(groups.count == 3 && most == 64 && sum == 150, "a limit on depth",
               "%d groups, the largest of %d, %d calls", groups.count, most, sum);
    ctx_free(n->cx);

    net = net_new(29);
    x = image(n, "x");
    Tensor *a = one(n, "relu", "relu1", one(n, "slice", "left", x, "begin=0 end=2 axes=3"), "");
    Tensor *b = one(n, "relu", "relu2", one(n, "slice", "right", x, "begin=2 end=4 axes=3"), "");
    net_output(n, two(n, "add", "add", a, b, ""));
    check_groups(net, "the parts of a split meet again in one group", "left relu1 right relu2 add");

    net = net_new(30);
    x = image(n, "x");
    a = two(n, "mul", "mul", x, one(n, "sigmoid", "sigmoid", x, ""), "");
    b = one(n, "reduce_sum", "sum", a, "axes=3 keepdims=1");
    net_output(n, b);
    net_output(n, one(n, "relu", "relu", b, ""));
    check_groups(net, "a diamond before a sum, whose value is an output", "sigmoid mul sum | relu");
}

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

/* Passes the net and checks the values and the number of transposes that are left. */
static void check_layout(Net n, const char *label, int transposes)
{
    Graph was = net_graph(&n), is = passed(&n, was);
    int left = ctx_failed(n.cx) ? -1 : count_calls(&n, &is, "transpose");
    check_that(left == transposes, label, "%d transposes are left, not %d; %s", left, transposes, net_error(&n));
    check_that(left >= 0 && same_values(&n, &was, &is, 1e-5), text_format(n.cx, "%s: values", label), "they differ");
    ctx_free(n.cx);
}

static Tensor *to_last(Net *n, Tensor *x) { return one(n, "transpose", "to_last", x, "perm=0,2,3,1"); }
static Tensor *to_first(Net *n, Tensor *x) { return one(n, "transpose", "to_first", x, "perm=0,3,1,2"); }
static Tensor *conv_first(Net *n, Tensor *x, int outputs)
{
    return to_first(n, conv(n, "conv", to_last(n, x), outputs));
}
static Tensor *image_first(Net *n) { return net_input(n, "x", SHAPE(1, 3, 5, 4)); }

static void layout_chains(void)
{
    Net n = net_new(30);
    Tensor *x = one(&n, "relu", "relu", conv_first(&n, image_first(&n), 4), "");
    net_output(&n, conv_first(&n, x, 2));
    check_layout(n, "layout: conv, relu, conv", 2);

    n = net_new(31);
    x = conv_first(&n, image_first(&n), 4);
    net_output(&n, two(&n, "add", "add", conv_first(&n, one(&n, "relu", "relu", x, ""), 4), x, ""));
    check_layout(n, "layout: a residual sum", 2);

    n = net_new(32);
    x = conv_first(&n, image_first(&n), 4);
    Tensor *both[] = { x, conv_first(&n, x, 3) };
    net_output(&n, conv_first(&n, call_text(n.cx, "concat", "join", both, 2, "axis=1"), 2));
    check_layout(n, "layout: concatenated channels", 2);

    n = net_new(33);
    x = one(&n, "pad", "pad", conv_first(&n, image_first(&n), 4), "pad=0,0,1,2,0,0,1,0");
    net_output(&n, conv_first(&n, x, 2));
    check_layout(n, "layout: pad", 2);

    n = net_new(34);
    x = one(&n, "softmax", "softmax", conv_first(&n, image_first(&n), 4), "axis=1");
    net_output(&n, conv_first(&n, x, 2));
    check_layout(n, "layout: softmax over channels", 2);

    n = net_new(35);
    x = conv_first(&n, image_first(&n), 4);
    x = two(&n, "add", "bias", x, net_constant(&n, "b", SHAPE(4, 1, 1)), "");
    x = two(&n, "mul", "scale", x, net_constant(&n, "s", SHAPE(1)), "");
    net_output(&n, conv_first(&n, x, 2));
    check_layout(n, "layout: constants of lower rank", 2);
}

static void layout_heads(void)
{
    Net n = net_new(40);
    Tensor *x = conv_first(&n, image_first(&n), 4);
    x = to_first(&n, one(&n, "global_avg_pool", "mean", to_last(&n, x), ""));
    x = one(&n, "flatten", "flat", x, "");
    net_output(&n, two(&n, "dense", "dense", x, net_constant(&n, "w", SHAPE(4, 3)), ""));
    check_layout(n, "layout: global pool, flatten, dense", 1);

    n = net_new(41);
    x = one(&n, "flatten", "flat", conv_first(&n, image_first(&n), 4), "");
    net_output(&n, two(&n, "dense", "dense", x, net_constant(&n, "w", SHAPE(80, 3)), ""));
    check_layout(n, "layout: a flattened transpose goes into the weights", 1);

    n = net_new(42);
    x = conv_first(&n, image_first(&n), 4);
    Tensor *gate = to_first(&n, one(&n, "global_avg_pool", "mean", to_last(&n, x), ""));
    gate = one(&n, "sigmoid", "gate", conv_first(&n, gate, 4), "");
    net_output(&n, conv_first(&n, two(&n, "mul", "mul", x, gate, ""), 2));
    check_layout(n, "layout: channels scaled by a gate of one pixel", 2);

    n = net_new(43);
    x = one(&n, "transpose", "a", one(&n, "transpose", "b", image_first(&n), "perm=2,0,3,1"), "perm=0,1,3,2");
    net_output(&n, one(&n, "relu", "relu", x, ""));
    check_layout(n, "layout: two transposes are one", 1);

    n = net_new(44);
    x = one(&n, "transpose", "turn", net_input(&n, "x", SHAPE(3, 5)), "perm=1,0");
    net_output(&n, two(&n, "add", "add", x, net_constant(&n, "c", SHAPE(2, 3, 5, 3)), ""));
    check_layout(n, "layout: an operand of lower rank stays", 1);

    n = net_new(45);
    x = net_input(&n, "x", SHAPE(1, 1, 5, 4));
    net_output(&n, one(&n, "relu", "relu", one(&n, "transpose", "turn", x, "perm=0,2,3,1"), ""));
    check_layout(n, "layout: where only ones move it is a view", 0);
}

/* ---- Affine, simplify, fold -------------------------------------------------------------------------------------- */

static Tensor *norm(Net *n, Tensor *x)
{
    Pool p = { n, 0, { NULL } };
    return random_norm(&p, x);
}

/* The operators that remain, in order, and the values. */
static void check_calls(Net n, const char *label, const char *wanted)
{
    Graph was = net_graph(&n), is = passed(&n, was);
    Node **order;
    Text t = text_new(n.cx);
    int count = ctx_failed(n.cx) ? 0 : graph_order(n.cx, &is, &order);
    for (int i = 0; i < count; i++) text_printf(&t, "%s%s", i ? " " : "", order[i]->op->name);
    const char *found = ctx_failed(n.cx) ? net_error(&n) : text_string(&t);
    check_that(strcmp(found, wanted) == 0, label, "\"%s\", wanted \"%s\"", found, wanted);
    check_that(!ctx_failed(n.cx) && same_values(&n, &was, &is, 1e-5), text_format(n.cx, "%s: values", label),
               "they differ");
    ctx_free(n.cx);
}

static void affine(void)
{
    Net n = net_new(50);
    net_output(&n, one(&n, "relu", "relu", norm(&n, bias(&n, "bias", conv(&n, "conv", image(&n, "x"), 4))), ""));
    check_calls(n, "affine: conv, bias, norm", "conv2d add relu");

    n = net_new(51);
    Tensor *x = net_input(&n, "x", SHAPE(2, 5));
    net_output(&n, norm(&n, bias(&n, "bias", two(&n, "dense", "dense", x, net_constant(&n, "w", SHAPE(5, 3)), ""))));
    check_calls(n, "affine: dense, bias, norm", "dense add");

    n = net_new(52);
    x = two(&n, "depthwise_conv2d", "dw", image(&n, "x"), net_constant(&n, "k", SHAPE(3, 3, 4)), "");
    net_output(&n, norm(&n, norm(&n, x)));
    check_calls(n, "affine: depthwise, two norms", "depthwise_conv2d add");

    n = net_new(53);
    x = conv(&n, "conv", image(&n, "x"), 4);
    net_output(&n, norm(&n, x));
    net_output(&n, one(&n, "relu", "relu", x, ""));
    check_calls(n, "affine: what others read stays", "conv2d relu mul add");

    n = net_new(54);
    x = two(&n, "mul", "mul", tensor_scalar(n.cx, "s", F32, 0.25), conv(&n, "conv", image(&n, "x"), 4), "");
    net_output(&n, two(&n, "add", "add", x, tensor_scalar(n.cx, "t", F32, 2), ""));
    check_calls(n, "affine: scalars", "conv2d add");

    n = net_new(55);
    x = conv(&n, "conv", image(&n, "x"), 4);
    net_output(&n, two(&n, "mul", "mul", x, net_constant(&n, "c", SHAPE(6, 1, 1)), ""));
    check_calls(n, "affine: a scale along rows stays", "conv2d mul");

    n = net_new(56);
    x = conv(&n, "conv", image(&n, "x"), 1);
    net_output(&n, two(&n, "mul", "mul", x, net_constant(&n, "c", SHAPE(3)), ""));
    check_calls(n, "affine: a scale that widens stays", "conv2d mul");

    n = net_new(57);
    x = conv(&n, "conv", image(&n, "x"), 4);
    net_output(&n, x);
    net_output(&n, norm(&n, x));
    check_calls(n, "affine: an output stays", "conv2d mul add");
}

static void simplify_and_fold(void)
{
    Net n = net_new(60);
    net_output(&n, one(&n, "relu", "relu",
                       one(&n, "dropout", "dropout", one(&n, "identity", "identity", image(&n, "x"), ""), ""), ""));
    check_calls(n, "simplify: dropout and identity", "relu");

    n = net_new(61);
    Tensor *x = one(&n, "flatten", "flat",
                    one(&n, "unsqueeze", "wide", one(&n, "relu", "relu", image(&n, "x"), ""), "axes=0"), "axis=2");
    net_output(&n, one(&n, "reshape", "again", x, "shape=4,36"));
    check_calls(n, "simplify: views of views are one", "relu reshape");

    n = net_new(62);
    x = one(&n, "flatten", "flat", image(&n, "x"), "");
    net_output(&n, one(&n, "relu", "relu", one(&n, "reshape", "back", x, "shape=1,6,6,4"), ""));
    check_calls(n, "simplify: a view and back is nothing", "relu");

    n = net_new(63);
    x = net_constant(&n, "c", SHAPE(4));
    x = one(&n, "sqrt", "sqrt", one(&n, "abs", "abs", two(&n, "mul", "mul", x, x, ""), ""), "");
    net_output(&n, two(&n, "add", "add", image(&n, "x"), one(&n, "unsqueeze", "wide", x, "axes=0"), ""));
    check_calls(n, "fold: a chain of constants", "add");

    n = net_new(64);
    x = one(&n, "expand", "expand", net_constant(&n, "c", SHAPE(1)), "shape=64,64");
    net_output(&n, two(&n, "add", "add", net_input(&n, "x", SHAPE(64, 64)), x, ""));
    check_calls(n, "fold: a small constant stays small", "expand add");
}

static void outputs(void)
{
    Net n = net_new(70);
    Tensor *x = image(&n, "x");
    net_output(&n, x);
    net_output(&n, one(&n, "relu", "relu", x, ""));
    check_calls(n, "outputs: an input is copied", "relu identity");

    n = net_new(71);
    x = one(&n, "relu", "relu", image(&n, "x"), "");
    for (int i = 0; i < 3; i++) net_output(&n, x);
    check_calls(n, "outputs: one tensor three times is copied twice", "relu identity identity");

    n = net_new(72);
    net_output(&n, net_constant(&n, "c", SHAPE(2, 2)));
    x = image(&n, "x");
    net_output(&n, one(&n, "dropout", "dropout", x, ""));
    check_calls(n, "outputs: a constant, and an input behind a dropout", "identity identity");
}

/* ---- Names in the emitted C -------------------------------------------------------------------------------------- */

static bool is_identifier(const char *s)
{
    if (!*s || (*s >= '0' && *s <= '9')) return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return false;
    return true;
}

typedef struct Symbols { Net *n; Map seen; const char *fault; } Symbols;

static void add_symbol(Symbols *s, const char *symbol)
{
    const char *own = name(s->n->cx, symbol);
    if (!is_identifier(own)) s->fault = text_format(s->n->cx, "\"%s\" is no identifier", own);
    if (map_get_ptr(&s->seen, own)) s->fault = text_format(s->n->cx, "\"%s\" is there twice", own);
    map_put_ptr(&s->seen, own, s);
}

static void names_of_symbols(void)
{
    static const char *const odd[] = { "",     "1a",   "a.b/c",  "a_b_c",  "int", "int_",   "\xc3\xa9t\xc3\xa9",
                                       "conv", "conv", "conv_2", "conv_k", "run", "INPUTS", "arena",
                                       "\"\\", "_",    "main",   "x" };
    static const lw_options options = { 0 };
    Net net = net_new(80), *n = &net;
    Tensor *x = net_input(n, "X", SHAPE(1, 4, 4, 2));
    net_input(n, "X", SHAPE(1));
    net_input(n, "X_", SHAPE(1));
    net_input(n, "int", SHAPE(1));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        int64_t k = 1 + (int64_t)i % 2 * 2;
        x = two(n, "conv2d", odd[i], x, net_constant(n, odd[i], SHAPE(k, k, 2, 2)), k == 3 ? "pad=1" : "");
    }
    net_output(n, x);
    net_output(n, one(n, "relu", "X", x, ""));
    Build b = net_build(n, &options);
    bool ok = !ctx_failed(n->cx) && build_graph(&b) && build_nests(&b) && build_program(&b);
    Symbols s = { n, map_new(n->cx->arena), NULL }, ports = s;
    static const char *const own[] = { "run", "arena", "inputs", "outputs", "INPUTS", "OUTPUTS" };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) add_symbol(&s, own[i]);
    for (int i = 0; ok && i < b.program.function_count; i++) add_symbol(&s, b.program.function[i]->name);
    for (int i = 0; ok && i < b.program.constant_count; i++) add_symbol(&s, b.program.constant_name[i]);
    for (int i = 0; ok && i < b.program.input_count; i++) add_symbol(&ports, b.program.input[i].name);
    for (int i = 0; ok && i < b.program.output_count; i++) add_symbol(&ports, b.program.output[i].name);
    check_that(ok && !s.fault, "names: functions and constants", "%s", ok ? s.fault : net_error(n));
    check_that(ok && !ports.fault, "names: inputs and outputs", "%s", ok ? ports.fault : net_error(n));
    CHECK("names: one constant for each layer", ok && b.program.constant_count == (int)(sizeof odd / sizeof odd[0]));
    const char *header = ok ? cgen_header(n->cx, &b.program) : "";
    CHECK("names: the list's parameter is no port",
          strstr(header, "NET_INPUTS(X__)") && strstr(header, "X__(X, float, 32)"));
    ctx_free(n->cx);
}

/* ---- Size -------------------------------------------------------------------------------------------------------- */

static double seconds_since(clock_t start) { return (double)(clock() - start) / CLOCKS_PER_SEC; }

/* Deeper than a C stack is, were it walked by recursion. Copies of one call: calls take more memory. */
static void deep_chain(void)
{
    enum { CALLS = 100000 };
    Net net = net_new(90), *n = &net;
    Tensor *x = one(n, "relu", "step", net_input(n, "x", SHAPE(2)), "");
    const Node *first = x->producer;
    for (int i = 1; i < CALLS; i++) {
        Node *node = arena_copy(n->cx->arena, first, sizeof *first);
        Tensor *out = tensor_new_fixed(n->cx, "step", F32, SHAPE(2));
        node->in = arena_copy(n->cx->arena, &x, sizeof x);
        node->out = arena_copy(n->cx->arena, &out, sizeof out);
        node->serial = ctx_serial(n->cx);
        out->producer = node;
        x = out;
    }
    net_output(n, x);
    Graph g = graph_simplify(n->cx, net_graph(n));
    Groups groups = fuse(n->cx, &g);
    CHECK("a chain of 100,000 calls", !ctx_failed(n->cx) && groups.count == (CALLS + 63) / 64);
    ctx_free(n->cx);
}

/* Every second value is read by both of the next two calls, so that a walk over paths, not nodes, would never end. */
static void nested_diamonds(void)
{
    Net net = net_new(91), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(2));
    for (int i = 0; i < 2000; i++) {
        Tensor *a = one(n, "relu", "a", x, ""), *b = one(n, "neg", "b", x, "");
        x = two(n, "add", "join", a, b, "");
        if (i % 8 == 7) x = one(n, "reduce_sum", "sum", x, "axes=0 keepdims=1");
    }
    Tensor *last[] = { x, x };
    net_output(n, call_text(n->cx, "concat", "end", last, 2, "axis=0"));
    Graph g = net_graph(n);
    clock_t start = clock();
    Groups groups = fuse(n->cx, &g);
    check_that(groups.count > 100 && seconds_since(start) < 1, "2,000 diamonds", "%d groups, %g s", groups.count,
               seconds_since(start));
    ctx_free(n->cx);
}

static void large_net(void)
{
    enum { LAYERS = 1250 };
    Net net = net_new(92), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(1, 2, 2, 2)), *k = net_constant(n, "k", SHAPE(1, 1, 2, 2)), *skip = x;
    for (int i = 0; i < LAYERS; i++) {
        Tensor *y = one(n, "max_pool2d", "pool", two(n, "conv2d", "conv", x, k, ""), "kernel=1");
        x = two(n, "add", "add", one(n, "flatten", "flat", y, ""), one(n, "flatten", "flat", i % 2 ? skip : x, ""), "");
        x = one(n, "reshape", "image", x, "shape=1,2,2,2");
    }
    net_output(n, x);
    clock_t start = clock();
    Graph g = net_graph(n);
    g = passed(n, g);
    Groups groups = fuse(n->cx, &g);
    const Nest **nest = NEW_ARRAY(n->cx->arena, const Nest *, groups.count);
    Scratch **scratch = NEW_ARRAY(n->cx->arena, Scratch *, groups.count);
    int *count = NEW_ARRAY(n->cx->arena, int, groups.count);
    Plan p = plan_views(n->cx, &g, &groups, nest, false);
    plan_offsets(n->cx, &p, groups.count, scratch, count);
    double seconds = seconds_since(start);
    check_that(!ctx_failed(n->cx) && groups.count > 2 * LAYERS && seconds < 5, "a network of 7,500 calls",
               "%d groups, %g s", groups.count, seconds);
    printf("# %d groups in %g s\n", groups.count, seconds);
    ctx_free(n->cx);
}

int main(void)
{
    CHECK_RUN(fuse_groups, fuse_depth, layout_chains, layout_heads, affine, simplify_and_fold, outputs,
              names_of_symbols, nested_diamonds, deep_chain, large_net);
    return check_done();
}
