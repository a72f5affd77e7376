/* SPDX-License-Identifier: MIT */
/* Schedules the call of an external C function, by the step `external`. */
#include "schedules/tile.h"
#include "support/text.h"

static void add_dims(Text *t, const Tensor *x)
{
    for (int d = 0; d < x->rank; d++) text_printf(t, ", %lld", (long long)tensor_dim(x, d));
}

static const Nest *call_of(Ctx *cx, const GroupNest *g)
{
    const Node *n = g->group->anchor;
    Text t = text_new(cx);
    text_printf(&t, "external %s %s(", g->anchor, node_text(n, "function", ""));
    for (int i = 0; i < n->in_count; i++) text_printf(&t, "%s%s", i ? ", " : "", g->anchor_in[i]);
    for (int i = 0; i < n->out_count; i++) text_printf(&t, ", %s", g->anchor_out[i]);
    for (int i = 0; i < n->in_count; i++) add_dims(&t, n->in[i]);
    for (int i = 0; i < n->out_count; i++) add_dims(&t, n->out[i]);
    const char *numbers = node_text(n, "numbers", "");
    text_printf(&t, "%s%s)", *numbers ? ", " : "", numbers);
    return sched_step(cx, g->nest, text_string(&t));
}

const Implementation implementations_generic_foreign[] = {
    { .name = "foreign.call", .plevel = 100, .ops = "foreign_call", .what = "the C function", .schedule = call_of },
    { 0 }
};
