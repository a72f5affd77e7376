/* SPDX-License-Identifier: MIT */
/* Translates TensorFlow's lists of tensors, which Keras leaves in a file for the steps of a recurrent layer (Flex
 * operators). Here a list is one tensor, [elements][shape of an element]: a reserved list is zeros, an element is a
 * row. A list made from a tensor, or stacked to a tensor, is this tensor. A list that grows has no fixed shape and is
 * refused.
 *
 * A reserved list has the shape of the tensor to which it is stacked, through the loop that fills it. */
#include "import/tflite/custom/tflite_custom.h"

#include <string.h>

enum { WHILE = 119, MOST_STEPS = 16 };
#define STACK "FlexTensorListStack"
#define SET_ITEM "FlexTensorListSetItem"

static bool is_named(const TfliteOperator *op, const char *name)
{
    return op->code == TFLITE_CUSTOM && strcmp(op->custom, name) == 0;
}

/* Returns the tensor that has the list after the operator, whose input i is the list: a loop's result, or the list with
 * one more item. */
static int handed_on(const TfliteOperator *op, int i)
{
    if (op->code == WHILE && i < op->out_count) return op->out[i];
    return is_named(op, SET_ITEM) && i == 0 && op->out_count == 1 ? op->out[0] : -1;
}

/* Follows the list from tensor to tensor. Returns the tensor to which the list is stacked, or NULL if there is none. */
static const TfliteTensor *stacked(const TfliteFile *f, int list)
{
    for (int step = 0; step < MOST_STEPS && list >= 0; step++) {
        int next = -1;
        for (int k = 0; k < f->operator_count; k++)
            for (int i = 0; i < f->operator[k].in_count; i++) {
                const TfliteOperator *op = &f->operator[k];
                if (op->in[i] != list) continue;
                if (is_named(op, STACK) && i == 0 && op->out_count == 1) return &f->tensor[op->out[0]];
                if (next < 0) next = handed_on(op, i);
            }
        list = next;
    }
    return NULL;
}

/* The inputs are the shape of an element and the number of elements. */
static void list_reserve(TfliteCall *c)
{
    int64_t count, shape[MAX_RANK];
    DType type;
    const TfliteTensor *y = stacked(c->file, c->op->out[0]);
    if (!tflite_needs(c, 2) || !tflite_list(c, 1, &count, 1)) return;
    if (!y)
        tflite_unsupported(c, "no TensorListStack reads the list after the loop that fills it; stack the list, or "
                           "convert the model without SELECT_TF_OPS");
    else if (!tflite_dtype(y->type, &type))
        tflite_unsupported(c, "the list is stacked to the type %s; use a type that `loopwright ops --tflite` lists",
                           tflite_type_text(c->cx, y->type));
    else if (y->rank < 1) tflite_unsupported(c, "the list is stacked to a scalar; use at least one dimension");
    if (ctx_failed(c->cx)) return;
    for (int d = 0; d < y->rank; d++) shape[d] = y->is_open[d] ? c->subgraphs->open_size(c) : y->dim[d];
    for (int d = 0; d < y->rank; d++)
        if (shape[d] < 1)
            tflite_unsupported(c, "dimension %d of the stacked list is open; use sizes that are known at compile time",
                               d);
        else if (d == 0 && shape[d] != count)
            tflite_unsupported(c, "a list of %lld elements is stacked into a dimension of %lld; use equal sizes",
                               (long long)count, (long long)shape[d]);
    if (ctx_failed(c->cx)) return;
    Tensor *zero = tensor_scalar(c->cx, c->name, type, 0);
    c->out[0] = tflite_call(c, "expand", zero, attr_ints("shape", shape, y->rank));
}

/* The inputs are the list, the index and the item. */
static void list_set(TfliteCall *c)
{
    if (!tflite_needs(c, 3)) return;
    Tensor *list = c->in[0], *item = c->in[2];
    const bool fits = list->rank == item->rank + 1 && list->type == item->type;
    int64_t shape[MAX_RANK] = { 1 };
    for (int d = 0; fits && d < item->rank; d++) shape[d + 1] = tensor_dim(item, d);
    if (tensor_elems(c->in[1]) != 1)
        tflite_refuse(c, "the index has the shape %s; use one number", tensor_shape_text(c->cx, c->in[1]));
    else if (!fits)
        tflite_refuse(c, "an item %s%s is written into a list %s%s; use an item with the type and shape of an element",
                      dtype_info(item->type)->spelling, tensor_shape_text(c->cx, item),
                      dtype_info(list->type)->spelling, tensor_shape_text(c->cx, list));
    else if (tensor_dim(list, 0) < 1) tflite_refuse(c, "the list is empty; use at least one element");
    if (ctx_failed(c->cx)) return;
    Tensor *place = tflite_reshape(c, c->in[1], NULL, 0);
    Tensor *places = tflite_ramp(c, c->in[1]->type, tensor_dim(list, 0), 0, list->rank);
    Tensor *at = tflite_call2(c, "equal", places, place);
    c->out[0] = tflite_select(c, at, tflite_reshape(c, item, shape, list->rank), list);
}

/* The inputs are the list, the index and the shape of an element. */
static void list_get(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    if (tensor_elems(c->in[1]) != 1)
        tflite_refuse(c, "it has indices of shape %s; use one index", tensor_shape_text(c->cx, c->in[1]));
    if (!ctx_failed(c->cx))
        c->out[0] = tflite_call2(c, "gather", c->in[0], tflite_reshape(c, c->in[1], NULL, 0), attr_int("axis", 0));
}

/* Translates a list made from a tensor, or a tensor made from a list. */
static void list_as_is(TfliteCall *c)
{
    if (tflite_needs(c, 1)) c->out[0] = c->in[0];
}

static void list_length(TfliteCall *c)
{
    if (tflite_needs(c, 1)) c->out[0] = tensor_scalar(c->cx, c->name, I32, (double)tensor_dim(c->in[0], 0));
}

enum { OF_ITEMS = OF_ALL | OF_F16 | OF_VARIANT };

const TfliteRow tflite_rows_list[] = {
    { TFLITE_CUSTOM, "FlexTensorListFromTensor", 1, 0, OF_ITEMS, 1, NULL, list_as_is, TFLITE_KEEPS_NONE },
    { TFLITE_CUSTOM, "FlexTensorListGetItem", 1, 0, OF_ITEMS, 1, NULL, list_get, TFLITE_KEEPS_NONE },
    { TFLITE_CUSTOM, "FlexTensorListLength", 1, 0, OF_ITEMS, 1, NULL, list_length, TFLITE_KEEPS_NONE },
    { TFLITE_CUSTOM, "FlexTensorListReserve", 1, 0, OF_WHOLE, 1, NULL, list_reserve, TFLITE_KEEPS_NONE },
    { TFLITE_CUSTOM, SET_ITEM, 1, 0, OF_ITEMS, 1, NULL, list_set, TFLITE_KEEPS_NONE },
    { TFLITE_CUSTOM, STACK, 1, 0, OF_ITEMS, 1, NULL, list_as_is, TFLITE_KEEPS_NONE },
    { 0 }
};
