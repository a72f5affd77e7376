/* SPDX-License-Identifier: MIT */
/* Annotations from C, from .te files and from ONNX: their effect on groups and devices. Passes preserve them as long as
 * they are required; otherwise they leave no trace. Values are compared with those of the original DAG, by the
 * evaluator. (Annotation files and devices in emitted programs: tests/annotate.sh.) */
#include "graphs.h"
#include "own_data.h"

#include "import/onnx/onnx.h"
#include "import/te/te.h"
#include "onnx_text.h"

static Tensor *image(Net *n, const char *label) { return net_input(n, label, SHAPE(1, 6, 6, 4)); }
static Tensor *conv(Net *n, const char *label, Tensor *x)
{
    return two(n, "conv2d", label, x, net_constant(n, "k", SHAPE(3, 3, last_dim(x), 4)), "pad=1,1,1,1");
}
static Tensor *stop(Net *n, Tensor *x) { return one(n, "annotation.stop_fusion", "stop", x, ""); }
static Tensor *on(Net *n, const char *device, Tensor *x)
{
    return call_text(n->cx, "annotation.on_device", "on", &x, 1, "device=%s", device);
}

/* The nodes' names, group by group, with a device's name after '@': "conv relu | pool@npu". */
static const char *groups_text(Net *n, const Graph *g)
{
    Groups groups = groups_by_device(n->cx, fuse(n->cx, g));
    Text t = text_new(n->cx);
    for (int i = 0; i < groups.count; i++) {
        for (int j = 0; j < groups.at[i].node_count; j++)
            text_printf(&t, "%s%s", j ? " " : i ? " | " : "", groups.at[i].node[j]->name);
        if (group_device(&groups.at[i])) text_printf(&t, "@%s", group_device(&groups.at[i]));
    }
    return text_string(&t);
}

/* After all passes: the groups, and the values. */
static void check_groups(Net net, const char *label, const char *wanted)
{
    Net *n = &net;
    Graph was = net_graph(n), is = passed(n, was);
    const char *found = ctx_failed(n->cx) ? net_error(n) : groups_text(n, &is);
    check_that(strcmp(found, wanted) == 0, label, "%s; wanted %s", found, wanted);
    check_that(!ctx_failed(n->cx) && same_values(n, &was, &is, 0),
               text_format(n->cx, "%s: values are unchanged", label), "they differ; %s", net_error(n));
    ctx_free(n->cx);
}

/* The emitted program; `what` names a failure. */
static const char *emitted(Net *n)
{
    static const lw_options options = { .name = "net", .combine = "none" };
    Build b = net_build(n, &options);
    if (!build_graph(&b) || !build_nests(&b) || !build_program(&b)) return net_error(n);
    return text_format(n->cx, "%s\n%s", cgen_header(n->cx, &b.program), cgen_text(n->cx, &b.program));
}

static int count_word(const char *text, const char *what)
{
    int count = 0;
    for (const char *s = text; (s = strstr(s, what)) != NULL; s++) count++;
    return count;
}

/* ---- stop_fusion ------------------------------------------------------------------------------------------------- */

static void stops(void)
{
    Net n = net_new(1);
    net_output(
        &n, one(&n, "sigmoid", "sigmoid", stop(&n, one(&n, "relu", "relu", conv(&n, "conv", image(&n, "x")), "")), ""));
    check_groups(n, "stop_fusion: no group reaches across", "conv relu | stop | sigmoid");

    n = net_new(2);
    Tensor *x = one(&n, "relu", "relu", image(&n, "x"), "");
    Tensor *a = one(&n, "neg", "neg", stop(&n, x), ""), *b = one(&n, "abs", "abs", x, "");
    net_output(&n, two(&n, "add", "add", a, b, ""));
    check_groups(n, "stop_fusion: nor around it, in a diamond", "relu | stop | neg abs add");

    n = net_new(3);
    x = conv(&n, "conv", image(&n, "x"));
    a = stop(&n, one(&n, "sigmoid", "sigmoid", x, ""));
    b = one(&n, "tanh", "tanh", x, "");
    net_output(&n, two(&n, "mul", "mul", a, b, ""));
    check_groups(n, "stop_fusion: in one arm, behind an anchor", "conv | sigmoid | stop | tanh mul");

    n = net_new(4);
    x = one(&n, "transpose", "to_first",
            conv(&n, "conv", one(&n, "transpose", "to_last", image(&n, "x"), "perm=0,2,3,1")), "perm=0,3,1,2");
    x = one(&n, "transpose", "to_last", one(&n, "relu", "relu", stop(&n, x), ""), "perm=0,2,3,1");
    net_output(&n, conv(&n, "conv2", x));
    check_groups(n, "stop_fusion: transposes go through it and cancel", "to_last conv | stop | relu | conv2");

    n = net_new(5);
    net_output(&n, stop(&n, stop(&n, one(&n, "relu", "relu", image(&n, "x"), ""))));
    check_groups(n, "stop_fusion: one after another, as an output", "relu | stop | stop");
}

