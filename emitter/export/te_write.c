/* SPDX-License-Identifier: MIT */
/* Writes .te files: see te_write.h. */
#include "export/te_write.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

typedef struct TeWriter {
    Ctx *cx;
    Text text;
    Map names;                         /* maps a tensor to its name in the file */
    Map taken;                         /* names in the file */
} TeWriter;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Names of values. Words that begin a statement are names of tensors wherever te_write prints one. */
static bool is_reserved(const char *word)
{
    static const char *const words[] = { "true", "false", "inf", "nan", "_" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text_equal(words[i], word)) return true;
    return false;
}

/* Returns an unused identifier similar to the tensor's name: "conv/1:0" gives conv_1_0. */
static const char *fresh_name(TeWriter *w, const char *wanted)
{
    Text t = text_new(w->cx);
    if (!is_letter(*wanted) && *wanted != '_') text_add(&t, "t_");
    for (const char *s = wanted; *s; s++) text_char(&t, is_letter(*s) || is_digit(*s) ? *s : '_');
    const char *base = text_string(&t);
    if (is_reserved(base)) base = text_format(w->cx, "%s_", base);
    const char *unique = name(w->cx, base);
    for (int i = 2; map_get_const_ptr(&w->taken, unique); i++) unique = name_format(w->cx, "%s_%d", base, i);
    map_put_const_ptr(&w->taken, unique, unique);
    return unique;
}

