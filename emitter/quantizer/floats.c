/* SPDX-License-Identifier: MIT */
/* Lists the calls of the integer network that compute in floats, each with the reason. The list follows from the
 * realized graph, because this graph is emitted, whatever the quantizer intended. */
#include "quantizer/layers.h"
#include "support/text.h"

static bool is_real(const Tensor *t) { return t && dtype_is_float(t->type) && !tensor_is_constant(t); }

/* Returns true if the call computes or compares real numbers, rather than converting or moving them. */
static bool computes_in_floats(const Node *n)
{
    bool is_float = false;
    if (n->kind == NODE_CALL) {
        const Op *op = n->op;
        if (op->quantization.grid || op->quantization.moves_elements || op->layout.is_view || op->layout.is_concat
            || op->layout.is_transpose || op->fusion.annotation) return false;
    }
    for (int i = 0; i < n->in_count; i++) is_float = is_float || is_real(n->in[i]);
    for (int i = 0; i < n->out_count; i++) is_float = is_float || is_real(n->out[i]);
    return is_float;
}

/* Returns true if the facts of the operator's row give an integer form in some cases. A function of one tensor is a
 * table. */
static bool has_integer_form(const Node *n)
{
    const OpQuantization *q = &n->op->quantization;
    int operands = 0;
    for (int i = 0; i < n->in_count; i++) operands += n->in[i] && !tensor_is_constant(n->in[i]);
    return q->is_bilinear || q->is_difference || q->is_quotient || q->limits || q->total || q->in_fixed_point
        || n->op->fold.affine || (n->op->fusion.pattern <= PATTERN_BROADCAST && operands == 1);
}

/* Returns the call that computes the tensor, before moves of its elements, or NULL for an input. */
static const Node *source_of(const Tensor *t)
{
    const Node *n = t->producer;
    while (n && n->kind == NODE_CALL && n->in_count == 1 && n->op->quantization.moves_elements) n = n->in[0]->producer;
    return n;
}

static bool has_stored_weights(const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && tensor_is_constant(n->in[i]) && n->in[i]->type == I8) return true;
    return false;
}

/* Returns a real operand that is not the result of a conversion, or NULL if all are stored. */
static const Tensor *real_operand(const Node *n)
{
    for (int i = 0; i < n->in_count; i++) {
        const Node *from = is_real(n->in[i]) ? source_of(n->in[i]) : NULL;
        if (is_real(n->in[i]) && !(from && from->kind == NODE_CALL && from->op->quantization.grid)) return n->in[i];
    }
    return NULL;
}

/* Returns the reason that an operand gives, or NULL if all are stored in widths that the integer form accepts. */
static const char *why_of_operands(Ctx *cx, const Node *n)
{
    const bool is_layer = n->op->quantization.is_bilinear || n->op->quantization.is_difference
        || n->op->fold.affine || n->op->quantization.total;
    const Tensor *real = real_operand(n);
    if (real) return text_format(cx, "its operand %s stays in floats", real->name);
    for (int i = 0; i < n->in_count && !is_layer; i++)
        if (is_real(n->in[i]) && source_of(n->in[i])->in[0]->type == I16)
            return n->op->quantization.is_quotient
                ? "its operand has 16 bits, but a quotient on integers has 8 bits"
                : n->op->quantization.in_fixed_point ? "its operand has 16 bits, and no fixed-point form has this axis"
                : "its operand has 16 bits, and no table is within a quarter of a step";
    return NULL;
}

/* Returns the bits to which the call rounds its operand, or 0 if it does not round. */
static int64_t bits_stored(const Node *n)
{
    if (n->kind != NODE_CALL) return 0;
    if (n->op->quantization.grid == GRID_SIMULATE) return node_int(n, "bits", 8);
    return n->op->quantization.grid == GRID_STORE ? n->out[0]->type == I16 ? 16 : 8 : 0;
}

/* Returns the result of the calls that continue the layer: a bias, a relu, a move. */
static const Tensor *continued(const Readers *r, const Tensor *y)
{
    for (;;) {
        const ReaderList *readers = readers_list(r, y);
        const Node *n = readers->count == 1 ? readers->at[0] : NULL;
        if (!n || n->kind != NODE_CALL || n->out_count != 1 || graph_has_output(r->graph, y)) return y;
        if (!n->op->quantization.limits && !n->op->fold.affine && !n->op->quantization.moves_elements) return y;
        y = n->out[0];
    }
}

/* Returns the reason that a consumer of the result gives. */
static const char *why_of_result(Ctx *cx, const Readers *r, const Node *n)
{
    const Tensor *y = continued(r, n->out[0]);
    const ReaderList *readers = readers_list(r, y);
    if (graph_has_output(r->graph, y)) return text_format(cx, "its result, the output %s, stays in floats", y->name);
    for (int i = 0; i < readers->count; i++) {
        const int64_t bits = bits_stored(readers->at[i]);
        if (!bits) return text_format(cx, "its result %s stays in floats", y->name);
        if (bits == 16 && n->op->quantization.is_quotient)
            return "its output has 16 bits, but a quotient on integers has 8 bits";
        if (bits == 16 && n->op->quantization.in_fixed_point)
            return "its output has 16 bits, and no fixed-point form has its axis";
    }
    return "no integer constants give its rounding";
}

static const char *why_in_floats(Ctx *cx, const Readers *r, const Node *n)
{
    if (n->kind != NODE_CALL) return "the run decides what it computes";
    if (has_stored_weights(n)) return "only its gates: its products are integers";
    if (n->op->quantization.why_real_weights) {
        const char *real = n->op->quantization.why_real_weights(cx, n, (const int[]){ 0, 0 });
        return real ? real : "an annotation or a bound keeps its weights in floats";
    }
    if (!has_integer_form(n)) return "it has no integer form";
    const char *why = why_of_operands(cx, n);
    return why ? why : why_of_result(cx, r, n);
}

int calls_in_floats(Ctx *cx, const Graph *realized, FloatCall **out)
{
    int count = 0;
    const Readers r = readers_of(cx, realized);
    FloatCall *all = NEW_ARRAY(cx->arena, FloatCall, r.count);
    Map first = map_new(cx->arena);    /* maps a call to the entry of the first call of its chain */
    for (int i = 0; i < r.count; i++) {
        const Node *n = r.order[i];
        if (!computes_in_floats(n)) continue;
        const Tensor *operand = n->kind == NODE_CALL && has_integer_form(n) ? real_operand(n) : NULL;
        const Node *before = operand ? source_of(operand) : NULL;
        FloatCall *chain = before ? map_get_ptr(&first, before) : NULL;
        if (chain) chain->after++;
        else *(chain = &all[count++]) = (FloatCall){ n, why_in_floats(cx, &r, n), 0 };
        map_put_ptr(&first, n, chain);
    }
    *out = all;
    return count;
}
