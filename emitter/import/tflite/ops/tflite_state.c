/* SPDX-License-Identifier: MIT */
/* Translates variables to state (import/model/model.h). A handle (VAR_HANDLE) names a variable, READ_VARIABLE reads it,
 * ASSIGN_VARIABLE writes it, and CALL_ONCE runs a subgraph that assigns initial values (tflite.c). Operators are in
 * execution order, so a read has the last assigned value. The value before the run becomes an input of the model, and
 * the value after the run an output; the two are a pair of state. A variable tensor is also a state: the operators that
 * have it as an input write its next value. */
#include "import/tflite/ops/tflite_state.h"

#include <string.h>

#include "import/tflite/ops/tflite_rows.h"
#include "support/names.h"
#include "support/text.h"

enum { VAR_HANDLE = 142, READ_VARIABLE = 143, ASSIGN_VARIABLE = 144,
       OPTIONS_CALL_ONCE = 103, OPTIONS_VAR_HANDLE = 111, OPTIONS_READ = 112, OPTIONS_ASSIGN = 113,
       MOST_OWN = 2 };                       /* limit of states of an operator in addition to its variable tensors */

void tflite_states_open(Ctx *cx, const TfliteFile *file, TfliteStates *out)
{
    *out = (TfliteStates){ .cx = cx, .file = file };
    out->at = NEW_ARRAY(cx->arena, TfliteVariable,
                        MOST_OWN * file->operator_count + file->tensor_count + file->output_count);
    out->gate = NEW_ARRAY(cx->arena, Tensor *, file->tensor_count);
    out->of = NEW_ARRAY(cx->arena, TfliteVariable *, file->tensor_count);
}

static void refuse(const TfliteStates *s, const TfliteOperator *op, const char *what)
{
    diag_error(s->cx, tflite_where(s->cx, s->file, op), "%s", what);
}

/* Sets the new value of a state; a run that has already ended keeps the old value. */
static void set_now(const TfliteStates *s, TfliteVariable *v, Tensor *next)
{
    v->now = s->goes_on && next ? call_where(s->cx, v->name, s->goes_on, next, v->now) : next;
}

void tflite_states_gate(TfliteStates *s, Tensor *goes_on)
{
    s->goes_on = s->goes_on && goes_on ? call_on_two(s->cx, "and", "goes_on", s->goes_on, goes_on, NULL) : goes_on;
}

Tensor *tflite_gated_output(TfliteStates *s, int index, Tensor *value)
{
    int64_t dim[MAX_RANK];
    Tensor *goes_on = s->gate[index];
    if (!goes_on || !value) return value;
    const char *name = text_format(s->cx, "%s_last", s->file->tensor[index].name);
    for (int d = 0; d < value->rank; d++) dim[d] = tensor_dim(value, d);
    Tensor *last = tflite_state_new(s, name, value->type, value->rank, dim, NULL);
    Tensor *now = last ? call_where(s->cx, s->file->tensor[index].name, goes_on, value, last) : NULL;
    if (now) now->quant = value->quant;
    tflite_state_set(s, last, now);
    return now;
}

/* Returns "container/name" of a handle; both parts are empty in a damaged operator. */
static const char *name_of(Ctx *cx, const TfliteOperator *op)
{
    const char *container = flat_text(cx, &op->options, 0), *own = flat_text(cx, &op->options, 1);
    return *container ? name_format(cx, "%s/%s", container, own) : own;
}

static TfliteVariable *variable_named(const TfliteStates *s, const char *variable_name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->at[i].name, variable_name) == 0) return &s->at[i];
    return NULL;
}

/* Returns the tensor with the variable's type and shape: the first tensor that is read from it or assigned to it. */
static const TfliteTensor *like_of(const TfliteStates *s, int handle)
{
    for (int i = 0; i < s->file->operator_count; i++) {
        const TfliteOperator *op = &s->file->operator[i];
        if (op->in_count < 1 || op->in[0] != handle) continue;
        if (op->code == READ_VARIABLE && op->out_count == 1) return &s->file->tensor[op->out[0]];
        if (op->code == ASSIGN_VARIABLE && op->in_count == 2 && op->in[1] >= 0) return &s->file->tensor[op->in[1]];
    }
    return NULL;
}

static bool has_one_output(TfliteStates *s, const TfliteOperator *op)
{
    if (op->out_count != 1) refuse(s, op, text_format(s->cx, "it has %d outputs; use one output", op->out_count));
    return op->out_count == 1;
}

