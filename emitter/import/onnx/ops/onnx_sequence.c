/* SPDX-License-Identifier: MIT */
/* Translates sequences of tensors in a graph: they are lists at compile time, without code at run time. If a sequence
 * is an output of the model, each element is an output (onnx.c). An optional value is its element, or a list that is
 * marked absent. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

static const OnnxList *list_of(OnnxCall *c, int index)
{
    const OnnxList *l = index < c->in_count ? c->list[index] : NULL;
    if (!l || l->is_absent)
        onnx_refuse(c, "input %d (\"%s\") is not a sequence; pass a sequence", index,
                    index < c->in_count ? c->node->in[index] : "");
    return l && !l->is_absent ? l : NULL;
}

static void set_list(OnnxCall *c, int count, Tensor **at)
{
    OnnxList *l = NEW(c->cx->arena, OnnxList);
    *l = (OnnxList){ count, at, false };
    c->out_list[0] = l;
}

/* Returns the value of input `index`, an index from -count to `most`, or `otherwise` if the input is absent. Returns -1
 * if it is refused. */
static int sequence_index(OnnxCall *c, int index, int count, int most, int otherwise)
{
    double v;
    if (!onnx_in(c, index)) return otherwise;
    if (!onnx_scalar(c, index, &v)) return -1;
    if (v >= -count && v <= most) return (int)(v < 0 ? v + count : v);
    onnx_refuse(c, "the index is %g in a sequence of %d tensors; use an index from %d to %d", v, count, -count, most);
    return -1;
}

static void empty(OnnxCall *c) { set_list(c, 0, NULL); }

static void construct(OnnxCall *c)
{
    if (onnx_requires(c, c->in_count)) set_list(c, c->in_count, c->in);
}

static void insert(OnnxCall *c)
{
    const OnnxList *l = list_of(c, 0);
    int at = l ? sequence_index(c, 2, l->count, l->count, l->count) : -1;
    if (at < 0 || !onnx_in(c, 1)) return;
    Tensor **all = NEW_ARRAY(c->cx->arena, Tensor *, l->count + 1);
    for (int i = 0; i <= l->count; i++) all[i] = i < at ? l->at[i] : i == at ? c->in[1] : l->at[i - 1];
    set_list(c, l->count + 1, all);
}

static void erase(OnnxCall *c)
{
    const OnnxList *l = list_of(c, 0);
    int at = l && l->count ? sequence_index(c, 1, l->count, l->count - 1, l->count - 1) : -1;
    if (at < 0) {
        if (l) onnx_refuse(c, "the sequence is empty; use at least one element");
        return;
    }
    Tensor **all = NEW_ARRAY(c->cx->arena, Tensor *, l->count);
    for (int i = 0; i + 1 < l->count; i++) all[i] = l->at[i < at ? i : i + 1];
    set_list(c, l->count - 1, all);
}

static void at(OnnxCall *c)
{
    const OnnxList *l = list_of(c, 0);
    int index = l ? sequence_index(c, 1, l->count, l->count - 1, -1) : -1;
    if (index >= 0) c->out[0] = l->at[index];
}

static void length(OnnxCall *c)
{
    const OnnxList *l = list_of(c, 0);
    if (l) c->out[0] = tensor_scalar(c->cx, c->name, I64, l->count);
}

static Tensor *without_axis(OnnxCall *c, Tensor *x, int axis)
{
    int64_t shape[MAX_RANK];
    int rank = 0;
    for (int d = 0; x && d < x->rank; d++)
        if (d != axis) shape[rank++] = tensor_dim(x, d);
    return onnx_reshape(c, x, shape, rank);
}

/* Splits into parts of given sizes, into parts of one size (the last may be smaller), or into single elements without
 * the axis. */
static void split(OnnxCall *c)
{
    enum { MOST = 1024 };
    int64_t sizes[MOST], begin = 0;
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0];
    int axis = onnx_axis(c, onnx_int(c, "axis", 0), x->rank), given = onnx_ints(c, NULL, 1, sizes, MOST);
    if (axis < 0 || given == -2) return;
    int64_t size = tensor_dim(x, axis),
            each = given == 1 && onnx_in(c, 1)->rank == 0 ? sizes[0]
                   : given < 0                            ? 1
                                                          : 0,
            count = each > 0 ? (size + each - 1) / each : given;
    if (size < 0 || count < 1 || count > MOST) {
        onnx_unsupported(c, "it splits axis %d of %s into %lld parts; use a fixed size, and 1 to %d parts", axis,
                         tensor_shape_text(c->cx, x), (long long)count, MOST);
        return;
    }
    Tensor **all = NEW_ARRAY(c->cx->arena, Tensor *, count);
    for (int64_t i = 0; i < count && !ctx_failed(c->cx); i++) {
        int64_t end = begin + (each > 0 ? each : sizes[i]);
        if (each > 0 && end > size) end = size;
        if (end < begin || end > size)
            onnx_refuse(
                c, "part %lld is from %lld to %lld of %lld elements; use sizes of at least 0 that cover the axis",
                (long long)i, (long long)begin, (long long)end, (long long)size);
        else if (end == begin) all[i] = onnx_empty_slice(c, x, axis);
        else all[i] = onnx_call(c, "slice", x, attr_list("axes", axis), attr_list("begin", begin),
                                attr_list("end", end));
        if (given < 0 && !onnx_int(c, "keepdims", 1)) all[i] = without_axis(c, all[i], axis);
        begin = end;
    }
    if (begin != size && !ctx_failed(c->cx))
        onnx_refuse(c, "the parts have %lld of %lld elements; use parts that cover the axis", (long long)begin,
                    (long long)size);
    set_list(c, (int)count, all);
}

