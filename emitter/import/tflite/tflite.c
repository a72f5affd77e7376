/* SPDX-License-Identifier: MIT */
/* Lowers the tables of a TFLite file to calls of operators:
 *
 *   1. reports all that is unsupported at once: operators, their versions, element types, variables, sparse weights
 *      (tflite_unknown.c)
 *   2. lowers operator by operator, in the file's order, which is the execution order; compares each result with the
 *      type and shape in the file
 *
 * WHILE, IF and CALL import other subgraphs of the file in the same way, each with tensors of its own. The
 * subgraph of a CALL_ONCE is run during import.
 * An open dimension, such as a batch, has the size that --dim gives or the file states as an example, otherwise 1. With
 * a maximum it stays open (tflite_open.c). */
#include "import/tflite/tflite.h"

#include <string.h>

#include "import/model/file_nodes.h"
#include "import/model/fold_small.h"
#include "import/formats/given_value.h"
#include "import/tflite/custom/tflite_custom.h"
#include "import/tflite/file/tflite_labels.h"
#include "import/tflite/file/tflite_signatures.h"
#include "import/tflite/tflite_open.h"
#include "import/tflite/tflite_unknown.h"
#include "import/tflite/tflite_find.h"
#include "import/tflite/tflite_unsigned.h"
#include "import/tflite/ops/tflite_state.h"
#include "ir/algebra/algebra.h"
#include "support/text.h"

/* MOST_DEPTH: limit of the depth of nested subgraphs; MOST_SUBGRAPHS: limit of imports of subgraphs */
enum { MOST_DEPTH = 8, MOST_SUBGRAPHS = 256 };
enum { MOST_INITIAL = 1 << 16 };                     /* limit of elements of a computed initial value */
/* limit of all constants, in multiples of the file's size, because tensors may share buffers */
enum { MOST_COPIES = 16,
       MOST_ZEROS = 64 };             /* a dense byte of a sparse constant counts as 1/64 of a stored one */

typedef struct Importer {
    Ctx *cx;
    const ImportOptions *options;
    TfliteFile file;
    Tensor **value;                   /* [tensors of the file] the value, or NULL if not computed yet */
    uint64_t constant_bytes;
    TfliteStates states;
    TfliteUnsigned bytes;             /* the values of UINT8 tensors minus 128 */
    TfliteOpen open;
    FileNodes *nodes;
    int64_t subgraph;                 /* the number of the subgraph in the file */
    TfliteSubgraphs subgraphs;
    bool runs_once;                   /* true for the subgraph of a CALL_ONCE: every result is folded */
    int depth, *imported;             /* depth: of this subgraph; imported: the number of imports of subgraphs so far */
} Importer;

/* ---- Inputs, constants, operators -------------------------------------------------------------------------------- */

/* Returns true if 32-bit indices do not suffice. */
static bool is_too_large(Ctx *cx, const Tensor *t)
{
    return tensor_most_elems(cx, t) < 0 || tensor_most_elems(cx, t) > INT32_MAX;
}

static Tensor *value_of_input(Importer *im, const TfliteTensor *t, const char *path)
{
    DType type;
    int64_t dim[MAX_RANK];
    if (!tflite_dtype(t->type, &type)) {
        diag_unsupported(im->cx, tflite_tensor_where(im->cx, t), "elements of type %s",
                         tflite_type_text(im->cx, t->type));
        return NULL;
    }
    for (int d = 0; d < t->rank; d++) {
        const Expr *size = tflite_dim(&im->open, t, d);
        dim[d] = size->kind == EXPR_INT ? size->integer : -1;
    }
    return given_value(im->cx, t->name, path, type, t->rank, dim);
}

static Tensor *constant_option(Importer *im, const TfliteTensor *t)
{
    for (int i = 0; i < im->options->value_count; i++) {
        if (strcmp(im->options->value[i].name, t->name) != 0) continue;
        if (im->options->is_value_used) im->options->is_value_used[i] = true;
        return value_of_input(im, t, im->options->value[i].path);
    }
    return NULL;
}

