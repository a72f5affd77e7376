/* SPDX-License-Identifier: MIT */
/* Finds the parameters of a network. A call with float weights, which are a constant of several elements, is a layer. A
 * constant that is added or multiplied element by element belongs to the layer from which its operand is computed.
 * Without such a layer the constant prepares the input, and is not trained. */
#include <string.h>

#include "graph/train/train.h"
#include "support/names.h"
#include "support/text.h"

static bool is_weights(const Tensor *t)
{
    return t && tensor_is_constant(t) && dtype_is_float(t->type) && tensor_elems(t) > 1;
}

static bool is_norm(const Node *n) { return n->kind == NODE_CALL && n->op->gradient.role == GRADIENT_NORM; }

/* Returns true for a running average. A norm belongs to the layer before it; the inputs after its scale and bias are
 * running averages. */
static bool is_running(const Node *n, int input) { return is_norm(n) && input > 2; }

static bool is_layer(const Node *n)
{
    bool has = false;
    if (n->kind != NODE_CALL || is_norm(n) || n->op->fusion.pattern <= PATTERN_BROADCAST || !n->out_count
        || !dtype_is_float(n->out[0]->type))
        return false;
    for (int i = 0; i < n->in_count; i++) has = has || is_weights(n->in[i]);
    return has;
}

/* Returns the operand that is not a constant. Returns NULL if there is none, or if it has integers. */
static const Tensor *data_of(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !tensor_is_constant(n->in[i])) return dtype_is_float(n->in[i]->type) ? n->in[i] : NULL;
    return NULL;
}

static const Node *layer_of(const Node *n)
{
    while (n && n->kind == NODE_CALL && !is_layer(n)) {
        const Tensor *x = data_of(n);
        n = x ? x->producer : NULL;
    }
    return n && n->kind == NODE_CALL ? n : NULL;
}

static bool is_shift(const Node *n) { return (int)n->op->fold.affine == AFFINE_SHIFT; }

static const char *role_of(Ctx *cx, const Node *n, int input)
{
    return is_shift(n) ? "bias" : (int)n->op->fold.affine == AFFINE_SCALE ? "scale" : op_input_name(cx, n->op, input);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Returns true if at most one dimension has several elements. A table that is added is not a vector. */
static bool is_vector(const Tensor *t)
{
    int sizes = 0;
    for (int d = 0; d < t->rank; d++) sizes += tensor_dim(t, d) > 1;
    return sizes <= 1;
}

/* Returns true for a bias: a vector that is added, the bias of a norm, or the operand b or rb of a recurrent layer. */
static bool is_bias(const Node *n, int input, const char *role)
{
    return (is_shift(n) && is_vector(n->in[input])) || (is_norm(n) && input == 2) || text_equal(role, "b")
           || text_equal(role, "rb");
}

typedef struct List { Ctx *cx; int count, capacity; Trainable *at; Map seen, names; } List;

static const char *unique_name(List *l, const char *base)
{
    const char *found = base;
    for (int n = 2; map_get_ptr(&l->names, found); n++) found = name_format(l->cx, "%s_%d", base, n);
    map_put_const_ptr(&l->names, found, found);
    return found;
}

static void add(List *l, const Node *n, int input)
{
    Tensor *t = n->in[input];
    const Node *layer = is_weights(t) && !is_running(n, input) ? layer_of(n) : NULL;
    if (!layer || map_get_ptr(&l->seen, t)) return;
    map_put_ptr(&l->seen, t, t);
    if (l->count == l->capacity) {
        Trainable *more = NEW_ARRAY(l->cx->arena, Trainable, l->capacity = 2 * l->capacity + 16);
        for (int i = 0; i < l->count; i++) more[i] = l->at[i];
        l->at = more;
    }
    const char *role = role_of(l->cx, n, input);
    const char *base = name_format(l->cx, "%s_%s", name_unprefixed(l->cx, layer->name), role);
    l->at[l->count++] = (Trainable){ t, n, layer, input, is_bias(n, input, role), unique_name(l, base), role };
}

/* ---- Those of the specification ---------------------------------------------------------------------------------- */

/* Returns true if s matches the pattern. `*` matches any text, and `?` any character. */
static bool matches(const char *pattern, const char *s)
{
    if (*pattern == '*') return matches(pattern + 1, s) || (*s && matches(pattern, s + 1));
    return *pattern ? *s && (*pattern == '?' || *pattern == *s) && matches(pattern + 1, s + 1) : !*s;
}

bool train_is_named(const Trainable *p, const char *pattern)
{
    return matches(pattern, p->layer->name) || matches(pattern, p->name) || matches(pattern, p->constant->name);
}

static bool is_selected(const TrainSpec *s, const List *l, const Trainable *p)
{
    const Node *last = NULL;
    switch (s->update) {
    case UPDATE_ALL: return true;
    case UPDATE_BIASES: return p->is_bias;
    case UPDATE_LAST:
        for (int i = 0; i < l->count; i++)
            if (!last || l->at[i].layer->serial > last->serial) last = l->at[i].layer;
        return p->layer == last;
    case UPDATE_NAMED: break;
    }
    for (int i = 0; i < s->pattern_count; i++)
        if (train_is_named(p, s->pattern[i])) return true;
    return false;
}

static void check_patterns(Ctx *cx, const TrainSpec *s, const List *l)
{
    for (int i = 0; i < s->pattern_count; i++) {
        bool found = false;
        const char **names = NEW_ARRAY(cx->arena, const char *, l->count);
        Text all = text_new(cx);
        int count = 0;
        for (int k = 0; k < l->count; k++) {
            found = found || train_is_named(&l->at[k], s->pattern[i]);
            if (k && l->at[k].layer == l->at[k - 1].layer) continue;
            text_printf(&all, "%s%s", count ? ", " : "", l->at[k].layer->name);
            names[count++] = l->at[k].layer->name;
        }
        if (!found)
            diag_error(cx, NULL, "--train: \"%s\" of update names no layer with parameters%s", s->pattern[i],
                       text_hint(cx, s->pattern[i], names, (size_t)count,
                                 text_format(cx, "; use %s", text_string(&all))));
    }
}

int train_select(Ctx *cx, const TrainSpec *s, const Graph *g, Tensor *y, Trainable **out)
{
    List l = { .cx = cx, .seen = map_new(cx->arena), .names = map_new(cx->arena) };
    Node **order;
    int kept = 0;
    const int count = dag_order(cx, &y, 1, &order);
    for (int i = 0; i < g->input_count; i++) map_put_const_ptr(&l.names, g->input[i]->name, g);
    for (int n = 0; n < count; n++)
        for (int i = 0; order[n]->kind == NODE_CALL && i < order[n]->in_count; i++) add(&l, order[n], i);
    check_patterns(cx, s, &l);
    for (int i = 0; i < l.count; i++)
        if (is_selected(s, &l, &l.at[i])) kept++;
    *out = NEW_ARRAY(cx->arena, Trainable, kept);
    kept = 0;
    for (int i = 0; i < l.count; i++)
        if (is_selected(s, &l, &l.at[i])) (*out)[kept++] = l.at[i];
    if (!kept && !ctx_failed(cx))
        diag_error(cx, NULL, "--train: no layer of the network has parameters that \"update\" selects; use a network "
                   "with float weights before the output \"%s\"", y->name);
    return kept;
}
