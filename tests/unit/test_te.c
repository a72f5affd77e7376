/* SPDX-License-Identifier: MIT */
/* .te files: accepted texts, their values, their schedule, and errors with line, column and caret. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "context/context.h"
#include "graph/dag/op.h"
#include "import/te/te.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/formula.h"
#include "ir/text/step.h"
#include "schedule/program.h"
#include "support/names.h"
#include "support/text.h"

static const char *first_error(Ctx *cx)
{
    for (const Diag *d = cx->diags; d; d = d->next)
        if (d->severity >= ERROR) return diag_text(cx, d);
    return "";
}

static const char matmul_schedule[] =
    "# rows of a times columns of b\n"
    "nest\n"
    "size n in 1..64            # symbolic\n"
    "input a: f32[n][3]\n"
    "const b: f32[3][2] = { {1, 2}, {3, 4},\n"
    "                       {5, -6.5} }   # goes on while a bracket is open\n"
    "c[i, j] = sum(k) (a[i, k] *\n"
    "  b[k, j])\n"
    "y = relu(c)\n"
    "output y\n"
    "\n"
    "schedule                   # steps\n"
    "  split c.i 8 names=io,ii  # a comment\n"
    "\n"
    "  reorder c.j c.ii\n";

static void test_model(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool ok = te_read(cx, "dir/mm.te", matmul_schedule, NULL, &m);
    check_that(ok && text_equal(m.name, "mm") && m.input_count == 1 && m.output_count == 1 && m.schedule_count == 1,
               "a file with a schedule", "%s", first_error(cx));
    if (!ok) return;
    CHECK("steps are the text without comments",
          m.schedule->step_count == 2 && !m.schedule->group
              && text_equal(m.schedule->step[0].text, "split c.i 8 names=io,ii")
              && text_equal(m.schedule->step[1].text, "reorder c.j c.ii"));
    CHECK("in a nest a call is its computes",
          m.output[0]->producer->kind == NODE_COMPUTE && text_equal(m.output[0]->producer->stage->name, "y"));
    CHECK("the default place of diagnostics is given back", cx->file == NULL);
    Env *env = env_new(cx);
    float a[] = { 1, 2, 3, -1, -1, -1 };
    static const float expected[] = { 22, 0, 0, 0.5f };
    env_set_size(env, m.input[0]->shape[0], 2);
    env_set(env, m.input[0], a);
    bool same = evaluate(cx, env, m.output, 1);
    for (int i = 0; same && i < 4; i++) same = ((float *)env_get(env, m.output[0]))[i] == expected[i];
    check_that(same, "the values of a file", "%s", first_error(cx));
    const Nest *n = nest_naive(cx, "mm", m.input, m.input_count, m.output, m.output_count);
    for (int i = 0; i < m.schedule->step_count; i++) n = sched_written(cx, n, &m.schedule->step[i]);
    check_that(!ctx_failed(cx) && n && n->step_count == 2, "the steps of a file are accepted", "%s", first_error(cx));
    Path path;
    CHECK("a step's names stand in the nest", n && nest_find_loop(n, "c.ii", &path));
    ctx_free(cx);
}

/* ---- Functions of steps ------------------------------------------------------------------------------------------ */

typedef struct FunctionCase { const char *name, *lines, *steps; } FunctionCase;

static const char functions_head[] =
    "nest\n"
    "input a: f32[8][16]\n"
    "input b: f32[16][8]\n"
    "t[i, j] = a[i, j] * 2\n"
    "u[i, j] = t[i, j] + 1\n"
    "c[i, j] = sum(k) u[i, k] * b[k, j]\n"
    "output c\n"
    "schedule tiled(S, m, n):       # a product in tiles\n"
    "  tile S.i S.j m n\n"
    "  inner(S.k, 4)\n"
    "schedule inner(L, n):\n"
    "  if extent(L) % n == 0 && exists(L):\n"
    "    split L n\n"
    "  else:\n"
    "    unroll L\n"
    "schedule again(n):\n"
    "  again(n)\n"
    "schedule\n";