static Tensor *make_input(Importer *im, const TfliteTensor *t)
{
    DType type;
    const Expr *shape[MAX_RANK];
    if (!tflite_dtype(t->type, &type)) {
        diag_unsupported(im->cx, tflite_tensor_where(im->cx, t), "it has elements of type %s; use %s",
                         tflite_type_text(im->cx, t->type), tflite_types_accepted(im->cx, NULL, NULL));
        return NULL;
    }
    for (int d = 0; d < t->rank; d++) {
        shape[d] = tflite_dim(&im->open, t, d);
        if (shape[d]->kind == EXPR_INT && shape[d]->integer < 1)
            diag_error(im->cx, tflite_tensor_where(im->cx, t), "dimension %d is %lld; use a size from 1 to %ld", d,
                       (long long)shape[d]->integer, (long)INT32_MAX);
    }
    Tensor *out = ctx_failed(im->cx) ? NULL : tensor_new(im->cx, t->name, type, t->rank, shape);
    if (out && is_too_large(im->cx, out))
        diag_error(im->cx, tflite_tensor_where(im->cx, t), "it is %s; use fewer than 2^31 elements",
                   tensor_shape_text(im->cx, out));
    if (out) out->quant = t->quant;
    return out;
}

/* Reports open dimensions that keep the file's example, because no option sets them. */
static void note_examples(Importer *im)
{
    const TfliteFile *f = &im->file;
    for (int i = 0; i < f->input_count && !im->options->dim_count; i++) {
        const TfliteTensor *t = &f->tensor[f->input[i]];
        for (int d = 0; d < t->rank; d++)
            if (t->is_open[d]) {
                diag_listed(im->cx, NOTE, tflite_tensor_where(im->cx, t),
                            "dimension %d is open and defaults to %lld; pass --dim %s to set it and end this note", d,
                            (long long)t->dim[d], d == 0 ? "batch=N" : text_format(im->cx, "%s.%d=N", t->name, d));
                return;
            }
    }
}

static void make_inputs(Importer *im, Model *out)
{
    out->input = NEW_ARRAY(im->cx->arena, Tensor *, im->file.input_count);
    for (int i = 0; i < im->file.input_count && !ctx_failed(im->cx); i++) {
        int index = im->file.input[i];
        const TfliteTensor *t = &im->file.tensor[index];
        if (im->value[index])
            diag_error(im->cx, tflite_tensor_where(im->cx, t),
                       "it is listed twice as an input of the model; use it once");
        im->value[index] = constant_option(im, t);
        if (im->value[index]) im->value[index]->quant = t->quant;
        else im->value[index] = out->input[out->input_count++] = make_input(im, t);
    }
}

/* Returns the dense bytes of a sparse constant; saturates above the limit. */
static uint64_t sparse_bytes(const TfliteTensor *t)
{
    uint64_t bytes = t->is_sparse ? 8 : 0;
    for (int d = 0; d < t->rank && bytes < UINT32_MAX; d++) bytes *= (uint64_t)(t->dim[d] > 0 ? t->dim[d] : 0);
    return bytes;
}

static Tensor *value_at(Importer *im, int index)
{
    const TfliteTensor *t = &im->file.tensor[index];
    if (t->is_variable) return tflite_variable_tensor(&im->states, index);
    if (im->value[index] || !t->data.count) return tflite_unshifted(&im->bytes, index);
    im->constant_bytes += t->data.count + sparse_bytes(t) / MOST_ZEROS;
    if (im->constant_bytes / MOST_COPIES > im->file.flat.bytes.count)
        diag_error(im->cx, tflite_tensor_where(im->cx, t),
                   "constants that share buffers have more than %d times the bytes of the file; use fewer constants",
                   MOST_COPIES);
    else im->value[index] = tflite_constant(im->cx, t);
    if (!im->value[index])
        diag_unsupported(im->cx, tflite_tensor_where(im->cx, t), "it has constants of type %s; use %s",
                         tflite_type_text(im->cx, t->type), tflite_types_accepted(im->cx, NULL, NULL));
    return im->value[index];
}

/* Compares the operator's result with the file's tensor. The file's sizes of open dimensions, and of dimensions that
 * the run decides, are placeholders and may differ. The file has no shape for a tensor whose shape depends on data. */
