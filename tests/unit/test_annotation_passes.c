/* SPDX-License-Identifier: MIT */
/* Annotations through every pass of passes.def, each run alone, on random networks and on an 8-bit network for a core
 * with altered calls. An annotation follows every call that reads an input. Afterwards:
 *
 *   on_device            every call is on the device, also calls that the pass created; after the last pass a call may
 *                        be on the host, with copies between
 *   stop_fusion          as many calls of it as before
 *   stop_gradient,       as many marks as before; their tensors have the values of the marked ones
 *   checkpoint
 *   simulated_quantize   as many calls of it as before, except in the pass that turns it into integers
 *
 * and the outputs have the same values. A new row of the table is tested at once.
 *
 *   test_annotation_passes [COUNT]    on COUNT random networks, instead of 25 */
#include "graphs.h"
#include "own_data.h"

enum { NETS = 25, NET_CALLS = 10 };

typedef struct Kind { const char *name, *attrs; } Kind;
static const Kind kinds[] = {
    { "annotation.on_device", "device=npu" }, { "annotation.stop_fusion", "" }, { "annotation.stop_gradient", "" },
      { "annotation.checkpoint", "" },
    { "annotation.simulated_quantize", "bits=8" },
};

static const Kind *behind_all;           /* the annotations that `annotate_call` inserts */

/* Then it will be none of the program's calls. */
static bool is_over_constants(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return true;
}

static void annotate_call(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    (void)uses;
    const bool scaled = strcmp(behind_all->name, "annotation.simulated_quantize") == 0;
    if (is_over_constants(n) || (scaled && !dtype_is_float(out[0]->type))) return;
    Tensor *in[] = { out[0], tensor_scalar(cx, "scale", F32, 0.0625), tensor_scalar(cx, "zero", I32, 1) };
    out[0] = call_text(cx, behind_all->name, text_format(cx, "said_%s", n->name), in, scaled ? 3 : 1, "%s",
                       behind_all->attrs);
}

/* i8 -> conv -> bias -> conv of the narrowed sums: calls that the rows of Arm cores alter. */
static Net integer_net(uint32_t seed)
{
    Net net = net_new(seed), *n = &net;
    Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", I8, SHAPE(1, 6, 6, 8));
    Tensor *k = tensor_constant(n->cx, "k", I8, SHAPE(3, 3, 8, 8), NULL),
           *b = tensor_constant(n->cx, "b", I32, SHAPE(8), NULL);
    fill(k, own_data(n->cx, k), &n->seed);
    fill(b, own_data(n->cx, b), &n->seed);
    for (int i = 0; i < 2; i++) {
        Tensor *sums = two(n, "add", "bias", two(n, "conv2d", "conv", x, k, "pad=1,1,1,1 zero=3"), b, "");
        x = one(n, "cast", "narrow", two(n, "shr", "scale", sums, tensor_scalar(n->cx, "s", I32, 6), ""), "to=i8");
    }
    net_output(n, x);
    net_output(n, one(n, "relu", "relu", x, ""));
    return net;
}

/* With a call over a constant, for the folder. */
static Net float_net(uint32_t seed)
{
    Net net = random_net(seed, NET_CALLS), *n = &net;
    net_output(n,
               two(n, "mul", "scaled", n->output[0], one(n, "abs", "folded", net_constant(n, "c", SHAPE(1)), ""), ""));
    return net;
}

static Graph annotated(Net *n, const Kind *k)
{
    behind_all = k;
    return graph_rewrite(n->cx, net_graph(n), annotate_call);
}

static Graph with_outputs(const Graph *g, Tensor **tensor, int count)
{
    Graph h = *g;
    h.output = tensor;
    h.output_count = count < NET_ROOM ? count : NET_ROOM;
    return h;
}

static Tensor **marked(Net *n, const Graph *g)
{
    Tensor **t = NEW_ARRAY(n->cx->arena, Tensor *, g->mark_count);
    for (int i = 0; i < g->mark_count; i++) t[i] = g->mark[i].tensor;
    return t;
}

/* ---- Invariants -------------------------------------------------------------------------------------------------- */

static const char *device_kept(Net *n, const Graph *is, const char *pass)
{
    Node **order;
    const int count = graph_order(n->cx, is, &order);
    const bool copied = strcmp(pass, "devices") == 0, added = strcmp(pass, "outputs") == 0;
    for (int i = 0; i < count; i++) {
        const char *device = order[i]->device;
        for (int j = 0; copied && device && j < order[i]->in_count; j++) {
            const Tensor *in = order[i]->in[j];
            if (in && !tensor_is_constant(in) &&
                (!in->producer || (!in->producer->device && !in->producer->op->fusion.is_device_copy)))
                return text_format(n->cx, "%s reads what is not there", order[i]->name);
        }
        if (!copied && !device && !is_over_constants(order[i])
            && !(added && strcmp(order[i]->op->name, "identity") == 0))
            return text_format(n->cx, "%s (%s) is at home", order[i]->name, order[i]->op->name);
    }
    return NULL;
}