/* The steps that the nest has then, or the error. */
static const FunctionCase function_cases[] = {
    { "functions-call-functions", "  tiled(c, 4, 8)\n", "tile c.i c.j 4 8; split c.k 4; " },
    { "functions-take-roles", "  tiled(@contraction, 2, 2)\n", "tile c.i c.j 2 2; split c.k 4; " },
    { "else-of-a-condition", "  inner(c.k, 5)\n", "unroll c.k; " },
    { "for-each-stage-of-a-role", "  for S in @elementwise:\n    compute_inline S\n",
      "compute_inline u; compute_inline t; " },
    { "for-each-of-a-list", "  for F in 2, 4:\n    for S in t, u:\n      if F > 2 || extent(S.j) != 16:\n"
      "        split S.i F\n  vectorize t.ii\n", "split t.i 4; split u.i 4; vectorize t.ii; " },
    { "a-condition-on-a-feature", "  if has(fma):\n    unroll c.k\n", "" },
    { "a-loop-of-no-stage", "  for S in @op(conv2d):\n    compute_inline S\n", "" },
    { "an-argument-too-few", "  tiled(c, 4)\n", "tiled has 3 parameters; use as many arguments" },
    { "a-function-without-an-end", "  again(1)\n", "functions call each other more than 32 deep" },
    { "no-colon", "  if 1 < 2\n    unroll c.k\n", "the line ends without a colon" },
    { "no-block", "  if 1 < 2:\n  unroll c.k\n", "no lines belong to this one; indent the steps below it deeper" },
    { "else-alone", "  else:\n    unroll c.k\n", "there is no `if` before this line" },
    { "not-a-condition", "  if extent(c.k) + 1:\n    unroll c.k\n", "'16 + 1' is not true or false" },
    { "extent-of-no-loop", "  if extent(c.q) < 3:\n    unroll c.k\n", "there is no loop c.q" },
    { "not-a-loop", "  for S:\n    unroll c.k\n", "this loop has no list; write `for NAME in LIST:`" },
    { "not-a-role", "  for S in @sum:\n    unroll c.k\n", "@sum" },
    { "a-refusal-is-at-its-line", "  inner(c.z, 4)\n", "12:3: error: there is no loop c.z" },
    { "a-function-that-is-none", "  tile8(c)\n", "tile8(c)" },
};

static void test_functions(void)
{
    for (size_t i = 0; i < sizeof function_cases / sizeof function_cases[0]; i++) {
        const FunctionCase *c = &function_cases[i];
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        Text found = text_new(cx);
        te_read(cx, "f.te", text_format(cx, "%s%s", functions_head, c->lines), NULL, &m);
        const Nest *n = nest_naive(cx, "f", m.input, m.input_count, m.output, m.output_count);
        n = n ? sched_program(cx, n, m.functions, m.schedule->step, m.schedule->step_count) : NULL;
        for (int s = 0; n && s < n->step_count; s++) text_printf(&found, "%s; ", step_text(cx, &n->step[s]));
        const bool same = ctx_failed(cx) ? *c->steps && strstr(first_error(cx), c->steps) != NULL
                                         : text_equal(text_string(&found), c->steps);
        check_that(same, c->name, "%s%s", text_string(&found), first_error(cx));
        ctx_free(cx);
    }
}

static void test_calls_alone(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool ok = te_read(cx, "net.te",
                      "input x: f32[1][8][8][3]\nconst w: f32[3][3][3][4] = {..}\n"
                      "a = conv2d(x, w, stride=2,2, pad=[1,1,1,1])\nb = exp(a)\ns = softmax(b, axis=-1)\noutput s, a\n",
                      NULL, &m);
    check_that(ok, "calls alone", "%s", first_error(cx));
    if (ok) {
        CHECK("calls stay calls",
              m.output[0]->producer->kind == NODE_CALL && text_equal(m.output[0]->producer->op->name, "softmax"));
        CHECK("attributes and shapes", text_equal(tensor_shape_text(cx, m.output[1]), "[1][4][4][4]")
                                           && node_int(m.output[0]->producer, "axis", 0) == -1);
        CHECK("a function's name calls the operator on a whole tensor",
              m.output[0]->producer->in[0]->producer->kind == NODE_CALL);
        CHECK("tensors have the names of the file",
              text_equal(m.output[0]->name, "s") && text_equal(m.output[1]->name, "a"));
    }
    ctx_free(cx);
}

/* Two calls of one operator in a nest: the results' names distinguish their stages. */
static void test_expanded_names(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool ok = te_read(cx, "two.te",
                      "nest\ninput x: f32[2][3]\np = softmax(x)\nq = softmax(p)\nz[*] = q[*] + 1\noutput z\n", NULL,
                      &m);
    const Nest *n = ok ? nest_naive(cx, "two", m.input, 1, m.output, 1) : NULL;
    check_that(n && n->stage_count == 9 && nest_stage(n, "p") && nest_stage(n, "q_sum"),
               "stages of calls have names of their own", "%s", first_error(cx));
    ctx_free(cx);
}

