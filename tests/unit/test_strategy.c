/* SPDX-License-Identifier: MIT */
/* The implementation of a group, with rows defined here: plevel, the target's chain, order, overriding; conditions in
 * words that are decided, open, or name a missing dimension; blocks of schedules. */
#include "graphs.h"
#include "own_data.h"

#include "graph/plan/group_schedules.h"
#include "import/te/te.h"
#include "schedule/schedule.h"

static const Nest *as_written(Ctx *cx, const GroupNest *g) { (void)cx; return g->nest; }
static const Nest *split_k(Ctx *cx, const GroupNest *g)
{
    return sched_split(cx, g->nest, text_format(cx, "%s.k", g->anchor), 4, TAIL_GUARD, NULL, NULL);
}

static const Nest *split_twice(Ctx *cx, const GroupNest *g)
{
    return sched_split(cx, split_k(cx, g), text_format(cx, "%s.k", g->anchor), 2, TAIL_GUARD, NULL, NULL);
}

static const Nest *turned(Ctx *cx, const GroupNest *g)
{
    return sched_step(cx, g->nest, text_format(cx, "reorder %s.o %s.n", g->anchor, g->anchor));
}

#define ROW(the_name, the_target, level, ...) \
    { .name = the_name, .target = the_target, .ops = "dense", .plevel = level, .what = "", \
      .schedule = as_written, __VA_ARGS__ }

static const char *explained;

/* Returns the name of the implementation of y = dense(x[2][12], w[12][4]), with these rows beside the built-in ones. */
static const char *chosen_for(Net *n, const char *target, const Implementation *rows)
{
    for (; rows && rows->name; rows++) implementation_register(n->cx, rows);
    net_output(n, two(n, "dense", "y", net_input(n, "x", SHAPE(2, 12)), net_constant(n, "w", SHAPE(12, 4)), ""));
    Graph g = net_graph(n);
    Groups groups = fuse(n->cx, &g);
    Text t = text_new(n->cx);
    const Implementation *chosen = NULL;
    const Nest *nest = strategy_schedule(n->cx, &groups.at[0], target_find(n->cx, target), &chosen, &t);
    explained = text_string(&t);
    return nest && chosen && !ctx_failed(n->cx) ? chosen->name : net_error(n);
}

static void check_choice(const char *label, const char *target, const Implementation *rows, const char *wanted,
                         const char *why)
{
    Net n = net_new(1);
    const char *found = chosen_for(&n, target, rows);
    check_that(strcmp(found, wanted) == 0 && strstr(explained, why), label, "%s; wanted %s; %s", found, wanted,
               explained);
    ctx_free(n.cx);
}

static void order(void)
{
    static const Implementation level[] = {
        ROW("a", "generic", 20, .when = NULL), ROW("b", "generic", 30, .when = NULL), ROW("c", "generic", 25,
        .when = NULL), { 0 }
    };
    check_choice("the highest plevel is chosen", "generic", level, "b", "chosen: b: the highest plevel");
    static const Implementation first[] = {
        ROW("a", "generic", 30, .when = NULL), ROW("b", "generic", 30, .when = NULL), { 0 }
    };
    check_choice("of equal plevels the first registered is chosen", "generic", first, "a", "b ");
    static const Implementation chain[] = {
        ROW("far", "generic", 30, .when = NULL), ROW("near", "arm", 30, .when = NULL), ROW("other", "x86", 90,
        .when = NULL), { 0 }
    };
    check_choice("of equal plevels the nearest target is chosen", "cortex-m4", chain, "near", "far ");
    check_choice("a row of another target is not considered", "generic", chain, "far", "chosen: far");
    static const Implementation lower[] = {
        ROW("far", "generic", 40, .when = NULL), ROW("near", "arm", 30, .when = NULL), { 0 }
    };
    check_choice("plevel comes before nearness", "cortex-m4", lower, "far", "near ");
    static const Implementation same[] = {
        ROW("one", "generic", 40, .when = NULL), ROW("one", "arm", 30, .when = NULL), ROW("two", "generic", 35,
        .when = NULL), { 0 }
    };
    check_choice("a row of the same name overrides that of a farther target", "cortex-m4", same, "two",
                 "overridden for arm");
    check_choice("a row does not override that of another target's chain", "generic", same, "one", "chosen: one");
}

