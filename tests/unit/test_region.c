/* SPDX-License-Identifier: MIT */
/* Regions: handwritten branches and loops, run by the interpreter through the whole path and compared with formulas:
 * their memory, their printed text, folding, and refusals. */
#include "graphs.h"

#include <stdlib.h>

static Tensor *number(Net *n, const char *label, DType t)
{
    return n->input[n->input_count++] = tensor_new(n->cx, label, t, 0, NULL);
}

static Graph graph_of(Ctx *cx, Tensor *const *in, int in_count, Tensor *const *out, int out_count)
{
    Graph g = { .name = "inner", .input_count = in_count, .output_count = out_count };
    g.input = arena_copy(cx->arena, in, (size_t)in_count * sizeof *in);
    g.output = arena_copy(cx->arena, out, (size_t)out_count * sizeof *out);
    return g;
}

static Tensor *stand_in(Net *n, const char *label, const Tensor *t)
{
    return tensor_new(n->cx, label, t->type, t->rank, t->shape);
}

/* Runs all passes up to the program; returns the error's text, or "". */
static const char *built(Net *n, const lw_options *o, Build *b)
{
    *b = net_build(n, o);
    bool ok = build_graph(b) && build_nests(b) && build_program(b);
    return ok ? "" : net_error(n);
}

/* Returns the interpreter's output 0 for these inputs; NULL on error. */
static const float *run(Build *b, const void *const *in)
{
    const void **out = NEW_ARRAY(b->cx->arena, const void *, b->graph.output_count);
    return build_run(b, in, out) ? out[0] : NULL;
}

static int count_in(const char *text, const char *what)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++) count++;
    return count;
}

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

static Tensor *wide(Net *n, Tensor *x, const Tensor *like, const char *label, int64_t width)
{
    Tensor *w = net_constant(n, "w", SHAPE(tensor_dim(like, 1), width)),
           *v = net_constant(n, "v", SHAPE(width, tensor_dim(like, 1)));
    return two(n, "dense", label, one(n, "relu", label, two(n, "dense", label, x, w, ""), ""), v, "");
}

/* y = late ? relu(x * w) * v over 300 : the same over 200 values in between; x is read outside, too. */
static Net two_branches(const Tensor **late)
{
    Net n = net_new(5);
    Tensor *condition = number(&n, "late", BOOL), *x = net_input(&n, "x", SHAPE(1, 4)), *inner = stand_in(&n, "x", x),
           *unread = stand_in(&n, "z", x);
    Tensor *yes = wide(&n, inner, x, "yes", 300), *no = wide(&n, inner, x, "no", 200);
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    r.graph[0] = graph_of(n.cx, (Tensor *[]){ inner, unread }, 2, &yes, 1);
    r.graph[1] = graph_of(n.cx, (Tensor *[]){ inner, unread }, 2, &no, 1);
    Node *choice = region_new(n.cx, "choose", &r, (Tensor *[]){ condition, one(&n, "tanh", "t", x, ""), x }, 3);
    net_output(&n, one(&n, "neg", "y", choice->out[0], ""));
    *late = condition;
    return n;
}

static void branches(void)
{
    const Tensor *late;
    for (int taken = 0; taken < 2; taken++) {
        Net n = two_branches(&late);
        Graph g = net_graph(&n);
        const void *wanted[NET_ROOM], **in = made_up_inputs(&n);
        *(uint8_t *)in[0] = (uint8_t)taken;
        bool ok = evaluate_graph(&n, &g, in, wanted);
        Build b;
        const char *said = built(&n, &(lw_options){ .name = "net" }, &b);
        const float *y = *said ? NULL : run(&b, in);
        check_that(ok && y && first_difference(n.output[0], y, wanted[0], 1e-4) < 0,
                   taken ? "the branch where it holds" : "the branch where it does not", "%s", said);
        ctx_free(n.cx);
    }
    Net n = two_branches(&late);
    Build b;
    built(&n, &(lw_options){ .name = "net" }, &b);
    check_that(n.output[0]->producer->in[0]->producer->in_count == 2, "what no branch reads is not handed in",
               "%d inputs", n.output[0]->producer->in[0]->producer->in_count);
    const Build *inner = b.tree.next;
    check_that(inner && inner->plan.arena_size == 1200 && inner->tree.next->plan.arena_size == 800,
               "each branch has a plan of its own", "%lld bytes", (long long)(inner ? inner->plan.arena_size : -1));
    check_that(b.plan.arena_size == 1200 + 16, "memory for a choice is that of its greater branch", "%lld bytes",
               (long long)b.plan.arena_size);
    const char *text = cgen_text(n.cx, &b.program);
    CHECK("a choice prints as if and else",
          strstr(text, "    if (*in->late) {\n        net_choose_then(memory + net_choose_memory_at, ")
              && strstr(text, "    } else {\n        net_choose_else(memory + net_choose_memory_at, "));
    ctx_free(n.cx);
}

