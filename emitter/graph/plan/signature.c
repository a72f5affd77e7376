/* SPDX-License-Identifier: MIT */
/* Computes the signature of a group, by which files of schedules find equal groups of other networks. */
#include "graph/plan/group_schedules.h"

#include "graph/dag/definition.h"
#include "support/text.h"

static void sign_tensor(Text *t, const Tensor *x)
{
    text_add(t, dtype_info(x->type)->spelling);
    for (int d = 0; d < x->rank; d++) {
        if (tensor_dim(x, d) >= 0) text_printf(t, "[%lld]", (long long)tensor_dim(x, d));
        else text_add(t, "[]");
    }
}

const char *group_signature(Ctx *cx, const Group *g)
{
    Text t = text_new(cx);
    for (int i = 0; i < g->node_count; i++) {
        const Op *op = g->node[i]->op;
        text_printf(&t, "%s%s", i ? "+" : "", op->name);
        if (op->definition) text_printf(&t, "{%s}", op->definition->text);
    }
    for (int i = 0; i < g->input_count; i++) {
        text_char(&t, i ? ',' : '(');
        sign_tensor(&t, g->input[i]);
    }
    text_char(&t, ')');
    for (int i = 0; g->anchor && i < g->anchor->attr_count; i++) {
        const Attr *a = &g->anchor->attr[i];
        if (a->kind == ATTR_INT) text_printf(&t, ";%s=%lld", a->name, (long long)a->integer);
        for (int j = 0; a->kind == ATTR_INTS && j < a->count; j++)
            text_printf(&t, "%s%lld", j ? "," : text_format(cx, ";%s=", a->name), (long long)a->ints[j]);
    }
    return text_string(&t);
}