/* It causes no copy, no call and no byte of memory. (Combinations for RAM end at a stop.) */
static void stop_costs_nothing(void)
{
    Net a = net_new(6), b = net_new(6);
    Tensor *x = one(&a, "max_pool2d", "pool", image(&a, "x"), "kernel=2"),
           *y = one(&b, "max_pool2d", "pool", image(&b, "x"), "kernel=2");
    net_output(&a, one(&a, "softmax", "softmax", one(&a, "reduce_max", "max", x, "axes=3 keepdims=1"), ""));
    net_output(&b, one(&b, "softmax", "softmax",
                       stop(&b, one(&b, "reduce_max", "max", stop(&b, y), "axes=3 keepdims=1")), ""));
    const char *without = emitted(&a), *with = emitted(&b);
    check_that(strcmp(with, without) == 0, "stop_fusion: between groups it leaves no trace", "%s", with);
    ctx_free(a.cx);
    ctx_free(b.cx);
}

/* ---- stop_gradient, checkpoint ----------------------------------------------------------------------------------- */

/* Branches, so that the order of execution would show a change; an operator that simplifies, one that folds. */
static Net branches(const char *annotation)
{
    Net net = net_new(7), *n = &net;
    Tensor *x = image(n, "x"), *a = conv(n, "conv1", x), *b = conv(n, "conv2", x),
           *c = one(n, "dropout", "drop", x, "");
    if (annotation) a = one(n, annotation, "said", a, "");
    a = two(n, "mul", "scale", a, net_constant(n, "s", SHAPE(4)), "");
    if (annotation) a = one(n, annotation, "said", a, ""), c = one(n, annotation, "said", c, "");
    net_output(n, two(n, "add", "add", one(n, "relu", "relu", a, ""), one(n, "tanh", "tanh", b, ""), ""));
    net_output(n, two(n, "add", "sum", c, one(n, "reduce_sum", "total", a, "axes=3 keepdims=1"), ""));
    return net;
}

static void recorded(const char *annotation)
{
    Net with = branches(annotation), without = branches(NULL), *n = &with;
    const char *a = emitted(n), *b = emitted(&without);
    check_that(strcmp(a, b) == 0, text_format(n->cx, "%s: the emitted program is the same to the byte", annotation),
               "%s", a);

    Graph g = net_graph(n);
    check_that(count_calls(n, &g, annotation) == 3, text_format(n->cx, "%s: in the DAG as it was made", annotation),
               "%d", count_calls(n, &g, annotation));
    g = passed(n, g);
    check_that(count_calls(n, &g, annotation) == 0 && g.mark_count == 3,
               text_format(n->cx, "%s: recorded behind all passes", annotation), "%d marks", g.mark_count);
    Node **order;
    int count = graph_order(n->cx, &g, &order), marked = 0;
    for (int i = 0; i < g.mark_count; i++)
        for (int j = 0; j < count; j++) marked += g.mark[i].tensor->producer == order[j];
    check_that(marked == 1 && g.mark[0].annotation->op == op_find(n->cx, annotation),
               text_format(n->cx, "%s: of the tensors as they are now", annotation),
               "%d of the marked tensors are made", marked);
    ctx_free(with.cx);
    ctx_free(without.cx);
}

/* ---- on_device --------------------------------------------------------------------------------------------------- */

