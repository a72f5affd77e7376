/* SPDX-License-Identifier: MIT */
/* Handles lists of integers that the run computes, element by element. An element is a number, a size, or a value that
 * becomes a size of the run. */
#include "import/onnx/graph/onnx_listed.h"

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_sizes.h"

Tensor *onnx_integer(OnnxCall *c, int64_t v) { return tensor_constant(c->cx, c->name, I64, 0, NULL, &v); }

Tensor *onnx_not_negative(OnnxCall *c, Tensor *x)
{
    Tensor *zero = onnx_integer(c, 0);
    return onnx_call2(c, "max", x, zero);
}

Tensor *onnx_number_at(OnnxCall *c, Tensor *all, int64_t at)
{
    if (all && all->rank > 1) all = onnx_reshape(c, all, (int64_t[]){ -1 }, 1);
    if (all && all->rank && tensor_elems(all) > 1)
        all = onnx_call(c, "slice", all, attr_list("axes", 0), attr_list("begin", at), attr_list("end", at + 1));
    return !all || !all->rank ? all : onnx_reshape(c, all, NULL, 0);
}

typedef struct ElementKey { const Tensor *list; int64_t at; } ElementKey;

Tensor *onnx_element(OnnxCall *c, Tensor *list, int i)
{
    int64_t at = i;
    Tensor *all = onnx_materialize_sizes(c->scope->import, list);
    if (!all) return NULL;
    all = decided_origin(all, &at);
    const ElementKey key = { all, at };
    Map *known = &c->scope->import->elements;
    Tensor *element = map_get(known, &key, sizeof key);
    if (element) return element;
    all = onnx_cast(c, all, I64);
    if (all && tensor_is_constant(all)) return onnx_integer(c, dtype_load(I64, all->data, at).i);
    element = onnx_number_at(c, all, at);
    if (element) map_put(known, arena_copy(c->cx->arena, &key, sizeof key), sizeof key, element);
    return element;
}

const Expr *onnx_size_behind(OnnxCall *c, const Tensor *element)
{
    if (!element) return NULL;
    return tensor_is_constant(element) ? expr_index(c->cx, dtype_load(I64, element->data, 0).i)
                                       : bound_size(element->producer);
}

bool onnx_is_of_run(const OnnxCall *c, int input)
{
    const Tensor *t = onnx_in(c, input);
    return t && !tensor_is_constant(t) && !onnx_is_list(c, t) && t->rank <= 1 && tensor_is_fixed(t)
           && dtype_is_integer(t->type);
}

const Expr *onnx_listed_size(OnnxCall *c, int output, int axis, Tensor *element, int64_t natural)
{
    const Expr *known = onnx_size_behind(c, element);
    if (known && interval_of(c->cx, known, NULL).least < 0)
        onnx_refuse(c, "a size is %lld; use 0 or more", (long long)interval_of(c->cx, known, NULL).least);
    return known ? known : element ? onnx_decided(c, output, axis, element, 0, natural) : NULL;
}
