/* SPDX-License-Identifier: MIT */
/* `loopwright ops --gradients` lists the operators with gradients; it differentiates the test cases of each row. */
#include <string.h>

#include "driver/driver.h"
#include "graph/differentiate/differentiate.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_CASE_INPUTS = 16 };

/* A test case as a call on tensors; an input with values is a constant. */
typedef struct Trial { int count; Tensor *in[MOST_CASE_INPUTS]; Node *call; } Trial;

static void read_values(Ctx *cx, Tensor *t, const char *values)
{
    char *data = arena_alloc(cx->arena, (size_t)tensor_bytes(t) + 1);
    for (int64_t i = 0; *values && *values != '}' && i < tensor_elems(t); i++, values += *values == ',') {
        const double v = text_read_double(values, &values);
        dtype_store(t->type, data, i, dtype_is_float(t->type) ? (Scalar){ .f = v } : (Scalar){ .i = (int64_t)v });
    }
    t->data = data;
}

/* Reads one input of a case: type {'[' size ']'} ['={' values '}']. */
static Tensor *case_input(Ctx *cx, const char **at)
{
    const char *p = *at;
    const size_t word = strcspn(p, "[ =");
    int64_t shape[MAX_RANK];
    int rank = 0;
    DType type;
    if (!dtype_read(p, word, &type)) return NULL;
    for (p += word; *p == '[' && rank < MAX_RANK; p += *p == ']') shape[rank++] = (int64_t)text_read_double(p + 1, &p);
    Tensor *t = tensor_new_fixed(cx, "x", type, rank, shape);
    if (t && p[0] == '=' && p[1] == '{') read_values(cx, t, p + 2);
    p += strcspn(p, " ");
    *at = p + strspn(p, " ");
    return t;
}

static bool read_case(Ctx *cx, const Op *op, const OpCase *k, Trial *t)
{
    int attrs;
    *t = (Trial){ 0 };
    for (const char *p = k->inputs; *p && t->count < MOST_CASE_INPUTS;)
        if (!(t->in[t->count++] = case_input(cx, &p))) return false;
    const Attr *attr = attrs_read(cx, op, k->attrs, &attrs);
    t->call = op_call(cx, op, op->name, t->in, t->count, attr, attrs);
    return t->call && !ctx_failed(cx);
}

/* Marks the inputs to which an adjoint of the output propagates. */
static void mark_inputs(Ctx *cx, const Trial *t, Tensor *y, bool *has)
{
    Tensor *wanted[MOST_CASE_INPUTS], *adjoint[MOST_CASE_INPUTS];
    int count = 0, of[MOST_CASE_INPUTS];
    for (int i = 0; i < t->count; i++)
        if (dtype_is_float(t->in[i]->type)) of[count] = i, wanted[count++] = t->in[i];
    if (!count || !dtype_is_float(y->type) || !differentiate(cx, y, tensor_stand_in(cx, y), wanted, count, adjoint))
        return;
    for (int i = 0; i < count; i++) has[of[i]] = has[of[i]] || !adjoint[i]->data;
}

static bool inputs_with_adjoint(Ctx *cx, const Op *op, bool *has)
{
    bool any = false;
    for (const OpCase *k = op->cases; k && k->inputs; k++) {
        Trial t;
        const DiagMark mark = diag_mark(cx);
        if (k->refusal) continue;
        if (read_case(cx, op, k, &t))
            for (int o = 0; o < t.call->out_count && !ctx_failed(cx); o++) mark_inputs(cx, &t, t.call->out[o], has);
        diag_rewind(cx, mark);
    }
    for (int i = 0; i < MOST_CASE_INPUTS; i++) any = any || has[i];
    return any;
}

static const char *list_gradients(Ctx *cx)
{
    Text t = text_new(cx), none = text_new(cx), refused = text_new(cx);
    int count;
    const Op *const *op = op_list(cx, &count);
    text_printf(&t, "%-30s %-9s %s\n", "operator", "gradient", "of its inputs");
    for (int i = 0; i < count; i++) {
        bool has[MOST_CASE_INPUTS] = { false };
        if (!inputs_with_adjoint(cx, op[i], has)) {
            Text *list = op[i]->meaning.is_foreign || op[i]->gradient.refusal ? &refused : &none;
            if (op[i]->cases) text_printf(list, "%s%s", list->length ? ", " : "", op[i]->name);
            continue;
        }
        text_printf(&t, "%-30s %-9s", op[i]->name, op[i]->gradient.adjoint ? "own form" : "derived");
        const char *last = NULL;
        for (int k = 0; k < MOST_CASE_INPUTS; k++) {
            const char *word = has[k] ? op_input_name(cx, op[i], k) : last;
            if (word != last) text_printf(&t, " %s", word);
            last = word;
        }
        text_char(&t, '\n');
    }
    text_printf(&t, "none: %s\nrefused: %s\n", text_string(&none), text_string(&refused));
    return text_string(&t);
}

const char *lw_list_gradients(lw_context *cx) { RETURN_GUARDED(cx, const char *, NULL, list_gradients(cx)); }