static void test_options(void)
{
    ImportDim dims[] = { { "n", 5, false, 0 }, { "m", 7, true, 0 } };
    ImportOptions o = { .dim_count = 2, .dim = dims };
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool ok = te_read(cx, "d.te", "size n in 1..9\nsize m in 2..9\ninput x: f32[n][m]\ny[*] = x[*] * 2\noutput y", &o,
                      &m);
    check_that(ok && tensor_dim(m.input[0], 0) == 5 && expr_as_var(m.input[0]->shape[1])->greatest == 7,
               "sizes from the command line", "%s", first_error(cx));
    ctx_free(cx);
}

/* After every step the nest prints as text that reads back and prints the same again. */
static void test_nests_between_steps(void)
{
    static const char text[] = "nest\nsize n in 1..40\ninput x: f32[n][18]\nconst w: f32[3] = {1, 2, 1}\n"
                               "a[i, j<16] = sum(k) x[i, j + k] * w[k]\nb[*] = max(a[*], 0)\np, v[i] = argmax(j) b[i, "
                               "j]\nm[i, l<2] = max(j<8) b[i, l * 8 + j]\n"
                               "output p, m\nschedule\n  compute_inline b\n  split a.j 5 names=jo,ji\n  split a.i 4 "
                               "tail=peel\n  reorder a.jo a.ii\n  unroll a.k\n"
                               "  split p.j 4\n  fuse m.i m.l\n  decompose_reduction m m.j\n";
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    const Nest *n = te_read(cx, "s.te", text, NULL, &m)
                        ? nest_naive(cx, "s", m.input, m.input_count, m.output, m.output_count)
                        : NULL;
    for (int i = 0; n && i < m.schedule->step_count && !ctx_failed(cx); i++) {
        n = sched_written(cx, n, &m.schedule->step[i]);
        Ctx *other = context_new(NULL, NULL);
        Text first = text_new(cx), second = text_new(other);
        print_nest(cx, &first, n);
        const Nest *again = nest_read(other, text_string(&first));
        if (again) print_nest(other, &second, again);
        check_that(again && text_equal(text_string(&first), text_string(&second)),
                   name_format(cx, "read back after %s", m.schedule->step[i].text), "%s\n%s\n%s", first_error(other),
                   text_string(&first), text_string(&second));
        ctx_free(other);
    }
    check_that(n && n->step_count == m.schedule->step_count, "every step was accepted", "%s", first_error(cx));
    ctx_free(cx);
}

typedef struct Refusal { const char *name, *text, *error; } Refusal;

/* One value needs no brackets. */
static void test_scalars(void)
{
    static const char *const texts[] = { "const s: f32 = -0.5", "const s: f32 = [-0.5]", "const s: f32 = {-0.5}" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m = { 0 };
        const bool ok = te_read(cx, "s.te", text_format(cx, "input x: f32[2]\n%s\ny = mul(x, s)\noutput y\n", texts[i]),
                                NULL, &m);
        const Tensor *s = ok && m.output[0]->producer ? m.output[0]->producer->in[1] : NULL;
        check_that(s && tensor_is_constant(s) && dtype_load(F32, s->data, 0).f == -0.5, texts[i], "%s",
                   first_error(cx));
        ctx_free(cx);
    }
}

