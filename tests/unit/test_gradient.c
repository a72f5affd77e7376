/* SPDX-License-Identifier: MIT */
/* Gradients (graph/differentiate) against central differences in double: every operator's cases, then formulas. */
#include "check.h"
#include "op_cases.h"

#include "gradient_check.h"

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

/* Inputs without a derivative at the case's values. */
static const struct { const char *op, *attrs; int input; const char *why; } left_out[] = {
    { "roi_align", "height=2 width=3 ratio=0", 1, "a box of the case is empty, so a step is 0 / 0" },
};

static int left_out_input(const char *op, const char *attrs)
{
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(left_out[i].op, op) == 0 && strcmp(left_out[i].attrs, attrs) == 0) return left_out[i].input + 1;
    return 0;
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
    if (has_float && !is_quantized && dtype_is_float(c.y->type)) {
        int range = 0;
        number_stages(&c);
        do fill_range(&c, inputs, range); while (!is_finite(&c) && ++range < RANGES);
        gradient_check(&c);
        v->outputs++;
        c.worst = c.fault ? 0 : c.worst;
        if (c.fault) v->refused++, snprintf(v->why, sizeof v->why, "%s", c.fault);
        else if (c.is_zero && c.worst <= c.tolerance) v->zero++;
        else if (c.worst <= c.tolerance) v->passed++;
        else printf("# %s %s (%s) output %d: %g, %d kinks\n", op, k->attrs, inputs, output, c.worst, c.kinks);
        v->worst = fmax(v->worst, c.worst);
    }
    ctx_free(m.cx);
    ctx_free(names);
}

static void try_operator(const Op *op)
{
    Verdict v = { 0 };
    for (const OpCase *k = op->cases; k && k->inputs; k++) {
        if (k->refusal) continue;
        Made m = make_call(op->name, k->attrs, k->inputs);
        const int outputs = m.node ? m.node->out_count : 0;
        ctx_free(m.cx);
        for (int o = 0; o < outputs; o++) try_output(&v, op->name, k, o, F64);
    }
    if (!v.outputs) return;
    if (op->gradient.role == GRADIENT_STOP) {
        CHECK("stop-gradient-has-zeros", v.worst > 0);
        return;
    }
    if (v.refused == v.outputs) {
        check_skip(op->name, v.why);
        return;
    }
    const char *label = check_label(op->name, "has-adjoints-equal-to-central-differences");
    check_that(v.passed + v.zero + v.refused == v.outputs, label,
               "%d of %d outputs right, %d zero, %d refused (%s), worst %g", v.passed, v.outputs, v.zero,
               v.refused, v.why, v.worst);
}

int main(void)
{
    Ctx *cx = context_new(NULL, NULL);
    int count;
    const Op *const *op = op_list(cx, &count);
    for (int i = 0; i < count; i++)
        if (!getenv("OP") || strcmp(getenv("OP"), op[i]->name) == 0) try_operator(op[i]);
    ctx_free(cx);
    return check_done();
}