static void devices(void)
{
    Net n = net_new(10);
    Tensor *x = on(&n, "npu", conv(&n, "conv1", image(&n, "x")));
    x = on(&n, "npu", one(&n, "relu", "relu", x, ""));
    net_output(&n, one(&n, "softmax", "softmax", x, ""));
    check_groups(n, "on_device: what crosses is copied", "x_to_npu | conv1 relu@npu | relu_to_cpu | softmax");

    n = net_new(11);
    x = on(&n, "npu", conv(&n, "conv1", one(&n, "relu", "relu", image(&n, "x"), "")));
    Tensor *y = on(&n, "npu", conv(&n, "conv2", x)), *z = one(&n, "neg", "neg", image(&n, "z"), "");
    net_output(&n, on(&n, "npu", two(&n, "add", "add", y, z, "")));
    check_groups(n, "on_device: copies stand before, the device's calls together",
                 "relu | relu_to_npu | neg | neg_to_npu | conv1@npu | conv2 add@npu | add_to_cpu");

    n = net_new(12);
    x = one(&n, "relu", "relu", image(&n, "x"), "");
    y = on(&n, "npu", conv(&n, "conv1", x));
    z = on(&n, "npu", conv(&n, "conv2", x));
    net_output(&n, two(&n, "add", "add", y, z, ""));
    check_groups(n, "on_device: one copy for all readers",
                 "relu | relu_to_npu | conv1@npu | conv2@npu | conv1_to_cpu | conv2_to_cpu | add");

    n = net_new(13);
    x = on(&n, "npu", conv(&n, "conv", image(&n, "x")));
    net_output(&n, on(&n, "dsp", one(&n, "tanh", "tanh", x, "")));
    check_groups(n, "on_device: from one device to another",
                 "x_to_npu | conv@npu | conv_to_dsp | tanh@dsp | tanh_to_cpu");

    n = net_new(14);
    net_output(&n, on(&n, "npu", one(&n, "exp", "exp", image(&n, "x"), "")));
    check_groups(n, "on_device: what it does not take stays here", "exp");

    n = net_new(15);
    x = net_input(&n, "x", SHAPE(4));
    x = on(&n, "npu", one(&n, "relu", "relu", one(&n, "cast", "cast", x, "to=f64"), ""));
    net_output(&n, x);
    check_groups(n, "on_device: nor a type that it does not take", "cast relu");

    n = net_new(16);
    x = on(&n, "npu", conv(&n, "conv", image(&n, "x")));
    net_output(&n, two(&n, "mul", "scale", x, net_constant(&n, "s", SHAPE(4)), ""));
    check_groups(n, "on_device: weights take in no scale from elsewhere", "x_to_npu | conv@npu | conv_to_cpu | scale");

    n = net_new(17);
    x = one(&n, "transpose", "turn", conv(&n, "conv", one(&n, "transpose", "turn", image(&n, "x"), "perm=0,2,3,1")),
            "perm=0,3,1,2");
    net_output(
        &n, one(&n, "transpose", "back", on(&n, "npu", one(&n, "relu", "relu", on(&n, "npu", x), "")), "perm=0,2,3,1"));
    check_groups(n, "on_device: survives the layout pass", "turn conv | conv_to_npu | relu@npu | relu_to_cpu");

    n = net_new(18);
    net_output(&n, on(&n, "cpu", one(&n, "relu", "relu", on(&n, "npu", image(&n, "x")), "")));
    check_groups(n, "on_device: here is a device like any other", "relu");
}

/* A value that crosses costs a copy; a view costs nothing on either side. */
static Tensor *seen_as(Net *n, const char *label, Tensor *x, const char *shape)
{
    return on(n, "npu", call_text(n->cx, "reshape", label, &x, 1, "shape=%s", shape));
}