static const Refusal refusals[] = {
    { "values-without-brackets", "input a: f32[2]\nconst s: f32[2] = 0.5\n",
      "e.te: 2:19: error: '[' is expected before the values, not '0.5'\n  const s: f32[2] = 0.5\n"
      "                    ^^^" },
    { "no-output", "input a: f32[3]\n", "e.te: error: there is no output; write `output NAME`" },
    { "formula-at-its-line", "input a: f32[3]\n\ny[i] = a[i] + aa[i]\n",
      "e.te: 3:15: error: 'aa' is not a tensor here; did you mean 'a'?\n  y[i] = a[i] + aa[i]\n                ^^" },
    { "tabs-keep-the-caret-right", "input a: f32[3]\ny[i] =\ta[i] + 1 1\n",
      "e.te: 2:17: error: '1' is not expected here\n  y[i] =\ta[i] + 1 1\n        \t         ^" },
    { "continued-line-shows-its-own", "input a: f32[3]\ny[i] = (a[i]\n  + a[i, 0])\n",
      "e.te: 3:5: error: 'a' is f32[3], of rank 1, but is read with 2 indices\n    + a[i, 0])\n      ^" },
    { "unknown-operator", "input a: f32[3]\ny = rellu(a)\noutput y\n",
      "e.te: 2:5: error: there is no operator 'rellu'; did you mean 'relu'?\n  y = rellu(a)\n      ^^^^^" },
    { "unknown-tensor-of-call", "input abc: f32[3]\ny = relu(abd)\n",
      "e.te: 2:10: error: 'abd' is not a tensor here; did you mean 'abc'?\n  y = relu(abd)\n           ^^^" },
    { "too-many-results", "input a: f32[3]\ny, z = relu(a)\n",
      "e.te: 2:4: error: 'relu' has 1 result; use at most as many names\n  y, z = relu(a)\n     ^" },
    { "defined-twice", "input a: f32[3]\na = relu(a)\n",
      "e.te: 2:1: error: 'a' is already defined; use a new name\n  a = relu(a)\n  ^" },
    { "size-and-tensor", "size a in 1..3\ninput a: f32[3]\n",
      "e.te: 2:7: error: 'a' is already defined; use a new name\n  input a: f32[3]\n        ^" },
    { "bad-type", "input a: float[3]\n",
      "e.te: 1:10: error: an element type such as f32 or i8 is expected, not 'float'\n  input a: float[3]\n           "
      "^^^^^" },
    { "bad-size", "size n in 5\n",
      "e.te: 1:12: error: '..' is expected after the smallest value, not the end\n  size n in 5\n             ^" },
    { "unknown-size", "input a: f32[m]\n",
      "e.te: 1:14: error: 'm' is not known here\n  input a: f32[m]\n               ^" },
    { "too-few-values", "const a: i8[2][2] = {{1, 2}, {3}}\n",
      "e.te: 1:21: error: 4 values are expected, not 3\n  const a: i8[2][2] = {{1, 2}, {3}}\n                      ^" },
    { "value-too-large", "const a: i8[2] = {1, 200}\n",
      "e.te: 1:22: error: 200 does not fit in i8; use -128 to 127\n"
      "  const a: i8[2] = {1, 200}\n                       ^^^" },
    { "const-symbolic", "size n in 1..2\nconst a: i8[n] = {1}\n",
      "e.te: 2:7: error: the constant 'a' is [n]; use numbers as its sizes\n  const a: i8[n] = {1}\n        "
      "^" },
    { "huge-const", "const a: i8[65536][65536] = {1}\n",
      "e.te: 1:7: error: tensor \"a\" [65536][65536] has 4294967296 elements; use at most 2147483647, because "
      "indices have "
      "32 bits\n  const a: i8[65536][65536] = {1}\n        ^" },
    { "large-const", "const a: i8[4096][8192] = {1}\n",
      "e.te: 1:27: error: the tensor has 33554432 elements; use a list of values for up to 16777216\n"
      "  const a: i8[4096][8192] = {1}\n                            ^" },
    { "elements-beyond-32-bits", "input x: f32[65536][65536]\n",
      "e.te: 1:7: error: tensor \"x\" [65536][65536] has 4294967296 elements; use at most 2147483647, because "
      "indices have 32 bits\n  input x: f32[65536][65536]\n        ^" },
    { "elements-beyond-64-bits", "input x: f32[2097152][2097152][2097152]\n",
      "e.te: 1:7: error: tensor \"x\" [2097152][2097152][2097152] has up to 9223372036854775807 elements; use at most "
      "2147483647, because indices have 32 bits\n  input x: f32[2097152][2097152][2097152]\n        ^" },
    { "elements-of-greatest-size", "size n in 1..65536\ninput x: f32[n]\ny[i,j] = x[i] * x[j]\noutput y\n",
      "e.te: 3:1: error: tensor \"y\" [n][n] has up to 4294967296 elements; use at most 2147483647, because "
      "indices have 32 bits\n  y[i,j] = x[i] * x[j]\n  ^" },
    { "elements-of-a-call", "input x: f32[65536][1]\ninput z: f32[1][65536]\ny = add(x, z)\noutput y\n",
      "e.te: 3:5: error: " },
    { "size-that-wraps", "input x: f32[65536*65536]\n",
      "e.te: 1:19: error: this size may be 4294967296; use at most 2147483647\n  input x: "
      "f32[65536*65536]\n"
      "                    ^" },
    { "size-that-may-wrap", "size n in 1..2147483647\ninput x: f32[n]\ny[i<n+1] = x[0]\noutput y\n",
      "e.te: 3:6: error: this size may be 2147483648; use at most 2147483647\n  y[i<n+1] = x[0]\n       "
      "^" },
    { "size-shifted-out", "size n in 1..2\ninput x: f32[n<<30]\n",
      "e.te: 2:15: error: this size may be 2147483648; use at most 2147483647\n  input x: f32[n<<30]\n"
      "                ^^" },
    { "data-leads-into-an-empty-tensor",
      "size n in 0..4\ninput x: f32[n]\ninput at: i32[2]\ny[i] = x[at[i]]\noutput y\n",
      "e.te: 4:10: error: index 0 of 'x' depends on data, but x[n] may be empty; use at least 1 element\n  "
      "y[i] = x[at[i]]\n"
      "           ^^" },
    { "output-unknown", "input a: f32[3]\nyes[i] = a[i]\noutput yas\n",
      "e.te: 3:8: error: 'yas' is not a tensor here; did you mean 'yes'?\n  output yas\n         ^^^" },
    { "output-of-input", "input a: f32[3]\noutput a\n",
      "e.te: 2:8: error: 'a' is not computed, so it cannot be an output; use the result of a statement\n  output "
      "a\n         ^" },
    { "string-does-not-end", "const a: f32[1] = \"x.npy\n",
      "e.te: 1:19: error: this string does not end on its line\n  const a: f32[1] = \"x.npy\n                    ^" },
    { "promise-not-kept", "promise s: f32[3]\ninput a: f32[3]\ny[i] = a[i] + s[i]\noutput y\n",
      "e.te: error: 's' is promised, but no formula produces it" },
    { "promise-of-another-shape", "promise s: f32[4]\ninput a: f32[3]\ns[t ordered] = a[t] + (s[t-1]? : 0)\n",
      "e.te: 3:1: error: 's' is promised as f32[4], and this is f32[3]\n  s[t ordered] = a[t] + (s[t-1]? : 0)\n  ^" },
    { "circle-without-steps",
      "promise s: f32[3]\ninput a: f32[3]\nv[t] = s[t] * 2\ns[t ordered] = a[t] + v[t]\noutput s\n",
      "e.te: 4:1: error: v: it is on a cycle of reads; use an ordered first axis\n  s[t ordered] = a[t] + "
      "v[t]\n  ^" },
    { "reads-itself-without-steps", "promise s: f32[3]\ninput a: f32[3]\ns[t] = a[t] + s[t]\noutput s\n",
      "e.te: 3:1: error: s: it is on a cycle of reads; use an ordered first axis\n  s[t] = a[t] + s[t]\n  ^" },
    { "operator-refuses", "input a: f32[3]\ny = softmax(a, axis=4)\n", "e.te: 2:5: error: " },
    { "unknown-attribute", "input a: f32[3]\ny = softmax(a, axes=0)\n", "e.te: 2:5: error: " },
    { "step-at-its-line", "nest\ninput a: f32[8]\ny[i] = a[i]\noutput y\nschedule\n  split y.j 4   # no such loop\n",
      "e.te: 6:3: error: " },
};

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        bool ok = te_read(cx, "e.te", refusals[i].text, NULL, &m);
        if (ok && m.schedule_count) {
            sched_written(cx, nest_naive(cx, "e", m.input, m.input_count, m.output, m.output_count), m.schedule->step);
            ok = !ctx_failed(cx);
        }
        const char *wanted = refusals[i].error, *found = first_error(cx);
        bool is_prefix = wanted[strlen(wanted) - 1] == ' ';       /* the rest belongs to another's tests */
        bool same = is_prefix ? strncmp(found, wanted, strlen(wanted)) == 0 && strchr(found, '^')
                              : text_equal(found, wanted);
        check_that(!ok && same, name_format(cx, "refuse %s", refusals[i].name), "\n%s\ninstead of\n%s", found, wanted);
        ctx_free(cx);
    }
}