static void check_result(Importer *im, const TfliteCall *c, const TfliteTensor *t, const Tensor *result)
{
    DType type = F32;
    const bool has_shape = t->rank > 0, is_complex = t->type == TFLITE_COMPLEX, is_list = t->type == TFLITE_VARIANT;
    bool is_same = !has_shape || result->rank == t->rank + is_complex;
    for (int d = 0; d < t->rank && has_shape && is_same; d++)
        is_same = !tflite_is_declared(&im->open, t, d) || size_is_decided(im->cx, result->shape[d])
                  || tensor_dim(result, d) == t->dim[d];
    const char *where = tflite_where(im->cx, &im->file, c->op);
    if (is_too_large(im->cx, result))
        diag_error(im->cx, where, "its output \"%s\" is %s; use fewer than 2^31 elements", t->name,
                   tensor_shape_text(im->cx, result));
    else if (!is_list && ((!is_complex && !tflite_dtype(t->type, &type)) || type != result->type))
        diag_unsupported(im->cx, where, "it has an output of type %s; use %s", tflite_type_text(im->cx, t->type),
                         dtype_info(result->type)->spelling);
    else if (!is_same)
        diag_error(im->cx, where, "its output is %s, but the file declares [%s]", tensor_shape_text(im->cx, result),
                   ints_text(im->cx, t->dim, t->rank));
}

/* Returns true if the result is an integer computed from constants: sizes, begins, axes. */
static bool is_known_size(const TfliteCall *c, const Tensor *result)
{
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && !tensor_is_constant(c->in[i])) return false;
    return result->type == I32 || result->type == I64;
}

/* Enters result i of an operator. The operator's last call takes the tensor's name; a value that is passed through
 * keeps its own name. */
static void enter_result(Importer *im, const TfliteCall *c, int i)
{
    int index = c->op->out[i];
    const TfliteTensor *t = &c->file->tensor[index];
    const bool is_shifted = t->type != im->file.tensor[index].type;
    Tensor *result = c->out[i];
    bool is_new = true;
    if (!result)
        diag_unsupported(im->cx, tflite_where(im->cx, &im->file, c->op),
                         "output %d (\"%s\") of the operator is not supported; read only the outputs before it", i,
                         t->name);
    if (im->value[index] || im->bytes.shifted[index] || t->data.count)
        diag_error(im->cx, tflite_tensor_where(im->cx, t), "it is %s; write each tensor with one operator",
                   t->data.count ? "a constant that an operator writes" : "the output of two operators, or an input "
                   "that an operator writes");
    if (ctx_failed(im->cx)) return;
    check_result(im, c, t, result);
    for (int j = 0; j < c->in_count; j++) is_new = is_new && result != c->in[j];
    if (is_new) {
        result->name = is_shifted ? text_format(im->cx, "%s_signed", t->name) : t->name;
        result->quant = t->quant;
        if (im->runs_once) result = import_folded_to(im->cx, result, MOST_INITIAL, MOST_INITIAL);
        else if (is_known_size(c, result)) result = import_folded(im->cx, result);
    }
    file_node_result(im->cx, result, is_new);
    *(is_shifted ? &im->bytes.shifted[index] : &im->value[index]) = result;
}

/* Imports an operator that reads or writes variables. A tensor that is read from a variable is not renamed. */
static bool import_state(Importer *im, const TfliteOperator *op)
{
    Tensor *given = op->in_count > 1 && op->in[1] >= 0 ? value_at(im, op->in[1]) : NULL, *result = NULL;
    if (ctx_failed(im->cx) || !tflite_state_operator(&im->states, op, given, &result)) return false;
    if (result && im->value[op->out[0]])
        diag_error(im->cx, tflite_tensor_where(im->cx, &im->file.tensor[op->out[0]]),
                   "it is the output of two operators; write it with one operator");
    if (result) im->value[op->out[0]] = result;
    return true;
}