static void views_on_devices(void)
{
    Net n = net_new(40);
    Tensor *x = on(&n, "npu", one(&n, "exp", "exp", image(&n, "x"), ""));
    x = seen_as(&n, "flat", seen_as(&n, "rows", x, "6,24"), "144");
    net_output(&n, on(&n, "npu", one(&n, "cos", "cos", x, "")));
    check_groups(n, "views between calls that a device returns cost no copies", "exp | flat | cos");

    n = net_new(41);
    x = on(&n, "npu", conv(&n, "conv", image(&n, "x")));
    x = seen_as(&n, "flat", seen_as(&n, "rows", x, "6,24"), "144");
    net_output(&n, on(&n, "npu", one(&n, "relu", "relu", x, "")));
    check_groups(n, "views between calls of a device stay there",
                 "x_to_npu | conv@npu | flat@npu | relu@npu | relu_to_cpu");

    n = net_new(42);
    x = on(&n, "npu", conv(&n, "conv", image(&n, "x")));
    x = seen_as(&n, "rows", x, "6,24");
    net_output(&n, one(&n, "exp", "exp", x, ""));
    net_output(&n, one(&n, "neg", "neg", x, ""));
    check_groups(n, "a view at the border is copied once for all its readers",
                 "x_to_npu | conv@npu | rows@npu | rows_to_cpu | exp | neg");

    n = net_new(43);
    x = one(&n, "exp", "exp", image(&n, "x"), "");
    Tensor *y = seen_as(&n, "rows", x, "6,24"), *z = seen_as(&n, "flat", x, "144");
    net_output(&n, one(&n, "neg", "neg", y, ""));
    net_output(&n, on(&n, "npu", one(&n, "relu", "relu", z, "")));
    check_groups(n, "one of two views returns to the host",
                 "exp | rows | exp_to_npu | neg | flat@npu | relu@npu | relu_to_cpu");
}

/* --combine on each side of a device's border: both RAM and calls shrink, the values stay. */
static void combined_sides(void)
{
    static const char *const combine[] = { "none", "all" };
    int64_t arena[2];
    int groups[2], partitions[2];
    const char *said = "";
    bool same = true;
    for (int i = 0; i < 2; i++) {
        Net net = net_new(44), *n = &net;
        Tensor *x = conv(n, "conv1", net_input(n, "x", SHAPE(1, 32, 32, 4)));
        x = conv(n, "conv2", one(n, "max_pool2d", "pool1", x, "kernel=2,2 stride=2,2"));
        x = on(n, "npu", conv(n, "conv3", x));
        x = on(n, "npu", one(n, "max_pool2d", "pool2", x, "kernel=2,2 stride=2,2"));
        net_output(n, one(n, "exp", "exp", x, ""));
        Graph was = net_graph(n);
        Build b = net_build(n, &(lw_options){ .name = "net", .combine = combine[i] });
        const void **inputs = made_up_inputs(n), *wanted[NET_ROOM], *found[NET_ROOM];
        same = same && build_graph(&b) && build_nests(&b) && build_program(&b)
               && evaluate_graph(n, &was, inputs, wanted) && build_run(&b, inputs, found)
               && first_difference(was.output[0], found[0], wanted[0], 1e-4) < 0;
        arena[i] = b.plan.arena_size;
        groups[i] = b.groups.count;
        partitions[i] = b.devices.count;
        if (i) said = b.scheduled.combine_text ? b.scheduled.combine_text : net_error(n);
        check_that(!i || (same && groups[1] == groups[0] - 2 && partitions[1] == 1 && arena[1] < arena[0]
                          && strstr(said, "conv2_to_npu reads it, and stays apart: it copies between devices")),
                   "on_device: groups combine on each side of a border", "%d and %d groups, %lld and %lld bytes: %s",
                   groups[0], groups[i], (long long)arena[0], (long long)arena[i], said);
        ctx_free(n->cx);
    }
}

static void unknown_device(void)
{
    Net net = net_new(19), *n = &net;
    net_output(n, on(n, "npv", one(n, "relu", "relu", image(n, "x"), "")));
    Graph g = net_graph(n);
    passed(n, g);
    CHECK("on_device: an unknown device is refused",
          strstr(net_error(n), "there is no device 'npv'; did you mean 'npu'?"));
    ctx_free(n->cx);
}

