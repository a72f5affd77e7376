/* SPDX-License-Identifier: MIT */
/* Gives an integer port the scale and the zero point of the calls at the model's border. An ONNX file states them in
 * the DequantizeLinear that reads an input, and in the QuantizeLinear that computes an output; a TFLite file states
 * them at the port. Calls that only move elements may stand between the port and these calls. A port whose readers
 * have different grids has none. */
#include "driver/driver.h"
#include "graph/dag/op.h"
#include "graph/quantize/quantized_value.h"
#include "support/map.h"

static bool moves_elements(const Node *n) { return n->op->quantization.moves_elements && n->in_count == 1; }

static const Quant *grid_of(Ctx *cx, const Node *n, DType type)
{
    Grid g;
    if (!quantized_grid(cx, n, &g)) return NULL;
    Quant *found = NEW(cx->arena, Quant);
    float *scale = NEW(cx->arena, float);
    int32_t *zero = NEW(cx->arena, int32_t);
    *scale = (float)g.step;
    *zero = (int32_t)g.zero + (type == U8 ? INT8_MAX + 1 : 0);
    *found = (Quant){ .count = 1, .scale = scale, .zero_point = zero };
    return found;
}

static const Quant *grid_of_output(Ctx *cx, const Tensor *t)
{
    const Node *n = t->producer;
    while (n && n->kind == NODE_CALL && moves_elements(n)) n = n->in[0]->producer;
    const bool stores = n && n->kind == NODE_CALL && n->op->quantization.grid == GRID_STORE;
    return stores ? grid_of(cx, n, t->type) : NULL;
}

static bool same_grid(const Quant *a, const Quant *b)
{
    return a->scale[0] == b->scale[0] && a->zero_point[0] == b->zero_point[0];
}

/* The grid that the readers of an input have so far; they do not agree if is_open is false. */
typedef struct Readers { Tensor *input; const Quant *grid; bool is_open; } Readers;

/* Notes that the call reads the tensor, which holds the elements of an input. */
static void note_reader(Ctx *cx, Map *of, Readers *r, const Node *n, int operand)
{
    const bool is_call = n->kind == NODE_CALL, reads = is_call && n->op->quantization.grid == GRID_READ && !operand;
    if (is_call && moves_elements(n)) {
        map_put_ptr(of, n->out[0], r);
        return;
    }
    const Quant *own = reads ? grid_of(cx, n, r->input->type) : NULL;
    r->is_open = r->is_open && own && (!r->grid || same_grid(r->grid, own));
    r->grid = own;
}

static bool lacks_grid(const Tensor *t) { return !t->quant && dtype_is_integer(t->type); }

/* Gives grids to the inputs, in one pass over the calls in the order of their computation. */
static void grids_of_inputs(Ctx *cx, const Model *m, Node *const *node, int count)
{
    Map of = map_new(cx->arena);
    Readers *r = NEW_ARRAY(cx->arena, Readers, m->input_count);
    for (int i = 0; i < m->input_count; i++) {
        r[i] = (Readers){ .input = m->input[i], .is_open = true };
        if (lacks_grid(m->input[i])) map_put_ptr(&of, m->input[i], &r[i]);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < node[i]->in_count; k++) {
            Readers *input = map_get_ptr(&of, node[i]->in[k]);
            if (input) note_reader(cx, &of, input, node[i], k);
        }
    for (int i = 0; i < m->input_count; i++)
        if (r[i].is_open && r[i].grid) r[i].input->quant = r[i].grid;
}

void build_port_grids(Ctx *cx, Model *m)
{
    const Graph g = { .input_count = m->input_count, .input = m->input, .output_count = m->output_count,
                      .output = m->output };
    Node **node;
    const int count = graph_order(cx, &g, &node);
    grids_of_inputs(cx, m, node, count);
    for (int i = 0; i < m->output_count && !ctx_failed(cx); i++)
        if (lacks_grid(m->output[i])) m->output[i]->quant = grid_of_output(cx, m->output[i]);
}
