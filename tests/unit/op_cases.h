/* SPDX-License-Identifier: MIT */
/* An operator's test cases as calls: inputs become constants of the case's shapes, with its values or generated
 * ones. */
#ifndef OP_CASES_H
#define OP_CASES_H

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "own_data.h"
#include "graph/dag/op.h"
#include "support/text.h"

/* The pseudo-random sequence that fills inputs: [-1, 1) for floats, small integers otherwise. */
static inline uint32_t case_draw(uint32_t *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 8; }

static inline void case_fill(Ctx *cx, Tensor *t, uint32_t *seed)
{
    void *data = own_data(cx, t);
    int64_t n = tensor_elems(t);
    for (int64_t i = 0; i < n; i++) {
        Scalar s = { 0 };
        double r = (double)case_draw(seed) / 8388608.0 - 1.0;
        if (dtype_is_float(t->type)) s.f = (float)r;
        else s.i = t->type == BOOL ? r > 0 : (int64_t)(r * 8);
        dtype_store(t->type, data, i, dtype_wrap(t->type, s));
    }
}

/* "f32[1][8]={1,2}" at *at: a constant; the position moves past it. */
static inline Tensor *case_input(Ctx *cx, const char **at, uint32_t *seed)
{
    const char *p = *at;
    size_t word = strcspn(p, "[ =");
    DType type = F32;
    int64_t shape[MAX_RANK];
    int rank = 0;
    if (!dtype_read(p, word, &type)) return NULL;
    for (p += word; *p == '['; p++) shape[rank++] = strtol(p + 1, (char **)&p, 10);
    Tensor *t = tensor_constant(cx, "x", type, rank, shape, NULL);
    case_fill(cx, t, seed);
    if (*p == '=') {
        void *data = own_data(cx, t);
        p += 2;
        for (int64_t i = 0; *p && *p != '}'; i++, p += *p == ',') {
            Scalar s = { 0 };
            double v = text_read_double(p, &p);
            if (dtype_is_float(type)) s.f = v;
            else s.i = (int64_t)v;
            dtype_store(type, data, i, s);
        }
        p++;
    }
    *at = p + strspn(p, " ");
    return t;
}

typedef struct Made { Ctx *cx; Node *node; Tensor *in[12]; int in_count; } Made;

static inline Made make_call(const char *op_name, const char *attrs, const char *inputs)
{
    Made m = { context_new(NULL, NULL), NULL, { NULL }, 0 };
    uint32_t seed = 1;
    for (const char *p = inputs; *p && m.in_count < 12;) {
        m.in[m.in_count] = case_input(m.cx, &p, &seed);
        if (!m.in[m.in_count++]) return m;
    }
    int count = 0;
    const Op *op = op_find(m.cx, op_name);
    const Attr *attr = attrs_read(m.cx, op, attrs, &count);
    m.node = op_call(m.cx, op, op_name, m.in, m.in_count, attr, count);
    return m;
}
#endif