/* A run of random nets, every call put somewhere: values, and that no group has two homes. */
static void random_devices(void)
{
    enum { NETS = 60 };
    int bad = 0, foreign = 0;
    for (uint32_t seed = 1; seed <= NETS; seed++) {
        Net net = random_net(seed + 5000, 12), *n = &net;
        Graph was = net_graph(n);
        Node **order;
        int count = graph_order(n->cx, &was, &order);
        for (int i = 0; i < count; i++)
            if (pick(n, 2)) order[i]->device = name(n->cx, pick(n, 3) ? "npu" : "dsp");
        Build b = net_build(n, &(lw_options){ .name = "net" });
        bool ok = build_graph(&b) && build_nests(&b) && build_program(&b);
        for (int i = 0; ok && i < b.groups.count; i++)
            for (int j = 0; j < b.groups.at[i].node_count; j++)
                ok = ok && b.groups.at[i].node[j]->device == group_device(&b.groups.at[i]);
        const void **inputs = made_up_inputs(n), *wanted[NET_ROOM], *found[NET_ROOM];
        ok = ok && evaluate_graph(n, &was, inputs, wanted) && build_run(&b, inputs, found);
        for (int i = 0; ok && i < was.output_count; i++)
            ok = first_difference(was.output[i], found[i], wanted[i], 1e-4) < 0;
        if (!ok) printf("# net %u: %s\n", seed, net_error(n));
        bad += !ok;
        foreign += b.devices.count;
        ctx_free(n->cx);
    }
    check_that(bad == 0 && foreign > NETS, "on_device: random nets keep their values on three devices",
               "%d of %d are wrong; %d partitions", bad, NETS, foreign);
}

static void partitions(void)
{
    Net net = net_new(20), *n = &net;
    Tensor *x = on(n, "npu", one(n, "relu", "relu", on(n, "npu", conv(n, "conv1", image(n, "x"))), ""));
    x = on(n, "npu", one(n, "relu", "relu2", on(n, "npu", conv(n, "conv2", one(n, "exp", "exp", x, ""))), ""));
    net_output(n, x);
    const char *text = emitted(n);
    CHECK("partition: prototypes, the values by their names",
          strstr(text, "\nint net_npu_1(void *arena, const float *x, float *relu);\n")
              && strstr(text, "\nint net_npu_2(void *arena, const float *exp, float *relu2);\n"));
    CHECK("partition: the header documents it",
          strstr(text, " *   x                    float    [1][6][6][4]  read\n *   relu      "
                       "           float    [1][6][6][4]  written\n"));
    CHECK("partition: defaults under a condition", count_word(text, "#ifndef NET_HAVE_NPU\nint net_npu_") == 2);
    CHECK("partition: run calls it",
          count_word(text, "const int status = net_npu_") == 2 && strstr(text, "if (status != 0) return status;"));
    ctx_free(n->cx);
}

/* ---- simulated_quantize ------------------------------------------------------------------------------------------ */

/* The integers of numpy and of C: written out here once more. */
static double on_grid(double x, double scale, int64_t zero, int bits, bool has_sign)
{
    const double least = has_sign ? -ldexp(1, bits - 1) : 0, greatest = least + ldexp(1, bits) - 1;
    double q = (double)(float)((double)nearbyintf((float)x / (float)scale) + (double)zero);
    q = q < least ? least : q > greatest ? greatest : q;
    return (float)((float)(q - (double)zero) * (float)scale);
}

static void grid(int bits, bool has_sign, int64_t zero)
{
    Net net = net_new(30 + (uint32_t)bits), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(200)), *scale = tensor_scalar(n->cx, "s", F32, 0.0625),
           *zeros = tensor_scalar(n->cx, "z", I32, (double)zero);
    net_output(n, call_text(n->cx, "annotation.simulated_quantize", "grid", (Tensor *[]){ x, scale, zeros }, 3,
                            "bits=%d sign=%d", bits, has_sign));
    Graph g = net_graph(n);
    const void **inputs = made_up_inputs(n), *found[1];
    float *v = arena_copy(n->cx->arena, inputs[0], (size_t)tensor_bytes(n->input[0]));
    inputs[0] = v;
    for (int i = 0; i < 200; i++) v[i] *= 0.0625f * (float)ldexp(1.5, bits - 1);
    bool ok = evaluate_graph(n, &g, inputs, found);
    for (int i = 0; i < 200 && ok; i++)
        ok = (double)((float *)found[0])[i] == on_grid((double)v[i], 0.0625, zero, bits, has_sign);
    check_that(ok, text_format(n->cx, "simulated_quantize: %d bits, sign %d equal plain C", bits, has_sign),
               "differs; %s", net_error(n));
    ctx_free(n->cx);
}

