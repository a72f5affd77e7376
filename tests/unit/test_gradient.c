/* SPDX-License-Identifier: MIT */
/* Gradients (graph/differentiate) against central differences in double:
 *
 *   operators    every row's cases, and random shapes of them
 *   formulas     without a row
 *   programs     random ones, as those of the schedule tests
 *   networks     random ones of 2 to 7 layers
 *   marks        stops, checkpoints, several consumers, gradients of gradients
 *
 * test_gradient [COUNT]: COUNT random shapes of each operator, and 20 times as many programs and networks.
 * test_gradient networks [COUNT] [FIRST]: COUNT networks alone, from number FIRST on. */
#define MAX_OUTPUTS PROGRAM_OUTPUTS
#include "../fuzz/programs.c"
#undef MAX_OUTPUTS

#include "check.h"
#include "op_cases.h"

#include "gradient_check.h"
#include "random_network.h"
#include "graph/dag/definition.h"
#include "import/te/te.h"

/* The inputs of a case in f64; NULL if it has values of a float type that f64 has not. */
static const char *in_double(Ctx *cx, const char *inputs)
{
    Text t = text_new(cx);
    for (const char *s = inputs; *s; s++)
        if (strncmp(s, "f32", 3) == 0) text_add(&t, "f64"), s += 2;
        else text_char(&t, *s);
    return text_string(&t);
}

/* Ranges of the values, tried in this order: functions have domains. */
static const struct { double low, high; } ranges[] = { { -1, 1 }, { 0.1, 0.9 }, { 1.1, 2 } };
enum { RANGES = sizeof ranges / sizeof ranges[0] };

static void fill_range(GradientCheck *c, const char *inputs, int range)
{
    const char *p = inputs;
    for (int i = 0; i < c->in_count; i++) {
        const char *end = p + strcspn(p, " ");
        const bool is_given = memchr(p, '=', (size_t)(end - p)) != NULL;
        Tensor *x = c->in[i];
        for (int64_t e = 0; !is_given && dtype_is_float(x->type) && e < tensor_elems(x); e++) {
            const double v = (gradient_draw(&c->seed) + 1) / 2;
            const Scalar value = { .f = ranges[range].low + v * (ranges[range].high - ranges[range].low) };
            dtype_store(x->type, own_data(c->cx, x), e, dtype_wrap(x->type, value));
        }
        p = end + strspn(end, " ");
    }
}

static bool is_finite(const GradientCheck *c)
{
    Env *env = env_new(c->cx);
    if (!run_calls(c->cx, (Tensor *[]){ c->y }, 1, env, false)) return false;
    for (int64_t i = 0; i < tensor_elems(c->y); i++)
        if (!isfinite(element(c->y, env_get(env, c->y), i))) return false;
    return true;
}

/* Inputs without a derivative at the case's values; attrs NULL: any. */
static const struct { const char *op, *attrs; int input; const char *why; } left_out[] = {
    { "annotation.simulated_quantize", NULL, ALL_LEFT_OUT, "the adjoint is that of the clamp, without the steps" },
    { "roi_align", "height=2 width=3 ratio=0", 1, "a box of the case is empty, so a step is 0 / 0" },
};

/* Rows through which a gradient is refused. */
static const struct { const char *op, *label, *why; } refusing[] = {
    { "foreign_call", "refuses-a-gradient-of-an-unknown-function", "whose formula is unknown" },
    { "rnn_hybrid", "refuses-a-gradient-of-a-rounded-state", "which rounds its state to 8 bits at each step" },
    { "lstm_hybrid", "refuses-a-gradient-of-a-rounded-state", "which rounds its state to 8 bits at each step" },
};

static int left_out_input(const char *op, const char *attrs)
{
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(left_out[i].op, op) == 0 && (!left_out[i].attrs || strcmp(left_out[i].attrs, attrs) == 0))
            return left_out[i].input;
    return NONE_LEFT_OUT;
}

typedef struct Verdict { int outputs, passed, zero, refused; double worst; char why[200]; } Verdict;