static void known_condition(void)
{
    Net n = net_new(6);
    Tensor *x = net_input(&n, "x", SHAPE(1, 4)), *inner = stand_in(&n, "x", x);
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    Tensor *yes = one(&n, "neg", "yes", inner, ""), *no = one(&n, "tanh", "no", inner, "");
    r.graph[0] = graph_of(n.cx, &inner, 1, &yes, 1);
    r.graph[1] = graph_of(n.cx, &inner, 1, &no, 1);
    /* 1 < 2 is folded by the pass before. */
    Tensor *holds = two(&n, "less", "holds", tensor_scalar(n.cx, "a", F32, 1), tensor_scalar(n.cx, "b", F32, 2), "");
    net_output(&n, region_new(n.cx, "choose", &r, (Tensor *[]){ holds, x }, 2)->out[0]);
    Graph was = net_graph(&n), is = passed(&n, was);
    check_that(count_calls(&n, &is, "if") == 0 && count_calls(&n, &is, "neg") == 1 && count_calls(&n, &is, "tanh") == 0
                   && same_values(&n, &was, &is, 0),
               "a condition that becomes known leaves its branch", "%s", net_error(&n));
    ctx_free(n.cx);
}

/* Both branches multiply by one weight, once read outside as well: it is in flash once, though each graph transposes
 * it. */
