/* SPDX-License-Identifier: MIT */
/* Recognizes writes to rows of a list. Converters lower the assignment of element i of a TensorList, one for each step
 * of a recurrent layer in a loop, to slices of sizes that the run decides:
 *
 *   CONCATENATION(SLICE(list, 0, [i,-1,..]), item, SLICE(list, [i+1,0,..], -1))
 *
 * Where the result has the list's shape, the second slice begins after the item, wherever its begin is computed from.
 * The three operators are then DYNAMIC_UPDATE_SLICE(list, item, [i,-1,..]): begins of other dimensions are clamped to
 * 0. The shape of a list with an open number of rows proves nothing. The begin must then be ADD(i, 1), as in tf.map_fn,
 * or the list may grow. */
#include "import/tflite/file/tflite_file.h"

#include <string.h>

enum { ADD = 0, CONCATENATION = 2, RESHAPE = 22, SLICE = 65, PACK = 83, DYNAMIC_UPDATE_SLICE = 151 };
enum { AXIS = 0, ACTIVATION = 1 };

/* Returns true for constant 32-bit integers whose bytes all equal `byte`, such as 0 and -1. */
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
        are_same = a->dim[d] == b->dim[d] && a->is_open[d] == b->is_open[d] && (!d || !a->is_open[d]);
    return are_same;
}

/* Returns the tensor that has the first element of `tensor`, before reshapes and joins. */
static int first_of(TfliteOperator *const *producer, int tensor, int steps)
{
    const TfliteOperator *op = producer[tensor];
    for (; op && steps > 0; op = producer[tensor], steps--) {
        const bool is_kept = op->code == RESHAPE || op->code == CONCATENATION || op->code == PACK;
        if (!is_kept || op->in_count < 1 || op->in[0] < 0) break;
        tensor = op->in[0];
    }
    return tensor;
}

/* Returns true if the first element of `next` is the first element of `at` plus 1. */
static bool is_behind(const TfliteFile *f, TfliteOperator *const *producer, int at, int next)
{
    enum { ADD_ACTIVATION = 0, MOST_STEPS = 4 };
    static const uint8_t one[4] = { 1, 0, 0, 0 };
    const TfliteOperator *op = producer[first_of(producer, next, MOST_STEPS)];
    if (!op || op->code != ADD || op->in_count != 2 || flat_int(&op->options, ADD_ACTIVATION, 1, 0)) return false;
    at = first_of(producer, at, MOST_STEPS);
    for (int i = 0; i < 2; i++) {
        const int other = op->in[1 - i];
        if (op->in[i] < 0 || other < 0 || first_of(producer, op->in[i], MOST_STEPS) != at) continue;
        const TfliteTensor *t = &f->tensor[other];
        if (t->type == TFLITE_INT32 && t->data.count == 4 && memcmp(t->data.at, one, 4) == 0) return true;
    }
    return false;
}

/* producer: the producer of each tensor, or NULL. part: the slices before and after the item. */
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
           && item->dim[0] == 1 && !item->is_open[0]
           && (!list->is_open[0] || is_behind(f, producer, before->in[2], after->in[1]));
}

/* Returns an array [tensors]: true if an operator reads the tensor, or if it is an output. */
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
