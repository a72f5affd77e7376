/* SPDX-License-Identifier: MIT */
/* Writes to rows of a list. Converters lower the assignment of element i of a TensorList, one for each step of a
 * recurrent layer in a loop, to slices of sizes that only the run knows:
 *
 *   CONCATENATION(SLICE(list, 0, [i,-1,..]), item, SLICE(list, [i+1,0,..], -1))
 *
 * The result has the list's shape, so the second slice begins behind the item whatever its begin is computed from, and
 * the three operators are DYNAMIC_UPDATE_SLICE(list, item, [i,-1,..]): begins of other dimensions are clamped to 0. */
#include "import/tflite/file/tflite_file.h"

enum { CONCATENATION = 2, SLICE = 65, DYNAMIC_UPDATE_SLICE = 151, AXIS = 0, ACTIVATION = 1 };

/* True for constant 32-bit integers that are all of one byte's bits: 0, or -1. */
static bool is_all(const TfliteFile *f, int tensor, int byte)
{
    const Bytes data = f->tensor[tensor].data;
    for (size_t i = 0; i < data.count; i++)
        if (data.at[i] != byte) return false;
    return data.count > 0;
}

static bool is_slice(const TfliteOperator *op)
{
    return op && op->code == SLICE && op->in_count == 3 && op->in[0] >= 0 && op->in[1] >= 0 && op->in[2] >= 0;
}

static bool same_sizes(const TfliteTensor *a, const TfliteTensor *b, int first)
{
    bool are_same = a->rank == b->rank && a->type == b->type;
    for (int d = first; are_same && d < a->rank; d++)
        are_same = a->dim[d] == b->dim[d] && !a->is_open[d] && !b->is_open[d];
    return are_same;
}

/* producer: of each tensor; NULL: none. part: the slices before and after the item. */
static bool is_list_write(const TfliteFile *f, TfliteOperator *const *producer, const TfliteOperator *op,
                          const TfliteOperator **part)
{
    if (op->code != CONCATENATION || op->in_count != 3 || op->out_count != 1 || flat_int(&op->options, AXIS, 4, 0)
        || flat_int(&op->options, ACTIVATION, 1, 0))
        return false;
    for (int i = 0; i < 3; i++)
        if (op->in[i] < 0) return false;
    const TfliteOperator *before = part[0] = producer[op->in[0]], *after = part[1] = producer[op->in[2]];
    if (!is_slice(before) || !is_slice(after) || before->in[0] != after->in[0]) return false;
    const TfliteTensor *list = &f->tensor[before->in[0]], *item = &f->tensor[op->in[1]], *y = &f->tensor[op->out[0]];
    return is_all(f, before->in[1], 0) && !f->tensor[before->in[2]].data.count && !f->tensor[after->in[1]].data.count
           && is_all(f, after->in[2], 0xff) && list->rank >= 1 && same_sizes(list, y, 0) && same_sizes(list, item, 1)
           && item->dim[0] == 1 && !item->is_open[0];
}

/* Marks the tensors that an operator reads, and the outputs. */
static bool *used_tensors(Ctx *cx, const TfliteFile *f)
{
    bool *is_used = NEW_ARRAY(cx->arena, bool, f->tensor_count + 1);
    for (int i = 0; i < f->output_count; i++) is_used[f->output[i]] = true;
    for (int i = 0; i < f->operator_count; i++)
        for (int k = 0; k < f->operator[i].in_count; k++)
            if (f->operator[i].in[k] >= 0) is_used[f->operator[i].in[k]] = true;
    return is_used;
}

void tflite_join_lists(Ctx *cx, TfliteFile *f)
{
    const TfliteOperator *part[2];
    TfliteOperator **producer = NEW_ARRAY(cx->arena, TfliteOperator *, f->tensor_count + 1);
    bool *is_part = NEW_ARRAY(cx->arena, bool, f->operator_count + 1);
    for (int i = 0; i < f->operator_count; i++)
        for (int k = 0; k < f->operator[i].out_count; k++) producer[f->operator[i].out[k]] = &f->operator[i];
    for (int i = 0; i < f->operator_count; i++) {
        TfliteOperator *op = &f->operator[i];
        if (!is_list_write(f, producer, op, part)) continue;
        int *in = NEW_ARRAY(cx->arena, int, 3);
        in[0] = part[0]->in[0];
        in[1] = op->in[1];
        in[2] = part[0]->in[2];
        for (int k = 0; k < 2; k++) is_part[part[k] - f->operator] = true;
        op->code = DYNAMIC_UPDATE_SLICE;
        op->version = 1;
        op->options_type = 0;
        op->in = in;
    }
    const bool *is_used = used_tensors(cx, f);
    int kept = 0;
    for (int i = 0; i < f->operator_count; i++)
        if (!is_part[i] || is_used[f->operator[i].out[0]]) f->operator[kept++] = f->operator[i];
    f->operator_count = kept;
}