static void shared_weights(void)
{
    Net n = net_new(7);
    Tensor *late = number(&n, "late", BOOL), *x = net_input(&n, "x", SHAPE(1, 8)), *inner = stand_in(&n, "x", x),
           *w = net_constant(&n, "w", SHAPE(8, 8));
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    Tensor *yes = two(&n, "dense", "yes", inner, one(&n, "transpose", "turned", w, "perm=1,0"), "");
    Tensor *no = one(&n, "relu", "no", two(&n, "dense", "no", inner, one(&n, "transpose", "turned", w, "perm=1,0"), ""),
                     "");
    r.graph[0] = graph_of(n.cx, &inner, 1, &yes, 1);
    r.graph[1] = graph_of(n.cx, &inner, 1, &no, 1);
    net_output(&n, two(&n, "dense", "y", region_new(n.cx, "choose", &r, (Tensor *[]){ late, x }, 2)->out[0], w, ""));
    Build b;
    const char *said = built(&n, &(lw_options){ .name = "net" }, &b);
    int used = 0;
    if (!*said) used = count_in(cgen_text(n.cx, &b.program), "static const LW_ALIGN");
    check_that(used == 2, "weights of several graphs are constants once", "%d constants, %s", used, said);
    ctx_free(n.cx);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

typedef struct Looping { Net n; Tensor *count; } Looping;

/* s' = s + s + x, while the greatest of s' is below limit; the rows are s' * s'. */
static Looping doubling(int64_t room, bool has_condition)
{
    Looping l = { net_new(8), NULL };
    Net *n = &l.n;
    Tensor *count = l.count = number(n, "count", I64), *first = net_input(n, "s0", SHAPE(3)),
           *x = net_input(n, "x", SHAPE(3)), *limit = number(n, "limit", F32);
    Tensor *turn = tensor_new(n->cx, "turn", I64, 0, NULL), *s = stand_in(n, "s", first),
           *inner_x = stand_in(n, "x", x), *inner_limit = stand_in(n, "limit", limit);
    Tensor *now = two(n, "add", "now", two(n, "add", "twice", s, s, ""), inner_x, ""),
           *row = two(n, "mul", "row", now, now, "");
    Tensor *goes_on = two(n, "less", "goes_on", one(n, "reduce_max", "most", now, "axes= keepdims=0"), inner_limit, "");
    Region r = { .kind = REGION_LOOP,
                 .graph_count = 1,
                 .state_count = 1,
                 .row_count = 1,
                 .has_condition = has_condition,
                 .rows_back = (bool[]){ false },
                 .max_trip_count = room };
    Tensor *in[] = { turn, s, inner_x, inner_limit }, *out[] = { goes_on, now, row };
    r.graph[0] = graph_of(n->cx, in, 4, has_condition ? out : out + 1, has_condition ? 3 : 2);
    r.rows_back = NEW_ARRAY(n->cx->arena, bool, 1);
    Node *loop = region_new(n->cx, "double", &r, (Tensor *[]){ count, NULL, first, x, limit }, 5);
    net_output(n, loop->out[1]);
    net_output(n, loop->out[0]);
    return l;
}

/* By plain arithmetic: row i of iteration t is the square of 2^(t+1) s0 + (2^(t+1) - 1) x. */
static void run_doubling(const char *test_name, int64_t count, float limit, bool has_condition, int64_t wanted_turns)
{
    enum { ROOM = 6 };
    Looping l = doubling(ROOM, has_condition);
    float first[3] = { 0.25f, -1, 0.5f }, x[3] = { 1, 0.125f, -0.5f };
    const void *in[] = { &count, first, x, &limit }, *out[2] = { NULL, NULL };
    if (!has_condition) l.n.input_count--;
    Build b;
    const char *said = built(&l.n, &(lw_options){ .name = "net" }, &b);
    bool ok = !*said && build_run(&b, in, out);
    for (int64_t t = 0; ok && t < ROOM; t++)
        for (int i = 0; i < 3; i++) {
            float power = (float)(2 << t), value = t < wanted_turns ? power * first[i] + (power - 1) * x[i] : 0;
            ok = ok && ((float *)out[0])[t * 3 + i] == value * value;
            if (t + 1 == wanted_turns) ok = ok && ((float *)out[1])[i] == value;
        }
    for (int i = 0; ok && !wanted_turns && i < 3; i++) ok = ((float *)out[1])[i] == first[i];
    check_that(ok, check_label(test_name, "as-plain-arithmetic"), "%s", ctx_failed(l.n.cx) ? net_error(&l.n) : said);
    ctx_free(l.n.cx);
}

static void loops(void)
{
    run_doubling("a loop that does not run", 0, 0, false, 0);
    run_doubling("a loop of one turn", 1, 0, false, 1);
    run_doubling("a loop that fills its rows", 6, 0, false, 6);
    run_doubling("a condition ends a loop", 6, 5, true, 3);
    run_doubling("a count ends a loop", 2, 5, true, 2);
    run_doubling("more turns than rows, were it not for the condition", 100, 5, true, 3);

    Looping l = doubling(6, true);
    float first[3] = { 0, 0, 0 }, limit = 1;
    int64_t count = 7;
    const void *in[] = { &count, first, first, &limit }, *out[2];
    Build b;
    built(&l.n, &(lw_options){ .name = "net" }, &b);
    const char *text = cgen_text(l.n.cx, &b.program);
    check_that(count_in(text, "return NET_E_SIZE;") == 1, "a full room ends the run with an error", "%s", text);
    check_that(!build_run(&b, in, out)
                   && strstr(net_error(&l.n), "it continues after 6 iterations, and its outputs have no rows for more"),
               "a full room in the interpreter", "%s", net_error(&l.n));
    ctx_free(l.n.cx);
}

/* dense twice: the old state is not read any more when the new one is written, so one array is enough. */
static void single_array(void)
{
    for (int layers = 1; layers <= 2; layers++) {
        Net n = net_new(9);
        Tensor *first = net_input(&n, "s0", SHAPE(1, 8)), *s = stand_in(&n, "s", first),
               *turn = tensor_new(n.cx, "turn", I64, 0, NULL), *now = s;
        for (int i = 0; i < layers; i++)
            now = one(&n, "tanh", "now", two(&n, "dense", "now", now, net_constant(&n, "w", SHAPE(8, 8)), ""), "");
        Region r = { .kind = REGION_LOOP, .graph_count = 1, .state_count = 1, .max_trip_count = -1 };
        r.graph[0] = graph_of(n.cx, (Tensor *[]){ turn, s }, 2, &now, 1);
        int64_t turns = 11;
        Tensor *count = tensor_constant(n.cx, "count", I64, 0, NULL, &turns);
        net_output(&n, region_new(n.cx, "again", &r, (Tensor *[]){ count, NULL, first }, 3)->out[0]);
        Graph g = net_graph(&n);
        const void *wanted[NET_ROOM], **in = made_up_inputs(&n);
        bool ok = evaluate_graph(&n, &g, in, wanted);
        Build b;
        const char *said = built(&n, &(lw_options){ .name = "net" }, &b),
                   *text = *said ? "" : cgen_text(n.cx, &b.program);
        const float *y = *said ? NULL : run(&b, in);
        check_that(ok && y && first_difference(n.output[0], y, wanted[0], 1e-4) < 0, "a state through dense layers",
                   "%s", said);
        check_that((count_in(text, "s_next") == 0) == (layers == 2),
                   layers == 2 ? "a state that is not read any more is overwritten"
                               : "a state that is still read gets a second array",
                   "%s", text);
        check_that(b.plan.arena_size == 32, "and the plan knows it", "%lld bytes", (long long)b.plan.arena_size);
        /* 11 iterations: a value that begins in the second array ends in the output. */
        if (layers == 1)
            CHECK("a state ends in its output without a copy",
                  strstr(text, "_next_1_at), *s_next = out->") && count_in(text, "memcpy") == 1);
        ctx_free(n.cx);
    }
}

/* Rows from both ends: y[t] = sum of x[0..t], z[t] = sum of x[n-1..t]. */
static void scans(void)
{
    Net n = net_new(10);
    Tensor *x = net_input(&n, "x", SHAPE(5, 2)), *turn = tensor_new(n.cx, "turn", I64, 0, NULL),
           *zero = tensor_constant(n.cx, "zero", F32, 1, (int64_t[]){ 2 }, (float[]){ 0, 0 });
    Tensor *row = stand_in(&n, "row", zero), *back = stand_in(&n, "back", zero), *a = stand_in(&n, "a", zero),
           *c = stand_in(&n, "c", zero);
    Tensor *now[4] = { two(&n, "add", "a_now", a, row, ""), two(&n, "add", "c_now", c, back, "") };
    now[2] = one(&n, "neg", "minus", now[0], "");
    now[3] = one(&n, "neg", "minus", now[1], "");
    Region r = { .kind = REGION_LOOP,
                 .graph_count = 1,
                 .state_count = 2,
                 .scan_count = 2,
                 .row_count = 2,
                 .scans_back = (bool[]){ false, true },
                 .rows_back = (bool[]){ false, true },
                 .max_trip_count = 5 };
    r.graph[0] = graph_of(n.cx, (Tensor *[]){ turn, a, c, row, back }, 5, now, 4);
    int64_t turns = 5;
    Node *scan = region_new(
        n.cx, "scan", &r, (Tensor *[]){ tensor_constant(n.cx, "count", I64, 0, NULL, &turns), NULL, zero, zero, x, x },
        6);
    net_output(&n, scan->out[2]);
    net_output(&n, scan->out[3]);
    float data[10] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
    const void *in[] = { data }, *out[2] = { NULL, NULL };
    Build b;
    const char *said = built(&n, &(lw_options){ .name = "net" }, &b);
    bool ok = !*said && build_run(&b, in, out);
    for (int t = 0; ok && t < 5; t++)
        for (int i = 0; i < 2; i++) {
            float up = 0, down = 0;
            for (int k = 0; k <= t; k++) up += data[k * 2 + i];
            for (int k = t; k < 5; k++) down += data[k * 2 + i];
            ok = ok && ((float *)out[0])[t * 2 + i] == -up && ((float *)out[1])[t * 2 + i] == -down;
        }
    check_that(ok, "rows from the first and from the last", "%s", said);
    const char *text = *said ? "" : cgen_text(n.cx, &b.program);
    CHECK("a count that is known prints as a number",
          strstr(text, "for (int32_t iteration = 0; iteration < 5; iteration++) {")
              && strstr(text, "in->x + iteration * 2, in->x + (4 - iteration) * 2"));
    ctx_free(n.cx);
}

/* ---- Other features with regions --------------------------------------------------------------------------------- */

static void beside(void)
{
    const Tensor *late;
    Net n = two_branches(&late);
    Build b;
    const char *said = built(&n, &(lw_options){ .name = "net", .combine = "t,choose" }, &b);
    check_that(strstr(said, "--combine: 'choose' is a branch or loop of the run") != NULL, "a region is not combined",
               "%s", said);
    ctx_free(n.cx);

    n = two_branches(&late);
    said = built(&n, &(lw_options){ .name = "net", .combine = "t" }, &b);
    check_that(strstr(said, "'t' is only one group") != NULL, "a group beside a region may be, but not alone", "%s",
               said);
    ctx_free(n.cx);

    n = two_branches(&late);
    Node *choice = n.output[0]->producer->in[0]->producer;
    choice->device = name(n.cx, "npu");
    said = built(&n, &(lw_options){ .name = "net" }, &b);
    const Diag *note = n.cx->diags;
    check_that(
        !*said && b.devices.count == 0 && note
            && strstr(diag_text(n.cx, note), "node \"choose\" (if): note: runs on the cpu: no device accepts a region"),
        "a region stays at home", "%s", said);
    ctx_free(n.cx);

    n = two_branches(&late);
    choice = n.output[0]->producer->in[0]->producer;
    choice->region->graph[0].output[0]->producer->device = name(n.cx, "npu");
    said = built(&n, &(lw_options){ .name = "net" }, &b);
    check_that(strstr(said, "is in a branch or loop; mark only calls that are in neither") != NULL,
               "a device inside a region is refused", "%s", said);
    ctx_free(n.cx);

    n = two_branches(&late);
    b = net_build(&n, &(lw_options){ .name = "net", .layers = true });
    bool ok = build_graph(&b) && build_nests(&b) && build_program(&b);
    check_that(ok && b.graph.output_count == 3, "with --layers a region's result is an output", "%d outputs, %s",
               b.graph.output_count, ok ? "" : net_error(&n));
    ctx_free(n.cx);
}

/* A convolution and a pool of its rows. */
static Tensor *pooled(Net *n, Tensor *x, const char *label)
{
    Tensor *k = net_constant(n, "k", SHAPE(3, 3, 4, 4)),
           *rows = two(n, "conv2d", text_format(n->cx, "%s_conv", label), x, k, "pad=1,1,1,1");
    return one(n, "max_pool2d", text_format(n->cx, "%s_pool", label), rows, "kernel=2,2 stride=2,2");
}

/* before -> late ? yes : no -> after, each a convolution and a pool. */
static Net pools_in_branches(void)
{
    Net n = net_new(31);
    Tensor *late = number(&n, "late", BOOL), *x = net_input(&n, "x", SHAPE(1, 32, 32, 4)),
           *before = pooled(&n, x, "before"), *inner = stand_in(&n, "x", before);
    Tensor *yes = pooled(&n, inner, "yes"), *no = pooled(&n, inner, "no");
    Region r = { .kind = REGION_CHOICE, .graph_count = 2, .max_trip_count = -1 };
    r.graph[0] = graph_of(n.cx, &inner, 1, &yes, 1);
    r.graph[1] = graph_of(n.cx, &inner, 1, &no, 1);
    Tensor *chosen = region_new(n.cx, "choose", &r, (Tensor *[]){ late, before }, 2)->out[0];
    net_output(&n, pooled(&n, chosen, "after"));
    return n;
}

typedef struct Combined { int64_t arena; int calls; float first; const char *said; } Combined;

static Combined combined(const char *combine)
{
    Net n = pools_in_branches();
    Build b;
    const char *said = built(&n, &(lw_options){ .name = "net", .combine = combine }, &b);
    const float *y = *said ? NULL : run(&b, made_up_inputs(&n));
    Combined c = { b.plan.arena_size, 0, y ? y[0] : 0, "" };
    for (const Build *g = &b; g; g = g->tree.next) c.calls += g->groups.count;
    static char text[400];
    snprintf(text, sizeof text, "%s", n.cx->diags ? diag_text(n.cx, n.cx->diags) : "");
    c.said = text;
    ctx_free(n.cx);
    return c;
}

/* --combine inside branches, and outside them. */
static void combined_graphs(void)
{
    const Combined none = combined("none"), all = combined("all"), named = combined("yes_conv,yes_pool");
    check_that(none.calls == 9 && all.calls == 5 && all.arena < none.arena && all.first == none.first,
               "groups of branches combine, and those outside", "%d and %d calls, %lld and %lld bytes, %s", none.calls,
               all.calls, (long long)none.arena, (long long)all.arena, all.said);
    check_that(named.calls == 8 && named.first == none.first, "named groups of one branch combine", "%d calls, %s",
               named.calls, named.said);
    const Combined across = combined("yes_conv,no_pool");
    check_that(strstr(across.said, "'yes_conv' is in choose_then, where there is no group 'no_pool'") != NULL,
               "groups of two branches are refused", "%s", across.said);
    const Combined unknown = combined("nosuch,other");
    check_that(strstr(unknown.said, "there is no group 'nosuch'") != NULL, "a name of no graph is refused", "%s",
               unknown.said);
}

int main(void)
{
    CHECK_RUN(branches, combined_graphs, known_condition, shared_weights, loops, single_array, scans, beside);
    return check_done();
}