static const char *marks_kept(Net *n, const Graph *was, const Graph *is, double most)
{
    if (is->mark_count != was->mark_count) return text_format(n->cx, "%d marks of %d", is->mark_count, was->mark_count);
    for (int i = 0; i < is->mark_count; i++)
        if (is->mark[i].annotation != was->mark[i].annotation) return "a mark has another annotation";
    const Graph before = with_outputs(was, marked(n, was), was->mark_count),
                after = with_outputs(is, marked(n, is), is->mark_count);
    return same_values(n, &before, &after, most) ? NULL : "a marked tensor has other values";
}

static bool is_called(const Kind *k, const char *name) { return strcmp(k->name + strlen("annotation."), name) == 0; }

static const char *fault_of(Net *n, const Kind *k, const Graph *was, const Graph *is, const char *pass)
{
    const double most = n->input[0]->type == I8 ? 0 : 1e-4;
    if (ctx_failed(n->cx)) return net_error(n);
    /* Rounding may differ after a sum */
    if (!is_called(k, "simulated_quantize") && !same_values(n, was, is, most)) return "the outputs have other values";
    if (is_called(k, "on_device")) return device_kept(n, is, pass);
    if (is_called(k, "stop_gradient") || is_called(k, "checkpoint")) {
        if (strcmp(pass, "annotate") != 0) return was->mark_count ? marks_kept(n, was, is, most) : "there are no marks";
        return is->mark_count == count_calls(n, was, k->name) ? NULL : "not all are recorded";
    }
    const int before = count_calls(n, was, k->name), after = count_calls(n, is, k->name);
    if (is_called(k, "simulated_quantize") && strcmp(pass, "realize") == 0)
        return after <= before ? NULL : "there are more calls of it";
    return before == after ? NULL : text_format(n->cx, "%d calls of %d", after, before);
}

/* ---- Passes alone ------------------------------------------------------------------------------------------------ */

typedef struct Tally { int bad, changed; char fault[200]; } Tally;

static bool is_changed(Net *n, const Graph *was, const Graph *is)
{
    Node **a, **b;
    const int count = graph_order(n->cx, was, &a);
    bool same = graph_order(n->cx, is, &b) == count;
    for (int i = 0; same && i < count; i++) same = a[i] == b[i];
    return !same;
}

static void try_net(Net net, const Kind *k, const GraphPassRow *pass, const char *target, Tally *t)
{
    Net *n = &net;
    Graph was = annotated(n, k);
    was.target = target_find(n->cx, target);
    if (strcmp(pass->name, "annotate") != 0) was = graph_annotate(n->cx, was);
    const Graph is = pass->run(n->cx, was);
    const char *fault = fault_of(n, k, &was, &is, pass->name);
    if (fault) snprintf(t->fault, sizeof t->fault, "%s", fault);
    t->bad += fault != NULL;
    t->changed += !ctx_failed(n->cx) && is_changed(n, &was, &is);
    ctx_free(n->cx);
}

/* Recorded annotations disable no pass: with them each pass must have changed a network, except passes for networks
 * that are not among these: gradients, dead channels, devices, graphs inside calls, quantizers, streams, weights of few
 * bits. Fewer networks than by default may leave some passes without work. */
static void pass_alone(const Kind *k, const GraphPassRow *pass, int nets)
{
    Tally t = { 0, 0, "" };
    char label[120];
    for (uint32_t seed = 1; seed <= (uint32_t)nets; seed++) try_net(float_net(seed + 900), k, pass, "generic", &t);
    try_net(integer_net(1), k, pass, "cortex-m4", &t);
    snprintf(label, sizeof label, "%s through %s", k->name, pass->name);
    check_that(t.bad == 0, check_label(label, "preserves-annotations"), "%d of %d networks: %s", t.bad, nets + 1,
               t.fault);
    if (nets >= NETS && is_called(k, "checkpoint") &&
        !text_has_word("gradient shrink devices regions realize stream narrow", pass->name))
        check_that(t.changed > 0, check_label(pass->name, "changes-a-network"), "changed none of the networks");
}

int main(int argc, char **argv)
{
    const int nets = argc > 1 ? atoi(argv[1]) : NETS;
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int p = 0; p < count; p++) {
            bool seen = false;                 /* the table lists some passes twice */
            for (int q = 0; q < p; q++) seen = seen || pass[q].run == pass[p].run;
            if (!seen) pass_alone(&kinds[k], &pass[p], nets);
        }
    return check_done();
}
