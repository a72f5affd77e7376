/* SPDX-License-Identifier: MIT */
/* Imports an ONNX model: options for its inputs, then its graph (onnx_graph.c), then its outputs. All unsupported
 * operators, attributes, element types and dimensions are reported together. */
#include "import/onnx/onnx.h"

#include <string.h>

#include "import/onnx/file/dim_formula.h"
#include "import/formats/given_value.h"
#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/ml/onnx_ml.h"
#include "import/onnx/ops/onnx_rows.h"
#include "ir/algebra/algebra.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

enum { OLDEST_OPSET = 1, NEWEST_OPSET = 28 };
/* the limit of sequences that are outputs, because a small file can repeat them without bound */
enum { MOST_ELEMENTS = 1000 };

typedef struct Importer {
    Ctx *cx;
    const ImportOptions *options;
    OnnxImport shared;
    OnnxScope *scope;
    Tensor **input; int input_count;
    const Tensor **initial;       /* [inputs] the initial value of an input that is state, or NULL */
    /* maps of symbolic sizes of open dimensions: by the option's name, and by the emitted identifier */
    Map open, open_name;
    /* The names of dimensions that --dim accepts. */
    Map listed; const char *dim_names;
} Importer;

/* Names are interned, so their addresses are keys. */
static void *find_named(const Map *m, const char *value_name) { return map_get_ptr(m, value_name); }

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* Returns the --dim option for this name, or NULL if none is given. */
static const ImportDim *named_option(Importer *im, const char *dim_name, int length)
{
    for (int i = 0; i < im->options->dim_count; i++) {
        const ImportDim *d = &im->options->dim[i];
        if ((int)strlen(d->name) != length || strncmp(d->name, dim_name, (size_t)length) != 0) continue;
        if (im->options->is_dim_used) im->options->is_dim_used[i] = true;
        return d;
    }
    return NULL;
}

/* Returns the size of a term of a dimension formula such as "past_len + n", or -1. */
static int64_t size_of_part(void *importer, const char *dim_name, int length)
{
    Importer *im = importer;
    const ImportDim *d = named_option(im, dim_name, length);
    if (d && d->is_maximum)
        diag_listed(im->cx, UNSUPPORTED, NULL,
                    "a dimension computed from an open one: --dim %s<=%lld; use a fixed size (--dim NAME=N)",
                    d->name, (long long)d->value);
    return d ? d->value : -1;
}

/* Returns the symbolic size shared by all dimensions with the option's name. */
static const Expr *open_size(Importer *im, const ImportDim *d)
{
    const Expr *size = map_get_const(&im->open, d->name, strlen(d->name));
    if (size) return size;
    const char *identifier = name_identifier(im->cx, d->name), *unique = identifier;
    for (int i = 2; map_get(&im->open_name, unique, strlen(unique)); i++)
        unique = text_format(im->cx, "%s_%d", identifier, i);
    size = expr_new_var(im->cx, unique, VAR_SIZE, I32, d->least ? d->least : 1, d->value);
    map_put_const(&im->open_name, unique, strlen(unique), size);
    map_put_const(&im->open, d->name, strlen(d->name), size);
    return size;
}

/* Finds the option for a dimension: by its name, by input and axis ("x.0"), or by evaluating its name as a formula. */
static bool dim_option(Importer *im, const OnnxValue *v, int axis, ImportDim *out)
{
    const char *symbol = v->dim[axis].symbol ? v->dim[axis].symbol : "",
               *by_axis = text_format(im->cx, "%s.%d", v->name, axis);
    const ImportDim *d = *symbol ? named_option(im, symbol, (int)strlen(symbol)) : NULL;
    if (!d) d = named_option(im, by_axis, (int)strlen(by_axis));
    *out = d ? *d : (ImportDim){ symbol, *symbol ? dim_formula(symbol, size_of_part, im) : -1, false, 0 };
    return out->value >= 0;
}

static const char *value_option(const Importer *im, const char *input_name)
{
    const ImportOptions *o = im->options;
    for (int i = 0; i < o->value_count; i++) {
        if (strcmp(o->value[i].name, input_name) != 0) continue;
        if (o->is_value_used) o->is_value_used[i] = true;
        return o->value[i].path;
    }
    return NULL;
}

static bool is_real_input(const Importer *im, const OnnxValue *v)
{
    return !find_named(&im->scope->initializer, v->name) && !value_option(im, v->name);
}

