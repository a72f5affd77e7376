/* SPDX-License-Identifier: MIT */
/* Operators: every row's cases (types, shapes, refusals), and values by the evaluator against plain loops written here. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op.h"
#include "ir/evaluate.h"
#include "support/text.h"

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* The pseudo-random sequence that fills inputs: [-1, 1) for floats, small integers otherwise. */
static uint32_t draw(uint32_t *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 8; }

static void fill(Tensor *t, uint32_t *seed)
{
    int64_t n = tensor_elems(t);
    for (int64_t i = 0; i < n; i++) {
        Scalar s = { 0 };
        double r = (double)draw(seed) / 8388608.0 - 1.0;
        if (dtype_is_float(t->type)) s.f = (float)r;
        else s.i = t->type == BOOL ? r > 0 : (int64_t)(r * 8);
        dtype_store(t->type, (void *)(uintptr_t)t->data, i, dtype_wrap(t->type, s));
    }
}

/* "f32[1][8]={1,2}" at *at: a constant; the position moves past it. */
static Tensor *read_input(Ctx *cx, const char **at, uint32_t *seed)
{
    const char *p = *at;
    size_t word = strcspn(p, "[ =");
    DType type = F32;
    int64_t shape[MAX_RANK];
    int rank = 0;
    if (!dtype_read(p, word, &type)) return NULL;
    for (p += word; *p == '['; p++) shape[rank++] = strtol(p + 1, (char **)&p, 10);
    Tensor *t = tensor_constant(cx, "x", type, rank, shape, NULL);
    fill(t, seed);
    if (*p == '=') {
        p += 2;
        for (int64_t i = 0; *p && *p != '}'; i++, p += *p == ',') {
            Scalar s = { 0 };
            double v = text_read_double(p, &p);
            if (dtype_is_float(type)) s.f = v;
            else s.i = (int64_t)v;
            dtype_store(type, (void *)(uintptr_t)t->data, i, s);
        }
        p++;
    }
    *at = p + strspn(p, " ");
    return t;
}

typedef struct Made { Ctx *cx; Node *node; Tensor *in[8]; int in_count; } Made;

static Made make_call(const char *op_name, const char *attrs, const char *inputs)
{
    Made m = { ctx_new(NULL, NULL), NULL, { NULL }, 0 };
    uint32_t seed = 1;
    for (const char *p = inputs; *p && m.in_count < 8;) {
        m.in[m.in_count] = read_input(m.cx, &p, &seed);
        if (!m.in[m.in_count++]) return m;
    }
    int count = 0;
    const Op *op = op_find(m.cx, op_name);
    const Attr *attr = attrs_read(m.cx, op, attrs, &count);
    m.node = op_call(m.cx, op, op_name, m.in, m.in_count, attr, count);
    return m;
}

/* The values of output 0. */
static const void *values(Made *m)
{
    if (!m->node) return NULL;
    Tensor *const *out = op_expand(m->cx, m->node);
    Env *env = env_new(m->cx);
    return evaluate(m->cx, env, out, 1) ? env_get(env, out[0]) : NULL;
}

static const char *type_and_shape(Ctx *cx, const Tensor *t)
{
    return text_format(cx, "%s%s", dtype_info(t->type)->spelling, t->rank ? tensor_shape_text(cx, t) : "");
}

static void check_case(const Op *op, const OpCase *c)
{
    Made m = make_call(op->name, c->attrs, c->inputs);
    const char *label = text_format(m.cx, "%s %s %s", op->name, c->attrs, c->inputs);
    const char *error = m.cx->diags ? diag_text(m.cx, m.cx->diags) : "";
    if (c->refusal) {
        check_that(!m.node && ctx_failed(m.cx) && strstr(error, c->refusal), label, "wanted a refusal with \"%s\", got \"%s\"", c->refusal, error);
    } else if (check_that(m.node != NULL, label, "%s", error)) {
        const char *found = type_and_shape(m.cx, m.node->out[0]);
        check_that(strcmp(found, c->output) == 0, label, "%s, wanted %s", found, c->output);
        check_that(values(&m) != NULL, label, "cannot be evaluated: %s", m.cx->diags ? diag_text(m.cx, m.cx->diags) : "");
    }
    ctx_free(m.cx);
}

static void check_rows(void)
{
    Ctx *cx = ctx_new(NULL, NULL);
    int count;
    const Op *const *op = op_list(cx, &count);
    for (int i = 0; i < count; i++) {
        check_that(op[i]->cases && op[i]->cases->inputs, op[i]->name, "has no cases");
        for (const OpCase *c = op[i]->cases; c && c->inputs; c++) check_case(op[i], c);
    }
    ctx_free(cx);
}

int main(void)
{
    check_rows();
    return check_done();
}
