/* SPDX-License-Identifier: MIT */
/* Written ONNX files: each case of each operator whose first input is real, written, read back by the importer and run,
 * gives what the evaluator gives for the operator's formula. What ONNX cannot express is a row of `refused`. */
#include "check.h"
#include "op_cases.h"

#include <math.h>

#include "export/onnx_write.h"
#include "import/onnx/onnx.h"
#include "run_model.h"

/* Operators without a form in some of their cases, and words of the reason. */
static const struct { const char *op, *words; } refused[] = {
    { "bitcast", "in the formula of bitcast" },          { "det", "a recurrence" },
    { "lstm_hybrid", "a recurrence" },                   { "multinomial", "a recurrence" },
    { "non_max_suppression", "a recurrence" },           { "nonzero", "a recurrence" },
    { "rnn_hybrid", "a recurrence" },                    { "soft_suppression", "a recurrence" },
    { "tree_walk", "a recurrence" },
};

static const char *reason_of(const char *op)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (strcmp(refused[i].op, op) == 0) return refused[i].words;
    return NULL;
}

typedef struct Written { Made m; Tensor *x; const void *data; Bytes file; bool is_written; } Written;

/* The call of a case over an input of the same shape, and its file. */
static Written written(const Op *op, const OpCase *c)
{
    Written w = { .m = make_call(op->name, c->attrs, c->inputs) };
    Ctx *cx = w.m.cx;
    if (!w.m.node || w.m.in[0]->type != F32) return w;
    int count = 0;
    const Attr *attr = attrs_read(cx, op, c->attrs, &count);
    w.data = w.m.in[0]->data;
    w.m.in[0] = w.x = tensor_new(cx, "x", F32, w.m.in[0]->rank, w.m.in[0]->shape);
    w.m.node = op_call(cx, op, op->name, w.m.in, w.m.in_count, attr, count);
    if (!w.m.node) {                                         /* it requires a constant */
        w.x = NULL;
        return w;
    }
    const char **names = NEW_ARRAY(cx->arena, const char *, w.m.node->out_count);
    for (int i = 0; i < w.m.node->out_count; i++) names[i] = text_format(cx, "y%d", i);
    const Graph g = { .input = &w.x, .input_count = 1, .output = w.m.node->out, .output_count = w.m.node->out_count };
    w.is_written = onnx_write(cx, &g, names, &w.file);
    return w;
}

static bool is_near(double a, double b) { return a == b || (a != a && b != b) || fabs(a - b) <= 1e-4 + 1e-4 * fabs(a); }

static void compare(const Written *w, const char *label)
{
    Ctx *cx = w->m.cx, *other = context_new(NULL, NULL);
    Model m = { 0 };
    const ImportOptions none = { 0 };
    const void *got[MAX_OUTPUTS];
    Env *env = env_new(cx);
    env_set_const(env, w->x, w->data);
    Tensor *const *out = op_expand(cx, w->m.node);
    const bool is_right = evaluate(cx, env, out, w->m.node->out_count);
    const bool is_read = is_right && onnx_read(other, "case.onnx", w->file, &none, &m);
    const char *fault = is_read ? run_model(other, &m, &w->data, got) : "the file is refused";
    if (!check_that(!fault, label, "%s: %s", fault, other->diags ? diag_text(other, other->diags) : "")) return;
    for (int o = 0; o < w->m.node->out_count; o++) {
        const Tensor *y = out[o];
        int64_t differs = -1;
        const bool is_same = m.output[o]->type == y->type && tensor_elems(m.output[o]) == tensor_elems(y);
        for (int64_t i = 0; is_same && i < tensor_elems(y) && differs < 0; i++) {
            const Scalar a = dtype_load(y->type, env_get(env, y), i), b = dtype_load(y->type, got[o], i);
            if (!(dtype_is_float(y->type) ? is_near(a.f, b.f) : a.i == b.i)) differs = i;
        }
        check_that(is_same && differs < 0, label, "output %d: element %lld", o, (long long)differs);
    }
    ctx_free(other);
}

static void check_case(const Op *op, const OpCase *c)
{
    if (c->refusal || op->meaning.is_foreign) return;
    const Written w = written(op, c);
    const char *label = text_format(w.m.cx, "%s %s %s", op->name, c->attrs, c->inputs), *why = reason_of(op->name);
    const char *said = w.m.cx->diags ? diag_text(w.m.cx, w.m.cx->diags) : "";
    if (w.x && why && !w.is_written)
        check_that(strstr(said, why) != NULL, label, "wanted \"%s\", got \"%s\"", why, said);
    else if (w.x && check_that(w.is_written, label, "%s", said)) compare(&w, label);
    ctx_free(w.m.cx);
}

static void check_rows(void)
{
    Ctx *cx = context_new(NULL, NULL);
    int count;
    const Op *const *op = op_list(cx, &count);
    for (int i = 0; i < count; i++)
        for (const OpCase *c = op[i]->cases; c && c->inputs; c++) check_case(op[i], c);
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(check_rows);
    return check_done();
}