static const char *name_tensor(TeWriter *w, const Tensor *t, const char *wanted)
{
    const char *unique = fresh_name(w, wanted && *wanted ? wanted : "t");
    map_put_const_ptr(&w->names, t, unique);
    return unique;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void add_element(Text *t, DType type, Scalar v)
{
    if (type == F32) text_float(t, (float)v.f);
    else if (dtype_is_float(type)) text_double(t, v.f);
    else if (type == BOOL) text_add(t, v.i ? "true" : "false");
    else if (type == U64) text_printf(t, "%llu", (unsigned long long)v.i);
    else text_printf(t, "%lld", (long long)v.i);
}

static const char *shape_text(Ctx *cx, const Tensor *t) { return t->rank ? tensor_shape_names(cx, t) : ""; }

static void write_constant(TeWriter *w, const Tensor *t)
{
    enum { A_LINE = 16 };
    Text *out = &w->text;
    const int64_t count = tensor_elems(t);
    text_printf(out, "const %s: %s%s = [", name_tensor(w, t, t->name), dtype_info(t->type)->spelling,
                shape_text(w->cx, t));
    for (int64_t i = 0; i < count; i++) {
        text_add(out, !i ? "" : i % A_LINE ? ", " : ",\n    ");
        add_element(out, t->type, dtype_load(t->type, t->data, i));
    }
    text_add(out, "]\n");
}

static const char *operand_name(TeWriter *w, const Tensor *t)
{
    if (!t) return "_";
    if (tensor_is_constant(t) && !map_get_const_ptr(&w->names, t)) write_constant(w, t);
    return map_get_const_ptr(&w->names, t);
}

static void add_quant(Text *t, const Quant *q)
{
    if (!q || q->count != 1) return;
    text_add(t, " scale=");
    text_float(t, q->scale[0]);
    text_printf(t, " zero=%d", (int)q->zero_point[0]);
}

static void write_input(TeWriter *w, const Tensor *t)
{
    text_printf(&w->text, "input %s: %s%s", name_tensor(w, t, t->name), dtype_info(t->type)->spelling,
                shape_text(w->cx, t));
    add_quant(&w->text, t->quant);
    text_char(&w->text, '\n');
}

static bool is_list(const Attr *a) { return (a->kind == ATTR_INTS || a->kind == ATTR_REALS) && a->count != 1; }

/* Returns true if the reader of the file supplies the value. */
static bool is_default(Ctx *cx, const Op *op, const Attr *a)
{
    const AttrRow *row = op_attr_row(op, a->name);
    return row && row->otherwise && text_equal(row->otherwise, attr_text(cx, a));
}

static void add_attr(TeWriter *w, Text *t, const Attr *a)
{
    const char *value = attr_text(w->cx, a), *quote = a->kind == ATTR_TEXT ? "\"" : "";
    text_printf(t, is_list(a) ? "%s=[%s]" : "%s=%s%s%s", a->name, is_list(a) ? value : quote, value, quote);
}

static void write_call(TeWriter *w, const Node *n)
{
    Ctx *cx = w->cx;
    Text operands = text_new(cx);
    if (n->kind != NODE_CALL || n->op->definition) {
        diag_unsupported(cx, name_format(cx, "node \"%s\"", n->name), "a written .te file cannot have a %s",
                         n->kind == NODE_REGION ? "region (If, Loop, Scan)" : "formula");
        return;
    }
    for (int i = 0; i < n->in_count; i++)
        text_printf(&operands, "%s%s", operands.length ? ", " : "", operand_name(w, n->in[i]));
    for (int i = 0; i < n->attr_count; i++) {
        const Attr *a = &n->attr[i];
        if (is_default(cx, n->op, a)) continue;
        if (a->kind == ATTR_TENSOR || ((a->kind == ATTR_INTS || a->kind == ATTR_REALS) && !a->count)) continue;
        text_add(&operands, operands.length ? ", " : "");
        add_attr(w, &operands, a);
    }
    for (int i = 0; i < n->out_count; i++)
        text_printf(&w->text, "%s%s", i ? ", " : "", (const char *)map_get_const_ptr(&w->names, n->out[i]));
    text_printf(&w->text, " = %s(%s)\n", n->op->name, text_string(&operands));
}

/* Outputs get their names first, then computed tensors, then constants. The interface must have the model's names, and
 * its functions must keep their names. */
static void name_tensors(TeWriter *w, const Graph *g, const char *const *names, Node *const *order, int count)
{
    for (int i = 0; i < g->output_count; i++)
        if (!map_get_const_ptr(&w->names, g->output[i])) name_tensor(w, g->output[i], names[i]);
    for (int i = 0; i < count; i++)
        for (int o = 0; o < order[i]->out_count; o++) {
            const Tensor *t = order[i]->out[o];
            if (!map_get_const_ptr(&w->names, t)) name_tensor(w, t, t->name);
        }
}

static void write_outputs(TeWriter *w, const Graph *g)
{
    for (int i = 0; i < g->output_count; i++) {
        const Tensor *t = g->output[i];
        text_printf(&w->text, "output %s", operand_name(w, t));
        add_quant(&w->text, t->quant);
        text_char(&w->text, '\n');
        if (!t->producer)
            diag_unsupported(w->cx, NULL, "a written .te file cannot have the output \"%s\", which no call computes",
                             t->name);
    }
}

static bool is_open(const Graph *g)
{
    for (int i = 0; i < g->input_count; i++)
        if (!tensor_is_fixed(g->input[i])) return true;
    return false;
}

const char *te_write(Ctx *cx, const Graph *g, const char *const *names, const char *head)
{
    TeWriter w = { cx, text_new(cx), map_new(cx->arena), map_new(cx->arena) };
    Node **order;
    const int count = graph_order(cx, g, &order);
    if (is_open(g)) diag_unsupported(cx, NULL, "a written .te file cannot have open sizes; fix them with --dim");
    for (const char *s = head ? head : ""; *s; s += strcspn(s, "\n"), s += *s == '\n')
        text_printf(&w.text, "# %.*s\n", (int)strcspn(s, "\n"), s);
    for (int i = 0; i < g->input_count && !ctx_failed(cx); i++) write_input(&w, g->input[i]);
    name_tensors(&w, g, names, order, count);
    for (int i = 0; i < count && !ctx_failed(cx); i++) write_call(&w, order[i]);
    if (!ctx_failed(cx)) write_outputs(&w, g);
    return ctx_failed(cx) ? NULL : text_string(&w.text);
}
