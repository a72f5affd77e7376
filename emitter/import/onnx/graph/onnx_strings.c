/* SPDX-License-Identifier: MIT */
#include "import/onnx/graph/onnx_strings.h"

#include <string.h>

int64_t onnx_string(Ctx *cx, OnnxStrings *s, const char *text)
{
    const int64_t *known = map_get_const(&s->index, text, strlen(text));
    if (known) return *known;
    if (s->count == s->capacity) {
        const char **more = NEW_ARRAY(cx->arena, const char *, s->capacity = 2 * s->capacity + 16);
        for (int i = 0; i < s->count; i++) more[i] = s->text[i];
        s->text = more;
    }
    const int64_t own = s->count;
    s->text[s->count++] = text;
    map_put_const(&s->index, text, strlen(text), arena_copy(cx->arena, &own, sizeof own));
    return own;
}

void onnx_string_indices(Ctx *cx, OnnxStrings *s, int count, const char *const *text, int64_t *out)
{
    for (int i = 0; i < count; i++) out[i] = onnx_string(cx, s, text[i]);
}

void onnx_mark_strings(OnnxStrings *s, const Tensor *t)
{
    if (t) map_put_const_ptr(&s->tensors, t, t);
}

bool onnx_holds_strings(const OnnxStrings *s, const Tensor *t) { return t && map_get_const_ptr(&s->tensors, t); }

Tensor *onnx_string_tensor(Ctx *cx, OnnxStrings *s, const OnnxTensor *t)
{
    const char *const *text;
    Tensor *out = onnx_tensor_strings(cx, t, &text);
    const int count = out ? (int)tensor_elems(out) : 0;
    int64_t *index = NEW_ARRAY(cx->arena, int64_t, count);
    onnx_string_indices(cx, s, count, text, index);
    if (out) out->data = index;
    onnx_mark_strings(s, out);
    return out;
}

static void enter_labels(Ctx *cx, OnnxStrings *s, int count, const char *const *text)
{
    if (!s->class_count) s->class_count = count, s->class_name = text;
    for (int i = 0; i < count; i++) onnx_string(cx, s, text[i]);
}

static void enter_attributes(Ctx *cx, OnnxStrings *s, const OnnxGraph *g, const char *attr)
{
    for (int i = 0; i < g->node_count; i++)
        for (int k = 0; k < g->node[i].attr_count; k++)
            if (strcmp(g->node[i].attr[k].name, attr) == 0)
                enter_labels(cx, s, g->node[i].attr[k].text_count, g->node[i].attr[k].texts);
}

void onnx_strings_open(Ctx *cx, OnnxStrings *s, const OnnxGraph *g)
{
    *s = (OnnxStrings){ .index = map_new(cx->arena), .tensors = map_new(cx->arena) };
    enter_attributes(cx, s, g, "classlabels_strings");
    for (int i = 0; i < g->initializer_count && !ctx_failed(cx); i++) {
        const char *const *text = NULL;
        const OnnxTensor *t = &g->initializer[i];
        const Tensor *list = t->data_type == ONNX_STRING && t->rank ? onnx_tensor_strings(cx, t, &text) : NULL;
        if (list) enter_labels(cx, s, (int)tensor_elems(list), text);
    }
    enter_attributes(cx, s, g, "values_strings");
}