static void try_output(Verdict *v, const char *op, const OpCase *k, int output, DType type)
{
    Ctx *names = ctx_new(NULL, NULL);
    const char *inputs = type == F64 ? in_double(names, k->inputs) : k->inputs;
    Made m = make_call(op, k->attrs, inputs);
    if (!m.node || ctx_failed(m.cx)) {
        ctx_free(m.cx);
        if (type == F64) try_output(v, op, k, output, F32);
        ctx_free(names);
        return;
    }
    GradientCheck c = { .cx = m.cx, .in_count = m.in_count, .in = m.in, .y = m.node->out[output],
                        .left_out = left_out_input(op, k->attrs),
                        .seed = 7, .tolerance = type == F64 ? 1e-6 : 1e-3, .step = type == F64 ? 1e-6 : 1e-2 };
    const DType first = m.in[0]->type;
    bool has_float = false, is_quantized = first == I8 || first == U8 || first == I16;
    for (int i = 0; i < m.in_count; i++) has_float = has_float || dtype_is_float(m.in[i]->type);
    if (has_float && !is_quantized && c.left_out != ALL_LEFT_OUT && dtype_is_float(c.y->type)) {
        int range = 0;
        number_stages(&c);
        do fill_range(&c, inputs, range); while (!is_finite(&c) && ++range < RANGES);
        if (range == RANGES) goto done;
        gradient_check(&c);
        v->outputs++;
        c.worst = c.fault ? 0 : c.worst;
        if (c.fault) v->refused++, snprintf(v->why, sizeof v->why, "%s", c.fault);
        else if (c.is_zero && c.worst <= c.tolerance) v->zero++;
        else if (c.worst <= c.tolerance) v->passed++;
        else if (m.node->op->gradient.role != GRADIENT_STOP)
            printf("# %s %s (%s) output %d: %g, %d kinks\n", op, k->attrs, inputs, output, c.worst, c.kinks);
        v->worst = fmax(v->worst, c.worst);
    }
done:
    ctx_free(m.cx);
    ctx_free(names);
}

/* ---- Random shapes ----------------------------------------------------------------------------------------------- */

/* Sizes that occur in inputs with given values stay. */
static bool is_in_given(const char *inputs, long size)
{
    for (const char *p = inputs; *p;) {
        const char *end = p + strcspn(p, " "), *given = memchr(p, '=', (size_t)(end - p));
        for (const char *b = p; given && b < given; b++)
            if (*b == '[' && strtol(b + 1, NULL, 10) == size) return true;
        p = end + strspn(end, " ");
    }
    return false;
}

/* Replaces one size by another one, everywhere. NULL: the inputs stay as they are. */
static const char *reshaped(Ctx *cx, const char *inputs, uint32_t *seed)
{
    long size[64];
    int count = 0;
    for (const char *p = inputs; *p && count < 64; p++)
        if (*p == '[') size[count++] = strtol(p + 1, NULL, 10);
    if (!count) return NULL;
    const long from = size[case_draw(seed) % (uint32_t)count], to = 1 + (long)(case_draw(seed) % 7);
    if (from == to || is_in_given(inputs, from)) return NULL;
    Text t = text_new(cx);
    int64_t elems = 1, most = 1;
    for (const char *p = inputs; *p; p++) {
        if (*p == ' ') elems = 1;
        text_char(&t, *p);
        if (*p != '[') continue;
        char *end;
        const long now = strtol(p + 1, &end, 10), is = now == from ? to : now;
        text_printf(&t, "%ld", is);
        elems *= is;
        most = elems > most ? elems : most;
        p = end - 1;
    }
    return most <= 600 ? text_string(&t) : NULL;
}

/* One to three changes of a case. */
static void try_random(Verdict *v, const Op *op, const OpCase *k, uint32_t *seed)
{
    Ctx *names = ctx_new(NULL, NULL);
    OpCase changed = *k;
    for (uint32_t i = case_draw(seed) % 3 + 1; i > 0; i--) {
        const char *inputs = reshaped(names, changed.inputs, seed);
        if (inputs) changed.inputs = inputs;
    }
    Made m = make_call(op->name, changed.attrs, changed.inputs);
    const bool is_good = m.node && !ctx_failed(m.cx);
    const int outputs = is_good ? m.node->out_count : 0;
    bool is_empty = false;
    for (int o = 0; o < outputs; o++) is_empty = is_empty || tensor_elems(m.node->out[o]) <= 0;
    ctx_free(m.cx);
    for (int o = 0; o < outputs && !is_empty; o++) try_output(v, op->name, &changed, o, F64);
    ctx_free(names);
}