/* Beginnings of a file, and the file without one of its bytes, are read or refused. */
static void test_mutilated(void)
{
    int silent = 0, read = 0, refused = 0;
    size_t length = strlen(matmul_schedule);
    for (size_t cut = 0; cut < 2 * length; cut++) {
        Ctx *cx = context_new(NULL, NULL);
        Text t = text_new(cx);
        Model m;
        text_addn(&t, matmul_schedule, cut % length);
        if (cut >= length) text_add(&t, matmul_schedule + cut % length + 1);
        bool ok = te_read(cx, "cut.te", text_string(&t), NULL, &m);
        silent += ok == ctx_failed(cx);
        read += ok;
        refused += !ok;
        ctx_free(cx);
    }
    check_that(!silent && read > 50 && refused > 50, "a file is read or refused with a reason",
               "%d read, %d refused, %d silent", read, refused, silent);
}

/* Computes that read one another without end: refused before anything follows them down. A nest may have fewer than a
 * file of calls. */
static void test_long_chains(void)
{
    static const char *const forms[] = { "a%d[i] = a%d[i] + 1.0\n", "a%d = relu(a%d)\n", "a%d = log_softmax(a%d)\n" };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        Ctx *cx = context_new(NULL, NULL);
        Text t = text_new(cx);
        Model m;
        text_add(&t, f == 0 ? "nest\ninput a0: f32[4]\n" : "input a0: f32[4]\n");
        for (int i = 1; i <= 200000; i++) text_printf(&t, forms[f], i, i - 1);
        text_add(&t, "output a200000\n");
        bool ok = te_read(cx, "long.te", text_string(&t), NULL, &m);
        const char *expected = f == 0
                                   ? "long.te: 2049:1: error: there are more than 2048 statements in one nest"
                                   : "long.te: 200001:1: error: there are more than 200000 statements; use fewer";
        check_that(!ok && strstr(first_error(cx), expected), "long chain", "%s", first_error(cx));
        ctx_free(cx);
    }
    Ctx *cx = context_new(NULL, NULL);
    Text t = text_new(cx);
    Model m;
    text_add(&t, "nest\ninput a0: f32[4]\n");
    for (int i = 1; i <= 2000; i++) text_printf(&t, forms[2], i, i - 1);
    text_add(&t, "y[i] = a2000[i]\noutput y\n");
    bool ok = te_read(cx, "long.te", text_string(&t), NULL, &m);
    if (ok) nest_naive(cx, "long", m.input, m.input_count, m.output, m.output_count);
    check_that(strstr(first_error(cx), "a nest of more than 2048 computes") != NULL, "long chain of expanded calls",
               "%s", first_error(cx));
    ctx_free(cx);
}