static bool same_symbol(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* Fixes the batch at 1 if no size is given for it. The batch is the first dimension of every input, open and with the
 * same name everywhere. */
static void default_batch(Importer *im)
{
    const OnnxValue *first = NULL;
    ImportDim given;
    for (int i = 0; i < im->shared.file.graph.input_count; i++) {
        const OnnxValue *v = &im->shared.file.graph.input[i];
        if (!is_real_input(im, v)) continue;
        if (!first) first = v;
        if (v->rank < 2 || v->rank > MAX_RANK || v->dim[0].size >= 0 || dim_option(im, v, 0, &given)
            || !same_symbol(v->dim[0].symbol, first->dim[0].symbol))
            return;
    }
    if (!first) return;
    const char *symbol = first->dim[0].symbol ? first->dim[0].symbol : "";
    diag_warn(im->cx, NULL,
              "the first dimension of every input is open%s%s%s: the batch defaults to 1; pass --dim to set a "
              "different size",
              *symbol ? " (\"" : "", symbol, *symbol ? "\")" : "");
    for (int i = 0; i < im->shared.file.graph.input_count; i++)
        if (is_real_input(im, &im->shared.file.graph.input[i])) im->shared.file.graph.input[i].dim[0].size = 1;
}

/* Makes each input that is a map a row of numbers, as wide as the list of keys of the operator that reads it. */
static void shape_maps(Importer *im)
{
    const OnnxGraph *g = &im->shared.file.graph;
    for (int i = 0; i < g->input_count; i++) {
        OnnxValue *v = &g->input[i];
        for (int k = 0; k < g->node_count && v->map_type && !v->is_tensor; k++) {
            const OnnxNode *n = &g->node[k];
            const int64_t width = n->in_count && strcmp(n->in[0], v->name) == 0 ? onnx_map_width(n) : -1;
            if (width < 1) continue;
            *v = (OnnxValue){ .name = v->name, .is_tensor = true, .has_shape = true, .data_type = v->map_type,
                              .rank = 2, .dim = { { .size = 1 }, { .size = width } } };
        }
    }
}

/* Adds a name to the list accepted by --dim, once. */
static void list_dim_name(Importer *im, const char *dim_name)
{
    if (map_get(&im->listed, dim_name, strlen(dim_name))) return;
    map_put(&im->listed, dim_name, strlen(dim_name), im);
    im->dim_names = im->dim_names ? text_format(im->cx, "%s, %s", im->dim_names, dim_name) : dim_name;
}

/* Fixes the input's dimensions; reports all dimensions that are open or out of range. */
static void fix_dims(Importer *im, OnnxValue *v)
{
    Ctx *cx = im->cx;
    const char *where = text_format(cx, "input \"%s\"", v->name);
    if (!v->is_tensor || !v->has_shape) {
        diag_listed(cx, UNSUPPORTED, where,
                    v->is_tensor ? "a tensor has no shape; declare its rank"
                                 : "it is a value that is not a tensor; use a tensor");
        return;
    }
    if (v->data_type != ONNX_STRING) onnx_check_type(&im->shared, where, v->data_type);
    for (int d = 0; d < v->rank; d++) {
        ImportDim given;
        const bool is_given = dim_option(im, v, d, &given);
        const char *symbol = v->dim[d].symbol;
        bool has_symbol = symbol && *symbol;
        if (has_symbol || v->dim[d].size < 0)
            list_dim_name(im, has_symbol ? symbol : text_format(cx, "%s.%d", v->name, d));
        else if (is_given && (given.is_maximum || given.value != v->dim[d].size))
            diag_listed(cx, ERROR, where,
                        "dimension %d is %lld in the model and not open, but --dim sets it as %s; remove this --dim", d,
                        (long long)v->dim[d].size, given.name);
        if (is_given && (has_symbol || v->dim[d].size < 0)) {
            v->dim[d].size = given.value;
            v->dim[d].open = given.is_maximum ? open_size(im, &given) : NULL;
        }
        if (v->dim[d].size < 0)
            diag_listed(cx, ERROR, where, "dimension %d is %s%s%s: give its size, as in --dim %s=1", d,
                        has_symbol ? "open (\"" : "open", has_symbol ? symbol : "", has_symbol ? "\")" : "",
                        has_symbol ? symbol : text_format(cx, "%s.%d", v->name, d));
        else if (v->dim[d].size == 0 || v->dim[d].size > INT32_MAX)
            diag_listed(cx, ERROR, where, "dimension %d is %lld; use a size from 1 to %ld",
                                          d, (long long)v->dim[d].size,
                        (long)INT32_MAX);
    }
}

static void check_inputs(Importer *im)
{
    default_batch(im);
    for (int i = 0; i < im->shared.file.graph.input_count; i++)
        if (is_real_input(im, &im->shared.file.graph.input[i])) fix_dims(im, &im->shared.file.graph.input[i]);
    /* A misspelt option may mean an open dimension. */
    for (int i = 0; i < im->options->dim_count && ctx_failed(im->cx) && im->dim_names; i++)
        if (im->options->is_dim_used && !im->options->is_dim_used[i])
            diag_listed(im->cx, ERROR, NULL, "there is no symbolic size '%s' to be given with --dim; the open sizes "
                        "are: %s", im->options->dim[i].name, im->dim_names);
}

/* Returns true if 32-bit indices do not suffice. */
static bool is_too_large(Ctx *cx, const Tensor *t)
{
    return tensor_most_elems(cx, t) < 0 || tensor_most_elems(cx, t) > INT32_MAX;
}

static Tensor *value_of_input(Importer *im, const OnnxValue *v, const char *path)
{
    DType type;
    int64_t dim[MAX_RANK];
    if (!onnx_dtype(v->data_type, &type)) {
        diag_unsupported(im->cx, text_format(im->cx, "input \"%s\"", v->name), "--value of this element type");
        return NULL;
    }
    for (int d = 0; d < v->rank; d++) dim[d] = v->dim[d].size;
    return given_value(im->cx, v->name, path, type, v->rank, dim);
}

/* Adds an input for a state with an initial value, which an initializer or --value gives. */
static Tensor *add_state(Importer *im, const OnnxValue *v, Tensor *value)
{
    const OnnxTensor *initializer = find_named(&im->scope->initializer, v->name);
    if (!value && initializer) value = onnx_tensor_read(im->cx, initializer, &im->shared.folder);
    if (!value) return NULL;
    Tensor *t = tensor_new(im->cx, v->name, value->type, value->rank, value->shape);
    im->initial[im->input_count] = value;
    return im->input[im->input_count++] = t;
}

static void create_inputs(Importer *im)
{
    im->input = NEW_ARRAY(im->cx->arena, Tensor *, im->shared.file.graph.input_count);
    im->initial = NEW_ARRAY(im->cx->arena, const Tensor *, im->shared.file.graph.input_count);
    for (int i = 0; i < im->shared.file.graph.input_count && !ctx_failed(im->cx); i++) {
        const OnnxValue *v = &im->shared.file.graph.input[i];
        const char *path = value_option(im, v->name);
        DType type;
        const Expr *shape[MAX_RANK];
        Tensor *t = path ? value_of_input(im, v, path) : NULL;
        if (import_keeps(im->options, v->name) && !is_real_input(im, v)) t = add_state(im, v, t);
        const bool is_text = v->data_type == ONNX_STRING;
        if (is_text) type = I64;
        if (is_real_input(im, v) && (is_text || onnx_dtype(v->data_type, &type))) {
            for (int d = 0; d < v->rank; d++)
                shape[d] = v->dim[d].open ? v->dim[d].open : expr_index(im->cx, v->dim[d].size);
            t = tensor_new(im->cx, v->name, type, v->rank, shape);
            if (t && is_too_large(im->cx, t))
                diag_error(im->cx, text_format(im->cx, "input \"%s\"", v->name),
                           "it has 2^31 elements or more; use fewer elements");
            if (is_text) onnx_mark_strings(&im->shared.strings, t);
            im->input[im->input_count++] = t;
        }
        if (t) onnx_scope_bind(im->scope, v->name, t);
    }
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

/* An output of the model, which must be a tensor of the graph. */
typedef struct Output { const char *name; Tensor *value; } Output;

/* Returns the tensor of an output; an input, a constant, or a tensor that already is an output is copied. */
static Tensor *unshared_output(Importer *im, const Output *o, Tensor *const *others, int count)
{
    Tensor *t = onnx_materialize_sizes(&im->shared, o->value);
    bool is_shared = !t || !t->producer;
    for (int i = 0; i < count; i++) is_shared = is_shared || others[i] == t;
    if (is_shared) t = t && !ctx_failed(im->cx) ? call(im->cx, "identity", o->name, &t, 1, NULL) : NULL;
    if (t) t->name = o->name;
    return t;
}

/* Lists the strings of the model if the elements of an input or output are strings. */
static void list_strings(Importer *im, const Output *output, Model *out)
{
    const OnnxStrings *s = &im->shared.strings;
    Text ports = text_new(im->cx);
    for (int i = 0; i < im->input_count; i++)
        if (onnx_holds_strings(s, im->input[i]))
            text_printf(&ports, "%s%s", ports.length ? ", " : "", name_identifier(im->cx, im->input[i]->name));
    for (int i = 0; i < out->output_count && !ctx_failed(im->cx); i++)
        if (onnx_holds_strings(s, output[i].value))
            text_printf(&ports, "%s%s", ports.length ? ", " : "", name_identifier(im->cx, output[i].name));
    if (!ports.length) return;
    out->string_ports = text_string(&ports);
    out->string_count = s->count;
    out->string = s->text;
}

/* Returns NAME_INDEX, or NAME_INDEX_2 and so on if that name is already an input or output. next: the number at which
 * the next search for this name begins, so that all searches together take bounded time. */
static const char *element_name(Importer *im, Map *taken, int *next, const char *sequence, int index)
{
    const char *first = text_format(im->cx, "%s_%d", sequence, index), *unique = first;
    while (map_get_ptr(taken, name_identifier(im->cx, unique)))
        unique = text_format(im->cx, "%s_%d", first, (*next)++);
    map_put_ptr(taken, name_identifier(im->cx, unique), im);
    return name(im->cx, unique);
}

/* Returns the number of the sequence's elements, which become outputs; reports a sequence that has no elements, or too
 * many. */
static int count_elements(Importer *im, const char *value_name, const OnnxList *l, int before)
{
    const char *where = text_format(im->cx, "output \"%s\"", value_name);
    if (l->is_absent)
        diag_unsupported(im->cx, where, "the optional value has no element; use an optional value with an element");
    else if (!l->count)
        diag_unsupported(im->cx, where, "the sequence is empty; use a sequence with elements");
    else if (l->count > MOST_ELEMENTS - before)
        diag_unsupported(im->cx, where, "outputs are sequences of more than %d elements in total; use at most %d "
                                        "elements",
                         MOST_ELEMENTS, MOST_ELEMENTS);
    return ctx_failed(im->cx) ? 0 : l->count;
}

/* Lists the outputs; a sequence has an output for each element. */
static Output *list_outputs(Importer *im, int *count)
{
    const OnnxGraph *g = &im->shared.file.graph;
    Map taken = map_new(im->cx->arena);
    Output *all = NEW_ARRAY(im->cx->arena, Output, g->output_count + MOST_ELEMENTS);
    int elements = 0, next = 2;
    *count = 0;
    for (int i = 0; i < im->input_count; i++) map_put_ptr(&taken, name_identifier(im->cx, im->input[i]->name), im);
    for (int i = 0; i < g->output_count; i++) map_put_ptr(&taken, name_identifier(im->cx, g->output[i].name), im);
    for (int i = 0; i < g->output_count && !ctx_failed(im->cx); i++) {
        const char *value_name = g->output[i].name;
        const OnnxList *l = onnx_scope_list(im->scope, value_name);
        const int own = l ? count_elements(im, value_name, l, elements) : 0;
        for (int k = 0; k < own; k++)
            all[(*count)++] = (Output){ element_name(im, &taken, &next, value_name, k), l->at[k] };
        elements += own;
        if (l) continue;
        Tensor *t = onnx_scope_value(im->scope, value_name);
        if (!t && !ctx_failed(im->cx)) onnx_scope_report_missing(im->scope, value_name);
        all[(*count)++] = (Output){ value_name, t };
    }
    return all;
}

/* Returns the file's names of an output's dimensions, or NULL if the file declares no shape for it. */
static const char *const *names_of_dims(Importer *im, const char *value_name)
{
    const OnnxGraph *g = &im->shared.file.graph;
    const OnnxValue *v = NULL;
    for (int i = 0; i < g->output_count; i++)
        if (text_equal(g->output[i].name, value_name)) v = &g->output[i];
    if (!v || !v->is_tensor || !v->has_shape) return NULL;
    const char **names = NEW_ARRAY(im->cx->arena, const char *, MAX_RANK);
    for (int d = 0; d < v->rank && d < MAX_RANK; d++)
        names[d] = v->dim[d].symbol && *v->dim[d].symbol ? v->dim[d].symbol : NULL;
    return names;
}

static void build_model(Importer *im, Model *out)
{
    int count;
    const Output *output = list_outputs(im, &count);
    *out = (Model){ .name = im->shared.file.graph.name,
                    .dim_names = im->dim_names,
                    .class_count = im->shared.strings.class_count,
                    .class_name = im->shared.strings.class_name,
                    .input_count = im->input_count,
                    .input = im->input,
                    .initial = im->initial };
    out->output = NEW_ARRAY(im->cx->arena, Tensor *, count);
    const char *const **dims = NEW_ARRAY(im->cx->arena, const char *const *, count);
    for (int i = 0; i < count; i++) dims[i] = names_of_dims(im, output[i].name);
    out->output_dims = dims;
    for (int i = 0; i < count && !ctx_failed(im->cx); i++)
        out->output[out->output_count++] = unshared_output(im, &output[i], out->output, i);
    if (!count && !ctx_failed(im->cx)) diag_error(im->cx, NULL, "the graph has no outputs; add at least one output");
    list_strings(im, output, out);
}

/* Returns true if every node is of another domain, because such a file declares no operator set of ONNX's own. */
static bool is_foreign(const OnnxGraph *g)
{
    for (int i = 0; i < g->node_count; i++)
        if (!*g->node[i].domain || text_equal(g->node[i].domain, "ai.onnx")) return false;
    return g->node_count > 0;
}

static void check_opset(Importer *im)
{
    long long opset = (long long)im->shared.file.opset;
    if (!opset && is_foreign(&im->shared.file.graph)) return;
    if (opset < OLDEST_OPSET)
        diag_listed(im->cx, UNSUPPORTED, NULL, "the file has operator set %lld%s; use an operator set from %d to %d",
                                               opset,
                    opset ? "" : ", for none of ONNX's own is declared", OLDEST_OPSET, NEWEST_OPSET);
    if (opset > NEWEST_OPSET)
        diag_warn(im->cx, NULL, "operator set %lld is newer than %d, the newest supported one", opset, NEWEST_OPSET);
}

bool onnx_read(Ctx *cx, const char *path, Bytes bytes, const ImportOptions *options, Model *out)
{
    static const ImportOptions none = { 0 };
    Importer *im = NEW(cx->arena, Importer);
    Arena *a = cx->arena;
    *im = (Importer){ .cx = cx,
                      .options = options ? options : &none,
                      .open = map_new(a),
                      .open_name = map_new(a),
                      .listed = map_new(a) };
    im->shared = (OnnxImport){ .cx = cx,
                               .options = im->options,
                               .rows = onnx_rows,
                               .nodes = file_nodes_new(cx),
                               .folder = { path_folder(cx, path), map_new(a) },
                               .sizes = map_new(a),
                               .ranges = map_new(a),
                               .sizes_materialized = map_new(a),
                               .decided = decided_new(cx), .elements = map_new(a), .selections = map_new(a) };
    for (int i = 0; i < im->options->dim_count; i++)
        decided_take_name(&im->shared.decided, name_identifier(cx, im->options->dim[i].name));
    *out = (Model){ .name = "" };
    const char *outer = cx->file;
    cx->file = path;
    if (onnx_file_read(cx, bytes, &im->shared.file)) {
        check_opset(im);
        im->scope = onnx_scope(&im->shared, &im->shared.file.graph, NULL);
        onnx_scope_order(im->scope);
        onnx_strings_open(cx, &im->shared.strings, &im->shared.file.graph);
        shape_maps(im);
        if (im->scope->order) check_inputs(im);
        if (!ctx_failed(cx)) create_inputs(im);
        if (!ctx_failed(cx)) onnx_scope_run(im->scope);
        if (!ctx_failed(cx)) build_model(im, out);
    }
    file_node_enter(cx, NULL);
    file_nodes_end(im->shared.nodes, out);
    cx->file = outer;
    return !ctx_failed(cx);
}