static int cases_of(const Op *op, const OpCase **good, int room)
{
    int count = 0;
    for (const OpCase *k = op->cases; k && k->inputs && count < room; k++)
        if (!k->refusal) good[count++] = k;
    return count;
}

static void try_operator(const Op *op, int random_count)
{
    enum { ROOM = 128 };
    const OpCase *good[ROOM];
    Verdict v = { 0 };
    uint32_t seed = 11;
    const int cases = cases_of(op, good, ROOM);
    for (int i = 0; i < cases; i++) {
        Made m = make_call(op->name, good[i]->attrs, good[i]->inputs);
        const int outputs = m.node ? m.node->out_count : 0;
        ctx_free(m.cx);
        for (int o = 0; o < outputs; o++) try_output(&v, op->name, good[i], o, F64);
    }
    for (int i = 0; cases && v.outputs && i < random_count; i++) try_random(&v, op, good[i % cases], &seed);
    if (!v.outputs) return;
    if (op->gradient.role == GRADIENT_STOP) {
        CHECK("stop-gradient-has-zeros", v.worst > 0);
        return;
    }
    for (size_t i = 0; i < sizeof refusing / sizeof refusing[0]; i++) {
        if (strcmp(op->name, refusing[i].op) != 0) continue;
        check_that(v.refused == v.outputs && strstr(v.why, refusing[i].why), check_label(op->name, refusing[i].label),
                   "%d of %d outputs refused (%s)", v.refused, v.outputs, v.why);
        return;
    }
    const char *label = check_label(op->name, "has-adjoints-equal-to-central-differences");
    check_that(v.passed + v.zero + v.refused == v.outputs, label,
               "%d of %d outputs right, %d zero, %d refused (%s), worst %g", v.passed, v.outputs, v.zero,
               v.refused, v.why, v.worst);
}

/* ---- Formulas and networks --------------------------------------------------------------------------------------- */

/* Reals in [-1, 1), and integers from 0 to 5. */
static void fill_inputs(GradientCheck *c)
{
    for (int i = 0; i < c->in_count; i++) {
        Tensor *x = c->in[i];
        x->data = arena_alloc(c->cx->arena, (size_t)tensor_bytes(x) + 1);
        for (int64_t e = 0; e < tensor_elems(x); e++) {
            const double v = gradient_draw(&c->seed);
            dtype_store(x->type, own_data(c->cx, x), e, dtype_wrap(x->type, dtype_is_float(x->type)
                        ? (Scalar){ .f = v } : (Scalar){ .i = (int64_t)((v + 1) * 3) }));
        }
    }
}

/* Checks the first output of a file with f64 inputs, after its own gradients are computed. */
static void try_text(const char *name, const char *text)
{
    if (!check_is_chosen(name)) return;
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    Graph g = { .name = name };
    if (te_read(cx, "test.te", text, NULL, &m)) {
        g.output = m.output;
        g.output_count = 1;
        g = graph_gradient(cx, g);
    }
    if (ctx_failed(cx)) {
        check_that(false, name, "%s", diag_text(cx, cx->diags));
        ctx_free(cx);
        return;
    }
    GradientCheck c = { .cx = cx, .in_count = m.input_count, .in = m.input, .y = g.output[0], .seed = 5,
                        .left_out = NONE_LEFT_OUT, .tolerance = 1e-6, .step = 1e-6 };
    fill_inputs(&c);
    gradient_check(&c);
    check_that(!c.fault && c.worst <= c.tolerance && !c.is_zero, name, "%s, worst %g, %d kinks%s",
               c.fault ? c.fault : "", c.worst, c.kinks, c.is_zero ? ", all zero" : "");
    ctx_free(cx);
}

