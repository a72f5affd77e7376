/* SPDX-License-Identifier: MIT */
/* Finds groups that differ only in names: their calls, attributes and inner tensors have equal values. If a nest
 * contains no name of the model, it depends on nothing else, so equal groups have one nest. Long chains consist of few
 * different groups. */

/* Decision: equal groups have one nest. A nest of the strategy depends on the values of its group (operators,
 * attributes, types, shapes, small constants), not on names. `graph/plan/equal_groups.c` writes these values as a
 * key; the second group with a key receives the first one's nest, and so its function. 10,000 layers of softmax take
 * 0.7 s and 150 MB, scheduled one by one 5.8 s and 1.2 GB. Groups with names of the model's file, and groups that a
 * user's row may receive, have no key. */
#include "graph/plan/plan.h"

#include <string.h>

#include "graph/dag/registry.h"
#include "support/map.h"
#include "support/text.h"

/* A constant up to this size is equal to a constant with equal values; a larger constant is equal only to itself. */
enum { MOST_CONSTANT_BYTES = 64 };

typedef struct Key { Ctx *cx; Text text; Map number; int64_t tensor_count; } Key;

static void put(Key *k, const void *at, size_t bytes) { text_addn(&k->text, at, bytes); }
static void put_int(Key *k, int64_t i) { put(k, &i, sizeof i); }
static void put_pointer(Key *k, const void *p) { put_int(k, (int64_t)(uintptr_t)p); }

static void put_text(Key *k, const char *text)
{
    put_int(k, text ? (int64_t)strlen(text) : -1);
    if (text) put(k, text, strlen(text));
}

static void put_quant(Key *k, const Quant *q)
{
    put_int(k, q ? q->count : -1);
    if (!q) return;
    put_int(k, q->axis);
    put(k, q->scale, (size_t)q->count * sizeof *q->scale);
    put(k, q->zero_point, (size_t)q->count * sizeof *q->zero_point);
}

static void put_data(Key *k, const Tensor *t)
{
    const int64_t bytes = t->data ? tensor_bytes(t) : -1;
    const bool is_small = bytes >= 0 && bytes <= MOST_CONSTANT_BYTES;
    put_int(k, bytes);
    if (is_small) put(k, t->data, (size_t)bytes);
    else put_pointer(k, t->data);
}

/* Writes a tensor at its first occurrence, and later only its number in the group. */
static void put_tensor(Key *k, const Tensor *t)
{
    int64_t *number = t ? map_get_ptr(&k->number, t) : NULL;
    put_int(k, !t ? -1 : number ? *number : k->tensor_count);
    if (!t || number) return;
    map_put_ptr(&k->number, t, number = NEW(k->cx->scratch, int64_t));
    *number = k->tensor_count++;
    put_int(k, t->type);
    put_int(k, t->rank);
    for (int d = 0; d < t->rank; d++) put_pointer(k, t->shape[d]);      /* sizes are interned */
    put_data(k, t);
    put_quant(k, t->quant);
    put_text(k, t->word);
}

static void put_attr(Key *k, const Attr *a)
{
    put_text(k, a->name);
    put_int(k, a->kind);
    put_int(k, a->count);
    put_int(k, a->integer);
    put(k, &a->real, sizeof a->real);
    put_text(k, a->text);
    if (a->kind == ATTR_INTS) put(k, a->ints, (size_t)a->count * sizeof *a->ints);
    if (a->kind == ATTR_REALS) put(k, a->reals, (size_t)a->count * sizeof *a->reals);
    put_tensor(k, a->tensor);
}

static void put_tensors(Key *k, Tensor *const *t, int count)
{
    put_int(k, count);
    for (int i = 0; i < count; i++) put_tensor(k, t[i]);
}

static void put_node(Key *k, const Node *n)
{
    put_pointer(k, n->op);
    put_pointer(k, n->match);
    put_text(k, n->device);
    put_int(k, n->attr_count);
    for (int i = 0; i < n->attr_count; i++) put_attr(k, &n->attr[i]);
    put_tensors(k, n->in, n->in_count);
    put_tensors(k, n->out, n->out_count);
}

static bool has_rows_of_users(Ctx *cx)
{
    int count;
    const Implementation *const *all = implementation_list(cx, &count);
    for (int i = 0; i < count; i++)
        if (all[i]->user) return true;
    return false;
}

const char *group_key(Ctx *cx, const Group *g, size_t *bytes)
{
    if (g->keeps_names || g->naive || has_rows_of_users(cx)) return NULL;
    Key k = { cx, { .arena = cx->scratch }, map_new(cx->scratch), 0 };
    put_tensors(&k, g->input, g->input_count);
    put_int(&k, g->node_count);
    for (int i = 0; i < g->node_count; i++) {
        if (g->node[i]->kind != NODE_CALL) return NULL;
        put_node(&k, g->node[i]);
        if (g->node[i] == g->anchor) put_text(&k, "anchor");
    }
    put_tensors(&k, g->output, g->output_count);
    *bytes = k.text.length;
    return text_string(&k.text);
}