/* Returns the value of an input, minus 128 if the operator is lowered on shifted UINT8. */
static Tensor *operand(Importer *im, const TfliteCall *c, int index)
{
    if (!c->is_unsigned || !tflite_is_unsigned(&im->file.tensor[index])) return value_at(im, index);
    if (!im->bytes.shifted[index]) value_at(im, index);      /* value_at also limits the bytes of constants */
    return ctx_failed(im->cx) ? NULL : tflite_shifted(&im->bytes, index);
}

static void run_once(Importer *im, const TfliteOperator *op);

static void import_operator(Importer *im, const TfliteOperator *op)
{
    if (op->code == TFLITE_CALL_ONCE) {
        run_once(im, op);
        return;
    }
    if (import_state(im, op) || ctx_failed(im->cx)) return;
    TfliteCall *c = NEW(im->cx->arena, TfliteCall);
    *c = (TfliteCall){
        .cx = im->cx, .file = &im->file, .op = op, .row = tflite_row_find(op), .in_count = op->in_count,
        .subgraphs = &im->subgraphs, .states = &im->states, .sizes = im->open.sizes, .is_in_subgraph = im->depth > 0
    };
    const char *where = tflite_where(im->cx, &im->file, op);
    c->external = op->code == TFLITE_CUSTOM ? import_extern(im->options, op->custom) : NULL;
    if (c->external) c->row = &tflite_row_foreign;
    c->is_unsigned = !c->external && tflite_runs_as_int8(&im->bytes, op, c->row);
    if (c->is_unsigned) c->file = tflite_as_int8(&im->bytes);
    c->name = op->out_count ? im->file.tensor[op->out[0]].name : c->row->name;
    c->in = NEW_ARRAY(im->cx->arena, Tensor *, op->in_count);
    c->next = NEW_ARRAY(im->cx->arena, Tensor *, op->in_count);
    if (!op->in_count || !op->out_count || op->out_count > TFLITE_OUTPUTS)
        diag_error(im->cx, where, "it has %d inputs and %d outputs; use at least 1 input and 1 to %d outputs",
                   op->in_count, op->out_count, TFLITE_OUTPUTS);
    for (int i = 0; i < op->in_count && !ctx_failed(im->cx); i++) {
        c->in[i] = op->in[i] < 0 ? NULL : operand(im, c, op->in[i]);
        if (op->in[i] >= 0 && !c->in[i])
            diag_error(
                im->cx, where,
                "its input \"%s\" is not computed before it; use a constant, an input of the model or an output of an "
                "earlier operator",
                im->file.tensor[op->in[i]].name);
    }
    for (int i = 0; i < op->out_count; i++) im->states.gate[op->out[i]] = im->states.goes_on;
    if (!ctx_failed(im->cx) && tflite_keeps_open(c)) tflite_lower(c);
    if (im->file.flat.bad) diag_error(im->cx, where, "its options are damaged or truncated");
    for (int i = 0; i < op->out_count && !ctx_failed(im->cx); i++) enter_result(im, c, i);
    for (int i = 0; i < op->in_count && !ctx_failed(im->cx); i++)
        if (c->next[i]) tflite_variable_set(&im->states, op->in[i], c->next[i]);
}

static FileNode *listed(Importer *im, int number)
{
    const TfliteOperator *op = &im->file.operator[number];
    const char *builtin = op->code == TFLITE_CUSTOM ? op->custom : tflite_builtin_text(op->code);
    const char *result = op->out_count ? im->file.tensor[op->out[0]].name : "";
    return file_node(im->nodes, text_format(im->cx, "%lld", (long long)im->subgraph), number,
                     builtin ? builtin : "", result);
}

/* An operator reads results of earlier operators. */
static void list_operators(Importer *im)
{
    FileNode **producer = NEW_ARRAY(im->cx->arena, FileNode *, im->file.tensor_count);
    for (int i = 0; i < im->file.operator_count; i++) {
        const TfliteOperator *op = &im->file.operator[i];
        FileNode *n = listed(im, i);
        for (int k = 0; k < op->in_count; k++)
            if (op->in[k] >= 0 && producer[op->in[k]])
                file_node_reads(im->nodes, n, producer[op->in[k]], op->in_count);
        for (int k = 0; k < op->out_count; k++) producer[op->out[k]] = n;
    }
}