static const struct { const char *name, *text; } texts[] = {
    { "formula-with-holes-and-squared-difference",
      "input x: f64[9][8][2]\ninput k: f64[2][3][2][3]\n"
      "y[h<5, v<6, o] = sum(i, j, c) (pow(x[2*h+3*i-1, v+2*j-2, c]? - k[i,j,c,o], 2.0) : 0)\noutput y\n" },
    { "formula-of-a-diagonal", "input x: f64[4][7]\ny[i<4] = x[i, i] * x[i, i+3]\noutput y\n" },
    { "formula-in-reverse", "input x: f64[6]\ny[i<6] = x[5-i] * x[i]\noutput y\n" },
    { "formula-of-digits", "input x: f64[24]\ny[i<6, j<4] = exp(x[i*4+j])\noutput y\n" },
    { "formula-of-quotient-and-remainder", "input x: f64[5][3]\ny[k<15] = exp(x[k/3, k%3])\noutput y\n" },
    { "formula-of-quotient", "input x: f64[4]\ny[k<11] = sin(x[k/3])\noutput y\n" },
    { "formula-of-remainder", "input x: f64[4]\ny[k<11] = sin(x[k%4])\noutput y\n" },
    { "formula-of-middle-digit", "input x: f64[4]\ny[k<23] = sin(x[k/2%4])\noutput y\n" },
    { "formula-of-pixel-shuffle",
      "input x: f64[3][2][8]\ny[h<6, v<4, c<2] = sin(x[h/2, v/2, (h%2*2+v%2)*2+c])\noutput y\n" },
    { "formula-with-stride-and-overlap",
      "input x: f64[17]\ninput w: f64[5]\ny[i<5] = sum(k) x[3*i+k] * w[k]\noutput y\n" },
    { "formula-with-stride-and-gaps",
      "input x: f64[20]\ninput w: f64[2]\ny[i<5] = sum(k) x[4*i+k] * w[k]\noutput y\n" },
    { "formula-with-stride-and-negative-taps",
      "input x: f64[20]\ninput w: f64[5]\ny[i<5] = sum(k) x[3*i-k+5] * w[k]\noutput y\n" },
    { "formula-with-stride-and-dilation",
      "input x: f64[20]\ninput w: f64[3]\ny[i<5] = sum(k) (x[2*i+3*k-2]? * w[k] : 0)\noutput y\n" },
    { "formula-of-three-summed-axes", "input x: f64[11]\ny[i<4] = sum(j<3, k<3) sin(x[i+2*j+k])\noutput y\n" },
    { "formula-of-a-polynomial-product",
      "input a: f64[5]\ninput b: f64[4]\ny[n<8] = sum(k<5) select(n >= k && n - k < 4, a[k] * b[clamp(n-k, 0, 3)], 0)\n"
      "output y\n" },
    { "formula-of-a-clamped-index", "input x: f64[6]\ny[i<11] = sin(x[clamp(i-3, 0, 5)])\noutput y\n" },
    { "formula-of-a-data-index", "input x: f64[6][3]\ninput t: i32[5]\ny[i, c] = sin(x[t[i], c])\noutput y\n" },
    { "formula-of-a-constant-index", "input x: f64[6][3]\ny[c<3] = sin(x[2, c])\noutput y\n" },
    { "formula-of-a-maximum", "input x: f64[7][9]\ny[i<3, j] = max(k<3) sin(x[2*i+k, j])\noutput y\n" },
    { "formula-of-a-minimum-with-start",
      "input x: f64[4][9]\ninput b: f64[9]\ny[j] = min(k<4; b[j]) x[k, j]\noutput y\n" },
    { "formula-of-a-product", "input x: f64[4][5]\ny[i] = prod(j) (x[i, j] + 1)\noutput y\n" },
    { "formula-of-a-product-with-start",
      "input x: f64[4][5]\ninput b: f64[4]\ny[i] = prod(j; b[i]) x[i, j]\noutput y\n" },
    { "formula-of-an-argmax-value", "input x: f64[4][5]\ni, v[n] = argmax(k) x[n, k]\ny[n] = sin(v[n])\noutput y\n" },
    { "formula-of-a-sum-with-start",
      "input x: f64[4][5]\ninput b: f64[4]\ny[n] = sum(k; sin(b[n])) x[n, k]\noutput y\n" },
    { "formula-of-a-scan",
      "input x: f64[7][3]\npromise s: f64[7][3]\n"
      "s[t<7 ordered, c<3] = select(t > 0, sin(s[t-1, c]), 0.5) * x[t, c]\noutput s\n" },
    { "formula-of-a-branch", "input x: f64[30]\ny[i] = select(x[i] > 0.2, x[i] * x[i], sin(x[i]))\noutput y\n" },
    { "formula-of-broadcasts", "input x: f64[3][1][4]\ninput z: f64[5][1]\ny[*] = x[*] * z[*] - z[*]\noutput y\n" },
    { "network-with-a-residual",
      "input x: f64[3][4]\ninput w: f64[4][4]\na = dense(x, w)\nb = tanh(a)\nc = add(b, x)\nd = dense(c, w)\n"
      "y = softmax(d)\noutput y\n" },
    { "network-of-attention",
      "input q: f64[4][3]\ninput k: f64[5][3]\ninput v: f64[5][2]\ns[i, j] = sum(c) q[i, c] * k[j, c]\np = softmax(s)\n"
      "y = matmul(p, v)\noutput y\n" },
    { "network-with-checkpoints",
      "input x: f64[3][4]\ninput w: f64[4][4]\na = dense(x, w)\nb = tanh(a)\nk = annotation.checkpoint(b)\n"
      "c = dense(k, w)\nd = sigmoid(c)\ne = annotation.checkpoint(d)\nf = add(e, k)\ny = dense(f, w)\noutput y\n" },
    { "gradient-of-a-gradient",
      "input x: f64[3][4]\ninput w: f64[4][2]\na = dense(x, w)\nb = tanh(a)\nl = sum(i, j) b[i, j] * b[i, j]\n"
      "d = gradient(l, x)\ny[i, j] = sin(d[i, j])\noutput y\n" },
    { "loss-of-a-network",
      "input x: f64[3][4]\ninput w: f64[4][5]\ninput t: f64[3][5]\na = dense(x, w)\ny = cross_entropy(a, t)\n"
      "output y\n" },
};

