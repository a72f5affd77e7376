/* SPDX-License-Identifier: MIT */
/* Walking a dataflow from C: stages, their facts and loops, handles as operands of steps, the group of a schedule
 * function. */
#include <string.h>

#include "check.h"
#include "loopwright.h"

static const char *first_message(lw_context *cx)
{
    const char *text = lw_diagnostic(cx, 0, NULL);
    return text ? text : "";
}

static bool equal(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Statements, separated by ';'. */
static lw_computation *define(lw_context *cx, const char *statements)
{
    lw_computation *p = lw_define(cx, "walk", "x86-avx2");
    char one[200];
    for (const char *s = statements; *s; s += strcspn(s, ";"), s += *s == ';') {
        snprintf(one, sizeof one, "%.*s", (int)strcspn(s, ";"), s);
        lw_statement(p, one);
    }
    return p;
}

static const char diamond[] = "size n = 1..4;input x: f32[n][8][8][4];const k: f32[1][1][4][2] = [1,2,3,4,5,6,7,8];"
                              "c = conv2d(x, k);p = relu(c);q = sigmoid(c);y = add(p, q);output y";
static const char matmul[] = "input a: f32[4][6];input b: f32[6][8];c[i, j] = sum(k) a[i, k] * b[k, j];"
                             "y[i, j] = max(c[i, j], 0);output y";

/* ---- Visiting ---------------------------------------------------------------------------------------------------- */

static void list_name(lw_group *g, const lw_stage *s, void *user)
{
    (void)g;
    strcat(user, lw_stage_name(s));
    strcat(user, " ");
}

static void inline_it(lw_group *g, const lw_stage *s, void *user)
{
    list_name(g, s, user);
    if (equal(lw_stage_pattern(s), "elementwise") && !lw_stage_is_output(s)) lw_compute_inline(g, s, NULL);
}

static void drop_consumers(lw_group *g, const lw_stage *s, void *user)
{
    list_name(g, s, user);
    if (equal(lw_stage_name(s), "c")) lw_compute_inline(g, "@elementwise", NULL);
}

static void test_visit(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = define(cx, diamond);
    char seen[100] = "", again[100] = "", after[100] = "", dropped[100] = "";
    lw_visit(p, list_name, seen);
    lw_visit(p, list_name, again);
    check_that(equal(seen, "x k c p q y "), "lw_visit: each stage once, producers first", "%s %s", seen,
               first_message(cx));
    CHECK("calls that a callback may repeat are pure", equal(seen, again) && !strstr(lw_text(p), "schedule"));
    lw_visit(p, inline_it, after);
    CHECK("a visitor may apply steps to the stage that it visits",
          equal(after, "x k c p q y ") && strstr(lw_text(p), "compute_inline p\n  compute_inline q"));
    p = define(cx, diamond);
    lw_visit(p, drop_consumers, dropped);
    check_that(equal(dropped, "x k c y "), "a stage that a step of the visitor removed is not visited", "%s", dropped);
    lw_visit(NULL, list_name, dropped);
    lw_visit(p, NULL, NULL);
    lw_free(cx);
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

static void test_edges(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = define(cx, diamond);
    const lw_stage *c = lw_find_stage(p, "c", 0), *y = lw_find_stage(p, "@output", 0);
    CHECK("producers, each once", equal(lw_stage_name(lw_stage_producer(c, 0)), "x") &&
          equal(lw_stage_name(lw_stage_producer(c, 1)), "k") && !lw_stage_producer(c, 2));
    CHECK("consumers of a diamond", equal(lw_stage_name(lw_stage_consumer(c, 0)), "p") &&
          equal(lw_stage_name(lw_stage_consumer(c, 1)), "q") && !lw_stage_consumer(c, 2));
    CHECK("consumers of an input", lw_stage_consumer(lw_find_stage(p, "x", 0), 0) == c);
    CHECK("an output has no consumer", !lw_stage_consumer(y, 0) && lw_stage_producer(y, 1) == lw_stage_at(p, 4));
    CHECK("whether it is an output, a constant or an input",
          lw_stage_is_output(y) && !lw_stage_is_output(c) && lw_stage_is_input(lw_stage_at(p, 0)) &&
          !lw_stage_is_constant(lw_stage_at(p, 0)) && lw_stage_is_constant(lw_stage_at(p, 1)) &&
          !lw_stage_is_input(lw_stage_at(p, 1)) && !lw_stage_is_input(c) && !lw_stage_is_constant(c));
    CHECK("plain accessors end with NULL", !lw_stage_at(p, 6) && !lw_stage_at(p, -1) && !lw_find_stage(p, "c", 1) &&
          !lw_find_stage(p, "nosuch", 0) && !lw_find_stage(p, "@elementwise", 2) && !lw_stage_producer(c, -1));
    CHECK("equal handles are equal stages", lw_find_stage(p, "@contraction", 0) == c && lw_stage_at(p, 2) == c);
    CHECK("no lookup reports an error", !lw_diagnostic(cx, 0, NULL));
    lw_free(cx);
}

static void test_ops(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = define(cx, "nest;input x: f32[1][8][8][4];input k: f32[3][3][4][2];"
                                   "c = conv2d(x, k, stride=2);s = softmax(c, axis=3);"
                                   "y[i, h, w, o] = s[i, h, w, o] + 1;output y");
    const lw_stage *c = lw_find_stage(p, "c", 0), *s = lw_find_stage(p, "s", 0), *y = lw_find_stage(p, "y", 0);
    CHECK("operator name", equal(lw_stage_op(c), "conv2d") && equal(lw_stage_op(s), "softmax"));
    CHECK("stages inside a call have its operator", equal(lw_stage_op(lw_stage_producer(s, 0)), "softmax") &&
          lw_find_stage(p, "@op(softmax)", 0) == s && !lw_find_stage(p, "@op(softmax)", 1));
    CHECK("a formula has no operator", !lw_stage_op(y) && !lw_stage_attr(y, "axis") && equal(lw_stage_attrs(y), ""));
    CHECK("an input has no operator", !lw_stage_op(lw_stage_at(p, 0)) && !lw_stage_pattern(lw_stage_at(p, 0)));
    check_that(equal(lw_stage_attr(c, "stride"), "2,2") && equal(lw_stage_attr(c, "pad"), "0,0,0,0") &&
                   equal(lw_stage_attr(c, "groups"), "1") && equal(lw_stage_attr(s, "axis"), "3"),
               "attributes, defaults filled in", "%s", lw_stage_attrs(c));
    CHECK("no such attribute", !lw_stage_attr(c, "nosuch") && !lw_stage_attr(c, NULL));
    CHECK("pattern kinds", equal(lw_stage_pattern(c), "out-fusable") && lw_stage_is_contraction(c) &&
          equal(lw_stage_pattern(y), "elementwise") && equal(lw_stage_pattern(s), "broadcast"));
    p = define(cx, "nest;input x: f32[4][6];a[i, j<5] = x[i, j + 1];b[i] = max(j) x[i, j];t[i ordered] = b[i];"
                   "output a, t");
    CHECK("pattern kinds of formulas", equal(lw_stage_pattern(lw_find_stage(p, "a", 0)), "injective") &&
          equal(lw_stage_pattern(lw_find_stage(p, "b", 0)), "reduction") &&
          equal(lw_stage_pattern(lw_find_stage(p, "t", 0)), "opaque"));
    lw_free(cx);
}

static void test_shapes(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = define(cx, diamond);
    const lw_stage *c = lw_find_stage(p, "c", 0);
    int64_t least = 0, greatest = 0;
    CHECK("type and shape", equal(lw_stage_type(c), "f32") && equal(lw_stage_shape(c), "[n][8][8][2]") &&
          lw_stage_rank(c) == 4 && lw_stage_size(c, 3) == 2);
    CHECK("open sizes", lw_stage_size(c, 0) == -1 && lw_stage_limits(c, 0, &least, &greatest) && least == 1 &&
          greatest == 4 && !lw_stage_limits(c, 4, &least, &greatest) && lw_stage_limits(c, 1, NULL, NULL));
    check_that(equal(lw_stage_axis(c, 0), "n") && equal(lw_stage_axis(c, 4), "i") && !lw_stage_axis(c, 7) &&
                   lw_stage_axis_reduces(c, 4) && !lw_stage_axis_reduces(c, 3) && lw_stage_axis_extent(c, 0) == -1 &&
                   lw_stage_axis_extent(c, 6) == 4,
               "axes", "%s %s", lw_stage_axis(c, 0), lw_stage_axis(c, 4));
    lw_free(cx);
}

static void test_loops(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = define(cx, matmul);
    const lw_stage *c = lw_find_stage(p, "c", 0), *y = lw_find_stage(p, "y", 0);
    const lw_loop *i = lw_stage_loop(c, 0), *k = lw_stage_loop(c, 2);
    CHECK("loops, outermost first", equal(lw_loop_name(i), "c.i") && equal(lw_loop_name(k), "c.k") &&
          !lw_stage_loop(c, 3) && lw_loop_outer(k) == lw_stage_loop(c, 1) && !lw_loop_outer(i));
    CHECK("facts of a loop", lw_loop_extent(k) == 6 && lw_loop_reduces(k) && !lw_loop_reduces(i) &&
          equal(lw_loop_kind(i), "serial") && equal(lw_loop_axis(k), "k") && lw_loop_stage(k) == c);
    lw_compute_at(p, c, lw_stage_loop(y, 1), NULL);
    CHECK("own loops inside another stage's", lw_stage_loop(c, 0) == k && lw_loop_outer(k) == lw_stage_loop(y, 1));
    lw_fuse(p, lw_stage_loop(y, 0), lw_stage_loop(y, 1), "name=ij");
    const lw_loop *fused = lw_stage_loop(y, 0);
    check_that(equal(lw_loop_name(fused), "y.ij") && !lw_loop_axis(fused) && lw_loop_extent(fused) == 32,
               "a fused loop has several axes", "%s %s", lw_loop_name(fused), first_message(cx));
    lw_split(p, k, 3, "names=ko,ki");
    CHECK("a consumed loop has the results of NULL", lw_loop_extent(k) == 0 && !lw_loop_kind(k) && !lw_loop_stage(k) &&
          lw_find_loop(p, "c.ki") == lw_stage_loop(c, 1) && !lw_find_loop(p, "c.k"));
    CHECK("loops of roles", lw_find_loop(p, "@contraction.ko") == lw_stage_loop(c, 0) && !lw_find_loop(p, "@output.q"));
    lw_unroll(p, lw_find_loop(p, "@contraction.ki"), NULL);
    CHECK("the kind of a loop after a step", equal(lw_loop_kind(lw_stage_loop(c, 1)), "unrolled"));
    CHECK("no lookup of a loop reports an error", !lw_diagnostic(cx, 0, NULL));
    lw_unroll(p, k, NULL);
    CHECK("a step on a consumed loop names its successors", strstr(first_message(cx), "c.k is consumed by step 3"));
    lw_free(cx);
}

/* ---- Handles as operands ----------------------------------------------------------------------------------------- */

/* Every step with handles, and the text that it becomes. */
static void apply_handles(lw_computation *p)
{
    const lw_stage *c = lw_find_stage(p, "c", 0), *y = lw_find_stage(p, "y", 0), *a = lw_find_stage(p, "a", 0);
    lw_cache_read(p, a, "stack", "name=aa");
    lw_cache_write(p, c, "stack", "name=s");
    const lw_stage *s = lw_find_stage(p, "@contraction", 0);
    lw_compute_inline(p, c, NULL);
    lw_tile(p, lw_stage_loop(y, 0), lw_stage_loop(y, 1), 2, 4, "tail=peel");
    lw_compute_at(p, s, lw_stage_loop(y, 1), NULL);
    lw_set_scope(p, s, "register", NULL);
    const lw_loop *order[] = { lw_find_loop(p, "s.k"), lw_find_loop(p, "s.i"), lw_find_loop(p, "s.j") };
    lw_reorder(p, lw_loop_names(order, 3), NULL);
    lw_decompose_reduction(p, s, order[0], NULL);
    lw_split(p, order[0], 0, "parts=3");
    lw_unroll(p, lw_find_loop(p, "s.ki"), NULL);
    lw_vectorize(p, order[2], NULL);
    lw_prefetch(p, lw_find_stage(p, "b", 0), lw_find_loop(p, "s.ko"), 1, NULL);
    lw_pragma(p, lw_stage_loop(y, 2), "unroll 2", NULL);
    lw_store_at(p, lw_find_stage(p, "aa", 0), NULL, NULL);
    lw_storage_align(p, lw_find_stage(p, "aa", 0), 8, NULL);
    lw_pack(p, lw_find_stage(p, "aa", 0), "d1 d0", NULL);
}

static const char *const as_text[] = {
    "cache_read a stack name=aa", "cache_write c stack name=s", "compute_inline c", "tile y.i y.j 2 4 tail=peel",
    "compute_at s y.jo", "set_scope s register", "reorder s.k s.i s.j", "decompose_reduction s s.k",
    "split s.k parts=3",
    "unroll s.ki", "vectorize s.j", "prefetch b s.ko 1", "pragma y.ii unroll 2", "store_at aa root",
    "storage_align aa 8", "pack aa d1 d0",
};

static void test_steps_by_value(void)
{
    lw_context *cx = lw_new();
    lw_computation *by_value = define(cx, matmul), *by_name = define(cx, matmul);
    apply_handles(by_value);
    for (size_t i = 0; i < sizeof as_text / sizeof as_text[0]; i++) lw_step(by_name, as_text[i]);
    check_that(!lw_diagnostic(cx, 0, NULL) && equal(lw_text(by_value), lw_text(by_name)),
               "steps take stages and loops as values", "%s\n%s", lw_text(by_value) ? lw_text(by_value) : "",
               first_message(cx));
    lw_free(cx);
}

typedef bool WrongStep(lw_computation *p, lw_computation *other);
static bool foreign(lw_computation *p, lw_computation *other)
{
    return lw_unroll(p, lw_stage_loop(lw_find_stage(other, "c", 0), 0), NULL);
}
static bool stage_as_loop(lw_computation *p, lw_computation *other)
{
    (void)other;
    return lw_unroll(p, lw_find_stage(p, "c", 0), NULL);
}
static bool loop_as_stage(lw_computation *p, lw_computation *other)
{
    (void)other;
    return lw_compute_root(p, lw_find_loop(p, "c.i"), NULL);
}
static bool nothing(lw_computation *p, lw_computation *other)
{
    (void)other;
    return lw_unroll(p, lw_find_loop(p, "c.nosuch"), NULL);
}
static bool inlined(lw_computation *p, lw_computation *other)
{
    (void)other;
    const lw_stage *d = lw_find_stage(p, "d", 0);
    lw_compute_inline(p, d, NULL);
    return !lw_stage_type(d) && lw_compute_root(p, d, NULL);
}
static bool misspelt(lw_computation *p, lw_computation *other)
{
    (void)other;
    return lw_find_stage(p, "@contracton", 0) != NULL;
}
static bool misspelt_loop(lw_computation *p, lw_computation *other)
{
    (void)other;
    return lw_find_loop(p, "@producer.k") != NULL;
}

static void test_wrong_handles(void)
{
    static const struct { WrongStep *step; const char *name, *why; } cases[] = {
        { foreign, "a handle of another computation is refused", "lw_unroll: LOOP is the loop c.i of another" },
        { stage_as_loop, "a stage where a loop is expected is refused", "lw_unroll: LOOP is the stage c" },
        { loop_as_stage, "a loop where a stage is expected is refused", "lw_compute_root: STAGE is the loop c.i" },
        { nothing, "the loop that was not found is refused", "lw_unroll: LOOP is NULL" },
        { inlined, "a handle of an inlined stage is refused", "there is no stage d; use c, y" },
        { misspelt, "a misspelt role is an error of the caller", "there is no role @contracton; use @contract" },
        { misspelt_loop, "a role without its argument is an error", "use @producer(NAME)" },
    };
    static const char text[] = "input a: f32[4][6];input b: f32[6][8];c[i, j] = sum(k) a[i, k] * b[k, j];"
                               "d[i, j] = c[i, j] + 1;y[i, j] = d[i, j] * 2;output y";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lw_context *cx = lw_new();
        bool taken = cases[i].step(define(cx, text), define(cx, text));
        check_that(!taken && strstr(first_message(cx), cases[i].why), check_label(cases[i].name, "is-refused"), "%s",
                   first_message(cx));
        lw_free(cx);
    }
}

static void test_null(void)
{
    int64_t least;
    CHECK("a NULL handle has the results of NULL",
          !lw_stage_name(NULL) && !lw_stage_op(NULL) && !lw_stage_node(NULL) && !lw_stage_attr(NULL, "axis") &&
          !lw_stage_attrs(NULL) && !lw_stage_pattern(NULL) && !lw_stage_is_contraction(NULL) &&
          !lw_stage_is_output(NULL) && !lw_stage_is_input(NULL) && !lw_stage_is_constant(NULL) &&
          !lw_stage_type(NULL) && !lw_stage_shape(NULL) && !lw_stage_rank(NULL) && !lw_stage_size(NULL, 0) &&
          !lw_stage_limits(NULL, 0, &least, &least) && !lw_stage_axis(NULL, 0) && !lw_stage_axis_extent(NULL, 0) &&
          !lw_stage_axis_reduces(NULL, 0) && !lw_stage_loop(NULL, 0) && !lw_stage_producer(NULL, 0) &&
          !lw_stage_consumer(NULL, 0));
    CHECK("a NULL loop or group has the results of NULL",
          !lw_loop_name(NULL) && !lw_loop_extent(NULL) && !lw_loop_kind(NULL) && !lw_loop_reduces(NULL) &&
          !lw_loop_axis(NULL) && !lw_loop_stage(NULL) && !lw_loop_outer(NULL) && !lw_loop_names(NULL, 2) &&
          !lw_find_loop(NULL, "c.i") && !lw_stage_at(NULL, 0) && !lw_find_stage(NULL, "c", 0) &&
          !lw_group_target(NULL) && !lw_group_has(NULL, "fma") && !lw_group_user(NULL) && !lw_group_anchor(NULL) &&
          !lw_group_output(NULL));
}

/* ---- The group of a schedule function ---------------------------------------------------------------------------- */

typedef struct Facts { char stages[100], target[40], shape[40], node[40]; bool has, steps, refuses; } Facts;

static bool look(lw_context *cx, lw_group *g)
{
    Facts *f = lw_group_user(g);
    if (!f) return false;
    const lw_stage *sum = lw_find_stage(g, "@contraction", 0), *out = lw_find_stage(g, "@output", 0);
    f->stages[0] = 0;
    lw_visit(g, list_name, f->stages);
    snprintf(f->target, sizeof f->target, "%s lanes %d", lw_group_target(g)->name, lw_group_target(g)->lanes);
    snprintf(f->shape, sizeof f->shape, "%s", lw_stage_shape(sum));
    snprintf(f->node, sizeof f->node, "%s", lw_stage_node(sum));
    f->has = lw_group_has(g, "fma") && !lw_group_has(g, "dsp");
    lw_compute_inline(g, "@elementwise", NULL);
    f->steps = lw_compute_at(g, sum, lw_stage_loop(out, 0), NULL) && lw_try(g, "unroll nosuch") != NULL &&
        equal(lw_group_anchor(g), lw_stage_name(sum)) && equal(lw_group_output(g), lw_stage_name(out));
    (void)cx;
    return f->steps;
}

static bool refused(lw_context *cx, lw_group *g)
{
    bool *is_refused = lw_group_user(g);
    *is_refused = !lw_text(g) && strstr(first_message(cx), "call lw_text with a computation of lw_define");
    return true;
}

static bool dump(lw_context *cx, lw_schedule *s, void *user)
{
    static const char model[] = "input x: f32[2][6]\ninput w: f32[6][4]\nd = dense(x, w)\nb = add(d, d)\ny = relu(b)\n"
                                "output y\n";
    const lw_implementation one = { .name = "looking", .plevel = 99, .schedule = s, .user = user };
    lw_write(cx, "test_walk.te", model);
    lw_register_strategy(cx, "dense", "generic", &one, 1);
    const bool ok = lw_dump(cx, "test_walk.te", &(lw_options){ .target = "x86-avx2", .at = "scheduled" }) != NULL;
    remove("test_walk.te");
    return ok;
}

static void test_group(void)
{
    lw_context *cx = lw_new();
    Facts f = { .has = false };
    const bool ok = dump(cx, look, &f);
    CHECK("a schedule function gets its row's user pointer", *f.stages);
    check_that(ok && f.steps, "a schedule function walks its group and applies steps", "%s", first_message(cx));
    check_that(equal(f.stages, "x w dense add relu "), "the stages of a group", "%s", f.stages);
    CHECK("the shape of a group's stage", equal(f.shape, "[2][4]") && equal(f.node, "d"));
    check_that(f.has && strncmp(f.target, "x86-avx2 lanes ", 15) == 0, "the target with its features", "%s", f.target);
    lw_free(cx);
    cx = lw_new();
    bool is_refused = false;
    dump(cx, refused, &is_refused);
    CHECK("a group has no statements", is_refused);
    lw_free(cx);
}

int main(void)
{
    CHECK_RUN(test_visit, test_edges, test_ops, test_shapes, test_loops, test_steps_by_value, test_wrong_handles,
              test_null, test_group);
    return check_done();
}