static void concat(OnnxCall *c)
{
    const OnnxList *l = list_of(c, 0);
    if (!l || !l->count) {
        if (l) onnx_refuse(c, "the sequence is empty; use at least one element");
        return;
    }
    int rank = l->at[0]->rank, is_new = onnx_int(c, "new_axis", 0) != 0,
        axis = onnx_axis(c, onnx_int(c, "axis", 0), rank + is_new);
    Tensor **all = NEW_ARRAY(c->cx->arena, Tensor *, l->count);
    for (int i = 0; i < l->count; i++)
        all[i] = is_new ? onnx_call(c, "unsqueeze", l->at[i], attr_list("axes", axis)) : l->at[i];
    c->out[0] = call(c->cx, "concat", c->name, all, l->count, ATTRS(attr_int("axis", axis)));
}

/* Runs the body for each element. The other inputs are sequences of the same length, or tensors that are used for all
 * elements. */
static void map(OnnxCall *c)
{
    const OnnxList *l = list_of(c, 0);
    const OnnxAttr *body = onnx_attr(c, "body");
    if (!l || !body || !body->graph) {
        if (l) onnx_refuse(c, "the graph 'body' is missing");
        return;
    }
    const int outputs = body->graph->output_count < ONNX_OUTPUTS ? body->graph->output_count : ONNX_OUTPUTS;
    Tensor **in = NEW_ARRAY(c->cx->arena, Tensor *, c->in_count), *out[ONNX_OUTPUTS], **all[ONNX_OUTPUTS];
    for (int o = 0; o < outputs; o++) all[o] = NEW_ARRAY(c->cx->arena, Tensor *, l->count);
    for (int i = 1; i < c->in_count; i++)
        if (c->list[i] && c->list[i]->count != l->count)
            onnx_refuse(c, "input %d is a sequence of %d tensors; use as many as input 0 has, %d", i,
                        c->list[i]->count, l->count);
    for (int k = 0; k < l->count && !ctx_failed(c->cx); k++) {
        for (int i = 0; i < c->in_count; i++) in[i] = c->list[i] ? c->list[i]->at[k] : c->in[i];
        if (!onnx_run_graph(c, body->graph, NULL, in, c->in_count, out)) return;
        for (int o = 0; o < outputs; o++) all[o][k] = out[o];
    }
    for (int o = outputs - 1; o >= 0; o--) {
        set_list(c, l->count, all[o]);
        c->out_list[o] = c->out_list[0];
    }
}

/* ---- Optional values --------------------------------------------------------------------------------------------- */

static bool has_input(const OnnxCall *c) { return c->in_count && (c->in[0] || c->list[0]); }

static void optional(OnnxCall *c)
{
    static const OnnxList absent = { 0, NULL, true };
    if (!has_input(c)) c->out_list[0] = &absent;
    else if (c->list[0]) c->out_list[0] = c->list[0];
    else c->out[0] = c->in[0];
}

static void has_element(OnnxCall *c)
{
    const bool has = has_input(c) && !(c->list[0] && c->list[0]->is_absent);
    c->out[0] = tensor_scalar(c->cx, c->name, BOOL, has);
}

static void get_element(OnnxCall *c)
{
    if (!has_input(c) || (c->list[0] && c->list[0]->is_absent))
        onnx_refuse(c, "the optional value has no element; use an optional value with an element");
    else optional(c);
}

const OnnxOp onnx_rows_sequence[] = {
    { ONNX_MOVE("ConcatFromSequence", 1, "axis new_axis", concat) },
    { ONNX_MOVE("Optional", 1, "type", optional) },
    { ONNX_MOVE("OptionalGetElement", 1, "", get_element) },
    { ONNX_MOVE("OptionalHasElement", 1, "", has_element) },
    { ONNX_MOVE("SequenceAt", 2, "", at) },
    { ONNX_MOVE("SequenceConstruct", ONNX_ANY, "", construct) },
    { ONNX_MOVE("SequenceEmpty", 0, "dtype", empty) },
    { ONNX_MOVE("SequenceErase", 2, "", erase) },
    { ONNX_MOVE("SequenceInsert", 3, "", insert) },
    { ONNX_MOVE("SequenceLength", 1, "", length) },
    { ONNX_MOVE("SequenceMap", ONNX_ANY, "body", map) },
    { ONNX_MOVE("SplitToSequence", 2, "axis keepdims", split) },
    { 0 }
};
