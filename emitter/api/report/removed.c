/* SPDX-License-Identifier: MIT */
/* Lists the operators of the model that passes folded or removed: see parts.h. */
#include <string.h>

#include "api/report/parts.h"
#include "support/text.h"

/* Returns the key of a node: passes replace it by new nodes with the same name and operator. */
static const char *key_of(Ctx *cx, const Node *n) { return text_format(cx, "%s %s", n->op->name, n->name); }

static bool reads_constants_alone(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return false;
    return true;
}

static Map keys_of_groups(const Build *b)
{
    Map kept = map_new(b->cx->arena);
    for (int i = 0; i < b->groups.count; i++)
        for (int j = 0; j < b->groups.at[i].node_count; j++) {
            const char *key = key_of(b->cx, b->groups.at[i].node[j]);
            map_put(&kept, key, strlen(key), (void *)b);
        }
    return kept;
}

int report_removed(const Build *b, const Removed **out)
{
    Ctx *cx = b->cx;
    Map kept = keys_of_groups(b);
    Node **order;
    const Graph imported = { .name = b->name,
                             .input_count = b->model.input_count,
                             .input = b->model.input,
                             .output_count = b->model.output_count,
                             .output = b->model.output };
    const int all = graph_order(cx, &imported, &order);
    Removed *list = NEW_ARRAY(cx->arena, Removed, all);
    int count = 0;
    for (int i = 0; i < all; i++) {
        const char *key = order[i]->kind == NODE_CALL ? key_of(cx, order[i]) : NULL;
        if (!key || map_get(&kept, key, strlen(key))) continue;
        list[count++] = (Removed){ order[i], reads_constants_alone(order[i]) ? "computed at compile time"
                                             : order[i]->op->layout.is_view  ? "a view: no work"
                                             : "folded into adjacent operators or weights" };
    }
    *out = list;
    return count;
}