static void conditions(void)
{
    static const Implementation holds[] = {
        ROW("a", "generic", 40, .when = "dim(x, 1) % 4 == 0 && w is f32 && dim(w, 1) < 5"), { 0 }
    };
    check_choice("a condition over shapes and types holds", "generic", holds, "a", "chosen: a");
    static const Implementation fails[] = {
        ROW("a", "generic", 40, .when = "dim(x, 1) % 4 == 0 && dim(w, 1) > 5"), ROW("b", "generic", 30, .when = NULL),
        { 0 }
    };
    check_choice("a condition with a false clause does not hold", "generic", fails, "b",
                 "its condition does not hold: dim(x, 1)");
    static const Implementation type[] = {
        ROW("a", "generic", 40, .when = "x is i8"), ROW("b", "generic", 30, .when = "x is f32"), { 0 }
    };
    check_choice("a condition on another type does not hold", "generic", type, "b", "x is i8");
    static const Implementation unknown[] = {
        ROW("a", "generic", 40, .when = "groups == 1"), ROW("b", "generic", 30, .when = NULL), { 0 }
    };
    check_choice(
        "a name that the operator lacks is an error", "generic", unknown,
        "implementation \"a\" of dense, when, column 1: error: 'groups' is not known here; `loopwright ops "
        "--conditions` lists the names\n  groups == 1\n  ^^^^^^",
        "");

    Net net = net_new(2), *n = &net;
    static const Implementation conv[] = {
        { .name = "wide", .target = "generic", .ops = "conv2d", .plevel = 40, .what = "", .when = "stride_1 == 2",
          .schedule = as_written },
        { .name = "plain", .target = "generic", .ops = "conv2d", .plevel = 30, .what = "",
          .when = "groups == 1 && stride_1 != 2", .schedule = as_written },
    };
    for (int i = 0; i < 2; i++) implementation_register(n->cx, &conv[i]);
    Tensor *x = net_input(n, "x", SHAPE(1, 6, 6, 4)), *k = net_constant(n, "k", SHAPE(3, 3, 4, 4));
    net_output(n, two(n, "conv2d", "one", x, k, "stride=1,1"));
    net_output(n, two(n, "conv2d", "two", x, k, "stride=1,2"));
    Graph g = net_graph(n);
    Groups groups = fuse(n->cx, &g);
    const Implementation *a = NULL, *b = NULL;
    strategy_schedule(n->cx, &groups.at[0], target_find(n->cx, "generic"), &a, NULL);
    strategy_schedule(n->cx, &groups.at[1], target_find(n->cx, "generic"), &b, NULL);
    check_that(a == &conv[1] && b == &conv[0], "a condition over attributes selects the row", "%s %s",
               a ? a->name : "none",
               b ? b->name : "none");
    ctx_free(n->cx);
}

/* Sizes are open: both versions are in the function, under a test of the size, and give the DAG's values. */
static void decided_when_run(void)
{
    Net net = net_new(3), *n = &net;
    static const Implementation row = { .name = "by_four",
                                        .target = "generic",
                                        .ops = "matmul dense",
                                        .plevel = 40,
                                        .what = "",
                                        .when = "dim(x, 1) % 4 == 0 && dim(x, 0) == 2",
                                        .schedule = split_k };
    implementation_register(n->cx, &row);
    Model m;
    const char *text = "size k in 1..64\ninput x: f32[2][k]\ninput w: f32[k][3]\ny = dense(x, w)\noutput y\n";
    static const lw_options options = { .name = "net" };
    bool ok = te_read(n->cx, "net.te", text, NULL, &m);
    Build b = net_build(n, &options);
    b.model = m;
    ok = ok && build_graph(&b) && build_nests(&b) && build_program(&b);
    const char *source = ok ? cgen_text(n->cx, &b.program) : net_error(n);
    check_that(ok && b.scheduled.chosen[0] == &row && strstr(source, "if ((int32_t)((uint32_t)k % 4u) == 0) {")
                   && strstr(source, "} else {") && !strstr(source, "== 2"),
               "an open condition is tested when it runs", "%s", source);
    ctx_free(n->cx);
}

