/* SPDX-License-Identifier: MIT */
/* Translates operators of an ONNX file that C functions of the user compute (--extern). The file declares the types and
 * shapes of the results. The attributes, ordered by name, are the last arguments. */
#include "import/onnx/graph/onnx_foreign.h"

#include <string.h>

#include "import/model/foreign.h"
#include "support/text.h"

static const ImportExtern *extern_of(const OnnxImport *im, const OnnxNode *n)
{
    const ImportExtern *of_domain = import_extern(im->options, text_format(im->cx, "%s.%s", n->domain, n->type));
    return of_domain ? of_domain : import_extern(im->options, n->type);
}

static void add_output(OnnxCall *c, ForeignCall *f, const char *value_name)
{
    const OnnxValue *v = map_get_const_ptr(&c->scope->declared, value_name);
    int64_t dim[MAX_RANK];
    DType type;
    if (!v || !onnx_dtype(v->data_type, &type)) {
        onnx_unsupported(c, "its output \"%s\" is computed with --extern, but has no declared shape or type of numbers "
                         "in the file; declare it with fixed sizes, for example with onnx.shape_inference",
                         value_name);
        return;
    }
    for (int d = 0; d < v->rank; d++) dim[d] = v->dim[d].size;
    foreign_add_output(f, type, v->rank, dim);
}

/* Adds the attributes in the order of their names. */
static void add_attributes(OnnxCall *c, ForeignCall *f)
{
    const OnnxAttr *last = NULL;
    for (int k = 0; k < c->node->attr_count; k++) {
        const OnnxAttr *next = NULL;
        for (int i = 0; i < c->node->attr_count; i++) {
            const OnnxAttr *a = &c->node->attr[i];
            if ((!last || strcmp(a->name, last->name) > 0) && (!next || strcmp(a->name, next->name) < 0)) next = a;
        }
        if (!next) return;
        if (next->kind != ONNX_ATTR_INT && next->kind != ONNX_ATTR_FLOAT)
            onnx_unsupported(c, "its attribute '%s' is not a number; use only INT and FLOAT attributes with --extern",
                             next->name);
        else if (next->i > INT32_MAX || next->i < -INT32_MAX)
            onnx_unsupported(c, "its attribute '%s' is %lld; use a 32-bit number with --extern", next->name,
                             (long long)next->i);
        else foreign_add_number(f, next->kind == ONNX_ATTR_FLOAT, next->i, next->f);
        last = next;
    }
}

static void translate_foreign(OnnxCall *c)
{
    const ImportExtern *e = extern_of(c->scope->import, c->node);
    ForeignCall f = foreign_new(c->cx, e->function);
    if (c->node->out_count > ONNX_OUTPUTS)
        onnx_refuse(c, "it has %d outputs; use at most %d outputs", c->node->out_count, ONNX_OUTPUTS);
    for (int i = 0; i < c->in_count && !ctx_failed(c->cx); i++)
        if (!c->in[i]) onnx_refuse(c, "input %d is absent or a sequence; use a tensor for every input with --extern",
                                      i);
    for (int i = 0; i < c->node->out_count && !ctx_failed(c->cx); i++) add_output(c, &f, c->node->out[i]);
    if (!ctx_failed(c->cx)) add_attributes(c, &f);
    Tensor *first = ctx_failed(c->cx) ? NULL : foreign_call(&f, c->name, c->in, c->in_count);
    for (int i = 0; first && i < c->node->out_count; i++) c->out[i] = first->producer->out[i];
}

const OnnxOp *onnx_foreign_row(const OnnxImport *im, const OnnxNode *n)
{
    if (!extern_of(im, n)) return NULL;
    Text attrs = text_new(im->cx);
    for (int i = 0; i < n->attr_count; i++) text_printf(&attrs, "%s%s", i ? " " : "", n->attr[i].name);
    OnnxOp *row = NEW(im->cx->arena, OnnxOp);
    *row = (OnnxOp){ ONNX_ROW(n->type, ONNX_ANY, text_string(&attrs), translate_foreign) };
    return row;
}
