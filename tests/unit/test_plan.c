/* SPDX-License-Identifier: MIT */
/* The memory plan, by simulation: the groups run in order on the bytes of inputs, outputs, constants and one arena, at
 * the planned offsets. A group must read the values that were written; an output in place is written over the operand
 * during its reads. */
#include "graphs.h"

#include <stdlib.h>

/* ---- Simulation -------------------------------------------------------------------------------------------------- */

typedef struct Machine {
    Net *net;
    Build *b;
    char *arena, *input[NET_ROOM], *output[NET_ROOM], **constant;
    Env *truth;                   /* the value of each tensor, as a separate dense tensor */
    const char *fault;
} Machine;

static char *place_of(const Machine *m, const Slot *s)
{
    int64_t bytes = s->view_offset * dtype_info(s->tensor->type)->bytes;
    switch (s->kind) {
    case SLOT_INPUT: return m->input[s->index] + bytes;
    case SLOT_OUTPUT: return m->output[s->index] + bytes;
    case SLOT_CONST: return m->constant[s->index] + bytes;
    case SLOT_ARENA: break;
    }
    return m->arena + s->offset + bytes;
}

/* Returns the offset of element i in elements from the tensor's start; the coordinates follow from the shape alone. */
static int64_t element(const Slot *s, int64_t i)
{
    int64_t at = 0;
    for (int d = s->tensor->rank - 1; d >= 0; d--) {
        int64_t size = tensor_dim(s->tensor, d);
        at += i % size * s->stride[d];
        i /= size;
    }
    return at;
}

static void *gathered(Machine *m, const Slot *s)
{
    const Tensor *t = s->tensor;
    void *data = arena_alloc(m->net->cx->arena, (size_t)tensor_bytes(t));
    for (int64_t i = 0; i < tensor_elems(t); i++)
        dtype_store(t->type, data, i, dtype_load(t->type, place_of(m, s), element(s, i)));
    return data;
}

static void fault(Machine *m, const Tensor *t, const char *what)
{
    if (!m->fault) m->fault = text_format(m->net->cx, "\"%s\" %s: %s", t->name, tensor_shape_text(m->net->cx, t), what);
}

/* Inside the root; in the arena, inside it and aligned. */
static void check_bounds(Machine *m, const Slot *s)
{
    const Plan *p = &m->b->plan;
    int64_t greatest = s->view_offset + element(s, tensor_elems(s->tensor) - 1);
    if (s->view_offset < 0 || greatest >= tensor_elems(s->root)) fault(m, s->tensor, "lies outside its root");
    if (s->kind != SLOT_ARENA) return;
    if (s->offset < 0 || s->offset + tensor_bytes(s->root) > p->arena_size)
        fault(m, s->tensor, "lies outside the arena");
    if (s->offset % p->align != 0) fault(m, s->tensor, "is not aligned");
}

static void read_input(Machine *m, const Tensor *t, const char *when)
{
    const Slot *s = plan_slot(&m->b->plan, t);
    if (memcmp(gathered(m, s), env_get(m->truth, t), (size_t)tensor_bytes(t)) != 0) fault(m, t, when);
}

static bool runs_in_place(const Machine *m, int group, const Slot *in, const Slot *out)
{
    return m->b->plan.in_place[group] && in->root == out->root && in->view_offset == out->view_offset;
}

/* The nest, over dense copies; an operand that shares the output's memory is the output's data. */
static void run(Machine *m, int group)
{
    const Group *g = &m->b->groups.at[group];
    const Nest *n = m->b->scheduled.nest[group];
    Env *apart = env_new(m->net->cx), *shared = env_new(m->net->cx);
    const Slot *out = plan_slot(&m->b->plan, g->output[0]);
    for (int i = 0; i < g->input_count; i++) {
        const Slot *s = plan_slot(&m->b->plan, g->input[i]);
        if (tensor_is_constant(g->input[i])) continue;
        env_set(apart, n->input[i], gathered(m, s));
        void *data = gathered(m, s);
        env_set(shared, n->input[i], data);
        if (!runs_in_place(m, group, s, out)) continue;
        const void *other = env_get(shared, n->output[0]);
        env_set_const(shared, n->output[0], other ? other : data);
        env_set_const(shared, n->input[i], other ? other : data);
    }
    RunOptions fast = { .checked = false };
    interpret(m->net->cx, n, apart, &fast);
    interpret(m->net->cx, n, shared, &fast);
    for (int i = 0; i < g->output_count && !ctx_failed(m->net->cx); i++) {
        const Slot *s = plan_slot(&m->b->plan, g->output[i]);
        const void *data = env_get(shared, n->output[i]);
        env_set_const(m->truth, g->output[i], env_get(apart, n->output[i]));
        for (int64_t e = 0; e < tensor_elems(s->tensor); e++)
            dtype_store(s->tensor->type, place_of(m, s), element(s, e), dtype_load(s->tensor->type, data, e));
        read_input(m, g->output[i], "is not what its group makes apart from its operands");
    }
}