/* y = dense(x[2][k], w[k][3]) for every k, by the interpreter on the nest with its versions and by the evaluator on the
 * group. */
static bool same_for_all_sizes(Net *n, const Group *g, const Nest *nest, const Expr *size)
{
    for (int64_t k = 1; k <= 16; k++) {
        float x[32], w[48], y[6], wanted[6];
        uint32_t seed = (uint32_t)k;
        for (int i = 0; i < 48; i++) w[i] = (float)draw(&seed) / 8388608.0f - 1;
        for (int i = 0; i < 32; i++) x[i] = (float)draw(&seed) / 8388608.0f - 1;
        for (int i = 0; i < 6; i++) {
            wanted[i] = 0;
            for (int64_t j = 0; j < k; j++) wanted[i] += x[i / 3 * k + j] * w[j * 3 + i % 3];
        }
        Env *env = env_new(n->cx);
        env_set_size(env, size, k);
        for (int i = 0; i < g->input_count; i++)
            env_set(env, nest->input[i], strcmp(g->input[i]->name, "x") == 0 ? (void *)x : (void *)w);
        env_set(env, nest->output[0], y);
        if (!interpret(n->cx, nest, env, NULL) || memcmp(y, wanted, sizeof y) != 0) return false;
    }
    return true;
}

/* If the best one's condition does not hold, the next best runs, under its own condition, down to one without. */
static void otherwise_the_next_best(void)
{
    static const Implementation rows[] = {
        { .name = "by_four", .target = "generic", .ops = "dense", .plevel = 40, .what = "",
          .when = "dim(x, 1) % 4 == 0", .schedule = split_k },
        { .name = "never", .target = "generic", .ops = "dense", .plevel = 38, .what = "", .when = "x is i8",
          .schedule = as_written },
        { .name = "small", .target = "generic", .ops = "dense", .plevel = 35, .what = "", .when = "dim(x, 1) < 7",
          .schedule = as_written },
        { .name = "last", .target = "generic", .ops = "dense", .plevel = 30, .what = "", .schedule = turned },
        { .name = "worse", .target = "generic", .ops = "dense", .plevel = 20, .what = "", .schedule = as_written },
    };
    Net net = net_new(7), *n = &net;
    for (int i = 0; i < 5; i++) implementation_register(n->cx, &rows[i]);
    Model m;
    bool ok = te_read(n->cx, "net.te",
                      "size k in 1..16\ninput x: f32[2][k]\ninput w: f32[k][3]\ny = dense(x, w)\noutput y\n", NULL, &m);
    Graph g = { .name = "net",
                .input_count = m.input_count,
                .input = m.input,
                .output_count = m.output_count,
                .output = m.output };
    Groups groups = fuse(n->cx, &g);
    Text t = text_new(n->cx);
    const Nest *nest = ok ? strategy_schedule(n->cx, &groups.at[0], target_find(n->cx, "generic"), NULL, &t) : NULL,
               *second = nest ? nest->otherwise : NULL;
    const Nest *third = second ? second->otherwise : NULL;
    if (!check_that(third && !third->otherwise,
                    "each row with a condition gives a version, and one row without ends them", "%s; %s",
                    net_error(n), text_string(&t)))
        return;
    CHECK("each version has the steps of its row",
          nest->step_count == 1 && strcmp(step_text(n->cx, &nest->step[0]), "split dense.k 4") == 0
              && second->step_count == 0 && third->step_count == 1
              && strcmp(step_text(n->cx, &third->step[0]), "reorder dense.o dense.n") == 0);
    check_that(
        strstr(text_string(&t), "chosen: by_four")
            && strstr(text_string(&t),
                      "condition k % 4 == 0 is tested at run time; where it does not hold\n  chosen: small")
            && strstr(text_string(&t), "condition k < 7 is tested at run time; where it does not hold\n  chosen: last"),
        "the explanation lists the versions in their order", "%s", text_string(&t));
    CHECK("versions give the same values for all sizes",
          same_for_all_sizes(n, &groups.at[0], nest, m.input[0]->shape[1]));
    ctx_free(n->cx);
}

