/* SPDX-License-Identifier: MIT */
/* Finds the row of an ONNX operator and applies it. The caller passes the rows, because some of them import graphs
 * (ops/onnx_rows.c).
 *
 * 16-bit floats are only stored. Unless the row only moves elements, its 16-bit inputs are cast to f32 before the
 * translation, and its f32 results are cast back. */
#include "import/onnx/graph/onnx_ops.h"

#include <string.h>

#include "graph/dag/registry.h"
#include "support/text.h"

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

void onnx_op_register(Ctx *cx, const OnnxOp *op)
{
    map_put_const(&registry(cx)->importer_row, op->name, strlen(op->name), op);
}

const OnnxOp *onnx_op_find(Ctx *cx, const OnnxOp *const *rows, const char *op_name)
{
    const OnnxOp *own = map_get_const(&registry(cx)->importer_row, op_name, strlen(op_name));
    if (own) return own;
    for (int i = 0; rows[i]; i++)
        for (const OnnxOp *op = rows[i]; op->name; op++)
            if (strcmp(op->name, op_name) == 0) return op;
    return NULL;
}

/* Returns the insertion index of the name in the sorted rows, after rows of the same name. */
static int sorted_index(const OnnxOp *const *sorted, int count, const char *op_name)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (strcmp(sorted[middle]->name, op_name) > 0) high = middle;
        else low = middle + 1;
    }
    return low;
}

const OnnxOp **onnx_op_list(Ctx *cx, const OnnxOp *const *rows, int *count)
{
    int capacity = 0;
    for (int i = 0; rows[i]; i++)
        for (const OnnxOp *op = rows[i]; op->name; op++) capacity++;
    const OnnxOp **all = NEW_ARRAY(cx->arena, const OnnxOp *, capacity);
    *count = 0;
    for (int i = 0; rows[i]; i++)
        for (const OnnxOp *op = rows[i]; op->name; op++) {
            const int at = sorted_index(all, *count, op->name);
            memmove(&all[at + 1], &all[at], (size_t)((*count)++ - at) * sizeof(const OnnxOp *));
            all[at] = op;
        }
    return all;
}

const char *onnx_op_near(Ctx *cx, const OnnxOp *const *rows, const char *op_name)
{
    int count;
    const OnnxOp **all = onnx_op_list(cx, rows, &count);
    const char **names = NEW_ARRAY(cx->arena, const char *, count);
    for (int i = 0; i < count; i++) names[i] = all[i]->name;
    return text_nearest(cx, op_name, names, (size_t)count);
}

/* Returns true for an optimization hint of operator set 1, which has no effect on the result. */
static bool is_hint(const char *attr) { return strcmp(attr, "consumed_inputs") == 0; }

bool onnx_op_has_attr(const OnnxOp *op, const char *attr)
{
    size_t length = strlen(attr);
    for (const char *p = op->attrs; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == length && memcmp(p, attr, length) == 0) return true;
    return is_hint(attr);
}

/* ---- Translation ------------------------------------------------------------------------------------------------- */

static AttrKind kind_of_attr(const Op *op, const char *attr)
{
    for (const AttrRow *r = op ? op->attr : NULL; r && r->name; r++)
        if (strcmp(r->name, attr) == 0) return r->kind;
    return ATTR_REAL;
}

/* Calls the IR operator with the node's inputs and attributes; all attributes translated this way are numbers. */
static void translate_directly(OnnxCall *c)
{
    const Op *op = op_find(c->cx, c->op_name);
    Attr *attrs = NEW_ARRAY(c->cx->arena, Attr, c->node->attr_count + 1), *next = attrs;
    for (int i = 0; i < c->node->attr_count; i++) {
        const OnnxAttr *a = &c->node->attr[i];
        if (is_hint(a->name)) continue;
        *next++ = kind_of_attr(op, a->name) == ATTR_INT ? attr_int(a->name, a->i) : attr_real(a->name, a->f);
    }
    c->out[0] = call(c->cx, c->op_name, c->name, c->in, c->in_count, attrs);
}

static bool is_half(const Tensor *t) { return t && (t->type == F16 || t->type == BF16); }

void onnx_translate(OnnxCall *c, const OnnxOp *op)
{
    DType half = F32;
    for (int i = 0; i < c->in_count && !op->moves; i++) {
        if (!is_half(c->in[i])) continue;
        if (half == F32) half = c->in[i]->type;
        c->in[i] = onnx_cast(c, c->in[i], F32);
    }
    c->op_name = op->op;
    if (op->translate) op->translate(c);
    else translate_directly(c);
    for (int i = 0; i < ONNX_OUTPUTS && half != F32; i++)
        if (c->out[i] && c->out[i]->type == F32) c->out[i] = onnx_cast(c, c->out[i], half);
}

Tensor *onnx_translate_as(OnnxCall *c, const char *op_name, int64_t opset, Tensor **in, int in_count,
                          const OnnxNode *node)
{
    if (ctx_failed(c->cx)) return NULL;
    OnnxCall *other = arena_copy(c->cx->arena, c, sizeof *c);
    if (node) other->node = node;
    other->in = in;
    other->in_count = in_count;
    other->list = NEW_ARRAY(c->cx->arena, const OnnxList *, in_count);
    other->opset = opset;
    onnx_translate(other, onnx_op_find(c->cx, c->rows, op_name));
    for (int i = 0; node && i < ONNX_OUTPUTS; i++) c->out[i] = other->out[i];
    return other->out[0];
}