/* An index that is data is clamped to the tensor; an index with a range inside it is not. */
static void test_indices_from_data(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool ok = te_read(cx, "e.te",
                      "nest\ninput x: i32[3][2]\ninput at: i32[5]\ny[i] = x[at[i], at[i] & 1]\noutput y\n", NULL, &m);
    check_that(ok, "a gather by data is read", "%s", first_error(cx));
    if (!ok) return;
    Env *env = env_new(cx);
    int32_t x[] = { 10, 11, 20, 21, 30, 31 }, at[] = { 0, 2, 3, -1, INT32_MIN };
    static const int32_t expected[] = { 10, 30, 31, 11, 10 };
    env_set(env, m.input[0], x);
    env_set(env, m.input[1], at);
    bool same = evaluate(cx, env, m.output, 1);
    for (int i = 0; same && i < 5; i++) same = ((int32_t *)env_get(env, m.output[0]))[i] == expected[i];
    check_that(same, "an index from data is clamped", "%s", first_error(cx));
    Text text = text_new(cx);
    print_nest(cx, &text, nest_naive(cx, "e", m.input, m.input_count, m.output, m.output_count));
    check_that(strstr(text_string(&text), "x[max(min(at[i],2),0), at[i] & 1]") != NULL,
               "an index that is inside is not clamped", "%s",
               text_string(&text));
    ctx_free(cx);
}

static void test_line_ends(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool ok = te_read(cx, "e.te", "input a: f32[3]\ny[i] = a[i] *\n  a[i]\n", NULL, &m);
    check_that(!ok && strstr(first_error(cx), "e.te: 2:14: error: a value is expected, not the end"),
               "a line ends its statement", "%s", first_error(cx));
    ctx_free(cx);
    cx = context_new(NULL, NULL);
    ok = te_read(cx, "crlf.te", "input a: f32[3]\r\ny[i] = a[i]\r\noutput y\r\nschedule\r\n  split y.i 2\r\n", NULL,
                 &m);
    check_that(ok && text_equal(m.schedule->step[0].text, "split y.i 2"), "lines may end in CR LF", "%s",
               first_error(cx));
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(test_model, test_functions, test_scalars, test_calls_alone, test_expanded_names, test_options,
              test_nests_between_steps, test_refusals, test_indices_from_data, test_line_ends, test_long_chains,
              test_mutilated);
    return check_done();
}