/* Rows with a compute of their own: one that agrees, with a stage and attributes; one of another shape, one that cannot
 * be read, one that computes something else. */
static void computes(void)
{
    static const struct { const char *compute, *label, *wanted;
    } trial[] = {
        { "t[n, o] = sum(k) x[n, k] * w[k, o]; y[n, o] = t[n, o]",
          "a compute that agrees is accepted without a difference", NULL },
        { "y[n] = sum(k) x[n, k]", "a compute of another shape is refused",
          "produces f32[2] as output 0, but the operator produces f32[2][4]" },
        { "y[n, o] = sum(k) x[n, k] * v[k, o]", "a compute that cannot be read is refused",
          "implementation \"mine\" of dense, compute: error" },
        { "y[n, o] = sum(k) x[n, k] * x[n, k] + w[0, o]", "a compute of other values is refused",
          "does not agree with the operator dense: 8 of 8 elements differ" },
    };
    for (size_t i = 0; i < sizeof trial / sizeof trial[0]; i++) {
        Net net = net_new(8), *n = &net;
        const lw_implementation row = { .name = "mine", .plevel = 90, .compute = trial[i].compute };
        lw_register_strategy(n->cx, "dense", "generic", &row, 1);
        const char *said = lw_check_op(n->cx, "dense", NULL, "f32[2][12] f32[12][4]");
        if (!trial[i].wanted)
            check_that(said && strstr(said, "contraction.tiled ")
                           && strstr(said, "mine                             generic      largest difference 0.0\n"),
                       trial[i].label, "%s; %s", said, net_error(n));
        else check_that(!said && strstr(net_error(n), trial[i].wanted), trial[i].label, "%s", net_error(n));
        ctx_free(n->cx);
    }
    Net n = net_new(9);
    static const Implementation mine[] = { ROW("mine", "generic", 90,
    .compute = "t[a, b] = sum(c) x[a, c] * w[c, b]; y[a, b] = t[a, b]"), { 0 } };
    const char *found = chosen_for(&n, "generic", mine);
    check_that(strcmp(found, "mine") == 0, "a compute is chosen with its row", "%s", found);
    ctx_free(n.cx);
    CHECK("inputs that the operator does not take are refused",
          !lw_check_op((n = net_new(10)).cx, "dense", NULL, "f32[2][12]") && strstr(net_error(&n), "takes 2"));
    ctx_free(n.cx);
    CHECK("open sizes are refused", !lw_check_op((n = net_new(11)).cx, "relu", NULL, "f32[n]") && ctx_failed(n.cx));
    ctx_free(n.cx);
}

/* The name of the row that a block gives the group, and the source of its nest. */
static const char *given_by(Net *n, const Implementation *rows, const char *blocks)
{
    const char *own = chosen_for(n, "generic", rows);
    const Graph g = net_graph(n);
    const Groups groups = fuse(n->cx, &g);
    const Implementation *chosen = NULL;
    if (!schedules_read(n->cx, SCHEDULES_OF_FILES, "blocks.txt", blocks, 0, NULL)) return net_error(n);
    const Nest *nest = group_nest(n->cx, &groups.at[0], target_find(n->cx, "generic"), &chosen);
    return !nest || ctx_failed(n->cx) ? net_error(n) : chosen ? chosen->name : own;
}

