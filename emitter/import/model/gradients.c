/* SPDX-License-Identifier: MIT */
/* Adds calls of the operator `gradient`, as many as the results require, and makes the results outputs. The names are
 * names of tensors: inputs, constants and results of layers. */
#include "import/model/gradients.h"

#include <string.h>

#include "graph/dag/op.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* The tensors of the model with their names, in order of first use. The result of a layer is also found by the layer's
 * name. */
typedef struct Tensors { Ctx *cx; Map seen; int count, capacity; Tensor **at; const char **name; } Tensors;

static void add_name(Tensors *l, Tensor *t, const char *name)
{
    if (l->count == l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        Tensor **at = NEW_ARRAY(l->cx->arena, Tensor *, l->capacity);
        const char **names = NEW_ARRAY(l->cx->arena, const char *, l->capacity);
        for (int i = 0; i < l->count; i++) at[i] = l->at[i], names[i] = l->name[i];
        l->at = at;
        l->name = names;
    }
    l->name[l->count] = name;
    l->at[l->count++] = t;
}

static void add_tensor(Tensors *l, Tensor *t)
{
    if (!t || map_get_ptr(&l->seen, t)) return;
    map_put_ptr(&l->seen, t, t);
    add_name(l, t, t->name);
}

static Tensors tensors_of(Ctx *cx, const Model *m)
{
    Tensors l = { .cx = cx, .seen = map_new(cx->arena) };
    Node **order;
    const int count = dag_order(cx, m->output, m->output_count, &order);
    for (int i = 0; i < m->input_count; i++) add_tensor(&l, m->input[i]);
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < order[n]->in_count; i++) add_tensor(&l, order[n]->in[i]);
        for (int i = 0; i < order[n]->out_count; i++) add_tensor(&l, order[n]->out[i]);
        if (order[n]->name) add_name(&l, order[n]->out[0], order[n]->name);
    }
    return l;
}

/* Returns the last tensor of the name, because an importer may emit several calls for one node. */
static Tensor *tensor_named(const Tensors *l, const char *option, const char *wanted)
{
    for (int i = l->count - 1; i >= 0; i--)
        if (text_equal(l->name[i], wanted)) return l->at[i];
    diag_error(l->cx, NULL, "%s: there is no tensor \"%s\"%s", option, wanted,
               text_hint(l->cx, wanted, l->name, (size_t)l->count, ""));
    return NULL;
}

Tensor *model_tensor(Ctx *cx, const Model *m, const char *option, const char *name)
{
    const Tensors l = tensors_of(cx, m);
    return tensor_named(&l, option, name);
}

/* Returns the next name of the list, up to ',' or the end, without blanks around it. */
static const char *next_name(Ctx *cx, const char **at)
{
    const char *s = *at + strspn(*at, " ");
    size_t n = strcspn(s, ","), kept = n;
    *at = s + n + (s[n] == ',');
    while (kept && s[kept - 1] == ' ') kept--;
    return name_n(cx, s, kept);
}

static void add_gradients(Ctx *cx, Model *m, Tensor *loss, Tensor *const *x, int count)
{
    Tensor **output = NEW_ARRAY(cx->arena, Tensor *, m->output_count + count), *in[MAX_OUTPUTS + 1] = { loss };
    for (int i = 0; i < m->output_count; i++) output[i] = m->output[i];
    m->output = output;
    for (int from = 0, part; from < count && !ctx_failed(cx); from += part) {
        part = count - from < MAX_OUTPUTS ? count - from : MAX_OUTPUTS;
        for (int i = 0; i < part; i++) in[1 + i] = x[from + i];
        Node *n = op_call(cx, op_find(cx, "gradient"), "gradient", in, part + 1, NULL, 0);
        for (int i = 0; n && i < part; i++) {
            n->out[i]->name = name_format(cx, "d_%s", x[from + i]->name);
            output[m->output_count++] = n->out[i];
        }
    }
}

bool gradients_add(Ctx *cx, const char *text, Model *m)
{
    const char *colon = strchr(text, ':');
    const Tensors l = tensors_of(cx, m);
    if (m->is_nest)
        diag_unsupported(cx, NULL, "--gradient cannot be used with a file that is one `nest`; remove `nest` from the "
                                   "file");
    if (!colon || !colon[1 + strspn(colon + 1, " ")])
        diag_usage(cx, NULL, "--gradient does not accept \"%s\"; use LOSS:X,W with names of tensors", text);
    if (ctx_failed(cx)) return false;
    const char *first = name_n(cx, text, (size_t)(colon - text));
    static const char option[] = "--gradient";
    Tensor *loss = tensor_named(&l, option, next_name(cx, &first)), **x = NEW_ARRAY(cx->arena, Tensor *, strlen(colon));
    int count = 0;
    for (const char *at = colon + 1; *at && !ctx_failed(cx);) x[count++] = tensor_named(&l, option, next_name(cx, &at));
    if (!ctx_failed(cx)) add_gradients(cx, m, loss, x, count);
    return !ctx_failed(cx);
}