/* A group that costs nothing: its result must be there already. */
static void skip(Machine *m, int group)
{
    const Group *g = &m->b->groups.at[group];
    const Nest *n = m->b->scheduled.nest[group];
    Env *env = env_new(m->net->cx);
    RunOptions fast = { .checked = false };
    for (int i = 0; i < g->input_count; i++)
        if (!tensor_is_constant(g->input[i])) env_set_const(env, n->input[i], env_get(m->truth, g->input[i]));
    interpret(m->net->cx, n, env, &fast);
    env_set_const(m->truth, g->output[0], env_get(env, n->output[0]));
    read_input(m, g->output[0], "is said to cost nothing, but is not there");
}

static Machine machine_new(Net *n, Build *b, const void *const *inputs)
{
    Machine m = { .net = n, .b = b, .truth = env_new(n->cx) };
    m.arena = arena_alloc(n->cx->arena, (size_t)b->plan.arena_size);
    m.constant = NEW_ARRAY(n->cx->arena, char *, b->plan.constant_count);
    for (int i = 0; i < b->plan.constant_count; i++) {
        const Tensor *t = b->plan.constant[i];
        m.constant[i] = arena_copy(n->cx->arena, t->data, (size_t)tensor_bytes(t));
    }
    memset(m.arena, 0x5a, (size_t)b->plan.arena_size);
    for (int i = 0; i < b->graph.input_count; i++) {
        env_set_const(m.truth, b->graph.input[i], inputs[i]);
        m.input[i] = arena_copy(n->cx->arena, inputs[i], (size_t)tensor_bytes(b->graph.input[i]));
    }
    for (int i = 0; i < b->graph.output_count; i++)
        m.output[i] = arena_alloc(n->cx->arena, (size_t)tensor_bytes(b->graph.output[i]));
    return m;
}

static const char *simulate(Net *n, Build *b, const void *const *inputs)
{
    Machine m = machine_new(n, b, inputs);
    for (int i = 0; i < b->plan.slot_count; i++) check_bounds(&m, &b->plan.slot[i]);
    for (int i = 0; i < b->groups.count && !m.fault && !ctx_failed(n->cx); i++) {
        const Group *g = &b->groups.at[i];
        for (int j = 0; j < g->input_count; j++) read_input(&m, g->input[j], "is no longer there when it is read");
        if (b->plan.is_free[i]) skip(&m, i);
        else run(&m, i);
    }
    for (int i = 0; i < b->graph.output_count && !m.fault && !ctx_failed(n->cx); i++)
        if (memcmp(m.output[i], env_get(m.truth, b->graph.output[i]), (size_t)tensor_bytes(b->graph.output[i])) != 0)
            fault(&m, b->graph.output[i], "is not in the caller's memory at the end");
    for (int i = 0; i < b->graph.input_count && !m.fault; i++)
        if (memcmp(m.input[i], inputs[i], (size_t)tensor_bytes(b->graph.input[i])) != 0)
            fault(&m, b->graph.input[i], "an input was written over");
    return ctx_failed(n->cx) ? net_error(n) : m.fault;
}

/* ---- Random nets through all passes ------------------------------------------------------------------------------ */

static void check_random(uint32_t seed)
{
    static const lw_options options = { 0 };
    Net n = random_net(seed, 3 + (int)(seed % 14));
    const void *wanted[NET_ROOM], *found[NET_ROOM], **inputs = made_up_inputs(&n);
    const char *label = text_format(n.cx, "random net %u keeps its values", (unsigned)seed);
    Graph untouched = net_graph(&n);
    Build b = net_build(&n, &options);
    bool ok = !ctx_failed(n.cx) && evaluate_graph(&n, &untouched, inputs, wanted) && build_graph(&b) && build_nests(&b)
              && build_run(&b, inputs, found);
    const char *why = ok ? NULL : net_error(&n);
    for (int i = 0; i < n.output_count && !why; i++) {
        int64_t at = first_difference(n.output[i], found[i], wanted[i], 2e-5);
        if (at >= 0) why = text_format(n.cx, "output %d differs from the evaluator at element %lld", i, (long long)at);
    }
    check_that(!why, label, "%s", why ? why : "");
    if (!why && check_that(build_program(&b), label, "%s", net_error(&n))) {
        const char *plan_fault = simulate(&n, &b, inputs);
        check_that(!plan_fault, text_format(n.cx, "random net %u has a valid plan", (unsigned)seed), "%s",
                   plan_fault ? plan_fault : "");
        check_that(b.plan.arena_size >= b.plan.live_bound,
                   text_format(n.cx, "random net %u is not below the bound", (unsigned)seed), "%lld",
                   (long long)b.plan.arena_size);
    }
    ctx_free(n.cx);
}