static const struct { const char *name, *text, *why; } refusals[] = {
    { "refused-of-a-tensor", "input x: f32[3]\ny[i] = x[i] * 2.0\nd = gradient(y, x)\noutput d\n",
      "use a tensor of one element, or adjoint(y, seed, ...)" },
    { "refused-by-integers", "input x: i32[3]\nl = sum(i) f32(x[i])\nd = gradient(l, x)\noutput d\n",
      "input 1 is i32; use a float type" },
    { "refused-by-what-is-not-read",
      "input x: f32[3]\ninput z: f32[3]\nl = sum(i) x[i]\nd = gradient(l, z)\noutput d\n",
      "does not depend on this tensor" },
    { "refused-in-a-nest", "nest\ninput x: f32[3]\nl = sum(i) x[i]\nd = gradient(l, x)\noutput d\n",
      "no effect in a file that is one `nest`" },
};

static void try_refusals(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        if (te_read(cx, "test.te", refusals[i].text, NULL, &m))
            graph_gradient(cx, (Graph){ .name = "test", .output_count = 1, .output = m.output });
        const char *said = cx->diags ? diag_text(cx, cx->diags) : "";
        check_that(ctx_failed(cx) && strstr(said, refusals[i].why), refusals[i].name, "%s", said);
        ctx_free(cx);
    }
}

static void formulas_and_networks(void)
{
    try_refusals();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) try_text(texts[i].name, texts[i].text);
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* What a rewrite does with every other call of a program: its result is marked, or is the constant that it was. */
static const struct Marks { const char *annotation; } *marks;
static uint32_t mark_seed;

static void mark_some(Ctx *cx, Node *n, Tensor **out, const Uses *uses)
{
    (void)uses;
    if (case_draw(&mark_seed) % 2 || !dtype_is_float(n->out[0]->type)) return;
    Tensor *x = n->out[0];
    if (marks->annotation) {
        out[0] = call(cx, marks->annotation, x->name, &x, 1, NULL);
        return;
    }
    Env *env = env_new(cx);
    if (!run_calls(cx, &x, 1, env, false)) return;
    out[0] = tensor_stand_in(cx, x);
    out[0]->data = arena_copy(cx->arena, env_get(env, x), (size_t)tensor_bytes(x));
}

static Tensor *marked(Ctx *cx, Tensor *y, const char *annotation, uint32_t seed)
{
    const struct Marks m = { annotation };
    Graph g = { .name = "marked", .output_count = 1, .output = &y };
    marks = &m;
    mark_seed = seed;
    g = graph_remake(cx, g, mark_some);
    return ctx_failed(cx) ? NULL : g.output[0];
}