/* Each way of rounding, on whole and half steps and between them: C's own functions. */
static void rounding(const char *mode, float function(float))
{
    static const float steps[] = { -2.5f, -2, -1.75f, -1.5f, -0.5f, -0.25f, 0, 0.25f, 0.5f, 1.5f, 1.75f, 2.5f };
    enum { STEPS = sizeof steps / sizeof steps[0] };
    Net net = net_new(31), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(STEPS)), *in[] = {
        x, tensor_scalar(n->cx, "s", F32, 0.5), tensor_scalar(n->cx, "z", I32, 0)
    };
    net_output(n, call_text(n->cx, "annotation.simulated_quantize", "grid", in, 3, "rounding=%s", mode));
    Graph g = net_graph(n);
    float values[STEPS];
    const void *inputs[] = { values }, *found[1];
    for (int i = 0; i < STEPS; i++) values[i] = steps[i] * 0.5f;
    bool ok = evaluate_graph(n, &g, inputs, found);
    for (int i = 0; i < STEPS && ok; i++) ok = ((float *)found[0])[i] == function(steps[i]) * 0.5f;
    check_that(ok, text_format(n->cx, "simulated_quantize: rounding %s equals plain C", mode), "differs; %s",
               net_error(n));
    ctx_free(n->cx);
}

/* Equals quantize and dequantize to the bit, also for NaN and for values that are too large. */
static void pair_of(DType t)
{
    Net net = net_new(40 + (uint32_t)t), *n = &net;
    static const int64_t shape[] = { 3, 1 };
    Tensor *x = net_input(n, "x", SHAPE(2, 3, 50)), *scale = tensor_constant(n->cx, "s", F32, 2, shape, NULL),
           *zero = tensor_constant(n->cx, "z", t, 2, shape, NULL);
    uint32_t seed = 9;
    fill(zero, own_data(n->cx, zero), &seed);
    float *steps_of = own_data(n->cx, scale);
    for (int i = 0; i < 3; i++) steps_of[i] = 0.01f * (float)(i + 1);
    Tensor *stored = call_text(n->cx, "quantize", "q", (Tensor *[]){ x, scale, zero }, 3, "to=%s",
                               dtype_info(t)->spelling);
    net_output(n, call_text(n->cx, "dequantize", "d", (Tensor *[]){ stored, scale, zero }, 3, ""));
    net_output(n, call_text(n->cx, "annotation.simulated_quantize", "grid", (Tensor *[]){ x, scale, zero }, 3,
                            "bits=%d sign=%d", 8 * dtype_info(t)->bytes, t == I8 || t == I16));
    Graph g = net_graph(n);
    const void **inputs = made_up_inputs(n), *found[2] = { NULL, NULL };
    float *v = arena_copy(n->cx->arena, inputs[0], (size_t)tensor_bytes(n->input[0]));
    inputs[0] = v;
    const float special[] = { NAN, INFINITY, -INFINITY, -0.0f, 1e30f, -1e30f };
    for (int i = 0; i < 300; i++) v[i] = i < 6 ? special[i] : v[i] * (t == I8 || t == U8 ? 4.0f : 900.0f);
    bool ok = evaluate_graph(n, &g, inputs, found) && memcmp(found[0], found[1], 300 * sizeof(float)) == 0;
    check_that(
        ok,
        text_format(n->cx, "simulated_quantize: quantize and dequantize of %s, to the bit", dtype_info(t)->spelling),
        "%s", net_error(n));
    ctx_free(n->cx);
}

/* ---- From files -------------------------------------------------------------------------------------------------- */