static void import_operators(Importer *im)
{
    list_operators(im);
    for (int i = 0; i < im->file.operator_count && !ctx_failed(im->cx); i++) {
        const FileNode *outer = file_node_enter(im->cx, listed(im, i));
        import_operator(im, &im->file.operator[i]);
        file_node_enter(im->cx, outer);
    }
}

/* ---- Other subgraphs --------------------------------------------------------------------------------------------- */

/* Gives the subgraph's inputs their values. */
static bool bind_inputs(Importer *im, const TfliteCall *c, Tensor *const *in)
{
    for (int i = 0; i < im->file.input_count; i++) {
        const int index = im->file.input[i];
        DType type;
        const bool is_list = im->file.tensor[index].type == TFLITE_VARIANT;
        if (!is_list && (!tflite_dtype(im->file.tensor[index].type, &type) || type != in[i]->type))
            tflite_refuse(c, "input %d of its subgraph is %s, but %s is passed; use equal types and shapes", i,
                          tflite_type_text(im->cx, im->file.tensor[index].type), dtype_info(in[i]->type)->spelling);
        if (im->value[index]) tflite_refuse(c, "its subgraph lists input %d twice; list it once", i);
        im->value[index] = in[i];
    }
    return !ctx_failed(im->cx);
}

static bool has_subgraph(Importer *outer, const TfliteCall *c, int64_t subgraph)
{
    const int first = outer->options->signature ? 0 : 1;     /* without --signature, subgraph 0 is the whole model */
    if (subgraph < first || subgraph >= outer->file.subgraph_count)
        tflite_refuse(c, "its subgraph %lld does not exist; use a subgraph from %d to below %d",
                         (long long)subgraph, first,
                      outer->file.subgraph_count);
    else if (outer->depth == MOST_DEPTH || ++*outer->imported > MOST_SUBGRAPHS)
        tflite_unsupported(c, "the subgraphs are nested %d deep, or executed at more than %d places; use fewer "
                              "subgraphs",
                           MOST_DEPTH + 1, MOST_SUBGRAPHS);
    return !ctx_failed(outer->cx);
}

static bool run_subgraph(TfliteCall *c, int64_t subgraph, Tensor *const *in, int in_count, Tensor **out, int out_count);

static int64_t open_size(const TfliteCall *c)
{
    const Importer *im = c->subgraphs->importer;
    int64_t found = -1;
    for (int i = 0; i < im->file.input_count; i++) {
        const TfliteTensor *t = &im->file.tensor[im->file.input[i]];
        const Tensor *x = im->value[im->file.input[i]];
        for (int d = 0; x && d < t->rank && d < x->rank; d++) {
            if (!t->is_open[d]) continue;
            if (found >= 0 && found != tensor_dim(x, d)) return -1;
            found = tensor_dim(x, d);
        }
    }
    return found;
}

static bool subgraph_open(Importer *im, const Importer *outer, int64_t subgraph)
{
    Ctx *cx = outer->cx;
    *im = (Importer){ .cx = cx, .options = outer->options, .constant_bytes = outer->constant_bytes, .open = outer->open,
                      .subgraphs = { run_subgraph, open_size, im }, .depth = outer->depth + 1,
                      .nodes = outer->nodes, .subgraph = subgraph,
                      .imported = outer->imported };
    if (!tflite_subgraph_read(cx, outer->file.flat.bytes, (size_t)subgraph, &im->file)) return false;
    im->file.rounds_once = outer->file.rounds_once;
    im->file.has_float_hybrid = outer->file.has_float_hybrid;
    im->value = NEW_ARRAY(cx->arena, Tensor *, im->file.tensor_count);
    tflite_states_open(cx, &im->file, &im->states);
    tflite_unsigned_open(cx, &im->file, im->value, &im->bytes);
    tflite_list_unknown(im->cx, &im->file, im->options);
    return !ctx_failed(cx);
}