/* ---- Handwritten nets -------------------------------------------------------------------------------------------- */

static Tensor *relu(Net *n, Tensor *x) { return one(n, "relu", "relu", x, ""); }

/* One group, with other values than its operand. */
static Tensor *pool(Net *n, Tensor *x)
{
    return one(n, "sigmoid", "sigmoid", one(n, "max_pool2d", "pool", x, "kernel=1"), "");
}

static Tensor *softmax(Net *n, Tensor *x) { return one(n, "softmax", "softmax", x, ""); }

/* A separate group for each call, so there is memory to plan. */
static Build planned(Net *n)
{
    static const lw_options options = { .combine = "none" };
    Build b = net_build(n, &options);
    CHECK("a plan is made", build_graph(&b) && build_nests(&b) && build_program(&b));
    return b;
}

static int free_groups(const Build *b)
{
    int count = 0;
    for (int i = 0; i < b->groups.count; i++) count += b->plan.is_free[i];
    return count;
}

static void check_plan(Net *n, Build *b, const char *label)
{
    const char *why = simulate(n, b, made_up_inputs(n));
    check_that(!why, label, "%s", why ? why : "");
}

static void chains(void)
{
    Net net = net_new(1), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(1, 4, 4, 3));
    static const int64_t outputs[] = { 5, 2, 9, 4, 1, 7, 7, 3 };
    for (int i = 0; i < 8; i++)
        x = two(n, "conv2d", "conv", x, net_constant(n, "k", SHAPE(1, 1, last_dim(x), outputs[i])), "");
    net_output(n, x);
    Build b = planned(n);
    check_plan(n, &b, "a chain of convolutions");
    check_that(b.plan.arena_size < 16 * 4 * 14, "of the two largest neighbours of a chain one lies over the other",
               "%lld, bound %lld", (long long)b.plan.arena_size, (long long)b.plan.live_bound);
    ctx_free(n->cx);
}

/* Two tensors share memory only if their types agree or one has elements of one byte: C may move a read of one type
 * before a write of another. */
static void types_lie_apart(const char *other, bool may_overlap)
{
    Net net = net_new(10), *n = &net;
    Tensor *x = one(n, "annotation.stop_fusion", "apart", softmax(n, net_input(n, "x", SHAPE(1, 16, 16, 8))), "");
    Tensor *there = one(n, "cast", "there", x, text_format(n->cx, "to=%s", other));
    net_output(
        n, one(n, "transpose", "turned", one(n, "annotation.stop_fusion", "apart, too", there, ""), "perm=0,2,1,3"));
    Build b = planned(n);
    bool overlaps = false;
    for (int i = 0; i < b.groups.count; i++) overlaps = overlaps || b.plan.overlaps[i];
    check_plan(n, &b, text_format(n->cx, "f32 and %s", other));
    check_that(overlaps == may_overlap, "types that may alias alone share bytes", "f32 and %s %s", other,
               overlaps ? "do" : "do not");
    ctx_free(n->cx);
}

/* The sum could overwrite its first operand, except for the transposed view of the same memory. */
static void view_beside_operand(void)
{
    Net net = net_new(2), *n = &net;
    Tensor *x = relu(n, net_input(n, "x", SHAPE(2, 3)));
    Tensor *turned = one(n, "transpose", "turn", one(n, "reshape", "view", x, "shape=3,2"), "perm=1,0");
    net_output(n, two(n, "add", "add", x, turned, ""));
    Build b = planned(n);
    check_plan(n, &b, "a view beside the operand");
    ctx_free(n->cx);
}