static void open_handle(TfliteStates *s, const TfliteOperator *op)
{
    DType type;
    if (!has_one_output(s, op)) return;
    const char *variable_name = name_of(s->cx, op);
    TfliteVariable *v = variable_named(s, variable_name);
    s->of[op->out[0]] = v;
    if (v) return;
    const TfliteTensor *like = like_of(s, op->out[0]);
    if (!like) return;                                       /* unused */
    if (!tflite_dtype(like->type, &type)) {
        refuse(s, op, text_format(s->cx, "the variable \"%s\" has elements of type %s; use %s", variable_name,
                                  tflite_type_text(s->cx, like->type), tflite_types_accepted(s->cx, NULL, NULL)));
        return;
    }
    v = s->of[op->out[0]] = &s->at[s->count++];
    *v = (TfliteVariable){ .name = variable_name, .like = like };
    v->input = v->now = tensor_new_fixed(s->cx, *variable_name ? variable_name : like->name, type, like->rank,
                                         like->dim);
    if (v->input) v->input->quant = like->quant;
    if (v->input && (tensor_elems(v->input) < 1 || tensor_elems(v->input) > INT32_MAX))
        refuse(s, op,
               text_format(s->cx, "the variable \"%s\" is %s; use 1 to 2^31 - 1 elements", variable_name,
                           tensor_shape_text(s->cx, v->input)));
}

static bool is_like(const Tensor *a, const Tensor *b)
{
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    return same;
}

static TfliteVariable *variable_of(TfliteStates *s, const TfliteOperator *op)
{
    TfliteVariable *v = op->in_count > 0 && op->in[0] >= 0 ? s->of[op->in[0]] : NULL;
    if (!v || !v->now) refuse(s, op, "its input 0 is not a variable; pass the output of a VAR_HANDLE");
    return v;
}

enum { MOST_INITIAL = 1 << 28 };         /* limit of an initial value that is not 0, in bytes */

/* Returns the initial value of a variable without CALL_ONCE. As in the reference, each byte is the zero point of the
 * first tensor that is assigned. */
static const Tensor *zero_points(const TfliteStates *s, const TfliteTensor *first, const Tensor *like)
{
    int64_t shape[MAX_RANK];
    const int byte = first->quant ? first->quant->zero_point[0] : 0;
    if (!byte) return NULL;
    if (tensor_elems(like) < 1 || tensor_bytes(like) > MOST_INITIAL) {
        diag_error(s->cx, text_format(s->cx, "variable \"%s\"", like->name),
                   "it is %s and starts at its zero point %d; use 1 to %d bytes",
                   tensor_shape_text(s->cx, like), byte, MOST_INITIAL);
        return NULL;
    }
    for (int d = 0; d < like->rank; d++) shape[d] = tensor_dim(like, d);
    void *data;
    const Tensor *out = tensor_zeros(s->cx, like->name, like->type, like->rank, shape, &data);
    if (out) memset(data, byte & 0xff, (size_t)tensor_bytes(out));
    return out;
}

static void assign(TfliteStates *s, const TfliteOperator *op, Tensor *given)
{
    TfliteVariable *v = variable_of(s, op);
    if (ctx_failed(s->cx)) return;
    if (!given)
        refuse(s, op,
               "its input 1 is not computed before it; use a constant, an input of the model or an output of an "
               "earlier operator");
    else if (!is_like(given, v->input))
        diag_error(s->cx, tflite_where(s->cx, s->file, op), "%s%s is assigned to the variable \"%s\"; use %s%s",
                   dtype_info(given->type)->spelling, tensor_shape_text(s->cx, given), v->name,
                   dtype_info(v->input->type)->spelling, tensor_shape_text(s->cx, v->input));
    if (ctx_failed(s->cx)) return;
    if (!v->initial && v->now == v->input) v->initial = zero_points(s, &s->file->tensor[op->in[1]], v->input);
    set_now(s, v, given);
}

/* ---- Variable tensors -------------------------------------------------------------------------------------------- */