/* The adjoint of x; all zeros where y does not depend on it. NULL after an error. */
static const void *adjoint_bytes(Ctx *cx, Tensor *y, Tensor *seed, Tensor *x)
{
    Tensor *adjoint = NULL;
    const DiagMark mark = diag_mark(cx);
    const bool ok = differentiate(cx, y, seed, &x, 1, &adjoint);
    Diag *d = diag_rewind(cx, mark);
    const bool is_unrelated = !ok && d && strstr(d->what, "does not depend on this tensor");
    if (!ok) return is_unrelated ? arena_alloc(cx->arena, (size_t)tensor_bytes(x)) : NULL;
    Env *env = env_new(cx);
    if (adjoint->data) return adjoint->data;
    return run_calls(cx, &adjoint, 1, env, false) ? env_get(env, adjoint) : NULL;
}

static const void *value_bytes(Ctx *cx, Tensor *y)
{
    Env *env = env_new(cx);
    return y && run_calls(cx, &y, 1, env, false) ? env_get(env, y) : NULL;
}

/* With checkpoints the adjoints are the same bits; with stops those of a program that has constants in their place. */
static void try_marks(GradientCheck *c, uint64_t number, const char *text)
{
    Ctx *cx = c->cx;
    const uint32_t seed = (uint32_t)number * 77 + 5;
    Tensor *again = marked(cx, c->y, "annotation.checkpoint", seed),
           *stopped = marked(cx, c->y, "annotation.stop_gradient", seed), *fixed = marked(cx, c->y, NULL, seed);
    Tensor *ones = tensor_stand_in(cx, c->y);
    ones->data = arena_alloc(cx->arena, (size_t)tensor_bytes(c->y) + 1);
    for (int64_t i = 0; i < tensor_elems(ones); i++)
        dtype_store(ones->type, own_data(cx, ones), i, (Scalar){ .f = 1.0 + (double)i / 8 });
    const void *forward = value_bytes(cx, c->y), *kept = value_bytes(cx, again), *behind = value_bytes(cx, stopped);
    const size_t size = (size_t)tensor_bytes(c->y);
    check_that(forward && kept && behind && !memcmp(forward, kept, size) && !memcmp(forward, behind, size),
               "random-marks-keep-every-bit-of-the-values", "program %llu\n%s", (unsigned long long)number, text);
    for (int i = 0; i < c->in_count && !ctx_failed(cx); i++) {
        const size_t bytes = (size_t)tensor_bytes(c->in[i]);
        if (!dtype_is_float(c->in[i]->type)) continue;
        const void *plain = adjoint_bytes(cx, c->y, ones, c->in[i]), *with = adjoint_bytes(cx, again, ones, c->in[i]),
                   *cut = adjoint_bytes(cx, stopped, ones, c->in[i]), *held = adjoint_bytes(cx, fixed, ones, c->in[i]);
        check_that(plain && with && !memcmp(plain, with, bytes), "random-checkpoints-keep-every-bit-of-the-adjoints",
                   "program %llu\n%s", (unsigned long long)number, text);
        check_that(cut && held && !memcmp(cut, held, bytes), "random-stops-equal-constants", "program %llu\n%s",
                   (unsigned long long)number, text);
    }
}

/* Returns true if a formula declares its reducer; such a reduction has no gradient. */
static bool has_combiner(const Program *p)
{
    for (int i = 0; i < p->tensor_count; i++) {
        const Node *n = p->tensor[i]->producer;
        if (n && n->kind == NODE_COMPUTE && n->stage->combiner) return true;
    }
    return false;
}