static void in_place(void)
{
    Net net = net_new(3), *n = &net;
    Tensor *x = pool(n, net_input(n, "x", SHAPE(1, 4, 4, 2))), *y = pool(n, x);
    x = pool(n, two(n, "add", "add", x, two(n, "mul", "mul", y, one(n, "softmax", "softmax", y, ""), ""), ""));
    net_output(n, x);
    Build b = planned(n);
    int count = 0;
    for (int i = 0; i < b.groups.count; i++) count += b.plan.in_place[i];
    check_plan(n, &b, "sums in place");
    CHECK("a sum takes the place of an operand that dies", count >= 1);
    ctx_free(n->cx);
}

/* Operands of a concatenation, one of them a concatenation itself that is read twice. */
static void nested_concatenations(int axis)
{
    Net net = net_new(4), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(1, 3, 4, 2)), *a = pool(n, x), *b = pool(n, x);
    Tensor *inner = call_text(n->cx, "concat", "inner", (Tensor *[]){ a, b }, 2, "axis=%d", axis);
    Tensor *c = pool(n, inner);
    Tensor *outer = call_text(n->cx, "concat", "outer", (Tensor *[]){ c, inner }, 2, "axis=%d", axis);
    net_output(n, one(n, "flatten", "flat", pool(n, outer), ""));
    Build build = planned(n);
    check_plan(n, &build, text_format(n->cx, "nested concatenations along axis %d", axis));
    check_that(free_groups(&build) == 3, "nested concatenations and a view cost nothing", "%d groups are free",
               free_groups(&build));
    ctx_free(n->cx);
}

/* Operands without memory of their own are copied: an input, a constant, one tensor twice, one in two
 * concatenations. */
static void shared_operands(void)
{
    Net net = net_new(5), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(1, 3, 4, 2)), *a = pool(n, x), *k = net_constant(n, "k", SHAPE(1, 3, 4, 2));
    net_output(n, pool(n, two(n, "concat", "with input", a, x, "axis=3")));
    net_output(n, pool(n, two(n, "concat", "with constant", a, k, "axis=2")));
    net_output(n, pool(n, two(n, "concat", "twice", a, a, "axis=3")));
    net_output(n, two(n, "concat", "with output", n->output[0], a, "axis=3"));
    Build b = planned(n);
    check_plan(n, &b, "operands that cannot be slices");
    ctx_free(n->cx);
}

static Tensor *part(Net *n, Tensor *x, int axis, int begin, int end)
{
    return one(n, "slice", "part", x, text_format(n->cx, "begin=%d end=%d axes=%d", begin, end, axis));
}

/* A slice of a result, a slice of that, and its reshape alias the result. */
static void boxes(void)
{
    Net net = net_new(7), *n = &net;
    Tensor *x = softmax(n, net_input(n, "x", SHAPE(1, 4, 6, 8))), *a = part(n, x, 3, 2, 7), *b = part(n, a, 1, 1, 3);
    net_output(n, softmax(n, a));
    net_output(n, softmax(n, one(n, "reshape", "without a dimension of 1", b, "shape=2,6,5")));
    Build build = planned(n);
    check_plan(n, &build, "boxes of a result");
    check_that(free_groups(&build) == 3, "boxes and their reshape cost nothing", "%d groups are free",
               free_groups(&build));
    ctx_free(n->cx);
}

/* Slices that are concatenated again are the whole, which is stored in the concatenation with its parts. */
static void cut_and_joined(void)
{
    Net net = net_new(9), *n = &net;
    Tensor *x = softmax(n, net_input(n, "x", SHAPE(1, 4, 6, 8))), *left = part(n, x, 3, 0, 3),
           *right = part(n, x, 3, 3, 8);
    net_output(n,
               pool(n, call_text(n->cx, "concat", "together", (Tensor *[]){ left, right, softmax(n, left) }, 3,
                                 "axis=3")));
    Build build = planned(n);
    check_plan(n, &build, "parts beside what is made of them");
    check_that(free_groups(&build) == 2, "a part and the concatenation cost nothing", "%d groups are free",
               free_groups(&build));
    check_that(build.groups.count == 5, "the other part is not there", "%d groups", build.groups.count);
    ctx_free(n->cx);
}

/* A slice that would alias a concatenation is copied there; so is an output of the caller, and a reshape that breaks
 * rows. */