static bool run_subgraph(TfliteCall *c, int64_t subgraph, Tensor *const *in, int in_count, Tensor **out, int out_count)
{
    Importer *outer = c->subgraphs->importer, *im = NEW(c->cx->arena, Importer);
    if (!has_subgraph(outer, c, subgraph) || !subgraph_open(im, outer, subgraph)) return false;
    if (im->file.input_count != in_count || im->file.output_count != out_count)
        tflite_refuse(c, "its subgraph %lld has %d inputs and %d outputs; use %d inputs and %d outputs",
                         (long long)subgraph,
                      im->file.input_count, im->file.output_count, in_count, out_count);
    if (ctx_failed(c->cx) || !bind_inputs(im, c, in)) return false;
    import_operators(im);
    for (int i = 0; i < out_count && !ctx_failed(c->cx); i++)
        if (!(out[i] = value_at(im, im->file.output[i])))
            tflite_refuse(c, "output %d of its subgraph is computed by no operator", i);
    if (im->states.count)
        tflite_unsupported(c, "it has variables inside its subgraph (\"%s\"); use variables of the first subgraph",
                           im->states.at[0].name);
    outer->constant_bytes = im->constant_bytes;
    return !ctx_failed(c->cx);
}

/* Runs the subgraph of a CALL_ONCE on its constants; the values that it assigns are the values before the first run. */
static void run_once(Importer *im, const TfliteOperator *op)
{
    TfliteCall *c = NEW(im->cx->arena, TfliteCall);
    *c = (TfliteCall){ .cx = im->cx, .file = &im->file, .op = op };
    const int64_t subgraph = flat_int(&op->options, 0, 4, 0);
    Importer *init = NEW(im->cx->arena, Importer);
    if (!has_subgraph(im, c, subgraph) || !subgraph_open(init, im, subgraph)) return;
    init->runs_once = true;
    import_operators(init);
    for (int i = 0; i < init->states.count && !ctx_failed(im->cx); i++) {
        const TfliteVariable *v = &init->states.at[i];
        if (v->now == v->input) continue;
        if (tensor_is_constant(v->now)) tflite_state_begin(&im->states, v->name, v->now, op);
        else
            tflite_unsupported(c, "its subgraph does not initialize the variable \"%s\" with a constant of at most %d "
                               "elements; assign such a constant", v->name,
                               MOST_INITIAL);
    }
    im->constant_bytes = init->constant_bytes;
}

/* ---- Outputs and states ------------------------------------------------------------------------------------------ */

/* Returns the output, or a copy if it is also an input, a constant, or another output. */
static Tensor *distinct_output(Importer *im, int index, Tensor *const *others, int count)
{
    Tensor *t = value_at(im, index);
    if (!t) {
        diag_error(im->cx, tflite_tensor_where(im->cx, &im->file.tensor[index]),
                   "it is an output, but no operator computes it");
        return NULL;
    }
    if (im->file.tensor[index].type == TFLITE_COMPLEX)
        diag_unsupported(im->cx, tflite_tensor_where(im->cx, &im->file.tensor[index]),
                         "it has an output of type COMPLEX64; use its parts (REAL, IMAG)");
    t = tflite_gated_output(&im->states, index, t);
    bool is_shared = t && !t->producer;
    for (int i = 0; i < count; i++) is_shared = is_shared || others[i] == t;
    if (is_shared) {
        t = call(im->cx, "identity", im->file.tensor[index].name, &t, 1, NULL);
        if (t) t->quant = im->file.tensor[index].quant;
    }
    return t;
}

static void make_outputs(Importer *im, Model *out)
{
    int count = im->file.output_count;
    out->output = NEW_ARRAY(im->cx->arena, Tensor *, count);
    for (int i = 0; i < count && !ctx_failed(im->cx); i++)
        out->output[out->output_count++] = distinct_output(im, im->file.output[i], out->output, i);
    if (!count) diag_error(im->cx, NULL, "the graph has no outputs; use at least one output");
}

/* Returns a variable's last value, or a copy if it is also an output, an input or a constant. */
static Tensor *last_value(Importer *im, const TfliteVariable *v, const Model *out)
{
    bool is_shared = !v->now->producer;
    for (int i = 0; i < out->output_count; i++) is_shared = is_shared || out->output[i] == v->now;
    Tensor *t = v->now;
    return is_shared ? call(im->cx, "identity", text_format(im->cx, "%s_next", v->input->name), &t, 1, NULL) : t;
}