static void from_te(void)
{
    Net net = net_new(50), *n = &net;
    const char *text =
        "input x: f32[2][8]\na = relu(x)\nb = annotation.stop_fusion(a)\nc = annotation.on_device(b, device=npu)\n"
        "d = relu(c)\ne = annotation.stop_gradient(d)\nf = annotation.on_device(e, device=\"npu\")\noutput f\n";
    Model m = { 0 };
    bool ok = te_read(n->cx, "net.te", text, NULL, &m);
    Graph g = { .name = "net",
                .input_count = m.input_count,
                .input = m.input,
                .output_count = m.output_count,
                .output = m.output };
    if (ok) g = passed(n, g);
    const char *found = ok && !ctx_failed(n->cx) ? groups_text(n, &g) : net_error(n);
    check_that(strcmp(found, "x_to_npu | a@npu | b@npu | d@npu | d_to_cpu") == 0, "from .te: nodes run on the device",
               "%s", found);
    check_that(g.mark_count == 1, "from .te: the mark is recorded", "%d marks", g.mark_count);
    ctx_free(n->cx);

    net = net_new(51);
    text = "nest\ninput x: f32[8]\ny[i] = x[i] + 1\nz = annotation.stop_gradient(y)\nw[i] = z[i] * 2\noutput w\n";
    ok = te_read(n->cx, "net.te", text, NULL, &m);
    check_that(!ok && strstr(net_error(n), "'annotation.stop_gradient' has no effect in a file that is one `nest`"),
               "from .te that is one nest: refused", "%s", net_error(n));
    ctx_free(n->cx);
}

/* A device reaches through every other annotation of the same value. */
static void orders(void)
{
    static const struct { const char *label, *call; } others[] = {
        { "a device and stop_fusion", "annotation.stop_fusion(%s)" },
        { "a device and stop_gradient", "annotation.stop_gradient(%s)" },
        { "a device and checkpoint", "annotation.checkpoint(%s)" },
        { "a device and a grid to choose", "annotation.simulated_quantize(%s)" },
        { "a device and a grid", "annotation.simulated_quantize(%s, s, z)" },
    };
    static const char device[] = "annotation.on_device(%s, device=npu)";
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        for (int last = 0; last < 2; last++) {
            Net net = net_new(52), *n = &net;
            const char *inner = text_format(n->cx, last ? others[i].call : device, "a"),
                       *outer = text_format(n->cx, last ? device : others[i].call, "b");
            Model m = { 0 };
            te_read(n->cx, "net.te", text_format(n->cx, "input x: f32[2][8]\nconst s: f32[1] = [0.5]\n"
                                                 "const z: i32[1] = [0]\na = relu(x)\nb = %s\nc = %s\ny = neg(c)\n"
                                                 "output y\n", inner, outer), NULL, &m);
            Graph g = { .name = "net", .input_count = m.input_count, .input = m.input, .output_count = m.output_count,
                        .output = m.output };
            if (!ctx_failed(n->cx)) g = passed(n, g);
            const char *found = ctx_failed(n->cx) ? net_error(n) : groups_text(n, &g);
            check_that(strncmp(found, "x_to_npu | a", 12) == 0,
                       text_format(n->cx, "%s: %s", others[i].label, last ? "it is last" : "it is first"), "%s", found);
            ctx_free(n->cx);
        }
}

/* Through the public header: in a computation of calls alone, an annotation preserves the values. */
static void from_c(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "sums", NULL), *q = lw_define(cx, "sums", NULL);
    lw_computation *both[] = { p, q };
    for (int i = 0; i < 2; i++) {
        lw_input(both[i], "x: f32[8]");
        lw_compute(both[i], "a = relu(x)");
        if (i) lw_compute(both[i], "b = annotation.stop_gradient(a)");
        lw_compute(both[i], i ? "c = neg(b)" : "c = neg(a)");
        lw_output(both[i], "c");
    }
    float x[8] = { -1, 2, -3, 4, -5, 6, -7, 8 }, y[8] = { 0 }, z[8] = { 1 };
    const bool ran = lw_execute(p, (const void *const[]){ x }, (void *const[]){ y })
                     && lw_execute(q, (const void *const[]){ x }, (void *const[]){ z });
    check_that(ran && memcmp(y, z, sizeof y) == 0 && y[1] == -2, "from C: a computation takes annotations", "%s",
               lw_diagnostic(cx, 0, NULL));
    lw_free(cx);
}

#define SAID "loopwright.annotation/"

static Graph from_onnx_text(Net *n, const char *line)
{
    Text file = onnx_text(n->cx, line);
    Model m = { 0 };
    Bytes bytes = { (const uint8_t *)file.at, file.length };
    if (!onnx_read(n->cx, "net.onnx", bytes, NULL, &m)) return (Graph){ 0 };
    return (Graph){ .name = "net",
                    .input_count = m.input_count,
                    .input = m.input,
                    .output_count = m.output_count,
                    .output = m.output };
}