static void copied_boxes(void)
{
    Net net = net_new(8), *n = &net;
    Tensor *x = softmax(n, net_input(n, "x", SHAPE(1, 4, 6, 8))), *a = part(n, x, 3, 2, 7);
    net_output(n, a);
    net_output(
        n, pool(n, call_text(n->cx, "concat", "together", (Tensor *[]){ part(n, x, 3, 0, 3), softmax(n, x) }, 2,
                             "axis=3")));
    net_output(n, softmax(n, one(n, "reshape", "other rows", part(n, x, 3, 1, 6), "shape=5,24")));
    Build build = planned(n);
    check_plan(n, &build, "boxes that cannot lie in their operand");
    check_that(free_groups(&build) == 2, "the concatenation and the last box alone cost nothing", "%d groups are free",
               free_groups(&build));
    ctx_free(n->cx);
}

static int paddings(const Build *b)
{
    int count = 0;
    for (int i = 0; i < b->groups.count; i++) count += b->plan.is_padding[i];
    return count;
}

static Tensor *padding(Net *n, Tensor *x, const char *pads)
{
    return one(n, "pad", "padded", x, text_format(n->cx, "pad=%s value=-3", pads));
}

/* The operand of a padding is stored in it, also if it is read later, is padded already or is a view with other
 * parts. */
static void padded(void)
{
    Net net = net_new(10), *n = &net;
    Tensor *x = softmax(n, net_input(n, "x", SHAPE(1, 4, 6, 8))), *a = padding(n, x, "0,1,2,0,0,0,1,3");
    net_output(n, softmax(n, padding(n, pool(n, a), "0,0,0,1,0,0,0,0")));
    net_output(n, softmax(n, x));
    Tensor *y = softmax(n, x);
    net_output(n, softmax(n, padding(n, part(n, y, 3, 1, 5), "0,1,1,0,0,1,1,0")));
    net_output(n, softmax(n, y));
    Build build = planned(n);
    check_plan(n, &build, "operands within their paddings");
    check_that(paddings(&build) == 2, "two operands lie in their paddings", "%d do", paddings(&build));
    ctx_free(n->cx);
}

/* What the caller owns, a part of a larger tensor, one in a concatenation and one in a padding already are copied. */
static void copied_padding(void)
{
    Net net = net_new(11), *n = &net;
    Tensor *x = net_input(n, "x", SHAPE(1, 4, 6, 8)), *a = softmax(n, x), *b = softmax(n, a);
    net_output(n, softmax(n, padding(n, x, "0,1,1,0,0,1,1,0")));
    net_output(n, a);
    net_output(n, softmax(n, padding(n, a, "0,0,1,0,0,0,1,0")));
    net_output(n, softmax(n, two(n, "concat", "together", b, softmax(n, b), "axis=2")));
    net_output(n, softmax(n, padding(n, b, "0,1,0,0,0,0,0,0")));
    Tensor *c = softmax(n, b);
    net_output(n, softmax(n, padding(n, c, "0,1,0,0,0,0,0,0")));
    net_output(n, softmax(n, padding(n, c, "0,0,0,0,0,1,0,0")));
    Build build = planned(n);
    check_plan(n, &build, "operands of paddings with memory of their own");
    check_that(paddings(&build) == 1, "one operand is stored in one of its paddings", "%d do", paddings(&build));
    ctx_free(n->cx);
}

/* The simulation is a test only if it finds faults. */
static void broken_plans(void)
{
    Net net = net_new(6), *n = &net;
    Tensor *x = pool(n, net_input(n, "x", SHAPE(1, 4, 4, 2)));
    net_output(n, pool(n, two(n, "add", "add", pool(n, pool(n, x)), x, "")));
    Build b = planned(n);
    check_plan(n, &b, "a plan as it is made");
    for (int i = 0; i < b.plan.slot_count; i++) b.plan.slot[i].offset = 0;
    CHECK("all at one place is found", simulate(n, &b, made_up_inputs(n)) != NULL);
    b = planned(n);
    for (int i = 0; i < b.plan.slot_count; i++)
        if (b.plan.slot[i].kind == SLOT_ARENA) b.plan.slot[i].view_offset = 1;
    CHECK("beyond a root is found", simulate(n, &b, made_up_inputs(n)) != NULL);
    ctx_free(n->cx);
}

int main(int argc, char **argv)
{
    uint32_t first = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1,
             count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 300;
    chains();
    types_lie_apart("i32", false);
    types_lie_apart("i8", true);
    CHECK_RUN(view_beside_operand, in_place);
    for (int axis = 0; axis < 4; axis++) nested_concatenations(axis);
    CHECK_RUN(shared_operands, boxes, cut_and_joined, copied_boxes, padded, copied_padding, broken_plans);
    for (uint32_t i = 0; i < count; i++) check_random(first + i);
    return check_done();
}