static void blocks(void)
{
    static const Implementation rows[] = {
        ROW("a", "generic", 20, .when = NULL), ROW("b", "generic", 30, .when = NULL), ROW("c", "generic", 25,
        .when = "x is i8"), { 0 }
    };
    static const struct { const char *label, *text, *wanted; } cases[] = {
        { "a block takes precedence over plevel", "# none\n\nfor dense(f32[2][12],f32[12][4]) on generic by a:\n",
          "a" },
        { "a block for another target is skipped", "for dense(f32[2][12],f32[12][4]) on arm by a:\n", "b" },
        { "a block cannot name a row whose condition fails", "for y on generic by c:\n",
          "blocks.txt: 1:1: error: the implementation c does not apply to y" },
        { "a line without `for` is no block", "x\n", "blocks.txt: 1:1: error: a block begins" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Net n = net_new(4);
        const char *found = given_by(&n, rows, cases[i].text);
        check_that(strncmp(found, cases[i].wanted, strlen(cases[i].wanted)) == 0, cases[i].label, "%s", found);
        ctx_free(n.cx);
    }
}

/* Two rows of weights share 16-bit numbers where these hold both, and where the sums by odd rows cannot leave 24
 * bits. */
static void rows_in_one_number(void)
{
    static const struct { const char *label; int length; int8_t even, odd; int rank; } rows[] = {
        { "rows above the least value share numbers", 12, -128, -127, 4 },
        { "an odd row of the least value shares numbers", 12, 0, -128, 4 },
        { "a row of the least value and one below zero share none", 12, -1, -128, 5 },
        { "rows with sums of 24 bits share numbers", 511, -128, -127, 4 },
        { "rows with sums of more than 24 bits share none", 517, -128, -127, 5 },
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        Net net = net_new(1), *n = &net;
        const int length = rows[i].length;
        Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", I8, SHAPE(3, length)),
               *w = tensor_constant(n->cx, "w", I8, SHAPE(length, 4), NULL);
        int8_t *to = own_data(n->cx, w);
        for (int e = 0; e < length * 4; e++) to[e] = e % 2 ? rows[i].odd : rows[i].even;
        to[0] = 100;                         /* the weights need 8 bits */
        net_output(n, two(n, "dense", "y", x, w, ""));
        const Graph was = net_graph(n);
        Graph is = was;
        is.target = target_find(n->cx, "cortex-m4");
        is = graph_alter(n->cx, is);
        const Node *product = is.output[0]->producer;
        check_that(product->in[1]->rank == rows[i].rank && same_values(n, &was, &is, 0), rows[i].label,
                   "weights %s; %s", tensor_shape_text(n->cx, product->in[1]), net_error(n));
        ctx_free(n->cx);
    }
}

/* On a core of pairs the weights of a dense layer are packed for widened rows of x if several products read them; the
 * single row of a batch of one is read in bytes. */
static void rows_as_they_are(void)
{
    for (int64_t rows = 1; rows <= 2; rows++) {
        Net net = net_new(1), *n = &net;
        Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", I8, SHAPE(rows, 12)),
               *w = tensor_constant(n->cx, "w", I8, SHAPE(12, 4), NULL);
        fill(w, own_data(n->cx, w), &n->seed);
        net_output(n, two(n, "dense", "y", x, w, ""));
        const Graph was = net_graph(n);
        Graph is = was;
        is.target = target_find(n->cx, "cortex-m4");
        is = graph_alter(n->cx, is);
        const Node *product = is.output[0]->producer;
        const bool is_packed = strcmp(product->op->name, "packed_dense") == 0;
        check_that(is_packed && product->in[1]->rank == (rows == 1 ? 5 : 4) && same_values(n, &was, &is, 0),
                   text_format(n->cx, "a dense layer of %d rows takes packed rows", (int)rows), "%s, weights %s; %s",
                   product->op->name,
                   is_packed ? tensor_shape_text(n->cx, product->in[1]) : "", net_error(n));
        ctx_free(n->cx);
    }
}

/* Integer products of few channels, or of an operand that another call transposes, are dot products of rows on cores
 * that have these; their construction gives no message. */
static void rows_of_one_channel(void)
{
    static const struct { const char *op, *attrs; int64_t rows, outs; bool turned; } trial[] = {
        { "dense", "", 1, 1, false },  { "dense", "", 3, 1, false }, { "conv2d", "", 6, 1, false }, { "conv2d",
          "pad=1,1,1,1 zero=-3", 6, 1, false },
        { "conv2d", "stride=2,2", 7, 3, true }, { "conv2d", "stride=2,2 pad=1,1,1,1 zero=5", 7, 1, true },
    };
    static const char *const target[] = { "cortex-m4", "cortex-m33", "cortex-m55" };
    for (size_t i = 0; i < sizeof trial / sizeof trial[0] * 3; i++) {
        const bool is_conv = strcmp(trial[i / 3].op, "conv2d") == 0, turned = trial[i / 3].turned;
        const int64_t r = trial[i / 3].rows, o = trial[i / 3].outs;
        Net net = net_new((uint32_t)i + 1), *n = &net;
        Tensor *x = is_conv ? (turned ? tensor_new_fixed(n->cx, "x", I8, SHAPE(1, 3, r, r))
                                      : tensor_new_fixed(n->cx, "x", I8, SHAPE(1, r, r, 3)))
                            : tensor_new_fixed(n->cx, "x", I8, SHAPE(r, 12));
        Tensor *w = is_conv ? tensor_constant(n->cx, "w", I8, SHAPE(3, 3, 3, o), NULL)
                            : tensor_constant(n->cx, "w", I8, SHAPE(12, o), NULL);
        fill(w, own_data(n->cx, w), &n->seed);
        n->input[n->input_count++] = x;
        net_output(n, two(n, trial[i / 3].op, "y", turned ? one(n, "transpose", "t", x, "perm=0,2,3,1") : x, w,
                          trial[i / 3].attrs));
        static const lw_options options = { .name = "net" };
        Build b = net_build(n, &options);
        b.target = target_find(n->cx, target[i % 3]);
        const bool ok = build_graph(&b) && build_nests(&b) && build_program(&b);
        const Implementation *last = ok ? b.scheduled.chosen[b.groups.count - 1] : NULL;
        const char *chosen = last ? last->name : "none";
        check_that(ok && !n->cx->diags && strcmp(chosen, "rows.dot") == 0,
                   text_format(n->cx, "%s %s of %dx%d%s takes dot products of rows on %s", trial[i / 3].op,
                               trial[i / 3].attrs, (int)r, (int)o, turned ? ", transposed," : "", target[i % 3]),
                   "%s: %s", chosen,
                   net_error(n));
        ctx_free(n->cx);
    }
}

/* The bytes of an integer product, multiplied by a scalar whose cast is a stage without axes: every target chooses a
 * schedule. */
static void beside_a_scalar(void)
{
    static const char rescale[] = "multiplier=1099511562 shift=7 left=0 once=0 zero=3 min=-128 max=127 to=i8";
    static const int64_t pixels[] = { 1, 4, 4, 8 }, rows[] = { 3, 12 };
    for (int is_conv = 0; is_conv < 2; is_conv++) {
        Net net = net_new(1), *n = &net;
        int count;
        const Target *const *target = target_list(n->cx, &count);
        Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", I8, is_conv ? 4 : 2,
                                                                  is_conv ? pixels : rows),
               *gain = n->input[n->input_count++] = tensor_new_fixed(n->cx, "gain", I8, 0, NULL),
               *w = is_conv ? tensor_constant(n->cx, "w", I8, SHAPE(3, 3, 8, 8), NULL)
                            : tensor_constant(n->cx, "w", I8, SHAPE(12, 8), NULL);
        fill(w, own_data(n->cx, w), &n->seed);
        Tensor *y = one(n, "rescale", "bytes", two(n, is_conv ? "conv2d" : "dense", "sum", x, w, ""), rescale);
        y = two(n, "mul", "scaled", one(n, "cast", "factor", gain, "to=i32"), one(n, "cast", "wide", y, "to=i32"), "");
        net_output(n, one(n, "rescale", "y", y, rescale));
        for (int i = 0; i < count; i++) {
            const lw_options options = { .name = "net", .target = target[i]->name };
            Build b = net_build(n, &options);
            b.target = target[i];
            check_that(build_graph(&b) && build_nests(&b) && !n->cx->diags,
                       text_format(n->cx, "a %s before a scalar factor has a schedule on %s",
                                   is_conv ? "convolution" : "dense layer", target[i]->name), "%s", net_error(n));
        }
        ctx_free(n->cx);
    }
}