/* Appends to the file's inputs and outputs the value of each variable before the run and after it. */
static void add_states(Importer *im, Model *out)
{
    const int count = im->states.count;
    StatePair *pair = NEW_ARRAY(im->cx->arena, StatePair, count);
    Tensor **input = NEW_ARRAY(im->cx->arena, Tensor *, out->input_count + count),
           **output = NEW_ARRAY(im->cx->arena, Tensor *, out->output_count + count);
    const Tensor **initial = NEW_ARRAY(im->cx->arena, const Tensor *, out->input_count + count);
    for (int i = 0; i < out->input_count; i++) input[i] = out->input[i];
    for (int i = 0; i < out->output_count; i++) output[i] = out->output[i];
    out->input = input;
    out->output = output;
    out->initial = initial;
    for (int i = 0; i < count && !ctx_failed(im->cx); i++) {
        const TfliteVariable *v = &im->states.at[i];
        pair[i] = (StatePair){ out->input_count, out->output_count };
        initial[out->input_count] = v->initial;
        input[out->input_count++] = v->input;
        output[out->output_count] = last_value(im, v, out);
        out->output_count++;
    }
    out->state = pair;
    out->state_count = count;
}

static const char *const *names_of(Importer *im)
{
    const char **names = NEW_ARRAY(im->cx->arena, const char *, im->file.tensor_count);
    for (int i = 0; i < im->file.tensor_count; i++) names[i] = im->file.tensor[i].name;
    return names;
}

static bool open_signature(Importer *im, Bytes bytes, size_t *subgraph)
{
    const ImportOptions *o = im->options;
    if (o->is_signature_used) *o->is_signature_used = true;
    return tflite_signature_subgraph(im->cx, bytes, o->signature, subgraph)
           && tflite_subgraph_read(im->cx, bytes, *subgraph, &im->file);
}

bool tflite_read(Ctx *cx, const char *path, Bytes bytes, const ImportOptions *options, Model *out)
{
    static const ImportOptions none = { 0 };
    Importer *im = NEW(cx->arena, Importer);
    *im = (Importer){ .cx = cx, .options = options ? options : &none, .subgraphs = { run_subgraph, open_size, im },
                      .nodes = file_nodes_new(cx), .imported = NEW(cx->arena, int) };
    TfliteSizes sizes = { .options = im->options, .decided = decided_new(cx), .selections = map_new(cx->arena) };
    im->open = (TfliteOpen){ .cx = cx, .options = im->options, .size = map_new(cx->arena),
                             .sizes = arena_copy(cx->arena, &sizes, sizeof sizes) };
    *out = (Model){ .name = "" };
    const char *outer = cx->file;
    size_t subgraph;
    cx->file = path;
    if (open_signature(im, bytes, &subgraph)) {
        out->name = im->file.graph_name;
        out->ties_away = true;
        out->number_count = im->file.tensor_count;
        out->of_number = names_of(im);
        out->dim_names = tflite_dim_names(cx, &im->file);
        im->file.rounds_once = im->options->rounds_once;
        im->file.has_float_hybrid = im->options->has_float_hybrid;
        im->value = NEW_ARRAY(cx->arena, Tensor *, im->file.tensor_count);
        tflite_states_open(cx, &im->file, &im->states);
        tflite_unsigned_open(cx, &im->file, im->value, &im->bytes);
        tflite_list_unknown(im->cx, &im->file, im->options);
        if (!ctx_failed(cx)) make_inputs(im, out);
        if (!ctx_failed(cx)) note_examples(im);
        import_operators(im);
        if (!ctx_failed(cx)) make_outputs(im, out);
        if (!ctx_failed(cx)) add_states(im, out);
        if (!ctx_failed(cx) && !subgraph) out->class_count = tflite_labels(cx, bytes, &out->class_name);
    }
    file_nodes_end(im->nodes, out);
    cx->file = outer;
    return !ctx_failed(cx);
}