static void from_onnx(void)
{
    Net net = net_new(60), *n = &net;
    Graph g = from_onnx_text(n, "x:1,4,6,6; w=4,4,3,3; Conv x,w c pads=1,1,1,1; " SAID
                                "on_device c d device=npu; Relu d r; " SAID "stop_fusion r s; "
                                "Tanh s t; " SAID "stop_gradient t u; " SAID "checkpoint u v; Abs v y; >y");
    bool ok = g.output_count == 1;
    if (ok) g = passed(n, g);
    const char *found = ok && !ctx_failed(n->cx) ? groups_text(n, &g) : net_error(n);
    check_that(strstr(found, "@npu") && strstr(found, "_to_cpu") && g.mark_count == 2,
               "from ONNX: the domain loopwright.annotation", "%s; %d marks", found, g.mark_count);
    ctx_free(n->cx);

    net = net_new(61);
    g = from_onnx_text(n, "x:1,4; s=1; " SAID "simulated_quantize x,s y bits=4! rounding=away; >y");
    check_that(g.output_count == 1 && count_calls(n, &g, "annotation.simulated_quantize") == 1,
               "from ONNX: simulated_quantize", "%s", net_error(n));
    ctx_free(n->cx);

    net = net_new(62);
    g = from_onnx_text(n, "x:1,4; s=1; QuantizeLinear x,s q; DequantizeLinear q,s y; Relu y z; >z");
    check_that(g.output_count == 1 && count_calls(n, &g, "quantize") == 0
                   && count_calls(n, &g, "annotation.simulated_quantize") == 1,
               "from ONNX: QuantizeLinear and DequantizeLinear are one", "%s", net_error(n));
    ctx_free(n->cx);

    net = net_new(63);
    g = from_onnx_text(n, "x:1,4; s=1; r=1; QuantizeLinear x,s q; Relu x z; DequantizeLinear q,z y; >y");
    check_that(g.output_count == 0 || count_calls(n, &g, "annotation.simulated_quantize") == 0,
               "from ONNX: not with another scale", "%s", net_error(n));
    ctx_free(n->cx);

    net = net_new(64);
    from_onnx_text(n, "x:1,4; " SAID "stop_fusoin x y; >y");
    check_that(strstr(net_error(n), "stop_fusoin") && strstr(net_error(n), "loopwright.annotation"),
               "from ONNX: a misspelt annotation", "%s", net_error(n));
    ctx_free(n->cx);

    net = net_new(66);
    g = from_onnx_text(n, "x:1,4; " SAID "vendor_tile x s level=3; Tanh s t; " SAID "bitpack_start t u; " SAID
                          "cast_hint u v; Abs v y; >y");
    if (g.output_count == 1) g = graph_annotate(n->cx, g);
    check_that(g.mark_count == 3 && text_equal(g.mark[0].annotation->op->name, "annotation.vendor_tile") &&
                   text_equal(node_text(g.mark[0].annotation, "level", ""), "3"),
               "from ONNX: an unknown annotation is carried with its attributes", "%s, level %s",
               g.mark_count ? g.mark[0].annotation->op->name : "no mark",
               g.mark_count ? node_text(g.mark[0].annotation, "level", "none") : "");
    ctx_free(n->cx);

    net = net_new(65);
    from_onnx_text(n, "x:1,4; " SAID "on_device x y; >y");
    check_that(strstr(net_error(n), "'device' is missing") != NULL, "from ONNX: on_device without a device", "%s",
               net_error(n));
    ctx_free(n->cx);
}

int main(void)
{
    CHECK_RUN(stops, stop_costs_nothing);
    recorded("annotation.stop_gradient");
    recorded("annotation.checkpoint");
    CHECK_RUN(devices, views_on_devices, combined_sides, unknown_device, random_devices, partitions);
    for (int bits = 2; bits <= 16; bits++) {
        grid(bits, true, -1);
        grid(bits, false, 2);
    }
    rounding("even", nearbyintf);
    rounding("away", roundf);
    rounding("zero", truncf);
    rounding("down", floorf);
    rounding("up", ceilf);
    pair_of(I8);
    pair_of(U8);
    pair_of(I16);
    pair_of(U16);
    CHECK_RUN(from_te, orders, from_c, from_onnx);
    return check_done();
}