/* A narrow depthwise layer has a row's sums in registers on cores of single bytes, if it runs often, is short, or code
 * does not count; vectors take several channels. */
static void narrow_depthwise(void)
{
    static const struct {
        const char *what, *target; bool spends_code; int height, width, channels; const char *chosen;
    } trial[] = {
        { "a narrow", "cortex-m4", false, 25, 5, 64, "depthwise.row" },
        { "a narrow", "rv64gc", false, 25, 5, 64, "depthwise.row" },
        { "a narrow", "rv64gcv", false, 25, 5, 64, "depthwise.windows" },
        { "a narrow", "cortex-m55", false, 25, 5, 64, "depthwise.windows" },
        { "a short", "cortex-m4", false, 3, 3, 31, "depthwise.row" },
        { "a small", "cortex-m4", false, 6, 6, 31, "depthwise.windows" },
        { "a small fast", "cortex-m4", true, 6, 6, 31, "depthwise.row" },
    };
    for (size_t i = 0; i < sizeof trial / sizeof trial[0]; i++) {
        Net net = net_new(1), *n = &net;
        Tensor *x = n->input[n->input_count++] = tensor_new_fixed(
                   n->cx, "x", I8, SHAPE(1, trial[i].height, trial[i].width, trial[i].channels)),
               *w = tensor_constant(n->cx, "w", I8, SHAPE(3, 3, trial[i].channels), NULL);
        fill(w, own_data(n->cx, w), &n->seed);
        net_output(n, two(n, "depthwise_conv2d", "y", x, w, "pad=1,1,1,1"));
        static const lw_options options = { .name = "net" };
        Build b = net_build(n, &options);
        Target target = *target_find(n->cx, trial[i].target);
        target.spends_code = trial[i].spends_code;
        b.target = &target;
        const bool ok = build_graph(&b) && build_nests(&b) && build_program(&b);
        const Implementation *last = ok ? b.scheduled.chosen[b.groups.count - 1] : NULL;
        const char *chosen = last ? last->name : "none";
        check_that(ok && strcmp(chosen, trial[i].chosen) == 0,
                   text_format(n->cx, "%s depthwise layer takes %s on %s", trial[i].what, trial[i].chosen,
                               trial[i].target),
                   "%s: %s", chosen, net_error(n));
        ctx_free(n->cx);
    }
}