/* True if it is a program in double with constant sizes. */
static bool try_program(uint64_t number, int *kinks)
{
    Ctx *cx = context_new(NULL, NULL);
    Random r = random_new(number);
    Program *p = program_within(cx, &r, 6);
    bool fits = p && p->type == F64 && !p->size_count && !has_combiner(p);
    Tensor *y = fits ? p->output[p->output_count - 1] : NULL;
    fits = fits && y->type == F64;
    Text t = text_new(cx);
    if (fits) program_print(cx, &t, p);
    fits = fits && formulas_to_calls(cx, &y, 1);
    if (fits) {
        Tensor *in[CHECKED_INPUTS];
        GradientCheck c = { .cx = cx, .in = in, .y = y, .seed = (uint32_t)number, .left_out = NONE_LEFT_OUT,
                            .tolerance = 1e-6, .step = 1e-6 };
        Node **order;
        const int calls = dag_order(cx, &y, 1, &order);
        for (int i = 0; i < p->tensor_count && c.in_count < CHECKED_INPUTS; i++) {
            bool is_read = false;
            for (int n = 0; n < calls; n++)
                for (int k = 0; k < order[n]->in_count; k++) is_read = is_read || order[n]->in[k] == p->tensor[i];
            if (p->tensor[i]->producer || !is_read) continue;
            Tensor *x = in[c.in_count++] = p->tensor[i];
            x->data = arena_alloc(cx->arena, (size_t)tensor_bytes(x) + 1);
            for (int64_t e = 0; e < tensor_elems(x); e++) {
                const double v = gradient_draw(&c.seed);
                dtype_store(x->type, own_data(cx, x), e, dtype_wrap(x->type, dtype_is_float(x->type)
                            ? (Scalar){ .f = v } : (Scalar){ .i = (int64_t)(v * 9) }));
            }
        }
        bool has_float = false;
        for (int i = 0; i < c.in_count; i++) has_float = has_float || dtype_is_float(in[i]->type);
        if (has_float) gradient_check(&c);
        *kinks += c.kinks;
        if (has_float && !c.fault) try_marks(&c, number, text_string(&t));
        check_that(!c.fault && c.worst <= c.tolerance, "random-programs-have-adjoints-equal-to-central-differences",
                   "program %llu: %s, worst %g\n%s", (unsigned long long)number, c.fault ? c.fault : "", c.worst,
                   text_string(&t));
    }
    ctx_free(cx);
    return fits;
}

static void try_network(uint32_t number, int *kinks)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    const char *text = random_network(cx, number);
    const bool is_read = te_read(cx, "network.te", text, NULL, &m);
    GradientCheck c = { .cx = cx, .in_count = is_read ? m.input_count : 0, .in = m.input,
                        .y = is_read ? m.output[0] : NULL, .seed = number, .left_out = NONE_LEFT_OUT,
                        .tolerance = 1e-6, .step = 1e-6 };
    if (is_read) {
        fill_inputs(&c);
        gradient_check(&c);
        if (!c.fault) try_marks(&c, number, text);
        *kinks += c.kinks;
    }
    check_that(is_read && !c.fault && c.worst <= c.tolerance,
               "random-networks-have-adjoints-equal-to-central-differences", "network %u: %s, worst %g\n%s",
               (unsigned)number, c.fault ? c.fault : is_read ? "" : diag_text(cx, cx->diags), c.worst, text);
    ctx_free(cx);
}

/* Prints the count after every 500, so that a long run shows its rate. */
static int networks_alone(uint32_t count, uint32_t first)
{
    int kinks = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i && i % 500 == 0) printf("# %u networks of %u\n", (unsigned)i, (unsigned)count), fflush(stdout);
        try_network(first + i, &kinks);
    }
    printf("# %u networks from number %u on, %d directions at kinks\n", (unsigned)count, (unsigned)first, kinks);
    return check_done();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "networks") == 0)
        return networks_alone(argc > 2 ? (uint32_t)atoi(argv[2]) : 60, argc > 3 ? (uint32_t)atoi(argv[3]) : 1);
    const int count = argc > 1 ? atoi(argv[1]) : 3;
    Ctx *cx = context_new(NULL, NULL);
    int rows, kinks = 0, programs = 0;
    const Op *const *op = op_list(cx, &rows);
    for (int i = 0; i < rows; i++)
        if (!getenv("OP") || strcmp(getenv("OP"), op[i]->name) == 0) try_operator(op[i], count);
    ctx_free(cx);
    formulas_and_networks();
    for (uint64_t i = 1; programs < 20 * count; i++) programs += try_program(i, &kinks);
    for (uint32_t i = 1; i <= 20 * (uint32_t)count; i++) try_network(i, &kinks);
    printf("# %d programs and networks each, %d directions at kinks\n", programs, kinks);
    return check_done();
}