/* Before the first run, all bytes of the variable are the zero point. */
Tensor *tflite_variable_tensor(TfliteStates *s, int index)
{
    const TfliteTensor *t = &s->file->tensor[index];
    DType type;
    if (s->of[index]) return s->of[index]->now;
    if (!tflite_dtype(t->type, &type)) return NULL;
    TfliteVariable *v = s->of[index] = &s->at[s->count++];
    *v = (TfliteVariable){ .name = t->name, .like = t };
    v->input = v->now = tensor_new_fixed(s->cx, t->name, type, t->rank, t->dim);
    if (!v->input) return NULL;
    v->input->quant = t->quant;
    v->initial = zero_points(s, t, v->input);
    return v->now;
}

void tflite_variable_set(TfliteStates *s, int index, Tensor *next)
{
    TfliteVariable *v = s->of[index];
    if (!v) {
        diag_error(s->cx, text_format(s->cx, "tensor \"%s\"", s->file->tensor[index].name), "it is the state of an "
                   "operator, but not a variable; use a variable");
        return;
    }
    if (!is_like(next, v->input))
        diag_error(s->cx, text_format(s->cx, "tensor \"%s\"", v->name), "its next value is %s%s; use %s%s",
                   dtype_info(next->type)->spelling, tensor_shape_text(s->cx, next),
                   dtype_info(v->input->type)->spelling, tensor_shape_text(s->cx, v->input));
    set_now(s, v, next);
}

/* ---- States of operators ----------------------------------------------------------------------------------------- */

Tensor *tflite_state_new(TfliteStates *s, const char *name, DType type, int rank, const int64_t *dim,
                         const Tensor *initial)
{
    TfliteVariable *v = &s->at[s->count++];
    *v = (TfliteVariable){ .name = name, .initial = initial };
    return v->input = v->now = tensor_new_fixed(s->cx, name, type, rank, dim);
}

void tflite_state_set(TfliteStates *s, const Tensor *before, Tensor *after)
{
    for (int i = 0; i < s->count; i++)
        if (s->at[i].input == before) set_now(s, &s->at[i], after);
}

/* ---- The subgraph that is run once ------------------------------------------------------------------------------- */

/* The handle of the variable may follow the CALL_ONCE; an unused variable has no handle. */
void tflite_state_begin(TfliteStates *s, const char *variable_name, const Tensor *first, const TfliteOperator *caller)
{
    for (int i = 0; i < s->file->operator_count; i++)
        if (s->file->operator[i].code == VAR_HANDLE
            && strcmp(name_of(s->cx, &s->file->operator[i]), variable_name) == 0)
            open_handle(s, &s->file->operator[i]);
    TfliteVariable *v = variable_named(s, variable_name);
    if (!v || ctx_failed(s->cx)) return;
    if (!is_like(first, v->input))
        refuse(s, caller, text_format(s->cx, "its subgraph assigns %s%s to the variable \"%s\"; use %s%s",
                                      dtype_info(first->type)->spelling, tensor_shape_text(s->cx, first), variable_name,
                                      dtype_info(v->input->type)->spelling, tensor_shape_text(s->cx, v->input)));
    else v->initial = first;
}

bool tflite_state_operator(TfliteStates *s, const TfliteOperator *op, Tensor *given, Tensor **result)
{
    TfliteVariable *v;
    switch (op->code) {
    case VAR_HANDLE: open_handle(s, op); return true;
    case ASSIGN_VARIABLE: assign(s, op, given); return true;
    case READ_VARIABLE:
        v = variable_of(s, op);
        *result = ctx_failed(s->cx) || !has_one_output(s, op) ? NULL : v->now;
        return true;
    default: return false;
    }
}

/* These rows list the operators as supported; the functions above lower them. */
const TfliteRow tflite_rows_state[] = {
    { TFLITE_CALL_ONCE, "CALL_ONCE", 1, OPTIONS_CALL_ONCE, OF_HANDLE, 0, NULL, NULL, TFLITE_KEEPS_NONE },
    { VAR_HANDLE, "VAR_HANDLE", 1, OPTIONS_VAR_HANDLE, OF_HANDLE, 0, NULL, NULL, TFLITE_KEEPS_NONE },
    { READ_VARIABLE, "READ_VARIABLE", 1, OPTIONS_READ, OF_HANDLE, 0, NULL, NULL, TFLITE_KEEPS_NONE },
    { ASSIGN_VARIABLE, "ASSIGN_VARIABLE", 1, OPTIONS_ASSIGN, OF_HANDLE, 0, NULL, NULL, TFLITE_KEEPS_NONE },
    { 0 }
};