/* The weights of a convolution with windows, of some channels for the 7x7 pixels of x, on a target with vectors. */
static Graph windows(Net *n, int64_t channels)
{
    Tensor *x = n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", F32, SHAPE(1, 7, 7, channels)),
           *w = tensor_constant(n->cx, "w", F32, SHAPE(3, 3, channels, 32), NULL);
    float *to = own_data(n->cx, w);
    for (int64_t e = 0; e < 9 * channels * 32; e++) to[e] = 1;
    net_output(n, two(n, "conv2d", "y", x, w, "pad=1,1,1,1"));
    Graph g = net_graph(n);
    g.target = target_find(n->cx, "x86-avx2");
    return graph_alter(n->cx, g);
}

/* Tiles of vectors: of pixels across rows, which windows need not read in one piece; a panel of weights fits into the
 * second cache, and the next one is fetched if all exceed it. */
static void tiles_of_vectors(void)
{
    static const struct { const char *label; int64_t channels, width; const char *tiles, *fetches; } rows[] = {
        { "tiles of windows cross rows", 8, 32, ".p2 3", NULL },
        { "a panel of weights fits into the second cache, and the sums fetch the next one", 512, 16, ".p2 5",
          "spread=conv2d_pixels.c" },
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        Net net = net_new(1), *n = &net;
        Graph g = windows(n, rows[i].channels);
        const Tensor *panels = g.output[0]->producer->in[1]->producer ? g.output[0]->producer->in[1]->producer->in[0]
                                                                      : g.output[0]->producer->in[1];
        Groups groups = fuse(n->cx, &g);
        const Implementation *chosen = NULL;
        const Nest *nest = strategy_schedule(n->cx, &groups.at[groups.count - 1], g.target, &chosen, NULL);
        bool found = false;
        const char *fetches = NULL;
        for (int s = 0; nest && s < nest->step_count; s++) {
            const char *step = step_text(n->cx, &nest->step[s]);
            found = found || strstr(step, rows[i].tiles) != NULL;
            if (nest->step[s].row->kind == STEP_prefetch) fetches = step;
        }
        const bool agrees = rows[i].fetches ? fetches && strstr(fetches, rows[i].fetches) : !fetches;
        check_that(found && agrees && tensor_dim(panels, panels->rank - 1) == rows[i].width,
                   rows[i].label, "weights %s; %s; %s; %s", tensor_shape_text(n->cx, panels), fetches ? fetches : "",
                   chosen ? chosen->name : "", net_error(n));
        ctx_free(n->cx);
    }
}

/* A built-in template is refused: the next best is used, with a warning. A row from outside: an error. */
static void refused_step(void)
{
    static const Implementation rows[] = {
        ROW("bad", "generic", 50, .when = NULL), ROW("good", "generic", 40, .when = NULL)
    };
    for (int from_outside = 0; from_outside < 2; from_outside++) {
        Net net = net_new(1), *n = &net;
        Implementation bad = rows[0], list[] = { rows[1], { 0 } };
        bad.schedule = split_twice;
        bad.user = from_outside ? "" : NULL;
        implementation_register(n->cx, &bad);
        const char *found = chosen_for(n, "generic", list);
        if (from_outside)
            check_that(ctx_failed(n->cx) && strstr(net_error(n), "error: "),
                       "a refused step of a row from outside is an error", "%s", found);
        else
            check_that(
                !ctx_failed(n->cx) && strcmp(found, "good") == 0
                    && strstr(net_error(n), "warning: the schedule \"bad\" does not apply, \"good\" is used: split"),
                "a refused step of our own gives the next best row, and a warning", "%s; %s", found, net_error(n));
        ctx_free(n->cx);
    }
}

/* Softmax over the last of two axes, then a product with a constant: two groups, or one. */
static Tensor *layer(Net *n, Tensor *x, const char *axis, float by)
{
    Tensor *soft = one(n, "softmax", "soft", x, axis);
    return two(n, "mul", "y", soft, tensor_constant(n->cx, "by", F32, SHAPE(1), &by), "");
}

static bool same_group(Net *n, const char *axis, float by, int columns, bool has_row)
{
    static const Implementation row = ROW("outside", "generic", 1, .user = "");
    net_output(n, layer(n, net_input(n, "x", SHAPE(2, 4)), "axis=1", 2.0f));
    net_output(n, layer(n, net_input(n, "x", SHAPE(2, columns)), axis, by));
    if (has_row) implementation_register(n->cx, &row);
    Graph g = net_graph(n);
    Groups groups = fuse(n->cx, &g);
    const Group *a = &groups.at[0], *b = &groups.at[groups.count / 2];
    size_t bytes = 0, other = 0;
    const char *first = group_key(n->cx, a, &bytes), *second = group_key(n->cx, b, &other);
    return first && second && bytes == other && memcmp(first, second, bytes) == 0;
}

static void equal_groups(void)
{
    static const struct { const char *label, *axis; float by; int columns; bool has_row, wanted; } rows[] = {
        { "layers that differ in names are equal groups", "axis=1", 2.0f, 4, false, true },
        { "an attribute of another value is another group", "axis=0", 2.0f, 4, false, false },
        { "a constant of another value is another group", "axis=1", 3.0f, 4, false, false },
        { "a tensor of another shape is another group", "axis=1", 2.0f, 5, false, false },
        { "a row of a user receives every group", "axis=1", 2.0f, 4, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Net n = net_new(1);
        const bool found = same_group(&n, rows[i].axis, rows[i].by, rows[i].columns, rows[i].has_row);
        check_that(found == rows[i].wanted && !ctx_failed(n.cx), rows[i].label, "%s", net_error(&n));
        ctx_free(n.cx);
    }
}

int main(void)
{
    CHECK_RUN(order, conditions, decided_when_run, otherwise_the_next_best, computes, blocks, rows_as_they_are,
              rows_of_one_channel, narrow_depthwise, tiles_of_vectors, refused_step, rows_in_one_number,
              beside_a_scalar, equal_groups);
    return check_done();
}
